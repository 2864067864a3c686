#!/usr/bin/env python3
"""Makes the corpus: `generate.py --writer COMMAND` writes it, with `--check` it compares it with what is there.

COMMAND is called as `COMMAND --all FOLDER`, and makes NAME.tgm beside every request NAME.json of the folder.
"""

import argparse
import hashlib
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))
import assemble  # noqa: E402

LEVELS = ("minimal", "full", "hostile", "writer")


def all_cases():
    import hostile
    import writing

    import full
    import minimal

    for module in (minimal, full, hostile, writing):
        yield from module.cases()


def encode(cases, writer, folder):
    """Lets our encoder make the messages of all cases with a request."""
    asked = [case for case in cases if case.request is not None]
    for number, case in enumerate(asked):
        (folder / f"{number}.json").write_text(json.dumps(case.request))
    subprocess.run([*shlex.split(writer), "--all", str(folder)], check=True)
    for number, case in enumerate(asked):
        case.data = (folder / f"{number}.tgm").read_bytes()
        expected = assemble.message(case.request)
        if expected is not None and case.data != expected:
            sys.exit(f"{case.name}: the encoder's bytes are not those that the rules give")


def text(value):
    """JSON with one line for each entry of the top level."""
    lines = [f"{json.dumps(key)}: {json.dumps(entry, ensure_ascii=True)}" for key, entry in value.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def files(cases):
    """Path and bytes of every file of the corpus, the manifest too."""
    out = {}
    for case in cases:
        assert case.name + ".tgm" not in out, case.name
        out[case.name + ".tgm"] = case.data
        out[case.name + ".json"] = text(case.sidecar(case.data))
        if case.level == "writer":
            out[case.name + ".request"] = text(case.request)
    listed = [
        {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in sorted(out.items())
    ]
    lines = ",\n".join(json.dumps(entry) for entry in listed)
    out["MANIFEST.json"] = f'{{"schema": "tgm.conformance.manifest/1", "files": [\n{lines}\n]}}\n'.encode()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer", required=True, help="command that makes messages of requests")
    parser.add_argument("--check", action="store_true", help="compare with the files that are there")
    given = parser.parse_args()
    cases = list(all_cases())
    with tempfile.TemporaryDirectory() as folder:
        encode(cases, given.writer, pathlib.Path(folder))
    made = files(cases)
    if given.check:
        there = {
            str(path.relative_to(HERE)) for level in LEVELS for path in (HERE / level).rglob("*") if path.is_file()
        }
        different = [
            path for path, data in made.items() if not (HERE / path).is_file() or (HERE / path).read_bytes() != data
        ]
        different += sorted(there - set(made))
        for path in different:
            print(f"differs: {path}", file=sys.stderr)
        sys.exit(bool(different))
    for level in LEVELS:
        shutil.rmtree(HERE / level, ignore_errors=True)
    for path, data in made.items():
        (HERE / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / path).write_bytes(data)
    print(f"{len(cases)} cases, {sum(map(len, made.values()))} bytes")


if __name__ == "__main__":
    main()
