#!/usr/bin/env python3
"""Writes the tables of GRIB keys that `tgm convert` has: std-ext/convert/src/grib2/tables.bin.

Usage:
  tables.py OUTPUT [DEFINITIONS]   DEFINITIONS is a folder of ecCodes' definitions; without it they come from the PyPI
                                   package `eccodeslib`, one by one, in about ten seconds

The definitions of ecCodes are (C) ECMWF, under the Apache License 2.0. The output depends on them alone. Its form is in
std-ext/convert/src/grib2/tables.rs.
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Names of values that conditions test, in the order of `Key` in product.rs, and numbers of lists.
KEYS = """
typeOfFirstFixedSurface scaleFactorOfFirstFixedSurface scaledValueOfFirstFixedSurface
typeOfSecondFixedSurface scaleFactorOfSecondFixedSurface scaledValueOfSecondFixedSurface
typeOfStatisticalProcessing typeOfGeneratingProcess backgroundProcess generatingProcessIdentifier
indicatorOfUnitForForecastTime forecastTime numberOfTimeRanges typeOfTimeIncrement indicatorOfUnitForTimeRange
lengthOfTimeRange constituentType sourceSinkChemicalPhysicalProcess typeOfDistributionFunction modeNumber
typeOfSizeInterval scaleFactorOfFirstSize scaledValueOfFirstSize scaleFactorOfSecondSize scaledValueOfSecondSize
typeOfWavelengthInterval scaleFactorOfFirstWavelength scaledValueOfFirstWavelength scaleFactorOfSecondWavelength
scaledValueOfSecondWavelength probabilityType scaleFactorOfLowerLimit scaledValueOfLowerLimit
scaleFactorOfUpperLimit scaledValueOfUpperLimit
typeOfWavePeriodInterval scaleFactorOfLowerWavePeriodLimit scaledValueOfLowerWavePeriodLimit
scaleFactorOfUpperWavePeriodLimit scaledValueOfUpperWavePeriodLimit randomFieldNumber
typeOfRelationToReferenceDataset numberOfAdditionalParametersForReferencePeriod satelliteSeries satelliteNumber
instrumentType scaledValueOfCentralWaveNumber typeOfEnsembleForecast perturbationNumber numberOfForecastsInEnsemble
derivedForecast waveDirectionNumber waveFrequencyNumber parameterCategory parameterNumber
yearOfEndOfOverallTimeInterval monthOfEndOfOverallTimeInterval dayOfEndOfOverallTimeInterval
hourOfEndOfOverallTimeInterval minuteOfEndOfOverallTimeInterval secondOfEndOfOverallTimeInterval percentileValue
quantileValue totalNumberOfQuantiles
numberOfForecastsInTheCluster numberOfContributingSpectralBands numberOfCategories numberOfDistributionFunctionParameters
numberOfPartitions numberOfUsedTileAttributesForTileAttributeCombination numberOfSpatialVicinityValues
numberOfReferencePeriodTimeRanges numberOfWaveDirectionSequenceParameters numberOfWaveFrequencySequenceParameters
numberOfAdditionalArgumentsForVerification numberOfVerificationPeriodTimeRanges numberOfForecastsUsedInLocalTime
is_chemical is_chemical_srcsink is_aerosol is_aerosol_optical aerosolType statisticalProcessings
gridDefinitionTemplateNumber numberOfGridInReference numberOfGridUsed
discipline tablesVersion localTablesVersion productionStatusOfProcessedData marsClass
productDefinitionTemplateNumber
""".split()
# Keys that a condition may spell otherwise.
ALIASES = {"indicatorOfUnitOfTimeRange": "indicatorOfUnitForForecastTime", "NB": "numberOfContributingSpectralBands"}
# Folders of definitions that add to the ones of the WMO: centres, and data sets of ECMWF that are like centres.
FOLDERS = """
ecmf cerise cnmc destine destinegen1 edzw efkl egrr ekmi era era6 eswi fire hydro hydro_legacy kwbc lcgcr lfpw lfpw1
nextgems s2s tigge uerra wpmip
""".split()
VERSIONS = ["", ".lte33", ".chemsplit"]
LEGACY = ".legacy"
MISSING = -(1 << 31)
# The discipline of ECMWF's parameters of GRIB edition 1.
LOCAL = 192
# Groups that are not parameters: a first byte that no discipline has, and the number of the concept.
OTHER = 255
LEVTYPE, LEVEL, SWITCH, SPAN, CLASS, TYPE, STREAM = range(7)


def definitions(folder):
    """A function that gives the text of a definition, or None."""
    if folder:
        def read(path):
            file = Path(folder) / path
            return file.read_text("latin-1") if file.exists() else None
        return read
    import eccodeslib
    tool = Path(eccodeslib.__file__).parent / "bin" / "codes_export_resource"

    def export(path):
        with tempfile.TemporaryDirectory() as at:
            output = Path(at) / "definition"
            done = subprocess.run([tool, "-d", path, output], capture_output=True)
            return output.read_text("latin-1") if done.returncode == 0 and output.exists() else None
    return export


def plain(text):
    return re.sub(r"#.*", "", text)


def conditions(text):
    """Lists of conditions of one value: more than one where a condition names several numbers."""
    every = [[]]
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, number = (side.strip() for side in part.split("=", 1))
        key = ALIASES.get(key, key)
        one_of = re.fullmatch(r"is_one_of\((\w+),([\d, ]+)\)", number)
        if key == "true" and number == "1":
            continue
        if key == "stepType" and number == '"accum"':
            key, number = "typeOfStatisticalProcessing", "1"
        if key == "true" and one_of:
            key, numbers = one_of[1], one_of[2].split(",")
        else:
            numbers = [number]
        pair = re.fullmatch(r"\[(\d+),(\d+)\]", number)
        if pair:
            key, numbers = "statisticalProcessings", [int(pair[1]) << 8 | int(pair[2])]
        if key not in KEYS and key not in ("parameterCategory", "parameterNumber"):
            return []
        try:
            numbers = [MISSING if number == "missing()" else int(number) for number in numbers]
        except ValueError:
            return []
        every = [[*one, (key, number)] for one in every for number in numbers]
        # A list counts more than the last of its numbers, which a condition without a list compares.
        every = [[*one, ("typeOfStatisticalProcessing", int(pair[2]))] for one in every] if pair else every
    return every


def concept(text):
    """The values of a concept with their conditions, in order."""
    for name, body in re.findall(r"(?:'([^']*)'|(?<=\s)-?\d+)\s*=\s*\{([^}]*)\}", plain("\n" + text)):
        for found in conditions(body):
            yield name, found


def switch(text):
    for number, body in re.findall(r"(-?\d+)\s*=\s*\{([^}]*)\}", plain(text)):
        for found in conditions(body):
            yield number, found


def grouped(entries, keys):
    """Entries as ((group), conditions without the group's keys, value)."""
    for value, found in entries:
        found = dict(found)
        if len(found) and all(key in found and found[key] >= 0 for key in keys):
            group = tuple(found.pop(key) for key in keys)
            yield group, tuple(sorted((KEYS.index(key), number) for key, number in found.items())), value


NAMELESS = set()


def parameters(read, folder, version):
    base = f"grib2/localConcepts/{folder}/" if folder else "grib2/"
    names, numbers = read(f"{base}shortName{version}.def"), read(f"{base}paramId{version}.def")
    if names is None or numbers is None:
        return []
    keys = ("discipline", "parameterCategory", "parameterNumber")
    numbers = {(group, found): int(number) for group, found, number in grouped(concept(numbers), keys)}
    found = []
    for group, conditions, name in grouped(concept(names), keys):
        number = numbers.get((group, conditions), 0)
        category, code = group[1:]
        # GRIB edition 1 has most of these parameters, and their numbers follow from the group.
        if group[0] == LOCAL and name == "~" and number == (code if category == 128 else category * 1000 + code):
            NAMELESS.add((category, code))
            continue
        found.append(((group[0], group[1], group[2]), conditions, (number, "" if name == "~" else name)))
    return found


def others(read, folder, version):
    base = f"grib2/localConcepts/{folder}/" if folder else "grib2/"
    for which, name, keys in ((LEVTYPE, "marsLevtypeConcept", ["typeOfFirstFixedSurface"]),
                              (LEVEL, "typeOfLevelConcept", ["typeOfFirstFixedSurface"])):
        text = read(f"{base}{name}{version if which == LEVTYPE else ''}.def")
        for group, conditions, value in grouped(concept(text or ""), keys):
            yield (OTHER, which, *group), conditions, (0, value)


def merged(sequences):
    """One sequence of (item, mask) that gives each of the sequences by its bit, in its order."""
    result = []
    for bit, sequence in enumerate(sequences):
        places, last = {item: at for at, (item, _) in enumerate(result)}, -1
        is_ordered = len(set(sequence)) == len(sequence) and len(places) == len(result)
        for item in sequence:
            if item in places:
                is_ordered, last = is_ordered and places[item] > last, places[item]
        if not is_ordered:
            result += [(item, 1 << bit) for item in sequence]
            continue
        at = 0
        for item in sequence:
            found = next((place for place in range(at, len(result)) if result[place][0] == item), None)
            if found is None:
                result.insert(at, (item, 1 << bit))
                at += 1
            else:
                result[found] = (item, result[found][1] | 1 << bit)
                at = found + 1
    for bit, sequence in enumerate(sequences):
        assert [item for item, mask in result if mask >> bit & 1] == list(sequence)
    return result


def table(read, path):
    for line in (read(path) or "").splitlines():
        found = re.match(r"(\d+)\s+(\S+)", line)
        if found and int(found[1]):
            yield int(found[1]), found[2].lower()


class Strings:
    def __init__(self):
        self.places, self.blob = {}, b""

    def add(self, text):
        if text not in self.places:
            self.places[text] = len(self.blob)
            self.blob += bytes([len(text)]) + text.encode("ascii")
        return self.places[text]


FIELD = re.compile(r"(unsigned|codetable|signed|byte|ascii|ieeefloat)\s*(?:\[(\d+)\])?\s+(\w+)")
LIST = re.compile(r"\w+\s+list\s*\((\w+)\)\s*\{")


def fields(read, path):
    """The fields of a template, as bytes: width and sign, key. Lists as 0, the key of the number of items, the bytes of
    an item, and its fields."""
    text = plain(read(path) or "")
    out, at, is_over = b"", 0, False
    while at < len(text) and not is_over:
        include = re.compile(r'include\s+"([^"]+)"').match(text, at)
        one, many = FIELD.match(text, at), LIST.match(text, at)
        if include:
            if "stepUnits" not in include[1]:
                part, is_over = fields(read, include[1])
                out += part
            at = include.end()
        elif many:
            end = text.index("}", many.end())
            inner = b"".join(field(found) for found in FIELD.finditer(text, many.end(), end))
            out += bytes([0, KEYS.index(many[1]), len(inner)]) + inner
            at = end + 1
        elif one:
            out += field(one)
            at = one.end()
        else:
            branch = re.compile(r"(if|else|when|concept\w*)\b[^;{]*\{").match(text, at)
            if branch:
                opened = branch.end() - 1
                depth, end = 1, opened + 1
                while depth:
                    depth += {"{": 1, "}": -1}.get(text[end], 0)
                    end += 1
                # A field that depends on a condition ends what is known.
                if branch[1] in ("if", "else") and FIELD.search(text, opened, end):
                    is_over = True
                at = end
            else:
                rest = re.compile(r"[^\n;]*[\n;]|[^\n;]+$").match(text, at)
                at = rest.end()
    return out, is_over


def field(found):
    kind, width, name = found.groups()
    name = ALIASES.get(name, name)
    width = int(width or 4)
    key = KEYS.index(name) if name in KEYS else 255
    return bytes([width | (128 if kind == "signed" else 0), key])


FORECAST_TIME = field(FIELD.match("signed[4] forecastTime"))
# What the table calls template 4.44 with a forecast time of two octets.
SHORT_44 = 65044


def templates(read):
    for number in [*range(0, 255), *range(1000, 1103)]:
        path = f"grib2/templates/template.4.{number}.def"
        text = read(path)
        if text is None:
            continue
        if number == 7:
            path = "grib2/templates/template.4.0.def"
        if number == 44:
            # Its forecast time has two octets in messages of one length, and four in all others.
            usual = lambda path: (read(path) or "").replace("forecast_time_44", "forecast_time")
            layout, _ = fields(usual, path)
            yield SHORT_44, layout.replace(FORECAST_TIME, field(FIELD.match("unsigned[2] forecastTime"))), text
            yield number, layout, text
            continue
        layout, _ = fields(read, path)
        yield number, layout, plain(text)


def main(output, folder=None):
    read = definitions(folder)
    groups = {}
    for number, name in enumerate(["", *FOLDERS]):
        for version, suffix in enumerate([*VERSIONS, LEGACY]):
            for group, found, value in [*parameters(read, name, suffix), *others(read, name, suffix)]:
                groups.setdefault(group, {}).setdefault(number, {}).setdefault(version, []).append((found, value))
        base = f"grib2/localConcepts/{name}/" if name else "grib2/"
        # -1 is what holds without an entry.
        for value, found in switch(read(f"{base}MTG2SwitchConcept.def") or ""):
            found = tuple(sorted((KEYS.index(key), number) for key, number in found))
            if int(value) >= 0:
                groups.setdefault((OTHER, SWITCH, 0), {}).setdefault(number, {}).setdefault(0, []).append((found, (int(value), "")))
        for group, found, value in grouped(((name, [*conditions, ("discipline", 0)]) for name, conditions in concept(read(f"{base}timespanConcept.def") or "")), ["discipline"]):
            if any(KEYS[key] == "productDefinitionTemplateNumber" and len(found) == 1 for key, _ in found):
                continue
            for version in range(len(VERSIONS)):
                groups.setdefault((OTHER, SPAN, 0), {}).setdefault(number, {}).setdefault(version, []).append((found, (0, value)))
    for which, name in ((CLASS, "class"), (TYPE, "type"), (STREAM, "stream")):
        for code, value in table(read, f"mars/{name}.table"):
            groups.setdefault((OTHER, which, code), {}).setdefault(0, {}).setdefault(0, []).append(((), (0, value)))
    strings, values, lists, entries, heads = Strings(), {}, {}, b"", b""
    strings.add("")
    for group in sorted(groups):
        heads += struct.pack("<BBHH", *group, len(entries) // 6)
        for folder_number, versions in sorted(groups[group].items()):
            for (found, value), mask in merged([tuple(versions.get(version, [])) for version in range(4)]):
                place = values.setdefault(value, len(values))
                entries += struct.pack("<BBHH", folder_number, mask, lists.setdefault(found, len(lists)), place)
    heads += struct.pack("<BBHH", 255, 255, 65535, len(entries) // 6)
    value_bytes = b"".join((number << 24 | strings.add(name)).to_bytes(7, "little") for number, name in values)
    list_heads, list_bytes = b"", b""
    for found in lists:
        list_heads += struct.pack("<H", len(list_bytes) // 5)
        list_bytes += b"".join(struct.pack("<Bi", key, number) for key, number in found)
    list_heads += struct.pack("<H", len(list_bytes) // 5)
    template_heads, template_bytes, places = b"", b"", {}
    for number, layout, _ in sorted(templates(read)):
        if layout not in places:
            places[layout] = len(template_bytes)
            template_bytes += struct.pack("<H", len(layout)) + layout
        template_heads += struct.pack("<HH", number, places[layout])
    ranges = b""
    for category, code in sorted(NAMELESS):
        if (category, code - 1) not in NAMELESS:
            ranges += bytes([category, code, code])
        else:
            ranges = ranges[:-1] + bytes([code])
    parts = [heads, entries, value_bytes, strings.blob, list_heads, list_bytes, template_heads, template_bytes, ranges]
    data = b"".join(struct.pack("<I", len(part)) for part in parts) + b"".join(parts)
    Path(output).write_bytes(data)
    print(f"{len(groups)} groups, {len(entries) // 6} entries, {len(data)} bytes: {[len(part) for part in parts]}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
