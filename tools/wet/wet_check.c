#include "tools/wet/wet_check.h"

#include <inttypes.h>
#include <string.h>

struct checking {
    struct wet_trace *trace;
    struct wet_check *check;
    uint64_t *executed;            /* by id: instances executed so far */
    struct wet_instance *answered; /* by thread: the system call with the last result */
    bool *is_known;                /* by thread */
    uint64_t offset;               /* of the chunk */
    struct bt_error error;
};

/* --- steps ------------------------------------------------------------------------------------ */

/* A failure in the current chunk. */
static int fail(struct checking *checking, const struct wet_step *step, const char *what)
{
    return bt_fail(&checking->error, BT_DATA,
                   "chunk at byte %" PRIu64 ": instruction %" PRIu32 ", instance %" PRIu64 ": %s",
                   checking->offset, step->id, step->instance, what);
}

/* Whether all of a range was executed before; a repeated string instruction may read what it has
 * stored itself. */
static bool is_executed(const struct checking *checking, const struct wet_step *step,
                        const struct wet_writers *writers)
{
    const uint64_t executed = checking->executed[writers->id] + (writers->id == step->id);
    return writers->count <= executed && writers->first <= executed - writers->count;
}

static int check_ports(struct checking *checking, const struct wet_step *step,
                       const struct wet_flow *flow)
{
    const uint32_t count = flow->port_count > 0 ? step->ends[flow->port_count - 1] : 0;
    const struct wet_instance control = step->control;
    if (control.id && control.instance >= checking->executed[control.id])
        return fail(checking, step, "what it is control dependent on was not executed before it");
    checking->check->dependences += control.id != 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_executed(checking, step, &step->writers[i]))
            return fail(checking, step, "what it depends on was not executed before it");
        checking->check->dependences += step->writers[i].count;
    }
    return 0;
}

static int check_step(void *context, const struct wet_step *step)
{
    struct checking *checking = context;
    struct wet_check *check = checking->check;
    const struct wet_flow *flow = &checking->trace->flows.flows[step->id];
    check->instructions++;
    check->values += step->value != NULL;
    if (!checking->is_known[step->thread])
        check->threads++;
    checking->is_known[step->thread] = true;
    if (step->instance != checking->executed[step->id])
        return fail(checking, step, "instances are not in order");
    if (step->instance == 0 && step->id != ++check->known_instructions)
        return fail(checking, step, "ids are not in order of first execution");
    const int result = check_ports(checking, step, flow);
    checking->executed[step->id]++;
    return result;
}

static int check_result(void *context, uint32_t thread, struct wet_instance call, uint64_t value)
{
    struct checking *checking = context;
    struct wet_instance *last = &checking->answered[thread];
    const struct wet_step step = {.id = call.id, .instance = call.instance};
    (void)value;
    if (checking->trace->flows.flows[call.id].kind != DECODE_SYSTEM_CALL)
        return fail(checking, &step, "it has a result, but is not a system call");
    if (last->id == call.id && last->instance == call.instance)
        return fail(checking, &step, "the system call has two results");
    *last = call;
    checking->check->values += checking->trace->file.header.has_values;
    return 0;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static int check_place(struct checking *checking, const struct wet_place *place,
                       struct bt_error *error)
{
    const struct wet_code *code = &checking->trace->file.code;
    uint64_t instructions = 0;
    checking->offset = place->offset;
    for (size_t i = 0; i < place->execution_count; i++) {
        const struct wet_execution *execution = &place->executions[i];
        instructions += execution->count * code->blocks[execution->block].count;
        checking->check->blocks += execution->count;
    }
    if (place->first != checking->check->instructions || place->instructions != instructions)
        return bt_fail(error, BT_DATA,
                       "chunk at byte %" PRIu64 ": its numbers of instructions contradict",
                       place->offset);
    checking->check->chunks++;
    return 0;
}

static int replay_chunks(struct checking *checking, struct wet_replay *replay,
                         void (*progress)(void *context, uint64_t done), void *context,
                         struct bt_error *error)
{
    const struct wet_file *file = &checking->trace->file;
    int result = 0;
    for (size_t i = 0; i < file->place_count && result >= 0; i++) {
        if (progress)
            progress(context, file->places[i].offset);
        result = check_place(checking, &file->places[i], error);
        if (result == 0)
            result = wet_replay_next(replay, error);
    }
    if (result < 0 && checking->error.code < 0)
        *error = checking->error;
    return result < 0 ? error->code : 0;
}

/* What is after the chunks. */
static int check_end(const struct checking *checking, struct bt_error *error)
{
    const struct wet_file *file = &checking->trace->file;
    const struct wet_check *check = checking->check;
    if (file->is_cut) {
        *error = file->cut;
        return error->code;
    }
    if (!file->is_closed)
        return bt_fail(error, BT_DATA,
                       "at byte %" PRIu64
                       ": the closing member is missing: the recording was cut off, or continues",
                       file->end);
    if (file->closing.instructions != check->instructions || file->closing.blocks != check->blocks)
        return bt_fail(error, BT_DATA,
                       "the closing member has %" PRIu64 " instructions and %" PRIu64
                       " blocks, the chunks %" PRIu64 " and %" PRIu64,
                       file->closing.instructions, file->closing.blocks, check->instructions,
                       check->blocks);
    if (check->known_instructions + 1 != file->code.instruction_count)
        return bt_fail(error, BT_DATA, "%" PRIu64 " of %zu instructions were executed",
                       check->known_instructions, file->code.instruction_count - 1);
    return 0;
}

int wet_check_binary(struct wet_trace *trace, struct wet_check *check,
                     void (*progress)(void *context, uint64_t done), void *context,
                     struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = check_step,
                                                            .result = check_result};
    struct checking checking = {.trace = trace, .check = check};
    *check = (struct wet_check){.form = WET_CHECK_BINARY,
                                .known_blocks = trace->file.code.block_count - 1};
    checking.executed = calloc(trace->file.code.instruction_count + 1, sizeof *checking.executed);
    checking.answered = calloc(WET_THREADS, sizeof *checking.answered);
    checking.is_known = calloc(WET_THREADS, sizeof *checking.is_known);
    struct wet_replay *replay = wet_replay_new(
        trace, WET_WANTS_CONTROL | WET_WANTS_MEMORY | WET_WANTS_REGISTERS | WET_WANTS_VALUES,
        &operations, &checking, error);
    int result = replay ? 0 : error->code;
    if (!checking.executed || !checking.answered || !checking.is_known)
        result = bt_fail(error, BT_MEMORY, "no memory to check the trace");
    if (result == 0)
        result = replay_chunks(&checking, replay, progress, context, error);
    if (result == 0)
        result = check_end(&checking, error);
    wet_replay_free(replay);
    free(checking.executed);
    free(checking.answered);
    free(checking.is_known);
    return result;
}
