/*
 * What a translated block does, as a thread executes it: its references, and the loops that it
 * enters and leaves, in order.
 */
#ifndef TOOLS_DEPEND_FEED_BLOCK_H
#define TOOLS_DEPEND_FEED_BLOCK_H

#include "capture/depend/depend.h"
#include "capture/exec/translate/code_cache.h"
#include "tools/depend/code_places.h"
#include "tools/depend/feed_flow.h"

enum feed_operation_kind {
    FEED_READ,
    FEED_WRITE,
    FEED_READ_THROUGH_FS,
    FEED_WRITE_THROUGH_FS,
    FEED_SPECIAL, /* references of a struct special */
    FEED_OTHER,   /* only the site of the writes of the special before it */
    FEED_LOOPS    /* a basic block begins, perhaps in other loops */
};

enum feed_ending { FEED_FLOWS, FEED_CALLS, FEED_RETURNS, FEED_JUMPS };

struct feed_operation {
    uint8_t kind;         /* enum feed_operation_kind */
    uint8_t size;         /* bytes of a reference */
    bool is_head;         /* FEED_LOOPS: it begins an iteration of the innermost loop */
    uint16_t instruction; /* number of instructions of the block before it */
    uint16_t slot;        /* number of the entry with the address, or of the special */
    uint32_t mask;        /* the address is addend + (entry & mask); 0: it is constant */
    uint32_t addend;      /* FEED_LOOPS: chain */
    struct depend_site site;
};

/* What a thread executed last. */
struct feed_origin {
    uint64_t jump;     /* address of the block's last instruction */
    uint32_t function; /* number, or FUNCTION_NONE: nothing */
    uint32_t place;    /* number of that instruction's place */
    uint8_t ending;    /* enum feed_ending */
};

/* Everything about a block as one thread executes it. */
struct feed_block {
    uint64_t address;
    struct feed_function *function;
    uint32_t version; /* of the function's walk: after another one the block has to be made again */
    uint32_t chain;   /* loops around its beginning */
    bool is_head;     /* it begins an iteration of the innermost one */
    bool begins_function;
    uint16_t instruction_count;            /* executed ones */
    uint16_t slots;                        /* number of entries */
    struct feed_origin origin;             /* what the next block is entered from */
    const struct feed_operation *transfer; /* of the return address; NULL: none */
    uint32_t operation_count;
    struct feed_operation operations[];
};

/* A call instruction and its function. */
struct feed_call {
    uint32_t function; /* number, or FUNCTION_NONE */
    uint64_t address;
};

/* The calls of a thread that have not returned, the latest last. */
struct feed_calls {
    const struct feed_call *calls;
    size_t count;
};

/* The latest of a function's calls. NULL: there is none. */
const struct feed_call *feed_call_of(const struct feed_calls *calls, uint32_t function);

/* Makes a block. NULL: no memory. Free with free(). */
struct feed_block *feed_block_new(const struct block *block, struct feed_flow *flow,
                                  struct code_places *places, const struct feed_origin *origin,
                                  const struct feed_calls *calls);

/* Makes the walk of a function know how an address of it was reached. 0 or BT_MEMORY. */
int feed_block_arrive(struct feed_flow *flow, struct feed_function *function, uint64_t address,
                      const struct feed_origin *origin, const struct feed_calls *calls);

#endif
