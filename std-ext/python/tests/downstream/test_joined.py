"""Datasets of several files as one, and datasets that grow."""

import importlib.util
import itertools
import warnings

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")


def dataset():
    """Ten days with a grid mapping, bounds of times and a text for each day."""
    random = np.random.default_rng(1)
    days = np.arange("2020-12-27", "2021-01-06", dtype="M8[D]").astype("M8[ns]")
    return xarray.Dataset(
        {
            "t": (("time", "y", "x"), random.normal(280, 10, (10, 3, 4)).astype("f4"), {"units": "K", "grid_mapping": "crs"}),
            "crs": ((), np.int32(0), {"grid_mapping_name": "lambert_conformal_conic"}),
            "time_bounds": (("time", "bounds"), np.stack([days, days + np.timedelta64(1, "D")], 1)),
            "name": ("time", [f"day {number}" for number in range(10)]),
        },
        coords={
            "time": ("time", days, {"bounds": "time_bounds"}),
            "y": [3.0, 2.0, 1.0],
            "longitude": (("y", "x"), random.random((3, 4))),
        },
        attrs={"title": "all"},
    )


def save(folder, name, part):
    """A file whose times count from its first day."""
    part = part.copy()
    if part.sizes["time"]:
        first = str(part.time.values[0])[:10]
        for each in ("time", "time_bounds"):
            part[each].encoding = {"units": f"hours since {first}", "calendar": "standard"}
    path = folder / f"{name}.tgm"
    tgm.save_dataset(part, path)
    return path


def test_files_go_on_where_others_end(tmp_path):
    whole = dataset()
    parts = [whole.isel(time=slice(*ends)) for ends in ((5, 8), (0, 5), (8, 10))]
    paths = [save(tmp_path, number, part) for number, part in enumerate(parts)]
    found = tgm.open_dataset(paths)
    assert not any(isinstance(found[name].variable._data, np.ndarray) for name in ("t", "longitude"))
    xarray.testing.assert_identical(found.load(), whole)
    like = xarray.combine_by_coords(parts, data_vars="different", coords="different", compat="equals")
    xarray.testing.assert_identical(found, like)
    assert len(tgm.open_datasets(paths)) == 1
    assert tgm.open_dataset(tmp_path).identical(found) and tgm.open_dataset(str(tmp_path / "*.tgm")).identical(found)


@pytest.mark.parametrize("key", [
    {"time": 6}, {"time": -1, "x": 2}, {"time": slice(1, 9, 3)}, {"time": slice(None, None, -2)}, {"time": [9, 0, 4, 4], "y": [2, 0]},
    {"time": slice(3, 3)}, {"y": 1}, {"time": ("p", [9, 0, 5]), "x": ("p", [1, 2, 3])}, {"time": ("p", [4, 5])},
])
def test_indices_select_among_files(tmp_path, key):
    whole = dataset()
    paths = [save(tmp_path, number, whole.isel(time=slice(start, end))) for number, (start, end) in enumerate(((0, 5), (5, 6), (6, 10)))]
    key = {dim: xarray.DataArray(each[1], dims=each[0]) if isinstance(each, tuple) else each for dim, each in key.items()}
    xarray.testing.assert_identical(tgm.open_dataset(paths).t.isel(key).load(), whole.t.isel(key))


def test_files_are_joined_along_more_than_one_dimension_and_by_variables(tmp_path):
    whole = dataset().drop_vars("name").assign_coords(x=np.arange(4))
    cuts = itertools.product((slice(6, 10), slice(0, 6)), (slice(0, 1), slice(1, 3)), (slice(0, 2), slice(2, 4)))
    paths = [
        save(tmp_path, number, whole.isel(time=time, y=y, x=x)) for number, (time, y, x) in enumerate(cuts)
    ]
    xarray.testing.assert_identical(tgm.open_dataset(paths).load(), whole)
    with pytest.raises(ValueError, match="do not form a box|has dimensions|overlaps"):
        tgm.open_dataset(paths[1:])
    other = save(tmp_path, "other", whole[["t", "time_bounds"]].rename(t="u"))
    merged = tgm.open_dataset([*paths, other])
    assert {"t", "u"} <= set(merged.data_vars) and merged.u.shape == merged.t.shape
    shifted = save(tmp_path, "shifted", whole[["t", "time_bounds"]].rename(t="v").isel(time=slice(0, 4)))
    with pytest.warns(UserWarning, match="other coordinates"):
        one = tgm.open_dataset([*paths, shifted])
    assert "v" not in one and len(one.tgm.left_out) == 1
    assert [set(each.data_vars) & {"t", "v"} for each in tgm.open_datasets([*paths, shifted])] == [{"t"}, {"v"}]


def test_what_differs_without_the_dimension_is_stacked(tmp_path):
    whole = dataset()
    first, second = whole.isel(time=slice(0, 4)), whole.isel(time=slice(4, 10)).assign(crs=xarray.Variable((), np.int32(1)))
    found = tgm.open_dataset([save(tmp_path, "a", first), save(tmp_path, "b", second)])
    assert found.crs.dims == ("time",) and found.crs.values.tolist() == [0] * 4 + [1] * 6


def test_files_that_cannot_be_joined_are_named(tmp_path):
    whole = dataset()
    early, late = (save(tmp_path, name, whole.isel(time=part)) for name, part in (("early", slice(0, 5)), ("late", slice(3, 10))))
    wide = save(tmp_path, "wide", whole.isel(time=slice(5, 10), x=slice(0, 2)))
    text = save(tmp_path, "text", whole.isel(time=slice(5, 10)).assign(t=whole.t.isel(time=slice(5, 10)).astype(str)))
    for paths, why in (([early, late], "early.*late.*time overlaps"), ([early, early], "nothing says how they go on"),
                       ([early, wide], "wide.*has dimensions"), ([early, text], "text.*is of type")):
        with pytest.raises(ValueError, match=why):
            tgm.open_dataset(paths)


def test_times_that_files_count_from_different_days_are_counted_from_one(tmp_path):
    whole = dataset()
    paths = [save(tmp_path, name, whole.isel(time=part)) for name, part in (("early", slice(0, 5)), ("later", slice(5, 10)))]
    found = tgm.open_dataset(paths, decode_times=False)
    assert found.time.attrs == {"bounds": "time_bounds", "units": "hours since 2020-12-27", "calendar": "standard"}
    assert found.time.values.tolist() == [24 * day for day in range(10)]


def test_times_with_parts_of_seconds_are_joined_exactly(tmp_path):
    files = [
        ("seconds since 2000-01-01", np.array([0, 1]), ["2000-01-01T00:00:00", "2000-01-01T00:00:01"]),
        ("milliseconds since 2000-01-01T00:00:01.5", np.array([1]), ["2000-01-01T00:00:01.501"]),
        ("microseconds since 2001-01-01", np.array([2]), ["2001-01-01T00:00:00.000002"]),
        ("days since 2000-01-01", np.array([7000.1, 7000.5]), ["2019-03-02T02:24:00", "2019-03-02T12:00:00"]),
    ]
    paths, parts = [], []
    for number, (units, numbers, _) in enumerate(files):
        when = ("time", numbers.astype(numbers.dtype), {"units": units})
        raw = xarray.Dataset({"when": when, "t": ("time", numbers * 1.0)}, {"time": when})
        parts.append(xarray.decode_cf(raw))
        paths.append(tmp_path / f"{number}.tgm")
        tgm.save_dataset(raw, paths[-1])
    found = tgm.open_dataset(paths)
    expected = np.array([text for _, _, texts in files for text in texts], "M8[ns]")
    assert set(found.data_vars) == {"when", "t"}
    assert found.time.values.tolist() == found.when.values.tolist() == expected.tolist()
    xarray.testing.assert_identical(found.load(), xarray.combine_by_coords(parts))
    assert xarray.open_zarr(tgm.zarr_store(paths), chunks=None).load().identical(found)


def test_times_of_several_files_are_those_of_cftime_when_asked(tmp_path):
    cftime = pytest.importorskip("cftime")
    whole = dataset()
    paths = [save(tmp_path, name, whole.isel(time=part)) for name, part in (("early", slice(0, 5)), ("later", slice(5, 10)))]
    coders = getattr(xarray, "coders", None)
    options = {"decode_times": coders.CFDatetimeCoder(use_cftime=True)} if coders else {"use_cftime": True}
    found = tgm.open_dataset(paths, **options)
    assert isinstance(found.time.values[0], cftime.DatetimeGregorian) and str(found.time.values[9])[:10] == "2021-01-05"


@pytest.mark.parametrize("calendar", ["noleap", "all_leap", "360_day", "julian"])
def test_times_of_other_calendars_are_counted_from_the_first_day(tmp_path, calendar):
    pytest.importorskip("cftime")
    days = xarray.date_range("2000-02-20", periods=30, calendar=calendar, use_cftime=True)
    whole = xarray.Dataset({"t": ("time", np.arange(30.0))}, {"time": days})
    paths = []
    for start, end in ((13, 30), (0, 13)):
        part = whole.isel(time=slice(start, end))
        part.time.encoding = {"units": f"hours since {str(part.time.values[0])[:10]}", "calendar": calendar}
        paths.append(tmp_path / f"{start}.tgm")
        tgm.save_dataset(part, paths[-1])
    xarray.testing.assert_identical(tgm.open_dataset(paths).load(), whole)


def test_chunks_do_not_span_files(tmp_path):
    pytest.importorskip("dask")
    whole = dataset()
    paths = [save(tmp_path, number, whole.isel(time=slice(start, end))) for number, (start, end) in enumerate(((0, 3), (3, 10)))]
    found = tgm.open_dataset(paths, chunks={})
    assert found.t.chunks == ((3, 7), (3,), (4,))
    xarray.testing.assert_identical(found.load(), whole)


def test_a_dataset_grows_along_a_dimension(tmp_path):
    whole, path = dataset(), tmp_path / "a.tgm"
    for number, (start, end) in enumerate(((0, 4), (4, 5), (5, 5), (5, 10))):
        part = whole.isel(time=slice(start, end))
        if number % 2:
            part.tgm.append(path, "time", encoding={"t": {"compression": "lz4"}})
        else:
            tgm.save_dataset(part, path, append_dim="time")
    xarray.testing.assert_identical(tgm.open_dataset(path).load(), whole)
    assert len(tgm.open_datasets(path)) == 1
    grown, other = tmp_path / "a.tgm", save(tmp_path, "b", whole.assign_coords(time=whole.time + np.timedelta64(20, "D")))
    assert tgm.open_dataset([other, grown]).sizes["time"] == 20
    again = tmp_path / "again.tgm"
    tgm.save_dataset(tgm.open_dataset(path), again)
    xarray.testing.assert_identical(tgm.open_dataset(again).load(), whole)


def test_a_store_of_zarr_has_all_files(tmp_path):
    pytest.importorskip("zarr")
    whole = dataset()
    for ends in ((0, 5, 10), (0, 6, 8, 10), (0, 1, 10)):
        paths = [save(tmp_path, number, whole.isel(time=slice(*pair))) for number, pair in enumerate(zip(ends, ends[1:]))]
        grown = tmp_path / "grown"
        grown.unlink(missing_ok=True)
        for pair in zip(ends, ends[1:]):
            tgm.save_dataset(whole.isel(time=slice(*pair)), grown, append_dim="time")
        for source in (paths, grown):
            found = xarray.open_zarr(tgm.zarr_store(source), chunks=None).load()
            assert set(found.variables) == set(whole.variables)
            for name in whole.variables:
                np.testing.assert_array_equal(found[name].values, whole[name].values, err_msg=f"{name}, {ends}")


def test_references_are_of_several_files_where_their_objects_are_chunks_of_one_array(tmp_path):
    whole = dataset()[["t"]].drop_vars("longitude")
    encoding = {"t": {"compression": "zstd", "chunks": (1, 3, 4)}}
    paths = []
    for number, (start, end) in enumerate(((0, 3), (3, 10))):
        paths.append(tmp_path / f"{number}.tgm")
        tgm.save_dataset(whole.isel(time=slice(start, end)), paths[-1], encoding=encoding)
    found = tgm.references(paths)["refs"]
    assert [found[f"t/{number}.0.0"][0] for number in (2, 3)] == [f"file://{path}" for path in paths]
    uneven = [tmp_path / "a.tgm", tmp_path / "b.tgm"]
    for path, part in zip(uneven, (slice(0, 7), slice(7, 10))):
        tgm.save_dataset(whole.isel(time=part), path, encoding={"t": {"compression": "zstd", "chunks": (5, 3, 4)}})
    with pytest.raises(ValueError, match="t: its chunks have other shapes in other files"):
        tgm.references(uneven)


def test_what_cannot_be_appended_is_an_error_and_leaves_the_file(tmp_path):
    whole, path = dataset(), tmp_path / "a.tgm"
    tgm.save_dataset(whole.isel(time=slice(0, 5)), path)
    before, later = path.read_bytes(), whole.isel(time=slice(5, 10))
    cases = [
        (later.drop_vars("t"), "time", "'t', which the dataset lacks"), (later.assign(u=later.t), "time", "no variable 'u'"),
        (later.isel(x=slice(0, 2)), "time", "differs from what the file has|has dimensions"), (later, "z", "no dimension 'z'"),
        (later.assign_coords(y=[1.0, 2.0, 3.0]), "time", "'y' differs"), (later.assign(t=later.t.astype(str)), "time", "of type"),
        (later.assign(t=later.t.transpose("y", "x", "time")), "time", "has dimensions"),
    ]
    for part, dim, why in cases:
        with pytest.raises(ValueError, match=why):
            tgm.save_dataset(part, path, append_dim=dim)
    with pytest.raises(TypeError, match="attribute"):
        tgm.save_dataset(later.assign(t=later.t.assign_attrs(a={1: 2})), path, append_dim="time")
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    fields = tmp_path / "fields.tgm"
    fields.write_bytes(tgm.encode({"base": [{"mars": {"param": "t", "step": 0}}]}, [(None, np.zeros((3, 4)))]))
    with pytest.raises(ValueError, match="not a dataset that was saved"):
        tgm.save_dataset(later, fields, append_dim="time")


def of_kinds():
    """Variables of all types, as they are saved, by names. What ends with "within" is packed."""
    found = {name: np.array([1, 0], name) for name in (
        "int8", "uint8", "int16", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "bool",
    )}
    found["float32 within"] = found["float32"]
    found["texts"], found["bytes"] = np.array(["a", "bc"]), np.array([b"aa", b"b"], object)
    for unit in ("s", "ns"):
        found[f"times {unit}"] = np.array(["2024-02-29", "2024-03-01T00:30"], f"M8[{unit}]")
        found[f"missing times {unit}"] = np.array(["2024-02-29T12", "NaT"], f"M8[{unit}]")
        found[f"durations {unit}"] = np.array([90, 7], f"m8[{unit}]")
    if importlib.util.find_spec("cftime"):
        import cftime

        found["noleap"] = np.array([cftime.DatetimeNoLeap(2000, 1, 1), cftime.DatetimeNoLeap(2000, 3, 1)], object)
        found["noleap fine"] = np.array([cftime.DatetimeNoLeap(2000, 1, 1, 1, 1, 1, 500), cftime.DatetimeNoLeap(2000, 3, 1)], object)
        found["360_day"] = np.array([cftime.Datetime360Day(2000, 2, 30), cftime.Datetime360Day(2000, 3, 1)], object)
    return found


@pytest.mark.parametrize("first", of_kinds())
def test_a_file_opens_whatever_type_is_appended(tmp_path, first):
    path, appended = tmp_path / "a.tgm", set()

    def save(kind, start):
        part = xarray.Dataset({"v": ("time", of_kinds()[kind])}, {"time": [start, start + 1]})
        tgm.save_dataset(part, path, append_dim="time", encoding={"v": {"within": 0.01}} if kind.endswith("within") else {})

    for other in of_kinds():
        path.unlink(missing_ok=True)
        save(first, 0)
        before = path.read_bytes()
        alone = tgm.open_dataset(path).load()
        try:
            save(other, 2)
            appended.add(other)
        except ValueError as error:
            assert path.read_bytes() == before and ("is of type" in str(error) or "has units" in str(error)), other
            continue
        found = tgm.open_dataset(path).load()
        assert found.v.dtype.kind == alone.v.dtype.kind and found.sizes == {"time": 4}, other
        xarray.testing.assert_identical(found.isel(time=slice(0, 2)).astype(alone.v.dtype), alone.astype(alone.v.dtype))
        rest, expected = found.v.values[2:], of_kinds()[other]
        if expected.dtype.kind in "fc":
            np.testing.assert_allclose(rest, expected, atol=0.01)
        else:
            assert xarray.Variable("time", rest).equals(xarray.Variable("time", expected)), other
    assert first in appended
    wider = {"int16": {"int8", "uint8"}, "float32": {"int16", "float16"}, "float64": {"int32", "float32", "float32 within"}}
    assert wider.get(first, set()) <= appended
    if first == "float32":
        assert not appended & {"float64", "float32 within", "int32", "bool", "complex64"}


def test_what_is_appended_means_what_the_file_says(tmp_path):
    path, short = tmp_path / "a.tgm", np.array([1, -9], "i2")
    hours = {"units": "hours since 2000-01-01"}
    days = {"units": "days since 2000-01-01", "calendar": "standard"}
    whole, half = np.array(["2000-01-02", "NaT"], "M8[ns]"), np.array(["2000-01-02T00:30", "NaT"], "M8[ns]")
    late = np.array(["2000-01-02", "2250-01-01"], "M8[ns]")
    cases = [
        (("x", short, {"_FillValue": np.int16(-9)}), ("x", short, {"_FillValue": np.int16(-9)}), None),
        (("x", short, {"_FillValue": np.int16(-9)}), ("x", short, {"_FillValue": np.int16(1)}), "has _FillValue -9"),
        (("x", short), ("x", short, {"_FillValue": np.int16(-9)}), "has _FillValue None"),
        (("x", short, {"scale_factor": 0.5}), ("x", short, {"scale_factor": 0.25}), None),
        (("x", short, {"units": "K"}), ("x", short, {"units": "degC"}), "has units 'K', and 'degC'"),
        (("x", short, {"units": "K"}), ("x", short), "has units 'K'"),
        (("x", short, hours), ("x", half), None), (("x", short, hours), ("x", late), "of type int16, and int64"),
        (("x", short.astype("f4"), days), ("x", whole), None),
        (("x", short.astype("f4"), days), ("x", half), None),
    ]
    for first, other, why in cases:
        tgm.save_dataset(xarray.Dataset({"v": first}), path)
        alone, before = tgm.open_dataset(path).v.values, path.read_bytes()
        part = xarray.Dataset({"v": other})
        if why is not None:
            with pytest.raises(ValueError, match=why):
                tgm.save_dataset(part, path, append_dim="x")
            assert path.read_bytes() == before
            continue
        tgm.save_dataset(part, path, append_dim="x")
        expected = np.concatenate([alone, xarray.decode_cf(part).v.values])
        assert xarray.Variable("x", tgm.open_dataset(path).v.values).equals(xarray.Variable("x", expected)), first


def test_bounds_without_units_of_their_own_go_on(tmp_path):
    path, days = tmp_path / "a.tgm", {"units": "days since 2000-01-01", "bounds": "time_bounds"}
    bounds = np.array([[0, 1], [1, 2]], "i4")
    first = xarray.Dataset({"time_bounds": (("time", "side"), bounds)}, {"time": ("time", bounds[:, 0], days)})
    tgm.save_dataset(first, path)
    opened = tgm.open_dataset(path).load()
    for hours in (48, 100):
        later = opened.copy()
        for name in ("time", "time_bounds"):
            moved = opened[name].variable.copy(data=opened[name].values + np.timedelta64(hours, "h"))
            later = later.assign_coords(time=moved) if name == "time" else later.assign(time_bounds=moved)
        tgm.save_dataset(later, path, append_dim="time")
        found = tgm.open_dataset(path)
        np.testing.assert_array_equal(found.time_bounds.values[-2:], later.time_bounds.values)
        np.testing.assert_array_equal(found.time.values[-2:], later.time.values)


def test_an_append_that_was_interrupted_is_told(tmp_path):
    whole, path = dataset(), tmp_path / "a.tgm"
    tgm.save_dataset(whole.isel(time=slice(0, 5)), path)
    start = path.stat().st_size
    whole.isel(time=slice(5, 10)).tgm.append(path, "time")
    messages = [length for offset, length in tgm.scan(path.read_bytes()) if offset >= start]
    with open(path, "r+b") as file:
        file.truncate(start + messages[0])
    with pytest.warns(UserWarning, match="part 1 .* is not complete"):
        found = tgm.open_dataset(path)
    xarray.testing.assert_identical(found.load(), whole.isel(time=slice(0, 5)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole.isel(time=slice(5, 10)).tgm.append(path, "time")
        xarray.testing.assert_identical(tgm.open_dataset(path).load(), whole)


def test_characters_without_an_encoding_are_bytes(tmp_path):
    texts = {"dimensions": ["x"], "shape": [2], "values": ["ab", ""], "type": "char"}
    told = {**texts, "attributes": {"_Encoding": "utf-8"}}
    path = tmp_path / "a.tgm"
    path.write_bytes(tgm.encode({"texts": {"bytes": texts, "text": told}}, []))
    found = tgm.open_dataset(path)
    assert found["bytes"].values.tolist() == [b"ab", b""] and found["text"].values.tolist() == ["ab", ""]
    assert found["bytes"].attrs == found["text"].attrs == {}
