#include "tests/support/wet_twin.h"

#include "tests/support/wet_changes.h"
#include "tests/support/wet_control.h"
#include "tests/support/wet_flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 64u
#define PAGE_BYTES  4096u
#define FRAMES      4096u /* maximum depth of calls */

struct writer {
    uint32_t id; /* 0: none */
    uint64_t instance;
};

struct page {
    uint64_t address;
    struct writer writers[PAGE_BYTES];
};

struct line {
    uint64_t reader;
    struct writer writer;
};

struct port {
    struct line *lines;
    size_t count;
};

struct value {
    uint64_t instance;
    unsigned size;
    uint8_t bytes[VALUE_BYTES];
};

struct instruction {
    uint64_t address;
    struct random_instruction made;
    struct wet_flow flow;
    uint64_t instances;
    struct port ports[WET_FLOW_PARTS]; /* 0: control */
    struct value *values;
    size_t value_count;
};

struct wet_twin {
    struct wet_twin_program program;
    struct writer general[16][8], flags[64], vector[32][64], x87[8][10], codes, mask[8][8];
    struct page **pages;
    size_t page_count;
    unsigned top;                      /* of the x87 stack, by the rules */
    struct instruction **instructions; /* by id - 1 */
    uint32_t instruction_count;
    struct wet_event *events;
    struct writer *executions; /* by event */
    size_t event_count;
    size_t *calls; /* by frame: the event of its call */
    uint32_t frame_count;
    struct {
        uint64_t slot; /* of the return address */
        uint32_t frame;
    } stack[FRAMES];
    unsigned depth;
    struct reference *references; /* of the current instruction: reads, and writes */
    unsigned reference_count;
};

static void *resized(void *array, size_t count, size_t size)
{
    void *larger = realloc(array, (count + 1) * size);
    if (!larger)
        abort();
    return larger;
}

static void begin_frame(struct wet_twin *twin, size_t call)
{
    twin->calls = resized(twin->calls, twin->frame_count, sizeof *twin->calls);
    twin->calls[twin->frame_count++] = call;
}

struct wet_twin *wet_twin_new(const struct wet_twin_program *program)
{
    struct wet_twin *twin = calloc(1, sizeof *twin);
    if (!twin)
        abort();
    twin->program = *program;
    twin->stack[0].slot = UINT64_MAX;
    twin->depth = 1;
    begin_frame(twin, WET_CONTROL_NONE);
    return twin;
}

void wet_twin_free(struct wet_twin *twin)
{
    for (uint32_t i = 0; i < twin->instruction_count; i++) {
        for (unsigned k = 0; k < WET_FLOW_PARTS; k++)
            free(twin->instructions[i]->ports[k].lines);
        free(twin->instructions[i]->values);
        free(twin->instructions[i]);
    }
    for (size_t i = 0; i < twin->page_count; i++)
        free(twin->pages[i]);
    free(twin->pages);
    free(twin->instructions);
    free(twin->events);
    free(twin->executions);
    free(twin->calls);
    free(twin->references);
    free(twin);
}

/* --- instructions ----------------------------------------------------------------------------- */

static uint32_t id_of(struct wet_twin *twin, uint64_t address, const uint8_t code[15])
{
    for (uint32_t i = 0; i < twin->instruction_count; i++) {
        const struct instruction *known = twin->instructions[i];
        if (known->address == address &&
            memcmp(known->made.bytes, code, known->made.instruction.length) == 0)
            return i + 1;
    }
    struct instruction *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    made->address = address;
    memcpy(made->made.bytes, code, 15);
    if (!random_instruction_decode(&made->made))
        abort();
    wet_flow_of(&made->flow, &made->made);
    twin->instructions =
        resized(twin->instructions, twin->instruction_count, sizeof(struct instruction *));
    twin->instructions[twin->instruction_count++] = made;
    return twin->instruction_count;
}

/* --- references ------------------------------------------------------------------------------- */

static bool is_repeated(const struct instruction *instruction)
{
    return (instruction->made.instruction.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

static void find_references(struct wet_twin *twin, const struct instruction *instruction,
                            const struct machine *before, const struct machine *after)
{
    const uint64_t times = is_repeated(instruction) ? before->registers[1] & 0xffffffff : 0;
    twin->reference_count = 0;
    if (!after)
        return;
    twin->references =
        resized(twin->references, REFERENCES_MAX + 2 * times, sizeof *twin->references);
    twin->reference_count =
        random_instruction_references(&instruction->made, before, after, twin->references);
}

static unsigned count_memory_ports(const struct wet_flow *flow)
{
    unsigned count = 0;
    for (unsigned i = 0; i < flow->read_count; i++)
        count += flow->reads[i].kind == WET_MEMORY;
    return count;
}

/* --- writers ---------------------------------------------------------------------------------- */

static struct writer *writer_of_byte(struct wet_twin *twin, uint64_t address)
{
    const uint64_t start = address & ~(uint64_t)(PAGE_BYTES - 1);
    for (size_t i = 0; i < twin->page_count; i++)
        if (twin->pages[i]->address == start)
            return &twin->pages[i]->writers[address - start];
    struct page *page = calloc(1, sizeof *page);
    if (!page)
        abort();
    page->address = start;
    twin->pages = resized(twin->pages, twin->page_count, sizeof(struct page *));
    twin->pages[twin->page_count++] = page;
    return &page->writers[address - start];
}

/* The writers of a register; x87's physical one is given. */
static struct writer *writers_of(struct wet_twin *twin, const struct wet_flow_part *part,
                                 unsigned physical)
{
    switch (part->kind) {
    case WET_GENERAL:
        return twin->general[part->number];
    case WET_FLAGS:
        return twin->flags;
    case WET_VECTOR:
        return twin->vector[part->number];
    case WET_X87:
        return twin->x87[physical];
    case WET_MMX:
        return twin->x87[part->number];
    case WET_MASK:
        return twin->mask[part->number];
    default:
        return &twin->codes;
    }
}

static bool is_before(const struct line *a, const struct line *b)
{
    return a->writer.id != b->writer.id ? a->writer.id < b->writer.id
                                        : a->writer.instance < b->writer.instance;
}

/* Adds a dependence of the current instance, in order, unless it is there. */
static void add_line(struct port *port, uint64_t reader, const struct writer *writer)
{
    const struct line line = {reader, *writer};
    size_t at = port->count;
    if (writer->id == 0)
        return;
    while (at > 0 && port->lines[at - 1].reader == reader && is_before(&line, &port->lines[at - 1]))
        at--;
    if (at > 0 && port->lines[at - 1].reader == reader && !is_before(&port->lines[at - 1], &line))
        return;
    port->lines = resized(port->lines, port->count, sizeof *port->lines);
    memmove(port->lines + at + 1, port->lines + at, (port->count - at) * sizeof *port->lines);
    port->lines[at] = line;
    port->count++;
}

static void read_memory(struct wet_twin *twin, struct instruction *instruction, unsigned port,
                        unsigned number)
{
    const unsigned ports = count_memory_ports(&instruction->flow);
    unsigned reads = 0;
    for (unsigned i = 0; i < twin->reference_count; i++) {
        const struct reference *reference = &twin->references[i];
        if (reference->write || reads++ % ports != number) /* cmps reads in turn */
            continue;
        for (unsigned byte = 0; byte < reference->size; byte++)
            add_line(&instruction->ports[port], instruction->instances,
                     writer_of_byte(twin, (uint64_t)reference->address + byte));
    }
}

static void read_all(struct wet_twin *twin, struct instruction *instruction)
{
    for (unsigned i = 0; i < instruction->flow.read_count; i++) {
        const struct wet_flow_part *part = &instruction->flow.reads[i];
        if (part->kind == WET_MEMORY) {
            read_memory(twin, instruction, i + 1, part->number);
            continue;
        }
        const struct writer *writers = writers_of(twin, part, (twin->top + part->number) % 8);
        for (unsigned byte = 0; byte < 64; byte++)
            if (part->bytes >> byte & 1)
                add_line(&instruction->ports[i + 1], instruction->instances, &writers[byte]);
    }
}

/* What an instruction changes without defining it would be a fault of wet_flow.c. */
static void check(const struct instruction *instruction, const struct machine *before,
                  const struct machine *after)
{
    char what[64];
    if (!wet_changes_find(&instruction->made, &instruction->flow, before, after, what))
        return;
    fprintf(stderr, "%s at 0x%" PRIx64 " changes %s\n",
            ZydisMnemonicGetString(instruction->made.instruction.mnemonic), instruction->address,
            what);
    abort();
}

/* --- x87 -------------------------------------------------------------------------------------- */

static bool is_push(const struct machine *before, const struct machine *after)
{
    return (wet_flow_top(after) + 1) % 8 == wet_flow_top(before);
}

static void move_top(struct wet_twin *twin, const struct instruction *instruction,
                     const struct machine *before, const struct machine *after)
{
    const ZydisDecodedInstruction *decoded = &instruction->made.instruction;
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FLDENV:
        return;
    case ZYDIS_MNEMONIC_FNINIT:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_EMMS:
        twin->top = 0;
        return;
    default:
        break;
    }
    for (unsigned i = 0; i < decoded->operand_count; i++)
        if (instruction->made.operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(instruction->made.operands[i].reg.value) == ZYDIS_REGCLASS_MMX) {
            twin->top = 0;
            return;
        }
    twin->top = (twin->top + 8 + wet_flow_top(after) - wet_flow_top(before)) % 8;
}

/* --- definitions ------------------------------------------------------------------------------ */

static void define_memory(struct wet_twin *twin, const struct writer *writer)
{
    for (unsigned i = 0; i < twin->reference_count; i++)
        for (unsigned byte = 0; twin->references[i].write && byte < twin->references[i].size;
             byte++)
            *writer_of_byte(twin, (uint64_t)twin->references[i].address + byte) = *writer;
}

static void define_all(struct wet_twin *twin, const struct instruction *instruction,
                       const struct writer *writer, const struct machine *before,
                       const struct machine *after)
{
    for (unsigned i = 0; i < instruction->flow.definition_count; i++) {
        const struct wet_flow_definition *definition = &instruction->flow.definitions[i];
        if (!wet_flow_happens(&instruction->made, definition->condition, before, after))
            continue;
        if (definition->part.kind == WET_MEMORY) {
            define_memory(twin, writer);
            continue;
        }
        const unsigned top = twin->top + (is_push(before, after) ? 7 : 0);
        struct writer *writers =
            writers_of(twin, &definition->part, (top + definition->part.number) % 8);
        for (unsigned byte = 0; byte < 64; byte++)
            if (definition->part.bytes >> byte & 1)
                writers[byte] = *writer;
    }
}

static void define_kernel(struct wet_twin *twin, const struct writer *writer,
                          const struct wet_twin_range *kernel)
{
    for (uint64_t i = 0; i < kernel->size; i++)
        *writer_of_byte(twin, kernel->address + i) = *writer;
}

/* --- values ----------------------------------------------------------------------------------- */

static uint64_t general(const struct machine *machine, ZydisRegister name)
{
    if (name == ZYDIS_REGISTER_NONE)
        return 0;
    return machine->registers[ZydisRegisterGetId(
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name))];
}

/* Whether elements of a memory operand may not be written. */
static bool is_masked(const struct random_instruction *made)
{
    return made->instruction.avx.mask.reg != ZYDIS_REGISTER_NONE ||
           strstr(ZydisMnemonicGetString(made->instruction.mnemonic), "maskmov") != NULL;
}

/* Where a memory operand begins. */
static uint64_t operand_address(const struct random_instruction *made, const struct machine *before)
{
    const ZydisDecodedOperand *operand = made->operands;
    while (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
        operand++;
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        return before->rip + made->instruction.length + (uint64_t)operand->mem.disp.value;
    const uint64_t address = general(before, operand->mem.base) +
                             general(before, operand->mem.index) * operand->mem.scale +
                             (uint64_t)operand->mem.disp.value;
    return made->instruction.address_width == 32 ? address & UINT32_MAX : address;
}

/* Where the value is that was stored: the last element. */
static uint64_t stored_address(const struct wet_twin *twin, const struct instruction *instruction,
                               const struct machine *before)
{
    if (is_masked(&instruction->made))
        return operand_address(&instruction->made, before);
    for (unsigned i = twin->reference_count; i-- > 0;)
        if (twin->references[i].write)
            return twin->references[i].address;
    abort();
}

static const uint8_t *register_bytes(const struct wet_flow_part *part, const struct machine *before,
                                     const struct machine *after)
{
    size_t size;
    const unsigned top = wet_flow_top(after);
    unsigned number = part->number;
    switch (part->kind) {
    case WET_GENERAL:
        return (const uint8_t *)&after->registers[number];
    case WET_MASK:
        return after->vector + machine_component(5, &size) + (size_t)8 * number;
    case WET_X87: /* saved in the order of the stack */
        number = is_push(before, after) ? number : (number + wet_flow_top(before) + 8 - top) % 8;
        return after->vector + 32 + (size_t)16 * number;
    default:
        return after->vector + 32 + (size_t)16 * ((number + 8 - top) % 8);
    }
}

static void add_value(struct wet_twin *twin, struct instruction *instruction,
                      const struct machine *before, const struct machine *after)
{
    const struct wet_flow *flow = &instruction->flow;
    if (!flow->has_value ||
        !wet_flow_happens(&instruction->made, flow->value.condition, before, after))
        return;
    instruction->values =
        resized(instruction->values, instruction->value_count, sizeof *instruction->values);
    struct value *value = &instruction->values[instruction->value_count++];
    *value = (struct value){.instance = instruction->instances, .size = flow->value_size};
    if (flow->value.part.kind == WET_MEMORY) {
        twin->program.read(twin->program.context, stored_address(twin, instruction, before),
                           value->bytes, value->size);
        return;
    }
    for (unsigned i = 0; i < value->size; i++)
        value->bytes[i] =
            flow->value.part.kind == WET_VECTOR
                ? *machine_vector_byte(after, flow->value.part.number, flow->value_first + i)
                : register_bytes(&flow->value.part, before, after)[flow->value_first + i];
}

/* --- calls ------------------------------------------------------------------------------------ */

static void add_event(struct wet_twin *twin, uint64_t address, uint32_t id)
{
    twin->events = resized(twin->events, twin->event_count, sizeof *twin->events);
    twin->executions = resized(twin->executions, twin->event_count, sizeof *twin->executions);
    twin->events[twin->event_count] =
        (struct wet_event){.address = address, .frame = twin->stack[twin->depth - 1].frame};
    twin->executions[twin->event_count++] =
        (struct writer){id, twin->instructions[id - 1]->instances};
}

static void follow_calls(struct wet_twin *twin, const struct instruction *instruction,
                         const struct machine *after)
{
    const uint64_t stack = after->registers[4];
    switch (instruction->made.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        if (twin->depth == FRAMES)
            abort();
        twin->stack[twin->depth].slot = stack;
        twin->stack[twin->depth++].frame = twin->frame_count;
        begin_frame(twin, twin->event_count - 1);
        return;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
        while (twin->stack[twin->depth - 1].slot < stack)
            twin->depth--;
        return;
    default:
        return;
    }
}

void wet_twin_execute(struct wet_twin *twin, const uint8_t code[15], const struct machine *before,
                      const struct machine *after, const struct wet_twin_range *kernel)
{
    const uint32_t id = id_of(twin, before->rip, code);
    struct instruction *instruction = twin->instructions[id - 1];
    const struct writer writer = {id, instruction->instances};
    find_references(twin, instruction, before, after);
    add_event(twin, before->rip, id);
    read_all(twin, instruction);
    if (after) {
        check(instruction, before, after);
        define_all(twin, instruction, &writer, before, after);
        define_kernel(twin, &writer, kernel);
        add_value(twin, instruction, before, after);
        move_top(twin, instruction, before, after);
        follow_calls(twin, instruction, after);
    }
    instruction->instances++;
}

/* --- the text --------------------------------------------------------------------------------- */

static bool function_of(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
    struct wet_twin *twin = context;
    char name[256];
    return twin->program.function_of(twin->program.context, address, start, end, name);
}

/* Code as it was executed last, else as it is in the program. */
static size_t code_of(void *context, uint64_t address, uint8_t code[15])
{
    struct wet_twin *twin = context;
    for (uint32_t i = twin->instruction_count; i-- > 0;)
        if (twin->instructions[i]->address == address) {
            memcpy(code, twin->instructions[i]->made.bytes, 15);
            return 15;
        }
    return twin->program.code_of(twin->program.context, address, code);
}

static void find_control(struct wet_twin *twin)
{
    const struct wet_control_settings settings = {function_of, code_of, twin, twin->calls,
                                                  twin->frame_count};
    wet_control_find(&settings, twin->events, twin->event_count);
    for (size_t i = 0; i < twin->event_count; i++) {
        const struct writer *execution = &twin->executions[i];
        if (twin->events[i].parent != WET_CONTROL_NONE)
            add_line(&twin->instructions[execution->id - 1]->ports[0], execution->instance,
                     &twin->executions[twin->events[i].parent]);
    }
}

static void print_values(const struct instruction *instruction, FILE *out)
{
    if (!instruction->flow.has_value) {
        fputs("NO VALUES\n", out);
        return;
    }
    fprintf(out, "VALUES %zu\n", instruction->value_count);
    for (size_t i = 0; i < instruction->value_count; i++) {
        const struct value *value = &instruction->values[i];
        unsigned at = value->size - 1;
        while (at > 0 && value->bytes[at] == 0)
            at--;
        fprintf(out, "    %" PRIu64 ":%x", value->instance, value->bytes[at]);
        while (at-- > 0)
            fprintf(out, "%02x", value->bytes[at]);
        fputc('\n', out);
    }
}

static void print_instruction(struct wet_twin *twin, uint32_t id, FILE *out)
{
    const struct instruction *instruction = twin->instructions[id - 1];
    char name[256] = "?", file[256] = "?";
    uint64_t start, end;
    unsigned line = 0;
    twin->program.function_of(twin->program.context, instruction->address, &start, &end, name);
    twin->program.line_of(twin->program.context, instruction->address, file, &line);
    fprintf(out, "%" PRIu32 " %u %" PRIx64 " %s %s %u\n", id, instruction->flow.read_count + 1,
            instruction->address, file, name, line);
    for (unsigned i = 0; i <= instruction->flow.read_count; i++) {
        const struct port *port = &instruction->ports[i];
        fprintf(out, "SIZE %zu\n", port->count);
        for (size_t k = 0; k < port->count; k++)
            fprintf(out, "    %" PRIu64 ":%" PRIu32 " %" PRIu64 "\n", port->lines[k].reader,
                    port->lines[k].writer.id, port->lines[k].writer.instance);
    }
    print_values(instruction, out);
}

void wet_twin_print(struct wet_twin *twin, FILE *out)
{
    find_control(twin);
    fprintf(out, "%" PRIu32 "\n", twin->instruction_count);
    for (uint32_t id = 1; id <= twin->instruction_count; id++)
        print_instruction(twin, id, out);
}
