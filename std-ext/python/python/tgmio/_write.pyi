"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import Writer as Writer, load as load, save as save

def __getattr__(name: str) -> Any: ...
