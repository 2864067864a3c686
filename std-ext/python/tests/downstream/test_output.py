"""Files that datasets and catalogues are written to: what is there before, who else writes, and what is left when it fails."""

import os
import random
import stat
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import xarray as xr

import tgmio as tgm
from tgmio._xarray import LeftOutWarning

# Appends parts until it is killed or has done all, and says which ones were appended.
APPENDER = """
import sys, numpy as np, xarray as xr, tgmio as tgm
path, own, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
for number in range(count):
    label = own * 1000 + number
    values = np.full((1, size), float(label))
    part = xr.Dataset({"v": (("t", "x"), values), "w": (("t", "x"), values + 0.5)}, {"t": [label]})
    tgm.save_dataset(part, path, append_dim="t", encoding={name: {"compression": "none"} for name in part.data_vars})
    print(label, flush=True)
"""


def appender(path, own, count, size=3):
    command = [sys.executable, "-c", APPENDER, str(path), str(own), str(count), str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def labels_in(path):
    """The labels of all parts, whose values are as they were given."""
    with xr.open_dataset(path, engine="tgm") as found:
        assert (found.v == found.t).all() and (found.w == found.t + 0.5).all()
        return found.t.values.tolist()


def part(label=0):
    values = np.full((1, 3), float(label))
    return xr.Dataset({"v": (("t", "x"), values), "w": (("t", "x"), values + 0.5)}, {"t": [label]})


@pytest.mark.parametrize("is_there", [False, True])
def test_processes_that_append_at_the_same_time_all_succeed(tmp_path, is_there):
    path = tmp_path / "a.tgm"
    if is_there:
        tgm.save_dataset(part(-1), path)
    running = [appender(path, own, 5) for own in range(4)]
    done = []
    for each in running:
        out, errors = each.communicate(timeout=120)
        assert not errors and each.returncode == 0, errors
        done += map(int, out.split())
    assert len(done) == 20
    assert sorted(labels_in(path)) == sorted(done + [-1] * is_there)
    assert os.listdir(tmp_path) == ["a.tgm"]


def test_what_was_appended_stays_when_processes_are_killed(tmp_path):
    path = tmp_path / "a.tgm"
    chance, done = random.Random(7), []
    for own in range(4):
        killed, other = appender(path, 2 * own, 50, 300_000), appender(path, 2 * own + 1, 2, 300_000)
        done.append(int(killed.stdout.readline()))
        time.sleep(chance.random() * 0.1)
        killed.kill()
        out, errors = other.communicate(timeout=120)
        # It may find the part of the one that was killed, which it reports.
        assert other.returncode == 0 and (not errors or "or that was interrupted" in errors), errors
        done += map(int, out.split())
        done += map(int, killed.communicate()[0].split())
    # A part that was not complete is reported and skipped.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        found = labels_in(path)
    # One that was appended just before the end could not say so.
    assert set(done) <= set(found) and len(found) == len(set(found)) <= len(done) + 4
    assert os.listdir(tmp_path) == ["a.tgm"]


@pytest.mark.parametrize("append_dim", [None, "t"])
def test_what_fails_leaves_the_file_as_it_was(tmp_path, append_dim):
    path = tmp_path / "a.tgm"
    tgm.save_dataset(part(), path)
    before = path.read_bytes()

    class Failing(Exception):
        pass

    def fail(_):
        raise Failing

    dask = pytest.importorskip("dask.array")
    failing = xr.Dataset({"v": part(1).v, "w": part(1).w.copy(data=dask.ones((1, 3)).map_blocks(fail, dtype=float))})
    with pytest.raises(Failing):
        tgm.save_dataset(failing, path, append_dim=append_dim)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.tgm"]
    tgm.save_dataset(part(1), path, append_dim=append_dim)
    assert labels_in(path) == ([0, 1] if append_dim else [1])


@pytest.mark.parametrize("append_dim", [None, "t"])
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, append_dim):
    path = tmp_path / "a.tgm"
    tgm.save_dataset(part(), path)
    before = path.read_bytes()
    program = f"""
import resource, numpy as np, xarray as xr, tgmio as tgm
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
few, many = np.ones((9000, 3)), np.random.default_rng(0).random((9000, 3))
big = xr.Dataset({{"v": (("t", "x"), few), "w": (("t", "x"), many)}}, {{"t": np.arange(9000)}})
try:
    tgm.save_dataset(big, {str(path)!r}, append_dim={append_dim!r})
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert str(path) in done.stdout and "too large" in done.stdout, done.stderr
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.tgm"]


def save_catalogue(path):
    source = os.path.join(os.path.dirname(path), "source.tgm")
    tgm.save(source, [np.arange(3)])
    tgm.catalogue(source).save(path)


WRITERS = [lambda path: tgm.save_dataset(part(), path), save_catalogue]


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_stays_and_the_mode_stays(tmp_path, write):
    target, link, other = tmp_path / "target", tmp_path / "link", tmp_path / "other"
    other.touch()
    usual = stat.S_IMODE(other.stat().st_mode)
    link.symlink_to("target")
    for mode in (None, 0o600, 0o640):
        if mode is not None:
            target.write_bytes(b"old")
            target.chmod(mode)
        write(str(link))
        assert link.is_symlink() and target.read_bytes() != b"old"
        assert stat.S_IMODE(target.stat().st_mode) == (usual if mode is None else mode)


@pytest.mark.parametrize("write", WRITERS)
def test_a_pipe_is_written_and_stays(tmp_path, write):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write(str(pipe))
    reader.join(10)
    assert len(found[0]) > 100 and stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OSError, match="not a file"):
        tgm.save_dataset(part(), pipe, append_dim="t")


@pytest.mark.parametrize("write", WRITERS)
def test_the_umask_of_the_process_is_never_another(tmp_path, monkeypatch, write):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("files of other threads would get other modes"))
    write(str(tmp_path / "a"))


def test_a_file_that_is_replaced_is_as_private_as_it_was_from_the_beginning(tmp_path):
    path, modes = tmp_path / "a.tgm", []
    path.write_bytes(b"old")
    path.chmod(0o600)

    def look(block):
        # Also files without a name are among those that are open.
        for each in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{each}").startswith(str(tmp_path)):
                    modes.append(stat.S_IMODE(os.stat(f"/proc/self/fd/{each}").st_mode))
            except FileNotFoundError:
                pass
        return block

    dask = pytest.importorskip("dask.array")
    tgm.save_dataset(xr.Dataset({"v": ("x", dask.ones(3).map_blocks(look, dtype=float))}), path)
    assert set(modes) == {0o600}


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_nothing_is_left_by_a_program_that_is_ended(tmp_path, signal):
    program = f"""
import time, dask.array, xarray as xr, tgmio as tgm
def wait(block):
    print("begun", flush=True)
    time.sleep(60)
    return block
waiting = dask.array.ones(3).map_blocks(wait, dtype=float)
tgm.save_dataset(xr.Dataset({{"v": ("x", waiting)}}), {str(tmp_path / "a.tgm")!r})
"""
    running = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert running.stdout.readline() == "begun\n"
    running.send_signal(getattr(__import__("signal"), signal))
    running.communicate(timeout=60)
    assert os.listdir(tmp_path) == []
