/* What instructions read and define: known ones as text, and random ones on the processor. */
#include "capture/exec/translate/data_flow.h"
#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define TEXT 400u

/* --- as text -----------------------------------------------------------------------------------
 */

static const char *const general_names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                            "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const conditions[] = {"", "?cc", "?zf", "?count", "?unequal", "?rep"};

/* A part: its name, and its bytes if they are not those of a whole register. */
static void print_part(char *text, const struct data_flow_part *part)
{
    static const char *const prefixes[] = {"", "flags", "v", "st", "mm", "codes", "k", "m"};
    static const uint64_t whole[] = {0xff, 0, UINT64_MAX, 0x3ff, 0x3ff, 1, 0xff, 0};
    char name[16], bytes[24] = "";
    if (part->kind == DATA_FLOW_GENERAL)
        snprintf(name, sizeof name, "%s", general_names[part->number]);
    else if (part->kind == DATA_FLOW_FLAGS || part->kind == DATA_FLOW_CODES)
        snprintf(name, sizeof name, "%s", prefixes[part->kind]);
    else
        snprintf(name, sizeof name, "%s%u", prefixes[part->kind], part->number);
    if (part->bytes != whole[part->kind])
        snprintf(bytes, sizeof bytes, ":%llx", (unsigned long long)part->bytes);
    const size_t length = strlen(text);
    snprintf(text + length, TEXT - length, " %s%s%s", name, bytes, conditions[part->condition]);
}

/* Ports, definitions and the value with its size. */
static void print(char *text, const uint8_t *bytes, size_t size)
{
    struct decode_instruction instruction;
    struct data_flow flow;
    decode(&instruction, bytes, size, 0x1000);
    data_flow_of(&flow, &instruction);
    text[0] = '\0';
    for (unsigned i = 0; i < flow.port_count; i++)
        print_part(text, &flow.ports[i]);
    strcat(text, " >");
    for (unsigned i = 0; i < flow.definition_count; i++)
        print_part(text, &flow.definitions[i]);
    if (flow.has_value) {
        strcat(text, " =");
        print_part(text, &flow.value);
        const size_t length = strlen(text);
        snprintf(text + length, TEXT - length, " %u", flow.value_size);
    }
    memmove(text, text + 1, strlen(text));
}

static const struct {
    const char *what;
    uint8_t bytes[12];
    uint8_t size;
    const char *flow;
} known[] = {
    {"mov eax, [rbp]", {0x8b, 0x45, 0x00}, 3, "rbp m0 > rax = rax 4"},
    {"mov [rbp], eax", {0x89, 0x45, 0x00}, 3, "rax:f rbp > m0 = m0 4"},
    {"mov ah, bl", {0x88, 0xdc}, 2, "rbx:1 > rax:2 = rax:2 1"},
    {"mov ax, cx", {0x66, 0x89, 0xc8}, 3, "rcx:3 > rax:3 = rax:3 2"},
    {"jle", {0x7e, 0x10}, 2, "flags:8c0 >"},
    {"jmp", {0xeb, 0x10}, 2, ">"},
    {"loop", {0xe2, 0xf0}, 2, "rcx > rcx = rcx 8"},
    {"xor eax, eax", {0x31, 0xc0}, 2, "> rax flags:8d5 = rax 4"},
    {"xor eax, ecx", {0x31, 0xc8}, 2, "rax:f rcx:f > rax flags:8d5 = rax 4"},
    {"sbb eax, eax", {0x19, 0xc0}, 2, "rax:f flags:1 > rax flags:8d5 = rax 4"},
    {"cmp eax, ecx", {0x39, 0xc8}, 2, "rax:f rcx:f > flags:8d5"},
    {"inc rax", {0x48, 0xff, 0xc0}, 3, "rax > rax flags:8d4 = rax 8"},
    {"lea rax, [rbx+rcx*2]", {0x48, 0x8d, 0x04, 0x4b}, 4, "rcx rbx > rax = rax 8"},
    {"nop [rax]", {0x0f, 0x1f, 0x00}, 3, ">"},
    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, ">"},
    {"push rax", {0x50}, 1, "rax rsp > rsp m0 = m0 8"},
    {"pop rax", {0x58}, 1, "rsp m0 > rax rsp = rax 8"},
    {"call", {0xe8, 0, 0, 0, 0}, 5, "rsp > rsp m0 = m0 8"},
    {"ret", {0xc3}, 1, "rsp m0 > rsp = rsp 8"},
    {"leave", {0xc9}, 1, "rbp m0 > rsp rbp = rsp 8"},
    {"pushfq", {0x9c}, 1, "rsp flags:3f5fd5 > rsp m0 = m0 8"},
    {"cdq", {0x99}, 1, "rax:f > rdx = rdx 4"},
    {"mul ebx", {0xf7, 0xe3}, 2, "rax:f rbx:f > rax rdx flags:8d5 = rax 4"},
    {"div rbx", {0x48, 0xf7, 0xf3}, 3, "rax rdx rbx > rax rdx flags:8d5 = rax 8"},
    {"shl eax, 3", {0xc1, 0xe0, 0x03}, 3, "rax:f > rax flags:8d5 = rax 4"},
    {"shl eax, 32", {0xc1, 0xe0, 0x20}, 3, "rax:f > rax = rax 4"},
    {"xchg r8, rax", {0xf3, 0x49, 0x90}, 3, "rax r8 > rax r8"},
    {"cmpxchg esi, ecx",
     {0x0f, 0xb1, 0xce},
     3,
     "rax:f rcx:f rsi > rax?unequal rsi flags:8d5 = rsi 4"},
    {"shl eax, cl", {0xd3, 0xe0}, 2, "rax:f rcx:1 > rax flags:8d5?count = rax 4"},
    {"cmovz eax, ecx", {0x0f, 0x44, 0xc1}, 3, "rcx:f flags:40 > rax?cc = rax?cc 4"},
    {"setz al", {0x0f, 0x94, 0xc0}, 3, "flags:40 > rax:1 = rax:1 1"},
    {"bsf eax, ecx", {0x0f, 0xbc, 0xc1}, 3, "rcx:f > rax?zf flags:8d5 = rax?zf 4"},
    {"cmpxchg [rdi], edx",
     {0x0f, 0xb1, 0x17},
     3,
     "rax:f rdx:f rdi m0 > rax?unequal flags:8d5 m0 = m0 4"},
    {"xchg eax, ebx", {0x87, 0xd8}, 2, "rax:f rbx:f > rax rbx = rax 4"},
    {"xadd [rdi], eax", {0x0f, 0xc1, 0x07}, 3, "rax:f rdi m0 > rax flags:8d5 m0 = m0 4"},
    {"lahf", {0x9f}, 1, "flags:d5 > rax:2 = rax:2 1"},
    {"xlat", {0xd7}, 1, "rax:1 rbx m0 > rax:1 = rax:1 1"},
    {"cpuid", {0x0f, 0xa2}, 2, "rax:f rcx:f > rax rcx rdx rbx = rax 4"},
    {"syscall", {0x0f, 0x05}, 2, "rax rdx rsi rdi r8 r9 r10 > rax rcx r11 = rax 8"},
    {"movsb", {0xa4}, 1, "rsi rdi flags:400 m0 > rsi rdi m1 = m1 1"},
    {"rep movsb",
     {0xf3, 0xa4},
     2,
     "rcx rsi rdi flags:400 m0 > rcx?rep rsi?rep rdi?rep m1?rep = m1?rep 1"},
    {"lodsq", {0x48, 0xad}, 2, "rsi flags:400 m0 > rax rsi = rax 8"},
    {"cmpsb", {0xa6}, 1, "rsi rdi flags:400 m0 m1 > rsi rdi flags:8d5 = rsi 8"},
    {"scasb", {0xae}, 1, "rax:1 rdi flags:400 m0 > rdi flags:8d5 = rdi 8"},
    {"addr32 scasb", {0x67, 0xae}, 2, "rax:1 rdi:f flags:400 m0 > rdi flags:8d5 = rdi 4"},
    {"repe cmpsb",
     {0xf3, 0xa6},
     2,
     "rcx rsi rdi flags:400 m0 m1 > rcx?rep rsi?rep rdi?rep flags:8d5?rep = rcx?rep 8"},
    {"pxor xmm0, xmm0", {0x66, 0x0f, 0xef, 0xc0}, 4, "> v0:ffff = v0:ffff 16"},
    {"pxor xmm0, xmm1", {0x66, 0x0f, 0xef, 0xc1}, 4, "v0:ffff v1:ffff > v0:ffff = v0:ffff 16"},
    {"addsd xmm0, xmm1", {0xf2, 0x0f, 0x58, 0xc1}, 4, "v0:ff v1:ff > v0:ff = v0:ff 8"},
    {"movsd xmm0, [rax]", {0xf2, 0x0f, 0x10, 0x00}, 4, "rax m0 > v0:ffff = v0:ffff 16"},
    {"movss xmm0, xmm1", {0xf3, 0x0f, 0x10, 0xc1}, 4, "v1:f > v0:f = v0:f 4"},
    {"cvtsi2sd xmm0, eax", {0xf2, 0x0f, 0x2a, 0xc0}, 4, "rax:f > v0:ff = v0:ff 8"},
    {"movhps xmm0, [rax]", {0x0f, 0x16, 0x00}, 3, "rax m0 > v0:ff00 = v0:ff00 8"},
    {"movhps [rax], xmm0", {0x0f, 0x17, 0x00}, 3, "rax v0:ff00 > m0 = m0 8"},
    {"movhlps xmm0, xmm1", {0x0f, 0x12, 0xc1}, 3, "v1:ff00 > v0:ff = v0:ff 8"},
    {"vmovhlps", {0xc5, 0xf0, 0x12, 0xc2}, 4, "v1:ff00 v2:ff00 > v0 = v0 16"},
    {"vmovhps xmm0, xmm1, [rax]", {0xc5, 0xf0, 0x16, 0x00}, 4, "rax v1:ff m0 > v0 = v0 16"},
    {"vmovhps [rax], xmm0", {0xc5, 0xf8, 0x17, 0x00}, 4, "rax v0:ff00 > m0 = m0 8"},
    {"vmovlps xmm0, xmm1, [rax]", {0xc5, 0xf0, 0x12, 0x00}, 4, "rax v1:ff00 m0 > v0 = v0 16"},
    {"movlhps xmm0, xmm1", {0x0f, 0x16, 0xc1}, 3, "v1:ff > v0:ff00 = v0:ff00 8"},
    {"ucomisd xmm0, xmm1", {0x66, 0x0f, 0x2e, 0xc1}, 4, "v0:ff v1:ff > flags:8d5"},
    {"vaddsd", {0xc5, 0xf3, 0x58, 0xc2}, 4, "v1:ffff v2:ff > v0 = v0 16"},
    {"vpxor ymm", {0xc5, 0xfd, 0xef, 0xc0}, 4, "> v0 = v0 32"},
    {"vmovaps zmm0{k1}", {0x62, 0xf1, 0x7c, 0x49, 0x28, 0xc1}, 6, "v0 v1 k1 > v0 = v0 64"},
    {"vmovaps zmm0{k1}{z}", {0x62, 0xf1, 0x7c, 0xc9, 0x28, 0xc1}, 6, "v1 k1 > v0 = v0 64"},
    {"vmovaps zmm0", {0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1}, 6, "v1 > v0 = v0 64"},
    {"vmovaps [rax], zmm0", {0x62, 0xf1, 0x7c, 0x48, 0x29, 0x00}, 6, "rax v0 > m0 = m0 64"},
    {"vmovaps [rax]{k1}, zmm0", {0x62, 0xf1, 0x7c, 0x49, 0x29, 0x00}, 6, "rax v0 k1 > m0"},
    {"vcompressps [rax]{k1}, zmm0", {0x62, 0xf2, 0x7d, 0x49, 0x8a, 0x00}, 6, "rax v0 k1 > m0"},
    {"vscatterdps [rax+zmm1]{k1}, zmm0",
     {0x62, 0xf2, 0x7d, 0x49, 0xa2, 0x04, 0x08},
     7,
     "rax v0 v1 k1 > k1 m0"},
    {"vmaskmovps [rax], xmm1, xmm0", {0xc4, 0xe2, 0x71, 0x2e, 0x00}, 5, "rax v0:ffff v1:ffff > m0"},
    {"maskmovq mm0, mm1", {0x0f, 0xf7, 0xc1}, 3, "rdi mm0 mm1 > m0"},
    {"fld dword [rax]", {0xd9, 0x00}, 2, "rax m0 > st0 = st0 10"},
    {"fstp qword [rax]", {0xdd, 0x18}, 2, "rax st0 > m0 = m0 8"},
    {"faddp st1, st0", {0xde, 0xc1}, 2, "st0 st1 > st0 = st0 10"},
    {"fstp st0", {0xdd, 0xd8}, 2, "st0 > st7 = st7 10"},
    {"ffree st1", {0xdd, 0xc1}, 2, ">"},
    {"fxch st1", {0xd9, 0xc9}, 2, "st0 st1 > st0 st1 = st1 10"},
    {"fcomi st1", {0xdb, 0xf1}, 2, "st0 st1 > flags:8d5"},
    {"fucompp", {0xda, 0xe9}, 2, "st0 st1 > codes"},
    {"fnstsw ax", {0xdf, 0xe0}, 2, "codes > rax:3 = rax:3 2"},
    {"fcmovb st1", {0xda, 0xc1}, 2, "flags:1 st1 > st0?cc = st0?cc 10"},
    {"paddb mm0, mm1", {0x0f, 0xfc, 0xc1}, 3, "mm0 mm1 > mm0 = mm0 8"},
    {"no instruction", {0x06}, 1, ">"}};

static void test_known(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[TEXT];
        print(text, known[i].bytes, known[i].size);
        if (strcmp(text, known[i].flow) != 0)
            printf("%s: %s\n", known[i].what, text);
        CU_ASSERT_STRING_EQUAL(text, known[i].flow);
    }
}

static void test_states(void)
{
    static const uint8_t save[] = {0x0f, 0xae, 0x00}, upper[] = {0xc5, 0xf8, 0x77},
                         restore[] = {0x0f, 0xae, 0x28};
    struct decode_instruction instruction;
    struct data_flow flow;
    decode(&instruction, save, sizeof save, 0x1000);
    data_flow_of(&flow, &instruction);
    CU_ASSERT_EQUAL(flow.port_count, 1 + 16 + 8 + 1);
    CU_ASSERT(!flow.has_value);
    decode(&instruction, restore, sizeof restore, 0x1000);
    data_flow_of(&flow, &instruction);
    CU_ASSERT_EQUAL(flow.definition_count, 32 + 8 + 1 + 8);
    decode(&instruction, upper, sizeof upper, 0x1000);
    data_flow_of(&flow, &instruction);
    CU_ASSERT_EQUAL(flow.definition_count, 16);
    CU_ASSERT_EQUAL(flow.definitions[3].bytes, ~(uint64_t)0xffff);
}

static void test_x87_stack(void)
{
    static const struct {
        uint8_t bytes[2];
        int pushes;
        bool resets;
    } changes[] = {{{0xd9, 0x00}, 1, false}, {{0xdd, 0x18}, -1, false}, {{0xda, 0xe9}, -2, false},
                   {{0xd9, 0xf2}, 1, false}, {{0xd9, 0xc9}, 0, false},  {{0xdb, 0xe3}, 0, true},
                   {{0x0f, 0x77}, 0, true},  {{0xd9, 0xf3}, -1, false}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct decode_instruction instruction;
        struct data_flow flow;
        decode(&instruction, changes[i].bytes, 2, 0x1000);
        data_flow_of(&flow, &instruction);
        CU_ASSERT_EQUAL(flow.x87_pushes, changes[i].pushes);
        CU_ASSERT_EQUAL(flow.resets_x87, changes[i].resets);
    }
}

/* --- on the processor --------------------------------------------------------------------------
 */

#define INSTRUCTIONS 12000u
#define INT3         0xccu
#define STATUS_FLAGS 0x8d5u

static const struct region region = {.address = EXEC_RIG_DATA, .size = EXEC_RIG_DATA_BYTES};

/* A register byte, or a flag. */
struct place {
    enum data_flow_kind kind;
    unsigned number, bit; /* bit of struct data_flow_part.bytes */
};

/* Places that are changed and compared: general registers, status flags, and what all processors
 * have of the vector registers. */
static bool next_place(struct place *place)
{
    place->bit++;
    if (place->kind == DATA_FLOW_GENERAL && place->bit == 8) {
        place->bit = 0;
        if (++place->number == DECODE_REGISTERS)
            *place = (struct place){.kind = DATA_FLOW_FLAGS};
    }
    if (place->kind == DATA_FLOW_FLAGS && place->bit == 12)
        *place = (struct place){.kind = DATA_FLOW_VECTOR};
    if (place->kind == DATA_FLOW_VECTOR && place->bit == 16) {
        place->bit = 0;
        place->number++;
    }
    return place->kind != DATA_FLOW_VECTOR || place->number < 16;
}

static unsigned value_at(const struct machine *machine, const struct place *place)
{
    if (place->kind == DATA_FLOW_GENERAL)
        return machine->registers[place->number] >> 8 * place->bit & 0xff;
    if (place->kind == DATA_FLOW_FLAGS)
        return machine->flags >> place->bit & 1;
    return *machine_vector_byte(machine, place->number, place->bit);
}

static void change(struct machine *machine, const struct place *place, uint64_t *random)
{
    const uint64_t mask = 1 + random_below(random, 255);
    if (place->kind == DATA_FLOW_GENERAL)
        machine->registers[place->number] ^= mask << 8 * place->bit;
    else if (place->kind == DATA_FLOW_FLAGS)
        machine->flags ^= UINT64_C(1) << place->bit;
    else
        *machine_vector_byte(machine, place->number, place->bit) ^= (uint8_t)mask;
}

/* The part that a place is in; NULL: none. */
static const struct data_flow_part *part_of(const struct data_flow_part *parts, unsigned count,
                                            const struct place *place)
{
    for (unsigned i = 0; i < count; i++)
        if (parts[i].kind == place->kind && parts[i].number == place->number &&
            parts[i].bytes >> place->bit & 1)
            return &parts[i];
    return NULL;
}

/* A random place that no port reads. */
static struct place unread_place(const struct data_flow *flow, uint64_t *random)
{
    for (;;) {
        struct place place = {.kind = (enum data_flow_kind)random_below(random, 3)};
        place.number =
            place.kind == DATA_FLOW_FLAGS ? 0 : (unsigned)random_below(random, DECODE_REGISTERS);
        place.bit = (unsigned)random_below(random, place.kind == DATA_FLOW_GENERAL ? 8
                                                   : place.kind == DATA_FLOW_FLAGS ? 12
                                                                                   : 16);
        if (place.kind == DATA_FLOW_FLAGS && !(STATUS_FLAGS >> place.bit & 1))
            continue;
        if (!part_of(flow->ports, flow->port_count, &place))
            return place;
    }
}

/* An execution: the machine before and after it, and memory after it. */
struct execution {
    struct machine before, after;
    uint8_t memory[EXEC_RIG_DATA_BYTES];
};

static bool execute(struct exec_rig *rig, struct execution *execution, const uint8_t *memory)
{
    memcpy(rig->data, memory, EXEC_RIG_DATA_BYTES);
    execution->after = execution->before;
    const struct native_end end = native_run(&execution->after, NULL, NULL);
    memcpy(execution->memory, rig->data, EXEC_RIG_DATA_BYTES);
    return end.signal == SIGTRAP;
}

/* Whether a place is as the description says: in two executions equal where it is defined, and
 * unchanged where it is not; if that depends on a condition, one of both. */
static bool is_as_described(const struct data_flow *flow, const struct execution *executions,
                            const struct place *place)
{
    const struct data_flow_part *part = part_of(flow->definitions, flow->definition_count, place);
    const bool is_equal =
        value_at(&executions[0].after, place) == value_at(&executions[1].after, place);
    bool is_unchanged = true;
    for (unsigned i = 0; i < 2; i++)
        is_unchanged = is_unchanged && value_at(&executions[i].before, place) ==
                                           value_at(&executions[i].after, place);
    if (!part)
        return is_unchanged;
    return is_equal || (part->condition != DATA_FLOW_ALWAYS && is_unchanged);
}

static void print_place(const struct random_instruction *made, const struct place *changed,
                        const struct place *place)
{
    for (unsigned i = 0; i < made->instruction.length; i++)
        printf("%02x", made->bytes[i]);
    printf(" %s: changed %u.%u.%u, wrong %u.%u.%u\n",
           ZydisMnemonicGetString(made->instruction.mnemonic), (unsigned)changed->kind,
           changed->number, changed->bit, (unsigned)place->kind, place->number, place->bit);
}

static unsigned count_wrong(const struct random_instruction *made, const struct data_flow *flow,
                            const struct execution *executions, const struct place *changed)
{
    const ZydisAccessedFlags *flags = made->instruction.cpu_flags;
    const uint64_t undefined = flags ? flags->undefined : 0;
    unsigned wrong = 0;
    struct place place = {.kind = DATA_FLOW_GENERAL};
    do {
        if (place.kind == DATA_FLOW_FLAGS &&
            (!(STATUS_FLAGS >> place.bit & 1) || undefined >> place.bit & 1))
            continue;
        if (is_as_described(flow, executions, &place))
            continue;
        if (wrong++ == 0)
            print_place(made, changed, &place);
    } while (next_place(&place));
    if (memcmp(executions[0].memory, executions[1].memory, EXEC_RIG_DATA_BYTES) != 0 &&
        wrong++ == 0)
        print_place(made, changed, changed);
    return wrong;
}

/* Executes a random instruction twice, the second time with a place changed that it does not read.
 * Returns the number of differences. */
static unsigned try_one(struct exec_rig *rig, uint64_t *random, unsigned *ran)
{
    static struct execution executions[2];
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    struct random_instruction made;
    struct decode_instruction instruction;
    struct data_flow flow;
    do {
        random_instruction_make(&made, random, EXEC_RIG_CODE, &region);
        random_machine(&executions[0].before, random);
        executions[0].before.rip = EXEC_RIG_CODE;
    } while (!random_instruction_place(&made, &executions[0].before, random, &region));
    memcpy(rig->code, made.bytes, made.instruction.length);
    rig->code[made.instruction.length] = INT3;
    random_fill(random, memory + EXEC_RIG_DATA_BYTES / 4, EXEC_RIG_DATA_BYTES / 2);
    random_instruction_fill(&made, &executions[0].before, random, memory, &region);
    decode(&instruction, made.bytes, made.instruction.length, EXEC_RIG_CODE);
    data_flow_of(&flow, &instruction);
    const struct place changed = unread_place(&flow, random);
    executions[1].before = executions[0].before;
    change(&executions[1].before, &changed, random);
    if (!execute(rig, &executions[0], memory))
        return 0; /* it faults */
    ++*ran;
    return execute(rig, &executions[1], memory) ? count_wrong(&made, &flow, executions, &changed)
                                                : 1;
}

static void test_random_instructions(void)
{
    struct exec_rig rig;
    uint64_t random = random_seed(17);
    unsigned ran = 0, wrong = 0;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_NONE, false, 0, 4 << 20));
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        wrong += try_one(&rig, &random, &ran) > 0;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(ran > INSTRUCTIONS / 4);
    exec_rig_end(&rig);
}

static const struct test_case cases[] = {{"known instructions", test_known},
                                         {"states", test_states},
                                         {"x87 stack", test_x87_stack},
                                         {"random instructions", test_random_instructions},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_data_flow, cases)
