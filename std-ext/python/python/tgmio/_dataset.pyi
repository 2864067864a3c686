"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import Catalogue as Catalogue, Catalogues as Catalogues, catalogue as catalogue, references as references
from . import open_dataset as open_dataset, open_datasets as open_datasets, save_dataset as save_dataset, zarr_store as zarr_store

Archive: Any
OPTIONS: Any
sources_of: Any

def __getattr__(name: str) -> Any: ...
