"""Statistics while an archive is read, beside numpy."""

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")


def forecasts(folder):
    """Analyses of two days and their steps, on a grid of 7 by 9, as fields."""
    path, random = folder / "a.tgm", np.random.default_rng(5)
    with tgm.Writer(path) as writer:
        for day in (1, 2):
            for step in (0, 24):
                keys = {"param": "2t", "date": 20240100 + day, "time": 0, "step": step, "area": [90.0, 0.0, -90.0, 320.0]}
                values = random.normal(280, 10, (7, 9))
                if day == 2:
                    values[1, 3:] = np.nan
                writer.object(values, metadata={"mars": keys})
                writer.finish()
    return path


def areas(latitudes):
    """Sines of the middles between rows; the first and the last row end at the poles."""
    edges = np.concatenate([[90.0], (latitudes[1:] + latitudes[:-1]) / 2, [-90.0]])
    return np.abs(np.diff(np.sin(np.radians(edges))))


@pytest.mark.parametrize("over", ["grid", ["latitude", "longitude"], ["time", "grid"], ["grid", "step", "time"]])
@pytest.mark.parametrize("labels", [{}, {"latitude": slice(60, -30)}, {"time": "2024-01-02", "longitude": [40.0, 320.0]}])
def test_values_count_by_their_area(tmp_path, over, labels):
    dataset = tgm.open_dataset(forecasts(tmp_path))
    [name] = dataset.data_vars
    weights = xarray.DataArray(areas(dataset.latitude.values), dims="latitude", coords={"latitude": dataset.latitude})
    array, weights = dataset[name].load().sel(labels), weights.sel({key: value for key, value in labels.items() if key == "latitude"})
    names = [over] if isinstance(over, str) else over
    dims = [dim for each in names for dim in (("latitude", "longitude") if each == "grid" else (each,)) if dim in array.dims]
    weighted = array.weighted(weights)
    dataset = tgm.open_dataset(tmp_path / "a.tgm")
    found = dataset.tgm.reduce(name, ["mean", "std", "min", "count"], over, weights="area", **labels)
    for each, expected in {
        "mean": weighted.mean(dims), "std": weighted.std(dims), "min": array.min(dims), "count": array.count(dims)
    }.items():
        assert found[each].dims == expected.dims
        np.testing.assert_allclose(found[each], expected, rtol=1e-12)


def test_weights_along_valid_time(tmp_path):
    dataset = tgm.open_dataset(forecasts(tmp_path), time_dims=("valid_time",), duplicates="first")
    [name] = dataset.data_vars
    weights = xarray.DataArray(areas(dataset.latitude.values), dims="latitude")
    assert "valid_time" in dataset[name].dims
    expected = dataset[name].load().weighted(weights)
    for over in (["latitude", "longitude"], ["valid_time", "latitude", "longitude"]):
        again = tgm.open_dataset(tmp_path / "a.tgm", time_dims=("valid_time",), duplicates="first")
        found = again.tgm.reduce(name, "mean", over, weights="area")
        np.testing.assert_allclose(found, expected.mean(over), rtol=1e-12)
        assert set(found.dims) == {"valid_time"} - set(over)


def test_what_has_no_weights_is_an_error(tmp_path):
    dataset = tgm.open_dataset(forecasts(tmp_path))
    [name] = dataset.data_vars
    for arguments, text in [
        (("sum", "grid", "area"), "a sum has no weights"),
        (("mean", "longitude", "area"), "areas weigh along latitude, which is not among the dimensions"),
        (("mean", "grid", "latitude"), "argument 'weights': 'area' or None is expected"),
    ]:
        with pytest.raises(ValueError, match=text):
            dataset.tgm.reduce(name, *arguments)
    tgm.save_dataset(xarray.Dataset({"v": ("x", [1.0, 2.0])}), tmp_path / "b.tgm")
    with pytest.raises(ValueError, match="no coordinates say"):
        tgm.open_dataset(tmp_path / "b.tgm").tgm.reduce("v", "mean", "grid", weights="area")
