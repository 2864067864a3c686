"""Every option in every call that takes options. A call or an option that is missing here is found by its signature."""

import asyncio

import numpy as np
import pytest
import tgmio as tgm

import server
import support

ORDER = ">f8"
VALUES = np.array([np.nan, 1.5, np.inf], ORDER)
REMOTE = {row["name"]: row["state"] for row in tgm.doctor()["features"]}["remote"] == "on"

# ---- Decoding --------------------------------------------------------------------------------------------------------


def opened(case):
    return tgm.TensogramFile.open(case.path)


def asynchronous(case, use):
    async def run():
        return await use(await tgm.AsyncTensogramFile.open(case.address or case.path))

    return asyncio.run(run())


def remote(case):
    return tgm.TensogramFile.open(case.address)


def first(message):
    return message.objects[0][1]


# What each call finds in the first object of a message, with options `o`. Batches are for addresses alone.
DECODING = {
    "decode": lambda c, o: first(tgm.decode(c.data, **o)),
    "decode_object": lambda c, o: tgm.decode_object(c.data, 0, **o)[2],
    "decode_with_masks": lambda c, o: first(tgm.decode_with_masks(c.data, **o)),
    "decode_range": lambda c, o: tgm.decode_range(c.data, 0, c.ranges, join=True, **o),
    "iter_messages": lambda c, o: first(next(tgm.iter_messages(c.data, **o))),
    "Message.decode": lambda c, o: first(tgm.Message(c.data).decode(**o)),
    "Object.read": lambda c, o: tgm.Message(c.data).objects[0].read(**o),
    "Object.decode": lambda c, o: tgm.Message(c.data).objects[0].decode(**o),
    "TensogramFile.decode_message": lambda c, o: first(opened(c).decode_message(0, **o)),
    "TensogramFile.file_decode_object": lambda c, o: opened(c).file_decode_object(0, 0, **o)["data"],
    "TensogramFile.file_decode_range": lambda c, o: opened(c).file_decode_range(0, 0, c.ranges, join=True, **o),
    "TensogramFile.file_decode_object_batch": lambda c, o: remote(c).file_decode_object_batch([0], 0, **o)[0]["data"],
    "TensogramFile.file_decode_range_batch": lambda c, o: remote(c).file_decode_range_batch(
        [0], 0, c.ranges, join=True, **o
    )[0],
    "AsyncTensogramFile.decode_message": lambda c, o: first(asynchronous(c, lambda f: f.decode_message(0, **o))),
    "AsyncTensogramFile.file_decode_object": lambda c, o: asynchronous(c, lambda f: f.file_decode_object(0, 0, **o))[
        "data"
    ],
    "AsyncTensogramFile.file_decode_range": lambda c, o: asynchronous(
        c, lambda f: f.file_decode_range(0, 0, c.ranges, join=True, **o)
    ),
    "AsyncTensogramFile.file_decode_object_batch": lambda c, o: asynchronous(
        c, lambda f: f.file_decode_object_batch([0], 0, **o)
    )[0]["data"],
    "AsyncTensogramFile.file_decode_range_batch": lambda c, o: asynchronous(
        c, lambda f: f.file_decode_range_batch([0], 0, c.ranges, join=True, **o)
    )[0],
}

# Calls whose values are 0 where a mask is, as it comes beside them.
ZEROS = {"decode_with_masks"}


class Case:
    """A message, a file of it, and its address, if the build reads addresses."""

    def __init__(self, folder, running, name, data):
        self.data, self.path, self.ranges = data, folder / name, [(0, 3)]
        self.path.write_bytes(data)
        self.address = running.url(name) if REMOTE else None


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    with server.serving(folder) as running:
        yield lambda name, data: Case(folder, running, name, data)


@pytest.fixture(scope="module", params=["none", "zstd"])
def case(request, place):
    data = tgm.encode({}, [({"compression": request.param}, VALUES)], allow_nan=True, allow_inf=True)
    return place(request.param, data)


def changed(data):
    """The message with another value in its payload, or `None` if the payload is compressed."""
    at = data.find(np.array([1.5], ORDER).tobytes())
    return None if at < 0 else data[:at] + np.array([2.5], ORDER).tobytes() + data[at + 8 :]


FUNCTIONS = support.public_functions()


def takers(options):
    return {name for name, taken in FUNCTIONS.items() if taken & options}


def run(name, case, **options):
    if "range" in name and "zstd" in case.path.name:
        pytest.skip("ranges are refused as the reference refuses them")
    if "_batch" in name and not REMOTE:
        pytest.skip("built without remote files")
    return DECODING[name](case, options)


def test_calls_that_decode_are_listed():
    assert takers({"native_byte_order", "restore_non_finite", "verify_hash"}) == set(DECODING)
    assert takers({"checked"}) == {"Object.read", "load"}, "test_archive checks them"


@pytest.mark.parametrize("name", DECODING)
def test_options_of_decoding(name, case):
    options = FUNCTIONS[name]
    found = run(name, case)
    assert found.dtype == np.float64 and found[1] == 1.5
    assert np.array_equal(found, [0, 1.5, 0] if name in ZEROS else VALUES, equal_nan=True)
    if "native_byte_order" in options:
        stored = run(name, case, native_byte_order=False)
        assert np.frombuffer(stored.tobytes(), ORDER)[1] == 1.5
        assert np.frombuffer(run(name, case, native_byte_order=True).tobytes(), "=f8")[1] == 1.5
    if "restore_non_finite" in options:
        assert run(name, case, restore_non_finite=False).tolist() == [0, 1.5, 0]
        assert np.array_equal(run(name, case, restore_non_finite=True), VALUES, equal_nan=True)
    if "threads" in options:
        assert run(name, case, threads=2).tobytes() == found.tobytes()


@pytest.mark.parametrize("name", sorted(takers({"verify_hash"})))
def test_digests_are_checked_when_asked(name, place):
    data = tgm.encode({}, [(None, VALUES)], allow_nan=True, allow_inf=True)
    bad = place("bad", changed(data))
    assert run(name, bad, verify_hash=False)[1] == 2.5 == run(name, bad)[1]
    with pytest.raises(tgm.HashMismatchError):
        run(name, bad, verify_hash=True)
    without = place("without", tgm.encode({}, [(None, VALUES)], hash=None, allow_nan=True, allow_inf=True))
    with pytest.raises(tgm.MissingHashError):
        run(name, without, verify_hash=True)


@pytest.mark.parametrize("name", [name for name in DECODING if "range" not in name])
@pytest.mark.parametrize("dtype", ["float64", "bitmask"])
def test_no_memory_is_taken_for_what_a_message_claims(name, dtype, place):
    descriptor = {"type": "ntensor", "shape": [2**40, 0], "dtype": dtype, "compression": "zstd"}
    data = tgm.encode({}, [(descriptor, b"")], hash=None)
    # Its shape in CBOR, without the zero.
    shape = b"\x82\x1b" + (2**40).to_bytes(8, "big")
    assert shape + b"\x00" in data
    data = data.replace(shape + b"\x00", shape + b"\x01")
    with pytest.raises(ValueError, match="object decodes to .* bytes, more than"):
        run(name, place("claim_" + dtype, data))


@pytest.mark.parametrize("name", [name for name in DECODING if "range" in name])
def test_ranges_together_have_a_limit(name, place):
    case = place("ranges", tgm.encode({}, [(None, np.zeros(2**17))]))
    case.ranges = [(0, 2**17)] * (2**14 + 1)
    with pytest.raises(ValueError, match="more than"):
        run(name, case)


# ---- Encoding --------------------------------------------------------------------------------------------------------


def streamed(pairs, options):
    stream = tgm.StreamingEncoder({}, **options)
    for descriptor, values in pairs:
        stream.write_object(descriptor, values)
    return stream.finish()


def appended(pairs, options, path):
    path.unlink(missing_ok=True)
    tgm.TensogramFile.create(path).append({}, pairs, **options)
    return path.read_bytes()


def written(pairs, options, path):
    with tgm.Writer(path, **{"allow_nan": False, "allow_inf": False, **options}) as writer:
        for descriptor, values in pairs:
            writer.object(values, encoding=descriptor)
    return path.read_bytes()


def packed(pairs, options):
    return tgm.encode_pre_encoded({}, [(descriptor, values.tobytes()) for descriptor, values in pairs], **options)


ENCODING = {
    "encode": lambda pairs, options, path: tgm.encode({}, pairs, **options),
    "encode_pre_encoded": lambda pairs, options, path: packed(pairs, options),
    "StreamingEncoder": lambda pairs, options, path: streamed(pairs, options),
    "TensogramFile.append": appended,
    "Writer": written,
}

METHODS = ["rle", "roaring", "lz4", "zstd"]


def descriptor(values):
    return {"type": "ntensor", "shape": [len(values)], "dtype": "float64", "byte_order": "big"}


def test_calls_that_encode_are_listed():
    options = {"hash", "allow_nan", "allow_inf", "aggregate_hash", "small_mask_threshold_bytes"}
    listed = takers(options | {f"{kind}_mask_method" for kind in ("nan", "pos_inf", "neg_inf")})
    assert {name for name in listed if not name.startswith("convert_")} == set(ENCODING)


@pytest.mark.parametrize("name", ENCODING)
def test_options_of_encoding(name, tmp_path):
    def made(values, **options):
        return ENCODING[name]([(descriptor(values), values.astype(">f8"))], options, tmp_path / "x.tgm")

    options, plain = FUNCTIONS[name], np.arange(4.0)
    with pytest.raises(tgm.MissingHashError):
        tgm.decode(made(plain, hash=None), verify_hash=True)
    for hash in ({}, {"hash": "xxh3"}):
        assert first(tgm.decode(made(plain, **hash), verify_hash=True)).tolist() == plain.tolist()
    assert made(plain, threads=2) and first(tgm.decode(made(plain, threads=2))).tolist() == plain.tolist()
    for allow, kinds in {"allow_nan": {"nan"}, "allow_inf": {"inf+", "inf-"}}.items():
        if allow not in options:
            continue
        values = np.tile([np.nan, 1, 2] if kinds == {"nan"} else [np.inf, -np.inf, 1], 2000)
        with pytest.raises(ValueError, match=allow):
            made(values)
        data = made(values, **{allow: True})
        assert np.array_equal(first(tgm.decode(data)), values, equal_nan=True)
        assert set(tgm.decode_with_masks(data).objects[0][2]) == kinds
        for kind, option in {"nan": "nan", "inf+": "pos_inf", "inf-": "neg_inf"}.items():
            if kind not in kinds or f"{option}_mask_method" not in options:
                continue
            for method in METHODS:
                made_by = made(values, **{allow: True, f"{option}_mask_method": method})
                assert np.array_equal(first(tgm.decode(made_by)), values, equal_nan=True)
                assert method.encode() in made_by, (option, method)
            small = made(values, **{allow: True, f"{option}_mask_method": "zstd"}, small_mask_threshold_bytes=2**20)
            assert b"zstd" not in small and b"zstd" in made(
                values, **{allow: True, f"{option}_mask_method": "zstd"}, small_mask_threshold_bytes=0
            )
    if "aggregate_hash" in options:
        with pytest.raises(ValueError, match="aggregate_hash"):
            made(plain, aggregate_hash="nosuch")
        assert made(plain, aggregate_hash="none") != made(plain, aggregate_hash="footer")
