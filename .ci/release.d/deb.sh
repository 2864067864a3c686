# To be sourced: the Debian package.

# Takes what `tool` and `library` made.
deb() {
    .ci/release.d/deb "$artefacts" "$place" "$version" "$here"
    try_deb "$artefacts/tgm_$version-1_amd64.deb"
}

# By dpkg into an empty root, where `ldconfig` then finds the library. A program is compiled and linked with what is there.
try_deb() (
    local libraries
    libraries=usr/lib/$(cc -print-multiarch)
    emptied deb
    mkdir -p installed/var/lib/dpkg/{info,updates,triggers} installed/etc
    touch installed/var/lib/dpkg/{status,available}
    timed dpkg --root="$PWD/installed" --force-depends --force-not-root --force-script-chrootless --no-triggers --log="$PWD/log" -i "$1"
    cp "$message" "$grib" installed
    glibc_into installed installed/usr/bin/tgm
    first_example_of_tool in_root "$PWD/installed" /usr/bin/tgm
    export PKG_CONFIG_PATH=$PWD/installed/$libraries/pkgconfig
    # shellcheck disable=SC2046 # A word each.
    cc -Wall -Werror "$source_root/.ci/release.d/first.c" -o installed/first $(pkg-config --cflags --libs tgm)
    echo "/$libraries" >installed/etc/ld.so.conf
    /sbin/ldconfig -r installed
    in_root "$PWD/installed" /first "/$(basename "$message")"
    row "$1" "$took" "$(needs_glibc installed/usr/bin/tgm "installed/$libraries"/libtensogram.so.*.0)"
)
