/* The messages in flash, in a section apart from code and constants. */
#include "image.h"

#define MESSAGE(symbol, file)                                                                                          \
    __asm__(".section .messages,\"a\"\n.balign 4\n" #symbol ": .incbin \"" file ".tgm\"\n" #symbol "_end:\n.previous"); \
    extern const uint8_t symbol[], symbol##_end[]

MESSAGE(plain, "dtypes/float32-big");
MESSAGE(packed, "simple_packing/bits16");
MESSAGE(szip, "simple_packing/b16-none-szip");
MESSAGE(masked, "masks/threshold-16");

struct named message(unsigned which) {
    struct named found;
    const uint8_t *end = masked_end;
    found.name = "masks/threshold-16";
    found.bytes = masked;
    if (which == 0) {
        found.name = "dtypes/float32-big";
        found.bytes = plain;
        end = plain_end;
    } else if (which == 1) {
        found.name = "simple_packing/bits16";
        found.bytes = packed;
        end = packed_end;
    } else if (which == 2) {
        found.name = "simple_packing/b16-none-szip";
        found.bytes = szip;
        end = szip_end;
    }
    found.len = (size_t)(end - found.bytes);
    return found;
}
