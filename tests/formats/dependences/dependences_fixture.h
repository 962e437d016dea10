/* A small result of dependence tracing, and writers and readers of it in memory. */
#ifndef TESTS_FORMATS_DEPENDENCES_DEPENDENCES_FIXTURE_H
#define TESTS_FORMATS_DEPENDENCES_DEPENDENCES_FIXTURE_H

#include "formats/dependences/dependences_write.h"

/* By instruction: a loop in main() that carries a sum, and a call of a function of a library. */
struct dependences *dependences_fixture(void);

/* Random ones by instruction, with names of any octets. */
struct dependences *dependences_fixture_random(uint64_t *state);

/* As a file has it; free the text. */
char *dependences_fixture_written(const struct dependences *dependences,
                                  enum dependences_format format, size_t *size);

#endif
