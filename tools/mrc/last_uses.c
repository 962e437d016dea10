#include "tools/mrc/last_uses.h"

#include "tools/common/large_memory.h"
#include "tools/mrc/line_table.h"

#include <stdlib.h>

#define BATCH 64u

struct last_uses {
    struct line_table map; /* from lines to 1 + their index in numbers */
    uint64_t *numbers;
    size_t capacity;
};

struct last_uses *last_uses_new(struct bt_error *error)
{
    struct last_uses *uses = calloc(1, sizeof *uses);
    if (!uses) {
        bt_fail(error, BT_MEMORY, "no memory for a table of lines");
        return NULL;
    }
    if (line_table_init(&uses->map, error) < 0) {
        free(uses);
        return NULL;
    }
    return uses;
}

void last_uses_free(struct last_uses *uses)
{
    if (!uses)
        return;
    line_table_free(&uses->map);
    large_memory_free(uses->numbers, uses->capacity * sizeof *uses->numbers);
    free(uses);
}

static int reserve(struct last_uses *uses, size_t more, struct bt_error *error)
{
    const size_t size = sizeof *uses->numbers;
    const size_t needed = uses->map.used + more;
    size_t capacity = uses->capacity ? uses->capacity : 2 * BATCH;
    if (line_table_reserve(&uses->map, more, error) < 0)
        return error->code;
    if (needed <= uses->capacity)
        return 0;
    while (capacity < needed)
        capacity += capacity / 4;
    void *grown = large_memory_grow(uses->numbers, uses->capacity * size, capacity * size);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for a table of %zu lines", capacity);
    uses->numbers = grown;
    uses->capacity = capacity;
    return 0;
}

static uint64_t exchange(struct last_uses *uses, uint32_t key, uint64_t number)
{
    const uint32_t next = (uint32_t)uses->map.used + 1;
    const uint32_t place = line_table_exchange(&uses->map, key, next);
    if (place == 0) {
        uses->numbers[next - 1] = number;
        return LAST_USES_NONE;
    }
    const uint64_t before = uses->numbers[place - 1];
    line_table_exchange(&uses->map, key, place);
    uses->numbers[place - 1] = number;
    return before;
}

int last_uses_run(struct last_uses *uses, const uint32_t *lines, const uint64_t *numbers,
                  size_t count, uint64_t *before, struct bt_error *error)
{
    uint32_t keys[BATCH];
    for (size_t done = 0; done < count; done += BATCH) {
        const size_t some = count - done < BATCH ? count - done : BATCH;
        if (reserve(uses, some, error) < 0)
            return error->code;
        for (size_t i = 0; i < some; i++) {
            keys[i] = line_table_key(&uses->map, lines[done + i]);
            line_table_prefetch(&uses->map, keys[i]);
        }
        for (size_t i = 0; i < some; i++)
            before[done + i] = exchange(uses, keys[i], numbers[done + i]);
    }
    return 0;
}
