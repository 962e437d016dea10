/* Reading and checking of CSV, JSON and traces: what is written is read, and each rule is enforced.
 */
#include "formats/dependences/dependences_read.h"

#include "formats/dependences/dependence_trace.h"
#include "tests/formats/dependences/dependences_fixture.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dependences_failures *new_failures(void)
{
    struct bt_error error;
    struct dependences_failures *failures = dependences_failures_new(10, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(failures);
    return failures;
}

static struct text_reader *open_text(const char *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "x", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    return reader;
}

/* "RULE WHERE: MESSAGE" of the first failure, "" if there is none. */
static void check_text(const char *text, size_t size, char result[700])
{
    struct dependences_failures *failures = new_failures();
    struct text_reader *reader = open_text(text, size);
    struct dependences_summary summary;
    struct bt_error error;
    size_t kept;
    CU_ASSERT_EQUAL(dependences_check(reader, failures, &summary, &error), 0);
    const struct dependences_failure *failure = dependences_failures_kept(failures, &kept);
    CU_ASSERT_EQUAL(kept > 0, dependences_failures_total(failures) > 0);
    result[0] = 0;
    if (kept > 0)
        snprintf(result, 700, "%s %s: %s", dependences_rule_name(failure->rule), failure->where,
                 failure->message);
    text_reader_close(reader);
    dependences_failures_free(failures);
}

/* --- what is written is read -------------------------------------------------------------------
 */

static struct dependences *read_back(const char *text, size_t size, enum dependences_format format)
{
    struct dependences_failures *failures = new_failures();
    struct text_reader *reader = open_text(text, size);
    struct bt_error error;
    size_t kept;
    struct dependences *dependences = format == DEPENDENCES_CSV
                                          ? dependences_read_csv(reader, failures, &error)
                                          : dependences_read_json(reader, failures, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dependences);
    const struct dependences_failure *failure = dependences_failures_kept(failures, &kept);
    CU_ASSERT_EQUAL(kept, 0);
    if (kept > 0)
        printf("%s %s: %s\n", dependences_rule_name(failure->rule), failure->where,
               failure->message);
    text_reader_close(reader);
    dependences_failures_free(failures);
    return dependences;
}

static void check_round_trip(const struct dependences *dependences, enum dependences_format format)
{
    size_t size, size_again;
    char *text = dependences_fixture_written(dependences, format, &size);
    struct dependences *read = read_back(text, size, format);
    char *again = dependences_fixture_written(read, format, &size_again);
    CU_ASSERT(size == size_again && memcmp(text, again, size) == 0);
    CU_ASSERT_EQUAL(read->row_count, dependences->row_count);
    if (format == DEPENDENCES_JSON) {
        CU_ASSERT_EQUAL(read->totals.rows, dependences->totals.rows);
        CU_ASSERT_EQUAL(read->place_count, dependences->place_count);
    }
    free(text);
    free(again);
    dependences_free(read);
}

static void test_round_trip(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t state = random_seed(seed);
        struct dependences *from = dependences_fixture_random(&state);
        for (unsigned by = 0; by < DEPENDENCES_BYS; by++) {
            struct bt_error error;
            struct dependences *grouped = dependences_group(
                from, (enum dependences_by)by, (size_t)random_below(&state, 40), &error);
            CU_ASSERT_PTR_NOT_NULL_FATAL(grouped);
            check_round_trip(grouped, DEPENDENCES_CSV);
            check_round_trip(grouped, DEPENDENCES_JSON);
            dependences_free(grouped);
        }
        dependences_free(from);
    }
}

/* --- rules -------------------------------------------------------------------------------------
 */

struct mutation {
    const char *from; /* occurs in the text */
    const char *to;   /* replaces its first occurrence */
    const char *failure;
};

/* Quotes in mutations are written as '. */
static char *document(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

static char *mutated(const char *text, const struct mutation *mutation)
{
    char *from = document(mutation->from), *to = document(mutation->to), *result = NULL;
    const char *at = strstr(text, from);
    size_t size;
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    FILE *out = open_memstream(&result, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
    free(from);
    free(to);
    return result;
}

static void check_mutations(const char *text, const struct mutation *mutations)
{
    char result[700];
    check_text(text, strlen(text), result);
    CU_ASSERT_STRING_EQUAL(result, "");
    for (; mutations->from; mutations++) {
        char *broken = mutated(text, mutations);
        check_text(broken, strlen(broken), result);
        if (strncmp(result, mutations->failure, strlen(mutations->failure)) != 0)
            printf("\n%s -> %s: %s\n", mutations->from, mutations->to, result);
        CU_ASSERT_NSTRING_EQUAL(result, mutations->failure, strlen(mutations->failure));
        free(broken);
    }
}

static char *fixture_text(enum dependences_by by, enum dependences_format format)
{
    struct bt_error error;
    size_t size;
    struct dependences *from = dependences_fixture();
    struct dependences *grouped = dependences_group(from, by, SIZE_MAX, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(grouped);
    char *text = dependences_fixture_written(grouped, format, &size);
    dependences_free(grouped);
    dependences_free(from);
    return text;
}

static const struct mutation json_mutations[] = {
    {"'bustap-dependences'", "'other'",
     "format : x: format (line 2, offset 21): format is not bustap-dependences"},
    {"'version': 1", "'version': 2", "version : version 2, known is 1"},
    {"  'version': 1,\n", "", "format : x: places "},
    {"'ended': 'exit status 0'", "'ended': 0", "format : x: ended "},
    {"'by': 'line'", "'by': 'page'", "format : x: by (line 6, offset 120): unknown word \"page\""},
    {"'level': 'function'", "'level': 'block'", "format : x: level "},
    {"'WAW'", "'RAR'", "format : x: kinds[2] "},
    {"'RAW',", "", "kind loops[0]: the loop carries a kind that was not traced"},
    {"    'WAR',\n", "", "kind dependences[1]: kind WAR was not traced"},
    {"'writes': 300", "'writes': 1001", "totals : 1001 writes of 1000 references"},
    {"'instructions': 400", "'instructions': 99",
     "loop loops[0]: 100 instructions, the program has 99"},
    {"'dependences_total': 3", "'dependences_total': 2", "totals : 3 rows, dependences_total is 2"},
    {"'count_total': 43", "'count_total': 44",
     "totals : the counts of 3 rows add up to 43, count_total is 44"},
    {"'count_total': 43", "'count_total': 42", "totals : the counts of 3 rows add up to 43"},
    {"'file': '/src/sum.c'", "'file': null", "place places[1]: line 3 of no file"},
    {"'line': 3", "'line': 0", "format : x: places[1].line "},
    {"'line': 3,\n", "", "format places[1]: line is missing"},
    {"'module': '/bin/prog'", "'module': null", "place places[0]: offset 0x1000 in no module"},
    {"'address': '0x400010'", "'address': '0x'", "format : x: places[1].address "},
    {"'offset': '0x10',\n      'address': '0x400010'", "'offset': null,\n      'address': null",
     ""},
    {"'line': 3,\n      'function': 'main',\n      'module': '/bin/prog',\n      'offset': "
     "'0x10',\n"
     "      'address': '0x400010'",
     "'line': 4,\n      'function': 'main',\n      'module': '/bin/prog',\n      'offset': null,\n"
     "      'address': null",
     "twice places[2]: the same as another place"},
    {"'place': 1", "'place': 3", "place loops[0]: number 3 of 3"},
    {"'entries': 2", "'entries': 0", "loop loops[0]: 20 iterations of 0 entries"},
    {"'entries': 2", "'entries': 21", "loop loops[0]: 20 iterations of 21 entries"},
    {"'reduction'", "'independent'", "verdict loops[0]: an independent loop carries dependences"},
    {"'reduction'", "'privatizable'", "verdict loops[0]: a privatizable loop carries"},
    {"'reduction'", "'distance'", "verdict loops[0]: a loop with verdict distance and distance 0"},
    {"'distance': null", "'distance': 1",
     "verdict loops[0]: a loop with verdict reduction and distance 1"},
    {"'sum.c:4 only adds to sum'", "''", "format : x: loops[0].reasons[0] "},
    {"'reasons': [", "'other': [", "format loops[0]: reasons is missing"},
    {"'kind': 'RAW'", "'kind': 'RAR'", "format : x: dependences[0].kind "},
    {"'sink': 2", "'sink': 7", "place dependences[0]: number 7 of 3"},
    {"'sink': 2", "'sink': null", "format : x: dependences[0].sink "},
    {"'top_source': 2", "'top_source': 3", "place dependences[0]: number 3 of 3"},
    {"'count': 20", "'count': 0", "count dependences[0]: the count is 0"},
    {"'count': 3,", "'count': 21,", "order dependences[2]: count 21 after count 20"},
    {"'count': 20", "'count': 19",
     "distance dependences[0]: mean distance 1.3, sum / count is 1.36842"},
    {"'loop': 0", "'loop': 1", "loop dependences[0]: number 1 of 1"},
    {"'loop': 0", "'loop': null", "carried dependences[0]: carried by no loop"},
    {"'carried': true", "'carried': false",
     "carried dependences[0]: 5 of 5 values of distances; a row that is not carried has 0"},
    {"'carried': false", "'carried': true",
     "carried dependences[1]: 0 of 5 values of distances; a row that is carried has 5"},
    {"'carried': true", "'carried': 1", "format : x: dependences[0].carried "},
    {"'distance_least': 1", "'distance_least': null",
     "carried dependences[0]: 4 of 5 values of distances"},
    {"'distance_least': 1", "'distance_least': 0",
     "distance dependences[0]: least distance 0, greatest 5"},
    {"'distance_least': 1", "'distance_least': 6",
     "distance dependences[0]: least distance 6, greatest 5"},
    {"'distance_least': 1", "'distance_least': 2",
     "distance dependences[0]: the sum of 20 distances from 2 to 5 is 26"},
    {"'distance_mean': 1.3", "'distance_mean': 1.31",
     "distance dependences[0]: mean distance 1.31, sum / count is 1.3"},
    {"'distance_greatest': 5", "'distance_greatest': 1",
     "distance dependences[0]: the sum of 20 distances from 1 to 1 is 26"},
    {"'sink_thread': 0", "'sink_thread': 1", "thread dependences[0]: a loop of threads 1 and 0"},
    {"'kind': 'WAR',\n      'sink': 2", "'kind': 'RAW',\n      'sink': 2", ""},
    {"'text': 'system calls with unknown effects'", "'text': ''",
     "format notes[0]: a note without text"},
    {"  'notes': [", "  'more': [", "format : notes is missing"},
    {"  'places': [", "  'places': 0, 'x': [", "format : x: places "},
    {"\n}\n", "\n}}\n", "format : x: "},
    {NULL, NULL, NULL}};

static void test_json_rules(void)
{
    char *text = fixture_text(DEPENDENCES_BY_LINE, DEPENDENCES_JSON);
    check_mutations(text, json_mutations);
    free(text);
}

static const struct mutation csv_mutations[] = {
    {"kind,count", "kind,number", "format line 1: count is not in its place in the heading"},
    {",loop_address", "", "format line 1: the line has too few fields"},
    {"RAW,20,", "RAR,20,", "kind line 2: kind RAR is not RAW, WAR or WAW"},
    {"RAW,20,", "RAW,,", "format line 2: count is not a valid number"},
    {"RAW,20,", "RAW,0,", "count line 2: the count is 0"},
    {"RAW,20,", "RAW,19,", "distance line 2: mean distance 1.3, sum / count is 1.36842"},
    {"RAW,20,1,", "RAW,20,2,", "format line 2: carried is not a valid number"},
    {"RAW,20,1,", "RAW,20,0,", "carried line 2: 5 of 5 values"},
    {",1.3,", ",x,", "format line 2: distance_mean is not a valid number"},
    {",1.3,", ",,", "carried line 2: 4 of 5 values"},
    {"WAR,20,", "WAR,21,", "order line 3: count 21 after count 20"},
    {",/src/sum.c,4", ",,4", "place line 2: line 4 of no file"},
    {",/src/sum.c,4", ",/src/sum.c,4294967296", "format line 2: sink_line is not a valid number"},
    {",/src/sum.c,4", ",'/src/sum.c,4",
     "format line 2: a field has quotes within, or does not end"},
    {",/src/sum.c,4", ",/src/'sum.c,4", "format line 2: a field has quotes within"},
    {",/src/sum.c,4", ",'/src/sum.c'x,4", "format line 2: a field has quotes within"},
    {",/src/sum.c,4", ",'/src/sum.c',4", ""},
    {",0x10,", ",10,", "format line 2: loop_offset is not a number with 0x"},
    {"0x400010\n", "0x400010,\n", "format line 2: the line has too many fields"},
    {"0x400010\n", "0x400010\r\n", ""},
    {"0x400010\nWAR", "0x400010", "format line 2: the line has too many fields"},
    {"/src/sum.c,3,main,/bin/prog,0x10,0x400010", ",,,,,", "carried line 2: carried by no loop"},
    {NULL, NULL, NULL}};

static void test_csv_rules(void)
{
    char *text = fixture_text(DEPENDENCES_BY_LINE, DEPENDENCES_CSV);
    char result[700];
    check_mutations(text, csv_mutations);
    text[strlen(text) - 1] = 0;
    check_text(text, strlen(text), result);
    CU_ASSERT_STRING_EQUAL(result, "format line 4: the line has no end");
    /* the same row again */
    char *twice = NULL, *second = strchr(strchr(text, '\n') + 1, '\n') + 1;
    size_t size;
    *strchr(second, '\n') = 0;
    FILE *out = open_memstream(&twice, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, "%s\n%s\n", text, second);
    fclose(out);
    check_text(twice, size, result);
    CU_ASSERT_STRING_EQUAL(result,
                           "twice line 4: another row differs in counts and distances only");
    free(twice);
    free(text);
}

/* --- traces ------------------------------------------------------------------------------------
 */

static const char trace[] = "enter /src/a.c main\n"
                            "enter lib\\040x.c ?\n"
                            "dep b.c:0 a.c:4294967295 ?:0 ?:0 2 1 0 0\n"
                            "dep a.c:4 b.c:9 a.c:4 ?:0 7 2 3 0\n"
                            "dep a.c:4 b.c:10 a.c:4 a.c:3 7 5 3 2\n"
                            "leave ?\n"
                            "enter a.c main\n"
                            "dep m:1 m:1 ?:0 ?:0 9 9 4 4\n"
                            "leave main\n";

static const struct mutation trace_mutations[] = {
    {"enter /", "Enter /", "format line 1: the line does not begin with enter, leave or dep"},
    {"a.c main", "a.c", "format line 1: enter needs a file and a function"},
    {"a.c main", "a.c  main", "format line 1: enter needs a file and a function"},
    {"\\040", "\\40", "format line 2: enter needs a file and a function"},
    {"\\040", "\\000", "format line 2: enter needs a file and a function"},
    {"\\040", "\\101", "format line 2: enter needs a file and a function"},
    {"\\040", "\\440", "format line 2: enter needs a file and a function"},
    {"\\040", "\\303\\251", "format line 2: enter needs a file and a function"},
    {"\\040", "\\303", ""},
    {"\\040", "\xff", "format line 2: enter needs a file and a function"},
    {"leave ?", "leave", "format line 6: leave needs a function"},
    {"leave ?", "leave ? ", "format line 6: leave needs a function"},
    {"leave ?", "leave \\077", "leave line 6: \\077 is left more often than entered"},
    {"leave ?", "leave lib", "leave line 6: lib is left more often than entered"},
    {"a.c:4294967295", "a.c:4294967296", "format line 3: the source is not FILE:LINE"},
    {"a.c:4294967295", "a.c:01", "format line 3: the source is not FILE:LINE"},
    {"a.c:4294967295", "a.c", "format line 3: the source is not FILE:LINE"},
    {"b.c:0", "?:1", "format line 3: the sink is not FILE:LINE"},
    {"2 1 0 0", "2 1 0", "format line 3: dep needs four places and four times"},
    {"2 1 0 0", "2 1 0 0 0", "format line 3: dep needs four places and four times"},
    {"2 1 0 0", "2 1 0 00", "format line 3: a time is not a decimal number below 2^64"},
    {"2 1 0 0", "2 18446744073709551616 0 0", "format line 3: a time is not a decimal"},
    {"2 1 0 0", "2 0 0 0", "time line 3: pseudo time 0 is before the first reference"},
    {"2 1 0 0", "2 2 0 0", "time line 3: source at pseudo time 2, sink at 2"},
    {"2 1 0 0", "2 3 0 0", "time line 3: source at pseudo time 3, sink at 2"},
    {"2 1 0 0", "8 1 0 0", "time line 4: sink at pseudo time 7 after 8"},
    {"dep a.c:4 b.c:10", "dep a.c:5 b.c:10", "time line 5: another sink at pseudo time 7"},
    {"7 5 3 2", "7 5 2 1", "frozen line 5: sink at frozen time 2 after 3"},
    {"7 5 3 2", "7 5 4 2", "frozen line 5: frozen time grows by 1, pseudo time by 0"},
    {"7 5 3 2", "7 5 3 4", "frozen line 5: frozen times 4 of the source and 3 of the sink"},
    {"7 2 3 0", "7 2 6 3", "frozen line 4: frozen time grows by 6, pseudo time by 5"},
    {"7 5 3 2", "7 6 3 1", "frozen line 5: frozen times 1 of the source and 3 of the sink"},
    {"?:0 ?:0 2 1", "a.c:3 ?:0 2 1", "top line 3: the sink at frozen time 0 has a top-level place"},
    {"?:0 7 2", "a.c:3 7 2", "top line 4: the source at frozen time 0 has a top-level place"},
    {"leave main\n", "leave main", "format line 9: the line has no end"},
    {NULL, NULL, NULL}};

static void test_trace_rules(void)
{
    struct dependences_failures *failures = new_failures();
    struct text_reader *reader = open_text(trace, strlen(trace));
    struct dependences_summary summary;
    struct bt_error error;
    check_mutations(trace, trace_mutations);
    CU_ASSERT_EQUAL(dependences_check(reader, failures, &summary, &error), 0);
    CU_ASSERT_EQUAL(summary.file, DEPENDENCES_FILE_TRACE);
    CU_ASSERT_EQUAL(summary.entered, 3);
    CU_ASSERT_EQUAL(summary.left, 2);
    CU_ASSERT_EQUAL(summary.found, 4);
    CU_ASSERT_EQUAL(summary.references, 9);
    CU_ASSERT_EQUAL(summary.detail, 4);
    text_reader_close(reader);
    dependences_failures_free(failures);
}

/* The trace, read and written again. */
static void test_trace_written(void)
{
    struct bt_error error;
    struct text_reader *text = open_text(trace, strlen(trace));
    struct dependence_trace_reader *reader = dependence_trace_reader_new(text, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    struct dependence_event event;
    char *again = NULL;
    size_t size;
    FILE *out = open_memstream(&again, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    while (dependence_trace_reader_next(reader, &event, &error) > 0)
        dependence_trace_put(&event, out);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(again, trace);
    CU_ASSERT_EQUAL(dependence_trace_reader_line(reader), 9);
    free(again);
    dependence_trace_reader_free(reader);
    text_reader_close(text);
}

static void check_place(const char *file, uint32_t line, const char *module, uint64_t offset,
                        uint64_t address, const char *wanted)
{
    char token[DEPENDENCE_TOKEN_BYTES];
    const struct dependence_place place = {
        .file = file, .line = line, .module = module, .offset = offset, .address = address};
    CU_ASSERT_STRING_EQUAL(dependence_trace_place(&place, token), wanted);
}

static void test_tokens(void)
{
    const uint64_t none = DEPENDENCES_UNKNOWN;
    char token[DEPENDENCE_TOKEN_BYTES];
    check_place("/a b.c", 7, "m", 1, 2, "/a\\040b.c:7");
    check_place("a:b", UINT32_MAX, NULL, none, none, "a:b:4294967295");
    check_place("?", 0, NULL, none, none, "\\077:0");
    check_place(NULL, 0, "/lib/x y.so", 0x1f, 0x40, "/lib/x\\040y.so+0x1f:0");
    check_place("", 0, "", 0x1f, 0x40, "0x40:0");
    check_place(NULL, 0, "m", none, none, "?:0");
    CU_ASSERT_STRING_EQUAL(dependence_trace_place(NULL, token), "?:0");
    CU_ASSERT_STRING_EQUAL(dependence_trace_name(NULL, token), "?");
    CU_ASSERT_STRING_EQUAL(dependence_trace_name("", token), "?");
    CU_ASSERT_STRING_EQUAL(dependence_trace_name("??", token), "??");
    CU_ASSERT_STRING_EQUAL(dependence_trace_name("\t\\\x7f\xc2\x9f\xc3\xa9\xc3", token),
                           "\\011\\134\\177\\302\\237\xc3\xa9\\303");
    /* the longest names of all kinds are accepted again */
    static char longest[2 * DEPENDENCES_NAME_BYTES], line[3 * DEPENDENCE_TOKEN_BYTES];
    for (unsigned i = 0; i < 3; i++) {
        char result[700];
        memset(longest, "x\xff "[i], sizeof longest - 1);
        snprintf(line, sizeof line, "enter %s main\n", dependence_trace_name(longest, token));
        check_text(line, strlen(line), result);
        CU_ASSERT_STRING_EQUAL(result, "");
    }
}

/* Random names make valid lines, and different names different tokens. */
static void test_random_names(void)
{
    char last[8] = "", last_token[DEPENDENCE_TOKEN_BYTES] = "?";
    uint64_t state = random_seed(7);
    for (unsigned i = 0; i < 20000; i++) {
        char name[8] = "", token[DEPENDENCE_TOKEN_BYTES], line[8 * DEPENDENCE_TOKEN_BYTES];
        char result[700];
        const size_t size = random_below(&state, 4);
        for (size_t at = 0; at < size; at++)
            name[at] = random_one_in(&state, 2) ? (char)(1 + random_below(&state, 255))
                                                : "?\\:a\xc3\xa9 0"[random_below(&state, 8)];
        dependence_trace_name(name, token);
        CU_ASSERT_EQUAL(strcmp(name, last) == 0, strcmp(token, last_token) == 0);
        snprintf(line, sizeof line, "enter %s %s\nleave %s\ndep %s:1 %s:2 %s:0 %s:0 2 1 1 1\n",
                 token, token, token, size ? token : "x", size ? token : "x", token, token);
        check_text(line, strlen(line), result);
        CU_ASSERT_STRING_EQUAL(result, "");
        strcpy(last, name);
        strcpy(last_token, token);
    }
}

/* --- damage ------------------------------------------------------------------------------------
 */

/* Any damage is either harmless or reported; never anything else. */
static void damage(const char *text, size_t size, uint64_t *state)
{
    char result[700];
    char *broken = malloc(size + 1);
    memcpy(broken, text, size);
    for (uint64_t times = 1 + random_below(state, 3); times > 0 && size > 0; times--) {
        const size_t at = random_below(state, size);
        switch (random_below(state, 3)) {
        case 0:
            broken[at] = (char)random_below(state, 256);
            break;
        case 1:
            broken[at] = "0123456789,\":{}[]\n\\?-"[random_below(state, 22)];
            break;
        default:
            size = random_one_in(state, 4) ? at : size;
        }
    }
    check_text(broken, size, result);
    free(broken);
}

static void test_damage(void)
{
    uint64_t state = random_seed(3);
    char *json = fixture_text(DEPENDENCES_BY_LINE, DEPENDENCES_JSON);
    char *csv = fixture_text(DEPENDENCES_BY_INSTRUCTION, DEPENDENCES_CSV);
    for (unsigned i = 0; i < 5000; i++) {
        damage(json, strlen(json), &state);
        damage(csv, strlen(csv), &state);
        damage(trace, strlen(trace), &state);
    }
    free(json);
    free(csv);
}

static const struct test_case cases[] = {
    {"what is written is read, and is written again", test_round_trip},
    {"each rule of JSON", test_json_rules},
    {"each rule of CSV", test_csv_rules},
    {"each rule of traces", test_trace_rules},
    {"a trace is written as it was", test_trace_written},
    {"names and places of traces", test_tokens},
    {"random names", test_random_names},
    {"damaged files", test_damage},
    {NULL, NULL},
};
TEST_SUITE(dependences_read, cases)
