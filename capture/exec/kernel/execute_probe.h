/* Tests in a child whether execve(2) would succeed. */
#ifndef CAPTURE_EXEC_KERNEL_EXECUTE_PROBE_H
#define CAPTURE_EXEC_KERNEL_EXECUTE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes the call (SYS_execve or SYS_execveat) in a child that shares our memory, and ends the child
 * before the new program has made a system call. The kernel checks the file, its interpreters and
 * the arguments as it would here. The child has copies of our descriptors; its end sends no signal.
 *
 * Returns 0: the call succeeds; a negative errno: it fails with that; EXECUTE_PROBE_UNKNOWN: the
 * child cannot be made (process limit, no seccomp(2)). Call it with all signals blocked.
 */
#define EXECUTE_PROBE_UNKNOWN 1
int64_t execute_probe(uint64_t number, const uint64_t arguments[6]);

/*
 * Executes path in a child and waits for its end. The child inherits the descriptors `inherited`,
 * close-on-exec or not; -1: none. Returns its wait status, or -1: it cannot be executed. Call it
 * with all signals blocked; they are blocked in the child as well.
 */
int execute_and_wait(const char *path, char *const *arguments, char *const *environment,
                     const int inherited[2]);

#endif
