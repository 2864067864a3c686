# To be sourced: the deep checks, in slices. A slice takes at most a quarter of an hour of two processors. Each run of the door
# takes one, which the commit's hash chooses. All of them are run by hand where a change touches what they look at.
#
#   deep SLICE           runs a slice
#   deep_all [SLICE…]    runs every slice, or these, as steps
#   slice                the slice of this commit
#
# A slice is a function here, and a word in `slices`.

slices=(
    features defaults api powerpc aarch64 windows oldest_rust firmware fuzz core_c c python web formats dataset growth hostile interop
    blosc2 client_server readme book mutants planted_codec address_core address_codec memory_codec thread valgrind_codec
)

number=$((16#$(git rev-parse --short=8 HEAD)))
slice=${slices[$((number % ${#slices[@]}))]}

deep() {
    "deep_$1"
}

deep_all() {
    local each
    if [ $# -eq 0 ]; then set -- "${slices[@]}"; fi
    for each in "$@"; do step "deep: $each" deep "$each"; done
}

# What the compiler warns of with each feature of each package alone, and with none. Clippy would take four times as long. What is
# printed decides, as RUSTFLAGS that deny warnings would compile all dependencies anew.
deep_features() {
    local package features warnings
    # The steps beside this one hold the usual folder.
    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/features
    cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        for feature in ["", *package["features"]]:
            print(package["name"], feature)' >"$table/features"
    while read -r package features; do
        warnings=$(cargo check --quiet --locked -p "$package" --no-default-features --features "$features" 2>&1) ||
            { printf '%s: feature "%s"\n%s\n' "$package" "$features" "$warnings" >&2; return 1; }
        if [ -n "$warnings" ]; then printf '%s: feature "%s"\n%s\n' "$package" "$features" "$warnings" >&2; return 1; fi
    done <"$table/features"
    cargo test --quiet --locked -p tgm-needs -- --ignored
}

# The tests with the features that are on by themselves: the ordinary ones have every feature.
deep_defaults() { CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/defaults cargo test --quiet --locked --workspace; }

deep_powerpc() { tests/machines/run powerpc; }
deep_aarch64() { tests/machines/run aarch64 wasm; }
deep_windows() { tests/machines/run windows mac; }

# Names that programs of others call stay as they are, or a change of them is seen in review.
deep_api() { tests/api/run; }

# Each public package compiles with the oldest Rust that it states.
deep_oldest_rust() {
    local package rust
    .ci/versions rust >"$table/rusts"
    while read -r rust package; do
        rustup toolchain list | grep -q "^$rust-" || rustup toolchain install "$rust" --profile minimal
        RUSTUP_TOOLCHAIN=$rust cargo check --quiet --locked -p "$package" --target-dir "${CARGO_TARGET_DIR:-target}/oldest/$rust"
    done <"$table/rusts"
}

deep_firmware() { tests/firmware/run all; }
deep_core_c() { core/c/check; }

deep_fuzz() { fuzz/run quick; }

deep_c() {
    tests/run --no-run
    std-ext/c/check --interop
}

deep_python() { std-ext/python/check; }
deep_web() { std-ext/web/check; }

# At full length what `formats` of the ordinary checks compares in a tenth.
deep_formats() { tests/peers/run grib arrays tables sizes; }

deep_dataset() {
    # 100,000 random archives, which end in bounded memory.
    cargo test --quiet --locked -p tgm-dataset --test dataset --no-run
    (ulimit -v 3000000; TGM_TEST_SCALE=334 cargo test --quiet --locked -p tgm-dataset --test dataset archives::)
    tests/peers/run dataset
}
deep_growth() { tests/peers/run growth; }
deep_hostile() {
    tests/peers/run hostile
    # All cases of which the ordinary tests try a share.
    TGM_TEST_SCALE=9 tests/run --quiet --test agreement --test bounds --test cli --test formats -- \
        any_source conformance:: damaged:: hostile:: range_order scan_work
}

deep_interop() { tests/peers/run build test benches; }
deep_blosc2() { tests/peers/run build blosc2; }
deep_client_server() { tests/peers/run client_server; }

deep_address_core() { tests/sanitizers/run address tgm-core; }
deep_address_codec() { tests/sanitizers/run address tgm-codec; }
deep_memory_codec() { tests/sanitizers/run memory tgm-codec; }
deep_mutants() {
    cargo fmt --check --manifest-path tests/mutants/Cargo.toml
    cargo clippy --quiet --locked --manifest-path tests/mutants/Cargo.toml --target-dir target/mutants/tool --all-targets -- -D warnings
    tests/mutants/run --package zio
}

deep_planted_codec() { tests/planted-codec/run; }

deep_thread() { tests/sanitizers/run thread; }
deep_valgrind_codec() { tests/sanitizers/run valgrind tgm-codec; }

# Commands of its pages are run, and its links lead somewhere. A page of it has what Python says of the package.
deep_book() {
    [ -x "${CARGO_TARGET_DIR:-target}/python/newest/bin/python" ] || std-ext/python/check quick
    std-ext/doc/book/build
}

# What people build by the commands of the README: the first look, and the whole tool.
deep_readme() {
    local place=${CARGO_TARGET_DIR:-$PWD/target}/readme
    rm -rf "$place"
    CARGO_TARGET_DIR=$place/first cargo run --quiet --locked --profile first-look -p tgm-tool --no-default-features -- \
        dump tests/data/realistic/surface-181x360.tgm >/dev/null
    CARGO_TARGET_DIR=$place/whole cargo install --quiet --locked --path std-ext/tool --root "$place"
    "$place/bin/tgm" ls tests/data/realistic/surface-181x360.tgm -w mars.param=2t
    rm -rf "$place"
}
