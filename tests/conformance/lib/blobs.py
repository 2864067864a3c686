"""Payloads and masks in compressed forms, assembled from their descriptions (PIPELINE 4 to 6).

These are valid streams, not those that a particular encoder chooses: a reader must read every valid stream.
"""

import struct
import zlib

from values import pack_bits


def shuffle(data, size):
    return b"".join(data[plane::size] for plane in range(size))


def leb128(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def rle(bits):
    """The first value and the lengths of runs (PIPELINE 5.8)."""
    if not bits:
        return b""
    runs = [1]
    for before, bit in zip(bits, bits[1:]):
        if bit == before:
            runs[-1] += 1
        else:
            runs.append(1)
    return bytes([bits[0]]) + b"".join(map(leb128, runs))


def counted(bits, blob):
    """The payload form of rle and roaring: the number of bits comes first."""
    return struct.pack(">I", len(bits)) + blob


def roaring(bits):
    """The portable form, with a run container where it is smaller (PIPELINE 5.8)."""
    keys = {}
    for at, bit in enumerate(bits):
        if bit:
            keys.setdefault(at >> 16, []).append(at & 0xFFFF)
    containers, has_runs = [], False
    for key, low in sorted(keys.items()):
        runs = []
        for at in low:
            if runs and runs[-1][0] + runs[-1][1] + 1 == at:
                runs[-1][1] += 1
            else:
                runs.append([at, 0])
        plain = struct.pack(f"<{len(low)}H", *low)
        if len(low) > 4096:
            image = bytearray(8192)
            for at in low:
                image[at >> 3] |= 1 << (at & 7)
            plain = bytes(image)
        as_runs = struct.pack("<H", len(runs)) + b"".join(struct.pack("<HH", *run) for run in runs)
        is_run = len(as_runs) < len(plain)
        has_runs |= is_run
        containers.append((key, len(low), is_run, as_runs if is_run else plain))
    described = b"".join(struct.pack("<HH", key, count - 1) for key, count, _, _ in containers)
    if has_runs:
        out = struct.pack("<HH", 12347, len(containers) - 1)
        image = bytearray(-(-len(containers) // 8))
        for at, container in enumerate(containers):
            image[at // 8] |= container[2] << at % 8
        out += bytes(image) + described
    else:
        out = struct.pack("<II", 12346, len(containers)) + described
    if not has_runs or len(containers) >= 4:
        at = len(out) + 4 * len(containers)
        for container in containers:
            out += struct.pack("<I", at)
            at += len(container[3])
    return out + b"".join(container[3] for container in containers)


def matches(data, least, far, longest=1 << 30):
    """A small greedy search: (literals, distance, length), the last one with distance 0.

    The last 5 bytes are literals, and no match begins in the last 12, as LZ4 wants it.
    """
    seen, at, literal_start = {}, 0, 0
    while at < len(data) - 12:
        key = data[at : at + least]
        found = seen.get(key)
        seen[key] = at
        if found is None or at - found > far:
            at += 1
            continue
        match = least
        while at + match < len(data) - 5 and data[found + match] == data[at + match] and match < longest:
            match += 1
        yield data[literal_start:at], at - found, match
        at += match
        literal_start = at
    yield data[literal_start:], 0, 0


def lz4_block(data):
    """A block of LZ4 (PIPELINE 5.2)."""
    out = bytearray()

    def length(number):
        return b"" if number < 15 else b"\xff" * ((number - 15) // 255) + bytes([(number - 15) % 255])

    for literals, distance, match in matches(data, 4, 0xFFFF):
        out.append(min(len(literals), 15) << 4 | (min(match - 4, 15) if match else 0))
        out += length(len(literals)) + literals
        if match:
            out += struct.pack("<H", distance) + length(match - 4)
    return bytes(out)


def zlib_stream(data):
    """A stream of zlib with one block of fixed Huffman codes: the same bytes on every machine."""
    whole, at = 0, 0

    def put(value, bits):
        nonlocal whole, at
        whole |= value << at
        at += bits

    def code(symbol):
        # Codes are written from their highest bit on.
        for first, last, bits, start in (
            (0, 143, 8, 0x30),
            (144, 255, 9, 0x190),
            (256, 279, 7, 0),
            (280, 287, 8, 0xC0),
        ):
            if first <= symbol <= last:
                put(int(f"{start + symbol - first:0{bits}b}"[::-1], 2), bits)

    put(0b011, 3)
    for literals, distance, match in matches(data, 4, 1 << 15, 257):
        for byte in literals:
            code(byte)
        if match:
            symbol, extra, rest = _bucket(match - 3, 4)
            code(257 + symbol)
            put(rest, extra)
            symbol, extra, rest = _bucket(distance - 1, 2)
            put(int(f"{symbol:05b}"[::-1], 2), 5)
            put(rest, extra)
    code(256)
    return b"\x78\x01" + whole.to_bytes(-(-at // 8), "little") + struct.pack(">I", zlib.adler32(data))


def _bucket(value, per_octave):
    """Symbol, extra bits and their value: deflate halves its precision after every `per_octave` symbols."""
    if value < 2 * per_octave:
        return value, 0, 0
    extra = value.bit_length() - per_octave.bit_length()
    return per_octave * extra + (value >> extra), extra, value & (1 << extra) - 1


def lz4(data):
    return struct.pack("<I", len(data)) + lz4_block(data)


def zstd(data, content_size=False, pieces=1, magic=b"\x28\xb5\x2f\xfd"):
    """A frame of blocks that are not compressed, with or without content size; or several frames in a row."""
    out, step = b"", -(-len(data) // pieces) or 1
    for start in range(0, len(data) or 1, step):
        piece = data[start : start + step]
        # Single segment with 4 bytes of size, or a window of 2 MiB.
        out += magic + (b"\xa0" + struct.pack("<I", len(piece)) if content_size else b"\x00\x58")
        blocks = [piece[at : at + (1 << 16)] for at in range(0, len(piece) or 1, 1 << 16)]
        for number, block in enumerate(blocks):
            out += (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") + block
    return out


BLOSC2_CODES = {"blosclz": (0, 0), "lz4": (1, 1), "lz4hc": (2, 1), "zlib": (4, 3), "zstd": (5, 4)}


def blosc2(data, typesize, codec="zlib", filters=(0, 0, 0, 0, 0, 1), chunk=None, block=None, split=False, special=None):
    """A contiguous Blosc2 frame (PIPELINE 5.5). `special`: "zeros", "repeat" or "raw" chunks."""
    compcode, form = BLOSC2_CODES[codec]
    chunksize = chunk or len(data)
    blocksize = block or chunksize
    chunks = [
        _chunk(
            data[at : at + chunksize], typesize, compcode, form, filters, min(blocksize, len(data) - at), split, special
        )
        for at in range(0, len(data), chunksize)
    ]
    stored = b"".join(chunks)
    offsets, at = b"", 0
    for item in chunks:
        offsets += struct.pack("<Q", at)
        at += len(item)
    index_chunk = _chunk(offsets, 8, compcode, form, (0, 0, 0, 0, 0, 1), len(offsets), False, "raw")
    length = 97 + len(stored) + len(index_chunk) + 35
    header = bytes.fromhex("9ea8") + b"b2frame\0" + struct.pack(">Bi", 0xD2, 97) + struct.pack(">BQ", 0xCF, length)
    header += bytes([0xA4, 0x12, 0, compcode | 5 << 4, 3])
    header += struct.pack(">BqBq", 0xD3, len(data), 0xD3, len(stored))
    header += struct.pack(">BiBiBi", 0xD2, typesize, 0xD2, blocksize, 0xD2, chunksize)
    header += bytes.fromhex("d10000d10001c2d806") + bytes(filters) + bytes([compcode, 0]) + bytes(8)
    header += bytes.fromhex("93cd0007de0000dc0000")
    trailer = bytes.fromhex("940193cd0006de0000dc0000ce00000023d800") + bytes(16)
    assert len(header) == 97 and len(trailer) == 35
    return header + stored + index_chunk + trailer


def _chunk(data, typesize, compcode, form, filters, blocksize, split, special):
    flags, blosc2_flags, body = 0b101 | form << 5, 0, b""
    if special == "raw":
        flags, body = flags | 2, data
    elif special == "zeros":
        blosc2_flags = 1 << 4
    elif special == "repeat":
        blosc2_flags, body = 3 << 4, data[:typesize]
    else:
        flags |= 0 if split else 16
        streams = []
        for at in range(0, len(data), blocksize):
            block = _filtered(data[at : at + blocksize], typesize, filters)
            parts = typesize if split and len(block) == blocksize else 1
            size = len(block) // parts
            streams.append(b"".join(_stream(block[part * size : (part + 1) * size], compcode) for part in range(parts)))
        at = 32 + 4 * len(streams)
        for stream in streams:
            body += struct.pack("<i", at)
            at += len(stream)
        body += b"".join(streams)
    head = bytes([5, 1, flags, typesize]) + struct.pack("<iii", len(data), blocksize, 32 + len(body))
    return head + bytes(filters) + bytes([compcode, 0]) + bytes(6) + bytes([0, blosc2_flags]) + body


def _filtered(block, typesize, filters):
    for kind in filters:
        whole = len(block) - len(block) % typesize
        if kind == 1:
            block = shuffle(block[:whole], typesize) + block[whole:]
        elif kind == 2:
            block = _bit_shuffle(block, typesize)
    return block


def _bit_shuffle(block, typesize):
    count = len(block) // typesize // 8 * 8
    out = bytearray()
    for byte in range(typesize):
        for bit in range(8):
            row = bytearray(count // 8)
            for element in range(count):
                row[element // 8] |= (block[element * typesize + byte] >> bit & 1) << element % 8
            out += row
    return bytes(out) + block[count * typesize :]


def _stream(data, compcode):
    if not any(data):
        return struct.pack("<i", 0)
    if data == data[:1] * len(data):
        return struct.pack("<iB", -data[0], 1)
    packed = {1: lz4_block, 2: lz4_block, 4: zlib_stream, 5: zstd}[compcode](data)
    packed = packed if len(packed) < len(data) else data
    return struct.pack("<i", len(packed)) + packed


def mask(method, bits):
    """The blob of a mask (PIPELINE 6.3)."""
    raw = pack_bits(bits)
    if method in ("rle", "roaring"):
        return {"rle": rle, "roaring": roaring}[method](bits)
    if method == "blosc2":
        return blosc2(raw, 1, "lz4", (2, 0, 0, 0, 0, 0))
    return {"none": bytes, "lz4": lz4, "zstd": zstd}[method](raw)
