"""Writes a program in C that calls every function of the headers with NULL for every pointer.

First for all of them, then for one at a time while the others are good. A function that returns a code must refuse a
NULL that it cannot do without."""

import pathlib
import re
import sys

header = "".join(pathlib.Path(path).read_text() for path in sys.argv[1:]).replace("\\\n", " ")
code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
code = " ".join(line for line in code.splitlines() if not line.startswith("#"))
functions = []
for result, name, parameters in re.findall(r"([\w ]+?[ *]+)(tgm_\w+)\(([^)]*)\)\s*;", code):
    split = [re.match(r"(.*?[ *])(\w+)$", p.strip()).groups() for p in parameters.split(",") if p.strip() != "void"]
    functions.append((result.strip(), name, [(kind.strip(), which) for kind, which in split]))
assert len(functions) > 140, len(functions)

# Parameters that may be NULL, for the function or for every function.
OPTIONAL = {"hash_algo", "mask_options", "options", "level", "algo", "data_ptrs", "data_lens", "keys", "ranges_offsets",
            "ranges_counts", "extra_json", "cancel", "userdata", "storage_keys", "storage_values", "request",
            "user", "out_shape"}
# Parameters that may be NULL for one function.
OPTIONAL_FOR = {("tgm_writer_extra", "builder"), ("tgm_archive_open_bytes", "buf")}
TEXTS = {"metadata_json": "json", "descriptor_json": "descriptor", "hash_algo": '"xxh3"', "level": '"quick"',
         "algo": '"xxh3"', "extra_json": "json", "query": '"run=7"', "path": "path",
         "source": "path", "variable": '"v"'}
HANDLES = {"tgm_message_t": "message", "tgm_metadata_t": "meta", "tgm_value_t": "value", "tgm_file_t": "file",
           "tgm_scan_result_t": "scan", "tgm_buffer_iter_t": "buffer_iter", "tgm_file_iter_t": "file_iter",
           "tgm_object_iter_t": "object_iter", "tgm_streaming_encoder_t": "encoder", "tgm_archive_t": "archive",
           "tgm_object_t": "object", "tgm_writer_t": "writer", "tgm_object_list_t": "list", "tgm_catalog_t": "catalog", "tgm_dataset_t": "dataset",
           "tgm_metadata_builder_t": "builder",
           "tgm_cancellation_token_t": "token", "tgm_async_task_t": "task", "tgm_async_file_t": "async_file",
           "tgm_async_streaming_encoder_t": "async_encoder"}


def good(name, kind, which):
    """A value with which the parameter is right."""
    if kind == "tgm_bytes_t":
        return "no_bytes"
    if kind == "tgm_error":
        return "TGM_ERROR_IO"
    if kind.endswith("_fn"):
        return "take" if kind == "tgm_write_fn" else "give" if kind == "tgm_read_fn" else "told"
    if "*" not in kind:
        return {"buf_len": "bytes.len", "data_len": "bytes.len", "out_len": "16", "out_count": "2", "num_values": "1",
                "shape_capacity": "4"}.get(which, "0")
    if kind == "const char *":
        if name.startswith("tgm_metadata") and which == "path":
            return '"run"'
        return TEXTS.get(which, '"run"')
    if kind in ("const uint8_t *", "const double *"):
        return "(const void *)bytes.data" if kind.endswith("uint8_t *") else "numbers"
    handle = kind.removeprefix("const ").removesuffix("*").strip()
    if handle in HANDLES:
        return HANDLES[handle]
    if kind.startswith("const "):
        return "(const void *)zeros" if which in OPTIONAL - {"mask_options", "options"} else "NULL"
    if kind == "tgm_object_facts_t *":
        return "&facts"
    if kind == "const tgm_object_input_t *":
        return "&input"
    return "(void *)room"


def argument(name, kind, which, is_null, all_null):
    if is_null or all_null and "*" in kind:
        return "NULL"
    if all_null and kind.endswith("_fn"):
        return "NULL"
    if all_null and kind not in ("tgm_bytes_t", "tgm_error"):
        return "0"
    return good(name, kind, which)


def call(name, parameters, null):
    """A call with NULL for the parameter of that number, or for all of them."""
    arguments = [argument(name, *p, null == i, null == "all") for i, p in enumerate(parameters)]
    return f"{name}({', '.join(arguments)})"


print("""/* Made by null_calls.py. */
#include "check.h"

static int32_t take(void *user, const uint8_t *data, size_t len) { return user == data && len == 0; }
static int32_t give(void *user, uint64_t offset, uint8_t *out, size_t len) { return user == out && offset == len; }
static void told(void *user) { (void)user; }

int main(int argc, char **argv) {
  const char *json = "{\\"run\\":7}";
  const char *descriptor = "{\\"type\\":\\"t\\",\\"ndim\\":1,\\"shape\\":[2],\\"strides\\":[1],\\"dtype\\":\\"uint8\\","
                           "\\"encoding\\":\\"none\\",\\"filter\\":\\"none\\",\\"compression\\":\\"none\\"}";
  const uint8_t values[2] = {1, 2};
  const uint8_t *data[1];
  const size_t lens[1] = {2};
  static const uint64_t zeros[8];
  static const double numbers[2] = {1, 2};
  static uint64_t room[1024];
  const tgm_bytes_t no_bytes = {NULL, 0};
  char path[4096], streamed[4096], text[1024];
  tgm_object_facts_t facts;
  tgm_object_input_t input;
  tgm_bytes_t bytes;
  tgm_message_t *message;
  tgm_metadata_t *meta;
  const tgm_value_t *value;
  tgm_file_t *file;
  tgm_scan_result_t *scan;
  tgm_buffer_iter_t *buffer_iter;
  tgm_file_iter_t *file_iter;
  tgm_object_iter_t *object_iter;
  tgm_streaming_encoder_t *encoder;
  tgm_archive_t *archive;
  tgm_object_t *object;
  tgm_writer_t *writer;
  tgm_object_list_t *list;
  tgm_catalog_t *catalog;
  tgm_dataset_t *dataset;
  const char *source = path;
  tgm_metadata_builder_t *builder;
  const tgm_error remote_code = tgm_has_feature("async-remote") ? TGM_ERROR_INVALID_ARG : TGM_ERROR_REMOTE;
  tgm_cancellation_token_t *token = tgm_cancellation_token_create();
  tgm_async_task_t *task;
  tgm_async_file_t *async_file;
  tgm_async_streaming_encoder_t *async_encoder;
  CHECK(argc == 2);
  data[0] = values;
  facts.struct_size = sizeof facts;
  memset(&input, 0, sizeof input);
  input.struct_size = sizeof input;
  input.dtype = TGM_DTYPE_UINT8;
  sprintf(path, "%s/null.tgm", argv[1]);
  sprintf(streamed, "%s/null-streamed.tgm", argv[1]);
  sprintf(text, "{\\"descriptors\\":[%s],\\"run\\":7}", descriptor);
  OK(tgm_file_create(path, &file));
  OK(tgm_encode(text, data, lens, 1, "xxh3", 0, &bytes));
  OK(tgm_file_append_raw(file, bytes.data, bytes.len));
  OK(tgm_decode(bytes.data, bytes.len, 1, 0, 0, &message));
  OK(tgm_message_metadata(message, &meta));
  value = tgm_metadata_get(meta, "run");
  OK(tgm_scan(bytes.data, bytes.len, &scan));
  OK(tgm_buffer_iter_create(bytes.data, bytes.len, &buffer_iter));
  OK(tgm_file_iter_create(file, &file_iter));
  OK(tgm_object_iter_create(bytes.data, bytes.len, 1, 0, &object_iter));
  OK(tgm_streaming_encoder_create(streamed, json, NULL, 0, &encoder));
  OK(tgm_archive_open_bytes(bytes.data, bytes.len, &archive));
  OK(tgm_archive_object(archive, 0, 0, &object));
  OK(tgm_writer_memory(NULL, &writer));
  OK(tgm_archive_query(archive, "run=7", 0, &list));
  OK(tgm_catalog_build(archive, NULL, 0, 0, &catalog));
  OK(tgm_dataset_open(&source, 1, NULL, &dataset));
  OK(tgm_metadata_builder_new(&builder));
  sprintf(streamed, "%s/null-async.tgm", argv[1]);
  OK(tgm_async_streaming_encoder_create(streamed, json, NULL, 0, NULL, 0, &task));
  OK(tgm_async_task_join_async_streaming_encoder(task, &async_encoder));
  tgm_async_task_free(task);
  OK(tgm_async_file_open(path, NULL, 0, &task));
  OK(tgm_async_task_join_async_file(task, &async_file));
""")
count = 0
for result, name, parameters in functions:
    # A maker of handles.
    if not parameters and result.endswith("*") and not result.startswith("const"):
        continue
    print(f"  (void){call(name, parameters, 'all')};" if result != "void" else f"  {call(name, parameters, 'all')};")
    count += 1
    if result == "void":
        continue
    for i, (kind, which) in enumerate(parameters):
        if "*" not in kind and not kind.endswith("_fn"):
            continue
        count += 1
        if result == "tgm_error" and which not in OPTIONAL and (name, which) not in OPTIONAL_FOR:
            # Without its feature it looks at no argument.
            code = "remote_code" if name == "tgm_async_file_open_remote" else "TGM_ERROR_INVALID_ARG"
            print(f"  FAILS({code}, {call(name, parameters, i)});")
        elif which not in OPTIONAL and (name, which) not in OPTIONAL_FOR:
            print(f"  (void){call(name, parameters, i)};")
for free in ["tgm_message_free(message)", "tgm_metadata_free(meta)", "tgm_scan_free(scan)", "tgm_bytes_free(bytes)",
             "tgm_buffer_iter_free(buffer_iter)", "tgm_file_iter_free(file_iter)", "tgm_object_iter_free(object_iter)",
             "tgm_streaming_encoder_free(encoder)", "tgm_object_free(object)", "tgm_archive_close(archive)", "tgm_writer_free(writer)", "tgm_object_list_free(list)",
             "tgm_catalog_free(catalog)", "tgm_dataset_close(dataset)", "tgm_metadata_builder_free(builder)", "tgm_file_close(file)",
             "tgm_async_task_free(task)", "tgm_async_file_close(async_file)", "tgm_cancellation_token_free(token)",
             "tgm_async_streaming_encoder_free(async_encoder)"]:
    print(f"  {free};")
print(f'  puts("null: {len(functions)} functions, {count} calls");\n  return 0;\n}}')
