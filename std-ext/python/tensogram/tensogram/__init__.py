"""The module `tensogram` 0.24 on top of `tgm`: the same names, so that programs run unchanged."""

from tgmio import (  # noqa: F401
    WIRE_VERSION,
    AsyncTensogramFile,
    AsyncTensogramFileIter,
    DataObjectDescriptor,
    HashMismatchError,
    IntegrityError,
    MessageIter,
    Metadata,
    MissingHashError,
    TensogramFile,
    TensogramFileIter,
    __has_grib__,
    __has_netcdf__,
    compute_hash,
    compute_packing_params,
    convert_grib,
    convert_grib_buffer,
    convert_netcdf,
    decode_descriptors,
    decode_metadata,
    decode_range,
    doctor,
    is_remote_url,
    iter_messages,
    to_grib,
    to_netcdf,
    validate,
    validate_file,
)
from tgmio import DecodedMessage as Message
from tgmio import StreamingEncoder as _StreamingEncoder
from tgmio._native import _reference

# Where `tgm` answers otherwise: it has arrays of bool, and masks of masked arrays, and refuses unknown keys of descriptors.
decode = _reference.decode
decode_object = _reference.decode_object
decode_with_masks = _reference.decode_with_masks
encode = _reference.encode
encode_pre_encoded = _reference.encode_pre_encoded
scan = _reference.scan


class StreamingEncoder(_StreamingEncoder):
    """`tgm.StreamingEncoder` of descriptors with keys of any name."""

    _TAKES_ANY_KEYS = True


__version__ = "0.24.0"

__all__ = [name for name in dir() if not name.startswith("_")]
__all__ += ["__has_grib__", "__has_netcdf__", "__version__"]
