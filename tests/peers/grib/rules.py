"""Reads which keys of `mars` a stream and a type have, and section 2 of ECMWF, from the definitions of ecCodes.

A definition is a program: it gives a key a source, takes it away, and asks for class, centre and so on. Its answer here is a
list of rules, each with the conditions under which it holds; later rules win.
"""
import re

# Keys of `mars` that rules give, in the order of `ARCHIVE_KEYS` in archive.rs.
TARGETS = """
date time step timespan levtype levelist number direction frequency domain model origin hdate refdate system method fcmonth
quantile channel ident instrument iteration anoffset coeffindex diagnostic opttime leadtime stattype configuration
activity experiment generation realization resolution year month offsetdate offsettime obscutoff grid _leg_number fcperiod
reference param type stream class expver obstype
""".split()
# Forms of a source: nothing, the number of a key, the text of a key's code, and what `MADE` lists.
NOTHING, NUMBER, CODE, COMPUTED = range(4)
# In the order of `Made` in archive.rs. The first is what is not known here: the key is left out.
MADE = """
unknown stepRange endStep startStep dataDate dataTime centre referenceDate marsForecastMonth quantile quantileOfLimits shift
verificationDate verificationDateOfStart monthlyDate monthlyDateOfStart number dateOfAnalysis timeOfAnalysis
dateOfForecast timeOfForecast dateOfModelVersion timespan one cmcc anoffset post domain year month indexingTime obscutoff dayOfYear dateOfFillUp timeOfFillUp
quantileOfMembers stepOfProbability clusteringDomain waveDomain periodOfSteps periodOfMonth operStream oldim grid localModel levelKind localDomain dayOfTheYear
""".split()
# Conditions, in the order of `Test` in archive.rs, with a number.
CLASS, EARLIER, LEVEL_IS_OCEAN, CENTRE, SUB_CENTRE, LOCAL, HAS_NUMBER, IS_MOMENT, IS_ABSTRACT, LEVEL_TYPE, IS_OLD_STREAM = range(11)

DIRECT = {"stepRange", "endStep", "startStep", "dataDate", "dataTime", "centre", "referenceDate", "marsForecastMonth", "timespan",
          "dateOfAnalysis", "timeOfAnalysis", "dateOfModelVersion", "dateOfForecast", "timeOfForecast", "anoffset", "year", "month"}
NAMED = {"forecastperiod": "periodOfSteps", "forecastPeriod": "periodOfMonth", "marsGrid": "grid", "marsModel": "localModel", "indicatorOfTypeOfLevel": "levelKind", "localDomain": "localDomain", "dayOfTheYearDate": "dayOfTheYear", "tubeDomain": "clusteringDomain",
         "timeSpan": "timespan", "globalDomain": "domain", "forecastMonth": "marsForecastMonth", "cnmc_cmcc": "cmcc",
         "pertNumber": "one", "efas_model": "post", "datestr": "dayOfYear", "indexingTimeHHMM": "indexingTime", "obscutoff": "obscutoff",
         # ecCodes does not add the step to these.
         "fgDate": "dataDate", "fgTime": "dataTime"}
# Keys of edition 1 that have another word here.
ALIASES = {"directionNumber": "waveDirectionNumber", "frequencyNumber": "waveFrequencyNumber",
           "marsStream": "stream"}
# Keys whose codes have names.
CODED = {"dataOrigin", "originatingCentreOfAnalysis", "lcwfvSuiteName", "inputOriginatingCentre", "activity", "experiment", "model",
         "resolution"}

TOKEN = re.compile(r'\s*("[^"]*"|\'[^\']*\'|\|\||&&|==|!=|<=|>=|[()!<>,%*/+-]|[\w.]+)')


class Unknown(Exception):
    """A condition that has no form here."""


def tokens(text):
    at, found = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise Unknown(text)
        found.append(match[1])
        at = match.end()
    return found


def equal_to(operator):
    return operator in ("==", "!=", "is", "isnot")


def negated(choices):
    """The choices that hold where none of these does. A choice is a list of (test, number, holds)."""
    result = [[]]
    for choice in choices:
        result = [[*one, (test, number, not holds)] for one in result for test, number, holds in choice]
    return result


class Conditions:
    """Reads a condition as choices, one of which must hold."""

    def __init__(self, text, numbers, stream, kind, edition):
        self.tokens, self.at = tokens(text), 0
        self.numbers, self.stream, self.kind, self.edition = numbers, stream, kind, edition

    def next(self):
        self.at += 1
        if self.at > len(self.tokens):
            raise Unknown(self.tokens)
        return self.tokens[self.at - 1]

    def peek(self, number=0):
        return self.tokens[self.at + number] if self.at + number < len(self.tokens) else None

    def all(self):
        found = self.any()
        if self.peek() is not None:
            raise Unknown(self.tokens)
        return found

    def any(self):
        found = self.both()
        while self.peek() in ("||", "or"):
            self.next()
            found = found + self.both()
        return found

    def both(self):
        found = self.one()
        while self.peek() in ("&&", "and"):
            self.next()
            other = self.one()
            found = [[*left, *right] for left in found for right in other]
        return found

    def one(self):
        if self.peek() == "!":
            self.next()
            return negated(self.one())
        if self.peek() == "(":
            self.next()
            found = self.any()
            self.next()
            return found
        name = self.next()
        if name in ("defined", "is_one_of"):
            self.next()
            arguments = []
            while self.peek() != ")":
                if self.peek() != ",":
                    arguments.append(self.peek())
                self.next()
            self.next()
            return self.function(name, arguments)
        operator, value = self.next(), self.next().strip("'\"")
        found = self.compared(name, operator, value)
        return found if operator in ("==", "is", "<", ">") else negated(found)

    def function(self, name, arguments):
        if self.edition == "1" and name == "defined" and arguments[0] in ("MTG2Switch", "grib2LocalSectionNumber"):
            # No definition of edition 1 has the numbers that these rules ask for.
            return []
        if arguments[0] == "stattype":
            # ecCodes defines it after these rules: none of them holds.
            return []
        if name == "defined" and arguments[0] in ("MTG2Switch", "grib2LocalSectionNumber", "typeOfLevel"):
            return [[]]
        if name == "defined" and arguments[0] == "perturbationNumber":
            return [[(HAS_NUMBER, 0, True)]]
        raise Unknown(name, arguments)

    def compared(self, name, operator, value):
        fixed = {"edition": self.edition, "editionNumber": self.edition, "stream": self.stream, "type": self.kind}
        if name in fixed and operator in ("==", "!=", "is", "isnot"):
            return [[]] if fixed[name] == value else []
        if self.edition == "1" and name in ("MTG2Switch", "grib2LocalSectionNumber"):
            return []
        if name == "localFlag":
            # Forms of the definition of waves without the number of a leg have no key for it.
            return [[]]
        if name == "indicatorOfTypeOfLevel" and equal_to(operator):
            return [[(LEVEL_TYPE, int(value), True)]]
        if (name, operator, value) == ("marsStream", "<", "1024"):
            return [[(IS_OLD_STREAM, 0, True)]]
        if name == "MTG2Switch" and operator in ("==", "<", ">") and value in ("0", "1"):
            return [[(EARLIER, 0, operator != ">")]]
        equal = equal_to(operator)
        tests = {"class": CLASS, "centre": CENTRE, "subCentre": SUB_CENTRE, "grib2LocalSectionNumber": LOCAL,
                 "localDefinitionNumber": LOCAL}
        if name in tests and equal:
            number = int(value) if value.isdigit() else self.numbers["class"].get(value)
            if number is None:
                return []
            return [[(tests[name], number, True)]]
        if name == "levtype" and equal and value in ("o2d", "o3d"):
            return [[(LEVEL_IS_OCEAN, int(value[1]), True)]]
        if (name, value) == ("startStep", "endStep") and equal and self.peek() != "-":
            return [[(IS_MOMENT, 0, True)]]
        if (name, value) == ("typeOfLevel", "abstractSingleLevel"):
            return [[(IS_ABSTRACT, 0, True)]]
        # An exception for one parameter of edition 1, and a month that only a date in words depends on.
        if (name, value) in (("paramId", "131228"), ("startStep", "endStep")) or name == "month":
            while self.peek() == "-":
                self.next(), self.next()
            return []
        raise Unknown(name, operator, value)


class Program:
    """Rules of one definition: (target, (form, key), conditions)."""

    def __init__(self, read, keys, numbers, stream="", kind="", edition="2"):
        self.read, self.keys, self.numbers, self.stream, self.kind, self.edition = read, keys, numbers, stream, kind, edition
        self.rules, self.names, self.unknown = [], {}, []

    def source(self, name):
        """Where a value comes from."""
        made = self.names.get(name, ALIASES.get(name))
        name = name if made is None else made
        if name == "marsIdent":
            return NUMBER, self.keys.index("indicatorOfTypeOfLevel")
        if self.edition == "1" and name == "forecastMonth":
            return NUMBER, self.keys.index(name)
        if self.edition == "2" and name in ("dayOfTheYearDate", "clusteringDomain"):
            return None
        if name in NAMED or name in DIRECT:
            return COMPUTED, MADE.index(NAMED.get(name, name))
        if name in MADE:
            return COMPUTED, MADE.index(name)
        if name in CODED:
            return CODE, self.keys.index(name)
        if name in self.keys:
            return NUMBER, self.keys.index(name)
        return None

    def define(self, name, text):
        text = re.sub(r"\s+", "", text)
        simple = {
            'sprintf("%d:%d",perturbationNumber,numberOfForecastsInEnsemble)': "quantileOfMembers",
            'sprintf("%d:%d",quantileValue,totalNumberOfQuantiles)': "quantile",
            "g1verificationdate(dataDate,dataTime,endStep)": "verificationDate",
            "g1verificationdate(dataDate,dataTime,startStep)": "verificationDateOfStart",
            "validity_date(dataDate,dataTime,offsetToStartOfForecastFillupInHours,one)": "dateOfFillUp",
            "validity_time(dataDate,dataTime,offsetToStartOfForecastFillupInHours,one)": "timeOfFillUp",
        }
        if name == "totalNumberOfQuantiles":
            self.names["limits"] = "quantileOfLimits"
        elif text in simple:
            self.names[name] = self.names.get("limits", simple[text]) if simple[text] == "quantile" else simple[text]
        elif text == "g1monthlydate(verificationDate)":
            self.names[name] = self.names.get("verificationDate", "verificationDate").replace("verificationDate", "monthlyDate")
        elif name == "marsQuantile":
            self.names[name] = "shift"

    def run(self, text, holds=((),)):
        text = re.sub(r"#.*", "", text)
        if self.edition == "1" and "patch_precip_fp" in text:
            text = "alias mars.step = stepOfProbability; alias mars.number = forecastProbabilityNumber;"
        at = 0
        while at < len(text):
            match = re.compile(r'\s*(?:;|label\s+"[^"]*"\s*;?)').match(text, at)
            if match:
                at = match.end()
                continue
            match = re.compile(r'\s*include\s+"([^"]*)"\s*;?').match(text, at)
            if match:
                self.run(self.read(match[1]) or "", holds)
                at = match.end()
                continue
            match = re.compile(r"""\s*constant\s+(\w+)\s*=\s*"(\w+)"\s*;""").match(text, at)
            if match and match[2] in MADE:
                self.names[match[1]] = match[2]
                at = match.end()
                continue
            match = re.compile(r"\s*_?if\s*\(").match(text, at)
            if match:
                at = self.branch(text, match.end() - 1, holds)
                continue
            match = re.compile(r"\s*alias\s+(mars\.)?(\w+)\s*=\s*([\w.]+)[^;]*;").match(text, at)
            if match:
                if match[1]:
                    self.give(match[2], match[3], holds)
                at = match.end()
                continue
            match = re.compile(r"\s*unalias\s+mars\.(\w+)\s*;").match(text, at)
            if match:
                self.add(match[1], (NOTHING, 0), holds)
                at = match.end()
                continue
            match = re.compile(r'\s*meta\s+(\w+)\s+(\w+\s*\(.*?\))\s*(?::[^;"]*)?;').match(text, at)
            if match:
                self.define(match[1], match[2])
                at = match.end()
                continue
            match = re.compile(r"[^;{}]*[;{}]|[^;{}]+$").match(text, at)
            at = match.end()

    def give(self, target, name, holds):
        source = self.source(name)
        if source is None:
            self.unknown.append((target, name))
            source = (COMPUTED, 0)
        self.add(target, source, holds)

    def add(self, target, source, holds):
        self.rules += [(TARGETS.index(target), source, tuple(choice)) for choice in holds]

    def branch(self, text, opened, holds):
        """Runs an `if` whose condition begins at `opened`. Returns what comes after it."""
        depth, at = 1, opened + 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        condition = text[opened + 1:at - 1]
        body, at = block(text, at)
        other = re.compile(r"\s*else\b\s*").match(text, at)
        try:
            yes = Conditions(condition, self.numbers, self.stream, self.kind, self.edition).all()
            no = negated(yes)
        except Unknown:
            self.unknown.append(("if", condition))
            yes, no = holds, None
            self.blind(body, holds)
            body = ""
        both = lambda more: [[*one, *two] for one in holds for two in more]
        if body:
            self.run(body, both(yes))
        if other:
            at = other.end()
            if text.startswith("if", at):
                at = self.branch(text, text.index("(", at), both(no) if no is not None else holds)
            else:
                body, at = block(text, at)
                if no is None:
                    self.blind(body, holds)
                else:
                    self.run(body, both(no))
        return at

    def blind(self, body, holds):
        """What depends on a condition that has no form here is not known, but for keys of the whole definition."""
        if "marsQuantile" in body:
            self.names["marsQuantile"] = "shift"
            return
        for target in dict.fromkeys(re.findall(r"alias\s+mars\.(\w+)", body)):
            self.add(target, (COMPUTED, 0), holds)


def block(text, at):
    opened = text.index("{", at)
    depth, at = 1, opened + 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[opened + 1:at - 1], at


def encoded(rules):
    """Rules as bytes: target, form, key, number of conditions; each test with a bit for "not", and its number (2)."""
    return b"".join(bytes([target, *source, len(conditions)])
                    + b"".join(bytes([test | (0 if holds else 128)]) + number.to_bytes(2, "little") for test, number, holds in conditions)
                    for target, source, conditions in rules)
