"""Small things that many tests need: messages, arrays of each dtype, codecs, and the state of the module."""

import functools
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys

import numpy as np

import tensogram

# The reference has no module `tgmio` beside it.
REFERENCE = importlib.util.find_spec("tgmio") is None

DATA = pathlib.Path(os.environ.get("TGM_TESTS_DATA") or pathlib.Path(__file__).parents[3] / "tests" / "data")

# Dtypes that a plain array carries into `encode`.
PLAIN = [
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

# Dtypes of the format, with the bytes of one element.
WIDTHS = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
}

# Keys of a descriptor for codecs that give back the same bytes, by name.
LOSSLESS = {
    "none": {},
    "zstd": {"compression": "zstd"},
    "zstd level": {"compression": "zstd", "zstd_level": 7},
    "lz4": {"compression": "lz4"},
    "blosc2": {"compression": "blosc2"},
    "szip": {"compression": "szip", "szip_rsi": 16, "szip_block_size": 8, "szip_flags": 8},
}

# Codecs of float64 that lose digits, with the largest error allowed on values from 0 to 100.
LOSSY = {
    "packed": ({"encoding": "simple_packing", "sp_bits_per_value": 16}, 0.01),
    "packed szip": (
        {
            "encoding": "simple_packing",
            "sp_bits_per_value": 16,
            "compression": "szip",
            "szip_rsi": 16,
            "szip_block_size": 8,
            "szip_flags": 8,
        },
        0.01,
    ),
    "packed zstd": ({"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "zstd"}, 0.01),
    "packed lz4": ({"encoding": "simple_packing", "sp_bits_per_value": 24, "compression": "lz4"}, 0.001),
    "zfp rate": ({"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 32.0}, 0.01),
    "zfp precision": ({"compression": "zfp", "zfp_mode": "fixed_precision", "zfp_precision": 40}, 0.01),
    "zfp accuracy": ({"compression": "zfp", "zfp_mode": "fixed_accuracy", "zfp_tolerance": 0.01}, 0.01),
    "sz3": ({"compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.01}, 0.0101),
}


def descriptor(shape, dtype="float32", **keys):
    """A descriptor dict."""
    return {"type": "ntensor", "shape": list(shape), "dtype": dtype, **keys}


def pair(values, dtype="float32", **keys):
    """A descriptor dict and its array, as `encode` takes them."""
    array = np.array(values, dtype=dtype)
    return descriptor(array.shape, dtype, **keys), array


def message(*pairs, meta=None, **options):
    """The bytes of a message of these objects; of four float32 values if there are none."""
    return tensogram.encode(meta if meta is not None else {}, list(pairs or [pair([0, 1, 2, 3])]), **options)


def bare(**options):
    """The bytes of a message without objects."""
    return tensogram.encode({}, [], **options)


def array_of(data, index=0):
    """The array of object `index` of a message."""
    return tensogram.decode(data).objects[index][1]


@functools.cache
def can_encode(codec):
    """True if this build of the module encodes with `codec`. Only blosc2 and sz3 may be missing."""
    if codec not in ("blosc2", "sz3"):
        return True
    keys = {"blosc2": LOSSLESS["blosc2"], "sz3": LOSSY["sz3"][0]}[codec]
    try:
        message(pair(np.arange(64), "float64", **keys))
    except ValueError as error:
        if REFERENCE or codec not in str(error):
            raise
        return False
    return True


def python(code, *arguments, **environment):
    """Runs `code` in a process of its own, and gives what it printed. Fails if that fails."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def resident():
    """Resident memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def public_functions():
    """The names of parameters of each function and method of `tgm`, by its name, such as `Object.decode`."""
    import tgmio as tgm

    found = {}
    # A star import leaves `open` out.
    for name in [*tgm.__all__, "open"]:
        thing = getattr(tgm, name)
        members = [(name, thing)]
        if inspect.isclass(thing):
            members += [(f"{name}.{key}", getattr(thing, key)) for key in dir(thing) if not key.startswith("_")]
        for full, member in members:
            try:
                found[full] = set(inspect.signature(member).parameters)
            except (TypeError, ValueError):
                # It is not a function, or a class that programs do not make.
                pass
    return found
