#!/usr/bin/env python3
"""A reader for `run.py` out of a Python module: `python.py MODULE digest|validate|extract …`.

MODULE is `tgmio`, or `tensogram`, which the reference has too. Only names that both have are used. `dump` is not there, because
dictionaries of Python tell fewer forms of CBOR apart than the sidecars do: run it with `--without metadata`.
"""

import argparse
import hashlib
import importlib
import json
import sys
from pathlib import Path

import numpy


def little(array):
    """The bytes of an array in C order, the least significant byte first. Bits are packed."""
    if array.dtype == bool:
        return numpy.packbits(array).tobytes()
    return array.astype(array.dtype.newbyteorder("<"), order="C", copy=False).tobytes()


def messages(module, data):
    """Offset, length and objects of each message."""
    for offset, length in module.scan(data):
        message = {"offset": offset, "length": length}
        try:
            decoded = module.decode(data[offset : offset + length])
        except Exception as error:  # Whatever a reader says is its refusal.
            yield {**message, "error": str(error)}
            continue
        objects = []
        for descriptor, array in decoded.objects:
            values = little(array)
            objects.append({"dtype": descriptor.dtype, "shape": descriptor.shape, "bytes": len(values),
                            "sha256": hashlib.sha256(values).hexdigest()})
        yield {**message, "objects": objects}


def digest(module, path):
    data = path.read_bytes()
    found = list(messages(module, data))
    print(json.dumps({"messages": found}))
    return any("error" in message for message in found) or sum(message["length"] for message in found) != len(data)


def validate(module, path):
    report = module.validate_file(str(path), level="full")
    print(json.dumps(report))
    issues = [issue for message in report["messages"] for issue in message["issues"]]
    # Non-finite values without a mask are within the format: the deepest level names them for those who do not want them.
    allowed = ("nan_detected", "inf_detected")
    wrong = [issue for issue in issues if issue["severity"] == "error" and issue["code"] not in allowed]
    return bool(report["file_issues"] or wrong)


def extract(module, path, options):
    start, count = map(int, options.range.split(":"))
    with module.TensogramFile.open(str(path)) as file:
        raw = file.read_message(options.message)
    try:
        part = module.decode_range(raw, options.object, [(start, count)], join=True)
    except ValueError:
        # Stages of which no part can be decoded by itself.
        descriptor, array = module.decode(raw).objects[options.object]
        if descriptor.dtype == "bitmask" and array.dtype != bool:
            array = numpy.unpackbits(array).astype(bool)
        part = array.reshape(-1)[start : start + count]
    Path(options.output).write_bytes(little(part))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("verb", choices=["digest", "validate", "extract"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--full", action="store_true")
    for name in ("message", "object"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("range", "byte-order", "output"):
        parser.add_argument(f"--{name}")
    options = parser.parse_args()
    module = importlib.import_module(options.module)
    if options.verb == "extract":
        extract(module, options.path, options)
        return 0
    return int({"digest": digest, "validate": validate}[options.verb](module, options.path))


try:
    sys.exit(main())
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(1)
