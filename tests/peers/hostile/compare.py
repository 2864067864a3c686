#!/usr/bin/env python3
"""Gives the tool files that were made to harm, of each format: each run ends by itself, soon, in little memory, and says why.

Usage: compare.py TGM [PART...]

A run may end with 0 or 1. It must not panic, crash, hang, take more memory than MEMORY, write more than OUTPUT, or hold a
byte of what lies beside its input. PART names cases to run, by any part of their names.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import archives
import classic
import hdf5
import stores

MEMORY = 2 << 30
# A mapped file of 1 GiB counts too.
RESIDENT = 1300 << 20
OUTPUT = 300 << 20
# HDF5 may find no end in a damaged file. The tool gives it a minute.
SECONDS = 100
SECRET = b"SECRETSS"


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def size_of(path):
    if path.is_dir():
        return sum(size_of(inner) for inner in path.iterdir())
    return path.stat().st_size if path.exists() else 0


def holds_secret(path):
    if path.is_dir():
        return any(holds_secret(inner) for inner in path.iterdir())
    return path.is_file() and SECRET in path.read_bytes()


def run(tgm, arguments):
    """The exit code, what was said, the most memory, and the seconds. Negative codes are signals."""
    begin = time.monotonic()
    child = subprocess.Popen([tgm, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, preexec_fn=limited)
    timer = threading.Timer(SECONDS, child.kill)
    timer.start()
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, said, usage.ru_maxrss << 10, time.monotonic() - begin


def check(tgm, name, make, verbose):
    """What is wrong with a case, as texts."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "secret.bin").write_bytes(SECRET * 512)
        (folder / "in").mkdir()
        made = make(folder / "in")
        if made is None:
            return [f"{name}: not made"] if verbose else []
        paths, more = made if isinstance(made, tuple) else (made, [])
        for path in paths:
            out = folder / "out.tgm"
            code, said, memory, seconds = run(tgm, ["convert", "-o", out, *more, path])
            text = said.decode(errors="replace")
            if code not in (0, 1):
                wrong.append(f"ends with {code} after {seconds:.1f} s: {text[-300:]}")
            if "panicked" in text or "overflow" in text and "stack" in text:
                wrong.append(f"panics: {text[-300:]}")
            if code == 1 and "error: " not in text:
                wrong.append(f"says nothing of its failure: {text[:300]!r}")
            if memory > RESIDENT:
                wrong.append(f"takes {memory >> 20} MiB")
            if SECRET in said or holds_secret(out):
                wrong.append("holds what lies beside its input")
            if size_of(out) > OUTPUT // 2:
                wrong.append(f"writes {size_of(out) >> 20} MiB of {size_of(path)} bytes")
            if any(character < " " and character != "\n" for character in text):
                wrong.append(f"prints control characters: {text[:300]!r}")
            if len(text) > 4 << 20:
                wrong.append(f"says {len(text)} bytes")
            if verbose:
                print(f"{name:55} {code:3} {seconds:5.1f} s {memory >> 20:4} MiB {size_of(out):9} {text[:verbose]!r}",
                      flush=True)
            shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
    return [f"{name}: {what}" for what in wrong]


def wanted(names):
    """Whether a part of a name is asked for, or a kind of which it is a part."""
    return any(part in name or name in part for part in sys.argv[2:] for name in names)


def main():
    tgm, verbose = sys.argv[1], int(os.environ.get("TGM_VERBOSE", "0"))
    modules = [module for module in (classic, hdf5, stores, archives) if not sys.argv[2:] or wanted(module.KINDS)]
    cases, wrong, counted, lock = (case for module in modules for case in module.cases()), [], [0], threading.Lock()

    def work():
        while True:
            # Inputs are made one by one, as some are large.
            with lock:
                name, make = next(cases, (None, None))
            if name is None:
                return
            if not sys.argv[2:] or wanted([name]):
                wrong.extend(check(tgm, name, make, verbose))
                counted[0] += 1

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(work) for _ in range(os.cpu_count())]:
            done.result()
    for what in wrong:
        print(what)
    if wrong or not counted[0]:
        sys.exit(f"{len(wrong)} faults in {counted[0]} cases")
    print(f"{counted[0]} kinds of files that were made to harm end soon, in little memory, and are named")


main()
