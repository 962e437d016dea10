/* Inside the block codec: its models. */
#ifndef FORMATS_BLOCKS_BLOCK_MODELS_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_MODELS_INTERNAL_H

#include "formats/blocks/block_definitions_internal.h"
#include "formats/blocks/block_models.h"
#include "formats/blocks/block_sequence_internal.h"

struct block_models {
    struct block_definitions definitions;
    struct block_sequence sequence;
    struct block_addresses addresses;
    struct block_place *places; /* by number */
    size_t place_count, place_capacity;
};

/* The content of a member begins with these numbers, 4 bytes each: doc/block-codec.md, "Content".
 */
enum block_header {
    BLOCK_HEADER_FORM, /* BLOCK_CODEC_VERSION, and the table bits << 8 */
    BLOCK_HEADER_TEMPLATES,
    BLOCK_HEADER_EXECUTIONS,
    BLOCK_HEADER_LITERALS,    /* records */
    BLOCK_HEADER_DEFINITIONS, /* sizes of the sections in bytes, except for the last, literals */
    BLOCK_HEADER_SEQUENCE,
    BLOCK_HEADER_ADDRESSES,
    BLOCK_HEADER_EXCEPTIONS,
    BLOCK_HEADER_NUMBERS
};
#define BLOCK_HEADER_BYTES  (4u * BLOCK_HEADER_NUMBERS)
#define BLOCK_CODEC_VERSION 1u

/* What an exception says. */
enum {
    BLOCK_EXCEPTION_PROCESSOR = 1, /* of this and the next executions */
    BLOCK_EXCEPTION_ATTRIBUTE = 2, /* bits that differ in the execution's first record */
    BLOCK_EXCEPTION_LITERALS = 4   /* before the execution */
};

/* The sum of a member's executions: of template numbers and leaders' addresses. */
BIT_CODER_INLINE uint64_t block_sum(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * BLOCK_HASH_1;
}

#endif
