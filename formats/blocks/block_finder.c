/*
 * Finds blocks in records: a block is a fetch, those that follow it in memory, and their data, up
 * to a fetch elsewhere.
 */
#include "formats/blocks/block_encoder_internal.h"
#include "formats/blocks/block_finder_internal.h"

#include <stdlib.h>

#define HEAD_BITS 15

/* An instruction with more data (a string instruction) continues in blocks of its own, so that
 * different lengths have the same templates. */
#define DATA_MAX 16u

/* Templates with the same first record that are compared: a block may end at any of its branches.
 */
#define CHAIN_MAX 64u

/* A member of which this share has to be defined is no program's: records are deflated. */
#define SAMPLE        8192u
#define DEFINED_SHARE 3 / 4

uint32_t *block_finder_heads(void)
{
    return malloc(sizeof(uint32_t) << HEAD_BITS);
}

/* Fields except the address: type to processor, and time. */
static uint64_t rest_of(const struct record *record)
{
    uint64_t rest;
    memcpy(&rest, &record->type, sizeof rest);
    return rest;
}

/* Whether the attribute has bits that are events or parts of a fetch: they begin a block. */
static bool is_marked(const struct record *record)
{
    return record->type == REQUEST_FETCH && record->attribute & (ATTRIBUTE_EVENT | ATTRIBUTE_PART);
}

/* The number of records of the block that begins at records, of at most `left`. */
static unsigned block_length(const struct record *records, size_t left)
{
    unsigned max = left < BLOCK_TEMPLATE_RECORDS_MAX ? (unsigned)left : BLOCK_TEMPLATE_RECORDS_MAX;
    const struct record *first = records;
    bool code = first->type == REQUEST_FETCH;
    uint32_t next = first->address + first->size;
    unsigned data = !code, i;
    for (i = 1; i < max && records[i].processor == first->processor; i++) {
        if (records[i].type == REQUEST_FETCH) {
            if (!code || records[i].address != next || is_marked(&records[i]))
                break;
            next += records[i].size;
            data = 0;
        } else if (++data > DATA_MAX) {
            break;
        }
    }
    return i;
}

static uint32_t hash_of(const struct record *first)
{
    uint64_t key = first->type == REQUEST_FETCH
                       ? first->address
                       : UINT64_C(1) << 40 | first->type | first->size << 8;
    return (uint32_t)(key * BLOCK_HASH_1 >> (64 - HEAD_BITS));
}

/* Whether the records are an execution of a template with as many records. */
static bool matches(const struct record *template, const struct record *records, unsigned count)
{
    uint64_t processor = rest_of(&(const struct record){.processor = records->processor});
    uint8_t marks = is_marked(records) ? ATTRIBUTE_EVENT | ATTRIBUTE_PART : 0;
    uint64_t exceptional = rest_of(&(const struct record){.attribute = marks});
    for (unsigned i = 0; i < count; i++) {
        bool fetch = template[i].type == REQUEST_FETCH;
        uint64_t difference = rest_of(&template[i]) ^ rest_of(&records[i]) ^ processor;
        if ((difference & ~exceptional) != 0 ||
            (fetch && template[i].address != records[i].address))
            return false;
        exceptional = 0;
    }
    return true;
}

/* The template of a block; a new one if it has none. Or BT_MEMORY. */
static int64_t find(struct block_encoder *encoder, const struct record *records, unsigned count)
{
    uint32_t *head = &encoder->heads[hash_of(records)];
    uint32_t number = *head;
    for (unsigned i = 0; number && i < CHAIN_MAX; i++) {
        const struct block_described *described = &encoder->templates[number - 1];
        if (described->record_count == count &&
            matches(&encoder->records[described->first_record], records, count))
            return number - 1;
        number = described->chained;
    }
    uint8_t variable[BLOCK_TEMPLATE_RECORDS_MAX];
    unsigned variable_count = 0;
    for (unsigned i = 0; i < count; i++)
        if (records[i].type != REQUEST_FETCH)
            variable[variable_count++] = (uint8_t)i;
    int64_t made = block_encoder_template(encoder, records, count, variable, variable_count);
    if (made < 0)
        return made;
    struct block_described *described = &encoder->templates[made];
    if (is_marked(records))
        encoder->records[described->first_record].attribute &=
            (uint8_t) ~(ATTRIBUTE_EVENT | ATTRIBUTE_PART);
    described->chained = *head;
    *head = (uint32_t)made + 1;
    return made;
}

/* The template of the block that begins at records; *count gets its length. Or BT_MEMORY. */
static int64_t next_template(struct block_encoder *encoder, uint32_t last,
                             const struct record *records, size_t left, unsigned *count)
{
    uint32_t guess = last ? encoder->templates[last - 1].successor : 0;
    *count = block_length(records, left);
    if (guess) {
        const struct block_described *described = &encoder->templates[guess - 1];
        if (described->record_count == *count &&
            matches(&encoder->records[described->first_record], records, *count))
            return guess - 1;
    }
    int64_t found = find(encoder, records, *count);
    if (last && found >= 0)
        encoder->templates[last - 1].successor = (uint32_t)found + 1;
    return found;
}

/* Adds the records as an execution of the template. 0 or BT_MEMORY. */
static int execute(struct block_encoder *encoder, uint32_t number, const struct record *records)
{
    const struct block_described *described = &encoder->templates[number];
    const struct block_reference *references = &encoder->references[described->first_reference];
    const struct record *first = &encoder->records[described->first_record];
    uint64_t *addresses = encoder->addresses + encoder->address_count;
    for (unsigned i = 0; i < described->reference_count; i++)
        addresses[i] = records[references[i].record].address;
    const struct block_execution execution = {.template = number,
                                              .processor = records->processor,
                                              .attribute = records->attribute ^ first->attribute};
    return block_encoder_add(encoder, &execution);
}

void block_finder_begin(struct block_encoder *encoder)
{
    memset(encoder->heads, 0, sizeof *encoder->heads << HEAD_BITS);
}

/* Adds the block that begins at records, of at most `left`; *last is the template before it, + 1.
 * Returns its number of records, or BT_MEMORY. */
static int add_block(struct block_encoder *encoder, uint32_t *last, const struct record *records,
                     size_t left)
{
    unsigned length;
    int64_t number = next_template(encoder, *last, records, left, &length);
    if (number < 0 || execute(encoder, (uint32_t)number, records) != 0)
        return BT_MEMORY;
    *last = (uint32_t)number + 1;
    return (int)length;
}

int block_finder_add(struct block_encoder *encoder, const struct record *records, size_t count)
{
    uint32_t last = 0;
    int length = 0;
    for (size_t at = 0; at < count && length >= 0; at += (size_t)length)
        length = add_block(encoder, &last, records + at, count - at);
    return length < 0 ? length : 0;
}

int block_encoder_records(struct block_encoder *encoder, const struct record *records, size_t count,
                          uint8_t *out, size_t capacity, size_t *size, uint32_t *check,
                          struct bt_error *error)
{
    block_encoder_begin(encoder);
    block_finder_begin(encoder);
    bool good = block_encoder_reserve(encoder, count, count);
    uint32_t last = 0;
    for (size_t at = 0; at < count && good;) {
        const int length = add_block(encoder, &last, records + at, count - at);
        good = length > 0;
        at += good ? (size_t)length : 0;
        if (encoder->record_count > SAMPLE && encoder->record_count > at * DEFINED_SHARE) {
            block_encoder_begin(encoder);
            good = good && block_encoder_literals(encoder, records, count) == 0;
            break;
        }
    }
    if (!good)
        return bt_fail(error, BT_MEMORY, "no memory to code blocks");
    return block_encoder_finish(encoder, out, capacity, size, check, error);
}
