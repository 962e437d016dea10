/*
 * The sequence of a program's blocks in a WET trace: numbers, each predicted from the three before
 * it. Stored are the number of predictions in a row that were right, then the number that was not
 * predicted. Specified in doc/wet-file.md, "Sequence".
 *
 * Each thread has a context of its own; they share what was learnt.
 */
#ifndef FORMATS_WET_WET_SEQUENCE_H
#define FORMATS_WET_WET_SEQUENCE_H

#include "formats/base/error.h"
#include "formats/wet/wet_bytes.h"

#define WET_SEQUENCE_BITS 16u

/* The last three numbers of a thread. Zeroed at the start. */
struct wet_context {
    uint32_t before[3]; /* the latest first */
};

/* Zeroed before wet_sequence_init(). */
struct wet_sequence {
    uint32_t *by_context; /* the number that followed a context last */
    uint32_t *by_number;  /* the number that followed a number last */
    size_t number_capacity;
    uint64_t run; /* number of right predictions: so far, or still to be read */
    bool has_run; /* reading: `run` has been read */
};

/* 0 or BT_MEMORY; free with wet_sequence_clear() in either case. */
int wet_sequence_init(struct wet_sequence *sequence);
void wet_sequence_clear(struct wet_sequence *sequence);

/* Forgets what was learnt. */
void wet_sequence_reset(struct wet_sequence *sequence);

/* Makes room for numbers up to this one. 0 or BT_MEMORY. */
int wet_sequence_reserve(struct wet_sequence *sequence, uint32_t number);

static inline uint32_t wet_context_hash(const struct wet_context *context)
{
    const uint64_t mixed = context->before[0] * UINT64_C(0x9e3779b97f4a7c15) +
                           context->before[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
                           context->before[2] * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(mixed >> (64 - WET_SEQUENCE_BITS));
}

static inline void wet_context_add(struct wet_context *context, uint32_t number)
{
    context->before[2] = context->before[1];
    context->before[1] = context->before[0];
    context->before[0] = number;
}

/* Appends a number that the context does not predict. */
void wet_sequence_put_other(struct wet_sequence *sequence, const struct wet_context *context,
                            uint32_t number, struct wet_bytes *to);

/* Appends a number below the reserved ones; without memory `to` says so. */
static inline void wet_sequence_put(struct wet_sequence *sequence, struct wet_context *context,
                                    uint32_t number, struct wet_bytes *to)
{
    uint32_t *predicted = &sequence->by_context[wet_context_hash(context)];
    if (*predicted == number) {
        sequence->run++;
    } else {
        wet_sequence_put_other(sequence, context, number, to);
        *predicted = number;
    }
    sequence->by_number[context->before[0]] = number;
    wet_context_add(context, number);
}

/* Ends the bytes: what is put after it begins anew. 0 or BT_MEMORY. */
int wet_sequence_finish(struct wet_sequence *sequence, struct wet_bytes *to);

/* Reads the next number, which is at most `last`. 0, or BT_DATA: there is none, or a larger one;
 * BT_MEMORY. */
int wet_sequence_get(struct wet_sequence *sequence, struct wet_context *context, uint32_t last,
                     struct wet_cursor *from, uint32_t *number);

#endif
