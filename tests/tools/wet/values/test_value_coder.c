/* Values of a WET file: what is read is what was put, and what is guessed takes no space. */
#include "tools/wet/values/value_coder.h"

#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <string.h>

#define RULES   150u
#define STEPS   4000u
#define CHUNKS  8u
#define THREADS 3u

enum what { EXECUTE, SWITCH, FORK, RESULT };

struct step {
    uint8_t what;   /* enum what */
    uint8_t thread; /* of SWITCH, FORK and RESULT */
    uint8_t rule;
    bool defines, ends_chunk;
    uint8_t value[VALUE_BYTES];
};

struct run {
    struct value_rule rules[RULES];
    struct step steps[STEPS];
    struct wet_bytes chunks[CHUNKS][VALUE_STREAMS];
    uint64_t random;
};

static const struct region region = {.address = 0x30000000, .size = 0x4000};

static void make_rules(struct run *run)
{
    for (unsigned i = 0; i < RULES; i++) {
        struct random_instruction made;
        struct decode_instruction instruction;
        struct data_flow flow;
        const uint64_t address = 0x20000000 + 16 * i;
        random_instruction_make(&made, &run->random, address, &region);
        decode(&instruction, made.bytes, made.instruction.length, address);
        data_flow_of(&flow, &instruction);
        value_rule_make(&run->rules[i], &instruction, &flow);
    }
    for (unsigned i = 0; i < RULES; i += 10)
        value_rules_join(&run->rules[i], 10);
}

/* Sequences repeat; values are random, the same again, steps, or small. */
static void make_steps(struct run *run)
{
    uint64_t *random = &run->random, value = 0;
    unsigned chunks = 1;
    for (unsigned i = 0; i < STEPS; i++) {
        struct step *step = &run->steps[i];
        *step = (struct step){.what = EXECUTE,
                              .rule = (uint8_t)(i / 1000 * 7 + i % 40),
                              .defines = !random_one_in(random, 10)};
        if (random_one_in(random, 20)) {
            step->what = (uint8_t)random_below(random, RESULT + 1);
            step->thread = (uint8_t)random_below(random, THREADS);
        }
        if (random_one_in(random, 5))
            step->rule = (uint8_t)random_below(random, RULES);
        if (random_one_in(random, 3))
            value = random_one_in(random, 2) ? random_next(random) : random_below(random, 300);
        value += random_below(random, 3) * 8;
        for (unsigned at = 0; at < VALUE_BYTES; at += 8)
            memcpy(step->value + at, &value, 8);
        if (random_one_in(random, 4))
            random_fill(random, step->value, VALUE_BYTES);
        step->ends_chunk = i == STEPS - 1 || (chunks < CHUNKS && random_one_in(random, 500));
        chunks += step->ends_chunk;
    }
}

/* What writer and reader are told alike. */
static int change_thread(struct value_coder *coder, const struct step *step)
{
    uint64_t result;
    memcpy(&result, step->value, sizeof result);
    switch (step->what) {
    case SWITCH:
        return value_coder_switch(coder, step->thread);
    case FORK:
        return value_coder_fork(coder, step->thread, step->value[0] % THREADS);
    default:
        return value_coder_result(coder, step->thread, result);
    }
}

static int put_step(struct value_coder *coder, struct run *run, const struct step *step)
{
    if (step->what != EXECUTE)
        return change_thread(coder, step);
    return value_coder_put(coder, &run->rules[step->rule], step->defines, step->value);
}

/* Reads a step. 1: another value was read; else 0, or an error. */
static int get_step(struct value_coder *coder, struct run *run, const struct step *step)
{
    struct value_rule *rule = &run->rules[step->rule];
    uint8_t value[VALUE_BYTES];
    if (step->what != EXECUTE)
        return change_thread(coder, step);
    const int code = value_coder_get(coder, rule, step->defines, value);
    return code != 0 ? code : step->defines && memcmp(value, step->value, rule->size) != 0;
}

static void write_run(struct run *run)
{
    struct value_coder *coder = value_coder_new(NULL);
    unsigned chunk = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(coder);
    value_coder_write_to(coder, run->chunks[0]);
    for (unsigned i = 0; i < STEPS; i++) {
        CU_ASSERT_EQUAL_FATAL(put_step(coder, run, &run->steps[i]), 0);
        if (run->steps[i].ends_chunk) {
            CU_ASSERT_EQUAL(value_coder_finish(coder), 0);
            value_coder_write_to(coder, run->chunks[++chunk % CHUNKS]);
        }
    }
    value_coder_free(coder);
}

/* Reads all chunks. Returns the number of steps that were read as they were put, up to the first
 * error; without one, all of the streams has been read. */
static unsigned read_run(struct run *run)
{
    struct value_coder *coder = value_coder_new(NULL);
    unsigned chunk = 0, right = 0;
    bool is_first = true;
    struct wet_cursor from[VALUE_STREAMS];
    CU_ASSERT_PTR_NOT_NULL_FATAL(coder);
    for (unsigned i = 0; i < STEPS; i++) {
        if (is_first) {
            for (unsigned at = 0; at < VALUE_STREAMS; at++) {
                const struct wet_bytes *bytes = &run->chunks[chunk][at];
                from[at] =
                    (struct wet_cursor){.at = bytes->bytes, .end = bytes->bytes + bytes->size};
            }
            value_coder_read_from(coder, from);
        }
        const int result = get_step(coder, run, &run->steps[i]);
        if (result < 0) {
            CU_ASSERT_EQUAL(result, BT_DATA);
            break;
        }
        right += result == 0;
        is_first = run->steps[i].ends_chunk;
        chunk += is_first;
        for (unsigned at = 0; at < VALUE_STREAMS && is_first; at++)
            if (from[at].at != from[at].end)
                right = 0;
    }
    value_coder_free(coder);
    return right;
}

static void clear_run(struct run *run)
{
    for (unsigned i = 0; i < CHUNKS; i++)
        for (unsigned at = 0; at < VALUE_STREAMS; at++)
            free(run->chunks[i][at].bytes);
    free(run);
}

/* A random run that was written, with rules without a past. */
static struct run *make_run(uint64_t seed)
{
    static struct value_rule rules[RULES];
    struct run *run = calloc(1, sizeof *run);
    CU_ASSERT_PTR_NOT_NULL_FATAL(run);
    run->random = random_seed(seed);
    make_rules(run);
    make_steps(run);
    memcpy(rules, run->rules, sizeof rules);
    write_run(run);
    memcpy(run->rules, rules, sizeof rules);
    return run;
}

static void test_random_values(void)
{
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run *run = make_run(seed);
        wrong += read_run(run) != STEPS;
        clear_run(run);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Bytes that are changed or missing give errors or other values. */
static void test_damage(void)
{
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct run *run = make_run(seed);
        const unsigned chunk = 0;
        struct wet_bytes *bytes = &run->chunks[chunk][random_below(&run->random, VALUE_STREAMS)];
        for (unsigned i = 0; i < 3 && bytes->size > 0; i++)
            bytes->bytes[random_below(&run->random, bytes->size)] ^=
                (uint8_t)(1 + random_below(&run->random, 255));
        if (random_one_in(&run->random, 2))
            bytes->size = random_below(&run->random, bytes->size + 1);
        different += read_run(run) != STEPS;
        clear_run(run);
    }
    CU_ASSERT(different > 30);
}

/* Counts to 1,000 in memory, as a program does: all but the first values are guessed. */
static void test_loop(void)
{
    static const uint8_t load[] = {0x8b, 0x45, 0xfc}, add[] = {0x83, 0xc0, 0x01},
                         store[] = {0x89, 0x45, 0xfc};
    static const uint8_t *const code[] = {load, add, store};
    struct value_rule rules[3];
    struct wet_bytes streams[VALUE_STREAMS] = {{.bytes = NULL}};
    struct value_coder *coder = value_coder_new(NULL);
    size_t size = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(coder);
    for (unsigned i = 0; i < 3; i++) {
        struct decode_instruction instruction;
        struct data_flow flow;
        decode(&instruction, code[i], 3, 0x1000 + 3 * i);
        data_flow_of(&flow, &instruction);
        value_rule_make(&rules[i], &instruction, &flow);
    }
    value_rules_join(rules, 3);
    value_coder_write_to(coder, streams);
    for (uint64_t i = 17; i < 1017; i++) {
        const uint64_t values[] = {i, i + 1, i + 1};
        for (unsigned at = 0; at < 3; at++)
            CU_ASSERT_EQUAL(value_coder_put(coder, &rules[at], true, (const uint8_t *)&values[at]),
                            0);
    }
    CU_ASSERT_EQUAL(value_coder_finish(coder), 0);
    for (unsigned i = 0; i < VALUE_STREAMS; i++) {
        size += streams[i].size;
        free(streams[i].bytes);
    }
    CU_ASSERT_EQUAL(size, 5); /* 0 right, a value of one byte, 17; 2,999 right */
    value_coder_free(coder);
}

static void test_threads(void)
{
    struct value_coder *coder = value_coder_new(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(coder);
    CU_ASSERT_EQUAL(value_coder_switch(coder, VALUE_THREADS), BT_DATA);
    CU_ASSERT_EQUAL(value_coder_fork(coder, 1, VALUE_THREADS), BT_DATA);
    CU_ASSERT_EQUAL(value_coder_fork(coder, VALUE_THREADS - 1, 0), 0);
    CU_ASSERT_EQUAL(value_coder_result(coder, VALUE_THREADS, 0), BT_DATA);
    value_coder_free(coder);
    value_coder_free(NULL);
}

static const struct test_case cases[] = {{"random values", test_random_values},
                                         {"damage", test_damage},
                                         {"a loop", test_loop},
                                         {"threads", test_threads},
                                         {NULL, NULL}};
TEST_SUITE(value_coder, cases)
