#include "formats/dcfg/dcfg_trace_reader.h"
#include "formats/dcfg/dcfg_trace_writer.h"

#include "tests/suites.h"
#include "tests/support/edge_program.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A reader of text in memory. */
struct opened {
    struct text_reader *text;
    struct dcfg_trace_reader *reader;
    struct bt_error error;
};

static void open_memory(struct opened *opened, const char *text, size_t size,
                        const struct dcfg_trace_reader_settings *settings)
{
    opened->text = text_reader_from_memory(text, size, "t.json", &opened->error);
    CU_ASSERT_FATAL(opened->text != NULL);
    opened->reader = dcfg_trace_reader_new(opened->text, settings, &opened->error);
    CU_ASSERT_FATAL(opened->reader != NULL);
}

static void close_memory(struct opened *opened)
{
    dcfg_trace_reader_free(opened->reader);
    text_reader_close(opened->text);
}

/* Prints a whole trace as one line of text; returns the last result. */
static int print_trace(const char *text, const struct dcfg_trace_reader_settings *settings,
                       char *printed, size_t room, struct bt_error *error)
{
    struct opened opened;
    uint64_t process;
    uint32_t thread;
    struct dcfg_trace_chunk chunk;
    size_t used = 0;
    long result;
    printed[0] = '\0';
    open_memory(&opened, text, strlen(text), settings);
    while ((result = dcfg_trace_reader_process(opened.reader, &process)) > 0) {
        used += (size_t)snprintf(printed + used, room - used, "P%llu", (unsigned long long)process);
        while ((result = dcfg_trace_reader_thread(opened.reader, &thread)) > 0) {
            used += (size_t)snprintf(printed + used, room - used, " T%u", thread);
            while ((result = dcfg_trace_reader_chunk(opened.reader, &chunk)) > 0) {
                uint32_t edge;
                used += (size_t)snprintf(printed + used, room - used,
                                         " C%llu,%llu:", (unsigned long long)chunk.preceding,
                                         (unsigned long long)chunk.instructions);
                while ((result = dcfg_trace_reader_edges(opened.reader, &edge, 1)) > 0 &&
                       used + 40 < room)
                    used += (size_t)snprintf(printed + used, room - used, " %u", edge);
                if (result < 0)
                    break;
                if (dcfg_trace_reader_unused(opened.reader) > 0)
                    used += (size_t)snprintf(printed + used, room - used, " unused");
            }
            if (result < 0)
                break;
        }
        if (result < 0)
            break;
        used += (size_t)snprintf(printed + used, room - used, ". ");
    }
    if (result < 0) /* a failure is permanent */
        CU_ASSERT_EQUAL(dcfg_trace_reader_process(opened.reader, &process), result);
    *error = opened.error;
    close_memory(&opened);
    return (int)result;
}

static void reads_as(const char *text, const char *expected)
{
    char printed[4096];
    struct bt_error error = {0, ""};
    int result = print_trace(text, NULL, printed, sizeof printed, &error);
    if (result < 0)
        printf("%s\n", error.message);
    CU_ASSERT_EQUAL(result, 0);
    if (strcmp(printed, expected) != 0)
        printf("\n%s\n%s\n", printed, expected);
    CU_ASSERT_STRING_EQUAL(printed, expected);
}

static void fails_as(const char *text, const char *expected)
{
    char printed[4096];
    struct bt_error error = {0, ""};
    CU_ASSERT_EQUAL(print_trace(text, NULL, printed, sizeof printed, &error), BT_DATA);
    if (strcmp(error.message, expected) != 0)
        printf("\n%s\n%s\n", error.message, expected);
    CU_ASSERT_STRING_EQUAL(error.message, expected);
}

#define HEAD "{\"MAJOR_VERSION\":1,\"MINOR_VERSION\":0,\"PROCESSES\":"
#define ROWS "[\"CURRENT_EDGE_ID\",\"TRANSITION_CODE\",\"NEXT_EDGE_IDS\"]"
#define CHUNK                                                                                      \
    "[\"PRECEDING_INSTR_COUNT\",\"INSTR_COUNT\",\"EDGE_COUNT\",\"FIRST_EDGE_ID\",\"EDGE_ID_"       \
    "SEQUENCE\"]"
#define TABLE                                                                                      \
    "[" ROWS ",[123,\"0\",[124]],[123,\"1\",[125]],[124,\"\",[456]],[125,\"0\",[543]],"            \
    "[125,\"10\",[542,549]],[125,\"11\",[540,541]],[456,\"\",[123]],[549,\"\",[123]]]"
#define COLUMNS "[\"PROCESS_ID\",\"STRING_DICTIONARY\",\"TRANSITION_TABLE\",\"THREAD_DATA\"]"

/* The tables of sections 3.3 to 3.7 together; the table of 3.5 with edges back to its start. */
static void test_specified(void)
{
    reads_as(HEAD "[" COLUMNS ",\n"
                  "[22814,{\"a\":\"(2*w)\",\"b\":\"<a>A\"}," TABLE ",\n"
                  "[[\"THREAD_ID\",\"TRACE_DATA\"],\n"
                  "[0,[" CHUNK ",[0,7,4,123,\"w\"],[7,5,3,123,\"A\"],[20,0,0,0,\"\"]]],\n"
                  "[2,[" CHUNK ",[0,9,6,124,\"<b>\"]]]]],\n"
                  "[958,{},[" ROWS "],[[\"THREAD_ID\",\"TRACE_DATA\"]]]]}",
             "P22814 T0 C0,7: 123 125 542 549 C7,5: 123 124 456 C20,0:"
             " T2 C0,9: 124 456 123 125 542 549 unused. P958. ");
    /* later processes also use a dictionary, and their own entries come first */
    reads_as(HEAD "[" COLUMNS ",[1,{\"a\":\"w\",\"b\":\"w\"},[" ROWS "],[]],"
                  "[2,{\"b\":\"A\"}," TABLE ",[[\"THREAD_ID\",\"TRACE_DATA\"],[0,[" CHUNK
                  ",[0,0,4,123,\"<a>\"],[0,0,3,123,\"<b>\"]]]]]]}",
             "P1. P2 T0 C0,0: 123 125 542 549 C0,0: 123 124 456. ");
}

/*
 * The dictionary of section 3.4 and a text of section 3.7.1 as a process of one chunk, in which
 * edge 100 and edge 1 + v alternate, v being a character's value: its edges represent the text.
 */
static void decodes_to(const char *text, const char *expected)
{
    static const char characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    char document[16384];
    static char printed[16384];
    static char wanted[16384];
    struct bt_error error = {0, ""};
    size_t used = (size_t)snprintf(document, sizeof document,
                                   HEAD "[" COLUMNS ",[1,"
                                        "{\"a\":\"bks2hD7kB+KDk87(6*AB)Aw3ABD9\","
                                        "\"b\":\"KkDk123(42*(25*a))45690D<a>7Fjdkpm\"},[" ROWS);
    for (unsigned value = 0; value < 64; value++) {
        used += (size_t)snprintf(document + used, sizeof document - used, ",[100,\"");
        for (unsigned bit = 6; bit-- > 0;)
            document[used++] = value >> bit & 1 ? '1' : '0';
        used +=
            (size_t)snprintf(document + used, sizeof document - used, "\",[%u,100]]", value + 1);
    }
    snprintf(document + used, sizeof document - used,
             "],[[\"THREAD_ID\",\"TRACE_DATA\"],[0,[" CHUNK ",[0,0,%zu,100,\"%s\"]]]]]]}",
             1 + 2 * strlen(expected), text);
    used = (size_t)snprintf(wanted, sizeof wanted, "P1 T0 C0,0: 100");
    for (; *expected; expected++)
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, " %d 100",
                                 (int)(strchr(characters, *expected) - characters) + 1);
    snprintf(wanted + used, sizeof wanted - used, ". ");
    CU_ASSERT_EQUAL(print_trace(document, NULL, printed, sizeof printed, &error), 0);
    CU_ASSERT_STRING_EQUAL(printed, wanted);
}

/* The strings of section 3.7.1, from the file to the edges. */
static void test_strings(void)
{
#define A_EXPANDED "bks2hD7kB+KDk87ABABABABABABAw3ABD9"
    char expected[2048];
    char run[42 * 25 + 1];
    memset(run, 'a', sizeof run - 1);
    run[sizeof run - 1] = '\0';
    decodes_to("C+", "C+");
    decodes_to("A (4*BC) D", "ABCBCBCBCD");
    decodes_to("123 (2* (6*a) b) 456", "123aaaaaabaaaaaab456");
    decodes_to("A<a>B", "A" A_EXPANDED "B");
    decodes_to("(2*A<a>B)", "A" A_EXPANDED "BA" A_EXPANDED "B");
    decodes_to("A<a>BA<a>B", "A" A_EXPANDED "BA" A_EXPANDED "B");
    snprintf(expected, sizeof expected, "AKkDk123%s45690D" A_EXPANDED "7FjdkpmB", run);
    decodes_to("A<b>B", expected);
    decodes_to("AKkDk123(42*(25*a))45690D<a>7FjdkpmB", expected);
}

/* Section 3.7's rows, whose sequences the specification gives in part: a chunk can be skipped by
 * its counts, whatever its sequence. */
static void test_chunk_rows(void)
{
    static const char text[] =
        HEAD "[" COLUMNS ",[1,{},[" ROWS "],[[\"THREAD_ID\",\"TRACE_DATA\"],[0,[" CHUNK
             ",[0,1003408,237298,1,\"bks2hd7kB+Kdk87(9*AB)Aw3ABD9-03n38KDFi...\"],"
             "[1003408,1483936,386610,842,"
             "\"Ks83bn<a>BjS920+KkDk123(2*(6*a))45690D7Fjdkpm...\"]]]]]]}";
    static const struct dcfg_trace_chunk rows[] = {
        {.preceding = 0, .instructions = 1003408, .edges = 237298, .first = 1},
        {.preceding = 1003408, .instructions = 1483936, .edges = 386610, .first = 842}};
    struct opened opened;
    struct dcfg_trace_chunk chunk;
    uint64_t process;
    uint32_t thread;
    open_memory(&opened, text, strlen(text), NULL);
    CU_ASSERT_EQUAL(dcfg_trace_reader_process(opened.reader, &process), 1);
    CU_ASSERT_EQUAL(dcfg_trace_reader_thread(opened.reader, &thread), 1);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(dcfg_trace_reader_chunk(opened.reader, &chunk), 1);
        CU_ASSERT(chunk.preceding == rows[i].preceding &&
                  chunk.instructions == rows[i].instructions && chunk.edges == rows[i].edges &&
                  chunk.first == rows[i].first);
    }
    CU_ASSERT_EQUAL(dcfg_trace_reader_chunk(opened.reader, &chunk), 0);
    CU_ASSERT_EQUAL(dcfg_trace_reader_thread(opened.reader, &thread), 0);
    CU_ASSERT_EQUAL(dcfg_trace_reader_process(opened.reader, &process), 0);
    close_memory(&opened);
}

/* Everything that the specification allows, and the commas of its examples. */
static void test_liberal(void)
{
    reads_as(
        "{\"COMMENT\":{\"x\":[1,{}]},\"PROCESSES\":[[\"X\",\"TRANSITION_TABLE\",\"PROCESS_ID\","
        "\"THREAD_DATA\",\"Y\"],[[],[[\"NEXT_EDGE_IDS\",\"CURRENT_EDGE_ID\",\"Z\","
        "\"TRANSITION_CODE\"],[[\"0x7\",7],\"0x7\",null,\"\"],],\"0x10\",[[\"Z\",\"THREAD_ID\","
        "\"TRACE_DATA\"],[1,\"5\",[[\"EDGE_COUNT\",\"Q\",\"INSTR_COUNT\",\"FIRST_EDGE_ID\","
        "\"PRECEDING_INSTR_COUNT\",\"EDGE_ID_SEQUENCE\"],[\"0x4\",{},9,\"0x7\",\"0x20\"],]],],"
        "\"more\"],],\"MINOR_VERSION\":99,\"MAJOR_VERSION\":\"0x1\",}",
        "P16 T5 C32,9: 7 7 7 7. ");
    reads_as(HEAD "[]}", "");
}

#define WITH_TABLE(rows, threads)                                                                  \
    HEAD "[" COLUMNS ",[1,{},[" ROWS "," rows "],[[\"THREAD_ID\",\"TRACE_DATA\"],[0,[" CHUNK       \
         "," threads "]]]]]}"

static void test_damaged(void)
{
    fails_as(HEAD "[[\"PROCESS_ID\",\"PROCESS_DATA\"]]}",
             "t.json: PROCESSES[0] (line 1, offset 79): the table lacks the column "
             "TRANSITION_TABLE");
    fails_as("{\"PROCESSES\":[]}",
             "t.json: (line 1, offset 16): MAJOR_VERSION is missing: this is not a DCFG-trace");
    fails_as(WITH_TABLE("[1,\"0\",[2]],[1,\"00\",[3]]", "[0,0,0,0,\"\"]"),
             "t.json: PROCESSES[1][2] (line 1, offset 204): edge 1: the TRANSITION_CODEs \"0\" and "
             "\"00\" are ambiguous");
    fails_as(WITH_TABLE("[1,\"0\",[0]]", "[0,0,0,0,\"\"]"),
             "t.json: PROCESSES[1][2][1] (line 1, offset 190): edge id 0 is not between 1 and "
             "0x7fffffff");
    fails_as(WITH_TABLE("[1,\"0\",[1]]", "[0,0,9,1,\"A(\"]"),
             "t.json: PROCESSES[1][3][1][1][1] (line 1, offset 326): character 2: '(' without a "
             "number after it");
    fails_as(WITH_TABLE("[1,\"0\",[1]]", "[0,0,9,1,\"A\"]"),
             "t.json: PROCESSES[1][3][1][1][1] (line 1, offset 325): the EDGE_ID_SEQUENCE ends "
             "after edge 7 of 9");
    fails_as(WITH_TABLE("[1,\"0\",[1]]", "[0,0,9,0,\"A\"]"),
             "t.json: PROCESSES[1][3][1][1][1] (line 1, offset 325): FIRST_EDGE_ID is not between "
             "1 and 0x7fffffff");
    fails_as(HEAD "[[\"THREAD_DATA\",\"PROCESS_ID\",\"TRANSITION_TABLE\"],[[],1,[]]]}",
             "t.json: PROCESSES[1][0] (line 1, offset 99): THREAD_DATA comes before the "
             "tables that decode it");
    fails_as("{\"MAJOR_VERSION\":2}", "t.json: MAJOR_VERSION (line 1, offset 18): major version 2 "
                                      "of the format; only 0 and 1 are known");
}

/* With a dictionary, a table and chunks of one thread. */
#define WITH_ALL(dictionary, rows, chunks)                                                         \
    HEAD "[" COLUMNS ",[1,{" dictionary "},[" ROWS "," rows                                        \
         "],[[\"THREAD_ID\",\"TRACE_DATA\"],[0,[" CHUNK "," chunks "]]]]]}"
#define ALWAYS "[1,\"\",[1]]"

/* Errors are reported with their position, without expanding the text. */
static void test_hostile(void)
{
    static const char *const cases[][3] = {
        {WITH_ALL("\"a\":\"<b>\",\"b\":\"(9*<a>)\"", ALWAYS, "[0,0,1,1,\"\"]"), "PROCESSES[1][1] (",
         "\"b\", character 4: a circular reference"},
        {WITH_ALL("\"a\":\"A\",\"a\":\"B\"", ALWAYS, "[0,0,1,1,\"\"]"), "PROCESSES[1][1].a (",
         "duplicate key \"a\""},
        {WITH_ALL("\"a\":\"<c>\"", ALWAYS, "[0,0,1,1,\"\"]"), "PROCESSES[1][1] (",
         "the STRING_DICTIONARY has no key \"c\""},
        {WITH_ALL("\"a\":7", ALWAYS, "[0,0,1,1,\"\"]"), "PROCESSES[1][1].a (",
         "'7' where a string is expected"},
        {WITH_ALL("", ALWAYS, "[0,0,2,1,\"<x>\"]"), "PROCESSES[1][3][1][1][1] (",
         "character 1: the STRING_DICTIONARY has no key \"x\""},
        {WITH_ALL("", ALWAYS, "[0,0,2,1,\"(18446744073709551616*A)\"]"),
         "PROCESSES[1][3][1][1][1] (", "repeats more than 2^64 times"},
        {WITH_ALL("", "[1,\"\",[2147483648]]", "[0,0,2,1,\"\"]"), "PROCESSES[1][2][1] (",
         "edge id 2147483648 is not between"},
        {WITH_ALL("", "[1,\"\",[4294967297]]", "[0,0,2,1,\"\"]"), "PROCESSES[1][2][1][2][0] (",
         "4294967297 where an integer from 0"},
        {WITH_ALL("", "[1,\"\",[]]", "[0,0,2,1,\"\"]"), "PROCESSES[1][2][1] (",
         "NEXT_EDGE_IDS is empty"},
        {WITH_ALL("", "[1,\"\",[1]],[1,\"\",[1]]", "[0,0,2,1,\"\"]"), "PROCESSES[1][2] (",
         "are ambiguous"},
        {WITH_ALL("", "[1,\"\",[2]]", "[0,0,9223372036854775808,1,\"\"]"),
         "PROCESSES[1][3][1][1][1] (", "no successor of edge 2 of the chunk"},
        {WITH_ALL("", ALWAYS, "[0,0,18446744073709551616,1,\"\"]"), "PROCESSES[1][3][1][1][1][2] (",
         "more than 64 bits"},
        {WITH_ALL("", ALWAYS, "[0,0,1,1,[[[[[[[[]]]]]]]]]"), "PROCESSES[1][3][1][1][1][4] (",
         "'[' where a string is expected"},
        {WITH_ALL("", ALWAYS, "[0,0,1]"), "PROCESSES[1][3][1][1][1] (",
         "the row ends before FIRST_EDGE_ID"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char printed[4096];
        struct bt_error error = {0, ""};
        CU_ASSERT_EQUAL(print_trace(cases[i][0], NULL, printed, sizeof printed, &error), BT_DATA);
        bool good = strstr(error.message, cases[i][1]) && strstr(error.message, cases[i][2]);
        if (!good)
            printf("\n%s\n", error.message);
        CU_ASSERT(good);
    }
}

/* Chunks without end can be read for any time, and skipped at once. */
static void test_endless(void)
{
    static const char text[] =
        WITH_ALL("\"a\":\"(999999999*A)\",\"b\":\"(999999999*<a>)\"", "[1,\"0\",[1]]",
                 "[0,0,18446744073709551615,1,\"(999999999*<b>)\"],[7,0,1,1,\"\"]");
    static uint32_t edges[100000];
    struct opened opened;
    struct dcfg_trace_chunk chunk;
    uint64_t process;
    uint32_t thread;
    open_memory(&opened, text, strlen(text), NULL);
    CU_ASSERT_EQUAL(dcfg_trace_reader_process(opened.reader, &process), 1);
    CU_ASSERT_EQUAL(dcfg_trace_reader_thread(opened.reader, &thread), 1);
    CU_ASSERT_EQUAL(dcfg_trace_reader_chunk(opened.reader, &chunk), 1);
    for (int i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(dcfg_trace_reader_edges(opened.reader, edges, 100000), 100000);
    CU_ASSERT_EQUAL(dcfg_trace_reader_chunk(opened.reader, &chunk), 1);
    CU_ASSERT_EQUAL(chunk.preceding, 7);
    CU_ASSERT_EQUAL(dcfg_trace_reader_process(opened.reader, &process), 0);
    close_memory(&opened);
}

/* A trace cut anywhere gives an error that says so. */
static void test_cut(void)
{
    static const char text[] = WITH_ALL("\"a\":\"(2*A)\"", "[1,\"0\",[1]],[1,\"1\",[2,1]]",
                                        "[0,9,4,1,\"<a>\"],[9,1,1,1,\"\"]");
    unsigned wrong = 0;
    for (size_t size = 0; size < sizeof text - 1; size++) {
        char cut[sizeof text];
        char printed[256];
        struct bt_error error = {0, ""};
        memcpy(cut, text, size);
        cut[size] = '\0';
        wrong += print_trace(cut, NULL, printed, sizeof printed, &error) != BT_DATA ||
                 strncmp(error.message, "t.json: ", 8) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    reads_as(text, "P1 T0 C0,9: 1 1 1 1 unused C9,1: 1. ");
}

static void test_limits(void)
{
    char printed[256];
    struct bt_error error;
    struct dcfg_trace_reader_settings settings = dcfg_trace_reader_settings_default();
    static const char text[] = WITH_TABLE("[1,\"0\",[1]]", "[0,0,9,1,\"AAAAAAAAAAAAA\"]");
    settings.sequence_max = 12;
    CU_ASSERT_EQUAL(print_trace(text, &settings, printed, sizeof printed, &error), BT_DATA);
    settings.sequence_max = 13;
    CU_ASSERT_EQUAL(print_trace(text, &settings, printed, sizeof printed, &error), 0);
    settings.dictionary_max = 1000;
    CU_ASSERT_EQUAL(print_trace(text, &settings, printed, sizeof printed, &error), 0);
    settings.dictionary_max = 10;
    CU_ASSERT_EQUAL(print_trace(WITH_ALL("\"a\":\"\"", ALWAYS, "[0,0,1,1,\"\"]"), &settings,
                                printed, sizeof printed, &error),
                    BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "PROCESSES[1][1].a"));
    settings.table_max = 20;
    CU_ASSERT_EQUAL(print_trace(text, &settings, printed, sizeof printed, &error), BT_DATA);
}

/* --- round trips ------------------------------------------------------------------------------ */

enum { THREADS = 3, EDGES = 6000, PROCESSES = 2 };

struct stream {
    uint32_t edges[THREADS][EDGES];
    size_t counts[THREADS];
    uint32_t edge_max;
    uint32_t instructions[1 << 16];
};

static void random_stream(struct stream *stream, uint64_t seed)
{
    uint64_t random = random_seed(seed);
    stream->edge_max = 1;
    for (int i = 0; i < THREADS; i++) {
        stream->counts[i] = random_below(&random, EDGES);
        uint32_t most = edge_program_run((enum edge_program_kind)(seed % EDGE_PROGRAM_KINDS), seed,
                                         stream->edges[i], stream->counts[i]);
        stream->edge_max = most > stream->edge_max ? most : stream->edge_max;
    }
    for (uint32_t i = 1; i <= stream->edge_max; i++)
        stream->instructions[i] = (uint32_t)random_below(&random, 9);
}

static void write_process(struct dcfg_trace_writer *writer, const struct stream *stream,
                          uint64_t id, uint32_t chunk_edges)
{
    struct bt_error error;
    size_t at[THREADS] = {0};
    uint64_t random = random_seed(id);
    const struct edge_encoder_settings settings = {.edge_max = stream->edge_max,
                                                   .chunk_edges = chunk_edges,
                                                   .instructions = stream->instructions};
    CU_ASSERT_FATAL(dcfg_trace_writer_process(writer, id, &settings, &error) == 0);
    for (int open = THREADS; open > 0;) {
        open = 0;
        for (int i = 0; i < THREADS; i++) {
            size_t piece = random_below(&random, 1000);
            size_t left = stream->counts[i] - at[i];
            piece = piece < left ? piece : left;
            CU_ASSERT_FATAL(dcfg_trace_writer_put(writer, (uint32_t)i, stream->edges[i] + at[i],
                                                  piece, &error) == 0);
            at[i] += piece;
            open += at[i] < stream->counts[i];
        }
    }
}

/* Reads a thread; some chunks are skipped, some left in the middle. */
static void read_thread(struct dcfg_trace_reader *reader, const struct stream *stream,
                        uint32_t thread, uint64_t *random)
{
    static uint32_t edges[EDGES];
    struct dcfg_trace_chunk chunk;
    size_t at = 0;
    uint64_t instructions = 0;
    int result;
    CU_ASSERT_FATAL(thread < THREADS);
    while ((result = dcfg_trace_reader_chunk(reader, &chunk)) > 0) {
        CU_ASSERT_EQUAL(chunk.preceding, instructions);
        CU_ASSERT_FATAL(chunk.edges <= stream->counts[thread] - at);
        size_t wanted =
            random_one_in(random, 3) ? random_below(random, chunk.edges + 1) : (size_t)chunk.edges;
        size_t got = 0;
        for (long added = 1; added > 0 && got < wanted; got += (size_t)added) {
            added = dcfg_trace_reader_edges(reader, edges + got, wanted - got);
            CU_ASSERT_FATAL(added >= 0);
        }
        CU_ASSERT(memcmp(edges, stream->edges[thread] + at, wanted * sizeof *edges) == 0);
        uint64_t own = 0;
        for (uint64_t i = 0; i < chunk.edges; i++)
            own += stream->instructions[stream->edges[thread][at++]];
        CU_ASSERT_EQUAL(chunk.instructions, own);
        instructions += own;
    }
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(at, stream->counts[thread]);
}

static void read_back(const char *text, size_t size, const struct stream *streams, uint64_t seed)
{
    struct opened opened;
    uint64_t random = random_seed(seed);
    uint64_t process = 0;
    int result;
    unsigned processes = 0;
    open_memory(&opened, text, size, NULL);
    while ((result = dcfg_trace_reader_process(opened.reader, &process)) > 0) {
        uint32_t thread;
        CU_ASSERT_EQUAL_FATAL(process, 100 + processes);
        if (!random_one_in(&random, 5)) /* else skipped */
            while ((result = dcfg_trace_reader_thread(opened.reader, &thread)) > 0)
                read_thread(opened.reader, &streams[processes], thread, &random);
        CU_ASSERT_FATAL(result >= 0);
        processes++;
    }
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(processes, PROCESSES);
    close_memory(&opened);
}

static void test_round_trip(void)
{
    static struct stream streams[PROCESSES];
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct bt_error error;
        struct text_writer *text = text_writer_new_memory(&error);
        struct dcfg_trace_writer *writer = dcfg_trace_writer_new(text, &error);
        CU_ASSERT_FATAL(text && writer);
        for (uint64_t i = 0; i < PROCESSES; i++) {
            random_stream(&streams[i], seed * PROCESSES + i);
            write_process(writer, &streams[i], 100 + i, (uint32_t)(seed % 4 * 701));
        }
        CU_ASSERT_FATAL(dcfg_trace_writer_finish(writer, &error) == 0);
        CU_ASSERT_FATAL(text_writer_finish(text, &error) == 0);
        size_t size;
        const char *written = text_writer_memory(text, &size);
        read_back(written, size, streams, seed);
        dcfg_trace_writer_free(writer);
        text_writer_free(text);
    }
}

/* The order that section 3 prescribes, to the letter. */
static void test_written(void)
{
    static const uint32_t edges[] = {1, 2, 3, 2, 3, 2, 4};
    static const uint32_t instructions[] = {0, 0, 5, 6, 7};
    static const char expected[] =
        "{\"MAJOR_VERSION\":1,\n\"MINOR_VERSION\":0,\n\"PROCESSES\":"
        "[[\"PROCESS_ID\",\"STRING_DICTIONARY\",\"TRANSITION_TABLE\",\"THREAD_DATA\"],\n"
        "[77,{},\n[" ROWS ",\n[1,\"\",[2]],\n[2,\"0\",[3,2]],\n[2,\"1\",[4]]],\n"
        "[[\"THREAD_ID\",\"TRACE_DATA\"],\n[3,[" CHUNK ",\n[0,34,7,1,\"I\"]]]]]]}\n";
    struct bt_error error;
    struct text_writer *text = text_writer_new_memory(&error);
    struct dcfg_trace_writer *writer = dcfg_trace_writer_new(text, &error);
    const struct edge_encoder_settings settings = {
        .edge_max = 4, .chunk_edges = 0, .instructions = instructions};
    CU_ASSERT_FATAL(text && writer);
    CU_ASSERT_FATAL(dcfg_trace_writer_process(writer, 77, &settings, &error) == 0);
    CU_ASSERT_FATAL(dcfg_trace_writer_put(writer, 3, edges, 7, &error) == 0);
    CU_ASSERT_FATAL(dcfg_trace_writer_finish(writer, &error) == 0);
    CU_ASSERT_FATAL(text_writer_finish(text, &error) == 0);
    size_t size;
    const char *written = text_writer_memory(text, &size);
    if (size != strlen(expected) || memcmp(written, expected, size) != 0)
        printf("\n%.*s\n", (int)size, written);
    CU_ASSERT(size == strlen(expected) && memcmp(written, expected, size) == 0);
    dcfg_trace_writer_free(writer);
    text_writer_free(text);
}

static const struct test_case cases[] = {
    {"the tables of section 3", test_specified},
    {"the strings of section 3.7.1", test_strings},
    {"the chunks of section 3.7", test_chunk_rows},
    {"other orders, hex, unknown columns", test_liberal},
    {"damaged traces", test_damaged},
    {"hostile traces", test_hostile},
    {"endless chunks", test_endless},
    {"cut traces", test_cut},
    {"limits", test_limits},
    {"written and read back", test_round_trip},
    {"as it is written", test_written},
    {NULL, NULL},
};
TEST_SUITE(dcfg_trace, cases)
