#include "tests/support/wet_control.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define EXIT 0u /* node that all paths out of the function lead to */

struct node {
    uint64_t address;
    uint32_t *successors;
    unsigned successor_count;
    bool is_branch; /* may decide */
    bool begins_block, reaches_exit;
    uint64_t *set; /* bit n: node n post-dominates it */
    uint32_t *deciders;
    unsigned decider_count;
};

struct function {
    uint64_t start, end;
    uint32_t *numbers; /* by offset: the node there, or NONE */
    struct node *nodes;
    uint32_t count;
};

struct control {
    const struct wet_control_settings *settings;
    const struct wet_event *events;
    size_t event_count;
    struct function *functions;
    size_t function_count;
};

static void *resized(void *array, size_t count, size_t size)
{
    void *larger = realloc(array, (count + 1) * size);
    if (!larger)
        abort();
    return larger;
}

static void *zeroed(size_t count, size_t size)
{
    void *array = calloc(count + 1, size);
    if (!array)
        abort();
    return array;
}

/* --- the graph -------------------------------------------------------------------------------- */

/* The node of an address; a new one if there is none; the exit for addresses outside. */
static uint32_t node_at(struct function *function, uint64_t address)
{
    if (address < function->start || address >= function->end)
        return EXIT;
    uint32_t *number = &function->numbers[address - function->start];
    if (*number == NONE) {
        function->nodes = resized(function->nodes, function->count + 1u, sizeof *function->nodes);
        *number = function->count;
        function->nodes[function->count++] = (struct node){.address = address};
    }
    return *number;
}

static void add_successor(struct function *function, uint32_t node, uint64_t address, bool is_block)
{
    const uint32_t to = node_at(function, address);
    struct node *from = &function->nodes[node];
    function->nodes[to].begins_block = function->nodes[to].begins_block || is_block;
    for (unsigned i = 0; i < from->successor_count; i++)
        if (from->successors[i] == to)
            return;
    from->successors =
        resized(from->successors, from->successor_count + 1u, sizeof *from->successors);
    from->successors[from->successor_count++] = to;
}

static bool is_end(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return true;
    default:
        return instruction->meta.category == ZYDIS_CATEGORY_RET;
    }
}

/* An indirect jump leads to where it has led. */
static void add_executed(const struct control *control, struct function *function, uint32_t node)
{
    const uint64_t address = function->nodes[node].address;
    for (size_t i = 0; i + 1 < control->event_count; i++)
        if (control->events[i].address == address)
            add_successor(function, node, control->events[i + 1].address, true);
    if (function->nodes[node].successor_count == 0)
        add_successor(function, node, function->end, true);
    function->nodes[node].is_branch = function->nodes[node].successor_count > 1;
}

static void add_edges(const struct control *control, struct function *function, uint32_t node)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t code[15];
    const uint64_t address = function->nodes[node].address;
    const size_t size = control->settings->code_of(control->settings->context, address, code);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (size == 0 ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &instruction, operands)) ||
        is_end(&instruction)) {
        add_successor(function, node, function->end, true);
        return;
    }
    const uint64_t next = address + instruction.length;
    const bool is_jump = instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    const bool is_conditional = instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
    function->nodes[node].is_branch = is_conditional;
    if (is_jump && operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        add_executed(control, function, node);
        return;
    }
    if (!is_jump)
        add_successor(function, node, next, is_conditional);
    if (is_jump || is_conditional)
        add_successor(function, node, next + operands[0].imm.value.u, true);
}

/* --- post-dominators -------------------------------------------------------------------------- */

static bool has(const uint64_t *set, uint32_t node)
{
    return set[node / 64] >> node % 64 & 1;
}

static void find_reaching(struct function *function)
{
    bool has_changed = true;
    for (uint32_t i = 0; i < function->count; i++)
        function->nodes[i].reaches_exit = i == EXIT;
    while (has_changed) {
        has_changed = false;
        for (uint32_t i = function->count; i-- > 1;) {
            struct node *node = &function->nodes[i];
            for (unsigned k = 0; k < node->successor_count && !node->reaches_exit; k++) {
                node->reaches_exit = function->nodes[node->successors[k]].reaches_exit;
                has_changed = has_changed || node->reaches_exit;
            }
        }
    }
}

/* Blocks without a path to the exit lead there themselves. */
static void add_exits(struct function *function)
{
    for (uint32_t i = 1; i < function->count; i++) {
        const struct node *node = &function->nodes[i];
        if (!node->reaches_exit && (node->is_branch || node->successor_count != 1 ||
                                    function->nodes[node->successors[0]].begins_block))
            add_successor(function, i, function->end, true);
    }
}

static void find_post_dominators(struct function *function)
{
    const size_t words = function->count / 64 + 1;
    bool has_changed = true;
    for (uint32_t i = 0; i < function->count; i++) {
        function->nodes[i].set = zeroed(words, sizeof(uint64_t));
        memset(function->nodes[i].set, i == EXIT ? 0 : 0xff, words * sizeof(uint64_t));
    }
    function->nodes[EXIT].set[0] = 1;
    while (has_changed) {
        has_changed = false;
        for (uint32_t i = function->count; i-- > 1;) {
            struct node *node = &function->nodes[i];
            for (size_t word = 0; word < words; word++) {
                uint64_t bits = UINT64_MAX;
                for (unsigned k = 0; k < node->successor_count; k++)
                    bits &= function->nodes[node->successors[k]].set[word];
                if (i / 64 == word)
                    bits |= UINT64_C(1) << i % 64;
                has_changed = has_changed || bits != node->set[word];
                node->set[word] = bits;
            }
        }
    }
}

/* Whether a node post-dominates a successor of the branch, and not strictly the branch. */
static bool decides(const struct function *function, uint32_t branch, uint32_t node)
{
    const struct node *from = &function->nodes[branch];
    if (!from->is_branch || (node != branch && has(from->set, node)))
        return false;
    for (unsigned i = 0; i < from->successor_count; i++)
        if (has(function->nodes[from->successors[i]].set, node))
            return true;
    return false;
}

static void find_deciders(struct function *function)
{
    for (uint32_t i = 1; i < function->count; i++)
        for (uint32_t branch = 1; branch < function->count; branch++) {
            struct node *node = &function->nodes[i];
            if (!decides(function, branch, i))
                continue;
            node->deciders =
                resized(node->deciders, node->decider_count + 1u, sizeof *node->deciders);
            node->deciders[node->decider_count++] = branch;
        }
}

static void make_function(const struct control *control, struct function *function)
{
    const uint64_t size = function->end - function->start;
    function->numbers = zeroed(size, sizeof *function->numbers);
    memset(function->numbers, 0xff, size * sizeof *function->numbers);
    function->nodes = zeroed(1, sizeof *function->nodes);
    function->count = 1;
    for (size_t i = 0; i < control->event_count; i++)
        node_at(function, control->events[i].address);
    for (uint32_t i = 1; i < function->count; i++) /* nodes are added meanwhile */
        add_edges(control, function, i);
    find_reaching(function);
    add_exits(function);
    find_post_dominators(function);
    find_deciders(function);
}

static struct function *function_at(struct control *control, uint64_t address)
{
    struct function function = {.start = 0};
    for (size_t i = 0; i < control->function_count; i++)
        if (address >= control->functions[i].start && address < control->functions[i].end)
            return &control->functions[i];
    if (!control->settings->function_of(control->settings->context, address, &function.start,
                                        &function.end))
        return NULL;
    make_function(control, &function);
    control->functions =
        resized(control->functions, control->function_count + 1, sizeof *control->functions);
    control->functions[control->function_count] = function;
    return &control->functions[control->function_count++];
}

static void clear(struct control *control)
{
    for (size_t i = 0; i < control->function_count; i++) {
        struct function *function = &control->functions[i];
        for (uint32_t k = 0; k < function->count; k++) {
            free(function->nodes[k].successors);
            free(function->nodes[k].set);
            free(function->nodes[k].deciders);
        }
        free(function->nodes);
        free(function->numbers);
    }
    free(control->functions);
}

/* --- parents ---------------------------------------------------------------------------------- */

/* The branches that were executed in a frame, with their latest events. */
struct frame {
    struct {
        uint64_t address;
        size_t event;
    } * branches;
    size_t count;
};

static size_t latest(const struct frame *frame, uint64_t branch)
{
    for (size_t i = 0; i < frame->count; i++)
        if (frame->branches[i].address == branch)
            return frame->branches[i].event;
    return WET_CONTROL_NONE;
}

static void note(struct frame *frame, uint64_t branch, size_t event)
{
    size_t at = 0;
    while (at < frame->count && frame->branches[at].address != branch)
        at++;
    if (at == frame->count) {
        frame->branches = resized(frame->branches, at + 1, sizeof *frame->branches);
        frame->branches[at].address = branch;
        frame->count++;
    }
    frame->branches[at].event = event;
}

static size_t find_parent(const struct function *function, const struct node *node,
                          const struct frame *frame)
{
    size_t parent = WET_CONTROL_NONE;
    for (unsigned i = 0; i < node->decider_count; i++) {
        const size_t event = latest(frame, function->nodes[node->deciders[i]].address);
        if (event != WET_CONTROL_NONE && (parent == WET_CONTROL_NONE || event > parent))
            parent = event;
    }
    return parent;
}

void wet_control_find(const struct wet_control_settings *settings, struct wet_event *events,
                      size_t count)
{
    struct control control = {.settings = settings, .events = events, .event_count = count};
    struct frame *frames = zeroed(settings->frame_count, sizeof *frames);
    for (size_t i = 0; i < count; i++) {
        struct frame *frame = &frames[events[i].frame];
        const struct function *function = function_at(&control, events[i].address);
        events[i].parent = WET_CONTROL_NONE;
        if (function) {
            const struct node *node =
                &function->nodes[function->numbers[events[i].address - function->start]];
            events[i].parent = find_parent(function, node, frame);
            if (node->is_branch)
                note(frame, events[i].address, i);
        }
        if (events[i].parent == WET_CONTROL_NONE)
            events[i].parent = settings->calls[events[i].frame];
    }
    for (size_t i = 0; i < settings->frame_count; i++)
        free(frames[i].branches);
    free(frames);
    clear(&control);
}
