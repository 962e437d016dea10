/*
 * What a translated block does when it is executed, as operations on the recorder's state: the
 * block's entries give the addresses.
 */
#ifndef TOOLS_WET_RECORD_RECORD_BLOCK_H
#define TOOLS_WET_RECORD_RECORD_BLOCK_H

#include "capture/exec/translate/code_cache.h"
#include "tools/wet/record/record_code.h"

enum record_operation_kind {
    RECORD_READ,  /* bytes with one port's label */
    RECORD_WRITE, /* bytes whose last writer is the instruction */
    RECORD_OUTCOME,
    RECORD_ZERO_OUTCOME, /* true if the entry is 0 */
    RECORD_READ_THROUGH_FS,
    RECORD_WRITE_THROUGH_FS,
    RECORD_READ_PART, /* more bytes of the same port follow */
    RECORD_READ_PART_THROUGH_FS,
    RECORD_READ_NOTHING, /* a label without bytes */
    RECORD_TRUE,         /* an outcome that needs no entry */
    RECORD_SPECIAL,      /* references of a struct special */
    RECORD_REPEATED,     /* the same of a string instruction with a repeat prefix */
    RECORD_SECOND        /* only the port of the second read of the operation before it */
};

struct record_operation {
    uint8_t kind;  /* enum record_operation_kind */
    uint8_t size;  /* bytes of a reference */
    uint16_t slot; /* number of the entry, or of the special */
    uint32_t mask; /* the address is addend + (entry & mask); the outcome is (entry & mask) != 0 */
    uint32_t addend;
    uint32_t id;
    union {
        struct record_port *port; /* of reads; NULL: the special only writes */
        struct record_outcome *outcome;
    };
};

/* Instructions with consecutive ids. */
struct record_ids {
    uint32_t first, count;
};

struct record_block {
    uint32_t number;   /* in the sequence */
    uint32_t first_id; /* of its first instruction */
    uint32_t last_id;
    uint16_t slots; /* number of entries */
    uint16_t instruction_count, run_count;
    bool ends_with_call; /* a system call */
    uint32_t operation_count;
    uint64_t executions;         /* in the chunk */
    const struct block *block;   /* what it was made from */
    struct record_value *values; /* in order */
    unsigned value_count;
    struct record_ids *runs;           /* all instructions */
    struct record_block *parts, *next; /* blocks of its first instructions; list of those */
    struct record_operation operations[];
};

/*
 * Makes what the first `instructions` instructions of a block do; `text` are the bytes of their
 * code. NULL with *error: no memory, or as record_code_instruction(). Free with
 * record_block_free(), which accepts NULL.
 */
struct record_block *record_block_new(struct record_code *code, const struct block *block,
                                      unsigned instructions, const uint8_t *text,
                                      struct bt_error *error);
void record_block_free(struct record_block *block);

/* Number of bytes of code, from the block's address on, of all instructions that it executes. */
size_t record_block_text(const struct block *block);

#endif
