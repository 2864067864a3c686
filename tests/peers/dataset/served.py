#!/usr/bin/env python3
"""Compares what `xarray.open_zarr` reads from `tgm serve` with what `xarray.open_dataset(engine="tgm")` reads from the file.

Usage: served.py corpus TGM                  the files of tests/data: what the engine opens, the address has; what it refuses is an error
       served.py random TGM [CASES [SEED]]   archives of GRIB and random datasets that were saved; dask reads some with threads
       served.py memory TGM                  a large archive, read by 16 threads: the server stays within its budget

The module tgmio is imported from where PYTHONPATH says, or as it is installed. It needs xarray, zarr, dask, fsspec and aiohttp, and
random ones cfgrib too.
"""
import concurrent.futures
import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import warnings
from pathlib import Path

import dask
import numpy as np
import xarray as xr

sys.path.insert(0, str(Path(__file__).parents[1]))
import compare
import tgmio as tgm
import world
from commands import choose

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
DATA = Path(__file__).parents[2] / "data"


@contextlib.contextmanager
def serving(program, *arguments):
    """The address of `tgm serve` with these arguments, and its process."""
    child = subprocess.Popen([program, "serve", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield child.stdout.readline().strip(), child
    finally:
        child.kill()
        child.wait()


def ask(address):
    """The status and the bytes at an address."""
    try:
        with urllib.request.urlopen(address) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def loaded(open_it):
    """A dataset with its values, or the error of that."""
    try:
        found = open_it().load()
        found.close()
        return found
    except Exception as error:
        return error


def check(address, name, number, expected, where):
    """Compares a dataset at an address with one that is loaded. Returns how many variables it has."""
    route = "zarr" if number == 0 else f"zarr.{number}"
    root = f"{address}{route}/{urllib.parse.quote(name)}"
    found = loaded(lambda: xr.open_zarr(root, chunks=None))
    if isinstance(expected, Exception):
        if not isinstance(found, Exception):
            sys.exit(f"{where}: the engine says {expected!r}, and the address has {found}")
        return 0
    if isinstance(found, Exception):
        sys.exit(f"{where}: {root}: {found!r}")
    # numpy has no type of its own for these, so the store has float32.
    for each in list(expected.variables):
        if expected[each].dtype.name == "bfloat16":
            expected[each] = expected[each].astype("float32")
    try:
        xr.testing.assert_identical(plain(found), plain(expected))
    except AssertionError as error:
        sys.exit(f"{where}: {root}: {error}")
    for each, variable in expected.variables.items():
        if variable.dtype.kind not in "OUS" and found[each].dtype != variable.dtype:
            sys.exit(f"{where}: {root}: {each} is {found[each].dtype}, not {variable.dtype}")
    return len(expected.variables)


def plain(dataset):
    """A dataset whose texts are of one type, and whose attributes are lists and numbers."""
    dataset = dataset.copy()
    for name, variable in dataset.variables.items():
        if variable.dtype.kind in "OUST":
            texts = [text.decode() if isinstance(text, bytes) else str(text) for text in variable.values.ravel().tolist()]
            dataset[name] = variable.copy(data=np.array(texts, "O").reshape(variable.shape))
    for each in [dataset, *(dataset[name] for name in dataset.variables)]:
        each.attrs = {key: told(value) for key, value in each.attrs.items()}
    return dataset


def told(value):
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    # A store of Zarr has texts for numbers that JSON lacks.
    word = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    if isinstance(value, list):
        value = [told(each) for each in value]
    elif isinstance(value, float):
        value = word.get(str(value), value)
    # A list of one number and the number are the same in files.
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def corpus(program):
    files = sorted(path for path in DATA.rglob("*.tgm"))
    count = refused = 0
    with serving(program, DATA) as (address, _):
        listed = {each["name"] for each in json.loads(ask(address + "files")[1])["files"]}
        if listed != {str(path.relative_to(DATA)) for path in files}:
            sys.exit(f"the list of files: {listed ^ {str(path.relative_to(DATA)) for path in files}}")
        for path in files:
            name = str(path.relative_to(DATA))
            if path.stat().st_size > 4 << 20:
                continue
            try:
                number = len(tgm.open_datasets(path))
            except Exception as error:
                check(address, name, 0, error, name)
                refused += 1
                continue
            for each in range(number):
                expected = loaded(lambda: tgm.open_datasets(path)[each])
                count += check(address, name, each, expected, name)
    print(f"corpus: {count} variables of {len(files) - refused} files are served as they are, and {refused} files are errors")


def random(program, cases, seed):
    folder, count = Path(tempfile.mkdtemp()), 0
    for case in range(cases):
        rng = np.random.default_rng([seed, case])
        target = folder / f"{case}.tgm"
        if case % 2:
            compare_saved(rng, target)
        else:
            name = list(world.CASES)[case // 2 % len(world.CASES)]
            messages = list(world.CASES[name](rng))
            rng.shuffle(messages)
            source = folder / "a.grib2"
            source.write_bytes(b"".join(messages))
            compare.convert(program, source, target)
    with serving(program, folder, "--cache", int(rng.choice([0, 1000, 1 << 28]))) as (address, _):
        for case in range(cases):
            name, where = f"{case}.tgm", f"random: seed {seed}, case {case}"
            datasets = tgm.open_datasets(folder / name)
            for number, dataset in enumerate(datasets):
                count += check(address, name, number, loaded(lambda: dataset), where)
            count += threads(f"{address}zarr/{name}", tgm.open_dataset(folder / name), where)
    print(f"random: {count} variables of {cases} archives are served as they are")


def compare_saved(rng, target):
    tgm.save_dataset(compare.random_dataset(rng), target)


def threads(root, expected, where):
    """Sums by dask, with threads at once, equal the sums of the engine."""
    found = xr.open_zarr(root, chunks={})
    names = [name for name, variable in expected.data_vars.items() if variable.dtype.kind in "fiu"]
    with dask.config.set(scheduler="threads", num_workers=8):
        sums = dask.compute({name: found[name].sum() for name in names})[0]
    for name in names:
        if not np.allclose(sums[name].values, expected[name].sum().values, equal_nan=True):
            sys.exit(f"{where}: the sum of {name} by dask is {sums[name].values}")
    return len(names)


def memory(program):
    """An archive of 960 MB of values, 64 fields of 15 MB: the server takes its cache, and four chunks at a time for each processor."""
    budget = 64 << 20
    path = Path(tempfile.mkdtemp()) / "large.tgm"
    field = np.arange(1500 * 1250, dtype="f8").reshape(1500, 1250)
    # A chunk being read takes its stored object, its values, and a copy of one of them. The rest is the program.
    limit = budget + 4 * os.cpu_count() * 4 * field.nbytes + (64 << 20)
    with open(path, "wb") as out:
        for step in range(64):
            out.write(tgm.encode({"base": [{"mars": {"param": "t", "step": step}}]}, [(None, field + step)]))
    with serving(program, path, "--cache", budget) as (address, child):
        root = f"{address}zarr/large.tgm"
        found = xr.open_zarr(root, chunks={})
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for step, value in enumerate(pool.map(lambda step: float(found.t[step, 7, 9].values), range(64))):
                if value != field[7, 9] + step:
                    sys.exit(f"memory: step {step} is {value}")
            list(pool.map(lambda _: found.t.sum().compute(), range(4)))
        status = Path(f"/proc/{child.pid}/status").read_text()
        peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) << 10
    if peak > limit:
        sys.exit(f"memory: the server took {peak >> 20} MiB")
    print(f"memory: the server took {peak >> 20} MiB for {64 * field.nbytes >> 20} MiB of values, which 16 threads read")


if __name__ == "__main__":
    choose(__doc__, {"corpus": corpus, "random": random, "memory": memory}, 40)
