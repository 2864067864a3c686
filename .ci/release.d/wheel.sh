# To be sourced: the wheel of the Python package, which has the command too.

wheel() {
    wheel_for "$here"
    try_wheel "$artefacts"/tgmio-"$version"-*_x86_64.whl
}

# Builds the wheel for `$1`, and puts the licences and the list of what is linked into it, in place of maturin's list, which has no C.
wheel_for() {
    local raw=$place/wheel-$1 made=$artefacts/tgmio-$version-cp311-abi3-manylinux_${glibc/./_}_${1%%-*}.whl information
    target_of "$1"
    rm -rf "$raw"
    CARGO_TARGET_DIR=$built maturin build --quiet --release --locked --zig --compatibility "manylinux_${glibc/./_}" --target "$1" \
        --features full --manifest-path std-ext/python/Cargo.toml --out "$raw"
    python3 -m wheel unpack --dest "$raw" "$raw"/tgmio-*.whl
    information=$raw/tgmio-$version/tgmio-$version.dist-info
    rm -f "$information"/sboms/*
    python3 .ci/release.d/bill "$information/licenses" tgmio "$1" std-ext/python/Cargo.toml tgm-python remote,full
    mv "$information/licenses/tgmio.cdx.json" "$information/sboms/"
    cp LICENSE-APACHE LICENSE-MIT "$information/licenses"
    python3 -m wheel pack --dest-dir "$artefacts" "$raw/tgmio-$version"
    at_most "$made" "$most_wheel"
    auditwheel show "$made" | tee "$raw/audit"
    grep -q "\"manylinux_2_\(17\|2[0-8]\)_${1%%-*}\"" "$raw/audit"
}

first_example_of_python() {
    local run=(env -i PATH=/nowhere "$PWD/venv/bin/python" -W error)
    "${run[@]}" -m tgmio --version
    env -i "$PWD/venv/bin/tgm" convert "$grib" -o era5.tgm
    "${run[@]}" "$source_root/.ci/release.d/first.py" "$grib"
    env -i "$PWD/venv/bin/tgm" plot era5.tgm -o field.png
}

try_wheel() (
    emptied wheel
    fresh_environment
    timed venv/bin/pip install --quiet --no-index --no-deps "$1"
    first_example_of_python
    row "$1" "$took" "$(needs_glibc venv/lib/python3.*/site-packages/tgmio/_native*.so)"
)
