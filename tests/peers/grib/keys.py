#!/usr/bin/env python3
"""Compares the metadata that `tgm convert` takes from GRIB with the keys of ecCodes, namespace `mars` above all.

Usage:
  keys.py TGM [CASES [SEED]]
  keys.py --samples FOLDER     writes keys.grib2 and keys.json of ../../data-grib

Seven rounds: all parameters that the tables of ECMWF and the WMO have, by old and new definitions; levels; steps; CASES messages of
random templates, centres, tables, surfaces and times; twice as many of random streams, types and sections 2; as many of data sets of
several centres, as TIGGE and S2S; and the samples of ecCodes. ecCodes is here for comparison alone.
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
# Fields without labels have an area, and numbers of members, beside these keys.
COMMON_KEYS = ["date", "time", "step", "timespan", "levtype", "levelist", "direction", "frequency", "class", "type", "stream", "expver"]
# Samples of ecCodes.
SAMPLES = ["GRIB2", "gg_sfc_grib2", "destine_grib2", "ccsds_grib2", "reduced_ll_sfc_grib2", "reduced_gg_sfc_jpeg_grib2",
           "reduced_rotated_gg_sfc_jpeg_grib2", "rotated_ll_pl_grib2", "rotated_ll_sfc_grib2", "regular_ll_pl_grib2", "regular_ll_sfc_grib2",
           "polar_stereographic_pl_grib2", "polar_stereographic_sfc_grib2",
           *(f"{grid}_{level}_grib2" for grid in ("regular_gg", "reduced_gg", "reduced_rotated_gg", "rotated_gg") for level in ("sfc", "pl", "ml")),
           *(f"{grid}_pl_{size}_grib2" for grid in ("regular_gg", "reduced_gg", "reduced_rotated_gg", "rotated_gg")
             for size in (32, 48, 64, 80, 96, 128, 160, 200, 256, 320, 400, 512, 640, 1024, 1280, 2000))]
LABELS = ["class", "type", "stream", "expver"]
# What is left out: the domain of waves and clusters, grids, cycles and inputs of models of soil and rivers, numbers of edition 1.
NOT_SAID = {"domain": {"unknown"}, "configuration": None, "grid": None, "forcing": None, "fcperiod": None, "quantile": {"0:0"}}
TWICE = ["date", "time", "hdate", "refdate", "offsetdate", "offsettime", "number", "anoffset", "origin"]
UNTOLD = "unavailable"
END = [f"{part}OfEndOfOverallTimeInterval" for part in ("year", "month", "day", "hour", "minute", "second")]


def made(keys, missing=()):
    """The bytes of a message with these keys, or None if ecCodes cannot make it."""
    handle = ec.codes_grib_new_from_samples(SAMPLE)
    section = bytes.fromhex(keys.get("section 2", ""))
    try:
        ec.codes_set(handle, "bitsPerValue", 0)
        for key, value in keys.items():
            if key == "section 2":
                continue
            if isinstance(value, (list, tuple)):
                ec.codes_set_array(handle, key, list(value))
            else:
                ec.codes_set(handle, key, value)
        for key in missing:
            ec.codes_set_missing(handle, key)
        message = ec.codes_get_message(handle)
        return with_section_2(message, section) if section else message
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
        # It names a value once, also where two keys have the value: a date is the one of a hindcast then too.
        for key in TWICE:
            value = text(handle, f"mars.{key}") if found.get(key) is None else None
            found.update({} if value is None else {key: value})
        is_data_set = ec.codes_get_long(handle, "productionStatusOfProcessedData") in range(4, 18)
        # What a data set has no name for, we leave out.
        for key in ("class", "type", "stream", "model"):
            found[key] = None if is_data_set and found.get(key) == "unknown" else found.get(key)
        if not found["class"] and not is_data_set:
            found = {key: found[key] for key in COMMON_KEYS}
            found.update(dict.fromkeys(LABELS))
        found["component"] = text(handle, "componentIndex")
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
    own = ["area", "stepRange", *(["number"] if theirs.get("class") in (None, "lr") else [])]
    more = {} if theirs.get("class") is None else {key: None for key in found if key not in theirs and key not in own}
    for key, value in {**theirs, **more}.items():
        if key == "component":
            continue
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
        elif key == "number" and theirs.get("component"):
            # Where a stream asks for another number than the component of a model error, and the template does not have it, ecCodes
            # keeps the component for some templates and drops it for others.
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


def part(number):
    """A part of the tables: see the head of tables.rs."""
    data = TABLES.read_bytes()
    lengths = [int.from_bytes(data[4 * each:4 * each + 4], "little") for each in range(11)]
    start = 44 + sum(lengths[:number])
    return data[start:start + lengths[number]]


def numbers():
    """Numbers of all parameters in the tables."""
    values = part(2)
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
    heads = part(9)
    pairs = [tuple(int.from_bytes(heads[at + each:at + each + 2], "little") for each in (0, 2)) for at in range(0, len(heads), 8)]
    # ecCodes cannot read type 16, probabilities, by its rules for edition 2.
    return [pair for pair in pairs if pair[0] < 60000 and pair[1] != 16]


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
    template = choose([0, 1, 1, 2, 3, 5, 6, 8, 10, 11, 11, 12, 14, 15, 32, 40, 48, 55, 60, 61, 61, 63, 68, 73, 78, 85, 89, 90, 91, 99, 100, 103,
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


# Statuses of TIGGE, S2S, UERRA, CARRA and CERRA, Destination Earth, LC-GCR and WPMIP, the second of which are tests.
STATUSES = {"tigge": (4, 5), "s2s": (6, 7), "uerra": (8, 9), "crra": (10, 11), "destine": (12, 13), "lcgcr": (14, 15), "wpmip": (16, 17)}
PREFIXES = {"tigge": [1], "uerra": [1], "crra": [1, 2, 3], "destine": [1, 2], "lcgcr": [1], "wpmip": [1]}


def data_set_section(rng, name, is_ecmwf, has_labels):
    """Section 2 of a data set: what it has in front, and labels of ECMWF or none."""
    choose = lambda options: options[int(rng.integers(len(options)))]
    two = lambda number: number.to_bytes(2, "big")
    versions = PREFIXES.get(name, [0])
    version = choose(versions)
    body = two(version) if version else b""
    if name in ("tigge", "crra"):
        body += two(choose([0, 1, 3, 4, 5, 6, 99]))
    if name == "crra" and version == 3 and not is_ecmwf:
        body += two(choose([37, 1, 25]))
    if name == "uerra" or name == "crra" and version > 1:
        body += choose([b"0001", b"prod", b"abcd"])
    if name == "destine":
        data_set = choose([0, 1, 1, 2, 3, 4, 5])
        body += two(data_set)
        if data_set == 1:
            body += two(choose([1, 2, 5])) + two(choose([1, 3])) + bytes([choose([1, 2, 255])]) + two(choose([1, 2, 3, 9])) + bytes([choose([1, 2])]) + two(choose([1, 2]))
        if data_set == 4:
            body += choose([b"s0000000", b"u09tun00"])
        if version == 2:
            body += two(choose([0, 1, 2]))
    if is_ecmwf or has_labels:
        stream, kind = choose([(1025, 2), (1025, 9), (1035, 11), (1257, 9), (1071, 2)])
        body += two(1) + two(choose([1, 37, 5, 2])) + two(kind) + two(stream) + choose([b"0001", b"0078"])
    else:
        body += two(0)
    return (5 + len(body)).to_bytes(4, "big") + bytes([2]) + body


def with_section_2(message, section):
    """A message of one field with this section 2."""
    start = 16 + int.from_bytes(message[16:20], "big")
    rest = message[start:] if message[start + 4] != 2 else message[start + int.from_bytes(message[start:start + 4], "big"):]
    body = message[16:start] + section + rest
    return message[:8] + (16 + len(body)).to_bytes(8, "big") + body


def data_set_case(rng):
    """Keys of a data set in the order in which they are set, and its section 2 or none."""
    choose = lambda options: options[int(rng.integers(len(options)))]
    name = choose(["tigge", "tigge", "s2s", "s2s", "uerra", "crra", "crra", "destine", "lcgcr", "wpmip"])
    centre, sub_centre = choose([(98, 0), (98, 0), (82, 0), (7, 0), (80, 102), (80, 0), (85, 0), (38, 0), (34, 0), (38, 98), (173, 0), (46, 78), (46, 9)])
    template = choose([0, 0, 1, 1, 8, 8, 11, 11, 2, 12, 60, 61, 113, 5])
    surface, second = choose([(1, None), (1, None), (100, None), (103, None), (103, None), (106, None), (118, None), (105, None), (160, None), (160, 160),
                              (20, None), (169, None), (151, 151), (106, 106), (10, None), (8, None)])
    level = choose([0, 1, 2, 10, 11, 100, 105, 300, 29315])
    keys = {"tablesVersion": choose([4, 5, 15, 28, 33, 34, 36]), "centre": centre, "subCentre": sub_centre,
            "productionStatusOfProcessedData": choose(STATUSES[name]), "typeOfProcessedData": choose([0, 1, 2, 3, 4, 8, 255]),
            "discipline": choose([0, 0, 2, 10]), "productDefinitionTemplateNumber": template,
            "parameterCategory": choose([0, 1, 2, 3, 4]), "parameterNumber": choose([0, 1, 2, 3, 8, 18]),
            "typeOfGeneratingProcess": choose([0, 2, 4]), "generatingProcessIdentifier": choose([1, 2, 3, 50]),
            "backgroundProcess": int(choose([*range(0, 29), 255])), "typeOfFirstFixedSurface": surface,
            "scaleFactorOfFirstFixedSurface": choose([0, 0, 1, 2]), "scaledValueOfFirstFixedSurface": level,
            "dataDate": choose([20240131, 20231231, 20240101]), "dataTime": choose([0, 600, 1200]), "forecastTime": choose([0, 6, 24, 48]),
            "perturbationNumber": int(rng.integers(0, 51)), "derivedForecast": choose([0, 4, 2]),
            "YearOfModelVersion": choose([2023, 2024]), "MonthOfModelVersion": 3, "DayOfModelVersion": 28, "HourOfModelVersion": choose([0, 12]),
            "typeOfStatisticalProcessing": choose([0, 0, 1, 2, 3]), "typeOfTimeIncrement": choose([1, 2]), "indicatorOfUnitForTimeRange": 1,
            "lengthOfTimeRange": choose([0, 6, 21, 24, 720, 744])}
    if second:
        keys |= {"typeOfSecondFixedSurface": second, "scaleFactorOfSecondFixedSurface": 0, "scaledValueOfSecondFixedSurface": choose([1, 11, 300])}
    section = data_set_section(rng, name, centre == 98, sub_centre == 98) if rng.random() < 0.5 or name == "destine" else None
    return keys, (b"\0\0\0\5\2" if section is None and rng.random() < 0.1 else section)


def data_set_messages(cases, seed):
    """Fields of data sets of several centres."""
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        keys, section = data_set_case(rng)
        handle = ec.codes_grib_new_from_samples(SAMPLE)
        try:
            ec.codes_set(handle, "bitsPerValue", 0)
            for key, value in keys.items():
                try:
                    ec.codes_set(handle, key, value)
                except ec.CodesInternalError:
                    pass
            message = ec.codes_get_message(handle)
            yield {**keys, "section 2": section and section.hex()}, with_section_2(message, section) if section else message
        except ec.CodesInternalError:
            pass
        finally:
            ec.codes_release(handle)


def eccodes_samples():
    """The samples of edition 2 that ecCodes has. Versions of it differ in some."""
    for name in SAMPLES:
        handle = None
        try:
            handle = ec.codes_grib_new_from_samples(name)
            # Packings of spectral data are not read.
            if ec.codes_get(handle, "dataRepresentationTemplateNumber") in (0, 2, 3, 4, 40, 41, 42):
                yield {"sample": name}, ec.codes_get_message(handle)
        except ec.CodesInternalError:
            pass
        finally:
            if handle:
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
        # TIGGE, S2S with a hindcast, UERRA, CARRA of a month, Destination Earth, LC-GCR and WPMIP.
        data_set = lambda status, kind, template=0, **keys: {**new, "productionStatusOfProcessedData": status, "typeOfProcessedData": kind,
                                                            "productDefinitionTemplateNumber": template, **keys}
        yield {**data_set(4, 4, 1, centre=7), "perturbationNumber": 5, **height(2)}
        yield {**data_set(4, 3, 11, centre=74), "perturbationNumber": 0, "section 2": "0000000b02000100010000"}
        yield {**data_set(6, 4, 60, centre=34), "perturbationNumber": 2, "YearOfModelVersion": 2023, "MonthOfModelVersion": 6, "DayOfModelVersion": 30}
        yield {**data_set(7, 2, 8), "lengthOfTimeRange": 24, "indicatorOfUnitForTimeRange": 1, "typeOfStatisticalProcessing": 0}
        yield {**data_set(8, 1, centre=85), **height(100), "section 2": "0000000d020001706172310000"}
        yield {**data_set(10, 0, 8, centre=88), "typeOfStatisticalProcessing": 0, "typeOfTimeIncrement": 1, "indicatorOfUnitForTimeRange": 1,
               "lengthOfTimeRange": 744, "section 2": "0000000b02000100030000"}
        yield {**data_set(12, 2), "section 2": "0000001f020001000100010001020003010002000100230009044a" + "30303031"}
        yield {**data_set(14, 0), "backgroundProcess": 2, "centre": 34}
        yield {**data_set(16, 1), "backgroundProcess": 3, "subCentre": 78, "generatingProcessIdentifier": 2}
        for lengths in ([720, 6], [0, 24]):
            yield {**new, "productDefinitionTemplateNumber": 8, "numberOfTimeRanges": 2, "typeOfStatisticalProcessing": [0, 1],
                   "indicatorOfUnitForTimeRange": [1, 1], "lengthOfTimeRange": lengths, "typeOfTimeIncrement": [1, 2]}
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
              "random streams": lambda: archive_messages(2 * count, seed), "data sets": lambda: data_set_messages(count, seed),
              "samples of ecCodes": eccodes_samples, "parameters": lambda: parameters(count, seed)}
    if not all([compare(tool, what, cases()) for what, cases in rounds.items()]):
        sys.exit("keys differ")
