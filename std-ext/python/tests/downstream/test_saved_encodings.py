"""Datasets that came from NetCDF are saved: what xarray keeps in `encoding` distorts no value."""

import importlib.util

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")


def as_files_have_it():
    """Variables as files of NetCDF have them: packed, with fill values, with times in units of their own."""
    packed = np.array([[-32768, 0, 5], [1, 2, -32767]], "i2")
    dataset = xarray.Dataset(
        {
            "packed": (("time", "x"), packed, {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": np.int16(-32768)}),
            "narrow": (("time", "x"), packed, {"scale_factor": np.float32(0.1), "_FillValue": np.int16(5)}),
            "unsigned": (("x",), np.array([-1, 0, 127], "i1"), {"_Unsigned": "true", "_FillValue": np.int8(-1)}),
            "missing": (("x",), np.array([1.5, 1e20, 2.5], "f4"), {"missing_value": np.float32(1e20), "_FillValue": np.float32(1e20)}),
            "counts": (("x",), np.array([1, -999, 3], "i4"), {"_FillValue": np.int32(-999), "valid_range": np.array([0, 9], "i4")}),
            "plain": (("x",), np.array([1, 2, 3], "i4")),
            "flag": (("x",), np.array([1, 0, 1], "i1"), {"dtype": "bool"}),
            "time": (("time",), np.array([0.5, 1.25], "f4"), {"units": "days since 2024-02-28", "calendar": "standard"}),
            "lead": (("time",), np.array([90, -1], "i2"), {"units": "minutes", "_FillValue": np.int16(-1), "dtype": "timedelta64[ns]"}),
            "when": (("x",), np.array([0, 36, -9], "i4"), {"units": "hours since 1900-01-01", "_FillValue": np.int32(-9)}),
            "x": (("x",), np.array([0, 10, 20], "i2"), {"scale_factor": 0.5, "add_offset": 1.0}),
        }
    )
    # xarray needs cftime for other calendars.
    if importlib.util.find_spec("cftime"):
        days = np.array([58, 59, 60], "i4")
        dataset["noleap"] = (("x",), days, {"units": "days since 2024-01-01", "calendar": "noleap"})
    return dataset


def opened():
    """What xarray makes of them, with the encoding that it keeps."""
    found = xarray.decode_cf(as_files_have_it(), decode_timedelta=True)
    found.encoding["unlimited_dims"] = {"time"}
    assert found.packed.encoding["scale_factor"] == 0.01 and found.counts.encoding["_FillValue"] == -999
    return found


def test_values_are_those_of_xarray(tmp_path):
    dataset, path = opened(), tmp_path / "a.tgm"
    tgm.save_dataset(dataset, path)
    found = tgm.open_dataset(path).load()
    xarray.testing.assert_identical(found, dataset.load())
    for name, variable in dataset.variables.items():
        assert found[name].dtype == variable.dtype, name
    # What was packed is not packed again, so that values which are computed keep their precision.
    dataset = dataset.assign(packed=dataset.packed.copy(data=dataset.packed / 3))
    dataset.packed.encoding = opened().packed.encoding
    tgm.save_dataset(dataset, path)
    np.testing.assert_array_equal(tgm.open_dataset(path).packed.values, dataset.packed.values)


def test_times_that_their_units_cannot_tell_are_kept(tmp_path):
    dataset, path = opened(), tmp_path / "a.tgm"
    late = np.array(["2024-02-28T12:00:00.25", "NaT", "2024-03-01"], "M8[ns]")
    dataset["when"] = dataset.when.copy(data=late)
    dataset.when.encoding = opened().when.encoding
    dataset["lead"] = ("time", np.array([1500, 7], "m8[ms]"), {}, {"units": "hours", "dtype": np.dtype("i2")})
    dataset["fine"] = ("x", np.array([1, 2, 3], "M8[us]"))
    dataset["span"] = ("x", np.array([1, 2, 3], "m8[us]"))
    tgm.save_dataset(dataset, path)
    found = tgm.open_dataset(path).load()
    np.testing.assert_array_equal(found.when.values, late)
    for name in ("lead", "fine", "span"):
        np.testing.assert_array_equal(found[name].values, dataset[name].values)


def test_dimensions_that_grow_are_known_again(tmp_path):
    dataset, path = opened(), tmp_path / "a.tgm"
    tgm.save_dataset(dataset, path)
    found = tgm.open_dataset(path)
    assert found.encoding["unlimited_dims"] == {"time"}
    # A dimension that is gone is not kept.
    tgm.save_dataset(found.isel(time=0), path)
    assert "unlimited_dims" not in tgm.open_dataset(path).encoding
    parts = [dataset.isel(time=[number]) for number in (0, 1)]
    for part in parts:
        tgm.save_dataset(part, tmp_path / "grown.tgm", append_dim="time")
    grown = tgm.open_dataset(tmp_path / "grown.tgm")
    assert grown.encoding["unlimited_dims"] == {"time"}
    np.testing.assert_array_equal(grown.packed.values, dataset.packed.values)


def test_bytes_keep_their_dimensions(tmp_path):
    for number, texts in enumerate((
        np.array([b"N", b"S", b"E"]), np.array([[b"N", b"S"], [b"E", b""]]), np.array([b"", b""]), np.array(b"a"), np.array([], "S1"),
        np.array([b"a", b"b"], "S3"), np.array([[b"ab", b"c"]]), np.array([b"N", b"S"], object),
    )):
        path, dims = tmp_path / f"{number}.tgm", ("y", "x")[2 - texts.ndim:]
        tgm.save_dataset(xarray.Dataset({"flag": (dims, texts)}), path)
        for joined in (True, False, {"flag": True}):
            found = tgm.open_dataset(path, concat_characters=joined).flag
            assert found.dims == dims and found.dtype.kind == "S" and found.values.tolist() == texts.tolist()
        if importlib.util.find_spec("zarr") and texts.size:
            found = xarray.open_zarr(tgm.zarr_store(path), chunks=None).flag
            assert found.dims == dims and found.values.tolist() == texts.tolist()


def test_names_of_other_variables_are_kept_where_these_became_coordinates(tmp_path):
    raw = xarray.Dataset(
        {
            "v": (("time", "x"), np.ones((2, 3)), {"grid_mapping": "crs", "cell_measures": "area: area", "ancillary_variables": "flag"}),
            "label": ("x", ["a", "b", "c"], {"grid_mapping": "crs"}),
            "flag": ("x", [1, 2, 3]), "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}), "area": ("x", [1.0, 2.0, 3.0]),
            "time_bounds": (("time", "side"), np.array([[0, 1], [1, 2]])),
        },
        {"time": ("time", [0, 1], {"units": "days since 2000-01-01", "bounds": "time_bounds"})},
    )
    path, dataset = tmp_path / "a.tgm", xarray.decode_cf(raw, decode_coords="all")
    assert "crs" in dataset.coords and "grid_mapping" not in dataset.v.attrs
    tgm.save_dataset(dataset, path)
    for decode_coords in (True, "all"):
        expected = xarray.decode_cf(raw, decode_coords=decode_coords)
        found = tgm.open_dataset(path, decode_coords=decode_coords)
        for name, variable in expected.variables.items():
            assert found[name].attrs == variable.attrs, name
    xarray.testing.assert_identical(found.load(), dataset.load())


def test_attributes_are_texts_numbers_and_lists_and_dicts_of_these(tmp_path):
    path, values = tmp_path / "a.tgm", np.zeros(2)
    kept = {
        "truths": ([True, False], [1, 0]), "array": (np.array([True, False]), [1, 0]), "truth": (True, 1), "mixed": ([True, 2.5], [1, 2.5]),
        "numbers": ((np.int64(1), 2.5), [1, 2.5]), "texts": (("a", "b"), ["a", "b"]), "none": ([], []),
    }
    nested = {
        "name_to_index": {"2t": 0, "tp": 1}, "levels": [[1, 2], [3]], "spatial": {"bbox": [0.5, 1], "crs": {"code": "EPSG:4326"}},
        "several": [1, "a"], "nothing": None,
    }
    given = {key: value for key, (value, _) in kept.items()}
    tgm.save_dataset(xarray.Dataset({"v": ("x", values, {**given, **nested})}, attrs={**given, **nested}), path)
    found = tgm.open_dataset(path)
    for attributes in (found.attrs, found.v.attrs):
        assert {key: attributes.pop(key) for key in nested} == nested
        assert {key: np.asarray(value).tolist() for key, value in attributes.items()} == {key: value for key, (_, value) in kept.items()}
    assert xarray.open_zarr(tgm.zarr_store(path), chunks=None).v.attrs["name_to_index"] == nested["name_to_index"]
    for wrong in ([1j], {1: "a"}, {"a": object()}, 1j):
        for dataset in (xarray.Dataset({"v": ("x", values, {"a": wrong})}), xarray.Dataset(attrs={"a": wrong})):
            with pytest.raises(TypeError, match="attribute 'a' is neither"):
                tgm.save_dataset(dataset, path)


def test_numbers_stay_as_they_are_stored_where_that_is_asked(tmp_path):
    path = tmp_path / "a.tgm"
    raw = as_files_have_it()[["packed", "counts"]].drop_vars("x")
    tgm.save_dataset(raw, path)
    for options in ({"mask_and_scale": False}, {"decode_cf": False}):
        found = tgm.open_dataset(path, **options)
        for name in raw:
            assert found[name].dtype == raw[name].dtype, name
            np.testing.assert_array_equal(found[name].values, raw[name].values)
            plain = [{key: np.asarray(value).tolist() for key, value in each[name].attrs.items()} for each in (found, raw)]
            assert plain[0] == plain[1], name
    found = tgm.open_dataset(path, mask_and_scale={"packed": False})
    assert found.packed.dtype == raw.packed.dtype and found.counts.dtype == "float64"
    found = tgm.open_dataset(path, mask_and_scale={"counts": False})
    assert found.packed.dtype == "float64" and found.counts.dtype == "int32"
    assert xarray.open_zarr(tgm.zarr_store(path), chunks=None).packed.dtype == "float64"


def test_a_multi_index_is_refused_by_its_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_product([[1, 2], ["a", "b"]], names=("one", "two"))
    coordinates = xarray.Coordinates.from_pandas_multiindex(index, "both")
    dataset = xarray.Dataset({"v": ("both", np.arange(4.0))}, coordinates)
    with pytest.raises(ValueError, match="'both': a MultiIndex is not stored: call reset_index"):
        tgm.save_dataset(dataset, tmp_path / "a.tgm")
    tgm.save_dataset(dataset.reset_index("both"), tmp_path / "a.tgm")
    assert tgm.open_dataset(tmp_path / "a.tgm").two.values.tolist() == ["a", "b", "a", "b"]


def test_packed_variables_have_the_step_of_the_fewest_bits(tmp_path):
    values = np.cumsum(np.random.default_rng(0).normal(0, 0.1, 50_000)) + 280
    sizes = []
    for within in (0.01, 0.0006):
        tgm.save_dataset(xarray.Dataset({"v": ("x", values)}), tmp_path / "a.tgm", encoding={"v": {"within": within}})
        assert abs(tgm.open_dataset(tmp_path / "a.tgm").v.values - values).max() <= within
        sizes.append((tmp_path / "a.tgm").stat().st_size)
    assert sizes[0] < 0.75 * sizes[1]


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_complex_numbers_keep_the_bits_of_both_parts(tmp_path, dtype, compression):
    path, nan, inf = tmp_path / "a.tgm", np.nan, np.inf
    values = np.zeros((2, 6), dtype)
    values.real, values.imag = [1, 1, nan, nan, inf, 2], [inf, nan, 2, inf, -inf, 3]
    encoding = {"z": {"compression": compression, "chunks": [1, 3]}}
    parts = [xarray.Dataset({"z": (("t", "x"), values[[number]])}, {"t": [number]}) for number in range(2)]
    for part in parts:
        tgm.save_dataset(part, path, append_dim="t", encoding=encoding)
    found = tgm.open_dataset(path).z.values
    assert found.dtype == values.dtype and found.tobytes() == values.tobytes()
