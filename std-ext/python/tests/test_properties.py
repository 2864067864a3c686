"""Round trips of whatever hypothesis thinks of."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
from hypothesis.extra import numpy as hnp

import support
import tensogram
from support import descriptor, message

hypothesis.settings.register_profile(
    "all",
    deadline=None,
    max_examples=100,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("all")

DTYPES = st.sampled_from(support.PLAIN)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=6)
ARRAYS = DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, SHAPES))
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
KEYS = TEXT.filter(lambda key: key not in ("base", "extra", "_extra_", "_reserved_"))
LOSSLESS = st.sampled_from([{}, {"compression": "zstd"}, {"compression": "lz4"}])


@hypothesis.given(st.lists(st.tuples(ARRAYS, LOSSLESS), max_size=4), st.sampled_from(["xxh3", None]))
def test_arrays(arrays, hash_):
    data = (
        message(
            *[(descriptor(a.shape, a.dtype.name, **keys), a) for a, keys in arrays],
            hash=hash_,
            allow_nan=True,
            allow_inf=True,
        )
        if arrays
        else support.bare()
    )
    found = tensogram.decode(data).objects
    assert len(found) == len(arrays)
    for (desc, out), (array, _) in zip(found, arrays):
        assert out.dtype == array.dtype and out.shape == array.shape and desc.shape == list(array.shape)
        if array.dtype.kind == "f":
            assert np.array_equal(out, array, equal_nan=True)
            finite = np.isfinite(array)
            assert out[finite].tobytes() == array[finite].tobytes()
        else:
            assert out.tobytes() == array.tobytes()
    assert not [i for i in tensogram.validate(data, "full")["issues"] if i["severity"] == "error"]


@hypothesis.given(
    st.dictionaries(KEYS, VALUES, max_size=6), st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3)
)
def test_metadata(extra, base):
    data = (
        message(*[support.pair([0])] * len(base), meta={"_extra_": extra, "base": base})
        if base
        else tensogram.encode(extra, [])
    )
    found = tensogram.decode_metadata(data)
    assert found.extra == extra
    assert [{k: v for k, v in entry.items() if k != "_reserved_"} for entry in found.base] == base
    for key, value in extra.items():
        assert key in found
        assert found.get_path(f"extra.{key}") == value or "." in key or not key


@hypothesis.given(
    st.integers(1, 300),
    st.integers(0, 32),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.sampled_from(["none", "szip", "zstd"]),
)
def test_packing(count, bits, low, width, compression):
    if compression == "szip":
        # Other widths are a matter of the corpus: the reference stores some of them wrongly.
        bits = 8 if bits < 16 else 16
    values = low + width * np.random.default_rng(count).random(count)
    keys = {"encoding": "simple_packing", "sp_bits_per_value": bits, "compression": compression}
    if compression == "szip":
        keys |= {"szip_rsi": 16, "szip_block_size": 8, "szip_flags": 8}
    data = message((descriptor([count], "float64", **keys), values))
    out = support.array_of(data)
    params = tensogram.decode_descriptors(data)[1][0].params
    if bits == 0:
        assert np.all(out == values[0])
    else:
        step = 2.0 ** params["sp_binary_scale_factor"]
        assert np.max(np.abs(out - values)) <= step * 0.5000001 + 1e-9 * (abs(low) + width)
        assert step <= 2 * (values.max() - values.min()) / (2.0**bits - 1) or step == 1
    half = count // 2
    if compression != "zstd":
        assert np.array_equal(tensogram.decode_range(data, 0, [(half, count - half)], join=True), out[half:])


@hypothesis.given(ARRAYS, st.data())
def test_ranges(array, draw):
    count = array.size
    ranges = [
        (start, draw.draw(st.integers(0, count - start)))
        for start in draw.draw(st.lists(st.integers(0, count), max_size=5))
    ]
    data = message((descriptor(array.shape, array.dtype.name), array), allow_nan=True, allow_inf=True)
    flat = support.array_of(data).ravel()
    for (start, length), part in zip(ranges, tensogram.decode_range(data, 0, ranges), strict=True):
        assert part.tobytes() == flat[start : start + length].tobytes()


@hypothesis.given(st.binary(max_size=300))
def test_bytes_that_are_no_message(data):
    for call in (tensogram.decode, tensogram.decode_metadata, tensogram.decode_descriptors):
        try:
            call(data)
        except ValueError as error:
            assert str(error)
        else:
            raise AssertionError("decoded")
    assert tensogram.scan(data) == []
    assert tensogram.validate(data)["issues"]


@hypothesis.given(st.data())
def test_torn_messages(draw):
    data = bytearray(message(support.pair(np.arange(10)), meta={"a": {"b": 1}}))
    for _ in range(draw.draw(st.integers(1, 3))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    data = bytes(data[: draw.draw(st.integers(0, len(data)))])
    for call in (
        tensogram.decode,
        tensogram.scan,
        tensogram.validate,
        tensogram.decode_metadata,
        lambda b: tensogram.decode(b, verify_hash=True),
        lambda b: tensogram.decode_range(b, 0, [(1, 3)]),
    ):
        try:
            call(data)
        except (ValueError, tensogram.IntegrityError):
            pass


@hypothesis.given(
    st.lists(st.integers(-1000, 1000), max_size=20), st.lists(st.binary(max_size=30), min_size=1, max_size=5)
)
def test_scan(values, junk):
    one = message(support.pair(values, "int32"), hash=None)
    hypothesis.assume(not any(b"TENSO" in j or b"394" in j for j in junk))
    data = b"".join(j + one for j in junk)
    assert [length for _, length in tensogram.scan(data)] == [len(one)] * len(junk)
    assert all(m.objects[0][1].tolist() == values for m in tensogram.iter_messages(data))
