#include "formats/blocks/block_executions.h"

#include "formats/base/grow.h"

#include <string.h>

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the executions of blocks");
}

void block_executions_clear(struct block_executions *executions)
{
    executions->template_count = executions->step_count = 0;
    executions->address_count = executions->literal_count = 0;
    executions->time = 0;
}

void block_executions_free(struct block_executions *executions)
{
    free(executions->templates);
    free(executions->steps);
    free(executions->addresses);
    free(executions->literals);
    free(executions->records);
    free(executions->references);
    *executions = (struct block_executions){.step_count = 0};
}

/* GROW_ROOM() of a member of the executions. */
#define ROOM(array, capacity, needed) GROW_ROOM(executions->array, executions->capacity, needed)

/* Copies the templates, which are the decoder's only until its next member. */
static bool copy_templates(struct block_executions *executions, const struct block_decoder *decoder)
{
    const size_t count = block_walk_templates(decoder);
    size_t records = 0, references = 0;
    for (size_t i = 0; i < count; i++) {
        records += block_walk_template(decoder, (uint32_t)i)->record_count;
        references += block_walk_template(decoder, (uint32_t)i)->reference_count;
    }
    if (!ROOM(templates, template_capacity, count) || !ROOM(records, record_capacity, records) ||
        !ROOM(references, reference_capacity, references))
        return false;
    struct record *record = executions->records;
    struct block_reference *reference = executions->references;
    for (size_t i = 0; i < count; i++) {
        struct block_template *copy = &executions->templates[i];
        const struct block_template *from = block_walk_template(decoder, (uint32_t)i);
        *copy = *from;
        copy->records = record;
        copy->references = reference;
        copy->time = records_time(from->records, from->record_count);
        for (unsigned k = 0; k < copy->record_count; k++)
            *record++ = from->records[k];
        for (unsigned k = 0; k < copy->reference_count; k++)
            *reference++ = from->references[k];
    }
    executions->template_count = count;
    return true;
}

static bool add_literals(struct block_executions *executions, const struct block_step *step)
{
    if (!ROOM(literals, literal_capacity, executions->literal_count + step->literal_count))
        return false;
    memcpy(executions->literals + executions->literal_count, step->literals,
           step->literal_count * sizeof(struct record));
    executions->literal_count += step->literal_count;
    executions->time += records_time(step->literals, step->literal_count);
    for (size_t left = step->literal_count, some; left > 0; left -= some) {
        some = left < BLOCK_STEP_LITERALS_MAX ? left : BLOCK_STEP_LITERALS_MAX;
        if (!ROOM(steps, step_capacity, executions->step_count + 1))
            return false;
        executions->steps[executions->step_count++] =
            (struct execution_step){.template = BLOCK_LITERALS, .of.literals = (uint32_t)some};
    }
    return true;
}

static inline bool add_execution(struct block_executions *executions, const struct block_step *step)
{
    const unsigned count = executions->templates[step->template].reference_count;
    executions->time += executions->templates[step->template].time;
    if (!ROOM(steps, step_capacity, executions->step_count + 1) ||
        !ROOM(addresses, address_capacity, executions->address_count + count))
        return false;
    executions->steps[executions->step_count++] = (struct execution_step){
        .template = step->template,
        .of.execution = {.processor = step->processor, .attribute = step->attribute}};
    for (unsigned i = 0; i < count; i++)
        executions->addresses[executions->address_count++] = (uint32_t)step->addresses[i];
    return true;
}

int block_executions_get(struct block_executions *executions, struct block_decoder *decoder,
                         const uint8_t *in, size_t size, size_t count, uint32_t *check,
                         struct bt_error *error)
{
    struct block_step step;
    block_executions_clear(executions);
    int result = block_walk_begin(decoder, in, size, count, error);
    if (result == 0 && !copy_templates(executions, decoder))
        result = no_memory(error);
    while (result == 0 && (result = block_walk_next(decoder, &step, error)) > 0)
        result =
            (step.literals ? add_literals(executions, &step) : add_execution(executions, &step))
                ? 0
                : no_memory(error);
    if (result < 0)
        block_executions_clear(executions);
    else
        *check = block_walk_check(decoder);
    if (result == 0 && executions->step_count > 0)
        executions->first_time =
            executions->steps->template == BLOCK_LITERALS
                ? executions->literals->time
                : executions->templates[executions->steps->template].records->time;
    return result;
}

unsigned block_step_records(const struct block_executions *executions, size_t step)
{
    const struct execution_step *at = &executions->steps[step];
    return at->template == BLOCK_LITERALS ? at->of.literals
                                          : executions->templates[at->template].record_count;
}

void block_step_pass(const struct block_executions *executions, struct execution_place *place)
{
    const struct execution_step *step = &executions->steps[place->step++];
    if (step->template == BLOCK_LITERALS)
        place->literal += step->of.literals;
    else
        place->address += executions->templates[step->template].reference_count;
}

void block_step_expand(const struct block_executions *executions, struct execution_place *place,
                       struct record *out)
{
    const struct execution_step *step = &executions->steps[place->step];
    if (step->template == BLOCK_LITERALS) {
        memcpy(out, executions->literals + place->literal, step->of.literals * sizeof *out);
    } else {
        const struct block_template *template = &executions->templates[step->template];
        memcpy(out, template->records, template->record_count * sizeof *out);
        for (unsigned i = 0; i < template->record_count; i++)
            out[i].processor = step->of.execution.processor;
        for (unsigned i = 0; i < template->reference_count; i++)
            out[template->references[i].record].address = executions->addresses[place->address + i];
        out->attribute ^= step->of.execution.attribute;
    }
    block_step_pass(executions, place);
}
