/* Messages that arrive in small pieces. To be included by an image, which defines `look`. */
#ifndef PIECES_H
#define PIECES_H

#include "image.h"

#define PIECE 64
/* Bytes of the decoder's memory for CBOR. */
#define WINDOW 512
/* Bytes of the decoder: see tgmc_push_size. */
#define DECODER 896

/* What an image keeps between events. */
struct receiver;

static int look(struct receiver *receiver, const tgmc_event_t *event);

/* Calls `look` with each event of a message that arrives in pieces. Returns 0 if all of it was good. */
static int receive(struct named named, struct receiver *receiver) {
    uint64_t memory[(WINDOW + DECODER) / 8];
    tgmc_push_t *decoder;
    size_t at;
    if (tgmc_push_init(memory, sizeof memory, TGMC_LINK_LOSSY, &decoder, NULL) != TGMC_OK) {
        return 1;
    }
    for (at = 0; at < named.len; at += PIECE) {
        tgmc_slice_t piece;
        tgmc_event_t event;
        tgmc_status_t status;
        piece.data = named.bytes + at;
        piece.len = named.len - at < PIECE ? named.len - at : PIECE;
        while ((status = tgmc_push_next(decoder, &piece, &event, NULL)) == TGMC_OK) {
            if (look(receiver, &event) != 0) {
                return 1;
            }
        }
        if (status != TGMC_END) {
            return 1;
        }
    }
    return tgmc_push_finish(decoder, NULL) != TGMC_OK;
}

#endif
