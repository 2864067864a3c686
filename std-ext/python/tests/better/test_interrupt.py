"""Ctrl-C ends long work within a second, and callbacks tell how far it is."""

import os
import signal
import subprocess
import sys
import time

import pytest

import tgm

WORK = {
    "calls": "for _ in range(10_000): tgm.encode({}, [(packed, data)])",
    "objects of one message": "tgm.encode({}, [(packed, data)] * 10_000)",
    "list of messages": "list(tgm.iter_messages(small * 300_000))",
    "slice of a file": "file[:]",
    "bytes of all messages": "while_true(file.messages)",
    "validation": "tgm.validate_file(path, 'full')",
    "query": "while_true(lambda: file.query('a=1'))",
}

SETUP = """if True:
    import signal, sys, numpy as np, tgm
    # A shell that runs tests in the background lets them ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    data = np.random.default_rng(0).standard_normal(100_000)
    packed = {"type": "ntensor", "shape": [100_000], "dtype": "float64", "compression": "zstd", "zstd_level": 19}
    quick = {**packed, "zstd_level": 1}
    small = tgm.encode({"a": 1}, [(None, np.zeros(3))])
    path, work = sys.argv[1:]
    if "file" in work:
        with open(path, "wb") as out:
            for _ in range(60):
                out.write(tgm.encode({"a": 1}, [(quick, data)]) + small * 1000)
    file = tgm.TensogramFile.open(path) if "file" in work else None
    def while_true(call):
        while True:
            call()
    print("ready", flush=True)
    try:
        exec(work)
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("name", WORK)
def test_interrupt(name, tmp_path):
    command = [sys.executable, "-c", SETUP, str(tmp_path / "x.tgm"), WORK[name]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGINT)
            start = time.monotonic()
            line = process.stdout.readline()
            took = time.monotonic() - start
        finally:
            process.kill()
    assert line == "interrupted\n"
    # A second, and what a busy machine adds.
    assert took < 5


@pytest.fixture
def three(tmp_path):
    path = tmp_path / "three.tgm"
    path.write_bytes(tgm.encode({}, []) * 3)
    return path


def test_progress_of_validation(three):
    seen = []
    report = tgm.validate_file(three, progress=lambda done, total: seen.append((done, total)))
    size = three.stat().st_size
    assert seen == [(size // 3, size), (size // 3 * 2, size), (size, size)]
    assert report == tgm.validate_file(three)


def test_error_of_a_callback_ends_the_work(three):
    calls = []

    def progress(done, total):
        calls.append(done)
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tgm.validate_file(three, progress=progress)
    assert len(calls) == 1


def test_callback_must_be_callable(three):
    with pytest.raises(TypeError, match="not callable"):
        tgm.validate_file(three, progress=7)
