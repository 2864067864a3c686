#!/usr/bin/env python3
"""Compares what the numbers of files mean with xarray's reading of the files.

Usage: fills.py joined TGM [CASES [SEED]]   random files of NetCDF along time, each with its own `_FillValue`, `missing_value`, scale, type
                                            and variables, converted and read together, have the values of `xarray.open_mfdataset`: by
                                            `tgm extract` as numpy, as NetCDF and as Zarr, and counted by `tgm stats --over`
       fills.py raw TGM [CASES [SEED]]      such files, converted, opened by `tgm.open_dataset` with mask_and_scale=False: types, numbers
                                            and attributes are the same as of `xarray.open_dataset` with mask_and_scale=False
"""
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import netCDF4
import numpy as np
import xarray as xr

warnings.filterwarnings("ignore")
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"]


def attributes(rng, dtype):
    """What a file says of the numbers of a variable, all of which are from -3 to 9, or from 0."""
    found = {}
    numbers = np.arange(0 if dtype.kind == "u" else -3, 10).astype(dtype)
    if rng.random() < 0.6:
        found["_FillValue"] = rng.choice(numbers)
    if rng.random() < 0.3:
        # xarray refuses several different ones.
        found["missing_value"] = found.get("_FillValue", rng.choice(numbers))
    if rng.random() < 0.25:
        found["scale_factor"] = float(rng.choice([0.5, 0.1, 2.0]))
    if rng.random() < 0.15:
        found["add_offset"] = float(rng.choice([1.0, 273.15]))
    return found


def write(path, rng, first, steps, variables):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None if rng.random() < 0.5 else steps)
        file.createDimension("x", 3)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2024-01-01"
        time[:] = np.arange(first, first + steps)
        file.createVariable("x", "f8", ("x",))[:] = [1, 2, 3]
        for name, dtype in variables.items():
            dtype = np.dtype(dtype if rng.random() < 0.8 else rng.choice(TYPES))
            own = attributes(rng, dtype)
            fill = own.pop("_FillValue", None)
            made = file.createVariable(name, dtype, ("time", "x"), fill_value=fill)
            made.set_auto_maskandscale(False)
            made.setncatts(own)
            made.units = "m"
            low = 0 if dtype.kind == "u" else -3
            made[:] = rng.integers(low, 10, (steps, 3)).astype(dtype)


def run(*args):
    found = subprocess.run([*map(str, args)], capture_output=True, text=True, timeout=60)
    if found.returncode:
        raise SystemExit(f"{' '.join(map(str, args))}: {found.stderr}")
    return found.stdout


def same(found, expected):
    found, expected = np.asarray(found, "f8"), np.asarray(expected, "f8")
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-6, atol=1e-6, equal_nan=True)


def joined(program, folder, rng, where):
    names = {name: rng.choice(TYPES) for name in ("v", "w", "u")}
    sources, made, first = [], [], 0
    # One has all variables; others may lack some.
    count = int(rng.integers(2, 5))
    whole = int(rng.integers(count))
    for number in range(count):
        kept = {name: dtype for name, dtype in names.items() if number == whole or name == "v" or rng.random() < 0.8}
        steps = int(rng.integers(1, 4))
        source, target = folder / f"{number}.nc", folder / f"{number}.tgm"
        write(source, rng, first, steps, kept)
        first += steps
        more = [["--keep-packed"], ["--split", "record"], ["--chunks", "keep"], []][int(rng.integers(4))]
        run(program, "convert", source, "-o", target, "--quiet", *more)
        sources.append(source)
        made.append(target)
    expected = xr.open_mfdataset([*map(str, sources)], combine="by_coords", join="outer", compat="no_conflicts").load()
    rng.shuffle(made)
    for name in names:
        values = expected[name].transpose("time", "x").values
        for ending in (".npy", ".nc", ".zarr"):
            out = folder / f"out{ending}"
            run(program, "extract", "--cube", name, "-O", out, *made, "--quiet")
            if ending == ".npy":
                found = np.load(out)
                if found.dtype != values.dtype and not (found.dtype.kind in "iu" and values.dtype.kind == "f"):
                    # A scale of float64 and one of float32 are calculated by other rules in xarray: CONVENTIONS 1.1.
                    print(f"{where}: {name}: type {found.dtype}, xarray has {values.dtype}") if found.dtype.kind != "f" else None
                if found.dtype.kind in "iu" and np.isnan(values.astype("f8")).any():
                    # All files say the same: the number stays, beside the attribute.
                    continue
            else:
                engine = "netcdf4" if ending == ".nc" else "zarr"
                with xr.open_dataset(out, engine=engine, **({"consolidated": False} if engine == "zarr" else {})) as opened:
                    found = opened[name].transpose("time", "x").values
            if not same(found, values):
                raise SystemExit(f"{where}: {name} as {ending}:\n{found}\nxarray has\n{values}")
            shutil.rmtree(out) if out.is_dir() else out.unlink()
        (folder / "out.npy").unlink(missing_ok=True)
        lines = [json.loads(line) for line in run(program, "stats", "--over", "x", "--cube", name, "--jsonl", *made).splitlines()]
        counts = [line["values"] for line in lines]
        if counts != np.isfinite(values.astype("f8")).sum(1).tolist():
            raise SystemExit(f"{where}: {name}: stats counts {counts} of\n{values}")


def raw(program, folder, rng, where):
    import tgmio as tgm

    source, target = folder / "a.nc", folder / "a.tgm"
    write(source, rng, 0, int(rng.integers(1, 4)), {name: rng.choice(TYPES) for name in ("v", "w", "u")})
    more = [["--keep-packed"], ["--split", "record"], ["--chunks", "keep"], []][int(rng.integers(4))]
    run(program, "convert", source, "-o", target, "--quiet", *more)
    for asked in (False, {"v": False}):
        with xr.open_dataset(source, mask_and_scale=asked) as expected, tgm.open_dataset(target, mask_and_scale=asked) as found:
            for name, variable in expected.data_vars.items():
                own = found[name]
                is_raw = not (asked and asked.get(name, True))
                if is_raw and own.dtype != variable.dtype:
                    raise SystemExit(f"{where}: {name} of {more}: type {own.dtype}, and {variable.dtype} in xarray")
                if not same(own.values, variable.values):
                    raise SystemExit(f"{where}: {name} of {more}:\n{own.values}\nxarray has\n{variable.values}")
                theirs = {key: np.asarray(value).tolist() for key, value in variable.attrs.items()}
                if is_raw and {key: np.asarray(value).tolist() for key, value in own.attrs.items()} != theirs:
                    raise SystemExit(f"{where}: {name} of {more}: attributes {own.attrs}, and {theirs} in xarray")


def main(what, program, cases="100", seed="1"):
    compared = {"joined": joined, "raw": raw}[what]
    for case in range(int(cases)):
        folder = Path(tempfile.mkdtemp())
        compared(program, folder, np.random.default_rng([int(seed), case]), f"{what}: seed {seed}, case {case} in {folder}")
        shutil.rmtree(folder)
    print(f"{cases} sets of random files mean what xarray says ({what})")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
