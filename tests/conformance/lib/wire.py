"""Messages assembled field by field (FORMAT 1): layouts that an encoder does not write, and bases of malformed files.

A built message is valid: lengths, offsets, index, digests, flags and padding follow the format. A case breaks one field
of it, which it finds by its caption: `preamble.FIELD`, `frame I.FIELD`, `postamble.FIELD`.
"""

import struct

from cbor import encode
from xxh3 import xxh3_64

METADATA, INDEX, HASHES, FOOTER_HASHES, FOOTER_INDEX, FOOTER_METADATA, PRECEDER, OBJECT = 1, 2, 3, 5, 6, 7, 8, 9
FLAG = {METADATA: 1, FOOTER_METADATA: 2, INDEX: 4, FOOTER_INDEX: 8, HASHES: 16, FOOTER_HASHES: 32, PRECEDER: 64}
HASHES_PRESENT = 128
WIDTH = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
}
SWAP_UNIT = {**WIDTH, "complex64": 4, "complex128": 8, "bitmask": 1}


def product(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


def strides(shape):
    """Row-major, in elements."""
    return [product(shape[axis + 1 :]) for axis in range(len(shape))]


def descriptor(dtype, shape, byte_order="little", **more):
    """A descriptor without stages; further keys replace these or are added."""
    return {
        "ndim": len(shape),
        "type": "ntensor",
        "dtype": dtype,
        "shape": list(shape),
        "strides": strides(shape),
        "byte_order": byte_order,
        "encoding": "none",
        "filter": "none",
        "compression": "none",
        **more,
    }


class Object:
    """The body of a frame of type 9."""

    def __init__(self, described, payload, masks=(), first=False, gap=b"", slack=b""):
        self.described, self.payload, self.masks, self.first = described, payload, list(masks), first
        # Bytes that a reader ignores: before a descriptor that comes first, after one that comes last.
        self.gap, self.slack = gap, slack

    def write(self):
        """The body, and the offset of the descriptor from the frame's start."""
        described, at = self.described, len(self.payload)
        if self.masks:
            entries = {}
            for kind, method, blob in self.masks:
                entries[kind] = {"length": len(blob), "method": method, "offset": at}
                at += len(blob)
            described = {**described, "masks": entries}
        item = described if isinstance(described, bytes) else encode(described)
        region = self.payload + b"".join(blob for _, _, blob in self.masks)
        if self.first:
            return self.gap + item + region, 16 + len(self.gap)
        return region + item + self.slack, 16 + len(region)


class Frame:
    """A frame of the body's bytes, an object, or a function that makes the body of the objects' entries."""

    def __init__(self, kind, body, padding=None, flags=None, version=1, digest=None):
        self.kind, self.body, self.padding, self.flags, self.version, self.digest = (
            kind,
            body,
            padding,
            flags,
            version,
            digest,
        )


def metadata(value, kind=METADATA, **more):
    return Frame(kind, value if isinstance(value, bytes) else encode(value), **more)


def preceder(entry):
    return metadata({"base": [entry]}, PRECEDER)


def index(kind=INDEX, change=None):
    """Lists (offset, length) of the objects; `change` makes it wrong."""

    def body(entries):
        listed = [(at, length) for at, length, _ in entries]
        listed = change(listed) if change else listed
        return encode({"offsets": [at for at, _ in listed], "lengths": [length for _, length in listed]})

    return Frame(kind, body)


def hashes(kind=HASHES, change=None, algorithm="xxh3"):
    """Lists the digests of the objects; `change` makes it wrong."""

    def body(entries):
        listed = [f"{digest:016x}" for _, _, digest in entries]
        return encode({"hashes": change(listed) if change else listed, "algorithm": algorithm})

    return Frame(kind, body)


class Built:
    """The bytes of a message, and where each field lies."""

    def __init__(self):
        self.bytes, self.fields = bytearray(), {}

    def add(self, caption, data):
        self.fields[caption] = (len(self.bytes), len(self.bytes) + len(data))
        self.bytes += data

    def at(self, caption):
        return self.fields[caption][0]

    def get(self, caption):
        start, end = self.fields[caption]
        return bytes(self.bytes[start:end])

    def set(self, caption, data):
        """Overwrites a field from its first byte on."""
        start, end = self.fields[caption]
        assert len(data) <= end - start
        self.bytes[start : start + len(data)] = data
        return self

    def number(self, caption, value):
        start, end = self.fields[caption]
        return self.set(caption, value.to_bytes(end - start, "big"))


def _write(frames, entries, hashing, streamed, flags):
    out, found, first_footer, seen = Built(), [], None, 0
    out.add("preamble.magic", b"TENSOGRM")
    out.add("preamble.version", struct.pack(">H", 3))
    out.add("preamble.flags", bytes(2))
    out.add("preamble.reserved", bytes(4))
    out.add("preamble.total_length", bytes(8))
    for number, frame in enumerate(frames):
        start, name = len(out.bytes), f"frame {number}."
        body, cbor_offset = frame.body, 16
        if isinstance(body, Object):
            body, cbor_offset = body.write()
        elif callable(body):
            body = body(entries)
        is_object = frame.kind == OBJECT
        last = is_object and not (isinstance(frame.body, Object) and frame.body.first)
        digest = xxh3_64(body) if hashing else 0
        digest = digest if frame.digest is None else frame.digest
        out.add(name + "magic", b"FR")
        out.add(name + "type", struct.pack(">H", frame.kind))
        out.add(name + "version", struct.pack(">H", frame.version))
        out.add(name + "flags", struct.pack(">H", (last | hashing << 1) if frame.flags is None else frame.flags))
        length = 16 + len(body) + (20 if is_object else 12)
        out.add(name + "total_length", struct.pack(">Q", length))
        out.add(name + "body", body)
        if is_object:
            out.add(name + "cbor_offset", struct.pack(">Q", cbor_offset))
            found.append((start, length, digest))
        out.add(name + "hash", struct.pack(">Q", digest))
        out.add(name + "end", b"ENDF")
        out.add(name + "padding", bytes(-len(out.bytes) % 8) if frame.padding is None else frame.padding)
        seen |= FLAG.get(frame.kind, 0)
        if frame.kind in (FOOTER_HASHES, FOOTER_INDEX, FOOTER_METADATA) and first_footer is None:
            first_footer = start
    postamble = len(out.bytes)
    length = 0 if streamed else postamble + 24
    out.add("postamble.first_footer_offset", struct.pack(">Q", postamble if first_footer is None else first_footer))
    out.add("postamble.total_length", struct.pack(">Q", length))
    out.add("postamble.magic", b"39277777")
    seen |= (HASHES_PRESENT if hashing else 0) | (FLAG[PRECEDER] if streamed else 0)
    out.number("preamble.flags", seen if flags is None else flags)
    out.number("preamble.total_length", length)
    return out, found


def build(frames, hashing=True, streamed=False, flags=None):
    """The message of these frames. The index lists offsets that its own size moves: written until nothing changes."""
    entries = [(0, 0, 0)] * sum(frame.kind == OBJECT for frame in frames)
    while True:
        out, found = _write(frames, entries, hashing, streamed, flags)
        if found == entries:
            return out
        entries = found


def buffered(objects, meta=None, hashing=True, **more):
    """A message as a buffered encoder lays it out."""
    frames = [metadata({} if meta is None else meta)]
    if objects:
        frames.append(index())
        if hashing:
            frames.append(hashes())
    return build(frames + [Frame(OBJECT, item) for item in objects], hashing, **more)


def streamed(objects, meta=None, footer=None, hashing=True, **more):
    """A message as a streaming encoder lays it out; an object may be a pair (entry of its preceder, object)."""
    frames = [metadata({} if meta is None else meta)]
    for item in objects:
        if isinstance(item, tuple):
            frames.append(preceder(item[0]))
            item = item[1]
        frames.append(Frame(OBJECT, item))
    frames.append(metadata({} if footer is None else footer, FOOTER_METADATA))
    if hashing:
        frames.append(hashes(FOOTER_HASHES))
    return build([*frames, index(FOOTER_INDEX)], hashing, True, **more)
