#!/usr/bin/env python3
"""Checks that the maps of `tgm plot` show each value where ecCodes says that it is.

Usage: maps.py TGM CASES SEED

A field has its own latitude, or the distance to its middle in longitude, as values. So the colour of a cell tells a place, and the
labels of the axes tell another one: they must agree, to half a cell of the grid. Each point of the grid must have a colour, and
where no point is near there must be none.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import eccodes
import numpy as np

LOW, HIGH = -200.0, 200.0


SOURCE = Path(__file__).resolve().parents[3] / "std-ext/plot/src/palette.rs"


def palette():
    """4096 colours of viridis."""
    table = SOURCE.read_text().split("const VIRIDIS")[1].split("];")[0]
    colours = np.array([[int(part) for part in triple] for triple in re.findall(r"\[(\d+), (\d+), (\d+)\]", table)])
    places = np.linspace(0, 16, 4096)
    return np.stack([np.interp(places, np.arange(17), colours[:, part]) for part in range(3)], -1)


def cells(svg):
    """The values of the cells of an SVG, NaN where there are none, and the left, top, width and height of a cell."""
    found = re.search(r'<g transform="translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+) ([\d.]+)\)"[^>]*>(.*?)</g>', svg, re.S)
    *place, rects = found.groups()
    runs = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="1" fill="#(\w+)"', rects)
    rows, columns = max(int(y) for _, y, _, _ in runs) + 1, max(int(x) + int(width) for x, _, width, _ in runs)
    # Nothing is drawn outside of a grid: the area says how far the cells go.
    frame = re.search(r'<path d="M[\d.]+ [\d.]+h(\d+)v(\d+)h', svg)
    rows = max(rows, round((int(frame[2]) - 1) / float(place[3])))
    columns = max(columns, round((int(frame[1]) - 1) / float(place[2])))
    colours, values = palette(), np.full((rows, columns), np.nan)
    known = {}
    for x, y, width, colour in runs:
        if colour not in known:
            rgb = np.array([int(colour[at : at + 2], 16) for at in (0, 2, 4)])
            share = np.abs(colours - rgb).sum(-1).argmin() / (len(colours) - 1)
            known[colour] = share * (HIGH - LOW) + LOW
        values[int(y), int(x) : int(x) + int(width)] = known[colour]
    return values, [float(number) for number in place]


def degrees(text):
    number = float(text.rstrip("NSEW"))
    return -number if text[-1] in "SW" else number


def axis(svg, anchor):
    """Pixel and degree of the labels of an axis, as a line: degree = slope * pixel + start."""
    found = re.findall(rf'<text x="([\d.]+)" y="([\d.]+)" text-anchor="{anchor}">([\d.]+[NSEW]?)<', svg)
    if anchor == "middle":
        # Below them are the numbers of the colour bar.
        found = [label for label in found if label[1] == found[0][1]]
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
        draw = [program, "plot", folder / "a.tgm", "--range", f"{LOW},{HIGH}", "--svg"]
        svg = subprocess.run(draw, check=True, capture_output=True, text=True).stdout
        pictures[name], (left, top, width, height) = cells(svg)
    x_line, y_line = axis(svg, "middle"), axis(svg, "end")
    # From units to cells.
    x_line = np.array([x_line[0] * width, x_line[0] * left + x_line[1]])
    y_line = np.array([y_line[0] * height, y_line[0] * top + y_line[1]])
    decoded, area = pictures, pictures["latitude"]
    y, x = np.mgrid[: area.shape[0], : area.shape[1]]
    latitude, longitude = y_line[0] * (y + 0.5) + y_line[1], x_line[0] * (x + 0.5) + x_line[1]
    pixel = max(abs(x_line[0]), abs(y_line[0]))
    coloured = ~np.isnan(area)
    # Bytes of colours tell a degree or more; a cell of the grid, and one of the picture.
    bound = 1.5 + 0.75 * step + 1.5 * pixel
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
    columns_of = ((longitudes - x_line[1]) % 360) / x_line[0]
    rows_of = (latitudes - y_line[1]) / y_line[0]
    column, row = columns_of.astype(int), rows_of.astype(int)
    inside = (column >= 0) & (column < area.shape[1]) & (row >= 0) & (row < area.shape[0])
    assert inside.mean() > 0.97, f"{where}: only {inside.mean():.2f} of the points are in the picture"
    empty = ~coloured[row[inside], column[inside]]
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
