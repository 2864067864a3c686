"""Objects of truth values are arrays of bool of their shape, by every route to values."""

import asyncio
import io

import numpy as np
import pytest
import tgmio as tgm

SHAPES = [(0,), (1,), (8,), (21,), (4, 5), (2, 3, 3), ()]


def out_of(obj):
    return obj.decode(out=np.ones(obj.shape, bool))


def of_memoryview(obj):
    view = memoryview(obj)
    assert view.format == "?" and view.shape == obj.shape
    return np.asarray(view)


OBJECT_ROUTES = {
    "decode": lambda o: o.decode(),
    "out": out_of,
    "array": lambda o: o.array,
    "asarray": np.asarray,
    "memoryview": of_memoryview,
    "index": lambda o: np.asarray(o[...]),
    "dlpack": np.from_dlpack,
}


def in_file(path, route):
    with tgm.TensogramFile.open(path) as file:
        return route(file)


async def asynchronous(path):
    file = await tgm.AsyncTensogramFile.open(str(path))
    return (await file.decode_message(0)).objects[0][1]


MESSAGE_ROUTES = {
    "decode": lambda data, path: tgm.decode(data).objects[0][1],
    "decode_object": lambda data, path: tgm.decode_object(data, 0)[2],
    "decode_with_masks": lambda data, path: tgm.decode_with_masks(data).objects[0][1],
    "iter_messages": lambda data, path: next(iter(tgm.iter_messages(data))).objects[0][1],
    "file": lambda data, path: in_file(path, lambda f: f.decode_message(0).objects[0][1]),
    "file by index": lambda data, path: in_file(path, lambda f: f[0].objects[0][1]),
    "file by iteration": lambda data, path: in_file(path, lambda f: next(iter(f)).objects[0][1]),
    "object of a file": lambda data, path: in_file(path, lambda f: f.file_decode_object(0, 0)["data"]),
    "source": lambda data, path: tgm.open(io.BytesIO(data))[0].objects[0].read(),
    "map": lambda data, path: tgm.open_mmap(path)[0].objects[0].array,
    "asynchronous": lambda data, path: asyncio.run(asynchronous(path)),
}


@pytest.mark.parametrize("compression", ["none", "zstd", "rle", "roaring"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_truth_values_are_bool_by_every_route(shape, compression, tmp_path):
    truths = np.arange(int(np.prod(shape))).reshape(shape) % 3 == 0
    data = tgm.encode({}, [({"compression": compression}, truths)])
    path = tmp_path / "truths.tgm"
    path.write_bytes(data)
    found = {name: route(data, path) for name, route in MESSAGE_ROUTES.items()}
    found |= {name + " of an object": route(tgm.Message(data).objects[0]) for name, route in OBJECT_ROUTES.items()}
    for name, array in found.items():
        assert array.dtype == bool and array.shape == shape and np.array_equal(array, truths), name


def test_out_of_another_type_is_refused():
    obj = tgm.Message(tgm.encode({}, [(None, np.ones(12, bool))])).objects[0]
    for out in (np.empty(2, "uint8"), np.empty(12, "uint8"), np.empty(12, "float32"), np.empty((3, 4), bool)):
        with pytest.raises(ValueError, match="is expected"):
            obj.decode(out=out)
