"""Objects as views: what keeps what, what is shared, and what happens to buffers that change."""

import ctypes
import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import tgmio as tgm

VALUES = np.arange(24, dtype="float32").reshape(2, 3, 4)
PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16}


def pair(values):
    """An array with its descriptor."""
    return {"type": "ntensor", "shape": list(np.shape(values)), "dtype": str(values.dtype)}, values


def of(values, dtype=None, **keys):
    """The bytes of a message with one object."""
    dtype = dtype or str(values.dtype)
    shape = keys.pop("shape", list(np.shape(values)))
    return tgm.encode({}, [({"type": "ntensor", "shape": shape, "dtype": dtype, **keys}, values)], allow_nan=True)


def first(data):
    """The first object of a message."""
    return tgm.Message(data).objects[0]


@pytest.fixture
def path(tmp_path):
    """A file of one message with a plain object."""
    path = tmp_path / "one.tgm"
    path.write_bytes(of(VALUES))
    return path


class TestSharing:
    """Which arrays are views."""

    def test_array_is_the_callers_memory(self):
        data = np.frombuffer(of(VALUES), "uint8").copy()
        array = first(data).array
        assert np.shares_memory(array, data)
        place = array.__array_interface__["data"][0] - data.__array_interface__["data"][0]
        assert 0 < place < data.size

    @pytest.mark.parametrize("make", [np.asarray, lambda o: np.array(o, copy=False) if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
                                      else np.asarray(o), lambda o: np.asarray(memoryview(o)), lambda o: o[...], lambda o: o[1:, ::2]])
    def test_ways_to_a_view(self, make):
        data = np.frombuffer(of(VALUES), "uint8").copy()
        array = make(first(data))
        assert np.shares_memory(array, data) and not array.flags.writeable

    @pytest.mark.parametrize("make", [lambda o: o.decode(), lambda o: np.array(o), lambda o: o.__array__(copy=True),
                                      lambda o: o.__array__("float64")])
    def test_ways_to_an_array_of_ones_own(self, make):
        data = np.frombuffer(of(VALUES), "uint8").copy()
        array = make(first(data))
        assert not np.shares_memory(array, data) and array.flags.writeable and np.array_equal(array, VALUES)

    @pytest.mark.parametrize("keys", [{"compression": "zstd"}, {"filter": "shuffle", "shuffle_element_size": 4}])
    def test_what_is_encoded_is_decoded_once(self, keys):
        tensor = first(of(VALUES, **keys))
        assert not tensor.is_view and tensor.array is tensor.array
        assert not tensor.array.flags.writeable and np.array_equal(tensor.array, VALUES)

    def test_masked_values_are_restored(self):
        tensor = first(of(np.array([1, np.nan], "float32")))
        assert not tensor.is_view and np.isnan(tensor.array[1]) and np.isnan(tensor[1])

    def test_foreign_order_is_swapped_or_shown_as_it_is(self):
        data = of(VALUES.astype(">f4"), "float32", byte_order="big")
        tensor = first(data)
        assert not tensor.is_view and tensor.dtype == np.dtype("float32") and np.array_equal(tensor.array, VALUES)
        stored = tensor.stored()
        assert stored.dtype.str == ">f4" and np.array_equal(stored, VALUES) and not stored.flags.owndata
        assert np.array_equal(tensor[1, 1:], VALUES[1, 1:])

    def test_stored_values_of_an_encoded_object_are_refused(self):
        with pytest.raises(ValueError, match="not stored as they are"):
            first(of(VALUES, compression="zstd")).stored()

    def test_views_cannot_be_made_writable(self):
        array = first(of(VALUES)).array
        with pytest.raises(ValueError):
            array.flags.writeable = True
        with pytest.raises((BufferError, TypeError)):
            (ctypes.c_char * 96).from_buffer(first(of(VALUES)))
        assert memoryview(first(of(VALUES))).readonly


class TestLife:
    """What keeps what."""

    def test_views_keep_the_buffer(self):
        data = np.frombuffer(of(VALUES), "uint8").copy()
        gone = weakref.ref(data)
        array = first(data).array
        del data
        gc.collect()
        assert gone() is not None and np.array_equal(array, VALUES)
        del array
        gc.collect()
        assert gone() is None

    def test_a_memoryview_keeps_the_buffer(self):
        data = np.frombuffer(of(VALUES), "uint8").copy()
        gone = weakref.ref(data)
        view = memoryview(first(data))
        del data
        gc.collect()
        assert gone() is not None and view.tolist() == VALUES.tolist()
        view.release()
        del view
        gc.collect()
        assert gone() is None

    def test_bytearray_refuses_to_change_its_size_while_a_view_lives(self):
        data = bytearray(of(VALUES))
        array = first(data).array
        for change in (lambda: data.extend(b"x"), data.clear, data.pop):
            with pytest.raises(BufferError):
                change()
        assert np.array_equal(array, VALUES)
        del array
        gc.collect()
        data.extend(b"x")

    def test_writing_into_a_bytearray_changes_its_views(self):
        data = bytearray(of(VALUES))
        message = tgm.Message(data)
        array = message.objects[0].array
        place = bytes(data).index(VALUES.tobytes())
        data[place:place + 4] = np.float32(7).tobytes()
        assert array[0, 0, 0] == 7

    def test_a_buffer_that_is_overwritten_gives_errors(self):
        data = bytearray(of(VALUES, compression="zstd"))
        message = tgm.Message(data)
        tensor = message.objects[0]
        data[:] = bytes(len(data))
        for use in (lambda: tensor.array, lambda: tensor.decode(), lambda: tensor[0], lambda: tensor.descriptor,
                    lambda: message.metadata, lambda: message.objects[0], lambda: message.decode()):
            with pytest.raises(ValueError):
                use()

    def test_counts_of_references_stay(self):
        data = np.frombuffer(of(VALUES), "uint8").copy()
        before = sys.getrefcount(data), sys.getrefcount(np.dtype("float32")), sys.getrefcount(None)
        for _ in range(1000):
            tensor = first(data)
            tensor.array, memoryview(tensor), tensor[0], tensor.metadata, tensor.descriptor, tensor.dtype
        del tensor
        gc.collect()
        after = sys.getrefcount(data), sys.getrefcount(np.dtype("float32")), sys.getrefcount(None)
        assert all(abs(a - b) < 50 for a, b in zip(after, before))

    def test_threads_share_an_object(self):
        tensor = first(of(np.arange(100_000.0), **PACKED))
        failed = []

        def use():
            for _ in range(20):
                if tensor.array[7] != tensor[7] or tensor.decode()[7] != tensor[7]:
                    failed.append(1)

        threads = [threading.Thread(target=use) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert not failed


class TestOut:
    """decode(out=)."""

    @pytest.mark.parametrize("keys", [{}, {"compression": "zstd"}, {"filter": "shuffle", "shuffle_element_size": 4}])
    def test_same_dtype(self, keys):
        out = np.zeros((2, 3, 4), "float32")
        assert first(of(VALUES, **keys)).decode(out=out) is out
        assert np.array_equal(out, VALUES)

    @pytest.mark.parametrize("dtype", ["int16", "uint8", "float16", "float64", "float32"])
    @pytest.mark.parametrize("to", ["float32", "float64"])
    def test_conversion_to_floats(self, dtype, to):
        out = np.zeros((2, 3, 4), to)
        first(of(VALUES.astype(dtype))).decode(out=out)
        assert np.array_equal(out, VALUES.astype(dtype))

    def test_packed_values_as_float32(self):
        out = np.zeros(1000, "float32")
        first(of(np.linspace(0, 1, 1000), **PACKED)).decode(out=out)
        assert np.allclose(out, np.linspace(0, 1, 1000), atol=1e-4)

    @pytest.mark.parametrize("out, text", [
        (np.zeros((3, 2, 4), "float32"), "shape"), (np.zeros((2, 3, 4), "int32"), "dtype"),
        (np.zeros((2, 3, 4), ">f4"), "dtype"), (np.zeros((4, 3, 2), "float32").T, "contiguous"),
        (np.zeros((2, 3, 8), "float32")[:, :, ::2], "contiguous"),
        (np.frombuffer(bytes(96), "float32").reshape(2, 3, 4), "read-only"),
        (np.zeros(97, "uint8")[1:].view("float32").reshape(2, 3, 4), "aligned"),
    ])
    def test_wrong_arrays(self, out, text):
        before = out.tobytes()
        with pytest.raises(ValueError, match=text):
            first(of(VALUES)).decode(out=out)
        assert out.tobytes() == before

    @pytest.mark.parametrize("out", [[0.0] * 24, bytearray(96), "x"])
    def test_no_arrays(self, out):
        with pytest.raises(TypeError, match="out"):
            first(of(VALUES)).decode(out=out)

    def test_memory_of_the_message_is_refused(self):
        data = bytearray(of(VALUES) + bytes(104))
        out = np.frombuffer(data, "float32", count=24, offset=len(data) // 4 * 4 - 96).reshape(2, 3, 4)
        with pytest.raises(ValueError, match="shares memory"):
            first(data).decode(out=out)

    def test_complex_values_do_not_become_floats(self):
        with pytest.raises(ValueError, match="dtype"):
            first(of(np.zeros(3, "complex64"))).decode(out=np.zeros(3))

    def test_digests(self):
        data = bytearray(of(VALUES))
        place = bytes(data).index(VALUES.tobytes())
        data[place] ^= 1
        tensor = first(data)
        tensor.decode(), tensor.array
        with pytest.raises(tgm.HashMismatchError) as caught:
            tensor.decode(verify_hash=True)
        assert caught.value.object_index == 0
        with pytest.raises(tgm.HashMismatchError):
            tensor.decode(out=np.zeros((2, 3, 4), "float32"), verify_hash=True)


class TestFacts:
    """Attributes."""

    def test_attributes(self):
        data = tgm.encode({"base": [{"step": 6}], "run": 1}, [({"type": "ntensor", "shape": [2, 3], "dtype": "int16",
                                                                 "compression": "lz4"}, np.ones((2, 3), "int16"))])
        message = tgm.Message(data)
        tensor = message.objects[0]
        assert (tensor.shape, tensor.ndim, tensor.size, tensor.nbytes) == ((2, 3), 2, 6, 12)
        assert tensor.dtype == np.dtype("int16") and tensor.index == 0 and len(tensor) == 2
        assert tensor.metadata["step"] == 6 and tensor.message.metadata["run"] == 1
        assert tensor.descriptor == tgm.decode_descriptors(data)[1][0] and tensor.stored_nbytes > 0
        assert message.index is None and message.nbytes == len(data) and bytes(message) == data

    def test_no_dimensions_no_length(self):
        with pytest.raises(TypeError):
            len(first(of(np.float32(1).reshape(()))))

    def test_repr(self):
        tensor = first(of(np.zeros(1000), compression="zstd"))
        text = repr(tensor)
        assert "(1000,)" in text and "float64" in text and "zstd" in text and "ratio=" in text
        assert "<table>" in tensor._repr_html_() and "zstd" in tensor.message._repr_html_()

    def test_repr_of_metadata_that_cannot_be_read(self):
        data = bytearray(tgm.encode({"base": [{"step": 1}]}, [pair(np.zeros(3))], hash=None))
        place = data.index(b"dstep")
        data[place] = 0xFF
        assert "unreadable" in repr(first(data)) and "unreadable" in first(data)._repr_html_()

    def test_packed_values_are_float64(self):
        tensor = first(of(np.arange(10.0), **PACKED))
        assert tensor.dtype == np.dtype("float64") and tensor.array.dtype == tensor.dtype and tensor.nbytes == 80

    def test_bitmask(self):
        truths = np.arange(20) % 3 == 0
        tensor = first(of(truths.reshape(4, 5), "bitmask"))
        assert tensor.shape == (4, 5) and tensor.dtype == bool and tensor.nbytes == 20 and not tensor.is_view
        assert np.array_equal(tensor.stored(), np.packbits(truths))

    def test_pickle(self):
        message = tgm.Message(bytearray(of(VALUES)))
        again = pickle.loads(pickle.dumps([message, message.objects[0]]))
        assert bytes(again[0]) == bytes(message) and np.array_equal(again[1].array, VALUES)

    def test_bytes_behind_a_message_are_ignored(self):
        data = of(VALUES)
        message = tgm.Message(data + b"more")
        assert bytes(message) == data and np.array_equal(message.objects[0].array, VALUES)

    def test_a_streamed_message(self):
        encoder = tgm.StreamingEncoder({"run": 1})
        encoder.write_object({"type": "ntensor", "shape": [2, 3, 4], "dtype": "float32"}, VALUES)
        message = tgm.Message(encoder.finish())
        assert np.array_equal(message.objects[0].array, VALUES) and message.metadata["run"] == 1

    @pytest.mark.parametrize("index", [1, -2, 2**70, -(2**70)])
    def test_no_such_object(self, index):
        with pytest.raises(IndexError, match="out of range"):
            tgm.Message(of(VALUES)).objects[index]

    def test_objects_are_a_sequence(self):
        message = tgm.Message(tgm.encode({}, [pair(np.full(2, float(i))) for i in range(5)]))
        assert [o.index for o in message.objects] == [0, 1, 2, 3, 4] == [o.index for o in message]
        assert [o.index for o in message.objects[::-2]] == [4, 2, 0] and message.objects[-1].index == 4
        assert len(message) == len(message.objects) == 5
        with pytest.raises(KeyError, match="they have no names"):
            message.objects["0"]
        with pytest.raises(TypeError):
            message.objects[1.5]

    def test_query(self):
        message = tgm.Message(tgm.encode({"base": [{"step": i} for i in range(4)]}, [pair(np.zeros(1))] * 4))
        assert [o.index for o in message.query("step>=2")] == [2, 3]
        with pytest.raises(ValueError, match="at byte"):
            message.query("step and")


def test_iterating_decodes_nothing():
    """A payload that cannot be decoded does no harm before its values are asked for."""
    data = bytearray(tgm.encode({}, [({"type": "ntensor", "shape": [100], "dtype": "float64", "compression": "zstd"}, np.ones(100))] * 3))
    place = data.index(b"\x28\xb5\x2f\xfd")
    data[place:place + 4] = bytes(4)
    for view in (tgm.Message(bytes(data)), tgm.Message(bytes(data)).objects):
        tensors = list(view)
        assert [t.shape for t in tensors] == [(100,)] * 3 and tensors[1].array.sum() == 100
        with pytest.raises(tgm.TensogramError):
            tensors[0].array
