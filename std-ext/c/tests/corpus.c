/* Decodes a list of files in every way, and compares the values with known digests.
 *
 * Arguments: the list. A line is FILE MESSAGE OBJECT BYTES SHA256, separated by tabs; a line with FILE alone is a file
 * that may have any defect: it is only read, by every function that reads. */
#include "check.h"

#include "../../../core/c/tests/sha256.h"

static uint8_t *read_file(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  uint8_t *bytes;
  long size;
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  rewind(file);
  bytes = malloc((size_t)size + 1);
  CHECK(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  *len = (size_t)size;
  return bytes;
}

/* Values of all ways have this digest. */
static void equals(const char *where, const uint8_t *data, size_t len, size_t bytes, const char *digest) {
  char hex[65];
  sha256_hex(data, len, hex);
  if (len != bytes || strcmp(hex, digest) != 0) {
    fprintf(stderr, "%s: %lu bytes with digest %s, expected %lu with %s\n", where, (unsigned long)len, hex,
            (unsigned long)bytes, digest);
    exit(1);
  }
}

/* Decodes an object in every way. */
static void expect(const uint8_t *message, size_t message_len, const char *where, size_t object, size_t bytes,
                   const char *digest) {
  tgm_message_t *decoded = NULL;
  tgm_object_iter_t *iter = NULL;
  tgm_archive_t *archive = NULL;
  tgm_object_t *opened = NULL;
  const void *borrowed = NULL;
  const uint8_t *data;
  uint8_t *into;
  size_t len = 0, i;
  OK(tgm_decode(message, message_len, 1, 2, 0, &decoded));
  data = tgm_object_data(decoded, object, &len);
  equals(where, data, len, bytes, digest);
  tgm_message_free(decoded);
  OK(tgm_decode_object(message, message_len, object, 1, 0, 0, &decoded));
  data = tgm_object_data(decoded, 0, &len);
  equals(where, data, len, bytes, digest);
  tgm_message_free(decoded);
  OK(tgm_object_iter_create(message, message_len, 1, 0, &iter));
  for (i = 0; i <= object; i++) {
    OK(tgm_object_iter_next(iter, &decoded));
    if (i == object) {
      data = tgm_object_data(decoded, 0, &len);
      equals(where, data, len, bytes, digest);
    }
    tgm_message_free(decoded);
  }
  tgm_object_iter_free(iter);
  OK(tgm_archive_open_bytes(message, message_len, &archive));
  OK(tgm_archive_object(archive, 0, object, &opened));
  tgm_archive_close(archive); /* the object keeps it */
  OK(tgm_read_size(opened, NULL, NULL, 0, &len, &i));
  CHECK(i == bytes);
  into = malloc(bytes + 1);
  CHECK(into != NULL);
  OK(tgm_read_into(opened, NULL, into, bytes));
  equals(where, into, bytes, bytes, digest);
  if (tgm_read_view(opened, NULL, &borrowed, &len) == TGM_ERROR_OK)
    equals(where, borrowed, len, bytes, digest);
  free(into);
  tgm_object_free(opened);
}

/* Asks an archive of any bytes for all that it has. */
static void survive_archive(const tgm_archive_t *archive) {
  tgm_read_t first_row = TGM_READ_INIT;
  tgm_metadata_t *meta = NULL;
  tgm_object_t *object = NULL;
  const void *borrowed = NULL;
  const uint8_t *payload = NULL;
  size_t messages = 0, objects, ndim, size, len, i, k;
  first_row.selection = "0, ..";
  OK(tgm_archive_len(archive, &messages));
  for (i = 0; i < messages; i++) {
    (void)tgm_archive_verify(archive, i);
    if (tgm_archive_metadata(archive, i, &meta) == TGM_ERROR_OK)
      tgm_metadata_free(meta);
    if (tgm_archive_num_objects(archive, i, &objects) != TGM_ERROR_OK)
      continue;
    for (k = 0; k < objects && k < 100; k++) {
      if (tgm_archive_object(archive, i, k, &object) != TGM_ERROR_OK)
        continue;
      CHECK(tgm_object_descriptor_json(object) != NULL);
      (void)tgm_object_payload(object, &payload, &len);
      (void)tgm_read_view(object, NULL, &borrowed, &len);
      if (tgm_read_size(object, NULL, NULL, 0, &ndim, &size) == TGM_ERROR_OK && size < 1 << 20) {
        uint8_t *into = malloc(size + 1);
        CHECK(into != NULL);
        (void)tgm_read_into(object, NULL, into, size);
        if (tgm_read_size(object, &first_row, NULL, 0, &ndim, &len) == TGM_ERROR_OK && len <= size)
          (void)tgm_read_into(object, &first_row, into, len);
        free(into);
      }
      if (tgm_object_metadata(object, &meta) == TGM_ERROR_OK)
        tgm_metadata_free(meta);
      tgm_object_free(object);
    }
  }
}

/* Reads bytes of any kind with every function. Nothing but an end of the process would be a failure. */
static void survive(const uint8_t *bytes, size_t len, const char *name) {
  static const char *levels[4] = {"quick", "checksum", "default", "full"};
  tgm_message_t *message = NULL;
  tgm_metadata_t *meta = NULL;
  tgm_scan_result_t *scan = NULL;
  tgm_object_iter_t *iter = NULL;
  tgm_archive_t *archive = NULL;
  tgm_file_t *file = NULL;
  tgm_bytes_t out;
  size_t i, count = 0;
  uint64_t first = 0, some = 3;
  int verify;
  for (verify = 0; verify < 2; verify++)
    if (tgm_decode(bytes, len, 1, 0, verify, &message) == TGM_ERROR_OK) {
      for (i = 0; i < tgm_message_num_objects(message); i++)
        CHECK(tgm_object_data(message, i, NULL) != NULL && tgm_object_type(message, i) != NULL);
      OK(tgm_message_metadata(message, &meta));
      CHECK(tgm_metadata_to_json(meta) != NULL);
      tgm_metadata_free(meta);
      tgm_message_free(message);
    }
  if (tgm_decode_metadata(bytes, len, &meta) == TGM_ERROR_OK)
    tgm_metadata_free(meta);
  if (tgm_decode_object(bytes, len, 0, 1, 0, 1, &message) == TGM_ERROR_OK)
    tgm_message_free(message);
  if (tgm_decode_range(bytes, len, 0, &first, &some, 1, 1, 0, 1, &out, &count) == TGM_ERROR_OK)
    tgm_bytes_free(out);
  OK(tgm_scan(bytes, len, &scan));
  tgm_scan_free(scan);
  if (tgm_object_iter_create(bytes, len, 1, 1, &iter) == TGM_ERROR_OK) {
    message = NULL;
    while (tgm_object_iter_next(iter, &message) != TGM_ERROR_END_OF_ITER)
      if (message != NULL) {
        tgm_message_free(message);
        message = NULL;
      }
    tgm_object_iter_free(iter);
  }
  for (i = 0; i < 4; i++) {
    OK(tgm_validate(bytes, len, levels[i], 1, &out));
    tgm_bytes_free(out);
  }
  (void)tgm_check_message(bytes, len);
  OK(tgm_archive_open_bytes(bytes, len, &archive));
  survive_archive(archive);
  tgm_archive_close(archive);
  if (tgm_archive_open(name, &archive) == TGM_ERROR_OK) {
    survive_archive(archive);
    tgm_archive_close(archive);
  }
  OK(tgm_file_open(name, &file));
  OK(tgm_file_message_count(file, &count));
  for (i = 0; i < count; i++)
    if (tgm_file_decode_message(file, i, 1, 0, 0, &message) == TGM_ERROR_OK)
      tgm_message_free(message);
  tgm_file_close(file);
}

int main(int argc, char **argv) {
  FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
  char line[8192], loaded[4096] = "";
  uint8_t *bytes = NULL;
  size_t len = 0, values = 0, files = 0;
  tgm_scan_result_t *scan = NULL;
  if (list == NULL) {
    fprintf(stderr, "usage: corpus LIST\n");
    return 2;
  }
  while (fgets(line, sizeof line, list) != NULL) {
    char *name = strtok(line, "\t\n"), *message = strtok(NULL, "\t\n"), *object = strtok(NULL, "\t\n");
    char *size = strtok(NULL, "\t\n"), *digest = strtok(NULL, "\t\n"), where[4200];
    tgm_scan_entry_t entry;
    if (strcmp(loaded, name) != 0) {
      free(bytes);
      tgm_scan_free(scan);
      bytes = read_file(name, &len);
      OK(tgm_scan(bytes, len, &scan));
      strcpy(loaded, name);
    }
    if (message == NULL) {
      survive(bytes, len, name);
      files++;
      continue;
    }
    entry = tgm_scan_entry(scan, strtoul(message, NULL, 10));
    CHECK(entry.length > 0);
    sprintf(where, "%s: message %s, object %s", name, message, object);
    expect(bytes + entry.offset, entry.length, where, strtoul(object, NULL, 10), strtoul(size, NULL, 10), digest);
    values++;
  }
  free(bytes);
  tgm_scan_free(scan);
  fclose(list);
  printf("corpus: %lu objects equal, %lu damaged files read\n", (unsigned long)values, (unsigned long)files);
  return 0;
}
