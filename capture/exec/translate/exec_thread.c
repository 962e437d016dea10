#define _GNU_SOURCE /* syscall(), MAP_ANONYMOUS */
#include "capture/exec/translate/exec_thread.h"

#include "capture/exec/translate/xsave_area.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(offsetof(struct exec_thread, rip) == EXEC_THREAD_RIP, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, flags) == EXEC_THREAD_FLAGS, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, fs_base) == EXEC_THREAD_FS_BASE, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, host_stack) == EXEC_THREAD_HOST_STACK, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, host_fs) == EXEC_THREAD_HOST_FS, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, pointer) == EXEC_THREAD_POINTER, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, jump) == EXEC_THREAD_JUMP, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, exit) == EXEC_THREAD_EXIT, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, vector_live) == EXEC_THREAD_VECTOR_LIVE,
               "trampoline.c");
_Static_assert(offsetof(struct exec_thread, fs_by_system) == EXEC_THREAD_FS_BY_SYSTEM,
               "trampoline.c");
_Static_assert(offsetof(struct exec_thread, has_avx) == EXEC_THREAD_HAS_AVX, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, vector) == EXEC_THREAD_VECTOR, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, vector_mask) == EXEC_THREAD_VECTOR_MASK,
               "trampoline.c");
_Static_assert(offsetof(struct exec_thread, has_xsaveopt) == EXEC_THREAD_HAS_XSAVEOPT,
               "trampoline.c");
_Static_assert(offsetof(struct exec_thread, self) == EXEC_THREAD_SELF, "host_signals.c");
_Static_assert(offsetof(struct exec_thread, interrupt) == EXEC_THREAD_INTERRUPT, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, state) == EXEC_THREAD_STATE, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, leave) == EXEC_THREAD_LEAVE, "code_cache.c");
_Static_assert(offsetof(struct exec_thread, again) == EXEC_THREAD_AGAIN, "code_cache.c");
_Static_assert(offsetof(struct exec_thread, x87_unsettled) == EXEC_THREAD_X87,
               "translate_verify.c");
_Static_assert(offsetof(struct exec_thread, side) == EXEC_THREAD_SIDE, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, turn) == EXEC_THREAD_TURN, "translate.c");
_Static_assert(offsetof(struct exec_thread, find) == EXEC_THREAD_FIND, "code_cache.c");
_Static_assert(offsetof(struct exec_thread, lookup) == EXEC_THREAD_LOOKUP, "trampoline.c");
_Static_assert(offsetof(struct exec_thread, targets) == EXEC_THREAD_TARGETS,
               "translate_indirect.c");

#define AREA_OFFSET ((sizeof(struct exec_thread) + 63) & ~(size_t)63)
#define FENCE_BYTES ((size_t)4096)

/* x87, SSE, AVX, opmask, ZMM_Hi256, Hi16_ZMM. Not PKRU, not tiles. */
#define COMPONENTS 0xe7u
#define AVX        4u

/* CPUID.(EAX=0DH, ECX=component):ECX: needs the system's permission (XFD), as tile data do. */
#define BY_PERMISSION 4u

#define AT_HWCAP2_FSGSBASE 2u

/* The size of an area for the components of a program without permissions: Linux puts areas of this
 * size in signal frames. */
static size_t vector_area_bytes(uint64_t enabled)
{
    size_t bytes = XSAVE_OTHERS;
    for (unsigned component = 2; component < 64; component++) {
        unsigned size, offset, properties, d;
        if (!(enabled >> component & 1))
            continue;
        __cpuid_count(0xd, component, size, offset, properties, d);
        if (!(properties & BY_PERMISSION) && (size_t)offset + size > bytes)
            bytes = (size_t)offset + size;
    }
    return bytes;
}

/* The components that the system has enabled, and the size of an area for them. */
static bool vector_components(uint64_t *mask, size_t *bytes, uint8_t *has_xsaveopt)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    *mask = a & COMPONENTS;
    *bytes = vector_area_bytes((uint64_t)d << 32 | a);
    __cpuid_count(0xd, 1, a, b, c, d);
    *has_xsaveopt = a & 1;
    return true;
}

/* An entry that matches no target looked up in it: only target 0 would match zeros, and it is
 * looked up in entry 0. All other entries are zeros, so that unused parts of the table need no
 * memory. */
static struct exec_lookup unused_entry(uint64_t entry)
{
    return (struct exec_lookup){.minus_target = entry == 0 ? 1 : 0, .code = 0};
}

uint8_t *exec_thread_own_vector(struct exec_thread *thread)
{
    return (uint8_t *)thread + AREA_OFFSET;
}

struct exec_thread *exec_thread_new(struct bt_error *error)
{
    uint64_t mask;
    size_t bytes;
    uint8_t has_xsaveopt;
    const uint32_t mxcsr = XSAVE_MXCSR_INITIAL;
    if (!vector_components(&mask, &bytes, &has_xsaveopt)) {
        bt_fail(error, BT_DEVICE, "this processor cannot save its vector registers (XSAVE)");
        return NULL;
    }
    uint8_t *memory = mmap(NULL, FENCE_BYTES + AREA_OFFSET + bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, FENCE_BYTES, PROT_NONE) != 0) {
        bt_fail_errno(error, "no memory for a thread");
        return NULL;
    }
    struct exec_thread *thread = (struct exec_thread *)(void *)(memory + FENCE_BYTES);
    thread->self = thread;
    thread->vector = exec_thread_own_vector(thread);
    thread->vector_bytes = bytes;
    thread->vector_mask = mask;
    thread->has_xsaveopt = has_xsaveopt;
    thread->has_avx = (mask & AVX) != 0;
    thread->fs_by_system = !(getauxval(AT_HWCAP2) & AT_HWCAP2_FSGSBASE);
    thread->flags = 0x202;
    /* loaded even if SSE is in its initial state */
    memcpy(thread->vector + XSAVE_MXCSR, &mxcsr, sizeof mxcsr);
    thread->x87_unsettled = 1;
    for (unsigned side = 0; side < EXEC_SIDES; side++)
        thread->lookup[side * EXEC_LOOKUP_ENTRIES] = unused_entry(0);
    return thread;
}

void exec_thread_free(struct exec_thread *thread)
{
    if (thread)
        munmap((uint8_t *)thread - FENCE_BYTES, FENCE_BYTES + AREA_OFFSET + thread->vector_bytes);
}

int exec_thread_bind(struct exec_thread *thread, struct bt_error *error)
{
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, thread) != 0 ||
        syscall(SYS_arch_prctl, ARCH_GET_FS, &thread->host_fs) != 0)
        return bt_fail_errno(error, "gs cannot be set");
    return 0;
}

void exec_thread_take_over(struct exec_thread *thread)
{
    const struct exec_thread *before;
    __asm__("mov %%gs:%c1, %0" : "=r"(before) : "i"(EXEC_THREAD_SELF));
    thread->host_fs = before->host_fs;
    if (thread->fs_by_system)
        syscall(SYS_arch_prctl, ARCH_SET_GS, thread);
    else
        __asm__ volatile("wrgsbase %0" : : "r"(thread) : "memory");
}

#define SIDE (EXEC_LOOKUP_BYTES / 2)

void exec_thread_use(struct exec_thread *thread, unsigned side)
{
    thread->side = (uint64_t)side * SIDE;
}

static struct exec_lookup *table_of(struct exec_thread *thread, unsigned side)
{
    return thread->lookup + (size_t)side * EXEC_LOOKUP_ENTRIES;
}

void exec_thread_forget(struct exec_thread *thread, unsigned side)
{
    struct exec_lookup *table = table_of(thread, side);
    const uint16_t *remembered = thread->remembered[side];
    for (uint32_t i = 0; i < thread->remembered_count[side]; i++)
        table[remembered[i]] = unused_entry(remembered[i]);
    thread->remembered_count[side] = 0;
    for (uint32_t i = 0; i < thread->arrival_count[side]; i++)
        thread->targets[side][thread->arrivals[side][i]] = (uint64_t)(uintptr_t)thread->find;
    thread->arrival_count[side] = 0;
}

static void set_entry(struct exec_thread *thread, unsigned side, uint16_t place,
                      struct exec_lookup entry)
{
    struct exec_lookup *table = table_of(thread, side);
    if (table[place].code == 0)
        thread->remembered[side][thread->remembered_count[side]++] = place;
    table[place] = entry;
}

void exec_thread_remember(struct exec_thread *thread, uint64_t target, const void *code)
{
    const unsigned side = (unsigned)(thread->side / SIDE);
    const struct exec_lookup entry = {.minus_target = -target, .code = (uint64_t)(uintptr_t)code};
    set_entry(thread, side, EXEC_LOOKUP_SECOND(target), entry);
    set_entry(thread, side, EXEC_LOOKUP_FIRST(target), entry);
}

void exec_thread_prepare(struct exec_thread *thread)
{
    const unsigned side = (unsigned)(thread->side / SIDE);
    if (thread->prepared[side])
        return;
    for (unsigned i = 0; i < EXEC_LOOKUP_ENTRIES; i++)
        thread->targets[side][i] = (uint64_t)(uintptr_t)thread->find;
    thread->prepared[side] = true;
}

void exec_thread_arrive(struct exec_thread *thread, uint64_t target, const void *arrival)
{
    const unsigned side = (unsigned)(thread->side / SIDE);
    const uint16_t first = EXEC_LOOKUP_FIRST(target);
    uint64_t *place = &thread->targets[side][first];
    if (*place == (uint64_t)(uintptr_t)thread->find)
        thread->arrivals[side][thread->arrival_count[side]++] = first;
    *place = (uint64_t)(uintptr_t)arrival;
    set_entry(thread, side, EXEC_LOOKUP_SECOND(target),
              (struct exec_lookup){.minus_target = -target, .code = *place});
}
