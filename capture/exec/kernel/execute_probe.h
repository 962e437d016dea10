/* Whether execve(2) would succeed, tried by a child of the calling thread's. */
#ifndef CAPTURE_EXEC_KERNEL_EXECUTE_PROBE_H
#define CAPTURE_EXEC_KERNEL_EXECUTE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Has a child that shares our memory make the call (SYS_execve or SYS_execveat), and ends it before
 * the new program has made any system call: nothing but processor time is used. The kernel checks
 * everything that it would check here: the file, its interpreters, the arguments. The child has
 * copies of our descriptors; no signal tells of its end.
 *
 * Returns 0: the call succeeds; a negative errno: it fails with that; EXECUTE_PROBE_UNKNOWN: there
 * can be no such child (no more processes, no seccomp(2)). Call it with all signals blocked.
 */
#define EXECUTE_PROBE_UNKNOWN 1
int64_t execute_probe(uint64_t number, const uint64_t arguments[6]);

/*
 * Executes path in a child that shares our memory until then, and waits for its end. `inherited`
 * are descriptors that it is to have, closed on execution or not; -1: none. Its wait status, or -1:
 * it cannot be executed. Call it with all signals blocked; the child has them blocked, too.
 */
int execute_and_wait(const char *path, char *const *arguments, char *const *environment,
                     const int inherited[2]);

#endif
