"""Tensogram messages as numpy arrays.

>>> import numpy, tgm
>>> message = tgm.encode({"run": 7}, [(None, numpy.arange(3.0))])
>>> tgm.decode(message).objects[0][1]
array([0., 1., 2.])
"""

from collections.abc import Mapping as _Mapping

from . import _native
from ._errors import *  # noqa: F403
from ._errors import __all__ as _errors
from ._message import DecodedMessage
from ._native import (
    DataObjectDescriptor,
    Metadata,
    decode,
    decode_descriptors,
    decode_metadata,
    decode_object,
    decode_range,
    decode_with_masks,
    encode,
    encode_pre_encoded,
)

__version__ = "0.1.0"

_Mapping.register(Metadata)

__all__ = [
    "DataObjectDescriptor",
    "DecodedMessage",
    "Metadata",
    "decode",
    "decode_descriptors",
    "decode_metadata",
    "decode_object",
    "decode_range",
    "decode_with_masks",
    "encode",
    "encode_pre_encoded",
    *_errors,
]
