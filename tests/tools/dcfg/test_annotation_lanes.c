/* Arrows beside an annotation: their form, and that they do not overlap. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/annotation_lanes.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 12u

/* Draws the arrows of jumps between ROWS rows, one line each. */
static void draw(struct annotation_jump *jumps, uint32_t count, char picture[1000])
{
    struct annotation annotation = {.row_count = ROWS, .jumps = jumps, .jump_count = count};
    uint8_t cells[ROWS * (ANNOTATION_LANES + 2)];
    size_t used = 0;
    CU_ASSERT_EQUAL_FATAL(annotation_assign_lanes(&annotation), 0);
    const uint32_t width = annotation_arrow_width(&annotation);
    annotation_draw_arrows(&annotation, cells);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = 0; i < width; i++)
            picture[used++] = annotation_arrow(cells[row * width + i]);
        picture[used++] = '\n';
    }
    picture[used] = '\0';
}

static void test_pictures(void)
{
    char picture[1000];
    struct annotation_jump nested[] = {{.from = 3, .to = 1}, {.from = 5, .to = 0}};
    draw(nested, 2, picture);
    CU_ASSERT_STRING_EQUAL(picture, "/-->\n|/->\n||  \n|\\--\n|   \n\\---\n"
                                    "    \n    \n    \n    \n    \n    \n");
    /* two to one row share a lane; a crossing one has another */
    struct annotation_jump shared[] = {
        {.from = 2, .to = 8}, {.from = 4, .to = 8}, {.from = 9, .to = 3}};
    draw(shared, 3, picture);
    CU_ASSERT_STRING_EQUAL(picture, "    \n    \n /--\n/|->\n|+--\n||  \n||  \n||  \n|\\->\n\\---\n"
                                    "    \n    \n");
    /* a jump to itself */
    struct annotation_jump self[] = {{.from = 6, .to = 6}};
    draw(self, 1, picture);
    CU_ASSERT_STRING_EQUAL(picture, "   \n   \n   \n   \n   \n   \n+->\n   \n   \n   \n   \n   \n");
    draw(NULL, 0, picture);
    CU_ASSERT_STRING_EQUAL(picture, "\n\n\n\n\n\n\n\n\n\n\n\n");
}

/* Whether jumps with the same lane, to different rows, have a row in common. */
static bool overlap(const struct annotation_jump *a, const struct annotation_jump *b)
{
    const uint32_t first_a = a->from < a->to ? a->from : a->to;
    const uint32_t last_a = a->from < a->to ? a->to : a->from;
    const uint32_t first_b = b->from < b->to ? b->from : b->to;
    const uint32_t last_b = b->from < b->to ? b->to : b->from;
    return a->lane == b->lane && a->lane < ANNOTATION_LANES && a->to != b->to &&
           first_a <= last_b && first_b <= last_a;
}

static void test_random(void)
{
    struct annotation_jump jumps[40];
    uint64_t random = 1;
    for (unsigned round = 0; round < 300; round++) {
        const uint32_t rows = 2 + (uint32_t)random_below(&random, round % 3 ? 60 : 3000);
        const uint32_t count = 1 + (uint32_t)random_below(&random, 40);
        for (uint32_t i = 0; i < count; i++)
            jumps[i] = (struct annotation_jump){.from = (uint32_t)random_below(&random, rows),
                                                .to = (uint32_t)random_below(&random, rows)};
        struct annotation annotation = {.row_count = rows, .jumps = jumps, .jump_count = count};
        CU_ASSERT_EQUAL_FATAL(annotation_assign_lanes(&annotation), 0);
        unsigned overlaps = 0, drawn = 0;
        for (uint32_t i = 0; i < count; i++) {
            drawn += jumps[i].lane < ANNOTATION_LANES;
            CU_ASSERT(jumps[i].lane < annotation.lanes || jumps[i].lane == ANNOTATION_LANES);
            CU_ASSERT(i == 0 || jumps[i - 1].from <= jumps[i].from);
            for (uint32_t j = 0; j < i; j++)
                overlaps += overlap(&jumps[i], &jumps[j]);
        }
        CU_ASSERT_EQUAL(overlaps, 0);
        CU_ASSERT(drawn > 0 || rows > 1000);
    }
}

static const struct test_case cases[] = {
    {"pictures of jumps", test_pictures}, {"jumps do not overlap", test_random}, {NULL, NULL}};
TEST_SUITE(annotation_lanes, cases)
