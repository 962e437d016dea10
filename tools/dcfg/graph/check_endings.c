/* Checks the edges out of each block against its last instruction: sections 2.5 and 2.13. */
#include "tools/dcfg/graph/check_internal.h"

#include <inttypes.h>

/* Kinds of instructions, as bits. */
enum ending {
    PLAIN = 0x001, /* no control-flow instruction */
    REPEATED = 0x002,
    DIRECT_IF = 0x004, /* conditional branches */
    INDIRECT_IF = 0x008,
    DIRECT = 0x010, /* unconditional branches */
    INDIRECT = 0x020,
    CALL_DIRECT = 0x040,
    CALL_INDIRECT = 0x080,
    RETURNS = 0x100,
    CALL_SYSTEM = 0x200,
    RETURNS_SYSTEM = 0x400 /* from a system routine or a handler */
};

#define CONDITIONAL   (DIRECT_IF | INDIRECT_IF)
#define UNCONDITIONAL (DIRECT | INDIRECT)
#define CALLS         (CALL_DIRECT | CALL_INDIRECT)

/* The instructions that an edge of a type can come from; 0: all. One instruction returns from
 * system routines and handlers on most processors; a handler of a signal returns by a system call.
 */
static const uint16_t endings[DCFG_EDGE_OTHER] = {
    [DCFG_EDGE_CALL] = CALLS,
    [DCFG_EDGE_DIRECT_CALL] = CALL_DIRECT,
    [DCFG_EDGE_INDIRECT_CALL] = CALL_INDIRECT,
    [DCFG_EDGE_RETURN] = RETURNS | RETURNS_SYSTEM,
    [DCFG_EDGE_CALL_BYPASS] = CALLS,
    [DCFG_EDGE_BRANCH] = CONDITIONAL | UNCONDITIONAL,
    [DCFG_EDGE_CONDITIONAL_BRANCH] = CONDITIONAL,
    [DCFG_EDGE_UNCONDITIONAL_BRANCH] = UNCONDITIONAL,
    [DCFG_EDGE_DIRECT_BRANCH] = DIRECT_IF | DIRECT,
    [DCFG_EDGE_INDIRECT_BRANCH] = INDIRECT_IF | INDIRECT,
    [DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH] = DIRECT_IF,
    [DCFG_EDGE_INDIRECT_CONDITIONAL_BRANCH] = INDIRECT_IF,
    [DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH] = DIRECT,
    [DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH] = INDIRECT,
    [DCFG_EDGE_REP] = REPEATED,
    [DCFG_EDGE_FALL_THROUGH] = PLAIN | REPEATED | CONDITIONAL,
    [DCFG_EDGE_SYSTEM_CALL] = CALL_SYSTEM,
    [DCFG_EDGE_SYSTEM_RETURN] = RETURNS_SYSTEM | CALL_SYSTEM,
    [DCFG_EDGE_SYSTEM_CALL_BYPASS] = CALL_SYSTEM,
    [DCFG_EDGE_CONTEXT_CHANGE_RETURN] = RETURNS_SYSTEM | CALL_SYSTEM,
};

/* Fails at the first edge that comes from no instruction that the edges before it can come from. */
static void check_kinds(struct check *check, const struct check_process *view, uint32_t block)
{
    const struct dcfg_edges *edges = &view->process->edges;
    unsigned possible = UINT16_MAX;
    uint32_t before = DCFG_NONE; /* the last edge that narrowed the instructions */
    for (uint32_t i = view->first_out[block]; i < view->first_out[block + 1]; i++) {
        uint32_t e = view->out[i];
        unsigned kinds = edges->types[e] < DCFG_EDGE_OTHER ? endings[edges->types[e]] : 0;
        if (kinds == 0 || (possible & kinds) == possible)
            continue;
        if (!(possible & kinds)) {
            check_fail_edge(check, CHECK_EDGE_KINDS, view->process, e,
                            "%s out of block %" PRIu32 ", and edge %" PRIu32
                            " out of it is %s: no instruction has both",
                            dcfg_edge_type_name((enum dcfg_edge_type)edges->types[e]),
                            check_node_id(view, block), edges->ids[before],
                            dcfg_edge_type_name((enum dcfg_edge_type)edges->types[before]));
            return;
        }
        possible &= kinds;
        before = e;
    }
}

/* A call returns to no byte of its own instruction. */
static void check_return_site(struct check *check, const struct check_process *view, uint32_t e)
{
    const struct dcfg_process *process = view->process;
    uint8_t type = process->edges.types[e];
    uint32_t source = view->sources[e];
    uint32_t target = view->targets[e];
    if ((type != DCFG_EDGE_CALL_BYPASS && type != DCFG_EDGE_SYSTEM_CALL_BYPASS) ||
        source >= view->blocks || target >= view->blocks)
        return;
    const struct dcfg_block *block = &process->blocks[source];
    uint64_t offset = check_address(view, target) - check_address(view, source);
    if (offset > block->last_instruction && offset < block->size)
        check_fail_edge(check, CHECK_EDGE_ADDRESSES, process, e,
                        "%s to 0x%" PRIx64 ", within the last instruction of block %" PRIu32
                        ", which ends at 0x%" PRIx64,
                        dcfg_edge_type_name((enum dcfg_edge_type)type), check_address(view, target),
                        block->id, check_address(view, source) + block->size);
}

void check_endings(struct check *check, const struct check_process *view)
{
    for (uint32_t block = 0; block < view->blocks; block++)
        check_kinds(check, view, block);
    for (uint32_t e = 0; e < view->process->edges.count; e++)
        check_return_site(check, view, e);
}
