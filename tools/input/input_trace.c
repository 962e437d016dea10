#include "tools/input/input_trace.h"

#include "formats/base/thread.h"
#include "formats/foreign/trace_format.h"

#include <string.h>

#define DECODING_THREADS_MAX 4u

int input_trace_check(const struct input_trace_settings *settings, struct bt_error *error)
{
    if (!settings->from)
        return 0;
    const struct trace_format *format = trace_format_find(settings->from, error);
    if (!format)
        return BT_USAGE;
    if (settings->reading.lp64 && format->decoder)
        return bt_fail(error, BT_USAGE, "--lp64 is for BYU records, and --from says %s",
                       format->name);
    return 0;
}

/* The format of a trace; NULL and *error if it cannot be determined. */
static const struct trace_format *
format_of(const char *path, const struct input_trace_settings *settings, struct bt_error *error)
{
    if (settings->byu_only)
        return trace_format_find("byu", error);
    if (settings->from)
        return trace_format_find(settings->from, error);
    if (settings->reading.lp64 || settings->reading.raw)
        return trace_format_find("byu", error);
    return trace_format_detect(path, error);
}

/* The reader and the study that it serves work as well: more threads than this have no effect. */
static unsigned decoding_threads(void)
{
    const unsigned others = thread_processors() - 1;
    return others < DECODING_THREADS_MAX ? others : DECODING_THREADS_MAX;
}

int input_trace_open(struct input_trace *input, const char *path,
                     const struct input_trace_settings *settings, struct bt_error *error)
{
    const struct trace_format *format = format_of(path, settings, error);
    *input = (struct input_trace){.source = NULL};
    if (!format)
        return error->code;
    if (format->decoder)
        return trace_format_open(&input->source, format->name, path, &settings->foreign, error);
    bool named = settings->from && !settings->byu_only;
    bool lp64 = settings->reading.lp64 || strcmp(format->name, "byu-lp64") == 0;
    unsigned reading = TRACE_OPTIONS | (lp64 ? TRACE_LP64 : 0u) |
                       (settings->reading.raw || named ? TRACE_INSIST : 0u);
    int result = trace_reader_open(&input->reader, path, reading, error);
    if (result < 0)
        return result;
    input->source = trace_reader_source(input->reader);
    if (!settings->undivided)
        trace_reader_decode_ahead(input->reader, decoding_threads());
    return 0;
}

void input_trace_close(struct input_trace *input)
{
    source_close(input->source);
    *input = (struct input_trace){.source = NULL};
}

bool input_trace_has_blocks(const struct input_trace *input)
{
    return input->reader && trace_reader_kind(input->reader) == TRACE_CAPTURE;
}

uint64_t input_trace_offset(const struct input_trace *input)
{
    return input->reader ? trace_reader_offset(input->reader) : trace_format_offset(input->source);
}

uint64_t input_trace_size(const struct input_trace *input)
{
    return input->reader ? trace_reader_size(input->reader) : trace_format_size(input->source);
}
