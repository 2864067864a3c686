/* The layouts of structs and the numbers of enums that programs are compiled with. 64-bit machines. */
#include "tgm.h"

#define FACT(name, fact) typedef char name[(fact) ? 1 : -1]

FACT(bytes_size, sizeof(tgm_bytes_t) == 16);
FACT(bytes_len, offsetof(tgm_bytes_t, len) == 8);
FACT(entry_size, sizeof(tgm_scan_entry_t) == 16);
FACT(entry_length, offsetof(tgm_scan_entry_t, length) == 8);
FACT(encode_size, sizeof(TgmEncodeMaskOptions) == 40);
FACT(encode_inf, offsetof(TgmEncodeMaskOptions, allow_inf) == 1);
FACT(encode_nan_method, offsetof(TgmEncodeMaskOptions, nan_mask_method) == 8);
FACT(encode_pos_method, offsetof(TgmEncodeMaskOptions, pos_inf_mask_method) == 16);
FACT(encode_neg_method, offsetof(TgmEncodeMaskOptions, neg_inf_mask_method) == 24);
FACT(encode_threshold, offsetof(TgmEncodeMaskOptions, small_mask_threshold_bytes) == 32);
FACT(decode_size, sizeof(TgmDecodeMaskOptions) == 1);
FACT(error_size, sizeof(tgm_error) == 4 && sizeof(tgm_value_type) == 4 && sizeof(TgmObjectCountStatus) == 4);
FACT(error_last, TGM_ERROR_CANCELLED == 13 && TGM_ERROR_MISSING_HASH == 11 && TGM_ERROR_INVALID_ARG == 8);
FACT(value_last, TGM_VALUE_TYPE_MAP == 7);
FACT(decode_options, sizeof(tgm_decode_options_t) == 32 && offsetof(tgm_decode_options_t, max_decoded_bytes) == 24);
FACT(encode_options, sizeof(tgm_encode_options_t) == 80 && offsetof(tgm_encode_options_t, masks) == 32);
FACT(encode_options_end, offsetof(tgm_encode_options_t, extra) == 72);
FACT(object_facts, sizeof(tgm_object_facts_t) == 112 && offsetof(tgm_object_facts_t, num_elements) == 40);
FACT(object_facts_end, offsetof(tgm_object_facts_t, dtype) == 72 && offsetof(tgm_object_facts_t, compression) == 104);
FACT(read_request, sizeof(tgm_read_t) == 48 && offsetof(tgm_read_t, options) == 40);
FACT(object_input, sizeof(tgm_object_input_t) == 112 && offsetof(tgm_object_input_t, encoding) == 48);
FACT(object_input_end, offsetof(tgm_object_input_t, within) == 96 && offsetof(tgm_object_input_t, lossless) == 108);
FACT(dataset_options, sizeof(tgm_dataset_options_t) == 56 && offsetof(tgm_dataset_options_t, only) == 48);
FACT(object_ref, sizeof(tgm_object_ref_t) == 16);

int layout_is_checked(void);
int layout_is_checked(void) { return 1; }
