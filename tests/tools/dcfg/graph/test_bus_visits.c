/* Visits of the chunks that a bus transferred, and what they rest on. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/bus_visits.h"

#include <string.h>

#define VISITS 1000u

struct visit_list {
    struct sink sink;
    uint32_t addresses[VISITS];
    size_t count;
    unsigned holes;
};

static int take(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct visit_list *list = (struct visit_list *)sink;
    (void)error;
    list->holes += batch_has_loss_or_gap(batch);
    for (size_t i = 0; i < batch->count && list->count < VISITS; i++)
        list->addresses[list->count++] = batch->records[i].address;
    return 0;
}

static const struct sink_operations operations = {take, NULL};

/* Puts fetches of 8 bytes at addresses, 0: a hole. */
static struct bus_fetch_counts put(struct visit_list *list, const char *text, uint32_t mask,
                                   struct bus_evidence *evidence, const uint32_t *addresses,
                                   size_t count)
{
    struct bus_model model;
    *list = (struct visit_list){.sink.operations = &operations};
    CU_ASSERT_EQUAL_FATAL(bus_model_parse(&model, text, NULL), 0);
    struct bus_visits *visits = bus_visits_new(&model, mask, evidence, &list->sink, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(visits);
    for (size_t i = 0; i < count; i++) {
        struct record record = {.address = addresses[i], .size = 8, .type = REQUEST_FETCH};
        const struct batch batch = {.records = &record,
                                    .count = addresses[i] != 0,
                                    .gap = {.milliseconds = addresses[i] == 0}};
        CU_ASSERT_EQUAL(bus_visits_put(visits, &batch, NULL), 0);
    }
    CU_ASSERT_EQUAL(bus_visits_end(visits, NULL), 0);
    struct bus_fetch_counts counts = bus_visits_counts(visits);
    bus_visits_free(visits);
    return counts;
}

static void test_visits(void)
{
    static const struct {
        const char *model;
        uint32_t fetches[12], visits[12]; /* end with 1 */
        uint64_t repeated, prefetched, noise;
    } rows[] = {
        {"chunk=8", {8, 8, 16, 8, 1}, {8, 8, 16, 8, 1}, 1, 0, 0},
        {"chunk=8,refetch=some", {8, 8, 16, 16, 16, 8, 1}, {8, 16, 8, 1}, 3, 0, 0},
        {"chunk=8,refetch,ahead=1", {8, 16, 8, 16, 16, 24, 8, 16, 1}, {8, 16, 8, 1}, 1, 4, 0},
        /* an instruction in two chunks; two loops; a chunk that comes again with a wrong bit */
        {"chunk=8,refetch,ahead=1", {8, 16, 24, 16, 24, 1}, {8, 16, 1}, 0, 2, 0},
        {"chunk=8,ahead=1", {8, 16, 24, 8, 16, 24, 64, 72, 1}, {8, 16, 8, 16, 64, 1}, 0, 3, 0},
        {"chunk=8,refetch=some,ahead=1,noise",
         {0x1000, 0x1008, 0x1400, 0x1008, 0x1010, 1},
         {0x1000, 0x1008, 1},
         0,
         2,
         1},
        {"chunk=8,refetch=some,noise",
         {0x1000, 0x1000, 0x1400, 0x1000, 0x1008, 1},
         {0x1000, 0x1008, 1},
         1,
         0,
         1},
        {"chunk=8,noise",
         {0x1000, 0x1408, 0x1010, 0x2000, 0x3000, 1},
         {0x1000, 0x1008, 0x1010, 0x2000, 0x3000, 1},
         0,
         0,
         1},
        {"chunk=8,noise", {0x1000, 0x1400, 0, 0x1000, 1}, {0x1000, 0x1400, 0x1000, 1}, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct visit_list list;
        size_t fetches = 0;
        size_t visits = 0;
        while (rows[i].fetches[fetches] != 1)
            fetches++;
        while (rows[i].visits[visits] != 1)
            visits++;
        struct bus_fetch_counts counts =
            put(&list, rows[i].model, 0, NULL, rows[i].fetches, fetches);
        CU_ASSERT_EQUAL_FATAL(list.count, visits);
        CU_ASSERT_EQUAL(memcmp(list.addresses, rows[i].visits, visits * sizeof *rows[i].visits), 0);
        CU_ASSERT_EQUAL(counts.repeated, rows[i].repeated);
        CU_ASSERT_EQUAL(counts.prefetched, rows[i].prefetched);
        CU_ASSERT_EQUAL(counts.noise, rows[i].noise);
        CU_ASSERT_EQUAL(counts.instructions, visits);
    }
}

/* A program that calls a function of one chunk looks like an error of the probe, but recurs. */
static void test_recurring(void)
{
    static uint32_t fetches[300];
    struct visit_list list;
    for (unsigned i = 0; i < 100; i++) {
        fetches[3 * i] = 0x1000;
        fetches[3 * i + 1] = 0x1400;
        fetches[3 * i + 2] = 0x1008;
    }
    struct bus_fetch_counts counts = put(&list, "chunk=8,noise", 0, NULL, fetches, 300);
    CU_ASSERT_EQUAL(counts.noise, 7);
    CU_ASSERT_EQUAL(list.count, 293);
    CU_ASSERT_EQUAL(counts.noise_bits[10], 7);
}

static void add_block(struct dcfg *graph, uint32_t id, uint64_t offset, uint32_t size,
                      uint64_t count)
{
    const struct dcfg_block block = {
        .id = id, .offset = offset, .size = size, .instructions = 1, .count = count};
    CU_ASSERT_EQUAL(dcfg_add_block(graph->processes[0], &block, NULL), 0);
}

static void test_evidence(void)
{
    static const uint32_t fetches[] = {0x1008, 0x1008, 0x1010, 0x1018, 0x1008};
    static const struct dcfg_bus none;
    struct visit_list list;
    struct bus_evidence *evidence = bus_evidence_new(8, NULL);
    struct dcfg *graph = dcfg_new(NULL, NULL);
    const struct dcfg_image image = {.id = 1, .load_address = 0x1000, .size = 0x100};
    put(&list, "chunk=8,refetch=some", 0, evidence, fetches, 5);
    CU_ASSERT_EQUAL(bus_evidence_assumed(evidence, 0x1012, NULL), 0);
    CU_ASSERT_EQUAL(bus_evidence_assumed(evidence, 0x1014, NULL), 0);
    CU_ASSERT_EQUAL(bus_evidence_assumed(evidence, 0x1014, NULL), 0);
    CU_ASSERT_EQUAL(bus_evidence_unexplained(evidence, 0x1018, NULL), 0);
    dcfg_add_process(graph, 1, NULL);
    CU_ASSERT_EQUAL(dcfg_add_image(graph->processes[0], &image, NULL), 0);
    add_block(graph, 4, 8, 8, 2);
    add_block(graph, 5, 16, 12, 5);
    CU_ASSERT_EQUAL(dcfg_add_standard_tables(graph, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_seal(graph, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_set_bus(graph, &none, NULL), 0);
    CU_ASSERT_EQUAL(bus_evidence_add_to(evidence, graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(graph->bus->block_count, 2);
    const struct dcfg_bus_block *blocks = graph->bus->blocks;
    CU_ASSERT_EQUAL(blocks[0].id, 4);
    CU_ASSERT_EQUAL(blocks[0].certain, 2);
    CU_ASSERT_EQUAL(blocks[0].fetches, 3);
    CU_ASSERT_EQUAL(blocks[1].certain, 3); /* 0x1014 is assumed twice */
    CU_ASSERT_EQUAL(blocks[1].unexplained, 1);
    CU_ASSERT_EQUAL(blocks[1].fetches, 2);
    dcfg_free(graph);
    bus_evidence_free(evidence);
}

static const struct test_case cases[] = {{"fetches become visits", test_visits},
                                         {"an excursion that recurs is kept", test_recurring},
                                         {"certain, assumed and unexplained blocks", test_evidence},
                                         {NULL, NULL}};
TEST_SUITE(bus_visits, cases)
