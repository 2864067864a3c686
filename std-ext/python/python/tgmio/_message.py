"""The namedtuple that decoding returns, and the encoder of what is saved."""

from collections import namedtuple

from ._native import StreamingEncoder

DecodedMessage = namedtuple("Message", ["metadata", "objects"], module="tgmio")
# Programs know it as "Message"; pickle finds it by this name.
DecodedMessage.__qualname__ = "DecodedMessage"
DecodedMessage.__doc__ = """A decoded message: `(metadata, objects)`.

`objects` is a list of pairs of descriptor and array, or of triples with masks (`decode_with_masks`).
"""


class Encoder(StreamingEncoder):
    """The encoder of `Writer` and `save_dataset`: complex values keep all their bits."""

    _KEEPS_COMPLEX = True
