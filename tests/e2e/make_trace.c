/*
 * Writes a BYU address trace for tests to standard output. Equal arguments give equal traces.
 *
 * usage: make_trace [OPTIONS] COUNT
 *   --seed N           another trace
 *   --types all        all 17 request types instead of the four of memory
 *   --lp64             24-byte records
 *   --tail N           N extra bytes after the records
 *   --first-time-max   the first record's time is 0xffffffff
 */
#include "formats/record/record.h"
#include "tests/support/random.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    uint64_t seed;
    bool all_types;
    bool lp64;
    bool first_time_max;
    unsigned long tail;
    unsigned long count;
};

/* Whether requests of this type transfer nothing (doc/p6-decoding.md). */
static bool is_empty(uint8_t type)
{
    return type == REQUEST_DEFERREPLY || type == REQUEST_CNTRLAGNTRES || type >= REQUEST_SHUTDOWN;
}

/* A request that can be on a P6 bus: a few processors, each in a loop, with odd ones in between. */
static struct record make_record(const struct options *options, uint64_t *random, uint32_t loops[4])
{
    static const uint8_t common[8] = {0, 0, 0, 0, 1, 1, 3, 2};
    uint8_t processor = (uint8_t)random_below(random, 4);
    struct record record = {.type = common[random_below(random, 8)],
                            .size = 8,
                            .attribute = (uint8_t)random_below(random, 8),
                            .processor = processor,
                            .time = 3 + (uint32_t)random_below(random, 300)};
    if (options->all_types && random_one_in(random, 4))
        record.type = request_type_at((unsigned)random_below(random, REQUEST_TYPES));
    if (random_one_in(random, 100))
        loops[processor] = random_next32(random) & ~7u;
    record.address = loops[processor] += 8;
    if (random_one_in(random, 20))
        record.size = (uint8_t)(1 + random_below(random, 8));
    if (record.type <= REQUEST_MEMWRITE && random_one_in(random, 10))
        record.size = 32;
    if (is_empty(record.type))
        record.size = 0;
    if (record.type == REQUEST_DEFERREPLY) /* the address contains the agent */
        record.address = (record.address & ~0x00f00000u) | (uint32_t)processor << 20;
    if (random_one_in(random, 1000))
        record.time = random_next32(random) >> 8;
    return record;
}

static void put_lp64(const struct record *record)
{
    uint8_t bytes[RECORD_LP64_BYTES] = {0};
    bytes_put64(bytes, record->address);
    bytes[8] = record->type;
    bytes[9] = record->size;
    bytes[10] = record->attribute;
    bytes[11] = record->processor;
    bytes_put64(bytes + 16, record->time);
    fwrite(bytes, sizeof bytes, 1, stdout);
}

static void put_trace(const struct options *options)
{
    uint64_t random = random_seed(options->seed);
    uint32_t loops[4] = {0x1000, 0x200000, 0x3fff0000, 0xfffff000};
    for (unsigned long i = 0; i < options->count; i++) {
        struct record record = make_record(options, &random, loops);
        if (i == 0 && options->first_time_max)
            record.time = UINT32_MAX;
        if (options->lp64) {
            put_lp64(&record);
        } else {
            uint8_t bytes[RECORD_BYTES];
            record_put(bytes, &record);
            fwrite(bytes, sizeof bytes, 1, stdout);
        }
    }
    for (unsigned long i = 0; i < options->tail; i++)
        putchar((int)(i & 0xff));
}

int main(int argc, char **argv)
{
    enum { SEED = 1, TYPES, LP64, TAIL, FIRST_TIME_MAX };
    static const struct option names[] = {{"seed", required_argument, NULL, SEED},
                                          {"types", required_argument, NULL, TYPES},
                                          {"lp64", no_argument, NULL, LP64},
                                          {"tail", required_argument, NULL, TAIL},
                                          {"first-time-max", no_argument, NULL, FIRST_TIME_MAX},
                                          {NULL, 0, NULL, 0}};
    struct options options = {.seed = 1};
    int name;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (name == SEED)
            options.seed = strtoull(optarg, NULL, 0);
        else if (name == TYPES)
            options.all_types = strcmp(optarg, "all") == 0;
        else if (name == LP64)
            options.lp64 = true;
        else if (name == TAIL)
            options.tail = strtoul(optarg, NULL, 0);
        else if (name == FIRST_TIME_MAX)
            options.first_time_max = true;
        else
            return 2;
    }
    if (optind + 1 != argc) {
        fputs("usage: make_trace [OPTIONS] COUNT\n", stderr);
        return 2;
    }
    options.count = strtoul(argv[optind], NULL, 0);
    put_trace(&options);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 3;
}
