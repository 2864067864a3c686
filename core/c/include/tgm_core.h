/*
 * tgm_core.h - reads Tensogram messages (version 3) on any machine: no malloc, no libc, no threads, no global state.
 *
 * THE IDEA
 *
 * Your bytes stay where they are: in flash, in a file map, in a buffer. You own every struct, on the stack or wherever
 * you like. Nothing is freed. The functions read your bytes, and write only what you pass as an output.
 *
 *     tgmc_message_t message;
 *     tgmc_object_t object;
 *     double values[400];
 *     if (tgmc_message_open(&message, bytes, len, NULL) == TGMC_OK &&
 *         tgmc_object_open(&message, 0, &object, NULL) == TGMC_OK &&
 *         tgmc_object_read_f64(&object, values, 400, NULL, 0, NULL) == TGMC_OK) { use(values); }
 *
 * WHAT STAYS BORROWED
 *
 * A message, and every walk, object, value and slice that comes from it, refers to the bytes that you gave to
 * tgmc_message_open. These bytes must exist and must not change as long as you use any of them. The structs themselves
 * refer to nothing else: you may copy them with `=`, move them, and forget them. tgmc_push_t and the unpackers are
 * different: they stay where they were made.
 *
 * RESULTS
 *
 * A function that can fail returns a tgmc_status_t: TGMC_OK, TGMC_END (a walk has ended, or something is absent, which
 * is not an error), or a negative kind (TGMC_E_...). The numbers never change. New kinds may come, so treat any negative
 * number as an error. If `error` is not NULL, a failing function writes there what is wrong and at which byte; with
 * TGMC_OK and TGMC_END it is not written. After a failure and after TGMC_END, output structs and numbers are zeros, and
 * buffers for values have unspecified bytes.
 *
 * WHAT IS CHECKED
 *
 * Any bytes are safe as a message: time and memory are bounded by the bytes that exist. NULL, unaligned pointers,
 * lengths beyond the address space, outputs that lie on inputs, and structs that were not filled by this library (or
 * were filled as something else) give TGMC_E_NULL, TGMC_E_ALIGNMENT, TGMC_E_LENGTH, TGMC_E_OVERLAP, TGMC_E_HANDLE.
 * TGMC_E_OVERLAP is also for inputs, outputs and errors in the memory of a tgmc_push_t or an unpacker. What no check
 * can find is your responsibility: a pointer to memory that is not there, or a length that is too large.
 * NULL is accepted with length 0, and where a parameter is called optional. `void *` may be unaligned.
 *
 * THREADS AND INTERRUPTS
 *
 * All state is in your structs. Functions may be called from several threads and from interrupts at once, if no struct
 * is written by two of them.
 *
 * COST
 *
 * "O(1)" below means: some dozens of bytes are read. Functions of an object read its descriptor again, which has 100 to
 * 300 bytes as a rule; they say O(descriptor). Functions take up to 3 KiB of stack on a 32-bit machine, most of them
 * less than 1 KiB; decoding szip takes 1 KiB of that for a block.
 *
 * Link the static library tgm_c_core with --gc-sections: you then pay for the functions that you call. A function whose
 * feature was left out when the library was built does not exist, and the program does not link.
 */
#ifndef TGM_CORE_H
#define TGM_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version -------------------------------------------------------------------------------------------------- */

/** Major, minor and patch: 16, 8 and 8 bits. */
#define TGMC_VERSION UINT32_C(0x00000100)

/* Bits of tgmc_features. */
#define TGMC_FEATURE_HASH 1u
#define TGMC_FEATURE_MASKS 2u
#define TGMC_FEATURE_PACKING 4u
#define TGMC_FEATURE_PUSH 8u
#define TGMC_FEATURE_SHUFFLE 16u
#define TGMC_FEATURE_SZIP 32u
#define TGMC_FEATURE_NAMES 64u
#define TGMC_FEATURE_DETAILS 128u

/* ---- Status --------------------------------------------------------------------------------------------------- */

typedef int32_t tgmc_status_t;

#define TGMC_OK 0
#define TGMC_END 1

/* The bytes end too early */
#define TGMC_E_TRUNCATED (-1)                 /* The bytes end inside a structure. */
#define TGMC_E_TOO_LARGE (-2)                 /* A length does not fit this machine's address space. */

/* Message */
#define TGMC_E_START_MAGIC (-100)             /* The message does not start with TENSOGRM. */
#define TGMC_E_VERSION (-101)                 /* The preamble's version is not 3. detail: the version. */
#define TGMC_E_MESSAGE_TOO_SMALL (-102)       /* The preamble's total_length is smaller than preamble and postamble
                                                 together. */
#define TGMC_E_MESSAGE_EXCEEDS_BUFFER (-103)  /* The preamble's total_length reaches beyond the buffer. */
#define TGMC_E_END_MAGIC (-104)               /* The message does not end with 39277777. */
#define TGMC_E_TOTAL_LENGTH_MISMATCH (-105)   /* The postamble's copy of total_length differs from the preamble's. */

/* Frames */
#define TGMC_E_FRAME_MAGIC (-200)             /* A frame does not start with FR. */
#define TGMC_E_UNKNOWN_FRAME_TYPE (-201)      /* A frame type that version 3 does not define. detail: the type. */
#define TGMC_E_RESERVED_FRAME_TYPE (-202)     /* Frame type 4, the data object of version 2. */
#define TGMC_E_FRAME_TOO_SMALL (-203)         /* A frame's total_length is smaller than its header and tail. */
#define TGMC_E_FRAME_EXCEEDS_MESSAGE (-204)   /* A frame's total_length reaches beyond the frames' end. */
#define TGMC_E_FRAME_END (-205)               /* A frame does not end with ENDF. */
#define TGMC_E_CBOR_OFFSET (-206)             /* A data object's cbor_offset does not point between its header and
                                                 its tail. */
#define TGMC_E_FRAME_ORDER (-207)             /* A frame of this type is not allowed in this phase of the message.
                                                 detail: frame type, phase. */
#define TGMC_E_PRECEDER_WITHOUT_OBJECT (-208) /* The frame after a preceder is not a data object. detail: the frame
                                                 type. */
#define TGMC_E_DANGLING_PRECEDER (-209)       /* The message ends after a preceder. */
#define TGMC_E_PRECEDER_BASE (-210)           /* A preceder's base does not have exactly one entry. detail: the
                                                 number. */
#define TGMC_E_NO_METADATA (-211)             /* The message has no metadata frame. */
#define TGMC_E_BASE_TOO_LONG (-212)           /* The metadata's base has more entries than the message has objects. */
#define TGMC_E_OBJECT_OUT_OF_RANGE (-213)     /* The message has no object of that index. */
#define TGMC_E_INDEX_ENTRY (-214)             /* An index entry does not lead to the listed data object, or gives a
                                                 wrong length for it. */
#define TGMC_E_INDEX_LENGTHS (-215)           /* The index has different numbers of offsets and lengths. */
#define TGMC_E_INDEX_COUNT (-216)             /* The index lists more or fewer objects than the message has. */
#define TGMC_E_HASH_LIST_COUNT (-217)         /* The hash list has more or fewer entries than the message has
                                                 objects. */
#define TGMC_E_HASH_LIST_ENTRY (-218)         /* An entry of the hash list is not the object's digest. */
#define TGMC_E_DIGEST_MISMATCH (-219)         /* A frame's digest is not the digest of its body. */
#define TGMC_E_FOOTER_OFFSET (-220)           /* The postamble's first_footer_offset does not lie between preamble and
                                               * postamble. */

/* CBOR and metadata */
#define TGMC_E_CBOR_HEAD (-300)               /* A CBOR head with additional information 28 to 30, or with 31 where
                                                 no length can be indefinite. detail: the information. */
#define TGMC_E_CBOR_SIMPLE (-301)             /* A CBOR simple value other than false, true, null and undefined.
                                                 detail: the value. */
#define TGMC_E_CBOR_BREAK (-302)              /* A CBOR break outside of an item of indefinite length, or between a
                                                 key and its value. */
#define TGMC_E_CBOR_UTF8 (-303)               /* CBOR text that is not UTF-8. */
#define TGMC_E_CBOR_NESTING (-304)            /* CBOR nested deeper than the limit. */
#define TGMC_E_WRONG_TYPE (-305)              /* A value has another type than the format requires, or than was
                                                 asked for. detail: expected, found (TGMC_VALUE_...). */
#define TGMC_E_INTEGER_RANGE (-306)           /* An integer does not fit the type that the format requires, or that
                                                 was asked for. */
#define TGMC_E_NON_TEXT_KEY (-307)            /* A map key is not text, where the format requires text. */
#define TGMC_E_NON_CANONICAL (-308)           /* CBOR that is valid but not canonical. detail: which departure. */
#define TGMC_E_AMBIGUOUS_KEY (-309)           /* A metadata key is both at top level and in _extra_. */
#define TGMC_E_TOO_MANY_KEYS (-310)           /* There are too many keys to compare them in linear time. */

/* Descriptor */
#define TGMC_E_MISSING_KEY (-400)             /* A required key is absent. detail: the key (TGMC_KEY_...). */
#define TGMC_E_DUPLICATE_KEY (-401)           /* A fixed key occurs twice. detail: the key. */
#define TGMC_E_PARAMETER_RANGE (-402)         /* A parameter's value is outside its range. detail: the key. */
#define TGMC_E_UNKNOWN_DTYPE (-403)           /* dtype is not one of the format's fifteen names. */
#define TGMC_E_UNKNOWN_BYTE_ORDER (-404)      /* byte_order is neither big nor little. */
#define TGMC_E_NDIM_MISMATCH (-405)           /* ndim differs from the number of dimensions in shape. */
#define TGMC_E_STRIDES_MISMATCH (-406)        /* strides has another number of entries than shape. */
#define TGMC_E_SHAPE_OVERFLOW (-407)          /* The product of the shape, or the size in bytes, exceeds the
                                                 integers of this machine. */

/* Values */
#define TGMC_E_NEEDS_DECODING (-500)          /* This stage must be undone first. The called function does not undo
                                                 it, or it is not compiled in. detail: stage (TGMC_STAGE_...),
                                                 choice. */
#define TGMC_E_PAYLOAD_SIZE (-501)            /* The payload is not as long as shape, dtype and encoding imply. */
#define TGMC_E_DTYPE_MISMATCH (-502)          /* The object has another dtype than the one that is required or was
                                                 asked for. detail: expected, found dtype. */
#define TGMC_E_NOT_PACKED (-503)              /* The values are not packed with simple_packing, so they cannot be
                                                 unpacked. */
#define TGMC_E_SELECTION_RANK (-504)          /* A selection picks of another number of dimensions (the first) than
                                                 the tensor has (the second). detail: expected, found. */
#define TGMC_E_SELECTION_BOUNDS (-505)        /* A selection picks an index that this dimension does not have, or a
                                                 range that ends before it starts. detail: the dimension. */
#define TGMC_E_RANGE_OUT_OF_BOUNDS (-506)     /* An element range or coordinate reaches beyond the tensor. */
#define TGMC_E_OUTPUT_LENGTH (-507)           /* The caller's buffer does not have the length that the values need. */
#define TGMC_E_MISALIGNED (-508)              /* The bytes are not aligned for the type that was asked for, so they
                                                 cannot be borrowed as it. */
#define TGMC_E_SWAPPED_BYTES (-509)           /* The bytes are in the other byte order, so they cannot be borrowed
                                                 as values. */
#define TGMC_E_BITS_PER_VALUE (-510)          /* simple_packing with more than 64 bits for each value. detail: the
                                                 bits. */
#define TGMC_E_ELEMENT_SIZE (-511)            /* A shuffle element size of zero, or one that does not divide the
                                                 number of bytes. */

/* Masks */
#define TGMC_E_MASK_BOUNDS (-600)             /* A mask reaches beyond the payload region. */
#define TGMC_E_MASK_METHOD (-601)             /* A mask method that the format does not define. */
#define TGMC_E_MASK_LENGTH (-602)             /* A mask covers more or fewer elements than the object has. */
#define TGMC_E_MASK_DTYPE (-603)              /* Masks on bitmasks, which have no bytes to restore. detail: the
                                                 dtype. */
#define TGMC_E_RLE_START (-604)               /* A run-length mask that does not start with 0 or 1. detail: the
                                                 byte. */
#define TGMC_E_RLE_RUN (-605)                 /* A run-length mask with an empty run, or with a run length that
                                                 does not end. */
#define TGMC_E_ROARING_COOKIE (-606)          /* A roaring bitmap with an unknown cookie. detail: the cookie. */
#define TGMC_E_ROARING_CONTAINER (-607)       /* A roaring bitmap whose containers contradict their headers, or
                                                 have positions beyond the elements. */

/* szip */
#define TGMC_E_SZIP_BITS_PER_SAMPLE (-700)    /* szip samples of 0 bits, or of more than 32. detail: the bits. */
#define TGMC_E_SZIP_BLOCK_SIZE (-701)         /* A szip block size that neither the standard nor a flag allows.
                                                 detail: the size. */
#define TGMC_E_SZIP_RSI (-702)                /* A szip reference sample interval of 0 blocks, or of more than
                                                 4096. detail: the interval. */
#define TGMC_E_SZIP_RESTRICTED (-703)         /* The restricted option set of szip, with samples of more than four
                                                 bits. detail: the bits. */
#define TGMC_E_SZIP_STREAM (-704)             /* A szip code that stands for no sample. */
#define TGMC_E_SZIP_BLOCK_MEMORY (-705)       /* A szip block that does not fit the memory of a decoder of pieces. */

/* Wrong use of this interface. offset is 0. */
#define TGMC_E_NULL (-900)                    /* A pointer is NULL that must not be. */
#define TGMC_E_ALIGNMENT (-901)               /* A pointer is not aligned for its type. */
#define TGMC_E_LENGTH (-902)                  /* A length is beyond the address space, or memory is too small. */
#define TGMC_E_OVERLAP (-903)                 /* An output lies on an input. */
#define TGMC_E_HANDLE (-904)                  /* A struct was not filled by this library, or was changed. */
#define TGMC_E_ARGUMENT (-905)                /* A number stands for nothing: a byte order, a mask, a link. */
#define TGMC_E_UTF8 (-906)                    /* A path or key is not UTF-8. */
#define TGMC_E_LAYOUT (-907)                  /* Header and library do not agree. */
#define TGMC_E_INDEFINITE (-908)              /* A string comes in pieces, so it cannot be one slice. */
#define TGMC_E_OTHER (-999)                   /* An error without a number yet. */

/** What is wrong, and where. */
typedef struct tgmc_error {
    /** The status that the function returned. */
    int32_t kind;
    /** The offending value, if it is small: see the table above. The first of two values is in the lower 16 bits.
     * 0 without feature details. */
    uint32_t detail;
    /** Bytes from the start of the data that you gave: of the message, or of the CBOR. */
    uint64_t offset;
} tgmc_error_t;

/** Borrowed bytes. An empty slice may have any pointer. */
typedef struct tgmc_slice {
    const uint8_t *data;
    size_t len;
} tgmc_slice_t;

/* ---- Opaque structs ------------------------------------------------------------------------------------------- */

/* Their words are addresses and numbers, and a check word. Do not write to them. Fill them with the function named. */

#define TGMC_MESSAGE_WORDS 4
#define TGMC_FRAMES_WORDS 8
#define TGMC_OBJECT_WORDS 6
#define TGMC_VALUE_WORDS 4
#define TGMC_UNPACKER_WORDS 24
#define TGMC_SZIP_UNPACKER_WORDS 96

/** A message: tgmc_message_open. */
typedef struct tgmc_message {
    uint64_t words[TGMC_MESSAGE_WORDS];
} tgmc_message_t;

/** A walk over frames: tgmc_frames_init. */
typedef struct tgmc_frames {
    uint64_t words[TGMC_FRAMES_WORDS];
} tgmc_frames_t;

/** A walk over objects: tgmc_objects_init. */
typedef tgmc_frames_t tgmc_objects_t;

/** A data object: tgmc_object_open, tgmc_objects_next. */
typedef struct tgmc_object {
    uint64_t words[TGMC_OBJECT_WORDS];
} tgmc_object_t;

/** A CBOR value: tgmc_message_get and others. */
typedef struct tgmc_value {
    uint64_t words[TGMC_VALUE_WORDS];
} tgmc_value_t;

/** A decoder of messages that come in pieces: tgmc_push_init. */
typedef struct tgmc_push tgmc_push_t;

/** Values out of chunks: tgmc_unpacker_init. It stays where it is: a copy is refused. */
typedef struct tgmc_unpacker {
    uint64_t words[TGMC_UNPACKER_WORDS];
} tgmc_unpacker_t;

/** Values out of chunks of szip: tgmc_szip_unpacker_init. It stays where it is: a copy is refused. */
typedef struct tgmc_szip_unpacker {
    uint64_t words[TGMC_SZIP_UNPACKER_WORDS];
} tgmc_szip_unpacker_t;

/* ---- Numbers of the format ------------------------------------------------------------------------------------ */

/* Types of elements. */
#define TGMC_FLOAT16 1
#define TGMC_BFLOAT16 2
#define TGMC_FLOAT32 3
#define TGMC_FLOAT64 4
#define TGMC_COMPLEX64 5
#define TGMC_COMPLEX128 6
#define TGMC_INT8 7
#define TGMC_INT16 8
#define TGMC_INT32 9
#define TGMC_INT64 10
#define TGMC_UINT8 11
#define TGMC_UINT16 12
#define TGMC_UINT32 13
#define TGMC_UINT64 14
#define TGMC_BITMASK 15 /* one bit for each element, most significant first */

/* Byte orders. As an argument, native is this machine's. */
#define TGMC_NATIVE 0
#define TGMC_BIG 1
#define TGMC_LITTLE 2

/* Stages of the pipeline, in the order in which they are done. They are undone in the opposite order. */
#define TGMC_STAGE_NONE 0
#define TGMC_STAGE_ENCODING 1
#define TGMC_STAGE_FILTER 2
#define TGMC_STAGE_COMPRESSION 3
#define TGMC_STAGE_MASKS 4

/* Choices for each stage; 0 is a name that the format does not have. */
#define TGMC_ENCODING_NONE 1
#define TGMC_ENCODING_SIMPLE_PACKING 2
#define TGMC_FILTER_NONE 1
#define TGMC_FILTER_SHUFFLE 2
#define TGMC_COMPRESSION_NONE 1
#define TGMC_COMPRESSION_SZIP 2
#define TGMC_COMPRESSION_ZSTD 3
#define TGMC_COMPRESSION_LZ4 4
#define TGMC_COMPRESSION_BLOSC2 5
#define TGMC_COMPRESSION_ZFP 6
#define TGMC_COMPRESSION_SZ3 7
#define TGMC_COMPRESSION_RLE 8
#define TGMC_COMPRESSION_ROARING 9
#define TGMC_METHOD_NONE 1
#define TGMC_METHOD_RLE 2
#define TGMC_METHOD_ROARING 3
#define TGMC_METHOD_LZ4 4
#define TGMC_METHOD_ZSTD 5
#define TGMC_METHOD_BLOSC2 6

/* Masks, as bits. */
#define TGMC_MASK_NAN 1
#define TGMC_MASK_POS_INF 2
#define TGMC_MASK_NEG_INF 4

/* Types of frames. */
#define TGMC_FRAME_HEADER_METADATA 1
#define TGMC_FRAME_HEADER_INDEX 2
#define TGMC_FRAME_HEADER_HASH 3
#define TGMC_FRAME_FOOTER_HASH 5
#define TGMC_FRAME_FOOTER_INDEX 6
#define TGMC_FRAME_FOOTER_METADATA 7
#define TGMC_FRAME_PRECEDER_METADATA 8
#define TGMC_FRAME_OBJECT 9

/* Types of CBOR values. */
#define TGMC_VALUE_NULL 0
#define TGMC_VALUE_BOOL 1
#define TGMC_VALUE_INTEGER 2
#define TGMC_VALUE_FLOAT 3
#define TGMC_VALUE_TEXT 4
#define TGMC_VALUE_BYTES 5
#define TGMC_VALUE_ARRAY 6
#define TGMC_VALUE_MAP 7
#define TGMC_VALUE_TAG 8

/* Keys of descriptors, as error details have them. */
#define TGMC_KEY_NDIM 0u
#define TGMC_KEY_TYPE 1u
#define TGMC_KEY_DTYPE 2u
#define TGMC_KEY_MASKS 3u
#define TGMC_KEY_SHAPE 4u
#define TGMC_KEY_FILTER 5u
#define TGMC_KEY_STRIDES 6u
#define TGMC_KEY_ENCODING 7u
#define TGMC_KEY_BYTE_ORDER 8u
#define TGMC_KEY_COMPRESSION 9u
#define TGMC_KEY_SP_REFERENCE_VALUE 10u
#define TGMC_KEY_SP_BINARY_SCALE_FACTOR 11u
#define TGMC_KEY_SP_DECIMAL_SCALE_FACTOR 12u
#define TGMC_KEY_SP_BITS_PER_VALUE 13u
#define TGMC_KEY_REFERENCE_VALUE 14u
#define TGMC_KEY_BINARY_SCALE_FACTOR 15u
#define TGMC_KEY_DECIMAL_SCALE_FACTOR 16u
#define TGMC_KEY_BITS_PER_VALUE 17u
#define TGMC_KEY_SHUFFLE_ELEMENT_SIZE 18u
#define TGMC_KEY_SZIP_RSI 19u
#define TGMC_KEY_SZIP_BLOCK_SIZE 20u
#define TGMC_KEY_SZIP_FLAGS 21u
#define TGMC_KEY_SZIP_BLOCK_OFFSETS 22u
#define TGMC_KEY_ZSTD_LEVEL 23u
#define TGMC_KEY_BLOSC2_CODEC 24u
#define TGMC_KEY_BLOSC2_CLEVEL 25u
#define TGMC_KEY_ZFP_MODE 26u
#define TGMC_KEY_ZFP_RATE 27u
#define TGMC_KEY_ZFP_PRECISION 28u
#define TGMC_KEY_ZFP_TOLERANCE 29u
#define TGMC_KEY_SZ3_ERROR_BOUND_MODE 30u
#define TGMC_KEY_SZ3_ERROR_BOUND 31u
#define TGMC_KEY_LENGTH 32u
#define TGMC_KEY_METHOD 33u
#define TGMC_KEY_OFFSET 34u
#define TGMC_KEY_PARAMS 35u

/** As a count of values: all of them from `start` on. */
#define TGMC_ALL UINT64_MAX

/** No object, where a number of one is written. */
#define TGMC_NO_OBJECT UINT64_MAX

/* ---- This library --------------------------------------------------------------------------------------------- */

/** The library's TGMC_VERSION. */
uint32_t tgmc_version(void);

/** What was compiled in: bits TGMC_FEATURE_... */
uint32_t tgmc_features(void);

/** Checks once, at start-up, that header and library agree: tgmc_layout_check(TGMC_LAYOUT) is TGMC_OK, or else
 * TGMC_E_LAYOUT. */
tgmc_status_t tgmc_layout_check(uint32_t layout);

/** The name of a status as static text: its constant without TGMC_E_. "UNKNOWN" for other numbers. Feature
 * names; costs 4 KiB of flash in a program that calls it. */
const char *tgmc_kind_name(tgmc_status_t kind);

/* ---- Finding messages ----------------------------------------------------------------------------------------- */

/** Finds the next message in data that holds several, from *position on (begin with 0). Skips bytes between messages.
 * Writes the message's bytes, and moves *position after it. TGMC_END after the last message. Reads headers, and
 * searches for a preamble byte by byte where no message follows. O(bytes skipped). Opening the message may still fail:
 * only its two ends were found. */
tgmc_status_t tgmc_scan(const void *data, size_t len, size_t *position, tgmc_slice_t *message, tgmc_error_t *error);

/** Opens the message that the data begin with. Bytes after it are ignored. O(1): reads preamble and postamble.
 * The data stay borrowed by all that comes from the message. */
tgmc_status_t tgmc_message_open(tgmc_message_t *message, const void *data, size_t len, tgmc_error_t *error);

/** Bytes of the message as it states them. 0 for a streamed message, whose preamble states no length, and for an
 * invalid struct. O(1) */
uint64_t tgmc_message_size(const tgmc_message_t *message);

/** Flags of the preamble, which are advisory; 0 for an invalid struct. O(1). */
uint16_t tgmc_message_flags(const tgmc_message_t *message);

/** The number of data objects: from the index frame if there is one, otherwise by a walk over the frames.
 * The index is not compared with the objects. */
tgmc_status_t tgmc_message_object_count(const tgmc_message_t *message, uint64_t *count, tgmc_error_t *error);

/** Checks the digests of all frames: reads every byte. TGMC_OK if there are digests, and all are right; *good is their
 * number. TGMC_END if no frame has a digest. TGMC_E_DIGEST_MISMATCH at the first frame with a wrong one; *object is
 * then its object, or TGMC_NO_OBJECT if it is another frame. `good` and `object` are optional, and are always written.
 * Feature hash. */
tgmc_status_t tgmc_message_verify(const tgmc_message_t *message, uint64_t *good, uint64_t *object,
                                  tgmc_error_t *error);

/* ---- Frames --------------------------------------------------------------------------------------------------- */

/** One frame. */
typedef struct tgmc_frame_info {
    uint16_t type; /* TGMC_FRAME_... */
    uint16_t flags;
    uint32_t reserved;
    uint64_t offset; /* from the message's start */
    uint64_t total_length; /* without padding */
    uint64_t hash_slot; /* a digest if the flags say so (bit 1) */
    tgmc_slice_t body; /* CBOR; of a data object: payload, masks and descriptor */
} tgmc_frame_info_t;

/** Begins a walk over the message's frames. O(1). */
tgmc_status_t tgmc_frames_init(tgmc_frames_t *frames, const tgmc_message_t *message, tgmc_error_t *error);

/** The next frame, after checks of its header, tail and order. TGMC_END after the last one, and after an error. O(1),
 * and O(bytes) over bytes between frames. */
tgmc_status_t tgmc_frames_next(tgmc_frames_t *frames, tgmc_frame_info_t *frame, tgmc_error_t *error);

/* ---- Objects -------------------------------------------------------------------------------------------------- */

/** Dimensions that tgmc_object_info_t holds. */
#define TGMC_INFO_DIMS 8

/** What an object is. */
typedef struct tgmc_object_info {
    uint8_t dtype; /* TGMC_FLOAT16 ... */
    uint8_t byte_order; /* TGMC_BIG or TGMC_LITTLE: of stored scalars */
    uint8_t encoding; /* TGMC_ENCODING_... */
    uint8_t filter; /* TGMC_FILTER_... */
    uint8_t compression; /* TGMC_COMPRESSION_... */
    uint8_t pending; /* the stage that has to be undone next, TGMC_STAGE_...; none: the payload is the values */
    uint8_t ndim_overflow; /* 1 if there are more than TGMC_INFO_DIMS dimensions: tgmc_object_dim has the others */
    uint8_t masks; /* bits TGMC_MASK_... */
    uint32_t ndim; /* 0 for a scalar */
    uint32_t element_size; /* bytes; 0 for bits */
    uint64_t element_count; /* the product of the dimensions */
    uint64_t decoded_len; /* bytes of all decoded values; UINT64_MAX if 64 bits cannot count them */
    uint64_t index; /* which object of the message; TGMC_NO_OBJECT from tgmc_descriptor_info */
    uint64_t shape[TGMC_INFO_DIMS]; /* slowest dimension first */
    tgmc_slice_t type; /* the kind of object, "ntensor" as a rule; empty if it comes in pieces */
    tgmc_slice_t payload; /* encoded values without masks; empty from tgmc_descriptor_info */
    tgmc_slice_t descriptor; /* its CBOR */
} tgmc_object_info_t;

/** Finds object `index`, counted from 0, and checks its descriptor. With an index frame this reads the index and the
 * object; otherwise it walks over the frames before. An index is trusted: one that lies can lead to another data object
 * of the message's bytes. tgmc_objects_next never reads it. */
tgmc_status_t tgmc_object_open(const tgmc_message_t *message, uint64_t index, tgmc_object_t *object,
                               tgmc_error_t *error);

/** Begins a walk over the message's objects. O(1). */
tgmc_status_t tgmc_objects_init(tgmc_objects_t *objects, const tgmc_message_t *message, tgmc_error_t *error);

/** The next object. TGMC_END after the last one. After an error of a descriptor the walk goes on with the next object;
 * after an error of a frame it has ended. O(descriptor), besides what tgmc_frames_next costs. */
tgmc_status_t tgmc_objects_next(tgmc_objects_t *objects, tgmc_object_t *object, tgmc_error_t *error);

/** What an object is. O(descriptor). */
tgmc_status_t tgmc_object_info(const tgmc_object_t *object, tgmc_object_info_t *info, tgmc_error_t *error);

/** What a descriptor says, for the CBOR of an event. The slices refer to `cbor`. O(descriptor). */
tgmc_status_t tgmc_descriptor_info(const void *cbor, size_t len, tgmc_object_info_t *info, tgmc_error_t *error);

/** One dimension, `axis` counted from 0. TGMC_END beyond the last. O(descriptor). */
tgmc_status_t tgmc_object_dim(const tgmc_object_t *object, uint32_t axis, uint64_t *dim, tgmc_error_t *error);

/** One stored stride, in whatever unit the writer used. TGMC_END beyond the last. O(descriptor). */
tgmc_status_t tgmc_object_stride(const tgmc_object_t *object, uint32_t axis, uint64_t *stride, tgmc_error_t *error);

/** The value of a parameter, such as "sp_bits_per_value". TGMC_END if it is absent. Fields such as "dtype" are no
 * parameters. O(descriptor). */
tgmc_status_t tgmc_object_parameter(const tgmc_object_t *object, const char *key, size_t key_len, tgmc_value_t *value,
                                    tgmc_error_t *error);

/** Checks the digest of the object's frame: reads all of it. TGMC_END if it has none. Feature hash. */
tgmc_status_t tgmc_object_verify(const tgmc_object_t *object, tgmc_error_t *error);

/* ---- Values --------------------------------------------------------------------------------------------------- */

/* No function here checks digests: call tgmc_object_verify first if the bytes are not trusted. */

/** The values in place, without a copy, if no stage stands between: otherwise TGMC_E_NEEDS_DECODING, with the stage.
 * *swapped is 1 if they are in the other byte order (optional). The address may be unaligned for the type.
 * O(descriptor). */
tgmc_status_t tgmc_object_view(const tgmc_object_t *object, tgmc_slice_t *values, uint8_t *swapped,
                               tgmc_error_t *error);

/** Bytes that `count` decoded values from `start` on take; `count` may be TGMC_ALL. O(descriptor). */
tgmc_status_t tgmc_object_decoded_len(const tgmc_object_t *object, uint64_t start, uint64_t count, size_t *len,
                                      tgmc_error_t *error);

/** Bytes of scratch memory for tgmc_object_read_...: 0 except for some payloads with szip. tgmc_object_decode never
 * needs more; it needs none without szip, and with szip only if there is a filter as well. O(descriptor). */
tgmc_status_t tgmc_object_scratch_len(const tgmc_object_t *object, size_t *len, tgmc_error_t *error);

/** Decodes `count` values (or TGMC_ALL) from `start` on to bytes in `order`. `out_len` must be what
 * tgmc_object_decoded_len says.
 * Undoes szip, shuffle and simple_packing, and restores NaN and infinities. Bits of a bitmask begin at the first bit.
 * `scratch` is optional; see tgmc_object_scratch_len. O(out_len) without szip. A szip stream is decoded from its start:
 * O(start + count); tgmc_szip_decode_range is quicker where offsets are known. */
tgmc_status_t tgmc_object_decode(const tgmc_object_t *object, uint64_t start, uint64_t count, uint8_t order, void *out,
                                 size_t out_len, void *scratch, size_t scratch_len, tgmc_error_t *error);

/** tgmc_object_decode for payloads that are not compressed: without szip's code in the program. */
tgmc_status_t tgmc_object_decode_stored(const tgmc_object_t *object, uint64_t start, uint64_t count, uint8_t order,
                                        void *out, size_t out_len, tgmc_error_t *error);

/** Writes NaN and infinities where the masks say so: over decoded values, in `order`, from element `start` on.
 * Feature masks. O(len + bytes of the masks). */
tgmc_status_t tgmc_object_restore(const tgmc_object_t *object, uint64_t start, uint8_t order, void *values, size_t len,
                                  tgmc_error_t *error);

/** All values as floats, from any real dtype: `count` is the number of elements. Integers are rounded to the nearest
 * float, and NaN and infinities are restored. Feature packing. O(count). */
tgmc_status_t tgmc_object_read_f32(const tgmc_object_t *object, float *out, size_t count, void *scratch,
                                   size_t scratch_len, tgmc_error_t *error);
tgmc_status_t tgmc_object_read_f64(const tgmc_object_t *object, double *out, size_t count, void *scratch,
                                   size_t scratch_len, tgmc_error_t *error);

/** Unpacks `count` values of simple_packing from `start` on, straight to floats, also out of szip. Masked values are
 * the writer's placeholders. TGMC_E_NOT_PACKED for other encodings. Feature packing. O(count), with szip
 * O(start + count). */
tgmc_status_t tgmc_object_unpack_f32(const tgmc_object_t *object, uint64_t start, float *out, size_t count,
                                     tgmc_error_t *error);
tgmc_status_t tgmc_object_unpack_f64(const tgmc_object_t *object, uint64_t start, double *out, size_t count,
                                     tgmc_error_t *error);

/** The same for values that are compressed with szip and have no filter: the quickest way, and the least code. Features
 * packing and szip. */
tgmc_status_t tgmc_object_unszip_f32(const tgmc_object_t *object, uint64_t start, float *out, size_t count,
                                     tgmc_error_t *error);
tgmc_status_t tgmc_object_unszip_f64(const tgmc_object_t *object, uint64_t start, double *out, size_t count,
                                     tgmc_error_t *error);

/** The bits of one mask (TGMC_MASK_...) for `count` elements from `start` on, most significant bit first. `len` is
 * (count + 7) / 8. TGMC_END if the object has no such mask. Feature masks. O(bytes of the mask). */
tgmc_status_t tgmc_object_mask_bits(const tgmc_object_t *object, uint8_t mask, uint64_t start, uint64_t count,
                                    void *bits, size_t len, tgmc_error_t *error);

/** Reverses the bytes of each unit of 1, 2, 4 or 8 bytes, in place. O(len). */
tgmc_status_t tgmc_swap(void *data, size_t len, size_t unit, tgmc_error_t *error);

/* ---- Metadata and CBOR ---------------------------------------------------------------------------------------- */

/** The metadata value at a dotted path, such as "mars.param": in the first object that has it, then in the writer's
 * annotations. TGMC_END if it is absent. No tree is built: O(bytes of the metadata), and a walk over the frames. */
tgmc_status_t tgmc_message_get(const tgmc_message_t *message, const char *path, size_t path_len, tgmc_value_t *value,
                               tgmc_error_t *error);

/** The same in the metadata of one object. */
tgmc_status_t tgmc_message_get_at(const tgmc_message_t *message, uint64_t object, const char *path, size_t path_len,
                                  tgmc_value_t *value, tgmc_error_t *error);

/** The same in the CBOR of one metadata frame, for an event. The value refers to `cbor`. */
tgmc_status_t tgmc_metadata_get(const void *cbor, size_t len, const char *path, size_t path_len, tgmc_value_t *value,
                                tgmc_error_t *error);

/** The CBOR item that `cbor` begins with. The value refers to `cbor`. O(bytes of the item), as all functions below. */
tgmc_status_t tgmc_value_open(tgmc_value_t *value, const void *cbor, size_t len, tgmc_error_t *error);

/** The type of a value, TGMC_VALUE_...; TGMC_VALUE_NULL for an invalid struct. */
uint8_t tgmc_value_kind(const tgmc_value_t *value);

/** A value of a type. TGMC_E_WRONG_TYPE for another type, TGMC_E_INTEGER_RANGE for an integer that does not fit.
 * Nothing is converted, except that tgmc_value_f64 takes integers, and rounds them. A bool is 0 or 1. */
tgmc_status_t tgmc_value_bool(const tgmc_value_t *value, uint8_t *out, tgmc_error_t *error);
tgmc_status_t tgmc_value_u64(const tgmc_value_t *value, uint64_t *out, tgmc_error_t *error);
tgmc_status_t tgmc_value_i64(const tgmc_value_t *value, int64_t *out, tgmc_error_t *error);
tgmc_status_t tgmc_value_f64(const tgmc_value_t *value, double *out, tgmc_error_t *error);

/** A text (UTF-8, no NUL at its end) or byte string in place. TGMC_E_INDEFINITE if it comes in pieces. */
tgmc_status_t tgmc_value_text(const tgmc_value_t *value, tgmc_slice_t *out, tgmc_error_t *error);
tgmc_status_t tgmc_value_bytes(const tgmc_value_t *value, tgmc_slice_t *out, tgmc_error_t *error);

/** The number of items of an array, or of entries of a map. */
tgmc_status_t tgmc_value_len(const tgmc_value_t *value, size_t *len, tgmc_error_t *error);

/** Item `index` of an array, or entry `index` of a map. `key` is optional; it is zeros for an array. TGMC_END beyond
 * the last. Reads the items before it: a loop over n items takes O(n * bytes). */
tgmc_status_t tgmc_value_at(const tgmc_value_t *value, size_t index, tgmc_value_t *key, tgmc_value_t *item,
                            tgmc_error_t *error);

/* ---- Kernels -------------------------------------------------------------------------------------------------- */

/** XXH3-64 with seed 0, the digest of a frame's body; 0 for NULL with a length. Feature hash. */
uint64_t tgmc_xxh3(const void *data, size_t len);

/** Parameters of a bare szip stream. */
typedef struct tgmc_szip_params {
    uint32_t bits_per_sample; /* 1 to 32 */
    uint32_t block_size; /* samples: 8, 16, 32 or 64 */
    uint32_t rsi; /* blocks in a reference sample interval, 1 to 4096 */
    uint32_t flags; /* libaec's: signed 1, 3 bytes 2, msb 4, preprocess 8, restricted 16, pad_rsi 32, not_enforce 64 */
} tgmc_szip_params_t;

/** Decodes a szip stream from its start: out_len bytes, samples of (bits_per_sample + 7) / 8 bytes. O(out_len). */
tgmc_status_t tgmc_szip_decode(const void *stream, size_t stream_len, const tgmc_szip_params_t *params, void *out,
                               size_t out_len, tgmc_error_t *error);

/** Decodes from sample `first_sample` on. `rsi_offsets` are the bits at which intervals start (optional): without the
 * one that is needed, the blocks before are read. A wrong offset gives wrong samples. */
tgmc_status_t tgmc_szip_decode_range(const void *stream, size_t stream_len, const tgmc_szip_params_t *params,
                                     const uint64_t *rsi_offsets, size_t rsi_count, uint64_t first_sample, void *out,
                                     size_t out_len, tgmc_error_t *error);

/* ---- Messages that come in pieces ----------------------------------------------------------------------------- */

/* Links: bytes can be lost, or not. On a lossy link a preamble inside a message begins the next one. */
#define TGMC_LINK_RELIABLE 0
#define TGMC_LINK_LOSSY 1

/* Events, in this order:
 * [resynchronised] preamble { frame begin { cbor | chunk... descriptor | descriptor chunk... } frame end }...
 * message end
 * Fields that are not named are 0, and object_index is TGMC_NO_OBJECT. */
#define TGMC_EVENT_RESYNCHRONISED 1 /* length: bytes that were skipped */
#define TGMC_EVENT_PREAMBLE 2       /* flags; offset: place in the stream; length: of the message, 0 if not stated */
#define TGMC_EVENT_FRAME_BEGIN 3    /* frame_type, flags, object_index, offset, length */
#define TGMC_EVENT_CBOR 4           /* frame_type, verdict, offset, bytes: body of a metadata, index or hash frame */
#define TGMC_EVENT_DESCRIPTOR 5     /* object_index, offset, bytes: CBOR; length: of the payload; region: its length */
#define TGMC_EVENT_CHUNK 6          /* part, object_index, offset, bytes; region: place of the bytes in the region */
#define TGMC_EVENT_TOO_LARGE 7      /* frame_type, object_index: CBOR that does not fit the window comes as chunks;
                                       length: of the CBOR, region: of the region, 0 if not known */
#define TGMC_EVENT_FRAME_END 8      /* frame_type, verdict, object_index; offset: of the frame's end */
#define TGMC_EVENT_MESSAGE_END 9    /* length: of the message; region: the number of its objects */

/* What a chunk is part of. The region is payload and masks. */
#define TGMC_PART_PAYLOAD 1 /* the descriptor came before */
#define TGMC_PART_MASKS 2   /* the descriptor came before */
#define TGMC_PART_REGION 3  /* the descriptor comes later, and says where the payload ends */
#define TGMC_PART_BODY 4    /* of an object whose descriptor comes first and does not fit */
#define TGMC_PART_CBOR 5    /* of other CBOR that does not fit */

/* Digests of frames. */
#define TGMC_DIGEST_MISSING 0
#define TGMC_DIGEST_GOOD 1
#define TGMC_DIGEST_MISMATCH 2

/** One fact about the stream. Offsets count from the message's first byte. */
typedef struct tgmc_event {
    uint8_t kind; /* TGMC_EVENT_... */
    uint8_t frame_type; /* TGMC_FRAME_... */
    uint8_t part; /* TGMC_PART_... */
    uint8_t verdict; /* TGMC_DIGEST_... */
    uint32_t flags;
    uint64_t object_index;
    uint64_t offset;
    uint64_t length;
    uint64_t region;
    tgmc_slice_t bytes; /* in the input or in the decoder's memory; valid until the next call with this decoder */
} tgmc_event_t;

/** Bytes of memory for a decoder that keeps up to `window` bytes of CBOR: about 1 KiB more. Metadata and descriptors
 * that are larger than the window, and do not come in one piece, are not read. 0 if `window` is too large. */
size_t tgmc_push_size(size_t window);

/** Makes a decoder in `memory`, at any address; all of it is the decoder's as long as it is used, and it must not be
 * moved. The window is what is left of `len`. `link` is TGMC_LINK_...  */
tgmc_status_t tgmc_push_init(void *memory, size_t len, uint8_t link, tgmc_push_t **push, tgmc_error_t *error);

/** Reads *input up to the next event, and moves its front after what was read. TGMC_END: all was read, feed the next
 * piece. After an error the message is given up; go on calling, and the next message will be found. O(bytes read). */
tgmc_status_t tgmc_push_next(tgmc_push_t *push, tgmc_slice_t *input, tgmc_event_t *event, tgmc_error_t *error);

/** Whether the stream may end here. */
tgmc_status_t tgmc_push_finish(tgmc_push_t *push, tgmc_error_t *error);

/** Starts anew: the next byte is byte `position` of the stream, and begins a message. */
tgmc_status_t tgmc_push_reset(tgmc_push_t *push, uint64_t position, tgmc_error_t *error);

/** Makes an unpacker for the payload of an object, given its descriptor's CBOR: for objects without filter and
 * compression, plain or packed. The CBOR is not needed afterwards. Features push and packing. */
tgmc_status_t tgmc_unpacker_init(tgmc_unpacker_t *unpacker, const void *descriptor, size_t len, tgmc_error_t *error);

/** Takes values from the front of *chunk: up to `room` of them. *written is their number. 0 means that the chunk is
 * used up, or that all values have come. Packed values come as either type; plain ones only as their own (float32,
 * float64). Masked values are the writer's placeholders. O(values). */
tgmc_status_t tgmc_unpacker_f32(tgmc_unpacker_t *unpacker, tgmc_slice_t *chunk, float *out, size_t room,
                                size_t *written, tgmc_error_t *error);
tgmc_status_t tgmc_unpacker_f64(tgmc_unpacker_t *unpacker, tgmc_slice_t *chunk, double *out, size_t room,
                                size_t *written, tgmc_error_t *error);

/** TGMC_OK if all values have come, otherwise TGMC_E_TRUNCATED. */
tgmc_status_t tgmc_unpacker_finish(tgmc_unpacker_t *unpacker, tgmc_error_t *error);

/** Largest block of szip that an unpacker takes, in samples. */
#define TGMC_SZIP_BLOCK 64

/** The same for objects with szip, without a filter: plain values of up to 4 bytes, or packed ones of whole bytes.
 * Values come when their block is complete. Features push, packing and szip. */
tgmc_status_t tgmc_szip_unpacker_init(tgmc_szip_unpacker_t *unpacker, const void *descriptor, size_t len,
                                      tgmc_error_t *error);
tgmc_status_t tgmc_szip_unpacker_f32(tgmc_szip_unpacker_t *unpacker, tgmc_slice_t *chunk, float *out, size_t room,
                                     size_t *written, tgmc_error_t *error);
tgmc_status_t tgmc_szip_unpacker_f64(tgmc_szip_unpacker_t *unpacker, tgmc_slice_t *chunk, double *out, size_t room,
                                     size_t *written, tgmc_error_t *error);
tgmc_status_t tgmc_szip_unpacker_finish(tgmc_szip_unpacker_t *unpacker, tgmc_error_t *error);

/* ---- Layout --------------------------------------------------------------------------------------------------- */

/* The sizes of all structs in one number. Wraps at 32 bits, as the library's does. */
#define TGMC_MIX_(mixed, type) ((uint32_t)((mixed) * UINT32_C(31) + (uint32_t)sizeof(type)))
#define TGMC_LAYOUT_1_                                                                                                \
    TGMC_MIX_(TGMC_MIX_(TGMC_MIX_(TGMC_MIX_(TGMC_MIX_(UINT32_C(0), tgmc_slice_t), tgmc_error_t), tgmc_frame_info_t),  \
                        tgmc_object_info_t), tgmc_szip_params_t)
#define TGMC_LAYOUT                                                                                                   \
    TGMC_MIX_(TGMC_MIX_(TGMC_MIX_(TGMC_MIX_(TGMC_MIX_(TGMC_LAYOUT_1_, tgmc_event_t), tgmc_message_t), tgmc_frames_t), \
                        tgmc_object_t), tgmc_value_t)

#ifdef __cplusplus
}
#endif

#endif
