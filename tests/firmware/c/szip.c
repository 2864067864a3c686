/* Reads a packed message that szip compressed: checks its digests, and unpacks its values from flash. Nothing else. */
#include "image.h"

int run(uint8_t *values) {
    struct named named = message(2);
    tgmc_message_t opened;
    tgmc_objects_t walk;
    tgmc_object_t object;
    uint64_t good;
    size_t len;
    if (tgmc_message_open(&opened, named.bytes, named.len, NULL) != TGMC_OK ||
        tgmc_message_verify(&opened, &good, NULL, NULL) != TGMC_OK ||
        tgmc_objects_init(&walk, &opened, NULL) != TGMC_OK || tgmc_objects_next(&walk, &object, NULL) != TGMC_OK ||
        tgmc_object_decoded_len(&object, 0, TGMC_ALL, &len, NULL) != TGMC_OK || len > VALUES_LEN ||
        tgmc_object_unszip_f64(&object, 0, (double *)(void *)values, len / sizeof(double), NULL) != TGMC_OK) {
        return 1;
    }
    line("decode");
    word(named.name);
    number((uint32_t)good);
    number((uint32_t)len);
    hex(tgmc_xxh3(values, len));
    end_line();
    return 0;
}
