#!/usr/bin/env python3
"""Compares archives as people have them with xarray's and cfgrib's own reading of the files that they were made of.

Usage: world.py fields TGM [CASES [SEED]]        GRIB of forecasts, ensembles, hindcasts, extremes, soil, many grids, in any order:
                                                 each variable of `cfgrib.open_datasets` is in `tgm.open_datasets`, with its
                                                 coordinates, units and names
       world.py conventions TGM                  NetCDF of the conventions that people use comes back identical
       world.py joined TGM [CASES [SEED]]        random datasets in several files, and appended piece by piece, come back identical
"""
import logging
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import compare
import tgmio as tgm

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
SURFACE, PRESSURE = "regular_ll_sfc_grib2", "regular_ll_pl_grib2"
GRID = {
    "Ni": 8, "Nj": 5, "latitudeOfFirstGridPointInDegrees": 60, "longitudeOfFirstGridPointInDegrees": 0,
    "latitudeOfLastGridPointInDegrees": 40, "longitudeOfLastGridPointInDegrees": 35, "iDirectionIncrementInDegrees": 5,
    "jDirectionIncrementInDegrees": 5,
}
PROJECTED = {
    "Nx": 7, "Ny": 5, "latitudeOfFirstGridPointInDegrees": 30, "longitudeOfFirstGridPointInDegrees": 250, "LoVInDegrees": 265,
    "LaDInDegrees": 25, "DxInMetres": 12000, "DyInMetres": 12000, "jScansPositively": 1,
}


def field(rng, sample=SURFACE, **keys):
    """A message of GRIB. On grids of the samples SURFACE and PRESSURE the area is a small one, unless keys say another."""
    import eccodes

    handle = eccodes.codes_grib_new_from_samples(sample)
    for key, value in ({**GRID, **keys} if sample in (SURFACE, PRESSURE) else keys).items():
        eccodes.codes_set(handle, key, value)
    kind = eccodes.codes_get(handle, "gridType")
    names = ("Nx", "Ny") if kind in ("lambert", "polar_stereographic") else ("Ni", "Nj")
    is_reduced = kind.startswith("reduced")
    count = eccodes.codes_get_size(handle, "values") if is_reduced else np.prod([eccodes.codes_get(handle, it) for it in names])
    eccodes.codes_set(handle, "bitsPerValue", int(rng.choice([8, 12, 16, 24])))
    eccodes.codes_set_values(handle, rng.uniform(200, 300, int(count)))
    made = eccodes.codes_get_message(handle)
    eccodes.codes_release(handle)
    return made


def over(rng, start, end, short, kind="accum"):
    return field(rng, productDefinitionTemplateNumber=8, shortName=short, stepType=kind, stepRange=f"{start}-{end}")


def some(rng, values, most=4):
    """Some of these, in any order."""
    return rng.choice(values, int(rng.integers(1, min(most, len(values)) + 1)), replace=False).tolist()


def ensemble(rng):
    steps, members = some(rng, [0, 6, 12, 24, 240]), range(int(rng.integers(1, 4)))
    for step in steps:
        for member in members:
            keys = {"productDefinitionTemplateNumber": 1, "perturbationNumber": member, "dataDate": 20240229, "dataTime": 0,
                    "typeOfProcessedData": 4 if member else 3, "numberOfForecastsInEnsemble": 3, "step": step}
            for name in ("t", "u", "q"):
                yield from (field(rng, PRESSURE, **keys, shortName=name, level=level) for level in (1000, 500))
            yield from (field(rng, **keys, shortName=name) for name in ("2t", "10u", "msl", "sp", "sst"))


def winds(rng):
    for step in some(rng, [0, 1, 2, 3]):
        for level in (10, 80, 100, 200):
            for number in (2, 3):
                yield field(rng, discipline=0, parameterCategory=2, parameterNumber=number, typeOfFirstFixedSurface=103,
                            level=level, step=step)


def hindcasts(rng):
    for year in some(rng, [2019, 2020, 2021, 2022]):
        for step in (0, 24):
            yield field(rng, setLocalDefinition=1, localDefinitionNumber=30, productDefinitionTemplateNumber=61, stream="enfh",
                        type="pf", perturbationNumber=1, shortName="2t", step=step, dataDate=year * 10000 + 101, dataTime=0,
                        YearOfModelVersion=2024, MonthOfModelVersion=1, DayOfModelVersion=1)


CASES = {
    "ensemble": ensemble,
    "winds": winds,
    "hindcasts": hindcasts,
    "sums from the start": lambda rng: (over(rng, 0, end, "tp") for end in some(rng, [3, 6, 9, 12, 48])),
    "extremes": lambda rng: (
        over(rng, end - 3, end, name, kind)
        for end in some(rng, [3, 6, 9, 12])
        for name, kind in (("mx2t3", "max"), ("mn2t3", "min"), ("10fg3", "max"))
    ),
    "dates, times and steps": lambda rng: (
        field(rng, shortName=name, dataDate=date, dataTime=time, step=step)
        for date in (20240228, 20240229, 20240301) for time in (0, 1200) for step in some(rng, [0, 6, 24]) for name in ("2t", "2d")
    ),
    "monthly means": lambda rng: (
        field(rng, setLocalDefinition=1, stream="moda", type="an", shortName="2t", dataDate=20240001 + 100 * month, dataTime=0)
        for month in some(rng, range(1, 13), 12)
    ),
    "soil": lambda rng: (field(rng, setLocalDefinition=1, shortName=name) for name in ("stl1", "stl2", "swvl1", "swvl2")),
    "model levels": lambda rng: (
        field(rng, PRESSURE, shortName=name, typeOfFirstFixedSurface=105, level=level) for name in ("t", "q") for level in (137, 60)
    ),
    "minutes": lambda rng: (
        field(rng, shortName="2t", indicatorOfUnitOfTimeRange=0, forecastTime=minutes) for minutes in some(rng, [0, 15, 30, 90])
    ),
    "waves": lambda rng: (
        field(rng, discipline=10, parameterCategory=0, parameterNumber=number, typeOfFirstFixedSurface=1) for number in (3, 10, 11)
    ),
    "across 0 degrees": lambda rng: [
        field(rng, shortName="2t", longitudeOfFirstGridPointInDegrees=340, longitudeOfLastGridPointInDegrees=15)
    ],
    "across 180 degrees": lambda rng: [
        field(rng, shortName="2t", longitudeOfFirstGridPointInDegrees=160, longitudeOfLastGridPointInDegrees=195)
    ],
    "south first": lambda rng: [
        field(rng, shortName="2t", latitudeOfFirstGridPointInDegrees=40, latitudeOfLastGridPointInDegrees=60, jScansPositively=1)
    ],
    "reduced Gaussian": lambda rng: (field(rng, "reduced_gg_pl_32_grib2", shortName="t", level=level) for level in (850, 500)),
    "regular Gaussian": lambda rng: (field(rng, "regular_gg_pl_grib2", shortName="t", level=level) for level in (850, 500)),
    "rotated": lambda rng: (field(rng, "rotated_ll_pl_grib2", shortName="t", level=level) for level in (850, 500)),
    "lambert": lambda rng: (
        field(rng, "polar_stereographic_pl_grib2", gridType="lambert", **PROJECTED, Latin1InDegrees=25, Latin2InDegrees=25,
              shortName="t", level=level) for level in (850, 500)
    ),
    "polar stereographic": lambda rng: (
        field(rng, "polar_stereographic_pl_grib2", jScansPositively=1, shortName="t", level=level) for level in (850, 500)
    ),
}


def fields(program, cases, seed):
    import cfgrib

    folder, count = Path(tempfile.mkdtemp()), 0
    for case in range(cases):
        name = list(CASES)[case % len(CASES)]
        rng = np.random.default_rng([seed, case])
        messages = list(CASES[name](rng))
        rng.shuffle(messages)
        source, target = folder / "a.grib2", folder / f"{case}.tgm"
        source.write_bytes(b"".join(messages))
        compare.convert(program, source, target)
        ours, where = tgm.open_datasets(target), f"fields: seed {seed}, case {case}, {name}"
        objects = sum(it.encoding["tgm"]["objects"] for dataset in ours for it in dataset.variables.values() if "tgm" in it.encoding)
        if objects != len(messages):
            sys.exit(f"{where}: {objects} objects of {len(messages)} messages")
        for theirs in cfgrib.open_datasets(source, indexpath=""):
            for variable in theirs.data_vars.values():
                why = [differs(dataset, variable) for dataset in ours]
                if all(why):
                    sys.exit(f"{where}: {variable.name}: {why}")
                count += 1
        target.unlink()
    print(f"{cases} archives of GRIB: {count} variables are as cfgrib reads them")


def differs(dataset, theirs):
    """How a variable of cfgrib differs from ours, in words, or nothing."""
    if theirs.name not in dataset:
        return "it is not there"
    own = dataset[theirs.name]
    labels = {dim: theirs[dim].values for dim in own.dims if dim in theirs.coords and dim in own.indexes and dim not in
              ("latitude", "longitude")}
    try:
        own = own.sel(labels)
    except KeyError as error:
        return f"labels: {error}"
    if set(own.dims) != set(theirs.dims):
        return f"dimensions {own.dims}, not {theirs.dims}"
    other = theirs.transpose(*own.dims)
    if own.shape != other.shape or not np.allclose(own.values, other.values, rtol=1e-6, equal_nan=True):
        return "values"
    for name, coordinate in other.coords.items():
        # Levels of a variable in a dataset of several are attributes, and so is what has no number.
        if name not in own.coords:
            if float(coordinate) != float(own.attrs.get(name, 0.0)):
                return f"{name} is {own.attrs.get(name)}"
            continue
        mine = own[name]
        same = mine.dims == coordinate.dims and mine.dtype == coordinate.dtype
        if not same or not np.allclose(mine.values.astype("f8"), coordinate.values.astype("f8"), atol=1e-5):
            return f"{name}: {mine.values} are not {coordinate.values}"
        for key in ("units", "standard_name", "long_name", "positive", "stored_direction"):
            if mine.attrs.get(key) != coordinate.attrs.get(key):
                return f"{key} of {name}: {mine.attrs.get(key)!r}"
    for key in ("units", "standard_name", "long_name"):
        wanted = theirs.attrs.get(key, "unknown").replace("**", "").replace("(0 - 1)", "1")
        if wanted != "unknown" and own.attrs.get(key) != wanted:
            return f"{key}: {own.attrs.get(key)!r}"
    return None


def base():
    random = np.random.default_rng(0)
    return xr.Dataset(
        {"t": (("time", "y", "x"), random.random((4, 3, 5)).astype("f4"), {"units": "K"})},
        {"time": np.arange("2020-01-01", "2020-01-05", dtype="M8[D]").astype("M8[ns]"), "y": [3.0, 2.0, 1.0], "x": np.arange(5.0)},
    )


def conventions(program, *_):
    data, random = base(), np.random.default_rng(1)
    plane = (("y", "x"), random.random((3, 5)))
    ends = np.stack([data.time.values, data.time.values + np.timedelta64(1, "D")], 1)
    packed = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 0.5, "_FillValue": -32767}
    calendars = ["noleap", "360_day", "julian", "proleptic_gregorian", "standard", "all_leap"]
    dates = {name: xr.date_range("2000-02-25", periods=4, freq="D", calendar=name, use_cftime=True) for name in calendars}
    mapping = {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25}
    cases = {
        **{f"calendar {name}": (data.assign_coords(time=values), {}) for name, values in dates.items()},
        "packed": (data, {"t": packed}),
        "packed without a sign": (data, {"t": {"dtype": "i1", "_Unsigned": "true", "scale_factor": 0.01, "_FillValue": -1}}),
        "gaps": (data.assign(t=data.t.where(data.t > 0.5)), {"t": {"_FillValue": np.float32(1e20)}}),
        "bounds": (data.assign(time_bnds=(("time", "nv"), ends)).assign_coords(time=data.time.assign_attrs(bounds="time_bnds")), {}),
        "climatology": (
            data.assign(bounds=(("time", "nv"), ends)).assign_coords(time=data.time.assign_attrs(climatology="bounds")), {}
        ),
        "grid mapping": (data.assign(t=data.t.assign_attrs(grid_mapping="crs"), crs=((), np.int32(0), mapping)), {}),
        "grid mapping of characters": (data.assign(t=data.t.assign_attrs(grid_mapping="crs"), crs=((), b"", mapping)), {}),
        "coordinates aside": (data.assign_coords(lat=plane, region=("y", ["a", "bb", "ü"]), height=((), 2.0)), {}),
        "texts": (data.assign(name=("time", np.array(["a", "bcd", "", "ü"], object)), run=((), "hello")), {}),
        "characters": (data.assign(name=("time", np.array([b"a", b"bcd", b"", b"zz"]))), {}),
        "times with gaps": (data.assign(when=("y", np.array(["2000-01-01", "NaT", "2001-01-01"], "M8[ns]"))), {}),
        "spans": (data.assign_coords(lead=("time", np.arange(4).astype("m8[h]").astype("m8[ns]"))), {}),
        "times of integers": (data, {"time": {"dtype": "i4", "units": "hours since 1900-01-01 00:00:00.0"}}),
        "flags": (data.assign(flag=(("y", "x"), random.integers(0, 3, (3, 5)).astype("i1"), {"flag_values": np.array([0, 1, 2], "i1")})), {}),
        "truth": (data.assign(mask=(("y", "x"), random.random((3, 5)) > 0.5)), {}),
        "large integers": (data.assign(big=("time", np.array([2**62, -(2**62), 0, 1]))), {}),
        "stations": (
            xr.Dataset({"t": ("obs", random.random(7)), "rows": ("station", np.array([3, 4]), {"sample_dimension": "obs"})},
                       {"name": ("station", ["aa", "bbbb"], {"cf_role": "timeseries_id"})}, {"featureType": "timeSeries"}), {},
        ),
        "no records": (data.isel(time=slice(0, 0)), {}),
    }
    folder, count = Path(tempfile.mkdtemp()), 0
    for number, (name, (dataset, encoding)) in enumerate(cases.items()):
        for kind in ("NETCDF4", "NETCDF3_64BIT"):
            if kind == "NETCDF3_64BIT" and name in ("large integers", "texts", "coordinates aside", "packed without a sign"):
                continue
            source = folder / f"{number}.nc"
            dataset.to_netcdf(source, encoding=encoding, format=kind, unlimited_dims=[dim for dim in ("time",) if dim in dataset.dims])
            for more in ([], ["--split", "record"]):
                compare.convert(program, source, folder / "a.tgm", *more)
                for options in ({}, {"decode_coords": "all"}, {"use_cftime": True} if "calendar" in name else {"decode_timedelta": True}):
                    expected = xr.open_dataset(source, **options).load()
                    found = xr.open_dataset(folder / "a.tgm", engine="tgm", **options)
                    compare.check(found, expected, f"conventions: {name} as {kind}, {more}, {options}")
                    count += 1
    print(f"{len(cases)} conventions of NetCDF: {count} readings are xarray's own")


def check_tool(program, paths, whole, rng, where):
    """`tgm extract --cube` of several files gives what all of them have, with its coordinates."""
    for name, array in whole.data_vars.items():
        if array.dtype.kind not in "fiuM" or "time" not in array.dims:
            continue
        kind = array.dtype.kind
        first, last = sorted(rng.choice(whole.time.values, 2).tolist())
        first, last = np.datetime64(first, "ns"), np.datetime64(last, "ns")
        expected = array.sel(time=slice(first, last))
        # Bare values of times are numbers, in the units of the files.
        for ending in ("nc",) if kind == "M" else ("npy", "nc"):
            out = paths[0].with_name(f"box.{ending}")
            words = ["--sel", f"time={str(first)[:19]}..{str(last)[:19]}", "-O", out, *paths]
            done = subprocess.run([program, "extract", "--cube", name, *words], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{where}: extract {words}: {done.stderr}")
            if ending == "npy":
                same = np.array_equal(np.load(out), expected.values, equal_nan=kind == "f")
            else:
                with xr.open_dataset(out) as found:
                    same = all(found[label].equals(expected[label]) for label in expected.coords)
                    values = found[name].values.astype(array.dtype)
                    same = same and name in found.data_vars and np.array_equal(values, expected.values, equal_nan=kind in "fM")
            if not same:
                sys.exit(f"{where}: extract {words}: {name} differs")
            out.unlink()


def joined(program, cases, seed):
    folder = Path(tempfile.mkdtemp())
    for case in range(cases):
        rng = np.random.default_rng([seed, case])
        whole = compare.random_dataset(rng)
        dim = rng.choice([dim for dim in whole.sizes if dim in whole.indexes])
        size = whole.sizes[dim]
        cuts = [0, *sorted(rng.choice(np.arange(1, size), min(int(rng.integers(0, 4)), size - 1), replace=False).tolist()), size]
        pieces = [whole.isel({dim: slice(*ends)}) for ends in zip(cuts, cuts[1:])]
        where, paths = f"joined: seed {seed}, case {case}, along {dim} at {cuts}", []
        grown = folder / "grown.tgm"
        grown.unlink(missing_ok=True)
        for number, piece in enumerate(pieces):
            tgm.save_dataset(piece, grown, append_dim=dim)
            path = folder / f"{number}.tgm"
            if rng.random() < 0.5:
                first = {"time": {"units": f"hours since {str(piece.time.values[0])[:10]}"}}
                piece.to_netcdf(folder / "a.nc", encoding=first, unlimited_dims=["time"])
                compare.convert(program, folder / "a.nc", path)
            else:
                tgm.save_dataset(piece, path)
            paths.append(path)
        rng.shuffle(paths)
        compare.check(tgm.open_dataset(grown), whole, f"{where}: appended")
        compare.check(tgm.open_dataset(paths), whole, where)
        check_tool(program, paths, whole, rng, where)
        check_tool(program, [grown], whole, rng, f"{where}: appended")
        for _ in range(3):
            key = {name: slice(*sorted(rng.integers(0, size + 1, 2).tolist())) if rng.random() < 0.5 else rng.integers(0, size, 3)
                   for name, size in whole.sizes.items() if rng.random() < 0.7 and size}
            for source in (paths, grown):
                compare.check(tgm.open_dataset(source).isel(key), whole.isel(key), f"{where}: {key}")
    print(f"{cases} random datasets come back from several files, and as they were appended")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    what, program, cases, seed = (sys.argv[1:] + ["40", "1"][max(0, len(sys.argv) - 3):])[:4]
    {"fields": fields, "conventions": conventions, "joined": joined}[what](program, int(cases), int(seed))
