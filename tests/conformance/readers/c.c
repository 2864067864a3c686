/* A reader for run.py out of the C functions that this library and the reference have:
 *
 *   cc c.c $(pkg-config --cflags --libs tensogram) -o reader-c
 *   python3 ../run.py ./reader-c --without metadata
 */
#include "reader.h"
#include "tensogram.h"

static void digest_object(const tgm_message_t *message, size_t index) {
  size_t size = 0;
  const uint8_t *values = tgm_object_data(message, index, &size);
  const uint64_t *shape = tgm_object_shape(message, index);
  char digits[65];
  sha256(values, size, digits);
  printf("{\"dtype\": \"%s\", \"shape\": [", tgm_object_dtype(message, index));
  for (uint64_t i = 0; i < tgm_object_ndim(message, index); i++)
    printf("%s%llu", i == 0 ? "" : ", ", (unsigned long long)shape[i]);
  printf("], \"bytes\": %zu, \"sha256\": \"%s\"}", size, digits);
}

/* Prints the digests of all messages. Returns whether bytes of the file cannot be read. */
static int digest(file_bytes file) {
  tgm_scan_result_t *found = NULL;
  size_t covered = 0;
  int is_wrong = tgm_scan(file.data, file.size, &found) != TGM_ERROR_OK;
  size_t count = is_wrong ? 0 : tgm_scan_count(found);
  printf("{\"messages\": [");
  for (size_t i = 0; i < count; i++) {
    tgm_scan_entry_t entry = tgm_scan_entry(found, i);
    tgm_message_t *message = NULL;
    covered += entry.length;
    printf("%s{\"offset\": %zu, \"length\": %zu, ", i == 0 ? "" : ", ", (size_t)entry.offset, (size_t)entry.length);
    if (tgm_decode(file.data + entry.offset, entry.length, 1, 1, 0, &message) != TGM_ERROR_OK) {
      printf("\"error\": \"refused\"}");
      is_wrong = 1;
      continue;
    }
    printf("\"objects\": [");
    for (size_t k = 0; k < tgm_message_num_objects(message); k++) {
      if (k != 0)
        printf(", ");
      digest_object(message, k);
    }
    printf("]}");
    tgm_message_free(message);
  }
  printf("]}\n");
  tgm_scan_free(found);
  return is_wrong || covered != file.size;
}

static int validate(const char *path) {
  tgm_bytes_t report = {NULL, 0};
  if (tgm_validate_file(path, "full", 0, &report) != TGM_ERROR_OK)
    return 1;
  char *text = (char *)calloc(report.len + 1, 1);
  memcpy(text, report.data, report.len);
  tgm_bytes_free(report);
  int is_wrong = has_errors(text);
  puts(text);
  free(text);
  return is_wrong;
}

/* A part of decoded values, of which the whole was needed. Bits begin with a new byte. */
static void write_part(const char *path, const tgm_message_t *message, size_t index, uint64_t start, uint64_t count) {
  size_t size = 0;
  const uint8_t *values = tgm_object_data(message, index, &size);
  if (strcmp(tgm_object_dtype(message, index), "bitmask") == 0) {
    uint8_t *bits = (uint8_t *)calloc(count / 8 + 1, 1);
    for (uint64_t i = 0; i < count; i++)
      bits[i / 8] |= (uint8_t)((values[(start + i) / 8] >> (7 - (start + i) % 8) & 1) << (7 - i % 8));
    write_file(path, bits, (count + 7) / 8);
    free(bits);
    return;
  }
  uint64_t elements = 1;
  for (uint64_t i = 0; i < tgm_object_ndim(message, index); i++)
    elements *= tgm_object_shape(message, index)[i];
  size_t each = elements == 0 ? 0 : size / elements;
  write_file(path, values + start * each, count * each);
}

static int extract(file_bytes file, int count, char **words) {
  size_t index = strtoul(option(count, words, "--message"), NULL, 10);
  size_t object = strtoul(option(count, words, "--object"), NULL, 10);
  char *end = NULL;
  uint64_t start = strtoull(option(count, words, "--range"), &end, 10), length = strtoull(end + 1, NULL, 10);
  const char *output = option(count, words, "--output");
  tgm_scan_result_t *found = NULL;
  if (tgm_scan(file.data, file.size, &found) != TGM_ERROR_OK)
    return 1;
  tgm_scan_entry_t entry = tgm_scan_entry(found, index);
  tgm_scan_free(found);
  if (entry.length == 0)
    return 1;
  tgm_bytes_t part = {NULL, 0};
  size_t parts = 0;
  const uint8_t *bytes = file.data + entry.offset;
  if (tgm_decode_range(bytes, entry.length, object, &start, &length, 1, 1, 1, 1, &part, &parts) == TGM_ERROR_OK) {
    write_file(output, part.data, part.len);
    tgm_bytes_free(part);
    return 0;
  }
  /* Stages of which no part can be decoded by itself. */
  tgm_message_t *message = NULL;
  if (tgm_decode(bytes, entry.length, 1, 1, 0, &message) != TGM_ERROR_OK)
    return 1;
  write_part(output, message, object, start, length);
  tgm_message_free(message);
  return 0;
}

int main(int count, char **words) {
  const char *path = file_of(count, words);
  if (count > 2 && strcmp(words[1], "validate") == 0)
    return validate(path);
  file_bytes file = read_file(path);
  int status = count > 2 && strcmp(words[1], "extract") == 0 ? extract(file, count, words) : digest(file);
  free(file.data);
  return status;
}
