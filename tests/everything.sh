# To be sourced: one build of the library, its tests and the tool with every codec and every format. Those who need one of
# them share it, as each other choice of features compiles all of it anew.

# Features of tgm-std and tgm-tests. They need cmake, c++, libclang and libnetcdf-dev.
everything=full,tgm-std/arbitrary,tgm-std/grib-jpeg2000,tgm-std/ndarray,tgm-std/netcdf,tgm-std/parquet,tgm-std/remote,tgm-std/zarr

# Tests what depends on them, `test_everything [OPTION…]`, at the root of the repository. With `--no-run` it only builds. The
# tool is target/debug/tgm then.
test_everything() {
    cargo test --quiet --locked -p tgm-std -p tgm-tests --features "$everything" \
        --lib --test golden --test grib --test reencode --test threads "$@"
}
