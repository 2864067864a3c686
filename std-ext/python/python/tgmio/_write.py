"""Writing archives."""

import os
from collections import Counter
from collections.abc import Mapping

from ._inputs import as_array
from ._message import Encoder
from ._native import TensogramFile, _Output
from ._open import local_path, open, open_for_writing


class Writer:
    """Writes messages into a file, object by object.

    `target` is a path, an address of fsspec such as `memory://…`, or an object with `write`.

    A file at a path appears, or is replaced, when the writer is closed. Until then the old file stays, and it stays if an
    exception leaves the `with` statement, if the disk is full, if the process is killed, and if the writer is never closed,
    which a ResourceWarning reports.

    With `append=True` the file grows: a message is in it once `finish` has returned, and stays whatever happens then.
    Readers never see a part of one. An exception drops only the message that is not finished.

    Objects with `write`, pipes and addresses of fsspec are streams: each message is written when it is finished, and what
    fails halfway leaves a part of it.

    `hash`, `threads`, `allow_nan` and `allow_inf` are as for `tgm.encode`. NaN and infinities are permitted here, and
    kept by masks. A mask gives a complex number back with the same value in both parts, so an array with another one, such as
    `1+inf*1j`, is stored without masks; `tgm.validate` with level "full" reports it.

    >>> import io, numpy, tgmio as tgm
    >>> file = io.BytesIO()
    >>> with tgm.Writer(file) as writer:
    ...     for step in (0, 6):
    ...         writer.object(numpy.full(3, float(step)), metadata={"mars": {"param": "2t", "step": step}})
    ...         writer.finish()
    >>> [found.read().tolist() for found in tgm.open(file).query("mars.step=6")]
    [[6.0, 6.0, 6.0]]
    """

    __module__ = "tgmio"

    def __init__(self, target, *, append=False, hash="xxh3", threads=0, allow_nan=True, allow_inf=True):
        self._options = {"hash": hash, "threads": threads, "allow_nan": allow_nan, "allow_inf": allow_inf}
        self._message, self._has_objects = None, False
        self._is_closed = False
        self._file = self._owned = self._output = None
        if hasattr(target, "write"):
            if append:
                raise ValueError("argument 'append': open the file object with mode 'ab'")
            self._file = target
            return
        self._owned = open_for_writing(target, append=append)
        self._file = self._owned and self._owned.open()
        if self._file is None:
            path = local_path(target)
            if append:
                self._path = _existing(path)
            else:
                self._output = _Output.replace(os.fsdecode(path))

    def begin(self, metadata=None):
        """Begins a message with annotations, a dict. Without it a message begins with its first object.

        Raises ValueError if a message is begun already.
        """
        self._check_open()
        if self._message is not None:
            raise ValueError("a message is begun already: finish it first")
        self._message = Encoder(dict(metadata or {}), **self._options)

    def object(self, array, *, encoding=None, metadata=None):
        """Adds an array to the message: it is encoded now, and may change afterwards.

        `encoding` is an `Encoding` or a descriptor; `metadata` is a dict with the object's metadata. An array that is refused
        leaves the message as it was.
        """
        self._check_open()
        if self._message is None:
            self.begin()
        self._message._write(encoding, array, {} if metadata is None else metadata)
        self._has_objects = True

    def finish(self):
        """Ends the message and writes it. The next object begins another one. Does nothing without a message."""
        self._check_open()
        message, self._message, self._has_objects = self._message, None, False
        if message is None:
            return
        encoded = message.finish_backfilled()
        if self._output is not None:
            try:
                self._output.write(encoded)
            except BaseException:
                # A part of the message may be written. Nothing may follow it.
                self._end()
                raise
            return
        if self._file is None:
            self._path.append_raw(encoded)
            return
        done = 0
        while done < len(encoded):
            written = self._file.write(encoded[done:] if done else encoded)
            # Files that are not buffered say how much they took; others take all.
            done = len(encoded) if written is None else done + written

    def close(self):
        """Finishes the message and closes what was opened. A file object of the caller stays open."""
        if self._is_closed:
            return
        try:
            self.finish()
            if self._output is not None:
                self._output.finish()
        finally:
            self._end()

    @property
    def closed(self):
        """Whether the writer was closed."""
        return self._is_closed

    def _end(self):
        self._is_closed, self._message, self._has_objects = True, None, False
        if self._owned is not None:
            self._owned.close()
            # A file system within a file, such as zip, ends that file when it is collected.
            self._file = self._owned = None
        elif self._output is not None:
            # One that is not finished is removed.
            self._output = None
        elif self._file is None:
            self._path.close()

    def _check_open(self):
        if self._is_closed:
            raise ValueError("the writer is closed")

    def __del__(self):
        # A writer whose `__init__` failed may lack the attributes.
        is_file = getattr(self, "_output", None) is not None
        if is_file or getattr(self, "_has_objects", False):
            import warnings

            lost = "its file is not written" if is_file else "its last message is lost"
            warnings.warn(f"a Writer was not closed: {lost}", ResourceWarning, stacklevel=2, source=self)

    def __reduce__(self):
        raise TypeError("a Writer cannot be pickled: it has a file that is being written")

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, kind, _error, _traceback):
        if kind is None:
            self.close()
        elif not self._is_closed:
            self._end()
        return False


def _existing(path):
    """The file to append to, which is created if there is none."""
    try:
        return TensogramFile.open(path)
    except FileNotFoundError:
        return TensogramFile.create(path)


def save(target, arrays, /, *, encoding=None, metadata=None, append=False, threads=0):
    """Writes arrays as one message: an array, a sequence of them, or a mapping from names to arrays.

    `target` is what `Writer` takes: a file at a path appears, or is replaced, when it is complete. `encoding` is an
    `Encoding` or a descriptor for all arrays, or a mapping from names to them. `metadata` has annotations of the message.
    NaN and infinities are kept.

    >>> import io, numpy, tgmio as tgm
    >>> file = io.BytesIO()
    >>> tgm.save(file, {"2t": numpy.arange(3.0)}, encoding=tgm.Encoding(compression="zstd"))
    >>> tgm.load(file)
    {'2t': array([0., 1., 2.])}
    """
    if isinstance(arrays, Mapping):
        for name in arrays:
            if not isinstance(name, str):
                raise TypeError(f"names of arrays are text, not {name!r}")
        named = [({"name": name}, name, array) for name, array in arrays.items()]
    else:
        is_sequence = isinstance(arrays, (list, tuple))
        named = [(None, None, array) for array in (arrays if is_sequence else [arrays])]
    by_name = isinstance(encoding, Mapping) and not {"dtype", "compression", "encoding", "filter"} & set(encoding)
    if by_name and (unknown := [name for name in encoding if name not in {name for _, name, _ in named}]):
        raise ValueError(f"argument 'encoding': no array has the name {unknown[0]!r}")
    pairs = [(encoding.get(name) if by_name else encoding, _array(array)) for _, name, array in named]
    whole = dict(metadata or {})
    if not hasattr(target, "write") and "base" not in whole and open_for_writing(target, append=append) is None:
        path = local_path(target)
        if isinstance(arrays, Mapping):
            whole["base"] = [entry for entry, _, _ in named]
        if append:
            TensogramFile._save(lambda: _existing(path), whole, pairs, threads)
            return
        with _Output.replace(os.fsdecode(path)) as out:
            out.write_message(whole, pairs, threads)
            out.finish()
        return
    with Writer(target, append=append, threads=threads) as writer:
        writer.begin(whole)
        for (entry, _, _), (each, array) in zip(named, pairs, strict=True):
            writer.object(array, encoding=each, metadata=entry)


def load(source, /, *, threads=0, checked=False):
    """Reads all arrays of an archive: a dict from names to arrays.

    `source` is what `open` takes. An object without a name, or whose name another one has too, has its number among all
    objects of the archive instead. With `checked=True` digests are checked.

    >>> import numpy, tgmio as tgm
    >>> tgm.load(tgm.encode({}, [(None, numpy.arange(3))]))
    {0: array([0, 1, 2])}
    """
    with open(source) as archive:
        objects = [found for message in archive for found in message.objects]
        names = [found.name for found in objects]
        uses = Counter(names)
        keys = [name if name is not None and uses[name] == 1 else at for at, name in enumerate(names)]
        return {
            key: found.read(threads=threads, checked=checked) for key, found in zip(keys, objects, strict=True)
        }


def _array(array):
    """An array of numpy, whatever the value is. Bytes have no type, so that an encoding has to say it."""
    return array if isinstance(array, (bytes, bytearray)) else as_array(array)
