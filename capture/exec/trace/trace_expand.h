/*
 * Expands the trace buffer to records. An execution of a block is a 4-byte entry with the block's
 * number, then the entries of its instructions; the rest is in the block.
 *
 * The records of an instruction are its fetch, its reads in order, and its writes. A fetch has time
 * 1, data have 0: time counts instructions. A string instruction with rep is one fetch, regardless
 * of its repetitions; with `repetitions` each one after the first has a fetch with time 0. Accesses
 * of more than 64 bytes become several references. Addresses are cut to 32 bits.
 */
#ifndef CAPTURE_EXEC_TRACE_TRACE_EXPAND_H
#define CAPTURE_EXEC_TRACE_TRACE_EXPAND_H

#include "capture/exec/translate/code_cache.h"

struct trace_code;

#define TRACE_EXPAND_RECORDS_MIN 1536u /* minimum capacity of the output */

#define TRACE_COMPONENTS 32u

struct trace_expander;

/*
 * Takes unexpanded entries instead of records: `count` entries of complete executions; then, unless
 * `part` is NULL, the entries of an execution of the first `instructions` instructions of that
 * block. Adds the number of executed instructions to expander->instructions. Returns 0, or a
 * negative bt_code. Called instead of put().
 */
typedef int trace_take_function(void *context, struct trace_expander *expander,
                                const uint32_t *entries, size_t count, const struct block *part,
                                unsigned instructions);

struct trace_expander {
    const struct code_cache *cache;
    struct trace_code *code; /* for the same cache; NULL: without */
    uint64_t fs_base;        /* of the thread, when it wrote the entries */
    uint8_t processor;       /* in every record */
    bool repetitions;        /* of string instructions have fetches */
    uint64_t instructions;   /* number of instructions expanded so far */

    /* output; put() takes it when it is full, and returns 0 or a negative bt_code */
    struct record *records;
    size_t count, capacity;
    int (*put)(void *context, struct record *records, size_t count);
    void *context;

    trace_take_function *take; /* NULL: entries are expanded, and records put */

    /* Position within an execution, for trace_expand_some(); zero: at its begin. */
    struct trace_pause {
        bool on;
        const struct block *block;
        unsigned special;    /* the next special; the records before it are expanded if */
        uint32_t repetition; /* this is its next repetition; 0: they are not */
        struct record fetch; /* fetches the repeated instruction */
    } pause;
    bool pauses; /* within trace_expand_some() */

    /* XSAVE's state components: size, offset in the standard form, alignment in the compact one */
    struct {
        uint32_t size, offset;
        bool aligned;
    } components[TRACE_COMPONENTS];
    uint64_t component_mask; /* components enabled by the system */
};

/* Iterates over the XSAVE components that an instruction accesses. */
struct trace_areas {
    uint64_t asked, touched, form; /* bits of components */
    bool compact;
    uint32_t end; /* end of the previous components, in the compact form */
    unsigned next;
};

/* Begins an iteration: `asked` is edx:eax; `in_use` (XSTATE_BV) and `form` (XCOMP_BV) are from the
 * area's header. The second function returns the next component's offset in the area and its size;
 * false: no more. */
struct trace_areas trace_expander_areas(const struct trace_expander *expander,
                                        enum decode_xsave which, uint64_t asked, uint64_t in_use,
                                        uint64_t form);
bool trace_expander_next_area(const struct trace_expander *expander, struct trace_areas *areas,
                              uint32_t *offset, uint32_t *size);

/* Initializes the components; the caller initializes all other fields. */
void trace_expander_init(struct trace_expander *expander);

/* Expands `count` entries, which are complete executions of blocks. */
int trace_expand(struct trace_expander *expander, const uint32_t *entries, size_t count);

/*
 * Expands entries as trace_expand() does, but never calls put() nor take(): stops when `records` is
 * nearly full, possibly within an execution. Returns the number of entries of the executions that
 * are complete; the next call continues with the entries after them. The capacity must be at least
 * TRACE_EXPAND_SOME_MIN, and fs_base and processor must stay the same up to the end of an
 * execution.
 *
 * The entries may be in memory that the program writes to, even meanwhile: those that name no
 * block, or end within an execution, give TRACE_EXPAND_UNSOUND. Up to TRACE_EXPAND_BEYOND bytes
 * after the entries are read.
 */
#define TRACE_EXPAND_SOME_MIN 3072u
#define TRACE_EXPAND_UNSOUND  SIZE_MAX
#define TRACE_EXPAND_BEYOND   ((size_t)24 << 10)
size_t trace_expand_some(struct trace_expander *expander, const uint32_t *entries, size_t count);

/* Expands the first instructions of a block, executed before a fault. */
int trace_expand_part(struct trace_expander *expander, const struct block *block,
                      const uint32_t *entries, unsigned instructions);

/* Puts the remaining records. */
int trace_expander_flush(struct trace_expander *expander);

/*
 * Whether a string instruction with a repeat prefix went backwards; entries: the count and its
 * pointers before it, the count and the first pointer after it. Of 2 GiB, both directions move the
 * pointer to the same place: then, no address has overflowed.
 */
bool trace_goes_backwards(const struct special *special, const uint32_t *entries);

/* Expands references that depend on entries (trace_special.c). */
int trace_special(struct trace_expander *expander, const struct special *special,
                  const uint32_t *entries);

#endif
