"""Archives as stores of Zarr, read by zarr and by xarray."""

import asyncio
import pickle

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")

# lz4 and shuffle have no codec in the specification of Zarr, and neither have texts: zarr says so each time.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in"),
    pytest.mark.filterwarnings("ignore:The (data type|codec)"),
]

SHAPE = (6, 8)
RANDOM = np.random.default_rng(3)
# How objects are stored, and whether their payloads are chunks as they lie.
STAGES = {
    "plain": ({}, True),
    "big": ({"byte_order": "big"}, True),
    "zstd": ({"compression": "zstd"}, True),
    "lz4": ({"compression": "lz4"}, True),
    "shuffle": ({"filter": "shuffle", "shuffle_element_size": 8}, True),
    "shuffle_zstd": ({"filter": "shuffle", "shuffle_element_size": 8, "compression": "zstd"}, True),
    "shuffle_lz4": ({"filter": "shuffle", "shuffle_element_size": 8, "compression": "lz4"}, True),
    "packed": ({"encoding": "simple_packing"}, False),
    "szip": ({"encoding": "simple_packing", "compression": "szip", "szip_rsi": 2, "szip_block_size": 8, "szip_flags": 8}, False),
}


def field(name, step, values, stage, **mars):
    descriptor = {"type": "ntensor", "dtype": values.dtype.name, "shape": list(values.shape), "byte_order": "little", **stage}
    if stage.get("encoding"):
        descriptor.update(tgm.compute_packing_params(values.ravel(), 16, 0))
    if descriptor["byte_order"] == "big":
        values = values.astype(values.dtype.newbyteorder(">"))
    entry = {"mars": {"param": name, "area": [60.0, 0.0, 10.0, 70.0], "step": step, "date": 20240229, "time": 0, **mars}}
    return tgm.encode({"base": [entry]}, [(descriptor, values)])


@pytest.fixture(scope="module", params=list(STAGES))
def archive(request, tmp_path_factory):
    """An archive of three steps, one of which one variable lacks; the way of its stage; and its values."""
    path = tmp_path_factory.mktemp("zarr") / "a.tgm"
    stage, is_own = STAGES[request.param]
    values = {step: RANDOM.normal(280, 10, SHAPE) for step in (0, 6, 12)}
    messages = [field("2t", step, each, stage) for step, each in values.items() if step != 6]
    messages += [field("10u", step, each, stage) for step, each in values.items()]
    path.write_bytes(b"".join(messages))
    return path, is_own


@pytest.mark.parametrize("codec", ["tgm", None])
def test_xarray_reads_what_open_dataset_has(archive, codec):
    path, _ = archive
    expected = tgm.open_dataset(path)
    found = xarray.open_zarr(tgm.zarr_store(path, codec=codec), chunks=None)
    assert set(found.variables) == set(expected.variables) and set(found.coords) == set(expected.coords)
    for name in expected.variables:
        assert found[name].dims == expected[name].dims
        np.testing.assert_array_equal(found[name].values, expected[name].values, name)
    assert found.t2m.attrs["units"] == "K" and found.step.dtype.kind == "m"
    assert np.isnan(found.t2m.sel(step="6h")).all()


def test_payloads_are_chunks_as_they_lie(archive):
    path, is_own = archive
    store = tgm.zarr_store(path)
    get = lambda key: asyncio.run(store.get(key, zarr.core.buffer.default_buffer_prototype()))
    chunk = get("u10/c/1/0/0").to_bytes()
    assert chunk in path.read_bytes()
    names = [each["name"] for each in zarr.open_group(store, mode="r")["u10"].metadata.to_dict()["codecs"]]
    assert ("tgm" in names) != is_own
    assert get("t2m/c/1/0/0") is None and get("t2m/c/3/0/0") is None and get("u10/c/x") is None and get("other") is None
    plain = tgm.zarr_store(path, codec=None)
    assert "tgm" not in str(zarr.open_group(plain, mode="r")["u10"].metadata.to_dict()["codecs"])


@pytest.mark.parametrize("key", [
    np.s_[0], np.s_[..., 1], np.s_[::2, :, 1:], np.s_[1, 2:4, ::3], np.s_[-1, -1, -1], np.s_[2:2], np.s_[:, 5, 7],
])
def test_indices_select_as_numpy_does(archive, key):
    path, _ = archive
    array = zarr.open_group(tgm.zarr_store(path), mode="r")["u10"]
    whole = tgm.open_dataset(path).u10.values
    np.testing.assert_array_equal(array[key], whole[key])


def test_lists_and_masks_select_as_numpy_does(archive):
    path, _ = archive
    array = zarr.open_group(tgm.zarr_store(path), mode="r")["u10"]
    whole = tgm.open_dataset(path).u10.values
    np.testing.assert_array_equal(array.oindex[[2, 0], [1, 5], 3:], whole[np.ix_([2, 0], [1, 5], range(3, 8))])
    np.testing.assert_array_equal(array.vindex[[2, 0], [1, 5], [3, 0]], whole[[2, 0], [1, 5], [3, 0]])
    mask = whole > 285
    np.testing.assert_array_equal(array.get_mask_selection(mask), whole[mask])


def test_a_store_lists_its_keys_and_is_not_written(archive):
    path, _ = archive
    store = tgm.zarr_store(path)

    async def listed(keys):
        return [key async for key in keys]

    keys = asyncio.run(listed(store.list()))
    assert "zarr.json" in keys and "t2m/c/2/0/0" in keys and "t2m/c/1/0/0" not in keys and len(set(keys)) == len(keys)
    assert set(asyncio.run(listed(store.list_dir("u10")))) == {"zarr.json", "c"}
    assert {"u10", "t2m", "step", "zarr.json"} <= set(asyncio.run(listed(store.list_dir(""))))
    assert all(asyncio.run(store.exists(key)) for key in keys) and not asyncio.run(store.exists("t2m/c/1/0/0"))
    assert set(asyncio.run(listed(store.list_prefix("u10/c/1")))) == {"u10/c/1/0/0"}
    for write in (store.set("a", None), store.delete("zarr.json")):
        with pytest.raises(ValueError, match="read-only"):
            asyncio.run(write)
    again = pickle.loads(pickle.dumps(store))
    assert again == store and len(pickle.dumps(store)) < 10_000
    assert np.array_equal(zarr.open_group(again, mode="r")["u10"][:], zarr.open_group(store, mode="r")["u10"][:])


def test_ranges_of_bytes_are_those_of_the_key(archive):
    from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest

    path, _ = archive
    store = tgm.zarr_store(path)
    prototype = zarr.core.buffer.default_buffer_prototype()
    whole = asyncio.run(store.get("zarr.json", prototype)).to_bytes()
    parts = [(RangeByteRequest(2, 9), whole[2:9]), (OffsetByteRequest(7), whole[7:]), (SuffixByteRequest(5), whole[-5:])]
    for part, expected in parts:
        assert asyncio.run(store.get("zarr.json", prototype, part)).to_bytes() == expected
    found = asyncio.run(store.get_partial_values(prototype, [("zarr.json", part) for part, _ in parts]))
    assert [each.to_bytes() for each in found] == [expected for _, expected in parts]


@pytest.mark.parametrize("codec", ["tgm", None])
def test_what_was_saved_is_read_through_zarr(tmp_path, codec):
    path = tmp_path / "s.tgm"
    values = RANDOM.normal(0, 1, (5, 7, 9)).astype("f4")
    dataset = xarray.Dataset(
        {
            "v": (("time", "y", "x"), values, {"units": "K"}),
            "n": (("y", "x"), np.arange(63, dtype="i2").reshape(7, 9)),
            "flag": (("y",), np.arange(7) % 2 == 0),
            "c": (("x",), np.arange(9) * 1j),
            "name": (("y",), np.array(["a", "bb", "", "ü", "e", "f", "g"])),
            "bytes": (("y",), np.array([b"a", b"bb", b"", b"d", b"e", b"f", b"g"])),
            "none": (("nothing", "x"), np.zeros((0, 9), "f4")),
        },
        coords={"time": np.arange("2024-01-01", "2024-01-06", dtype="M8[D]").astype("M8[ns]"), "x": np.arange(9.0)},
        attrs={"title": "all", "numbers": [1, 2]},
    )
    # Chunks that are cut at the end of the array, and stages that Zarr knows and does not know.
    tgm.save_dataset(dataset, path, encoding={"v": {"chunks": (2, 4, 9)}, "n": {"chunks": (7, 9)}})
    found = xarray.open_zarr(tgm.zarr_store(path, codec=codec), chunks=None)
    xarray.testing.assert_equal(found.load(), dataset)
    # What is in the store is listed here, and told by the group above.
    listed = xarray.open_zarr(tgm.zarr_store(path, codec=codec), chunks=None, consolidated=False)
    xarray.testing.assert_equal(listed.load(), dataset)
    assert found.attrs["title"] == "all" and found.v.attrs["units"] == "K"
    array = zarr.open_group(tgm.zarr_store(path, codec=codec), mode="r")["v"]
    assert array.chunks == (2, 4, 9)
    np.testing.assert_array_equal(array[3:, 5:, ::2], values[3:, 5:, ::2])


def test_an_object_without_elements_is_not_a_chunk(tmp_path):
    path = tmp_path / "n.tgm"
    entries = [{"name": "a", "dimensions": ["none", "x"]}, {"name": "x", "dimensions": ["x"]}]
    path.write_bytes(tgm.encode({"base": entries}, [(None, np.zeros((0, 3))), (None, np.arange(3.0))]))
    found = xarray.open_zarr(tgm.zarr_store(path), chunks=None, consolidated=False)
    xarray.testing.assert_equal(found.load(), tgm.open_dataset(path).load())


def test_coordinates_that_no_variable_carries_are_coordinates(tmp_path):
    path = tmp_path / "m.tgm"
    mars = {"param": "tp", "area": [60.0, 0.0, 10.0, 70.0], "date": 20240229, "time": 0}
    entries = [{"mars": mars, "grib": {"stepRange": steps, "typeOfStatisticalProcessing": 1}} for steps in ("0-6", "6-12")]
    path.write_bytes(b"".join(tgm.encode({"base": [entry]}, [(None, RANDOM.random(SHAPE))]) for entry in entries))
    expected = tgm.open_dataset(path)
    assert "step_bounds" in expected.coords
    found = xarray.open_zarr(tgm.zarr_store(path), chunks=None)
    assert set(found.coords) == set(expected.coords)


def test_whole_numbers_with_holes_are_floats_or_have_a_fill_value(tmp_path):
    path = tmp_path / "i.tgm"
    numbers = np.arange(48, dtype="i4").reshape(SHAPE)
    path.write_bytes(field("2t", 0, numbers, {}) + field("10u", 0, numbers, {}) + field("10u", 6, numbers, {}))
    found = zarr.open_group(tgm.zarr_store(path), mode="r")["t2m"]
    assert found.dtype == np.float64 and np.isnan(found[1]).all() and np.array_equal(found[0], numbers)
    found = zarr.open_group(tgm.zarr_store(path, fill={"t2m": -1}), mode="r")["t2m"]
    assert found.dtype == np.int32 and (found[1] == -1).all()


def test_options_are_checked(archive):
    path, _ = archive
    for options, error in (({"codec": "zstd"}, ValueError), ({"join": "outer"}, ValueError), ({"chunk": "object"}, TypeError)):
        with pytest.raises(error, match=next(iter(options))):
            tgm.zarr_store(path, **options)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_extremes_of_integers_of_64_bits_are_those_of_numpy(tmp_path, dtype):
    ends = np.iinfo(dtype)
    odd = RANDOM.integers(9, size=(4, 5)).astype(dtype)
    values = np.where(RANDOM.random((4, 5)) < 0.5, ends.min + odd, ends.max - odd).astype(dtype)
    path = tmp_path / "v.tgm"
    tgm.save_dataset(xarray.Dataset({"v": (("a", "b"), values)}), path)
    for over, axis in ((["a"], 0), (["b"], 1), (["a", "b"], None)):
        dataset = tgm.open_dataset(path)
        for statistic in ("min", "max"):
            found = dataset.tgm.reduce("v", statistic, over)
            expected = getattr(values, statistic)(axis)
            assert found.dtype == dtype and (found.values == expected).all()
        assert dataset.tgm.reduce("v", "mean", over).dtype == np.float64


def test_statistics_are_those_of_xarray(tmp_path):
    path = tmp_path / "e.tgm"
    values = RANDOM.normal(280, 10, (2, 3, *SHAPE))
    messages = [
        field("2t", step, values[number, at], {}, number=number)
        for number in range(2) for at, step in enumerate((0, 6, 12)) if (number, step) != (1, 12)
    ]
    path.write_bytes(b"".join(messages))
    dataset = tgm.open_dataset(path)
    loaded = dataset.t2m.load().copy()
    dataset = tgm.open_dataset(path)
    for over in ("number", ["number", "step"], ["latitude", "longitude"], list(loaded.dims)):
        for statistic in ("count", "sum", "mean", "min", "max", "std"):
            found = dataset.tgm.reduce("t2m", statistic, over)
            expected = getattr(loaded, statistic)(over)
            xarray.testing.assert_allclose(found, expected.astype("f8"))
    found = dataset.tgm.reduce("t2m", ["mean", "std"], "number", step="6h", latitude=slice(60, 40))
    part = loaded.sel(step="6h", latitude=slice(60, 40))
    xarray.testing.assert_allclose(found["std"], part.std("number"))
    for arguments, error in ((("t2m", "median", "number"), ValueError), (("t2m", "mean", "level"), tgm.MetadataError), (("t", "mean", "x"), KeyError)):
        with pytest.raises(error):
            dataset.tgm.reduce(*arguments)
    with pytest.raises(ValueError, match="loaded or chunked"):
        dataset.isel(step=0).tgm.reduce("t2m", "mean", "number")
