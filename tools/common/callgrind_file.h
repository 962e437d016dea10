/* Parts of files in callgrind's format: the head, and names, which are written in full at their
 * first use and as numbers afterwards. */
#ifndef TOOLS_COMMON_CALLGRIND_FILE_H
#define TOOLS_COMMON_CALLGRIND_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct callgrind_head {
    uint64_t process;
    const char *command;
    bool data;   /* events are Ir Dr Dw, else Ir */
    bool chunks; /* the event is Visits, of chunks of code that a bus fetched */
    uint64_t totals[3];
};

/* Begins a file whose cost lines each have an instruction's address and a source line. */
void callgrind_put_head(const struct callgrind_head *head, FILE *out);
void callgrind_put_totals(const struct callgrind_head *head, FILE *out);

/* "KEY=(NUMBER) NAME" and sets *named; without the name if *named is set already. */
void callgrind_put_name(const char *key, uint32_t number, const char *name, bool *named, FILE *out);

#endif
