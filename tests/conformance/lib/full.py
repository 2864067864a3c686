"""Level full: every stage, masks, ranges, several messages, streams."""

import math
import struct

import blobs
import sz3
import zfp
from cases import Case, Message, Tensor, encoded, plain, raw_object
from values import (
    any_values,
    doubles,
    fields,
    ints,
    noise,
    pack,
    pack_bits,
    packing_of,
    swapped,
    unpack,
    unpack_bits,
    with_non_finite,
)
from wire import (
    FOOTER_METADATA,
    OBJECT,
    WIDTH,
    Frame,
    Object,
    buffered,
    build,
    descriptor,
    metadata,
    preceder,
    streamed,
)


def smooth(count, seed=1):
    """A field like a temperature, in steps of 1/64: exact in every float."""
    return [
        250.0 + round(900 * math.sin(at / 7)) / 64 + (value >> 27) / 64 for at, value in enumerate(noise(count, seed))
    ]


def assembled(name, about, rules, objects, needs=(), **more):
    """A case of objects (descriptor, payload, masks, tensor), assembled by hand."""
    made = [Object(described, payload, masks) for described, payload, masks, _ in objects]
    return Case(name, about, rules, buffered(made), [Message([tensor for *_, tensor in objects])], needs, **more)


def packed_tensor(numbers, shape, reference, binary, decimal=0):
    return Tensor("float64", shape, doubles(unpack(numbers, reference, binary, decimal)))


def packed_object(numbers, shape, bits, reference, binary, decimal=0, order="little", **more):
    described = descriptor(
        "float64",
        shape,
        order,
        encoding="simple_packing",
        sp_bits_per_value=bits,
        sp_reference_value=reference,
        sp_binary_scale_factor=binary,
        sp_decimal_scale_factor=decimal,
        **more,
    )
    return described, fields(numbers, bits)


def simple_packing():
    rules = ["PIPELINE 3.2: parameters from data", "PIPELINE 3.3: encoding", "PIPELINE 3.4: decoding"]
    values = smooth(61)
    for bits in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 23, 24, 25, 31, 32, 33, 40, 48, 52):
        reference, binary = packing_of(values, bits)
        numbers = pack(values, bits, reference, binary)
        tensor = packed_tensor(numbers, [61], reference, binary)
        tensor.ranges = [(0, 1), (7, 13), (60, 1)]
        item = descriptor("float64", [61], encoding="simple_packing", sp_bits_per_value=bits), doubles(values)
        yield encoded(
            f"full/simple_packing/bits-{bits:02}",
            f"{bits} bits, parameters computed from the data",
            rules,
            [item],
            [tensor],
        )
    for bits in (53, 57, 63, 64):
        # Assembled, as converting numbers beyond 2^53 is the subject.
        numbers = [0, 1, (1 << bits) - 1, 1 << bits - 1, *(value << bits - 32 | value >> 3 for value in noise(8))]
        item = packed_object(numbers, [12], bits, -1.5, -bits)
        yield assembled(
            f"full/simple_packing/bits-{bits:02}",
            f"{bits} bits: numbers are rounded to the nearest float64",
            ["PIPELINE 3.4: q is rounded to the nearest float64"],
            [(*item, [], packed_tensor(numbers, [12], -1.5, -bits))],
        )
    for name, given in {
        "constant": [42.0] * 9,
        "one": [1.25],
        "empty": [],
        "two": [-1.0, 1.0],
        "negative": [-0.0, -5.5, -1e-3],
    }.items():
        reference, binary = packing_of(given, 16)
        tensor = packed_tensor(pack(given, 16, reference, binary), [len(given)], reference, binary)
        item = descriptor("float64", [len(given)], encoding="simple_packing", sp_bits_per_value=16), doubles(given)
        yield encoded(f"full/simple_packing/data-{name}", f"16 bits of {name} values", rules, [item], [tensor])
    for decimal in (-2, 2, 5):
        reference, binary = packing_of(values, 12, decimal)
        tensor = packed_tensor(pack(values, 12, reference, binary, decimal), [61], reference, binary, decimal)
        item = (
            descriptor(
                "float64", [61], encoding="simple_packing", sp_bits_per_value=12, sp_decimal_scale_factor=decimal
            ),
            doubles(values),
        )
        yield encoded(f"full/simple_packing/decimal{decimal:+}", f"decimal scale {decimal}", rules, [item], [tensor])
    for order in ("little", "big"):
        reference, binary = packing_of(values, 10)
        tensor = packed_tensor(pack(values, 10, reference, binary), [61], reference, binary)
        stored = doubles(values) if order == "little" else swapped(doubles(values), 8)
        item = descriptor("float64", [61], order, encoding="simple_packing", sp_bits_per_value=10), stored
        yield encoded(
            f"full/simple_packing/order-{order}",
            f"byte_order {order}: bit fields are the same",
            ["PIPELINE 1.1: byte order"],
            [item],
            [tensor],
        )
    numbers = [value >> 22 for value in noise(20)]
    edges = {
        "no-bits": (0, 3.25, 0, 0),
        "binary-minus-1074": (10, 0.0, -1074, 0),
        "binary-minus-1100": (10, 1.5, -1100, 0),
        "binary-200": (10, 0.0, 200, 0),
        "decimal-300": (10, 1.0, 0, 300),
        "decimal-minus-20": (10, 1.0, 3, -20),
        "reference-tiny": (10, 5e-324, 0, 0),
        "reference-minus-zero": (10, -0.0, -3, 0),
        "reference-huge": (10, 1e300, 10, 0),
    }
    for name, (bits, reference, binary, decimal) in edges.items():
        given = numbers if bits else [0] * 20
        item = packed_object(given, [20], bits, reference, binary, decimal)
        yield assembled(
            f"full/simple_packing/edge-{name}",
            f"R={reference}, E={binary}, D={decimal}, B={bits}",
            ["PIPELINE 3.4: k = 2^E * 10^(-D) once, then the product, then the sum, each rounded"],
            [(*item, [], packed_tensor(given, [20], reference, binary, decimal))],
        )
    described, payload = packed_object(numbers, [20], 10, 7, -2)
    yield assembled(
        "full/simple_packing/integer-reference",
        "a reference value that is an integer in CBOR",
        ["PIPELINE 0: a float parameter may be an integer with |n| <= 2^53"],
        [(described, payload, [], packed_tensor(numbers, [20], 7.0, -2))],
    )
    old = {key.replace("sp_", "") if key.startswith("sp_") else key: value for key, value in described.items()}
    yield assembled(
        "full/simple_packing/names-without-prefix",
        "parameter names of 0.17 and 0.18",
        ["FORMAT 2 row 6: read sp_* first, else the old name"],
        [(old, payload, [], packed_tensor(numbers, [20], 7.0, -2))],
        ["old-names"],
    )


def shuffle():
    rules = ["PIPELINE 4: shuffle", "FORMAT 5.3: the decoded size is compared"]
    for dtype in ("float32", "float64", "int16", "complex64", "complex128", "uint8"):
        for order in ("little", "big"):
            item, tensor = plain(
                dtype, [21], any_values(dtype, [21], 9), order, filter="shuffle", shuffle_element_size=WIDTH[dtype]
            )
            tensor.ranges = [(0, 21), (5, 9), (20, 1)]
            yield encoded(
                f"full/shuffle/{dtype}-{order}",
                f"{dtype} shuffled by its width, stored {order}-endian",
                rules,
                [item],
                [tensor],
            )
    for size in (1, 3, 6, 24):
        item, tensor = plain("int32", [12], ints("int32", 12, 4), filter="shuffle", shuffle_element_size=size)
        yield encoded(
            f"full/shuffle/element-size-{size}",
            f"int32 shuffled in elements of {size} bytes",
            ["PIPELINE 4: es need not be the width"],
            [item],
            [tensor],
        )
    item, tensor = plain("int32", [0], b"", filter="shuffle", shuffle_element_size=4)
    yield encoded("full/shuffle/empty", "no elements", ["PIPELINE 4: empty input changes nothing"], [item], [tensor])
    values = smooth(24)
    reference, binary = packing_of(values, 16)
    tensor = packed_tensor(pack(values, 16, reference, binary), [24], reference, binary)
    tensor.ranges = [(3, 4)]
    item = (
        descriptor(
            "float64", [24], encoding="simple_packing", sp_bits_per_value=16, filter="shuffle", shuffle_element_size=2
        ),
        doubles(values),
    )
    yield encoded(
        "full/shuffle/after-simple_packing",
        "packed values of 16 bits, shuffled",
        ["PIPELINE 4: after simple_packing it works on the bytes of the bit stream"],
        [item],
        [tensor],
    )


def lossless():
    """zstd and lz4, made by our encoder and assembled."""
    for codec in ("zstd", "lz4"):
        rules = [f"PIPELINE 5.{1 if codec == 'zstd' else 2}: {codec}", "FORMAT 5.3: the decoded size is compared"]
        for dtype, order in (
            ("float32", "little"),
            ("float64", "big"),
            ("uint8", "little"),
            ("bitmask", "little"),
            ("complex64", "big"),
        ):
            item, tensor = plain(dtype, [300], any_values(dtype, [300], 11), order, compression=codec)
            tensor.ranges = [(0, 8), (100, 57), (299, 1)]
            yield encoded(f"full/{codec}/{dtype}-{order}", f"{dtype}, {order}-endian", rules, [item], [tensor])
        for name, data in {
            "zeros": bytes(4000),
            "runs": b"abcabcabd" * 400,
            "empty": b"",
            "one": b"\x07",
            "mixed": bytes(range(256)) * 4 + bytes(range(255, -1, -1)),
        }.items():
            item, tensor = plain("uint8", [len(data)], data, compression=codec)
            yield encoded(f"full/{codec}/data-{name}", f"{len(data)} bytes: {name}", rules, [item], [tensor])
        values = smooth(200)
        reference, binary = packing_of(values, 12)
        tensor = packed_tensor(pack(values, 12, reference, binary), [200], reference, binary)
        tensor.ranges = [(17, 40)]
        item = (
            descriptor(
                "float64",
                [200],
                encoding="simple_packing",
                sp_bits_per_value=12,
                filter="shuffle",
                shuffle_element_size=2,
                compression=codec,
            ),
            doubles(values),
        )
        yield encoded(
            f"full/{codec}/all-stages",
            "simple_packing, shuffle, compression",
            ["PIPELINE 2: order of the stages"],
            [item],
            [tensor],
        )
        data = any_values("float32", [100], 2)
        described = descriptor("float32", [100], filter="shuffle", shuffle_element_size=4, compression=codec)
        forms = (
            {"literals": blobs.lz4(blobs.shuffle(data, 4))}
            if codec == "lz4"
            else {
                "raw-blocks": blobs.zstd(blobs.shuffle(data, 4)),
                "content-size": blobs.zstd(blobs.shuffle(data, 4), True),
                "two-frames": blobs.zstd(blobs.shuffle(data, 4), True, 2),
                "two-frames-no-size": blobs.zstd(blobs.shuffle(data, 4), False, 2),
            }
        )
        for name, payload in forms.items():
            yield assembled(
                f"full/{codec}/assembled-{name}",
                f"a stream of another writer: {name}",
                rules,
                [(described, payload, [], Tensor("float32", [100], data))],
                [codec],
            )
    for level in (-5, 1, 19, 22):
        item, tensor = plain(
            "uint8", [3000], b"the quick brown fox %d " * 130 + b"ab" * 10, compression="zstd", zstd_level=level
        )
        item = item[0], (b"the quick brown fox jumps. " * 112)[:3000]
        tensor = Tensor("uint8", [3000], item[1])
        yield encoded(f"full/zstd/level{level:+}", f"level {level}", ["PIPELINE 5.1: any level"], [item], [tensor])


def szip():
    rule = "PIPELINE 7: the szip bit stream"
    ramp = bytes(range(16)) * 4
    inputs = {
        "uint8-ramp": ("uint8", ramp),
        "uint8-constant": ("uint8", b"\x07" * 40),
        "uint8-noise": ("uint8", ints("uint8", 200, 5)),
        "int8-signed": ("int8", ints("int8", 99, 6)),
        "uint16-smooth": ("uint16", struct.pack("<80H", *(1000 + at * at // 3 for at in range(80)))),
        "int16-noise": ("int16", ints("int16", 70, 7)),
        "uint32-smooth": ("uint32", struct.pack("<90I", *(1 << 30 | at * 77 for at in range(90)))),
        "float32": ("float32", any_values("float32", [64], 4)),
        "uint8-zero-runs": ("uint8", bytes(64 * 9) + b"\x05" + bytes(70) + b"\x01\x02" + bytes(300)),
        "uint8-partial-block": ("uint8", bytes([5, 6, 7, 8, 9])),
        "uint8-extension": ("uint8", bytes([0, 1, 0, 0, 0, 0, 0, 0, 0])),
    }
    for name, (dtype, data) in inputs.items():
        count = len(data) // WIDTH[dtype]
        signed = 1 if dtype.startswith("int") else 0
        for rsi, block, flags in ((2, 8, 8), (1, 64, 8 | signed) if len(data) % 2 else (3, 32, 0)):
            item, tensor = plain(
                dtype, [count], data, compression="szip", szip_rsi=rsi, szip_block_size=block, szip_flags=flags
            )
            tensor.ranges = [(0, count), (count // 2, count // 3), (count - 1, 1)]
            yield encoded(
                f"full/szip/{name}-{rsi}-{block}-{flags}",
                f"{dtype}, RSI of {rsi} blocks of {block}, flags {flags}",
                [rule, "PIPELINE 5.4: width of a sample, flags, ranges"],
                [item],
                [tensor],
            )
    for flags in (8, 12):
        item, tensor = plain(
            "uint16",
            [64],
            struct.pack("<64H", *(3000 + at for at in range(64))),
            "big",
            compression="szip",
            szip_rsi=4,
            szip_block_size=8,
            szip_flags=flags,
        )
        yield encoded(
            f"full/szip/big-endian-{flags}",
            f"big-endian samples, flags {flags}: taken literally",
            ["PIPELINE 5.4: byte_order does not matter"],
            [item],
            [tensor],
        )
    item, tensor = plain(
        "float64",
        [40],
        any_values("float64", [40], 4),
        filter="shuffle",
        shuffle_element_size=8,
        compression="szip",
        szip_rsi=8,
        szip_block_size=16,
        szip_flags=8,
    )
    tensor.ranges = [(11, 20)]
    yield encoded(
        "full/szip/shuffled-float64",
        "float64, shuffled: samples of 8 bits",
        ["PIPELINE 5.4: with shuffle a sample has 8 bits"],
        [item],
        [tensor],
    )
    values = smooth(100)
    for bits in (8, 16, 24, 32):
        reference, binary = packing_of(values, bits)
        tensor = packed_tensor(pack(values, bits, reference, binary), [100], reference, binary)
        tensor.ranges = [(0, 3), (33, 50)]
        item = (
            descriptor(
                "float64",
                [100],
                encoding="simple_packing",
                sp_bits_per_value=bits,
                compression="szip",
                szip_rsi=4,
                szip_block_size=8,
                szip_flags=8,
            ),
            doubles(values),
        )
        yield encoded(
            f"full/szip/packed-{bits}",
            f"packed values of {bits} bits",
            ["PIPELINE 5.4: samples of B bits, flag MSB is added"],
            [item],
            [tensor],
        )
    # The reference interval that PIPELINE 10 explains bit by bit, without szip_block_offsets.
    examples = {
        "split": ("uint8", bytes(range(16)), "2009249249249240", 8),
        "zero-blocks": ("uint8", b"\x07" * 40, "007401d00780", 8),
        "second-extension": ("uint8", bytes([0, 1, 0, 0, 0, 0, 0, 0]), "13c0", 0),
        "no-compression": ("uint8", bytes([200, 3, 150, 77, 9, 255, 0, 128]), "f91f92d230fffff000", 8),
        "repeated-last": ("uint8", bytes([5, 6, 7, 8, 9]), "20a493c0", 8),
        "uint16": ("uint16", struct.pack("<8H", 1000, 1001, 1003, 1006, 1010, 1015, 1021, 1028), "403e8eaaa60a60", 8),
    }
    for name, (dtype, data, payload, flags) in examples.items():
        count = len(data) // WIDTH[dtype]
        described = descriptor(dtype, [count], compression="szip", szip_rsi=2, szip_block_size=8, szip_flags=flags)
        tensor = Tensor(dtype, [count], data)
        tensor.ranges = [(count // 2, 1)]
        yield assembled(
            f"full/szip/example-{name}",
            f"the example of PIPELINE 10, without szip_block_offsets: {name}",
            [rule, "PIPELINE 10: examples"],
            [(described, bytes.fromhex(payload), [], tensor)],
            ["szip"],
        )


def blosc2():
    rules = ["PIPELINE 5.5: blosc2"]
    data = struct.pack("<600f", *smooth(600))
    forms = {
        "zlib": {"codec": "zlib"},
        "zlib-split": {"codec": "zlib", "split": True},
        "zlib-blocks": {"codec": "zlib", "block": 1000},
        "zlib-chunks": {"codec": "zlib", "chunk": 1000, "block": 400},
        "lz4": {"codec": "lz4"},
        "lz4-split-blocks": {"codec": "lz4", "split": True, "block": 800},
        "lz4hc": {"codec": "lz4hc"},
        "zstd": {"codec": "zstd"},
        "no-filter": {"codec": "zlib", "filters": (0,) * 6},
        "raw": {"special": "raw"},
        "bit-shuffle": {"codec": "zlib", "filters": (0, 0, 0, 0, 0, 2)},
    }
    for name, form in forms.items():
        described = descriptor(
            "float32", [600], compression="blosc2", blosc2_codec=form.get("codec", "lz4"), blosc2_clevel=5
        )
        tensor = Tensor("float32", [600], data)
        tensor.ranges = [(0, 600), (249, 3), (599, 1)]
        yield assembled(
            f"full/blosc2/{name}",
            f"a frame assembled by hand: {name}",
            rules,
            [(described, blobs.blosc2(data, 4, **form), [], tensor)],
            ["blosc2"],
        )
    for special, values in {"zeros": bytes(2400), "repeat": b"\1\2\3\4" * 600}.items():
        described = descriptor("float32", [600], compression="blosc2")
        yield assembled(
            f"full/blosc2/special-{special}",
            f"a special chunk: {special}",
            rules,
            [(described, blobs.blosc2(values, 4, "lz4", special=special), [], Tensor("float32", [600], values))],
            ["blosc2"],
        )
    numbers = [value >> 20 for value in noise(100)]
    described, payload = packed_object(numbers, [100], 12, 1.0, -3, compression="blosc2")
    yield assembled(
        "full/blosc2/packed",
        "packed values of 12 bits: typesize 2",
        ["PIPELINE 5.5: typesize is derived"],
        [(described, blobs.blosc2(payload, 2), [], packed_tensor(numbers, [100], 1.0, -3))],
        ["blosc2"],
    )
    described = descriptor("float32", [600], "big", filter="shuffle", shuffle_element_size=4, compression="blosc2")
    stored = blobs.shuffle(swapped(data, 4), 4)
    yield assembled(
        "full/blosc2/shuffled",
        "shuffled, big-endian: typesize 1",
        ["PIPELINE 5.5: typesize is derived"],
        [(described, blobs.blosc2(stored, 1), [], Tensor("float32", [600], data))],
        ["blosc2"],
    )


def lossy():
    wave = smooth(125)
    wild = [math.ldexp(value / 2**31 - 1, at % 40 - 20) for at, value in enumerate(noise(37))]
    inputs = {
        "smooth": wave,
        "wild": wild,
        "zeros": [0.0] * 20,
        "one": [3.5],
        "empty": [],
        "mixed": [0.0, 1e-30, -1e30, 5.0, -0.0, 7.25, 1.0],
    }
    modes = [("fixed_rate", "zfp_rate", rate) for rate in (3.0, 8.0, 16.0, 64.0)]
    modes += [("fixed_precision", "zfp_precision", precision) for precision in (1, 16, 64)]
    modes += [("fixed_accuracy", "zfp_tolerance", tolerance) for tolerance in (0.5, 1e-6)]
    for mode, key, value in modes:
        for name, given in inputs.items():
            if name in ("one", "empty", "mixed", "zeros") and value not in (8.0, 16, 0.5):
                continue
            item = descriptor("float64", [len(given)], compression="zfp", zfp_mode=mode, **{key: value}), doubles(given)
            tensor = LateTensor(
                len(given),
                lambda payload, count=len(given), mode=mode, value=value: zfp.decode(payload, count, mode, value),
            )
            tensor.ranges = [(0, len(given))] + ([(5, 20)] if len(given) > 25 else [])
            yield encoded(
                f"full/zfp/{mode[6:]}-{value}-{name}",
                f"{mode} {value} of {name} values",
                ["PIPELINE 5.6: the coding"],
                [item],
                [tensor],
            )
    examples = {
        "rate-8": ("fixed_rate", "zfp_rate", 8.0, "0588590005681500"),
        "precision-16": ("fixed_precision", "zfp_precision", 16, "0588590000008002b40a000000000000"),
        "tolerance-half": ("fixed_accuracy", "zfp_tolerance", 0.5, "0588598002b40a00"),
    }
    for name, (mode, key, value, payload) in examples.items():
        payload = bytes.fromhex(payload)
        described = descriptor("float64", [5], compression="zfp", zfp_mode=mode, **{key: value})
        yield assembled(
            f"full/zfp/example-{name}",
            "the example of PIPELINE 10",
            ["PIPELINE 5.6: the coding", "PIPELINE 10: examples"],
            [(described, payload, [], Tensor("float64", [5], zfp.decode(payload, 5, mode, value)))],
            ["zfp"],
        )
    rules = ["PIPELINE 5.7: sz3"]
    # Bounds that no encoder needs to use: values come back as they are.
    for name, payload, values in sz3.examples():
        described = descriptor(
            "float64", [len(values)], compression="sz3", sz3_error_bound_mode="abs", sz3_error_bound=0.5
        )
        tensor = Tensor("float64", [len(values)], doubles(values))
        tensor.ranges = [(1, 1)]
        yield assembled(
            f"full/sz3/{name}",
            f"a container assembled by hand: {name}",
            rules,
            [(described, payload, [], tensor)],
            ["sz3"],
        )


class LateTensor(Tensor):
    """float64 values that are decoded from the payload that our encoder wrote, by another decoder."""

    def __init__(self, count, decode):
        super().__init__("float64", [count], b"")
        self.decode = decode

    def settle(self, payload):
        self.values = self.decode(payload)


def masks():
    rules = ["PIPELINE 6.3: storage", "PIPELINE 6.4: restoration"]
    places = {0: "nan", 3: "inf+", 4: "inf-", 11: "nan", 39: "inf+"}
    options = {"allow_nan": True, "allow_inf": True}
    for dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        for order in ("little", "big"):
            item, tensor = plain(dtype, [40], with_non_finite(dtype, any_values(dtype, [40], 3), places), order)
            tensor.ranges = [(0, 5), (3, 10), (39, 1)]
            yield encoded(
                f"full/masks/{dtype}-{order}",
                f"{dtype}, {order}-endian, with NaN and infinities",
                rules,
                [item],
                [tensor],
                **options,
            )
    for dtype in ("complex64", "complex128"):
        mixed = {1: "nan.re", 2: "nan.im", 3: "inf+.re", 4: "inf-.im", 5: "inf+.im"}
        item, tensor = plain(dtype, [9], with_non_finite(dtype, any_values(dtype, [9], 3), mixed))
        yield encoded(
            f"full/masks/{dtype}-parts",
            f"{dtype}: one part is not finite",
            ["PIPELINE 6.2: a complex element is of one kind"],
            [item],
            [tensor],
            **options,
        )
    for name, given in {
        "all-nan": dict.fromkeys(range(20), "nan"),
        "first": {0: "inf-"},
        "last": {19: "nan"},
        "runs": dict.fromkeys(range(5, 15), "inf+"),
    }.items():
        item, tensor = plain("float32", [20], with_non_finite("float32", any_values("float32", [20], 3), given))
        yield encoded(f"full/masks/{name}", f"masks: {name}", rules, [item], [tensor], **options)
    many = {
        at: "nan" if value & 1 else "inf+" if value & 2 else "inf-"
        for at, value in enumerate(noise(3000, 8))
        if value % 7 < 2
    }
    for method in ("none", "rle", "roaring", "lz4", "zstd"):
        item, tensor = plain("float32", [3000], with_non_finite("float32", any_values("float32", [3000], 3), many))
        tensor.ranges = [(100, 50), (2990, 10)]
        methods = dict.fromkeys(("nan", "inf+", "inf-"), method)
        yield encoded(
            f"full/masks/method-{method}",
            f"masks stored by method {method}",
            rules,
            [item],
            [tensor],
            mask_methods=methods,
            small_mask_bytes=0,
            **options,
        )
    item, tensor = plain(
        "float64",
        [2, 600],
        with_non_finite("float64", any_values("float64", [2, 600], 3), {at: "nan" for at in range(0, 1200, 3)}),
    )
    yield encoded(
        "full/masks/method-each",
        "three methods in one object",
        rules,
        [item],
        [tensor],
        small_mask_bytes=0,
        mask_methods={"nan": "rle", "inf+": "roaring", "inf-": "none"},
        **options,
    )
    for codec in ("zstd", "lz4", "szip"):
        stages = {"filter": "shuffle", "shuffle_element_size": 4, "compression": codec}
        stages |= {"szip_rsi": 4, "szip_block_size": 8, "szip_flags": 8} if codec == "szip" else {}
        item, tensor = plain(
            "float32", [40], with_non_finite("float32", any_values("float32", [40], 3), places), **stages
        )
        tensor.ranges = [(2, 9)]
        yield encoded(
            f"full/masks/with-{codec}",
            f"masks after a payload of {codec}",
            ["PIPELINE 6.5: masks and stages"],
            [item],
            [tensor],
            **options,
        )
    numbers = [value >> 24 for value in noise(10)]
    bits = [at in (2, 7) for at in range(10)]
    values = bytearray(doubles(unpack(numbers, 0.5, -4)))
    for at in (2, 7):
        values[8 * at : 8 * at + 8] = struct.pack("<Q", 0x7FF8 << 48)
    item = packed_object(numbers, [10], 8, 0.5, -4)
    yield assembled(
        "full/masks/with-simple_packing",
        "packed values and a mask",
        ["PIPELINE 6.5: masks and stages"],
        [(*item, [("nan", "none", pack_bits(bits))], Tensor("float64", [10], bytes(values), {"nan": bits}))],
    )
    yield from assembled_masks(rules)


def assembled_masks(rules):
    plain32 = any_values("float32", [2000], 5)

    def case(name, about, rule, given, masks_of=None, count=2000, needs=(), **more):
        """`given`: (kind, method, bits); later ones win."""
        data, kinds = bytearray(plain32[: 4 * count]), {}
        for kind, _, bits in given:
            kinds[kind] = bits
            pattern = {"nan": 0x7FC00000, "inf+": 0x7F800000, "inf-": 0xFF800000}[kind]
            for at, bit in enumerate(bits):
                if bit:
                    data[4 * at : 4 * at + 4] = struct.pack("<I", pattern)
        listed = [(kind, method, (masks_of or blobs.mask)(method, bits)) for kind, method, bits in given]
        described = descriptor("float32", [count])
        tensor = Tensor("float32", [count], bytes(data), kinds)
        needs = [*needs, *(method for _, method, _ in given if method != "none")]
        return assembled(
            f"full/masks/{name}",
            about,
            [*rules, rule],
            [(described, plain32[: 4 * count], listed, tensor)],
            needs,
            **more,
        )

    sparse = [value % 50 == 0 for value in noise(2000, 3)]
    runs = [at // 100 % 2 == 1 for at in range(2000)]
    for method in ("rle", "roaring", "lz4", "zstd", "blosc2"):
        for name, bits in (
            ("sparse", sparse),
            ("runs", runs),
            ("none-set", [False] * 2000),
            ("all-set", [True] * 2000),
        ):
            if method == "roaring" and name == "none-set":
                continue
            yield case(
                f"assembled-{method}-{name}",
                f"a mask assembled by hand: {method}, {name}",
                "PIPELINE 6.3: methods",
                [("nan", method, bits)],
            )
    yield case(
        "overlap",
        "masks that overlap",
        "PIPELINE 6.4: where masks overlap the later one wins",
        [("nan", "none", runs), ("inf-", "none", sparse)],
    )
    yield case(
        "bits-after-the-end",
        "a raw mask with bits after the last element",
        "PIPELINE 6.3: bits after N are ignored on reading",
        [("nan", "none", [True] + [False] * 8)],
        lambda _, bits: bytes([pack_bits(bits)[0], pack_bits(bits)[1] | 0x7F]),
        9,
    )
    bits = [False, True, False, False]
    swapped_blobs = Object(
        {
            **descriptor("float32", [4]),
            "masks": {
                "nan": {"method": "none", "offset": 17, "length": 1},
                "inf+": {"method": "none", "offset": 16, "length": 1},
            },
        },
        plain32[:16] + b"\x10" + b"\x40",
    )
    data = bytearray(plain32[:16])
    data[4:8], data[12:16] = struct.pack("<I", 0x7FC00000), struct.pack("<I", 0x7F800000)
    tensor = Tensor("float32", [4], bytes(data), {"nan": bits, "inf+": [False, False, False, True]})
    yield Case(
        "full/masks/blobs-any-order",
        "the blob of inf+ before that of nan",
        ["PIPELINE 6.3: a reader accepts blobs in any order"],
        buffered([swapped_blobs]),
        [Message([tensor])],
    )
    with_params = Object(
        {
            **descriptor("float32", [4]),
            "masks": {
                "nan": {"method": "none", "offset": 16, "length": 1, "params": {"level": 3}, "note": 1},
                "other": 5,
            },
        },
        plain32[:16] + b"\x40",
    )
    data[12:16] = plain32[12:16]
    yield Case(
        "full/masks/unknown-keys",
        "unknown keys inside masks and its entries",
        ["FORMAT 3.5: unknown keys inside masks or an entry are ignored"],
        buffered([with_params]),
        [Message([Tensor("float32", [4], bytes(data), {"nan": bits})])],
    )
    integers = Object(
        {**descriptor("int32", [4]), "masks": {"nan": {"method": "none", "offset": 16, "length": 1}}},
        ints("int32", 4) + b"\x40",
    )
    yield Case(
        "full/masks/on-integers",
        "a mask on integers",
        ["PIPELINE 6.4: masks on integers have no effect"],
        buffered([integers]),
        [Message([Tensor("int32", [4], ints("int32", 4))])],
    )
    first = Object(descriptor("float32", [4]), plain32[:16], [("nan", "none", b"\x40")], first=True)
    yield Case(
        "full/masks/descriptor-first",
        "masks in an object whose descriptor comes first",
        ["FORMAT 1.7: mask offsets count from the region's first byte in both forms"],
        buffered([first]),
        [Message([Tensor("float32", [4], bytes(data), {"nan": bits})])],
    )


def bitmask():
    for codec in ("none", "rle", "roaring", "zstd", "lz4"):
        for name, bits in {
            "random": [value >> 31 for value in noise(100)],
            "ones": [1] * 77,
            "zeros": [0] * 64,
            "runs": [at // 9 % 2 for at in range(500)],
        }.items():
            data = pack_bits(bits)
            item = descriptor("bitmask", [len(bits)], compression=codec), data
            tensor = Tensor("bitmask", [len(bits)], data)
            tensor.ranges = [(0, len(bits)), (3, 20), (8, 16)]
            yield encoded(
                f"full/bitmask/{codec}-{name}",
                f"a bitmask with compression {codec}: {name}",
                ["PIPELINE 5.8: rle and roaring", "PIPELINE 1: bitmask"],
                [item],
                [tensor],
            )
    bits = [value % 40 == 0 for value in noise(70000, 2)]
    dense = bits[:66000] + [True] * 4000
    for codec, given in (
        ("rle", dense),
        ("roaring", dense),
        ("roaring", [value >> 31 == 1 for value in noise(70000, 5)]),
    ):
        padded = unpack_bits(pack_bits(given), -(-len(given) // 8) * 8)
        payload = blobs.counted(padded, getattr(blobs, codec)(padded))
        name = "dense" if given is dense else "bitmap"
        yield assembled(
            f"full/bitmask/assembled-{codec}-{name}",
            f"70000 bits, {codec} assembled by hand",
            ["PIPELINE 5.8: rle and roaring"],
            [
                (
                    descriptor("bitmask", [len(given)], compression=codec),
                    payload,
                    [],
                    Tensor("bitmask", [len(given)], pack_bits(given)),
                )
            ],
            [codec],
        )


def ranges():
    item, tensor = plain("float64", [4, 250], any_values("float64", [4, 250], 2))
    tensor.ranges = [(0, 0), (1000, 0), (0, 1000), (999, 1), (249, 2), (500, 250)]
    yield encoded(
        "full/ranges/plain",
        "ranges over rows of a matrix",
        ["FORMAT 5.5: a range is of the flat tensor"],
        [item],
        [tensor],
    )
    values = smooth(1000)
    for bits in (7, 16, 29):
        reference, binary = packing_of(values, bits)
        tensor = packed_tensor(pack(values, bits, reference, binary), [1000], reference, binary)
        tensor.ranges = [
            (start, count) for start, count in ((0, 9), (1, 1), (13, 100), (511, 489), (999, 1), (1000, 0))
        ]
        item = descriptor("float64", [1000], encoding="simple_packing", sp_bits_per_value=bits), doubles(values)
        yield encoded(
            f"full/ranges/packed-{bits}",
            f"ranges of packed values of {bits} bits",
            ["PIPELINE 3.5: ranges"],
            [item],
            [tensor],
        )
    data = ints("uint16", 900, 3)
    stages = {"compression": "szip", "szip_rsi": 2, "szip_block_size": 8, "szip_flags": 8}
    item, tensor = plain("uint16", [900], data, **stages)
    tensor.ranges = [(0, 1), (15, 2), (16, 16), (100, 700), (899, 1)]
    yield encoded(
        "full/ranges/szip",
        "ranges within and across reference sample intervals",
        ["PIPELINE 5.4: ranges"],
        [item],
        [tensor],
    )
    # One zero run before a block that is not zero, in one interval: offsets of some writers point at that block.
    sample = bytes([0] * 12 + [9] * 4 + [at % 7 for at in range(48)])
    item, tensor = plain("uint8", [64], sample, **stages)
    tensor.ranges = [(16, 16), (20, 1), (32, 32)]
    yield encoded(
        "full/ranges/szip-after-zeros",
        "an interval that follows zero blocks",
        ["PIPELINE 5.4: a writer writes true offsets"],
        [item],
        [tensor],
    )
    payload = bytes.fromhex("0009f007b00fcb556ff36aad605e7aad9f9f55b4c133f5b53cfeb6a8")
    described = descriptor("uint8", [64], szip_block_offsets=[0, 13, 96, 159], **stages)
    late = Tensor("uint8", [64], sample)
    late.ranges = [(0, 64), (16, 16), (20, 1)]
    yield assembled(
        "full/ranges/szip-offsets-too-small",
        "szip_block_offsets of which one points at the block before",
        ["PIPELINE 5.4: a reader that must be right reads the stream"],
        [(described, payload, [], late)],
        ["szip"],
    )


def messages():
    one, two = any_values("float32", [5], 1), any_values("int16", [7], 2)
    first = bytes(buffered([Object(*raw_object("float32", [5], one))], {"base": [{"n": 1}]}).bytes)
    second = bytes(streamed([Object(*raw_object("int16", [7], two))], {}, {"base": [{"n": 2}]}).bytes)
    third = bytes(build([metadata({"_extra_": {"n": 3}})]).bytes)
    expect = {
        first: Message([Tensor("float32", [5], one)], [{"n": 1}], {}, {}),
        second: Message([Tensor("int16", [7], two)], [{"n": 2}], {}, {}),
        third: Message([], [], {"n": 3}, {}),
    }

    def case(name, about, rule, parts, damaged=False):
        listed, at = [], 0
        for part in parts:
            if part in expect:
                listed.append(((at, len(part)), expect[part]))
            at += len(part)
        more = {"damaged": True} if damaged else {}
        return Case(f"full/messages/{name}", about, [rule], b"".join(parts), listed, **more)

    rule = "FORMAT 5.6: bytes that belong to no message are skipped"
    yield case("three", "three messages", "FORMAT 1.1: a file is a plain sequence of messages", [first, second, third])
    yield case("twenty", "twenty messages", "FORMAT 1.1: a file is a plain sequence of messages", [first, third] * 10)
    yield case(
        "streamed-first",
        "streamed messages without length",
        "FORMAT 2 row 21: frames are walked to find the end",
        [second, second, first],
    )
    yield case("garbage-before", "bytes before the first message", rule, [b"garbage!!", first, third], True)
    yield case("garbage-between", "bytes between messages", rule, [first, b"\0" * 13, third, b"TENSOGRM", second], True)
    yield case("garbage-after", "bytes after the last message", rule, [first, second, b"39277777 and more"], True)
    yield case("zeros-between", "zeros between messages", rule, [first, bytes(64), second], True)
    yield case(
        "cut-at-the-end",
        "a last message that is cut off",
        "FORMAT 5.6: a last message that is cut off is not listed",
        [first, third, first[:-10]],
        True,
    )
    broken = first[:-1] + b"8"
    yield case(
        "broken-end-magic",
        "a message without end magic between others",
        "FORMAT 5.6: that one is lost, the others are found",
        [third, broken, first],
        True,
    )
    broken = first[:16] + b"\xff" * 8 + first[24:]
    yield case(
        "broken-length",
        "a message with a length beyond the file, between others",
        "FORMAT 5.6: that one is lost, the others are found",
        [third, broken, first],
        True,
    )
    broken = first[:9] + b"\2" + first[10:]
    yield case(
        "version-2-between",
        "a message of version 2 between others",
        "FORMAT 5.6: a message of version 2 is not listed",
        [third, broken, first],
        True,
    )
    inner = Object(*raw_object("uint8", [len(first)], first))
    outer = bytes(buffered([inner]).bytes)
    expect[outer] = Message([Tensor("uint8", [len(first)], first)], [{}], {}, {})
    yield case(
        "message-inside-a-payload",
        "a whole message as the payload of another",
        "FORMAT 5.6: only the outer one is found",
        [outer, third],
    )
    magic = b"39277777" * 4 + b"TENSOGRM"
    hidden = bytes(streamed([Object(*raw_object("uint8", [40], magic))]).bytes)
    expect[hidden] = Message([Tensor("uint8", [40], magic)], [{}], {}, {})
    yield case(
        "end-magic-in-a-payload",
        "the end magic inside the payload of a message without length",
        "FORMAT 2 row 21: walk the frames",
        [hidden, third],
    )
    yield case("empty-file", "a file of no bytes", "FORMAT 5.7: an empty file has 0 messages", [b""])
    for count in (5, 60):
        tensors, objects = [], []
        for at in range(count):
            item, tensor = plain(
                ("float32", "uint8", "int64")[at % 3],
                [at % 5],
                any_values(("float32", "uint8", "int64")[at % 3], [at % 5], at),
            )
            objects.append(item)
            tensors.append(tensor)
        yield encoded(
            f"full/messages/objects-{count}",
            f"a message of {count} objects",
            ["FORMAT 1.1: n data objects"],
            objects,
            tensors,
            [{"at": at} for at in range(count)],
        )


def streaming():
    rules = ["FORMAT 4.5: streaming message", "FORMAT 1.9: total_length 0 is unknown"]
    one, first = plain("float32", [6], any_values("float32", [6], 1))
    two, second = plain("uint8", [3], b"\1\2\3")
    base = [{"step": 0}, {"step": 6}]
    for layout in ("streamed", "streamed-backfilled"):
        name = layout.replace("streamed-", "")
        yield encoded(
            f"full/streaming/{name}-two",
            f"two objects, {layout}",
            rules,
            [one, two],
            [first, second],
            base,
            {"title": "t"},
            layout=layout,
        )
        yield encoded(
            f"full/streaming/{name}-none", f"no objects, {layout}", rules, [], [], None, {"title": "t"}, layout=layout
        )
        yield encoded(
            f"full/streaming/{name}-unhashed",
            f"no digests, {layout}",
            rules,
            [one],
            [first],
            base[:1],
            layout=layout,
            hashing=False,
        )
        yield encoded(
            f"full/streaming/{name}-no-list",
            f"no list of digests, {layout}",
            rules,
            [one],
            [first],
            base[:1],
            layout=layout,
            digest_list="none",
        )
        yield encoded(
            f"full/streaming/{name}-descriptor-first",
            f"the descriptor first, {layout}",
            rules,
            [one, two],
            [first, second],
            base,
            layout=layout,
            descriptor_first=True,
        )
    stages = {"compression": "zstd"}
    item, tensor = plain("float64", [500], any_values("float64", [500], 1), **stages)
    yield encoded("full/streaming/zstd", "a compressed object in a stream", rules, [item], [tensor], layout="streamed")
    item, tensor = plain("float32", [20], with_non_finite("float32", any_values("float32", [20], 1), {3: "nan"}))
    yield encoded(
        "full/streaming/masks",
        "an object with a mask in a stream",
        rules,
        [item],
        [tensor],
        layout="streamed",
        allow_nan=True,
    )
    # Lengths of one place only.
    built = streamed([Object(*raw_object("uint8", [3], b"\1\2\3"))])
    tensor = Tensor("uint8", [3], b"\1\2\3")
    built.number("preamble.total_length", len(built.bytes))
    yield Case(
        "full/streaming/length-in-preamble",
        "the length in the preamble, 0 in the postamble",
        ["FORMAT 1.9: T and 0 are accepted"],
        built,
        [Message([tensor])],
    )
    built = streamed([Object(*raw_object("uint8", [3], b"\1\2\3"))])
    built.number("postamble.total_length", len(built.bytes))
    yield Case(
        "full/streaming/length-in-postamble",
        "the length in the postamble, 0 in the preamble",
        ["FORMAT 1.9: 0 and anything are accepted"],
        built,
        [Message([tensor])],
    )


def preceders():
    rules = ["FORMAT 5.4: a preceder's entry is laid over base[i]: its top-level keys replace the entry's"]
    one, first = plain("float32", [6], any_values("float32", [6], 1))
    two, second = plain("uint8", [3], b"\1\2\3")
    entry = {"mars": {"step": 12}, "late": True}
    base = [{"mars": {"param": "2t"}, "kept": 1}, {"kept": 2}]
    yield encoded(
        "full/preceders/both",
        "preceders before both objects",
        rules,
        [(*one, entry), (*two, {"late": 2})],
        [first, second],
        base,
        layout="streamed",
    )
    yield encoded(
        "full/preceders/second",
        "a preceder before the second object only",
        rules,
        [one, (*two, entry)],
        [first, second],
        base,
        layout="streamed",
    )
    yield encoded(
        "full/preceders/empty", "an empty preceder", rules, [(*one, {})], [first], base[:1], layout="streamed"
    )
    yield encoded(
        "full/preceders/no-base",
        "a preceder where the metadata has no entry",
        rules,
        [(*one, entry)],
        [first],
        layout="streamed",
    )
    item = lambda: Object(*raw_object("uint8", [3], b"\1\2\3"))
    tensor = lambda: Tensor("uint8", [3], b"\1\2\3")

    def case(name, about, rule, frames, base, **more):
        return Case(
            f"full/preceders/{name}",
            about,
            [rule],
            build(frames, **more),
            [Message([tensor() for _ in base], base, {}, {})],
        )

    front = lambda entries: metadata({"base": entries})
    yield case(
        "buffered",
        "a preceder in a message with its metadata in the header",
        rules[0],
        [front([{"a": 1, "b": 1}]), preceder({"a": 2}), Frame(OBJECT, item())],
        [{"a": 2, "b": 1}],
    )
    yield case(
        "replaces-maps",
        "a map of a preceder replaces the map",
        rules[0],
        [front([{"m": {"x": 1, "y": 2}}]), preceder({"m": {"x": 3}}), Frame(OBJECT, item())],
        [{"m": {"x": 3}}],
    )
    yield case(
        "reserved-dropped",
        "_reserved_ in a preceder",
        "FORMAT 5.4: _reserved_ in it is dropped first",
        [front([{"_reserved_": {"keep": 1}}]), preceder({"_reserved_": {"drop": 1}, "a": 1}), Frame(OBJECT, item())],
        [{"_reserved_": {"keep": 1}, "a": 1}],
    )
    extra = metadata({"base": [{"a": 1}], "_extra_": {"ignored": 1}, "top": 2}, 8)
    yield case(
        "other-sections",
        "other sections in a preceder",
        "FORMAT 1.11: other top-level keys and _extra_ are ignored",
        [front([]), extra, Frame(OBJECT, item())],
        [{"a": 1}],
    )
    yield case(
        "over-the-footer",
        "a preceder wins over metadata in the footer",
        rules[0],
        [
            metadata({}),
            preceder({"a": 2}),
            Frame(OBJECT, item()),
            metadata({"base": [{"a": 1, "b": 1}]}, FOOTER_METADATA),
        ],
        [{"a": 2, "b": 1}],
    )


def cases():
    for group in (
        simple_packing,
        shuffle,
        lossless,
        szip,
        blosc2,
        lossy,
        masks,
        bitmask,
        ranges,
        messages,
        streaming,
        preceders,
    ):
        yield from group()
