"""Files of other formats, and the command `tgm` of the package."""

import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import tgmio as tgm

ROOT = pathlib.Path(__file__).resolve().parents[4]
GRIB = ROOT / "tests/data-grib/simple-16.grib2"
ARCHIVE = ROOT / "tests/data/realistic/surface-181x360.tgm"


def command(*words):
    return subprocess.run([sys.executable, "-m", "tgmio", *map(str, words)], capture_output=True, text=True, timeout=60)


def test_grib_becomes_a_message_and_itself_again(tmp_path):
    made, back = tmp_path / "a.tgm", tmp_path / "b.grib2"
    tgm.convert(GRIB, made)
    assert len(tgm.open(made)) == 1
    tgm.convert(made, back)
    assert back.read_bytes() == GRIB.read_bytes()


def test_functions_of_the_package_tensogram(tmp_path):
    data = GRIB.read_bytes() * 2
    (tmp_path / "two.grib").write_bytes(data)
    one = tgm.convert_grib(tmp_path / "two.grib")
    assert len(one) == 1 and len(tgm.decode(one[0]).objects) == 2
    two = tgm.convert_grib_buffer(data, grouping="one_to_one")
    assert len(two) == 2 and tgm.to_grib(two) == data
    values = tgm.decode(two[0]).objects[0][1]
    assert np.array_equal(values, tgm.decode(one[0]).objects[1][1])
    plain = tgm.convert_grib_buffer(memoryview(data), compression="zstd", compression_level=3, hash=None)
    descriptor, again = tgm.decode(plain[0]).objects[0]
    assert descriptor.compression == "zstd" and np.array_equal(again, values)
    assert tgm.validate(plain[0])["hash_verified"] is False
    few, all_keys = (
        tgm.convert_grib_buffer(data, grouping="one_to_one", preserve_all_keys=keeps)[0] for keeps in (False, True)
    )
    assert len(few) < len(all_keys)


@pytest.mark.parametrize(
    "options", [{"grouping": "all"}, {"hash": "md5"}, {"compression": "nosuch"}, {"encoding": "nosuch"}], ids=str
)
def test_wrong_options_of_the_package_tensogram(options):
    with pytest.raises(ValueError, match="all|md5|nosuch"):
        tgm.convert_grib(GRIB, **options)


def test_options_are_those_of_the_command(tmp_path):
    np.save(tmp_path / "a.npy", np.array([1.0, np.nan]))
    made = tmp_path / "a.tgm"
    tgm.convert([tmp_path / "a.npy"], made, compression="zstd", level=5, no_hash=True, to="tgm", from_="npy")
    assert tgm.open(made)[0][0].stages == ("zstd",)
    with pytest.raises(ValueError, match="unexpected argument '--no-such'") as caught:
        tgm.convert(tmp_path / "a.npy", made, no_such=True)
    assert "error:" not in str(caught.value)
    with pytest.raises(tgm.OtherError, match="NaN"):
        tgm.convert(tmp_path / "a.npy", tmp_path / "none.tgm", allow_nan=False)
    assert not (tmp_path / "none.tgm").exists()
    # A command line that contradicts itself ends the command, and not the process.
    with pytest.raises(ValueError, match="stages are for output in the format tgm"):
        tgm.convert(made, tmp_path / "b.npy", compression="zstd")


def test_names_are_not_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("-", "--help", "-x.npy"):
        with open(name, "wb") as file:
            np.save(file, np.arange(3))
        tgm.convert(name, f"{name}.tgm", from_="npy")
        assert tgm.open(f"{name}.tgm")[0][0].read().tolist() == [0, 1, 2]


def test_what_is_not_kept_is_a_warning_and_what_fails_an_error(tmp_path):
    archive = tmp_path / "a.tgm"
    tgm.save(archive, np.arange(3.0), metadata={"name": "x"})
    with pytest.warns(UserWarning, match="not kept") as caught:
        tgm.convert(archive, tmp_path / "a.npy")
    assert caught[0].filename == __file__
    with pytest.raises(FileNotFoundError):
        tgm.convert(tmp_path / "nosuch.grib", archive)
    with warnings.catch_warnings(), pytest.raises(tgm.OtherError, match="no folder"):
        warnings.simplefilter("ignore")
        tgm.convert(archive, tmp_path / "no folder" / "a.npy")


@pytest.mark.skipif(tgm.__has_netcdf__, reason="a further wheel reads it")
def test_netcdf_names_what_to_install(tmp_path):
    archive = tmp_path / "a.tgm"
    tgm.save(archive, np.arange(3.0))
    (tmp_path / "a.nc").write_bytes(b"CDF\x01" + bytes(200))
    calls = [
        lambda: tgm.convert(tmp_path / "a.nc", archive),
        lambda: tgm.convert(archive, tmp_path / "b.nc"),
        lambda: tgm.convert_netcdf(tmp_path / "a.nc"),
        lambda: tgm.to_netcdf([archive.read_bytes()], tmp_path / "b.nc"),
    ]
    for call in calls:
        with pytest.raises((ValueError, RuntimeError), match="the package `tgmio-netcdf`"):
            call()


def test_threads_convert_while_python_runs(tmp_path):
    (tmp_path / "many.grib").write_bytes(GRIB.read_bytes() * 2000)
    made = [tmp_path / f"{number}.tgm" for number in range(3)]
    threads = [threading.Thread(target=tgm.convert, args=(tmp_path / "many.grib", path)) for path in made]
    for thread in threads:
        thread.start()
    turns = 0
    while any(thread.is_alive() for thread in threads):
        turns += 1
        time.sleep(0.001)
    assert turns > 3
    assert [len(tgm.open(path)) for path in made] == [2000] * 3


def test_the_command(tmp_path):
    version = command("--version")
    assert (version.returncode, version.stdout) == (0, f"tgm {tgm.__version__}\n")
    assert "2t" in command("ls", ARCHIVE, "-w", "mars.param=2t").stdout
    assert command("ls", tmp_path / "nosuch.tgm").returncode == 1
    wrong = command("ls", "--nosuch")
    assert wrong.returncode == 2 and "Usage: tgm ls" in wrong.stderr
    wrong = command("convert", ARCHIVE, "--compression", "zstd", "-o", tmp_path / "a.npy")
    assert wrong.returncode == 2 and "Usage: tgm convert" in wrong.stderr
    odd = tmp_path / "\udcff.tgm"
    odd.write_bytes(ARCHIVE.read_bytes())
    assert command("validate", odd).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of unix")
def test_signals_end_the_command_as_they_end_the_program(tmp_path):
    archive = tmp_path / "a.tgm"
    archive.write_bytes(ARCHIVE.read_bytes())
    words = [sys.executable, "-m", "tgmio", "tail", "--from-start", str(archive)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
        waiting.stdout.readline()
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(30) == -signal.SIGINT and waiting.stderr.read() == b""
    # The exit code is 0 where the reader of the output ends first.
    archive.write_bytes(ARCHIVE.read_bytes() * 300)
    piped = f'"{sys.executable}" -m tgmio dump "{archive}" | head -c 100; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
