#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/plot/canvas_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 100000u

/* The script of a panel, zero-terminated; the caller frees it. */
static char *script_of(const struct figure_panel *panel)
{
    struct gnuplot_script *script = gnuplot_script_new(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(script);
    struct canvas canvas = {.script = script, .panel = panel, .width = 1200, .height = 800};
    const char *text;
    size_t size;
    canvas_put(&canvas);
    CU_ASSERT_EQUAL_FATAL(gnuplot_script_text(script, &text, &size, NULL), 0);
    char *copy = calloc(1, size + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, text, size);
    gnuplot_script_free(script);
    return copy;
}

/* The points of the first series, the holes between them, and its extremes. */
struct drawn {
    size_t points, holes;
    double first, last, low, high;
};

static struct drawn look(const char *script)
{
    struct drawn drawn = {.low = INFINITY, .high = -INFINITY};
    const char *at = strstr(script, "$series0_0 << ENDOFDATA\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at = strchr(at, '\n') + 1;
    while (strncmp(at, "ENDOFDATA\n", 10) != 0) {
        double x;
        double y;
        if (*at == '\n') {
            drawn.holes++;
        } else {
            CU_ASSERT_EQUAL_FATAL(sscanf(at, "%lf %lf", &x, &y), 2);
            drawn.first = drawn.points == 0 ? x : drawn.first;
            drawn.last = x;
            drawn.low = fmin(drawn.low, y);
            drawn.high = fmax(drawn.high, y);
            drawn.points++;
        }
        at = strchr(at, '\n') + 1;
    }
    return drawn;
}

/* Of many points few are drawn, but every peak is. */
static void test_thinned(void)
{
    static double x[POINTS];
    static double y[POINTS];
    uint64_t random = random_seed(7);
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = (double)(i + 1);
        y[i] = 0.5 + 0.1 * (double)random_below(&random, 100) / 100;
    }
    y[12345] = 0.9;
    y[54321] = 0.1;
    const struct figure_series series = {.x = x, .y = y, .count = POINTS};
    struct figure_panel panel = {.series = &series, .series_count = 1};
    for (int scale = 0; scale < 2; scale++) {
        panel.x.scale = scale == 0 ? FIGURE_LINEAR : FIGURE_LOG2;
        char *script = script_of(&panel);
        struct drawn drawn = look(script);
        CU_ASSERT(drawn.points > 1000 && drawn.points < 5000);
        CU_ASSERT(drawn.first == 1 && drawn.last == POINTS);
        CU_ASSERT(drawn.low == 0.1 && drawn.high == 0.9);
        free(script);
    }
}

static void test_holes(void)
{
    const double x[] = {1, 2, 3, 4};
    const double y[] = {1, NAN, 0, 2};
    const struct figure_series series = {.x = x, .y = y, .count = 4};
    struct figure_panel panel = {.series = &series, .series_count = 1};
    char *script = script_of(&panel);
    CU_ASSERT_EQUAL(look(script).points, 3);
    CU_ASSERT_EQUAL(look(script).holes, 1);
    free(script);
    panel.y.scale = FIGURE_LOG10; /* has no 0 */
    script = script_of(&panel);
    CU_ASSERT_EQUAL(look(script).points, 2);
    CU_ASSERT_EQUAL(look(script).holes, 2);
    free(script);
}

/* Each area is stacked on the one before it; each step has both edges. */
static void test_stacked(void)
{
    const double x[] = {0, 10};
    const double lower[] = {1, 2};
    const double upper[] = {5, 7};
    const struct figure_series series[] = {
        {.look = FIGURE_AREA, .x = x, .y = lower, .count = 2, .name = "a"},
        {.look = FIGURE_AREA, .x = x, .y = upper, .count = 2, .name = "b"}};
    const struct figure_panel panel = {.series = series, .series_count = 2};
    char *script = script_of(&panel);
    CU_ASSERT_PTR_NOT_NULL(strstr(script, "$series0_1 << ENDOFDATA\n"
                                          "0 1 6\n10 1 6\n10 2 9\n20 2 9\nENDOFDATA\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(script, "set key outside right"));
    free(script);
}

/* A single cell is drawn; zeros on a logarithmic scale are omitted. */
static void test_heat(void)
{
    const double values[] = {3};
    const double two[] = {0, 5};
    struct figure_heat heat = {
        .columns = 1, .rows = 1, .values = values, .x_to = 1, .y_to = 1, .logarithmic = true};
    const struct figure_panel panel = {.heat = &heat};
    char *script = script_of(&panel);
    CU_ASSERT_PTR_NOT_NULL(strstr(script, "$heat0 << ENDOFDATA\n 3 3\n 3 3\nENDOFDATA\n"));
    free(script);
    heat.values = two;
    heat.rows = 2;
    script = script_of(&panel);
    CU_ASSERT_PTR_NOT_NULL(strstr(script, "ENDOFDATA\n NaN NaN\n 5 5\nENDOFDATA\n"));
    free(script);
}

/* Number of times a text is in a script. */
static unsigned occurrences(const char *script, const char *text)
{
    unsigned count = 0;
    for (const char *at = script; (at = strstr(at, text)); at++)
        count++;
    return count;
}

/* The first dimension is a colour, the second a kind of dashes; a single one is a colour. */
static void test_dimensions(void)
{
    const double x[] = {1, 2};
    const double y[] = {1, 2};
    struct figure_series series[4];
    struct figure_panel panel = {.series = series, .series_count = 4};
    static const char *const names[] = {"red", "red", "blue", "blue"};
    static const char *const seconds[] = {"one", "two", "one", "two"};
    for (int i = 0; i < 4; i++)
        series[i] = (struct figure_series){
            .name = names[i], .second = seconds[i], .x = x, .y = y, .count = 2};
    const size_t colors[] = {0, 0, 1, 1};
    const size_t dashes[] = {0, 1, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        const struct canvas_look look = canvas_series_look(&panel, i);
        CU_ASSERT(look.color == colors[i] && look.dash == dashes[i]);
    }
    char *script = script_of(&panel);
    CU_ASSERT_EQUAL(occurrences(script, "keyentry with lines"), 4); /* red blue one two */
    CU_ASSERT_EQUAL(occurrences(script, "notitle"), 4);
    CU_ASSERT_EQUAL(occurrences(script, "\"red\""), 1);
    CU_ASSERT_EQUAL(occurrences(script, "\"two\""), 1);
    free(script);
    for (int i = 0; i < 4; i++)
        series[i].name = "red";
    CU_ASSERT_EQUAL(canvas_series_look(&panel, 1).color, 1);
    CU_ASSERT_EQUAL(canvas_series_look(&panel, 1).dash, 0);
    CU_ASSERT_EQUAL(canvas_series_look(&panel, 2).color, 0);
    CU_ASSERT_PTR_NULL(canvas_legend_name(&panel, 0, false));
    CU_ASSERT_STRING_EQUAL(canvas_legend_name(&panel, 1, true), "two");
}

/* A step ends where the next one begins, also before a hole; the last one is as long as the one
 * before it. */
static void test_steps(void)
{
    const double x[] = {0, 10, 20, 30};
    const double y[] = {1, 2, NAN, 3};
    const struct figure_series series = {.look = FIGURE_STEPS, .x = x, .y = y, .count = 4};
    const struct figure_panel panel = {.series = &series, .series_count = 1};
    char *script = script_of(&panel);
    CU_ASSERT_PTR_NOT_NULL(strstr(script, "$series0_0 << ENDOFDATA\n"
                                          " 0 1\n 10 1\n 10 2\n 20 2\n\n\n 30 3\n 40 3\n"
                                          "ENDOFDATA\n"));
    free(script);
}

static const struct test_case cases[] = {{"many points", test_thinned},
                                         {"holes", test_holes},
                                         {"stacked areas", test_stacked},
                                         {"heat maps", test_heat},
                                         {"two dimensions are colours and dashes", test_dimensions},
                                         {"steps have both ends", test_steps},
                                         {NULL, NULL}};
TEST_SUITE(canvas, cases)
