#!/usr/bin/env python3
"""Compares the metadata that `tgm convert` takes from GRIB edition 1 with the keys of ecCodes, namespace `mars` above all.

Usage:
  keys1.py TGM [CASES [SEED]]
  keys1.py --samples FOLDER     writes keys.grib1 and keys-1.json of ../../data-grib

Section 1 is patched octet by octet, so that values come up which ecCodes does not write. ecCodes is here for comparison alone.
Where it fails, or is known to err, our value stands in `differences`.
"""
import itertools
import json
import re
import sys
import tempfile
from pathlib import Path

import eccodes as ec
import numpy as np

import tables1
import keys

SAMPLES = ("regular_ll_pl_grib1", "regular_gg_sfc_grib1", "reduced_gg_pl_32_grib1", "sh_ml_grib1")
# Keys beside the namespace.
BESIDE = ("paramId", "typeOfLevel", "level", "stepRange")
# Lengths of section 1 by local definition; others have 52.
LENGTHS = {2: 328, 4: 116, 218: 120, 5: 58, 7: 54, 9: 92, 10: 334, 11: 72, 12: 120, 13: 100, 14: 1080, 15: 60, 16: 80, 18: 120, 19: 80, 21: 100, 23: 84, 24: 56,
           26: 69, 27: 107, 28: 79, 29: 960, 30: 106, 31: 240, 32: 328, 33: 80, 35: 120, 36: 56, 37: 1080, 38: 56, 39: 56, 40: 56, 49: 56, 50: 300, 191: 140}
# Octets that count what follows.
COUNTS = {2: {72: 2}, 4: {52: 0, **dict.fromkeys(range(110, 117), 0)}, 10: {79: 2}, 14: {57: 5}, 18: {57: 1}, 29: dict.fromkeys(range(66, 70), 0), 31: {58: 1},
          32: {70: 97, 75: 2}, 33: {56: 0, 57: 0}, 35: {56: 0, 57: 0}, 37: {57: 5}}


def sample(name):
    handle = ec.codes_grib_new_from_samples(name)
    message = ec.codes_get_message(handle)
    ec.codes_release(handle)
    at = 8 + int.from_bytes(message[8:11], "big")
    return message[8:at], message[at:-4]


BASES = {name: sample(name) for name in SAMPLES}


def message(octets, length=52, base=SAMPLES[0], grid=()):
    """A message with these octets of section 1, which has this length, and of section 2."""
    section, rest = BASES[base]
    section, rest = bytearray(section[:40].ljust(length, b"\0") if length > 40 else section[:length]), bytearray(rest)
    section[0:3] = length.to_bytes(3, "big")
    for part, found in ((section, octets), (rest, grid)):
        for octet, value in dict(found).items():
            values = value if isinstance(value, bytes) else bytes([value])
            part[octet - 1:octet - 1 + len(values)] = values
    section = section[:length]
    body = bytes(section) + bytes(rest) + b"7777"
    return b"GRIB" + (8 + len(body)).to_bytes(3, "big") + b"\1" + body


def text(handle, key):
    try:
        return ec.codes_get_string(handle, key)
    except (ec.CodesInternalError, UnicodeDecodeError):
        return None


def expected(message):
    """What ecCodes says of a message. None where it has nothing to say."""
    handle = ec.codes_new_from_message(message)
    try:
        if text(handle, "numberOfValues") is None:
            raise ValueError("a message that it cannot read")
        # The first reading of a step in minutes fails, and leaves the unit for the second.
        text(handle, "mars.step")
        found = {}
        iterator = ec.codes_keys_iterator_new(handle, "mars")
        while ec.codes_keys_iterator_next(iterator):
            key = ec.codes_keys_iterator_get_name(iterator)
            value = text(handle, f"mars.{key}")
            found[key] = keys.UNTOLD if value is None else value
        ec.codes_keys_iterator_delete(iterator)
        for key in keys.TWICE + ["time", "hdate", "refdate"]:
            value = text(handle, f"mars.{key}") if found.get(key) is None else None
            found.update({} if value is None else {key: value})
        name, number = text(handle, "shortName"), int(text(handle, "paramId") or 0)
        found["param"] = found.get("param") if name in (None, "unknown") and not number else str(number) if name in ("~", "unknown") else name
        found["paramId"] = str(number) if number else None
        found["typeOfLevel"] = (text(handle, "typeOfLevel") or "unknown").replace("isobaricInPa", "isobaricInhPa")
        found["stepRange"], found["stepUnits"] = text(handle, "stepRange"), text(handle, "stepUnits")
        found["level"] = text(handle, "level")
        if ec.codes_is_missing(handle, "level"):
            found["level"] = None
        if text(handle, "indicatorOfTypeOfLevel") and found["typeOfLevel"] == "isobaricInhPa" and ec.codes_get_long(handle, "indicatorOfTypeOfLevel") == 210 and found["level"]:
            found["level"] = repr(int(found["level"]) / 100).removesuffix(".0")
        found["unit"] = ec.codes_get_long(handle, "indicatorOfUnitOfTimeRange")
        found["range"] = ec.codes_get_long(handle, "timeRangeIndicator")
        return {key: None if value in ("unknown", "-", "MISSING") else value for key, value in found.items()}
    finally:
        ec.codes_release(handle)


SECONDS = {"s": 1, "m": 60, "15m": 900, "30m": 1800, "h": 3600, "Y": 365 * 86400, "10Y": 3650 * 86400, "30Y": 10950 * 86400, "C": 36500 * 86400}


def seconds(value, unit):
    """A step as a pair of seconds: in ecCodes' units, or in ours."""
    parts = re.fullmatch(r"(-?\d+)([ms]?)(?:-(-?\d+)([ms]?))?", str(value))
    if not parts:
        return None
    first, letter, second, other = parts.groups()
    return tuple(int(number) * SECONDS[own or unit] for number, own in ((first, letter), (second or first, other if second else letter)))


def differences(theirs, mine):
    own = {"area", "unit", "range", "stepUnits"}
    theirs = dict(theirs)
    units = theirs.get("stepUnits")
    for key in sorted((theirs.keys() | mine.keys()) - own):
        their, found = theirs.get(key), mine.get(key)
        found = None if found is None else str(found)
        if their == keys.UNTOLD or their == found:
            continue
        if key == "date" and re.match("[a-z]{3}", str(their)):
            # Dates without a year are a text or a number there, by how one asks.
            continue
        if key == "levelist" and their == "-1e+100" or key == "stepRange" and theirs["range"] in (121, 122):
            # A missing number, and statistics that it names and has no step for.
            continue
        if key == "levtype" and {their, found} <= {"sfc", "wv", "oml", "al"} | {str(number) for number in range(202, 214)}:
            # It keeps the table of levels of the centre that came before.
            continue
        if key == "param" and their in ("", "0"):
            # A parameter without a name, or without a number.
            continue
        if key in ("param", "paramId") and theirs.get("paramId") is None and mine.get("paramId"):
            # Tables of ECMWF have it for edition 2 alone.
            continue
        if key in ("step", "stepRange") and units in SECONDS and their is not None and seconds(their, units) == seconds(found, "h"):
            continue
        if key in ("step", "stepRange") and (their is None or units not in SECONDS) and (theirs["unit"] in (0, 4, 5, 6, 7, 8, 9, 13, 14, 15, 254) or theirs["unit"] > 14):
            # Units that it has not, or takes for others.
            continue
        if key == "obscutoff" or key == "quantile" and their == "0:0":
            # No definition of edition 1 has the first, and few have the second.
            continue
        if key == "domain" and (their, found) == ("g", None) or key == "domain" and found == "-":
            # The domain of tubes, which it finds for clusters too; and a letter that means none.
            continue
        if key == "domain" and not (found or "").strip() and not str(their).isalnum():
            # A letter that is none.
            continue
        if key in ("levelist", "latitude", "longitude") and None not in (their, found) and float(their) == float(found):
            continue
        if key in ("date", "time", "hdate", "offsettime") and None not in (their, found) and their.lstrip("0") == found.lstrip("0"):
            continue
        if key == "step" and "e+" in str(their):
            continue
        yield key, their, found


def ours(tool, messages):
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram = (str(Path(folder) / name) for name in ("in.grib", "out.tgm"))
        Path(grib).write_bytes(b"".join(messages))
        keys.run(tool, "convert", grib, "-o", tensogram)
        listed = json.loads(keys.run(tool, "dump", "--json", tensogram))["messages"]
    assert len(listed) == len(messages), (len(listed), len(messages))
    bases = [entry["objects"][0]["metadata"] for entry in listed]
    return [{**base["mars"], **{key: base["grib"].get(key) for key in BESIDE}} for base in bases]


def brief(octets):
    return {octet: value[:28].hex() if isinstance(value, bytes) else value for octet, value in octets.items()}


def compare(tool, what, cases):
    cases = [(shown, found) for shown, found in cases if found]
    theirs, kept = [], []
    for shown, found in cases:
        try:
            theirs.append(expected(found))
            kept.append((shown, found))
        except (ec.CodesInternalError, ValueError):
            pass
    wrong = {}
    for (shown, _), their, mine in zip(kept, theirs, ours(tool, [found for _, found in kept])):
        for key, value, found in differences(their, mine):
            wrong.setdefault(key, []).append(f"  {key}: ecCodes says {value}, tgm {found}: {brief(shown)}")
    if wrong:
        print(f"{what}: of {len(kept)} messages, keys differ: { {key: len(found) for key, found in wrong.items()} }")
        print("\n".join(line for found in wrong.values() for line in found[:SHOWN]))
    else:
        print(f"{len(kept)} messages of edition 1 have the keys of ecCodes ({what})")
    return not wrong


CENTRES = [(98, 0)] * 4 + [(7, 0), (7, 2), (34, 0), (34, 241), (46, 0), (54, 0), (74, 0), (78, 255), (80, 0), (80, 98), (82, 0), (84, 0), (85, 0), (86, 0), (88, 0), (94, 0),
                           (96, 98), (214, 0), (233, 0), (74, 98), (7, 98), (85, 98), (34, 98)]


def parameters(cases, seed):
    """Parameters of all tables, of all centres."""
    rng = np.random.default_rng(seed)
    groups = keys.part(0)
    heads = [groups[at:at + 6] for at in range(0, len(groups), 6)]
    # Edition 1, and ECMWF's discipline of edition 2, which has most of its parameters.
    known = [(head[1], head[2]) for head in heads if head[0] in (tables1.PARAMETERS, 192)]
    for _ in range(cases):
        centre, sub_centre = CENTRES[rng.integers(len(CENTRES))]
        table, number = (int(rng.choice([1, 2, 3, 128, 129, 140, 151, 162, 200, 201, 202, 203, 204, 205, 210, 228, 235, 253, 254])), int(rng.integers(256)))
        if rng.random() < 0.7:
            table, number = known[rng.integers(len(known))]
        level = [1, 1, 100, 105, 109, 111, 112, 200, 8, 102, 106][rng.integers(11)]
        value = [b"\0\0", b"\0\2", b"\0\x0a", b"\1\xf4", b"\0\x0a", b"\0\7", b"\0\1"][rng.integers(7)]
        octets = {4: table, 5: centre, 9: number, 10: level, 11: value, 21: int(rng.choice([0, 2, 3, 4, 10, 13, 113])), 19: 1, 20: 3, 26: sub_centre}
        yield octets, message(octets, length=28)


def levels():
    for kind, centre, value in itertools.product(range(256), ((98, 0), (7, 0), (34, 0), (34, 241), (82, 0), (78, 0), (233, 0)), (b"\0\0", b"\0\x0a", b"\x03\xe8", b"\7\xff", b"\xff\xff", b"\x90\1")):
        octets = {5: centre[0], 26: centre[1], 10: kind, 11: value}
        yield octets, message(octets, length=28)


def times():
    for unit, kind, (first, second), centre in itertools.product([0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 254, 255], range(256), ((0, 0), (2, 5), (6, 12), (24, 24), (6, 3)), (98, 7)):
        if kind > 14 and unit not in (1, 11):
            continue
        octets = {5: centre, 18: unit, 19: first, 20: second, 21: kind}
        yield octets, message(octets, length=28)
    for century, year, month, day, hour in itertools.product((19, 20, 21), (0, 1, 99, 100, 255), (1, 2, 12, 0), (0, 1, 29, 31, 255), (0, 12, 24)):
        octets = {13: year, 14: month, 15: day, 16: hour, 17: 30 if hour == 12 else 0, 25: century}
        yield octets, message(octets, length=28)


def stream_pairs():
    heads = keys.part(9)
    pairs = [tuple(int.from_bytes(heads[at + each:at + each + 2], "little") for each in (0, 2)) for at in range(0, len(heads), 8)]
    return [(stream - tables1.STREAMS, kind) for stream, kind in pairs if tables1.STREAMS <= stream < 2 * tables1.STREAMS and kind < 256]


FREQUENT = [(1025, 2), (1025, 9), (1030, 2), (1030, 9), (1033, 10), (1033, 11), (1035, 10), (1035, 11), (1035, 17), (1035, 18), (1035, 30), (1035, 16), (1043, 2), (1043, 9), (1045, 2), (1045, 9),
            (1071, 2), (1071, 9), (1080, 2), (1081, 11), (1081, 10), (1088, 2), (1090, 9), (1220, 9), (1221, 80), (1221, 81), (1224, 80), (1242, 9), (1243, 2), (1243, 9), (1247, 2), (1025, 87), (1025, 40)]
CLASSES = [1, 2, 3, 4, 5, 8, 9, 14, 23, 23, 23, 31, 33, 50, 46]


def local_parts(cases, seed):
    """Definitions of section 1, streams, types, classes and times, with random numbers after them."""
    rng = np.random.default_rng(seed)
    pairs = stream_pairs()
    definitions = [number for number in range(1, 51) if number not in (6, 8, 17, 22, 34, 41, 42, 43, 44, 45, 46, 47, 48)] + [218]
    for _ in range(cases):
        definition = int(rng.choice(definitions)) if rng.random() < 0.6 else int(rng.choice([1, 1, 13, 15, 16, 26, 30, 36]))
        length = LENGTHS.get(definition, 52)
        stream, kind = FREQUENT[rng.integers(len(FREQUENT))] if rng.random() < 0.5 else pairs[rng.integers(len(pairs))]
        centre, sub_centre = [(98, 0), (98, 0), (98, 0), (80, 98), (74, 98), (7, 98), (34, 98), (96, 98)][rng.integers(8)]
        octets = {4: 128, 5: centre, 26: sub_centre, 9: int(rng.choice([167, 130, 228, 151, 229])), 10: int(rng.choice([1, 100, 109, 105, 160])), 11: b"\0\5"}
        octets |= {18: int(rng.choice([1, 1, 2, 11])), 19: int(rng.choice([0, 6, 24, 240])), 20: int(rng.choice([0, 12, 48, 250])), 21: int(rng.choice([0, 0, 1, 2, 3, 4, 10, 113]))}
        octets |= {13: int(rng.choice([1, 20, 100])), 14: int(rng.integers(1, 13)), 15: int(rng.choice([1, 15, 28])), 16: int(rng.choice([0, 12, 18])), 17: 0, 25: int(rng.choice([20, 21]))}
        octets |= {41: definition, 42: int(rng.choice(CLASSES)), 43: kind, 44: stream.to_bytes(2, "big"), 46: [b"0001", b"0005", b"hl0b", b"0078"][rng.integers(4)]}
        tail = bytearray(rng.integers(0, 256 if rng.random() < 0.3 else 12, length - 49, dtype=np.uint8).tobytes())
        if definition == 13:
            tail[4:6] = bytes([3, 2])
            tail[14] = int(rng.integers(5))
            length, tail = 120, tail + bytes(20)
        # How many items follow.
        for at, number in COUNTS.get(definition, {}).items():
            tail[at - 50] = number
        if definition in (12, 16, 23):
            month = int(rng.choice([202001, 202012, 201906]))
            tail[6:10], tail[11:13] = month.to_bytes(4, "big"), bytes([0, 0 if definition == 16 else int(rng.integers(0, 7))])
        if definition == 12:
            tail[15:19], tail[19:21] = (20200101).to_bytes(4, "big"), (1200).to_bytes(2, "big")
        if definition == 11:
            tail[8:11], tail[13] = bytes([20, 3, 31]), 21
            tail[11:13] = bytes([6, 30])
        if definition == 2 and rng.random() < 0.5:
            tail[8:20] = b"".join((number).to_bytes(3, "big") for number in (75000, 340000, 30000, 45000))
        if definition in (26, 23, 30, 27):
            at = {26: 2, 23: 13, 30: 13, 27: 13}[definition]
            tail[at:at + 4] = (20230604).to_bytes(4, "big")
        octets[50] = bytes(tail)
        base = SAMPLES[rng.integers(3)] if rng.random() < 0.3 else SAMPLES[0]
        yield {**octets, "base": base}, message(octets, length=length, base=base)


def others(cases, seed):
    """Local parts of other centres, and none."""
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        centre, sub_centre = [(34, 0), (214, 0), (82, 98), (82, 0), (7, 0), (54, 0), (46, 0), (78, 0), (85, 0), (34, 241), (254, 0)][rng.integers(11)]
        octets = {4: int(rng.choice([1, 2, 128, 200])), 5: centre, 26: sub_centre, 9: int(rng.choice([11, 33, 61, 7, 167])), 10: int(rng.choice([1, 100, 105, 101, 211])), 11: b"\0\2",
                  41: {82: int(rng.choice([82, 83]))}.get(centre, 1), 42: int(rng.choice([1, 2, 80, 81])), 43: int(rng.choice([2, 9, 21])), 44: int(rng.choice([1025, 1043, 1071, 8200])).to_bytes(2, "big"), 46: b"0001",
                  50: rng.integers(0, 50, 30, dtype=np.uint8).tobytes()}
        yield octets, message(octets, length=80 if centre == 82 else 60)


def waves():
    """Areas of waves, by bounds, Gaussian grids and processes."""
    for (la1, lo1, la2, lo2), process in itertools.product([(81000, 0, -81000, 358500), (90000, 0, -90000, 359500), (66000, -6000, 30000, 42000), (66000, 354000, 30000, 42000), (81000, 0, 0, 359500), (50000, 0, 40000, 9000)],
                                                         (104, 204, 1)):
        three = lambda number: (abs(number) | (0x800000 if number < 0 else 0)).to_bytes(3, "big")
        octets = {6: process, 41: 13, 42: 1, 43: 2, 44: (1045).to_bytes(2, "big"), 46: b"0001"}
        yield {**octets, "area": (la1, lo1, la2, lo2)}, message(octets, length=100, grid={11: three(la1), 14: three(lo1), 18: three(la2), 21: three(lo2)})
    for base, east in itertools.product(SAMPLES[1:3], (None, 10000)):
        octets = {6: 1, 41: 1, 42: 23, 43: 2, 44: (1045).to_bytes(2, "big"), 46: b"0001"}
        yield {**octets, "base": base, "east": east}, message(octets, base=base, grid={} if east is None else {21: east.to_bytes(3, "big")})


def write_samples(folder):
    """Messages whose keys are the same here and there, with all definitions, levels, time ranges and centres in turn."""
    cases = [*parameters(60, 1), *itertools.islice(levels(), 0, None, 61), *itertools.islice(times(), 0, None, 60), *local_parts(260, 1), *others(40, 1), *waves()]
    messages, found = [], []
    for _, case in cases:
        try:
            keys_of = expected(case)
        except (ec.CodesInternalError, ValueError):
            continue
        # Tables of levels stay from one centre to the next there.
        if case[12] != 98 and case[17] > 201:
            continue
        plain = keys_of["stepUnits"] == "h" and keys_of["range"] not in (121, 122) and keys_of.get("param") not in (None, "", "0") and len(case) < 500
        known = {key: value for key, value in keys_of.items() if value is not None and key not in ("unit", "range", "stepUnits")}
        odd = keys.UNTOLD in known.values() or re.match("[a-z]{3}", known.get("date", "")) or "obscutoff" in known or "0:0" in known.values() or not all(value.isascii() and value.isprintable() and value.strip() for value in known.values())
        if plain and not odd and "-1e+100" not in known.values():
            messages.append(case)
            found.append(known)
    (folder / "keys.grib1").write_bytes(b"".join(messages))
    (folder / "keys-1.json").write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    print(len(messages), "messages")


SHOWN = 4

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--samples":
        write_samples(Path(sys.argv[2]))
        sys.exit()
    tool, count, seed = sys.argv[1], int((sys.argv + [400])[2]) if len(sys.argv) > 2 else 400, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rounds = {"parameters": lambda: parameters(2 * count, seed), "levels": levels, "times": times, "local parts": lambda: local_parts(2 * count, seed),
              "other centres": lambda: others(count, seed), "areas of waves": waves}
    if not all([compare(tool, what, cases()) for what, cases in rounds.items()]):
        sys.exit("keys differ")
