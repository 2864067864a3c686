#!/usr/bin/env python3
"""Compares the dimensions of grids in datasets with the dimensions of cfgrib, for every `gridType` that ecCodes makes of its samples.

Usage: shapes.py TGM

Fields that cfgrib cannot open have no witness. Where cfgrib has `values` for grids of rows and columns, `DIFFERENT` says ours.
"""
import collections
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import cfgrib
import eccodes as ec
import numpy as np

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
SAMPLES = [f"{kind}_grib{edition}" for edition in (1, 2)
           for kind in ("regular_ll_sfc", "regular_ll_pl", "regular_gg_pl", "regular_gg_sfc", "reduced_gg_pl_32", "sh_pl", "sh_ml", "polar_stereographic_sfc", "polar_stereographic_pl")]
TYPES = """regular_ll reduced_ll rotated_ll stretched_ll stretched_rotated_ll mercator transverse_mercator polar_stereographic lambert albers lambert_lam mercator_lam
polar_stereographic_lam regular_gg reduced_gg rotated_gg reduced_rotated_gg stretched_gg reduced_stretched_gg stretched_rotated_gg sh rotated_sh stretched_sh
stretched_rotated_sh space_view triangular_grid unstructured_grid equatorial_azimuthal_equidistant azimuth_range irregular_latlon lambert_azimuthal_equal_area
cross_section Hovmoller time_section healpix lambert_bf mercator_bf polar_stereographic_bf""".split()
ROWS = {"Nx": 5, "Ny": 4, "Ni": 5, "Nj": 4}
PLACES = ["latitude", "longitude"]
DIFFERENT = {
    "mercator": [PLACES],
    "transverse_mercator": [["y", "x"]],
    "space_view": [["y", "x"]],
    **{f"stretched_{more}{kind}": [["y", "x"]] for more in ("", "rotated_") for kind in ("ll", "gg")},
}


def made(sample, kind):
    """A message of a sample as a type of grid. None if ecCodes does not make it."""
    try:
        handle = ec.codes_grib_new_from_samples(sample)
        ec.codes_set(handle, "gridType", kind)
    except ec.CodesInternalError:
        return None
    for key, value in ROWS.items() if not kind.startswith(("sh", "reduced")) and "gg" not in kind else ():
        try:
            ec.codes_set(handle, key, value)
        except ec.CodesInternalError:
            pass
    try:
        if kind == "healpix":
            ec.codes_set(handle, "Nside", 2)
            ec.codes_set(handle, "longitudeOfFirstGridPointInDegrees", 45)
            ec.codes_set_values(handle, np.arange(48.0))
        elif "gg" not in kind and "sh" not in kind and "bf" not in kind:
            ec.codes_set_values(handle, np.arange(20.0))
        return ec.codes_get_message(handle)
    except ec.CodesInternalError:
        return None


def of_cfgrib(path):
    """The dimensions of the variable, and of its latitudes. None where it cannot be opened."""
    try:
        opened = cfgrib.open_dataset(path, indexpath="")
        variable = opened[next(iter(opened.data_vars))]
    except Exception:
        return None
    return list(variable.dims), list(opened.latitude.dims) if "latitude" in opened.coords else None


def ours(tool, path, folder):
    converted = str(Path(folder, "out.tgm"))
    run = subprocess.run([tool, "convert", path, "-o", converted], capture_output=True)
    if run.returncode:
        return None
    listed = json.loads(subprocess.run([tool, "cube", "--json", converted], capture_output=True, check=True).stdout)["datasets"][0]
    places = [each["dimensions"] for each in listed["coordinates"] if each["name"] == "latitude"]
    return listed["variables"][0]["dimensions"], places[0] if places else None


def compare(tool, sample, kind, folder):
    """Whether ours is as cfgrib's, and what both are."""
    message = made(sample, kind)
    if message is None:
        return "not made", None
    path = str(Path(folder, "in.grib"))
    Path(path).write_bytes(message)
    their, found = of_cfgrib(path), ours(tool, path, folder)
    for left in Path(folder).glob("*"):
        left.unlink()
    if their is None or found is None:
        return "unread", None
    is_same = found == their if their[1] and found[1] else found[0] == their[0]
    return ("same" if is_same or found[0] in DIFFERENT.get(kind, []) else "wrong"), [their, found]


def child(tool, sample, first):
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, len(TYPES)):
            print(json.dumps(compare(tool, sample, TYPES[number], folder)), flush=True)


def main():
    tool, counts = sys.argv[1], collections.Counter()
    for sample in SAMPLES:
        first = 0
        while first < len(TYPES):
            # ecCodes crashes on some of what it makes: the next process goes on after that.
            lines = subprocess.run([sys.executable, __file__, tool, sample, str(first)], capture_output=True, text=True).stdout.splitlines()
            for kind, line in zip(TYPES[first:], lines):
                result, both = json.loads(line)
                counts[result] += 1
                if result == "wrong":
                    print(f"{sample} as {kind}: cfgrib {both[0]}, tgm {both[1]}")
            first += len(lines) + 1
            counts["crashed"] += first <= len(TYPES)
    print(f"{counts['same']} fields of every type of grid have the dimensions that cfgrib has; {dict(counts)}")
    sys.exit(counts["wrong"] > 0 or counts["same"] < 100)


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 2 else main()
