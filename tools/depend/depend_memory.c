#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tools/depend/depend_memory.h"

#include "capture/exec/kernel/system_call_effects.h"
#include "capture/exec/translate/decode.h"
#include "formats/base/grow.h"

#include <stdlib.h>
#include <sys/mman.h>

#define BLOCK_ALIGNMENT 16u /* of malloc */
#define ADDRESSES       (UINT64_C(1) << 32)
#define SIZES_BYTES     (ADDRESSES / BLOCK_ALIGNMENT * sizeof(uint32_t))

enum allocator_kind { ALLOCATES, ALLOCATES_ZEROS, MOVES, GIVES_BACK };

/* The arguments in rdi, rsi are a size, or a number and a size, or a block. */
static const struct {
    const char *name;
    enum allocator_kind kind;
    uint8_t size; /* argument register with the size */
} allocators[DEPEND_ALLOCATORS] = {
    {"malloc", ALLOCATES, DECODE_RDI},        {"memalign", ALLOCATES, DECODE_RSI},
    {"aligned_alloc", ALLOCATES, DECODE_RSI}, {"calloc", ALLOCATES_ZEROS, DECODE_RDI},
    {"realloc", MOVES, DECODE_RSI},           {"free", GIVES_BACK, DECODE_RDI}};

int depend_memory_init(struct depend_memory *memory, struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 0; i < DEPEND_ALLOCATORS && result == 0; i++)
        result = exec_symbol_parse(&memory->symbols[i], allocators[i].name, error);
    void *sizes = mmap(NULL, SIZES_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (result == 0 && sizes == MAP_FAILED)
        result = bt_fail(error, BT_MEMORY, "no address space for the sizes of blocks");
    memory->sizes = sizes == MAP_FAILED ? NULL : sizes;
    return result;
}

void depend_memory_clear(struct depend_memory *memory)
{
    for (unsigned i = 0; i < DEPEND_ALLOCATORS; i++)
        exec_symbol_clear(&memory->symbols[i]);
    if (memory->sizes)
        munmap(memory->sizes, SIZES_BYTES);
    free(memory->pending);
}

/* --- malloc(3) ---------------------------------------------------------------------------------
 */

int depend_memory_look(struct depend_memory *memory, const struct modules *modules)
{
    int result = 0;
    for (unsigned i = 0; i < DEPEND_ALLOCATORS && result == 0; i++)
        if (memory->symbols[i].address == 0 && exec_symbol_look(&memory->symbols[i], modules))
            result = process_watch(memory->process, memory->symbols[i].address);
    return result;
}

static uint32_t *size_of(const struct depend_memory *memory, uint64_t block)
{
    return block > 0 && block < ADDRESSES && block % BLOCK_ALIGNMENT == 0
               ? &memory->sizes[block / BLOCK_ALIGNMENT]
               : NULL;
}

static void forget(const struct depend_memory *memory, uint64_t block, uint64_t size)
{
    if (block < ADDRESSES && size > 0 && size <= ADDRESSES - block)
        depend_forget(memory->feed->depend, block, size);
}

/* Forgets a block that the program gives back. */
static void give_back(const struct depend_memory *memory, uint64_t block)
{
    uint32_t *size = size_of(memory, block);
    if (!size)
        return;
    forget(memory, block, *size);
    *size = 0;
}

static int enter(struct depend_memory *memory, unsigned processor, unsigned allocator,
                 const uint64_t *registers)
{
    uint64_t back;
    if (allocators[allocator].kind == GIVES_BACK) {
        give_back(memory, registers[DECODE_RDI]);
        return 0;
    }
    if (process_read(memory->process, &back, registers[DECODE_RSP], sizeof back) != 0)
        return 0;
    struct pending_allocation *larger = grow_array(memory->pending, &memory->pending_capacity,
                                                   memory->pending_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    memory->pending = larger;
    uint64_t size = registers[allocators[allocator].size];
    if (allocators[allocator].kind == ALLOCATES_ZEROS &&
        __builtin_mul_overflow(size, registers[DECODE_RSI], &size))
        size = 0;
    larger[memory->pending_count++] = (struct pending_allocation){.processor = processor,
                                                                  .allocator = allocator,
                                                                  .slot = registers[DECODE_RSP],
                                                                  .size = size,
                                                                  .before = registers[DECODE_RDI]};
    return process_watch(memory->process, back);
}

/* An allocator has returned the block. */
static void leave(const struct depend_memory *memory, const struct pending_allocation *pending,
                  uint64_t block)
{
    uint32_t *size = size_of(memory, block);
    const enum allocator_kind kind = allocators[pending->allocator].kind;
    if (kind == MOVES && pending->before != block && (block != 0 || pending->size == 0))
        give_back(memory, pending->before);
    if (!size)
        return;
    if (kind == ALLOCATES)
        forget(memory, block, pending->size);
    *size = pending->size < UINT32_MAX ? (uint32_t)pending->size : 0;
}

int depend_memory_reached(struct depend_memory *memory, unsigned processor, uint64_t address,
                          const uint64_t *registers)
{
    for (size_t i = memory->pending_count; i-- > 0;) {
        const struct pending_allocation pending = memory->pending[i];
        if (pending.processor != processor || pending.slot >= registers[DECODE_RSP])
            continue;
        memory->pending[i] = memory->pending[--memory->pending_count];
        if (pending.slot + sizeof(uint64_t) == registers[DECODE_RSP])
            leave(memory, &pending, registers[DECODE_RAX]);
    }
    for (unsigned i = 0; i < DEPEND_ALLOCATORS; i++)
        if (memory->symbols[i].address == address)
            return enter(memory, processor, i, registers);
    return 0;
}

/* --- system calls ------------------------------------------------------------------------------
 */

struct call_effects {
    struct depend_memory *memory;
    unsigned processor;
    int result;
};

static void put_effect(void *context, enum system_call_effect effect, uint64_t address,
                       uint64_t size)
{
    struct call_effects *effects = context;
    if (effect == SYSTEM_CALL_RELEASED)
        forget(effects->memory, address, size);
    else if (effects->result == 0)
        effects->result =
            depend_feed_kernel_write(effects->memory->feed, effects->processor, address, size);
}

static void move(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    const struct call_effects *effects = context;
    if (from < ADDRESSES && size <= ADDRESSES - from && to < ADDRESSES && size <= ADDRESSES - to)
        depend_move(effects->memory->feed->depend, from, to, size);
}

static int read_memory(void *context, void *bytes, uint64_t address, size_t size)
{
    return process_read(((struct call_effects *)context)->memory->process, bytes, address, size);
}

int depend_memory_called(struct depend_memory *memory, unsigned processor,
                         const struct system_call *call, bool returned)
{
    struct call_effects effects = {.memory = memory, .processor = processor};
    const struct system_call_observer observer = {
        .put = put_effect, .move = move, .read = read_memory, .context = &effects};
    depend_feed_system_call(memory->feed, processor);
    if (!returned)
        return 0;
    feed_aliases_called(&memory->feed->aliases, call);
    if (!system_call_effects(call, &observer))
        memory->unknown_calls++;
    return effects.result;
}
