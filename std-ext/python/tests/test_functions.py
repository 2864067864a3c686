"""decode and its kin, scan, validate, compute_hash, doctor: buffers in, flags, results."""

import array
import mmap

import numpy as np
import pytest

import support
import tensogram
from support import message, pair

READERS = {
    "decode": tensogram.decode,
    "decode_with_masks": tensogram.decode_with_masks,
    "decode_object": lambda buf: tensogram.decode_object(buf, 0),
    "decode_range": lambda buf: tensogram.decode_range(buf, 0, [(0, 1)]),
    "scan": tensogram.scan,
    "validate": tensogram.validate,
    "compute_hash": tensogram.compute_hash,
    "decode_metadata": tensogram.decode_metadata,
    "decode_descriptors": tensogram.decode_descriptors,
    "iter_messages": tensogram.iter_messages,
}
BYTES_ONLY = ["decode_metadata", "decode_descriptors", "iter_messages"]


class Mine(bytes):
    pass


@pytest.mark.parametrize("name", READERS)
def test_bytes(name):
    assert READERS[name](message()) is not None
    assert READERS[name](Mine(message())) is not None


@pytest.mark.parametrize("name", [name for name in READERS if name not in BYTES_ONLY])
def test_bytearray(name):
    data = bytearray(message())
    assert READERS[name](data) is not None
    data.extend(b"not locked")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("value", [None, 1, 1.5, [1, 2], object()], ids=repr)
def test_no_buffer(name, value):
    with pytest.raises(TypeError):
        READERS[name](value)


@pytest.mark.parametrize("name", READERS)
def test_text(name):
    with pytest.raises(TypeError):
        READERS[name]("TENSOGRM")


@pytest.mark.parametrize("value", [memoryview(b"ab"), np.zeros(2, "uint8"), "ab", 1, None])
def test_hash_takes_bytes_only(value):
    with pytest.raises(TypeError):
        tensogram.compute_hash(value)


@pytest.mark.better
@pytest.mark.parametrize("name", [name for name in READERS if name != "compute_hash"])
@pytest.mark.parametrize(
    "wrap",
    [
        bytearray,
        memoryview,
        lambda b: np.frombuffer(b, "uint8"),
        lambda b: array.array("B", b),
        lambda b: memoryview(bytearray(b)),
        lambda b: np.frombuffer(bytearray(b), "uint8"),
    ],
)
def test_any_buffer(name, wrap):
    data = message()
    assert type(READERS[name](wrap(data))) is type(READERS[name](data))


@pytest.mark.better
@pytest.mark.parametrize("name", [name for name in READERS if name != "compute_hash"])
def test_map(name, tmp_path):
    path = tmp_path / "x.tgm"
    path.write_bytes(message())
    with open(path, "rb") as file:
        map_ = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        READERS[name](map_)


@pytest.mark.better
def test_buffers_that_are_not_bytes_in_a_row():
    with pytest.raises((TypeError, ValueError, BufferError)):
        tensogram.decode(memoryview(bytes(200))[::2])


class TestFlags:
    """Flags are bool, counts are ints."""

    @pytest.mark.parametrize("flag", ["native_byte_order", "restore_non_finite", "verify_hash"])
    @pytest.mark.parametrize("value", [True, False, np.bool_(True), np.bool_(False)])
    def test_bool(self, flag, value):
        assert tensogram.decode(message(), **{flag: value})

    @pytest.mark.parametrize("flag", ["native_byte_order", "restore_non_finite", "verify_hash"])
    @pytest.mark.parametrize("value", [1, 0, "yes", None, 1.0])
    def test_other_flags(self, flag, value):
        with pytest.raises(TypeError, match="bool"):
            tensogram.decode(message(), **{flag: value})

    @pytest.mark.parametrize("value", [0, 1, True, np.int8(1), np.uint64(2)])
    def test_count(self, value):
        assert tensogram.decode(message(), threads=value)

    @pytest.mark.parametrize(
        "value, error",
        [
            (-1, OverflowError),
            (2**32, OverflowError),
            (2**70, OverflowError),
            (1.0, TypeError),
            (None, TypeError),
            ("1", TypeError),
        ],
    )
    def test_other_counts(self, value, error):
        with pytest.raises(error):
            tensogram.decode(message(), threads=value)
        with pytest.raises(error):
            message(threads=value)

    @pytest.mark.parametrize("index", [1, np.int64(1), True, np.uint8(1)])
    def test_index(self, index):
        assert tensogram.decode_object(message(pair([1]), pair([2])), index)[2].tolist() == [2]

    class Index:
        def __index__(self):
            return 1

    def test_index_method(self):
        assert tensogram.decode_object(message(pair([1]), pair([2])), self.Index())[2].tolist() == [2]

    @pytest.mark.parametrize(
        "index, error",
        [
            (-1, OverflowError),
            (1.0, TypeError),
            (None, TypeError),
            ("0", TypeError),
            (2**64, OverflowError),
        ],
    )
    def test_other_indices(self, index, error):
        with pytest.raises(error):
            tensogram.decode_object(message(), index)


class TestDecode:
    """What is given back."""

    def test_message(self):
        found = tensogram.decode(message(pair([1]), pair([2, 3], "int8")))
        assert type(found) is tensogram.Message
        metadata, objects = found
        assert type(metadata) is tensogram.Metadata and type(objects) is list
        for entry in objects:
            assert type(entry) is tuple and len(entry) == 2
            descriptor, array_ = entry
            assert type(descriptor) is tensogram.DataObjectDescriptor and list(array_.shape) == descriptor.shape
        assert found._asdict() == {"metadata": metadata, "objects": objects}
        match found:
            case tensogram.Message(metadata=m, objects=[_, (_, last)]):
                assert m is metadata and last.tolist() == [2, 3]
            case _:
                pytest.fail("no match")

    def test_object(self):
        found = tensogram.decode_object(message(), 0)
        assert type(found) is tuple and len(found) == 3
        assert [type(x) for x in found] == [tensogram.Metadata, tensogram.DataObjectDescriptor, np.ndarray]

    def test_descriptors(self):
        found = tensogram.decode_descriptors(message(pair([1]), pair([2])))
        assert type(found) is tuple and type(found[0]) is tensogram.Metadata and type(found[1]) is list
        assert [type(d) for d in found[1]] == [tensogram.DataObjectDescriptor] * 2

    def test_twice(self):
        data = message(pair(np.arange(100.0), "float64"))
        assert support.array_of(data).tolist() == support.array_of(data).tolist()

    def test_first_of_several(self):
        data = message(pair([1])) + message(pair([2]))
        assert support.array_of(data).tolist() == [1]

    def test_trailing_bytes(self):
        assert support.array_of(message() + b"trailing").tolist() == [0, 1, 2, 3]

    def test_leading_bytes(self):
        with pytest.raises(ValueError, match="^FramingError: .*magic"):
            tensogram.decode(b"leading." + message())


class TestScan:
    """scan."""

    def test_places(self):
        first, second = message(), message(pair([1] * 100))
        assert tensogram.scan(first + second) == [(0, len(first)), (len(first), len(second))]

    def test_garbage(self):
        one = message()
        data = b"garbage" + one + b"\0" * 100 + one + b"TENSOGRM and no more"
        assert tensogram.scan(data) == [(7, len(one)), (107 + len(one), len(one))]

    @pytest.mark.parametrize("data", [b"", b"a", b"TENSOGRM", bytes(1000), b"TENSOGRM" * 50])
    def test_nothing(self, data):
        assert tensogram.scan(data) == []

    def test_torn_tail(self):
        one = message()
        assert tensogram.scan(one + one[:-1]) == [(0, len(one))]

    def test_types(self):
        (entry,) = tensogram.scan(message())
        assert type(entry) is tuple and [type(n) for n in entry] == [int, int]


class TestHash:
    """compute_hash."""

    @pytest.mark.parametrize(
        "data, digest",
        [
            (b"hello world", "d447b1ea40e6988b"),
            (b"", "2d06800538d394c2"),
            (bytearray(b"hello world"), "d447b1ea40e6988b"),
        ],
    )
    def test_known(self, data, digest):
        assert tensogram.compute_hash(data) == digest
        assert tensogram.compute_hash(data, "xxh3") == digest
        assert tensogram.compute_hash(data, algo="none") == digest

    @pytest.mark.parametrize("length", [1, 16, 17, 128, 129, 240, 241, 1000, 10**6])
    def test_form(self, length):
        digest = tensogram.compute_hash(b"x" * length)
        assert len(digest) == 16 and digest == digest.lower() and int(digest, 16) >= 0

    @pytest.mark.parametrize("algo", ["", "XXH3", "md5"])
    def test_unknown(self, algo):
        with pytest.raises(ValueError, match="unknown hash type"):
            tensogram.compute_hash(b"", algo)

    @pytest.mark.parametrize("algo", [None, 1])
    def test_algo_is_text(self, algo):
        with pytest.raises(TypeError):
            tensogram.compute_hash(b"", algo)


class TestValidate:
    """validate, validate_file."""

    def test_good(self):
        assert tensogram.validate(message()) == {"hash_verified": True, "issues": [], "object_count": 1}

    @pytest.mark.parametrize("level", ["quick", "default", "checksum", "full"])
    @pytest.mark.parametrize("canonical", [False, True])
    def test_levels(self, level, canonical):
        report = tensogram.validate(message(pair([1]), pair([2])), level, canonical)
        assert report["issues"] == [] and report["object_count"] == 2
        assert report["hash_verified"] is (level != "quick")

    @pytest.mark.parametrize("level", ["", "Quick", "everything"])
    def test_unknown_level(self, level):
        with pytest.raises(ValueError, match="unknown validation level") as caught:
            tensogram.validate(message(), level)
        for name in ("quick", "default", "checksum", "full"):
            assert name in str(caught.value)

    @pytest.mark.parametrize(
        "data, code",
        [
            (b"", "buffer_too_short"),
            (b"TENSOGRM", "buffer_too_short"),
            (bytes(100), "invalid_magic"),
        ],
    )
    def test_no_message(self, data, code):
        report = tensogram.validate(data)
        assert [i["code"] for i in report["issues"]] == [code] and report["object_count"] == 0
        issue = report["issues"][0]
        assert issue["severity"] == "error" and issue["level"] == "structure" and issue["description"]

    def test_changed_payload(self):
        report = tensogram.validate(changed(message()))
        issue = next(i for i in report["issues"] if i["code"] == "hash_mismatch")
        assert issue["severity"] == "error" and issue["level"] == "integrity" and issue["object_index"] == 0
        assert type(issue["object_index"]) is int
        assert report["hash_verified"] is False
        assert tensogram.validate(changed(message()), "quick")["issues"] == []

    def test_no_hashes(self):
        report = tensogram.validate(message(pair([1]), pair([2]), hash=None))
        assert [(i["code"], i["severity"], i["object_index"]) for i in report["issues"]] == [
            ("no_hash_available", "warning", 0),
            ("no_hash_available", "warning", 1),
        ]

    @pytest.mark.parametrize("value, code", [(np.nan, "nan_detected"), (np.inf, "inf_detected")])
    def test_non_finite_values(self, value, code):
        keys, array_ = pair([0, value])
        data = tensogram.encode_pre_encoded({}, [(keys, array_.tobytes())])
        assert tensogram.validate(data)["issues"] == []
        report = tensogram.validate(data, "full")
        assert [(i["code"], i["level"]) for i in report["issues"]] == [(code, "fidelity")]
        assert report["hash_verified"] is False

    def test_masked_values_are_good(self):
        data = message(pair([0, np.nan, np.inf]), allow_nan=True, allow_inf=True)
        assert tensogram.validate(data, "full")["issues"] == []

    def test_keys(self):
        report = tensogram.validate(changed(message()))
        assert list(report) == ["hash_verified", "issues", "object_count"]
        for issue in report["issues"]:
            assert list(issue) == sorted(issue)
            assert {"code", "description", "level", "severity"} <= set(issue)
            assert set(issue) <= {"byte_offset", "code", "description", "level", "object_index", "severity"}

    def test_file(self, tmp_path):
        path = str(tmp_path / "x.tgm")
        one = message()
        with open(path, "wb") as file:
            file.write(b"junk" + one + b"rubbish" + one + b"end")
        report = tensogram.validate_file(path)
        assert [m["issues"] for m in report["messages"]] == [[], []]
        assert [(i["byte_offset"], i["length"]) for i in report["file_issues"]] == [
            (0, 4),
            (4 + len(one), 7),
            (11 + 2 * len(one), 3),
        ]
        assert all(type(i["description"]) is str for i in report["file_issues"])

    def test_empty_file(self, tmp_path):
        (tmp_path / "x.tgm").touch()
        assert tensogram.validate_file(str(tmp_path / "x.tgm")) == {"file_issues": [], "messages": []}

    def test_no_file(self, tmp_path):
        with pytest.raises(OSError):
            tensogram.validate_file(str(tmp_path / "absent.tgm"))

    def test_level_of_a_file(self, one_file):
        with pytest.raises(ValueError, match="unknown validation level"):
            tensogram.validate_file(one_file, "x")
        assert len(tensogram.validate_file(one_file, level="full", check_canonical=True)["messages"]) == 3


def changed(data, at=None):
    """The message with one bit of its last object's payload changed."""
    data = bytearray(data)
    position = payload_of(data) if at is None else at
    data[position] ^= 1
    return bytes(data)


def payload_of(data):
    """The offset of the first payload byte of the first data object."""
    return bytes(data).index(b"FR\x00\x09") + 16


class TestDoctor:
    """doctor."""

    def test_shape(self):
        report = tensogram.doctor()
        assert sorted(report) == ["build", "features", "self_test"]
        assert {"version", "wire_version", "target", "profile"} <= set(report["build"])
        assert report["build"]["wire_version"] == tensogram.WIRE_VERSION
        for row in report["features"]:
            assert {"name", "kind", "state"} <= set(row) and row["state"] in ("on", "off")
            assert row["kind"] in ("compression", "threading", "io")
            if row["state"] == "on":
                assert row["backend"] and row["linkage"] in ("ffi", "pure-rust")
            else:
                assert set(row) == {"name", "kind", "state"}
        assert all(row["outcome"] in ("ok", "skipped") and row["label"] for row in report["self_test"])
        assert any(row["outcome"] == "ok" for row in report["self_test"])

    def test_names(self):
        names = [row["name"] for row in tensogram.doctor()["features"]]
        assert names == "szip szip-pure zstd zstd-pure lz4 blosc2 zfp sz3 threads remote mmap async".split()

    def test_labels(self):
        labels = [row["label"] for row in tensogram.doctor()["self_test"]]
        known = ["encode/decode  none/none/none", "decode_metadata round-trip", "scan multi-message buffer"]
        assert set([*known, "hash xxh3 verify"]) <= set(labels)

    def test_twice(self):
        assert tensogram.doctor() == tensogram.doctor()
