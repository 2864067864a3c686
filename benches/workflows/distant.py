"""Requests and bytes that reading over HTTP takes, counted by the server. The same on each machine."""

import json
import os
import subprocess

from measure import Case, Goal, Row, number, program, size
from server import serving

MIB = 1 << 20
WINDOW = 8 * MIB


def cases(place):
    """The cases: each row is counted once. `place` has the tool and the data."""
    probe = subprocess.run([place.tgm, "ls", "http://127.0.0.1:9/"], capture_output=True, text=True)
    reason = "this build of tgm has no feature `remote`" if "feature" in probe.stderr else None
    for name in ("series.grib2.tgm", "small.grib2.tgm"):
        yield archive(place, name, reason)
    yield box(place, "series.grib2.tgm", reason)


def archive(place, name, reason):
    source, count = place.data(name), place.count(name.removesuffix(".tgm"))
    catalog, last = place.scratch(f"{name}.catalog"), count - 1 - count // 8
    offset = None
    if reason is None:
        subprocess.run([place.tgm, "catalog", source, "--auto", "-o", catalog], check=True, capture_output=True)
        offset = subprocess.run([place.tgm, "scan", source, "--json"], check=True, capture_output=True, text=True).stdout
        offset = offset_of(offset, last)
    step = 24
    keys = f"mars.param=t and mars.step={step}"
    commands = {
        "the first metadata: get -m 0": ("get", "-m", 0, "-p", "mars.step"),
        f"metadata: get -m {last}": ("get", "-m", last, "-p", "mars.step"),
        f"values: cat -m {last}": ("cat", "-m", last),
        "metadata: get --at": ("get", "--at", offset, "-p", "mars.step"),
        "values: cat --at": ("cat", "--at", offset),
        "ls": ("ls",),
        "ls -w, --catalog": ("ls", "-w", keys, "--catalog", catalog),
        "stats": ("stats",),
    }
    length, rows = size(source), []
    with serving(source.parent) as server:
        for label, words in commands.items():
            row = program(label, place.tgm, *words, server.url(name))
            row.missing = row.missing or reason
            if row.missing is None:
                count_one(row, server)
            rows.append(row)

    # Short messages are read with what lies between them. Long ones are hopped over.
    is_long, windows = length > MIB * count, -(-length // WINDOW)

    def goals(case):
        bounds = {
            "metadata: get --at": 2, "values: cat --at": 3, "ls": (count + count // 4 if is_long else windows) + 2, "stats": windows + 2,
        }
        found = [bounded(case, label, bound) for label, bound in bounds.items()]
        if is_long:
            read, most = case.figure("ls", "bytes"), 64 * 1024 * count
            found.append(Goal("ls reads ≤ 64 KiB a message", "not measured" if read is None else number(read),
                              None if read is None else read <= most))
        read, most = case.figure(f"metadata: get -m {last}", "bytes"), int(1.2 * 24 * last) + 64 * 1024 * (last + 1)
        return [*found, Goal(f"`-m {last}` reads ≤ 64 KiB for each message before it", "not measured" if read is None else
                             number(read), None if read is None else read <= most)]

    remark = (
        "Messages of 1 MiB and more are hopped over: a request each, up to nine side by side where their lengths are alike. Reading all in\n"
        f"requests of 8 MiB would take {windows} requests, and all bytes."
    )
    case = Case("Requests", f"an archive of {count:,} messages, {length:,} bytes", rows, goals, remark if is_long else "")
    case.verdicts = goals(case)
    return case


def box(place, name, reason):
    """Fields of a tree, by the catalogue of the file that has them."""
    source, count = place.data(name), place.count(name.removesuffix(".tgm"))
    wanted, each = 24, size(source) // count
    # With a catalogue of its own, which knows the file on the server.
    copy = place.scratch("box.tgm")
    tree, rows = copy.with_name("box.tree"), []
    copy.write_bytes(source.read_bytes())
    catalog = copy.with_name("box.tgm.catalog")
    with serving(copy.parent) as server:
        run = lambda *words: subprocess.run([place.tgm, "catalog", *words], check=True, capture_output=True)
        if reason is None:
            run(server.url(copy.name), "--auto", "-o", catalog)
            run(copy, "-o", tree)
        row = program(f"extract --cube t of {wanted} fields", place.tgm, "extract", "--cube", "t", "--only",
                      "mars.date=20240101 and mars.step<=138", "-O", place.scratch("box.npy"), server.url(tree.name))
        row.missing = row.missing or reason
        if row.missing is None:
            count_one(row, server)
        rows.append(row)

    def goals(case):
        label, extra = rows[0].label, 0 if reason else size(tree) + size(catalog) + 64 * 1024
        read, most = case.figure(label, "bytes"), int(1.2 * wanted * each) + extra
        # The tree, the catalogue, the version of the file; then the fields side by side.
        return [bounded(case, label, wanted + 3), Goal("≤ 1.2 × the bytes of the fields", "not measured" if read is None else
                                                       number(read), None if read is None else read <= most)]

    case = Case("Requests", f"a box of {wanted} of {count:,} fields by a tree", rows, goals)
    case.verdicts = goals(case)
    return case


def bounded(case, label, bound):
    """A goal on requests."""
    requests = case.figure(label, "requests")
    return Goal(f"{label}: ≤ {bound} requests", "not measured" if requests is None else number(requests),
                None if requests is None else requests <= bound)


def count_one(row: Row, server):
    """Runs a program once, and counts."""
    server.requests.clear()
    server.sent = 0
    env = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(row.words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    if done.returncode:
        row.missing = f"failed: {done.stderr.decode(errors='replace').strip().splitlines()[0][:160]}"
    row.figures = {"requests": len(server.requests), "bytes": server.sent}


def offset_of(text, message):
    """The offset of a message in what `tgm scan --json` prints."""
    found = [each for each in json.loads(text)["segments"] if each.get("message") == message]
    return found[0]["offset"]
