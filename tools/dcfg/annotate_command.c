#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/overwrite.h"
#include "tools/dcfg/annotate_html.h"
#include "tools/dcfg/annotate_table.h"
#include "tools/dcfg/annotate_text.h"
#include "tools/dcfg/graph_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PAGE_FUNCTIONS 1000u /* functions on a page without --top */

struct annotate_settings {
    const char *process;
    const char *html; /* NULL: no page */
    struct graph_code_files files;
    struct thread_choice threads;
    uint64_t top;
    bool cold;
    bool csv, json;
    enum view_form form;
    enum disassemble_syntax style;
};

static int take_thread(void *settings, const char *argument, struct bt_error *error)
{
    return thread_choice_add(&((struct annotate_settings *)settings)->threads, argument, error);
}

static int take_syntax(void *field, const char *argument, struct bt_error *error)
{
    const bool att = strcmp(argument, "att") == 0;
    if (!att && strcmp(argument, "intel") != 0)
        return bt_fail(error, BT_USAGE, "'%.40s' is not intel or att", argument);
    *(enum disassemble_syntax *)field = att ? DISASSEMBLE_ATT : DISASSEMBLE_INTEL;
    return 0;
}

#define FIELD(member) offsetof(struct annotate_settings, member)
static const struct option_row annotate_options[] = {
    {OPTION_COUNT, 0, "top", "N", "print only the first N functions", FIELD(top), NULL},
    {OPTION_FLAG, 'a', "all", NULL, "also print instructions that were not executed", FIELD(cold),
     NULL},
    VIEW_THREADS_OPTIONS(FIELD(threads.all), take_thread),
    GRAPH_CODE_IMAGE_ROW(struct annotate_settings, files),
    {OPTION_FILE, 0, "html", "FILE",
     "write a page for browsers, of the first 1000 functions without --top", FIELD(html), NULL},
    {OPTION_CALL, 0, "syntax", "NAME intel att", "intel (the default) or att", FIELD(style),
     take_syntax},
    {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP, FIELD(process), NULL},
    OPTION_CSV_ROW(struct annotate_settings, csv),
    OPTION_JSON_ROW(struct annotate_settings, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Columns of the terminal that standard output is; 0: it is none. */
static size_t terminal_width(void)
{
    struct winsize size = {.ws_col = 0};
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int print_text(struct annotation *annotation, struct bt_error *error)
{
    const struct annotate_graph *graph = annotation->graph;
    struct annotate_text *text = annotate_text_new(stdout, terminal_width(), error);
    int result = text ? 0 : error->code;
    for (uint32_t i = 0; i < graph->order_count && result == 0 && !ferror(stdout); i++) {
        result = annotation_of(annotation, graph->order[i], error);
        if (result == 0)
            result = annotate_text_put(text, annotation, error);
    }
    annotate_text_free(text);
    return result;
}

static int print(const struct annotate_settings *settings, struct annotation *annotation,
                 struct bt_error *error)
{
    if (settings->html)
        return annotate_html_write(annotation, settings->html, error);
    return settings->form == VIEW_TEXT ? print_text(annotation, error)
                                       : annotate_table_print(annotation, settings->form, error);
}

static int annotate(const struct annotate_settings *settings, const struct view *view,
                    const char *const *functions, size_t count, struct bt_error *error)
{
    struct annotate_graph graph;
    struct annotation annotation = {.graph = NULL};
    int result =
        annotate_graph_make(&graph, view, settings->files.at, settings->files.count, error);
    if (result == 0)
        result = thread_counts_make(&graph.threads, view->process, &settings->threads, error);
    if (result == 0 && count > 0 && annotate_graph_choose(&graph, functions, count, error) < 0)
        result = bt_fail_within(error, "%s", view->path);
    if (settings->html && settings->top == UINT64_MAX && count == 0 &&
        graph.order_count > PAGE_FUNCTIONS)
        graph.order_count = PAGE_FUNCTIONS;
    if (settings->top < graph.order_count)
        graph.order_count = (uint32_t)settings->top;
    if (result == 0)
        result = annotation_make(&annotation, &graph, settings->style, settings->cold, error);
    if (result == 0)
        result = print(settings, &annotation, error);
    if (result == 0)
        annotation_put_notes(&annotation, stderr);
    annotation_clear(&annotation);
    annotate_graph_clear(&graph);
    return result;
}

/* FILE or FILE@ADDRESS, and a file's name may contain an @. */
static bool is_image(const char *page, const char *image)
{
    const char *at = strrchr(image, '@');
    char *file = at ? strndup(image, (size_t)(at - image)) : NULL;
    const bool is_it = overwrite_happens(page, image) || (file && overwrite_happens(page, file));
    free(file);
    return is_it;
}

/* The page is none of the files that are read: images, and the sources that the graph names. */
static int check_named(const struct annotate_settings *settings, const struct dcfg *graph,
                       struct bt_error *error)
{
    bool is_read = false;
    for (uint32_t i = 0; settings->html && i < graph->file_name_count; i++)
        is_read |= overwrite_happens(settings->html, dcfg_text(graph, graph->file_names[i].name));
    for (size_t i = 0; settings->html && i < settings->files.count; i++)
        is_read |= is_image(settings->html, settings->files.at[i]);
    return is_read ? bt_fail(error, BT_USAGE, "%.300s is read: the page needs another name",
                             settings->html)
                   : 0;
}

/* The page is a file of its own. */
static int check_page(const struct annotate_settings *settings, char *const *graph,
                      struct bt_error *error)
{
    if (!settings->html)
        return 0;
    if (settings->csv || settings->json)
        return bt_fail(error, BT_USAGE, "--html, --csv and --json exclude each other");
    return overwrite_check(settings->html, 1, graph, "the page", error);
}

static int annotate_main(struct invocation *call)
{
    struct annotate_settings settings = {.top = UINT64_MAX, .style = DISASSEMBLE_INTEL};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count < 1)
        return command_usage(call, "one graph is needed");
    if (view_choose_form(&settings.form, settings.csv, settings.json, &error) < 0 ||
        check_page(&settings, call->arguments, &error) < 0)
        return command_usage(call, "%s", error.message);
    struct view view;
    int result = view_open(&view, call->arguments[0], settings.process, &error);
    if (result == 0)
        result = check_named(&settings, view.graph, &error);
    if (result == 0)
        result = annotate(&settings, &view, (const char *const *)call->arguments + 1,
                          (size_t)call->count - 1, &error);
    view_close(&view);
    if (result == BT_CLOSED) /* ignored: the reader has closed the pipe */
        return STATUS_GOOD;
    return result < 0 ? command_failure(&error) : STATUS_GOOD;
}

const struct command dcfg_annotate_command = {
    .name = "annotate",
    .operands = "FILE [FUNCTION...]",
    .summary = "print instructions with counts, jumps and source lines",
    .details = "Prints the instructions of a graph's functions, those with the most executed "
               "instructions first, or of the given ones: executions, times that each branch was "
               "taken, arrows of jumps, and source lines beside. The code is read from the files "
               "that the graph names.",
    .options = annotate_options,
    .run = annotate_main,
    .group = NULL};
