"""Streams of codecs that break one rule, small ones that claim to be large among them."""

import struct

import blobs
import sz3
from values import pack_bits
from wire import descriptor

ROARING = "PIPELINE 5.8: the portable roaring format"
RUNS = "PIPELINE 5.8: runs sum to the count, and none is empty"


def bit_blobs(count):
    """By method: name, blob and rule, for masks of `count` bits, below 8."""
    bits = [at in (0, 3) for at in range(count)]
    raw = pack_bits(bits)
    huge = struct.pack("<I", 0xFFFFFFFF)
    return {
        "rle": {
            "empty": (b"", RUNS),
            "first-byte-2": (bytes([2, 1, 2, 3]), RUNS),
            "empty-run": (bytes([1, 0, 1, 2, 3]), RUNS),
            "too-short": (bytes([1, 1, 2]), RUNS),
            "too-long": (bytes([1, 1, 2, 1, 3]), RUNS),
            "bytes-after": (bytes([1, 1, 2, 1, 2, 1]), RUNS),
            "run-cut": (bytes([1, 0x81]), RUNS),
            "run-huge": (bytes([1]) + b"\xff" * 9 + b"\x01", RUNS),
            "run-of-11-bytes": (bytes([1]) + b"\x80" * 10 + b"\x06", RUNS),
        },
        "roaring": {
            "empty": (b"", ROARING),
            "cookie": (b"\x3c" + blobs.roaring(bits)[1:], ROARING),
            "cut": (blobs.roaring(bits)[:-1], ROARING),
            "position-beyond": (blobs.roaring([at == 6 for at in range(7)]), "PIPELINE 6.3: positions are below N"),
            "key-beyond": (blobs.roaring([False] * 70000 + [True]), "PIPELINE 6.3: positions are below N"),
            "containers-max": (struct.pack("<II", 12346, 0xFFFFFFFF) + bytes(16), ROARING),
            "runs-cut": (struct.pack("<HHB", 12347, 0, 1) + bytes(4) + b"\xff\xff", ROARING),
        },
        "lz4": {
            "empty": (b"", "PIPELINE 5.2: lz4"),
            "size-max": (huge + blobs.lz4_block(raw), "PIPELINE 6.3: the raw mask has ceil(N/8) bytes"),
            "two-bytes": (blobs.lz4(raw + b"\0"), "PIPELINE 6.3: the raw mask has ceil(N/8) bytes"),
        },
        "zstd": {
            "empty": (b"", "PIPELINE 5.1: zstd"),
            "magic": (b"\x29" + blobs.zstd(raw)[1:], "PIPELINE 5.1: zstd"),
            "two-bytes": (blobs.zstd(raw + b"\0"), "PIPELINE 6.3: the raw mask has ceil(N/8) bytes"),
            "bomb": (zstd_bomb(2000), "PIPELINE 6.3: the raw mask has ceil(N/8) bytes"),
        },
        "blosc2": {
            "empty": (b"", "PIPELINE 5.5: the Blosc2 frame"),
            "two-bytes": (blobs.blosc2(raw + b"\1", 1, "lz4"), "PIPELINE 6.3: the raw mask has ceil(N/8) bytes"),
        },
    }


def zstd_bomb(blocks):
    """A frame of blocks that repeat one byte: 128 KiB of each 4 bytes."""
    parts = [((1 << 17) << 3 | 1 << 1 | (at == blocks - 1)).to_bytes(3, "little") + b"\0" for at in range(blocks)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(parts)


def lz4_bomb(length):
    """One literal and a match over `length` bytes."""
    match = length - 1 - 5
    block = b"\x1f\0\x01\x00" + b"\xff" * ((match - 19) // 255) + bytes([(match - 19) % 255]) + b"\x50" + bytes(5)
    return struct.pack("<I", length) + block


def _patched(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def payloads():
    """Name, descriptor, payload, rule, codecs that are needed."""
    data = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    size = "FORMAT 5.3: the decoded length is compared with the shape"

    def plain(codec, dtype="float32", shape=(6,), **more):
        return descriptor(dtype, list(shape), compression=codec, **more)

    def each(codec, rule, given, described=None):
        for name, payload in given.items():
            yield f"{codec}-{name}", described or plain(codec), payload, rule, [codec]

    good = blobs.zstd(data)
    given = {
        "empty": b"",
        "magic": b"\x29" + good[1:],
        "cut": good[:-1],
        "noise": bytes(range(40)),
        "no-last-block": good[:6],
    }
    given["reserved-block"] = _patched(good, 6, bytes([good[6] | 6]))
    yield from each("zstd", "PIPELINE 5.1: a zstd frame", given)
    given = {"short": blobs.zstd(data[:-1]), "long": blobs.zstd(data + b"\0"), "bomb": zstd_bomb(2000)}
    given["content-size-2p40"] = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 40) + good[6:]
    yield from each("zstd", size, given)

    good = blobs.lz4(data)
    given = {"empty": b"", "prefix-only": good[:4], "cut": good[:-1], "three-bytes": b"\1\2\3"}
    given["offset-0"] = struct.pack("<I", 24) + b"\x1f\x01\x00\x00\x04"
    given["offset-beyond"] = struct.pack("<I", 24) + b"\x1f\x01\x09\x00\x04"
    given["length-cut"] = struct.pack("<I", 24) + b"\xf0\xff\xff"
    yield from each("lz4", "PIPELINE 5.2: a size and an LZ4 block", given)
    given = {
        "short": blobs.lz4(data[:-1]),
        "long": blobs.lz4(data + b"\0"),
        "size-less": struct.pack("<I", 23) + good[4:],
    }
    given |= {
        "size-more": struct.pack("<I", 25) + good[4:],
        "size-max": b"\xff" * 4 + good[4:],
        "bomb": lz4_bomb(1 << 24),
    }
    yield from each("lz4", size, given)

    szip = {"szip_rsi": 2, "szip_block_size": 8, "szip_flags": 8}
    described = plain("szip", "uint8", (16,), **szip)
    good = bytes.fromhex("2009249249249240")
    rule = "PIPELINE 2: szip gives exactly the expected size"
    given = {"empty": b"", "cut": good[:-2], "one-byte": good[:1]}
    given["zero-run-beyond"] = b"\x00" * 8
    yield from each("szip", rule, given, described)
    given = {"second-extension-above-90": bytes.fromhex("10" + "00" * 20 + "ff")}
    yield from each(
        "szip", "PIPELINE 7.1: m above 90 is invalid", given, plain("szip", "uint8", (16,), **{**szip, "szip_flags": 0})
    )
    rule = "PIPELINE 5.4: parameters of szip"
    for key in szip:
        lacking = {name: value for name, value in szip.items() if name != key}
        yield f"szip-without-{key[5:]}", plain("szip", "uint8", (16,), **lacking), good, rule, ["szip"]
    for key, value in (
        ("szip_rsi", 0),
        ("szip_rsi", 4097),
        ("szip_rsi", "2"),
        ("szip_block_size", 0),
        ("szip_block_size", 7),
        ("szip_block_size", 10),
        ("szip_block_size", 1 << 32),
        ("szip_flags", -1),
        ("szip_flags", 8.0),
        ("szip_rsi", 1 << 63),
    ):
        described = plain("szip", "uint8", (16,), **{**szip, key: value})
        yield f"szip-{key[5:]}-{value}", described, good, rule, ["szip"]
    rule = "PIPELINE 5.4: a sample has 1 to 32 bits"
    yield "szip-float64", plain("szip", "float64", (2,), **szip), good, rule, ["szip"]
    yield "szip-bitmask", plain("szip", "bitmask", (128,), **szip), good, rule, ["szip"]
    yield "szip-huge-shape", plain("szip", "uint8", (1 << 40,), **szip), good, size, ["szip"]

    good = blobs.blosc2(data, 4)
    rule = "PIPELINE 5.5: the Blosc2 frame"
    given = {
        "empty": b"",
        "magic": b"\x9f" + good[1:],
        "cut": good[:-36],
        "header-only": good[:97],
        "noise": bytes(range(200)),
    }
    given["header-length-max"] = _patched(good, 11, b"\x7f\xff\xff\xff")
    given["chunk-size-max"] = _patched(good, 97 + 4, b"\xff\xff\xff\x7f")
    given["chunk-size-negative"] = _patched(good, 97 + 12, b"\xff\xff\xff\xff")
    given["block-offset-beyond"] = _patched(good, 97 + 32, b"\xff\xff\xff\x7f")
    given["stream-size-beyond"] = _patched(good, 97 + 36, b"\xff\xff\xff\x7f")
    given["uncompressed-max"] = _patched(good, 30, b"\x7f" + b"\xff" * 7)
    yield from each("blosc2", rule, given)
    given = {"short": blobs.blosc2(data[:20], 4), "long": blobs.blosc2(data + data, 4)}
    given["bomb"] = blobs.blosc2(bytes(1 << 28), 4, special="zeros")
    yield from each("blosc2", size, given)

    payload = bytes.fromhex("0588590005681500")
    rule = "PIPELINE 5.6: parameters of zfp"
    zfp = {"zfp_mode": "fixed_rate", "zfp_rate": 8.0}
    for name, parameters in {
        "without-mode": {"zfp_rate": 8.0},
        "without-rate": {"zfp_mode": "fixed_rate"},
        "mode-unknown": {"zfp_mode": "reversible"},
        "mode-integer": {"zfp_mode": 1},
        "rate-text": {"zfp_mode": "fixed_rate", "zfp_rate": "8"},
        "precision-float": {"zfp_mode": "fixed_precision", "zfp_precision": 8.0},
        "tolerance-text": {"zfp_mode": "fixed_accuracy", "zfp_tolerance": "1"},
        "tolerance-without": {"zfp_mode": "fixed_accuracy"},
    }.items():
        yield f"zfp-{name}", plain("zfp", "float64", (5,), **parameters), payload, rule, ["zfp"]
    yield "zfp-empty", plain("zfp", "float64", (5,), **zfp), b"", "PIPELINE 2: empty only if N = 0", ["zfp"]
    too_long = "PIPELINE 2: the payload is at most zfp's worst case"
    yield "zfp-long", plain("zfp", "float64", (5,), **zfp), payload + bytes(8), too_long, ["zfp"]
    yield "zfp-huge-shape", plain("zfp", "float64", (1 << 40,), **zfp), payload, size, ["zfp"]

    values = [at / 7 for at in range(6)]
    good = sz3.lossless(values)
    bound = {"sz3_error_bound_mode": "abs", "sz3_error_bound": 0.5}
    described = plain("sz3", "float64", (6,), **bound)
    rule = "PIPELINE 5.7: the container"
    given = {"empty": b"", "magic": b"\x11" + good[1:], "version": _patched(good, 4, b"\1"), "cut": good[:-1]}
    given |= {"body-length-max": _patched(good, 8, b"\xff" * 8), "raw-length-max": _patched(good, 16, b"\xff" * 8)}
    given["no-trailer"] = good[: 16 + struct.unpack_from("<Q", good, 8)[0]]
    yield from each("sz3", rule, given, described)
    given = {"short": sz3.lossless(values[:5]), "long": sz3.lossless([*values, 1.0])}
    yield from each("sz3", size, given, described)

    rule = "PIPELINE 5.8: a count of bits, then the blob"
    bits = [at % 5 == 0 for at in range(40)]
    for codec in ("rle", "roaring"):
        blob = getattr(blobs, codec)(bits)
        described = plain(codec, "bitmask", (40,))
        given = {"empty": b"", "count-only": struct.pack(">I", 40), "cut": blobs.counted(bits, blob)[:-1]}
        given |= {"count-max": b"\xff" * 4 + blob, "count-less": struct.pack(">I", 32) + blob}
        given["count-little-endian"] = struct.pack("<I", 40) + blob
        yield from each(codec, rule, given, described)
        yield (
            f"{codec}-of-uint8",
            plain(codec, "uint8", (5,)),
            blobs.counted(bits, blob),
            "PIPELINE 5.8: for bitmask only",
            [codec],
        )
    payload = blobs.counted([True] * 48, blobs.rle([True] * 48))
    yield "rle-long", plain("rle", "bitmask", (40,)), payload, "PIPELINE 2: decoded bytes = ceil(N/8)", ["rle"]
    payload = struct.pack(">I", 0xFFFFFFF8) + b"\x01" + blobs.leb128(0xFFFFFFF8)
    yield "rle-bomb", plain("rle", "bitmask", (40,)), payload, "PIPELINE 2: decoded bytes = ceil(N/8)", ["rle"]
