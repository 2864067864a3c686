#!/usr/bin/env python3
"""Compares what xarray sees in stores and files before and after `tgm convert`.

Usage: compare.py TGM [CASES [SEED]]

Random packed and plain variables, with scales, offsets and missing values, go from Zarr of version 2 and 3 by way of Tensogram to
Zarr and NetCDF, and from NetCDF to Zarr. xarray and zarr are here for comparison alone.
"""
import sys
import tempfile
import warnings
from pathlib import Path

import numcodecs
import numpy as np
import xarray as xr
import zarr

sys.path.insert(0, str(Path(__file__).parents[1]))
from commands import run

warnings.filterwarnings("ignore")
# The array of texts.
TEXTS = "names"


def convert(tgm, source, target, *more):
    run(tgm, "convert", source, "-o", target, *more)


def random_variable(rng):
    """A variable as a file stores it: numbers, and the attributes that say what they mean."""
    dtype = np.dtype(str(rng.choice(["i1", "u1", "i2", "u2", "i4", "f4", "f8"])))
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 3))))
    low, high = (0, 100) if dtype.kind == "u" else (-100, 100)
    values = rng.integers(low, high, shape).astype(dtype)
    attributes = {}
    if rng.random() < 0.6:
        fill = values.ravel()[0].item()
        attributes["_FillValue"] = fill
    if dtype.kind == "f" and rng.random() < 0.5:
        values.ravel()[-1] = np.nan
    if rng.random() < 0.3:
        attributes["missing_value"] = attributes.get("_FillValue", values.ravel()[-1].item())
    if rng.random() < 0.5:
        attributes["scale_factor"] = float(rng.choice([0.1, 0.01, 0.5, 0.3, 2.0]))
    if rng.random() < 0.5:
        attributes["add_offset"] = float(rng.choice([273.15, -10.0, 0.001]))
    if rng.random() < 0.3:
        attributes["units"] = "K"
    # A missing value of floats that is NaN is a number that JSON lacks.
    attributes = {key: value for key, value in attributes.items() if value == value}
    return values, attributes


def coders(rng, dtype):
    return [
        {"compressor": None},
        {"compressor": numcodecs.Zlib(1)},
        {"compressor": numcodecs.Zstd(1)},
        {"compressor": numcodecs.LZ4()},
        {"compressor": numcodecs.GZip(1)},
        {"compressor": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.SHUFFLE)},
        {"compressor": numcodecs.Zlib(1), "filters": [numcodecs.Shuffle(dtype.itemsize)]},
        {"compressor": numcodecs.Zlib(1), "filters": [numcodecs.Delta(dtype.str)]},
        {"compressor": None, "filters": [numcodecs.Fletcher32()]},
        {"compressor": numcodecs.Zstd(1), "filters": [numcodecs.CRC32(), numcodecs.Adler32()]},
        {"compressor": None, "filters": [numcodecs.AsType("f8", dtype.str)]},
    ][int(rng.integers(11))]


def write_store(rng, path, variables, version):
    import base64
    import struct

    root = zarr.create_group(path, zarr_format=version, attributes={"title": "all", "odd": float("nan")})
    for name, (values, attributes) in variables.items():
        names = [f"{name}_{index}" for index in range(values.ndim)]
        attributes = dict(attributes)
        chunks = tuple(int(rng.integers(1, n + 1)) for n in values.shape)
        if version == 2:
            dtype = values.dtype.newbyteorder(str(rng.choice(["<", ">"])))
            fill = attributes.pop("_FillValue", None)
            array = root.create_array(
                name, shape=values.shape, chunks=chunks, dtype=dtype, fill_value=fill, order=str(rng.choice(["C", "F"])),
                attributes={**attributes, "_ARRAY_DIMENSIONS": names}, **rename(coders(rng, dtype)))
        else:
            if values.dtype.kind == "f" and "_FillValue" in attributes:
                attributes["_FillValue"] = base64.b64encode(struct.pack("<d", attributes["_FillValue"])).decode()
            array = root.create_array(
                name, shape=values.shape, chunks=chunks, dtype=values.dtype, attributes=attributes, dimension_names=names)
        array[...] = values
    write_texts(rng, root, version)


def write_texts(rng, root, version):
    """An array of texts, of one width or each of its own length."""
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 3))))
    words = ["", "a", "Zürich", "日本", "long " * 20]
    values = rng.choice(words, shape)
    names = [f"{TEXTS}_{index}" for index in range(values.ndim)]
    more = {"attributes": {"_ARRAY_DIMENSIONS": names}} if version == 2 else {"dimension_names": names}
    kind = str(rng.choice(["variable", "characters", "bytes"]))
    if kind == "variable":
        dtype, values = str, values.astype(object)
    elif kind == "bytes":
        # xarray joins bytes of one letter to texts.
        values = rng.choice(["", "a", "Bern"], shape).astype("S4")
        dtype = values.dtype
    else:
        dtype = values.dtype
    chunks = tuple(int(rng.integers(1, n + 1)) for n in shape)
    array = root.create_array(TEXTS, shape=shape, chunks=chunks, dtype=dtype, **more)
    array[...] = values


def rename(coder):
    return {"compressors": coder["compressor"], "filters": coder.get("filters")}


def opened(path):
    engine = {} if path.suffix == ".nc" else {"engine": "zarr", "consolidated": False}
    return xr.open_dataset(path, **engine).load()


def texts(values):
    """The texts of a variable. In version 2 xarray takes empty ones for missing, which it shows as NaN."""
    text = lambda it: it.decode() if isinstance(it, bytes) else "" if isinstance(it, float) else str(it)
    return [text(it) for it in values.ravel().tolist()]


def compare(before, after, what):
    for name, variable in before.variables.items():
        other = after[name]
        if name == TEXTS:
            place = f"{what}, {name}: {variable.values} and {other.values}"
            assert variable.dims == other.dims and texts(variable.values) == texts(other.values), place
            continue
        place = f"{what}, {name}: {variable.encoding} {variable.attrs}: {variable.values} and {other.values}"
        assert variable.shape == other.shape and variable.dims == other.dims, place
        assert np.allclose(variable.values, other.values, rtol=1e-6, atol=1e-9, equal_nan=True), place
        assert variable.attrs.get("units") == other.attrs.get("units"), place
    assert after.attrs.get("title") == "all", f"{what}: {after.attrs}"


def main(tgm, cases, seed):
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for case in range(cases):
            variables = {f"v{index}": random_variable(rng) for index in range(5)}
            for version in (2, 3):
                store = folder / f"{case}.{version}.zarr"
                write_store(rng, store, variables, version)
                before = opened(store)
                for chunks in ("keep", "join"):
                    message, back = store.with_suffix(f".{chunks}.tgm"), store.with_suffix(f".{chunks}.zarr")
                    convert(tgm, store, message, "--chunks", chunks)
                    convert(tgm, message, back)
                    compare(before, opened(back), f"seed {seed}, case {case}, version {version}, {chunks}")
                target = store.with_suffix(".nc")
                convert(tgm, store, target)
                compare(before, opened(target), f"seed {seed}, case {case}, version {version}, NetCDF")
            file, target = folder / f"{case}.in.nc", folder / f"{case}.out.zarr"
            stored = {
                name: xr.Variable([f"{name}_{index}" for index in range(values.ndim)], values, attributes)
                for name, (values, attributes) in variables.items()
            }
            xr.Dataset(stored, attrs={"title": "all"}).to_netcdf(file, encoding={
                name: {} if "_FillValue" in attributes else {"_FillValue": None}
                for name, (_, attributes) in variables.items()})
            convert(tgm, file, target)
            compare(opened(file), opened(target), f"seed {seed}, case {case}, from NetCDF")
    print(f"{cases * 5} variables are the same for xarray {xr.__version__} before and after tgm")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[2:]]
    main(sys.argv[1], *(numbers + [20, 1][len(numbers):]))
