"""IntegrityError and its classes: verification of digests."""

import asyncio
import copy
import pickle

import pytest

import support
import tensogram
from support import message, pair

HEX = set("0123456789abcdef")


def changed(data, index):
    """The message with a bit of the payload of object `index` changed."""
    data, place = bytearray(data), -1
    for _ in range(index + 1):
        place = data.index(b"FR\x00\x09", place + 1)
    data[place + 16] ^= 1
    return bytes(data)


@pytest.fixture
def bad():
    return changed(message(pair([1]), pair([2]), pair([3])), 1)


@pytest.fixture
def bare():
    return message(pair([1]), pair([2]), hash=None)


def file_of(tmp_path, data):
    (tmp_path / "x.tgm").write_bytes(data)
    return str(tmp_path / "x.tgm")


def calls(data, index, path):
    """Every call that verifies."""
    file = tensogram.TensogramFile.open(path)

    async def later(name, *arguments):
        handle = await tensogram.AsyncTensogramFile.open(path)
        return await getattr(handle, name)(*arguments, verify_hash=True)

    return {
        "decode": lambda: tensogram.decode(data, verify_hash=True),
        "decode_object": lambda: tensogram.decode_object(data, index, verify_hash=True),
        "iter_messages": lambda: next(tensogram.iter_messages(data, verify_hash=True)),
        "decode_message": lambda: file.decode_message(0, verify_hash=True),
        "file_decode_object": lambda: file.file_decode_object(0, index, verify_hash=True),
        "async decode_message": lambda: asyncio.run(later("decode_message", 0)),
        "async file_decode_object": lambda: asyncio.run(later("file_decode_object", 0, index)),
    }


NAMES = [
    "decode",
    "decode_object",
    "iter_messages",
    "decode_message",
    "file_decode_object",
    "async decode_message",
    "async file_decode_object",
]


def test_classes():
    assert tensogram.IntegrityError.__mro__[1:3] == (Exception, BaseException) or not support.REFERENCE
    assert issubclass(tensogram.IntegrityError, Exception)
    for name in ("MissingHashError", "HashMismatchError"):
        class_ = getattr(tensogram, name)
        assert issubclass(class_, tensogram.IntegrityError)
        assert not issubclass(class_, ValueError)
        assert class_.__name__ == name and class_.__module__ in (("tensogram", "tgmio"))


@pytest.mark.parametrize("name", NAMES)
def test_mismatch(name, bad, tmp_path):
    with pytest.raises(tensogram.HashMismatchError) as caught:
        calls(bad, 1, file_of(tmp_path, bad))[name]()
    error = caught.value
    assert type(error) is tensogram.HashMismatchError
    assert error.object_index == 1 and type(error.object_index) is int
    for digest in (error.expected, error.actual):
        assert type(digest) is str and len(digest) == 16 and set(digest) <= HEX
    assert error.expected != error.actual
    assert str(error).startswith("HashMismatch: object_index=1, expected=")
    assert error.expected in str(error) and error.actual in str(error)


@pytest.mark.parametrize("name", NAMES)
def test_missing(name, bare, tmp_path):
    with pytest.raises(tensogram.MissingHashError) as caught:
        calls(bare, 0, file_of(tmp_path, bare))[name]()
    assert type(caught.value) is tensogram.MissingHashError
    assert caught.value.object_index == 0 and str(caught.value).startswith("MissingHash: object_index=0; ")


@pytest.mark.parametrize("name", NAMES)
def test_good(name, tmp_path):
    data = message(pair([1]), pair([2]))
    assert calls(data, 1, file_of(tmp_path, data))[name]() is not None


def test_only_the_object_that_is_asked_for(bad):
    assert tensogram.decode_object(bad, 0, verify_hash=True)[2].tolist() == [1]
    assert tensogram.decode_object(bad, 2, verify_hash=True)[2].tolist() == [3]


def test_no_verification_by_default(bad, bare):
    assert len(tensogram.decode(bad).objects) == 3 and len(tensogram.decode(bare).objects) == 2
    assert len(list(tensogram.iter_messages(bad))) == 1


def test_changed_digest():
    data = bytearray(message())
    at = data.index(b"ENDF", data.index(b"FR\x00\x09")) - 1
    data[at] ^= 1
    with pytest.raises(tensogram.HashMismatchError) as caught:
        tensogram.decode(bytes(data), verify_hash=True)
    assert caught.value.object_index == 0
    assert int(caught.value.expected, 16) ^ int(caught.value.actual, 16) == 1


def test_caught_by_the_common_class(bad):
    with pytest.raises(tensogram.IntegrityError):
        tensogram.decode(bad, verify_hash=True)


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"])
def test_copies(bad, bare, again):
    for data in (bad, bare):
        with pytest.raises(tensogram.IntegrityError) as caught:
            tensogram.decode(data, verify_hash=True)
        twin = again(caught.value)
        assert type(twin) is type(caught.value) and str(twin) == str(caught.value)
        assert twin.__dict__ == caught.value.__dict__ or twin.object_index == caught.value.object_index


def test_made_by_hand():
    for name in ("IntegrityError", "MissingHashError", "HashMismatchError"):
        error = getattr(tensogram, name)("text")
        assert str(error) == "text" and error.args == ("text",)


def test_streamed_messages_have_digests():
    encoder = tensogram.StreamingEncoder({})
    encoder.write_object(*pair([1]))
    encoder.write_object(*pair([2]))
    data = encoder.finish()
    assert tensogram.decode(data, verify_hash=True)
    with pytest.raises(tensogram.HashMismatchError) as caught:
        tensogram.decode(changed(data, 1), verify_hash=True)
    assert caught.value.object_index == 1
