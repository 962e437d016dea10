/*
 * Any bytes as the code of a function. The first byte is the offset of a second entry; each
 * indirect jump may lead to the begin and to the middle. Nodes and loops must be consistent.
 */
#include "tools/cfg/code_walk.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE      UINT64_C(0x7ffffffff000) /* sums of addresses may leave 47 bits */
#define BYTES_MAX 4096u
#define JUMPS_MAX 64u

struct code {
    uint8_t *bytes; /* a block of its own, so that the sanitizer sees an access outside of it */
    size_t size;
};

static size_t read_code(void *context, uint64_t address, const uint8_t **code)
{
    const struct code *all = context;
    if (address - BASE >= all->size)
        return 0;
    *code = all->bytes + (address - BASE);
    return all->size - (size_t)(address - BASE);
}

static void check(const struct code_walk *walk)
{
    for (uint32_t i = 0; i < walk->instruction_count; i++)
        if ((i > 0 && walk->addresses[i] <= walk->addresses[i - 1]) || walk->owners[i] == 0 ||
            walk->owners[i] >= walk->graph.nodes ||
            code_walk_find(walk, walk->addresses[i]) != walk->owners[i])
            abort();
    for (uint32_t n = 1; n < walk->graph.nodes; n++)
        if (walk->nodes[n].end <= walk->nodes[n].start ||
            code_walk_find(walk, walk->nodes[n].start) != n)
            abort();
    for (uint32_t l = 0; l < walk->loops.count; l++)
        if (walk->loops.loops[l].head == 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > BYTES_MAX)
        return 0;
    struct code code = {.bytes = malloc(size - 1), .size = size - 1};
    struct code_jump jumps[JUMPS_MAX];
    struct bt_error error;
    struct code_walk walk;
    if (!code.bytes)
        return 0;
    for (size_t i = 0; i < code.size; i++)
        code.bytes[i] = data[i + 1];
    for (size_t i = 0; i < JUMPS_MAX; i++)
        jumps[i] = (struct code_jump){BASE + i / 2, BASE + (i % 2 ? code.size / 2 : 0)};
    const uint64_t entries[] = {BASE, BASE + data[0]};
    const struct code_walk_settings settings = {.read = read_code,
                                                .context = &code,
                                                .entries = entries,
                                                .entry_count = 2,
                                                .jumps = jumps,
                                                .jump_count = JUMPS_MAX,
                                                .instructions_max = 1000};
    if (code_walk_make(&walk, &settings, &error) == 0)
        check(&walk);
    code_walk_clear(&walk);
    free(code.bytes);
    return 0;
}
