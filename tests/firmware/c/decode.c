/* Checks the digests of messages and decodes their values: plain, shuffled, packed, compressed by szip, masked. */
#include "image.h"

int run(uint8_t *values) {
    unsigned which;
    for (which = 0; which < MESSAGES; which++) {
        struct named named = message(which);
        tgmc_message_t opened;
        tgmc_objects_t walk;
        tgmc_object_t object;
        tgmc_status_t status;
        uint64_t good;
        size_t len;
        if (tgmc_message_open(&opened, named.bytes, named.len, NULL) != TGMC_OK ||
            tgmc_message_verify(&opened, &good, NULL, NULL) != TGMC_OK ||
            tgmc_objects_init(&walk, &opened, NULL) != TGMC_OK || tgmc_objects_next(&walk, &object, NULL) != TGMC_OK ||
            tgmc_object_decoded_len(&object, 0, TGMC_ALL, &len, NULL) != TGMC_OK || len > VALUES_LEN) {
            return 1;
        }
        status = tgmc_object_unszip_f64(&object, 0, (double *)(void *)values, len / sizeof(double), NULL);
        if (status == TGMC_OK) {
            status = tgmc_object_restore(&object, 0, TGMC_LITTLE, values, len, NULL);
        } else if (status == TGMC_E_NEEDS_DECODING) {
            status = tgmc_object_decode_stored(&object, 0, TGMC_ALL, TGMC_LITTLE, values, len, NULL);
        }
        if (status != TGMC_OK) {
            return 1;
        }
        line("decode");
        word(named.name);
        number((uint32_t)good);
        number((uint32_t)len);
        hex(tgmc_xxh3(values, len));
        end_line();
    }
    return 0;
}
