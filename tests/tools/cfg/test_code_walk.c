/* Walks through machine code, and its loops: by hand, and random code against the definitions. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cfg/code_walk.h"

#include <stdlib.h>
#include <string.h>

#define BASE       UINT64_C(0x401000)
#define CODE_BYTES 1024u

struct ground {
    uint8_t code[CODE_BYTES];
    size_t size;
    uint64_t outside; /* from this address on it is another function */
    bool ends_outside;
};

static size_t read_code(void *context, uint64_t address, const uint8_t **code)
{
    const struct ground *ground = context;
    if (address - BASE >= ground->size)
        return 0;
    *code = ground->code + (address - BASE);
    return ground->size - (size_t)(address - BASE);
}

static bool is_inside(void *context, uint64_t address)
{
    const struct ground *ground = context;
    return address < ground->outside;
}

static void put(struct ground *ground, const void *bytes, size_t size)
{
    memcpy(ground->code + ground->size, bytes, size);
    ground->size += size;
}

/* A walk from the first byte. */
static struct code_walk walk(struct ground *ground, const struct code_jump *jumps, size_t count)
{
    static const uint64_t entry = BASE;
    struct code_walk made;
    struct bt_error error;
    const struct code_walk_settings settings = {.read = read_code,
                                                .is_inside = is_inside,
                                                .ends_outside = ground->ends_outside,
                                                .context = ground,
                                                .entries = &entry,
                                                .entry_count = 1,
                                                .jumps = jumps,
                                                .jump_count = count,
                                                .instructions_max = 10000};
    CU_ASSERT_EQUAL_FATAL(code_walk_make(&made, &settings, &error), 0);
    return made;
}

static struct ground ground_of(const void *bytes, size_t size)
{
    struct ground ground = {.outside = UINT64_MAX};
    put(&ground, bytes, size);
    return ground;
}

/* Address of the head of the innermost loop of an instruction; 0: none. */
static uint64_t head_of(const struct code_walk *made, unsigned offset)
{
    const uint32_t node = code_walk_find(made, BASE + offset);
    CU_ASSERT_NOT_EQUAL_FATAL(node, DIGRAPH_NONE);
    const uint32_t loop = code_walk_loop(made, node);
    return loop == LOOPS_NONE ? 0 : made->nodes[made->loops.loops[loop].head].start - BASE;
}

static void test_nested_loops(void)
{
    static const uint8_t code[] = {
        0x31, 0xc0,                   /* 0: xor eax, eax */
        0x31, 0xc9,                   /* 2: xor ecx, ecx      the outer loop */
        0xff, 0xc1,                   /* 4: inc ecx           the inner loop */
        0xe8, 0x00, 0x01, 0x00, 0x00, /* 6: call */
        0x83, 0xf9, 0x0a,             /* 11: cmp ecx, 10 */
        0x75, 0xf4,                   /* 14: jne 4 */
        0xff, 0xc0,                   /* 16: inc eax */
        0x83, 0xf8, 0x0a,             /* 18: cmp eax, 10 */
        0x75, 0xeb,                   /* 21: jne 2 */
        0xc3,                         /* 23: ret */
        0x90                          /* 24: never reached */
    };
    struct ground ground = ground_of(code, sizeof code);
    struct code_walk made = walk(&ground, NULL, 0);
    CU_ASSERT_EQUAL(made.loops.count, 2);
    CU_ASSERT_EQUAL(head_of(&made, 6), 4);
    CU_ASSERT_EQUAL(head_of(&made, 14), 4);
    CU_ASSERT_EQUAL(head_of(&made, 16), 2);
    CU_ASSERT_EQUAL(head_of(&made, 2), 2);
    CU_ASSERT_EQUAL(head_of(&made, 0), 0);
    CU_ASSERT_EQUAL(head_of(&made, 23), 0);
    CU_ASSERT_EQUAL(code_walk_find(&made, BASE + 24), DIGRAPH_NONE);
    CU_ASSERT_EQUAL(code_walk_find(&made, BASE + 5), DIGRAPH_NONE);
    CU_ASSERT_EQUAL(made.graph.nodes, 6); /* with the root */
    CU_ASSERT(!made.is_cut);
    code_walk_clear(&made);
}

/* A loop that is closed by a jump table: it is found with the target. */
static void test_indirect_jumps(void)
{
    static const uint8_t code[] = {
        0xff, 0xc0,                   /* 0: inc eax */
        0xff, 0x24, 0xc5, 0, 0, 0, 0, /* 2: jmp [rax * 8] */
        0x90,                         /* 9: nop */
        0xeb, 0xf4,                   /* 10: jmp 0 */
        0xc3                          /* 12: ret */
    };
    static const struct code_jump jumps[] = {{BASE + 2, BASE + 12}, {BASE + 2, BASE + 9}};
    struct ground ground = ground_of(code, sizeof code);
    struct code_walk made = walk(&ground, NULL, 0);
    CU_ASSERT_EQUAL(made.loops.count, 0);
    CU_ASSERT_EQUAL(code_walk_find(&made, BASE + 9), DIGRAPH_NONE);
    code_walk_clear(&made);
    made = walk(&ground, jumps, 1);
    CU_ASSERT_EQUAL(made.loops.count, 0);
    CU_ASSERT_NOT_EQUAL(code_walk_find(&made, BASE + 12), DIGRAPH_NONE);
    code_walk_clear(&made);
    made = walk(&ground, jumps, 2);
    CU_ASSERT_EQUAL(made.loops.count, 1);
    CU_ASSERT_EQUAL(made.loops.innermost[code_walk_find(&made, BASE + 9)], 0);
    CU_ASSERT_EQUAL(made.nodes[made.loops.loops[0].head].start, BASE);
    code_walk_clear(&made);
}

/* A call that returned elsewhere: a handler of an exception continues the loop. */
static void test_calls_with_landings(void)
{
    static const uint8_t code[] = {
        0x90,                         /* 0: nop */
        0xff, 0xc0,                   /* 1: inc eax          the loop */
        0xe8, 0x00, 0x01, 0x00, 0x00, /* 3: call */
        0xc3,                         /* 8: ret */
        0xff, 0xc1,                   /* 9: inc ecx          the handler */
        0xeb, 0xf4                    /* 11: jmp 1 */
    };
    static const struct code_jump landing[] = {{BASE + 3, BASE + 9}};
    struct ground ground = ground_of(code, sizeof code);
    struct code_walk made = walk(&ground, NULL, 0);
    CU_ASSERT_EQUAL(code_walk_find(&made, BASE + 9), DIGRAPH_NONE);
    CU_ASSERT_EQUAL(made.loops.count, 0);
    code_walk_clear(&made);
    made = walk(&ground, landing, 1);
    CU_ASSERT_EQUAL(made.loops.count, 1);
    CU_ASSERT_EQUAL(head_of(&made, 9), 1);
    CU_ASSERT_EQUAL(head_of(&made, 3), 1);
    CU_ASSERT_EQUAL(code_walk_loop(&made, code_walk_find(&made, BASE + 8)), LOOPS_NONE);
    code_walk_clear(&made);
}

/* Tail calls, the end of the code, and the limit end paths. */
static void test_ends(void)
{
    static const uint8_t code[] = {
        0x74, 0x02, /* 0: je 4 */
        0xeb, 0x01, /* 2: jmp 5: another function */
        0x90,       /* 4: nop */
        0xeb, 0xf9  /* 5: jmp 0 */
    };
    struct ground ground = ground_of(code, sizeof code);
    ground.outside = BASE + 5;
    struct code_walk made = walk(&ground, NULL, 0);
    /* 4 continues at 5 without a jump: it is reached */
    CU_ASSERT_EQUAL(made.loops.count, 1);
    CU_ASSERT_EQUAL(head_of(&made, 2), 0);
    CU_ASSERT_EQUAL(code_walk_loop(&made, code_walk_find(&made, BASE + 2)), LOOPS_NONE);
    code_walk_clear(&made);

    ground.ends_outside = true; /* it is the end of a path */
    made = walk(&ground, NULL, 0);
    CU_ASSERT_EQUAL(made.loops.count, 0);
    CU_ASSERT_EQUAL(made.instruction_count, 3);
    CU_ASSERT(made.nodes[code_walk_find(&made, BASE + 4)].leaves);
    code_walk_clear(&made);
    ground.ends_outside = false;

    ground.size = 5; /* the code ends after the nop */
    made = walk(&ground, NULL, 0);
    CU_ASSERT_EQUAL(made.loops.count, 0);
    CU_ASSERT_EQUAL(made.instruction_count, 3);
    code_walk_clear(&made);

    const uint64_t entry = BASE;
    struct bt_error error;
    const struct code_walk_settings settings = {.read = read_code,
                                                .context = &ground,
                                                .entries = &entry,
                                                .entry_count = 1,
                                                .instructions_max = 2};
    CU_ASSERT_EQUAL(code_walk_make(&made, &settings, &error), 0);
    CU_ASSERT(made.is_cut);
    CU_ASSERT_EQUAL(made.instruction_count, 2);
    code_walk_clear(&made);
}

/* --- random code -------------------------------------------------------------------------------
 */

#define BLOCKS 12u
#define STEPS  (BLOCKS * 4)

/* The same code as a graph of instructions. */
struct twin {
    unsigned count;
    uint64_t addresses[STEPS];
    unsigned successors[STEPS][2], successor_count[STEPS];
};

/* Blocks of nops that end with a branch to a block, or with none. */
static void random_code(struct ground *ground, struct twin *twin, uint64_t seed)
{
    uint64_t random = random_seed(seed);
    unsigned starts[BLOCKS + 1], nops[BLOCKS], endings[BLOCKS], targets[BLOCKS];
    unsigned offset = 0;
    *ground = (struct ground){.outside = UINT64_MAX};
    *twin = (struct twin){.count = 0};
    for (unsigned b = 0; b < BLOCKS; b++) {
        starts[b] = offset;
        nops[b] = 1 + (unsigned)random_below(&random, 3);
        endings[b] = b == BLOCKS - 1 ? 3 : (unsigned)random_below(&random, 4);
        targets[b] = (unsigned)random_below(&random, BLOCKS);
        offset += nops[b] + (endings[b] == 1 ? 6 : endings[b] == 2 ? 5 : endings[b] == 3 ? 1 : 0);
    }
    unsigned first[BLOCKS];
    for (unsigned b = 0; b < BLOCKS; b++) {
        first[b] = twin->count;
        twin->count += nops[b] + (endings[b] != 0);
    }
    for (unsigned b = 0; b < BLOCKS; b++) {
        const unsigned last = first[b] + nops[b];
        for (unsigned i = 0; i < nops[b]; i++) {
            twin->addresses[first[b] + i] = BASE + ground->size;
            twin->successors[first[b] + i][0] = first[b] + i + 1;
            twin->successor_count[first[b] + i] = 1;
            put(ground, "\x90", 1);
        }
        if (endings[b] == 0)
            continue;
        twin->addresses[last] = BASE + ground->size;
        if (endings[b] != 3)
            twin->successors[last][twin->successor_count[last]++] = first[targets[b]];
        if (endings[b] == 1)
            twin->successors[last][twin->successor_count[last]++] = last + 1;
        put(ground,
            endings[b] == 1   ? "\x0f\x84"
            : endings[b] == 2 ? "\xe9"
                              : "\xc3",
            endings[b] == 1 ? 2 : 1);
        const int32_t distance = (int32_t)starts[targets[b]] - (int32_t)(ground->size + 4);
        if (endings[b] != 3)
            put(ground, &distance, 4);
    }
}

/* Marks what is reached from an instruction without passing through another one. */
static void reach(const struct twin *twin, unsigned from, unsigned without, bool *marks)
{
    if (from == without || marks[from])
        return;
    marks[from] = true;
    for (unsigned i = 0; i < twin->successor_count[from]; i++)
        reach(twin, twin->successors[from][i], without, marks);
}

static bool dominates_slowly(const struct twin *twin, unsigned a, unsigned b)
{
    bool marks[STEPS] = {false};
    reach(twin, 0, a, marks);
    return !marks[b];
}

/* Whether an instruction is in the natural loop of a head: it reaches a back edge of the head
 * without passing through the head. */
static bool is_in_loop(const struct twin *twin, const bool *reached, unsigned head, unsigned step)
{
    bool marks[STEPS] = {false};
    bool in_loop = false;
    if (step != head)
        reach(twin, step, head, marks);
    for (unsigned s = 0; s < twin->count; s++)
        for (unsigned i = 0; i < twin->successor_count[s]; i++)
            in_loop |= reached[s] && twin->successors[s][i] == head &&
                       dominates_slowly(twin, head, s) && (step == head || marks[s] || s == step);
    return in_loop;
}

static unsigned differences(const struct code_walk *made, const struct twin *twin)
{
    bool reached[STEPS] = {false};
    unsigned different = 0;
    reach(twin, 0, STEPS, reached);
    for (unsigned s = 0; s < twin->count; s++) {
        const uint32_t node = code_walk_find(made, twin->addresses[s]);
        different += reached[s] != (node != DIGRAPH_NONE);
        if (node == DIGRAPH_NONE || !reached[s])
            continue;
        for (unsigned h = 0; h < twin->count; h++) {
            bool within = false;
            for (uint32_t loop = code_walk_loop(made, node); loop != LOOPS_NONE;
                 loop = made->loops.loops[loop].parent)
                within |= made->nodes[made->loops.loops[loop].head].start == twin->addresses[h];
            different += reached[h] && within != is_in_loop(twin, reached, h, s);
        }
    }
    return different;
}

static void test_random_code(void)
{
    unsigned different = 0, loops = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct ground ground;
        struct twin twin;
        random_code(&ground, &twin, seed);
        struct code_walk made = walk(&ground, NULL, 0);
        different += differences(&made, &twin);
        loops += made.loops.count;
        code_walk_clear(&made);
    }
    CU_ASSERT_EQUAL(different, 0);
    CU_ASSERT(loops > 100);
}

/* The instruction after a jump out of the function begins a node; jumps with a target outside
 * leave.
 */
static void test_jumps_out(void)
{
    static const uint8_t code[] = {
        0x74, 0x0b,                   /* 0: je 13: another function */
        0x90,                         /* 2: nop */
        0xff, 0x24, 0xc5, 0, 0, 0, 0, /* 3: jmp [rax * 8] */
        0x90, 0x90,                   /* 10: nop, nop */
        0xc3,                         /* 12: ret */
        0xc3                          /* 13: ret */
    };
    static const struct code_jump jumps[] = {{BASE + 3, CODE_JUMP_OUT}, {BASE + 3, BASE + 10}};
    struct ground ground = ground_of(code, sizeof code);
    ground.outside = BASE + 13;
    struct code_walk made = walk(&ground, jumps, 2);
    const uint32_t first = code_walk_find(&made, BASE), second = code_walk_find(&made, BASE + 2);
    CU_ASSERT_NOT_EQUAL(first, second);
    CU_ASSERT(made.nodes[first].leaves);
    CU_ASSERT(made.nodes[second].leaves && !made.nodes[second].is_open);
    CU_ASSERT_EQUAL(made.graph.first_successor[first + 1] - made.graph.first_successor[first], 1);
    CU_ASSERT_EQUAL(made.graph.first_successor[second + 1] - made.graph.first_successor[second], 1);
    CU_ASSERT_EQUAL(code_walk_find(&made, BASE + 13), DIGRAPH_NONE);
    code_walk_clear(&made);
}

static const struct test_case cases[] = {{"nested loops", test_nested_loops},
                                         {"indirect jumps", test_indirect_jumps},
                                         {"calls with landings", test_calls_with_landings},
                                         {"ends of paths", test_ends},
                                         {"jumps out", test_jumps_out},
                                         {"random code", test_random_code},
                                         {NULL, NULL}};
TEST_SUITE(code_walk, cases)
