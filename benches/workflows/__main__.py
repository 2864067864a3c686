"""What people do with archives, beside other programs: sizes, times, memory and requests.

    benches/run workflows [--quick | --large] [--tables NAME…] [--cases TEXT] [--rounds N] [--markdown FILE] [--json FILE] [--pictures FOLDER]

It makes its data, measures, and prints the page. A program that is not installed has a row that says so.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import cubes
import distant
import measure
import picture
import report
import sizes
import work

TABLES = {"Sizes": sizes, "Requests": distant, "Work": work, "Python and datasets": cubes}
FULL = {
    "grid": [721, 1440], "fields": 32, "series": 256, "small": 100_000, "some": 4000, "variable": 96, "weights": 1 << 26,
    "array": 1 << 24, "files": 100,
}
# As much as the demands on datasets name: some 20 GB of files, and an hour.
LARGE = FULL | {"series": 1000, "small": 114_000, "files": 1000}
QUICK = {
    "grid": [181, 360], "fields": 8, "series": 80, "small": 2000, "some": 200, "variable": 24, "weights": 1 << 21,
    "array": 1 << 20, "files": 10,
}


class Place:
    """The tool, and files that are made when a case asks for them."""

    def __init__(self, folder, tool, asked):
        self.folder, self.tgm, self.sizes = folder, tool, asked
        processors = len(os.sched_getaffinity(0))
        self.thread_counts = [2**i for i in range(processors.bit_length()) if 2**i <= processors]
        if self.thread_counts[-1] != processors:
            self.thread_counts.append(processors)
        for name in ("data", "scratch"):
            (folder / name).mkdir()

    def count(self, name):
        """How many fields a file of GRIB has."""
        kinds = {"series.grib2": "series", "small.grib2": "small", "some.grib2": "some"}
        return self.sizes[kinds.get(name, "fields")]

    def scratch(self, name):
        """A place for a result."""
        return self.folder / "scratch" / name

    def data(self, name):
        """A file, made on demand."""
        path = self.folder / "data" / name
        if path.exists():
            return path
        if name == "plain.tgm":
            self.call("repack", self.data("szip.grib2.tgm"), "--encoding", "none", "--compression", "none", "-o", path)
        elif name == "files":
            self.many(path)
        elif name == "some.grib2":
            # Each message has the same length.
            each = self.data("small.grib2").stat().st_size // self.count("small.grib2")
            with self.data("small.grib2").open("rb") as source:
                path.write_bytes(source.read(each * self.count(name)))
        elif name.endswith(".tgm"):
            self.call("convert", self.data(name.removesuffix(".tgm")), "-o", path)
        else:
            words = [sys.executable, measure.INSIDE.with_name("data.py"), self.folder / "data", json.dumps(self.sizes), name]
            subprocess.run(words, check=True)
        return path

    def many(self, folder):
        """Files of a thousand fields each, with a tree over their catalogues."""
        words = [sys.executable, measure.INSIDE.with_name("data.py"), self.folder / "data", json.dumps(self.sizes), folder.name]
        subprocess.run(words, check=True)
        for grib in sorted(folder.glob("*.grib2")):
            self.call("convert", grib, "-o", grib.with_suffix(".tgm"))
            grib.unlink()
        self.call("catalog", *sorted(folder.glob("*.tgm")), "--auto", "-o", folder / "all.tree")

    def catalog(self, name):
        """The catalogue beside an archive."""
        path = self.data(name)
        if not path.with_name(f"{name}.catalog").exists():
            self.call("catalog", path, "--auto")

    def call(self, *words):
        """Runs the tool."""
        subprocess.run([self.tgm, *words], check=True, stdout=subprocess.DEVNULL)


def about(tool, kind, rounds):
    """Sentences on where and how this was measured."""
    cpu = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    here = pathlib.Path(__file__).parent
    commit = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    load = os.getloadavg()[0]
    versions = [f"{name} {found}" for name, found in peers() if found]
    absent = [name for name, found in peers() if not found]
    lines = [
        f"Machine: {cpu}, {len(os.sched_getaffinity(0))} processors, load {load:.1f} at the start",
        f"{datetime.date.today()}, commit {commit or 'unknown'}, {rounds} rounds, {kind}",
        f"Peers: {', '.join(versions)}",
    ]
    return [*lines, *([f"Not installed: {', '.join(absent)}"] if absent else [])]


def peers():
    """Other programs, with their versions."""
    from importlib.metadata import PackageNotFoundError, version

    for name in ("numpy", "xarray", "cfgrib", "eccodes", "netCDF4", "h5py", "zarr", "safetensors"):
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, None
    for name in ("cdo", "nccopy", "grib_ls", "zstd"):
        yield name, "(program)" if shutil.which(name) else None


def options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="benches/run workflows", description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default=os.environ.get("TGM"), help="the program tgm [default: TGM]")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small data, within a minute")
    size.add_argument("--large", action="store_true", help="data as large as the demands on datasets name, an hour")
    parser.add_argument("--tables", nargs="+", choices=[*TABLES], default=[*TABLES])
    parser.add_argument("--cases", default="", help="only cases with this text in their name")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for SVG")
    asked = parser.parse_args()
    if not asked.tool:
        parser.error("--tool or TGM must name the program tgm")
    missing = [name for name in ("tgmio", "numpy", "eccodes", "netCDF4") if importlib.util.find_spec(name) is None]
    if missing:
        parser.error(f"this Python lacks {', '.join(missing)}")
    return asked


def main():
    """Measures and writes."""
    asked = options()
    rounds = asked.rounds or (3 if asked.quick else 5)
    kind, counts = ("small data", QUICK) if asked.quick else ("large data", LARGE) if asked.large else ("full size", FULL)
    told, cases = about(asked.tool, kind, rounds), []
    with tempfile.TemporaryDirectory(prefix="workflows-") as folder:
        place = Place(pathlib.Path(folder), asked.tool, counts)
        for name in asked.tables:
            for case in TABLES[name].cases(place):
                if asked.cases not in case.name:
                    continue
                if case.table != "Requests":
                    measure.run(case, rounds, 1 if asked.quick else 4)
                cases.append(case)
                for goal in case.verdicts:
                    print(f"{case.name}: {goal.demand}: {goal.figure}{' MISSED' if goal.met is False else ''}", file=sys.stderr)
    page = report.markdown(cases, told, asked.quick)
    print(page)
    if asked.markdown:
        asked.markdown.write_text(page)
    if asked.json:
        asked.json.write_text(json.dumps(report.json(cases, told), indent=1) + "\n")
    if asked.pictures:
        asked.pictures.mkdir(parents=True, exist_ok=True)
        for figure, text, title in (("seconds", measure.seconds, "Time"), ("bytes", measure.number, "Bytes"),
                                    ("memory", measure.mib, "Memory")):
            drawn = picture.bars([case for case in cases if case.table != "Requests"], figure, text, title)
            if drawn:
                (asked.pictures / f"workflows-{title.lower()}.svg").write_text(drawn)


if __name__ == "__main__":
    main()
