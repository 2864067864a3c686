# To be sourced: Debian's Rust, which comes with the sources of `core` and `std` for building them for any machine.
#
#   install PACKAGE...    installs what is missing
#   rust ARGUMENT...      runs its cargo
#
# Any cargo of rustup does as well where the target was added; this way there is nothing to add.

install() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        apt-get update
        apt-get install -y --no-install-recommends "${missing[@]}"
    fi
}

rust() {
    # Not the proxies of rustup, whatever the path. Building `std` is not stable, hence RUSTC_BOOTSTRAP.
    env -u RUSTUP_TOOLCHAIN RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 /usr/bin/cargo "$@"
}

install rustc-web cargo-web rust-web-src
