"""Errors name arguments of Python's functions, and nothing that a program in Python cannot write."""

import pathlib
import re

import numpy as np
import pytest

import tgmio as tgm
from tgmio import _native

KEYS = {"type": "ntensor", "shape": [4], "dtype": "float64"}
NAN, INF = np.array([0, np.nan, 1, 2]), np.array([0, 1, np.inf, 2])
PACKED = {**KEYS, "encoding": "simple_packing", "sp_bits_per_value": 8}

# Words of the library that a program in Python cannot write.
FOREIGN = re.compile(r"::|=true|=false|Builder|Options|Policy|enable feature|`[a-z0-9-]+` of|cargo|&str|u64|usize")


def text(call):
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        call()
    return str(caught.value)


def streamed(values, **options):
    encoder = tgm.StreamingEncoder({}, **options)
    encoder.write_object(KEYS, values)


ROUTES = {
    "encode nan": (lambda tmp: tgm.encode({}, [(KEYS, NAN)]), "allow_nan=True"),
    "encode inf": (lambda tmp: tgm.encode({}, [(KEYS, INF)]), "allow_inf=True"),
    "encode packed": (lambda tmp: tgm.encode({}, [(PACKED, NAN)]), "NaN"),
    "packing nan": (lambda tmp: tgm.compute_packing_params(NAN, 8, 0), "NaN value encountered at index 1"),
    "stream nan": (lambda tmp: streamed(NAN), "allow_nan=True"),
    "stream inf": (lambda tmp: streamed(INF), "allow_inf=True"),
    "append nan": (lambda tmp: tgm.TensogramFile.create(tmp / "a").append({}, [(KEYS, NAN)]), "allow_nan=True"),
    "stream digests": (lambda tmp: tgm.StreamingEncoder({}, aggregate_hash="both"), "not supported in streaming"),
    "blosc2": (lambda tmp: tgm.encode({}, [({**KEYS, "compression": "blosc2"}, np.zeros(4))]), "blosc2"),
    "sz3": (
        lambda tmp: tgm.encode(
            {}, [({**KEYS, "compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.1}, np.zeros(4))]
        ),
        "sz3",
    ),
    "nesting": (lambda tmp: tgm.decode(nested(3000)), ""),
    "long message": (lambda tmp: next(tgm.MessageStream(open_bytes(tgm.encode({}, [])), max_message_bytes=100)), "100"),
}


def open_bytes(data):
    import io

    return io.BytesIO(data)


def nested(depth):
    """A message whose metadata are changed to arrays in arrays."""
    data = bytearray(tgm.encode({"a": "x" * depth}, []))
    at = data.index(b"x" * depth)
    data[at - 3 : at + depth] = b"\x81" * (depth + 2) + b"\x00"
    return bytes(data)


@pytest.mark.parametrize("route", ROUTES)
def test_texts_are_in_python(route, tmp_path):
    call, words = ROUTES[route]
    try:
        found = text(lambda: call(tmp_path))
    except pytest.fail.Exception:
        if route in ("blosc2", "sz3"):
            pytest.skip("this build has the encoder")
        raise
    assert words in found and not FOREIGN.search(found), found


def test_all_advice_is_in_python():
    advice = _native._advice()
    assert len(advice) > 10
    for theirs, ours in advice:
        assert ours != theirs and not FOREIGN.search(ours), ours


def test_advised_arguments_exist():
    import inspect

    names = set(inspect.signature(tgm.encode).parameters) | {"max_message_bytes"}
    for _, ours in _native._advice():
        advised = re.findall(r"\b([a-z]+_[a-z_]+)(?==True|\))", ours)
        assert set(advised) <= names, ours


@pytest.mark.parametrize("path", ["a.tgm", pathlib.Path("a.tgm")])
@pytest.mark.parametrize("convert", [lambda path: tgm.to_netcdf(path, "a.nc"), tgm.to_grib])
def test_a_path_in_the_place_of_messages_is_told_what_converts_it(convert, path):
    with pytest.raises(TypeError, match=r"messages are expected, not a path: .*`tgm convert a.tgm -o a.nc`.*open_dataset"):
        convert(path)
