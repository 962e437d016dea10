#define _GNU_SOURCE /* MAP_*, getentropy */
#include "capture/exec/memory/initial_stack.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES_MIN ((uint64_t)1 << 18)
#define ARGUMENT_BYTES_MIN                                                                         \
    ((uint64_t)1 << 17) /* whatever the limit of the stack; the kernel's ARG_MAX */
#define STRING_BYTES_MAX    ((uint64_t)1 << 17) /* of one string; the kernel's MAX_ARG_STRLEN */
#define STACK_BYTES_DEFAULT ((uint64_t)8 << 20)

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static const char platform[] = "x86_64";

/* A stack being filled: strings from its end downwards, below them the vectors of words. */
struct filling {
    uint64_t string; /* the lowest string so far */
    uint64_t *words; /* the next word to be written */
};

static uint64_t count_strings(const char *const *strings)
{
    uint64_t count = 0;
    while (strings[count])
        count++;
    return count;
}

/* Size of the strings with their NULs; larger than any stack if one of them is too long. */
static uint64_t string_bytes(const char *const *strings)
{
    uint64_t sum = 0;
    for (; *strings; strings++) {
        uint64_t bytes = strlen(*strings) + 1;
        sum += bytes <= STRING_BYTES_MAX ? bytes : SPACE_END;
    }
    return sum;
}

static uint64_t put_bytes(struct filling *filling, const void *bytes, size_t size)
{
    filling->string -= size;
    memcpy((void *)(uintptr_t)filling->string, bytes, size);
    return filling->string;
}

/* The first string has the lowest address; the last one is put first. */
static void put_strings(struct filling *filling, const char *const *strings)
{
    for (uint64_t i = count_strings(strings); i-- > 0;)
        put_bytes(filling, strings[i], strlen(strings[i]) + 1);
}

static void put_word(struct filling *filling, uint64_t word)
{
    *filling->words++ = word;
}

/* The addresses of adjacent strings, and a NULL. */
static uint64_t put_pointers(struct filling *filling, uint64_t string, const char *const *strings)
{
    for (; *strings; strings++) {
        put_word(filling, string);
        string += strlen(*strings) + 1;
    }
    put_word(filling, 0);
    return string;
}

/* --- the auxiliary vector --- */

/* In the kernel's order, without the entries for the vDSO and for restartable sequences. */
static const uint64_t types[] = {AT_MINSIGSTKSZ, AT_HWCAP,  AT_PAGESZ, AT_CLKTCK,  AT_PHDR,
                                 AT_PHENT,       AT_PHNUM,  AT_BASE,   AT_FLAGS,   AT_ENTRY,
                                 AT_UID,         AT_EUID,   AT_GID,    AT_EGID,    AT_SECURE,
                                 AT_RANDOM,      AT_HWCAP2, AT_EXECFN, AT_PLATFORM};

#define TYPES (sizeof types / sizeof *types)

struct vector {
    Elf64_auxv_t entries[TYPES + 1]; /* the last one is AT_NULL */
    size_t count;
};

/* getauxval() changes AT_HWCAP. If the kernel's vector cannot be read, the value is usually
 * CPUID.01H:EDX. */
static uint64_t capabilities(void)
{
    unsigned eax, ebx, ecx, edx = 0;
    Elf64_auxv_t entry = {AT_NULL, {0}};
    int file = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && entry.a_type != AT_HWCAP &&
           read(file, &entry, sizeof entry) == (ssize_t)sizeof entry)
        continue;
    if (file >= 0)
        close(file);
    if (entry.a_type == AT_HWCAP)
        return entry.a_un.a_val;
    __get_cpuid(1, &eax, &ebx, &ecx, &edx);
    errno = 0; /* a value exists */
    return edx;
}

static uint64_t value_of(uint64_t type, const struct load *load)
{
    switch (type) {
    case AT_HWCAP:
        return capabilities();
    case AT_PHDR:
        return load->program.table;
    case AT_PHNUM:
        return load->program.table_entries;
    case AT_BASE:
        return load->interpreter.bias;
    case AT_ENTRY:
        return load->program.entry;
    default: /* of the machine and the user */
        return getauxval(type);
    }
}

/* Addresses of strings are filled in later. */
static void make_vector(struct vector *vector, const struct load *load)
{
    vector->count = 0;
    for (size_t i = 0; i < TYPES; i++) {
        errno = 0;
        uint64_t value = value_of(types[i], load);
        if (errno != ENOENT) /* else this kernel is older */
            vector->entries[vector->count++] = (Elf64_auxv_t){types[i], {value}};
    }
    vector->entries[vector->count++] = (Elf64_auxv_t){AT_NULL, {0}};
}

static void point_to(struct vector *vector, uint64_t type, uint64_t address)
{
    for (size_t i = 0; i < vector->count; i++)
        if (vector->entries[i].a_type == type)
            vector->entries[i].a_un.a_val = address;
}

/* --- the stack --- */

static uint64_t stack_size(const struct space_layout *layout, uint64_t wanted)
{
    struct rlimit limit;
    if (wanted == 0)
        wanted = getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : STACK_BYTES_DEFAULT;
    uint64_t room = layout->stack_end - layout->map_end;
    room = room > 2 * SPACE_GUARD ? room - SPACE_GUARD : room;
    if (wanted > room)
        wanted = room;
    if (wanted < STACK_BYTES_MIN)
        wanted = STACK_BYTES_MIN;
    return (wanted + SPACE_PAGE - 1) & ~(SPACE_PAGE - 1);
}

static int map_stack(struct initial_stack *start, struct space *space, bool executable,
                     uint64_t size, struct bt_error *error)
{
    start->stack_high = space_layout_of(space)->stack_end;
    start->stack_low = start->stack_high - size;
    uint64_t protection = PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0);
    int64_t result = space_mmap(
        space, start->stack_low, size, protection,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (result < 0) {
        errno = (int)-result;
        return bt_fail_errno(error, "a stack of %" PRIu64 " bytes cannot be mapped below 4 GiB",
                             size);
    }
    space_name(space, start->stack_low, start->stack_high, SPACE_STACK | SPACE_GROWS);
    return 0;
}

static void fill(struct initial_stack *start, const struct load *load,
                 const char *const *environment, const uint8_t *random)
{
    const char *const *arguments = (const char *const *)load->arguments;
    struct filling filling = {start->stack_high - sizeof(uint64_t), NULL};
    uint64_t name = put_bytes(&filling, load->name, strlen(load->name) + 1);
    put_strings(&filling, environment);
    put_strings(&filling, arguments);
    start->arguments = filling.string;
    start->arguments_bytes = string_bytes(arguments);
    start->environment_bytes = string_bytes(environment);
    struct vector vector;
    make_vector(&vector, load);
    point_to(&vector, AT_EXECFN, name);
    point_to(&vector, AT_PLATFORM, put_bytes(&filling, platform, sizeof platform));
    point_to(&vector, AT_RANDOM, put_bytes(&filling, random, INITIAL_STACK_RANDOM_BYTES));
    uint64_t words =
        1 + count_strings(arguments) + 1 + count_strings(environment) + 1 + 2 * vector.count;
    start->rsp = (filling.string - words * sizeof(uint64_t)) & ~(uint64_t)15;
    filling.words = (uint64_t *)(uintptr_t)start->rsp;
    put_word(&filling, count_strings(arguments));
    uint64_t string = put_pointers(&filling, start->arguments, arguments);
    put_pointers(&filling, string, environment);
    start->vector = (uint64_t)(uintptr_t)filling.words;
    start->vector_bytes = vector.count * sizeof *vector.entries;
    memcpy(filling.words, vector.entries, start->vector_bytes);
}

int initial_stack_new(struct initial_stack *start, struct space *space, const struct load *load,
                      const struct initial_stack_options *options, struct bt_error *error)
{
    const char *const *arguments = (const char *const *)load->arguments;
    uint64_t size = stack_size(space_layout_of(space), options->stack_bytes);
    uint64_t pointers = count_strings(arguments) + count_strings(options->environment);
    uint64_t needed =
        string_bytes(arguments) + string_bytes(options->environment) + pointers * sizeof(uint64_t);
    uint64_t allowed = size / 4 > ARGUMENT_BYTES_MIN ? size / 4 : ARGUMENT_BYTES_MIN;
    if (needed > allowed)
        return bt_fail(
            error, BT_USAGE,
            "arguments and environment are too long: the limit is a quarter of the stack "
            "(ulimit -s), here %" PRIu64 " bytes, for all together and %" PRIu64 " for each",
            allowed, STRING_BYTES_MAX);
    uint8_t random[INITIAL_STACK_RANDOM_BYTES];
    if (options->random)
        memcpy(random, options->random, sizeof random);
    else if (getentropy(random, sizeof random) != 0)
        return bt_fail_errno(error, "no random bytes for the program's stack");
    int result = map_stack(start, space, load->stack_executable, size, error);
    if (result < 0)
        return result;
    fill(start, load, options->environment, random);
    start->rip = load->interpreter.high ? load->interpreter.entry : load->program.entry;
    start->rflags = 0x202; /* interrupts on, and the bit that is always 1 */
    start->mxcsr = 0x1f80; /* all exceptions masked, to nearest; as the processor resets it */
    start->x87_control = 0x37f;
    return 0;
}
