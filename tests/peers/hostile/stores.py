"""Stores of Zarr that lead out of themselves, or state more than they hold."""
import gzip
import json
import os
import struct
import zlib

import numpy as np

SECRET = b"SECRETSS"
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
KINDS = ("zarr",)


def described(shape=(4,), chunks=(4,), kind="float64", codecs=(LITTLE,), **more):
    return {"zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": kind,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": list(codecs)} | more


def array(folder, name="v", chunk=None, text=None, **more):
    place = folder / name
    (place / "c").mkdir(parents=True)
    (place / "zarr.json").write_text(json.dumps(described(**more)) if text is None else text)
    if chunk is not None:
        (place / "c" / "0").write_bytes(chunk)
    return place


def old(folder, name="v", chunk=None, **more):
    place = folder / name
    place.mkdir(parents=True)
    about = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f8", "order": "C", "fill_value": 0,
             "filters": None, "compressor": None} | more
    (place / ".zarray").write_text(json.dumps(about))
    if chunk is not None:
        (place / "0").write_bytes(chunk)
    return place


def linked_chunk(folder):
    (array(folder) / "c" / "0").symlink_to(folder.parent.parent / "secret.bin")
    (old(folder, "w") / "0").symlink_to("../../../secret.bin")


def linked_folder(folder):
    outside = folder.parent.parent / "outside"
    array(outside, chunk=SECRET * 4)
    (folder / "link").symlink_to(outside / "v")
    place = array(folder)
    (place / "c").rmdir()
    (place / "c").symlink_to(outside / "v" / "c")


def linked_description(folder):
    outside = folder.parent.parent / "outside"
    array(outside, chunk=SECRET * 4, attributes={"a": SECRET.decode()})
    (folder / "v").mkdir()
    (folder / "v" / "zarr.json").symlink_to(outside / "v" / "zarr.json")
    (folder / "w").mkdir()
    (folder / "w" / ".zarray").symlink_to(outside / "v" / "zarr.json")


def linked_to_itself(folder):
    (folder / "loop").symlink_to(folder)
    (folder / "self").symlink_to("self")
    (array(folder) / "c" / "0").symlink_to("0")


def device(folder):
    (array(folder) / "c" / "0").symlink_to("/dev/zero")
    (folder / "w").mkdir()
    (folder / "w" / "zarr.json").symlink_to("/dev/zero")


def pipes(folder):
    os.mkfifo(array(folder) / "c" / "0")
    (folder / "w").mkdir()
    os.mkfifo(folder / "w" / "zarr.json")
    (folder / "x").mkdir()
    os.mkfifo(folder / "x" / ".zarray")
    os.mkfifo(old(folder, "y") / ".zattrs")
    os.mkfifo(folder / ".zattrs")
    os.mkfifo(folder / "pipe")


def pipe_as_root(folder):
    os.mkfifo(folder / "zarr.json")


def holes(name):
    def make(folder):
        (folder / "zarr.json").unlink()
        with (folder / name).open("wb") as file:
            file.truncate(1 << 30)

    return make


def holes_as_chunk(folder):
    with (array(folder) / "c" / "0").open("wb") as file:
        file.truncate(1 << 40)
    with (array(folder, "w", codecs=[LITTLE, GZIP]) / "c" / "0").open("wb") as file:
        file.truncate(1 << 40)
    with (old(folder, "x", compressor={"id": "zlib", "level": 1}) / "0").open("wb") as file:
        file.truncate(1 << 40)


def shapes(folder):
    for place, (shape, chunks) in enumerate([
            ((1 << 62,), (1 << 62,)), ((1 << 40,), (1 << 40,)), ((1 << 36,), (1,)), ((-1,), (4,)), ((4,), (0,)),
            ((4,), (-4,)), ((1 << 64,), (4,)), ((4,), (1 << 64,)), ((1.5,), (4,)), ((4, 4), (4,)), (("4",), (4,)),
            ((0,), (0,)), ((1 << 32, 1 << 32), (1 << 16, 1 << 16)), ((1,) * 3000, (1,) * 3000), ((2,) * 64, (1,) * 64),
            ((1 << 33,), (1 << 33,)), ((4,), (1 << 50,)), ((1 << 20, 1 << 20), (1, 1))]):
        array(folder, f"v{place}", shape=shape, chunks=chunks, chunk=bytes(32))
        try:
            old(folder, f"w{place}", shape=list(shape), chunks=list(chunks), chunk=bytes(32))
        except OSError:
            pass


def many_huge(folder):
    """Each of them within limits, and all together not."""
    for place in range(400):
        array(folder, f"v{place}", shape=(1 << 24,), chunks=(1 << 24,), fill_value=place)


def bombs(folder):
    packed = gzip.compress(bytes(1 << 28))
    array(folder, "gzip", codecs=[LITTLE, GZIP], chunk=packed)
    array(folder, "two", codecs=[LITTLE, GZIP, GZIP], chunk=gzip.compress(packed))
    array(folder, "ten", codecs=[LITTLE] + [GZIP] * 10, chunk=gzip.compress(packed))
    old(folder, "zlib", compressor={"id": "zlib", "level": 1}, chunk=zlib.compress(bytes(1 << 28)))
    old(folder, "filters", filters=[{"id": "zlib", "level": 1}] * 4, compressor={"id": "zlib", "level": 1},
        chunk=zlib.compress(zlib.compress(bytes(1 << 28))))
    old(folder, "bz2", compressor={"id": "bz2", "level": 1}, chunk=__import__("bz2").compress(bytes(1 << 28)))
    old(folder, "lzma", compressor={"id": "lzma"}, chunk=__import__("lzma").compress(bytes(1 << 28)))


def lying_lengths(folder):
    blosc = bytes([2, 1, 0x21, 8])
    for place, lengths in enumerate([(32, 16, 20), (0x7fffffff, 16, 20), (32, 0, 20), (32, 16, 0xffffffff), (32, 32, 48),
                                     (0xffffffff, 0xffffffff, 20), (0, 0, 0), (32, 0x7fffffff, 20)]):
        buffer = blosc + struct.pack("<III", *lengths) + bytes(4)
        array(folder, f"blosc{place}", codecs=[LITTLE, {"name": "blosc", "configuration": {
            "typesize": 8, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}}], chunk=buffer)
        old(folder, f"old{place}", compressor={"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 0},
            chunk=buffer)
    for place, head in enumerate([b"\xe0" + b"\xff" * 8, b"\xe0" + struct.pack("<Q", 1 << 40), b"\x20\xff", b"\x00\xff",
                                  b"\xa0\xff\xff\xff\xff"]):
        array(folder, f"zstd{place}", codecs=[LITTLE, ZSTD], chunk=b"\x28\xb5\x2f\xfd" + head + bytes(40))
    for place, length in enumerate([0, 1, 31, 33, 0x7fffffff, 0xffffffff]):
        old(folder, f"lz4{place}", compressor={"id": "lz4", "acceleration": 1}, chunk=struct.pack("<I", length) + bytes(40))
    texts = "variable_length_utf8"
    for place, chunk in enumerate([struct.pack("<I", 0xffffffff), struct.pack("<II", 4, 0xffffffff),
                                   struct.pack("<II", 4, 1 << 30) + b"x" * 100, struct.pack("<I", 1 << 28),
                                   struct.pack("<IIIII", 4, 0, 0, 0, 0) + b"more"]):
        array(folder, f"text{place}", kind="string", codecs=[{"name": "vlen-utf8"}], fill_value="", chunk=chunk)
        old(folder, f"oldtext{place}", dtype="|O", filters=[{"id": "vlen-utf8"}], fill_value="", chunk=chunk)
    for place, length in enumerate([0, 3, 1 << 31, 1 << 40, -4]):
        kind = {"name": "fixed_length_utf32", "configuration": {"length_bytes": length}}
        array(folder, f"utf32{place}", kind=kind, fill_value="", chunk=bytes(64))
        array(folder, f"ascii{place}", kind=kind | {"name": "null_terminated_bytes"}, fill_value="", chunk=bytes(64))
        old(folder, f"U{place}", dtype=f"<U{length}", fill_value="", chunk=bytes(64))
    for place, spec in enumerate([{"id": "fixedscaleoffset", "scale": 0, "offset": 1, "dtype": "<f8", "astype": "u1"},
                                  {"id": "packbits"}, {"id": "delta", "dtype": "<f8", "astype": "i1"},
                                  {"id": "shuffle", "elementsize": 0}, {"id": "shuffle", "elementsize": 1 << 40},
                                  {"id": "quantize", "digits": 1 << 40, "dtype": "<f8"},
                                  {"id": "bitround", "keepbits": -1}, {"id": "categorize", "labels": ["a"] * 1000,
                                   "dtype": "<U1", "astype": "u1"}, {"id": "pickle"}, {"id": "json2"},
                                  {"id": "../../x"}, {}, 7, {"id": "astype", "encode_dtype": "<f8", "decode_dtype": "|O"}]):
        old(folder, f"filter{place}", filters=[spec], chunk=bytes(32))


def shards(folder):
    index = [LITTLE, {"name": "crc32c"}]

    def crc32c(data):
        crc = 0xffffffff
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
        return struct.pack("<I", crc ^ 0xffffffff)

    def sharded(inner, codecs=(LITTLE,), where="end"):
        return {"name": "sharding_indexed", "configuration": {
            "chunk_shape": inner, "codecs": list(codecs), "index_codecs": index, "index_location": where}}

    for place, pairs in enumerate([[(0, 32)] * 4, [(1 << 63, 32)] * 4, [(0, 1 << 63)] * 4, [(8, 1 << 62)] * 4,
                                   [(0, 0)] * 4, [((1 << 64) - 2, 2)] * 4, [(0, 8)] * 4]):
        table = b"".join(struct.pack("<QQ", *pair) for pair in pairs)
        for where in ("end", "start"):
            whole = bytes(32) + table + crc32c(table) if where == "end" else table + crc32c(table) + bytes(32)
            array(folder, f"v{place}{where}", shape=(16,), chunks=(16,), codecs=[sharded([4], where=where)], chunk=whole)
    # All parts are one bomb.
    bomb = gzip.compress(bytes(1 << 22))
    table = struct.pack("<QQ", 0, len(bomb)) * 4096
    array(folder, "bomb", shape=(1 << 31,), chunks=(1 << 31,), kind="uint8", codecs=[sharded([1 << 19], [LITTLE, GZIP])],
          chunk=bomb + table + crc32c(table))
    array(folder, "wide", shape=(1 << 40,), chunks=(1 << 40,), codecs=[sharded([1])], chunk=bytes(32))
    array(folder, "short", shape=(16,), chunks=(16,), codecs=[sharded([4])], chunk=b"")
    array(folder, "odd", shape=(16,), chunks=(16,), codecs=[sharded([5])], chunk=bytes(100))
    array(folder, "zero", shape=(16,), chunks=(16,), codecs=[sharded([0])], chunk=bytes(100))
    nested = LITTLE
    for _ in range(200):
        nested = sharded([4], [nested])
    array(folder, "nested", shape=(16,), chunks=(16,), codecs=[nested], chunk=bytes(100))


def deep_groups(folder):
    place = folder
    for _ in range(600):
        place = place / "g"
        place.mkdir()
        (place / "zarr.json").write_text('{"zarr_format":3,"node_type":"group"}')


def deep_chunks(folder):
    place = array(folder) / "c"
    for _ in range(600):
        place = place / "0"
        place.mkdir()


def many_files(folder):
    place = array(folder)
    for number in range(20000):
        (place / "c" / f"x{number}").touch()


def many_attributes(folder):
    """Attributes of a group over many arrays."""
    (folder / "zarr.json").write_text(json.dumps(
        {"zarr_format": 3, "node_type": "group", "attributes": {f"a{place}": "x" * 1000 for place in range(2000)}}))
    for place in range(1500):
        array(folder, f"v{place}", chunk=bytes(32))


def descriptions(folder):
    for place, text in enumerate([
            "", "[]", "null", "{", "[" * 200000, '{"a":' * 100000, '{"zarr_format":3}', "\0" * 100, "\xff",
            '{"zarr_format":3,"node_type":"array"}', '{"zarr_format":4,"node_type":"group"}', "1e999", "-" * 100000,
            '{"node_type":"array",' * 1000, '"' + "x" * 1000000, json.dumps(described(codecs=[])),
            json.dumps(described(codecs=[LITTLE] * 5000)), json.dumps(described(codecs=[LITTLE] + [GZIP] * 20000)),
            json.dumps(described(kind="float128")), json.dumps(described(kind={"name": "structured", "configuration": {}})),
            json.dumps(described(fill_value="x" * 100000)), json.dumps(described(fill_value=None)),
            json.dumps(described(fill_value=[1] * 1000)), json.dumps(described(fill_value="0xzz")),
            json.dumps(described(dimension_names=["a"] * 100000)), json.dumps(described(dimension_names=["../../x"])),
            json.dumps(described(dimension_names=["\x1b[31m"])), json.dumps(described(dimension_names=7)),
            json.dumps(described(storage_transformers=[{"name": "x"}])), json.dumps(described(unknown=7)),
            json.dumps(described(chunk_key_encoding={"name": "default", "configuration": {"separator": "/../../"}})),
            json.dumps(described(codecs=[{"name": "transpose", "configuration": {"order": [9]}}, LITTLE])),
            json.dumps(described(codecs=[{"name": "transpose", "configuration": {"order": [1 << 40, -1]}}, LITTLE])),
            json.dumps(described(attributes={"_FillValue": "AAAA", "scale_factor": 1e400, "add_offset": "x",
                                             "missing_value": [[1]], "_Unsigned": 7, "valid_range": [1]})),
            json.dumps(described(attributes={"\x1b[31m": "\x1b]0;x\x07", "a" * 100000: 1, "": 2})),
            '{"zarr_format":3,"node_type":"array","node_type":"group"}',
            json.dumps(described())[:-1] + ',"shape":[1099511627776]}']):
        array(folder, f"v{place}", text=text, chunk=np.arange(4.0).tobytes())


def names(folder):
    for name in ("\x1b[31mred", "-O", "a\nb", " ", "..x", "ü", "a" * 255, "zarr", "c", "\u202e"):
        array(folder, name, chunk=bytes(32))
    os.mkdir(os.path.join(os.fsencode(folder), b"\xff\xfe"))


def consolidated(folder):
    path = "../../outside/v"
    array(folder.parent.parent / "outside", chunk=SECRET * 4)
    (folder / "zarr.json").write_text(json.dumps(
        {"zarr_format": 3, "node_type": "group", "consolidated_metadata": {
            "kind": "inline", "must_understand": False, "metadata": {path: described(), "/etc": described()}}}))
    array(folder, chunk=bytes(32))


def consolidated_old(folder):
    (folder / "zarr.json").unlink()
    (folder / ".zgroup").write_text('{"zarr_format":2}')
    (folder / ".zmetadata").write_text(json.dumps({"metadata": {
        "../../secret/.zarray": {"zarr_format": 2}, ".zattrs": {"a": 1}}}))
    old(folder, chunk=bytes(32))


MAKERS = [linked_chunk, linked_folder, linked_description, linked_to_itself, device, pipes, pipe_as_root, holes_as_chunk,
          shapes, many_huge, bombs, lying_lengths, shards, deep_groups, deep_chunks, many_files, many_attributes,
          descriptions, names, consolidated, consolidated_old]


def cases():
    def case(make, name=None):
        def made(folder):
            place = folder / "in.zarr"
            place.mkdir()
            if make is not pipe_as_root:
                (place / "zarr.json").write_text('{"zarr_format":3,"node_type":"group"}')
            make(place)
            return [place]

        return f"zarr {name or make.__name__}", made

    for make in MAKERS:
        yield case(make)
    for name in ("zarr.json", ".zarray", ".zgroup", ".zmetadata"):
        yield case(holes(name), f"holes as {name}")
