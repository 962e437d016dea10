/*
 * Tests emulated system calls (capture/exec/kernel/system_call.h) one by one, without a program,
 * where running real programs (exec_dispatch) does not cover them.
 */
#define _GNU_SOURCE /* memfd_create, close_range's flags */
#include "capture/exec/kernel/system_call.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/memory/space_text.h"
#include "tests/e2e/exec_go.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition) && failures++ < 20)                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
    } while (0)

static struct space *space;
static struct system_calls *calls;
static uint64_t page; /* two of the program's pages, readable and writable */
static uint64_t invalid_pages;

static enum system_call_outcome outcome_of(struct system_call *call)
{
    return system_call_do(calls, call);
}

/* The result of a call that returns at once. */
static int64_t result_of(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct system_call call = {.number = number, .arguments = {a, b, c, d, (uint64_t)-1, 0}};
    CHECK(outcome_of(&call) == SYSTEM_CALL_DONE);
    return call.result;
}

static uint64_t put(const char *string)
{
    strcpy((char *)(uintptr_t)page, string);
    return page;
}

static void test_outcomes(void)
{
    static const struct {
        uint64_t number;
        enum system_call_outcome outcome;
    } wanted[] = {
        {SYS_exit, SYSTEM_CALL_EXIT},           {SYS_exit_group, SYSTEM_CALL_EXIT_GROUP},
        {SYS_clone, SYSTEM_CALL_CLONE},         {SYS_clone3, SYSTEM_CALL_CLONE},
        {SYS_fork, SYSTEM_CALL_CLONE},          {SYS_vfork, SYSTEM_CALL_CLONE},
        {SYS_execve, SYSTEM_CALL_EXECUTE},      {SYS_execveat, SYSTEM_CALL_EXECUTE},
        {SYS_rt_sigaction, SYSTEM_CALL_SIGNAL}, {SYS_rt_sigprocmask, SYSTEM_CALL_SIGNAL},
        {SYS_rt_sigreturn, SYSTEM_CALL_SIGNAL}, {SYS_rt_sigsuspend, SYSTEM_CALL_SIGNAL},
        {SYS_sigaltstack, SYSTEM_CALL_SIGNAL},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct system_call call = {.number = wanted[i].number};
        CHECK(outcome_of(&call) == wanted[i].outcome);
    }
    CHECK(result_of(SYS_rseq, 0, 0, 0, 0) == -ENOSYS);
    CHECK(result_of(SYS_ptrace, 0, 0, 0, 0) == -EPERM);
    CHECK(result_of(SYS_seccomp, 0, 0, 0, 0) == -ENOSYS);
    CHECK(result_of(SYS_pkey_alloc, 0, 0, 0, 0) == -ENOSPC);
    CHECK(result_of(462, page, 4096, 0, 0) == -ENOSYS); /* mseal */
    CHECK(result_of(5000, 0, 0, 0, 0) == -ENOSYS);
    CHECK(result_of(UINT64_MAX, 0, 0, 0, 0) == -ENOSYS);
    CHECK(result_of(0x40000000 + SYS_getpid, 0, 0, 0, 0) == -ENOSYS);
    CHECK(result_of(SYS_getpid, 0, 0, 0, 0) == getpid());
    CHECK(result_of(SYS_lseek, 99999, 0, 0, 0) == -EBADF);
}

static void test_registers(void)
{
    uint64_t stored = 1;
    struct system_call call = {.number = SYS_arch_prctl, .arguments = {ARCH_SET_FS, 0x12345000}};
    CHECK(outcome_of(&call) == SYSTEM_CALL_DONE && call.result == 0 && call.fs_base == 0x12345000);
    call.arguments[0] = ARCH_GET_FS;
    call.arguments[1] = page;
    CHECK(outcome_of(&call) == SYSTEM_CALL_DONE && call.result == 0);
    CHECK(program_read(space, &stored, page, 8) == 0 && stored == 0x12345000);
    call.arguments[1] = 8;
    CHECK(outcome_of(&call) == SYSTEM_CALL_DONE && call.result == -EFAULT);
    call.arguments[0] = ARCH_SET_FS;
    call.arguments[1] = (uint64_t)1 << 47;
    CHECK(outcome_of(&call) == SYSTEM_CALL_DONE && call.result == -EPERM);
    CHECK(call.fs_base == 0x12345000);
    call.arguments[0] = ARCH_SET_GS;
    call.arguments[1] = 0x1000;
    CHECK(outcome_of(&call) == SYSTEM_CALL_UNABLE && call.why);
    CHECK(result_of(SYS_arch_prctl, 0x5001, 1, 0, 0) == -EINVAL); /* a shadow stack */
    CHECK(result_of(SYS_prctl, PR_SET_SECCOMP, 2, page, 0) == -EINVAL);
    CHECK(result_of(SYS_prctl, PR_SET_MM, PR_SET_MM_BRK, page, 0) == -EPERM);
    CHECK(result_of(SYS_prctl, PR_SET_NAME, put("a name"), 0, 0) == 0);
    CHECK(result_of(SYS_prctl, PR_GET_NAME, page + 100, 0, 0) == 0);
    CHECK(strcmp((char *)(uintptr_t)(page + 100), "a name") == 0);
}

static void test_space(void)
{
    uint64_t mine = (uint64_t)(uintptr_t)&space & ~(uint64_t)4095;
    CHECK(result_of(SYS_mlock, mine, 4096, 0, 0) == -ENOMEM);
    CHECK(result_of(SYS_mincore, mine, 4096, page, 0) == -ENOMEM);
    CHECK(result_of(SYS_mincore, page, 8192, page, 0) == 0);
    CHECK(result_of(SYS_munmap, mine, 4096, 0, 0) == 0 && space);
    struct system_call map = {.number = SYS_mmap,
                              .arguments = {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX}};
    CHECK(outcome_of(&map) == SYSTEM_CALL_DONE && map.result > 0 &&
          map.result < (int64_t)SPACE_END);
    uint64_t at = (uint64_t)map.result;
    CHECK(result_of(SYS_mprotect, at, 4096, PROT_READ, 0) == 0);
    CHECK(!space_allows(space, at, 4096, PROT_WRITE));
    CHECK(result_of(SYS_pkey_mprotect, at, 4096, PROT_READ, UINT64_MAX) == 0);
    CHECK(result_of(SYS_pkey_mprotect, at, 4096, PROT_READ, 1) == -EINVAL);
    CHECK(result_of(SYS_madvise, at, 4096, MADV_DONTNEED, 0) == 0);
    int64_t moved = result_of(SYS_mremap, at, 4096, 1 << 20, MREMAP_MAYMOVE);
    CHECK(moved > 0 && moved < (int64_t)SPACE_END && space_allows(space, (uint64_t)moved, 1, 0));
    CHECK(result_of(SYS_munmap, (uint64_t)moved, 1 << 20, 0, 0) == 0);
    int64_t end = result_of(SYS_brk, 0, 0, 0, 0);
    CHECK(result_of(SYS_brk, (uint64_t)end + 5, 0, 0, 0) == end + 5);
    CHECK(result_of(SYS_brk, (uint64_t)end - 8192, 0, 0, 0) == end + 5);
}

static void test_paths(const char *program)
{
    struct stat own;
    struct stat wanted;
    char path[100];
    CHECK(stat(program, &wanted) == 0);
    uint64_t exe = put("/proc/self/exe");
    CHECK(result_of(SYS_readlink, exe, page + 1000, 4096, 0) == (int64_t)strlen(program));
    CHECK(memcmp((char *)(uintptr_t)(page + 1000), program, strlen(program)) == 0);
    CHECK(result_of(SYS_readlink, exe, page + 1000, 3, 0) == 3);
    CHECK(result_of(SYS_readlink, exe, page + 1000, 0, 0) == -EINVAL);
    CHECK(result_of(SYS_readlink, exe, 16, 4096, 0) == -EFAULT);
    CHECK(result_of(SYS_readlink, 16, page, 4096, 0) == -EFAULT);
    CHECK(result_of(SYS_readlinkat, (uint64_t)AT_FDCWD, exe, page + 1000, 4096) ==
          (int64_t)strlen(program));
    CHECK(result_of(SYS_stat, exe, page + 1000, 0, 0) == 0);
    memcpy(&own, (void *)(uintptr_t)(page + 1000), sizeof own);
    CHECK(own.st_ino == wanted.st_ino);
    CHECK(result_of(SYS_newfstatat, (uint64_t)AT_FDCWD, exe, page + 1000, 0) == 0);
    memcpy(&own, (void *)(uintptr_t)(page + 1000), sizeof own);
    CHECK(own.st_ino == wanted.st_ino);
    CHECK(result_of(SYS_newfstatat, (uint64_t)AT_FDCWD, exe, page + 1000, AT_SYMLINK_NOFOLLOW) ==
          0);
    memcpy(&own, (void *)(uintptr_t)(page + 1000), sizeof own);
    CHECK(S_ISLNK(own.st_mode));
    CHECK(system_calls_own_path(calls, exe) && !system_calls_own_path(calls, page + 1));
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)getpid());
    CHECK(system_calls_own_path(calls, put(path)) != NULL);
    CHECK(!system_calls_own_path(calls, put("/proc/1/exe")));
    CHECK(!system_calls_own_path(calls, put("/proc/self/exe2")));
    /* at the very end of the readable memory */
    strcpy((char *)(uintptr_t)(page + 8192 - 15), "/proc/self/exe");
    CHECK(system_calls_own_path(calls, page + 8192 - 15) != NULL);
    memcpy((char *)(uintptr_t)(page + 8192 - 14), "/proc/self/exe", 14);
    CHECK(!system_calls_own_path(calls, page + 8192 - 14));
    int64_t lowest = dup(0);
    close((int)lowest);
    int64_t file = result_of(SYS_open, put("/proc/self/maps"), O_RDONLY | O_CLOEXEC, 0, 0);
    CHECK(file == lowest && fcntl((int)file, F_GETFD) == FD_CLOEXEC);
    CHECK(read((int)file, path, 9) == 9 && path[8] == '-'); /* exactly eight digits */
    close((int)file);
    int64_t opened = open("/proc/self/maps", O_WRONLY); /* allowed for root */
    opened = opened < 0 ? -errno : close((int)opened);
    file = result_of(SYS_open, page, O_WRONLY, 0, 0);
    CHECK(opened < 0 ? file == opened : file >= 0 && close((int)file) == 0);
}

static void test_descriptors(void)
{
    int own = open("/dev/null", O_RDONLY);
    CHECK(dup2(own, 100) == 100 && dup2(own, 103) == 103);
    close(own);
    CHECK(system_calls_hide(calls, 103, NULL) == 0 && system_calls_hide(calls, 100, NULL) == 0);
    CHECK(result_of(SYS_close, 100, 0, 0, 0) == -EBADF);
    CHECK(result_of(SYS_dup2, 0, 103, 0, 0) == -EBADF);
    CHECK(result_of(SYS_dup3, 103, 50, 0, 0) == -EBADF);
    for (uint64_t i = 98; i < 107; i++)
        CHECK(i == 100 || i == 103 || result_of(SYS_dup2, 0, i, 0, 0) == (int64_t)i);
    CHECK(result_of(SYS_close_range, 99, 105, 0, 0) == 0);
    for (int i = 98; i < 107; i++)
        CHECK((fcntl(i, F_GETFD) >= 0) == (i == 98 || i == 100 || i == 103 || i == 106));
    CHECK(result_of(SYS_close_range, 103, 103, 0, 0) == 0 && fcntl(103, F_GETFD) >= 0);
    CHECK(result_of(SYS_close_range, 98, UINT32_MAX, 0, 0) == 0 && fcntl(106, F_GETFD) < 0);
    CHECK(result_of(SYS_close_range, 5, 4, 0, 0) == -EINVAL);
}

static void on_change(void *user, uint64_t start, uint64_t end)
{
    (void)user;
    invalid_pages += (end - start) / SPACE_PAGE;
}

/* The kernel's writes for the program must not fail because of our write protection. */
static void test_watched(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    int64_t code = space_mmap(space, 0, 8192, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t at = (uint64_t)code;
    space_set_listener(space, on_change, NULL);
    CHECK(space_watch(space, at, at + 8192) == 0);
    CHECK(write(ends[1], "0123456789", 10) == 10);
    CHECK(result_of(SYS_read, (uint64_t)ends[0], at + 4090, 10, 0) == 10 && invalid_pages == 2);
    CHECK(memcmp((char *)(uintptr_t)(at + 4090), "0123456789", 10) == 0);
    CHECK(space_watch(space, at, at + 8192) == 0);
    CHECK(result_of(SYS_uname, at + 5000, 0, 0, 0) == 0 && invalid_pages == 3);
    CHECK(result_of(SYS_getpid, 0, 0, 0, 0) == getpid() && invalid_pages == 3);
    struct iovec vector = {(void *)(uintptr_t)at, 10};
    memcpy((void *)(uintptr_t)page, &vector, sizeof vector);
    CHECK(write(ends[1], "abcdefghij", 10) == 10);
    CHECK(result_of(SYS_readv, (uint64_t)ends[0], page, 1, 0) == 10 && invalid_pages == 4);
    CHECK(memcmp((char *)(uintptr_t)at, "abcdefghij", 10) == 0);
    CHECK(space_watch(space, at, at + 8192) == 0);
    CHECK(program_write(space, at + 4095, "ab", 2) == 0 && invalid_pages == 6);
    close(ends[0]);
    close(ends[1]);
    /* read-only code that becomes writable */
    CHECK(space_mprotect(space, at, 8192, PROT_READ | PROT_EXEC) == 0);
    CHECK(space_watch(space, at, at + 8192) == 0);
    CHECK(space_mprotect(space, at, 8192, 7) == 0 && invalid_pages == 6);
    CHECK(result_of(SYS_uname, at, 0, 0, 0) == 0 && invalid_pages == 7);
    CHECK(space_munmap(space, at, 8192) == 0 && invalid_pages == 8);
}

int main(void)
{
    static const char *const arguments[] = {"/bin/true", "x", NULL};
    static const char *const environment[] = {"A=b", NULL};
    struct bt_error error = {0, ""};
    struct initial_stack_options options = {.environment = environment};
    struct initial_stack start;
    struct load *load = NULL;
    space = space_new(&layout, SPACE_TRANSLATED, &error);
    if (space)
        load = load_new(space, arguments[0], NULL, arguments, &error);
    if (!load || initial_stack_new(&start, space, load, &options, &error) < 0 ||
        !(calls = system_calls_new(space, load, &start, &error))) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    page = (uint64_t)space_mmap(space, 0, 3 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    space_mprotect(space, page + 8192, 4096, PROT_NONE);
    test_outcomes();
    test_registers();
    test_space();
    test_paths(load->path);
    test_descriptors();
    test_watched();
    system_calls_free(calls);
    load_free(load);
    space_free(space);
    return failures ? 1 : 0;
}
