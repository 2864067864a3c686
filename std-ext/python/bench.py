"""This module beside the reference, the published `tensogram` 0.24.0.

    check bench                                       makes the environments, then runs this
    bench.py --reference PYTHON [--quick] [--json F]  PYTHON is that of an environment with the reference

The two modules have one name, so each runs in a process of its own environment. The reference writes the data, both
read the same files, and both say what they read, which must agree. Processes take turns; a case runs several times in
each, and the table shows medians by the clock, and how many times faster we are. Other programs on the machine
spoil it.
"""

import argparse
import hashlib
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import tensogram

OURS = importlib.util.find_spec("tgmio") is not None
SZIP = {"compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}
PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16}
CODECS = {
    "none": {},
    "zstd": {"compression": "zstd"},
    "lz4": {"compression": "lz4"},
    "blosc2": {"compression": "blosc2"},
    "shuffle zstd": {"filter": "shuffle", "shuffle_element_size": 8, "compression": "zstd"},
    "packed 16": PACKED,
    "packed 12": {**PACKED, "sp_bits_per_value": 12},
    "packed 16 szip": {**PACKED, **SZIP},
    "zfp rate 16": {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 16.0},
    "sz3": {"compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.01},
}


def descriptor(array, **keys):
    """A descriptor dict of an array."""
    return {"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype), **keys}


def field(count):
    """A smooth field with some noise, as weather models have it."""
    noise = np.random.default_rng(1).standard_normal(count)
    return 280 + 20 * np.sin(np.arange(count) / 5000) + 0.1 * noise


def sizes(quick):
    """How large the data of each case is."""
    divide = 16 if quick else 1
    return {
        "large": 16 * 2**20 // divide,
        "codec": 2**20 // divide,
        "small": 100_000 // divide,
        "steps": 1000 // divide,
    }


def write(folder, size):
    """Writes what is read: by the reference, so that both read the same."""
    create = tensogram.TensogramFile.create
    large = field(size["large"]).astype("float32")
    create(str(folder / "large.tgm")).append({}, [(descriptor(large), large)])
    values = field(size["codec"])
    for name, keys in CODECS.items():
        (folder / f"{name}.tgm").write_bytes(tensogram.encode({}, [(descriptor(values, **keys), values)]))
    packed = field(size["large"])
    (folder / "packed.tgm").write_bytes(tensogram.encode({}, [(descriptor(packed, **PACKED), packed)]))
    array = np.arange(10, dtype="float32")
    small = b"".join(
        tensogram.encode({"base": [{"step": i}]}, [(descriptor(array), array)]) for i in range(size["small"])
    )
    (folder / "small.tgm").write_bytes(small)
    steps = create(str(folder / "steps.tgm"))
    grid = field(37 * 72).reshape(37, 72)
    for step in range(size["steps"]):
        steps.append({"base": [{"mars": {"param": "2t", "step": step}}]}, [(descriptor(grid), grid + step)])


def digest(array):
    """Tells arrays apart."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def cases(folder, size):
    """Names, functions to be measured, and how often they run. Both modules must give the same."""
    path = {name: str(folder / f"{name}.tgm") for name in ("large", "small", "steps", "packed")}
    opened = tensogram.TensogramFile.open

    yield "open to array, 64 MiB", lambda: opened(path["large"]).file_decode_object(0, 0)["data"], 7
    yield (
        "open to view, 64 MiB (the reference: an array)",
        view if OURS else (lambda: opened(path["large"]).file_decode_object(0, 0)["data"]),
        7,
    )
    for name in CODECS:
        data = (folder / f"{name}.tgm").read_bytes()
        yield f"decode {name}, 8 MiB", lambda d=data: tensogram.decode(d).objects[0][1], 9
    values = field(size["large"] // 2)
    plain, packed = descriptor(values), descriptor(values, **PACKED)
    yield "encode float64, 64 MiB", lambda: length(tensogram.encode({}, [(plain, values)])), 5
    yield "encode packed 16, 64 MiB", lambda: length(tensogram.encode({}, [(packed, values)])), 5
    small = pathlib.Path(path["small"]).read_bytes()
    yield "small messages: scan", lambda: len(tensogram.scan(small)), 5
    yield "small messages: decode all", lambda: sum(1 for _ in tensogram.iter_messages(small)), 3
    yield "small messages: open and count", lambda: len(opened(path["small"])), 5
    yield "small messages: 1,000 by index", lambda: by_index(opened(path["small"])), 3
    yield "small messages: metadata of 1,000", lambda: metadata_by_index(opened(path["small"])), 3
    tiny = np.arange(10, dtype="float32")
    keys = descriptor(tiny)
    yield (
        "small messages: encode 10,000",
        lambda: sum(len(tensogram.encode({"base": [{"step": 5}]}, [(keys, tiny)])) > 0 for _ in range(10_000)),
        3,
    )
    large = pathlib.Path(path["large"]).read_bytes()
    at = size["large"] // 2
    yield "range of 1,000 of 16 M, buffer", lambda: tensogram.decode_range(large, 0, [(at, 1000)], join=True), 9
    yield (
        "range of 1,000 of 16 M, file",
        lambda: opened(path["large"]).file_decode_range(0, 0, [(at, 1000)], join=True),
        7,
    )
    coded = pathlib.Path(path["packed"]).read_bytes()
    yield "range of 1,000 of 16 M, packed", lambda: tensogram.decode_range(coded, 0, [(at, 1000)], join=True), 9
    yield "hash of 64 MiB", lambda: tensogram.compute_hash(large), 5
    if importlib.util.find_spec("tensogram_xarray"):
        import xarray as xr

        yield (
            "xarray: open 1,000 messages as one",
            lambda: dict(
                xr.open_dataset(path["steps"], engine="tensogram", merge_objects=True, variable_key="mars.param").sizes
            ),
            3,
        )


def view():
    """A view of the large object: nothing is read."""
    import tgmio as tgm

    return np.asarray(tgm.open_mmap(VIEWED)[0].objects[0].array)


VIEWED = None


def length(data):
    """How long encoded bytes are: names and versions of encoders differ."""
    return len(data) // 1000


def by_index(file):
    """Messages from all over the file."""
    count = len(file)
    return float(sum(file[(i * 7919) % count].objects[0][1][3] for i in range(1000)))


def metadata_by_index(file):
    """Metadata from all over the file."""
    count = len(file)
    return sum(file.file_decode_metadata((i * 7919) % count)["step"] for i in range(1000))


def measure(folder, size):
    """Seconds of each case in this process, and what it gave."""
    global VIEWED
    VIEWED = str(folder / "large.tgm")
    found = {}
    for name, work, rounds in cases(folder, size):
        try:
            answer = work()
        except (AttributeError, ValueError) as error:
            found[name] = {"error": str(error)}
            continue
        answer = digest(answer) if isinstance(answer, np.ndarray) else answer
        seconds = []
        for _ in range(rounds):
            start = time.perf_counter()
            kept = work()
            seconds.append(time.perf_counter() - start)
            del kept
        found[name] = {"seconds": seconds, "answer": answer}
    return found


def child(program, what, folder, quick):
    """Runs this file in another process."""
    command = [program, __file__, "--child", what, str(folder)] + ["--quick"] * quick
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout or "null")


def text(seconds):
    """Seconds as people read them."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"
    return ""


def compare(reference, quick, json_path):
    """Prints the table. Gives 1 if answers differ."""
    with tempfile.TemporaryDirectory() as folder:
        child(reference, "write", folder, quick)
        runs = {"reference": [], "ours": []}
        for _ in range(1 if quick else 3):
            runs["reference"].append(child(reference, "measure", folder, quick))
            runs["ours"].append(child(sys.executable, "measure", folder, quick))
    wrong, table = [], {}
    print(f"{'case':50} {'reference':>12} {'ours':>12} {'ratio':>8}")
    for name, first in runs["reference"][0].items():
        ours = runs["ours"][0].get(name, {"error": "no such case"})
        if "error" in first or "error" in ours:
            print(f"{name:50} {first.get('error') or ours.get('error')}")
            continue
        if first["answer"] != ours["answer"]:
            wrong.append(f"{name}: {first['answer']} and {ours['answer']}")
        medians = [
            statistics.median(s for run in runs[which] for s in run[name]["seconds"]) for which in ("reference", "ours")
        ]
        table[name] = {"reference": medians[0], "ours": medians[1], "ratio": medians[0] / medians[1]}
        print(f"{name:50} {text(medians[0]):>12} {text(medians[1]):>12} {medians[0] / medians[1]:8.1f}")
    for line in wrong:
        print("answers differ:", line)
    if json_path:
        pathlib.Path(json_path).write_text(json.dumps(table, indent=1))
    return 1 if wrong else 0


def main():
    """Does what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", help="the Python of an environment with the reference")
    parser.add_argument("--quick", action="store_true", help="small data, one round")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        what, folder = arguments.child
        work = {"write": write, "measure": measure}[what]
        print(json.dumps(work(pathlib.Path(folder), sizes(arguments.quick))))
        return 0
    return compare(arguments.reference, arguments.quick, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
