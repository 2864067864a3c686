# To be sourced: installs artefacts as their users do, in empty folders and roots and without the network, and runs their first
# examples.
#
# Uses `$place`, `$artefacts`, `$version` and `$glibc`.

rows=$place/rows
message=$PWD/tests/data/realistic/surface-181x360.tgm
grib=$PWD/tests/data-grib/edition-1-era5.grib2
source_root=$PWD

# Notes an artefact, the seconds that its installation took, and the glibc it needs; `-` where there is none.
row() {
    mkdir -p "$rows"
    printf '%-66s %6d KiB  %8s  %6s\n' "$(basename "$1")" $(($(stat --format %s "$1") >> 10)) "$2" "$3" >"$rows/$(basename "$1")"
}

# The rows of artefacts that are in the folder now.
show_rows() {
    local each
    printf '%-66s %10s  %8s  %6s\n' artefact size seconds glibc
    for each in "$artefacts"/*; do cat "$rows/$(basename "$each")" 2>/dev/null || true; done
}

# Runs a command and sets `took` to its seconds.
timed() {
    local start=$EPOCHREALTIME
    "$@"
    took=$(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
}

# An empty folder, in which the rest of the try is run.
emptied() {
    rm -rf "${place:?}/try/$1"
    mkdir -p "$place/try/$1"
    cd "$place/try/$1"
}

# Puts into the root `$1` what the program `$2` needs of the system, which is glibc alone, and sets `emulator` to what runs
# programs of the target `$3` there: nothing for this machine, which is meant without a target.
glibc_into() {
    local libraries
    emulator=()
    if [ "${3:-$here}" = "$arm" ]; then
        cp "$(command -v qemu-aarch64-static)" "$1"
        emulator=(/qemu-aarch64-static)
        libraries=$(readelf -d "$2" /usr/aarch64-linux-gnu/lib/libc.so.6 | sed -n 's|.*(NEEDED).*\[\(.*\)\]|./lib/\1|p' | sort -u)
    else
        libraries=$(ldd "$2" | sed -n 's|[^/]*\(/[^ ]*\).*|.\1|p')
    fi
    if grep -v '/\(ld-linux-\(x86-64\|aarch64\)\|lib\(c\|m\|dl\|pthread\|rt\|resolv\|util\)\)\.so\.[0-9]' <<<"$libraries"; then
        echo "$2 needs more than glibc" >&2
        return 1
    fi
    # shellcheck disable=SC2086 # A word each.
    tar -C "${emulator:+/usr/aarch64-linux-gnu}/" -chf - $libraries 2>/dev/null | tar -xf - -C "$1"
}

# Runs a command in the root `$1` without any variable of the environment.
in_root() {
    if [ "$(id -u)" = 0 ]; then
        env -i /usr/sbin/chroot "$@"
    else
        env -i /usr/bin/unshare --map-root-user /usr/sbin/chroot "$@"
    fi
}

# The first example of the tool, which `$@` starts: GRIB to an archive, a list, a picture, and stronger compression.
first_example_of_tool() {
    "$@" --version
    "$@" ls "/$(basename "$message")" -w mars.param=2t
    "$@" convert "/$(basename "$grib")" -o /era5.tgm
    "$@" ls /era5.tgm
    "$@" plot /era5.tgm -o /era5.png
    "$@" repack --compression zstd /era5.tgm -o /small.tgm
    "$@" compare --tolerance 0.01 /era5.tgm /small.tgm
}

# Packages of others that first examples need. They are fetched once, and installed without the network.
wheels_of_others() {
    mkdir -p "$place/others"
    "$tools/bin/pip" download --quiet --dest "$place/others" numpy==2.3.5 xarray==2026.9.0 maturin==1.16.0
}

# A new environment of Python in `venv`, with packages of others.
fresh_environment() {
    "$tools/bin/python" -m venv venv
    venv/bin/pip install --quiet --no-index --find-links "$place/others" numpy xarray "$@"
}
