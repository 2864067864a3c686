"""Writes the list that corpus.c reads: digests of the values of tests/data, and the files with defects."""

import json
import pathlib
import sys

data = pathlib.Path(sys.argv[1])
for sidecar in sorted(data.glob("**/*.json")):
    facts = json.loads(sidecar.read_text())
    file = sidecar.with_suffix(".tgm")
    if not isinstance(facts, dict) or not file.is_file():
        continue
    if facts.get("class") == "malformed" or "v2" in sidecar.parts:
        print(file)
        continue
    if facts.get("class") != "valid" or facts.get("compacted"):
        continue
    for number, message in enumerate(facts.get("messages", [])):
        if "truth" in message or message.get("truth"):
            continue
        for index, object in enumerate(message.get("objects", [])):
            decoded = object.get("decoded") or {}
            if "sha256" in decoded and "truth" not in object:
                print(file, number, index, decoded["nbytes"], decoded["sha256"], sep="\t")
