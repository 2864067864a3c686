#!/usr/bin/env python3
"""Writes the tables of GRIB keys that `tgm convert` has: std-ext/convert/src/grib2/tables.bin.

Usage:
  tables.py OUTPUT [DEFINITIONS]   DEFINITIONS is a folder of ecCodes' definitions; without it they come from the PyPI
                                   package `eccodeslib`, one by one, in some minutes

The definitions of ecCodes are (C) ECMWF, under the Apache License 2.0. The output depends on them alone. Its form is in
std-ext/convert/src/grib2/tables.rs.
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import tables1
import rules

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
kind0 unit0 length0 kind1 unit1 length1
clusterIdentifier forecastProbabilityNumber backgroundGeneratingProcessIdentifier hoursAfterDataCutoff minutesAfterDataCutoff
YearOfModelVersion MonthOfModelVersion DayOfModelVersion HourOfModelVersion MinuteOfModelVersion
scaleFactor0 scaledValue0 scaleFactor1 scaledValue1
scaleFactorOfAdditionalParameterForReferencePeriod scaledValueOfAdditionalParameterForReferencePeriod
systemNumber methodNumber referenceDate indexingDate indexingTime channelNumber offsetToEndOf4DvarWindow iterationNumber
componentIndex forecastOrSingularVectorNumber dataOrigin
yearOfAnalysis monthOfAnalysis dayOfAnalysis hourOfAnalysis minuteOfAnalysis originatingCentreOfAnalysis
optimisationTime forecastLeadTime marsDomain lcwfvSuiteName fourierCoefficientIndex sensitiveAreaDomain diagnosticNumber legNumber
inputOriginatingCentre typeOfPostProcessing offsetToStartOfForecastFillupInHours targetFcstSystem
yearOfForecast monthOfForecast dayOfForecast hourOfForecast minuteOfForecast
yearOfModelVersion monthOfModelVersion dayOfModelVersion hourOfModelVersion minuteOfModelVersion
activity experiment generation model realization resolution
dimensionType dimensionNumber extraLocalSectionNumber centre subCentre grib2LocalSectionNumber typeOfTile attributeOfTile
tileAttributes stream type statisticalProcess spatialProcessing
table2Version indicatorOfParameter indicatorOfTypeOfLevel level topLevel bottomLevel timeRangeIndicator
clusterNumber tubeNumber referenceStep band satelliteIdentifier instrumentIdentifier numberOfFrequencies verifyingMonth forecastMonth
northernLatitudeOfDomain westernLongitudeOfDomain southernLatitudeOfDomain easternLongitudeOfDomain
centuryOfAnalysis localModel localDomain clusteringDomain
latitudeOfFirstGridPoint longitudeOfFirstGridPoint latitudeOfLastGridPoint longitudeOfLastGridPoint gridName global
""".split()
# Keys that a condition may spell otherwise.
ALIASES = {"indicatorOfUnitOfTimeRange": "indicatorOfUnitForForecastTime", "NB": "numberOfContributingSpectralBands", "class": "marsClass", "marsStream": "stream",
           "marsType": "type"}
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
LEVTYPE, LEVEL, SWITCH, SPAN, CLASS, TYPE, STREAM, CENTRE, EARLIER_CENTRE, STATISTIC, POST_PROCESSING, MODEL, SUITE = range(13)
ACTIVITY, EXPERIMENT, TWIN_MODEL, RESOLUTION, DIMENSION, CHEMICAL, TILE = range(13, 20)
TIGGE_SUITE, REGIONAL_SUITE, LATER_REGIONAL_SUITE, TWIN, TILE_SCHEME, REANALYSIS, COMPARED_MODEL, TWIN_PROCESS = range(20, 28)
# Tables of codes, by their concept.
CODES = {CLASS: "mars/class.table", TYPE: "mars/type.table", STREAM: "mars/stream.table", CENTRE: "common/c-11.table",
         EARLIER_CENTRE: "common/c-1.table", SUITE: "grib2/lcwfv_suiteName.table", ACTIVITY: "grib2/destine_activity.table",
         EXPERIMENT: "grib2/destine_experiment.table", TWIN_MODEL: "grib2/destine_model.table",
         RESOLUTION: "grib2/destine_resolution.table", DIMENSION: "grib2/dimensionType.table",
         TILE: "grib2/tables/36/4.252.table", TIGGE_SUITE: "grib2/tigge_suiteName.table",
         REGIONAL_SUITE: "grib2/crra_suiteName.table", LATER_REGIONAL_SUITE: "grib2/crra_ci_suiteName.table",
         TWIN: "grib2/destine_dataset.table", TILE_SCHEME: "grib2/destine_tilescheme.table"}
# Names of models, by the process that made them and other keys.
MODELS = {REANALYSIS: "grib2/localConcepts/lcgcr/modelNameConcept.def", COMPARED_MODEL: "grib2/products_wpmip.def", TWIN_PROCESS: "grib2/localConcepts/destine/modelNameConcept.def"}


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


ELEMENTS = {"typeOfStatisticalProcessing": "kind", "indicatorOfUnitForTimeRange": "unit", "lengthOfTimeRange": "length"}


# Numbers of types, by their names.
TYPES = {}


def conditions(text):
    """Lists of conditions of one value: more than one where a condition names several numbers."""
    every = [[]]
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, number = (side.strip() for side in part.split("=", 1))
        key = ALIASES.get(key, key)
        one_of = re.fullmatch(r"is_one_of\((\w+),([\w', ]+)\)", number)
        if key == "true" and number == "1":
            continue
        if key == "stepType" and number == '"accum"':
            key, number = "typeOfStatisticalProcessing", "1"
        if key == "true" and one_of:
            key = ALIASES.get(one_of[1], one_of[1])
            numbers = [TYPES.get(number.strip(" '"), number) for number in one_of[2].split(",")]
        else:
            numbers = [number]
        element = re.fullmatch(r"\(element\((\w+),([01])\)==(\d+)\)", number.replace(" ", ""))
        if key == "true" and element and element[1] in ELEMENTS:
            key, numbers = ELEMENTS[element[1]] + element[2], [element[3]]
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
            yield int(found[1]), found[2].lower() if path.startswith("mars/") else found[2]


class Strings:
    def __init__(self):
        self.places, self.blob = {}, b""

    def add(self, text):
        if text not in self.places:
            self.places[text] = len(self.blob)
            self.blob += bytes([len(text)]) + text.encode("ascii")
        return self.places[text]


PAD = re.compile(r"pad\s+\w+\((\d+)\)")
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
        elif many and many[1] not in KEYS:
            # What comes after items of a number that is not known has no place.
            is_over = True
        elif many:
            end = text.index("}", many.end())
            inner = b"".join(field(found) for found in FIELD.finditer(text, many.end(), end))
            out += bytes([0, KEYS.index(many[1]), len(inner)]) + inner
            at = end + 1
        elif one:
            out += field(one)
            at = one.end()
        elif pad := PAD.match(text, at):
            out += bytes([int(pad[1]), 255])
            at = pad.end()
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


# What the table calls a local definition: its number and this.
LOCAL_DEFINITION = 60000


def local_definitions(read):
    for number in range(0, 301):
        text = read(f"grib2/local.98.{number}.def")
        if text is not None:
            layout, _ = fields(read, f"grib2/local.98.{number}.def")
            yield LOCAL_DEFINITION + number, layout, text


def archive(read, numbers):
    """Rules of local definitions, and of each stream with each type: ((stream, type), rules)."""
    unknown = {}
    for number in range(0, 301):
        text = read(f"grib2/local.98.{number}.def")
        if text is not None and number != 192:
            program = rules.Program(read, KEYS, numbers)
            program.run(text)
            yield (LOCAL_DEFINITION, number), program.rules
    for stream, stream_number in numbers["stream"].items():
        for kind, kind_number in numbers["type"].items():
            text = read(f"mars/grib.{stream}.{kind}.def")
            if text is not None:
                program = rules.Program(read, KEYS, numbers, stream, kind)
                program.run(text)
                for found in program.unknown:
                    unknown.setdefault(found, []).append(f"{stream}.{kind}")
                yield (stream_number, kind_number), program.rules
    for found, where in unknown.items():
        print("not known:", *found, where[:4])


def main(output, folder=None):
    read = definitions(folder)
    groups = {}
    TYPES.update({value: code for code, value in table(read, CODES[TYPE])})
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
    for which, path in CODES.items():
        for code, value in table(read, path):
            groups.setdefault((OTHER, which, code), {}).setdefault(0, {}).setdefault(0, []).append(((), (0, value)))
    for number, name in enumerate(["", *FOLDERS]):
        base = f"grib2/localConcepts/{name}/" if name else "grib2/"
        for group, found, value in grouped(concept(read(f"{base}chemId.def") or ""), ["constituentType"]):
            groups.setdefault((OTHER, CHEMICAL, *group), {}).setdefault(number, {}).setdefault(2, []).append((found, (int(value), "")))
    for found, value in ((tuple(sorted((KEYS.index(key), number) for key, number in found)), value)
                         for value, found in concept(read("grib2/stattypeConcept.def") or "") if found):
        for version in range(len(VERSIONS)):
            groups.setdefault((OTHER, STATISTIC, 0), {}).setdefault(0, {}).setdefault(version, []).append((found, (0, value)))
    for which, path, key in ((POST_PROCESSING, "grib2/postProcessingConcept.def", "typeOfPostProcessing"),
                             (MODEL, "grib2/localConcepts/hydro/modelNameConcept.def", "backgroundProcess"),
                             (MODEL, "grib2/localConcepts/ecmf/modelNameConcept.def", "backgroundProcess")):
        for name, code in re.findall(rf"""["']([\w-]+)["']\s*=\s*\{{\s*{key}\s*=\s*(\d+)\s*;\s*\}}""", plain(read(path) or "")):
            groups.setdefault((OTHER, which, int(code)), {}).setdefault(0, {}).setdefault(0, []).append(((), (0, name)))
    for which, path in MODELS.items():
        # Models stand in a concept of their own, or before the end of the last one.
        text = (read(path) or "").rpartition("concept ")[2]
        for group, found, value in grouped(concept(text), ["backgroundProcess"]):
            groups.setdefault((OTHER, which, *group), {}).setdefault(0, {}).setdefault(0, []).append((found, (0, value)))
    of = sys.modules[__name__]
    # Edition 1 does not change what it finds here.
    for group, number, found, value in [it for it in tables1.groups(read, of) if not tables1.is_known(groups, of, *it)]:
        groups.setdefault(group, {}).setdefault(number, {}).setdefault(0, []).append((found, value))
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
    layouts = [(number, layout) for number, layout, _ in [*templates(read), *local_definitions(read)]]
    for number, layout in sorted([*layouts, *tables1.layouts(read, of)]):
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
    archive_heads, archive_bytes, places = b"", b"", {}
    numbers = {name: {value: code for code, value in table(read, f"mars/{name}.table")} for name in ("class", "type", "stream")}
    for (first, second), found in sorted([*archive(read, numbers), *tables1.archive(read, of, numbers)]):
        text = rules.encoded(found)
        if text not in places:
            places[text] = len(archive_bytes)
            archive_bytes += struct.pack("<H", len(text)) + text
        archive_heads += struct.pack("<HHI", first, second, places[text])
    parts = [heads, entries, value_bytes, strings.blob, list_heads, list_bytes, template_heads, template_bytes, ranges, archive_heads, archive_bytes]
    data = b"".join(struct.pack("<I", len(part)) for part in parts) + b"".join(parts)
    Path(output).write_bytes(data)
    print(f"{len(groups)} groups, {len(entries) // 6} entries, {len(data)} bytes: {[len(part) for part in parts]}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
