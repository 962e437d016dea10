/* A member whose blocks would take more than its records. */
#include "formats/blocks/block_encoder_internal.h"

#include <stdlib.h>

/* Where the expansion is. */
struct expansion {
    struct record *records;
    size_t count;
    const struct record *literals;
    const uint64_t *addresses;
    uint8_t processor;
};

/* Appends one execution. */
static void expand_execution(struct expansion *expansion, const struct block_encoder *encoder,
                             const struct block_described *described)
{
    const struct record *records = &encoder->records[described->first_record];
    struct record *out = expansion->records + expansion->count;
    for (unsigned i = 0; i < described->record_count; i++) {
        out[i] = records[i];
        out[i].processor = expansion->processor;
    }
    for (unsigned i = 0; i < described->reference_count; i++) {
        const struct block_reference *reference =
            &encoder->references[described->first_reference + i];
        out[reference->record].address = (uint32_t)*expansion->addresses++;
    }
    expansion->count += described->record_count;
}

/* Appends the literals before an exceptional execution. */
static void expand_literals(struct expansion *expansion, const struct block_exception *exception)
{
    if (exception->what & BLOCK_EXCEPTION_LITERALS && exception->literals > 0) {
        memcpy(expansion->records + expansion->count, expansion->literals,
               exception->literals * sizeof *expansion->records);
        expansion->count += exception->literals;
        expansion->literals += exception->literals;
    }
    if (exception->what & BLOCK_EXCEPTION_PROCESSOR)
        expansion->processor = exception->processor;
}

int block_encoder_expand(struct block_encoder *encoder)
{
    size_t total = encoder->literal_count;
    for (size_t i = 0; i < encoder->execution_count; i++)
        total += encoder->templates[encoder->executions[i]].record_count;
    struct expansion expansion = {.records = calloc(total, sizeof *expansion.records),
                                  .literals = encoder->literals,
                                  .addresses = encoder->addresses};
    if (!expansion.records)
        return BT_MEMORY;
    const struct block_exception *exception = encoder->exceptions;
    const struct block_exception *end = exception + encoder->exception_count;
    for (size_t i = 0; i <= encoder->execution_count; i++) {
        bool special = exception < end && exception->at == i;
        if (special)
            expand_literals(&expansion, exception);
        struct record *first = &expansion.records[expansion.count];
        if (i < encoder->execution_count)
            expand_execution(&expansion, encoder, &encoder->templates[encoder->executions[i]]);
        if (special && exception->what & BLOCK_EXCEPTION_ATTRIBUTE)
            first->attribute ^= exception->attribute;
        exception += special;
    }
    block_encoder_begin(encoder);
    int result = block_encoder_literals(encoder, expansion.records, total);
    free(expansion.records);
    return result;
}
