/* A program's process as tests play it: random blocks, their executions, and marks. */
#ifndef TESTS_SUPPORT_EXEC_PLAY_H
#define TESTS_SUPPORT_EXEC_PLAY_H

#include "capture/program/exec_sender.h"
#include "tests/support/trace_blocks.h"

#include <sys/types.h>

#define EXEC_PLAY_PIECES 40u
#define EXEC_PLAY_ROOM   6000000u /* more than the records of any seed */

/* What a program's process puts, the same for each seed: pieces of entries of several processors,
 * some with marks; now and then the code cache is flushed. */
struct exec_play {
    struct code_cache *cache;
    struct block *blocks;
    uint32_t *entries;
    uint64_t state;
    struct trace_expander expander;
    size_t count;
    struct exec_marks marks;
};

void exec_play_begin(struct exec_play *play, uint64_t seed);
void exec_play_end(struct exec_play *play);

/* The next piece: its entries, its marks, and the expander's fields. */
void exec_play_next(struct exec_play *play);

/* Records; there is EXEC_PLAY_ROOM for them. */
struct exec_play_output {
    struct record *records;
    size_t count;
};

/* Adds the records that the pieces stand for, with marks in their attributes. */
void exec_play_expand(uint64_t seed, struct exec_play_output *output);

/* Puts all pieces into a ring, and ends it. */
pid_t exec_play_put(struct message_ring *ring, uint64_t seed); /* in a child */

#endif
