"""What the tables of GRIB keys have for edition 1: parameters, levels, statistics, domains, and layouts of section 1.

`of` is the module tables.py, which has the means.
"""
import re

import rules

# The first byte of groups of parameters of edition 1: no discipline has it. The table and the number of the parameter follow.
PARAMETERS = 254
# Concepts, after the ones of tables.py.
LEVTYPE, LEVEL, STATISTIC, CLUSTER_DOMAIN, WAVE_DOMAIN, ESWI_CLASS, ESWI_TYPE, ESWI_STREAM, ESWI_MODEL = range(28, 37)
ESWI = {ESWI_CLASS: "class", ESWI_TYPE: "type", ESWI_STREAM: "stream", ESWI_MODEL: "model"}
# Centres that have definitions of edition 1 alone: their folders come after the ones of tables.py.
FOLDERS = "sbsj rjtd enmi eidb".split()
# What tables call a definition of section 1: its number and this; definitions with two forms have a second number.
LOCAL_DEFINITION = 61000
WAVES = 61130
OCEAN = 61400
# Rules of edition 1: streams have this beside their number, and definitions of section 1 stand in a stream of their own.
STREAMS = 30000
LOCAL_RULES = 60001
# The octet after class, type, stream and version.
# Keys that have another word here.
WORDS = {"number": "perturbationNumber", "ensembleSize": "numberOfForecastsInEnsemble", "dateOfForecastRun": "referenceDate",
         "northLatitudeOfDomainOfTubing": "northernLatitudeOfDomain", "westLongitudeOfDomainOfTubing": "westernLongitudeOfDomain",
         "southLatitudeOfDomainOfTubing": "southernLatitudeOfDomain", "eastLongitudeOfDomainOfTubing": "easternLongitudeOfDomain",
         "directionNumber": "waveDirectionNumber", "frequencyNumber": "waveFrequencyNumber"}
ARRAY = re.compile(r"unsigned\[(\d)\]\s+\w+\[(\w+)\]")
# Words of ecCodes for statistics over an interval, as numbers of code table 4.10, and for what has one step.
STATISTICS = {"avg": 0, "accum": 1, "max": 2, "min": 3, "diff": 4, "rms": 5, "sd": 6, "cov": 7,
              "instant": 255, "avgfc": 254, "avgua": 254, "avgia": 254, "varins": 254}
OTHER_STATISTIC = 253
ANY_RANGE = 256
# A grid of this name, as a number: octahedral ones have this more.
OCTAHEDRAL = 100000


def folders(of):
    """Numbers and names of folders of concepts."""
    return [(number, name) for number, name in enumerate(["", *of.FOLDERS, *FOLDERS])]


def text_of(read, name, concept):
    base = f"grib1/localConcepts/{name}/" if name else "grib1/"
    return (read(f"{base}{concept}.def") or "").replace('"', "'")


def groups(read, of):
    """(group, folder, conditions, value) for everything but codes."""
    keys = ("table2Version", "indicatorOfParameter")
    for folder, name in folders(of):
        numbers = {(group, found): int(number) for group, found, number in of.grouped(of.concept(text_of(read, name, "paramId")), keys)}
        for group, found, short in of.grouped(of.concept(text_of(read, name, "shortName")), keys):
            yield (PARAMETERS, *group), folder, found, (numbers.get((group, found), 0), "" if short == "~" else short)
        for group, found, value in of.grouped(of.concept(text_of(read, name, "typeOfLevel")), ["indicatorOfTypeOfLevel"]):
            yield (of.OTHER, LEVEL, *group), folder, found, (0, value)
        for group, found, value in of.grouped(of.concept(text_of(read, name, "stepType")), ["timeRangeIndicator"]):
            yield (of.OTHER, STATISTIC, *group), folder, found, (STATISTICS.get(value, OTHER_STATISTIC), value)
        for value, found in of.concept(text_of(read, name, "stepType")):
            # Some tables of one centre, whatever the time range.
            if found and "timeRangeIndicator" not in dict(found):
                found = tuple(sorted((of.KEYS.index(key), number) for key, number in found))
                yield (of.OTHER, STATISTIC, ANY_RANGE), folder, found, (STATISTICS.get(value, OTHER_STATISTIC), value)
        table = read("grib1/3.table" if not name else f"grib1/local/{name}/3.table") or ""
        for code, value in re.findall(r"^(\d+)\s+(\S+)", table, re.M):
            if code != value:
                yield (of.OTHER, LEVTYPE, int(code)), folder, (), (0, value)
    for found, value in domains(read, of, "grib1/cluster_domain.def"):
        yield (of.OTHER, CLUSTER_DOMAIN, 0), 0, found, (0, value)
    for found, value in domains(read, of, "mars/wave_domain.def"):
        yield (of.OTHER, WAVE_DOMAIN, 0), 0, found, (0, value)
    for which, name in ESWI.items():
        for code, value in re.findall(r"^(\d+)\s+(\S+)", read(f"mars/eswi/{name}.table") or "", re.M):
            yield (of.OTHER, which, int(code)), 0, (), (0, value)


def is_known(groups, of, group, folder, found, value):
    """Whether edition 2 has this parameter of ECMWF already, as discipline 192: look-ups of edition 1 end there."""
    kind, table, number = group
    if kind != PARAMETERS or of.FOLDERS[folder - 1:folder] != ["ecmf"] or found:
        return False
    if (table, number) in of.NAMELESS:
        return value == (number if table == 128 else table * 1000 + number, "")
    folders = groups.get((of.LOCAL, table, number), {})
    for version in (0, len(of.VERSIONS)):
        for at in (1, 0):
            plain = [there for more, there in folders.get(at, {}).get(version, []) if not more]
            if plain:
                return plain[-1] == value
    return False


def domains(read, of, path):
    def number(found):
        return f"gridName={int(found[2]) + (OCTAHEDRAL if found[1] == 'O' else 0)}"
    text = re.sub(r'gridName="([NO])(\d+)"', number, read(path) or "")
    for value, found in of.concept(text):
        yield tuple(sorted((of.KEYS.index(key), number) for key, number in found)), value


def layouts(read, of):
    """(number, fields) of definitions of section 1, from octet 50 on."""
    for number in range(256):
        text = read(f"grib1/local.98.{number}.def")
        if text is None:
            continue
        text = text.replace("ksec1expver[4] ", "unsigned[4] ").replace("marsModel", "localModel")
        # The letter of one definition is the number of another.
        text = text.replace("marsDomain", "localDomain") if number == 40 else text
        path = f"grib1/local.98.{number}.def"
        if number == 13:
            # Five forms, by a flag.
            for flag in range(5):
                form = re.sub(r"if\(localFlag == (\d)\)\s*\{(.*?)\n\}", lambda found: found[2] if int(found[1]) == flag else "", text, flags=re.S)
                yield WAVES + flag, laid_out(of, form)
        elif number == 192:
            # Two in one: members of an ensemble, and satellites. Lengths, numbers and labels stand in front of each.
            of_members = "unsigned[1] perturbationNumber;\nunsigned[1] numberOfForecastsInEnsemble;\nunsigned[1] unused;\n"
            of_satellites = "unsigned[2] satelliteIdentifier;\nunsigned[2] instrumentIdentifier;\nunsigned[2] channelNumber;\n"
            yield LOCAL_DEFINITION + number, laid_out(of, f"pad head(14);\n{of_members}pad head(11);\n{of_satellites}")
        elif number == 4:
            number_of_ocean = of.field(of.FIELD.match("unsigned[2] perturbationNumber"))
            number_of_others = of.field(of.FIELD.match("unsigned[1] perturbationNumber")) + bytes([1, 255])
            rest = b"".join(of.field(of.FIELD.match(f"unsigned[1] {name}")) for name in ("flagShowingPostAuxiliaryArrayInUse", "systemNumber", "methodNumber"))
            yield LOCAL_DEFINITION + number, number_of_ocean + rest
            yield OCEAN, number_of_others + rest
        else:
            yield LOCAL_DEFINITION + number, laid_out(of, text)


def laid_out(of, text):
    def array(found):
        return f"items list({found[2]}) {{ unsigned[{found[1]}] item; }}" if found[2] in of.KEYS else "if (unknown) { unsigned[1] item; }"
    for word, ours in WORDS.items():
        text = re.sub(rf"\] +{word}\b", f"] {ours}", text)
    text = re.sub(r"^[ \t]+", "", ARRAY.sub(array, text), flags=re.M)
    return of.fields(lambda _: text, "")[0]


def archive(read, of, numbers):
    """Rules of definitions of section 1, and of each stream with each type: ((stream, type), rules)."""
    unknown = {}

    def rules_of(text, where, *arguments):
        program = rules.Program(read, of.KEYS, numbers, *arguments, edition="1")
        program.run(text)
        for found in program.unknown:
            unknown.setdefault(found, []).append(where)
        return program.rules
    for number in range(256):
        text = read(f"grib1/local.98.{number}.def")
        if text is not None:
            text = text.replace("marsDomain", "localDomain") if number == 40 else text
            text = read("grib1/local_no_mars.98.24.def") if number == 192 else text
            yield (LOCAL_RULES, number), rules_of(text, f"local {number}")
    for stream, stream_number in numbers["stream"].items():
        for kind, kind_number in numbers["type"].items():
            text = read(f"mars/grib.{stream}.{kind}.def")
            if text is not None:
                yield (STREAMS + stream_number, kind_number), rules_of(text, f"{stream}.{kind}", stream, kind)
    for found, where in unknown.items():
        # Archives have no key that depends on a condition.
        if found[0] != "if":
            print("edition 1, not known:", *found, where[:4])
