"""Not for programs: names and attributes of fields."""

from typing import Any

CENTRES: Any
DATA_TYPES: Any
DEGREES: Any
EARTHKIT: Any
GRIDS: Any
KEYS: Any
METRES: Any
MISSING: Any
TYPES: Any
add_grib_attributes: Any
as_earthkit: Any

def __getattr__(name: str) -> Any: ...
