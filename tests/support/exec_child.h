/* Runs in a separate process: a function, or a program natively. */
#ifndef TESTS_SUPPORT_EXEC_CHILD_H
#define TESTS_SUPPORT_EXEC_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#define EXEC_CHILD_LOW_MEMORY false /* AddressSanitizer's shadow is at the program's addresses */
#elif defined __has_feature
#define EXEC_CHILD_LOW_MEMORY (!__has_feature(address_sanitizer))
#else
#define EXEC_CHILD_LOW_MEMORY true
#endif

#define EXEC_CHILD_OUTPUT (1u << 20)

struct exec_child {
    char output[EXEC_CHILD_OUTPUT]; /* its standard output, terminated by NUL */
    int status;                     /* as from wait(2), without the core-dump bit */
};

/* Calls run in a child, which exits with 0 if run returns. A child is killed after five minutes of
 * computing; or 500 seconds after its start, and then its state is printed. */
void exec_child_run(struct exec_child *child, void (*run)(void *context), void *context);

/* The same for a program. */
void exec_child_native(struct exec_child *child, const char *const *arguments,
                       const char *const *environment);

/* Memory shared with children, initially 0; it is never freed. */
void *exec_child_share(size_t bytes);

/* Compiles a C file with options, which may name libraries. Returns false if that is not possible
 * here. */
bool exec_child_compile(const char *program, const char *source, const char *options);

#endif
