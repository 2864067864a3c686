/* Counts the frames and objects of messages. */
#include "image.h"

int run(uint8_t *values) {
    unsigned which;
    (void)values;
    for (which = 0; which < MESSAGES; which++) {
        struct named named = message(which);
        tgmc_message_t opened;
        tgmc_frames_t walk;
        tgmc_frame_info_t frame;
        tgmc_status_t status;
        uint32_t frames = 0, objects = 0;
        if (tgmc_message_open(&opened, named.bytes, named.len, NULL) != TGMC_OK ||
            tgmc_frames_init(&walk, &opened, NULL) != TGMC_OK) {
            return 1;
        }
        while ((status = tgmc_frames_next(&walk, &frame, NULL)) == TGMC_OK) {
            frames++;
            objects += frame.type == TGMC_FRAME_OBJECT;
        }
        if (status != TGMC_END) {
            return 1;
        }
        line("framing");
        word(named.name);
        number(frames);
        number(objects);
        end_line();
    }
    return 0;
}
