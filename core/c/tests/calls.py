#!/usr/bin/env python3
"""Writes C programs from the header, so that no function is forgotten.

    calls.py HEADER calls      a program that calls every function with each pointer NULL, and with each one unaligned
    calls.py HEADER symbols    a program that refers to every function, and calls none
"""
import re
import sys

# Pointers that may be NULL, as FUNCTION.PARAMETER or as .PARAMETER of any function.
OPTIONAL = {".error", "tgmc_message_verify.good", "tgmc_message_verify.object", "tgmc_object_view.swapped",
            "tgmc_value_at.key"}

# An argument for each parameter, by type and name.
VALID = {
    "void *data": "buffer", "void *out": "buffer", "void *bits": "buffer", "void *values": "buffer",
    "void *scratch": "scratch", "void *memory": "memory", "const void *data": "bytes", "const void *cbor": "cbor",
    "const void *descriptor": "descriptor", "const void *stream": "stream",
    "const char *path": '"a.b"', "const char *key": '"sp_bits_per_value"',
    "float *out": "floats", "double *out": "doubles", "size_t *position": "&position",
    "const uint64_t *rsi_offsets": "offsets", "tgmc_push_t *push": "push", "tgmc_push_t **push": "&push",
    "size_t len": "48", "size_t path_len": "3", "size_t key_len": "17", "size_t window": "512",
    "size_t out_len": "8", "size_t scratch_len": "8", "size_t stream_len": "8", "size_t count": "4",
    "size_t room": "4", "size_t rsi_count": "1", "size_t unit": "2", "size_t index": "0",
    "uint8_t order": "0", "uint8_t mask": "1", "uint8_t link": "0", "uint64_t start": "0", "uint64_t count": "4",
    "uint64_t index": "0", "uint64_t object": "0", "uint64_t position": "0", "uint64_t first_sample": "0",
    "uint32_t axis": "0", "uint32_t layout": "TGMC_LAYOUT", "tgmc_status_t kind": "-1",
}

# Types that an address need not be aligned for.
BYTES = ("void", "char", "uint8_t")


def functions(header):
    text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    for result, name, parameters in re.findall(r"^(\w[\w \*]*?)(tgmc_\w+)\(([^)]*)\);", text, flags=re.M):
        parameters = [] if parameters == "void" else [" ".join(p.split()) for p in parameters.split(",")]
        yield result.strip(), name, parameters


def argument(name, parameter):
    if (name, parameter) == ("tgmc_push_init", "size_t len"):
        return "sizeof memory"
    if parameter in VALID:
        return VALID[parameter]
    base = re.sub(r"^const ", "", parameter)
    match = re.fullmatch(r"(\w+) \*(\w+)", base)
    kind = match[1].removeprefix("tgmc_").removesuffix("_t")
    return f"&a_{kind}"


def c_type(parameter):
    return parameter[:re.search(r"\w+$", parameter).start()].strip()


def calls(header):
    print('#include "calls.h"\n\nint main(int argc, char **argv) {\n    begin(argc, argv);')
    for result, name, parameters in functions(header):
        arguments = [argument(name, p) for p in parameters]
        if result == "tgmc_status_t":
            print(f'    CHECK({name}({", ".join(arguments)}), ANY, "{name}");')
        for at, parameter in enumerate(parameters):
            if "*" not in parameter:
                continue
            word = re.search(r"\w+$", parameter)[0]
            optional = f".{word}" in OPTIONAL or f"{name}.{word}" in OPTIONAL
            changes = [("NULL", "TGMC_E_NULL")]
            pointee = c_type(parameter).removeprefix("const ").rstrip("*").strip()
            if pointee not in BYTES and arguments[at] != "push":
                changes.append((f"({c_type(parameter)})odd({arguments[at]})", "TGMC_E_ALIGNMENT"))
            for value, kind in changes:
                call = f"{name}({', '.join(arguments[:at] + [value] + arguments[at + 1:])})"
                if result == "tgmc_status_t":
                    expected = "ANY" if optional and (kind == "TGMC_E_NULL" or word == "error") else kind
                    print(f'    CHECK({call}, {expected}, "{name}, {word}");')
                else:
                    print(f'    CHECK_ZERO({call}, "{name}, {word}");')
    print("    return finish();\n}")


def symbols(header):
    print('#include "tgm_core.h"\n\ntypedef void (*function)(void);\n\nextern const function all[];')
    print("const function all[] = {")
    for _, name, _ in functions(header):
        print(f"    (function){name},")
    print("};\n\nint main(void) {\n    return all[0] == NULL;\n}")


{"calls": calls, "symbols": symbols}[sys.argv[2]](sys.argv[1])
