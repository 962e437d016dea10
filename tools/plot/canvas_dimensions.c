/* Curves with two dimensions: colours for the first, dashes for the second. */
#include "tools/plot/canvas_internal.h"

#include <string.h>

#define SECOND_COLOR 0x444444u /* of dashes in the legend */

static bool same(const char *one, const char *other)
{
    return one == other || (one && other && strcmp(one, other) == 0);
}

static const char *name_of(const struct figure_series *series, bool second)
{
    return second ? series->second : series->name;
}

/* The number of different names before a curve's, and whether its own is new. */
static size_t ordinal(const struct figure_panel *panel, size_t number, bool second, bool *is_new)
{
    size_t count = 0;
    const char *wanted = name_of(&panel->series[number], second);
    for (size_t i = 0; i <= number; i++) {
        const char *name = name_of(&panel->series[i], second);
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = same(name_of(&panel->series[j], second), name);
        if (same(name, wanted)) {
            *is_new = i == number;
            return count;
        }
        count += !seen;
    }
    return count;
}

static bool varies(const struct figure_panel *panel, bool second)
{
    for (size_t i = 1; i < panel->series_count; i++)
        if (!same(name_of(&panel->series[i], second), name_of(&panel->series[0], second)))
            return true;
    return false;
}

struct canvas_look canvas_series_look(const struct figure_panel *panel, size_t number)
{
    bool is_new;
    if (!panel->series[number].second)
        return (struct canvas_look){.color = number};
    if (!varies(panel, false)) /* one dimension: in colour */
        return (struct canvas_look){.color = ordinal(panel, number, true, &is_new)};
    return (struct canvas_look){.color = ordinal(panel, number, false, &is_new),
                                .dash = ordinal(panel, number, true, &is_new)};
}

const char *canvas_legend_name(const struct figure_panel *panel, size_t number, bool second)
{
    const struct figure_series *series = &panel->series[number];
    bool is_new;
    if (!series->second)
        return second ? NULL : series->name;
    if (!varies(panel, second))
        return NULL;
    ordinal(panel, number, second, &is_new);
    return is_new ? name_of(series, second) : NULL;
}

/* Adds the names of a dimension to the legend. */
static void put_names(struct canvas *canvas, bool second)
{
    const struct figure_panel *panel = canvas->panel;
    bool dashes = second && varies(panel, false);
    for (size_t i = 0; i < panel->series_count; i++) {
        const char *name = panel->series[i].second ? canvas_legend_name(panel, i, second) : NULL;
        if (!name)
            continue;
        const struct canvas_look look = canvas_series_look(panel, i);
        canvas_element(canvas);
        gnuplot_script_put(canvas->script, "keyentry with ");
        if (dashes)
            gnuplot_script_put(canvas->script,
                               "lines linecolor rgb \"#%06x\" linewidth 2 dashtype %zu",
                               SECOND_COLOR, look.dash + 1);
        else
            canvas_series_style(canvas, i, 0);
        gnuplot_script_put(canvas->script, " title ");
        gnuplot_script_quote(canvas->script, name, canvas_legend_characters(canvas));
    }
}

void canvas_dimension_names(struct canvas *canvas)
{
    put_names(canvas, false);
    put_names(canvas, true);
}
