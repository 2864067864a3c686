"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import Encoding as Encoding

def __getattr__(name: str) -> Any: ...
