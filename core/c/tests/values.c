/* Decodes the objects that expected.py lists, in several ways, and compares the digests.
 *
 *     values DATA LIST
 *
 * Every message is also pushed in pieces, and its objects are found by a walk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "tgm_core.h"

static int failures;

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s: line %d: %s\n", name, __LINE__, #condition);                                                   \
            failures++;                                                                                                \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

static uint8_t *allocate(size_t len) {
    uint8_t *memory = (uint8_t *)malloc(len + 1);
    if (memory == NULL) {
        exit(2);
    }
    return memory;
}

static uint8_t *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long size;
    if (file == NULL) {
        printf("%s is missing\n", path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    bytes = allocate((size_t)size);
    *len = fread(bytes, 1, (size_t)size, file);
    fclose(file);
    return bytes;
}

static int is_digest(const uint8_t *bytes, size_t len, const char *expected) {
    char digest[65];
    sha256_hex(bytes, len, digest);
    return strcmp(digest, expected) == 0;
}

/* The second half of the values is that half of all values. */
static void check_range(const char *name, const tgmc_object_t *object, const tgmc_object_info_t *info,
                        const uint8_t *all, size_t len, uint8_t *scratch, size_t scratch_len) {
    uint64_t start = info->element_count / 16 * 8;
    size_t part_len, before;
    uint8_t *part;
    int is_same;
    REQUIRE(tgmc_object_decoded_len(object, start, info->element_count - start, &part_len, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_decoded_len(object, 0, start, &before, NULL) == TGMC_OK);
    REQUIRE(before + part_len == len);
    part = allocate(part_len);
    is_same = tgmc_object_decode(object, start, info->element_count - start, TGMC_LITTLE, part, part_len, scratch,
                                 scratch_len, NULL) == TGMC_OK;
    is_same = is_same && (info->dtype == TGMC_BITMASK || memcmp(part, all + before, part_len) == 0);
    free(part);
    REQUIRE(is_same);
}

/* Values as floats are the values. */
static void check_floats(const char *name, const tgmc_object_t *object, const tgmc_object_info_t *info,
                         const uint8_t *native, uint8_t *scratch, size_t scratch_len) {
    size_t count = (size_t)info->element_count, at;
    double *doubles = (double *)(void *)allocate(count * sizeof(double));
    int is_same = tgmc_object_read_f64(object, doubles, count, scratch, scratch_len, NULL) == TGMC_OK;
    for (at = 0; at < count && is_same; at++) {
        double value;
        if (info->dtype == TGMC_FLOAT64) {
            memcpy(&value, native + at * sizeof value, sizeof value);
        } else {
            float single;
            memcpy(&single, native + at * sizeof single, sizeof single);
            value = (double)single;
        }
        is_same = memcmp(&value, &doubles[at], sizeof value) == 0 || (value != value && doubles[at] != doubles[at]);
    }
    free(doubles);
    REQUIRE(is_same);
}

static void check_object(const char *name, const tgmc_object_t *object, size_t nbytes, const char *digest,
                         int is_known) {
    tgmc_object_info_t info;
    tgmc_error_t error;
    tgmc_status_t status;
    tgmc_slice_t view;
    size_t len, scratch_len = 0;
    uint8_t *values, *scratch;
    uint8_t swapped;
    memset(&error, 0, sizeof error);
    REQUIRE(tgmc_object_info(object, &info, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_decoded_len(object, 0, info.element_count, &len, NULL) == TGMC_OK);
    REQUIRE(len == nbytes && len == info.decoded_len);
    status = tgmc_object_verify(object, NULL);
    REQUIRE(status == TGMC_OK || status == TGMC_END);
    status = tgmc_object_scratch_len(object, &scratch_len, &error);
    if (!is_known && status != TGMC_OK) {
        REQUIRE(status == TGMC_E_NEEDS_DECODING && error.kind == status);
        return;
    }
    values = allocate(len);
    scratch = allocate(scratch_len);
    status = tgmc_object_decode(object, 0, info.element_count, TGMC_LITTLE, values, len, scratch, scratch_len, &error);
    if (!is_known) {
        REQUIRE(status == TGMC_E_NEEDS_DECODING && error.kind == status);
    } else {
        if (status != TGMC_OK) {
            printf("%s: kind %d (%s), detail %u at byte %llu\n", name, (int)status, tgmc_kind_name(status),
                   (unsigned)error.detail, (unsigned long long)error.offset);
        }
        REQUIRE(status == TGMC_OK);
        REQUIRE(is_digest(values, len, digest));
        check_range(name, object, &info, values, len, scratch, scratch_len);
        status = tgmc_object_view(object, &view, &swapped, &error);
        if (info.pending == TGMC_STAGE_NONE) {
            REQUIRE(status == TGMC_OK && view.len == len);
            REQUIRE(swapped <= 1);
            memcpy(values, view.data, view.len);
            if (info.byte_order == TGMC_BIG && info.dtype == TGMC_FLOAT32) {
                REQUIRE(tgmc_swap(values, len, 4, NULL) == TGMC_OK);
                REQUIRE(is_digest(values, len, digest));
            }
        } else {
            REQUIRE(status == TGMC_E_NEEDS_DECODING && (error.detail & 0xffff) == info.pending);
        }
        if (info.dtype == TGMC_FLOAT64 || info.dtype == TGMC_FLOAT32) {
            REQUIRE(tgmc_object_decode(object, 0, info.element_count, TGMC_NATIVE, values, len, scratch, scratch_len,
                                       NULL) == TGMC_OK);
            check_floats(name, object, &info, values, scratch, scratch_len);
        }
    }
    free(scratch);
    free(values);
}

/* A message in pieces has the frames and objects of the whole message. */
static void check_push(const char *name, tgmc_slice_t message, uint64_t objects) {
    size_t size = tgmc_push_size(4096), at;
    uint8_t *memory = allocate(size);
    uint64_t found = 0, ends = 0;
    tgmc_push_t *push;
    REQUIRE(size > 4096 && tgmc_push_init(memory + 1, size - 1, TGMC_LINK_RELIABLE, &push, NULL) == TGMC_OK);
    for (at = 0; at < message.len; at += 61) {
        tgmc_slice_t piece;
        tgmc_event_t event;
        tgmc_status_t status;
        piece.data = message.data + at;
        piece.len = message.len - at < 61 ? message.len - at : 61;
        while ((status = tgmc_push_next(push, &piece, &event, NULL)) == TGMC_OK) {
            REQUIRE(event.verdict != TGMC_DIGEST_MISMATCH);
            if (event.kind == TGMC_EVENT_MESSAGE_END) {
                found = event.region;
                ends++;
            }
        }
        REQUIRE(status == TGMC_END && piece.len == 0);
    }
    REQUIRE(tgmc_push_finish(push, NULL) == TGMC_OK);
    REQUIRE(ends == 1 && found == objects);
    free(memory);
}

static void check_message(const char *name, tgmc_slice_t bytes, unsigned index, size_t nbytes, const char *digest,
                          int is_known) {
    tgmc_message_t message;
    tgmc_objects_t walk;
    tgmc_frames_t frames;
    tgmc_frame_info_t frame;
    tgmc_object_t object, opened;
    tgmc_status_t status;
    uint64_t good, bad, count, seen = 0;
    REQUIRE(tgmc_message_open(&message, bytes.data, bytes.len, NULL) == TGMC_OK);
    REQUIRE(tgmc_message_object_count(&message, &count, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_open(&message, index, &opened, NULL) == TGMC_OK);
    check_object(name, &opened, nbytes, digest, is_known);
    REQUIRE(tgmc_objects_init(&walk, &message, NULL) == TGMC_OK);
    while ((status = tgmc_objects_next(&walk, &object, NULL)) == TGMC_OK) {
        REQUIRE(seen != index || memcmp(&object, &opened, sizeof object) == 0);
        seen++;
    }
    REQUIRE(status == TGMC_END && seen == count);
    REQUIRE(tgmc_objects_next(&walk, &object, NULL) == TGMC_END);
    REQUIRE(tgmc_object_open(&message, count, &object, NULL) == TGMC_E_OBJECT_OUT_OF_RANGE);
    if (index == 0) {
        status = tgmc_message_verify(&message, &good, &bad, NULL);
        REQUIRE((status == TGMC_OK ? good > 0 : status == TGMC_END && good == 0) && bad == TGMC_NO_OBJECT);
        seen = 0;
        REQUIRE(tgmc_frames_init(&frames, &message, NULL) == TGMC_OK);
        while ((status = tgmc_frames_next(&frames, &frame, NULL)) == TGMC_OK) {
            seen += frame.type == TGMC_FRAME_OBJECT;
        }
        REQUIRE(status == TGMC_END && seen == count);
        check_push(name, bytes, count);
    }
}

static void check_line(const char *folder, const char *name, unsigned message, unsigned index, size_t nbytes,
                       const char *digest, int is_known) {
    char path[1024];
    uint8_t *bytes;
    size_t len, position = 0;
    tgmc_slice_t found;
    unsigned left = message + 1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bytes = read_file(path, &len);
    for (; left > 0; left--) {
        REQUIRE(tgmc_scan(bytes, len, &position, &found, NULL) == TGMC_OK);
    }
    check_message(name, found, index, nbytes, digest, is_known);
    free(bytes);
}

int main(int argc, char **argv) {
    FILE *list = argc == 3 ? fopen(argv[2], "r") : NULL;
    char name[512], digest[128];
    unsigned message, index;
    unsigned long nbytes;
    int is_known, lines = 0, decoded = 0;
    if (list == NULL || tgmc_layout_check(TGMC_LAYOUT) != TGMC_OK) {
        return 2;
    }
    while (fscanf(list, "%511s %u %u %lu %127s %d", name, &message, &index, &nbytes, digest, &is_known) == 6) {
        check_line(argv[1], name, message, index, nbytes, digest, is_known);
        lines++;
        decoded += is_known;
    }
    fclose(list);
    printf("%d objects, %d decoded, %d failures\n", lines, decoded, failures);
    return failures != 0 || decoded < 500;
}
