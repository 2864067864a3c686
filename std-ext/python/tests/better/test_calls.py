"""Awaitables of asynchronous methods: what asyncio does with them."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest

import tgmio as tgm


def pair(values):
    """An array with its descriptor."""
    return {"type": "ntensor", "shape": list(np.shape(values)), "dtype": str(values.dtype)}, values


@pytest.fixture
def path(tmp_path):
    """Four messages."""
    path = tmp_path / "x.tgm"
    path.write_bytes(b"".join(tgm.encode({"n": i}, [pair(np.full(1000, float(i)))]) for i in range(4)))
    return str(path)


def run(path, body):
    """Runs `body(file)` in a loop of its own."""

    async def main():
        return await body(await tgm.AsyncTensogramFile.open(path))

    return asyncio.run(main())


def test_everything_that_takes_an_awaitable(path):
    async def body(file):
        def call():
            return file.decode_message(1)
        assert asyncio.iscoroutine(call())
        found = [
            await call(), await asyncio.create_task(call()), await asyncio.ensure_future(call()), await asyncio.shield(call()),
            await asyncio.wait_for(call(), 10), await asyncio.wait_for(call(), None), *await asyncio.gather(call(), call()),
            *[await one for one in asyncio.as_completed([call(), call()])],
        ]
        done, _ = await asyncio.wait([asyncio.ensure_future(call()), asyncio.create_task(call())])
        found += [one.result() for one in done]
        async with asyncio.TaskGroup() as group:
            task = group.create_task(call())
        found.append(task.result())
        assert [message.metadata["n"] for message in found] == [1] * len(found)

    run(path, body)


def test_a_call_can_be_awaited_again(path):
    async def body(file):
        call = file.message_count()
        assert await call == 4 and await call == 4 and call.done() and call.result() == 4 and call.exception() is None
        failing = file.read_message(9)
        for _ in range(2):
            with pytest.raises(ValueError, match="out of range"):
                await failing

    run(path, body)


def test_a_call_begins_at_once(path):
    async def body(file):
        call, seen = file.read_message(0), []
        call.add_done_callback(seen.append)
        for _ in range(1000):
            if call.done():
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)
        assert len(call.result()) > 8000 and len(seen) == 1 and call.get_loop() is asyncio.get_running_loop()

    run(path, body)


def test_cancelling(path):
    async def body(file):
        task = asyncio.create_task(file.decode_message(0))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        call = file.decode_message(0)
        assert call.cancel() and call.cancelled()
        with pytest.raises(asyncio.CancelledError):
            await call
        task = asyncio.create_task(file.decode_message(0))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await file.decode_message(3)).metadata["n"] == 3

    run(path, body)


def test_errors_carry_their_place(path):
    async def body(file):
        with pytest.raises(tgm.ObjectError) as caught:
            await file.file_decode_object(2, 5)
        assert (caught.value.message_index, caught.value.object_index) == (2, 5)

    run(path, body)


def test_opening(path, tmp_path):
    async def body(file):
        with pytest.raises(FileNotFoundError):
            await tgm.AsyncTensogramFile.open(tmp_path / "absent")
        with pytest.raises(IsADirectoryError):
            await tgm.AsyncTensogramFile.open(tmp_path)
        with pytest.raises(OSError, match="invalid URL"):
            await tgm.AsyncTensogramFile.open_remote(path)
        with pytest.raises(TypeError):
            tgm.AsyncTensogramFile.open_remote(path, {1: "x"})
        assert repr(await tgm.AsyncTensogramFile.open(path)) == f"AsyncTensogramFile(source={path!r})"

    run(path, body)


@pytest.mark.parametrize("name, arguments", [
    ("decode_message", (0,)), ("file_decode_metadata", (0,)), ("read_message", (0,)), ("message_count", ()), ("messages", ()),
    ("__aenter__", ()),
])
def test_without_a_loop(path, name, arguments):
    async def body(file):
        return file

    file = run(path, body)
    with pytest.raises(RuntimeError, match="no running event loop"):
        getattr(file, name)(*arguments)


def test_many_at_once(path):
    async def body(file):
        found = await asyncio.gather(*[file.decode_message(i % 4) for i in range(2000)])
        assert [message.metadata["n"] for message in found] == [i % 4 for i in range(2000)]

    run(path, body)


def test_iterating_with_a_default(path):
    async def body(file):
        await file.message_count()
        messages = aiter(file)
        assert [m.metadata["n"] async for m in messages] == [0, 1, 2, 3]
        assert await anext(messages, "end") == "end"

    run(path, body)


PROGRAM = """
import asyncio, sys, threading, numpy, tgmio as tgm
path = sys.argv[1]
with open(path, "wb") as out:
    field = numpy.random.default_rng(0).random(500_000)
    out.write(tgm.encode({}, [({"type": "ntensor", "shape": [500_000], "dtype": "float64", "compression": "zstd"}, field)]) * 4)
async def main():
    file = await tgm.AsyncTensogramFile.open(path)
    calls = [file.decode_message(i %% 4) for i in range(40)]
    await asyncio.sleep(0.01)
    return calls
%s
"""


@pytest.mark.parametrize("end", [
    "calls = asyncio.run(main())", "asyncio.run(main()); del main", "asyncio.run(main()); import time; time.sleep(1)",
    "threading.Thread(target=lambda: asyncio.run(main())).start()",
    "loop = asyncio.new_event_loop(); calls = loop.run_until_complete(main())",
    # The handler runs after ours, and a call that nobody would answer is refused.
    "import atexit\ndef last():\n    try:\n        asyncio.run(main())\n    except RuntimeError as error:\n"
    "        assert 'interpreter ends' in str(error)\natexit.register(last); asyncio.run(main())",
])
def test_the_end_of_a_program_is_quiet(tmp_path, end):
    for _ in range(3):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM % end, str(tmp_path / "x.tgm")],
                              capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_forked_process_has_threads_of_its_own(tmp_path):
    program = PROGRAM % (
        "import os\n"
        "async def one():\n"
        "    return len(await (await tgm.AsyncTensogramFile.open(path)).messages())\n"
        "assert asyncio.run(one()) == 4\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if asyncio.run(one()) == 4 else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "x.tgm")], capture_output=True, text=True,
                          timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
