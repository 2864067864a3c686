"""Catalogues as tables: `tgm.catalogue(path).to_pandas()`. pandas and pyarrow are imported when they are asked for."""

import json
import os

import numpy as np

from . import _native

ENDING = ".catalog"
TREE = ".tree"
# The columns that every table has, and of what they are.
PLACES = ("message", "object", "offset", "length")


class Catalogue:
    """Where the objects of a file are, and the values of keys: a row for each object.

    `tgm.catalogue` makes it. `keys` are the dotted paths of keys that have a column.
    """

    __module__ = "tgmio"

    def __init__(self, native, data):
        self._native = native
        self._source = data

    @property
    def keys(self):
        """The keys that have a column."""
        return self._native.keys

    @property
    def message_count(self):
        """The number of messages."""
        return self._native.message_count

    def __len__(self):
        return self._native.object_count

    def __repr__(self):
        return f"<tgm.Catalogue of {self.message_count} messages, {len(self)} objects: {', '.join(self.keys)}>"

    def check(self, source=None):
        """What the catalogue is worth for a file: "fresh", or what is wrong. The file is the one that it was made of, or given."""
        source = self._source if source is None else os.fsdecode(source)
        if source is None:
            raise ValueError("argument 'source': this catalogue was opened by itself: name the file that it is of")
        return self._native.check(source)

    def save(self, path=None):
        """Writes the catalogue to a file: beside its data as `FILE.catalog`, where all functions find it, or at `path`."""
        if path is None:
            if self._source is None or _native._shown(self._source)[1]:
                raise ValueError("argument 'path': the catalogue is of no file of this machine: name a file")
            path = self._source + ENDING
        _write(_path_to_write(path), self._native.to_bytes())

    def to_pandas(self):
        """The table as a DataFrame of pandas: numbers as `int64`, `uint64` or `float64`, texts as categories.

        Integers of which some are missing are `Int64` or `UInt64`.
        Beside the keys it has the columns message, object, offset and length.
        """
        import pandas as pd

        columns = {}
        for name, kind, values, is_missing in self._columns():
            if kind == "texts":
                codes, known = values
                columns[name] = pd.Categorical.from_codes(codes, known)
            elif is_missing is None or kind == "float64":
                columns[name] = values
            else:
                columns[name] = (pd.arrays.BooleanArray if kind == "bool" else pd.arrays.IntegerArray)(values, is_missing)
        return pd.DataFrame(columns)

    def to_arrow(self):
        """The table as a Table of pyarrow: int64, uint64, float64, bool, and dictionaries of texts. Numbers without gaps are not copied."""
        import pyarrow as pa

        columns = {}
        for name, kind, values, is_missing in self._columns():
            if kind == "texts":
                codes, known = values
                codes = pa.array(codes.astype("int32"), mask=codes < 0)
                columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array(known, pa.string()))
            else:
                columns[name] = pa.array(values, mask=is_missing)
        return pa.table(columns)

    def _columns(self):
        """Name, kind, values, and which of these are missing, of each column. Texts are numbers among distinct texts."""
        for name, values in zip(PLACES, self._native.places()):
            yield name, "int64", values.view("int64"), None
        for key in self.keys:
            values, codes = self._native.column(key)
            # A null is a value that is missing.
            is_null = np.array([value is None for value in values] or [False])
            is_missing = (codes < 0) | is_null[np.maximum(codes, 0)]
            mask = is_missing if is_missing.any() else None
            kind = _kind_of([value for value in values if value is not None])
            # A key that is the name of a place keeps its own column.
            name = f"key.{key}" if key in PLACES else key
            if kind:
                known = np.array([0 if value is None else value for value in values], kind)
                column = known[np.where(is_missing, 0, codes)]
                if mask is not None and kind == "float64":
                    column[mask] = np.nan
                yield name, kind, column, mask
            else:
                yield name, "texts", _as_texts(values, np.where(is_missing, -1, codes)), mask


class Catalogues:
    """The catalogues of several files: `for each in catalogues` gives each of them, as `Catalogue`. `save` writes a tree of them.

    `tgm.catalogue` makes it of a list of files.
    """

    __module__ = "tgmio"

    def __init__(self, sources, catalogues):
        self._sources = sources
        # None for a tree.
        self._catalogues = catalogues

    @property
    def keys(self):
        """The keys that have a column in one of the catalogues."""
        return list(dict.fromkeys(key for each in self for key in each.keys))

    def __len__(self):
        return sum(each is not None for each in self._catalogues)

    def __iter__(self):
        return (each for each in self._catalogues if each is not None)

    def __repr__(self):
        return f"<tgm.Catalogues of {len(self._sources)} files: {', '.join(self.keys)}>"

    def save(self, path):
        """Writes a tree, `NAME.tree`, of which `tgm.open_dataset` opens those files that may have what `only` asks for.

        The files lie in the folder of the tree or below. The catalogues that they lack are written beside them.
        """
        path = _path_to_write(path)
        if not path.endswith(TREE):
            raise ValueError(f"argument 'path': the name of a tree ends with {TREE}: {_native._shown(path)[0]}")
        folder, names = os.path.realpath(os.path.dirname(path)), []
        for source in self._sources:
            # The file itself can be a link to elsewhere: its name counts.
            real = os.path.join(os.path.realpath(os.path.dirname(source)), os.path.basename(source))
            name = os.path.relpath(real, folder)
            if name.split(os.sep)[0] == os.pardir:
                why = f"it does not lie in the folder of the tree, {_native._shown(folder)[0]}, or below"
                raise ValueError(f"{_native._shown(source)[0]}: {why}")
            if not _is_text(name):
                raise ValueError(f"{_native._shown(source)[0]}: a tree holds names that are UTF-8")
            names.append(name.replace(os.sep, "/"))
        children = []
        for source, name, each in zip(self._sources, names, self._catalogues):
            beside = source if each is None else source + ENDING
            content = None if each is None else each._native.to_bytes()
            try:
                with open(beside, "rb") as file:
                    found = file.read()
            except FileNotFoundError:
                found = None
            if content is not None and found != content:
                _write(beside, content)
            children.append((name, found if content is None else content))
        _write(path, _native._tree(children))


def _is_text(name):
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _path_to_write(path):
    """A path of this machine."""
    path = os.fsdecode(path)
    name, is_address = _native._shown(path)
    if is_address:
        raise OSError(f"cannot create {name}: addresses are read, and not written")
    return os.path.abspath(path)


def _write(path, content):
    """Writes a file, which appears when it is complete."""
    with _native._Output.replace(path) as out:
        out.write(content)
        out.finish()


def _kind_of(values):
    """The type of numpy that has all values: None for texts, and for numbers of which no type has all."""
    kinds = {type(value) for value in values}
    if not kinds or not kinds <= {bool, int, float} or bool in kinds and len(kinds) > 1:
        return None
    if kinds in ({bool}, {int}):
        least, most = min(values), max(values)
        known = ("bool",) if kinds == {bool} else ("int64", "uint64")
        return next((each for each in known if each == "bool" or np.iinfo(each).min <= least and most <= np.iinfo(each).max), None)
    # An integer beyond 2**53 would become another number.
    return "float64" if all(float(value) == value or value != value for value in values) else None


def _as_texts(values, codes):
    """Codes and distinct texts. Lists and maps are written as JSON."""
    texts = [value if isinstance(value, str) else json.dumps(value, default=repr) for value in values]
    known = list(dict.fromkeys(texts))
    at = {text: number for number, text in enumerate(known)}
    renewed = np.array([at[text] for text in texts] or [0], "int64")
    return np.where(codes < 0, -1, renewed[np.maximum(codes, 0)]), known


def _path_of(source):
    source = os.fsdecode(source)
    return source if _native._shown(source)[1] else os.path.abspath(os.path.expanduser(source))


def _beside(source):
    """The catalogue beside a file, if it fits."""
    if not os.path.isfile(source + ENDING):
        return None
    found = Catalogue(_native._Catalog.open(source + ENDING), source)
    return found if found.check() == "fresh" else None


def catalogue(source, keys=None):
    """The catalogue of `tgm.catalogue`."""
    if isinstance(source, (list, tuple)):
        return _catalogues([_path_of(each) for each in source], keys)
    source = _path_of(source)
    if source.endswith(ENDING):
        if keys is not None:
            raise ValueError("argument 'keys': a catalogue that is opened has its own")
        data = source.removesuffix(ENDING)
        return Catalogue(_native._Catalog.open(source), data if _native._shown(data)[1] or os.path.exists(data) else None)
    if keys is None and (found := _beside(source)) is not None:
        return found
    return Catalogue(_native._Catalog.build(source, None if keys is None else list(keys)), source)


def _catalogues(sources, keys):
    """Catalogues of several files, with the same keys. The ones beside the files are taken if they have these."""
    if not sources:
        raise ValueError("a list of files is expected, not an empty one")
    for source in sources:
        name, is_address = _native._shown(source)
        if is_address or source.endswith(ENDING):
            raise ValueError(f"{name}: a list is of files of messages, and of trees, on this machine")
    files = [each for each in sources if not each.endswith(TREE)]
    found = {each: _beside(each) for each in files}
    if keys is not None:
        keys = list(keys)
    elif None in found.values():
        keys = _native._varying_keys(files)
    for source, known in found.items():
        if known is None or not set(keys or ()) <= set(known.keys):
            found[source] = Catalogue(_native._Catalog.build(source, keys), source)
    return Catalogues(sources, [found.get(each) for each in sources])
