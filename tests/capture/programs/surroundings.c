#define _GNU_SOURCE /* O_PATH, openat2's number, mremap */
/* A program's view of itself, and its permissions: files of /proc by all paths to them,
 * personality, limits of memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define MIB  ((size_t)1 << 20)

static char own[4096];
static sigjmp_buf back;

static void say(const char *what, long result)
{
    printf("%s: %ld%s%s\n", what, result, result < 0 ? " " : "", result < 0 ? strerror(errno) : "");
}

/* --- files --- */

static char *read_all(int file)
{
    static char text[1 << 20];
    size_t size = 0;
    ssize_t count;
    while (file >= 0 && (count = read(file, text + size, sizeof text - 1 - size)) > 0)
        size += (size_t)count;
    text[size] = '\0';
    return text;
}

static int ends_with(const char *line, const char *name)
{
    size_t length = strlen(line), part = strlen(name);
    return length > part && strcmp(line + length - part, name) == 0;
}

/* Whether the table of mappings shows our own file for our own code, and no mapping where ours
 * cannot be. */
static void look_at_maps(const char *way, int file)
{
    uintptr_t code = (uintptr_t)look_at_maps;
    int found = 0, lines = 0, others = 0;
    char *rest, *text = read_all(file);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned long start, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3)
            continue;
        lines++;
        others +=
            ends_with(line, "/bustap") || ends_with(line, "/unit") || strstr(line, "libZydis");
        if (start <= code && code < end)
            found = strcmp(rights, "r-xp") == 0 && strstr(line, own) != NULL;
    }
    printf("maps by %s: %d, %d, %d\n", way, found, lines > 4, others);
    if (file >= 0)
        close(file);
}

static int open_how(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags, .resolve = resolve};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

static void show_maps(const char *folder_path)
{
    char path[128];
    int folder = open(folder_path, O_RDONLY | O_DIRECTORY);
    int place = open(folder_path, O_PATH);
    snprintf(path, sizeof path, "%s/maps", folder_path);
    look_at_maps("path", open(path, O_RDONLY));
    look_at_maps("openat", openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    look_at_maps("folder", openat(folder, "maps", O_RDONLY));
    look_at_maps("folder's place", openat(place, "./maps", O_RDONLY));
    look_at_maps("openat2", open_how(folder, "maps", O_RDONLY, 0));
    look_at_maps("openat2 beneath", open_how(folder, "maps", O_RDONLY, RESOLVE_BENEATH));
    int link = openat(folder, "maps", O_PATH);
    snprintf(path, sizeof path, "/proc/self/fd/%d", link);
    look_at_maps("a descriptor's path", open(path, O_RDONLY));
    int old = open("/", O_RDONLY);
    fchdir(folder);
    look_at_maps("current folder", open("maps", O_RDONLY | O_NOFOLLOW));
    fchdir(old);
    FILE *stream = fopen("/proc/self/../self/maps", "re");
    look_at_maps("a way around", stream ? fileno(stream) : -1);
    close(link);
    close(old);
    close(folder);
    close(place);
}

static void compare(const char *way, long length, const char *got)
{
    printf("exe by %s: %d\n", way,
           length == (long)strlen(own) && memcmp(got, own, strlen(own)) == 0);
}

static void same_file(const char *way, int result, const struct stat *got)
{
    struct stat wanted;
    stat(own, &wanted);
    printf("stat by %s: %d, %d\n", way, result,
           result == 0 && got->st_ino == wanted.st_ino && got->st_dev == wanted.st_dev);
}

static void show_exe(const char *folder_path)
{
    char path[128], got[4096];
    struct stat status;
    int folder = open(folder_path, O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/exe", folder_path);
    compare("readlink", readlink(path, got, sizeof got), got);
    compare("readlinkat", readlinkat(folder, "exe", got, sizeof got), got);
    int link = openat(folder, "exe", O_PATH | O_NOFOLLOW);
    compare("a link's descriptor", readlinkat(link, "", got, sizeof got), got);
    close(link);
    same_file("path", stat(path, &status), &status);
    same_file("folder", fstatat(folder, "exe", &status, 0), &status);
    int file = openat(folder, "exe", O_RDONLY);
    same_file("open", fstat(file, &status), &status);
    close(file);
    file = openat(folder, "exe", O_PATH);
    same_file("place", fstat(file, &status), &status);
    close(file);
    say("not to be followed", open(path, O_RDONLY | O_NOFOLLOW));
    say("executable", faccessat(folder, "exe", X_OK, 0));
    close(folder);
}

static void show_texts(int count, char **arguments)
{
    int folder = open("/proc/thread-self", O_RDONLY | O_DIRECTORY);
    char *text = read_all(openat(folder, "cmdline", O_RDONLY));
    printf("arguments: %d\n", strcmp(text, arguments[0]) == 0);
    text = read_all(openat(folder, "environ", O_RDONLY));
    printf("environment: %d\n", strcmp(text, "LC_ALL=C") == 0);
    unsigned long vector[128];
    int file = openat(folder, "auxv", O_RDONLY);
    ssize_t bytes = read(file, vector, sizeof vector);
    printf("vector: %d\n", bytes > 64 && vector[bytes / 8 - 1] == 0 && vector[bytes / 8 - 2] == 0);
    printf("count: %d\n", count);
    close(file);
    close(folder);
}

static void show_files(int count, char **arguments)
{
    char path[64];
    show_maps("/proc/self");
    show_maps("/proc/thread-self");
    show_exe("/proc/self");
    show_exe("/proc/thread-self");
    snprintf(path, sizeof path, "/proc/%d", (int)getpid());
    show_maps(path);
    show_exe(path);
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)getpid(), (int)getpid());
    show_maps(path);
    show_exe(path);
    show_texts(count, arguments);
}

/* --- personality --- */

static void fail(int number)
{
    siglongjmp(back, number);
}

static void try_code(const char *what, uint8_t *code)
{
    int number = sigsetjmp(back, 1);
    printf("%s: %d\n", what, number ? -number : ((int (*)(void))(uintptr_t)code)());
}

static uint8_t *put_code(uint8_t *code)
{
    static const uint8_t returns[] = {0xb8, 7, 0, 0, 0, 0xc3}; /* mov eax, 7; ret */
    return memcpy(code, returns, sizeof returns);
}

static uint8_t *map_code(void)
{
    return put_code(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void show_personality(void)
{
    signal(SIGSEGV, fail);
    uint8_t *before = map_code();
    uint8_t *later = map_code();
    int was = personality(0xffffffff);
    say("personality", was & ~ADDR_NO_RANDOMIZE);
    try_code("data", before);
    say("set", personality((unsigned long)was | READ_IMPLIES_EXEC) == was);
    say("asked", personality(0xffffffff) & READ_IMPLIES_EXEC);
    try_code("mapped before", before);
    try_code("mapped", map_code());
    mprotect(later, PAGE, PROT_READ);
    try_code("protected", later);
    uint8_t *heap = sbrk(0);
    sbrk(3 * PAGE);
    try_code("heap", put_code(heap + PAGE));
    fflush(stdout);
    if (fork() == 0) {
        try_code("mapped by a child", map_code());
        exit(0);
    }
    wait(NULL);
    say("set back", personality((unsigned long)was) & READ_IMPLIES_EXEC);
    say("asked", personality(0xffffffff) == was);
    try_code("mapped", map_code());
    say("not randomized", personality((unsigned long)was | ADDR_NO_RANDOMIZE) == was);
    say("asked", personality(0xffffffff) & ADDR_NO_RANDOMIZE);
    personality((unsigned long)was);
}

/* --- limits --- */

static void *map(size_t size, int protection, int sharing)
{
    void *got = mmap(NULL, size, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    printf("%zu MiB: %s\n", size / MIB, got == MAP_FAILED ? strerror(errno) : "mapped");
    return got;
}

static void limit(int resource, size_t soft, rlim_t hard)
{
    struct rlimit set = {soft, hard}, got;
    say("limit", setrlimit(resource, &set));
    getrlimit(resource, &got);
    printf("%lu MiB, %lu\n", (unsigned long)(got.rlim_cur / MIB), (unsigned long)got.rlim_max);
}

static void show_all_limit(void)
{
    struct rlimit got;
    limit(RLIMIT_AS, 512 * MIB, RLIM_INFINITY);
    map(600 * MIB, PROT_NONE, MAP_PRIVATE);
    void *some = map(300 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    map(300 * MIB, PROT_READ, MAP_SHARED);
    say("larger", (long)mremap(some, 300 * MIB, 600 * MIB, MREMAP_MAYMOVE));
    say("in its place",
        mmap(some, 300 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == some);
    say("heap", sbrk(300 * (intptr_t)MIB) == (void *)-1 ? -1 : 0);
    void *text = malloc(1000);
    free(text);
    fflush(stdout);
    system("ulimit -v");
    system("exec sh -c 'ulimit -v'");
    if (fork() == 0) {
        getrlimit(RLIMIT_AS, &got);
        printf("a child's: %lu\n", (unsigned long)got.rlim_cur);
        map(300 * MIB, PROT_READ, MAP_PRIVATE);
        execl("/nonexistent", "nobody", (char *)NULL);
        say("executed", -1);
        fflush(stdout);
        execl("/bin/sh", "sh", "-c", "ulimit -v", (char *)NULL);
    }
    wait(NULL);
    munmap(some, 300 * MIB);
    limit(RLIMIT_AS, RLIM_INFINITY, RLIM_INFINITY);
    munmap(map(600 * MIB, PROT_NONE, MAP_PRIVATE), 600 * MIB);
}

static void show_data_limit(void)
{
    limit(RLIMIT_DATA, 64 * MIB, RLIM_INFINITY);
    map(100 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    void *some = map(100 * MIB, PROT_READ, MAP_PRIVATE);
    say("writable", mprotect(some, 100 * MIB, PROT_READ | PROT_WRITE));
    say("a part", mprotect(some, MIB, PROT_READ | PROT_WRITE));
    map(100 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED);
    say("heap", sbrk(100 * (intptr_t)MIB) == (void *)-1 ? -1 : 0);
    system("ulimit -d");
    limit(RLIMIT_DATA, RLIM_INFINITY, RLIM_INFINITY);
}

static unsigned long status_of(const char *name)
{
    char line[256];
    unsigned long value = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), " %lu", &value);
    if (file)
        fclose(file);
    return value;
}

/* Only a few MiB are locked. */
static void show_locks(void)
{
    static uint8_t text[300000];
    struct rlimit had, none = {64 * 1024, 64 * 1024};
    text[0] = 1;
    say("lock nothing", mlockall(0));
    say("lock what", mlockall(MCL_ONFAULT));
    say("lock all", mlockall(MCL_CURRENT | MCL_FUTURE));
    unsigned long all = status_of("VmLck:");
    printf("%d\n", all > 500 && all < 8000);
    void *more = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("more: %lu\n", status_of("VmLck:") - all);
    munmap(more, MIB);
    fflush(stdout);
    if (fork() == 0) {
        printf("a child's: %lu\n", status_of("VmLck:"));
        exit(0);
    }
    wait(NULL);
    say("unlock", munlockall());
    printf("%lu\n", status_of("VmLck:"));
    say("when used", mlockall(MCL_CURRENT | MCL_ONFAULT));
    munlockall();
    getrlimit(RLIMIT_MEMLOCK, &had);
    if (had.rlim_max == RLIM_INFINITY || had.rlim_max > none.rlim_max) {
        none.rlim_max = had.rlim_max;
        setrlimit(RLIMIT_MEMLOCK, &none);
        say("lock too much", mlockall(MCL_CURRENT));
        setrlimit(RLIMIT_MEMLOCK, &had);
    }
}

static void show_limits(void)
{
    struct rlimit set = {2 * MIB, MIB}, got, old = {0, 0};
    say("senseless", setrlimit(RLIMIT_AS, &set));
    say("nowhere", setrlimit(RLIMIT_AS, (void *)8));
    getrlimit(RLIMIT_AS, &got);
    printf("limit %lu %lu\n", (unsigned long)got.rlim_cur, (unsigned long)got.rlim_max);
    show_all_limit();
    show_data_limit();
    set = (struct rlimit){900 * MIB, RLIM_INFINITY};
    say("prlimit", prlimit(getpid(), RLIMIT_AS, &set, &old));
    say("was", old.rlim_cur == RLIM_INFINITY);
    say("prlimit", prlimit(0, RLIMIT_AS, NULL, &old));
    say("is", old.rlim_cur == 900 * MIB);
    pid_t child = vfork();
    if (child == 0) {
        set.rlim_cur = 800 * MIB;
        setrlimit(RLIMIT_AS, &set);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    getrlimit(RLIMIT_AS, &got);
    say("after vfork", (long)(got.rlim_cur / MIB));
    fflush(stdout);
    if (fork() == 0) {
        limit(RLIMIT_AS, 700 * MIB, 700 * MIB);
        limit(RLIMIT_AS, 800 * MIB, 800 * MIB);
        fflush(stdout);
        system("ulimit -v; ulimit -H -v");
        exit(0);
    }
    wait(NULL);
}

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (!realpath(arguments[0], own))
        return 2;
    show_files(count, arguments);
    show_personality();
    show_locks();
    show_limits();
    return 0;
}
