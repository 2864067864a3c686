"""Types for programs that are checked: what functions of `tgm` take and give.

Each is also a name of `tgm`, such as `tgm.DescriptorDict`, which is imported when it is first asked for.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NotRequired, SupportsIndex, TypeAlias, TypedDict

import numpy.typing as npt

from . import DataObjectDescriptor, Encoding, Metadata

if TYPE_CHECKING:
    from typing_extensions import Buffer
else:
    # Anything with the buffer protocol. The interpreter has a name for it from 3.12 on.
    Buffer = object

__all__ = [
    "AggregateHash",
    "Array",
    "ByteOrder",
    "CompressionName",
    "Data",
    "DecodedObject",
    "DescriptorDict",
    "DescriptorLike",
    "Descriptors",
    "Doctor",
    "Dtype",
    "EncodingName",
    "FileIssue",
    "FileReport",
    "FilterName",
    "HashName",
    "Issue",
    "Level",
    "MaskMethod",
    "MaskName",
    "MetadataLike",
    "PackingParams",
    "Pairs",
    "Path",
    "Ranges",
    "Report",
]

# Names of the format, and forms of arguments. A literal for each name: the interpreter joins them as type checkers do.
Dtype: TypeAlias = (
    Literal["float16"]
    | Literal["bfloat16"]
    | Literal["float32"]
    | Literal["float64"]
    | Literal["complex64"]
    | Literal["complex128"]
    | Literal["int8"]
    | Literal["int16"]
    | Literal["int32"]
    | Literal["int64"]
    | Literal["uint8"]
    | Literal["uint16"]
    | Literal["uint32"]
    | Literal["uint64"]
    | Literal["bitmask"]
)
ByteOrder: TypeAlias = Literal["little"] | Literal["big"]
HashName: TypeAlias = Literal["xxh3"] | Literal["none"]
MaskMethod: TypeAlias = (
    Literal["none"]
    | Literal["rle"]
    | Literal["roaring"]
    | Literal["lz4"]
    | Literal["zstd"]
    | Literal["blosc2"]
)
AggregateHash: TypeAlias = Literal["auto"] | Literal["none"] | Literal["header"] | Literal["footer"] | Literal["both"]
Level: TypeAlias = Literal["quick"] | Literal["default"] | Literal["checksum"] | Literal["full"]
EncodingName: TypeAlias = Literal["none"] | Literal["simple_packing"]
FilterName: TypeAlias = Literal["none"] | Literal["shuffle"]
CompressionName: TypeAlias = (
    Literal["none"]
    | Literal["szip"]
    | Literal["zstd"]
    | Literal["lz4"]
    | Literal["blosc2"]
    | Literal["zfp"]
    | Literal["sz3"]
    | Literal["rle"]
    | Literal["roaring"]
)
MaskName: TypeAlias = Literal["nan"] | Literal["inf+"] | Literal["inf-"]
Array: TypeAlias = npt.NDArray[Any]
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Ranges: TypeAlias = Sequence[tuple[SupportsIndex, SupportsIndex]]


class DescriptorDict(TypedDict, total=False):
    """The keys of a descriptor that a program writes. Parameters of codecs stand among them."""

    type: str
    ndim: int
    shape: Sequence[SupportsIndex]
    strides: Sequence[SupportsIndex]
    dtype: npt.DTypeLike
    byte_order: ByteOrder
    encoding: EncodingName
    filter: FilterName
    compression: CompressionName
    hash: None
    sp_bits_per_value: int
    sp_reference_value: float
    sp_binary_scale_factor: int
    sp_decimal_scale_factor: int
    shuffle_element_size: int
    szip_rsi: int
    szip_block_size: int
    szip_flags: int
    szip_block_offsets: Sequence[int]
    zstd_level: int
    blosc2_codec: str
    blosc2_clevel: int
    zfp_mode: Literal["fixed_rate", "fixed_precision", "fixed_accuracy"]
    zfp_rate: float
    zfp_precision: int
    zfp_tolerance: float
    sz3_error_bound_mode: str
    sz3_error_bound: float


MetadataLike: TypeAlias = Mapping[str, Any] | Metadata
DescriptorLike: TypeAlias = Mapping[str, Any] | DescriptorDict | DataObjectDescriptor | Encoding | None
Data: TypeAlias = npt.NDArray[Any] | Buffer | Sequence[int]
Pairs: TypeAlias = Sequence[tuple[DescriptorLike, Data]]


class PackingParams(TypedDict):
    """Parameters of simple_packing: keys of a descriptor."""

    sp_reference_value: float
    sp_binary_scale_factor: int
    sp_decimal_scale_factor: int
    sp_bits_per_value: int


class _IssuePlace(TypedDict, total=False):
    """Where something is wrong, as far as it is known."""

    byte_offset: int
    object_index: int


class Issue(_IssuePlace):
    """Something that is wrong with a message."""

    code: str
    description: str
    level: Literal["structure", "metadata", "integrity", "fidelity"]
    severity: Literal["error", "warning"]


class Report(TypedDict):
    """What `validate` finds."""

    hash_verified: bool
    issues: list[Issue]
    object_count: int
    omitted_issues: NotRequired[int]


class FileIssue(TypedDict):
    """A part of a file that belongs to no message."""

    byte_offset: int
    length: int
    description: str


class FileReport(TypedDict):
    """What `validate_file` finds."""

    file_issues: list[FileIssue]
    messages: list[Report]


class Descriptors(TypedDict):
    """The metadata and the descriptors of a message of a file."""

    metadata: Metadata
    descriptors: list[DataObjectDescriptor]


class DecodedObject(TypedDict):
    """An object of a file."""

    metadata: Metadata
    descriptor: DataObjectDescriptor
    data: Array


class Doctor(TypedDict):
    """What this build can do."""

    build: dict[str, Any]
    features: list[dict[str, str]]
    self_test: list[dict[str, str]]
