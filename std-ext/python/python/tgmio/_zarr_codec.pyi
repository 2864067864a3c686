"""Not for programs: the codec of Zarr."""

from typing import Any

NAME: Any
TgmCodec: Any

def __getattr__(name: str) -> Any: ...
