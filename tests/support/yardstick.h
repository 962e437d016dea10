/*
 * A common yardstick for benchmarks whose peers cannot be installed: the classic b2a, one fread
 * and three fprintf calls a record, on the same machine at the same time.
 */
#ifndef TESTS_SUPPORT_YARDSTICK_H
#define TESTS_SUPPORT_YARDSTICK_H

/* Prints a file of raw records to /dev/null the classic way. Seconds, or -1. */
double yardstick_b2a_seconds(const char *path);

/* Records a second of the classic way, the best of three runs over a million records; 0 on failure.
 * Takes a few seconds. */
double yardstick_b2a_rate(void);

#endif
