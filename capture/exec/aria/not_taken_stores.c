#include "capture/exec/aria/not_taken_internal.h"

#include <Zydis/Zydis.h>
#include <string.h>
#include <sys/mman.h>

#define ALWAYS_SET 0x202u    /* of pushed flags: bit 1, interrupts */
#define PUSHED     0x244ed7u /* a program's flags, as pushf shows them */

bool not_taken_is_own(const struct not_taken *not_taken, uint64_t address, unsigned size)
{
    const struct store_buffer *stores = not_taken->aria->stores;
    return stores && store_buffer_holds(stores, address, size);
}

void not_taken_store(struct not_taken *not_taken, uint64_t address, const void *from, unsigned size)
{
    struct aria *aria = not_taken->aria;
    if (aria->stores && space_allows(aria->process->space, address, size, PROT_WRITE))
        store_buffer_put(aria->stores, address, from, size);
}

void not_taken_store_scratch(struct not_taken *not_taken)
{
    for (unsigned i = 0; i < not_taken->reference_count; i++) {
        const struct not_taken_reference *reference = &not_taken->references[i];
        if (reference->write && reference->offset + reference->size <= EXEC_THREAD_SCRATCH_BYTES)
            not_taken_store(not_taken, reference->address,
                            not_taken->thread->scratch + reference->offset, reference->size);
    }
}

/* --- emulated instructions -------------------------------------------------------------------- */

/* The offset of the opcode of an instruction without VEX; *extension is 8 with REX.B. */
static unsigned opcode_at(const struct decode_instruction *decoded, unsigned *extension)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
                                       0x36, 0x3e, 0x26, 0x64, 0x65};
    unsigned at = 0;
    *extension = 0;
    for (;; at++) {
        const uint8_t byte = decoded->bytes[at];
        const bool is_rex = (byte & 0xf0) == 0x40;
        if (!is_rex && !memchr(prefixes, byte, sizeof prefixes))
            break;
        *extension = is_rex && (byte & 1) ? 8 : 0; /* a REX before another prefix is ignored */
    }
    return at;
}

static uint64_t pushed_value(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    const uint64_t *registers = not_taken->thread->registers;
    unsigned extension;
    const uint8_t *opcode = decoded->bytes + opcode_at(decoded, &extension);
    uint64_t value = 0;
    int32_t wide;
    int16_t narrow;
    if (!not_taken->references[0].write) { /* from memory */
        not_taken_load(not_taken, &value, not_taken->references[0].address,
                       not_taken->references[0].size);
        return value;
    }
    switch (*opcode) {
    case 0x6a:
        return (uint64_t)(int64_t)(int8_t)opcode[1];
    case 0x68:
        memcpy(&wide, opcode + 1, sizeof wide);
        memcpy(&narrow, opcode + 1, sizeof narrow);
        return (uint64_t)(not_taken->references[0].size == 2 ? narrow : (int64_t)wide);
    case 0x9c:
        return (not_taken->thread->flags & PUSHED) | ALWAYS_SET;
    case 0x0f: /* fs and gs: their selectors are 0 */
        return 0;
    case 0xff:
        return registers[(opcode[1] & 7) | extension];
    default:
        return registers[(*opcode & 7) | extension];
    }
}

static void stage(struct not_taken *not_taken, uint64_t value)
{
    if (not_taken->staged_count < NOT_TAKEN_STAGED)
        not_taken->staged[not_taken->staged_count++] = value;
}

/* Stages the frame pointer, those of the enclosing frames, and the new one. */
static void stage_frames(struct not_taken *not_taken)
{
    stage(not_taken, not_taken->thread->registers[DECODE_RBP]);
    for (unsigned i = 0; i < not_taken->reference_count; i++) {
        const struct not_taken_reference *reference = &not_taken->references[i];
        uint64_t value = 0;
        if (reference->write) {
            stage(not_taken, reference->address);
            break;
        }
        not_taken_load(not_taken, &value, reference->address, reference->size);
        stage(not_taken, value);
    }
}

/* Stages the element that a bit test changes. */
static uint64_t changed_element(struct not_taken *not_taken,
                                const struct decode_instruction *decoded)
{
    const struct decode_access *access = &decoded->accesses[0];
    const uint64_t bit = UINT64_C(1)
                         << not_taken->thread->registers[access->mask] % (access->size * 8u);
    uint64_t element = 0;
    not_taken_load(not_taken, &element, not_taken->references[0].address, access->size);
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_BTS:
        return element | bit;
    case ZYDIS_MNEMONIC_BTR:
        return element & ~bit;
    default:
        return element ^ bit;
    }
}

/* Stages the bytes of the register that maskmovdqu stores. */
static void store_masked(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    unsigned extension, at = opcode_at(decoded, &extension);
    const uint8_t *bytes = decoded->bytes;
    unsigned number = bytes[decoded->size - 1] >> 3 & 7;
    if (bytes[at] == 0xc4 || bytes[at] == 0xc5) /* VEX.R is inverted */
        number |= bytes[at + 1] >> 7 ? 0 : 8;
    else if (at > 0 && (bytes[at - 1] & 0xf4) == 0x44) /* REX.R */
        number |= 8;
    vector_state_get(&not_taken->aria->layout, not_taken->thread->vector, number,
                     not_taken->thread->scratch);
    not_taken_store_scratch(not_taken);
}

void not_taken_stage_stores(struct not_taken *not_taken,
                            const struct not_taken_instruction *instruction)
{
    const struct decode_instruction *decoded = &instruction->decoded;
    uint64_t value = 0;
    not_taken->staged_count = 0;
    if (not_taken->reference_count == 0 ||
        !not_taken->references[not_taken->reference_count - 1].write)
        return;
    switch (instruction->action) {
    case NOT_TAKEN_BRANCH: /* a call */
        stage(not_taken, decoded->address + decoded->size);
        break;
    case NOT_TAKEN_PUSH:
        stage(not_taken, pushed_value(not_taken, decoded));
        break;
    case NOT_TAKEN_POP:
        not_taken_load(not_taken, &value, not_taken->references[0].address,
                       not_taken->references[0].size);
        stage(not_taken, value);
        break;
    case NOT_TAKEN_ENTER:
        stage_frames(not_taken);
        break;
    case NOT_TAKEN_BIT:
        stage(not_taken, changed_element(not_taken, decoded));
        break;
    case NOT_TAKEN_NOTHING: /* has only references, except these */
        if (decoded->mnemonic == ZYDIS_MNEMONIC_MOV)
            stage(not_taken, not_taken->thread->registers[DECODE_RAX]);
        else if (decoded->mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
                 decoded->mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU)
            store_masked(not_taken, decoded);
        break;
    default:
        break;
    }
}

void not_taken_store_staged(struct not_taken *not_taken)
{
    unsigned next = 0;
    for (unsigned i = 0; i < not_taken->reference_count && next < not_taken->staged_count; i++) {
        const struct not_taken_reference *reference = &not_taken->references[i];
        if (reference->write)
            not_taken_store(not_taken, reference->address, &not_taken->staged[next++],
                            reference->size);
    }
}
