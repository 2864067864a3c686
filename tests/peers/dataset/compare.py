#!/usr/bin/env python3
"""Compares archives as datasets with ecCodes, cfgrib and xarray.

Usage: compare.py fields TGM [CASES [SEED]]   random fields made by ecCodes: each is where its keys say, with its values;
                                              coordinates, units and names are the ones of cfgrib
       compare.py files TGM [CASES [SEED]]    random datasets as NetCDF and Zarr, and saved: they come back identical
Both read each dataset through `tgm.zarr_store` too; the first one boxes by `tgm extract --cube`, and statistics.

The module tgm is imported from where PYTHONPATH says, or as it is installed. Both need xarray; the first one ecCodes and cfgrib,
the second one netCDF4 and zarr.
"""
import logging
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import tgmio as tgm

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
NAMES = {"t": "t", "z": "z", "2t": "t2m", "10u": "u10", "sp": "sp", "msl": "msl", "tp": "tp", "u": "u"}
LEVELS = {"t": "isobaricInhPa", "z": "isobaricInhPa", "2t": "heightAboveGround", "10u": "heightAboveGround",
          "sp": "surface", "msl": "meanSea", "tp": "surface", "u": "heightAboveGround"}


def convert(program, source, target, *more):
    done = subprocess.run([program, "convert", source, "-o", target, *more], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tgm convert {source}: {done.stderr}")


def message(keys, values, north):
    """A field as GRIB."""
    import eccodes

    handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    grid = {"Ni": 5, "Nj": 4, "numberOfDataPoints": 20, "latitudeOfFirstGridPointInDegrees": north,
            "latitudeOfLastGridPointInDegrees": north - 6, "longitudeOfFirstGridPointInDegrees": 0.0,
            "longitudeOfLastGridPointInDegrees": 8.0, "iDirectionIncrementInDegrees": 2.0,
            "jDirectionIncrementInDegrees": 2.0}
    start = keys.get("start")
    template = {(False, False): 0, (True, False): 1, (False, True): 8, (True, True): 11}
    more = {"productDefinitionTemplateNumber": template["number" in keys, start is not None], "dataDate": keys["date"],
            "dataTime": 0}
    if "number" in keys:
        more["perturbationNumber"] = keys["number"]
    if LEVELS[keys["param"]] != "surface":
        more["typeOfLevel"] = LEVELS[keys["param"]]
        more["level"] = keys["level"]
    more["shortName"] = keys["param"]
    more |= {"step": keys["step"]} if start is None else {"stepRange": f"{start}-{keys['step']}"}
    for key, value in {**grid, **more, "bitsPerValue": 16}.items():
        eccodes.codes_set(handle, key, value)
    eccodes.codes_set_values(handle, values)
    found = eccodes.codes_get_message(handle), eccodes.codes_get_values(handle)
    eccodes.codes_release(handle)
    return found


def random_fields(rng):
    """Keys of fields, in any order, with some left out; and some on another grid."""
    dates = [20240101 + n for n in range(rng.integers(1, 3))]
    numbers = [{}] if rng.random() < 0.5 else [{"number": n} for n in range(rng.integers(1, 4))]
    steps = sorted(rng.choice([0, 3, 6, 12, 24], rng.integers(1, 4), replace=False).tolist())
    found = []
    for param in rng.choice(list(NAMES), rng.integers(1, 5), replace=False).tolist():
        levels = {"t": [500, 850, 1000], "z": [500, 850], "2t": [2], "10u": [10], "u": [80, 120]}.get(param, [0])
        for date, number, step, level in ((d, n, s, l) for d in dates for n in numbers for s in steps for l in levels):
            keys = {"param": param, "date": date, "step": step, "level": level, **number}
            if param == "tp":
                if step:
                    found += [{**keys, "start": start} for start in {0, max(0, step - 6)}]
            elif rng.random() > 0.15:
                found.append(keys)
    rng.shuffle(found)
    return found


def place(dataset, name, keys):
    """The values of a field, or None if the variable is another cube."""
    array = dataset[name]
    level = LEVELS[keys["param"]]
    labels = {"time": np.datetime64(f"{str(keys['date'])[:4]}-01-{keys['date'] % 100:02}"),
              "step": np.timedelta64(keys["step"], "h"), "number": keys.get("number"), level: float(keys["level"])}
    for name, label in labels.items():
        if label is None:
            continue
        if name in array.dims:
            if label not in array[name].values:
                return None
            array = array.sel({name: label})
        elif name in array.coords and array[name].values != label:
            return None
        elif name not in array.coords and name == level and array.attrs.get(name) not in (label, None):
            return None
    if "start" in keys:
        # Bounds have a dimension that the variable lacks.
        bounds = dataset[array.attrs["step_bounds"]]
        if "step" in bounds.dims:
            bounds = bounds.sel(step=labels["step"])
        if bounds.values.tolist() != [keys["start"] * 3_600_000_000_000, keys["step"] * 3_600_000_000_000]:
            return None
    return array.values


def fields(program, cases, seed):
    import cfgrib

    folder = Path(tempfile.mkdtemp())
    count = 0
    for case in range(cases):
        rng = np.random.default_rng([seed, case])
        messages = []
        for keys in random_fields(rng):
            messages.append((keys, *message(keys, rng.normal(280, 10, 20), 60.0)))
        if not messages:
            continue
        source = folder / "a.grib2"
        source.write_bytes(b"".join(data for _, data, _ in messages))
        target = folder / f"{case}.tgm"
        convert(program, source, target)
        ours = tgm.open_datasets(target)
        for keys, _, values in messages:
            name = NAMES[keys["param"]]
            arrays = [place(dataset, name, keys) for dataset in ours if name in dataset]
            if not any(found is not None and np.allclose(found.ravel(), values, rtol=1e-12) for found in arrays):
                sys.exit(f"fields: seed {seed}, case {case}: {keys} is not found")
        present = sum(int(np.isfinite(dataset[name].values).sum()) for dataset in ours for name in dataset.data_vars)
        if present != 20 * len(messages):
            sys.exit(f"fields: seed {seed}, case {case}: {present} values of {20 * len(messages)}")
        count += len(messages)
        check_cfgrib(cfgrib.open_datasets(source, indexpath=""), ours, (seed, case))
        check_zarr(target, f"fields: seed {seed}, case {case}")
        check_boxes(program, target, ours[0], rng, f"fields: seed {seed}, case {case}")
        target.unlink()
    print(f"datasets: {count} fields of {cases} archives are in their places; coordinates are cfgrib's")


def check_cfgrib(theirs, ours, case):
    """Names, units, labels and the kinds of coordinates."""
    for dataset in theirs:
        for name, array in dataset.data_vars.items():
            found = next((other[name] for other in ours if name in other), None)
            if found is None or found.attrs["units"] != array.attrs["units"].replace("**", ""):
                sys.exit(f"fields: case {case}: {name} has other units than cfgrib's, or is not there")
            for label in ("time", "step", "number", "isobaricInhPa", "heightAboveGround", "latitude", "longitude"):
                if label not in array.coords or label not in found.coords:
                    continue
                one, other = found.coords[label], array.coords[label]
                same = {key: one.attrs.get(key) == other.attrs.get(key) for key in ("units", "standard_name", "positive")}
                if one.dtype.kind != other.dtype.kind or not all(same.values()):
                    sys.exit(f"fields: case {case}: {name}: {label} differs from cfgrib's: {same}")
                missing = set(np.atleast_1d(other.values).tolist()) - set(
                    label for each in ours if name in each for label in np.atleast_1d(each[other.name].values).tolist()
                    if other.name in each.coords
                ) if all(other.name in each.coords for each in ours if name in each) else set()
                if missing and label in ("isobaricInhPa", "latitude", "longitude", "step", "time"):
                    sys.exit(f"fields: case {case}: {name}: labels of {label} are missing: {missing}")


def random_dataset(rng):
    """Variables of many types over shared dimensions."""
    sizes = {"time": int(rng.integers(1, 5)), "lat": int(rng.integers(1, 6)), "lon": int(rng.integers(1, 7))}
    data = {}
    for number in range(int(rng.integers(1, 6))):
        dims = tuple(dim for dim in sizes if rng.random() < 0.7)
        shape = tuple(sizes[dim] for dim in dims)
        kind = rng.choice(["f4", "f8", "i2", "i4", "i8", "u1", "?", "text", "time"])
        if kind == "text":
            values = rng.choice(np.array(["", "a", "bc", "ü€"]), shape)
        elif kind == "time":
            unit = rng.choice(["s", "ms", "us", "ns"])
            values = (rng.integers(0, 10**9, shape).astype("M8[s]") + rng.integers(0, 1000, shape).astype(f"m8[{unit}]")).astype("M8[ns]")
        elif kind == "?":
            values = rng.random(shape) < 0.5
        elif kind[0] == "f":
            values = np.where(rng.random(shape) < 0.1, np.nan, rng.normal(0, 1e3, shape)).astype(kind)
        else:
            values = rng.integers(0, 100, shape).astype(kind)
        data[f"v{number}"] = (dims, values, {"long_name": f"variable {number}", "number": float(number)})
    coords = {dim: (dim, np.arange(size) * 1.5) for dim, size in sizes.items() if rng.random() < 0.8}
    coords["time"] = ("time", np.arange(sizes["time"]).astype("M8[D]").astype("M8[ns]"))
    coords["place"] = (("lat", "lon"), rng.random((sizes["lat"], sizes["lon"])))
    return xr.Dataset(data, coords, {"title": "random", "list": [1, 2, 3]})


def files(program, cases, seed):
    folder = Path(tempfile.mkdtemp())
    for case in range(cases):
        rng = np.random.default_rng([seed, case])
        dataset = random_dataset(rng)
        ways = []
        packed = {name: {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -32768} for name, variable in dataset.items()
                  if variable.dtype.kind == "f" and rng.random() < 0.3}
        source = folder / f"{case}.nc"
        dataset.to_netcdf(source, encoding=packed, unlimited_dims=["time"] if rng.random() < 0.5 else [])
        ways.append((xr.open_dataset(source).load(), source, []))
        if any("time" in variable.dims for variable in dataset.values()):
            ways.append((ways[0][0], source, ["--split", "record"])) if xr.open_dataset(source).encoding[
                "unlimited_dims"] else None
        for version in (2, 3):
            store = folder / f"{case}.{version}.zarr"
            without_texts = dataset.drop_vars([name for name, it in dataset.items() if it.dtype.kind in "OU"])
            chunks = {name: {"chunks": tuple(max(1, size - 1) for size in it.shape)} for name, it in
                      without_texts.items() if it.ndim and rng.random() < 0.5}
            without_texts.to_zarr(store, zarr_format=version, encoding=chunks, consolidated=True)
            ways.append((xr.open_zarr(store, chunks=None).load(), store, []))
        for number, (expected, path, more) in enumerate(ways):
            target = folder / f"{case}-{number}.tgm"
            convert(program, path, target, *more)
            check(tgm.open_dataset(target), expected, f"files: seed {seed}, case {case}: {path.name} {more}")
            check_zarr(target, f"files: seed {seed}, case {case}: {path.name} {more}")
        saved = folder / f"{case}.tgm"
        tgm.save_dataset(dataset, saved)
        check(tgm.open_dataset(saved), dataset, f"files: seed {seed}, case {case}: saved")
        check_zarr(saved, f"files: seed {seed}, case {case}: saved")
    print(f"datasets: {cases} datasets come back from NetCDF, Zarr 2 and 3, and as they were saved")


def check_zarr(target, where):
    """The store of Zarr has what the dataset has, by the codec and without it."""
    expected = tgm.open_dataset(target)
    for codec in ("tgm", None):
        found = xr.open_zarr(tgm.zarr_store(target, codec=codec), chunks=None)
        if set(found.variables) != set(expected.variables):
            sys.exit(f"{where}: zarr_store: {sorted(found.variables)} are not {sorted(expected.variables)}")
        for name, variable in expected.variables.items():
            one, other = found[name].values, variable.values
            same = one.shape == other.shape and (one == other) | ((one != one) & (other != other))
            if found[name].dims != variable.dims or not np.all(same):
                sys.exit(f"{where}: zarr_store, codec {codec}: {name} differs:\n{found[name]}\n{variable}")


def check_boxes(program, target, dataset, rng, where):
    """`tgm extract --cube` writes what `sel` picks, as values, as a dataset of ours and as NetCDF; statistics are xarray's."""
    names = {"number": str, "step": lambda label: f"{label // np.timedelta64(1, 'm')}m", "time": lambda label: str(label)[:19]}
    for name, array in dataset.data_vars.items():
        dims = [dim for dim in array.dims if array.sizes[dim] > 1]
        picked, words = {}, []
        for dim in rng.choice(dims, rng.integers(0, len(dims) + 1), replace=False).tolist() if dims else []:
            labels = array[dim].values
            some = sorted(rng.choice(len(labels), 2).tolist())
            text = names.get(dim, lambda label: repr(float(label)))
            picked[dim] = slice(labels[some[0]], labels[some[1]])
            words.append(f"{dim}={text(labels[some[0]])}..{text(labels[some[1]])}")
        expected = array.sel(picked)
        for ending in ("npy", "tgm", "nc"):
            out = target.with_name(f"box.{ending}")
            done = subprocess.run([program, "extract", "--cube", name, *(["--sel", ",".join(words)] if words else []),
                                   "-O", out, target], capture_output=True, text=True)
            if ending == "nc" and "lacks" in done.stderr:
                continue
            if done.returncode:
                sys.exit(f"{where}: extract {words}: {done.stderr}")
            found = np.load(out) if ending == "npy" else (tgm.open_dataset(out) if ending == "tgm" else xr.open_dataset(out))
            if ending != "npy":
                for label in set(array.coords) | {name}:
                    other = (expected[label] if label != name else expected).values
                    if not np.array_equal(found[label].values.astype(other.dtype), other, equal_nan=other.dtype.kind in "fmM"):
                        sys.exit(f"{where}: extract {words} to {ending}: {label} differs")
                found.close()
            elif not np.array_equal(found, expected.values, equal_nan=True):
                sys.exit(f"{where}: extract {words}: values differ")
            out.unlink()
        over = rng.choice(array.dims, rng.integers(1, array.ndim + 1), replace=False).tolist()
        for statistic in ("count", "sum", "mean", "min", "max", "std"):
            # What was loaded is not read again.
            found = tgm.open_datasets(target)[0].tgm.reduce(name, statistic, over, **picked)
            if not np.allclose(found.values, getattr(expected, statistic)(over).values, rtol=1e-9, atol=1e-9, equal_nan=True):
                sys.exit(f"{where}: {statistic} of {name} over {over} differs")


def check(found, expected, where):
    try:
        xr.testing.assert_identical(found.load(), expected)
    except AssertionError as error:
        sys.exit(f"{where}: {error}")


if __name__ == "__main__":
    what, program, cases, seed = (sys.argv[1:] + ["20", "1"])[:4] if len(sys.argv) < 5 else sys.argv[1:5]
    {"fields": fields, "files": files}[what](program, int(cases), int(seed))
