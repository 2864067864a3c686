# To be sourced: the source archive of the Python package.

sdist() {
    make_sdist
    try_sdist "$artefacts/tgmio-$version.tar.gz"
}

make_sdist() {
    maturin sdist --manifest-path std-ext/python/Cargo.toml --out "$artefacts"
}

# Compiled in the profile of the tests: the try is about what the archive contains.
try_sdist() (
    emptied sdist
    fresh_environment maturin
    unset RUSTFLAGS CFLAGS CXXFLAGS CARGO_PROFILE_RELEASE_STRIP
    timed env CARGO_TARGET_DIR="$place/sdist" MATURIN_PEP517_ARGS="--profile tests" PATH="$PWD/venv/bin:$PATH" \
        venv/bin/pip install --quiet --no-index --no-deps --no-build-isolation "$1"
    venv/bin/tgm convert "$grib" -o era5.tgm
    venv/bin/python -c 'import tgmio; print(tgmio.open_dataset("era5.tgm").sizes)'
    row "$1" "$took" -
)
