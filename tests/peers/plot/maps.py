#!/usr/bin/env python3
"""Checks that the maps of `tgm plot` show each value where ecCodes says that it is.

Usage: maps.py TGM CASES SEED

A field has its own latitude, or the distance to its middle in longitude, as values. So the colour of a pixel tells a place, and the
labels of the axes tell another one: they must agree, to half a cell of the grid. Each point of the grid must have a colour, and
where no point is near there must be none.
"""
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import eccodes
import numpy as np

LOW, HIGH = -200.0, 200.0


def png(data):
    """The numbers of the colours of all pixels, in rows."""
    at, image, size = 8, b"", None
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            image += body
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(image), np.uint8).reshape(size[1], size[0] + 1)
    assert not rows[:, 0].any(), "a filter"
    return rows[:, 1:]


# Paper, ink, frames, lines, missing values, and fifteen steps of curves come before the colours of values.
PAPER, INK, LINE, FIRST = 0, 1, 3, 20


def degrees(text):
    number = float(text.rstrip("NSEW"))
    return -number if text[-1] in "SW" else number


def axis(svg, anchor):
    """Pixel and degree of the labels of an axis, as a line: degree = slope * pixel + start."""
    found = re.findall(rf'<text x="([\d.]+)" y="([\d.]+)" text-anchor="{anchor}">([\d.]+[NSEW]?)<', svg)
    pixels = np.array([float(x if anchor == "middle" else y) for x, y, _ in found])
    # The foot of the letters is 4 units below the middle of a line.
    pixels = pixels if anchor == "middle" else pixels - 4
    labels = np.array([degrees(text) for *_, text in found])
    if anchor == "middle":
        labels = np.degrees(np.unwrap(np.radians(labels)))
        # 180 at the left end is 180 west.
        if len(labels) > 1 and labels[0] > labels[1]:
            labels[0] -= 360
    assert len(labels) > 1, f"{len(labels)} labels: {found}"
    return np.polyfit(pixels, labels, 1)


def message(keys, sample, values):
    handle = eccodes.codes_grib_new_from_samples(sample)
    count = keys.get("Ni", keys.get("Nx", 0)) * keys.get("Nj", keys.get("Ny", 0))
    if count:
        eccodes.codes_set_values(handle, np.zeros(count))
    for key, value in keys.items():
        eccodes.codes_set(handle, key, value)
    latitudes, longitudes = (eccodes.codes_get_array(handle, name) for name in ("latitudes", "longitudes"))
    eccodes.codes_set(handle, "packingType", "grid_ieee")
    eccodes.codes_set_values(handle, values(latitudes, longitudes))
    made = eccodes.codes_get_message(handle)
    eccodes.codes_release(handle)
    return made, latitudes, longitudes


def regular(rng):
    nj, step = int(rng.integers(8, 40)), float(rng.choice([0.25, 0.5, 1, 2]))
    # Wider ones have a single label beside them.
    ni = int(rng.integers(4, 3 * nj))
    west = float(rng.choice([0, 5, 100, 175, 250, 350]))
    south = float(np.round(rng.uniform(-85, 85 - (nj - 1) * step)))
    north = south + (nj - 1) * step
    up = int(rng.integers(2))
    first, last = (south, north) if up else (north, south)
    keys = {
        "Ni": ni, "Nj": nj, "latitudeOfFirstGridPointInDegrees": first, "longitudeOfFirstGridPointInDegrees": west,
        "latitudeOfLastGridPointInDegrees": last, "longitudeOfLastGridPointInDegrees": (west + (ni - 1) * step) % 360,
        "iDirectionIncrementInDegrees": step, "jDirectionIncrementInDegrees": step, "jScansPositively": up,
        "jPointsAreConsecutive": int(rng.integers(2)),
    }
    return keys, "regular_ll_pl_grib2", step


def globe(rng):
    step = float(rng.choice([1, 2, 3]))
    keys = {
        "Ni": int(360 / step), "Nj": int(180 / step) + 1, "latitudeOfFirstGridPointInDegrees": 90,
        "longitudeOfFirstGridPointInDegrees": 0, "latitudeOfLastGridPointInDegrees": -90,
        "longitudeOfLastGridPointInDegrees": 360 - step, "iDirectionIncrementInDegrees": step, "jDirectionIncrementInDegrees": step,
    }
    return keys, "regular_ll_pl_grib2", step


def rotated(rng):
    ni, nj, step = int(rng.integers(10, 60)), int(rng.integers(10, 40)), float(rng.choice([0.25, 0.5, 1]))
    keys = {
        "gridType": "rotated_ll", "Ni": ni, "Nj": nj, "latitudeOfFirstGridPointInDegrees": -(nj // 2) * step,
        "longitudeOfFirstGridPointInDegrees": 360 - (ni // 2) * step, "latitudeOfLastGridPointInDegrees": (nj - 1 - nj // 2) * step,
        "longitudeOfLastGridPointInDegrees": ((ni - 1 - ni // 2) * step) % 360, "iDirectionIncrementInDegrees": step,
        "jDirectionIncrementInDegrees": step, "jScansPositively": 1,
        "latitudeOfSouthernPoleInDegrees": float(rng.integers(-60, -20)), "longitudeOfSouthernPoleInDegrees": float(rng.integers(0, 360)),
    }
    return keys, "regular_ll_pl_grib2", step


def plane(rng, kind):
    metres = float(rng.choice([10000, 50000]))
    keys = {
        "gridType": kind, "Nx": int(rng.integers(10, 50)), "Ny": int(rng.integers(10, 40)),
        "latitudeOfFirstGridPointInDegrees": float(rng.integers(20, 40)),
        "longitudeOfFirstGridPointInDegrees": float(rng.choice([2, 100, 178, 250, 355])), "LaDInDegrees": 50,
        "DxInMetres": metres, "DyInMetres": metres, "jScansPositively": 1,
    }
    upward = (keys["longitudeOfFirstGridPointInDegrees"] + 8) % 360
    if kind == "lambert":
        keys |= {"LoVInDegrees": upward, "Latin1InDegrees": 45, "Latin2InDegrees": 52}
    else:
        keys |= {"orientationOfTheGridInDegrees": upward, "LaDInDegrees": 60}
    return keys, "polar_stereographic_pl_grib2", metres / 111000 * 1.6


KINDS = {
    "regular": regular,
    "globe": globe,
    "rotated": rotated,
    "lambert": lambda rng: plane(rng, "lambert"),
    "polar stereographic": lambda rng: plane(rng, "polar_stereographic"),
    "reduced": lambda rng: ({}, "reduced_gg_pl_32_grib2", 2.9),
    "regular Gaussian": lambda rng: ({}, "regular_gg_pl_grib2", 2.9),
}


def chords(latitudes, longitudes):
    latitudes, longitudes = np.radians(latitudes), np.radians(longitudes)
    return np.stack([np.cos(latitudes) * np.cos(longitudes), np.cos(latitudes) * np.sin(longitudes), np.sin(latitudes)], -1)


def check(program, folder, rng, kind, where):
    keys, sample, step = KINDS[kind](rng)
    _, latitudes, longitudes = message(keys, sample, lambda lat, lon: lat)
    middle = np.degrees(np.angle(np.exp(1j * np.radians(longitudes)).mean())) if kind not in ("globe", "reduced", "regular Gaussian") else 0.0
    around = lambda longitude: (np.asarray(longitude) - middle + 180) % 360 - 180
    pictures = {}
    for name, values in (("latitude", lambda lat, lon: lat), ("longitude", lambda lat, lon: around(lon))):
        (folder / "a.grib2").write_bytes(message(keys, sample, values)[0])
        (folder / "a.tgm").unlink(missing_ok=True)
        subprocess.run([program, "convert", folder / "a.grib2", "-o", folder / "a.tgm"], check=True, capture_output=True)
        draw = [program, "plot", folder / "a.tgm", "--range", f"{LOW},{HIGH}", "--format"]
        pictures[name] = png(subprocess.run([*draw, "png"], check=True, capture_output=True).stdout)
        svg = subprocess.run([*draw, "svg"], check=True, capture_output=True, text=True).stdout
    x_line, y_line = axis(svg, "middle"), axis(svg, "end")
    # The frame: the only grey lines as long as the area.
    first = pictures["latitude"]
    frames = first == 2
    rows, columns = np.flatnonzero(frames.sum(1) > 200), np.flatnonzero(frames.sum(0) > 20)
    top, bottom, left, right = rows[0] + 1, rows[1], columns[0] + 1, columns[-1]
    if len(rows) < 2:
        raise SystemExit(f"{where}: no frame")
    y, x = np.mgrid[top:bottom, left:right]
    latitude, longitude = y_line[0] * (y + 0.5) + y_line[1], x_line[0] * (x + 0.5) + x_line[1]
    pixel = max(abs(x_line[0]), abs(y_line[0]))
    decoded = {name: (image[top:bottom, left:right].astype(float) - FIRST) / (255 - FIRST) * (HIGH - LOW) + LOW for name, image in pictures.items()}
    area = first[top:bottom, left:right]
    coloured, line = area >= FIRST, (area == INK) | (area == LINE)
    # Half a step of the colours, a cell and a pixel.
    bound = 0.5 * (HIGH - LOW) / (255 - FIRST) + 0.75 * step + 1.5 * pixel
    wrong = np.abs(decoded["latitude"] - latitude)[coloured].max()
    assert wrong <= bound, f"{where}: latitudes differ by {wrong}, more than {bound}"
    # Near the poles a cell is wide.
    level = coloured & (np.abs(latitude) < 80)
    turned = np.abs(around(decoded["longitude"] + middle - longitude + middle)) * np.cos(np.radians(latitude))
    near_seam = np.abs(around(longitude)) > 180 - 3 * step / np.maximum(np.cos(np.radians(latitude)), 0.1)
    if (level & ~near_seam).any():
        wrong = turned[level & ~near_seam].max()
        assert wrong <= bound + pixel, f"{where}: longitudes differ by {wrong}, more than {bound + pixel}"
    # Each point has a colour, and what is far from all points has none.
    columns_of = ((longitudes - (x_line[0] * left + x_line[1])) % 360) / x_line[0]
    rows_of = (latitudes - (y_line[0] * top + y_line[1])) / y_line[0]
    column, row = columns_of.astype(int), rows_of.astype(int)
    inside = (column >= 0) & (column < area.shape[1]) & (row >= 0) & (row < area.shape[0])
    assert inside.mean() > 0.97, f"{where}: only {inside.mean():.2f} of the points are in the picture"
    empty = ~(coloured | line)[row[inside], column[inside]]
    assert empty.mean() < 0.01, f"{where}: {empty.mean():.3f} of the points have no colour"
    places = rng.integers(0, area.size, 2000)
    here = chords(latitude.ravel()[places], longitude.ravel()[places])
    far = np.array([np.linalg.norm(chords(latitudes, longitudes) - place, axis=1).min() for place in here])
    outside = far > np.radians(2 * step + 2 * pixel)
    assert not coloured.ravel()[places][outside].any(), f"{where}: a colour far from all points"


def main(program, cases, seed):
    with tempfile.TemporaryDirectory() as name:
        for case in range(cases):
            kind = list(KINDS)[case % len(KINDS)]
            rng = np.random.default_rng([seed, case])
            check(program, Path(name), rng, kind, f"case {case} of seed {seed}, {kind}")
    print(f"{cases} maps show each value where ecCodes has it")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
