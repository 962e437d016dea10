/*
 * A static walk through the machine code of one function: its basic blocks, and its natural loops.
 *
 * The walk follows direct branches from the function's entries; calls continue after the call. The
 * caller adds what the code does not tell: targets of indirect jumps, and places where a call
 * returned instead (longjmp, exceptions). With a new one, make the walk again. Instructions may
 * overlap: each belongs to one node.
 */
#ifndef TOOLS_CFG_CODE_WALK_H
#define TOOLS_CFG_CODE_WALK_H

#include "tools/dcfg/graph/loops.h"

#include <stdbool.h>

/* A basic block. Node 0 is the walk's root: it has no code, and leads to the entries. */
struct code_node {
    uint64_t start, end; /* end: after its last instruction */
    bool is_open;        /* it ends with an indirect jump of which no target is known */
    bool leaves;         /* its last instruction may end the path: a return, a trap, a jump out of
                            the function, or an open one */
};

#define CODE_JUMP_OUT 0u

/* An indirect jump or a call, and where it led. */
struct code_jump {
    uint64_t jump;   /* address of the instruction */
    uint64_t target; /* CODE_JUMP_OUT: out of the function */
};

struct code_walk_settings {
    /* The code at an address: how many bytes can be read at *code, up to any number; 0: none. */
    size_t (*read)(void *context, uint64_t address, const uint8_t **code);

    /* Whether an address belongs to the function; NULL: each does. A jump out of it is a tail call,
     * which ends a path. */
    bool (*is_inside)(void *context, uint64_t address);

    bool ends_outside; /* an instruction that continues outside ends a path, too */
    void *context;
    const uint64_t *entries;
    size_t entry_count;            /* at least 1 */
    const struct code_jump *jumps; /* ascending by their instructions, then targets */
    size_t jump_count;
    uint32_t instructions_max; /* the walk ends after so many */
};

struct code_walk {
    struct code_node *nodes; /* by start, after the root */
    struct digraph graph;
    struct dominators dominators;
    struct loops loops;  /* numbers of heads and members are nodes */
    bool is_cut;         /* instructions_max was reached: nodes and loops may be missing */
    uint64_t *addresses; /* of instructions, ascending */
    uint32_t *owners;    /* the nodes of these instructions */
    uint32_t instruction_count;
};

/* 0 or BT_MEMORY; free with code_walk_clear() in either case. */
int code_walk_make(struct code_walk *walk, const struct code_walk_settings *settings,
                   struct bt_error *error);
void code_walk_clear(struct code_walk *walk);

/* The node of the instruction at an address; DIGRAPH_NONE: the walk has no instruction there. */
uint32_t code_walk_find(const struct code_walk *walk, uint64_t address);

/* The innermost loop of a node; LOOPS_NONE: none. */
static inline uint32_t code_walk_loop(const struct code_walk *walk, uint32_t node)
{
    return walk->loops.innermost[node];
}

#endif
