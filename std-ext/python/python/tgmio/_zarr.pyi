"""Not for programs: the store of Zarr."""

from typing import Any

TYPES: Any
TgmStore: Any
store: Any

def __getattr__(name: str) -> Any: ...
