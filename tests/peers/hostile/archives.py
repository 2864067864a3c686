"""Archives of numpy, safetensors, CSV and GRIB whose lengths lie, and bombs."""
import bz2
import gzip
import io
import json
import lzma
import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

GRIB = Path(__file__).resolve().parents[2] / "data-grib"
KINDS = ("npz", "npy", "safetensors", "csv", "grib")


def npy(values, **more):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def header(text, version=1, length=None):
    text = text.encode() if isinstance(text, str) else text
    length = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + (struct.pack("<H", length) if version == 1 else struct.pack("<I", length)) + text


def zipped(entries, method=zipfile.ZIP_DEFLATED, change=None):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    whole = bytearray(file.getvalue())
    if change:
        whole = change(whole) or whole
    return bytes(whole)


def overlapping(count):
    """Entries of a directory that all lead to one deflated array."""
    data = zipped([("a.npy", npy(np.zeros(1 << 20)))])
    at = data.index(b"PK\x01\x02")
    entry, end = data[at:data.index(b"PK\x05\x06")], data[data.index(b"PK\x05\x06"):]
    directory = b"".join(entry[:46] + b"%05d" % place for place in range(count))
    fixed = [entry[:28] + struct.pack("<H", 5) + entry[30:46] + b"%05d" % place for place in range(count)]
    directory = b"".join(fixed)
    end = end[:8] + struct.pack("<HHII", count, count, len(directory), at) + end[20:]
    return data[:at] + directory + end


def nested_overlaps(count):
    """Entries that lie within each other: each local header is part of the values of the one before."""
    kernel = npy(np.zeros(10))
    parts, places = [], []
    tail = kernel
    body = b""
    for place in reversed(range(count)):
        name = b"%03d.npy" % place
        data = body or kernel
        local = b"PK\x03\x04" + struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, zlib.crc32(data), len(data), len(data), len(name), 0) + name
        places.append((name, len(data), zlib.crc32(data), len(local) + len(data)))
        body = local + data
    total = len(body)
    directory = b""
    for name, size, crc, length in places:
        directory += b"PK\x01\x02" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 0, crc, size, size, len(name), 0, 0,
                                                 0, 0, 0, total - length) + name
    return body + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), total, 0)


def at(what, back, bytes_):
    def change(whole):
        place = whole.index(what) + back
        whole[place:place + len(bytes_)] = bytes_

    return change


def npzs():
    good = [("a.npy", npy(np.arange(4.0))), ("b.npy", npy(np.arange(4)))]
    yield "overlaps", overlapping(2000)
    yield "nested overlaps", nested_overlaps(200)
    yield "bomb", zipped([("a.npy", npy(np.zeros(1 << 27, "u1")))])
    yield "many bombs", zipped([(f"a{place}.npy", npy(np.zeros(1 << 24, "u1"))) for place in range(8)])
    yield "no bomb, but a header alone", zipped([("a.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }\n"))])
    for shape in ("(18446744073709551616,)", "(-1,)", "(4294967296, 4294967296)", "(1.5,)", "()" * 2, "(" * 50000, "(0, 18446744073709551615)"):
        yield f"shape {shape[:9]}", zipped([("a.npy", header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n"))])
    for word, back in (("compressed size", 20), ("size", 24), ("name length", 28), ("extra length", 30), ("comment length", 32), ("offset", 42), ("method", 10), ("flags", 8)):
        for bytes_ in (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"):
            yield f"directory {word} {bytes_.hex()}", zipped(good, change=at(b"PK\x01\x02", back, bytes_[:2] if back in (28, 30, 32, 10, 8) else bytes_))
    for word, back in (("compressed size", 18), ("name length", 26), ("extra length", 28), ("method", 8)):
        yield f"local {word}", zipped(good, change=at(b"PK\x03\x04", back, b"\xff\xff"))
    for word, back in (("entries", 8), ("size", 12), ("offset", 16), ("comment", 20)):
        yield f"end {word}", zipped(good, change=at(b"PK\x05\x06", back, b"\xff\xff\xff\xff" if back in (12, 16) else b"\xff\xff"))
    yield "names", zipped([(name, npy(np.arange(3.0))) for name in ("../../x.npy", "/abs.npy", "a\\b.npy", "\x1b[31m.npy", ".npy", "a\0b.npy", "-O.npy", "x" * 60000 + ".npy", "a/../../b.npy", "dir/.npy")])
    yield "many", zipped([(f"a{place}.npy", b"") for place in range(60000)], zipfile.ZIP_STORED)
    yield "no arrays", zipped([(f"a{place}.txt", b"x") for place in range(3)])
    yield "a zip in a zip", zipped([("a.npz", zipped(good))])
    yield "bzip2", zipped([("a.npy", npy(np.zeros(1 << 27, "u1")))], zipfile.ZIP_BZIP2)
    yield "lzma", zipped([("a.npy", npy(np.zeros(1 << 27, "u1")))], zipfile.ZIP_LZMA)
    yield "end alone", b"PK\x05\x06" + bytes(18)
    yield "magic alone", b"PK\x03\x04"
    yield "object", zipped([("a.npy", npy(np.array([{}], object)))])


def npys():
    yield "length", header("{'descr': '<f8'", 1, 0xffff)
    yield "length of version 2", header("{", 2, 0xffffffff)
    yield "version", header("{}", 9)
    text = "{{'descr': {}, 'fortran_order': False, 'shape': (3,), }}\n"
    for descr in ("'<f16'", "'|O'", "'<f999999999999'", "'|V0'", "'|S18446744073709551615'", "'<U4611686018427387904'",
                  "[" * 60000, "[('a', '<f8')]", "''", "'<M8[xx]'", "'<M8[99999999999s]'", "'|V2147483648'", "'\x1b[31m'"):
        yield f"descr {descr[:12]}", header(text.format(descr)) if len(descr) < 60000 else header(text.format(descr), 2)
    yield "shape", header("{'descr': '<f8', 'fortran_order': True, 'shape': (65536, 65536, 65536, 65536), }\n")
    yield "rank", header("{'descr': '<f8', 'fortran_order': True, 'shape': (" + "1, " * 200000 + "), }\n", 2) + bytes(8)
    yield "fortran of high rank", header("{'descr': '<f8', 'fortran_order': True, 'shape': (" + "1, " * 20000 + "2), }\n", 2) + bytes(16)
    yield "empty of high rank", header("{'descr': '<f8', 'fortran_order': True, 'shape': (0, " + "1, " * 20000 + "2), }\n", 2)
    yield "zeros and length", header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }\n")


def tensors():
    def file(table, values=b"", length=None):
        text = table if isinstance(table, bytes) else json.dumps(table).encode()
        return struct.pack("<Q", len(text) if length is None else length) + text + values

    def one(**more):
        return {"v": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]} | more}

    for length in (0, 1, 1 << 20, 1 << 31, 1 << 63, (1 << 64) - 1, (1 << 64) - 8):
        yield f"length {length}", file(one(), bytes(16), length)
    for offsets in ([0, 8], [8, 0], [0, 1 << 63], [-1, 15], [0, 1 << 64], [1 << 62, (1 << 62) + 16], [16, 32], [0], [0, 16, 32], [0.5, 16]):
        yield f"offsets {offsets}", file(one(data_offsets=offsets), bytes(16))
    for shape in ([1 << 63, 2], [-2], [1 << 64], [0, 1 << 63, 1 << 63], [1] * 100000 + [2], [1 << 32, 1 << 32], ["2"], [[2]]):
        yield f"shape {str(shape)[:12]}", file(one(shape=shape), bytes(16))
    for kind in ("F64 ", "", "X" * 100000, "F4", "\x1b[31m", 7, None, "C128"):
        yield f"type {str(kind)[:9]!r}", file(one(dtype=kind), bytes(16))
    yield "deep", file(b'{"a":' * 100000)
    yield "lists", file(b"[" * 1000000)
    yield "overlaps", file({f"v{place}": one()["v"] for place in range(1000)}, bytes(16))
    yield "overlaps of much", file({f"v{place}": {"dtype": "U8", "shape": [1 << 22], "data_offsets": [0, 1 << 22]} for place in range(1000)}, bytes(1 << 22))
    yield "many without values", file({f"v{place}": {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]} for place in range(50000)})
    yield "metadata", file(one() | {"__metadata__": {"a": 7}}, bytes(16))
    yield "much metadata", file(one() | {"__metadata__": {f"k{place}": "x" * 100 for place in range(100000)}}, bytes(16))
    yield "names", file({name: {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]} for name in ("", "../x", "\x1b[31m", "x" * 1000000, "a.b", "\0")})
    yield "names that differ from JSON", file(b'{"v":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"v":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}', bytes(16))
    yield "cut", file(one())
    yield "empty", b""
    yield "not UTF-8", file(b'{"\xff":{}}')


def tables():
    yield "quote", b'a,b\n1,"2\n' + b"3,4\n" * 100000
    yield "quotes", b"a,b\n" + b'"' * 1000000
    yield "columns", b"," * 3000000
    yield "rows of nothing", b"a\n" + b"\n" * 3000000
    yield "ragged", b"a,b\n" + b"1,2\n" * 1000 + b"1,2,3\n"
    yield "nul", b"a,b\n1,\0\n"
    yield "controls", b"a\x1b[31m,b\n1,\x1b]0;x\x07\n"
    yield "digits", b"a\n" + b"9" * 2000000 + b"\n"
    yield "exponent", b"a\n1e999999999999999\n-1e-99999999999999999\n"
    yield "zeros", b"a\n0." + b"0" * 2000000 + b"1\n"
    yield "name", b"x" * 5000000 + b"\n1\n"
    yield "utf-16", "a,b\n1,2\n".encode("utf-16")
    yield "not UTF-8", b"a,b\n\xff,\xfe\n"
    yield "one column of text", b"a\n" + b"x\n" * 300000
    yield "texts", b",".join(b"c%d" % place for place in range(20000)) + b"\n" + b",".join(b"x" for place in range(20000)) + b"\n"


def gribs():
    def sections(whole):
        at, found = 16, {}
        while whole[at:at + 4] != b"7777":
            length = int.from_bytes(whole[at:at + 4], "big")
            found.setdefault(whole[at + 4], (at, length))
            at += length
        return found

    for path in sorted(GRIB.glob("*.grib2")):
        file = path.read_bytes()
        whole = file[: int.from_bytes(file[8:16], "big")]
        if len(whole) > 1 << 17 or whole[7] != 2 or whole[-4:] != b"7777":
            continue
        places = sections(whole)
        for number, (at, length) in places.items():
            for word, value in (("none", 0), ("four", 4), ("less", length - 1), ("more", length + 1), ("half", 1 << 31), ("all", (1 << 32) - 1)):
                bad = bytearray(whole)
                bad[at:at + 4] = value.to_bytes(4, "big")
                yield f"{path.stem} section {number} {word}", bytes(bad)
        for word, section, place, bytes_ in (
                ("points of the grid", 3, 6, b"\xff\xff\xff\xff"), ("Ni", 3, 30, b"\xff\xff\xff\xfe"), ("Nj", 3, 34, b"\xff\xff\xff\xfe"),
                ("both", 3, 30, b"\x7f\xff\xff\xff\x7f\xff\xff\xff"), ("points of values", 5, 5, b"\xff\xff\xff\xff"), ("bits", 5, 19, b"\xff"), ("no bits", 5, 19, b"\0"),
                ("groups", 5, 31, b"\xff\xff\xff\xff"), ("group widths", 5, 35, b"\xff\xff"), ("group lengths", 5, 37, b"\xff" * 10),
                ("scale", 5, 15, b"\x7f\xff\x7f\xff"), ("reference", 5, 11, b"\x7f\xc0\0\0"), ("template 5", 5, 9, b"\0\x29"), ("template 4", 4, 7, b"\xff\xff"),
                ("template 3", 3, 12, b"\xff\xff"), ("ranges", 4, 5, b"\xff\xff"), ("list of points", 3, 10, b"\4\1"), ("bitmap", 6, 5, b"\0"), ("bitmap before", 6, 5, b"\xfe")):
            if section in places and places[section][1] > place:
                at = places[section][0]
                bad = bytearray(whole)
                bad[at + place:at + place + len(bytes_)] = bytes_
                yield f"{path.stem} {word}", bytes(bad)
    good = (GRIB / "keys.grib2").read_bytes()
    whole = good[: int.from_bytes(good[8:16], "big")]
    for value in (0, 16, len(whole) - 1, len(whole) + 1, 1 << 40, (1 << 64) - 1):
        yield f"total length {value}", whole[:8] + value.to_bytes(8, "big") + whole[16:]
    yield "begins again and again", b"GRIB\0\0\0\2\0\0\0\0\0\0\xff\xff" * 200000
    yield "begins again", b"GRIB" * 1000000
    yield "lengths that overlap", b"".join(b"GRIB\0\0\0\2" + (1 << 20).to_bytes(8, "big") for _ in range(1 << 16)) + b"7777"
    places = sections(whole)
    at, length = places[7]
    repeated = whole[16:at + length] + whole[places[3][0]:at + length] * 20000
    yield "many fields of one message", whole[:8] + (16 + len(repeated) + 4).to_bytes(8, "big") + repeated + b"7777"
    # A field of one number, which takes no bytes: 4 billion points of it.
    bad = bytearray(whole[:at] + b"\0\0\0\5\7" + b"7777")
    for start, count in ((places[3][0] + 6, 4), (places[5][0] + 5, 4)):
        bad[start:start + count] = b"\x7f\xff\xff\xff"
    bad[places[3][0] + 30:places[3][0] + 38] = struct.pack(">II", 0x7fffffff, 1)
    bad[places[5][0] + 19] = 0
    bad[8:16] = len(bad).to_bytes(8, "big")
    yield "constant of two billion points", bytes(bad)
    # Many of them, each within the limits.
    for start, count in ((places[3][0] + 6, 4), (places[5][0] + 5, 4)):
        bad[start:start + count] = (1 << 24).to_bytes(4, "big")
    bad[places[3][0] + 30:places[3][0] + 38] = struct.pack(">II", 1 << 24, 1)
    yield "many constants", bytes(bad) * 200


def wrapped():
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        yield f"bomb{suffix}", suffix, pack(b"a,b\n" + b"\n" * (1 << 28))
    yield "bomb.gz twice", ".gz.gz", gzip.compress(gzip.compress(bytes(1 << 28)))


def cases():
    def case(kind, suffix, name, bytes_, more=()):
        def made(folder):
            path = folder / f"in{suffix}"
            path.write_bytes(bytes_)
            return [path], list(more)

        return f"{kind} {name}", made

    for kind, suffix, made in (("npz", ".npz", npzs), ("npy", ".npy", npys), ("safetensors", ".safetensors", tensors),
                               ("csv", ".csv", tables), ("grib", ".grib2", gribs)):
        for name, bytes_ in made():
            yield case(kind, suffix, name, bytes_)

        def holes(folder, suffix=suffix, kind=suffix[1:]):
            path = folder / f"in{suffix}"
            with path.open("wb") as file:
                file.truncate(1 << 30)
            return [path], ["--from", kind]

        yield f"{kind} of holes", holes

        def pipe(folder, suffix=suffix):
            os.mkfifo(folder / f"in{suffix}")
            # A writer that says nothing and goes.
            if os.fork() == 0:
                os.close(os.open(folder / f"in{suffix}", os.O_WRONLY))
                os._exit(0)
            return [folder / f"in{suffix}"]

        yield f"{kind} of a pipe", pipe
    for name, suffix, bytes_ in wrapped():
        yield case("csv", f".csv{suffix}", name, bytes_)
