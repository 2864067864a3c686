# To be sourced: the wheels of the Python package, which have the command too.

wheel() {
    wheel_for "$here"
    try_wheel "$artefacts"/tgmio-"$version"-*_x86_64.whl
    wheel_for "$arm"
    try_wheel_of_arm "$artefacts"/tgmio-"$version"-*_aarch64.whl
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

# In a root with the system's Python for AArch64, emulated.
try_wheel_of_arm() (
    local platforms=(--platform manylinux_2_28_aarch64 --platform manylinux_2_24_aarch64 --platform manylinux2014_aarch64) run
    emptied wheel-arm
    mkdir root
    python_of_arm root || { echo "$1 is not tried: this system's packages are not here for AArch64" >&2; exit 0; }
    timed "$tools/bin/pip" install --quiet --target root/packages "${platforms[@]}" --python-version "${python_of_system#python}" \
        --only-binary :all: numpy==2.3.5 xarray==2026.9.0 "$1"
    cp "$(command -v qemu-aarch64-static)" "$source_root/.ci/release.d/first.py" "$grib" root
    run=(env -i PYTHONPATH=/packages /usr/sbin/chroot root /qemu-aarch64-static "/usr/bin/$python_of_system" -W error)
    "${run[@]}" -m tgmio --version
    "${run[@]}" -m tgmio convert "/$(basename "$grib")" -o /era5.tgm
    "${run[@]}" /first.py "/$(basename "$grib")"
    row "$1" "$took" "$(needs_glibc root/packages/tgmio/_native*.so)"
)

# Python as the system's packages have it, and all that it needs, in the root `$1`. The system itself stays as it is.
python_of_arm() {
    local lists=$place/apt-arm archive
    local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$lists" -o Dir::Cache="$lists"
        -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
    mkdir -p "$lists/lists/partial" "$lists/archives/partial"
    python_of_system=$(basename "$(readlink -f /usr/bin/python3)")
    "${apt[@]}" update && "${apt[@]}" install --yes --no-install-recommends --download-only "$python_of_system" libstdc++6 || return 1
    for archive in "$lists"/archives/*.deb; do dpkg-deb -x "$archive" "$1"; done
}
