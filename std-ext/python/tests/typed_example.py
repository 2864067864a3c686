"""A program for `tgm` that mypy checks in strict mode. It is not run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import tgmio as tgm

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

with tgm.open("x.tgm", mmap=True) as archive:
    assert_type(archive[0], tgm.Message)
    assert_type(archive[1:], list[tgm.Message])
    assert_type(archive.query("step=1"), list[tgm.Object])
    found = archive[0].objects["2t"]
    assert_type(found.read(), npt.NDArray[Any])
    assert_type(found.read(np.s_[1:2, ::3], dtype="float32", checked=True), npt.NDArray[Any])
    assert_type(found.read(ranges=[(0, 3)]), list[npt.NDArray[Any]])
    assert found.read(out=FIELD) is FIELD
    assert_type(found.chunks, tuple[int, ...])

keys: tgm.DescriptorDict = {"type": "ntensor", "compression": "zstd", "zstd_level": 3}
tgm.encode({}, [(tgm.Encoding(within=0.1, compression="szip"), FIELD), (keys, FIELD), (None, FIELD)])
tgm.Encoding(bitz=3)  # type: ignore[call-arg]
tgm.Encoding(compression="zip")  # type: ignore[arg-type]
tgm.save("y.tgm", {"t": FIELD}, encoding=tgm.Encoding(compression="lz4"))
assert_type(tgm.load("y.tgm"), dict[str | int, npt.NDArray[Any]])
with tgm.Writer("z.tgm", append=True) as writer:
    writer.object(FIELD, metadata={"step": 1})
    writer.finish()

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
