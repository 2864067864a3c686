# To be sourced: the Debian package.

# Takes what `tool` and `library` made.
deb() {
    .ci/release.d/deb "$artefacts" "$place" "$version" "$here"
    try_deb "$artefacts/tgm_$version-1_amd64.deb"
}

# By dpkg into a root of its own, where `ldconfig` then finds the library. A program is compiled and linked with what is there.
try_deb() (
    local libraries
    libraries=usr/lib/$(cc -print-multiarch)
    emptied deb
    mkdir -p root/var/lib/dpkg/{info,updates,triggers} root/etc
    touch root/var/lib/dpkg/{status,available}
    timed dpkg --root="$PWD/root" --force-depends --force-not-root --force-script-chrootless --no-triggers --log="$PWD/log" -i "$1"
    cp "$message" "$grib" root
    glibc_into root root/usr/bin/tgm
    first_example_of_tool in_root "$PWD/root" /usr/bin/tgm
    export PKG_CONFIG_PATH=$PWD/root/$libraries/pkgconfig
    # shellcheck disable=SC2046 # A word each.
    cc -Wall -Werror "$source_root/.ci/release.d/first.c" -o root/first $(pkg-config --cflags --libs tgm)
    echo "/$libraries" >root/etc/ld.so.conf
    /sbin/ldconfig -r root
    in_root "$PWD/root" /first "/$(basename "$message")"
    row "$1" "$took" "$(needs_glibc root/usr/bin/tgm "root/$libraries"/libtensogram.so.*.0)"
)
