"""The package `tgm` beside the module `tensogram`: one engine, two names."""

import importlib.metadata
import importlib.resources
import pickle
import subprocess
import sys

import pytest

import tensogram
import tgm

SAME = [
    "encode",
    "decode",
    "decode_object",
    "decode_range",
    "decode_with_masks",
    "Metadata",
    "DataObjectDescriptor",
    "TensogramFile",
    "StreamingEncoder",
    "AsyncTensogramFile",
    "IntegrityError",
    "HashMismatchError",
    "MissingHashError",
    "scan",
    "validate",
]


@pytest.mark.parametrize("name", SAME)
def test_both_modules_have_the_same(name):
    assert getattr(tensogram, name) is getattr(tgm, name)


def test_versions():
    assert tensogram.__version__ == "0.24.0"
    assert tgm.__version__ == importlib.metadata.version("tgm")
    assert importlib.metadata.version("tensogram") == "0.24.0+tgm"


def test_inner_module():
    from tensogram import tensogram as inner

    assert inner.decode is tensogram.decode


def test_types_are_in_the_package():
    files = {f.name for f in importlib.resources.files("tgm").iterdir()}
    assert {"__init__.pyi", "py.typed"} <= files


def test_all_names_exist():
    assert len(set(tgm.__all__)) == len(tgm.__all__)
    for name in tgm.__all__:
        assert hasattr(tgm, name), name


def test_decoded_message():
    assert tensogram.Message is tgm.DecodedMessage
    made = tgm.decode(tgm.encode({"a": 1}, []))
    assert isinstance(made, tensogram.Message)
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is tensogram.Message and again.metadata == made.metadata


@pytest.mark.parametrize("module", ["tgm", "tensogram"])
def test_import_in_developer_mode(module):
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "dev",
            "-W",
            "error",
            "-c",
            f"import {module}, numpy; {module}.decode({module}.encode({{}}, []))",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""


def test_errors_have_a_place():
    good = tgm.encode({}, [({"type": "ntensor", "shape": [4], "dtype": "float32"}, bytes(16))])
    with pytest.raises(tgm.FramingError) as caught:
        tgm.decode(b"TENSOGRM")
    assert caught.value.kind and isinstance(caught.value, ValueError)
    with pytest.raises(tgm.ObjectError) as caught:
        tgm.decode_object(good, 3)
    assert caught.value.object_index == 3
    with pytest.raises(tgm.FramingError) as caught:
        tgm.decode(good[:-30] + bytes(30))
    assert caught.value.offset is None or 0 <= caught.value.offset <= len(good)
