"""The codec `tgm` of Zarr: a chunk is the frame of an object, which says itself how it is encoded."""

import asyncio
import math
from dataclasses import dataclass

import numpy as np
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin

from . import _native

NAME = "tgm"


@dataclass(frozen=True)
class TgmCodec(ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """Decodes objects of Tensogram. Where a part of a chunk is asked for, only that part is decoded."""

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data):
        if data.get("name") != NAME or data.get("configuration"):
            raise ValueError(f"the codec 'tgm' has no configuration, and not {data!r}")
        return cls()

    def to_dict(self):
        return {"name": NAME}

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        raise NotImplementedError("the length of an object depends on its values")

    async def _encode_single(self, chunk_array, chunk_spec):
        raise NotImplementedError("archives are written by tgm.save_dataset, and not through Zarr")

    async def _decode_single(self, chunk_bytes, chunk_spec):
        values = await asyncio.to_thread(_whole, chunk_bytes.to_bytes(), chunk_spec)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(values)

    async def _decode_partial_single(self, byte_getter, selection, chunk_spec):
        frame = await byte_getter.get(prototype=chunk_spec.prototype)
        if frame is None:
            return None
        values = await asyncio.to_thread(_part, frame.to_bytes(), selection, chunk_spec)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(values)


def _dtype(chunk_spec):
    dtype = chunk_spec.dtype
    return np.dtype(dtype.to_native_dtype() if hasattr(dtype, "to_native_dtype") else dtype)


def _whole(frame, chunk_spec):
    shape, values = _native._decode_frame(frame, None)
    return _padded(values, shape, chunk_spec)


def _padded(values, shape, chunk_spec):
    """The values as a chunk. An object at the end of an array is shorter than a chunk."""
    dtype, chunk = _dtype(chunk_spec), tuple(chunk_spec.shape)
    own = _own(shape, chunk)
    values = values.astype(dtype, copy=False).reshape(own)
    if own == chunk:
        return values
    out = np.full(chunk, chunk_spec.fill_value, dtype)
    out[tuple(slice(0, size) for size in own)] = values
    return out


def _own(shape, chunk):
    """The shape of an object with the dimensions of a chunk: leading ones of one index may be missing."""
    missing = len(chunk) - len(shape)
    own = (1,) * missing + tuple(shape)
    if missing < 0 or any(size > most for size, most in zip(own, chunk)) or math.prod(chunk[:missing] or (1,)) != 1:
        raise ValueError(f"an object of shape {tuple(shape)} is not a chunk of shape {tuple(chunk)}")
    return own


def _part(frame, selection, chunk_spec):
    """What a selection takes of a chunk: the smallest box that holds it is decoded."""
    chunk = tuple(chunk_spec.shape)
    selection = selection if isinstance(selection, tuple) else (selection,)
    selection += (slice(None),) * (len(chunk) - len(selection))
    box = [_hull(each, size) for each, size in zip(selection, chunk)]
    shape = _native._frame_shape(frame)
    own = _own(shape, chunk)
    if any(end > size for (_, end), size in zip(box, own)):
        # A part of it lies after the end of the object.
        return _whole(frame, chunk_spec)[selection]
    missing = len(chunk) - len(shape)
    _, values = _native._decode_frame(frame, box[missing:])
    values = values.astype(_dtype(chunk_spec), copy=False).reshape([end - start for start, end in box])
    return values[tuple(_moved(each, start, size) for each, (start, _), size in zip(selection, box, chunk))]


def _hull(each, size):
    """The first index that is picked of a dimension, and the one after the last."""
    if isinstance(each, slice):
        picked = range(*each.indices(size))
        if not len(picked):
            return (0, 0)
        return (min(picked[0], picked[-1]), max(picked[0], picked[-1]) + 1)
    picked = np.asarray(each)
    if picked.dtype == bool:
        picked = np.flatnonzero(picked)
    if not picked.size:
        return (0, 0)
    return (int(picked.min()), int(picked.max()) + 1)


def _moved(each, start, size):
    """A key of the chunk as a key of the box that begins at `start`."""
    if isinstance(each, slice):
        first, stop, step = each.indices(size)
        if not len(range(first, stop, step)):
            return slice(0, 0)
        stop = stop - start
        return slice(first - start, stop if stop >= 0 else None, step)
    picked = np.asarray(each)
    if picked.dtype == bool:
        picked = np.flatnonzero(picked)
    return picked - start if picked.ndim else int(picked) - start
