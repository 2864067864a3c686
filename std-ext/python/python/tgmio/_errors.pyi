"""Not for programs: what they use is in `tgm`."""

from . import (
    TensogramError as TensogramError,
    FramingError as FramingError,
    MetadataError as MetadataError,
    EncodingError as EncodingError,
    CompressionError as CompressionError,
    ObjectError as ObjectError,
    OtherError as OtherError,
    RemoteError as RemoteError,
    IntegrityError as IntegrityError,
    MissingHashError as MissingHashError,
    HashMismatchError as HashMismatchError,
)

__all__ = [
    "TensogramError",
    "FramingError",
    "MetadataError",
    "EncodingError",
    "CompressionError",
    "ObjectError",
    "OtherError",
    "RemoteError",
    "IntegrityError",
    "MissingHashError",
    "HashMismatchError",
]

CLASSES: dict[str, type[TensogramError]]
