#!/usr/bin/env python3
"""Compares what `tgm convert` makes of GRIB with cfgrib's reading of the same file: NetCDF and Zarr, one variable a kind.

Usage: cubes.py TGM [CASES [SEED]]

Random forecasts are made by ecCodes: parameters, levels, steps, members, grids, bitmaps, holes, in any order. Dimensions,
coordinates and values must be the ones of cfgrib; both formats and the way over messages and back must agree.
"""
import logging
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import eccodes
import numpy as np
import xarray as xr

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
LEVELS = [1000, 925, 850, 500, 250]
GRIDS = ["regular_ll_pl_grib2", "reduced_gg_pl_32_grib2", "polar_stereographic_pl_grib2", "regular_gg_pl_grib2"]
MISSING = 1e20


def convert(program, source, target, *more):
    done = subprocess.run([program, "convert", source, "-o", target, *more], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tgm convert {source} -o {target}: {done.stderr}")
    return done.stderr


def message(rng, sample, keys, bits, has_gaps):
    handle = eccodes.codes_grib_new_from_samples(sample)
    for key, value in keys.items():
        eccodes.codes_set(handle, key, value)
    count = eccodes.codes_get_size(handle, "values")
    values = rng.uniform(-1, 1, count) * 10.0 ** rng.integers(-6, 5) + rng.choice([0.0, 280.0])
    if has_gaps:
        eccodes.codes_set(handle, "bitmapPresent", 1)
        eccodes.codes_set(handle, "missingValue", MISSING)
        values[rng.uniform(size=count) < 0.2] = MISSING
    eccodes.codes_set(handle, "bitsPerValue", bits)
    eccodes.codes_set_values(handle, values)
    made = eccodes.codes_get_message(handle)
    eccodes.codes_release(handle)
    return made


def forecast(rng, path):
    """A file of fields on one grid, with one place or more missing."""
    sample, bits = rng.choice(GRIDS), int(rng.choice([8, 12, 16, 24]))
    levels = rng.choice(LEVELS, int(rng.integers(1, 4)), replace=False)
    steps = rng.choice([0, 3, 6, 12, 240], int(rng.integers(1, 4)), replace=False)
    members = range(int(rng.integers(1, 4)))
    names = rng.choice(["t", "q", "u", "z"], int(rng.integers(1, 4)), replace=False)
    dates = [20240228, 20240301][: int(rng.integers(1, 3))]
    made = []
    for name in names:
        for level in levels:
            for step in steps:
                for member in members:
                    for date in dates:
                        keys = {"productDefinitionTemplateNumber": 1, "perturbationNumber": member, "dataDate": date,
                                "dataTime": 600, "level": int(level), "shortName": str(name), "step": int(step)}
                        # As models write such grids. For rows from the other side, ecCodes mirrors the plane.
                        if "polar" in sample:
                            keys["jScansPositively"] = 1
                        made.append(message(rng, sample, keys, bits, rng.uniform() < 0.2))
    rng.shuffle(made)
    holes = min(int(rng.integers(0, 3)), len(made) - 1)
    path.write_bytes(b"".join(made[holes:]))


def compare(ours, theirs, where):
    for name in theirs:
        one, other = ours[name], theirs[name]
        # cfgrib leaves out variables that lack a label. We have holes in them.
        for dim in ["number", "time", "step", "isobaricInhPa"]:
            if dim in one.dims:
                one = one.sel({dim: other[dim].values})
        other = other.transpose(*one.dims)
        same = np.array_equal(one.values.astype("f4"), other.values, equal_nan=True)
        # ecCodes and we may differ in the last bit of float64, which float32 can round apart.
        assert same or np.allclose(one.values, other.values, rtol=2.4e-7, atol=0, equal_nan=True), f"{where}: {name}"
        for key in ["time", "step", "valid_time", "latitude", "longitude", "number"]:
            if key in other.coords:
                mine, yours = one[key].values, other[key].values
                if mine.dtype.kind in "mM":
                    assert mine.shape == yours.shape and (mine == yours).all(), f"{where}: {key} of {name}"
                else:
                    assert np.allclose(mine, yours, atol=1e-6), f"{where}: {key} of {name}"
        for key in ["units", "standard_name"]:
            if (text := theirs[name].attrs.get(key)) not in (None, "unknown"):
                text = text.replace("**", "")
                assert one.attrs.get(key) == text, f"{where}: {key} of {name} is {one.attrs.get(key)}, not {text}"


def main(program, cases, seed):
    for case in range(cases):
        rng = np.random.default_rng([seed, case])
        with tempfile.TemporaryDirectory() as name:
            folder, where = Path(name), f"case {case} of seed {seed}"
            source = folder / "in.grib2"
            forecast(rng, source)
            theirs = xr.open_dataset(source, engine="cfgrib", backend_kwargs={"indexpath": ""}).load()
            convert(program, source, folder / "a.nc")
            convert(program, source, folder / "a.zarr")
            convert(program, source, folder / "a.tgm")
            convert(program, folder / "a.tgm", folder / "b.nc")
            convert(program, folder / "a.nc", folder / "c.tgm")
            convert(program, folder / "c.tgm", folder / "c.nc")
            found = xr.open_dataset(folder / "a.nc").load()
            compare(found, theirs, where)
            for other in [xr.open_zarr(folder / "a.zarr", consolidated=False), xr.open_dataset(folder / "b.nc"),
                          xr.open_dataset(folder / "c.nc")]:
                xr.testing.assert_identical(other.load(), found)
    print(f"{cases} random forecasts: NetCDF and Zarr as cfgrib reads GRIB")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
