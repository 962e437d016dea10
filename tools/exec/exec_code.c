#include "tools/exec/exec_code.h"

#include "tools/common/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "module:"

static int parse_range(struct exec_code *code, const char *text, struct bt_error *error)
{
    struct exec_code_range *range = &code->ranges[0];
    char *end;
    errno = 0;
    range->low = strtoull(text, &end, 16);
    if (end == text + 2 || strncmp(end, "-0x", 3) != 0)
        return bt_fail(error, BT_USAGE, "\"%.60s\" should be 0xLOW-0xHIGH", text);
    const char *high = end + 1;
    range->high = strtoull(high, &end, 16);
    if (end == high + 2 || *end || errno != 0 || range->high < range->low)
        return bt_fail(error, BT_USAGE, "\"%.60s\" is not a range of addresses", text);
    code->count = 1;
    return 0;
}

int exec_code_parse(struct exec_code *code, const char *text, struct bt_error *error)
{
    *code = (struct exec_code){.module = NULL};
    if (strncmp(text, "0x", 2) == 0)
        return parse_range(code, text, error);
    if (strncmp(text, MODULE, strlen(MODULE)) != 0)
        return exec_symbol_parse(&code->function, text, error);
    code->module = text + strlen(MODULE);
    return *code->module ? 0 : bt_fail(error, BT_USAGE, "\"%s\" names no file", text);
}

void exec_code_clear(struct exec_code *code)
{
    exec_symbol_clear(&code->function);
}

static void add(struct exec_code *code, uint64_t low, uint64_t bytes)
{
    const uint64_t high = low + bytes - 1;
    for (size_t i = 0; i < code->count; i++)
        if (code->ranges[i].low == low && code->ranges[i].high == high)
            return;
    if (code->count < EXEC_CODE_RANGES)
        code->ranges[code->count++] = (struct exec_code_range){low, high};
}

bool exec_code_look(struct exec_code *code, const struct modules *modules)
{
    struct exec_symbol *function = &code->function;
    if (function->text && code->count == 0 && exec_symbol_look(function, modules))
        add(code, function->address,
            function->size > function->offset ? function->size - function->offset : 1);
    if (code->module)
        code->count = 0; /* collected again: a module's code may have grown */
    for (size_t i = 0; code->module && i < modules_count(modules); i++) {
        const struct module *module = modules_get(modules, i);
        if (strcmp(words_file_name(module->path), code->module) == 0 && module->end > module->start)
            add(code, module->start, module->end - module->start);
    }
    return code->count > 0;
}

bool exec_code_has(const struct exec_code *code, uint64_t address)
{
    for (size_t i = 0; i < code->count; i++)
        if (address >= code->ranges[i].low && address <= code->ranges[i].high)
            return true;
    return false;
}
