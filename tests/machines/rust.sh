# To be sourced: Debian's Rust, which comes with the sources of `core` and `std` for building them for any machine.
#
#   rust ARGUMENT...      runs its cargo
#
# Any cargo of rustup does as well where the target was added; this way there is nothing to add.

source "$(dirname "${BASH_SOURCE[0]}")/../tools.sh"

rust() {
    # Not the proxies of rustup, whatever the path. Building `std` is not stable, hence RUSTC_BOOTSTRAP.
    env -u RUSTUP_TOOLCHAIN RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 /usr/bin/cargo "$@"
}

install rustc-web cargo-web rust-web-src
