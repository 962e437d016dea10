#include "tests/support/large_trace.h"

#include "formats/record/reference.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>

#define SMALL_RECORDS_MAX ((size_t)1 << 20)
#define PAGE_BITS         12u

/* Reads the small trace; returns its number of records. */
static size_t read_small(struct record *records, const char *path)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    uint8_t bytes[RECORD_BYTES];
    size_t count = 0;
    while (file && count < SMALL_RECORDS_MAX && fread(bytes, sizeof bytes, 1, file) == 1) {
        records[count] = record_get(bytes);
        /* the first time of a real trace is unknown */
        if (records[count].time > 1000000)
            records[count].time = 100;
        count++;
    }
    if (file)
        fclose(file);
    return count;
}

static uint32_t move_time(uint32_t time, uint64_t *random)
{
    uint64_t number = random_next(random) >> 20;
    if (number & 7)
        return time;
    uint32_t step = 1 + (uint32_t)(number >> 3) % 3;
    return number >> 8 & 1 && time > step ? time - step : time + step;
}

bool large_trace_fill(struct record *records, size_t count, const char *path)
{
    uint64_t random = random_seed(2026);
    struct record *small = malloc(SMALL_RECORDS_MAX * sizeof *small);
    if (!small)
        abort();
    size_t small_count = read_small(small, path);
    bool from_file = small_count > 0;
    if (!from_file) {
        small_count = 200000;
        records_fill_like_a_bus(small, small_count, &random);
    }
    for (size_t i = 0; i < count;) {
        size_t start = (size_t)random_below(&random, small_count);
        uint32_t pages = random_next32(&random) << PAGE_BITS;
        for (size_t j = 0; j < small_count && i < count; j++, i++) {
            records[i] = small[(start + j) % small_count];
            records[i].address ^= pages;
            records[i].time = move_time(records[i].time, &random);
        }
    }
    free(small);
    return from_file;
}

struct record *large_trace_new(size_t count, size_t *references, bool *real)
{
    const char *shared = getenv("SHARED");
    char path[4096];
    struct record *records = count > 0 ? malloc(count * sizeof *records) : NULL;
    if (!records)
        return NULL;
    snprintf(path, sizeof path, "%s/data/pentium2.byu", shared ? shared : "");
    *real = large_trace_fill(records, count, shared && *shared ? path : NULL);
    *references = 0;
    for (size_t i = 0; i < count; i++)
        *references += reference_kind_of(records[i].type) != REFERENCE_NONE;
    return records;
}
