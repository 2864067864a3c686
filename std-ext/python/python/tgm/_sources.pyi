"""Not for programs: what datasets are read from."""

from typing import Any

Archive: Any
OPTIONS: Any
sources_of: Any

def __getattr__(name: str) -> Any: ...
