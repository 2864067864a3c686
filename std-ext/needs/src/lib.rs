//! An empty library: its build script looks for the tools that features of `tgm-std` need. If one is missing, the
//! script fails with a sentence that says which tool, for which feature, and how to install it.
