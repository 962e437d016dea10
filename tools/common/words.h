/* Text for people: times, sizes, command lines. */
#ifndef TOOLS_COMMON_WORDS_H
#define TOOLS_COMMON_WORDS_H

#include "formats/record/batch.h"

#include <stddef.h>
#include <stdio.h>

#define WORDS_TIME_BYTES 40u
#define WORDS_SIZE_BYTES 16u

/* "2026-11-20T22:45:00.123Z": UTC; text has room for WORDS_TIME_BYTES. Returns text. */
char *words_time(char *text, int64_t realtime_ns);

/* "1.5 MiB"; text has room for WORDS_SIZE_BYTES. */
char *words_size(char *text, double bytes);

/* The last part of a path, without folders; NULL for NULL. */
const char *words_file_name(const char *path);

/* Joins the arguments of a program, which end with NULL, with spaces. text has room for size bytes;
 * the rest is cut off. */
void words_command(char *text, size_t size, const char *const *arguments);

/* Copies the first of several words separated by commas; word has room for size bytes. Returns the
 * start of the next word; NULL: the first one is too long. */
const char *words_next(const char *words, char *word, size_t size);

/* part / whole; 0 if whole is 0. */
double words_ratio(uint64_t part, uint64_t whole);

/* Lost records of all stages, saturated. */
uint64_t words_lost(const uint64_t lost[LOSS_STAGES]);

#endif
