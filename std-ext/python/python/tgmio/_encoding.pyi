"""Not for programs: what they use is in `tgm`."""

from typing import Any

import numpy as np

from . import Encoding as Encoding

def whole_bytes(bits: int) -> int: ...
def packing_within(finite: np.ndarray[Any, Any], error: float) -> dict[str, Any]: ...

def __getattr__(name: str) -> Any: ...
