"""Datasets over bytes, file objects and open archives."""

import io
import pickle

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")


def messages(first=0):
    """Fields of three steps, long enough to be read in parts."""
    def one(step):
        values = step * 1e6 + np.arange(200_000.0).reshape(400, 500)
        entry = {"mars": {"param": "t", "step": step, "date": 20240229, "time": 0, "area": [60.0, 0.0, 40.0, 30.0]}}
        return tgm.encode({"base": [entry]}, [(None, values)])

    return b"".join(map(one, range(first, first + 3)))


class Slow:
    """The caller's file object: it counts the bytes that are read, and fails on request."""

    def __init__(self, content):
        self.content, self.at, self.taken, self.fails = content, 0, 0, False

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, len(self.content))[whence]
        return self.at

    def read(self, size=-1):
        if self.fails:
            raise OSError("the disk is gone")
        part = self.content[self.at : None if size < 0 else self.at + size]
        self.at, self.taken = self.at + len(part), self.taken + len(part)
        return part


SOURCES = {
    "bytes": lambda content, path: content,
    "bytearray": lambda content, path: bytearray(content),
    "BytesIO": lambda content, path: io.BytesIO(content),
    "a file": lambda content, path: io.BufferedReader(io.BytesIO(content)),
    "a file object": lambda content, path: Slow(content),
    "an open archive": lambda content, path: tgm.open(path),
    "an open archive of bytes": lambda content, path: tgm.open(content),
    "a list": lambda content, path: [io.BytesIO(content)],
}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_dataset_is_the_same_whatever_it_is_read_from(tmp_path, kind):
    path = tmp_path / "a.tgm"
    path.write_bytes(messages())
    expected = tgm.open_dataset(path)
    found = tgm.open_dataset(SOURCES[kind](messages(), path))
    xarray.testing.assert_identical(found.load(), expected.load())
    chunked = tgm.open_dataset(SOURCES[kind](messages(), path), chunks={})
    assert float(chunked.t[1, 399, 499]) == 1_199_999.0


def test_files_of_fsspec_and_several_sources_are_one_dataset():
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/a.tgm", messages())
    with memory.open("/a.tgm") as file:
        found = tgm.open_dataset([file, messages(first=3)])
        assert found.t.sizes["step"] == 6
        assert float(found.t[4, 0, 1]) == 4_000_001.0


def test_a_part_is_read_without_the_rest():
    source = Slow(messages())
    opened = tgm.open_dataset(source)
    before = source.taken
    assert opened.t[2, 7].values[3] == 2_003_503.0
    assert source.taken - before < 200_000


def test_what_a_file_object_raises_is_an_error_of_the_read():
    source = Slow(messages())
    opened = tgm.open_dataset(source)
    source.fails = True
    with pytest.raises(Exception, match="the disk is gone"):
        opened.t[0, 0].values.sum()


def test_a_dataset_over_bytes_travels():
    found = pickle.loads(pickle.dumps(tgm.open_dataset(messages())))
    assert float(found.t[2, 0, 5]) == 2_000_005.0


def test_mixed_sources_and_bytes_of_another_format_are_refused(tmp_path):
    (tmp_path / "a.tgm").write_bytes(messages())
    with pytest.raises(TypeError, match="cannot be mixed"):
        tgm.open_dataset([tmp_path / "a.tgm", messages()])
    with pytest.raises(tgm.FramingError):
        tgm.open_dataset(b"GRIB and so on")
