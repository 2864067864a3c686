"""The message of a request, assembled from the rules alone: a second opinion about the bytes of level writer.

It is a writer too: `python3 lib/assemble.py REQUEST OUT.tgm`. It has no szip.
"""

import json
import pathlib
import struct
import sys

import blobs
from cbor import from_json
from values import fields, in_order, pack, packing_of, split_non_finite, unpack_bits
from wire import (
    FOOTER_HASHES,
    FOOTER_INDEX,
    FOOTER_METADATA,
    OBJECT,
    Frame,
    Object,
    build,
    hashes,
    index,
    metadata,
    preceder,
)

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _packed(described, little):
    """Descriptor with all parameters, and bit fields (PIPELINE 3)."""
    values = struct.unpack(f"<{len(little) // 8}d", little)
    bits, decimal = described["sp_bits_per_value"], described.get("sp_decimal_scale_factor", 0)
    if "sp_reference_value" in described:
        reference, binary = described["sp_reference_value"], described["sp_binary_scale_factor"]
    else:
        reference, binary = packing_of(values, bits, decimal)
    more = {"sp_reference_value": reference, "sp_binary_scale_factor": binary, "sp_decimal_scale_factor": decimal}
    return {**described, **more}, fields(pack(values, bits, reference, binary, decimal), bits)


def _object(request, options):
    """The object of a request; None if its bytes come from a codec that is not here."""
    described, payload = from_json(request["descriptor"]), bytes.fromhex(request["values"])
    dtype, order, masks = described["dtype"], described["byte_order"], []
    if dtype in FLOATS:
        little, kinds, _ = split_non_finite(dtype, in_order(dtype, payload, order))
        payload = in_order(dtype, little, order)
        for kind, bits in kinds.items():
            is_small = -(-len(bits) // 8) <= options["small_mask_bytes"]
            method = "none" if is_small else options["mask_methods"][kind]
            if method not in ("none", "rle", "roaring"):
                return None
            masks.append((kind, method, blobs.mask(method, bits)))
    if described["encoding"] == "simple_packing":
        described, payload = _packed(described, in_order(dtype, payload, order))
    if described["filter"] == "shuffle":
        payload = blobs.shuffle(payload, described["shuffle_element_size"])
    if described["compression"] in ("rle", "roaring"):
        bits = unpack_bits(payload, 8 * len(payload))
        payload = blobs.counted(bits, getattr(blobs, described["compression"])(bits))
    elif described["compression"] != "none":
        return None
    return Object(described, payload, masks, first=options["descriptor_first"])


def _metadata(request, given):
    """The caller's metadata with what a writer adds (FORMAT 4.3, 4.5)."""
    base = [dict(entry) for entry in given.get("base", [])][: len(request["objects"])]
    base += [{} for _ in request["objects"][len(base) :]]
    for entry, item in zip(base, request["objects"]):
        tensor = {key: item["descriptor"][key] for key in ("ndim", "dtype", "shape", "strides")}
        entry["_reserved_"] = {"tensor": tensor}
        entry.update(from_json(item.get("preceder", {})))
    out = {"_reserved_": request["provenance"], **{key: value for key, value in given.items() if key != "base"}}
    return {**out, "base": base} if base else out


def message(request):
    """The bytes, or None if a codec is not here."""
    options, hashing, place = request["options"], request["options"]["hashing"], request["options"]["digest_list"]
    objects = [_object(item, options) for item in request["objects"]]
    if None in objects:
        return None
    given = from_json(request["metadata"])
    full, listed = _metadata(request, given), hashing and bool(objects)
    if request["layout"] == "buffered":
        frames = [metadata(full)] + ([index()] if objects else [])
        frames += [hashes()] if listed and place in ("header", "both") else []
        frames += [Frame(OBJECT, item) for item in objects]
        frames += [hashes(FOOTER_HASHES)] if listed and place in ("footer", "both") else []
        return bytes(build(frames, hashing).bytes)
    frames = [metadata(given)]
    for asked, item in zip(request["objects"], objects):
        frames += [preceder(from_json(asked["preceder"]))] if "preceder" in asked else []
        frames.append(Frame(OBJECT, item))
    frames.append(metadata(full, FOOTER_METADATA))
    frames += [hashes(FOOTER_HASHES)] if listed and place == "footer" else []
    # Announced before the writer knows what comes (FORMAT 1.3).
    flags = 0x4B | (0x80 if hashing else 0) | (0x20 if hashing and place == "footer" else 0)
    built = build([*frames, index(FOOTER_INDEX)], hashing, True, flags)
    if request["layout"] == "streamed-backfilled":
        built.number("preamble.total_length", len(built.bytes)).number("postamble.total_length", len(built.bytes))
    return bytes(built.bytes)


if __name__ == "__main__":
    made = message(json.loads(pathlib.Path(sys.argv[1]).read_text()))
    if made is None:
        sys.exit("a codec is needed that is not here")
    pathlib.Path(sys.argv[2]).write_bytes(made)
