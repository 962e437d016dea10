/*
 * The limitations that bustap-exec(1) lists under BUGS, seen from a program: executes the test
 * with the name of a line, and prints its result.
 *
 * usage: not_emulated WHAT [ARGUMENT]
 */
#define _GNU_SOURCE /* CLONE_VM, process_vm_writev, prlimit */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB  ((size_t)1 << 20)
#define PAGE 4096u

typedef int function(void);

/* Prints the result of a call, or its error. */
static void say(const char *what, long result)
{
    printf("%s %s\n", what, result == -1 ? strerrorname_np(errno) : "succeeded");
}

static long number(long which, long a, long b, long c, long d)
{
    return syscall(which, a, b, c, d, 0L, 0L);
}

static void put_code(uint8_t *code, int result)
{
    const uint8_t returns[] = {0xb8, (uint8_t)result, 0, 0, 0, 0xc3}; /* mov eax, result; ret */
    memcpy(code, returns, sizeof returns);
}

static int run(const uint8_t *code)
{
    return ((function *)(uintptr_t)code)();
}

/* --- a function for each line --- */

static void memory(void)
{
    size_t mapped = 0, heap = 0;
    while (sbrk((intptr_t)MIB) != (void *)-1)
        heap++;
    brk((uint8_t *)sbrk(0) - heap * MIB);
    while (mmap(NULL, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        mapped++;
    bool mappings_are = mapped > 3700 && mapped < 3900;
    bool heap_is = heap > 700 && heap < 768;
    printf("mappings %d, heap %d\n", mappings_are, heap_is);
}

static void filters(void)
{
    say("seccomp", number(SYS_seccomp, 0, 0, 0, 0));
    say("PR_SET_SECCOMP", prctl(PR_SET_SECCOMP, 1, 0, 0, 0));
    say("PR_SET_SYSCALL_USER_DISPATCH", prctl(59, 1, 0, 0, 0));
}

static void debuggers(void)
{
    say("PTRACE_TRACEME", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    say("PTRACE_SEIZE", ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
}

static int end(void *context)
{
    (void)context;
    _exit(0);
}

static void sharing(void)
{
    static uint8_t stack[65536];
    say("clone", clone(end, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL));
    say("CLONE_SIGHAND",
        clone(end, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | SIGCHLD, NULL));
    const int thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    say("CLONE_PIDFD", clone(end, stack + sizeof stack, thread | CLONE_PIDFD, NULL, stack));
    say("CLONE_NEWIPC", clone(end, stack + sizeof stack, thread | CLONE_NEWIPC, NULL));
}

static void restartable(void)
{
    say("rseq", number(SYS_rseq, 0, 0, 0, 0));
}

static void rings(void)
{
    static uint8_t parameters[512];
    say("io_uring_setup", number(SYS_io_uring_setup, 8, (long)(intptr_t)parameters, 0, 0));
}

static void keys(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long at = (long)(intptr_t)page;
    say("pkey_alloc", number(SYS_pkey_alloc, 0, 0, 0, 0));
    say("mseal", number(462, at, PAGE, 0, 0));
    say("remap_file_pages", number(SYS_remap_file_pages, at, PAGE, 0, 0));
    say("process_madvise", number(SYS_process_madvise, -1, 0, 0, 0));
    say("map_shadow_stack", number(453, 0, PAGE, 0, 0));
    say("PR_SET_MM", prctl(PR_SET_MM, PR_SET_MM_BRK, at, 0, 0));
    say("PR_SET_MDWE", prctl(65, 1, 0, 0, 0));
}

static void descriptors(void)
{
    int refused = 0;
    for (int i = 3; i < 65536; i++)
        refused += close(i) != 0 && fcntl(i, F_GETFD) >= 0;
    printf("descriptors %d\n", refused > 0);
}

static void newer(void)
{
    say("468", number(468, 0, 0, 0, 0));
    say("ARCH_SET_CPUID", number(SYS_arch_prctl, 0x1012, 0, 0, 0));
    say("modify_ldt", number(SYS_modify_ldt, 0, 0, 0, 0));
    say("iopl", number(SYS_iopl, 3, 0, 0, 0));
    say("ioperm", number(SYS_ioperm, 0x80, 1, 1, 0));
}

static void usage(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("large %d\n", used.ru_maxrss > 6000); /* KiB; natively about 2000 */
}

/* All entries except those of restartable sequences (27, 28) and of the vDSO, which are tested
 * separately. */
static void vector(void)
{
    unsigned long entry[2], types = 0;
    int file = open("/proc/self/auxv", O_RDONLY);
    while (read(file, entry, sizeof entry) == (ssize_t)sizeof entry && entry[0] != 0)
        if (entry[0] != 33 && entry[0] != 27 && entry[0] != 28)
            types |= 1ul << entry[0];
    close(file);
    printf("entries %lx\n", types);
    fprintf(stderr, "vDSO %d, sequences %d\n", getauxval(33) != 0,
            getauxval(27) != 0 || getauxval(28) != 0);
}

static void transactions(void)
{
    unsigned status = ~0u;
    __asm__ volatile(".byte 0xc7, 0xf8, 0, 0, 0, 0" : "+a"(status)); /* xbegin to what follows */
    printf("status %x\n", status);
}

/* Whether a file contains a text. */
static bool has(const char *path, const char *text)
{
    static char line[8192];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return found;
}

static void files(void)
{
    char path[64], before[64], line[256];
    unsigned long start = 0, byte = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    void *page = mmap(NULL, 16 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long page_end = (unsigned long)((uintptr_t)page + 16 * MIB);
    snprintf(before, sizeof before, "-%08lx ", page_end);
    bool early = false;
    while (fgets(line, sizeof line, maps))
        early |= strstr(line, before) != NULL;
    printf("maps %d %d %d\n", has("/proc/self/maps", "bustap\n"), early,
           has("/proc/self/maps", before));
    FILE *smaps = fopen("/proc/self/smaps", "re");
    while (fgets(line, sizeof line, smaps))
        if (strstr(line, "bustap\n"))
            sscanf(line, "%lx", &start);
    int file = open("/proc/self/mem", O_RDONLY);
    printf("smaps %d, mem %d\n", start > 0, (int)pread(file, &byte, 8, (off_t)start));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
    printf("child %d\n", has(path, "bustap\n"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void others(void)
{
    char path[64];
    uint8_t *code =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    put_code(code, 1);
    printf("code %d\n", run(code));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        uint8_t made[6];
        struct iovec mine = {made, sizeof made}, theirs = {code, sizeof made};
        snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
        put_code(made, 2);
        say("mem", open(path, O_RDWR));
        say("mem to be read", open(path, O_RDONLY));
        say("process_vm_writev", process_vm_writev(getppid(), &mine, 1, &theirs, 1, 0));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("code %d\n", run(code));
}

static void code_in_files(void)
{
    const char *path = "code_in_a_file";
    static uint8_t page[PAGE];
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
    put_code(page, 1);
    if (write(file, page, PAGE) != (ssize_t)PAGE)
        exit(2);
    uint8_t *writable = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    close(file);
    int read_only = open(path, O_RDONLY);
    uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, read_only, 0);
    uint8_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, read_only, 0);
    printf("code %d %d %d\n", run(code), run(shared), run(writable));
    fflush(stdout);
    if (fork() == 0) {
        put_code(page, 2);
        file = open(path, O_WRONLY);
        _exit(pwrite(file, page, PAGE, 0) != (ssize_t)PAGE);
    }
    wait(NULL);
    printf("code %d %d %d, read as %d\n", run(code), run(shared), run(writable), code[1]);
}

static void limits(const char *what)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    if (strcmp(what, "inherited") == 0) {
        void *all = mmap(NULL, (size_t)limit.rlim_cur - 100 * MIB, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        say("all but 100 MiB", all == MAP_FAILED ? -1 : 0);
    } else if (strcmp(what, "soft") == 0) {
        void *some = mmap(NULL, (size_t)limit.rlim_cur - 100 * MIB, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        say("all but 100 MiB", some == MAP_FAILED ? -1 : 0);
        say("100 MiB more",
            mmap(NULL, 100 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1
                                                                                               : 0);
    } else {
        struct rlimit set = {900 * MIB, limit.rlim_max};
        setrlimit(RLIMIT_AS, &set);
        execl("/bin/sh", "sh", "-c", "ulimit -v", (char *)NULL);
    }
}

static void segments(const char *what)
{
    if (strcmp(what, "gs") == 0)
        number(SYS_arch_prctl, 0x1001, 0x1000, 0, 0);
    else if (strcmp(what, "int") == 0)
        __asm__ volatile("int $0x80" : : "a"(20) : "memory");
    else
        __asm__ volatile("push $0x23\n lea 1f(%%rip), %%rax\n push %%rax\n lretq\n 1:"
                         :
                         :
                         : "rax", "memory");
    printf("went on\n");
}

static void *pause_all(void *context)
{
    for (;;)
        pause();
    return context;
}

static volatile sig_atomic_t delivered;

static void deliver(int number)
{
    delivered += number == SIGTRAP;
}

/* Whether blocked signals are shown as pending: of one thread, and of one of two. */
static void blocked(void)
{
    pthread_t thread;
    sigset_t set, waiting;
    signal(SIGTRAP, deliver);
    signal(SIGFPE, deliver);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigaddset(&set, SIGFPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int threads = 1; threads <= 2; threads++) {
        raise(SIGTRAP);
        raise(SIGFPE);
        sigpending(&waiting);
        printf("threads %d: SIGTRAP %d, SIGFPE %d\n", threads, sigismember(&waiting, SIGTRAP),
               sigismember(&waiting, SIGFPE));
        if (threads == 1)
            pthread_create(&thread, NULL, pause_all, NULL);
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("delivered %d\n", delivered);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } lines[] = {{"memory", memory},
                 {"blocked", blocked},
                 {"filters", filters},
                 {"debuggers", debuggers},
                 {"sharing", sharing},
                 {"restartable", restartable},
                 {"rings", rings},
                 {"keys", keys},
                 {"descriptors", descriptors},
                 {"newer", newer},
                 {"transactions", transactions},
                 {"usage", usage},
                 {"vector", vector},
                 {"files", files},
                 {"others", others},
                 {"code_in_files", code_in_files}};
    const char *what = count > 1 ? arguments[1] : "", *argument = count > 2 ? arguments[2] : "";
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(what, lines[i].name) == 0) {
            lines[i].function();
            return 0;
        }
    if (strcmp(what, "limits") == 0)
        limits(argument);
    else if (strcmp(what, "segments") == 0)
        segments(argument);
    else
        return 2;
    return 0;
}
