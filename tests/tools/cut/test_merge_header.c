/* Headers of merged captures. */
#include "tools/cut/merge_header.h"

#include "tests/suites.h"

#include <string.h>

#define INPUTS 2u

struct scene {
    struct capture_info infos[INPUTS];
    struct merge_input inputs[INPUTS];
    struct merge_clock clock;
};

static void set_scene(struct scene *scene)
{
    *scene = (struct scene){.clock = {.clock_hz = 1000000, .started_ns = 77}};
    for (unsigned i = 0; i < INPUTS; i++) {
        struct capture_info *info = &scene->infos[i];
        info->id[0] = (uint8_t)(1 + i);
        strcpy(info->bus, "p6");
        strcpy(info->board, "virtual 0");
        strcpy(info->filter, "type=FETCH");
        scene->inputs[i] = (struct merge_input){.name = "a file", .info = info, .bytes = 1000};
    }
}

static struct capture_info make(const struct scene *scene)
{
    struct capture_info info;
    CU_ASSERT_EQUAL_FATAL(merge_header_make(&info, &scene->clock, scene->inputs, INPUTS, NULL), 0);
    return info;
}

static void test_common(void)
{
    struct scene scene;
    set_scene(&scene);
    struct capture_info info = make(&scene);
    CU_ASSERT_STRING_EQUAL(info.filter, "type=FETCH");
    CU_ASSERT_STRING_EQUAL(info.board, "virtual 0");
    CU_ASSERT_TRUE(info.clock_hz == 1000000 && info.started_ns == 77);
    strcpy(scene.infos[1].filter, "type=READ");
    strcpy(scene.infos[1].board, "virtual 1");
    info = make(&scene);
    CU_ASSERT_STRING_EQUAL(info.filter, "");
    CU_ASSERT_STRING_EQUAL(info.board, MERGE_BOARD_SEVERAL);
}

static void test_buses(void)
{
    struct scene scene;
    struct capture_info info;
    set_scene(&scene);
    strcpy(scene.infos[1].bus, "program");
    CU_ASSERT_EQUAL(merge_header_make(&info, &scene.clock, scene.inputs, INPUTS, NULL), BT_USAGE);
    scene.infos[0].bus[0] = 0;
    CU_ASSERT_STRING_EQUAL(make(&scene).bus, "program");
}

/* Parts that begin alike are other captures once they are merged with other ends, processors or
 * offsets. */
static void test_ids(void)
{
    struct scene scene;
    set_scene(&scene);
    const struct capture_info first = make(&scene);
    CU_ASSERT_EQUAL(memcmp(make(&scene).id, first.id, CAPTURE_ID_BYTES), 0);
    scene.inputs[1].bytes++;
    CU_ASSERT_NOT_EQUAL(memcmp(make(&scene).id, first.id, CAPTURE_ID_BYTES), 0);
    set_scene(&scene);
    scene.inputs[1].processors = 4;
    CU_ASSERT_NOT_EQUAL(memcmp(make(&scene).id, first.id, CAPTURE_ID_BYTES), 0);
    set_scene(&scene);
    scene.inputs[1].later = 9;
    CU_ASSERT_NOT_EQUAL(memcmp(make(&scene).id, first.id, CAPTURE_ID_BYTES), 0);
}

static const struct test_case cases[] = {{"what inputs have in common", test_common},
                                         {"buses", test_buses},
                                         {"ids", test_ids},
                                         {NULL, NULL}};
TEST_SUITE(merge_header, cases)
