"""Programs from their start to their end: seconds by the clock, processor time and greatest memory.

The greatest memory that the kernel tells of a program includes what the process had that started it. So a small one starts it:
the program `time`. Without it, memory is not measured. What measures itself is in `inside.py`.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

MIB = 1 << 20
INSIDE = pathlib.Path(__file__).with_name("inside.py")
TIME = shutil.which("time")


class Failed(Exception):
    """A program that ended with an error."""


@dataclasses.dataclass
class Row:
    """A program that is measured, and what was measured.

    `inside` says that the program measures itself and prints JSON: seconds, and memory beyond what it had at its start.
    `share` says that the share of its first thread is measured, by one run more.
    """

    label: str
    words: list[str]
    output: pathlib.Path | None = None
    inside: bool = False
    share: bool = False
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    missing: str | None = None
    figures: dict = dataclasses.field(default_factory=dict)
    turns: list[dict] = dataclasses.field(default_factory=list)

    def of(self, name):
        """A figure, or `None` if the row has none."""
        return self.figures.get(name)


@dataclasses.dataclass
class Goal:
    """A demand on a case: what it says, its figure as text, and whether it is met. `None`: nothing to compare with."""

    demand: str
    figure: str
    met: bool | None


@dataclasses.dataclass
class Case:
    """Rows that take turns, and the demands on them."""

    table: str
    name: str
    rows: list[Row]
    goals: Callable[["Case"], list[Goal]] = lambda case: []
    remark: str = ""
    verdicts: list[Goal] = dataclasses.field(default_factory=list)

    def row(self, label):
        """The row that is called so."""
        return next(row for row in self.rows if row.label == label)

    def figure(self, label, name):
        """A figure of a row, `None` if it is missing."""
        return self.row(label).of(name)


def one(row):
    """Runs a program once."""
    if row.output is not None:
        remove(row.output)
    begun = time.perf_counter()
    out = subprocess.PIPE if row.inside else subprocess.DEVNULL
    with tempfile.TemporaryFile() as told, tempfile.NamedTemporaryFile() as used_memory:
        timed = [TIME, "-f", "%M", "-o", used_memory.name] if TIME else []
        process = subprocess.Popen([*timed, *row.words], stdout=out, stderr=told, env={**os.environ, **row.env})
        printed = process.stdout.read() if process.stdout else b""
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            raise Failed(f"{' '.join(row.words)[:200]}\n{told.read().decode(errors='replace')[-500:]}")
        memory = used_memory.read().split()
    figures = {"seconds": seconds, "processor": used.ru_utime + used.ru_stime}
    if memory:
        figures["memory"] = int(memory[-1]) * 1024
    if row.inside:
        figures |= json.loads(printed.splitlines()[-1])
    if row.output is not None:
        figures["bytes"] = size(row.output)
    if row.share and pathlib.Path("/proc/self/schedstat").exists():
        figures["share"] = share_of_first_thread(row)
    return figures


def share_of_first_thread(row):
    """What the first thread of a program takes of its processor time: it alone prints and writes what the others make."""
    if row.output is not None:
        remove(row.output)
    process = subprocess.Popen(row.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **row.env})
    # A program that has ended keeps its counts until it is waited for.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    first = int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return first / (used.ru_utime + used.ru_stime)


def run(case, rounds, limit):
    """Measures the rows of a case by turns. A row that has taken `limit` seconds takes no more turns."""
    rows = [row for row in case.rows if row.missing is None]
    for turn in range(rounds + 1):
        for row in rows:
            if row.missing or (row.turns and sum(each["seconds"] for each in row.turns) > limit):
                continue
            try:
                figures = one(row)
            except (Failed, OSError, ValueError) as error:
                row.missing = f"failed: {str(error).strip().splitlines()[-1][:160]}"
                print(f"{case.name}: {row.label}: {error}", file=sys.stderr)
                continue
            # The first turn warms the caches, and counts only for slow rows, which have no other.
            if turn == 0 and figures["seconds"] <= limit:
                continue
            row.turns.append(figures)
    for row in rows:
        for name in row.turns[0] if row.turns else ():
            values = [turn[name] for turn in row.turns]
            row.figures[name] = max(values) if name == "memory" else statistics.median(values)
    try:
        case.verdicts = case.goals(case)
    except TypeError:
        case.verdicts = [Goal("all rows are measured", "a row is missing", None)]


def size(path):
    """Bytes of a file, or of the files in a folder."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size


def remove(path):
    """Removes a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def inside(label, name, *words, **more):
    """A row that runs a function of `inside.py`."""
    return Row(label, [sys.executable, str(INSIDE), name, *map(str, words)], inside=True, **more)


def program(label, *words, needs=None, **more):
    """A row that runs a program, which may be missing."""
    found = shutil.which(str(words[0]))
    missing = None if found else f"{needs or words[0]} is not installed"
    return Row(label, list(map(str, words)), missing=missing, **more)


def at_most(demand, value, bound, text):
    """A goal that a figure is small. Without a figure it is open."""
    return Goal(demand, "not measured" if value is None else text(value), None if value is None else value <= bound)


def at_least(demand, value, bound, text):
    """A goal that a figure is large. Without a figure it is open."""
    return Goal(demand, "not measured" if value is None else text(value), None if value is None else value >= bound)


def ratio(one, other):
    """A ratio of two figures, `None` if one is missing."""
    return None if one is None or other is None or other == 0 else one / other


def times(value):
    """A ratio as text."""
    return f"{value:.2f} ×"


def percent(value):
    """A share as text."""
    return f"{100 * value:.1f} %"


def seconds(value):
    """Seconds as text."""
    return f"{value:.3f} s" if value < 1 else f"{value:.2f} s"


def mib(value):
    """Bytes as text, in MiB."""
    return f"{value / MIB:.1f} MiB"


def number(value):
    """A count as text."""
    return f"{value:,.0f}"
