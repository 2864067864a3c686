"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import open as open, open_mmap as open_mmap

def open_for_writing(target: Any, *, append: bool) -> Any: ...
def local_path(target: Any) -> Any: ...
