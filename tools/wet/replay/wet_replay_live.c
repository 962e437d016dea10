/* What a replay's state still refers to. */
#include "tools/wet/replay/wet_replay_internal.h"

/* A walk over instances. */
struct walk {
    wet_replay_visit *visit;
    void *context;
};

static void visit(const struct walk *walk, struct wet_instance instance)
{
    if (instance.id)
        walk->visit(walk->context, instance);
}

static void visit_registers(const struct walk *walk, const struct wet_registers *registers)
{
    for (unsigned i = 0; i < WET_REGISTERS; i++)
        for (uint32_t k = 0; k < registers->registers[i].count; k++) {
            const struct wet_written *written = &registers->registers[i].written[k];
            visit(walk, (struct wet_instance){.id = written->id, .instance = written->instance});
        }
}

static void visit_calls(const struct walk *walk, const struct wet_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++)
        visit(walk, calls->frames[i].call);
    for (uint32_t i = 0; i < calls->branch_count; i++)
        visit(walk, calls->branches[i].branch);
}

void wet_replay_live(const struct wet_replay *replay, wet_replay_visit *function, void *context)
{
    const struct walk walk = {.visit = function, .context = context};
    for (size_t i = 0; i < replay->thread_count; i++) {
        const struct wet_replay_thread *thread = replay->threads[i];
        if (!thread)
            continue;
        visit(&walk, thread->last);
        visit_registers(&walk, &thread->registers);
        visit_calls(&walk, &thread->calls);
        for (size_t k = 0; k < thread->saved_count; k++) {
            visit(&walk, thread->saved[k].last);
            visit_registers(&walk, &thread->saved[k].registers);
        }
    }
}
