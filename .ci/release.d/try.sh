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

# Puts into the root `$1` what the program `$2` needs of the system, which is glibc alone.
glibc_into() {
    local libraries
    libraries=$(ldd "$2" | grep -o '/[^ ]*')
    if grep -v '/\(ld-linux-x86-64\|lib\(c\|m\|dl\|pthread\|rt\|resolv\|util\)\)\.so\.[0-9]' <<<"$libraries"; then
        echo "$2 needs more than glibc" >&2
        return 1
    fi
    # shellcheck disable=SC2086 # A word each.
    tar -chf - $libraries 2>/dev/null | tar -xf - -C "$1"
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

try_tool() (
    emptied tool
    mkdir root
    timed tar -xzf "$1" -C root --strip-components 1
    cp "$message" "$grib" root
    glibc_into root root/tgm
    first_example_of_tool in_root "$PWD/root" /tgm
    head -c 8 root/era5.png | grep -q PNG
    test -s root/man/tgm.1 && test -s root/man/tgm-plot.1 && test -s root/completions/tgm.zsh && test -s root/tgm.cdx.json
    binstall_finds "$1"
    row "$1" "$took" "$(needs_glibc root/tgm)"
)

# The name of the archive is the one that `cargo binstall` makes of the tool's manifest.
binstall_finds() {
    python3 - "$source_root/std-ext/tool/Cargo.toml" "$1" "$version" <<'END'
import pathlib, re, sys, tarfile, tomllib
manifest, archive, version = sys.argv[1:]
rules = tomllib.loads(pathlib.Path(manifest).read_text())["package"]["metadata"]["binstall"]
name = pathlib.Path(archive).name
target = name.removeprefix(f"tgm-{version}-").removesuffix(".tar.gz")
words = {"version": version, "target": target, "bin": "tgm", "binary-ext": "", "repo": "REPO"}
said = {key: re.sub(r"\{ *(\S+?) *\}", lambda found: words[found[1]], rules[key]) for key in ("pkg-url", "bin-dir")}
assert said["pkg-url"].endswith("/" + name), said
assert said["bin-dir"] in tarfile.open(archive).getnames(), said
END
}
