/*
 * Tensogram in C: the model, the same in every language.
 *
 *   archive   messages of any source: a path, an address, bytes, a map, a function      tgm_archive_t
 *   message   one message of an archive, by its number: its metadata, objects, bytes    tgm_archive_*(archive, message)
 *   object    one tensor, not yet read: what it is, its metadata                        tgm_object_t
 *   read      a request: all values, ranges or a box; how they are decoded              tgm_read_t, tgm_read_*
 *   writer    where messages go: memory, a file, a function                             tgm_writer_t
 *
 * Errors, texts, memory, ownership and threads are as in tensogram.h, which this header includes. Opening reads the beginning
 * of a source, an object its descriptor, and a request the bytes that its values need.
 */
#ifndef TGM_H
#define TGM_H

#include "tensogram.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ----------------------------------------------------------------------------------------------------- */

/* The version of this library, and of this header. Packages ask for it by the name tgm: pkg-config "tgm >= 0.1",
 * find_package(tgm 0.1). */
#define TGM_VERSION_MAJOR 0
#define TGM_VERSION_MINOR 1
#define TGM_VERSION_PATCH 0

/* The version of the library that the program runs with: "0.1.0". */
const char *tgm_version_string(void);
/* The same as a number: MAJOR << 16 | MINOR << 8 | PATCH. */
uint32_t tgm_version_number(void);
/* The version of the interface of the reference that tensogram.h has: MAJOR << 16 | MINOR. 0.24 is 24. */
uint32_t tgm_abi_version(void);
/* Whether the library has it: a codec in both directions by its name ("lz4"), a codec that decodes ("sz3-decode"), "threads",
 * "mmap", "async", "async-remote" and "dataset". */
bool tgm_has_feature(const char *name);

/* ---- The last error of this thread ------------------------------------------------------------------------------- */

/* Its code; 0 before the first one. */
tgm_error tgm_last_error_code(void);
/* The name of the defect in the bytes, such as "Truncated"; NULL if they are not the cause. The set of names
 * grows. Valid until the next failure on this thread. */
const char *tgm_last_error_kind(void);
/* The byte of the message at which it is; UINT64_MAX if it is at no byte. */
uint64_t tgm_last_error_offset(void);
/* The object that it is about; SIZE_MAX if it is about none. */
size_t tgm_last_error_object_index(void);
void tgm_clear_error(void);

/* Types of elements. The numbers are fixed. */
#define TGM_DTYPE_FLOAT16 0
#define TGM_DTYPE_BFLOAT16 1
#define TGM_DTYPE_FLOAT32 2
#define TGM_DTYPE_FLOAT64 3
#define TGM_DTYPE_COMPLEX64 4
#define TGM_DTYPE_COMPLEX128 5
#define TGM_DTYPE_INT8 6
#define TGM_DTYPE_INT16 7
#define TGM_DTYPE_INT32 8
#define TGM_DTYPE_INT64 9
#define TGM_DTYPE_UINT8 10
#define TGM_DTYPE_UINT16 11
#define TGM_DTYPE_UINT32 12
#define TGM_DTYPE_UINT64 13
#define TGM_DTYPE_BITMASK 14

/* ---- Options as structs ------------------------------------------------------------------------------------------ */

/* Begins with its size, so that it can grow. Start with TGM_DECODE_OPTIONS_INIT. NULL is the same. All options hold in every
 * call that takes them, for values in whatever form they are stored. */
typedef struct {
  size_t struct_size;
  int32_t native_byte_order;
  int32_t restore_non_finite;
  int32_t verify_hash;
  uint32_t threads;
  /* The most bytes that an object, or all ranges of a call, may decode to. 0 is 16 GiB. */
  uint64_t max_decoded_bytes;
} tgm_decode_options_t;

#define TGM_DECODE_OPTIONS_INIT {sizeof(tgm_decode_options_t), 1, 1, 0, 0, 0}

/* The byte order of the bytes for zfp and sz3, which compress numbers. */
#define TGM_VALUE_ORDER_CHECKED 0  /* as declared; refused if the numbers look swapped */
#define TGM_VALUE_ORDER_DECLARED 1 /* as declared */
#define TGM_VALUE_ORDER_NATIVE 2   /* this machine's */

/* Metadata that is built value by value, with byte strings, which JSON does not have. A path has its segments separated
 * by dots: "mars.param"; a segment in double quotes keeps its dots; maps on the way are made. A later value replaces an
 * earlier one of the same path. */
typedef struct tgm_metadata_builder_t tgm_metadata_builder_t;

tgm_error tgm_metadata_builder_new(tgm_metadata_builder_t **out);
tgm_error tgm_metadata_builder_set_bool(tgm_metadata_builder_t *builder, const char *path, int32_t value);
tgm_error tgm_metadata_builder_set_i64(tgm_metadata_builder_t *builder, const char *path, int64_t value);
tgm_error tgm_metadata_builder_set_u64(tgm_metadata_builder_t *builder, const char *path, uint64_t value);
tgm_error tgm_metadata_builder_set_f64(tgm_metadata_builder_t *builder, const char *path, double value);
tgm_error tgm_metadata_builder_set_string(tgm_metadata_builder_t *builder, const char *path, const char *value);
/* Copies the bytes. */
tgm_error tgm_metadata_builder_set_bytes(tgm_metadata_builder_t *builder, const char *path, const uint8_t *data,
                                         size_t data_len);
void tgm_metadata_builder_free(tgm_metadata_builder_t *builder);

/* Start with TGM_ENCODE_OPTIONS_INIT. NULL is the same: digests, no NaN, no infinities. */
typedef struct {
  size_t struct_size;
  const char *hash_algo;
  uint32_t threads;
  int32_t value_order;
  /* The descriptor comes before the payload, for readers of streams. */
  int32_t descriptor_first;
  uint32_t reserved;
  TgmEncodeMaskOptions masks;
  /* Metadata of the (first) message; NULL if there is none. */
  const tgm_metadata_builder_t *extra;
} tgm_encode_options_t;

#define TGM_ENCODE_OPTIONS_INIT \
  {sizeof(tgm_encode_options_t), "xxh3", 0, 0, 0, 0, {false, false, NULL, NULL, NULL, -1}, NULL}

/* ---- Archives: messages of any source ----------------------------------------------------------------------------- */

typedef struct tgm_archive_t tgm_archive_t;
typedef struct tgm_object_t tgm_object_t;

/* A path, or an address ("https://", "s3://", "gs://", "az://", "file:///"), for which the library needs feature
 * "async-remote". A file in which no message is found is TGM_ERROR_FRAMING, mapped or not; an empty one has none. */
tgm_error tgm_archive_open(const char *source, tgm_archive_t **out);
/* A path whose file is mapped into memory. Until the archive and its objects are freed, no program may truncate it or write
 * into it. Appending by other programs is harmless. */
tgm_error tgm_archive_open_map(const char *path, tgm_archive_t **out);
/* Messages in memory, which must live and stay as they are until the archive and its objects are freed. */
tgm_error tgm_archive_open_bytes(const uint8_t *buf, size_t buf_len, tgm_archive_t **out);
/* Fills `out` with the `len` bytes of the source from `offset` on, and returns 0. Any other number is TGM_ERROR_IO of the call
 * that needs the bytes. It must not throw. */
typedef int32_t (*tgm_read_fn)(void *user, uint64_t offset, uint8_t *out, size_t len);
/* A source of `size` bytes that a function reads. Its calls come one at a time, on the thread that needs the bytes, until the
 * archive and its objects are freed; they must not use the archive. */
tgm_error tgm_archive_open_source(tgm_read_fn read, void *user, uint64_t size, tgm_archive_t **out);

/* The number of messages. The first call searches for them. Messages and objects are numbered from 0. */
tgm_error tgm_archive_len(const tgm_archive_t *archive, size_t *out);
/* The number of objects of a message. */
tgm_error tgm_archive_num_objects(const tgm_archive_t *archive, size_t message, size_t *out);
/* The metadata of a message, merged from all its frames. It outlives the archive. No payload is read. The digests of its frames
 * are checked: TGM_ERROR_HASH_MISMATCH about no object. A frame without a digest passes. */
tgm_error tgm_archive_metadata(const tgm_archive_t *archive, size_t message, tgm_metadata_t **out);
/* Whether these digests are checked wherever metadata of this archive is handed out: in tgm_archive_metadata(),
 * tgm_object_metadata(), tgm_archive_query() and tgm_catalog_build(). They are unless `on` is 0. The functions of tensogram.h
 * check them with `verify_hash`; those without it, such as tgm_decode_metadata(), do not. */
tgm_error tgm_archive_verify_metadata(const tgm_archive_t *archive, int32_t on);
/* All bytes of a message. */
tgm_error tgm_archive_message(const tgm_archive_t *archive, size_t message, tgm_bytes_t *out);
/* The bytes of a message where they lie: of bytes and maps. Valid until the archive is closed; they stay where they are as
 * long as an object of the archive is open. */
tgm_error tgm_archive_view(const tgm_archive_t *archive, size_t message, const uint8_t **out, size_t *out_len);
/* Checks that a message is intact, as tgm_check_message() does. Reads all of it. */
tgm_error tgm_archive_verify(const tgm_archive_t *archive, size_t message);

/* An object of an archive: the number of its message, and its number in it. */
typedef struct {
  size_t message;
  size_t object;
} tgm_object_ref_t;

typedef struct tgm_object_list_t tgm_object_list_t;

/* The objects for which a query holds: "mars.param=2t/10u and mars.step>=24". Reads the metadata of all messages, and
 * checks its digests. */
tgm_error tgm_archive_query(const tgm_archive_t *archive, const char *query, uint32_t threads,
                            tgm_object_list_t **out);
size_t tgm_object_list_count(const tgm_object_list_t *list);
/* Valid until tgm_object_list_free(). */
const tgm_object_ref_t *tgm_object_list_data(const tgm_object_list_t *list);
/* Why the list is empty, if a key of the query looks like a slip: "... no key param; did you mean mars.param?". The first
 * message was asked. NULL otherwise. Valid until tgm_object_list_free(). */
const char *tgm_object_list_hint(const tgm_object_list_t *list);
void tgm_object_list_free(tgm_object_list_t *list);

/* Opens an object. Its descriptor is read, and no payload. The archive may be closed before its objects. */
tgm_error tgm_archive_object(const tgm_archive_t *archive, size_t message, size_t object, tgm_object_t **out);
/* The same for an object that a query found: entry `index` of the list. */
tgm_error tgm_object_list_open(const tgm_object_list_t *list, const tgm_archive_t *archive, size_t index,
                               tgm_object_t **out);
void tgm_archive_close(tgm_archive_t *archive);

/* ---- Objects: tensors that are not yet read; pointers are valid until tgm_object_free() --------------------------- */

/* The caller sets struct_size to sizeof(tgm_object_facts_t). */
typedef struct {
  size_t struct_size;
  /* The number of its message in the archive, and its number in the message. */
  size_t message;
  size_t object;
  /* `ndim` dimensions, slowest first. */
  const uint64_t *shape;
  size_t ndim;
  uint64_t num_elements;
  /* Bytes of all values, decoded. */
  uint64_t size;
  /* Bytes of the values as they are stored. */
  uint64_t payload_size;
  /* Where it can be cut: ranges that begin and end at multiples of this many elements are read and decoded without what lies
   * around them. 0 if any part needs all of the payload, or all before it. */
  uint64_t grain;
  /* A TGM_DTYPE_. */
  int32_t dtype;
  /* The byte order that the descriptor declares: 0 little, 1 big. */
  int32_t byte_order;
  /* "float32", "bitmask" ... */
  const char *dtype_name;
  /* The stages of the pipeline, "none" where there is none. */
  const char *encoding;
  const char *filter;
  const char *compression;
} tgm_object_facts_t;

tgm_error tgm_object_facts(const tgm_object_t *object, tgm_object_facts_t *out);
/* A parameter of the stages, such as "sp_bits_per_value"; NULL if it is absent. */
const tgm_value_t *tgm_object_parameter(const tgm_object_t *object, const char *name);
/* The descriptor as JSON, as tgm_encode_pre_encoded() takes it. */
const char *tgm_object_descriptor_json(const tgm_object_t *object);
/* The metadata of the message as the object sees it: object 0 there is this one. It outlives the object. Digests are checked as
 * in tgm_archive_metadata(). */
tgm_error tgm_object_metadata(const tgm_object_t *object, tgm_metadata_t **out);
/* The payload where it lies, as it is stored, without masks: of bytes and maps. */
tgm_error tgm_object_payload(const tgm_object_t *object, const uint8_t **out, size_t *out_len);
void tgm_object_free(tgm_object_t *object);

/* ---- Read: requests for values ------------------------------------------------------------------------------------ */

/* Which values of an object, and how they are decoded. Start with TGM_READ_INIT, which asks for all. NULL is the same. */
typedef struct {
  size_t struct_size;
  /* A box of the tensor, written as in Python: "0, 10:20, ::4, -1, ..". Dimensions with a single index vanish. */
  const char *selection;
  /* Or ranges of elements of the flattened tensor: the first elements, and the counts. Their values come one range after the
   * other. If `range_starts` is not NULL, ranges are meant, also for none. */
  const uint64_t *range_starts;
  const uint64_t *range_counts;
  size_t num_ranges;
  const tgm_decode_options_t *options;
} tgm_read_t;

#define TGM_READ_INIT {sizeof(tgm_read_t), NULL, NULL, NULL, 0, NULL}

/* The shape of what is asked for, and the bytes that it takes. Nothing is decoded. Up to `shape_capacity` dimensions are written;
 * `*out_ndim` is their number. Ranges have one dimension. */
tgm_error tgm_read_size(const tgm_object_t *object, const tgm_read_t *request, uint64_t *out_shape,
                        size_t shape_capacity, size_t *out_ndim, size_t *out_size);
/* Writes the values as they are. `out_len` is exactly their bytes. After a failure the content of `out` is undefined. */
tgm_error tgm_read_into(const tgm_object_t *object, const tgm_read_t *request, void *out, size_t out_len);
/* Writes the values as floating-point numbers, whatever their type is, complex numbers excepted. Bits become 0 or 1.
 * `out_count` is exactly their number. They are in this machine's byte order. */
tgm_error tgm_read_f64(const tgm_object_t *object, const tgm_read_t *request, double *out, size_t out_count);
tgm_error tgm_read_f32(const tgm_object_t *object, const tgm_read_t *request, float *out, size_t out_count);
/* The values where they lie, at any alignment: of bytes and maps. TGM_ERROR_ENCODING if they have to be decoded, swapped or
 * gathered. Valid until the object is freed. */
tgm_error tgm_read_view(const tgm_object_t *object, const tgm_read_t *request, const void **out, size_t *out_len);

/* A tensor of DLPack. The struct is that of version 1.0 of <dlpack/dlpack.h>, which this header does not need. Its memory is
 * that of a CPU, row-major, in this machine's byte order. The tensor outlives the object. Its last owner calls the deleter,
 * once, on any thread. Bitmasks have no such form: TGM_ERROR_ENCODING. */
struct DLManagedTensorVersioned;

#define TGM_COPY_AS_NEEDED 0 /* the values where they lie, read-only, if that is possible; otherwise as the next */
#define TGM_COPY_ALWAYS 1    /* the decoded values in memory of the tensor, aligned to 256 bytes */
#define TGM_COPY_NEVER (-1)  /* the values where they lie, or an error. Bytes must live until the deleter is called */

tgm_error tgm_read_dlpack(const tgm_object_t *object, const tgm_read_t *request, int32_t copy,
                          struct DLManagedTensorVersioned **out);

/* ---- Writers: where messages go ----------------------------------------------------------------------------------- */

/* An object to be written. The caller sets struct_size to sizeof(tgm_object_input_t), and what is not needed to 0. */
typedef struct {
  size_t struct_size;
  /* A TGM_DTYPE_. */
  int32_t dtype;
  /* The byte order of `data`: 0 this machine's, 1 little, 2 big. */
  int32_t byte_order;
  /* `ndim` dimensions, slowest first. */
  size_t ndim;
  const uint64_t *shape;
  /* `size` bytes: the elements, row-major. */
  const void *data;
  size_t size;
  /* The stages of the pipeline by name. NULL is "none". README.md lists them with their parameters. */
  const char *encoding;
  const char *filter;
  const char *compression;
  /* Parameters of the stages: a JSON object, or NULL. Those that are not given are the usual ones: for szip and shuffle they
   * follow from the values, for "simple_packing" from them and "sp_bits_per_value". zfp and sz3 need theirs. */
  const char *params_json;
  /* Metadata of the object: a JSON object, a builder, or both. Integers in JSON keep their values up to UINT64_MAX. */
  const char *metadata_json;
  const tgm_metadata_builder_t *metadata;
  /* In place of stages by name, what they keep. One of these may be set: the most by which floats may change, in their own
   * unit; bits of each packed float, 1 to 64; or all, if `lossless` is not 0. */
  double within;
  uint32_t bits;
  int32_t lossless;
} tgm_object_input_t;

/* Takes bytes of a message. Returns 0 if it has them all; any other number ends the message with TGM_ERROR_IO. It must
 * not throw, and must not free the writer that calls it. Other calls with this writer are TGM_ERROR_INVALID_ARG. */
typedef int32_t (*tgm_write_fn)(void *user, const uint8_t *data, size_t len);

/* Messages are in memory until they end, and are then written in one step. `options` may be NULL. */
typedef struct tgm_writer_t tgm_writer_t;

tgm_error tgm_writer_memory(const tgm_encode_options_t *options, tgm_writer_t **out);
/* A new file, in directories that are made. An existing one is emptied at once: the new one grows by whole messages, and readers follow it
 * meanwhile. Where the old file is to stay until the new one is complete, write to another name beside it, finish, and rename that. */
tgm_error tgm_writer_create(const char *path, const tgm_encode_options_t *options, tgm_writer_t **out);
/* After the messages of a file that is there. Readers see each message in one step. */
tgm_error tgm_writer_append(const char *path, const tgm_encode_options_t *options, tgm_writer_t **out);
tgm_error tgm_writer_to(tgm_write_fn write, void *user, const tgm_encode_options_t *options, tgm_writer_t **out);
/* Metadata of the message that is being written: a JSON object, a builder, or both; NULL for none. */
tgm_error tgm_writer_extra(tgm_writer_t *writer, const char *extra_json, const tgm_metadata_builder_t *builder);
/* Encodes an object and adds it to the message. Its values are not needed any more. After an error of encoding the message
 * cannot be finished. */
tgm_error tgm_writer_object(tgm_writer_t *writer, const tgm_object_input_t *object);
/* Ends the message and writes it. The next object begins another one. */
tgm_error tgm_writer_end_message(tgm_writer_t *writer);
/* Ends the message, if there is one, and the writer. `out` gets the bytes of a writer to memory, and may be NULL for others.
 * After this only tgm_writer_free() may follow; other calls are TGM_ERROR_INVALID_ARG. */
tgm_error tgm_writer_finish(tgm_writer_t *writer, tgm_bytes_t *out);
/* A message that was not ended is not written. */
void tgm_writer_free(tgm_writer_t *writer);

/* ---- Messages written before they end ------------------------------------------------------------------------------
 *
 * For messages of more objects than memory holds: tgm_streaming_encoder_*, with all options, and to a function.
 */

tgm_error tgm_streaming_encoder_create_opts(const char *path, const char *metadata_json,
                                            const tgm_encode_options_t *options, tgm_streaming_encoder_t **out);
/* Writes an object as tgm_writer_object() takes it, with its metadata before it. The values are written at once. */
tgm_error tgm_streaming_encoder_write_input(tgm_streaming_encoder_t *enc, const tgm_object_input_t *object);
/* The bytes go to `write`, in order, on the calling thread, until the encoder is freed. Small writes are frequent: collect them
 * if a write is dear. */
tgm_error tgm_streaming_encoder_create_writer(tgm_write_fn write, void *user, const char *metadata_json,
                                              const tgm_encode_options_t *options, tgm_streaming_encoder_t **out);
/* tgm_streaming_encoder_finish(), and the message states its length, so that it can be found from its end. For
 * files only. */
tgm_error tgm_streaming_encoder_finish_backfill(tgm_streaming_encoder_t *enc);

/* ---- Checks -------------------------------------------------------------------------------------------------------- */

/* Checks the structure, metadata, descriptors, masks, indexes and all digests. The first damage is the error, with its byte and
 * its object. A message without digests is TGM_ERROR_MISSING_HASH. Not checked: bits that no reader reads (padding, reserved
 * bits, the flags of the preamble), and whether a payload decodes, which is tgm_validate()'s. */
tgm_error tgm_check_message(const uint8_t *buf, size_t buf_len);

/* ---- Catalogues: queries without the archive ----------------------------------------------------------------------- */

typedef struct tgm_catalog_t tgm_catalog_t;

/* `keys` are dotted paths, or "dtype", "shape" and the like. */
tgm_error tgm_catalog_build(const tgm_archive_t *archive, const char *const *keys, size_t num_keys, uint32_t threads,
                            tgm_catalog_t **out);
tgm_error tgm_catalog_open(const char *path, tgm_catalog_t **out);
tgm_error tgm_catalog_save(const tgm_catalog_t *catalog, const char *path);
/* Adds the messages that were appended since. The archive is one that was opened after the append. */
tgm_error tgm_catalog_extend(tgm_catalog_t *catalog, const tgm_archive_t *archive, size_t *out_added);
/* 0 if it covers the archive, 1 if the archive has grown, 2 if it is another one or was changed, 3 if nothing tells: it is on a
 * server that does not name its versions, or was catalogued elsewhere. */
tgm_error tgm_catalog_check(const tgm_catalog_t *catalog, const tgm_archive_t *archive, int32_t *out_state);
size_t tgm_catalog_num_messages(const tgm_catalog_t *catalog);
size_t tgm_catalog_num_objects(const tgm_catalog_t *catalog);
/* The keys of the query must be keys of the catalogue. */
tgm_error tgm_catalog_query(const tgm_catalog_t *catalog, const char *query, tgm_object_list_t **out);
/* Where the frame of an object is in the archive, in bytes. */
tgm_error tgm_catalog_object_range(const tgm_catalog_t *catalog, size_t message, size_t object, uint64_t *out_offset,
                                   uint64_t *out_length);
void tgm_catalog_free(tgm_catalog_t *catalog);

/* ---- Datasets: n-dimensional variables over many messages ------------------------------------------------------------ */

/* The objects of one kind, in all messages of all sources, are a variable. Its dimensions are the keys of metadata that differ,
 * such as times, steps and levels, and after them the dimensions of the grid. Opening reads metadata alone. The library needs
 * feature "dataset", which it has by default. */
typedef struct tgm_dataset_t tgm_dataset_t;

/* Begins with its size. Start with TGM_DATASET_OPTIONS_INIT. NULL is the same. */
typedef struct {
  size_t struct_size;
  /* What keys mean: "mars" of fields, "cf" of variables of files, "plain" nothing but names, "name=variable,step=lead" keys of
     one's own; NULL or "auto": found out. */
  const char *profile;
  /* Which of two different objects for one place counts: "first" or "last"; NULL or "error": two are TGM_ERROR_METADATA. */
  const char *duplicates;
  /* The group of variables of files; NULL: the root. */
  const char *group;
  /* Whether a dimension of length 1 stays one. Otherwise it is a coordinate without dimension. */
  int32_t keep_single;
  /* Whether catalogues beside files, FILE.catalog, are left unread. They save reading the messages. */
  int32_t ignore_catalogs;
  /* Which dataset is opened, where the sources make several: 0 is the one with the most objects. */
  size_t index;
  /* Only the objects that a query selects, as for tgm_archive_query(); NULL: all. Only the files of a tree, a source whose
   * name ends with ".tree", are opened that may have some. */
  const char *only;
} tgm_dataset_options_t;

#define TGM_DATASET_OPTIONS_INIT {sizeof(tgm_dataset_options_t), NULL, NULL, NULL, 0, 0, 0, NULL}

/* Opens paths or addresses, which together are a dataset: fields have their places by their keys, and what came from NetCDF or Zarr is
 * joined along the dimensions whose labels differ. Files that overlap are TGM_ERROR_METADATA. */
tgm_error tgm_dataset_open(const char *const *sources, size_t num_sources, const tgm_dataset_options_t *options,
                           tgm_dataset_t **out);
/* What it is: "dimensions", "coordinates" with their labels, "variables" with "name", "dtype", "dimensions", "shape" and
 * "attributes", then "attributes", "holes", "left_out" and "notes", as `tgm cube --json` prints them. Valid until
 * tgm_dataset_close(). */
tgm_error tgm_dataset_json(const tgm_dataset_t *dataset, const char **out);
/* What a request asks of a variable: its `selection` is by labels, "step=0..24, latitude=60:40, number=0, level~850", or as
 * for objects, "0, 10:20, .."; dimensions with one index vanish. It has no ranges. Its option of the byte order does not
 * count. Without options all processors decode. Arguments and results are as for tgm_read_size(). */
tgm_error tgm_dataset_read_size(const tgm_dataset_t *dataset, const char *variable, const tgm_read_t *request,
                                uint64_t *out_shape, size_t shape_capacity, size_t *out_ndim, size_t *out_size);
/* Writes the values as they are, in this machine's byte order, a truth value in a byte. `out_len` is exactly their bytes. Places
 * without an object are NaN; whole numbers with such places become float64, but numbers of 64 bits fail: TGM_ERROR_METADATA.
 * Only what is asked for is read of each object. After a failure the content of `out` is undefined. */
tgm_error tgm_dataset_read_into(const tgm_dataset_t *dataset, const char *variable, const tgm_read_t *request,
                                void *out, size_t out_len);
/* Writes the values as floating-point numbers, whatever their type is, complex numbers excepted. `out_count` is exactly their
 * number. */
tgm_error tgm_dataset_read_f64(const tgm_dataset_t *dataset, const char *variable, const tgm_read_t *request,
                               double *out, size_t out_count);
tgm_error tgm_dataset_read_f32(const tgm_dataset_t *dataset, const char *variable, const tgm_read_t *request,
                               float *out, size_t out_count);
void tgm_dataset_close(tgm_dataset_t *dataset);

/* ---- Functions that do not block: every option ---------------------------------------------------------------------- */

tgm_error tgm_async_file_decode_message_opts(tgm_async_file_t *file, size_t index, const tgm_decode_options_t *options,
                                             tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                             tgm_async_task_t **out_task);
tgm_error tgm_async_file_decode_object_opts(tgm_async_file_t *file, size_t msg_index, size_t obj_index,
                                            const tgm_decode_options_t *options, tgm_cancellation_token_t *cancel,
                                            uint64_t timeout_ms, tgm_async_task_t **out_task);
tgm_error tgm_async_file_decode_range_opts(tgm_async_file_t *file, size_t msg_index, size_t obj_index,
                                           const uint64_t *offsets, const uint64_t *counts, size_t n_ranges,
                                           const tgm_decode_options_t *options, tgm_cancellation_token_t *cancel,
                                           uint64_t timeout_ms, tgm_async_task_t **out_task);
tgm_error tgm_async_streaming_encoder_create_opts(const char *path, const char *metadata_json,
                                                  const tgm_encode_options_t *options,
                                                  tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                                  tgm_async_task_t **out_task);
/* tgm_streaming_encoder_write_input(): the values are copied, or packed, before this returns, and written later. */
tgm_error tgm_async_streaming_encoder_write_input(tgm_async_streaming_encoder_t *enc, const tgm_object_input_t *object,
                                                  tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                                  tgm_async_task_t **out_task);
/* The byte order that the values of a decoded message have: "big" or "little". */
const char *tgm_object_data_byte_order(const tgm_message_t *msg, size_t index);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TGM_H */
