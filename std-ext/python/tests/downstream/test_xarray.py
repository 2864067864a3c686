"""The package tensogram-xarray: datasets, lazy indexing, chunks, holes."""

import importlib.metadata
import pathlib

import numpy as np
import pytest
import xarray as xr

import server
import tensogram
from conftest import LATITUDE, LONGITUDE, field


@pytest.fixture
def dataset(weather):
    with xr.open_dataset(weather, engine="tensogram") as opened:
        yield opened


def test_distributions():
    version = importlib.metadata.version("tensogram")
    assert version.startswith("0.24.0")
    assert importlib.metadata.version("tensogram-xarray") == "0.24.0"
    assert "tensogram" in xr.backends.list_engines()


def test_form(dataset):
    assert dict(dataset.sizes) == {"latitude": 37, "longitude": 72}
    assert set(dataset.data_vars) == {"plain", "packed", "szip", "holes", "lz4", "whole"}
    assert np.array_equal(dataset.latitude, LATITUDE) and np.array_equal(dataset.longitude, LONGITUDE)
    assert dataset.attrs["title"] == "weather" and dataset.attrs["tensogram_wire_version"] == 3
    assert dataset.plain.attrs["units"] == "K"


def test_values(dataset):
    assert np.array_equal(dataset.plain, field(0))
    assert np.max(np.abs(dataset.packed.values - field(1))) < 0.01
    assert np.max(np.abs(dataset.szip.values - field(2))) < 0.01
    assert np.array_equal(dataset.lz4, field(4).astype("float32"))
    assert dataset.whole.dtype == np.int16


def test_holes(dataset):
    holes = dataset.holes.values
    assert np.isnan(holes[::5, 1::7]).all() and np.isnan(holes).sum() == np.isnan(holes[::5, 1::7]).sum()
    assert float(dataset.holes.mean()) == pytest.approx(np.nanmean(holes), rel=1e-5)


@pytest.mark.parametrize("name", ["plain", "packed", "szip", "holes", "lz4", "whole"])
@pytest.mark.parametrize(
    "index",
    [
        {"latitude": 3},
        {"latitude": -1, "longitude": 0},
        {"latitude": slice(2, 5)},
        {"longitude": slice(10, 60, 7)},
        {"latitude": slice(None, None, -1)},
        {"latitude": [1, 5, 7]},
        {"latitude": slice(0, 0)},
        {"latitude": [30, 2], "longitude": slice(3, 9)},
    ],
    ids=str,
)
def test_lazy_indexing(weather, name, index):
    with xr.open_dataset(weather, engine="tensogram") as lazy, xr.open_dataset(weather, engine="tensogram") as whole:
        part = lazy[name].isel(index)
        expected = whole[name].load().isel(index)
        assert part.shape == expected.shape
        assert np.array_equal(part.values, expected.values, equal_nan=part.dtype.kind == "f")


def test_labels(dataset):
    found = dataset.plain.sel(latitude=90, longitude=slice(0, 10))
    assert np.array_equal(found, field(0)[0, :3])


@pytest.mark.parametrize("threshold", [0.0, 1.0])
@pytest.mark.parametrize("verify", [False, True])
def test_options(weather, threshold, verify):
    with xr.open_dataset(weather, engine="tensogram", range_threshold=threshold, verify_hash=verify) as opened:
        assert np.array_equal(opened.plain[3:5, 7], field(0)[3:5, 7])


def test_chunks(weather):
    with xr.open_dataset(weather, engine="tensogram", chunks={"latitude": 10}) as opened:
        assert opened.plain.chunks == ((10, 10, 10, 7), (72,))
        result = (opened.plain + opened.packed).mean("longitude").compute()
        expected = (field(0) + opened.packed.values).mean(1)
        assert np.allclose(result, expected, atol=1e-9)
        assert np.isnan(opened.holes).sum().compute() == np.isnan(opened.holes.values).sum()


def test_names(weather):
    with xr.open_dataset(weather, engine="tensogram", variable_key="mars.param", drop_variables=["lz4"]) as opened:
        assert "lz4" not in opened and "plain" in opened


def test_message_index(steps):
    for index in (0, 5, 11):
        with xr.open_dataset(steps, engine="tensogram", message_index=index, variable_key="mars.param") as opened:
            assert np.array_equal(opened["2t"], field(index))


def test_merged_messages(steps):
    with xr.open_dataset(steps, engine="tensogram", merge_objects=True, variable_key="mars.param") as opened:
        values = opened["2t"].values
        assert values.size == 12 * 37 * 72
        assert np.array_equal(np.sort(values.reshape(12, -1)[:, 0]), np.sort([field(s).ravel()[0] for s in range(12)]))


def test_groups(steps):
    import tensogram_xarray

    found = tensogram_xarray.open_datasets(steps, variable_key="mars.param")
    assert sum(v.size for d in found for v in d.data_vars.values()) >= 12 * 37 * 72


def test_from_xarray_to_a_file(dataset, tmp_path):
    path = str(tmp_path / "out.tgm")
    array = dataset.plain.isel(latitude=slice(0, 4)).values
    tensogram.TensogramFile.create(path).append(
        {"base": [{"name": "part"}]},
        [({"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype)}, array.copy())],
    )
    with xr.open_dataset(path, engine="tensogram") as opened:
        assert np.array_equal(opened.part, field(0)[:4])


def test_absent_file(tmp_path):
    with pytest.raises(OSError):
        xr.open_dataset(str(tmp_path / "absent.tgm"), engine="tensogram")


def test_changed_bytes(weather, tmp_path):
    data = bytearray(pathlib.Path(weather).read_bytes())
    place = -1
    for _ in range(3):
        place = data.index(b"FR\x00\x09", place + 1)
    data[place + 100] ^= 1
    path = tmp_path / "changed.tgm"
    path.write_bytes(data)
    with xr.open_dataset(str(path), engine="tensogram", verify_hash=True, range_threshold=0.0) as opened:
        with pytest.raises(tensogram.HashMismatchError):
            opened.plain.load()


def test_remote(weather):
    folder = pathlib.Path(weather).parent
    with server.serving(folder) as running:
        url = running.url("weather.tgm")
        with xr.open_dataset(url, engine="tensogram", storage_options={"allow_http": "true"}) as opened:
            assert np.array_equal(opened.plain[3:5], field(0)[3:5])
            assert np.array_equal(opened.lz4, field(4).astype("float32"))
        with xr.open_dataset(
            url, engine="tensogram", storage_options={"allow_http": "true"}, chunks={"latitude": 5}
        ) as opened:
            assert np.array_equal(opened.plain.compute(), field(0))
