"""Counts what tests reach, of what llvm-cov wrote: `count.py FOLDER [FILE-PREFIX…]`.

The functions of a generic type count as one: a region is reached if it is in any of them. Tests are not counted.
"""

import collections
import json
import os
import re
import sys

CODE = 0
# What is counted together.
PARTS = [
    "core/src/",
    "std-ext/codec/src/codecs",
    "std-ext/codec/src/kernels",
    "std-ext/src/decode",
    "std-ext/src/encode",
    "std-ext/src/file/append",
    "std-ext/zio/src/",
]


def first_line_of_tests(path):
    """The line where a file's tests begin: they are its end."""
    if re.search(r"/tests(/|\.rs$)|_tests\.rs$", path):
        return 0
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(r"^#\[cfg\(test\)\]\n(#\[.*\n)*mod \w+ \{", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else sys.maxsize


def main():
    folder, prefixes = sys.argv[1], tuple(sys.argv[2:])
    root = os.getcwd() + "/"
    limits = {}

    def counted(path, line):
        if path not in limits:
            limits[path] = first_line_of_tests(path)
        return line < limits[path]

    regions = collections.defaultdict(dict)
    with open(f"{folder}/all.text", encoding="utf-8") as file:
        functions = json.load(file)["data"][0]["functions"]
    for function in functions:
        names = function["filenames"]
        for line, column, last, end, count, name, _, kind in function["regions"]:
            path = names[name].removeprefix(root)
            if kind == CODE and path.startswith(tuple(PARTS)) and counted(path, line):
                place = line, column, last, end
                regions[path][place] = max(count, regions[path].get(place, 0))

    lines = collections.defaultdict(dict)
    path = None
    with open(f"{folder}/all.lcov", encoding="utf-8") as file:
        for row in file:
            if row.startswith("SF:"):
                path = row[3:].strip().removeprefix(root)
            elif row.startswith("DA:") and path.startswith(tuple(PARTS)):
                line, count = map(int, row[3:].split(","))
                if counted(path, line):
                    lines[path][line] = max(count, lines[path].get(line, 0))

    for path in sorted(lines):
        if prefixes and path.startswith(prefixes):
            missed = sorted({place[0] for place, count in regions[path].items() if count == 0})
            if missed:
                print(f"{path}: {' '.join(map(str, missed))}")

    print(f"{'':26}{'lines':>8}{'reached':>9}{'':8}{'regions':>9}{'reached':>9}")
    for part in PARTS:
        row = f"{part:26}"
        for table, width in ((lines, 8), (regions, 9)):
            counts = [count for path in table if path.startswith(part) for count in table[path].values()]
            reached = sum(count > 0 for count in counts)
            row += f"{len(counts):{width}}{reached:9}{reached / max(len(counts), 1):8.1%}"
        print(row)


main()
