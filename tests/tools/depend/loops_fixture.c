#include "tests/tools/depend/loops_fixture.h"

#include "tests/suites.h"

size_t loop_code_read(void *context, uint64_t address, const uint8_t **code)
{
    const struct loop_code *known = context;
    if (address - LOOP_CODE_BASE >= known->size)
        return 0;
    *code = known->bytes + (address - LOOP_CODE_BASE);
    return known->size - (size_t)(address - LOOP_CODE_BASE);
}

bool loop_code_analyse(struct loop_code code, value_set live, struct loop_values *values)
{
    static const uint64_t entry = LOOP_CODE_BASE;
    struct code_walk walk;
    struct bt_error error;
    const struct code_walk_settings settings = {.read = loop_code_read,
                                                .context = &code,
                                                .entries = &entry,
                                                .entry_count = 1,
                                                .instructions_max = 10000};
    CU_ASSERT_EQUAL_FATAL(code_walk_make(&walk, &settings, &error), 0);
    const bool has_loop = walk.loops.count > 0;
    if (has_loop) /* outer loops follow their inner ones */
        CU_ASSERT_EQUAL(loop_values_find(values, &walk, walk.loops.count - 1, live, 0,
                                         loop_code_read, &code, &error),
                        0);
    code_walk_clear(&walk);
    return has_loop;
}
