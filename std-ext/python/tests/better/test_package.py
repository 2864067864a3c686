"""The package `tgmio` beside the module `tensogram`: one engine, two names."""

import importlib.metadata
import importlib.resources
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tensogram
import tgmio as tgm

# Where the answers differ: bitmasks of messages are flat arrays of bytes, masks of masked arrays are ignored, and keys of
# descriptors may have any name; a scan gives arrays, if it is asked to.
OTHERS = {"decode", "decode_object", "decode_with_masks", "encode", "encode_pre_encoded", "scan", "StreamingEncoder"}


@pytest.mark.parametrize("name", sorted(set(tensogram.__all__) & set(tgm.__all__) - {"__version__", "Message"}))
def test_both_modules_have_the_same(name):
    assert (getattr(tensogram, name) is getattr(tgm, name)) == (name not in OTHERS)


@pytest.mark.parametrize("name", sorted(OTHERS - {"scan", "StreamingEncoder"}))
def test_functions_with_other_answers_differ_in_these_alone(name):
    ours, theirs = getattr(tensogram, name), getattr(tgm, name)
    assert ours.__text_signature__ == theirs.__text_signature__ and ours.__name__ == name
    assert ours.__doc__
    # Programs send functions to other processes.
    assert pickle.loads(pickle.dumps(ours)) is ours and pickle.loads(pickle.dumps(theirs)) is theirs


def test_bitmasks_and_masked_arrays():
    truths = np.arange(12).reshape(3, 4) % 3 == 0
    message = tgm.encode({}, [(None, truths)])
    for module, expected in [(tgm, truths), (tensogram, np.packbits(truths))]:
        for found in (
            module.decode(message).objects[0][1],
            module.decode_with_masks(message).objects[0][1],
            module.decode_object(message, 0)[2],
        ):
            assert found.dtype == expected.dtype and np.array_equal(found, expected), module
    gaps = np.ma.masked_array(np.arange(3), [True, False, False])
    descriptor = {"type": "ntensor", "shape": [3], "dtype": "int64"}
    assert tensogram.decode(tensogram.encode({}, [(descriptor, gaps)])).objects[0][1].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"\.filled\("):
        tgm.encode({}, [(descriptor, gaps)])


def test_versions():
    assert tensogram.__version__ == "0.24.0"
    assert tgm.__version__ == importlib.metadata.version("tgmio")
    assert importlib.metadata.version("tensogram") == "0.24.0+tgm"


def test_inner_module():
    from tensogram import tensogram as inner

    for name in tensogram.__all__:
        if name in vars(inner):
            assert getattr(inner, name) is getattr(tensogram, name), name
    assert OTHERS <= set(vars(inner))


def test_types_are_in_the_package():
    files = {f.name for f in importlib.resources.files("tgmio").iterdir()}
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


@pytest.mark.parametrize("module", ["tgmio", "tensogram"])
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
