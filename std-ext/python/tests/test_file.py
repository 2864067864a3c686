"""TensogramFile."""

import os
import pathlib

import numpy as np
import pytest

import support
import tensogram
from support import message, pair

File = tensogram.TensogramFile


def value(found):
    """The number that message i of `one_file` holds four times."""
    ((_, array),) = found.objects
    assert array.tolist() == [array[0]] * 4
    return int(array[0])


@pytest.fixture
def file(one_file):
    return File.open(one_file)


class TestOpen:
    """open, create, source, with."""

    def test_source(self, one_file):
        file = File.open(one_file)
        assert file.source() == one_file and file.is_remote() is False
        assert repr(file) == f"TensogramFile(source='{one_file}')"

    def test_bidirectional(self, one_file):
        assert len(File.open(one_file, bidirectional=False)) == 3
        for wrong in (1, None, "yes"):
            with pytest.raises(TypeError, match="bool"):
                File.open(one_file, bidirectional=wrong)
        with pytest.raises(TypeError):
            File.open(one_file, True)

    @pytest.mark.parametrize("path", [None, 1, ["a"]])
    def test_path_of_no_use(self, path):
        with pytest.raises(TypeError):
            File.open(path)
        with pytest.raises(TypeError):
            File.create(path)

    def test_relative_path(self, one_file, monkeypatch):
        monkeypatch.chdir(os.path.dirname(one_file))
        file = File.open(os.path.basename(one_file))
        assert len(file) == 3 and file.source() == os.path.basename(one_file)

    def test_create(self, tmp_path):
        path = tmp_path / "a" / "b" / "x.tgm"
        file = File.create(str(path))
        assert path.stat().st_size == 0 and len(file) == 0 and not file
        assert file.source() == str(path)

    def test_create_truncates(self, one_file):
        assert len(File.create(one_file)) == 0
        assert os.path.getsize(one_file) == 0

    def test_with(self, one_file):
        file = File.open(one_file)
        with file as same:
            assert same is file and len(file) == 3

    def test_exit(self, one_file):
        file = File.open(one_file)
        assert not file.__exit__(None, None, None)
        with pytest.raises(ZeroDivisionError), File.open(one_file):
            raise ZeroDivisionError

    def test_many_handles(self, one_file):
        files = [File.open(one_file) for _ in range(100)]
        assert [value(f[1]) for f in files] == [1] * 100


class TestCount:
    """message_count, len, truth."""

    def test_count(self, file):
        assert len(file) == 3 and file.message_count() == 3 and file

    @pytest.mark.parametrize("content", [b"", b"junk", bytes(5000)])
    def test_junk(self, tmp_path, content):
        (tmp_path / "x").write_bytes(content)
        file = File.open(str(tmp_path / "x"))
        assert len(file) == 0 and not file and list(file) == [] and file.messages() == [] and file[:] == []

    def test_torn_tail(self, tmp_path):
        (tmp_path / "x").write_bytes(message() * 2 + message()[:-5])
        assert len(File.open(str(tmp_path / "x"))) == 2

    def test_garbage_between(self, tmp_path):
        (tmp_path / "x").write_bytes(b"a" + message(pair([5])) + b"bb" + message(pair([6])))
        file = File.open(str(tmp_path / "x"))
        assert [m.objects[0][1].tolist() for m in file] == [[5], [6]]


class TestAppend:
    """append."""

    def test_returns_nothing(self, tmp_path):
        file = File.create(str(tmp_path / "x.tgm"))
        assert file.append({}, [pair([1])]) is None
        assert len(file) == 1

    def test_opened_file(self, one_file):
        file = File.open(one_file)
        assert len(file) == 3
        file.append({}, [pair([9] * 4)])
        assert len(file) == 4 and value(file[3]) == 9 and value(file[-1]) == 9
        assert len(File.open(one_file)) == 4

    def test_50_messages(self, tmp_path):
        file = File.create(str(tmp_path / "x.tgm"))
        for i in range(50):
            file.append({"i": i}, [pair([i] * 4, "int32")])
        assert [value(m) for m in file] == list(range(50))
        assert [file.file_decode_metadata(i)["i"] for i in range(50)] == list(range(50))

    def test_options(self, tmp_path):
        file = File.create(str(tmp_path / "x.tgm"))
        file.append(
            {},
            [pair([np.nan, 1, np.inf])],
            hash=None,
            allow_nan=True,
            allow_inf=True,
            nan_mask_method="rle",
            aggregate_hash="none",
            threads=2,
            small_mask_threshold_bytes=0,
        )
        assert np.array_equal(file[0].objects[0][1], np.array([np.nan, 1, np.inf], "float32"), equal_nan=True)
        with pytest.raises(tensogram.MissingHashError):
            file.decode_message(0, verify_hash=True)

    def test_failure_writes_nothing(self, one_file):
        file = File.open(one_file)
        size = os.path.getsize(one_file)
        for pairs in ([pair([np.nan])], [({"type": "x"}, None)], None):
            with pytest.raises((ValueError, TypeError)):
                file.append({}, pairs)
        assert os.path.getsize(one_file) == size and len(file) == 3

    def test_bytes_are_those_of_encode(self, tmp_path):
        path = tmp_path / "x.tgm"
        File.create(str(path)).append({}, [pair([1, 2])])
        expected = message(pair([1, 2]))
        assert path.stat().st_size == len(expected)

    def test_other_handle_reads_what_was_there(self, one_file):
        reader, writer = File.open(one_file), File.open(one_file)
        assert len(reader) == 3
        writer.append({}, [pair([7] * 4)])
        assert value(reader[2]) == 2 and len(File.open(one_file)) == 4


class TestRead:
    """Methods that read."""

    def test_decode_message(self, file):
        found = file.decode_message(1)
        assert type(found) is tensogram.Message and value(found) == 1 and found.metadata["step"] == 1
        assert (
            value(
                file.decode_message(
                    index=2, native_byte_order=True, threads=0, restore_non_finite=True, verify_hash=True
                )
            )
            == 2
        )

    def test_metadata(self, file):
        found = file.file_decode_metadata(msg_index=2)
        assert type(found) is tensogram.Metadata and found["title"] == "message 2"

    def test_descriptors(self, file):
        found = file.file_decode_descriptors(msg_index=1)
        assert type(found) is dict and sorted(found) == ["descriptors", "metadata"]
        assert found["metadata"]["step"] == 1 and [d.shape for d in found["descriptors"]] == [[4]]
        assert type(found["descriptors"]) is list

    def test_object(self, file):
        found = file.file_decode_object(msg_index=1, obj_index=0, native_byte_order=True, threads=0, verify_hash=True)
        assert type(found) is dict and sorted(found) == ["data", "descriptor", "metadata"]
        assert found["data"].tolist() == [1] * 4 and found["data"].flags.writeable
        assert found["descriptor"].dtype == "float32" and found["metadata"]["step"] == 1

    def test_range(self, file):
        found = file.file_decode_range(2, 0, [(1, 2), (0, 1)])
        assert [p.tolist() for p in found] == [[2, 2], [2]]
        found = file.file_decode_range(
            msg_index=2, obj_index=0, ranges=[(1, 2)], join=True, native_byte_order=True, threads=0
        )
        assert found.tolist() == [2, 2]
        with pytest.raises(TypeError, match="verify_hash"):
            file.file_decode_range(0, 0, [(0, 1)], verify_hash=True)
        with pytest.raises(ValueError, match="exceeds payload size"):
            file.file_decode_range(0, 0, [(0, 5)])

    def test_object_index(self, file):
        for call in (lambda: file.file_decode_object(0, 1), lambda: file.file_decode_range(0, 1, [(0, 1)])):
            with pytest.raises(ValueError, match=r"ObjectError: object index 1 out of range \(num_objects=1\)"):
                call()

    def test_bytes(self, file, one_file):
        parts = [file.read_message(i) for i in range(3)]
        assert all(type(p) is bytes for p in parts)
        assert b"".join(parts) == pathlib.Path(one_file).read_bytes()
        assert file.messages() == parts and type(file.messages()) is list
        assert value(tensogram.decode(parts[1])) == 1

    @pytest.mark.parametrize(
        "name", ["decode_message", "read_message", "file_decode_metadata", "file_decode_descriptors"]
    )
    @pytest.mark.parametrize(
        "index, error", [(-1, OverflowError), (1.0, TypeError), (None, TypeError), ("0", TypeError)]
    )
    def test_indices(self, file, name, index, error):
        with pytest.raises(error):
            getattr(file, name)(index)

    def test_numpy_indices(self, file):
        assert value(file.decode_message(np.int64(2))) == 2 and value(file.decode_message(True)) == 1

    def test_not_restored(self, tmp_path):
        file = File.create(str(tmp_path / "x.tgm"))
        file.append({}, [pair([np.nan, 1])], allow_nan=True)
        assert file.decode_message(0, restore_non_finite=False).objects[0][1].tolist() == [0, 1]
        assert np.isnan(file.file_decode_object(0, 0)["data"][0])
        assert np.isnan(file.file_decode_range(0, 0, [(0, 1)])[0][0])


class TestIndexing:
    """f[i], f[a:b:c]."""

    @pytest.mark.parametrize(
        "index, expected",
        [
            (0, 0),
            (2, 2),
            (-1, 2),
            (-3, 0),
            (np.int32(1), 1),
            (np.int64(-1), 2),
            (True, 1),
            (np.uint8(2), 2),
        ],
    )
    def test_one(self, file, index, expected):
        found = file[index]
        assert type(found) is tensogram.Message and value(found) == expected
        metadata, objects = found
        assert metadata["step"] == expected and type(objects) is list

    @pytest.mark.parametrize(
        "slice_",
        [
            slice(None),
            slice(1, None),
            slice(None, -1),
            slice(None, None, -1),
            slice(None, None, 2),
            slice(5, 9),
            slice(-100, 100),
            slice(2, 0, -1),
            slice(1, 1),
        ],
        ids=str,
    )
    def test_slice(self, file, slice_):
        found = file[slice_]
        assert type(found) is list and [value(m) for m in found] == [0, 1, 2][slice_]

    @pytest.mark.parametrize("index", [1.0, "0", None, (0, 1), ..., [0], b"a"], ids=repr)
    def test_other_indices(self, file, index):
        with pytest.raises(TypeError, match="indices must be integers or slices"):
            file[index]

    @pytest.mark.parametrize("index", [2**63, -(2**63) - 1, 2**70, -(2**70)])
    def test_indices_of_more_than_64_bits(self, file, index):
        with pytest.raises(TypeError, match="indices must be integers or slices"):
            file[index]

    def test_step_0(self, file):
        with pytest.raises(ValueError):
            file[::0]


@pytest.mark.better
class TestMoreOfFiles:
    """Paths, closing, handles and pickles."""

    def test_paths(self, tmp_path):
        path = tmp_path / "x.tgm"
        with File.create(path) as file:
            file.append({}, [pair([1])])
        assert len(File.open(path)) == 1
        assert tensogram.validate_file(path)["file_issues"] == []

    def test_close(self, one_file):
        file = File.open(one_file)
        assert file.closed is False
        file.close()
        assert file.closed is True
        file.close()
        with pytest.raises(ValueError):
            file.read_message(0)

    def test_with_gives_the_file_back(self, one_file):
        """A later use opens it again: programs for the reference go on after `with`."""
        import gc

        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        with File.open(one_file) as file:
            assert len(file) == 3
        assert len(os.listdir("/proc/self/fd")) == before
        assert len(file) == 3 and value(file[1]) == 1

    def test_pickles(self, one_file):
        import pickle

        file = pickle.loads(pickle.dumps(File.open(one_file)))
        assert len(file) == 3 and value(file[1]) == 1

    def test_weak_reference(self, one_file):
        import gc
        import weakref

        file = File.open(one_file)
        reference = weakref.ref(file)
        del file
        gc.collect()
        assert reference() is None

    def test_no_descriptor_is_left_open(self, one_file):
        import gc

        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(50):
            File.open(one_file)[0]
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_rewritten_file_is_read_without_a_crash(one_file):
    file = File.open(one_file)
    assert len(file) == 3
    with open(one_file, "wb"):
        pass
    with pytest.raises((ValueError, OSError)):
        file.read_message(2)


def test_support_data_is_there():
    assert (support.DATA / "README.md").exists()
