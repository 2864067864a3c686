"""Opening whatever holds messages."""

from ._native import SourceFile, TensogramFile


def open(source, /):
    """Opens a path, an address or a file object for reading.

    Text and `os.PathLike` give a `TensogramFile`. An object with `read` and `seek`, such as `io.BytesIO` or a file of
    fsspec, gives a `SourceFile`. Streams that cannot seek are read by `MessageStream`.

    >>> import io, numpy, tgm
    >>> len(tgm.open(io.BytesIO(tgm.encode({}, [(None, numpy.zeros(3))]))))
    1
    """
    return SourceFile(source) if hasattr(source, "read") else TensogramFile.open(source)
