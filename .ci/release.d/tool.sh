# To be sourced: the tool.

tool() {
    local target
    for target in "$here" "$arm"; do
        tool_for "$target"
        try_tool "$artefacts/tgm-$version-$target.tar.gz" "$target"
    done
}

# Builds the tool for `$1`, and packs it with its man pages and completions, which the tool for this machine prints.
tool_for() {
    local name=tgm-$version-$1 folder=$place/pack/tgm-$version-$1 printer=$built/$here/release/tgm shell
    target_of "$1"
    zigbuild -p tgm-tool --no-default-features --features "$features" --target "$1.$glibc"
    empty_pack "$name" tgm "$1" Cargo.toml tgm-tool "$features"
    mkdir "$folder/completions"
    cp "$built/$1/release/tgm" std-ext/tool/README.md "$folder"
    "$printer" man -q "$folder/man"
    for shell in bash zsh fish; do "$printer" completions "$shell" >"$folder/completions/tgm.$shell"; done
    pack "$name"
    at_most "$artefacts/$name.tar.gz" "$most_tool"
    echo "tgm for $1: $(($(stat --format %s "$folder/tgm") >> 10)) KiB in one file"
}

# Tries the archive `$1` of the target `$2`.
try_tool() (
    emptied tool
    mkdir root
    timed tar -xzf "$1" -C root --strip-components 1
    cp "$message" "$grib" root
    glibc_into root root/tgm "$2"
    first_example_of_tool in_root "$PWD/root" "${emulator[@]}" /tgm
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
