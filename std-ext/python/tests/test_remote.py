"""Files on a server: TensogramFile and AsyncTensogramFile over HTTP."""

import asyncio
import os

import numpy as np
import pytest

import server
import support
import tensogram
from support import descriptor, pair

OPTIONS = {"allow_http": "true"}
REMOTE = {row["name"]: row["state"] for row in tensogram.doctor()["features"]}["remote"] == "on"
pytestmark = pytest.mark.skipif(not REMOTE, reason="built without remote files")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A server with a file of four messages of two objects each."""
    folder = tmp_path_factory.mktemp("served")
    file = tensogram.TensogramFile.create(str(folder / "x.tgm"))
    for i in range(4):
        values = np.arange(1000) + i
        file.append(
            {"base": [{"step": i}, {}]},
            [
                pair(values, "float64"),
                (descriptor([10, 100], "float64", **support.LOSSY["packed szip"][0]), values.reshape(10, 100) * 1.0),
            ],
        )
    (folder / "empty.tgm").touch()
    with server.serving(folder) as running:
        yield running


@pytest.fixture
def local(place):
    return tensogram.TensogramFile.open(str(place.folder / "x.tgm"))


@pytest.fixture(params=["open", "open_remote", "one way"])
def remote(request, place):
    url = place.url("x.tgm")
    if request.param == "open":
        return tensogram.TensogramFile.open(url)
    return tensogram.TensogramFile.open_remote(url, OPTIONS, bidirectional=request.param == "open_remote")


def test_handle(remote, place):
    assert remote.is_remote() is True and remote.source() == place.url("x.tgm")
    assert len(remote) == 4 and remote.message_count() == 4 and remote
    assert repr(remote) == f"TensogramFile(source='{place.url('x.tgm')}')"


def test_messages(remote, local):
    for i in range(4):
        assert remote.read_message(i) == local.read_message(i)
        far, near = remote.decode_message(i, verify_hash=True), local.decode_message(i)
        assert far.metadata.extra == near.metadata.extra and far.metadata["step"] == i
        for (_, a), (_, b) in zip(far.objects, near.objects):
            assert np.array_equal(a, b)


def test_parts(remote, local):
    assert remote.file_decode_metadata(2)["step"] == 2
    found = remote.file_decode_descriptors(1)
    assert [d.shape for d in found["descriptors"]] == [[1000], [10, 100]] and found["metadata"]["step"] == 1
    for j in range(2):
        far, near = remote.file_decode_object(3, j), local.file_decode_object(3, j)
        assert np.array_equal(far["data"], near["data"]) and far["descriptor"].params == near["descriptor"].params
        far = remote.file_decode_range(3, j, [(5, 7), (990, 10)], join=True)
        assert np.array_equal(far, local.file_decode_range(3, j, [(5, 7), (990, 10)], join=True))


def test_batches(remote, local):
    found = remote.file_decode_object_batch([3, 0, 3], 0)
    assert [type(f) for f in found] == [dict] * 3
    assert [f["data"][0] for f in found] == [3, 0, 3]
    assert remote.file_decode_object_batch([], 0) == []
    found = remote.file_decode_range_batch([2, 1], 0, [(0, 2), (4, 1)])
    assert [[p.tolist() for p in parts] for parts in found] == [[[2, 3], [6]], [[1, 2], [5]]]
    found = remote.file_decode_range_batch([2, 1], 0, [(0, 2), (4, 1)], join=True)
    assert [p.tolist() for p in found] == [[2, 3, 6], [1, 2, 5]]
    with pytest.raises(ValueError):
        remote.file_decode_object_batch([0, 4], 0)


def test_indexing(remote):
    assert remote[1].metadata["step"] == 1 and remote[-1].metadata["step"] == 3
    assert [m.metadata["step"] for m in remote[::-2]] == [3, 1]
    with pytest.raises(IndexError, match="out of range for file with 4 messages"):
        remote[4]


def test_what_is_not_possible(remote):
    with pytest.raises(RuntimeError, match="iteration not supported"):
        iter(remote)
    with pytest.raises(OSError):
        remote.append({}, [pair([1])])
    with pytest.raises(OSError):
        remote.messages()


def test_address_of_a_file(one_file):
    url = "file://" + one_file
    assert not tensogram.is_remote_url(url)
    file = tensogram.TensogramFile.open_remote(url)
    assert file.source() == url and file.is_remote() and len(file) == 3
    assert file[-1].objects[0][1].tolist() == [2] * 4
    assert file.file_decode_object_batch([2, 0], 0)[0]["data"].tolist() == [2] * 4
    assert file.file_decode_range(1, 0, [(0, 2)], join=True).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="iteration not supported"):
        iter(file)
    with pytest.raises(OSError, match="^RemoteError: "):
        file.append({}, [])
    with pytest.raises(OSError):
        tensogram.TensogramFile.open(url)


def test_address_of_a_file_without_blocking(one_file):
    async def run():
        file = await tensogram.AsyncTensogramFile.open_remote("file://" + one_file)
        return await file.message_count(), (await file.decode_message(1)).metadata["step"]

    assert asyncio.run(run()) == (3, 1)


@pytest.mark.parametrize("url", ["file:///absent.tgm", "ftp://host/a.tgm", "absent.tgm", ""])
def test_addresses_that_open_nothing(url):
    with pytest.raises(OSError, match="^RemoteError: "):
        tensogram.TensogramFile.open_remote(url)


def test_out_of_range(remote):
    with pytest.raises(ValueError):
        remote.read_message(4)
    with pytest.raises(ValueError, match="object index 2 out of range"):
        remote.file_decode_object(0, 2)


def test_absent_file(place):
    with pytest.raises(OSError):
        tensogram.TensogramFile.open(place.url("absent.tgm"))


class Failing:
    """A value that has no text."""

    def __str__(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "options, error",
    [
        ({"allow_http": Failing()}, (ValueError, ZeroDivisionError)),
        ({1: "a"}, TypeError),
        ([("a", "b")], TypeError),
        (1, TypeError),
    ],
    ids=["value", "key", "list", "int"],
)
def test_options(place, options, error):
    with pytest.raises(error):
        tensogram.TensogramFile.open_remote(place.url("x.tgm"), options)

    async def main():
        tensogram.AsyncTensogramFile.open_remote(place.url("x.tgm"), options)

    with pytest.raises(error):
        asyncio.run(main())


def test_unknown_options_and_other_types(place):
    file = tensogram.TensogramFile.open_remote(place.url("x.tgm"), {"allow_http": True, "no_such_option": 5})
    assert len(file) == 4


def test_parts_cost_less_than_the_file(place):
    file = tensogram.TensogramFile.open(place.url("x.tgm"))
    place.requests.clear()
    assert file.file_decode_range(0, 0, [(500, 10)], join=True)[0] == 500
    assert ("GET", "/x.tgm", None) not in place.requests
    assert os.path.getsize(place.folder / "x.tgm") > 30000


def test_async(place):
    async def main():
        file = await tensogram.AsyncTensogramFile.open_remote(place.url("x.tgm"), OPTIONS)
        assert file.is_remote() is True and file.source() == place.url("x.tgm")
        assert await file.message_count() == 4 and len(file) == 4
        found = await asyncio.gather(*[file.file_decode_object(i, 0) for i in range(4)])
        assert [f["data"][0] for f in found] == [0, 1, 2, 3]
        assert [m.metadata["step"] async for m in file] == [0, 1, 2, 3]
        assert len(await file.messages()) == 4
        found = await file.file_decode_object_batch([2, 2], 0)
        assert [f["data"][0] for f in found] == [2, 2]
        found = await file.file_decode_range_batch([3], 0, [(0, 1)], join=True)
        assert [p.tolist() for p in found] == [[3]]
        assert await file.prefetch_layouts([0, 1, 1]) == () and await file.prefetch_layouts([]) == ()
        with pytest.raises(ValueError):
            await file.prefetch_layouts([9])
        assert await file.file_decode_range(1, 0, [(2, 2)], join=True) is not None

    asyncio.run(main())
