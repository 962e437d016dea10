#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/match_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES  2u
#define SYMBOLS 6u
#define BLOCKS  12u /* of an image at most */
#define SPACE   64u

/* A build of a program: images with functions, of which several may have one name. */
struct build {
    uint32_t image_number[IMAGES]; /* in the union */
    struct {
        uint64_t offset, size;
        char name[3];
    } symbols[IMAGES][SYMBOLS];
    uint32_t symbol_count[IMAGES];
    struct dcfg *graph;
    struct names *names;
    struct function_place *places;
};

static void add_symbols(struct build *build, uint32_t image, uint64_t *state)
{
    struct dcfg_process *process = build->graph->processes[0];
    struct bt_error error = {0};
    build->symbol_count[image] = (uint32_t)random_below(state, SYMBOLS + 1);
    for (uint32_t s = 0; s < build->symbol_count[image]; s++) {
        const uint64_t offset = random_below(state, SPACE);
        const uint64_t size = 1 + random_below(state, SPACE / 3);
        const size_t length = 1 + random_one_in(state, 4); /* some begin like others */
        char *name = build->symbols[image][s].name;
        snprintf(name, 3, "%c%c", (char)('f' + random_below(state, 2)), length == 2 ? 'x' : 0);
        build->symbols[image][s].offset = offset;
        build->symbols[image][s].size = size;
        CU_ASSERT_EQUAL_FATAL(dcfg_add_symbol(process, offset, size, name, length, &error), 0);
    }
}

static void make_build(struct build *build, bool swapped, uint64_t *state)
{
    struct bt_error error = {0};
    uint32_t id = 4;
    build->graph = dcfg_new(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(build->graph);
    struct dcfg_process *process = dcfg_add_process(build->graph, 1, &error);
    for (uint32_t i = 0; i < IMAGES; i++) {
        const struct dcfg_image image = {.id = i + 1, .load_address = 0x1000 * (i + 1)};
        build->image_number[i] = swapped ? IMAGES - 1 - i : i;
        CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &image, &error), 0);
        add_symbols(build, i, state);
        for (uint64_t b = random_below(state, BLOCKS + 1); b > 0; b--, id++) {
            const struct dcfg_block block = {.offset = random_below(state, SPACE),
                                             .count = 1,
                                             .id = id,
                                             .size = 1,
                                             .instructions = 1};
            CU_ASSERT_EQUAL_FATAL(dcfg_add_block(process, &block, &error), 0);
        }
    }
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(build->graph, &error), 0);
    build->names = names_new(process, &error);
    build->places = malloc((process->block_count + 1) * sizeof *build->places);
    CU_ASSERT_FATAL(build->names && build->places);
}

static void clear(struct build *build)
{
    names_free(build->names);
    dcfg_free(build->graph);
    free(build->places);
}

/* What identifies the function of a block. */
struct identity {
    uint32_t image, rank;
    const char *symbol; /* NULL: none */
};

/* The rank is the number of functions of the same name with a lower address that have blocks. */
static struct identity identify(const struct build *build, uint32_t block)
{
    const struct dcfg_process *process = build->graph->processes[0];
    struct code_location location;
    names_of_block(build->names, block, &location);
    struct identity identity = {.image = dcfg_image_of_block(process, block),
                                .symbol = location.symbol};
    bool lower[SPACE] = {false};
    if (!location.symbol)
        return identity;
    const uint64_t start = location.image_offset - location.symbol_offset;
    for (uint32_t b = 0; b < process->block_count; b++) {
        struct code_location other;
        names_of_block(build->names, b, &other);
        if (dcfg_image_of_block(process, b) == identity.image && other.symbol &&
            strcmp(other.symbol, location.symbol) == 0 &&
            other.image_offset - other.symbol_offset < start)
            lower[other.image_offset - other.symbol_offset] = true;
    }
    for (uint32_t i = 0; i < SPACE; i++)
        identity.rank += lower[i];
    identity.image = build->image_number[identity.image];
    return identity;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return a->image == b->image && a->rank == b->rank && a->symbol && b->symbol &&
           strcmp(a->symbol, b->symbol) == 0;
}

/* Compares the functions of all pairs of blocks of two builds. Returns the number of matches. */
static unsigned compare(const struct build *left, const struct build *right)
{
    unsigned matches = 0;
    for (uint32_t a = 0; a < left->graph->processes[0]->block_count; a++) {
        const struct identity identity = identify(left, a);
        CU_ASSERT_EQUAL_FATAL(left->places[a].function == DCFG_NONE, !identity.symbol);
        for (uint32_t b = 0; b < right->graph->processes[0]->block_count; b++) {
            const struct identity other = identify(right, b);
            if (!identity.symbol || !other.symbol)
                continue;
            const bool matched = left->places[a].function == right->places[b].function;
            CU_ASSERT_EQUAL_FATAL(matched, is_same(&identity, &other));
            matches += matched;
        }
    }
    return matches;
}

static void check_offsets(const struct build *build)
{
    for (uint32_t b = 0; b < build->graph->processes[0]->block_count; b++) {
        struct code_location location;
        names_of_block(build->names, b, &location);
        CU_ASSERT_EQUAL_FATAL(build->places[b].offset, location.symbol_offset);
    }
}

static void test_random_builds(void)
{
    unsigned matches = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t state = random_seed(seed);
        struct build builds[2];
        make_build(&builds[0], false, &state);
        make_build(&builds[1], random_one_in(&state, 2), &state);
        const struct dcfg_process *const processes[2] = {builds[0].graph->processes[0],
                                                         builds[1].graph->processes[0]};
        const struct names *const names[2] = {builds[0].names, builds[1].names};
        uint32_t *const images[2] = {builds[0].image_number, builds[1].image_number};
        struct function_place *const places[2] = {builds[0].places, builds[1].places};
        CU_ASSERT_EQUAL_FATAL(match_functions(processes, names, images, places), 0);
        matches += compare(&builds[0], &builds[1]);
        compare(&builds[0], &builds[0]);
        compare(&builds[1], &builds[1]);
        check_offsets(&builds[0]);
        check_offsets(&builds[1]);
        clear(&builds[0]);
        clear(&builds[1]);
    }
    CU_ASSERT(matches > 2000);
}

static const struct test_case cases[] = {
    {"builds with functions of equal names against a slow twin", test_random_builds}, {NULL, NULL}};
TEST_SUITE(match_functions, cases)
