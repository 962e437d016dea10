#include "tools/plot/figure.h"

#include "formats/text/text_writer.h"
#include "tools/common/overwrite.h"
#include "tools/plot/canvas_internal.h"
#include "tools/plot/gnuplot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define TITLE_PIXELS    34u
#define SUBTITLE_PIXELS 24u

static const char *const format_names[] = {"svg", "png"};
#define FORMATS (sizeof format_names / sizeof format_names[0])

/* end of a complete picture */
static const struct {
    const char *text;
    size_t size;
} endings[FORMATS] = {{"</svg>", 6}, {"IEND\xae\x42\x60\x82", 8}};

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

int figure_output_prepare(struct figure_output *output, const char *path, const char *format,
                          int count, char *const *inputs, struct bt_error *error)
{
    const char *name = format;
    if (!name) {
        const char *dot = strrchr(path, '.');
        name = dot && !strchr(dot, '/') ? dot + 1 : "";
    }
    size_t i = 0;
    while (i < FORMATS && strcasecmp(name, format_names[i]) != 0)
        i++;
    if (i == FORMATS && format)
        return bt_fail(error, BT_USAGE, "pictures are svg or png, not %s", format);
    if (i == FORMATS && strcmp(path, "-") == 0)
        return bt_fail(error, BT_USAGE,
                       "a picture to standard output needs --plot-format svg or png");
    if (i == FORMATS)
        return bt_fail(error, BT_USAGE,
                       "%s: the name of a picture ends in .svg or .png, or --plot-format says what "
                       "it is",
                       path);
    output->path = path;
    output->format = (enum figure_format)i;
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

/* Writes the settings common to all panels. */
static void put_page(struct gnuplot_script *script, const struct figure *figure,
                     enum figure_format format, unsigned width, unsigned height)
{
    if (format == FIGURE_PNG)
        gnuplot_script_put(script,
                           "set terminal pngcairo size %u,%u noenhanced font \"Sans,11\" "
                           "background rgb \"#ffffff\"\n",
                           width, height);
    else
        gnuplot_script_put(script,
                           "set terminal svg size %u,%u noenhanced font \"sans-serif,14\" "
                           "background rgb \"#ffffff\"\n",
                           width, height);
    gnuplot_script_put(script,
                       "set encoding utf8\n"
                       "set datafile missing \"NaN\"\n"
                       "set border 3 linecolor rgb \"#444444\"\n"
                       "set grid xtics ytics linetype 1 linecolor rgb \"#dddddd\" linewidth 0.5\n"
                       "set style line 100 linewidth 1\n"
                       "set multiplot\n");
    if (figure->title) {
        gnuplot_script_put(script, "set label 1001 ");
        gnuplot_script_quote(script, figure->title, width / 10);
        gnuplot_script_put(script, " at screen 0.5, screen %.12g center font \",%d\"\n",
                           1 - 0.5 * TITLE_PIXELS / height, format == FIGURE_PNG ? 13 : 17);
    }
    if (figure->subtitle) {
        gnuplot_script_put(script, "set label 1002 ");
        gnuplot_script_quote(script, figure->subtitle, width / 7);
        gnuplot_script_put(
            script, " at screen 0.5, screen %.12g center textcolor rgb \"#555555\" font \",%d\"\n",
            1 - (TITLE_PIXELS + 0.3 * SUBTITLE_PIXELS) / height, format == FIGURE_PNG ? 10 : 13);
    }
}

static void put_panels(struct gnuplot_script *script, const struct figure *figure,
                       enum figure_format format, unsigned width, unsigned height)
{
    unsigned head = figure->title ? TITLE_PIXELS : 0;
    head += figure->subtitle ? SUBTITLE_PIXELS : 0;
    unsigned columns = figure->columns > 0 ? (unsigned)figure->columns : 1;
    unsigned rows = ((unsigned)figure->panel_count + columns - 1) / columns;
    double share = 1 - (double)head / height; /* fraction of the height for panels */
    for (unsigned i = 0; i < figure->panel_count; i++) {
        struct canvas canvas = {.script = script,
                                .panel = &figure->panels[i],
                                .format = format,
                                .number = i,
                                .width = width / columns,
                                .height = (height - head) / rows};
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

int figure_write(const struct figure *figure, const struct figure_output *output,
                 struct bt_error *error)
{
    unsigned width = figure->width > 0 ? figure->width : FIGURE_WIDTH;
    unsigned height = figure->height > 0 ? figure->height : FIGURE_HEIGHT;
    if (figure_size_check(width, height, error) < 0)
        return BT_USAGE;
    struct gnuplot_script *script = gnuplot_script_new(error);
    if (!script)
        return error->code;
    put_page(script, figure, output->format, width, height);
    put_panels(script, figure, output->format, width, height);
    int result = draw(script, output, error);
    gnuplot_script_free(script);
    return result;
}
