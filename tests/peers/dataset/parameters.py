#!/usr/bin/env python3
"""Writes the names of parameters that datasets have: std-ext/dataset/src/parameters.txt.

Usage: parameters.py DEFINITIONS OUTPUT   DEFINITIONS is a folder of ecCodes' definitions

Each line has a parameter: its number, its short name, the name of its variable where that differs, its standard name where it
has one, its units as CF writes them, and its name. Columns end with tabs. Names of variables and standard names are what ecCodes itself
says of a message with that parameter, where it can make one. The definitions are (C) ECMWF, under the Apache License 2.0.
"""
import re
import sys
from pathlib import Path

import eccodes

# Edition 1 comes last: it adds what edition 2 does not have.
FOLDERS = ["grib2", "grib2/localConcepts/ecmf", "grib1", "grib1/localConcepts/ecmf"]
VERSIONS = ["", ".lte33"]
CONCEPTS = ["paramId", "shortName", "name", "units", "cfName", "cfVarName"]


def concept(folder, name, version):
    """The values of a concept by their conditions."""
    file = folder / f"{name}{version}.def"
    if not file.exists():
        return {}
    text = re.sub(r"#.*", "", file.read_text("latin-1"))
    found = re.findall(r"'([^']*)'\s*=\s*\{(.*?)\}", text, re.DOTALL)
    parts = lambda conditions: frozenset(filter(None, ("".join(part.split()) for part in conditions.split(";"))))
    return {parts(conditions): value for value, conditions in found}


def find(values, conditions):
    """The value with the most conditions that hold."""
    fitting = [key for key in values if key <= conditions]
    return values[max(fitting, key=len)] if fitting else ""


def asked(number):
    """The names that ecCodes gives a field of a parameter: of its variable, and the standard name. None if it makes no such field."""
    for sample in ("regular_ll_sfc_grib2", "regular_ll_pl_grib2"):
        handle = eccodes.codes_grib_new_from_samples(sample)
        try:
            eccodes.codes_set(handle, "paramId", number)
            if eccodes.codes_get(handle, "paramId", int) == number:
                return eccodes.codes_get(handle, "cfVarName"), eccodes.codes_get(handle, "cfName")
        except eccodes.CodesInternalError:
            pass
        finally:
            eccodes.codes_release(handle)
    return None


def units(text):
    """Units as CF writes them."""
    return "1" if text in ("~", "(0 - 1)") else text.replace("**", "")


def main():
    definitions, output = Path(sys.argv[1]), Path(sys.argv[2])
    parameters = {}
    for folder in FOLDERS:
        for version in VERSIONS:
            concepts = [concept(definitions / folder, name, version) for name in CONCEPTS]
            for conditions, number in concepts[0].items():
                known = parameters.setdefault(int(number), [""] * 5)
                for at, values in enumerate(concepts[1:]):
                    known[at] = known[at] or find(values, conditions)
    lines = []
    for number, (short, name, unit, standard, variable) in sorted(parameters.items()):
        if short in ("", "~", "unknown") or number == 0:
            continue
        standard = "" if standard in ("unknown", "~") else standard
        own = "" if variable in ("unknown", "~", short) else variable
        # The table has exceptions alone: a name does not begin with a number.
        if not own and (parts := re.fullmatch(r"(\d+)([A-Za-z]\w*)", short)):
            own = parts[2] + parts[1]
        if found := asked(number):
            own, standard = ["" if text in ("unknown", "~", short) else text for text in found]
        lines.append("\t".join([str(number), short, own, standard, units(unit), name]))
    output.write_text("".join(f"{line}\n" for line in lines))
    print(len(lines), "parameters")


main()
