"""Not for programs: variables as files have them."""

from typing import Any

NAMES: Any
TIMES: Any
TIMES_OF_FILES: Any
attributes: Any
encoded: Any
is_bytes: Any
is_text: Any
tells: Any
texts: Any

def __getattr__(name: str) -> Any: ...
