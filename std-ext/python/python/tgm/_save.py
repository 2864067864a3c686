"""Datasets of xarray as archives. A variable is a message in the form that conversion from Zarr has: objects are chunks."""

import math
import os
import shutil
import tempfile
import warnings

import numpy as np
import xarray as xr

from . import _native
from ._encoding import bits_within, packing
from ._sources import Archive

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
    part = None
    if append_dim is not None:
        if append_dim not in dataset.dims:
            raise ValueError(f"argument 'append_dim': the dataset has no dimension {append_dim!r}")
        # What cannot be appended fails before anything is written, also where there is no file yet.
        if os.path.exists(path):
            dataset, number = _rest(dataset, path, name, append_dim)
            part = {"number": number, "dimension": append_dim}
    wanted = {name: _wanted(name, options, dataset) for name, options in encoding.items()}
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, "no such folder", folder)
    place, temporary = tempfile.mkstemp(prefix=".tgm-", dir=folder)
    try:
        with open(place, "w+b") as out:
            _write_all(out, dataset, wanted, {"part": part} if part else _unlimited(dataset))
            if part:
                out.flush()
                out.seek(0)
                _append(out, path)
        if part:
            os.unlink(temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _write_all(out, dataset, wanted, of_all):
    """Writes the messages of a dataset. `of_all` is what each of them says."""
    variables, attributes = xr.conventions.encode_dataset_coordinates(dataset)
    texts = {}
    messages = []
    for name, variable in variables.items():
        if "/" in str(name) or not isinstance(name, str) or not name:
            raise ValueError(f"variable {name!r}: a name is a text without '/'")
        encoded = _encoded(name, variable)
        if encoded.dtype.kind in "OUST":
            texts[name] = _texts(name, encoded)
        else:
            messages.append((name, encoded))
    extra = {"attributes": _attributes("the dataset", attributes)} if attributes and "part" not in of_all else {}
    if texts or not messages:
        out.write(_native.encode({**of_all, **extra, "texts": texts}, []))
        extra = {}
    for name, variable in messages:
        is_coordinate = name in dataset.coords
        _write(out, name, variable, wanted.get(name, {}), is_coordinate, {**of_all, **extra})
        extra = {}


def _unlimited(dataset):
    """What each message says of dimensions that grow in the file of NetCDF that the dataset came from, or is meant for."""
    dims = dataset.encoding.get("unlimited_dims") or ()
    unlimited = sorted(({dims} if isinstance(dims, str) else set(dims)) & set(dataset.dims))
    return {"unlimited": unlimited} if unlimited else {}


def _append(source, path):
    """Puts what was written behind a file. If that fails, the file is as before."""
    with open(path, "r+b") as out:
        end = out.seek(0, os.SEEK_END)
        try:
            shutil.copyfileobj(source, out, 1 << 20)
            out.flush()
        except BaseException:
            out.truncate(end)
            raise


def _rest(dataset, path, file, dim):
    """What of a dataset is stored when it is appended to a file: the variables with the dimension. And the number of the part."""
    natives = Archive((os.path.abspath(path),), {}).native()
    if not natives or not natives[0].is_of_files:
        raise ValueError(f"{file}: it is not a dataset that was saved, so nothing can be appended along {dim}")
    known = xr.open_dataset(path, engine="tgm")
    if dim not in known.dims:
        raise ValueError(f"{file}: it has no dimension {dim}")
    for name, variable in known.variables.items():
        own = dataset.variables.get(name)
        if dim not in variable.dims:
            if own is not None and not own.equals(variable):
                raise ValueError(f"{file}: {name!r} differs from what the file has, and has no dimension {dim}")
            continue
        if own is None:
            raise ValueError(f"{file}: it has a variable {name!r}, which the dataset lacks")
        sizes = [{key: size for key, size in each.sizes.items() if key != dim} for each in (own, variable)]
        if own.dims != variable.dims or sizes[0] != sizes[1]:
            raise ValueError(f"{file}: {name!r} has dimensions {dict(variable.sizes)}, and {dict(own.sizes)} in the dataset")
        if _kind(own) != _kind(variable):
            raise ValueError(f"{file}: {name!r} is of type {variable.dtype}, and {own.dtype} in the dataset")
    if unknown := [name for name in dataset.variables if name not in known.variables]:
        raise ValueError(f"{file}: it has no variable {unknown[0]!r}")
    return dataset[[name for name in known.variables if dim in known.variables[name].dims]].drop_vars(
        [name for name in dataset.coords if dim not in dataset.variables[name].dims], errors="ignore"
    ), natives[0].appended + 1


def _kind(variable):
    """What cannot be joined: numbers, moments, durations and texts."""
    kind = variable.dtype.kind
    if kind == "O":
        return "U" if _is_text(variable) else "M"
    return {"S": "U", "T": "U", "M": "M", "m": "m", "U": "U"}.get(kind, "f")


def _umask():
    now = os.umask(0)
    os.umask(now)
    return now


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


def _encoded(name, variable):
    """Times as numbers with units, as files have them. Packing of a file that it came from is left out."""
    kept = {key: value for key, value in variable.encoding.items() if key in ("units", "calendar", "coordinates")}
    if variable.dtype.kind in "mM":
        # The units must be able to say each time.
        kept.setdefault("dtype", np.dtype("int64"))
        if variable.dtype.kind == "M" and "units" not in kept:
            kept["units"] = "nanoseconds since 1970-01-01" if variable.dtype == "M8[ns]" else "seconds since 1970-01-01"
            kept.setdefault("calendar", "proleptic_gregorian")
        if variable.dtype.kind == "m":
            kept["units"] = "nanoseconds" if variable.dtype == "m8[ns]" else "seconds"
    if variable.dtype.kind in "mMO":
        # The values decide which units can say each time, and whether objects are texts. So dask has to compute them first.
        variable = variable.compute()
    if variable.dtype.kind in "mMO" and not _is_text(variable):
        variable.encoding = kept
        with warnings.catch_warnings():
            # Where whole numbers of these units cannot say each time, xarray takes finer units. The file came with fractions.
            warnings.filterwarnings("ignore", message="Time(s|deltas) can't be serialized faithfully")
            return xr.conventions.encode_cf_variable(variable, name=name)
    if "coordinates" in kept:
        variable = variable.assign_attrs(coordinates=kept["coordinates"]) if hasattr(variable, "assign_attrs") else variable
    return variable


def _is_text(variable):
    if variable.dtype.kind != "O":
        return False
    flat = np.asarray(variable.values).reshape(-1)
    return flat.size == 0 or isinstance(flat[0], (str, bytes)) or flat[0] is None


def _texts(name, variable):
    flat = [("" if each is None or each is np.nan else each) for each in np.asarray(variable.values).reshape(-1).tolist()]
    if not all(isinstance(each, (str, bytes)) for each in flat):
        raise TypeError(f"variable {name!r}: elements of type {variable.dtype} are neither numbers, times nor texts")
    texts = [_text(name, each) if isinstance(each, bytes) else each for each in flat]
    found = {"dimensions": list(variable.dims), "shape": list(variable.shape), "values": texts}
    if all([isinstance(each, bytes) for each in flat if each] or [variable.dtype.kind == "S"]):
        # As characters of NetCDF without an encoding: they are read as bytes.
        found["type"] = "char"
    if variable.attrs:
        found["attributes"] = _attributes(name, variable.attrs)
    return found


def _text(name, value):
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        text = f"variable {name!r}: texts are UTF-8, and {value!r} is not: give bytes as numbers, by .view('uint8')"
        raise ValueError(text) from error


def _attributes(name, attributes):
    found = {}
    for key, value in attributes.items():
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if isinstance(value, tuple):
            value = list(value)
        flat = value if isinstance(value, list) else [value]
        if not all(isinstance(each, (str, int, float, bool)) for each in flat):
            raise TypeError(f"{name}: attribute {key!r} is neither a text, a number nor a list of them: {value!r}")
        found[str(key)] = value
    return found


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


def _write(out, name, variable, options, is_coordinate, extra):
    shape, chunks = list(variable.shape), _chunks(name, variable, options, is_coordinate)
    dtype = variable.dtype
    if dtype.kind not in "biufc" or (dtype.kind == "c" and dtype.itemsize > 16) or dtype == np.longdouble != np.float64:
        raise TypeError(f"variable {name!r}: elements of type {dtype} cannot be stored")
    if options.get("within") is not None and dtype.kind == "f":
        # Packed values are float64. So is what cannot be packed: all objects of a variable have one type.
        dtype = np.dtype("float64")
    fill = "NaN" if dtype.kind == "f" else [0, 0] if dtype.kind == "c" else False if dtype.kind == "b" else 0
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
    attributes = _attributes(name, variable.attrs)
    if "_FillValue" in attributes and dtype.kind == "f":
        # NaN stands for itself.
        if np.isnan(attributes["_FillValue"]):
            del attributes["_FillValue"]
    if 0 in shape:
        array["attributes"] = attributes
    encoder = _native.StreamingEncoder(
        {**extra, "zarr": {"path": name, "array": array}}, file=out, allow_nan=True, allow_inf=True
    )
    counts = [math.ceil(size / chunk) for size, chunk in zip(shape, chunks)]
    for number, place in enumerate(np.ndindex(*counts)):
        origin = [index * chunk for index, chunk in zip(place, chunks)]
        box = tuple(slice(start, min(start + chunk, size)) for start, chunk, size in zip(origin, chunks, shape))
        values = np.ascontiguousarray(variable[box].values, dtype)
        entry = {"name": name, "dimensions": list(variable.dims), "zarr": {"chunk": list(place), "origin": origin}}
        if number == 0 and attributes:
            entry["attributes"] = attributes
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
        bits = bits_within(float(finite.max()) - float(finite.min()), within)
    except ValueError:
        return None
    if is_whole:
        bits = max(8, -(-bits // 8) * 8)
    return packing(finite, bits, within) if bits <= MOST_BITS else None
