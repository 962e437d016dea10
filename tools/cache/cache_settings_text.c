#include "tools/cache/cache_settings_text.h"

#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"
#include "tools/cache/model/replacement.h"
#include "tools/common/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 80u
#define PAGE_BYTES 4096u
#define NOT_GIVEN  UINT32_MAX

static const char *const hashes[] = {"none", "xor", NULL};
static const char *const prefetches[] = {"none", "miss", "always", "tagged", NULL};
static const char *const prefetchers[] = {"none", "next", "stride", "stream", "markov", NULL};
static const char *const inclusions[] = {"neither", "inclusive", "exclusive", NULL};
static const char *const coherences[] = {"none", "msi", "mesi", "moesi", "mesif", NULL};
_Static_assert(sizeof coherences / sizeof *coherences == CACHE_PROTOCOLS + 1,
               "a name for each protocol");

const char *settings_hash_name(enum cache_hash hash)
{
    return hashes[hash];
}

const char *settings_prefetch_name(enum cache_prefetch prefetch)
{
    return prefetches[prefetch];
}

const char *settings_prefetcher_name(enum cache_prefetcher prefetcher)
{
    return prefetchers[prefetcher];
}

const char *settings_inclusion_name(enum cache_inclusion inclusion)
{
    return inclusions[inclusion];
}

const char *settings_coherence_name(enum cache_coherence coherence)
{
    return coherences[coherence];
}

/* Returns the index of a name, or -1. */
static int find(const char *const *names, const char *text)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

static int find_or_fail(const char *const *names, const char *text, const char *list,
                        struct bt_error *error)
{
    int number = find(names, text);
    if (number >= 0)
        return number;
    bt_fail(error, BT_USAGE, "can be %s, not '%.40s'", list, text);
    return suggestion_add(error, suggestion_among(text, names));
}

void settings_text_begin(struct settings_text *text)
{
    *text = (struct settings_text){.settings.level_count = 0};
    for (unsigned level = 0; level < CACHE_LEVELS; level++) {
        text->settings.levels[level].shared = level > 0;
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            struct cache_settings *cache = &text->settings.levels[level].sides[side];
            cache->ways = NOT_GIVEN;
            cache->prefetch_degree = cache->prefetch_distance = 1;
            cache->prefetch_page = PAGE_BYTES;
        }
    }
}

int settings_text_bool(bool *value, const char *text, struct bt_error *error)
{
    static const char *const names[] = {"no", "yes", NULL};
    int number = find_or_fail(names, text, "yes or no", error);
    if (number >= 0)
        *value = number == 1;
    return number < 0 ? number : 0;
}

static int take_number(uint32_t *number, const char *text, struct bt_error *error)
{
    uint64_t value;
    int result = quantity_bytes(&value, text, error);
    if (result == 0 && value >= NOT_GIVEN)
        return bt_fail(error, BT_USAGE, "%.40s is too large", text);
    if (result == 0)
        *number = (uint32_t)value;
    return result;
}

/* Reads a number of bytes; 0 is an explicit value. */
static int take_length(uint32_t *length, const char *text, struct bt_error *error)
{
    int result = take_number(length, text, error);
    if (result == 0 && *length == 0)
        return bt_fail(error, BT_USAGE, "can be 1, 2, 4 ... bytes, not 0");
    return result;
}

static int take_size(uint64_t *size, const char *text, struct bt_error *error)
{
    int result = quantity_bytes(size, text, error);
    if (result == 0 && *size == 0)
        return bt_fail(error, BT_USAGE, "can be up to 4 GiB, not 0");
    return result;
}

static int take_page(uint32_t *page, const char *text, struct bt_error *error)
{
    if (strcmp(text, "none") == 0) {
        *page = 0;
        return 0;
    }
    return take_length(page, text, error);
}

static int take_ways(uint32_t *ways, const char *text, struct bt_error *error)
{
    if (strcmp(text, "full") == 0) {
        *ways = 0;
        return 0;
    }
    int result = take_number(ways, text, error);
    if (result == 0 && *ways == 0)
        return bt_fail(error, BT_USAGE, "can be 1, 2, 3 ... or full, not 0");
    return result;
}

int settings_text_latency(uint32_t *cycles, const char *value, struct bt_error *error)
{
    uint64_t number;
    const int result = quantity_count(&number, value, error);
    if (result == 0 && (number == 0 || number > SETTINGS_LATENCY_MAX))
        return bt_fail(error, BT_USAGE, "can be 1 to %u cycles, not %.40s", SETTINGS_LATENCY_MAX,
                       value);
    if (result == 0)
        *cycles = (uint32_t)number;
    return result;
}

/* Line and victim buffer are numbers, all others are words. */
static int set_cache(struct cache_settings *cache, const char *key, const char *value,
                     struct bt_error *error)
{
    static const char *const writes[] = {"back", "through", NULL};
    int number = 0;
    bool allocate = false;
    if (strcmp(key, "size") == 0)
        return take_size(&cache->size, value, error);
    if (strcmp(key, "line") == 0)
        return take_length(&cache->line, value, error);
    if (strcmp(key, "sub-block") == 0)
        return take_length(&cache->sub_block, value, error);
    if (strcmp(key, "victim") == 0)
        return take_number(&cache->victim_lines, value, error);
    if (strcmp(key, "degree") == 0)
        return take_number(&cache->prefetch_degree, value, error);
    if (strcmp(key, "distance") == 0)
        return take_number(&cache->prefetch_distance, value, error);
    if (strcmp(key, "page") == 0)
        return take_page(&cache->prefetch_page, value, error);
    if (strcmp(key, "prefetch-latency") == 0)
        return take_number(&cache->prefetch_latency, value, error);
    if (strcmp(key, "ways") == 0)
        return take_ways(&cache->ways, value, error);
    if (strcmp(key, "replacement") == 0)
        return replacement_find(&cache->replacement, value, error);
    if (strcmp(key, "hash") == 0) {
        number = find_or_fail(hashes, value, "none or xor", error);
        cache->hash = number >= 0 ? (enum cache_hash)number : CACHE_HASH_NONE;
    } else if (strcmp(key, "prefetch") == 0) {
        if (find(prefetches, value) < 0 && find(prefetchers, value) >= 0)
            return bt_fail(error, BT_USAGE,
                           "can be none, miss, always or tagged; %s is a prefetcher: prefetcher=%s",
                           value, value);
        number = find_or_fail(prefetches, value, "none, miss, always or tagged", error);
        cache->prefetch = number >= 0 ? (enum cache_prefetch)number : CACHE_NO_PREFETCH;
    } else if (strcmp(key, "prefetcher") == 0) {
        number = find_or_fail(prefetchers, value, "none, next, stride, stream or markov", error);
        cache->prefetcher = number >= 0 ? (enum cache_prefetcher)number : CACHE_NO_PREFETCHER;
    } else if (strcmp(key, "write") == 0) {
        number = find_or_fail(writes, value, "back or through", error);
        cache->write_through = number == 1;
    } else if (strcmp(key, "allocate") == 0) {
        number = settings_text_bool(&allocate, value, error);
        cache->no_write_allocate = !allocate;
    } else {
        bt_fail(error, BT_USAGE,
                "unknown key; known are size, line, ways, hash, replacement, write, "
                "allocate, sub-block, prefetch, prefetcher, degree, distance, page, "
                "prefetch-latency, victim, shared, split, inclusion and latency");
        return suggestion_add_listed(error, key);
    }
    return number < 0 ? number : 0;
}

/* Sets a key of a whole level. Returns 1 if it is no such key. */
static int set_level(struct cache_level *level, const char *key, const char *value,
                     struct bt_error *error)
{
    if (strcmp(key, "shared") == 0)
        return settings_text_bool(&level->shared, value, error);
    if (strcmp(key, "split") == 0)
        return settings_text_bool(&level->split, value, error);
    if (strcmp(key, "latency") == 0)
        return settings_text_latency(&level->latency, value, error);
    if (strcmp(key, "inclusion") != 0)
        return 1;
    int number = find_or_fail(inclusions, value, "neither, inclusive or exclusive", error);
    if (number < 0)
        return number;
    level->inclusion = (enum cache_inclusion)number;
    return 0;
}

int settings_text_set(struct settings_text *text, unsigned level, enum settings_sides sides,
                      const char *key, const char *value, struct bt_error *error)
{
    struct cache_level *kind = &text->settings.levels[level];
    text->given[level] = true;
    kind->split = kind->split || sides != SETTINGS_BOTH;
    int result = set_level(kind, key, value, error);
    if (result <= 0)
        return result < 0 ? bt_fail_within(error, "%.40s", key) : 0;
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        if (sides == (side == CACHE_INSTRUCTION ? SETTINGS_DATA : SETTINGS_INSTRUCTION))
            continue;
        if (set_cache(&kind->sides[side], key, value, error) < 0)
            return bt_fail_within(error, "%.40s", key);
    }
    return 0;
}

/* Key and value of a word without a value, or NULL if it is no such word. */
static const char *word_key(const char *word, const char **value)
{
    static const struct {
        const char *word, *key, *value;
    } words[] = {{"shared", "shared", "yes"},
                 {"private", "shared", "no"},
                 {"split", "split", "yes"},
                 {"unified", "split", "no"},
                 {"neither", "inclusion", "neither"},
                 {"inclusive", "inclusion", "inclusive"},
                 {"exclusive", "inclusion", "exclusive"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) {
            *value = words[i].value;
            return words[i].key;
        }
    return NULL;
}

int settings_text_take(struct settings_text *text, unsigned level, enum settings_sides sides,
                       const char *words, struct bt_error *error)
{
    while (*words) {
        char word[WORD_BYTES];
        const char *next = words_next(words, word, sizeof word);
        if (!next)
            return bt_fail(error, BT_USAGE, "'%.40s...' is too long", words);
        words = next;
        char *equals = strchr(word, '=');
        const char *value = equals ? equals + 1 : word;
        const char *key = equals ? word : word_key(word, &value);
        if (equals)
            *equals = '\0';
        if (!key && (*word < '0' || *word > '9'))
            return bt_fail(error, BT_USAGE,
                           "'%.40s' is neither a size, key=value, nor one of shared, private, "
                           "split, unified, neither, inclusive and exclusive",
                           word);
        int result = settings_text_set(text, level, sides, key ? key : "size", value, error);
        if (result < 0)
            return result;
    }
    text->given[level] = true;
    return 0;
}

int settings_text_coherence(struct settings_text *text, const char *value, struct bt_error *error)
{
    int number = find_or_fail(coherences, value, "none, msi, mesi, mesif or moesi", error);
    if (number < 0)
        return number;
    text->coherence_given = true;
    text->settings.coherence = (enum cache_coherence)number;
    return 0;
}

int settings_text_readinv(struct settings_text *text, const char *value, struct bt_error *error)
{
    static const char *const names[] = {"own", "read", NULL};
    int number = find_or_fail(names, value, "own or read", error);
    if (number < 0)
        return number;
    text->settings.plain_readinv = number == 1;
    return 0;
}

int settings_text_attributes(struct settings_text *text, const char *value, struct bt_error *error)
{
    static const char *const names[] = {"ignore", "honour", NULL};
    int number = find_or_fail(names, value, "honour or ignore", error);
    if (number < 0)
        return number;
    text->settings.honour_attributes = number == 1;
    return 0;
}

/* Sets the defaults of a cache. above: the next cache towards the processor, or NULL. */
static void complete(struct cache_settings *cache, const struct cache_settings *above,
                     unsigned level)
{
    static const uint64_t sizes[CACHE_LEVELS] = {32u << 10, 1u << 20, 8u << 20, 64u << 20};
    static const uint32_t ways[CACHE_LEVELS] = {8, 16, 16, 16};
    if (cache->size == 0)
        cache->size = sizes[level];
    if (cache->line == 0)
        cache->line = above ? above->line : 64;
    if (cache->ways == NOT_GIVEN)
        cache->ways = ways[level];
}

/* Access times need the latency of every level and of memory. */
static int check_latencies(const struct hierarchy_settings *settings, struct bt_error *error)
{
    bool some = settings->memory_latency > 0;
    for (unsigned level = 0; level < settings->level_count; level++)
        some = some || settings->levels[level].latency > 0;
    for (unsigned level = 0; level < settings->level_count && some; level++)
        if (settings->levels[level].latency == 0)
            return bt_fail(error, BT_USAGE,
                           "access times need the latency of each level: level %u can have "
                           "latency=14, for instance",
                           level + 1);
    if (some && settings->memory_latency == 0)
        return bt_fail(error, BT_USAGE,
                       "access times need the latency of memory: --memory-latency 200, for "
                       "instance, or memory-latency in a configuration");
    return 0;
}

/* Private caches of several processors are coherent by default, where that is possible. */
static int choose_coherence(struct settings_text *text, struct bt_error *error)
{
    struct hierarchy_settings *settings = &text->settings;
    struct bt_error why;
    if (text->coherence_given || settings->levels[0].shared)
        return hierarchy_check(settings, error);
    settings->automatic_coherence = true;
    if (hierarchy_check(settings, &why) == 0)
        return 0;
    settings->automatic_coherence = false;
    snprintf(text->incoherent, sizeof text->incoherent, "%.150s", why.message);
    return hierarchy_check(settings, error);
}

int settings_text_end(struct settings_text *text, struct bt_error *error)
{
    struct hierarchy_settings *settings = &text->settings;
    unsigned count = 0;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        if (text->given[level])
            count = level + 1;
    for (unsigned level = 1; level + 1 < count; level++)
        if (!text->given[level])
            return bt_fail(error, BT_USAGE, "level %u needs a level %u above it", count, level + 1);
    if (count == 0)
        count = 2;
    if (!text->given[0])
        settings->levels[0].split = true;
    settings->level_count = count;
    for (unsigned level = 0; level < count; level++)
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            const struct cache_level *above = level > 0 ? &settings->levels[level - 1] : NULL;
            complete(&settings->levels[level].sides[side], above ? &above->sides[side] : NULL,
                     level);
        }
    const int result = check_latencies(settings, error);
    return result < 0 ? result : choose_coherence(text, error);
}

static size_t put_size(char *out, size_t room, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    unsigned unit = 0;
    while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return (size_t)snprintf(out, room, "%" PRIu64 " %s", bytes, units[unit]);
}

static size_t put_geometry(char *out, size_t room, const struct cache_settings *cache, bool swept)
{
    if (swept)
        return (size_t)snprintf(out, room, "swept");
    size_t size = put_size(out, room, cache->size);
    size +=
        (size_t)snprintf(out + size, room - size, ", lines of %" PRIu32 " bytes, ", cache->line);
    if (cache->ways == 0)
        size += (size_t)snprintf(out + size, room - size, "fully associative");
    else
        size += (size_t)snprintf(out + size, room - size, "%" PRIu32 " %s", cache->ways,
                                 cache->ways == 1 ? "way" : "ways");
    if (cache->hash != CACHE_HASH_NONE)
        size += (size_t)snprintf(out + size, room - size, ", hash %s", hashes[cache->hash]);
    return size;
}

static size_t put_prefetcher(char *out, size_t room, const struct cache_settings *cache)
{
    size_t size = (size_t)snprintf(
        out, room, ", prefetcher %s, degree %" PRIu32 ", distance %" PRIu32,
        prefetchers[cache->prefetcher], cache->prefetch_degree, cache->prefetch_distance);
    if (cache->prefetch_page > 0)
        size += (size_t)snprintf(out + size, room - size, ", in pages of %" PRIu32 " bytes",
                                 cache->prefetch_page);
    if (cache->prefetch_latency > 0)
        size += (size_t)snprintf(out + size, room - size, ", late within %" PRIu32 " references",
                                 cache->prefetch_latency);
    return size;
}

char *settings_text_level(char *out, const struct hierarchy_settings *settings, unsigned level,
                          enum cache_side side, bool swept)
{
    const struct cache_level *kind = &settings->levels[level];
    const struct cache_settings *cache = &kind->sides[side];
    size_t room = SETTINGS_LEVEL_BYTES;
    size_t size = (size_t)snprintf(
        out, room, "level %u%s, %s%s%s: ", level + 1,
        !kind->split                ? ""
        : side == CACHE_INSTRUCTION ? " instruction"
                                    : " data",
        kind->shared ? "shared" : "private", kind->inclusion != CACHE_NEITHER ? ", " : "",
        kind->inclusion != CACHE_NEITHER ? inclusions[kind->inclusion] : "");
    size += put_geometry(out + size, room - size, cache, swept);
    size += (size_t)snprintf(out + size, room - size, ", %s, write %s%s",
                             replacement_names[cache->replacement],
                             cache->write_through ? "through" : "back",
                             cache->no_write_allocate ? " without allocation" : "");
    if (cache->sub_block != 0 && cache->sub_block != cache->line)
        size += (size_t)snprintf(out + size, room - size, ", sub-blocks of %" PRIu32 " bytes",
                                 cache->sub_block);
    if (cache->prefetch != CACHE_NO_PREFETCH)
        size +=
            (size_t)snprintf(out + size, room - size, ", prefetch %s", prefetches[cache->prefetch]);
    if (kind->latency > 0)
        size += (size_t)snprintf(out + size, room - size, ", latency %" PRIu32, kind->latency);
    if (cache->prefetcher != CACHE_NO_PREFETCHER)
        size += put_prefetcher(out + size, room - size, cache);
    if (cache->victim_lines > 0)
        snprintf(out + size, room - size, ", victim buffer of %" PRIu32 " lines",
                 cache->victim_lines);
    return out;
}
