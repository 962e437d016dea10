/* The models of the block codec, which the encoder and the decoder keep alike. */
#ifndef FORMATS_BLOCKS_BLOCK_MODELS_H
#define FORMATS_BLOCKS_BLOCK_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_TABLE_BITS_MIN 8u
#define BLOCK_TABLE_BITS_MAX 15u

struct block_models;

/* NULL: no memory. */
struct block_models *block_models_new(void);
void block_models_free(struct block_models *models);

/* Their memory in bytes, without places. */
size_t block_models_memory(void);

/* The table bits that an encoder chooses for a member with this number of records. */
unsigned block_models_bits(size_t records);

/* Empties the models before a member; bits within the limits above. */
void block_models_begin(struct block_models *models, unsigned bits);

/* Makes all places that definitions have numbered so far usable. False: no memory. */
bool block_models_places(struct block_models *models);

#endif
