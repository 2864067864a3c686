from ._native import Object

MOST_BYTES: int
WIDTH: int
HEIGHT: int
COLOURS: tuple[tuple[int, int, int], ...]

def picture(field: Object) -> str: ...
