"""File objects and streams of Python as sources of messages."""

import builtins
import io
import os

import numpy as np
import pytest

import tgmio as tgm


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

    def readinto(self, room):
        some = self.read(len(room))
        room[: len(some)] = some
        return len(some)


def test_what_the_file_object_raises_is_raised():
    file = Counted(message(1, values=200_000))
    source = tgm.open(file)
    found = source[0].objects[0]
    for use in (found.read, lambda: bytes(source[0])):
        file.failure = ConnectionResetError("gone")
        with pytest.raises(ConnectionResetError, match="gone"):
            use()
        file.failure = None
    assert found.read()[2] == 3 and len(source) == 1


def test_short_reads_go_on():
    values = np.arange(200_000, dtype="float32") + 1
    assert np.array_equal(tgm.open(Counted(message(1, values=200_000)))[0].objects[0].read(), values)


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
