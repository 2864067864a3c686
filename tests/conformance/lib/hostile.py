"""Level hostile: malformed files. Each is valid but for one broken rule: all else was made to fit what is broken."""

import damaged_codecs
from cases import Case, Message, Tensor
from cbor import Pairs, Raw, encode, pairs_as_given
from values import any_values
from wire import (
    FOOTER_HASHES,
    FOOTER_INDEX,
    FOOTER_METADATA,
    HASHES,
    INDEX,
    OBJECT,
    PRECEDER,
    Frame,
    Object,
    buffered,
    build,
    descriptor,
    hashes,
    index,
    metadata,
    preceder,
    streamed,
)

VALUES = any_values("float32", [6], 31)
BASE = {"base": [{"k": 1}]}


def item(**more):
    return Object(descriptor("float32", [6]), VALUES, **more)


def expected():
    return [Message([Tensor("float32", [6], VALUES)])]


def single(meta=None):
    """Frames: 0 metadata, 1 index, 2 list of digests, 3 object."""
    return buffered([item()], BASE if meta is None else meta)


def stream():
    """Frames: 0 metadata, 1 object, 2 metadata, 3 list of digests, 4 index."""
    return streamed([item()], {}, BASE)


def case(name, about, rule, data, at=None, verdict="reject", messages=None, needs=(), **more):
    """`at`: offset or caption of the field that breaks the rule."""
    offset = data.at(at) if isinstance(at, str) else at
    breaks = {"rule": rule} if offset is None else {"rule": rule, "offset": offset}
    if verdict == "accept":
        messages = expected() if messages is None else messages
    return Case(f"hostile/{name}", about, [rule], data, messages, needs, verdict, breaks, **more)


def preamble():
    for at in (0, 7):
        data = single()
        data.bytes[at] ^= 1
        yield case(f"preamble/magic-{at}", f"byte {at} of the start magic", "FORMAT 1.10 row 2: start magic", data, at)
    for version in (0, 1, 2, 4, 0x0300, 0xFFFF):
        data = single().number("preamble.version", version)
        rule = "FORMAT 1.10 row 3: version is 3"
        yield case(f"preamble/version-{version}", f"version {version}", rule, data, "preamble.version")
    size = len(single().bytes)
    rule = "FORMAT 1.10 row 4: total_length is within the buffer and at least 48"
    for name, length in {"1": 1, "24": 24, "47": 47, "2p63": 1 << 63, "max": (1 << 64) - 1, "plus-1": size + 1}.items():
        data = single().number("preamble.total_length", length)
        yield case(f"preamble/length-{name}", f"total_length {length}", rule, data, "preamble.total_length")
    rule = "FORMAT 1.10 row 5: end magic in [T-8, T)"
    for name, length in {"48": 48, "minus-1": size - 1, "minus-8": size - 8}.items():
        data = single().number("preamble.total_length", length)
        yield case(f"preamble/length-{name}", f"total_length {length} of {size}", rule, data, "preamble.total_length")


def postamble():
    for make, name in ((single, "buffered"), (stream, "streamed")):
        for at in (0, 7):
            data = make()
            data.bytes[data.at("postamble.magic") + at] ^= 1
            rule = (
                "FORMAT 1.10 row 5: end magic" if name == "buffered" else "FORMAT 1.9: a message ends at its postamble"
            )
            yield case(f"postamble/magic-{name}-{at}", f"byte {at} of the end magic", rule, data, "postamble.magic")
    size = len(single().bytes)
    for name, length in {"plus-8": size + 8, "minus-8": size - 8, "1": 1, "max": (1 << 64) - 1}.items():
        data = single().number("postamble.total_length", length)
        rule = "FORMAT 1.9: a copy that is neither the length nor 0 is refused"
        yield case(f"postamble/length-{name}", f"a copy of {length}", rule, data, "postamble.total_length")
    for name, offset in {"0": 0, "23": 23, "end": size, "max": (1 << 64) - 1}.items():
        data = single().number("postamble.first_footer_offset", offset)
        rule = "FORMAT 6, footer_offset_out_of_range: validation refuses it, decoding does not look"
        at = "postamble.first_footer_offset"
        yield case(f"postamble/footer-offset-{name}", f"offset {offset}", rule, data, at, "accept", validate="reject")


def truncation():
    rule = "FORMAT 5.6: a message that is cut off is not listed"
    for make, name in ((single, "buffered"), (stream, "streamed")):
        whole = bytes(make().bytes)
        size = len(whole)
        for length in sorted({1, 8, 23, 24, 39, 48, size // 3, size // 2, size - 40, size - 24, size - 8, size - 1}):
            cut = whole[:length]
            yield case(f"truncation/{name}-{length:04}", f"{length} bytes of {size}", rule, cut, length)


def frames():
    for number in (0, 1, 3):
        for at, what in ((0, "magic"), (3, "end")):
            if what == "magic" and number == 1:
                continue
            data = single()
            data.bytes[data.at(f"frame {number}.{what}") + at % 4] ^= 0x20
            rule = {
                "end": "FORMAT 1.10 row 10: ENDF ends a frame",
                "magic": "FORMAT 1.8: a reader continues at the next FR; without the frame rows 17 and 18 of 1.10 fail",
            }[what]
            name = f"frames/{what}-of-{number}"
            yield case(name, f"{what} of frame {number}", rule, data, f"frame {number}.{what}")
    for kind in (0, 4, 10, 255, 0xFFFF):
        for number in (1, 3):
            data = single().number(f"frame {number}.type", kind)
            rule = "FORMAT 1.10 row 8: the frame type is known"
            yield case(f"frames/type-{kind}-of-{number}", f"type {kind}", rule, data, f"frame {number}.type")
    rule = "FORMAT 1.10 row 9: the length is at least 28, of objects 36, and within the message"
    for number in (0, 3):
        own = int.from_bytes(single().get(f"frame {number}.total_length"), "big")
        small = 35 if number == 3 else 27
        for name, length in {"0": 0, "15": 15, "small": small, "2p63": 1 << 63, "max": (1 << 64) - 1}.items():
            data = single().number(f"frame {number}.total_length", length)
            at = f"frame {number}.total_length"
            yield case(f"frames/length-{name}-of-{number}", f"length {length}", rule, data, at)
        for name, length in {"plus-1": own + 1, "plus-8": own + 8, "minus-8": own - 8}.items():
            data = single().number(f"frame {number}.total_length", length)
            at = f"frame {number}.total_length"
            end = "FORMAT 1.10 row 10: ENDF ends a frame"
            yield case(f"frames/length-{name}-of-{number}", f"length {length} instead of {own}", end, data, at)
    data = single()
    beyond = len(data.bytes) - data.at("frame 3.magic")
    data.number("frame 3.total_length", beyond)
    rule = "FORMAT 1.10 row 7: frames lie in [24, end - 24)"
    yield case("frames/into-the-postamble", "an object up to the message's end", rule, data, "frame 3.total_length")
    own = int.from_bytes(single().get("frame 3.total_length"), "big")
    rule = "FORMAT 1.10 row 11: 16 <= cbor_offset <= L-20"
    for name, offset in {
        "0": 0,
        "15": 15,
        "beyond": own - 19,
        "length": own,
        "2p63": 1 << 63,
        "max": (1 << 64) - 1,
    }.items():
        data = single().number("frame 3.cbor_offset", offset)
        yield case(f"frames/cbor-offset-{name}", f"cbor_offset {offset}", rule, data, "frame 3.cbor_offset")
    rule = "FORMAT 1.7: cbor_offset is the distance to the descriptor"
    for name, offset in {"minus-1": 39, "plus-1": 41, "payload": 16, "end": own - 20}.items():
        data = single().number("frame 3.cbor_offset", offset)
        yield case(
            f"frames/cbor-offset-{name}", f"cbor_offset {offset} instead of 40", rule, data, "frame 3.cbor_offset"
        )


def order():
    front, obj = lambda: metadata(BASE), lambda: Frame(OBJECT, item())
    footer = lambda: metadata(BASE, FOOTER_METADATA)
    rule = "FORMAT 1.10 row 13: phases never go back: header, body, footer"
    given = {
        "metadata-after-object": ([obj(), front()], 1),
        "index-after-object": ([front(), obj(), index()], 2),
        "digests-after-object": ([front(), obj(), hashes()], 2),
        "object-after-footer": ([front(), footer(), obj()], 2),
        "object-after-footer-index": ([front(), index(FOOTER_INDEX), obj()], 2),
        "header-after-footer": ([obj(), footer(), index()], 2),
        "preceder-after-footer": ([front(), obj(), footer(), preceder({}), obj()], 3),
    }
    for name, (parts, at) in given.items():
        yield case(f"order/{name}", "a frame of an earlier phase", rule, build(parts), f"frame {at}.type")
    rule = "FORMAT 1.10 row 14: the frame after a preceder is a data object"
    given = {
        "two-preceders": ([front(), preceder({}), preceder({}), obj()], 2),
        "preceder-then-footer": ([front(), obj(), preceder({}), footer()], 3),
        "preceder-then-index": ([front(), preceder({}), index(FOOTER_INDEX)], 2),
    }
    for name, (parts, at) in given.items():
        yield case(f"order/{name}", "a preceder without object", rule, build(parts), f"frame {at}.type")
    rule = "FORMAT 1.10 row 15: no preceder is left at the end"
    yield case(
        "order/preceder-last", "a preceder at the end", rule, build([front(), obj(), preceder({})]), "frame 2.type"
    )
    rule = "FORMAT 1.10 row 17: there is a metadata frame"
    yield case("order/no-metadata", "an object without metadata frame", rule, build([obj()]), "frame 0.type")
    yield case("order/no-frames", "a message of preamble and postamble", rule, build([]), "postamble.magic")
    yield case("order/index-only", "an index and nothing else", rule, build([index()]), "frame 0.type")


def _nested(depth, lead=b"\x81", last=b"\x00"):
    return Raw(lead * depth + last)


def cbor_bodies():
    """Name, CBOR bodies that break a rule, and the rule."""
    formed = "FORMAT 1.10 row 19: CBOR is well formed, nested at most 256 deep"
    key = lambda value: encode({"base": [{"v": Raw(value)}]})
    given = {
        "empty-body": b"",
        "cut-head": b"\xb9\x00",
        "cut-text": b"\xa1\x64bas",
        "cut-array": b"\xa1" + encode("base") + b"\x82\xa0",
        "cut-map": b"\xa2" + encode("base") + b"\x81\xa0",
        "claims-array-2p64": b"\xa1" + encode("base") + b"\x9b" + b"\xff" * 8,
        "claims-map-2p32": b"\xba\xff\xff\xff\xff" + encode("base") + b"\x80",
        "claims-text-2p63": b"\xa1\x7b\x7f" + b"\xff" * 7 + b"base",
        "claims-bytes-2p31": key(b"\x5a\x80\x00\x00\x00abc"),
        "reserved-28": key(b"\x1c"),
        "reserved-29": key(b"\x5d"),
        "reserved-30": key(b"\xfe"),
        "break-alone": key(b"\xff"),
        "indefinite-integer": key(b"\x1f"),
        "indefinite-tag": key(b"\xdf\x00"),
        "indefinite-unended": b"\xbf" + encode("base") + b"\x9f\xa0",
        "indefinite-odd-map": b"\xbf" + encode("base") + b"\xff",
        "indefinite-text-of-bytes": key(b"\x7f\x41a\xff"),
        "indefinite-nested-text": key(b"\x7f\x7f\x61a\xff\xff"),
        "text-not-utf8": key(b"\x62\xc3\x28"),
        "text-surrogate": key(b"\x63\xed\xa0\x80"),
        "text-overlong": key(b"\x62\xc0\x80"),
        "key-not-utf8": b"\xa1\x61\xff\x00",
        "simple-value": key(b"\xe0"),
        "simple-value-long": key(b"\xf8\x20"),
        "float-cut": b"\xa1" + encode("_extra_") + b"\xa1\x61a\xfb\x00",
        "depth-300": key(_nested(300)),
        "depth-300-maps": key(_nested(300, b"\xa1\x61a")),
        "depth-300-tags": key(_nested(300, b"\xc1")),
        "depth-20000": key(_nested(20_000)),
        "depth-10000-indefinite": key(Raw(b"\x9f" * 10_000 + b"\xff" * 10_000)),
    }
    for name, body in given.items():
        yield name, body, formed


def metadata_cases():
    for name, body, rule in cbor_bodies():
        yield case(f"cbor/metadata-{name}", f"metadata: {name}", rule, single(body), "frame 0.body")
    rule = "FORMAT 3.3: errors of global metadata"
    given = {
        "array": [],
        "integer": 5,
        "text": "base",
        "null": None,
        "key-integer": Pairs([(1, 2), ("base", [{}])]),
        "key-bytes": Pairs([(b"base", [{}])]),
        "key-null": Pairs([(None, 1)]),
        "base-map": {"base": {}},
        "base-null": {"base": None},
        "base-text": {"base": "x"},
        "base-entry-integer": {"base": [5]},
        "base-entry-null": {"base": [None]},
        "base-entry-array": {"base": [[]]},
        "base-entry-key": {"base": [Pairs([(1, 2)])]},
        "extra-array": {"_extra_": []},
        "extra-null": {"_extra_": None},
        "extra-key": {"_extra_": Pairs([(1, 2)])},
        "reserved-text": {"_reserved_": "x"},
        "reserved-key": {"_reserved_": Pairs([(1, 2)])},
        "ambiguous": {"title": 1, "_extra_": {"title": 2}},
        "ambiguous-version": {"version": "3", "_extra_": {"version": 2}},
    }
    for name, meta in given.items():
        yield case(f"metadata/{name}", f"global metadata: {name}", rule, single(encode(meta)), "frame 0.body")
    rule = "FORMAT 1.10 row 18: base has at most n entries"
    for name, meta, objects in (("two-for-one", [{}, {}], 1), ("one-for-none", [{}], 0), ("thousand", [{}] * 1000, 1)):
        data = buffered([item()] * objects, {"base": meta})
        yield case(f"metadata/base-{name}", f"{len(meta)} entries, {objects} objects", rule, data, "frame 0.body")
    rule = "FORMAT 1.10 row 16: a preceder has exactly one base entry"
    given = {
        "empty-map": {},
        "no-entry": {"base": []},
        "two-entries": {"base": [{}, {}]},
        "only-extra": {"_extra_": {}},
    }
    for name, body in given.items():
        data = build([metadata({}), metadata(body, PRECEDER), Frame(OBJECT, item())])
        yield case(f"metadata/preceder-{name}", f"a preceder: {name}", rule, data, "frame 1.body")
    for name, body in {"array": b"\x80", "cut": b"\xa1\x64ba", "base-map": encode({"base": {}})}.items():
        data = build([metadata({}), Frame(PRECEDER, body), Frame(OBJECT, item())])
        rule = "FORMAT 3.4: a preceder's body is global metadata"
        yield case(f"metadata/preceder-{name}", f"a preceder: {name}", rule, data, "frame 1.body")


def _described(changes=(), without=(), dtype="float32", shape=(6,), payload=VALUES, **more):
    described = {**descriptor(dtype, list(shape)), **dict(changes)}
    described = {key: value for key, value in described.items() if key not in without}
    return buffered([Object(described, payload, **more)])


def descriptors():
    at = "frame 3.body"
    rule = "FORMAT 3.5: required keys"
    for key in ("ndim", "type", "dtype", "shape", "filter", "strides", "encoding", "compression"):
        yield case(f"descriptor/without-{key}", f"no {key}", rule, _described(without=[key]), at)
    rule = "FORMAT 3.5: types of the fixed keys"
    wrong = {
        "ndim-float": {"ndim": 1.0},
        "ndim-negative": {"ndim": -1},
        "ndim-text": {"ndim": "1"},
        "type-integer": {"type": 5},
        "dtype-integer": {"dtype": 5},
        "shape-integer": {"shape": 6},
        "shape-float": {"shape": [6.0]},
        "shape-negative": {"shape": [-6]},
        "shape-text": {"shape": ["6"]},
        "shape-null": {"shape": None},
        "strides-text": {"strides": ["1"]},
        "strides-negative": {"strides": [-1]},
        "encoding-null": {"encoding": None},
        "compression-integer": {"compression": 0},
        "byte-order-integer": {"byte_order": 1},
        "masks-array": {"masks": []},
        "masks-text": {"masks": "nan"},
    }
    for name, changes in wrong.items():
        yield case(f"descriptor/{name}", f"a value of the wrong type: {name}", rule, _described(changes), at)
    named = {
        "dtype-upper-case": ({"dtype": "Float32"}, "FORMAT 3.5: dtypes have exact lower case names"),
        "dtype-unknown": ({"dtype": "float128"}, "FORMAT 3.5: dtypes have exact lower case names"),
        "dtype-empty": ({"dtype": ""}, "FORMAT 3.5: dtypes have exact lower case names"),
        "byte-order-unknown": ({"byte_order": "middle"}, "PIPELINE 0: byte_order is big or little"),
        "byte-order-upper-case": ({"byte_order": "Little"}, "PIPELINE 0: byte_order is big or little"),
        "encoding-unknown": ({"encoding": "packed"}, "PIPELINE 0: encoding is none or simple_packing"),
        "filter-unknown": ({"filter": "bitshuffle"}, "PIPELINE 0: filter is none or shuffle"),
        "compression-unknown": ({"compression": "gzip"}, "PIPELINE 0: names of compression"),
        "compression-upper-case": ({"compression": "ZSTD"}, "PIPELINE 0: names of compression"),
    }
    for name, (changes, rule) in named.items():
        yield case(f"descriptor/{name}", f"{changes}", rule, _described(changes), at)
    shapes = {
        "ndim-too-large": ({"ndim": 2}, "FORMAT 6, ndim_shape_mismatch: ndim is the number of dimensions"),
        "ndim-zero": ({"ndim": 0}, "FORMAT 6, ndim_shape_mismatch: ndim is the number of dimensions"),
        "strides-too-many": ({"strides": [1, 1]}, "FORMAT 6, strides_shape_mismatch: as many strides as dimensions"),
        "strides-none": ({"strides": []}, "FORMAT 6, strides_shape_mismatch: as many strides as dimensions"),
        "shape-2p64": (
            {"ndim": 2, "shape": [1 << 32, 1 << 32], "strides": [1, 1]},
            "FORMAT 1.10 row 20: the product fits u64",
        ),
        "shape-3-times-2p63": (
            {"ndim": 2, "shape": [3, 1 << 63], "strides": [1, 1]},
            "FORMAT 1.10 row 20: the product fits u64",
        ),
        "shape-bytes-overflow": ({"shape": [1 << 62]}, "FORMAT 5.3: product times width"),
        "shape-huge": ({"shape": [1 << 40]}, "FORMAT 1.10 row 21: the payload has the implied size"),
        "shape-one-more": ({"shape": [7]}, "FORMAT 1.10 row 21: the payload has the implied size"),
        "shape-one-less": ({"shape": [5]}, "FORMAT 1.10 row 21: the payload has the implied size"),
        "shape-scalar": (
            {"ndim": 0, "shape": [], "strides": []},
            "FORMAT 1.10 row 21: the payload has the implied size",
        ),
        "shape-empty": ({"shape": [0]}, "FORMAT 1.10 row 21: the payload has the implied size"),
    }
    for name, (changes, rule) in shapes.items():
        # Validation must find these; a decoder need not count.
        counted = name.startswith(("ndim", "strides"))
        verdict, messages = ("reject-verify", expected()) if counted else ("reject", None)
        yield case(f"descriptor/{name}", f"{changes}", rule, _described(changes), at, verdict, messages)
    good = descriptor("float32", [6])
    rule = "FORMAT 3.2: a repeated fixed key of the descriptor is refused"
    for key in ("dtype", "shape", "ndim", "encoding"):
        twice = pairs_as_given([*good.items(), (key, good[key])])
        yield case(f"descriptor/twice-{key}", f"{key} twice", rule, buffered([Object(bytes(twice), VALUES)]), at)
    rule = "FORMAT 3.5: the descriptor is a map with text keys"
    bodies = {
        "array": encode([1]),
        "integer": b"\x05",
        "key-integer": encode(Pairs([*good.items(), (5, 5)])),
        "cut": encode(good)[:-3],
        "empty": b"",
        "empty-map": b"\xa0",
        "text-not-utf8": encode({**good, "note": Raw(b"\x61\xff")}),
        "depth-300": encode({**good, "note": _nested(300)}),
        "depth-20000": encode({**good, "note": _nested(20_000)}),
    }
    for name, body in bodies.items():
        first = [False, True] if name in ("cut", "empty", "depth-300") else [False]
        for is_first in first:
            data = buffered([Object(body, VALUES, first=is_first)])
            suffix = "-first" if is_first else ""
            if is_first and name == "cut":
                # The payload's bytes continue the item, so the item must claim more than there is.
                data = buffered([Object(encode(good)[:-5] + b"\x7b" + b"\x7f" * 8, VALUES, first=True)])
            yield case(f"descriptor/{name}{suffix}", f"the descriptor: {name}", rule, data, at)


def stages():
    at = "frame 3.body"
    packing = {
        "encoding": "simple_packing",
        "sp_reference_value": 1.0,
        "sp_binary_scale_factor": 0,
        "sp_decimal_scale_factor": 0,
        "sp_bits_per_value": 8,
    }

    def packed(name, changes, rule, without=(), payload=bytes(6), **more):
        data = _described({**packing, **changes}, without, "float64", payload=payload, **more)
        return case(f"stages/packing-{name}", f"simple_packing: {name}", rule, data, at)

    required = "PIPELINE 3.1: parameters that are required on decoding"
    for key in [key for key in packing if key != "encoding"]:
        yield packed(f"without-{key}", {}, required, [key])
    typed = "PIPELINE 0: types of parameters"
    for key in ("sp_binary_scale_factor", "sp_decimal_scale_factor", "sp_bits_per_value"):
        yield packed(f"float-{key}", {key: 3.0}, typed)
        yield packed(f"text-{key}", {key: "3"}, typed)
    yield packed("text-reference", {"sp_reference_value": "1"}, typed)
    for name, value in {"nan": float("nan"), "inf": float("inf"), "minus-inf": float("-inf")}.items():
        yield packed(f"reference-{name}", {"sp_reference_value": value}, "PIPELINE 3.1: R is finite")
    yield packed("reference-2p60", {"sp_reference_value": (1 << 60) + 1}, "PIPELINE 0: integers with |n| <= 2^53")
    for bits in (65, 255, -1, 1 << 40):
        yield packed(f"bits-{bits}", {"sp_bits_per_value": bits}, "PIPELINE 3.1: B is 0 to 64")
    for value in (1 << 31, -(1 << 31) - 1, 1 << 63):
        yield packed(f"binary-{value}", {"sp_binary_scale_factor": value}, "PIPELINE 3.1: E is an i32")
    size = "FORMAT 1.10 row 21: ceil(product times bits / 8)"
    yield packed("payload-short", {}, size, payload=bytes(5))
    yield packed("payload-long", {}, size, payload=bytes(7))
    yield packed("payload-of-no-bits", {"sp_bits_per_value": 0}, size)
    data = _described(packing, dtype="float32", payload=bytes(6))
    yield case("stages/packing-float32", "simple_packing of float32", "PIPELINE 3.1: dtype is float64", data, at)

    def shuffled(name, changes, rule, without=()):
        given = {"filter": "shuffle", "shuffle_element_size": 4, **changes}
        return case(f"stages/shuffle-{name}", f"shuffle: {name}", rule, _described(given, without), at)

    rule = "PIPELINE 4: shuffle_element_size is required, above 0, and divides the length"
    yield shuffled("without-size", {}, rule, ["shuffle_element_size"])
    for size in (0, -4, 5, 48, 1 << 63, (1 << 64) - 1):
        yield shuffled(f"size-{size}", {"shuffle_element_size": size}, rule)
    yield shuffled("size-float", {"shuffle_element_size": 4.0}, typed)
    yield shuffled("size-text", {"shuffle_element_size": "4"}, typed)
    rule = "FORMAT 5.3: the decoded length is compared with the shape"
    data = _described({"filter": "shuffle", "shuffle_element_size": 4, "shape": [7]})
    yield case("stages/shuffle-payload-short", "shuffle: a payload of one element fewer", rule, data, at)
    for length in (0, 1, 3):
        data = _described(dtype="bitmask", shape=(9,), payload=bytes(length))
        rule = "FORMAT 1.10 row 21: a bitmask has ceil(product/8) bytes"
        yield case(f"stages/bitmask-{length}-bytes", f"9 bits in {length} bytes", rule, data, at)


def masks():
    at = "frame 3.body"

    def given(
        name, entry, rule, blob=b"\x84", dtype="float32", kind="nan", shape=(6,), payload=VALUES, needs=(), more=()
    ):
        described = {**descriptor(dtype, list(shape)), "masks": {kind: entry, **dict(more)}}
        data = buffered([Object(described, payload + blob)])
        return case(f"masks/{name}", f"a mask: {name}", rule, data, at, needs=needs)

    entry = lambda **more: {"method": "none", "offset": 24, "length": 1, **more}
    region = "FORMAT 1.10 row 12: offset and length of a mask are within the region"
    for name, changes in {
        "length-beyond": {"length": 2},
        "offset-beyond": {"offset": 25},
        "offset-huge": {"offset": 1 << 40},
        "length-huge": {"length": 1 << 63},
        "overflow": {"offset": (1 << 64) - 1, "length": 2},
        "overflow-to-zero": {"offset": 24, "length": (1 << 64) - 24},
    }.items():
        yield given(name, entry(**changes), region)
    typed = "FORMAT 3.5: keys of a mask"
    for name, changes in {
        "offset-negative": {"offset": -1},
        "offset-float": {"offset": 24.0},
        "length-text": {"length": "1"},
        "method-integer": {"method": 1},
    }.items():
        yield given(name, entry(**changes), typed)
    for key in ("method", "offset", "length"):
        lacking = {name: value for name, value in entry().items() if name != key}
        yield given(f"without-{key}", lacking, typed)
    yield given("entry-array", [1, 2], typed)
    for method in ("gzip", "", "None", "szip"):
        yield given(f"method-{method or 'empty'}", entry(method=method), "PIPELINE 6.3: methods of masks")
    size = "FORMAT 1.10 row 21: the payload ends at the smallest mask offset"
    yield given("payload-shorter", entry(offset=20, length=1), size)
    yield given("payload-empty", entry(offset=0, length=1), size)
    yield given(
        "on-bitmask", entry(offset=1), "PIPELINE 6.4: masks on a bitmask are an error", dtype="bitmask", payload=b"\0"
    )
    raw = "PIPELINE 6.3: a raw mask has exactly ceil(N/8) bytes"
    yield given("raw-empty", entry(length=0), raw, b"")
    yield given("raw-long", entry(length=2), raw, b"\x84\x00")
    count = 6
    for method, names in damaged_codecs.bit_blobs(count).items():
        for name, (blob, rule) in names.items():
            listed = entry(method=method, length=len(blob))
            yield given(f"{method}-{name}", listed, rule, blob, needs=[method])


def codecs():
    at = "frame 3.body"
    for name, described, payload, rule, needs in damaged_codecs.payloads():
        yield case(f"codecs/{name}", name, rule, buffered([Object(described, payload)]), at, needs=needs)


def digests():
    rule = "FORMAT 5.4: a wrong digest is found by verification"

    def wrong(name, about, data, at, rule=rule, messages=True):
        return case(f"digests/{name}", about, rule, data, at, "reject-verify", expected() if messages else None)

    for number, what in ((0, "metadata"), (1, "index"), (2, "list of digests"), (3, "object")):
        data = single()
        data.bytes[data.at(f"frame {number}.hash") + 7] ^= 1
        yield wrong(f"slot-of-{what.replace(' ', '-')}", f"the slot of the {what} frame", data, f"frame {number}.hash")
    for number in (0, 3):
        data = single()
        data.set(f"frame {number}.hash", bytes(8))
        about = "a slot of zero: zero is a value (FORMAT 2 row 5)"
        yield wrong(f"slot-zero-of-{number}", about, data, f"frame {number}.hash")
    data = single()
    data.bytes[data.at("frame 3.body") + 5] ^= 4
    yield wrong("payload", "a bit of the payload", data, "frame 3.body", messages=False)
    data = single()
    place = data.bytes.index(b"strides", data.at("frame 3.body")) + 8
    data.bytes[place] = 2
    yield wrong("descriptor", "a stride in the descriptor", data, place)
    data = single()
    place = data.bytes.index(b"\x61k\x01") + 2
    data.bytes[place] = 2
    yield wrong("metadata", "a value in the metadata", data, place)
    listed = "FORMAT 6, hash_mismatch: an entry of the list against the slot"
    front = lambda **more: [metadata(BASE), index(), hashes(**more), Frame(OBJECT, item())]
    yield wrong(
        "list-entry", "an entry of the list", build(front(change=lambda all: ["0" * 16])), "frame 2.body", listed
    )
    counted = "FORMAT 6, hash_frame_count_mismatch"
    yield wrong("list-short", "a list without entries", build(front(change=lambda all: [])), "frame 2.body", counted)
    yield wrong("list-long", "an entry too many", build(front(change=lambda all: all * 2)), "frame 2.body", counted)
    both = [*front(), hashes(FOOTER_HASHES, lambda all: ["f" * 16])]
    yield wrong("lists-differ", "lists in header and footer that differ", build(both), "frame 4.body", listed)
    data = single()
    data.number("frame 3.flags", 1)
    rule = "FORMAT 2, Rule H: bit 1 of a frame is clear while others have it"
    yield wrong("bit-cleared", "flag bit 1 of the object", data, "frame 3.flags", rule)
    old = build([metadata(BASE, flags=0), index(), hashes(), Frame(OBJECT, item(), flags=1)])
    for number in (1, 2):
        old.number(f"frame {number}.flags", 0)
    old.bytes[old.at("frame 3.hash")] ^= 1
    rule = "FORMAT 2, Rule H: without bit 1 and with preamble bit 7, every slot holds a digest"
    yield wrong("without-bit-1", "a wrong digest that preamble bit 7 announces", old, "frame 3.hash", rule)


def indexes():
    offsets = "FORMAT 6, index_offset_mismatch: validation refuses it, decoding walks the frames"
    counted = "FORMAT 6, index_count_mismatch: validation refuses it, decoding walks the frames"
    given = {
        "plus-8": (lambda all: [(at + 8, length) for at, length in all], offsets),
        "into-the-payload": (lambda all: [(at + 16, length) for at, length in all], offsets),
        "zero": (lambda all: [(0, length) for _, length in all], offsets),
        "metadata-frame": (lambda all: [(24, length) for _, length in all], offsets),
        "max": (lambda all: [((1 << 64) - 1, length) for _, length in all], offsets),
        "swapped": (lambda all: all[::-1], offsets),
        "none": (lambda all: [], counted),
        "one-fewer": (lambda all: all[:1], counted),
        "one-more": (lambda all: [*all, all[0]], counted),
    }
    other = any_values("int16", [5], 8)
    for name, (change, rule) in given.items():
        objects = [Frame(OBJECT, item()), Frame(OBJECT, Object(descriptor("int16", [5]), other))]
        messages = [Message([Tensor("float32", [6], VALUES), Tensor("int16", [5], other)])]
        data = build([metadata({}), index(change=change), hashes(), *objects])
        at = "frame 1.body"
        yield case(f"index/header-{name}", f"an index: {name}", rule, data, at, "accept", messages, validate="reject")
        data = build([metadata({}), *objects, metadata({}, FOOTER_METADATA), index(FOOTER_INDEX, change)], True, True)
        at = "frame 4.body"
        yield case(f"index/footer-{name}", f"an index: {name}", rule, data, at, "accept", messages, validate="reject")
    rule = "FORMAT 3.6: checks on reading an index"
    bodies = {
        "array": [],
        "lengths-differ": {"offsets": [1], "lengths": []},
        "offset-negative": {"offsets": [-1], "lengths": [1]},
        "offset-text": {"offsets": ["1"], "lengths": [1]},
        "offsets-integer": {"offsets": 5, "lengths": [1]},
        "key-integer": Pairs([(1, 2)]),
        "cut": Raw(b"\xa1\x67off"),
        "claims-2p40": Raw(b"\xa1" + encode("offsets") + b"\x9b\x00\x00\x01" + bytes(5)),
    }
    for name, body in bodies.items():
        data = build([metadata(BASE), Frame(INDEX, encode(body)), hashes(), Frame(OBJECT, item())])
        yield case(f"index/body-{name}", f"an index: {name}", rule, data, "frame 1.body", "reject-verify", expected())
    rule = "FORMAT 3.6: checks on reading a list of digests"
    bodies = {
        "array": [],
        "algorithm-integer": {"algorithm": 1, "hashes": []},
        "hashes-text": {"algorithm": "xxh3", "hashes": "x"},
        "entry-integer": {"algorithm": "xxh3", "hashes": [5]},
        "key-integer": Pairs([(1, 2)]),
    }
    for name, body in bodies.items():
        data = build([metadata(BASE), index(), Frame(HASHES, encode(body)), Frame(OBJECT, item())])
        about = f"a list of digests: {name}"
        yield case(f"digests/body-{name}", about, rule, data, "frame 2.body", "reject-verify", expected())


def cases():
    groups = (preamble, postamble, truncation, frames, order, metadata_cases, descriptors, stages, masks, codecs)
    for group in (*groups, digests, indexes):
        yield from group()
