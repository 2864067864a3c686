/* Everything that can be wrong: damaged messages, foreign bytes in structs, overlapping and unaligned memory.
 *
 *     hostile FILE...      runs all functions over the files, whole, cut short, and with changed bytes
 *
 * Run it with AddressSanitizer and UndefinedBehaviorSanitizer. Each file is in memory of its own length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tgm_core.h"

static int failures;

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("line %d: %s\n", __LINE__, #condition);                                                             \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

#define ROOM 4096

static uint64_t decoder_memory[512];

static uint32_t seed = 1;

static uint32_t draw(void) {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* A failing function has written what is wrong, and a successful one nothing. */
static void check(tgmc_status_t status, tgmc_error_t *error) {
    REQUIRE(status <= TGMC_END && status != TGMC_E_OTHER && status > TGMC_E_NULL);
    REQUIRE(status < 0 ? error->kind == status : error->kind == 0);
    error->kind = 0;
}

/* Looks at every item of a value, up to a depth. */
static void look_at(const tgmc_value_t *value, int depth) {
    tgmc_value_t key, item;
    tgmc_slice_t text;
    size_t len = 0, at;
    uint64_t number;
    int64_t integer;
    double real;
    uint8_t truth;
    (void)tgmc_value_bool(value, &truth, NULL);
    (void)tgmc_value_u64(value, &number, NULL);
    (void)tgmc_value_i64(value, &integer, NULL);
    (void)tgmc_value_f64(value, &real, NULL);
    (void)tgmc_value_text(value, &text, NULL);
    (void)tgmc_value_bytes(value, &text, NULL);
    (void)tgmc_value_kind(value);
    if (depth > 0 && tgmc_value_len(value, &len, NULL) == TGMC_OK) {
        for (at = 0; at < len && at < 16; at++) {
            REQUIRE(tgmc_value_at(value, at, &key, &item, NULL) == TGMC_OK);
            look_at(&item, depth - 1);
        }
        REQUIRE(tgmc_value_at(value, len, NULL, &item, NULL) == TGMC_END);
    }
}

static void use_object(const tgmc_object_t *object, tgmc_error_t *error) {
    static uint8_t out[ROOM], scratch[ROOM];
    static double doubles[ROOM];
    static float floats[ROOM];
    tgmc_object_info_t info;
    tgmc_unpacker_t unpacker;
    tgmc_szip_unpacker_t szip_unpacker;
    tgmc_slice_t view, chunk;
    tgmc_value_t value;
    uint64_t dim, start, count;
    size_t len, written;
    uint8_t swapped;
    check(tgmc_object_info(object, &info, error), error);
    check(tgmc_object_verify(object, error), error);
    check(tgmc_object_view(object, &view, &swapped, error), error);
    check(tgmc_object_dim(object, 3, &dim, error), error);
    check(tgmc_object_stride(object, 0, &dim, error), error);
    check(tgmc_object_scratch_len(object, &len, error), error);
    check(tgmc_object_parameter(object, "sp_bits_per_value", 17, &value, error), error);
    start = info.element_count / 3;
    count = info.element_count - start < 32 ? info.element_count - start : 32;
    check(tgmc_object_decoded_len(object, start, count, &len, error), error);
    len = len > ROOM ? ROOM : len;
    check(tgmc_object_decode(object, start, count, TGMC_NATIVE, out, len, scratch, ROOM, error), error);
    check(tgmc_object_decode(object, start, UINT64_MAX, TGMC_BIG, out, len, NULL, 0, error), error);
    check(tgmc_object_decode_stored(object, start, count, TGMC_LITTLE, out, len, error), error);
    check(tgmc_object_restore(object, start, TGMC_LITTLE, out, len, error), error);
    check(tgmc_object_unpack_f32(object, start, floats, (size_t)count, error), error);
    check(tgmc_object_unszip_f64(object, start, doubles, (size_t)count, error), error);
    check(tgmc_object_mask_bits(object, TGMC_MASK_NAN, start, count, out, ((size_t)count + 7) / 8, error), error);
    if (info.element_count <= ROOM) {
        check(tgmc_object_read_f64(object, doubles, (size_t)info.element_count, scratch, ROOM, error), error);
        check(tgmc_object_read_f32(object, floats, (size_t)info.element_count, scratch, ROOM, error), error);
    }
    if (tgmc_unpacker_init(&unpacker, info.descriptor.data, info.descriptor.len, NULL) == TGMC_OK) {
        chunk = info.payload;
        (void)tgmc_unpacker_f64(&unpacker, &chunk, doubles, ROOM, &written, NULL);
        (void)tgmc_unpacker_f32(&unpacker, &chunk, floats, ROOM, &written, NULL);
        (void)tgmc_unpacker_finish(&unpacker, NULL);
    }
    if (tgmc_szip_unpacker_init(&szip_unpacker, info.descriptor.data, info.descriptor.len, NULL) == TGMC_OK) {
        chunk = info.payload;
        (void)tgmc_szip_unpacker_f64(&szip_unpacker, &chunk, doubles, ROOM, &written, NULL);
        (void)tgmc_szip_unpacker_f32(&szip_unpacker, &chunk, floats, ROOM, &written, NULL);
        (void)tgmc_szip_unpacker_finish(&szip_unpacker, NULL);
    }
}

static void use_pieces(const uint8_t *bytes, size_t len, uint8_t link) {
    size_t at, step = 1 + draw() % 200;
    tgmc_push_t *push;
    REQUIRE(tgmc_push_init(decoder_memory, sizeof decoder_memory, link, &push, NULL) == TGMC_OK);
    for (at = 0; at < len; at += step) {
        tgmc_slice_t piece;
        tgmc_event_t event;
        tgmc_status_t status;
        piece.data = bytes + at;
        piece.len = len - at < step ? len - at : step;
        while ((status = tgmc_push_next(push, &piece, &event, NULL)) != TGMC_END) {
            REQUIRE(status != TGMC_OK || event.kind > 0);
            if (status == TGMC_OK && event.kind == TGMC_EVENT_CBOR) {
                tgmc_value_t value;
                (void)tgmc_metadata_get(event.bytes.data, event.bytes.len, "mars.param", 10, &value, NULL);
                if (tgmc_value_open(&value, event.bytes.data, event.bytes.len, NULL) == TGMC_OK) {
                    look_at(&value, 3);
                }
            }
            if (status == TGMC_OK && event.kind == TGMC_EVENT_DESCRIPTOR) {
                tgmc_object_info_t info;
                REQUIRE(tgmc_descriptor_info(event.bytes.data, event.bytes.len, &info, NULL) == TGMC_OK);
            }
        }
        REQUIRE(piece.len == 0);
    }
    (void)tgmc_push_finish(push, NULL);
    REQUIRE(tgmc_push_reset(push, 7, NULL) == TGMC_OK);
}

static void use_message(const uint8_t *bytes, size_t len) {
    tgmc_message_t message;
    tgmc_frames_t frames;
    tgmc_objects_t objects;
    tgmc_frame_info_t frame;
    tgmc_object_t object;
    tgmc_value_t value;
    tgmc_error_t error;
    tgmc_slice_t found;
    tgmc_status_t status;
    uint64_t count, bad, index;
    size_t position = 0;
    memset(&error, 0, sizeof error);
    while (tgmc_scan(bytes, len, &position, &found, NULL) == TGMC_OK) {
        REQUIRE(found.len >= 48 && position <= len);
    }
    use_pieces(bytes, len, TGMC_LINK_LOSSY);
    use_pieces(bytes, len, TGMC_LINK_RELIABLE);
    status = tgmc_message_open(&message, bytes, len, &error);
    check(status, &error);
    if (status != TGMC_OK) {
        return;
    }
    (void)tgmc_message_size(&message);
    (void)tgmc_message_flags(&message);
    check(tgmc_message_object_count(&message, &count, &error), &error);
    check(tgmc_message_verify(&message, &count, &bad, &error), &error);
    check(tgmc_message_get(&message, "mars.param", 10, &value, &error), &error);
    check(tgmc_message_get_at(&message, 1, "a", 1, &value, &error), &error);
    check(tgmc_frames_init(&frames, &message, &error), &error);
    while ((status = tgmc_frames_next(&frames, &frame, &error)) == TGMC_OK) {
        REQUIRE(frame.body.data >= bytes && frame.body.len <= len);
    }
    check(status, &error);
    REQUIRE(tgmc_frames_next(&frames, &frame, NULL) == TGMC_END);
    check(tgmc_objects_init(&objects, &message, &error), &error);
    for (count = 0; count < 200 && (status = tgmc_objects_next(&objects, &object, &error)) != TGMC_END; count++) {
        check(status, &error);
        if (status == TGMC_OK) {
            use_object(&object, &error);
        }
    }
    for (index = 0; index < 3; index++) {
        status = tgmc_object_open(&message, index, &object, &error);
        check(status, &error);
        if (status == TGMC_OK) {
            use_object(&object, &error);
        }
    }
}

/* The bytes in memory of exactly their length. */
static uint8_t *copy_of(const uint8_t *bytes, size_t len) {
    uint8_t *copy = (uint8_t *)malloc(len > 0 ? len : 1);
    if (copy == NULL) {
        exit(2);
    }
    memcpy(copy, bytes, len);
    return copy;
}

static void use_damaged(const uint8_t *bytes, size_t len, unsigned rounds) {
    unsigned round;
    for (round = 0; round < rounds; round++) {
        size_t cut = round % 3 == 0 ? draw() % len : len;
        uint8_t *copy = copy_of(bytes, cut);
        if (cut > 0) {
            copy[draw() % cut] ^= (uint8_t)(1u << draw() % 8);
            copy[draw() % cut] = (uint8_t)draw();
        }
        use_message(copy, cut);
        free(copy);
    }
}

/* Bytes in an opaque struct that this library did not put there. */
static void foreign_bytes(const uint8_t *bytes, size_t len) {
    union {
        tgmc_message_t message;
        tgmc_frames_t frames;
        tgmc_object_t object;
        tgmc_value_t value;
        tgmc_unpacker_t unpacker;
        tgmc_szip_unpacker_t szip_unpacker;
        uint64_t words[100];
    } any, saved;
    tgmc_frame_info_t frame;
    tgmc_object_info_t info;
    tgmc_message_t message;
    tgmc_object_t object;
    tgmc_event_t event;
    tgmc_slice_t slice, chunk;
    tgmc_push_t *push;
    double doubles[2];
    uint64_t number;
    size_t size;
    unsigned fill, word;
    memset(&any, 0, sizeof any);
    for (fill = 0; fill < 40; fill++) {
        for (word = 0; word < 100; word++) {
            any.words[word] = fill == 0   ? 0
                              : fill == 1 ? UINT64_MAX
                              : fill == 2 ? (uint64_t)(uintptr_t)&any
                                          : (uint64_t)draw() << 40 ^ (uint64_t)draw() << 20 ^ draw();
        }
        chunk.data = bytes;
        chunk.len = len;
        REQUIRE(tgmc_message_verify(&any.message, NULL, NULL, NULL) == TGMC_E_HANDLE);
        REQUIRE(tgmc_message_size(&any.message) == 0);
        REQUIRE(tgmc_frames_next(&any.frames, &frame, NULL) == TGMC_E_HANDLE);
        REQUIRE(tgmc_objects_next(&any.frames, &object, NULL) == TGMC_E_HANDLE);
        REQUIRE(tgmc_object_info(&any.object, &info, NULL) == TGMC_E_HANDLE);
        REQUIRE(tgmc_value_u64(&any.value, &number, NULL) == TGMC_E_HANDLE);
        REQUIRE(tgmc_unpacker_f64(&any.unpacker, &chunk, doubles, 2, &size, NULL) == TGMC_E_HANDLE);
        REQUIRE(tgmc_szip_unpacker_f64(&any.szip_unpacker, &chunk, doubles, 2, &size, NULL) == TGMC_E_HANDLE);
        memset(decoder_memory, (int)fill, sizeof decoder_memory);
        push = (tgmc_push_t *)(void *)(((uintptr_t)decoder_memory + 63) / 64 * 64);
        REQUIRE(tgmc_push_next(push, &chunk, &event, NULL) == TGMC_E_HANDLE);
        push = (tgmc_push_t *)(void *)((uintptr_t)push + 8);
        slice = chunk;
        REQUIRE(tgmc_push_next(push, &slice, &event, NULL) == TGMC_E_ALIGNMENT);
    }
    /* A changed word, and one struct for another. */
    REQUIRE(tgmc_message_open(&message, bytes, len, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_open(&message, 0, &object, NULL) == TGMC_OK);
    for (word = 0; word < TGMC_OBJECT_WORDS * 64; word++) {
        any.object = object;
        any.words[word / 64] ^= UINT64_C(1) << word % 64;
        REQUIRE(tgmc_object_info(&any.object, &info, NULL) == TGMC_E_HANDLE);
    }
    any.object = object;
    REQUIRE(tgmc_frames_next(&any.frames, &frame, NULL) == TGMC_E_HANDLE);
    any.message = message;
    REQUIRE(tgmc_value_u64(&any.value, &number, NULL) == TGMC_E_HANDLE);
    /* Copies of plain structs are good, and copies of decoders are refused. */
    any.object = object;
    REQUIRE(tgmc_object_info(&any.object, &info, NULL) == TGMC_OK);
    if (tgmc_unpacker_init(&any.unpacker, info.descriptor.data, info.descriptor.len, NULL) == TGMC_OK) {
        saved = any;
        chunk = info.payload;
        REQUIRE(tgmc_unpacker_f64(&saved.unpacker, &chunk, doubles, 2, &size, NULL) == TGMC_E_HANDLE);
    }
}

static void wrong_memory(uint8_t *bytes, size_t len) {
    static uint64_t aligned[1024];
    tgmc_message_t message;
    tgmc_object_t object;
    tgmc_object_info_t info;
    tgmc_value_t value;
    tgmc_slice_t slice;
    tgmc_event_t event;
    tgmc_push_t *push;
    tgmc_error_t error, *inside;
    tgmc_unpacker_t unpacker;
    double number;
    tgmc_szip_params_t params = {8, 8, 2, 8};
    uint8_t *out = (uint8_t *)aligned, byte;
    size_t out_len, position;
    REQUIRE(tgmc_message_open(&message, bytes, len, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_open(&message, 0, &object, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_info(&object, &info, NULL) == TGMC_OK);
    out_len = (size_t)info.decoded_len;
    REQUIRE(out_len > 8 && out_len < sizeof aligned - 8);
    /* Output over input. */
    REQUIRE(tgmc_object_decode(&object, 0, info.element_count, TGMC_BIG, (uint8_t *)(uintptr_t)info.payload.data - 8,
                               out_len, NULL, 0, NULL) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_object_decode(&object, 0, info.element_count, TGMC_BIG, out, out_len, out + 4, 8, NULL) ==
            TGMC_E_OVERLAP);
    REQUIRE(tgmc_szip_decode(bytes, len, &params, bytes + 1, 8, NULL) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_push_init(aligned, sizeof aligned, TGMC_LINK_LOSSY, &push, NULL) == TGMC_OK);
    slice.data = (const uint8_t *)(const void *)push + 8;
    slice.len = 40;
    REQUIRE(tgmc_push_next(push, &slice, &event, NULL) == TGMC_E_OVERLAP);
    slice.data = bytes;
    REQUIRE(tgmc_push_next(push, &slice, (tgmc_event_t *)(void *)((uint8_t *)(void *)push + 64), NULL) ==
            TGMC_E_OVERLAP);
    /* The place for an error, or for the pointer, in the decoder: the state stays as it was. */
    inside = (tgmc_error_t *)(void *)((uint8_t *)(void *)push + 64);
    REQUIRE(tgmc_push_next(push, &slice, &event, inside) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_push_next(push, (tgmc_slice_t *)(void *)inside, &event, &error) == TGMC_E_OVERLAP);
    REQUIRE(error.kind == TGMC_E_OVERLAP);
    REQUIRE(tgmc_push_next(push, &slice, &event, NULL) == TGMC_OK);
    REQUIRE(tgmc_push_finish(push, inside) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_push_finish(push, &error) == TGMC_E_MESSAGE_EXCEEDS_BUFFER);
    REQUIRE(tgmc_push_init(aligned, sizeof aligned, TGMC_LINK_LOSSY, (tgmc_push_t **)(void *)(aligned + 99), NULL) ==
            TGMC_E_OVERLAP);
    REQUIRE(tgmc_unpacker_init(&unpacker, info.descriptor.data, info.descriptor.len, NULL) == TGMC_OK);
    inside = (tgmc_error_t *)(void *)(unpacker.words + 2);
    slice = info.payload;
    REQUIRE(tgmc_unpacker_f64(&unpacker, &slice, &number, 1, &position, inside) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_unpacker_finish(&unpacker, inside) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_unpacker_f64(&unpacker, &slice, &number, 1, &position, &error) == TGMC_OK && position == 1);
    REQUIRE(tgmc_unpacker_finish(&unpacker, &error) == TGMC_E_TRUNCATED);
    REQUIRE(tgmc_unpacker_init(&unpacker, bytes, 1, inside) == TGMC_E_OVERLAP);
    REQUIRE(tgmc_unpacker_finish(&unpacker, &error) == TGMC_E_TRUNCATED);
    REQUIRE(tgmc_unpacker_finish(NULL, NULL) == TGMC_E_NULL);
    REQUIRE(tgmc_push_init(NULL, sizeof aligned, TGMC_LINK_LOSSY, &push, NULL) == TGMC_E_NULL);
    inside = (tgmc_error_t *)(void *)(aligned + 99);
    REQUIRE(tgmc_push_init(aligned, sizeof aligned, 7, &push, inside) == TGMC_E_OVERLAP);
    slice.data = bytes;
    slice.len = 40;
    /* Bytes at any address. */
    REQUIRE(tgmc_object_decode(&object, 0, info.element_count, TGMC_BIG, out + 3, out_len, NULL, 0, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_decode(&object, 0, info.element_count, TGMC_BIG, out, out_len + 1, NULL, 0, &error) ==
            TGMC_E_OUTPUT_LENGTH);
    REQUIRE(tgmc_object_decode(&object, 0, info.element_count, 3, out, out_len, NULL, 0, NULL) == TGMC_E_ARGUMENT);
    /* Zero lengths, lengths beyond the address space. */
    REQUIRE(tgmc_object_decode(&object, 0, 0, TGMC_BIG, NULL, 0, NULL, 0, NULL) == TGMC_OK);
    REQUIRE(tgmc_object_decode(&object, info.element_count, 0, TGMC_BIG, NULL, 0, NULL, 0, NULL) == TGMC_OK);
    REQUIRE(tgmc_message_open(&message, NULL, 0, &error) == TGMC_E_TRUNCATED && error.offset == 0);
    REQUIRE(tgmc_message_open(&message, bytes, SIZE_MAX, NULL) == TGMC_E_LENGTH);
    REQUIRE(tgmc_message_open(&message, bytes, SIZE_MAX / 2 + 1, NULL) == TGMC_E_LENGTH);
    REQUIRE(tgmc_frames_init((tgmc_frames_t *)(void *)aligned, &message, NULL) == TGMC_E_HANDLE);
    position = 0;
    REQUIRE(tgmc_scan(NULL, 0, &position, &slice, NULL) == TGMC_END && slice.len == 0);
    position = len + 1;
    REQUIRE(tgmc_scan(bytes, len, &position, &slice, NULL) == TGMC_END);
    REQUIRE(tgmc_swap(NULL, 0, 2, NULL) == TGMC_OK);
    REQUIRE(tgmc_swap(out, 3, 2, NULL) == TGMC_E_PAYLOAD_SIZE && tgmc_swap(out, 3, 3, NULL) == TGMC_E_ELEMENT_SIZE);
    REQUIRE(tgmc_value_open(&value, NULL, 0, NULL) == TGMC_E_TRUNCATED);
    REQUIRE(tgmc_value_open(&value, "\x7f\x61" "a\xff", 4, NULL) == TGMC_OK);
    REQUIRE(tgmc_value_text(&value, &slice, NULL) == TGMC_E_INDEFINITE && slice.data == NULL);
    REQUIRE(tgmc_value_bool(&value, &byte, &error) == TGMC_E_WRONG_TYPE &&
            error.detail == (TGMC_VALUE_BOOL | TGMC_VALUE_TEXT << 16));
    REQUIRE(tgmc_metadata_get("\xa0", 1, "\xff", 1, &value, NULL) == TGMC_E_UTF8);
    REQUIRE(tgmc_metadata_get("\xa0", 1, NULL, 0, &value, NULL) == TGMC_END);
    REQUIRE(tgmc_push_size(SIZE_MAX) == 0 && tgmc_push_size(0) > 500 && tgmc_push_size(0) < 1100);
    REQUIRE(tgmc_push_init(aligned, 100, TGMC_LINK_LOSSY, &push, NULL) == TGMC_E_LENGTH && push == NULL);
    REQUIRE(tgmc_push_init(aligned, sizeof aligned, 9, &push, NULL) == TGMC_E_ARGUMENT && push == NULL);
    REQUIRE(tgmc_layout_check(TGMC_LAYOUT + 1) == TGMC_E_LAYOUT && tgmc_version() == TGMC_VERSION);
    REQUIRE(tgmc_features() == 255 && strcmp(tgmc_kind_name(TGMC_E_SZIP_STREAM), "SZIP_STREAM") == 0);
    REQUIRE(strcmp(tgmc_kind_name(-5), "UNKNOWN") == 0 && strcmp(tgmc_kind_name(TGMC_E_LAYOUT), "LAYOUT") == 0);
}

int main(int argc, char **argv) {
    static uint8_t bytes[1 << 20];
    int at;
    for (at = 1; at < argc; at++) {
        FILE *file = fopen(argv[at], "rb");
        size_t len = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
        uint8_t *copy = copy_of(bytes, len);
        if (file == NULL) {
            return 2;
        }
        fclose(file);
        if (at == 1) {
            foreign_bytes(copy, len);
            wrong_memory(copy, len);
        }
        use_message(copy, len);
        if (len > 0 && len < 4096) {
            use_damaged(copy, len, 20);
        }
        free(copy);
    }
    printf("%d files, %d failures\n", argc - 1, failures);
    return failures != 0;
}
