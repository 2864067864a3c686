"""Files that are written to after a dataset was opened: nothing of one version is given for another."""

import os
import pickle

import numpy as np
import pytest

import server
import tgmio as tgm

xarray = pytest.importorskip("xarray")

CHANGED = "the file was changed since the dataset was opened: open it again"


def field(step, number=0, more=0, shape=(2, 3)):
    """A message with a field whose values are `step` and `more`."""
    mars = {"param": "t", "step": step, "number": number, "levtype": "sfc", "date": 20240101, "time": 0}
    return tgm.encode({"base": [{"mars": mars}]}, [(None, np.full(shape, float(step + more)))])


def write(path, messages):
    """Writes a file in its place, later than before."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(b"".join(messages))
    os.utime(path, ns=(now := max(path.stat().st_mtime_ns, before + 10**9), now))
    return path


def replace(path, messages):
    """Puts another file in its place."""
    write(path.with_suffix(".new"), messages).rename(path)


def steps(dataset):
    """Steps, and the first value of each."""
    return dict(zip((dataset.step.values / np.timedelta64(1, "h")).tolist(), dataset.t.values[..., 0, 0].ravel().tolist()))


def elsewhere(travelled):
    """What another process has of a thing that was pickled."""
    from tgmio import _sources

    _sources._opened.clear()
    return pickle.loads(travelled)


def test_an_address_is_asked_again_by_each_opening(tmp_path):
    path = write(tmp_path / "a.tgm", map(field, (0, 6)))
    with server.serving(tmp_path) as at:
        url = at.url("a.tgm")
        first, chunked, same = (tgm.open_dataset(url, **options) for options in ({}, {"chunks": {}}, {"chunks": {}}))
        travelled = pickle.dumps(first.t)
        assert steps(first) == steps(chunked) == {0.0: 0.0, 6.0: 6.0}
        assert chunked.t.data.name == same.t.data.name
        # Variables share what was opened.
        elsewhere(travelled).load()
        one, other = pickle.loads(travelled), pickle.loads(travelled)
        asked = len(at.requests)
        one.load()
        behind = len(at.requests)
        other.load()
        assert len(at.requests) - behind == behind - asked <= 2
        unread = tgm.open_dataset(url)
        long = write(tmp_path / "long.tgm", (field(step, shape=(300, 400)) for step in (0, 6)))
        unread_long = tgm.open_dataset(at.url("long.tgm"))
        replace(long, (field(step, shape=(300, 400)) for step in (6, 0)))
        replace(path, (field(step, more=100) for step in (0, 6, 12)))
        at.tag = '"2"'
        for again in (tgm.open_dataset(url), xarray.open_dataset(url, engine="tgm"), *tgm.open_datasets(url)):
            assert steps(again) == {0.0: 100.0, 6.0: 106.0, 12.0: 112.0}
        assert tgm.open_dataset(url, chunks={}).t.data.name != chunked.t.data.name
        # What is open stays what it was, or is an error.
        assert steps(unread) == {0.0: 0.0, 6.0: 6.0}
        with pytest.raises(tgm.RemoteError, match="long.tgm: .*changed"):
            unread_long.load()
        with pytest.raises(ValueError, match=f"a.tgm: {CHANGED}"):
            elsewhere(travelled).load()


def test_a_server_that_tells_no_version_shares_nothing_between_openings(tmp_path, monkeypatch):
    write(tmp_path / "a.tgm", map(field, (0, 6)))
    with server.serving(tmp_path) as at:
        send = server.Handler.send_header
        monkeypatch.setattr(
            server.Handler, "send_header", lambda self, name, value: name in ("ETag", "Last-Modified") or send(self, name, value)
        )
        first = tgm.open_dataset(at.url("a.tgm"), chunks={})
        replace(tmp_path / "a.tgm", map(field, (6, 0)))
        again = tgm.open_dataset(at.url("a.tgm"), chunks={})
        assert steps(again) == steps(elsewhere(pickle.dumps(again))) == {0.0: 0.0, 6.0: 6.0}
        assert first.t.data.name != again.t.data.name


@pytest.mark.parametrize("change", [write, replace])
def test_a_tree_is_opened_with_its_files_as_they_are(tmp_path, change):
    files = [write(tmp_path / f"{number}.tgm", [field(0, number), field(6, number)]) for number in (0, 1)]
    tgm.catalogue(files).save(tmp_path / "all.tree")
    first, unread = (tgm.open_dataset(tmp_path / "all.tree", only="mars.number=1") for _ in range(2))
    travelled = pickle.dumps(unread.t)
    assert steps(first) == steps(elsewhere(pickle.dumps(first))) == {0.0: 0.0, 6.0: 6.0}
    unread = elsewhere(travelled)
    unread[:, 0, 0].load()
    # The other order, and then another content.
    for steps_now, more in ((6, 0), 0), ((0, 6, 12), 100):
        change(files[1], [field(step, 1, more) for step in steps_now])
        with pytest.warns(UserWarning, match="1.tgm.catalog is not used"):
            again = tgm.open_dataset(tmp_path / "all.tree", only="mars.number=1")
        assert steps(again) == {step: step + more for step in steps_now}
    if change is write:
        with pytest.raises(ValueError, match=f"1.tgm: {CHANGED}"):
            unread.load()
    with pytest.raises(ValueError, match=f"all.tree: {CHANGED}"):
        elsewhere(travelled).load()


def test_a_file_that_is_written_over_while_it_is_open_is_an_error(tmp_path):
    path = write(tmp_path / "a.tgm", map(field, (0, 6)))
    other = write(tmp_path / "b.tgm", [field(0, 1), field(6, 1)])
    alone, both, chunked = tgm.open_dataset(path), tgm.open_dataset([other, path]), tgm.open_dataset(path, chunks={})
    store = tgm.zarr_store(path)
    write(path, map(field, (6, 0)))
    opened_before = [
        alone.t.load, both.t.load, chunked.t.load, lambda: alone.tgm.reduce("t", "mean", "step"),
        xarray.open_zarr(store, chunks=None).t.load,
    ]
    for read in opened_before:
        with pytest.raises(ValueError, match=f"a.tgm: {CHANGED}"):
            read()
    assert steps(tgm.open_dataset(path)) == {0.0: 0.0, 6.0: 6.0}
    # The other file is as it was.
    assert both.t.sel(number=1)[:, 0, 0].values.tolist() == [0.0, 6.0]


def test_a_part_of_a_long_object_of_a_file_that_is_written_over_is_an_error(tmp_path):
    path = write(tmp_path / "a.tgm", (field(step, shape=(300, 400)) for step in (0, 6)))
    dataset = tgm.open_dataset(path)
    assert dataset.t[1, 3, 4] == 6.0
    write(path, (field(step, shape=(300, 400)) for step in (6, 0)))
    with pytest.raises(ValueError, match=f"a.tgm: {CHANGED}"):
        dataset.t[1, 3, 4].load()


@pytest.mark.parametrize("shape", [(2, 3), (300, 400)])
def test_what_is_appended_and_another_file_in_its_place_change_nothing_that_is_open(tmp_path, shape):
    path = write(tmp_path / "a.tgm", (field(step, shape=shape) for step in (0, 6)))
    first, part = tgm.open_dataset(path), tgm.open_dataset(path).t[:, 1, 2]
    write(path, (field(step, shape=shape) for step in (0, 6, 12)))
    assert len(tgm.open_dataset(path).step) == 3
    assert steps(first) == {0.0: 0.0, 6.0: 6.0} and part.values.tolist() == [0.0, 6.0]
    second, part = tgm.open_dataset(path), tgm.open_dataset(path).t[:, 1, 2]
    replace(path, (field(step, more=100, shape=shape) for step in (12, 6, 0)))
    assert steps(second) == {0.0: 0.0, 6.0: 6.0, 12.0: 12.0} and part.values.tolist() == [0.0, 6.0, 12.0]
    assert steps(tgm.open_dataset(path)) == {0.0: 100.0, 6.0: 106.0, 12.0: 112.0}
