"""Arrays that decoding gives: dtype, ownership, byte order, shapes, masks, ranges."""

import inspect

import ml_dtypes
import numpy as np
import pytest

import support
import tensogram
from support import descriptor, message, pair

NUMPY_2 = int(np.__version__.split(".")[0]) >= 2
NUMPY = {**{name: name for name in support.WIDTHS}, "bfloat16": ml_dtypes.bfloat16}


def of_bytes(dtype, count=6, **keys):
    """A message with `count` elements 0, 1, 2 ... of `dtype`, and these as an array."""
    values = np.arange(count).astype(NUMPY[dtype])
    order = keys.get("byte_order", "little")
    stored = values.view(f"u{support.WIDTHS[dtype]}") if dtype == "bfloat16" else values
    stored = stored.astype(stored.dtype.newbyteorder(order))
    return message((descriptor([count], dtype, **keys), stored.tobytes())), values


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("dtype", support.WIDTHS)
def test_dtype(dtype, order):
    data, values = of_bytes(dtype, byte_order=order)
    for out in (
        tensogram.decode(data).objects[0][1],
        tensogram.decode_object(data, 0)[2],
        tensogram.decode_with_masks(data).objects[0][1],
        tensogram.decode_range(data, 0, [(0, 6)])[0],
        tensogram.decode_range(data, 0, [(0, 6)], join=True),
        next(tensogram.iter_messages(data)).objects[0][1],
    ):
        assert type(out) is np.ndarray and out.dtype == values.dtype and out.dtype.isnative
        assert out.tolist() == values.tolist()


@pytest.mark.parametrize("dtype", support.WIDTHS)
@pytest.mark.parametrize("shape", [(), (0,), (6,), (2, 3), (3, 0, 2)])
def test_arrays_are_private_and_writable(dtype, shape):
    count = int(np.prod(shape, dtype=int))
    data = message((descriptor(shape, dtype), bytes(count * support.WIDTHS[dtype])))
    first, second = support.array_of(data), support.array_of(data)
    assert first.shape == shape
    assert first.flags.writeable and first.flags.c_contiguous and first.flags.aligned
    assert not np.shares_memory(first, second)
    first[...] = 1
    assert not np.any(second)


def test_buffer_is_not_changed_by_writing():
    data = bytearray(message())
    before = bytes(data)
    support.array_of(data)[:] = 9
    assert data == before


def test_array_outlives_its_message():
    message_ = tensogram.decode(message(pair(np.arange(1000))))
    array = message_.objects[0][1]
    del message_
    assert array.sum() == 499500


@pytest.mark.parametrize("bits", [0, 5, 8, 21])
def test_bitmask(bits):
    packed = np.packbits(np.arange(bits) % 2 == 0)
    data = message((descriptor([bits], "bitmask"), packed))
    out = support.array_of(data)
    assert out.dtype == np.uint8 and out.shape == ((bits + 7) // 8,) and out.flags.writeable
    assert out.tobytes() == packed.tobytes()
    with pytest.raises(ValueError, match="not supported for bitmask"):
        tensogram.decode_range(data, 0, [(0, 1)])


def test_packed_values_are_float64():
    data = message((descriptor([9], "float64", encoding="simple_packing", sp_bits_per_value=8), np.arange(9.0)))
    assert support.array_of(data).dtype == np.float64
    assert tensogram.decode_range(data, 0, [(2, 3)], join=True).dtype == np.float64
    swapped = tensogram.decode(data, native_byte_order=False).objects[0][1]
    assert np.array_equal(swapped, support.array_of(data))


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint64", "complex64"])
def test_stored_order(dtype):
    data, values = of_bytes(dtype, byte_order="big")
    for out in (
        tensogram.decode(data, native_byte_order=False).objects[0][1],
        tensogram.decode_object(data, 0, native_byte_order=False)[2],
        tensogram.decode_range(data, 0, [(0, 6)], native_byte_order=False)[0],
    ):
        assert out.dtype.isnative
        assert out.tobytes() == values.astype(values.dtype.newbyteorder(">")).tobytes()


def test_stored_order_that_is_native():
    data, values = of_bytes("float32")
    assert tensogram.decode(data, native_byte_order=False).objects[0][1].tolist() == values.tolist()


def test_as_many_dimensions_as_numpy_has():
    shape = (1,) * (64 if NUMPY_2 else 32)
    out = support.array_of(message((descriptor(shape), np.array([7], "float32"))))
    assert out.shape == shape and out.ravel().tolist() == [7]


def test_more_dimensions_than_numpy_has():
    data = message((descriptor((1,) * (65 if NUMPY_2 else 33)), np.array([7], "float32")))
    with pytest.raises(ValueError, match="dimensions"):
        tensogram.decode(data)


class TestMasks:
    """decode_with_masks."""

    def test_two_dimensions(self):
        values = np.array([[1, np.nan, 3], [np.inf, -np.inf, 6]])
        data = message(pair(values, "float64"), allow_nan=True, allow_inf=True)
        ((desc, array, masks),) = tensogram.decode_with_masks(data).objects
        assert isinstance(desc, tensogram.DataObjectDescriptor)
        assert array.tolist() == [[1, 0, 3], [0, 0, 6]]
        assert {k: v.tolist() for k, v in masks.items()} == {
            "nan": [False, True, False, False, False, False],
            "inf+": [False, False, False, True, False, False],
            "inf-": [False, False, False, False, True, False],
        }
        assert type(masks) is dict and all(
            m.flags.writeable and m.ndim == 1 and m.dtype == bool for m in masks.values()
        )

    def test_no_masks(self):
        ((_, array, masks),) = tensogram.decode_with_masks(message()).objects
        assert masks == {} and array.tolist() == [0, 1, 2, 3]

    def test_only_the_kinds_there_are(self):
        ((_, _, masks),) = tensogram.decode_with_masks(message(pair([np.nan, 1]), allow_nan=True)).objects
        assert list(masks) == ["nan"]

    def test_result(self):
        message_ = tensogram.decode_with_masks(message(meta={"a": 1}))
        assert type(message_) is tensogram.Message and message_.metadata["a"] == 1

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
    def test_dtypes(self, dtype):
        values = np.array([1, np.nan, np.inf, -np.inf]).astype(NUMPY[dtype])
        data = message((descriptor([4], dtype), values.tobytes()), allow_nan=True, allow_inf=True)
        out = support.array_of(data)
        real = np.real(out.astype("complex64") if dtype == "bfloat16" else out)
        assert np.isnan(real[1]) and real[2] == np.inf and real[3] == -np.inf
        assert tensogram.decode(data, restore_non_finite=False).objects[0][1].astype("complex64").tolist() == [
            1,
            0,
            0,
            0,
        ]


class TestRanges:
    """decode_range."""

    values = np.arange(100, dtype="float32").reshape(10, 10)

    @pytest.fixture(params=["none", "szip", "zfp rate", "packed", "packed szip", "big"])
    def data(self, request):
        if request.param == "zfp rate":
            return message(
                (
                    descriptor([10, 10], "float64", compression="zfp", zfp_mode="fixed_rate", zfp_rate=64.0),
                    self.values.astype("float64"),
                )
            )
        if "packed" in request.param:
            keys = support.LOSSY[request.param][0]
            return message((descriptor([10, 10], "float64", **keys), self.values.astype("float64")))
        if request.param == "big":
            return message((descriptor([10, 10], byte_order="big"), self.values.astype(">f4").tobytes()))
        return message((descriptor([10, 10], **support.LOSSLESS[request.param]), self.values))

    @pytest.mark.parametrize(
        "ranges",
        [
            [(0, 100)],
            [(0, 0)],
            [(100, 0)],
            [(99, 1)],
            [(5, 3), (50, 10)],
            [(50, 10), (5, 3)],
            [(5, 10), (7, 3)],
            [],
            ((1, 2), (3, 4)),
            [(np.int64(3), np.int32(2))],
            [(True, 2)],
        ],
        ids=str,
    )
    def test_equals_the_slice(self, data, ranges):
        whole = support.array_of(data).ravel()
        parts = tensogram.decode_range(data, 0, ranges)
        assert type(parts) is list and len(parts) == len(ranges)
        for (start, count), part in zip(ranges, parts):
            assert part.ndim == 1 and part.flags.writeable and part.dtype == whole.dtype
            assert part.tolist() == whole[start : start + count].tolist()
        joined = tensogram.decode_range(data, 0, ranges, join=True)
        assert type(joined) is np.ndarray and joined.ndim == 1 and joined.dtype == whole.dtype
        assert joined.tolist() == [x for part in parts for x in part.tolist()]

    @pytest.mark.parametrize("range_", [(0, 101), (100, 1), (101, 0), (1, 100), (2**40, 1), (1, 2**63)])
    def test_beyond_the_end(self, range_):
        data = message((descriptor([10, 10]), self.values))
        with pytest.raises(ValueError, match="exceeds payload size|overflow|out of range"):
            tensogram.decode_range(data, 0, [range_])

    @pytest.mark.parametrize(
        "ranges, error",
        [
            ([[0, 1]], TypeError),
            ([slice(0, 1)], TypeError),
            (np.array([[0, 1]]), TypeError),
            ([(0,)], ValueError),
            ([(0, 1, 2)], ValueError),
            ([(-1, 1)], OverflowError),
            ([(0, -1)], OverflowError),
            ([(0.0, 1)], TypeError),
            (None, TypeError),
            (5, TypeError),
            ([("a", "b")], TypeError),
        ],
        ids=str,
    )
    def test_forms_of_ranges(self, ranges, error):
        with pytest.raises(error):
            tensogram.decode_range(message((descriptor([10, 10]), self.values)), 0, ranges)

    @pytest.mark.parametrize("compression", ["zstd", "lz4"])
    def test_codecs_without_ranges(self, compression):
        data = message((descriptor([10, 10], compression=compression), self.values))
        with pytest.raises(ValueError, match="^EncodingError: .*range decode not supported for this compressor"):
            tensogram.decode_range(data, 0, [(0, 1)])

    def test_filter(self):
        data = message((descriptor([10, 10], filter="shuffle", shuffle_element_size=4), self.values))
        with pytest.raises(ValueError, match="not supported when a filter"):
            tensogram.decode_range(data, 0, [(0, 1)])

    def test_non_finite_values_are_restored(self):
        values = np.arange(20.0)
        values[[3, 15]] = np.nan, np.inf
        data = message((descriptor([20], "float64"), values), allow_nan=True, allow_inf=True)
        out = tensogram.decode_range(data, 0, [(14, 3), (2, 3)], join=True)
        assert np.array_equal(out, [14, np.inf, 16, 2, np.nan, 4], equal_nan=True)
        out = tensogram.decode_range(data, 0, [(2, 3)], join=True, restore_non_finite=False)
        assert out.tolist() == [2, 0, 4]

    def test_verify_hash_is_refused(self):
        with pytest.raises(TypeError, match="verify_hash"):
            tensogram.decode_range(message(), 0, [(0, 1)], verify_hash=True)

    def test_object_index(self):
        data = message(pair([1, 2]), pair([3, 4], "int64"))
        assert tensogram.decode_range(data, 1, [(1, 1)])[0].tolist() == [4]
        with pytest.raises(ValueError, match=r"^ObjectError: object index 2 out of range \(num_objects=2\)"):
            tensogram.decode_range(data, 2, [(0, 1)])


@pytest.mark.parametrize("threads", [0, 1, 3, np.int64(2), True])
def test_threads_do_not_change_values(threads):
    values = np.sin(np.arange(40000.0))
    keys = {
        "encoding": "simple_packing",
        "sp_bits_per_value": 16,
        "compression": "szip",
        "szip_rsi": 128,
        "szip_block_size": 16,
        "szip_flags": 8,
    }
    data = message(*[(descriptor([40000], "float64", **keys), values + i) for i in range(3)])
    for (_, found), (_, expected) in zip(
        tensogram.decode(data, threads=threads).objects, tensogram.decode(data).objects
    ):
        assert np.array_equal(found, expected)


@pytest.mark.better
@pytest.mark.skipif(
    "out" not in inspect.signature(tensogram.decode_object).parameters, reason="this build has no `out`"
)
class TestOut:
    """decode(..., out=): values written into the caller's arrays."""

    def test_one_object(self):
        data = message(pair(np.arange(6).reshape(2, 3), "float64"))
        out = np.full((2, 3), -1.0)
        result = tensogram.decode_object(data, 0, out=out)[2]
        assert result is out and out.tolist() == [[0, 1, 2], [3, 4, 5]]

    @pytest.mark.parametrize(
        "out",
        [
            np.zeros(4, "float64"),
            np.zeros(3, "float32"),
            np.zeros((4, 1), "float32"),
            np.zeros(8, "float32")[::2],
            [0] * 4,
            np.zeros(4, ">f4"),
        ],
        ids=["dtype", "size", "shape", "strides", "list", "order"],
    )
    def test_wrong_arrays(self, out):
        with pytest.raises((ValueError, TypeError)):
            tensogram.decode_object(message(), 0, out=out)

    def test_read_only(self):
        out = np.zeros(4, "float32")
        out.flags.writeable = False
        with pytest.raises((ValueError, TypeError)):
            tensogram.decode_object(message(), 0, out=out)
