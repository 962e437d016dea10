#include "tools/common/commands.h"

#include "formats/base/grow.h"
#include "formats/base/printable.h"
#include "tools/common/progress.h"
#include "tools/wet/slice/slice_names.h"
#include "tools/wet/slice/slice_print.h"
#include "tools/wet/slice/slice_where.h"

#include <string.h>

struct command_settings {
    bool all, forward, data, instructions, values, json, dot;
    uint64_t depth;
    const char *why;
};

#define DEPTH_USUAL    UINT64_MAX /* not given */
#define OPTION(member) offsetof(struct command_settings, member)

static const struct option_row slice_options[] = {
    {OPTION_FLAG, 'a', "all", NULL,
     "all dependences, also through stack and frame pointers, return addresses, saved registers",
     OPTION(all), NULL},
    {OPTION_FLAG, 0, "forward", NULL, "what depends on WHERE, not what WHERE depends on",
     OPTION(forward), NULL},
    {OPTION_FLAG, 0, "data", NULL, "leave out control dependences", OPTION(data), NULL},
    {OPTION_COUNT, 'd', "depth", "N", "only what is at most N dependences away from WHERE",
     OPTION(depth), NULL},
    {OPTION_TEXT, 0, "why", "WHERE2",
     "print one shortest chain of dependences between WHERE and WHERE2 (without an instance: any)",
     OPTION(why), NULL},
    {OPTION_FLAG, 0, "values", NULL, "also print the value of the last instance in the slice",
     OPTION(values), NULL},
    {OPTION_FLAG, 'i', "instructions", NULL, "by instruction, not by source line",
     OPTION(instructions), NULL},
    OPTION_JSON_ROW(struct command_settings, json),
    {OPTION_FLAG, 0, "dot", NULL, "a graph for Graphviz", OPTION(dot), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* One call. */
struct slicing {
    const struct command_settings *settings;
    const char *path, *where_text;
    struct wet_trace trace;
    struct slice_where where, why;
    uint64_t *counts;         /* by id */
    struct slice_form *forms; /* by id; NULL: all dependences */
    struct slice_criterion criterion;
    struct slice_result result;
    struct slice_rows rows;
    struct slice_values values;
    struct slice_edges edges;
    struct slice_link *chain;
    size_t chain_count, chain_capacity;
    struct progress progress;
};

static void show(void *context, uint64_t done, uint64_t total)
{
    struct slicing *slicing = context;
    progress_show(&slicing->progress, slicing->path, done, total);
}

static struct slice_settings settings_of(struct slicing *slicing)
{
    const struct command_settings *settings = slicing->settings;
    return (struct slice_settings){
        .forms = slicing->forms,
        .data = settings->data,
        .depth = settings->depth >= SLICE_DEPTH_ALL ? SLICE_DEPTH_ALL : (uint32_t)settings->depth,
        .keeps_members = settings->dot,
        .progress = show,
        .context = slicing};
}

/* --- slices ------------------------------------------------------------------------------------
 */

static int read_values(struct slicing *slicing, struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < slicing->rows.id_count && result == 0; i++) {
        const uint32_t id = slicing->rows.ids[i];
        result = slice_values_want(
            &slicing->values,
            (struct wet_instance){.id = id, .instance = slicing->result.last[id]});
    }
    if (result < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the values");
    return slice_values_read(&slicing->values, &slicing->trace, error);
}

static int print_slice(struct slicing *slicing, struct bt_error *error)
{
    const struct command_settings *settings = slicing->settings;
    const struct slice_settings how = settings_of(slicing);
    const struct slice_report report = {.trace = &slicing->trace,
                                        .where = slicing->where_text,
                                        .forward = settings->forward,
                                        .data = settings->data,
                                        .by_instruction = settings->instructions,
                                        .depth = how.depth,
                                        .result = &slicing->result,
                                        .rows = &slicing->rows,
                                        .values = settings->values ? &slicing->values : NULL,
                                        .edges = &slicing->edges};
    int result = 0;
    if (slice_rows_make(&slicing->rows, &slicing->trace.file.code, slicing->result.counts,
                        (settings->instructions ? SLICE_BY_INSTRUCTION : 0u) |
                            (settings->all || settings->json ? 0u : SLICE_BY_LIBRARY)) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the rows");
    if (settings->values)
        result = read_values(slicing, error);
    if (result == 0 && settings->dot)
        result = slice_edges_read(&slicing->edges, &slicing->trace, &slicing->rows,
                                  &slicing->result.members, slicing->forms, settings->data, error);
    progress_clear(&slicing->progress);
    if (result < 0)
        return result;
    if (settings->dot)
        slice_print_dot(&report, stdout);
    else if ((settings->json ? slice_print_json : slice_print_text)(&report, stdout) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the report");
    return 0;
}

static int slice(struct slicing *slicing, struct bt_error *error)
{
    const struct slice_settings how = settings_of(slicing);
    const bool forward = slicing->settings->forward;
    if (forward && slicing->where.kind == SLICE_AT_END)
        return bt_fail(error, BT_USAGE,
                       "nothing depends on the end: --forward needs another place");
    const int result = (forward ? slice_forward : slice_backward)(
        &slicing->trace, &slicing->criterion, &how, &slicing->result, error);
    return result < 0 ? result : print_slice(slicing, error);
}

/* --- chains ------------------------------------------------------------------------------------
 */

static int add_link(struct slicing *slicing, const struct slice_link *link)
{
    struct slice_link *larger = grow_array(slicing->chain, &slicing->chain_capacity,
                                           slicing->chain_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    slicing->chain = larger;
    larger[slicing->chain_count++] = *link;
    return slicing->settings->values ? slice_values_want(&slicing->values, link->instance) : 0;
}

/* Looks for a chain from a criterion back to a place. 1: found; 0: not; or a negative code. */
static int find_chain(struct slicing *slicing, const struct slice_criterion *from,
                      const struct slice_where *to, struct bt_error *error)
{
    struct slice_settings how = settings_of(slicing);
    struct slice_criterion targets = {.instances = NULL};
    struct slice_set set;
    bool *ids = calloc(slicing->trace.file.code.instruction_count + 1, sizeof *ids);
    int result = ids ? 0 : bt_fail(error, BT_MEMORY, "no memory for the places");
    slice_set_init(&set);
    if (result == 0)
        result = slice_where_find(to, &slicing->trace, slicing->counts, &targets, error);
    for (size_t i = 0; i < targets.count && result >= 0; i++)
        result = slice_set_add(&set, targets.instances[i].id, targets.instances[i].instance);
    if (result >= 0) {
        slice_where_mark(to, &slicing->trace, ids);
        how.keeps_links = true;
        how.targets = &set;
        how.target_ids = to->has_instance ? NULL : ids;
        slice_result_clear(&slicing->result);
        result = slice_backward(&slicing->trace, from, &how, &slicing->result, error);
    }
    const struct slice_link *link =
        result == 0 && slicing->result.target.instance.id ? &slicing->result.target : NULL;
    while (link && result >= 0) {
        result =
            add_link(slicing, link) < 0 ? bt_fail(error, BT_MEMORY, "no memory for the chain") : 1;
        link = link->next.id ? slice_map_find(&slicing->result.links, link->next) : NULL;
    }
    slice_criterion_clear(&targets);
    slice_set_clear(&set);
    free(ids);
    return result;
}

static int print_chain(struct slicing *slicing, bool swapped, struct bt_error *error)
{
    const struct command_settings *settings = slicing->settings;
    const struct slice_chain chain = {.trace = &slicing->trace,
                                      .from = swapped ? settings->why : slicing->where_text,
                                      .to = swapped ? slicing->where_text : settings->why,
                                      .links = slicing->chain,
                                      .count = slicing->chain_count,
                                      .folds = !settings->all,
                                      .values = settings->values ? &slicing->values : NULL};
    const int result =
        settings->values ? slice_values_read(&slicing->values, &slicing->trace, error) : 0;
    progress_clear(&slicing->progress);
    if (result < 0)
        return result;
    return (settings->json ? slice_print_chain_json : slice_print_chain)(&chain, stdout) < 0
               ? bt_fail(error, BT_MEMORY, "no memory for the report")
               : 0;
}

/* Prints a chain from WHERE back to WHERE2, or else from WHERE2 back to WHERE. */
static int explain(struct slicing *slicing, struct bt_error *error)
{
    struct slice_criterion other = {.instances = NULL};
    bool swapped = false;
    int result = 0;
    if (slicing->why.kind == SLICE_AT_END)
        return bt_fail(error, BT_USAGE, "nothing depends on the end: give it as WHERE");
    result = find_chain(slicing, &slicing->criterion, &slicing->why, error);
    if (result == 0 && slicing->where.kind != SLICE_AT_END) {
        swapped = true;
        result = slice_where_find(&slicing->why, &slicing->trace, slicing->counts, &other, error);
        if (result == 0)
            result = find_chain(slicing, &other, &slicing->where, error);
    }
    slice_criterion_clear(&other);
    if (result == 0)
        return bt_fail(error, BT_DATA, "neither depends on the other: %.150s and %.150s",
                       PRINTABLE(slicing->where_text), PRINTABLE(slicing->settings->why));
    return result < 0 ? result : print_chain(slicing, swapped, error);
}

/* --- the command -------------------------------------------------------------------------------
 */

static int run(struct slicing *slicing, struct bt_error *error)
{
    progress_step(&slicing->progress, "reading the program's code");
    int result = wet_trace_open(&slicing->trace, slicing->path, error);
    if (result < 0)
        return result;
    slicing->counts = slice_where_counts(&slicing->trace);
    if (!slicing->settings->all)
        slicing->forms = slice_forms_make(&slicing->trace);
    if (!slicing->counts || (!slicing->settings->all && !slicing->forms))
        return bt_fail(error, BT_MEMORY, "no memory for the program's code");
    if (slicing->settings->values && !slicing->trace.file.header.has_values)
        return bt_fail(error, BT_USAGE, "the trace has no values: record it without --no-values");
    result = slice_names_resolve(&slicing->where, &slicing->trace, error);
    if (result == 0 && slicing->settings->why)
        result = slice_names_resolve(&slicing->why, &slicing->trace, error);
    if (result == 0)
        result = slice_where_find(&slicing->where, &slicing->trace, slicing->counts,
                                  &slicing->criterion, error);
    if (result < 0)
        return result;
    return slicing->settings->why ? explain(slicing, error) : slice(slicing, error);
}

/* Reports that the trace is not whole. */
static int say_incomplete(const struct slicing *slicing)
{
    const struct wet_file *file = &slicing->trace.file;
    if (file->is_cut)
        fprintf(stderr, "bustap: %s: %s; only what is before it was searched\n",
                PRINTABLE(slicing->path), file->cut.message);
    else if (!file->is_closed)
        fprintf(stderr,
                "bustap: %s: its end is missing: the recording was cut off, or still continues\n",
                PRINTABLE(slicing->path));
    else
        return STATUS_GOOD;
    return STATUS_DATA;
}

static int check(const struct command_settings *settings, struct bt_error *error)
{
    if (settings->json && settings->dot)
        return bt_fail(error, BT_USAGE, "--json and --dot exclude each other");
    if (settings->why && (settings->forward || settings->dot || settings->instructions))
        return bt_fail(error, BT_USAGE,
                       "--why goes with --data, --depth, --values and --json only");
    return 0;
}

static void clear(struct slicing *slicing)
{
    slice_criterion_clear(&slicing->criterion);
    slice_result_clear(&slicing->result);
    slice_rows_clear(&slicing->rows);
    slice_values_clear(&slicing->values);
    slice_edges_clear(&slicing->edges);
    free(slicing->chain);
    free(slicing->counts);
    free(slicing->forms);
    wet_trace_close(&slicing->trace);
}

static int slice_main(struct invocation *call)
{
    struct command_settings settings = {.depth = DEPTH_USUAL};
    struct slicing slicing = {.settings = &settings};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 2)
        return command_usage(call, "FILE.wet and WHERE are needed");
    slicing.path = call->arguments[0];
    slicing.where_text = call->arguments[1];
    if (check(&settings, &error) < 0 ||
        slice_where_parse(&slicing.where, slicing.where_text, &error) < 0 ||
        (settings.why && slice_where_parse(&slicing.why, settings.why, &error) < 0))
        return command_usage(call, "%s", error.message);
    progress_begin(&slicing.progress, false);
    const int result = run(&slicing, &error);
    progress_clear(&slicing.progress);
    if (result == 0)
        status = say_incomplete(&slicing);
    else
        status = command_failure(&error);
    if (result == BT_USAGE && slicing.counts && say_incomplete(&slicing) != STATUS_GOOD)
        status = STATUS_DATA; /* the place may be in what is missing */
    clear(&slicing);
    return status;
}

const struct command slice_command = {
    .name = "slice",
    .operands = "FILE.wet WHERE",
    .summary = "find what a place in a recorded execution depends on",
    .details =
        "Finds everything that an executed instruction depended on, directly or not, in a file of "
        "bustap wet, and prints the source lines with the number of instances. WHERE is "
        "ADDRESS[#INSTANCE], FILE:LINE[#INSTANCE] (of each instruction of the line), the name of a "
        "function or of a variable (of each instruction that writes it), or end (where the program "
        "ended or crashed); instances count from 0, the last one is the default. - is "
        "standard input.",
    .options = slice_options,
    .run = slice_main,
    .group = NULL};
