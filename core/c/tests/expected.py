#!/usr/bin/env python3
"""Lists the objects of tests/data with the digests that their sidecars record, for values.c.

Each line: file, message, object, bytes of the values, SHA-256 of the little-endian values, and whether this library
decodes them (1) or says what it would need (0).
"""
import json
import sys
from pathlib import Path

DATA = Path(sys.argv[1])
METHODS = ("none", "rle", "roaring")

for sidecar in sorted(DATA.rglob("*.json")):
    sample = json.loads(sidecar.read_text())
    if sample.get("class") != "valid":
        continue
    for number, message in enumerate(sample["messages"]):
        for index, entry in enumerate(message.get("objects", [])):
            decoded, descriptor = entry.get("decoded", {}), entry["descriptor"]
            if "truth" in entry or "sha256" not in decoded or message.get("offset") is None:
                continue
            masks = entry.get("masks_cbor") or {}
            known = descriptor["compression"] in ("none", "szip")
            known &= all(mask.get("method") in METHODS for mask in masks.values())
            path = sidecar.parent / sample["file"]
            print(path.relative_to(DATA), number, index, decoded["nbytes"], decoded["sha256"], int(known))
