#!/usr/bin/env python3
"""Counts what the tool does for inputs of a size, and of twice that size: work must not grow faster.

Usage: count.py TGM [SIZE [PART...]]

Work is counted in instructions, by valgrind's cachegrind, and never timed. What a run costs without input is taken off. The
work for twice the size may be 2.6 times the work. PART names cases to run, by any part of their names.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np

GROWTH = 2.6
# The libraries that make files are not made for threads.
MAKING = Lock()
GRIB = Path(__file__).resolve().parents[2] / "data-grib" / "keys.grib2"


def tgm(*arguments):
    done = subprocess.run([TGM, *map(str, arguments)], capture_output=True)
    if done.returncode:
        sys.exit(f"tgm {' '.join(map(str, arguments))[:300]}: {done.stderr.decode()[-300:]}")


def instructions(arguments):
    """The instructions of a run, which may report differences with exit code 1."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", TGM, *arguments]
    # All work is done by the process that is counted.
    done = subprocess.run(command, capture_output=True, env=os.environ | {"TGM_IN_PROCESS": "1"})
    found = re.search(rb"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode not in (0, 1) or not found:
        sys.exit(f"tgm {' '.join(arguments)[:300]}: {done.stderr.decode(errors='replace')[-500:]}")
    return int(found[1].replace(b",", b""))


def npz(folder, size, name="a{}"):
    path = folder / "in.npz"
    np.savez(path, **{name.format(index): np.arange(2.0) + index for index in range(size)})
    return path


def messages(folder, size, key="k", of_one_name=False, name="in"):
    """A file of messages of one object each."""
    path = folder / f"{name}.tgm"
    tgm("convert", npz(folder, max(size, 1)), "-o", folder / "whole.tgm")
    tgm("split", folder / "whole.tgm", "-o", folder / "[dtype].tgm")
    shutil.move(folder / "float64.tgm", path)
    if of_one_name:
        tgm("set", "-s", "name=same", path, path)
    return path


def objects(folder, size):
    """A message of many objects."""
    path = folder / "in.tgm"
    tgm("convert", npz(folder, max(size, 1)), "-o", path)
    return path


def created(folder, size):
    """A message of many files."""
    paths = [folder / f"in{index}.npy" for index in range(max(size, 1))]
    for path in paths:
        np.save(path, np.zeros(2))
    return ["create", *paths, "-o", folder / "out.tgm"]


def csv(columns, rows, text="1.5"):
    def make(folder, size):
        wide, long = (size if part == "n" else part for part in (columns, rows))
        path = folder / "in.csv"
        lines = [",".join(f"c{index}" for index in range(max(wide, 1)))]
        lines += [",".join([text] * max(wide, 1))] * max(long, 1)
        path.write_text("\n".join(lines) + "\n")
        return ["convert", path, "-o", folder / "out.tgm"]

    return make


def safetensors(folder, size):
    tgm("convert", npz(folder, max(size, 1)), "-o", folder / "in.safetensors")
    return ["convert", folder / "in.safetensors", "-o", folder / "out.tgm"]


def grib(folder, size):
    path = folder / "in.grib2"
    path.write_bytes(one_grib() * max(size, 1))
    return ["convert", path, "-o", folder / "out.tgm"]


def grib_out(folder, size):
    path = grib(folder, size)[1]
    tgm("convert", path, "-o", folder / "in.tgm")
    return ["convert", folder / "in.tgm", "-o", folder / "out.grib2"]


def one_grib():
    """The first message of the file."""
    whole = GRIB.read_bytes()
    return whole[: int.from_bytes(whole[8:16], "big")]


def netcdf(what):
    import netCDF4

    def make(folder, size):
        path = folder / "in.nc"
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("x", 2)
            file.createVariable("v", "f4", ("x",))[:] = [1, 2]
            for index in range(size):
                match what:
                    case "variables":
                        file.createVariable(f"v{index}", "f4", ("x",))[:] = [1, 2]
                    case "dimensions":
                        file.createDimension(f"x{index}", 2)
                    case "attributes":
                        file.setncattr(f"a{index}", index)
                    case "groups":
                        file.createGroup(f"g{index}").createVariable("v", "f4", ("x",))[:] = [1, 2]
        return ["convert", "--from", "netcdf", path, "-o", folder / "out.tgm"]

    return make


def in_pieces(folder, size):
    """Variables of three chunks, each of which becomes an object."""
    import netCDF4

    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("x", 6)
        for index in range(max(size, 1)):
            file.createVariable(f"v{index}", "f4", ("x",), chunksizes=(2,))[:] = np.arange(6)
    tgm("convert", "--chunks", "keep", folder / "in.nc", "-o", folder / "in.tgm")
    return folder / "in.tgm"


def pieces(folder, size):
    """One variable of many chunks, each of which becomes an object."""
    import netCDF4

    with netCDF4.Dataset(folder / "in.nc", "w") as file:
        file.createDimension("x", 2 * max(size, 1))
        file.createVariable("v", "f4", ("x",), chunksizes=(2,))[:] = np.arange(2 * max(size, 1))
    tgm("convert", "--chunks", "keep", folder / "in.nc", "-o", folder / "in.tgm")
    return folder / "in.tgm"


def classic(what):
    """A file of the older form."""
    import netCDF4

    def make(folder, size):
        path, more = folder / "in.nc", []
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            match what:
                case "rank":
                    names = [f"x{index}" for index in range(max(size, 1))]
                    for name in names:
                        file.createDimension(name, 1)
                    file.createVariable("v", "f4", names)
                case "variables":
                    file.createDimension("x", 2)
                    for index in range(max(size, 1)):
                        file.createVariable(f"v{index}", "f4", ("x",))
                case "records":
                    file.createDimension("t", None)
                    file.createVariable("v", "f4", ("t",))[:] = np.zeros(max(size, 1))
                    more = ["--split", "record"]
                case "texts":
                    file.createDimension("n", max(size, 1))
                    file.createDimension("len", 4)
                    file.createVariable("v", "S1", ("n", "len"))[:] = "a"
        return ["convert", "--from", "netcdf", path, *more, "-o", folder / "out.tgm"]

    return make


def hdf5(what):
    import h5py

    def make(folder, size):
        path = folder / "in.h5"
        with h5py.File(path, "w") as file:
            file["v"] = np.arange(2.0)
            if what == "texts":
                file["t"] = ["text"] * max(size, 1)
            if what == "names of integers":
                file.create_dataset("e", (2,), h5py.enum_dtype({f"n{index}": index for index in range(max(size, 2))}, "i4"))
            for index in range(size):
                match what:
                    case "links":
                        file[f"l{index}"] = file["v"]
                    case "soft links":
                        file[f"l{index}"] = h5py.SoftLink("/v")
                    case "scales":
                        file[f"x{index}"] = np.arange(2.0)
                        file[f"x{index}"].make_scale(f"x{index}")
                        file[f"v{index}"] = np.arange(2.0)
                        file[f"v{index}"].dims[0].attach_scale(file[f"x{index}"])
                    case "variables of one scale":
                        if not index:
                            file["x"] = np.arange(2.0)
                            file["x"].make_scale("x")
                        file[f"v{index}"] = np.arange(2.0)
                        file[f"v{index}"].dims[0].attach_scale(file["x"])
                    case "variables of high rank":
                        file.create_dataset(f"v{index}", (1,) * 32, "f4")
                    case "attributes of a variable":
                        file["v"].attrs[f"a{index}"] = index
                    case "texts of their own":
                        file[f"t{index}"] = "text"
                    case "deep variables":
                        file["/".join(["g"] * (index % 50 + 1) + [f"v{index}"])] = np.arange(2.0)
        return ["convert", path, "-o", folder / "out.tgm"]

    return make


def npy_rank(order):
    """An array of many dimensions, which numpy itself does not make."""

    def make(folder, size):
        path = folder / "in.npy"
        text = f"{{'descr': '<f8', 'fortran_order': {order == 'F'}, 'shape': ({'1, ' * size}2), }}".encode()
        path.write_bytes(b"\x93NUMPY\2\0" + len(text).to_bytes(4, "little") + text + bytes(16))
        return path

    return make


def zarr_old(what):
    """A store of version 2."""
    import json

    def make(folder, size):
        store = folder / "in.zarr"
        store.mkdir()
        (store / ".zgroup").write_text('{"zarr_format": 2}')
        array = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f8", "order": "C", "fill_value": 0,
                 "filters": None, "compressor": None}
        if what == "attributes":
            (store / ".zattrs").write_text(json.dumps({f"a{index}": index for index in range(size)}))
        for index in range(size if what in ("arrays", "groups") else 1):
            place = store / f"g{index}" / "v" if what == "groups" else store / f"v{index}"
            place.mkdir(parents=True)
            (place / ".zarray").write_text(json.dumps(array))
            (place / "0").write_bytes(bytes(16))
        if what == "rank":
            place = store / "v0"
            shape = [1] * max(size, 1)
            (place / ".zarray").write_text(json.dumps(array | {"shape": shape, "chunks": shape, "dimension_separator": "."}))
            (place / "0").unlink()
        return ["convert", store, "-o", folder / "out.tgm"]

    return make


def lengths(folder, size):
    """Objects whose dimension has one name and many lengths."""
    path = folder / "in.tgm"
    np.savez(folder / "in.npz", **{f"a{index}": np.zeros(index + 1, "u1") for index in range(max(size, 1))})
    tgm("convert", folder / "in.npz", "-o", path)
    tgm("set", "--json-values", "-s", 'dimensions=["x"]', path, path)
    return path


def deep(folder, size):
    """Names that lie within each other."""
    path = folder / "in.tgm"
    names = {"/".join(["g"] * (index % 40 + 1) + [f"v{index}"]): np.zeros(1) for index in range(max(size, 1))}
    np.savez(folder / "in.npz", **names)
    tgm("convert", folder / "in.npz", "-o", path)
    return path


def zarr(folder, size):
    tgm("convert", objects(folder, size), "-o", folder / "in.zarr")
    return ["convert", folder / "in.zarr", "-o", folder / "out.tgm"]


def zarr_chunks(folder, size):
    np.save(folder / "in.npy", np.arange(2.0 * max(size, 1)))
    tgm("convert", folder / "in.npy", "-o", folder / "in.zarr", "--chunk-shape", "2")
    return ["convert", folder / "in.zarr", "-o", folder / "out.tgm"]


def on(make, *arguments):
    """A run on a file: IN stands for its path, OUT for an output."""

    def prepared(folder, size):
        path = make(folder, size)
        stands = {"IN": str(path), "OUT": str(folder / "out.tgm"), "DIR": str(folder)}
        return [re.sub("IN|OUT|DIR", lambda found: stands[found[0]], argument) for argument in arguments]

    return prepared


def one_name(folder, size):
    return messages(folder, size, of_one_name=True)


COMMANDS = {
    "ls": "ls IN",
    "ls objects": "ls --objects IN",
    "ls sorted": "ls --objects -B name -p name IN",
    "get": "get -p name IN",
    "dump": "dump --json IN",
    "frames": "frames IN",
    "info": "info IN",
    "scan": "scan IN",
    "stats": "stats IN",
    "digest": "digest IN",
    "verify": "verify IN",
    "validate": "validate --full IN",
    "compare": "compare IN IN",
    "compare by": "compare --by name IN IN",
    "copy": "copy -w name=a1* IN -o OUT",
    "merge": "merge IN -o OUT",
    "split": "split IN -o DIR/s[index].tgm",
    "set": "set -s a=1 IN OUT",
    "repack": "repack --compression zstd IN -o OUT",
    "reshuffle": "reshuffle IN -o OUT",
    "salvage": "salvage IN -o OUT",
    "upgrade": "upgrade IN -o OUT",
    "catalog": "catalog IN -k name -o OUT.catalog",
    "cat": "cat --object 0 IN",
    "extract": "extract --object 0 IN -O OUT.bin",
    "tail": "tail --from-start --idle 0 IN",
    "to npy": "convert IN -o DIR/n[index].npy",
    "to csv": "convert IN -o DIR/n[index].csv",
    "to safetensors": "convert IN -o DIR/n[index].safetensors",
    "to arrow": "convert IN -o OUT.arrow",
    "to npz": "convert IN -o OUT.d/ --to npz",
    "to netcdf": "convert IN -o OUT.nc",
    "to zarr": "convert IN -o OUT.zarr",
    "to parquet": "convert IN -o OUT.parquet",
}


def fourfold(make):
    """One window more of a short file that is read would count as growth."""
    return lambda folder, size: make(folder, 4 * size)


def cases():
    yield "csv columns", csv("n", 2)
    yield "csv rows", csv(3, "n")
    yield "csv columns of text", csv("n", 2, "word")
    yield "csv columns of times", csv("n", 2, "2024-01-01")
    yield "npz", lambda folder, size: ["convert", npz(folder, max(size, 1)), "-o", folder / "out.tgm"]
    yield "safetensors", safetensors
    yield "create", created
    yield "grib", grib
    yield "to grib", grib_out
    for what in ("variables", "dimensions", "attributes", "groups"):
        yield f"netcdf {what}", netcdf(what)
    for what in ("rank", "variables", "records", "texts"):
        yield f"netcdf classic {what}", classic(what)
    for what in ("links", "soft links", "scales", "variables of one scale", "variables of high rank", "attributes of a variable",
                 "texts", "texts of their own", "names of integers", "deep variables"):
        yield f"hdf5 {what}", hdf5(what)
    for order in "CF":
        yield f"npy rank {order}", on(npy_rank(order), "convert", "IN", "-o", "OUT")
        for name in ("netcdf", "zarr", "npz"):
            yield f"npy rank {order} to {name}", on(npy_rank(order), "convert", "IN", "-o", f"OUT.{'nc' if name == 'netcdf' else name}")
    for what in ("arrays", "groups", "attributes", "rank"):
        yield f"zarr old {what}", zarr_old(what)
    yield "zarr arrays", zarr
    yield "zarr chunks", zarr_chunks
    for kind, make in (("variables in pieces", in_pieces), ("pieces of a variable", pieces)):
        yield f"netcdf {kind}", on(make, "convert", "--chunks", "keep", "DIR/in.nc", "-o", "OUT")
        yield f"{kind}, cube", on(fourfold(make), "cube", "IN")
        for name in ("netcdf", "zarr", "npz"):
            yield f"{kind} to {name}", on(make, "convert", "IN", "-o", f"OUT.{'nc' if name == 'netcdf' else name}")
    yield "one dimension of many lengths to netcdf", on(lengths, "convert", "IN", "-o", "OUT.nc")
    yield "deep names to netcdf", on(deep, "convert", "IN", "-o", "OUT.nc")
    yield "deep names to zarr", on(deep, "convert", "IN", "-o", "OUT.zarr")
    for kind, make in (("messages", messages), ("objects", objects)):
        for name, words in COMMANDS.items():
            yield f"{name}, {kind}", on(fourfold(make) if name == "tail" else make, *words.split())
    for name in ("to netcdf", "to zarr", "compare by"):
        yield f"{name}, messages of one name", on(one_name, *COMMANDS[name].split())


def measure(case, size):
    name, make = case
    counts = []
    for each in (0, size, 2 * size):
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            with MAKING:
                arguments = [str(argument) for argument in make(Path(folder), each)]
            counts.append(instructions(arguments))
    none, once, twice = counts
    growth = (twice - none) / max(once - none, 1)
    print(f"{name:45} {once - none:14,} {growth:6.2f}{'  TOO MUCH' if growth > GROWTH else ''}", flush=True)
    return name if growth > GROWTH else None


def main():
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    wanted = [case for case in cases() if not sys.argv[3:] or any(part in case[0] for part in sys.argv[3:])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [name for name in pool.map(lambda case: measure(case, size), wanted) if name]
    if failed:
        sys.exit(f"the work grows too fast: {', '.join(failed)}")
    print(f"{len(wanted)} cases: the work for twice the size is at most {GROWTH} times the work")


TGM = sys.argv[1]
main()
