/* Private to system_call*.c. */
#ifndef CAPTURE_EXEC_KERNEL_SYSTEM_CALL_INTERNAL_H
#define CAPTURE_EXEC_KERNEL_SYSTEM_CALL_INTERNAL_H

#include "capture/exec/kernel/own_file.h"
#include "capture/exec/kernel/system_call.h"

#include <sys/resource.h>

#define SYSTEM_CALL_LIMITS 2 /* RLIMIT_AS and RLIMIT_DATA */

struct system_calls {
    struct space *space;
    char *path;      /* absolute path of the program's file */
    uint64_t vector; /* addresses and sizes of auxiliary vector and strings */
    uint64_t vector_bytes;
    uint64_t arguments;
    uint64_t arguments_bytes;
    uint64_t environment_bytes;
    int hidden[SYSTEM_CALLS_HIDDEN_MAX]; /* ascending */
    size_t hidden_count;
    struct rlimit limits[SYSTEM_CALL_LIMITS];        /* as the program has set them */
    struct rlimit kernel_limits[SYSTEM_CALL_LIMITS]; /* the real ones, for the whole process */
    unsigned vain;      /* reservations in direct succession that were placed elsewhere */
    bool writes_memory; /* a descriptor of memory was opened for writing */
    void (*notice)(void *context, const char *what); /* may be NULL */
    void *notice_context;
    uint32_t noticed; /* bit n: enum system_call_notice n */
};

/* Notices that are given once. */
enum system_call_notice {
    NOTICE_MEMORY,       /* a request for more memory than is free below 4 GiB */
    NOTICE_OTHERS_MEMORY /* memory of another process opened for writing */
};
void system_call_notice(struct system_calls *calls, enum system_call_notice which,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Passes the call to the kernel, after making watched pages that it may write to writable. */
int64_t system_call_pass(struct system_calls *calls, const struct system_call *call);

typedef int64_t system_call_function(struct system_calls *calls, struct system_call *call);

/* How a call is handled. */
enum system_call_treatment {
    SYSTEM_CALL_PASSES, /* the default */
    SYSTEM_CALL_EMULATED,
    SYSTEM_CALL_REFUSED,
    SYSTEM_CALL_CALLERS
};

struct system_call_row {
    uint8_t treatment;
    uint8_t outcome;    /* CALLERS */
    uint8_t errno_code; /* REFUSED */
    /* PASSES: number of the argument (from 1) that points to the memory that the kernel writes, and
     * of the one with its size; 0: unknown, any argument may point to a small object */
    uint8_t writes;
    uint8_t length;
    uint8_t each;     /* bytes per unit of `length`; 0: 1 */
    uint8_t scatters; /* PASSES: writes to memory that no argument points to directly */
    system_call_function *function; /* EMULATED; may set call->why */
};

/* The row of a call number; unknown calls are refused. */
const struct system_call_row *system_call_find(uint64_t number);

/* system_call_space.c */
int64_t system_call_mmap(struct system_calls *calls, struct system_call *call);
int64_t system_call_munmap(struct system_calls *calls, struct system_call *call);
int64_t system_call_mremap(struct system_calls *calls, struct system_call *call);
int64_t system_call_mprotect(struct system_calls *calls, struct system_call *call);
int64_t system_call_pkey_mprotect(struct system_calls *calls, struct system_call *call);
int64_t system_call_brk(struct system_calls *calls, struct system_call *call);
int64_t system_call_madvise(struct system_calls *calls, struct system_call *call);
int64_t system_call_mlockall(struct system_calls *calls, struct system_call *call);
int64_t system_call_munlockall(struct system_calls *calls, struct system_call *call);
int64_t system_call_shmat(struct system_calls *calls, struct system_call *call);
int64_t system_call_shmdt(struct system_calls *calls, struct system_call *call);
int64_t system_call_range(struct system_calls *calls, struct system_call *call);

/* system_call_limit.c */
void system_calls_begin_limits(struct system_calls *calls);
int64_t system_call_getrlimit(struct system_calls *calls, struct system_call *call);
int64_t system_call_setrlimit(struct system_calls *calls, struct system_call *call);
int64_t system_call_prlimit(struct system_calls *calls, struct system_call *call);

/* system_call_memory.c: calls that write to a descriptor, which may be of /proc/self/mem. */
int64_t system_call_write(struct system_calls *calls, struct system_call *call);

/* A memory file was opened: 0, or a negative errno: it may not be written to. */
int64_t system_call_opened_memory(struct system_calls *calls, enum own_file file, uint64_t flags);

/* system_call_path.c */
int64_t system_call_open(struct system_calls *calls, struct system_call *call);
int64_t system_call_creat(struct system_calls *calls, struct system_call *call);
int64_t system_call_truncate(struct system_calls *calls, struct system_call *call);
int64_t system_call_openat(struct system_calls *calls, struct system_call *call);
int64_t system_call_openat2(struct system_calls *calls, struct system_call *call);
int64_t system_call_readlink(struct system_calls *calls, struct system_call *call);
int64_t system_call_readlinkat(struct system_calls *calls, struct system_call *call);
int64_t system_call_path1(struct system_calls *calls, struct system_call *call);
int64_t system_call_path2(struct system_calls *calls, struct system_call *call);
int64_t system_call_newfstatat(struct system_calls *calls, struct system_call *call);
int64_t system_call_statx(struct system_calls *calls, struct system_call *call);

/* system_call_process.c */
int64_t system_call_arch_prctl(struct system_calls *calls, struct system_call *call);
int64_t system_call_prctl(struct system_calls *calls, struct system_call *call);
int64_t system_call_personality(struct system_calls *calls, struct system_call *call);
int64_t system_call_close(struct system_calls *calls, struct system_call *call);
int64_t system_call_close_range(struct system_calls *calls, struct system_call *call);
int64_t system_call_dup2(struct system_calls *calls, struct system_call *call);

#endif
