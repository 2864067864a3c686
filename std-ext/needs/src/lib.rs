//! Nothing to call: the build script looks for the tools that features of `tgm-std` need, and fails with a sentence that
//! says which one is missing, for which feature, and how to get it.
