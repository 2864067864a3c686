#!/usr/bin/env python3
"""Compares `tgm convert` with ecCodes on rare packings: values bit by bit, and the way back byte by byte.

Usage:
  packings.py TGM [CASES [SEED]]   random messages

Spectral coefficients, logarithms and ECMWF's second order are written by ecCodes. Runs of levels are put together here, and ecCodes reads them.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import eccodes as ec
import numpy as np

from compare import Bits, points, rebuilt, section, sha, smooth, split_sections

LL = "regular_ll_pl_grib2"
ABSENT = -1.25e30


def number(value, octets):
    """An unsigned number."""
    return int(value).to_bytes(octets, "big")


def signed(value, octets):
    """A number whose first bit is its sign."""
    return number(abs(int(value)) | (1 << (8 * octets - 1) if value < 0 else 0), octets)


def coefficients(truncation, rng):
    """Random coefficients of a smooth field, in order: m, n, real and imaginary."""
    m, n = np.triu_indices(truncation + 1)
    size = rng.exponential(50.0) * (n * (n + 1.0) + 1.0) ** -rng.uniform(0.0, 2.0)
    made = rng.normal(size=(len(n), 2)) * size[:, None]
    made[m == 0, 1] = 0.0
    if rng.random() < 0.1:
        made[:] = 0.0
        made[0, 0] = 3.5
    return made.ravel()


def spectral(rng, edition=2):
    """A field of coefficients, by simple or complex packing."""
    handle = ec.codes_grib_new_from_samples(f"sh_{rng.choice(['ml', 'pl'])}_grib{edition}")
    # ecCodes writes beyond its memory where another subset than the sample's is asked for in edition 1.
    truncation = int(rng.choice([1, 2, 3, 10, 21, 42, 63, 106] if edition == 2 else [21, 42, 63, 106]))
    subset = int(rng.integers(0, min(truncation, 20) + 1)) if edition == 2 else 20
    for key in "JKM":
        ec.codes_set(handle, key, truncation)
    if rng.random() < 0.3:
        ec.codes_set(handle, "packingType", "spectral_simple")
    else:
        for key in ("JS", "KS", "MS"):
            ec.codes_set(handle, key, subset)
        if rng.random() < 0.3:
            ec.codes_set(handle, "computeLaplacianOperator", 0)
            ec.codes_set(handle, "laplacianOperator", float(rng.choice([0.0, 0.5, 1.0, 0.646458, -0.3])))
    # ecCodes writes beyond its memory where the integers do not end with a byte.
    ec.codes_set(handle, "bitsPerValue", int(rng.choice([8, 16, 16, 24])))
    if rng.random() < 0.2:
        ec.codes_set(handle, "decimalScaleFactor", int(rng.integers(-3, 6)))
    ec.codes_set_values(handle, coefficients(truncation, rng))
    return handle


def bi_fourier(rng):
    """A field of waves in two directions, of rectangles, ellipses and diamonds."""
    handle = ec.codes_grib_new_from_samples("lambert_bf_grib2")
    form, n, m = int(rng.choice([77, 88, 99])), int(rng.integers(1, 12)), int(rng.integers(1, 12))
    ec.codes_set(handle, "biFourierTruncationType", form)
    ec.codes_set(handle, "biFourierResolutionParameterN", n)
    ec.codes_set(handle, "biFourierResolutionParameterM", m)
    ec.codes_set(handle, "biFourierSubTruncationType", int(rng.choice([77, 88, 99])))
    ec.codes_set(handle, "biFourierResolutionSubSetParameterN", int(rng.integers(1, n + 2)))
    ec.codes_set(handle, "biFourierResolutionSubSetParameterM", int(rng.integers(1, m + 2)))
    ec.codes_set(handle, "bitsPerValue", int(rng.choice([8, 16, 24])))
    ec.codes_set(handle, "computeLaplacianOperator", 0)
    ec.codes_set(handle, "laplacianOperator", float(rng.choice([0.0, 0.3, 0.5, 1.0])))
    limit = {77: lambda j: n, 88: lambda j: int(n * np.sqrt(1 - (j / m) ** 2) + 1e-10), 99: lambda j: n - n * j // m}[form]
    ec.codes_set_values(handle, rng.normal(size=4 * sum(limit(j) + 1 for j in range(m + 1))) * rng.exponential(100.0))
    return handle


def grid_values(count, rng):
    kind = rng.integers(4)
    if kind == 0:
        return rng.exponential(10.0 ** rng.integers(-6, 4), count)
    if kind == 1:
        return np.maximum(rng.normal(0, 5, count), 0.0)
    if kind == 2:
        return np.floor(rng.normal(0, 2, count).cumsum())
    return smooth(count, rng.exponential(50.0), rng.normal(0, 300))


def packed(rng, packing, bitmap):
    """A field of points that ecCodes packs so."""
    handle = ec.codes_grib_new_from_samples(LL)
    values = grid_values(points(LL), rng)
    ec.codes_set(handle, "bitsPerValue", int(rng.integers(1, 25)))
    if bitmap:
        ec.codes_set(handle, "bitmapPresent", 1)
        ec.codes_set(handle, "missingValue", ABSENT)
        values[rng.random(len(values)) < rng.choice([0.0, 0.1, 0.9])] = ABSENT
    ec.codes_set_values(handle, values)
    ec.codes_set(handle, "packingType", packing)
    return handle


def logarithm(rng):
    return packed(rng, "grid_simple_log_preprocessing", False)


def second_order(rng):
    """ecCodes writes no scale and no order of edition 2: they are put in here."""
    handle = packed(rng, str(rng.choice(["grid_second_order", "grid_second_order_no_boustrophedonic"])), False)
    message = ec.codes_get_message(handle)
    parts = split_sections(message)
    if int.from_bytes(parts[5][9:11], "big") in (50001, 50002):
        scale = np.array([rng.normal(0, 300)], ">f4").tobytes() + signed(rng.integers(-12, 5), 2)
        parts[5] = parts[5][:11] + scale + parts[5][17:]
    return rebuilt(message, parts)


def matrix(rng):
    return packed(rng, "grid_simple_matrix", False)


def runs(rng):
    """Template 5.200: levels in runs."""
    message = ec.codes_get_message(ec.codes_grib_new_from_samples(LL))
    parts = split_sections(message)
    count = points(LL)
    bits = int(rng.integers(2, 9))
    highest = int(rng.integers(1, (1 << bits) - 2)) if bits > 2 else 1
    count_levels = highest + int(rng.integers(0, 3))
    levels = np.sort(rng.integers(0, 60000, count_levels)) if rng.random() < 0.8 else rng.integers(0, 65536, count_levels)
    base = (1 << bits) - 1 - highest
    content, left = Bits(), count
    while left:
        run = min(left, int(rng.choice([1, 2, 5, rng.integers(1, 200)])))
        content.put(int(rng.integers(0, highest + 1)), bits)
        more = run - 1
        if base < 2:
            run, more = 1, 0
        left -= run
        while more:
            content.put(more % base + highest + 1, bits)
            more //= base
    # ecCodes takes padding that is as long as a number for one, and writes beyond its memory.
    if -sum(map(len, content.text)) % 8 >= bits:
        return runs(rng)
    parts[5] = section(5, number(count, 4) + number(200, 2) + number(bits, 1) + number(highest, 2)
                       + number(count_levels, 2) + signed(rng.integers(-2, 4), 1)
                       + b"".join(number(level, 2) for level in levels))
    parts[7] = section(7, content.bytes())
    return rebuilt(message, parts)


def first_edition(message):
    """The sections of a message of edition 1, by number."""
    parts, at = {0: message[:8]}, 8
    flags = message[at + 7]
    for which in [1] + [2] * bool(flags & 128) + [3] * bool(flags & 64) + [4]:
        length = int.from_bytes(message[at:at + 3], "big")
        parts[which] = message[at:at + length]
        at += length
    return parts


def rebuilt_first(parts):
    rest = b"".join(parts[which] for which in sorted(parts) if which) + b"7777"
    return b"GRIB" + number(8 + len(rest), 3) + b"\1" + rest


def first_spectral(rng):
    return spectral(rng, 1)


def first_second_order(rng):
    """All of ECMWF's forms that ecCodes writes, with and without a bitmap."""
    name = rng.choice(["", "_no_SPD", "_SPD1", "_SPD2", "_SPD3", "_no_boustrophedonic"])
    handle = ec.codes_grib_new_from_samples(str(rng.choice(["regular_ll_pl_grib1", "regular_gg_pl_grib1"])))
    values = grid_values(ec.codes_get(handle, "numberOfDataPoints"), rng)
    ec.codes_set(handle, "bitsPerValue", int(rng.integers(1, 25)))
    if rng.random() < 0.2:
        ec.codes_set(handle, "decimalScaleFactor", int(rng.integers(-2, 4)))
    if rng.random() < 0.4:
        ec.codes_set(handle, "bitmapPresent", 1)
        ec.codes_set(handle, "missingValue", ABSENT)
        values[rng.random(len(values)) < rng.choice([0.0, 0.1, 0.5])] = ABSENT
    ec.codes_set_values(handle, values)
    ec.codes_set(handle, "packingType", f"grid_second_order{name}")
    return handle


def first_ieee(rng):
    handle = ec.codes_grib_new_from_samples("regular_ll_pl_grib1")
    ec.codes_set(handle, "packingType", "grid_ieee")
    ec.codes_set(handle, "precision", int(rng.integers(1, 3)))
    ec.codes_set_values(handle, grid_values(points("regular_ll_pl_grib1"), rng))
    return handle


def first_standard(rng):
    """The manual's second order, put together here: row by row, constant width, general."""
    handle = ec.codes_grib_new_from_samples("regular_ll_pl_grib1")
    values = grid_values(points("regular_ll_pl_grib1"), rng)
    bits = int(rng.integers(2, 17))
    ec.codes_set(handle, "bitsPerValue", bits)
    has_gaps = rng.random() < 0.4
    if has_gaps:
        ec.codes_set(handle, "bitmapPresent", 1)
        ec.codes_set(handle, "missingValue", ABSENT)
        values[rng.random(len(values)) < rng.choice([0.1, 0.5])] = ABSENT
    ec.codes_set_values(handle, values)
    present = values != ABSENT
    parts = first_edition(ec.codes_get_message(handle))
    bits = parts[4][10]
    # A constant field has no groups.
    if not bits:
        return first_standard(rng)
    count = int(present.sum())
    text = "".join(f"{byte:08b}" for byte in parts[4][11:])
    integers = [int(text[i * bits:(i + 1) * bits] or "0", 2) for i in range(count)]
    kind = rng.choice(["row", "width", "general"])
    if kind == "row":
        columns = ec.codes_get(handle, "Ni")
        lengths = [int(row.sum()) for row in present.reshape(-1, columns)]
    else:
        lengths = []
        while sum(lengths) < count:
            lengths.append(int(min(rng.integers(1, 40), count - sum(lengths))))
    ends = np.cumsum(lengths)
    groups = [integers[end - length:end] for end, length in zip(ends, lengths)]
    groups = [group for group in groups if group]
    firsts = [min(group) for group in groups]
    widths = [(max(group) - first).bit_length() for group, first in zip(groups, firsts)]
    if kind == "width":
        widths = [max(widths)] * len(widths)
    flags = 0 if kind == "row" else 32
    body = bytes(widths)
    if kind == "width":
        body = bytes(widths[:1])
    else:
        flags |= 16
    if kind != "row":
        marks = Bits()
        for group in groups:
            marks.put(1, 1)
            marks.put(0, len(group) - 1)
        body += marks.bytes()
    n1 = 22 + len(body)
    content = Bits()
    for first in firsts:
        content.put(first, bits)
    body += content.bytes()
    n2 = 22 + len(body)
    content = Bits()
    for group, first, width in zip(groups, firsts, widths):
        for integer in group:
            content.put(integer - first, width)
    body += content.bytes()
    unused = -sum(map(len, content.text)) % 8
    if (21 + len(body)) % 2:
        body, unused = body + b"\0", unused + 8
    head = parts[4][4:11] + number(n1, 2) + bytes([flags]) + number(n2, 2) + number(len(groups), 2) + number(count, 2) + b"\0"
    parts[4] = number(21 + len(body), 3) + bytes([0x50 | unused]) + head + body
    return ec.codes_new_from_message(rebuilt_first(parts))


KINDS = [spectral, spectral, bi_fourier, logarithm, second_order, runs, matrix]
FIRST = [first_spectral, first_second_order, first_second_order, first_ieee, first_standard]


def samples():
    """Small messages of each packing, by name."""
    rng = np.random.default_rng(7)

    def found(make, packing, **keys):
        while True:
            message = ec.codes_get_message(make(rng))
            handle = ec.codes_new_from_message(message)
            get = lambda key: ec.codes_get(handle, key) if ec.codes_is_defined(handle, key) else 0
            is_it = get("packingType") == packing and get("decimalScaleFactor") == 0 and len(message) < 2600
            if is_it and all(wanted(get(key)) for key, wanted in keys.items()):
                return message

    some = lambda bits: 6 < bits < 18
    yield "spectral-simple", found(spectral, "spectral_simple", bitsPerValue=some)
    yield "spectral-complex", found(spectral, "spectral_complex", bitsPerValue=some, JS=lambda subset: subset > 2)
    yield "bi-fourier", found(bi_fourier, "bifourier_complex", bitsPerValue=some)
    yield "logarithm", found(logarithm, "grid_simple_log_preprocessing", bitsPerValue=some)
    yield "second-order", found(second_order, "grid_second_order_SPD2", bitsPerValue=some)
    yield "second-order-rows", found(second_order, "grid_second_order", bitsPerValue=some)
    yield "runs", found(runs, "grid_run_length")
    simple = found(matrix, "grid_simple_matrix", bitsPerValue=some)
    yield "matrix", simple
    parts = split_sections(simple)
    parts[5] = parts[5][:25] + number(2, 2) + number(1, 2) + parts[5][29:]
    yield "unread-matrix", ec.codes_get_message(rebuilt(simple, parts))
    yield "edition-1-spectral-simple", found(first_spectral, "spectral_simple")
    yield "edition-1-spectral", found(first_spectral, "spectral_complex", bitsPerValue=some)
    for gaps in (0, 1):
        for packing in ("", "_no_SPD", "_SPD1", "_SPD3", "_row_by_row", "_constant_width", "_general_grib1"):
            make = first_standard if packing[1:4] in ("row", "con", "gen") else first_second_order
            name = f"edition-1-second-order{packing.removesuffix('_grib1')}{'-bitmap' * gaps}".replace("_", "-").lower()
            yield name, found(make, f"grid_second_order{packing}", bitsPerValue=some, bitmapPresent=lambda it: it == gaps)


def write_samples(folder):
    """Writes the small messages. Returns what ecCodes says of them."""
    expected = {}
    for name, message in samples():
        (folder / f"{name}.grib2").write_bytes(message)
        if name.startswith("unread"):
            expected[name] = {"unread": "template 5.1 (matrix values, simple packing)"}
            continue
        values = values_of(ec.codes_new_from_message(message))
        expected[name] = {"fields": [{"points": len(values), "values": sha(values.tobytes())}]}
    return expected


def values_of(handle):
    """What ecCodes decodes, with NaN where there is none."""
    ec.codes_set(handle, "missingValue", ABSENT)
    values = np.array(ec.codes_get_values(handle), dtype="<f8")
    values[values == ABSENT] = np.nan
    if ec.codes_get(handle, "gridType") == "sh":
        # ecCodes gives one more in edition 1, where no bits are packed.
        truncation = ec.codes_get_long(handle, "J")
        values = values[: (truncation + 1) * (truncation + 2)]
    return values


def compare(tgm, cases, seed):
    rng = np.random.default_rng(seed)
    messages, kinds = [], []
    while len(messages) < cases:
        kind = (KINDS + FIRST)[rng.integers(len(KINDS) + len(FIRST))]
        try:
            messages.append(ec.codes_get_message(kind(rng)))
            kinds.append(kind.__name__)
        except ec.CodesInternalError:
            continue
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram, back = (str(Path(folder) / name) for name in ("in.grib", "out.tgm", "back.grib"))
        Path(grib).write_bytes(b"".join(messages))
        for arguments in (["convert", grib, "-o", tensogram], ["convert", tensogram, "--to", "grib2", "-o", back]):
            done = subprocess.run([tgm, *arguments], capture_output=True)
            if done.returncode:
                sys.exit(f"tgm {' '.join(arguments)}: {done.stderr.decode()}")
        if Path(back).read_bytes() != b"".join(messages):
            sys.exit("the way back gives other bytes")
        done = subprocess.run([tgm, "digest", "--json", tensogram], capture_output=True, check=True)
        digests = json.loads(done.stdout)["messages"]
        counts = dict.fromkeys(kinds, 0)
        for index, (message, kind, digest) in enumerate(zip(messages, kinds, digests, strict=True)):
            try:
                expected = values_of(ec.codes_new_from_message(message))
            except ec.CodesInternalError as error:
                counts[f"{kind}: {error}"] = counts.get(f"{kind}: {error}", 0) + 1
                continue
            if [obj["sha256"] for obj in digest["objects"]] != [sha(expected.tobytes())]:
                raw = subprocess.run([tgm, "extract", tensogram, "-m", str(index), "-O", "-"], capture_output=True).stdout
                ours = np.frombuffer(raw, "<f8")
                where = np.flatnonzero(~((ours == expected) | (np.isnan(ours) & np.isnan(expected)))) if len(ours) == len(expected) else []
                sys.exit(f"message {index} of seed {seed} ({kind}) has other values: {len(ours)} {len(expected)} at {where[:5]}, {len(where)}: "
                         f"{ours[where[:5]]} {expected[where[:5]]}")
            counts[kind] += 1
        print(counts)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
