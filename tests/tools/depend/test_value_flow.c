/* Values after a few instructions, in terms of those before. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/tools/depend/loops_fixture.h"

#include <stdio.h>
#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, XMM0 = VALUE_VECTORS, XMM1, XMM2 };

#define SLOT(number) (VALUE_REGISTERS + (number))
#define LOAD(number) (VALUE_STORED + (number)) /* in the order of the code */

/* The bits of up to four variables, from 1 on: 0 is none. */
#define SET(...)                                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define V(variable) ((variable) + 1u)

LOOP_CODE(copy, "mov rcx, rax");
LOOP_CODE(copy_cut, "mov ecx, eax\n movzx edx, cl\n movsx rbx, dx");
LOOP_CODE(extend, "mov eax, ecx\n cdqe");
LOOP_CODE(constant, "mov eax, 5");
LOOP_CODE(zero, "xor eax, eax\n sub ecx, ecx\n pxor xmm0, xmm0");
LOOP_CODE(ones, "pcmpeqd xmm0, xmm0");
LOOP_CODE(same, "and eax, eax\n or ecx, ecx");
LOOP_CODE(borrow, "cmp rsi, rdi\n sbb eax, eax");
LOOP_CODE(steps, "inc rax\n add rax, 10\n sub rax, 3\n dec rax\n lea rax, [rax + 100]");
LOOP_CODE(lea_both, "lea rax, [rcx + rdx + 8]");
LOOP_CODE(lea_scaled, "lea rax, [rcx + rdx * 4]");
LOOP_CODE(operations, "add rax, rcx\n add rax, rdx");
LOOP_CODE(mixed_operations, "add rax, rcx\n imul rax, rdx");
LOOP_CODE(subtraction, "sub rax, rcx");
LOOP_CODE(imul_three, "imul rax, rcx, 7");
LOOP_CODE(division, "div rcx");
LOOP_CODE(exchange, "xchg rax, rcx");
LOOP_CODE(low_byte, "mov al, cl");
LOOP_CODE(low_byte_read, "mov al, cl\n movzx edx, al");
LOOP_CODE(low_byte_whole, "mov al, cl\n mov edx, eax");
LOOP_CODE(low_then_high, "mov al, cl\n mov ah, bl\n movzx edx, al");
LOOP_CODE(high_read, "mov al, cl\n movzx edx, ah");
LOOP_CODE(word_then_byte, "mov ax, cx\n mov al, bl\n movzx edx, ax");
LOOP_CODE(low_then_all, "mov al, cl\n mov eax, ebx\n movzx edx, al");
LOOP_CODE(add_part, "add al, cl");
LOOP_CODE(add_high, "add ah, cl");
LOOP_CODE(scalar_load, "movsd xmm0, [rdi]\n sqrtsd xmm0, xmm1\n movapd xmm2, xmm0");
LOOP_CODE(scalar_merge, "movsd xmm0, xmm1\n movapd xmm2, xmm0\n addps xmm2, xmm2");
LOOP_CODE(conversion, "cvtsi2sd xmm0, eax\n movapd xmm1, xmm0");
LOOP_CODE(upper_half, "movhlps xmm0, xmm1");
LOOP_CODE(string_move, "movsb");
LOOP_CODE(string_repeated, "rep movsb");
LOOP_CODE(conditional, "test esi, esi\n cmove eax, ecx");
LOOP_CODE(conditional_minimum, "cmp eax, ecx\n cmovg eax, ecx");
LOOP_CODE(conditional_equal, "cmp eax, ecx\n cmove eax, ecx");
LOOP_CODE(conditional_other, "cmp eax, edx\n cmovg eax, ecx");
LOOP_CODE(flag_carry_kept, "cmp rsi, rdi\n inc rbx\n setb al\n movzx eax, al");
LOOP_CODE(flag_zero_changed, "cmp rsi, rdi\n inc rbx\n sete al\n movzx eax, al");
LOOP_CODE(flag_shift_kept, "cmp rsi, rdi\n shl rbx, cl\n sete al\n movzx eax, al");
LOOP_CODE(flag_vector, "cmp rsi, rdi\n paddd xmm0, xmm1\n lea rbx, [rbx + 1]\n sete al\n"
                       "movzx eax, al");
LOOP_CODE(load_twice, "mov eax, [rdi + 4]\n mov ecx, [rdi + 4]");
LOOP_CODE(load_computed, "lea rax, [rdi + rsi * 4]\n mov eax, [rax]\n lea rcx, [rdi + rsi * 4]\n"
                         "mov ecx, [rcx]");
LOOP_CODE(load_other, "mov eax, [rdi + 4]\n mov ecx, [rdi + 8]");
LOOP_CODE(load_thread, "mov eax, fs:[0]\n mov ecx, [rdi + rsi]\n mov edx, gs:[0]");
LOOP_CODE(load_stored, "mov eax, [rdi]\n mov [rsi], edx\n mov ecx, [rdi]");
LOOP_CODE(load_stored_apart, "mov eax, [rdi]\n mov [rdi + 4], edx\n mov ecx, [rdi]");
LOOP_CODE(load_called, "mov rbx, [rdi]\n call rsi\n mov rcx, [rbx]");
LOOP_CODE(slot_copy, "mov [rbp - 8], rax\n mov rcx, [rbp - 8]");
LOOP_CODE(slot_narrow, "mov [rbp - 8], rax\n mov [rbp - 8], cl\n mov rdx, [rbp - 8]");
LOOP_CODE(slot_aliased, "mov [rbp - 8], rax\n lea rsi, [rbp - 8]\n mov rdx, [rbp - 8]");
LOOP_CODE(masks, "kmovw k1, eax\n vpaddd zmm0{k1}, zmm1, zmm2");

static const struct {
    const char *name;
    const uint8_t *code, *end;
    unsigned variable;
    unsigned operation; /* of a value with bases that is not exact */
    uint64_t constant;  /* of an exact one */
    unsigned bases[4], others[4];
} tests[] = {
#define CODE(name) #name, name##_code, name##_end
    {CODE(copy), RCX, 0, 0, SET(V(RAX)), SET(0)},
    {CODE(copy_cut), RBX, 0, 0, SET(V(RAX)), SET(0)},
    {CODE(extend), RAX, 0, 0, SET(V(RCX)), SET(0)},
    {CODE(constant), RAX, 0, 0, SET(0), SET(0)},
    {CODE(zero), RAX, 0, 0, SET(0), SET(0)},
    {CODE(zero), RCX, 0, 0, SET(0), SET(0)},
    {CODE(zero), XMM0, 0, 0, SET(0), SET(0)},
    {CODE(ones), XMM0, 0, 0, SET(0), SET(0)},
    {CODE(same), RAX, 0, 0, SET(V(RAX)), SET(0)},
    {CODE(same), RCX, 0, 0, SET(V(RCX)), SET(0)},
    {CODE(borrow), RAX, 0, 0, SET(0), SET(V(RSI), V(RDI))},
    {CODE(steps), RAX, 0, 107, SET(V(RAX)), SET(0)},
    {CODE(lea_both), RAX, VALUE_ADD, 0, SET(V(RCX), V(RDX)), SET(0)},
    {CODE(lea_scaled), RAX, VALUE_ADD, 0, SET(V(RCX)), SET(V(RDX))},
    {CODE(operations), RAX, VALUE_ADD, 0, SET(V(RAX), V(RCX), V(RDX)), SET(0)},
    {CODE(mixed_operations), RAX, VALUE_MULTIPLY, 0, SET(V(RDX)), SET(V(RAX), V(RCX))},
    {CODE(subtraction), RAX, VALUE_ADD, 0, SET(V(RAX)), SET(V(RCX))},
    {CODE(imul_three), RAX, VALUE_MULTIPLY, 0, SET(V(RCX)), SET(0)},
    {CODE(division), RDX, 0, 0, SET(0), SET(V(RAX), V(RCX), V(RDX))},
    {CODE(exchange), RAX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(low_byte), RAX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(low_byte_read), RDX, 0, 0, SET(V(RCX)), SET(0)},
    {CODE(low_byte_whole), RDX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(low_then_high), RDX, 0, 0, SET(V(RCX)), SET(0)},
    {CODE(low_then_high), RAX, 0, 0, SET(0), SET(V(RAX), V(RCX), V(RBX))},
    {CODE(high_read), RDX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(word_then_byte), RDX, 0, 0, SET(0), SET(V(RAX), V(RCX), V(RBX))},
    {CODE(low_then_all), RDX, 0, 0, SET(V(RBX)), SET(0)},
    {CODE(add_part), RAX, VALUE_ADD, 0, SET(V(RAX)), SET(V(RCX))},
    {CODE(add_high), RAX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(scalar_load), XMM2, 0, 0, SET(0), SET(V(XMM1))},
    {CODE(scalar_merge), XMM2, 0, 0, SET(0), SET(V(XMM0), V(XMM1))},
    {CODE(conversion), XMM0, 0, 0, SET(0), SET(V(XMM0), V(RAX))},
    {CODE(upper_half), XMM0, 0, 0, SET(0), SET(V(XMM0), V(XMM1))},
    {CODE(string_move), RDI, 0, 1, SET(V(RDI)), SET(0)},
    {CODE(string_repeated), RSI, VALUE_ADD, 0, SET(V(RSI)), SET(V(RCX))},
    {CODE(conditional), RAX, VALUE_SELECT, 0, SET(V(RAX), V(RCX)), SET(V(RSI))},
    {CODE(conditional_minimum), RAX, VALUE_MINIMUM, 0, SET(V(RAX), V(RCX)), SET(0)},
    {CODE(conditional_equal), RAX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(conditional_other), RAX, VALUE_SELECT, 0, SET(V(RCX)), SET(V(RAX), V(RDX))},
    {CODE(flag_carry_kept), RAX, 0, 0, SET(0), SET(V(RSI), V(RDI))},
    {CODE(flag_zero_changed), RAX, 0, 0, SET(0), SET(V(RBX))},
    {CODE(flag_shift_kept), RAX, 0, 0, SET(0), SET(V(RSI), V(RDI), V(RBX), V(RCX))},
    {CODE(flag_vector), RAX, 0, 0, SET(0), SET(V(RSI), V(RDI))},
    {CODE(load_twice), RCX, 0, 0, SET(V(LOAD(0))), SET(0)},
    {CODE(load_computed), RCX, 0, 0, SET(V(LOAD(0))), SET(0)},
    {CODE(load_other), RCX, 0, 0, SET(V(LOAD(1))), SET(0)},
    {CODE(load_thread), RDX, 0, 0, SET(V(LOAD(2))), SET(0)},
    {CODE(load_stored), RCX, 0, 0, SET(V(LOAD(1))), SET(0)},
    {CODE(load_stored_apart), RCX, 0, 0, SET(V(LOAD(0))), SET(0)},
    {CODE(load_called), RCX, 0, 0, SET(V(LOAD(2))), SET(0)},
    {CODE(load_called), RBX, 0, 0, SET(V(LOAD(0))), SET(0)},
    {CODE(slot_copy), RCX, 0, 0, SET(V(RAX)), SET(0)},
    {CODE(slot_narrow), RDX, 0, 0, SET(0), SET(V(RAX), V(RCX))},
    {CODE(slot_aliased), RDX, 0, 0, SET(V(LOAD(0))), SET(0)},
    {CODE(masks), XMM0, 0, 0, SET(0), SET(V(XMM0), V(XMM1), V(XMM2), V(RAX))},
};

static value_set set_of(const unsigned *variables)
{
    value_set set = 0;
    for (unsigned i = 0; i < 4; i++)
        if (variables[i] > 0)
            set |= value_set_of(variables[i] - 1);
    return set;
}

/* Executes code from its first byte on. */
static void execute(struct value_flow *flow, struct value_state *state, struct loop_code code)
{
    struct value_instruction instruction;
    uint64_t address;
    for (unsigned pass = 0; pass < 2; pass++)
        for (address = LOOP_CODE_BASE;
             loop_flow_decode(loop_code_read, &code, address, &instruction);
             address += instruction.decoded.length) {
            if (pass == 0)
                value_flow_see(flow, &instruction);
            else
                value_flow_execute(flow, state, &instruction);
        }
}

static void begin(struct value_flow *flow, struct value_state *state)
{
    memset(flow, 0, sizeof *flow);
    value_flow_restart(flow);
    value_state_begin(state);
}

static void test_instructions(void)
{
    static struct value_flow flow;
    static struct value_state state;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        begin(&flow, &state);
        execute(&flow, &state,
                (struct loop_code){tests[i].code,
                                   (size_t)((uintptr_t)tests[i].end - (uintptr_t)tests[i].code)});
        const struct value *value = &state.values[tests[i].variable];
        const value_set bases = set_of(tests[i].bases), others = set_of(tests[i].others);
        const bool is_right = value->bases == bases && value->others == others &&
                              value->operation == tests[i].operation &&
                              value->is_exact == (bases != 0 && tests[i].operation == VALUE_NONE) &&
                              (!value->is_exact || value->constant == tests[i].constant);
        if (!is_right)
            printf("\n%s: bases %llx, others %llx, operation %u", tests[i].name,
                   (unsigned long long)value->bases, (unsigned long long)value->others,
                   value->operation);
        CU_ASSERT_TRUE(is_right);
    }
}

/* --- paths that meet
 * --------------------------------------------------------------------------------
 */

static void test_join(void)
{
    const struct value i = value_of_variable(RAX), next = value_add_constant(i, 1, 64);
    const struct value other = value_of_variable(RCX), constant = {.constant = 7};
    const value_set decision = value_set_of(RSI);
    const struct value_kind add = {.operation = VALUE_ADD, .bits = 64};
    const struct value_kind multiply = {.operation = VALUE_MULTIPLY, .bits = 64};
    struct value joined = value_join(&i, &next, decision); /* if (...) i++ */
    CU_ASSERT_EQUAL(joined.operation, VALUE_ADD);
    CU_ASSERT(joined.bases == value_set_of(RAX) && joined.others == decision);
    joined = value_join(&i, &next, decision | value_set_of(RAX)); /* if (i ...) i++ */
    CU_ASSERT(joined.bases == 0 && joined.others == (decision | value_set_of(RAX)));
    joined = value_join(&i, &i, decision);
    CU_ASSERT_TRUE(value_is_equal(&joined, &i));
    joined = value_join(&i, &constant, decision);
    CU_ASSERT_EQUAL(joined.operation, VALUE_SELECT);
    CU_ASSERT(joined.bases == value_set_of(RAX) && joined.others == decision);
    const struct value sum = value_combine(add, &i, &other);
    const struct value product = value_combine(multiply, &i, &other);
    joined = value_join(&sum, &product, 0);
    CU_ASSERT(joined.bases == 0 && (joined.others & value_set_of(RAX)));
}

static void test_same(void)
{
    const struct value i = value_of_variable(RAX), nothing = value_of_set(0);
    const struct value set = value_of_set(value_set_of(RAX));
    struct value known = set;
    known.constant = 9;
    CU_ASSERT_TRUE(value_is_same(&i, &i));
    CU_ASSERT_FALSE(value_is_same(&set, &set)); /* two functions of one variable */
    CU_ASSERT_FALSE(value_is_same(&nothing, &nothing));
    CU_ASSERT_TRUE(value_is_same(&known, &known));
    struct value chosen;
    const struct value other = value_of_variable(RCX);
    const struct value_comparison both = {.left = i, .right = other, .bits = 64};
    CU_ASSERT_TRUE(value_choose(&chosen, VALUE_CONDITION_LESS, &both, &other, &i));
    CU_ASSERT_EQUAL(chosen.operation, VALUE_MINIMUM);
    CU_ASSERT_TRUE(value_choose(&chosen, VALUE_CONDITION_LESS, &both, &i, &other));
    CU_ASSERT_EQUAL(chosen.operation, VALUE_MAXIMUM);
    CU_ASSERT_FALSE(value_choose(&chosen, VALUE_CONDITION_OTHER, &both, &i, &other));
    CU_ASSERT_FALSE(value_choose(&chosen, VALUE_CONDITION_LESS, &both, &i, &known));
    CU_ASSERT_TRUE(value_choose(&chosen, VALUE_CONDITION_ABOVE, &both, &other, &i));
    CU_ASSERT_EQUAL(chosen.operation, VALUE_MAXIMUM);
    CU_ASSERT_EQUAL(chosen.domain, VALUE_UNSIGNED); /* another one than that of signed numbers */
    struct value_comparison bytes = both;
    bytes.bits = 8; /* the bits above follow, as an index does */
    CU_ASSERT_FALSE(value_choose(&chosen, VALUE_CONDITION_LESS, &bytes, &other, &i));
}

/* --- any bytes ---------------------------------------------------------------------------------
 */

static void check_state(const struct value_state *state)
{
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        const struct value *value = &state->values[i];
        CU_ASSERT(!(value->bases & value->others));
        CU_ASSERT(value->bases != 0 || (!value->is_exact && value->operation == VALUE_NONE));
        CU_ASSERT(!value->is_exact || (value->others == 0 && value->operation == VALUE_NONE));
    }
    CU_ASSERT(state->depth >= -1 && state->depth <= (int)VALUE_ENTRIES);
}

static void test_random_instructions(void)
{
    static struct value_flow flow;
    static struct value_state state;
    uint64_t seed = random_seed(3);
    uint8_t bytes[64];
    for (unsigned i = 0; i < 20000; i++) {
        if (i % 8 == 0)
            begin(&flow, &state);
        random_fill(&seed, bytes, sizeof bytes);
        execute(&flow, &state, (struct loop_code){bytes, sizeof bytes});
        check_state(&state);
    }
    CU_ASSERT(flow.load_count <= VALUE_LOADS && flow.slot_count <= VALUE_SLOTS);
}

static const struct test_case cases[] = {{"instructions", test_instructions},
                                         {"join", test_join},
                                         {"same", test_same},
                                         {"random instructions", test_random_instructions},
                                         {NULL, NULL}};

TEST_SUITE(value_flow, cases)
