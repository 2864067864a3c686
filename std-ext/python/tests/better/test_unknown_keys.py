"""Keys of descriptors that no reader knows are refused by all that writes, and told the nearest one; the package `tensogram` keeps them."""

import io
import pathlib

import numpy as np
import pytest

import tensogram
import tgmio as tgm

PLAIN = {"type": "ntensor", "shape": [2], "dtype": "float64"}
VALUES = np.zeros(2)


def written_by_writer(descriptor):
    with tgm.Writer(io.BytesIO()) as writer:
        writer.object(VALUES, encoding=descriptor)


def written(descriptor):
    """All ways of `tgm` to write an object with a descriptor."""
    return {
        "encode": lambda: tgm.encode({}, [(descriptor, VALUES)]),
        "encode_pre_encoded": lambda: tgm.encode_pre_encoded({}, [(descriptor, VALUES.tobytes())]),
        "write_object": lambda: tgm.StreamingEncoder({}).write_object(descriptor, VALUES),
        "write_object_pre_encoded": lambda: tgm.StreamingEncoder({}).write_object_pre_encoded(descriptor, VALUES.tobytes()),
        "Writer": lambda: written_by_writer(descriptor),
        "save": lambda: tgm.save(io.BytesIO(), [VALUES], encoding=descriptor),
    }


@pytest.mark.parametrize("way", written(None))
@pytest.mark.parametrize(
    "key, advice",
    [
        ("compresion", "did you mean 'compression'?"),
        ("zstd_levle", "did you mean 'zstd_level'?"),
        ("sp_bits", "did you mean 'sp_bits_per_value'?"),
        ("qqq", "its keys are type, ndim, shape"),
        ("units", r"belongs in meta\['base'\]"),
    ],
)
def test_a_key_that_nobody_knows_is_refused(way, key, advice):
    with pytest.raises(ValueError, match=f"unknown key .{key}.*{advice}"):
        written({**PLAIN, key: 1})[way]()


@pytest.mark.parametrize("way", written(None))
def test_keys_that_readers_know_are_taken(way):
    written({**PLAIN, "hash": None, "szip_rsi": 128, "masks": {}})[way]()


@pytest.mark.filterwarnings("ignore:descriptor keys")
def test_programs_for_tensogram_keep_theirs(tmp_path):
    descriptor = {**PLAIN, "mine": 7, "units": "K"}
    encoder = tensogram.StreamingEncoder({})
    encoder.write_object(descriptor, VALUES)
    encoder.write_object_pre_encoded(descriptor, VALUES.tobytes())
    path = str(tmp_path / "x.tgm")
    tensogram.TensogramFile.create(path).append({}, [(descriptor, VALUES)])
    for message in (
        tensogram.encode({}, [(descriptor, VALUES)]),
        tensogram.encode_pre_encoded({}, [(descriptor, VALUES.tobytes())]),
        encoder.finish(),
        pathlib.Path(path).read_bytes(),
    ):
        _, descriptors = tgm.decode_descriptors(message)
        assert all(each.params == {"mine": 7, "units": "K"} for each in descriptors)
        # What was read can be written, whatever it has.
        assert tgm.encode({}, [(descriptors[0], VALUES)])
