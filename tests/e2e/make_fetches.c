/*
 * Writes a BYU address trace for tests to standard output, from lines on standard input: ADDRESS
 * SIZE [PROCESSOR [TYPE]], numbers as in C. Text after a # is ignored.
 *
 * With --program SEED COUNT NAME, writes the fetches of two processors in a random program of x86
 * instructions instead, and the program to NAME.user and NAME.kernel.
 */
#include "formats/record/record.h"
#include "tests/support/random.h"
#include "tests/support/x86_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_record(const struct record *record)
{
    uint8_t bytes[RECORD_BYTES];
    record_put(bytes, record);
    fwrite(bytes, 1, sizeof bytes, stdout);
}

static int write_lines(void)
{
    char line[200];
    while (fgets(line, sizeof line, stdin)) {
        unsigned long fields[4] = {0};
        char *at = line;
        char *end;
        line[strcspn(line, "#\n")] = '\0';
        int count = 0;
        for (; count < 4; count++, at = end) {
            fields[count] = strtoul(at, &end, 0);
            if (end == at)
                break;
        }
        if (count == 0)
            continue;
        if (count == 1) {
            fprintf(stderr, "make_fetches: cannot read '%s'\n", line);
            return 2;
        }
        const struct record record = {.address = (uint32_t)fields[0],
                                      .size = (uint8_t)fields[1],
                                      .processor = (uint8_t)fields[2],
                                      .type = (uint8_t)fields[3],
                                      .time = 1};
        write_record(&record);
    }
    return 0;
}

static void write_program(uint64_t seed, unsigned long count, const char *name)
{
    static struct x86_program program;
    struct x86_walk walks[2] = {{.random = random_seed(seed + 1), .kernel_seen = true},
                                {.random = random_seed(seed + 2), .kernel_seen = true}};
    uint64_t random = random_seed(seed);
    x86_program_make(&program, seed, 32);
    x86_program_write(&program, name);
    for (unsigned long i = 0; i < count; i++) {
        unsigned processor = (unsigned)random_below(&random, 2);
        struct record record = x86_program_fetch(
            &program, x86_program_step(&program, &walks[processor]), (uint8_t)processor);
        write_record(&record);
    }
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--program") == 0) {
        write_program(strtoull(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argv[4]);
        return 0;
    }
    return argc == 1 ? write_lines() : 2;
}
