"""Makes the data: `data.py FOLDER SIZES NAME…`, each a file of FOLDER. SIZES is JSON.

Fields are sums of smooth waves with noise, as weather models have them. GRIB is written by ecCodes, NetCDF by netCDF4.
"""

import json
import pathlib
import struct
import sys

import numpy as np


def field(rows, columns, seed, noise=0.05):
    """Temperatures on a grid: waves of all lengths, whose height falls with their number, and noise."""
    random = np.random.default_rng(seed)
    y, x = np.linspace(0, np.pi, rows)[:, None], np.linspace(0, 2 * np.pi, columns, endpoint=False)[None]
    values = 250 + 40 * np.sin(y)
    for wave in range(1, 12):
        phase, height = random.uniform(0, 2 * np.pi, 2), random.normal(0, 4 / wave)
        values = values + height * np.sin(wave * x + phase[0]) * np.sin((wave % 5 + 1) * y + phase[1])
    return values + random.normal(0, noise, (rows, columns))


def grib(path, count, keys, values_of, shape, once=False):
    """Writes `count` fields by ecCodes. `keys(i)` differ; with `once`, fields whose number is equal modulo 64 share values."""
    import eccodes

    rows, columns = shape
    north, west, step = 90.0, 0.0, (180.0 / (rows - 1), 360.0 / columns)
    base = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    for key, value in {
        "Ni": columns, "Nj": rows, "latitudeOfFirstGridPointInDegrees": north, "longitudeOfFirstGridPointInDegrees": west,
        "latitudeOfLastGridPointInDegrees": -90.0, "longitudeOfLastGridPointInDegrees": 360.0 - step[1],
        "iDirectionIncrementInDegrees": step[1], "jDirectionIncrementInDegrees": step[0],
    }.items():
        eccodes.codes_set(base, key, value)
    ready = {}
    with open(path, "wb") as out:
        for i in range(count):
            handle = ready.get(i % 64) if once else None
            if handle is None:
                packing, bits, missing, values = values_of(i)
                handle = eccodes.codes_clone(base)
                if missing:
                    eccodes.codes_set(handle, "bitmapPresent", 1)
                    eccodes.codes_set(handle, "missingValue", 9999.0)
                eccodes.codes_set(handle, "bitsPerValue", bits)
                eccodes.codes_set(handle, "packingType", "grid_simple")
                eccodes.codes_set_values(handle, values.ravel())
                if packing != "grid_simple":
                    eccodes.codes_set(handle, "packingType", packing)
            for key, value in keys(i).items():
                eccodes.codes_set(handle, key, value)
            eccodes.codes_write(handle, out)
            if once:
                ready[i % 64] = handle
            else:
                eccodes.codes_release(handle)


PARAMETERS = ["t", "u", "v", "q", "z", "w", "vo", "d", "r", "o3"]


def keys(i):
    """Parameter, level, step and date of field `i`: a full box of 10 × 10 × 20 × as many dates as there are fields for."""
    date = np.datetime64("2024-01-01") + i // 2000
    return {
        "shortName": PARAMETERS[i % 10], "level": 1000 - 50 * (i // 10 % 10), "forecastTime": i // 100 % 20 * 6,
        "dataDate": int(str(date).replace("-", "")),
    }


def series(i):
    """One parameter at one level, by step and date."""
    date = np.datetime64("2024-01-01") + i // 40
    return {"shortName": "t", "level": 500, "forecastTime": i % 40 * 6, "dataDate": int(str(date).replace("-", ""))}


def szip_fields(path, size):
    """CCSDS with a bitmap: the sea has no values."""

    def values_of(i):
        values = field(*size["grid"], i)
        land = field(*size["grid"], 1000, noise=0) > 262
        return "grid_ccsds", 16, True, np.where(land, values, 9999.0)

    grib(path, size["fields"], keys, values_of, size["grid"])


def complex_fields(path, size):
    """Complex packing with spatial differences."""
    values_of = lambda i: ("grid_complex_spatial_differencing", 16, False, field(*size["grid"], i))
    grib(path, size["fields"], keys, values_of, size["grid"])


def plain_fields(path, size):
    """Fields of 16 bits as CCSDS, along one axis of time."""
    values_of = lambda i: ("grid_ccsds", 16, False, field(*size["grid"], i))
    grib(path, size["series"], series, values_of, size["grid"], once=True)


def small_fields(path, size):
    """Very many fields of 16 × 31 values."""
    grib(path, size["small"], keys, lambda i: ("grid_simple", 24, False, field(16, 31, i)), (16, 31), once=True)


def files_of_fields(folder, size):
    """Files of a thousand small fields each, one box together."""
    folder.mkdir()
    for at in range(size["files"]):
        grib(folder / f"{at:04}.grib2", 1000, lambda i, at=at: keys(1000 * at + i), lambda i: ("grid_simple", 24, False, field(16, 31, i)),
             (16, 31), once=True)


def shorts(path, size):
    """As ERA5 comes from its store: packed shorts, in chunks, with DEFLATE."""
    import netCDF4

    rows, columns = size["grid"]
    with netCDF4.Dataset(path, "w") as file:
        for name, count in (("time", size["fields"]), ("latitude", rows), ("longitude", columns)):
            file.createDimension(name, count)
        file.createVariable("time", "i4", ("time",))[:] = np.arange(size["fields"])
        file["time"].units = "hours since 1900-01-01 00:00:00.0"
        file.createVariable("latitude", "f4", ("latitude",))[:] = np.linspace(90, -90, rows)
        file.createVariable("longitude", "f4", ("longitude",))[:] = np.arange(columns) * 360 / columns
        variable = file.createVariable(
            "t2m", "i2", ("time", "latitude", "longitude"), zlib=True, shuffle=True, complevel=4, fill_value=-32767,
            chunksizes=(1, rows, columns),
        )
        variable.setncatts({"scale_factor": 0.0016, "add_offset": 265.0, "units": "K", "long_name": "2 metre temperature"})
        for i in range(size["fields"]):
            variable[i] = field(rows, columns, i)


def variable(path, size):
    """One large variable of float32 in chunks."""
    import netCDF4

    rows, columns = size["grid"]
    with netCDF4.Dataset(path, "w") as file:
        for name, count in (("time", size["variable"]), ("latitude", rows), ("longitude", columns)):
            file.createDimension(name, count)
        one = file.createVariable("t", "f4", ("time", "latitude", "longitude"), chunksizes=(1, rows, columns))
        for i in range(size["variable"]):
            one[i] = field(rows, columns, i % 16)


def weights(path, size):
    """Weights of a network as bfloat16, in a file of safetensors."""
    random = np.random.default_rng(1)
    count, begun, entries, parts = size["weights"], 0, {}, []
    for i in range(4):
        bits = random.normal(0, 0.02, count // 4).astype("f4").view("u4")
        parts.append((bits >> 16).astype("u2").tobytes())
        entries[f"layer.{i}.weight"] = {
            "dtype": "BF16", "shape": [count // 4 // 1024, 1024], "data_offsets": [begun, begun + len(parts[-1])],
        }
        begun += len(parts[-1])
    header = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"".join(parts))


def array(path, size):
    """An array of float32."""
    np.save(path, field(size["array"] // 1024, 1024, 1).astype("f4"))


def fields(path, _):
    """2000 small fields of float32, as an array of three dimensions."""
    np.save(path, np.random.default_rng(0).normal(size=(2000, 64, 128)).astype("f4"))


MAKERS = {
    "szip.grib2": szip_fields, "complex.grib2": complex_fields, "series.grib2": plain_fields, "small.grib2": small_fields,
    "files": files_of_fields,
    "shorts.nc": shorts, "variable.nc": variable, "weights.safetensors": weights, "array.npy": array,
    "fields.npy": fields,
}

if __name__ == "__main__":
    folder, sizes = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
    for name in sys.argv[3:]:
        MAKERS[name](folder / name, sizes)
