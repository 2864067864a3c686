#!/usr/bin/env python3
"""Compares `tgm convert` with ecCodes on messages of edition 1: values bit by bit, and the way back byte by byte.

Usage:
  edition1.py TGM [CASES [SEED]]   random messages of each grid, then the samples of ecCodes

ecCodes is here for comparison alone: the PyPI packages `eccodes` and `eccodeslib`, and `numpy`.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import eccodes as ec
import numpy as np

from compare import field, sha, smooth, with_gaps

MISSING = 9999.0
GRIDS = ["regular_ll", "regular_gg", "rotated_ll", "stretched_ll", "stretched_rotated_ll", "rotated_gg", "lambert", "mercator",
         "polar_stereographic", "space_view", "reduced_gg", "reduced_ll"]
# Octets of section 1 for the classes of ERA5, operations and others: class, type, stream.
ARCHIVES = [(23, 2, 1025), (23, 9, 1025), (1, 11, 1035), (23, 14, 1030), (1, 9, 1025), (50, 2, 1043)]


def number(octets, count):
    return int(octets).to_bytes(count, "big")


def split(message):
    """The sections of a message, by their numbers."""
    parts, at, flags = {0: message[:8]}, 8, message[15]
    for which in [1] + [2] * bool(flags & 128) + [3] * bool(flags & 64):
        length = int.from_bytes(message[at:at + 3], "big")
        parts[which] = message[at:at + length]
        at += length
    parts[4] = message[at:-4]
    return parts


def joined(parts):
    body = b"".join(parts[which] for which in sorted(parts) if which) + b"7777"
    return b"GRIB" + number(8 + len(body), 3) + b"\1" + body


def longer(section, octets):
    return number(len(section) + len(octets), 3) + section[3:] + octets


def padded(message, rng):
    """The message with longer sections 1 and 2. ecCodes counts values by the other ones."""
    parts = split(message)
    for which in parts:
        if which in (1, 2) and rng.random() < 0.3:
            octets = rng.integers(0, 256, rng.integers(1, 9), dtype=np.uint8).tobytes()
            parts[which] = longer(parts[which], octets if rng.random() < 0.3 else bytes(len(octets)))
    return joined(parts)


def with_reference(message, rng):
    """The message with any IBM number as its reference value, and any binary scale that keeps values finite."""
    parts = split(message)
    head = bytearray(parts[4])
    head[6:10] = rng.integers(0, 256, 4, dtype=np.uint8).tobytes()
    if rng.random() < 0.5:
        scale = int(rng.integers(0, 200))
        head[4:6] = number(scale | (0x8000 if rng.random() < 0.5 else 0), 2)
    if rng.random() < 0.5:
        decimal = int(rng.integers(0, 9)) | (0x8000 if rng.random() < 0.5 else 0)
        parts[1] = parts[1][:26] + number(decimal, 2) + parts[1][28:]
    parts[4] = bytes(head)
    return joined(parts)


def grid_keys(kind, rng):
    """Keys of a grid and the number of its points."""
    columns, rows = int(rng.integers(1, 40)), int(rng.integers(1, 40))
    keys = {"gridType": kind}
    if kind in ("regular_ll", "rotated_ll", "stretched_ll", "stretched_rotated_ll", "regular_gg", "rotated_gg", "mercator"):
        keys |= {"Ni": columns, "Nj": rows}
    elif kind in ("reduced_gg", "reduced_ll"):
        lengths = rng.integers(2, 30, rows)
        keys |= {"Nj": rows, "PLPresent": 1, "pl": lengths.tolist(), "longitudeOfFirstGridPoint": 0,
                 "longitudeOfLastGridPoint": 359999}
        return keys, int(lengths.sum())
    else:
        keys |= {"Nx": columns, "Ny": rows}
    if rng.random() < 0.5:
        keys["scanningMode"] = int(rng.integers(0, 8)) << 5
    return keys, columns * rows


def set_all(handle, keys):
    for key, value in keys.items():
        if isinstance(value, list):
            ec.codes_set_array(handle, key, value)
        else:
            ec.codes_set(handle, key, value)


def random_message(rng):
    handle = ec.codes_grib_new_from_samples("regular_ll_sfc_grib1")
    kind = str(rng.choice(GRIDS))
    keys, count = grid_keys(kind, rng)
    set_all(handle, keys)
    if rng.random() < 0.3:
        ec.codes_set(handle, "PVPresent", 1)
        ec.codes_set_array(handle, "pv", rng.normal(0, 1e4, int(rng.integers(1, 20)) * 2).tolist())
    if rng.random() < 0.6:
        label = ARCHIVES[rng.integers(len(ARCHIVES))]
        set_all(handle, {"setLocalDefinition": 1, "localDefinitionNumber": 1, "class": label[0], "type": label[1], "stream": label[2]})
    else:
        set_all(handle, {"deleteLocalDefinition": 1, "centre": int(rng.choice([7, 34, 78, 85, 98])), "subCentre": int(rng.choice([0, 0, 98]))})
    set_all(handle, {"dataDate": 19400101 + int(rng.integers(0, 80)) * 10000, "dataTime": int(rng.integers(0, 24)) * 100,
                     "level": int(rng.integers(0, 1000))})
    shape = rng.integers(4)
    if shape == 0:
        values = np.full(count, rng.normal(0, 1000))
    elif shape == 1:
        values = rng.normal(rng.normal(0, 300), 10.0 ** rng.integers(-6, 6), count)
    else:
        values = smooth(count, rng.exponential(50.0), rng.normal(0, 300))
    is_masked = rng.random() < 0.4
    if is_masked:
        values = with_gaps(values, rng, rng.choice([0.0, 0.05, 0.5, 0.99, 1.0]))
        set_all(handle, {"bitmapPresent": 1, "missingValue": MISSING})
    if rng.random() < 0.05:
        set_all(handle, {"packingType": "grid_ieee", "precision": int(rng.integers(1, 3))})
    else:
        ec.codes_set(handle, "bitsPerValue", int(rng.integers(0, 33)))
        if rng.random() < 0.2:
            ec.codes_set(handle, "decimalScaleFactor", int(rng.integers(-4, 7)))
    ec.codes_set_values(handle, np.where(np.isnan(values), MISSING, values))
    message = ec.codes_get_message(handle)
    ec.codes_release(handle)
    if rng.random() < 0.2 and int.from_bytes(split(message)[4][3:4], "big") >> 4 == 0:
        message = with_reference(message, rng)
    if rng.random() < 0.3:
        message = padded(message, rng)
    # What ecCodes itself cannot read is an error here.
    handle = ec.codes_new_from_message(message)
    if len(values_of(handle)) != count:
        # ecCodes takes coordinates for the lengths of rows.
        raise ec.CodesInternalError(-1)
    ec.codes_release(handle)
    return message


def values_of(handle):
    values = np.array(ec.codes_get_values(handle), dtype="<f8")
    if ec.codes_get(handle, "bitmapPresent"):
        present = np.array(ec.codes_get_array(handle, "bitmap")).astype(bool)
        values[~present[:len(values)]] = np.nan
    if ec.codes_get(handle, "packingType") == "grid_ieee" and ec.codes_get(handle, "precision") == 1:
        return values.astype("<f4")
    return values


def run(tgm, *arguments):
    done = subprocess.run([tgm, *arguments], capture_output=True)
    if done.returncode:
        sys.exit(f"tgm {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout


def bound(handle, theirs):
    """What the two formulas can be apart, as `Note::DecimalScale` states it."""
    reference = abs(ec.codes_get_double(handle, "referenceValue")) * 10.0 ** -ec.codes_get(handle, "decimalScaleFactor")
    greatest = np.nanmax(np.abs(theirs), initial=0.0) + reference
    return (reference + greatest) * 6 * np.finfo(float).eps


def compare(tgm, messages, names):
    """Compares a file of messages. Returns how many have equal values and how many are rounded otherwise."""
    handles = [ec.codes_new_from_message(message) for message in messages]
    same, close = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram, back = (str(Path(folder) / name) for name in ("in.grib", "out.tgm", "back.grib"))
        Path(grib).write_bytes(b"".join(messages))
        run(tgm, "convert", "--from", "grib2", grib, "-o", tensogram)
        run(tgm, "convert", tensogram, "--to", "grib2", "-o", back)
        if Path(back).read_bytes() != Path(grib).read_bytes():
            sys.exit("the way back gives other bytes")
        digests = json.loads(run(tgm, "digest", "--json", tensogram))["messages"]
        assert len(digests) == len(handles)
        for index, (handle, digest) in enumerate(zip(handles, digests)):
            theirs = values_of(handle)
            [found] = [one["sha256"] for one in digest["objects"]]
            if found == sha(theirs.tobytes()):
                same += 1
                continue
            raw = np.frombuffer(run(tgm, "extract", tensogram, "-m", str(index), "-O", "-"), theirs.dtype)
            what = {key: ec.codes_get(handle, key) for key in ("gridType", "packingType", "bitsPerValue", "decimalScaleFactor")}
            what |= {"name": names[index], "ours": raw[:3], "theirs": theirs[:3], "counts": (len(raw), len(theirs))}
            if len(raw) != len(theirs) or not np.array_equal(np.isnan(raw), np.isnan(theirs)):
                sys.exit(f"message {index} has other points: {what}")
            worst = np.nanmax(np.abs(raw - theirs), initial=0.0)
            if not what["decimalScaleFactor"] or worst > bound(handle, theirs):
                sys.exit(f"message {index} differs by {worst}: {what}")
            close += 1
    for handle in handles:
        ec.codes_release(handle)
    return same, close


def small_messages():
    """Small messages for ../../data-grib, with their names."""
    rng = np.random.default_rng(3)

    def made(sample, values, keys, bits=16):
        handle = ec.codes_grib_new_from_samples(sample)
        set_all(handle, keys)
        if np.isnan(values).any():
            set_all(handle, {"bitmapPresent": 1, "missingValue": MISSING})
        if "precision" not in keys:
            ec.codes_set(handle, "bitsPerValue", bits)
        ec.codes_set_values(handle, np.where(np.isnan(values), MISSING, values))
        return ec.codes_get_message(handle)

    grid = {"Ni": 9, "Nj": 7}
    era5 = {"setLocalDefinition": 1, "localDefinitionNumber": 1, "class": 23, "type": 2, "stream": 1025, "dataDate": 20200315, **grid}
    plain = smooth(63)
    yield "edition-1", ec.codes_get_message(ec.codes_grib_new_from_samples("regular_ll_pl_grib1"))
    yield "edition-1-era5", made("regular_ll_sfc_grib1", plain, era5)
    yield "edition-1-bitmap", made("regular_ll_sfc_grib1", with_gaps(plain, rng), grid, 11)
    yield "edition-1-constant", made("regular_ll_sfc_grib1", np.full(63, 273.15), {**grid, "decimalScaleFactor": 2})
    yield "edition-1-columns", made("regular_ll_sfc_grib1", plain, {**grid, "scanningMode": 96}, 7)
    levels = made("regular_ll_sfc_grib1", plain, {**grid, "PVPresent": 1, "pv": rng.normal(0, 1e4, 6).tolist()})
    yield "edition-1-levels", levels
    parts = split(levels)
    parts |= {which: longer(parts[which], bytes(range(which + 2))) for which in (1, 2)} | {4: longer(parts[4], b"\0")}
    yield "edition-1-padded", joined(parts)
    yield "edition-1-ieee", made("regular_ll_sfc_grib1", plain, {**grid, "packingType": "grid_ieee", "precision": 2})
    yield "edition-1-reduced", made("reduced_gg_pl_32_grib1", smooth(6114), {}, 3)
    second = ec.codes_get_message(field("regular_ll_pl_grib2", smooth(496), bits=4))
    yield "edition-1-and-2", made("regular_ll_sfc_grib1", plain, era5) + second


def write_samples(folder):
    """Writes the small messages. Returns what ecCodes says of them."""
    expected = {}
    for name, messages in small_messages():
        (folder / f"{name}.grib2").write_bytes(messages)
        listed = []
        with open(folder / f"{name}.grib2", "rb") as file:
            while (handle := ec.codes_grib_new_from_file(file)) is not None:
                values = values_of(handle)
                listed.append({"points": len(values), "values": sha(values.tobytes())})
        expected[name] = {"fields": listed}
    return expected


def random_messages(cases, seed):
    rng = np.random.default_rng(seed)
    messages, failed = [], {}
    while len(messages) < cases:
        try:
            messages.append(random_message(rng))
        except ec.CodesInternalError as error:
            failed[str(error)] = failed.get(str(error), 0) + 1
            assert sum(failed.values()) < 10 * cases + 100, failed
    # A message of edition 2 among them.
    second = ec.codes_get_message(field("regular_ll_pl_grib2", smooth(496), bits=12))
    messages.insert(len(messages) // 2, second)
    return messages


def samples():
    """The samples of ecCodes that are of edition 1, by their names. Spectral ones are not read."""
    places = ("ml", "pl", "sfc")
    names = ["GRIB1", "clusters", "gg_sfc", "reduced_ll_sfc", "polar_stereographic_pl", "polar_stereographic_sfc"]
    names += [f"{grid}_{place}" for grid in ("regular_gg", "reduced_gg", "reduced_rotated_gg", "rotated_gg") for place in places]
    names += [f"{grid}_{place}" for grid in ("regular_ll", "rotated_ll") for place in places[1:]]
    names += [f"{grid}_pl_{rows}" for grid in ("reduced_gg", "reduced_rotated_gg")
              for rows in (32, 48, 80, 96, 128, 160, 200, 256, 320, 400, 512, 640, 1024, 1280, 2000)]
    for name in names:
        handle = ec.codes_grib_new_from_samples(name if name == "GRIB1" else f"{name}_grib1")
        yield name, ec.codes_get_message(handle)
        ec.codes_release(handle)


def main(tgm, cases, seed):
    messages = random_messages(cases, seed)
    same, close = compare(tgm, messages, [f"random, seed {seed}"] * len(messages))
    print(f"{same} messages of edition 1 with equal values, {close} with a decimal scale and rounded otherwise; all return to the byte")
    names, messages = zip(*samples())
    same, close = compare(tgm, messages, names)
    assert close == 0, close
    print(f"{same} samples of edition 1 with equal values; all return to the byte")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
