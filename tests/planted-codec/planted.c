/* from_c OUT VALUES: writes 1000 float32 of a file with the planted codec, and reads them back whole and in part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tgm.h"

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TGM_ERROR_OK) {                                                                                      \
      fprintf(stderr, "%s: %s\n", #call, tgm_last_error());                                                            \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)
#define CHECK(truth)                                                                                                   \
  do {                                                                                                                 \
    if (!(truth)) {                                                                                                    \
      fprintf(stderr, "not so: %s\n", #truth);                                                                         \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

int main(int argc, char **argv) {
  static float values[1000], found[1000];
  static const char json[] =
      "{\"descriptors\":[{\"type\":\"ntensor\",\"ndim\":1,\"shape\":[1000],\"strides\":[1],\"dtype\":\"float32\","
      "\"byte_order\":\"little\",\"encoding\":\"none\",\"filter\":\"none\",\"compression\":\"planted\"}]}";
  const uint8_t *data = (const uint8_t *)values;
  size_t len = sizeof values, count = 0;
  uint64_t start = 10, many = 10;
  tgm_bytes_t message = {NULL, 0}, part = {NULL, 0};
  tgm_message_t *decoded = NULL;
  tgm_archive_t *archive = NULL;
  tgm_object_t *object = NULL;
  FILE *file;
  CHECK(argc == 3 && (file = fopen(argv[2], "rb")) != NULL);
  CHECK(fread(values, 1, sizeof values, file) == sizeof values && fclose(file) == 0);

  CHECK(tgm_has_feature("planted") && tgm_has_feature("planted-decode"));
  OK(tgm_encode(json, &data, &len, 1, "xxh3", 0, &message));
  OK(tgm_check_message(message.data, message.len));
  OK(tgm_decode(message.data, message.len, 0, 0, 1, &decoded));
  CHECK(strcmp(tgm_object_compression(decoded, 0), "planted") == 0);
  tgm_message_free(decoded);
  OK(tgm_archive_open_bytes(message.data, message.len, &archive));
  OK(tgm_archive_object(archive, 0, 0, &object));
  OK(tgm_read_into(object, NULL, found, sizeof found));
  tgm_object_free(object);
  tgm_archive_close(archive);
  CHECK(memcmp(values, found, sizeof found) == 0);
  OK(tgm_decode_range(message.data, message.len, 0, &start, &many, 1, 0, 0, 0, &part, &count));
  CHECK(count == 1 && part.len == 40 && memcmp(part.data, values + 10, 40) == 0);
  tgm_bytes_free(part);
  CHECK((file = fopen(argv[1], "wb")) != NULL);
  CHECK(fwrite(message.data, 1, message.len, file) == message.len && fclose(file) == 0);
  tgm_bytes_free(message);
  return 0;
}
