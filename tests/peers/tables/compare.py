#!/usr/bin/env python3
"""Compares `tgm convert` with the libraries that people use: zarr, pyarrow, DuckDB and netCDF4.

Usage:
  compare.py zarr TGM [CASES [SEED]]     random stores there and back, bit by bit
  compare.py tables TGM                  tables as pyarrow reads them
  compare.py queries TGM                 a table of many messages, as DuckDB queries it and as `tgm ls -w` does
  compare.py netcdf TGM [CASES [SEED]]   random files as netCDF4 reads them

The libraries are here for comparison alone.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import commands


def run(tgm, *arguments):
    return commands.run(tgm, *arguments).stdout


def bits(array):
    """The bytes of an array. Every NaN is the one with the quiet bit alone, which is what masks give back.

    Both parts of a complex number are NaN or infinite if one is: masks are of elements.
    """
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "c":
        array = array.copy()
        either = lambda test: test(array.real) | test(array.imag)
        nan, up, down = either(np.isnan), either(np.isposinf), either(np.isneginf)
        for places, value in ((down, -np.inf), (up, np.inf), (nan, np.nan)):
            array.real[places] = array.imag[places] = value
    if array.dtype.kind in "fc":
        parts = array.view(array.real.dtype)
        parts = np.where(np.isnan(parts), parts.dtype.type(np.nan), parts)
        return parts.astype(parts.dtype.newbyteorder("<")).tobytes()
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


# Zarr ---------------------------------------------------------------------------------------------------------------

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]


def random_values(rng, dtype, shape):
    values = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype="u1")
    if dtype == "bool":
        values &= 1
    values = np.frombuffer(values.tobytes(), dtype).reshape(shape).copy()
    if rng.random() < 0.3:
        values[...] = values.ravel()[0] if values.size else 0
    return values


def random_array(rng, group, name):
    import zarr
    from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

    dtype = str(rng.choice(DTYPES))
    dims = int(rng.integers(0, 4))
    shape = tuple(int(n) for n in rng.integers(1, 12, dims))
    chunks = tuple(int(rng.integers(1, n + 1)) for n in shape)
    size = np.dtype(dtype).itemsize
    coders = [
        None,
        [ZstdCodec(level=3)],
        [GzipCodec(level=5)],
        [Crc32cCodec()],
        [ZstdCodec(level=1, checksum=True), Crc32cCodec()],
        [BloscCodec(cname=str(rng.choice(["lz4", "lz4hc", "zstd", "zlib", "blosclz"])), clevel=int(rng.integers(0, 10)),
                    shuffle=str(rng.choice(["noshuffle", "shuffle", "bitshuffle"])), typesize=size)],
    ]
    more = {}
    if dims and rng.random() < 0.3:
        more["shards"] = tuple(int(n * rng.integers(1, 4)) for n in chunks)
    elif dims > 1 and rng.random() < 0.4:
        more["filters"] = [TransposeCodec(order=tuple(int(n) for n in rng.permutation(dims)))]
    if dims and rng.random() < 0.5:
        more["dimension_names"] = [f"d{n}" if rng.random() < 0.8 else None for n in range(dims)]
    if rng.random() < 0.3:
        more["chunk_key_encoding"] = {"name": "v2", "configuration": {"separator": "."}}
    fill = rng.choice([0, 1]) if np.dtype(dtype).kind not in "fc" else rng.choice([0.0, np.nan, np.inf, -9999.0])
    array = group.create_array(
        name, shape=shape, chunks=chunks, dtype=np.dtype(dtype), compressors=coders[int(rng.integers(len(coders)))],
        serializer="auto", fill_value=np.dtype(dtype).type(fill), attributes={"n": [1, 2.5, None], "é": {"deep": True}}, **more)
    values = random_values(rng, dtype, shape)
    if rng.random() < 0.8:
        array[...] = values
    elif dims:
        array[: max(1, shape[0] // 2)] = values[: max(1, shape[0] // 2)]
    return array


def arrays(path):
    import zarr

    root = zarr.open_group(path, mode="r")
    return {name: node for name, node in root.members(max_depth=None) if isinstance(node, zarr.Array)}


def compare_zarr(tgm, cases, seed):
    import zarr

    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        root = zarr.create_group(folder / "in.zarr", attributes={"title": "all"})
        group = root.create_group("deep", attributes={"level": 1})
        for case in range(cases):
            random_array(rng, group if case % 2 else root, f"a{case}")
        given = arrays(folder / "in.zarr")
        assert len(given) == cases
        for chunks in ("keep", "join"):
            run(tgm, "convert", folder / "in.zarr", "-o", folder / f"{chunks}.tgm", "--chunks", chunks)
            run(tgm, "validate", folder / f"{chunks}.tgm")
            run(tgm, "convert", folder / f"{chunks}.tgm", "-o", folder / f"{chunks}.zarr")
            found = arrays(folder / f"{chunks}.zarr")
            assert given.keys() == found.keys()
            for name, array in given.items():
                other = found[name]
                what = (name, array.metadata, other.metadata)
                assert bits(array[...]) == bits(other[...]), what
                assert array.shape == other.shape and array.dtype == other.dtype and array.chunks == other.chunks, what
                assert dict(array.attrs) == dict(other.attrs), what
                assert array.metadata.dimension_names == other.metadata.dimension_names, what
                assert array.metadata.fill_value.tobytes() == other.metadata.fill_value.tobytes(), what
            back = zarr.open_group(folder / f"{chunks}.zarr", mode="r")
            assert dict(back.attrs) == {"title": "all"} and dict(back["deep"].attrs) == {"level": 1}
        # Values of whole arrays as the tool extracts them.
        for index, name in enumerate(sorted(given, key=lambda name: name.split("/"))):
            array = given[name]
            if array.dtype == bool:
                continue
            raw = run(tgm, "extract", folder / "join.tgm", "-m", index, "-O", "-")
            assert bits(np.frombuffer(raw, array.dtype)) == bits(array[...]), name
        run(tgm, "convert", folder / "join.tgm", "-o", folder / "again.zarr", "--chunk-shape", "2x3x4")
        for name, array in arrays(folder / "again.zarr").items():
            assert bits(array[...]) == bits(given[name][...]), name
    print(f"{cases} arrays of zarr {zarr.__version__} return bit by bit, by chunks, joined, and in other chunks")


# Tables -------------------------------------------------------------------------------------------------------------


def compare_tables(tgm):
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    data = Path(__file__).resolve().parent.parent.parent / "data"
    files = sorted(path for name in ("metadata", "realistic", "dtypes") for path in (data / name).glob("*.tgm"))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for rows in ("objects", "messages"):
            run(tgm, "convert", *files, "-o", folder / "t.arrow", "--rows", rows)
            run(tgm, "convert", *files, "-o", folder / "t.parquet", "--rows", rows)
            with pyarrow.ipc.open_file(folder / "t.arrow") as reader:
                arrow = reader.read_all()
            parquet = pyarrow.parquet.read_table(folder / "t.parquet")
            assert arrow.schema.equals(parquet.schema)
            assert str(arrow.to_pylist()) == str(parquet.to_pylist()), "the two formats differ"
            assert arrow.num_rows and set(arrow["file"].to_pylist()) <= {str(path) for path in files}
            counts = {}
            for path in files:
                text = run(tgm, "get", "-p", "objects", path).decode().split()
                counts[str(path)] = [int(number) for number in text]
            if rows == "messages":
                expected = [number for path in files for number in counts[str(path)]]
                assert arrow["objects"].to_pylist() == expected
            else:
                assert arrow.num_rows == sum(max(1, number) for path in files for number in counts[str(path)])
        row = next(row for row in arrow.to_pylist() if row["file"].endswith("mars.tgm"))
        assert row["mars.param"] == "2t" and row["extra.run"] == 7, row
    print(f"tables of {len(files)} files agree with pyarrow {pyarrow.__version__}, {len(arrow.schema.names)} columns")


# Queries ------------------------------------------------------------------------------------------------------------

PARAMS, STEPS, COPIES = ["2t", "10u", "msl"], range(0, 120, 6), 20
# Conditions of `tgm ls -w`, and of SQL.
CONDITIONS = [
    ("mars.param=2t", "\"mars.param\" = '2t'"),
    ("mars.param=2t/msl and mars.step>=48", "\"mars.param\" IN ('2t', 'msl') AND \"mars.step\" >= 48"),
    ("mars.step<12 or mars.step=114", "\"mars.step\" < 12 OR \"mars.step\" = 114"),
    ("not mars.param=10u", "\"mars.param\" <> '10u'"),
]


def compare_queries(tgm):
    import duckdb
    import pyarrow.ipc

    mars = Path(__file__).resolve().parent.parent.parent / "data/metadata/mars.tgm"
    with tempfile.TemporaryDirectory() as folder:
        folder, one = Path(folder), Path(folder) / "one.tgm"
        files = [folder / f"{param}.tgm" for param in PARAMS]
        for param, path in zip(PARAMS, files):
            with open(path, "wb") as file:
                for step in STEPS:
                    run(tgm, "set", mars, one, "-s", f"mars.param={param}", "-s", f"mars.step={step}", "-s", f"extra.half={step / 2 + 0.25}")
                    file.write(one.read_bytes() * COPIES)
        for name in ("t.parquet", "t.arrow"):
            run(tgm, "convert", *files, "-o", folder / name, "--rows", "messages")
        with pyarrow.ipc.open_file(folder / "t.arrow") as reader:
            arrow = reader.read_all()
        database = duckdb.connect()
        database.register("arrow", arrow)
        tables = [f"'{folder}/t.parquet'", "arrow"]
        rows = len(PARAMS) * len(STEPS) * COPIES
        for table in tables:
            ask = lambda what: database.sql(f"SELECT {what.format(table)}").fetchall()
            assert ask("count(*), count(DISTINCT file) FROM {}") == [(rows, len(files))]
            sums = ask('"mars.param", count(*), sum("mars.step"), sum("extra.half") FROM {} GROUP BY 1 ORDER BY 1')
            count, steps = len(STEPS) * COPIES, sum(STEPS) * COPIES
            assert sums == [(param, count, steps, steps / 2 + count / 4) for param in sorted(PARAMS)], sums
            # Offsets and lengths say where messages lie.
            for path, offset, length in ask('file, "offset", "length" FROM {} WHERE message = 7'):
                assert Path(path).read_bytes()[offset:offset + 8] == b"TENSOGRM" and length > 0
            for condition, sql in CONDITIONS:
                listed = [json.loads(run(tgm, "ls", "--json", "-w", condition, "-p", "message", path)) for path in files]
                found = sum(len(file["messages"]) for file in listed)
                assert ask(f"count(*) FROM {{}} WHERE {sql}") == [(found,)] and found, (condition, found)
        assert database.sql(f"FROM {tables[0]} EXCEPT ALL FROM arrow").fetchall() == []
    print(f"a table of {rows} messages answers DuckDB {duckdb.__version__} what `tgm ls -w` says")


# NetCDF -------------------------------------------------------------------------------------------------------------


def same_files(given, found):
    """Whether two groups of netCDF4 have the same dimensions, attributes, variables and stored values."""
    attributes = lambda it: {name: (np.asarray(it.getncattr(name)).tolist(), np.asarray(it.getncattr(name)).dtype) for name in it.ncattrs()}
    assert attributes(given) == attributes(found), (given, found)
    assert given.variables.keys() == found.variables.keys(), (given, found)
    for name, variable in given.variables.items():
        other = found[name]
        for one in (variable, other):
            one.set_auto_maskandscale(False)
        what = (variable, other)
        assert (variable.dtype.newbyteorder("="), variable.dimensions) == (other.dtype.newbyteorder("="), other.dimensions), what
        assert attributes(variable) == attributes(other), what
        values, others = np.ma.getdata(variable[...]), np.ma.getdata(other[...])
        if variable.dtype.kind == "f" and "_FillValue" in variable.ncattrs():
            # Both are missing values.
            values = np.where(np.isnan(values), variable._FillValue, values)
        if variable.dtype.itemsize == 8 and "scale_factor" in variable.ncattrs():
            # The values are float64, which has fewer bits. Several integers have the same value.
            values, others = (
                it.astype("f8") * variable.scale_factor + getattr(variable, "add_offset", 0.0) for it in (values, others)
            )
        assert bits(values) == bits(others), (name, values, others)
        for one, two in zip(variable.get_dims(), other.get_dims()):
            assert (one.size, one.isunlimited()) == (two.size, two.isunlimited()), (name, one, two)
    for name, group in given.groups.items():
        same_files(group, found.groups[name])


def compare_netcdf(tgm, cases, seed):
    import netCDF4

    rng = np.random.default_rng(seed)
    packed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for case in range(cases):
            form = str(rng.choice(["NETCDF4", "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"]))
            classic = form not in ("NETCDF4", "NETCDF3_64BIT_DATA")
            with netCDF4.Dataset(folder / "in.nc", "w", format=form) as file:
                file.title = "case"
                file.createDimension("time", None)
                file.createDimension("x", int(rng.integers(1, 9)))
                holder = file.createGroup("g") if form == "NETCDF4" and rng.random() < 0.5 else file
                for number in range(int(rng.integers(1, 5))):
                    kinds = ["i1", "i2", "i4", "f4", "f8"] + ([] if classic else ["u1", "u2", "u4", "i8", "u8"])
                    kind = np.dtype(str(rng.choice(kinds)))
                    dims = [(), ("x",), ("time",), ("time", "x")][int(rng.integers(4))]
                    more = {}
                    if form.startswith("NETCDF4") and dims:
                        more = {"zlib": bool(rng.random() < 0.5), "endian": str(rng.choice(["little", "big"]))}
                    if rng.random() < 0.5:
                        more["fill_value"] = kind.type(7)
                    variable = holder.createVariable(f"v{number}", kind, dims, **more)
                    if kind.kind != "f" and rng.random() < 0.6:
                        variable.scale_factor = float(rng.choice([0.5, 2.0**-20, 8.0, 0.01, 0.1]))
                        if rng.random() < 0.5:
                            variable.add_offset = float(rng.choice([273.0, -0.125, 1e6, 0.1]))
                    variable.set_auto_maskandscale(False)
                    shape = tuple(3 if dim == "time" else file.dimensions["x"].size for dim in dims)
                    values = random_values(rng, kind, shape)
                    values.ravel()[:1] = 7
                    variable[...] = values
                    variable.units = "K"
            run(tgm, "convert", folder / "in.nc", "-o", folder / "out.tgm")
            run(tgm, "validate", folder / "out.tgm")
            with netCDF4.Dataset(folder / "in.nc") as file:
                variables = list(file.variables.items())
                variables += [(f"g/{name}", variable) for name, variable in getattr(file.groups.get("g"), "variables", {}).items()]
                assert run(tgm, "get", "-p", "objects", folder / "out.tgm").split() == [str(len(variables)).encode()]
                names = run(tgm, "ls", "--objects", "--json", folder / "out.tgm").decode()
                for index, (name, variable) in enumerate(variables):
                    assert name in names
                    variable.set_auto_maskandscale(False)
                    raw = np.ma.getdata(variable[...])
                    missing = raw == variable._FillValue if "_FillValue" in variable.ncattrs() else np.zeros(raw.shape, bool)
                    expected = raw
                    if "scale_factor" in variable.ncattrs():
                        offset = getattr(variable, "add_offset", 0.0)
                        expected = raw.astype("f8") * variable.scale_factor + offset
                    if expected.dtype.kind == "f":
                        expected = np.where(missing, expected.dtype.type(np.nan), expected)
                    out = run(tgm, "extract", folder / "out.tgm", "--object", index, "-O", "-")
                    found = np.frombuffer(out, expected.dtype.newbyteorder("<"))
                    assert bits(found) == bits(expected), (case, name, variable, found, expected)
            packed += run(tgm, "ls", "--objects", "-p", "encoding", folder / "out.tgm").count(b"simple_packing")
            run(tgm, "convert", folder / "in.nc", "-o", folder / "records.tgm", "--split", "record")
            for name in ("out", "records"):
                run(tgm, "convert", "--strict", folder / f"{name}.tgm", "-o", folder / f"{name}.nc")
                with netCDF4.Dataset(folder / "in.nc") as given, netCDF4.Dataset(folder / f"{name}.nc") as found:
                    same_files(given, found)
                (folder / f"{name}.nc").unlink()
    print(f"{cases} files of netCDF4 {netCDF4.__version__} have its values and come back, {packed} variables keep their packing")


if __name__ == "__main__":
    comparisons = {
        "zarr": compare_zarr,
        "tables": compare_tables,
        "queries": compare_queries,
        "netcdf": compare_netcdf,
    }
    commands.choose(__doc__, comparisons, 100)
