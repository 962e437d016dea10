/*
 * Codes a member that comes as executions of blocks. Blocks that follow one another in memory make
 * one template together, as in block_finder.c: fewer executions are to be coded, and an execution
 * says more about the next one. The runs of blocks form a tree: a node is a run, its child the run
 * with one more block.
 */
#include "formats/base/grow.h"
#include "formats/blocks/block_encoder_internal.h"
#include "formats/blocks/block_feeder_internal.h"
#include "formats/blocks/block_finder_internal.h"

#define HEAD_BITS 15

/* A run of blocks; number 0 is the empty one. */
struct block_run {
    const struct table_block *block; /* its last one */
    uint32_t parent, chained;
    uint32_t child;     /* that it was extended to the last time; 0: none */
    uint32_t successor; /* the run of one block that followed it the last time; 0: none */
    uint32_t template;  /* + 1; 0: none yet */
    uint32_t records;
};

struct block_feeder {
    struct block_run *runs;
    size_t count, capacity;
    uint32_t heads[1u << HEAD_BITS]; /* by parent and block */

    /* what is being read */
    uint32_t run, before; /* the run so far, and the one before it; 0: none */
    uint32_t end;         /* where the run's last fetch ends */
    uint64_t *addresses;  /* addresses of the run that is collected, after the encoder's own */
    uint8_t processor, marks;
};

struct block_feeder *block_feeder_new(void)
{
    return calloc(1, sizeof(struct block_feeder));
}

void block_feeder_free(struct block_feeder *feeder)
{
    if (feeder)
        free(feeder->runs);
    free(feeder);
}

/* Forgets all runs: a member has its own. False: no memory. */
static bool begin(struct block_encoder *encoder, size_t count)
{
    struct block_feeder *feeder = encoder->feeder;
    block_encoder_begin(encoder);
    block_finder_begin(encoder);
    memset(feeder->heads, 0, sizeof feeder->heads);
    feeder->count = 1;
    feeder->run = feeder->before = 0;
    if (!block_encoder_reserve(encoder, count, count) ||
        !GROW_ROOM(feeder->runs, feeder->capacity, 1))
        return false;
    feeder->runs[0] = (struct block_run){.records = 0};
    return true;
}

/* The run with one more block; 0: no memory. */
static uint32_t extend(struct block_feeder *feeder, uint32_t parent,
                       const struct table_block *block)
{
    const uint64_t key = ((uint64_t)(uintptr_t)block >> 4) ^ (uint64_t)parent << 32;
    uint32_t *head = &feeder->heads[key * BLOCK_HASH_1 >> (64 - HEAD_BITS)];
    uint32_t number = *head;
    while (number && (feeder->runs[number].block != block || feeder->runs[number].parent != parent))
        number = feeder->runs[number].chained;
    if (number)
        return number;
    if (!GROW_ROOM(feeder->runs, feeder->capacity, feeder->count + 1))
        return 0;
    number = (uint32_t)feeder->count++;
    feeder->runs[number] =
        (struct block_run){.block = block,
                           .parent = parent,
                           .chained = *head,
                           .records = feeder->runs[parent].records + block->record_count};
    *head = number;
    return number;
}

/* Makes the template of a run. 0 or BT_MEMORY. */
static int describe(struct block_encoder *encoder, uint32_t number)
{
    struct block_feeder *feeder = encoder->feeder;
    struct record records[BLOCK_TEMPLATE_RECORDS_MAX];
    uint8_t variable[BLOCK_TEMPLATE_RECORDS_MAX];
    const unsigned count = feeder->runs[number].records;
    unsigned at = count, variables = BLOCK_TEMPLATE_RECORDS_MAX;
    for (uint32_t i = number; i; i = feeder->runs[i].parent) {
        const struct table_block *block = feeder->runs[i].block;
        at -= block->record_count;
        memcpy(records + at, block->records, block->record_count * sizeof *records);
        for (unsigned k = block->address_count; k-- > 0;)
            variable[--variables] = (uint8_t)(at + block->addresses[k].record);
    }
    const int64_t made = block_encoder_template(encoder, records, count, variable + variables,
                                                BLOCK_TEMPLATE_RECORDS_MAX - variables);
    if (made < 0)
        return BT_MEMORY;
    feeder->runs[number].template = (uint32_t)made + 1;
    return 0;
}

/* Ends the run: it is an execution. 0 or BT_MEMORY. */
static int end_run(struct block_encoder *encoder)
{
    struct block_feeder *feeder = encoder->feeder;
    const uint32_t run = feeder->run;
    if (run == 0)
        return 0;
    if (!feeder->runs[run].template && describe(encoder, run) != 0)
        return BT_MEMORY;
    const struct block_execution execution = {.template = feeder->runs[run].template - 1,
                                              .processor = feeder->processor,
                                              .attribute = feeder->marks};
    feeder->marks = 0;
    feeder->before = run;
    feeder->run = 0;
    return block_encoder_add(encoder, &execution);
}

/* Extends the run, or begins another one. 0 or BT_MEMORY. */
static int add_block(struct block_encoder *encoder, const struct table_block *block)
{
    struct block_feeder *feeder = encoder->feeder;
    uint32_t run = feeder->run, next;
    if (run && feeder->end == block->records[0].address &&
        feeder->runs[run].records + block->record_count <= BLOCK_TEMPLATE_RECORDS_MAX) {
        next = feeder->runs[run].child;
        if (!next || feeder->runs[next].block != block) {
            next = extend(feeder, run, block);
            feeder->runs[run].child = next;
        }
    } else {
        if (end_run(encoder) != 0)
            return BT_MEMORY;
        feeder->addresses = encoder->addresses + encoder->address_count;
        next = feeder->runs[feeder->before].successor;
        if (!next || feeder->runs[next].block != block) {
            next = extend(feeder, 0, block);
            feeder->runs[feeder->before].successor = next;
        }
    }
    feeder->run = next;
    feeder->end = block->end;
    return next ? 0 : BT_MEMORY;
}

static uint64_t *put_addresses(uint64_t *to, const struct table_block *block, const uint32_t *words,
                               uint32_t fs_base)
{
    for (unsigned i = 0; i < block->address_count; i++) {
        const struct table_address *address = &block->addresses[i];
        const uint32_t patched = address->addend + (address->word ? words[address->word] : 0);
        *to++ = (uint32_t)(patched + (address->through_fs ? fs_base : 0));
    }
    return to;
}

/* 0 or BT_MEMORY. */
static int add_words(struct block_encoder *encoder, const struct block_segment *segment,
                     const uint32_t *words)
{
    struct block_feeder *feeder = encoder->feeder;
    const uint32_t *end = words + segment->count;
    const struct table_entry *entry;
    feeder->processor = segment->processor;
    feeder->marks = segment->marks;
    for (; words < end; words += entry->words) {
        entry = block_table_entry(segment->table, *words);
        for (const struct table_block *block = entry->block; block; block = block->next) {
            if (add_block(encoder, block) != 0)
                return BT_MEMORY;
            feeder->addresses = put_addresses(feeder->addresses, block, words, segment->fs_base);
        }
    }
    return end_run(encoder);
}

int block_encoder_feed(struct block_encoder *encoder, const struct block_feed *feed,
                       const struct record *records, size_t count, uint8_t *out, size_t capacity,
                       size_t *size, uint32_t *check, struct bt_error *error)
{
    if (feed->count == 1 && !feed->segments[0].table)
        return block_encoder_records(encoder, records, count, out, capacity, size, check, error);
    if (!encoder->feeder)
        encoder->feeder = block_feeder_new();
    bool good = encoder->feeder && begin(encoder, count);
    for (size_t i = 0; i < feed->count && good; i++) {
        const struct block_segment *segment = &feed->segments[i];
        const struct record *from = records + segment->first;
        good = segment->table
                   ? add_words(encoder, segment, (const uint32_t *)(const void *)from) == 0
                   : block_finder_add(encoder, from, segment->count) == 0;
    }
    if (!good)
        return bt_fail(error, BT_MEMORY, "no memory to code blocks");
    return block_encoder_finish(encoder, out, capacity, size, check, error);
}
