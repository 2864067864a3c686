"""Prints the modules of test programs that look at features which their package does not have by default, as names for
`cargo test`.

    python3 tests/featured.py PACKAGE PROGRAM [PACKAGE PROGRAM …]

A module does if one of its files names such a feature, or if the program has the module only with one.
"""

import pathlib
import re
import sys
import tomllib

NAMED = re.compile(r'feature = "([^"]+)"')


def beyond_default(package):
    """Features that are not on by themselves."""
    features = tomllib.loads((package / "Cargo.toml").read_text())["features"]
    found, left = set(), ["default"]
    while left:
        name = left.pop()
        if name in features and name not in found:
            found.add(name)
            left += features[name]
    return set(features) - found


def modules(program, others):
    """The modules of a test program that name one of these features."""
    for file in program.rglob("*.rs"):
        inside = file.relative_to(program)
        if inside.name != "main.rs" and others & set(NAMED.findall(file.read_text())):
            yield inside.parts[0].removesuffix(".rs")
    condition = set()
    for line in (program / "main.rs").read_text().splitlines():
        if line.startswith("#["):
            condition |= set(NAMED.findall(line))
        else:
            module = re.match(r"mod (\w+);", line)
            if module and condition & others:
                yield module[1]
            condition = set()


for package, program in zip(map(pathlib.Path, sys.argv[1::2]), sys.argv[2::2]):
    found = set(modules(package / "tests" / program, beyond_default(package)))
    if not found:
        sys.exit(f"no module of {package}/tests/{program} names a feature")
    print(*(f"{name}::" for name in sorted(found)), sep="\n")
