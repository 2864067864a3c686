"""Settings of all tests: which module is tested, and what it is not asked."""

import os
import pathlib
import re
import signal

import pytest

import support

# No test leaves this machine. What says so for `cargo test` holds here too.
NOWHERE = pathlib.Path(__file__).parents[3] / ".cargo" / "config.toml"
os.environ.update(re.findall(r'^(\w+) = \{ value = "([^"]*)"', NOWHERE.read_text(), re.MULTILINE))

# A shell starts what runs beside it with Ctrl-C ignored, which programs that a test starts and interrupts would take over.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Marks the folder `better`, and leaves out all tests of that mark when the reference is tested."""
    folder = pathlib.Path(__file__).parent / "better"
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.better)
    if support.REFERENCE:
        left_out = [item for item in items if item.get_closest_marker("better")]
        items[:] = [item for item in items if not item.get_closest_marker("better")]
        config.hook.pytest_deselected(items=left_out)


def pytest_ignore_collect(collection_path):
    """Keeps the reference away from files that import `tgm`."""
    return True if support.REFERENCE and "better" in collection_path.parts else None


def pytest_report_header():
    """Names what is tested."""
    return f"tensogram {support.tensogram.__version__}, {'the reference' if support.REFERENCE else 'on tgm'}"


@pytest.fixture
def one_file(tmp_path):
    """The path of a file of three messages: message i holds four values of i, and `step` i."""
    path = str(tmp_path / "three.tgm")
    file = support.tensogram.TensogramFile.create(path)
    for i in range(3):
        file.append({"base": [{"step": i}], "title": f"message {i}"}, [support.pair([i] * 4, "float32")])
    return path
