#include "tests/support/cache_compare.h"

#include "tests/support/slow_cache.h"
#include "tests/support/slow_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KIND_NAMES(what) what "fetch", what "read", what "write",
#define SAMPLE_NAMES(what)                                                                         \
    KIND_NAMES(what "group 0, ")                                                                   \
    KIND_NAMES(what "group 1, ")                                                                   \
    KIND_NAMES(what "group 2, ")                                                                   \
    KIND_NAMES(what "group 3, ")                                                                   \
    KIND_NAMES(what "group 4, ")                                                                   \
    KIND_NAMES(what "group 5, ")                                                                   \
    KIND_NAMES(what "group 6, ")                                                                   \
    KIND_NAMES(what "group 7, ")

#define FOUR_NAMES(what)    what, what, what, what,
#define SIXTEEN_NAMES(what) FOUR_NAMES(what) FOUR_NAMES(what) FOUR_NAMES(what) FOUR_NAMES(what)
#define MANY_NAMES(what)                                                                           \
    SIXTEEN_NAMES(what) SIXTEEN_NAMES(what) SIXTEEN_NAMES(what) SIXTEEN_NAMES(what)

static const char *const counter_names[] = {
    "references, fetch",
    "references, read",
    "references, write",
    "misses, fetch",
    "misses, read",
    "misses, write",
    "line misses, fetch",
    "line misses, read",
    "line misses, write",
    "prefetches, fetch",
    "prefetches, read",
    "prefetches, write",
    "prefetch misses, fetch",
    "prefetch misses, read",
    "prefetch misses, write",
    "split",
    "compulsory, fetch",
    "compulsory, read",
    "compulsory, write",
    "capacity, fetch",
    "capacity, read",
    "capacity, write",
    "conflict, fetch",
    "conflict, read",
    "conflict, write",
    KIND_NAMES("capacity by its own policy, ")
        KIND_NAMES("conflict by its own policy, ") "true sharing, fetch",
    "true sharing, read",
    "true sharing, write",
    "false sharing, fetch",
    "false sharing, read",
    "false sharing, write",
    "optimum, fetch",
    "optimum, read",
    "optimum, write",
    SAMPLE_NAMES("optimum in the sample, ") MANY_NAMES("line misses in a group")
        MANY_NAMES("lines held in a group") "covered prefetches",
    "late prefetches",
    "useless prefetches",
    "victim hits",
    "fills",
    "fill bytes",
    "write-backs",
    "write-back bytes",
    "write-throughs",
    "write-through bytes",
    "insertions",
    "back invalidations",
    "invalidations",
    "interventions",
    "upgrades",
    "snoop write-backs",
    "clean interventions",
    "intervention bytes",
    "clean intervention bytes",
    "received",
    "signed by instruction",
    "signed by region"};
_Static_assert(sizeof counter_names / sizeof *counter_names * sizeof(uint64_t) ==
                   sizeof(struct cache_counters),
               "a name for each counter");

#define PARTS_MAX 3u

/* The engine, in parts whose counters are added up. */
struct engine {
    struct hierarchy *parts[PARTS_MAX];
    unsigned count;
};

static int engine_run(struct engine *engine, const struct hierarchy_settings *settings,
                      const struct record *records, size_t count, unsigned parts,
                      struct bt_error *error)
{
    int result = 0;
    *engine = (struct engine){.count = parts};
    for (unsigned i = 0; i < parts && result == 0; i++) {
        result = parts == 1 ? hierarchy_new(&engine->parts[i], settings, error)
                            : hierarchy_new_part(&engine->parts[i], settings, i, parts, error);
        if (result == 0)
            result = hierarchy_put(engine->parts[i], records, count, error);
        if (result == 0)
            result = hierarchy_end(engine->parts[i], error);
    }
    return result;
}

static void engine_free(struct engine *engine)
{
    for (unsigned i = 0; i < engine->count; i++)
        hierarchy_free(engine->parts[i]);
}

static struct cache_counters engine_cache(const struct engine *engine, unsigned level,
                                          uint8_t processor, enum cache_side side)
{
    struct cache_counters sum = {.split = 0};
    for (unsigned i = 0; i < engine->count; i++) {
        struct cache_counters part =
            hierarchy_cache_counters(engine->parts[i], level, processor, side);
        cache_counters_add(&sum, &part);
    }
    return sum;
}

static bool engine_has_processor(const struct engine *engine, uint8_t processor)
{
    bool has = false;
    for (unsigned i = 0; i < engine->count; i++)
        has = has || hierarchy_has_processor(engine->parts[i], processor);
    return has;
}

static void engine_counters(const struct engine *engine, struct hierarchy_counters *sum)
{
    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i < engine->count; i++) {
        struct hierarchy_counters part;
        hierarchy_counters(engine->parts[i], &part);
        hierarchy_counters_add(sum, &part);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct cache_line_counters *left = a;
    const struct cache_line_counters *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

static void engine_lines(const struct engine *engine, struct cache_line_counters **lines,
                         size_t *count)
{
    *lines = NULL;
    *count = 0;
    for (unsigned i = 0; i < engine->count; i++) {
        struct cache_line_counters *part = NULL;
        struct bt_error error;
        size_t added = 0;
        if (hierarchy_lines(engine->parts[i], &part, &added, &error) < 0 || added == 0) {
            free(part);
            continue;
        }
        struct cache_line_counters *all = slow_memory(*count + added, sizeof *all);
        if (*count > 0)
            memcpy(all, *lines, *count * sizeof *all);
        memcpy(all + *count, part, added * sizeof *all);
        free(part);
        free(*lines);
        *lines = all;
        *count += added;
    }
    /* parts may produce lines in any order; a single one must produce them in order */
    if (engine->count > 1 && *count > 0)
        qsort(*lines, *count, sizeof **lines, by_address);
}

static void differ(struct cache_compare *compare, const char *where, const char *what,
                   uint64_t engine, uint64_t slow)
{
    if (!compare->same)
        return;
    compare->same = false;
    snprintf(compare->text, sizeof compare->text,
             "%s: %s: %" PRIu64 " in the engine of %u parts, %" PRIu64 " in the slow simulator",
             where, what, engine, compare->parts, slow);
}

static void compare_cache(struct cache_compare *compare, const struct cache_counters *engine,
                          const struct cache_counters *slow, const char *where)
{
    uint64_t left[sizeof *engine / sizeof(uint64_t)];
    uint64_t right[sizeof *slow / sizeof(uint64_t)];
    uint64_t optimum = 0;
    uint64_t misses = 0;
    memcpy(left, engine, sizeof left);
    memcpy(right, slow, sizeof right);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            differ(compare, where, counter_names[i], left[i], right[i]);
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
        optimum += engine->optimum_misses[kind];
        misses += engine->line_misses[kind];
    }
    for (unsigned group = 0; group < CACHE_SAMPLE_COUNTED; group++)
        if (reference_kinds_sum(engine->sample_optimum[group]) > engine->sample_misses[group])
            differ(compare, where, "the optimum misses more than the cache in a group",
                   reference_kinds_sum(engine->sample_optimum[group]),
                   engine->sample_misses[group]);
    if (optimum > misses)
        differ(compare, where, "the optimum misses more than the cache", optimum, misses);
}

static void compare_caches(struct cache_compare *compare, const struct hierarchy_settings *settings,
                           const struct engine *engine, const struct slow_cache *slow)
{
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++) {
            if (processor > 0 && !engine_has_processor(engine, (uint8_t)processor) &&
                !slow_cache_has_processor(slow, (uint8_t)processor))
                continue;
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                char where[80];
                snprintf(where, sizeof where, "level %u, processor %u, side %u", level + 1,
                         processor, side);
                struct cache_counters left =
                    engine_cache(engine, level, (uint8_t)processor, (enum cache_side)side);
                struct cache_counters right = slow_cache_cache_counters(
                    slow, level, (uint8_t)processor, (enum cache_side)side);
                compare_cache(compare, &left, &right, where);
            }
        }
    for (unsigned i = 0; i < CACHE_PROCESSORS; i++)
        if (engine_has_processor(engine, (uint8_t)i) != slow_cache_has_processor(slow, (uint8_t)i))
            differ(compare, "processors", "made a reference", i, i);
}

static void compare_memory(struct cache_compare *compare, const struct engine *engine,
                           const struct slow_cache *slow)
{
    struct hierarchy_counters left;
    struct hierarchy_counters right;
    engine_counters(engine, &left);
    slow_cache_counters(slow, &right);
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
        const char *name = reference_kind_name((enum reference_kind)kind);
        if (left.memory_references[kind] != right.memory_references[kind])
            differ(compare, "memory references", name, left.memory_references[kind],
                   right.memory_references[kind]);
        if (left.memory_bytes[kind] != right.memory_bytes[kind])
            differ(compare, "memory bytes", name, left.memory_bytes[kind],
                   right.memory_bytes[kind]);
        if (left.uncached[kind] != right.uncached[kind])
            differ(compare, "uncached", name, left.uncached[kind], right.uncached[kind]);
        if (left.write_combining[kind] != right.write_combining[kind])
            differ(compare, "write combining", name, left.write_combining[kind],
                   right.write_combining[kind]);
    }
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        if (left.dropped[i] != right.dropped[i])
            differ(compare, "memory", "dropped", left.dropped[i], right.dropped[i]);
    if (left.records != right.records)
        differ(compare, "memory", "records", left.records, right.records);
}

static void compare_line(struct cache_compare *compare, const struct cache_line_counters *left,
                         const struct cache_line_counters *right)
{
    char where[40];
    snprintf(where, sizeof where, "line 0x%" PRIx32, right->address);
    const uint64_t both[][2] = {{left->address, right->address},
                                {left->invalidations, right->invalidations},
                                {left->interventions, right->interventions},
                                {left->upgrades, right->upgrades},
                                {left->write_backs, right->write_backs},
                                {left->true_sharing, right->true_sharing},
                                {left->false_sharing, right->false_sharing}};
    static const char *const names[] = {"address",     "invalidations", "interventions", "upgrades",
                                        "write-backs", "true sharing",  "false sharing"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (both[i][0] != both[i][1])
            differ(compare, where, names[i], both[i][0], both[i][1]);
}

static void compare_lines(struct cache_compare *compare, const struct engine *engine,
                          const struct slow_cache *slow)
{
    struct cache_line_counters *left = NULL;
    struct cache_line_counters *right = NULL;
    size_t left_count;
    size_t right_count;
    engine_lines(engine, &left, &left_count);
    slow_cache_lines(slow, &right, &right_count);
    if (left_count != right_count)
        differ(compare, "lines", "count", left_count, right_count);
    else
        for (size_t i = 0; i < right_count; i++)
            compare_line(compare, left + i, right + i);
    free(left);
    free(right);
}

/* Runs the engine in parts, and compares it with the finished slow simulator. */
static void compare_engine(struct cache_compare *compare, const struct hierarchy_settings *settings,
                           const struct record *records, size_t count, unsigned parts,
                           const struct slow_cache *slow)
{
    struct bt_error error;
    struct engine engine;
    compare->parts = parts;
    if (engine_run(&engine, settings, records, count, parts, &error) < 0) {
        differ(compare, "engine", error.message, 0, 0);
    } else {
        compare_caches(compare, settings, &engine, slow);
        compare_memory(compare, &engine, slow);
        compare_lines(compare, &engine, slow);
    }
    engine_free(&engine);
}

void cache_compare(struct cache_compare *compare, const struct hierarchy_settings *settings,
                   const struct record *records, size_t count, bool watch)
{
    *compare = (struct cache_compare){.same = true, .records = count};
    struct slow_cache *slow = slow_cache_new(settings);
    if (!slow)
        return;
    if (watch)
        slow_cache_watch(slow);
    slow_cache_put(slow, records, count);
    slow_cache_end(slow);
    compare->reads_checked = slow_cache_reads_checked(slow);
    compare_engine(compare, settings, records, count, 1, slow);
    unsigned parts = hierarchy_parts_max(settings);
    if (compare->same && parts > 1)
        compare_engine(compare, settings, records, count, parts < PARTS_MAX ? parts : PARTS_MAX,
                       slow);
    if (slow_cache_broken(slow)) {
        compare->same = false;
        snprintf(compare->text, sizeof compare->text, "the slow simulator: %s",
                 slow_cache_broken(slow));
    }
    slow_cache_free(slow);
}

static void print_cache(FILE *out, const struct cache_settings *cache)
{
    static const char *const replacements[] = {"lru",   "fifo",  "random", "plru", "nru",
                                               "srrip", "brrip", "drrip",  "ship", "lfu"};
    static const char *const prefetches[] = {"no", "miss", "always", "tagged"};
    fprintf(out,
            "    size %" PRIu64 " line %" PRIu32 " sub-block %" PRIu32 " ways %" PRIu32
            " %s, hash %d, prefetcher %d %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
            ", %s prefetch, write %s, %sallocate, %" PRIu32 " victims\n",
            cache->size, cache->line, cache->sub_block, cache->ways,
            replacements[cache->replacement], (int)cache->hash, (int)cache->prefetcher,
            cache->prefetch_degree, cache->prefetch_distance, cache->prefetch_page,
            cache->prefetch_latency, prefetches[cache->prefetch],
            cache->write_through ? "through" : "back", cache->no_write_allocate ? "no " : "",
            cache->victim_lines);
}

void cache_print_settings(FILE *out, const struct hierarchy_settings *settings)
{
    static const char *const inclusions[] = {"neither", "inclusive", "exclusive"};
    static const char *const coherences[] = {"incoherent", "msi", "mesi", "moesi", "mesif"};
    fprintf(out, "  %s%s%s%s%s%s%s, seed 0x%" PRIx64 "\n", coherences[settings->coherence],
            settings->automatic_coherence ? ", automatic" : "",
            settings->plain_readinv ? ", plain readinv" : "",
            settings->honour_attributes ? ", attributes honoured" : "",
            settings->classify ? ", classified" : "", settings->optimum ? ", optimum" : "",
            settings->no_flush ? ", no flush" : "", settings->seed);
    for (unsigned level = 0; level < settings->level_count; level++) {
        const struct cache_level *at = &settings->levels[level];
        fprintf(out, "  level %u: %s, %s, %s\n", level + 1, at->split ? "split" : "unified",
                at->shared ? "shared" : "private", inclusions[at->inclusion]);
        for (unsigned side = 0; side < (at->split ? CACHE_SIDES : 1u); side++)
            print_cache(out, &at->sides[side]);
    }
}

bool cache_agree(const struct hierarchy_settings *settings, const struct record *records,
                 size_t count, uint64_t seed)
{
    struct cache_compare compare;
    cache_compare(&compare, settings, records, count, true);
    if (compare.same)
        return true;
    for (size_t part = 1; part <= count; part++) {
        cache_compare(&compare, settings, records, part, true);
        if (!compare.same)
            break;
    }
    printf("seed %" PRIu64 ", %zu records: %s\n", seed, compare.records, compare.text);
    cache_print_settings(stdout, settings);
    for (size_t i = 0; i < compare.records && i < count; i++)
        printf("    {0x%08" PRIx32 ", 0x%02x, %u, %u, %u, 0},\n", records[i].address,
               records[i].type, records[i].size, records[i].attribute, records[i].processor);
    return false;
}
