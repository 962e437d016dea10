/* Checks which hierarchies are possible: doc/cache-model.md. */
#include "formats/base/power.h"
#include "tools/cache/model/hierarchy.h"

#include <inttypes.h>
#include <stdio.h>

#define SIZE_LIMIT     (1ull << 32)
#define LINES_LIMIT    (1u << 26)
#define LINE_LIMIT     (1u << 30)
#define VICTIM_LIMIT   65536u
#define DEGREE_LIMIT   64u
#define MARKOV_LIMIT   4u
#define DISTANCE_LIMIT 1024u
#define NAME_BYTES     40u

static const char *cache_name(char name[NAME_BYTES], const struct cache_level *level,
                              unsigned number, unsigned side)
{
    static const char *const sides[CACHE_SIDES] = {"instruction ", "data "};
    snprintf(name, NAME_BYTES, "the %scache of level %u", level->split ? sides[side] : "",
             number + 1);
    return name;
}

static int check_line(const struct cache_settings *cache, const char *name, struct bt_error *error)
{
    uint32_t sub_block = cache->sub_block ? cache->sub_block : cache->line;
    if (!power_is(cache->line) || cache->line > LINE_LIMIT)
        return bt_fail(error, BT_USAGE,
                       "%s: a line can have 1, 2, 4 ... 1073741824 bytes, not %" PRIu32, name,
                       cache->line);
    if (!power_is(sub_block) || sub_block > cache->line || cache->line / sub_block > 64)
        return bt_fail(error, BT_USAGE,
                       "%s: a sub-block of a line of %" PRIu32 " bytes can have %" PRIu32
                       " to %" PRIu32 " bytes, a power of two, not "
                       "%" PRIu32,
                       name, cache->line, cache->line > 64 ? cache->line / 64 : 1, cache->line,
                       sub_block);
    return 0;
}

static int check_prefetcher(const struct cache_settings *cache, const char *name,
                            struct bt_error *error)
{
    if (cache->prefetch != CACHE_NO_PREFETCH || cache->victim_lines > 0 ||
        (cache->sub_block != 0 && cache->sub_block != cache->line))
        return bt_fail(
            error, BT_USAGE,
            "%s: with a prefetcher it can have no prefetch=, no sub-blocks and no victim "
            "buffer",
            name);
    uint32_t most = cache->prefetcher == CACHE_MARKOV ? MARKOV_LIMIT : DEGREE_LIMIT;
    if (cache->prefetch_degree < 1 || cache->prefetch_degree > most)
        return bt_fail(error, BT_USAGE,
                       "%s: the degree of its prefetcher can be 1 to %" PRIu32 ", not %" PRIu32,
                       name, most, cache->prefetch_degree);
    if (cache->prefetch_distance < 1 || cache->prefetch_distance > DISTANCE_LIMIT)
        return bt_fail(error, BT_USAGE,
                       "%s: the distance of its prefetcher can be 1 to %u, not %" PRIu32, name,
                       DISTANCE_LIMIT, cache->prefetch_distance);
    return 0;
}

static int check_sets(const struct cache_settings *cache, const char *name, struct bt_error *error)
{
    if (cache->size == 0 || cache->size > SIZE_LIMIT || cache->size % cache->line != 0)
        return bt_fail(error, BT_USAGE,
                       "%s: its size can be a multiple of the line, %" PRIu32
                       " bytes, up to 4 GiB, not %" PRIu64 " bytes",
                       name, cache->line, cache->size);
    uint64_t lines = cache->size / cache->line;
    if (lines > LINES_LIMIT)
        return bt_fail(error, BT_USAGE,
                       "%s: it can have %u lines at most, not %" PRIu64
                       ": longer lines or a smaller size are possible",
                       name, LINES_LIMIT, lines);
    uint64_t ways = cache->ways ? cache->ways : lines;
    if (ways > lines || lines % ways != 0)
        return bt_fail(error, BT_USAGE,
                       "%s: %" PRIu64 " lines cannot be divided into sets of %" PRIu64
                       ": with these ways and lines the size can be a multiple of %" PRIu64
                       " bytes",
                       name, lines, ways, ways * cache->line);
    if (cache->replacement == CACHE_PLRU && !power_is(ways))
        return bt_fail(error, BT_USAGE,
                       "%s: plru can have 1, 2, 4 ... ways, not %" PRIu64
                       "; the other policies can have any number",
                       name, ways);
    if (cache->prefetcher != CACHE_NO_PREFETCHER) {
        int result = check_prefetcher(cache, name, error);
        if (result < 0)
            return result;
    }
    if (cache->victim_lines > VICTIM_LIMIT)
        return bt_fail(error, BT_USAGE, "%s: a victim buffer can have up to %u lines, not %" PRIu32,
                       name, VICTIM_LIMIT, cache->victim_lines);
    return 0;
}

static bool has_parts(const struct cache_settings *cache)
{
    return cache->sub_block != 0 && cache->sub_block != cache->line;
}

static unsigned sides_of(const struct cache_level *level)
{
    return level->split ? CACHE_SIDES : 1;
}

/* Checks an inclusive or exclusive cache of a level. */
static int check_inclusion(const struct hierarchy_settings *settings, unsigned number,
                           unsigned side, const char *name, struct bt_error *error)
{
    const struct cache_level *level = &settings->levels[number];
    const struct cache_settings *cache = &level->sides[side];
    bool exclusive = level->inclusion == CACHE_EXCLUSIVE;
    const char *what = exclusive ? "exclusive" : "inclusive";
    if (has_parts(cache) || cache->victim_lines > 0 ||
        (exclusive &&
         (cache->prefetch != CACHE_NO_PREFETCH || cache->prefetcher != CACHE_NO_PREFETCHER)))
        return bt_fail(error, BT_USAGE,
                       "%s: as it is %s it can have no sub-blocks%s no victim "
                       "buffer",
                       name, what, exclusive ? ", no prefetch," : " and");
    for (unsigned above = 0; above < number; above++)
        for (unsigned i = 0; i < sides_of(&settings->levels[above]); i++) {
            const struct cache_settings *other = &settings->levels[above].sides[i];
            bool next = above + 1 == number;
            if (other->victim_lines > 0)
                return bt_fail(error, BT_USAGE,
                               "%s: as it is %s no level above can have a victim buffer, and level "
                               "%u has one",
                               name, what, above + 1);
            if (level->split && settings->levels[above].split && i != side)
                continue;
            if (!exclusive && other->line > cache->line)
                return bt_fail(error, BT_USAGE,
                               "%s: as it is inclusive its line can have %" PRIu32
                               " bytes or more, as above it, not %" PRIu32,
                               name, other->line, cache->line);
            if (exclusive && next && (other->line != cache->line || has_parts(other)))
                return bt_fail(error, BT_USAGE,
                               "%s: as it is exclusive the level above it can only have lines of "
                               "%" PRIu32 " bytes without sub-blocks",
                               name, cache->line);
        }
    return 0;
}

static int check_level(const struct hierarchy_settings *settings, unsigned number,
                       struct bt_error *error)
{
    const struct cache_level *level = &settings->levels[number];
    char name[NAME_BYTES];
    if (number > 0 && level->split && !level[-1].split)
        return bt_fail(error, BT_USAGE,
                       "level %u can only be split if level %u is, which is unified", number + 1,
                       number);
    if (number > 0 && !level->shared && level[-1].shared)
        return bt_fail(error, BT_USAGE,
                       "level %u can only be private if level %u is, which is shared", number + 1,
                       number);
    if (number == 0 && level->inclusion != CACHE_NEITHER)
        return bt_fail(error, BT_USAGE,
                       "level 1 has no level above it: only the levels below it can be inclusive "
                       "or exclusive");
    for (unsigned side = 0; side < sides_of(level); side++) {
        cache_name(name, level, number, side);
        int result = check_line(&level->sides[side], name, error);
        if (result == 0)
            result = check_sets(&level->sides[side], name, error);
        if (result == 0 && level->inclusion != CACHE_NEITHER)
            result = check_inclusion(settings, number, side, name, error);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Checks a private cache of a coherent hierarchy. */
static int check_private(const struct hierarchy_settings *settings, unsigned number, bool agent,
                         struct bt_error *error)
{
    const struct cache_level *level = &settings->levels[number];
    uint32_t line = settings->levels[0].sides[0].line;
    for (unsigned side = 0; side < sides_of(level); side++) {
        const struct cache_settings *cache = &level->sides[side];
        if (cache->line != line || has_parts(cache) || cache->victim_lines > 0)
            return bt_fail(error, BT_USAGE,
                           "with coherence all private caches can only have lines of one size, "
                           "without sub-blocks and victim buffers; those of level %u differ",
                           number + 1);
        if (agent && (cache->write_through || cache->no_write_allocate))
            return bt_fail(error, BT_USAGE,
                           "with coherence the last private level, level %u, can only write back "
                           "and allocate on writes",
                           number + 1);
    }
    return 0;
}

static int check_coherence(const struct hierarchy_settings *settings, struct bt_error *error)
{
    unsigned count = 0;
    while (count < settings->level_count && !settings->levels[count].shared)
        count++;
    if (count == 0)
        return bt_fail(error, BT_USAGE, "coherence needs a private level: level 1 can be private");
    if (count > 2)
        return bt_fail(error, BT_USAGE,
                       "with coherence level 1, or 1 and 2, can be private; level 3 can be shared");
    if (count == 2 && settings->levels[1].inclusion != CACHE_INCLUSIVE)
        return bt_fail(error, BT_USAGE, "with coherence a private level 2 can only be inclusive");
    for (unsigned number = 0; number < settings->level_count; number++)
        if (settings->levels[number].inclusion == CACHE_EXCLUSIVE)
            return bt_fail(error, BT_USAGE,
                           "with coherence level %u can be inclusive or neither, not exclusive",
                           number + 1);
    if (count < settings->level_count && settings->levels[count].split)
        return bt_fail(error, BT_USAGE,
                       "with coherence level %u, the first that is shared, can only be unified",
                       count + 1);
    int result = 0;
    for (unsigned number = 0; number < count && result == 0; number++)
        result = check_private(settings, number, number + 1 == count, error);
    return result;
}

int hierarchy_check(const struct hierarchy_settings *settings, struct bt_error *error)
{
    if (settings->level_count < 1 || settings->level_count > CACHE_LEVELS)
        return bt_fail(error, BT_USAGE, "a hierarchy can have 1 to %u levels, not %u", CACHE_LEVELS,
                       settings->level_count);
    for (unsigned number = 0; number < settings->level_count; number++) {
        int result = check_level(settings, number, error);
        if (result < 0)
            return result;
    }
    bool coherent = settings->coherence != CACHE_INCOHERENT || settings->automatic_coherence;
    return coherent ? check_coherence(settings, error) : 0;
}
