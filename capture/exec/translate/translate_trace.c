#include "capture/exec/translate/outcome.h"
#include "capture/exec/translate/translate_internal.h"

#define CHUNK 64u /* larger accesses (fxsave) become several references */

#define XSAVE_HEADER 512 /* offset in the area */

#define SETCC 0x0f90u /* opcode of condition 0 */

/* An entry with the low 32 bits of a register. */
static unsigned store_entry(struct translator *translator, uint8_t reg)
{
    emit_store32(&translator->emitter, translator->block->pointer,
                 translate_displacement(translator->slots), reg);
    return translator->slots++;
}

/* An entry with the whole address of an operand (without fs). */
static unsigned store_address(struct translator *translator, const struct decode_access *access)
{
    struct emit_memory memory = translate_operand(access);
    uint8_t scratch = translator->block->scratch;
    if (access->form == DECODE_GATHER || access->form == DECODE_GATHER_VECTOR)
        memory.index = DECODE_NONE;
    if (memory.base == DECODE_NONE && memory.index == DECODE_NONE) {
        emit_store32_constant(&translator->emitter, translator->block->pointer,
                              translate_displacement(translator->slots),
                              (uint32_t)access->displacement);
        return translator->slots++;
    }
    if (access->form == DECODE_TABLE) { /* movzx scratch, al: no other operand names it */
        emit8(&translator->emitter, scratch >= 8 ? 0x44 : 0x40);
        emit8(&translator->emitter, 0x0f);
        emit8(&translator->emitter, 0xb6);
        emit8(&translator->emitter, (uint8_t)(0xc0 | (scratch & 7) << 3));
        memory.index = scratch;
    }
    emit_lea(&translator->emitter, scratch, &memory);
    return store_entry(translator, scratch);
}

/* --- known addresses ---------------------------------------------------------------------------
 */

static struct known_address *find_known(struct translator *translator,
                                        const struct decode_access *access)
{
    for (unsigned i = 0; i < translator->known_count; i++) {
        struct known_address *known = &translator->known[i];
        if (known->base == access->base && known->index == access->index &&
            (access->index == DECODE_NONE || known->scale == access->scale))
            return known;
    }
    return NULL;
}

static int64_t moved(const struct translator *translator, uint8_t reg)
{
    return reg == DECODE_NONE ? 0 : translator->moved[reg];
}

static struct known_address *make_known(struct translator *translator,
                                        const struct decode_access *access)
{
    unsigned at = translator->known_count < TRANSLATE_KNOWN ? translator->known_count++
                                                            : translator->slots % TRANSLATE_KNOWN;
    struct known_address *known = &translator->known[at];
    uint8_t reg = access->base;
    if (access->index != DECODE_NONE) {
        struct emit_memory memory = translate_operand(access);
        memory.displacement = 0;
        reg = translator->block->scratch;
        emit_lea(&translator->emitter, reg, &memory);
    }
    *known = (struct known_address){.base = access->base,
                                    .index = access->index,
                                    .scale = access->scale,
                                    .slot = (uint16_t)store_entry(translator, reg),
                                    .base_moved = moved(translator, access->base),
                                    .index_moved = moved(translator, access->index)};
    return known;
}

/* The entry with the address of a plain access, and the addend; entry 0: the addend is the address.
 */
static unsigned entry_of(struct translator *translator, const struct decode_access *access,
                         uint32_t *addend)
{
    *addend = (uint32_t)access->displacement;
    if (access->base == DECODE_NONE && access->index == DECODE_NONE)
        return 0;
    if (access->narrow) {
        *addend = 0;
        return store_address(translator, access);
    }
    struct known_address *known = find_known(translator, access);
    if (!known)
        known = make_known(translator, access);
    *addend += (uint32_t)(moved(translator, access->base) - known->base_moved);
    *addend += access->scale * (uint32_t)(moved(translator, access->index) - known->index_moved);
    return known->slot;
}

static void forget_register(struct translator *translator, uint8_t reg)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < translator->known_count; i++) {
        const struct known_address *known = &translator->known[i];
        if (known->base != reg && known->index != reg)
            translator->known[kept++] = *known;
    }
    translator->known_count = kept;
}

static void note_changes(struct translator *translator,
                         const struct decode_instruction *instruction)
{
    for (uint8_t reg = 0; reg < DECODE_REGISTERS; reg++)
        if (instruction->registers_written >> reg & 1)
            forget_register(translator, reg);
    if (instruction->adjusted != DECODE_NONE)
        translator->moved[instruction->adjusted] += instruction->adjustment;
}

/* --- records -----------------------------------------------------------------------------------
 */

static void add_record(struct translator *translator, uint32_t address, uint8_t type, unsigned size)
{
    translator->records[translator->record_count++] =
        (struct record){.address = address,
                        .type = type,
                        .size = (uint8_t)size,
                        .attribute = ATTRIBUTE_WRITE_BACK,
                        .time = type == REQUEST_FETCH ? 1 : 0};
}

static void add_plain(struct translator *translator, const struct decode_access *access, bool write,
                      unsigned slot, uint32_t addend)
{
    for (unsigned done = 0; done < access->size; done += CHUNK) {
        unsigned size = access->size - done < CHUNK ? access->size - done : CHUNK;
        if (slot)
            translator->patches[translator->patch_count++] =
                (struct patch){.record = (uint16_t)translator->record_count,
                               .slot = (uint16_t)slot,
                               .addend = addend + done};
        if (access->fs)
            translator->through_fs[translator->through_fs_count++] =
                (uint16_t)translator->record_count;
        add_record(translator, addend + done, write ? REQUEST_MEMWRITE : REQUEST_MEMREAD, size);
    }
}

static struct special *add_special(struct translator *translator,
                                   const struct decode_access *access, bool write, unsigned slot)
{
    struct special *special = &translator->specials[translator->special_count++];
    *special = (struct special){.record = (uint16_t)translator->record_count,
                                .slot = (uint16_t)slot,
                                .write = write,
                                .accesses = 1,
                                .access = {*access}};
    return special;
}

/* --- entries of the special forms; trace_special.c reads them ----------------------------------
 */

static void store_mask(struct translator *translator, const struct decode_access *access)
{
    bool wide = access->lanes > 16;
    emit_store_opmask(&translator->emitter, translator->block->pointer,
                      translate_displacement(translator->slots), access->mask, wide);
    translator->slots += wide ? 2 : 1;
}

static void store_vector(struct translator *translator, const struct decode_access *access,
                         uint8_t vector, unsigned bytes, bool legacy)
{
    emit_store_vector(&translator->emitter, translator->block->pointer,
                      translate_displacement(translator->slots), vector, bytes,
                      (enum decode_form)access->form, legacy);
    translator->slots += bytes / TRANSLATE_ENTRY;
}

static bool is_legacy_encoding(const struct decode_instruction *instruction)
{
    for (size_t i = 0; i < instruction->size; i++) {
        if (instruction->bytes[i] == 0x0f)
            return true;
        if (instruction->bytes[i] == 0xc4 || instruction->bytes[i] == 0xc5)
            return false;
    }
    return true;
}

static void store_special(struct translator *translator,
                          const struct decode_instruction *instruction,
                          const struct decode_access *access)
{
    store_address(translator, access);
    switch (access->form) {
    case DECODE_BITS:
        emit_store64(&translator->emitter, translator->block->pointer,
                     translate_displacement(translator->slots), access->mask);
        translator->slots += 2;
        break;
    case DECODE_OPMASK:
    case DECODE_OPMASK_PACKED:
        store_mask(translator, access);
        break;
    case DECODE_VECTOR_MASK:
        store_vector(translator, access, access->mask, access->vector,
                     is_legacy_encoding(instruction));
        break;
    case DECODE_GATHER:
        store_mask(translator, access);
        store_vector(translator, access, access->index, access->vector, false);
        break;
    case DECODE_GATHER_VECTOR:
        store_vector(translator, access, access->mask,
                     access->lanes * access->element > 16 ? 32 : 16, false);
        store_vector(translator, access, access->index, access->vector, false);
        break;
    case DECODE_XSAVE:
        store_entry(translator, DECODE_RAX);
        store_entry(translator, DECODE_RDX);
        break;
    default:
        break;
    }
}

/* The header of XSAVE's area: components in use, and the form. Read after the instruction, so that
 * all faults occur in the instruction. */
static void store_header(struct translator *translator, const struct decode_access *access)
{
    struct emit_memory memory = translate_operand(access);
    uint8_t scratch = translator->block->scratch;
    struct emit_memory header = {.base = scratch,
                                 .index = DECODE_NONE,
                                 .scale = 1,
                                 .fs = access->fs,
                                 .narrow = false,
                                 .displacement = XSAVE_HEADER};
    if (memory.base == DECODE_NONE && memory.index == DECODE_NONE)
        memory.narrow |= access->displacement > INT32_MAX;
    for (unsigned i = 0; i < 2; i++, header.displacement += 8) {
        emit_lea(&translator->emitter, scratch, &memory);
        emit_load(&translator->emitter, scratch, &header);
        emit_store64(&translator->emitter, translator->block->pointer,
                     translate_displacement(translator->slots), scratch);
        translator->slots += 2;
    }
}

/* Count and pointers before the instruction; translate_trace_after() adds those after it. */
static void trace_repeated(struct translator *translator,
                           const struct decode_instruction *instruction)
{
    struct special *special = add_special(translator, &instruction->accesses[0],
                                          instruction->accesses[0].write, translator->slots);
    store_entry(translator, DECODE_RCX);
    store_entry(translator, instruction->accesses[0].base);
    if (instruction->access_count > 1) {
        special->accesses = 2;
        special->access[1] = instruction->accesses[1];
        store_entry(translator, instruction->accesses[1].base);
    }
}

/* What a conditional instruction has done, before or after it. */
static void store_outcome(struct translator *translator,
                          const struct decode_instruction *instruction, bool is_after)
{
    const struct outcome outcome = outcome_of(instruction);
    const uint8_t pointer = translator->block->pointer;
    const struct emit_memory slot =
        emit_memory_at(pointer, translate_displacement(translator->slots));
    if (!exec_trace_has_outcomes(translator->trace) || outcome.kind == OUTCOME_NONE ||
        outcome_is_after(outcome.kind) != is_after)
        return;
    translator->outcomes[translator->outcome_count++] =
        (struct outcome_slot){.instruction = (uint16_t)(translator->block->instructions - is_after),
                              .slot = (uint16_t)translator->slots,
                              .mask = outcome.mask};
    if (outcome.kind == OUTCOME_COUNT)
        emit_store32(&translator->emitter, pointer, slot.displacement, DECODE_RCX);
    else
        emit_with_memory(&translator->emitter, SETCC + outcome.condition, false, 0, &slot);
    translator->slots++;
}

/* --- interface ---------------------------------------------------------------------------------
 */

void translate_trace_begin(struct translator *translator)
{
    translator->slots = 1;
    translator->known_count = 0;
    translator->record_count = translator->patch_count = 0;
    translator->through_fs_count = translator->special_count = 0;
    translator->outcome_count = translator->value_count = 0;
    for (unsigned i = 0; i < DECODE_REGISTERS; i++)
        translator->moved[i] = 0;
    if (translator->trace == EXEC_TRACE_NONE)
        return;
    emit_store32_constant(&translator->emitter, translator->block->pointer, 0,
                          translator->block->number);
    translate_relocate(translator, TRANSLATE_BLOCK_NUMBER);
}

void translate_trace_before(struct translator *translator,
                            const struct decode_instruction *instruction)
{
    unsigned slots[DECODE_ACCESSES];
    uint32_t addends[DECODE_ACCESSES];
    if (instruction->repeated && !exec_trace_has_addresses(translator->trace))
        emit_save(&translator->emitter, EXEC_THREAD_JUMP, DECODE_RCX); /* finish_repeated() */
    if (translator->trace == EXEC_TRACE_NONE)
        return;
    add_record(translator, (uint32_t)instruction->address, REQUEST_FETCH, instruction->size);
    if (!exec_trace_has_addresses(translator->trace))
        return;
    translate_value_before(translator, instruction);
    if (instruction->repeated) {
        trace_repeated(translator, instruction);
        return;
    }
    store_outcome(translator, instruction, false);
    for (unsigned i = 0; i < instruction->access_count; i++) {
        const struct decode_access *access = &instruction->accesses[i];
        if (access->form == DECODE_PLAIN) {
            slots[i] = entry_of(translator, access, &addends[i]);
        } else {
            slots[i] = translator->slots;
            store_special(translator, instruction, access);
        }
    }
    for (int write = 0; write < 2; write++)
        for (unsigned i = 0; i < instruction->access_count; i++) {
            const struct decode_access *access = &instruction->accesses[i];
            if (!(write ? access->write : access->read))
                continue;
            if (access->form == DECODE_PLAIN)
                add_plain(translator, access, write, slots[i], addends[i]);
            else
                add_special(translator, access, write, slots[i]);
        }
}

void translate_trace_after(struct translator *translator,
                           const struct decode_instruction *instruction)
{
    if (!exec_trace_has_addresses(translator->trace))
        return;
    if (instruction->repeated) {
        store_entry(translator, DECODE_RCX);
        store_entry(translator, instruction->accesses[0].base);
    }
    if (instruction->access_count > 0 && instruction->accesses[0].form == DECODE_XSAVE)
        store_header(translator, &instruction->accesses[0]);
    store_outcome(translator, instruction, true);
    translate_value_after(translator, instruction);
    note_changes(translator, instruction);
}

unsigned translate_trace_slots(const struct decode_instruction *instruction)
{
    unsigned slots = 5; /* rep; an outcome */
    for (unsigned i = 0; i < instruction->access_count; i++)
        slots +=
            instruction->accesses[i].form == DECODE_PLAIN ? 1 : 3 + 2 * CHUNK / TRANSLATE_ENTRY;
    return slots;
}

unsigned translate_trace_records(const struct decode_instruction *instruction)
{
    unsigned records = 1;
    for (unsigned i = 0; i < instruction->access_count; i++)
        records += 2 * (instruction->accesses[i].size + CHUNK - 1) / CHUNK + 1;
    return records;
}
