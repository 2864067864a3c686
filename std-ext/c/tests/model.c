/* The model: archives, objects, requests and writers, called as programs do. Arguments: the folder of test data, a folder for
 * files. */
#include "check.h"

#include <math.h>

static const char *data_folder, *scratch;

static const char *file_in(const char *folder, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const float floats[6] = {0, 1, 2, 3, 4, 5};
static const double doubles[4] = {1.5, -2, 3, 4};
static const uint64_t two_three[2] = {2, 3}, four[1] = {4};

static tgm_object_input_t input(int32_t dtype, size_t ndim, const uint64_t *shape, const void *data, size_t size) {
  tgm_object_input_t made;
  memset(&made, 0, sizeof made);
  made.struct_size = sizeof made;
  made.dtype = dtype;
  made.ndim = ndim;
  made.shape = shape;
  made.data = data;
  made.size = size;
  return made;
}
#define FLOATS input(TGM_DTYPE_FLOAT32, 2, two_three, floats, sizeof floats)
#define DOUBLES input(TGM_DTYPE_FLOAT64, 1, four, doubles, sizeof doubles)

static void write_two(tgm_writer_t *writer) {
  tgm_object_input_t first = FLOATS, second = DOUBLES;
  first.metadata_json = "{\"mars\":{\"param\":\"2t\",\"step\":24},\"a.b\":1}";
  second.metadata_json = "{\"mars\":{\"param\":\"tp\"},\"id\":18446744073709551615}";
  OK(tgm_writer_extra(writer, "{\"run\":7,\"with.dot\":true}", NULL));
  OK(tgm_writer_object(writer, &first));
  OK(tgm_writer_object(writer, &second));
}

/* A message of two objects. */
static tgm_bytes_t two(const tgm_encode_options_t *options) {
  tgm_writer_t *writer = NULL;
  tgm_bytes_t out = {NULL, 0};
  OK(tgm_writer_memory(options, &writer));
  write_two(writer);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_finish(writer, NULL)); /* and it goes on */
  OK(tgm_writer_finish(writer, &out));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_finish(writer, &out));
  SAYS("writer already finished");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_end_message(writer));
  tgm_writer_free(writer);
  return out;
}

/* ---- Archives ---------------------------------------------------------------------------------------------------- */

struct source {
  const uint8_t *bytes;
  size_t len, calls;
  int32_t code;
};

static int32_t read_source(void *user, uint64_t offset, uint8_t *out, size_t len) {
  struct source *source = user;
  CHECK(offset <= source->len && len <= source->len - offset);
  memcpy(out, source->bytes + offset, len);
  source->calls++;
  return source->code;
}

/* The same answers, whatever the source is. */
static void answers(tgm_archive_t *archive, const tgm_bytes_t *bytes, int in_memory) {
  tgm_metadata_t *meta = NULL, *own = NULL;
  tgm_object_list_t *list = NULL;
  tgm_object_t *object = NULL;
  tgm_object_facts_t facts;
  tgm_bytes_t message = {NULL, 0};
  const uint8_t *view = NULL, *payload = NULL;
  const void *values = NULL;
  size_t count = 0, len = 0;
  uint64_t id = 0;
  float some[6];
  OK(tgm_archive_len(archive, &count));
  CHECK(count == 2);
  OK(tgm_archive_num_objects(archive, 1, &count));
  CHECK(count == 2);
  OK(tgm_archive_metadata(archive, 1, &meta));
  CHECK(tgm_metadata_num_objects(meta) == 2 && tgm_metadata_get_int(meta, "run", 0) == 7);
  CHECK(tgm_value_as_u64(tgm_metadata_get_at(meta, 1, "id"), &id) && id == UINT64_MAX);
  CHECK(tgm_value_map_get(tgm_metadata_object(meta, 0), "a.b") != NULL);
  CHECK(tgm_value_map_get(tgm_metadata_extra(meta), "with.dot") != NULL);
  tgm_metadata_free(meta);
  OK(tgm_archive_message(archive, 1, &message));
  CHECK(message.len == bytes->len && memcmp(message.data, bytes->data, message.len) == 0);
  tgm_bytes_free(message);
  OK(tgm_archive_verify(archive, 0));
  OK(tgm_archive_query(archive, "mars.param = tp and run = 7", 0, &list));
  CHECK(tgm_object_list_count(list) == 2);
  CHECK(tgm_object_list_data(list)[1].message == 1 && tgm_object_list_data(list)[1].object == 1);
  OK(tgm_object_list_open(list, archive, 1, &object));
  tgm_object_free(object);
  FAILS(TGM_ERROR_OBJECT, tgm_object_list_open(list, archive, 2, &object));
  SAYS("entry 2 of a list of 2 objects");
  tgm_object_list_free(list);
  FAILS(TGM_ERROR_METADATA, tgm_archive_query(archive, "=", 0, &list));
  /* A key that is written otherwise is reported, and a value that no object has is an answer. */
  OK(tgm_archive_query(archive, "parm = tp", 0, &list));
  CHECK(tgm_object_list_count(list) == 0);
  CHECK(strstr(tgm_object_list_hint(list), "no key parm; did you mean mars.param?") != NULL);
  tgm_object_list_free(list);
  OK(tgm_archive_query(archive, "mars.param = none", 0, &list));
  CHECK(tgm_object_list_count(list) == 0 && tgm_object_list_hint(list) == NULL);
  tgm_object_list_free(list);

  OK(tgm_archive_object(archive, 1, 0, &object));
  facts.struct_size = sizeof facts;
  OK(tgm_object_facts(object, &facts));
  CHECK(facts.message == 1 && facts.object == 0 && facts.ndim == 2 && facts.shape[0] == 2 && facts.shape[1] == 3);
  CHECK(facts.num_elements == 6 && facts.size == 24 && facts.payload_size == 24 && facts.grain == 1);
  CHECK(facts.dtype == TGM_DTYPE_FLOAT32 && strcmp(facts.dtype_name, "float32") == 0);
  CHECK(strcmp(facts.encoding, "none") == 0 && strcmp(facts.compression, "none") == 0);
  CHECK(strstr(tgm_object_descriptor_json(object), "\"dtype\":\"float32\"") != NULL);
  OK(tgm_object_metadata(object, &own));
  CHECK(tgm_metadata_num_objects(own) == 1 && tgm_metadata_get_int_at(own, 0, "mars.step", 0) == 24);
  tgm_metadata_free(own);
  OK(tgm_read_f32(object, NULL, some, 6));
  CHECK(memcmp(some, floats, sizeof floats) == 0);
  if (in_memory) {
    OK(tgm_archive_view(archive, 1, &view, &len));
    CHECK(len == bytes->len && memcmp(view, bytes->data, len) == 0);
    OK(tgm_object_payload(object, &payload, &len));
    OK(tgm_read_view(object, NULL, &values, &len));
    CHECK(values == payload && len == 24 && payload > view && memcmp(payload, floats, len) == 0);
  } else {
    FAILS(TGM_ERROR_INVALID_ARG, tgm_archive_view(archive, 1, &view, &len));
    FAILS(TGM_ERROR_INVALID_ARG, tgm_object_payload(object, &payload, &len));
    FAILS(TGM_ERROR_INVALID_ARG, tgm_read_view(object, NULL, &values, &len));
    SAYS("not in memory");
  }
  FAILS(TGM_ERROR_FRAMING, tgm_archive_metadata(archive, 2, &meta));
  FAILS(TGM_ERROR_FRAMING, tgm_archive_message(archive, SIZE_MAX, &message));
  tgm_object_free(object);
  object = NULL;
  FAILS(TGM_ERROR_FRAMING, tgm_archive_object(archive, 2, 0, &object));
  FAILS(TGM_ERROR_OBJECT, tgm_archive_object(archive, 0, 2, &object));
  CHECK(object == NULL);
  /* An object keeps its archive. */
  OK(tgm_archive_object(archive, 0, 1, &object));
  tgm_archive_close(archive);
  OK(tgm_read_f32(object, NULL, some, 4));
  CHECK(some[1] == -2);
  tgm_object_free(object);
}

static void archives(void) {
  tgm_bytes_t bytes = two(NULL), many;
  tgm_archive_t *archive = NULL;
  tgm_object_t *object = NULL;
  tgm_writer_t *writer = NULL;
  struct source source;
  char name[4096];
  size_t count = 9;
  FILE *other;
  many.len = 2 * bytes.len;
  many.data = malloc(many.len);
  CHECK(many.data != NULL);
  memcpy(many.data, bytes.data, bytes.len);
  memcpy(many.data + bytes.len, bytes.data, bytes.len);
  OK(tgm_archive_open_bytes(many.data, many.len, &archive));
  answers(archive, &bytes, 1);
  source.bytes = many.data;
  source.len = many.len;
  source.calls = 0;
  source.code = 0;
  OK(tgm_archive_open_source(read_source, &source, many.len, &archive));
  answers(archive, &bytes, 0);
  CHECK(source.calls > 0);
  source.code = 5;
  OK(tgm_archive_open_source(read_source, &source, many.len, &archive));
  CHECK(tgm_archive_len(archive, &count) != TGM_ERROR_OK && count == 9);
  SAYS("the reading function returned 5");
  tgm_archive_close(archive);
  /* A source that is shorter than it says, and one of no bytes. */
  OK(tgm_archive_open_source(read_source, &source, 0, &archive));
  OK(tgm_archive_len(archive, &count));
  CHECK(count == 0);
  tgm_archive_close(archive);

  strcpy(name, file_in(scratch, "model/new/two.tgm"));
  OK(tgm_writer_create(name, NULL, &writer));
  write_two(writer);
  OK(tgm_writer_end_message(writer));
  OK(tgm_writer_finish(writer, NULL));
  tgm_writer_free(writer);
  OK(tgm_writer_append(name, NULL, &writer));
  write_two(writer);
  tgm_writer_free(writer); /* not ended, so not written */
  OK(tgm_archive_open(name, &archive));
  OK(tgm_archive_len(archive, &count));
  CHECK(count == 1);
  OK(tgm_archive_object(archive, 0, 1, &object));
  tgm_archive_close(archive);
  tgm_object_free(object);
  other = fopen(name, "wb");
  CHECK(other != NULL && fwrite(many.data, 1, many.len, other) == many.len && fclose(other) == 0);
  OK(tgm_archive_open(name, &archive));
  answers(archive, &bytes, 0);
  OK(tgm_archive_open_map(name, &archive));
  answers(archive, &bytes, 1);

  OK(tgm_archive_open_bytes(NULL, 0, &archive));
  OK(tgm_archive_len(archive, &count));
  CHECK(count == 0);
  tgm_archive_close(archive);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_archive_open_bytes(NULL, 5, &archive));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_archive_open_bytes(many.data, SIZE_MAX, &archive));
  FAILS(TGM_ERROR_IO, tgm_archive_open(file_in(scratch, "missing.tgm"), &archive));
  SAYS("file not found: ");
  FAILS(TGM_ERROR_IO, tgm_archive_open(scratch, &archive));
  FAILS(TGM_ERROR_IO, tgm_archive_open_map(scratch, &archive));
  FAILS(TGM_ERROR_IO, tgm_writer_append(file_in(scratch, "missing.tgm"), NULL, &writer));
  other = fopen(name, "wb");
  CHECK(other != NULL && fputs("GRIB and no message of ours", other) >= 0 && fclose(other) == 0);
  FAILS(TGM_ERROR_FRAMING, tgm_archive_open(name, &archive));
  SAYS("GRIB");
  FAILS(TGM_ERROR_FRAMING, tgm_archive_open_map(name, &archive));
  SAYS("GRIB");
  free(many.data);
  tgm_bytes_free(bytes);
}

/* Damage is found where it is. */
static void damage(void) {
  tgm_bytes_t bytes = two(NULL), plain;
  tgm_encode_options_t without = TGM_ENCODE_OPTIONS_INIT;
  tgm_decode_options_t checked = TGM_DECODE_OPTIONS_INIT;
  tgm_read_t request = TGM_READ_INIT;
  tgm_archive_t *archive = NULL;
  tgm_object_t *object = NULL;
  double some[4];
  const void *view = NULL;
  size_t i, len;
  checked.verify_hash = 1;
  request.options = &checked;
  for (i = 0; i + 8 <= bytes.len; i++)
    if (memcmp(bytes.data + i, doubles, 8) == 0)
      bytes.data[i] ^= 1;
  OK(tgm_archive_open_bytes(bytes.data, bytes.len, &archive));
  FAILS(TGM_ERROR_HASH_MISMATCH, tgm_archive_verify(archive, 0));
  CHECK(tgm_last_error_object_index() == 1 && tgm_last_error_offset() != UINT64_MAX);
  OK(tgm_archive_object(archive, 0, 1, &object));
  OK(tgm_read_f64(object, NULL, some, 4));
  FAILS(TGM_ERROR_HASH_MISMATCH, tgm_read_f64(object, &request, some, 4));
  CHECK(tgm_last_error_object_index() == 1);
  OK(tgm_read_view(object, NULL, &view, &len));
  FAILS(TGM_ERROR_HASH_MISMATCH, tgm_read_view(object, &request, &view, &len));
  tgm_object_free(object);
  tgm_archive_close(archive);
  tgm_bytes_free(bytes);
  without.hash_algo = NULL;
  plain = two(&without);
  OK(tgm_archive_open_bytes(plain.data, plain.len, &archive));
  FAILS(TGM_ERROR_MISSING_HASH, tgm_archive_verify(archive, 0));
  OK(tgm_archive_object(archive, 0, 1, &object));
  FAILS(TGM_ERROR_MISSING_HASH, tgm_read_into(object, &request, some, sizeof some));
  CHECK(tgm_last_error_object_index() == 1);
  tgm_object_free(object);
  tgm_archive_close(archive);
  tgm_bytes_free(plain);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static void requests(void) {
  tgm_bytes_t bytes = two(NULL);
  tgm_archive_t *archive = NULL;
  tgm_object_t *object = NULL;
  tgm_read_t box = TGM_READ_INIT, ranges = TGM_READ_INIT, wrong = TGM_READ_INIT;
  tgm_decode_options_t limited = TGM_DECODE_OPTIONS_INIT;
  const uint64_t starts[3] = {4, 0, UINT64_MAX}, counts[3] = {2, 3, 2};
  uint64_t shape[2] = {9, 9};
  size_t ndim = 0, size = 0;
  double wide[6];
  float some[6];
  const void *view = NULL;
  OK(tgm_archive_open_bytes(bytes.data, bytes.len, &archive));
  OK(tgm_archive_object(archive, 0, 0, &object));
  OK(tgm_read_size(object, NULL, shape, 2, &ndim, &size));
  CHECK(ndim == 2 && shape[0] == 2 && shape[1] == 3 && size == 24);
  OK(tgm_read_into(object, NULL, some, sizeof some));
  OK(tgm_read_f64(object, NULL, wide, 6));
  CHECK(some[5] == 5 && wide[5] == 5);
  FAILS(TGM_ERROR_ENCODING, tgm_read_f32(object, NULL, some, 5));
  FAILS(TGM_ERROR_ENCODING, tgm_read_into(object, NULL, some, 0));

  box.selection = "-1, ::2";
  shape[0] = shape[1] = 9;
  OK(tgm_read_size(object, &box, shape, 2, &ndim, &size));
  CHECK(ndim == 1 && shape[0] == 2 && shape[1] == 9 && size == 8);
  OK(tgm_read_size(object, &box, NULL, 0, &ndim, &size));
  OK(tgm_read_size(object, &box, shape, 2, &size, &size)); /* results may share a place: the later one stays */
  CHECK(size == 8);
  OK(tgm_read_f32(object, &box, some, 2));
  CHECK(some[0] == 3 && some[1] == 5);
  OK(tgm_read_into(object, &box, some, 8));
  FAILS(TGM_ERROR_ENCODING, tgm_read_view(object, &box, &view, &size)); /* not side by side */
  box.selection = "1";
  OK(tgm_read_view(object, &box, &view, &size));
  CHECK(size == 12 && memcmp(view, floats + 3, size) == 0);
  box.selection = "9";
  FAILS(TGM_ERROR_ENCODING, tgm_read_f32(object, &box, some, 2));
  SAYS("selection");
  box.selection = "";
  FAILS(TGM_ERROR_ENCODING, tgm_read_size(object, &box, shape, 2, &ndim, &size));

  ranges.range_starts = starts;
  ranges.range_counts = counts;
  ranges.num_ranges = 2;
  OK(tgm_read_size(object, &ranges, shape, 2, &ndim, &size));
  CHECK(ndim == 1 && shape[0] == 5 && size == 20);
  OK(tgm_read_f32(object, &ranges, some, 5));
  CHECK(some[0] == 4 && some[1] == 5 && some[2] == 0 && some[4] == 2);
  ranges.num_ranges = 0;
  OK(tgm_read_size(object, &ranges, shape, 2, &ndim, &size));
  CHECK(shape[0] == 0 && size == 0);
  OK(tgm_read_into(object, &ranges, NULL, 0));
  ranges.num_ranges = 3;
  FAILS(TGM_ERROR_ENCODING, tgm_read_size(object, &ranges, shape, 2, &ndim, &size));
  FAILS(TGM_ERROR_ENCODING, tgm_read_into(object, &ranges, some, sizeof some));
  ranges.num_ranges = SIZE_MAX;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_into(object, &ranges, some, sizeof some));
  ranges.num_ranges = 1;
  ranges.range_counts = NULL;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_into(object, &ranges, some, sizeof some));
  ranges.range_counts = counts;
  ranges.selection = "..";
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_into(object, &ranges, some, sizeof some));
  SAYS("not for both");

  wrong.struct_size = 8;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_into(object, &wrong, some, sizeof some));
  SAYS("struct_size 8 is less than");
  wrong.struct_size = sizeof wrong + 64; /* a later version */
  limited.max_decoded_bytes = 23;
  wrong.options = &limited;
  {
    union {
      tgm_read_t request;
      uint8_t room[sizeof(tgm_read_t) + 64];
    } later;
    memset(&later, 0xff, sizeof later);
    later.request = wrong;
    FAILS(TGM_ERROR_ENCODING, tgm_read_into(object, &later.request, some, sizeof some));
    SAYS("max_decoded_bytes");
  }
  limited.struct_size = 1;
  wrong.struct_size = sizeof wrong;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_into(object, &wrong, some, sizeof some));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_f32(object, NULL, NULL, 6));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_f32(object, NULL, (float *)((char *)some + 1), 6));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_f32(object, NULL, some, SIZE_MAX));
  /* Memory for values lies apart from the message: its last byte is one too many. */
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_into(object, NULL, bytes.data + bytes.len - 1, sizeof floats));
  SAYS("lies on the message");
  {
    tgm_object_facts_t facts;
    facts.struct_size = 16;
    FAILS(TGM_ERROR_INVALID_ARG, tgm_object_facts(object, &facts));
  }
  tgm_object_free(object);
  tgm_archive_close(archive);
  tgm_bytes_free(bytes);
}

/* Each range of bits begins with a byte of its own. */
static void bits(void) {
  static const uint8_t packed[2] = {0xa5, 0x80};
  static const uint64_t nine[1] = {9}, starts[2] = {1, 5}, counts[2] = {3, 4};
  tgm_object_input_t object = input(TGM_DTYPE_BITMASK, 1, nine, packed, sizeof packed);
  tgm_writer_t *writer = NULL;
  tgm_archive_t *archive = NULL;
  tgm_object_t *opened = NULL;
  tgm_read_t request = TGM_READ_INIT;
  tgm_bytes_t bytes = {NULL, 0};
  struct DLManagedTensorVersioned *tensor = NULL;
  uint8_t some[2] = {0, 0};
  float each[9];
  size_t ndim = 0, size = 0;
  OK(tgm_writer_memory(NULL, &writer));
  OK(tgm_writer_object(writer, &object));
  OK(tgm_writer_finish(writer, &bytes));
  tgm_writer_free(writer);
  OK(tgm_archive_open_bytes(bytes.data, bytes.len, &archive));
  OK(tgm_archive_object(archive, 0, 0, &opened));
  request.range_starts = starts;
  request.range_counts = counts;
  request.num_ranges = 2;
  OK(tgm_read_size(opened, &request, NULL, 0, &ndim, &size));
  CHECK(size == 2);
  OK(tgm_read_into(opened, &request, some, size));
  CHECK(some[0] == 0x40 && some[1] == 0xb0);
  OK(tgm_read_f32(opened, NULL, each, 9));
  CHECK(each[0] == 1 && each[1] == 0 && each[8] == 1);
  FAILS(TGM_ERROR_ENCODING, tgm_read_dlpack(opened, NULL, TGM_COPY_AS_NEEDED, &tensor));
  tgm_object_free(opened);
  tgm_archive_close(archive);
  tgm_bytes_free(bytes);
}

/* The structs of dlpack.h 1.0. */
typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  struct {
    void *data;
    struct {
      int32_t device_type, device_id;
    } device;
    int32_t ndim;
    struct {
      uint8_t code, bits;
      uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
  } dl_tensor;
} DLManagedTensorVersioned;

/* Tensors outlive the object. The one that was decoded outlives the message too. */
static void dlpack(void) {
  tgm_bytes_t bytes = two(NULL);
  tgm_archive_t *archive = NULL;
  tgm_object_t *first = NULL, *second = NULL;
  DLManagedTensorVersioned *borrowed = NULL, *decoded = NULL, *refused = NULL, *column = NULL;
  tgm_decode_options_t options = TGM_DECODE_OPTIONS_INIT;
  tgm_read_t request = TGM_READ_INIT;
  uint8_t *copy = malloc(bytes.len + 8), *start;
  const void *values = NULL;
  size_t shift, len;
  CHECK(copy != NULL);
  /* The values of object 1 at an aligned address, and then at an odd one. */
  OK(tgm_archive_open_bytes(bytes.data, bytes.len, &archive));
  OK(tgm_archive_object(archive, 0, 1, &second));
  OK(tgm_read_view(second, NULL, &values, &len));
  shift = (size_t)(8 - ((uintptr_t)copy + (size_t)((const uint8_t *)values - bytes.data)) % 8) % 8;
  tgm_object_free(second);
  tgm_archive_close(archive);
  start = memcpy(copy + shift, bytes.data, bytes.len);
  OK(tgm_archive_open_bytes(start, bytes.len, &archive));
  OK(tgm_archive_object(archive, 0, 0, &first));
  OK(tgm_archive_object(archive, 0, 1, &second));
  tgm_archive_close(archive);
  OK(tgm_read_dlpack(second, NULL, TGM_COPY_AS_NEEDED, &borrowed));
  OK(tgm_read_dlpack(first, NULL, TGM_COPY_ALWAYS, &decoded));
  request.selection = ":, 1";
  OK(tgm_read_dlpack(first, &request, TGM_COPY_AS_NEEDED, &column));
  FAILS(TGM_ERROR_ENCODING, tgm_read_dlpack(first, &request, TGM_COPY_NEVER, &refused));
  request.selection = NULL;
  request.options = &options;
  options.max_decoded_bytes = 23;
  FAILS(TGM_ERROR_ENCODING, tgm_read_dlpack(first, &request, TGM_COPY_ALWAYS, &refused));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_read_dlpack(first, NULL, 2, &refused));
  tgm_object_free(first);
  tgm_object_free(second);
  CHECK(borrowed->version.major == 1 && borrowed->flags == 1 && borrowed->dl_tensor.device.device_type == 1);
  CHECK(borrowed->dl_tensor.dtype.code == 2 && borrowed->dl_tensor.dtype.bits == 64);
  CHECK(borrowed->dl_tensor.dtype.lanes == 1 && borrowed->dl_tensor.byte_offset == 0);
  CHECK(borrowed->dl_tensor.ndim == 1 && borrowed->dl_tensor.shape[0] == 4 && borrowed->dl_tensor.strides[0] == 1);
  CHECK((uint8_t *)borrowed->dl_tensor.data > start && (uint8_t *)borrowed->dl_tensor.data < start + bytes.len);
  CHECK(memcmp(borrowed->dl_tensor.data, doubles, sizeof doubles) == 0);
  borrowed->deleter(borrowed);
  memmove(copy + (shift + 1) % 8, start, bytes.len);
  start = copy + (shift + 1) % 8;
  OK(tgm_archive_open_bytes(start, bytes.len, &archive));
  OK(tgm_archive_object(archive, 0, 1, &second));
  FAILS(TGM_ERROR_ENCODING, tgm_read_dlpack(second, NULL, TGM_COPY_NEVER, &refused));
  SAYS("not aligned");
  OK(tgm_read_dlpack(second, NULL, TGM_COPY_AS_NEEDED, &borrowed));
  CHECK(borrowed->flags == 2);
  tgm_object_free(second);
  tgm_archive_close(archive);
  free(copy);
  CHECK(memcmp(borrowed->dl_tensor.data, doubles, sizeof doubles) == 0);
  borrowed->deleter(borrowed);
  CHECK(decoded->flags == 2 && decoded->dl_tensor.dtype.code == 2 && decoded->dl_tensor.dtype.bits == 32);
  CHECK(decoded->dl_tensor.ndim == 2 && decoded->dl_tensor.shape[0] == 2 && decoded->dl_tensor.shape[1] == 3);
  CHECK(decoded->dl_tensor.strides[0] == 3 && decoded->dl_tensor.strides[1] == 1);
  CHECK((uintptr_t)decoded->dl_tensor.data % 256 == 0);
  CHECK(memcmp(decoded->dl_tensor.data, floats, sizeof floats) == 0);
  decoded->deleter(decoded);
  CHECK(column->dl_tensor.ndim == 1 && column->dl_tensor.shape[0] == 2 && ((float *)column->dl_tensor.data)[1] == 4);
  column->deleter(column);
  CHECK(refused == NULL);
  tgm_bytes_free(bytes);
}

/* ---- Writers ----------------------------------------------------------------------------------------------------- */

struct sink {
  uint8_t bytes[4096];
  size_t len, room;
  /* If this is a writer, it is called from inside of its own call. */
  tgm_writer_t *own;
};

static int32_t take(void *user, const uint8_t *data, size_t len) {
  struct sink *sink = user;
  if (sink->own != NULL) {
    FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_end_message(sink->own));
    SAYS("another call uses the writer");
  }
  if (len > sink->room - sink->len)
    return 5;
  memcpy(sink->bytes + sink->len, data, len);
  sink->len += len;
  return 0;
}

static void to_functions(void) {
  static struct sink sink;
  tgm_writer_t *writer = NULL;
  tgm_archive_t *archive = NULL;
  size_t count = 0;
  sink.room = sizeof sink.bytes;
  OK(tgm_writer_to(take, &sink, NULL, &writer));
  write_two(writer);
  CHECK(sink.len == 0); /* a message is written when it ends */
  sink.own = writer;
  OK(tgm_writer_end_message(writer));
  write_two(writer);
  OK(tgm_writer_finish(writer, NULL));
  sink.own = NULL;
  tgm_writer_free(writer);
  OK(tgm_archive_open_bytes(sink.bytes, sink.len, &archive));
  OK(tgm_archive_len(archive, &count));
  CHECK(count == 2);
  tgm_archive_close(archive);
  sink.room = sink.len;
  OK(tgm_writer_to(take, &sink, NULL, &writer));
  write_two(writer);
  FAILS(TGM_ERROR_IO, tgm_writer_finish(writer, NULL));
  SAYS("the writing function returned 5");
  tgm_writer_free(writer);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_to(NULL, &sink, NULL, &writer));
}

/* Writes one object, and opens it. */
static tgm_object_t *there_and_back(const tgm_object_input_t *object, tgm_bytes_t *bytes) {
  tgm_writer_t *writer = NULL;
  tgm_archive_t *archive = NULL;
  tgm_object_t *out = NULL;
  tgm_encode_options_t options = TGM_ENCODE_OPTIONS_INIT;
  options.masks.allow_nan = true;
  OK(tgm_writer_memory(&options, &writer));
  OK(tgm_writer_object(writer, object));
  OK(tgm_writer_finish(writer, bytes));
  tgm_writer_free(writer);
  OK(tgm_archive_open_bytes(bytes->data, bytes->len, &archive));
  OK(tgm_archive_object(archive, 0, 0, &out));
  tgm_archive_close(archive);
  return out;
}

/* Stages by name, whose parameters follow from the values, and by what they keep. */
static void stages(void) {
  static const struct {
    const char *encoding, *filter, *compression, *params, *parameter;
    int64_t expected;
    double within;
    uint32_t bits;
    int32_t lossless;
    /* What must come of it. */
    const char *stages;
    double error;
  } cases[] = {
      {NULL, NULL, "szip", NULL, "szip_block_size", 16, 0, 0, 0, "none none szip", 0},
      {NULL, "shuffle", "szip", NULL, "shuffle_element_size", 4, 0, 0, 0, "none shuffle szip", 0},
      {NULL, "shuffle", "zstd", "{\"zstd_level\":9}", "zstd_level", 9, 0, 0, 0, "none shuffle zstd", 0},
      {NULL, NULL, "lz4", NULL, NULL, 0, 0, 0, 0, "none none lz4", 0},
      /* Packed values of szip have whole bytes. */
      {"simple_packing", NULL, "szip", "{\"sp_bits_per_value\":12}", "sp_bits_per_value", 16, 0, 0, 0,
       "simple_packing none szip", 0.001},
      {"simple_packing", NULL, NULL, "{\"sp_bits_per_value\":12}", "sp_bits_per_value", 12, 0, 0, 0,
       "simple_packing none none", 0.01},
      {NULL, NULL, NULL, NULL, NULL, 0, 0.01, 0, 0, "simple_packing none szip", 0.01},
      {NULL, NULL, NULL, NULL, "sp_bits_per_value", 24, 0, 24, 0, "simple_packing none szip", 1e-5},
      {NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 1, "none shuffle zstd", 0},
  };
  static const uint64_t shape[1] = {1000};
  float values[1000];
  double found[1000];
  char text[128];
  size_t i, k;
  int64_t number;
  for (i = 0; i < 1000; i++)
    values[i] = 280 + (float)sin((double)i / 50) * 15;
  for (k = 0; k < sizeof cases / sizeof *cases; k++) {
    tgm_object_input_t object = input(TGM_DTYPE_FLOAT32, 1, shape, values, sizeof values);
    tgm_bytes_t bytes = {NULL, 0};
    tgm_object_t *opened;
    tgm_object_facts_t facts;
    object.encoding = cases[k].encoding;
    object.filter = cases[k].filter;
    object.compression = cases[k].compression;
    object.params_json = cases[k].params;
    object.within = cases[k].within;
    object.bits = cases[k].bits;
    object.lossless = cases[k].lossless;
    opened = there_and_back(&object, &bytes);
    facts.struct_size = sizeof facts;
    OK(tgm_object_facts(opened, &facts));
    snprintf(text, sizeof text, "%s %s %s", facts.encoding, facts.filter, facts.compression);
    CHECK(strcmp(text, cases[k].stages) == 0);
    if (cases[k].parameter != NULL)
      CHECK(tgm_value_as_i64(tgm_object_parameter(opened, cases[k].parameter), &number) && number == cases[k].expected);
    CHECK(tgm_object_parameter(opened, "teleport") == NULL);
    OK(tgm_read_f64(opened, NULL, found, 1000));
    for (i = 0; i < 1000; i++)
      CHECK(fabs(found[i] - (double)values[i]) <= cases[k].error + 1e-12);
    tgm_object_free(opened);
    tgm_bytes_free(bytes);
  }
}

static void refused_objects(void) {
  tgm_object_input_t object = FLOATS;
  tgm_writer_t *writer = NULL;
  tgm_bytes_t out = {NULL, 0};
  OK(tgm_writer_memory(NULL, &writer));
#define REFUSED(code, text)                         \
  FAILS(code, tgm_writer_object(writer, &object)); \
  SAYS(text);                                       \
  object = FLOATS
  object.dtype = 15;
  REFUSED(TGM_ERROR_INVALID_ARG, "unknown dtype: 15");
  object.dtype = -1;
  REFUSED(TGM_ERROR_INVALID_ARG, "unknown dtype: -1");
  object.byte_order = 3;
  REFUSED(TGM_ERROR_INVALID_ARG, "unknown byte order: 3");
  object.struct_size = 8;
  REFUSED(TGM_ERROR_INVALID_ARG, "struct_size 8 is less than");
  object.ndim = SIZE_MAX;
  REFUSED(TGM_ERROR_INVALID_ARG, "address space");
  object.size = SIZE_MAX;
  REFUSED(TGM_ERROR_INVALID_ARG, "address space");
  object.shape = NULL;
  REFUSED(TGM_ERROR_INVALID_ARG, "null argument");
  object.data = NULL;
  REFUSED(TGM_ERROR_INVALID_ARG, "null argument");
  object.params_json = "[]";
  REFUSED(TGM_ERROR_METADATA, "JSON");
  object.metadata_json = "{";
  REFUSED(TGM_ERROR_METADATA, "JSON");
  object.within = 0.5;
  object.bits = 4;
  REFUSED(TGM_ERROR_INVALID_ARG, "exclude each other");
  object.lossless = 1;
  object.compression = "zstd";
  REFUSED(TGM_ERROR_INVALID_ARG, "by name, or by what they keep");
  object.within = -1;
  REFUSED(TGM_ERROR_ENCODING, "");
  object.bits = 65;
  REFUSED(TGM_ERROR_ENCODING, "64");
  FAILS(TGM_ERROR_METADATA, tgm_writer_extra(writer, "[]", NULL));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_object(writer, (const void *)((const char *)&object + 1)));
  /* None of these reached the message. What fails to encode breaks it. */
  OK(tgm_writer_object(writer, &object));
  object.compression = "teleport";
  FAILS(TGM_ERROR_ENCODING, tgm_writer_object(writer, &object));
  SAYS("teleport");
  CHECK(tgm_writer_finish(writer, &out) != TGM_ERROR_OK && out.data == NULL);
  tgm_writer_free(writer);
}

/* Byte strings and exact numbers beside JSON. */
static void built(void) {
  static const uint8_t raw[3] = {0, 255, 7};
  tgm_metadata_builder_t *builder = NULL, *extra = NULL, *clash = NULL;
  tgm_encode_options_t options = TGM_ENCODE_OPTIONS_INIT;
  tgm_object_input_t object = FLOATS;
  tgm_writer_t *writer = NULL;
  tgm_bytes_t out = {NULL, 0};
  tgm_metadata_t *meta = NULL;
  const uint8_t *found;
  uint64_t big = 0;
  size_t len = 0;
  bool yes = false;
  OK(tgm_metadata_builder_new(&builder));
  OK(tgm_metadata_builder_new(&extra));
  OK(tgm_metadata_builder_new(&clash));
  OK(tgm_metadata_builder_set_bytes(builder, "mars.raw", raw, sizeof raw));
  OK(tgm_metadata_builder_set_bytes(builder, "empty", NULL, 0));
  OK(tgm_metadata_builder_set_u64(builder, "mars.big", 1));
  OK(tgm_metadata_builder_set_u64(builder, "mars.big", UINT64_MAX));
  OK(tgm_metadata_builder_set_i64(builder, "low", INT64_MIN));
  OK(tgm_metadata_builder_set_string(extra, "by", "hand"));
  OK(tgm_metadata_builder_set_bool(extra, "flag", 1));
  OK(tgm_metadata_builder_set_f64(extra, "deep.er", 0.5));
  OK(tgm_metadata_builder_set_bool(extra, "deep.\"with.dot\"", 1));
  FAILS(TGM_ERROR_METADATA, tgm_metadata_builder_set_bool(extra, "a..b", 1));
  options.extra = extra;
  object.metadata_json = "{\"mars\":{\"param\":\"2t\"}}";
  object.metadata = builder;
  OK(tgm_writer_memory(&options, &writer));
  OK(tgm_metadata_builder_set_bool(clash, "by.way", 1));
  FAILS(TGM_ERROR_METADATA, tgm_writer_extra(writer, NULL, clash));
  OK(tgm_writer_object(writer, &object));
  OK(tgm_metadata_builder_set_bool(clash, "mars", 1));
  object.metadata = clash;
  FAILS(TGM_ERROR_METADATA, tgm_writer_object(writer, &object));
  OK(tgm_writer_finish(writer, &out));
  tgm_writer_free(writer);
  OK(tgm_decode_metadata(out.data, out.len, &meta));
  CHECK(tgm_metadata_num_objects(meta) == 1);
  found = tgm_value_as_bytes(tgm_metadata_get_at(meta, 0, "mars.raw"), &len);
  CHECK(found != NULL && len == sizeof raw && memcmp(found, raw, len) == 0);
  CHECK(tgm_value_get_type(tgm_metadata_get(meta, "empty")) == TGM_VALUE_TYPE_BYTES);
  CHECK(tgm_value_as_u64(tgm_metadata_get(meta, "mars.big"), &big) && big == UINT64_MAX);
  CHECK(tgm_metadata_get_int(meta, "low", 0) == INT64_MIN);
  CHECK(strcmp(tgm_metadata_get_string(meta, "mars.param"), "2t") == 0);
  CHECK(strcmp(tgm_metadata_get_string(meta, "extra.by"), "hand") == 0);
  CHECK(tgm_value_as_bool(tgm_metadata_get(meta, "extra.flag"), &yes) && yes);
  CHECK(tgm_metadata_get_float(meta, "deep.er", 0) == 0.5);
  CHECK(tgm_value_map_get(tgm_metadata_get(meta, "deep"), "with.dot") != NULL);
  CHECK(tgm_metadata_has(meta, "deep.with.dot") && !tgm_metadata_has(meta, "deep.with"));
  tgm_metadata_free(meta);
  tgm_bytes_free(out);
  options.struct_size--;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_writer_memory(&options, &writer));
  tgm_metadata_builder_free(builder);
  tgm_metadata_builder_free(extra);
  tgm_metadata_builder_free(clash);
}

/* ---- Catalogues -------------------------------------------------------------------------------------------------- */

static void catalogues(void) {
  static const char *keys[2] = {"mars.param", "dtype"};
  tgm_archive_t *archive = NULL;
  tgm_object_list_t *list = NULL;
  tgm_catalog_t *catalog = NULL;
  uint64_t offset = 0, length = 0;
  size_t found, added = 9;
  int32_t state = 9;
  char name[4096];
  strcpy(name, file_in(scratch, "catalogue.tgm"));
  OK(tgm_archive_open(file_in(data_folder, "realistic/surface-181x360.tgm"), &archive));
  OK(tgm_catalog_build(archive, keys, 2, 0, &catalog));
  CHECK(tgm_catalog_num_messages(catalog) == 1 && tgm_catalog_num_objects(catalog) == 3);
  OK(tgm_catalog_save(catalog, name));
  tgm_catalog_free(catalog);
  OK(tgm_catalog_open(name, &catalog));
  OK(tgm_catalog_check(catalog, archive, &state));
  OK(tgm_catalog_extend(catalog, archive, &added));
  CHECK(state == 0 && added == 0);
  OK(tgm_catalog_query(catalog, "mars.param=tp", &list));
  found = tgm_object_list_data(list)[0].object;
  CHECK(tgm_object_list_count(list) == 1 && found == 1);
  OK(tgm_catalog_object_range(catalog, 0, found, &offset, &length));
  CHECK(offset > 0 && length > 0);
  FAILS(TGM_ERROR_OBJECT, tgm_catalog_object_range(catalog, 0, 3, &offset, &length));
  tgm_object_list_free(list);
  tgm_catalog_free(catalog);
  tgm_archive_close(archive);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static void objects_in_streams(void) {
  const char *name;
  tgm_streaming_encoder_t *encoder = NULL;
  tgm_async_streaming_encoder_t *later = NULL;
  tgm_async_task_t *task = NULL;
  tgm_archive_t *archive = NULL;
  tgm_object_t *object = NULL;
  tgm_metadata_t *meta = NULL;
  tgm_object_facts_t facts;
  tgm_object_input_t within = FLOATS, bits = DOUBLES, both = FLOATS;
  int is_async;
  float found[6];
  within.within = 0.5;
  within.metadata_json = "{\"param\":\"2t\"}";
  bits.bits = 12;
  both.within = 0.5;
  both.compression = "zstd";
  for (is_async = 0; is_async < 2; is_async++) {
    name = file_in(scratch, "stream-of-objects.tgm");
    if (is_async) {
      OK(tgm_async_streaming_encoder_create(name, "{}", "xxh3", 0, NULL, 0, &task));
      OK(tgm_async_task_join_async_streaming_encoder(task, &later));
      tgm_async_task_free(task);
      FAILS(TGM_ERROR_INVALID_ARG, tgm_async_streaming_encoder_write_input(later, &both, NULL, 0, &task));
      OK(tgm_async_streaming_encoder_write_input(later, &within, NULL, 0, &task));
      OK(tgm_async_task_join_void(task));
      tgm_async_task_free(task);
      OK(tgm_async_streaming_encoder_write_input(later, &bits, NULL, 0, &task));
      OK(tgm_async_task_join_void(task));
      tgm_async_task_free(task);
      OK(tgm_async_streaming_encoder_finish(later, false, NULL, 0, &task));
      OK(tgm_async_task_join_void(task));
      tgm_async_task_free(task);
      tgm_async_streaming_encoder_free(later);
    } else {
      OK(tgm_streaming_encoder_create(name, "{}", "xxh3", 0, &encoder));
      OK(tgm_streaming_encoder_write_input(encoder, &within));
      FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_write_input(encoder, &both));
      OK(tgm_streaming_encoder_write_input(encoder, &bits));
      OK(tgm_streaming_encoder_finish(encoder));
      tgm_streaming_encoder_free(encoder);
    }
    OK(tgm_archive_open(name, &archive));
    OK(tgm_archive_verify(archive, 0));
    OK(tgm_archive_object(archive, 0, 0, &object));
    facts.struct_size = sizeof facts;
    OK(tgm_object_facts(object, &facts));
    CHECK(strcmp(facts.encoding, "simple_packing") == 0 && strcmp(facts.compression, "szip") == 0);
    OK(tgm_read_f32(object, NULL, found, 6));
    CHECK(fabsf(found[1] - 1) <= 0.5f && fabsf(found[5] - 5) <= 0.5f);
    OK(tgm_object_metadata(object, &meta));
    CHECK(strcmp(tgm_metadata_get_string(meta, "param"), "2t") == 0);
    tgm_metadata_free(meta);
    tgm_object_free(object);
    OK(tgm_archive_object(archive, 0, 1, &object));
    CHECK(tgm_value_as_u64(tgm_object_parameter(object, "sp_bits_per_value"), &facts.size));
    CHECK(facts.size >= 12 && facts.size <= 16); /* of whole bytes, for szip */
    tgm_object_free(object);
    tgm_archive_close(archive);
  }
}

/* ---- Datasets ---------------------------------------------------------------------------------------------------- */

/* Two files, each with the steps that the other lacks. One field is stored as whole numbers. */
static void write_steps(const char *path, int first, int end) {
  static const uint64_t shape[2] = {2, 3};
  tgm_writer_t *writer = NULL;
  int step;
  OK(tgm_writer_create(path, NULL, &writer));
  for (step = first; step < end; step += 6) {
    float values[6];
    int16_t whole[6];
    char keys[100];
    int i;
    tgm_object_input_t field = input(TGM_DTYPE_FLOAT32, 2, shape, values, sizeof values);
    tgm_object_input_t other = input(TGM_DTYPE_INT16, 2, shape, whole, sizeof whole);
    for (i = 0; i < 6; i++) {
      values[i] = (float)(100 * step + i);
      whole[i] = (int16_t)(10 * step - i);
    }
    sprintf(keys, "{\"mars\":{\"param\":\"t\",\"step\":%d}}", step);
    field.metadata_json = keys;
    OK(tgm_writer_object(writer, &field));
    sprintf(keys, "{\"mars\":{\"param\":\"n\",\"step\":%d}}", step);
    other.metadata_json = keys;
    OK(tgm_writer_object(writer, &other));
    OK(tgm_writer_end_message(writer));
  }
  OK(tgm_writer_finish(writer, NULL));
  tgm_writer_free(writer);
}

static void datasets(void) {
  const char *sources[2], *json = NULL, *again = NULL;
  char first[4096], second[4096];
  tgm_dataset_options_t options = TGM_DATASET_OPTIONS_INIT;
  tgm_read_t request = TGM_READ_INIT;
  tgm_dataset_t *dataset = NULL;
  const uint64_t start = 0;
  uint64_t shape[3] = {9, 9, 9};
  size_t ndim = 9, size = 0;
  float values[18];
  double wide[6];
  int16_t whole[18];
  strcpy(first, file_in(scratch, "steps-0-6.tgm"));
  strcpy(second, file_in(scratch, "step-12.tgm"));
  write_steps(first, 0, 12);
  write_steps(second, 12, 18);
  sources[0] = first;
  sources[1] = second;
  OK(tgm_dataset_open(sources, 2, NULL, &dataset));
  OK(tgm_dataset_json(dataset, &json));
  OK(tgm_dataset_json(dataset, &again));
  CHECK(json == again && strstr(json, "{\"name\":\"step\",\"length\":3}") != NULL);
  CHECK(strstr(json, "\"variables\":[") != NULL && strstr(json, "\"dtype\":\"int16\"") != NULL);

  OK(tgm_dataset_read_size(dataset, "t", NULL, shape, 3, &ndim, &size));
  CHECK(ndim == 3 && shape[0] == 3 && shape[1] == 2 && shape[2] == 3 && size == sizeof values);
  OK(tgm_dataset_read_into(dataset, "t", NULL, values, sizeof values));
  CHECK(values[0] == 0 && values[6] == 600 && values[17] == 1205);
  /* By labels, by indices, and both ways as floats of another type. */
  request.selection = "step=12";
  OK(tgm_dataset_read_size(dataset, "n", &request, shape, 1, &ndim, &size));
  CHECK(ndim == 2 && shape[0] == 2 && size == 12);
  OK(tgm_dataset_read_into(dataset, "n", &request, whole, 12));
  CHECK(whole[0] == 120 && whole[5] == 115);
  OK(tgm_dataset_read_f64(dataset, "n", &request, wide, 6));
  CHECK(wide[0] == 120 && wide[5] == 115);
  request.selection = "::2, 1, 2:0:-1";
  FAILS(TGM_ERROR_ENCODING, tgm_dataset_read_f32(dataset, "t", &request, values, 4));
  request.selection = "::2, 1, 1:";
  OK(tgm_dataset_read_size(dataset, "t", &request, NULL, 0, &ndim, &size));
  CHECK(ndim == 2 && size == 16);
  OK(tgm_dataset_read_f32(dataset, "t", &request, values, 4));
  CHECK(values[0] == 4 && values[1] == 5 && values[2] == 1204 && values[3] == 1205);
  request.selection = "step=6..12, step~7";
  OK(tgm_dataset_read_f32(dataset, "n", &request, values, 6));
  CHECK(values[0] == 60 && values[5] == 55);

  FAILS(TGM_ERROR_METADATA, tgm_dataset_read_f32(dataset, "n", &request, values, 7));
  FAILS(TGM_ERROR_METADATA, tgm_dataset_read_into(dataset, "n", &request, values, 11));
  FAILS(TGM_ERROR_METADATA, tgm_dataset_read_f32(dataset, "other", NULL, values, 6));
  SAYS("no variable other");
  request.selection = "step=7";
  FAILS(TGM_ERROR_METADATA, tgm_dataset_read_f32(dataset, "n", &request, values, 6));
  SAYS("no such label; it has 0, 6, 12");
  request.selection = "height=2";
  FAILS(TGM_ERROR_METADATA, tgm_dataset_read_f32(dataset, "n", &request, values, 6));
  request.selection = "step=0,";
  FAILS(TGM_ERROR_INVALID_ARG, tgm_dataset_read_f32(dataset, "n", &request, values, 6));
  request.selection = "9";
  FAILS(TGM_ERROR_ENCODING, tgm_dataset_read_f32(dataset, "n", &request, values, 6));
  request.selection = NULL;
  request.range_starts = &start;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_dataset_read_f32(dataset, "n", &request, values, 6));
  tgm_dataset_close(dataset);

  /* Only the objects that a query selects. */
  options.only = "mars.param=t and mars.step>=6";
  OK(tgm_dataset_open(sources, 2, &options, &dataset));
  OK(tgm_dataset_read_size(dataset, "t", NULL, shape, 3, &ndim, &size));
  CHECK(ndim == 3 && shape[0] == 2);
  FAILS(TGM_ERROR_METADATA, tgm_dataset_read_size(dataset, "n", NULL, shape, 3, &ndim, &size));
  tgm_dataset_close(dataset);
  options.only = "mars.step=7";
  FAILS(TGM_ERROR_METADATA, tgm_dataset_open(sources, 2, &options, &dataset));
  options.only = "mars.step=6 and";
  FAILS(TGM_ERROR_METADATA, tgm_dataset_open(sources, 2, &options, &dataset));
  SAYS("query: expected a condition after `and`");
  options.only = NULL;

  options.profile = "cfgrib";
  FAILS(TGM_ERROR_INVALID_ARG, tgm_dataset_open(sources, 2, &options, &dataset));
  SAYS("is none of auto, mars, cf, plain");
  options.profile = NULL;
  options.index = 1;
  FAILS(TGM_ERROR_METADATA, tgm_dataset_open(sources, 2, &options, &dataset));
  SAYS("dataset 1 of 1");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_dataset_open(NULL, 0, NULL, &dataset));
  sources[1] = NULL;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_dataset_open(sources, 2, NULL, &dataset));
  sources[1] = file_in(scratch, "no-such-file.tgm");
  FAILS(TGM_ERROR_IO, tgm_dataset_open(sources, 2, NULL, &dataset));
}

/* ---- The programs of MODEL.md ------------------------------------------------------------------------------------ */

#define VALUE(row, column) (280 + 15 * sin((row) / 9.0) * cos((column) / 7.0))

/* The file that they read: fields at two steps, among others. */
static void write_forecast(void) {
  static const char *const metadata[3] = {"{\"mars\":{\"param\":\"2t\",\"step\":18}}",
                                          "{\"mars\":{\"param\":\"tp\",\"step\":24}}",
                                          "{\"mars\":{\"param\":\"2t\",\"step\":24}}"};
  static const uint64_t shape[2] = {90, 60};
  static double field[90 * 60];
  tgm_object_input_t object = input(TGM_DTYPE_FLOAT64, 2, shape, field, sizeof field);
  tgm_writer_t *writer = NULL;
  size_t k, i;
  OK(tgm_writer_create(file_in(scratch, "forecast.tgm"), NULL, &writer));
  for (k = 0; k < 3; k++) {
    for (i = 0; i < 90 * 60; i++)
      field[i] = k == 2 ? VALUE((double)(i / 60), (double)(i % 60)) : 1;
    object.metadata_json = metadata[k];
    object.bits = 24;
    OK(tgm_writer_object(writer, &object));
    OK(tgm_writer_end_message(writer));
  }
  OK(tgm_writer_finish(writer, NULL));
  tgm_writer_free(writer);
}

/* The file that they write. */
static void check_box(const char *path) {
  tgm_archive_t *archive = NULL;
  tgm_object_t *object = NULL;
  tgm_object_facts_t facts;
  double found[20 * 30];
  tgm_metadata_t *meta = NULL;
  size_t i;
  OK(tgm_archive_open(path, &archive));
  OK(tgm_archive_verify(archive, 0));
  OK(tgm_archive_object(archive, 0, 0, &object));
  OK(tgm_object_metadata(object, &meta));
  CHECK(strcmp(tgm_metadata_get_string(meta, "mars.param"), "2t") == 0);
  facts.struct_size = sizeof facts;
  OK(tgm_object_facts(object, &facts));
  CHECK(facts.ndim == 2 && facts.shape[0] == 20 && facts.shape[1] == 30 && facts.payload_size < 20 * 30 * 4);
  OK(tgm_read_f64(object, NULL, found, 20 * 30));
  for (i = 0; i < 20 * 30; i++)
    CHECK(fabs(found[i] - VALUE((double)(40 + i / 30), (double)(i % 30))) <= 0.0101);
  tgm_metadata_free(meta);
  tgm_object_free(object);
  tgm_archive_close(archive);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "box") == 0) {
    check_box(argv[2]);
    return 0;
  }
  if (argc != 3) {
    fprintf(stderr, "usage: model DATA SCRATCH\n");
    return 2;
  }
  data_folder = argv[1];
  scratch = argv[2];
  archives();
  damage();
  requests();
  bits();
  dlpack();
  to_functions();
  stages();
  refused_objects();
  built();
  catalogues();
  objects_in_streams();
  datasets();
  write_forecast();
  puts("model: ok");
  return 0;
}
