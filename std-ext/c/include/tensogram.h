/*
 * Tensogram in C: messages of N-dimensional tensors, written, read and checked.
 *
 * Link with -ltensogram. C99, C11 and C++17. The functions have the names, types, values and rules of ownership of the C
 * library of Tensogram 0.24, so that programs for it link with this library as they are. New programs include tgm.h, which
 * has the model (archive, object, read, writer), and includes this header.
 *
 * ERRORS      A function that can fail returns a tgm_error. 0 is success. Results are written on success only. The text
 *             of the last failure on this thread is tgm_last_error(); success does not clear it. NULL for a handle, a
 *             result or a text that must be there is TGM_ERROR_INVALID_ARG. Accessors that return a value or a pointer
 *             keep no error: they return 0, false or NULL if something is missing. No error ends the process, and no
 *             exception leaves the library.
 * TEXTS       `const char *` is UTF-8 that ends with NUL, except where a length is returned beside it.
 * OWNERSHIP   A tgm_bytes_t that the library writes is freed with tgm_bytes_free(), a handle with the function _free or
 *             _close of its type. Each of them takes NULL. All other pointers are borrowed, and the function says from
 *             what and for how long. tgm_buffer_iter_t borrows the buffer that it was made of, and so does an archive of bytes;
 *             it must live and stay as it is until they are freed. Other handles do not need the buffer any more.
 * MEMORY      What a call reads must not change during the call. What a call writes must not be used by another thread
 *             during the call, and must lie apart from all that the call reads. A result for values that lies on the
 *             message is TGM_ERROR_INVALID_ARG.
 * THREADS     Different handles are independent. Several threads may use one handle at the same time. Appending to a
 *             file and extending a catalogue wait for readers. Threads that share an iterator get different items. A
 *             tgm_streaming_encoder_t and a tgm_writer_t take one call at a time; a second one meanwhile is
 *             TGM_ERROR_INVALID_ARG. A handle is freed once, when no other call uses it.
 * ASYNC       The functions tgm_async_* are in libraries that were built with feature "async", as they are unless it is left
 *             out: tgm_has_feature("async"). Their section says more.
 * FLAGS       An int32_t flag is false if it is 0 and true otherwise.
 * EMPTY       A pointer to 0 bytes may be NULL for tgm_encode*, tgm_scan, tgm_buffer_iter_create, tgm_compute_hash,
 *             tgm_validate, tgm_file_append_raw and the writing functions of streams.
 */
#ifndef TENSOGRAM_H
#define TENSOGRAM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the wire format. */
#define TGM_WIRE_VERSION 3

typedef enum {
  TGM_ERROR_OK = 0,
  /* Lengths, markers, the order of frames; the number of a message in a file. */
  TGM_ERROR_FRAMING = 1,
  /* CBOR, JSON, a descriptor, a query. */
  TGM_ERROR_METADATA = 2,
  /* A stage of the pipeline, a range beyond the end, a limit. */
  TGM_ERROR_ENCODING = 3,
  TGM_ERROR_COMPRESSION = 4,
  /* The message has no object of that number. */
  TGM_ERROR_OBJECT = 5,
  TGM_ERROR_IO = 6,
  TGM_ERROR_HASH_MISMATCH = 7,
  TGM_ERROR_INVALID_ARG = 8,
  /* An iterator has no more items: not a failure. The last error stays. */
  TGM_ERROR_END_OF_ITER = 9,
  TGM_ERROR_REMOTE = 10,
  TGM_ERROR_MISSING_HASH = 11,
  TGM_ERROR_TIMEOUT = 12,
  TGM_ERROR_CANCELLED = 13
} tgm_error;

typedef enum {
  TGM_VALUE_TYPE_NULL = 0,
  TGM_VALUE_TYPE_BOOL = 1,
  TGM_VALUE_TYPE_INT = 2,
  TGM_VALUE_TYPE_FLOAT = 3,
  TGM_VALUE_TYPE_STRING = 4,
  TGM_VALUE_TYPE_BYTES = 5,
  TGM_VALUE_TYPE_ARRAY = 6,
  TGM_VALUE_TYPE_MAP = 7
} tgm_value_type;

/* What tgm_async_streaming_encoder_try_object_count() finds. */
typedef enum {
  TGM_OBJECT_COUNT_STATUS_OK = 0,
  TGM_OBJECT_COUNT_STATUS_NULL_HANDLE = 1,
  TGM_OBJECT_COUNT_STATUS_BUSY = 2,
  TGM_OBJECT_COUNT_STATUS_FINISHED = 3
} TgmObjectCountStatus;

typedef struct tgm_message_t tgm_message_t;
typedef struct tgm_metadata_t tgm_metadata_t;
typedef struct tgm_value_t tgm_value_t;
typedef struct tgm_file_t tgm_file_t;
typedef struct tgm_scan_result_t tgm_scan_result_t;
typedef struct tgm_buffer_iter_t tgm_buffer_iter_t;
typedef struct tgm_file_iter_t tgm_file_iter_t;
typedef struct tgm_object_iter_t tgm_object_iter_t;
typedef struct tgm_streaming_encoder_t tgm_streaming_encoder_t;
typedef struct tgm_async_task_t tgm_async_task_t;
typedef struct tgm_async_file_t tgm_async_file_t;
typedef struct tgm_async_streaming_encoder_t tgm_async_streaming_encoder_t;
typedef struct tgm_cancellation_token_t tgm_cancellation_token_t;

/* Bytes of the library. Freed with tgm_bytes_free(). `data` is not NULL, also for no bytes, and aligned to 16 bytes. */
typedef struct {
  uint8_t *data;
  size_t len;
} tgm_bytes_t;

typedef struct {
  size_t offset;
  size_t length;
} tgm_scan_entry_t;

/* What encoding does with NaN and infinities. The methods are "none", "rle", "roaring", "lz4", "zstd" and "blosc2";
 * NULL is "roaring". All three are checked, whatever the flags say. */
typedef struct {
  bool allow_nan;
  bool allow_inf;
  const char *nan_mask_method;
  const char *pos_inf_mask_method;
  const char *neg_inf_mask_method;
  /* Up to this many packed bytes a mask is stored without compression. Less than 0: 128. */
  ptrdiff_t small_mask_threshold_bytes;
} TgmEncodeMaskOptions;

/* Whether decoding puts NaN and infinities back where masks record them. */
typedef struct {
  bool restore_non_finite;
} TgmDecodeMaskOptions;

typedef TgmEncodeMaskOptions tgm_encode_mask_options_t;
typedef TgmDecodeMaskOptions tgm_decode_mask_options_t;

/* ---- Errors and buffers ------------------------------------------------------------------------------------------ */

/* The text of the last failure on this thread; NULL before the first one. Valid until the next failure there. */
const char *tgm_last_error(void);

/* The text of a code. Any number may be passed. Never NULL. */
const char *tgm_error_string(tgm_error err);

/* Frees bytes of the library. NULL in `data` is ignored, and `len` is not read. */
void tgm_bytes_free(tgm_bytes_t buf);

/* ---- Encode ------------------------------------------------------------------------------------------------------ */

/*
 * Encodes a message.
 *
 * `metadata_json` is an object. "descriptors" has a descriptor for each data object, "base" metadata for each of them,
 * "_extra_" (or "extra") metadata of the message. Other keys go into "_extra_". A descriptor has "type", "ndim",
 * "shape", "strides", "dtype", "encoding", "filter" and "compression". It may have "byte_order" ("big", "little"; this
 * machine's if it is missing) and parameters of the stages.
 *
 * `data_ptrs` and `data_lens` have `num_objects` entries: the elements' bytes, row-major, in the declared byte order.
 * An entry may be NULL if its length is 0. `hash_algo` is NULL or "none" for no digests, "xxh3" for digests. `threads`
 * is 0 (this thread, or as many as TENSOGRAM_THREADS says) or a number. NaN and infinities are TGM_ERROR_ENCODING.
 */
tgm_error tgm_encode(const char *metadata_json, const uint8_t *const *data_ptrs, const size_t *data_lens,
                     size_t num_objects, const char *hash_algo, uint32_t threads, tgm_bytes_t *out);

/* tgm_encode() with masks for NaN and infinities. `mask_options` may be NULL. */
tgm_error tgm_encode_with_options(const char *metadata_json, const uint8_t *const *data_ptrs, const size_t *data_lens,
                                  size_t num_objects, const char *hash_algo, uint32_t threads,
                                  const TgmEncodeMaskOptions *mask_options, tgm_bytes_t *out);

/* tgm_encode() for objects whose bytes went through their pipeline already: they are stored as they are. */
tgm_error tgm_encode_pre_encoded(const char *metadata_json, const uint8_t *const *data_ptrs, const size_t *data_lens,
                                 size_t num_objects, const char *hash_algo, uint32_t threads, tgm_bytes_t *out);

/* ---- Decode: the message that `buf` begins with ------------------------------------------------------------------ */

/* Decodes all objects. `native_byte_order`: values come in this machine's byte order, else as declared. `verify_hash`:
 * digests are checked first; without one the error is TGM_ERROR_MISSING_HASH. */
tgm_error tgm_decode(const uint8_t *buf, size_t buf_len, int32_t native_byte_order, uint32_t threads,
                     int32_t verify_hash, tgm_message_t **out);

/* tgm_decode() that leaves zeros in place of NaN and infinities, if the options say so. They may be NULL. */
tgm_error tgm_decode_with_options(const uint8_t *buf, size_t buf_len, int32_t native_byte_order, uint32_t threads,
                                  int32_t verify_hash, const TgmDecodeMaskOptions *mask_options, tgm_message_t **out);

/* Reads the first metadata frame, and no object. The metadata of a streamed message may have come later, and is then missing. Its digest is not
 * checked: tgm_archive_metadata() of tgm.h checks it. */
tgm_error tgm_decode_metadata(const uint8_t *buf, size_t buf_len, tgm_metadata_t **out);

/* Decodes one object, as a message of one object (number 0) with the metadata of all. */
tgm_error tgm_decode_object(const uint8_t *buf, size_t buf_len, size_t index, int32_t native_byte_order,
                            uint32_t threads, int32_t verify_hash, tgm_message_t **out);

/* Decodes ranges of elements of the flattened tensor. `out` has room for `num_ranges` buffers, or for one if `join` is
 * set; the caller frees each. */
tgm_error tgm_decode_range(const uint8_t *buf, size_t buf_len, size_t object_index, const uint64_t *ranges_offsets,
                           const uint64_t *ranges_counts, size_t num_ranges, int32_t native_byte_order,
                           uint32_t threads, int32_t join, tgm_bytes_t *out, size_t *out_count);

/* ---- Scan -------------------------------------------------------------------------------------------------------- */

/* Finds the messages of a buffer. Bytes between them are skipped. */
tgm_error tgm_scan(const uint8_t *buf, size_t buf_len, tgm_scan_result_t **out);
size_t tgm_scan_count(const tgm_scan_result_t *result);
/* {SIZE_MAX, 0} if there is no such entry; the last error is set then. */
tgm_scan_entry_t tgm_scan_entry(const tgm_scan_result_t *result, size_t index);
void tgm_scan_free(tgm_scan_result_t *result);

/* ---- Message and its objects: pointers are valid until tgm_message_free() ---------------------------------------- */

uint64_t tgm_message_version(const tgm_message_t *msg);
size_t tgm_message_num_objects(const tgm_message_t *msg);
size_t tgm_message_num_decoded(const tgm_message_t *msg);
/* The merged metadata. It outlives the message. */
tgm_error tgm_message_metadata(const tgm_message_t *msg, tgm_metadata_t **out);
void tgm_message_free(tgm_message_t *msg);

uint64_t tgm_object_ndim(const tgm_message_t *msg, size_t index);
const uint64_t *tgm_object_shape(const tgm_message_t *msg, size_t index);
/* The strides as they are stored. Their unit is the writer's. */
const uint64_t *tgm_object_strides(const tgm_message_t *msg, size_t index);
const char *tgm_object_type(const tgm_message_t *msg, size_t index);
/* "float32", "bitmask" ... */
const char *tgm_object_dtype(const tgm_message_t *msg, size_t index);
/* The byte order that the descriptor declares: "big" or "little". The values may have been swapped since: see
 * tgm_object_data_byte_order(). */
const char *tgm_object_byte_order(const tgm_message_t *msg, size_t index);
const char *tgm_payload_encoding(const tgm_message_t *msg, size_t index);
const char *tgm_object_filter(const tgm_message_t *msg, size_t index);
const char *tgm_object_compression(const tgm_message_t *msg, size_t index);
/* The decoded values, aligned to 16 bytes. `out_len` may be NULL. simple_packing decodes to float64. */
const uint8_t *tgm_object_data(const tgm_message_t *msg, size_t decoded_index, size_t *out_len);
int32_t tgm_payload_has_hash(const tgm_message_t *msg, size_t index);
/* "xxh3"; NULL without a digest. */
const char *tgm_object_hash_type(const tgm_message_t *msg, size_t index);
/* 16 hexadecimal digits; NULL without a digest. */
const char *tgm_object_hash_value(const tgm_message_t *msg, size_t index);

/* ---- Metadata: pointers are valid until tgm_metadata_free() ------------------------------------------------------ */

/* A path has its segments separated by dots: "mars.param". A segment in double quotes is a key with dots of its own:
 * attributes."mars.param"; without quotes such a key is found where plain segments lead nowhere. In the whole message the
 * first object that has the path counts, then the message's annotations; "extra.KEY" asks for these alone. In
 * tgm_metadata_get_string(), _int() and _float() the path "version" is the version of the format. */
uint64_t tgm_metadata_version(const tgm_metadata_t *meta);
size_t tgm_metadata_num_objects(const tgm_metadata_t *meta);
/* Text, or a number or truth value as text. NULL for anything else. */
const char *tgm_metadata_get_string(const tgm_metadata_t *meta, const char *key);
int64_t tgm_metadata_get_int(const tgm_metadata_t *meta, const char *key, int64_t default_val);
double tgm_metadata_get_float(const tgm_metadata_t *meta, const char *key, double default_val);
const char *tgm_metadata_get_string_at(const tgm_metadata_t *meta, size_t obj_index, const char *key);
int64_t tgm_metadata_get_int_at(const tgm_metadata_t *meta, size_t obj_index, const char *key, int64_t default_val);
double tgm_metadata_get_float_at(const tgm_metadata_t *meta, size_t obj_index, const char *key, double default_val);
const char *tgm_metadata_object_to_json(const tgm_metadata_t *meta, size_t obj_index);
const char *tgm_metadata_to_json(const tgm_metadata_t *meta);
/* NULL means absent. The same value always has the same cursor. */
const tgm_value_t *tgm_metadata_get(const tgm_metadata_t *meta, const char *path);
const tgm_value_t *tgm_metadata_get_at(const tgm_metadata_t *meta, size_t obj_index, const char *path);
bool tgm_metadata_has(const tgm_metadata_t *meta, const char *path);
bool tgm_metadata_has_at(const tgm_metadata_t *meta, size_t obj_index, const char *path);
const tgm_value_t *tgm_metadata_object(const tgm_metadata_t *meta, size_t obj_index);
const tgm_value_t *tgm_metadata_extra(const tgm_metadata_t *meta);
const tgm_value_t *tgm_metadata_reserved(const tgm_metadata_t *meta);
void tgm_metadata_free(tgm_metadata_t *meta);

/* ---- Values: cursors take no memory and are never freed ---------------------------------------------------------- */

tgm_value_type tgm_value_get_type(const tgm_value_t *v);
/* True, and the value written, if the type fits. Only integers become double; nothing else is converted. */
bool tgm_value_as_bool(const tgm_value_t *v, bool *out);
bool tgm_value_as_i64(const tgm_value_t *v, int64_t *out);
bool tgm_value_as_u64(const tgm_value_t *v, uint64_t *out);
bool tgm_value_as_f64(const tgm_value_t *v, double *out);
/* `*len_out` bytes, which do not end with NUL and may contain it. */
const char *tgm_value_as_string(const tgm_value_t *v, size_t *len_out);
const uint8_t *tgm_value_as_bytes(const tgm_value_t *v, size_t *len_out);
size_t tgm_value_array_len(const tgm_value_t *v);
const tgm_value_t *tgm_value_array_get(const tgm_value_t *v, size_t index);
size_t tgm_value_map_len(const tgm_value_t *v);
/* `*len_out` bytes without NUL; NULL for a key that is not text. */
const char *tgm_value_map_key_at(const tgm_value_t *v, size_t index, size_t *len_out);
const tgm_value_t *tgm_value_map_value_at(const tgm_value_t *v, size_t index);
/* One key: dots in it are part of it. */
const tgm_value_t *tgm_value_map_get(const tgm_value_t *v, const char *key);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

tgm_error tgm_file_open(const char *path, tgm_file_t **out);
/* Makes the directories of the path, and empties the file. Addresses are TGM_ERROR_IO. */
tgm_error tgm_file_create(const char *path, tgm_file_t **out);
/* The file is scanned once, and again after an append. */
tgm_error tgm_file_message_count(tgm_file_t *file, size_t *out_count);
tgm_error tgm_file_decode_message(tgm_file_t *file, size_t index, int32_t native_byte_order, uint32_t threads,
                                  int32_t verify_hash, tgm_message_t **out);
tgm_error tgm_file_read_message(tgm_file_t *file, size_t index, tgm_bytes_t *out);
/* Encodes as tgm_encode() and appends. Readers see the message in one step. A torn message at the end of the file is
 * TGM_ERROR_FRAMING. */
tgm_error tgm_file_append(tgm_file_t *file, const char *metadata_json, const uint8_t *const *data_ptrs,
                          const size_t *data_lens, size_t num_objects, const char *hash_algo, uint32_t threads);
tgm_error tgm_file_append_with_options(tgm_file_t *file, const char *metadata_json, const uint8_t *const *data_ptrs,
                                       const size_t *data_lens, size_t num_objects, const char *hash_algo,
                                       uint32_t threads, const TgmEncodeMaskOptions *mask_options);
/* Appends bytes as they are, unchecked. */
tgm_error tgm_file_append_raw(tgm_file_t *file, const uint8_t *buf, size_t buf_len);
/* The path as it was given. An address has its user, password and query; error texts leave them out.
 * Valid until tgm_file_close(). */
const char *tgm_file_path(const tgm_file_t *file);
void tgm_file_close(tgm_file_t *file);

/* ---- Iterators --------------------------------------------------------------------------------------------------- */

/* The messages of `buf`, which must live and stay as it is until the iterator is freed. */
tgm_error tgm_buffer_iter_create(const uint8_t *buf, size_t buf_len, tgm_buffer_iter_t **out);
size_t tgm_buffer_iter_count(const tgm_buffer_iter_t *iter);
/* The next message: a part of `buf`. */
tgm_error tgm_buffer_iter_next(tgm_buffer_iter_t *iter, const uint8_t **out_buf, size_t *out_len);
void tgm_buffer_iter_free(tgm_buffer_iter_t *iter);

/* The messages that the file has now. The iterator outlives the handle of the file. */
tgm_error tgm_file_iter_create(tgm_file_t *file, tgm_file_iter_t **out);
tgm_error tgm_file_iter_next(tgm_file_iter_t *iter, tgm_bytes_t *out);
void tgm_file_iter_free(tgm_file_iter_t *iter);

/* The objects of a message, decoded one at a time, each as a message of one object. `verify_hash`: the digests of metadata are
 * checked here, and the one of an object before it is decoded. */
tgm_error tgm_object_iter_create(const uint8_t *buf, size_t buf_len, int32_t native_byte_order, int32_t verify_hash,
                                 tgm_object_iter_t **out);
tgm_error tgm_object_iter_next(tgm_object_iter_t *iter, tgm_message_t **out);
void tgm_object_iter_free(tgm_object_iter_t *iter);

/* ---- A message written to a file, object by object --------------------------------------------------------------- */

/* `metadata_json` as for tgm_encode(), without "descriptors". An existing file is emptied, after all arguments are
 * checked. */
tgm_error tgm_streaming_encoder_create(const char *path, const char *metadata_json, const char *hash_algo,
                                       uint32_t threads, tgm_streaming_encoder_t **out);
tgm_error tgm_streaming_encoder_create_with_options(const char *path, const char *metadata_json, const char *hash_algo,
                                                    uint32_t threads, const TgmEncodeMaskOptions *mask_options,
                                                    tgm_streaming_encoder_t **out);
/* Metadata of the next object, written before it: a JSON object. */
tgm_error tgm_streaming_encoder_write_preceder(tgm_streaming_encoder_t *enc, const char *metadata_json);
tgm_error tgm_streaming_encoder_write(tgm_streaming_encoder_t *enc, const char *descriptor_json, const uint8_t *data,
                                      size_t data_len);
tgm_error tgm_streaming_encoder_write_pre_encoded(tgm_streaming_encoder_t *enc, const char *descriptor_json,
                                                  const uint8_t *data, size_t data_len);
size_t tgm_streaming_encoder_count(const tgm_streaming_encoder_t *enc);
/* Ends the message, which does not state its length. After this only tgm_streaming_encoder_free() may follow; other
 * calls are TGM_ERROR_INVALID_ARG. */
tgm_error tgm_streaming_encoder_finish(tgm_streaming_encoder_t *enc);
/* Before the end, the file stays without a message. */
void tgm_streaming_encoder_free(tgm_streaming_encoder_t *enc);

/* ---- Validation, digests, packing, self-test --------------------------------------------------------------------- */

/* Findings as JSON, without NUL at its end; the code is 0 for a broken message too. `level` is NULL or "default",
 * "quick", "checksum", "full". */
tgm_error tgm_validate(const uint8_t *buf, size_t buf_len, const char *level, int32_t check_canonical,
                       tgm_bytes_t *out);
tgm_error tgm_validate_file(const char *path, const char *level, int32_t check_canonical, tgm_bytes_t *out);
/* 16 hexadecimal digits, without NUL. `algo` is NULL or "xxh3". */
tgm_error tgm_compute_hash(const uint8_t *data, size_t data_len, const char *algo, tgm_bytes_t *out);
tgm_error tgm_simple_packing_compute_params(const double *values, size_t num_values, uint32_t bits_per_value,
                                            int32_t decimal_scale_factor, double *out_reference_value,
                                            int32_t *out_binary_scale_factor);
tgm_error tgm_doctor_to_json(tgm_bytes_t *out);

/* ---- Functions that do not block -------------------------------------------------------------------------------------
 *
 * LAUNCH      A launch checks its arguments and copies its texts, arrays and data. It returns at once: a code, or a task in
 *             `*out_task`. All else (files, indexes, damage) is what the task ends with. Its last parameters are `cancel`, a
 *             token or NULL; `timeout_ms`, milliseconds from the launch on, or 0 for any time; and `out_task`.
 * TASK        A task ends once. A join waits for that and takes the value; the first join gets it, also one of another
 *             kind, which loses it. Joins of what failed return the task's code. Each task is freed once, joined or not.
 *             Freed before its end it goes on, and its value is dropped.
 * CALLBACK    A completion function is called once, whatever the end is, on a thread of the library that only runs such
 *             functions. The task is ready by then. The function may do anything that a thread may do: join and free its
 *             task, launch, wait, shut down. It must not throw. Nobody else may use a task whose callback frees it.
 * CANCEL      A token cancels all tasks that were launched with it, and all that will be. A task that is cancelled or out of
 *             time ends at once. A request is dropped then; a read or decode of a local file goes on unseen. A task whose
 *             token was cancelled before its launch does nothing.
 * HANDLES     Files, encoders and tokens may be used by any number of tasks, on any thread, and closed or freed while
 *             tasks are under way: these go on.
 * THREADS     The threads start with the first launch and live as long as the process. A process that forks leaves its
 *             tasks to the parent: the child must not use them, but can launch its own.
 */

/* Never NULL. */
tgm_cancellation_token_t *tgm_cancellation_token_create(void);
void tgm_cancellation_token_cancel(tgm_cancellation_token_t *tok);
bool tgm_cancellation_token_is_cancelled(const tgm_cancellation_token_t *tok);
void tgm_cancellation_token_free(tgm_cancellation_token_t *tok);

typedef void (*tgm_completion_fn)(void *userdata);

/* One function for a task. If the task has ended already, the function is called all the same, on the thread of the library. */
tgm_error tgm_async_task_set_completion(tgm_async_task_t *task, tgm_completion_fn cb, void *userdata);
/* Whether the task has ended. */
bool tgm_async_task_is_ready(const tgm_async_task_t *task);
void tgm_async_task_cancel(tgm_async_task_t *task);
tgm_error tgm_async_task_join_void(tgm_async_task_t *task);
tgm_error tgm_async_task_join_size(tgm_async_task_t *task, uint64_t *out);
tgm_error tgm_async_task_join_bytes(tgm_async_task_t *task, tgm_bytes_t *out);
tgm_error tgm_async_task_join_message(tgm_async_task_t *task, tgm_message_t **out);
tgm_error tgm_async_task_join_metadata(tgm_async_task_t *task, tgm_metadata_t **out);
tgm_error tgm_async_task_join_async_file(tgm_async_task_t *task, tgm_async_file_t **out);
tgm_error tgm_async_task_join_async_streaming_encoder(tgm_async_task_t *task, tgm_async_streaming_encoder_t **out);
/* A buffer for each range, freed together with tgm_multi_bytes_free(). */
tgm_error tgm_async_task_join_multi_bytes(tgm_async_task_t *task, tgm_bytes_t **out_array, size_t *out_count);
void tgm_multi_bytes_free(tgm_bytes_t *array, size_t count);
void tgm_async_task_free(tgm_async_task_t *task);

/* A file: joined by _async_file. It is opened once, and its messages are found once. */
tgm_error tgm_async_file_open(const char *path, tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                              tgm_async_task_t **out_task);
/* A source at an address ("https://", "s3://", "gs://", "az://", "file:///"), with `nopts` options of its store. Joined by
 * _async_file. TGM_ERROR_REMOTE at once if the library was built without feature "async-remote". */
tgm_error tgm_async_file_open_remote(const char *url, const char *const *storage_keys,
                                     const char *const *storage_values, size_t nopts, bool bidirectional,
                                     tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                     tgm_async_task_t **out_task);
/* As it was given, also an address with its password. Valid until the file is closed. */
const char *tgm_async_file_path(const tgm_async_file_t *file);
void tgm_async_file_close(tgm_async_file_t *file);
/* Joined by _size. */
tgm_error tgm_async_file_message_count(tgm_async_file_t *file, tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                       tgm_async_task_t **out_task);
/* Joined by _bytes. */
tgm_error tgm_async_file_read_message(tgm_async_file_t *file, size_t index, tgm_cancellation_token_t *cancel,
                                      uint64_t timeout_ms, tgm_async_task_t **out_task);
/* Joined by _metadata: the first metadata frame, as tgm_decode_metadata() reads it. */
tgm_error tgm_async_file_decode_metadata(tgm_async_file_t *file, size_t index, tgm_cancellation_token_t *cancel,
                                         uint64_t timeout_ms, tgm_async_task_t **out_task);
/* Joined by _message. */
tgm_error tgm_async_file_decode_message(tgm_async_file_t *file, size_t index, bool native_byte_order, uint32_t threads,
                                        bool restore_non_finite, bool verify_hash, tgm_cancellation_token_t *cancel,
                                        uint64_t timeout_ms, tgm_async_task_t **out_task);
/* Joined by _message: one object, number 0 there. Only what belongs to the object is read of a long message. */
tgm_error tgm_async_file_decode_object(tgm_async_file_t *file, size_t msg_index, size_t obj_index,
                                       bool native_byte_order, uint32_t threads, bool restore_non_finite,
                                       bool verify_hash, tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                       tgm_async_task_t **out_task);
/* Joined by _multi_bytes. The arrays are not NULL, also for no ranges. */
tgm_error tgm_async_file_decode_range(tgm_async_file_t *file, size_t msg_index, size_t obj_index,
                                      const uint64_t *offsets, const uint64_t *counts, size_t n_ranges,
                                      bool native_byte_order, uint32_t threads, tgm_cancellation_token_t *cancel,
                                      uint64_t timeout_ms, tgm_async_task_t **out_task);

/*
 * A message in a file, as tgm_streaming_encoder_create() writes it: the same bytes. Joined by _async_streaming_encoder.
 *
 * What is written comes in the order of launches. Copies of the data wait in memory for their turn. A write that is
 * cancelled or out of time before its turn writes nothing. Later it has written its whole frame, or will: a message is never
 * torn by it, and the number of objects tells. A write that fails leaves the encoder usable, unless the file failed.
 */
tgm_error tgm_async_streaming_encoder_create(const char *path, const char *metadata_json, const char *hash_algo,
                                             uint32_t threads, tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                             tgm_async_task_t **out_task);
/* Joined by _void, as all that follow. `data` is not NULL, also for 0 bytes. */
tgm_error tgm_async_streaming_encoder_write_object(tgm_async_streaming_encoder_t *enc, const char *descriptor_json,
                                                   const uint8_t *data, size_t len, tgm_cancellation_token_t *cancel,
                                                   uint64_t timeout_ms, tgm_async_task_t **out_task);
tgm_error tgm_async_streaming_encoder_write_pre_encoded(tgm_async_streaming_encoder_t *enc, const char *descriptor_json,
                                                        const uint8_t *data, size_t len,
                                                        tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                                        tgm_async_task_t **out_task);
tgm_error tgm_async_streaming_encoder_write_preceder(tgm_async_streaming_encoder_t *enc, const char *metadata_json,
                                                     tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                                     tgm_async_task_t **out_task);
/* Ends the message. With `backfill` it states its length. Later calls end with TGM_ERROR_FRAMING, also if this failed. */
tgm_error tgm_async_streaming_encoder_finish(tgm_async_streaming_encoder_t *enc, bool backfill,
                                             tgm_cancellation_token_t *cancel, uint64_t timeout_ms,
                                             tgm_async_task_t **out_task);
/* The number of objects that were written, if no call is under way. Never waits. `*out_count` is written with _OK only. */
TgmObjectCountStatus tgm_async_streaming_encoder_try_object_count(const tgm_async_streaming_encoder_t *enc,
                                                                  size_t *out_count);
/* The same; SIZE_MAX where the status is another one. */
size_t tgm_async_streaming_encoder_object_count(const tgm_async_streaming_encoder_t *enc);
/* As it was given. Valid until the encoder is freed. */
const char *tgm_async_streaming_encoder_path(const tgm_async_streaming_encoder_t *enc);
/* Without a finish the message stays without an end, so that readers do not find it. */
void tgm_async_streaming_encoder_free(tgm_async_streaming_encoder_t *enc);

/* Numbers of threads, once and before the first launch; 0 for the defaults, which suit the machine. `workers` drive requests
 * and timers, `dispatcher_workers` run completion functions. The size of parts is not used: nothing is uploaded. */
tgm_error tgm_runtime_configure(uint32_t workers, uint32_t dispatcher_workers, uint64_t multipart_part_size_bytes);
/* Refuses launches from now on (TGM_ERROR_IO), and waits for all tasks for that time. Then it cancels what is left, and
 * returns how many these were. Ready tasks can still be joined. There is no way back. */
uint64_t tgm_runtime_shutdown_blocking(uint64_t timeout_ms);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSOGRAM_H */
