"""The backend of xarray: `xarray.open_dataset("archive.tgm", engine="tgm")`."""

import math
import os
import warnings

import numpy as np
import xarray as xr
from xarray.backends import BackendEntrypoint
from xarray.core import indexing

from . import _native
from ._arrays import BESIDE_BYTES, BoxArray
from ._fields import add_grib_attributes, as_earthkit
from ._sources import Archive, shown, sources_of

# Bytes of a chunk that is not asked for otherwise, and the greatest number of chunks of a variable.
CHUNK_BYTES = 8 << 20
MOST_CHUNKS = 10_000
# Bytes that are decoded in the time in which a small object is.
DECODED_BYTES = 256 << 10
# Seconds since 1970 that nanoseconds can express.
FIRST_NS, LAST_NS = -9_223_372_036, 9_223_372_036
NO_TIME = np.iinfo(np.int64).min
# Bytes of a coordinate from which on it travels as its place in the archive, unless it is an index.
TRAVELLING_BYTES = 2048


class TgmArray(BoxArray):
    """A variable whose values are read when they are asked for."""

    def __init__(self, archive, number, variable, dtype):
        self.archive = archive
        self.number = number
        self.name = variable["name"]
        self.dims = variable["dims"]
        self.shape = variable["shape"]
        self.piece = variable["piece"]
        self.stored = np.dtype(variable["dtype"])
        self.dtype = np.dtype(dtype)

    def _read(self, key):
        """The values of a box: integers, slices and lists of indices.

        For lists of indices, an object would be decoded once for each of them. So all between the first index and the last one is
        read, where that costs less.
        """
        lists = {axis for axis, each in enumerate(key) if np.ndim(each) == 1 and len(each) > 1 and self.piece[axis] > 1}
        if not lists:
            return self._read_picked(key)
        box = [slice(int(np.min(each)), int(np.max(each)) + 1) if axis in lists else each for axis, each in enumerate(key)]
        lens = [self._count(axis, each) for axis, each in enumerate(box)]
        needed = math.prod(lens) * self.dtype.itemsize
        decoded = [self._count(axis, key[axis]) if axis in lists else -(-size // self.piece[axis]) for axis, size in enumerate(lens)]
        if needed > DECODED_BYTES * math.prod(decoded):
            return self._read_picked(key)
        if needed > BESIDE_BYTES:
            longest = max((axis for axis in range(len(key)) if axis not in lists), key=lambda axis: decoded[axis], default=None)
            if longest is None or decoded[longest] == 1:
                return self._read_picked(key)
            return self._read_in_parts(key, longest, max(1, BESIDE_BYTES * lens[longest] // needed))
        values = self._read_picked(tuple(box))
        kept = [axis for axis in range(len(key)) if not self._is_index(key[axis])]
        for at, axis in enumerate(kept):
            if axis in lists:
                values = values.take(np.asarray(key[axis]) - box[axis].start, at)
        return values

    @staticmethod
    def _is_index(key):
        return not isinstance(key, slice) and np.ndim(key) == 0

    def _count(self, axis, key):
        """How many indices a key picks of a dimension."""
        return len(range(*key.indices(self.shape[axis]))) if isinstance(key, slice) else np.size(key)

    def _read_in_parts(self, key, axis, count):
        """The values of a box, so many indices of a dimension at a time, in whole objects if it has some."""
        count = max(1, count // self.piece[axis]) * self.piece[axis]
        each = key[axis]
        picked = np.arange(self.shape[axis])[each] if isinstance(each, slice) else np.asarray(each)
        along = sum(not self._is_index(other) for other in key[:axis])
        parts = (picked[at : at + count] for at in range(0, len(picked), count))
        if isinstance(each, slice):
            step = each.step or 1
            parts = (slice(int(part[0]), int(part[-1]) + 1, step) for part in parts)
        return np.concatenate([self._read((*key[:axis], part, *key[axis + 1 :])) for part in parts], along)

    def _read_picked(self, key):
        """The values of a box, as the compiled half reads them."""
        keys = tuple(each if isinstance(each, slice) else np.asarray(each).tolist() for each in key)
        lens = [
            len(range(*each.indices(size))) if isinstance(each, slice) else len(each)
            for each, size in zip(keys, self.shape)
            if not isinstance(each, int)
        ]
        native = self.archive.native()[self.number]
        # Straight into floats of 32 bits: longer ones would take three times the memory.
        is_single = self.stored == np.float64 and self.dtype == np.float32
        values = native.read(self.name, keys, is_single)
        if is_single:
            return values.reshape(lens)
        if values.dtype != self.stored:
            values = values.view(self.stored)
        values = values.reshape(lens)
        if self.stored != self.dtype:
            # Times of numpy are stored as integers.
            values = values.view(self.dtype) if self.dtype.kind in "mM" else values.astype(self.dtype)
        return values


class CoordinateArray(BoxArray):
    """A coordinate of fields that is not an index, such as the latitudes of a reduced grid: the archive has its values."""

    def __init__(self, archive, number, name, variable):
        self.archive, self.number, self.name = archive, number, name
        self.shape, self.dtype = variable.shape, variable.dtype

    def _read(self, key):
        values = next(each[3] for each in self.archive.native()[self.number].coordinates if each[0] == self.name)
        values = (_timed(values, self.dtype.kind) if self.dtype.kind in "mM" else values).reshape(self.shape)
        # The last dimension first: an index alone drops its dimension.
        for axis in reversed(range(len(key))):
            values = values[(slice(None),) * axis + (key[axis],)]
        return values


class TgmBackendEntrypoint(BackendEntrypoint):
    """Archives of Tensogram messages, and what `tgm.save_dataset` writes."""

    description = "Open archives of Tensogram messages (.tgm)"
    url = "https://github.com/ecmwf/tensogram"
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj", "mask_and_scale", "decode_times", "concat_characters", "decode_coords", "drop_variables",
        "use_cftime", "decode_timedelta", "group", "profile", "join", "duplicates", "squeeze", "fill", "dtype", "chunk",
        "catalog", "only", "time_dims", "grid", "names", "grib_attributes", "_opened",
    )

    def open_dataset(
        self, filename_or_obj, *, mask_and_scale=True, decode_times=True, concat_characters=True, decode_coords=True,
        drop_variables=None, use_cftime=None, decode_timedelta=None, group=None, profile=None, join=None,
        duplicates=None, squeeze=None, fill=None, dtype=None, chunk=None, catalog=None, only=None,
        time_dims=None, grid=None, names=None, grib_attributes=False, _opened=None,
    ):
        given = {"profile": profile, "join": join, "duplicates": duplicates, "squeeze": squeeze, "fill": fill,
                 "group": group, "catalog": catalog, "only": only, "time_dims": time_dims,
                 "grid": grid, "mask_and_scale": mask_and_scale}
        options = {
            "mask_and_scale": mask_and_scale, "decode_times": decode_times, "concat_characters": concat_characters,
            "decode_coords": decode_coords, "drop_variables": drop_variables, "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta, "dtype": dtype, "chunk": chunk, "names": names,
            "grib_attributes": grib_attributes,
        }
        if names not in (None, "cfgrib", "earthkit"):
            raise ValueError(f"argument 'names': one of 'cfgrib', 'earthkit' is expected, not {names!r}")
        # An archive that was made before, and the number of the dataset.
        archive, number = _opened or (Archive(sources_of(filename_or_obj), given), 0)
        if number >= len(archive.native()):
            raise ValueError(f"{shown(archive.sources[0])[0]}: {_why_nothing(archive)}")
        dataset = _one(archive, number, **options)
        if number == 0:
            _warn(archive, dataset.encoding["tgm"])
        return dataset

    def guess_can_open(self, filename_or_obj):
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return os.fspath(filename_or_obj).rstrip("/").endswith((".tgm", ".tree"))

    def open_groups_as_dict(self, filename_or_obj, **options):
        """A dataset for each group of a file, or for each dataset of fields that do not fit together."""
        archive = Archive(sources_of(filename_or_obj), options)
        groups = _native._dataset_groups(list(archive.sources), archive.native_options())
        if groups:
            found = {"/": self.open_dataset(filename_or_obj, _opened=(archive, 0), **options)}
            for group in groups:
                found[f"/{group}"] = self.open_dataset(filename_or_obj, **{**options, "group": group})
            return found
        count = dataset_count(archive)
        if count <= 1:
            return {"/": self.open_dataset(filename_or_obj, _opened=(archive, 0), **options)}
        with warnings.catch_warnings():
            # All of them are opened.
            warnings.simplefilter("ignore", LeftOutWarning)
            return {
                f"/{number}": self.open_dataset(filename_or_obj, _opened=(archive, number), **options)
                for number in range(count)
            }

    def open_datatree(self, filename_or_obj, **options):
        return xr.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def _why_nothing(archive):
    """Why an archive has no dataset, and what a filter may have meant."""
    only = dict(archive.options).get("only")
    if only is None:
        return "the archive has no objects"
    # A tree says by itself which keys it lacks.
    files = [source for source in archive.sources if isinstance(source, str) and not source.endswith(".tree")]
    hint = _native._hint(files[0], list(only)) if files else None
    meant = hint.removeprefix("no object matches the query") if hint else ""
    return f"no object of the archive is selected{meant}"


def dataset_count(archive):
    """The number of datasets that an archive is opened as."""
    return len(archive.native())


def _one(
    archive, number, mask_and_scale=True, decode_times=True, concat_characters=True, decode_coords=True,
    drop_variables=None, use_cftime=None, decode_timedelta=None, dtype=None, chunk=None, names=None, grib_attributes=False,
):
    """A dataset as the compiled half has it, decoded."""
    native = archive.native()[number]
    dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
    variables = {}
    for about in native.variables:
        if about["name"] not in dropped:
            variables[about["name"]] = _variable(archive, number, about, dtype, chunk)
    coordinates = {}
    for name, dims, kind, values, attributes in native.coordinates:
        if name in dropped:
            continue
        if kind == "times" and not decode_times:
            kind, attributes = "numbers", {**attributes, "units": "seconds since 1970-01-01"}
        if kind == "durations" and decode_timedelta is False:
            kind, attributes = "numbers", {**attributes, "units": "seconds"}
        found = _coordinate(variables, coordinates, dims, kind, values, attributes)
        if name not in found.dims and kind != "texts" and found.nbytes >= TRAVELLING_BYTES:
            lazy = indexing.LazilyIndexedArray(CoordinateArray(archive, number, name, found))
            found = xr.Variable(found.dims, lazy, found.attrs)
        coordinates[name] = found
    attributes = native.attributes
    if not native.is_of_files:
        dataset = xr.Dataset(variables, coords=coordinates, attrs=attributes)
    else:
        # Texts are joined already, of whatever length they are.
        whole = {about["name"]: False for about in native.variables if about["texts"] is not None}
        others = concat_characters if isinstance(concat_characters, dict) else dict.fromkeys(variables, concat_characters)
        decoded, attributes, aside = xr.conventions.decode_cf_variables(
            {**variables, **coordinates}, attributes, mask_and_scale=mask_and_scale, decode_times=decode_times,
            concat_characters={**others, **whole}, decode_coords=decode_coords, drop_variables=drop_variables,
            use_cftime=use_cftime, decode_timedelta=decode_timedelta,
        )
        dataset = xr.Dataset(decoded, attrs=attributes)
        dataset = dataset.set_coords(aside.intersection(decoded))
    sources = [source if isinstance(source, str) else source.source for source in archive.sources]
    source = sources[0] if len(sources) == 1 else sources
    dataset.encoding = {"source": source, "tgm": {"left_out": native.left_out, "notes": native.notes, "lost": native.lost,
                                                  "archives": [(archive, number)]}}
    if unlimited := native.unlimited:
        dataset.encoding["unlimited_dims"] = set(unlimited)
    if not native.is_of_files:
        if grib_attributes:
            add_grib_attributes(native, archive.sources, dataset)
        if names == "earthkit":
            dataset = as_earthkit(dataset)
    return dataset


class LeftOutWarning(UserWarning):
    """A dataset does not hold all that its archive has."""


class CatalogWarning(UserWarning):
    """A catalogue was not used, as it does not fit its file. All messages were read instead."""


def _untouched(data):
    """The array of an archive that a variable has, if nothing was done with it since it was opened."""
    while data is not None and not isinstance(data, TgmArray):
        key = getattr(data, "key", None)
        if key is not None and any(each != slice(None) for each in key.tuple):
            return None
        data = getattr(data, "array", None)
    return data


def _warn(archive, about):
    """Says what a dataset lacks."""
    left_out = [each for each in about["left_out"] if not each.endswith("it is in another group")]
    if left_out:
        names = shown(archive.sources[0])[0] if len(archive.sources) == 1 else f"{len(archive.sources)} files"
        some = "; ".join(left_out[:3]) + ("; …" if len(left_out) > 3 else "")
        text = f"{names}: {len(left_out)} cubes do not fit into the dataset: {some}. tgm.open_datasets opens all."
        warnings.warn(text, LeftOutWarning, stacklevel=4)
    if lost := about["lost"]:
        warnings.warn("; ".join(lost[:3]) + ("; …" if len(lost) > 3 else ""), LeftOutWarning, stacklevel=4)
    for note in about["notes"]:
        if note.startswith("the catalogue "):
            warnings.warn(note, CatalogWarning, stacklevel=4)
        elif " labels are there more than once" in note:
            warnings.warn(note, UserWarning, stacklevel=4)


def _variable(archive, number, about, dtype, chunk):
    attributes = about["attributes"]
    if about["texts"] is not None:
        # They are decoded already.
        attributes.pop("_Encoding", None)
        texts = _text_array(about["texts"])
        if attributes.pop("numpy_dtype", None) == "S":
            texts = np.array([text.encode() for text in about["texts"]], "S")
        return xr.Variable(about["dims"], texts.reshape(about["shape"]), attributes)
    wanted = np.dtype(about["dtype"])
    if dtype is not None and wanted.kind == "f":
        wanted = np.dtype(dtype)
    if times := attributes.pop("numpy_dtype", None):
        wanted = np.dtype(times)
    array = TgmArray(archive, number, about, wanted)
    encoding = {
        "preferred_chunks": _preferred_chunks(about, _chunks(about, wanted.itemsize, chunk)),
        "tgm": {"piece": about["piece"], "objects": about["objects"], "holes": about["holes"]},
    }
    return xr.Variable(about["dims"], indexing.LazilyIndexedArray(array), attributes, encoding)


def _text_array(texts):
    """An array of texts: of fixed width, unless that takes much more memory than the texts."""
    longest = max(map(len, texts), default=0)
    is_ragged = longest * len(texts) > 8 * sum(map(len, texts)) + (1 << 20)
    return np.array(texts, dtype=object if is_ragged else f"<U{max(1, longest)}")


def _preferred_chunks(about, sizes):
    """The sizes of chunks by dimension. Where objects have other shapes in other files, no chunk has values of two files."""
    found = dict(zip(about["dims"], sizes))
    if about["seams"]:
        axis, starts = about["seams"]
        size, ends = sizes[axis], [*starts[1:], about["shape"][axis]]
        along = [min(size, end - at) for start, end in zip(starts, ends) for at in range(start, end, size)]
        if len(along) <= MOST_CHUNKS:
            found[about["dims"][axis]] = tuple(along)
    return found


def _chunks(about, itemsize, chunk):
    """The shape of chunks: objects, joined along the innermost dimensions until they have a few MB."""
    if chunk not in (None, "object"):
        raise ValueError(f"argument 'chunk': 'object' is expected, not {chunk!r}")
    shape, chunks = about["shape"], [max(1, min(size, piece)) for size, piece in zip(about["shape"], about["piece"])]
    if chunk == "object":
        return tuple(chunks)

    def count():
        return math.prod(math.ceil(size / each) for size, each in zip(shape, chunks) if size)

    for axis in reversed(range(len(shape))):
        bytes_now = math.prod(chunks) * itemsize
        pieces = max(1, math.ceil(shape[axis] / chunks[axis]))
        factor = min(pieces, max(1, CHUNK_BYTES // max(1, bytes_now)))
        chunks[axis] = min(shape[axis], chunks[axis] * factor) or 1
        if chunks[axis] < shape[axis]:
            break
    for axis in reversed(range(len(shape))):
        while count() > MOST_CHUNKS and chunks[axis] < shape[axis]:
            chunks[axis] = min(shape[axis], chunks[axis] * 2)
    return tuple(chunks)


def _timed(values, letter):
    """Seconds as times or durations: of nanoseconds, where these can express all of them."""
    known = values[values != NO_TIME]
    unit = "ns" if not known.size or (known.min() > FIRST_NS and known.max() < LAST_NS) else "s"
    return values.astype(f"{letter}8[s]").astype(f"{letter}8[{unit}]")


def _coordinate(variables, coordinates, dims, kind, values, attributes):
    if kind == "texts":
        values = _text_array(values)
    elif kind in ("times", "durations"):
        values = _timed(values, "M" if kind == "times" else "m")
    if not dims:
        return xr.Variable((), values[0], attributes)
    sizes = {}
    for variable in [*variables.values(), *coordinates.values()]:
        sizes.update(variable.sizes)
    if len(dims) == 1:
        return xr.Variable(dims, values, attributes)
    shape = [sizes.get(dim, -1) for dim in dims]
    return xr.Variable(dims, values.reshape(shape), attributes)


@xr.register_dataset_accessor("tgm")
class TgmAccessor:
    """What an archive tells of a dataset: `dataset.tgm`."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._about = dataset.encoding.get("tgm", {})

    @property
    def left_out(self):
        """What the archive has and the dataset lacks, in words."""
        return list(self._about.get("left_out", ()))

    @property
    def notes(self):
        """What else is worth knowing, such as messages that are there twice."""
        return list(self._about.get("notes", ()))

    def holes(self, most=100):
        """Places without a message, in words: `t step=24 isobaricInhPa=500`. At most `most` of them."""
        found = []
        for archive, number in self._about.get("archives", ()):
            found += archive.native()[number].holes(most - len(found))
        return found

    def append(self, path, dim, *, encoding=None):
        """Appends the dataset along a dimension to what `tgm.save_dataset` wrote: `tgm.save_dataset(ds, path, append_dim=dim)`."""
        from ._save import save

        save(self._dataset, path, encoding or {}, dim)

    def reduce(self, name, statistic, over, weights=None, **labels):
        """A statistic of a variable over dimensions, computed while the archive is read: `ds.tgm.reduce("t2m", "mean", "number")`.

        `statistic` is "count", "sum", "mean", "min", "max" or "std", of the whole population, or a list of these for a dataset of
        them. NaN is left out. `over` is a dimension or a list of them; "grid" stands for the dimensions of latitude and longitude. `labels`
        pick what is taken, as `sel` does. Besides the result this takes some 64 MB, however large the variable is. Values are float64;
        "min" and "max" of integers of 64 bits are exact, and of their type.

        With `weights="area"` each value counts by the area that it stands for: the band between two rows of latitude, which the values
        of a row share, or the cosine of its latitude where there are no rows. `over` then has the dimensions of the latitudes. Counts,
        "min" and "max" have no weights, and "sum" is an error. The tool has the same: `tgm stats --over grid --weigh-latitudes`.
        """
        if weights not in (None, "area"):
            raise ValueError(f"argument 'weights': 'area' or None is expected, not {weights!r}")
        dataset = self._dataset
        if name not in dataset.data_vars:
            raise KeyError(f"the dataset has no variable {name!r}")
        array = dataset[name]
        source = _untouched(array.variable._data)
        if source is None:
            raise ValueError(f"{name}: it was changed, loaded or chunked since it was opened: xarray computes {statistic!r} of it")
        over = [over] if isinstance(over, str) else list(over)
        # Where labels lie, and what is left of the coordinates, is what xarray says.
        places = xr.Dataset({f"place {dim}": (dim, np.arange(size)) for dim, size in array.sizes.items()}, array.coords)
        picked = places.sel(labels) if labels else places
        keys = tuple(np.asarray(picked[f"place {dim}"].values).tolist() for dim in array.dims)
        statistics = [statistic] if isinstance(statistic, str) else list(statistic)
        native = source.archive.native()[source.number]
        # The dimensions may have other names by now.
        own = dict(zip(array.dims, source.dims))
        dims, shape, values = native.reduce(source.name, keys, [own.get(dim, dim) for dim in over], statistics, weights is not None)
        dims = [{old: new for new, old in own.items()}.get(dim, dim) for dim in dims]
        coords = {key: value for key, value in picked.coords.items() if set(value.dims) <= set(dims)}
        # A name that is not known is an error of the compiled half.
        found = {
            each: xr.DataArray(flat.reshape(shape), dims=dims, coords=coords, name=name, attrs=array.attrs)
            for each, flat in zip(statistics, values)
        }
        return found[statistic] if isinstance(statistic, str) else xr.Dataset(found)
