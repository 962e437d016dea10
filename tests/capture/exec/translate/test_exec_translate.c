#include "tests/suites.h"
#include "tests/support/exec_oracle.h"
#include "tests/support/exec_rig.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INT3   0xccu
#define PLACES 100000u /* of code, 64 bytes each */

#define NOWHERE 0x50000000u /* an unmapped address */

static const struct region region = {.address = EXEC_RIG_DATA, .size = EXEC_RIG_DATA_BYTES};

static void print_instruction(const struct random_instruction *made)
{
    for (unsigned i = 0; i < made->instruction.length; i++)
        printf("%02x", made->bytes[i]);
    printf(" %s: ", ZydisMnemonicGetString(made->instruction.mnemonic));
}

/* Whether the records are one fetch and the expected references. */
static bool same_records(const struct exec_rig *rig, const struct random_instruction *made,
                         uint64_t address, const struct reference *references, unsigned count)
{
    const struct record *records = rig->records;
    if (rig->count != count + 1u || records[0].type != REQUEST_FETCH ||
        records[0].address != address || records[0].size != made->instruction.length ||
        records[0].time != 1)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (records[i + 1].address != references[i].address ||
            records[i + 1].size != references[i].size || records[i + 1].time != 0 ||
            records[i + 1].type != (references[i].write ? REQUEST_MEMWRITE : REQUEST_MEMREAD))
            return false;
    return true;
}

static void print_records(const struct exec_rig *rig, const struct reference *references,
                          unsigned count)
{
    printf("expected");
    for (unsigned i = 0; i < count; i++)
        printf(" %c%u@%x", references[i].write ? 'w' : 'r', references[i].size,
               references[i].address);
    printf(", got");
    for (size_t i = 0; i < rig->count && i < 80; i++)
        printf(" %c%u@%x", "frww"[rig->records[i].type & 3], rig -> records[i].size,
               rig->records[i].address);
    printf("\n");
}

typedef void make_function(struct random_instruction *made, uint64_t *random, uint64_t address,
                           const struct region *region);

/* How often a form of references was executed to its end. */
static unsigned met[DECODE_XSAVE + 1], met_xsave[DECODE_XSAVE_RESTORE + 1];

static void note_forms(const struct random_instruction *made)
{
    struct decode_instruction instruction;
    decode(&instruction, made->bytes, sizeof made->bytes, 0);
    for (unsigned i = 0; i < instruction.access_count; i++) {
        met[instruction.accesses[i].form]++;
        if (instruction.accesses[i].form == DECODE_XSAVE)
            met_xsave[instruction.accesses[i].element]++;
    }
}

/* Executes one random instruction with random registers, natively and translated. Returns whether
 * the results are equal. */
static bool try_one(struct exec_rig *rig, make_function *make, uint64_t *random, uint64_t address,
                    bool verbose, unsigned *ran)
{
    static uint8_t memory[EXEC_RIG_DATA_BYTES], expected[EXEC_RIG_DATA_BYTES];
    static struct machine before, native, translated;
    static struct reference references[REFERENCES_MAX];
    struct random_instruction made;
    uint8_t *code = rig->code + (address - EXEC_RIG_CODE);
    do {
        make(&made, random, address, &region);
        random_machine(&before, random);
        before.rip = address;
    } while (!random_instruction_place(&made, &before, random, &region));
    memcpy(code, made.bytes, made.instruction.length);
    code[made.instruction.length] = INT3;
    random_fill(random, memory + EXEC_RIG_DATA_BYTES / 4, EXEC_RIG_DATA_BYTES / 2);
    random_instruction_fill(&made, &before, random, memory, &region);

    memcpy(rig->data, memory, sizeof memory);
    native = before;
    struct native_end end = native_run(&native, NULL, NULL);
    memcpy(expected, rig->data, sizeof expected);

    memcpy(rig->data, memory, sizeof memory);
    exec_rig_load(rig, &before);
    struct executor_stop stop = exec_rig_run(rig);
    exec_rig_save(rig, &translated);

    const char *difference = machine_difference(&native, &translated);
    unsigned count = 0;
    if (!difference && memcmp(rig->data, expected, sizeof expected) != 0)
        difference = "memory";
    if (end.signal == SIGTRAP) {
        ++*ran;
        note_forms(&made);
        count = random_instruction_references(&made, &before, &native, references);
        if (!difference && stop.reason != EXECUTOR_TRAP)
            difference = "did not complete";
        if (!difference && !same_records(rig, &made, address, references, count))
            difference = "references";
    } else if (!difference &&
               (stop.reason != EXECUTOR_FAULT || stop.signal != end.signal ||
                stop.code != end.code || rig->count != 0 ||
                (end.signal == SIGSEGV && stop.fault_address != end.fault_address))) {
        difference = "fault";
    }
    if (difference && verbose) {
        print_instruction(&made);
        printf("%s (signals %d, %d) ", difference, end.signal,
               stop.reason == EXECUTOR_FAULT ? stop.signal : 0);
        print_records(rig, references, count);
    }
    return !difference;
}

/* Executes it again: components in their initial state may count as in use after an interrupt,
 * which xsave and its relatives store (Intel SDM, volume 1, 13.6). */
static bool try_again(struct exec_rig *rig, make_function *make, uint64_t *random, uint64_t address,
                      unsigned *ran)
{
    uint64_t before = *random;
    unsigned times = make == random_instruction_make_xsave ? 5 : 1;
    for (unsigned i = 0; i < times; i++) {
        *random = before;
        if (try_one(rig, make, random, address, i + 1 == times, ran))
            return true;
        executor_invalidate(rig->executor, address, address + 16);
    }
    return false;
}

/* Returns how many of them completed. */
static unsigned try_many(make_function *make, unsigned limit)
{
    struct exec_rig rig;
    unsigned ran = 0, failed = 0;
    uint64_t random = random_seed(limit);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 4096, 0));
    for (unsigned i = 0; i < limit && failed < 20; i++) {
        if (i % PLACES == 0)
            executor_invalidate(rig.executor, EXEC_RIG_CODE, EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES);
        failed += !try_again(&rig, make, &random, EXEC_RIG_CODE + 64 * (i % PLACES), &ran);
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
}

static void test_gathers(void)
{
    unsigned ran = try_many(random_instruction_make_gather, 1000);
    CU_ASSERT(ran > 250 || !__builtin_cpu_supports("avx2"));
}

/* An instruction with an empty opmask and an unmapped operand completes if decode() reports no
 * access. */
static bool try_masked(struct exec_rig *rig, uint64_t *random)
{
    static const struct region nowhere = {.address = NOWHERE, .size = EXEC_RIG_DATA_BYTES};
    static struct machine machine;
    struct random_instruction made;
    struct decode_instruction instruction;
    size_t size;
    uint64_t address = EXEC_RIG_CODE;
    do {
        random_instruction_make(&made, random, address, &nowhere);
        random_machine(&machine, random);
        machine.rip = address;
        decode(&instruction, made.bytes, sizeof made.bytes, address);
    } while (!random_instruction_place(&made, &machine, random, &nowhere) ||
             instruction.access_count == 0 ||
             (instruction.accesses[0].form != DECODE_OPMASK &&
              instruction.accesses[0].form != DECODE_OPMASK_PACKED));
    size_t offset = machine_component(5, &size);
    memset(machine.vector + offset, 0, size);
    memcpy(rig->code, made.bytes, made.instruction.length);
    rig->code[made.instruction.length] = INT3;
    struct native_end end = native_run(&machine, NULL, NULL);
    if (end.signal != SIGSEGV)
        return true;
    print_instruction(&made);
    printf("accesses memory under an empty mask\n");
    return false;
}

static void test_masked(void)
{
    struct exec_rig rig;
    unsigned failed = 0;
    uint64_t random = random_seed(63);
    if (!__builtin_cpu_supports("avx512bw"))
        return;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 4096, 0));
    for (unsigned i = 0; i < 1500 && failed < 20; i++)
        failed += !try_masked(&rig, &random);
    CU_ASSERT_EQUAL(failed, 0);
    exec_rig_end(&rig);
}

static void test_packs(void)
{
    unsigned ran = try_many(random_instruction_make_pack, 1000);
    CU_ASSERT(ran > 250 || !__builtin_cpu_supports("avx512f"));
}

static void test_xsave(void)
{
    unsigned ran = try_many(random_instruction_make_xsave, 2000);
    CU_ASSERT(ran > 1000);
}

/* The tests before this one must have covered every form. */
static void test_forms(void)
{
    bool wide = __builtin_cpu_supports("avx512f"), vectors = __builtin_cpu_supports("avx2");
    for (unsigned form = 0; form <= DECODE_XSAVE; form++) {
        bool masked =
            form == DECODE_OPMASK || form == DECODE_OPMASK_PACKED || form == DECODE_GATHER;
        if (met[form] == 0)
            printf("form %u of references was not covered\n", form);
        CU_ASSERT(met[form] > 0 || (masked && !wide) || (form == DECODE_GATHER_VECTOR && !vectors));
    }
    for (unsigned i = 0; i <= DECODE_XSAVE_RESTORE; i++) {
        if (met_xsave[i] == 0)
            printf("kind %u of xsave was not covered\n", i);
        CU_ASSERT(met_xsave[i] > 0 || i == DECODE_XSAVE_IN_USE || i == DECODE_XSAVE_COMPACT);
    }
}

/* --- blocks that reuse registers -------------------------------------------------------------- */

#define BASE   3u /* rbx and r13 point into the data, */
#define BASE_2 13u
#define INDEX  6u /* rsi counts */

#define DIRECTION_FLAG 0x400u

struct code {
    uint8_t bytes[512];
    size_t size;
    int64_t moved[16]; /* of the pointers */
};

static void put(struct code *code, size_t count, const uint8_t *bytes)
{
    memcpy(code->bytes + code->size, bytes, count);
    code->size += count;
}

/* mov, add, xor... to or from [base + displacement] or [base + index * scale + displacement]. */
static void put_operand(struct code *code, uint64_t *random)
{
    static const uint8_t opcodes[] = {0x8b, 0x89, 0x01, 0x33, 0x3b, 0x8d, 0x87};
    static const uint8_t bases[] = {BASE, BASE_2, 4, BASE};
    uint8_t base = bases[random_below(random, 4)];
    uint8_t opcode = opcodes[random_below(random, sizeof opcodes)];
    uint8_t reg = (uint8_t)random_below(random, 3); /* rax, rcx, rdx */
    bool index = random_one_in(random, 3);
    uint8_t bytes[] = {
        (uint8_t)(0x48 | (base >> 3)), opcode, (uint8_t)(0x44 | reg << 3),
        (uint8_t)(random_below(random, 4) << 6 | (index ? INDEX : 4u) << 3 | (base & 7)),
        (uint8_t)(random_below(random, 100) - 50)};
    put(code, sizeof bytes, bytes);
}

/* add, sub, inc, dec or lea of a pointer by a constant; the index gets a new value. */
static void put_move(struct code *code, uint64_t *random)
{
    uint8_t reg = random_one_in(random, 2) ? BASE : BASE_2;
    uint8_t rex = (uint8_t)(0x48 | (reg >> 3));
    uint8_t by = (uint8_t)(random_below(random, 60) - 30);
    uint8_t add[] = {rex, 0x83, (uint8_t)(0xc0 | (reg & 7)), by};
    uint8_t sub[] = {rex, 0x83, (uint8_t)(0xe8 | (reg & 7)), by};
    uint8_t inc[] = {rex, 0xff, (uint8_t)(0xc0 | (reg & 7))};
    uint8_t dec[] = {rex, 0xff, (uint8_t)(0xc8 | (reg & 7))};
    uint8_t lea[] = {(uint8_t)(reg >= 8 ? 0x4d : 0x48), 0x8d,
                     (uint8_t)(0x40 | (reg & 7) << 3 | (reg & 7)), by};
    uint8_t count[] = {0x48, 0xc7, 0xc6, (uint8_t)random_below(random, 50), 0, 0, 0};
    uint8_t more[] = {0x48, 0xff, 0xc6};
    switch (random_below(random, 7)) {
    case 0:
        put(code, sizeof add, add);
        break;
    case 1:
        put(code, sizeof sub, sub);
        break;
    case 2:
        put(code, sizeof inc, inc);
        break;
    case 3:
        put(code, sizeof dec, dec);
        break;
    case 4:
        put(code, sizeof lea, lea);
        break;
    case 5:
        put(code, sizeof count, count);
        break;
    default:
        put(code, sizeof more, more);
        break;
    }
}

static void put_stack(struct code *code, uint64_t *random)
{
    static const uint8_t some[][6] = {{0x50},                         /* push rax */
                                      {0x59},                         /* pop rcx */
                                      {0x66, 0x50},                   /* push ax */
                                      {0x66, 0x5a},                   /* pop dx */
                                      {0xff, 0x74, 0x24, 0x08},       /* push [rsp + 8] */
                                      {0x8f, 0x44, 0x24, 0x08},       /* pop [rsp + 8] */
                                      {0x48, 0x83, 0xec, 0x18},       /* sub rsp, 24 */
                                      {0x48, 0x8d, 0x64, 0x24, 0x10}, /* lea rsp, [rsp + 16] */
                                      {0x9c}};                        /* pushfq */
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 5, 1};
    size_t which = random_below(random, sizeof sizes - 1); /* pushfq would show the stepping */
    put(code, sizes[which], some[which]);
}

/* A few string instructions, xlat, and bit tests, whose entries have other formats. */
static void put_odd(struct code *code, uint64_t *random)
{
    static const uint8_t some[][14] = {
        {0x49, 0x8d, 0x7d, 0x00, 0x48, 0x8d, 0x73, 0x01, 0xb9, 5, 0, 0, 0}, /* lea rdi, rsi; ecx */
        {0xf3, 0xa4},                                                       /* rep movsb */
        {0xd7},                                                             /* xlat */
        /* bts [rbx], rsi; cmp rax, rax: the flags that bts leaves depend on the processor */
        {0x48, 0x0f, 0xab, 0x33, 0x48, 0x39, 0xc0},
        {0x48, 0x0f, 0xb1, 0x4b, 0x08}}; /* cmpxchg [rbx+8], rcx */
    static const uint8_t count[] = {0x48, 0xc7, 0xc6, 9, 0, 0, 0};
    uint64_t which = random_below(random, 4);
    if (which == 0) {
        put(code, 13, some[0]);
        put(code, 2, some[1]);
    } else {
        put(code, which == 1 ? 1 : which == 2 ? 7 : 5, some[which + 1]);
    }
    put(code, sizeof count, count);
}

static void make_code(struct code *code, uint64_t *random)
{
    static const uint8_t count[] = {0x48, 0xc7, 0xc6, 9, 0, 0, 0}; /* mov rsi, 9 */
    code->size = 0;
    put(code, sizeof count, count);
    for (unsigned i = 2 + (unsigned)random_below(random, 30); i > 0; i--)
        switch (random_below(random, 8)) {
        case 0:
            put_stack(code, random);
            break;
        case 1:
        case 2:
            put_move(code, random);
            break;
        case 3:
            put_odd(code, random);
            break;
        default:
            put_operand(code, random);
            break;
        }
    code->bytes[code->size++] = INT3;
}

static bool same_run(const struct exec_rig *rig, const struct record *records, size_t count)
{
    return rig->total == count && rig->count == count &&
           memcmp(rig->records, records, count * sizeof *records) == 0;
}

/* Prints the first unexpected record. */
static void print_difference(const struct exec_rig *rig, const struct record *records, size_t count)
{
    for (size_t i = 0; i < count && i < rig->count; i++)
        if (memcmp(&rig->records[i], &records[i], sizeof *records) != 0) {
            printf("record %zu of %zu (%zu): type %u %u@%x, expected type %u %u@%x\n", i,
                   rig->count, count, rig->records[i].type, rig->records[i].size,
                   rig->records[i].address, records[i].type, records[i].size, records[i].address);
            return;
        }
    printf("%zu records, expected %zu\n", rig->count, count);
}

/* Runs the code natively and translated, with the same registers and memory. Returns whether the
 * results are equal. */
static bool same_block(struct exec_rig *rig, const struct code *code, const struct machine *before,
                       const uint8_t *memory)
{
    static uint8_t expected[EXEC_RIG_DATA_BYTES];
    static struct machine native, translated;
    static struct record records[4096];
    struct native_end end;
    memcpy(rig->code + (before->rip - EXEC_RIG_CODE), code->bytes, code->size);
    memcpy(rig->data, memory, sizeof expected);
    native = *before;
    size_t count = exec_oracle_run(&native, records, 4096, &end);
    memcpy(expected, rig->data, sizeof expected);
    memcpy(rig->data, memory, sizeof expected);
    exec_rig_load(rig, before);
    exec_rig_run(rig);
    exec_rig_save(rig, &translated);
    const char *difference = machine_difference(&native, &translated);
    if (!difference && memcmp(rig->data, expected, sizeof expected) != 0)
        difference = "memory";
    if (!difference && !same_run(rig, records, count))
        difference = "records";
    if (!difference)
        return true;
    for (size_t i = 0; i < code->size; i++)
        printf("%02x", code->bytes[i]);
    printf(": %s, signal %d: ", difference, end.signal);
    print_difference(rig, records, count);
    return false;
}

static bool try_block(struct exec_rig *rig, uint64_t *random, uint64_t address)
{
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    static struct machine before;
    struct code code;
    make_code(&code, random);
    random_machine(&before, random);
    before.flags &= ~(uint64_t)DIRECTION_FLAG;
    before.rip = address;
    before.registers[BASE] = EXEC_RIG_DATA + 0x1800;
    before.registers[BASE_2] = EXEC_RIG_DATA + 0x2000;
    before.registers[4] = EXEC_RIG_DATA + 0x2800;
    random_fill(random, memory, sizeof memory);
    return same_block(rig, &code, &before, memory);
}

static void test_blocks(void)
{
    struct exec_rig rig;
    const char *seeds = getenv("EXEC_SEEDS");
    unsigned limit = seeds ? (unsigned)atoi(seeds) / 10 : 2000, failed = 0;
    uint64_t random = random_seed(62);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 4096, 0));
    for (unsigned i = 0; i < limit && failed < 10; i++) {
        if (i % 16000 == 0)
            executor_invalidate(rig.executor, EXEC_RIG_CODE, EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES);
        failed += !try_block(&rig, &random, EXEC_RIG_CODE + 512 * (i % 16000));
    }
    CU_ASSERT_EQUAL(failed, 0);
    exec_rig_end(&rig);
}

/* --- string instructions between accesses through the registers that they change -------------- */

#define COUNT 3u /* maximum number of repetitions */

/* One of movs, cmps, stos, lods, scas: repeated or not, of every width, also with 32-bit
 * addresses. */
static void put_string(struct code *code, unsigned which)
{
    static const uint8_t opcodes[] = {0xa4, 0xa6, 0xaa, 0xac, 0xae}, repeat[] = {0, 0xf3, 0xf2};
    unsigned width = which % 4, prefix = which / 4 % 3;
    uint8_t opcode = (uint8_t)(opcodes[which / 12 % 5] | (width > 0));
    if (which / 60)
        put(code, 1, (const uint8_t[]){0x67});
    if (width == 1)
        put(code, 1, (const uint8_t[]){0x66});
    if (prefix)
        put(code, 1, &repeat[prefix]);
    if (width == 3)
        put(code, 1, (const uint8_t[]){0x48});
    put(code, 1, &opcode);
}

static bool try_string(struct exec_rig *rig, unsigned which, unsigned how, uint64_t *random)
{
    static const uint8_t accesses[] = {0x8b, 0x57, 0x08, 0x8b, 0x56, 0xf8}; /* [rdi+8], [rsi-8] */
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    static struct machine before;
    struct code code = {.size = 0};
    put(&code, sizeof accesses, accesses);
    put_string(&code, which);
    put(&code, sizeof accesses, accesses);
    put_string(&code, which);
    put(&code, sizeof accesses, accesses);
    put(&code, 1, (const uint8_t[]){INT3});
    random_machine(&before, random);
    before.rip = EXEC_RIG_CODE + 64 * (which + 1);
    before.flags &= ~(uint64_t)DIRECTION_FLAG;
    before.flags |= how & 1 ? DIRECTION_FLAG : 0;
    before.registers[DECODE_RCX] = how >> 1 & 1 ? COUNT : 0;
    before.registers[DECODE_RAX] = 0;
    before.registers[DECODE_RSI] = EXEC_RIG_DATA + 0x1800;
    before.registers[DECODE_RDI] = EXEC_RIG_DATA + 0x2000;
    memset(memory, 0, sizeof memory); /* all equal, or few */
    if (how >> 2)
        random_fill(random, memory, sizeof memory);
    return same_block(rig, &code, &before, memory);
}

static void test_strings(void)
{
    struct exec_rig rig;
    unsigned failed = 0;
    uint64_t random = random_seed(64);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 4096, 0));
    for (unsigned which = 0; which < 120; which++)
        for (unsigned how = 0; how < 8; how++)
            failed += !try_string(&rig, which, how, &random);
    CU_ASSERT_EQUAL(failed, 0);
    exec_rig_end(&rig);
}

static const struct test_case cases[] = {{"random instructions", test_random},
                                         {"gathers and scatters", test_gathers},
                                         {"empty masks", test_masked},
                                         {"compressed and expanded", test_packs},
                                         {"xsave and xrstor", test_xsave},
                                         {"all forms of references", test_forms},
                                         {"blocks that reuse registers", test_blocks},
                                         {"accesses after string instructions", test_strings},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_translate, cases)
