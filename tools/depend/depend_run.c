#include "tools/depend/depend_run.h"

#include "capture/depend/depend_report.h"
#include "capture/exec/kernel/signals.h"
#include "formats/base/printable.h"
#include "tools/common/own_stream.h"
#include "tools/depend/place_roles.h"

#include <inttypes.h>

extern char **environ;

#define MISSING_SAID 10u  /* names of missing functions that are printed */
#define JUDGED_SHARE 100u /* loops with one hundredth of the instructions get a verdict */

/* --- callbacks ---------------------------------------------------------------------------------
 */

static bool is_hidden(void *context, const struct depend_pair *pair)
{
    const struct depend_run *run = context;
    const struct code_place *places = run->places.places;
    const uint32_t sink = depend_context(run->depend, pair->sink)->place;
    const uint32_t source = depend_context(run->depend, pair->source)->place;
    return !run->settings->all &&
           place_roles_hide((enum depend_kind)pair->kind, &places[sink], &places[source]);
}

static bool is_detail(void *context, uint32_t function)
{
    struct depend_run *run = context;
    return depend_detail_has(&run->detail, functions_get(run->functions, function), run->own);
}

static int read_memory(void *context, void *bytes, uint64_t address, size_t size)
{
    return process_read(((struct depend_run *)context)->process, bytes, address, size);
}

static bool find_mapping(void *context, uint64_t address, uint64_t *begin, uint64_t *end)
{
    return process_mapping(((struct depend_run *)context)->process, address, begin, end);
}

static void enter(void *context, uint32_t function)
{
    depend_trace_entered(((struct depend_run *)context)->trace, function);
}

static void leave(void *context, uint32_t function)
{
    depend_trace_left(((struct depend_run *)context)->trace, function);
}

/* Without memory the run continues, and its report says what is missing. */
static void note_result(struct depend_run *run, int result)
{
    run->out_of_memory |= result < 0;
}

static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct depend_run *run = context;
    struct own_signals signals;
    if (run->is_child || run->is_incomplete)
        return 0;
    if (run->trace)
        own_stream_hold(&signals);
    const int result = depend_feed_take(&run->feed, expander, entries, count, part, instructions);
    if (run->trace)
        own_stream_release(&signals);
    if (result != BT_MEMORY)
        return result;
    run->is_incomplete = true; /* what was found so far is reported */
    depend_stop(run->depend, DEPEND_MEMORY);
    return 0;
}

static void look(void *context, const struct modules *modules)
{
    struct depend_run *run = context;
    uint64_t from, until;
    if (!run->own && modules_count(modules) > 0)
        run->own = modules_get(modules, 0);
    functions_set_modules(run->functions, modules);
    region_places_look(&run->region, modules);
    region_places_addresses(&run->region, &from, &until);
    process_set_region(run->process, from, until);
    note_result(run, depend_memory_look(&run->memory, modules));
}

static void reach(void *context, unsigned processor, uint64_t address, const uint64_t *registers)
{
    struct depend_run *run = context;
    if (!run->is_child)
        note_result(run, depend_memory_reached(&run->memory, processor, address, registers));
}

static void note_call(void *context, unsigned processor, const struct system_call *call,
                      bool returned)
{
    struct depend_run *run = context;
    if (!run->is_child)
        note_result(run, depend_memory_called(&run->memory, processor, call, returned));
}

static void note_signal(void *context, unsigned processor, const struct signal_report *signal)
{
    struct depend_run *run = context;
    if (!run->is_child && signal->handler)
        note_result(run, depend_feed_signal(&run->feed, processor, signal->stack));
}

/* A child is not traced. */
static void let_go(void *context, bool shares_files)
{
    (void)shares_files;
    struct depend_run *run = context;
    run->is_child = true;
    process_close_regions(run->process);
}

static void conclude(void *context, const char *path)
{
    struct depend_run *run = context;
    if (!run->is_child)
        run->executing(run->context, path);
}

static void notice(void *context, const char *what)
{
    own_stream_notice(((struct depend_run *)context)->messages, what);
}

static const struct process_operations operations = {.take = take,
                                                     .forked = let_go,
                                                     .executing = conclude,
                                                     .loaded = look,
                                                     .signalled = note_signal,
                                                     .called = note_call,
                                                     .reached = reach,
                                                     .notice = notice};

/* --- beginning ---------------------------------------------------------------------------------
 */

static int make_engine(struct depend_run *run, struct bt_error *error)
{
    const struct depend_run_settings *settings = run->settings;
    const struct depend_settings engine = {.kinds = settings->kinds |
                                                    (run->trace ? 1u << DEPEND_RAW : 0),
                                           .address_bits = 32,
                                           .every = settings->level == DEPENDENCES_LEVEL_ACCESS,
                                           .memory = settings->max_memory,
                                           .found = run->trace ? depend_trace_found : NULL,
                                           .context = run->trace};
    run->depend = depend_new(&engine, error);
    return run->depend ? 0 : error->code;
}

static int make_feed(struct depend_run *run, struct bt_error *error)
{
    run->functions = functions_new();
    if (!run->functions)
        return bt_fail(error, BT_MEMORY, "no memory for the program's functions");
    code_places_init(&run->places, run->functions);
    run->flow = (struct feed_flow){
        .functions = run->functions, .read = read_memory, .is_detail = is_detail, .context = run};
    run->feed = (struct depend_feed){.depend = run->depend,
                                     .flow = &run->flow,
                                     .places = &run->places,
                                     .mapping = find_mapping,
                                     .entered = run->trace ? enter : NULL,
                                     .left = run->trace ? leave : NULL,
                                     .context = run};
    run->memory = (struct depend_memory){.feed = &run->feed};
    if (feed_flow_init(&run->flow) < 0 || depend_feed_init(&run->feed) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    return depend_memory_init(&run->memory, error);
}

int depend_run_begin(struct depend_run *run, const char *path, const char *const *arguments,
                     struct depend_trace *trace, struct bt_error *error)
{
    const struct depend_run_settings *settings = run->settings;
    const struct region_options *region = &settings->region;
    run->trace = trace;
    int result = depend_detail_read(&run->detail, settings->detail, error);
    if (result == 0)
        result = region_places_parse(&run->region, region->calls ? region->calls : region->from,
                                     region->until, error);
    if (result == 0)
        result = make_engine(run, error);
    if (result == 0)
        result = make_feed(run, error);
    if (result < 0)
        return result;
    if (trace) {
        trace->places = &run->places;
        trace->is_hidden = is_hidden;
        trace->context = run;
    }
    const struct process_settings process = {.trace = EXEC_TRACE_ALL,
                                             .regions = region_options_regions(region),
                                             .quantum = settings->quantum,
                                             .stores = !settings->no_cache,
                                             .stack = {.environment = (const char *const *)environ},
                                             .operations = &operations,
                                             .context = run};
    run->process = process_new(path, arguments, &process, error);
    run->memory.process = run->process;
    return run->process ? 0 : error->code;
}

void depend_run_clear(struct depend_run *run)
{
    process_free(run->process);
    loop_judge_clear(&run->judge);
    depend_memory_clear(&run->memory);
    depend_feed_clear(&run->feed);
    feed_flow_clear(&run->flow);
    code_places_clear(&run->places);
    functions_free(run->functions);
    depend_free(run->depend);
    region_places_clear(&run->region);
    depend_detail_clear(&run->detail);
}

/* --- the result --------------------------------------------------------------------------------
 */

static struct dependence_place describe(void *context, uint32_t place)
{
    return code_places_describe(&((struct depend_run *)context)->places, place);
}

static uint32_t find_head(void *context, uint32_t loop)
{
    struct depend_run *run = context;
    const struct feed_loop *found = &run->flow.loops[loop];
    uint32_t place = DEPEND_NONE;
    code_places_add(&run->places, found->head, found->function, &place);
    return place;
}

/* At function level what other functions do among themselves is not known. Without reads after
 * writes nothing can be said. */
static bool is_judged(void *context, uint32_t loop)
{
    const struct depend_run *run = context;
    if (!(run->settings->kinds >> DEPEND_RAW & 1))
        return false;
    return run->settings->level == DEPENDENCES_LEVEL_ACCESS ||
           run->flow.by_number[run->flow.loops[loop].function]->is_detail;
}

static enum depend_carry judge_carry(void *context, const struct depend_pair *pair)
{
    return loop_judge_carry(&((struct depend_run *)context)->judge, pair);
}

static int judge_values(void *context, uint32_t loop, depend_value_function *add, void *to,
                        struct bt_error *error)
{
    return loop_judge_values(&((struct depend_run *)context)->judge, loop, add, to, error);
}

/* Says why counting ended early, and what else is missing. */
static int add_notes(const struct depend_run *run, struct dependences *to, struct bt_error *error)
{
    static const char *const ends[] = {
        [DEPEND_MEMORY] = "references after the memory limit was reached are not counted",
        [DEPEND_CONTEXTS] = "references after too many different ones are not counted",
        [DEPEND_TIME] = "references after the first 2^40 are not counted"};
    const enum depend_end end = depend_end(run->depend);
    const uint64_t counted = depend_time(run->depend);
    int result = 0;
    if (end != DEPEND_COUNTS)
        result = dependences_add_note(
            to, ends[end], run->feed.references > counted ? run->feed.references - counted : 1,
            error);
    if (result == 0 && (run->out_of_memory || (run->trace && run->trace->out_of_memory)))
        result =
            dependences_add_note(to, "memory was insufficient: dependences are missing", 1, error);
    if (result == 0 && run->memory.unknown_calls > 0)
        result = dependences_add_note(to, "system calls whose writes to memory are not known",
                                      run->memory.unknown_calls, error);
    return result;
}

static int fill(struct depend_run *run, struct dependences *to, const char *ended,
                struct bt_error *error)
{
    const struct depend_feed *feed = &run->feed;
    const struct dependences_totals totals = {.program = run->program,
                                              .ended = ended,
                                              .by = DEPENDENCES_BY_INSTRUCTION,
                                              .level = run->settings->level,
                                              .kinds = run->settings->kinds,
                                              .references = feed->references,
                                              .writes = feed->writes,
                                              .instructions = feed->instructions};
    run->judge.depend = run->depend;
    run->judge.flow = &run->flow;
    run->judge.places = &run->places;
    const struct depend_report report = {.place = describe,
                                         .head = find_head,
                                         .is_judged = is_judged,
                                         .is_hidden = is_hidden,
                                         .carry = judge_carry,
                                         .values = judge_values,
                                         .context = run,
                                         .judged_from = feed->instructions / JUDGED_SHARE + 1};
    int result = dependences_set_totals(to, &totals, error);
    if (result == 0)
        result = depend_report_add(&report, run->depend, to, error);
    return result == 0 ? add_notes(run, to, error) : result;
}

struct dependences *depend_run_result(struct depend_run *run, const char *ended,
                                      struct bt_error *error)
{
    struct dependences *result = dependences_new(error);
    if (!result)
        return NULL;
    depend_settle(run->depend);
    if (!run->settings->raw_names)
        functions_demangle(run->functions);
    if (fill(run, result, ended, error) == 0)
        return result;
    dependences_free(result);
    return NULL;
}

/* Says which DETAIL functions were not found. */
static void say_missing(const struct depend_run *run)
{
    const struct depend_detail *detail = &run->detail;
    size_t missing = 0;
    for (size_t i = 0; i < detail->count; i++) {
        if (detail->names[i].found || missing++ >= MISSING_SAID)
            continue;
        own_stream_say(run->messages, "the DETAIL function %.200s was not executed, or is missing",
                       PRINTABLE(detail->names[i].name));
    }
    if (missing > MISSING_SAID)
        own_stream_say(run->messages, "and %zu more", missing - MISSING_SAID);
    if (detail->is_listed && detail->count == 0)
        own_stream_say(run->messages, "the list of DETAIL functions is empty: at level function, "
                                      "nothing is reported");
}

void depend_run_say(const struct depend_run *run)
{
    say_missing(run);
    if (run->process)
        region_places_report(&run->region, process_has_opened(run->process),
                             run->settings->region.markers, run->messages);
    functions_print_refused(run->functions, run->messages);
    if (depend_end(run->depend) == DEPEND_MEMORY)
        own_stream_say(run->messages,
                       "the limit of memory was reached after %" PRIu64
                       " references; later ones are not counted. Raise --max-memory, or trace a "
                       "part of the program",
                       depend_time(run->depend));
}
