#!/usr/bin/env python3
"""Compares `tgm convert` with ecCodes: values bit by bit, and the way back byte by byte.

Usage:
  compare.py TGM [CASES [SEED]]   several hundred random messages, in about ten seconds
  compare.py --samples FOLDER     writes the samples of ../../data-grib, with what ecCodes says of them

ecCodes is here for comparison alone: the PyPI packages `eccodes` and `eccodeslib`, and `numpy`.
"""
import hashlib
import json
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import eccodes as ec
import numpy as np

MISSING = 9999.0
ABSENT = -1.25e30
# The precision of template 5.4: 1 is 32 bits, 2 is 64.
IEEE = {"grid_ieee": 1}
PACKINGS = ["grid_simple", "grid_ccsds", "grid_ieee", "grid_complex", "grid_complex_spatial_differencing", "grid_png",
            "grid_jpeg"]
SIMPLE_SAMPLES = [
    "regular_ll_pl_grib2",
    "regular_ll_sfc_grib2",
    "rotated_ll_pl_grib2",
    "regular_gg_pl_grib2",
    "reduced_gg_pl_32_grib2",
    "polar_stereographic_pl_grib2",
]


def field(sample, values, packing="grid_simple", bits=16, decimal=0, bitmap=False, **keys):
    """A message with these values. NaN marks points without one, which `bitmap` allows."""
    handle = ec.codes_grib_new_from_samples(sample)
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    if bitmap:
        ec.codes_set(handle, "bitmapPresent", 1)
        ec.codes_set(handle, "missingValue", MISSING)
    if packing in IEEE:
        ec.codes_set(handle, "packingType", packing)
        ec.codes_set(handle, "precision", 1 if bits == 32 else 2)
    else:
        ec.codes_set(handle, "packingType", packing)
        ec.codes_set(handle, "bitsPerValue", bits)
        if decimal:
            ec.codes_set(handle, "decimalScaleFactor", decimal)
    ec.codes_set_values(handle, np.where(np.isnan(values), MISSING, values))
    if packing not in IEEE and bits and not decimal:
        assert ec.codes_get(handle, "packingType") == packing or np.nanmin(values) == np.nanmax(values)
    return handle


def points(sample):
    handle = ec.codes_grib_new_from_samples(sample)
    try:
        return ec.codes_get(handle, "numberOfDataPoints")
    finally:
        ec.codes_release(handle)


def values_of(handle):
    """The values that ecCodes decodes, with NaN where the bitmap has none."""
    has_missing = ec.codes_get(handle, "dataRepresentationTemplateNumber") in (2, 3)
    if has_missing:
        ec.codes_set(handle, "missingValue", ABSENT)
    values = np.array(ec.codes_get_values(handle), dtype="<f8")
    if has_missing:
        values[values == ABSENT] = np.nan
    if ec.codes_get(handle, "bitmapPresent"):
        present = np.array(ec.codes_get_array(handle, "bitmap")).astype(bool)
        values[~present] = np.nan
    return values


def stored(handle):
    """The bytes of the values as the object holds them: float32 for 32-bit IEEE data, float64 otherwise."""
    values = values_of(handle)
    is_single = ec.codes_get(handle, "packingType") == "grid_ieee" and ec.codes_get(handle, "precision") == 1
    return values.astype("<f4" if is_single else "<f8").tobytes()


def sha(data):
    return hashlib.sha256(data).hexdigest()


def smooth(count, scale=20.0, offset=273.15):
    x = np.linspace(0, 9, count)
    return offset + scale * np.sin(x) * np.cos(3 * x) + 0.1 * np.sin(170 * x)


def with_gaps(values, rng, share=0.3):
    values = values.copy()
    values[rng.random(len(values)) < share] = np.nan
    return values


# Samples of the repository ------------------------------------------------------------------------------------------


def sample_list():
    rng = np.random.default_rng(1)
    ll = "regular_ll_pl_grib2"
    plain = smooth(points(ll))
    for bits in (1, 8, 12, 16, 24, 32):
        yield f"simple-{bits}", [field(ll, plain, bits=bits)]
    for bits in (4, 8, 12, 16, 20, 24, 32):
        yield f"ccsds-{bits}", [field(ll, plain, "grid_ccsds", bits)]
    yield "constant", [field(ll, np.full(len(plain), 271.25))]
    yield "ccsds-constant", [field(ll, np.full(len(plain), 271.25), "grid_ccsds")]
    gaps = with_gaps(plain, rng)
    yield "bitmap-simple-11", [field(ll, gaps, bits=11, bitmap=True)]
    yield "bitmap-ccsds-12", [field(ll, gaps, "grid_ccsds", 12, bitmap=True)]
    yield "bitmap-ccsds-16", [field(ll, gaps, "grid_ccsds", 16, bitmap=True)]
    yield "bitmap-constant", [field(ll, np.where(np.isnan(gaps), np.nan, 2.5), bitmap=True)]
    yield "bitmap-full", [field(ll, plain, bits=10, bitmap=True)]
    yield "bitmap-empty", [field(ll, np.full(len(plain), np.nan), bits=10, bitmap=True)]
    yield "ieee-32", [field(ll, plain, "grid_ieee", 32)]
    yield "ieee-64", [field(ll, plain, "grid_ieee", 64)]
    yield "ieee-64-bitmap", [field(ll, gaps, "grid_ieee", 64, bitmap=True)]
    yield "decimal-2", [field(ll, plain, decimal=2, bits=0)]
    yield "ensemble-rotated", [
        field("rotated_ll_pl_grib2", smooth(points("rotated_ll_pl_grib2")), bits=9, productDefinitionTemplateNumber=1,
              perturbationNumber=7, numberOfForecastsInEnsemble=50, level=850, forecastTime=36)
    ]
    for sample in ("reduced_gg_pl_32_grib2", "polar_stereographic_pl_grib2"):
        yield sample.removesuffix("_grib2").removesuffix("_pl"), [field(sample, smooth(points(sample)), bits=3)]
    yield "columns", [field(ll, plain, bits=7, jPointsAreConsecutive=1, jScansPositively=1)]
    yield "alternating", [field(ll, plain, bits=7, alternativeRowScanning=1)]
    yield "two-messages", [field(ll, plain, bits=5), field(ll, gaps, bits=6, bitmap=True)]
    for name, packing in (("complex", "grid_complex"), ("complex-differences", "grid_complex_spatial_differencing"),
                          ("jpeg", "grid_jpeg"), ("png", "grid_png")):
        yield f"{name}", [field(ll, plain, packing, 12)]
        yield f"bitmap-{name}", [field(ll, gaps, packing, 7, bitmap=True)]
    yield "jpeg-24", [field(ll, plain, "grid_jpeg", 24)]
    yield "png-8", [field(ll, plain, "grid_png", 8)]
    for bits in (24, 32):
        yield f"png-{bits}", [pictured(ec.codes_get_message(field(ll, plain, bits=bits)))]
    simple = ec.codes_get_message(field(ll, plain, bits=11))
    absent = np.zeros(len(plain), dtype=int)
    absent[40:70], absent[100], absent[300:420:5] = 1, 1, 1
    second = absent.copy()
    second[60:90], second[101] = 2, 2
    for order in (0, 1, 2):
        yield f"groups-{order}", [grouped(simple, order, None, rng)]
        yield f"groups-{order}-missing", [grouped(simple, order, absent, rng)]
        yield f"groups-{order}-missing-2", [grouped(simple, order, second, rng)]
    with_bitmap = ec.codes_get_message(field(ll, gaps, bits=9, bitmap=True))
    yield "groups-2-bitmap", [grouped(with_bitmap, 2, None, rng)]
    yield "groups-1-bitmap-missing", [grouped(with_bitmap, 1, absent, rng)]
    for name in ("lambert", "lambert-ellipsoid", "polar_south"):
        yield name, [grid_field(name)]
    yield "mercator", [mercator()]
    yield "regular_gg", [field("regular_gg_pl_grib2", smooth(points("regular_gg_pl_grib2")), bits=1)]
    for order in (1, 2):
        yield f"groups-{order}-negative", [grouped(simple, order, None, rng, is_lower=True)]
    yield "groups-2-negative-missing", [grouped(with_bitmap, 2, absent, rng, is_lower=True)]


def multi_field():
    """One message of three fields: other grid, other product; bitmap, and the bitmap of the field before."""
    ll = "regular_ll_pl_grib2"
    rng = np.random.default_rng(2)
    multi = ec.codes_grib_multi_new()
    handles = [
        field(ll, smooth(points(ll)), bits=6),
        field(ll, with_gaps(smooth(points(ll)), rng), "grid_ccsds", 16, bitmap=True, level=500),
        field(ll, smooth(points(ll), 3.0), "grid_ccsds", 10, level=300),
    ]
    for handle, start in zip(handles, (3, 4, 4)):
        ec.codes_grib_multi_append(handle, start, multi)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "multi"
        with open(path, "wb") as file:
            ec.codes_grib_multi_write(multi, file)
        return path.read_bytes(), handles


def reused_bitmap(message):
    """The message of `multi_field` with the last field taking the bitmap of the second one, and its values repeated."""
    sections, at = [], 16
    while message[at:at + 4] != b"7777" or at != len(message) - 4:
        length = int.from_bytes(message[at:at + 4], "big")
        sections.append(message[at:at + length])
        at += length
    number = lambda section: section[4]
    fields, current = [], []
    for section in sections:
        current.append(section)
        if number(section) == 7:
            fields.append(current)
            current = []
    again = [section for section in fields[1] if number(section) in (4, 5, 6, 7)]
    again = [section if number(section) != 6 else b"\0\0\0\x06\x06\xfe" for section in again]
    body = b"".join(sections) + b"".join(again) + b"7777"
    return message[:8] + (16 + len(body)).to_bytes(8, "big") + body


# Integers in groups, written here: ecCodes writes neither missing values of their own nor all forms of groups ---------


class Bits:
    """Integers one after the other, the highest bit first."""

    def __init__(self):
        self.text = []

    def put(self, integer, width):
        assert 0 <= integer < 1 << width, (integer, width)
        if width:
            self.text.append(format(integer, f"0{width}b"))

    def bytes(self):
        text = "".join(self.text)
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""


def packed(integers, widths):
    bits = Bits()
    for integer, width in zip(integers, widths):
        bits.put(int(integer), int(width))
    return bits.bytes()


def length_of(integer):
    return int(integer).bit_length()


def differences(integers, present, order, rng):
    """What groups hold for `integers`, and the octets in front of them."""
    if order == 0:
        return integers, b"", 0
    values = integers[present]
    found = np.diff(values, n=order) if len(values) > order else np.array([0])
    least = int(found.min())
    made = np.zeros(len(integers), dtype=np.int64)
    unused = rng.integers(0, 3, min(order, len(values)))
    made[np.flatnonzero(present)] = np.concatenate([unused, found - least])[:len(values)]
    firsts = [int(value) for value in values[:order]] + [0] * (order - len(values))
    octets = max(length_of(abs(number)) // 8 + 1 for number in [*firsts, least])
    sign = 1 << (8 * octets - 1) if least < 0 else 0
    return made, b"".join(number.to_bytes(octets, "big") for number in [*firsts, sign | abs(least)]), octets


def split(count, rng):
    """Lengths of groups, and how they are written: base, step, length of the last."""
    base, step = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    lengths, left = [], count
    while left > 0:
        length = base + step * int(rng.integers(0, 9))
        if length >= left or rng.random() < 0.002:
            length = left
        lengths.append(length)
        left -= length
    if len(lengths) > 1 and any((length - base) % step for length in lengths[:-1]):
        return split(count, rng)
    return lengths, base, step


def grouped(message, order, kinds, rng, is_lower=False):
    """A message of simple packing with its integers in groups. `kinds` marks values that are missing: 1 or 2. With `is_lower`
    some of the integers are negative, but for the first ones, which have no sign."""
    parts = split_sections(message)
    simple, data = parts[5], parts[7][5:]
    count, width = int.from_bytes(simple[5:9], "big"), simple[19]
    text = "".join(f"{byte:08b}" for byte in data)
    integers = np.array([int(text[i * width:(i + 1) * width] or "0", 2) for i in range(count)], dtype=np.int64)
    kinds = np.zeros(count, dtype=int) if kinds is None else kinds[:count]
    if is_lower:
        integers[np.flatnonzero(kinds == 0)[order:]] -= int(integers.max(initial=0)) // 2
    management = int(kinds.max(initial=0))
    made, firsts, octets = differences(integers, kinds == 0, order, rng)
    lengths, base, step = split(count, rng)
    ends = np.cumsum(lengths)
    references, widths = [], []
    for end, length in zip(ends, lengths):
        part, kind = made[end - length:end], kinds[end - length:end]
        values = part[kind == 0]
        if len(values) == 0 and len(set(kind)) == 1:
            references.append(-int(kind[0]))
            widths.append(0)
            continue
        reference = int(values.min()) if len(values) and rng.random() < 0.9 else 0
        greatest = int(values.max() - reference) if len(values) else 0
        references.append(reference)
        needed = greatest if management == 0 or not kind.any() and greatest == 0 else greatest + management
        widths.append(max(length_of(needed), int(kind.any())))
    reference_bits = length_of(max(max(references, default=0), 0) + management)
    references = [reference if reference >= 0 else (1 << reference_bits) + reference for reference in references]
    content = Bits()
    for end, length, reference, bits in zip(ends, lengths, references, widths):
        for integer, kind in zip(made[end - length:end], kinds[end - length:end]):
            content.put((1 << bits) - int(kind) if kind and bits else int(integer) - reference if not kind else 0, bits)
    scaled = [(length - base) // step for length in lengths[:-1]] + [0] * bool(lengths)
    width_base = min(widths, default=0)
    width_bits, length_bits = length_of(max(widths, default=0) - width_base), length_of(max(scaled, default=0))
    number = lambda value, octets: int(value).to_bytes(octets, "big")
    content5 = simple[5:9] + number(3 if order else 2, 2) + simple[11:19] + number(reference_bits, 1) + simple[20:21]
    content5 += bytes([1, management]) + np.array([9999, 9998], dtype=">f4").tobytes() + number(len(lengths), 4)
    content5 += bytes([width_base, width_bits]) + number(base, 4) + bytes([step]) + number(lengths[-1] if lengths else 0, 4) + bytes([length_bits])
    content5 += bytes([order, octets]) if order else b""
    body = firsts + packed(references, [reference_bits] * len(references))
    body += packed([width - width_base for width in widths], [width_bits] * len(widths))
    body += packed(scaled, [length_bits] * len(scaled)) + content.bytes()
    parts[5], parts[7] = section(5, content5), section(7, body)
    return rebuilt(message, parts)


def rebuilt(message, parts):
    rest = b"".join(parts[which] for which in sorted(parts)) + b"7777"
    return ec.codes_new_from_message(message[:8] + (16 + len(rest)).to_bytes(8, "big") + rest)


def section(which, content):
    return (5 + len(content)).to_bytes(4, "big") + bytes([which]) + content


def pictured(message):
    """A message of simple packing with its integers as a PNG picture of one row: ecCodes writes 8 and 16 bits alone."""
    parts = split_sections(message)
    count, bits = int.from_bytes(parts[5][5:9], "big"), parts[5][19]
    depth, colour = {24: (8, 2), 32: (8, 6)}.get(bits, (bits, 0))
    row = b"\0" + parts[7][5:]
    chunk = lambda kind, data: len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    head = count.to_bytes(4, "big") + bytes([0, 0, 0, 1, depth, colour, 0, 0, 0])
    picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")
    parts[5] = section(5, parts[5][5:9] + b"\0\x29" + parts[5][11:21])
    parts[7] = section(7, picture)
    return rebuilt(message, parts)


def split_sections(message):
    parts, at = {}, 16
    while at < len(message) - 4:
        length = int.from_bytes(message[at:at + 4], "big")
        parts[message[at + 4]] = message[at:at + length]
        at += length
    return parts


# Samples whose grids differ.
GRIDS = ["simple-1", "ensemble-rotated", "reduced_gg_pl_32", "regular_gg", "polar_south", "lambert", "lambert-ellipsoid",
         "mercator"]


def coordinates(handle):
    """Latitudes and longitudes in the order of the values, if ecCodes goes through the points in this order."""
    mode = ec.codes_get(handle, "scanningMode")
    if mode & 0x30:
        return None
    return ec.codes_get_array(handle, "latitudes").tolist(), ec.codes_get_array(handle, "longitudes").tolist()


def grid_field(name):
    """A field on a grid that no sample of ecCodes has. ecCodes takes every such grid as scanned to the right and up."""
    handle = ec.codes_grib_new_from_samples("polar_stereographic_pl_grib2")
    if name.startswith("lambert"):
        ec.codes_set(handle, "gridType", "lambert")
    keys = {"Nx": 11, "Ny": 7, "latitudeOfFirstGridPoint": 41612949, "longitudeOfFirstGridPoint": 287560000, "LoV": 263000000,
            "LaD": 38500000, "Dx": 150000000, "Dy": 120000000, "scanningMode": 0x40}
    if name.startswith("lambert"):
        keys |= {"Latin1": 33000000, "Latin2": 45000000, "shapeOfTheEarth": 6}
    if name == "lambert-ellipsoid":
        keys |= {"shapeOfTheEarth": 4, "Latin1": 25000000, "Latin2": 25000000, "LaD": 25000000}
    if name == "polar_south":
        keys |= {"projectionCentreFlag": 128, "latitudeOfFirstGridPoint": -41612949, "LaD": -60000000, "shapeOfTheEarth": 0}
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    ec.codes_set(handle, "bitsPerValue", 8)
    ec.codes_set_values(handle, smooth(77))
    # Read again, ecCodes looks at the shape of the Earth again.
    return ec.codes_new_from_message(ec.codes_get_message(handle))


def mercator(**more):
    """A field on a Mercator grid."""
    handle = ec.codes_grib_new_from_samples("polar_stereographic_pl_grib2")
    ec.codes_set(handle, "gridType", "mercator")
    keys = {"Ni": 13, "Nj": 9, "latitudeOfFirstGridPoint": -19000000, "longitudeOfFirstGridPoint": 145000000, "LaD": 20000000,
            "Di": 250000000, "Dj": 190000000, "orientationOfTheGrid": 0, "scanningMode": 0x40, "shapeOfTheEarth": 6} | more
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    ec.codes_set(handle, "bitsPerValue", 8)
    ec.codes_set_values(handle, smooth(117))
    return ec.codes_new_from_message(ec.codes_get_message(handle))


def any_grid(edition, kind, count, **keys):
    """A field on a grid of a kind, of either edition."""
    handle = ec.codes_grib_new_from_samples(f"GRIB{edition}")
    ec.codes_set(handle, "gridType", kind)
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    ec.codes_set(handle, "bitsPerValue", 8)
    ec.codes_set_values(handle, smooth(count))
    return ec.codes_new_from_message(ec.codes_get_message(handle))


def rare_grids():
    """Grids of both editions that few samples have. ecCodes takes planes as scanned to the right and up."""
    for nside, order in ((1, "ring"), (3, "ring"), (8, "nested"), (16, "ring"), (32, "nested")):
        yield any_grid(2, "healpix", 12 * nside * nside, Nside=nside, orderingConvention=order,
                       longitudeOfFirstGridPointInDegrees=45)
    yield any_grid(2, "space_view", 12, Nx=3, Ny=4, latitudeOfSubSatellitePointInDegrees=0,
                   longitudeOfSubSatellitePointInDegrees=10, dx=9, dy=8, Xp=1000, Yp=2000, Xo=0, Yo=1, Nr=6610700)
    plane = {"Nx": 7, "Ny": 5, "latitudeOfFirstGridPointInDegrees": 42.5, "longitudeOfFirstGridPointInDegrees": 350,
             "DxInMetres": 50000, "DyInMetres": 60000, "jScansPositively": 1}
    yield any_grid(2, "lambert_azimuthal_equal_area", 35, standardParallelInDegrees=52, centralLongitudeInDegrees=10,
                   **(plane | {"jScansPositively": 0}))
    for oblate in (0, 1):
        yield any_grid(1, "lambert", 35, LoVInDegrees=4, Latin1InDegrees=46, Latin2InDegrees=50, earthIsOblate=oblate, **plane)
    yield any_grid(1, "polar_stereographic", 35, orientationOfTheGridInDegrees=4, **plane)
    for edition in (1, 2):
        for first, last in ((0, 360), (180, 180), (20, 20), (350, 350)):
            yield field(f"regular_ll_sfc_grib{edition}", smooth(111), bits=4, Ni=37, Nj=3, latitudeOfFirstGridPointInDegrees=10,
                        latitudeOfLastGridPointInDegrees=-10, longitudeOfFirstGridPointInDegrees=first,
                        longitudeOfLastGridPointInDegrees=last, iDirectionIncrementInDegrees=10, jDirectionIncrementInDegrees=10)
    for sample in ("rotated_ll_pl_grib1", "regular_gg_pl_grib1", "reduced_gg_pl_48_grib1", "reduced_gg_pl_320_grib1"):
        yield field(sample, smooth(points(sample)), bits=4)


def describe(handles):
    listed = []
    for handle in handles:
        entry = {"points": ec.codes_get(handle, "numberOfDataPoints")}
        if ec.codes_is_defined(handle, "decimalScaleFactor") and ec.codes_get(handle, "decimalScaleFactor"):
            # Rounded otherwise, so a digest says nothing.
            entry["near"] = values_of(handle)[:32].tolist()
        else:
            entry["values"] = sha(stored(handle))
        listed.append(entry)
    return listed


def write_samples(folder):
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, handles in sample_list():
        (folder / f"{name}.grib2").write_bytes(b"".join(ec.codes_get_message(handle) for handle in handles))
        expected[name] = {"fields": describe(handles)}
        known = coordinates(handles[0]) if name in GRIDS else None
        if known is not None:
            latitudes, longitudes = known
            places = (0, len(latitudes) // 3, len(latitudes) - 1)
            expected[name]["coordinates"] = [
                {"at": at, "latitude": latitudes[at], "longitude": longitudes[at]} for at in places
            ]
        if "jpeg" in name:
            expected[name]["feature"] = "grib-jpeg2000"
    message, handles = multi_field()
    (folder / "fields.grib2").write_bytes(message)
    expected["fields"] = {"fields": describe(handles)}
    (folder / "fields-bitmap.grib2").write_bytes(reused_bitmap(message))
    expected["fields-bitmap"] = {"fields": describe(handles + [handles[1]])}
    import edition1
    import packings

    expected |= edition1.write_samples(folder)
    expected |= packings.write_samples(folder)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


# Random messages ----------------------------------------------------------------------------------------------------


def random_field(rng):
    sample = SIMPLE_SAMPLES[rng.integers(len(SIMPLE_SAMPLES))]
    count = points(sample)
    kind = rng.integers(5)
    if kind == 0:
        values = np.full(count, rng.normal(0, 1000))
    elif kind == 1:
        values = rng.normal(rng.normal(0, 300), 10.0 ** rng.integers(-6, 6), count)
    elif kind == 2:
        values = np.where(rng.random(count) < 0.8, 0.0, rng.exponential(5.0, count))
    else:
        values = smooth(count, rng.exponential(50.0), rng.normal(0, 300))
    bitmap = bool(rng.random() < 0.4)
    if bitmap:
        values = with_gaps(values, rng, rng.choice([0.0, 0.05, 0.5, 0.99, 1.0]))
    packing = rng.choice(PACKINGS, p=[0.2, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1])
    bits = int(rng.choice([32, 64])) if packing == "grid_ieee" else int(rng.integers(0, 33))
    decimal = int(rng.integers(-3, 6)) if packing != "grid_ieee" and rng.random() < 0.15 else 0
    keys = {"level": int(rng.choice([1000, 850, 500, 10])), "forecastTime": int(rng.integers(0, 240)),
            "centre": int(rng.integers(0, 255))}
    if "ll" in sample and rng.random() < 0.5:
        keys["scanningMode"] = int(rng.integers(0, 16)) << 4
    if rng.random() < 0.3:
        keys = {"productDefinitionTemplateNumber": 1, "perturbationNumber": int(rng.integers(0, 50)), **keys}
    if packing == "grid_simple" and bits and kind and rng.random() < 0.6:
        bits = min(bits, 26)
        made = field(sample, values, packing, bits, decimal, bitmap, **keys)
        kinds = np.zeros(count, dtype=int)
        management = int(rng.integers(0, 3))
        share = rng.choice([0.01, 0.5, 0.97])
        for what in range(1, management + 1):
            kinds[rng.random(count) < share] = what
            start = int(rng.integers(0, count))
            kinds[start:start + 60] = what
        order = int(rng.integers(0, 3))
        return grouped(ec.codes_get_message(made), order, kinds, rng, is_lower=order > 0 and rng.random() < 0.2)
    if packing == "grid_png" and rng.random() < 0.5:
        made = field(sample, values, "grid_simple", int(rng.choice([8, 16, 24, 32])), decimal, bitmap, **keys)
        if ec.codes_get(made, "bitsPerValue") in (8, 16, 24, 32) and ec.codes_get(made, "numberOfValues"):
            return pictured(ec.codes_get_message(made))
        return made
    if packing == "grid_jpeg" and bits > 24:
        bits = 24
    return field(sample, values, packing, bits, decimal, bitmap, **keys)


def compare(tgm, cases, seed):
    rng = np.random.default_rng(seed)
    handles, failed = [], 0
    while len(handles) < cases:
        try:
            handles.append(random_field(rng))
        except ec.CodesInternalError:
            failed += 1
            assert failed < cases, "ecCodes makes no messages"
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram, back = (str(Path(folder) / name) for name in ("in.grib2", "out.tgm", "back.grib2"))
        original = b"".join(ec.codes_get_message(handle) for handle in handles)
        Path(grib).write_bytes(original)
        def run(*arguments):
            done = subprocess.run([tgm, *arguments], capture_output=True)
            if done.returncode:
                sys.exit(f"tgm {' '.join(arguments)}: {done.stderr.decode()}")
            return done.stdout

        run("convert", grib, "-o", tensogram)
        run("convert", tensogram, "--to", "grib2", "-o", back)
        if Path(back).read_bytes() != original:
            sys.exit("the way back gives other bytes")
        digests = json.loads(run("digest", "--json", tensogram))["messages"]
        assert len(digests) == len(handles)
        same, close = 0, 0
        for index, (handle, message) in enumerate(zip(handles, digests)):
            expected, [found] = stored(handle), [obj["sha256"] for obj in message["objects"]]
            if found == sha(expected):
                same += 1
                continue
            what = {key: ec.codes_get(handle, key) for key in ("packingType", "bitsPerValue", "decimalScaleFactor")}
            if not what["decimalScaleFactor"]:
                sys.exit(f"message {index} of seed {seed} has other values: {what}")
            raw = run("extract", tensogram, "-m", str(index), "-O", "-")
            ours, theirs = np.frombuffer(raw, "<f8"), np.frombuffer(expected, "<f8")
            assert np.array_equal(np.isnan(ours), np.isnan(theirs))
            # What tgm_convert::grib2::Note::DecimalScale states.
            ten = 10.0 ** -what["decimalScaleFactor"]
            reference = abs(ec.codes_get_double(handle, "referenceValue")) * ten
            greatest = np.nanmax(np.abs(theirs), initial=0.0) + reference
            bound = (reference + greatest) * 4 * np.finfo(float).eps
            worst = np.nanmax(np.abs(ours - theirs), initial=0.0)
            if worst > bound:
                sys.exit(f"message {index} of seed {seed} differs by {worst}: {what}")
            close += 1
        dropped = str(Path(folder) / "dropped.tgm")
        run("convert", grib, "-o", dropped, "--drop-original")
        run("convert", dropped, "--to", "grib2", "-o", back)
        with open(back, "rb") as file:
            for index, handle in enumerate(handles):
                again = ec.codes_grib_new_from_file(file)
                is_picture = ec.codes_get(handle, "dataRepresentationTemplateNumber") in (40, 41)
                is_same = ec.codes_get_message(again) == ec.codes_get_message(handle)
                before, after = values_of(handle), values_of(again)
                # With a decimal scale, ecCodes rounds pictures otherwise than simple packing.
                share = 8 * np.finfo(float).eps if ec.codes_get(handle, "decimalScaleFactor") else 0.0
                bound = share * np.nanmax(np.abs(before), initial=0.0)
                is_equal = np.array_equal(np.isnan(before), np.isnan(after))
                is_equal = is_equal and not np.any(np.abs(after - before) > bound)
                if not is_same and not (is_picture and is_equal):
                    sys.exit(f"message {index} of seed {seed} has other values where its picture is dropped")
                ec.codes_release(again)
    print(f"{same} messages with equal values, {close} with a decimal scale and rounded otherwise; all return to the byte")


def grids():
    for sample in [*SIMPLE_SAMPLES, "reduced_ll_sfc_grib2", "reduced_gg_pl_48_grib2"]:
        keys = {"scanningMode": 0x40} if "polar" in sample else {}
        yield field(sample, smooth(points(sample)), bits=4, **keys)
    for name in ("lambert", "lambert-ellipsoid", "polar_south"):
        yield grid_field(name)
    yield from rare_grids()
    yield mercator()
    yield mercator(shapeOfTheEarth=4, LaD=-33000000)
    yield mercator(shapeOfTheEarth=0, LaD=0, latitudeOfFirstGridPoint=41000000, longitudeOfFirstGridPoint=350000000)
    for mode in (0x40, 0x80, 0xc0):
        yield field("regular_ll_pl_grib2", smooth(496), bits=4, scanningMode=mode,
                    latitudeOfFirstGridPointInDegrees=0 if mode & 0x40 else 60,
                    latitudeOfLastGridPointInDegrees=60 if mode & 0x40 else 0,
                    longitudeOfFirstGridPointInDegrees=20 if mode & 0x80 else 350,
                    longitudeOfLastGridPointInDegrees=350 if mode & 0x80 else 20)


def compare_grids(tgm):
    """Compares the places of `tgm cat --csv` with the places of ecCodes."""
    count, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram = (str(Path(folder) / name) for name in ("in.grib2", "out.tgm"))
        for handle in grids():
            Path(grib).write_bytes(ec.codes_get_message(handle))
            subprocess.run([tgm, "convert", grib, "-o", tensogram], check=True, capture_output=True)
            lines = subprocess.run([tgm, "cat", "--csv", tensogram], check=True, capture_output=True).stdout.decode()
            heading, *lines = lines.splitlines()
            name = ec.codes_get(handle, "gridType"), ec.codes_get(handle, "scanningMode")
            at = heading.split(",").index("latitude") if "latitude" in heading else sys.exit(f"{name}: no coordinates")
            ours = np.array([line.split(",")[at:at + 2] for line in lines], dtype=float).T
            theirs = np.array(coordinates(handle))
            difference = np.abs(ours - theirs)
            difference[1] = np.minimum(difference[1] % 360, 360 - difference[1] % 360)
            # ecCodes rounds on the way from rotated points.
            if difference.max() > (2e-5 if name[0] == "rotated_ll" else 1e-6):
                sys.exit(f"{name}: coordinates differ by {difference.max()} at point {difference.max(axis=0).argmax()}")
            count, worst = count + 1, max(worst, difference.max())
    print(f"{count} grids with equal coordinates, at most {worst:.1e} degrees apart")


# Surfaces that name a parameter: type and value in metres, Pa, K or a number.
SURFACES = [(1, None), (8, None), (100, 50000), (101, None), (103, 2), (103, 10), (103, 100), (105, 3), (107, 320)]


# Discipline, category, and the numbers from 0 up that are compared.
CATEGORIES = [(0, 0, 30), (0, 1, 90), (0, 2, 30), (0, 3, 30), (0, 6, 36), (0, 14, 3), (0, 19, 3), (2, 0, 30), (2, 3, 3),
              (10, 0, 20), (10, 2, 4), (10, 3, 3)]


def parameters():
    """Fields of the parameters of these categories, on all surfaces."""
    for discipline, category, numbers in CATEGORIES:
        for number in range(numbers):
            for kind, value in SURFACES:
                keys = {"discipline": discipline, "parameterCategory": category, "parameterNumber": number,
                        "typeOfFirstFixedSurface": kind}
                keys |= {} if value is None else {"scaleFactorOfFirstFixedSurface": 0, "scaledValueOfFirstFixedSurface": value}
                yield keys, value is None


def compare_names(tgm):
    """Compares `mars.param` and `mars.type` with the names of ecCodes: ours are fewer, and none is another."""
    handle = ec.codes_grib_new_from_samples("regular_ll_pl_grib2")
    # No centre, so that its own tables do not count.
    for key, value in {"centre": 255, "tablesVersion": 33, "bitsPerValue": 0}.items():
        ec.codes_set(handle, key, value)
    names, messages = [], []
    for index, (keys, is_missing) in enumerate(parameters()):
        for key, value in keys.items():
            ec.codes_set(handle, key, value)
        if is_missing:
            ec.codes_set_missing(handle, "scaleFactorOfFirstFixedSurface")
            ec.codes_set_missing(handle, "scaledValueOfFirstFixedSurface")
        ec.codes_set(handle, "typeOfProcessedData", index % 5)
        name = ec.codes_get(handle, "shortName")
        # A parameter that has a number alone.
        name = str(ec.codes_get(handle, "paramId", int)) if name == "~" else name
        names.append((name, ec.codes_get(handle, "typeOfProcessedData"), keys))
        messages.append(ec.codes_get_message(handle))
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram = (str(Path(folder) / name) for name in ("in.grib2", "out.tgm"))
        Path(grib).write_bytes(b"".join(messages))
        subprocess.run([tgm, "convert", grib, "-o", tensogram], check=True, capture_output=True)
        listed = subprocess.run([tgm, "ls", "--json", "-p", "mars.param,mars.type", tensogram], check=True, capture_output=True)
        found = [entry["values"] for entry in json.loads(listed.stdout)["messages"]]
        found = [(str(values.get("mars.param", "-")), values.get("mars.type", "-")) for values in found]
        assert len(found) == len(names), (len(found), len(names))
        known = set()
        for (theirs, kind, keys), (param, data_type) in zip(names, found):
            if param not in ("-", theirs) or data_type not in ("-", kind):
                sys.exit(f"{keys}: {param} and {data_type}, ecCodes says {theirs} and {kind}")
            known.add(param)
        one = next(iter(known - {"-"}))
        chosen = subprocess.run([tgm, "ls", "-w", f"mars.param={one}", tensogram], check=True, capture_output=True).stdout
        assert len(chosen.splitlines()) > 1, one
    print(f"{len(known) - 1} names of parameters agree with ecCodes, on {len(SURFACES)} surfaces")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--samples"]:
        write_samples(Path(sys.argv[2]))
    elif len(sys.argv) > 1:
        compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
        compare_grids(sys.argv[1])
        compare_names(sys.argv[1])
    else:
        sys.exit(__doc__)
