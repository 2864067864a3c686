"""Variables of the environment. Each is read once a process, so each test has a process of its own."""

import pytest

import support

CODE = """if True:
    import numpy as np, tensogram
    values = np.arange(100_000, dtype="float32")
    keys = {"type": "ntensor", "shape": [100_000], "dtype": "float32", "compression": "szip", "szip_rsi": 16,
            "szip_block_size": 8, "szip_flags": 8}
    try:
        data = tensogram.encode({}, [(keys, values)] * 2)
        assert np.array_equal(tensogram.decode(data).objects[1][1], values)
        print("right")
    except ValueError as error:
        print("ValueError", error)
"""


@pytest.mark.parametrize("value", ["", "0", "1", "2", "  "])
def test_threads(value):
    assert support.python(CODE, TENSOGRAM_THREADS=value) == "right\n"


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "99999999999"])
def test_threads_that_are_no_number(value):
    found = support.python(CODE, TENSOGRAM_THREADS=value)
    assert found.startswith("ValueError EncodingError: ") and "invalid TENSOGRAM_THREADS value" in found


@pytest.mark.parametrize("value", ["ffi", "c", "pure", "rust", "PURE", "Ffi"])
def test_backend(value):
    assert support.python(CODE, TENSOGRAM_COMPRESSION_BACKEND=value) == "right\n"


def test_backend_of_no_use():
    found = support.python(CODE, TENSOGRAM_COMPRESSION_BACKEND="fast")
    assert "invalid TENSOGRAM_COMPRESSION_BACKEND" in found and found.startswith("ValueError")


def test_explicit_threads_do_not_ask():
    code = CODE.replace("* 2)", "* 2, threads=1)").replace("decode(data)", "decode(data, threads=2)")
    assert support.python(code, TENSOGRAM_THREADS="2") == "right\n"
