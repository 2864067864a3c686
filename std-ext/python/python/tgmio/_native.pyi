"""The compiled half. Programs take what they need from `tgm`."""

from typing import Any, Final, final

from . import (
    Archive as Archive,
    AsyncTensogramFile as AsyncTensogramFile,
    AsyncTensogramFileIter as AsyncTensogramFileIter,
    DataObjectDescriptor as DataObjectDescriptor,
    Message as Message,
    MessageIter as MessageIter,
    MessageStream as MessageStream,
    Metadata as Metadata,
    Object as Object,
    Objects as Objects,
    StreamingEncoder as StreamingEncoder,
    TensogramFile as TensogramFile,
    TensogramFileIter as TensogramFileIter,
    WIRE_VERSION as WIRE_VERSION,
    compute_hash as compute_hash,
    compute_packing_params as compute_packing_params,
    decode as decode,
    decode_descriptors as decode_descriptors,
    decode_metadata as decode_metadata,
    decode_object as decode_object,
    decode_range as decode_range,
    decode_with_masks as decode_with_masks,
    doctor as doctor,
    encode as encode,
    encode_pre_encoded as encode_pre_encoded,
    is_remote_url as is_remote_url,
    iter_messages as iter_messages,
    scan as scan,
    validate as validate,
    validate_file as validate_file,
)

__all__ = [
    "Metadata",
    "DataObjectDescriptor",
    "TensogramFile",
    "TensogramFileIter",
    "MessageIter",
    "StreamingEncoder",
    "WIRE_VERSION",
    "_Catalog",
    "_tree",
    "_varying_keys",
    "_Dataset",
    "_hint",
    "_open_datasets",
    "_dataset_groups",
    "_decode_frame",
    "_frame_shape",
    "_descriptor_from_cbor",
    "_advice",
    "_open_again",
    "iter_messages",
    "_metadata_from_cbor",
    "decode",
    "decode_descriptors",
    "decode_metadata",
    "decode_object",
    "decode_range",
    "decode_with_masks",
    "doctor",
    "encode",
    "encode_pre_encoded",
    "compute_hash",
    "compute_packing_params",
    "_Output",
    "_packing_within",
    "_shown",
    "is_remote_url",
    "scan",
    "validate",
    "validate_file",
    "_reference",
    "__has_netcdf__",
    "__version__",
    "_run_tool",
    "_call_tool",
    "_joined",
    "MessageStream",
    "AsyncTensogramFile",
    "AsyncTensogramFileIter",
    "Archive",
    "Message",
    "Objects",
    "Object",
    "_open",
    "_archive_again",
    "_object",
]

__has_netcdf__: Final[bool]
__version__: Final[str]
def _advice() -> Any: ...
def _run_tool(arguments: Any) -> Any: ...
def _call_tool(arguments: Any) -> Any: ...
def _joined(messages: Any) -> Any: ...
def _archive_again(path: Any, mmap: Any, storage_options: Any) -> Any: ...
def _dataset_groups(sources: Any, options: Any) -> Any: ...
def _descriptor_from_cbor(cbor: Any) -> Any: ...
def _metadata_from_cbor(cbor: Any) -> Any: ...
def _object(message: Any, number: Any) -> Any: ...
def _open(source: Any, mmap: Any = False, storage_options: Any = None, opened: Any = None) -> Any: ...
def _decode_frame(frame: Any, picks: Any) -> Any: ...
def _frame_shape(frame: Any) -> Any: ...
def _hint(source: Any, only: Any) -> Any: ...
def _open_datasets(sources: Any, options: Any) -> Any: ...
def _open_again(source: Any, storage: Any, bidirectional: Any) -> Any: ...

@final
class _Catalog:
    @staticmethod
    def build(source: Any, keys: Any) -> Any: ...
    @staticmethod
    def open(path: Any) -> Any: ...
    def to_bytes(self) -> Any: ...
    def check(self, source: Any) -> Any: ...
    @property
    def keys(self) -> Any: ...
    @property
    def message_count(self) -> Any: ...
    @property
    def object_count(self) -> Any: ...
    def places(self) -> Any: ...
    def column(self, key: Any) -> Any: ...

def _tree(children: Any) -> Any: ...
def _varying_keys(sources: Any) -> Any: ...
@final
class _Dataset:
    def first_object(self, name: Any) -> Any: ...
    def references(self) -> Any: ...
    @property
    def sources(self) -> Any: ...
    @property
    def appended(self) -> Any: ...
    @property
    def is_of_files(self) -> Any: ...
    @property
    def unlimited(self) -> Any: ...
    def pieces(self, name: Any) -> Any: ...
    def stored(self, name: Any) -> Any: ...
    def piece(self, name: Any, number: Any, is_payload: Any) -> Any: ...
    def reduce(self, name: Any, indices: Any, over: Any, statistics: Any, is_weighted: Any = False) -> Any: ...
    @property
    def attributes(self) -> Any: ...
    @property
    def coordinates(self) -> Any: ...
    @property
    def left_out(self) -> Any: ...
    @property
    def lost(self) -> Any: ...
    @property
    def notes(self) -> Any: ...
    @property
    def variables(self) -> Any: ...
    def holes(self, most: Any) -> Any: ...
    def read(self, name: Any, indices: Any, is_single: Any = ...) -> Any: ...

@final
class _Output:
    @staticmethod
    def replace(path: Any) -> Any: ...
    @staticmethod
    def append(path: Any) -> Any: ...
    def write(self, bytes: Any) -> Any: ...
    def write_message(self, metadata: Any, descriptors_and_data: Any, threads: Any) -> Any: ...
    def end_message(self) -> Any: ...
    def finish(self, *, is_new: Any = False) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *_exception: Any) -> Any: ...

def _packing_within(values: Any, error: Any) -> Any: ...

_reference: Any
def _shown(source: Any) -> Any: ...
