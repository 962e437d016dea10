/*
 * What the runtime writes: a trace while the program runs, a report when it ends, perhaps in a
 * signal handler. Therefore the report's stream is made at the beginning; it gets a file when it is
 * written, so that the program's descriptors have their usual numbers.
 */
#define _GNU_SOURCE /* fopencookie */
#include "capture/depend/depend_report.h"
#include "capture/instrument/instrument_internal.h"
#include "formats/dependences/dependence_trace.h"
#include "formats/dependences/dependences_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TRACE_MINIMUM 200 /* lowest descriptor of a trace, beyond those that programs expect */

static ssize_t put(void *unused, const char *octets, size_t size)
{
    (void)unused;
    for (;;) {
        const ssize_t written = write(instrument.descriptor, octets, size);
        if (written >= 0 || errno != EINTR)
            return written < 0 ? 0 : written;
    }
}

static void open_trace(const char *name)
{
    static char buffer[65536];
    int first = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int descriptor = first < 0 ? -1 : fcntl(first, F_DUPFD_CLOEXEC, TRACE_MINIMUM);
    if (descriptor >= 0)
        close(first);
    else
        descriptor = first;
    instrument.trace = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (instrument.trace)
        setvbuf(instrument.trace, buffer, _IOFBF, sizeof buffer);
    else
        instrument_say("%s: %s", name, strerror(errno));
}

void instrument_output_begin(void)
{
    static char buffer[65536];
    instrument.out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put});
    if (instrument.out)
        setvbuf(instrument.out, buffer, _IOFBF, sizeof buffer);
    if (*instrument.options.trace)
        open_trace(instrument.options.trace);
}

/* --- trace -------------------------------------------------------------------------------------
 */

void instrument_trace_found(void *unused, const struct depend_found *found)
{
    struct instrument_places *places = &instrument.places;
    (void)unused;
    if (found->pair->kind != DEPEND_RAW)
        return;
    const struct dependence_event event = {
        .kind = DEPENDENCE_FOUND,
        .sink = instrument_places_token(places, found->sink->place),
        .source = instrument_places_token(places, found->source->place),
        .top_sink = instrument_places_token(places, found->sink->top),
        .top_source = instrument_places_token(places, found->source->top),
        .pseudo_sink = found->sink_time,
        .pseudo_source = found->source_time,
        .frozen_sink = found->sink_frozen,
        .frozen_source = found->source_frozen};
    if (event.sink && event.source && event.top_sink && event.top_source)
        dependence_trace_put(&event, instrument.trace);
    else
        instrument.out_of_memory = true;
}

void instrument_trace_function(bool is_entry, const char *file, const char *function)
{
    char file_token[DEPENDENCE_TOKEN_BYTES], token[DEPENDENCE_TOKEN_BYTES];
    const struct dependence_event event = {.kind = is_entry ? DEPENDENCE_ENTER : DEPENDENCE_LEAVE,
                                           .file = dependence_trace_name(file, file_token),
                                           .function = dependence_trace_name(function, token)};
    dependence_trace_put(&event, instrument.trace);
}

/* --- report ------------------------------------------------------------------------------------
 */

static struct dependence_place describe(void *unused, uint32_t place)
{
    (void)unused;
    return instrument_places_describe(&instrument.places, place);
}

static uint32_t find_head(void *unused, uint32_t loop)
{
    (void)unused;
    return instrument.loops[loop].place;
}

/* Values that loops carry in registers are not seen: there is no verdict. */
static bool is_judged(void *unused, uint32_t loop)
{
    (void)unused;
    (void)loop;
    return false;
}

static int add_notes(struct dependences *to, struct bt_error *error)
{
    static const char *const ends[] = {
        [DEPEND_MEMORY] = "memory was insufficient: later references are not counted",
        [DEPEND_CONTEXTS] = "references after too many different ones are not counted",
        [DEPEND_TIME] = "references after the first 2^40 are not counted"};
    const enum depend_end end = depend_end(instrument.depend);
    int result = 0;
    if (end != DEPEND_COUNTS)
        result = dependences_add_note(to, ends[end], 1, error);
    if (result == 0 && instrument.out_of_memory)
        result =
            dependences_add_note(to, "memory was insufficient: dependences are missing", 1, error);
    if (result == 0 && instrument.skipped > 0)
        result = dependences_add_note(to,
                                      "references are not counted: of signal handlers during a "
                                      "hook, or to impossible addresses",
                                      instrument.skipped, error);
    return result;
}

/* The words of the command line; "" if unknown. */
static void find_command(char *text, size_t size)
{
    const int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t used = descriptor < 0 ? 0 : read(descriptor, text, size - 1);
    if (descriptor >= 0)
        close(descriptor);
    if (used > 0 && text[used - 1] == '\0')
        used--;
    text[used > 0 ? used : 0] = '\0';
    for (ssize_t i = 0; i < used; i++)
        if (text[i] == '\0')
            text[i] = ' ';
}

static int fill(struct dependences *to, const char *ended, struct bt_error *error)
{
    static char command[4096];
    find_command(command, sizeof command);
    const struct dependences_totals totals = {.program = command,
                                              .ended = ended,
                                              .by = DEPENDENCES_BY_INSTRUCTION,
                                              .level = instrument.options.level,
                                              .kinds = instrument.options.kinds,
                                              .references = depend_time(instrument.depend),
                                              .writes = depend_writes(instrument.depend),
                                              .instructions = DEPENDENCES_UNKNOWN};
    const struct depend_report report = {
        .place = describe, .head = find_head, .is_judged = is_judged};
    depend_settle(instrument.depend);
    int result = dependences_set_totals(to, &totals, error);
    if (result == 0)
        result = depend_report_add(&report, instrument.depend, to, error);
    return result == 0 ? add_notes(to, error) : result;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t size = strlen(name), wanted = strlen(end);
    return size >= wanted && strcmp(name + size - wanted, end) == 0;
}

static enum dependences_format format_of(const char *name)
{
    return ends_in(name, ".csv")    ? DEPENDENCES_CSV
           : ends_in(name, ".json") ? DEPENDENCES_JSON
           : ends_in(name, ".dot")  ? DEPENDENCES_DOT
                                    : DEPENDENCES_TEXT;
}

static int write_grouped(struct dependences *found, const char *name, struct bt_error *error)
{
    const enum dependences_format format = format_of(name);
    struct dependences *grouped =
        dependences_group(found, instrument.options.by,
                          format == DEPENDENCES_TEXT ? DEPENDENCES_TEXT_ROWS : SIZE_MAX, error);
    if (!grouped)
        return BT_MEMORY;
    int result = dependences_write(grouped, format, instrument.out, error);
    if (result == 0 && (fflush(instrument.out) != 0 || ferror(instrument.out)))
        result = bt_fail(error, BT_IO, "%s: cannot be written", name);
    dependences_free(grouped);
    return result;
}

void instrument_output_write(const char *ended)
{
    const char *name = instrument.options.output;
    struct bt_error error = {0};
    int result = 0;
    if (instrument.trace && (fflush(instrument.trace) != 0 || ferror(instrument.trace)))
        instrument_say("%s: cannot be written", instrument.options.trace);
    struct dependences *found = dependences_new(&error);
    if (found)
        result = fill(found, ended, &error);
    instrument.descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (instrument.descriptor < 0)
        result = bt_fail_errno(&error, "%s", name);
    if (found && result == 0)
        result = write_grouped(found, name, &error);
    if (instrument.descriptor >= 0 && close(instrument.descriptor) != 0 && result == 0)
        result = bt_fail_errno(&error, "%s", name);
    if (!found || result < 0)
        instrument_say("%s", error.message);
    dependences_free(found);
}
