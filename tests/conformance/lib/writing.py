"""Level writer: requests, and the bytes that the format determines for them (FORMAT 4.6)."""

from cases import Case, plain, request
from values import any_values, doubles, in_order, pack_bits, with_non_finite
from wire import WIDTH, descriptor

from minimal import META

RULES = ["FORMAT 3.1: canonical CBOR", "FORMAT 4.4: buffered message", "FORMAT 4.6: what makes bytes equal"]
STREAM = ["FORMAT 3.1: canonical CBOR", "FORMAT 4.5: streaming message", "FORMAT 4.6: what makes bytes equal"]


def case(name, about, objects, base=None, extra=None, rules=RULES, needs=(), **options):
    return Case(f"writer/{name}", about, rules, needs=needs, request=request(objects, base, extra, **options))


def values_of(dtype, count, order="little"):
    return in_order(dtype, any_values(dtype, [count], 21), order)


def plain_objects():
    for dtype in [*WIDTH, "bitmask"]:
        for order in ("little", "big"):
            item = descriptor(dtype, [9], order), values_of(dtype, 9, order)
            yield case(f"none/{dtype}-{order}", f"{dtype}, {order}-endian", [item])
    for name, shape in {"scalar": [], "empty": [0], "matrix": [2, 3]}.items():
        item, _ = plain("int16", shape, any_values("int16", shape, 22))
        yield case(f"none/shape-{name}", f"shape {shape}", [item])
    yield case("none/no-objects", "no objects", [], None, {"title": "t"})
    for count in (2, 30, 300):
        # Around the sizes where the index grows and moves its own offsets.
        objects = [(descriptor("uint8", [at % 4]), bytes(range(at % 4))) for at in range(count)]
        yield case(f"none/objects-{count}", f"{count} objects", objects, [{"at": at} for at in range(count)])


def metadata():
    item = descriptor("uint8", [3]), b"\1\2\3"
    for name, entry in META.items():
        if entry is not None:
            yield case(f"metadata/base-{name}", f"metadata of an object: {name}", [item], [entry])
    yield case("metadata/extra", "annotations of the message", [item], None, META["nested"])
    yield case("metadata/short-base", "one entry for two objects", [item, item], [{"a": 1}])
    described = descriptor("uint8", [3], zz=1, a="first", note=2.5)
    yield case("metadata/parameters", "unknown parameters sorted among the fixed keys", [(described, b"\1\2\3")])


def digests():
    item = descriptor("uint8", [3]), b"\1\2\3"
    yield case("digests/none", "no digests", [item], hashing=False)
    for place in ("none", "header", "footer", "both"):
        yield case(f"digests/list-{place}", f"the list of digests: {place}", [item, item], digest_list=place)


def packing():
    rules = [*RULES, "PIPELINE 3: simple_packing"]
    values = [250.0, 251.3, 252.7, -3.5, 0.0, 1e3]
    for bits in (0, 1, 4, 7, 8, 12, 16, 20, 24, 31, 32, 40):
        item = descriptor("float64", [6], encoding="simple_packing", sp_bits_per_value=bits), doubles(values)
        yield case(f"simple_packing/bits-{bits:02}", f"{bits} bits, parameters computed", [item], rules=rules)
    given = {
        "examples": ([250.0, 251.3, 252.7], 16, {}),
        "decimal": ([1.23, 1.5, 3.0], 8, {"sp_decimal_scale_factor": 2}),
        "constant": ([42.0] * 3, 16, {}),
        "clamped": ([-5.0, 0.0, 1.0, 300.0], 8, {"sp_reference_value": 0.0, "sp_binary_scale_factor": 0}),
        "halves": ([0.5, 1.5, 2.5, 0.49999999999999994], 8, {"sp_reference_value": 0.0, "sp_binary_scale_factor": 0}),
        "given": ([1.0, 2.0, 3.0], 10, {"sp_reference_value": -1.5, "sp_binary_scale_factor": -4}),
    }
    for name, (numbers, bits, more) in given.items():
        described = descriptor("float64", [len(numbers)], encoding="simple_packing", sp_bits_per_value=bits, **more)
        yield case(f"simple_packing/{name}", f"{bits} bits: {name}", [(described, doubles(numbers))], rules=rules)
    described = descriptor(
        "float64", [6], "big", encoding="simple_packing", sp_bits_per_value=16, filter="shuffle", shuffle_element_size=2
    )
    item = described, in_order("float64", doubles(values), "big")
    yield case("simple_packing/big-endian-shuffled", "big-endian values, shuffled after packing", [item], rules=rules)


def shuffle():
    rules = [*RULES, "PIPELINE 4: shuffle"]
    for dtype in ("int16", "float32", "complex64", "float64"):
        item, _ = plain(dtype, [9], any_values(dtype, [9], 21), filter="shuffle", shuffle_element_size=WIDTH[dtype])
        yield case(f"shuffle/{dtype}", f"{dtype}, shuffled by its width", [item], rules=rules)


def masks():
    rules = [*RULES, "PIPELINE 6: NaN, infinities and masks"]
    places = {0: "nan", 3: "inf+", 4: "inf-", 11: "nan", 39: "inf+"}
    allowed = {"allow_nan": True, "allow_inf": True}
    for dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        for order in ("little", "big"):
            little = with_non_finite(dtype, any_values(dtype, [40], 3), places)
            item = descriptor(dtype, [40], order), in_order(dtype, little, order)
            yield case(f"masks/{dtype}-{order}", f"{dtype}, {order}-endian, raw masks", [item], rules=rules, **allowed)
    little = with_non_finite("float32", any_values("float32", [40], 3), places)
    item = descriptor("float32", [40]), little
    for method in ("rle", "roaring"):
        methods = dict.fromkeys(("nan", "inf+", "inf-"), method)
        yield case(
            f"masks/method-{method}",
            f"masks by {method}",
            [item],
            rules=rules,
            needs=[method],
            mask_methods=methods,
            small_mask_bytes=0,
            **allowed,
        )
    methods = dict.fromkeys(("nan", "inf+", "inf-"), "rle")
    yield case(
        "masks/small", "masks of a few bytes are stored raw", [item], rules=rules, mask_methods=methods, **allowed
    )
    finite = descriptor("float32", [40]), any_values("float32", [40], 3)
    yield case("masks/not-needed", "finite values: no masks", [finite], rules=rules, **allowed)


def bitmask():
    bits = pack_bits([at // 9 % 2 for at in range(100)])
    for codec in ("rle", "roaring"):
        item = descriptor("bitmask", [100], compression=codec), bits
        rules = [*RULES, "PIPELINE 5.8: rle and roaring"]
        yield case(f"bitmask/{codec}", f"a bitmask of 100 bits by {codec}", [item], rules=rules, needs=[codec])


def szip():
    rules = [*RULES, "PIPELINE 7.3: choices of the encoder", "PIPELINE 7.4: offsets of intervals"]
    inputs = {
        "ramp": bytes(range(64)),
        "constant": b"\7" * 40,
        "noise": any_values("uint8", [200], 5),
        "after-zeros": bytes([0] * 12 + [9] * 4 + [at % 7 for at in range(48)]),
        "zeros": bytes(64 * 9 + 3) + b"\1" + bytes(99),
    }
    for name, data in inputs.items():
        for rsi, block in ((2, 8), (128, 16)):
            described = descriptor(
                "uint8", [len(data)], compression="szip", szip_rsi=rsi, szip_block_size=block, szip_flags=8
            )
            yield case(f"szip/{name}-{rsi}-{block}", f"uint8: {name}", [(described, data)], rules=rules, needs=["szip"])


def streams():
    one = descriptor("float32", [6]), any_values("float32", [6], 1)
    two = descriptor("uint8", [3]), b"\1\2\3"
    base = [{"step": 0}, {"step": 6}]
    for layout in ("streamed", "streamed-backfilled"):
        name = layout.replace("streamed-", "")
        yield case(f"streams/{name}-two", f"two objects, {layout}", [one, two], base, {"t": 1}, STREAM, layout=layout)
        yield case(f"streams/{name}-none", f"no objects, {layout}", [], rules=STREAM, layout=layout)
        yield case(
            f"streams/{name}-unhashed", f"no digests, {layout}", [one], rules=STREAM, layout=layout, hashing=False
        )
        yield case(
            f"streams/{name}-no-list",
            f"no list of digests, {layout}",
            [one],
            rules=STREAM,
            layout=layout,
            digest_list="none",
        )
        both = [(*one, {"step": 12, "late": True}), (*two, {"x": {}})]
        yield case(f"streams/{name}-preceders", f"preceders, {layout}", both, base, None, STREAM, layout=layout)


def cases():
    for group in (plain_objects, metadata, digests, packing, shuffle, masks, bitmask, szip, streams):
        yield from group()
