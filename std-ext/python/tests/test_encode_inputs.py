"""Data that `encode` takes: arrays, bytes, lists; what it refuses."""

import array
import mmap
import warnings

import ml_dtypes
import numpy as np
import pytest

import support
import tensogram
from support import array_of, descriptor, message, pair


def encode(data, shape=(4,), dtype="float32", **keys):
    return tensogram.encode({}, [(descriptor(shape, dtype, **keys), data)])


@pytest.mark.parametrize("dtype", support.PLAIN)
def test_plain_dtype(dtype):
    values = np.array([0, 1, 2, 3], dtype)
    out = array_of(encode(values, dtype=dtype))
    assert out.dtype == values.dtype and out.tolist() == values.tolist()


@pytest.mark.parametrize("dtype", [d for d in support.PLAIN if "int" in d])
def test_limits_of_integers(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max], dtype)
    assert array_of(encode(values, (2,), dtype)).tolist() == [info.min, info.max]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 3), (2, 0, 3), (2, 3, 4), (2, 3, 4, 5), (1,) * 20])
def test_shape(shape):
    values = np.arange(np.prod(shape, dtype=int), dtype="float64").reshape(shape)
    out = array_of(encode(values, shape, "float64"))
    assert out.shape == shape
    assert np.array_equal(out, values)


def test_shape_of_the_array_is_not_looked_at():
    out = array_of(encode(np.arange(6, dtype="float32").reshape(2, 3), (3, 2)))
    assert out.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_longlong():
    assert array_of(encode(np.arange(4, dtype=np.longlong), dtype="int64")).tolist() == [0, 1, 2, 3]
    assert array_of(encode(np.arange(4, dtype=np.ulonglong), dtype="uint64")).tolist() == [0, 1, 2, 3]


def test_read_only_array():
    values = np.arange(4, dtype="float32")
    values.flags.writeable = False
    assert array_of(encode(values)).tolist() == [0, 1, 2, 3]


def test_mask_of_a_masked_array_is_ignored():
    values = np.ma.masked_array(np.arange(4, dtype="float32"), [True, False, True, False])
    assert array_of(encode(values)).tolist() == [0, 1, 2, 3]


def test_subclass_of_array():
    class Mine(np.ndarray):
        pass

    assert array_of(encode(np.arange(4, dtype="float32").view(Mine))).tolist() == [0, 1, 2, 3]


def test_zero_dimensional_array():
    out = array_of(encode(np.array(7, "int16"), (), "int16"))
    assert out.shape == () and out[()] == 7


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: array.array("B", b), list, tuple])
def test_bytes_are_the_payload(wrap):
    values = np.arange(4, dtype="<f4")
    assert array_of(encode(wrap(values.tobytes()), byte_order="little")).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int16", "uint32", "int64", "complex64", "complex128"]
)
def test_bytes_in_either_order(dtype, order):
    values = np.arange(4, dtype=dtype).astype(np.dtype(dtype).newbyteorder(order))
    data = encode(values.tobytes(), dtype=dtype, byte_order=order)
    out = array_of(data)
    assert out.dtype == np.dtype(dtype)
    assert out.tolist() == values.tolist()
    assert tensogram.decode(data).objects[0][0].byte_order == order


def test_uint16_view_carries_halves():
    values = np.array([0.5, 1.5], "float16")
    assert array_of(encode(values.view("uint16"), (2,), "float16")).tolist() == [0.5, 1.5]
    values = np.array([0.5, 1.5], ml_dtypes.bfloat16)
    out = array_of(encode(values.view("uint16"), (2,), "bfloat16"))
    assert out.dtype == ml_dtypes.bfloat16 and out.tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    "data",
    [
        "abcd",
        None,
        1,
        1.5,
        {},
        object(),
        np.array(["abcd"] * 4),
        np.array(["2020-01-01"] * 2, "datetime64[D]"),
        np.zeros(1, np.longdouble),
        [256, 0, 0, 0],
        ["a"],
        [1.5],
    ],
    ids=repr,
)
def test_data_of_no_use(data):
    with pytest.raises((ValueError, TypeError)):
        encode(data, (1,))


@pytest.mark.parametrize("data", [None, 1, "abcd", object(), np.array(["abcd"])], ids=repr)
def test_text_for_data_of_no_use(data):
    with pytest.raises(ValueError, match="numpy array or bytes"):
        encode(data, (1,))


@pytest.mark.parametrize("dtype", support.PLAIN)
@pytest.mark.parametrize("change", [-1, 1])
def test_wrong_size(dtype, change):
    with pytest.raises(ValueError, match="^MetadataError: .*data_len.*does not match expected"):
        encode(np.zeros(4 + change, dtype), dtype=dtype)


def test_wrong_size_of_bytes():
    with pytest.raises(ValueError, match="data_len 15 does not match expected 16"):
        encode(bytes(15))


@pytest.mark.parametrize("bits", [0, 1, 7, 8, 9, 17])
def test_bitmask_is_packed_bits(bits):
    packed = np.packbits(np.arange(bits) % 3 == 0).tobytes()
    out = array_of(encode(packed, (bits,), "bitmask"))
    assert out.dtype == np.uint8 and out.tobytes() == packed
    out = array_of(encode(np.frombuffer(packed, "uint8"), (bits,), "bitmask"))
    assert out.tobytes() == packed


@pytest.mark.parametrize("compression", ["none", "rle", "roaring", "zstd", "lz4"])
def test_bitmask_codecs(compression):
    packed = np.packbits(np.arange(1000) % 7 == 0).tobytes()
    out = array_of(encode(packed, (10, 100), "bitmask", compression=compression))
    assert out.ndim == 1 and out.tobytes() == packed


@pytest.mark.parametrize(
    "value, text",
    [
        (np.nan, "strict-NaN check: NaN at element 2 of float32"),
        (np.inf, r"strict-Inf check: \+Inf at element 2 of float32"),
        (-np.inf, "strict-Inf check: -Inf at element 2 of float32"),
    ],
)
def test_non_finite_values_need_permission(value, text):
    with pytest.raises(ValueError, match="^EncodingError: .*" + text):
        encode(np.array([0, 1, value, 3], "float32"))


METHODS = ["none", "rle", "roaring", "lz4", "zstd", "blosc2", None]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [4, 5000])
def test_mask_methods(method, count):
    values = np.arange(count, dtype="float64")
    values[1], values[2], values[3] = np.nan, np.inf, -np.inf
    data = message(
        (descriptor([count], "float64"), values),
        allow_nan=True,
        allow_inf=True,
        nan_mask_method=method,
        pos_inf_mask_method=method,
        neg_inf_mask_method=method,
    )
    assert np.array_equal(array_of(data), values, equal_nan=True)
    ((descriptor_, zeros, masks),) = tensogram.decode_with_masks(data).objects
    assert zeros[:4].tolist() == [0, 0, 0, 0]
    assert sorted(masks) == ["inf+", "inf-", "nan"]
    for name, at in [("nan", 1), ("inf+", 2), ("inf-", 3)]:
        assert masks[name].dtype == bool and np.flatnonzero(masks[name]).tolist() == [at]
    assert tensogram.decode(data, restore_non_finite=False).objects[0][1][:4].tolist() == [0, 0, 0, 0]


def test_mask_method_does_not_matter_for_small_masks():
    values = pair([np.nan, 1], "float32")
    sizes = {len(message(values, allow_nan=True, nan_mask_method=m, hash=None)) for m in ("none", "rle", "zstd")}
    assert len(sizes) == 1


def test_threshold_of_small_masks():
    values = np.zeros(512)
    values[5] = np.nan
    object_ = (descriptor([512], "float64"), values)
    small = message(object_, allow_nan=True, hash=None)
    assert len(message(object_, allow_nan=True, hash=None, small_mask_threshold_bytes=128)) == len(small)
    assert len(message(object_, allow_nan=True, hash=None, small_mask_threshold_bytes=0)) < len(small)


def test_unknown_mask_method():
    for name in ("nan_mask_method", "pos_inf_mask_method", "neg_inf_mask_method"):
        with pytest.raises(ValueError, match="unknown mask method") as caught:
            message(pair([1.0]), **{name: "gzip"})
        for method in METHODS[:-1]:
            assert method in str(caught.value)


@pytest.mark.parametrize(
    "policy, allowed",
    [
        (None, True),
        ("auto", True),
        ("none", True),
        ("header", True),
        ("footer", True),
        ("both", True),
        ("", False),
        ("x", False),
    ],
)
def test_aggregate_hash(policy, allowed):
    if allowed:
        assert array_of(message(aggregate_hash=policy)).tolist() == [0, 1, 2, 3]
    else:
        with pytest.raises(ValueError, match="unknown aggregate_hash policy"):
            message(aggregate_hash=policy)


@pytest.mark.parametrize("hash_", ["xxh3", "none", None])
def test_hash_option(hash_):
    data = message(hash=hash_)
    if hash_ == "xxh3":
        assert tensogram.decode(data, verify_hash=True).objects[0][1].tolist() == [0, 1, 2, 3]
        assert tensogram.validate(data)["hash_verified"] is True
    else:
        with pytest.raises(tensogram.MissingHashError):
            tensogram.decode(data, verify_hash=True)


@pytest.mark.parametrize("hash_", ["", "XXH3", "md5", "sha256"])
def test_unknown_hash(hash_):
    with pytest.raises(ValueError, match="unknown hash type"):
        message(hash=hash_)


@pytest.mark.parametrize(
    "pairs, text",
    [
        ([[descriptor([1]), np.zeros(1, "float32")]], "tuple"),
        ([(descriptor([1]),)], "length 2"),
        ([(descriptor([1]), np.zeros(1, "float32"), 1)], "length 2"),
    ],
    ids=["list", "one", "three"],
)
def test_text_of_form_of_pairs(pairs, text):
    with pytest.raises(ValueError, match=text):
        tensogram.encode({}, pairs)


@pytest.mark.parametrize(
    "pairs",
    [
        [(descriptor([1]),)],
        [(descriptor([1]), np.zeros(1, "float32"), 1)],
        [1],
        [None],
        ["ab"],
    ],
    ids=["one", "three", "int", "None", "text"],
)
def test_form_of_pairs(pairs):
    with pytest.raises((ValueError, TypeError)):
        tensogram.encode({}, pairs)


@pytest.mark.parametrize("pairs", [None, 1, "ab"])
def test_pairs_must_be_a_list(pairs):
    with pytest.raises(TypeError):
        tensogram.encode({}, pairs)


@pytest.mark.parametrize("first", [1, "ab", [1]])
def test_first_of_a_pair_must_be_a_descriptor(first):
    with pytest.raises(ValueError, match="descriptor"):
        tensogram.encode({}, [(first, np.zeros(1, "float32"))])


def test_no_objects():
    decoded = tensogram.decode(support.bare())
    assert decoded.objects == [] and decoded.metadata.base == []


def test_many_objects():
    pairs = [pair(np.arange(i), support.PLAIN[i % 10]) for i in range(30)]
    decoded = tensogram.decode(message(*pairs))
    assert len(decoded.objects) == 30
    for (_, expected), (_, found) in zip(pairs, decoded.objects):
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


@pytest.mark.parametrize("codec", support.LOSSLESS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "int32"])
def test_codec_gives_back_the_values(codec, dtype):
    if not support.can_encode(codec):
        pytest.skip(f"this build has no encoder of {codec}")
    values = (np.arange(3000) % 100).astype(dtype)
    if (codec, dtype) == ("szip", "float64"):
        with pytest.raises(ValueError, match="64"):
            message((descriptor([3000], dtype, **support.LOSSLESS[codec]), values))
        return
    data = message((descriptor([3000], dtype, **support.LOSSLESS[codec]), values))
    assert np.array_equal(array_of(data), values)
    assert tensogram.validate(data, "full")["issues"] == []


@pytest.mark.parametrize("codec", support.LOSSY)
def test_codec_keeps_the_error_small(codec):
    keys, error = support.LOSSY[codec]
    if not support.can_encode(codec):
        pytest.skip(f"this build has no encoder of {codec}")
    values = 50 + 50 * np.sin(np.arange(2000) / 40)
    data = message((descriptor([40, 50], "float64", **keys), values.reshape(40, 50)))
    out = array_of(data)
    assert out.dtype == np.float64 and out.shape == (40, 50)
    assert np.max(np.abs(out.ravel() - values)) <= error


@pytest.mark.parametrize("compression", ["none", "zstd", "lz4"])
def test_shuffle(compression):
    values = np.arange(1000, dtype="float32")
    keys = {"filter": "shuffle", "shuffle_element_size": 4, "compression": compression}
    assert np.array_equal(array_of(message((descriptor([1000], **keys), values))), values)


@pytest.mark.parametrize(
    "keys, text",
    [
        ({"encoding": "simple_packing"}, "sp_bits_per_value"),
        ({"encoding": "simple_packing", "sp_bits_per_value": 65}, "64"),
        ({"compression": "szip"}, "szip_"),
        ({"compression": "zfp"}, "zfp_mode"),
        ({"compression": "zfp", "zfp_mode": "no_such"}, "zfp_mode"),
        ({"filter": "shuffle"}, "shuffle_element_size"),
        ({"filter": "shuffle", "shuffle_element_size": 0}, "shuffle|element"),
        ({"compression": "rle"}, "bitmask"),
        ({"compression": "roaring"}, "bitmask"),
    ],
)
def test_parameters_of_codecs(keys, text):
    with pytest.raises(ValueError, match=text):
        encode(np.arange(4.0), dtype="float64", **keys)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_packing_takes_float64_only(dtype):
    with pytest.raises(ValueError, match="simple_packing only supports float64"):
        encode(np.zeros(4, dtype), dtype=dtype, encoding="simple_packing", sp_bits_per_value=8)


class TestPackingParameters:
    """Parameters of simple_packing: given, computed, half given."""

    values = np.linspace(250, 300, 100)

    def packed(self, **keys):
        data = message((descriptor([100], "float64", encoding="simple_packing", **keys), self.values))
        return tensogram.decode(data).objects[0]

    def test_computed(self):
        found, out = self.packed(sp_bits_per_value=16)
        assert found.params == tensogram.compute_packing_params(self.values, 16, 0)
        assert np.max(np.abs(out - self.values)) < 0.01

    def test_given_are_used_verbatim(self):
        params = tensogram.compute_packing_params(self.values, 12, 1)
        found, _ = self.packed(**params)
        assert found.params == params

    def test_decimal_scale_is_0_by_default(self):
        found, _ = self.packed(sp_bits_per_value=16, sp_reference_value=250.0, sp_binary_scale_factor=-10)
        assert found.params["sp_decimal_scale_factor"] == 0

    @pytest.mark.parametrize("half", [{"sp_reference_value": 250.0}, {"sp_binary_scale_factor": -10}])
    def test_half_of_a_pair(self, half):
        with pytest.raises(
            ValueError,
            match="(?s)sp_reference_value.*sp_binary_scale_factor|sp_binary_scale_factor.*sp_reference_value",
        ):
            self.packed(sp_bits_per_value=16, **half)

    def test_nan(self):
        with pytest.raises(ValueError, match="NaN"):
            encode(np.array([1.0, np.nan]), (2,), "float64", encoding="simple_packing", sp_bits_per_value=8)

    def test_constant(self):
        out = array_of(encode(np.full(10, 3.25), (10,), "float64", encoding="simple_packing", sp_bits_per_value=0))
        assert out.tolist() == [3.25] * 10


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
@pytest.mark.parametrize("codec", ["none", "packed", "packed szip"])
def test_bytes_are_equal_for_any_number_of_threads(codec, threads):
    keys = support.LOSSY[codec][0] if codec in support.LOSSY else {}
    pairs = [(descriptor([20000], "float64", **keys), np.sin(np.arange(20000) + i)) for i in range(3)]
    found = tensogram.decode_descriptors(message(*pairs, hash=None, threads=threads))[1]
    expected = tensogram.decode_descriptors(message(*pairs, hash=None))[1]
    assert [f.params for f in found] == [e.params for e in expected]
    assert payloads(message(*pairs, threads=threads)) == payloads(message(*pairs))


@pytest.mark.filterwarnings("ignore:data of dtype:UserWarning")
@pytest.mark.parametrize("keys", [{}, {"compression": "zstd"}, {"filter": "shuffle", "shuffle_element_size": 4}])
@pytest.mark.parametrize("stored", ["float32", "int32", "float64", "int8", "complex64", "bfloat16"])
@pytest.mark.parametrize("given", ["int64", "float32", "int16", "float64"])
def test_data_of_another_dtype_is_taken_as_bits(given, stored, keys):
    values = np.arange(8).astype(given)
    count = values.nbytes // support.WIDTHS[stored]
    found = array_of(encode(values, (count,), stored, **keys))
    assert found.tobytes() == values.tobytes() and found.shape == (count,)


def test_nan_of_another_dtype_is_found():
    with pytest.raises(ValueError, match="NaN"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        encode(np.full(4, 0x7FC00000, "int32"))


@pytest.mark.parametrize("data", [[1, 2, 3, 255], (1, 2, 3, 255), np.array([1, 2, 3, 255], object)])
def test_numbers_are_bytes(data):
    assert array_of(encode(data, dtype="uint8")).tolist() == [1, 2, 3, 255]
    assert array_of(encode(range(4), dtype="uint8")).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("data", [[1.0] * 4, [256] * 4, [-1] * 4, ["a"] * 4, {1, 2, 3, 4}])
def test_other_numbers_are_no_bytes(data):
    with pytest.raises(ValueError, match="data must be a numpy array or bytes"):
        encode(data, dtype="uint8")


def payloads(data):
    """The message from its first data object on: what is before has the time in it."""
    return data[data.index(b"FR\x00\x09") : -48]


class TestPreEncoded:
    """Payloads that are encoded already."""

    def encode(self, data, shape=(4,), dtype="float32", **keys):
        return tensogram.encode_pre_encoded({}, [(descriptor(shape, dtype, **keys), data)])

    @pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "uint8")])
    def test_payload_is_kept(self, wrap):
        assert array_of(self.encode(wrap(np.arange(4, dtype="float32").tobytes()))).tolist() == [0, 1, 2, 3]

    def test_nan_passes(self):
        data = self.encode(np.array([np.nan] * 4, "float32").tobytes())
        assert np.isnan(array_of(data)).all()
        assert any(i["code"] == "nan_detected" for i in tensogram.validate(data, "full")["issues"])

    @pytest.mark.parametrize("data", [[1, 2, 3, 255], (1, 2, 3, 255), np.array([1, 2, 3, 255], object)])
    def test_numbers_are_bytes(self, data):
        assert array_of(self.encode(data, dtype="uint8")).tolist() == [1, 2, 3, 255]
        encoder = tensogram.StreamingEncoder({})
        encoder.write_object_pre_encoded(descriptor([4], "uint8"), data)
        assert array_of(encoder.finish()).tolist() == [1, 2, 3, 255]

    @pytest.mark.parametrize(
        "data, name",
        [
            (np.arange(4, dtype="float32"), "ndarray"),
            ([1.0, 2.0], "list"),
            ([256] * 16, "list"),
            (1, "int"),
            (None, "NoneType"),
            ("abcd", "str"),
        ],
    )
    def test_other_data(self, data, name):
        with pytest.raises(ValueError, match=f"requires bytes data.*{name}"):
            self.encode(data)

    def test_packed_payload_of_another_message(self):
        values = np.linspace(0, 1, 64)
        params = tensogram.compute_packing_params(values, 8, 0)
        scale = 2.0 ** -params["sp_binary_scale_factor"]
        packed = np.round((values - params["sp_reference_value"]) * scale).astype("uint8").tobytes()
        keys = {"encoding": "simple_packing", **params}
        ours = self.encode(packed, (64,), "float64", **keys)
        theirs = message((descriptor([64], "float64", **keys), values))
        assert np.array_equal(array_of(ours), array_of(theirs))

    def test_block_offsets_without_szip(self):
        with pytest.raises(ValueError, match="szip_block_offsets provided but compression"):
            self.encode(bytes(16), szip_block_offsets=[0])

    @pytest.mark.parametrize("offsets", [[0, 0], [0, 5, 3]])
    def test_block_offsets_must_increase(self, offsets):
        with pytest.raises(ValueError, match="szip_block_offsets"):
            self.encode(
                bytes(16), compression="szip", szip_rsi=16, szip_block_size=8, szip_flags=8, szip_block_offsets=offsets
            )

    def test_hash_of_the_caller_is_ignored(self):
        data = self.encode(bytes(16), hash={"type": "xxh3", "value": "0"})
        assert tensogram.decode(data, verify_hash=True).objects[0][1].tolist() == [0] * 4


class TestPackingFunction:
    """compute_packing_params."""

    def test_keys(self):
        params = tensogram.compute_packing_params(np.array([1.0, 2.0]), 16, 2)
        assert sorted(params) == [
            "sp_binary_scale_factor",
            "sp_bits_per_value",
            "sp_decimal_scale_factor",
            "sp_reference_value",
        ]
        assert params["sp_reference_value"] == 1.0 and type(params["sp_reference_value"]) is float
        assert params["sp_bits_per_value"] == 16 and params["sp_decimal_scale_factor"] == 2
        assert type(params["sp_binary_scale_factor"]) is int

    @pytest.mark.parametrize("values", [[], [5.0, 5.0]])
    def test_nothing_to_scale(self, values):
        assert tensogram.compute_packing_params(np.array(values, "float64"), 16, 0)["sp_binary_scale_factor"] == 0

    def test_no_bits(self):
        assert tensogram.compute_packing_params(np.array([1.0, 9.0]), 0, 0)["sp_binary_scale_factor"] == 0

    @pytest.mark.parametrize("value, text", [(np.nan, "NaN value encountered at index 1"), (np.inf, "infinite value")])
    def test_non_finite(self, value, text):
        with pytest.raises(ValueError, match=text):
            tensogram.compute_packing_params(np.array([1, value]), 16, 0)

    def test_bits(self):
        with pytest.raises(ValueError, match="bits_per_value 65 exceeds maximum of 64"):
            tensogram.compute_packing_params(np.array([1.0, 2.0]), 65, 0)

    @pytest.mark.parametrize("values", ["ab", None, 1.5])
    def test_types(self, values):
        with pytest.raises(TypeError):
            tensogram.compute_packing_params(values, 16, 0)

    def test_all_arguments_are_required(self):
        with pytest.raises(TypeError):
            tensogram.compute_packing_params(np.zeros(2), 16)


@pytest.mark.better
class TestMoreArrays:
    """Arrays that the reference refuses or scrambles."""

    def test_fortran_order(self):
        values = np.asfortranarray([[0, 1, 2], [3, 4, 5]], "float32")
        assert array_of(encode(values, (2, 3))).tolist() == [[0, 1, 2], [3, 4, 5]]

    @pytest.mark.parametrize(
        "select",
        [
            lambda a: a[::2],
            lambda a: a[::-1],
            lambda a: a[:, ::3],
            lambda a: a.T,
            lambda a: a[1:, 1:],
            lambda a: a[:, ::-1],
            lambda a: np.broadcast_to(a[0], (5, 12)),
        ],
    )
    def test_strides(self, select):
        values = select(np.arange(120, dtype="int32").reshape(10, 12))
        assert array_of(encode(values, values.shape, "int32")).tolist() == values.tolist()

    def test_misaligned(self):
        values = np.frombuffer(b"x" + np.arange(4, dtype="float64").tobytes(), "uint8")[1:].view("float64")
        assert not values.flags.aligned
        assert array_of(encode(values, dtype="float64")).tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128"])
    def test_dtypes(self, dtype):
        values = np.array([0, 1.5, -2, 3]).astype(dtype)
        out = array_of(encode(values, dtype=dtype))
        assert out.dtype == values.dtype and out.tolist() == values.tolist()

    def test_bfloat16(self):
        values = np.array([0, 1.5, -2, 3], ml_dtypes.bfloat16)
        out = array_of(encode(values, dtype="bfloat16"))
        assert out.dtype == values.dtype and out.tolist() == values.tolist()

    @pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint64", "complex64", "float16"])
    def test_foreign_order(self, dtype):
        values = np.arange(4).astype(np.dtype(dtype).newbyteorder("S"))
        data = encode(values, dtype=dtype)
        assert array_of(data).tolist() == values.tolist()
        assert tensogram.decode_descriptors(data)[1][0].byte_order == "big"

    def test_bool_is_a_bitmask(self):
        values = np.arange(20) % 3 == 0
        assert array_of(encode(values, (20,), "bitmask")).tobytes() == np.packbits(values).tobytes()

    def test_bool_is_uint8(self):
        assert array_of(encode(np.array([True, False]), (2,), "uint8")).tolist() == [1, 0]

    def test_other_dtype_is_told(self):
        with pytest.warns(UserWarning, match="int64 .*float64.*bits"):
            encode(np.zeros(4, "int64"), dtype="float64")

    def test_warning_blames_the_caller(self):
        with pytest.warns(UserWarning) as caught:
            encode_here = tensogram.encode
            encode_here({}, [(descriptor([4], "float64"), np.zeros(4, "int64"))])
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        "keys",
        [
            {"encoding": "simple_packing", "sp_bits_per_value": 16},
            {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 32.0},
            {"compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.1},
        ],
    )
    def test_dtype_must_agree_where_values_are_computed(self, keys):
        with pytest.raises(ValueError, match="int64.*float64"):
            encode(np.zeros(4, "int64"), dtype="float64", **keys)

    @pytest.mark.parametrize("data", [np.ones(4, bool), np.ones(2, "complex64"), np.ones(4, ">i4")])
    def test_elements_without_bits_of_their_own(self, data):
        with pytest.raises(ValueError, match="does not fit"):
            encode(data, (data.nbytes // 4,), "float32")

    def test_descriptor_from_the_array(self):
        values = np.arange(6, dtype="int16").reshape(2, 3)
        data = tensogram.encode({}, [(None, values)])
        assert array_of(data).dtype == np.int16 and array_of(data).tolist() == values.tolist()

    def test_descriptor_of_another_message(self):
        found = tensogram.decode_descriptors(message())[1][0]
        data = tensogram.encode({}, [(found, np.ones(4, "float32"))])
        assert array_of(data).tolist() == [1] * 4

    def test_mmap(self, tmp_path):
        path = tmp_path / "raw"
        path.write_bytes(np.arange(4, dtype="float32").tobytes())
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as map_:
            assert array_of(encode(map_)).tolist() == [0, 1, 2, 3]
