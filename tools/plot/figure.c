#include "tools/plot/figure.h"

#include "formats/base/suggestion.h"
#include "formats/text/text_writer.h"
#include "tools/common/overwrite.h"
#include "tools/plot/canvas_internal.h"
#include "tools/plot/gnuplot.h"
#include "tools/plot/subtitle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIXELS_PER_INCH 96.0
#define SMALL_PIXELS    380u

/* pixels of one of several panels: the least, and the default height from three rows on */
#define PANEL_WIDTH_MIN  250u
#define PANEL_HEIGHT_MIN 150u
#define PANEL_HEIGHT     371u

static const char *const format_names[] = {"svg", "png", "pdf", NULL};
#define FORMATS (sizeof format_names / sizeof format_names[0] - 1)

/* end of a complete picture */
static const struct {
    const char *text;
    size_t size;
} endings[FORMATS] = {{"</svg>", 6}, {"IEND\xae\x42\x60\x82", 8}, {"%%EOF", 5}};

/* Checks that the picture can be written, before hours of reading. */
static int check_folder(const char *path, struct bt_error *error)
{
    struct stat status;
    if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return 0;
    char *folder = strdup(path);
    if (!folder)
        return bt_fail(error, BT_MEMORY, "no memory for a figure");
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int result = 0;
    if (access(slash ? folder : ".", W_OK | X_OK) < 0)
        result = bt_fail_errno(error, "cannot create %.300s", path);
    free(folder);
    return result;
}

int figure_output_prepare(struct figure_output *output, const char *path,
                          const struct figure_options *options, int count, char *const *inputs,
                          struct bt_error *error)
{
    const char *format = options->format;
    const char *name = format;
    if (!name) {
        const char *dot = strrchr(path, '.');
        name = dot && !strchr(dot, '/') ? dot + 1 : "";
    }
    size_t i = 0;
    while (i < FORMATS && strcasecmp(name, format_names[i]) != 0)
        i++;
    if (i == FORMATS && format) {
        bt_fail(error, BT_USAGE, "pictures are svg, png or pdf, not %s", format);
        return suggestion_add(error, suggestion_among(format, format_names));
    }
    if (i == FORMATS && strcmp(path, "-") == 0)
        return bt_fail(error, BT_USAGE,
                       "a picture to standard output needs --plot-format svg, png or pdf");
    if (i == FORMATS)
        return bt_fail(
            error, BT_USAGE,
            "%s: the name of a picture ends in .svg, .png or .pdf, or --plot-format says what "
            "it is",
            path);
    output->path = path;
    output->format = (enum figure_format)i;
    output->options = *options;
    int result = overwrite_check(path, count, inputs, "the picture", error);
    if (result == 0)
        result = check_folder(path, error);
    return result < 0 ? result : gnuplot_find(error);
}

int figure_size_check(unsigned width, unsigned height, struct bt_error *error)
{
    if (width >= FIGURE_PIXELS_MIN && height >= FIGURE_PIXELS_MIN && width <= FIGURE_PIXELS_MAX &&
        height <= FIGURE_PIXELS_MAX)
        return 0;
    return bt_fail(error, BT_USAGE, "a picture is %u to %u pixels wide and high, not %u by %u",
                   FIGURE_PIXELS_MIN, FIGURE_PIXELS_MAX, width, height);
}

/* Sizes of letters, in the terminal's points, and the heights of headings in pixels. */
struct letters {
    int title, subtitle, text;
    unsigned title_pixels, subtitle_pixels;
};

/* Panels of the width of a paper's column have smaller letters. */
static bool is_small(const struct figure *figure)
{
    return figure->width / (figure->columns > 0 ? figure->columns : 1) < SMALL_PIXELS;
}

static struct letters letters_of(enum figure_format format, bool small)
{
    if (format == FIGURE_SVG) /* its points are pixels */
        return small ? (struct letters){13, 10, 11, 22, 15} : (struct letters){17, 13, 14, 34, 24};
    return small ? (struct letters){10, 8, 8, 22, 15} : (struct letters){13, 10, 11, 34, 24};
}

static void put_terminal(struct gnuplot_script *script, enum figure_format format, unsigned width,
                         unsigned height, int letters)
{
    static const char *const names[] = {"svg", "pngcairo", "pdfcairo"};
    bool pdf = format == FIGURE_PDF;
    /* scaled to look as the others do: pdfcairo has 72 points an inch and thinner lines */
    gnuplot_script_put(script, "set terminal %s size %.8g%s,%.8g%s noenhanced font \"%s,%d\" ",
                       names[format], pdf ? width / PIXELS_PER_INCH : width, pdf ? "in" : "",
                       pdf ? height / PIXELS_PER_INCH : height, pdf ? "in" : "",
                       format == FIGURE_SVG ? "sans-serif" : "Sans", letters);
    gnuplot_script_put(script, "background rgb \"#ffffff\"%s\n",
                       pdf ? " fontscale 0.75 linewidth 1.5" : "");
}

/* Writes a line of text above the panels. */
static void put_heading(struct gnuplot_script *script, unsigned number, const char *text,
                        size_t characters, double place, const char *color, int letters)
{
    if (!text)
        return;
    gnuplot_script_put(script, "set label %u ", number);
    gnuplot_script_quote(script, text, characters);
    gnuplot_script_put(script,
                       " at screen 0.5, screen %.12g center textcolor rgb \"%s\" font \",%d\"\n",
                       place, color, letters);
}

/* Breaks the figure's subtitle into lines. Returns the height of title and subtitle, in pixels. */
static unsigned lay_out_head(const struct figure *figure, const struct letters *letters,
                             struct subtitle *subtitle)
{
    subtitle_break(subtitle, figure->subtitle, figure->width / (is_small(figure) ? 6 : 7));
    return (figure->title ? letters->title_pixels : 0) + subtitle->count * letters->subtitle_pixels;
}

/* Writes the settings common to all panels. */
static void put_page(struct gnuplot_script *script, const struct figure *figure,
                     enum figure_format format, unsigned width, unsigned height)
{
    const struct letters letters = letters_of(format, is_small(figure));
    const unsigned title = figure->title ? letters.title_pixels : 0;
    struct subtitle subtitle;
    lay_out_head(figure, &letters, &subtitle);
    put_terminal(script, format, width, height, letters.text);
    gnuplot_script_put(script,
                       "set encoding utf8\n"
                       "set datafile missing \"NaN\"\n"
                       "set border 3 linecolor rgb \"#444444\"\n"
                       "set grid xtics ytics linetype 1 linecolor rgb \"#dddddd\" linewidth 0.5\n"
                       "set style line 100 linewidth 1\n"
                       "set multiplot\n");
    put_heading(script, 1001, figure->title, width / (is_small(figure) ? 7 : 10),
                1 - 0.5 * letters.title_pixels / height, "#000000", letters.title);
    for (unsigned i = 0; i < subtitle.count; i++)
        put_heading(script, 1002 + i, subtitle.lines[i], width / (is_small(figure) ? 6 : 7),
                    1 - (title + (0.3 + i) * letters.subtitle_pixels) / height, "#555555",
                    letters.subtitle);
}

static unsigned rows_of(size_t panels, unsigned columns)
{
    return (unsigned)((panels + columns - 1) / columns);
}

/* The canvas of a panel, below a head of so many pixels. */
static struct canvas make_canvas(struct gnuplot_script *script, const struct figure *figure,
                                 enum figure_format format, unsigned head, unsigned number)
{
    const unsigned columns = figure->columns > 0 ? (unsigned)figure->columns : 1;
    return (struct canvas){.script = script,
                           .panel = &figure->panels[number],
                           .format = format,
                           .small = is_small(figure),
                           .number = number,
                           .width = figure->width / columns,
                           .height =
                               (figure->height - head) / rows_of(figure->panel_count, columns)};
}

static void put_panels(struct gnuplot_script *script, const struct figure *figure,
                       enum figure_format format)
{
    const struct letters letters = letters_of(format, is_small(figure));
    struct subtitle subtitle;
    const unsigned head = lay_out_head(figure, &letters, &subtitle);
    unsigned columns = figure->columns > 0 ? (unsigned)figure->columns : 1;
    unsigned rows = rows_of(figure->panel_count, columns);
    double share = 1 - (double)head / figure->height; /* fraction of the height for panels */
    for (unsigned i = 0; i < figure->panel_count; i++) {
        struct canvas canvas = make_canvas(script, figure, format, head, i);
        gnuplot_script_put(script, "set size %.12g, %.12g\nset origin %.12g, %.12g\n",
                           1.0 / columns, share / rows, (double)(i % columns) / columns,
                           share * (rows - 1 - i / columns) / rows);
        canvas_put(&canvas);
        gnuplot_script_put(script, "unset label\n"); /* titles are written once */
    }
    gnuplot_script_put(script, "unset multiplot\nexit\n");
}

/* Whether a picture ends as a complete one does, ignoring white space. */
static bool is_whole(const char *picture, size_t size, enum figure_format format)
{
    while (size > 0 && (picture[size - 1] == '\n' || picture[size - 1] == ' '))
        size--;
    size_t end = endings[format].size;
    return size >= end && memcmp(picture + size - end, endings[format].text, end) == 0;
}

/* Attributes added to SVG pictures: heat map cells get sharp edges, and "]]>", which
 * gnuplot does not escape, is escaped. */
static const struct {
    const char *found, *written;
} corrections[] = {
    {"<image ", "<image style='image-rendering: crisp-edges; image-rendering: pixelated' "},
    {"]]>", "]]&gt;"}};
#define CORRECTIONS (sizeof corrections / sizeof corrections[0])

static int put_svg(struct text_writer *writer, const char *picture, size_t size,
                   struct bt_error *error)
{
    const char *end = picture + size;
    int result = 0;
    while (result == 0 && picture < end) {
        const char *next = end;
        size_t which = CORRECTIONS;
        for (size_t i = 0; i < CORRECTIONS; i++) {
            const char *found = strstr(picture, corrections[i].found);
            if (found && found < next) {
                next = found;
                which = i;
            }
        }
        result = text_writer_put(writer, picture, (size_t)(next - picture), error);
        picture = next;
        if (result == 0 && which < CORRECTIONS) {
            const char *written = corrections[which].written;
            result = text_writer_put(writer, written, strlen(written), error);
            picture += strlen(corrections[which].found);
        }
    }
    return result;
}

static int save(const char *picture, size_t size, const struct figure_output *output,
                struct bt_error *error)
{
    if (!is_whole(picture, size, output->format))
        return bt_fail(error, BT_IO, "gnuplot drew no whole picture");
    struct text_writer *writer = text_writer_new(output->path, error);
    if (!writer)
        return error->code;
    int result = output->format == FIGURE_SVG ? put_svg(writer, picture, size, error)
                                              : text_writer_put(writer, picture, size, error);
    if (result == 0)
        result = text_writer_finish(writer, error);
    text_writer_free(writer);
    return result;
}

static int draw(struct gnuplot_script *script, const struct figure_output *output,
                struct bt_error *error)
{
    const char *text;
    size_t size;
    char *picture;
    size_t picture_size;
    int result = gnuplot_script_text(script, &text, &size, error);
    if (result == 0)
        result = gnuplot_run(text, size, &picture, &picture_size, error);
    if (result < 0)
        return result;
    result = save(picture, picture_size, output, error);
    free(picture);
    return result;
}

/* --- the user's options --- */

/* Columns of panels in this width: those of the figure, or one. */
static unsigned columns_of(size_t columns, unsigned width)
{
    return columns > 1 && width / columns >= PANEL_WIDTH_MIN ? (unsigned)columns : 1;
}

int figure_panels_check(const struct figure_options *options, size_t panels, size_t columns,
                        struct bt_error *error)
{
    const unsigned width = options->width > 0 ? options->width : FIGURE_WIDTH;
    const unsigned rows = rows_of(panels, columns_of(columns, width));
    const unsigned least = rows * PANEL_HEIGHT_MIN + FIGURE_PIXELS_MIN - PANEL_HEIGHT_MIN;
    if (panels < 2 || options->height == 0 || options->height >= least)
        return 0;
    return bt_fail(error, BT_USAGE,
                   "--size: %zu panels do not fit: a picture %u pixels wide is at least %u pixels "
                   "(%.0fmm) high",
                   panels, width, least, ceil(least / PIXELS_PER_INCH * 25.4));
}

/* A copy of a figure with what the user chose. */
struct chosen {
    struct figure figure;
    struct figure_panel *panels;
    struct figure_series *series;
    char subtitle[SUBTITLE_BYTES];
};

/* Makes an axis logarithmic or linear, unless it has ticks of its own. */
static void choose_scale(struct figure_axis *axis, bool logarithmic)
{
    if (axis->ticks || logarithmic == (axis->scale != FIGURE_LINEAR))
        return;
    axis->scale = !logarithmic                 ? FIGURE_LINEAR
                  : axis->unit == FIGURE_BYTES ? FIGURE_LOG2
                                               : FIGURE_LOG10;
    if (logarithmic) /* a range from 0 is impossible */
        axis->from = axis->to = 0;
}

/* Sets the scales of the panels with curves; areas become steps, because a stack has no logarithm.
 */
static int choose_scales(struct chosen *chosen, enum figure_log log, struct bt_error *error)
{
    const struct figure *figure = &chosen->figure;
    size_t count = 0;
    for (size_t i = 0; i < figure->panel_count; i++)
        count += figure->panels[i].series_count;
    chosen->panels = calloc(figure->panel_count + 1, sizeof *chosen->panels);
    chosen->series = calloc(count + 1, sizeof *chosen->series);
    if (!chosen->panels || !chosen->series)
        return bt_fail(error, BT_MEMORY, "no memory for a figure");
    struct figure_series *next = chosen->series;
    for (size_t i = 0; i < figure->panel_count; i++) {
        struct figure_panel *panel = &chosen->panels[i];
        *panel = figure->panels[i];
        if (panel->heat)
            continue;
        bool of_y = log == FIGURE_LOG_Y || log == FIGURE_LOG_XY;
        choose_scale(&panel->x, log == FIGURE_LOG_X || log == FIGURE_LOG_XY);
        choose_scale(&panel->y, of_y);
        for (size_t s = 0; s < panel->series_count; s++) {
            next[s] = panel->series[s];
            if (of_y && next[s].look == FIGURE_AREA)
                next[s].look = FIGURE_STEPS;
        }
        panel->series = next;
        next += panel->series_count;
    }
    chosen->figure.panels = chosen->panels;
    return 0;
}

static void add_to_subtitle(struct chosen *chosen, const char *label, const char *text)
{
    char *subtitle = chosen->subtitle;
    if (chosen->figure.subtitle != subtitle)
        snprintf(subtitle, SUBTITLE_BYTES, "%s",
                 chosen->figure.subtitle ? chosen->figure.subtitle : "");
    const size_t size = strlen(subtitle);
    snprintf(subtitle + size, SUBTITLE_BYTES - size, "%s%s%s", size > 0 ? "; " : "", label, text);
    chosen->figure.subtitle = subtitle;
}

/* Says so if a panel is too small for its legend. */
static void add_legend_note(struct chosen *chosen, enum figure_format format)
{
    const struct letters letters = letters_of(format, is_small(&chosen->figure));
    struct subtitle subtitle;
    const unsigned head = lay_out_head(&chosen->figure, &letters, &subtitle);
    for (unsigned i = 0; i < chosen->figure.panel_count; i++) {
        const struct canvas canvas = make_canvas(NULL, &chosen->figure, format, head, i);
        if (canvas_lacks_legend(&canvas)) {
            add_to_subtitle(chosen, "", "no room for the legend");
            return;
        }
    }
}

static int choose(struct chosen *chosen, const struct figure *figure,
                  const struct figure_options *options, struct bt_error *error)
{
    *chosen = (struct chosen){.figure = *figure};
    if (options->title)
        chosen->figure.title = *options->title ? options->title : NULL;
    chosen->figure.width = options->width > 0 ? options->width : FIGURE_WIDTH;
    chosen->figure.height = options->height > 0 ? options->height : FIGURE_HEIGHT;
    chosen->figure.columns = columns_of(figure->columns, chosen->figure.width);
    const unsigned rows = rows_of(figure->panel_count, (unsigned)chosen->figure.columns);
    if (options->height == 0 && rows > 2)
        chosen->figure.height = rows * PANEL_HEIGHT + FIGURE_HEIGHT - 2 * PANEL_HEIGHT;
    if (figure_panels_check(options, figure->panel_count, figure->columns, error) < 0)
        return error->code;
    if (options->filter)
        add_to_subtitle(chosen, "filter: ", options->filter);
    return options->log != FIGURE_LOG_SUITABLE ? choose_scales(chosen, options->log, error) : 0;
}

static int write_chosen(const struct figure *figure, const struct figure_output *output,
                        struct bt_error *error)
{
    struct gnuplot_script *script = gnuplot_script_new(error);
    if (!script)
        return error->code;
    put_page(script, figure, output->format, figure->width, figure->height);
    put_panels(script, figure, output->format);
    int result = draw(script, output, error);
    gnuplot_script_free(script);
    return result;
}

int figure_write(const struct figure *figure, const struct figure_output *output,
                 struct bt_error *error)
{
    struct chosen chosen;
    int result = choose(&chosen, figure, &output->options, error);
    if (result == 0) {
        add_legend_note(&chosen, output->format);
        result = write_chosen(&chosen.figure, output, error);
    }
    free(chosen.panels);
    free(chosen.series);
    return result;
}
