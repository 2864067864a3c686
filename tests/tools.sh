# To be sourced: installs tools on Debian and its kin.
#
#   install TOOL...    installs what is missing: cc, c++, cmake, python3 and libclang wherever they come from, all else
#                      by package
#   python_of 3.13   prints where that Python is, if there is one
#   settle           after the first build with libaec: the next one finds it as it is

install() {
    local missing=() root=()
    for tool in "$@"; do
        case $tool in
            cc) command -v cc >/dev/null || missing+=(gcc libc6-dev) ;;
            c++) command -v c++ >/dev/null || missing+=(g++) ;;
            cmake) command -v cmake >/dev/null || missing+=(cmake) ;;
            python3) command -v python3 >/dev/null || missing+=(python3) ;;
            libclang) ls /usr/lib/llvm-*/lib/libclang[.-][0-9s]* >/dev/null 2>&1 || missing+=(libclang-dev) ;;
            *)
                dpkg-query -W -f '${Status}' "$tool" 2>/dev/null | grep -q 'install ok installed' || missing+=("$tool")
                ;;
        esac
    done
    if [ ${#missing[@]} -gt 0 ]; then
        if [ "$(id -u)" != 0 ]; then root=(sudo); fi
        "${root[@]}" apt-get update
        "${root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
    fi
}

# Prints the program of Python `$1`, such as 3.11, or nothing.
python_of() {
    local program
    for program in "python$1" "$HOME"/.pyenv/versions/"$1".*/bin/python"$1"; do
        if "$program" -c 'pass' 2>/dev/null; then
            command -v "$program"
            return
        fi
    done
}

# The build script of libaec-sys says that it reads a header, which it writes: cargo would run it once more, and compile all above it.
settle() {
    find "${CARGO_TARGET_DIR:-target}/debug/build" -path '*/libaec-sys-*/out/include/libaec.h' -exec touch -d @0 {} +
}
