#include "capture/exec/aria/not_taken_internal.h"
#include "capture/exec/dispatch/far_branch.h"

#include "capture/exec/aria/define.h"

#include <Zydis/Zydis.h>
#include <signal.h>
#include <string.h>

#define CARRY     0x1u
#define PARITY    0x4u
#define ADJUST    0x10u
#define ZERO      0x40u
#define SIGN      0x80u
#define DIRECTION 0x400u
#define OVERFLOW  0x800u
#define COMPARED  (CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW)

/* The flags that popf changes, except trap flag and alignment check. */
#define POPPED 0x200cd5u

/* Continues after the instruction. */
static void go_on(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    not_taken->thread->rip = decoded->address + decoded->size;
}

/* Writes a part of a register; 32 bits clear the upper half. */
static void set_register(struct not_taken *not_taken, unsigned number, uint64_t value,
                         unsigned size)
{
    uint64_t *to = &not_taken->thread->registers[number];
    if (size == 4)
        *to = (uint32_t)value;
    else
        memcpy(to, &value, size < 8 ? size : 8);
}

/* The value that the instruction reads. */
static uint64_t load_first(struct not_taken *not_taken, unsigned size)
{
    uint64_t value = 0;
    if (not_taken->reference_count > 0)
        not_taken_load(not_taken, &value, not_taken->references[0].address, size < 8 ? size : 8);
    return value;
}

/* --- the stack ---------------------------------------------------------------------------------
 */

static void emulate_push(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    for (unsigned i = 0; i < decoded->access_count; i++)
        if (decoded->accesses[i].write)
            not_taken->thread->registers[DECODE_RSP] -= decoded->accesses[i].size;
}

static void emulate_pop(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    uint64_t *registers = not_taken->thread->registers;
    unsigned size = decoded->accesses[0].size;
    uint64_t value = load_first(not_taken, size);
    registers[DECODE_RSP] += size;
    if (decoded->registers_written)
        set_register(not_taken, (unsigned)__builtin_ctz(decoded->registers_written), value, size);
}

static void emulate_pop_flags(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    struct exec_thread *thread = not_taken->thread;
    unsigned size = decoded->accesses[0].size;
    uint64_t value = load_first(not_taken, size);
    uint64_t changed = size == 2 ? POPPED & 0xffff : POPPED;
    thread->registers[DECODE_RSP] += size;
    thread->flags = (thread->flags & ~changed) | (value & changed);
}

static void emulate_enter(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    uint64_t *registers = not_taken->thread->registers;
    const struct decode_access *push = &decoded->accesses[decoded->access_count - 1u];
    unsigned size = push->size, count = push->form == DECODE_FRAMES ? push->lanes : 1;
    uint16_t room;
    memcpy(&room, decoded->bytes + decoded->size - 3, sizeof room);
    set_register(not_taken, DECODE_RBP, registers[DECODE_RSP] - size, size);
    registers[DECODE_RSP] -= count * size + room;
}

static void emulate_leave(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    uint64_t *registers = not_taken->thread->registers;
    unsigned size = decoded->access_count ? decoded->accesses[0].size : 8;
    uint64_t value = load_first(not_taken, size);
    registers[DECODE_RSP] = registers[DECODE_RBP] + size;
    set_register(not_taken, DECODE_RBP, value, size);
}

/* --- string instructions -----------------------------------------------------------------------
 */

static void compare(struct not_taken *not_taken, uint64_t a, uint64_t b, unsigned size)
{
    uint64_t mask = size == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * size) - 1;
    uint64_t result = (a - b) & mask, top = (mask >> 1) + 1;
    uint64_t flags = 0;
    a &= mask;
    b &= mask;
    if (a < b)
        flags |= CARRY;
    if (!__builtin_parityll(result & 0xff))
        flags |= PARITY;
    if ((a ^ b ^ result) & 0x10)
        flags |= ADJUST;
    if (result == 0)
        flags |= ZERO;
    if (result & top)
        flags |= SIGN;
    if ((a ^ b) & (a ^ result) & top)
        flags |= OVERFLOW;
    not_taken->thread->flags = (not_taken->thread->flags & ~(uint64_t)COMPARED) | flags;
}

/* One repetition: loads, compares, advances rsi and rdi. False: no memory. */
static bool repeat_once(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    struct exec_thread *thread = not_taken->thread;
    unsigned size = decoded->accesses[0].size;
    uint64_t values[2] = {0, 0};
    uint64_t step = thread->flags & DIRECTION ? (uint64_t)0 - size : size;
    for (unsigned i = 0; i < decoded->access_count && i < 2; i++) {
        const struct decode_access *access = &decoded->accesses[i];
        uint64_t address = thread->registers[access->base];
        address =
            (access->narrow ? (uint32_t)address : address) + (access->fs ? thread->fs_base : 0);
        if (access->read) {
            not_taken->own_reads += not_taken_is_own(not_taken, address, size);
            not_taken_load(not_taken, &values[i], address, size);
        } else {
            const uint64_t *value = i > 0 ? &values[0] : &thread->registers[DECODE_RAX];
            not_taken_store(not_taken, address, value, size);
        }
        if (!not_taken_record_one(not_taken, address, size,
                                  access->read ? REQUEST_MEMREAD : REQUEST_MEMWRITE))
            return false;
        set_register(not_taken, access->base, thread->registers[access->base] + step,
                     access->narrow ? 4 : 8);
    }
    if (decoded->flags_written && decoded->access_count == 2)
        compare(not_taken, values[0], values[1], size);
    else if (decoded->flags_written)
        compare(not_taken, thread->registers[DECODE_RAX], values[0], size);
    else if (decoded->access_count == 1 && decoded->accesses[0].read)
        set_register(not_taken, DECODE_RAX, values[0], size);
    return true;
}

/* The last of the repeat prefixes is effective. */
static uint8_t repetition_of(const struct decode_instruction *decoded)
{
    uint8_t prefix = 0;
    for (unsigned i = 0; i < decoded->size; i++)
        if (decoded->bytes[i] == 0xf2 || decoded->bytes[i] == 0xf3)
            prefix = decoded->bytes[i];
    return prefix;
}

/* Executes a limited number of repetitions; rip then stays at the instruction, as after an
 * interrupt. */
static enum not_taken_result emulate_string(struct not_taken *not_taken,
                                            const struct decode_instruction *decoded,
                                            struct aria_step *step)
{
    struct exec_thread *thread = not_taken->thread;
    bool narrow = decoded->accesses[0].narrow, ended = !decoded->repeated;
    uint8_t repetition = repetition_of(decoded);
    uint64_t *count = &thread->registers[DECODE_RCX];
    if (!not_taken_record_one(not_taken, decoded->address, decoded->size, REQUEST_FETCH) ||
        (!decoded->repeated && !repeat_once(not_taken, decoded)))
        return NOT_TAKEN_NO_MEMORY;
    for (unsigned done = 0; !ended; done++) {
        uint64_t left = narrow ? (uint32_t)*count : *count;
        if (left == 0)
            break;
        if (done == NOT_TAKEN_REPETITIONS) {
            step->reason = ARIA_LIMIT;
            return NOT_TAKEN_STOPPED;
        }
        if (!repeat_once(not_taken, decoded))
            return NOT_TAKEN_NO_MEMORY;
        set_register(not_taken, DECODE_RCX, left - 1, narrow ? 4 : 8);
        ended = decoded->flags_written && (repetition == 0xf3) != ((thread->flags & ZERO) != 0);
    }
    go_on(not_taken, decoded);
    return NOT_TAKEN_WENT_ON;
}

/* --- branches ----------------------------------------------------------------------------------
 */

static bool holds(unsigned condition, uint64_t flags)
{
    bool sign = flags & SIGN, overflow = flags & OVERFLOW, result;
    switch (condition >> 1 & 7) {
    case 0:
        result = overflow;
        break;
    case 1:
        result = flags & CARRY;
        break;
    case 2:
        result = flags & ZERO;
        break;
    case 3:
        result = flags & (CARRY | ZERO);
        break;
    case 4:
        result = sign;
        break;
    case 5:
        result = flags & PARITY;
        break;
    case 6:
        result = sign != overflow;
        break;
    default:
        result = sign != overflow || (flags & ZERO);
        break;
    }
    return result != (condition & 1);
}

static bool has_prefix(const struct decode_instruction *decoded, uint8_t prefix)
{
    return memchr(decoded->bytes, prefix, decoded->size - 2u) != NULL;
}

/* loopne, loope, loop, jrcxz: by the last two bits of the opcode. */
static bool holds_counted(struct not_taken *not_taken, const struct decode_instruction *decoded,
                          unsigned opcode)
{
    struct exec_thread *thread = not_taken->thread;
    bool narrow = has_prefix(decoded, 0x67), zero = thread->flags & ZERO;
    uint64_t count = thread->registers[DECODE_RCX];
    if (opcode == 0xe3)
        return (narrow ? (uint32_t)count : count) == 0;
    set_register(not_taken, DECODE_RCX, count - 1, narrow ? 4 : 8);
    return thread->registers[DECODE_RCX] != 0 &&
           (opcode == 0xe2 || (opcode == 0xe1 ? zero : !zero));
}

static bool is_taken(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    unsigned opcode = decoded->bytes[decoded->size - 2];
    if (decoded->size >= 6 && decoded->bytes[decoded->size - 6] == 0x0f)
        opcode = decoded->bytes[decoded->size - 5];
    else if ((opcode & 0xfc) == 0xe0)
        return holds_counted(not_taken, decoded, opcode);
    return holds(opcode & 15, not_taken->thread->flags);
}

static uint64_t go(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    uint64_t *registers = not_taken->thread->registers;
    uint64_t next = decoded->address + decoded->size, target = decoded->target;
    switch (decoded->kind) {
    case DECODE_CONDITIONAL:
        return is_taken(not_taken, decoded) ? target : next;
    case DECODE_RETURN:
        target = load_first(not_taken, 8);
        registers[DECODE_RSP] += 8u + decoded->stack_release;
        return target;
    case DECODE_JUMP_INDIRECT:
    case DECODE_CALL_INDIRECT:
        target = decoded->branch_register != DECODE_NONE ? registers[decoded->branch_register]
                                                         : load_first(not_taken, 8);
        break;
    default:
        break;
    }
    if (decoded->kind == DECODE_CALL || decoded->kind == DECODE_CALL_INDIRECT)
        registers[DECODE_RSP] -= 8;
    return target;
}

static enum not_taken_result emulate_branch(struct not_taken *not_taken,
                                            const struct decode_instruction *decoded,
                                            struct aria_step *step)
{
    not_taken->thread->rip = go(not_taken, decoded);
    aria_describe_branch(step, decoded->kind, decoded->address, decoded->size, decoded->target,
                         not_taken->thread->rip);
    return NOT_TAKEN_STOPPED;
}

/* --- others ------------------------------------------------------------------------------------
 */

static void emulate_bit(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    struct exec_thread *thread = not_taken->thread;
    const struct decode_access *access = &decoded->accesses[0];
    uint64_t element = load_first(not_taken, access->size);
    uint64_t bit = thread->registers[access->mask] % (access->size * 8u);
    thread->flags = (thread->flags & ~(uint64_t)CARRY) | (element >> bit & CARRY);
}

/* A non-canonical base of fs raises a protection fault. */
static bool set_fs_base(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    uint8_t modrm = decoded->bytes[decoded->size - 1], rex = decoded->bytes[decoded->size - 4];
    bool has_rex = decoded->size > 4 && (rex & 0xf0) == 0x40;
    uint64_t value = not_taken->thread->registers[(modrm & 7) | (has_rex && (rex & 1) ? 8 : 0)];
    if (!has_rex || !(rex & 8))
        value = (uint32_t)value;
    if (!aria_is_user_address(value))
        return false;
    not_taken->thread->fs_base = value;
    return true;
}

static enum not_taken_result stop(struct aria_step *step, enum aria_reason reason, int number)
{
    step->reason = reason;
    step->signal = number;
    return NOT_TAKEN_STOPPED;
}

/* Instructions that continue after themselves. False: they raise SIGSEGV. */
static bool emulate(struct not_taken *not_taken, const struct not_taken_instruction *instruction)
{
    const struct decode_instruction *decoded = &instruction->decoded;
    switch (instruction->action) {
    case NOT_TAKEN_PUSH:
        emulate_push(not_taken, decoded);
        break;
    case NOT_TAKEN_POP:
        emulate_pop(not_taken, decoded);
        break;
    case NOT_TAKEN_POP_FLAGS:
        emulate_pop_flags(not_taken, decoded);
        break;
    case NOT_TAKEN_ENTER:
        emulate_enter(not_taken, decoded);
        break;
    case NOT_TAKEN_LEAVE:
        emulate_leave(not_taken, decoded);
        break;
    case NOT_TAKEN_LOAD_A:
        set_register(not_taken, DECODE_RAX, load_first(not_taken, decoded->accesses[0].size),
                     decoded->accesses[0].size);
        break;
    case NOT_TAKEN_BIT:
        emulate_bit(not_taken, decoded);
        break;
    case NOT_TAKEN_FS_BASE:
        return set_fs_base(not_taken, decoded);
    case NOT_TAKEN_GS_BASE:
        set_register(not_taken, (unsigned)__builtin_ctz(decoded->registers_written), 0, 8);
        break;
    default:
        break;
    }
    return true;
}

static enum not_taken_result do_defined(struct not_taken *not_taken, struct aria_step *step)
{
    struct aria *aria = not_taken->aria;
    struct exec_thread *thread = not_taken->thread;
    struct record records[1 + DEFINE_REFERENCES];
    struct definitions_done done;
    definitions_do(aria->definitions, ARIA_NOT_TAKEN, &done);
    if (done.signal != 0)
        return stop(step, ARIA_SIGNAL, done.signal);
    size_t count = definitions_records(&done, thread->rip, aria->settings.only_fetches, records);
    if (!aria_add_records(aria, records, count))
        return NOT_TAKEN_NO_MEMORY;
    thread->rip += done.size;
    not_taken->own_reads += done.own_reads;
    not_taken->done++;
    return NOT_TAKEN_WENT_ON;
}

/* Far branches that would fault, or end the program, raise a signal. */
static enum not_taken_result go_far(struct not_taken *not_taken,
                                    const struct decode_instruction *decoded,
                                    struct aria_step *step)
{
    struct exec_thread *thread = not_taken->thread;
    uint8_t read[FAR_BRANCH_BYTES];
    struct far_branch branch = {.rsp = thread->registers[DECODE_RSP], .flags = thread->flags};
    not_taken_load(not_taken, read, not_taken->references[0].address, decoded->accesses[0].size);
    if (far_branch_do(decoded, read, &branch) != FAR_BRANCH_DONE)
        return stop(step, ARIA_SIGNAL, SIGSEGV);
    not_taken->own_reads +=
        not_taken_is_own(not_taken, not_taken->references[0].address, decoded->accesses[0].size);
    if (branch.pushed_bytes > 0)
        not_taken_store(not_taken, branch.rsp, branch.pushed, branch.pushed_bytes);
    not_taken->done++;
    if (!not_taken_record(not_taken, decoded))
        return NOT_TAKEN_NO_MEMORY;
    thread->registers[DECODE_RSP] = branch.rsp;
    thread->flags = branch.flags;
    thread->rip = branch.rip;
    return NOT_TAKEN_WENT_ON;
}

enum not_taken_result not_taken_emulate(struct not_taken *not_taken,
                                        const struct not_taken_instruction *instruction,
                                        struct aria_step *step)
{
    const struct decode_instruction *decoded = &instruction->decoded;
    if (instruction->action == NOT_TAKEN_SYSTEM_CALL)
        return stop(step, ARIA_SYSTEM_CALL, 0);
    if (instruction->action == NOT_TAKEN_SIGNAL)
        return stop(step, ARIA_SIGNAL, instruction->signal);
    if (instruction->action == NOT_TAKEN_DEFINED)
        return do_defined(not_taken, step);
    if (instruction->action == NOT_TAKEN_FAR)
        return go_far(not_taken, decoded, step);
    if (instruction->action == NOT_TAKEN_STRING) {
        not_taken->done++;
        return emulate_string(not_taken, decoded, step);
    }
    const bool buffered = not_taken->aria->stores != NULL;
    enum not_taken_result result = NOT_TAKEN_WENT_ON;
    if (buffered)
        not_taken_stage_stores(not_taken, instruction);
    if (instruction->action != NOT_TAKEN_BRANCH && !emulate(not_taken, instruction))
        return stop(step, ARIA_SIGNAL, SIGSEGV);
    not_taken->done++;
    if (!not_taken_record(not_taken, decoded))
        return NOT_TAKEN_NO_MEMORY;
    if (instruction->action == NOT_TAKEN_BRANCH)
        result = emulate_branch(not_taken, decoded, step);
    else
        go_on(not_taken, decoded);
    if (instruction->action == NOT_TAKEN_ABORT) {
        not_taken->thread->registers[DECODE_RAX] = 0;
        not_taken->thread->rip = decoded->target;
    }
    if (buffered)
        not_taken_store_staged(not_taken);
    return result;
}
