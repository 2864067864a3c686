"""StreamingEncoder."""

import concurrent.futures
import io

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


@pytest.mark.parametrize("first", ["x", 5, [], [("type", "ntensor")]])
def test_first_argument_must_be_a_descriptor(first):
    for method, data in [("write_object", np.zeros(4, "float32")), ("write_object_pre_encoded", bytes(16))]:
        with pytest.raises(TypeError, match="argument 'descriptor': .* is not an instance of 'dict'"):
            getattr(Encoder({}), method)(first, data)


def test_bytes_need_a_descriptor():
    for method in ("write_object", "write_object_pre_encoded"):
        with pytest.raises(TypeError, match="argument 'descriptor'"):
            getattr(Encoder({}), method)(None, bytes(16))


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


class Raw(io.RawIOBase):
    """A file that takes some bytes at a time."""

    def __init__(self):
        self.content = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.content += bytes(data)[:100]
        return min(len(data), 100)


class Failing:
    """A file that fails after a number of writes."""

    def __init__(self, writes):
        self.writes = writes

    def write(self, data):
        self.writes -= 1
        if self.writes < 0:
            raise OSError(28, "No space left on device")


@pytest.mark.better
class TestFile:
    """Messages that go to a file object."""

    @pytest.mark.parametrize("make", [io.BytesIO, Raw])
    def test_bytes_are_those_of_memory(self, make):
        file, parts = make(), []
        encoder, other = Encoder({"title": "x"}, file=file), Encoder({"title": "x"})
        for one in (encoder, other):
            one.write_preceder({"step": 0})
            one.write_object(*pair([1, 2]))
            one.write_object_pre_encoded(descriptor([4]), bytes(16))
            parts.append(one.finish())
        written = bytes(file.content) if make is Raw else file.getvalue()
        assert parts[0] == b"" and len(written) == len(parts[1])
        found = tensogram.decode(written)
        assert [a.tolist() for _, a in found.objects] == [[1, 2], [0] * 4]
        assert found.metadata["title"] == "x" and found.metadata["step"] == 0
        assert not [i for i in tensogram.validate(written, "full")["issues"] if i["severity"] == "error"]

    def test_objects_are_written_at_once(self):
        file = io.BytesIO()
        encoder = Encoder({}, file=file)
        before = len(file.getvalue())
        encoder.write_object(*pair(np.zeros(1000)))
        assert len(file.getvalue()) - before > 4000

    def test_several_messages(self, tmp_path):
        with open(tmp_path / "x.tgm", "wb") as file:
            encoder = Encoder({"title": "x"}, file=file)
            for i in range(3):
                encoder.write_object(*pair([i]))
                assert encoder.finish_and_reset() == b""
        found = tensogram.TensogramFile.open(str(tmp_path / "x.tgm"))
        assert [m.objects[0][1].tolist() for m in found] == [[0], [1], [2]]

    @pytest.mark.parametrize("finish", ["finish_backfilled", "finish_and_reset_backfilled"])
    def test_no_length_at_the_beginning(self, finish):
        with pytest.raises(ValueError, match="finish"):
            getattr(Encoder({}, file=io.BytesIO()), finish)()

    @pytest.mark.parametrize("writes", [0, 1])
    def test_error_of_the_file_ends_the_encoder(self, writes):
        encoder = Encoder({}, file=Failing(writes))
        with pytest.raises(OSError, match="No space") as caught:
            for _ in range(3):
                encoder.write_object(*pair([1]))
        assert caught.value.errno == 28
        with pytest.raises(RuntimeError, match="already finished"):
            encoder.finish()

    def test_refused_object_leaves_the_file_as_it_was(self):
        file = io.BytesIO()
        encoder = Encoder({}, file=file)
        with pytest.raises(ValueError):
            encoder.write_object(descriptor([5]), bytes(16))
        encoder.write_object(*pair([7]))
        encoder.finish()
        assert support.array_of(file.getvalue()).tolist() == [7]

    @pytest.mark.parametrize("file", [7, "path", b""])
    def test_other_objects(self, file):
        with pytest.raises(TypeError, match="argument 'file'.*no write"):
            Encoder({}, file=file)

    def test_threads_write_whole_objects(self):
        file = io.BytesIO()
        encoder = Encoder({}, file=file)
        values = np.arange(20_000.0)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: encoder.write_object(None, values + i), range(40)))
        encoder.finish()
        found = tensogram.decode(file.getvalue(), verify_hash=True)
        assert sorted(a[0] for _, a in found.objects) == list(range(40))


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
