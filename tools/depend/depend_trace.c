#include "tools/depend/depend_trace.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

void depend_trace_clear(struct depend_trace *trace)
{
    for (size_t i = 0; i < trace->token_count; i++)
        free(trace->tokens[i]);
    free(trace->tokens);
    trace->tokens = NULL;
    trace->token_count = 0;
}

/* The token of a place, which is made once. NULL: no memory. */
static const char *token_of(struct depend_trace *trace, uint32_t place)
{
    char token[DEPENDENCE_TOKEN_BYTES];
    if (place == DEPEND_NONE)
        return "?:0";
    const size_t before = trace->token_count;
    char **larger =
        grow_array(trace->tokens, &trace->token_count, (size_t)place + 1, sizeof *larger);
    if (!larger)
        return NULL;
    trace->tokens = larger;
    memset(larger + before, 0, (trace->token_count - before) * sizeof *larger);
    if (!larger[place]) {
        const struct dependence_place described = code_places_describe(trace->places, place);
        larger[place] = strdup(dependence_trace_place(&described, token));
    }
    return larger[place];
}

void depend_trace_found(void *context, const struct depend_found *found)
{
    struct depend_trace *trace = context;
    if (found->pair->kind != DEPEND_RAW ||
        (trace->is_hidden && trace->is_hidden(trace->context, found->pair)))
        return;
    const struct dependence_event event = {.kind = DEPENDENCE_FOUND,
                                           .sink = token_of(trace, found->sink->place),
                                           .source = token_of(trace, found->source->place),
                                           .top_sink = token_of(trace, found->sink->top),
                                           .top_source = token_of(trace, found->source->top),
                                           .pseudo_sink = found->sink_time,
                                           .pseudo_source = found->source_time,
                                           .frozen_sink = found->sink_frozen,
                                           .frozen_source = found->source_frozen};
    if (event.sink && event.source && event.top_sink && event.top_source)
        dependence_trace_put(&event, trace->out);
    else
        trace->out_of_memory = true;
}

static void put_function(struct depend_trace *trace, enum dependence_event_kind kind,
                         uint32_t number)
{
    char file_token[DEPENDENCE_TOKEN_BYTES], token[DEPENDENCE_TOKEN_BYTES];
    struct functions *functions = trace->places->functions;
    const struct function *function = functions_get(functions, number);
    const struct function_line line = functions_line(functions, function->module, function->start);
    const struct dependence_event event = {.kind = kind,
                                           .file = dependence_trace_name(line.file, file_token),
                                           .function =
                                               dependence_trace_name(function->name, token)};
    dependence_trace_put(&event, trace->out);
}

void depend_trace_entered(struct depend_trace *trace, uint32_t function)
{
    put_function(trace, DEPENDENCE_ENTER, function);
}

void depend_trace_left(struct depend_trace *trace, uint32_t function)
{
    put_function(trace, DEPENDENCE_LEAVE, function);
}
