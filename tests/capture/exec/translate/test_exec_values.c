/* Values in the trace: of known and of random instructions, and of sequences of them, compared with
 * the processor. The machine and memory after them must be the processor's, too. */
#include "capture/exec/translate/data_flow.h"
#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INT3           0xccu
#define PLACES         100000u /* of code, 64 bytes each */
#define XSAVE_HEADER   512u
#define FLAG_DIRECTION 0x400u
#define NOWHERE        0x50000000u /* an unmapped address */

static const struct region region = {.address = EXEC_RIG_DATA, .size = EXEC_RIG_DATA_BYTES};

/* --- expected values ---------------------------------------------------------------------------
 */

/* An instruction, and the machines and the data before and after it on the processor. */
struct step {
    struct decode_instruction instruction;
    struct machine before, after;
    uint8_t memory[EXEC_RIG_DATA_BYTES];
};

static uint8_t component_byte(const struct machine *machine, unsigned component,
                              const uint8_t *byte)
{
    uint64_t present;
    memcpy(&present, machine->vector + XSAVE_HEADER, sizeof present);
    return present >> component & 1 ? *byte : 0;
}

static uint8_t vector_byte(const struct machine *machine, unsigned number, unsigned byte)
{
    const unsigned component = number >= 16 ? 7 : byte < 16 ? 1 : byte < 32 ? 2 : 6;
    return component_byte(machine, component, machine_vector_byte(machine, number, byte));
}

static uint64_t register_of(const struct machine *machine, uint8_t reg)
{
    return reg == DECODE_NONE ? 0 : machine->registers[reg];
}

/* Where the value is in memory after the instruction. */
static uint64_t address_of(const struct step *step, const struct decode_access *access)
{
    uint64_t address = register_of(&step->before, access->base) +
                       register_of(&step->before, access->index) * access->scale +
                       (uint64_t)access->displacement;
    if (access->form == DECODE_BITS)
        address += (uint64_t)decode_bit_offset(access, step->before.registers[access->mask]);
    if (access->form == DECODE_REPEATED) {
        const uint64_t after = step->after.registers[access->base];
        address = step->after.flags & FLAG_DIRECTION ? after + access->size : after - access->size;
    }
    return access->narrow ? (uint32_t)address : address;
}

static uint8_t memory_byte(const struct step *step, uint64_t address)
{
    const uint64_t offset = address - EXEC_RIG_DATA;
    return offset < sizeof step->memory ? step->memory[offset]
                                        : *(const uint8_t *)(uintptr_t)address; /* not changed */
}

static uint8_t expected_byte(const struct step *step, const struct data_flow *flow, unsigned i)
{
    const struct data_flow_part *part = &flow->value;
    const struct machine *after = &step->after;
    const unsigned byte = (part->bytes ? (unsigned)__builtin_ctzll(part->bytes) : 0) + i;
    size_t size;
    switch ((enum data_flow_kind)part->kind) {
    case DATA_FLOW_GENERAL:
        return (uint8_t)(after->registers[part->number] >> 8 * byte);
    case DATA_FLOW_VECTOR:
        return vector_byte(after, part->number, byte);
    case DATA_FLOW_X87:
    case DATA_FLOW_MMX: /* the top of the stack is 0 */
        return component_byte(after, 0, after->vector + 32 + 16 * part->number + byte);
    case DATA_FLOW_MASK:
        return component_byte(
            after, 5, after->vector + machine_component(5, &size) + 8 * part->number + byte);
    case DATA_FLOW_MEMORY:
        return memory_byte(step, address_of(step, &step->instruction.accesses[part->number]) + i);
    default:
        return 0;
    }
}

/* Whether the instruction was repeated 0 times, and so defines nothing. */
static bool defines_nothing(const struct step *step)
{
    const uint64_t count = step->before.registers[DECODE_RCX];
    return step->instruction.repeated &&
           (step->instruction.accesses[0].narrow ? (uint32_t)count : count) == 0;
}

/* --- values in the trace -----------------------------------------------------------------------
 */

/* How often values of each kind were compared. */
static unsigned met[DATA_FLOW_MEMORY + 1];

static const struct value_slot *find_value(const struct block *block, unsigned instruction)
{
    for (unsigned i = 0; i < block->value_count; i++)
        if (block->values[i].instruction == instruction)
            return &block->values[i];
    return NULL;
}

/* Whether the entries have the value of the block's instruction, or rightly none. */
static bool has_value(const struct step *step, const struct block *block, unsigned number,
                      const uint32_t *entries)
{
    const struct value_slot *value = find_value(block, number);
    const struct decode_instruction *instruction = &step->instruction;
    const bool is_executed = instruction->kind == DECODE_STRAIGHT ||
                             instruction->kind == DECODE_RETURN ||
                             instruction->kind == DECODE_CONDITIONAL;
    struct data_flow flow;
    data_flow_of(&flow, instruction);
    if (!value || !flow.has_value || !is_executed)
        return !value && !(flow.has_value && is_executed);
    if (value->size != flow.value_size ||
        value->slot + (value->offset + value->size + 3u) / 4u > block->slots)
        return false;
    const uint8_t *bytes = (const uint8_t *)&entries[value->slot] + value->offset;
    for (unsigned i = 0; i < value->size && !defines_nothing(step); i++)
        if (bytes[i] != expected_byte(step, &flow, i))
            return false;
    met[flow.value.kind]++;
    return true;
}

static void print_instruction(const struct decode_instruction *instruction, const char *what)
{
    for (unsigned i = 0; i < instruction->size; i++)
        printf("%02x", instruction->bytes[i]);
    printf(" %s: %s\n", ZydisMnemonicGetString((ZydisMnemonic)instruction->mnemonic), what);
}

/* Compares the values of all executed instructions with the steps. */
static bool have_values(const struct exec_rig *rig, const struct step *steps, unsigned count)
{
    unsigned at = 0, number = 0;
    while (at < rig->entry_count && number < count) {
        const struct block *block =
            rig->part ? rig->part : code_cache_block(rig->cache, rig->entries[at]);
        const unsigned executed = rig->part ? rig->executed : block->instructions;
        for (unsigned i = 0; i < executed && number < count; i++, number++) {
            if (steps[number].instruction.address == block->address + block->pc_map[i].offset &&
                has_value(&steps[number], block, i, rig->entries + at))
                continue;
            print_instruction(&steps[number].instruction, "value");
            return false;
        }
        at += block->slots;
    }
    return number == count;
}

/* --- execution ---------------------------------------------------------------------------------
 */

/* Executes the step's instruction on the processor, from its `before` and the rig's data. */
static struct native_end step_natively(struct exec_rig *rig, struct step *step)
{
    uint8_t *code = rig->code + (step->before.rip - EXEC_RIG_CODE);
    memcpy(code, step->instruction.bytes, step->instruction.size);
    code[step->instruction.size] = INT3;
    step->after = step->before;
    const struct native_end end = native_run(&step->after, NULL, NULL);
    memcpy(step->memory, rig->data, sizeof step->memory);
    return end;
}

/* Executes the steps' code, which is in place, translated, and compares. */
static bool is_same_translated(struct exec_rig *rig, const struct step *steps, unsigned count,
                               const uint8_t *memory, const struct native_end *end)
{
    static struct machine machine;
    const struct step *last = &steps[count - 1];
    const bool ended = end->signal == SIGTRAP;
    memcpy(rig->data, memory, EXEC_RIG_DATA_BYTES);
    exec_rig_load(rig, &steps[0].before);
    rig->entry_count = 0;
    const struct executor_stop stop = exec_rig_run(rig);
    exec_rig_save(rig, &machine);
    const char *difference = machine_difference(&last->after, &machine);
    if (!difference && memcmp(rig->data, last->memory, sizeof last->memory) != 0)
        difference = "memory";
    if (!difference &&
        (ended ? stop.reason != EXECUTOR_TRAP
               : stop.reason != EXECUTOR_FAULT || stop.signal != end->signal ||
                     stop.code != end->code ||
                     (end->signal == SIGSEGV && stop.fault_address != end->fault_address)))
        difference = "end";
    if (difference)
        print_instruction(&last->instruction, difference);
    return !difference && (!ended || have_values(rig, steps, count));
}

/* Executes one instruction with the step's registers, both ways. */
static bool try_instruction(struct exec_rig *rig, struct step *step, const uint8_t *memory,
                            unsigned *ran)
{
    memcpy(rig->data, memory, EXEC_RIG_DATA_BYTES);
    const struct native_end end = step_natively(rig, step);
    *ran += end.signal == SIGTRAP;
    return is_same_translated(rig, step, 1, memory, &end);
}

/* --- random instructions -----------------------------------------------------------------------
 */

typedef void make_function(struct random_instruction *made, uint64_t *random, uint64_t address,
                           const struct region *region);

static bool try_random(struct exec_rig *rig, make_function *make, uint64_t *random,
                       uint64_t address, unsigned *ran)
{
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    static struct step step;
    struct random_instruction made;
    do {
        make(&made, random, address, &region);
        random_machine(&step.before, random);
        step.before.rip = address;
    } while (!random_instruction_place(&made, &step.before, random, &region));
    random_fill(random, memory + EXEC_RIG_DATA_BYTES / 4, EXEC_RIG_DATA_BYTES / 2);
    random_instruction_fill(&made, &step.before, random, memory, &region);
    decode(&step.instruction, made.bytes, sizeof made.bytes, address);
    return try_instruction(rig, &step, memory, ran);
}

/* Returns how many of them completed. */
static unsigned try_many(make_function *make, unsigned limit)
{
    struct exec_rig rig;
    unsigned ran = 0, failed = 0;
    uint64_t random = random_seed(limit);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 0));
    for (unsigned i = 0; i < limit && failed < 20; i++) {
        if (i % PLACES == 0)
            executor_invalidate(rig.executor, EXEC_RIG_CODE, EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES);
        failed += !try_random(&rig, make, &random, EXEC_RIG_CODE + 64 * (i % PLACES), &ran);
    }
    CU_ASSERT_EQUAL(failed, 0);
    exec_rig_end(&rig);
    return ran;
}

static void test_random(void)
{
    const char *seeds = getenv("EXEC_SEEDS");
    unsigned limit = seeds ? (unsigned)atoi(seeds) : 20000;
    CU_ASSERT(try_many(random_instruction_make, limit) > limit / 2);
    CU_ASSERT(try_many(random_instruction_make_gather, 500) > 100 ||
              !__builtin_cpu_supports("avx2"));
    CU_ASSERT(try_many(random_instruction_make_pack, 500) > 100 ||
              !__builtin_cpu_supports("avx512f"));
}

/* --- known instructions ------------------------------------------------------------------------
 */

#define LANDING (EXEC_RIG_CODE + 0x80u) /* where branches go */
#define ENDING  16u                     /* bytes of int3 there */

/* What the second machine of an instruction is like. */
enum variant { DOWNWARD = 1, NO_COUNT = 2 };

/* rbx, rsi, rdi, rsp and rbp point into the data; rcx is 5, rdx -1234; others are random. */
static const struct {
    const char *what;
    uint8_t bytes[15];
    uint8_t size;
    uint8_t variants;
} known[] = {
    {"mov ah, dl", {0x88, 0xd4}, 2, 0},
    {"mov [rbx], rax", {0x48, 0x89, 0x03}, 3, 0},
    {"mov [rbx], bh", {0x88, 0x3b}, 2, 0},
    {"mov [rbx], spl", {0x40, 0x88, 0x23}, 3, 0},
    {"mov [rbx], r9b", {0x44, 0x88, 0x0b}, 3, 0},
    {"mov byte [rbx], -128", {0xc6, 0x03, 0x80}, 3, 0},
    {"mov word [rbx], -28108", {0x66, 0xc7, 0x03, 0x34, 0x92}, 5, 0},
    {"mov dword [rbx], constant", {0xc7, 0x03, 0x78, 0x56, 0x34, 0x92}, 6, 0},
    {"mov qword [rbx], constant", {0x48, 0xc7, 0x03, 0x78, 0x56, 0x34, 0x92}, 7, 0},
    {"mov [0x30002100], rax", {0x48, 0xa3, 0x00, 0x21, 0x00, 0x30, 0, 0, 0, 0}, 10, 0},
    {"mov [0x30002100], al", {0xa2, 0x00, 0x21, 0x00, 0x30, 0, 0, 0, 0}, 9, 0},
    {"add [0x30002100], edx", {0x01, 0x14, 0x25, 0x00, 0x21, 0x00, 0x30}, 7, 0},
    {"add [rip+0x10002000], edx", {0x01, 0x15, 0x00, 0x20, 0x00, 0x10}, 6, 0},
    {"add [ebx], eax", {0x67, 0x01, 0x03}, 3, 0},
    {"add [rbx+rcx*8+8], rdx", {0x48, 0x01, 0x54, 0xcb, 0x08}, 5, 0},
    {"mov [rbx], ds", {0x8c, 0x1b}, 2, 0},
    {"xchg [rbx], rbx", {0x48, 0x87, 0x1b}, 3, 0},
    {"xadd [rbx+rcx], rcx", {0x48, 0x0f, 0xc1, 0x0c, 0x0b}, 5, 0},
    {"cmpxchg [rbx], rcx", {0x48, 0x0f, 0xb1, 0x0b}, 4, 0},
    {"cmpxchg16b [rbx]", {0x48, 0x0f, 0xc7, 0x0b}, 4, 0},
    {"push rax", {0x50}, 1, 0},
    {"push r9", {0x41, 0x51}, 2, 0},
    {"push rsp", {0x54}, 1, 0},
    {"push ax", {0x66, 0x50}, 2, 0},
    {"push -128", {0x6a, 0x80}, 2, 0},
    {"push word -128", {0x66, 0x6a, 0x80}, 3, 0},
    {"push constant", {0x68, 0x78, 0x56, 0x34, 0x92}, 5, 0},
    {"push word constant", {0x66, 0x68, 0x34, 0x92}, 4, 0},
    {"push [rsp+8]", {0xff, 0x74, 0x24, 0x08}, 4, 0},
    {"push fs", {0x0f, 0xa0}, 2, 0},
    {"pushfq", {0x9c}, 1, 0},
    {"pop [rsp+8]", {0x8f, 0x44, 0x24, 0x08}, 4, 0},
    {"pop [rbx]", {0x8f, 0x03}, 2, 0},
    {"pop rsp", {0x5c}, 1, 0},
    {"leave", {0xc9}, 1, 0},
    {"enter 16, 0", {0xc8, 0x10, 0x00, 0x00}, 4, 0},
    {"enter 16, 3", {0xc8, 0x10, 0x00, 0x03}, 4, 0},
    {"ret", {0xc3}, 1, 0},
    {"ret 16", {0xc2, 0x10, 0x00}, 3, 0},
    {"call", {0xe8, 0x7b, 0x00, 0x00, 0x00}, 5, 0},
    {"call [rsp]", {0xff, 0x14, 0x24}, 3, 0},
    {"jmp", {0xeb, 0x7e}, 2, 0},
    {"loop", {0xe2, 0x7e}, 2, NO_COUNT},
    {"loopne, 32 bits", {0x67, 0xe0, 0x7d}, 3, NO_COUNT},
    {"jrcxz", {0xe3, 0x7e}, 2, NO_COUNT},
    {"bts [rbx], rdx", {0x48, 0x0f, 0xab, 0x13}, 4, 0},
    {"btr [rbx], edx", {0x0f, 0xb3, 0x13}, 3, 0},
    {"lock btc [rbx], dx", {0xf0, 0x66, 0x0f, 0xbb, 0x13}, 5, 0},
    {"bts [rsp+8], rdx", {0x48, 0x0f, 0xab, 0x54, 0x24, 0x08}, 6, 0},
    {"bts [rbx+rcx*2+8], edx", {0x0f, 0xab, 0x54, 0x4b, 0x08}, 5, 0},
    {"bts [ebx], rdx", {0x67, 0x48, 0x0f, 0xab, 0x13}, 5, 0},
    {"bts [rcx*4+0x30002100], rcx", {0x48, 0x0f, 0xab, 0x0c, 0x8d, 0x00, 0x21, 0x00, 0x30}, 9, 0},
    {"btc [0x30002100], rdx", {0x48, 0x0f, 0xbb, 0x14, 0x25, 0x00, 0x21, 0x00, 0x30}, 9, 0},
    {"btc [0x30002100], 5", {0x48, 0x0f, 0xba, 0x3c, 0x25, 0x00, 0x21, 0x00, 0x30, 5}, 10, 0},
    {"bts rax, rdx", {0x48, 0x0f, 0xab, 0xd0}, 4, 0},
    {"stosb", {0xaa}, 1, DOWNWARD},
    {"stosq", {0x48, 0xab}, 2, DOWNWARD},
    {"movsw", {0x66, 0xa5}, 2, DOWNWARD},
    {"movsq", {0x48, 0xa5}, 2, DOWNWARD},
    {"lodsd", {0xad}, 1, DOWNWARD},
    {"rep stosw", {0x66, 0xf3, 0xab}, 3, DOWNWARD | NO_COUNT},
    {"rep movsb", {0xf3, 0xa4}, 2, DOWNWARD | NO_COUNT},
    {"rep movsw", {0xf3, 0x66, 0xa5}, 3, DOWNWARD | NO_COUNT},
    {"rep movsd", {0xf3, 0xa5}, 2, DOWNWARD | NO_COUNT},
    {"rep movsq", {0xf3, 0x48, 0xa5}, 3, DOWNWARD | NO_COUNT},
    {"rep movsq, 32 bits", {0x67, 0xf3, 0x48, 0xa5}, 4, DOWNWARD | NO_COUNT},
    {"rep lodsq", {0xf3, 0x48, 0xad}, 3, DOWNWARD | NO_COUNT},
    {"repe cmpsb", {0xf3, 0xa6}, 2, DOWNWARD | NO_COUNT},
    {"repne scasb", {0xf2, 0xae}, 2, DOWNWARD | NO_COUNT},
    {"movaps [rbx], xmm1", {0x0f, 0x29, 0x0b}, 3, 0},
    {"movss [rbx], xmm9", {0xf3, 0x44, 0x0f, 0x11, 0x0b}, 5, 0},
    {"movss xmm9, xmm1", {0xf3, 0x44, 0x0f, 0x10, 0xc9}, 5, 0},
    {"addsd xmm1, xmm2", {0xf2, 0x0f, 0x58, 0xca}, 4, 0},
    {"movhps xmm9, [rbx]", {0x44, 0x0f, 0x16, 0x0b}, 4, 0},
    {"fstp tword [rbx]", {0xdb, 0x3b}, 2, 0},
    {"fnstcw [rbx]", {0xd9, 0x3b}, 2, 0},
    {"fnstsw ax", {0xdf, 0xe0}, 2, 0},
    {"fld1", {0xd9, 0xe8}, 2, 0},
    {"fld dword [rbx]", {0xd9, 0x03}, 2, 0},
    {"fadd st3, st0", {0xdc, 0xc3}, 2, 0},
    {"faddp st3, st0", {0xde, 0xc3}, 2, 0},
    {"fxch st5", {0xd9, 0xcd}, 2, 0},
    {"fsincos", {0xd9, 0xfb}, 2, 0},
    {"fcmovb st0, st2", {0xda, 0xc2}, 2, 0},
    {"paddb mm3, mm1", {0x0f, 0xfc, 0xd9}, 3, 0},
    {"movq mm7, [rbx]", {0x0f, 0x6f, 0x3b}, 3, 0},
    {"movdq2q mm2, xmm9", {0xf2, 0x41, 0x0f, 0xd6, 0xd1}, 5, 0},
    {"movq [rbx], mm1", {0x0f, 0x7f, 0x0b}, 3, 0},
    {"vaddss xmm9, xmm1, xmm2", {0xc5, 0x72, 0x58, 0xca}, 4, 0},
    {"vpaddb ymm9, ymm1, ymm2", {0xc5, 0x75, 0xfc, 0xca}, 4, 0},
    {"vmovups [rbx], ymm1", {0xc5, 0xfc, 0x11, 0x0b}, 4, 0},
    {"vmaskmovps [rbx], ymm1, ymm2", {0xc4, 0xe2, 0x75, 0x2e, 0x13}, 5, 0},
    {"vpaddd xmm17, xmm1, xmm2", {0x62, 0xe1, 0x75, 0x08, 0xfe, 0xca}, 6, 0},
    {"vpaddd ymm17, ymm1, ymm2", {0x62, 0xe1, 0x75, 0x28, 0xfe, 0xca}, 6, 0},
    {"vpaddd zmm17, zmm1, zmm2", {0x62, 0xe1, 0x75, 0x48, 0xfe, 0xca}, 6, 0},
    {"vpaddd zmm1{k1}, zmm1, zmm2", {0x62, 0xf1, 0x75, 0x49, 0xfe, 0xca}, 6, 0},
    {"vmovups [rbx], zmm17", {0x62, 0xe1, 0x7c, 0x48, 0x11, 0x0b}, 6, 0},
    {"vmovups [rbx]{k1}, zmm17", {0x62, 0xe1, 0x7c, 0x49, 0x11, 0x0b}, 6, 0},
    {"vpcmpeqd k3, zmm1, zmm2", {0x62, 0xf1, 0x75, 0x48, 0x76, 0xda}, 6, 0},
    {"kmovw k3, edx", {0xc5, 0xf8, 0x92, 0xda}, 4, 0},
    {"kmovw [rbx], k3", {0xc5, 0xf8, 0x91, 0x1b}, 4, 0},
    {"kmovq k3, rdx", {0xc4, 0xe1, 0xfb, 0x92, 0xda}, 5, 0}};

static void prepare_known(struct step *step, uint8_t *memory, unsigned variant, uint64_t *random)
{
    const uint64_t landing = LANDING;
    uint64_t *registers = step->before.registers;
    random_machine(&step->before, random);
    random_fill(random, memory, EXEC_RIG_DATA_BYTES);
    registers[DECODE_RBX] = EXEC_RIG_DATA + 0x2000;
    registers[DECODE_RSI] = EXEC_RIG_DATA + 0x1808;
    registers[DECODE_RDI] = variant & NO_COUNT ? NOWHERE : EXEC_RIG_DATA + 0x2808;
    registers[DECODE_RSP] = EXEC_RIG_DATA + 0x3000;
    registers[DECODE_RBP] = EXEC_RIG_DATA + 0x2c00;
    registers[DECODE_RCX] = variant & NO_COUNT ? 0 : 5;
    registers[DECODE_RDX] = (uint64_t)-1234;
    memcpy(memory + 0x3000, &landing, sizeof landing);
    step->before.flags &= ~(uint64_t)FLAG_DIRECTION;
    step->before.flags |= variant & DOWNWARD ? FLAG_DIRECTION : 0;
}

/* Returns whether the processor has the instruction. */
static bool try_known(struct exec_rig *rig, size_t i, unsigned variant, uint64_t *random)
{
    static struct step step;
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    unsigned ran = 0;
    prepare_known(&step, memory, variant, random);
    step.before.rip = EXEC_RIG_CODE;
    decode(&step.instruction, known[i].bytes, known[i].size, EXEC_RIG_CODE);
    CU_ASSERT_EQUAL(step.instruction.size, known[i].size);
    executor_invalidate(rig->executor, EXEC_RIG_CODE, EXEC_RIG_CODE + 0x100);
    const bool good = try_instruction(rig, &step, memory, &ran);
    if (!good)
        printf("%s, variant %u\n", known[i].what, variant);
    CU_ASSERT(good);
    return ran > 0;
}

static void test_known(void)
{
    struct exec_rig rig;
    uint64_t random = random_seed(2);
    unsigned ran = 0, wanted = 0;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 4 << 20));
    memset(rig.code + (LANDING - EXEC_RIG_CODE), INT3, ENDING);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (unsigned variant = 0; variant <= (DOWNWARD | NO_COUNT); variant++) {
            const bool is_vector =
                known[i].bytes[0] == 0x62 || known[i].bytes[0] == 0xc4 || known[i].bytes[0] == 0xc5;
            if (variant & ~known[i].variants)
                continue;
            wanted += !is_vector || __builtin_cpu_supports("avx512bw");
            ran += try_known(&rig, i, variant, &random);
        }
    CU_ASSERT(ran >= wanted);
    for (unsigned kind = 0; kind <= DATA_FLOW_MEMORY; kind++)
        CU_ASSERT(met[kind] > 0 || kind == DATA_FLOW_FLAGS || kind == DATA_FLOW_CODES ||
                  (kind == DATA_FLOW_MASK && !__builtin_cpu_supports("avx512f")));
    exec_rig_end(&rig);
}

/* --- repetitions that a fault ends -------------------------------------------------------------
 */

static void test_interrupted(void)
{
    static const struct {
        const char *what;
        uint8_t bytes[4];
        uint8_t size;
        bool is_downward;
    } forms[] = {{"rep movsb", {0xf3, 0xa4}, 2, false},
                 {"rep movsq", {0xf3, 0x48, 0xa5}, 3, true},
                 {"rep stosd", {0xf3, 0xab}, 2, false},
                 {"rep lodsw", {0x66, 0xf3, 0xad}, 3, true},
                 {"repe scasb", {0xf3, 0xae}, 2, false}};
    static struct step step;
    struct exec_rig rig;
    uint64_t random = random_seed(3);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 4 << 20));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint64_t *registers = step.before.registers;
        random_machine(&step.before, &random);
        memset(rig.data, 0x5a, EXEC_RIG_DATA_BYTES);
        step.before.rip = EXEC_RIG_CODE;
        step.before.flags &= ~(uint64_t)FLAG_DIRECTION;
        step.before.flags |= forms[i].is_downward ? FLAG_DIRECTION : 0;
        registers[DECODE_RAX] = 0x5a5a5a5a;
        registers[DECODE_RCX] = 100;
        registers[DECODE_RDI] =
            EXEC_RIG_DATA + (forms[i].is_downward ? 0x20u : EXEC_RIG_DATA_BYTES - 0x20u);
        registers[DECODE_RSI] =
            forms[i].bytes[1] == 0xf3 ? EXEC_RIG_DATA + 0x20 : EXEC_RIG_DATA + 0x2000;
        decode(&step.instruction, forms[i].bytes, forms[i].size, EXEC_RIG_CODE);
        executor_invalidate(rig.executor, EXEC_RIG_CODE, EXEC_RIG_CODE + 16);
        CU_ASSERT_EQUAL(step_natively(&rig, &step).signal, SIGSEGV);
        memset(rig.data, 0x5a, EXEC_RIG_DATA_BYTES);
        exec_rig_load(&rig, &step.before);
        CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_FAULT);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rig.part);
        CU_ASSERT_EQUAL(rig.executed, 1);
        CU_ASSERT(have_values(&rig, &step, 1));
    }
    exec_rig_end(&rig);
}

/* --- operands with the base of fs --------------------------------------------------------------
 */

static void test_fs(void)
{
    static const struct {
        uint8_t bytes[12];
        uint8_t size;
        uint16_t place; /* of the value, in the data */
        uint64_t rbx;
    } forms[] = {
        {{0x64, 0x48, 0x01, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff}, 9, 0x0ff8, 0}, /* add [-8], rax */
        {{0x64, 0x48, 0x89, 0x03}, 4, 0x0800, (uint64_t)-0x800},                /* mov [rbx], rax */
        {{0x64, 0x48, 0x01, 0x03}, 4, 0x0800, (uint64_t)-0x800},                /* add [rbx], rax */
        {{0x64, 0x48, 0x87, 0x1b}, 4, 0x0800, (uint64_t)-0x800}, /* xchg [rbx], rbx */
        {{0x64, 0x48, 0x87, 0x1b}, 4, 0x1800, 0x800},
        {{0x64, 0x48, 0x0f, 0xab, 0x13}, 5, 0x07f8, (uint64_t)-0x800}, /* bts [rbx], rdx */
        {{0x64, 0x48, 0x0f, 0xab, 0x53, 0x10}, 6, 0x1808, 0x800},      /* bts [rbx+16], rdx */
        {{0x64, 0x67, 0x48, 0x87, 0x1b}, 5, 0x1800, 0x1200000800},     /* xchg [ebx], rbx */
        {{0x64, 0x0f, 0x11, 0x0b}, 4, 0x0800, (uint64_t)-0x800}};      /* movups [rbx], xmm1 */
    static struct machine machine;
    struct exec_rig rig;
    uint64_t random = random_seed(4);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 4 << 20));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        random_machine(&machine, &random);
        random_fill(&random, rig.data, EXEC_RIG_DATA_BYTES);
        machine.rip = EXEC_RIG_CODE;
        machine.registers[DECODE_RBX] = forms[i].rbx;
        machine.registers[DECODE_RDX] = (uint64_t)-9;
        memcpy(rig.code, forms[i].bytes, forms[i].size);
        rig.code[forms[i].size] = INT3;
        executor_invalidate(rig.executor, EXEC_RIG_CODE, EXEC_RIG_CODE + 16);
        exec_rig_load(&rig, &machine);
        rig.thread->fs_base = EXEC_RIG_DATA + 0x1000;
        CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TRAP);
        const struct block *block = code_cache_block(rig.cache, rig.entries[0]);
        CU_ASSERT_EQUAL_FATAL(block->value_count, 1);
        CU_ASSERT_EQUAL(memcmp(&rig.entries[block->values[0].slot], rig.data + forms[i].place,
                               block->values[0].size),
                        0);
    }
    exec_rig_end(&rig);
}

/* --- sequences ---------------------------------------------------------------------------------
 */

#define SEQUENCES   400u
#define LENGTH      40u
#define ATTEMPTS    2000u
#define MARGIN      2048u /* bytes of data that registers do not point to at first */
#define REPETITIONS 16u

/* Whether an access is in the data: what a wild pointer hits may be the test's own memory. */
static bool is_inside(const struct step *step, const struct decode_access *access)
{
    const uint64_t count = step->before.registers[DECODE_RCX];
    uint64_t before = 0, after = access->size;
    uint64_t address = register_of(&step->before, access->base) +
                       register_of(&step->before, access->index) * access->scale +
                       (uint64_t)access->displacement;
    switch ((enum decode_form)access->form) {
    case DECODE_PLAIN:
    case DECODE_OPMASK:
    case DECODE_OPMASK_PACKED:
    case DECODE_VECTOR_MASK:
        break;
    case DECODE_TABLE:
        after = UINT8_MAX + 1;
        break;
    case DECODE_BITS:
        address += (uint64_t)decode_bit_offset(access, step->before.registers[access->mask]);
        break;
    case DECODE_REPEATED:
        if (count > REPETITIONS)
            return false;
        before = after = REPETITIONS * access->size;
        break;
    default: /* gathers, enter with a level */
        return false;
    }
    if (access->narrow)
        address = (uint32_t)address;
    const uint64_t offset = address - EXEC_RIG_DATA;
    return offset >= before && offset < EXEC_RIG_DATA_BYTES &&
           offset + after <= EXEC_RIG_DATA_BYTES;
}

/* Whether an instruction can continue a sequence. */
static bool can_continue(const struct step *step)
{
    const struct decode_instruction *instruction = &step->instruction;
    for (unsigned i = 0; i < instruction->access_count; i++)
        if (!is_inside(step, &instruction->accesses[i]))
            return false;
    return !decode_ends_block(instruction);
}

/* Adds an instruction that the processor can execute here. False: none was found. */
static bool add_step(struct exec_rig *rig, struct step *step, uint64_t *random)
{
    static uint8_t before[EXEC_RIG_DATA_BYTES];
    struct random_instruction made;
    const uint64_t address = step->before.rip;
    memcpy(before, rig->data, sizeof before);
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        random_instruction_make(&made, random, address, &region);
        decode(&step->instruction, made.bytes, sizeof made.bytes, address);
        if (!can_continue(step))
            continue;
        if (step_natively(rig, step).signal == SIGTRAP)
            return true;
        memcpy(rig->data, before, sizeof before);
    }
    return false;
}

static bool try_sequence(struct exec_rig *rig, uint64_t *random, unsigned *ran)
{
    static struct step steps[LENGTH];
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    const struct native_end end = {.signal = SIGTRAP};
    unsigned count = 0;
    random_machine(&steps[0].before, random);
    for (unsigned i = 0; i < DECODE_REGISTERS; i++)
        if (i == DECODE_RSP || random_below(random, 4) > 0)
            steps[0].before.registers[i] =
                EXEC_RIG_DATA +
                ((MARGIN + random_below(random, EXEC_RIG_DATA_BYTES - 2 * MARGIN)) & ~UINT64_C(7));
    steps[0].before.rip = EXEC_RIG_CODE;
    random_fill(random, memory, sizeof memory);
    memcpy(rig->data, memory, sizeof memory);
    memset(rig->code, INT3, 4096);
    executor_invalidate(rig->executor, EXEC_RIG_CODE, EXEC_RIG_CODE + 4096);
    while (count < LENGTH && add_step(rig, &steps[count], random)) {
        if (++count < LENGTH)
            steps[count].before = steps[count - 1].after;
    }
    *ran += count;
    return count == 0 || is_same_translated(rig, steps, count, memory, &end);
}

static void test_sequences(void)
{
    struct exec_rig rig;
    const char *seeds = getenv("EXEC_SEEDS");
    const unsigned limit = seeds ? (unsigned)atoi(seeds) : SEQUENCES;
    uint64_t random = random_seed(5 + limit);
    unsigned ran = 0, failed = 0;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 4 << 20));
    for (unsigned i = 0; i < limit && failed < 5; i++)
        failed += !try_sequence(&rig, &random, &ran);
    CU_ASSERT_EQUAL(failed, 0);
    CU_ASSERT(ran > limit * LENGTH / 2);
    exec_rig_end(&rig);
}

/* Repetitions between instructions that change rax, rcx and rsi: the code after them uses these. */
static void test_repetitions(void)
{
    static const struct {
        uint8_t bytes[5];
        uint8_t size;
    } code[] = {{{0xb0, 0x77}, 2},             /* mov al, 0x77 */
                {{0xb9, 3, 0, 0, 0}, 5},       /* mov ecx, 3 */
                {{0xf3, 0x48, 0xa5}, 3},       /* rep movsq */
                {{0x50}, 1},                   /* push rax */
                {{0xfd}, 1},                   /* std */
                {{0xb9, 2, 0, 0, 0}, 5},       /* mov ecx, 2 */
                {{0xb0, 0x78}, 2},             /* mov al, 0x78 */
                {{0xf3, 0xa4}, 2},             /* rep movsb */
                {{0xf3, 0xa4}, 2},             /* rep movsb */
                {{0x48, 0x89, 0x03}, 3},       /* mov [rbx], rax */
                {{0x48, 0x01, 0x4b, 0x10}, 4}, /* add [rbx+16], rcx */
                {{0xfc}, 1}};                  /* cld */
    enum { COUNT = sizeof code / sizeof *code };
    static struct step steps[COUNT];
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    const struct native_end end = {.signal = SIGTRAP};
    struct exec_rig rig;
    uint64_t random = random_seed(6);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 4 << 20));
    prepare_known(&steps[0], memory, 0, &random);
    steps[0].before.rip = EXEC_RIG_CODE;
    memcpy(rig.data, memory, sizeof memory);
    for (unsigned i = 0; i < COUNT; i++) {
        if (i > 0)
            steps[i].before = steps[i - 1].after;
        decode(&steps[i].instruction, code[i].bytes, code[i].size, steps[i].before.rip);
        CU_ASSERT_EQUAL(step_natively(&rig, &steps[i]).signal, SIGTRAP);
    }
    CU_ASSERT(is_same_translated(&rig, steps, COUNT, memory, &end));
    exec_rig_end(&rig);
}

static const struct test_case cases[] = {{"random instructions", test_random},
                                         {"known instructions", test_known},
                                         {"repetitions", test_repetitions},
                                         {"interrupted repetitions", test_interrupted},
                                         {"base of fs", test_fs},
                                         {"sequences", test_sequences},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_values, cases)
