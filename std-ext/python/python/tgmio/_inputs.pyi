"""Not for programs."""

from typing import Any

def as_array(value: Any) -> Any: ...
