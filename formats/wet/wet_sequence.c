#include "formats/wet/wet_sequence.h"

#include <string.h>

#define CONTEXTS ((size_t)1 << WET_SEQUENCE_BITS)

int wet_sequence_init(struct wet_sequence *sequence)
{
    sequence->by_context = calloc(CONTEXTS, sizeof *sequence->by_context);
    return sequence->by_context ? wet_sequence_reserve(sequence, 0) : BT_MEMORY;
}

void wet_sequence_clear(struct wet_sequence *sequence)
{
    free(sequence->by_context);
    free(sequence->by_number);
    *sequence = (struct wet_sequence){.by_context = NULL};
}

void wet_sequence_reset(struct wet_sequence *sequence)
{
    memset(sequence->by_context, 0, CONTEXTS * sizeof *sequence->by_context);
    memset(sequence->by_number, 0, sequence->number_capacity * sizeof *sequence->by_number);
    sequence->run = 0;
    sequence->has_run = false;
}

int wet_sequence_reserve(struct wet_sequence *sequence, uint32_t number)
{
    const size_t before = sequence->number_capacity;
    uint32_t *larger = grow_array(sequence->by_number, &sequence->number_capacity,
                                  (size_t)number + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    sequence->by_number = larger;
    memset(larger + before, 0, (sequence->number_capacity - before) * sizeof *larger);
    return 0;
}

void wet_sequence_put_other(struct wet_sequence *sequence, const struct wet_context *context,
                            uint32_t number, struct wet_bytes *to)
{
    const uint32_t last = context->before[0];
    wet_bytes_put(to, sequence->run);
    wet_bytes_put(to, sequence->by_number[last] == number
                          ? 0
                          : 1 + wet_zigzag((uint64_t)number - (uint64_t)last));
    sequence->run = 0;
}

int wet_sequence_finish(struct wet_sequence *sequence, struct wet_bytes *to)
{
    if (sequence->run > 0)
        wet_bytes_put(to, sequence->run);
    sequence->run = 0;
    return to->out_of_memory ? BT_MEMORY : 0;
}

/* Reads a number that the context does not predict. 0 or BT_DATA. */
static int get_other(struct wet_sequence *sequence, const struct wet_context *context,
                     struct wet_cursor *from, uint64_t *number)
{
    const uint32_t last = context->before[0];
    const uint64_t code = wet_cursor_get(from);
    sequence->has_run = false;
    *number = code == 0 ? sequence->by_number[last] : last + wet_unzigzag(code - 1);
    return from->failed ? BT_DATA : 0;
}

int wet_sequence_get(struct wet_sequence *sequence, struct wet_context *context, uint32_t last,
                     struct wet_cursor *from, uint32_t *number)
{
    uint32_t *predicted = &sequence->by_context[wet_context_hash(context)];
    uint64_t found = *predicted;
    int result = last < sequence->number_capacity ? 0 : wet_sequence_reserve(sequence, last);
    if (!sequence->has_run) {
        sequence->run = wet_cursor_get(from);
        sequence->has_run = true;
    }
    if (result < 0 || from->failed)
        return result < 0 ? result : BT_DATA;
    if (sequence->run > 0)
        sequence->run--;
    else
        result = get_other(sequence, context, from, &found);
    if (result < 0 || found > last)
        return BT_DATA;
    *number = *predicted = (uint32_t)found;
    sequence->by_number[context->before[0]] = *number;
    wet_context_add(context, *number);
    return 0;
}
