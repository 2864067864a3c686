"""Archives as datasets of xarray: opening and saving. What takes time to import is imported when a function is called."""

import warnings

from ._catalogue import Catalogue, Catalogues  # noqa: F401
from ._sources import OPTIONS, Archive, shown, sources_of


def open_dataset(source, /, **options):
    """Opens an archive as a dataset of xarray: `xarray.open_dataset(source, engine="tgm", **options)`.

    `source` is a path, an address, a pattern such as "run/*.tgm", a folder, or a list of these; or bytes, a file object such as one
    of fsspec, an archive of `tgm.open`, or a list of such. Messages of one kind become a
    variable whose dimensions are the keys that differ: number, time, step, level. Files that came from NetCDF, Zarr or
    `save_dataset` are joined along the dimensions whose coordinates differ, as `xarray.open_mfdataset` joins them. What does not
    fit is named by a warning and by `dataset.tgm.left_out`; `open_datasets` opens it too.

    Options, beside what xarray takes, such as `chunks`:

    - `profile`: "mars" for fields, "cf" for what came from NetCDF, Zarr or `save_dataset`; "auto" finds out. "plain" knows no keys but
      `name`: each key that differs is a dimension with its values as they are, and arrays have dimensions `dim_0`, `dim_1`. A dict
      says which of your own keys mean something: {"name": "variable", "step": ["lead_time", "lead"]}, of `name`, `number`, `date`,
      `time`, `step`, `level` and `level_type`.
    - `join`: "widen" fills steps and levels that a variable lacks with NaN; "exact" leaves such a variable out.
    - `duplicates`: "error", "first" or "last", for two messages with the same keys.
    - `time_dims`: ("valid_time",) for a dimension of valid times in place of `time` and `step`, as cfgrib has it: analyses and short
      forecasts are one variable. Two fields of one valid time are an error, unless `duplicates` chooses.
    - `squeeze`: False keeps dimensions of length 1, as `xarray.open_mfdataset` needs them.
    - `fill`: fill values by the names of variables, for integers with holes.
    - `dtype`: "float32" for floats of that type, as cfgrib has them. They are float64 where values are packed.
    - `names`: "earthkit" for the names of earthkit-data: `2t`, `member`, `forecast_reference_time`, `level`; "cfgrib" by default.
    - `grib_attributes`: True adds the attributes `GRIB_*` of cfgrib, for messages that came from GRIB.
    - `group`: the group of a file of NetCDF or Zarr.
    - `grid`: a file with the coordinates of an unstructured grid, which fields of ICON and ORCA name and do not have: an archive of numpy
      (`.npz`) in degrees, or messages, whose `units` may be radians. It has `clat` and `clon`, `latitude` and `longitude` or the like: one
      for each value of a field, or of the last dimensions of an object that has several fields.
    - `catalog`: a catalogue of `tgm catalog`, a path or an address, by which messages need not be read; a list of them for a list of
      files. Without it, `FILE.catalog` beside a file or an address is used. One that does not fit its file is not used, with a warning. With False none is.
    - `only`: a filter, or a list of them that must all hold, in the words of `tgm ls -w`: "mars.step<=24 and mars.param=t". Other
      messages are left out. Only the files of a tree (`tgm catalog -o NAME.tree`) are opened that may have some.
    """
    import xarray

    # It is among what dask makes names of: two versions of a file have different ones.
    archive = Archive(sources_of(source), options)
    return xarray.open_dataset(_name(source, archive), engine=_backend(), _opened=(archive, 0), **options)


def _name(source, archive):
    """What xarray takes for a source: paths as they are, and a name for what is open."""
    return source if isinstance(archive.sources[0], str) else shown(archive.sources[0])[0]


def open_datasets(source, /, **options):
    """Opens an archive as a list of datasets that hold everything, the one with the most messages first.

    It takes the options of `open_dataset`.
    """
    import xarray

    from ._xarray import dataset_count

    archive = Archive(sources_of(source), options)
    engine = _backend()
    with warnings.catch_warnings():
        # What one leaves out is in the others.
        warnings.filterwarnings("ignore", message=".* do not fit into the dataset")
        return [
            xarray.open_dataset(_name(source, archive), engine=engine, _opened=(archive, number), **options)
            for number in range(dataset_count(archive))
        ]


def save_dataset(dataset, path, *, encoding=None, append_dim=None):
    """Writes a dataset of xarray to a file, which `open_dataset` gives back.

    A variable becomes a message, with an object for each index of all dimensions but the last two; small ones are joined.
    `encoding` says how values of a variable are stored, by its name:

    - `within`: the greatest error, for which values are packed in as few bits as it allows;
    - `compression`: "zstd", "lz4", "szip" (of packed values), "none"; zstd of shuffled bytes by default, without loss;
    - `chunks`: the shape of objects.

    It may stand under `"tgm"` too, as in `encoding={"t2m": {"tgm": {"within": 0.01}}}`. Coordinates are stored plain. The file
    appears when it is complete.

    With `append_dim` the dataset goes on where the one in the file ends: variables with that dimension are appended, and the others
    must be equal to the ones in the file. Without a file it is created.
    """
    from ._save import save

    # It registers `Dataset.tgm`.
    _backend()
    save(dataset, path, encoding or {}, append_dim)


def zarr_store(source, /, *, codec="tgm", **options):
    """A read-only store of Zarr over an archive: `zarr.open_group(tgm.zarr_store(source))`, `xarray.open_zarr(…)`.

    It has the variables of `open_dataset`, and takes its options but `dtype` and `chunk`. Each object is a chunk. Objects that are
    stored plain, shuffled, or compressed by zstd or lz4 are given as they lie. Others are given as frames, which the codec `tgm`
    decodes; zarr knows it where this package is installed. With `codec=None` they are decoded first, for readers that have no
    such codec. A place without an object is a chunk that is missing.
    """
    from ._zarr import store

    return store(source, codec, **options)


def references(source, /, **options):
    """References of kerchunk to an archive, as a dict that `json.dump` writes: its objects as chunks of Zarr, where they lie.

    It has the variables of `open_dataset`, and takes the options of `zarr_store` but `codec`. Whatever reads references opens them,
    without this package: `xarray.open_dataset("reference://", engine="zarr", backend_kwargs={"consolidated": False,
    "storage_options": {"fo": references}})`. Objects that are stored plain, shuffled, or compressed by zstd or lz4 are chunks as they
    lie; ValueError names the variables that others have. Coordinates of fields and texts are written down. Addresses are without user,
    password and query: readers bring their own.
    """
    from ._references import references

    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TypeError(f"unknown options: {', '.join(unknown)}; known: {', '.join(OPTIONS)}")
    return references(source, options)


def catalogue(source, /, *, keys=None):
    """The catalogue of a file: a table with a row for each object. `to_pandas()` and `to_arrow()` give it, `save()` writes it.

    `source` is a file or an address of messages, or a catalogue that was saved (`FILE.catalog`). If a file has a catalogue beside it
    that fits, that one is opened, with the keys that it has: `tgm catalog --auto` takes those that vary. Otherwise the metadata of all
    messages are read, and no values: with `keys`, dotted paths such as `mars.step`, or with all keys that the file has, and `dtype`,
    `shape`, `codec`, `bytes` and `stored` of its objects. Lists, and keys with more than 65,535 values, are among them if they are named.

    A list of files gives `Catalogues`, which `save("NAME.tree")` writes as a tree, with the catalogues that the files lack. Trees may be
    among them.

    >>> import numpy, tgmio as tgm
    >>> tgm.save("steps.tgm", [numpy.arange(3)], metadata={"step": 6})
    >>> table = tgm.catalogue("steps.tgm", keys=["step", "dtype"])
    >>> len(table), table.keys
    (1, ['step', 'dtype'])
    """
    from ._catalogue import catalogue

    return catalogue(source, keys)


def _backend():
    from ._xarray import TgmBackendEntrypoint

    return TgmBackendEntrypoint
