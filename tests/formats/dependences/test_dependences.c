/* Results of dependence tracing: adding, grouping, and writing. */
#include "formats/dependences/dependences.h"

#include "tests/formats/dependences/dependences_fixture.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dependences *group(const struct dependences *from, enum dependences_by by, size_t top)
{
    struct bt_error error;
    struct dependences *grouped = dependences_group(from, by, top, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(grouped);
    return grouped;
}

/* The fixture, grouped and written, is this text, which has ' for ". */
static void check_written(enum dependences_by by, size_t top, enum dependences_format format,
                          const char *wanted)
{
    struct dependences *from = dependences_fixture();
    struct dependences *grouped = group(from, by, top);
    size_t size;
    char *text = dependences_fixture_written(grouped, format, &size);
    for (char *at = text; *at; at++)
        if (*at == '"')
            *at = '\'';
    CU_ASSERT_STRING_EQUAL(text, wanted);
    if (strcmp(text, wanted) != 0)
        printf("\n---\n%s---\n", text);
    free(text);
    dependences_free(grouped);
    dependences_free(from);
}

/* --- adding ------------------------------------------------------------------------------------
 */

static void test_adding(void)
{
    struct dependences *dependences = dependences_fixture();
    struct bt_error error;
    struct dependence row = dependences->rows[2];
    const size_t places = dependences->place_count, rows = dependences->row_count;
    row.count = 1;
    row.least = row.greatest = row.sum = 9;
    CU_ASSERT_EQUAL(dependences_add(dependences, &row, &error), 0);
    CU_ASSERT_EQUAL(dependences->row_count, rows);
    CU_ASSERT_EQUAL(dependences->rows[2].count, 3);
    CU_ASSERT_EQUAL(dependences->rows[2].least, 3);
    CU_ASSERT_EQUAL(dependences->rows[2].greatest, 9);
    CU_ASSERT_EQUAL(dependences->rows[2].sum, 17);
    CU_ASSERT_DOUBLE_EQUAL(dependence_mean(&dependences->rows[2]), 17.0 / 3, 1e-12);
    row.sink_thread = 7;
    CU_ASSERT_EQUAL(dependences_add(dependences, &row, &error), 0);
    CU_ASSERT_EQUAL(dependences->row_count, rows + 1);
    uint32_t number = 99;
    const struct dependence_place place = dependences->places[3];
    CU_ASSERT_EQUAL(dependences_add_place(dependences, &place, &number, &error), 0);
    CU_ASSERT_EQUAL(number, 3);
    CU_ASSERT_EQUAL(dependences->place_count, places);
    dependences_free(dependences);
}

/* A head that is added again is the same loop; a loop needs a head. */
static void test_loops(void)
{
    struct dependences *dependences = dependences_fixture();
    struct dependence_loop loop = dependences->loops[0];
    struct bt_error error = {0};
    uint32_t number = 99;
    loop.carried = 1 << DEPENDENCE_WAW;
    CU_ASSERT_EQUAL(dependences_add_loop(dependences, &loop, &number, &error), 0);
    CU_ASSERT_EQUAL(number, 0);
    CU_ASSERT_EQUAL(dependences->loop_count, 1);
    CU_ASSERT_EQUAL(dependences->loops[0].iterations, 40);
    CU_ASSERT_EQUAL(dependences->loops[0].carried, 5);
    const struct dependence_place unknown = {.offset = DEPENDENCES_UNKNOWN,
                                             .address = DEPENDENCES_UNKNOWN};
    CU_ASSERT_EQUAL(dependences_add_place(dependences, &unknown, &loop.place, &error), 0);
    CU_ASSERT_EQUAL(dependences_add_loop(dependences, &loop, &number, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, "nothing is known of the head of a loop");
    /* a top-level place of which nothing is known is none */
    struct dependence row = dependences->rows[0];
    row.top_sink = row.top_source = loop.place;
    CU_ASSERT_EQUAL(dependences_add(dependences, &row, &error), 0);
    CU_ASSERT_EQUAL(dependences->rows[dependences->row_count - 1].top_sink, DEPENDENCES_NONE);
    CU_ASSERT_EQUAL(dependences->rows[dependences->row_count - 1].top_source, DEPENDENCES_NONE);
    dependences_free(dependences);
}

static void test_names(void)
{
    struct bt_error error;
    struct dependences *dependences = dependences_new(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dependences);
    static char longest[3 * DEPENDENCES_NAME_BYTES];
    memset(longest, 'x', sizeof longest - 1);
    const struct dependence_place place = {.file = "a\nb\xff\xc3\xa9",
                                           .function = longest,
                                           .module = "",
                                           .line = 1,
                                           .offset = DEPENDENCES_UNKNOWN,
                                           .address = DEPENDENCES_UNKNOWN};
    uint32_t number;
    CU_ASSERT_EQUAL(dependences_add_place(dependences, &place, &number, &error), 0);
    CU_ASSERT_STRING_EQUAL(dependences->places[number].file, "a?b?\xc3\xa9");
    CU_ASSERT_EQUAL(strlen(dependences->places[number].function), DEPENDENCES_NAME_BYTES - 1);
    CU_ASSERT_PTR_NULL(dependences->places[number].module);
    dependences_free(dependences);
}

/* --- grouping ----------------------------------------------------------------------------------
 */

static void test_grouping(void)
{
    struct dependences *from = dependences_fixture();
    struct dependences *lines = group(from, DEPENDENCES_BY_LINE, SIZE_MAX);
    CU_ASSERT_EQUAL(lines->row_count, 3);
    CU_ASSERT_EQUAL(lines->totals.rows, 3);
    CU_ASSERT_EQUAL(lines->totals.count, 43);
    CU_ASSERT_EQUAL(lines->rows[0].count, 20);
    CU_ASSERT_EQUAL(lines->rows[0].kind, DEPENDENCE_RAW);
    CU_ASSERT_EQUAL(lines->rows[0].sink, lines->rows[0].source);
    CU_ASSERT_EQUAL(lines->rows[0].least, 1);
    CU_ASSERT_EQUAL(lines->rows[0].greatest, 5);
    CU_ASSERT_EQUAL(lines->rows[0].sum, 26);
    CU_ASSERT(lines->rows[0].at_least);
    CU_ASSERT_EQUAL(lines->rows[1].kind, DEPENDENCE_WAR);
    /* the loop's head stays an instruction, the line has none, and memcpy has no line */
    CU_ASSERT_EQUAL(lines->places[lines->loops[0].place].offset, 0x10);
    CU_ASSERT_EQUAL(lines->places[lines->rows[0].sink].offset, DEPENDENCES_UNKNOWN);
    CU_ASSERT_EQUAL(lines->places[lines->rows[2].sink].offset, 0x1000);
    struct dependences *functions = group(lines, DEPENDENCES_BY_FUNCTION, SIZE_MAX);
    CU_ASSERT_PTR_NULL(functions->places[functions->rows[0].sink].file);
    CU_ASSERT_STRING_EQUAL(functions->places[functions->rows[0].sink].function, "main");
    CU_ASSERT_EQUAL(functions->places[functions->rows[2].sink].offset, DEPENDENCES_UNKNOWN);
    dependences_free(functions);
    dependences_free(lines);
    dependences_free(from);
}

/* Only the first rows, their places, and judged loops. */
static void test_top(void)
{
    struct dependences *from = dependences_fixture();
    struct dependences *one = group(from, DEPENDENCES_BY_INSTRUCTION, 1);
    CU_ASSERT_EQUAL(one->row_count, 1);
    CU_ASSERT_EQUAL(one->rows[0].count, 20);
    CU_ASSERT_EQUAL(one->totals.rows, 4);
    CU_ASSERT_EQUAL(one->totals.count, 43);
    CU_ASSERT_EQUAL(one->place_count, 3); /* sink, source, and the loop's head */
    CU_ASSERT_EQUAL(one->loop_count, 1);
    CU_ASSERT_EQUAL(one->loops[0].reason_count, 1);
    dependences_free(one);
    from->loops[0].verdict = DEPENDENCE_UNJUDGED;
    struct dependences *none = group(from, DEPENDENCES_BY_INSTRUCTION, 0);
    CU_ASSERT_EQUAL(none->row_count + none->loop_count + none->place_count, 0);
    CU_ASSERT_EQUAL(none->totals.count, 43);
    dependences_free(none);
    dependences_free(from);
}

/* Copies the rows of `from` in a random order; places and loops get other numbers. */
static struct dependences *shuffled(const struct dependences *from, uint64_t *state)
{
    struct bt_error error;
    struct dependences *to = dependences_new(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    CU_ASSERT_EQUAL(dependences_set_totals(to, &from->totals, &error), 0);
    uint32_t places[512], loops[16];
    CU_ASSERT_FATAL(from->place_count <= 512 && from->loop_count <= 16);
    for (size_t i = from->place_count; i-- > 0;)
        CU_ASSERT_EQUAL(dependences_add_place(to, &from->places[i], &places[i], &error), 0);
    for (size_t i = from->loop_count; i-- > 0;) {
        struct dependence_loop loop = from->loops[i];
        loop.place = places[loop.place];
        CU_ASSERT_EQUAL(dependences_add_loop(to, &loop, &loops[i], &error), 0);
        for (size_t r = 0; r < from->loops[i].reason_count; r++)
            dependences_add_reason(to, loops[i], from->loops[i].reasons[r], &error);
    }
    const size_t begin = from->row_count ? random_below(state, from->row_count) : 0;
    for (size_t i = 0; i < from->row_count; i++) {
        struct dependence row = from->rows[(begin + i) % from->row_count];
        row.sink = places[row.sink];
        row.source = places[row.source];
        row.top_sink = row.top_sink == DEPENDENCES_NONE ? DEPENDENCES_NONE : places[row.top_sink];
        row.top_source =
            row.top_source == DEPENDENCES_NONE ? DEPENDENCES_NONE : places[row.top_source];
        row.loop = row.loop == DEPENDENCES_NONE ? DEPENDENCES_NONE : loops[row.loop];
        CU_ASSERT_EQUAL(dependences_add(to, &row, &error), 0);
    }
    for (size_t i = 0; i < from->note_count; i++)
        dependences_add_note(to, from->notes[i].text, from->notes[i].count, &error);
    return to;
}

/* Equal inputs in another order give equal bytes, by instruction, line and function. */
static void test_order(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t state = random_seed(seed);
        struct dependences *a = dependences_fixture_random(&state);
        struct dependences *b = shuffled(a, &state);
        for (unsigned by = 0; by < DEPENDENCES_BYS; by++) {
            const size_t top = random_below(&state, 40);
            struct dependences *one = group(a, (enum dependences_by)by, top);
            struct dependences *two = group(b, (enum dependences_by)by, top);
            for (unsigned format = 0; format < DEPENDENCES_FORMATS; format++) {
                size_t one_size, two_size;
                char *x = dependences_fixture_written(one, format, &one_size);
                char *y = dependences_fixture_written(two, format, &two_size);
                CU_ASSERT(one_size == two_size && memcmp(x, y, one_size) == 0);
                free(x);
                free(y);
            }
            dependences_free(one);
            dependences_free(two);
        }
        dependences_free(a);
        dependences_free(b);
    }
}

/* --- writing -----------------------------------------------------------------------------------
 */

static void test_text(void)
{
    check_written(DEPENDENCES_BY_LINE, 2, DEPENDENCES_TEXT,
                  "bustap depend: ./prog 20: exit status 0, 400 instructions,"
                  " 1000 references (300 writes), 43 dependences\n"
                  "\n"
                  "1 loop:\n"
                  "  SHARE  ENTRIES  ITERATIONS  CARRIED  VERDICT    LOOP                    REASON"
                  "S\n"
                  "25.00 %        2          20  RAW      reduction  sum.c:3 main prog+0x10  sum.c:"
                  "4 only adds to sum\n"
                  "\n"
                  "3 pairs of lines:\n"
                  "KIND  COUNT  SINK          SOURCE        LOOP                    CARRIED AT\n"
                  "RAW      20  sum.c:4 main  sum.c:4 main  sum.c:3 main prog+0x10  1 to 5 or more,"
                  " mean 1.30\n"
                  "WAR      20  sum.c:4 main  sum.c:4 main  sum.c:3 main prog+0x10\n"
                  "and 1 more\n"
                  "\n"
                  "system calls with unknown effects: 2\n");
    check_written(DEPENDENCES_BY_FUNCTION, 9, DEPENDENCES_TEXT,
                  "bustap depend: ./prog 20: exit status 0, 400 instructions,"
                  " 1000 references (300 writes), 43 dependences\n"
                  "\n"
                  "1 loop:\n"
                  "  SHARE  ENTRIES  ITERATIONS  CARRIED  VERDICT    LOOP                    REASON"
                  "S\n"
                  "25.00 %        2          20  RAW      reduction  sum.c:3 main prog+0x10  sum.c:"
                  "4 only adds to sum\n"
                  "\n"
                  "3 pairs of functions:\n"
                  "KIND  COUNT  SINK         SOURCE     TOP SINK   TOP SOURCE  LOOP                "
                  "    CARRIED AT                 THREADS\n"
                  "RAW      20  main prog    main prog  main prog  main prog   sum.c:3 main prog+0x"
                  "10  1 to 5 or more, mean 1.30  0 from 0\n"
                  "WAR      20  main prog    main prog  main prog  main prog   sum.c:3 main prog+0x"
                  "10                             0 from 0\n"
                  "RAW       3  memcpy prog  main prog  main prog  main prog                       "
                  "                               1 from 0\n"
                  "\n"
                  "system calls with unknown effects: 2\n");
}

static void test_csv(void)
{
    check_written(DEPENDENCES_BY_LINE, 1, DEPENDENCES_CSV,
                  "kind,count,carried,distance_least,distance_mean,distance_greatest,distance_sum,"
                  "distance_at_least,sink_thread,source_thread,sink_file,sink_line,sink_function,"
                  "sink_module,sink_offset,sink_address,source_file,source_line,source_function,"
                  "source_module,source_offset,source_address,top_sink_file,top_sink_line,"
                  "top_sink_function,top_sink_module,top_sink_offset,top_sink_address,"
                  "top_source_file,top_source_line,top_source_function,top_source_module,"
                  "top_source_offset,top_source_address,loop_file,loop_line,loop_function,"
                  "loop_module,loop_offset,loop_address\n"
                  "RAW,20,1,1,1.3,5,26,1,0,0,/src/sum.c,4,main,/bin/prog,,,/src/sum.c,4,main,"
                  "/bin/prog,,,/src/sum.c,4,main,/bin/prog,,,/src/sum.c,4,main,/bin/prog,,,"
                  "/src/sum.c,3,main,/bin/prog,0x10,0x400010\n");
}

static const char json[] = "{\n"
                           "  'format': 'bustap-dependences',\n"
                           "  'version': 1,\n"
                           "  'program': './prog 20',\n"
                           "  'ended': 'exit status 0',\n"
                           "  'by': 'line',\n"
                           "  'level': 'function',\n"
                           "  'kinds': [\n"
                           "    'RAW',\n"
                           "    'WAR',\n"
                           "    'WAW'\n"
                           "  ],\n"
                           "  'references': 1000,\n"
                           "  'writes': 300,\n"
                           "  'instructions': 400,\n"
                           "  'dependences_total': 3,\n"
                           "  'count_total': 43,\n"
                           "  'places': [\n"
                           "    {\n"
                           "      'file': '/src/sum.c',\n"
                           "      'line': 3,\n"
                           "      'function': 'main',\n"
                           "      'module': '/bin/prog',\n"
                           "      'offset': '0x10',\n"
                           "      'address': '0x400010'\n"
                           "    },\n"
                           "    {\n"
                           "      'file': '/src/sum.c',\n"
                           "      'line': 4,\n"
                           "      'function': 'main',\n"
                           "      'module': '/bin/prog',\n"
                           "      'offset': null,\n"
                           "      'address': null\n"
                           "    }\n"
                           "  ],\n"
                           "  'loops': [\n"
                           "    {\n"
                           "      'place': 0,\n"
                           "      'verdict': 'reduction',\n"
                           "      'distance': null,\n"
                           "      'carried': [\n"
                           "        'RAW'\n"
                           "      ],\n"
                           "      'entries': 2,\n"
                           "      'iterations': 20,\n"
                           "      'instructions': 100,\n"
                           "      'reasons': [\n"
                           "        'sum.c:4 only adds to sum'\n"
                           "      ]\n"
                           "    }\n"
                           "  ],\n"
                           "  'dependences': [\n"
                           "    {\n"
                           "      'kind': 'RAW',\n"
                           "      'sink': 1,\n"
                           "      'source': 1,\n"
                           "      'top_sink': 1,\n"
                           "      'top_source': 1,\n"
                           "      'count': 20,\n"
                           "      'loop': 0,\n"
                           "      'carried': true,\n"
                           "      'distance_least': 1,\n"
                           "      'distance_mean': 1.3,\n"
                           "      'distance_greatest': 5,\n"
                           "      'distance_sum': 26,\n"
                           "      'distance_at_least': true,\n"
                           "      'sink_thread': 0,\n"
                           "      'source_thread': 0\n"
                           "    }\n"
                           "  ],\n"
                           "  'notes': [\n"
                           "    {\n"
                           "      'text': 'system calls with unknown effects',\n"
                           "      'count': 2\n"
                           "    }\n"
                           "  ]\n"
                           "}\n";

static void test_json(void)
{
    check_written(DEPENDENCES_BY_LINE, 1, DEPENDENCES_JSON, json);
}

static void test_dot(void)
{
    check_written(DEPENDENCES_BY_LINE, 9, DEPENDENCES_DOT,
                  "digraph dependences {\n"
                  "  node [shape=box];\n"
                  "  p0 [label='memcpy prog+0x1000'];\n"
                  "  p2 [label='sum.c:4 main'];\n"
                  "  p2 -> p2 [color=black, fontcolor=black,"
                  " label='RAW 20\\ncarried: 1 to 5 or more, mean 1.30', style=bold];\n"
                  "  p2 -> p2 [color=blue, fontcolor=blue, label='WAR 20'];\n"
                  "  p2 -> p0 [color=black, fontcolor=black, label='RAW 3'];\n"
                  "}\n");
}

static const struct test_case cases[] = {
    {"equal rows and places are one", test_adding},
    {"a loop has one head", test_loops},
    {"names are printable", test_names},
    {"grouping sums up", test_grouping},
    {"the first rows", test_top},
    {"the order of input does not matter", test_order},
    {"text", test_text},
    {"CSV", test_csv},
    {"JSON", test_json},
    {"dot", test_dot},
    {NULL, NULL},
};
TEST_SUITE(dependences, cases)
