"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import Catalogue as Catalogue, Catalogues as Catalogues, catalogue as catalogue

ENDING: Any
PLACES: Any
TREE: Any

def __getattr__(name: str) -> Any: ...
