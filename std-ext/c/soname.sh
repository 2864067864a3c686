# To be sourced: the name that programs find in the shared library, which its build script writes into it.

version=0.24
export TENSOGRAM_SONAME=libtensogram.so.$version
