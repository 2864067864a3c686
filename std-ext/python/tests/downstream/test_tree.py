"""A tree of catalogues, on this machine and on a server: which of its files are opened."""

import pathlib
import pickle
import shutil

import pytest

import server
import tgm

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
