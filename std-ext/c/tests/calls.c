/* Every group of functions of tensogram.h, called as programs do. Arguments: the folder of test data, a folder for files. */
#include "check.h"

#include <math.h>

static char path[4096];
static const char *scratch;

static const char *file_in(const char *folder, const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

#define FLOATS                                                                                                  \
  "{\"type\":\"ntensor\",\"ndim\":2,\"shape\":[2,3],\"strides\":[3,1],\"dtype\":\"float32\","                   \
  "\"byte_order\":\"little\",\"encoding\":\"none\",\"filter\":\"none\",\"compression\":\"none\"}"
#define DOUBLES(rest)                                                                                           \
  "{\"type\":\"ntensor\",\"ndim\":1,\"shape\":[4],\"strides\":[1],\"dtype\":\"float64\","                       \
  "\"byte_order\":\"little\",\"encoding\":\"none\",\"filter\":\"none\",\"compression\":\"none\"" rest "}"

static const float floats[6] = {0, 1, 2, 3, 4, 5};
static const double doubles[4] = {1.5, -2, 3, 4};
static const char *message_json = "{\"descriptors\":[" FLOATS "," DOUBLES(",\"note\":18446744073709551615")
    "],\"base\":[{\"mars\":{\"param\":\"2t\",\"step\":24,\"f\":1.0,\"deep\":[1,[2,{\"k\":null}]]},\"ok\":true},"
    "{\"mars\":{\"param\":\"tp\"},\"a.b\":1,\"big\":9223372036854775808,\"shortName\":\"msl\"}],"
    "\"_extra_\":{\"run\":7,\"nul\":\"a\\u0000b\"},\"source\":\"test\",\"version\":3}";

static tgm_bytes_t encoded(const char *hash) {
  const uint8_t *data[2];
  size_t lens[2] = {sizeof floats, sizeof doubles};
  tgm_bytes_t out = {NULL, 0};
  data[0] = (const uint8_t *)floats;
  data[1] = (const uint8_t *)doubles;
  OK(tgm_encode(message_json, data, lens, 2, hash, 0, &out));
  CHECK(out.data != NULL && out.len > 0 && memcmp(out.data, "TENSOGRM", 8) == 0);
  return out;
}

static void errors(void) {
  tgm_message_t *message = NULL;
  int code;
  CHECK(tgm_last_error() == NULL && tgm_last_error_code() == TGM_ERROR_OK);
  CHECK(tgm_last_error_offset() == UINT64_MAX && tgm_last_error_object_index() == SIZE_MAX);
  for (code = -5; code < 20; code++)
    CHECK(tgm_error_string((tgm_error)code) != NULL);
  CHECK(strcmp(tgm_error_string(TGM_ERROR_IO), "I/O error") == 0);
  CHECK(strcmp(tgm_error_string((tgm_error)99), "unknown error") == 0);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_decode(NULL, 0, 1, 0, 0, &message));
  CHECK(strcmp(tgm_last_error(), "null argument") == 0);
  FAILS(TGM_ERROR_FRAMING, tgm_decode((const uint8_t *)"garbage", 7, 1, 0, 0, &message));
  SAYS("framing error: ");
  CHECK(tgm_last_error_code() == TGM_ERROR_FRAMING && tgm_last_error_kind() != NULL);
  CHECK(tgm_last_error_offset() != UINT64_MAX && message == NULL);
  tgm_clear_error();
  CHECK(tgm_last_error() == NULL);
}

static void versions(void) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", TGM_VERSION_MAJOR, TGM_VERSION_MINOR, TGM_VERSION_PATCH);
  CHECK(strcmp(tgm_version_string(), version) == 0);
  CHECK(tgm_version_number() == (TGM_VERSION_MAJOR << 16 | TGM_VERSION_MINOR << 8 | TGM_VERSION_PATCH));
  CHECK(strlen(tgm_version_string()) >= 5 && tgm_abi_version() == 24);
  CHECK(tgm_has_feature("zstd") && !tgm_has_feature("teleport") && !tgm_has_feature(NULL));
}

static void objects(const tgm_bytes_t *bytes) {
  tgm_message_t *message = NULL, *one = NULL;
  const uint8_t *data;
  size_t len = 0;
  OK(tgm_decode(bytes->data, bytes->len, 1, 0, 1, &message));
  CHECK(tgm_message_version(message) == 3 && tgm_message_num_objects(message) == 2);
  CHECK(tgm_message_num_decoded(message) == 2);
  CHECK(tgm_object_ndim(message, 0) == 2 && tgm_object_shape(message, 0)[1] == 3);
  CHECK(tgm_object_strides(message, 0)[0] == 3);
  CHECK(strcmp(tgm_object_type(message, 0), "ntensor") == 0 && strcmp(tgm_object_dtype(message, 0), "float32") == 0);
  CHECK(tgm_object_dtype(message, 2) == NULL);
  CHECK(strcmp(tgm_object_byte_order(message, 0), "little") == 0);
  CHECK(strcmp(tgm_object_data_byte_order(message, 0), "little") == 0);
  CHECK(strcmp(tgm_payload_encoding(message, 0), "none") == 0 && strcmp(tgm_object_filter(message, 0), "none") == 0);
  CHECK(strcmp(tgm_object_compression(message, 0), "none") == 0);
  data = tgm_object_data(message, 0, &len);
  CHECK(len == sizeof floats && memcmp(data, floats, len) == 0 && (uintptr_t)data % 16 == 0);
  CHECK(tgm_object_data(message, 1, NULL) != NULL && tgm_object_data(message, 2, &len) == NULL && len == 0);
  CHECK(tgm_payload_has_hash(message, 0) == 1 && strcmp(tgm_object_hash_type(message, 0), "xxh3") == 0);
  CHECK(strlen(tgm_object_hash_value(message, 1)) == 16);

  /* One object has its own digest. */
  OK(tgm_decode_object(bytes->data, bytes->len, 1, 1, 0, 1, &one));
  CHECK(tgm_message_num_objects(one) == 1);
  CHECK(strcmp(tgm_object_hash_value(one, 0), tgm_object_hash_value(message, 1)) == 0);
  tgm_message_free(one);
  FAILS(TGM_ERROR_OBJECT, tgm_decode_object(bytes->data, bytes->len, 2, 1, 0, 0, &one));
  tgm_message_free(message);
}

static void digests(const tgm_bytes_t *bytes) {
  tgm_bytes_t plain = encoded(NULL), hash = {NULL, 0};
  tgm_message_t *message = NULL;
  tgm_object_iter_t *iter = NULL;
  uint8_t *damaged = malloc(bytes->len);
  size_t i;
  FAILS(TGM_ERROR_MISSING_HASH, tgm_decode(plain.data, plain.len, 1, 0, 1, &message));
  CHECK(tgm_last_error_object_index() == 0);
  OK(tgm_decode(plain.data, plain.len, 1, 0, 0, &message));
  CHECK(!tgm_payload_has_hash(message, 0) && tgm_object_hash_type(message, 0) == NULL);
  CHECK(tgm_object_hash_value(message, 0) == NULL);
  tgm_message_free(message);

  CHECK(damaged != NULL);
  memcpy(damaged, bytes->data, bytes->len);
  for (i = 0; i + 8 <= bytes->len; i++)
    if (memcmp(damaged + i, doubles, 8) == 0)
      damaged[i] ^= 1;
  FAILS(TGM_ERROR_HASH_MISMATCH, tgm_decode(damaged, bytes->len, 1, 0, 1, &message));
  SAYS("object 1");
  CHECK(tgm_last_error_object_index() == 1);
  FAILS(TGM_ERROR_HASH_MISMATCH, tgm_check_message(damaged, bytes->len));
  CHECK(tgm_last_error_object_index() == 1 && tgm_last_error_offset() != UINT64_MAX);
  OK(tgm_check_message(bytes->data, bytes->len));
  /* The iterator checks digests too, each before its object. */
  OK(tgm_object_iter_create(damaged, bytes->len, 1, 1, &iter));
  OK(tgm_object_iter_next(iter, &message));
  CHECK(tgm_payload_has_hash(message, 0) == 1);
  tgm_message_free(message);
  FAILS(TGM_ERROR_HASH_MISMATCH, tgm_object_iter_next(iter, &message));
  FAILS(TGM_ERROR_END_OF_ITER, tgm_object_iter_next(iter, &message));
  tgm_object_iter_free(iter);
  free(damaged);
  tgm_bytes_free(plain);
  OK(tgm_compute_hash((const uint8_t *)"a", 1, NULL, &hash));
  CHECK(hash.len == 16 && memcmp(hash.data, "e6c632b61e964e1f", 16) == 0);
  tgm_bytes_free(hash);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_compute_hash((const uint8_t *)"a", 1, "md5", &hash));
}

static void metadata(const tgm_bytes_t *bytes) {
  tgm_message_t *message = NULL;
  tgm_metadata_t *meta = NULL, *first = NULL;
  const tgm_value_t *value, *item;
  const char *text;
  size_t len = 0;
  int64_t integer = 0;
  double number = 0;
  bool truth = false;
  OK(tgm_decode(bytes->data, bytes->len, 1, 0, 0, &message));
  OK(tgm_message_metadata(message, &meta));
  tgm_message_free(message); /* the metadata lives on */
  CHECK(tgm_metadata_version(meta) == 3 && tgm_metadata_num_objects(meta) == 2);
  text = tgm_metadata_get_string(meta, "mars.param");
  CHECK(strcmp(text, "2t") == 0 && tgm_metadata_get_string(meta, "mars.param") == text);
  CHECK(strcmp(tgm_metadata_get_string_at(meta, 1, "mars.param"), "tp") == 0);
  CHECK(strcmp(tgm_metadata_get_string(meta, "mars.step"), "24") == 0);
  CHECK(strcmp(tgm_metadata_get_string(meta, "mars.f"), "1") == 0);
  CHECK(strcmp(tgm_metadata_get_string(meta, "ok"), "true") == 0);
  CHECK(strcmp(tgm_metadata_get_string(meta, "version"), "3") == 0 && tgm_metadata_get_int(meta, "version", -1) == 3);
  CHECK(tgm_metadata_get_string(meta, "nul") == NULL && tgm_metadata_get_string(meta, "mars") == NULL);
  CHECK(tgm_metadata_get_int(meta, "mars.step", -1) == 24 && tgm_metadata_get_int(meta, "mars.f", -1) == -1);
  CHECK(tgm_metadata_get_int(meta, "ok", -1) == -1 && tgm_metadata_get_int_at(meta, 1, "mars.step", -1) == -1);
  CHECK(tgm_metadata_get_float(meta, "mars.step", -1) == 24 && tgm_metadata_get_float_at(meta, 0, "mars.f", 0) == 1);
  /* An integer beyond 63 bits in JSON is a float. */
  CHECK(tgm_metadata_get_float(meta, "big", 0) == 9223372036854775808.0 && tgm_metadata_get_int(meta, "big", -1) == -1);
  CHECK(tgm_metadata_get_int(meta, "extra.run", -1) == 7 && tgm_metadata_get_int(meta, "run", -1) == 7);
  CHECK(strcmp(tgm_metadata_get_string(meta, "source"), "test") == 0);
  CHECK(!tgm_metadata_has(meta, "a") && !tgm_metadata_has(meta, "_reserved_.tensor") && !tgm_metadata_has(meta, ""));
  /* A key with a dot of its own, as it stands and in quotes. */
  CHECK(tgm_metadata_get_int(meta, "a.b", -1) == 1 && tgm_metadata_get_int_at(meta, 1, "\"a.b\"", -1) == 1);
  CHECK(!tgm_metadata_has(meta, "\"a\".b") && !tgm_metadata_has(meta, "\"mars.param\""));
  CHECK(tgm_metadata_has(meta, "mars.deep") && tgm_metadata_has_at(meta, 1, "shortName"));
  CHECK(strstr(tgm_metadata_to_json(meta), "\"_extra_\":{") == tgm_metadata_to_json(meta) + 1);
  CHECK(strstr(tgm_metadata_object_to_json(meta, 1), "\"shortName\":\"msl\"") != NULL);
  CHECK(strstr(tgm_metadata_object_to_json(meta, 1), "\"_reserved_\":{") != NULL);
  CHECK(tgm_metadata_object_to_json(meta, 2) == NULL);

  value = tgm_metadata_get(meta, "mars.deep");
  CHECK(value == tgm_metadata_get(meta, "mars.deep") && tgm_value_get_type(value) == TGM_VALUE_TYPE_ARRAY);
  CHECK(tgm_value_array_len(value) == 2 && tgm_value_array_get(value, 2) == NULL && tgm_value_map_len(value) == 0);
  CHECK(tgm_value_as_i64(tgm_value_array_get(value, 0), &integer) && integer == 1);
  item = tgm_value_array_get(tgm_value_array_get(value, 1), 1);
  CHECK(tgm_value_get_type(item) == TGM_VALUE_TYPE_MAP && tgm_value_map_len(item) == 1);
  CHECK(tgm_value_map_key_at(item, 0, &len)[0] == 'k' && len == 1 && tgm_value_map_key_at(item, 1, &len) == NULL);
  CHECK(tgm_value_get_type(tgm_value_map_get(item, "k")) == TGM_VALUE_TYPE_NULL);
  CHECK(tgm_value_map_get(item, "k") == tgm_value_map_value_at(item, 0) && tgm_value_map_get(item, "K") == NULL);
  CHECK(tgm_value_get_type(NULL) == TGM_VALUE_TYPE_NULL && !tgm_value_as_i64(NULL, &integer));
  value = tgm_metadata_object(meta, 1);
  CHECK(tgm_value_get_type(value) == TGM_VALUE_TYPE_MAP && tgm_value_map_len(value) == 5);
  CHECK(tgm_value_map_get(value, "a.b") != NULL && tgm_value_map_get(value, "_reserved_") != NULL);
  CHECK(memcmp(tgm_value_map_key_at(value, 0, &len), "_reserved_", 10) == 0 && len == 10);
  CHECK(tgm_value_map_value_at(value, 0) == tgm_value_map_get(value, "_reserved_") && tgm_value_array_len(value) == 0);
  CHECK(!tgm_value_as_i64(value, &integer) && tgm_value_as_string(value, &len) == NULL);
  value = tgm_metadata_extra(meta);
  CHECK(tgm_value_map_len(value) == 4);
  text = tgm_value_as_string(tgm_value_map_get(value, "nul"), &len);
  CHECK(len == 3 && memcmp(text, "a\0b", 3) == 0);
  CHECK(tgm_value_as_f64(tgm_value_map_get(value, "run"), &number) && number == 7);
  CHECK(!tgm_value_as_bool(tgm_value_map_get(value, "run"), &truth));
  CHECK(tgm_value_as_bool(tgm_metadata_get(meta, "ok"), &truth) && truth);
  CHECK(tgm_value_map_len(tgm_metadata_reserved(meta)) > 0 && tgm_metadata_object(meta, 2) == NULL);
  OK(tgm_decode_metadata(bytes->data, bytes->len, &first));
  CHECK(strcmp(tgm_metadata_to_json(first), tgm_metadata_to_json(meta)) == 0);
  tgm_metadata_free(first);
  tgm_metadata_free(meta);
}

/* A descriptor with one field that is replaced: the codes of its faults. */
static void descriptors(void) {
  static const char *fields[][2] = {
      {"type", "\"ntensor\""}, {"ndim", "1"},           {"shape", "[4]"},          {"strides", "[1]"},
      {"dtype", "\"float64\""}, {"encoding", "\"none\""}, {"filter", "\"none\""}, {"compression", "\"none\""}};
  static const struct {
    const char *field, *json;
    tgm_error code;
  } faults[] = {{"type", "\"\"", TGM_ERROR_METADATA},         {"type", "1", TGM_ERROR_METADATA},
                {"ndim", "2", TGM_ERROR_METADATA},             {"ndim", "1.0", TGM_ERROR_METADATA},
                {"shape", "[-4]", TGM_ERROR_METADATA},         {"shape", "[4.0]", TGM_ERROR_METADATA},
                {"shape", "[5]", TGM_ERROR_METADATA},          {"strides", "[]", TGM_ERROR_METADATA},
                {"dtype", "\"Float64\"", TGM_ERROR_METADATA},  {"encoding", "\"paint\"", TGM_ERROR_ENCODING},
                {"filter", "\"paint\"", TGM_ERROR_ENCODING},   {"compression", "\"paint\"", TGM_ERROR_ENCODING},
                {"byte_order", "\"Big\"", TGM_ERROR_METADATA}, {"ndim", NULL, TGM_ERROR_METADATA}};
  const uint8_t *data[1];
  const size_t lens[1] = {sizeof doubles};
  size_t fault, field;
  char text[1024];
  tgm_bytes_t out = {NULL, 0};
  data[0] = (const uint8_t *)doubles;
  for (fault = 0; fault < sizeof faults / sizeof *faults; fault++) {
    strcpy(text, "{\"descriptors\":[{");
    for (field = 0; field < sizeof fields / sizeof *fields; field++)
      if (strcmp(fields[field][0], faults[fault].field) != 0)
        sprintf(text + strlen(text), "\"%s\":%s,", fields[field][0], fields[field][1]);
    if (faults[fault].json != NULL)
      sprintf(text + strlen(text), "\"%s\":%s,", faults[fault].field, faults[fault].json);
    strcat(text, "\"note\":1}]}");
    if (tgm_encode(text, data, lens, 1, NULL, 0, &out) != faults[fault].code) {
      fprintf(stderr, "%s: %s\n", text, tgm_last_error());
      exit(1);
    }
  }
}

static void json(void) {
  const uint8_t *data[1];
  size_t lens[1] = {sizeof doubles};
  tgm_bytes_t out = {NULL, 0};
  tgm_metadata_t *meta = NULL;
  data[0] = (const uint8_t *)doubles;
#define REFUSED(code, text, json)                              \
  FAILS(code, tgm_encode(json, data, lens, 1, NULL, 0, &out)); \
  SAYS(text)
#define WITH(rest) "{\"descriptors\":[" DOUBLES("") "]" rest "}"
  REFUSED(TGM_ERROR_METADATA, "failed to parse metadata JSON: ", "{");
  REFUSED(TGM_ERROR_METADATA, "failed to parse metadata JSON: ", "[]");
  REFUSED(TGM_ERROR_METADATA, "failed to parse metadata JSON: ", WITH("") "x");
  REFUSED(TGM_ERROR_METADATA, "duplicate", WITH(",\"descriptors\":[]"));
  REFUSED(TGM_ERROR_METADATA, "duplicate", WITH(",\"base\":[],\"base\":[]"));
  REFUSED(TGM_ERROR_METADATA, "duplicate", WITH(",\"extra\":{},\"_extra_\":{}"));
  REFUSED(TGM_ERROR_METADATA, "null", "{\"descriptors\":null}");
  REFUSED(TGM_ERROR_METADATA, "18446744073709551616 is beyond 64 bits", WITH(",\"a\":[18446744073709551616]"));
  REFUSED(TGM_ERROR_METADATA, "65536", WITH(",\"version\":65536"));
  REFUSED(TGM_ERROR_METADATA, "expected", WITH(",\"_extra_\":1"));
  REFUSED(TGM_ERROR_METADATA, "base[0]", WITH(",\"base\":[{\"_reserved_\":{}}]"));
  REFUSED(TGM_ERROR_METADATA, "base", WITH(",\"base\":[{},{}]"));
  REFUSED(TGM_ERROR_METADATA, "missing field", "{\"descriptors\":[{\"type\":\"t\"}]}");
  REFUSED(TGM_ERROR_METADATA, "masks", "{\"descriptors\":[" DOUBLES(",\"masks\":{}") "]}");
  REFUSED(TGM_ERROR_INVALID_ARG, "descriptors", "{}");
  REFUSED(TGM_ERROR_INVALID_ARG, "UTF-8", "{\"a\":\"\xff\"}");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_encode(WITH(""), data, lens, 1, "XXH3", 0, &out));
  SAYS("metadata error: unknown hash type: XXH3");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_encode(WITH(""), data, lens, 1, "", 0, &out));
  data[0] = NULL;
  REFUSED(TGM_ERROR_INVALID_ARG, "null data pointer at index 0", WITH(""));
  CHECK(out.data == NULL);
  descriptors();
  OK(tgm_encode("{}", NULL, NULL, 0, NULL, 0, &out));
  tgm_bytes_free(out);
  OK(tgm_encode("{\"version\":7,\"x\":1,\"x\":2,\"_extra_\":{\"y\":1},\"y\":2}", NULL, NULL, 0, NULL, 0, &out));
  OK(tgm_decode_metadata(out.data, out.len, &meta));
  CHECK(tgm_metadata_get_int(meta, "extra.version", -1) == 7 && tgm_metadata_get_int(meta, "x", -1) == 2);
  CHECK(tgm_metadata_get_int(meta, "y", -1) == 1);
  tgm_metadata_free(meta);
  tgm_bytes_free(out);
}

static void ranges(const tgm_bytes_t *bytes) {
  uint64_t first[2] = {4, 0}, count[2] = {2, 3}, beyond = 7;
  tgm_bytes_t out[2] = {{NULL, 0}, {NULL, 0}};
  size_t n = 99;
  OK(tgm_decode_range(bytes->data, bytes->len, 0, first, count, 2, 1, 0, 0, out, &n));
  CHECK(n == 2 && out[0].len == 8 && memcmp(out[0].data, floats + 4, 8) == 0 && out[1].len == 12);
  out[1].len = 1; /* a length that the caller changed does no harm */
  tgm_bytes_free(out[0]);
  tgm_bytes_free(out[1]);
  OK(tgm_decode_range(bytes->data, bytes->len, 0, first, count, 2, 1, 0, 1, out, &n));
  CHECK(n == 1 && out[0].len == 20 && memcmp(out[0].data, floats + 4, 8) == 0);
  tgm_bytes_free(out[0]);
  OK(tgm_decode_range(bytes->data, bytes->len, 0, NULL, NULL, 0, 1, 0, 1, out, &n));
  CHECK(n == 1 && out[0].len == 0 && out[0].data != NULL);
  tgm_bytes_free(out[0]);
  FAILS(TGM_ERROR_ENCODING, tgm_decode_range(bytes->data, bytes->len, 0, &beyond, count, 1, 1, 0, 0, out, &n));
  FAILS(TGM_ERROR_OBJECT, tgm_decode_range(bytes->data, bytes->len, 9, first, count, 1, 1, 0, 0, out, &n));
}

static void non_finite(void) {
  const double values[4] = {1, NAN, INFINITY, 2};
  const uint8_t *data[1];
  const size_t lens[1] = {sizeof values};
  const char *description = "{\"descriptors\":[" DOUBLES("") "]}";
  TgmEncodeMaskOptions masks = {true, true, "rle", NULL, NULL, 0};
  const TgmDecodeMaskOptions zeros = {false};
  tgm_bytes_t out = {NULL, 0};
  tgm_message_t *message = NULL;
  const double *decoded;
  data[0] = (const uint8_t *)values;
  FAILS(TGM_ERROR_ENCODING, tgm_encode(description, data, lens, 1, NULL, 0, &out));
  OK(tgm_encode_with_options(description, data, lens, 1, NULL, 0, &masks, &out));
  OK(tgm_decode(out.data, out.len, 1, 0, 0, &message));
  decoded = (const double *)(const void *)tgm_object_data(message, 0, NULL);
  CHECK(isnan(decoded[1]) && isinf(decoded[2]) && decoded[3] == 2);
  tgm_message_free(message);
  OK(tgm_decode_with_options(out.data, out.len, 1, 0, 0, &zeros, &message));
  decoded = (const double *)(const void *)tgm_object_data(message, 0, NULL);
  CHECK(decoded[1] == 0 && decoded[2] == 0);
  tgm_message_free(message);
  tgm_bytes_free(out);
  masks.neg_inf_mask_method = "paint";
  FAILS(TGM_ERROR_INVALID_ARG, tgm_encode_with_options(description, data, lens, 1, NULL, 0, &masks, &out));
  SAYS("paint");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_encode_with_options(description, data, lens, 1, NULL, 0,
                                                       (const void *)((const char *)&masks + 1), &out));
  SAYS("misaligned");
}

static void pre_encoded(void) {
  /* 12 bits: 1 in the high field of the first 12, 2 in the next. */
  const uint8_t packed[3] = {0x00, 0x10, 0x02};
  const char *descriptor =
      "{\"type\":\"ntensor\",\"ndim\":1,\"shape\":[2],\"strides\":[1],\"dtype\":\"float64\",\"byte_order\":\"little\","
      "\"encoding\":\"simple_packing\",\"filter\":\"none\",\"compression\":\"none\",\"sp_reference_value\":10.0,"
      "\"sp_binary_scale_factor\":0,\"sp_decimal_scale_factor\":0,\"sp_bits_per_value\":12}";
  const uint8_t *data[1];
  size_t lens[1] = {3};
  char text[1024];
  tgm_bytes_t out = {NULL, 0};
  tgm_message_t *message = NULL;
  tgm_streaming_encoder_t *encoder = NULL;
  const double *decoded;
  double reference = 0;
  int32_t scale = 0;
  const double wrong[2] = {1, NAN};
  data[0] = packed;
  snprintf(text, sizeof text, "{\"descriptors\":[%s]}", descriptor);
  OK(tgm_encode_pre_encoded(text, data, lens, 1, "xxh3", 0, &out));
  OK(tgm_decode(out.data, out.len, 1, 0, 1, &message));
  decoded = (const double *)(const void *)tgm_object_data(message, 0, NULL);
  CHECK(decoded[0] == 11 && decoded[1] == 12 && strcmp(tgm_payload_encoding(message, 0), "simple_packing") == 0);
  tgm_message_free(message);
  tgm_bytes_free(out);

  OK(tgm_streaming_encoder_create(file_in(scratch, "pre.tgm"), "{}", "xxh3", 0, &encoder));
  OK(tgm_streaming_encoder_write_pre_encoded(encoder, descriptor, packed, 3));
  OK(tgm_streaming_encoder_finish_backfill(encoder));
  tgm_streaming_encoder_free(encoder);

  OK(tgm_simple_packing_compute_params(doubles, 4, 16, 0, &reference, &scale));
  CHECK(reference == -2);
  FAILS(TGM_ERROR_ENCODING, tgm_simple_packing_compute_params(wrong, 2, 16, 0, &reference, &scale));
  CHECK(strstr(tgm_last_error(), "NaN value encountered at index 1") == tgm_last_error());
  FAILS(TGM_ERROR_ENCODING, tgm_simple_packing_compute_params(doubles, 4, 65, 0, &reference, &scale));
  SAYS("bits_per_value 65 exceeds maximum of 64");
}

/* What is secret in an address is in no error, and no call makes files that have its parts for names. */
static void addresses(void) {
  static const char *const all[] = {"http://u:S3CR3T@127.0.0.1:9/x.tgm?sig=S3CR3T#S3CR3T", "http://u:S3CR3T@[bad/x?S3CR3T",
                                    "ftp://S3CR3T@host/x"};
  tgm_file_t *file = NULL;
  tgm_archive_t *archive = NULL;
  tgm_writer_t *writer = NULL;
  tgm_catalog_t *catalog = NULL;
  tgm_streaming_encoder_t *stream = NULL;
  tgm_bytes_t out = {NULL, 0};
  size_t i;
  for (i = 0; i < sizeof all / sizeof *all; i++) {
#define KEEPS(call)                                                                                                    \
  do {                                                                                                                 \
    CHECK((call) != TGM_ERROR_OK);                                                                                     \
    CHECK(strstr(tgm_last_error(), "S3CR3T") == NULL);                                                                 \
  } while (0)
    KEEPS(tgm_file_open(all[i], &file));
    KEEPS(tgm_archive_open(all[i], &archive));
    KEEPS(tgm_archive_open_map(all[i], &archive));
    KEEPS(tgm_writer_create(all[i], NULL, &writer));
    SAYS("addresses are read, and not written");
    KEEPS(tgm_writer_append(all[i], NULL, &writer));
    KEEPS(tgm_file_create(all[i], &file));
    SAYS("addresses are read, and not written");
    KEEPS(tgm_catalog_open(all[i], &catalog));
    KEEPS(tgm_streaming_encoder_create(all[i], "{}", "xxh3", 0, &stream));
    SAYS("addresses are read, and not written");
    KEEPS(tgm_validate_file(all[i], "default", 0, &out));
  }
}

static void files(const tgm_bytes_t *bytes) {
  tgm_file_t *file = NULL;
  tgm_file_iter_t *iter = NULL;
  tgm_message_t *message = NULL;
  tgm_bytes_t out = {NULL, 0};
  const uint8_t *data[2];
  size_t lens[2] = {sizeof floats, sizeof doubles}, count = 0;
  char name[4096];
  data[0] = (const uint8_t *)floats;
  data[1] = (const uint8_t *)doubles;
  FAILS(TGM_ERROR_IO, tgm_file_open(file_in(scratch, "missing.tgm"), &file));
  SAYS("file not found: ");
  FAILS(TGM_ERROR_IO, tgm_file_open(scratch, &file)); /* a directory */
  addresses();
  strcpy(name, file_in(scratch, "new/folder/messages.tgm"));
  OK(tgm_file_create(name, &file));
  CHECK(strcmp(tgm_file_path(file), name) == 0);
  OK(tgm_file_message_count(file, &count));
  CHECK(count == 0);
  OK(tgm_file_append(file, message_json, data, lens, 2, "xxh3", 0));
  OK(tgm_file_append_with_options(file, message_json, data, lens, 2, NULL, 2, NULL));
  OK(tgm_file_append_raw(file, bytes->data, bytes->len));
  OK(tgm_file_message_count(file, &count));
  CHECK(count == 3);
  OK(tgm_file_read_message(file, 2, &out));
  CHECK(out.len == bytes->len && memcmp(out.data, bytes->data, out.len) == 0);
  tgm_bytes_free(out);
  OK(tgm_file_decode_message(file, 2, 1, 0, 1, &message));
  CHECK(tgm_message_num_objects(message) == 2 && tgm_payload_has_hash(message, 1));
  tgm_message_free(message);
  FAILS(TGM_ERROR_FRAMING, tgm_file_decode_message(file, 3, 1, 0, 0, &message));
  SAYS("message index 3 out of range (count=3)");
  OK(tgm_file_iter_create(file, &iter));
  tgm_file_close(file);
  for (count = 0; tgm_file_iter_next(iter, &out) == TGM_ERROR_OK; count++)
    tgm_bytes_free(out);
  CHECK(count == 3);
  tgm_clear_error();
  FAILS(TGM_ERROR_END_OF_ITER, tgm_file_iter_next(iter, &out));
  CHECK(tgm_last_error() == NULL);
  tgm_file_iter_free(iter);
}

static void iterators(const tgm_bytes_t *bytes) {
  uint8_t *two = malloc(2 * bytes->len + 3);
  const uint8_t *message = NULL;
  size_t len = 0, total = 2 * bytes->len + 3;
  tgm_scan_result_t *scan = NULL;
  tgm_buffer_iter_t *iter = NULL;
  tgm_object_iter_t *objects = NULL;
  tgm_message_t *object = NULL;
  CHECK(two != NULL);
  memcpy(two, bytes->data, bytes->len);
  memcpy(two + bytes->len, "???", 3);
  memcpy(two + bytes->len + 3, bytes->data, bytes->len);
  OK(tgm_scan(two, total, &scan));
  CHECK(tgm_scan_count(scan) == 2 && tgm_scan_entry(scan, 1).offset == bytes->len + 3);
  CHECK(tgm_scan_entry(scan, 1).length == bytes->len && tgm_scan_entry(scan, 2).offset == SIZE_MAX);
  CHECK(tgm_last_error_code() == TGM_ERROR_INVALID_ARG);
  tgm_scan_free(scan);
  OK(tgm_scan(NULL, 0, &scan));
  CHECK(tgm_scan_count(scan) == 0);
  tgm_scan_free(scan);
  OK(tgm_buffer_iter_create(two, total, &iter));
  CHECK(tgm_buffer_iter_count(iter) == 2);
  OK(tgm_buffer_iter_next(iter, &message, &len));
  CHECK(message == two && len == bytes->len);
  OK(tgm_buffer_iter_next(iter, &message, &len));
  CHECK(message == two + bytes->len + 3);
  FAILS(TGM_ERROR_END_OF_ITER, tgm_buffer_iter_next(iter, &message, &len));
  FAILS(TGM_ERROR_END_OF_ITER, tgm_buffer_iter_next(iter, &message, &len));
  tgm_buffer_iter_free(iter);
  OK(tgm_object_iter_create(two, total, 1, 0, &objects));
  free(two); /* the iterator has its own copy */
  OK(tgm_object_iter_next(objects, &object));
  CHECK(tgm_message_num_objects(object) == 1 && memcmp(tgm_object_data(object, 0, NULL), floats, 24) == 0);
  tgm_message_free(object);
  tgm_object_iter_free(objects);
}

/* Appends to the buffer that `user` is. Refuses more than it has room for. */
struct sink {
  uint8_t bytes[4096];
  size_t len, room;
  /* If this is an encoder, it is called from inside of its own call. */
  tgm_streaming_encoder_t *own;
};
static int32_t take(void *user, const uint8_t *data, size_t len) {
  struct sink *sink = user;
  if (sink->own != NULL) {
    FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_write(sink->own, FLOATS, (const uint8_t *)floats, 24));
    SAYS("another call uses the streaming encoder");
    CHECK(tgm_streaming_encoder_count(sink->own) == 0);
  }
  if (len > sink->room - sink->len)
    return 5;
  memcpy(sink->bytes + sink->len, data, len);
  sink->len += len;
  return 0;
}

static void writers(void) {
  static struct sink sink;
  tgm_streaming_encoder_t *encoder = NULL;
  tgm_message_t *message = NULL;
  sink.room = sizeof sink.bytes;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_create_writer(NULL, &sink, "{}", NULL, &encoder));
  OK(tgm_streaming_encoder_create_writer(take, &sink, "{\"run\":7}", NULL, &encoder));
  sink.own = encoder;
  OK(tgm_streaming_encoder_write(encoder, FLOATS, (const uint8_t *)floats, sizeof floats));
  sink.own = NULL;
  FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_finish_backfill(encoder));
  OK(tgm_streaming_encoder_finish(encoder));
  tgm_streaming_encoder_free(encoder);
  OK(tgm_decode(sink.bytes, sink.len, 1, 0, 1, &message));
  CHECK(memcmp(tgm_object_data(message, 0, NULL), floats, sizeof floats) == 0);
  tgm_message_free(message);
  OK(tgm_streaming_encoder_create_writer(take, &sink, "{}", NULL, &encoder));
  sink.room = sink.len;
  FAILS(TGM_ERROR_IO, tgm_streaming_encoder_write(encoder, FLOATS, (const uint8_t *)floats, sizeof floats));
  SAYS("the writing function returned 5");
  tgm_streaming_encoder_free(encoder);
}

static void streams(void) {
  tgm_streaming_encoder_t *encoder = NULL;
  const TgmEncodeMaskOptions unknown = {true, false, "paint", NULL, NULL, -1};
  tgm_archive_t *archive = NULL;
  tgm_metadata_t *meta = NULL;
  tgm_bytes_t out = {NULL, 0};
  char name[4096];
  FILE *old;
  strcpy(name, file_in(scratch, "stream.tgm"));
  remove(name);
  FAILS(TGM_ERROR_IO, tgm_streaming_encoder_create("/nowhere/at/all", "{}", NULL, 0, &encoder));
  FAILS(TGM_ERROR_METADATA, tgm_streaming_encoder_create(name, "{", NULL, 0, &encoder));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_create(name, "{}", "md5", 0, &encoder));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_create_with_options(name, "{}", NULL, 0, &unknown, &encoder));
  old = fopen(name, "rb");
  CHECK(old == NULL); /* wrong options leave no file behind */
  OK(tgm_streaming_encoder_create(name, "{\"run\":7}", "xxh3", 0, &encoder));
  OK(tgm_streaming_encoder_write_preceder(encoder, "{\"step\":6}"));
  FAILS(TGM_ERROR_FRAMING, tgm_streaming_encoder_write_preceder(encoder, "{}"));
  OK(tgm_streaming_encoder_write(encoder, FLOATS, (const uint8_t *)floats, sizeof floats));
  CHECK(tgm_streaming_encoder_count(encoder) == 1);
  FAILS(TGM_ERROR_METADATA, tgm_streaming_encoder_write_preceder(encoder, "[]"));
  SAYS("metadata_json must be a JSON object");
  FAILS(TGM_ERROR_METADATA, tgm_streaming_encoder_write_preceder(encoder, "{\"_reserved_\":1}"));
  FAILS(TGM_ERROR_METADATA, tgm_streaming_encoder_write(encoder, "{", (const uint8_t *)floats, 24));
  SAYS("failed to parse descriptor JSON: ");
  FAILS(TGM_ERROR_METADATA, tgm_streaming_encoder_write(encoder, FLOATS, (const uint8_t *)floats, 23));
  OK(tgm_streaming_encoder_write(encoder, DOUBLES(""), (const uint8_t *)doubles, sizeof doubles));
  OK(tgm_streaming_encoder_finish(encoder));
  CHECK(tgm_streaming_encoder_count(encoder) == 0);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_finish(encoder));
  SAYS("streaming encoder already finished");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_streaming_encoder_write(encoder, FLOATS, (const uint8_t *)floats, 24));
  tgm_streaming_encoder_free(encoder);
  OK(tgm_archive_open(name, &archive));
  OK(tgm_archive_metadata(archive, 0, &meta));
  CHECK(tgm_metadata_get_int(meta, "step", -1) == 6 && tgm_metadata_get_int(meta, "run", -1) == 7);
  tgm_metadata_free(meta);
  tgm_archive_close(archive);
  OK(tgm_validate_file(name, "full", 1, &out));
  CHECK(out.len > 0);
  tgm_bytes_free(out);
  OK(tgm_streaming_encoder_create(name, "{}", NULL, 0, &encoder));
  OK(tgm_streaming_encoder_write_preceder(encoder, "{}"));
  FAILS(TGM_ERROR_FRAMING, tgm_streaming_encoder_finish(encoder)); /* dangling */
  tgm_streaming_encoder_free(encoder);
  OK(tgm_streaming_encoder_create(name, "{}", NULL, 0, &encoder));
  tgm_streaming_encoder_free(encoder); /* not ended */
}

static bool holds(const tgm_bytes_t *bytes, const char *text) {
  const size_t len = strlen(text);
  size_t i;
  for (i = 0; i + len <= bytes->len; i++)
    if (memcmp(bytes->data + i, text, len) == 0)
      return true;
  return false;
}

static void validation(const tgm_bytes_t *bytes) {
  tgm_bytes_t out = {NULL, 0};
  OK(tgm_validate(bytes->data, bytes->len, NULL, 1, &out));
  CHECK(holds(&out, "{\"issues\":[],\"object_count\":2,\"hash_verified\":true}"));
  tgm_bytes_free(out);
  OK(tgm_validate(NULL, 0, "quick", 0, &out));
  CHECK(holds(&out, "\"severity\":\"error\"") && holds(&out, "\"hash_verified\":false"));
  tgm_bytes_free(out);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_validate(bytes->data, bytes->len, "Quick", 0, &out));
  FAILS(TGM_ERROR_IO, tgm_validate_file(file_in(scratch, "missing.tgm"), NULL, 0, &out));
  OK(tgm_doctor_to_json(&out));
  CHECK(holds(&out, "{\"build\":{\"version\":") && !holds(&out, "\"outcome\":\"failed\""));
  tgm_bytes_free(out);
}

int main(int argc, char **argv) {
  tgm_bytes_t bytes;
  if (argc != 3) {
    fprintf(stderr, "usage: calls DATA SCRATCH\n");
    return 2;
  }
  scratch = argv[2];
  errors();
  versions();
  bytes = encoded("xxh3");
  objects(&bytes);
  digests(&bytes);
  metadata(&bytes);
  json();
  ranges(&bytes);
  non_finite();
  pre_encoded();
  files(&bytes);
  iterators(&bytes);
  streams();
  writers();
  validation(&bytes);
  tgm_bytes_free(bytes);
  puts("calls: ok");
  return 0;
}
