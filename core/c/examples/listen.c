/* Listens to a stream of messages on its input, such as a serial line, and unpacks packed values as they arrive.
 *
 *     listen < messages.tgm
 *
 * Memory is fixed: the decoder, one piece of input, and a few values. */
#include <stdio.h>

#include "tgm_core.h"

int main(void) {
    static uint64_t memory[(2048 + 1024) / 8];
    static uint8_t bytes[64];
    tgmc_unpacker_t unpacker;
    tgmc_push_t *decoder;
    tgmc_event_t event;
    tgmc_slice_t piece;
    tgmc_status_t status;
    double values[16], sum = 0;
    unsigned long count = 0;
    int unpacks = 0;
    if (tgmc_push_init(memory, sizeof memory, TGMC_LINK_LOSSY, &decoder, NULL) != TGMC_OK) {
        return 1;
    }
    piece.data = bytes;
    while ((piece.len = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        while ((status = tgmc_push_next(decoder, &piece, &event, NULL)) != TGMC_END) {
            if (status != TGMC_OK) {
                printf("damage: %s\n", tgmc_kind_name(status)); /* the next message will be found */
            } else if (event.kind == TGMC_EVENT_DESCRIPTOR && event.object_index == 0) {
                /* The first object's. It may come after the values; then it serves the next message. */
                unpacks = tgmc_unpacker_init(&unpacker, event.bytes.data, event.bytes.len, NULL) == TGMC_OK;
            } else if (event.kind == TGMC_EVENT_CHUNK && event.object_index == 0 && unpacks) {
                tgmc_slice_t chunk = event.bytes;
                size_t written = 1, at;
                while (written > 0 &&
                       tgmc_unpacker_f64(&unpacker, &chunk, values, 16, &written, NULL) == TGMC_OK) {
                    for (at = 0; at < written; at++) {
                        sum += values[at];
                    }
                    count += (unsigned long)written;
                }
            } else if (event.kind == TGMC_EVENT_FRAME_END && event.verdict == TGMC_DIGEST_MISMATCH) {
                printf("a frame is damaged\n");
            } else if (event.kind == TGMC_EVENT_MESSAGE_END) {
                printf("a message of %llu objects; %lu values so far, sum %g\n", (unsigned long long)event.region,
                       count, sum);
            }
        }
        piece.data = bytes;
    }
    return tgmc_push_finish(decoder, NULL) != TGMC_OK;
}
