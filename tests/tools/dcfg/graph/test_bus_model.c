/* Models of buses as text. */
#include "tests/suites.h"
#include "tools/dcfg/graph/bus_model.h"

#include <string.h>

static void test_text(void)
{
    static const struct {
        const char *text;
        struct bus_model model;
        const char *full;
    } rows[] = {
        {"chunk=8", {.chunk = 8}, "chunk=8,refetch=none,ahead=0"},
        {"refetch,chunk=32",
         {.chunk = 32, .refetch = BUS_REFETCH_EACH},
         "chunk=32,refetch=each,ahead=0"},
        {"chunk=4,ahead=8,noise",
         {.chunk = 4, .ahead = 8, .noise = true},
         "chunk=4,refetch=none,ahead=8,noise"},
        {"chunk=16,refetch=some,ahead=2",
         {.chunk = 16, .refetch = BUS_REFETCH_SOME, .ahead = 2},
         "chunk=16,refetch=some,ahead=2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bus_model model;
        char text[BUS_MODEL_TEXT_BYTES];
        CU_ASSERT_EQUAL(bus_model_parse(&model, rows[i].text, NULL), 0);
        CU_ASSERT_EQUAL(model.chunk, rows[i].model.chunk);
        CU_ASSERT_EQUAL(model.refetch, rows[i].model.refetch);
        CU_ASSERT_EQUAL(model.ahead, rows[i].model.ahead);
        CU_ASSERT_EQUAL(model.noise, rows[i].model.noise);
        CU_ASSERT_STRING_EQUAL(bus_model_text(text, &model), rows[i].full);
        CU_ASSERT_EQUAL(bus_model_parse(&model, text, NULL), 0);
    }
}

static void test_refused(void)
{
    static const char *const refused[] = {"",
                                          "chunk",
                                          "chunk=",
                                          "chunk=7",
                                          "chunk=2",
                                          "chunk=64",
                                          "chunk=8x",
                                          "chunk=-8",
                                          "ahead=9",
                                          "ahead=-1",
                                          "refetch=",
                                          "refetch=all",
                                          "noise=1",
                                          "chunk=8,",
                                          ",chunk=8",
                                          "chunk=8 ahead=1",
                                          "chunk=8,refetch=nonenonenonenonenone"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct bus_model model;
        struct bt_error error = {.code = 0};
        CU_ASSERT_EQUAL(bus_model_parse(&model, refused[i], &error), BT_USAGE);
        CU_ASSERT(strstr(error.message, "chunk=4") != NULL);
    }
}

static void test_twice(void)
{
    static const char *const twice[] = {"chunk=8,chunk=16", "noise,chunk=4,noise",
                                        "refetch=some,refetch", "ahead=1,ahead=1"};
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        struct bus_model model;
        struct bt_error error = {.code = 0};
        CU_ASSERT_EQUAL(bus_model_parse(&model, twice[i], &error), BT_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "second of its kind"));
    }
}

static const struct test_case cases[] = {
    {"text", test_text}, {"refused", test_refused}, {"given twice", test_twice}, {NULL, NULL}};
TEST_SUITE(bus_model, cases)
