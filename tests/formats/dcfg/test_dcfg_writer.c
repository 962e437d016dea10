#include "formats/dcfg/dcfg_writer.h"

#include "formats/dcfg/dcfg_reader.h"
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/json_twin.h"
#include "tests/support/random.h"
#include "tests/support/random_dcfg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a graph to memory; free the result with text_writer_free. */
static struct text_writer *write_graph(const struct dcfg *graph, struct bt_error *error)
{
    struct text_writer *writer = text_writer_new_memory(error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    if (dcfg_write_text(graph, writer, NULL, error) == 0)
        return writer;
    text_writer_free(writer);
    return NULL;
}

static struct dcfg *read_strictly(const struct text_writer *writer)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error = {0};
    size_t size;
    const char *text = text_writer_memory(writer, &size);
    struct text_reader *reader = text_reader_from_memory(text, size, "x", &error);
    settings.json.strict = true;
    struct dcfg *graph = dcfg_read(reader, &settings, &error);
    if (!graph)
        puts(error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    CU_ASSERT(json_twin_valid(text, size));
    text_reader_close(reader);
    return graph;
}

static void test_round_trip(void)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t state = random_seed(seed);
        struct bt_error error = {0};
        struct dcfg *graph = random_dcfg(&state, RANDOM_DCFG_WRITABLE, 1 + (uint32_t)(seed % 15));
        struct text_writer *writer = write_graph(graph, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
        struct dcfg *again = read_strictly(writer);
        CU_ASSERT_FATAL(random_dcfg_same(graph, again));
        dcfg_free(again);
        text_writer_free(writer);
        dcfg_free(graph);
    }
}

/* --- the exact layout --- */

#define LETTERS                                                                                    \
    "{\"MAJOR_VERSION\":1,\n\"MINOR_VERSION\":0,\n"                                                \
    "\"FILE_NAMES\":[[\"FILE_NAME_ID\",\"FILE_NAME\"],\n[1,\"a \\\"b\\\"\"]],\n"                   \
    "\"EDGE_TYPES\":[[\"EDGE_TYPE_ID\",\"EDGE_TYPE\"],\n[1,\"ENTRY\"],\n[2,\"EXIT\"],\n"           \
    "[3,\"CALL\"],\n[4,\"DIRECT_CALL\"],\n[5,\"INDIRECT_CALL\"],\n[6,\"RETURN\"],\n"               \
    "[7,\"CALL_BYPASS\"],\n[8,\"BRANCH\"],\n[9,\"CONDITIONAL_BRANCH\"],\n"                         \
    "[10,\"UNCONDITIONAL_BRANCH\"],\n[11,\"DIRECT_BRANCH\"],\n[12,\"INDIRECT_BRANCH\"],\n"         \
    "[13,\"DIRECT_CONDITIONAL_BRANCH\"],\n[14,\"INDIRECT_CONDITIONAL_BRANCH\"],\n"                 \
    "[15,\"DIRECT_UNCONDITIONAL_BRANCH\"],\n[16,\"INDIRECT_UNCONDITIONAL_BRANCH\"],\n"             \
    "[17,\"REP\"],\n[18,\"FALL_THROUGH\"],\n[19,\"SYSTEM_CALL\"],\n[20,\"SYSTEM_RETURN\"],\n"      \
    "[21,\"SYSTEM_CALL_BYPASS\"],\n[22,\"CONTEXT_CHANGE\"],\n[23,\"CONTEXT_CHANGE_RETURN\"],\n"    \
    "[24,\"CONTEXT_CHANGE_BYPASS\"],\n[25,\"EXCLUDED_CODE_BYPASS\"],\n[26,\"UNKNOWN\"]],\n"        \
    "\"SPECIAL_NODES\":[[\"NODE_ID\",\"NODE_NAME\"],\n[1,\"START\"],\n[2,\"END\"],\n"              \
    "[3,\"UNKNOWN\"]],\n"                                                                          \
    "\"PROCESSES\":[[\"PROCESS_ID\",\"PROCESS_DATA\"],\n"                                          \
    "[42,{\"INSTR_COUNT_PER_THREAD\":[7,3],\n\"INSTR_COUNT\":10,\n"                                \
    "\"IMAGES\":[[\"IMAGE_ID\",\"LOAD_ADDR\",\"SIZE\",\"IMAGE_DATA\"],\n"                          \
    "[1,\"0x400000\",4096,\n{\"FILE_NAME_ID\":1,\n"                                                \
    "\"SYMBOLS\":[[\"NAME\",\"ADDR_OFFSET\",\"SIZE\"],\n[\"main\",\"0x10\",32]],\n"                \
    "\"SOURCE_DATA\":[[\"FILE_NAME_ID\",\"LINE_NUM\",\"ADDR_OFFSET\",\"SIZE\",\"NUM_INSTRS\"],\n"  \
    "[1,7,\"0x10\",4,1]],\n"                                                                       \
    "\"BASIC_BLOCKS\":[[\"NODE_ID\",\"ADDR_OFFSET\",\"SIZE\",\"NUM_INSTRS\","                      \
    "\"LAST_INSTR_OFFSET\",\"COUNT\"],\n[5,\"0x10\",4,1,0,4],\n[4,\"0x20\",9,2,4,3]],\n"           \
    "\"ROUTINES\":[[\"ENTRY_NODE_ID\",\"EXIT_NODE_IDS\",\"NODES\",\"LOOPS\"],\n"                   \
    "[4,[5],\n[[\"NODE_ID\",\"IDOM_NODE_ID\"],[4,4],[5,4]],\n"                                     \
    "[[\"LOOP_HEAD_NODE_ID\",\"LOOP_BACK_EDGE_SOURCE_NODE_IDS\",\"LOOP_NODE_IDS\","                \
    "\"PARENT_LOOP_HEAD_NODE_ID\"],\n[5,[5],[5],0]]]]}]],\n"                                       \
    "\"EDGES\":[[\"EDGE_ID\",\"SOURCE_NODE_ID\",\"TARGET_NODE_ID\",\"EDGE_TYPE_ID\","              \
    "\"COUNT_PER_THREAD\"],\n[1,1,4,1,[2,1]],\n[2,4,5,18,[2,0]],\n[3,5,5,26,[1,1]],\n"             \
    "[4,5,2,2,[2,1]]]}]]}\n"

/* Blocks out of order, ids other than our writer's, unknown counts. */
static const char unusual[] =
    "{\"MAJOR_VERSION\":1,\"FILE_NAMES\":[[\"FILE_NAME_ID\",\"FILE_NAME\"],[1,\"a \\\"b\\\"\"]],"
    "\"SPECIAL_NODES\":[[\"NODE_ID\",\"NODE_NAME\"],[70,\"START\"],[4,\"END\"]],"
    "\"EDGE_TYPES\":[[\"EDGE_TYPE_ID\",\"EDGE_TYPE\"],[5,\"ENTRY\"],[6,\"EXIT\"],"
    "[7,\"FALL_THROUGH\"],[8,\"INVENTED\"]],\"PROCESSES\":[[\"PROCESS_ID\",\"PROCESS_DATA\"],[42,{"
    "\"IMAGES\":[[\"IMAGE_ID\",\"LOAD_ADDR\",\"SIZE\",\"IMAGE_DATA\"],[1,4194304,4096,{"
    "\"FILE_NAME_ID\":1,\"SYMBOLS\":[[\"NAME\",\"ADDR_OFFSET\",\"SIZE\"],[\"main\",16,32]],"
    "\"SOURCE_DATA\":[[\"FILE_NAME_ID\",\"LINE_NUM\",\"ADDR_OFFSET\",\"SIZE\",\"NUM_INSTRS\"],"
    "[1,7,16,4,1]],\"BASIC_BLOCKS\":[[\"NODE_ID\",\"ADDR_OFFSET\",\"SIZE\",\"NUM_INSTRS\","
    "\"LAST_INSTR_OFFSET\"],[9,32,9,2,4],[3,16,4,1,0]],\"ROUTINES\":[[\"ENTRY_NODE_ID\","
    "\"EXIT_NODE_IDS\",\"NODES\",\"LOOPS\"],[9,[3],[[\"NODE_ID\",\"IDOM_NODE_ID\"],[9,9],[3,9]],"
    "[[\"LOOP_HEAD_NODE_ID\",\"LOOP_BACK_EDGE_SOURCE_NODE_IDS\",\"LOOP_NODE_IDS\"],"
    "[3,[3],[3]]]]]}]],\"EDGES\":[[\"EDGE_ID\",\"SOURCE_NODE_ID\",\"TARGET_NODE_ID\","
    "\"EDGE_TYPE_ID\",\"COUNT_PER_THREAD\"],[1,70,9,5,[2,1]],[2,9,3,7,[2]],[3,3,3,8,[1,1]],"
    "[4,3,4,6,[2,1]]]}]]}";

static void test_letters(void)
{
    struct bt_error error = {0};
    struct text_reader *reader = text_reader_from_memory(unusual, sizeof unusual - 1, "x", &error);
    struct dcfg *graph = dcfg_read(reader, NULL, &error);
    if (!graph)
        puts(error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    struct text_writer *writer = write_graph(graph, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    size_t size;
    const char *text = text_writer_memory(writer, &size);
    static const char wanted[] = LETTERS;
    if (size != sizeof wanted - 1 || memcmp(text, wanted, size) != 0) {
        printf("\n%.*s", (int)size, text);
        CU_FAIL("another text");
    }
    text_writer_free(writer);
    text_reader_close(reader);
    dcfg_free(graph);
}

/* Blocks get new ids if theirs cannot be kept; references to them follow. */
static void test_new_ids(void)
{
    static const uint32_t ids[] = {70, 2, 50, 60}; /* of blocks at offsets 1 to 4; 50 is entered */
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    struct dcfg_image image = {.id = 1, .load_address = 0x1000, .file_name_id = 0};
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    const uint64_t once[] = {0, 1};
    const uint64_t both[] = {1, 1};
    CU_ASSERT_EQUAL(dcfg_add_special_node(graph, 4, "START", 5, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_special_node(graph, 3, "END", 3, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_image(process, &image, &error), 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct dcfg_block block = {.id = ids[i], .offset = i + 1, .instructions = 1};
        CU_ASSERT_EQUAL(dcfg_add_block(process, &block, &error), 0);
        CU_ASSERT_EQUAL(
            dcfg_add_edge(process, i + 1, ids[i], ids[3 - i], DCFG_EDGE_BRANCH, both, 2, &error),
            0);
    }
    CU_ASSERT_EQUAL(dcfg_add_edge(process, 5, 4, 60, DCFG_EDGE_ENTRY, once, 2, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_edge(process, 6, 4, 50, DCFG_EDGE_ENTRY, both, 1, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_edge(process, 7, 50, 3, DCFG_EDGE_EXIT, both, 1, &error), 0);
    CU_ASSERT_EQUAL(dcfg_seal(graph, &error), 0);
    const struct dcfg_bus bus = {.chunks = true,
                                 .found = true,
                                 .model = "chunk=8",
                                 .counts = {[DCFG_BUS_FETCHES] = 7, [DCFG_BUS_SAMPLE] = 6},
                                 .noise_bits = {[3] = 5, [31] = UINT64_MAX}};
    const struct dcfg_bus_block evidence = {.id = 50, .certain = 1, .unexplained = 2, .fetches = 3};
    CU_ASSERT_EQUAL(dcfg_set_bus(graph, &bus, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_bus_block(graph, &evidence, &error), 0);
    struct text_writer *writer = write_graph(graph, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    struct dcfg *again = read_strictly(writer);
    const struct dcfg_process *read = again->processes[0];
    CU_ASSERT_EQUAL(read->blocks[2].id, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(again->bus);
    CU_ASSERT(again->bus->chunks && again->bus->found);
    CU_ASSERT_STRING_EQUAL(again->bus->model, "chunk=8");
    CU_ASSERT_EQUAL(memcmp(again->bus->counts, bus.counts, sizeof bus.counts), 0);
    CU_ASSERT_EQUAL(memcmp(again->bus->noise_bits, bus.noise_bits, sizeof bus.noise_bits), 0);
    CU_ASSERT_EQUAL_FATAL(again->bus->block_count, 1);
    CU_ASSERT_EQUAL(again->bus->blocks[0].id, 4); /* renumbered, as the block is */
    CU_ASSERT_EQUAL(again->bus->blocks[0].certain, 1);
    CU_ASSERT_EQUAL(again->bus->blocks[0].unexplained, 2);
    CU_ASSERT_EQUAL(again->bus->blocks[0].fetches, 3);
    for (uint32_t i = 0; i < 4; i++) {
        CU_ASSERT(read->blocks[i].offset == i + 1 && read->blocks[i].id >= 4);
        CU_ASSERT_EQUAL(read->edges.sources[i], read->blocks[i].id);
        CU_ASSERT_EQUAL(read->edges.targets[i], read->blocks[3 - i].id);
    }
    CU_ASSERT(read->edges.sources[5] == DCFG_START && read->edges.targets[6] == DCFG_END);
    dcfg_free(again);
    text_writer_free(writer);
    dcfg_free(graph);
}

static void test_file(void)
{
    static const char *const names[] = {"g.json", "g.json.gz", "g.json.bz2"};
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 16];
    uint64_t state = random_seed(5);
    struct dcfg *graph = random_dcfg(&state, RANDOM_DCFG_WRITABLE, 300);
    folder_make(folder);
    for (int i = 0; i < 3; i++) {
        struct bt_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CU_ASSERT_EQUAL(dcfg_write(graph, path, NULL, &error), 0);
        struct text_reader *reader = text_reader_open(path, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
        struct dcfg *again = dcfg_read(reader, NULL, &error);
        text_reader_close(reader);
        CU_ASSERT_PTR_NOT_NULL_FATAL(again);
        CU_ASSERT(random_dcfg_same(graph, again));
        dcfg_free(again);
    }
    folder_remove(folder);
    dcfg_free(graph);
}

/* --- graphs that readers would refuse --- */

static void test_refused(void)
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    struct text_writer *writer = text_writer_new_memory(&error);
    CU_ASSERT_EQUAL(dcfg_write_text(graph, writer, NULL, &error), BT_USAGE); /* not sealed */
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    struct dcfg_image image = {.id = 1, .load_address = 0x1000};
    struct dcfg_block block = {.id = 4, .size = 1, .instructions = 1};
    CU_ASSERT_EQUAL(dcfg_add_image(process, &image, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_block(process, &block, &error), 0);
    CU_ASSERT_EQUAL(dcfg_seal(graph, &error), 0);
    CU_ASSERT_EQUAL(dcfg_write_text(graph, writer, NULL, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "basic block 4"));
    CU_ASSERT_EQUAL(dcfg_write(graph, "/nowhere/at/all", NULL, &error), BT_IO);
    dcfg_free(graph);
    text_writer_free(writer);
}

/* Several processes only on request; images without a name get one. */
static void test_several_processes(void)
{
    struct bt_error error = {0};
    struct dcfg_writer_settings settings = {.several_processes = true};
    struct dcfg *graph = dcfg_new(NULL, &error);
    struct dcfg_image image = {.id = 1, .load_address = 0x1000};
    CU_ASSERT_EQUAL(dcfg_add_file_name(graph, 1, "x", 1, &error), 0);
    for (uint64_t i = 1; i <= 2; i++)
        CU_ASSERT_EQUAL(dcfg_add_image(dcfg_add_process(graph, i, &error), &image, &error), 0);
    CU_ASSERT_EQUAL(dcfg_seal(graph, &error), 0);
    struct text_writer *writer = text_writer_new_memory(&error);
    CU_ASSERT_EQUAL(dcfg_write_text(graph, writer, NULL, &error), BT_USAGE);
    CU_ASSERT_EQUAL(dcfg_write_text(graph, writer, &settings, &error), 0);
    struct dcfg *again = read_strictly(writer);
    CU_ASSERT_EQUAL(again->process_count, 2);
    CU_ASSERT_EQUAL(again->processes[1]->images[0].file_name_id, 2);
    CU_ASSERT_STRING_EQUAL(dcfg_file_name(again, 2), "unknown");
    dcfg_free(again);
    text_writer_free(writer);
    dcfg_free(graph);
}

static const struct test_case cases[] = {
    {"a written graph reads back unchanged", test_round_trip},
    {"the exact text", test_letters},
    {"blocks get new ids if theirs cannot be kept", test_new_ids},
    {"files, compressed too", test_file},
    {"graphs that readers would refuse", test_refused},
    {"several processes, images without names", test_several_processes},
    {NULL, NULL}};
TEST_SUITE(dcfg_writer, cases)
