"""Makes files.tgm, and expected.json: values of datasets as xarray and the tool have them.

    python std-ext/web/tests/data/make.py TGM

TGM is the tool with its formats. xarray, zarr and numpy have to be there.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

HERE = Path(__file__).parent


def plain(values):
    """Values as JSON has them: NaN is null."""
    flat = np.asarray(values).ravel()
    if flat.dtype.kind == "f":
        return [None if np.isnan(value) else float(value) for value in flat]
    return flat.tolist()


def files(tgm, folder):
    """A store of Zarr with what files have: times, texts, packed numbers with missing ones, and a NaN among attributes."""
    random = np.random.default_rng(65)
    shape = (4, 3, 5)
    packed = random.integers(-300, 300, shape) * 0.5
    packed[1, 1, 2] = np.nan
    noise = random.normal(size=shape).astype("f4")
    noise[0, 0, 0] = np.nan
    dataset = xr.Dataset(
        {
            "packed": (("time", "lat", "lon"), packed, {"units": "K", "valid_min": np.nan}),
            "noise": (("time", "lat", "lon"), noise),
            "count": (("time",), np.array([2**53 + 1, 2, 3, -4], "i8")),
        },
        coords={
            "time": np.array(["2024-01-31T00", "2024-01-31T12", "2024-02-01T00", "2024-02-01T12"], "M8[ns]"),
            "lat": ("lat", np.array([60.0, 50.0, 40.0]), {"units": "degrees_north", "standard_name": "latitude"}),
            "lon": ("lon", np.arange(5) * 0.1, {"units": "degrees_east", "standard_name": "longitude"}),
            "station": ("lat", ["Oslo", "Praha", "Napoli"]),
        },
        attrs={"title": "files"},
    )
    encoding = {
        "packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -32768},
        "time": {"units": "hours since 2024-01-01", "dtype": "i4"},
        "count": {"_FillValue": None},
    }
    dataset.to_zarr(folder / "files.zarr", encoding=encoding, zarr_format=2)
    subprocess.run([tgm, "convert", folder / "files.zarr", "--output", HERE / "files.tgm"], check=True)
    with xr.open_zarr(folder / "files.zarr") as read:
        read = read.load()
    boxes = [
        ({"isel": {}}, read),
        ({"isel": {"time": 1}}, read.isel(time=1)),
        ({"isel": {"time": [1, 3], "lon": -1}}, read.isel(time=slice(1, 3), lon=-1)),
        ({"isel": {"lat": {"indices": [2, 0]}}}, read.isel(lat=[2, 0])),
        ({"sel": {"lat": [60, 50], "lon": 0.2}}, read.sel(lat=slice(60, 50)).sel(lon=0.2, method="nearest")),
        ({"sel": {"lat": {"labels": [40, 60]}}}, read.sel(lat=[40, 60])),
        ({"sel": {"time": "2024-02-01"}}, read.sel(time="2024-02-01")),
        ({"sel": {"time": "2024-01-31T12:00:00"}, "isel": {"lon": [1, 4]}}, read.sel(time="2024-01-31T12:00:00").isel(lon=slice(1, 4))),
        ({"nearest": {"lat": 47.2, "lon": 0.19}}, read.sel(lat=47.2, lon=0.19, method="nearest")),
    ]
    found = []
    for picks, part in boxes:
        for name in ("packed", "noise"):
            values = part[name]
            coords = {key: plain(part[key].values.astype("M8[s]").astype("i8") if key == "time" else part[key].values) for key in ("time", "lat", "lon", "station")}
            found.append({"file": "files.tgm", "variable": name, **picks, "dims": list(values.dims), "shape": list(values.shape), "values": plain(values), "coords": coords})
    found.append({"file": "files.tgm", "variable": "count", "dims": ["time"], "shape": [4], "integers": [str(it) for it in read["count"].values]})
    return found


def fields(tgm, folder):
    """Boxes of fields, as the tool extracts them."""
    found = []
    for file, variable, picks, text in [
        ("steps.tgm", "t2m", {"sel": {"step": 6}}, "step=6"),
        ("steps.tgm", "t2m", {"sel": {"step": [6, None], "latitude": [80, 60], "longitude": [350, 10]}}, "step=6..,latitude=80..60,longitude=350..10"),
        ("steps.tgm", "t2m", {"nearest": {"latitude": 52.4, "longitude": 13.1}}, "latitude~52.4,longitude~13.1"),
    ]:
        out = folder / "box.npy"
        subprocess.run([tgm, "extract", HERE / file, "--cube", variable, "--sel", text, "-O", out], check=True)
        values = np.load(out)
        found.append({"file": file, "variable": variable, **picks, "shape": list(values.shape), "values": plain(values)})
    return found


with tempfile.TemporaryDirectory() as folder:
    found = files(sys.argv[1], Path(folder)) + fields(sys.argv[1], Path(folder))
(HERE / "expected.json").write_text("[\n" + ",\n".join(json.dumps(it) for it in found) + "\n]\n")
