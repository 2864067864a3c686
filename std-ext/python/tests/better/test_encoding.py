"""Encoding: descriptors whose parameters follow from an array."""

import pickle

import numpy as np
import pytest

import support
import tgmio as tgm

FIELD = np.random.default_rng(1).normal(280, 10, (30, 40))


def stored(encoding, array, **options):
    """The object that an array becomes."""
    return tgm.Message(tgm.encode({}, [(encoding, array)], **options))[0]


FLOATS = ["float64", "float32", "float16", ">f8", ">f4"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("compression", [None, "szip", "zstd", "lz4"])
@pytest.mark.parametrize("shuffle", [None, True])
def test_packed_values_are_within(dtype, compression, shuffle):
    array = FIELD.astype(dtype)
    for within in (1.0, 0.01):
        found = stored(tgm.Encoding(within=within, compression=compression, shuffle=shuffle), array)
        assert found.stages[0] == "simple_packing" and found.dtype == np.float64
        assert np.abs(found.read() - array.astype("float64")).max() <= within
    bits = 16 if shuffle or compression == "szip" else 12
    found = stored(tgm.Encoding(bits=12, compression=compression, shuffle=shuffle), array)
    assert found.descriptor.params["sp_bits_per_value"] == bits
    assert np.abs(found.read() - array.astype("float64")).max() < 0.05


DTYPES = [*support.PLAIN, ">f8", ">i2", ">u4", "complex64", ">c16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "options",
    [{}, {"shuffle": True}, *({"compression": name} for name in ("zstd", "lz4", "szip")), {"compression": "zstd", "level": 9}],
    ids=str,
)
def test_without_loss_values_stay(dtype, options):
    array = (FIELD * 3).astype(dtype)
    found = stored(tgm.Encoding(**options), array)
    assert found.dtype == array.dtype.newbyteorder("=") and np.array_equal(found.read(), array)


def test_szip_of_wide_values_is_shuffled():
    assert stored(tgm.Encoding(compression="szip"), FIELD).stages == ("shuffle", "szip")
    assert stored(tgm.Encoding(compression="szip"), FIELD.astype("float32")).stages == ("szip",)


@pytest.mark.parametrize("options", [{"within": 0.01}, {"rate": 32}, {"precision": 40}], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_zfp(options, dtype):
    array = FIELD.astype(dtype)
    found = stored(tgm.Encoding(compression="zfp", **options), array)
    assert np.abs(found.read() - array.astype("float64")).max() <= 0.01


def test_zfp_says_what_it_cannot_keep():
    for array in (np.array([9.96921e36, 280, 281]), np.array([[-1e20, 280], [281, 282]])):
        with pytest.raises(ValueError, match="zfp cannot keep values up to"):
            stored(tgm.Encoding(within=0.01, compression="zfp"), array)
    # Gaps and infinities are not kept by zfp.
    found = stored(tgm.Encoding(within=0.01, compression="zfp"), np.array([np.nan, np.inf, 2]), allow_nan=True, allow_inf=True)
    np.testing.assert_array_equal(found.read(), [np.nan, np.inf, 2])


@pytest.mark.parametrize("count", [998, 999, 1000, 1001])
@pytest.mark.parametrize("bits", [0, 3, 12])
def test_what_is_shuffled_are_bytes(count, bits):
    array = np.linspace(0, 1, count)
    found = stored(tgm.Encoding(bits=bits, compression="zstd", shuffle=True), array).read()
    assert np.abs(found - array).max() <= 2.0**-bits


def test_sz3():
    try:
        found = stored(tgm.Encoding(compression="sz3", within=0.01), FIELD)
    except ValueError as error:
        assert "sz3" in str(error)
    else:
        assert np.abs(found.read() - FIELD).max() <= 0.0101


@pytest.mark.parametrize("options", [{"within": 0.01}, {"bits": 16}, {"within": 0.01, "compression": "szip"}], ids=str)
def test_values_that_are_not_finite_are_left_out(options):
    array = FIELD.astype("float32")
    array[3, 4:9], array[0, 0], array[1, 1] = np.nan, np.inf, -np.inf
    found = stored(tgm.Encoding(**options), array, allow_nan=True, allow_inf=True).read()
    finite = np.isfinite(array)
    assert np.array_equal(np.isfinite(found), finite) and found[0, 0] == np.inf and found[1, 1] == -np.inf
    assert np.abs(found[finite] - array[finite]).max() <= 0.01
    with pytest.raises(ValueError, match="allow_(nan|inf)"):
        stored(tgm.Encoding(**options), array)
    gaps = np.ma.masked_array(FIELD, FIELD > 290)
    found = stored(tgm.Encoding(**options), gaps, allow_nan=True).read()
    assert np.array_equal(np.isnan(found), gaps.mask)


@pytest.mark.parametrize("array", [np.zeros(0), np.array(3.0), np.full(9, 7.0), np.full(4, np.nan), np.array([-0.0, 0.0])], ids=repr)
@pytest.mark.parametrize("options", [{"within": 0.01}, {"bits": 8}, {"within": 1, "compression": "szip"}, {"compression": "zstd"}], ids=str)
def test_few_and_equal_values(array, options):
    assert np.array_equal(stored(tgm.Encoding(**options), array, allow_nan=True).read(), array, equal_nan=True)


@pytest.mark.parametrize("compression", ["none", "szip", "zstd"])
@pytest.mark.parametrize("array", [[1e-310, 2e-310], [0, 1e-90], [0, 5e-324], [0, 1e-90, np.nan], [0, 1e80]])
def test_a_step_has_an_exponent_that_the_format_takes(array, compression):
    within = 1e79 if max(array) > 1 else 1000.0
    array = np.array(array)
    message = tgm.encode({}, [(tgm.Encoding(within=within, compression=compression), array)], allow_nan=True)
    np.testing.assert_allclose(tgm.Message(message)[0].read(), array, rtol=0, atol=within)


def test_truth_values():
    for compression in (None, "rle", "roaring", "zstd"):
        found = stored(tgm.Encoding(compression=compression), FIELD > 280)
        assert found.dtype == bool and np.array_equal(found.read(), FIELD > 280)


@pytest.mark.parametrize(
    "options, error, match",
    [
        ({"bitz": 3}, TypeError, "no argument 'bitz': did you mean 'bits'"),
        ({"kompression": "zstd"}, TypeError, "did you mean 'compression'"),
        ({"qqq": 1}, TypeError, "it has bits, within"),
        ({"compression": "zst"}, ValueError, "did you mean 'zstd'"),
        ({"compression": "qqq"}, ValueError, "it is one of none"),
        ({"bits": 8, "within": 1}, ValueError, "bits or within"),
        ({"bits": 65}, ValueError, "0 to 64"),
        ({"within": 0}, ValueError, "positive"),
        ({"within": float("nan")}, ValueError, "positive"),
        ({"level": 3}, ValueError, "has no level"),
        ({"compression": "zfp"}, ValueError, "one of within, rate and precision"),
        ({"compression": "zfp", "bits": 3}, ValueError, "use within"),
        ({"compression": "sz3"}, ValueError, "needs within"),
        ({"rate": 3}, ValueError, "of zfp"),
        ({"compression": "zfp", "rate": 8, "shuffle": True}, ValueError, "cannot be shuffled"),
    ],
    ids=str,
)
def test_wrong_arguments(options, error, match):
    with pytest.raises(error, match=match):
        tgm.Encoding(**options)


def test_arrays_that_cannot_be_encoded():
    for encoding, array, match in [
        (tgm.Encoding(bits=8), np.arange(3), "packing takes floats"),
        (tgm.Encoding(compression="zfp", rate=8), np.arange(3), "zfp takes floats"),
        (tgm.Encoding(bits=40, compression="szip"), FIELD, "up to 32 bits"),
        (tgm.Encoding(within=1e-300), FIELD, "no number of bits"),
        (tgm.Encoding(), np.array(["text"]), "data must be a numpy array of numbers"),
    ]:
        with pytest.raises(ValueError, match=match):
            stored(encoding, array)


def test_encodings_are_values():
    one = tgm.Encoding(bits=8, compression="zstd")
    assert one == tgm.Encoding(bits=8, compression="zstd") != tgm.Encoding(bits=9) and hash(one) == hash(pickle.loads(pickle.dumps(one)))
    assert repr(one) == "Encoding(bits=8, compression='zstd')" and eval(repr(one), {"Encoding": tgm.Encoding}) == one
    with pytest.raises(AttributeError):
        one.bits = 9


def test_wherever_a_descriptor_is_expected(tmp_path):
    encoding, array = tgm.Encoding(within=0.01), FIELD.astype("float32")
    with tgm.TensogramFile.create(tmp_path / "x.tgm") as file:
        file.append({}, [(encoding, array)])
    stream = tgm.StreamingEncoder({})
    stream.write_object(encoding, array)
    for data in (tgm.encode({}, [(encoding, array)]), (tmp_path / "x.tgm").read_bytes(), stream.finish()):
        assert tgm.Message(data)[0].stages == ("simple_packing",)


def test_dtypes_of_numpy_in_descriptors():
    for dtype in (np.float32, np.dtype("float32"), "float32"):
        descriptor = {"type": "ntensor", "shape": [3], "dtype": dtype}
        assert stored(descriptor, np.zeros(3, "float32")).dtype == np.float32
    assert stored({"type": "ntensor", "shape": [3], "dtype": bool}, np.zeros(3, bool)).dtype == bool
    with pytest.raises(ValueError, match="unknown dtype"):
        stored({"type": "ntensor", "shape": [3], "dtype": np.datetime64}, np.zeros(3))
    with pytest.raises(TypeError, match="not an instance of 'str'"):
        stored({"type": "ntensor", "shape": [3], "dtype": 5}, np.zeros(3))


@pytest.mark.parametrize("options", [{"compression": "szip"}, {"compression": "zstd", "shuffle": True}], ids=str)
def test_whole_bytes_keep_the_step_of_the_fewest_bits(options):
    # A finer step would be stored in more bytes than the error needs.
    field = np.cumsum(np.random.default_rng(0).normal(0, 0.1, 50_000)) + 280
    fewest = tgm.Message(tgm.encode({}, [(tgm.Encoding(within=0.01), field)]))[0].read()
    message = tgm.encode({}, [(tgm.Encoding(within=0.01, **options), field)])
    found = tgm.Message(message)[0]
    assert found.descriptor.params["sp_bits_per_value"] == 16 and (found.read() == fewest).all()
    finer = tgm.encode({}, [(tgm.Encoding(bits=16, **options), field)])
    assert len(message) < 0.75 * len(finer)
