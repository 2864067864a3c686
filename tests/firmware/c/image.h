/* What the images share: messages in flash, a buffer for values, a report by semihosting, and start-up. */
#ifndef IMAGE_H
#define IMAGE_H

#include "tgm_core.h"

/* A message, with the name of its file in tests/data. */
struct named {
    const char *name;
    const uint8_t *bytes;
    size_t len;
};

#define MESSAGES 4
#define VALUES_LEN 4096

/* Messages with plain, packed, compressed and masked values. */
struct named message(unsigned which);

/* What an image does, from start-up on. Its result is the machine's exit code. */
int run(uint8_t *values);

/* FNV-1a. For images that do not need the library's digest, which would weigh more than a kilobyte. */
uint64_t checksum(const uint8_t *bytes, size_t len);

/* A line: a word, then more words and numbers, then its end. */
void line(const char *word);
void word(const char *text);
void number(uint32_t value);
void hex(uint64_t value);
void end_line(void);

#endif
