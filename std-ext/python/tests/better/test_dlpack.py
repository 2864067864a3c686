"""DLPack: values for other libraries."""

import gc
import weakref

import numpy as np
import pytest

import tgmio as tgm

VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
DTYPES = ["float16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "uint64"]


def pair(values):
    """An array with its descriptor."""
    return {"type": "ntensor", "shape": list(np.shape(values)), "dtype": str(values.dtype)}, values


def first(values, dtype=None, **keys):
    """The object of a message."""
    data = tgm.encode({}, [({"type": "ntensor", "shape": list(values.shape), "dtype": dtype or str(values.dtype), **keys}, values)])
    return tgm.Message(np.frombuffer(data, "uint8").copy()).objects[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("keys", [{}, {"compression": "zstd"}], ids=["plain", "zstd"])
def test_dtypes(dtype, keys):
    values = np.arange(12).reshape(3, 4).astype(dtype)
    array = np.from_dlpack(first(values, **keys))
    assert array.dtype == values.dtype and array.shape == (3, 4) and np.array_equal(array, values)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 5, 1)])
def test_shapes(shape):
    assert np.from_dlpack(first(np.ones(shape, "float32"))).shape == shape


@pytest.mark.skipif(not VERSIONED, reason="numpy 2.1 knows read-only values")
def test_values_are_shared_and_read_only():
    tensor = first(np.arange(12.0))
    array = np.from_dlpack(tensor)
    assert np.shares_memory(array, tensor.array) and not array.flags.writeable
    copy = np.from_dlpack(tensor, copy=True)
    assert not np.shares_memory(copy, tensor.array) and copy.flags.writeable
    assert np.shares_memory(np.from_dlpack(tensor, copy=False), tensor.array)


def test_the_array_keeps_the_buffer():
    tensor = first(np.arange(12.0))
    gone = weakref.ref(tensor)
    array = np.from_dlpack(tensor)
    del tensor
    gc.collect()
    assert array.sum() == 66
    del array
    gc.collect()
    assert gone() is None


def test_capsules_that_nobody_takes_are_freed():
    tensor = first(np.arange(12.0))
    gone = weakref.ref(tensor)
    for version in (None, (1, 0), (1, 1), (2, 0), (0, 8)):
        capsule = tensor.__dlpack__(max_version=version)
        name = "dltensor_versioned" if version and version[0] >= 1 else "dltensor"
        assert f'"{name}"' in repr(capsule)
    del tensor, capsule
    gc.collect()
    assert gone() is None


def test_older_consumers_get_a_copy():
    tensor = first(np.arange(12.0))

    class Older:
        """A consumer of the first version of the struct."""

        def __dlpack__(self, **_):
            return tensor.__dlpack__()

        def __dlpack_device__(self):
            return tensor.__dlpack_device__()

    array = np.from_dlpack(Older())
    assert not np.shares_memory(array, tensor.array) and np.array_equal(array, np.arange(12.0))
    with pytest.raises(BufferError, match="copy"):
        tensor.__dlpack__(copy=False)


def test_values_that_are_not_aligned_are_copied():
    data = tgm.encode({}, [pair(np.arange(12.0))])
    for shift in range(1, 8):
        tensor = tgm.Message(memoryview(bytes(shift) + data)[shift:]).objects[0]
        assert np.array_equal(np.from_dlpack(tensor), np.arange(12.0))
        if not tensor.array.flags.aligned:
            with pytest.raises(BufferError):
                tensor.__dlpack__(max_version=(1, 0), copy=False)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensor = first(np.arange(4).astype(ml_dtypes.bfloat16), "bfloat16")
    assert "dltensor_versioned" in repr(tensor.__dlpack__(max_version=(1, 0)))
    assert memoryview(tensor).format == "H" and tensor.array.dtype == ml_dtypes.bfloat16


def test_a_bitmask_has_truth_values():
    array = np.from_dlpack(first(np.ones((3, 4), bool), "bitmask"))
    assert array.dtype == bool and array.shape == (3, 4) and array.all()


def test_other_devices_are_refused():
    tensor = first(np.zeros(2))
    assert tensor.__dlpack_device__() == (1, 0)
    tensor.__dlpack__(dl_device=(1, 0))
    for keys in ({"dl_device": (2, 0)}, {"stream": 1}):
        with pytest.raises(BufferError):
            tensor.__dlpack__(**keys)
