/*
 * Loads a program below 4 GiB and runs it in this process without a translator, to test loading and
 * the initial stack alone. The process ends with the program.
 *
 * usage: exec_native [--show | --stack=BYTES]... PROGRAM [ARGUMENT...]
 *     --show   prints the addresses, and does not run the program
 */
#include "capture/exec/memory/initial_stack.h"
#include "capture/exec/memory/load.h"
#include "tests/e2e/exec_go.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static void show(struct space *space, const struct load *load, const struct initial_stack *start)
{
    printf("path %s\n", load->path);
    printf("program %" PRIx64 "-%" PRIx64 " entry %" PRIx64 "\n", load->program.low,
           load->program.high, load->program.entry);
    if (load->interpreter.high)
        printf("loader %" PRIx64 "-%" PRIx64 "\n", load->interpreter.low, load->interpreter.high);
    printf("stack %" PRIx64 "-%" PRIx64 "\n", start->stack_low, start->stack_high);
    printf("break %" PRIx64 "\n", (uint64_t)space_brk(space, 0));
    for (size_t i = 0; load->arguments[i]; i++)
        printf("argument %s\n", load->arguments[i]);
    struct space_mapping piece;
    for (uint64_t at = 0; space_next(space, &at, SPACE_END, &piece);)
        printf("%08" PRIx64 "-%08" PRIx64 " %c%c%c%s\n", piece.start, piece.end,
               piece.protection & 1 ? 'r' : '-', piece.protection & 2 ? 'w' : '-',
               piece.protection & 4 ? 'x' : '-', piece.flags & SPACE_STACK ? " stack" : "");
}

int main(int argc, char **argv)
{
    struct initial_stack_options options = {.environment = (const char *const *)environ};
    bool only_show = false;
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--show") == 0)
            only_show = true;
        if (strncmp(argv[first], "--stack=", 8) == 0)
            options.stack_bytes = strtoull(argv[first] + 8, NULL, 10);
    }
    if (first >= argc)
        return 2;
    struct bt_error error = {0, ""};
    struct initial_stack start;
    struct space *space = space_new(&layout, only_show ? SPACE_TRANSLATED : SPACE_NATIVE, &error);
    struct load *load = NULL;
    if (space)
        load = load_new(space, argv[first], NULL, (const char *const *)argv + first, &error);
    if (!load || initial_stack_new(&start, space, load, &options, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        load_free(load);
        space_free(space);
        return 125;
    }
    if (!only_show) {
        forget_handlers();
        go(start.rip, start.rsp);
    }
    show(space, load, &start);
    load_free(load);
    space_free(space);
    return 0;
}
