"""References of kerchunk, as fsspec and xarray open them, without this package's codec."""

import json

import numpy as np
import pytest

import server
import tgmio as tgm

xarray = pytest.importorskip("xarray")
pytest.importorskip("zarr")
pytest.importorskip("fsspec")


def opened(references, tmp_path):
    """The dataset that references lead to. They have been a file on the way."""
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(references))
    backend = {"consolidated": False, "storage_options": {"fo": str(path), "remote_protocol": "file"}}
    return xarray.open_dataset("reference://", engine="zarr", backend_kwargs=backend, chunks=None)


def fields(folder, encoding=None, left_out=None):
    path = folder / "f é.tgm"
    with open(path, "wb") as out:
        for step in (0, 6, 12):
            for level in (500, 850):
                if (step, level) != left_out:
                    keys = {"param": "t", "date": 20240101, "time": 1200, "step": step, "levtype": "pl", "levelist": level}
                    values = np.arange(15, dtype="f4").reshape(3, 5) + step + level
                    metadata = {"base": [{"mars": {**keys, "area": [60, 0, 40, 40]}}]}
                    out.write(tgm.encode(metadata, [(encoding, values)]))
    return path


@pytest.mark.parametrize("encoding", [
    None, tgm.Encoding(compression="zstd"), tgm.Encoding(compression="lz4"), tgm.Encoding(shuffle=True),
    tgm.Encoding(shuffle=True, compression="zstd"), tgm.Encoding(shuffle=True, compression="lz4"),
])
def test_fields_are_read_where_they_lie(tmp_path, encoding):
    path = fields(tmp_path, encoding, left_out=(6, 500))
    references = tgm.references(path)
    assert sum(isinstance(each, list) for each in references["refs"].values()) == 5, "values are not copied"
    expected = tgm.open_dataset(path)
    found = opened(references, tmp_path)
    np.testing.assert_array_equal(found.t.values, expected.t.values)
    for name in ("step", "isobaricInhPa", "latitude", "longitude", "time", "valid_time"):
        np.testing.assert_array_equal(found[name].values, expected[name].values)
    assert found.t.dims == expected.t.dims and found.t.units == "K" and set(expected.coords) <= set(found.coords)


def test_datasets_that_were_saved_are_read_where_they_lie(tmp_path):
    days = np.arange("2020-01-01", "2020-01-05", dtype="M8[D]").astype("M8[ns]")
    dataset = xarray.Dataset(
        {"t": (("time", "y", "x"), np.random.default_rng(1).random((4, 3, 5)), {"units": "K"}), "n": ("time", np.arange(4, dtype="i2"))},
        {"time": days, "place": (("y", "x"), np.arange(15.0).reshape(3, 5))}, {"title": "all"},
    )
    tgm.save_dataset(dataset, tmp_path / "s.tgm", encoding={"t": {"chunks": (2, 3, 5)}})
    xarray.testing.assert_identical(opened(tgm.references(tmp_path / "s.tgm"), tmp_path).load(), dataset)


def test_what_is_not_a_chunk_as_it_lies_is_refused_by_name(tmp_path):
    packed = fields(tmp_path, tgm.Encoding(bits=16, compression="szip"))
    with pytest.raises(ValueError, match="not chunks as they lie: t: its values are packed"):
        tgm.references(packed)
    dataset = xarray.Dataset({"t": (("time", "x"), np.random.default_rng(1).random((5, 3)))})
    tgm.save_dataset(dataset, tmp_path / "s.tgm", encoding={"t": {"chunks": (2, 3)}})
    with pytest.raises(ValueError, match="t: its last chunks are shorter"):
        tgm.references(tmp_path / "s.tgm")
    dataset.tgm.append(tmp_path / "s.tgm", "time")
    with pytest.raises(ValueError, match="t: its chunks have other shapes in other files"):
        tgm.references(tmp_path / "s.tgm")
    with pytest.raises(TypeError, match="unknown options: codec"):
        tgm.references(packed, codec=None)


def test_addresses_are_named_without_secrets(tmp_path):
    path = fields(tmp_path)
    path = path.rename(tmp_path / "f.tgm")
    with server.serving(tmp_path) as running:
        address = running.url("f.tgm")
        references = tgm.references(f"{address}?signature=5")["refs"]
    assert {each[0] for each in references.values() if isinstance(each, list)} == {address}
