# To be sourced: Windows, compiled by mingw and run under Wine, and macOS, compiled only. Both need rustup.
#
#   windows   all public packages but NetCDF are compiled; the tests of core, codecs and files run, and the tool's first examples
#   mac       what needs no C compiler is compiled

public=(-p tgm-arbitrary -p tgm-catalog -p tgm-codec -p tgm-convert -p tgm-core -p tgm-dataset -p tgm-grid -p tgm-plot -p tgm-std
    -p tgm-tool -p tgm-zio)
# Tests of the tool that start few processes, as each takes a third of a second. A file that is open cannot be replaced in Wine 8,
# so tests with an output that is the input are not among them.
tool_tests=(arrays:: cat:: convert:: datasets:: doctor:: environment:: keys:: writing::)

target_of() {
    rustup target list --installed | grep -qx "$1" || rustup target add "$1"
}

windows() {
    local target=x86_64-pc-windows-gnu
    install gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine wine64
    target_of "$target"
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
    WINEPREFIX=$(realpath -m "$CARGO_TARGET_DIR/wine")
    export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
    cargo check --quiet --locked --target "$target" "${public[@]}" -p tgm-capi
    wine_prefix
    cargo test --quiet --locked --target "$target" -p tgm-core -p tgm-codec -p tgm-std --lib
    cargo test --quiet --locked --target "$target" -p tgm-tool --test cli -- "${tool_tests[@]}"
    first_examples "$(realpath "$CARGO_TARGET_DIR/$target/debug/tgm.exe")"
    timeout 60 wineserver -k || true
}

# A Windows 10. Wine 8 lacks the library by which programs of Rust ask for random numbers.
wine_prefix() {
    local system=$WINEPREFIX/drive_c/windows/system32
    [ ! -e "$system/bcryptprimitives.dll" ] || return 0
    mkdir -p "$WINEPREFIX"
    wine wineboot -i
    wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null
    x86_64-w64-mingw32-gcc -x c -shared -o "$system/bcryptprimitives.dll" - -ladvapi32 <<'END'
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *out, unsigned long len);
__declspec(dllexport) int __stdcall ProcessPrng(void *out, unsigned long long len) {
    return SystemFunction036(out, (unsigned long)len);
}
END
}

# The examples of the README, with letters beyond ASCII in names, and over files that exist: first_examples PROGRAM.
first_examples() (
    local program=$1 grib=$PWD/tests/data-grib/edition-1-era5.grib2 surface=$PWD/tests/data/realistic/surface-181x360.tgm
    place=$(mktemp -d)
    trap 'rm -r "$place"' EXIT
    cd "$place"
    tgm() { wine "$program" "$@" | tr -d '\r'; }
    [ "$(tgm get -p mars.param "$surface" | wc -l)" -gt 0 ]
    tgm ls "$surface" -w mars.param=2t | grep -q 181x360
    mkdir Übersicht
    for _ in new replaced; do
        tgm convert "$grib" -o Übersicht/日本.tgm
        tgm convert Übersicht/日本.tgm -o back.grib2
        cmp back.grib2 "$grib"
    done
    tgm validate Übersicht/日本.tgm >/dev/null
    tgm cube Übersicht/日本.tgm >/dev/null
    tgm plot Übersicht/日本.tgm -o ö.png
    [ "$(printf '%s\n' * Übersicht/* | wc -l)" -eq 4 ]
    file_starts ö.png '\x89PNG'
)

# Whether a file starts with these bytes.
file_starts() {
    [ "$(head -c 4 "$1" | od -An -tx1)" = "$(printf "$2" | od -An -tx1)" ]
}

mac() {
    local features=browse,grib,npz,plot,safetensors,serve,zio
    target_of aarch64-apple-darwin
    target_of x86_64-apple-darwin
    cargo check --quiet --locked --target aarch64-apple-darwin "${public[@]}" --no-default-features \
        --features "tgm-tool/${features//,/,tgm-tool/},tgm-std/lz4,tgm-std/ndarray,tgm-std/roaring,tgm-std/async"
    cargo check --quiet --locked --target x86_64-apple-darwin -p tgm-std --no-default-features --features lz4,mmap,roaring
}
