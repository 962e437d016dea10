#include "tools/plot/plot_study.h"
#include "tools/plot/plot_study_report.h"
#include "tools/plot/sharing.h"

#include "formats/base/saturating.h"
#include "tools/common/json_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define WRITTEN_MAX 8u /* the matrix shows numbers up to this many processors */
#define TICKS_MAX   8u
#define PANELS      4u /* panels of a line size; the last one only with a single size */

struct sharing_study {
    const struct plot_study_settings *settings;
    struct sharing *sharing[PLOT_LINES_MAX];
    const struct sharing_counts *counts[PLOT_LINES_MAX];
    uint64_t lost, gaps;
    size_t rows[PLOT_LINES_MAX]; /* rows of the data */
};

static void sharing_study_free(void *state)
{
    struct sharing_study *study = state;
    if (!study)
        return;
    for (size_t i = 0; i < PLOT_LINES_MAX; i++)
        sharing_free(study->sharing[i]);
    free(study);
}

/* Panels of each line size, and the number side by side. */
static size_t panels_of(size_t line_count, size_t *columns)
{
    *columns = line_count == 1 ? 2 : 3;
    return line_count == 1 ? PANELS : PANELS - 1;
}

static void *sharing_study_begin(const struct plot_study_settings *settings, struct bt_error *error)
{
    size_t columns;
    const size_t panels = panels_of(settings->line_count, &columns) * settings->line_count;
    if (settings->output &&
        figure_panels_check(&settings->output->options, panels, columns, error) < 0)
        return NULL;
    struct sharing_study *study = calloc(1, sizeof *study);
    if (!study) {
        bt_fail(error, BT_MEMORY, "no memory for a table of lines");
        return NULL;
    }
    study->settings = settings;
    for (size_t i = 0; i < settings->line_count; i++) {
        const struct sharing_settings one = {.line = settings->lines[i],
                                             .memory_max = settings->memory / settings->line_count};
        study->sharing[i] = sharing_new(&one, error);
        if (!study->sharing[i]) {
            sharing_study_free(study);
            return NULL;
        }
    }
    return study;
}

static int sharing_study_put(void *state, const struct batch *batch,
                             const struct capture_info *info, struct bt_error *error)
{
    struct sharing_study *study = state;
    int result = 0;
    (void)info; /* time is irrelevant here */
    study->lost = saturating_add(study->lost, loss_total(&batch->lost));
    study->gaps += batch->gap.milliseconds > 0;
    for (size_t i = 0; i < study->settings->line_count && result == 0; i++)
        result = sharing_put(study->sharing[i], batch, error);
    return result;
}

/* --- the data --- */

/* One row for each pair of processors, then one for each number of users. */
static void fill_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct sharing_study *study = argument;
    size_t i = 0;
    while (row >= study->rows[i])
        row -= study->rows[i++];
    const struct sharing_counts *counts = study->counts[i];
    size_t pairs = (size_t)counts->processors * counts->processors;
    bool pair = row < pairs;
    cells[0].number = study->settings->lines[i];
    for (int c = 1; c <= 2; c++)
        cells[c].none = !pair;
    cells[3].none = cells[5].none = pair;
    if (pair) {
        cells[1].number = counts->processor[row / counts->processors];
        cells[2].number = counts->processor[row % counts->processors];
        cells[4].number = counts->lines[row];
        cells[6].number = counts->referenced[row];
    } else {
        const struct sharing_users *users = &counts->users[row - pairs + 1];
        cells[3].number = row - pairs + 1;
        cells[4].number = users->lines;
        cells[5].number = users->written;
        cells[6].number = users->references;
    }
}

static void put_members(struct json_put *json, void *argument)
{
    const struct sharing_study *study = argument;
    const struct sharing_counts *counts = study->counts[0];
    json_text(json, "of", "sharing");
    record_input_json(json, study->settings->input);
    json_count(json, "requests", counts->requests);
    json_count(json, "dropped", counts->dropped);
    json_count(json, "lost", study->lost);
    json_count(json, "gaps", study->gaps);
}

static int print_data(struct sharing_study *study, struct bt_error *error)
{
    static const struct table_column columns[] = {
        {NULL, "line", TABLE_COUNT},      {NULL, "processor", TABLE_COUNT},
        {NULL, "other", TABLE_COUNT},     {NULL, "users", TABLE_COUNT},
        {NULL, "lines", TABLE_COUNT},     {NULL, "written", TABLE_COUNT},
        {NULL, "references", TABLE_COUNT}};
    size_t rows = 0;
    for (size_t i = 0; i < study->settings->line_count; i++) {
        size_t processors = study->counts[i]->processors;
        study->rows[i] = processors * processors + processors;
        rows += study->rows[i];
    }
    const struct table table = {.columns = columns,
                                .column_count = sizeof columns / sizeof columns[0],
                                .rows = rows,
                                .row = fill_row,
                                .argument = study};
    return plot_study_report_data(study->settings->form, &table, "sharing", put_members, error);
}

/* --- the picture --- */

/* Contents of the panels of one line size. */
struct page {
    double *matrix[2]; /* lines, references */
    struct figure_heat heat[2];
    struct figure_tick ticks[SHARING_PROCESSORS];
    char labels[SHARING_PROCESSORS][4];
    double x[SHARING_PROCESSORS];
    double written[SHARING_PROCESSORS], read[SHARING_PROCESSORS], referenced[SHARING_PROCESSORS];
    struct figure_tick user_ticks[SHARING_PROCESSORS];
    char user_labels[SHARING_PROCESSORS][4];
    struct figure_series series[3];
    char titles[PANELS][64];
};

/* Labels at most TICKS_MAX of count numbers. Returns the number of labels. */
static size_t put_ticks(struct figure_tick *ticks, char (*labels)[4], size_t count,
                        const uint8_t *numbers, double first)
{
    size_t stride = (count + TICKS_MAX - 1) / TICKS_MAX;
    size_t made = 0;
    for (size_t i = 0; i < count; i += stride) {
        snprintf(labels[made], sizeof labels[made], "%u",
                 numbers ? (unsigned)numbers[i] : (unsigned)(i + 1) % 1000);
        ticks[made] = (struct figure_tick){.at = first + (double)i, .label = labels[made]};
        made++;
    }
    return made;
}

static int fill_matrices(struct page *page, const struct sharing_counts *counts,
                         struct bt_error *error)
{
    size_t processors = counts->processors;
    size_t size = processors > 0 ? processors : 1;
    for (int m = 0; m < 2; m++) {
        const uint64_t *from = m == 0 ? counts->lines : counts->referenced;
        page->matrix[m] = calloc(size * size, sizeof *page->matrix[m]);
        if (!page->matrix[m])
            return bt_fail(error, BT_MEMORY, "no memory for a figure");
        for (size_t i = 0; i < processors * processors; i++)
            page->matrix[m][i] = (double)from[i];
        page->heat[m] = (struct figure_heat){.columns = size,
                                             .rows = size,
                                             .values = page->matrix[m],
                                             .x_from = -0.5,
                                             .x_to = (double)size - 0.5,
                                             .y_from = -0.5,
                                             .y_to = (double)size - 0.5,
                                             .falling = true,
                                             .label = m == 0 ? "lines" : "references",
                                             .logarithmic = true,
                                             .written = size <= WRITTEN_MAX};
    }
    return 0;
}

static void fill_bars(struct page *page, const struct sharing_counts *counts)
{
    for (size_t i = 0; i < counts->processors; i++) {
        const struct sharing_users *users = &counts->users[i + 1];
        page->x[i] = (double)(i + 1);
        page->written[i] = (double)users->written;
        page->read[i] = (double)(users->lines - users->written);
        page->referenced[i] = (double)users->references;
    }
    page->series[0] = (struct figure_series){.name = "written by any",
                                             .look = FIGURE_BARS,
                                             .x = page->x,
                                             .y = page->written,
                                             .count = counts->processors,
                                             .color = 0xd55e00};
    page->series[1] = (struct figure_series){.name = "only read or fetched",
                                             .look = FIGURE_BARS,
                                             .x = page->x,
                                             .y = page->read,
                                             .count = counts->processors,
                                             .color = 0x0072b2};
    page->series[2] = (struct figure_series){.look = FIGURE_BARS,
                                             .x = page->x,
                                             .y = page->referenced,
                                             .count = counts->processors,
                                             .color = 0x666666};
}

/* Describes the panels of a line size. */
static int fill_panels(struct page *page, struct figure_panel panels[PANELS], uint32_t line,
                       const struct sharing_counts *counts, struct bt_error *error)
{
    int result = fill_matrices(page, counts, error);
    if (result < 0)
        return result;
    fill_bars(page, counts);
    size_t ticks = put_ticks(page->ticks, page->labels, counts->processors, counts->processor, 0);
    size_t users = put_ticks(page->user_ticks, page->user_labels, counts->processors, NULL, 1);
    const struct figure_axis axis = {.ticks = page->ticks, .tick_count = ticks};
    snprintf(page->titles[0], 64, "Lines of %" PRIu32 " B used by both", line);
    snprintf(page->titles[1], 64, "References to lines of %" PRIu32 " B both use", line);
    snprintf(page->titles[3], 64, "References to lines of %" PRIu32 " B by number of users", line);
    snprintf(page->titles[2], 64, "Lines of %" PRIu32 " B by number of users", line);
    for (int m = 0; m < 2; m++) {
        panels[m] = (struct figure_panel){
            .title = page->titles[m], .x = axis, .y = axis, .heat = &page->heat[m]};
        panels[m].x.label = m == 0 ? "processor" : "which shares them";
        panels[m].y.label = m == 0 ? "processor" : "processor that refers";
    }
    panels[2] = (struct figure_panel){.title = page->titles[2],
                                      .x = {.label = "processors that use a line",
                                            .ticks = page->user_ticks,
                                            .tick_count = users},
                                      .y = {.label = "lines", .scale = FIGURE_LOG10},
                                      .series = page->series,
                                      .series_count = 2};
    panels[3] = panels[2];
    panels[3].title = page->titles[3];
    panels[3].y.label = "references";
    panels[3].series = &page->series[2];
    panels[3].series_count = 1;
    return 0;
}

static int draw(const struct sharing_study *study, struct page *pages, struct bt_error *error)
{
    const struct plot_study_settings *settings = study->settings;
    struct figure_panel panels[PANELS * PLOT_LINES_MAX];
    char subtitle[PLOT_SUBTITLE_BYTES];
    size_t count = settings->line_count;
    size_t columns;
    const size_t shown = panels_of(count, &columns);
    const struct figure figure = {.title = settings->title,
                                  .subtitle = subtitle,
                                  .panels = panels,
                                  .panel_count = shown * count,
                                  .columns = columns};
    for (size_t i = 0; i < count; i++) {
        int result =
            fill_panels(&pages[i], &panels[shown * i], settings->lines[i], study->counts[i], error);
        if (result < 0)
            return result;
    }
    plot_study_report_subtitle(subtitle, study->counts[0]->requests, "references to memory",
                               study->lost, study->gaps);
    return figure_write(&figure, settings->output, error);
}

static int draw_pages(const struct sharing_study *study, struct bt_error *error)
{
    size_t count = study->settings->line_count;
    struct page *pages = calloc(count, sizeof *pages);
    if (!pages)
        return bt_fail(error, BT_MEMORY, "no memory for a figure");
    int result = draw(study, pages, error);
    for (size_t i = 0; i < count; i++)
        for (int m = 0; m < 2; m++)
            free(pages[i].matrix[m]);
    free(pages);
    return result;
}

static int sharing_study_finish(void *state, struct bt_error *error)
{
    struct sharing_study *study = state;
    int result = 0;
    for (size_t i = 0; i < study->settings->line_count; i++) {
        study->counts[i] = sharing_finish(study->sharing[i], error);
        if (!study->counts[i])
            return error->code;
    }
    if (study->settings->output)
        result = draw_pages(study, error);
    if (result == 0 && study->settings->form != PLOT_NO_DATA)
        result = print_data(study, error);
    return result;
}

const struct plot_study plot_study_sharing = {"sharing", sharing_study_begin, sharing_study_put,
                                              sharing_study_finish, sharing_study_free};
