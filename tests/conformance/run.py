#!/usr/bin/env python3
"""Runs the conformance corpus: `run.py READER-COMMAND`, `run.py --writer WRITER-COMMAND`, or both.

README.md beside this file says what a reader and a writer answer, and how results are counted. Only the standard
library of Python 3.9 or later is used.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LEVELS = ("minimal", "full", "hostile", "writer")
# The message that a reader must read before its refusals count.
CONTROL = "minimal/layout/plain"
PASSED, FAILED, UNSUPPORTED = "passed", "failed", "not supported"


class Wrong(Exception):
    """What a reader or writer does otherwise than the sidecar says."""


def check_manifest():
    """Paths of the manifest whose files are missing or other than it says."""
    manifest = json.loads((HERE / "MANIFEST.json").read_text())
    wrong = []
    for entry in manifest["files"]:
        path = HERE / entry["path"]
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
            wrong.append(entry["path"])
    return manifest["files"], wrong


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def same(a, b):
    """Whether two JSON values are the same: 1 and 1.0 differ, as 0.0 and -0.0 do. Undefined may be read as null."""
    a, b = (None if value == {"$undefined": True} else value for value in (a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return type(a) is type(b) and a == b


class Program:
    """A reader or writer: a command that gets further arguments."""

    def __init__(self, command, timeout, memory):
        self.command, self.timeout, self.memory = shlex.split(command), timeout, memory

    def run(self, *arguments):
        """Exit code and standard output. A crash and a timeout are wrong."""
        call = [*self.command, *map(str, arguments)]
        if os.name == "posix" and self.memory:
            # The shell sets the limit and becomes the command. A system without this limit runs it all the same.
            call = ["sh", "-c", f'ulimit -v {self.memory >> 10} 2>/dev/null; exec "$@"', "sh", *call]
        name = arguments[0]
        try:
            done = subprocess.run(
                call,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Wrong(f"{name}: no answer within {self.timeout} s") from None
        except OSError as error:
            raise Wrong(f"cannot run {call[0]}: {error}") from None
        # 100 and more are what shells and languages report of crashes.
        if not 0 <= done.returncode < 100:
            raise Wrong(f"{name}: crashed with exit code {done.returncode}")
        return done.returncode, done.stdout

    def json(self, *arguments):
        code, out = self.run(*arguments)
        try:
            return code, json.loads(out)
        except ValueError:
            if code:
                return code, None
            raise Wrong(f"{arguments[0]}: the answer is not JSON") from None


def require(holds, text):
    if not holds:
        raise Wrong(text)


class Runner:
    """Compares the answers of a reader with sidecars."""

    def __init__(self, reader, writer, without, scratch):
        self.reader, self.writer, self.without, self.scratch = reader, writer, without, scratch
        # A program that refuses every file must not pass by refusing malformed ones.
        self.unread = self.control() if reader else None

    def control(self):
        """Why the reader does not read a plain message, if so."""
        path = HERE / (CONTROL + ".json")
        case = {**json.loads(path.read_text()), "path": path, "name": CONTROL}
        try:
            self.accept(case)
        except Wrong as wrong:
            return str(wrong)
        return None

    def result(self, case):
        """The result of a case, and what is wrong."""
        lacks = [need for need in [*case["needs"], case["feature"]] if need in self.without]
        program = self.writer if case["level"] == "writer" else self.reader
        if program is None:
            return None, ""
        if lacks:
            return UNSUPPORTED, f"without {', '.join(lacks)}"
        if case["verdict"].startswith("reject") and self.unread:
            return FAILED, f"{CONTROL} is not read either: {self.unread}"
        try:
            getattr(self, "write" if case["level"] == "writer" else case["verdict"].replace("-", "_"))(case)
        except Wrong as wrong:
            return FAILED, str(wrong)
        return PASSED, ""

    def write(self, case):
        out = self.scratch / (case["name"].replace("/", "-") + ".tgm")
        code, _ = self.writer.run(case["path"].with_suffix(".request"), out)
        require(code == 0, f"the writer ends with exit code {code}")
        require(out.is_file(), "the writer wrote no file")
        made, expected = out.read_bytes(), case["path"].with_suffix(".tgm").read_bytes()
        at = next((at for at, (a, b) in enumerate(zip(made, expected)) if a != b), min(len(made), len(expected)))
        require(made == expected, f"byte {at} differs; {len(made)} bytes instead of {len(expected)}")

    def reject(self, case):
        """Values of a broken object must not come out; other objects may."""
        path = case["path"].with_suffix(".tgm")
        code, _ = self.reader.json("digest", "--json", path)
        require(code != 0, "digest: the file is accepted")
        if "validate" not in self.without and case.get("validate") != "any":
            code, _ = self.reader.json("validate", "--full", "--json", path)
            require(code != 0, "validate: the file is accepted")

    def reject_verify(self, case):
        """A wrong digest is found by validation; reading may find it too, else values are right."""
        path = case["path"].with_suffix(".tgm")
        code, answer = self.reader.json("digest", "--json", path)
        if code == 0 and "messages" in case:
            self.compare(case["messages"], answer)
        if "validate" not in self.without:
            code, _ = self.reader.json("validate", "--full", "--json", path)
            require(code != 0, "validate: the file is accepted")

    def accept(self, case):
        path = case["path"].with_suffix(".tgm")
        code, answer = self.reader.json("digest", "--json", path)
        require(answer is not None, f"digest: exit code {code} and no answer")
        require(code == 0 or case.get("damaged"), f"digest: exit code {code}: {first_error(answer)}")
        self.compare(case["messages"], answer)
        wanted = "any" if case.get("damaged") or "validate" in self.without else case.get("validate", "accept")
        if wanted != "any":
            code, _ = self.reader.json("validate", "--full", "--json", path)
            require((code == 0) == (wanted == "accept"), f"validate: exit code {code}, where validation must {wanted}")
        if "metadata" not in self.without and any("metadata" in message for message in case["messages"]):
            self.metadata(case, path)
        if "ranges" not in self.without:
            for number, message in enumerate(case["messages"]):
                for at, item in enumerate(message["objects"]):
                    for part in item.get("ranges", ()):
                        self.range(case, number, at, part)

    @staticmethod
    def compare(expected, answer):
        found = answer.get("messages")
        require(isinstance(found, list), "digest: no list of messages")
        require(len(found) == len(expected), f"digest: {len(found)} messages instead of {len(expected)}")
        for number, (message, wanted) in enumerate(zip(found, expected)):
            where = f"digest: message {number}"
            for key in ("offset", "length"):
                require(message.get(key) == wanted[key], f"{where}: {key} {message.get(key)} instead of {wanted[key]}")
            require("error" not in message, f"{where}: {first_error(message)}")
            objects = message.get("objects", [])
            require(
                len(objects) == len(wanted["objects"]),
                f"{where}: {len(objects)} objects instead of {len(wanted['objects'])}",
            )
            for at, (item, want) in enumerate(zip(objects, wanted["objects"])):
                require("error" not in item, f"{where}, object {at}: {first_error(item)}")
                for key in ("dtype", "shape", "bytes", "sha256"):
                    require(
                        item.get(key) == want[key],
                        f"{where}, object {at}: {key} {item.get(key)} instead of {want[key]}",
                    )

    def metadata(self, case, path):
        code, answer = self.reader.json("dump", "--json", path)
        require(answer is not None and (code == 0 or case.get("damaged")), f"dump: exit code {code}")
        for number, (message, wanted) in enumerate(zip(answer["messages"], case["messages"])):
            if "metadata" not in wanted:
                continue
            found = {key: message.get(key, {}) for key in ("extra", "reserved")}
            found["base"] = [item.get("metadata", {}) for item in message.get("objects", [])]
            for key, want in wanted["metadata"].items():
                require(
                    same(found[key], want),
                    f"dump: message {number}: {key} is {json.dumps(found[key])[:300]}, not {json.dumps(want)[:300]}",
                )

    def range(self, case, number, at, part):
        path = case["path"].with_suffix(".tgm")
        out = self.scratch / (case["name"].replace("/", "-") + f"-{number}-{at}-{part['start']}-{part['count']}")
        asked = f"{part['start']}:{part['count']}"
        code, _ = self.reader.run(
            "extract",
            path,
            "--message",
            number,
            "--object",
            at,
            "--range",
            asked,
            "--byte-order",
            "little",
            "--output",
            out,
        )
        where = f"extract: range {asked} of message {number}, object {at}"
        require(code == 0 and out.is_file(), f"{where}: exit code {code}")
        require(sha256(out.read_bytes()) == part["sha256"], f"{where}: {out.stat().st_size} bytes that differ")


def first_error(answer):
    """The first error text in an answer."""
    if isinstance(answer, dict):
        error = answer.get("error")
        if error is not None:
            return error.get("message", error) if isinstance(error, dict) else error
        answer = list(answer.values())
    for item in answer if isinstance(answer, list) else ():
        found = first_error(item) if isinstance(item, (dict, list)) else None
        if found:
            return found
    return None


def load(entries, given):
    """The cases that are asked for."""
    out = []
    for entry in entries:
        path = HERE / entry["path"]
        name = entry["path"][: -len(".json")]
        if path.suffix != ".json" or (given.only and not any(part in name for part in given.only)):
            continue
        level, feature, _ = name.split("/")
        if (given.level and level not in given.level) or (given.feature and feature not in given.feature):
            continue
        out.append({**json.loads(path.read_text()), "path": path, "name": name})
    return out[:: given.every]


def table(results):
    """Passed, failed and not supported, by level and feature."""
    rows, counts = {}, {}
    for case, result, _ in results:
        for key in ((case["level"], case["feature"]), (case["level"], "all")):
            counts.setdefault(key, {PASSED: 0, FAILED: 0, UNSUPPORTED: 0})[result] += 1
            rows.setdefault(case["level"], {})
            rows[case["level"]].setdefault(key[1], None)
    print(f"{'level':9}{'feature':18}{'passed':>8}{'failed':>8}{'not supported':>15}{'score':>8}")
    for level in LEVELS:
        features = sorted(feature for feature in rows.get(level, ()) if feature != "all")
        for feature in [*features, "all"] if features else ():
            count = counts[level, feature]
            total = sum(count.values())
            score = f"{100 * count[PASSED] // total}%"
            print(f"{level:9}{feature:18}{count[PASSED]:8}{count[FAILED]:8}{count[UNSUPPORTED]:15}{score:>8}")
    return counts


def size(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)


def names(text):
    return [name for name in text.split(",") if name]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", nargs="?", help="command of a reader")
    parser.add_argument("--writer", help="command of a writer: it gets REQUEST and OUT.tgm")
    parser.add_argument("--level", type=names, help=f"only these of {', '.join(LEVELS)}")
    parser.add_argument("--feature", type=names, help="only these features")
    parser.add_argument("--only", action="append", metavar="NAME", help="only cases whose name contains NAME")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th of these cases")
    parser.add_argument(
        "--without",
        type=names,
        default=[],
        metavar="NAME,...",
        help="codecs, features or commands (validate, metadata, ranges) that the reader lacks: not counted as failures",
    )
    parser.add_argument("--timeout", type=float, default=20, help="seconds for each command (20)")
    parser.add_argument(
        "--memory", type=size, default=size("1G"), help="address space of each command (1G; 0: no limit)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="commands at the same time")
    parser.add_argument("--json", action="store_true", help="print all results as JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the rules behind each failure")
    given = parser.parse_args()
    if not given.reader and not given.writer:
        parser.error("a reader, or --writer, is needed")
    return given


def main():
    given = arguments()
    entries, wrong = check_manifest()
    if wrong:
        sys.exit("files other than MANIFEST.json says: " + ", ".join(wrong))
    programs = [
        Program(command, given.timeout, given.memory) if command else None for command in (given.reader, given.writer)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(*programs, set(given.without), pathlib.Path(scratch))
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            cases = load(entries, given)
            results = [(case, *result) for case, result in zip(cases, pool.map(runner.result, cases))]
    results = [found for found in results if found[1] is not None]
    if not results:
        sys.exit("no case has that name, level and feature")
    failed = [found for found in results if found[1] == FAILED]
    if given.json:
        listed = [{"name": case["name"], "result": result, "why": why} for case, result, why in results]
        print(json.dumps({"schema": "tgm.conformance.results/1", "passed": not failed, "results": listed}, indent=1))
    else:
        for case, _, why in failed:
            print(f"{case['name']}: {why}")
            if given.verbose:
                print(f"    {case['about']}")
                for rule in [*case["rules"], *([case["breaks"]["rule"]] if "breaks" in case else [])]:
                    print(f"    {rule}")
        table(results)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
