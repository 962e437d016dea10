#define _GNU_SOURCE /* process_vm_writev, memfd_create, pwritev2 */
/* Code that the kernel changes for the program: through /proc's mem files, process_vm_writev,
 * mapped files, and discarded pages. Prints a line for each way, with the code's result. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE           4096
#define POPULATE_WRITE 23 /* MADV_, of Linux 5.14 */

typedef int function(void);

static int number = 1;
static uint8_t made[6];
static sigjmp_buf back;

static const uint8_t *make(void)
{
    made[0] = 0xb8; /* mov eax, number; ret */
    memcpy(made + 1, &number, sizeof number);
    made[5] = 0xc3;
    number++;
    return made;
}

static void fail(int signal)
{
    siglongjmp(back, signal);
}

/* Returns the function's result, or the negative signal. */
static int call(const void *code)
{
    int signal = sigsetjmp(back, 1);
    return signal ? -signal : ((function *)(uintptr_t)code)();
}

static void say(const char *what, long result, const void *code)
{
    printf("%s: %ld, then %d\n", what, result, call(code));
}

static uint8_t *map(int protection, int flags, int file)
{
    uint8_t *code = mmap(NULL, 2 * PAGE, protection, flags, file, 0);
    if (code == MAP_FAILED)
        exit(2);
    return code;
}

/* --- through a mem file --- */

static void write_memory(const char *path, int folder, int protection, int sharing)
{
    uint8_t *code = map(PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1);
    off_t at = (off_t)(uintptr_t)code;
    int file = openat(folder, path, O_RDWR);
    struct iovec parts[2] = {{made, 3}, {made + 3, 3}};
    memcpy(code, make(), sizeof made);
    mprotect(code, 2 * PAGE, protection);
    say(path, file < 0, code);
    say("pwrite", pwrite(file, make(), sizeof made, at), code);
    lseek(file, at, SEEK_SET);
    say("write", write(file, make(), sizeof made), code);
    lseek(file, at, SEEK_SET);
    make();
    say("writev", writev(file, parts, 2), code);
    make();
    say("pwritev", pwritev(file, parts, 2, at), code);
    make();
    say("pwritev2", pwritev2(file, parts, 2, at, 0), code);
    lseek(file, at, SEEK_SET);
    make();
    say("pwritev2 where it is", pwritev2(file, parts, 2, -1, 0), code);
    close(file);
    munmap(code, 2 * PAGE);
}

/* Files sent to the mem file: the kernel does it, or refuses. */
static void send_memory(void)
{
    uint8_t *code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    off_t at = (off_t)(uintptr_t)code, from = 0;
    int memory = open("/proc/self/mem", O_RDWR), file = memfd_create("code", 0), ends[2];
    if (pipe(ends) != 0 || write(file, make(), sizeof made) != sizeof made ||
        write(ends[1], made, sizeof made) != sizeof made)
        exit(3);
    pwrite(memory, make(), sizeof made, at);
    say("before", 0, code);
    lseek(memory, at, SEEK_SET);
    long result = syscall(SYS_sendfile, memory, file, &from, sizeof made);
    say("sendfile", result, code);
    from = 0;
    result = copy_file_range(file, &from, memory, &at, sizeof made, 0);
    say("copy_file_range", result, code);
    at = (off_t)(uintptr_t)code;
    result = splice(ends[0], NULL, memory, &at, sizeof made, 0);
    say("splice", result, code);
    close(ends[0]);
    close(ends[1]);
    close(memory);
    close(file);
}

static void copy_over(int protection, int sharing)
{
    uint8_t *code = map(PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1);
    struct iovec mine = {made, sizeof made}, there = {code, sizeof made};
    memcpy(code, make(), sizeof made);
    mprotect(code, 2 * PAGE, protection);
    call(code);
    make();
    say("process_vm_writev", process_vm_writev(getpid(), &mine, 1, &there, 1, 0), code);
    munmap(code, 2 * PAGE);
}

/* --- through files --- */

static void put(int file, size_t at)
{
    if (pwrite(file, make(), sizeof made, (off_t)at) != sizeof made)
        exit(4);
}

static void change_file(int sharing)
{
    int file = memfd_create("code", 0);
    if (ftruncate(file, 2 * PAGE) != 0)
        exit(5);
    put(file, 0);
    put(file, PAGE);
    uint8_t *code = map(PROT_READ | PROT_EXEC, sharing, file);
    say("mapped", 0, code);
    put(file, 0);
    say("written", 0, code);
    say("second page", 0, code + PAGE);
    say("truncated", ftruncate(file, PAGE), code + PAGE);
    say("longer", ftruncate(file, 2 * PAGE), code + PAGE);
    say("hole", fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE), code);
    munmap(code, 2 * PAGE);
    close(file);
}

/* Through descriptors other than the mapping's, opened before and after it. */
static void change_elsewhere(int folder)
{
    char path[64];
    snprintf(path, sizeof path, "code-%d", (int)getpid());
    int first = openat(folder, path, O_RDWR | O_CREAT | O_TRUNC, 0700);
    put(first, 0);
    put(first, PAGE);
    int reader = openat(folder, path, O_RDONLY);
    uint8_t *early = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, reader);
    say("while it is open", 0, early);
    put(first, 0);
    say("written", 0, early);
    close(first);
    uint8_t *code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, reader);
    say("closed", 0, code);
    int second = openat(folder, path, O_WRONLY);
    put(second, 0);
    say("opened again", 0, code);
    say("early", 0, early);
    munmap(early, 2 * PAGE);
    close(second);
    uint8_t *late = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, reader);
    say("second page", 0, late + PAGE);
    fchdir(folder);
    say("truncated", truncate(path, PAGE), late + PAGE);
    say("first page", 0, late);
    close(creat(path, 0700));
    say("made anew", 0, late);
    unlinkat(folder, path, 0);
    munmap(code, 2 * PAGE);
    munmap(late, 2 * PAGE);
    close(reader);
}

static void throw_away(int advice)
{
    int file = memfd_create("code", 0);
    if (ftruncate(file, 2 * PAGE) != 0)
        exit(6);
    put(file, 0);
    uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, file);
    say("private", 0, code);
    memcpy(code, make(), sizeof made);
    say("private copy", 0, code);
    put(file, 0);
    say("file written", 0, code);
    say("discarded", madvise(code, PAGE, advice), code);
    put(file, 0);
    say("file written again", 0, code);
    munmap(code, 2 * PAGE);
    close(file);
}

static void remove_shared(void)
{
    uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1);
    memcpy(code, make(), sizeof made);
    say("shared", 0, code);
    say("populated", madvise(code, PAGE, POPULATE_WRITE), code);
    say("removed", madvise(code, PAGE, MADV_REMOVE), code);
    munmap(code, 2 * PAGE);
}

/* --- not for children --- */

static void fork_without(int advice)
{
    uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memcpy(code, make(), sizeof made);
    say("before fork", madvise(code, PAGE, advice), code);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        say("in the child", 0, code);
        uint8_t *again =
            mmap(code, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        printf("mapped there: %d\n", again == code);
        exit(0);
    }
    waitpid(child, NULL, 0);
    say("in the parent", 0, code);
    munmap(code, 2 * PAGE);
}

int main(void)
{
    static const int protections[] = {PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC};
    char path[64];
    signal(SIGSEGV, fail);
    signal(SIGBUS, fail);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 2; i++) {
        write_memory("/proc/self/mem", AT_FDCWD, protections[i], MAP_PRIVATE);
        write_memory("/proc/thread-self/mem", AT_FDCWD, protections[i], MAP_PRIVATE);
        write_memory("mem", folder, protections[i], MAP_PRIVATE);
        copy_over(protections[i], MAP_PRIVATE);
        copy_over(protections[i], MAP_SHARED);
    }
    write_memory("/proc/self/mem", AT_FDCWD, protections[1], MAP_SHARED);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getpid());
    int file = open(path, O_RDWR);
    uint8_t *code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    pwrite(file, make(), sizeof made, (off_t)(uintptr_t)code);
    say("by number", 0, code);
    pwrite(file, make(), sizeof made, (off_t)(uintptr_t)code);
    say("by number", 0, code);
    close(file);
    file = creat("/proc/self/mem", 0);
    pwrite(file, make(), sizeof made, (off_t)(uintptr_t)code);
    say("by creat", 0, code);
    send_memory();
    change_file(MAP_SHARED);
    change_file(MAP_PRIVATE);
    change_elsewhere(open("/tmp", O_RDONLY | O_DIRECTORY));
    throw_away(MADV_DONTNEED);
    remove_shared();
    fork_without(MADV_NORMAL);
    fork_without(MADV_DONTFORK);
    fork_without(MADV_WIPEONFORK);
    return 0;
}
