"""Messages of one module `tensogram`, read by the other: all dtypes with all codecs, masks, metadata, streams.

    python interop.py write FOLDER     writes cases with this environment's module
    python interop.py read FOLDER      reads them with this environment's module, and compares
    python interop.py names ONE OTHER  tells which cases of ONE are not in OTHER; only blosc2 and sz3 may be missing

The two modules have one name, so they live in two environments and talk by files. A case is NAME.tgm, and NAME.json
with what the writer itself decodes from it: values by digest, descriptors, metadata, places of messages.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np

import support
import tensogram
from support import descriptor, message

COUNT = 600
DTYPES = {**support.WIDTHS, "bitmask": 0}
STAGES = {
    "none": {},
    "zstd": {"compression": "zstd"},
    "lz4": {"compression": "lz4"},
    "blosc2": {"compression": "blosc2"},
    "szip": support.LOSSLESS["szip"],
    "rle": {"compression": "rle"},
    "roaring": {"compression": "roaring"},
    "zfp": support.LOSSY["zfp rate"][0],
    "zfp precision": support.LOSSY["zfp precision"][0],
    "zfp accuracy": support.LOSSY["zfp accuracy"][0],
    "sz3": support.LOSSY["sz3"][0],
}
BITS = (1, 8, 12, 16, 24, 32)


def values(dtype):
    """The payload of `COUNT` smooth values of the dtype, in little-endian order."""
    wave = 50 + 40 * np.sin(np.arange(COUNT) / 30)
    if dtype == "bitmask":
        return np.packbits(wave > 50).tobytes()
    if dtype == "bfloat16":
        return (wave.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    if dtype.startswith("complex"):
        return (wave + 1j * wave[::-1]).astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    return wave.astype(np.dtype(dtype).newbyteorder("<")).tobytes()


def cases():
    """Names and functions that give the bytes. ValueError says that the codec does not take the dtype."""
    for dtype, width in DTYPES.items():
        for stage, keys in STAGES.items():
            if not support.can_encode(stage):
                continue
            # The reference takes other values for float64 here, and spoils them.
            lossy = stage.startswith(("zfp", "sz3"))
            if lossy and dtype != "float64":
                continue
            for shuffle in (False, True)[: 1 if lossy else 2]:
                name = f"{dtype} {'shuffle ' * shuffle}{stage}"
                stages = {**keys, **({"filter": "shuffle", "shuffle_element_size": width} if shuffle else {})}
                yield (
                    name,
                    lambda d=dtype, s=stages: message((descriptor([20, 30], d, byte_order="little", **s), values(d))),
                )
        if width > 1:
            swap = width // (2 if dtype.startswith("complex") else 1)
            swapped = np.frombuffer(values(dtype), f"<u{swap}").astype(f">u{swap}").tobytes()
            yield f"{dtype} big", lambda d=dtype, b=swapped: message((descriptor([20, 30], d, byte_order="big"), b))
    wave = np.frombuffer(values("float64"))
    for bits in BITS:
        for stage in ("none", "zstd", "lz4") + (("szip",) if bits in (8, 16) else ()):
            keys = {"encoding": "simple_packing", "sp_bits_per_value": bits, **STAGES[stage]}
            yield f"packed {bits} {stage}", lambda k=keys: message((descriptor([20, 30], "float64", **k), wave))
    for method in ("none", "rle", "roaring", "lz4", "zstd", "blosc2"):
        if method == "blosc2" and not support.can_encode("blosc2"):
            continue
        for dtype in ("float32", "float64"):
            holes = np.tile(wave, 5).astype(dtype)
            holes[::7], holes[1::50], holes[2::60] = np.nan, np.inf, -np.inf
            yield (
                f"masks {method} {dtype}",
                lambda h=holes, m=method, d=dtype: message(
                    (descriptor(h.shape, d), h),
                    allow_nan=True,
                    allow_inf=True,
                    nan_mask_method=m,
                    pos_inf_mask_method=m,
                    neg_inf_mask_method=m,
                ),
            )
    meta = {
        "base": [{"mars": {"param": "2t", "step": 12, "x": [1, 2.5, None, True, "ä"]}}, {}],
        "title": "interop",
        "n": 2**62,
        "f": 1e-300,
        "map": {"a": {"b": {}}},
        "_extra_": {"explicit": [[], {}]},
    }
    pairs = [
        (descriptor([20, 30], "float32"), np.zeros((20, 30), "float32")),
        (descriptor([], "int8"), np.array(5, "int8")),
    ]
    for policy in ("auto", "none", "header", "footer", "both"):
        yield f"metadata {policy}", lambda p=policy: message(*pairs, meta=meta, aggregate_hash=p)
    yield "no hash", lambda: message(*pairs, meta=meta, hash=None)
    yield "no objects", lambda: tensogram.encode({"a": 1}, [])
    yield "empty", lambda: message((descriptor([0, 3]), b""))
    yield "three messages", lambda: b"junk" + message() + message(*pairs) + b"more junk" + message(meta=meta, hash=None)
    for finish in ("finish", "finish_backfilled"):
        for hash_ in ("xxh3", None):

            def stream(finish=finish, hash_=hash_):
                encoder = tensogram.StreamingEncoder(meta, hash=hash_)
                for pair in pairs:
                    encoder.write_object(*pair)
                encoder.write_object_pre_encoded(descriptor([20, 30], "float64"), values("float64"))
                return getattr(encoder, finish)()

            yield f"stream {finish} {hash_}", stream


def digest(array):
    """The digest of the elements."""
    return hashlib.sha256(array.tobytes()).hexdigest()


def seen(data):
    """What this module sees in the bytes."""
    report = {"scan": [list(place) for place in tensogram.scan(data)], "messages": []}
    for start, length in report["scan"]:
        one = data[start : start + length]
        found = tensogram.decode(one)
        metadata = found.metadata
        objects = []
        for j, (desc, array) in enumerate(found.objects):
            entry = {
                "descriptor": [
                    getattr(desc, name)
                    for name in (
                        "obj_type",
                        "ndim",
                        "shape",
                        "strides",
                        "dtype",
                        "byte_order",
                        "encoding",
                        "filter",
                        "compression",
                        "params",
                    )
                ],
                "dtype": str(array.dtype),
                "shape": list(array.shape),
                "values": digest(array),
                "raw": digest(tensogram.decode_object(one, j, native_byte_order=False)[2]),
                "masks": {k: digest(m) for k, m in sorted(tensogram.decode_with_masks(one).objects[j][2].items())},
            }
            if (
                desc.filter == "none"
                and desc.compression in ("none", "szip", "zfp", "blosc2")
                and desc.dtype != "bitmask"
            ):
                count = array.size
                ranges = [(count // 3, count // 4), (0, min(count, 1)), (count, 0)]
                entry["ranges"] = [digest(p) for p in tensogram.decode_range(one, j, ranges)]
            objects.append(entry)
        try:
            tensogram.decode(one, verify_hash=True)
            verified = "good"
        except tensogram.IntegrityError as error:
            verified = type(error).__name__
        report["messages"].append(
            {
                "version": metadata.version,
                "base": metadata.base,
                "extra": metadata.extra,
                "reserved": metadata.reserved,
                "keys": metadata.keys(),
                "objects": objects,
                "verified": verified,
                "issues": sorted(i["code"] for i in tensogram.validate(one, "full")["issues"]),
            }
        )
    return report


def write(folder):
    """Writes all cases; gives how many."""
    count = 0
    for name, make in cases():
        try:
            data = make()
        except ValueError:
            continue
        (folder / f"{name}.tgm").write_bytes(data)
        (folder / f"{name}.json").write_text(json.dumps(seen(data)))
        count += 1
    return count


def read(folder):
    """Reads all cases; gives how many, and the names of those that differ."""
    wrong, paths = [], sorted(folder.glob("*.tgm"))
    for path in paths:
        expected = json.loads(path.with_suffix(".json").read_text())
        try:
            found = json.loads(json.dumps(seen(path.read_bytes())))
        except Exception as error:  # a case that raises must not hide the others
            wrong.append(f"{path.stem}: {type(error).__name__}: {error}")
            continue
        if path.stem.startswith("stream "):
            # A stream that announces preceders, and has none, is a mismatch for the reference alone.
            for message in expected["messages"] + found["messages"]:
                message["issues"] = [code for code in message["issues"] if code != "flag_mismatch"]
        if found != expected:
            wrong.append(f"{path.stem}: {difference(expected, found)}")
    return len(paths), wrong


def difference(expected, found, at=""):
    """The first place where two trees differ."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        for key in expected:
            if expected[key] != found[key]:
                return difference(expected[key], found[key], f"{at}.{key}")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for i, (one, other) in enumerate(zip(expected, found)):
            if one != other:
                return difference(one, other, f"{at}[{i}]")
    return f"{at or 'all'}: written {str(expected)[:100]}, read {str(found)[:100]}"


def main():
    """Does what the arguments say."""
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if what == "names":
        one, other = ({p.stem for p in pathlib.Path(a).glob("*.tgm")} for a in sys.argv[2:4])
        missing = sorted(name for name in one - other if "blosc2" not in name and "sz3" not in name)
        print(f"interop: {len(one & other)} cases in both, {len(other - one)} more; missing: {missing or 'none'}")
        return 1 if missing else 0
    if what == "write":
        folder.mkdir(parents=True, exist_ok=True)
        print(
            f"interop: {write(folder)} cases written by tensogram {tensogram.__version__}"
            f"{' (reference)' if support.REFERENCE else ''}"
        )
        return 0
    count, wrong = read(folder)
    print(
        f"interop: {count - len(wrong)} of {count} cases read alike{' by the reference' if support.REFERENCE else ''}"
    )
    for line in wrong:
        print("  " + line)
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
