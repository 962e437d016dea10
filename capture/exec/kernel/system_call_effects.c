#define _GNU_SOURCE /* all numbers, struct mmsghdr, F_GETOWN_EX */
#include "capture/exec/kernel/system_call_effects.h"

#include <asm/prctl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <termios.h>

#define OUTPUTS             3u
#define PAGE                UINT64_C(4096)
#define KERNEL_TERMIOS      36u /* struct termios of the kernel */
#define KERNEL_SIGACTION    32u
#define VECTORS_MAX         1024u /* UIO_MAXIOV */
#define NUMBER_FACCESSAT2   439
#define NUMBER_PIDFD_OPEN   434
#define NUMBER_CLOSE_RANGE  436
#define NUMBER_EPOLL_PWAIT2 441
#define NUMBERS             450 /* rows; calls with greater numbers are not known */

/* How many bytes of an output the kernel wrote. */
enum size_rule {
    SIZE_NONE,
    SIZE_BYTES,     /* `value` */
    SIZE_RESULT,    /* the result times `value` */
    SIZE_ARGUMENT,  /* the argument number `value` */
    SIZE_LENGTH_AT, /* the int that argument number `value` points to, which is written as well */
    SIZE_BITS       /* a set of as many bits as the first argument, in words of 8 bytes */
};

/* An output through the pointer in an argument, numbered from 1; a null pointer is none. */
struct output {
    uint8_t argument;
    uint8_t rule; /* enum size_rule */
    uint16_t value;
};

struct effects {
    const struct system_call *call;
    const struct system_call_observer *observer;
};

/* Effects that a table cannot tell. False: they are not known. */
typedef bool special_function(const struct effects *effects);

struct effects_row {
    bool is_known;
    bool is_interrupted; /* the outputs are written if the result is -EINTR, too */
    struct output outputs[OUTPUTS];
    special_function *special; /* NULL: none */
};

static uint64_t argument(const struct effects *effects, unsigned number)
{
    return effects->call->arguments[number - 1];
}

static void wrote(const struct effects *effects, uint64_t address, uint64_t size)
{
    if (address && size)
        effects->observer->put(effects->observer->context, SYSTEM_CALL_WROTE, address, size);
}

static void released(const struct effects *effects, uint64_t address, uint64_t size)
{
    if (size)
        effects->observer->put(effects->observer->context, SYSTEM_CALL_RELEASED, address,
                               (size + PAGE - 1) / PAGE * PAGE);
}

/* Reads an object of the program. False: it is gone, another thread may have unmapped it. */
static bool load(const struct effects *effects, void *object, uint64_t address, size_t size)
{
    return effects->observer->read(effects->observer->context, object, address, size) == 0;
}

static void put_output(const struct effects *effects, const struct output *output)
{
    const uint64_t address = argument(effects, output->argument);
    const uint64_t result = (uint64_t)effects->call->result;
    uint32_t length;
    uint64_t at;
    switch (output->rule) {
    case SIZE_BYTES:
        wrote(effects, address, output->value);
        break;
    case SIZE_RESULT:
        wrote(effects, address, result * output->value);
        break;
    case SIZE_ARGUMENT:
        wrote(effects, address, argument(effects, output->value));
        break;
    case SIZE_LENGTH_AT:
        at = argument(effects, output->value);
        if (address && at && load(effects, &length, at, sizeof length)) {
            wrote(effects, address, length);
            wrote(effects, at, sizeof(uint32_t));
        }
        break;
    default:
        wrote(effects, address, (argument(effects, 1) + 63) / 64 * 8);
        break;
    }
}

/* --- special ones ------------------------------------------------------------------------------
 */

/* Bytes that were read into a vector of buffers. */
static void scatter(const struct effects *effects, uint64_t vector, uint64_t count, uint64_t bytes)
{
    struct iovec buffer;
    for (uint64_t i = 0; i < count && i < VECTORS_MAX && bytes > 0; i++) {
        if (!load(effects, &buffer, vector + i * sizeof buffer, sizeof buffer))
            return;
        const uint64_t part = buffer.iov_len < bytes ? buffer.iov_len : bytes;
        wrote(effects, (uintptr_t)buffer.iov_base, part);
        bytes -= part;
    }
}

static bool read_vector(const struct effects *effects)
{
    scatter(effects, argument(effects, 2), argument(effects, 3), (uint64_t)effects->call->result);
    return true;
}

static void receive(const struct effects *effects, uint64_t address, uint64_t bytes)
{
    struct msghdr message;
    if (!load(effects, &message, address, sizeof message))
        return;
    scatter(effects, (uintptr_t)message.msg_iov, message.msg_iovlen, bytes);
    wrote(effects, (uintptr_t)message.msg_name, message.msg_name ? message.msg_namelen : 0);
    wrote(effects, (uintptr_t)message.msg_control, message.msg_controllen);
    wrote(effects, address + offsetof(struct msghdr, msg_namelen), sizeof message.msg_namelen);
    wrote(effects, address + offsetof(struct msghdr, msg_controllen),
          sizeof message.msg_controllen + sizeof message.msg_flags);
}

static bool receive_message(const struct effects *effects)
{
    receive(effects, argument(effects, 2), (uint64_t)effects->call->result);
    return true;
}

static bool receive_messages(const struct effects *effects)
{
    const uint64_t address = argument(effects, 2);
    for (uint64_t i = 0; i < (uint64_t)effects->call->result; i++) {
        const uint64_t at = address + i * sizeof(struct mmsghdr);
        struct mmsghdr message;
        if (!load(effects, &message, at, sizeof message))
            return true;
        receive(effects, at, message.msg_len);
        wrote(effects, at + offsetof(struct mmsghdr, msg_len), sizeof(unsigned));
    }
    wrote(effects, argument(effects, 5), sizeof(struct timespec)); /* the rest of the timeout */
    return true;
}

static bool poll_events(const struct effects *effects)
{
    for (uint64_t i = 0; i < argument(effects, 2); i++)
        wrote(effects,
              argument(effects, 1) + i * sizeof(struct pollfd) + offsetof(struct pollfd, revents),
              sizeof(short));
    return true;
}

static bool select_sets(const struct effects *effects)
{
    for (unsigned i = 2; i <= 4; i++)
        put_output(effects, &(struct output){.argument = (uint8_t)i, .rule = SIZE_BITS});
    wrote(effects, argument(effects, 5), sizeof(struct timespec));
    return true;
}

static bool control_device(const struct effects *effects)
{
    const uint64_t request = argument(effects, 2), address = argument(effects, 3);
    switch (request) {
    case TCGETS:
        wrote(effects, address, KERNEL_TERMIOS);
        return true;
    case TIOCGWINSZ:
        wrote(effects, address, sizeof(struct winsize));
        return true;
    case FIONREAD:
    case TIOCOUTQ:
    case TIOCGPGRP:
    case TIOCGSID:
    case TIOCMGET:
        wrote(effects, address, sizeof(int));
        return true;
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
    case TCSBRK:
    case TCFLSH:
    case TCXONC:
    case TIOCSWINSZ:
    case TIOCSPGRP:
    case TIOCSCTTY:
    case TIOCNOTTY:
    case FIONBIO:
    case FIOASYNC:
    case FIOCLEX:
    case FIONCLEX:
        return true;
    default: /* the number of newer requests tells direction and size */
        if (_IOC_DIR(request) & _IOC_READ)
            wrote(effects, address, _IOC_SIZE(request));
        return _IOC_DIR(request) != _IOC_NONE;
    }
}

static bool control_file(const struct effects *effects)
{
    const uint64_t command = argument(effects, 2);
    if (command == F_GETLK || command == F_OFD_GETLK)
        wrote(effects, argument(effects, 3), sizeof(struct flock));
    if (command == F_GETOWN_EX)
        wrote(effects, argument(effects, 3), sizeof(struct f_owner_ex));
    return true;
}

static bool control_process(const struct effects *effects)
{
    switch (argument(effects, 1)) {
    case PR_GET_NAME:
        wrote(effects, argument(effects, 2), 16);
        return true;
    case PR_GET_PDEATHSIG:
    case PR_GET_CHILD_SUBREAPER:
    case PR_GET_ENDIAN:
    case PR_GET_TSC:
        wrote(effects, argument(effects, 2), sizeof(int));
        return true;
    case PR_GET_TID_ADDRESS:
        wrote(effects, argument(effects, 2), sizeof(uint64_t));
        return true;
    default: /* others return what they get */
        return true;
    }
}

static bool control_thread(const struct effects *effects)
{
    if (argument(effects, 1) == ARCH_GET_FS || argument(effects, 1) == ARCH_GET_GS)
        wrote(effects, argument(effects, 2), sizeof(uint64_t));
    return true;
}

static bool wake_with_operation(const struct effects *effects)
{
    if ((argument(effects, 2) & FUTEX_CMD_MASK) == FUTEX_WAKE_OP)
        wrote(effects, argument(effects, 5), sizeof(uint32_t));
    return true;
}

static bool begin_thread(const struct effects *effects)
{
    if (argument(effects, 1) & CLONE_PARENT_SETTID)
        wrote(effects, argument(effects, 3), sizeof(int));
    return true;
}

static bool begin_thread_3(const struct effects *effects)
{
    uint64_t arguments[4]; /* the begin of struct clone_args */
    if (!load(effects, arguments, argument(effects, 1), sizeof arguments))
        return true;
    if (arguments[0] & CLONE_PARENT_SETTID)
        wrote(effects, arguments[3], sizeof(int));
    if (arguments[0] & CLONE_PIDFD)
        wrote(effects, arguments[1], sizeof(int));
    return true;
}

/* Without a child that has changed, WNOHANG writes nothing. */
static bool wait_child(const struct effects *effects)
{
    if (effects->call->result > 0) {
        wrote(effects, argument(effects, 2), sizeof(int));
        wrote(effects, argument(effects, 4), sizeof(struct rusage));
    }
    return true;
}

static bool map(const struct effects *effects)
{
    released(effects, (uint64_t)effects->call->result, argument(effects, 2));
    return true;
}

static bool unmap(const struct effects *effects)
{
    released(effects, argument(effects, 1), argument(effects, 2));
    return true;
}

static bool remap(const struct effects *effects)
{
    const uint64_t from = argument(effects, 1), to = (uint64_t)effects->call->result;
    const uint64_t before = argument(effects, 2), after = argument(effects, 3);
    if (to == from) {
        if (after < before)
            released(effects, from + after, before - after);
        return true;
    }
    released(effects, to, after);
    if (before > 0)
        effects->observer->move(effects->observer->context, from, to,
                                before < after ? before : after);
    released(effects, from, before); /* with MREMAP_DONTUNMAP it is there, but empty */
    return true;
}

static bool advise(const struct effects *effects)
{
    if (argument(effects, 3) == MADV_DONTNEED || argument(effects, 3) == MADV_REMOVE)
        released(effects, argument(effects, 1), argument(effects, 2));
    return true;
}

/* Entries of a folder have gaps after their names. */
static bool read_folder(const struct effects *effects)
{
    const uint64_t address = argument(effects, 2);
    const uint64_t end = address + (uint64_t)effects->call->result;
    struct dirent64 entry;
    for (uint64_t at = address; at < end; at += entry.d_reclen) {
        const size_t size = end - at < sizeof entry ? (size_t)(end - at) : sizeof entry;
        memset(&entry, 0, sizeof entry);
        if (!load(effects, &entry, at, size) || entry.d_reclen == 0)
            return true;
        wrote(effects, at,
              offsetof(struct dirent64, d_name) + strnlen(entry.d_name, sizeof entry.d_name) + 1);
    }
    return true;
}

static bool resident_pages(const struct effects *effects)
{
    wrote(effects, argument(effects, 3), (argument(effects, 2) + PAGE - 1) / PAGE);
    return true;
}

static bool receive_queued(const struct effects *effects)
{
    wrote(effects, argument(effects, 2), (uint64_t)effects->call->result + sizeof(long));
    return true;
}

static bool groups(const struct effects *effects)
{
    if (argument(effects, 1) > 0)
        wrote(effects, argument(effects, 2), (uint64_t)effects->call->result * sizeof(gid_t));
    return true;
}

static bool capabilities(const struct effects *effects)
{
    uint32_t version;
    if (load(effects, &version, argument(effects, 1), sizeof version))
        wrote(effects, argument(effects, 2), version == 0x19980330 ? 12 : 24); /* version 1 */
    return true;
}

/* --- the table ---------------------------------------------------------------------------------
 */

#define NOTHING                                                                                    \
    {                                                                                              \
        .is_known = true                                                                           \
    }
#define SPECIAL(function)                                                                          \
    {                                                                                              \
        .is_known = true, .special = (function)                                                    \
    }
#define BYTES(number, bytes)                                                                       \
    {                                                                                              \
        .argument = (number), .rule = SIZE_BYTES, .value = (bytes)                                 \
    }
#define RESULT(number, each)                                                                       \
    {                                                                                              \
        .argument = (number), .rule = SIZE_RESULT, .value = (each)                                 \
    }
#define LENGTH(number, length)                                                                     \
    {                                                                                              \
        .argument = (number), .rule = SIZE_ARGUMENT, .value = (length)                             \
    }
#define LENGTH_AT(number, pointer)                                                                 \
    {                                                                                              \
        .argument = (number), .rule = SIZE_LENGTH_AT, .value = (pointer)                           \
    }
#define WRITES(...)                                                                                \
    {                                                                                              \
        .is_known = true, .outputs = { __VA_ARGS__ }                                               \
    }
#define WRITES_INTERRUPTED(...)                                                                    \
    {                                                                                              \
        .is_known = true, .is_interrupted = true, .outputs = { __VA_ARGS__ }                       \
    }

static const struct effects_row rows[NUMBERS] = {
    /* files */
    [SYS_read] = WRITES(RESULT(2, 1)),
    [SYS_pread64] = WRITES(RESULT(2, 1)),
    [SYS_readv] = SPECIAL(read_vector),
    [SYS_preadv] = SPECIAL(read_vector),
    [SYS_preadv2] = SPECIAL(read_vector),
    [SYS_getdents] = WRITES(RESULT(2, 1)),
    [SYS_getdents64] = SPECIAL(read_folder),
    [SYS_getcwd] = WRITES(RESULT(1, 1)),
    [SYS_readlink] = WRITES(RESULT(2, 1)),
    [SYS_readlinkat] = WRITES(RESULT(3, 1)),
    [SYS_getxattr] = WRITES(RESULT(3, 1)),
    [SYS_lgetxattr] = WRITES(RESULT(3, 1)),
    [SYS_fgetxattr] = WRITES(RESULT(3, 1)),
    [SYS_listxattr] = WRITES(RESULT(2, 1)),
    [SYS_llistxattr] = WRITES(RESULT(2, 1)),
    [SYS_flistxattr] = WRITES(RESULT(2, 1)),
    [SYS_stat] = WRITES(BYTES(2, sizeof(struct stat))),
    [SYS_fstat] = WRITES(BYTES(2, sizeof(struct stat))),
    [SYS_lstat] = WRITES(BYTES(2, sizeof(struct stat))),
    [SYS_newfstatat] = WRITES(BYTES(3, sizeof(struct stat))),
    [SYS_statx] = WRITES(BYTES(5, 256)),
    [SYS_statfs] = WRITES(BYTES(2, sizeof(struct statfs))),
    [SYS_fstatfs] = WRITES(BYTES(2, sizeof(struct statfs))),
    [SYS_sendfile] = WRITES(BYTES(3, 8)),
    [SYS_splice] = WRITES(BYTES(2, 8), BYTES(4, 8)),
    [SYS_copy_file_range] = WRITES(BYTES(2, 8), BYTES(4, 8)),
    [SYS_pipe] = WRITES(BYTES(1, 8)),
    [SYS_pipe2] = WRITES(BYTES(1, 8)),
    [SYS_ioctl] = SPECIAL(control_device),
    [SYS_fcntl] = SPECIAL(control_file),
    [SYS_poll] = SPECIAL(poll_events),
    [SYS_ppoll] = SPECIAL(poll_events),
    [SYS_select] = SPECIAL(select_sets),
    [SYS_pselect6] = SPECIAL(select_sets),
    [SYS_epoll_wait] = WRITES(RESULT(2, sizeof(struct epoll_event))),
    [SYS_epoll_pwait] = WRITES(RESULT(2, sizeof(struct epoll_event))),
    [NUMBER_EPOLL_PWAIT2] = WRITES(RESULT(2, sizeof(struct epoll_event))),

    /* sockets and messages */
    [SYS_recvfrom] = WRITES(RESULT(2, 1), LENGTH_AT(5, 6)),
    [SYS_recvmsg] = SPECIAL(receive_message),
    [SYS_recvmmsg] = SPECIAL(receive_messages),
    [SYS_socketpair] = WRITES(BYTES(4, 8)),
    [SYS_accept] = WRITES(LENGTH_AT(2, 3)),
    [SYS_accept4] = WRITES(LENGTH_AT(2, 3)),
    [SYS_getsockname] = WRITES(LENGTH_AT(2, 3)),
    [SYS_getpeername] = WRITES(LENGTH_AT(2, 3)),
    [SYS_getsockopt] = WRITES(LENGTH_AT(4, 5)),
    [SYS_msgrcv] = SPECIAL(receive_queued),
    [SYS_mq_timedreceive] = WRITES(RESULT(2, 1), BYTES(4, 4)),

    /* memory */
    [SYS_mmap] = SPECIAL(map),
    [SYS_munmap] = SPECIAL(unmap),
    [SYS_mremap] = SPECIAL(remap),
    [SYS_madvise] = SPECIAL(advise),
    [SYS_mincore] = SPECIAL(resident_pages),

    /* time */
    [SYS_clock_gettime] = WRITES(BYTES(2, sizeof(struct timespec))),
    [SYS_clock_getres] = WRITES(BYTES(2, sizeof(struct timespec))),
    [SYS_gettimeofday] = WRITES(BYTES(1, sizeof(struct timeval)), BYTES(2, 8)),
    [SYS_time] = WRITES(BYTES(1, 8)),
    [SYS_times] = WRITES(BYTES(1, sizeof(struct tms))),
    [SYS_nanosleep] = WRITES_INTERRUPTED(BYTES(2, sizeof(struct timespec))),
    [SYS_clock_nanosleep] = WRITES_INTERRUPTED(BYTES(4, sizeof(struct timespec))),
    [SYS_getitimer] = WRITES(BYTES(2, 32)),
    [SYS_setitimer] = WRITES(BYTES(3, 32)),
    [SYS_timer_create] = WRITES(BYTES(3, 4)),
    [SYS_timer_gettime] = WRITES(BYTES(2, 32)),
    [SYS_timer_settime] = WRITES(BYTES(4, 32)),
    [SYS_timerfd_gettime] = WRITES(BYTES(2, 32)),
    [SYS_timerfd_settime] = WRITES(BYTES(4, 32)),

    /* processes, threads, signals */
    [SYS_wait4] = SPECIAL(wait_child),
    [SYS_waitid] = WRITES(BYTES(3, sizeof(siginfo_t)), BYTES(5, sizeof(struct rusage))),
    [SYS_getrusage] = WRITES(BYTES(2, sizeof(struct rusage))),
    [SYS_getrlimit] = WRITES(BYTES(2, sizeof(struct rlimit))),
    [SYS_prlimit64] = WRITES(BYTES(4, sizeof(struct rlimit))),
    [SYS_sysinfo] = WRITES(BYTES(1, sizeof(struct sysinfo))),
    [SYS_uname] = WRITES(BYTES(1, sizeof(struct utsname))),
    [SYS_getgroups] = SPECIAL(groups),
    [SYS_getresuid] = WRITES(BYTES(1, 4), BYTES(2, 4), BYTES(3, 4)),
    [SYS_getresgid] = WRITES(BYTES(1, 4), BYTES(2, 4), BYTES(3, 4)),
    [SYS_sched_getaffinity] = WRITES(RESULT(3, 1)),
    [SYS_sched_getparam] = WRITES(BYTES(2, 4)),
    [SYS_sched_getattr] = WRITES(LENGTH(2, 3)),
    [SYS_sched_rr_get_interval] = WRITES(BYTES(2, sizeof(struct timespec))),
    [SYS_getcpu] = WRITES(BYTES(1, 4), BYTES(2, 4)),
    [SYS_rt_sigaction] = WRITES(BYTES(3, KERNEL_SIGACTION)),
    [SYS_rt_sigprocmask] = WRITES(LENGTH(3, 4)),
    [SYS_rt_sigpending] = WRITES(LENGTH(1, 2)),
    [SYS_rt_sigtimedwait] = WRITES(BYTES(2, sizeof(siginfo_t))),
    [SYS_sigaltstack] = WRITES(BYTES(2, sizeof(stack_t))),
    [SYS_prctl] = SPECIAL(control_process),
    [SYS_arch_prctl] = SPECIAL(control_thread),
    [SYS_futex] = SPECIAL(wake_with_operation),
    [SYS_clone] = SPECIAL(begin_thread),
    [SYS_clone3] = SPECIAL(begin_thread_3),
    [SYS_capget] = SPECIAL(capabilities),
    [SYS_get_robust_list] = WRITES(BYTES(2, 8), BYTES(3, 8)),
    [SYS_getrandom] = WRITES(RESULT(1, 1)),
    [SYS_syslog] = WRITES(RESULT(2, 1)),

    /* calls that write nothing to the caller's memory */
    [SYS_write] = NOTHING,
    [SYS_pwrite64] = NOTHING,
    [SYS_writev] = NOTHING,
    [SYS_pwritev] = NOTHING,
    [SYS_pwritev2] = NOTHING,
    [SYS_open] = NOTHING,
    [SYS_openat] = NOTHING,
    [SYS_openat2] = NOTHING,
    [SYS_creat] = NOTHING,
    [SYS_close] = NOTHING,
    [NUMBER_CLOSE_RANGE] = NOTHING,
    [SYS_lseek] = NOTHING,
    [SYS_access] = NOTHING,
    [SYS_faccessat] = NOTHING,
    [NUMBER_FACCESSAT2] = NOTHING,
    [SYS_dup] = NOTHING,
    [SYS_dup2] = NOTHING,
    [SYS_dup3] = NOTHING,
    [SYS_flock] = NOTHING,
    [SYS_fsync] = NOTHING,
    [SYS_fdatasync] = NOTHING,
    [SYS_sync] = NOTHING,
    [SYS_syncfs] = NOTHING,
    [SYS_sync_file_range] = NOTHING,
    [SYS_truncate] = NOTHING,
    [SYS_ftruncate] = NOTHING,
    [SYS_fallocate] = NOTHING,
    [SYS_fadvise64] = NOTHING,
    [SYS_readahead] = NOTHING,
    [SYS_chdir] = NOTHING,
    [SYS_fchdir] = NOTHING,
    [SYS_chroot] = NOTHING,
    [SYS_rename] = NOTHING,
    [SYS_renameat] = NOTHING,
    [SYS_renameat2] = NOTHING,
    [SYS_mkdir] = NOTHING,
    [SYS_mkdirat] = NOTHING,
    [SYS_rmdir] = NOTHING,
    [SYS_link] = NOTHING,
    [SYS_linkat] = NOTHING,
    [SYS_symlink] = NOTHING,
    [SYS_symlinkat] = NOTHING,
    [SYS_unlink] = NOTHING,
    [SYS_unlinkat] = NOTHING,
    [SYS_mknod] = NOTHING,
    [SYS_mknodat] = NOTHING,
    [SYS_chmod] = NOTHING,
    [SYS_fchmod] = NOTHING,
    [SYS_fchmodat] = NOTHING,
    [SYS_chown] = NOTHING,
    [SYS_fchown] = NOTHING,
    [SYS_lchown] = NOTHING,
    [SYS_fchownat] = NOTHING,
    [SYS_umask] = NOTHING,
    [SYS_utime] = NOTHING,
    [SYS_utimes] = NOTHING,
    [SYS_futimesat] = NOTHING,
    [SYS_utimensat] = NOTHING,
    [SYS_setxattr] = NOTHING,
    [SYS_lsetxattr] = NOTHING,
    [SYS_fsetxattr] = NOTHING,
    [SYS_removexattr] = NOTHING,
    [SYS_lremovexattr] = NOTHING,
    [SYS_fremovexattr] = NOTHING,
    [SYS_tee] = NOTHING,
    [SYS_vmsplice] = NOTHING,
    [SYS_epoll_create] = NOTHING,
    [SYS_epoll_create1] = NOTHING,
    [SYS_epoll_ctl] = NOTHING,
    [SYS_eventfd] = NOTHING,
    [SYS_eventfd2] = NOTHING,
    [SYS_signalfd] = NOTHING,
    [SYS_signalfd4] = NOTHING,
    [SYS_timerfd_create] = NOTHING,
    [SYS_inotify_init] = NOTHING,
    [SYS_inotify_init1] = NOTHING,
    [SYS_inotify_add_watch] = NOTHING,
    [SYS_inotify_rm_watch] = NOTHING,
    [SYS_memfd_create] = NOTHING,
    [SYS_socket] = NOTHING,
    [SYS_connect] = NOTHING,
    [SYS_bind] = NOTHING,
    [SYS_listen] = NOTHING,
    [SYS_shutdown] = NOTHING,
    [SYS_sendto] = NOTHING,
    [SYS_sendmsg] = NOTHING,
    [SYS_setsockopt] = NOTHING,
    [SYS_msgget] = NOTHING,
    [SYS_msgsnd] = NOTHING,
    [SYS_semget] = NOTHING,
    [SYS_semop] = NOTHING,
    [SYS_semtimedop] = NOTHING,
    [SYS_shmget] = NOTHING,
    [SYS_mq_open] = NOTHING,
    [SYS_mq_unlink] = NOTHING,
    [SYS_mq_timedsend] = NOTHING,
    [SYS_brk] = NOTHING,
    [SYS_mprotect] = NOTHING,
    [SYS_pkey_mprotect] = NOTHING,
    [SYS_msync] = NOTHING,
    [SYS_mlock] = NOTHING,
    [SYS_mlock2] = NOTHING,
    [SYS_munlock] = NOTHING,
    [SYS_mlockall] = NOTHING,
    [SYS_munlockall] = NOTHING,
    [SYS_membarrier] = NOTHING,
    [SYS_getpid] = NOTHING,
    [SYS_getppid] = NOTHING,
    [SYS_gettid] = NOTHING,
    [SYS_getpgid] = NOTHING,
    [SYS_getpgrp] = NOTHING,
    [SYS_setpgid] = NOTHING,
    [SYS_getsid] = NOTHING,
    [SYS_setsid] = NOTHING,
    [SYS_getuid] = NOTHING,
    [SYS_geteuid] = NOTHING,
    [SYS_getgid] = NOTHING,
    [SYS_getegid] = NOTHING,
    [SYS_setuid] = NOTHING,
    [SYS_setgid] = NOTHING,
    [SYS_setreuid] = NOTHING,
    [SYS_setregid] = NOTHING,
    [SYS_setresuid] = NOTHING,
    [SYS_setresgid] = NOTHING,
    [SYS_setgroups] = NOTHING,
    [SYS_setfsuid] = NOTHING,
    [SYS_setfsgid] = NOTHING,
    [SYS_capset] = NOTHING,
    [SYS_getpriority] = NOTHING,
    [SYS_setpriority] = NOTHING,
    [SYS_setrlimit] = NOTHING,
    [SYS_sched_yield] = NOTHING,
    [SYS_sched_setaffinity] = NOTHING,
    [SYS_sched_setparam] = NOTHING,
    [SYS_sched_setscheduler] = NOTHING,
    [SYS_sched_getscheduler] = NOTHING,
    [SYS_sched_setattr] = NOTHING,
    [SYS_sched_get_priority_max] = NOTHING,
    [SYS_sched_get_priority_min] = NOTHING,
    [SYS_set_tid_address] = NOTHING,
    [SYS_set_robust_list] = NOTHING,
    [SYS_kill] = NOTHING,
    [SYS_tkill] = NOTHING,
    [SYS_tgkill] = NOTHING,
    [SYS_rt_sigqueueinfo] = NOTHING,
    [SYS_rt_tgsigqueueinfo] = NOTHING,
    [SYS_rt_sigsuspend] = NOTHING,
    [SYS_pause] = NOTHING,
    [SYS_alarm] = NOTHING,
    [SYS_timer_delete] = NOTHING,
    [SYS_timer_getoverrun] = NOTHING,
    [SYS_clock_settime] = NOTHING,
    [SYS_fork] = NOTHING,
    [SYS_vfork] = NOTHING,
    [SYS_execve] = NOTHING,
    [SYS_execveat] = NOTHING,
    [SYS_exit] = NOTHING,
    [SYS_exit_group] = NOTHING,
    [SYS_restart_syscall] = NOTHING,
    [NUMBER_PIDFD_OPEN] = NOTHING,
};

bool system_call_effects(const struct system_call *call,
                         const struct system_call_observer *observer)
{
    const struct effects effects = {.call = call, .observer = observer};
    const struct effects_row *row = call->number < NUMBERS ? &rows[call->number] : NULL;
    const bool is_error = call->result < 0 && call->result >= -4095;
    if (is_error && !(row && row->is_interrupted && call->result == -EINTR))
        return true; /* calls that fail write nothing, unless the table says so */
    if (!row || !row->is_known)
        return false;
    for (unsigned i = 0; i < OUTPUTS; i++)
        if (row->outputs[i].rule != SIZE_NONE)
            put_output(&effects, &row->outputs[i]);
    return !row->special || row->special(&effects);
}
