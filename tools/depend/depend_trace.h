/* Writes the stream of events of a run, in the specification's order (dependence_trace.h). */
#ifndef TOOLS_DEPEND_DEPEND_TRACE_H
#define TOOLS_DEPEND_DEPEND_TRACE_H

#include "capture/depend/depend.h"
#include "formats/dependences/dependence_trace.h"
#include "tools/depend/code_places.h"

#include <stdio.h>

struct depend_trace {
    FILE *out; /* these two are set by the caller */
    const struct code_places *places;
    bool (*is_hidden)(void *context, const struct depend_pair *pair); /* NULL: none is */
    void *context;
    char **tokens; /* private: of places, NULL: not made yet */
    size_t token_count;
    bool out_of_memory; /* an event was lost */
};

void depend_trace_clear(struct depend_trace *trace);

/* depend_settings.found. */
void depend_trace_found(void *trace, const struct depend_found *found);

/* The first two callbacks of struct depend_feed. */
void depend_trace_entered(struct depend_trace *trace, uint32_t function);
void depend_trace_left(struct depend_trace *trace, uint32_t function);

#endif
