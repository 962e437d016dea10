#include "tools/common/commands.h"

#include "formats/base/power.h"
#include "formats/base/printable.h"
#include "formats/foreign/trace_format.h"
#include "tools/common/overwrite.h"
#include "tools/convert_limits.h"
#include "tools/input/record_input.h"
#include "tools/symbols/champsim_code.h"
#include "tools/symbols/module_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct convert_settings {
    const char *from;
    const char *to;
    const char *output;
    uint64_t object_size;
    struct foreign_options options;
    bool time_unit_given;
    bool force, quiet;
    struct record_input_settings input; /* how the input is read */
};

static int take_processor(void *settings, const char *argument, struct bt_error *error)
{
    struct convert_settings *convert = settings;
    char *end;
    unsigned long number = strtoul(argument, &end, 10);
    if (*argument < '0' || *argument > '9' || *end || number > UINT8_MAX)
        return bt_fail(error, BT_USAGE, "'%.40s' is not a processor number from 0 to 255",
                       argument);
    convert->options.one_processor = true;
    convert->options.processor = (uint8_t)number;
    return 0;
}

static int take_time_unit(void *settings, const char *argument, struct bt_error *error)
{
    static const struct {
        const char *name;
        uint64_t in_a_second;
    } units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}, {"tick", 0}};
    struct convert_settings *convert = settings;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, argument) == 0) {
            convert->options.time_unit = units[i].in_a_second;
            convert->time_unit_given = true;
            return 0;
        }
    return bt_fail(error, BT_USAGE, "'%.40s' is not a unit of time: s, ms, us, ns or tick",
                   argument);
}

static const struct option_row convert_options[] = {
    {OPTION_TEXT, 't', "to", "FORMAT " TRACE_FORMAT_NAMES,
     "format of OUT (default: by the name of OUT)", offsetof(struct convert_settings, to), NULL},
    {OPTION_TEXT, 'o', "output", "OUT", "output file, - is standard output; .gz and .bz2 compress",
     offsetof(struct convert_settings, output), NULL},
    {OPTION_TEXT, 0, "from", "FORMAT " TRACE_FORMAT_NAMES,
     "format of IN (default: by content or name)", offsetof(struct convert_settings, from), NULL},
    BYU_READING_OPTIONS(struct convert_settings, input.trace.reading),
    CAPTURES_CONCATENATE_OPTION(struct convert_settings, input.concatenate),
    RECORD_INPUT_SELECTION_OPTIONS(struct convert_settings, input),
    {OPTION_CALL, 0, "processor", "N", "convert only requests of this processor", 0,
     take_processor},
    {OPTION_FLAG, 0, "sizes", NULL, "din: write extended din, with sizes",
     offsetof(struct convert_settings, options.sizes), NULL},
    {OPTION_BYTES, 0, "object-size", "BYTES",
     "libCacheSim: size of an object, a power of two (default: 64)",
     offsetof(struct convert_settings, object_size), NULL},
    {OPTION_CALL, 0, "time-unit", "UNIT s ms us ns tick",
     "libCacheSim: s, ms, us, ns or tick (default: s; tick without a clock)", 0, take_time_unit},
    {OPTION_CALL, 0, "image", "ELF[@LOAD]",
     "champsim: a program that was executed, and its load address: registers and branches",
     offsetof(struct convert_settings, input.modules), module_settings_take_image},
    {OPTION_CALL, 0, "modules", "FILE",
     "the same for the programs that bustap exec has listed (default: its list beside IN)",
     offsetof(struct convert_settings, input.modules), module_settings_take_list},
    {OPTION_FLAG, 0, "force", NULL, "replace an existing OUT",
     offsetof(struct convert_settings, force), NULL},
    {OPTION_FLAG, 'q', "quiet", NULL, "do not report what OUT cannot hold",
     offsetof(struct convert_settings, quiet), NULL},
    {OPTION_FLAG, 0, "wrap", NULL, "use the low 32 bits of addresses above 4 GiB in IN",
     offsetof(struct convert_settings, options.wrap), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- checks before writing --- */

static int take_format(const struct trace_format **format, const struct convert_settings *settings,
                       struct bt_error *error)
{
    *format = settings->to ? trace_format_find(settings->to, error)
                           : trace_format_of_path(settings->output);
    if (!*format && !settings->to)
        return bt_fail(error, BT_USAGE, "the name %.200s implies no format: give it with --to",
                       settings->output);
    if (!*format)
        return BT_USAGE;
    const char *suffix = strrchr(settings->output, '.');
    if (strncmp((*format)->name, "byu", 3) == 0 && suffix && strcasecmp(suffix, ".bz2") == 0)
        return bt_fail(error, BT_USAGE,
                       "%.200s: BYU records are read back plain or from gzip, not from bzip2: "
                       "give it a name that ends in .gz",
                       settings->output);
    return 0;
}

static int take_object_size(struct convert_settings *settings, struct bt_error *error)
{
    uint64_t size = settings->object_size;
    if (size < 16 || size > (1u << 31) || !power_is(size))
        return bt_fail(error, BT_USAGE, "objects have a power of two of bytes, 16 to 2G");
    settings->options.object_size = (uint32_t)size;
    return 0;
}

/* --- converting --- */

struct conversion {
    const struct convert_settings *settings;
    const struct trace_format *format;
    struct record_input *input;
    struct sink *sink;
    unsigned held;     /* what the inputs hold, enum trace_format_content */
    uint64_t clock_hz; /* clock of the first trace */
    bool other_clocks; /* a later trace has another clock */
    struct foreign_loss loss;
};

/* Reports the records and fields that the format cannot hold. */
static void report_loss(const struct conversion *conversion)
{
    const struct foreign_loss *loss = &conversion->loss;
    const char *name = conversion->format->name;
    char text[FOREIGN_LOSS_BYTES];
    for (int reason = 0; reason < FOREIGN_REASONS; reason++)
        if (foreign_loss_sentence(text, loss, (enum foreign_reason)reason, name))
            fprintf(stderr, "bustap: %s\n", PRINTABLE(text));
    if (conversion->other_clocks)
        fprintf(stderr, "bustap: the traces have different clocks: ticks of all are taken for "
                        "those of the first\n");
}

/* Ticks per second of the current trace; 0: unknown. */
static uint64_t clock_now(const struct conversion *conversion)
{
    const struct capture_info *info = record_input_info(conversion->input);
    return info ? info->clock_hz : 0;
}

/* Begins OUT with the clock of the first trace. */
static int begin(struct conversion *conversion, bool any, const struct batch *first,
                 struct bt_error *error)
{
    const struct convert_settings *settings = conversion->settings;
    struct foreign_options options = settings->options;
    conversion->clock_hz = options.clock_hz = clock_now(conversion);
    if (any && settings->time_unit_given && options.time_unit > 0 && options.clock_hz == 0 &&
        conversion->format->choices & TRACE_FORMAT_TIME_UNIT)
        return bt_fail(error, BT_USAGE,
                       "the trace has no clock, which --time-unit needs: only tick is possible");
    if (!settings->time_unit_given)
        options.time_unit = options.clock_hz > 0;
    if (any && !settings->quiet)
        convert_limits_print(conversion->format, &options, conversion->held, first,
                             record_input_info(conversion->input), stderr);
    return trace_format_create(&conversion->sink, conversion->format, settings->output, &options,
                               &conversion->loss, error);
}

/* Reads and writes all records. */
static int transfer_all(struct conversion *conversion, struct bt_error *error)
{
    const struct batch *batch = NULL;
    int more = record_input_next(conversion->input, &batch, error);
    int result = more < 0 ? more : begin(conversion, more == 1, batch, error);
    while (result == 0 && more == 1) {
        conversion->other_clocks |= clock_now(conversion) != conversion->clock_hz;
        result = sink_put(conversion->sink, batch, error);
        if (result == 0)
            more = record_input_next(conversion->input, &batch, error);
        if (more < 0)
            result = more;
    }
    if (result == 0) {
        struct sink *sink = conversion->sink;
        conversion->sink = NULL;
        record_input_step(conversion->input, "writing");
        result = sink_close(sink, error);
    }
    return result;
}

/* The programs whose code was fetched. */
struct known_code {
    struct module_lists *lists;
    struct champsim_code *code;
};

/* Reads the code that the options name, or else the lists beside the inputs. A list there that
 * cannot be read is reported, because nobody asked for it. */
static int take_code(struct known_code *known, struct convert_settings *settings,
                     const struct input_paths *paths, struct bt_error *error)
{
    const struct module_captures captures = {paths->paths, paths->count};
    const int result = module_lists_new(&known->lists, &settings->input.modules, &captures, error);
    if (result < 0 && !module_settings_given(&settings->input.modules) && result != BT_MEMORY) {
        if (!settings->quiet)
            fprintf(stderr, "bustap: the list is not used: %s\n", error->message);
        return 0;
    }
    if (result < 0 || module_lists_count(known->lists) == 0)
        return result;
    known->code = champsim_code_new(known->lists, error);
    if (!known->code)
        return error->code;
    settings->options.code = champsim_code_foreign(known->code);
    return 0;
}

/* The exit status. */
static int convert(struct conversion *conversion, const struct input_paths *paths)
{
    const struct convert_settings *settings = conversion->settings;
    struct record_input_settings input = settings->input;
    input.trace.from = settings->from;
    input.quiet_output = strcmp(settings->output, "-") != 0;
    input.count = UINT64_MAX;
    input.trace.foreign = settings->options;
    struct bt_error error;
    int result =
        overwrite_check(settings->output, paths->count, paths->paths, "what is converted", &error);
    if (result == 0)
        result = overwrite_check_exists(settings->output, settings->force, &error);
    if (result == 0)
        result = record_input_open(&conversion->input, paths->count, (char **)paths->paths, &input,
                                   &error);
    conversion->held = convert_limits_held(settings->from, paths);
    if (result == 0)
        result = transfer_all(conversion, &error);
    trace_format_discard(conversion->sink);
    int status = record_input_close(conversion->input);
    if (result == 0 && !settings->quiet)
        report_loss(conversion);
    else if (result < 0 && result != BT_CLOSED && command_failure(&error) > status)
        status = bt_exit_status(result);
    return status;
}

/* Checks the options and converts. */
static int convert_checked(struct invocation *call, struct convert_settings *settings)
{
    struct conversion conversion = {.settings = settings};
    struct known_code known = {.lists = NULL};
    struct bt_error error;
    if (!settings->output)
        return command_usage(call, "where the trace goes to is not said: -o OUT");
    if (take_format(&conversion.format, settings, &error) < 0 ||
        take_object_size(settings, &error) < 0 ||
        (settings->from && !trace_format_find(settings->from, &error)))
        return command_usage(call, "%s", error.message);
    const bool with_code = conversion.format->encoder == &champsim_encoder;
    if (module_settings_given(&settings->input.modules) && !with_code && !settings->input.filter)
        return command_usage(call, "--image and --modules are for champsim: %s holds no registers",
                             conversion.format->name);
    if (settings->options.sizes && !(conversion.format->choices & TRACE_FORMAT_SIZES))
        return command_usage(call, "--sizes is for din: %s has one form", conversion.format->name);
    struct input_paths paths;
    input_paths_take(&paths, call->count, call->arguments);
    const int status = with_code && take_code(&known, settings, &paths, &error) < 0
                           ? command_failure(&error)
                           : convert(&conversion, &paths);
    champsim_code_free(known.code);
    module_lists_free(known.lists);
    return status;
}

static int convert_main(struct invocation *call)
{
    struct convert_settings settings = {.object_size = 64};
    int status;
    return command_options(call, &settings, &status) ? convert_checked(call, &settings) : status;
}

const struct command convert_command = {
    .name = "convert",
    .operands = "[IN...] -o OUT",
    .summary = "convert traces to and from the formats of other programs",
    .details = "Reads captures and traces of other programs and writes them as one trace in "
               "another format; bustap-convert(1) lists the formats. What the output format "
               "cannot hold is reported before the conversion begins, left out, and counted. "
               "Without IN, or if it is -, "
               "standard input is read, as captures or BYU records unless --from names another "
               "format.",
    .options = convert_options,
    .print_more = convert_limits_table,
    .run = convert_main,
    .group = NULL,
    .reads_captures = true};
