"""Exceptions. Each is a `TensogramError`, and the builtin that programs for `tensogram` catch.

Every one has the attributes `kind` (a word), `offset` (the byte at which the defect was found), `message_index` and
`object_index`. An attribute is None if it is not known.
"""

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


class TensogramError(Exception):
    """An error of messages, files or their values."""

    __module__ = "tgmio"

    kind = None
    offset = None
    message_index = None
    object_index = None


class FramingError(TensogramError, ValueError):
    """The structure is wrong: lengths, markers, the order of frames, the number of a message in a file."""

    __module__ = "tgmio"


class MetadataError(TensogramError, ValueError):
    """CBOR, a descriptor or an option is wrong."""

    __module__ = "tgmio"


class EncodingError(TensogramError, ValueError):
    """A stage of the pipeline failed, in either direction, or a limit was exceeded."""

    __module__ = "tgmio"


class CompressionError(TensogramError, ValueError):
    """Data that a compressor needs for a partial read is missing."""

    __module__ = "tgmio"


class ObjectError(TensogramError, ValueError):
    """The message has no object of that number."""

    __module__ = "tgmio"


class OtherError(TensogramError, ValueError):
    """Any other error of the library."""

    __module__ = "tgmio"


class RemoteError(TensogramError, OSError):
    """A server or an object store failed, or an address cannot be read."""

    __module__ = "tgmio"


class IntegrityError(TensogramError):
    """Bytes differ from those that the writer hashed, or there is no digest to tell."""

    __module__ = "tgmio"


class MissingHashError(IntegrityError):
    """The caller asked for verification, but the object has no digest. `object_index` is its number."""

    __module__ = "tgmio"


class HashMismatchError(IntegrityError):
    """The bytes differ from those that the digest was computed from.

    `object_index` is the number of the object. `expected` and `actual` are digests of 16 hexadecimal digits.
    """

    __module__ = "tgmio"


CLASSES = {name: globals()[name] for name in __all__}
