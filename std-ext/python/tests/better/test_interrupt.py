"""Ctrl-C ends long work within a second, and callbacks say how far it is."""

import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tgmio as tgm

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
    import signal, sys, numpy as np, tgmio as tgm
    # A shell that runs tests in the background lets them ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    data = np.random.default_rng(0).standard_normal(100_000)
    packed = {"type": "ntensor", "shape": [100_000], "dtype": "float64", "compression": "zstd", "zstd_level": 19}
    quick = {**packed, "zstd_level": 1}
    small = tgm.encode({"a": 1}, [(None, np.zeros(3))])
    path, work, before = sys.argv[1:]
    exec(before)
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


# A server that takes connections and never answers.
SILENT = """if True:
    import socket, threading
    silent = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.tgm"
    class Silent:
        "A file object whose read does not return."
        name = "silent"
        def seek(self, *place):
            return 1000
        def read(self, size):
            threading.Event().wait()
    def in_thread(call):
        threading.Thread(target=call, daemon=True).start()
        import time; time.sleep(0.1)
"""

WAITS = {
    "open of an address": "tgm.open(address)",
    "a file at an address": "tgm.TensogramFile.open(address)",
    "load": "tgm.load(address)",
    "a file object": "tgm.open(Silent())",
    "a stream": "next(tgm.MessageStream(Silent()))",
    "a stream that another thread reads": "stream = tgm.MessageStream(Silent()); in_thread(lambda: next(stream)); next(stream)",
    "a call of asyncio": "asyncio.run(asynchronous())",
}

WAITING = SILENT + """
    import asyncio
    async def asynchronous():
        await tgm.AsyncTensogramFile.open(address)
"""

# Nobody writes into the pipe, so each of these reads waits.
PIPES = {
    "validation": "tgm.validate_file(pipe)",
    "a stream": "next(tgm.MessageStream(open(pipe, 'rb', buffering=0)))",
    "a stream of a writer that is silent": "hold(); next(tgm.MessageStream(open(pipe, 'rb', buffering=0)))",
    "validation of a writer that is silent": "hold(); tgm.validate_file(pipe)",
}

PIPE = """
    import os
    pipe = path + ".pipe"
    os.mkfifo(pipe)
    def hold():
        "Opens the pipe for writing, and writes nothing."
        os.open(pipe, os.O_RDWR)
"""

# What reads at positions, which a pipe does not have: each is an error at once.
AT_POSITIONS = {
    "open": lambda pipe: tgm.open(pipe),
    "open a map": lambda pipe: tgm.open_mmap(pipe),
    "load": lambda pipe: tgm.load(pipe),
    "a dataset": lambda pipe: tgm.open_dataset(pipe),
    "datasets": lambda pipe: tgm.open_datasets(pipe),
    "a tree": lambda pipe: tgm.open_dataset(pipe.rename(pipe.with_suffix(".tree"))),
    "a catalogue that is given": lambda pipe: tgm.open_dataset(field(pipe), catalog=pipe),
    "references": lambda pipe: tgm.references(pipe),
    "a store of Zarr": lambda pipe: tgm.zarr_store(pipe),
    "a catalogue": lambda pipe: tgm.catalogue(pipe, keys=["a"]),
    "a file": lambda pipe: tgm.TensogramFile.open(pipe),
    "a file of asyncio": lambda pipe: asyncio.run(opened(pipe)),
    "append": lambda pipe: tgm.Writer(pipe, append=True),
}


def field(pipe):
    path = pipe.with_name("field.tgm")
    tgm.save(path, {"t": np.zeros(3)})
    return path


async def opened(path):
    return await tgm.AsyncTensogramFile.open(path)


# One object that takes seconds, in each direction. `slow` has codecs whose work is cut into blocks; zstd is fast to decode,
# and a thread helps with some of them.
LONG = {
    "encode zfp": "tgm.encode({}, [(zfp, many)])",
    "encode zfp on threads": "tgm.encode({}, [(zfp, many)], threads=2)",
    # Fast processors encode 5,000,000 values before the signal comes.
    "encode szip": "tgm.encode({}, [(szip, np.resize(many, 20_000_000))])",
    "encode zstd": "tgm.encode({}, [(tgm.Encoding(compression='zstd', level=19), many)])",
    "decode zfp": "repeat(lambda: tgm.decode(made(zfp)))",
    "decode zfp on threads": "repeat(lambda: tgm.decode(made(zfp), threads=2))",
    "decode szip": "repeat(tgm.Message(made(szip))[0].read)",
    "decode szip on threads": "repeat(lambda: tgm.Message(made(szip))[0].read(threads=2))",
}

WORKING = """if True:
    many = np.random.default_rng(0).normal(size=5_000_000)
    zfp = tgm.Encoding(compression="zfp", precision=60)
    szip = tgm.Encoding(bits=24, compression="szip")
    def made(encoding, cache={}):
        "The message of many values, made of a short stream that repeats."
        if encoding not in cache:
            cache[encoding] = tgm.encode({}, [(encoding, many)])
            print("ready", flush=True)
        return cache[encoding]
    def repeat(call):
        while True:
            call()
    def busy(encoder):
        "An encoder that another thread uses for seconds."
        import threading
        threading.Thread(target=encoder.write_object, args=(zfp, many), daemon=True).start()
        time.sleep(0.2)
        return encoder
    import io, time
"""

# An encoder that is busy. Data that is short is encoded with the GIL held, and the wait for the other thread must not be.
BUSY = {
    "write_object": "busy(tgm.StreamingEncoder({})).write_object(None, data[:3])",
    "write_object to a file": "busy(tgm.StreamingEncoder({}, file=io.BytesIO())).write_object(None, data[:3])",
    "write_object_pre_encoded": "busy(tgm.StreamingEncoder({})).write_object_pre_encoded("
    "{'type': 'ntensor', 'shape': [8], 'dtype': 'uint8'}, bytes(8))",
    "write_preceder": "busy(tgm.StreamingEncoder({})).write_preceder({})",
    "finish": "busy(tgm.StreamingEncoder({})).finish()",
    "finish_and_reset": "busy(tgm.StreamingEncoder({})).finish_and_reset()",
}


@pytest.mark.parametrize("name", WAITS)
def test_waiting_is_interrupted(name, tmp_path):
    interrupted(WAITS[name], tmp_path, before=WAITING)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
@pytest.mark.parametrize("name", PIPES)
def test_waiting_for_a_pipe_is_interrupted(name, tmp_path):
    interrupted(PIPES[name], tmp_path, before="if True:" + PIPE)


# What has to be installed beside for some.
NEEDS = {
    "xarray": {"a dataset", "datasets", "a tree", "a catalogue that is given"},
    "zarr": {"a store of Zarr"},
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
@pytest.mark.parametrize("name", AT_POSITIONS)
def test_pipes_have_no_positions(name, tmp_path):
    for module in ("xarray", "zarr"):
        if name in NEEDS[module]:
            pytest.importorskip(module)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    start = time.monotonic()
    # A catalogue is passed over with a warning, which these tests make an error.
    with pytest.raises((OSError, Warning), match="a pipe has no positions to read at"):
        AT_POSITIONS[name](pipe)
    assert time.monotonic() - start < 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
def test_a_pipe_is_validated_as_its_writer_comes(tmp_path):
    pipe, message = tmp_path / "pipe", tgm.encode({}, [(None, np.zeros(100_000))])
    os.mkfifo(pipe)

    def write():
        time.sleep(0.3)
        with open(pipe, "wb", buffering=0) as file:
            file.write(message[:1000])
            time.sleep(0.3)
            file.write(message[1000:])

    writer = threading.Thread(target=write)
    writer.start()
    report = tgm.validate_file(pipe)
    writer.join()
    assert len(report["messages"]) == 1 and not report["file_issues"] and not report["messages"][0]["issues"]


@pytest.mark.parametrize("name", LONG)
def test_one_long_object_is_interrupted(name, tmp_path):
    interrupted(LONG[name], tmp_path, before=WORKING, ready=2 if "made" in LONG[name] else 1)


@pytest.mark.parametrize("name", BUSY)
def test_waiting_for_an_encoder_is_interrupted(name, tmp_path):
    interrupted(BUSY[name], tmp_path, before=WORKING)


@pytest.mark.parametrize("name", WORK)
def test_interrupt(name, tmp_path):
    interrupted(WORK[name], tmp_path)


def interrupted(work, tmp_path, before="", ready=1):
    """Runs code in a process of its own, which prints that it is ready so many times, and then gets the signal."""
    command = [sys.executable, "-c", SETUP, str(tmp_path / "x.tgm"), work, before]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            for _ in range(ready):
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


def test_ctrl_c_ends_a_conversion(tmp_path):
    """Between two messages, so that the output is not written."""
    data = (pathlib.Path(__file__).resolve().parents[4] / "tests/data-grib/simple-16.grib2").read_bytes()
    (tmp_path / "many.grib").write_bytes(data * 200_000)
    code = """if True:
        import signal, sys, tgmio as tgm
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("begins", flush=True)
        try:
            tgm.convert(sys.argv[1], sys.argv[2])
        except KeyboardInterrupt:
            print("ended", flush=True)
    """
    words = [sys.executable, "-c", code, str(tmp_path / "many.grib"), str(tmp_path / "a.tgm")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as working:
        assert working.stdout.readline() == "begins\n"
        time.sleep(0.5)
        working.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert working.communicate(timeout=60)[0] == "ended\n" and time.monotonic() - start < 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.grib"]
