/* Any hierarchy that hierarchy_check() accepts, any records: the counts equal those of the slow
 * simulator. */
#include "tests/support/cache_compare.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 64u
#define LINES_MAX   128u
#define LINE_MAX    1024u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t take(struct input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

/* A power of two for most octets, so that most hierarchies are possible. */
static uint32_t power(uint8_t octet)
{
    return octet & 0x80 ? octet & 0x7f : (uint32_t)1 << (octet & 15);
}

static void take_cache(struct input *input, struct cache_settings *cache)
{
    uint8_t policies = take(input);
    cache->line = power(take(input));
    cache->sub_block = power(take(input));
    cache->sub_block = cache->sub_block > cache->line ? 0 : cache->sub_block;
    cache->ways = take(input) & 0x1f;
    cache->size = (uint64_t)(cache->ways ? cache->ways : 1) * cache->line * power(take(input));
    cache->victim_lines = take(input) & 7;
    cache->replacement = (enum cache_replacement)(policies % CACHE_REPLACEMENTS);
    cache->prefetch = (enum cache_prefetch)(policies >> 2 & 3);
    cache->write_through = policies >> 4 & 1;
    cache->no_write_allocate = policies >> 5 & 1;
    cache->hash = (enum cache_hash)(policies >> 6 & 1);
}

static bool too_large(const struct cache_settings *cache)
{
    return cache->line > LINE_MAX || (cache->line && cache->size / cache->line > LINES_MAX);
}

/* False: too large for the slow simulator. */
static bool take_settings(struct input *input, struct hierarchy_settings *settings)
{
    uint8_t all = take(input);
    bool good = true;
    memset(settings, 0, sizeof *settings);
    settings->level_count = all & 3;
    settings->coherence = (enum cache_coherence)(all >> 2 & 3);
    if (all >> 7) {
        settings->automatic_coherence = settings->coherence == CACHE_INCOHERENT;
        settings->plain_readinv = settings->coherence == CACHE_MESI;
        if (settings->coherence == CACHE_MOESI)
            settings->coherence = CACHE_MESIF;
    }
    settings->honour_attributes = all >> 4 & 1;
    settings->classify = all >> 5 & 1;
    settings->no_flush = all >> 6 & 1;
    settings->optimum = all >> 7 & 1;
    settings->optimum_sample = !settings->optimum;
    settings->seed = take(input);
    for (unsigned level = 0; level < settings->level_count; level++) {
        uint8_t shape = take(input);
        settings->levels[level].split = shape & 1;
        settings->levels[level].shared = shape >> 1 & 1;
        settings->levels[level].inclusion = (enum cache_inclusion)((shape >> 2) % 3);
        for (unsigned side = 0; side <= (shape & 1u); side++) {
            take_cache(input, &settings->levels[level].sides[side]);
            good = good && !too_large(&settings->levels[level].sides[side]);
        }
    }
    return good;
}

/* Addresses close to 0 and to 2^32. */
static struct record take_record(struct input *input)
{
    struct record record = {.type = take(input), .size = take(input)};
    uint32_t address = take(input);
    address |= (uint32_t)take(input) << 8;
    record.address = address - 0x8000;
    uint8_t who = take(input);
    record.attribute = who & 7;
    record.processor = who >> 3 & 7;
    return record;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct hierarchy_settings settings;
    struct record records[RECORDS_MAX];
    struct bt_error error = {.code = 0};
    size_t count = 0;
    if (!take_settings(&input, &settings))
        return 0;
    if (hierarchy_check(&settings, &error) < 0) {
        if (error.code != BT_USAGE || !error.message[0])
            abort();
        return 0;
    }
    while (input.size > 0 && count < RECORDS_MAX)
        records[count++] = take_record(&input);
    if (!cache_agree(&settings, records, count, 0))
        abort();
    return 0;
}
