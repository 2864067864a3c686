#!/usr/bin/env python3
"""Compares what `tgm convert` reads out of NetCDF and HDF5 with what xarray, netCDF4 and h5py read.

Usage:
  compare.py numbers TGM [CASES [SEED]]   random variables with all that the convention CF says of stored numbers
  compare.py pieces TGM [CASES [SEED]]    arrays whose chunks become objects come back whole in each format
  compare.py kinds TGM                    a file of HDF5 with one of each kind, counted by h5py: kept or listed
  compare.py hostile TGM                  cycles, links to other files and long names end at once, with an error
  compare.py trips TGM                    datasets as people make them, there and back, as xarray opens them
  compare.py make-kinds FILE              writes the file of kinds, from which tests/data/hdf5/kinds.h5 comes

The libraries are here for comparison alone.
"""
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from commands import choose, run

warnings.simplefilter("ignore")
# Variables in a file.
BATCH = 40


def rows(tgm, path):
    """The objects of a file."""
    messages = json.loads(run(tgm, "ls", "--objects", "--json", path).stdout)["messages"]
    return [row for message in messages for row in message["objects"]]


def equal(one, other):
    """Whether arrays have the same numbers, NaN where the other has NaN."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "iu" and other.dtype.kind in "iu":
        return bool((one == other).all())
    return bool(np.array_equal(one.astype("f8"), other.astype("f8"), equal_nan=True))


# Numbers --------------------------------------------------------------------------------------------------------------

KINDS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def factor(rng, neutral):
    """A scale factor or an offset, or None."""
    value = float(rng.choice([0.01, 0.1, 0.5, 2.0**-10, 10.0, 1.5, -0.25, 273.15, 1e-3, neutral, 0.3]))
    kind = rng.choice(["none", "f4", "f8", "f8", "list", "int"], p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    if kind == "none":
        return None
    if kind == "int":
        return np.int16(rng.integers(1, 9))
    if kind == "list":
        return np.array([value])
    return np.dtype(kind).type(value)


def values_of(rng, kind, size):
    if kind.kind == "f":
        values = rng.normal(0, 100, size).astype(kind)
        values[rng.random(size) < 0.1] = np.nan
        return values
    info = np.iinfo(kind)
    if rng.random() < 0.5:
        return rng.integers(max(info.min, -100), 100, size).astype(kind)
    return rng.integers(info.min, info.max, size, dtype=kind, endpoint=True)


def add_variable(file, rng, name):
    """Adds a variable, and returns what it is."""
    kind = np.dtype(str(rng.choice(KINDS)))
    size = int(rng.integers(1, 12))
    values = values_of(rng, kind, size)
    some = lambda: values[int(rng.integers(size))]
    more = {"fill_value": some()} if rng.random() < 0.4 else {}
    file.createDimension(name, size)
    # Where each chunk becomes an object, arrays of a chunk are whole.
    chunk = (int(rng.integers(1, size + 1)),)
    variable = file.createVariable(name, kind, (name,), chunksizes=chunk, **more)
    variable.set_auto_maskandscale(False)
    told = dict(more)
    for key, value in (("scale_factor", factor(rng, 1.0)), ("add_offset", factor(rng, 0.0))):
        if value is not None:
            told[key] = value
    if rng.random() < 0.3:
        told["missing_value"] = {
            "same": lambda: some(),
            "double": lambda: np.float64(some()),
            "several": lambda: np.array([some(), some()]),
            "inexact": lambda: np.float64(-999.9),
            "nan": lambda: np.float64(np.nan),
            "text": lambda: "-999",
        }[str(rng.choice(["same", "double", "several", "inexact", "nan", "text"]))]()
    if kind.kind in "iu" and rng.random() < 0.2:
        told["_Unsigned"] = str(rng.choice(["true", "false", "yes"]))
    if rng.random() < 0.1 and kind.kind in "iu":
        told["valid_range"] = np.array([0, 100], kind)
    if rng.random() < 0.1 and kind.kind == "i":
        told["flag_values"] = np.array([0, 1], kind)
    for key, value in told.items():
        if key != "fill_value":
            variable.setncattr(key, value)
    variable[...] = values
    return told, kind


def read_all(path, names):
    """What each library makes of each variable: None where it cannot."""
    import netCDF4
    import xarray

    of_xarray, of_netcdf4 = {}, {}
    with netCDF4.Dataset(path) as file:
        for name in names:
            try:
                found = file[name][...]
                # Bounds mask nothing here, as in xarray, and default fill values neither.
                file[name].set_always_mask(False)
                of_netcdf4[name] = found
            except Exception:
                of_netcdf4[name] = None
    for name in names:
        try:
            others = [other for other in names if other != name]
            with xarray.open_dataset(path, decode_times=False, drop_variables=others, engine="netcdf4") as data:
                of_xarray[name] = data[name].values
        except Exception:
            of_xarray[name] = None
    return of_xarray, of_netcdf4


def same_as(own, other, told):
    """Whether values are what a library has. Integers keep the number of a missing cell, so these cells are left out."""
    if other is None:
        return False
    mask = np.ma.getmaskarray(other)
    data = np.ma.getdata(other)
    if own.dtype.kind == "f":
        return equal(own, np.where(mask, np.nan, data.astype("f8")))
    if data.dtype.kind == "f":
        here = ~np.isnan(data)
        return bool((own[here].astype("f8") == data[here]).all())
    return equal(own[~mask], data[~mask])


def compare_numbers(tgm, cases, seed):
    import netCDF4
    import xarray

    rng = np.random.default_rng(seed)
    both = one = neither = back = kept = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for start in range(0, cases, BATCH):
            names, told = [f"v{number}" for number in range(min(BATCH, cases - start))], {}
            with netCDF4.Dataset(folder / "in.nc", "w") as file:
                for name in names:
                    told[name] = add_variable(file, rng, name)
            of_xarray, of_netcdf4 = read_all(folder / "in.nc", names)
            # In every second file each chunk becomes an object.
            chunks = ("--chunks", "keep") if start // BATCH % 2 else ()
            run(tgm, "convert", folder / "in.nc", "-o", folder / "out.tgm", *chunks, code=None)
            run(tgm, "convert", folder / ("out.tgm" if chunks else "in.nc"), "-o", folder / "out.npz", code=None)
            run(tgm, "convert", folder / "out.tgm", "-o", folder / "back.nc", code=None)
            own = np.load(folder / "out.npz")
            again, _ = read_all(folder / "back.nc", names)
            kept += compare_kept(tgm, folder, names, own, chunks)
            for name in names:
                about, kind = told[name]
                # Cells beyond the valid range are masked by netCDF4 alone.
                netcdf4 = None if "valid_range" in about else of_netcdf4[name]
                if name not in own:
                    # A scale of integers leads beyond 64 bits, or beyond what float64 holds.
                    assert isinstance(about.get("scale_factor", about.get("add_offset")), np.int16), (name, about, kind)
                    continue
                equals = [same_as(own[name], other, about) for other in (of_xarray[name], netcdf4)]
                both, one = both + all(equals), one + (sum(equals) == 1)
                if not any(equals) and (of_xarray[name] is not None or netcdf4 is not None):
                    # "false" beside a missing value: each library does a part of it.
                    excused = about.get("_Unsigned") == "false" or "valid_range" in about or isinstance(about.get("scale_factor"), np.int16) \
                        or isinstance(about.get("add_offset"), np.int16)
                    neither += 1
                    assert excused, (name, about, kind, own[name], of_xarray[name], of_netcdf4[name])
                if of_xarray[name] is not None and equals[0]:
                    assert again.get(name) is not None, (name, about, kind)
                    assert equal(again[name], of_xarray[name]), (name, about, kind, again[name], of_xarray[name])
                    back += 1
            for name in ("in.nc", "out.npz", "out.tgm", "back.nc"):
                (folder / name).unlink()
    print(
        f"of {cases} variables {both} are as xarray {xarray.__version__} and netCDF4 {netCDF4.__version__} read them,"
        f" {one} as one of them, {neither} as neither; {back} come back to NetCDF as xarray reads them,"
        f" {kept} do so as integers that were kept packed"
    )


def compare_kept(tgm, folder, names, own, chunks):
    """Integers that are kept packed give the same values, and lead back to the same file. Returns how many there were."""
    import netCDF4

    run(tgm, "convert", "--keep-packed", folder / "in.nc", "-o", folder / "kept.tgm", *chunks, code=None)
    types = {row["name"]: row["dtype"] for row in rows(tgm, folder / "kept.tgm")}
    assert set(types) == set(names), set(names) - set(types)
    # An integer without a value is an error of the whole archive.
    if all(name in own for name in names):
        run(tgm, "convert", folder / "kept.tgm", "-o", folder / "kept.npz")
        values = np.load(folder / "kept.npz")
        for name in names:
            assert values[name].dtype == own[name].dtype and equal(values[name], own[name]), (name, values[name], own[name])
        (folder / "kept.npz").unlink()
    run(tgm, "convert", folder / "kept.tgm", "-o", folder / "kept.nc", code=None)
    count = 0
    with netCDF4.Dataset(folder / "in.nc") as given, netCDF4.Dataset(folder / "kept.nc") as found:
        for name in names:
            one, two = given[name], found[name]
            one.set_auto_maskandscale(False), two.set_auto_maskandscale(False)
            is_packed = one.dtype.kind in "iu" and types[name] == one.dtype.name and {"scale_factor", "add_offset"} & set(one.ncattrs())
            if not is_packed:
                continue
            count += 1
            assert two.dtype == one.dtype and equal(one[...], two[...]), name
            for key in one.ncattrs():
                assert np.array_equal(one.getncattr(key), two.getncattr(key), equal_nan=not isinstance(one.getncattr(key), str)), (name, key)
    for name in ("kept.tgm", "kept.nc"):
        (folder / name).unlink()
    return count


# Kinds ----------------------------------------------------------------------------------------------------------------


def make_kinds(path):
    """A file with one of each kind of thing that HDF5 knows."""
    import h5py

    path = Path(path)
    with h5py.File(path, "w", track_order=False) as file:
        x = file.create_dataset("x", data=np.arange(3.0))
        x.make_scale("x")
        v = file.create_dataset("v", data=np.arange(3, dtype="i2"))
        v.dims[0].attach_scale(x)
        file["bool"] = np.array([True, False, True])
        file["complex64"] = np.array([1 + 2j, 3 - 4j], "c8")
        file["complex128"] = np.array([1 + 2j, 3 - 4j], "c16")
        file["float16"] = np.array([1.5, 65504], "f2")
        file["big"] = np.array([1, 2], ">i4")
        file["scalar"] = np.float32(7)
        file["empty_shape"] = np.zeros((0, 2))
        file.create_dataset("enum", data=[0, 1], dtype=h5py.enum_dtype({"low": 0, "high": 1}, basetype="i1"))
        file["text"] = "hello"
        file["texts"] = np.array([b"ab", b"c"], "S2")
        file["utf8"] = np.array(["ä", "b"], h5py.string_dtype())
        # What a message has no place for.
        file["longdouble"] = np.array([1.5], np.longdouble)
        file["compound"] = np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")])
        file.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
        file["opaque"] = np.array([b"\1\2"], "V2")
        file.create_dataset("reference", (1,), h5py.ref_dtype)
        file["null"] = h5py.Empty("f4")
        file["type"] = np.dtype("f4")
        file.create_dataset("array", (2,), np.dtype(("i4", (2, 2))))
        group = file.create_group("g")
        group.create_group("empty")
        group["v"] = np.arange(2.0)
        group.attrs["title"] = "inner"
        # Links.
        group["hard"] = file["v"]
        file["soft"] = h5py.SoftLink("/v")
        file["dangling"] = h5py.SoftLink("/nowhere")
        # Attributes.
        for name, value in {
            "bool": np.bool_(True), "float16": np.float16(1.5), "list": [1, 2], "text": "ä", "bytes": np.bytes_("b"),
            "texts": ["a", "b"], "two": np.zeros((2, 2)), "complex": 1j, "compound": np.array((1,), [("a", "i4")]),
            "empty": h5py.Empty("f4"), "reference": file["v"].ref, "longdouble": np.longdouble(1.5),
        }.items():
            v.attrs[name] = value


KEPT = {"x", "v", "bool", "complex64", "complex128", "float16", "big", "scalar", "empty_shape", "enum", "g/v"}
TEXTS = {"text", "texts", "utf8"}
LISTED = {"longdouble", "ragged", "opaque", "reference", "null", "type", "array", "dangling"}
FIELDS = {"compound.a", "compound.b"}
ATTRIBUTES_KEPT = {"bool", "float16", "list", "text", "bytes", "texts", "empty"}
ATTRIBUTES_LISTED = {"two", "complex", "compound", "reference", "longdouble"}


def compare_kinds(tgm):
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        make_kinds(folder / "in.h5")
        done = run(tgm, "convert", folder / "in.h5", "-o", folder / "out.tgm", code=1)
        said = done.stderr.decode()
        objects = rows(tgm, folder / "out.tgm")
        text = run(tgm, "dump", "--json", folder / "out.tgm").stdout.decode()
        for name in LISTED:
            assert f": {name}: " in said, (name, said)
        for name in ATTRIBUTES_LISTED:
            assert f"attribute {name}: " in said, (name, said)
        for name in KEPT | TEXTS | FIELDS | ATTRIBUTES_KEPT:
            assert f'"{name}"' in text, (name, text)
        run(tgm, "convert", "--strict", folder / "in.h5", "-o", folder / "strict.tgm", code=1)
        assert not (folder / "strict.tgm").exists()
        run(tgm, "convert", folder / "out.tgm", "-o", folder / "out.npz", code=None)
        own = np.load(folder / "out.npz")
        with h5py.File(folder / "in.h5") as file:
            for name in sorted(KEPT):
                given, found = file[name][...], own[name]
                assert given.dtype.kind == found.dtype.kind and np.array_equal(given, found), (name, given, found)
            for name in FIELDS:
                variable, field = name.split(".")
                assert np.array_equal(file[variable][field], own[name]), name
        run(tgm, "convert", folder / "out.tgm", "-o", folder / "back.nc", code=None)
        with h5py.File(folder / "in.h5") as file, h5py.File(folder / "back.nc") as back:
            for name in ("complex64", "complex128"):
                assert file[name].dtype == back[name].dtype and np.array_equal(file[name], back[name]), name
        print(f"{len(objects)} variables of one file of HDF5 {h5py.version.hdf5_version} are kept, {len(LISTED)} are listed")


# Hostile files --------------------------------------------------------------------------------------------------------


def compare_hostile(tgm):
    import h5py
    import netCDF4

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        secret = folder / "secret.bin"
        secret.write_bytes(b"SECRETSS" * 4)
        with h5py.File(folder / "other.h5", "w") as file:
            file["v"] = np.full(4, 4242.0)

        def cycle(file):
            file.create_group("g")["up"] = file["/"]

        def soft_cycle(file):
            file.create_group("g")["up"] = h5py.SoftLink("/")

        def external(file):
            file["out"] = h5py.ExternalLink(str(folder / "other.h5"), "/v")

        def through_external(file):
            file["out"] = h5py.ExternalLink(str(folder / "other.h5"), "/")
            file["in"] = h5py.SoftLink("/out/v")

        def raw(file):
            file.create_dataset("raw", (4,), "f8", external=[(str(secret), 0, 32)])

        def virtual(file):
            layout = h5py.VirtualLayout((4,), "f8")
            layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "v", (4,))
            file.create_virtual_dataset("virtual", layout)

        def plugin(file):
            # Zstandard is not part of HDF5. It is named here, and not applied, as it is optional.
            wanted = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            wanted.set_chunk((100,))
            wanted.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
            space = h5py.h5s.create_simple((400,))
            made = h5py.h5d.create(file.id, b"filtered", h5py.h5t.NATIVE_DOUBLE, space, wanted)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(400.0))

        for make in (cycle, soft_cycle, external, through_external, raw, virtual, plugin):
            with h5py.File(folder / "in.h5", "w") as file:
                file["v"] = np.arange(3.0)
                make(file)
            done = run(tgm, "convert", folder / "in.h5", "-o", folder / "out.tgm", code=1, timeout=5)
            assert b"panicked" not in done.stderr, (make.__name__, done.stderr)
            found = run(tgm, "cat", folder / "out.tgm").stdout.split()
            assert found == [b"0", b"1", b"2"], (make.__name__, found)
            assert len(rows(tgm, folder / "out.tgm")) == 1, make.__name__
            for path in ("out.tgm", "in.h5"):
                (folder / path).unlink()
        with h5py.File(folder / "in.h5", "w") as file:
            file["v" * 300] = np.arange(3.0)
        run(tgm, "convert", folder / "in.h5", "-o", folder / "out.tgm")
        for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
            with netCDF4.Dataset(folder / "in.nc", "w", format=form) as file:
                file.createDimension("x", 3)
                file.createVariable("v", "i4", ("x",))[...] = 1
                file.title = "t" * 80
            good = (folder / "in.nc").read_bytes()
            rng = np.random.default_rng(1)
            for _ in range(60):
                bytes_ = bytearray(good)
                for _ in range(int(rng.integers(1, 4))):
                    bytes_[int(rng.integers(4, len(bytes_)))] = int(rng.integers(256))
                (folder / "bad.nc").write_bytes(bytes_)
                done = run(tgm, "convert", folder / "bad.nc", "-o", folder / "bad.tgm", code=None, timeout=10)
                assert done.returncode in (0, 1) and b"panicked" not in done.stderr, (form, done)
        # A name is not that of NetCDF: nothing is read unless it is asked for.
        os.replace(folder / "in.nc", folder / "in.csv")
        done = run(tgm, "convert", folder / "in.csv", "-o", folder / "x.tgm", code=None)
        assert done.returncode != 0 and b"--from netcdf" in done.stderr, done
        run(tgm, "convert", "--from", "netcdf", folder / "in.csv", "-o", folder / "x.tgm")
    print("hostile files end at once")


# Datasets -------------------------------------------------------------------------------------------------------------


def reanalysis():
    """Packed shorts with gaps, times, bounds, a mask, flags, texts, and what xarray says of coordinates."""
    import pandas
    import xarray

    rng = np.random.default_rng(3)
    time = pandas.date_range("2000-01-01", periods=4, freq="6h")
    t2m = 273.15 + rng.normal(0, 10, (4, 3, 5))
    t2m[1, 2, 3] = np.nan
    data = xarray.Dataset(
        {
            "t2m": (("time", "lat", "lon"), t2m, {"units": "K", "long_name": "2 metre temperature"}),
            "tp": (("time", "lat", "lon"), t2m.astype("f4") - 273, {"units": "m"}),
            "lsm": (("lat", "lon"), rng.random((3, 5)) < 0.5),
            "flag": (("lat", "lon"), rng.integers(0, 3, (3, 5), dtype="i1"),
                     {"flag_values": np.array([0, 1, 2], "i1"), "flag_meanings": "a b c"}),
            "count": (("time",), np.array([1, 2, 3, 4], "i4")),
            "lat_bnds": (("lat", "bnds"), np.array([[-1.5, -0.5], [-0.5, 0.5], [0.5, 1.5]])),
            "step": (("time",), pandas.to_timedelta([0, 6, 12, 18], "h")),
            "crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude"}),
        },
        coords={
            "time": time,
            "lat": ("lat", [-1.0, 0.0, 1.0], {"units": "degrees_north", "bounds": "lat_bnds"}),
            "lon": ("lon", np.arange(5.0), {"units": "degrees_east"}),
            "station": (("lon",), np.array(["a", "bc", "ä", "", "e"], object)),
        },
        attrs={"title": "test", "Conventions": "CF-1.8", "version": 3, "list": [1.5, 2.5]},
    )
    data["t2m"].encoding = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32767}
    data["time"].encoding = {"units": "hours since 1900-01-01", "calendar": "gregorian", "dtype": "i4"}
    return data


def model():
    """A calendar without leap years, a scale in float32, an unlimited dimension, floats with a fill value."""
    import xarray

    time = xarray.date_range("1850-01-01", periods=3, calendar="noleap", use_cftime=True)
    tas = np.array([[280.0, 281.5], [np.nan, 279.25], [300.0, 255.5]], "f4")
    data = xarray.Dataset({"tas": (("time", "y"), tas, {"units": "K"}), "pr": (("time", "y"), tas.astype("f8"))}, {"time": time})
    data["tas"].encoding = {"_FillValue": np.float32(1e20), "missing_value": np.float32(1e20)}
    data["pr"].encoding = {"dtype": "i2", "scale_factor": np.float32(0.25), "add_offset": np.float32(280), "_FillValue": -1}
    data.encoding = {"unlimited_dims": {"time"}}
    return data


def same_dataset(given, found, what):
    """Whether xarray sees the same: values, dimensions, attributes."""
    assert set(given.variables) == set(found.variables), (what, set(given.variables) ^ set(found.variables))
    for name in given.variables:
        one, two = given[name], found[name]
        assert one.dims == two.dims, (what, name, one.dims, two.dims)
        if one.dtype.kind in "OTSU":
            assert [str(it) for it in one.values.ravel()] == [str(it) for it in two.values.ravel()], (what, name, one, two)
        else:
            assert one.dtype.kind == two.dtype.kind, (what, name, one.dtype, two.dtype)
            assert np.array_equal(one.values, two.values, equal_nan=one.dtype.kind in "fcmM"), (what, name, one, two)
        keys = set(one.attrs) | set(two.attrs)
        for key in keys:
            assert key in one.attrs and key in two.attrs, (what, name, key, one.attrs, two.attrs)
            assert np.array_equal(one.attrs[key], two.attrs[key]), (what, name, key, one.attrs[key], two.attrs[key])
    for key in set(given.attrs) | set(found.attrs):
        assert np.array_equal(given.attrs.get(key), found.attrs.get(key)), (what, key, given.attrs, found.attrs)


def compare_trips(tgm):
    import netCDF4
    import xarray

    count = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for make in (reanalysis, model):
            data = make()
            for form in ("NETCDF4", "NETCDF3_64BIT"):
                data.to_netcdf(folder / "in.nc", format=form)
                run(tgm, "convert", folder / "in.nc", "-o", folder / "out.tgm")
                run(tgm, "convert", folder / "out.tgm", "-o", folder / "back.nc")
                with xarray.open_dataset(folder / "in.nc") as given, xarray.open_dataset(folder / "back.nc") as found:
                    same_dataset(given, found, (make.__name__, form))
                for name in ("in.nc", "out.tgm", "back.nc"):
                    (folder / name).unlink()
                count += 1
            data = make()
            data.to_zarr(folder / "in.zarr", zarr_format=3, consolidated=False)
            run(tgm, "convert", folder / "in.zarr", "-o", folder / "back.nc")
            with xarray.open_zarr(folder / "in.zarr", consolidated=False) as given, \
                    xarray.open_dataset(folder / "back.nc") as found:
                same_dataset(given.load(), found, (make.__name__, "zarr"))
            (folder / "back.nc").unlink()
            subprocess.run(["rm", "-r", folder / "in.zarr"], check=True)
            count += 1
        # Characters over an unlimited dimension, which numbers have too.
        for form in ("NETCDF4", "NETCDF3_CLASSIC"):
            with netCDF4.Dataset(folder / "in.nc", "w", format=form) as file:
                file.createDimension("Time", None)
                file.createDimension("DateStrLen", 19)
                times = file.createVariable("Times", "S1", ("Time", "DateStrLen"))
                times[:] = netCDF4.stringtochar(np.array(["2000-01-24_12:00:00", "2000-01-24_15:00:00"], "S19"))
                file.createVariable("T2", "f4", ("Time",))[:] = [280, 281]
            for more in ((), ("--split", "record")):
                run(tgm, "convert", folder / "in.nc", "-o", folder / "out.tgm", *more)
                run(tgm, "convert", folder / "out.tgm", "-o", folder / "back.nc")
                with xarray.open_dataset(folder / "in.nc") as given, xarray.open_dataset(folder / "back.nc") as found:
                    assert list(given.Times.values) == list(found.Times.values), (form, found)
                    assert given.T2.dims == found.T2.dims == found.Times.dims and equal(given.T2, found.T2), (form, found)
                for name in ("out.tgm", "back.nc"):
                    (folder / name).unlink()
            (folder / "in.nc").unlink()
            count += 1
        # Groups, with dimensions that hide others, and a group without anything.
        with netCDF4.Dataset(folder / "in.nc", "w") as file:
            file.createDimension("x", 2)
            file.createDimension("alone", 7)
            file.createVariable("v", "f8", ("x",))[...] = [1, 2]
            group = file.createGroup("g")
            group.createDimension("x", 3)
            group.title = "inner"
            group.createVariable("v", "f8", ("x",))[...] = [3, 4, 5]
            group.createGroup("k").createVariable("w", "f8", ("x",))[...] = [6, 7, 8]
            file.createGroup("empty")
        run(tgm, "convert", folder / "in.nc", "-o", folder / "out.tgm")
        run(tgm, "convert", "--strict", folder / "out.tgm", "-o", folder / "back.nc")
        with netCDF4.Dataset(folder / "in.nc") as given, netCDF4.Dataset(folder / "back.nc") as found:
            def same(one, two, path=""):
                assert {n: d.size for n, d in one.dimensions.items()} == {n: d.size for n, d in two.dimensions.items()}, path
                assert set(one.groups) == set(two.groups), (path, set(one.groups), set(two.groups))
                assert {k: one.getncattr(k) for k in one.ncattrs()} == {k: two.getncattr(k) for k in two.ncattrs()}, path
                for name, variable in one.variables.items():
                    assert equal(variable[...], two[name][...]), (path, name)
                for name, group in one.groups.items():
                    same(group, two.groups[name], f"{path}/{name}")

            same(given, found)
    print(f"{count + 1} datasets come back to NetCDF as xarray {xarray.__version__} opens them")


def compare_pieces(tgm, cases, seed):
    """Each chunk becomes an object, and the arrays come back whole in each format."""
    import xarray
    import zarr

    rng, objects = np.random.default_rng(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for case in range(cases):
            shape = tuple(int(rng.integers(1, 8)) for _ in range(int(rng.integers(1, 5))))
            chunk = tuple(int(rng.integers(1, dim + 1)) for dim in shape)
            values = rng.normal(0, 100, shape)
            values[rng.random(shape) < 0.1] = np.nan
            kind = str(rng.choice(["f8", "f4", "i4", "bool", "packed"]))
            dims = tuple("abcd"[: len(shape)])
            if kind in ("f8", "f4", "packed"):
                data = values.astype("f4" if kind == "f4" else "f8")
            else:
                data = np.nan_to_num(values).astype("i4") if kind == "i4" else values > 0
            given = xarray.Dataset({"v": (dims, data, {"units": "K"}), "w": (dims[-1:], np.arange(shape[-1]))})
            encoding = {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -32767} if kind == "packed" else {}
            is_zarr = case % 3 == 2
            if is_zarr:
                store = folder / "in.zarr"
                given["v"].encoding = {**encoding, "chunks": chunk}
                given.to_zarr(store, zarr_format=3, consolidated=False, write_empty_chunks=True)
                given = xarray.open_zarr(store, consolidated=False).load()
            else:
                store = folder / "in.nc"
                given["v"].encoding = {**encoding, "chunksizes": chunk, "zlib": bool(rng.random() < 0.5)}
                unlimited = dims[:1] if rng.random() < 0.3 else ()
                given.to_netcdf(store, unlimited_dims=unlimited)
                given = xarray.load_dataset(store)
            more = ("--keep-packed",) if rng.random() < 0.3 else ()
            run(tgm, "convert", "--chunks", "keep", store, "-o", folder / "out.tgm", *more)
            found = [row for row in rows(tgm, folder / "out.tgm") if row["name"] == "v"]
            count = int(np.prod([-(-dim // part) for dim, part in zip(shape, chunk)]))
            # Truth values of NetCDF are bits, and one object.
            assert len(found) == (1 if kind == "bool" and not is_zarr else count), (shape, chunk, len(found))
            objects += len(found)
            what = (case, kind, shape, chunk, store.name, more)
            run(tgm, "convert", folder / "out.tgm", "-o", folder / "back.nc")
            with xarray.open_dataset(folder / "back.nc") as back:
                assert equal(back["v"].values, given["v"].values), (*what, back["v"], given["v"])
                assert back["v"].dims == dims and back["v"].attrs == given["v"].attrs, (*what, back["v"].attrs)
            run(tgm, "convert", folder / "out.tgm", "-o", folder / "back.zarr")
            back = xarray.open_zarr(folder / "back.zarr", consolidated=False)
            assert equal(back["v"].values, given["v"].values), (*what, back["v"].values, given["v"].values)
            assert back["v"].dims == dims and back["v"].attrs == given["v"].attrs, (*what, back["v"].attrs)
            assert kind == "bool" or back["v"].encoding["chunks"] == chunk, (*what, back["v"].encoding)
            run(tgm, "convert", folder / "out.tgm", "-o", folder / "out.npz")
            own = np.load(folder / "out.npz")
            assert set(own) == {"v", "w"} and equal(own["v"], given["v"].values), (*what, own["v"], given["v"].values)
            run(tgm, "extract", "--cube", "v", folder / "out.tgm", "-O", folder / "v.npy")
            assert equal(np.load(folder / "v.npy"), given["v"].values), what
            subprocess.run(["rm", "-r", *folder.iterdir()], check=True)
    print(f"{objects} pieces of {cases} arrays come back whole, as xarray {xarray.__version__} and zarr {zarr.__version__} read them")


if __name__ == "__main__":
    comparisons = {
        "numbers": compare_numbers,
        "pieces": compare_pieces,
        "kinds": compare_kinds,
        "hostile": compare_hostile,
        "trips": compare_trips,
        "make-kinds": make_kinds,
    }
    choose(__doc__, comparisons, 400)
