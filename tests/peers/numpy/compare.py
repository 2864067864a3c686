"""Compares `tgm compare` with numpy, on random pairs of arrays of every type.

  compare.py TGM [ROUNDS [SEED]]   each round has a pair of every type, with some tolerance

What must agree: how many values differ, the greatest difference and where it is, its two values, and the exit code.
The program needs numpy, and writes its files by `tgm create`.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

# The types of the format, with the types of numpy that hold their values.
FLOATS = {"float16": "<f2", "bfloat16": None, "float32": "<f4", "float64": "<f8"}
COMPLEX = {"complex64": "<c8", "complex128": "<c16"}
SIGNS = (("", "i"), ("u", "u"))
INTEGERS = {f"{sign}int{bits}": f"<{kind}{bits // 8}" for sign, kind in SIGNS for bits in (8, 16, 32, 64)}
DTYPES = [*FLOATS, *COMPLEX, *INTEGERS, "bool"]
ORDERS = ["little", "big"]


def floats(random, count):
    """Numbers of all sizes, some of them NaN and infinite."""
    values = random.normal(size=count) * 10.0 ** random.integers(-3, 4, count)
    for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
        values[random.random(count) < 0.04] = special
    return values


def near(random, values):
    """The same numbers, some of them changed by little, by much, or into something that is not a number."""
    changed = values.copy()
    kind = random.random(len(values))
    with np.errstate(all="ignore"):
        changed = np.where(kind < 0.15, values * (1 + random.normal(size=len(values)) * 0.02), changed)
        changed = np.where((kind >= 0.15) & (kind < 0.25), values + random.normal(size=len(values)), changed)
    changed = np.where((kind >= 0.25) & (kind < 0.28), np.nan, changed)
    changed = np.where((kind >= 0.28) & (kind < 0.3), np.inf, changed)
    return np.where((kind >= 0.3) & (kind < 0.32), -values, changed)


def bfloat16(values):
    """The upper halves of single floats: their bits, and the values that they have."""
    with np.errstate(all="ignore"):
        bits = (values.astype("<f4").view("<u4") >> 16).astype("<u2")
    # A NaN whose digits are cut off would become an infinity.
    bits = np.where(np.isnan(values), np.uint16(0x7FC0), bits).astype("<u2")
    return bits, (bits.astype("<u4") << 16).view("<f4")


def pair(random, dtype, count):
    """Two arrays to store, and what they mean as numbers of Python or numpy."""
    if dtype == "bool":
        a = random.random(count) < 0.5
        b = a ^ (random.random(count) < 0.1)
        return [(each.astype("u1"), each.astype("f8")) for each in (a, b)]
    if dtype in INTEGERS:
        kind = np.dtype(INTEGERS[dtype])
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        a = random.integers(least, most, count, dtype=kind.newbyteorder("="), endpoint=True)
        step = random.integers(0, 4, count).astype(kind)
        with np.errstate(all="ignore"):
            b = np.where(random.random(count) < 0.2, a - step, a).astype(kind)
        far = random.integers(least, most, count, dtype=kind.newbyteorder("="), endpoint=True)
        b = np.where(random.random(count) < 0.05, far, b).astype(kind)
        return [(each.astype(kind), each) for each in (a, b)]
    if dtype in COMPLEX:
        parts = [floats(random, 2 * count)]
        parts.append(near(random, parts[0]))
        # A mask is of whole elements: what is beside a NaN or an infinity is not stored.
        for each in parts:
            element = each.reshape(-1, 2)
            element[~np.isfinite(element).all(axis=1)] = np.nan
        kind = np.dtype(COMPLEX[dtype])
        with np.errstate(all="ignore"):
            stored = [each.astype(f"<f{kind.itemsize // 2}").view(kind) for each in parts]
        return [(each, each) for each in stored]
    values = floats(random, count)
    values = [values, near(random, values)]
    if dtype == "bfloat16":
        return [bfloat16(each) for each in values]
    with np.errstate(all="ignore"):
        stored = [each.astype(FLOATS[dtype]) for each in values]
    return [(each, each) for each in stored]


def expected(a, b, absolute, relative, nan_differs):
    """Number of differing values, and element, difference and values of the first that differs most."""
    parts = 2 if np.iscomplexobj(a) else 1
    if parts == 2:
        a, b = (each.view(f"f{each.itemsize // 2}") for each in (a, b))
    if a.dtype.kind in "iu" and a.dtype.itemsize == 8:
        # Exact: floats round such integers.
        size = [float(abs(int(x) - int(y))) for x, y in zip(a, b)]
        same = [d <= absolute + relative * abs(float(y)) for d, y in zip(size, b)]
        size, same = np.array(size), np.array(same)
    else:
        a, b = a.astype("f8"), b.astype("f8")
        with np.errstate(all="ignore"):
            size = np.abs(a - b)
            near = np.isfinite(a) & np.isfinite(b) & (size <= absolute + relative * np.abs(b))
        both = np.isnan(a) & np.isnan(b)
        same = (a == b) | near | (both & (not nan_differs))
        size = np.where(np.isnan(size), np.inf, size)
        size = np.where(both, 0.0, size)
    if same.all():
        return None
    count = len(set(np.flatnonzero(~same) // parts))
    at = int(np.argmax(np.where(same, -1.0, size)))
    return count, at // parts, float(size[at]), float(a[at]), float(b[at])


def number(value):
    """A number of `tgm`'s JSON: those that JSON lacks are text."""
    return float(value)


def is_same(found, wanted):
    return found == wanted or (math.isnan(found) and math.isnan(wanted))


def one_round(tgm, folder, random):
    """Compares a pair of every type in one message. Returns how many pairs differ."""
    shape = tuple(int(n) for n in random.integers(1, 9, random.integers(1, 4)))
    count = math.prod(shape)
    order, nan_differs = str(random.choice(ORDERS)), bool(random.random() < 0.3)
    absolute = float(random.choice([0.0, 0.0, 0.01, 0.5, 2.0]))
    relative = float(random.choice([0.0, 0.0, 0.001, 0.05]))
    pairs = [pair(random, dtype, count) for dtype in DTYPES]
    files = []
    for side in (0, 1):
        inputs, forms = [], []
        for dtype, both in zip(DTYPES, pairs):
            stored = both[side][0]
            path = os.path.join(folder, f"{dtype}.raw")
            stored.astype(stored.dtype.newbyteorder(">" if order == "big" else "<")).tofile(path)
            inputs.append(path)
            forms += ["--raw", f"{dtype},{'x'.join(map(str, shape))},{order}"]
        files.append(os.path.join(folder, f"{side}.tgm"))
        subprocess.run([tgm, "create", "--allow-nan", "--allow-inf", *forms, "-O", files[-1], *inputs], check=True)
    flags = ["--tolerance", repr(absolute), "--relative", repr(relative)] + ["--nan-differs"] * nan_differs
    run = subprocess.run([tgm, "compare", "--json", *flags, *files], capture_output=True, text=True)
    assert run.returncode in (0, 1) and not run.stderr, run.stderr
    found = {entry["place"]: entry for entry in json.loads(run.stdout)["differences"]}
    differing = 0
    for index, (dtype, both) in enumerate(zip(DTYPES, pairs)):
        wanted = expected(both[0][1], both[1][1], absolute, relative, nan_differs)
        entry = found.pop(f"message 0, object {index}", None)
        about = f"{dtype} {shape} {flags}: found {entry}, numpy has {wanted}"
        assert (entry is None) == (wanted is None), about
        if entry is None:
            continue
        differing += 1
        assert (entry["count"], entry["of"]) == (wanted[0], count), about
        assert tuple(entry["at"]) == tuple(map(int, np.unravel_index(wanted[1], shape))), about
        for key, value in zip(("difference", "a", "b"), wanted[2:]):
            assert is_same(number(entry[key]), value), about
    assert not found, found
    assert run.returncode == (1 if differing else 0), run.returncode
    # A file and itself: no difference, unless NaN differs.
    itself = subprocess.run([tgm, "compare", files[0], files[0]], capture_output=True, text=True)
    assert (itself.returncode, itself.stdout, itself.stderr) == (0, "", ""), itself
    return differing


def main():
    tgm = sys.argv[1]
    rounds, seed = (int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((2, 60), (3, 1)))
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        differing = sum(one_round(tgm, folder, random) for _ in range(rounds))
        missing = subprocess.run([tgm, "compare", "/does/not/exist", "/does/not/exist"], capture_output=True)
        assert missing.returncode == 2, missing
    pairs = rounds * len(DTYPES)
    assert pairs // 10 < differing < pairs, f"{differing} of {pairs}"
    print(f"tgm compare: {pairs} pairs, {differing} differ, as numpy has it (seed {seed})")


if __name__ == "__main__":
    main()
