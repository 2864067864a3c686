"""Tensogram messages as numpy arrays.

>>> import numpy, tgm
>>> message = tgm.encode({"run": 7}, [(None, numpy.arange(3.0))])
>>> tgm.decode(message).objects[0][1]
array([0., 1., 2.])
"""

from collections.abc import Mapping as _Mapping

from ._dataset import open_dataset, open_datasets, save_dataset
from ._errors import *  # noqa: F403
from ._message import DecodedMessage
from ._native import (
    WIRE_VERSION,
    AsyncTensogramFile,
    AsyncTensogramFileIter,
    DataObjectDescriptor,
    MappedFile,
    Message,
    MessageIter,
    MessageStream,
    Metadata,
    Object,
    Objects,
    SourceFile,
    StreamingEncoder,
    TensogramFile,
    TensogramFileIter,
    __has_grib__,
    __has_netcdf__,
    compute_hash,
    compute_packing_params,
    convert_grib,
    convert_grib_buffer,
    convert_netcdf,
    decode,
    decode_descriptors,
    decode_metadata,
    decode_object,
    decode_range,
    decode_with_masks,
    doctor,
    encode,
    encode_pre_encoded,
    is_remote_url,
    iter_messages,
    open_mmap,
    scan,
    to_grib,
    to_netcdf,
    validate,
    validate_file,
)

__version__ = "0.1.0"

_Mapping.register(Metadata)

# `open` is defined below, because a star import must not replace the builtin.
__all__ = [name for name in dir() if not name.startswith("_")]
__all__ += ["__has_grib__", "__has_netcdf__", "__version__"]


def open(source, /):
    """Opens a path, an address or a file object for reading.

    Text and `os.PathLike` give a `TensogramFile`. An object with `read` and `seek`, such as `io.BytesIO` or a file of
    fsspec, gives a `SourceFile`. Streams that cannot seek are read by `MessageStream`.

    >>> import io, numpy, tgm
    >>> len(tgm.open(io.BytesIO(tgm.encode({}, [(None, numpy.zeros(3))]))))
    1
    """
    return SourceFile(source) if hasattr(source, "read") else TensogramFile.open(source)

