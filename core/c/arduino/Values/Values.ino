// Prints the first values of each object of a message that is in flash.
#include <tgm_core.h>

#include "message.h"

static void print_values(const tgmc_object_t *object) {
    tgmc_object_info_t info;
    tgmc_error_t error;
    double values[4];
    if (tgmc_object_info(object, &info, &error) == TGMC_OK) {
        size_t count = info.element_count < 4 ? (size_t)info.element_count : 4;
        Serial.print((unsigned long)info.element_count);
        Serial.print(" values:");
        if (tgmc_object_decode(object, 0, count, TGMC_NATIVE, values, sizeof values, NULL, 0, &error) == TGMC_OK) {
            for (size_t at = 0; info.dtype == TGMC_FLOAT64 && at < count; at++) {
                Serial.print(' ');
                Serial.print(values[at]);
            }
            Serial.println();
            return;
        }
    }
    Serial.println(tgmc_kind_name(error.kind));
}

void setup() {
    tgmc_message_t message;
    tgmc_objects_t objects;
    tgmc_object_t object;
    tgmc_error_t error;
    Serial.begin(115200);
    if (tgmc_message_open(&message, MESSAGE, sizeof MESSAGE, &error) != TGMC_OK ||
        tgmc_objects_init(&objects, &message, &error) != TGMC_OK) {
        Serial.println(tgmc_kind_name(error.kind));
        return;
    }
    while (tgmc_objects_next(&objects, &object, &error) == TGMC_OK) {
        print_values(&object);
    }
}

void loop() {}
