/* For a graph or trace that breaks one rule, this rule alone is reported; for valid ones, none. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_dcfg.h"
#include "tests/tools/dcfg/graph/check_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A change of the graph or trace, and the failure that it causes. */
struct breaking {
    const char *find;
    const char *replace;
    enum check_rule rule;
    const char *path;    /* of the failure */
    const char *message; /* a part of it */
    bool more;           /* it breaks other rules, too */
};

static bool is_expected(const struct check *check, const struct breaking *breaking)
{
    size_t kept;
    const struct check_failure *failures = check_failures(check, &kept);
    bool alone = true;
    bool found = false;
    for (size_t i = 0; i < kept; i++) {
        alone &= failures[i].rule == breaking->rule;
        found |= failures[i].rule == breaking->rule &&
                 strcmp(failures[i].path, breaking->path) == 0 &&
                 strstr(failures[i].message, breaking->message);
    }
    return found && (alone || breaking->more);
}

static void try_breaking(const struct breaking *breaking, bool in_trace)
{
    char *graph = in_trace
                      ? check_fixture_text(check_fixture_graph, NULL, NULL)
                      : check_fixture_text(check_fixture_graph, breaking->find, breaking->replace);
    char *trace = in_trace
                      ? check_fixture_text(check_fixture_trace, breaking->find, breaking->replace)
                      : NULL;
    struct check *check = check_fixture_run(graph, trace);
    if (!is_expected(check, breaking)) {
        size_t kept;
        const struct check_failure *failures = check_failures(check, &kept);
        fprintf(stderr, "\"%s\" for \"%s\":\n", breaking->replace, breaking->find);
        for (size_t i = 0; i < kept; i++)
            fprintf(stderr, "  %s: %s (%s)\n", failures[i].path, failures[i].message,
                    check_rule_row(failures[i].rule)->name);
        CU_FAIL("reports the broken rule and no other");
    }
    check_free(check);
    free(graph);
    free(trace);
}

#define PROCESS "PROCESSES[1][1]"
#define IMAGE   PROCESS ".IMAGES[1][3]"
/* A table of a bus: UNIT, MODEL, FETCHES and the counts after it, the first of NOISE_BITS, and the
 * rows of the first blocks. */
#define BUS(unit, model, counts, bits, rows)                                                       \
    " 'BUSTAP_BUS': {'UNIT': '" unit "', 'MODEL': '" model "', 'MODEL_FROM': 'capture', "          \
    "'FETCHES': " counts ", 'NOISE_BITS': [" bits                                                  \
    ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, " \
    "0], 'BLOCKS': [['NODE_ID', 'CERTAIN', 'UNEXPLAINED', 'FETCHES'], " rows                       \
    ", [9, 1, 0, 1], [5, 1, 0, 1], [6, 1, 0, 1], [7, 1, 0, 1], [8, 1, 0, 1]]}, 'FILE_NAMES'"
#define BUS_COUNTS                                                                                 \
    "9, 'REPEATED': 9, 'PREFETCHED': 9, 'NOISE': 9, 'UNEXPLAINED': 4, 'IN_NO_IMAGE': 5, "          \
    "'SAMPLE': 9, 'SAMPLE_UNEXPLAINED': 9"
#define BUS_ROWS(rows) BUS("instruction", "chunk=8", BUS_COUNTS, "9", rows)

static const struct breaking graph_breakings[] = {
    /* 1.1 to 1.2.5, and ids */
    {"[1, 'program'],", "[1, 'program'],,", CHECK_FORMAT, "", "FILE_NAMES", false},
    {"[2, 'program.c']", "[1, 'program.c']", CHECK_FORMAT, "", "FILE_NAMES[2]", false},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1]],", CHECK_FORMAT, "", "EDGES", false},
    {"'FILE_NAME_ID': 1", "'FILE_NAME_ID': 3", CHECK_FORMAT, "", "no file name", false},
    {"[2, 10,", "[3, 10,", CHECK_FORMAT, "", "no file name", false},
    {"'LAST_INSTR_OFFSET'", "'LAST_OFFSET'", CHECK_FORMAT, "", "LAST_INSTR_OFFSET", false},
    {"'MAJOR_VERSION': 1", "'MAJOR_VERSION': 2", CHECK_FORMAT, "", "version 2", false},
    {"'MINOR_VERSION': 0", "'MAJOR_VERSION': 1", CHECK_FORMAT, "", "duplicate key", false},
    {"[11, 6, 2, 2,", "[10, 6, 2, 2,", CHECK_FORMAT, "", "duplicate edge id", false},
    {"[11, 6, 2, 2,", "[0, 6, 2, 2,", CHECK_FORMAT, "", "EDGES[11][0]", false},
    {"[11, 6, 2, 2,", "[2147483648, 6, 2, 2,", CHECK_FORMAT, "", "EDGES[11][0]", false},
    {"[11, 6, 2, 2,", "[11, 6, 99, 2,", CHECK_FORMAT, "", "EDGES[11]", false},
    {"[11, 6, 2, 2,", "[11, 6, 2, 3,", CHECK_FORMAT, "", "no edge type", false},
    {"[9, '0x109'", "[4, '0x109'", CHECK_FORMAT, "", "duplicate node id", false},
    {"[9, '0x109'", "[3, '0x109'", CHECK_FORMAT, "", "special node", false},
    {"[5, 9]", "[5, 99]", CHECK_FORMAT, "", "99", false},
    /* 2.3 to 2.12 */
    {"'MINOR_VERSION': 0", "'OTHER': 0", CHECK_VERSION, "MINOR_VERSION", "missing", false},
    {"'MINOR_VERSION': 0", "'MINOR_VERSION': 100", CHECK_VERSION, "MINOR_VERSION", "100", false},
    {"'UNKNOWN']],\n 'SPECIAL", "'HOP']],\n 'SPECIAL", CHECK_EDGE_TYPE_NAMES, "EDGE_TYPES[9]",
     "HOP", false},
    {"'UNKNOWN']],\n 'SPECIAL", "'REP']],\n 'SPECIAL", CHECK_EDGE_TYPE_NAMES, "EDGE_TYPES[9]",
     "occurs twice", false},
    {"[3, 'UNKNOWN']", "[3, 'MIDDLE']", CHECK_SPECIAL_NAMES, "SPECIAL_NODES[3]", "MIDDLE", false},
    {"[77, {\n", "[77, {'INSTR_COUNT': 0, 'INSTR_COUNT_PER_THREAD': []}], [77, {\n",
     CHECK_PROCESS_IDS, "PROCESSES", "77", false},
    {"'INSTR_COUNT': 32", "'OTHER': 32", CHECK_COUNTS_TOLD, PROCESS ".INSTR_COUNT", "missing",
     false},
    {"'INSTR_COUNT_PER_THREAD'", "'OTHER'", CHECK_COUNTS_TOLD, PROCESS ".INSTR_COUNT_PER_THREAD",
     "missing", false},
    {"'INSTR_COUNT': 32", "'INSTR_COUNT': 33", CHECK_COUNTS_SUM, PROCESS ".INSTR_COUNT", "32",
     false},
    {"[1, '0x400000', 4096, {\n", "[1, '0x800000', 1, {}], [1, '0x400000', 4096, {\n",
     CHECK_IMAGE_IDS, PROCESS ".IMAGES", "1", false},
    {"[1, '0x400000', 4096, {\n", "[1, '0xfffffffffffff001', 4096, {\n", CHECK_IMAGE_RANGE,
     PROCESS ".IMAGES[1]", "address space", false},
    {"'0x100', 20]", "'0x100', 3841]", CHECK_SYMBOL_RANGE, IMAGE ".SYMBOLS[1]", "main", false},
    {"'0x100', 20]", "'0xffffffffffffffff', 20]", CHECK_SYMBOL_RANGE, IMAGE ".SYMBOLS[1]", "main",
     false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0xff8', 9, 2]", CHECK_LINE_RANGE, IMAGE ".SOURCE_DATA[1]",
     "9 bytes", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x100', 9, 10]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "10 instructions", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x100', 9, 0]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "0 instructions", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x100', 9, 3]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "2 to 2", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x104', 13, 3]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "4 to 4", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x106', 5, 1]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "begins within an instruction", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x201', 2, 1]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "begins within an instruction", false},
    {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x200', 9, 8]", CHECK_LINE_INSTRUCTIONS,
     IMAGE ".SOURCE_DATA[1]", "3 to 7", false},
    /* 2.13 */
    {"4096, {\n", "516, {\n", CHECK_BLOCK_RANGE, IMAGE ".BASIC_BLOCKS[6]", "516", false},
    {"[4, '0x100', 9, 2, 4, 3]", "[4, '0x100', 9, 2, 9, 3]", CHECK_BLOCK_INSTRUCTIONS,
     IMAGE ".BASIC_BLOCKS[1]", "block 4", false},
    {"[4, '0x100', 9, 2, 4, 3]", "[4, '0x100', 9, 2, 0, 3]", CHECK_BLOCK_INSTRUCTIONS,
     IMAGE ".BASIC_BLOCKS[1]", "block 4", false},
    {"[6, '0x111', 1, 1, 0, 2]", "[6, '0x111', 2, 1, 1, 2]", CHECK_BLOCK_INSTRUCTIONS,
     IMAGE ".BASIC_BLOCKS[4]", "block 6", false},
    {"[8, '0x204', 1, 1, 0, 3]", "[8, '0x204', 0, 1, 0, 3]", CHECK_BLOCK_INSTRUCTIONS,
     IMAGE ".BASIC_BLOCKS[6]", "block 8", false},
    {"[4, '0x100', 9, 2, 4, 3]", "[4, '0x107', 4, 2, 2, 3]", CHECK_BLOCK_OVERLAP,
     IMAGE ".BASIC_BLOCKS[2]", "block 9", false},
    {"[4, '0x100', 9, 2, 4, 3]", "[4, '0x109', 9, 2, 2, 3]", CHECK_BLOCK_OVERLAP,
     IMAGE ".BASIC_BLOCKS[1]", "block 9 begins, too", false},
    {"[6, '0x111', 1, 1, 0, 2]", "[6, '0x201', 1, 1, 0, 2]", CHECK_BLOCK_OVERLAP,
     IMAGE ".BASIC_BLOCKS[4]", "where block 7 has not ended", true},
    {"[6, '0x111', 1, 1, 0, 2]", "[6, '0x204', 1, 1, 0, 2]", CHECK_BLOCK_OVERLAP,
     IMAGE ".BASIC_BLOCKS[6]", "where block 6 begins, too", true},
    {"[8, '0x204', 1, 1, 0, 3]", "[8, '0xff', 4, 1, 0, 3]", CHECK_BLOCK_OVERLAP,
     IMAGE ".BASIC_BLOCKS[1]", "where block 8 has not ended", true},
    {"[8, '0x204', 1, 1, 0, 3]", "[8, '0x204', 1, 1, 0, 4]", CHECK_BLOCK_COUNT,
     IMAGE ".BASIC_BLOCKS[6]", "block 8", false},
    {"[8, '0x204', 1, 1, 0, 3]", "[8, '0x204', 1, 1, 0, 3], [10, '0x300', 1, 1, 0]",
     CHECK_BLOCK_EXECUTED, IMAGE ".BASIC_BLOCKS[7]", "block 10", true},
    /* 2.14 */
    {"[6, 5]],\n", "[6, 5], [8, 5]],\n", CHECK_ROUTINE_NODES, IMAGE ".ROUTINES[2][2][2]", "block 8",
     true},
    {"[7, 7], [8, 7]", "[7, 7], [7, 7], [8, 7]", CHECK_ROUTINE_NODES, IMAGE ".ROUTINES[2][2][2]",
     "block 7", false},
    {"[1, '0x400000', 4096, {\n",
     "[2, '0x800000', 4096, {'ROUTINES': [['ENTRY_NODE_ID', 'EXIT_NODE_IDS', 'NODES'], [7, [8], "
     "[['NODE_ID', 'IDOM_NODE_ID'], [7, 7], [8, 7]]]]}], [1, '0x400000', 4096, {\n",
     CHECK_ROUTINE_IMAGE, PROCESS ".IMAGES[1][3].ROUTINES[1][2][1]", "another image", true},
    {"[7, [8], [['NODE_ID'", "[8, [8], [['NODE_ID'", CHECK_ROUTINE_ENTRY, PROCESS ".EDGES[2]",
     "block 7", true},
    {"[5, 7, 8, 18, [2, 1]]", "[5, 7, 8, 4, [2, 1]]", CHECK_ROUTINE_ENTRY, PROCESS ".EDGES[5]",
     "block 8", true},
    {"[4, [6], [[", "[4, [6, 6], [[", CHECK_ROUTINE_EXITS, IMAGE ".ROUTINES[1]", "twice", false},
    {"[4, [6], [[", "[4, [6, 5], [[", CHECK_ROUTINE_EXITS, IMAGE ".ROUTINES[1]", "no edge", false},
    {"[4, [6], [[", "[4, [6, 8], [[", CHECK_ROUTINE_EXITS, IMAGE ".ROUTINES[1]", "none of its",
     false},
    {"[4, [6], [[", "[4, [], [[", CHECK_ROUTINE_EXITS, IMAGE ".ROUTINES[1]", "block 6", false},
    {"[5, 9]", "[5, 4]", CHECK_DOMINATORS, IMAGE ".ROUTINES[1][2][3]", "block 5 is 9", false},
    {"[7, 7], [8, 7]", "[7, 8], [8, 7]", CHECK_DOMINATORS, IMAGE ".ROUTINES[2][2][1]", "block 7",
     false},
    /* 2.15 */
    {"[9, [9], [9], 4]", "[5, [9], [9], 4]", CHECK_LOOP_HEADS, IMAGE ".ROUTINES[1][3][2]",
     "block 5", false},
    {"[9, [9], [9], 4]", "[9, [9], [9], 4], [9, [9], [9], 4]", CHECK_LOOP_HEADS,
     IMAGE ".ROUTINES[1][3][3]", "of another loop already", false},
    {", [9, [9], [9], 4]", "", CHECK_LOOP_HEADS, IMAGE ".ROUTINES[1]", "block 9 is missing", false},
    {"[9, [9], [9], 4]", "[7, [9], [9], 4]", CHECK_LOOP_HEADS, IMAGE ".ROUTINES[1][3][2]",
     "not in this routine", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [5, 9], [4, 9, 5], 0]", CHECK_LOOP_BACK_EDGES,
     IMAGE ".ROUTINES[1][3][1]", "block 9", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [5, 5], [4, 9, 5], 0]", CHECK_LOOP_BACK_EDGES,
     IMAGE ".ROUTINES[1][3][1]", "twice", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [], [4, 9, 5], 0]", CHECK_LOOP_BACK_EDGES,
     IMAGE ".ROUTINES[1][3][1]", "missing", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [5], [4, 9, 5, 6], 0]", CHECK_LOOP_NODES,
     IMAGE ".ROUTINES[1][3][1]", "block 6", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [5], [4, 9, 5, 4], 0]", CHECK_LOOP_NODES,
     IMAGE ".ROUTINES[1][3][1]", "twice", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [5], [4, 5], 0]", CHECK_LOOP_NODES, IMAGE ".ROUTINES[1][3][1]",
     "block 9 is missing", false},
    {"[9, [9], [9], 4]", "[9, [9], [9], 0]", CHECK_LOOP_PARENTS, IMAGE ".ROUTINES[1][3][2]",
     "block 4", false},
    {"[4, [5], [4, 9, 5], 0]", "[4, [5], [4, 9, 5], 9]", CHECK_LOOP_PARENTS,
     IMAGE ".ROUTINES[1][3][1]", "block 9", false},
    /* 2.5, 2.6 and 2.16 */
    {"[1, 1, 4, 1, [1, 1]]", "[1, 1, 4, 26, [1, 1]]", CHECK_EDGE_ENDS, PROCESS ".EDGES[1]",
     "UNKNOWN", false},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 26, [1, 1]]", CHECK_EDGE_ENDS, PROCESS ".EDGES[11]",
     "UNKNOWN", false},
    {"[9, 5, 4, 13, [1, 0]]", "[9, 5, 4, 1, [1, 0]]", CHECK_EDGE_ENDS, PROCESS ".EDGES[9]", "ENTRY",
     true},
    {"[10, 5, 6, 18,", "[10, 5, 6, 17,", CHECK_EDGE_ADDRESSES, PROCESS ".EDGES[10]", "REP", true},
    {"[4, '0x100', 9, 2, 4, 3]", "[4, '0x100', 10, 2, 4, 3]", CHECK_EDGE_ADDRESSES,
     PROCESS ".EDGES[3]", "0x400109, within the last instruction of block 4", true},
    {"[9, 5, 4, 13, [1, 0]]", "[9, 5, 4, 18, [1, 0]]", CHECK_EDGE_ADDRESSES, PROCESS ".EDGES[9]",
     "FALL_THROUGH", false},
    {"[10, 5, 6, 18,", "[10, 5, 6, 13,", CHECK_EDGE_ADDRESSES, PROCESS ".EDGES[10]", "directly",
     false},
    {"'DIRECT_CONDITIONAL_BRANCH'", "'DIRECT_UNCONDITIONAL_BRANCH'", CHECK_EDGE_KINDS,
     PROCESS ".EDGES[5]", "FALL_THROUGH out of block 7, and edge 4", false},
    {"'DIRECT_CONDITIONAL_BRANCH'", "'INDIRECT_UNCONDITIONAL_BRANCH'", CHECK_EDGE_KINDS,
     PROCESS ".EDGES[10]", "INDIRECT_UNCONDITIONAL_BRANCH", false},
    {"'DIRECT_CONDITIONAL_BRANCH'", "'RETURN'", CHECK_EDGE_KINDS, PROCESS ".EDGES[5]", "RETURN",
     true},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1]], [12, 4, 7, 5, [0, 0]]", CHECK_FORMAT, "",
     "no edge type", false},
    {"[5, 7, 8, 18, [2, 1]]", "[5, 7, 8, 18, [2, 1]], [12, 4, 7, 6, [0, 0]]", CHECK_EDGE_KINDS,
     PROCESS ".EDGES[6]", "RETURN out of block 4, and edge 2", true},
    {"[10, 5, 6, 18, [1, 1]]", "[10, 5, 6, 18, [1, 0]], [12, 5, 6, 18, [0, 1]]", CHECK_EDGE_TWICE,
     PROCESS ".EDGES[11]", "edge 12 is edge 10", false},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1]], [12, 6, 8, 6, [0, 0]]", CHECK_EDGE_TAKEN,
     PROCESS ".EDGES[12]", "no thread", false},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1]], [12, 5, 6, 7, [0, 0]]", CHECK_EDGE_TAKEN,
     PROCESS ".EDGES[12]", "bypasses", true},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1, 0]]", CHECK_EDGE_THREADS, PROCESS ".EDGES",
     "3 counts", false},
    {"[9, 5, 4, 13, [1, 0]]", "[9, 5, 4, 13, [1]]", CHECK_EDGE_THREADS, PROCESS ".EDGES[9]",
     "1 counts", false},
    {"[7, 9, 9, 17, [2, 0]]", "[7, 9, 9, 17, [1, 1]]", CHECK_INSTRUCTIONS,
     PROCESS ".INSTR_COUNT_PER_THREAD[0]", "22", false},
    {"[8, 9, 5, 18, [2, 1]]", "[8, 9, 5, 18, [3, 0]]", CHECK_FLOW, IMAGE ".BASIC_BLOCKS[2]",
     "enters block 9 4 times and leaves it 5 times", true},
    {"[4, 7, 7, 13, [2, 0]]", "[4, 7, 7, 13, [18446744073709551615, 0]]", CHECK_FLOW,
     IMAGE ".BASIC_BLOCKS[5]", "counted", true},
    {"[1, 1, 4, 1, [1, 1]]", "[1, 1, 4, 1, [2, 0]]", CHECK_ENTRY_EXIT,
     PROCESS ".INSTR_COUNT_PER_THREAD[0]", "entered 2 times and left 1 times", true},
    {"[4, 7, 7, 13, [2, 0]]", "[4, 7, 7, 13, [2, 0]], [12, 3, 7, 26, [1, 0]]", CHECK_SPECIAL_NAMES,
     PROCESS ".EDGES[5]", "neither", true},
    {"[1, 1, 4, 1, [1, 1]]", "[1, 1, 4, 1, [1, 1]], [12, 2, 4, 26, [1, 0]]", CHECK_EDGE_ENDS,
     PROCESS ".EDGES[2]", "from END", true},
    {"[1, 1, 4, 1, [1, 1]]", "[1, 1, 4, 1, [1, 1]], [12, 5, 1, 26, [1, 0]]", CHECK_EDGE_ENDS,
     PROCESS ".EDGES[2]", "to START", true},
    {"[1, 1, 4, 1, [1, 1]]", "[1, 1, 4, 1, [1, 1]], [12, 4, 8, 4, [0, 1]]", CHECK_ROUTINE_ENTRY,
     PROCESS ".EDGES[2]", "at block 8", true},
    {"[5, 7, 8, 18, [2, 1]]", "[5, 7, 8, 6, [2, 1]]", CHECK_ROUTINE_REACHED,
     IMAGE ".ROUTINES[2][2][2]", "block 8", true},
    {"[7, [8], [['NODE_ID'", "[9, [8], [['NODE_ID'", CHECK_ROUTINE_ENTRY, IMAGE ".ROUTINES[2]",
     "not among", true},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1]], [12, 9, 6, 26, [1, 0]]", CHECK_DOMINATORS,
     IMAGE ".ROUTINES[1][2][4]", "block 6 is 9", true},
    {"[6, '0x111', 1, 1, 0, 2]", "[6, '0x111', 1, 0, 0, 2]", CHECK_BLOCK_INSTRUCTIONS,
     IMAGE ".BASIC_BLOCKS[4]", "without", true},
    {"[8, '0x204', 1, 1, 0, 3]],\n", "[8, '0x204', 1, 1, 0, 3], [10, '0x300', 1, 1, 0]],\n",
     CHECK_ROUTINE_NODES, IMAGE ".BASIC_BLOCKS[7]", "in no routine", true},
    {"[11, 6, 2, 2, [1, 1]]", "[11, 6, 2, 2, [1, 1]], [12, 9, 9, 13, [0, 1]]", CHECK_INSTRUCTIONS,
     PROCESS ".INSTR_COUNT_PER_THREAD[1]", "have 10", true},
    {" 'FILE_NAMES'", BUS("furlong", "chunk=8", BUS_COUNTS, "9", "[4, 1, 1, 1]"), CHECK_FORMAT, "",
     "UNIT is neither instruction nor chunk", false},
    {" 'FILE_NAMES'", BUS("instruction", "chunk=8", "9", "9", "[4, 1, 1, 1]"), CHECK_FORMAT, "",
     "has no REPEATED", false},
    {" 'FILE_NAMES'", BUS("instruction", "chunk=8", BUS_COUNTS, "9, 9", "[4, 1, 1, 1]"),
     CHECK_FORMAT, "", "has not 32 counts", false},
    {" 'FILE_NAMES'", " 'BUSTAP_BUS': {'NOISE_BITS': [9]}, 'FILE_NAMES'", CHECK_FORMAT, "",
     "has not 32 counts", false},
    {" 'FILE_NAMES'", BUS("instruction", "chunk=9", BUS_COUNTS, "9", "[4, 1, 1, 1]"),
     CHECK_BUS_MODEL, "BUSTAP_BUS.MODEL", "'chunk=9'", false},
    {" 'FILE_NAMES'", BUS("instruction", "noise", BUS_COUNTS, "9", "[4, 1, 1, 1]"), CHECK_BUS_MODEL,
     "BUSTAP_BUS.MODEL", "size of a chunk", false},
    {" 'FILE_NAMES'", BUS("instruction", "chunk=8", BUS_COUNTS, "10", "[4, 1, 1, 1]"),
     CHECK_BUS_FETCHES, "BUSTAP_BUS.NOISE_BITS[0]", "10 is above NOISE, 9", false},
    {" 'FILE_NAMES'", BUS("chunk", "chunk=8", BUS_COUNTS, "9", "[4, 1, 1, 1]"), CHECK_BUS_FETCHES,
     "BUSTAP_BUS.UNIT", "32 is above FETCHES, 9", false},
    {" 'FILE_NAMES'", BUS_ROWS("[4, 1, 1, 10]"), CHECK_BUS_FETCHES, "BUSTAP_BUS.BLOCKS[1]",
     "10 is above FETCHES, 9", false},
    {" 'FILE_NAMES'", BUS_ROWS("[4, 1, 1, 1], [10, 0, 0, 0]"), CHECK_BUS_BLOCKS,
     "BUSTAP_BUS.BLOCKS[2]", "10 is not a block", false},
    {" 'FILE_NAMES'", BUS_ROWS("[4, 1, 1, 1], [4, 0, 0, 0]"), CHECK_BUS_BLOCKS,
     "BUSTAP_BUS.BLOCKS[2]", "block 4 occurs twice", false},
    {" 'FILE_NAMES'", BUS_ROWS("[5, 1, 1, 1]"), CHECK_BUS_BLOCKS, "BUSTAP_BUS.BLOCKS",
     "block 4 has no row", true},
    {" 'FILE_NAMES'", BUS_ROWS("[4, 2, 2, 1]"), CHECK_BUS_COUNTS, "BUSTAP_BUS.BLOCKS[1]",
     "2 certain and 2 unexplained executions, and its count is 3", false},
    {" 'FILE_NAMES'", BUS_ROWS("[4, 3, 18446744073709551615, 1]"), CHECK_BUS_COUNTS,
     "BUSTAP_BUS.BLOCKS[1]", "count is 3", false},
    {"[23, 9]", "[22, 10]", CHECK_INSTRUCTIONS, PROCESS ".INSTR_COUNT_PER_THREAD[0]", "23", false},
    {NULL, NULL, CHECK_RULES, NULL, NULL, false}};

static void test_graph_rules(void)
{
    for (const struct breaking *breaking = graph_breakings; breaking->find; breaking++)
        try_breaking(breaking, false);
}

static const struct breaking trace_breakings[] = {
    {"'MAJOR_VERSION': 1, 'MINOR_VERSION': 0", "'MINOR_VERSION': 0, 'MAJOR_VERSION': 1",
     CHECK_TRACE_FORMAT, "", "order", false},
    {", 'MINOR_VERSION': 0", "", CHECK_TRACE_FORMAT, "", "order", false},
    {"'STRING_DICTIONARY', 'TRANSITION_TABLE'", "'TRANSITION_TABLE', 'STRING_DICTIONARY'",
     CHECK_TRACE_FORMAT, "", "TRANSITION_TABLE must come after STRING_DICTIONARY", false},
    {"'CURRENT_EDGE_ID', 'TRANSITION_CODE'", "'TRANSITION_CODE', 'CURRENT_EDGE_ID'",
     CHECK_TRACE_FORMAT, "", "TRANSITION_CODE must come after", false},
    {"'PRECEDING_INSTR_COUNT', 'INSTR_COUNT'", "'INSTR_COUNT', 'PRECEDING_INSTR_COUNT'",
     CHECK_TRACE_FORMAT, "", "must come after", false},
    {"{'a': 'X'}", "{'a': 'X', '.': 'A'}", CHECK_TRACE_FORMAT, "", "keys", false},
    {"{'a': 'X'}", "{'a': 'X', 'a': 'A'}", CHECK_TRACE_FORMAT, "", "duplicate key", false},
    {"{'a': 'X'}", "{'a': '<a>'}", CHECK_TRACE_FORMAT, "", "STRING_DICTIONARY", false},
    {"{'a': 'X'}", "{'a': '.'}", CHECK_TRACE_FORMAT, "", "64th character is '-'", false},
    {"{'a': 'X'}", "{'a': '/'}", CHECK_TRACE_FORMAT, "", "64th character is '-'", false},
    {"'<a>'", "'<b>'", CHECK_TRACE_FORMAT, "", "b", false},
    {"'<a>'", "'(2*X'", CHECK_TRACE_FORMAT, "", "PROCESSES[1][3][1][1][2]", false},
    {"[2, '1', [5]]", "[2, '01', [5]]", CHECK_TRACE_FORMAT, "", "TRANSITION", false},
    {"[2, '1', [5]]", "[2, '1', []]", CHECK_TRACE_FORMAT, "", "NEXT_EDGE_IDS", false},
    {"[77, {'a'", "[78, {'a'", CHECK_TRACE_PROCESS, "PROCESSES[1]", "78", false},
    {"[2, '1', [5]]", "[2, '1', [5]], [99, '', [5]]", CHECK_TRACE_TABLE, "PROCESSES[1]", "99",
     false},
    {"[2, '1', [5]]", "[2, '1', [5]], [3, '', [99]]", CHECK_TRACE_TABLE, "PROCESSES[1]", "99",
     false},
    {"[2, '1', [5]]", "[2, '1', [5]], [3, '', [6]]", CHECK_TRACE_TABLE, "PROCESSES[1]",
     "begins elsewhere", false},
    {"[1, [['PRECEDING", "[2, [['PRECEDING", CHECK_TRACE_THREAD, "PROCESSES[1][3][2]", "thread 2",
     false},
    {"[1, [['PRECEDING", "[0, [['PRECEDING", CHECK_TRACE_THREAD, "PROCESSES[1][3][2]",
     "occurs twice", false},
    {"[9, 14, 10, 7, '<a>']", "[8, 14, 10, 7, '<a>']", CHECK_TRACE_ORDER,
     "PROCESSES[1][3][1][1][2]", "ends at 9", false},
    {"[9, 14, 10, 7, '<a>']", "[10, 14, 10, 7, '<a>']", CHECK_TRACE_ORDER,
     "PROCESSES[1][3][1][1][2]", "23", false},
    {"[0, 9, 6, 1, 'I'],", "[0, 7, 4, 4, 'I'],", CHECK_TRACE_ORDER, "PROCESSES[1][3][1][1][1]",
     "block 7", true},
    {"[9, 14, 10, 7, '<a>']", "[9, 14, 10, 8, '<a>']", CHECK_TRACE_FORMAT, "",
     "PROCESSES[1][3][1][1][2]", false},
    {"[9, 14, 10, 7, '<a>']", "[9, 12, 9, 9, '<a>']", CHECK_TRACE_EDGES, "PROCESSES[1][3][1][1][2]",
     "edge 9", false},
    {"[9, 14, 10, 7, '<a>']", "[9, 12, 9, 99, '']", CHECK_TRACE_EDGES, "PROCESSES[1][3][1][1][2]",
     "edge 99", false},
    {"[0, 9, 6, 1, 'I']", "[0, 8, 6, 1, 'I']", CHECK_TRACE_INSTRUCTIONS, "PROCESSES[1][3][1][1][1]",
     "8", false},
    {"[0, 9, 7, 1, '4']", "[0, 9, 4, 1, '4']", CHECK_TRACE_INSTRUCTIONS, "PROCESSES[1][3][2][1][1]",
     "have 5", false},
    {"[0, 9, 7, 1, '4']", "[0, 9, 8, 1, 'gA']", CHECK_TRACE_COUNTS, "PROCESSES[1][3][2][1]",
     "edge 7 4 times here and never", true},
    {"'<a>'", "'<a>A'", CHECK_TRACE_SEQUENCE, "PROCESSES[1][3][1][1][2]", "1 characters", false},
    {"[0, 9, 6, 1, 'I'],\n     [9, 14, 10, 7, '<a>']", "[0, 9, 7, 1, '4']", CHECK_TRACE_COUNTS,
     "PROCESSES[1][3][1][1]", "edge 4 0 times here and 2 times", false},
    {NULL, NULL, CHECK_RULES, NULL, NULL, false}};

static void test_trace_rules(void)
{
    for (const struct breaking *breaking = trace_breakings; breaking->find; breaking++)
        try_breaking(breaking, true);
}

/* An unreachable cycle conserves the flow at each node and the number of instructions. */
static void test_circle(void)
{
    char *once = check_fixture_text(check_fixture_graph, "[11, 6, 2, 2, [1, 1]]",
                                    "[11, 6, 2, 2, [1, 1]], [12, 10, 10, 17, [0, 1]]");
    char *graph = check_fixture_text(once, "[8, \"0x204\", 1, 1, 0, 3]",
                                     "[8, '0x204', 1, 1, 0, 3], [10, '0x300', 1, 1, 0, 1]");
    struct check *check = check_fixture_run(graph, NULL);
    const struct breaking breaking = {
        "", "", CHECK_CONNECTED, PROCESS ".EDGES[12]", "thread 1 took edge 12, and no way", true};
    CU_ASSERT(is_expected(check, &breaking));
    check_free(check);
    free(once);
    free(graph);
}

/* Well-formed random graphs: failures are kept up to the limit. */
static void test_anything(void)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        uint64_t random = random_seed(seed + 77);
        const struct check_settings settings = {
            .failures_max = seed % 9, .memory_max = 1 << 20, .trace_edges_max = 1};
        struct dcfg *graph = random_dcfg(&random, RANDOM_DCFG_ANY, 1 + (uint32_t)(seed % 40));
        struct check *check = check_new(&settings, NULL);
        size_t kept;
        CU_ASSERT_EQUAL(check_graph(check, graph, NULL), 0);
        check_failures(check, &kept);
        CU_ASSERT(check_total(check) < settings.failures_max ? kept == check_total(check)
                                                             : kept == settings.failures_max);
        CU_ASSERT(check_total(check) > 0 || check_summary(check)->edges == 0);
        check_free(check);
        dcfg_free(graph);
    }
}

/* Allowed, but rare: a call marked as an exit, missing optional parts, overlapping images, code
 * outside the graph. */
static void test_allowed(void)
{
    static const char *const changes[][2] = {
        {"[4, [6], [[", "[4, [4, 6], [["},
        {"'FILE_NAME_ID': 1,", ""},
        {"[8, '0x204', 1, 1, 0, 3]", "[8, '0x204', 1, 1, 0]"},
        {"'SYMBOLS'", "'OTHER'"},
        {"'ROUTINES'", "'OTHER'"},
        {"'EDGES'", "'OTHER'"},
        {"[1, '0x400000', 4096, {\n", "[0, '0x400000', 4096, {}], [1, '0x400000', 4096, {\n"},
        {"[26, 'UNKNOWN']", "[26, 'UNKNOWN'], [27, 'INTERRUPT']"},
        {"'0x109'", "265"},
        {" 'FILE_NAMES'", BUS_ROWS("[4, 2, 1, 1]")},
        {"[2, 10, '0x100', 9, 2]", "[2, 10, '0x100', 9, 2], [2, 11, '0x104', 19, 6]"},
        {"[2, 10, '0x100', 9, 2]", "[2, 10, '0xf0', 30, 15]"}, /* 12 in 16 bytes without a block */
        {"[6, '0x111', 1, 1, 0, 2]", "[6, '0x111', 3, 1, 0, 2]"},
        {"[9, [9], [9], 4]", "['0x9', [9], ['9'], 4]"},
        {"'MAJOR_VERSION': 1", "'NEW_TAG': {'A': [[1]]}, 'MAJOR_VERSION': 0"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *graph = check_fixture_text(check_fixture_graph, changes[i][0], changes[i][1]);
        struct check *check = check_fixture_run(graph, NULL);
        size_t kept;
        const struct check_failure *failures = check_failures(check, &kept);
        if (kept > 0)
            fprintf(stderr, "\"%s\": %s: %s\n", changes[i][1], failures[0].path,
                    failures[0].message);
        CU_ASSERT_EQUAL(check_total(check), 0);
        check_free(check);
        free(graph);
    }
}

static void test_right(void)
{
    char *graph = check_fixture_text(check_fixture_graph, NULL, NULL);
    char *trace = check_fixture_text(check_fixture_trace, NULL, NULL);
    struct check *check = check_fixture_run(graph, trace);
    const struct check_summary *all = check_summary(check);
    CU_ASSERT_EQUAL(check_total(check), 0);
    CU_ASSERT_EQUAL(all->instructions, 32);
    CU_ASSERT_EQUAL(all->blocks, 6);
    CU_ASSERT_EQUAL(all->trace_edges, 23);
    CU_ASSERT_EQUAL(all->trace_chunks, 3);
    check_free(check);
    free(graph);
    free(trace);
}

static const struct test_case cases[] = {{"valid graphs", test_right},
                                         {"each rule of graphs", test_graph_rules},
                                         {"each rule of traces", test_trace_rules},
                                         {"allowed by the specification", test_allowed},
                                         {"random graphs", test_anything},
                                         {"an unreachable cycle", test_circle},
                                         {NULL, NULL}};
TEST_SUITE(check, cases)
