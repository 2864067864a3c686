"""Not for programs."""

from collections.abc import Iterable

from ._native import Message

def warn_of_keys(message: Message, keys: Iterable[str]) -> None: ...
