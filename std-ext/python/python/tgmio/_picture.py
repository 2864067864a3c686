"""Small pictures of fields, for notebooks: PNG within HTML."""

import base64
import math
import struct
import zlib

# No picture is made of more bytes of values than this: it should cost some milliseconds.
MOST_BYTES = 8 << 20
# The largest picture, in pixels.
WIDTH, HEIGHT = 192, 96
# Colours from the least value to the greatest one, between which others lie.
COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def picture(field):
    """An object with two dimensions as an element `img`; empty text for others, for large ones, and for what cannot be read."""
    if field.ndim != 2 or min(field.shape) < 2 or field.nbytes > MOST_BYTES or field.dtype.kind == "c":
        return ""
    height, width = field.shape
    step = max(1, math.ceil(height / HEIGHT), math.ceil(width / WIDTH))
    try:
        values = field.read((slice(None, None, step), slice(None, None, step)))
        png, least, greatest = _png(values)
    except (ValueError, OSError, MemoryError):
        # A text about an object must not fail because of its payload.
        return ""
    size = max(1, min(WIDTH * step // width, HEIGHT * step // height))
    image = base64.b64encode(png).decode()
    return (
        f'<img alt="values from {least:g} to {greatest:g}" title="{least:g} to {greatest:g}" '
        f'width="{values.shape[1] * size}" style="image-rendering: pixelated" src="data:image/png;base64,{image}">'
    )


def _png(values):
    """A picture with a palette, and the least and the greatest value. Gaps are transparent."""
    import numpy as np

    values = np.asarray(values, "float64")
    is_number = np.isfinite(values)
    if not is_number.any():
        raise ValueError("there are no values")
    least, greatest = float(values[is_number].min()), float(values[is_number].max())
    # Halves, because the distance of two numbers may be too large to be one.
    scaled = (np.where(is_number, values, least) / 2 - least / 2) / ((greatest / 2 - least / 2) or 1)
    # Number 0 of the palette is for gaps.
    pixels = np.where(is_number, 1 + np.round(scaled * 254), 0).astype("uint8")
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), "uint8")
    rows[:, 1:] = pixels
    places = np.linspace(0, len(COLOURS) - 1, 255)
    channels = [np.interp(places, range(len(COLOURS)), channel) for channel in zip(*COLOURS)]
    palette = bytes(3) + np.stack(channels, 1).round().astype("uint8").tobytes()
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(rows.tobytes(), 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts), least, greatest


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
