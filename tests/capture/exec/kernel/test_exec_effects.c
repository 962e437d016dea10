/*
 * What system calls write, compared with what the kernel writes: each call is made twice, on memory
 * that is filled with zeros and with ones. Bytes that differ from their filling were written.
 */
#define _GNU_SOURCE /* pipe2, struct mmsghdr */
#include "capture/exec/kernel/system_call_effects.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES 8192u

struct ground {
    uint8_t *memory;     /* BYTES, which the calls write to */
    bool given[BYTES];   /* input: the kernel may write the same value */
    bool written[BYTES]; /* by the kernel */
    bool told[BYTES];    /* by the effects */
    unsigned elsewhere;  /* effects outside of the memory */
    uint64_t released, released_size;
    uint64_t from, to, moved;
    int file; /* a regular file with some text */
    int pipe[2], sockets[2], poll;
};

static uint64_t at(const struct ground *ground, unsigned offset)
{
    return (uintptr_t)ground->memory + offset;
}

static void give(struct ground *ground, unsigned offset, const void *bytes, size_t size)
{
    memcpy(ground->memory + offset, bytes, size);
    memset(ground->given + offset, true, size);
}

static void note(void *context, enum system_call_effect effect, uint64_t address, uint64_t size)
{
    struct ground *ground = context;
    if (effect == SYSTEM_CALL_RELEASED) {
        ground->released = address;
        ground->released_size = size;
        return;
    }
    for (uint64_t i = 0; i < size; i++) {
        if (address + i - at(ground, 0) < BYTES)
            ground->told[address + i - at(ground, 0)] = true;
        else
            ground->elsewhere++;
    }
}

static void note_move(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    struct ground *ground = context;
    ground->from = from;
    ground->to = to;
    ground->moved = size;
}

static int copy(void *context, void *bytes, uint64_t address, size_t size)
{
    (void)context;
    memcpy(bytes, (const void *)(uintptr_t)address, size);
    return 0;
}

#define OBSERVER(ground_)                                                                          \
    ((struct system_call_observer){                                                                \
        .put = note, .move = note_move, .read = copy, .context = (ground_)})

/* Prepares memory and descriptors, and returns the call. */
typedef struct system_call prepare_function(struct ground *ground);

static void fill(struct ground *ground, uint8_t value)
{
    char text[100];
    memset(ground->memory, value, BYTES);
    memset(ground->given, false, sizeof ground->given);
    /* the same state for both calls */
    CU_ASSERT_FATAL(lseek(ground->file, 0, SEEK_SET) == 0);
    while (recv(ground->sockets[0], text, sizeof text, MSG_DONTWAIT) > 0)
        continue;
    CU_ASSERT_FATAL(send(ground->sockets[1], "message", 7, 0) == 7);
}

static void make(struct ground *ground, prepare_function *prepare, uint8_t value, int64_t *result)
{
    fill(ground, value);
    struct system_call call = prepare(ground);
    uint8_t before[BYTES];
    memcpy(before, ground->memory, BYTES);
    const uint64_t *a = call.arguments;
    call.result = syscall((long)call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (call.result < 0)
        call.result = -errno;
    for (unsigned i = 0; i < BYTES; i++)
        ground->written[i] |= ground->memory[i] != before[i];
    CU_ASSERT(system_call_effects(&call, &OBSERVER(ground)));
    *result = call.result;
}

static void check(struct ground *ground, const char *name, prepare_function *prepare)
{
    int64_t result;
    unsigned missing = 0, wrong = 0;
    memset(ground->written, 0, sizeof ground->written);
    memset(ground->told, 0, sizeof ground->told);
    ground->elsewhere = 0;
    /* a random byte may be what was there before: not four times */
    static const uint8_t before[] = {0, 0xff, 0x55, 0xaa};
    for (unsigned i = 0; i < sizeof before; i++)
        make(ground, prepare, before[i], &result);
    for (unsigned i = 0; i < BYTES; i++) {
        missing += ground->written[i] && !ground->told[i];
        wrong += ground->told[i] && !ground->written[i] && !ground->given[i];
    }
    if (missing || wrong || ground->elsewhere || result < 0) {
        fprintf(stderr, "%s = %lld: %u bytes missing, %u not written, %u elsewhere\n", name,
                (long long)result, missing, wrong, ground->elsewhere);
        CU_FAIL("effects differ from what the kernel writes");
    }
}

#define CALL(number_, ...) ((struct system_call){.number = (number_), .arguments = {__VA_ARGS__}})
#define PREPARE(name)      static struct system_call name(struct ground *g)

PREPARE(do_read)
{
    return CALL(SYS_read, (uint64_t)g->file, at(g, 64), 100);
}
PREPARE(do_pread)
{
    return CALL(SYS_pread64, (uint64_t)g->file, at(g, 64), 5, 3);
}
PREPARE(do_fstat)
{
    return CALL(SYS_fstat, (uint64_t)g->file, at(g, 64));
}
PREPARE(do_statx)
{
    return CALL(SYS_statx, (uint64_t)g->file, (uintptr_t) "", AT_EMPTY_PATH, 0xfff, at(g, 64));
}
PREPARE(do_fstatfs)
{
    return CALL(SYS_fstatfs, (uint64_t)g->file, at(g, 64));
}
PREPARE(do_getcwd)
{
    return CALL(SYS_getcwd, at(g, 64), 4000);
}
PREPARE(do_readlink)
{
    return CALL(SYS_readlink, (uintptr_t) "/proc/self/exe", at(g, 64), 4000);
}
PREPARE(do_fcntl)
{
    const struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    give(g, 64, &lock, sizeof lock);
    return CALL(SYS_fcntl, (uint64_t)g->file, F_GETLK, at(g, 64));
}
PREPARE(do_fionread)
{
    return CALL(SYS_ioctl, (uint64_t)g->sockets[0], FIONREAD, at(g, 64));
}
PREPARE(do_readv)
{
    const struct iovec parts[] = {{.iov_base = g->memory + 100, .iov_len = 3},
                                  {.iov_base = g->memory + 200, .iov_len = 100}};
    give(g, 0, parts, sizeof parts);
    return CALL(SYS_readv, (uint64_t)g->file, at(g, 0), 2);
}
PREPARE(do_recvmsg)
{
    const struct iovec part = {.iov_base = g->memory + 200, .iov_len = 4};
    const struct msghdr message = {.msg_iov = (struct iovec *)(void *)g->memory, .msg_iovlen = 1};
    give(g, 0, &part, sizeof part);
    give(g, 64, &message, sizeof message);
    return CALL(SYS_recvmsg, (uint64_t)g->sockets[0], at(g, 64));
}
PREPARE(do_recvfrom)
{
    const uint32_t length = 110;
    give(g, 0, &length, sizeof length);
    return CALL(SYS_recvfrom, (uint64_t)g->sockets[0], at(g, 64), 100, 0, at(g, 300), at(g, 0));
}
PREPARE(do_getsockname)
{
    const uint32_t length = 110;
    give(g, 0, &length, sizeof length);
    return CALL(SYS_getsockname, (uint64_t)g->sockets[0], at(g, 300), at(g, 0));
}
PREPARE(do_getsockopt)
{
    const uint32_t length = 4;
    give(g, 0, &length, sizeof length);
    return CALL(SYS_getsockopt, (uint64_t)g->sockets[0], SOL_SOCKET, SO_TYPE, at(g, 300), at(g, 0));
}
PREPARE(do_poll)
{
    const struct pollfd polled[] = {{.fd = g->sockets[0], .events = POLLIN},
                                    {.fd = g->pipe[0], .events = POLLIN}};
    give(g, 64, polled, sizeof polled);
    return CALL(SYS_poll, at(g, 64), 2, 0);
}
PREPARE(do_select)
{
    fd_set set;
    struct timeval none = {0, 0};
    FD_ZERO(&set);
    FD_SET(g->sockets[0], &set);
    give(g, 64, &set, sizeof set);
    give(g, 512, &none, sizeof none);
    return CALL(SYS_select, (uint64_t)g->sockets[0] + 1, at(g, 64), 0, 0, at(g, 512));
}
PREPARE(do_epoll)
{
    return CALL(SYS_epoll_wait, (uint64_t)g->poll, at(g, 64), 10, 0);
}
PREPARE(do_clock)
{
    return CALL(SYS_clock_gettime, CLOCK_REALTIME, at(g, 64));
}
PREPARE(do_gettimeofday)
{
    return CALL(SYS_gettimeofday, at(g, 64), at(g, 128));
}
PREPARE(do_getitimer)
{
    return CALL(SYS_getitimer, 0, at(g, 64));
}
PREPARE(do_uname)
{
    return CALL(SYS_uname, at(g, 64));
}
PREPARE(do_sysinfo)
{
    return CALL(SYS_sysinfo, at(g, 64));
}
PREPARE(do_rusage)
{
    return CALL(SYS_getrusage, 0, at(g, 64));
}
PREPARE(do_rlimit)
{
    return CALL(SYS_prlimit64, 0, 7, 0, at(g, 64));
}
PREPARE(do_getresuid)
{
    return CALL(SYS_getresuid, at(g, 64), at(g, 72), at(g, 80));
}
PREPARE(do_random)
{
    return CALL(SYS_getrandom, at(g, 64), 256);
}
PREPARE(do_affinity)
{
    return CALL(SYS_sched_getaffinity, 0, 512, at(g, 64));
}
PREPARE(do_getcpu)
{
    return CALL(SYS_getcpu, at(g, 64), at(g, 72));
}
PREPARE(do_sigaction)
{
    return CALL(SYS_rt_sigaction, SIGUSR1, 0, at(g, 64), 8);
}
PREPARE(do_sigprocmask)
{
    return CALL(SYS_rt_sigprocmask, SIG_BLOCK, 0, at(g, 64), 8);
}
PREPARE(do_sigaltstack)
{
    return CALL(SYS_sigaltstack, 0, at(g, 64));
}
PREPARE(do_wait_nothing)
{
    return CALL(SYS_wait4, UINT64_MAX, at(g, 64), WNOHANG, at(g, 128));
}
PREPARE(do_failing)
{
    return CALL(SYS_read, (uint64_t)g->file, at(g, 64), 0);
}
PREPARE(do_write)
{
    return CALL(SYS_write, (uint64_t)g->pipe[1], at(g, 64), 1);
}
PREPARE(do_getdents)
{
    return CALL(SYS_getdents64, (uint64_t)open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                at(g, 64), 4000);
}

static void begin(struct ground *ground)
{
    char path[] = "/tmp/effects.XXXXXX";
    struct epoll_event event = {.events = EPOLLIN};
    memset(ground, 0, sizeof *ground);
    ground->memory = aligned_alloc(64, BYTES);
    ground->file = mkstemp(path);
    CU_ASSERT_FATAL(ground->memory && ground->file >= 0 && unlink(path) == 0);
    CU_ASSERT_FATAL(write(ground->file, "some text of a file", 19) == 19);
    CU_ASSERT_FATAL(pipe2(ground->pipe, O_CLOEXEC) == 0);
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, ground->sockets) == 0);
    ground->poll = epoll_create1(EPOLL_CLOEXEC);
    CU_ASSERT_FATAL(epoll_ctl(ground->poll, EPOLL_CTL_ADD, ground->sockets[0], &event) == 0);
}

static void end(struct ground *ground)
{
    close(ground->file);
    close(ground->pipe[0]);
    close(ground->pipe[1]);
    close(ground->sockets[0]);
    close(ground->sockets[1]);
    close(ground->poll);
    free(ground->memory);
}

static void test_what_the_kernel_writes(void)
{
    static const struct {
        const char *name;
        prepare_function *prepare;
    } calls[] = {{"read", do_read},
                 {"pread64", do_pread},
                 {"readv", do_readv},
                 {"fstat", do_fstat},
                 {"statx", do_statx},
                 {"fstatfs", do_fstatfs},
                 {"getcwd", do_getcwd},
                 {"readlink", do_readlink},
                 {"fcntl", do_fcntl},
                 {"ioctl", do_fionread},
                 {"recvmsg", do_recvmsg},
                 {"recvfrom", do_recvfrom},
                 {"getsockname", do_getsockname},
                 {"getsockopt", do_getsockopt},
                 {"poll", do_poll},
                 {"select", do_select},
                 {"epoll_wait", do_epoll},
                 {"clock_gettime", do_clock},
                 {"gettimeofday", do_gettimeofday},
                 {"getitimer", do_getitimer},
                 {"uname", do_uname},
                 {"sysinfo", do_sysinfo},
                 {"getrusage", do_rusage},
                 {"prlimit64", do_rlimit},
                 {"getresuid", do_getresuid},
                 {"getrandom", do_random},
                 {"sched_getaffinity", do_affinity},
                 {"getcpu", do_getcpu},
                 {"rt_sigaction", do_sigaction},
                 {"rt_sigprocmask", do_sigprocmask},
                 {"sigaltstack", do_sigaltstack},
                 {"read of nothing", do_failing},
                 {"write", do_write},
                 {"getdents64", do_getdents}};
    struct ground ground;
    begin(&ground);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        check(&ground, calls[i].name, calls[i].prepare);
    end(&ground);
}

/* Of a child that has not ended, of one that has, and of none. */
static void test_children(void)
{
    struct ground ground;
    int64_t result;
    begin(&ground);
    int end_it[2];
    CU_ASSERT_FATAL(pipe2(end_it, O_CLOEXEC) == 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        close(end_it[1]);
        _exit(read(end_it[0], &byte, 1) == 1);
    }
    check(&ground, "wait4", do_wait_nothing);
    close(end_it[0]);
    close(end_it[1]);
    siginfo_t information;
    CU_ASSERT(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT) == 0);
    memset(ground.told, 0, sizeof ground.told);
    make(&ground, do_wait_nothing, 0xff, &result);
    CU_ASSERT_EQUAL(result, child);
    CU_ASSERT(ground.told[64] && ground.told[67] && !ground.told[68] && ground.told[128]);
    memset(ground.told, 0, sizeof ground.told);
    make(&ground, do_wait_nothing, 0xff, &result);
    CU_ASSERT_EQUAL(result, -ECHILD);
    CU_ASSERT(!ground.told[64]);
    end(&ground);
}

static void test_memory(void)
{
    struct ground ground;
    begin(&ground);
    struct system_call call = CALL(SYS_munmap, 0x10000, 100);
    CU_ASSERT(system_call_effects(&call, &OBSERVER(&ground)));
    CU_ASSERT(ground.released == 0x10000 && ground.released_size == 4096);
    call = CALL(SYS_mmap, 0, 8192);
    call.result = 0x40000;
    CU_ASSERT(system_call_effects(&call, &OBSERVER(&ground)));
    CU_ASSERT(ground.released == 0x40000 && ground.released_size == 8192);
    call = CALL(SYS_mremap, 0x20000, 8192, 4096);
    call.result = 0x20000;
    CU_ASSERT(system_call_effects(&call, &OBSERVER(&ground)));
    CU_ASSERT(ground.released == 0x21000 && ground.released_size == 4096);
    call.result = 0x50000;
    ground.elsewhere = 0;
    CU_ASSERT(system_call_effects(&call, &OBSERVER(&ground)));
    CU_ASSERT(ground.released == 0x20000 && ground.released_size == 8192);
    CU_ASSERT_EQUAL(ground.elsewhere, 0);
    CU_ASSERT(ground.from == 0x20000 && ground.to == 0x50000 && ground.moved == 4096);
    call = CALL(SYS_madvise, 0x30000, 4096, MADV_DONTNEED);
    CU_ASSERT(system_call_effects(&call, &OBSERVER(&ground)));
    CU_ASSERT(ground.released == 0x30000 && ground.released_size == 4096);
    end(&ground);
}

static int refuse(void *context, void *bytes, uint64_t address, size_t size)
{
    (void)context;
    (void)bytes;
    (void)address;
    (void)size;
    return -EFAULT;
}

/* Memory that another thread has unmapped since: no effect is reported, and nothing is read. */
static void test_lost_memory(void)
{
    static const uint64_t numbers[] = {SYS_readv,      SYS_recvmsg, SYS_recvmmsg, SYS_getsockname,
                                       SYS_getdents64, SYS_clone3,  SYS_capget};
    struct ground ground;
    begin(&ground);
    const struct system_call_observer observer = {.put = note, .read = refuse, .context = &ground};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct system_call call = CALL(numbers[i], 16, 16, 16, 0, 0, 0);
        call.result = 2;
        CU_ASSERT(system_call_effects(&call, &observer));
    }
    CU_ASSERT_EQUAL(ground.elsewhere, 0);
    end(&ground);
}

static void test_unknown_calls(void)
{
    struct ground ground;
    begin(&ground);
    struct system_call call = CALL(SYS_bpf, 0, at(&ground, 0), 100);
    CU_ASSERT(!system_call_effects(&call, &OBSERVER(&ground)));
    call.result = -EPERM;
    CU_ASSERT(system_call_effects(&call, &OBSERVER(&ground)));
    call = CALL(100000, 0);
    CU_ASSERT(!system_call_effects(&call, &OBSERVER(&ground)));
    call = CALL(SYS_ioctl, 0, 0x1234, at(&ground, 0)); /* an old number, without a direction */
    CU_ASSERT(!system_call_effects(&call, &OBSERVER(&ground)));
    CU_ASSERT(memchr(ground.told, 1, BYTES) == NULL);
    end(&ground);
}

static const struct test_case cases[] = {{"what the kernel writes", test_what_the_kernel_writes},
                                         {"children", test_children},
                                         {"memory", test_memory},
                                         {"lost memory", test_lost_memory},
                                         {"unknown calls", test_unknown_calls},
                                         {NULL, NULL}};
TEST_SUITE(exec_effects, cases)
