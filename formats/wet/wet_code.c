#include "formats/wet/wet_code.h"

#include "formats/wet/wet_chunk.h"

#include <string.h>

#define NUMBER_LIMIT (UINT32_MAX - 16u) /* of elements of a table */

/* --- tables ------------------------------------------------------------------------------------
 */

int wet_code_init(struct wet_code *code)
{
    const struct wet_instruction none = {.address = 0};
    const uint32_t ids[1] = {0};
    return wet_code_add_instruction(code, &none) < 0 || wet_code_add_function(code, 0, NULL) < 0 ||
                   wet_code_add_file(code, "") < 0 || wet_code_add_block(code, ids, 0) < 0
               ? BT_MEMORY
               : 0;
}

void wet_code_clear(struct wet_code *code)
{
    for (size_t i = 0; i < code->function_count; i++)
        free((char *)(uintptr_t)code->functions[i].name);
    for (size_t i = 0; i < code->file_count; i++)
        free(code->files[i]);
    for (size_t i = 0; i < code->module_count; i++)
        free(code->modules[i].path);
    free(code->modules);
    free(code->instructions);
    free(code->functions);
    free(code->files);
    free(code->blocks);
    free(code->ids);
    free(code->edges);
    free(code->ranges);
    free(code->range_bytes);
    *code = (struct wet_code){.instructions = NULL};
}

/* Makes room for one more element of a table. NULL: no memory, or too many elements. */
static void *room(void *table, size_t *capacity, size_t count, size_t size)
{
    return count < NUMBER_LIMIT ? grow_array(table, capacity, count + 1, size) : NULL;
}

int64_t wet_code_add_instruction(struct wet_code *code, const struct wet_instruction *instruction)
{
    struct wet_instruction *larger = room(code->instructions, &code->instruction_capacity,
                                          code->instruction_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->instructions = larger;
    larger[code->instruction_count] = *instruction;
    return (int64_t)code->instruction_count++;
}

int64_t wet_code_add_function(struct wet_code *code, uint64_t start, const char *name)
{
    struct wet_function *larger =
        room(code->functions, &code->function_capacity, code->function_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->functions = larger;
    char *copy = name ? strndup(name, WET_NAME_BYTES - 1) : NULL;
    if (name && !copy)
        return BT_MEMORY;
    larger[code->function_count] = (struct wet_function){.start = start, .name = copy};
    return (int64_t)code->function_count++;
}

int64_t wet_code_add_file(struct wet_code *code, const char *path)
{
    char **larger = room(code->files, &code->file_capacity, code->file_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->files = larger;
    larger[code->file_count] = strndup(path, WET_NAME_BYTES - 1);
    return larger[code->file_count] ? (int64_t)code->file_count++ : BT_MEMORY;
}

int64_t wet_code_add_block(struct wet_code *code, const uint32_t *ids, uint32_t count)
{
    struct wet_block *larger =
        room(code->blocks, &code->block_capacity, code->block_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->blocks = larger;
    uint32_t *more =
        code->id_count + count < NUMBER_LIMIT
            ? grow_array(code->ids, &code->id_capacity, code->id_count + count + 1, sizeof *more)
            : NULL;
    if (!more)
        return BT_MEMORY;
    code->ids = more;
    memcpy(more + code->id_count, ids, count * sizeof *ids);
    larger[code->block_count] =
        (struct wet_block){.first = (uint32_t)code->id_count, .count = count};
    code->id_count += count;
    return (int64_t)code->block_count++;
}

int64_t wet_code_add_edge(struct wet_code *code, uint32_t from, uint32_t to)
{
    struct wet_edge *larger =
        room(code->edges, &code->edge_capacity, code->edge_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->edges = larger;
    larger[code->edge_count] = (struct wet_edge){.from = from, .to = to};
    return (int64_t)code->edge_count++;
}

int64_t wet_code_add_range(struct wet_code *code, uint64_t address, uint32_t function,
                           const uint8_t *bytes, uint32_t size)
{
    struct wet_range *larger =
        room(code->ranges, &code->range_capacity, code->range_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->ranges = larger;
    uint8_t *more = grow_array(code->range_bytes, &code->range_byte_capacity,
                               code->range_byte_count + size + 1, 1);
    if (!more)
        return BT_MEMORY;
    code->range_bytes = more;
    memcpy(more + code->range_byte_count, bytes, size);
    larger[code->range_count] = (struct wet_range){
        .address = address, .function = function, .bytes = code->range_byte_count, .size = size};
    code->range_byte_count += size;
    return (int64_t)code->range_count++;
}

int64_t wet_code_add_module(struct wet_code *code, const struct wet_module *module)
{
    struct wet_module *larger =
        room(code->modules, &code->module_capacity, code->module_count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    code->modules = larger;
    larger[code->module_count] = *module;
    larger[code->module_count].path = strndup(module->path, WET_NAME_BYTES - 1);
    return larger[code->module_count].path ? (int64_t)code->module_count++ : BT_MEMORY;
}

const struct wet_module *wet_code_module(const struct wet_code *code, uint64_t address)
{
    for (size_t i = code->module_count; i-- > 0;)
        if (address >= code->modules[i].start && address < code->modules[i].end)
            return &code->modules[i];
    return NULL;
}

int wet_code_take_executions(struct wet_code *code, struct wet_execution **executions,
                             size_t *count)
{
    *count = 0;
    for (size_t i = 1; i < code->block_count; i++)
        *count += code->blocks[i].executions > 0;
    struct wet_execution *taken = malloc((*count + 1) * sizeof *taken);
    *executions = taken;
    if (!taken)
        return BT_MEMORY;
    for (size_t i = 1; i < code->block_count; i++) {
        struct wet_block *block = &code->blocks[i];
        if (block->executions > 0)
            *taken++ = (struct wet_execution){.block = (uint32_t)i, .count = block->executions};
        block->executions = 0;
    }
    return 0;
}

/* --- writing -----------------------------------------------------------------------------------
 */

static void put_text(struct wet_bytes *to, const char *text)
{
    const size_t size = strlen(text);
    wet_bytes_put(to, size);
    wet_bytes_append(to, (const uint8_t *)text, size);
}

static void put_names(const struct wet_code *code, struct wet_bytes *to)
{
    wet_bytes_put(to, code->function_count - code->written.functions);
    for (size_t i = code->written.functions; i < code->function_count; i++) {
        const struct wet_function *function = &code->functions[i];
        wet_bytes_put(to, wet_zigzag(function->start - function[-1].start));
        wet_bytes_put(to, function->name != NULL);
        if (function->name)
            put_text(to, function->name);
    }
    wet_bytes_put(to, code->file_count - code->written.files);
    for (size_t i = code->written.files; i < code->file_count; i++)
        put_text(to, code->files[i]);
}

static void put_instructions(const struct wet_code *code, struct wet_bytes *to)
{
    wet_bytes_put(to, code->instruction_count - code->written.instructions);
    for (size_t i = code->written.instructions; i < code->instruction_count; i++) {
        const struct wet_instruction *one = &code->instructions[i], *before = one - 1;
        wet_bytes_put(to, wet_zigzag(one->address - (before->address + before->size)));
        wet_bytes_put(to, wet_zigzag((uint64_t)one->function - before->function));
        wet_bytes_put(to, wet_zigzag((uint64_t)one->file - before->file));
        wet_bytes_put(to, wet_zigzag((uint64_t)one->line - before->line));
        wet_bytes_put(to, one->size);
        wet_bytes_append(to, one->bytes, one->size);
    }
}

static void put_blocks(const struct wet_code *code, struct wet_bytes *to)
{
    uint32_t last = 0;
    wet_bytes_put(to, code->block_count - code->written.blocks);
    for (size_t i = code->written.blocks; i < code->block_count; i++) {
        const uint32_t *ids = wet_code_ids(code, (uint32_t)i);
        wet_bytes_put(to, code->blocks[i].count);
        for (uint32_t k = 0; k < code->blocks[i].count; last = ids[k++])
            wet_bytes_put(to, wet_zigzag((uint64_t)ids[k] - last - 1));
    }
}

static void put_edges(const struct wet_code *code, struct wet_bytes *to)
{
    uint32_t last = 0;
    wet_bytes_put(to, code->edge_count - code->written.edges);
    for (size_t i = code->written.edges; i < code->edge_count; i++) {
        const struct wet_edge *edge = &code->edges[i];
        wet_bytes_put(to, wet_zigzag((uint64_t)edge->from - last));
        wet_bytes_put(to, wet_zigzag((uint64_t)edge->to - edge->from - 1));
        last = edge->to;
    }
    wet_bytes_put(to, code->range_count - code->written.ranges);
    for (size_t i = code->written.ranges; i < code->range_count; i++) {
        const struct wet_range *range = &code->ranges[i];
        wet_bytes_put(to, range->address);
        wet_bytes_put(to, range->function);
        wet_bytes_put(to, range->size);
        wet_bytes_append(to, code->range_bytes + range->bytes, range->size);
    }
}

static void put_executions(struct wet_code *code, struct wet_bytes *to)
{
    size_t executed = 0, last = 0;
    for (size_t i = 1; i < code->block_count; i++)
        executed += code->blocks[i].executions > 0;
    wet_bytes_put(to, executed);
    for (size_t i = 1; i < code->block_count; i++) {
        if (code->blocks[i].executions == 0)
            continue;
        wet_bytes_put(to, i - last);
        wet_bytes_put(to, code->blocks[i].executions);
        code->blocks[i].executions = 0;
        last = i;
    }
}

/* The last list: files of earlier versions do not have it. */
static void put_modules(const struct wet_code *code, struct wet_bytes *to)
{
    wet_bytes_put(to, code->module_count - code->written.modules);
    for (size_t i = code->written.modules; i < code->module_count; i++) {
        put_text(to, code->modules[i].path);
        wet_bytes_put(to, code->modules[i].load_address);
        wet_bytes_put(to, code->modules[i].start);
        wet_bytes_put(to, code->modules[i].end - code->modules[i].start);
    }
}

int wet_code_put(struct wet_code *code, struct wet_bytes *to)
{
    if (code->written.instructions == 0) /* those numbered 0 are in no member */
        code->written.instructions = code->written.functions = code->written.files =
            code->written.blocks = 1;
    put_names(code, to);
    put_instructions(code, to);
    put_blocks(code, to);
    put_edges(code, to);
    put_executions(code, to);
    if (code->module_count > code->written.modules)
        put_modules(code, to);
    code->written.instructions = code->instruction_count;
    code->written.functions = code->function_count;
    code->written.files = code->file_count;
    code->written.blocks = code->block_count;
    code->written.edges = code->edge_count;
    code->written.ranges = code->range_count;
    code->written.modules = code->module_count;
    return to->out_of_memory ? BT_MEMORY : 0;
}

/* --- reading -----------------------------------------------------------------------------------
 */

/* A number of elements, each of at least so many bytes: no more than the bytes can hold. */
static uint64_t get_count(struct wet_cursor *from, size_t bytes_each)
{
    const uint64_t count = wet_cursor_get(from);
    if (count > (size_t)(from->end - from->at) / bytes_each)
        from->failed = true;
    return from->failed ? 0 : count;
}

/* Takes `size` bytes. NULL: there are fewer. */
static const uint8_t *get_bytes(struct wet_cursor *from, uint64_t size)
{
    if (size > (size_t)(from->end - from->at)) {
        from->failed = true;
        return NULL;
    }
    from->at += size;
    return from->at - size;
}

/* A text without zeros, shorter than WET_NAME_BYTES. 0 or BT_DATA. */
static int get_text(struct wet_cursor *from, char text[WET_NAME_BYTES])
{
    const uint64_t size = wet_cursor_get(from);
    const uint8_t *bytes = size < WET_NAME_BYTES ? get_bytes(from, size) : NULL;
    text[0] = '\0';
    if (!bytes || memchr(bytes, 0, (size_t)size))
        return BT_DATA;
    memcpy(text, bytes, (size_t)size);
    text[size] = '\0';
    return 0;
}

/* 0, or the negative code of a failed addition. */
static int added(int64_t number)
{
    return number < 0 ? (int)number : 0;
}

static int get_names(struct wet_code *code, struct wet_cursor *from)
{
    char text[WET_NAME_BYTES];
    int result = 0;
    for (uint64_t left = get_count(from, 2); left > 0 && result == 0; left--) {
        const uint64_t start =
            code->functions[code->function_count - 1].start + wet_unzigzag(wet_cursor_get(from));
        const uint64_t has_name = wet_cursor_get(from);
        result = has_name ? get_text(from, text) : 0;
        if (result == 0)
            result = added(wet_code_add_function(code, start, has_name ? text : NULL));
    }
    for (uint64_t left = result == 0 ? get_count(from, 1) : 0; left > 0 && result == 0; left--) {
        result = get_text(from, text);
        if (result == 0)
            result = added(wet_code_add_file(code, text));
    }
    return result;
}

static int get_instructions(struct wet_code *code, struct wet_cursor *from)
{
    for (uint64_t left = get_count(from, 6); left > 0; left--) {
        const struct wet_instruction *before = &code->instructions[code->instruction_count - 1];
        const uint64_t end = before->address + before->size;
        struct wet_instruction one = {.address = end + wet_unzigzag(wet_cursor_get(from))};
        const uint64_t function = before->function + wet_unzigzag(wet_cursor_get(from));
        const uint64_t file = before->file + wet_unzigzag(wet_cursor_get(from));
        const uint64_t line = before->line + wet_unzigzag(wet_cursor_get(from));
        const uint64_t size = wet_cursor_get(from);
        const uint8_t *bytes =
            size > 0 && size <= WET_INSTRUCTION_BYTES ? get_bytes(from, size) : NULL;
        if (!bytes || function >= code->function_count || file >= code->file_count ||
            line > UINT32_MAX)
            return BT_DATA;
        one.function = (uint32_t)function;
        one.file = (uint32_t)file;
        one.line = (uint32_t)line;
        one.size = (uint8_t)size;
        memcpy(one.bytes, bytes, (size_t)size);
        if (wet_code_add_instruction(code, &one) < 0)
            return BT_MEMORY;
    }
    return 0;
}

/* Whether an id is among the first of a block. An instruction is in a block once, so that its
 * instances ascend. */
static bool is_repeated(const uint32_t *ids, uint32_t count, uint32_t id)
{
    while (count > 0 && ids[count - 1] != id)
        count--;
    return count > 0;
}

static int get_blocks(struct wet_code *code, struct wet_cursor *from)
{
    uint64_t last = 0;
    for (uint64_t left = get_count(from, 2); left > 0; left--) {
        uint32_t ids[WET_BLOCK_IDS];
        const uint64_t count = wet_cursor_get(from);
        if (count == 0 || count > WET_BLOCK_IDS)
            return BT_DATA;
        for (uint32_t k = 0; k < count; k++) {
            last = last + 1 + wet_unzigzag(wet_cursor_get(from));
            if (last == 0 || last >= code->instruction_count || is_repeated(ids, k, (uint32_t)last))
                return BT_DATA;
            ids[k] = (uint32_t)last;
        }
        if (wet_code_add_block(code, ids, (uint32_t)count) < 0)
            return BT_MEMORY;
    }
    return 0;
}

static int get_edges(struct wet_code *code, struct wet_cursor *from)
{
    uint64_t last = 0;
    for (uint64_t left = get_count(from, 2); left > 0; left--) {
        const uint64_t source = last + wet_unzigzag(wet_cursor_get(from));
        last = source + 1 + wet_unzigzag(wet_cursor_get(from));
        if (source >= code->instruction_count || last == 0 || last >= code->instruction_count)
            return BT_DATA;
        if (wet_code_add_edge(code, (uint32_t)source, (uint32_t)last) < 0)
            return BT_MEMORY;
    }
    for (uint64_t left = get_count(from, 4); left > 0; left--) {
        const uint64_t address = wet_cursor_get(from), function = wet_cursor_get(from);
        const uint64_t size = wet_cursor_get(from);
        const uint8_t *bytes = get_bytes(from, size);
        if (!bytes || size == 0 || size > UINT32_MAX || function >= code->function_count)
            return BT_DATA;
        if (wet_code_add_range(code, address, (uint32_t)function, bytes, (uint32_t)size) < 0)
            return BT_MEMORY;
    }
    return 0;
}

static int get_executions(struct wet_code *code, struct wet_cursor *from)
{
    uint64_t block = 0;
    for (size_t i = 0; i < code->block_count; i++)
        code->blocks[i].executions = 0;
    for (uint64_t left = get_count(from, 2); left > 0; left--) {
        const uint64_t more = wet_cursor_get(from), executions = wet_cursor_get(from);
        if (more == 0 || more >= code->block_count - block || executions > UINT64_MAX >> 16)
            return BT_DATA;
        block += more;
        code->blocks[block].executions = executions;
    }
    return 0;
}

static int get_modules(struct wet_code *code, struct wet_cursor *from)
{
    char path[WET_NAME_BYTES];
    for (uint64_t left = get_count(from, 4); left > 0; left--) {
        if (get_text(from, path) < 0)
            return BT_DATA;
        struct wet_module one = {.path = path};
        one.load_address = wet_cursor_get(from);
        one.start = wet_cursor_get(from);
        const uint64_t size = wet_cursor_get(from);
        if (from->failed || size > UINT64_MAX - one.start)
            return BT_DATA;
        one.end = one.start + size;
        if (wet_code_add_module(code, &one) < 0)
            return BT_MEMORY;
    }
    return 0;
}

int wet_code_get(struct wet_code *code, const struct wet_bytes *content, struct bt_error *error)
{
    struct wet_cursor from = wet_cursor_of(content);
    int result = get_names(code, &from);
    if (result == 0)
        result = get_instructions(code, &from);
    if (result == 0)
        result = get_blocks(code, &from);
    if (result == 0)
        result = get_edges(code, &from);
    if (result == 0)
        result = get_executions(code, &from);
    if (result == 0 && !from.failed && from.at != from.end)
        result = get_modules(code, &from);
    if (result == BT_MEMORY)
        return bt_fail(error, BT_MEMORY, "no memory for the program's code");
    if (result < 0 || from.failed || from.at != from.end)
        return bt_fail(error, BT_DATA, "a member with code is damaged at byte %td of its content",
                       from.at - content->bytes);
    return 0;
}
