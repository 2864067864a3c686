"""Memory and references stay level."""

import gc
import sys

import numpy as np
import pytest

import support
import tensogram
from support import message, pair


def growth(work, rounds, warm=200):
    """Growth of resident memory over `rounds` calls, after some to warm up."""
    for _ in range(warm):
        work()
    gc.collect()
    before = support.resident()
    for _ in range(rounds):
        work()
    gc.collect()
    return support.resident() - before


@pytest.fixture(scope="module")
def data():
    return message(pair(np.arange(1000.0), "float64"), meta={"a": {"b": [1, 2, 3]}, "c": "text" * 20})


WORK = {
    "decode": lambda data, path: tensogram.decode(data),
    "metadata": lambda data, path: tensogram.decode_metadata(data).extra,
    "encode": lambda data, path: message(pair([1, 2, 3]), meta={"a": [1, {"b": "c"}]}),
    "iterate": lambda data, path: list(tensogram.iter_messages(data)),
    "open": lambda data, path: tensogram.TensogramFile.open(path)[0],
    "error": lambda data, path: failing(data),
    "stream": lambda data, path: streamed(),
}


def failing(data):
    for call in (
        lambda: tensogram.decode(data[:50]),
        lambda: tensogram.encode({"a": object()}, []),
        lambda: tensogram.decode_object(data, 5),
    ):
        with pytest.raises(ValueError):
            call()


def streamed():
    encoder = tensogram.StreamingEncoder({"a": 1})
    encoder.write_object(*pair([1, 2, 3]))
    return encoder.finish_and_reset()


@pytest.mark.parametrize("name", WORK)
def test_memory_is_level(name, data, one_file):
    rounds = {"open": 10_000, "decode": 10_000}.get(name, 3000)
    assert growth(lambda: WORK[name](data, one_file), rounds) < 3 * 2**20


def test_references_are_level(data):
    values, keys, meta = np.arange(4, dtype="float32"), pair([0] * 4)[0], {"a": "text"}

    def counts():
        return [sys.getrefcount(x) for x in (data, values, keys, meta, None, np.dtype("float32"))]

    tensogram.decode(data), tensogram.encode(meta, [(keys, values)])
    before = counts()
    for _ in range(1000):
        tensogram.decode(data)
        tensogram.encode(meta, [(keys, values)])
        tensogram.decode_range(data, 0, [(0, 10)])
    after = counts()
    assert all(b - a < 20 for a, b in zip(before, after))


@pytest.mark.better
def test_views_are_level(one_file):
    import tgmio as tgm

    if not hasattr(tgm, "open_mmap"):
        pytest.skip("this build has no views")

    def work():
        file = tgm.open_mmap(one_file)
        return [np.asarray(o.array) for m in file for o in m.objects]

    assert growth(work, 10_000) < 3 * 2**20
