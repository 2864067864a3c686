"""Not for programs: the backend of xarray."""

from typing import Any

CHUNK_BYTES: Any
CatalogWarning: Any
CoordinateArray: Any
DECODED_BYTES: Any
FIRST_NS: Any
LAST_NS: Any
LeftOutWarning: Any
MOST_CHUNKS: Any
NO_TIME: Any
TRAVELLING_BYTES: Any
TgmAccessor: Any
TgmArray: Any
TgmBackendEntrypoint: Any
dataset_count: Any

def __getattr__(name: str) -> Any: ...
