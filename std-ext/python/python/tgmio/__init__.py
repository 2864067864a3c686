"""Tensogram messages as numpy arrays.

>>> import numpy, tgmio as tgm
>>> message = tgm.encode({"run": 7}, [(None, numpy.arange(3.0))])
>>> tgm.decode(message).objects[0][1]
array([0., 1., 2.])
"""

from collections.abc import Mapping as _Mapping

from . import _convert
from ._convert import convert, convert_grib, convert_grib_buffer, convert_netcdf, to_grib, to_netcdf
from ._encoding import Encoding
from ._errors import *  # noqa: F403
from ._message import DecodedMessage
from ._native import (
    WIRE_VERSION,
    Archive,
    AsyncTensogramFile,
    AsyncTensogramFileIter,
    DataObjectDescriptor,
    Message,
    MessageIter,
    MessageStream,
    Metadata,
    Object,
    Objects,
    StreamingEncoder,
    TensogramFile,
    TensogramFileIter,
    __version__,
    compute_hash,
    compute_packing_params,
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
    scan,
    validate,
    validate_file,
)
from ._open import open_mmap
from ._write import Writer, load, save

__has_grib__ = True

_Mapping.register(Metadata)

# Imported when they are first asked for: they take longer than all else.
_DATASETS = ("Catalogue", "Catalogues", "catalogue", "open_dataset", "open_datasets", "references", "save_dataset", "zarr_store")

# `open` comes below, because a star import must not replace the builtin.
__all__ = [name for name in dir() if not name.startswith("_")]
__all__ += _DATASETS
__all__ += ["__has_grib__", "__has_netcdf__", "__version__"]

from ._open import open  # noqa: E402


def __getattr__(name):
    """Functions of datasets, what a further wheel adds, and types for programs that are checked."""
    if name == "__has_netcdf__":
        return _convert.native().__has_netcdf__
    if name in _DATASETS:
        from . import _dataset

        return getattr(_dataset, name)
    if not name.startswith("_"):
        from . import _types

        if name in _types.__all__:
            return getattr(_types, name)
    raise AttributeError(f"module 'tgmio' has no attribute {name!r}")
