"""tgm.open: one class for every source, and the same answers from each."""

import base64
import builtins
import functools
import gc
import importlib.util
import io
import mmap
import pathlib
import pickle
import sys
import threading

import numpy as np
import pytest

import server
import support
import tgmio as tgm

REMOTE = {row["name"]: row["state"] for row in tgm.doctor()["features"]}["remote"] == "on"
FSSPEC = importlib.util.find_spec("fsspec") is not None

# Larger than what is read whole, so that payloads stay where they are; and a small one.
SHAPES = {"long": (200, 1000), "short": (3, 4)}
STAGES = {
    "plain": {},
    "big endian": {"byte_order": "big"},
    "packed": {"encoding": "simple_packing", "sp_bits_per_value": 16},
    "szip": support.LOSSY["packed szip"][0],
    "zstd": {"compression": "zstd"},
    "shuffled": {"filter": "shuffle", "shuffle_element_size": 8, "compression": "lz4"},
    "zfp": support.LOSSY["zfp rate"][0],
}


def field(size, step):
    """Values without a pattern, of 8 bytes each."""
    return np.random.default_rng(step).normal(280, 10, SHAPES[size])


@functools.cache
def message(size, stage, step):
    """Two objects: the field, and truth values."""
    values = field(size, step)
    keys = {"type": "ntensor", "shape": list(values.shape), "dtype": "float64", **STAGES[stage]}
    data = values.astype(">f8") if stage == "big endian" else values
    base = [{"mars": {"param": "2t"}, "step": step}, {"name": "mask"}]
    return tgm.encode({"base": base, "run": step}, [(keys, data), (None, values > 280)])


class Plain:
    """A file object with read and seek, and nothing else. It counts the bytes that it gives."""

    def __init__(self, data):
        self.file, self.taken = io.BytesIO(data), 0

    def seek(self, *place):
        return self.file.seek(*place)

    def read(self, size):
        found = self.file.read(size)
        self.taken += len(found)
        return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    with server.serving(folder) as running:
        yield running


def fsspec_file(data, folder):
    import fsspec

    fsspec.filesystem("memory").pipe("/archive.tgm", data)
    return fsspec.open("memory://archive.tgm", "rb")


def mapped(path):
    with builtins.open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


# How each kind of source is made of the bytes of an archive. `path` is a file of them.
SOURCES = {
    "bytes": lambda data, path, place: data,
    "bytearray": lambda data, path, place: bytearray(data),
    "memoryview": lambda data, path, place: memoryview(data),
    "array": lambda data, path, place: np.frombuffer(data, "uint8"),
    "mmap": lambda data, path, place: mapped(path),
    "path": lambda data, path, place: path,
    "text": lambda data, path, place: str(path),
    "file URL": lambda data, path, place: path.as_uri(),
    "BytesIO": lambda data, path, place: io.BytesIO(data),
    "file": lambda data, path, place: builtins.open(path, "rb"),
    "unbuffered file": lambda data, path, place: builtins.open(path, "rb", buffering=0),
    "read and seek": lambda data, path, place: Plain(data),
    "address": lambda data, path, place: place.url(path.name),
    "OpenFile": lambda data, path, place: fsspec_file(data, path.parent),
    "memory://": lambda data, path, place: fsspec_file(data, path.parent) and "memory://archive.tgm",
}


@pytest.fixture(params=[*SOURCES, "path, mapped"])
def source(request, place):
    """Opens the bytes of an archive from this kind of source."""
    name, opened = request.param, []
    if name == "address" and not REMOTE:
        pytest.skip("built without remote files")
    if name in ("OpenFile", "memory://") and not FSSPEC:
        pytest.skip("fsspec is not installed")

    def open_it(data):
        path = pathlib.Path(place.folder) / "archive.tgm"
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        if name == "path, mapped":
            archive = tgm.open(path, mmap=True)
        else:
            made = SOURCES[name](data, path, place)
            opened.append(made)
            archive = tgm.open(made)
        return archive

    open_it.kind = name
    yield open_it
    for made in opened:
        if name in ("file", "unbuffered file"):
            made.close()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("size", SHAPES)
def test_every_source_gives_the_same(source, size, stage):
    data = b"".join(message(size, stage, step) for step in range(3))
    expected = tgm.decode(message(size, stage, 1)).objects[0][1]
    archive = source(data)
    assert isinstance(archive, tgm.Archive) and len(archive) == 3
    assert [each.metadata["run"] for each in archive] == [0, 1, 2]
    assert [each.index for each in archive[::-2]] == [2, 0] and archive[-1].index == 2
    one = archive[1]
    assert bytes(one) == message(size, stage, 1) and one.nbytes == len(bytes(one)) and len(one) == 2
    found = one.objects["2t"]
    assert (found.name, found.index, found.shape, found.dtype) == ("2t", 0, expected.shape, np.float64)
    assert found.nbytes == expected.nbytes and found.metadata["step"] == 1
    keys = STAGES[stage]
    stages = [keys.get(key, "none") for key in ("encoding", "filter", "compression")]
    assert found.stages == tuple(name for name in stages if name != "none")
    for values in (found.read(), found.array, np.asarray(found), found.decode(), found[...], found[:], one.decode().objects[0][1]):
        assert values.dtype == np.float64 and np.array_equal(values, expected)
    assert found.read().flags.writeable and not found.array.flags.writeable
    for index in (np.s_[1], np.s_[1:3, ::2], np.s_[-1, -1], np.s_[::-1, 1], np.s_[..., 2], np.s_[[0, 2]]):
        assert np.array_equal(found.read(index), expected[index]) and np.array_equal(found[index], expected[index])
        assert np.array_equal(found.read(index, dtype="float32"), expected[index].astype("float32"))
        out = np.empty_like(expected[index])
        if out.ndim:
            assert found.read(index, out=out) is out and np.array_equal(out, expected[index])
    parts = found.read(ranges=[(2, 3), (0, 1)])
    assert [part.tolist() for part in parts] == [expected.ravel()[2:5].tolist(), expected.ravel()[:1].tolist()]
    for dtype in ("float64", "float32"):
        out = np.empty(expected.shape, dtype)
        assert found.read(out=out) is out and np.array_equal(out, expected.astype(dtype))
        assert np.array_equal(found.read(dtype=dtype), out)
    assert np.array_equal(found.read(checked=True, threads=2), expected)
    assert np.array_equal(found.read(np.s_[1:2], checked=True), expected[1:2])
    assert found.read(out=np.empty(expected.shape), checked=True).tolist() == expected.tolist()
    truths = one.objects["mask"].read()
    assert truths.dtype == bool and np.array_equal(truths, field(size, 1) > 280)
    assert [each.metadata["step"] for each in archive.query("step>=1 and mars.param=2t")] == [1, 2]


def test_archives_are_closed_and_pickled(source):
    data = message("long", "plain", 1) * 2
    with source(data) as archive:
        found = archive[1].objects[0]
        if source.kind not in ("file", "unbuffered file", "read and seek", "mmap"):
            again = pickle.loads(pickle.dumps([archive, archive[1], found]))
            assert len(again[0]) == 2 and again[1].metadata["run"] == 1
            assert np.array_equal(again[2].read(), found.read())
    assert archive.closed and "closed" in repr(archive)
    for use in (len, lambda it: it[0], lambda it: it.query("run=1"), iter):
        with pytest.raises(ValueError, match="closed"):
            use(archive)
    archive.close()
    if source.kind not in ("OpenFile", "memory://"):
        assert np.array_equal(found.read(), field("long", 1)), "what was taken stays usable"


def test_an_empty_source_is_an_archive_without_messages(source):
    if source.kind in ("address", "mmap", "array"):
        pytest.skip("an empty answer is an error, and an empty map cannot be made")
    archive = source(b"")
    assert len(archive) == 0 and list(archive) == [] and archive.query("a=1") == []
    with pytest.raises(IndexError, match="out of range"):
        archive[0]


FOREIGN = {
    "GRIB": b"GRIB\0\0\0\2" + bytes(100),
    "NetCDF": b"CDF\x01" + bytes(100),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "numpy": b"\x93NUMPY\1\0" + bytes(100),
    "an archive": b"PK\x03\x04" + bytes(100),
    "gzip": b"\x1f\x8b\x08" + bytes(100),
    "HTML": b"\n <!DOCTYPE html><html><body>Not found</body></html>",
    "begins with 7b 22": b'{"a": 1}',
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    "begins with 00 01 02": bytes(range(200)),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_sources_of_other_formats_are_refused_by_name(source, kind):
    with pytest.raises((tgm.FramingError, tgm.RemoteError), match="not a Tensogram file") as caught:
        source(FOREIGN[kind])
    assert kind in str(caught.value) or source.kind == "address" and "no message" in str(caught.value)


def test_bytes_before_a_message_are_no_other_format(source):
    assert len(source(b"<html>" + message("short", "plain", 1))) == 1


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tgm.open(tmp_path / "absent")
    assert caught.value.filename == str(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        tgm.open(tmp_path)
    (tmp_path / "zarr.json").touch()
    with pytest.raises(IsADirectoryError, match="Zarr"):
        tgm.open(tmp_path)
    for wrong in (5, None, object(), ["x"]):
        with pytest.raises(TypeError, match="is expected, not"):
            tgm.open(wrong)
    with pytest.raises(TypeError, match="mode 'rb'"):
        tgm.open(io.StringIO("text"))
    for options in ({"mmap": True}, {"storage_options": {}}):
        with pytest.raises(ValueError, match="only for paths"):
            tgm.open(b"", **options)


@pytest.mark.skipif(not REMOTE, reason="built without remote files")
def test_an_empty_answer_is_an_error(place):
    (pathlib.Path(place.folder) / "empty").touch()
    with pytest.raises((tgm.FramingError, OSError)):
        tgm.open(place.url("empty"))


def test_only_what_is_asked_for_is_read():
    data = message("long", "plain", 1)
    file = Plain(data)
    found = tgm.open(file)[0].objects[0]
    assert found.shape and found.stages == () and found.metadata and found.chunks
    assert file.taken < 20_000
    found.read(np.s_[100, :10])
    assert file.taken < 40_000
    found.read()
    assert file.taken < len(data) + 40_000


def test_names():
    base = [{"name": "a"}, {"mars": {"param": "b"}}, {"shortName": "c"}, {"long_name": "d"}, {"param": 167}, {}, {"name": "a"}]
    one = tgm.Message(tgm.encode({"base": base}, [(None, np.zeros(1))] * 7))
    assert one.objects.names == ["a", "b", "c", "d", "167", None, "a"]
    assert [one.objects[name].index for name in ("b", "c", "d", "167")] == [1, 2, 3, 4]
    assert "b" in one.objects and "z" not in one.objects and 3 not in one.objects
    with pytest.raises(KeyError, match="2 objects are named.*0, 6"):
        one.objects["a"]
    with pytest.raises(KeyError, match="none of 7 objects is named.*b, c"):
        one.objects["z"]


def test_chunks_are_where_the_codec_can_cut():
    shape = (10, 181, 360)
    array = np.zeros(shape)  # 5 MB
    plain = {"type": "ntensor", "shape": list(shape), "dtype": "float64"}
    for keys, is_cut in [
        ({}, True),
        (support.LOSSY["packed szip"][0], True),
        (support.LOSSY["zfp rate"][0], True),
        (support.LOSSY["zfp accuracy"][0], False),
        ({"compression": "zstd"}, False),
        ({"filter": "shuffle", "shuffle_element_size": 8}, False),
    ]:
        found = tgm.Message(tgm.encode({}, [({**plain, **keys}, array)]))[0]
        assert (found.chunks != shape) == is_cut, keys
        assert len(found.chunks) == 3 and all(1 <= part <= whole for part, whole in zip(found.chunks, shape))
        if is_cut:
            assert 1 << 20 <= np.prod(found.chunks) * 8 <= 8 << 20
    assert tgm.Message(tgm.encode({}, [(None, np.zeros((3, 4)))]))[0].chunks == (3, 4)
    wide = tgm.Message(tgm.encode({}, [(None, np.zeros((2, 3, 1 << 20), "int16"))]))[0]
    assert wide.chunks == (1, 2, 1 << 20)


def test_wrong_requests():
    found = tgm.Message(tgm.encode({}, [(None, np.arange(6).reshape(2, 3)), (None, np.zeros(2, "complex64"))]))
    number, complex_ = found[0], found[1]
    for request, error, match in [
        ({"dtype": "int8"}, ValueError, "can be read as int64, float32 or float64, not as int8"),
        ({"dtype": ">f4"}, ValueError, "not as >f4"),
        ({"dtype": "nosuch"}, TypeError, "nosuch"),
        ({"out": np.empty(3)}, ValueError, "shape"),
        ({"out": np.empty((2, 3), "int8")}, ValueError, "dtype int64 is expected"),
        ({"out": [1]}, TypeError, "a numpy array is expected"),
        ({"out": np.empty((2, 3), "float32"), "dtype": "float64"}, ValueError, "not the one"),
        ({"index": (0, 0), "ranges": [(0, 1)]}, TypeError, "not both"),
        ({"index": (0, 5)}, IndexError, "out of bounds"),
        ({"index": np.s_[0], "out": np.empty(2)}, ValueError, "shape"),
        ({"index": np.s_[0], "out": np.empty(3, "int8")}, ValueError, "dtype"),
        ({"ranges": [(5, 2)]}, ValueError, "exceeds"),
        ({"ranges": 5}, TypeError, "sequence"),
    ]:
        with pytest.raises(error, match=match):
            number.read(**request)
    with pytest.raises(ValueError, match="as complex64, not as float32"):
        complex_.read(dtype="float32")


def test_a_flipped_bit_of_metadata_is_told(source):
    data = message("long", "plain", 1)
    at = data.index(b"param") + 1
    bad = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    archive = source(bad)
    for use in (lambda: archive[0].metadata, lambda: archive[0].objects[0].metadata, lambda: archive.query("step=1")):
        with pytest.raises(tgm.HashMismatchError):
            use()


def test_a_flipped_bit_of_a_payload_is_told_when_checked(source):
    data = message("long", "plain", 1)
    at = data.index(field("long", 1)[100].tobytes())
    archive = source(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    found = archive[0].objects[0]
    found.read()
    for request in ({}, {"index": np.s_[:1]}, {"out": np.empty(found.shape)}, {"ranges": [(0, 1)]}, {"dtype": "float32"}):
        with pytest.raises(tgm.HashMismatchError):
            found.read(**request, checked=True)


@pytest.mark.parametrize("size", SHAPES)
def test_a_message_is_verified_where_it_lies(source, size):
    data = message(size, "plain", 1)
    source(data)[0].verify()
    for part in (field(size, 1)[-1].tobytes(), b"param"):
        at = data.index(part)
        with pytest.raises(tgm.HashMismatchError):
            source(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])[0].verify()
    with pytest.raises(tgm.MissingHashError):
        source(tgm.encode({}, [(None, field(size, 1))], hash=None))[0].verify()


def test_a_file_that_is_cut_is_an_error_and_no_zeros(tmp_path):
    path = tmp_path / "x.tgm"
    path.write_bytes(message("long", "plain", 1))
    found = tgm.open(path)[0].objects[0]
    with builtins.open(path, "r+b") as file:
        file.truncate(500_000)
    for read in (found.read, lambda: found.read(out=np.empty(found.shape)), lambda: found.array):
        with pytest.raises((ValueError, OSError)):
            read()


def test_threads_share_an_archive(source):
    archive = source(b"".join(message("long", "zstd", step) for step in range(4)))
    wrong = []

    def work():
        for step in range(4):
            if not np.array_equal(archive[step].objects[0].read(), field("long", step)):
                wrong.append(step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert wrong == []


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("stage, copies", [("plain", 1), ("zstd", 2)])
@pytest.mark.parametrize("kind", ["path", "file"])
def test_values_are_in_memory_once(tmp_path, stage, copies, kind):
    """Values that are stored as they are go into the array; others take their payload and the array."""
    values = np.random.default_rng(0).normal(size=2 << 20)
    path = tmp_path / "x.tgm"
    tgm.save(path, values, encoding=tgm.Encoding(compression=None if stage == "plain" else "zstd"))
    del values
    code = """if True:
        import resource, sys, numpy as np, tgmio as tgm
        source = sys.argv[1] if sys.argv[2] == "path" else open(sys.argv[1], "rb")
        found = tgm.open(source)[0].objects[0]
        np.zeros(1), found.shape
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        before = peak()
        values = found.read()
        print((peak() - before) / values.nbytes)
    """
    assert float(support.python(code, str(path), kind)) < copies + 0.3


def test_a_box_goes_into_an_array_of_the_caller(tmp_path):
    path = tmp_path / "x.tgm"
    path.write_bytes(message("long", "plain", 1))
    expected = field("long", 1)[10:20, ::4]
    for source in (path, path.read_bytes(), bytearray(path.read_bytes()), Plain(path.read_bytes())):
        found = tgm.open(source)[0].objects[0]
        for out in (np.empty((10, 250)), np.empty((10, 250), "float32"), np.empty((250, 10)).T, np.empty((10, 500))[:, ::2]):
            assert found.read(np.s_[10:20, ::4], out=out, checked=True) is out
            assert np.array_equal(out, expected.astype(out.dtype))
        fixed = np.empty((10, 250))
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            found.read(np.s_[10:20, ::4], out=fixed)


def test_a_missing_digest_names_its_object():
    found = tgm.open(tgm.encode({}, [(None, np.zeros(2))] * 3, hash=None))[0].objects[2]
    for request in ({}, {"index": np.s_[:1]}, {"ranges": [(0, 1)]}, {"out": np.empty(2)}):
        with pytest.raises(tgm.MissingHashError, match="object_index=2"):
            found.read(**request, checked=True)


def test_other_threads_run_while_a_buffer_that_may_change_is_searched():
    data = bytearray(message("short", "plain", 1) * 20_000)
    expected = len(message("short", "plain", 1))
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.0005):
            ticks.append(1)

    for work in (
        lambda: len(tgm.scan(data)),
        lambda: len(tgm.scan(data, as_array=True)),
        lambda: len(tgm.open(data).query("step=1")),
    ):
        ticks.clear()
        done.clear()
        thread = threading.Thread(target=tick)
        thread.start()
        # Python alone would not let the other thread in so often.
        before = sys.getswitchinterval()
        sys.setswitchinterval(10)
        try:
            assert work() == 20_000
        finally:
            sys.setswitchinterval(before)
        seen = len(ticks)
        done.set()
        thread.join()
        assert seen > 0
    assert tgm.scan(data)[7] == (7 * expected, expected)
    assert tgm.scan(data, as_array=True)[7].tolist() == [7 * expected, expected]
    assert tgm.scan(data, as_array=True).dtype == np.int64 and tgm.scan(b"", as_array=True).shape == (0, 2)


def test_small_pictures():
    values = np.linspace(0, 1, 200 * 500).reshape(200, 500)
    values[3, 3] = np.nan
    one = tgm.open(tgm.encode({}, [(None, values), (None, np.arange(5)), (None, values > 0.5)], allow_nan=True))[0]
    text = one.objects[0]._repr_html_()
    assert text.count("<img ") == 1 and 'alt="values from 0 to 0.99' in text and len(text) < 40_000
    png = base64.b64decode(text.split("base64,")[1].split('"')[0])
    assert png.startswith(b"\x89PNG") and png[16:24] == (167).to_bytes(4, "big") + (67).to_bytes(4, "big")
    assert "<img " not in one.objects[1]._repr_html_(), "a line is not a picture"
    assert one._repr_html_().count("<img ") == 2
    large = tgm.encode({}, [(None, np.zeros((1100, 1000)))])
    assert "<img " not in tgm.open(large)[0].objects[0]._repr_html_(), "of few values alone"
    for values in (np.full((3, 3), np.nan), np.zeros((0, 3)), np.zeros((3, 3), "complex64")):
        found = tgm.open(tgm.encode({}, [(None, values)], allow_nan=True))[0].objects[0]
        assert "<img " not in found._repr_html_()
    assert "<img " in tgm.open(tgm.encode({}, [(None, np.array([[-1e308, 1e308], [0, 0]]))]))[0].objects[0]._repr_html_()


def test_pictures_of_notebooks():
    archive = tgm.open(message("long", "plain", 1) * 30)
    text = archive._repr_html_()
    assert "and 10 more" in text and "1,62" in text and "2t, mask" in text
    assert "1,600,000" in archive[0]._repr_html_() and "1,600,000" in archive[0].objects[0]._repr_html_()


def test_nothing_leaks(tmp_path):
    path = tmp_path / "x.tgm"
    path.write_bytes(message("long", "plain", 1))

    def use():
        with tgm.open(path) as archive:
            found = archive[0].objects[0]
            found.read(), found[1, ::2], found.metadata, archive.query("step=1")

    for _ in range(20):
        use()
    gc.collect()
    before = support.resident()
    for _ in range(200):
        use()
    gc.collect()
    assert support.resident() - before < 4 << 20
