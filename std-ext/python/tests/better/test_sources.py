"""File objects and streams of Python as sources of messages."""

import builtins
import io
import os
import threading

import numpy as np
import pytest

import tgm


def message(step, values=12):
    """A message of two objects."""
    pairs = [(None, np.arange(values, dtype="float32") + step), (None, np.full((2, 3), step, "int16"))]
    return tgm.encode({"base": [{"step": step}]}, pairs)


class Counted(io.BytesIO):
    """A file that counts the bytes that are read, and fails on request."""

    taken = 0
    failure = None

    def read(self, size=-1):
        if self.failure is not None:
            raise self.failure
        some = super().read(size if size < 1000 else 1000)  # reads may be short
        self.taken += len(some)
        return some


def test_a_file_object_gives_what_a_file_gives(tmp_path):
    path = tmp_path / "x.tgm"
    path.write_bytes(b"junk".join(message(step) for step in range(4)))
    file = tgm.TensogramFile.open(path)
    with builtins.open(path, "rb") as plain:
        source = tgm.open(plain)
        assert isinstance(source, tgm.SourceFile) and isinstance(tgm.open(path), tgm.TensogramFile)
        assert len(source) == source.message_count() == len(file) == 4
        for index in range(4):
            assert source.read_message(index) == file.read_message(index)
            assert source[index].metadata == file[index].metadata == source.file_decode_metadata(index)
            assert np.array_equal(source[index].objects[1][1], file[index].objects[1][1])
        assert np.array_equal(source.file_decode_object(2, 0)["data"], file.file_decode_object(2, 0)["data"])
        assert source.file_decode_descriptors(3)["descriptors"] == file.file_decode_descriptors(3)["descriptors"]
        ranges = [(3, 2), (0, 1)]
        assert np.array_equal(source.file_decode_range(1, 0, ranges, join=True), [4, 5, 1])
        assert [len(part) for part in source.file_decode_range(1, 0, ranges)] == [2, 1]
        assert source[-1].metadata["step"] == 3 and [m.metadata["step"] for m in source] == [0, 1, 2, 3]
        with pytest.raises(IndexError, match="message index 4 out of range for file with 4 messages"):
            source[4]
        with pytest.raises(ValueError, match="FramingError"):
            source.read_message(9)
        assert repr(source) == f"SourceFile({str(path)!r})".replace("'", '"')


def test_only_what_is_needed_is_read():
    file = Counted(message(1, values=2_000_000))
    source = tgm.SourceFile(file)
    assert np.array_equal(source.file_decode_range(0, 0, [(1_000_000, 10)], join=True), np.arange(10) + 1_000_001)
    assert file.taken < 200_000
    assert source.file_decode_object(0, 1)["data"].shape == (2, 3)
    assert file.taken < 400_000


def test_what_the_file_object_raises_is_raised():
    file = Counted(message(1))
    source = tgm.SourceFile(file)
    file.failure = ConnectionResetError("gone")
    with pytest.raises(ConnectionResetError, match="gone"):
        len(source)
    file.failure = None
    assert len(source) == 1
    with pytest.raises(TypeError, match="no read and seek"):
        tgm.SourceFile(object())
    with pytest.raises(TypeError, match="mode 'rb'"):
        len(tgm.SourceFile(io.StringIO("no bytes")))


def test_threads_share_a_file_object():
    source = tgm.SourceFile(io.BytesIO(b"".join(message(step, values=5000) for step in range(20))))
    wrong = []

    def work():
        for _ in range(20):
            for index in range(20):
                if source.file_decode_object(index, 0)["data"][0] != index:
                    wrong.append(index)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_messages_come_while_a_pipe_stays_open():
    read, write = os.pipe()
    with builtins.open(read, "rb", buffering=0) as stream:
        messages = tgm.MessageStream(stream)
        second = message(2)
        os.write(write, b"junk" + message(1) + second[:40])
        assert tgm.decode(next(messages)).metadata["step"] == 1
        os.write(write, second[40:])
        assert next(messages) == second
        os.close(write)
        assert list(messages) == []


def test_streams_raise_what_they_met_and_go_on():
    file = Counted(message(1) + message(2, values=5000) + message(3))
    messages = tgm.MessageStream(file, max_message_bytes=4000)
    assert tgm.decode(next(messages)).metadata["step"] == 1
    with pytest.raises(ValueError):
        next(messages)
    file.failure = TimeoutError("wait")
    with pytest.raises(TimeoutError):
        next(messages)
    file.failure = None
    assert [tgm.decode(found).metadata["step"] for found in messages] == [3]
    with pytest.raises(TypeError, match="has no read"):
        tgm.MessageStream(7)
