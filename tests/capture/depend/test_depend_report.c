/* Verdicts on loops, from pairs and from what a front end knows of values. */
#include "capture/depend/depend_report.h"
#include "tests/suites.h"

#include <string.h>

static struct dependence_place place_of(void *context, uint32_t place)
{
    (void)context;
    return (struct dependence_place){
        .file = "a.c", .line = 10 + place, .offset = DEPENDENCES_UNKNOWN, .address = place};
}

static uint32_t head_of(void *context, uint32_t loop)
{
    (void)context;
    return 90 + loop;
}

/* A front end that treats all pairs alike, and one register. */
struct front_end {
    enum depend_carry carry;
    bool has_value;
    enum depend_value value;
};

static enum depend_carry carry_of(void *context, const struct depend_pair *pair)
{
    (void)pair;
    return ((struct front_end *)context)->carry;
}

static int add_values(void *context, uint32_t loop, depend_value_function *add, void *to,
                      struct bt_error *error)
{
    const struct front_end *front_end = context;
    (void)loop;
    return front_end->has_value ? add(to, front_end->value, "a register", error) : 0;
}

/* A loop of ten iterations; each reads what was written `distance` iterations before (0: never),
 * and then writes it; the same four bytes for a distance of 1, otherwise an element of its own. */
static struct dependences *run(struct front_end *front_end, uint64_t distance, bool writes_one)
{
    struct bt_error error;
    const struct depend_settings settings = {
        .kinds = (1u << DEPEND_KINDS) - 1, .address_bits = 32, .every = true};
    struct depend *depend = depend_new(&settings, &error);
    struct depend_thread *thread = depend_thread(depend, 0);
    struct depend_site read, write;
    depend_site_init(&read, 1, true);
    depend_site_init(&write, 2, true);
    for (uint64_t i = 0; i < 10; i++) {
        if (i == 0)
            depend_loop_begin(depend, thread, 0, 0);
        else
            depend_loop_iterate(depend, thread);
        depend_execute(thread, 100);
        if (distance > 0)
            depend_read(depend, thread, &read, 0x1000 + 4 * (100 + i - distance), 4);
        depend_write(depend, thread, &write, writes_one ? 0x2000 : 0x1000 + 4 * (100 + i), 4);
    }
    depend_settle(depend);
    struct dependences *result = dependences_new(&error);
    const struct depend_report report = {.place = place_of,
                                         .head = head_of,
                                         .carry = carry_of,
                                         .values = add_values,
                                         .context = front_end,
                                         .judged_from = 1};
    CU_ASSERT_EQUAL_FATAL(depend_report_add(&report, depend, result, &error), 0);
    CU_ASSERT_EQUAL_FATAL(result->loop_count, 1);
    depend_free(depend);
    return result;
}

static void check(struct front_end front_end, uint64_t distance, bool writes_one,
                  enum dependence_verdict verdict, uint64_t carried_at)
{
    struct dependences *result = run(&front_end, distance, writes_one);
    CU_ASSERT_EQUAL(result->loops[0].verdict, verdict);
    CU_ASSERT_EQUAL(result->loops[0].distance, carried_at);
    CU_ASSERT_EQUAL(result->loops[0].iterations, 10);
    CU_ASSERT_STRING_EQUAL(result->loops[0].reasons[result->loops[0].reason_count - 1],
                           "at least 10 iterations were seen");
    CU_ASSERT_EQUAL(result->loops[0].instructions, 1000);
    dependences_free(result);
}

static void test_verdicts(void)
{
    const struct front_end plain = {.carry = DEPEND_CARRY_REAL};
    check(plain, 0, false, DEPENDENCE_INDEPENDENT, 0);
    check(plain, 0, true, DEPENDENCE_PRIVATIZABLE, 0);
    check(plain, 1, false, DEPENDENCE_SERIAL, 0);
    check(plain, 3, false, DEPENDENCE_DISTANCE, 3);
    check((struct front_end){.carry = DEPEND_CARRY_SERIAL}, 3, false, DEPENDENCE_SERIAL, 0);
    check((struct front_end){.carry = DEPEND_CARRY_REDUCTION}, 1, false, DEPENDENCE_REDUCTION, 0);
    check((struct front_end){.carry = DEPEND_CARRY_NONE}, 1, false, DEPENDENCE_INDEPENDENT, 0);
    check((struct front_end){.has_value = true, .value = DEPEND_VALUE_REDUCTION}, 0, false,
          DEPENDENCE_REDUCTION, 0);
    check((struct front_end){.has_value = true, .value = DEPEND_VALUE_SERIAL}, 0, false,
          DEPENDENCE_SERIAL, 0);
    check((struct front_end){.has_value = true, .value = DEPEND_VALUE_LAST}, 0, false,
          DEPENDENCE_PRIVATIZABLE, 0);
    /* a sum does not make another dependence harmless */
    check((struct front_end){.has_value = true, .value = DEPEND_VALUE_REDUCTION}, 1, false,
          DEPENDENCE_SERIAL, 0);
}

static void test_one_iteration(void)
{
    struct bt_error error;
    struct front_end front_end = {.carry = DEPEND_CARRY_REAL};
    const struct depend_settings settings = {.kinds = 1u << DEPEND_RAW, .address_bits = 32};
    struct depend *depend = depend_new(&settings, &error);
    struct depend_thread *thread = depend_thread(depend, 0);
    for (unsigned entry = 0; entry < 3; entry++) {
        depend_loop_begin(depend, thread, 0, 2);
        depend_execute(thread, 10);
        depend_loop_iterate(depend, thread); /* the test, which ends the loop */
        depend_execute(thread, 2);
        depend_loop_end(depend, thread);
    }
    struct dependences *result = dependences_new(&error);
    const struct depend_report report = {
        .place = place_of, .head = head_of, .context = &front_end, .judged_from = 1};
    CU_ASSERT_EQUAL(depend_report_add(&report, depend, result, &error), 0);
    CU_ASSERT_EQUAL_FATAL(result->loop_count, 1);
    CU_ASSERT_EQUAL(result->loops[0].verdict, DEPENDENCE_SERIAL); /* nothing is known */
    CU_ASSERT_EQUAL(result->loops[0].iterations, 3);
    CU_ASSERT_EQUAL_FATAL(result->loops[0].reason_count, 2);
    CU_ASSERT_STRING_EQUAL(result->loops[0].reasons[0], "no entry had a second iteration");
    dependences_free(result);
    depend_free(depend);
}

static const struct test_case cases[] = {
    {"verdicts", test_verdicts}, {"one iteration", test_one_iteration}, {NULL, NULL}};

TEST_SUITE(depend_report, cases)
