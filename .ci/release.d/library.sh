# To be sourced: the library for C and C++, shared and static.

library() {
    make_library
    try_library "$artefacts/libtensogram-$version-$here.tar.gz"
}

# The library, shared and static, with its headers, for pkg-config and CMake.
make_library() {
    local name=libtensogram-$version-$here
    empty_pack "$name" libtensogram "$here" Cargo.toml tgm-capi async,dataset
    # Apart, as it sets names that are used here.
    (source std-ext/c/soname.sh && zigbuild -p tgm-capi --target "$here.$glibc")
    TGM_BUILT=$built/$here/release std-ext/c/install "$place/pack/$name"
    cp std-ext/c/README.md "$place/pack/$name"
    pack "$name"
}

# With pkg-config and CMake, shared and static. It exports what the header declares, and needs glibc alone.
try_library() (
    emptied library
    timed tar -xzf "$1" --strip-components 1
    nm -D --defined-only lib/libtensogram.so | awk '{ print $3 }' | sort >exported
    cc -E -P include/tensogram/tgm.h | tr '\n' ' ' | grep -oE '\btgm_[a-z0-9_]+ ?\(' | tr -d ' (' | sort -u | diff - exported
    mkdir root && glibc_into root lib/libtensogram.so
    cp "$source_root/.ci/release.d/first.c" .
    export PKG_CONFIG_PATH=$PWD/lib/pkgconfig
    # shellcheck disable=SC2046 # A word each.
    cc -Wall -Werror first.c -o first $(pkg-config --cflags --libs tgm)
    LD_LIBRARY_PATH=$PWD/lib ./first "$message"
    # shellcheck disable=SC2046 # A word each.
    cc -Wall -Werror first.c -o alone $(pkg-config --cflags tgm) lib/libtensogram.a -lm -lpthread -ldl
    ./alone "$message"
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(first C)
find_package(tgm 0.1 REQUIRED)
add_executable(shared first.c)
target_link_libraries(shared tgm::tgm)
add_executable(static first.c)
target_link_libraries(static tgm::static)
END
    cmake -S . -B build -DCMAKE_PREFIX_PATH="$PWD" >log && cmake --build build >>log || { cat log; exit 1; }
    for each in shared static; do build/$each "$message"; done
    row "$1" "$took" "$(needs_glibc lib/libtensogram.so.*.0)"
)
