/* The limited history: expected lines by hand; the same when older chunks had to be forgotten. */
#include "tools/wet/record/history_ring.h"

#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/wet_made.h"

#include <string.h>

/* Puts the chunks of a file into a ring. */
static void put_chunks(struct history_ring *ring, struct wet_file *file)
{
    struct wet_chunk chunk = {.streams = {{.bytes = NULL}}};
    struct bt_error error;
    for (size_t i = 0; i < file->place_count; i++) {
        const struct wet_place *place = &file->places[i];
        for (size_t k = 0; k < place->execution_count; k++)
            file->code.blocks[place->executions[k].block].executions = place->executions[k].count;
        CU_ASSERT_EQUAL_FATAL(wet_file_chunk(file, i, &chunk, &error), 0);
        CU_ASSERT_EQUAL_FATAL(
            history_ring_put(ring, &file->code, &chunk, place->instructions, &error), 0);
    }
    wet_chunk_clear(&chunk);
}

/* The last dependences of the loop of wet_made.h; the caller frees the text. */
static char *history_of_loop(unsigned iterations, unsigned first, uint64_t dependences,
                             size_t bytes, struct history_ring_totals *totals)
{
    struct wet_bytes made = {.bytes = NULL};
    struct wet_file file;
    struct bt_error error;
    char *text = NULL;
    size_t size;
    wet_made_loop(&made, iterations, first);
    struct test_path *path = test_path_file(made.bytes, made.size);
    CU_ASSERT_EQUAL_FATAL(wet_file_open(&file, test_path_name(path), &error), 0);
    struct history_ring *ring = history_ring_new(dependences, bytes, &error);
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_FATAL(ring && out);
    put_chunks(ring, &file);
    CU_ASSERT_EQUAL(history_ring_print(ring, &file.code, out, totals, &error), 0);
    fclose(out);
    history_ring_free(ring);
    wet_file_close(&file);
    test_path_free(path);
    free(made.bytes);
    return text;
}

/* From doc/wet.md, by hand: the second iteration, and the system call. */
static const char second_iteration[] = "0x1007#1 --> 0x100d#0\n"
                                       "0x1007#1 --> 0x1007#0\n"
                                       "0x1007#1 --> 0x1009#0\n"
                                       "0x1009#1 --> 0x100d#0\n"
                                       "0x1009#1 --> 0x1007#1\n"
                                       "0x100b#1 --> 0x100d#0\n"
                                       "0x100b#1 --> 0x100b#0\n"
                                       "0x100d#1 --> 0x100d#0\n"
                                       "0x100d#1 --> 0x100b#1\n"
                                       "0x100f#0 --> 0x1007#1\n";

static void test_by_hand(void)
{
    struct history_ring_totals totals;
    char *text = history_of_loop(2, 1, 10, 0, &totals);
    CU_ASSERT_STRING_EQUAL(text, second_iteration);
    CU_ASSERT_EQUAL(totals.printed, 10);
    free(text);
    text = history_of_loop(2, 0, 1, 0, &totals);
    CU_ASSERT_STRING_EQUAL(text, "0x100f#0 --> 0x1007#1\n");
    CU_ASSERT_EQUAL(totals.printed, 1);
    free(text);
}

/* With one byte for chunks all but the last chunk are replayed and forgotten. */
static void test_forgotten_chunks(void)
{
    struct history_ring_totals totals;
    char *text = history_of_loop(2, 1, 100, 1, &totals);
    CU_ASSERT_STRING_EQUAL(text, second_iteration);
    CU_ASSERT_EQUAL(totals.printed, 10);
    CU_ASSERT_EQUAL(totals.before, 8); /* rdi twice, and 6 operands of the system call */
    free(text);
    for (unsigned first = 1; first < 40; first++) {
        char *all = history_of_loop(40, 0, 10, 0, &totals);
        text = history_of_loop(40, first, 10, 1, &totals);
        CU_ASSERT_STRING_EQUAL(text, all);
        free(all);
        free(text);
    }
}

static const struct test_case cases[] = {
    {"by hand", test_by_hand}, {"forgotten chunks", test_forgotten_chunks}, {NULL, NULL}};
TEST_SUITE(history_ring, cases)
