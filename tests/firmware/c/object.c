/* Checks the digests of messages, and reports type and number of elements of their first objects. */
#include "image.h"

int run(uint8_t *values) {
    unsigned which;
    (void)values;
    for (which = 0; which < MESSAGES; which++) {
        struct named named = message(which);
        tgmc_message_t opened;
        tgmc_objects_t walk;
        tgmc_object_t object;
        tgmc_object_info_t info;
        uint64_t good;
        if (tgmc_message_open(&opened, named.bytes, named.len, NULL) != TGMC_OK ||
            tgmc_message_verify(&opened, &good, NULL, NULL) != TGMC_OK ||
            tgmc_objects_init(&walk, &opened, NULL) != TGMC_OK || tgmc_objects_next(&walk, &object, NULL) != TGMC_OK ||
            tgmc_object_info(&object, &info, NULL) != TGMC_OK) {
            return 1;
        }
        line("object");
        word(named.name);
        number((uint32_t)good);
        word(info.dtype == TGMC_FLOAT32 ? "float32" : info.dtype == TGMC_FLOAT64 ? "float64" : "other");
        number((uint32_t)info.element_count);
        end_line();
    }
    return 0;
}
