/* Reads a file of messages, and prints what their objects are and the mean of their values.
 *
 * The file is read with stdio. On a microcontroller the bytes would be in flash, and all the rest stays as it is. */
#include <stdio.h>
#include <stdlib.h>

#include "tgm_core.h"

static int print_object(const tgmc_object_t *object) {
    tgmc_object_info_t info;
    tgmc_error_t error = {0, 0, 0};
    size_t scratch_len = 0, count, at;
    double *values, sum = 0;
    void *scratch;
    tgmc_status_t status;
    if (tgmc_object_info(object, &info, &error) != TGMC_OK) {
        return 1;
    }
    printf("object %llu: %.*s, %llu values", (unsigned long long)info.index, (int)info.type.len,
           (const char *)info.type.data, (unsigned long long)info.element_count);
    if (info.element_count > 1000000 || tgmc_object_scratch_len(object, &scratch_len, &error) != TGMC_OK) {
        printf(" (not decoded: %s)\n", tgmc_kind_name(error.kind));
        return 0;
    }
    count = (size_t)info.element_count;
    values = (double *)malloc((count + 1) * sizeof(double));
    scratch = malloc(scratch_len + 1);
    if (values == NULL || scratch == NULL) {
        return 1;
    }
    status = tgmc_object_read_f64(object, values, count, scratch, scratch_len, &error);
    if (status == TGMC_OK) {
        for (at = 0; at < count; at++) {
            sum += values[at];
        }
        printf(", mean %g\n", count > 0 ? sum / (double)count : 0.0);
    } else {
        printf(" (%s at byte %llu)\n", tgmc_kind_name(status), (unsigned long long)error.offset);
    }
    free(scratch);
    free(values);
    return 0;
}

int main(int argc, char **argv) {
    static unsigned char bytes[1 << 20];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t len, position = 0;
    tgmc_slice_t found;
    if (file == NULL) {
        fprintf(stderr, "usage: read_memory FILE\n");
        return 2;
    }
    len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    while (tgmc_scan(bytes, len, &position, &found, NULL) == TGMC_OK) {
        tgmc_message_t message;
        tgmc_objects_t objects;
        tgmc_object_t object;
        tgmc_status_t status = tgmc_message_open(&message, found.data, found.len, NULL);
        if (status == TGMC_OK) {
            status = tgmc_objects_init(&objects, &message, NULL);
        }
        while (status == TGMC_OK && (status = tgmc_objects_next(&objects, &object, NULL)) == TGMC_OK) {
            if (print_object(&object) != 0) {
                return 1;
            }
        }
        if (status != TGMC_END) {
            printf("a damaged message: %s\n", tgmc_kind_name(status));
        }
    }
    return 0;
}
