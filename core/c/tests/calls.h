/* Arguments for the calls that calls.py writes: every one is valid, so that only the changed one can be wrong. */
#ifndef CALLS_H
#define CALLS_H

#include <stdio.h>
#include <string.h>

#include "tgm_core.h"

#define ANY 12345

/* Messages with packed values: the first one is compressed by szip. */
static uint8_t bytes[4096], packed[4096];
static size_t bytes_len, packed_len;
/* {"a": {"b": 1}} */
static const uint8_t cbor[48] = {0xa1, 0x61, 'a', 0xa1, 0x61, 'b', 1};
static const uint8_t descriptor[48] = {0}, stream[48] = {0};
static uint8_t buffer[64], scratch[64];
static float floats[8];
static double doubles[8];
static uint64_t memory[512], offsets[8];
static size_t position;
static tgmc_push_t *push;
static tgmc_message_t a_message;
static tgmc_frames_t a_frames;
static tgmc_frames_t a_objects;
static tgmc_object_t a_object;
static tgmc_value_t a_value;
static tgmc_unpacker_t a_unpacker;
static tgmc_szip_unpacker_t a_szip_unpacker;
static tgmc_error_t a_error;
static tgmc_slice_t a_slice;
static tgmc_frame_info_t a_frame_info;
static tgmc_object_info_t a_object_info;
static tgmc_szip_params_t a_szip_params = {8, 8, 2, 8};
static tgmc_event_t a_event;
static uint8_t a_uint8;
static uint64_t a_uint64;
static int64_t a_int64;
static double a_double;
static size_t a_size;

static int checks, failures;

/* An address that no struct can have. */
static void *odd(const void *place) {
    return (void *)((uintptr_t)place + 1);
}

/* Fills all structs, and makes the unpackers. */
static tgmc_status_t fill(void) {
    tgmc_object_info_t info;
    if (tgmc_message_open(&a_message, packed, packed_len, NULL) != TGMC_OK ||
        tgmc_object_open(&a_message, 0, &a_object, NULL) != TGMC_OK ||
        tgmc_object_info(&a_object, &info, NULL) != TGMC_OK ||
        tgmc_unpacker_init(&a_unpacker, info.descriptor.data, info.descriptor.len, NULL) != TGMC_OK) {
        return -1;
    }
    if (tgmc_message_open(&a_message, bytes, bytes_len, NULL) != TGMC_OK ||
        tgmc_object_open(&a_message, 0, &a_object, NULL) != TGMC_OK ||
        tgmc_object_info(&a_object, &info, NULL) != TGMC_OK ||
        tgmc_szip_unpacker_init(&a_szip_unpacker, info.descriptor.data, info.descriptor.len, NULL) != TGMC_OK) {
        return -1;
    }
    if (tgmc_frames_init(&a_frames, &a_message, NULL) != TGMC_OK ||
        tgmc_objects_init(&a_objects, &a_message, NULL) != TGMC_OK ||
        tgmc_value_open(&a_value, cbor, sizeof cbor, NULL) != TGMC_OK ||
        tgmc_push_init(memory, sizeof memory, TGMC_LINK_LOSSY, &push, NULL) != TGMC_OK) {
        return -1;
    }
    return TGMC_OK;
}

/* Refills what calls have changed. */
static void prepare(void) {
    position = 0;
    a_uint8 = 0;
    a_uint64 = 0;
    a_int64 = 0;
    a_double = 0;
    a_size = 0;
    a_slice.data = bytes;
    a_slice.len = 0;
    if (fill() != TGMC_OK) {
        printf("cannot prepare\n");
        failures++;
    }
}

static size_t read_file(const char *path, uint8_t *out, size_t room) {
    FILE *file = fopen(path, "rb");
    size_t len = 0;
    if (file != NULL) {
        len = fread(out, 1, room, file);
        fclose(file);
    }
    return len;
}

/* Reads the messages. */
static void begin(int argc, char **argv) {
    if (argc == 3) {
        bytes_len = read_file(argv[1], bytes, sizeof bytes);
        packed_len = read_file(argv[2], packed, sizeof packed);
    }
    prepare();
}

static void check(long found, long expected, const char *what) {
    checks++;
    if (expected == ANY ? found <= TGMC_E_NULL : found != expected) {
        printf("%s: %ld instead of %ld\n", what, found, expected);
        failures++;
    }
    prepare();
}

#define CHECK(call, expected, what) check((long)(call), expected, what)
#define CHECK_ZERO(call, what) check((long)(call), 0, what)

static int finish(void) {
    printf("%d calls\n", checks);
    return failures != 0;
}

#endif
