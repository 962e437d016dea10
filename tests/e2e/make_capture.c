/*
 * Writes the files of a capture for tests, PREFIX_1.byu.gz, or with version=2 .byb, and so on.
 * Equal arguments give equal files.
 *
 * usage: make_capture [NAME=N]... PREFIX
 * Names are those of struct capture_set: seed files removed keep file_records block_records bus
 * link queue disk gap_ms gap_uncounted gap_chosen gap_parts events version lost_at_end after_stop
 * filtered above_4gib undecoded unclosed source_unknown hostile
 */
#include "tests/support/capture_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the field that one argument names. Returns false if there is no such field. */
static bool take(struct capture_set *set, const char *argument)
{
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    uint64_t number = equals ? strtoull(equals + 1, NULL, 0) : 0;
    const struct {
        const char *name;
        uint32_t *small;
        uint64_t *large;
        bool *flag;
    } names[] = {{"seed", NULL, &set->seed, NULL},
                 {"files", &set->files, NULL, NULL},
                 {"removed", &set->removed, NULL, NULL},
                 {"keep", &set->keep, NULL, NULL},
                 {"file_records", &set->file_records, NULL, NULL},
                 {"block_records", &set->block_records, NULL, NULL},
                 {"bus", NULL, &set->lost[LOSS_BUS], NULL},
                 {"link", NULL, &set->lost[LOSS_LINK], NULL},
                 {"queue", NULL, &set->lost[LOSS_QUEUE], NULL},
                 {"disk", NULL, &set->lost[LOSS_DISK], NULL},
                 {"gap_ms", &set->gap_ms, NULL, NULL},
                 {"gap_uncounted", NULL, NULL, &set->gap_uncounted},
                 {"gap_chosen", NULL, NULL, &set->gap_chosen},
                 {"gap_parts", &set->gap_parts, NULL, NULL},
                 {"events", &set->events, NULL, NULL},
                 {"version", &set->version, NULL, NULL},
                 {"lost_at_end", NULL, &set->lost_at_end, NULL},
                 {"after_stop", NULL, &set->after_stop, NULL},
                 {"filtered", NULL, &set->filtered, NULL},
                 {"above_4gib", NULL, &set->above_4gib, NULL},
                 {"undecoded", NULL, &set->undecoded, NULL},
                 {"unclosed", NULL, NULL, &set->unclosed},
                 {"source_unknown", NULL, NULL, &set->source_unknown},
                 {"hostile", NULL, NULL, &set->hostile}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != length || strncmp(names[i].name, argument, length) != 0)
            continue;
        if (names[i].small)
            *names[i].small = (uint32_t)number;
        if (names[i].large)
            *names[i].large = number;
        if (names[i].flag)
            *names[i].flag = number != 0;
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct capture_set set = {.seed = 1, .files = 1, .file_records = 1000, .block_records = 300};
    for (int i = 1; i + 1 < argc; i++)
        if (!take(&set, argv[i])) {
            fprintf(stderr, "make_capture: unknown argument %s\n", argv[i]);
            return 2;
        }
    if (argc < 2 || set.block_records == 0)
        return 2;
    return capture_set_write(&set, argv[argc - 1]) == 0 ? 0 : 3;
}
