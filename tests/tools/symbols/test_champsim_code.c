/* Registers and branches of instructions as ChampSim sees them; the bytes are from an assembler. */
#include "tests/suites.h"
#include "tools/symbols/champsim_code.h"

#include <string.h>

struct row {
    unsigned bits;
    uint8_t code[10];
    struct champsim_instruction expected;
};

static const struct row rows[] = {
    /* nop; push %rbx; add %rcx,%rax; mov 8(%rbp,%r9,4),%edx; lea 4(%rip),%rax */
    {64, {0x90}, {.size = 1}},
    {64, {0x53}, {.size = 1, .destinations = {6}, .sources = {7, 6}}},
    {64, {0x48, 0x01, 0xc8}, {.size = 3, .destinations = {10, 25}, .sources = {10, 9}}},
    {64, {0x42, 0x8b, 0x54, 0x8d, 0x08}, {.size = 5, .destinations = {8}, .sources = {5, 12}}},
    {64, {0x48, 0x8d, 0x05, 0x04, 0, 0, 0}, {.size = 7, .destinations = {10}}},
    /* mul %rbx writes RAX, RDX and the flags, which do not fit; mov %al,%bh; syscall */
    {64,
     {0x48, 0xf7, 0xe3},
     {.size = 3, .destinations = {10, 8}, .sources = {7, 10}, .more_registers = true}},
    {64, {0x88, 0xc7}, {.size = 2, .destinations = {7}, .sources = {10}}},
    /* paddd %xmm3,%xmm4; vaddps %ymm1,%ymm2,%ymm15; adc (%rax,%rbx),%rcx */
    {64, {0x66, 0x0f, 0xfe, 0xe3}, {.size = 4, .destinations = {68}, .sources = {68, 67}}},
    {64, {0xc5, 0x6c, 0x58, 0xf9}, {.size = 4, .destinations = {79}, .sources = {66, 65}}},
    {64, {0x48, 0x13, 0x0c, 0x18}, {.size = 4, .destinations = {9, 25}, .sources = {9, 10, 7, 25}}},
    /* rep movsb, which also writes RSI; cmove %rbx,%rax keeps RAX if it does not move */
    {64,
     {0xf3, 0xa4},
     {.size = 2,
      .reads = 1,
      .writes = 1,
      .destinations = {9, 3},
      .sources = {3, 4, 9, 25},
      .more_registers = true}},
    {64, {0x48, 0x0f, 0x44, 0xc3}, {.size = 4, .destinations = {10}, .sources = {10, 7, 25}}},
    /* branches: jmp, jmp *%rax, jmp *4(%rip), jmp *(%rsp), je, jrcxz, loop */
    {64, {0xeb, 0x10}, {.size = 2, .branch = CHAMPSIM_JUMP, .destinations = {26}, .sources = {26}}},
    {64,
     {0xff, 0xe0},
     {.size = 2, .branch = CHAMPSIM_INDIRECT_JUMP, .destinations = {26}, .sources = {10}}},
    {64,
     {0xff, 0x25, 4, 0, 0, 0},
     {.size = 6, .branch = CHAMPSIM_INDIRECT_JUMP, .destinations = {26}, .sources = {63}}},
    {64,
     {0xff, 0x24, 0x24},
     {.size = 3, .branch = CHAMPSIM_INDIRECT_JUMP, .destinations = {26}, .sources = {63}}},
    {64,
     {0x74, 0xfe},
     {.size = 2, .branch = CHAMPSIM_CONDITIONAL, .destinations = {26}, .sources = {26, 25}}},
    {64,
     {0xe3, 0x10},
     {.size = 2,
      .branch = CHAMPSIM_CONDITIONAL,
      .destinations = {26},
      .sources = {26, 25},
      .distance = 0x12}},
    {64,
     {0xe2, 0x00},
     {.size = 2,
      .branch = CHAMPSIM_CONDITIONAL,
      .destinations = {26, 9},
      .sources = {26, 25},
      .distance = 2}},
    /* call, call *%rbx, call *(%rsp), ret, ret $8, rep ret */
    {64,
     {0xe8, 0, 1, 0, 0},
     {.size = 5, .branch = CHAMPSIM_CALL, .destinations = {26, 6}, .sources = {26, 6}}},
    {64,
     {0xff, 0xd3},
     {.size = 2, .branch = CHAMPSIM_INDIRECT_CALL, .destinations = {26, 6}, .sources = {26, 6, 7}}},
    {64,
     {0xff, 0x14, 0x24},
     {.size = 3,
      .branch = CHAMPSIM_INDIRECT_CALL,
      .destinations = {26, 6},
      .sources = {26, 6, 63}}},
    {64, {0xc3}, {.size = 1, .branch = CHAMPSIM_RETURN, .destinations = {26, 6}, .sources = {6}}},
    {64,
     {0xc2, 8, 0},
     {.size = 3, .branch = CHAMPSIM_RETURN, .destinations = {26, 6}, .sources = {6}}},
    {64,
     {0xf3, 0xc3},
     {.size = 2, .branch = CHAMPSIM_RETURN, .destinations = {26, 6}, .sources = {6}}},
    /* 32 bits: inc %ecx; call *%edx; jmp */
    {32, {0x41}, {.size = 1, .destinations = {9, 25}, .sources = {9}}},
    {32,
     {0xff, 0xd2},
     {.size = 2, .branch = CHAMPSIM_INDIRECT_CALL, .destinations = {26, 6}, .sources = {26, 6, 8}}},
};
#define ROWS (sizeof rows / sizeof *rows)

static void test_instructions(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct champsim_instruction got;
        const struct champsim_instruction *expected = &rows[i].expected;
        CU_ASSERT_TRUE_FATAL(champsim_code_describe(&got, rows[i].bits, rows[i].code,
                                                    sizeof rows[i].code, 0x401000));
        bool same = got.size == expected->size && got.branch == expected->branch &&
                    got.distance == expected->distance && got.reads == expected->reads &&
                    got.writes == expected->writes &&
                    got.more_registers == expected->more_registers &&
                    memcmp(got.destinations, expected->destinations, CHAMPSIM_DESTINATIONS) == 0 &&
                    memcmp(got.sources, expected->sources, CHAMPSIM_SOURCES) == 0;
        if (!same)
            printf("row %zu: size %u branch %u distance %x reads %u writes %u more %d, "
                   "%u %u from %u %u %u %u\n",
                   i, got.size, got.branch, got.distance, got.reads, got.writes, got.more_registers,
                   got.destinations[0], got.destinations[1], got.sources[0], got.sources[1],
                   got.sources[2], got.sources[3]);
        CU_ASSERT_TRUE(same);
    }
}

static void test_invalid_code(void)
{
    static const uint8_t code[] = {0x0f, 0xff, 0x06}; /* cut off in its middle, and invalid */
    struct champsim_instruction got;
    CU_ASSERT_FALSE(champsim_code_describe(&got, 64, code, 1, 0x401000));
    CU_ASSERT_FALSE(champsim_code_describe(&got, 64, (const uint8_t[]){0x06}, 1, 0x401000));
}

/* Registers that would make a branch another one are left out, others are kept. */
static void test_registers_of_branches(void)
{
    struct champsim_instruction branch = {
        .branch = CHAMPSIM_INDIRECT_CALL, .destinations = {25, 3}, .sources = {6, 25, 7, 26}};
    champsim_add_branch(&branch);
    CU_ASSERT_EQUAL(memcmp(branch.destinations, ((uint8_t[]){26, 6}), 2), 0);
    CU_ASSERT_EQUAL(memcmp(branch.sources, ((uint8_t[]){26, 6, 7, 0}), 4), 0);
    CU_ASSERT_TRUE(branch.more_registers);
    uint8_t registers[2] = {0};
    CU_ASSERT_TRUE(champsim_add_register(registers, 2, 5));
    CU_ASSERT_TRUE(champsim_add_register(registers, 2, 5));
    CU_ASSERT_TRUE(champsim_add_register(registers, 2, 6));
    CU_ASSERT_FALSE(champsim_add_register(registers, 2, 7));
    CU_ASSERT_TRUE(registers[0] == 5 && registers[1] == 6);
}

static const struct test_case cases[] = {
    {"instructions have their registers and branches", test_instructions},
    {"invalid code is no instruction", test_invalid_code},
    {"registers of branches", test_registers_of_branches},
    {NULL, NULL}};
TEST_SUITE(champsim_code, cases)
