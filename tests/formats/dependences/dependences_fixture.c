#include "tests/formats/dependences/dependences_fixture.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t add_place(struct dependences *dependences, const char *file, uint32_t line,
                          const char *function, uint64_t offset)
{
    const struct dependence_place place = {.file = file,
                                           .line = line,
                                           .function = function,
                                           .module = "/bin/prog",
                                           .offset = offset,
                                           .address = 0x400000 + offset};
    uint32_t number = 0;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(dependences_add_place(dependences, &place, &number, &error), 0);
    return number;
}

static void add_row(struct dependences *dependences, const struct dependence *row)
{
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(dependences_add(dependences, row, &error), 0);
}

static uint32_t add_loop(struct dependences *dependences, uint32_t place)
{
    const struct dependence_loop loop = {.place = place,
                                         .verdict = DEPENDENCE_REDUCTION,
                                         .entries = 2,
                                         .iterations = 20,
                                         .instructions = 100,
                                         .carried = 1 << DEPENDENCE_RAW};
    uint32_t number = 0;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(dependences_add_loop(dependences, &loop, &number, &error), 0);
    CU_ASSERT_EQUAL_FATAL(
        dependences_add_reason(dependences, number, "sum.c:4 only adds to sum", &error), 0);
    return number;
}

struct dependences *dependences_fixture(void)
{
    struct bt_error error;
    struct dependences *dependences = dependences_new(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dependences);
    const struct dependences_totals totals = {.program = "./prog 20",
                                              .ended = "exit status 0",
                                              .kinds = 7,
                                              .references = 1000,
                                              .writes = 300,
                                              .instructions = 400};
    CU_ASSERT_EQUAL_FATAL(dependences_set_totals(dependences, &totals, &error), 0);
    const uint32_t head = add_place(dependences, "/src/sum.c", 3, "main", 0x10);
    const uint32_t load = add_place(dependences, "/src/sum.c", 4, "main", 0x14);
    const uint32_t load2 = add_place(dependences, "/src/sum.c", 4, "main", 0x18);
    const uint32_t store = add_place(dependences, "/src/sum.c", 4, "main", 0x1c);
    const uint32_t library = add_place(dependences, NULL, 0, "memcpy", 0x1000);
    const uint32_t loop = add_loop(dependences, head);
    add_row(dependences, &(struct dependence){.kind = DEPENDENCE_RAW,
                                              .sink = library,
                                              .source = store,
                                              .top_sink = load,
                                              .top_source = store,
                                              .loop = DEPENDENCES_NONE,
                                              .sink_thread = 1,
                                              .count = 3});
    add_row(dependences, &(struct dependence){.kind = DEPENDENCE_RAW,
                                              .carried = true,
                                              .sink = load,
                                              .source = store,
                                              .top_sink = load,
                                              .top_source = store,
                                              .loop = loop,
                                              .count = 18,
                                              .least = 1,
                                              .greatest = 1,
                                              .sum = 18});
    add_row(dependences, &(struct dependence){.kind = DEPENDENCE_RAW,
                                              .carried = true,
                                              .at_least = true,
                                              .sink = load2,
                                              .source = store,
                                              .top_sink = load2,
                                              .top_source = store,
                                              .loop = loop,
                                              .count = 2,
                                              .least = 3,
                                              .greatest = 5,
                                              .sum = 8});
    add_row(dependences, &(struct dependence){.kind = DEPENDENCE_WAR,
                                              .sink = store,
                                              .source = load,
                                              .top_sink = store,
                                              .top_source = load,
                                              .loop = loop,
                                              .count = 20});
    CU_ASSERT_EQUAL_FATAL(
        dependences_add_note(dependences, "system calls with unknown effects", 2, &error), 0);
    return dependences;
}

/* --- random ------------------------------------------------------------------------------------
 */

static const char *random_name(uint64_t *state, char name[16])
{
    const size_t size = random_below(state, 4);
    for (size_t i = 0; i < size; i++)
        name[i] = random_one_in(state, 3) ? (char)random_below(state, 256)
                                          : "a\",:\\ ?\n"[random_below(state, 8)];
    name[size] = 0;
    return size == 0 && random_one_in(state, 2) ? NULL : name;
}

static uint32_t random_place(struct dependences *dependences, uint64_t *state)
{
    char file[16], function[16], module[16];
    struct bt_error error;
    uint32_t number = 0;
    const struct dependence_place place = {
        .file = random_name(state, file),
        .function = random_name(state, function),
        .module = random_name(state, module),
        .line = (uint32_t)random_below(state, 3),
        .offset = random_one_in(state, 2) ? DEPENDENCES_UNKNOWN : random_below(state, 4),
        .address = random_one_in(state, 2) ? DEPENDENCES_UNKNOWN : random_below(state, 4)};
    CU_ASSERT_EQUAL_FATAL(dependences_add_place(dependences, &place, &number, &error), 0);
    return number;
}

static void random_loop(struct dependences *dependences, uint64_t *state)
{
    char reason[16];
    struct bt_error error;
    uint32_t number;
    struct dependence_loop loop = {.place = random_place(dependences, state),
                                   .verdict = (enum dependence_verdict)random_below(state, 2) *
                                              (enum dependence_verdict)(2 + random_below(state, 4)),
                                   .entries = 1 + random_below(state, 3),
                                   .carried = 1 << DEPENDENCE_WAR};
    loop.iterations = loop.entries + random_below(state, 5);
    loop.instructions = random_below(state, 1000);
    if (loop.verdict == DEPENDENCE_DISTANCE)
        loop.distance = 1 + random_below(state, 3);
    if (dependence_place_is_unknown(&dependences->places[loop.place]))
        return;
    CU_ASSERT_EQUAL_FATAL(dependences_add_loop(dependences, &loop, &number, &error), 0);
    CU_ASSERT_EQUAL_FATAL(
        dependences_add_reason(dependences, number, random_name(state, reason), &error), 0);
}

static void random_row(struct dependences *dependences, uint64_t *state, uint32_t threads)
{
    struct dependence row = {.kind = (enum dependence_kind)random_below(state, DEPENDENCE_KINDS),
                             .sink = random_place(dependences, state),
                             .source = random_place(dependences, state),
                             .top_sink = DEPENDENCES_NONE,
                             .top_source = random_place(dependences, state),
                             .loop = DEPENDENCES_NONE,
                             .sink_thread = (uint32_t)random_below(state, threads),
                             .source_thread = (uint32_t)random_below(state, threads),
                             .count = 1 + random_below(state, 5)};
    if (dependences->loop_count > 0 && row.sink_thread == row.source_thread) {
        row.loop = (uint32_t)random_below(state, dependences->loop_count);
        row.carried = random_one_in(state, 2);
        row.at_least = random_one_in(state, 2);
        row.least = 1 + random_below(state, 3);
        row.greatest = row.least + (row.count > 1 ? random_below(state, 4) : 0);
        row.sum = row.greatest + row.least * (row.count - 1);
    }
    add_row(dependences, &row);
}

struct dependences *dependences_fixture_random(uint64_t *state)
{
    struct bt_error error;
    struct dependences *dependences = dependences_new(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dependences);
    const uint32_t threads = 1 + (uint32_t)random_below(state, 2);
    const size_t loops = random_below(state, 4), rows = random_below(state, 30);
    char program[16];
    const struct dependences_totals totals = {
        .program = random_name(state, program),
        .level = (enum dependences_level)random_below(state, 2),
        .kinds = 7,
        .references = 1000,
        .writes = random_below(state, 1000),
        .instructions = random_one_in(state, 2) ? 4000 : DEPENDENCES_UNKNOWN};
    CU_ASSERT_EQUAL_FATAL(dependences_set_totals(dependences, &totals, &error), 0);
    for (size_t i = 0; i < loops; i++)
        random_loop(dependences, state);
    for (size_t i = 0; i < rows; i++)
        random_row(dependences, state, threads);
    if (random_one_in(state, 2))
        CU_ASSERT_EQUAL_FATAL(
            dependences_add_note(dependences, random_name(state, program), 1, &error), 0);
    return dependences;
}

/* --- writing -----------------------------------------------------------------------------------
 */

char *dependences_fixture_written(const struct dependences *dependences,
                                  enum dependences_format format, size_t *size)
{
    char *text = NULL;
    struct bt_error error;
    FILE *out = open_memstream(&text, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL_FATAL(dependences_write(dependences, format, out, &error), 0);
    fclose(out);
    return text;
}
