#include "tools/plot/canvas_internal.h"

#include <math.h>
#include <string.h>

#define PIXELS_PER_X_TICK 75u
#define MARGIN_PIXELS     80u
#define CHARACTER_PIXELS  8u
#define PIXELS_PER_Y_TICK 40u
#define SMALL_Y_TICK      20u
#define SMALL_CHARACTER   6u
#define TICK_CHARACTERS   34u
#define NAMES_ABOVE       4u   /* names in the legend above a small panel */
#define SMALL_LEGEND_LINE 12u  /* pixels of a name in a small panel's legend beside it */
#define WIDE_PIXELS       700u /* from this width on the legend is beside the curves */
#define MISSING_FILL      "fillstyle transparent pattern 4 border fillcolor rgb \"#666666\""
#define BREAK_FILL        "fillstyle solid 1 noborder fillcolor rgb \"#dddddd\""

static const char *scale_name(const struct figure_axis *axis)
{
    return axis->scale == FIGURE_LOG2 ? "2" : "10";
}

/* Writes the range and the ticks of an axis, "x" or "y". */
static void put_axis(struct canvas *canvas, const char *name, const struct figure_axis *description,
                     const struct axis *axis, bool falling)
{
    struct gnuplot_script *script = canvas->script;
    if (axis_is_logarithmic(description))
        gnuplot_script_put(script, "set logscale %s %s\n", name, scale_name(description));
    else
        gnuplot_script_put(script, "unset logscale %s\n", name);
    /* rounding errors of logarithms must not hide a tick at an end */
    const double margin = axis_is_logarithmic(description) ? 1 + 1e-9 : 1;
    const double from = axis->from / margin;
    const double to = axis->to * margin;
    gnuplot_script_put(script, "set %srange [", name);
    gnuplot_script_number(script, falling ? to : from);
    gnuplot_script_put(script, ":");
    gnuplot_script_number(script, falling ? from : to);
    gnuplot_script_put(script, "]\nset %slabel ", name);
    gnuplot_script_quote(script, description->label, 0);
    gnuplot_script_put(script, " offset 0, %s\nset %stics out nomirror (",
                       *name == 'x' ? "0.3" : "0", name);
    size_t count = description->ticks ? description->tick_count : axis->tick_count;
    for (size_t i = 0; i < count; i++) {
        gnuplot_script_put(script, i > 0 ? ", " : "");
        gnuplot_script_quote_format(
            script, description->ticks ? description->ticks[i].label : axis->ticks[i].label,
            TICK_CHARACTERS);
        gnuplot_script_number(script,
                              description->ticks ? description->ticks[i].at : axis->ticks[i].at);
    }
    gnuplot_script_put(script, ")\n");
}

/* The legend's name for intervals of a kind, or NULL without such intervals. */
static const char *interval_name(const struct figure_panel *panel, bool is_break)
{
    for (size_t i = 0; i < panel->interval_count; i++)
        if (panel->intervals[i].is_break == is_break)
            return is_break ? panel->break_name : panel->missing_name;
    return NULL;
}

/* Position of a panel's legend. */
enum legend_position { LEGEND_NOWHERE, LEGEND_BESIDE, LEGEND_ABOVE };

/* Number of curves' names in the legend. */
static size_t count_names(const struct figure_panel *panel)
{
    size_t names = 0;
    for (size_t i = 0; i < panel->series_count; i++)
        names += (canvas_legend_name(panel, i, false) != NULL) +
                 (canvas_legend_name(panel, i, true) != NULL);
    return names;
}

/* Whether a small panel has so many names that the legend above would leave no room for curves. */
static bool is_crowded(const struct canvas *canvas)
{
    return canvas->small && count_names(canvas->panel) > NAMES_ABOVE;
}

/* The legend is beside the curves, or above them in a narrow panel; it never covers them. There is
 * none if its names do not fit. */
static enum legend_position legend_position(const struct canvas *canvas)
{
    const struct figure_panel *panel = canvas->panel;
    const bool intervals = interval_name(panel, false) || interval_name(panel, true);
    const size_t named = count_names(panel);
    bool stacked = false;
    for (size_t i = 0; i < panel->series_count; i++)
        stacked |= panel->series[i].look == FIGURE_AREA;
    if (is_crowded(canvas) && !panel->heat)
        return named * SMALL_LEGEND_LINE < canvas->height * 2 / 3 ? LEGEND_BESIDE : LEGEND_NOWHERE;
    if (named < 2 && !intervals && !(named == 1 && stacked))
        return LEGEND_NOWHERE;
    return canvas->width >= WIDE_PIXELS && !panel->heat ? LEGEND_BESIDE : LEGEND_ABOVE;
}

bool canvas_lacks_legend(const struct canvas *canvas)
{
    return is_crowded(canvas) && legend_position(canvas) == LEGEND_NOWHERE;
}

/* Characters of the longest name in the legend. */
static unsigned longest_name(const struct canvas *canvas)
{
    const struct figure_panel *panel = canvas->panel;
    size_t longest = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        for (int second = 0; second < 2; second++) {
            const char *name = canvas_legend_name(panel, i, second);
            size_t length = name ? strlen(name) : 0;
            longest = length > longest ? length : longest;
        }
    }
    const size_t most = canvas_legend_characters(canvas);
    return (unsigned)(longest < most ? longest : most);
}

/* Approximate width of the x axis in pixels. */
static unsigned axis_width(const struct canvas *canvas)
{
    const unsigned letter = canvas->small ? SMALL_CHARACTER : CHARACTER_PIXELS;
    unsigned beside = canvas->panel->heat ? 2 * MARGIN_PIXELS : MARGIN_PIXELS; /* the colour bar */
    if (legend_position(canvas) == LEGEND_BESIDE)
        beside +=
            (canvas->small ? MARGIN_PIXELS / 2 : MARGIN_PIXELS) + longest_name(canvas) * letter;
    if (canvas->small) { /* its margins are small, too */
        beside -= MARGIN_PIXELS / 3;
        return canvas->width > beside ? canvas->width - beside : 1;
    }
    return canvas->width > 2 * beside ? canvas->width - beside : canvas->width / 2;
}

/* Approximate height of the y axis in pixels. */
static unsigned axis_height(const struct canvas *canvas)
{
    const unsigned letter = canvas->small ? SMALL_CHARACTER : CHARACTER_PIXELS;
    unsigned used = 8 * letter + (canvas->panel->title ? 2 * letter : 0);
    const size_t names = count_names(canvas->panel);
    if (legend_position(canvas) == LEGEND_ABOVE) /* about two names beside each other */
        used += (unsigned)(names + 1) / 2 * 2 * letter + 2 * letter;
    return canvas->height > 2 * used ? canvas->height - used : canvas->height / 2;
}

/* Whether the legend names dashes, which short samples do not tell apart. */
static bool has_dashes(const struct figure_panel *panel)
{
    for (size_t i = 0; i < panel->series_count; i++)
        if (canvas_legend_name(panel, i, true))
            return true;
    return false;
}

static void put_legend(struct canvas *canvas)
{
    const struct figure_panel *panel = canvas->panel;
    bool stacked = panel->series_count > 0 && panel->series[0].look == FIGURE_AREA;
    switch (legend_position(canvas)) {
    case LEGEND_NOWHERE:
        gnuplot_script_put(canvas->script, "unset key\n");
        break;
    case LEGEND_BESIDE:
        gnuplot_script_put(canvas->script, "set key outside right top vertical Left reverse %s ",
                           stacked ? "invert" : "noinvert");
        if (canvas->small) /* gnuplot takes long names for a quarter wider than they are */
            gnuplot_script_put(canvas->script, "samplen 1 spacing 0.9 width -%u font \",8\"\n",
                               longest_name(canvas) > 12 ? longest_name(canvas) / 4 : 0);
        else
            gnuplot_script_put(canvas->script, "samplen 2 spacing 1.2 width 2\n");
        break;
    case LEGEND_ABOVE:
        gnuplot_script_put(canvas->script,
                           "set key outside center top horizontal Left reverse samplen %s "
                           "noinvert\n",
                           !canvas->small      ? "2 width 1"
                           : has_dashes(panel) ? "3 width 0"
                                               : "1.5 width 0");
        break;
    }
}

/* Lays out both axes for all data of the panel. */
static void lay_out(struct canvas *canvas)
{
    const struct figure_panel *panel = canvas->panel;
    double low;
    double high;
    canvas_series_range(panel, false, &low, &high);
    if (panel->heat) {
        low = fmin(low, panel->heat->x_from);
        high = fmax(high, panel->heat->x_to);
    }
    axis_lay_out(&canvas->x, &panel->x, low, high, axis_width(canvas) / PIXELS_PER_X_TICK + 1,
                 false);
    canvas_series_range(panel, true, &low, &high);
    if (panel->heat) {
        low = fmin(low, panel->heat->y_from);
        high = fmax(high, panel->heat->y_to);
    }
    axis_lay_out(&canvas->y, &panel->y, low, high,
                 axis_height(canvas) / (canvas->small ? SMALL_Y_TICK : PIXELS_PER_Y_TICK) + 1,
                 !panel->heat);
}

static void put_interval(struct canvas *canvas, const struct figure_interval *interval)
{
    const struct axis *axis = interval->vertical ? &canvas->y : &canvas->x;
    unsigned pixels = interval->vertical ? canvas->height : canvas->width;
    double from = fmax(interval->from, axis->from);
    double to = fmin(interval->to, axis->to);
    if (!(from <= to))
        return;
    bool thin = (to - from) * pixels < 2 * (axis->to - axis->from);
    gnuplot_script_put(canvas->script, thin ? "set arrow from " : "set object rectangle from ");
    gnuplot_script_put(canvas->script,
                       interval->vertical ? "graph 0, first %.12g to " : "%.12g, graph 0 to ",
                       from);
    gnuplot_script_put(canvas->script,
                       interval->vertical ? "graph 1, first %.12g " : "%.12g, graph 1 ",
                       thin ? from : to);
    gnuplot_script_put(canvas->script, thin ? "nohead front linecolor rgb \"#666666\" dashtype 2\n"
                                       : interval->is_break ? "front " BREAK_FILL "\n"
                                                            : "front " MISSING_FILL
                                                              " linewidth 1\n");
}

void canvas_element(struct canvas *canvas)
{
    gnuplot_script_put(canvas->script, canvas->elements++ > 0 ? ", " : "plot ");
}

/* Adds a legend entry for intervals, which are not plot elements. */
static void put_interval_name(struct canvas *canvas, bool is_break)
{
    const char *name = interval_name(canvas->panel, is_break);
    if (!name)
        return;
    canvas_element(canvas);
    gnuplot_script_put(canvas->script, "keyentry with boxes %s title ",
                       is_break ? BREAK_FILL : MISSING_FILL);
    gnuplot_script_quote(canvas->script, name, canvas_legend_characters(canvas));
}

static void put_plot(struct canvas *canvas)
{
    canvas_heat_elements(canvas);
    canvas_series_elements(canvas);
    if (canvas->elements == 0) {
        canvas_element(canvas);
        gnuplot_script_put(canvas->script, "NaN notitle");
    }
    put_interval_name(canvas, false);
    put_interval_name(canvas, true);
    gnuplot_script_put(canvas->script, "\n");
}

void canvas_put(struct canvas *canvas)
{
    const struct figure_panel *panel = canvas->panel;
    const struct figure_heat *heat = panel->heat;
    lay_out(canvas);
    gnuplot_script_put(canvas->script, "set title ");
    gnuplot_script_quote(canvas->script, panel->title, canvas->width / (canvas->small ? 8 : 10));
    gnuplot_script_put(canvas->script, "\nunset arrow\nunset object\nunset rmargin\n");
    canvas_heat_data(canvas);
    canvas_series_data(canvas);
    put_axis(canvas, "x", &panel->x, &canvas->x, false);
    put_axis(canvas, "y", &panel->y, &canvas->y, heat && heat->falling);
    put_legend(canvas);
    for (size_t i = 0; i < panel->interval_count; i++)
        put_interval(canvas, &panel->intervals[i]);
    put_plot(canvas);
}
