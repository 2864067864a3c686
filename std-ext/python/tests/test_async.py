"""AsyncTensogramFile on local files."""

import asyncio
import inspect

import numpy as np
import pytest

import support
import tensogram
from support import message, pair

# None would fail each test, and not the collection of all.
File = getattr(tensogram, "AsyncTensogramFile", None)


def run(body, path):
    """Runs `body(file)` in an event loop of its own."""

    async def main():
        return await body(await File.open(path))

    return asyncio.run(main())


def test_each_method_gives_what_the_other_gives(one_file):
    near = tensogram.TensogramFile.open(one_file)

    async def body(file):
        found = await file.decode_message(1)
        assert type(found) is tensogram.Message and found.objects[0][1].tolist() == [1] * 4
        assert (await file.decode_message(index=1, native_byte_order=True, threads=0, verify_hash=True)).metadata[
            "step"
        ] == 1
        assert (await file.file_decode_metadata(2)).extra == near.file_decode_metadata(2).extra
        found = await file.file_decode_descriptors(0)
        assert sorted(found) == ["descriptors", "metadata"] and found["descriptors"][0].shape == [4]
        found = await file.file_decode_object(2, 0)
        assert sorted(found) == ["data", "descriptor", "metadata"] and found["data"].tolist() == [2] * 4
        found = await file.file_decode_range(2, 0, [(0, 2), (1, 1)])
        assert [p.tolist() for p in found] == [[2, 2], [2]]
        assert (await file.file_decode_range(2, 0, [(0, 2)], join=True)).tolist() == [2, 2]
        assert await file.read_message(1) == near.read_message(1)
        assert await file.messages() == near.messages()
        assert await file.message_count() == 3
        assert file.is_remote() is False and file.source() == one_file
        assert await file.prefetch_layouts([0, 1]) == () and await file.prefetch_layouts([]) == ()

    run(body, one_file)


def test_count_comes_first(one_file):
    async def body(file):
        with pytest.raises(RuntimeError, match="message_count"):
            len(file)
        with pytest.raises(RuntimeError, match="message_count"):
            file.__aiter__()
        assert await file.message_count() == 3
        assert len(file) == 3

    run(body, one_file)


def test_iteration(one_file):
    async def body(file):
        await file.message_count()
        assert [m.metadata["step"] async for m in file] == [0, 1, 2]
        first, second = file.__aiter__(), file.__aiter__()
        assert type(first) is tensogram.AsyncTensogramFileIter and first.__aiter__() is first
        assert len(first) == 3 and repr(first) == "AsyncTensogramFileIter(position=0, remaining=3)"
        assert (await anext(first)).metadata["step"] == 0
        assert (await anext(first)).metadata["step"] == 1
        assert (await anext(second)).metadata["step"] == 0
        assert len(first) == 1 and repr(first) == "AsyncTensogramFileIter(position=2, remaining=1)"
        await anext(first)
        for _ in range(2):
            with pytest.raises(StopAsyncIteration):
                await anext(first)

    run(body, one_file)


def test_gather(one_file):
    async def body(file):
        found = await asyncio.gather(
            *[file.decode_message(i % 3) for i in range(20)],
            file.file_decode_metadata(0),
            file.read_message(1),
            file.message_count(),
        )
        assert [m.metadata["step"] for m in found[:20]] == [i % 3 for i in range(20)]
        assert found[22] == 3

    run(body, one_file)


def test_awaitables(one_file):
    async def body(file):
        pending = file.decode_message(0)
        assert inspect.isawaitable(pending)
        await pending
        assert await asyncio.wait_for(file.message_count(), 10) == 3
        assert await asyncio.ensure_future(file.message_count()) == 3
        done, _ = await asyncio.wait([asyncio.ensure_future(file.message_count())], timeout=10)
        assert done.pop().result() == 3
        async with asyncio.timeout(10):
            await file.read_message(0)

    run(body, one_file)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("decode_message", (3,)),
        ("file_decode_metadata", (3,)),
        ("file_decode_descriptors", (3,)),
        ("read_message", (3,)),
        ("file_decode_object", (0, 1)),
        ("file_decode_object", (3, 0)),
        ("file_decode_range", (0, 0, [(0, 5)])),
        ("file_decode_range", (0, 1, [(0, 1)])),
    ],
)
def test_out_of_range(one_file, name, arguments):
    async def body(file):
        with pytest.raises(ValueError):
            await getattr(file, name)(*arguments)

    run(body, one_file)


def test_negative_index_and_wrong_types_raise_at_the_call(one_file):
    async def body(file):
        with pytest.raises(OverflowError):
            file.decode_message(-1)
        with pytest.raises(TypeError):
            file.decode_message("0")
        with pytest.raises(TypeError):
            file.file_decode_range(0, 0, [[0, 1]])
        with pytest.raises(TypeError):
            File.open(5)

    run(body, one_file)


def test_no_file(tmp_path):
    async def main():
        pending = File.open(str(tmp_path / "absent.tgm"))
        with pytest.raises(OSError, match="absent.tgm"):
            await pending

    asyncio.run(main())


def test_no_loop(one_file):
    with pytest.raises(RuntimeError, match="no running event loop"):
        pending = File.open(one_file)
        if inspect.iscoroutine(pending):
            pending.close()
            raise RuntimeError("no running event loop: a coroutine needs none yet")


def test_batches_of_a_local_file(one_file):
    async def body(file):
        for call in (
            lambda: file.file_decode_object_batch([0], 0),
            lambda: file.file_decode_range_batch([0], 0, [(0, 1)]),
        ):
            with pytest.raises(OSError, match="requires a remote backend"):
                await call()

    run(body, one_file)


def test_with(one_file):
    async def main():
        async with await File.open(one_file) as file:
            assert await file.message_count() == 3

    asyncio.run(main())


def test_one_handle_in_two_loops(one_file):
    async def opened():
        return await File.open(one_file)

    file = asyncio.run(opened())

    async def used():
        return (await file.decode_message(1)).metadata["step"]

    assert asyncio.run(used()) == 1
    assert asyncio.run(used()) == 1


@pytest.mark.parametrize("name", ["append", "create", "__getitem__", "__iter__", "restore_non_finite"])
def test_what_is_absent(name):
    assert not hasattr(File, name)


def test_cancelled_call_leaves_the_handle_usable(tmp_path):
    path = tmp_path / "large.tgm"
    path.write_bytes(message(pair(np.zeros(2_000_000), "float64", compression="zstd")) * 4)

    async def body(file):
        for delay in (0, 0.001, 0.005):
            task = asyncio.ensure_future(file.decode_message(0))
            await asyncio.sleep(delay)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
                raise asyncio.CancelledError
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*[file.decode_message(i % 4) for i in range(40)]), 0.001)
        assert (await file.decode_message(3)).objects[0][1].shape == (2_000_000,)

    run(body, str(path))


def test_loop_goes_on_during_a_decode(tmp_path):
    path = tmp_path / "large.tgm"
    path.write_bytes(message(pair(np.random.default_rng(0).random(1_000_000), "float64", compression="zstd")))

    async def body(file):
        ticks = 0
        pending = asyncio.ensure_future(asyncio.gather(*[file.decode_message(0) for _ in range(4)]))
        while not pending.done():
            await asyncio.sleep(0.0005)
            ticks += 1
        await pending
        return ticks

    assert run(body, str(path)) >= 2


@pytest.mark.better
def test_tasks(one_file):
    async def body(file):
        assert (await asyncio.create_task(file.decode_message(1))).metadata["step"] == 1
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(file.decode_message(i)) for i in range(3)]
        assert [t.result().metadata["step"] for t in tasks] == [0, 1, 2]

    run(body, one_file)


@pytest.mark.better
def test_nothing_is_printed_if_the_loop_is_gone(tmp_path):
    path = tmp_path / "large.tgm"
    path.write_bytes(message(pair(np.random.default_rng(0).random(2_000_000), "float64", compression="zstd")))
    code = """if True:
        import asyncio, sys, time, tensogram
        async def main():
            file = await tensogram.AsyncTensogramFile.open(sys.argv[1])
            task = asyncio.ensure_future(file.decode_message(0))
            await asyncio.sleep(0.001)
            task.cancel()
        asyncio.run(main())
        time.sleep(0.3)
        sys.stderr.flush()
        print("end")
    """
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "end\n" and done.stderr == ""
