"""Names of the module, signatures, import."""

import inspect
import pickle

import pytest

import support
import tensogram

NAMES = """
    encode encode_pre_encoded decode decode_with_masks decode_metadata decode_descriptors decode_object decode_range
    scan iter_messages validate validate_file compute_hash compute_packing_params doctor is_remote_url convert_grib
    convert_grib_buffer convert_netcdf to_grib to_netcdf
    Metadata DataObjectDescriptor Message TensogramFile TensogramFileIter MessageIter StreamingEncoder
    AsyncTensogramFile AsyncTensogramFileIter
    IntegrityError MissingHashError HashMismatchError
    __version__ WIRE_VERSION __has_grib__ __has_netcdf__
""".split()

ENCODE = """hash threads allow_nan allow_inf nan_mask_method pos_inf_mask_method neg_inf_mask_method
    small_mask_threshold_bytes aggregate_hash"""

# Parameters in order; those after `*` are taken by keyword only.
PARAMETERS = {
    "encode": f"global_meta_dict descriptors_and_data {ENCODE}",
    "encode_pre_encoded": "global_meta_dict descriptors_and_data hash threads",
    "decode": "buf native_byte_order threads restore_non_finite verify_hash",
    "decode_with_masks": "buf native_byte_order threads",
    "decode_metadata": "buf",
    "decode_descriptors": "buf",
    "decode_object": "buf index native_byte_order threads restore_non_finite verify_hash",
    "decode_range": "buf object_index ranges join native_byte_order threads restore_non_finite",
    "scan": "buf",
    "iter_messages": "buf * verify_hash",
    "validate": "buf level check_canonical",
    "validate_file": "path level check_canonical",
    "compute_hash": "data algo",
    "compute_packing_params": "values bits_per_value decimal_scale_factor",
    "doctor": "",
    "is_remote_url": "source",
    "convert_grib": "path * grouping preserve_all_keys encoding bits filter compression compression_level threads hash",
    "convert_grib_buffer": "buffer * grouping preserve_all_keys encoding bits filter "
    "compression compression_level threads hash",
    "convert_netcdf": "path * split_by cf encoding bits filter compression compression_level threads hash",
    "to_grib": "messages",
    "to_netcdf": "messages path",
    "TensogramFile.open": "source * bidirectional",
    "TensogramFile.open_remote": "source storage_options * bidirectional",
    "TensogramFile.create": "path",
    "TensogramFile.append": f"self global_meta_dict descriptors_and_data {ENCODE}",
    "TensogramFile.message_count": "self",
    "TensogramFile.decode_message": "self index native_byte_order threads restore_non_finite verify_hash",
    "TensogramFile.file_decode_metadata": "self msg_index",
    "TensogramFile.file_decode_descriptors": "self msg_index",
    "TensogramFile.file_decode_object": "self msg_index obj_index native_byte_order threads verify_hash",
    "TensogramFile.file_decode_range": "self msg_index obj_index ranges join native_byte_order threads",
    "TensogramFile.file_decode_object_batch": "self msg_indices obj_index native_byte_order threads verify_hash",
    "TensogramFile.file_decode_range_batch": "self msg_indices obj_index ranges join native_byte_order threads",
    "TensogramFile.read_message": "self index",
    "TensogramFile.messages": "self",
    "TensogramFile.is_remote": "self",
    "TensogramFile.source": "self",
    "AsyncTensogramFile.open": "source * bidirectional",
    "AsyncTensogramFile.open_remote": "source storage_options * bidirectional",
    "AsyncTensogramFile.decode_message": "self index native_byte_order threads verify_hash",
    "AsyncTensogramFile.file_decode_metadata": "self msg_index",
    "AsyncTensogramFile.file_decode_descriptors": "self msg_index",
    "AsyncTensogramFile.file_decode_object": "self msg_index obj_index native_byte_order threads verify_hash",
    "AsyncTensogramFile.file_decode_range": "self msg_index obj_index ranges join native_byte_order threads",
    "AsyncTensogramFile.file_decode_object_batch": "self msg_indices obj_index native_byte_order threads verify_hash",
    "AsyncTensogramFile.file_decode_range_batch": "self msg_indices obj_index ranges join native_byte_order threads",
    "AsyncTensogramFile.prefetch_layouts": "self msg_indices",
    "AsyncTensogramFile.message_count": "self",
    "Metadata.get": "self key default",
    "Metadata.get_path": "self path default",
    "Metadata.get_path_at": "self obj path default",
    "StreamingEncoder": f"global_meta_dict {ENCODE}",
    "StreamingEncoder.write_object": "self descriptor data",
    "StreamingEncoder.write_object_pre_encoded": "self descriptor data",
}

# Defaults that a caller may read off.
DEFAULTS = {
    "hash": "xxh3",
    "threads": 0,
    "allow_nan": False,
    "allow_inf": False,
    "nan_mask_method": None,
    "small_mask_threshold_bytes": None,
    "aggregate_hash": None,
    "native_byte_order": True,
    "restore_non_finite": True,
    "verify_hash": False,
    "join": False,
    "level": "default",
    "check_canonical": False,
    "algo": "xxh3",
    "bidirectional": True,
    "storage_options": None,
    "default": None,
    "grouping": "merge_all",
    "split_by": "file",
}


def resolve(path):
    thing = tensogram
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


@pytest.mark.parametrize("name", NAMES)
def test_name_is_there(name):
    assert hasattr(tensogram, name)


@pytest.mark.parametrize("path", PARAMETERS)
def test_parameters(path):
    expected, keyword_only = [], False
    for name in PARAMETERS[path].split():
        keyword_only = keyword_only or name == "*"
        if name != "*":
            kind = inspect.Parameter.KEYWORD_ONLY if keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
            expected.append((name, kind))
    found = []
    for name, parameter in inspect.signature(resolve(path)).parameters.items():
        if name == "self":
            expected = expected[1:]
            continue
        if name in EXTRA.get(path, ()):
            assert not support.REFERENCE and parameter.kind is inspect.Parameter.KEYWORD_ONLY
            continue
        found.append((name, parameter.kind))
        if name in DEFAULTS and parameter.default not in (inspect.Parameter.empty, ...):
            assert parameter.default == DEFAULTS[name], name
    assert found == expected


# Parameters that we have and the reference has not: by keyword only.
EXTRA = {
    "decode": ("out",),
    "decode_object": ("out",),
    "TensogramFile.file_decode_object": ("out", "restore_non_finite"),
    "TensogramFile.decode_message": ("out",),
    "StreamingEncoder": ("file",),
    "validate_file": ("progress",),
}


@pytest.mark.parametrize("name", [n for n in PARAMETERS if "." not in n and n not in ("doctor", "StreamingEncoder")])
def test_unknown_keyword(name):
    with pytest.raises(TypeError, match="keyword|argument"):
        resolve(name)(no_such_keyword=1)


def test_unknown_keyword_beside_arguments():
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        tensogram.decode(support.message(), no_such_keyword=1)


def test_keywords_of_first_parameters():
    data = support.message()
    assert len(tensogram.decode(buf=data).objects) == 1
    assert tensogram.decode_object(buf=data, index=0)[2].shape == (4,)
    assert tensogram.decode_range(buf=data, object_index=0, ranges=[(0, 2)], join=True).tolist() == [0, 1]
    assert tensogram.compute_hash(data=b"") == "2d06800538d394c2"
    pairs = [support.pair([1])]
    assert tensogram.encode(global_meta_dict={}, descriptors_and_data=pairs, hash=None)


def test_parameters_by_position():
    data = support.message()
    assert tensogram.decode(data, True, 0, True, True).objects[0][1].tolist() == [0, 1, 2, 3]
    assert tensogram.decode_object(data, 0, True, 0, True, True)[2].tolist() == [0, 1, 2, 3]
    assert tensogram.decode_range(data, 0, [(1, 2)], True, True, 0, True).tolist() == [1, 2]
    assert tensogram.validate(data, "quick", True)["issues"] == []
    encoded = tensogram.encode({}, [support.pair([np_nan()])], None, 0, True, True, "rle", "rle", "rle", 0, "none")
    assert encoded


def np_nan():
    return float("nan")


def test_values():
    assert tensogram.__version__ == "0.24.0"
    assert tensogram.WIRE_VERSION == 3
    assert tensogram.__has_grib__ is not support.REFERENCE
    assert tensogram.__has_netcdf__ is False


def test_message_is_a_named_tuple():
    assert tensogram.Message._fields == ("metadata", "objects")
    assert issubclass(tensogram.Message, tuple)
    assert tensogram.Message.__name__ == "Message"
    assert tensogram.Message.__module__ in (("tensogram", "tgmio"))
    made = tensogram.Message("m", [])
    assert made == ("m", []) and made.metadata == "m" and made._asdict() == {"metadata": "m", "objects": []}
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize(
    "name",
    [
        "Metadata",
        "DataObjectDescriptor",
        "TensogramFile",
        "TensogramFileIter",
        "MessageIter",
        "AsyncTensogramFile",
        "AsyncTensogramFileIter",
    ],
)
def test_class_without_constructor(name):
    with pytest.raises(TypeError):
        getattr(tensogram, name)()


@pytest.mark.better
def test_docstrings():
    for name in NAMES:
        thing = getattr(tensogram, name)
        if callable(thing):
            assert thing.__doc__, name


@pytest.mark.better
def test_modules_of_classes():
    for name in ("Metadata", "DataObjectDescriptor", "TensogramFile", "StreamingEncoder"):
        assert getattr(tensogram, name).__module__ in (("tgmio", "tensogram"))


def test_import_leaves_numpy_alone():
    assert support.python("import sys, tensogram; print('numpy' in sys.modules)") == "False\n"


def test_import_is_quick():
    code = """if True:
        import sys, time
        start = time.process_time(); import tensogram; print(time.process_time() - start)
    """
    # Time of the processor does not grow where other programs run.
    best = min(float(support.python(code)) for _ in range(5))
    assert best < 0.05


def test_import_starts_no_thread():
    code = "import os, tensogram; print(len(os.listdir('/proc/self/task')))"
    assert support.python(code) == "1\n"


def test_import_of_all_names():
    names = {}
    exec("from tensogram import *", names)
    assert {"encode", "decode", "Metadata", "TensogramFile", "HashMismatchError"} <= set(names)


def test_converters_without_their_libraries():
    for call, text in [
        (lambda: tensogram.convert_netcdf("x.nc"), "built without NetCDF support"),
        (lambda: tensogram.convert_netcdf("x.nc", split_by="no such split"), "built without NetCDF support"),
        (lambda: tensogram.to_netcdf([support.message()], "x.nc"), "built without NetCDF support"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()


@pytest.mark.parametrize(
    "url",
    [
        "http://a/b",
        "https://a/b",
        "s3://a",
        "s3a://a",
        "gs://a",
        "az://a",
        "azure://a",
        "HTTPS://A",
        "S3://a",
    ],
)
def test_remote_url(url):
    assert tensogram.is_remote_url(url) is True


@pytest.mark.parametrize(
    "url", ["", "a.tgm", "/a", "file://a", "ftp://a", "gcs://a", "abfs://a", "http:/a", " http://a"]
)
def test_local_url(url):
    assert tensogram.is_remote_url(url) is False


@pytest.mark.parametrize("value", [None, 1, b"http://a"])
def test_url_must_be_text(value):
    with pytest.raises(TypeError):
        tensogram.is_remote_url(value)
