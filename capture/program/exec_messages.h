/*
 * The messages that carry a program's references through a ring: records; or the trace entries of
 * executed blocks, which the consumer expands or codes, with a description of each block before its
 * first execution. The producer is the same program as the consumer, so these are plain structures.
 */
#ifndef CAPTURE_PROGRAM_EXEC_MESSAGES_H
#define CAPTURE_PROGRAM_EXEC_MESSAGES_H

#include "capture/exec/translate/code_cache.h"

enum exec_message_kind {
    EXEC_MESSAGE_RECORDS, /* struct record, up to the message's end */
    EXEC_MESSAGE_ENTRIES, /* uint32_t, complete executions of blocks: trace_expand.h */
    EXEC_MESSAGE_BLOCK,   /* struct exec_block and its lists; blocks are numbered in this order */
    EXEC_MESSAGE_FORGET   /* the next block has number 0 */
};

/* The begin of each message. */
struct exec_message {
    uint8_t kind;        /* enum exec_message_kind */
    uint8_t begins_part; /* a gap is before the first record */
    uint8_t has_events;  /* records may have events */

    /* of entries: */
    uint8_t repetitions; /* trace_expand.h */
    uint8_t event;       /* enum record_event of the first fetch */
    uint8_t processor;   /* its records have this processor */
    uint64_t fs_base;    /* the writing thread's fs base */
};

/* Numbers of a block's elements; struct record, patch, special and uint16_t of `through_fs` follow
 * in this order (code_cache.h). */
struct exec_block {
    uint16_t instructions, slots;
    uint16_t records, patches, specials, through_fs;
};

#endif
