"""Not for programs: datasets that go on in a file."""

from typing import Any

Before: Any
OF_VALUES: Any
as_in_file: Any
rest: Any

def __getattr__(name: str) -> Any: ...
