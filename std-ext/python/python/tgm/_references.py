"""References of kerchunk: the objects of an archive as chunks of Zarr that lie in files, without a copy."""

import base64
import json
import math

import numpy as np

from . import _native
from ._sources import Archive, sources_of
from ._xarray import is_joined
from ._zarr import TYPES, _Array, _attributes, _small


def references(source, options):
    """References of version 1, over keys of Zarr 2: what fsspec, xarray, kerchunk and VirtualiZarr open.

    An error names each variable whose objects are not chunks as they lie.
    """
    archive = Archive(sources_of(source), options)
    natives = archive.native()
    if not natives:
        raise ValueError(f"{_native._shown(archive.sources[0])[0]}: the archive has no objects")
    if is_joined(archive):
        names = ", ".join(_native._shown(each)[0] for each in archive.sources[:3])
        raise ValueError(f"{names}: several files, and parts that were appended, have chunks of their own: they are not one array")
    native = natives[0]
    # fsspec takes the rest of such an address as it is: nothing is quoted.
    urls = [each if _native._shown(each)[1] else f"file://{each}" for each in archive.sources]
    refs, refused, arrays = {".zgroup": _text({"zarr_format": 2})}, [], set()
    coordinates = _small(archive, 0)
    for about in native.variables:
        name = about["name"]
        if about["texts"] is not None or np.dtype(about["dtype"]).name not in TYPES:
            continue
        array = _Array(native, about, None, False)
        arrays.add(name)
        why = _refusal(array)
        if why and math.prod(array.shape) * array.dtype.itemsize <= 1 << 16 and len(array.shape) <= 1:
            # Labels of dimensions are few: they are written down.
            _inline(refs, name, array.native.read(name, (slice(None),) * len(array.shape)).reshape(array.shape), about)
            continue
        if why:
            refused.append(f"{name}: {why}")
            continue
        dims = set(about["dims"])
        aside = [str(key) for key, it in coordinates.coords.items() if key not in dims and set(it.dims) <= dims]
        _lying(refs, urls, array, {"coordinates": " ".join(aside)} if aside else {})
    if refused:
        raise ValueError(f"these are not chunks as they lie: {'; '.join(refused)}")
    for name, variable in coordinates.drop_vars(arrays, errors="ignore").variables.items():
        if variable.dtype.kind in "OUS":
            continue
        import xarray

        encoded = xarray.conventions.encode_cf_variable(variable, name=name)
        _inline(refs, str(name), np.asarray(encoded.values), {"dims": encoded.dims, "attributes": encoded.attrs})
    refs[".zattrs"] = _text(_attributes(native.attributes, None))
    return {"version": 1, "refs": refs}


def _refusal(array):
    """Why the objects of an array are not its chunks. None if they are."""
    if not array.is_even:
        return "its last chunks are shorter than the others"
    if array.how != "payload":
        return "its values are packed, or stored in different ways, or by a codec that Zarr lacks"
    if len({codec["name"] for codec in array.codecs} & {"numcodecs.shuffle"}) and array.codecs[1]["configuration"]["elementsize"] < 1:
        return "its bytes are shuffled in an unknown way"
    return None


def _lying(refs, urls, array, more):
    """An array whose chunks lie in files."""
    order, filters = "<", []
    for codec in array.codecs:
        given = codec.get("configuration", {})
        if codec["name"] == "bytes":
            order = ">" if given.get("endian") == "big" else "<"
        else:
            # All in filters, as VirtualiZarr wants them.
            name = codec["name"].removeprefix("numcodecs.")
            wanted = {"shuffle": ("elementsize",), "zstd": ("level",), "lz4": ("acceleration",)}[name]
            filters.append({"id": name, **{key: given[key] for key in wanted}})
    about = {**array.about, "attributes": {**array.about["attributes"], **more}}
    # For readers of Zarr 2 a fill value stands for missing values too, so whole numbers have one only where some are missing.
    has_fill = array.dtype.kind == "f" or len(array.numbers) < math.prod(array.counts)
    _describe(refs, array.name, array.shape, array.chunks, array.dtype.newbyteorder(order), filters, array.fill() if has_fill else None, about)
    for number in array.numbers.tolist():
        index = np.unravel_index(number, array.counts) if array.counts else (0,)
        source, offset, length = array.native.payload_place(array.name, number)
        refs[f"{array.name}/{'.'.join(str(int(each)) for each in index)}"] = [urls[source], offset, length]


def _inline(refs, name, values, about):
    """A small array, whose only chunk is written down."""
    values = np.asarray(values, order="C")
    fill = "NaN" if values.dtype.kind == "f" else None
    _describe(refs, name, values.shape, tuple(max(1, size) for size in values.shape), values.dtype, [], fill, about)
    key = ".".join("0" for _ in values.shape) or "0"
    if values.size:
        refs[f"{name}/{key}"] = "base64:" + base64.b64encode(values.tobytes()).decode()


def _describe(refs, name, shape, chunks, dtype, filters, fill, about):
    refs[f"{name}/.zarray"] = _text({
        "zarr_format": 2, "shape": [int(size) for size in shape], "chunks": [int(chunk) for chunk in chunks],
        "dtype": np.dtype(dtype).str, "order": "C", "filters": filters or None, "compressor": None, "fill_value": fill,
    })
    attributes = _attributes(about["attributes"], np.dtype(dtype))
    refs[f"{name}/.zattrs"] = _text({**attributes, "_ARRAY_DIMENSIONS": list(about["dims"])})


def _text(value):
    return json.dumps(value, default=lambda it: it.tolist() if hasattr(it, "tolist") else str(it))
