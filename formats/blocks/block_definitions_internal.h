/*
 * The model of definitions: the records of templates, each by a token and its address. Used by the
 * encoder and the decoder alike (bit_coder_internal.h). doc/block-codec.md, "Definitions",
 * specifies it.
 */
#ifndef FORMATS_BLOCKS_BLOCK_DEFINITIONS_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_DEFINITIONS_INTERNAL_H

#include "formats/blocks/block_places_internal.h"
#include "formats/blocks/block_template.h"

/* How the address of a record follows. */
enum block_kind {
    BLOCK_KIND_NEXT,     /* the end of the fetch before it */
    BLOCK_KIND_CONSTANT, /* the same each time */
    BLOCK_KIND_LEADER,   /* stored for each execution */
    BLOCK_KIND_FOLLOWER  /* a leader's address, plus a constant */
};

#define BLOCK_TOKENS         256u
#define BLOCK_TOKEN_CONTEXTS 32u
#define BLOCK_TOKEN_END      0u /* after the last record */
#define BLOCK_TOKEN_NEW      255u
#define BLOCK_TOKEN_BITS     8u
#define BLOCK_LEADER_BITS    7u
#define BLOCK_INDEX_BITS     7u /* of a record's number in its instruction */

/* What a definition says of a record, besides its address. */
struct block_token {
    uint8_t kind, type, size, attribute;
    uint32_t time;
};

/* Which place has a slot of the table of places. */
struct block_owner {
    uint64_t key;
    uint32_t place; /* number + 1; 0: none */
};

/* Tables have 1 << bits elements; the owner allocates and empties them. */
struct block_definitions {
    uint64_t next;     /* where the latest fetch ends */
    uint64_t fetch;    /* address of the latest fetch */
    uint64_t constant; /* the latest constant address of data */
    struct block_token tokens[BLOCK_TOKENS];
    unsigned token_count; /* with BLOCK_TOKEN_END */
    unsigned bits;
    uint16_t *seen; /* by place in the code: the latest token, and 8 bits of a hash above it */
    struct block_owner *owners;
    uint32_t place_count;
    struct bit_model guessed[2]; /* by: the first record, another one */
    struct bit_model token[BLOCK_TOKEN_CONTEXTS][BLOCK_TOKENS];
    struct bit_model leader[1 << BLOCK_LEADER_BITS];
    struct block_differences differences;
};

/* Contexts of differences in definitions. */
enum { BLOCK_CONTEXT_FETCH, BLOCK_CONTEXT_CONSTANT, BLOCK_CONTEXT_FOLLOWER };

/* The definition that is being coded. */
struct block_defining {
    struct record *record;                         /* the next one, */
    struct block_reference *reference;             /* and the reference that it may be */
    unsigned count, references, leaders;           /* so far */
    unsigned index;                                /* of the record in its instruction */
    uint8_t of_leader[BLOCK_TEMPLATE_RECORDS_MAX]; /* its reference */
    uint64_t offset[BLOCK_TEMPLATE_RECORDS_MAX];   /* by leader: of its latest follower */
};

/* The number of the place of a reference: the same in all templates with that instruction. */
BIT_CODER_INLINE uint32_t block_place_number(struct block_definitions *model, unsigned index)
{
    uint64_t key = model->fetch << BLOCK_INDEX_BITS | index;
    struct block_owner *owner = &model->owners[key * BLOCK_HASH_1 >> (64 - model->bits)];
    if (owner->key != key || owner->place == 0)
        *owner = (struct block_owner){.key = key, .place = ++model->place_count};
    return owner->place - 1;
}

/* The number of the next token. */
BIT_CODER_INLINE unsigned block_token_number(bool decode, struct bit_coder *coder,
                                             struct block_definitions *model, unsigned index,
                                             unsigned before, unsigned number)
{
    uint64_t hash = (model->fetch << BLOCK_INDEX_BITS | index) * BLOCK_HASH_1;
    uint16_t *seen = &model->seen[hash >> (64 - model->bits)];
    uint16_t check = (uint16_t)((hash & 0xff) << 8);
    unsigned guess = (*seen & 0xff00) == check ? *seen & 0xff : BLOCK_TOKEN_END;
    if (guess != BLOCK_TOKEN_END &&
        !bit_code(decode, coder, &model->guessed[before != BLOCK_TOKEN_END], number != guess))
        return guess;
    unsigned context = before < BLOCK_TOKEN_CONTEXTS ? before : BLOCK_TOKEN_CONTEXTS - 1;
    number = bit_code_tree(decode, coder, model->token[context], BLOCK_TOKEN_BITS, number);
    if (number != BLOCK_TOKEN_END)
        *seen = (uint16_t)(check | number);
    return number;
}

BIT_CODER_INLINE void block_token_plain(bool decode, struct bit_coder *coder,
                                        struct block_token *token)
{
    token->kind = (uint8_t)bit_code_plain(decode, coder, 2, token->kind);
    token->type = (uint8_t)bit_code_plain(decode, coder, 8, token->type);
    token->size = (uint8_t)bit_code_plain(decode, coder, 8, token->size);
    token->attribute = (uint8_t)bit_code_plain(decode, coder, 8, token->attribute);
    token->time = (uint32_t)bit_code_plain(decode, coder, 32, token->time);
}

/* The number of a token, or BLOCK_TOKEN_NEW. */
BIT_CODER_INLINE unsigned block_token_find(const struct block_definitions *model,
                                           const struct block_token *token)
{
    for (unsigned i = 1; i < model->token_count; i++)
        if (memcmp(&model->tokens[i], token, sizeof *token) == 0)
            return i;
    return BLOCK_TOKEN_NEW;
}

/* Codes the next token; `before` is the one before it. False: the stream is damaged. */
BIT_CODER_INLINE bool block_define_token(bool decode, struct bit_coder *coder,
                                         struct block_definitions *model, unsigned index,
                                         unsigned *before, struct block_token *token, bool end)
{
    unsigned number = BLOCK_TOKEN_END;
    if (!decode && !end)
        number = block_token_find(model, token);
    number = block_token_number(decode, coder, model, index, *before, number);
    *before = number;
    if (number == BLOCK_TOKEN_NEW) {
        block_token_plain(decode, coder, token);
        if (model->token_count < BLOCK_TOKEN_NEW)
            model->tokens[model->token_count++] = *token;
    } else if (decode && number != BLOCK_TOKEN_END) {
        if (number >= model->token_count)
            return false;
        *token = model->tokens[number];
    }
    return true;
}

/* Codes the leader and the offset of a follower. False: the stream is damaged. */
BIT_CODER_INLINE bool block_define_follower(bool decode, struct bit_coder *coder,
                                            struct block_definitions *model,
                                            struct block_defining *defining)
{
    struct block_reference *reference = defining->reference;
    unsigned back = 0;
    uint8_t length;
    while (!decode && defining->of_leader[defining->leaders - 1 - back] != reference->leader)
        back++;
    back = bit_code_tree(decode, coder, model->leader, BLOCK_LEADER_BITS, back);
    if (decode && back >= defining->leaders)
        return false;
    unsigned leader = defining->leaders - 1 - back;
    uint64_t *offset = &defining->offset[leader];
    *offset += block_difference(decode, coder, &model->differences, BLOCK_CONTEXT_FOLLOWER,
                                reference->offset - *offset, &length);
    reference->leader = defining->of_leader[leader];
    reference->offset = *offset;
    reference->place = 0;
    return true;
}

/* Codes the address of a record with that token. False: the stream is damaged. */
BIT_CODER_INLINE bool block_define_address(bool decode, struct bit_coder *coder,
                                           struct block_definitions *model,
                                           struct block_defining *defining,
                                           const struct block_token *token, uint64_t *address)
{
    bool fetch = token->type == REQUEST_FETCH;
    uint8_t length;
    switch (token->kind) {
    case BLOCK_KIND_NEXT:
        *address = model->next;
        return true;
    case BLOCK_KIND_CONSTANT: {
        uint64_t from = fetch ? model->next : model->constant;
        *address = block_difference(decode, coder, &model->differences,
                                    fetch ? BLOCK_CONTEXT_FETCH : BLOCK_CONTEXT_CONSTANT,
                                    *address - from, &length) +
                   from;
        if (!fetch)
            model->constant = *address;
        return true;
    }
    case BLOCK_KIND_LEADER:
        defining->of_leader[defining->leaders] = (uint8_t)defining->references;
        defining->offset[defining->leaders++] = 0;
        defining->reference->leader = (uint8_t)defining->references;
        defining->reference->offset = 0;
        defining->reference->place = block_place_number(model, defining->index);
        break;
    default:
        if (!block_define_follower(decode, coder, model, defining))
            return false;
    }
    defining->reference->record = (uint8_t)defining->count;
    defining->reference++;
    defining->references++;
    *address = 0;
    return true;
}

/* The token of the encoder's next record. */
BIT_CODER_INLINE struct block_token block_define_choose(const struct block_definitions *model,
                                                        const struct block_template *template,
                                                        const struct block_defining *defining)
{
    const struct record *record = defining->record;
    struct block_token token = {.type = record->type,
                                .size = record->size,
                                .attribute = record->attribute,
                                .time = record->time};
    if (defining->references < template->reference_count &&
        defining->reference->record == defining->count)
        token.kind = defining->reference->leader == defining->references ? BLOCK_KIND_LEADER
                                                                         : BLOCK_KIND_FOLLOWER;
    else if (record->type == REQUEST_FETCH && record->address == model->next)
        token.kind = BLOCK_KIND_NEXT;
    else
        token.kind = BLOCK_KIND_CONSTANT;
    return token;
}

/*
 * Codes a definition. The decoder fills records, references and their counts, for which there must
 * be room for BLOCK_TEMPLATE_RECORDS_MAX each; the encoder gets the places of its leaders. False:
 * the stream is damaged.
 */
BIT_CODER_INLINE bool block_define(bool decode, struct bit_coder *coder,
                                   struct block_definitions *model, struct block_template *template)
{
    struct block_defining defining = {.record = template->records,
                                      .reference = template->references};
    unsigned before = BLOCK_TOKEN_END;
    for (;; defining.count++, defining.record++) {
        bool end = !decode && defining.count == template->record_count;
        struct block_token token = {0};
        uint64_t address = 0;
        if (!decode && !end) {
            token = block_define_choose(model, template, &defining);
            address = defining.record->address;
        }
        if (!block_define_token(decode, coder, model, defining.index, &before, &token, end))
            return false;
        if (before == BLOCK_TOKEN_END)
            break;
        if (defining.count == BLOCK_TEMPLATE_RECORDS_MAX ||
            !block_define_address(decode, coder, model, &defining, &token, &address))
            return false;
        defining.index++;
        if (token.type == REQUEST_FETCH) {
            model->fetch = address;
            model->next = address + token.size;
            defining.index = 0;
        }
        if (decode)
            *defining.record = (struct record){.address = (uint32_t)address,
                                               .type = token.type,
                                               .size = token.size,
                                               .attribute = token.attribute,
                                               .time = token.time};
    }
    template->record_count = defining.count;
    template->reference_count = defining.references;
    return defining.count > 0;
}

#endif
