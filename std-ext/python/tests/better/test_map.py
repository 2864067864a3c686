"""open with mmap: files whose messages are not copied."""

import gc
import os
import pickle
import time

import numpy as np
import pytest

import tgmio as tgm

VALUES = np.arange(12, dtype="float64").reshape(3, 4)


def pair(values):
    """An array with its descriptor."""
    return {"type": "ntensor", "shape": list(np.shape(values)), "dtype": str(values.dtype)}, values


@pytest.fixture
def path(tmp_path):
    """Three messages with garbage between them."""
    path = tmp_path / "x.tgm"
    messages = [tgm.encode({"base": [{"step": 12 * i, "mars": {"param": "2t" if i else "10u"}}]}, [pair(VALUES + i)]) for i in range(3)]
    path.write_bytes(b"garbage".join(messages))
    return path


def test_views_live_on_after_close_delete_and_replace(path):
    with tgm.open_mmap(path) as file:
        array = file[1].objects[0].array
        message = file[2]
    assert file.closed
    with pytest.raises(ValueError, match="closed"):
        len(file)
    path.unlink()
    path.write_bytes(b"other")
    del file
    gc.collect()
    assert np.array_equal(array, VALUES + 1) and np.array_equal(message.objects[0].array, VALUES + 2)


def test_sequence(path):
    file = tgm.open_mmap(str(path))
    assert len(file) == 3 and file.source == str(path)
    assert [m.index for m in file] == [0, 1, 2] and [m.index for m in file[::-1]] == [2, 1, 0]
    assert file[-1].index == 2 and np.array_equal(file[np.int64(1)][0].array, VALUES + 1)
    for index in (3, -4, 2**70):
        with pytest.raises(IndexError, match="out of range for file with 3 messages"):
            file[index]
    with pytest.raises(TypeError):
        file["0"]
    assert "messages=3" in repr(file)


def test_query(path):
    file = tgm.open_mmap(path)
    assert [o.message.index for o in file.query("mars.param=2t and step>=24")] == [2]
    assert [o.message.index for o in file.query("step>=0 and dtype=float64", threads=2)] == [0, 1, 2]
    assert tgm.TensogramFile.open(path).query("mars.param=2t") == [(1, 0), (2, 0)]
    with pytest.raises(ValueError, match="at byte"):
        file.query("and")


def test_pickle(path):
    file = tgm.open_mmap(path)
    again = pickle.loads(pickle.dumps([file, file[1], file[2].objects[0]]))
    assert len(again[0]) == 3 and again[1].index == 1 and np.array_equal(again[2].array, VALUES + 2)


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tgm.open_mmap(tmp_path / "absent")
    assert caught.value.filename == str(tmp_path / "absent")
    with pytest.raises(OSError):
        tgm.open_mmap(tmp_path)
    with pytest.raises(TypeError):
        tgm.open_mmap(5)


def test_junk_is_refused(tmp_path):
    (tmp_path / "junk").write_bytes(b"\1" + os.urandom(1000))
    with pytest.raises(ValueError, match="not a Tensogram file"):
        tgm.open_mmap(tmp_path / "junk")


def test_messages_that_are_appended_later_are_not_seen(path):
    file = tgm.open_mmap(path)
    tgm.TensogramFile.open(path).append({}, [pair(VALUES)])
    assert len(file) == 3 and len(tgm.open_mmap(path)) == 4


def test_opening_takes_little_time_and_no_memory(tmp_path):
    """The goal is 20 microseconds; the bound leaves room for a busy machine. tracemalloc and RSS see no 64 MiB."""
    path = tmp_path / "large.tgm"
    path.write_bytes(tgm.encode({}, [pair(np.ones(1 << 24, "float32"))], hash=None))
    tgm.open_mmap(path)[0].objects[0].array
    before, times = resident(), []
    for _ in range(200):
        start = time.perf_counter()
        array = tgm.open_mmap(path)[0].objects[0].array
        times.append(time.perf_counter() - start)
    assert resident() - before <= 4 << 20
    assert array.shape == (1 << 24,) and min(times) <= 200e-6


def test_a_thousand_views_leak_nothing(path):
    for _ in range(100):
        tgm.open_mmap(path)[0].objects[0].array
    gc.collect()
    before = resident()
    for _ in range(10_000):
        file = tgm.open_mmap(path)
        file[0].objects[0].array, file[1].metadata, file[2].objects[0][1, ::2]
    del file
    gc.collect()
    assert resident() - before <= 1 << 20


def resident():
    """Bytes of the process that are in memory."""
    with open("/proc/self/statm") as text:
        return int(text.read().split()[1]) * os.sysconf("SC_PAGESIZE")
