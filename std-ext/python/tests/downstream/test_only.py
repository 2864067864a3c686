"""Filters that select messages before a dataset is made of them."""

import pickle

import numpy as np
import pytest

import tgmio as tgm

from test_dataset import archive, steps_and_levels

xarray = pytest.importorskip("xarray")


@pytest.mark.parametrize(
    ("only", "steps", "levels"),
    [
        ("mars.step<=6", [0, 6], [850, 500]),
        ("mars.step<=6 and mars.levelist=850", [0, 6], [850]),
        (["mars.step>0", "mars.levelist=500"], [6, 12], [500]),
        ("mars.step=0/12", [0, 12], [850, 500]),
        ("not mars.step in 6..18", [0], [850, 500]),
        (["mars.param=t", "dtype=float64"], [0, 6, 12], [850, 500]),
    ],
)
@pytest.mark.parametrize("is_cataloged", [False, True])
def test_messages_that_a_filter_selects_are_the_dataset(tmp_path, only, steps, levels, is_cataloged):
    path = archive(tmp_path, steps_and_levels())
    if is_cataloged:
        tgm.catalogue(path, keys=["mars.param", "mars.step", "mars.levelist", "dtype"]).save()
    whole = tgm.open_dataset(path, squeeze=False)
    found = tgm.open_dataset(path, only=only, squeeze=False)
    expected = whole.sel(step=np.array(steps, "m8[h]").astype("m8[ns]"), isobaricInhPa=levels)
    xarray.testing.assert_identical(found.load(), expected.load())
    assert found.tgm.holes() == []
    by_list = tgm.open_datasets(path, only=only, squeeze=False)
    by_engine = xarray.open_dataset(path, engine="tgm", only=only, squeeze=False)
    xarray.testing.assert_identical(by_engine, expected)
    assert len(by_list) == 1 and by_list[0].identical(expected)


def test_a_filter_holds_for_each_view_of_the_archive(tmp_path):
    entry = {"mars": {"param": "t", "levtype": "pl", "levelist": 500, "step": 0, "area": [60.0, 0.0, 40.0, 30.0]}}
    runs = [tgm.encode({"base": [entry], "run": run}, [(None, np.full((3, 4), 1.0 * run))]) for run in (1, 2)]
    path = archive(tmp_path, runs)
    assert tgm.open_dataset(path).t.dims == ("run", "latitude", "longitude")
    assert tgm.open_dataset(path, only="run=2").t.values[0, 0] == 2.0
    store = tgm.zarr_store(path, only=["run=1"])
    assert xarray.open_zarr(store, chunks=None).t.values[0, 0] == 1.0
    refs = tgm.references(path, only="run=2")["refs"]
    assert refs["t/0.0"][1] >= len(runs[0])


def test_filters_that_select_nothing_or_are_wrong_are_errors(tmp_path):
    path = archive(tmp_path, steps_and_levels())
    with pytest.raises(ValueError, match="no object of the archive is selected"):
        tgm.open_dataset(path, only="mars.step=7")
    with pytest.raises(ValueError, match="argument 'only': expected a condition after `and`"):
        tgm.open_dataset(path, only="mars.step=6 and")
    with pytest.raises(TypeError, match="argument 'only'"):
        tgm.open_dataset(path, only=7)
    # A dataset that was filtered travels with its filter.
    found = tgm.open_dataset(path, only="mars.step=12")
    xarray.testing.assert_identical(pickle.loads(pickle.dumps(found)).load(), found.load())


def test_parameters_are_asked_for_as_people_type_them(tmp_path):
    path = archive(tmp_path, steps_and_levels())
    whole = tgm.open_dataset(path)
    for only in ("param=t", "shortName=t", "mars.param=t"):
        xarray.testing.assert_identical(tgm.open_dataset(path, only=only).load(), whole.load())
    for only in ("mars.parm=t", ["dtype=float64", "mars.parm=t"]):
        for opened in (lambda: tgm.open_dataset(path, only=only), lambda: xarray.open_dataset(path, engine="tgm", only=only)):
            with pytest.raises(ValueError, match="no object of the archive is selected: .*no key mars.parm; did you mean mars.param"):
                opened()
