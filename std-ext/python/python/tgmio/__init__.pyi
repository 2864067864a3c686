"""Types of the package `tgmio`. Docstrings say what functions do: `help(tgm.decode)`."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer, CapsuleType, Self, disjoint_base

from ._call import Call

__all__ = [
    "Archive",
    "AsyncTensogramFile",
    "AsyncTensogramFileIter",
    "Catalogue",
    "Catalogues",
    "CompressionError",
    "DataObjectDescriptor",
    "DecodedMessage",
    "Encoding",
    "EncodingError",
    "FramingError",
    "HashMismatchError",
    "IntegrityError",
    "Message",
    "MessageIter",
    "MessageStream",
    "Metadata",
    "MetadataError",
    "MissingHashError",
    "Object",
    "ObjectError",
    "Objects",
    "OtherError",
    "RemoteError",
    "StreamingEncoder",
    "TensogramError",
    "TensogramFile",
    "TensogramFileIter",
    "WIRE_VERSION",
    "Writer",
    "compute_hash",
    "compute_packing_params",
    "convert",
    "convert_grib",
    "convert_grib_buffer",
    "convert_netcdf",
    "decode",
    "decode_descriptors",
    "decode_metadata",
    "decode_object",
    "decode_range",
    "decode_with_masks",
    "doctor",
    "encode",
    "encode_pre_encoded",
    "is_remote_url",
    "iter_messages",
    "load",
    "catalogue",
    "open_dataset",
    "open_datasets",
    "open_mmap",
    "references",
    "save",
    "save_dataset",
    "scan",
    "to_grib",
    "to_netcdf",
    "validate",
    "validate_file",
    "zarr_store",
    "__has_grib__",
    "__has_netcdf__",
    "__version__",
]

__version__: Final[str]
__has_grib__: Final[bool]
__has_netcdf__: Final[bool]
WIRE_VERSION: Final[int]

from ._types import (
    AggregateHash as AggregateHash,
    Array as Array,
    ByteOrder as ByteOrder,
    CompressionName as CompressionName,
    Data as Data,
    DecodedObject as DecodedObject,
    DescriptorDict as DescriptorDict,
    DescriptorLike as DescriptorLike,
    Descriptors as Descriptors,
    Doctor as Doctor,
    Dtype as Dtype,
    EncodingName as EncodingName,
    FileIssue as FileIssue,
    FileReport as FileReport,
    FilterName as FilterName,
    HashName as HashName,
    Issue as Issue,
    Level as Level,
    MaskMethod as MaskMethod,
    MaskName as MaskName,
    MetadataLike as MetadataLike,
    PackingParams as PackingParams,
    Pairs as Pairs,
    Path as Path,
    Ranges as Ranges,
    Report as Report,
)

# Paths, addresses, patterns, folders, and lists of these.
_Sources: TypeAlias = Path | Sequence[Path]
_Default = TypeVar("_Default")
_Out = TypeVar("_Out", bound=npt.NDArray[Any])

# Exceptions.

class TensogramError(Exception):
    kind: str | None
    offset: int | None
    message_index: int | None
    object_index: int | None

class FramingError(TensogramError, ValueError): ...
class MetadataError(TensogramError, ValueError): ...
class EncodingError(TensogramError, ValueError): ...
class CompressionError(TensogramError, ValueError): ...
class ObjectError(TensogramError, ValueError): ...
class OtherError(TensogramError, ValueError): ...
class RemoteError(TensogramError, OSError): ...
class IntegrityError(TensogramError): ...
class MissingHashError(IntegrityError): ...

class HashMismatchError(IntegrityError):
    expected: str
    actual: str

# What decoding gives.

@final
class Metadata:
    @property
    def version(self) -> int: ...
    @property
    def base(self) -> list[dict[str, Any]]: ...
    @property
    def extra(self) -> dict[str, Any]: ...
    @property
    def reserved(self) -> dict[str, Any]: ...
    @property
    def num_objects(self) -> int: ...
    def __getitem__(self, key: str, /) -> Any: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...
    @overload
    def get(self, key: str) -> Any: ...
    @overload
    def get(self, key: str, default: _Default) -> Any | _Default: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Any]: ...
    def items(self) -> list[tuple[str, Any]]: ...
    def has_path(self, path: str) -> bool: ...
    @overload
    def get_path(self, path: str) -> Any: ...
    @overload
    def get_path(self, path: str, default: _Default) -> Any | _Default: ...
    def has_path_at(self, obj: SupportsIndex, path: str) -> bool: ...
    @overload
    def get_path_at(self, obj: SupportsIndex, path: str) -> Any: ...
    @overload
    def get_path_at(self, obj: SupportsIndex, path: str, default: _Default) -> Any | _Default: ...

@final
class DataObjectDescriptor:
    @property
    def obj_type(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def strides(self) -> list[int]: ...
    @property
    def dtype(self) -> Dtype: ...
    @property
    def byte_order(self) -> ByteOrder: ...
    @property
    def encoding(self) -> str: ...
    @property
    def filter(self) -> str: ...
    @property
    def compression(self) -> str: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def hash(self) -> None: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...

class DecodedMessage(NamedTuple):
    metadata: Metadata
    objects: list[tuple[DataObjectDescriptor, Array]]

class _MaskedMessage(NamedTuple):
    metadata: Metadata
    objects: list[tuple[DataObjectDescriptor, Array, dict[MaskName, npt.NDArray[np.bool_]]]]

# Functions.

def encode(
    global_meta_dict: MetadataLike,
    descriptors_and_data: Pairs,
    hash: HashName | None = "xxh3",
    threads: SupportsIndex = 0,
    allow_nan: bool = False,
    allow_inf: bool = False,
    nan_mask_method: MaskMethod | None = None,
    pos_inf_mask_method: MaskMethod | None = None,
    neg_inf_mask_method: MaskMethod | None = None,
    small_mask_threshold_bytes: SupportsIndex | None = None,
    aggregate_hash: AggregateHash | None = None,
) -> bytes: ...
def encode_pre_encoded(
    global_meta_dict: MetadataLike,
    descriptors_and_data: Sequence[tuple[DescriptorLike, Buffer | Sequence[int]]],
    hash: HashName | None = "xxh3",
    threads: SupportsIndex = 0,
) -> bytes: ...
def decode(
    buf: Buffer,
    native_byte_order: bool = True,
    threads: SupportsIndex = 0,
    restore_non_finite: bool = True,
    verify_hash: bool = False,
) -> DecodedMessage: ...
def decode_with_masks(buf: Buffer, native_byte_order: bool = True, threads: SupportsIndex = 0) -> _MaskedMessage: ...
def decode_metadata(buf: Buffer) -> Metadata: ...
def open_dataset(source: _Sources, /, **options: Any) -> Any: ...
def open_datasets(source: _Sources, /, **options: Any) -> list[Any]: ...
def save_dataset(
    dataset: Any,
    path: Path,
    *,
    encoding: Mapping[str, Mapping[str, Any]] | None = None,
    append_dim: str | None = None,
) -> None: ...
def references(source: _Sources, /, **options: Any) -> dict[str, Any]: ...
@overload
def catalogue(source: Path, /, *, keys: Sequence[str] | None = None) -> Catalogue: ...
@overload
def catalogue(source: list[str] | list[Path] | tuple[Path, ...], /, *, keys: Sequence[str] | None = None) -> Catalogues: ...

class Catalogue:
    def __init__(self, native: Any, data: str | None) -> None: ...
    @property
    def keys(self) -> list[str]: ...
    @property
    def message_count(self) -> int: ...
    def __len__(self) -> int: ...
    def check(self, source: Path | None = None) -> str: ...
    def save(self, path: Path | None = None) -> None: ...
    def to_pandas(self) -> Any: ...
    def to_arrow(self) -> Any: ...

class Catalogues:
    def __init__(self, sources: list[str], catalogues: list[Catalogue | None]) -> None: ...
    @property
    def keys(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Catalogue]: ...
    def save(self, path: Path) -> None: ...

def zarr_store(source: _Sources, /, *, codec: str | None = "tgm", **options: Any) -> Any: ...
def decode_descriptors(buf: Buffer) -> tuple[Metadata, list[DataObjectDescriptor]]: ...
def decode_object(
    buf: Buffer,
    index: SupportsIndex,
    native_byte_order: bool = True,
    threads: SupportsIndex = 0,
    restore_non_finite: bool = True,
    verify_hash: bool = False,
) -> tuple[Metadata, DataObjectDescriptor, Array]: ...
@overload
def decode_range(
    buf: Buffer,
    object_index: SupportsIndex,
    ranges: Ranges,
    join: Literal[False] = False,
    native_byte_order: bool = True,
    threads: SupportsIndex = 0,
    restore_non_finite: bool = True,
) -> list[Array]: ...
@overload
def decode_range(
    buf: Buffer,
    object_index: SupportsIndex,
    ranges: Ranges,
    join: Literal[True],
    native_byte_order: bool = True,
    threads: SupportsIndex = 0,
    restore_non_finite: bool = True,
) -> Array: ...
@overload
def decode_range(
    buf: Buffer,
    object_index: SupportsIndex,
    ranges: Ranges,
    join: bool,
    native_byte_order: bool = True,
    threads: SupportsIndex = 0,
    restore_non_finite: bool = True,
) -> list[Array] | Array: ...
@overload
def scan(buf: Buffer, *, as_array: Literal[False] = False) -> list[tuple[int, int]]: ...
@overload
def scan(buf: Buffer, *, as_array: Literal[True]) -> npt.NDArray[np.int64]: ...
def iter_messages(buf: Buffer, *, verify_hash: bool = False) -> MessageIter: ...
def validate(buf: Buffer, level: Level = "default", check_canonical: bool = False) -> Report: ...
def validate_file(
    path: Path,
    level: Level = "default",
    check_canonical: bool = False,
    *,
    progress: Callable[[int, int | None], object] | None = None,
) -> FileReport: ...
def compute_hash(data: bytes | bytearray, algo: HashName = "xxh3") -> str: ...
def compute_packing_params(
    values: npt.NDArray[np.float64], bits_per_value: SupportsIndex, decimal_scale_factor: SupportsIndex
) -> PackingParams: ...
def doctor() -> Doctor: ...
def is_remote_url(source: str) -> bool: ...
def convert(source: Path | Sequence[Path], target: Path, /, **options: Any) -> None: ...
def convert_grib(
    path: Path,
    *,
    grouping: str = "merge_all",
    preserve_all_keys: bool = False,
    encoding: str = "none",
    bits: SupportsIndex | None = None,
    filter: str = "none",
    compression: str = "none",
    compression_level: SupportsIndex | None = None,
    threads: SupportsIndex = 0,
    hash: HashName | None = "xxh3",
) -> list[bytes]: ...
def convert_grib_buffer(
    buffer: Buffer,
    *,
    grouping: str = "merge_all",
    preserve_all_keys: bool = False,
    encoding: str = "none",
    bits: SupportsIndex | None = None,
    filter: str = "none",
    compression: str = "none",
    compression_level: SupportsIndex | None = None,
    threads: SupportsIndex = 0,
    hash: HashName | None = "xxh3",
) -> list[bytes]: ...
def convert_netcdf(
    path: Path,
    *,
    split_by: str = "file",
    cf: bool = False,
    encoding: str = "none",
    bits: SupportsIndex | None = None,
    filter: str = "none",
    compression: str = "none",
    compression_level: SupportsIndex | None = None,
    threads: SupportsIndex = 0,
    hash: HashName | None = "xxh3",
) -> list[bytes]: ...
def to_grib(messages: Sequence[bytes]) -> bytes: ...
def to_netcdf(messages: Sequence[bytes], path: Path) -> None: ...

# Files, iterators, streams.

@final
class MessageIter:
    def __iter__(self) -> Self: ...
    def __next__(self) -> DecodedMessage: ...
    def __len__(self) -> int: ...

@final
class TensogramFileIter:
    def __iter__(self) -> Self: ...
    def __next__(self) -> DecodedMessage: ...
    def __len__(self) -> int: ...

@final
class TensogramFile:
    @staticmethod
    def open(source: Path, *, bidirectional: bool = True) -> TensogramFile: ...
    @staticmethod
    def open_remote(
        source: str, storage_options: Mapping[str, Any] | None = None, *, bidirectional: bool = True
    ) -> TensogramFile: ...
    @staticmethod
    def create(path: Path) -> TensogramFile: ...
    def append(
        self,
        global_meta_dict: MetadataLike,
        descriptors_and_data: Pairs,
        hash: HashName | None = "xxh3",
        threads: SupportsIndex = 0,
        allow_nan: bool = False,
        allow_inf: bool = False,
        nan_mask_method: MaskMethod | None = None,
        pos_inf_mask_method: MaskMethod | None = None,
        neg_inf_mask_method: MaskMethod | None = None,
        small_mask_threshold_bytes: SupportsIndex | None = None,
        aggregate_hash: AggregateHash | None = None,
    ) -> None: ...
    def append_raw(self, message: Buffer) -> None: ...
    def message_count(self) -> int: ...
    def decode_message(
        self,
        index: SupportsIndex,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
        verify_hash: bool = False,
    ) -> DecodedMessage: ...
    def file_decode_metadata(self, msg_index: SupportsIndex) -> Metadata: ...
    def file_decode_descriptors(self, msg_index: SupportsIndex) -> Descriptors: ...
    def file_decode_object(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        verify_hash: bool = False,
    ) -> DecodedObject: ...
    @overload
    def file_decode_range(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[False] = False,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> list[Array]: ...
    @overload
    def file_decode_range(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[True],
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Array: ...
    @overload
    def file_decode_range(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: bool,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> list[Array] | Array: ...
    def file_decode_object_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        verify_hash: bool = False,
    ) -> list[DecodedObject]: ...
    @overload
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[False] = False,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> list[list[Array]]: ...
    @overload
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[True],
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> list[Array]: ...
    @overload
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: bool,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> list[list[Array]] | list[Array]: ...
    def read_message(self, index: SupportsIndex) -> bytes: ...
    def query(self, query: str, threads: SupportsIndex = 0) -> list[tuple[int, int]]: ...
    def messages(self) -> list[bytes]: ...
    def is_remote(self) -> bool: ...
    def source(self) -> str: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> DecodedMessage: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[DecodedMessage]: ...
    def __iter__(self) -> TensogramFileIter: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class _Readable(Protocol):
    def read(self, size: int, /) -> Any: ...

class _Seekable(_Readable, Protocol):
    def seek(self, offset: int, whence: int = ..., /) -> Any: ...

class _OpenFile(Protocol):
    """A file of fsspec that is not open yet."""

    @property
    def fs(self) -> Any: ...
    @property
    def path(self) -> str: ...

class _Writable(Protocol):
    def write(self, bytes: bytes, /) -> Any: ...

@final
class MessageStream:
    def __new__(cls, stream: _Readable, *, max_message_bytes: int | None = None) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> bytes: ...

def open(
    source: str | os.PathLike[str] | os.PathLike[bytes] | Buffer | _Seekable | _OpenFile,
    /,
    *,
    mmap: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Archive: ...
def open_mmap(path: str | os.PathLike[str] | os.PathLike[bytes]) -> Archive: ...

@final
class Archive:
    @property
    def source(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def query(self, query: str, threads: SupportsIndex = 0) -> list[Object]: ...
    def close(self) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Message: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Message]: ...
    def __iter__(self) -> Iterator[Message]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> bool: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class Encoding:
    bits: int | None
    within: float | None
    compression: CompressionName
    level: int | None
    shuffle: bool | None
    rate: float | None
    precision: int | None
    def __init__(
        self,
        *,
        bits: int | None = None,
        within: float | None = None,
        compression: CompressionName | None = None,
        level: int | None = None,
        shuffle: bool | None = None,
        rate: float | None = None,
        precision: int | None = None,
    ) -> None: ...
    def descriptor(self, array: npt.ArrayLike) -> tuple[dict[str, Any], Array]: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

_Target: TypeAlias = Path | _Writable | _OpenFile

class Writer:
    def __init__(
        self,
        target: _Target,
        *,
        append: bool = False,
        hash: HashName | None = "xxh3",
        threads: SupportsIndex = 0,
        allow_nan: bool = True,
        allow_inf: bool = True,
    ) -> None: ...
    def begin(self, metadata: Mapping[str, Any] | None = None) -> None: ...
    def object(
        self, array: Data, *, encoding: DescriptorLike = None, metadata: Mapping[str, Any] | None = None
    ) -> None: ...
    def finish(self) -> None: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: Any, _error: Any, _traceback: Any) -> bool: ...
    def __del__(self) -> None: ...

def save(
    target: _Target,
    arrays: npt.ArrayLike | Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike],
    /,
    *,
    encoding: DescriptorLike | Mapping[str, DescriptorLike] = None,
    metadata: Mapping[str, Any] | None = None,
    append: bool = False,
    threads: SupportsIndex = 0,
) -> None: ...
def load(
    source: str | os.PathLike[str] | os.PathLike[bytes] | Buffer | _Seekable | _OpenFile,
    /,
    *,
    threads: SupportsIndex = 0,
    checked: bool = False,
) -> dict[str | int, Array]: ...

@disjoint_base
class StreamingEncoder:
    def __new__(
        cls,
        global_meta_dict: MetadataLike,
        hash: HashName | None = "xxh3",
        threads: SupportsIndex = 0,
        allow_nan: bool = False,
        allow_inf: bool = False,
        nan_mask_method: MaskMethod | None = None,
        pos_inf_mask_method: MaskMethod | None = None,
        neg_inf_mask_method: MaskMethod | None = None,
        small_mask_threshold_bytes: SupportsIndex | None = None,
        aggregate_hash: AggregateHash | None = None,
        *,
        file: _Writable | None = None,
    ) -> Self: ...
    def write_preceder(self, entry: Mapping[str, Any]) -> None: ...
    def write_object(self, descriptor: DescriptorLike, data: Data) -> None: ...
    def write_object_pre_encoded(self, descriptor: DescriptorLike, data: Buffer | Sequence[int]) -> None: ...
    def finish(self) -> bytes: ...
    def finish_backfilled(self) -> bytes: ...
    def finish_and_reset(self) -> bytes: ...
    def finish_and_reset_backfilled(self) -> bytes: ...

@final
class AsyncTensogramFileIter:
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Call[DecodedMessage]: ...
    def __len__(self) -> int: ...

@final
class AsyncTensogramFile:
    @staticmethod
    def open(source: Path, *, bidirectional: bool = True) -> Call[AsyncTensogramFile]: ...
    @staticmethod
    def open_remote(
        source: str, storage_options: Mapping[str, Any] | None = None, *, bidirectional: bool = True
    ) -> Call[AsyncTensogramFile]: ...
    def message_count(self) -> Call[int]: ...
    def decode_message(
        self,
        index: SupportsIndex,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        verify_hash: bool = False,
    ) -> Call[DecodedMessage]: ...
    def file_decode_metadata(self, msg_index: SupportsIndex) -> Call[Metadata]: ...
    def file_decode_descriptors(self, msg_index: SupportsIndex) -> Call[Descriptors]: ...
    def file_decode_object(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        verify_hash: bool = False,
    ) -> Call[DecodedObject]: ...
    @overload
    def file_decode_range(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[False] = False,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Call[list[Array]]: ...
    @overload
    def file_decode_range(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[True],
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Call[Array]: ...
    @overload
    def file_decode_range(
        self,
        msg_index: SupportsIndex,
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: bool,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Call[list[Array] | Array]: ...
    def file_decode_object_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        verify_hash: bool = False,
    ) -> Call[list[DecodedObject]]: ...
    @overload
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[False] = False,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Call[list[list[Array]]]: ...
    @overload
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: Literal[True],
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Call[list[Array]]: ...
    @overload
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[SupportsIndex],
        obj_index: SupportsIndex,
        ranges: Ranges,
        join: bool,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
    ) -> Call[list[list[Array]] | list[Array]]: ...
    def prefetch_layouts(self, msg_indices: Sequence[SupportsIndex]) -> Call[tuple[()]]: ...
    def read_message(self, index: SupportsIndex) -> Call[bytes]: ...
    def messages(self) -> Call[list[bytes]]: ...
    def is_remote(self) -> bool: ...
    def source(self) -> str: ...
    def __len__(self) -> int: ...
    def __aiter__(self) -> AsyncTensogramFileIter: ...
    def __aenter__(self) -> Call[Self]: ...
    def __aexit__(self, *_exception: object) -> Call[bool]: ...

@final
class Message:
    def __new__(cls, buffer: Buffer) -> Self: ...
    @property
    def objects(self) -> Objects: ...
    @property
    def metadata(self) -> Metadata: ...
    @property
    def index(self) -> int | None: ...
    @property
    def nbytes(self) -> int: ...
    def query(self, query: str) -> list[Object]: ...
    def decode(
        self,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
        verify_hash: bool = False,
    ) -> DecodedMessage: ...
    def verify(self) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex | str, /) -> Object: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Object]: ...
    def __iter__(self) -> Iterator[Object]: ...
    def __bytes__(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Objects:
    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str | None]: ...
    def __contains__(self, name: object, /) -> bool: ...
    @overload
    def __getitem__(self, index: SupportsIndex | str, /) -> Object: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Object]: ...
    def __iter__(self) -> Iterator[Object]: ...

@final
class Object:
    @property
    def array(self) -> Array: ...
    @property
    def is_view(self) -> bool: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def stored_nbytes(self) -> int: ...
    @property
    def stages(self) -> tuple[str, ...]: ...
    @property
    def chunks(self) -> tuple[int, ...]: ...
    @property
    def name(self) -> str | None: ...
    @overload
    def read(
        self,
        index: Any = None,
        *,
        ranges: None = None,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        checked: bool = False,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
    ) -> Array: ...
    @overload
    def read(
        self,
        index: None = None,
        *,
        ranges: Ranges,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        checked: bool = False,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
    ) -> list[Array]: ...
    @overload
    def read(
        self,
        index: Any = None,
        *,
        ranges: Ranges | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out,
        checked: bool = False,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
    ) -> _Out: ...
    @property
    def index(self) -> int: ...
    @property
    def message(self) -> Message: ...
    @property
    def descriptor(self) -> DataObjectDescriptor: ...
    @property
    def metadata(self) -> dict[str, Any]: ...
    def stored(self) -> Array: ...
    @overload
    def decode(
        self,
        out: None = None,
        *,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
        verify_hash: bool = False,
    ) -> Array: ...
    @overload
    def decode(
        self,
        out: _Out,
        *,
        native_byte_order: bool = True,
        threads: SupportsIndex = 0,
        restore_non_finite: bool = True,
        verify_hash: bool = False,
    ) -> _Out: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
