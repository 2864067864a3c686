"""A program for `tgm` that mypy checks in strict mode. It is not run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import tgm

FIELD = np.zeros((2, 3), "float32")

message = tgm.encode({"base": [{"step": 1}]}, [({"type": "ntensor", "shape": [2, 3], "dtype": "float32"}, FIELD)])
assert_type(message, bytes)

metadata, objects = tgm.decode(message)
assert_type(metadata, tgm.Metadata)
for descriptor, array in objects:
    assert_type(descriptor.shape, list[int])
    assert_type(array, npt.NDArray[Any])

assert_type(tgm.decode_range(message, 0, [(0, 1)]), list[npt.NDArray[Any]])
assert_type(tgm.decode_range(message, 0, [(0, 1)], join=True), npt.NDArray[Any])
assert_type(metadata.get("step"), Any)
assert_type(tgm.validate(message, level="full")["issues"], list[tgm.Issue])
assert_type(tgm.compute_packing_params(np.zeros(3), 16, 0)["sp_bits_per_value"], int)

with tgm.TensogramFile.create("x.tgm") as file:
    file.append({}, [({"type": "ntensor"}, FIELD)], nan_mask_method="roaring")
    assert_type(file[0], tgm.DecodedMessage)
    assert_type(file[1:], list[tgm.DecodedMessage])
    assert_type(file.file_decode_object(0, 0)["data"], npt.NDArray[Any])
    for each in file:
        assert_type(each, tgm.DecodedMessage)

tgm.validate(message, level="thorough")  # type: ignore[arg-type]
tgm.encode({}, [], hash="md5")  # type: ignore[arg-type]


async def main() -> None:
    """Awaits."""
    opened = await tgm.AsyncTensogramFile.open("x.tgm")
    assert_type(opened, tgm.AsyncTensogramFile)
    assert_type(await opened.message_count(), int)
    assert_type(await opened.file_decode_range(0, 0, [(0, 1)], join=True), npt.NDArray[Any])
    async for each in opened:
        assert_type(each, tgm.DecodedMessage)
