/*
 * Other programs' formats: thousands of random traces are written and read again, and must be
 * equal to the prediction of a slow and obvious twin.
 */
#include "formats/foreign/trace_format.h"

#include "formats/foreign/din.h"

#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX  3000u
#define EXPECTED_MAX (RECORDS_MAX * 20u) /* a reference may cross many objects */
#define NAME_BYTES   (FOLDER_PATH_BYTES + 32)
#define TRACES       1500u /* of each format */

/* A trace, with the tick of each record. */
struct trace {
    struct record records[EXPECTED_MAX];
    uint64_t ticks[EXPECTED_MAX];
    size_t count;
};

static char folder[FOLDER_PATH_BYTES];

/* --- random traces --- */

static void make_trace(struct trace *trace, uint64_t *random)
{
    uint64_t tick = 0;
    trace->count = random_below(random, random_one_in(random, 8) ? RECORDS_MAX : 60);
    if (random_one_in(random, 2))
        records_fill_random(trace->records, trace->count, random);
    else
        records_fill_like_a_bus(trace->records, trace->count, random);
    for (size_t i = 0; i < trace->count; i++) {
        struct record *record = &trace->records[i];
        if (!random_one_in(random, 20))
            record->time &= 0xffff;
        if (random_one_in(random, 30))
            record->type = (uint8_t)random_next(random);
        if (random_one_in(random, 30))
            record->address = 0u - (uint32_t)random_below(random, 20);
        if (random_one_in(random, 100))
            record->time = UINT32_MAX; /* more than the field can hold: a hole */
        tick += record->time;
        if (record->time == UINT32_MAX)
            tick += random_below(random, 1u << 20);
        trace->ticks[i] = tick;
    }
}

/* Puts it in batches of random sizes; a hole begins one. */
static int put_trace(struct sink *sink, struct trace *trace, uint64_t *random)
{
    struct bt_error error;
    int result = 0;
    for (size_t done = 0; done < trace->count && result == 0;) {
        struct batch batch = {.records = trace->records + done,
                              .first_index = done,
                              .first_tick = trace->ticks[done]};
        size_t most = random_below(random, 5000) + 1;
        do
            batch.count++;
        while (done + batch.count < trace->count && batch.count < most &&
               trace->records[done + batch.count].time != UINT32_MAX);
        done += batch.count;
        batch.last_tick = trace->ticks[done - 1];
        result = sink_put(sink, &batch, &error);
    }
    return result;
}

static int write_trace(const char *path, const char *format, struct trace *trace,
                       const struct foreign_options *options, struct foreign_loss *loss,
                       uint64_t *random)
{
    struct sink *sink;
    struct bt_error error;
    *loss = (struct foreign_loss){.taken = 0};
    int result =
        trace_format_create(&sink, trace_format_find(format, NULL), path, options, loss, &error);
    if (result == 0)
        result = put_trace(sink, trace, random);
    return result == 0 ? sink_close(sink, &error) : result;
}

/* Reads a whole trace, in batches of random sizes; returns 0 if its end is valid. */
static int read_trace(struct trace *trace, const char *path, const char *format,
                      const struct foreign_options *options, uint64_t *random)
{
    static struct record buffer[700];
    struct source *source;
    struct bt_error error;
    int result = trace_format_open(&source, format, path, options, &error);
    if (result < 0)
        return result;
    trace->count = 0;
    for (;;) {
        struct batch batch = {.records = buffer, .capacity = random_below(random, 700) + 1};
        result = source_next(source, &batch, -1, &error);
        if (result == BT_NOTE && trace->count == 0 && strstr(error.message, " is empty"))
            continue; /* the format can represent none of its records */
        if (result != 1 || trace->count + batch.count > EXPECTED_MAX)
            break;
        uint64_t tick = batch.first_tick;
        for (size_t i = 0; i < batch.count; i++) {
            tick += i > 0 ? buffer[i].time : 0;
            trace->ticks[trace->count] = tick;
            trace->records[trace->count++] = buffer[i];
        }
        CU_ASSERT_EQUAL(tick, batch.last_tick);
    }
    source_close(source);
    return result;
}

/* --- contents that formats can represent: the twin --- */

struct expectation {
    const char *format;
    bool all;       /* unchanged records */
    bool size;      /* else up to the end of a word */
    bool times;     /* of absolute ticks, else 0 */
    bool processor; /* else 0 */
    bool attribute; /* uncacheable or not, else write back */
    bool invalidate;
    bool objects;
    bool reads_only;
    bool time_32; /* times of 32 bits */
};

static const struct expectation expectations[] = {
    {.format = "byu", .all = true},
    {.format = "byu-lp64", .all = true},
    {.format = "csv", .all = true},
    {.format = "npy", .all = true},
    {.format = "din"},
    {.format = "lackey", .size = true},
    {.format = "gem5",
     .size = true,
     .times = true,
     .processor = true,
     .attribute = true,
     .invalidate = true},
    {.format = "oracle", .objects = true, .times = true, .reads_only = true, .time_32 = true},
    {.format = "libcachesim-csv", .objects = true, .times = true},
};

static bool is_wanted(const struct record *record)
{
    return record->type <= REQUEST_MEMWRITE;
}

static void expect_one(struct trace *expected, const struct expectation *format,
                       const struct record *record, uint64_t tick, uint32_t address, uint8_t size)
{
    size_t at = expected->count++;
    uint64_t before = at > 0 ? expected->ticks[at - 1] : 0;
    struct record *made = &expected->records[at];
    if (format->time_32 && tick > UINT32_MAX)
        tick = UINT32_MAX;
    *made = (struct record){.address = address, .type = record->type, .size = size};
    if (made->type == REQUEST_MEMREADINV && !format->invalidate)
        made->type = REQUEST_MEMREAD;
    if (format->reads_only)
        made->type = REQUEST_MEMREAD;
    made->attribute = format->attribute && (record->attribute & 3) == 0 ? 0 : ATTRIBUTE_WRITE_BACK;
    made->processor = format->processor ? record->processor : 0;
    if (format->times)
        made->time = tick - before < UINT32_MAX ? (uint32_t)(tick - before) : UINT32_MAX;
    expected->ticks[at] = format->times ? tick : 0;
}

static void expect(struct trace *expected, const struct expectation *format,
                   const struct trace *trace, uint32_t object_size)
{
    expected->count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct record *record = &trace->records[i];
        if (format->all) {
            expected->records[expected->count] = *record;
            expected->ticks[expected->count++] = trace->ticks[i];
        } else if (is_wanted(record) && format->objects) {
            uint32_t bytes = record->size ? record->size : 1;
            uint32_t last = 0;
            for (uint32_t byte = 0; byte < bytes; byte++) {
                uint32_t object = (record->address + byte) / object_size;
                if (byte == 0 || object != last)
                    expect_one(expected, format, record, trace->ticks[i], object * object_size,
                               object_size < 255 ? (uint8_t)object_size : 255);
                last = object;
            }
        } else if (is_wanted(record)) {
            uint8_t rest =
                (uint8_t)(4 - record->address % 4); /* to the word's end: din without sizes */
            expect_one(expected, format, record, trace->ticks[i], record->address,
                       format->size ? record->size : rest);
        }
    }
}

/* Raw records do not contain the length of a hole, nor does .npy: their ticks are not compared. */
static bool same(const struct trace *a, const struct trace *b, bool ticks)
{
    if (a->count != b->count ||
        memcmp(a->records, b->records, a->count * sizeof a->records[0]) != 0)
        return false;
    return !ticks || memcmp(a->ticks, b->ticks, a->count * sizeof a->ticks[0]) == 0;
}

static uint64_t losses(const struct foreign_loss *loss)
{
    uint64_t count = 0;
    for (int reason = 0; reason <= FOREIGN_ADDRESS; reason++)
        count += loss->count[reason];
    return count;
}

static void check_format(const struct expectation *format, uint64_t seed)
{
    static struct trace trace;
    static struct trace got;
    static struct trace expected;
    char path[NAME_BYTES];
    struct foreign_loss loss;
    uint64_t random = random_seed(seed);
    uint32_t sizes[] = {16, 64, 128};
    struct foreign_options options = {.object_size = sizes[random_below(&random, 3)]};
    snprintf(path, sizeof path, "%s/trace%s", folder, random_one_in(&random, 20) ? ".gz" : "");
    make_trace(&trace, &random);
    CU_ASSERT_EQUAL(write_trace(path, format->format, &trace, &options, &loss, &random), 0);
    expect(&expected, format, &trace, options.object_size);
    int end = read_trace(&got, path, format->format, &options, &random);
    CU_ASSERT(end == 0);
    bool ticks = strcmp(format->format, "csv") == 0 || !format->all;
    if (!same(&got, &expected, ticks))
        printf("\n%s, seed %llu: %zu records, %zu expected\n", format->format,
               (unsigned long long)seed, got.count, expected.count);
    CU_ASSERT(same(&got, &expected, ticks));
    CU_ASSERT_EQUAL(loss.taken, trace.count);
    CU_ASSERT_EQUAL(loss.written + losses(&loss), trace.count);
    remove(path);
}

static void test_round_trips(void)
{
    folder_make(folder);
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++)
        for (uint64_t seed = 1; seed <= TRACES; seed++)
            check_format(&expectations[i], seed);
    folder_remove(folder);
}

/* --- special cases --- */

static void test_extended_din(void)
{
    static struct trace trace;
    static struct trace got;
    static struct trace expected;
    static const struct expectation extended = {.format = "din", .size = true};
    const struct foreign_options options = {.sizes = true};
    struct foreign_loss loss;
    char path[NAME_BYTES];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.din", folder);
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        uint64_t random = random_seed(seed);
        make_trace(&trace, &random);
        CU_ASSERT_EQUAL(write_trace(path, "din", &trace, &options, &loss, &random), 0);
        CU_ASSERT_EQUAL(read_trace(&got, path, "din", &options, &random), 0);
        expect(&expected, &extended, &trace, 0);
        CU_ASSERT(same(&got, &expected, true));
    }
    folder_remove(folder);
}

/* After an address, lines with digit labels have a comment, and those with letters the size, as in
 * Dinero's two formats. */
static void test_din_columns(void)
{
    static const char text[] = "0 1000 add\n"
                               "1 2002 dead beef\n"
                               "2 0x3003 8\n"
                               "  2\t3004\tff\n"
                               "r 4001 add\n"
                               "W 0X5000 0x8 comment\n"
                               "i 6003\n"
                               "3 7000 4\n"
                               "M 7000 4\n"
                               "r 8000 text\n"
                               "r 8000 4x\n";
    static const struct record wanted[] = {
        {.address = 0x1000, .type = REQUEST_MEMREAD, .size = 4, .attribute = 3},
        {.address = 0x2002, .type = REQUEST_MEMWRITE, .size = 2, .attribute = 3},
        {.address = 0x3003, .type = REQUEST_FETCH, .size = 1, .attribute = 3},
        {.address = 0x3004, .type = REQUEST_FETCH, .size = 4, .attribute = 3},
        {.address = 0x4001, .type = REQUEST_MEMREAD, .size = 255, .attribute = 3},
        {.address = 0x5000, .type = REQUEST_MEMWRITE, .size = 8, .attribute = 3},
        {.address = 0x6003, .type = REQUEST_FETCH, .size = 4, .attribute = 3}};
    const struct foreign_options options = {.sizes = false};
    struct record records[16];
    struct batch batch = {.records = records, .capacity = 16};
    struct source *source;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(
        foreign_source_open_memory(&source, &din_decoder, text, sizeof text - 1, &options, &error),
        0);
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, &error), 1);
    CU_ASSERT_EQUAL_FATAL(batch.count, sizeof wanted / sizeof *wanted);
    CU_ASSERT_EQUAL(memcmp(records, wanted, sizeof wanted), 0);
    for (int line = 10; line <= 11; line++) {
        char why[100];
        snprintf(why, sizeof why, "memory: line %d: its size is not a hexadecimal number", line);
        CU_ASSERT_EQUAL(source_next(source, &batch, -1, &error), BT_DATA);
        CU_ASSERT_STRING_EQUAL(error.message, why);
    }
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, &error), BT_NOTE); /* about omitted lines */
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, &error), BT_NOTE);
    CU_ASSERT_STRING_EQUAL(error.message, "memory: sizes above 255 limited to 255: 1");
    source_close(source);
}

/* gem5 uses picoseconds; if the clock is known, the ticks survive. */
static void test_gem5_clocks(void)
{
    static struct trace trace;
    static struct trace got;
    static struct trace expected;
    static const struct expectation gem5 = {.format = "gem5",
                                            .size = true,
                                            .times = true,
                                            .processor = true,
                                            .attribute = true,
                                            .invalidate = true};
    struct foreign_loss loss;
    char path[NAME_BYTES];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.gem5", folder);
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        uint64_t random = random_seed(seed);
        struct foreign_options options = {.clock_hz = random_below(&random, 5000000000u) + 1000};
        make_trace(&trace, &random);
        for (size_t i = 0; i < trace.count; i++) /* limit of picoseconds in 64 bits */
            if (trace.ticks[i] / options.clock_hz > 10000000)
                trace.count = i;
        CU_ASSERT_EQUAL(write_trace(path, "gem5", &trace, &options, &loss, &random), 0);
        CU_ASSERT_EQUAL(read_trace(&got, path, NULL, &options, &random), 0);
        expect(&expected, &gem5, &trace, 0);
        CU_ASSERT(same(&got, &expected, true));
    }
    folder_remove(folder);
}

/* The future in the slow way: a search from each access for the next one. */
static void test_oracle_future(void)
{
    static struct trace trace;
    static uint8_t bytes[24 * 2000];
    const struct foreign_options options = {.object_size = 64};
    struct foreign_loss loss;
    char path[NAME_BYTES];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.oracle", folder);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = random_seed(seed);
        make_trace(&trace, &random);
        trace.count = trace.count < 1500 ? trace.count : 1500;
        for (size_t i = 0; i < trace.count; i++) {
            trace.records[i].address &= 0x1fc0;
            trace.records[i].size = 8;
        }
        CU_ASSERT_EQUAL(write_trace(path, "oracle", &trace, &options, &loss, &random), 0);
        FILE *file = fopen(path, "rb");
        size_t count = file ? fread(bytes, 24, 2000, file) : 0;
        CU_ASSERT_EQUAL(count, loss.written);
        for (size_t i = 0; i < count; i++) {
            uint64_t next = UINT64_MAX;
            for (size_t j = i + 1; j < count && next == UINT64_MAX; j++)
                if (memcmp(bytes + 24 * j + 4, bytes + 24 * i + 4, 8) == 0)
                    next = j + 1; /* the first access is number 1 */
            CU_ASSERT_EQUAL(bytes_get64(bytes + 24 * i + 16), next);
        }
        if (file)
            fclose(file);
    }
    folder_remove(folder);
}

/* The size of an instruction according to champsim.h: records of the file hold 4 reads and 2
 * writes, 8 of them are examined, and a branch has no successor that gives its size. */
static uint8_t champsim_size(const struct trace *expected, size_t fetch, size_t next, bool branch)
{
    unsigned reads = 0;
    unsigned writes = 0;
    unsigned records = 1;
    if (next == expected->count)
        return 4;
    for (size_t i = fetch + 1; i < next; i++) {
        bool write = expected->records[i].type == REQUEST_MEMWRITE;
        if (write ? writes == 2 : reads == 4) {
            records++;
            reads = writes = 0;
        }
        reads += !write;
        writes += write;
    }
    uint64_t distance =
        (uint64_t)expected->records[next].address - expected->records[fetch].address;
    if (records >= 8)
        return 4;
    if (branch)
        return distance == 4 ? 2 : 4;
    return distance < 256 ? (uint8_t)distance : 0;
}

/* Replaces the sizes of fetches with those in the file. */
static void champsim_sizes(struct trace *expected)
{
    size_t fetch = 0;
    for (size_t i = 1; i <= expected->count; i++) {
        if (i < expected->count && expected->records[i].type != REQUEST_FETCH)
            continue;
        struct record *record = &expected->records[fetch];
        bool branch = i < expected->count && record->size > 0 &&
                      expected->records[i].address != record->address + record->size;
        record->size = champsim_size(expected, fetch, i, branch);
        fetch = i;
    }
}

/* Fetches of one processor in order, each with its data: reads first, then writes. */
static void champsim_twin(struct trace *expected, const struct trace *trace)
{
    int processor = -1;
    bool fetched = false;
    expected->count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct record *record = &trace->records[i];
        if (processor < 0 && record->type == REQUEST_FETCH)
            processor = record->processor;
        if (record->type > REQUEST_MEMWRITE || record->processor != processor)
            continue;
        if (record->type == REQUEST_FETCH || (fetched && record->address != 0))
            expected->records[expected->count++] = (struct record){
                .address = record->address,
                .type = record->type == REQUEST_MEMREADINV ? REQUEST_MEMREAD : record->type,
                .size = record->type == REQUEST_FETCH ? record->size : 4,
                .attribute = ATTRIBUTE_WRITE_BACK};
        fetched = fetched || record->type == REQUEST_FETCH;
    }
    champsim_sizes(expected);
}

static int compare_type(const void *a, const void *b)
{
    const struct record *left = a;
    const struct record *right = b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    return left->time < right->time ? -1 : left->time > right->time;
}

/* Sorts the data of each instruction, reads before writes, otherwise in order. Uses the times,
 * which are all 0. */
static void sort_data(struct trace *trace)
{
    size_t start = 0;
    for (size_t i = 0; i < trace->count; i++)
        CU_ASSERT_EQUAL(trace->records[i].time, 0);
    for (size_t i = 0; i <= trace->count; i++) {
        if (i < trace->count && trace->records[i].type != REQUEST_FETCH) {
            trace->records[i].time = (uint32_t)i;
            continue;
        }
        if (i > start)
            qsort(trace->records + start, i - start, sizeof trace->records[0], compare_type);
        start = i + 1;
    }
    for (size_t i = 0; i < trace->count; i++)
        trace->records[i].time = 0;
}

static void test_champsim(void)
{
    static struct trace trace;
    static struct trace got;
    static struct trace expected;
    const struct foreign_options options = {.sizes = false};
    struct foreign_loss loss;
    char path[NAME_BYTES];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.champsim", folder);
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        uint64_t random = random_seed(seed);
        make_trace(&trace, &random);
        for (size_t i = 0; i < trace.count; i++)
            trace.records[i].processor &= 1;
        CU_ASSERT_EQUAL(write_trace(path, "champsim", &trace, &options, &loss, &random), 0);
        CU_ASSERT_EQUAL(loss.written + losses(&loss), trace.count);
        CU_ASSERT_EQUAL(read_trace(&got, path, "champsim", &options, &random), 0);
        champsim_twin(&expected, &trace);
        sort_data(&expected);
        sort_data(&got);
        CU_ASSERT(same(&got, &expected, false));
    }
    folder_remove(folder);
}

/* Compares with ChampSim's own rules from registers to kinds of branches: only conditional ones
 * count. */
static void test_champsim_branches(void)
{
    static struct trace trace = {
        .records = {{.address = 0x1000, .type = REQUEST_FETCH, .size = 2},
                    {.address = 0x1002, .type = REQUEST_FETCH, .size = 5},
                    {.address = 0x2000, .type = REQUEST_MEMREAD, .size = 4},
                    {.address = 0x3000, .type = REQUEST_FETCH, .size = 1}},
        .count = 4};
    static const uint8_t taken[] = {0, 1, 0};
    const struct foreign_options options = {.sizes = false};
    struct foreign_loss loss;
    uint8_t bytes[4 * 64];
    char path[NAME_BYTES];
    uint64_t random = random_seed(1);
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.champsim", folder);
    CU_ASSERT_EQUAL(write_trace(path, "champsim", &trace, &options, &loss, &random), 0);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_EQUAL_FATAL(file ? fread(bytes, 64, 4, file) : 0, 3);
    fclose(file);
    for (int i = 0; i < 3; i++) {
        const uint8_t *instruction = bytes + i * 64;
        CU_ASSERT_EQUAL(instruction[8], taken[i]);
        CU_ASSERT_EQUAL(instruction[9], taken[i]);
        CU_ASSERT_EQUAL(instruction[10], taken[i] ? 26 : 0);
        CU_ASSERT_EQUAL(instruction[12], taken[i] ? 26 : 0);
        CU_ASSERT_EQUAL(instruction[13], taken[i] ? 25 : 0);
    }
    CU_ASSERT_EQUAL(bytes_get64(bytes + 64 + 32), 0x2000);
    folder_remove(folder);
}

static void test_one_processor(void)
{
    static struct trace trace;
    static struct trace chosen;
    static struct trace got;
    const struct foreign_options options = {.one_processor = true, .processor = 2};
    struct foreign_loss loss;
    char path[NAME_BYTES];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.csv", folder);
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        uint64_t random = random_seed(seed);
        uint64_t last = 0;
        make_trace(&trace, &random);
        chosen.count = 0;
        for (size_t i = 0; i < trace.count; i++) {
            trace.records[i].processor &= 3;
            if (trace.records[i].processor != 2)
                continue;
            uint64_t since = trace.ticks[i] - last;
            last = chosen.ticks[chosen.count] = trace.ticks[i];
            chosen.records[chosen.count] = trace.records[i];
            chosen.records[chosen.count++].time = since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
        }
        CU_ASSERT_EQUAL(write_trace(path, "csv", &trace, &options, &loss, &random), 0);
        CU_ASSERT_EQUAL(read_trace(&got, path, NULL, &options, &random), 0);
        CU_ASSERT(same(&got, &chosen, true));
        CU_ASSERT_EQUAL(loss.count[FOREIGN_PROCESSOR], trace.count - chosen.count);
    }
    folder_remove(folder);
}

/* --- damaged files --- */

static void write_text(char *path, const char *name, const char *text, size_t size)
{
    snprintf(path, NAME_BYTES, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        abort();
    fwrite(text, 1, size, file);
    fclose(file);
}

/* Reads text in a format, and collects its messages, one a line. Returns the number of records. */
static size_t messages_of(char *messages, size_t room, const char *format, const char *text,
                          bool wrap)
{
    static struct record buffer[16];
    const struct foreign_options options = {.wrap = wrap};
    struct source *source;
    struct bt_error error;
    char path[NAME_BYTES];
    size_t count = 0;
    write_text(path, "text", text, strlen(text));
    *messages = '\0';
    if (trace_format_open(&source, format, path, &options, &error) < 0)
        return SIZE_MAX;
    for (int result = 1; result != 0 && result != BT_IO;) {
        struct batch batch = {.records = buffer, .capacity = 16};
        result = source_next(source, &batch, -1, &error);
        if (result < 0) {
            const char *place = strstr(error.message, "text: ");
            snprintf(messages + strlen(messages), room - strlen(messages), "%d %s\n", result,
                     place ? place + 6 : error.message);
        }
        count += result == 1 ? batch.count : 0;
    }
    source_close(source);
    return count;
}

#define NO_LABEL "it does not begin with a label of din (0 to 4, or r w i m c v)\n"

struct damage_case {
    const char *format, *text;
    size_t records;
    const char *messages;
};

static void check_damage(const struct damage_case *damage)
{
    char messages[2000];
    CU_ASSERT_EQUAL(messages_of(messages, sizeof messages, damage->format, damage->text, false),
                    damage->records);
    if (strcmp(messages, damage->messages) != 0)
        printf("\n%s: %s: messages\n%s", damage->format, damage->text, messages);
    CU_ASSERT_STRING_EQUAL(messages, damage->messages);
}

/* Lines with too many columns, and times that are not decimal numbers. */
static void test_columns(void)
{
    static const struct damage_case cases[] = {
        {"csv", "address,type\n1,FETCH\n2,FETCH,3\n3,FETCH,\n4,FETCH,5,6\n5,FETCH\n", 2,
         "-2 line 3: it has more fields than the heading, which has 2\n"
         "-2 line 4: it has more fields than the heading, which has 2\n"
         "-2 line 5: it has more fields than the heading, which has 2\n"
         "-3 requests without a time (set to 0): 2\n"},
        {"csv", "address,type,more,\n1,FETCH,x,\n", 1,
         "-3 requests without a time (set to 0): 1\n"},
        {"csv", /* 34 columns */
         "address,type,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,time\n"
         "1,FETCH,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,5\n",
         1, ""},
        {"libcachesim-csv", "time,obj,size\n1,2,3\n1,2,3,get\n", 1,
         "-2 line 3: it has more fields than the first line, which has 3\n"},
        {"libcachesim-csv", "1,2,64,get,9\n1,2,64,get,9,9\n1,2,64,get,9\n", 2,
         "-2 line 2: it has more fields than the first line, which has 5\n"},
        {"libcachesim-csv", "time,obj\n1.5,1\n2.,1\n1.5e9,1\n3.x,1\n4.5.6,1\n5e3,1\n7.25,1\n", 3,
         "-2 line 4: field 1 is not a number\n-2 line 5: field 1 is not a number\n"
         "-2 line 6: field 1 is not a number\n-2 line 7: field 1 is not a number\n"},
        {"lackey", " L 10,4 x\n L 10,4,5\n L 10,4\n", 1,
         "-2 line 1: there is no ADDRESS,SIZE after the letter\n"
         "-2 line 2: there is no ADDRESS,SIZE after the letter\n"},
    };
    folder_make(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_damage(&cases[i]);
    folder_remove(folder);
}

static void test_damage(void)
{
    static const struct damage_case cases[] = {
        {"din", "0 10\n1 20 comment\n2 0x30\n\n4 0\n", 3,
         "-3 escape and flush records left out: 1\n"},
        {"din", "0 10\n9 20\n0 30\n", 2,
         "-2 line 2: it does not begin with a label of din (0 to 4, or r w i m c v)\n"},
        {"din", "0 \n0 xyz\n0 1", 1,
         "-2 line 1: there is no hexadecimal address after the label\n"
         "-2 line 2: there is no hexadecimal address after the label\n"},
        {"din", "0 100000000\n0 1ffffffff\n0 7\n", 1,
         "-3 requests above 4 GiB left out: 2 (a record has 32 bits of address; "
         "bustap convert --wrap keeps the low 32)\n"},
        {"din", "0 12345678901234567\n", 0,
         "-2 line 1: there is no hexadecimal address after the label\n"},
        {"lackey", "==1== Lackey\nI  04001000,3\n M 1000,8\n L 10\n", 3,
         "-2 line 4: there is no ADDRESS,SIZE after the letter\n"
         "-3 valgrind's own lines left out: 1\n"},
        {"lackey", " L 10,300\r\n", 1, "-3 sizes above 255 limited to 255: 1\n"},
        {"csv", "type,address\nFETCH,0x10\nFETCH\nFOO,1\n7,10\n", 2,
         "-2 line 3: it has 1 fields, the heading has 2\n-2 line 4: field 1 is not a valid type\n"
         "-3 requests without a time (set to 0): 2\n"},
        {"csv", "a,b\n1,2\n", 0,
         "-2 line 1: the heading lacks address or type: columns, separated by commas, are index, "
         "tick, address, type, size, attribute, processor and time\n"},
        {"csv",
         "\xef\xbb\xbf"
         "address,type\n1,FETCH\n",
         1, "-3 requests without a time (set to 0): 1\n"}, /* a byte order mark */
        {"csv", "index,address,type,size,processor\n7,1,FETCH,256,0\n9,2,FETCH,300,256\n", 2,
         "-3 sizes above 255 limited to 255: 2\n-3 processors above 255 limited to 255: 1\n"
         "-3 requests without a time (set to 0): 2\n"},
        {"csv", "time,address,type\n5,1,FETCH\n", 1, ""},
        {"csv", "tick,time,address,type\n5,5,1,FETCH\n3,3,2,FETCH\n", 2,
         "-3 places where time goes back (the last time is kept): 1\n"},
        {"libcachesim-csv", "obj_id,op\n5,get\n", 1, "-3 requests without a time (set to 0): 1\n"},
        {"din", "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n0 1\nx\n", 1, /* ten are reported */
         "-2 line 1: " NO_LABEL "-2 line 2: " NO_LABEL "-2 line 3: " NO_LABEL "-2 line 4: " NO_LABEL
         "-2 line 5: " NO_LABEL "-2 line 6: " NO_LABEL "-2 line 7: " NO_LABEL "-2 line 8: " NO_LABEL
         "-2 line 9: " NO_LABEL "-2 line 10: " NO_LABEL "-3 more damaged places: 2\n"},
        {"gem5", "gem5", 0, "-2 it lacks the header of a packet trace\n"},
        {"din", "\x28\xb5\x2f\xfd", 0,
         "-4 compressed with zstd, which is not supported: decompress it first\n"},
        {"csv", "tick,address,type\n5,1,FETCH\n3,2,FETCH\n", 2,
         "-3 places where time goes back (the last time is kept): 1\n"},
        {"libcachesim-csv", "1.5,2,64\nx\n", 1, "-2 line 2: field 1 is not a number\n"},
        {"npy", "hello, world\n", 0, "-2 offset 0: it does not begin like an array of NumPy\n"},
        {"gem5", "gem6....", 0, "-2 offset 0: it does not begin like a trace of gem5\n"},
        {"oracle", "123456789012345678901234567", 0, /* its object is not a 32-bit address */
         "-2 offset 24: the last 3 bytes are not a whole record\n"
         "-3 requests above 4 GiB left out: 1 (a record has 32 bits of address; "
         "bustap convert --wrap keeps the low 32)\n"},
    };
    char messages[2000];
    folder_make(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_damage(&cases[i]);
    CU_ASSERT_EQUAL(messages_of(messages, sizeof messages, "din", "0 100000000\n", true), 1);
    CU_ASSERT_STRING_EQUAL(messages, "-3 addresses above 4 GiB reduced to their low 32 bits: 1\n");
    folder_remove(folder);
}

/* A line without an end is skipped as a whole, reported once, and bounded in memory. */
static void test_long_line(void)
{
    const size_t size = 1000000;
    char messages[1000];
    char *text = malloc(size + 32);
    memset(text, 'x', size);
    strcpy(text + size, "\n0 10\n0 20\n");
    folder_make(folder);
    CU_ASSERT_EQUAL(messages_of(messages, sizeof messages, "din", text, false), 2);
    CU_ASSERT_STRING_EQUAL(messages, "-2 line 1: it is longer than 4096 bytes\n");
    CU_ASSERT_EQUAL(messages_of(messages, sizeof messages, "npy", text, false), 0);
    CU_ASSERT_STRING_EQUAL(messages, "-2 offset 0: it does not begin like an array of NumPy\n");
    folder_remove(folder);
    free(text);
}

static void test_detection(void)
{
    static const struct {
        const char *name, *text, *format;
    } cases[] = {
        {"a.byu", "2 1000\n0 20\n", "din"},
        {"a", "i 1000 4\n", "din"},
        {"a", "==12== Lackey, an example\n", "lackey"},
        {"a", " L 1ffe,8\n", "lackey"},
        {"a", "index,tick,address,type\n", "csv"},
        {"a.csv", "time,object,size\n", "libcachesim-csv"},
        {"a", "\x93NUMPY\x01", "npy"},
        {"a.npy", "gem5....", "gem5"},
        {"a.champsim", "........", "champsim"},
        {"a.ORACLEGENERAL.bin.gz", "....", "oracle"},
        {"a.lcs.csv", "....", "libcachesim-csv"},
        {"a.csv", "....", "csv"},
        {"a.txt", "hello world\n", "byu"},
        {"a", "", "byu"},
        {"a", "0 10\x01\n", "byu"},
    };
    char path[NAME_BYTES];
    folder_make(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bt_error error;
        write_text(path, cases[i].name, cases[i].text, strlen(cases[i].text));
        const struct trace_format *format = trace_format_detect(path, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(format);
        if (format)
            CU_ASSERT_STRING_EQUAL(format->name, cases[i].format);
    }
    CU_ASSERT_PTR_NULL(trace_format_detect("/nonexistent", NULL));
    CU_ASSERT_PTR_NULL(trace_format_find("zip", NULL));
    folder_remove(folder);
}

static void test_sentences(void)
{
    const struct foreign_loss loss = {.count = {[FOREIGN_IO] = 1234567, [FOREIGN_PROCESSOR] = 2}};
    char text[FOREIGN_LOSS_BYTES];
    CU_ASSERT_STRING_EQUAL(foreign_loss_sentence(text, &loss, FOREIGN_IO, "din"),
                           "I/O requests left out: 1,234,567 (din cannot represent them)");
    CU_ASSERT_STRING_EQUAL(foreign_loss_sentence(text, &loss, FOREIGN_PROCESSOR, "din"),
                           "requests of other processors left out: 2");
    CU_ASSERT_PTR_NULL(foreign_loss_sentence(text, &loss, FOREIGN_REPLY, "din"));
}

/* TRACE_FORMAT_NAMES is the list of the table's names. */
static void test_names(void)
{
    char names[200] = "";
    const struct trace_format *format;
    for (size_t i = 0; (format = trace_format_at(i)); i++) {
        CU_ASSERT_PTR_EQUAL(trace_format_find(format->name, NULL), format);
        strcat(strcat(names, i > 0 ? " " : ""), format->name);
    }
    CU_ASSERT_STRING_EQUAL(names, TRACE_FORMAT_NAMES);
}

static const struct test_case cases[] = {
    {"names", test_names},
    {"round trips against the twin", test_round_trips},
    {"extended din has sizes", test_extended_din},
    {"din has sizes only with letters", test_din_columns},
    {"gem5's picoseconds convert back to ticks", test_gem5_clocks},
    {"oracleGeneral contains the next access", test_oracle_future},
    {"ChampSim's instructions have their data", test_champsim},
    {"ChampSim's branches", test_champsim_branches},
    {"one processor of many", test_one_processor},
    {"damage is reported and skipped", test_damage},
    {"lines with too many columns", test_columns},
    {"a line without an end", test_long_line},
    {"formats are recognised by content and name", test_detection},
    {"sentences about losses", test_sentences},
    {NULL, NULL}};
TEST_SUITE(trace_format, cases)
