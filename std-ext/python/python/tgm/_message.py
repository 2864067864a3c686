"""The namedtuple that decoding returns."""

from collections import namedtuple

DecodedMessage = namedtuple("Message", ["metadata", "objects"], module="tgm")
# Programs know it as "Message"; pickle finds it by this name.
DecodedMessage.__qualname__ = "DecodedMessage"
DecodedMessage.__doc__ = """A decoded message: `(metadata, objects)`.

`objects` is a list of pairs of descriptor and array, or of triples with masks (`decode_with_masks`).
"""
