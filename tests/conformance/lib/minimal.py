"""Level minimal: one message, no stages. What every reader needs."""

import struct

from cases import Case, Message, Tensor, encoded, plain, raw_object
from cbor import Pairs, Raw, Tag, encode, pairs_as_given
from values import any_values
from wire import (
    FOOTER_HASHES,
    FOOTER_INDEX,
    FOOTER_METADATA,
    INDEX,
    OBJECT,
    WIDTH,
    Frame,
    Object,
    buffered,
    build,
    descriptor,
    hashes,
    index,
    metadata,
)

DTYPES = [*WIDTH, "bitmask"]


def dtypes():
    for dtype in DTYPES:
        for order in ("little", "big"):
            if dtype == "bitmask" and order == "big":
                continue
            item, tensor = plain(dtype, [11], any_values(dtype, [11], 3), order)
            tensor.ranges = [(0, 11), (3, 5), (10, 1), (11, 0)]
            yield encoded(
                f"minimal/dtypes/{dtype}-{order}",
                f"11 elements of {dtype}, stored {order}-endian",
                ["FORMAT 3.5: dtypes, widths and swap units", "PIPELINE 1: layout of elements"],
                [item],
                [tensor],
            )


def shapes():
    cases = {
        "scalar": [],
        "one": [1],
        "empty": [0],
        "empty-in-the-middle": [3, 0, 2],
        "matrix": [3, 5],
        "cube": [2, 3, 4],
        "ones": [1, 1, 1, 1],
        "rank-8": [2] * 8,
        "rank-32": [1] * 31 + [3],
        "long": [1000],
        "dim-256": [256],
        "dim-65536-empty": [65536, 0],
    }
    for name, shape in cases.items():
        item, tensor = plain("int16", shape, any_values("int16", shape, 5))
        yield encoded(
            f"minimal/shapes/{name}",
            f"shape {shape}",
            ["PIPELINE 1: N is the product of the shape, 1 for an empty one, 0 if a dimension is 0"],
            [item],
            [tensor],
        )
    for name, shape in {"bitmask-scalar": [], "bitmask-8": [8], "bitmask-9": [9], "bitmask-matrix": [3, 7]}.items():
        item, tensor = plain("bitmask", shape, any_values("bitmask", shape, 6))
        yield encoded(
            f"minimal/shapes/{name}",
            f"a bitmask of shape {shape}",
            ["PIPELINE 1: a bitmask of N elements has ceil(N/8) bytes"],
            [item],
            [tensor],
        )
    little = any_values("float32", [2, 3], 7)
    for name, given in {"in-bytes": [12, 4], "zero": [0, 0], "column-major": [1, 2]}.items():
        item, tensor = plain("float32", [2, 3], little, strides=given)
        yield encoded(
            f"minimal/shapes/strides-{name}",
            f"strides {given}: elements are row-major all the same",
            ["PIPELINE 1: strides are counted and never interpreted"],
            [item],
            [tensor],
        )


META = {
    "texts": {"mars": {"param": "2t", "class": "od"}, "long": "x" * 300, "empty": "", "unicode": "Ωñ日本語🌍"},
    "integers": {
        "list": [0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63, 2**64 - 1, -1, -24, -25, -256, -(2**63)]
    },
    "negative-beyond-64": {"low": -(2**64), "lower": -(2**63) - 1},
    "floats": {
        "list": [0.0, -0.0, 1.0, 1.5, 230.5, 100000.0, 0.1, 65504.0, 65505.0, 5e-324, 1.7976931348623157e308, 3.4e38]
    },
    "non-finite": {"nan": float("nan"), "inf": float("inf"), "ninf": float("-inf")},
    "simple": {"yes": True, "no": False, "none": None},
    "nested": {"a": {"b": {"c": [1, [2, [3, {"d": 4}]]]}}, "empty": {}, "none": []},
    "bytes": {"raw": b"\x00\x01\xff", "empty": b""},
    "tags": {"date": Tag(0, "2026-01-01T00:00:00Z"), "epoch": Tag(1, 1767225600), "self": Tag(55799, [1])},
    "big-integers": {"big": 2**64 - 1, "beyond": Tag(2, bytes.fromhex("010000000000000000"))},
    "keys": {"map": Pairs([(1, "one"), (-1, "minus"), (b"k", None), ("text", True)])},
    "key-order": {"b": 1, "a": 2, "aa": 3, "B": 4, "é": 5, "ab": 6, "": 7},
    "many-keys": {f"key{at}": at for at in range(300)},
    "deep": None,
}


def _deep(depth):
    value = "end"
    for _ in range(depth):
        value = [value]
    return value


def metadata_cases():
    item, tensor = plain("uint8", [3], b"\1\2\3")
    rule = "FORMAT 3.1: what a writer writes; FORMAT 3.2: what a reader accepts"
    for name, entry in META.items():
        entry = {"value": _deep(100)} if entry is None else entry
        yield encoded(
            f"minimal/metadata/base-{name}", f"metadata of an object: {name}", [rule], [item], [tensor], [entry]
        )
        if name in ("texts", "integers", "nested", "simple"):
            yield encoded(
                f"minimal/metadata/extra-{name}",
                f"annotations of the message: {name}",
                ["FORMAT 3.3: _extra_"],
                [item],
                [tensor],
                None,
                entry,
            )
    yield encoded(
        "minimal/metadata/none",
        "no metadata but the writer's own",
        ["FORMAT 3.3: absent sections are empty"],
        [item],
        [tensor],
    )
    yield encoded(
        "minimal/metadata/parameters",
        "unknown parameters in the descriptor",
        ["FORMAT 3.5: unknown parameters are kept unchanged"],
        [(descriptor("uint8", [3], note="kept", number=1.5, list=[1, 2]), b"\1\2\3")],
        [tensor],
    )
    yield from assembled_metadata()


def _wide_key(key):
    """A text with a head of nine bytes."""
    return Raw(b"\x7b" + struct.pack(">Q", len(key)) + key.encode())


def assembled_metadata():
    values = b"\1\2\3"
    tensor = lambda: Tensor("uint8", [3], values)
    item = lambda: Object(*raw_object("uint8", [3], values))

    def case(name, about, rule, body, base=None, extra=None):
        message = Message([tensor()], base or [{}], extra or {}, {})
        return Case(f"minimal/metadata/{name}", about, [rule], buffered([item()], body), [message])

    accepts = "FORMAT 3.2: heads longer than needed, indefinite lengths, wide floats and keys out of order are accepted"
    yield case("form-empty", "metadata that is an empty map", "FORMAT 3.3: an empty map is valid metadata", {})
    yield case(
        "form-short-base",
        "a base shorter than the objects",
        "FORMAT 1.10 row 18: a shorter base is extended",
        {"base": []},
    )
    yield case(
        "form-wide-heads",
        "heads longer than needed",
        accepts,
        b"\xb9\x00\x01"
        + _wide_key("base")
        + b"\x9b"
        + bytes(7)
        + b"\x01"
        + b"\xba\x00\x00\x00\x01"
        + _wide_key("step")
        + b"\x1b"
        + bytes(7)
        + b"\x06",
        [{"step": 6}],
    )
    yield case(
        "form-indefinite",
        "indefinite lengths of map, array, text and bytes",
        accepts,
        b"\xbf" + encode("base") + b"\x9f\xbf" + b"\x7f\x61a\x61b\xff" + b"\x5f\x41\x01\x41\x02\xff" + b"\xff\xff\xff",
        [{"ab": b"\1\2"}],
    )
    yield case(
        "form-wide-floats",
        "1.5 as a float of 8, 4 and 2 bytes",
        accepts,
        b"\xa1"
        + encode("base")
        + b"\x81\xa3"
        + encode("a")
        + b"\xfb\x3f\xf8"
        + bytes(6)
        + encode("b")
        + b"\xfa\x3f\xc0\x00\x00"
        + encode("c")
        + b"\xf9\x3e\x00",
        [{"a": 1.5, "b": 1.5, "c": 1.5}],
    )
    yield case(
        "form-key-order",
        "keys in reverse order",
        accepts,
        pairs_as_given([("_extra_", {"z": 1}), ("base", [Raw(pairs_as_given([("bb", 1), ("a", 2)]))])]),
        [{"a": 2, "bb": 1}],
        {"z": 1},
    )
    yield case(
        "form-repeated-key",
        "a key twice in an entry of base",
        "FORMAT 3.2: of repeated keys the last one counts",
        encode({"base": [pairs_as_given([("step", 1), ("step", 2)])]}),
        [{"step": 2}],
    )
    yield case(
        "form-undefined",
        "the simple value undefined",
        "FORMAT 3.2: undefined is accepted",
        encode({"base": [{"a": 1, "u": Raw(b"\xf7")}]}),
        [{"a": 1, "u": {"$undefined": True}}],
    )
    yield case(
        "form-big-integer",
        "an integer under tag 2 that fits 64 bits",
        "FORMAT 3.2: tags 2 and 3 are integers if they fit 64 bits",
        encode({"base": [{"n": Tag(2, b"\1\0")}]}),
        [{"n": 256}],
    )
    yield case(
        "form-trailing-bytes",
        "bytes after the CBOR item of the metadata frame",
        "FORMAT 3.2: bytes after the item are ignored",
        encode({"base": [{"a": 1}]}) + b"\xff\xff\x00",
        [{"a": 1}],
    )
    yield case(
        "form-unknown-top-level",
        "an unknown key at top level",
        "FORMAT 3.3: any other text key is read into _extra_",
        {"title": "kept", "base": [{}]},
        [{}],
        {"title": "kept"},
    )
    yield case(
        "form-version",
        "a version at top level",
        "FORMAT 2 row 2: version is an unknown key like any other",
        {"version": 3, "base": [{}]},
        [{}],
        {"version": 3},
    )
    yield case(
        "form-version-twice",
        "an integer version at top level and an entry in _extra_",
        "FORMAT 2 row 3: the entry of _extra_ counts",
        {"version": 3, "_extra_": {"version": "mine"}},
        [{}],
        {"version": "mine"},
    )
    yield case(
        "form-depth-250",
        "nesting 250 deep",
        "FORMAT 1.10 row 19: nesting up to 256 is accepted",
        {"_extra_": {"deep": _deep(247)}},
        [{}],
        {"deep": _deep(247)},
    )
    dup = Message([tensor()])
    yield Case(
        "minimal/metadata/two-header-frames",
        "two metadata frames in the header",
        ["FORMAT 1.11: the last one wins"],
        build(
            [metadata({"base": [{"a": 1}]}), metadata({"base": [{"a": 2}]}), index(), hashes(), Frame(OBJECT, item())]
        ),
        [Message([tensor()], [{"a": 2}], {}, {})],
    )
    yield Case(
        "minimal/metadata/descriptor-wide",
        "a descriptor with wide heads and keys in reverse order",
        [accepts],
        buffered([Object(_wide_descriptor(values), values)]),
        [dup],
    )


def _wide_descriptor(values):
    entries = sorted(descriptor("uint8", [len(values)]).items(), reverse=True)
    return b"\xb8" + bytes([len(entries)]) + b"".join(_wide_key(key) + encode(value) for key, value in entries)


def layout():
    values = any_values("float32", [4], 8)
    tensor = lambda: Tensor("float32", [4], values)
    item = lambda **more: Object(*raw_object("float32", [4], values), **more)
    frame = lambda **more: Frame(OBJECT, item(), **more)
    front = lambda: [metadata({"base": [{"k": 1}]}), index(), hashes()]

    def case(name, about, rule, data, messages=None, **more):
        messages = [Message([tensor()], [{"k": 1}], {}, {})] if messages is None else messages
        return Case(f"minimal/layout/{name}", about, [rule], data, messages, **more)

    yield case(
        "plain", "metadata, index, digests, object", "FORMAT 1.1: the layout of a message", build([*front(), frame()])
    )
    yield case(
        "no-digests",
        "a message without digests",
        "FORMAT 2, Rule H: no slot holds a digest",
        build([metadata({"base": [{"k": 1}]}), index(), frame()], False),
    )
    yield case(
        "no-index",
        "no index frame",
        "FORMAT 1.1: the index may be absent",
        build([metadata({"base": [{"k": 1}]}), hashes(), frame()]),
    )
    yield case(
        "no-digest-list",
        "no list of digests",
        "FORMAT 1.1: the list may be absent",
        build([metadata({"base": [{"k": 1}]}), index(), frame()]),
    )
    yield case(
        "metadata-only-front",
        "neither index nor list of digests",
        "FORMAT 1.1: both may be absent",
        build([metadata({"base": [{"k": 1}]}), frame()]),
    )
    yield case(
        "header-any-order",
        "digests, index, metadata",
        "FORMAT 1.11: header frames in any order",
        build([*reversed(front()), frame()]),
    )
    yield case(
        "footer-digests",
        "the list of digests in the footer",
        "FORMAT 4.4: the list may be in header, footer or both",
        build([metadata({"base": [{"k": 1}]}), index(), frame(), hashes(FOOTER_HASHES)]),
    )
    yield case(
        "digests-in-both",
        "the list of digests in header and footer",
        "FORMAT 4.4: the list may be in header, footer or both",
        build([*front(), frame(), hashes(FOOTER_HASHES)]),
    )
    yield case(
        "footer-any-order",
        "index, digests, metadata in the footer",
        "FORMAT 1.1: a reader accepts any order of footer frames",
        build(
            [
                metadata({}),
                frame(),
                index(FOOTER_INDEX),
                hashes(FOOTER_HASHES),
                metadata({"base": [{"k": 1}]}, FOOTER_METADATA),
            ]
        ),
    )
    yield case(
        "footer-metadata-only",
        "metadata in the footer alone",
        "FORMAT 1.10 row 17: a frame of type 1 or 7",
        build([frame(), metadata({"base": [{"k": 1}]}, FOOTER_METADATA)]),
    )
    yield case(
        "footer-metadata-wins",
        "metadata in header and footer that differ",
        "FORMAT 5.4: the last metadata frame counts",
        build([metadata({"base": [{"k": 2}]}), frame(), metadata({"base": [{"k": 1}]}, FOOTER_METADATA)]),
    )
    yield case(
        "descriptor-first",
        "the descriptor before the payload",
        "FORMAT 1.7: flag bit 0 is 0",
        build([*front(), Frame(OBJECT, item(first=True))]),
    )
    yield case(
        "descriptor-first-gap",
        "bytes before a descriptor that comes first",
        "FORMAT 1.7: bytes between 16 and cbor_offset are ignored",
        build([*front(), Frame(OBJECT, item(first=True, gap=b"\xaa" * 5))]),
    )
    yield case(
        "descriptor-slack",
        "bytes after the descriptor's CBOR item",
        "FORMAT 1.7: bytes between the item's end and L-20 are ignored",
        build([*front(), Frame(OBJECT, item(slack=b"\xff\x00\x01"))]),
    )
    long = build([metadata({"base": [{"k": 1}]}, padding=bytes(9)), index(), hashes(), frame(padding=bytes(64))])
    yield case(
        "padding-longer",
        "more zero bytes between frames than needed",
        "FORMAT 1.8: bytes between frames are ignored, of any number",
        long,
    )
    yield case(
        "padding-missing",
        "no padding after any frame",
        "FORMAT 1.8: a reader continues at the next FR after the frame's end",
        build([metadata({"base": [{"k": 1}]}, padding=b""), Frame(OBJECT, item(), padding=b"")]),
    )
    yield case(
        "padding-not-zero",
        "padding that is not zero",
        "FORMAT 1.8: bytes between frames are ignored, of any value",
        build([metadata({"base": [{"k": 1}]}, padding=b"\xee" * 8), index(), hashes(), frame()]),
    )
    odd = build([*front(), frame()])
    yield case(
        "reserved-field",
        "a reserved field of the preamble that is not 0",
        "FORMAT 1.2: the reader ignores it",
        odd.set("preamble.reserved", b"\1\2\3\4"),
    )
    for bits in (0x8095, 0x0F95, 0):
        yield case(
            f"preamble-flags-{bits:04x}",
            f"preamble flags {bits:#06x}",
            "FORMAT 1.3: decoding does not depend on flags, except bit 7",
            build([*front(), frame()], flags=bits),
        )
    yield case(
        "frame-version",
        "frame version 9",
        "FORMAT 1.4: the frame version is never checked",
        build([*front(), frame(version=9)]),
    )
    yield case(
        "frame-flags-unknown",
        "unknown frame flags",
        "FORMAT 1.4: bits 2 to 15 are ignored",
        build([*front(), frame(flags=0xFFFF)]),
    )
    old = build([metadata({"base": [{"k": 1}]}, flags=0), index(), hashes(), frame(flags=1)])
    for at in (1, 2):
        old.set(f"frame {at}.flags", b"\0\0")
    yield case(
        "digests-without-bit-1",
        "digests that only preamble bit 7 announces",
        "FORMAT 2, Rule H: every slot holds a digest",
        old,
    )
    yield case(
        "two-indexes",
        "an index in header and footer",
        "FORMAT 1.11: several index frames are accepted",
        build([*front(), frame(), index(FOOTER_INDEX)]),
    )
    yield case(
        "no-objects",
        "a message without objects",
        "FORMAT 1.11: zero objects are accepted",
        build([metadata({"_extra_": {"a": 1}})]),
        [Message([], [], {"a": 1}, {})],
    )
    wide = b"\xa3" + encode("zzz") + encode([1, 2]) + encode("offsets") + b"\x9f\xff" + encode("lengths") + b"\x80"
    yield case(
        "index-unknown-key",
        "an index with an unknown key and no entries, in a message without objects",
        "FORMAT 3.6: unknown text keys are ignored",
        build([metadata({}), Frame(INDEX, wide)]),
        [Message([], [], {}, {})],
    )
    yield case(
        "digest-list-algorithm",
        "a list of digests of another algorithm",
        "FORMAT 3.6: another algorithm is a warning",
        build([metadata({"base": [{"k": 1}]}), index(), hashes(algorithm="other"), frame()]),
    )
    no_order = {key: value for key, value in descriptor("uint8", [4]).items() if key != "byte_order"}
    yield case(
        "byte-order-absent",
        "no byte_order; elements of one byte",
        "FORMAT 3.5: byte_order may be absent",
        build([metadata({}), Frame(OBJECT, Object(no_order, b"\1\2\3\4"))]),
        [Message([Tensor("uint8", [4], b"\1\2\3\4")], [{}], {}, {})],
    )
    yield case(
        "type-ndarray",
        "an object of type ndarray",
        "FORMAT 3.5: any non-empty text",
        build([metadata({}), Frame(OBJECT, Object(descriptor("float32", [4], type="ndarray"), values))]),
        [Message([tensor()], [{}], {}, {})],
    )
    yield case(
        "masks-null",
        "masks that are null",
        "FORMAT 3.5: map or null",
        build([metadata({}), Frame(OBJECT, Object(descriptor("float32", [4], masks=None), values))]),
        [Message([tensor()], [{}], {}, {})],
    )
    yield case(
        "masks-empty",
        "an empty map of masks",
        "FORMAT 3.5: an empty map means no mask",
        build([metadata({}), Frame(OBJECT, Object(descriptor("float32", [4], masks={}), values))]),
        [Message([tensor()], [{}], {}, {})],
    )
    plain_nan = struct.pack("<4I", 0x7FC12345, 0x7F800000, 0xFF800000, 0x3F800000)
    yield case(
        "non-finite-in-payload",
        "NaN and infinities in the payload, without masks",
        "PIPELINE 6.1: a reader passes NaN and Inf that stand in the payload through unchanged",
        build([metadata({}), Frame(OBJECT, Object(descriptor("float32", [4]), plain_nan))]),
        [Message([Tensor("float32", [4], plain_nan)], [{}], {}, {})],
        validate="any",
    )


def cases():
    for group in (dtypes, shapes, metadata_cases, layout):
        yield from group()
