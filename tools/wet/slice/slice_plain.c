#include "tools/wet/slice/slice_plain.h"

#include "formats/base/grow.h"
#include "tools/wet/slice/slice_modules.h"

#include <Zydis/Zydis.h>

/* --- forms -------------------------------------------------------------------------------------
 */

/* The general register of `push` (0x50) or `pop` (0x58), 64 bits. */
static uint8_t register_of_stack(const struct wet_instruction *one, uint8_t opcode)
{
    const bool is_high = one->size == 2 && one->bytes[0] == 0x41;
    if (one->size != 1 && !is_high)
        return SLICE_FORM_NONE;
    const uint8_t byte = one->bytes[one->size - 1u];
    return (byte & 0xf8) == opcode ? (uint8_t)((byte & 7) | (is_high ? 8 : 0)) : SLICE_FORM_NONE;
}

static bool is_kept_by_callees(uint8_t reg)
{
    return reg == DECODE_RBX || reg == DECODE_RBP || (reg >= DECODE_R12 && reg <= DECODE_R15);
}

/* The general register of a `mov` of 64 bits to (0x89) or from (0x8b) the stack frame. */
static uint8_t register_of_move(const struct wet_instruction *one,
                                const struct decode_instruction *decoded, uint8_t opcode)
{
    if (one->size < 4 || (one->bytes[0] & 0xf8) != 0x48 || one->bytes[1] != opcode ||
        one->bytes[2] >= 0xc0 || decoded->access_count != 1)
        return SLICE_FORM_NONE;
    const uint8_t reg = (uint8_t)((one->bytes[2] >> 3 & 7) | (one->bytes[0] & 4) << 1);
    const struct decode_access *access = &decoded->accesses[0];
    const bool is_frame =
        access->base == DECODE_RSP || (access->base == DECODE_RBP && is_kept_by_callees(reg));
    return is_frame && access->index == DECODE_NONE && !access->fs ? reg : SLICE_FORM_NONE;
}

/* `mov %rsp,%rbp`, `lea n(%rsp),%rbp` or `enter`. */
static bool is_frame_form(const struct wet_instruction *one)
{
    const uint8_t *bytes = one->bytes;
    if (one->bytes[0] == 0xc8)
        return true;
    if (one->size < 3 || bytes[0] != 0x48)
        return false;
    return (bytes[1] == 0x89 && bytes[2] == 0xe5) || (bytes[1] == 0x8b && bytes[2] == 0xec) ||
           (bytes[1] == 0x8d && (bytes[2] & 0x3f) == 0x2c && bytes[2] < 0xc0 && bytes[3] == 0x24);
}

static uint8_t state_form(uint16_t mnemonic, bool restores)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
        return restores ? SLICE_FORM_NONE : SLICE_FORM_STATE;
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        return restores ? SLICE_FORM_STATE : SLICE_FORM_NONE;
    default:
        return SLICE_FORM_NONE;
    }
}

static struct slice_form form_of(const struct wet_trace *trace, uint32_t id)
{
    const struct wet_instruction *one = &trace->file.code.instructions[id];
    const uint8_t kind = trace->flows.flows[id].kind;
    struct decode_instruction decoded;
    decode(&decoded, one->bytes, one->size, one->address);
    struct slice_form form = {.saves = register_of_stack(one, 0x50),
                              .restores = register_of_stack(one, 0x58),
                              .is_call = kind == DECODE_CALL || kind == DECODE_CALL_INDIRECT,
                              .is_frame = is_frame_form(one),
                              .is_linker = slice_module_is_linker(&trace->file.code, id)};
    if (form.saves == SLICE_FORM_NONE)
        form.saves = register_of_move(one, &decoded, 0x89);
    if (form.saves == SLICE_FORM_NONE)
        form.saves = state_form(decoded.mnemonic, false);
    if (form.restores == SLICE_FORM_NONE)
        form.restores = register_of_move(one, &decoded, 0x8b);
    if (form.restores == SLICE_FORM_NONE)
        form.restores = state_form(decoded.mnemonic, true);
    if (one->size == 1 && one->bytes[0] == 0xc9) /* leave */
        form.restores = DECODE_RBP;
    return form;
}

struct slice_form *slice_forms_make(const struct wet_trace *trace)
{
    const size_t count = trace->file.code.instruction_count;
    struct slice_form *forms = malloc((count + 1) * sizeof *forms);
    if (!forms)
        return NULL;
    forms[0] = (struct slice_form){.saves = SLICE_FORM_NONE, .restores = SLICE_FORM_NONE};
    for (uint32_t id = 1; id < count; id++)
        forms[id] = form_of(trace, id);
    return forms;
}

bool slice_form_has(uint8_t form, unsigned reg)
{
    if (form == SLICE_FORM_STATE)
        return (reg >= WET_VECTOR && reg < WET_X87) || reg >= WET_MASK;
    return form == reg && reg < WET_FLAGS && reg != DECODE_RSP;
}

bool slice_form_pair(const struct slice_form *forms, uint32_t restore,
                     const struct wet_writers *writers, size_t count, struct wet_instance *save)
{
    const uint8_t wanted = forms[restore].restores;
    const bool is_state = wanted == SLICE_FORM_STATE;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        const bool fits = forms[writers[i].id].saves == wanted;
        if (is_state && !fits)
            continue;
        if (!fits || found || writers[i].count != 1)
            return false;
        found = true;
        *save = (struct wet_instance){.id = writers[i].id, .instance = writers[i].first};
    }
    return found;
}

/* --- in replays --------------------------------------------------------------------------------
 */

void slice_plain_init(struct slice_plain *plain, const struct wet_trace *trace,
                      const struct slice_form *forms)
{
    *plain = (struct slice_plain){.forms = forms, .trace = trace};
    slice_set_init(&plain->restores);
}

void slice_plain_clear(struct slice_plain *plain)
{
    slice_set_clear(&plain->restores);
    hash_index_clear(&plain->index);
    free(plain->carried);
    free(plain->writers);
}

static uint32_t hash_carried(struct wet_instance instance, unsigned reg)
{
    return hash_pair((uint64_t)instance.id << 8 | reg, instance.instance);
}

/* NULL: nothing of interest was saved. */
static const struct slice_carried *find_carried(const struct slice_plain *plain,
                                                struct wet_instance instance, unsigned reg)
{
    struct hash_search search = hash_search(&plain->index, hash_carried(instance, reg));
    while (hash_search_next(&search)) {
        const struct slice_carried *one = &plain->carried[search.number];
        if (one->instance.id == instance.id && one->instance.instance == instance.instance &&
            one->reg == reg)
            return one;
    }
    return NULL;
}

static int add_carried(struct slice_plain *plain, const struct slice_carried *one)
{
    struct slice_carried *larger = grow_array(plain->carried, &plain->carried_capacity,
                                              plain->carried_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    plain->carried = larger;
    if (hash_index_add(&plain->index, hash_carried(one->instance, one->reg),
                       (uint32_t)plain->carried_count) < 0)
        return BT_MEMORY;
    larger[plain->carried_count++] = *one;
    return 0;
}

/* Where a port's dependences go. */
struct visiting {
    struct slice_plain *plain;
    slice_plain_visit *visit; /* NULL: to plain->writers */
    enum slice_kind kind;
};

static int give(const struct visiting *visiting, struct wet_instance writer)
{
    struct slice_plain *plain = visiting->plain;
    if (!plain->wants(plain->context, writer))
        return 0;
    if (visiting->visit)
        return visiting->visit(plain->context, visiting->kind, writer);
    struct wet_instance *larger = grow_array(plain->writers, &plain->writer_capacity,
                                             plain->writer_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    plain->writers = larger;
    larger[plain->writer_count++] = writer;
    return 0;
}

/* An instance that wrote a register. */
static int take_register(const struct visiting *visiting, unsigned reg, struct wet_instance writer)
{
    const struct slice_plain *plain = visiting->plain;
    const struct slice_form *form = &plain->forms[writer.id];
    int result = 0;
    if (form->is_frame && reg == DECODE_RBP)
        return 0;
    if (!slice_form_has(form->restores, reg) ||
        !slice_set_has(&plain->restores, writer.id, writer.instance))
        return give(visiting, writer);
    const struct slice_carried *one = find_carried(plain, writer, reg);
    const uint32_t first = one ? one->first : 0, count = one ? one->count : 0;
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = give(visiting, plain->writers[first + i]);
    return result;
}

/* Visits the writers of a port. reg: WET_REGISTERS: memory. */
static int take_port(const struct visiting *visiting, const struct wet_step *step, unsigned reg,
                     uint32_t begin, uint32_t end)
{
    const struct slice_form *forms = visiting->plain->forms;
    int result = 0;
    if (forms && reg == DECODE_RSP)
        return 0;
    for (uint32_t i = begin; i < end; i++) {
        if (forms && reg == WET_REGISTERS && slice_form_hides(forms, step->id, step->writers[i].id))
            continue;
        for (uint64_t k = 0; k < step->writers[i].count && result == 0; k++) {
            const struct wet_instance writer = {.id = step->writers[i].id,
                                                .instance = step->writers[i].first + k};
            result = forms && reg < WET_REGISTERS ? take_register(visiting, reg, writer)
                                                  : give(visiting, writer);
        }
    }
    return result;
}

/* The register of a port; x87's are all the same here. WET_REGISTERS: memory. */
static unsigned register_of_port(const struct data_flow_part *port)
{
    if (port->kind == DATA_FLOW_MEMORY)
        return WET_REGISTERS;
    return port->kind == DATA_FLOW_X87 ? WET_X87 : wet_register_of(port, 0);
}

/* Notes what the registers depend on that a step saves. */
static int note_save(struct slice_plain *plain, const struct wet_step *step)
{
    const struct wet_flow *flow = &plain->trace->flows.flows[step->id];
    const struct data_flow_part *ports = wet_flows_ports(&plain->trace->flows, flow);
    const struct visiting visiting = {.plain = plain, .kind = SLICE_REGISTER};
    uint32_t begin = 0;
    int result = 0;
    for (uint32_t port = 0; port < flow->port_count && result == 0; begin = step->ends[port++]) {
        const unsigned reg = register_of_port(&ports[port]);
        struct slice_carried one = {.instance = {.id = step->id, .instance = step->instance},
                                    .reg = reg,
                                    .first = (uint32_t)plain->writer_count};
        if (reg == WET_REGISTERS || !slice_form_has(plain->forms[step->id].saves, reg))
            continue;
        result = take_port(&visiting, step, reg, begin, step->ends[port]);
        one.count = (uint32_t)plain->writer_count - one.first;
        if (result == 0 && one.count > 0)
            result = add_carried(plain, &one);
    }
    return result;
}

/* Notes that a step restores what an earlier one saved. */
static int note_restore(struct slice_plain *plain, const struct wet_step *step)
{
    const struct wet_flow *flow = &plain->trace->flows.flows[step->id];
    const struct data_flow_part *definitions = wet_flows_definitions(&plain->trace->flows, flow);
    const unsigned memory = flow->port_count - 1u; /* memory is the last */
    const uint32_t begin = memory > 0 ? step->ends[memory - 1] : 0;
    struct wet_instance save;
    if (!slice_form_pair(plain->forms, step->id, step->writers + begin, step->ends[memory] - begin,
                         &save))
        return 0;
    int result = slice_set_add(&plain->restores, step->id, step->instance);
    for (unsigned i = 0; i < flow->definition_count && result >= 0; i++) {
        const unsigned reg = register_of_port(&definitions[i]);
        const struct slice_carried *one =
            reg < WET_REGISTERS && slice_form_has(plain->forms[step->id].restores, reg)
                ? find_carried(plain, save, reg)
                : NULL;
        struct slice_carried restored = one ? *one : (struct slice_carried){.count = 0};
        restored.instance = (struct wet_instance){.id = step->id, .instance = step->instance};
        if (one && !find_carried(plain, restored.instance, reg))
            result = add_carried(plain, &restored);
    }
    return result < 0 ? result : 0;
}

int slice_plain_step(struct slice_plain *plain, const struct wet_step *step,
                     slice_plain_visit *visit)
{
    const struct wet_flow *flow = &plain->trace->flows.flows[step->id];
    const struct data_flow_part *ports = wet_flows_ports(&plain->trace->flows, flow);
    uint32_t begin = 0;
    int result = 0;
    for (uint32_t port = 0; visit && port < flow->port_count && result == 0;
         begin = step->ends[port++]) {
        const unsigned reg = register_of_port(&ports[port]);
        const struct visiting visiting = {.plain = plain,
                                          .visit = visit,
                                          .kind =
                                              reg == WET_REGISTERS ? SLICE_MEMORY : SLICE_REGISTER};
        result = take_port(&visiting, step, reg, begin, step->ends[port]);
    }
    if (result == 0 && plain->forms && plain->forms[step->id].saves != SLICE_FORM_NONE)
        result = note_save(plain, step);
    if (result == 0 && plain->forms && plain->forms[step->id].restores != SLICE_FORM_NONE)
        result = note_restore(plain, step);
    return result;
}
