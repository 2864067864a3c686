"""Views: messages and objects over a map or a caller's buffer, without a copy."""

import gc
import mmap
import pickle
import sys

import numpy as np
import pytest

import support
import tgmio as tgm
from support import descriptor, message, pair

pytestmark = pytest.mark.skipif(not hasattr(tgm, "open_mmap"), reason="this build has no views")

VALUES = np.arange(2 * 3 * 4, dtype="float32").reshape(2, 3, 4)


@pytest.fixture
def path(tmp_path):
    """Three messages: each with a plain object, a packed one, and one of zstd."""
    path = tmp_path / "x.tgm"
    with tgm.TensogramFile.create(path) as file:
        for i in range(3):
            file.append(
                {"base": [{"mars": {"param": "2t", "step": i * 12}}, {"mars": {"param": "10u"}}, {}], "n": i},
                [
                    pair(VALUES + i),
                    (descriptor([24], "float64", **support.LOSSY["packed"][0]), np.arange(24.0)),
                    (descriptor([2, 3, 4], "float32", compression="zstd"), VALUES),
                ],
            )
    return path


@pytest.fixture
def data(path):
    return path.read_bytes()[: tgm.scan(path.read_bytes())[0][1]]


class TestMessage:
    """tgm.Message."""

    def test_of_bytes(self, data):
        view = tgm.Message(data)
        assert len(view.objects) == 3 and view.metadata["n"] == 0
        assert np.array_equal(view.objects[0].array, VALUES)
        assert view.objects[-1].shape == (2, 3, 4) if isinstance(view.objects[-1].shape, tuple) else True

    @pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "uint8")])
    def test_of_any_buffer(self, data, wrap):
        buffer = wrap(data)
        array = tgm.Message(buffer).objects[0].array
        assert np.array_equal(array, VALUES) and not array.flags.writeable and not array.flags.owndata
        if not isinstance(buffer, bytearray):
            assert np.shares_memory(array, np.frombuffer(buffer, "uint8"))

    @pytest.mark.parametrize("wrong", [b"", b"TENSOGRM", bytes(100), "text", None, 1])
    def test_of_no_message(self, wrong):
        with pytest.raises((ValueError, TypeError)):
            tgm.Message(wrong)

    def test_bytearray_is_locked_or_copied(self, data):
        buffer = bytearray(data)
        array = tgm.Message(buffer).objects[0].array
        try:
            buffer.extend(bytes(100000))
        except BufferError:
            pass
        assert array.shape == (2, 3, 4) and array.sum() is not None
        del array
        gc.collect()
        buffer.extend(b"x")

    def test_map_stays(self, path):
        with open(path, "rb") as file:
            map_ = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        array = tgm.Message(map_).objects[0].array
        try:
            map_.close()
        except BufferError:
            pass
        assert np.array_equal(array, VALUES)


class TestArray:
    """obj.array, the buffer protocol, DLPack."""

    def test_view_outlives_everything(self, path):
        array = tgm.open_mmap(path)[1].objects[0].array
        gc.collect()
        assert np.array_equal(array, VALUES + 1)
        assert not array.flags.writeable and not array.flags.owndata and array.base is not None
        with pytest.raises(ValueError):
            array[0] = 1

    def test_buffer_goes_with_its_last_view(self, data):
        buffer = np.frombuffer(data, "uint8").copy()
        before = sys.getrefcount(buffer)
        array = tgm.Message(buffer).objects[0].array
        assert sys.getrefcount(buffer) > before or not np.shares_memory(array, buffer)
        del array
        gc.collect()
        assert sys.getrefcount(buffer) == before

    def test_asarray(self, data):
        array = np.asarray(tgm.Message(data).objects[0])
        assert np.array_equal(array, VALUES) and not array.flags.writeable

    def test_encoded_objects_are_decoded(self, data):
        objects = tgm.Message(data).objects
        assert np.array_equal(objects[2].array, VALUES)
        assert np.max(np.abs(objects[1].array - np.arange(24))) < 0.01

    def test_memoryview(self, data):
        view = memoryview(tgm.Message(data).objects[0])
        assert view.readonly and view.shape == (2, 3, 4) and view.format == "f" and view.strides == (48, 16, 4)
        assert view.tolist() == VALUES.tolist()

    def test_dlpack(self, data):
        tensor = tgm.Message(data).objects[0]
        assert tensor.__dlpack_device__() == (1, 0)
        array = np.from_dlpack(tensor)
        assert np.array_equal(array, VALUES)

    @pytest.mark.parametrize("dtype", support.WIDTHS)
    def test_dtypes(self, dtype):
        width = support.WIDTHS[dtype]
        data = tgm.encode({}, [(descriptor([3, 5], dtype), bytes(range(15)) * width)])
        array = tgm.Message(data).objects[0].array
        expected = tgm.decode(data).objects[0][1]
        assert array.shape == (3, 5) and array.tobytes() == expected.tobytes() and array.dtype == expected.dtype

    @pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 8])
    def test_shapes(self, shape):
        count = int(np.prod(shape, dtype=int))
        array = tgm.Message(tgm.encode({}, [pair(np.zeros(shape), "float32")])).objects[0].array
        assert array.shape == shape and array.size == count

    def test_message_at_any_place(self, data):
        for shift in range(1, 9):
            buffer = bytes(shift) + data
            array = tgm.Message(memoryview(buffer)[shift:]).objects[0].array
            assert np.array_equal(array, VALUES)

    def test_masked_objects(self):
        values = np.array([1, np.nan, np.inf], "float32")
        data = tgm.encode({}, [pair(values)], allow_nan=True, allow_inf=True)
        assert np.array_equal(tgm.Message(data).objects[0].array, values, equal_nan=True)


class TestSelection:
    """obj[10:20, ::4]."""

    @pytest.mark.parametrize("codec", ["none", "packed", "packed szip", "zstd"])
    @pytest.mark.parametrize(
        "key",
        [
            (slice(2, 5),),
            (slice(None), slice(None, None, 4)),
            (3,),
            (-1, -1),
            (slice(None, None, -1),),
            (..., 2),
            (),
            (slice(1, 8, 3), 5),
            (slice(5, 2),),
            (slice(-3, None), slice(0, 100)),
            (np.int64(2), slice(None, None, -2)),
        ],
        ids=str,
    )
    def test_equals_numpy(self, codec, key):
        values = np.arange(120.0).reshape(10, 12)
        keys = support.LOSSY[codec][0] if codec in support.LOSSY else support.LOSSLESS[codec]
        data = tgm.encode({}, [(descriptor([10, 12], "float64", **keys), values)])
        tensor = tgm.Message(data).objects[0]
        key = key[0] if len(key) == 1 else key
        expected = tgm.decode(data).objects[0][1][key]
        found = tensor[key]
        assert np.shape(found) == np.shape(expected) and np.array_equal(found, expected)

    @pytest.mark.parametrize(
        "key, error",
        [
            ((10,), IndexError),
            ((0, 0, 0), IndexError),
            (("a",), (IndexError, TypeError)),
            ((1.5,), (IndexError, TypeError)),
        ],
    )
    def test_wrong_keys(self, data, key, error):
        tensor = tgm.Message(tgm.encode({}, [pair(np.zeros((10, 12)))])).objects[0]
        with pytest.raises(error):
            tensor[key]


class TestFile:
    """open_mmap and query."""

    def test_sequence(self, path):
        file = tgm.open_mmap(path)
        assert len(file) == 3
        assert [m.metadata["n"] for m in file] == [0, 1, 2]
        assert file[-1].metadata["n"] == 2
        with pytest.raises(IndexError):
            file[3]

    def test_absent(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            tgm.open_mmap(tmp_path / "absent.tgm")

    def test_empty(self, tmp_path):
        (tmp_path / "x").touch()
        assert len(tgm.open_mmap(tmp_path / "x")) == 0

    def test_memory(self, tmp_path):
        """An object of 64 MiB becomes an array without new memory."""
        path = tmp_path / "large.tgm"
        with tgm.TensogramFile.create(path) as file:
            file.append({}, [pair(np.zeros(16 * 2**20), "float32")], hash=None)
        np.asarray(tgm.open_mmap(path)[0].objects[0].array)
        before = support.resident()
        array = tgm.open_mmap(path)[0].objects[0].array
        assert support.resident() - before < 4 * 2**20
        assert array.shape == (16 * 2**20,) and array[-1] == 0

    @pytest.mark.parametrize(
        "query, expected",
        [
            ("mars.param=2t", [0, 1, 2]),
            ("mars.param=2t and mars.step>=12", [1, 2]),
            ("mars.step=24", [2]),
            ("mars.param=xx", []),
        ],
    )
    def test_query(self, path, query, expected):
        found = tgm.TensogramFile.open(path).query(query)
        assert [number(f) for f in found] == expected


def number(found):
    """The number of the message that a query found."""
    for name in ("message", "message_index"):
        if hasattr(found, name):
            found = getattr(found, name)
    return found if isinstance(found, int) else found[0] if isinstance(found, tuple) else found.metadata["n"]


class TestLooks:
    """repr and HTML."""

    def test_repr(self, data):
        view = tgm.Message(data)
        assert "3" in repr(view) and "float32" in repr(view.objects[0]) and "zstd" in repr(view.objects[2])

    def test_html(self, data):
        view = tgm.Message(data)
        for thing in (view, view.objects[0], tgm.decode_metadata(data), tgm.decode_descriptors(data)[1][0]):
            html = thing._repr_html_()
            assert html.count("<table") == html.count("</table>") and "<" in html

    def test_html_is_escaped(self):
        data = tgm.encode({"<script>": "<b>&"}, [])
        assert "<script>" not in tgm.decode_metadata(data)._repr_html_()


def test_arrays_pickle(data):
    array = tgm.Message(data).objects[0].array
    assert np.array_equal(pickle.loads(pickle.dumps(array)), VALUES)
    assert message() is not None
