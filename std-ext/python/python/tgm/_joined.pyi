"""Not for programs: datasets of several files as one."""

from typing import Any

MOST_CHUNKS: Any
MOST_COMPARED: Any
by_coordinates: Any
in_order: Any

def __getattr__(name: str) -> Any: ...
