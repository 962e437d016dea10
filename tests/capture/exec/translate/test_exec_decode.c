#include "capture/exec/translate/decode.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS 0x401000u

static const char *const names[DECODE_REGISTERS] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                    "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                    "r12", "r13", "r14", "r15"};
static const char *const kinds[] = {"straight", "jump",   "conditional", "call",
                                    "return",   "jump *", "call *",      "system call",
                                    "emulated", "trap",   "refused"};
static const char *const forms[] = {
    "",        " table",         " bits",   " repeated", " opmask", " packed", " vector mask",
    " gather", " gather vector", " frames", " xsave"};

/* Parses "48 8b 05" and so on. */
static size_t parse(const char *text, uint8_t *bytes)
{
    size_t size = 0;
    unsigned byte;
    int used;
    while (sscanf(text, "%2x%n", &byte, &used) == 1) {
        bytes[size++] = (uint8_t)byte;
        text += used;
    }
    return size;
}

/* Prints an instruction's kind and accesses: "straight; r8 rsp; w4 rbx+rcx*4+16". */
static void describe(const struct decode_instruction *instruction, char *text, size_t room)
{
    size_t at = (size_t)snprintf(text, room, "%s", kinds[instruction->kind]);
    for (unsigned i = 0; i < instruction->access_count; i++) {
        const struct decode_access *access = &instruction->accesses[i];
        bool gather = access->form == DECODE_GATHER || access->form == DECODE_GATHER_VECTOR;
        at += (size_t)snprintf(text + at, room - at, "; %s%s%u%s %s", access->read ? "r" : "",
                               access->write ? "w" : "", access->size, forms[access->form],
                               access->base == DECODE_NONE ? "0" : names[access->base]);
        if (gather)
            at += (size_t)snprintf(text + at, room - at, "+v%u*%u", access->index, access->scale);
        else if (access->index != DECODE_NONE)
            at += (size_t)snprintf(text + at, room - at, "+%s*%u", names[access->index],
                                   access->scale);
        if (access->displacement)
            at += (size_t)snprintf(text + at, room - at, "%+lld", (long long)access->displacement);
        if (access->fs || access->narrow)
            at += (size_t)snprintf(text + at, room - at, "%s%s", access->fs ? " fs" : "",
                                   access->narrow ? " narrow" : "");
        if (access->lanes)
            at += (size_t)snprintf(text + at, room - at, " mask %u lanes %u of %u", access->mask,
                                   access->lanes, access->element);
    }
}

static const struct {
    const char *bytes, *expected;
} table[] = {
    {"90", "straight"},
    {"50", "straight; w8 rsp-8"},
    {"6650", "straight; w2 rsp-2"},
    {"58", "straight; r8 rsp"},
    {"ff30", "straight; r8 rax; w8 rsp-8"},
    {"8f442408", "straight; r8 rsp; w8 rsp+16"},
    {"e811223344", "call; w8 rsp-8"},
    {"ff5008", "call *; r8 rax+8; w8 rsp-8"},
    {"ffd0", "call *; w8 rsp-8"},
    {"ff24c500100000", "jump *; r8 0+rax*8+4096"},
    {"c3", "return; r8 rsp"},
    {"c21000", "return; r8 rsp"},
    {"eb02", "jump"},
    {"7402", "conditional"},
    {"e2fe", "conditional"},
    {"c9", "straight; r8 rbp"},
    {"c8100000", "straight; w8 rsp-8"},
    {"c8100001", "straight; w8 frames rsp-8 mask 0 lanes 2 of 0"},
    {"c8100003",
     "straight; r8 frames rbp-8 mask 0 lanes 2 of 0; w8 frames rsp-8 mask 0 lanes 4 of 0"},
    {"488b0510000000", "straight; r8 0+4198423"},
    {"8b048b", "straight; r4 rbx+rcx*4"},
    {"678b4504", "straight; r4 rbp+4 narrow"},
    {"01048b", "straight; rw4 rbx+rcx*4"},
    {"f00fb108", "straight; rw4 rax"},
    {"480fc70f", "straight; rw16 rdi"},
    {"a4", "straight; r1 rsi; w1 rdi"},
    {"48a7", "straight; r8 rsi; r8 rdi"},
    {"f348a5", "straight; r8 repeated rsi; w8 repeated rdi"},
    {"f2ae", "straight; r1 repeated rdi"},
    {"d7", "straight; r1 table rbx"},
    {"0fa308", "straight; r4 bits rax"},
    {"480fab08", "straight; rw8 bits rax"},
    {"0fba2805", "straight; rw4 rax"},
    {"8d0448", "straight"},
    {"0f1f00", "straight"},
    {"0f1808", "straight"},
    {"64488b042528000000", "straight; r8 0+40 fs"},
    {"65488b042528000000", "straight; r8 0+40"},
    {"0f05", "system call"},
    {"cc", "trap"},
    {"0f0b", "trap"},
    {"f4", "trap"},
    {"cd80", "refused"},
    {"8ed8", "straight"},
    {"8ee8", "emulated"},
    {"8e28", "refused; r2 rax"},
    {"cb", "emulated; r8 rsp"},
    {"06", "trap"},
    {"f3480faed0", "emulated"},
    {"660ff7c1", "straight; w16 vector mask rdi mask 1 lanes 16 of 1"},
    {"c4e2752c00", "straight; r32 vector mask rax mask 1 lanes 8 of 4"},
    {"62f17c481000", "straight; r64 rax"},
    {"62f17c491000", "straight; r64 opmask rax mask 1 lanes 16 of 4"},
    {"62f17c59580a", "straight; r4 opmask rdx mask 1 lanes 16 of 4"},
    {"62f37d49660001", "straight; r64 opmask rax mask 1 lanes 16 of 4"}, /* vfpclassps */
    {"62f37d59660001", "straight; r4 opmask rax mask 1 lanes 16 of 4"},
    {"62f26f499a03", "straight; r16 opmask rbx mask 1 lanes 16 of 16"}, /* v4fmaddps */
    {"62f26f099b03", "straight; r16 opmask rbx mask 1 lanes 1 of 16"},  /* v4fmaddss */
    {"62f26f495203", "straight; r16 opmask rbx mask 1 lanes 16 of 16"}, /* vp4dpwssd */
    {"62f56c495803", "straight; r64 opmask rbx mask 1 lanes 32 of 2"},  /* vaddph */
    {"62f66e495603", "straight; r64 opmask rbx mask 1 lanes 16 of 4"},  /* vfmaddcph */
    {"62f66f0957cb", "straight"},                                       /* vfcmaddcsh */
    {"62f66f095703", "straight; r4 opmask rbx mask 1 lanes 1 of 4"},    /* the same */
    {"62f5fd195a03", "straight; r8 opmask rbx mask 1 lanes 2 of 8"},    /* vcvtpd2ph */
    {"62f57c195b03", "straight; r4 opmask rbx mask 1 lanes 4 of 4"},    /* vcvtdq2ph */
    {"62f57d197b03", "straight; r2 opmask rbx mask 1 lanes 2 of 2"},    /* vcvtph2qq */
    {"62f37c096603ff", "straight; r16 opmask rbx mask 1 lanes 8 of 2"}, /* vfpclassph */
    {"62f1fd195a03", "straight; r8 opmask rbx mask 1 lanes 2 of 8"},    /* vcvtpd2ps */
    {"62f26d498f03", "straight; r64 opmask rbx mask 1 lanes 64 of 1"},  /* vpshufbitqmb */
    {"62f27d491a03", "straight; r16 opmask rbx mask 1 lanes 16 of 4"},  /* vbroadcastf32x4 */
    {"62f26e495203", "straight; r64 opmask rbx mask 1 lanes 16 of 4"},  /* vdpbf16ps */
    {"62f27e093203", "straight; w2 opmask rbx mask 1 lanes 2 of 1"},    /* vpmovqb */
    {"62f37d49190311", "straight; w16 rbx"},                            /* vextractf32x4 */
    {"62f3ed49ce0311", "straight; r64 rbx"},                            /* vgf2p8affineqb */
    {"62f27d498810", "straight; r64 packed rax mask 1 lanes 16 of 4"},
    {"62f27d49901448", "straight; r4 gather rax+v1*2 mask 1 lanes 16 of 4"},
    {"c4e26d901c48", "straight; r4 gather vector rax+v1*2 mask 2 lanes 8 of 4"},
    {"0fae20", "straight; w576 xsave rax"},
    {"0fae00", "straight; w512 rax"},
    {"db2f", "straight; r10 rdi"},
};

static void test_forms(void)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t bytes[DECODE_BYTES_MAX];
        char text[256];
        struct decode_instruction instruction;
        size_t size = parse(table[i].bytes, bytes);
        decode(&instruction, bytes, size, ADDRESS);
        describe(&instruction, text, sizeof text);
        if (strcmp(text, table[i].expected) != 0)
            printf("%s: %s, expected %s\n", table[i].bytes, text, table[i].expected);
        CU_ASSERT_STRING_EQUAL(text, table[i].expected);
        CU_ASSERT(instruction.size == size || instruction.mnemonic == 0);
    }
}

/* Reads no byte beyond the size; a truncated instruction is invalid. */
static void test_sizes(void)
{
    struct decode_instruction instruction;
    uint8_t bytes[DECODE_BYTES_MAX];
    decode(&instruction, NULL, 0, ADDRESS);
    CU_ASSERT(instruction.kind == DECODE_TRAP && instruction.mnemonic == 0);
    CU_ASSERT_EQUAL(instruction.size, 1);
    size_t whole = parse("48b80123456789abcdef", bytes); /* mov rax, a number */
    for (size_t size = 0; size <= whole; size++) {
        decode(&instruction, bytes, size, ADDRESS);
        CU_ASSERT_EQUAL(instruction.kind == DECODE_TRAP, size < whole);
        CU_ASSERT_EQUAL(instruction.size, size < whole ? 1 : whole);
    }
}

static void test_branches(void)
{
    struct decode_instruction instruction;
    uint8_t bytes[DECODE_BYTES_MAX];
    decode(&instruction, bytes, parse("e9fbffffff", bytes), ADDRESS);
    CU_ASSERT_EQUAL(instruction.target, ADDRESS);
    decode(&instruction, bytes, parse("7410", bytes), ADDRESS);
    CU_ASSERT_EQUAL(instruction.target, ADDRESS + 0x12);
    CU_ASSERT(instruction.flags_read == 1u << 6);
    decode(&instruction, bytes, parse("41ffd3", bytes), ADDRESS);
    CU_ASSERT_EQUAL(instruction.branch_register, DECODE_R11);
    decode(&instruction, bytes, parse("c20800", bytes), ADDRESS);
    CU_ASSERT_EQUAL(instruction.stack_release, 8);
}

static void test_registers(void)
{
    struct decode_instruction instruction;
    uint8_t bytes[DECODE_BYTES_MAX];
    decode(&instruction, bytes, parse("4803048b", bytes), ADDRESS); /* add rax, [rbx+rcx*4] */
    CU_ASSERT_EQUAL(instruction.registers_read,
                    1u << DECODE_RAX | 1u << DECODE_RBX | 1u << DECODE_RCX);
    CU_ASSERT_EQUAL(instruction.registers_written, 1u << DECODE_RAX);
    CU_ASSERT_FALSE(instruction.vector);
    decode(&instruction, bytes, parse("88e0", bytes), ADDRESS); /* mov al, ah */
    CU_ASSERT_EQUAL(instruction.registers_read, 1u << DECODE_RAX);
    decode(&instruction, bytes, parse("4883ec18", bytes), ADDRESS); /* sub rsp, 24 */
    CU_ASSERT_EQUAL(instruction.adjusted, DECODE_RSP);
    CU_ASSERT_EQUAL(instruction.adjustment, -24);
    CU_ASSERT_EQUAL(instruction.registers_written, 0);
    decode(&instruction, bytes, parse("5c", bytes), ADDRESS); /* pop rsp */
    CU_ASSERT_EQUAL(instruction.adjusted, DECODE_NONE);
    CU_ASSERT_EQUAL(instruction.registers_written, 1u << DECODE_RSP);
    decode(&instruction, bytes, parse("0f58c1", bytes), ADDRESS);
    CU_ASSERT(instruction.vector);
    decode(&instruction, bytes, parse("488b0510000000", bytes), ADDRESS);
    CU_ASSERT_EQUAL(instruction.rip_displacement, 3);
}

/* Operands that Zydis omits, of instructions that few processors have or that depend on a
 * hypervisor. */
static void test_implicit(void)
{
    const unsigned low = 0xff & ~(1u << DECODE_RSP);
    static const char *const elsewhere[] = {"0f01c1", "0f01d9", "0f01d7", "ec", "f36c", "f30fa7c8"};
    struct decode_instruction instruction;
    uint8_t bytes[DECODE_BYTES_MAX];
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        decode(&instruction, bytes, parse(elsewhere[i], bytes), ADDRESS);
        CU_ASSERT(instruction.mnemonic != 0);
        CU_ASSERT_EQUAL(instruction.registers_read & low, low);
        CU_ASSERT_EQUAL(instruction.registers_written & low, low);
    }
    decode(&instruction, bytes, parse("0f01fb", bytes), ADDRESS); /* mwaitx */
    CU_ASSERT(instruction.registers_read >> DECODE_RBX & 1);
    decode(&instruction, bytes, parse("f30fbdc1", bytes), ADDRESS); /* lzcnt eax, ecx */
    CU_ASSERT_EQUAL(instruction.registers_read, 1u << DECODE_RAX | 1u << DECODE_RCX);
    decode(&instruction, bytes, parse("f30fb8c1", bytes), ADDRESS); /* popcnt eax, ecx */
    CU_ASSERT_EQUAL(instruction.registers_read, 1u << DECODE_RCX);
    CU_ASSERT_FALSE(instruction.vector);
}

/* Random bytes: never reads beyond them, and reports the length correctly. */
static void test_random(void)
{
    uint64_t random = random_seed(61);
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[DECODE_BYTES_MAX];
        struct decode_instruction whole, cut;
        random_fill(&random, bytes, sizeof bytes);
        decode(&whole, bytes, sizeof bytes, ADDRESS);
        CU_ASSERT_FATAL(whole.size > 0 && whole.size <= sizeof bytes);
        CU_ASSERT_FATAL(whole.access_count <= DECODE_ACCESSES);
        if (whole.mnemonic == 0)
            continue;
        uint8_t exact[DECODE_BYTES_MAX] = {0};
        memcpy(exact, bytes, whole.size);
        decode(&cut, exact, whole.size, ADDRESS);
        CU_ASSERT_FATAL(memcmp(&whole, &cut, sizeof whole) == 0);
        if (whole.size > 1) {
            decode(&cut, bytes, whole.size - 1u, ADDRESS);
            CU_ASSERT_FATAL(cut.mnemonic == 0 && cut.kind == DECODE_TRAP && cut.size == 1);
        }
        for (unsigned a = 0; a < whole.access_count; a++) {
            const struct decode_access *access = &whole.accesses[a];
            CU_ASSERT_FATAL((access->read || access->write) && access->size > 0);
            CU_ASSERT_FATAL(access->base < DECODE_REGISTERS || access->base == DECODE_NONE);
            CU_ASSERT_FATAL(access->lanes <= 64);
        }
    }
}

static const struct test_case cases[] = {{"memory of many forms", test_forms},
                                         {"sizes", test_sizes},
                                         {"branches", test_branches},
                                         {"registers", test_registers},
                                         {"implicit registers", test_implicit},
                                         {"random bytes", test_random},
                                         {NULL, NULL}};
TEST_SUITE(exec_decode, cases)
