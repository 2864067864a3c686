# To be sourced: compiles and packs artefacts.
#
# Uses `$place`, `$artefacts`, `$version`, `$glibc`, `$here`, `$features` and the bound of size.

# What is made has no times, and no paths of this machine.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
maps=("$PWD=." "${CARGO_HOME:-$HOME/.cargo}=cargo" "$place=build" "$(rustc --print sysroot)=rust")
RUSTFLAGS=$(printf -- '--remap-path-prefix=%s ' "${maps[@]}")
CFLAGS=$(printf -- '-ffile-prefix-map=%s ' "${maps[@]}")
CXXFLAGS=$CFLAGS
export SOURCE_DATE_EPOCH RUSTFLAGS CFLAGS CXXFLAGS
export CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_STRIP=symbols PIP_DISABLE_PIP_VERSION_CHECK=1
built=$place/build

# Fails if the file `$1` has more than `$2` bytes.
at_most() {
    local size
    size=$(stat --format %s "$1")
    if [ "$size" -gt "$2" ]; then
        echo "$1 has $size bytes, more than $2" >&2
        return 1
    fi
}

# The newest glibc that these files name, and a failure if it is newer than `$glibc`.
needs_glibc() {
    local found
    found=$(readelf --dyn-syms --wide "$@" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
    if [ "$(printf '%s\n' "$found" "$glibc" | sort -V | tail -n 1)" != "$glibc" ]; then
        echo "$*: needs glibc $found, newer than $glibc" >&2
        return 1
    fi
    echo "$found"
}

zigbuild() {
    CARGO_TARGET_DIR=$built cargo zigbuild --quiet --release --locked "$@"
}

target_of() {
    rustup target list --installed 2>/dev/null | grep -qx "$1" || rustup target add "$1"
}

# Packs the folder `$1` of `$place/pack`.
pack() {
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w -C "$place/pack" -c "$1" |
        gzip -9n >"$artefacts/$1.tar.gz"
}

# An empty folder to be packed, with the licences and the list of what is linked: empty_pack FOLDER NAME TARGET MANIFEST PACKAGE
# FEATURES.
empty_pack() {
    rm -rf "${place:?}/pack/$1"
    mkdir -p "$place/pack/$1"
    python3 .ci/release.d/bill "$place/pack/$1" "${@:2}"
    cp LICENSE-APACHE LICENSE-MIT "$place/pack/$1"
}
