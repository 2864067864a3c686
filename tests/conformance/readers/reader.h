/* What the readers in C and C++ share: files, command lines, the SHA-256 of FIPS 180-4. The machine has the least significant byte
 * first, as values are hashed so. */
#ifndef READER_H
#define READER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint8_t *data;
  size_t size;
} file_bytes;

/* All bytes of a file. Ends the program if it cannot be read. */
static file_bytes read_file(const char *path) {
  file_bytes bytes = {NULL, 0};
  FILE *file = fopen(path, "rb");
  size_t room = 1 << 16, found = 0;
  while (file != NULL && (found = fread((bytes.data = (uint8_t *)realloc(bytes.data, bytes.size + room)) + bytes.size, 1,
                                        room, file)) > 0)
    bytes.size += found;
  if (file == NULL || ferror(file)) {
    perror(path);
    exit(1);
  }
  fclose(file);
  return bytes;
}

static void write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

/* The word after an option, or NULL. */
static const char *option(int count, char **words, const char *name) {
  for (int i = 0; i + 1 < count; i++)
    if (strcmp(words[i], name) == 0)
      return words[i + 1];
  return NULL;
}

/* The file: the first word after the command that does not begin with "--". */
static const char *file_of(int count, char **words) {
  for (int i = 2; i < count; i++)
    if (strncmp(words[i], "--", 2) != 0)
      return words[i];
  return "";
}

/* Whether a report of validation names an error. Values that are not finite are within the format. */
static int has_errors(const char *report) {
  const char *at = report;
  while ((at = strstr(at, "\"severity\":\"error\"")) != NULL) {
    const char *begin = at, *end = strchr(at, '}');
    while (begin > report && *begin != '{')
      begin--;
    size_t size = end == NULL ? strlen(begin) : (size_t)(end - begin);
    char *issue = (char *)calloc(size + 1, 1);
    memcpy(issue, begin, size);
    int is_allowed = strstr(issue, "nan_detected") != NULL || strstr(issue, "inf_detected") != NULL;
    free(issue);
    if (!is_allowed)
      return 1;
    at++;
  }
  return strstr(report, "\"file_issues\":[{") != NULL;
}

static uint32_t turned(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void sha256_block(uint32_t state[8], const uint8_t *block, const uint32_t constants[64]) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
           (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                   constants[i] + w[i];
    uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof s[0]);
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; i++)
    state[i] += s[i];
}

/* The fraction of a root of a prime: 32 bits of it. */
static uint32_t fraction(uint32_t prime, int power) {
  /* The greatest number whose power is at most the prime by 2 to the power of 32 times `power`. */
  unsigned __int128 root = 0, aim = (unsigned __int128)prime << (32 * power);
  for (int bit = 36; bit >= 0; bit--) {
    unsigned __int128 more = root | (unsigned __int128)1 << bit;
    if ((power == 2 ? more * more : more * more * more) <= aim)
      root = more;
  }
  return (uint32_t)root;
}

/* Writes the digest as 64 digits and a zero. */
static void sha256(const uint8_t *data, size_t size, char digits[65]) {
  uint32_t state[8], constants[64];
  for (uint32_t prime = 2, found = 0; found < 64; prime++) {
    uint32_t by = 2;
    while (by * by <= prime && prime % by != 0)
      by++;
    if (by * by <= prime)
      continue;
    if (found < 8)
      state[found] = fraction(prime, 2);
    constants[found++] = fraction(prime, 3);
  }
  uint8_t tail[128] = {0};
  size_t whole = size / 64 * 64, rest = size - whole, padded = rest < 56 ? 64 : 128;
  if (rest != 0)
    memcpy(tail, data + whole, rest);
  tail[rest] = 0x80;
  for (int i = 0; i < 8; i++)
    tail[padded - 1 - i] = (uint8_t)((uint64_t)size * 8 >> (8 * i));
  for (size_t at = 0; at < whole; at += 64)
    sha256_block(state, data + at, constants);
  for (size_t at = 0; at < padded; at += 64)
    sha256_block(state, tail + at, constants);
  for (int i = 0; i < 8; i++)
    snprintf(digits + 8 * i, 9, "%08x", (unsigned)state[i]);
}

#endif
