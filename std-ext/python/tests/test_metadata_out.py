"""Metadata of a decoded message: lookups, order, paths."""

import collections.abc

import pytest

import support
import tensogram
from support import message, pair

META = {
    "base": [
        {"mars": {"param": "2t", "step": 12, "levels": [1, 2]}, "only0": 0, "both": "first", "null": None, "empty": ""},
        {"mars": {"param": "10u", "class": "od"}, "only1": 1, "both": "second", "deep": {"a": {"b": False}}},
    ],
    "title": "forecast",
    "both": "extra",
    "nested": {"x": {"y": 7}},
}


@pytest.fixture(scope="module")
def data():
    return message(pair([1]), pair([2]), meta=META)


@pytest.fixture(scope="module", params=["decode", "decode_metadata", "decode_descriptors", "decode_object"])
def meta(request, data):
    return {
        "decode": lambda: tensogram.decode(data).metadata,
        "decode_metadata": lambda: tensogram.decode_metadata(data),
        "decode_descriptors": lambda: tensogram.decode_descriptors(data)[0],
        "decode_object": lambda: tensogram.decode_object(data, 1)[0],
    }[request.param]()


def test_class(meta):
    assert type(meta) is tensogram.Metadata
    assert isinstance(meta, collections.abc.Mapping)


def test_version(meta):
    assert meta.version == 3


def test_base(meta):
    assert type(meta.base) is list and all(type(entry) is dict for entry in meta.base)
    assert [entry["mars"] for entry in meta.base] == [entry["mars"] for entry in META["base"]]
    assert meta.base[0]["_reserved_"] == {"tensor": {"ndim": 1, "dtype": "float32", "shape": [1], "strides": [1]}}


def test_extra(meta):
    assert type(meta.extra) is dict
    assert meta.extra == {k: v for k, v in META.items() if k != "base"}


def test_reserved(meta):
    reserved = meta.reserved
    assert sorted(reserved) == ["encoder", "time", "uuid"]
    assert sorted(reserved["encoder"]) == ["name", "version"]
    assert len(reserved["uuid"]) == 36 and reserved["time"].endswith("Z")


def test_answers_are_copies(meta):
    meta.base.clear()
    meta.base[0]["mars"]["param"] = "x"
    meta.extra["nested"]["x"] = None
    meta.reserved.clear()
    assert len(meta.base) == 2 and meta["mars"]["param"] == "2t" and meta.extra["nested"] == {"x": {"y": 7}}
    assert meta.reserved


def test_attributes_are_read_only(meta):
    for name in ("version", "base", "extra", "reserved", "num_objects"):
        with pytest.raises(AttributeError):
            setattr(meta, name, 1)


def test_num_objects(meta):
    assert meta.num_objects == 2


@pytest.mark.parametrize(
    "key, value",
    [
        ("only0", 0),
        ("only1", 1),
        ("both", "first"),
        ("null", None),
        ("empty", ""),
        ("title", "forecast"),
        ("nested", {"x": {"y": 7}}),
        ("mars", {"param": "2t", "step": 12, "levels": [1, 2]}),
    ],
)
def test_key(meta, key, value):
    assert meta[key] == value and key in meta and meta.get(key, "default") == value


@pytest.mark.parametrize("key", ["absent", "_reserved_", "", "mars.param", "base", "extra", "_extra_", "version"])
def test_absent_key(meta, key):
    assert key not in meta and meta.get(key) is None and meta.get(key, 5) == 5 and meta.get(key, default=6) == 6
    with pytest.raises(KeyError) as caught:
        meta[key]
    assert caught.value.args == (key,)


KEYS = ["both", "empty", "mars", "null", "only0", "deep", "only1", "nested", "title"]


def test_keys_in_order(meta):
    assert meta.keys() == KEYS and list(meta) == KEYS and len(meta) == len(KEYS)


def test_values_and_items(meta):
    assert meta.items() == [(key, meta[key]) for key in KEYS]
    assert meta.values() == [meta[key] for key in KEYS]
    assert type(meta.keys()) is list and type(meta.items()) is list and type(meta.values()) is list


def test_dict_of_it(meta):
    assert dict(meta) == {key: meta[key] for key in KEYS}
    assert dict(**meta) == dict(meta)


def test_nested_maps_are_in_canonical_order(meta):
    assert list(meta.base[1]["mars"]) == ["class", "param"]
    assert list(meta.base[0]["mars"]) == ["step", "param", "levels"]


def test_match(meta):
    match meta:
        case {"title": title, "mars": {"param": param}}:
            assert (title, param) == ("forecast", "2t")
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize(
    "path, value",
    [
        ("mars.param", "2t"),
        ("mars.step", 12),
        ("mars.class", "od"),
        ("mars", META["base"][0]["mars"]),
        ("deep.a.b", False),
        ("nested.x.y", 7),
        ("extra.nested.x", {"y": 7}),
        ("_extra_.title", "forecast"),
        ("extra.both", "extra"),
        ("both", "first"),
        ("null", None),
        ("empty", ""),
        ("only0", 0),
    ],
)
def test_path(meta, path, value):
    assert meta.has_path(path) is True
    assert meta.get_path(path) == value and meta.get_path(path, "default") == value


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "a.",
        ".a",
        "mars.",
        ".mars",
        "mars..param",
        "mars.absent",
        "mars.levels.0",
        "title.x",
        "_reserved_",
        "_reserved_.tensor",
        "_reserved_.tensor.ndim",
        "extra",
        "_extra_",
        "extra.mars",
        "base",
        "base.0.mars",
        "null.x",
    ],
)
def test_absent_path(meta, path):
    assert meta.has_path(path) is False
    assert meta.get_path(path) is None and meta.get_path(path, 5) == 5 and meta.get_path(path, default=6) == 6


@pytest.mark.parametrize(
    "obj, path, value",
    [
        (0, "mars.param", "2t"),
        (1, "mars.param", "10u"),
        (1, "both", "second"),
        (0, "null", None),
        (1, "deep.a", {"b": False}),
    ],
)
def test_path_of_an_object(meta, obj, path, value):
    assert meta.has_path_at(obj, path) is True and meta.get_path_at(obj, path, "default") == value


@pytest.mark.parametrize(
    "obj, path",
    [
        (1, "only0"),
        (0, "title"),
        (0, "extra.title"),
        (2, "mars"),
        (10**6, "mars"),
        (0, ""),
        (0, "_reserved_.tensor"),
    ],
)
def test_absent_path_of_an_object(meta, obj, path):
    assert meta.has_path_at(obj, path) is False and meta.get_path_at(obj, path) is None
    assert meta.get_path_at(obj, path, 5) == 5


def test_negative_object(meta):
    with pytest.raises(OverflowError):
        meta.has_path_at(-1, "mars")
    with pytest.raises(OverflowError):
        meta.get_path_at(-1, "mars")


def test_paths_must_be_text(meta):
    for call in (meta.has_path, meta.get_path):
        with pytest.raises(TypeError):
            call(1)
    with pytest.raises((TypeError, KeyError)):
        meta[1]


def test_repr(meta):
    assert repr(meta) == 'Metadata(version=3, base_len=2, extra_keys=["both", "nested", "title"])'
    assert str(meta) == repr(meta)


def test_empty_metadata_is_falsy(meta):
    empty = tensogram.decode_metadata(message(pair([1])))
    assert not empty and len(empty) == 0 and list(empty) == [] and empty.num_objects == 1
    assert meta


def test_truth_counts_keys():
    assert tensogram.decode_metadata(tensogram.encode({"a": None}, []))


def test_unicode_keys():
    meta = tensogram.decode_metadata(tensogram.encode({"ключ": {"鍵": "🔑"}}, []))
    assert meta.get_path("ключ.鍵") == "🔑"


def test_time_and_identity_differ():
    first, second = (tensogram.decode_metadata(message()) for _ in range(2))
    assert first.reserved["uuid"] != second.reserved["uuid"]


def test_metadata_of_a_torn_message(data):
    assert tensogram.decode_metadata(data[:-40])["title"] == "forecast"


@pytest.mark.better
def test_other_types_of_key_are_absent(meta):
    assert 1 not in meta


@pytest.mark.better
def test_equality(data):
    assert tensogram.decode_metadata(data) == tensogram.decode_metadata(data)
    assert tensogram.decode_metadata(data) != tensogram.decode_metadata(message())


@pytest.mark.better
def test_copies(meta):
    import copy
    import pickle

    for again in (pickle.loads(pickle.dumps(meta)), copy.copy(meta), copy.deepcopy(meta)):
        assert again.base == meta.base and again.extra == meta.extra and again.reserved == meta.reserved
        assert again == meta


@pytest.mark.better
def test_to_dict(meta):
    again = tensogram.decode_metadata(tensogram.encode(meta.to_dict(), [pair([1]), pair([2])]))
    assert again.extra == meta.extra
    assert [{k: v for k, v in e.items() if k != "_reserved_"} for e in again.base] == META["base"]


class TestOtherWriters:
    """Values that dicts do not make. A message gets them by a change of its CBOR."""

    def meta(self, value, old, new):
        data = tensogram.encode({"x": value}, [], hash=None)
        assert data.count(b"ax" + old) == 1
        return tensogram.decode_metadata(data.replace(b"ax" + old, b"ax" + new))

    def test_byte_string(self):
        meta = self.meta("abcd", b"dabcd", b"Dabcd")
        assert meta["x"] == b"abcd" and meta.extra == {"x": b"abcd"}

    def test_undefined(self):
        meta = self.meta(None, b"\xf6", b"\xf7")
        assert meta["x"] is None and "x" in meta

    @pytest.mark.parametrize("head, value", [(b"\x1b", 2**64 - 1), (b"\x3b", -(2**64))])
    def test_integer_beyond_64_bits(self, head, value):
        meta = self.meta(2**62, b"\x1b\x40" + bytes(7), head + b"\xff" * 8)
        assert meta.keys() == ["x"] and "x" in meta and len(meta) == 1 and meta.has_path("x")
        if support.REFERENCE:
            with pytest.raises(ValueError, match="out of i64 range"):
                meta["x"]
        else:
            assert meta["x"] == value and meta.extra == {"x": value} and meta.get_path("x") == value

    def test_tag(self):
        meta = self.meta([5], b"\x81\x05", b"\xc1\x05")
        assert meta["x"] is not None and meta.has_path("x")
