#!/usr/bin/env python3
"""Opens the references that `tgm convert --to kerchunk` writes, by what reads references, and compares with the archive.

Usage: references.py TGM [CASES [SEED [FOLDER]]]

Random fields, in several files, with places that lack one, and saved datasets of random types: plain, shuffled, by zstd and by
lz4. fsspec, zarr, xarray and its engine `kerchunk` read JSON and Parquet, without our codecs. A folder gets ten of the cases with
their values, for `virtual.py`.
"""
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import tgmio as tgm
import xarray as xr

warnings.filterwarnings("ignore")
STAGES = [{}, {"compression": "zstd"}, {"compression": "lz4"}, {"shuffle": True}, {"shuffle": True, "compression": "zstd"},
          {"shuffle": True, "compression": "lz4"}]
TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16"]


def fields(rng, folder):
    """Files of fields. Whole numbers have no holes: these would be NaN."""
    dtype, stage = str(rng.choice(["f4", "f8", "i2", "u1"])), STAGES[rng.integers(len(STAGES))]
    steps, levels, members = (rng.choice(9, int(rng.integers(1, 4)), replace=False) for _ in range(3))
    shape = tuple(int(size) for size in rng.integers(1, 6, 2))
    places = [(step, level, member) for step in steps for level in levels for member in members]
    rng.shuffle(places)
    if dtype[0] == "f" and len(places) > 2 and rng.random() < 0.5:
        places = places[:-1]
    messages = []
    for step, level, member in places:
        keys = {"param": "t", "date": 20240228, "time": 1200, "step": int(step), "levtype": "pl", "levelist": 100 + int(level),
                "number": int(member), "area": [60, 0, 40, 30]}
        values = rng.integers(0, 100, shape).astype(dtype)
        messages.append(tgm.encode({"base": [{"mars": keys}]}, [(tgm.Encoding(**stage), values)]))
    paths = [folder / f"a é {number}.tgm" for number in range(min(len(messages), int(rng.integers(1, 4))))]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(messages[number::len(paths)]))
    return paths


def saved(rng, folder):
    """A saved dataset, whose pieces are even."""
    sizes = {"time": int(rng.integers(1, 5)), "y": 2 * int(rng.integers(1, 4)), "x": int(rng.integers(1, 6))}
    dims, variables, encoding = list(sizes), {}, {}
    for number in range(int(rng.integers(1, 5))):
        own = dims[int(rng.integers(0, 3)):]
        dtype = str(rng.choice(TYPES))
        values = (rng.random([sizes[dim] for dim in own]) * 100).astype(dtype)
        attributes = {"units": "K", "odd": float("nan"), "many": [1.5, float("inf")], "n": 3}
        variables[f"v{number}"] = (own, values, attributes)
        encoding[f"v{number}"] = {"compression": str(rng.choice(["zstd", "lz4", "none"])),
                                  "chunks": [2 if dim == "y" and rng.random() < 0.5 else sizes[dim] for dim in own]}
    times = np.datetime64("2020-02-28", "ns") + np.arange(sizes["time"]) * np.timedelta64(int(rng.choice([1, 6, 24])), "h")
    names = ("y", [f"ö{number}" for number in range(sizes["y"])])
    dataset = xr.Dataset(variables, {"time": times, "x": np.arange(sizes["x"], dtype="f8"), "name": names}, {"title": "all"})
    path = folder / "saved.tgm"
    tgm.save_dataset(dataset, path, encoding=encoding)
    return [path]


def convert(program, paths, target):
    done = subprocess.run([program, "convert", *paths, "--to", "kerchunk", "-o", target], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tgm convert {paths} -o {target}: {done.stderr}")


def check(program, paths, folder):
    expected = tgm.open_dataset(paths if len(paths) > 1 else paths[0], catalog=False).load()
    text, parts = folder / "refs.json", folder / "refs.parq"
    convert(program, paths, text)
    convert(program, paths, parts)
    if tgm.references(paths) != json.loads(text.read_text()):
        sys.exit(f"{paths}: tgm.references and the tool differ")
    for refs in (text, parts):
        options = {"fo": str(refs), "remote_protocol": "file"}
        backend = {"consolidated": False, "storage_options": options}
        found = xr.open_dataset("reference://", engine="zarr", backend_kwargs=backend, chunks=None).load()
        xr.testing.assert_equal(found, expected)
        if not found.attrs.items() >= expected.attrs.items():
            sys.exit(f"{paths}: {found.attrs} {expected.attrs}")
        xr.testing.assert_equal(xr.open_dataset(str(refs), engine="kerchunk", storage_options={"remote_protocol": "file"}).load(), expected)


def keep(paths, folder):
    """Writes the values of a case beside it. Texts and times are left out: programs have several types for them."""
    found = tgm.open_dataset(paths if len(paths) > 1 else paths[0], catalog=False).load()
    np.savez(folder / "expected.npz", **{name: it.values for name, it in found.variables.items() if it.dtype.kind in "fiuc"})


def main():
    program, cases, seed = sys.argv[1], int((sys.argv[2:] or [40])[0]), int((sys.argv[3:] or [1])[0])
    for case in range(cases):
        rng = np.random.default_rng([seed, case])
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            if len(sys.argv) > 4 and case < 10:
                folder = Path(sys.argv[4]) / str(case)
                folder.mkdir(parents=True)
            paths = (fields if case % 2 else saved)(rng, folder)
            try:
                check(program, paths, folder)
                if len(sys.argv) > 4 and case < 10:
                    keep(paths, folder)
            except AssertionError as error:
                sys.exit(f"case {case} of seed {seed}: {error}")
    print(f"references: {cases} archives are read where they lie")


if __name__ == "__main__":
    main()
