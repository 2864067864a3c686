#!/usr/bin/env python3
"""Compares `tgm convert` with numpy and safetensors, both ways: types, shapes, values bit by bit, names and texts.

Usage: compare.py TGM [CASES [SEED]]
"""
import io
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

TGM = sys.argv[1]
NUMPY = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
# The types of safetensors by the names that its Python functions take, and their bytes.
TENSORS = {
    "bool": 1, "uint8": 1, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2, "uint32": 4, "int32": 4, "float32": 4, "uint64": 8, "int64": 8, "float64": 8, "complex64": 8,
}


def tgm(*arguments, code=0):
    run = subprocess.run([TGM, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == code, (arguments, run.returncode, run.stderr)
    return run.stderr


def usual(array):
    """The array with the NaN that masks restore."""
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    elif array.dtype.kind == "c":
        array[~np.isfinite(array)] = complex(np.nan, np.nan)
    return array


def random_array(rng):
    kind = rng.choice(NUMPY)
    dtype = np.dtype(kind).newbyteorder(rng.choice("<>"))
    shape = tuple(rng.choice([0, 1, 2, 3, 7]) for _ in range(rng.randrange(4)))
    count = int(np.prod(shape))
    if kind == "?":
        array = np.array([rng.random() < 0.5 for _ in range(count)], dtype=dtype)
    else:
        array = usual(np.frombuffer(rng.randbytes(count * dtype.itemsize), dtype=dtype).copy())
    return np.asarray(array.reshape(shape), order=rng.choice("CF"))


def equal(a, b):
    """Same type, shape and bits; the byte order may differ in memory, and does not count for bytes."""
    a, b = np.asarray(a), np.asarray(b)
    little = lambda array: np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    return a.dtype.newbyteorder("<") == b.dtype.newbyteorder("<") and a.shape == b.shape and little(a) == little(b)


def name(rng, index):
    return f"{rng.choice(['w', 'layer.0/weight', 'größe', 'a b', 'x' * 200])}_{index}"


def npy_cases(folder, rng, cases):
    for _ in range(cases):
        array, version = random_array(rng), rng.choice([(1, 0), (2, 0), (3, 0)])
        with open(folder / "a.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        tgm("convert", folder / "a.npy", "-o", folder / "a.tgm", "--strict")
        tgm("convert", folder / "a.tgm", "-o", folder / "b.npy", "--strict")
        back = np.load(folder / "b.npy")
        assert equal(array, back), (array, back)
        assert back.dtype.str == array.dtype.str, (array.dtype, back.dtype)


def npz_cases(folder, rng, cases):
    for _ in range(cases):
        arrays = {name(rng, index): random_array(rng) for index in range(rng.randrange(5))}
        if arrays:
            words = [rng.choice(["", "a", "größe", "two words"]) for _ in range(4)]
            arrays["texts"] = np.array(words).reshape(rng.choice([(4,), (2, 2), (1, 4, 1)]))
        save = rng.choice([np.savez, np.savez_compressed])
        save(folder / "a.npz", **arrays)
        if not arrays:
            continue
        tgm("convert", folder / "a.npz", "-o", folder / "a.tgm", "--strict")
        deflate = rng.choice([[], ["--deflate"]])
        tgm("convert", folder / "a.tgm", "-o", folder / "b.npz", "--strict", *deflate)
        back = np.load(folder / "b.npz")
        assert list(back.files) == list(arrays), (back.files, list(arrays))
        assert all(equal(arrays[key], back[key]) for key in arrays), arrays
        with zipfile.ZipFile(folder / "b.npz") as archive:
            assert archive.testzip() is None
            wanted = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            assert all(entry.compress_type == wanted for entry in archive.infolist())


def random_tensor(rng):
    dtype = rng.choice(list(TENSORS))
    shape = [rng.choice([0, 1, 2, 3, 7]) for _ in range(rng.randrange(4))]
    count = int(np.prod(shape))
    data = bytearray(rng.randbytes(count * TENSORS[dtype]))
    if dtype == "bool":
        data = bytes(byte & 1 for byte in data)
    elif dtype in ("float16", "float32", "float64", "complex64"):
        data = usual(np.frombuffer(bytes(data), dtype="<" + np.dtype(dtype).str[1:]).copy()).tobytes()
    elif dtype == "bfloat16":
        halves = np.frombuffer(bytes(data), dtype="<u2").copy()
        halves[(halves & 0x7FFF) > 0x7F80] = 0x7FC0
        data = halves.tobytes()
    return dtype, shape, np.frombuffer(bytes(data) + b"\0", dtype="u1")


def serialize(tensors, texts):
    """A file as safetensors writes it. The buffers live until it is written."""
    specs = {
        key: safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=data.nbytes - 1)
        for key, (dtype, shape, data) in tensors.items()
    }
    return bytes(safetensors.serialize(specs, metadata=texts))


def texts_of(file):
    with safetensors.safe_open(file, framework="np") as opened:
        return opened.metadata()


def header(file):
    with open(file, "rb") as opened:
        length = struct.unpack("<Q", opened.read(8))[0]
        return opened.read(length)


def safetensors_cases(folder, rng, cases):
    for _ in range(cases):
        tensors = {name(rng, index): random_tensor(rng) for index in range(rng.randrange(1, 5))}
        texts = {f"key {index}": rng.choice(["", "pt", "größe"]) for index in range(rng.randrange(3))} or None
        (folder / "a.safetensors").write_bytes(serialize(tensors, texts))
        tgm("convert", folder / "a.safetensors", "-o", folder / "a.tgm", "--strict")
        tgm("convert", folder / "a.tgm", "-o", folder / "b.safetensors", "--strict")
        read = lambda path: {
            key: (info["dtype"], list(info["shape"]), bytes(info["data"]))
            for key, info in safetensors.deserialize(path.read_bytes())
        }
        first, back = read(folder / "a.safetensors"), read(folder / "b.safetensors")
        assert first == back, (first, back)
        assert texts_of(folder / "a.safetensors") == texts_of(folder / "b.safetensors") == texts, texts
        assert len(header(folder / "b.safetensors")) % 8 == 0


def across_formats(folder, rng, cases):
    """numpy's archives become safetensors and the other way round, without a message in between."""
    for _ in range(cases):
        arrays = {name(rng, index): random_array(rng) for index in range(rng.randrange(1, 4))}
        arrays = {key: array for key, array in arrays.items() if array.dtype.kind != "c"} or {"a": np.arange(3)}
        np.savez(folder / "a.npz", **arrays)
        tgm("convert", folder / "a.npz", "-o", folder / "a.safetensors", "--strict")
        read = safetensors.numpy.load_file(folder / "a.safetensors")
        assert read.keys() == arrays.keys()
        assert all(equal(arrays[key], read[key]) for key in arrays), arrays
        plain = {key: np.array(array, order="C") for key, array in read.items()}
        safetensors.numpy.save_file(plain, folder / "b.safetensors")
        tgm("convert", folder / "b.safetensors", "-o", folder / "b.npz", "--strict")
        back = np.load(folder / "b.npz")
        assert all(equal(arrays[key], back[key]) for key in arrays), arrays


def joined_cases(folder, rng, cases):
    """Several archives become one, with a number after a name that comes again."""
    for _ in range(max(cases // 4, 1)):
        archives = [{key: random_array(rng) for key in rng.sample("abcd", rng.randint(1, 3))} for _ in range(3)]
        paths = [folder / f"{number}.npz" for number in range(3)]
        for path, archive in zip(paths, archives):
            np.savez(path, **archive)
            tgm("convert", path, "-o", path.with_suffix(".tgm"))
        tgm("convert", *(path.with_suffix(".tgm") for path in paths), "-o", folder / "all.npz")
        expected = [(key, array) for archive in archives for key, array in archive.items()]
        with np.load(folder / "all.npz") as found:
            assert len(found.files) == len(expected), (found.files, expected)
            for name, (key, array) in zip(found.files, expected):
                assert name.split("_")[0] == key and equal(found[name], array), (name, key)


def text_cases(folder, rng, cases):
    for _ in range(cases):
        table = usual(np.frombuffer(rng.randbytes(8 * 12), dtype="<f8").copy()).reshape(4, 3)
        np.savetxt(folder / "a.csv", table, delimiter=",", fmt="%.17g", header="x,y,z", comments="")
        tgm("convert", folder / "a.csv", "-o", folder / "a.npy", "--matrix")
        back = np.load(folder / "a.npy")
        assert equal(table, back), (table, back)
        tgm("convert", folder / "a.csv", "-o", folder / "a.npz")
        columns = np.load(folder / "a.npz")
        assert list(columns.files) == ["x", "y", "z"]
        tgm("convert", folder / "a.npz", "-o", folder / "b.csv")
        read = np.genfromtxt(folder / "b.csv", delimiter=",", names=True)
        assert all(equal(read[key].astype("<f8"), columns[key].astype("<f8")) for key in "xyz"), (table, read)


def refusals(folder):
    refused = [(np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]), "not a tensor: a, b"), (np.array(["text"]), "texts alone")]
    for array, why in refused:
        np.save(folder / "a.npy", array)
        assert why in tgm("convert", folder / "a.npy", "-o", folder / "a.tgm", code=1)
    # Times are integers with a unit, and come back as times.
    times = np.array(["2026-01-15", "NaT"], dtype="M8[s]")
    np.save(folder / "a.npy", times)
    tgm("convert", folder / "a.npy", "-o", folder / "a.tgm")
    tgm("convert", folder / "a.tgm", "-o", folder / "b.npy")
    back = np.load(folder / "b.npy")
    assert back.dtype == times.dtype and np.array_equal(back.view("<i8"), times.view("<i8")), back
    np.save(folder / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "Python objects" in tgm("convert", folder / "a.npy", "-o", folder / "a.tgm", code=1)
    # numpy reads what was written for a scalar, and for nothing.
    for array in [np.float32(1.5), np.zeros((0, 3))]:
        np.save(folder / "a.npy", array)
        tgm("convert", folder / "a.npy", "-o", folder / "a.tgm")
        with io.BytesIO() as file:
            tgm("convert", folder / "a.tgm", "-o", folder / "b.npy")
            file.write((folder / "b.npy").read_bytes())
        assert equal(np.load(folder / "b.npy"), array)


def main():
    cases, seed = (int(text) for text in (sys.argv[2:] + ["400", "1"][len(sys.argv) - 2:]))
    rng = random.Random(seed)
    # Arrays are cast to the bytes of NaN and infinity.
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        each = max(cases // 5, 1)
        for run in [npy_cases, npz_cases, safetensors_cases, across_formats, joined_cases, text_cases]:
            run(folder, rng, each)
        refusals(folder)
    versions = f"numpy {np.__version__} and safetensors {safetensors.__version__}"
    print(f"arrays: {5 * each} cases, both ways, agree with {versions}")


main()
