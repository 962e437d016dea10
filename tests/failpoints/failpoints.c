/*
 * Failpoints: wraps calls of the programs to the C library (linked with --wrap), counts the calls
 * of each kind, and makes chosen calls fail.
 *
 *     BUSTAP_FAIL=KIND:N:EFFECT,...   the N-th call of this kind, from 1; N+: all from the N-th
 *     BUSTAP_FAIL_COUNTS=FILE         receives a line per kind at exit: name, calls, failed calls
 *
 * EFFECT is the name of an error: the call fails with it and has no effect (but close closes).
 * After DONE it fails with the error after it has worked, as in DONEENOSPC; after HALF, after half
 * of the bytes were read or written, or as after DONE where there are no halves. SHORT: half of the
 * requested bytes are read or written. KILL: the process is killed before the call.
 *
 * Only reads and writes of regular files, standard input and standard output count: the programs
 * have no other inputs and outputs.
 */
#define _GNU_SOURCE /* renameat2, O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RULES_MAX 8

enum kind {
    READ,
    WRITE,
    OPEN,
    CREATE,
    LINK,
    RENAME,
    UNLINK,
    TRUNCATE,
    ALLOCATE,
    SYNC,
    CLOSE,
    MEMORY,
    THREAD,
    SPAWN,
    KINDS
};

static const char *const kind_names[KINDS] = {"read",   "write",  "open",     "create",   "link",
                                              "rename", "unlink", "truncate", "allocate", "sync",
                                              "close",  "memory", "thread",   "spawn"};

enum { EFFECT_SHORT = -1, EFFECT_KILL = -2 }; /* positive effects are errno values, and these: */
enum { EFFECT_DONE = 0x1000, EFFECT_HALF = 0x2000, EFFECT_ERRNO = 0xfff };

struct rule {
    enum kind kind;
    unsigned long call;
    bool onward;
    int effect;
};

static struct rule rules[RULES_MAX];
static size_t rule_count;
static atomic_ulong calls[KINDS], failed[KINDS];

/* --- rules --- */

static void refuse(const char *text)
{
    dprintf(STDERR_FILENO, "failpoints: cannot read BUSTAP_FAIL at '%s'\n", text);
    _exit(125);
}

static int effect_of(const char *name)
{
    static const struct {
        const char *name;
        int effect;
    } effects[] = {
        {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"EDQUOT", EDQUOT},      {"EINTR", EINTR},
        {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},      {"ENOSPC", ENOSPC},
        {"EINVAL", EINVAL}, {"EROFS", EROFS},   {"SHORT", EFFECT_SHORT}, {"KILL", EFFECT_KILL}};
    int late = strncmp(name, "DONE", 4) == 0   ? EFFECT_DONE
               : strncmp(name, "HALF", 4) == 0 ? EFFECT_HALF
                                               : 0;
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (strcmp(effects[i].name, late ? name + 4 : name) == 0)
            return late && effects[i].effect < 0 ? 0 : effects[i].effect | late;
    return 0;
}

static void read_rule(const char *text)
{
    char kind[16], number[16], effect[16], *end;
    struct rule *rule = &rules[rule_count];
    if (rule_count == RULES_MAX ||
        sscanf(text, "%15[a-z]:%15[0-9+]:%15[A-Z]", kind, number, effect) != 3)
        refuse(text);
    rule->call = strtoul(number, &end, 10);
    rule->onward = *end == '+';
    rule->effect = effect_of(effect);
    while (rule->kind < KINDS && strcmp(kind_names[rule->kind], kind) != 0)
        rule->kind++;
    if (rule->kind == KINDS || rule->effect == 0)
        refuse(text);
    rule_count++;
}

__attribute__((constructor)) static void read_rules(void)
{
    const char *text = getenv("BUSTAP_FAIL");
    while (text && *text) {
        read_rule(text);
        text = strchr(text, ',');
        text += text != NULL;
    }
}

__attribute__((destructor)) static void tell_counts(void)
{
    const char *path = getenv("BUSTAP_FAIL_COUNTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int kind = 0; file && kind < KINDS; kind++)
        fprintf(file, "%s %lu %lu\n", kind_names[kind], atomic_load(&calls[kind]),
                atomic_load(&failed[kind]));
    if (file)
        fclose(file);
}

/* Counts a call. Returns 0 if it passes, else its effect. */
static int count(enum kind kind)
{
    unsigned long call = atomic_fetch_add(&calls[kind], 1) + 1;
    for (size_t i = 0; i < rule_count; i++) {
        const struct rule *rule = &rules[i];
        if (rule->kind != kind || (rule->onward ? call < rule->call : call != rule->call))
            continue;
        atomic_fetch_add(&failed[kind], 1);
        if (rule->effect == EFFECT_KILL)
            kill(getpid(), SIGKILL);
        return rule->effect;
    }
    return 0;
}

/* Whether a call fails, with errno. */
static bool fails(enum kind kind)
{
    int effect = count(kind);
    if (effect > 0)
        errno = effect & EFFECT_ERRNO;
    return effect > 0;
}

/* A call that returns an integer: does it unless it fails at once, then fails if it fails late. */
#define WORK(kind, call)                                                                           \
    do {                                                                                           \
        int effect_ = count(kind);                                                                 \
        if (effect_ > 0 && effect_ <= EFFECT_ERRNO)                                                \
            return errno = effect_, -1;                                                            \
        int result_ = call;                                                                        \
        if (effect_ > 0)                                                                           \
            return errno = effect_ & EFFECT_ERRNO, -1;                                             \
        return result_;                                                                            \
    } while (0)

/* The effect on reading or writing; *size becomes what the call may do. */
static int transfer_effect(enum kind kind, int file, size_t *size)
{
    struct stat status;
    if (file == STDERR_FILENO)
        return 0; /* errors must remain readable there */
    if (file > STDERR_FILENO && (fstat(file, &status) < 0 || !S_ISREG(status.st_mode)))
        return 0;
    int effect = count(kind);
    if (effect == EFFECT_SHORT || (effect > 0 && effect & EFFECT_HALF))
        *size -= *size / 2;
    return effect > 0 ? effect : 0;
}

#define TRANSFER(kind, file, size, call)                                                           \
    do {                                                                                           \
        int effect_ = transfer_effect(kind, file, &(size));                                        \
        if (effect_ > 0 && effect_ <= EFFECT_ERRNO)                                                \
            return errno = effect_, -1;                                                            \
        ssize_t result_ = call;                                                                    \
        if (effect_ > 0)                                                                           \
            return errno = effect_ & EFFECT_ERRNO, -1;                                             \
        return result_;                                                                            \
    } while (0)

/* --- the calls --- */

#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAP(ssize_t, read, int file, void *bytes, size_t size)
{
    TRANSFER(READ, file, size, __real_read(file, bytes, size));
}

WRAP(ssize_t, pread64, int file, void *bytes, size_t size, off_t offset)
{
    TRANSFER(READ, file, size, __real_pread64(file, bytes, size, offset));
}

WRAP(ssize_t, write, int file, const void *bytes, size_t size)
{
    TRANSFER(WRITE, file, size, __real_write(file, bytes, size));
}

WRAP(ssize_t, pwrite64, int file, const void *bytes, size_t size, off_t offset)
{
    TRANSFER(WRITE, file, size, __real_pwrite64(file, bytes, size, offset));
}

/* The mode argument, if present. */
static mode_t take_mode(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

static enum kind opening(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? CREATE : OPEN;
}

int __real_close(int file);
int __real_openat64(int folder, const char *path, int flags, ...);

/* Opens a file; where that fails late, the file exists, but is not open. */
static int file_open(int folder, const char *path, int flags, mode_t mode)
{
    int effect = count(opening(flags));
    if (effect > 0 && effect <= EFFECT_ERRNO)
        return errno = effect, -1;
    int file = __real_openat64(folder, path, flags, mode);
    if (effect <= 0 || file < 0)
        return file;
    __real_close(file);
    return errno = effect & EFFECT_ERRNO, -1;
}

WRAP(int, open64, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = take_mode(flags, arguments);
    va_end(arguments);
    return file_open(AT_FDCWD, path, flags, mode);
}

WRAP(int, openat64, int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = take_mode(flags, arguments);
    va_end(arguments);
    return file_open(folder, path, flags, mode);
}

WRAP(int, mkstemp64, char *pattern)
{
    return fails(CREATE) ? -1 : __real_mkstemp64(pattern);
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
    WORK(CREATE, __real_mkdir(path, mode));
}

WRAP(int, linkat, int from, const char *old, int to, const char *name, int flags)
{
    WORK(LINK, __real_linkat(from, old, to, name, flags));
}

WRAP(int, rename, const char *old, const char *name)
{
    WORK(RENAME, __real_rename(old, name));
}

WRAP(int, renameat, int from, const char *old, int to, const char *name)
{
    WORK(RENAME, __real_renameat(from, old, to, name));
}

WRAP(int, renameat2, int from, const char *old, int to, const char *name, unsigned flags)
{
    WORK(RENAME, __real_renameat2(from, old, to, name, flags));
}

WRAP(int, unlink, const char *path)
{
    WORK(UNLINK, __real_unlink(path));
}

WRAP(int, unlinkat, int folder, const char *path, int flags)
{
    WORK(UNLINK, __real_unlinkat(folder, path, flags));
}

WRAP(int, ftruncate64, int file, off_t size)
{
    WORK(TRUNCATE, __real_ftruncate64(file, size));
}

WRAP(int, posix_fallocate64, int file, off_t from, off_t size)
{
    return fails(ALLOCATE) ? errno : __real_posix_fallocate64(file, from, size);
}

WRAP(int, fsync, int file)
{
    WORK(SYNC, __real_fsync(file));
}

WRAP(int, close, int file)
{
    bool failure = fails(CLOSE);
    int number = errno;
    int result = __real_close(file);
    errno = failure ? number : errno;
    return failure ? -1 : result;
}

WRAP(void *, malloc, size_t size)
{
    return fails(MEMORY) ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, size_t number, size_t size)
{
    return fails(MEMORY) ? NULL : __real_calloc(number, size);
}

WRAP(void *, realloc, void *old, size_t size)
{
    return fails(MEMORY) ? NULL : __real_realloc(old, size);
}

WRAP(void *, aligned_alloc, size_t alignment, size_t size)
{
    return fails(MEMORY) ? NULL : __real_aligned_alloc(alignment, size);
}

WRAP(char *, strdup, const char *text)
{
    return fails(MEMORY) ? NULL : __real_strdup(text);
}

WRAP(char *, strndup, const char *text, size_t size)
{
    return fails(MEMORY) ? NULL : __real_strndup(text, size);
}

WRAP(void *, mmap64, void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return fails(MEMORY) ? MAP_FAILED : __real_mmap64(at, size, protection, flags, file, offset);
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
     void *argument)
{
    return fails(THREAD) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

WRAP(int, posix_spawnp, pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
     const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    return fails(SPAWN)
               ? errno
               : __real_posix_spawnp(process, file, actions, attributes, arguments, environment);
}

/* The compressors' own memory: their libraries do not call the wrapped functions. They answer their
 * Z_MEM_ERROR (-4), BZ_MEM_ERROR (-3). */

WRAP(int, deflateInit2_, void *stream, int level, int method, int bits, int memory, int strategy,
     const char *version, int size)
{
    return fails(MEMORY)
               ? -4
               : __real_deflateInit2_(stream, level, method, bits, memory, strategy, version, size);
}

WRAP(int, inflateInit2_, void *stream, int bits, const char *version, int size)
{
    return fails(MEMORY) ? -4 : __real_inflateInit2_(stream, bits, version, size);
}

WRAP(int, BZ2_bzCompressInit, void *stream, int block, int verbosity, int work)
{
    return fails(MEMORY) ? -3 : __real_BZ2_bzCompressInit(stream, block, verbosity, work);
}

WRAP(int, BZ2_bzDecompressInit, void *stream, int verbosity, int small)
{
    return fails(MEMORY) ? -3 : __real_BZ2_bzDecompressInit(stream, verbosity, small);
}
