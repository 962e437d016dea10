/*
 * Plain dependences: those of a trace without what is only bookkeeping of calls. The stack pointer,
 * frame pointers, return addresses, and what the dynamic linker wrote for others are left out; a
 * register that was saved and restored depends on what was saved (doc/wet.md, "Plain dependences").
 */
#ifndef TOOLS_WET_SLICE_SLICE_PLAIN_H
#define TOOLS_WET_SLICE_SLICE_PLAIN_H

#include "tools/wet/replay/wet_registers.h"
#include "tools/wet/replay/wet_replay.h"
#include "tools/wet/slice/slice_map.h"
#include "tools/wet/slice/slice_set.h"

#define SLICE_FORM_NONE  255u
#define SLICE_FORM_STATE 254u /* all vector and mask registers */

/* What an instruction is for calls. */
struct slice_form {
    uint8_t saves, restores; /* a general register, SLICE_FORM_STATE or SLICE_FORM_NONE */
    bool is_call;
    bool is_frame;  /* it defines rbp as the frame pointer */
    bool is_linker; /* code of the dynamic linker */
};

/* By id; the caller frees it. NULL: no memory. */
struct slice_form *slice_forms_make(const struct wet_trace *trace);

/* Whether a form is about a register of wet_registers.h. */
bool slice_form_has(uint8_t form, unsigned reg);

/* Whether a dependence through memory is left out. */
static inline bool slice_form_hides(const struct slice_form *forms, uint32_t reader,
                                    uint32_t writer)
{
    return forms[writer].is_call || (forms[writer].is_linker && !forms[reader].is_linker);
}

/*
 * The save that a restore restores: the only writer of its memory, or of a state the only one that
 * saves states. writers: those of its port of memory. false: there is none.
 */
bool slice_form_pair(const struct slice_form *forms, uint32_t restore,
                     const struct wet_writers *writers, size_t count, struct wet_instance *save);

/* --- in replays --------------------------------------------------------------------------------
 */

/* What a saved or restored register depended on. */
struct slice_carried {
    struct wet_instance instance; /* the save or the restore */
    uint32_t reg;
    uint32_t first, count; /* in slice_plain.writers */
};

/* Zeroed but for forms and the function; free with slice_plain_clear(). */
struct slice_plain {
    const struct slice_form *forms; /* NULL: all dependences */
    const struct wet_trace *trace;
    /* Whether an instance is of interest: other ones are forgotten. */
    bool (*wants)(void *context, struct wet_instance instance);
    void *context;

    /* private */
    struct slice_set restores; /* that have a save */
    struct hash_index index;
    struct slice_carried *carried;
    size_t carried_count, carried_capacity;
    struct wet_instance *writers;
    size_t writer_count, writer_capacity;
};

void slice_plain_init(struct slice_plain *plain, const struct wet_trace *trace,
                      const struct slice_form *forms);
void slice_plain_clear(struct slice_plain *plain);

/* Called for each wanted instance that a step depends on by a data port: some more than once.
 * Results other than 0 end the visit. */
typedef int slice_plain_visit(void *context, enum slice_kind kind, struct wet_instance writer);

/* Visits what a step's data ports depend on, and notes what it saves and restores. Each step must
 * be given, in order. 0, BT_MEMORY, or the result of a visit. */
int slice_plain_step(struct slice_plain *plain, const struct wet_step *step,
                     slice_plain_visit *visit);

#endif
