#!/usr/bin/env python3
"""Compares the metadata that `tgm convert` takes from GRIB with the keys of ecCodes, namespace `mars` above all.

Usage:
  keys.py TGM [CASES [SEED]]
  keys.py --samples FOLDER     writes keys.grib2 and keys.json of ../../data-grib

Five rounds: all parameters that the tables of ECMWF and the WMO have, by old and new definitions; levels; steps; and CASES
messages of random templates, centres, tables, surfaces and times; and as many of random streams, types and sections 2. ecCodes is here for comparison alone.
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
# Data sets of several centres label themselves otherwise: only these keys of theirs are compared.
COMMON_KEYS = ["date", "time", "step", "timespan", "levtype", "levelist", "direction", "frequency", "class", "type", "stream", "expver"]
LABELS = ["class", "type", "stream", "expver"]
# What is left out: the domain of waves and clusters, grids, cycles and inputs of models of soil and rivers, numbers of edition 1.
NOT_SAID = {"domain": {"unknown"}, "configuration": None, "grid": None, "forcing": None, "fcperiod": None, "quantile": {"0:0"}}
UNTOLD = "unavailable"
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
        found = dict.fromkeys(COMMON_KEYS)
        iterator = ec.codes_keys_iterator_new(handle, "mars")
        while ec.codes_keys_iterator_next(iterator):
            key = ec.codes_keys_iterator_get_name(iterator)
            # What it can not give is made of keys of another template, or of edition 1.
            value = text(handle, f"mars.{key}")
            found[key] = UNTOLD if value is None else value
        ec.codes_keys_iterator_delete(iterator)
        is_labelled = ec.codes_get_long(handle, "productionStatusOfProcessedData") not in range(4, 18) and found["class"]
        if not is_labelled:
            found = {key: found[key] for key in COMMON_KEYS}
            found.update(dict.fromkeys(LABELS))
        name, number = text(handle, "shortName"), int(text(handle, "paramId") or 0)
        found["param"] = None if name in (None, "unknown") else str(number) if name == "~" else name
        found["paramId"] = str(number) if number else None
        pairs = [(number, number) for number in (114, 151, 152, 168)]
        kinds = tuple(ec.codes_get_long(handle, f"typeOf{which}FixedSurface") if text(handle, "typeOfFirstFixedSurface") else 0
                      for which in ("First", "Second"))
        surfaces = [f"{part}{'Second' if kinds in pairs else 'First'}FixedSurface" for part in ("scaleFactorOf", "scaledValueOf")]
        if any(text(handle, key) is None or ec.codes_is_missing(handle, key) for key in surfaces):
            found["levelist"] = None
        elif found["levelist"] not in (None, UNTOLD):
            found["levelist"] = level(handle, "mars.levelist")
        found["typeOfLevel"] = (text(handle, "typeOfLevel") or "unknown").replace("isobaricInPa", "isobaricInhPa")
        for key in ("levtype", "typeOfLevel", "timespan"):
            found[key] = None if found.get(key) == "unknown" else found.get(key)
        for key in [key for key, value in found.items() if value == UNTOLD]:
            del found[key]
        # The start of a forecast has the unit of its time range there: 0m, 0D or 0x6h.
        if found.get("step") and re.fullmatch(r"0(m|s|D|M|Y|x?\d+[hm])", found["step"]):
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
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram = (str(Path(folder) / name) for name in ("in.grib2", "out.tgm"))
        Path(grib).write_bytes(b"".join(messages))
        run(tgm, "convert", grib, "-o", tensogram)
        listed = json.loads(run(tgm, "dump", "--json", tensogram))["messages"]
    assert len(listed) == len(messages), (len(listed), len(messages))
    found = []
    for entry in listed:
        base = entry["objects"][0]["metadata"]
        grib = {key: base["grib"].get(key) for key in ("paramId", "typeOfLevel", "stepRange")}
        found.append({**base["mars"], **grib})
    return found


def differences(theirs, found):
    # Beside them are the area, and the number of a member that no stream is known for.
    more = {} if theirs.get("class") is None else {key: None for key in found if key not in theirs and key not in ("area", "stepRange")}
    for key, value in {**theirs, **more}.items():
        mine = found.get(key)
        if key in NOT_SAID and (NOT_SAID[key] is None or value in NOT_SAID[key]):
            continue
        mine = None if mine in ("-", None) else mine
        if key == "levelist" and value is not None and mine is not None:
            # ecCodes computes levels by way of a power of ten.
            if abs(float(mine) - value) <= 1e-12 * abs(value):
                continue
        elif key in ("date", "time", "obscutoff", "offsettime") and None not in (mine, value) and str(mine).lstrip("0") == value.lstrip("0"):
            # Times have no zeros in front here.
            continue
        elif key == "date" and str(value).startswith("-") or key == "anoffset" and "e+" in str(value):
            # A date that cannot be made of keys of edition 1, and more hours than ecCodes writes digits.
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


def archive_pairs():
    """Streams and types that the tables have rules for, as numbers."""
    data = TABLES.read_bytes()
    lengths = [int.from_bytes(data[4 * part:4 * part + 4], "little") for part in range(11)]
    start = 44 + sum(lengths[:9])
    heads = data[start:start + lengths[9]]
    pairs = [tuple(int.from_bytes(heads[at + part:at + part + 2], "little") for part in (0, 2)) for at in range(0, len(heads), 8)]
    # ecCodes cannot read type 16, probabilities, by its rules for edition 2. Left out are dates in words (1076), and a stream of
    # models of rivers (1256).
    return [pair for pair in pairs if pair[0] < 60000 and pair[0] not in (1076, 1256) and pair[1] != 16]


LOCAL_DEFINITIONS = [1] * 6 + [5, 7, 9, 11, 12, 14, 15, 15, 16, 18, 20, 21, 24, 25, 26, 28, 30, 36, 37, 38, 39, 41, 42, 43, 44, 45, 46]
# Numbers of section 2 and of templates, with values that they can have.
LOCAL_NUMBERS = {
    "systemNumber": 500, "methodNumber": 60, "channelNumber": 3000, "iterationNumber": 9, "totalNumberOfIterations": 9,
    "componentIndex": 30, "forecastOrSingularVectorNumber": 60, "offsetToEndOf4DvarWindow": 24, "lengthOf4DvarWindow": 24,
    "fourierCoefficientIndex": 20, "diagnosticNumber": 5, "sensitiveAreaDomain": 5, "optimisationTime": 48, "forecastLeadTime": 48,
    "legNumber": 3, "monthOfAnalysis": 12, "dayOfAnalysis": 28, "hourOfAnalysis": 23, "activity": 4, "experiment": 5, "generation": 3,
    "model": 4, "realization": 5, "resolution": 3, "lcwfvSuiteName": 8, "typeOfPostProcessing": 12, "inputOriginatingCentre": 99,
    "offsetToStartOfForecastFillupInHours": 48, "monthOfForecast": 12, "dayOfForecast": 28, "hourOfForecast": 23,
    "yearOfForecast": 2030, "yearOfModelVersion": 2030, "monthOfModelVersion": 12, "dayOfModelVersion": 28,
    "YearOfModelVersion": 2030, "MonthOfModelVersion": 12, "DayOfModelVersion": 28, "HourOfModelVersion": 23,
    "quantileValue": 9, "totalNumberOfQuantiles": 100, "percentileValue": 99, "clusterIdentifier": 6, "forecastProbabilityNumber": 9,
    "perturbationNumber": 50, "numberOfForecastsInEnsemble": 51, "satelliteNumber": 300, "instrumentType": 600,
    "waveDirectionNumber": 36, "waveFrequencyNumber": 30, "hoursAfterDataCutoff": 30, "minutesAfterDataCutoff": 59,
    "backgroundProcess": 12, "scaleFactorOfLowerLimit": 1, "scaledValueOfLowerLimit": 90, "scaledValueOfUpperLimit": 90,
}
LOCAL_CLASSES = ["od", "rd", "ea", "e5", "er", "me", "en", "c3", "ci", "ai", "ef", "lw", "mc", "cr", "ti", "em", "e2", "ep", "s2", "d1"]


def archive_case(rng):
    """Keys in the order in which they are set."""
    choose = lambda options: options[int(rng.integers(len(options)))]
    stream, kind = choose(archive_pairs())
    template = choose([0, 1, 1, 2, 3, 5, 6, 8, 10, 11, 11, 12, 15, 32, 40, 48, 55, 60, 61, 61, 63, 68, 73, 78, 85, 89, 90, 91, 99, 100, 103,
                       104, 112, 113, 114, 119, 127, 142, 143])
    yield "centre", choose([98, 98, 98, 98, 80, 7])
    yield "subCentre", choose([0, 98, 102])
    yield "tablesVersion", choose([4, 28, 33, 34, 36])
    yield "productDefinitionTemplateNumber", template
    yield "setLocalDefinition", 1
    yield "marsClass", choose(LOCAL_CLASSES)
    yield "marsStream", stream
    yield "marsType", kind
    yield "grib2LocalSectionNumber", choose(LOCAL_DEFINITIONS)
    yield "productDefinitionTemplateNumber", template
    yield "dataDate", choose([20240131, 20240201, 20240115, 20231231])
    yield "dataTime", choose([0, 0, 1200, 1830])
    yield "forecastTime", choose([0, 6, 24, 744, 1000])
    yield "indicatorOfUnitForTimeRange", 1
    yield "lengthOfTimeRange", choose([0, 6, 24, 720, 744])
    yield "typeOfStatisticalProcessing", choose([0, 1, 2, 3, 6])
    yield "typeOfFirstFixedSurface", choose([1, 100, 103, 160, 168, 191])
    yield "typeOfWavelengthInterval", choose([0, 1, 2, 11])
    scale = choose([8, 9])
    for name in ("First", "Second"):
        yield f"scaleFactorOf{name}Wavelength", scale
        yield f"scaledValueOf{name}Wavelength", int(rng.integers(300, 900))
    yield "referenceDate", choose([20200101, 20240229])
    yield "yearOfAnalysis", 2024
    for key, most in LOCAL_NUMBERS.items():
        yield key, int(rng.integers(most + 1))


def archive_messages(cases, seed):
    """Random streams, types, classes and definitions of section 2."""
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        handle, keys = ec.codes_grib_new_from_samples(SAMPLE), {}
        try:
            ec.codes_set(handle, "bitsPerValue", 0)
            for key, value in archive_case(rng):
                # The name of the model is a number in one definition alone.
                if not ec.codes_is_defined(handle, key) or key == "model" and keys.get("grib2LocalSectionNumber") != 43:
                    continue
                try:
                    ec.codes_set(handle, key, value)
                    keys[key] = value
                except ec.CodesInternalError:
                    pass
            # What it could not set in order has sections that it does not read back.
            if {"marsType", "marsStream", "grib2LocalSectionNumber"} <= keys.keys():
                yield keys, ec.codes_get_message(handle)
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
        label = lambda kind, stream, template, name="od": {**new, "setLocalDefinition": 1, "marsClass": name, "marsType": kind,
                                                           "marsStream": stream, "productDefinitionTemplateNumber": template}
        yield {**label("pf", "enfh", 60), "perturbationNumber": 3, "YearOfModelVersion": 2023, "MonthOfModelVersion": 6,
               "DayOfModelVersion": 30}
        yield {**label("pb", "enfo", 86), "quantileValue": 3, "totalNumberOfQuantiles": 10}
        yield {**label("ssd", "oper", 32), "grib2LocalSectionNumber": 24, "channelNumber": 5}
        yield {**label("fc", "mmsf", 1, "c3"), "grib2LocalSectionNumber": 15, "systemNumber": 5, "methodNumber": 1,
               "perturbationNumber": 7}
        yield {**label("fcmean", "msmm", 11), "grib2LocalSectionNumber": 16, "systemNumber": 5, "methodNumber": 1, "forecastTime": 744}
        yield {**label("an", "lwda", 0), "grib2LocalSectionNumber": 36, "offsetToEndOf4DvarWindow": 9, "lengthOf4DvarWindow": 12}
        yield {**label("fc", "oper", 0, "ai"), "backgroundProcess": 1}
        yield {**label("fc", "oper", 48, "mc"), "constituentType": 62001, "typeOfWavelengthInterval": 11,
               "scaleFactorOfFirstWavelength": 9, "scaledValueOfFirstWavelength": 550}
        for template in (3, 4, 9, 10, 11, 12, 99):
            yield {**new, "productDefinitionTemplateNumber": template}
        yield {**new, "centre": 7, "parameterCategory": 3, "parameterNumber": 192, "typeOfFirstFixedSurface": 101}
        yield {**new, "discipline": 192, "parameterCategory": 216, "parameterNumber": 71}


def write_samples(folder):
    messages = [made(keys) for keys in sample_list()]
    assert all(messages), [keys for keys, message in zip(sample_list(), messages) if not message]
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
    rounds = {"levels": surfaces, "steps": steps,  "random templates": lambda: random_messages(count, seed),
              "random streams": lambda: archive_messages(2 * count, seed), "parameters": lambda: parameters(count, seed)}
    if not all([compare(tool, what, cases()) for what, cases in rounds.items()]):
        sys.exit("keys differ")
