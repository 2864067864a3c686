"""Files that writers replace: what is left when the disk is full, or when the program is ended."""

import os
import signal
import subprocess
import sys

import pytest

import tgmio as tgm

# What each writer does with 3 MB, message by message or at once. "end" is where the test looks, or ends the program.
PROGRAMS = {
    "Writer": """
with tgm.Writer(path) as writer:
    for step in range(30):
        writer.object(np.full(12_500, float(step)))
        writer.finish()
        end()
""",
    "save, stored": "tgm.save(path, values); end()",
    "save, packed": "tgm.save(path, {'a': values}, encoding=tgm.Encoding(compression='lz4')); end()",
    "save, with gaps": "values[-1] = np.nan; tgm.save(path, values); end()",
    "append": "tgm.save(path, values, append=True); end()",
    "append by a Writer": """
with tgm.Writer(path, append=True) as writer:
    writer.object(values)
    writer.finish()
end()
""",
}
START = """
import os, resource, sys, numpy as np, tgmio as tgm
path, values = sys.argv[1], np.random.default_rng(0).random(375_000)
"""
FULL = """
end = lambda: None
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    run()
except OSError as error:
    print(error)
"""


def run(program, path, rest):
    lines = program.strip().splitlines()
    text = START + "def run():\n" + "".join(f"    {line}\n" for line in lines) + rest
    return [sys.executable, "-c", text, str(path)]


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE is as a full disk")
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_full_disk_leaves_what_was_there(tmp_path, name, is_there):
    path = tmp_path / "a.tgm"
    if is_there:
        path.write_bytes(tgm.encode({"old": 1}, []))
    before = path.read_bytes() if is_there else None
    done = subprocess.run(run(PROGRAMS[name], path, FULL), capture_output=True, text=True, timeout=60)
    assert "File too large" in done.stdout and str(path) in done.stdout, done.stderr
    if not is_there and "append" in name:
        # A file that is appended to is created first, and has no message then.
        before = b""
    assert (path.read_bytes() if path.exists() else None) == before
    assert os.listdir(tmp_path) == (["a.tgm"] if before is not None else [])


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_is_ended_leaves_what_was_there(tmp_path, number):
    path = tmp_path / "a.tgm"
    path.write_bytes(b"old")
    rest = f"end = lambda: os.kill(os.getpid(), {int(number)})\nrun()"
    done = subprocess.run(run(PROGRAMS["Writer"], path, rest), capture_output=True, timeout=60)
    assert done.returncode == -number
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.tgm"]
