"""Archives as stores of Zarr: a read-only store whose chunks are the objects of an archive."""

import asyncio
import json
import math
import warnings

import numpy as np
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.registry import register_codec
from zarr.storage import MemoryStore

from ._sources import OPTIONS, Archive, shown, sources_of
from ._zarr_codec import NAME, TgmCodec

register_codec(NAME, TgmCodec)

# Types of elements that Zarr has a name for.
TYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
}


class TgmStore(Store):
    """A read-only store of Zarr over archives. `tgm.zarr_store` makes it."""

    supports_writes = False
    supports_deletes = False
    supports_partial_writes = False
    supports_listing = True

    def __init__(self, archive, number=0, codec=NAME):
        super().__init__(read_only=True)
        self._archive, self._number, self._codec = archive, number, codec
        self._static, self._arrays = None, {}

    def __eq__(self, other):
        return isinstance(other, TgmStore) and self._key() == other._key()

    __hash__ = None

    def __repr__(self):
        names = ", ".join(shown(source)[0] for source in self._archive.sources[:3])
        return f"TgmStore({names!r})"

    __str__ = __repr__

    def __getstate__(self):
        return self._key()

    def __setstate__(self, state):
        self.__init__(*state)

    def _key(self):
        return (self._archive, self._number, self._codec)

    # What the store has.

    def _load(self):
        """Metadata and coordinates, made once."""
        if self._static is None:
            native = self._archive.native()[self._number]
            is_distant = any(shown(source)[1] for source in self._archive.sources)
            self._arrays = {
                about["name"]: _Array(native, about, self._codec, is_distant)
                for about in native.variables
                if about["texts"] is None and np.dtype(about["dtype"]).name in TYPES
            }
            self._static = _static(self._archive, self._number, native, self._arrays)
        return self._static

    def _bytes(self, key):
        static = self._load()
        if key in static:
            return static[key]
        name, _, place = key.partition("/c")
        array = self._arrays.get(name)
        if array is None or (place and not place.startswith("/")):
            return None
        return array.chunk(place[1:]) if key.startswith(f"{name}/c") else None

    # The abstract methods.

    async def get(self, key, prototype=None, byte_range=None):
        prototype = prototype or default_buffer_prototype()
        found = await asyncio.to_thread(self._bytes, key)
        return None if found is None else prototype.buffer.from_bytes(_cut(found, byte_range))

    async def get_partial_values(self, prototype, key_ranges):
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key):
        static = await asyncio.to_thread(self._load)
        if key in static:
            return True
        name, _, place = key.partition("/c")
        array = self._arrays.get(name)
        return array is not None and key.startswith(f"{name}/c") and array.number(place[1:]) is not None

    async def set(self, key, value, byte_range=None):
        self._check_writable()

    async def delete(self, key):
        self._check_writable()

    async def list(self):
        for key in await asyncio.to_thread(self._load):
            yield key
        for name, array in self._arrays.items():
            for place in array.places():
                yield f"{name}/{place}"

    async def list_prefix(self, prefix):
        async for key in self.list():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix):
        prefix = prefix.strip("/")
        before, seen = f"{prefix}/" if prefix else "", set()
        async for key in self.list():
            if key.startswith(before):
                child = key[len(before):].split("/")[0]
                if child not in seen:
                    seen.add(child)
                    yield child


class _Array:
    """A variable as an array of chunks."""

    def __init__(self, native, about, codec, is_distant):
        self.native, self.about, self.name = native, about, about["name"]
        self.dtype, self.shape = np.dtype(about["dtype"]), tuple(about["shape"])
        self.chunks = tuple(max(1, size) for size in about["piece"])
        if about["seams"]:
            # Other files have objects of other shapes: values are decoded, and cut anew.
            self.counts = tuple(-(-size // chunk) for size, chunk in zip(self.shape, self.chunks))
            self.numbers, self.how, self.codecs = np.arange(math.prod(self.counts)), "values", _plain("little", self.dtype)
            return
        counts, numbers = native.pieces(self.name)
        self.counts = tuple(counts)
        # An array without elements has no chunks, though an object may stand for it.
        self.numbers = numbers if math.prod(self.counts) else numbers[:0]
        # Pieces at the end are cut to the array, where chunks of Zarr are not.
        self.is_even = all(size % chunk == 0 for size, chunk in zip(self.shape, self.chunks))
        # How each object is stored is read from all of them, which takes too long on a server.
        stored = native.stored(self.name) if self.is_even and not is_distant else None
        self.codecs = _codecs(stored, self.dtype)
        self.how = "payload"
        if self.codecs is None:
            # Packed integers of CF are made values by the dataset, and not by the codec.
            self.how = "frame" if codec == NAME and not about["packed"] else "values"
            self.codecs = [{"name": NAME}] if self.how == "frame" else _plain("little", self.dtype)

    def number(self, place):
        """The number of the piece at a place, such as 0/1/2. None where no object is."""
        try:
            index = tuple(int(part) for part in place.split("/")) if place else ()
        except ValueError:
            return None
        if len(index) != len(self.counts) or any(not 0 <= each < count for each, count in zip(index, self.counts)):
            return None
        number = int(np.ravel_multi_index(index, self.counts)) if index else 0
        at = int(np.searchsorted(self.numbers, number))
        return number if at < len(self.numbers) and self.numbers[at] == number else None

    def places(self):
        """The keys of all chunks, after the name."""
        for number in self.numbers.tolist():
            index = np.unravel_index(number, self.counts) if self.counts else ()
            yield "/".join(["c", *(str(int(each)) for each in index)])

    def chunk(self, place):
        number = self.number(place)
        if number is None:
            return None
        if self.how != "values":
            return self.native.piece(self.name, number, self.how == "payload")
        index = np.unravel_index(number, self.counts) if self.counts else ()
        starts = [int(each) * chunk for each, chunk in zip(index, self.chunks)]
        ends = [min(start + chunk, size) for start, chunk, size in zip(starts, self.chunks, self.shape)]
        keys = tuple(slice(start, end) for start, end in zip(starts, ends))
        values = self.native.read(self.name, keys).reshape([end - start for start, end in zip(starts, ends)])
        values = values.view(self.dtype) if values.dtype != self.dtype else values
        if values.shape != self.chunks:
            whole = np.zeros(self.chunks, self.dtype)
            whole[tuple(slice(0, size) for size in values.shape)] = values
            values = whole
        return values.astype(self.dtype.newbyteorder("<"), copy=False).tobytes()

    def metadata(self):
        """The content of zarr.json."""
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": self.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": self.fill(),
            "codecs": self.codecs,
            "dimension_names": list(self.about["dims"]),
            "attributes": _attributes(self.about["attributes"], self.dtype),
            "storage_transformers": [],
        }

    def fill(self):
        """What stands where no object is."""
        given = self.about["fill"]
        kind = self.dtype.kind
        if given is not None:
            value = given.view(self.dtype)[0] if kind != "b" else bool(given[0])
            return _number(value) if kind != "c" else [_number(value.real), _number(value.imag)]
        if kind in "iub" and self.about["holes"]:
            raise ValueError(f"{self.name}: places have no message, and {self.dtype} has no NaN: give fill={{{self.name!r}: …}}")
        return {"f": "NaN", "c": ["NaN", "NaN"], "b": False}.get(kind, 0)


def _number(value):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _plain(order, dtype):
    return [{"name": "bytes", "configuration": {"endian": order}}] if dtype.itemsize > 1 else [{"name": "bytes"}]


def _codecs(stored, dtype):
    """The codecs of Zarr for payloads as they lie. None if it has none for them."""
    if stored is None or stored["encoding"] != "none" or stored["has_masks"] or dtype.kind == "b" or stored["dtype"] != dtype.name:
        return None
    found = _plain(stored["byte_order"], dtype)
    if stored["filter"] == "shuffle":
        size = stored["shuffle_element_size"]
        if size is None:
            return None
        found.append({"name": "numcodecs.shuffle", "configuration": {"elementsize": size}})
    elif stored["filter"] != "none":
        return None
    compression = {
        "none": [],
        "zstd": [{"name": "zstd", "configuration": {"level": 0, "checksum": False}}],
        "lz4": [{"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}],
    }.get(stored["compression"])
    return None if compression is None else found + compression


def _attributes(attributes, dtype):
    found = {}
    attributes = dict(attributes)
    if times := attributes.pop("numpy_dtype", None):
        attributes.update(_attributes_of_times(np.dtype(times)))
    for name, value in attributes.items():
        if name == "_FillValue" and dtype is not None:
            value = _fill_attribute(value, dtype)
        elif isinstance(value, np.ndarray):
            value = value.tolist()
        found[name] = value
    return found


def _attributes_of_times(dtype):
    """What says of numbers that they are times of numpy."""
    unit, count = np.datetime_data(dtype)
    words = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
    if unit not in words or count != 1:
        return {"numpy_dtype": str(dtype)}
    missing = {"_FillValue": np.iinfo(np.int64).min}
    if dtype.kind == "m":
        return {"units": words[unit], "dtype": "timedelta64[ns]", **missing}
    return {"units": f"{words[unit]} since 1970-01-01", "calendar": "proleptic_gregorian", **missing}


def _fill_attribute(value, dtype):
    """A fill value as xarray writes it in attributes."""
    try:
        from xarray.backends.zarr import FillValueCoder
    except ImportError:
        return _number(value)
    return FillValueCoder.encode(np.asarray(value, dtype)[()], dtype)


def _static(archive, number, native, arrays):
    """All keys but chunks: the group, coordinates and texts, which xarray writes, and metadata of variables."""
    small = _small(archive, number).drop_vars(list(arrays), errors="ignore")
    memory = MemoryStore()
    if small.variables:
        with warnings.catch_warnings():
            # Texts have no codec in the specification yet.
            warnings.simplefilter("ignore")
            small.to_zarr(memory, zarr_format=3, consolidated=False, mode="w")
    found = {key: value.to_bytes() for key, value in memory._store_dict.items() if key != "zarr.json"}
    metadata = {name: array.metadata() for name, array in arrays.items()}
    carried = set()
    for about in metadata.values():
        # Coordinates that are not labels of a dimension are found by this attribute.
        dims = set(about["dimension_names"])
        aside = [str(each) for each in small.coords if each not in dims and set(small[each].dims) <= dims]
        if aside:
            carried.update(about["attributes"].setdefault("coordinates", " ".join(aside)).split())
    for key in found:
        if key.endswith("/zarr.json"):
            metadata[key.removesuffix("/zarr.json")] = json.loads(found[key])
    found.update({f"{name}/zarr.json": json.dumps(about, default=list).encode() for name, about in metadata.items()})
    group = {"zarr_format": 3, "node_type": "group", "attributes": _attributes(native.attributes, None)}
    # The ones that no variable carries, such as bounds of steps, are named by the group, as xarray does.
    if alone := [str(each) for each in small.coords if each not in small.dims and each not in carried]:
        group["attributes"].setdefault("coordinates", " ".join(alone))
    group["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": metadata}
    found["zarr.json"] = json.dumps(group, default=list).encode()
    return found


def _small(archive, number):
    """The dataset of xarray whose coordinates and texts are taken."""
    from ._xarray import LeftOutWarning, TgmBackendEntrypoint

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        found = TgmBackendEntrypoint().open_dataset(
            list(archive.sources), _opened=(archive, number), mask_and_scale=False, decode_coords=False
        )
    for name, variable in list(found.variables.items()):
        variable.encoding = {}
        if variable.dtype == "S1":
            # Readers join such texts, as if they were characters.
            found[name] = variable.astype("S2")
    return found


def _cut(found, part):
    match part:
        case None:
            return found
        case RangeByteRequest(start, end):
            return found[start:end]
        case OffsetByteRequest(offset):
            return found[offset:]
        case SuffixByteRequest(suffix):
            return found[-suffix:] if suffix else b""
    raise ValueError(f"Unexpected byte_range, got {part}.")


def store(source, codec=NAME, _number=0, **options):
    """The store of `tgm.zarr_store`."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TypeError(f"unknown options: {', '.join(unknown)}; known: {', '.join(OPTIONS)}")
    if codec not in (NAME, None):
        raise ValueError(f"argument 'codec': 'tgm' or None is expected, not {codec!r}")
    archive = Archive(sources_of(source), options)
    natives = archive.native()
    if _number >= len(natives):
        raise ValueError(f"{shown(archive.sources[0])[0]}: the archive has no objects")
    found = TgmStore(archive, _number, codec)
    # What is wrong with the archive is reported here, not at the first read.
    found._load()
    return found
