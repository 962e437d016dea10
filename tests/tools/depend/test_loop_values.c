/* What loops pass on in registers and stack slots: by hand, and random bytes as code. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/depend/loop_values.h"

#include <string.h>

#define BASE       UINT64_C(0x401000)
#define CODE_BYTES 512u

struct ground {
    uint8_t code[CODE_BYTES];
    size_t size;
};

static size_t read_code(void *context, uint64_t address, const uint8_t **code)
{
    const struct ground *ground = context;
    if (address - BASE >= ground->size)
        return 0;
    *code = ground->code + (address - BASE);
    return ground->size - (size_t)(address - BASE);
}

static struct code_walk walk_of(struct ground *ground)
{
    static const uint64_t entry = BASE;
    struct code_walk walk;
    struct bt_error error;
    const struct code_walk_settings settings = {.read = read_code,
                                                .context = ground,
                                                .entries = &entry,
                                                .entry_count = 1,
                                                .instructions_max = 1000};
    CU_ASSERT_EQUAL_FATAL(code_walk_make(&walk, &settings, &error), 0);
    return walk;
}

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

struct expected {
    unsigned variable;
    enum loop_value_kind kind;
};

/* The outermost loop of the code passes these on. */
static void check(const char *name, const void *code, size_t size, const struct expected *expected,
                  size_t count)
{
    struct bt_error error;
    struct loop_values values;
    struct ground ground = {.size = size};
    memcpy(ground.code, code, size);
    struct code_walk walk = walk_of(&ground);
    uint32_t loop = 0;
    while (loop + 1 < walk.loops.count && walk.loops.loops[loop].parent != LOOPS_NONE)
        loop++;
    CU_ASSERT_TRUE_FATAL(walk.loops.count > 0);
    CU_ASSERT_EQUAL(loop_values_find(&values, &walk, loop, read_code, &ground, &error), 0);
    for (size_t i = 0; i < count; i++)
        if (values.kinds[expected[i].variable] != expected[i].kind) {
            printf("%s: variable %u is of kind %u\n", name, expected[i].variable,
                   values.kinds[expected[i].variable]);
            CU_FAIL("a register is of another kind");
        }
    code_walk_clear(&walk);
}

#define CHECK(name, code, ...)                                                                     \
    check(name, code, sizeof(code), (const struct expected[]){__VA_ARGS__},                        \
          sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

static void test_sums(void)
{
    /* 1: add (%rdi),%eax; add $4,%rdi; cmp %rsi,%rdi; jne 1b; ret */
    static const uint8_t sum[] = {0x03, 0x07, 0x48, 0x83, 0xc7, 0x04,
                                  0x48, 0x39, 0xf7, 0x75, 0xf5, 0xc3};
    /* the same with mov %eax,(%rdx) */
    static const uint8_t stored[] = {0x03, 0x07, 0x89, 0x02, 0x48, 0x83, 0xc7,
                                     0x04, 0x48, 0x39, 0xf7, 0x75, 0xf3, 0xc3};
    /* 1: sub (%rdi),%eax; je 2f; add $4,%rdi; cmp %rsi,%rdi; jne 1b; 2: ret */
    static const uint8_t tested[] = {0x2b, 0x07, 0x74, 0x09, 0x48, 0x83, 0xc7,
                                     0x04, 0x48, 0x39, 0xf7, 0x75, 0xf3, 0xc3};
    CHECK("sum", sum, {RAX, LOOP_VALUE_REDUCTION}, {RDI, LOOP_VALUE_INDUCTION},
          {RSI, LOOP_VALUE_NONE}, {RDX, LOOP_VALUE_NONE});
    CHECK("stored", stored, {RAX, LOOP_VALUE_SERIAL}, {RDI, LOOP_VALUE_INDUCTION});
    CHECK("tested", tested, {RAX, LOOP_VALUE_SERIAL}, {RDI, LOOP_VALUE_INDUCTION});
}

static void test_selections(void)
{
    /* 1: mov (%rdi),%ecx; cmp %ecx,%eax; cmovg %ecx,%eax; add $4,%rdi; cmp %rsi,%rdi; jne 1b */
    static const uint8_t minimum[] = {0x8b, 0x0f, 0x39, 0xc8, 0x0f, 0x4f, 0xc1, 0x48, 0x83,
                                      0xc7, 0x04, 0x48, 0x39, 0xf7, 0x75, 0xf0, 0xc3};
    /* 1: cmp (%rdi),%eax; jne 2f; mov (%rdx),%eax; 2: add $4,%rdi; cmp %rsi,%rdi; jne 1b; ret */
    static const uint8_t chain[] = {0x3b, 0x07, 0x75, 0x02, 0x8b, 0x02, 0x48, 0x83,
                                    0xc7, 0x04, 0x48, 0x39, 0xf7, 0x75, 0xf1, 0xc3};
    CHECK("minimum", minimum, {RAX, LOOP_VALUE_REDUCTION});
    CHECK("chain", chain, {RAX, LOOP_VALUE_SERIAL});
}

static void test_parts_of_registers(void)
{
    /* 1: cmpl $50,(%rdi); setg %cl; movzbl %cl,%ecx; add %rcx,%rdx; add $4,%rdi; cmp; jne 1b */
    static const uint8_t counted[] = {0x83, 0x3f, 0x32, 0x0f, 0x9f, 0xc1, 0x0f, 0xb6,
                                      0xc9, 0x48, 0x01, 0xca, 0x48, 0x83, 0xc7, 0x04,
                                      0x48, 0x39, 0xf7, 0x75, 0xeb, 0xc3};
    /* 1: mov (%rdi),%cl; add %rcx,%rdx: the rest of rcx is what it was */
    static const uint8_t kept[] = {0x8a, 0x0f, 0x48, 0x01, 0xca, 0x48, 0x83, 0xc7,
                                   0x04, 0x48, 0x39, 0xf7, 0x75, 0xf2, 0xc3};
    /* 1: movsb; sub $1,%edx; jne 1b */
    static const uint8_t strings[] = {0xa4, 0x83, 0xea, 0x01, 0x75, 0xfa, 0xc3};
    CHECK("counted", counted, {RDX, LOOP_VALUE_REDUCTION}, {RCX, LOOP_VALUE_NONE});
    CHECK("kept", kept, {RCX, LOOP_VALUE_SERIAL});
    CHECK("strings", strings, {RSI, LOOP_VALUE_SERIAL}, {RDX, LOOP_VALUE_INDUCTION});
}

static void test_calls(void)
{
    /* 1: call f; mov %eax,%edi; sub $1,%ebx; jne 1b; ret; f: lea 1(%rdi,%rdi,2),%eax; ret */
    static const uint8_t passed[] = {0xe8, 0x08, 0x00, 0x00, 0x00, 0x89, 0xc7, 0x83, 0xeb,
                                     0x01, 0x75, 0xf4, 0xc3, 0x8d, 0x44, 0x7f, 0x01, 0xc3};
    /* 1: mov (%rcx),%edi; call f; add %eax,%edx; add $4,%rcx; cmp %rsi,%rcx; jne 1b; ret; f: as
     * above, it keeps rcx, rdx and rsi */
    static const uint8_t summed[] = {0x8b, 0x39, 0xe8, 0x0c, 0x00, 0x00, 0x00, 0x01,
                                     0xc2, 0x48, 0x83, 0xc1, 0x04, 0x48, 0x39, 0xf1,
                                     0x75, 0xee, 0xc3, 0x8d, 0x44, 0x7f, 0x01, 0xc3};
    CHECK("passed", passed, {RDI, LOOP_VALUE_SERIAL}, {RBX, LOOP_VALUE_INDUCTION});
    CHECK("summed", summed, {RDX, LOOP_VALUE_REDUCTION}, {RCX, LOOP_VALUE_INDUCTION},
          {RDI, LOOP_VALUE_NONE}, {RAX, LOOP_VALUE_NONE});
}

static void test_slots(void)
{
    /* 1: mov -8(%rbp),%eax; add (%rdi),%eax; mov %eax,-8(%rbp); movb $1,SLOT(%rbp); add $4,%rdi;
     * cmp %rsi,%rdi; jne 1b; ret */
    uint8_t slots[] = {0x8b, 0x45, 0xf8, 0x03, 0x07, 0x89, 0x45, 0xf8, 0xc6, 0x45, 0xf0,
                       0x01, 0x48, 0x83, 0xc7, 0x04, 0x48, 0x39, 0xf7, 0x75, 0xeb, 0xc3};
    CHECK("slot", slots, {VALUE_REGISTERS, LOOP_VALUE_REDUCTION});
    slots[10] = 0xf9; /* a part of the slot: it is memory */
    CHECK("part of a slot", slots, {VALUE_REGISTERS, LOOP_VALUE_NONE});
}

static void test_end_of_inner_loops(void)
{
    /* 1: lea -500(%rcx),%rax; 2: add (%rax),%rdx; add $1,%rax; cmp %rcx,%rax; jne 2b;
     * lea 500(%rax),%rcx: rax is rcx here; cmp %rdi,%rcx; jne 1b; ret */
    static const uint8_t nested[] = {0x48, 0x8d, 0x81, 0x0c, 0xfe, 0xff, 0xff, 0x48,
                                     0x03, 0x10, 0x48, 0x83, 0xc0, 0x01, 0x48, 0x39,
                                     0xc8, 0x75, 0xf4, 0x48, 0x8d, 0x88, 0xf4, 0x01,
                                     0x00, 0x00, 0x48, 0x39, 0xf9, 0x75, 0xe1, 0xc3};
    CHECK("nested", nested, {RCX, LOOP_VALUE_INDUCTION}, {RDX, LOOP_VALUE_REDUCTION});
}

/* Any code, with backward jumps in it, is analysed; each kind is one. */
static void test_random_code(void)
{
    uint64_t random = random_seed(7);
    unsigned loops = 0;
    for (unsigned run = 0; run < 3000; run++) {
        struct ground ground = {.size = 16 + random_below(&random, CODE_BYTES - 16)};
        for (size_t i = 0; i < ground.size; i++)
            ground.code[i] = (uint8_t)random_next(&random);
        for (unsigned i = 0; i < 40; i++) {
            const size_t at = random_below(&random, ground.size - 1);
            ground.code[at] = (uint8_t)(0x70 + random_below(&random, 16));
            ground.code[at + 1] = (uint8_t)(0x80 + random_below(&random, 0x7e));
        }
        struct code_walk walk = walk_of(&ground);
        for (uint32_t loop = 0; loop < walk.loops.count; loop++) {
            struct bt_error error;
            struct loop_values values;
            CU_ASSERT_EQUAL(loop_values_find(&values, &walk, loop, read_code, &ground, &error), 0);
            loops++;
            for (unsigned i = 0; i < VALUE_STORED; i++)
                if (values.kinds[i] > LOOP_VALUE_SERIAL)
                    CU_FAIL("there is no such kind");
        }
        code_walk_clear(&walk);
    }
    CU_ASSERT_TRUE(loops > 300);
}

static const struct test_case cases[] = {{"sums", test_sums},
                                         {"selections", test_selections},
                                         {"parts of registers", test_parts_of_registers},
                                         {"calls", test_calls},
                                         {"slots", test_slots},
                                         {"end of inner loops", test_end_of_inner_loops},
                                         {"random code", test_random_code},
                                         {NULL, NULL}};

TEST_SUITE(loop_values, cases)
