#!/usr/bin/env python3
"""Compares the metadata that `tgm convert` takes from GRIB with the keys of ecCodes, namespace `mars` above all.

Usage:
  keys.py TGM [CASES [SEED]]
  keys.py --samples FOLDER     writes keys.grib2 and keys.json of ../../data-grib

Four rounds: all parameters that the tables of ECMWF and the WMO have, by old and new definitions; levels; steps; and CASES
messages of random templates, centres, tables, surfaces and times. ecCodes is here for comparison alone.
"""
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import eccodes as ec
import numpy as np

TABLES = Path(__file__).resolve().parents[3] / "std-ext/convert/src/grib2/tables.bin"
SAMPLE = "regular_ll_pl_grib2"
# What both have. ecCodes has more for some streams, and data sets of several centres label themselves otherwise.
KEYS = ["class", "type", "stream", "expver", "date", "time", "step", "timespan", "levtype", "levelist", "direction", "frequency"]
END = [f"{part}OfEndOfOverallTimeInterval" for part in ("year", "month", "day", "hour", "minute", "second")]


def made(keys, missing=()):
    """The bytes of a message with these keys, or None if ecCodes cannot make it."""
    handle = ec.codes_grib_new_from_samples(SAMPLE)
    try:
        ec.codes_set(handle, "bitsPerValue", 0)
        for key, value in keys.items():
            if isinstance(value, (list, tuple)):
                ec.codes_set_array(handle, key, list(value))
            else:
                ec.codes_set(handle, key, value)
        for key in missing:
            ec.codes_set_missing(handle, key)
        return ec.codes_get_message(handle)
    except ec.CodesInternalError:
        return None
    finally:
        ec.codes_release(handle)


def text(handle, key):
    try:
        return ec.codes_get_string(handle, key)
    except ec.CodesInternalError:
        return None


def level(handle, key):
    """A level, of which ecCodes gives some as text that is rounded."""
    if text(handle, key) is None:
        return None
    pascal = handle_number(handle, "typeOfFirstFixedSurface", 100)
    if pascal and not ec.codes_is_missing(handle, "scaledValueOfFirstFixedSurface"):
        scale, value = (ec.codes_get_long(handle, f"scale{part}OfFirstFixedSurface") for part in ("Factor", "dValue"))
        return value / 100 / 10.0 ** scale
    return ec.codes_get_double(handle, key)


def handle_number(handle, key, number):
    try:
        return ec.codes_get_long(handle, key) == number
    except ec.CodesInternalError:
        return False


def expected(message):
    """What ecCodes says of a message. None where it has nothing to say."""
    handle = ec.codes_new_from_message(message)
    try:
        found = {key: text(handle, f"mars.{key}") for key in KEYS}
        for key in ("class", "type", "stream", "expver"):
            found[key] = found[key] if text(handle, "mars.class") else None
        name, number = text(handle, "shortName"), int(text(handle, "paramId") or 0)
        found["param"] = None if name in (None, "unknown") else str(number) if name == "~" else name
        found["paramId"] = str(number) if number else None
        pairs = [(number, number) for number in (114, 151, 152, 168)]
        kinds = tuple(ec.codes_get_long(handle, f"typeOf{which}FixedSurface") if text(handle, "typeOfFirstFixedSurface") else 0
                      for which in ("First", "Second"))
        surfaces = [f"{part}{'Second' if kinds in pairs else 'First'}FixedSurface" for part in ("scaleFactorOf", "scaledValueOf")]
        if any(text(handle, key) is None or ec.codes_is_missing(handle, key) for key in surfaces):
            found["levelist"] = None
        elif found["levelist"] is not None:
            found["levelist"] = level(handle, "mars.levelist")
        found["typeOfLevel"] = (text(handle, "typeOfLevel") or "unknown").replace("isobaricInPa", "isobaricInhPa")
        for key in ("levtype", "typeOfLevel", "timespan"):
            found[key] = None if found[key] == "unknown" else found[key]
        if found["step"] == "unavailable":
            del found["step"]
        # The start of a forecast has the unit of its time range there: 0m, 0D or 0x6h.
        elif found["step"] and re.fullmatch(r"0(m|s|D|M|Y|x?\d+[hm])", found["step"]):
            found["step"] = "0"
        return found
    finally:
        ec.codes_release(handle)


def run(tgm, *arguments):
    done = subprocess.run([tgm, *arguments], capture_output=True)
    if done.returncode:
        sys.exit(f"tgm {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout


def ours(tgm, messages):
    keys = [*(f"mars.{key}" for key in [*KEYS, "param"]), "grib.paramId", "grib.typeOfLevel", "grib.stepRange"]
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram = (str(Path(folder) / name) for name in ("in.grib2", "out.tgm"))
        Path(grib).write_bytes(b"".join(messages))
        run(tgm, "convert", grib, "-o", tensogram)
        listed = json.loads(run(tgm, "ls", "--json", "-p", ",".join(keys), tensogram))["messages"]
    assert len(listed) == len(messages), (len(listed), len(messages))
    return [{key.split(".")[1]: value for key, value in entry["values"].items()} for entry in listed]


def differences(theirs, found):
    for key, value in theirs.items():
        mine = found.get(key)
        mine = None if mine in ("-", None) else mine
        if key == "levelist" and value is not None and mine is not None:
            # ecCodes computes levels by way of a power of ten.
            if abs(float(mine) - value) <= 1e-12 * abs(value):
                continue
        elif key in ("date", "time") and mine is not None and int(mine) == int(value):
            continue
        elif key == "step" and re.fullmatch(r"-?[\d.]+e\+\d+[ms]?|None", str(value)):
            # ecCodes writes six digits of long steps, and has no step for template 4.56.
            continue
        elif key == "step" and "-" in value[1:] and value == found.get("stepRange"):
            # Some streams have a range for a step.
            continue
        elif mine is None and value is None or mine is not None and str(mine) == value:
            continue
        yield key, value, mine


def compare(tgm, what, cases):
    """Compares messages with what ecCodes says of them, and says whether all agree. `cases` are pairs of keys to show and bytes."""
    cases = [(keys, message) for keys, message in cases if message]
    theirs, kept = [], []
    for keys, message in cases:
        try:
            theirs.append(expected(message))
            kept.append((keys, message))
        except (ec.CodesInternalError, ValueError):
            pass
    wrong = {}
    for (keys, _), their, mine in zip(kept, theirs, ours(tgm, [message for _, message in kept])):
        for key, value, found in differences(their, mine):
            wrong.setdefault(key, []).append(f"  {key}: ecCodes says {value}, tgm {found}: {keys}")
    if wrong:
        lines = [line for found in wrong.values() for line in found[:12]]
        counts = {key: len(found) for key, found in wrong.items()}
        print(f"{what}: of {len(kept)} messages, keys differ: {counts}\n" + "\n".join(lines))
    else:
        print(f"{len(kept)} messages have the keys of ecCodes ({what})")
    return not wrong


def numbers():
    """Numbers of all parameters in the tables."""
    data = TABLES.read_bytes()
    lengths = [int.from_bytes(data[4 * part:4 * part + 4], "little") for part in range(9)]
    start = 36 + sum(lengths[:2])
    values = data[start:start + lengths[2]]
    return sorted({int.from_bytes(values[at + 3:at + 7], "little") for at in range(0, len(values), 7)} - {0})


def parameters(cases, seed):
    """All parameters of the tables if there are many cases, and as many of them as that otherwise."""
    every = list(itertools.product(numbers(), (33, 36)))
    chosen = np.random.default_rng(seed).permutation(len(every))[:cases * 10]
    for number, tables in (every[at] for at in chosen):
        keys = {"tablesVersion": tables, "paramId": number}
        yield keys, made(keys)


def surfaces():
    kinds = [*range(1, 21), 28, 29, 36, 37, *range(100, 120), *range(150, 193), 200, 254]
    for kind, tables, (scale, value) in itertools.product(kinds, (4, 36), [(0, 2), (0, 100), (1, 15), (2, 7), (0, 50000), (9, 2000), (None, None)]):
        keys = {"tablesVersion": tables, "typeOfFirstFixedSurface": kind}
        absent = ["scaleFactorOfFirstFixedSurface", "scaledValueOfFirstFixedSurface"]
        if scale is not None:
            keys |= dict(zip(absent, (scale, value)))
        yield keys, made(keys, absent if scale is None else ())
    pairs = [(1, 8), (100, 100), (103, 103), (105, 105), (106, 106), (114, 114), (151, 151), (152, 152), (160, 160), (168, 168), (174, 176)]
    for (first, second), tables, values in itertools.product(pairs, (4, 36), [(0, 1), (3, 4), (50000, 30000)]):
        keys = {"tablesVersion": tables, "typeOfFirstFixedSurface": first, "scaleFactorOfFirstFixedSurface": 0,
                "scaledValueOfFirstFixedSurface": values[0], "typeOfSecondFixedSurface": second,
                "scaleFactorOfSecondFixedSurface": 0, "scaledValueOfSecondFixedSurface": values[1]}
        yield keys, made(keys)


def steps():
    for unit, time in itertools.product([0, 1, 2, 3, 4, 10, 11, 12, 13], [0, 1, 5, 30, 60, 90, 120, 3600, 5400, -6]):
        keys = {"indicatorOfUnitOfTimeRange": unit, "forecastTime": time}
        yield keys, made(keys)
        for unit_of_range, length, increment in itertools.product([0, 1, 2, 11, 13], [0, 6, 24, 90, 3600], [2]):
            statistic = {"productDefinitionTemplateNumber": 8, **keys, "typeOfStatisticalProcessing": 1,
                         "indicatorOfUnitForTimeRange": unit_of_range, "lengthOfTimeRange": length,
                         "typeOfTimeIncrement": increment}
            yield statistic, made(statistic)
    for kinds, lengths, increments in itertools.product([[0, 1], [2, 0], [1, 1]], [[24, 6], [3, 6]], [[1, 2], [2, 2], [2, 1]]):
        keys = {"productDefinitionTemplateNumber": 8, "numberOfTimeRanges": 2, "typeOfStatisticalProcessing": kinds,
                "indicatorOfUnitForTimeRange": [1, 1], "lengthOfTimeRange": lengths, "typeOfTimeIncrement": increments}
        yield keys, made(keys)


# Templates, without the ones of local times, radars and satellites.
TEMPLATES = [*range(0, 16), *range(40, 52), 53, 54, *range(55, 64), *range(67, 69), *range(70, 74), *range(76, 88), 89, 90, 91,
             *range(99, 113), *range(119, 130), *range(137, 146), *range(152, 203)]
CENTRES = [(98, 0)] * 6 + [(7, 0), (78, 255), (80, 0), (85, 0), (74, 0), (34, 0), (54, 0), (7, 98)]
COMMON = [(0, 0, 0), (0, 0, 4), (0, 1, 52), (0, 1, 8), (0, 2, 2), (0, 2, 22), (0, 3, 0), (0, 3, 5), (0, 4, 7), (0, 6, 1), (2, 0, 22),
          (10, 0, 3), (10, 3, 0), (0, 20, 2), (0, 20, 0), (192, 128, 130), (0, 5, 3), (0, 7, 6), (0, 3, 192), (0, 1, 192)]
LABELS = [("od", "an", "oper"), ("od", "fc", "oper"), ("od", "pf", "enfo"), ("rd", "fc", "oper"), ("ea", "an", "oper"),
          ("mc", "fc", "oper"), ("ai", "fc", "oper"), ("od", "an", "wave"), ("od", "cf", "enfo")]


def random_case(rng):
    choose = lambda options: options[int(rng.integers(len(options)))]
    centre, sub_centre = choose(CENTRES)
    keys = {"centre": centre, "subCentre": sub_centre, "tablesVersion": int(choose([2, 4, 15, 28, 33, 34, 35, 36])),
            "productDefinitionTemplateNumber": choose(TEMPLATES)}
    discipline, category, number = choose(COMMON)
    if rng.random() < 0.4:
        discipline, category, number = choose([0, 2, 3, 10]), int(rng.integers(0, 21)), int(rng.integers(0, 60))
    keys |= {"discipline": discipline, "parameterCategory": category, "parameterNumber": number}
    if centre == 98 and rng.random() < 0.4:
        label, kind, stream = choose(LABELS)
        keys |= {"setLocalDefinition": 1, "class": label, "type": kind, "stream": stream, "expver": choose(["0001", "hl0b"])}
    fixed = {"typeOfFirstFixedSurface": choose([1, 1, 8, 100, 100, 101, 103, 103, 105, 106, 107, 109, 151, 160])}
    value = {100: 50000, 103: choose([0, 2, 10, 80, 100]), 109: 2000}.get(fixed["typeOfFirstFixedSurface"], choose([1, 3, 7]))
    if fixed["typeOfFirstFixedSurface"] not in (1, 8, 101):
        fixed |= {"scaleFactorOfFirstFixedSurface": 9 if fixed["typeOfFirstFixedSurface"] == 109 else 0, "scaledValueOfFirstFixedSurface": value}
    optional = {**fixed, "indicatorOfUnitOfTimeRange": choose([0, 1, 1, 1, 13]), "forecastTime": choose([0, 6, 90, 3600]),
                "typeOfStatisticalProcessing": choose([0, 1, 2, 3, 6, 255]), "indicatorOfUnitForTimeRange": choose([0, 1, 2]),
                "lengthOfTimeRange": choose([1, 3, 6, 24]), "constituentType": choose([0, 1, 4, 40008, 62001, 62000]),
                "perturbationNumber": int(rng.integers(0, 50))}
    return keys, optional


def random_messages(cases, seed):
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        keys, optional = random_case(rng)
        handle = ec.codes_grib_new_from_samples(SAMPLE)
        try:
            ec.codes_set(handle, "bitsPerValue", 0)
            for key, value in keys.items():
                ec.codes_set(handle, key, value)
            for key, value in optional.items():
                try:
                    ec.codes_set(handle, key, value)
                except ec.CodesInternalError:
                    pass
            yield {**keys, **optional}, ec.codes_get_message(handle)
        except ec.CodesInternalError:
            pass
        finally:
            ec.codes_release(handle)


def sample_list():
    height = lambda metres: {"typeOfFirstFixedSurface": 103, "scaleFactorOfFirstFixedSurface": 0, "scaledValueOfFirstFixedSurface": metres}
    statistic = lambda kind, hours, **keys: {"productDefinitionTemplateNumber": 8, **keys, "typeOfStatisticalProcessing": kind,
                                             "indicatorOfUnitForTimeRange": 1, "lengthOfTimeRange": hours}
    rain = {"parameterCategory": 1, "parameterNumber": 52, "typeOfFirstFixedSurface": 1}
    layer = lambda kind, first, second: {"typeOfFirstFixedSurface": kind, "scaleFactorOfFirstFixedSurface": 0, "scaledValueOfFirstFixedSurface": first,
                                         "typeOfSecondFixedSurface": kind, "scaleFactorOfSecondFixedSurface": 0, "scaledValueOfSecondFixedSurface": second}
    level = lambda kind, scale, value: {"typeOfFirstFixedSurface": kind, "scaleFactorOfFirstFixedSurface": scale, "scaledValueOfFirstFixedSurface": value}
    for tables in (4, 36):
        new = {"tablesVersion": tables}
        yield {**new, **statistic(1, 24), **rain}
        yield {**new, **statistic(1, 6, forecastTime=6), **rain}
        yield {**new, **statistic(2, 6), "parameterCategory": 0, "parameterNumber": 0, **height(2)}
        yield {**new, **statistic(2, 1), "parameterCategory": 2, "parameterNumber": 22, **height(10)}
        for metres in (10, 80, 100):
            yield {**new, "parameterCategory": 2, "parameterNumber": 2, **height(metres)}
        yield {**new, "indicatorOfUnitOfTimeRange": 0, "forecastTime": 90}
        yield {**new, "indicatorOfUnitOfTimeRange": 0, "forecastTime": 120}
        yield {**new, "indicatorOfUnitOfTimeRange": 13, "forecastTime": 3600}
        yield {**new, **level(100, 0, 50)}
        yield {**new, **level(109, 9, 2000), "parameterCategory": 3, "parameterNumber": 0}
        yield {**new, "discipline": 2, "parameterCategory": 3, "parameterNumber": 18, **layer(151, 0, 1)}
        yield {**new, "discipline": 10, "parameterCategory": 4, "parameterNumber": 18, **level(160, 0, 5)}
        yield {**new, "setLocalDefinition": 1, "class": "od", "type": "pf", "stream": "enfo", "expver": "hl0b"}
        yield {**new, "productDefinitionTemplateNumber": 40, "parameterCategory": 20, "parameterNumber": 2, "constituentType": 4}
        yield {**new, "productDefinitionTemplateNumber": 48, "parameterCategory": 20, "parameterNumber": 102, "constituentType": 62000}
        for template in (3, 4, 9, 10, 11, 12, 99):
            yield {**new, "productDefinitionTemplateNumber": template}
        yield {**new, "centre": 7, "parameterCategory": 3, "parameterNumber": 192, "typeOfFirstFixedSurface": 101}
        yield {**new, "discipline": 192, "parameterCategory": 216, "parameterNumber": 71}


def write_samples(folder):
    messages = [made(keys) for keys in sample_list()]
    assert all(messages)
    (folder / "keys.grib2").write_bytes(b"".join(messages))
    found = [{key: value for key, value in expected(message).items() if value is not None} for message in messages]
    (folder / "keys.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--samples":
        write_samples(Path(sys.argv[2]))
        sys.exit()
    tool, count, seed = sys.argv[1], int((sys.argv + [400])[2]) if len(sys.argv) > 2 else 400, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rounds = {"levels": surfaces, "steps": steps,  "random templates": lambda: random_messages(count, seed), "parameters": lambda: parameters(count, seed)}
    if not all([compare(tool, what, cases()) for what, cases in rounds.items()]):
        sys.exit("keys differ")
