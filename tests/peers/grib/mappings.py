#!/usr/bin/env python3
"""Converts random GRIB fields on planes and rotated globes to NetCDF and Zarr, and reads them with xarray, pyproj and cdo.

Usage: mappings.py TGM [CASES [SEED]]

x and y with the grid mapping have to give the latitudes and the longitudes of the same file, to 1e-6 degrees; cdo, if it is there, has to
know the projection.
"""
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")
EARTHS = [{"shapeOfTheEarth": 6}, {"shapeOfTheEarth": 5}, {"shapeOfTheEarth": 2}, {"shapeOfTheEarth": 4}, {"shapeOfTheEarth": 0}]


def degrees(low, high):
    return round(random.uniform(low, high), 3)


def plane(kind, first=("latitudeOfFirstGridPointInDegrees", "longitudeOfFirstGridPointInDegrees"), **more):
    columns, rows = random.randint(4, 30), random.randint(4, 30)
    own = dict(gridType=kind, Nx=columns, Ny=rows, **random.choice(EARTHS))
    own.update(more)
    return own, columns * rows


def grids():
    south = random.random() < 0.5
    sign = -1 if south else 1
    longitude = degrees(-180, 180) % 360
    north = random.choice([0, 1])
    # The first row of a plane lies at the side from which it is scanned.
    scan = dict(iScansNegatively=0, jScansPositively=north)
    first = dict(latitudeOfFirstGridPointInDegrees=sign * degrees(35, 55), longitudeOfFirstGridPointInDegrees=(longitude + degrees(-10, 10)) % 360)
    steps = dict(DxInMetres=random.randint(1000, 90000), DyInMetres=random.randint(1000, 90000))
    flag = dict(projectionCentreFlag=128 if south else 0)
    yield plane("lambert", LoVInDegrees=longitude, Latin1InDegrees=sign * degrees(25, 45), Latin2InDegrees=sign * degrees(46, 65), LaDInDegrees=sign * 40, **flag, **first, **steps, **scan)
    yield plane("albers", LoV=int(longitude * 1e6), Latin1=int(sign * degrees(25, 45) * 1e6), Latin2=int(sign * degrees(46, 65) * 1e6), **first, **{"Dx": steps["DxInMetres"] * 1000, "Dy": steps["DyInMetres"] * 1000}, **scan)
    yield plane("polar_stereographic", orientationOfTheGridInDegrees=longitude, LaDInDegrees=sign * degrees(50, 85), **flag, **first, **steps, **scan)
    yield plane("lambert_azimuthal_equal_area", standardParallelInDegrees=sign * degrees(30, 60), centralLongitudeInDegrees=longitude, **first, **{"Dx": steps["DxInMetres"] * 1000, "Dy": steps["DyInMetres"] * 1000}, **scan)
    size = random.randint(8, 24)
    yield plane("space_view", Nx=size, Ny=size, dx=size, dy=size, Xp=int(size / 2 * 1000), Yp=int(size / 2 * 1000), latitudeOfSubSatellitePoint=0,
                longitudeOfSubSatellitePoint=int(longitude * 1e6), Nr=random.randint(6_000_000, 7_000_000), Xo=0, Yo=0, orientationOfTheGrid=0, **scan)[0], size * size
    columns, rows = random.randint(3, 20), random.randint(3, 20)
    west = degrees(-20, 10)
    yield dict(gridType="rotated_ll", Ni=columns, Nj=rows, latitudeOfFirstGridPointInDegrees=10, latitudeOfLastGridPointInDegrees=-8, longitudeOfFirstGridPointInDegrees=west % 360,
               longitudeOfLastGridPointInDegrees=(west + 15) % 360, latitudeOfSouthernPoleInDegrees=-degrees(10, 89), longitudeOfSouthernPoleInDegrees=longitude), columns * rows


def write(path, number, own, points):
    import eccodes as ec

    handle = ec.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    ec.codes_set(handle, "gridType", own["gridType"])
    for key, value in own.items():
        if key != "gridType":
            ec.codes_set(handle, key, value)
    ec.codes_set_values(handle, np.arange(points) + float(number))
    with open(path, "wb") as file:
        ec.codes_write(handle, file)
    ec.codes_release(handle)


def compare(path, opened, kind):
    import pyproj

    data = opened[next(name for name in opened.data_vars if "grid_mapping" in {**opened[name].attrs, **opened[name].encoding})]
    name = data.attrs.get("grid_mapping") or data.encoding["grid_mapping"]
    attributes = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in opened[name].attrs.items()}
    crs = pyproj.CRS.from_cf(attributes)
    ys, xs = (opened[dim].values for dim in data.dims[-2:])
    x, y = np.meshgrid(xs, ys)
    if "rlat" in data.dims:
        assert opened.rlat.attrs["standard_name"] == "grid_latitude", path
    else:
        assert opened.x.attrs["standard_name"] == "projection_x_coordinate", path
    # A rotated globe is a geographic system itself.
    geographic = crs.source_crs if crs.is_derived and crs.is_geographic else crs.geodetic_crs
    longitude, latitude = pyproj.Transformer.from_crs(crs, geographic, always_xy=True).transform(x, y)
    there = np.isfinite(opened.latitude.values)
    assert there.any(), (path, kind)
    far = np.abs(latitude - opened.latitude.values)[there].max()
    around = (longitude - opened.longitude.values + 180) % 360 - 180
    east = np.abs(around * np.cos(np.radians(latitude)))[there].max()
    # At the limb of the disk a ray touches the Earth, and the last digits of its angle become half as many of the place.
    limit = 1e-5 if attributes["grid_mapping_name"] == "geostationary" else 1e-6
    assert far < limit and east < limit, (path, kind, far, east, attributes)


def griddes(path, kind):
    found = subprocess.run(["cdo", "-s", "griddes", path], capture_output=True, text=True)
    wanted = "projection"
    assert found.returncode == 0 and wanted in found.stdout and "grid_mapping_name" in found.stdout, (path, kind, found.stdout[:400], found.stderr)


def write_all(folder, cases, seed):
    random.seed(seed)
    for number in range(cases):
        for at, (own, points) in enumerate(grids()):
            write(Path(folder, f"{number}-{at}.grib2"), number, own, points)


def main():
    tool, cases, seed = sys.argv[1], (sys.argv[2:] + ["20"])[0], (sys.argv[3:] + ["1"])[0]
    import xarray as xr

    count = 0
    with tempfile.TemporaryDirectory() as folder:
        # ecCodes brings a library of projections of its own, which that of pyproj does not bear.
        subprocess.run([sys.executable, __file__, "--write", folder, cases, seed], check=True)
        for grib in sorted(Path(folder).glob("*.grib2")):
            for end, engine in ((".nc", "netcdf4"), (".zarr", "zarr")):
                output = grib.with_suffix(end)
                subprocess.run([tool, "convert", grib, "-o", output], check=True, capture_output=True)
                with xr.open_dataset(output, engine=engine) as opened:
                    compare(output, opened, grib)
                if end == ".nc" and shutil.which("cdo"):
                    griddes(output, grib)
            count += 1
    print(f"{count} fields on planes and rotated globes have x, y and a grid mapping that give their places (xarray, pyproj, cdo)")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_all(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        main()
