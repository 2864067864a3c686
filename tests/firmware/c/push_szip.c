/* Receives messages in small pieces, checks their digests, and unpacks payloads that szip compressed as they arrive.
 *
 * In these messages descriptors come last, so each message is sent twice: the second time its first descriptor is
 * known. */
#include "pieces.h"

struct receiver {
    tgmc_szip_unpacker_t unpacker;
    double *out;
    size_t written; /* values */
    uint32_t good;
    uint8_t unpacks;
    uint8_t knows;
};

static int look(struct receiver *receiver, const tgmc_event_t *event) {
    if (!receiver->knows) {
        receiver->good += event->kind == TGMC_EVENT_FRAME_END && event->verdict == TGMC_DIGEST_GOOD;
        if (event->kind == TGMC_EVENT_DESCRIPTOR && event->object_index == 0) {
            receiver->unpacks =
                tgmc_szip_unpacker_init(&receiver->unpacker, event->bytes.data, event->bytes.len, NULL) == TGMC_OK;
        }
    } else if (receiver->unpacks && event->kind == TGMC_EVENT_CHUNK && event->object_index == 0) {
        tgmc_slice_t chunk = event->bytes;
        size_t count = 1;
        while (count > 0) {
            size_t room = VALUES_LEN / sizeof(double) - receiver->written;
            if (tgmc_szip_unpacker_f64(&receiver->unpacker, &chunk, receiver->out + receiver->written, room, &count,
                                       NULL) != TGMC_OK) {
                return 1;
            }
            receiver->written += count;
        }
    }
    return 0;
}

int run(uint8_t *values) {
    unsigned which;
    for (which = 0; which < MESSAGES; which++) {
        struct named named = message(which);
        struct receiver receiver;
        receiver.out = (double *)(void *)values;
        receiver.written = 0;
        receiver.good = 0;
        receiver.unpacks = 0;
        receiver.knows = 0;
        if (receive(named, &receiver) != 0) {
            return 1;
        }
        receiver.knows = 1;
        if (receive(named, &receiver) != 0) {
            return 1;
        }
        if (receiver.unpacks && tgmc_szip_unpacker_finish(&receiver.unpacker, NULL) != TGMC_OK) {
            return 1;
        }
        line("push_szip");
        word(named.name);
        number(receiver.good);
        number((uint32_t)(receiver.written * sizeof(double)));
        hex(checksum(values, receiver.written * sizeof(double)));
        end_line();
    }
    return 0;
}
