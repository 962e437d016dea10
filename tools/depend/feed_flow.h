/*
 * The static control flow of the functions of a running program, for the loops of a dependence
 * trace: a walk through each executed function's code finds natural loops, and is made again when
 * an indirect jump reaches another target. Loops keep their numbers: function and head identify
 * them.
 */
#ifndef TOOLS_DEPEND_FEED_FLOW_H
#define TOOLS_DEPEND_FEED_FLOW_H

#include "formats/base/hash_index.h"
#include "tools/cfg/code_walk.h"
#include "tools/cfg/code_window.h"
#include "tools/profile/functions.h"

struct feed_function {
    uint32_t number; /* functions_at() */
    bool is_detail;
    bool is_outdated; /* there are jumps that the walk does not know */
    uint32_t version; /* number of walks */
    uint64_t *entries;
    size_t entry_count, entry_capacity;
    struct code_jump *jumps;
    size_t jump_count, jump_capacity, jumps_walked;
    struct hash_index by_jump;
    struct code_walk walk;
    uint32_t *chains; /* of the walk's loops */
};

/* Nested loops, from the outermost to the innermost: a list from the end. */
struct feed_chain {
    uint32_t loop;  /* the innermost one */
    uint32_t outer; /* chain of the others */
    uint32_t depth; /* number of loops */
};

#define FEED_CHAIN_NONE 0u /* no loop */

struct feed_loop {
    uint32_t function; /* functions_at() */
    uint64_t head;     /* address */
    uint32_t test;     /* depend_loop_begin() */
};

struct feed_flow {
    struct functions *functions;
    /* Reads the program's memory: process_read(). */
    int (*read)(void *context, void *bytes, uint64_t address, size_t size);
    bool (*is_detail)(void *context, uint32_t function);
    void *context;

    /* private */
    struct feed_function **by_number;
    size_t number_capacity;
    struct feed_loop *loops;
    size_t loop_count, loop_capacity;
    struct hash_index by_loop;
    struct feed_chain *chains;
    size_t chain_count, chain_capacity;
    struct hash_index by_chain;
    struct code_window window; /* while a walk is made */
};

/* The caller sets the first four members, the rest is zero. 0 or BT_MEMORY; clear it in any case.
 */
int feed_flow_init(struct feed_flow *flow);
void feed_flow_clear(struct feed_flow *flow);

/* The code at an address, as in code_walk_settings. */
size_t feed_flow_read(struct feed_flow *flow, uint64_t address, const uint8_t **code);

/* A function by its number; new ones have no walk yet. NULL: no memory. */
struct feed_function *feed_flow_function(struct feed_flow *flow, uint32_t number);

/* Execution has reached an address of the function: where the walk does not know it, it becomes an
 * entry. 0 or BT_MEMORY. */
int feed_flow_reach(struct feed_flow *flow, struct feed_function *function, uint64_t address);

/* Execution has jumped from an instruction to an address of the same function in a way that the
 * code does not tell. 0 or BT_MEMORY. */
int feed_flow_jump(struct feed_flow *flow, struct feed_function *function, uint64_t jump,
                   uint64_t target);

/* Makes the function's walk again if there are jumps that it does not know. 0 or BT_MEMORY. */
int feed_flow_update(struct feed_flow *flow, struct feed_function *function);

/* The loops around an instruction. *is_head: it begins an iteration of the innermost one;
 * *begins_node: it begins a basic block. */
uint32_t feed_flow_chain(const struct feed_function *function, uint64_t address, bool *is_head,
                         bool *begins_node);

#endif
