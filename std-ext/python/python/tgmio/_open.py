"""Opening archives: what fsspec knows becomes a file object, all else is opened by the compiled half."""

import os

from ._native import _open, is_remote_url

_NO_MAP = "argument 'mmap': only for paths of this machine"


def open(source, /, *, mmap=False, storage_options=None):
    """Opens an archive of messages for reading, wherever it is. The result is the same class for every source.

    | source | how it is read |
    |---|---|
    | a path: `str` or `os.PathLike` | parts of the file, as they are asked for |
    | a path, with `mmap=True` | where it lies: arrays that need no decoding are views |
    | an address: `https://…`, `s3://…`, `gs://…`, `az://…` | parts, by requests for ranges; `storage_options` has options of the store |
    | an address of fsspec: `memory://…`, `ftp://…`, `zip://…::…`, or an `OpenFile` | as a file object of fsspec |
    | `bytes` and any other buffer of bytes | where it lies, without a copy |
    | a file object with `read` and `seek` | parts, as they are asked for; `io.BytesIO` as its bytes |

    Nothing of a payload is read before values are asked for. Streams that cannot seek are read by `MessageStream`.

    With `mmap=True`, **no program may truncate the file or write into it while the archive or a view of it lives.** If
    the file is truncated, the system ends this process with the signal SIGBUS when it touches bytes that are gone; no
    exception can be raised. Bytes that are changed in place change in the views too. Appending and replacing by a rename
    are harmless.

    Raises OSError, such as FileNotFoundError and RemoteError; FramingError, which is a ValueError, for a source of
    another format, such as GRIB, NetCDF or a page of HTML; TypeError for other objects.

    >>> import numpy, tgmio as tgm
    >>> archive = tgm.open(tgm.encode({"base": [{"name": "2t"}]}, [(None, numpy.arange(3.0))]))
    >>> len(archive), archive[0].objects["2t"].read()
    (1, array([0., 1., 2.]))
    """
    if hasattr(source, "fs") and hasattr(source, "path") and not hasattr(source, "read"):
        if storage_options is not None:
            raise ValueError("argument 'storage_options': the file system of this object has its own")
        if mmap:
            raise ValueError(_NO_MAP)
        return _open(_open_file(source, "rb").open(), False, None, source)
    if isinstance(source, str) and _is_foreign(source):
        if source.startswith("file://"):
            return _open(_path_of(source), mmap, storage_options)
        if mmap:
            raise ValueError(_NO_MAP)
        address = _Address(source)
        address.file = _open_file(source, "rb", storage_options)
        return _open(address.file.open(), False, None, address)
    return _open(source, mmap, storage_options)


def open_mmap(path):
    """`tgm.open(path, mmap=True)`."""
    return open(path, mmap=True)


def open_for_writing(target, *, append):
    """An `OpenFile` for an address of fsspec or another `OpenFile`; None for a path of this machine."""
    is_open_file = hasattr(target, "fs") and hasattr(target, "path") and not hasattr(target, "write")
    if is_open_file or isinstance(target, str) and _is_foreign(target) and not target.startswith("file://"):
        return _open_file(target, "ab" if append else "wb")
    return None


def local_path(target):
    """The path of a target that `open_for_writing` does not open."""
    if isinstance(target, str) and target.startswith("file://"):
        return _path_of(target)
    return os.fspath(target)


class _Address(str):
    """An address, with what has to live as long as the file that was opened by it."""

    def __reduce__(self):
        return str, (str(self),)


def _path_of(address):
    """The path of an address of this machine."""
    # They take a good part of the time that importing this package takes.
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return url2pathname(urlsplit(address).path)


def _is_foreign(source):
    """Whether text is an address that the compiled half does not read."""
    head, found, _ = source.partition("://")
    is_scheme = head.replace("::", "").replace("+", "").replace("-", "").replace(".", "").isalnum()
    return bool(found) and (len(head) > 1 and is_scheme or "::" in source) and not is_remote_url(source)


def _open_file(source, mode, storage_options=None):
    """An `OpenFile` of our own for an address or another `OpenFile`: it knows the compression, and closes all that it opens.

    It has to live as long as its file: a file system within a file, such as zip, closes that file when it is collected.
    """
    try:
        import fsspec
    except ImportError as error:
        scheme = str(source).partition("://")[0]
        raise ImportError(f"addresses of {scheme}:// are read by the package fsspec, which is not installed") from error
    if isinstance(source, str):
        return fsspec.open(source, mode, **(storage_options or {}))
    return fsspec.core.OpenFile(source.fs, source.path, mode, getattr(source, "compression", None))
