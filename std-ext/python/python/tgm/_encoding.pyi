"""Not for programs: what they use is in `tgm`."""

from typing import Any

import numpy as np

from . import Encoding as Encoding

def bits_within(extent: float, error: float) -> int: ...
def packing(finite: np.ndarray[Any, Any], bits: int, error: float | None) -> dict[str, Any]: ...

def __getattr__(name: str) -> Any: ...
