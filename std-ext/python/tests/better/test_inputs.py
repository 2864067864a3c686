"""What programs give as arrays and as metadata: it is stored exactly, or an error says where it is and what to give."""

import collections
import copy
import datetime
import decimal
import fractions
import gzip
import io
import pathlib
import pickle
import sys
import tempfile
import types
import zipfile

import numpy as np
import pytest

import tgmio as tgm


def stored(array, **options):
    file = io.BytesIO()
    tgm.save(file, {"x": array}, **options)
    return tgm.load(file)["x"]


class Interface:
    """Has numpy's oldest protocol alone."""

    @property
    def __array_interface__(self):
        return np.arange(3.0).__array_interface__


class Exchanged:
    """Has DLPack alone, as arrays of some libraries do."""

    def __dlpack__(self, **options):
        return np.arange(3.0).__dlpack__(**options)

    def __dlpack_device__(self):
        return np.arange(3.0).__dlpack_device__()


class Masked:
    def __array__(self, dtype=None, copy=None):
        return np.ma.array([0.0, 1.0, 2.0], mask=[0, 1, 0])


class OldMasked(Masked):
    def __array__(self, dtype=None, copy=None):
        return np.ma.array([0, 1, 2], mask=[0, 1, 0])


# Each way in which an array comes in.
ROUTES = {
    "save": lambda array: stored(array),
    "save encoded": lambda array: stored(array, encoding=tgm.Encoding(compression="zstd")),
    "encode": lambda array: tgm.decode(tgm.encode({}, [(None, array)])).objects[0][1],
    "encode dict": lambda array: tgm.decode(tgm.encode({}, [({"compression": "zstd"}, array)])).objects[0][1],
    "stream": lambda array: streamed(array),
}


def streamed(array):
    encoder = tgm.StreamingEncoder({})
    encoder.write_object(None, array)
    return tgm.decode(encoder.finish()).objects[0][1]


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("source", [Interface, Exchanged])
def test_array_of_another_library(route, source):
    found = route(source())
    assert found.dtype == "float64" and found.tolist() == [0, 1, 2]


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_tensor_of_bfloat16_of_torch(route, monkeypatch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(4).astype(ml_dtypes.bfloat16)

    class Tensor:
        """As torch's: numpy has no such type, so that the array is refused; views of its bits are not."""

        dtype = "torch.bfloat16"

        def __array__(self, *_, **__):
            raise TypeError("Got unsupported ScalarType BFloat16")

        def detach(self):
            return self

        def view(self, dtype):
            assert dtype == "torch.int16"
            return values.view("int16")

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(int16="torch.int16"))
    found = route(Tensor())
    assert found.dtype == values.dtype and (found == values).all()


def test_gaps_of_another_library():
    assert np.isnan(stored(Masked())).tolist() == [False, True, False]
    with pytest.raises(ValueError, match=r"give \.filled\(value\)"):
        stored(OldMasked())


REFUSED = {
    "datetime64": (np.array(["2020-01-01"], "M8[ns]"), r"got ndarray of dtype datetime64\[ns\]\): give \.view\('int64'\)"),
    "timedelta64": (np.array([1], "m8[s]"), r"give \.view\('int64'\)"),
    "long double": (np.arange(2, dtype="g"), r"give \.astype\('float64'\)"),
    "text": (np.array(["a"]), "give text as metadata"),
    "one text": (np.array("a"), "give text as metadata"),
    "byte strings": (np.array([b"a"]), "give text as metadata"),
    "fields": (np.zeros(2, [("a", "f4")]), "an object for each field"),
    "objects": (np.array([None, 1.5], object), r"dtype object\): give \.astype"),
    "one object": (np.array(None), r"dtype object\): give \.astype"),
    "a great integer": (np.array(2**70), r"dtype object\): give \.astype"),
    "a set": (np.array({1}), r"dtype object\): give \.astype"),
    "void": (np.zeros(2, "V4"), r"give \.view\('uint8'\)"),
}


@pytest.mark.parametrize("array, words", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("route", [ROUTES["encode"], ROUTES["stream"], ROUTES["save"]], ids=["encode", "stream", "save"])
def test_refused_array(route, array, words):
    with pytest.raises(ValueError, match="data must be a numpy array or bytes .*" + words):
        route(array)


def test_refused_value():
    for value in (2**70, None, {1}, datetime.datetime(2020, 1, 1), decimal.Decimal(1)):
        with pytest.raises(ValueError, match="data must be a numpy array or bytes .*of dtype object"):
            stored(value)


def test_bytes_need_a_descriptor():
    with pytest.raises(TypeError, match="bytes need a descriptor"):
        stored(b"abcd")


def kept(value):
    return tgm.decode_metadata(tgm.encode({"x": value}, []))["x"]


def test_arrays_in_metadata():
    assert kept(np.arange(3)) == [0, 1, 2]
    assert kept(np.float32([[0.1, 2]])) == [[float(np.float32(0.1)), 2.0]]
    assert kept(np.array([True])) == [True] and kept(np.array(["a", "ä"])) == ["a", "ä"]
    assert kept({"flag_values": np.array([1, 2], "i1")}) == {"flag_values": [1, 2]}
    assert kept(np.array([2**64 - 1], "u8")) == [2**64 - 1] and kept(np.zeros(0)) == []


UNFIT = {
    "decimal": (decimal.Decimal("0.1"), r"x: cannot convert Decimal to CBOR: 0\.1 is not a float of 64 bits"),
    "fraction": (fractions.Fraction(1, 3), r"x: .*1/3 is not a float of 64 bits: give float\(value\)"),
    "masked": (np.ma.masked, "x: cannot convert MaskedConstant to CBOR"),
    "time": ({"a": [1, {"b": np.datetime64("2020")}]}, r"x\.a\[1\]\.b: cannot convert datetime64 to CBOR"),
    "times": ({"a": np.array(["2020"], "M8[s]")}, r"x\.a: cannot convert ndarray to CBOR: give a list, or text"),
    "date": ([datetime.date(2020, 1, 1)], r"x\[0\]: cannot convert date to CBOR: give value\.isoformat\(\)"),
    "set": ({"a b": {1}}, r"x\.a b: cannot convert set to CBOR: give list\(value\)"),
    "path": ({1: pathlib.Path("a")}, r"x\.1: cannot convert PosixPath to CBOR: give str\(value\)"),
    "deque": (collections.deque(), r"x: cannot convert deque to CBOR: give list\(value\)"),
    "class": (int, "x: cannot convert type to CBOR$"),
}


@pytest.mark.filterwarnings("ignore:converting a masked element")
@pytest.mark.parametrize("value, words", UNFIT.values(), ids=UNFIT)
def test_error_names_the_place_in_metadata(value, words):
    with pytest.raises(ValueError, match=words):
        kept(value)
    array = np.zeros(1)
    for meta, place in (({"base": [{}, {"x": value}]}, r"base\[1\]\."), ({"_extra_": {"x": value}}, "")):
        with pytest.raises(ValueError, match="^" + place + words):
            tgm.encode(meta, [(None, array), (None, array)])
    with tgm.Writer(io.BytesIO()) as writer, pytest.raises(ValueError, match="^" + words):
        writer.object(array, metadata={"x": value})


def test_integers_and_depth_name_the_place():
    with pytest.raises(OverflowError, match=r"^x\[1\]: an integer of metadata has up to 64 bits"):
        kept([0, 2**64])
    deep = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(RecursionError, match=r"^x(\[0\]){8}…: metadata is nested"):
        kept(deep)


def test_errors_of_programs_stay():
    class Mine(ValueError):
        pass

    class Bad(collections.UserDict):
        def items(self):
            raise Mine("mine")

    with pytest.raises(Mine, match="^mine$"):
        kept({"a": Bad()})


WRONG = [
    ({"bits": 3.5}, TypeError, "bits is an integer, not 3.5"),
    ({"bits": True}, TypeError, "bits is an integer, not True"),
    ({"within": "a"}, TypeError, "within is a number, not 'a'"),
    ({"compression": "zstd", "level": 99}, ValueError, "levels of zstd are 1 to 22, not 99"),
    ({"compression": "blosc2", "level": 10}, ValueError, "levels of blosc2 are 0 to 9, not 10"),
    ({"compression": "zfp", "rate": -1}, ValueError, "rate is a positive number"),
    ({"compression": "zfp", "precision": 1.5}, TypeError, "precision is an integer"),
]


@pytest.mark.parametrize("arguments, error, words", WRONG, ids=lambda each: str(each))
def test_arguments_of_an_encoding(arguments, error, words):
    with pytest.raises(error, match=words):
        tgm.Encoding(**arguments)


@pytest.mark.parametrize("values", [[5e-324, 1e308], [-1.7e308, 1.7e308], [0, 1.79e308]])
def test_values_too_far_apart_to_be_packed(values):
    with pytest.raises(ValueError, match="no number of bits keeps"):
        tgm.Encoding(within=0.01).descriptor(np.array(values))


def test_a_file_within_a_file(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    message = tgm.encode({}, [(None, np.arange(3.0))])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("x.tgm", message)
    address = f"zip://x.tgm::file://{tmp_path}/a.zip"
    for source in (address, f"zip://x.tgm::{tmp_path}/a.zip", fsspec.open(address)):
        archive = tgm.open(source)
        assert archive[0].objects[0].read().tolist() == [0, 1, 2]
    with gzip.open(tmp_path / "b.tgm.gz", "wb") as file:
        file.write(message)
    assert len(tgm.open(fsspec.open(str(tmp_path / "b.tgm.gz"), compression="infer"))) == 1
    for number, target in enumerate((fsspec.open(f"{tmp_path}/c0.gz", "wb", compression="gzip"), f"local://{tmp_path}/c1")):
        tgm.save(target, np.arange(4))
        opened = {"compression": "gzip"} if number == 0 else {}
        assert tgm.load(fsspec.open(f"{tmp_path}/c{number}{'.gz' * (number == 0)}", **opened))[0].tolist() == [0, 1, 2, 3]
    archive = tgm.open(address)
    assert len(pickle.loads(pickle.dumps(archive))) == 1 and len(copy.deepcopy(archive)) == 1


def test_files_without_a_name_are_shown_by_their_class():
    message = tgm.encode({}, [(None, np.arange(3.0))])
    with tempfile.SpooledTemporaryFile() as file:
        file.write(message)
        assert repr(tgm.open(file)).startswith("Archive('SpooledTemporaryFile'")


def test_error_names_each_dtype_once():
    for dtype, known in (("float64", "float32 or float64"), ("int16", "int16, float32 or float64"), ("bool", "bool")):
        archive = tgm.open(tgm.encode({}, [(None, np.zeros(3, dtype))]))
        with pytest.raises(ValueError, match=f"can be read as {known}, not as int8"):
            archive[0].objects[0].read(dtype="int8")


FIELD = {"mars": {"param": "2t", "levelist": 500}, "step": 6, 'a.b': {"c": 1}}
MEANT = {
    "parm=2t": r"no key parm; did you mean mars\.param\?",
    "Step=7": r"no key Step; did you mean step\?",
    "mars.parm=2t and step=6": r"no key mars\.parm; did you mean mars\.param\?",
    "runs=1": r"no key runs; did you mean run\?",
}


@pytest.mark.parametrize("query, words", MEANT.items())
def test_a_key_that_is_written_otherwise(query, words):
    archive = tgm.open(tgm.encode({"base": [{}, FIELD], "run": 7}, [(None, np.zeros(1)), (None, np.zeros(1))]) * 2)
    for asked in (archive, archive[0]):
        with pytest.warns(UserWarning, match=words) as told:
            assert asked.query(query) == []
        assert len(told) == 1 and told[0].filename == __file__


def test_no_warning_without_a_mistake():
    archive = tgm.open(tgm.encode({"base": [{}, FIELD], "run": 7}, [(None, np.zeros(1)), (None, np.zeros(1))]))
    for query in ("step=7", "mars.param=tp", "dtype=int8", "elsewhere=1", "a.b.c=2", '"a.b".c=2', "extra.run=8", "objects=9"):
        for asked in (archive, archive[0]):
            assert asked.query(query) == []
