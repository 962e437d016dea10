#include "formats/blocks/block_models_internal.h"

#include "formats/base/grow.h"

#define TABLE_SIZE ((size_t)1 << BLOCK_TABLE_BITS_MAX)

struct block_models *block_models_new(void)
{
    struct block_models *models = calloc(1, sizeof *models);
    if (!models)
        return NULL;
    struct block_definitions *definitions = &models->definitions;
    struct block_sequence *sequence = &models->sequence;
    struct block_addresses *addresses = &models->addresses;
    definitions->seen = malloc(TABLE_SIZE * sizeof *definitions->seen);
    definitions->owners = malloc(TABLE_SIZE * sizeof *definitions->owners);
    sequence->seconds = malloc(TABLE_SIZE * sizeof *sequence->seconds);
    addresses->pointers = malloc(TABLE_SIZE * sizeof *addresses->pointers);
    addresses->callers = malloc(TABLE_SIZE * sizeof *addresses->callers);
    bool good = definitions->seen && definitions->owners && sequence->seconds &&
                addresses->pointers && addresses->callers;
    for (unsigned i = 0; i < BLOCK_ORDERS; i++) {
        sequence->by[i] = malloc(TABLE_SIZE * sizeof *sequence->by[i]);
        good = good && sequence->by[i];
    }
    if (good)
        return models;
    block_models_free(models);
    return NULL;
}

void block_models_free(struct block_models *models)
{
    if (!models)
        return;
    free(models->definitions.seen);
    free(models->definitions.owners);
    for (unsigned i = 0; i < BLOCK_ORDERS; i++)
        free(models->sequence.by[i]);
    free(models->sequence.seconds);
    free(models->addresses.pointers);
    free(models->addresses.callers);
    free(models->places);
    free(models);
}

size_t block_models_memory(void)
{
    const struct block_models *models = NULL;
    return sizeof *models +
           TABLE_SIZE *
               (sizeof *models->definitions.seen + sizeof *models->definitions.owners +
                sizeof *models->sequence.seconds + sizeof *models->addresses.pointers +
                sizeof *models->addresses.callers + BLOCK_ORDERS * sizeof *models->sequence.by[0]);
}

unsigned block_models_bits(size_t records)
{
    unsigned bits = BLOCK_TABLE_BITS_MIN;
    while (bits < BLOCK_TABLE_BITS_MAX && records >> (bits + 5))
        bits++;
    return bits;
}

static void begin_definitions(struct block_definitions *definitions, unsigned bits)
{
    definitions->bits = bits;
    definitions->next = definitions->fetch = definitions->constant = 0;
    definitions->token_count = 1;
    definitions->place_count = 0;
    memset(definitions->seen, 0, sizeof *definitions->seen << bits);
    memset(definitions->owners, 0, sizeof *definitions->owners << bits);
    bit_models_reset(definitions->guessed, 2);
    bit_models_reset(definitions->token[0], (size_t)BLOCK_TOKEN_CONTEXTS * BLOCK_TOKENS);
    bit_models_reset(definitions->leader, 1 << BLOCK_LEADER_BITS);
    block_differences_reset(&definitions->differences);
}

static void begin_sequence(struct block_sequence *sequence, unsigned bits)
{
    sequence->bits = bits;
    for (unsigned i = 0; i < BLOCK_ORDERS; i++) {
        memset(sequence->by[i], 0, sizeof *sequence->by[i] << bits);
        sequence->context[i] = 0;
    }
    memset(sequence->seconds, 0, sizeof *sequence->seconds << bits);
    bit_models_reset(sequence->guess[0][0], sizeof sequence->guess / sizeof(struct bit_model));
    bit_models_reset(sequence->second, BLOCK_ORDERS + 1);
    bit_models_reset(sequence->fresh, BLOCK_ORDERS + 1);
}

void block_models_begin(struct block_models *models, unsigned bits)
{
    begin_definitions(&models->definitions, bits);
    begin_sequence(&models->sequence, bits);
    struct block_addresses *addresses = &models->addresses;
    addresses->bits = bits;
    addresses->before = 0;
    memset(addresses->pointers, 0, sizeof *addresses->pointers << bits);
    memset(addresses->callers, 0, sizeof *addresses->callers << bits);
    block_differences_reset(&addresses->differences);
    models->place_count = 0;
}

bool block_models_places(struct block_models *models)
{
    size_t wanted = models->definitions.place_count;
    if (!GROW_ROOM(models->places, models->place_capacity, wanted))
        return false;
    while (models->place_count < wanted)
        block_place_reset(&models->places[models->place_count++]);
    return true;
}
