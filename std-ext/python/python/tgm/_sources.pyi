"""Not for programs: what datasets are read from."""

from typing import Any

Archive: Any
OPTIONS: Any
is_of_files: Any
sources_of: Any

def __getattr__(name: str) -> Any: ...
