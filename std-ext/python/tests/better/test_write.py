"""Writer, save and load."""

import importlib.util
import io
import pickle
import sys
import warnings

import numpy as np
import pytest

import support
import tgmio as tgm

FSSPEC = importlib.util.find_spec("fsspec") is not None


def test_messages_are_there_when_they_are_finished(tmp_path):
    path = tmp_path / "x.tgm"
    with tgm.Writer(path, append=True) as writer:
        assert len(tgm.open(path)) == 0
        array = np.zeros(3)
        for step in range(3):
            writer.begin({"run": step})
            array[:] = step
            writer.object(array, metadata={"name": "a"}, encoding=tgm.Encoding(compression="zstd"))
            array[:] = 9  # what was given before is encoded already
            writer.object(array, metadata={"name": "b"})
            writer.finish()
            assert len(tgm.open(path)) == step + 1
        writer.finish()
    assert writer.closed
    archive = tgm.open(path)
    assert [each.metadata["run"] for each in archive] == [0, 1, 2]
    assert [each.objects["a"].read().tolist() for each in archive] == [[step] * 3 for step in range(3)]
    assert tgm.validate_file(path, "full")["file_issues"] == []


def test_a_file_is_replaced_or_appended_to(tmp_path):
    path = tmp_path / "x.tgm"
    for _ in range(2):
        tgm.save(path, np.zeros(3))
    assert len(tgm.open(path)) == 1
    tgm.save(path, np.ones(3), append=True)
    assert len(tgm.open(path)) == 2
    tgm.save(tmp_path / "new.tgm", np.ones(3), append=True)
    assert len(tgm.open(tmp_path / "new.tgm")) == 1


def test_a_file_appears_when_its_writer_is_closed(tmp_path):
    path = tmp_path / "x.tgm"
    for before in (None, b"old"):
        if before:
            path.write_bytes(before)
        with tgm.Writer(path) as writer:
            for step in range(3):
                writer.object(np.full(3, step))
                writer.finish()
            assert (path.read_bytes() if before else path.exists()) == (before or False)
        assert [found.read()[0] for message in tgm.open(path) for found in message.objects] == [0, 1, 2]
    before = path.read_bytes()
    with pytest.raises(LookupError), tgm.Writer(path) as writer:
        writer.object(np.zeros(3))
        writer.finish()
        raise LookupError
    writer = tgm.Writer(path)
    writer.object(np.zeros(3))
    writer.finish()
    with pytest.warns(ResourceWarning, match="its file is not written"):
        del writer
    assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["x.tgm"]
    with pytest.raises(OSError, match="addresses are read") as raised:
        tgm.Writer("https://user:secret@127.0.0.1:1/x.tgm")
    assert "secret" not in str(raised.value)


def test_an_exception_drops_the_message_that_is_not_finished(tmp_path):
    path = tmp_path / "x.tgm"
    with pytest.raises(LookupError), tgm.Writer(path, append=True) as writer:
        writer.object(np.zeros(3))
        writer.finish()
        writer.object(np.ones(3))
        raise LookupError
    assert len(tgm.open(path)) == 1 and tgm.validate_file(path)["file_issues"] == []


def test_wrong_use(tmp_path):
    writer = tgm.Writer(tmp_path / "x.tgm")
    writer.begin({})
    with pytest.raises(ValueError, match="begun already"):
        writer.begin({})
    writer.close()
    writer.close()
    for use in (writer.begin, writer.finish, lambda: writer.object(np.zeros(3)), writer.__enter__):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(ValueError, match="mode 'ab'"):
        tgm.Writer(io.BytesIO(), append=True)
    with pytest.raises(TypeError):
        tgm.Writer(5)
    with pytest.raises(ValueError, match="not one message|no message|magic|short"):
        tgm.TensogramFile.open(tmp_path / "x.tgm").append_raw(b"nonsense")


class Raw(io.RawIOBase):
    """A file that takes a thousand bytes at a time."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data[:1000])
        return len(data[:1000])


def test_file_objects(tmp_path):
    raw, memory = Raw(), io.BytesIO()
    with open(tmp_path / "x.tgm", "wb") as plain:
        for target in (raw, memory, plain):
            tgm.save(target, np.arange(1000))
            assert not target.closed
    for data in (raw.data, memory.getvalue(), (tmp_path / "x.tgm").read_bytes()):
        assert np.array_equal(tgm.load(data)[0], np.arange(1000))


@pytest.mark.skipif(not FSSPEC, reason="fsspec is not installed")
def test_addresses_of_fsspec():
    import fsspec

    tgm.save("memory://written.tgm", {"a": np.arange(3)})
    tgm.save(fsspec.open("memory://written.tgm", "ab"), np.arange(4), append=True)
    found = tgm.load("memory://written.tgm")
    assert found["a"].tolist() == [0, 1, 2] and found[1].tolist() == [0, 1, 2, 3]


def test_load_gives_back_what_was_saved(tmp_path):
    path = tmp_path / "x.tgm"
    arrays = {"2t": np.random.rand(3, 4).astype("float32"), "mask": np.array([True, False]), "gap": np.array([1, np.nan, np.inf])}
    tgm.save(path, arrays, metadata={"run": 7})
    found = tgm.load(path, checked=True, threads=2)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array, equal_nan=array.dtype.kind == "f")
    assert tgm.open(path)[0].metadata["run"] == 7
    tgm.save(path, [np.zeros(2), [1, 2, 3]])
    assert {key: array.tolist() for key, array in tgm.load(path).items()} == {0: [0, 0], 1: [1, 2, 3]}
    tgm.save(path, {"a": np.zeros(2)})
    tgm.save(path, {"a": np.ones(2), "b": np.ones(3)}, append=True)
    assert set(tgm.load(path)) == {0, 1, "b"}


def test_long_arrays_are_saved_as_short_ones_are(tmp_path):
    """They are written piece by piece, and looked at while they are written."""
    path, long = tmp_path / "x.tgm", np.linspace(-1, 1, 300_000)
    gaps = long.copy()
    gaps[[0, 65_535, 65_536, -1]] = np.nan, np.inf, -np.inf, np.nan
    arrays = {
        "big": long.astype(">f8"), "gaps": gaps, "strided": np.repeat(long, 2)[::2], "short": np.arange(3),
        "masked": np.ma.masked_greater(long, 0.5), "bits": long > 0, "complex": long * 1j, "empty": np.zeros((0, 3)),
    }
    for append in (False, True):
        tgm.save(path, arrays, metadata={"run": 7}, append=append)
    tgm.save(path, long, append=True)
    first, second, third = tgm.open(path)
    for message in (first, second):
        assert message.metadata["run"] == 7
        for name, array in arrays.items():
            found = message.objects[name].read(checked=True)
            assert np.array_equal(found, np.ma.filled(array, np.nan), equal_nan=array.dtype.kind in "fc"), name
    assert np.array_equal(third.objects[0].read(checked=True), long)
    report = tgm.validate_file(path, "full")
    assert report["file_issues"] == [] and [each["issues"] for each in report["messages"]] == [[], [], []]


def test_what_is_refused_leaves_the_file(tmp_path):
    path, long = tmp_path / "x.tgm", np.zeros(300_000)
    tgm.save(path, {"a": long})
    before, deep = path.read_bytes(), []
    for _ in range(500):
        deep = [deep]
    other = {"type": "ntensor", "shape": [7], "dtype": "float64"}
    for given in ({"metadata": {"a": object()}}, {"metadata": {"a": deep}}, {"encoding": other}):
        for append in (False, True):
            with pytest.raises((ValueError, TypeError, RecursionError)):
                tgm.save(path, {"b": long}, append=append, **given)
            assert path.read_bytes() == before, given


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("append", [False, True])
def test_values_that_are_stored_as_they_are_take_no_memory(tmp_path, append):
    code = """if True:
        import resource, sys, numpy as np, tgmio as tgm
        values = np.random.default_rng(0).normal(size=4 << 20)
        tgm.save(sys.argv[1], values[:1000])
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        before = peak()
        tgm.save(sys.argv[1], values, append=sys.argv[2] == "True")
        print((peak() - before) / values.nbytes)
    """
    assert float(support.python(code, str(tmp_path / "x.tgm"), str(append))) < 0.1


def test_an_encoding_for_all_or_by_name():
    file = io.BytesIO()
    arrays = {"a": np.linspace(0, 1, 50), "b": np.arange(50)}
    tgm.save(file, arrays, encoding={"a": tgm.Encoding(bits=16), "b": None})
    assert [found.stages for found in tgm.open(file)[0]] == [("simple_packing",), ()]
    file = io.BytesIO()
    tgm.save(file, arrays, encoding={"compression": "zstd"})
    assert [found.stages for found in tgm.open(file)[0]] == [("zstd",), ("zstd",)]


def test_arrays_of_other_packages():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    file = io.BytesIO()
    tgm.save(file, Array(), encoding=tgm.Encoding(within=0.1))
    assert tgm.load(file)[0].tolist() == [0, 1, 2]


# Pairs whose second is wrong before it is encoded, and while it is.
GOOD = {"type": "ntensor", "shape": [2], "dtype": "float64"}
WRONG = {
    "no type": ({"shape": [2], "dtype": "float64"}, bytes(16)),
    "dtype": ({**GOOD, "dtype": "float65"}, bytes(16)),
    "shape of other things": ({**GOOD, "shape": ["a"]}, bytes(16)),
    "masks": ({**GOOD, "masks": {"nan": 1}}, bytes(16)),
    "length": (GOOD, bytes(15)),
    "stage": ({**GOOD, "filter": "sieve"}, bytes(16)),
}


def second_of(encoder, write, pair):
    encoder.write_object(GOOD, bytes(16))
    getattr(encoder, write)(*pair)


ROUTES = {
    "encode": lambda path, pair: tgm.encode({}, [(GOOD, bytes(16)), pair]),
    "encode_pre_encoded": lambda path, pair: tgm.encode_pre_encoded({}, [(GOOD, bytes(16)), pair]),
    "append": lambda path, pair: tgm.TensogramFile.create(path).append({}, [(GOOD, bytes(16)), pair]),
    "write_object": lambda path, pair: second_of(tgm.StreamingEncoder({}), "write_object", pair),
    "write_object_pre_encoded": lambda path, pair: second_of(tgm.StreamingEncoder({}), "write_object_pre_encoded", pair),
    "write_object to a file": lambda path, pair: second_of(
        tgm.StreamingEncoder({}, file=io.BytesIO()), "write_object", pair
    ),
    "Writer.object": lambda path, pair: writer_of_two(path, pair),
}


def writer_of_two(path, pair):
    with tgm.Writer(path) as writer:
        writer.object(np.zeros(2))
        writer.object(pair[1], encoding=pair[0])


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("wrong", WRONG)
def test_errors_name_the_object(route, wrong, tmp_path):
    with pytest.raises((ValueError, TypeError)) as error:
        ROUTES[route](tmp_path / "a.tgm", WRONG[wrong])
    assert str(error.value).count("object 1: ") == 1, str(error.value)
    assert error.value.object_index in (1, None)


@pytest.mark.parametrize("pair", [7, (GOOD,)])
def test_what_is_not_a_pair_is_named(pair):
    with pytest.raises(ValueError, match="object 1: expected a tuple"):
        tgm.encode({}, [(GOOD, bytes(16)), pair])


def test_a_refused_object_leaves_no_metadata(tmp_path):
    packed = tgm.Encoding(bits=8)
    refused = [
        (np.array(["a"]), None, ValueError),
        (np.ma.array([1, 2], mask=[0, 1]), None, ValueError),
        (np.array([-1.7e308, 1.7e308]), packed, ValueError),
        (np.arange(3), packed, ValueError),
        (b"abcd", None, TypeError),
    ]
    with tgm.Writer(tmp_path / "a.tgm") as writer:
        for array, encoding, error in refused:
            with pytest.raises(error):
                writer.object(array, encoding=encoding, metadata={"name": "bad"})
        writer.object(np.arange(3))
        with pytest.raises(ValueError):
            writer.object(np.arange(3), metadata={"name": {1, 2}})
        writer.object(np.arange(4), metadata={"name": "good", "a.b": 1})
    found = tgm.load(tmp_path / "a.tgm")
    assert [*found] == [0, "good"] and found["good"].size == 4
    assert tgm.open(tmp_path / "a.tgm")[0].objects[1].metadata["a.b"] == 1


def test_names_that_save_does_not_know(tmp_path):
    with pytest.raises(TypeError, match="names of arrays are text, not 1"):
        tgm.save(tmp_path / "a.tgm", {1: np.zeros(1)})
    with pytest.raises(ValueError, match="argument 'encoding': no array has the name 'b'"):
        tgm.save(tmp_path / "a.tgm", {"a": np.zeros(1)}, encoding={"b": tgm.Encoding(bits=8)})
    assert not (tmp_path / "a.tgm").exists()


def test_writers_do_not_pickle():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(tgm.Writer(io.BytesIO()))


def test_a_writer_that_is_not_closed_is_told():
    writer = tgm.Writer(io.BytesIO())
    writer.object(np.zeros(2))
    with pytest.warns(ResourceWarning, match="its last message is lost"):
        del writer
    writer = tgm.Writer(io.BytesIO())
    writer.object(np.zeros(2))
    writer.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del writer


def complex_arrays():
    nan, inf = np.nan, np.inf
    odd = np.array([0xFFF8000000000001], "u8").view("f8")[0]
    parts = [(1, inf), (1, nan), (nan, 2), (nan, inf), (inf, nan), (-inf, inf), (nan, nan), (inf, inf), (0, -0.0), (odd, 3)]
    wide = np.zeros(len(parts), "c16")
    wide.real, wide.imag = zip(*parts)
    narrow = np.zeros(len(parts), "c8")
    with np.errstate(invalid="ignore"):
        narrow.real, narrow.imag = wide.real.astype("f4"), wide.imag.astype("f4")
    for array in (wide, narrow):
        yield from (array, array[:1], array[6:8], array.astype(array.dtype.newbyteorder()), np.tile(array, 30_000))


SAVED = {
    "save": lambda path, array, encoding: tgm.save(path, {"a": array}, encoding=encoding),
    "save, appended": lambda path, array, encoding: tgm.save(path, array, encoding=encoding, append=True),
    "save to a file object": lambda path, array, encoding: saved_to_object(path, array, encoding),
    "Writer": lambda path, array, encoding: writer_of_one(path, array, encoding, False),
    "Writer, appended": lambda path, array, encoding: writer_of_one(path, array, encoding, True),
}


def saved_to_object(path, array, encoding):
    with open(path, "wb") as file:
        tgm.save(file, array, encoding=encoding)


def writer_of_one(path, array, encoding, append):
    with tgm.Writer(path, append=append) as writer:
        writer.object(array, encoding=encoding)


@pytest.mark.parametrize("encoding", [None, tgm.Encoding(compression="zstd", shuffle=True)])
@pytest.mark.parametrize("route", SAVED)
def test_complex_numbers_keep_the_bits_of_both_parts(tmp_path, route, encoding):
    for number, array in enumerate(complex_arrays()):
        path = tmp_path / f"{number}.tgm"
        SAVED[route](path, array, encoding)
        native = array.astype(array.dtype.newbyteorder("="))
        found = tgm.open(path)[0].objects[0].read()
        assert found.dtype == native.dtype and found.tobytes() == native.tobytes()
        [(_, again)] = tgm.decode(path.read_bytes()).objects
        assert again.tobytes() == native.tobytes()
    # What masks give back as it is, has masks.
    SAVED[route](tmp_path / "canonical.tgm", native[6:8], encoding)
    assert tgm.validate_file(tmp_path / "canonical.tgm", "full")["messages"][0]["issues"] == []
