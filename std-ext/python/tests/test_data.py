"""The repository's corpus, `tests/data`: each file against its sidecar. Their form is in `tests/data/README.md`."""

import hashlib
import json
import math

import numpy as np
import pytest

import support
import tensogram


def cases(*classes):
    """Parameters: (path, sidecar) of the files of these classes."""
    found = []
    for path in sorted(support.DATA.rglob("*.json")):
        sidecar = json.loads(path.read_text())
        if isinstance(sidecar, dict) and sidecar.get("class") in classes:
            name = str(path.relative_to(support.DATA).with_suffix(""))
            found.append(pytest.param(path.with_suffix(".tgm"), sidecar, id=name))
    return found


# Where we differ from the recorded results on purpose.
DELIBERATE = {
    "frames are found also if they are not at the next multiple of 8": [
        "padding-extra64",
        "padding-extra8",
        "padding-none",
    ],
    "of repeated keys the last one counts": ["duplicate-base", "duplicate-top"],
    "slots of 0.17 to 0.20 hold digests though no frame says so": ["flag-clear-slots-right"],
}


def differs(path):
    """True if we differ from the record of this file on purpose."""
    return not support.REFERENCE and any(path.stem in names for names in DELIBERATE.values())


def is_old(message):
    """True if the message is of 0.17 to 0.20: digests in all slots, and no frame that says so."""
    wire = message["wire"]
    return bool(wire["flags"] & 0x80) and not any(frame["flags"] & 2 for frame in wire["frames"])


def test_there_are_cases():
    assert len(cases("valid")) > 400 and len(cases("malformed")) > 300


def stored(array):
    """The bytes of the elements, little-endian."""
    if array.dtype.kind == "V" or array.dtype.name == "bfloat16":
        return array.tobytes()
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def form(value):
    """The value as sidecars write it: what JSON lacks has a form there."""
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: form(v) for key, v in value.items()}
        return {"$pairs": [[form(key), form(v)] for key, v in value.items()]}
    if isinstance(value, list):
        return [form(v) for v in value]
    return value


def check_objects(objects, expected):
    assert len(objects) == len(expected)
    for (descriptor, array), sidecar in zip(objects, expected):
        decoded = sidecar.get("decoded")
        if decoded and "sha256" in decoded:
            data = stored(array)
            assert len(data) == decoded["nbytes"] and digest(data) == decoded["sha256"]
        if decoded and "np_shape" in decoded and descriptor.dtype != "bitmask":
            assert list(array.shape) == decoded["np_shape"]
        wanted = sidecar.get("descriptor")
        if wanted and "params" in wanted:
            assert descriptor.obj_type == wanted["type"] and form(descriptor.params) == wanted["params"]
            for name in ("ndim", "shape", "strides", "dtype", "byte_order", "encoding", "filter", "compression"):
                assert getattr(descriptor, name) == wanted[name], name


def check_ranges(data, sidecar):
    for case in sidecar.get("ranges", []):
        if support.REFERENCE and "reference_wrong" in case:
            continue
        ranges = [tuple(r) for r in case["ranges"]]
        if "error" in case:
            # Codecs that the reference cannot cut may be cut by others; bitmasks have no ranges at all.
            if support.REFERENCE or "bitmask" in json.dumps(case["error"]):
                with pytest.raises(ValueError):
                    tensogram.decode_range(data, case["object"], ranges)
            continue
        parts = tensogram.decode_range(data, case["object"], ranges)
        assert [part.nbytes for part in parts] == case["parts"]
        assert digest(b"".join(map(stored, parts))) == case["sha256"]
        joined = tensogram.decode_range(data, case["object"], ranges, join=True)
        assert digest(stored(joined)) == case["sha256"]


def check_masks(data, sidecar):
    if not any("masks" in o.get("decoded", {}) for o in sidecar["objects"]):
        return
    for (descriptor, _, masks), expected in zip(tensogram.decode_with_masks(data).objects, sidecar["objects"]):
        wanted = expected.get("decoded", {}).get("masks", {})
        if descriptor.dtype == "bitmask":
            continue
        assert sorted(masks) == sorted(wanted)
        for name, mask in masks.items():
            assert int(mask.sum()) == wanted[name]["count"]
            assert digest(np.packbits(mask).tobytes()) == wanted[name]["sha256_packed_msb"]


def check_metadata(metadata, wanted):
    assert metadata.version == wanted["version"]
    assert form(metadata.extra) == wanted["extra"]
    assert form(metadata.base) == wanted["base"] and form(metadata.reserved) == wanted["reserved"]


def check_validation(data, sidecar):
    report = tensogram.validate(data)
    wanted = sidecar["validate_default"]
    if not support.REFERENCE and is_old(sidecar):
        wanted = {**wanted, "issues": [i for i in wanted["issues"] if i[2] != "hash_verification_error"]}
        errors = [i for i in wanted["issues"] if i[0] == "error"]
        wanted["hash_verified"] = not errors and wanted["object_count"] > 0
    assert report["hash_verified"] == wanted["hash_verified"] and report["object_count"] == wanted["object_count"]
    errors = sorted({i["code"] for i in report["issues"] if i["severity"] == "error"})
    assert errors == sorted({i[2] for i in wanted["issues"] if i[0] == "error"})


@pytest.mark.parametrize("path, sidecar", cases("valid"))
def test_valid(path, sidecar):
    if support.REFERENCE and "truth" in json.dumps(sidecar):
        pytest.skip("the reference is wrong here")
    file = path.read_bytes()
    assert [list(place) for place in tensogram.scan(file)] == sidecar["scan"] or "truth" in json.dumps(sidecar)
    for message in sidecar["messages"]:
        if "fresh_process_decode" in message and support.REFERENCE:
            continue
        data = file[message["offset"] : message["offset"] + message["length"]]
        if message["decode"]["result"] != "ok":
            objects = message.get("truth", {}).get("objects")
            if objects:
                check_objects(tensogram.decode(data).objects, objects)
            continue
        found = tensogram.decode(data)
        if not sidecar.get("compacted") and not message.get("compacted"):
            check_objects(found.objects, message["objects"])
            if "metadata" in message:
                check_metadata(found.metadata, message["metadata"])
                header = message.get("decode_metadata", {"result": "ok", "value": message["metadata"]})
                if header["result"] == "ok":
                    check_metadata(tensogram.decode_metadata(data), header["value"])
        check_ranges(data, message)
        if not message.get("compacted"):
            check_masks(data, message)
            for j, expected in enumerate(message["objects"]):
                decoded = expected.get("decoded", {})
                if "sha256_wire_byte_order" in decoded:
                    assert (
                        digest(tensogram.decode_object(data, j, native_byte_order=False)[2].tobytes())
                        == decoded["sha256_wire_byte_order"]
                    )
                if "sha256_not_restored" in decoded:
                    assert (
                        digest(stored(tensogram.decode_object(data, j, restore_non_finite=False)[2]))
                        == decoded["sha256_not_restored"]
                    )
        verify = message.get("hash_verify")
        if verify and (verify["expected"] or (not support.REFERENCE and is_old(message))):
            tensogram.decode(data, verify_hash=True)
        elif verify:
            with pytest.raises(getattr(tensogram, verify["error_class"], ValueError)) as caught:
                tensogram.decode(data, verify_hash=True)
            assert str(caught.value).split(";")[0] == verify["message"].split(";")[0]
        if not differs(path) and "validate_default" in message and isinstance(message["validate_default"], dict):
            check_validation(data, message)


@pytest.mark.parametrize("path, sidecar", cases("valid"))
def test_valid_as_a_file(path, sidecar):
    if "truth" in json.dumps(sidecar) or "file_open" in sidecar:
        pytest.skip("the count of messages is another question here")
    file = tensogram.TensogramFile.open(str(path))
    assert len(file) == len(sidecar["messages"])
    for i, message in enumerate(sidecar["messages"]):
        if message["decode"]["result"] == "ok" and not (support.REFERENCE and "fresh_process_decode" in message):
            assert len(file.read_message(i)) == message["length"]
            assert len(file.file_decode_descriptors(i)["descriptors"]) == len(file[i].objects)


def sane(call):
    """Calls, and tells the error if there is one. Only the classes of the module's errors may come out."""
    try:
        call()
    except (ValueError, tensogram.IntegrityError) as error:
        return error
    return None


@pytest.mark.parametrize("path, sidecar", cases("malformed"))
def test_malformed(path, sidecar):
    if support.REFERENCE and (
        not sidecar["reference_agrees_with_spec"] or "reference_crash" in sidecar or "peak_rss_growth_mib" in sidecar
    ):
        pytest.skip("the reference is wrong here")
    data = path.read_bytes()
    verdict = "either" if differs(path) else sidecar["spec"]["verdict"]
    if verdict != "either" or not support.REFERENCE:
        error = sane(lambda: tensogram.decode(data))
        verified = sane(lambda: tensogram.decode(data, verify_hash=True))
        if verdict == "reject":
            # A scan may find nothing where a decode fails, and messages after the first are not looked at.
            assert error is not None or len(tensogram.scan(data)) != 1
        elif verdict == "reject-verify":
            assert verified is not None
            assert error is None
        elif verdict == "accept":
            assert error is None
        for call in (
            lambda: tensogram.validate(data, "full"),
            lambda: tensogram.scan(data),
            lambda: tensogram.decode_metadata(data),
            lambda: tensogram.decode_descriptors(data),
            lambda: tensogram.decode_object(data, 0),
            lambda: tensogram.decode_range(data, 0, [(0, 1)]),
            lambda: tensogram.decode_with_masks(data),
            lambda: list(tensogram.iter_messages(data)),
            lambda: tensogram.TensogramFile.open(str(path)).messages(),
        ):
            sane(call)


@pytest.mark.parametrize("path, sidecar", cases("lenient", "quirk", "legacy"))
def test_decoded_or_refused(path, sidecar):
    if not support.REFERENCE:
        data = path.read_bytes()
        sane(lambda: tensogram.decode(data))
        sane(lambda: tensogram.validate(data, "full"))


@pytest.mark.parametrize("path, sidecar", cases("v2"))
def test_version_2(path, sidecar):
    """Refused with the version's number, or decoded as the release that wrote it did."""
    data = path.read_bytes()
    try:
        found = tensogram.decode(data)
    except ValueError as error:
        assert str(error).startswith("FramingError: ") and "version 2" in str(error)
    else:
        assert not support.REFERENCE
        wanted = sidecar["decoded_by_producer"][0]["objects"]
        assert [digest(stored(array)) for _, array in found.objects] == [o["sha256"] for o in wanted]
