/*
 * Tensogram in C: messages of N-dimensional tensors, written, read and checked.
 *
 * Link with -ltensogram. C99, C11 and C++17. The functions of the first part have the names, types, values and rules of
 * ownership of the C library of Tensogram 0.24, so that programs for it link with this library as they are. The second
 * part, "Beyond the reference", has what it lacks.
 *
 * ERRORS      A function that can fail returns a tgm_error. 0 is success. Results are written on success only. The text
 *             of the last failure on this thread is tgm_last_error(); success does not clear it. NULL for a handle, a
 *             result or a text that must be there is TGM_ERROR_INVALID_ARG. Accessors that return a value or a pointer
 *             keep no error: they return 0, false or NULL if something is missing. No error ends the process, and no
 *             exception leaves the library.
 * TEXTS       `const char *` is UTF-8 that ends with NUL, except where a length is returned beside it.
 * OWNERSHIP   A tgm_bytes_t that the library writes is freed with tgm_bytes_free(), a handle with the function _free or
 *             _close of its type. Each of them takes NULL. All other pointers are borrowed, and the function says from
 *             what and for how long. tgm_buffer_iter_t and tgm_view_t borrow the buffer that they were made of; it must
 *             live and stay as it is until they are freed. Other handles do not need the buffer any more.
 * MEMORY      What a call reads must not change during the call. What a call writes must not be used by another thread
 *             during the call, and must lie apart from all that the call reads. A result for values that lies on the
 *             message is TGM_ERROR_INVALID_ARG.
 * THREADS     Different handles are independent. Several threads may use one handle at the same time. Appending to a
 *             file and extending a catalogue wait for readers. Threads that share an iterator get different items. A
 *             tgm_streaming_encoder_t takes one call at a time; a second one meanwhile is TGM_ERROR_INVALID_ARG. A
 *             handle is freed once, when no other call uses it.
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

/* Reads the first metadata frame, and no object. Of a streamed message it may lack metadata that came later. */
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

/* The objects of a message, decoded one at a time, each as a message of one object. */
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
/* Joined by _message: one object, number 0 there. Of a long message, only what belongs to the object is read. */
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

/* =================================================================================================================
 * Beyond the reference
 * ================================================================================================================= */

#define TENSOGRAM_BEYOND_REFERENCE 1

/* ---- Version ----------------------------------------------------------------------------------------------------- */

/* The version of this library, and of all that follows here. Packages ask for it by the name tgm: pkg-config "tgm >= 0.1",
 * find_package(tgm 0.1). */
#define TGM_VERSION_MAJOR 0
#define TGM_VERSION_MINOR 1
#define TGM_VERSION_PATCH 0

/* The version of the library that the program runs with: "0.1.0". */
const char *tgm_version_string(void);
/* The same as a number: MAJOR << 16 | MINOR << 8 | PATCH. */
uint32_t tgm_version_number(void);
/* The version of the interface of the reference that the first part has: MAJOR << 16 | MINOR. 0.24 is 24. */
uint32_t tgm_abi_version(void);
/* Whether the library has it: a codec in both directions by its name ("lz4"), a codec that decodes ("sz3-decode"), "threads",
 * "mmap", "async" and "async-remote". */
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

/* Begins with its size, so that it can grow. Start with TGM_DECODE_OPTIONS_INIT. NULL is the same. */
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

/* tgm_decode(), tgm_decode_object(), tgm_decode_range(), tgm_object_iter_create() and tgm_file_decode_message() with a
 * struct of options. All options hold in every call that takes them, for values in whatever form they are stored. */
tgm_error tgm_decode_opts(const uint8_t *buf, size_t buf_len, const tgm_decode_options_t *options,
                          tgm_message_t **out);
tgm_error tgm_decode_object_opts(const uint8_t *buf, size_t buf_len, size_t index,
                                 const tgm_decode_options_t *options, tgm_message_t **out);
tgm_error tgm_decode_range_opts(const uint8_t *buf, size_t buf_len, size_t index, const uint64_t *ranges_offsets,
                                const uint64_t *ranges_counts, size_t num_ranges, const tgm_decode_options_t *options,
                                int32_t join, tgm_bytes_t *out, size_t *out_count);
tgm_error tgm_object_iter_create_opts(const uint8_t *buf, size_t buf_len, const tgm_decode_options_t *options,
                                      tgm_object_iter_t **out);
tgm_error tgm_file_decode_message_opts(tgm_file_t *file, size_t index, const tgm_decode_options_t *options,
                                       tgm_message_t **out);

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
  /* Metadata of the message, and of its first `num_base` objects; NULL if there is none. The values are set in what
   * JSON says. A value that would replace a map, or a path through another value, is TGM_ERROR_METADATA. In a stream
   * `num_base` is 0. */
  const tgm_metadata_builder_t *extra;
  const tgm_metadata_builder_t *const *base;
  size_t num_base;
} tgm_encode_options_t;

#define TGM_ENCODE_OPTIONS_INIT \
  {sizeof(tgm_encode_options_t), "xxh3", 0, 0, 0, 0, {false, false, NULL, NULL, NULL, -1}, NULL, NULL, 0}

tgm_error tgm_encode_opts(const char *metadata_json, const uint8_t *const *data_ptrs, const size_t *data_lens,
                          size_t num_objects, const tgm_encode_options_t *options, tgm_bytes_t *out);
/* tgm_encode_pre_encoded() with a struct of options. Payloads stay as they are, so `masks` and `value_order` have no
 * effect. */
tgm_error tgm_encode_pre_encoded_opts(const char *metadata_json, const uint8_t *const *data_ptrs,
                                      const size_t *data_lens, size_t num_objects,
                                      const tgm_encode_options_t *options, tgm_bytes_t *out);
/* tgm_file_append() and tgm_streaming_encoder_create() with a struct of options. */
tgm_error tgm_file_append_opts(tgm_file_t *file, const char *metadata_json, const uint8_t *const *data_ptrs,
                               const size_t *data_lens, size_t num_objects, const tgm_encode_options_t *options);
tgm_error tgm_streaming_encoder_create_opts(const char *path, const char *metadata_json,
                                            const tgm_encode_options_t *options, tgm_streaming_encoder_t **out);

/* An object to be encoded. The caller sets struct_size to sizeof(tgm_object_input_t), and what is not needed to 0. */
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
  /* The stages of the pipeline. NULL is "none". */
  const char *encoding;
  const char *filter;
  const char *compression;
  /* Parameters of the stages, and metadata of the object: JSON objects. NULL if there are none. */
  const char *params_json;
  const char *metadata_json;
} tgm_object_input_t;

/* Encodes a message of `num_objects` objects. `extra_json` is metadata of the message: a JSON object, or NULL. Integers
 * in JSON keep their values up to UINT64_MAX. */
tgm_error tgm_encode_objects(const tgm_object_input_t *objects, size_t num_objects, const char *extra_json,
                             const tgm_encode_options_t *options, tgm_bytes_t *out);

/* ---- Decode into memory of the caller ---------------------------------------------------------------------------- */

/* The bytes that an object's values take. Nothing is decoded. */
tgm_error tgm_decoded_size(const uint8_t *buf, size_t buf_len, size_t index, size_t *out);
/* Writes all values. `out_len` is exactly tgm_decoded_size(). After a failure the content of `out` is undefined. */
tgm_error tgm_decode_object_into(const uint8_t *buf, size_t buf_len, size_t index, const tgm_decode_options_t *options,
                                 uint8_t *out, size_t out_len);
/* Writes ranges of elements, one behind the other. `out_len` is exactly their size. */
tgm_error tgm_decode_range_into(const uint8_t *buf, size_t buf_len, size_t index, const uint64_t *ranges_offsets,
                                const uint64_t *ranges_counts, size_t num_ranges, const tgm_decode_options_t *options,
                                uint8_t *out, size_t out_len);

/* ---- More of an object: pointers are valid until tgm_message_free() ---------------------------------------------- */

/* A TGM_DTYPE_; -1 without an object. */
int32_t tgm_object_dtype_code(const tgm_message_t *msg, size_t index);
/* The product of the dimensions: 1 for a scalar. */
uint64_t tgm_object_num_elements(const tgm_message_t *msg, size_t index);
/* The byte order that the values of tgm_object_data() have: "big" or "little". */
const char *tgm_object_data_byte_order(const tgm_message_t *msg, size_t index);
/* A parameter of the descriptor; NULL if it is absent. */
const tgm_value_t *tgm_object_param(const tgm_message_t *msg, size_t index, const char *name);
const char *tgm_object_descriptor_json(const tgm_message_t *msg, size_t index);

/* ---- Views: a message where it lies --------------------------------------------------------------------------------
 *
 * A view opens the message that a buffer begins with. Nothing is copied: the buffer must live and stay as it is until
 * the view is freed. Opening walks over the frames: O(frames). Digests are checked where options ask for it, and by
 * tgm_check_message().
 */
typedef struct tgm_view_t tgm_view_t;

/* The caller sets struct_size to sizeof(tgm_array_view_t). Pointers are valid as long as the view. */
typedef struct {
  size_t struct_size;
  /* The values in the message, or NULL. Any alignment: see is_aligned. */
  const void *data;
  /* Bytes of all values. */
  size_t size;
  /* `ndim` dimensions, slowest first. */
  const uint64_t *shape;
  /* Bytes from one element to the next, for each dimension: row-major, without gaps. NULL for bitmasks. */
  const int64_t *strides;
  size_t ndim;
  uint64_t num_elements;
  /* A TGM_DTYPE_. */
  int32_t dtype;
  /* The declared byte order: 0 little, 1 big. */
  int32_t byte_order;
  /* Bytes of an element; 0 for bitmasks, whose elements are bits, the highest bit of a byte first. */
  uint32_t item_size;
  /* Whether the declared byte order is this machine's, or does not matter. */
  uint8_t is_native;
  /* Whether `data` is aligned for its elements. */
  uint8_t is_aligned;
  uint16_t reserved;
} tgm_array_view_t;

tgm_error tgm_view_open(const uint8_t *buf, size_t buf_len, tgm_view_t **out);
/* A message of a mapped file. The view keeps the map; the handle of the file may be closed. */
tgm_error tgm_view_open_file(const tgm_file_t *file, size_t index, tgm_view_t **out);
void tgm_view_free(tgm_view_t *view);
size_t tgm_view_num_objects(const tgm_view_t *view);
/* The merged metadata. It outlives the view. */
tgm_error tgm_view_metadata(const tgm_view_t *view, tgm_metadata_t **out);
/* Shape, type and size of the decoded values. `data` is NULL. */
tgm_error tgm_object_describe(const tgm_view_t *view, size_t index, tgm_array_view_t *out);
/* The same with `data`, for values that are stored as they are. TGM_ERROR_ENCODING for all others: decode them. */
tgm_error tgm_object_view(const tgm_view_t *view, size_t index, tgm_array_view_t *out);
/* The payload as it is stored, without masks. */
tgm_error tgm_view_payload(const tgm_view_t *view, size_t index, const uint8_t **out, size_t *out_len);
/* Writes all values; `out_len` is exactly `size` of the description. */
tgm_error tgm_view_decode_into(const tgm_view_t *view, size_t index, const tgm_decode_options_t *options, uint8_t *out,
                               size_t out_len);
tgm_error tgm_view_decode_range_into(const tgm_view_t *view, size_t index, const uint64_t *ranges_offsets,
                                     const uint64_t *ranges_counts, size_t num_ranges,
                                     const tgm_decode_options_t *options, uint8_t *out, size_t out_len);
/* Writes all values as floating-point numbers, whatever their type is, complex numbers excepted. Bits become 0 or 1.
 * `out_count` is exactly `num_elements`. */
tgm_error tgm_view_decode_f64(const tgm_view_t *view, size_t index, const tgm_decode_options_t *options, double *out,
                              size_t out_count);
tgm_error tgm_view_decode_f32(const tgm_view_t *view, size_t index, const tgm_decode_options_t *options, float *out,
                              size_t out_count);
/* A box of the tensor, written as in Python: "0, 10:20, ::4, -1, ..". Dimensions with a single index vanish. Up to
 * `shape_capacity` dimensions are written; `*out_ndim` is their number, `*out_size` the bytes of the values. */
tgm_error tgm_view_select_size(const tgm_view_t *view, size_t index, const char *selection, uint64_t *out_shape,
                               size_t shape_capacity, size_t *out_ndim, size_t *out_size);
tgm_error tgm_view_select_into(const tgm_view_t *view, size_t index, const char *selection,
                               const tgm_decode_options_t *options, uint8_t *out, size_t out_len);

/* ---- DLPack: memory shared with libraries of arrays ----------------------------------------------------------------
 *
 * The struct is that of version 1.0 of <dlpack/dlpack.h>, which this header does not need. Its memory is that of a CPU,
 * row-major. The tensor outlives the view. Its last owner calls the deleter, once, on any thread.
 * Bitmasks have no such form: TGM_ERROR_ENCODING.
 */
struct DLManagedTensorVersioned;

/* The values where they lie, read-only. TGM_ERROR_ENCODING if they are encoded, masked, not aligned or not in this
 * machine's byte order. A mapped file stays open until the deleter is called; a buffer must live until then. */
tgm_error tgm_object_to_dlpack(const tgm_view_t *view, size_t index, struct DLManagedTensorVersioned **out);
/* The decoded values in memory of the tensor, aligned to 256 bytes, in this machine's byte order. */
tgm_error tgm_object_decode_to_dlpack(const tgm_view_t *view, size_t index, const tgm_decode_options_t *options,
                                      struct DLManagedTensorVersioned **out);

/* ---- More of files ----------------------------------------------------------------------------------------------- */

/* Maps the file. Until it is closed and all views of it are freed, no program may truncate it or write into it.
 * Appending by other programs is harmless. Appending through this handle is TGM_ERROR_IO. */
tgm_error tgm_file_open_mmap(const char *path, tgm_file_t **out);
/* The bytes of a message of a mapped file. Valid until tgm_file_close(). */
tgm_error tgm_file_message_view(const tgm_file_t *file, size_t index, const uint8_t **out, size_t *out_len);
/* Of a long message, only what belongs to the object is read. */
tgm_error tgm_file_decode_object(tgm_file_t *file, size_t index, size_t object_index,
                                 const tgm_decode_options_t *options, tgm_message_t **out);
/* If the object is long, only the parts that hold the ranges are read. `out` as for tgm_decode_range(). */
tgm_error tgm_file_decode_range(tgm_file_t *file, size_t index, size_t object_index, const uint64_t *ranges_offsets,
                                const uint64_t *ranges_counts, size_t num_ranges, const tgm_decode_options_t *options,
                                int32_t join, tgm_bytes_t *out, size_t *out_count);
/* The merged metadata. No payload is read. */
tgm_error tgm_file_decode_metadata(tgm_file_t *file, size_t index, tgm_metadata_t **out);

/* ---- More of streams and checks ---------------------------------------------------------------------------------- */

/* Takes bytes of a message. Returns 0 if it has them all; any other number ends the message with TGM_ERROR_IO. It must
 * not throw, and must not free the encoder that calls it. Other calls with this encoder are TGM_ERROR_INVALID_ARG. */
typedef int32_t (*tgm_write_fn)(void *user, const uint8_t *data, size_t len);

/* A message whose bytes go to `write`, in order, on the calling thread, until the encoder is freed. `options` may be
 * NULL. Small writes are frequent: collect them if a write is dear. */
tgm_error tgm_streaming_encoder_create_writer(tgm_write_fn write, void *user, const char *metadata_json,
                                              const tgm_encode_options_t *options, tgm_streaming_encoder_t **out);
/* tgm_streaming_encoder_finish(), and the message states its length, so that it can be found from its end. For
 * files only. */
tgm_error tgm_streaming_encoder_finish_backfill(tgm_streaming_encoder_t *enc);
/* The numbers of errors and warnings that tgm_validate() finds. */
tgm_error tgm_validate_ok(const uint8_t *buf, size_t buf_len, const char *level, size_t *out_errors,
                          size_t *out_warnings);
/* Checks the structure, metadata, descriptors, masks, indexes and all digests. The first damage is the error, with its byte and
 * its object. A message without digests is TGM_ERROR_MISSING_HASH. Not checked: bits that no reader reads (padding, reserved
 * bits, the flags of the preamble), and whether a payload decodes, which is tgm_validate()'s. */
tgm_error tgm_check_message(const uint8_t *buf, size_t buf_len);

/* ---- More of functions that do not block: every option ---------------------------------------------------------- */

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

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

/* An object of a file: the number of its message, and its number in it. */
typedef struct {
  size_t message;
  size_t object;
} tgm_object_ref_t;

typedef struct tgm_object_list_t tgm_object_list_t;
typedef struct tgm_catalog_t tgm_catalog_t;

/* The objects for which a query holds: "mars.param=2t/10u and mars.step>=24". Reads the metadata of all messages. */
tgm_error tgm_file_query(const tgm_file_t *file, const char *query, uint32_t threads, tgm_object_list_t **out);
size_t tgm_object_list_count(const tgm_object_list_t *list);
/* Valid until tgm_object_list_free(). */
const tgm_object_ref_t *tgm_object_list_data(const tgm_object_list_t *list);
void tgm_object_list_free(tgm_object_list_t *list);

/* A catalogue answers queries without the file. `keys` are dotted paths, or "dtype", "shape" and the like. */
tgm_error tgm_catalog_build(const tgm_file_t *file, const char *const *keys, size_t num_keys, uint32_t threads,
                            tgm_catalog_t **out);
tgm_error tgm_catalog_open(const char *path, tgm_catalog_t **out);
tgm_error tgm_catalog_save(const tgm_catalog_t *catalog, const char *path);
/* Adds the messages that were appended to the file since. */
tgm_error tgm_catalog_extend(tgm_catalog_t *catalog, const tgm_file_t *file, size_t *out_added);
/* 0 if it covers the file, 1 if the file has grown, 2 if it is another file or was changed, 3 if nothing tells: the file is on
 * a server that does not name its versions, or was catalogued elsewhere. */
tgm_error tgm_catalog_check(const tgm_catalog_t *catalog, const tgm_file_t *file, int32_t *out_state);
size_t tgm_catalog_num_messages(const tgm_catalog_t *catalog);
size_t tgm_catalog_num_objects(const tgm_catalog_t *catalog);
/* The keys of the query must be keys of the catalogue. */
tgm_error tgm_catalog_query(const tgm_catalog_t *catalog, const char *query, tgm_object_list_t **out);
/* Where the frame of an object is in the file, in bytes. */
tgm_error tgm_catalog_object_range(const tgm_catalog_t *catalog, size_t message, size_t object, uint64_t *out_offset,
                                   uint64_t *out_length);
void tgm_catalog_free(tgm_catalog_t *catalog);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSOGRAM_H */
