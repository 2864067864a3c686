"""Names of earthkit-data, and attributes of cfgrib."""

import numpy as np
import pytest

import tgmio as tgm

xarray = pytest.importorskip("xarray")


def archive(folder, params=("t",), levels=(850, 500)):
    path = folder / "a.tgm"
    grib = {
        "gridDefinitionTemplateNumber": 0, "Ni": 5, "Nj": 3, "numberOfDataPoints": 15, "scanningMode": 64, "centre": 98,
        "subCentre": 0, "latitudeOfFirstGridPoint": 60_000_000, "iDirectionIncrement": 250_000, "typeOfLevel": "isobaricInhPa",
    }
    with open(path, "wb") as out:
        for param in params:
            for number in (0, 1):
                for level in levels:
                    keys = {"param": param, "date": 20240101, "time": 0, "step": 6, "number": number, "levtype": "pl", "levelist": level}
                    entry = {"mars": {**keys, "type": "pf", "area": [60, 0, 58, 1]}, "grib": grib}
                    out.write(tgm.encode({"base": [entry]}, [(None, np.arange(15.0).reshape(3, 5) + level + number)]))
    return path


def test_names_are_those_of_earthkit(tmp_path):
    path = archive(tmp_path, ("t", "10u"))
    ours, theirs = tgm.open_dataset(path), tgm.open_dataset(path, names="earthkit")
    assert set(theirs.data_vars) == {"t", "10u"} and theirs.t.dims == ("member", "level", "latitude", "longitude")
    assert theirs.level.values.tolist() == [500, 850] and theirs.level.dtype == "int64" and theirs.level.units == "hPa"
    assert theirs.forecast_reference_time.values == ours.time.values
    np.testing.assert_array_equal(theirs.t.sel(level=850).values, ours.t.sel(isobaricInhPa=850).values)
    np.testing.assert_array_equal(theirs["10u"].values, ours.u10.values[:, ::-1])
    mean = tgm.open_dataset(archive(tmp_path, levels=(500,)), names="earthkit").tgm.reduce("t", "mean", "member", latitude=59)
    np.testing.assert_array_equal(mean.values, np.arange(5.0, 10) + 500.5)
    assert theirs.identical(tgm.open_datasets(archive(tmp_path, ("t", "10u")), names="earthkit")[0])


def test_a_file_says_where_the_points_of_an_unstructured_grid_are(tmp_path):
    values = np.arange(24.0).reshape(2, 3, 4)
    places = {"clat": np.radians([0, 10, 20, 30.0]), "clon": np.radians([-5, 10, 20, 40.0])}
    grid, path = tmp_path / "icon.tgm", tmp_path / "fields.tgm"
    for archive_path, arrays in ((grid, places), (path, {"2t": values}), (tmp_path / "one.tgm", {"2t": values[0, 0]})):
        with tgm.Writer(archive_path) as writer:
            for name, array in arrays.items():
                units = {"units": "radian"} if archive_path == grid else {}
                writer.object(array, metadata={"name": name, **units} if units else {"mars": {"param": name}})
    degrees = {name: np.degrees(radians) for name, radians in places.items()}
    np.savez(tmp_path / "icon.npz", **degrees)
    for file in (grid, str(tmp_path / "icon.npz")):
        # Several fields in one object, and one.
        found = tgm.open_dataset(path, grid=file)
        assert found.t2m.dims == ("dim_0", "dim_1", "values")
        np.testing.assert_array_equal(found.t2m.values, values)
        one = tgm.open_datasets(tmp_path / "one.tgm", grid=file)[0]
        assert one.t2m.dims == ("values",)
        for each in (found, one, xarray.open_dataset(path, engine="tgm", grid=file)):
            np.testing.assert_allclose(each.latitude, degrees["clat"])
            np.testing.assert_allclose(each.longitude, degrees["clon"] % 360)
    assert "latitude" not in tgm.open_dataset(path).coords
    # A file that was changed is read again.
    np.savez(tmp_path / "icon.npz", clat=degrees["clat"] + 1, clon=degrees["clon"])
    np.testing.assert_allclose(tgm.open_dataset(path, grid=tmp_path / "icon.npz").latitude, degrees["clat"] + 1)
    with pytest.raises(tgm.EncodingError, match="no coordinates of a grid"):
        tgm.open_dataset(path, grid=path)
    with pytest.raises(FileNotFoundError):
        tgm.open_dataset(path, grid=tmp_path / "none.npz")
    with pytest.raises(TypeError, match="argument 'grid'"):
        tgm.open_dataset(path, grid=degrees)


def test_attributes_of_cfgrib_are_there_where_they_are_asked_for(tmp_path):
    path = archive(tmp_path)
    found = tgm.open_dataset(path, grib_attributes=True)
    expected = {
        "GRIB_gridType": "regular_ll", "GRIB_Nx": 5, "GRIB_Ny": 3, "GRIB_jScansPositively": 1, "GRIB_iScansNegatively": 0,
        "GRIB_latitudeOfFirstGridPointInDegrees": 60.0, "GRIB_iDirectionIncrementInDegrees": 0.25, "GRIB_shortName": "t",
        "GRIB_units": "K", "GRIB_name": "Temperature", "GRIB_dataType": "pf", "GRIB_numberOfPoints": 15,
    }
    assert {key: found.t.attrs.get(key) for key in expected} == expected
    assert found.attrs["GRIB_centre"] == "ecmf" and found.attrs["GRIB_edition"] == 2
    assert not any(key.startswith("GRIB_") for key in tgm.open_dataset(path).t.attrs)
    tgm.catalogue([path]).save(tmp_path / "all.tree")
    assert tgm.open_dataset(tmp_path / "all.tree", grib_attributes=True).t.attrs == found.t.attrs
    with pytest.raises(ValueError, match="argument 'names'"):
        tgm.open_dataset(path, names="mars")


def edition_1(flags, representation, grid, coordinates=()):
    """The sections of a message of edition 1, without values: what a converter keeps of it."""
    grid = bytes([0, 0, 0, len(coordinates), 255 if not coordinates else 33, representation]) + grid
    grid += b"".join(coordinates)
    return [b"GRIB\0\0k\1", bytes([0, 0, 52, 128, 98, 1, 255, flags]), len(grid).to_bytes(3, "big") + grid[3:]]


def test_attributes_of_edition_1_are_those_of_cfgrib(tmp_path):
    """As cfgrib 0.9.15 with ecCodes 2.50 has them of the samples of ecCodes."""
    keys = {"param": "t", "levtype": "pl", "levelist": 850, "date": 20240101, "time": 0, "step": 0}
    usual = {"table2Version": 128, "centre": 98, "paramId": 130, "typeOfLevel": "isobaricInhPa", "numberOfForecastsInEnsemble": 0}
    corners = {"latitudeOfFirstGridPoint": 60000, "longitudeOfFirstGridPoint": 0, "latitudeOfLastGridPoint": 0,
               "longitudeOfLastGridPoint": 30000, "iDirectionIncrement": 2000, "jDirectionIncrement": 2000, "scanningMode": 0}
    turned = bytes(10) + b"\x88" + bytes(15) + b"\x80\x75\x30" + b"\x00\x27\x10" + b"\x41\x20\x00\x00"
    cases = {
        "rotated_ll": (10, {**corners, "Ni": 3, "Nj": 2}, turned, (2, 3), {
            "Nx": 3, "Ny": 2, "latitudeOfFirstGridPointInDegrees": 60.0, "iDirectionIncrementInDegrees": 2.0, "uvRelativeToGrid": 1,
            "latitudeOfSouthernPoleInDegrees": -30.0, "longitudeOfSouthernPoleInDegrees": 10.0, "angleOfRotationInDegrees": 2.0,
            "gridDefinitionDescription": "Rotated Latitude/Longitude grid", "NV": 0,
        }),
        "regular_gg": (4, {**corners, "Ni": 4, "Nj": 2, "N": 1}, bytes(26), (2, 4), {
            "N": 1, "Ni": 4, "Nj": 2, "Nx": None, "uvRelativeToGrid": 0, "latitudeOfLastGridPointInDegrees": 0.0,
            "gridDefinitionDescription": "Gaussian Latitude/Longitude Grid",
        }),
        "sh": (50, {"J": 2, "K": 2, "M": 2}, bytes(26), (12,), {
            "J": 2, "K": 2, "M": 2, "Nx": None, "iScansNegatively": None, "uvRelativeToGrid": None,
            "gridDefinitionDescription": "Spherical Harmonic Coefficients",
        }),
    }
    for kind, (representation, of_grid, octets, shape, expected) in cases.items():
        grib = {**usual, **of_grid, "dataRepresentationType": representation, "sections": edition_1(128, representation, octets)}
        path = tmp_path / f"{kind}.tgm"
        tgm.save(path, [np.arange(np.prod(shape), dtype="f8").reshape(shape)], metadata={"base": [{"mars": keys, "grib": grib}]})
        found = tgm.open_dataset(path, grib_attributes=True)
        [variable] = found.data_vars.values()
        expected = {"gridType": kind, "numberOfPoints": np.prod(shape), "totalNumber": 0, **expected}
        assert {key: variable.attrs.get(f"GRIB_{key}") for key in expected} == expected
        assert found.attrs["GRIB_edition"] == 1
