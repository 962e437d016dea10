/*
 * The functions that programs compiled with -fsanitize=thread call, by any compiler: their places
 * are return addresses, and all their functions are DETAIL functions. Link such a program without
 * -fsanitize=thread. Compilers leave out references that cannot race: to variables whose address
 * is not passed on and, in clang without `-mllvm -tsan-instrument-read-before-write`, reads before
 * a write of the same bytes.
 */
#include "capture/instrument/instrument_internal.h"

/* GCC knows most of these names, with other types. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

/* The call's own place: the return address is after it. */
#define CODE ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

#define FRAME_WORDS 65536u /* of a function, that are searched for its return address */

/* Inline: the frame is that of the hook. */
__attribute__((always_inline)) static inline void refer(const void *address, uint64_t size,
                                                        bool is_write, uint64_t code)
{
    instrument_refer_by_code((uint64_t)(uintptr_t)address, size, is_write, code,
                             __builtin_frame_address(0));
}

void __tsan_init(void)
{
}

void __tsan_ignore_thread_begin(void)
{
}

void __tsan_ignore_thread_end(void)
{
}

#define REFERENCE(name, size, is_write)                                                            \
    void __tsan_##name(void *address)                                                              \
    {                                                                                              \
        refer(address, size, is_write, CODE);                                                      \
    }                                                                                              \
    void __tsan_##name##_pc(void *address, void *code)                                             \
    {                                                                                              \
        refer(address, size, is_write, (uint64_t)(uintptr_t)code);                                 \
    }
#define BOTH(size)                                                                                 \
    REFERENCE(read##size, size, false)                                                             \
    REFERENCE(write##size, size, true)                                                             \
    REFERENCE(volatile_read##size, size, false)                                                    \
    REFERENCE(volatile_write##size, size, true)                                                    \
    void __tsan_read_write##size(void *address)                                                    \
    {                                                                                              \
        refer(address, size, false, CODE);                                                         \
        refer(address, size, true, CODE);                                                          \
    }
#define UNALIGNED(size)                                                                            \
    REFERENCE(unaligned_read##size, size, false)                                                   \
    REFERENCE(unaligned_write##size, size, true)                                                   \
    REFERENCE(unaligned_volatile_read##size, size, false)                                          \
    REFERENCE(unaligned_volatile_write##size, size, true)                                          \
    void __tsan_unaligned_read_write##size(void *address)                                          \
    {                                                                                              \
        refer(address, size, false, CODE);                                                         \
        refer(address, size, true, CODE);                                                          \
    }

/* clang-format off */
BOTH(1)
BOTH(2)
BOTH(4)
BOTH(8)
BOTH(16)
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)
/* clang-format on */

void __tsan_read_range(void *address, unsigned long size)
{
    refer(address, size, false, CODE);
}

void __tsan_write_range(void *address, unsigned long size)
{
    refer(address, size, true, CODE);
}

void __tsan_vptr_read(void **address)
{
    refer(address, sizeof *address, false, CODE);
}

void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    refer(address, sizeof *address, true, CODE);
}

/* --- functions ---------------------------------------------------------------------------------
 */

/* The caller's return address lies where it is found first, above the frame of the hook: between
 * are the words of the caller's frame, which is new. */
__attribute__((no_sanitize("all"))) void __tsan_func_entry(void *code)
{
    void **slot = (void **)__builtin_frame_address(0) + 2;
    struct traced *self = instrument_enter();
    if (!self)
        return;
    const uint64_t end = self->thread->stack_end;
    for (unsigned i = 0; i < FRAME_WORDS && (uint64_t)(uintptr_t)slot < end; i++, slot++)
        if (*slot == code) {
            depend_call(instrument.depend, self->thread, (uint64_t)(uintptr_t)slot);
            break;
        }
    instrument_leave(self);
}

/* The latest call of this thread returns. */
void __tsan_func_exit(void)
{
    const uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    struct traced *self = instrument_enter();
    if (!self)
        return;
    if (depend_is_on_stack(self->thread, frame)) {
        size_t count = self->thread->frame_count;
        while (count > 0 && self->thread->frames[count - 1].slot < frame)
            count--; /* of calls that a longjmp() has ended */
        if (count > 0)
            depend_return(instrument.depend, self->thread, self->thread->frames[count - 1].slot);
    }
    instrument_leave(self);
}

/* --- atomic operations -------------------------------------------------------------------------
 */

#define CHANGE(bits, type, name, builtin)                                                          \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)                    \
    {                                                                                              \
        (void)order;                                                                               \
        refer((const void *)at, sizeof *at, false, CODE);                                          \
        refer((const void *)at, sizeof *at, true, CODE);                                           \
        return builtin(at, value, __ATOMIC_SEQ_CST);                                               \
    }
#define COMPARE(bits, type, name)                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *expected,           \
                                                      type value, int order, int failed)           \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        return exchange##bits(at, expected, value, CODE);                                          \
    }
/* A write is counted only if the value was exchanged. */
#define OPERATIONS(bits, type)                                                                     \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                            \
    {                                                                                              \
        (void)order;                                                                               \
        refer((const void *)at, sizeof *at, false, CODE);                                          \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                     \
    {                                                                                              \
        (void)order;                                                                               \
        refer((const void *)at, sizeof *at, true, CODE);                                           \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                             \
    }                                                                                              \
    __attribute__((always_inline)) static inline int exchange##bits(                               \
        volatile type *at, type *expected, type value, uint64_t code)                              \
    {                                                                                              \
        const int done = __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST,     \
                                                     __ATOMIC_SEQ_CST);                            \
        refer((const void *)at, sizeof *at, false, code);                                          \
        if (done)                                                                                  \
            refer((const void *)at, sizeof *at, true, code);                                       \
        return done;                                                                               \
    }                                                                                              \
    COMPARE(bits, type, strong)                                                                    \
    COMPARE(bits, type, weak)                                                                      \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value,  \
                                                    int order, int failed)                         \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        exchange##bits(at, &expected, value, CODE);                                                \
        return expected;                                                                           \
    }                                                                                              \
    CHANGE(bits, type, exchange, __atomic_exchange_n)                                              \
    CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                              \
    CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                              \
    CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                              \
    CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                                \
    CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                              \
    CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)

/* clang-format off */
OPERATIONS(8, uint8_t)
OPERATIONS(16, uint16_t)
OPERATIONS(32, uint32_t)
OPERATIONS(64, uint64_t)
/* clang-format on */

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
