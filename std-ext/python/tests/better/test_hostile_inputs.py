"""Lengths that objects of a program state, gaps of masked arrays, and file objects that use their own reader."""

import io

import numpy as np
import pytest
import tgmio as tgm


class Long:
    """A sequence that states a length, and has items without an end."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return 1


ENDLESS = [range(2**45), range(2**62), Long(2**60), Long(2**45), Long(3)]


def descriptor(**keys):
    return {"type": "ntensor", "shape": [2], "dtype": "float32"} | keys


def sequences():
    """Sequences by subclassing, as programs write them."""
    from collections.abc import Sequence

    Sequence.register(Long)
    return ENDLESS


@pytest.mark.parametrize("endless", sequences(), ids=["range", "longer range", "2^60", "2^45", "lie"])
@pytest.mark.parametrize(
    "use",
    [
        lambda x: tgm.encode({}, [(descriptor(shape=x), b"")]),
        lambda x: tgm.encode({}, [(descriptor(strides=x), bytes(8))]),
        lambda x: tgm.decode_range(tgm.encode({}, [(None, np.zeros(2))]), 0, x),
        lambda x: tgm.TensogramFile.open(__file__).file_decode_object_batch(x, 0),
        lambda x: tgm.to_grib(x),
        lambda x: tgm.to_grib([x]),
    ],
    ids=["shape", "strides", "ranges", "batch", "messages", "bytes of a message"],
)
def test_lengths_are_not_believed(use, endless):
    with pytest.raises((ValueError, TypeError, OverflowError, OSError)):
        use(endless)


MASK = [True, False, True, False]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "complex64", "complex128"])
def test_gaps_of_floats_are_nan_masks(dtype):
    values = np.ma.masked_array(np.arange(4).astype(dtype), MASK)
    with pytest.raises(ValueError, match="allow_nan"):
        tgm.encode({}, [(None, values)])
    found = tgm.decode(tgm.encode({}, [(None, values)], allow_nan=True)).objects[0][1]
    assert np.isnan(found).tolist() == MASK and found[1] == 1 and found[3] == 3


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "bool"])
def test_gaps_of_others_are_an_error(dtype):
    values = np.ma.masked_array(np.arange(4).astype(dtype), MASK)
    stream = tgm.StreamingEncoder({})
    for use in (
        lambda: tgm.encode({}, [(None, values)]),
        lambda: stream.write_object(descriptor(shape=[4], dtype="bitmask" if dtype == "bool" else dtype), values),
    ):
        with pytest.raises(ValueError, match=r"\.filled\("):
            use()


def test_a_masked_array_without_gaps_is_its_data():
    for mask in (np.ma.nomask, [False] * 4):
        values = np.ma.masked_array(np.arange(4), mask)
        assert tgm.decode(tgm.encode({}, [(None, values)])).objects[0][1].tolist() == [0, 1, 2, 3]


class Recursive(io.BytesIO):
    reader = None

    def read(self, size=-1):
        if self.reader is not None:
            self.use(self.reader)
        return super().read(size)


@pytest.mark.parametrize("use", [len, lambda r: r[0], lambda r: r.query("a=1")], ids=["len", "index", "query"])
def test_a_file_object_that_uses_its_own_reader(use):
    file = Recursive(tgm.encode({}, [(None, np.zeros(30_000))]) * 2)
    file.use = use
    # The second message is searched for at the first call.
    source = tgm.open(file)
    file.reader = source
    with pytest.raises(RuntimeError, match="uses the reader that called it"):
        len(source)
    file.reader = None
    assert len(source) == 2


def test_a_stream_that_uses_its_own_reader():
    stream = Recursive(tgm.encode({}, [(None, np.zeros(3))]))
    stream.use = next
    messages = tgm.MessageStream(stream)
    stream.reader = messages
    with pytest.raises(RuntimeError, match="uses the reader that called it"):
        next(messages)
    stream.reader = None
    assert len(list(messages)) == 1


def test_what_says_that_it_is_long_does_not_end_the_process(tmp_path):
    native = __import__("tgmio._native")._native
    tgm.save(tmp_path / "a.tgm", [np.zeros(3)])
    (dataset,) = native._open_datasets([str(tmp_path / "a.tgm")], {})
    name, long = dataset.variables[0]["name"], range(2**45)
    for call in (
        lambda: dataset.read(name, (long,)),
        lambda: dataset.reduce(name, (long,), [], ["mean"]),
        lambda: dataset.reduce(name, (slice(None),), long, ["mean"]),
        lambda: native._open_datasets(long, {}),
        lambda: native._dataset_groups(long, {}),
        lambda: native._decode_frame(b"", long),
        lambda: native._varying_keys(long),
        lambda: native._tree(long),
        lambda: native._Catalog.build(str(tmp_path / "a.tgm"), long),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            call()
