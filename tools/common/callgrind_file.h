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
    bool data; /* events are Ir Dr Dw, else Ir */
    uint64_t totals[3];
};

/* Costs follow at an instruction's address and a line each. */
void callgrind_put_head(const struct callgrind_head *head, FILE *out);
void callgrind_put_totals(const struct callgrind_head *head, FILE *out);

/* "KEY=(NUMBER) NAME", the name unless *told; sets it. */
void callgrind_put_name(const char *key, uint32_t number, const char *name, bool *told, FILE *out);

#endif
