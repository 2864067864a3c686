#!/usr/bin/env python3
"""Compares `tgm convert` with ecCodes: values bit by bit, and the way back byte by byte.

Usage:
  compare.py TGM [CASES [SEED]]   several hundred random messages, in about ten seconds
  compare.py --samples FOLDER     writes the samples of ../../data-grib, with what ecCodes says of them

ecCodes is here for comparison alone: the PyPI packages `eccodes` and `eccodeslib`, and `numpy`.
"""
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import eccodes as ec
import numpy as np

MISSING = 9999.0
# The precision of template 5.4: 1 is 32 bits, 2 is 64.
IEEE = {"grid_ieee": 1}
SIMPLE_SAMPLES = [
    "regular_ll_pl_grib2",
    "regular_ll_sfc_grib2",
    "rotated_ll_pl_grib2",
    "regular_gg_pl_grib2",
    "reduced_gg_pl_32_grib2",
    "polar_stereographic_pl_grib2",
]


def field(sample, values, packing="grid_simple", bits=16, decimal=0, bitmap=False, **keys):
    """A message with these values. NaN marks points without one, which `bitmap` allows."""
    handle = ec.codes_grib_new_from_samples(sample)
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    if bitmap:
        ec.codes_set(handle, "bitmapPresent", 1)
        ec.codes_set(handle, "missingValue", MISSING)
    if packing in IEEE:
        ec.codes_set(handle, "packingType", packing)
        ec.codes_set(handle, "precision", 1 if bits == 32 else 2)
    else:
        ec.codes_set(handle, "packingType", packing)
        ec.codes_set(handle, "bitsPerValue", bits)
        if decimal:
            ec.codes_set(handle, "decimalScaleFactor", decimal)
    ec.codes_set_values(handle, np.where(np.isnan(values), MISSING, values))
    if packing not in IEEE and bits and not decimal:
        assert ec.codes_get(handle, "packingType") == packing or np.nanmin(values) == np.nanmax(values)
    return handle


def points(sample):
    handle = ec.codes_grib_new_from_samples(sample)
    try:
        return ec.codes_get(handle, "numberOfDataPoints")
    finally:
        ec.codes_release(handle)


def values_of(handle):
    """The values that ecCodes decodes, with NaN where the bitmap has none."""
    values = np.array(ec.codes_get_values(handle), dtype="<f8")
    if ec.codes_get(handle, "bitmapPresent"):
        present = np.array(ec.codes_get_array(handle, "bitmap")).astype(bool)
        values[~present] = np.nan
    return values


def stored(handle):
    """The bytes of the values as the object holds them: float32 for 32-bit IEEE data, float64 otherwise."""
    values = values_of(handle)
    is_single = ec.codes_get(handle, "packingType") == "grid_ieee" and ec.codes_get(handle, "precision") == 1
    return values.astype("<f4" if is_single else "<f8").tobytes()


def sha(data):
    return hashlib.sha256(data).hexdigest()


def smooth(count, scale=20.0, offset=273.15):
    x = np.linspace(0, 9, count)
    return offset + scale * np.sin(x) * np.cos(3 * x) + 0.1 * np.sin(170 * x)


def with_gaps(values, rng, share=0.3):
    values = values.copy()
    values[rng.random(len(values)) < share] = np.nan
    return values


# Samples of the repository ------------------------------------------------------------------------------------------


def sample_list():
    rng = np.random.default_rng(1)
    ll = "regular_ll_pl_grib2"
    plain = smooth(points(ll))
    for bits in (1, 8, 12, 16, 24, 32):
        yield f"simple-{bits}", [field(ll, plain, bits=bits)]
    for bits in (4, 8, 12, 16, 20, 24, 32):
        yield f"ccsds-{bits}", [field(ll, plain, "grid_ccsds", bits)]
    yield "constant", [field(ll, np.full(len(plain), 271.25))]
    yield "ccsds-constant", [field(ll, np.full(len(plain), 271.25), "grid_ccsds")]
    gaps = with_gaps(plain, rng)
    yield "bitmap-simple-11", [field(ll, gaps, bits=11, bitmap=True)]
    yield "bitmap-ccsds-12", [field(ll, gaps, "grid_ccsds", 12, bitmap=True)]
    yield "bitmap-ccsds-16", [field(ll, gaps, "grid_ccsds", 16, bitmap=True)]
    yield "bitmap-constant", [field(ll, np.where(np.isnan(gaps), np.nan, 2.5), bitmap=True)]
    yield "bitmap-full", [field(ll, plain, bits=10, bitmap=True)]
    yield "bitmap-empty", [field(ll, np.full(len(plain), np.nan), bits=10, bitmap=True)]
    yield "ieee-32", [field(ll, plain, "grid_ieee", 32)]
    yield "ieee-64", [field(ll, plain, "grid_ieee", 64)]
    yield "ieee-64-bitmap", [field(ll, gaps, "grid_ieee", 64, bitmap=True)]
    yield "decimal-2", [field(ll, plain, decimal=2, bits=0)]
    yield "ensemble-rotated", [
        field("rotated_ll_pl_grib2", smooth(points("rotated_ll_pl_grib2")), bits=9, productDefinitionTemplateNumber=1,
              perturbationNumber=7, numberOfForecastsInEnsemble=50, level=850, forecastTime=36)
    ]
    for sample in ("reduced_gg_pl_32_grib2", "polar_stereographic_pl_grib2"):
        yield sample.removesuffix("_grib2").removesuffix("_pl"), [field(sample, smooth(points(sample)), bits=3)]
    yield "columns", [field(ll, plain, bits=7, jPointsAreConsecutive=1, jScansPositively=1)]
    yield "alternating", [field(ll, plain, bits=7, alternativeRowScanning=1)]
    yield "two-messages", [field(ll, plain, bits=5), field(ll, gaps, bits=6, bitmap=True)]
    for name, packing in (("complex", "grid_complex"), ("complex-differences", "grid_complex_spatial_differencing"),
                          ("jpeg", "grid_jpeg"), ("png", "grid_png")):
        try:
            yield f"refused-{name}", [field(ll, plain, packing, 12)]
        except Exception as error:
            print(f"no sample for {packing}: {error}", file=sys.stderr)


def multi_field():
    """One message of three fields: other grid, other product; bitmap, and the bitmap of the field before."""
    ll = "regular_ll_pl_grib2"
    rng = np.random.default_rng(2)
    multi = ec.codes_grib_multi_new()
    handles = [
        field(ll, smooth(points(ll)), bits=6),
        field(ll, with_gaps(smooth(points(ll)), rng), "grid_ccsds", 16, bitmap=True, level=500),
        field(ll, smooth(points(ll), 3.0), "grid_ccsds", 10, level=300),
    ]
    for handle, start in zip(handles, (3, 4, 4)):
        ec.codes_grib_multi_append(handle, start, multi)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "multi"
        with open(path, "wb") as file:
            ec.codes_grib_multi_write(multi, file)
        return path.read_bytes(), handles


def reused_bitmap(message):
    """The message of `multi_field` with the last field taking the bitmap of the second one, and its values repeated."""
    sections, at = [], 16
    while message[at:at + 4] != b"7777" or at != len(message) - 4:
        length = int.from_bytes(message[at:at + 4], "big")
        sections.append(message[at:at + length])
        at += length
    number = lambda section: section[4]
    fields, current = [], []
    for section in sections:
        current.append(section)
        if number(section) == 7:
            fields.append(current)
            current = []
    again = [section for section in fields[1] if number(section) in (4, 5, 6, 7)]
    again = [section if number(section) != 6 else b"\0\0\0\x06\x06\xfe" for section in again]
    body = b"".join(sections) + b"".join(again) + b"7777"
    return message[:8] + (16 + len(body)).to_bytes(8, "big") + body


def describe(handles):
    listed = []
    for handle in handles:
        entry = {"points": ec.codes_get(handle, "numberOfDataPoints")}
        if ec.codes_is_defined(handle, "decimalScaleFactor") and ec.codes_get(handle, "decimalScaleFactor"):
            # Rounded otherwise, so a digest says nothing.
            entry["near"] = values_of(handle)[:32].tolist()
        else:
            entry["values"] = sha(stored(handle))
        listed.append(entry)
    return listed


def write_samples(folder):
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, handles in sample_list():
        (folder / f"{name}.grib2").write_bytes(b"".join(ec.codes_get_message(handle) for handle in handles))
        expected[name] = {"error": "not supported"} if name.startswith("refused") else {"fields": describe(handles)}
    message, handles = multi_field()
    (folder / "fields.grib2").write_bytes(message)
    expected["fields"] = {"fields": describe(handles)}
    (folder / "fields-bitmap.grib2").write_bytes(reused_bitmap(message))
    expected["fields-bitmap"] = {"fields": describe(handles + [handles[1]])}
    old = ec.codes_grib_new_from_samples("regular_ll_pl_grib1")
    (folder / "refused-edition-1.grib2").write_bytes(ec.codes_get_message(old))
    expected["refused-edition-1"] = {"error": "edition 1 is not supported"}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


# Random messages ----------------------------------------------------------------------------------------------------


def random_field(rng):
    sample = SIMPLE_SAMPLES[rng.integers(len(SIMPLE_SAMPLES))]
    count = points(sample)
    kind = rng.integers(5)
    if kind == 0:
        values = np.full(count, rng.normal(0, 1000))
    elif kind == 1:
        values = rng.normal(rng.normal(0, 300), 10.0 ** rng.integers(-6, 6), count)
    elif kind == 2:
        values = np.where(rng.random(count) < 0.8, 0.0, rng.exponential(5.0, count))
    else:
        values = smooth(count, rng.exponential(50.0), rng.normal(0, 300))
    bitmap = bool(rng.random() < 0.4)
    if bitmap:
        values = with_gaps(values, rng, rng.choice([0.0, 0.05, 0.5, 0.99, 1.0]))
    packing = rng.choice(["grid_simple", "grid_ccsds", "grid_ieee"], p=[0.4, 0.5, 0.1])
    bits = int(rng.choice([32, 64])) if packing == "grid_ieee" else int(rng.integers(0, 33))
    decimal = int(rng.integers(-3, 6)) if packing != "grid_ieee" and rng.random() < 0.15 else 0
    keys = {"level": int(rng.choice([1000, 850, 500, 10])), "forecastTime": int(rng.integers(0, 240)),
            "centre": int(rng.integers(0, 255))}
    if "ll" in sample and rng.random() < 0.5:
        keys["scanningMode"] = int(rng.integers(0, 16)) << 4
    if rng.random() < 0.3:
        keys = {"productDefinitionTemplateNumber": 1, "perturbationNumber": int(rng.integers(0, 50)), **keys}
    return field(sample, values, packing, bits, decimal, bitmap, **keys)


def compare(tgm, cases, seed):
    rng = np.random.default_rng(seed)
    handles, failed = [], 0
    while len(handles) < cases:
        try:
            handles.append(random_field(rng))
        except ec.CodesInternalError:
            failed += 1
            assert failed < cases, "ecCodes makes no messages"
    with tempfile.TemporaryDirectory() as folder:
        grib, tensogram, back = (str(Path(folder) / name) for name in ("in.grib2", "out.tgm", "back.grib2"))
        original = b"".join(ec.codes_get_message(handle) for handle in handles)
        Path(grib).write_bytes(original)
        run = lambda *arguments: subprocess.run([tgm, *arguments], check=True, capture_output=True).stdout
        run("convert", grib, "-o", tensogram)
        run("convert", tensogram, "--to", "grib2", "-o", back)
        if Path(back).read_bytes() != original:
            sys.exit("the way back gives other bytes")
        digests = json.loads(run("digest", "--json", tensogram))["messages"]
        assert len(digests) == len(handles)
        same, close = 0, 0
        for index, (handle, message) in enumerate(zip(handles, digests)):
            expected, [found] = stored(handle), [obj["sha256"] for obj in message["objects"]]
            if found == sha(expected):
                same += 1
                continue
            what = {key: ec.codes_get(handle, key) for key in ("packingType", "bitsPerValue", "decimalScaleFactor")}
            if not what["decimalScaleFactor"]:
                sys.exit(f"message {index} of seed {seed} has other values: {what}")
            raw = run("extract", tensogram, "-m", str(index), "-O", "-")
            ours, theirs = np.frombuffer(raw, "<f8"), np.frombuffer(expected, "<f8")
            assert np.array_equal(np.isnan(ours), np.isnan(theirs))
            # What tgm_std::convert::grib2::Note::DecimalScale states.
            ten = 10.0 ** -what["decimalScaleFactor"]
            greatest = 2.0 ** ec.codes_get(handle, "binaryScaleFactor") * (2.0 ** what["bitsPerValue"] - 1)
            bound = (abs(ec.codes_get_double(handle, "referenceValue")) + greatest) * ten * 4 * np.finfo(float).eps
            worst = np.nanmax(np.abs(ours - theirs), initial=0.0)
            if worst > bound:
                sys.exit(f"message {index} of seed {seed} differs by {worst}: {what}")
            close += 1
    print(f"{same} messages with equal values, {close} with a decimal scale and rounded otherwise; all return to the byte")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--samples"]:
        write_samples(Path(sys.argv[2]))
    elif len(sys.argv) > 1:
        compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    else:
        sys.exit(__doc__)
