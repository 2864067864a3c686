"""The descriptor dict: keys, defaults, params, the warning about misplaced keys."""

import pathlib
import warnings

import numpy as np
import pytest

import support
import tensogram
from support import descriptor, message


def encode(keys, data=None):
    return tensogram.encode({}, [(keys, np.zeros(4, "float32") if data is None else data)])


def decoded(keys, data=None):
    return tensogram.decode_descriptors(encode(keys, data))[1][0]


D = {"type": "ntensor", "shape": [4], "dtype": "float32"}


@pytest.mark.parametrize("key", ["type", "shape", "dtype"])
@pytest.mark.parametrize("data", [np.zeros(4, "float32"), bytes(16)], ids=["array", "bytes"])
def test_required_key(key, data):
    with pytest.raises(ValueError, match=f"descriptor missing '{key}'"):
        encode({k: v for k, v in D.items() if k != key}, data)


def test_any_type():
    assert decoded({**D, "type": "something else"}).obj_type == "something else"


@pytest.mark.parametrize("value", [None, 1, b"ntensor"])
def test_type_must_be_text(value):
    with pytest.raises(TypeError):
        encode({**D, "type": value})


@pytest.mark.parametrize("shape", [[4], (4,), np.array([4]), [np.int64(4)], [2, 2], [1, 4, 1]], ids=repr)
def test_shape(shape):
    assert decoded({**D, "shape": shape}).shape == [int(n) for n in shape]


@pytest.mark.parametrize(
    "shape, error",
    [
        (4, TypeError),
        (None, TypeError),
        ([4.0], TypeError),
        (["4"], TypeError),
        ([-4], OverflowError),
        ([2**64], OverflowError),
    ],
    ids=repr,
)
def test_wrong_shape(shape, error):
    with pytest.raises(error):
        encode({**D, "shape": shape})


@pytest.mark.parametrize("shape", [[2**32, 2**32], [2**63, 2]])
def test_shape_too_large(shape):
    with pytest.raises(ValueError, match="overflow"):
        encode({**D, "shape": shape})


@pytest.mark.parametrize("dtype", support.WIDTHS)
def test_dtype(dtype):
    assert decoded({**D, "dtype": dtype}, bytes(4 * support.WIDTHS[dtype])).dtype == dtype


@pytest.mark.parametrize("dtype", ["", "f4", "Float32", "float128", "bool", "int4"])
def test_unknown_dtype(dtype):
    with pytest.raises(ValueError, match="unknown dtype"):
        encode({**D, "dtype": dtype})


@pytest.mark.parametrize("dtype", [None, 1])
def test_dtype_must_be_text(dtype):
    with pytest.raises(TypeError):
        encode({**D, "dtype": dtype})


@pytest.mark.parametrize("shape, strides", [([], []), ([4], [1]), ([2, 2], [2, 1]), ([1, 4, 1], [4, 1, 1])])
def test_default_strides_count_elements(shape, strides):
    assert decoded({**D, "shape": shape}, np.zeros(shape, "float32")).strides == strides


def test_strides_are_not_checked():
    assert decoded({**D, "strides": [7]}).strides == [7]


@pytest.mark.parametrize("strides", [[], [1, 1]])
def test_number_of_strides(strides):
    with pytest.raises(ValueError, match=r"strides\.len\(\)"):
        encode({**D, "strides": strides})


@pytest.mark.parametrize("order", ["little", "big"])
def test_byte_order(order):
    assert decoded({**D, "byte_order": order}).byte_order == order


def test_native_byte_order_is_the_default():
    assert decoded(D).byte_order == "little"


@pytest.mark.parametrize("order", ["", "LITTLE", "native", ">"])
def test_unknown_byte_order(order):
    with pytest.raises(ValueError, match="unknown byte_order"):
        encode({**D, "byte_order": order})


def test_byte_order_must_be_text():
    with pytest.raises(TypeError):
        encode({**D, "byte_order": None})


def test_big_byte_order_does_not_swap_bytes():
    data = encode({**D, "byte_order": "big"}, np.array([1, 2, 3, 4], ">f4").tobytes())
    assert support.array_of(data).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("key", ["encoding", "filter", "compression"])
@pytest.mark.parametrize("value", ["", "gzip", "None", "ZSTD"])
def test_unknown_stage(key, value):
    with pytest.raises(ValueError, match=f"^EncodingError: .*unknown {key}: {value}"):
        encode({**D, key: value})


@pytest.mark.parametrize("key", ["encoding", "filter", "compression"])
def test_default_stage(key):
    assert getattr(decoded(D), key) == "none"
    assert getattr(decoded({**D, key: "none"}), key) == "none"


def test_ignored_keys():
    found = decoded({**D, "ndim": 7, "hash": {"type": "md5"}})
    assert found.ndim == 1 and found.hash is None and found.params == {}


def test_other_keys_become_params():
    params = {"a": 1, "b": "text", "c": [1, 2.5, None], "d": {"e": True}, "params": {"f": 1}}
    assert decoded({**D, **params}).params == params


def test_params_of_no_use():
    with pytest.raises(ValueError, match="cannot convert .* to CBOR"):
        encode({**D, "a": object()})


def test_keys_must_be_text():
    with pytest.raises(TypeError):
        encode({**D, 1: 2})


@pytest.mark.parametrize("value", [7, "x", [], {"nan": 1}, {"nan": {"method": "rle"}}])
def test_masks_are_reserved(value):
    with pytest.raises(ValueError, match="^MetadataError: "):
        decoded({**D, "masks": value})


@pytest.mark.parametrize("value", [None, {}])
def test_masks_that_are_none(value):
    assert "masks" not in decoded({**D, "masks": value}).params


def test_subclass_of_dict():
    class Mine(dict):
        pass

    assert decoded(Mine(D)).shape == [4]


class TestMisplacedKeys:
    """Keys that belong to the metadata of the object: one UserWarning a descriptor."""

    KEYS = "name param shortName long_name description units dim_names mars cf product instrument".split()

    def writers(self, tmp_path):
        file = tensogram.TensogramFile.create(str(tmp_path / "w.tgm"))
        payload = bytes(16)
        yield lambda d: tensogram.encode({}, [(d, payload)])
        yield lambda d: tensogram.encode_pre_encoded({}, [(d, payload)])
        yield lambda d: file.append({}, [(d, payload)])
        yield lambda d: tensogram.StreamingEncoder({}).write_object(d, payload)
        yield lambda d: tensogram.StreamingEncoder({}).write_object_pre_encoded(d, payload)

    @pytest.mark.parametrize("key", KEYS)
    def test_each_key(self, key):
        with pytest.warns(UserWarning, match=f"'{key}'") as caught:
            found = decoded({**D, key: "x"})
        assert len(caught) == 1
        assert "meta['base'][" in str(caught[0].message)
        assert found.params == {key: "x"}

    def test_keys_are_listed(self):
        with pytest.warns(UserWarning, match="'name', 'mars'"):
            encode({**D, "name": "x", "mars": {}})

    def test_each_writer_blames_its_caller(self, tmp_path):
        for write in self.writers(tmp_path):
            with pytest.warns(UserWarning, match="'units'") as caught:
                write({**D, "units": "K"})
            assert len(caught) == 1
            assert pathlib.Path(caught[0].filename).name == pathlib.Path(__file__).name

    def test_one_warning_a_descriptor(self):
        pairs = [({**D, "units": "K", "name": "t"}, bytes(16))] * 2 + [(D, bytes(16))]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tensogram.encode({}, pairs)
        assert len(caught) == 2

    def test_codec_keys_and_others_do_not_warn(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            encode({**D, "compression": "zstd", "zstd_level": 3, "anything": 1})

    def test_warning_as_error_writes_nothing(self, tmp_path):
        path = tmp_path / "x.tgm"
        file = tensogram.TensogramFile.create(str(path))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning):
                file.append({}, [({**D, "units": "K"}, bytes(16))])
        assert path.stat().st_size == 0

    def test_warning_may_be_off(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            encode({**D, "units": "K"})
        assert caught == []


class TestDescriptor:
    """DataObjectDescriptor."""

    def test_attributes(self):
        found = decoded({**D, "shape": [2, 2], "compression": "zstd", "note": "x"})
        assert (found.obj_type, found.ndim, found.shape, found.strides, found.dtype) == (
            "ntensor",
            2,
            [2, 2],
            [2, 1],
            "float32",
        )
        assert (found.byte_order, found.encoding, found.filter, found.compression) == ("little", "none", "none", "zstd")
        assert found.params == {"note": "x"} and found.hash is None
        assert not hasattr(found, "type") and not hasattr(found, "masks")

    def test_params_is_a_fresh_dict(self):
        found = decoded({**D, "note": "x"})
        found.params["note"] = "y"
        found.params.clear()
        assert found.params == {"note": "x"}
        assert type(found.params) is dict and type(found.shape) is list and type(found.strides) is list

    def test_attributes_are_read_only(self):
        found = decoded(D)
        for name in ("obj_type", "ndim", "shape", "dtype", "params", "hash", "compression"):
            with pytest.raises(AttributeError):
                setattr(found, name, None)

    def test_repr(self):
        assert repr(decoded(D)) == (
            "DataObjectDescriptor(type='ntensor', shape=[4], dtype='float32', encoding='none', compression='none')"
        )

    def test_params_of_szip(self):
        keys = descriptor([5000], **support.LOSSLESS["szip"])
        offsets = decoded(keys, np.arange(5000, dtype="float32")).params["szip_block_offsets"]
        assert type(offsets) is list and offsets == sorted(set(offsets)) and offsets[0] == 0
        assert all(type(n) is int for n in offsets)

    @pytest.mark.better
    def test_equality_and_hash(self):
        a, b = decoded({**D, "note": 1}), decoded({**D, "note": 1})
        assert a == b and a != decoded(D)

    @pytest.mark.better
    def test_to_dict(self):
        found = decoded({**D, "compression": "zstd", "note": 1})
        assert decoded(found.to_dict()) == found

    @pytest.mark.better
    def test_pickles(self):
        import copy
        import pickle

        found = decoded({**D, "note": [1, {"a": b"x"}]} if not support.REFERENCE else D)
        assert pickle.loads(pickle.dumps(found)) == found
        assert copy.copy(found) == found and copy.deepcopy(found) == found


def test_duplicate_messages_have_equal_payloads():
    assert support.array_of(message()).tolist() == support.array_of(message()).tolist()
