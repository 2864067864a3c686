"""Eight threads at once, on shared and on own objects; the GIL; forks."""

import concurrent.futures
import os
import threading
import time

import numpy as np
import pytest

import support
import tensogram
from support import descriptor, message, pair

THREADS, ROUNDS = 8, 50
VALUES = 50 + 50 * np.sin(np.arange(2000) / 40)
PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "zstd"}


def all_at_once(work, threads=THREADS, rounds=ROUNDS):
    """Runs `work(thread, round)` on all threads, which start together. Raises what any of them raises."""
    start = threading.Barrier(threads)

    def one(thread):
        start.wait()
        return [work(thread, i) for i in range(rounds)]

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return [result for future in [pool.submit(one, t) for t in range(threads)] for result in future.result()]


@pytest.fixture(scope="module")
def data():
    return message((descriptor([2000], "float64"), VALUES), pair([1, 2]), meta={"a": {"b": 1}})


def test_decode(data):
    assert all(np.array_equal(r, VALUES) for r in all_at_once(lambda *_: support.array_of(data)))


def test_decode_object(data):
    assert all(r == [1, 2] for r in all_at_once(lambda *_: tensogram.decode_object(data, 1)[2].tolist()))


@pytest.mark.parametrize("codec", [*support.LOSSLESS, *support.LOSSY])
def test_codecs(codec):
    if not support.can_encode(codec):
        pytest.skip(f"this build has no encoder of {codec}")
    keys = support.LOSSLESS.get(codec) if codec in support.LOSSLESS else support.LOSSY[codec][0]
    dtype = "float32" if codec in support.LOSSLESS else "float64"
    values = VALUES.astype(dtype)
    data = message((descriptor([2000], dtype, **keys), values))
    expected = support.array_of(data)

    def work(thread, i):
        if i % 10 == 0:
            assert np.array_equal(support.array_of(message((descriptor([2000], dtype, **keys), values))), expected)
        assert np.array_equal(support.array_of(data), expected)

    all_at_once(work, rounds=20)


def test_packed_and_compressed():
    data = message((descriptor([2000], "float64", **PACKED), VALUES))
    expected = support.array_of(data)
    assert all(np.array_equal(r, expected) for r in all_at_once(lambda *_: support.array_of(data)))


def test_scan_and_validate(data):
    many = data * 3
    assert all(r == 3 for r in all_at_once(lambda *_: len(tensogram.scan(many))))
    assert all(r == [] for r in all_at_once(lambda *_: tensogram.validate(data)["issues"]))


def test_encode():
    def work(thread, i):
        found = tensogram.decode(message(pair([thread, i], "int32"), meta={"t": thread, "i": i}))
        assert found.objects[0][1].tolist() == [thread, i] and found.metadata["t"] == thread

    all_at_once(work)


def test_encode_pre_encoded():
    def work(thread, i):
        payload = np.array([thread, i], "int32").tobytes()
        data = tensogram.encode_pre_encoded({}, [(descriptor([2], "int32"), payload)])
        assert support.array_of(data).tolist() == [thread, i]

    all_at_once(work)


def test_iter_messages(data):
    many = data * 3
    assert all(r == 3 for r in all_at_once(lambda *_: sum(1 for _ in tensogram.iter_messages(many)), rounds=20))


def test_validate_file(one_file):
    assert all(len(r["messages"]) == 3 for r in all_at_once(lambda *_: tensogram.validate_file(one_file)))


def test_own_files(tmp_path):
    def work(thread, i):
        file = tensogram.TensogramFile.create(str(tmp_path / f"{thread}-{i}.tgm"))
        file.append({"i": i}, [pair([thread, i], "int32")])
        assert file[0].objects[0][1].tolist() == [thread, i]

    all_at_once(work)


def test_own_encoders():
    def work(thread, i):
        encoder = tensogram.StreamingEncoder({})
        encoder.write_object(*pair([thread], "int32"))
        encoder.write_object(*pair([i], "int32"))
        assert [a.tolist() for _, a in tensogram.decode(encoder.finish()).objects] == [[thread], [i]]

    all_at_once(work)


def test_shared_file(one_file):
    file = tensogram.TensogramFile.open(one_file)

    def work(thread, i):
        n = (thread + i) % 3
        assert file.decode_message(n).objects[0][1].tolist() == [n] * 4
        assert file.message_count() == 3
        assert file.file_decode_metadata(n)["step"] == n
        assert len(file.file_decode_descriptors(n)["descriptors"]) == 1
        assert file[n].metadata["step"] == n

    all_at_once(work)


def test_shared_metadata(data):
    meta = tensogram.decode_metadata(data)

    def work(*_):
        assert meta["a"] == {"b": 1} and meta.get_path("a.b") == 1 and len(meta.base) == 2 and meta.keys() == ["a"]

    all_at_once(work)


def test_readers_and_a_writer(one_file):
    file = tensogram.TensogramFile.open(one_file)
    len(file)
    tolerated = RuntimeError if support.REFERENCE else ()

    def work(thread, i):
        try:
            if thread == 0:
                file.append({}, [pair([i] * 4)])
            else:
                assert file.decode_message(i % 3).objects[0][1].tolist() == [i % 3] * 4
        except tolerated:
            pass

    all_at_once(work)
    count = len(tensogram.TensogramFile.open(one_file))
    assert count == 53 or support.REFERENCE


@pytest.mark.better
def test_one_iterator_for_all():
    data = b"".join(message(pair([i], "int32"), hash=None) for i in range(200))
    iterator = tensogram.iter_messages(data)
    found = all_at_once(lambda *_: next(iterator, None), rounds=25)
    assert sorted(m.objects[0][1][0] for m in found if m is not None) == list(range(200))


@pytest.mark.better
def test_one_iterator_of_a_file_for_all(one_file):
    iterator = iter(tensogram.TensogramFile.open(one_file))
    found = all_at_once(lambda *_: next(iterator, None), rounds=2)
    assert sorted(m.metadata["step"] for m in found if m is not None) == [0, 1, 2]


@pytest.mark.better
@pytest.mark.parametrize("work", ["decode", "encode", "packed", "hash", "scan", "descriptors", "stream"])
def test_others_run_during_long_work(work):
    """A thread that wakes each millisecond sees no gap of the length of the work."""
    values = np.random.default_rng(0).random(8_000_000)
    data = message((descriptor([8_000_000], "float64"), values), hash="xxh3")
    packed = message((descriptor([8_000_000], "float64", **support.LOSSY["packed"][0]), values))
    calls = {
        "decode": lambda: tensogram.decode(data),
        "encode": lambda: message((descriptor([8_000_000], "float64", **support.LOSSY["packed"][0]), values)),
        "packed": lambda: tensogram.decode(packed),
        "hash": lambda: tensogram.compute_hash(data),
        "scan": lambda: tensogram.scan(data),
        "descriptors": lambda: tensogram.decode_descriptors(data),
        "stream": lambda: stream(values),
    }
    gaps, end = [], threading.Event()

    def tick():
        last = time.perf_counter()
        while not end.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.01)
    start = time.perf_counter()
    calls[work]()
    took = time.perf_counter() - start
    end.set()
    thread.join()
    if took > 0.05:
        assert max(gaps) < took * 0.8


def stream(values):
    encoder = tensogram.StreamingEncoder({})
    encoder.write_object(descriptor(values.shape, "float64"), values)
    return encoder.finish()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork(one_file):
    code = """if True:
        import os, sys, numpy as np, tensogram
        values = np.arange(100_000.0)
        d = {"type": "ntensor", "shape": [100_000], "dtype": "float64", "compression": "zstd"}
        data = tensogram.encode({}, [(d, values)] * 2, threads=2)
        file = tensogram.TensogramFile.open(sys.argv[1])
        len(file), file[0]
        child = os.fork()
        if child == 0:
            good = file[1].objects[0][1].tolist() == [1] * 4
            good = good and np.array_equal(tensogram.decode(data, threads=2).objects[1][1], values)
            os._exit(0 if good else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file[2].metadata["step"])
    """
    assert support.python(code, one_file, PYTHONWARNINGS="ignore") == "0 2\n"
