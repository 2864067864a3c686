# To be sourced: the core for firmware in C, an archive for each kind of processor.

# Targets of Rust, and the options of the C compiler for them.
declare -A firmware_options=(
    [thumbv6m-none-eabi]="arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb"
    [thumbv7m-none-eabi]="arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb"
    [thumbv7em-none-eabihf]="arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
    [riscv32imac-unknown-none-elf]="riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32"
)
# Programs of tests/firmware/c, and what each does.
declare -A firmware_images=(
    [framing]="frames of messages" [object]="objects, their descriptors and digests"
    [decode]="all values, from packed, masked and szip payloads" [push]="a stream that is pushed"
)
firmware_order=(framing object decode push)

firmware() {
    local target
    install cc cmake gcc-arm-none-eabi gcc-riscv64-unknown-elf qemu-system-arm unzip xxd zip
    for target in thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf; do
        make_firmware "$target"
        try_firmware "$target" "$artefacts/tgm-core-$version-$target.tar.gz"
    done
    try_systems
    make_arduino
    try_arduino "$artefacts/TensogramCore-$version.zip"
}

# The library as its CMakeLists installs it, with a page that has the flash of programs.
make_firmware() {
    local target=$1 name=tgm-core-$version-$1 folder image code
    folder=$place/pack/$name
    target_of "$target"
    empty_pack "$name" tgm-core "$target" core/c/Cargo.toml tgm-c-core full,panic-handler
    {
        cmake -S core/c -B "$built/firmware/$target" -DTGMC_TARGET="$target" -DCMAKE_INSTALL_LIBDIR=lib
        cmake --build "$built/firmware/$target"
        cmake --install "$built/firmware/$target" --prefix "$folder"
    } >"$place/firmware.log" 2>&1 || { cat "$place/firmware.log" >&2; return 1; }
    mkdir "$folder/examples"
    cp core/c/examples/read_memory.c "$folder/examples"
    {
        printf '# Tensogram for firmware: %s\n\n' "$target"
        printf '`include/tgm_core.h` says what each function does, reads and costs. The library needs no malloc, no libc and no threads.\n'
        printf 'Link with `lib/libtgm_c_core.a` and `-Wl,--gc-sections`, or in CMake:\n\n'
        printf '```cmake\nfind_package(tgm-core %s REQUIRED)\ntarget_link_libraries(firmware tgm-core::tgm-core)\n```\n\n' "${version%.*}"
        printf 'Programs that were linked with this library by\n`%s -Os -ffunction-sections -fdata-sections -Wl,--gc-sections`:\n\n' "${firmware_options[$target]}"
        printf '| program | bytes of flash |\n|---|---|\n'
        for image in "${firmware_order[@]}"; do
            code=$(flash "$target" "$folder" "$image")
            printf '| %s | %d |\n' "${firmware_images[$image]}" "$code"
        done
        printf '\nA library that exports only the functions that a program calls, built with `opt-level = "z"` and a `core` of its own, is\n'
        printf 'smaller by a fifth: the page of core/c in the sources says how.\n'
    } >"$folder/README.md"
    pack "$name"
}

# Bytes of code and constants of a program of tests/firmware/c, without start-up and output: flash TARGET FOLDER IMAGE.
flash() {
    local program=$place/firmware.elf
    # shellcheck disable=SC2086 # A word each.
    ${firmware_options[$1]} -std=c99 -ffreestanding -Os -ffunction-sections -fdata-sections -nostdlib -I"$2/include" -o "$program" \
        "tests/firmware/c/$3.c" "$2/lib/libtgm_c_core.a" -lgcc \
        -Wl,--gc-sections,-e,run,-z,noexecstack,--no-warn-rwx-segments,--unresolved-symbols=ignore-in-object-files
    size -A -d "$program" | awk '/^\.(text|rodata|srodata)/ { sum += $2 } END { print sum + 0 }'
}

# A program for the processor finds the package by CMake.
try_firmware() (
    local target=$1 archive=$2
    emptied "firmware-$target"
    timed tar -xzf "$archive" --strip-components 1
    program_of "$target" <<'END'
find_package(tgm-core 0.1 REQUIRED)
set(library tgm-core::tgm-core)
END
    row "$archive" "$took" -
)

# The module of Zephyr and the component of ESP-IDF, with stand-ins for what these systems define: neither can be installed from a
# registry of packages.
try_systems() (
    target_of riscv32imc-unknown-none-elf
    emptied zephyr
    program_of thumbv7m-none-eabi <<END
set(CONFIG_TGM_CORE y)
set(CONFIG_TGM_CORE_FEATURES full,panic-handler)
set(CONFIG_CPU_CORTEX_M3 y)
add_library(library INTERFACE)
macro(zephyr_include_directories)
    target_include_directories(library INTERFACE \${CMAKE_CURRENT_LIST_DIR}/\${ARGV0})
endmacro()
macro(zephyr_link_libraries)
    target_link_libraries(library INTERFACE \${ARGV})
endmacro()
add_subdirectory($source_root/core/c/zephyr zephyr)
set(library library)
END
    emptied esp-idf
    program_of riscv32imac-unknown-none-elf <<END
set(CONFIG_IDF_TARGET_ESP32C3 y)
set(COMPONENT_LIB component)
macro(idf_component_register)
    add_library(component INTERFACE)
    target_include_directories(component INTERFACE \${CMAKE_CURRENT_LIST_DIR}/\${ARGV1})
endmacro()
add_subdirectory($source_root/core/c/esp-idf esp-idf)
set(library component)
END
)

# Compiles a program for the target `$1` in this folder, and links it with the CMake target `library`, which the lines of standard
# input set. QEMU runs it where it has the machine: what it prints is what the tests of firmware expect.
program_of() {
    local target=$1 source=$source_root/tests/firmware machine flags linker
    cp "$source"/c/*.[ch] .
    {
        printf 'cmake_minimum_required(VERSION 3.17)\nproject(first C)\n'
        cat
        printf 'add_executable(first object.c ${MACHINE})\ntarget_link_libraries(first ${library} gcc)\n'
    } >CMakeLists.txt
    # shellcheck disable=SC2086 # A word each.
    set -- ${firmware_options[$target]}
    machine=() flags="${*:2} -std=c99 -ffreestanding -Os -ffunction-sections -fdata-sections -Wa,-I$source_root/tests/data"
    linker="-nostdlib -Wl,--gc-sections,-z,noexecstack,--no-warn-rwx-segments"
    if [ "$1" = arm-none-eabi-gcc ]; then
        machine=("-DMACHINE=machine.c;messages.c")
        linker+=" -L$source -T$source/cortex-m.x"
    else
        linker+=" -Wl,-e,run,--unresolved-symbols=ignore-in-object-files"
    fi
    cmake -S . -B build -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DCMAKE_C_COMPILER="$1" \
        -DCMAKE_C_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="$linker" -DCMAKE_PREFIX_PATH="$PWD" "${machine[@]}" >log 2>&1 &&
        cmake --build build >>log 2>&1 || { cat log >&2; return 1; }
    # The board has a Cortex-M3, which runs code of a Cortex-M0 too.
    case $target in
        thumbv6m-* | thumbv7m-*)
            emulated build/first >printed
            diff <(grep '^object ' "$source/expected.txt") <(grep -v '^stack ' printed)
            ;;
    esac
}

# Runs a program on the board.
emulated() {
    timeout 60 qemu-system-arm -cpu cortex-m3 -machine lm3s6965evb -display none -serial none -monitor none \
        -chardev stdio,id=host -semihosting-config enable=on,target=native,chardev=host -kernel "$1" </dev/null
}

# A library of Arduino: the archives in folders that have the names of processors there.
make_arduino() {
    local folder=$place/pack/TensogramCore target core
    rm -rf "$folder" "$artefacts/TensogramCore-$version.zip"
    mkdir -p "$folder/examples"
    sed "s/@VERSION@/$version/" core/c/arduino/library.properties >"$folder/library.properties"
    cp -r core/c/arduino/Values "$folder/examples"
    { echo 'static const unsigned char MESSAGE[] = {' && xxd -i <"$arduino_message" && echo '};'; } >"$folder/examples/Values/message.h"
    for target in thumbv6m-none-eabi:cortex-m0 thumbv6m-none-eabi:cortex-m0plus thumbv7m-none-eabi:cortex-m3 \
        thumbv7em-none-eabihf:cortex-m4/fpv4-sp-d16-hard riscv32imac-unknown-none-elf:esp32c6; do
        core=$place/pack/tgm-core-$version-${target%:*}
        mkdir -p "$folder/src/${target#*:}"
        cp "$core/lib/libtgm_c_core.a" "$folder/src/${target#*:}"
        cp "$core/include/tgm_core.h" "$folder/src"
        cp "$core"/LICENSE-* "$folder"
    done
    find "$folder" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
    (cd "$place/pack" && find TensogramCore | LC_ALL=C sort | TZ=UTC zip -q -X -@ "$artefacts/TensogramCore-$version.zip")
}
arduino_message=tests/data/simple_packing/bits16.tgm

# Its example, compiled and linked as Arduino does for a Cortex-M3, with a stand-in for the board's own code.
try_arduino() (
    local options
    emptied arduino
    timed unzip -q "$1"
    cp "$source_root"/tests/firmware/c/* .
    cat >Arduino.h <<'END'
#include <stdint.h>
#include <stddef.h>
extern "C" { void word(const char *text); void number(uint32_t value); void end_line(void); int run(uint8_t *values); }
struct {
    void begin(long) {}
    void print(const char *text) { word(text); }
    void print(char) {}
    void print(unsigned long value) { number(value); }
    void print(double value) { number((uint32_t)value); }
    void println(const char *text) { word(text), end_line(); }
    void println() { end_line(); }
} Serial;
void setup(), loop();
int run(uint8_t *) { setup(); return 0; }
END
    read -ra options <<<"${firmware_options[thumbv7m-none-eabi]} -Os -ffunction-sections -fdata-sections"
    "${options[@]}" -x c++ -std=gnu++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -ITensogramCore/src -include Arduino.h -c \
        -o example.o TensogramCore/examples/Values/Values.ino
    "${options[@]}" -nostdlib -Wl,--gc-sections,-z,noexecstack,--no-warn-rwx-segments "-L$source_root/tests/firmware" \
        "-T$source_root/tests/firmware/cortex-m.x" -ITensogramCore/src "-Wa,-I$source_root/tests/data" -o example example.o \
        machine.c messages.c -LTensogramCore/src/cortex-m3 -ltgm_c_core -lgcc
    emulated example | tee printed
    grep -qx ' 100  values: 287 286 287 287' printed
    row "$1" "$took" -
)
