/*
 * Peers of tests/bench/smoke: plain programs that do the same work in the obvious way.
 *
 * usage: smoke_peers records MILLIONS      write records such as a bus makes to standard output
 *        smoke_peers b2a FILE              records as text, with fread and fprintf
 *        smoke_peers cache FILE            an LRU cache for each processor: 32 KiB, 4 ways, lines
 * of 32 bytes smoke_peers stack FILE            LRU stack distances of lines of 64 bytes, with a
 * binary indexed tree smoke_peers match EXPR FILE       count the records that match, one at a time
 *        smoke_peers mesi FILE             coherent caches of four processors
 *        smoke_peers inflate FILE          decompress a gzip file with zlib
 *        smoke_peers lines MILLIONS        lines such as `dcfg expand --csv` prints, with fprintf
 */
#include "formats/record/expression.h"
#include "formats/record/reference.h"
#include "tests/support/plain_mesi.h"
#include "tests/support/random.h"
#include "tests/support/records.h"
#include "tests/support/yardstick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIECE      65536u
#define PROCESSORS 256u
#define SETS       256u
#define WAYS       4u

static int write_records(const char *millions)
{
    static struct record records[PIECE];
    uint64_t random = random_seed(1);
    size_t left = strtoul(millions, NULL, 10) * 1000000;
    while (left > 0) {
        size_t piece = left < PIECE ? left : PIECE;
        records_fill_like_a_bus(records, piece, &random);
        if (fwrite(records, sizeof *records, piece, stdout) != piece)
            return 3;
        left -= piece;
    }
    return fflush(stdout) == 0 ? 0 : 3;
}

/* Calls a function for each record of a file. */
static int each_record(const char *path, void (*work)(const struct record *record, uint64_t index))
{
    static struct record records[PIECE];
    FILE *file = fopen(path, "rb");
    uint64_t index = 0;
    size_t count;
    if (!file)
        return 3;
    while ((count = fread(records, sizeof *records, PIECE, file)) > 0)
        for (size_t i = 0; i < count; i++)
            work(&records[i], index++);
    fclose(file);
    return 0;
}

/* --- cache --- */

struct peer_line {
    uint32_t line;
    uint64_t used; /* time of the last use; 0: empty */
    bool dirty;
};

static struct peer_line cache[PROCESSORS][SETS][WAYS];
static uint64_t hits, misses, write_backs, clock_of_uses;

static void refer_line(unsigned processor, uint32_t line, bool write)
{
    struct peer_line *set = cache[processor][line % SETS];
    struct peer_line *oldest = set;
    for (unsigned way = 0; way < WAYS; way++) {
        if (set[way].used != 0 && set[way].line == line) {
            hits++;
            set[way].used = ++clock_of_uses;
            set[way].dirty = set[way].dirty || write;
            return;
        }
        if (set[way].used < oldest->used)
            oldest = &set[way];
    }
    misses++;
    write_backs += oldest->dirty;
    *oldest = (struct peer_line){line, ++clock_of_uses, write};
}

static void refer(const struct record *record, uint64_t index)
{
    (void)index;
    if (reference_kind_of(record->type) == REFERENCE_NONE)
        return;
    uint32_t last = (record->address + reference_bytes(record) - 1) / 32;
    for (uint32_t line = record->address / 32; line <= last; line++)
        refer_line(record->processor, line, record->type == REQUEST_MEMWRITE);
}

/* --- stack distances --- */

/* The time of a line's last use, by line, and for each time whether it is a line's last use: sums
 * of these over a range are distances. */
static uint32_t *last_uses, *tree;
static size_t times, time_now;
static uint64_t distances[33]; /* by logarithm; the last: first uses */

static void tree_add(size_t time, uint32_t value)
{
    for (; time <= times; time += time & (0 - time))
        tree[time] += value;
}

static uint32_t tree_sum(size_t time)
{
    uint32_t sum = 0;
    for (; time > 0; time -= time & (0 - time))
        sum += tree[time];
    return sum;
}

static void measure_distance(const struct record *record, uint64_t index)
{
    (void)index;
    if (reference_kind_of(record->type) == REFERENCE_NONE)
        return;
    const uint32_t line = record->address / 64;
    const uint32_t last = last_uses[line];
    time_now++;
    if (last > 0) {
        uint32_t distance = tree_sum(time_now - 1) - tree_sum(last);
        distances[distance ? 32 - __builtin_clz(distance) : 0]++;
        tree_add(last, 0u - 1);
    } else {
        distances[32]++;
    }
    tree_add(time_now, 1);
    last_uses[line] = (uint32_t)time_now;
}

static int measure_distances(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return 3;
    times = (size_t)ftell(file) / sizeof(struct record) + 1;
    fclose(file);
    last_uses = calloc((size_t)1 << 26, sizeof *last_uses);
    tree = calloc(times + 1, sizeof *tree);
    int status = last_uses && tree ? each_record(path, measure_distance) : 3;
    for (unsigned i = 0; i <= 32; i++)
        printf("%llu\n", (unsigned long long)distances[i]);
    free(last_uses);
    free(tree);
    return status;
}

/* --- the rest --- */

static struct expression *wanted;
static uint64_t matches, tick;

static void match(const struct record *record, uint64_t index)
{
    tick += index ? record->time : 0;
    matches += expression_match(wanted, record, index, tick);
}

static int match_file(const char *text, const char *path)
{
    if (expression_parse(&wanted, text, NULL, NULL) < 0)
        return 2;
    int status = each_record(path, match);
    printf("%llu\n", (unsigned long long)matches);
    expression_free(wanted);
    return status;
}

static int inflate_file(const char *path)
{
    static char bytes[1u << 16];
    gzFile file = gzopen(path, "rb");
    int count = -1;
    while (file && (count = gzread(file, bytes, sizeof bytes)) > 0)
        if (fwrite(bytes, 1, (size_t)count, stdout) != (size_t)count)
            return 3;
    return file && gzclose(file) == Z_OK && count == 0 ? 0 : 3;
}

static int print_lines(const char *millions)
{
    uint64_t count = strtoull(millions, NULL, 10) * 1000000;
    for (uint64_t i = 0; i < count; i++) {
        unsigned edge = (unsigned)(i * 7 % 2111);
        printf("%u,%llu,%u,%u,%u,%s,0x%x,\"%s\",%u\n", 0u, (unsigned long long)i, edge, edge / 2,
               edge / 2 + 1, "BRANCH", 0x401000 + edge, "function", edge);
    }
    return 0;
}

static int simulate_mesi(const char *path)
{
    struct plain_mesi_counts counts;
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return 3;
    const size_t records = (size_t)ftell(file) / sizeof(struct record);
    struct record *all = malloc(records * sizeof *all + 1);
    rewind(file);
    const bool good = all && fread(all, sizeof *all, records, file) == records &&
                      plain_mesi(all, records, &counts) == 0;
    if (good)
        printf("%llu %llu\n", (unsigned long long)counts.first_misses,
               (unsigned long long)counts.write_backs);
    free(all);
    fclose(file);
    return good ? 0 : 3;
}

int main(int count, char **arguments)
{
    const char *what = count > 2 ? arguments[1] : "";
    if (strcmp(what, "records") == 0)
        return write_records(arguments[2]);
    if (strcmp(what, "b2a") == 0)
        return yardstick_b2a_seconds(arguments[2]) < 0 ? 3 : 0;
    if (strcmp(what, "cache") == 0) {
        int status = each_record(arguments[2], refer);
        printf("%llu %llu %llu\n", (unsigned long long)hits, (unsigned long long)misses,
               (unsigned long long)write_backs);
        return status;
    }
    if (strcmp(what, "stack") == 0)
        return measure_distances(arguments[2]);
    if (strcmp(what, "match") == 0 && count > 3)
        return match_file(arguments[2], arguments[3]);
    if (strcmp(what, "mesi") == 0)
        return simulate_mesi(arguments[2]);
    if (strcmp(what, "inflate") == 0)
        return inflate_file(arguments[2]);
    if (strcmp(what, "lines") == 0)
        return print_lines(arguments[2]);
    fputs("smoke_peers: see the head of tests/bench/smoke_peers.c\n", stderr);
    return 2;
}
