"""The package tensogram-zarr: stores that are read and written."""

import pathlib

import numpy as np
import pytest
import zarr
from tensogram_zarr import TensogramStore

import server
import tensogram
from conftest import LATITUDE, field


@pytest.fixture
def group(weather):
    store = TensogramStore.open_tgm(weather)
    yield zarr.open_group(store, mode="r")
    store.close()


def test_arrays(group):
    assert {"latitude", "longitude", "plain", "packed", "szip", "holes", "lz4", "whole"} <= set(group.array_keys())
    assert group["plain"].shape == (37, 72) and group["plain"].dtype == np.float64
    assert group["whole"].dtype == np.int16


def test_values(group):
    assert np.array_equal(group["plain"][:], field(0))
    assert np.array_equal(group["plain"][3:7, ::5], field(0)[3:7, ::5])
    assert np.max(np.abs(group["szip"][:] - field(2))) < 0.01
    assert np.isnan(group["holes"][0, 1])
    assert np.array_equal(group["latitude"][:], LATITUDE)


def test_attributes(group):
    assert group.attrs["title"] == "weather"
    assert any("param" in str(value) for value in dict(group["plain"].attrs).values())


def test_store(weather):
    with TensogramStore(weather) if hasattr(TensogramStore, "__enter__") else TensogramStore.open_tgm(weather) as store:
        assert store.read_only and store.supports_listing


def test_absent_file(tmp_path):
    with pytest.raises(OSError):
        TensogramStore.open_tgm(str(tmp_path / "absent.tgm"))


DTYPES = ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def written(path, dtype, mode="w"):
    store = TensogramStore(str(path), mode=mode)
    group = zarr.open_group(store, mode="w")
    values = np.arange(24).reshape(4, 6).astype(dtype)
    array = group.create_array("x", shape=values.shape, chunks=values.shape, dtype=values.dtype, compressors=None)
    array[:] = values
    array.attrs["name"] = "x"
    store.close()
    return values


@pytest.mark.parametrize("dtype", DTYPES)
def test_write(tmp_path, dtype):
    path = tmp_path / "out.tgm"
    values = written(path, dtype)
    store = TensogramStore.open_tgm(str(path))
    found = zarr.open_group(store, mode="r")["x"]
    assert found.dtype == values.dtype and np.array_equal(found[:], values)
    store.close()
    file = tensogram.TensogramFile.open(str(path))
    assert any(np.array_equal(np.ravel(a), values.ravel()) for m in file for _, a in m.objects)


@pytest.mark.better
@pytest.mark.parametrize("dtype", ["float16"])
def test_write_more_dtypes(tmp_path, dtype):
    test_write(tmp_path, dtype)


@pytest.mark.parametrize("dtype", [">f4", ">i2", ">f8"])
def test_write_big_endian(tmp_path, dtype):
    path = tmp_path / "out.tgm"
    values = written(path, dtype)
    store = TensogramStore.open_tgm(str(path))
    assert np.array_equal(zarr.open_group(store, mode="r")["x"][:], values)
    store.close()


def test_append(tmp_path):
    path = tmp_path / "out.tgm"
    written(path, "float32")
    written(path, "int16", mode="a")
    assert len(tensogram.TensogramFile.open(str(path))) == 2


def test_remote(weather):
    with server.serving(pathlib.Path(weather).parent) as running:
        store = TensogramStore.open_tgm(running.url("weather.tgm"), storage_options={"allow_http": "true"})
        group = zarr.open_group(store, mode="r")
        assert np.array_equal(group["plain"][:], field(0))
        store.close()
