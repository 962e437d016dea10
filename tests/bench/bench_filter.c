/*
 * How fast filter expressions select records: batches, compiled, against one record and one field
 * at a time. Both see the same records, in turns.
 *
 * usage: bench_filter [MILLION_RECORDS]     (50)
 */
#include "formats/record/expression.h"
#include "tests/support/measure.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>

#define RECORDS 87381u /* a block of a capture file */
#define RUNS    5

static const char *const expressions[] = {
    "type=FETCH and address=0x00100000-0x001fffff",
    "address=0x00100000-0x001fffff",
    "type=FETCH",
    "type=FETCH|MEMWRITE|IOREAD|HALT|SYNC",
    "(type=read or processor=1-2) and not (address&0xfff<0x800 or size=32)",
    "address=0x1000|0x2000-0x2fff|0x101000+4K|0x1080000+64K|0xfee00000+4K",
    "time=1s-2s",
    "index=1M-2M and type=FETCH",
};

static size_t select_batches(const struct expression *expression, const struct batch *batch,
                             uint64_t *selected, size_t batches)
{
    size_t matches = 0;
    for (size_t i = 0; i < batches; i++)
        matches += expression_select(expression, batch, i * RECORDS, selected);
    return matches;
}

static size_t match_records(const struct expression *expression, const struct batch *batch,
                            size_t batches)
{
    size_t matches = 0;
    for (size_t i = 0; i < batches; i++) {
        uint64_t tick = batch->first_tick;
        for (size_t j = 0; j < batch->count; j++) {
            tick += j ? batch->records[j].time : 0;
            matches += expression_match(expression, &batch->records[j], i * RECORDS + j, tick);
        }
    }
    return matches;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Prints a line. Whether both select the same number of records. */
static bool compare(const char *text, const struct batch *batch, size_t batches)
{
    static uint64_t selected[RECORDS / 64 + 1];
    struct expression *expression = NULL;
    struct measure measure;
    double fast = 1e9;
    double slow = 1e9;
    size_t by_batch = 0;
    size_t by_record = 0;
    if (expression_parse(&expression, text, NULL, NULL) < 0 ||
        expression_clock(expression, 100000000, NULL) < 0)
        return false;
    for (int run = 0; run < RUNS; run++) {
        measure_begin(&measure);
        by_batch = select_batches(expression, batch, selected, batches);
        measure_end(&measure);
        fast = least(fast, measure.cpu);
        measure_begin(&measure);
        by_record = match_records(expression, batch, batches);
        measure_end(&measure);
        slow = least(slow, measure.cpu);
    }
    double records = (double)batches * RECORDS;
    printf("  %7.0f %7.0f %6.1f  %5.1f %%  %s\n", records / fast / 1e6, records / slow / 1e6,
           slow / fast, 100 * (double)by_batch / records, text);
    expression_free(expression);
    return by_batch == by_record;
}

int main(int argc, char **argv)
{
    static struct record records[RECORDS];
    size_t millions = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
    size_t batches = millions * 1000000 / RECORDS + 1;
    uint64_t random = random_seed(1);
    bool same = true;
    records_fill_like_a_bus(records, RECORDS, &random);
    struct batch batch = {.records = records, .count = RECORDS, .capacity = RECORDS};
    printf("filter: %zu million records of a bus, million records/s of one processor, best of %d\n"
           "  batches  single  ratio  matches  expression\n",
           millions, RUNS);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        same = compare(expressions[i], &batch, batches) && same;
    if (!same)
        fputs("bench_filter: the two ways do not select the same records\n", stderr);
    return same ? 0 : 3;
}
