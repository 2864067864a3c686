"""A case: a file, and what a correct reader or writer does with it."""

import struct

from cbor import to_json
from values import pack_bits, sha256, split_non_finite, swapped
from wire import SWAP_UNIT, WIDTH, Built, descriptor

PROVENANCE = {
    "encoder": {"name": "conformance", "version": "1"},
    "time": "2026-01-02T03:04:05Z",
    "uuid": "6d5ab3c4-8f21-4e07-9b1a-0c2d3e4f5a6b",
}
OPTIONS = {
    "hashing": True,
    "digest_list": "header",
    "allow_nan": False,
    "allow_inf": False,
    "mask_methods": {"nan": "none", "inf+": "none", "inf-": "none"},
    "small_mask_bytes": 128,
    "descriptor_first": False,
}
# Codecs that a reader may lack. The names of --without.
CODECS = ("szip", "zstd", "lz4", "blosc2", "zfp", "sz3", "rle", "roaring")


class Tensor:
    """What a reader returns for an object: values in little-endian C order, and the masks after them."""

    def __init__(self, dtype, shape, values, masks=None, stored=None):
        self.dtype, self.shape, self.values, self.masks = dtype, list(shape), values, masks or {}
        self.ranges = []

    def part(self, start, count):
        """The bytes of a range; bits of a bitmask are packed anew."""
        if self.dtype == "bitmask":
            bits = [self.values[at // 8] >> 7 - at % 8 & 1 for at in range(start, start + count)]
            return pack_bits(bits)
        width = WIDTH[self.dtype]
        return self.values[start * width : (start + count) * width]

    def expected(self):
        out = {"dtype": self.dtype, "shape": self.shape, "bytes": len(self.values), "sha256": sha256(self.values)}
        if len(self.values) <= 64:
            out["values"] = self.values.hex()
        if self.masks:
            out["masks"] = {
                kind: {"count": sum(bits), "sha256": sha256(pack_bits(bits))} for kind, bits in self.masks.items()
            }
        if self.ranges:
            parts = [(start, count, self.part(start, count)) for start, count in self.ranges]
            out["ranges"] = [
                {"start": start, "count": count, "bytes": len(part), "sha256": sha256(part)}
                for start, count, part in parts
            ]
        return out


class Message:
    """What a reader returns for a message. Metadata of None is not compared."""

    def __init__(self, tensors, base=None, extra=None, reserved=None):
        self.tensors, self.base, self.extra, self.reserved = tensors, base, extra, reserved

    def expected(self, offset, length):
        out = {"offset": offset, "length": length, "objects": [tensor.expected() for tensor in self.tensors]}
        if self.base is not None:
            out["metadata"] = {
                "base": to_json(self.base),
                "extra": to_json(self.extra),
                "reserved": to_json(self.reserved),
            }
        return out


class Case:
    """A file of the corpus."""

    def __init__(self, name, about, rules, data=None, messages=None, needs=(), verdict="accept", breaks=None, **more):
        self.name, self.about, self.rules = name, about, rules
        # The bytes, or the request that our encoder makes them of.
        self.data = bytes(data.bytes) if isinstance(data, Built) else data
        self.request, self.messages, self.needs = more.pop("request", None), messages, sorted(set(needs))
        self.verdict, self.breaks, self.more = verdict, breaks, more

    @property
    def level(self):
        return self.name.split("/")[0]

    def sidecar(self, data):
        level, feature, name = self.name.split("/")
        out = {
            "schema": "tgm.conformance/1",
            "file": name + ".tgm",
            "level": level,
            "feature": feature,
            "about": self.about,
            "rules": self.rules,
            "needs": self.needs,
            "verdict": self.verdict,
            "size": len(data),
            "sha256": sha256(data),
        }
        if self.breaks:
            out["breaks"] = self.breaks
        if self.messages is not None:
            out["messages"] = self.expected_messages(data)
        out.update(self.more)
        return out

    def settle(self, data):
        """Gives each tensor whose values are decoded the payload that our encoder wrote."""
        late = [
            tensor
            for message in self.messages
            if isinstance(message, Message)
            for tensor in message.tensors
            if hasattr(tensor, "settle")
        ]
        if late:
            for tensor, payload in zip(late, payloads(data)):
                tensor.settle(payload)

    def expected_messages(self, data):
        self.settle(data)
        out = []
        for message in self.messages:
            # A case with several messages says where each one is.
            where, message = message if isinstance(message, tuple) else ((0, len(data)), message)
            out.append(message.expected(*where))
        return out


def payloads(message):
    """The payload regions of a message's objects."""
    at = 24
    while message[at : at + 2] == b"FR":
        kind, length = struct.unpack_from(">HxxxxQ", message, at + 2)
        if kind == 9:
            yield message[at + 16 : at + struct.unpack_from(">Q", message, at + length - 20)[0]]
        at += length + -length % 8


def request(objects, base=None, extra=None, layout="buffered", **options):
    """A request to a writer. Objects are pairs (descriptor, bytes in the declared order), or with a preceder third."""
    metadata = {}
    if base:
        metadata["base"] = to_json(base)
    if extra:
        metadata["_extra_"] = to_json(extra)
    listed = []
    for item in objects:
        entry = {"descriptor": to_json(item[0]), "values": item[1].hex()}
        if len(item) > 2 and item[2] is not None:
            entry["preceder"] = to_json(item[2])
        listed.append(entry)
    given = {**OPTIONS, **options}
    if layout != "buffered" and "digest_list" not in options:
        given["digest_list"] = "footer"
    if not given["hashing"]:
        given["digest_list"] = "none"
    return {
        "schema": "tgm.conformance.request/1",
        "layout": layout,
        "provenance": PROVENANCE,
        "options": given,
        "metadata": metadata,
        "objects": listed,
    }


def tensor_entry(described):
    """What a writer adds to the metadata of an object (FORMAT 3.4)."""
    return {"tensor": {key: described[key] for key in ("ndim", "dtype", "shape", "strides")}}


def base_of(objects, base=None):
    """The entries of all objects as a reader returns them."""
    out = []
    for at, item in enumerate(objects):
        entry = dict(base[at]) if base and at < len(base) else {}
        entry["_reserved_"] = tensor_entry(item[0])
        if len(item) > 2 and item[2] is not None:
            entry.update(item[2])
        out.append(entry)
    return out


def encoded(name, about, rules, objects, tensors, base=None, extra=None, needs=(), more=None, **options):
    """A case whose file our encoder makes, and whose values are known."""
    message = Message(tensors, base_of(objects, base), extra or {}, PROVENANCE)
    made = request(objects, base, extra, **options)
    used = [item[0]["compression"] for item in objects if item[0]["compression"] in CODECS]
    methods = [method for method in made["options"]["mask_methods"].values() if method in CODECS]
    has_masks = any(tensor.masks for tensor in tensors)
    used += methods if has_masks and made["options"]["small_mask_bytes"] == 0 else []
    return Case(name, about, rules, None, [message], [*used, *needs], request=made, **(more or {}))


def plain(dtype, shape, little, byte_order="little", **more):
    """An object for a request, and the tensor that a reader returns."""
    described = descriptor(dtype, shape, byte_order, **more)
    stored = swapped(little, SWAP_UNIT[dtype]) if byte_order == "big" else little
    if dtype in ("bitmask",) or not dtype.startswith(("float", "bfloat", "complex")):
        return (described, stored), Tensor(dtype, shape, little)
    _, masks, restored = split_non_finite(dtype, little)
    return (described, stored), Tensor(dtype, shape, restored, masks)


def raw_object(dtype, shape, little, **more):
    """Descriptor and payload without stages, for hand assembly."""
    return descriptor(dtype, shape, **more), little
