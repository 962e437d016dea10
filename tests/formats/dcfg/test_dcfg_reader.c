/* The examples of DCFG 1.00, section 2; invalid files; and random graphs. */
#include "formats/dcfg/dcfg_reader.h"

#include "formats/dcfg/dcfg_table.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_dcfg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Documents are written with ' for ". */
static char *document(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

static struct dcfg *read_size(const char *text, size_t size,
                              const struct dcfg_reader_settings *settings, struct bt_error *error)
{
    struct text_reader *reader = text_reader_from_memory(text, size, "x.json", error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    struct dcfg *graph = dcfg_read(reader, settings, error);
    text_reader_close(reader);
    return graph;
}

static struct dcfg *read_with(const char *text, const struct dcfg_reader_settings *settings,
                              struct bt_error *error)
{
    char *copy = document(text);
    struct dcfg *graph = read_size(copy, strlen(copy), settings, error);
    free(copy);
    return graph;
}

/* Reads a valid document; free the graph. */
static struct dcfg *read_good(const char *text)
{
    struct bt_error error = {0};
    struct dcfg *graph = read_with(text, NULL, &error);
    if (!graph)
        puts(error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    return graph;
}

#define VERSION "'MAJOR_VERSION' : 1, 'MINOR_VERSION' : 0,"
#define TYPES                                                                                      \
    "'EDGE_TYPES' : [ ['EDGE_TYPE_ID','EDGE_TYPE'], [13,'DIRECT_CONDITIONAL_BRANCH'], "            \
    "[16,'INDIRECT_UNCONDITIONAL_BRANCH'], [18,'FALL_THROUGH'], [6,'RETURN'] ],"
#define NODES         "'SPECIAL_NODES' : [ ['NODE_ID','NODE_NAME'], [1,'START'], [2,'END'] ],"
#define PROCESS(data) "'PROCESSES' : [ ['PROCESS_ID','PROCESS_DATA'], [13723, " data " ] ]"
#define IMAGE(data)                                                                                \
    "{'IMAGES' : [ ['IMAGE_ID','LOAD_ADDR','SIZE','IMAGE_DATA'], [1,'0x400000',2112944, " data     \
    " ] ]}"
#define BLOCKS_HEADER "['NODE_ID','ADDR_OFFSET','SIZE','NUM_INSTRS','LAST_INSTR_OFFSET','COUNT']"

/* --- the examples ----------------------------------------------------------------------------- */

/* 1.2.2: the header alone defines the columns. */
static void check_employees(const char *text)
{
    static const struct dcfg_column columns[] = {
        {"EMPLOYEE_ID", false}, {"NAME", false}, {NULL, false}};
    static const uint64_t ids[] = {1234, 5678, 9874};
    static const char *const names[] = {"MARY", "BOB", "IGOR"};
    struct bt_error error = {0};
    char *copy = document(text);
    struct text_reader *reader = text_reader_from_memory(copy, strlen(copy), "x", &error);
    struct json_pull *pull = json_pull_new(reader, NULL, &error);
    struct dcfg_table table;
    unsigned rows = 0;
    CU_ASSERT_EQUAL(dcfg_table_begin(&table, pull, columns), 0);
    while (dcfg_table_row(&table) == 1) {
        struct json_pull_text name;
        uint64_t id = 0;
        int cell;
        while ((cell = dcfg_table_cell(&table)) > 0) {
            if (cell == 1)
                CU_ASSERT_EQUAL(json_pull_integer(pull, &id), 0);
            if (cell == 2) {
                CU_ASSERT_EQUAL(json_pull_string(pull, &name), 0);
                CU_ASSERT(json_pull_text_is(&name, names[rows]));
            }
        }
        CU_ASSERT_EQUAL(cell, 0);
        CU_ASSERT_EQUAL(id, ids[rows]);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 3);
    CU_ASSERT_EQUAL(json_pull_end(pull), 0);
    json_pull_free(pull);
    text_reader_close(reader);
    free(copy);
}

static void test_tables(void)
{
    check_employees("[ ['EMPLOYEE_ID','NAME'], [1234,'MARY'], [5678,'BOB'], [9874,'IGOR'] ]");
    check_employees("[['NAME','EMPLOYEE_ID'],['MARY',1234],['BOB','0x162e'],['IGOR','9874']]");
    check_employees("[['X','NAME','Y','EMPLOYEE_ID'],[[[]],'MARY',{'a':{}},1234,5,6],"
                    "[null,'BOB',2.5,5678],['','IGOR',true,9874]]");
}

/* 2.1, completed with the elements that the excerpt omits. */
static void test_whole_example(void)
{
    struct dcfg *graph = read_good(
        "{ 'MAJOR_VERSION' : 1, 'MINOR_VERSION' : 0,"
        "'FILE_NAMES' : [ ['FILE_NAME_ID','FILE_NAME'], [1,'hello-world'],"
        "  [2,'\\/lib64\\/ld-linux-x86-64.so.2'], [8,'hello-world.c'] ],"
        "'EDGE_TYPES' : [ ['EDGE_TYPE_ID','EDGE_TYPE'], [1,'ENTRY'], [2,'EXIT'], [3,'CALL'],"
        "  [6,'RETURN'], [13,'DIRECT_CONDITIONAL_BRANCH'], [16,'INDIRECT_UNCONDITIONAL_BRANCH'] ],"
        "'SPECIAL_NODES' : [ ['NODE_ID','NODE_NAME'], [1,'START'], [2,'END'] ],"
        "'PROCESSES' : [ ['PROCESS_ID','PROCESS_DATA'], [ 13723,"
        "  { 'INSTR_COUNT_PER_THREAD' : [ 1867502 ], 'INSTR_COUNT' : 1867502,"
        "    'IMAGES' : [ ['IMAGE_ID','LOAD_ADDR','SIZE','IMAGE_DATA'], [ 1, '0x400000', 2112944,"
        "      { 'FILE_NAME_ID' : 1,"
        "        'SYMBOLS' : [ ['NAME','ADDR_OFFSET','SIZE'], ['main','0xdd0',128] ],"
        "        'SOURCE_DATA' : [ ['FILE_NAME_ID','LINE_NUM','ADDR_OFFSET','SIZE','NUM_INSTRS'],"
        "          [8,25,'0xb28',4,1], [8,26,'0xb2c',5,1] ],"
        "        'BASIC_BLOCKS' : [ " BLOCKS_HEADER ","
        "          [4,'0xb28',9,2,4,1], [5,'0xb31',5,2,4,1], [6,'0xb40',12,2,6,10],"
        "          [90,1,1,1,0,1], [91,2,1,1,0,1], [92,3,1,1,0,1], [93,4,1,1,0,1], [94,5,1,1,0,1],"
        "          [95,6,1,1,0,1], [1741,7,1,1,0], [1742,8,1,1,0], [665,9,1,1,0], [676,10,1,1,0],"
        "          [2424,11,1,1,0], [2069,12,1,1,0] ],"
        "        'ROUTINES' : [ ['ENTRY_NODE_ID','EXIT_NODE_IDS','NODES','LOOPS'],"
        "          [ 90, [ 90, 93, 95 ],"
        "            [ ['NODE_ID','IDOM_NODE_ID'], [90,90], [91,90], [92,91], [93,92], [94,93],"
        "              [95,91] ],"
        "            [ ['LOOP_HEAD_NODE_ID','LOOP_BACK_EDGE_SOURCE_NODE_IDS','LOOP_NODE_IDS',"
        "               'PARENT_LOOP_HEAD_NODE_ID'], [ 93, [ 94 ], [ 93, 94 ] ] ] ] ]"
        "      } ] ],"
        "    'EDGES' : [ ['EDGE_ID','SOURCE_NODE_ID','TARGET_NODE_ID','EDGE_TYPE_ID',"
        "                 'COUNT_PER_THREAD'],"
        "      [2887,1741,1742,16,[1]], [1357,665,676,13,[3]], [2888,2424,2069,6,[1]] ]"
        "  } ] ] }");
    const struct dcfg_process *process = graph->processes[0];
    const struct dcfg_routine *routine = &process->routines[0];
    CU_ASSERT_EQUAL(graph->process_count, 1);
    CU_ASSERT_EQUAL(graph->special_ids[DCFG_END], 2);
    CU_ASSERT_STRING_EQUAL(dcfg_file_name(graph, 2), "/lib64/ld-linux-x86-64.so.2");
    CU_ASSERT_PTR_NULL(dcfg_file_name(graph, 3));
    CU_ASSERT_EQUAL(process->id, 13723);
    CU_ASSERT_EQUAL(process->instructions, 1867502);
    CU_ASSERT(process->threads == 1 && process->thread_instructions[0] == 1867502);
    CU_ASSERT_EQUAL(process->images[0].load_address, 0x400000);
    CU_ASSERT_STRING_EQUAL(dcfg_text(graph, process->symbols[0].name), "main");
    CU_ASSERT(process->lines[1].line == 26 && process->lines[1].offset == 0xb2c);
    CU_ASSERT_EQUAL(process->blocks[dcfg_find_block(process, 6)].count, 10);
    CU_ASSERT_EQUAL(process->blocks[dcfg_find_block(process, 665)].count, DCFG_COUNT_UNKNOWN);
    CU_ASSERT(routine->entry == 90 && routine->exits.count == 3 && routine->nodes.count == 6);
    CU_ASSERT_EQUAL(process->ids[routine->exits.first + 2], 95);
    CU_ASSERT_EQUAL(process->nodes[routine->nodes.first + 5].dominator, 91);
    const struct dcfg_loop *loop = &process->loops[routine->loops.first];
    CU_ASSERT(loop->head == 93 && loop->parent == 0 && loop->nodes.count == 2);
    CU_ASSERT_EQUAL(process->ids[loop->back_edges.first], 94);
    uint32_t edge = dcfg_find_edge(process, 1357);
    CU_ASSERT_EQUAL_FATAL(edge, 1);
    CU_ASSERT_EQUAL(process->edges.types[edge], DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH);
    CU_ASSERT_EQUAL(dcfg_edge_total(process, edge), 3);
    dcfg_free(graph);
}

/* 2.2 and 2.3, with a comma after the last member and a leading zero. */
static void test_versions(void)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error = {0};
    struct dcfg *graph = read_good("{ 'MAJOR_VERSION' : 0, 'MINOR_VERSION' : 6, 'FILE_NAMES' : [],"
                                   "'EDGE_TYPES' : [], 'SPECIAL_NODES' : [], 'PROCESSES' : [], }");
    CU_ASSERT(graph->major_version == 0 && graph->minor_version == 6);
    dcfg_free(graph);
    static const char later[] = "{ 'MAJOR_VERSION' : 3, 'MINOR_VERSION' : 04 }";
    CU_ASSERT_PTR_NULL(read_with(later, NULL, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "major version 3"));
    settings.any_version = true;
    graph = read_with(later, &settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    CU_ASSERT(graph->major_version == 3 && graph->minor_version == 4);
    dcfg_free(graph);
    settings.json.strict = true;
    CU_ASSERT_PTR_NULL(read_with(later, &settings, &error));
}

/* 2.4 */
static void test_file_names(void)
{
    struct dcfg *graph = read_good("{" VERSION "'FILE_NAMES' : [ ['FILE_NAME_ID','FILE_NAME'],"
                                   "[2,'\\\\usr\\\\joe\\\\src\\\\misc\\\\hello-world'],"
                                   "[5,'\\\\lib64\\\\libgcc_s.so'],"
                                   "[4,'\\\\usr\\\\joe\\\\src\\\\misc\\\\hello-world.c'], ] }");
    CU_ASSERT_EQUAL(graph->file_name_count, 3);
    CU_ASSERT_STRING_EQUAL(dcfg_file_name(graph, 5), "\\lib64\\libgcc_s.so");
    CU_ASSERT_STRING_EQUAL(dcfg_file_name(graph, 4), "\\usr\\joe\\src\\misc\\hello-world.c");
    dcfg_free(graph);
}

/* 2.5, whose example uses names from before version 1.00. */
static void test_edge_types(void)
{
    static const char *const earlier[] = {"INTERRUPT",
                                          "INTERRUPT_RETURN",
                                          "INTERRUPT_BYPASS",
                                          "CONTEXT_CHANGE_BYPASS",
                                          "UNKNOWN_IMAGE_BYPASS",
                                          "UNKNOWN"};
    static const enum dcfg_edge_type types[] = {
        DCFG_EDGE_CONTEXT_CHANGE,        DCFG_EDGE_CONTEXT_CHANGE_RETURN,
        DCFG_EDGE_CONTEXT_CHANGE_BYPASS, DCFG_EDGE_CONTEXT_CHANGE_BYPASS,
        DCFG_EDGE_EXCLUDED_CODE_BYPASS,  DCFG_EDGE_UNKNOWN};
    char text[2048];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "{" VERSION "'EDGE_TYPES' : "
                                   "[ ['EDGE_TYPE_ID','EDGE_TYPE']");
    for (unsigned i = 1; i <= 27; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, ", [ %u, '%s' ]", i,
                                 i < 22 ? dcfg_edge_type_name((enum dcfg_edge_type)i)
                                        : earlier[i - 22]);
    snprintf(text + size, sizeof text - size, "] }");
    struct dcfg *graph = read_good(text);
    CU_ASSERT_EQUAL_FATAL(graph->edge_type_count, 27);
    for (unsigned i = 0; i < 27; i++) {
        CU_ASSERT_EQUAL(graph->edge_types[i].id, i + 1);
        CU_ASSERT_EQUAL(graph->edge_types[i].type,
                        i < 21 ? (enum dcfg_edge_type)(i + 1) : types[i - 21]);
    }
    dcfg_free(graph);
}

/* 2.6 */
static void test_special_nodes(void)
{
    struct dcfg *graph = read_good("{" VERSION "'SPECIAL_NODES' : [ ['NODE_ID','NODE_NAME'],"
                                   "[3,'START'], [1,'END'], [2,'UNKNOWN'], [9,'LIMBO'] ] }");
    CU_ASSERT_EQUAL(graph->special_ids[DCFG_START], 3);
    CU_ASSERT_EQUAL(dcfg_special(graph, 1), DCFG_END);
    CU_ASSERT_EQUAL(dcfg_special(graph, 9), DCFG_OTHER);
    CU_ASSERT_EQUAL(dcfg_special(graph, 4), 0);
    dcfg_free(graph);
}

/* 2.7 and 2.8 */
static void test_processes(void)
{
    static const uint64_t counts[] = {1997750, 51676, 19794, 18381, 19598, 27377};
    struct dcfg *graph =
        read_good("{" VERSION "'PROCESSES' : [ ['PROCESS_ID','PROCESS_DATA'], [ 22814,"
                  "{ 'INSTR_COUNT' : 2134576,"
                  "  'INSTR_COUNT_PER_THREAD' : [ 1997750, 51676, 19794, 18381, 19598, 27377 ],"
                  "  'IMAGES' : [], 'EDGES' : [] } ], [ 958, {} ] ] }");
    CU_ASSERT_EQUAL_FATAL(graph->process_count, 2);
    const struct dcfg_process *process = graph->processes[0];
    CU_ASSERT(process->id == 22814 && graph->processes[1]->id == 958);
    CU_ASSERT_EQUAL(process->instructions, 2134576);
    CU_ASSERT_EQUAL_FATAL(process->threads, 6);
    CU_ASSERT_EQUAL(memcmp(process->thread_instructions, counts, sizeof counts), 0);
    CU_ASSERT_EQUAL(graph->processes[1]->instructions, DCFG_COUNT_UNKNOWN);
    CU_ASSERT_EQUAL(graph->processes[1]->threads, 0);
    dcfg_free(graph);
}

/* 2.9 and 2.10 */
static void test_images(void)
{
    struct dcfg *graph =
        read_good("{" VERSION "'FILE_NAMES' : [ ['FILE_NAME_ID','FILE_NAME'], [4,'a'] ]," PROCESS(
            "{'IMAGES' : [ ['IMAGE_ID','LOAD_ADDR','SIZE','IMAGE_DATA'],"
            "[ 1, '0x400000', 2102216, { 'FILE_NAME_ID' : 4, 'SYMBOLS' : [], 'SOURCE_DATA' : [],"
            "  'BASIC_BLOCKS' : [], 'ROUTINES' : [] } ],"
            "[ 0, '0x2aaaaaab000', 1166728, {} ] ]}") "}");
    const struct dcfg_process *process = graph->processes[0];
    CU_ASSERT_EQUAL_FATAL(process->image_count, 2);
    CU_ASSERT(process->images[0].id == 1 && process->images[0].file_name_id == 4);
    CU_ASSERT(process->images[1].id == 0 && process->images[1].file_name_id == 0);
    CU_ASSERT_EQUAL(process->images[1].load_address, 0x2aaaaaab000);
    CU_ASSERT_EQUAL(process->images[1].size, 1166728);
    dcfg_free(graph);
}

/* 2.11, whose header has a space after SIZE. */
static void test_symbols(void)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error;
    static const char text[] =
        "{" VERSION PROCESS(IMAGE("{'SYMBOLS' : [ ['NAME','ADDR_OFFSET','SIZE '],"
                                  "['free','0x127f0',60], ['malloc','0x12940',13],"
                                  "['calloc','0x12a00',9] ]}")) "}";
    struct dcfg *graph = read_good(text);
    const struct dcfg_process *process = graph->processes[0];
    CU_ASSERT_EQUAL_FATAL(process->images[0].symbols.count, 3);
    CU_ASSERT_STRING_EQUAL(dcfg_text(graph, process->symbols[1].name), "malloc");
    CU_ASSERT(process->symbols[2].offset == 0x12a00 && process->symbols[2].size == 9);
    dcfg_free(graph);
    settings.json.strict = true;
    CU_ASSERT_PTR_NULL(read_with(text, &settings, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "lacks the column SIZE"));
}

/* 2.12 */
static void test_lines(void)
{
    struct dcfg *graph = read_good(
        "{" VERSION
        "'FILE_NAMES' : [ ['FILE_NAME_ID','FILE_NAME'], [8,'a'], [9,'b'], [10,'c'] ]," PROCESS(
            IMAGE("{'SOURCE_DATA' : [ ['FILE_NAME_ID','LINE_NUM','ADDR_OFFSET','SIZE',"
                  "'NUM_INSTRS'], [8,25,'0x7a8',4,1], [8,26,'0x7ac',5,1], [9,9,'0x7bb',4,1],"
                  "[9,10,'0x7bf',1,1], [10,11,'0x970',43,10], [10,12,'0x99b',10,2] ]}")) "}");
    const struct dcfg_line *lines = graph->processes[0]->lines;
    CU_ASSERT_EQUAL_FATAL(graph->processes[0]->line_count, 6);
    CU_ASSERT(lines[4].file_name_id == 10 && lines[4].line == 11 && lines[4].offset == 0x970);
    CU_ASSERT(lines[4].size == 43 && lines[4].instructions == 10);
    dcfg_free(graph);
}

/* 2.13 */
static void test_blocks(void)
{
    struct dcfg *graph = read_good(
        "{" VERSION PROCESS(IMAGE("{'BASIC_BLOCKS' : [ " BLOCKS_HEADER ","
                                  "[4,'0x7a8',9,2,4,1], [5,'0x7b1',5,1,0,9], [6,'0x7b6',5,1,0,8],"
                                  "[7,'0x7bb',5,2,4,1], [8,'0x7c0',12,2,6,11] ]}")) "}");
    const struct dcfg_process *process = graph->processes[0];
    CU_ASSERT_EQUAL_FATAL(process->block_count, 5);
    const struct dcfg_block *block = &process->blocks[dcfg_find_block(process, 8)];
    CU_ASSERT(block->offset == 0x7c0 && block->size == 12 && block->instructions == 2);
    CU_ASSERT(block->last_instruction == 6 && block->count == 11);
    CU_ASSERT_EQUAL(dcfg_find_block(process, 3), DCFG_NONE);
    dcfg_free(graph);
}

/* 2.14 and 2.15; blocks 4 to 147 exist. */
static void test_routines(void)
{
    char text[8192];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "{" VERSION "'PROCESSES' : [ ['PROCESS_ID','PROCESS_DATA'], "
                                   "[1,{'IMAGES':[['IMAGE_ID','LOAD_ADDR','SIZE','IMAGE_DATA'],"
                                   "[1,0,0,{'BASIC_BLOCKS' : [ " BLOCKS_HEADER);
    for (unsigned i = 4; i <= 147; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, ",[%u,%u,1,1,0]", i, i);
    snprintf(text + size, sizeof text - size,
             "], 'ROUTINES' : [ ['ENTRY_NODE_ID','EXIT_NODE_IDS','NODES','LOOPS'],"
             "[4, [4,5,6,7], [ ['NODE_ID','IDOM_NODE_ID'], [4,4], [5,4], [6,5], [7,6] ] ],"
             "[63, [65,67], [ ['NODE_ID','IDOM_NODE_ID'], [66,65], [67,63], [63,63], [64,63],"
             "  [65,64] ], [ ['LOOP_HEAD_NODE_ID','LOOP_BACK_EDGE_SOURCE_NODE_IDS',"
             "  'LOOP_NODE_IDS','PARENT_LOOP_HEAD_NODE_ID'],"
             "  [133, [139,147], [133,134,135,136,137,138,139,145,146,147] ],"
             "  [145, [145], [145], 133], [137, [138], [137,138], 133] ] ] ]}]]}]]}");
    struct dcfg *graph = read_good(text);
    const struct dcfg_process *process = graph->processes[0];
    CU_ASSERT_EQUAL_FATAL(process->routine_count, 2);
    CU_ASSERT_EQUAL(process->routines[0].nodes.count, 4);
    CU_ASSERT_EQUAL(process->routines[0].loops.count, 0);
    CU_ASSERT_EQUAL(process->nodes[process->routines[1].nodes.first].dominator, 65);
    CU_ASSERT_EQUAL_FATAL(process->routines[1].loops.count, 3);
    const struct dcfg_loop *loops = &process->loops[process->routines[1].loops.first];
    CU_ASSERT(loops[0].head == 133 && loops[0].parent == 0 && loops[0].nodes.count == 10);
    CU_ASSERT(loops[1].head == 145 && loops[1].parent == 133 && loops[1].nodes.count == 1);
    CU_ASSERT(loops[2].parent == 133 && process->ids[loops[2].back_edges.first] == 138);
    dcfg_free(graph);
}

#define EDGES_HEADER                                                                               \
    "['EDGE_ID','SOURCE_NODE_ID','TARGET_NODE_ID','EDGE_TYPE_ID','COUNT_PER_THREAD']"

/* 2.16; the edges precede the tables of their types and nodes. */
static void test_edges(void)
{
    struct dcfg *graph = read_good(
        "{" VERSION "'PROCESSES' : [ ['PROCESS_DATA','PROCESS_ID'],"
        "[ {'EDGES' : [ " EDGES_HEADER ", [4810,1683,3002,16,[0,0,1,1,1,0]],"
        "   [3460,1597,1598,18,[1,0,0,0,0,0]], [953,1597,1599,13,[7,0,0,0,0,0]] ],"
        "  'IMAGES' : [ ['IMAGE_DATA','IMAGE_ID','SIZE','LOAD_ADDR'],"
        "   [ {'BASIC_BLOCKS' : [ " BLOCKS_HEADER ", [1683,1,1,1,0], [3002,2,1,1,0],"
        "     [1597,3,1,1,0], [1598,4,1,1,0], [1599,5,1,1,0] ]}, 1, 10, 0 ] ]}, 1 ] ]," TYPES NODES
        "'X' : [] }");
    const struct dcfg_process *process = graph->processes[0];
    CU_ASSERT_EQUAL_FATAL(process->edges.count, 3);
    CU_ASSERT_EQUAL(process->threads, 6);
    CU_ASSERT_EQUAL(process->edges.types[0], DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH);
    CU_ASSERT_EQUAL(process->edges.types[1], DCFG_EDGE_FALL_THROUGH);
    CU_ASSERT_EQUAL(dcfg_find_edge(process, 953), 2);
    struct dcfg_counts counts = dcfg_edge_counts(process, 0);
    CU_ASSERT(dcfg_counts_next(&counts) && counts.thread == 2 && counts.count == 1);
    CU_ASSERT(dcfg_counts_next(&counts) && counts.thread == 3);
    CU_ASSERT(dcfg_counts_next(&counts) && counts.thread == 4);
    CU_ASSERT(!dcfg_counts_next(&counts));
    dcfg_free(graph);
}

/* --- invalid files ---------------------------------------------------------------------------- */

#define EDGE_FILE(edge)                                                                            \
    "{" VERSION TYPES NODES PROCESS("{'EDGES' : [ " EDGES_HEADER ", " edge " ]}") "}"
#define BLOCK_FILE(rows)                                                                           \
    "{" VERSION NODES PROCESS(IMAGE("{'BASIC_BLOCKS' : [ " BLOCKS_HEADER ", " rows " ]}")) "}"

static const struct {
    const char *text, *message;
} bad[] = {
    {"[]", "'[' where an object is expected"},
    {"{}", "MAJOR_VERSION is missing"},
    {"{" VERSION "'MINOR_VERSION':0}",
     "MINOR_VERSION (line 1, offset 57): duplicate key \"MINOR_VERSION\""},
    {"{" VERSION "'PROCESSES':[['PROCESS_ID','TRACE']]}", "lacks the column PROCESS_DATA"},
    {"{" VERSION "'PROCESSES':[['PROCESS_ID','PROCESS_ID']]}",
     "PROCESSES[0][1] (line 1, offset 81): duplicate column PROCESS_ID"},
    {"{" VERSION "'FILE_NAMES':[['FILE_NAME_ID','FILE_NAME'],[1]]}",
     "the row ends before FILE_NAME"},
    {"{" VERSION "'FILE_NAMES':[['FILE_NAME_ID','FILE_NAME'],[0,'x']]}",
     "FILE_NAMES[1][0] (line 1, offset 87): 0 where an integer from 1 to 2147483647"},
    {"{" VERSION "'FILE_NAMES':[['FILE_NAME_ID','FILE_NAME'],['0x80000000','x']]}",
     "2147483648 where an integer"},
    {"{" VERSION "'FILE_NAMES':[['FILE_NAME_ID','FILE_NAME'],[7,'x'],[8,'y'],[7,'z']]}",
     "x.json: FILE_NAMES[3]: duplicate id 7"},
    {"{" VERSION "'FILE_NAMES':[['FILE_NAME_ID','FILE_NAME'],[7,'x\\u0000y']]}", "NUL"},
    {"{" VERSION "'SPECIAL_NODES':[['NODE_ID','NODE_NAME'],[1,'START'],[1,'END']]}",
     "SPECIAL_NODES[2] (line 1"},
    {"{" VERSION "'EDGE_TYPES':[['EDGE_TYPE_ID','EDGE_TYPE'],[1,'EXIT'],[1,'CALL']]}",
     "duplicate edge type id 1"},
    {EDGE_FILE("[5,1,2,18,[1]],[5,1,2,18,[1]]"),
     "x.json: PROCESSES[1][1].EDGES[2]: duplicate edge id 5"},
    {EDGE_FILE("[5,1,2,18,[1]],[6,1,99,18,[1]]"),
     "PROCESSES[1][1].EDGES[2]: edge 6 leads to node 99"},
    {EDGE_FILE("[5,98,99,18,[1]]"), "PROCESSES[1][1].EDGES[1]: edge 5 comes from node 98"},
    {EDGE_FILE("[5,1,2,18,[1]],[6,1,2,3,[1]]"),
     "PROCESSES[1][1].EDGES[2]: there is no edge type with the id 3"},
    {EDGE_FILE("[5,1,2,18,[1.5]]"), "EDGES[1][4][0] (line 1"},
    {EDGE_FILE("[5,1,2,18,[-1]]"), "-1 where an integer"},
    {EDGE_FILE("[5,1,2,18,[1],[2]"), "EDGES[1] (line 1, offset 435): '}' where ',' or ']'"},
    {EDGE_FILE("[5,1,2,18]"), "the row ends before COUNT_PER_THREAD"},
    {EDGE_FILE("[5,1,2,18,[18446744073709551616]]"), "more than 64 bits"},
    {BLOCK_FILE("[4,1,1,1,0],[4,2,1,1,0]"),
     "PROCESSES[1][1].IMAGES[1][3].BASIC_BLOCKS[2]: duplicate node id 4"},
    {BLOCK_FILE("[2,1,1,1,0]"), "BASIC_BLOCKS[1]: the node id 2 is the special node END's"},
    {BLOCK_FILE("[4,1,4294967296,1,0]"), "4294967296 where an integer from 0 to 4294967295"},
    {BLOCK_FILE("[4,1,1,1,0,'0xffffffffffffffff']"), "where an integer from 0 to"},
    {"{" VERSION PROCESS(IMAGE("{'FILE_NAME_ID':3}")) "}",
     "PROCESSES[1][1].IMAGES[1]: there is no file name with the id 3"},
    {"{" VERSION PROCESS(IMAGE("{'SYMBOLS':[],'SYMBOLS':[]}")) "}", "IMAGES[1][3].SYMBOLS (line 1"},
    {"{" VERSION PROCESS(IMAGE("{'SYMBOLS':{}}")) "}", "'{' where an array is expected"},
    {"{" VERSION PROCESS(IMAGE("{'SOURCE_DATA':[['FILE_NAME_ID','LINE_NUM','ADDR_OFFSET','SIZE',"
                               "'NUM_INSTRS'],[9,1,2,3,4]]}")) "}",
     "IMAGES[1][3].SOURCE_DATA[1]: there is no file name with the id 9"},
    {"{" VERSION PROCESS(IMAGE("{'ROUTINES':[['ENTRY_NODE_ID','EXIT_NODE_IDS','NODES'],"
                               "[4,[],[]]]}")) "}",
     "IMAGES[1][3].ROUTINES[1]: there is no basic block with the id 4"},
    {"{" VERSION PROCESS(IMAGE("{'BASIC_BLOCKS' : [ " BLOCKS_HEADER ",[4,1,1,1,0]],"
                               "'ROUTINES':[['ENTRY_NODE_ID','NODES','EXIT_NODE_IDS'],"
                               "[4,[['NODE_ID','IDOM_NODE_ID'],[4,4],[4,7]],[]]]}")) "}",
     "ROUTINES[1][1][2]: there is no basic block with the id 7"},
    {"{" VERSION PROCESS(IMAGE("{'BASIC_BLOCKS' : [ " BLOCKS_HEADER ",[4,1,1,1,0]],"
                               "'ROUTINES':[['ENTRY_NODE_ID','EXIT_NODE_IDS','NODES','LOOPS'],"
                               "[4,[],[],[['LOOP_HEAD_NODE_ID','LOOP_BACK_EDGE_SOURCE_NODE_IDS',"
                               "'LOOP_NODE_IDS'],[4,[4],[4,8]]]]]}")) "}",
     "ROUTINES[1][3][1]: there is no basic block with the id 8"},
    {"{" VERSION "'X':1} 2", "data after the end"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bt_error error = {0};
        struct dcfg *graph = read_with(bad[i].text, NULL, &error);
        CU_ASSERT_PTR_NULL(graph);
        CU_ASSERT_EQUAL(error.code, BT_DATA);
        CU_ASSERT(strncmp(error.message, "x.json: ", 8) == 0);
        if (!strstr(error.message, bad[i].message)) {
            printf("\nwanted: %s\ngot:    %s\n", bad[i].message, error.message);
            CU_FAIL("another message");
        }
        dcfg_free(graph);
    }
}

static void test_limits(void)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error = {0};
    settings.graph.threads_max = 2;
    static const char threads[] = EDGE_FILE("[5,1,2,18,[1,2,3]]");
    CU_ASSERT_PTR_NULL(read_with(threads, &settings, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "more than 2 threads"));
    settings.graph.threads_max = 3;
    struct dcfg *graph = read_with(threads, &settings, &error);
    CU_ASSERT_PTR_NOT_NULL(graph);
    dcfg_free(graph);
    settings.graph.memory_max = 1000;
    CU_ASSERT_PTR_NULL(read_with(threads, &settings, &error));
    CU_ASSERT_EQUAL(error.code, BT_MEMORY);
}

/* A process needs little memory apart from its threads' counts, but there may be many processes. */
static void test_thread_memory(void)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error = {0};
    char *text = malloc(1 << 20);
    CU_ASSERT_FATAL(text != NULL);
    size_t size = (size_t)sprintf(text, "{" VERSION "'PROCESSES':[['PROCESS_ID','PROCESS_DATA']");
    for (unsigned process = 0; process < 50; process++) {
        size += (size_t)sprintf(text + size, ",[1,{'INSTR_COUNT_PER_THREAD':[0");
        for (unsigned thread = 1; thread < 5000; thread++)
            size += (size_t)sprintf(text + size, ",0");
        size += (size_t)sprintf(text + size, "]}]");
    }
    sprintf(text + size, "]}");
    settings.graph.memory_max = (uint64_t)1 << 20;
    CU_ASSERT_PTR_NULL(read_with(text, &settings, &error));
    CU_ASSERT_EQUAL(error.code, BT_MEMORY);
    settings.graph.memory_max = (uint64_t)3 << 20;
    struct dcfg *graph = read_with(text, &settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    CU_ASSERT(graph->memory > 50 * 5000 * 8 && graph->memory < 3 << 20);
    dcfg_free(graph);
    free(text);
}

/* --- random graphs ---------------------------------------------------------------------------- */

static void test_random(void)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t state = random_seed(seed);
        struct bt_error error = {0};
        size_t size;
        struct dcfg *graph = random_dcfg(&state, RANDOM_DCFG_ANY, 1 + (uint32_t)(seed % 12));
        char *text = random_dcfg_text(graph, &state, &size);
        struct dcfg *again = read_size(text, size, NULL, &error);
        if (!again)
            puts(error.message);
        CU_ASSERT_PTR_NOT_NULL_FATAL(again);
        CU_ASSERT_FATAL(random_dcfg_same(graph, again));
        dcfg_free(again);
        dcfg_free(graph);
        free(text);
    }
}

/* A file cut anywhere gives an error that says so. */
static void test_cut(void)
{
    uint64_t state = random_seed(77);
    struct dcfg *graph = random_dcfg(&state, RANDOM_DCFG_ANY, 3);
    size_t size;
    char *text = random_dcfg_text(graph, &state, &size);
    CU_ASSERT(size > 1000);
    unsigned wrong = 0;
    for (size_t cut = 0; cut < size; cut++) {
        struct bt_error error = {0};
        wrong += read_size(text, cut, NULL, &error) != NULL || error.code != BT_DATA;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free(text);
    dcfg_free(graph);
}

static const struct test_case cases[] = {
    {"tables follow their header", test_tables},
    {"the specification's overall example", test_whole_example},
    {"versions", test_versions},
    {"file names", test_file_names},
    {"edge types", test_edge_types},
    {"special nodes", test_special_nodes},
    {"processes", test_processes},
    {"images", test_images},
    {"symbols", test_symbols},
    {"source lines", test_lines},
    {"basic blocks", test_blocks},
    {"routines and loops", test_routines},
    {"edges", test_edges},
    {"errors are reported with their path", test_bad},
    {"limits", test_limits},
    {"threads count for the memory", test_thread_memory},
    {"random graphs, by a writer that uses every freedom", test_random},
    {"cut files", test_cut},
    {NULL, NULL}};
TEST_SUITE(dcfg_reader, cases)
