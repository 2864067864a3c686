"""A tree of catalogues, on this machine and on a server: which of its files are opened."""

import os
import pathlib
import pickle
import shutil

import pytest

import server
import tgmio as tgm

xarray = pytest.importorskip("xarray")

FOLDER = pathlib.Path(__file__).parents[1] / "data" / "tree"
ONLY = "mars.date in 20240102..=20240103 and mars.step=6"


def test_a_tree_on_a_server_is_asked_for_what_a_filter_selects():
    with server.serving(FOLDER) as at:
        found = tgm.open_dataset(at.url("all.tree"), only=ONLY)
        files = ["2.tgm", "2.tgm.catalog", "3.tgm", "3.tgm.catalog", "all.tree"]
        assert sorted(path for _, path, _ in at.requests) == [f"/{name}" for name in files]
        # The messages are not read for that: only the first bytes of each file, which tell its version.
        assert at.sent <= sum((FOLDER / name).stat().st_size for name in files)
        assert found.t.dims == ("time", "y", "x") and found.t.values[:, 0, 0].tolist() == [26.0, 36.0]
        assert not any(path.startswith("/1.tgm") for _, path, _ in at.requests)
        again = pickle.loads(pickle.dumps(found))
        assert again.t.values[1, 1, 2] == 36.0
        with pytest.raises(ValueError, match="no object of the archive is selected"):
            tgm.open_dataset(at.url("all.tree"), only="mars.date=20240104")
        with pytest.raises(ValueError, match="the tree has no key mars.levelist"):
            tgm.open_dataset(at.url("all.tree"), only="mars.levelist=500")


def test_a_tree_is_the_dataset_of_its_files(tmp_path):
    for path in FOLDER.iterdir():
        shutil.copy(path, tmp_path)
    files = [tmp_path / f"{day}.tgm" for day in (1, 2, 3)]
    whole = tgm.open_dataset(files, catalog=False)
    found = tgm.open_dataset(tmp_path / "all.tree")
    xarray.testing.assert_identical(found.load(), whole.load())
    assert xarray.open_dataset(tmp_path / "all.tree", engine="tgm", only=ONLY).t.values[:, 0, 0].tolist() == [26.0, 36.0]


def copied(folder):
    """The files of the tree, without it and without catalogues."""
    (folder / "below").mkdir()
    places = {"1.tgm": folder, "2.tgm": folder / "below", "3.tgm": folder}
    files = [pathlib.Path(shutil.copy(FOLDER / name, place)) for name, place in places.items()]
    for path in files:
        # A time of change that is just over proves nothing.
        os.utime(path, (1e9, 1e9))
    return files


def test_a_list_of_files_is_saved_as_a_tree(tmp_path):
    files = copied(tmp_path)
    made = tgm.catalogue(files)
    assert len(made) == 3 and all(each.check() == "fresh" for each in made) and {"mars.date", "mars.step"} <= set(made.keys)
    assert not list(tmp_path.glob("**/*.catalog"))
    made.save(tmp_path / "all.tree")
    beside = [path.with_name(f"{path.name}.catalog") for path in files]
    assert sorted(tmp_path.glob("**/*.*")) == sorted([*files, *beside, tmp_path / "all.tree"])
    xarray.testing.assert_identical(tgm.open_dataset(tmp_path / "all.tree").load(), tgm.open_dataset(files, catalog=False).load())
    # Catalogues that fit are kept as they are.
    before = [path.stat().st_mtime_ns for path in beside]
    tgm.catalogue(tuple(map(str, files))).save(tmp_path / "again.tree")
    assert tgm.open_dataset(tmp_path / "again.tree", only=ONLY).sizes["time"] == 2
    assert [path.stat().st_mtime_ns for path in beside] == before
    with server.serving(tmp_path) as at:
        # Made elsewhere, they are judged by reading the files that are chosen; the others are not asked for.
        with pytest.warns(UserWarning, match="not checked"):
            found = tgm.open_dataset(at.url("all.tree"), only=ONLY)
        assert found.t.values[:, 0, 0].tolist() == [26.0, 36.0]
        assert not any(path.startswith("/1.tgm") for _, path, _ in at.requests)
    with server.serving(tmp_path, tag=None) as at:
        # The server tells the times that the files had when they were catalogued: that is enough, and a warning would be an error.
        assert tgm.open_dataset(at.url("all.tree"), only=ONLY).sizes["time"] == 2
        assert len(at.requests) <= 1 + 2 * 3, at.requests


def test_trees_are_of_trees_and_of_files_below(tmp_path):
    first, second, third = copied(tmp_path)
    tgm.catalogue([second], keys=["mars.date", "mars.step"]).save(second.with_name("below.tree"))
    all_of_them = tgm.catalogue([first, second.with_name("below.tree"), third], keys=["mars.date", "mars.step"])
    assert len(all_of_them) == 2 and all_of_them.keys == ["mars.date", "mars.step"]
    all_of_them.save(tmp_path / "all.tree")
    assert tgm.open_dataset(tmp_path / "all.tree", only=ONLY).t.values[:, 0, 0].tolist() == [26.0, 36.0]
    with pytest.raises(ValueError, match="1.tgm: it does not lie in the folder of the tree"):
        tgm.catalogue([first]).save(second.with_name("other.tree"))
    with pytest.raises(ValueError, match="the name of a tree ends with .tree"):
        tgm.catalogue([first]).save(tmp_path / "all")
    for wrong in (["https://host/a.tgm"], [tmp_path / "1.tgm.catalog"]):
        with pytest.raises(ValueError, match="a list is of files"):
            tgm.catalogue(wrong)
    with pytest.raises(ValueError, match="not an empty one"):
        tgm.catalogue([])
    with pytest.raises(FileNotFoundError):
        tgm.catalogue([tmp_path / "none.tgm"])
