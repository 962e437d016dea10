/*
 * From what blocks write into the trace buffer to records: an entry of 4 bytes with the block's
 * number, then the entries that its instructions wrote; the rest is known from the block.
 *
 * Of each instruction: its fetch, its reads in their order, its writes. A fetch has time 1, data
 * have 0: time counts instructions. String instructions with rep are one fetch, however often they
 * repeat. Accesses of more than 64 bytes become several references. Addresses are cut to 32 bits.
 */
#ifndef CAPTURE_EXEC_TRACE_TRACE_EXPAND_H
#define CAPTURE_EXEC_TRACE_TRACE_EXPAND_H

#include "capture/exec/translate/code_cache.h"

struct trace_code;

#define TRACE_EXPAND_RECORDS_MIN 1536u /* an output must hold so many */

#define TRACE_COMPONENTS 32u

struct trace_expander;

/*
 * Takes entries as they are instead of the records that they stand for: `count` of them, whole
 * executions of blocks; then, unless `part` is NULL, of this block, whose entries are behind them,
 * the first `instructions` only. Adds what was executed to expander->instructions. 0, or a negative
 * bt_code. Called where records would be put.
 */
typedef int trace_take_function(void *context, struct trace_expander *expander,
                                const uint32_t *entries, size_t count, const struct block *part,
                                unsigned instructions);

struct trace_expander {
    const struct code_cache *cache;
    struct trace_code *code; /* for the same cache; NULL: without */
    uint64_t fs_base;        /* of the thread, while it wrote the entries */
    uint8_t processor;       /* in every record */
    uint64_t instructions;   /* that were expanded so far */

    /* records go here, and when it is full to put(), which returns 0 or a negative bt_code */
    struct record *records;
    size_t count, capacity;
    int (*put)(void *context, struct record *records, size_t count);
    void *context;

    trace_take_function *take; /* NULL: records are made, and put */
    void *take_context;

    /* of XSAVE's state components: bytes, place in the standard form, alignment in the compact */
    struct {
        uint32_t size, offset;
        bool aligned;
    } components[TRACE_COMPONENTS];
    uint64_t component_mask; /* those that the system has switched on */
};

/* Components of XSAVE that an instruction touches, one after the other. */
struct trace_areas {
    uint64_t asked, touched, form; /* bits of components */
    bool compact;
    uint32_t end; /* of those that came before, in the compact form */
    unsigned next;
};

/* What there is to touch: of `asked` in edx:eax, by `in_use` (XSTATE_BV) and `form` (XCOMP_BV) of
 * the area's header. Then the next one's offset in the area, and its size; false: there is none. */
struct trace_areas trace_expander_areas(const struct trace_expander *expander,
                                        enum decode_xsave which, uint64_t asked, uint64_t in_use,
                                        uint64_t form);
bool trace_expander_next_area(const struct trace_expander *expander, struct trace_areas *areas,
                              uint32_t *offset, uint32_t *size);

/* Fills in the components; all else is the caller's. */
void trace_expander_init(struct trace_expander *expander);

/* Expands `count` entries, which are whole executions of blocks. */
int trace_expand(struct trace_expander *expander, const uint32_t *entries, size_t count);

/* The first instructions of a block only: what was done before a fault. */
int trace_expand_part(struct trace_expander *expander, const struct block *block,
                      const uint32_t *entries, unsigned instructions);

/* Puts what is left. */
int trace_expander_flush(struct trace_expander *expander);

/* References that only entries can tell (trace_special.c). */
int trace_special(struct trace_expander *expander, const struct special *special,
                  const uint32_t *entries);

#endif
