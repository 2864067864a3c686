"""Not for programs: references of kerchunk."""

from typing import Any

references: Any

def __getattr__(name: str) -> Any: ...
