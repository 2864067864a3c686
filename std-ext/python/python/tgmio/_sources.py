"""What datasets are read from: files, addresses and options, small enough to travel between processes."""

import os
import threading
import uuid
import zlib

from . import _native

# Options that the compiled half takes.
OPTIONS = ("profile", "join", "duplicates", "squeeze", "fill", "group", "catalog", "only", "time_dims", "grid")
# Archives that a process keeps open, the one that was used last at the end.
_KEPT = 8
_opened = {}
_lock = threading.Lock()


def sources_of(source):
    """The paths and addresses that a source means, as a tuple of texts; of bytes and file objects, archives."""
    import glob

    if isinstance(source, (list, tuple)):
        found = tuple(path for each in source for path in sources_of(each))
        if not found:
            raise ValueError("a list of files is expected, not an empty one")
        return found
    if isinstance(source, _native.Archive):
        return (source,)
    if isinstance(source, (bytes, bytearray, memoryview)) or (hasattr(source, "read") and hasattr(source, "seek")):
        return (_native._open(source),)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a path, an address, an archive, bytes, a file or a list of them is expected, not {type(source).__name__}")
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    # What only looks like an address is refused as one: it may hold a password.
    if _native._shown(path)[1]:
        return (path,)
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        found = sorted(glob.glob(os.path.join(glob.escape(path), "*.tgm")))
        if not found:
            raise FileNotFoundError(2, "no file in the folder ends with .tgm", path)
        return tuple(found)
    if not os.path.exists(path) and any(letter in path for letter in "*?["):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(2, "no file fits the pattern", path)
        return tuple(found)
    return (path,)


def shown(source):
    """What texts call a source, and whether it is at an address."""
    return _native._shown(source) if isinstance(source, str) else (source.source, False)


class Archive:
    """Files of one version and options, small enough to travel. Each process opens them once.

    Files of this machine that are as they were are not opened again. What is at an address or below a tree is asked for whenever an
    archive is made, as only opening it tells the version.
    """

    __slots__ = ("sources", "options", "version", "mark")

    def __init__(self, sources, options):
        self.sources = sources
        given = {name: options[name] for name in OPTIONS if options.get(name) is not None}
        if "catalog" in given:
            given["catalog"] = _catalogs_of(given["catalog"])
        if "grid" in given:
            given["grid"] = _grid_of(given["grid"])
        if "only" in given:
            given["only"] = _filters_of(given["only"])
        if "time_dims" in given:
            given["time_dims"] = tuple(given["time_dims"])
        if "profile" in given:
            given["profile"] = _profile_of(given["profile"])
        if raw := _raw_of(options):
            given["raw"] = raw
        self.options = tuple(sorted((name, _frozen(value)) for name, value in given.items()))
        self.version = self.mark = None
        if all(map(_is_file, sources)):
            # Before opening: what is appended until then changes the version.
            self.version = self._version()
            if _kept(self) is None:
                _keep(self, self._open())
            return
        datasets = self._open()
        self.version = _version_of(datasets)
        if self.version is None:
            # The server tells no version: nothing else is known to be the same.
            self.mark = uuid.uuid4().hex
        _keep(self, datasets)

    def __getstate__(self):
        # Names of many files are alike: they travel as one compressed text.
        names = self.sources
        if len(names) > 1 and all(isinstance(each, str) and "\0" not in each for each in names):
            names = zlib.compress("\0".join(names).encode("utf-8", "surrogatepass"))
        return (names, self.options, self.version, self.mark)

    def __setstate__(self, state):
        names, self.options, self.version, self.mark = state
        if isinstance(names, bytes):
            names = tuple(zlib.decompress(names).decode("utf-8", "surrogatepass").split("\0"))
        self.sources = names

    def __eq__(self, other):
        return isinstance(other, Archive) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return (self.sources, self.options, self.version, self.mark)

    def __dask_tokenize__(self):
        # dask cannot see that a file was changed.
        return ("tgm.Archive", *self._key())

    def native(self):
        """The datasets of the compiled half. They tell by themselves if their files are changed while they are open.

        Raises an error if a file was changed since the archive was made, and has to be opened again: here, or in another process.
        """
        datasets = _kept(self)
        if datasets is None:
            datasets = self._open()
            # A file that is as it was, after opening it, is the one that was opened.
            version = self._version() if all(map(_is_file, self.sources)) else _version_of(datasets)
            if version != self.version:
                names = ", ".join(shown(source)[0] for source in self.sources[:3])
                raise ValueError(f"{names}: the file was changed since the dataset was opened: open it again")
            _keep(self, datasets)
        return datasets

    def _version(self):
        """What changes when one of the files is written: sources, and the file of a grid."""
        grid = dict(self.options).get("grid")
        return _version_of_files(self.sources if grid is None else (*self.sources, grid))

    def _open(self):
        return _native._open_datasets(list(self.sources), self.native_options())

    def native_options(self):
        """Options as the compiled half takes them."""
        return {name: dict(value) if name == "fill" else value for name, value in self.options}


def _profile_of(profile):
    """A profile as text: a word, or what the caller's keys mean."""
    if isinstance(profile, str):
        return profile
    if not isinstance(profile, dict):
        raise TypeError(f"argument 'profile': a text or a dict is expected, not {type(profile).__name__}")
    keys = {meaning: [each] if isinstance(each, str) else each for meaning, each in profile.items()}
    return ",".join(f"{meaning}={'/'.join(each)}" for meaning, each in keys.items())


def _catalogs_of(catalog):
    """The paths of catalogues as a tuple, from any folder; True for those beside files, False for none."""
    if isinstance(catalog, bool):
        return catalog
    if isinstance(catalog, (str, os.PathLike)):
        catalog = [catalog]
    if not isinstance(catalog, (list, tuple)) or not all(isinstance(each, (str, os.PathLike)) for each in catalog):
        raise TypeError(f"argument 'catalog': a path, a list of paths or False is expected, not {type(catalog).__name__}")
    return tuple(map(_catalog_of, map(os.fsdecode, catalog)))


def _catalog_of(path):
    # What only looks like an address is one, as it is of a source: it may hold a password.
    return path if _native._shown(path)[1] else os.path.abspath(os.path.expanduser(path))


def _grid_of(path):
    """The path of a file with the coordinates of a grid, from any folder."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"argument 'grid': the path of a file with coordinates is expected, not {type(path).__name__}")
    return os.path.abspath(os.path.expanduser(os.fsdecode(path)))


def _raw_of(options):
    """Which variables have the numbers that a file stored: True for all, a tuple of names, or None for none."""
    if options.get("decode_cf") is False:
        return True
    wanted = options.get("mask_and_scale")
    if isinstance(wanted, dict):
        return tuple(sorted(name for name, is_wanted in wanted.items() if not is_wanted)) or None
    return True if wanted is False else None


def _filters_of(only):
    """Filters as a tuple of texts."""
    if isinstance(only, str):
        return (only,)
    if not isinstance(only, (list, tuple)) or not all(isinstance(each, str) for each in only):
        raise TypeError(f"argument 'only': a filter or a list of filters is expected, not {type(only).__name__}")
    return tuple(only)


def _frozen(value):
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def _is_file(source):
    """Whether a source is a file of messages on this machine: neither an address nor a tree."""
    return isinstance(source, str) and not _native._shown(source)[1] and not source.endswith(".tree")


def _version_of_files(paths):
    """What changes when one of the files is written."""
    found = map(os.stat, paths)
    return _digest([(each.st_mtime_ns, each.st_size, each.st_ino) for each in found])


def _version_of(datasets):
    """What changes when one of the files that were opened is written. None if a server does not tell."""
    sources = datasets[0].sources if datasets else []
    return None if any(version is None for _, version in sources) else _digest(sources)


def _digest(versions):
    import hashlib

    return hashlib.blake2b(repr(versions).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _kept(archive):
    """The datasets of an archive that is open. None if it is not."""
    with _lock:
        datasets = _opened.pop(archive, None)
        if datasets is not None:
            _opened[archive] = datasets
        return datasets


def _keep(archive, datasets):
    """Keeps the datasets of an archive, and forgets those that were not used for longest."""
    with _lock:
        _opened.pop(archive, None)
        _opened[archive] = datasets
        while len(_opened) > _KEPT:
            del _opened[next(iter(_opened))]
