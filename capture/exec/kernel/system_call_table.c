#define _GNU_SOURCE /* all numbers */
#include "capture/exec/kernel/system_call_internal.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/* Call numbers that the C library's headers may not define yet. */
#define NUMBER_MAP_SHADOW_STACK 453
#define NUMBER_STATMOUNT        457
#define NUMBER_LISTMOUNT        458
#define NUMBER_MSEAL            462
#define NUMBER_GETXATTRAT       464
#define NUMBER_LISTXATTRAT      465
#define NUMBERS                 468 /* of Linux 6.14; newer calls may need emulation */

#define EMULATED(name)                                                                             \
    {                                                                                              \
        .treatment = SYSTEM_CALL_EMULATED, .function = (name)                                      \
    }
#define REFUSED(code)                                                                              \
    {                                                                                              \
        .treatment = SYSTEM_CALL_REFUSED, .errno_code = (code)                                     \
    }
#define CALLERS(what)                                                                              \
    {                                                                                              \
        .treatment = SYSTEM_CALL_CALLERS, .outcome = (what)                                        \
    }
#define WRITES(argument, bytes)                                                                    \
    {                                                                                              \
        .treatment = SYSTEM_CALL_PASSES, .writes = (argument), .length = (bytes)                   \
    }
#define WRITES_EACH(argument, count, bytes)                                                        \
    {                                                                                              \
        .treatment = SYSTEM_CALL_PASSES, .writes = (argument), .length = (count), .each = (bytes)  \
    }
#define SCATTERS                                                                                   \
    {                                                                                              \
        .treatment = SYSTEM_CALL_PASSES, .scatters = 1                                             \
    }

static const struct system_call_row rows[NUMBERS] = {
    /* the address space */
    [SYS_mmap] = EMULATED(system_call_mmap),
    [SYS_munmap] = EMULATED(system_call_munmap),
    [SYS_mremap] = EMULATED(system_call_mremap),
    [SYS_mprotect] = EMULATED(system_call_mprotect),
    [SYS_pkey_mprotect] = EMULATED(system_call_pkey_mprotect),
    [SYS_brk] = EMULATED(system_call_brk),
    [SYS_madvise] = EMULATED(system_call_madvise),
    [SYS_shmat] = EMULATED(system_call_shmat),
    [SYS_shmdt] = EMULATED(system_call_shmdt),
    [SYS_mlock] = EMULATED(system_call_range),
    [SYS_mlock2] = EMULATED(system_call_range),
    [SYS_mlockall] = EMULATED(system_call_mlockall),
    [SYS_munlockall] = EMULATED(system_call_munlockall),
    [SYS_munlock] = EMULATED(system_call_range),
    [SYS_msync] = EMULATED(system_call_range),
    [SYS_mincore] = {.treatment = SYSTEM_CALL_EMULATED,
                     .function = system_call_range,
                     .scatters = 1},
    [SYS_mbind] = EMULATED(system_call_range),
    [SYS_remap_file_pages] = REFUSED(ENOSYS),
    [SYS_process_madvise] = REFUSED(ENOSYS),
    [SYS_pkey_alloc] = REFUSED(ENOSPC), /* as on processors without protection keys */
    [SYS_pkey_free] = REFUSED(EINVAL),
    [NUMBER_MSEAL] = REFUSED(ENOSYS), /* watches change protections */
    [NUMBER_MAP_SHADOW_STACK] = REFUSED(EOPNOTSUPP),

    /* identity and paths */
    [SYS_open] = EMULATED(system_call_open),
    [SYS_creat] = EMULATED(system_call_creat),
    [SYS_truncate] = EMULATED(system_call_truncate),
    [SYS_openat] = EMULATED(system_call_openat),
    [SYS_openat2] = EMULATED(system_call_openat2),
    [SYS_readlink] = EMULATED(system_call_readlink),
    [SYS_readlinkat] = EMULATED(system_call_readlinkat),
    [SYS_stat] = EMULATED(system_call_path1),
    [SYS_access] = EMULATED(system_call_path1),
    [SYS_faccessat] = EMULATED(system_call_path2),
    [SYS_faccessat2] = EMULATED(system_call_path2),
    [SYS_newfstatat] = EMULATED(system_call_newfstatat),
    [SYS_statx] = EMULATED(system_call_statx),

    [SYS_chmod] = EMULATED(system_call_path1),
    [SYS_chown] = EMULATED(system_call_path1),
    [SYS_statfs] = EMULATED(system_call_path1),
    [SYS_fchmodat] = EMULATED(system_call_path2),

    /* calls that may write to the program's memory through a descriptor */
    [SYS_write] = EMULATED(system_call_write),
    [SYS_pwrite64] = EMULATED(system_call_write),
    [SYS_writev] = EMULATED(system_call_write),
    [SYS_pwritev] = EMULATED(system_call_write),
    [SYS_pwritev2] = EMULATED(system_call_write),
    [SYS_sendfile] = EMULATED(system_call_write),
    [SYS_splice] = EMULATED(system_call_write),
    [SYS_copy_file_range] = EMULATED(system_call_write),

    /* the thread's registers, and calls that would restrict our system calls */
    [SYS_arch_prctl] = EMULATED(system_call_arch_prctl),
    [SYS_prctl] = EMULATED(system_call_prctl),
    [SYS_getrlimit] = EMULATED(system_call_getrlimit),
    [SYS_setrlimit] = EMULATED(system_call_setrlimit),
    [SYS_prlimit64] = EMULATED(system_call_prlimit),
    [SYS_personality] = EMULATED(system_call_personality),
    [SYS_rseq] = REFUSED(ENOSYS), /* code is not at the addresses that the kernel would check */
    [SYS_seccomp] = REFUSED(ENOSYS),
    [SYS_ptrace] = REFUSED(EPERM),
    [SYS_modify_ldt] = REFUSED(ENOSYS),
    [SYS_iopl] = REFUSED(EPERM),
    [SYS_io_uring_setup] = REFUSED(ENOSYS), /* the kernel would write to memory asynchronously */
    [SYS_io_uring_enter] = REFUSED(ENOSYS),
    [SYS_io_uring_register] = REFUSED(ENOSYS),
    [SYS_ioperm] = REFUSED(EPERM),

    /* descriptors, some of which are hidden */
    [SYS_close] = EMULATED(system_call_close),
    [SYS_close_range] = EMULATED(system_call_close_range),
    [SYS_dup2] = EMULATED(system_call_dup2),
    [SYS_dup3] = EMULATED(system_call_dup2),

    /* threads, programs, signals */
    [SYS_exit] = CALLERS(SYSTEM_CALL_EXIT),
    [SYS_exit_group] = CALLERS(SYSTEM_CALL_EXIT_GROUP),
    [SYS_clone] = CALLERS(SYSTEM_CALL_CLONE),
    [SYS_clone3] = CALLERS(SYSTEM_CALL_CLONE),
    [SYS_fork] = CALLERS(SYSTEM_CALL_CLONE),
    [SYS_vfork] = CALLERS(SYSTEM_CALL_CLONE),
    [SYS_execve] = CALLERS(SYSTEM_CALL_EXECUTE),
    [SYS_execveat] = CALLERS(SYSTEM_CALL_EXECUTE),
    [SYS_rt_sigaction] = CALLERS(SYSTEM_CALL_SIGNAL),
    [SYS_rt_sigprocmask] = CALLERS(SYSTEM_CALL_SIGNAL),
    [SYS_rt_sigreturn] = CALLERS(SYSTEM_CALL_SIGNAL),
    [SYS_rt_sigsuspend] = CALLERS(SYSTEM_CALL_SIGNAL),
    [SYS_sigaltstack] = CALLERS(SYSTEM_CALL_SIGNAL),

    /* calls that write large objects */
    [SYS_read] = WRITES(2, 3),
    [SYS_pread64] = WRITES(2, 3),
    [SYS_recvfrom] = WRITES(2, 3),
    [SYS_getdents] = WRITES(2, 3),
    [SYS_getdents64] = WRITES(2, 3),
    [SYS_getcwd] = WRITES(1, 2),
    [SYS_getrandom] = WRITES(1, 2),
    [SYS_mq_timedreceive] = WRITES(2, 3),
    [SYS_msgrcv] = SCATTERS, /* writes a word more than its length */
    [SYS_getxattr] = WRITES(3, 4),
    [SYS_lgetxattr] = WRITES(3, 4),
    [SYS_fgetxattr] = WRITES(3, 4),
    [SYS_listxattr] = WRITES(2, 3),
    [SYS_llistxattr] = WRITES(2, 3),
    [SYS_flistxattr] = WRITES(2, 3),
    [SYS_readv] = SCATTERS,
    [SYS_preadv] = SCATTERS,
    [SYS_preadv2] = SCATTERS,
    [SYS_recvmsg] = SCATTERS,
    [SYS_recvmmsg] = SCATTERS,
    [SYS_process_vm_readv] = SCATTERS,
    [SYS_process_vm_writev] = SCATTERS,
    [SYS_ioctl] = SCATTERS,
    [SYS_io_submit] = SCATTERS,
    [SYS_io_getevents] = SCATTERS,
    [SYS_io_pgetevents] = SCATTERS,
    [SYS_poll] = WRITES_EACH(1, 2, sizeof(struct pollfd)),
    [SYS_ppoll] = WRITES_EACH(1, 2, sizeof(struct pollfd)),
    [SYS_epoll_wait] = WRITES_EACH(2, 3, sizeof(struct epoll_event)),
    [SYS_epoll_pwait] = WRITES_EACH(2, 3, sizeof(struct epoll_event)),
    [SYS_epoll_pwait2] = WRITES_EACH(2, 3, sizeof(struct epoll_event)),
    [SYS_getgroups] = WRITES_EACH(2, 1, 4),
    [SYS_vmsplice] = SCATTERS,
    [SYS_sched_getaffinity] = WRITES(3, 2),
    [SYS_semctl] = SCATTERS,
    [SYS_move_pages] = SCATTERS,
    [SYS_get_mempolicy] = SCATTERS,
    [SYS_bpf] = SCATTERS,
    [SYS_keyctl] = SCATTERS,
    [SYS_syslog] = WRITES(2, 3),
    [NUMBER_STATMOUNT] = SCATTERS,
    [NUMBER_LISTMOUNT] = SCATTERS,
    [NUMBER_GETXATTRAT] = SCATTERS,
    [NUMBER_LISTXATTRAT] = SCATTERS,
};

static const struct system_call_row unknown = REFUSED(ENOSYS);

const struct system_call_row *system_call_find(uint64_t number)
{
    return number < NUMBERS ? &rows[number] : &unknown;
}
