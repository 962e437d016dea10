/* Something that takes a process of its own: a program that is executed under us, or natively. */
#ifndef TESTS_SUPPORT_EXEC_CHILD_H
#define TESTS_SUPPORT_EXEC_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#define EXEC_CHILD_LOW_MEMORY false /* AddressSanitizer's shadow lies where the program should */
#elif defined __has_feature
#define EXEC_CHILD_LOW_MEMORY (!__has_feature(address_sanitizer))
#else
#define EXEC_CHILD_LOW_MEMORY true
#endif

#define EXEC_CHILD_OUTPUT (1u << 20)

struct exec_child {
    char output[EXEC_CHILD_OUTPUT]; /* what came on its standard output, ends with NUL */
    int status;                     /* as wait has it, without the bit of cores */
};

/* Calls run in a child, whose end is 0 if it returns; it is killed after five minutes of computing,
 * or where it does not end for longer, and then what it was doing is printed. */
void exec_child_run(struct exec_child *child, void (*run)(void *context), void *context);

/* The same for a program. */
void exec_child_native(struct exec_child *child, const char *const *arguments,
                       const char *const *environment);

/* Memory that children share with us, 0 at first; it is not given back. */
void *exec_child_share(size_t bytes);

/* Compiles a file of C with options, which may name libraries; false: that is not possible here. */
bool exec_child_compile(const char *program, const char *source, const char *options);

#endif
