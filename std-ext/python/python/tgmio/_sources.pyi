"""Not for programs: what datasets are read from."""

from typing import Any

Archive: Any
OPTIONS: Any
sources_of: Any

def shown(source: Any) -> tuple[str, bool]: ...

def __getattr__(name: str) -> Any: ...
