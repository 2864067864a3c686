"""Reads with the Python package what the test programs wrote, and writes messages for them to read.

Prints the list that corpus.c reads: the messages written here, with digests of their values."""

import hashlib
import pathlib
import sys

import numpy as np
import tensogram

folder = pathlib.Path(sys.argv[1])
floats, doubles = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1.5, -2, 3, 4])


def decoded(name, index):
    with tensogram.TensogramFile.open(str(folder / name)) as file:
        message = file.decode_message(index)
    return message.metadata, message.objects


for name, index in [("new/folder/messages.tgm", 0), ("new/folder/messages.tgm", 2), ("wrapper.tgm", 0)]:
    metadata, objects = decoded(name, index)
    assert np.array_equal(objects[0][1], floats), name
    assert np.array_equal(objects[1][1], doubles), name
    # The package has no integers beyond 63 bits. The messages of calls.c have one.
    if name == "wrapper.tgm":
        assert metadata.base[0]["mars"]["param"] == "2t", name
_, objects = decoded("pre.tgm", 0)
assert objects[0][1].tolist() == [11, 12]
metadata, objects = decoded("wrapper-stream.tgm", 0)
assert np.allclose(objects[1][1], doubles, atol=1e-5) and metadata.base[0]["step"] == 6

rng = np.random.default_rng(7)
for number, (dtype, extra) in enumerate([
    ("float32", {}), ("float64", {"compression": "zstd"}), ("int16", {"filter": "shuffle", "shuffle_element_size": 2}),
    ("uint8", {"compression": "lz4"}),
    ("int32", {"compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}),
]):
    values = (rng.random(60) * 100).astype(dtype).reshape(5, 12)
    descriptor = {"type": "ntensor", "shape": [5, 12], "dtype": dtype, **extra}
    path = folder / f"theirs-{number}.tgm"
    path.write_bytes(tensogram.encode({"base": [{"n": number}]}, [(descriptor, values)]))
    print(path, 0, 0, values.nbytes, hashlib.sha256(values.tobytes()).hexdigest(), sep="\t")
