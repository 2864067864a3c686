"""Not for programs: how datasets are saved."""

from typing import Any

COMPRESSIONS: Any
KEYS: Any
LEAST_BYTES: Any
MOST_BITS: Any
save: Any

def __getattr__(name: str) -> Any: ...
