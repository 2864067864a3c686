# To be sourced: one build of the library, its tests and the tool with every codec and every format. Those who need one of
# them share it, as each other choice of features compiles all of it anew.

# Features of tgm-std, tgm-convert and tgm-tests. They need cmake, c++, libclang and libnetcdf-dev.
everything=full,tgm-std/arbitrary,tgm-std/ndarray,tgm-std/remote
everything=$everything,tgm-convert/grib-jpeg2000,tgm-convert/netcdf,tgm-convert/parquet,tgm-convert/zarr

# Tests what depends on them, `test_everything [OPTION…]`, at the root of the repository. With `--no-run` it only builds. The
# tool is target/debug/tgm then.
test_everything() {
    cargo test --quiet --locked -p tgm-std -p tgm-convert -p tgm-tests --features "$everything" \
        --lib --test golden --test formats --test reencode --test threads "$@"
}
