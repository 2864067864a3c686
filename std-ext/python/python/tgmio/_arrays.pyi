"""Not for programs: arrays of which boxes are read."""

from typing import Any

BESIDE_BYTES: Any
BoxArray: Any

def __getattr__(name: str) -> Any: ...
