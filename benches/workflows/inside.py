"""Work in Python that measures itself: `inside.py NAME WORDS…` prints JSON.

What is imported is not measured. Memory is what the work took beyond what the process had before.
"""

import json
import pathlib
import statistics
import sys
import time
import warnings
from importlib import import_module

WORK = {}


def work(function):
    """A function that prepares and returns what is measured, and how often it is called."""
    WORK[function.__name__] = function
    return function


def status(name):
    """A line of the kernel about the memory of this process, in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def measure(call, repeats):
    """Seconds, processor time and memory of a call. What is called again was called once before."""
    if repeats > 1:
        call()
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, seconds, processor = status("VmRSS"), [], []
    for _ in range(repeats):
        used, begun = time.process_time(), time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - begun)
        processor.append(time.process_time() - used)
        more = result if isinstance(result, dict) else {}
        del result
    figures = {"seconds": statistics.median(seconds), "processor": statistics.median(processor)}
    return figures | {"memory": max(status("VmHWM") - before, 0)} | more


def exact(array, count):
    """Values that were asked for."""
    assert array.size == count, (array.shape, count)


@work
def array(program, path, count):
    """A file to an array."""
    count = int(count)
    if program == "numpy":
        import numpy as np

        return lambda: exact(np.load(path), count), 7
    if program == "tgm":
        import tgmio as tgm

        return lambda: exact(tgm.open(path)[0].objects[0].read(), count), 7
    if program == "h5py":
        import h5py

        def read():
            with h5py.File(path) as file:
                exact(file["a"][...], count)

        return read, 7
    if program == "zarr":
        import zarr

        return lambda: exact(zarr.open_array(path, mode="r")[...], count), 7
    from safetensors.numpy import load_file

    return lambda: exact(load_file(path)["a"], count), 7


@work
def write_array(program, source, path):
    """An array to a file."""
    import numpy as np

    values = np.load(source)
    if program == "numpy":
        return lambda: np.save(path, values), 5
    if program == "tgm":
        import tgmio as tgm

        return lambda: tgm.save(path, {"a": values}), 5
    if program == "h5py":
        import h5py

        def write():
            with h5py.File(path, "w") as file:
                file["a"] = values

        return write, 5
    if program == "zarr":
        import zarr

        return lambda: zarr.create_array(path, data=values, overwrite=True), 5
    from safetensors.numpy import save_file

    return lambda: save_file({"a": values}, path), 5


@work
def fields(program, way, source, path):
    """Each of many small arrays, in random order, out of a map of their file: a view, a copy, or into an array that is there. Or 200
    times the opening of a file of one, and a view."""
    import numpy as np

    arrays = np.load(source, mmap_mode="r")
    if program == "numpy":
        open_file = lambda: np.load(source, mmap_mode="r")
        view, copy, copy_into = arrays.__getitem__, lambda i: np.array(arrays[i]), lambda i, out: np.copyto(out, arrays[i])
    else:
        import tgmio as tgm

        with tgm.Writer(path) as writer:
            for values in arrays[:1] if way == "opening" else arrays:
                writer.object(values)
                writer.finish()
        open_file = lambda: tgm.open(path, mmap=True)[0].objects[0].array
        archive = tgm.open(path, mmap=True)
        view, copy = (lambda i: archive[i].objects[0].array), lambda i: archive[i].objects[0].read()
        copy_into = lambda i, out: archive[i].objects[0].read(out=out)
    out, order = np.empty(arrays.shape[1:], "f4"), np.random.default_rng(1).permutation(len(arrays)).tolist()

    def into(i):
        copy_into(i, out)
        return out

    if way == "opening":
        return lambda: {"sum": float(sum(open_file().flat[0] for _ in range(200)))}, 9
    each = {"view": view, "copy": copy, "into": into}[way]
    return lambda: {"sum": float(sum(each(i)[0, 0] for i in order))}, 9


def opened(program, path, **options):
    """A dataset of xarray."""
    import xarray

    if program == "tgm":
        import tgmio as tgm

        return tgm.open_dataset(path, **options)
    if program == "cfgrib":
        return xarray.open_dataset(path, engine="cfgrib", backend_kwargs={"indexpath": ""})
    return xarray.open_dataset(path)


def prepared(program, catalog):
    """Imports what a program needs, and gives the options of opening."""
    import_module("tgmio" if program == "tgm" else program)
    # With its first variable it imports dask, if that is there.
    import_module("xarray").Variable("x", [0])
    return {"catalog": False} if program == "tgm" and catalog == "no" else {}


@work
def open_dataset(program, path, catalog="no"):
    """Opening an archive of many fields."""
    options = prepared(program, catalog)
    return lambda: {"variables": len(opened(program, path, **options).data_vars)}, 1


@work
def point(program, path, catalog="no"):
    """Opening an archive, and the values of all times at one place."""
    options = prepared(program, catalog)

    def series():
        dataset = opened(program, path, **options)
        series = dataset.t.sel(latitude=45, longitude=10, method="nearest")
        # The last day has fewer steps than the others, which are NaN.
        return {"sum": float(series.sum(skipna=True))}

    return series, 1


@work
def field(way, path):
    """One field of many, by its coordinates or its number, from what is open."""
    if way == "decode_object":
        import tgmio as tgm

        archive = tgm.open(path)
        return lambda: {"sum": float(archive[7].objects[0].read().sum())}, 9
    dataset = opened(way, path, **({"catalog": False} if way == "tgm" else {}))
    one = dataset.t.isel(step=7)
    while one.ndim > 2:
        one = one[0]
    return lambda: {"sum": float(one.copy(deep=False).load(cache=False).values.sum())}, 9


@work
def mean(way, path):
    """The mean over all messages; or each of them decoded, which is the limit."""
    if way == "decode":
        import numpy as np
        import tgmio as tgm

        archive = tgm.open(path)
        out = np.empty(archive[0].objects[0].shape)

        def decode():
            for message in archive:
                message.objects[0].read(out=out)

        return decode, 1
    dataset = opened(way, path, **({"catalog": False} if way == "tgm" else {}))
    dims = [dim for dim in dataset.t.dims if dim not in ("latitude", "longitude")]
    if way == "tgm":
        return lambda: {"sum": float(dataset.tgm.reduce("t", "mean", dims).values.sum())}, 1
    return lambda: {"sum": float(dataset.t.mean(dims).values.sum())}, 1


def spin(_):
    """Arithmetic alone, for a third of a second."""
    return sum(number * number for number in range(3_000_000))


@work
def workers(what, path, count):
    """The mean over all fields by workers of dask of one thread each; of as many fields that numpy makes, which is the limit; or
    arithmetic alone."""
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=int(count), threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0, silence_logs=50
    )
    client = distributed.Client(cluster)
    if what == "arithmetic":
        return lambda: {"sum": float(sum(client.gather(client.map(spin, range(24), pure=False))))}, 2
    dataset = opened("tgm", path, catalog=False, chunks={})
    fields = dataset.t
    if what == "numpy":
        import dask.array

        fields = fields.copy(data=dask.array.full(fields.shape, 250.0, chunks=fields.chunks))
    dims = [dim for dim in fields.dims if dim not in ("latitude", "longitude")]
    return lambda: {"sum": float(fields.mean(dims).compute().values.sum())}, 2


@work
def to_zarr(source, folder):
    """What xarray opens, written as Zarr."""
    import xarray

    def write():
        options = {"engine": "cfgrib", "backend_kwargs": {"indexpath": ""}} if source.endswith(".grib2") else {}
        with xarray.open_dataset(source, chunks=None, **options) as dataset:
            dataset.to_zarr(folder, consolidated=False)

    return write, 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(*WORK[sys.argv[1]](*sys.argv[2:]))))
