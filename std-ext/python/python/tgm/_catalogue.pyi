"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import Catalogue as Catalogue, catalogue as catalogue

ENDING: Any
PLACES: Any

def __getattr__(name: str) -> Any: ...
