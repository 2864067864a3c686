"""object[10:20, ::4]: the same as numpy, and only what is selected is decoded."""

import itertools
import random
import time

import numpy as np
import pytest

import tgmio as tgm

KINDS = {
    "plain": {},
    "foreign": {"byte_order": "big"},
    "zstd": {"compression": "zstd"},
    "lz4": {"compression": "lz4"},
    "szip": {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 16, "szip_block_size": 8,
             "szip_flags": 8},
    "shuffle": {"filter": "shuffle", "shuffle_element_size": 8},
    "packed": {"encoding": "simple_packing", "sp_bits_per_value": 13},
}
AXIS = [3, -1, slice(None), slice(2, 5), slice(None, None, 3), slice(None, None, -1), slice(5, 1, -2), slice(4, 4),
        slice(-3, None), slice(0, 100, 4), np.int32(0)]


def of(values, **keys):
    """The object of a message, and what decoding the message gives."""
    dtype = keys.pop("dtype", str(values.dtype))
    if keys.get("byte_order") == "big":
        values = values.astype(values.dtype.newbyteorder(">"))
    data = tgm.encode({}, [({"type": "ntensor", "shape": list(values.shape), "dtype": dtype, **keys}, values)])
    return tgm.Message(data).objects[0], tgm.decode(data).objects[0][1]


@pytest.mark.parametrize("kind", KINDS)
def test_equals_numpy(kind):
    tensor, array = of(np.arange(6 * 7 * 5.0).reshape(6, 7, 5), **KINDS[kind])
    keys = list(itertools.product(AXIS, AXIS))
    keys += [(..., key) for key in AXIS] + [(key, ..., 1) for key in AXIS] + [(None, key, None, ...) for key in AXIS] + AXIS
    keys += [(1, 2, 3), (1, 2, 3, ...), (..., 1, 2, 3), (), ..., None, (None, 1, 2, 3)]
    for key in keys:
        found, expected = tensor[key], array[key]
        assert type(found) is type(expected) and found.dtype == expected.dtype, key
        assert found.shape == expected.shape and np.array_equal(found, expected), key


@pytest.mark.parametrize("kind", ["plain", "zstd", "packed"])
@pytest.mark.parametrize("key", [[0, 2], (slice(None), [1, 1]), np.array([True, False] * 3), (np.array([0, 5]), [1, 2], 3), True])
def test_other_indices_of_numpy(kind, key):
    tensor, array = of(np.arange(6 * 7 * 5.0).reshape(6, 7, 5), **KINDS[kind])
    assert np.array_equal(tensor[key], array[key])


@pytest.mark.parametrize("kind", ["plain", "zstd"])
@pytest.mark.parametrize("key", [6, -7, (0, 7), (0, 0, 0, 0), (..., ...), (slice(None), 99), "a", 1.5])
def test_errors_of_numpy(kind, key):
    tensor, array = of(np.zeros((6, 7, 5)), **KINDS[kind])
    with pytest.raises(IndexError) as expected:
        array[key]
    with pytest.raises(IndexError) as found:
        tensor[key]
    if isinstance(key, (int, tuple)) and "ellipsis" not in str(expected.value):
        assert str(found.value).split("(")[0] == str(expected.value).split("(")[0]


@pytest.mark.parametrize("kind", ["plain", "zstd"])
def test_a_step_of_zero(kind):
    with pytest.raises(ValueError, match="zero"):
        of(np.zeros(4), **KINDS[kind])[0][::0]


def test_random_selections():
    dice = random.Random(1)
    part = lambda n: slice(*[dice.choice([None, dice.randint(-n - 2, n + 2)]) for _ in range(2)], dice.choice([None, -3, -1, 1, 2, 5]))
    for _ in range(200):
        shape = [dice.randint(0, 9) for _ in range(dice.randint(1, 4))]
        tensor, array = of(np.arange(np.prod(shape), dtype="int32").reshape(shape), compression="zstd")
        key = tuple(dice.randrange(-n, n) if n and dice.random() < 0.3 else part(n) for n in shape[:dice.randint(0, len(shape))])
        assert np.array_equal(tensor[key], array[key]), (shape, key)


def test_no_dimensions():
    for kind in ("plain", "zstd"):
        tensor, array = of(np.array(3.0), **KINDS[kind])
        assert tensor[()] == 3 and tensor[...].shape == () and tensor[None].shape == (1,)
        with pytest.raises(IndexError):
            tensor[0]


def test_truth_values_of_a_bitmask():
    truths = np.random.default_rng(0).random((7, 9)) < 0.4
    tensor, _ = of(truths, dtype="bitmask")
    for key in (3, (slice(1, 6, 2), slice(None, None, -2)), ..., (2, 3), [0, 3], (slice(None), 8), slice(0, 0)):
        found = tensor[key]
        assert found.dtype == bool and np.array_equal(found, truths[key]), key


def test_masked_values():
    values = np.arange(100.0)
    values[::7] = np.nan
    data = tgm.encode({}, [({"type": "ntensor", "shape": [10, 10], "dtype": "float64", "compression": "zstd"}, values)], allow_nan=True)
    tensor = tgm.Message(data).objects[0]
    assert np.array_equal(tensor[2:8:3, ::-3], values.reshape(10, 10)[2:8:3, ::-3], equal_nan=True)


def test_a_selection_costs_what_is_selected():
    """16 million packed values: a few of them take a thousandth of the time of all."""
    tensor, array = of(np.arange(4096 * 1024.0).reshape(4096, 1024), **KINDS["packed"])
    start = time.perf_counter()
    assert np.array_equal(tensor[100:102, ::64], array[100:102, ::64])
    some = time.perf_counter() - start
    start = time.perf_counter()
    tensor.decode()
    assert some < (time.perf_counter() - start) / 4
