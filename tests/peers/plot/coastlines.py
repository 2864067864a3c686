#!/usr/bin/env python3
"""Writes the coastlines that `tgm plot` draws: std-ext/plot/src/coastlines.bin.

Usage: coastlines.py LAND OUTPUT   LAND is land-50m.json of the npm package world-atlas 2 (`npm pack world-atlas`)

The package has the land of Natural Earth 1:50m, which is in the public domain. Points are left out that lie within 0.02 degrees of
the line between their neighbours, and so are the edges along which the land is cut: 180 degrees of longitude and the south pole.

The output is a row of lines. Each is its number of points, then for each point the step from the one before in longitude and in
latitude, in hundredths of a degree; the first is counted from 0, 0. Numbers are LEB128: seven bits a byte, the lowest first, the high bit
says that more follow. Steps have their sign in the lowest bit: 0, -1, 1, -2 are 0, 1, 2, 3.
"""
import json
import math
import sys
from pathlib import Path

TOLERANCE = 0.02


def arcs(land):
    """The lines of a topology, in degrees."""
    (sx, sy), (ox, oy) = land["transform"]["scale"], land["transform"]["translate"]
    for arc in land["arcs"]:
        x = y = 0
        line = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            line.append((x * sx + ox, y * sy + oy))
        yield line


def without_cuts(line):
    """The parts of a line that are coasts."""
    run = line[:1]
    for a, b in zip(line, line[1:]):
        at_180 = all(abs(abs(x) - 180) < 0.01 for x, _ in (a, b))
        at_pole = all(y < -89.9 for _, y in (a, b))
        if at_180 or at_pole or abs(a[0] - b[0]) > 180:
            yield run
            run = [b]
        else:
            run.append(b)
    yield run


def simplified(line):
    """The line with the points that it needs (Douglas and Peucker)."""
    kept = {0, len(line) - 1}
    parts = [(0, len(line) - 1)]
    while parts:
        first, last = parts.pop()
        (x0, y0), (x1, y1) = line[first], line[last]
        shrunk = max(0.15, math.cos(math.radians((y0 + y1) / 2)))
        dx, dy = (x1 - x0) * shrunk, y1 - y0
        length = dx * dx + dy * dy

        def distance(at):
            px, py = (line[at][0] - x0) * shrunk, line[at][1] - y0
            along = max(0, min(1, (px * dx + py * dy) / length)) if length else 0
            return math.hypot(px - along * dx, py - along * dy)

        worst = max(range(first + 1, last), key=distance, default=None)
        if worst is not None and distance(worst) > TOLERANCE:
            kept.add(worst)
            parts += [(first, worst), (worst, last)]
    return [line[at] for at in sorted(kept)]


def leb128(number):
    """A number that is not negative."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def signed(number):
    """A number of either sign."""
    return leb128(2 * number if number >= 0 else -2 * number - 1)


def main():
    source, output = map(Path, sys.argv[1:])
    out = bytearray()
    for arc in arcs(json.loads(source.read_text())):
        for line in without_cuts(arc):
            points = [(round(100 * x), round(100 * y)) for x, y in simplified(line)] if len(line) > 1 else []
            points = [point for at, point in enumerate(points) if at == 0 or point != points[at - 1]]
            if len(points) < 2:
                continue
            out += leb128(len(points))
            for (x, y), (nx, ny) in zip([(0, 0), *points], points):
                out += signed(nx - x) + signed(ny - y)
    output.write_bytes(out)


main()
