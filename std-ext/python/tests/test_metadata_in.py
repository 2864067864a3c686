"""The metadata dict of `encode`: base, extra, reserved, and each kind of value."""

import collections
import datetime
import decimal
import enum
import fractions
import math
import pathlib
import uuid

import numpy as np
import pytest

import support
import tensogram
from support import message, pair


def extra_of(meta):
    return tensogram.decode_metadata(tensogram.encode(meta, [])).extra


def there_and_back(value):
    return extra_of({"x": value})["x"]


class Text(str):
    pass


class Number(enum.IntEnum):
    ONE = 1


class Mine(dict):
    pass


@pytest.mark.parametrize(
    "value",
    [
        "",
        "text",
        "ä 漢字 🌍 مرحبا",
        "a\0b",
        True,
        False,
        None,
        0,
        -1,
        23,
        24,
        255,
        256,
        2**31,
        2**32,
        2**63 - 1,
        -(2**63),
        0.0,
        -0.0,
        1.5,
        1e300,
        5e-324,
        math.inf,
        -math.inf,
        [],
        [1, "a", None, [2.5]],
        {},
        {"a": {"b": {"c": [1]}}},
        [{"a": 1}, {"b": [True]}],
    ],
    ids=repr,
)
def test_value_comes_back(value):
    back = there_and_back(value)
    assert type(back) is type(value) and back == value
    if isinstance(value, float):
        assert math.copysign(1, back) == math.copysign(1, value)


def test_nan_comes_back():
    assert math.isnan(there_and_back(math.nan))


@pytest.mark.parametrize(
    "value, expected",
    [
        (Text("a"), "a"),
        (np.str_("a"), "a"),
        (np.bool_(True), True),
        (Number.ONE, 1),
        (np.int8(-3), -3),
        (np.uint16(9), 9),
        (np.int64(-(2**63)), -(2**63)),
        (np.uint64(5), 5),
        (np.array(5), 5),
        (np.float32(0.5), 0.5),
        (np.float16(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (decimal.Decimal("1.5"), 1.5),
        (fractions.Fraction(1, 4), 0.25),
        (Mine(a=1), {"a": 1}),
        (collections.OrderedDict(b=1), {"b": 1}),
        (collections.defaultdict(int, a=1), {"a": 1}),
    ],
    ids=repr,
)
def test_value_becomes(value, expected):
    back = there_and_back(value)
    assert type(back) is type(expected) and back == expected


@pytest.mark.parametrize("keys", [{1: "a"}, {None: 1}, {True: 1}, {1.5: 1}, {-3: {4: 5}}], ids=repr)
def test_keys_inside_may_be_of_other_types(keys):
    assert there_and_back(keys) == keys


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        frozenset(),
        range(3),
        datetime.date(2020, 1, 1),
        datetime.timedelta(1),
        1j,
        pathlib.Path("a"),
        object(),
        uuid.UUID(int=1),
        datetime.datetime(2020, 1, 1),
        int,
    ],
    ids=lambda v: type(v).__name__,
)
def test_value_of_no_use(value):
    for wrapped in (value, [value], {"a": value}):
        with pytest.raises(ValueError, match="cannot convert .* to CBOR"):
            there_and_back(wrapped)


def test_error_names_the_type():
    with pytest.raises(ValueError, match="cannot convert set to CBOR|cannot convert .*'?set"):
        there_and_back({1})


@pytest.mark.parametrize("key", [(1, 2), frozenset([1]), object()])
def test_keys_of_no_use_inside(key):
    with pytest.raises(ValueError):
        tensogram.encode({"a": {key: 1}}, [])


def test_lone_surrogate():
    with pytest.raises(ValueError):
        there_and_back("\ud800")


def test_deep_nesting_is_refused_or_kept():
    value = []
    for _ in range(50):
        value = [value]
    assert there_and_back(value) == value


def test_value_within_itself():
    value = []
    value.append(value)
    code = """if True:
        import tensogram
        value = []; value.append(value)
        try:
            tensogram.encode({"x": value}, [])
        except (ValueError, RecursionError, RuntimeError) as error:
            print("refused")
    """
    if not support.REFERENCE:
        assert support.python(code) == "refused\n"


@pytest.mark.parametrize("meta", [None, [], "ab", 1, ()])
def test_metadata_must_be_a_dict(meta):
    with pytest.raises(TypeError):
        tensogram.encode(meta, [])


def test_subclass_of_dict():
    assert extra_of(Mine(a=1)) == {"a": 1}


@pytest.mark.parametrize("key", [1, None, b"a"])
def test_keys_must_be_text(key):
    with pytest.raises(TypeError):
        tensogram.encode({key: 1}, [])


@pytest.mark.parametrize("base", [None, {}, "ab", 1])
def test_base_must_be_a_list(base):
    with pytest.raises(ValueError, match="'base' must be a list"):
        tensogram.encode({"base": base}, [])


@pytest.mark.parametrize("entry", [None, [], 1, "a"])
def test_base_entries_must_be_dicts(entry):
    with pytest.raises(ValueError, match="expected a dict"):
        tensogram.encode({"base": [entry]}, [pair([1])])


def test_surplus_base_entries():
    with pytest.raises(ValueError, match="^MetadataError: .*base has 2 entries"):
        message(pair([1]), meta={"base": [{}, {}]})


def test_missing_base_entries():
    base = tensogram.decode_metadata(message(pair([1]), pair([2]), meta={"base": [{"a": 1}]})).base
    assert len(base) == 2 and base[0]["a"] == 1 and "a" not in base[1]


@pytest.mark.parametrize("key", ["_extra_", "extra"])
def test_extra(key):
    assert extra_of({key: {"a": 1}}) == {"a": 1}


@pytest.mark.parametrize("key", ["_extra_", "extra"])
@pytest.mark.parametrize("value", [None, [], "a", 1])
def test_extra_must_be_a_dict(key, value):
    with pytest.raises(ValueError, match=f"'{key}' must be a dict"):
        tensogram.encode({key: value}, [])


def test_extra_is_dropped_beside_explicit_extra():
    assert extra_of({"_extra_": {"a": 1}, "extra": {"b": 2}}) == {"a": 1}


def test_other_keys_go_to_extra():
    assert extra_of({"a": 1, "version": 9, "mars": {"class": "od"}}) == {"a": 1, "version": 9, "mars": {"class": "od"}}


def test_explicit_extra_wins():
    assert extra_of({"a": 1, "b": 2, "_extra_": {"a": 9}}) == {"a": 9, "b": 2}


def test_reserved_is_refused():
    with pytest.raises(ValueError, match="_reserved_"):
        tensogram.encode({"_reserved_": {}}, [])
    with pytest.raises(ValueError, match="_reserved_"):
        tensogram.encode({"base": [{"_reserved_": {}}]}, [pair([1])])


def test_many_keys():
    keys = {f"key{i:04}": i for i in range(1000)}
    assert extra_of(keys) == keys


def test_dict_is_not_changed():
    meta = {"base": [{"a": [1]}], "b": {"c": 1}, "_extra_": {"d": 2}}
    before = repr(meta)
    message(pair([1]), meta=meta)
    assert repr(meta) == before


@pytest.mark.better
@pytest.mark.parametrize("value", [2**63, 2**64 - 1, -(2**63) - 1, -(2**64), b"", b"bytes"], ids=repr)
def test_more_values(value):
    back = there_and_back(value)
    assert type(back) is type(value) and back == value


@pytest.mark.better
def test_unsigned_numpy_integers():
    assert there_and_back(np.uint64(2**64 - 1)) == 2**64 - 1


@pytest.mark.better
def test_tuples_become_lists():
    assert there_and_back((1, (2, 3))) == [1, [2, 3]]


@pytest.mark.better
def test_metadata_of_another_message():
    found = tensogram.decode_metadata(message(pair([1]), meta={"base": [{"a": 1}], "b": 2}))
    again = tensogram.decode_metadata(tensogram.encode(found, [pair([1])]))
    assert again["a"] == 1 and again["b"] == 2


@pytest.mark.better
@pytest.mark.parametrize("value", [2**64, -(2**64) - 1, 10**30])
def test_integers_beyond_64_bits_are_errors(value):
    with pytest.raises(OverflowError, match="64 bits"):
        there_and_back(value)
    with pytest.raises(OverflowError, match=str(value)):
        there_and_back({"a": [value]})
