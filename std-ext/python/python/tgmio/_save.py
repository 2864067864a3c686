"""Datasets of xarray as archives. A variable is a message in the form that conversion from Zarr has: objects are chunks."""

import math
import os

import numpy as np
import xarray as xr
from xarray.core.indexes import PandasMultiIndex

from . import _native
from ._append import as_in_file, rest
from ._encoding import packing_within, whole_bytes
from ._message import Encoder
from ._variables import attributes, encoded, texts

# Bytes that an object has at least, where a place of the outer dimensions has fewer.
LEAST_BYTES = 64 << 10
# The greatest width of packed values.
MOST_BITS = 32
KEYS = {"within", "compression", "chunks"}
COMPRESSIONS = ("zstd", "lz4", "szip", "none")


def save(dataset, path, encoding, append_dim=None):
    if not isinstance(dataset, xr.Dataset):
        advice = ": call to_dataset() first" if isinstance(dataset, (xr.DataArray, xr.DataTree)) else ""
        raise TypeError(f"a Dataset is expected, not a {type(dataset).__name__}{advice}")
    path = os.fsdecode(path)
    name, is_address = _native._shown(path)
    if is_address:
        raise OSError(f"cannot create {name}: addresses are read, and not written")
    for index in dataset.xindexes.values():
        if isinstance(index, PandasMultiIndex):
            raise ValueError(f"variable {index.dim!r}: a MultiIndex is not stored: call reset_index({index.dim!r}) first")
    if append_dim is not None and append_dim not in dataset.dims:
        raise ValueError(f"argument 'append_dim': the dataset has no dimension {append_dim!r}")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, "no such folder", folder)
    while append_dim is not None:
        if os.path.exists(path):
            return _append(dataset, path, name, encoding, append_dim)
        try:
            return _create(dataset, path, encoding, is_new=True)
        except FileExistsError:
            # Another program was faster. Its dataset goes on.
            pass
    _create(dataset, path, encoding, is_new=False)


def _create(dataset, path, encoding, is_new):
    wanted = _all_wanted(dataset, encoding)
    with _native._Output.replace(path) as out:
        _write_all(out, dataset, wanted, _unlimited(dataset), {})
        out.finish(is_new=is_new)


def _append(dataset, path, name, encoding, dim):
    """Appends under the lock of the file: what is found out about it holds until all is written."""
    with _native._Output.append(path) as out:
        # What cannot be appended fails before anything is written.
        more, number, known = rest(dataset, path, name, dim)
        _write_all(out, more, _all_wanted(more, encoding), {"part": {"number": number, "dimension": dim}}, known)
        out.finish()


def _all_wanted(dataset, encoding):
    return {name: _wanted(name, options, dataset) for name, options in encoding.items()}


def _write_all(out, dataset, wanted, of_all, known):
    """Writes the messages of a dataset. `of_all` is what each of them says, `known` are the variables that go on in a file."""
    variables, of_dataset = xr.conventions.encode_dataset_coordinates(dataset)
    of_texts = {}
    messages = []
    for name, variable in variables.items():
        if "/" in str(name) or not isinstance(name, str) or not name:
            raise ValueError(f"variable {name!r}: a name is a text without '/'")
        before, options = known.get(name), wanted.get(name, {})
        stored = encoded(name, variable, before and before.variable)
        if stored.dtype.kind in "OUST":
            of_texts[name] = texts(name, stored)
        else:
            found = as_in_file(name, variable, stored, options, before) if before else (stored, stored.dtype)
            messages.append((name, *found, options))
    extra = {"attributes": attributes("the dataset", of_dataset)} if of_dataset and "part" not in of_all else {}
    if of_texts or not messages:
        out.write(_native.encode({**of_all, **extra, "texts": of_texts}, []))
        out.end_message()
        extra = {}
    for name, variable, dtype, options in messages:
        is_coordinate = name in dataset.coords
        _write(out, name, variable, dtype, options, is_coordinate, {**of_all, **extra})
        out.end_message()
        extra = {}


def _unlimited(dataset):
    """What each message says of dimensions that grow in the file of NetCDF that the dataset came from, or is meant for."""
    dims = dataset.encoding.get("unlimited_dims") or ()
    unlimited = sorted(({dims} if isinstance(dims, str) else set(dims)) & set(dataset.dims))
    return {"unlimited": unlimited} if unlimited else {}


def _wanted(name, options, dataset):
    if name not in dataset.variables:
        raise ValueError(f"encoding: the dataset has no variable {name!r}")
    options = dict(options.get("tgm", options))
    unknown = sorted(set(options) - KEYS)
    if unknown:
        raise ValueError(f"encoding of {name!r}: unknown: {', '.join(unknown)}; known: {', '.join(sorted(KEYS))}")
    within = options.get("within")
    if within is not None and not (np.isfinite(within) and within > 0):
        raise ValueError(f"encoding of {name!r}: within: a number above 0 is expected, not {within!r}")
    compression = options.get("compression")
    if compression is not None and compression not in COMPRESSIONS:
        known = ", ".join(COMPRESSIONS)
        raise ValueError(f"encoding of {name!r}: compression: one of {known} is expected, not {compression!r}")
    if compression == "szip" and within is None:
        raise ValueError(f"encoding of {name!r}: szip compresses packed values: give within, the greatest error")
    return options


def _chunks(name, variable, options, is_coordinate):
    shape = variable.shape
    given = options.get("chunks")
    if given is not None:
        if isinstance(given, dict):
            given = [given.get(dim, size) for dim, size in zip(variable.dims, shape)]
        if len(given) != len(shape) or any(int(each) < 1 for each in given):
            raise ValueError(f"encoding of {name!r}: chunks: {len(shape)} numbers above 0 are expected, not {given!r}")
        return [min(int(each), size) or 1 for each, size in zip(given, shape)]
    chunks = [size or 1 for size in shape]
    if is_coordinate:
        return chunks
    for axis in range(max(0, len(shape) - 2)):
        chunks[axis] = 1
    for axis in reversed(range(max(0, len(shape) - 2))):
        bytes_now = math.prod(chunks) * variable.dtype.itemsize
        chunks[axis] = max(1, min(shape[axis], LEAST_BYTES // max(1, bytes_now)))
        if chunks[axis] < shape[axis]:
            break
    return chunks


def _write(out, name, variable, dtype, options, is_coordinate, extra):
    shape, chunks = list(variable.shape), _chunks(name, variable, options, is_coordinate)
    if dtype.kind not in "biufc" or (dtype.kind == "c" and dtype.itemsize > 16) or dtype == np.longdouble != np.float64:
        raise TypeError(f"variable {name!r}: elements of type {dtype} cannot be stored")
    if options.get("within") is not None and dtype.kind == "f":
        # Packed values are float64. So is what cannot be packed: all objects of a variable have one type.
        dtype = np.dtype("float64")
    # All chunks are there. Nothing but NaN can stand for the values of one that is lost later, and integers have none.
    fill = {"f": "NaN", "c": ["NaN", "NaN"]}.get(dtype.kind)
    array = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}] if dtype.itemsize > 1 else [{"name": "bytes"}],
        "dimension_names": list(variable.dims),
    }
    own = attributes(name, variable.attrs)
    if "_FillValue" in own and dtype.kind == "f":
        # NaN stands for itself.
        if np.isnan(own["_FillValue"]):
            del own["_FillValue"]
    if 0 in shape:
        array["attributes"] = own
    encoder = Encoder(
        {**extra, "zarr": {"path": name, "array": array}}, file=out, allow_nan=True, allow_inf=True
    )
    counts = [math.ceil(size / chunk) for size, chunk in zip(shape, chunks)]
    for number, place in enumerate(np.ndindex(*counts)):
        origin = [index * chunk for index, chunk in zip(place, chunks)]
        box = tuple(slice(start, min(start + chunk, size)) for start, chunk, size in zip(origin, chunks, shape))
        values = np.ascontiguousarray(variable[box].values, dtype)
        entry = {"name": name, "dimensions": list(variable.dims), "zarr": {"chunk": list(place), "origin": origin}}
        if number == 0 and own:
            entry["attributes"] = own
        encoder.write_preceder(entry)
        encoder.write_object(*_object(name, values.reshape([part.stop - part.start for part in box]), options, is_coordinate))
    encoder.finish()


def _object(name, values, options, is_coordinate):
    """The descriptor and the values of an object."""
    order = "little" if values.dtype.byteorder != ">" else "big"
    values = values.astype(values.dtype.newbyteorder("=" if order == "little" else ">"), copy=False)
    within, compression = options.get("within"), options.get("compression")
    descriptor = {"type": "ntensor", "dtype": _dtype_name(values.dtype), "shape": list(values.shape)}
    # szip and shuffle take samples of whole bytes.
    packed = _packing(values, within, is_whole=compression != "none") if within is not None else None
    if packed is not None:
        descriptor.update(packed, encoding="simple_packing")
        compression = compression or "szip"
        if compression == "szip":
            descriptor.update(compression="szip", szip_rsi=128, szip_block_size=16, szip_flags=8)
            return descriptor, values
        width = -(-packed["sp_bits_per_value"] // 8)
    else:
        width = values.dtype.itemsize
        if compression == "szip":
            # These values cannot be packed within the bound.
            compression = "zstd"
    if compression is None:
        compression = "none" if is_coordinate or values.nbytes < 256 else "zstd"
    if compression != "none":
        if width > 1 and values.dtype.kind != "b":
            descriptor.update(filter="shuffle", shuffle_element_size=width)
        descriptor["compression"] = compression
    return descriptor, values


def _dtype_name(dtype):
    return "bitmask" if dtype.kind == "b" else dtype.newbyteorder("=").name


def _packing(values, within, is_whole):
    """Packing whose error is at most `within`, in whole bytes if asked for; None where that takes too many bits."""
    if values.dtype.kind != "f":
        return None
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    try:
        packing = packing_within(finite, within)
    except ValueError:
        return None
    # The step of the fewest bits: bits beyond them are zeros, which compress well.
    bits = whole_bytes(packing["sp_bits_per_value"]) if is_whole else packing["sp_bits_per_value"]
    return {**packing, "sp_bits_per_value": bits} if bits <= MOST_BITS else None
