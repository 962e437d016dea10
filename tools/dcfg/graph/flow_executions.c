/* Follows threads through executions of blocks, which take as many steps as they have runs. */
#include "formats/base/grow.h"
#include "formats/blocks/block_executions.h"
#include "tools/dcfg/graph/flow_internal.h"

#include <stdlib.h>

/* An instruction at which a fetch of a template was last, and how many of the template's next
 * fetches continue its run. Runs only grow: what was counted stays true. */
struct flow_stretch {
    uint32_t instruction; /* 0: not known */
    uint32_t length;
};

/* The fetches of a template are [first, the next one's first). */
struct flow_template {
    size_t first;
    bool irregular;
};

struct flow_templates {
    struct flow_template *rows; /* one more than there are templates */
    struct record *fetches;
    struct flow_stretch *stretches; /* by fetch */
    size_t row_capacity, fetch_capacity, stretch_capacity;
};

struct flow_templates *flow_templates_new(struct bt_error *error)
{
    struct flow_templates *templates = calloc(1, sizeof *templates);
    if (!templates)
        bt_fail(error, BT_MEMORY, "no memory for the blocks of a capture");
    return templates;
}

void flow_templates_free(struct flow_templates *templates)
{
    if (!templates)
        return;
    free(templates->rows);
    free(templates->fetches);
    free(templates->stretches);
    free(templates);
}

/* Makes room for the fetches of all templates. */
static bool make_room(struct flow_templates *templates, const struct block_executions *executions)
{
    size_t count = 0;
    for (size_t i = 0; i < executions->template_count; i++)
        count += executions->templates[i].record_count;
    return GROW_ROOM(templates->rows, templates->row_capacity, executions->template_count + 1) &&
           GROW_ROOM(templates->fetches, templates->fetch_capacity, count + 1) &&
           GROW_ROOM(templates->stretches, templates->stretch_capacity, count + 1);
}

static bool is_irregular(const struct block_template *template)
{
    for (unsigned i = 0; i < template->record_count; i++) {
        const struct record *record = &template->records[i];
        if (record->type == REQUEST_FETCH && (record->time > 1 || record->size == 0))
            return true;
    }
    for (unsigned i = 0; i < template->reference_count; i++)
        if (template->records[template->references[i].record].type == REQUEST_FETCH)
            return true;
    return false;
}

int flow_templates_set(struct flow_templates *templates, const struct block_executions *executions,
                       struct bt_error *error)
{
    if (!make_room(templates, executions))
        return bt_fail(error, BT_MEMORY, "no memory for the blocks of a capture");
    size_t used = 0;
    for (size_t i = 0; i < executions->template_count; i++) {
        const struct block_template *template = &executions->templates[i];
        templates->rows[i] =
            (struct flow_template){.first = used, .irregular = is_irregular(template)};
        for (unsigned k = 0; k < template->record_count; k++)
            if (template->records[k].type == REQUEST_FETCH) {
                templates->stretches[used] = (struct flow_stretch){.instruction = 0};
                templates->fetches[used++] = template->records[k];
            }
    }
    templates->rows[executions->template_count] = (struct flow_template){.first = used};
    return 0;
}

bool flow_template_is_regular(const struct flow_templates *templates, uint32_t number)
{
    return !templates->rows[number].irregular;
}

/* How many of the fetches are the next ones of the run after an instruction. */
static uint32_t run_length(const struct flow *flow, uint32_t instruction,
                           const struct record *fetches, size_t count)
{
    uint32_t length = 0;
    while (length < count &&
           flow_is_next(&flow->instructions[instruction + 1 + length], &fetches[length]))
        length++;
    return length;
}

int flow_put_execution(struct flow *flow, struct flow_templates *templates, uint32_t number,
                       uint8_t processor, struct bt_error *error)
{
    struct flow_thread *thread = &flow->threads[processor];
    const size_t end = templates->rows[number + 1].first;
    for (size_t i = templates->rows[number].first; i < end && flow->broken.code == 0; i++) {
        struct record *fetch = &templates->fetches[i];
        if (flow_is_next(&flow->instructions[thread->at + 1], fetch)) {
            thread->at++;
            thread->seen++;
        } else {
            fetch->processor = processor;
            flow_step(flow, thread, fetch);
        }
        struct flow_stretch *stretch = &templates->stretches[i];
        if (stretch->instruction != thread->at)
            *stretch = (struct flow_stretch){
                .instruction = thread->at,
                .length = run_length(flow, thread->at, fetch + 1, end - i - 1)};
        thread->at += stretch->length;
        thread->seen += stretch->length;
        i += stretch->length;
    }
    if (flow->broken.code != 0 && error)
        *error = flow->broken;
    return flow->broken.code;
}
