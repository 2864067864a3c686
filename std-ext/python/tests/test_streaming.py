"""StreamingEncoder."""

import numpy as np
import pytest

import support
import tensogram
from support import descriptor, message, pair

Encoder = tensogram.StreamingEncoder


def lengths(data):
    """What preamble and postamble say of the length of the message."""
    return int.from_bytes(data[16:24], "big"), int.from_bytes(data[-16:-8], "big")


def test_objects():
    encoder = Encoder({"base": [{"a": 1}], "title": "x"})
    assert encoder.write_object(*pair([1, 2])) is None
    assert encoder.write_object(descriptor=pair([3], "int8")[0], data=pair([3], "int8")[1]) is None
    data = encoder.finish()
    assert type(data) is bytes
    found = tensogram.decode(data, verify_hash=True)
    assert [a.tolist() for _, a in found.objects] == [[1, 2], [3]]
    assert found.metadata["a"] == 1 and found.metadata["title"] == "x"
    assert tensogram.scan(data) == [(0, len(data))]


def test_lengths():
    for name in ("finish", "finish_backfilled", "finish_and_reset", "finish_and_reset_backfilled"):
        encoder = Encoder({})
        encoder.write_object(*pair([1]))
        data = getattr(encoder, name)()
        assert lengths(data) == ((len(data), len(data)) if "backfilled" in name else (0, 0)), name
        assert support.array_of(data).tolist() == [1]


@pytest.mark.parametrize("finish", ["finish", "finish_backfilled"])
def test_finished(finish):
    encoder = Encoder({})
    getattr(encoder, finish)()
    for call in (
        lambda: encoder.write_object(*pair([1])),
        lambda: encoder.write_object_pre_encoded(descriptor([1]), bytes(4)),
        encoder.finish,
        encoder.finish_backfilled,
        encoder.finish_and_reset,
        encoder.finish_and_reset_backfilled,
    ):
        with pytest.raises(RuntimeError, match="StreamingEncoder already finished"):
            call()


@pytest.mark.parametrize("name", ["finish_and_reset", "finish_and_reset_backfilled"])
def test_reset(name):
    encoder = Encoder({"title": "x"}, hash=None)
    parts = []
    for i in range(3):
        for j in range(i):
            encoder.write_object(*pair([i, j]))
        parts.append(getattr(encoder, name)())
    data = b"".join(parts)
    assert tensogram.scan(data) == [(sum(map(len, parts[:i])), len(parts[i])) for i in range(3)]
    for i, found in enumerate(tensogram.iter_messages(data)):
        assert found.metadata["title"] == "x" and [a.tolist() for _, a in found.objects] == [[i, j] for j in range(i)]
    with pytest.raises(tensogram.MissingHashError):
        tensogram.decode(parts[1], verify_hash=True)


def test_empty_message():
    found = tensogram.decode(Encoder({"a": 1}).finish())
    assert found.objects == [] and found.metadata["a"] == 1


def test_pre_encoded():
    encoder = Encoder({})
    encoder.write_object(*pair([1]))
    encoder.write_object_pre_encoded(descriptor([2]), np.array([2, 3], "float32").tobytes())
    encoder.write_object_pre_encoded(descriptor([2]), np.array([4, 5], "float32").view("uint8"))
    assert [a.tolist() for _, a in tensogram.decode(encoder.finish()).objects] == [[1], [2, 3], [4, 5]]


@pytest.mark.parametrize("data", [np.zeros(1, "float32"), None, 1, "abcd"], ids=repr)
def test_pre_encoded_takes_bytes(data):
    with pytest.raises(TypeError):
        Encoder({}).write_object_pre_encoded(descriptor([1]), data)


def test_failed_write_leaves_the_encoder_usable():
    encoder = Encoder({})
    encoder.write_object(*pair([1]))
    for wrong in ((descriptor([4]), bytes(3)), pair([np.nan]), ({}, bytes(4))):
        with pytest.raises(ValueError):
            encoder.write_object(*wrong)
    encoder.write_object(*pair([2]))
    assert [a.tolist() for _, a in tensogram.decode(encoder.finish(), verify_hash=True).objects] == [[1], [2]]


def test_surplus_base_entries_are_dropped():
    encoder = Encoder({"base": [{"a": 1}, {"a": 2}]})
    encoder.write_object(*pair([1]))
    try:
        data = encoder.finish()
    except ValueError:
        assert not support.REFERENCE
    else:
        assert tensogram.decode(data).metadata.num_objects == 1


@pytest.mark.parametrize(
    "policy, allowed",
    [
        (None, True),
        ("auto", True),
        ("none", True),
        ("footer", True),
        ("header", False),
        ("both", False),
    ],
)
def test_aggregate_hash(policy, allowed):
    if allowed:
        assert tensogram.decode(Encoder({}, aggregate_hash=policy).finish()).objects == []
    else:
        with pytest.raises(ValueError, match="^EncodingError: .*not supported in streaming mode"):
            Encoder({}, aggregate_hash=policy)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"hash": "md5"}, "unknown hash type"),
        ({"nan_mask_method": "x"}, "unknown mask method"),
        ({"aggregate_hash": "x"}, "unknown aggregate_hash policy"),
    ],
)
def test_options_are_checked_at_once(options, text):
    with pytest.raises(ValueError, match=text):
        Encoder({}, **options)


@pytest.mark.parametrize(
    "meta, error", [(None, TypeError), ([], TypeError), ({"_reserved_": {}}, ValueError), ({1: 2}, TypeError)]
)
def test_metadata_is_checked_at_once(meta, error):
    with pytest.raises(error):
        Encoder(meta)


def test_masks():
    encoder = Encoder({}, allow_nan=True, allow_inf=True, small_mask_threshold_bytes=0, nan_mask_method="zstd")
    values = np.array([np.nan, 1, np.inf, -np.inf] * 100)
    encoder.write_object(*pair(values, "float64"))
    assert np.array_equal(support.array_of(encoder.finish()), values, equal_nan=True)


@pytest.mark.parametrize("codec", support.LOSSLESS)
def test_codecs(codec):
    if not support.can_encode(codec):
        pytest.skip(f"this build has no encoder of {codec}")
    encoder = Encoder({})
    values = np.arange(1000, dtype="float32")
    encoder.write_object(descriptor([1000], **support.LOSSLESS[codec]), values)
    data = encoder.finish()
    assert np.array_equal(support.array_of(data), values)
    assert not [i for i in tensogram.validate(data, "full")["issues"] if i["severity"] == "error"]


def test_into_a_file(tmp_path):
    path = tmp_path / "x.tgm"
    encoder = Encoder({"title": "x"})
    with open(path, "wb") as file:
        for i in range(3):
            encoder.write_object(*pair([i]))
            file.write(encoder.finish_and_reset_backfilled())
    file = tensogram.TensogramFile.open(str(path))
    assert [m.objects[0][1].tolist() for m in file] == [[0], [1], [2]]
    assert len(message())


@pytest.mark.better
def test_preceder():
    encoder = Encoder({})
    encoder.write_preceder({"step": 6})
    encoder.write_object(*pair([1]))
    encoder.write_object(*pair([2]))
    data = encoder.finish()
    assert tensogram.decode(data).metadata.base[0]["step"] == 6
    with pytest.raises(RuntimeError):
        encoder.write_preceder({})
