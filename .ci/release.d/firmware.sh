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
    install cc cmake gcc-arm-none-eabi gcc-riscv64-unknown-elf qemu-system-arm
    for target in thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf; do
        make_firmware "$target"
        try_firmware "$target" "$artefacts/tgm-core-$version-$target.tar.gz"
    done
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

# A program for the processor finds the package by CMake. QEMU runs it where it has the machine: what it prints is what the tests of
# firmware expect.
try_firmware() (
    local target=$1 archive=$2 source=$source_root/tests/firmware
    emptied "firmware-$target"
    timed tar -xzf "$archive" --strip-components 1
    cp "$source"/c/*.[ch] .
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(first C)
find_package(tgm-core 0.1 REQUIRED)
add_executable(first object.c ${MACHINE})
target_link_libraries(first tgm-core::tgm-core gcc)
END
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
        cmake --build build >>log 2>&1 || { cat log >&2; exit 1; }
    # The board has a Cortex-M3, which runs code of a Cortex-M0 too.
    case $target in
        thumbv6m-* | thumbv7m-*)
            timeout 60 qemu-system-arm -cpu cortex-m3 -machine lm3s6965evb -display none -serial none -monitor none \
                -chardev stdio,id=host -semihosting-config enable=on,target=native,chardev=host -kernel build/first </dev/null >printed
            diff <(grep '^object ' "$source/expected.txt") <(grep -v '^stack ' printed)
            ;;
    esac
    row "$archive" "$took" -
)
