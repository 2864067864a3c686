"""Classes and texts of errors."""

import os

import numpy as np
import pytest

import support
import tensogram
from support import descriptor, message, pair


def raised(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: tensogram.decode(b""), "buffer too short"),
        (lambda: tensogram.decode(b"short"), "buffer too short"),
        (lambda: tensogram.decode(bytes(100)), "invalid magic"),
        (lambda: tensogram.decode(message()[:-1]), ""),
        (lambda: tensogram.decode(message()[:60]), ""),
        (lambda: tensogram.decode_object(b"", 0), "buffer too short"),
        (lambda: tensogram.decode_range(bytes(100), 0, []), "invalid magic"),
        (lambda: tensogram.decode_with_masks(bytes(100)), "invalid magic"),
        (lambda: tensogram.decode_metadata(b""), "buffer too short"),
        (lambda: tensogram.decode_descriptors(bytes(100)), "invalid magic"),
    ],
)
def test_framing(call, text):
    error = raised(call)
    assert isinstance(error, ValueError)
    assert str(error).startswith("FramingError: ") and text in str(error)


def test_other_version():
    data = bytearray(message())
    data[8:10] = b"\0\4" if data[8:10] == b"\0\3" else b"\4\0"
    error = raised(lambda: tensogram.decode(bytes(data)))
    assert isinstance(error, ValueError) and "version" in str(error)


@pytest.mark.parametrize(
    "call",
    [
        lambda: message((descriptor([4]), b"")),
        lambda: message(meta={"base": [{}, {}]}),
        lambda: message((descriptor([4], strides=[]), bytes(16))),
    ],
)
def test_metadata(call):
    error = raised(call)
    assert isinstance(error, ValueError) and str(error).startswith("MetadataError: ")


@pytest.mark.parametrize(
    "call",
    [
        lambda: message(pair([np.nan])),
        lambda: message(pair([1], compression="gzip")),
        lambda: tensogram.decode_range(message(), 0, [(0, 5)]),
        lambda: tensogram.decode_range(message(pair([1], compression="zstd")), 0, [(0, 1)]),
    ],
)
def test_encoding(call):
    error = raised(call)
    assert isinstance(error, ValueError) and str(error).startswith("EncodingError: ")


@pytest.mark.parametrize("index", [1, 2, 10**6, 2**63])
def test_object_index(index):
    error = raised(lambda: tensogram.decode_object(message(), index))
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"ObjectError: object index {index} out of range (num_objects=1)")


@pytest.mark.parametrize("index", [3, 2**40])
def test_message_index(one_file, index):
    file = tensogram.TensogramFile.open(one_file)
    for call in (file.decode_message, file.read_message, file.file_decode_metadata, file.file_decode_descriptors):
        error = raised(lambda call=call: call(index))
        assert isinstance(error, ValueError) and str(error).startswith("FramingError: ")
        assert f"message index {index} out of range" in str(error) and "(count=3)" in str(error)


@pytest.mark.parametrize("index", [3, -4, 2**40])
def test_index_of_a_file(one_file, index):
    error = raised(lambda: tensogram.TensogramFile.open(one_file)[index])
    assert type(error) is IndexError
    assert "out of range for file with 3 messages" in str(error) and str(index) in str(error)


def test_no_file(tmp_path):
    path = str(tmp_path / "absent.tgm")
    error = raised(lambda: tensogram.TensogramFile.open(path))
    assert isinstance(error, OSError)
    assert path in str(error) and ("No such" in str(error) or "not found" in str(error))


def test_file_that_has_gone(one_file):
    file = tensogram.TensogramFile.open(one_file)
    os.remove(one_file)
    if support.REFERENCE:
        assert isinstance(raised(lambda: file.read_message(0)), OSError)


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    error = raised(lambda: tensogram.TensogramFile.create(str(tmp_path / "file" / "x.tgm")))
    assert isinstance(error, OSError) and "x.tgm" in str(error)


def test_address_of_no_use():
    error = raised(lambda: tensogram.TensogramFile.open_remote("/local/path.tgm"))
    assert isinstance(error, OSError) and str(error).startswith("RemoteError: ")


@pytest.mark.parametrize("name", ["file_decode_object_batch", "file_decode_range_batch"])
def test_batch_of_a_local_file(one_file, name):
    arguments = ([0], 0) if "object" in name else ([0], 0, [(0, 1)])
    error = raised(lambda: getattr(tensogram.TensogramFile.open(one_file), name)(*arguments))
    assert isinstance(error, OSError) and "requires a remote backend" in str(error)


@pytest.mark.better
class TestMoreOfErrors:
    """Classes, places and numbers in errors."""

    def test_no_file(self, tmp_path):
        path = str(tmp_path / "absent.tgm")
        error = raised(lambda: tensogram.TensogramFile.open(path))
        assert isinstance(error, FileNotFoundError) and error.errno == 2 and error.filename == path

    def test_directory(self, tmp_path):
        error = raised(lambda: tensogram.TensogramFile.open(str(tmp_path)))
        assert isinstance(error, IsADirectoryError)

    def test_place_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").touch()
        error = raised(lambda: tensogram.TensogramFile.create(str(tmp_path / "file" / "x.tgm")))
        assert isinstance(error, OSError) and error.errno is not None

    def test_attributes(self):
        data = bytearray(message())
        data[-60] ^= 255
        error = raised(lambda: tensogram.decode(b"leading " + bytes(data)))
        assert error.kind and isinstance(error.offset, (int, type(None)))

    def test_common_class(self):
        import tgmio as tgm

        for call in (lambda: tensogram.decode(b""), lambda: tensogram.decode_object(message(), 7)):
            error = raised(call)
            assert isinstance(error, tgm.TensogramError) and isinstance(error, ValueError)

    def test_pickles(self):
        import pickle

        error = raised(lambda: tensogram.decode(b""))
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and again.kind == error.kind


def test_no_panic_on_changed_bytes():
    """A thousand messages with one byte changed: decoding gives a message or one of the errors above."""
    values = np.linspace(0, 1, 50)
    data = message(
        (descriptor([50], "float64", encoding="simple_packing", sp_bits_per_value=12), values),
        pair(values, "float32"),
        meta={"base": [{"a": [1, {"b": "c"}]}], "d": 1.5},
    )
    random = np.random.default_rng(1)
    for _ in range(1000):
        torn = bytearray(data)
        torn[random.integers(len(torn))] = random.integers(256)
        for call in (
            tensogram.decode,
            tensogram.decode_descriptors,
            tensogram.validate,
            tensogram.scan,
            lambda b: tensogram.decode(b, verify_hash=True),
            lambda b: list(tensogram.iter_messages(b)),
        ):
            try:
                call(bytes(torn))
            except (ValueError, tensogram.IntegrityError):
                pass


def test_entries_of_a_hash_frame_are_texts():
    data = bytearray(message())
    # The text of 16 letters becomes as many bytes.
    data[data.index(b"\x70", data.index(b"hashes"))] = 0x50
    assert "hash entry must be text" in str(raised(lambda: tensogram.decode(bytes(data))))
