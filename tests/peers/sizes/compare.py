#!/usr/bin/env python3
"""Sizes of what `tgm convert` makes by default, as ratios to the files that people have, each with a bound.

Usage: compare.py TGM [FOLDER]     files are made in FOLDER, and stay there; a temporary one unless told otherwise

Each archive also returns: GRIB to the byte, arrays with the same values.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import eccodes as ec
import netCDF4
import numpy as np

MISSING = 9999.0


def smooth(rng, rows, columns, steepness=2.0):
    """A field like weather: much energy at large scales, little at small ones. Mean 0, deviation 1."""
    ky = np.fft.fftfreq(rows)[:, None] * rows
    kx = np.fft.rfftfreq(columns)[None, :] * columns
    amplitude = (1 + ky**2 + kx**2) ** (-steepness / 2)
    noise = rng.normal(size=amplitude.shape) + 1j * rng.normal(size=amplitude.shape)
    field = np.fft.irfft2(noise * amplitude, s=(rows, columns))
    return (field - field.mean()) / field.std()


def grid(handle, rows, columns):
    for key, value in {
        "Ni": columns, "Nj": rows, "latitudeOfFirstGridPointInDegrees": 90, "latitudeOfLastGridPointInDegrees": -90,
        "longitudeOfFirstGridPointInDegrees": 0, "longitudeOfLastGridPointInDegrees": 360 - 360 / columns,
        "iDirectionIncrementInDegrees": 360 / columns, "jDirectionIncrementInDegrees": 180 / max(rows - 1, 1),
    }.items():
        ec.codes_set(handle, key, value)


def grib(path, count, shape, packing, bits, sea=False, noise=0.0, keys=lambda index: {}):
    """`count` messages. With `sea`, points of a connected part of the grid have no value. `keys` are set before packing."""
    rng = np.random.default_rng(1)
    land = smooth(rng, *shape) > 0.5
    with open(path, "wb") as file:
        for index in range(count):
            values = 280 + 20 * smooth(rng, *shape) + noise * rng.normal(size=shape)
            handle = ec.codes_grib_new_from_samples("regular_ll_pl_grib2")
            grid(handle, *shape)
            for key, value in keys(index).items():
                ec.codes_set(handle, key, value)
            if sea:
                values[land] = MISSING
                ec.codes_set(handle, "bitmapPresent", 1)
                ec.codes_set(handle, "missingValue", MISSING)
            ec.codes_set(handle, "packingType", packing)
            ec.codes_set(handle, "bitsPerValue", bits)
            ec.codes_set_values(handle, values.ravel())
            assert ec.codes_get(handle, "packingType") == packing
            file.write(ec.codes_get_message(handle))
            ec.codes_release(handle)


def order(number):
    return lambda index: {"level": 1000 - index, "packingType": "grid_complex_spatial_differencing",
                          "orderOfSpatialDifferencing": number}


def many(index):
    """Keys as of an ensemble on levels and steps."""
    return {"productDefinitionTemplateNumber": 1, "perturbationNumber": index % 50, "forecastTime": index // 50 % 24,
            "level": (1000, 850, 500)[index // 1200 % 3], "shortName": "t"}


def packed(path):
    """Shorts with scale and offset that fill their range, as reanalyses have them."""
    rng = np.random.default_rng(2)
    with netCDF4.Dataset(path, "w") as file:
        for name, size in [("time", 24), ("latitude", 181), ("longitude", 360)]:
            file.createDimension(name, size)
            variable = file.createVariable(name, "f4", (name,))
            variable[:] = np.arange(size)
        for name, mean, spread in [("t2m", 280, 20), ("msl", 101325, 1500), ("u10", 0, 8)]:
            values = np.array([mean + spread * smooth(rng, 181, 360) for _ in range(24)])
            variable = file.createVariable(name, "i2", ("time", "latitude", "longitude"), fill_value=-32767, zlib=True)
            low, high = values.min(), values.max()
            variable.scale_factor = (high - low) / 65532
            variable.add_offset = (high + low) / 2
            variable.missing_value = np.int16(-32767)
            variable.units = "K"
            variable[:] = values


class Check:
    def __init__(self, tgm, folder):
        self.tgm, self.folder, self.failures = tgm, Path(folder), 0

    def run(self, *arguments):
        done = subprocess.run([self.tgm, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            print(f"tgm {' '.join(map(str, arguments))}: {done.stderr[:300]}")
            self.failures += 1

    def row(self, text, path, made, bound):
        before, after = path.stat().st_size, made.stat().st_size if made.exists() else 0
        ratio = after / before
        verdict = "" if after and ratio <= bound else "  TOO LARGE"
        self.failures += bool(verdict)
        print(f"{text:44} {before:12,} {after:12,} {ratio:6.3f} <= {bound}{verdict}", flush=True)

    def equal(self, text, one, other):
        if not other.exists() or one.read_bytes() != other.read_bytes():
            print(f"{text}: {other.name} is not {one.name}")
            self.failures += 1

    def grib(self, text, name, bound, *arguments):
        """GRIB to messages by default, and through lossless stages, each back to the byte."""
        path, made = self.folder / f"{name}.grib2", self.folder / f"{name}.tgm"
        if not path.exists():
            grib(path, *arguments)
        self.run("convert", path, "-o", made)
        self.row(text, path, made, bound)
        routes = [[], ["--compression", "szip"], ["--compression", "none"], ["--compression", "zstd"],
                  ["--encoding", "none", "--filter", "shuffle", "--compression", "zstd"]]
        for stages in routes:
            again, back = (made, self.folder / f"{name}.back.grib2")
            if stages:
                again = self.folder / f"{name}.again.tgm"
                self.run("repack", made, "-o", again, *stages)
            self.run("convert", again, "-o", back)
            self.equal(f"{text}, {' '.join(stages) or 'as it is'}", path, back)
            if stages == ["--compression", "szip"]:
                self.row(f"  {' '.join(stages)}", path, again, bound)

    def weights(self, text, bound):
        path, made, back = (self.folder / f"weights.{name}" for name in ("safetensors", "tgm", "back.safetensors"))
        weights(path)
        self.run("convert", path, "-o", made, "--best")
        self.row(text, path, made, bound)
        self.run("convert", made, "-o", back)
        if not back.exists() or path.read_bytes()[-(2 << 20):] != back.read_bytes()[-(2 << 20):]:
            print(f"{text}: {back.name} has other values")
            self.failures += 1

    def netcdf(self, text, bounds):
        path = self.folder / "packed.nc"
        if not path.exists():
            packed(path)
        for flags, bound in bounds:
            made = self.folder / "packed.tgm"
            self.run("convert", path, "-o", made, *flags)
            self.row(f"{text} {' '.join(flags)}", path, made, bound)


def weights(path):
    """Numbers of bfloat16: a float32 without its lower half."""
    rng = np.random.default_rng(3)
    bits = (rng.normal(size=1 << 20) * 0.02).astype("<f4").view("<u4")
    tensor = (bits >> 16).astype("<u2").tobytes()
    header = json.dumps({"weight": {"dtype": "BF16", "shape": [1024, 1024], "data_offsets": [0, len(tensor)]}})
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + tensor)


def main():
    tgm = sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        check = Check(tgm, sys.argv[2] if len(sys.argv) > 2 else temporary)
        level = lambda index: {"level": 1000 - index}
        shape = (361, 720)
        check.grib("CCSDS with bitmaps", "sea-16", 1.0, 3, shape, "grid_ccsds", 16, True, 0.01, level)
        check.grib("CCSDS of 12 bits with bitmaps", "sea-12", 1.03, 3, shape, "grid_ccsds", 12, True, 0.01, level)
        check.grib("CCSDS of 16 bits", "ccsds-16", 1.01, 3, shape, "grid_ccsds", 16, False, 0.01, level)
        check.grib("CCSDS of 12 bits", "ccsds-12", 1.03, 3, shape, "grid_ccsds", 12, False, 0.01, level)
        check.grib("complex packing", "complex", 1.1, 3, shape, "grid_complex", 16, False, 0.01, level)
        for number in (1, 2):
            check.grib(f"complex packing, differences of order {number}", f"complex-{number}", 1.1, 3, shape,
                       "grid_complex_spatial_differencing", 16, False, 0.01, order(number))
            check.grib(f"the same of 12 bits, order {number}", f"complex-12-{number}", 1.1, 3, shape,
                       "grid_complex_spatial_differencing", 12, False, 0.01, order(number))
        check.grib("small fields", "small", 2.05, 2000, (16, 31), "grid_simple", 24, False, 0.5, many)
        check.weights("weights of bfloat16, --best", 0.72)
        check.netcdf("packed shorts", [([], 2.0)])
    sys.exit(check.failures > 0)


if __name__ == "__main__":
    main()
