#include "tests/tools/dcfg/graph/check_fixture.h"

#include "formats/dcfg/dcfg_reader.h"
#include "formats/dcfg/dcfg_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two threads: A calls D, which loops to itself and returns by E to R, a REP; B branches back to A
 * or continues to C, which ends. Block ids: A 4, B 5, C 6, D 7, E 8, R 9.
 */
const char check_fixture_graph[] =
    "{'MAJOR_VERSION': 1,\n"
    " 'MINOR_VERSION': 0,\n"
    " 'FILE_NAMES': [['FILE_NAME_ID', 'FILE_NAME'], [1, 'program'], [2, 'program.c']],\n"
    " 'EDGE_TYPES': [['EDGE_TYPE_ID', 'EDGE_TYPE'],\n"
    "  [1, 'ENTRY'], [2, 'EXIT'], [4, 'DIRECT_CALL'], [6, 'RETURN'], [7, 'CALL_BYPASS'],\n"
    "  [13, 'DIRECT_CONDITIONAL_BRANCH'], [17, 'REP'], [18, 'FALL_THROUGH'], [26, 'UNKNOWN']],\n"
    " 'SPECIAL_NODES': [['NODE_ID', 'NODE_NAME'], [1, 'START'], [2, 'END'], [3, 'UNKNOWN']],\n"
    " 'PROCESSES': [['PROCESS_ID', 'PROCESS_DATA'], [77, {\n"
    "  'INSTR_COUNT': 32,\n"
    "  'INSTR_COUNT_PER_THREAD': [23, 9],\n"
    "  'IMAGES': [['IMAGE_ID', 'LOAD_ADDR', 'SIZE', 'IMAGE_DATA'], [1, '0x400000', 4096, {\n"
    "   'FILE_NAME_ID': 1,\n"
    "   'SYMBOLS': [['NAME', 'ADDR_OFFSET', 'SIZE'], ['main', '0x100', 20]],\n"
    "   'SOURCE_DATA': [['FILE_NAME_ID', 'LINE_NUM', 'ADDR_OFFSET', 'SIZE', 'NUM_INSTRS'],\n"
    "    [2, 10, '0x100', 9, 2]],\n"
    "   'BASIC_BLOCKS': [['NODE_ID', 'ADDR_OFFSET', 'SIZE', 'NUM_INSTRS', 'LAST_INSTR_OFFSET',\n"
    "     'COUNT'],\n"
    "    [4, '0x100', 9, 2, 4, 3],\n"
    "    [9, '0x109', 2, 1, 0, 5],\n"
    "    [5, '0x10b', 6, 2, 4, 3],\n"
    "    [6, '0x111', 1, 1, 0, 2],\n"
    "    [7, '0x200', 4, 2, 2, 5],\n"
    "    [8, '0x204', 1, 1, 0, 3]],\n"
    "   'ROUTINES': [['ENTRY_NODE_ID', 'EXIT_NODE_IDS', 'NODES', 'LOOPS'],\n"
    "    [4, [6], [['NODE_ID', 'IDOM_NODE_ID'], [4, 4], [9, 4], [5, 9], [6, 5]],\n"
    "     [['LOOP_HEAD_NODE_ID', 'LOOP_BACK_EDGE_SOURCE_NODE_IDS', 'LOOP_NODE_IDS',\n"
    "       'PARENT_LOOP_HEAD_NODE_ID'],\n"
    "      [4, [5], [4, 9, 5], 0], [9, [9], [9], 4]]],\n"
    "    [7, [8], [['NODE_ID', 'IDOM_NODE_ID'], [7, 7], [8, 7]],\n"
    "     [['LOOP_HEAD_NODE_ID', 'LOOP_BACK_EDGE_SOURCE_NODE_IDS', 'LOOP_NODE_IDS'],\n"
    "      [7, [7], [7]]]]]}]],\n"
    "  'EDGES': [['EDGE_ID', 'SOURCE_NODE_ID', 'TARGET_NODE_ID', 'EDGE_TYPE_ID',\n"
    "    'COUNT_PER_THREAD'],\n"
    "   [1, 1, 4, 1, [1, 1]],\n"
    "   [2, 4, 7, 4, [2, 1]],\n"
    "   [3, 4, 9, 7, [0, 0]],\n"
    "   [4, 7, 7, 13, [2, 0]],\n"
    "   [5, 7, 8, 18, [2, 1]],\n"
    "   [6, 8, 9, 6, [2, 1]],\n"
    "   [7, 9, 9, 17, [2, 0]],\n"
    "   [8, 9, 5, 18, [2, 1]],\n"
    "   [9, 5, 4, 13, [1, 0]],\n"
    "   [10, 5, 6, 18, [1, 1]],\n"
    "   [11, 6, 2, 2, [1, 1]]]}]]}\n";

const char check_fixture_trace[] =
    "{'MAJOR_VERSION': 1, 'MINOR_VERSION': 0,\n"
    " 'PROCESSES': [['PROCESS_ID', 'STRING_DICTIONARY', 'TRANSITION_TABLE', 'THREAD_DATA'],\n"
    "  [77, {'a': 'X'}, [['CURRENT_EDGE_ID', 'TRANSITION_CODE', 'NEXT_EDGE_IDS'],\n"
    "   [1, '', [2]], [2, '0', [4]], [2, '1', [5]], [4, '0', [4]], [4, '1', [5]], [5, '', [6]],\n"
    "   [6, '0', [7]], [6, '1', [8]], [7, '0', [7]], [7, '1', [8]], [8, '0', [9]],\n"
    "   [8, '1', [10]], [9, '', [2]], [10, '', [11]]],\n"
    "   [['THREAD_ID', 'TRACE_DATA'],\n"
    "    [0, [['PRECEDING_INSTR_COUNT', 'INSTR_COUNT', 'EDGE_COUNT', 'FIRST_EDGE_ID',\n"
    "      'EDGE_ID_SEQUENCE'],\n"
    "     [0, 9, 6, 1, 'I'],\n"
    "     [9, 14, 10, 7, '<a>']]],\n"
    "    [1, [['PRECEDING_INSTR_COUNT', 'INSTR_COUNT', 'EDGE_COUNT', 'FIRST_EDGE_ID',\n"
    "      'EDGE_ID_SEQUENCE'],\n"
    "     [0, 9, 7, 1, '4']]]]]]}\n";

char *check_fixture_text(const char *text, const char *find, const char *replace)
{
    const char *place = find ? strstr(text, find) : text + strlen(text);
    size_t size = strlen(text) + (replace ? strlen(replace) : 0) + 1;
    char *made = malloc(size);
    if (!place || !made) {
        fprintf(stderr, "the text has no \"%s\"\n", find ? find : "");
        abort();
    }
    size_t before = (size_t)(place - text);
    snprintf(made, size, "%.*s%s%s", (int)before, text, replace ? replace : "",
             place + (find ? strlen(find) : 0));
    for (char *c = made; *c; c++)
        if (*c == '\'')
            *c = '"';
    return made;
}

static void run_trace(struct check *check, const struct dcfg *graph, const char *trace, size_t size)
{
    struct dcfg_trace_reader_settings settings = dcfg_trace_reader_settings_default();
    struct bt_error read_error, error;
    settings.json.strict = true;
    struct text_reader *text = text_reader_from_memory(trace, size, "trace", &error);
    struct dcfg_trace_reader *reader =
        text ? dcfg_trace_reader_new(text, &settings, &read_error) : NULL;
    if (!reader || check_trace(check, graph, reader, &read_error, &error) != 0)
        abort();
    dcfg_trace_reader_free(reader);
    text_reader_close(text);
}

struct check *check_fixture_run_sized(const char *graph, size_t graph_size, const char *trace,
                                      size_t trace_size)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error;
    settings.json.strict = true;
    struct check *check = check_new(NULL, &error);
    struct text_reader *text = text_reader_from_memory(graph, graph_size, "graph", &error);
    if (!check || !text)
        abort();
    struct dcfg *read = dcfg_read(text, &settings, &error);
    text_reader_close(text);
    if (!read) {
        check_add(check, CHECK_FORMAT, error.message);
        return check;
    }
    if (check_graph(check, read, &error) != 0)
        abort();
    if (trace)
        run_trace(check, read, trace, trace_size);
    dcfg_free(read);
    return check;
}

struct check *check_fixture_run(const char *graph, const char *trace)
{
    return check_fixture_run_sized(graph, strlen(graph), trace, trace ? strlen(trace) : 0);
}

bool check_fixture_good(const struct dcfg *graph, const struct text_writer *trace)
{
    struct bt_error error;
    struct text_writer *text = text_writer_new_memory(&error);
    if (!text || dcfg_write_text(graph, text, NULL, &error) < 0)
        abort();
    size_t size, trace_size, kept;
    const char *graph_text = text_writer_memory(text, &size);
    const char *trace_text = text_writer_memory(trace, &trace_size);
    struct check *check = check_fixture_run_sized(graph_text, size, trace_text, trace_size);
    const struct check_failure *failures = check_failures(check, &kept);
    for (size_t i = 0; i < kept; i++)
        fprintf(stderr, "%s: %s (%s)\n", failures[i].path, failures[i].message,
                check_rule_row(failures[i].rule)->name);
    bool good = check_total(check) == 0;
    check_free(check);
    text_writer_free(text);
    return good;
}
