"""Archives as datasets of xarray: opening, reading and saving."""

import datetime
import importlib.util
import json
import pathlib
import pickle
import re
import warnings

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")

GRID = (3, 4)


def field(param, value, **mars):
    """A message with a field whose values are `value` and the numbers after it."""
    values = value + np.arange(12.0).reshape(GRID)
    entry = {"mars": {"param": param, "area": [60.0, 0.0, 40.0, 30.0], **mars}}
    return tgm.encode({"base": [entry]}, [(None, values)])


def archive(folder, messages, name="a.tgm"):
    path = folder / name
    path.write_bytes(b"".join(messages))
    return path


def steps_and_levels(left_out=()):
    """Fields of t, whose values tell step and level."""
    return [
        field("t", 1000 * step + level, step=step, levtype="pl", levelist=level, date=20240229, time=1200)
        for step in (0, 6, 12)
        for level in (500, 850)
        if (step, level) not in left_out
    ]


@pytest.fixture
def t(tmp_path):
    return xarray.open_dataset(archive(tmp_path, steps_and_levels(left_out=[(6, 500)])), engine=backend()).t


def backend():
    from tgmio._xarray import TgmBackendEntrypoint

    return TgmBackendEntrypoint


def test_dimensions_and_coordinates_are_those_that_people_know(t):
    assert t.dims == ("step", "isobaricInhPa", "latitude", "longitude")
    assert t.isobaricInhPa.values.tolist() == [850.0, 500.0] and t.isobaricInhPa.units == "hPa"
    assert t.latitude.values.tolist() == [60.0, 50.0, 40.0] and t.longitude.values.tolist() == [0.0, 10.0, 20.0, 30.0]
    assert t.step.dtype == "m8[ns]" and t.sel(step="12h", isobaricInhPa=850).values[0, 0] == 12850.0
    assert t.time.values == np.datetime64("2024-02-29T12:00") and t.valid_time.values[1] == np.datetime64("2024-02-29T18")
    assert t.units == "K" and t.standard_name == "air_temperature"


def test_places_without_a_message_are_nan_and_are_named(t, tmp_path):
    assert np.isnan(t.sel(step="6h", isobaricInhPa=500).values).all() and np.isfinite(t).sum() == 5 * 12
    dataset = tgm.open_dataset(tmp_path / "a.tgm")
    assert dataset.tgm.holes() == ["t step=6 isobaricInhPa=500"] and dataset.tgm.left_out == []


@pytest.mark.parametrize("key", [
    np.s_[0], np.s_[..., 1], np.s_[::2, :, 1:, ::-2], np.s_[[2, 0]], np.s_[1, [1, 0], [0, 2], [3]], np.s_[-1, -1, -1, -1],
    np.s_[2:2], np.s_[:, :, [True, False, True]],
])
def test_indices_select_as_numpy_does(t, key):
    np.testing.assert_array_equal(t[key].values, t.load()[key].values)


def test_points_are_read_as_numpy_has_them(t):
    points = {"latitude": xarray.DataArray([0, 2, 2, 1], dims="p"), "longitude": xarray.DataArray([3, 0, 1, 1], dims="p")}
    series = {"step": xarray.DataArray([[0, 1], [2, 0]], dims=("a", "b"))}
    loaded = t.copy().load()
    for indexers in (points, series, {**points, "step": [0, 2]}, {**points, "step": xarray.DataArray([0, 1, 2, 0], dims="p")}):
        xarray.testing.assert_identical(t.isel(indexers).load(), loaded.isel(indexers))


def test_what_does_not_fit_is_told_and_opened_by_open_datasets(tmp_path):
    messages = [*steps_and_levels(), field("t", 5.0, step=0, levtype="pl", levelist=700, area=[50.0, 0.0, 40.0, 30.0])]
    path = archive(tmp_path, messages)
    with pytest.warns(UserWarning, match="another grid"):
        dataset = tgm.open_dataset(path)
    assert len(dataset.tgm.left_out) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = tgm.open_datasets(path)
    assert first.identical(dataset) and second.t.values[0, 0] == 5.0 and second.latitude.values[0] == 50.0


def test_two_messages_for_one_place_are_an_error_or_the_last_counts(tmp_path):
    path = archive(tmp_path, [field("t", 1.0, step=0), field("t", 2.0, step=6), field("t", 3.0, step=0)])
    with pytest.raises(tgm.MetadataError, match="message 0 object 0.*message 2 object 0"):
        tgm.open_dataset(path)
    assert tgm.open_dataset(path, duplicates="last").t.values[0, 0, 0] == 3.0
    assert tgm.open_dataset(path, duplicates="first").t.values[0, 0, 0] == 1.0


def test_files_patterns_and_folders_are_one_dataset(tmp_path):
    for number, message in enumerate(steps_and_levels()):
        archive(tmp_path, [message], f"{number}.tgm")
    paths = sorted(tmp_path.glob("*.tgm"))
    one = tgm.open_dataset(paths)
    for source in (str(tmp_path / "*.tgm"), tmp_path, tuple(map(str, paths))):
        assert tgm.open_dataset(source).identical(one)
    assert one.t.shape == (3, 2, 3, 4) and np.isfinite(one.t).all()
    for source, error in (([], ValueError), (str(tmp_path / "*.nc"), OSError), (7, TypeError), (tmp_path / "b.tgm", OSError)):
        with pytest.raises(error):
            tgm.open_dataset(source)


def test_a_dataset_travels_as_a_path(t):
    assert len(pickle.dumps(t.variable._data)) < 10_000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(t)).values, t.values)


def test_coordinates_that_are_not_indexes_travel_as_a_path(tmp_path):
    pytest.importorskip("dask")
    path = archive(tmp_path, [field("t", 1.0, date=20240101 + day, step=step) for day in range(25) for step in range(30)])
    found = tgm.open_dataset(path)
    sum_of_both = found.time + found.step
    assert found.valid_time.nbytes == 6000 and len(pickle.dumps(found)) < 6000
    again = pickle.loads(pickle.dumps(found))
    for chunks in (None, {}):
        each = again if chunks is None else tgm.open_dataset(path, chunks=chunks)
        for key in ({}, {"time": 3}, {"time": slice(None, None, -2), "step": [4, 1]}, {"time": 0, "step": 7}):
            np.testing.assert_array_equal(each.valid_time.isel(key).values, sum_of_both.isel(key).values)
    points = {dim: xarray.DataArray([3, 0, -1], dims="p") for dim in ("time", "step")}
    np.testing.assert_array_equal(again.valid_time.isel(points).values, sum_of_both.isel(points).values)
    assert tgm.open_dataset(path, decode_times=False).valid_time[0, 1] - again.time[0].astype("M8[s]").astype(int) == 3600


def test_names_of_many_files_travel_compressed(tmp_path):
    message = field("t", 1.0, step=0)
    paths = [str(archive(tmp_path, [message], f"run-é-{number:04}.tgm")) for number in range(300)]
    from tgmio._sources import Archive

    whole = Archive(tuple(paths), {})
    travelled = pickle.dumps(whole)
    assert len(travelled) < 3_000 < sum(map(len, paths))
    assert pickle.loads(travelled) == whole and pickle.loads(travelled).sources == tuple(paths)
    single = Archive(tuple(paths[:1]), {})
    assert pickle.loads(pickle.dumps(single)) == single


def test_a_file_that_was_changed_is_not_read_for_another(tmp_path):
    path = archive(tmp_path, steps_and_levels())
    travelled = pickle.dumps(tgm.open_dataset(path).t)
    from tgmio import _sources

    archive(tmp_path, steps_and_levels()[:4])
    _sources._opened.clear()
    with pytest.raises(ValueError, match="was changed"):
        pickle.loads(travelled).load()
    assert tgm.open_dataset(path).t.shape[0] == 2


def test_options_are_checked(tmp_path):
    path = archive(tmp_path, steps_and_levels())
    for options in ({"profile": "grib"}, {"join": "outer"}, {"duplicates": "all"}, {"chunk": 3}):
        with pytest.raises(ValueError, match=next(iter(options))):
            tgm.open_dataset(path, **options)
    kept = tgm.open_dataset(path, squeeze=False)
    assert kept.t.dims[:2] == ("time", "step") and kept.sizes["time"] == 1
    # As xarray joins files of one level each.
    others = {500: [(step, 850) for step in (0, 6, 12)], 850: [(step, 500) for step in (0, 6, 12)]}
    files = [archive(tmp_path, steps_and_levels(left_out), f"{level}.tgm") for level, left_out in others.items()]
    joined = xarray.open_mfdataset(files, engine=backend(), squeeze=False, chunks=None)
    assert joined.t.shape == (1, 3, 2, *GRID) and joined.t.sel(isobaricInhPa=850).values[0, 2, 0, 0] == 12850.0
    assert tgm.open_dataset(path, dtype="float32").t.dtype == "f4"
    assert tgm.open_dataset(path, decode_timedelta=False).step.values.tolist() == [0, 21600, 43200]
    assert list(tgm.open_dataset(path, drop_variables=["t"]).data_vars) == []


def saved():
    random = np.random.default_rng(1)
    dataset = xarray.Dataset(
        {
            "t": (("time", "level", "y", "x"), random.normal(280, 10, (3, 2, 5, 7)).astype("f4"), {"units": "K"}),
            "n": (("time", "y"), np.arange(15, dtype="i2").reshape(3, 5)),
            "flag": (("y",), np.array([True, False, True, False, True])),
            "c": (("x",), np.arange(7) * 1j),
            "name": (("y",), np.array(["a", "bb", "", "ü", "e"])),
            "scalar": ((), 3.5),
            "later": (("y",), np.arange(5).astype("m8[h]").astype("m8[ns]")),
            "empty": (("none", "x"), np.zeros((0, 7))),
        },
        coords={
            "time": np.array(["2024-01-01", "2024-01-02", "1600-01-01"], "M8[s]"),
            "level": [500.0, 850.0],
            "place": (("y", "x"), random.random((5, 7))),
        },
        attrs={"title": "all", "number": 3, "list": [1.5, 2.5]},
    )
    dataset.t.values[1, 0, 2, 3] = np.nan
    return dataset


@pytest.mark.parametrize("chunks", [None, {}], ids=["lazy", "dask"])
def test_what_is_saved_comes_back(tmp_path, chunks):
    if chunks is not None:
        pytest.importorskip("dask")
    dataset, path = saved(), tmp_path / "s.tgm"
    dataset["bounds"] = (("time", "both"), np.stack([dataset.time, dataset.time], 1))
    if importlib.util.find_spec("cftime"):
        dataset["noleap"] = ("y", xarray.date_range("2001-02-26", periods=5, calendar="noleap", use_cftime=True))
    tgm.save_dataset(dataset if chunks is None else dataset.chunk(), path)
    found = tgm.open_dataset(path, decode_times=xarray.coders.CFDatetimeCoder(time_unit="s"), chunks=chunks)
    xarray.testing.assert_identical(found.compute(), dataset)
    tgm.save_dataset(found, tmp_path / "again.tgm")
    again = tgm.open_dataset(tmp_path / "again.tgm", decode_times=xarray.coders.CFDatetimeCoder(time_unit="s"))
    xarray.testing.assert_identical(again.load(), dataset)


@pytest.mark.parametrize("compression", [None, "szip", "zstd", "lz4", "none"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts_that_cannot_be_packed_lie_beside_those_that_can(tmp_path, dtype, compression):
    values = np.random.default_rng(1).random((8, 128, 128)).astype(dtype)
    values[1], values[2, 0, 0], values[3], values[4] = np.nan, 1e30, 0, 1e-40
    values[5], values[5, 0, 0], values[6, 0] = 273.15, np.nan, np.inf
    dataset, path = xarray.Dataset({"t": (("time", "y", "x"), values)}), tmp_path / "a.tgm"
    options = {"within": 0.01} | ({} if compression is None else {"compression": compression})
    tgm.save_dataset(dataset, path, encoding={"t": options})
    found = tgm.open_dataset(path).t
    assert found.dtype == "float64" and not found.encoding["tgm"]["holes"]
    np.testing.assert_allclose(found.values, values, rtol=0, atol=0.01)


@pytest.mark.parametrize("values", [[0, 1e-90, 0], [1e-310, 2e-310], [0, 5e-324], [7, 7], [0, 1e80], [-1.7e308, 1.7e308]])
def test_extents_that_a_packed_step_cannot_tell(tmp_path, values):
    values, path = np.array(values * 100, "float64"), tmp_path / "a.tgm"
    for within in (1e-320, 0.5, 1e79):
        tgm.save_dataset(xarray.Dataset({"t": ("x", values)}), path, encoding={"t": {"within": within}})
        assert abs(tgm.open_dataset(path).t.values - values).max() <= within


@pytest.mark.parametrize("within", [10.0, 0.01, 1e-6, 1e-12])
def test_values_are_stored_within_the_bound(tmp_path, within):
    dataset, path = saved(), tmp_path / "s.tgm"
    dataset["t"] = dataset.t.astype("f8")
    for compression in (None, "szip", "zstd", "lz4", "none"):
        options = {"within": within} | ({} if compression is None else {"compression": compression})
        tgm.save_dataset(dataset, path, encoding={"t": {"tgm": options}})
        found = tgm.open_dataset(path, drop_variables="time").t
        assert np.nanmax(abs(found.values - dataset.t.values)) <= within
        assert np.isnan(found.values[1, 0, 2, 3]) and np.isnan(found.values).sum() == 1


def test_objects_have_the_shape_that_is_asked_for(tmp_path):
    dataset, path = saved(), tmp_path / "s.tgm"
    tgm.save_dataset(dataset, path, encoding={"t": {"chunks": {"time": 2, "x": 3}}, "n": {"chunks": (3, 2)}})
    found = tgm.open_dataset(path, drop_variables="time")
    assert found.t.encoding["tgm"] == {"piece": (2, 2, 5, 3), "objects": 6, "holes": 0}
    np.testing.assert_array_equal(found.t.values, dataset.t.values)
    np.testing.assert_array_equal(found.n[1:, [4, 0]].values, dataset.n[1:, [4, 0]].values)


def test_what_cannot_be_saved_is_an_error_and_leaves_no_file(tmp_path):
    dataset, path = saved(), tmp_path / "s.tgm"
    for encoding in ({"q": {}}, {"t": {"bits": 3}}, {"t": {"within": 0}}, {"t": {"compression": "gzip"}},
                     {"t": {"compression": "szip"}}, {"t": {"chunks": (1, 2)}}):
        with pytest.raises(ValueError, match=next(iter(encoding))):
            tgm.save_dataset(dataset, path, encoding=encoding)
    with pytest.raises(TypeError, match="attribute"):
        tgm.save_dataset(dataset.assign_attrs(when=object()), path)
    with pytest.raises(TypeError, match="object"):
        tgm.save_dataset(xarray.Dataset({"v": ("x", np.array([{}, 1], dtype=object))}), path)
    with pytest.raises(TypeError, match="to_dataset"):
        tgm.save_dataset(dataset.t, path)
    assert list(tmp_path.iterdir()) == []


def test_dates_beyond_nanoseconds_are_kept(tmp_path):
    path = archive(tmp_path, [field("t", 1.0, date=year * 10_000 + 101, time=0) for year in (1600, 2300)])
    found = tgm.open_dataset(path).time
    assert found.values.astype("M8[s]").tolist() == [datetime.datetime(1600, 1, 1), datetime.datetime(2300, 1, 1)]


def test_chunks_join_objects_up_to_some_megabytes(tmp_path):
    from tgmio._xarray import _chunks

    def chunks(shape, piece, **options):
        return _chunks({"shape": shape, "piece": piece}, 8, options.get("chunk"))

    assert chunks((113_957, 9, 21), (1, 9, 21)) == (5548, 9, 21)
    assert chunks((10, 1000, 721, 1440), (1, 1, 721, 1440)) == (1, 1, 721, 1440)
    assert chunks((100_000, 1000, 1440), (1, 1000, 1440)) == (16, 1000, 1440)
    assert chunks((10, 1000, 721, 1440), (1, 1, 721, 1440), chunk="object") == (1, 1, 721, 1440)
    assert chunks((4, 2, 0), (1, 1, 1)) and chunks((), ()) == ()


def test_the_page_on_datasets_runs(tmp_path, monkeypatch):
    page = pathlib.Path(__file__).parents[2] / "DATASETS.md"
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(code) >= 4
    exec("\n".join(code), {})


NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore:.*(not kept|are rounded)")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path, monkeypatch):
    """Each cell of code, in order, without the program that shows notebooks."""
    notebook = json.loads(path.read_text())
    monkeypatch.chdir(tmp_path)
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 3 and not any(cell.get("outputs") for cell in notebook["cells"])
    names = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"{path.name}, cell {number}", "exec"), names)


def test_a_catalogue_that_cannot_be_used_is_told(tmp_path):
    path = archive(tmp_path, steps_and_levels())
    beside = tmp_path / "a.tgm.catalog"
    beside.write_bytes(path.read_bytes())
    with pytest.warns(UserWarning, match="catalog is not used: "):
        told = tgm.open_dataset(path)
    elsewhere = beside.rename(tmp_path / "own")
    with pytest.warns(UserWarning, match="own is not used: "):
        tgm.open_dataset(path, catalog=elsewhere)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        elsewhere.rename(beside)
        xarray.testing.assert_identical(told, tgm.open_dataset(path, catalog=False))
        assert len(tgm.open_datasets(path, catalog=False)) == 1
    with pytest.raises(FileNotFoundError):
        tgm.open_dataset(path, catalog=tmp_path / "missing")
    with pytest.raises(ValueError, match="2 catalogues for 1 source"):
        tgm.open_dataset(path, catalog=[beside, beside])
    with pytest.raises(TypeError, match="argument 'catalog'"):
        tgm.open_dataset(path, catalog=3)


def test_files_of_other_formats_are_errors(tmp_path):
    whole = archive(tmp_path, steps_and_levels())
    other = tmp_path / "b.nc"
    other.write_bytes(b"\x89HDF\r\n\x1a\n and more")
    for use in (tgm.open_dataset, tgm.open_datasets, tgm.zarr_store, tgm.references, tgm.catalogue):
        for source in (other, str(other)):
            with pytest.raises(tgm.FramingError, match="b.nc: not a Tensogram file: it looks like HDF5 or NetCDF"):
                use(source)
    with pytest.raises(tgm.FramingError, match="b.nc: not a Tensogram file"):
        tgm.open_dataset([whole, other])


def test_what_cannot_be_saved_is_told(tmp_path):
    dataset = xarray.Dataset({"t": ("x", [1.0])})
    for other, words in ((dataset.t, "DataArray: call to_dataset"), (xarray.DataTree(dataset), "DataTree: call"), ({}, "dict$")):
        with pytest.raises(TypeError, match=f"a Dataset is expected, not a {words}"):
            tgm.save_dataset(other, tmp_path / "a.tgm")
    with pytest.raises(FileNotFoundError, match="no such folder: .*nowhere'"):
        tgm.save_dataset(dataset, tmp_path / "nowhere" / "a.tgm")
    assert list(tmp_path.iterdir()) == []


def test_bytes_are_bytes_again_and_texts_texts(tmp_path):
    path = tmp_path / "texts.tgm"
    given = {
        "fixed": np.array([b"ab", b"c"]),
        "bytes": np.array([b"\xc3\xa9", b""], object),
        "blank": np.array([b"", b""]),
        "texts": np.array(["\xe9", ""], object),
    }
    tgm.save_dataset(xarray.Dataset({name: ("x", array) for name, array in given.items()}), path)
    found = tgm.open_dataset(path)
    for name, array in given.items():
        assert found[name].values.tolist() == array.tolist(), name
    assert [found[name].dtype.kind for name in given] == ["S", "S", "S", "U"]
    with pytest.raises(ValueError, match="variable 'b': texts are UTF-8.*view"):
        tgm.save_dataset(xarray.Dataset({"b": ("x", np.array([b"\xff"]))}), path)
    assert tgm.open_dataset(path).equals(found)
