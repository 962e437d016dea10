#include "tests/support/block_coder.h"

#include <stdlib.h>

bool block_coder_make(struct block_coder *coder, size_t records)
{
    *coder = (struct block_coder){.encoder = block_encoder_new(NULL),
                                  .decoder = block_decoder_new(NULL),
                                  .capacity = block_encoder_bound(records)};
    coder->bytes = malloc(coder->capacity);
    return coder->encoder && coder->decoder && coder->bytes;
}

void block_coder_clear(struct block_coder *coder)
{
    block_encoder_free(coder->encoder);
    block_decoder_free(coder->decoder);
    block_executions_free(&coder->executions);
    free(coder->bytes);
}

const struct block_executions *block_coder_put(struct block_coder *coder,
                                               const struct record *records, size_t count)
{
    size_t size;
    uint32_t made, check;
    const bool good = block_encoder_records(coder->encoder, records, count, coder->bytes,
                                            coder->capacity, &size, &made, NULL) == 0 &&
                      block_executions_get(&coder->executions, coder->decoder, coder->bytes, size,
                                           count, &check, NULL) == 0 &&
                      check == made;
    return good ? &coder->executions : NULL;
}
