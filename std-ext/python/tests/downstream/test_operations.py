"""What people do with a dataset of xarray gives the same from an archive as from memory. These are the operations."""

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")


def climate():
    """A dataset as climate models write them: bounds, a grid mapping, texts, truth values, whole numbers, missing values."""
    time = np.arange("2000-01-01", "2000-01-25", dtype="M8[D]").astype("M8[ns]")
    values = np.random.default_rng(3).random((24, 7, 9)).astype("f4")
    values[3, 2] = np.nan
    return xarray.Dataset(
        {
            "tas": (("time", "lat", "lon"), values, {"units": "K", "cell_methods": "time: mean", "grid_mapping": "crs"}),
            "land": (("lat", "lon"), values[0] > 0.5),
            "zone": (("lat",), np.array(["south", "", "é", "equator", "n", "nn", "north"])),
            "count": (("time",), np.arange(24, dtype="i2")),
            "crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude"}),
            "time_bnds": (("time", "nv"), np.stack([time, time + np.timedelta64(1, "D")], axis=1)),
        },
        {"time": ("time", time, {"bounds": "time_bnds"}), "lat": np.linspace(90, -90, 7), "lon": np.arange(9) * 40.0},
        {"Conventions": "CF-1.8"},
    )


def along(dims, values):
    return xarray.DataArray(np.array(values), dims=dims)


OPERATIONS = {
    "all": lambda it: it,
    "backwards": lambda it: it.isel(time=slice(None, None, -3), lon=slice(8, None, -2)),
    "from the end": lambda it: it.isel(time=-1, lat=slice(-3, None)),
    "repeated": lambda it: it.isel(lat=[3, 1, -1], lon=[0, 0]),
    "truth values": lambda it: it.isel(lat=np.array([True, False, True, False, False, True, False])),
    "nothing": lambda it: it.isel(lat=[], lon=slice(4, 4)),
    "points": lambda it: it.isel(lat=along("p", [0, -1, 3]), lon=along("p", [8, 2, 0])),
    "points of two dimensions": lambda it: it.isel(lat=along(("p", "q"), [[0, 1], [2, 3]]), time=[5, 2]),
    "one after another": lambda it: it.isel(time=slice(2, 20, 3)).isel(time=[4, 0]).isel(lat=slice(None, None, -2)),
    "the nearest": lambda it: it.sel(lat=43, lon=[13.0, 55.0], method="nearest"),
    "labels": lambda it: it.sel(time=slice("2000-01-05", "2000-01-09"), lat=slice(60, -30)),
    "where": lambda it: it.where(it.lat > 0, drop=True)[["tas"]],
    "resampled": lambda it: it.tas.resample(time="5D").mean(),
    "grouped": lambda it: it.tas.groupby("time.dayofweek").mean(),
    "rolling": lambda it: it.tas.rolling(time=3).mean(),
    "shifted": lambda it: it.tas.shift(time=2),
    "stacked": lambda it: it.tas.stack(place=("lat", "lon")).isel(place=[0, 40]).reset_index("place"),
    "joined": lambda it: xarray.concat([it.isel(time=slice(0, 3)), it.isel(time=slice(9, 12))], "time", data_vars="minimal"),
    "reindexed": lambda it: it[["tas"]].reindex(lat=[90.0, 15.0, -90.0]),
    "counted": lambda it: it.tas.count(("lat", "lon")),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("operations") / "c.tgm"
    tgm.save_dataset(climate(), path, encoding={"tas": {"chunks": (5, 4, 9)}})
    return path


@pytest.mark.parametrize("chunks", [None, {}], ids=["lazy", "dask"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_give_the_same_from_an_archive(path, name, chunks):
    if chunks is not None:
        pytest.importorskip("dask")
    operation = OPERATIONS[name]
    with tgm.open_dataset(path, chunks=chunks) as dataset:
        found = operation(dataset).compute()
    expected = operation(climate()).compute()
    # Sums of dask are taken by parts, so the last bit may differ.
    xarray.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.sizes == expected.sizes and found.attrs == expected.attrs
    if name not in ("resampled", "grouped", "rolling"):
        xarray.testing.assert_identical(found, expected)


@pytest.mark.parametrize("beside, decoded", [(64 << 20, 256 << 10), (4000, 256 << 10), (300, 1 << 30), (1 << 20, 0)])
def test_lists_of_indices_read_each_object_once(tmp_path, monkeypatch, beside, decoded):
    """Points and lists are what numpy has, however much is read beside them."""
    monkeypatch.setattr(tgm._xarray, "BESIDE_BYTES", beside)
    monkeypatch.setattr(tgm._xarray, "DECODED_BYTES", decoded)
    random = np.random.default_rng(3)
    values = random.normal(size=(7, 4, 30, 40)).astype("f4")
    whole, path = xarray.Dataset({"v": (("time", "level", "y", "x"), values)}), tmp_path / "a.tgm"
    tgm.save_dataset(whole, path, encoding={"v": {"chunks": (2, 1, 12, 40)}})
    boxes, read = [], tgm._xarray.TgmArray._read_picked
    monkeypatch.setattr(tgm._xarray.TgmArray, "_read_picked", lambda self, key: boxes.append(key) or read(self, key))

    def along(dim, count):
        return xarray.DataArray(random.integers(-whole.sizes[dim], whole.sizes[dim], count), dims="station")

    cases = [{"y": along("y", 50), "x": along("x", 50)}, {"time": along("time", 9), "y": along("y", 9), "x": along("x", 9)}]
    cases += [{"time": [5, 1, 1], "y": [29, 0, 3], "x": [7, 7, 2]}, {"level": 2, "y": [3, 1], "x": slice(None, None, -3)}]
    cases += [{"time": slice(1, None, 2), "level": [3, 0], "y": [11, 12, 13]}, {"time": 6, "x": np.arange(40)[::-2]}, {"y": []}]
    for key in cases:
        boxes.clear()
        found = tgm.open_dataset(path).v.isel(key)
        np.testing.assert_array_equal(found.values, whole.v.isel(key).values)
        if decoded and beside > 1 << 20:
            lists = [each for box in boxes for each, piece in zip(box, (2, 1, 12, 40)) if piece > 1 and np.ndim(each) and np.size(each) > 1]
            assert len(boxes) == 1 and not lists
