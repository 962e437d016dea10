#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/trace/trace_compile.h"

#include "capture/exec/translate/emit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Registers of the generated code: rsi entries, rdx their end, rdi records, rcx the last record at
 * which a block may begin, r8 the table of code, r9 instructions, r11 fs base; rax and r10 are
 * free. The position is on the stack. ymm13 to ymm15 hold the processor's number for the three
 * alignments of 32 bytes in records of 12.
 */
#define STEP     32u /* bytes of a move */
#define PATTERNS 3u  /* 3 * 32 is a multiple of 12 */

#define BLOCK_BYTES 65536u /* more than a block's code and records need */
#define OFTEN       16u    /* executions after which generating code pays */

/* The memory begins with the patterns and the number of blocks, which are written, on a page
 * without code. */
#define PATTERN_PAGE 4096u
#define USED_AT      128u

_Static_assert(offsetof(struct trace_position, end) == 8 &&
                   offsetof(struct trace_position, records) == 16 &&
                   offsetof(struct trace_position, last) == 24 &&
                   offsetof(struct trace_position, instructions) == 32 &&
                   offsetof(struct trace_position, fs_base) == 40,
               "known to emit_begin()");

struct trace_code {
    uint8_t *memory;
    size_t size;
    struct emitter emitter; /* code grows upwards, */
    uint8_t *data;          /* records downwards */
    uint8_t *first;         /* after the common entry and exit code */
    const uint8_t *begin, *end;
    const uint8_t **table; /* by block number; `end` for blocks without code */
    uint8_t *seen;         /* number of executions, by block number */
    size_t table_bytes;
    uint32_t limit, used;
    const struct code_cache *cache;
};

static void emit_dispatch(struct trace_code *code)
{
    static const uint8_t load[] = {0x8b, 0x06,              /* mov eax, [rsi] */
                                   0x3b, 0x05};             /* cmp eax, [rip + ...] */
    static const uint8_t jump[] = {0x41, 0xff, 0x24, 0xc0}; /* jmp [r8 + rax * 8] */
    struct emitter *emitter = &code->emitter;
    emit_bytes(emitter, load, sizeof load);
    emit32(emitter, (uint32_t)(code->memory + USED_AT - (emitter->at + 4)));
    emit8(emitter, 0x0f); /* jae: the program has overwritten the entry */
    emit8(emitter, 0x83);
    emit32(emitter, (uint32_t)(code->end - (emitter->at + 4)));
    emit_bytes(emitter, jump, sizeof jump);
}

static void emit_begin(struct trace_code *code)
{
    static const uint8_t load[] = {
        0x57,                   /* push rdi */
        0x48, 0x8b, 0x37,       /* mov rsi, [rdi] */
        0x48, 0x8b, 0x57, 0x08, /* mov rdx, [rdi + 8] */
        0x48, 0x8b, 0x4f, 0x18, /* mov rcx, [rdi + 24] */
        0x4c, 0x8b, 0x4f, 0x20, /* mov r9, [rdi + 32] */
        0x4c, 0x8b, 0x5f, 0x28, /* mov r11, [rdi + 40] */
        0x48, 0x8b, 0x7f, 0x10, /* mov rdi, [rdi + 16] */
    };
    struct emitter *emitter = &code->emitter;
    code->begin = emitter->at;
    emit_bytes(emitter, load, sizeof load);
    emit_constant(emitter, DECODE_R8, (uint64_t)(uintptr_t)code->table);
    for (unsigned i = 0; i < PATTERNS; i++) { /* vmovdqu pattern, [rip + ...] */
        const uint8_t move[] = {0xc5, 0x7e, 0x6f, (uint8_t)((5 + i) << 3 | 5)};
        emit_bytes(emitter, move, sizeof move);
        emit32(emitter, (uint32_t)(code->memory + i * STEP - (emitter->at + 4)));
    }
    emit_dispatch(code);
}

static void emit_end(struct trace_code *code)
{
    static const uint8_t bytes[] = {0x58,                   /* pop rax */
                                    0x48, 0x89, 0x30,       /* mov [rax], rsi */
                                    0x48, 0x89, 0x78, 0x10, /* mov [rax + 16], rdi */
                                    0x4c, 0x89, 0x48, 0x20, /* mov [rax + 32], r9 */
                                    0xc5, 0xf8, 0x77,       /* vzeroupper */
                                    0xc3};
    code->end = code->emitter.at;
    emit_bytes(&code->emitter, bytes, sizeof bytes);
}

struct trace_code *trace_code_new(size_t bytes, const struct code_cache *cache)
{
    struct trace_code *code;
    if (!__builtin_cpu_supports("avx2") || !(code = calloc(1, sizeof *code)))
        return NULL;
    code->size = bytes;
    code->cache = cache;
    code->limit = code_cache_block_limit(cache);
    code->table_bytes = code->limit * (sizeof *code->table + 1);
    int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, kind, -1, 0);
    void *table = mmap(NULL, code->table_bytes, PROT_READ | PROT_WRITE, kind, -1, 0);
    code->memory = memory == MAP_FAILED ? NULL : memory;
    code->table = table == MAP_FAILED ? NULL : table;
    if (!code->memory || !code->table) {
        trace_code_free(code);
        return NULL;
    }
    code->seen = (uint8_t *)(code->table + code->limit);
    code->emitter.at = memory + PATTERN_PAGE;
    code->emitter.end = code->data = memory + bytes;
    emit_end(code);
    emit_begin(code);
    code->first = code->emitter.at;
    return code;
}

void trace_code_free(struct trace_code *code)
{
    if (!code)
        return;
    if (code->memory)
        munmap(code->memory, code->size);
    if (code->table)
        munmap(code->table, code->table_bytes);
    free(code);
}

void trace_code_forget(struct trace_code *code)
{
    code->emitter.at = code->first;
    code->data = code->memory + code->size;
    memset(code->seen, 0, code->used);
    code->used = 0;
}

/* --- a block -----------------------------------------------------------------------------------
 */

/* Copies records from the template. */
static void emit_records(struct trace_code *code, unsigned bytes)
{
    struct emitter *emitter = &code->emitter;
    for (unsigned at = 0; at < bytes; at += STEP) {
        unsigned pattern = 13 + at / STEP % PATTERNS;
        /* vpor ymm0, pattern, [rip + ...] */
        emit8(emitter, 0xc5);
        emit8(emitter, (uint8_t)(0x80 | (~pattern & 15u) << 3 | 5));
        emit8(emitter, 0xeb);
        emit8(emitter, 0x05);
        emit32(emitter, (uint32_t)(code->data + at - (emitter->at + 4)));
        /* vmovdqu [rdi + at], ymm0 */
        emit8(emitter, 0xc5);
        emit8(emitter, 0xfe);
        emit8(emitter, 0x7f);
        emit8(emitter, at < 128 ? 0x47 : 0x87);
        if (at < 128)
            emit8(emitter, (uint8_t)at);
        else
            emit32(emitter, at);
    }
}

/* Patches an address: entry, addend and base of fs. */
static void emit_patch_address(struct trace_code *code, const struct patch *patch, bool fs,
                               int *loaded)
{
    struct emitter *emitter = &code->emitter;
    struct emit_memory entry = emit_memory_at(DECODE_RSI, 4 * patch->slot);
    struct emit_memory sum = emit_memory_at(DECODE_RAX, (int32_t)patch->addend);
    uint8_t from = DECODE_RAX;
    if (*loaded != patch->slot)
        emit_with_memory(emitter, 0x8b, false, DECODE_RAX, &entry);
    *loaded = patch->slot;
    if (fs) {
        sum.index = DECODE_R11;
        from = DECODE_R10;
        emit_lea(emitter, from, &sum);
    } else if (patch->addend) {
        from = DECODE_R10;
        emit_lea(emitter, from, &sum);
    }
    emit_store32(emitter, DECODE_RDI, (int32_t)(patch->record * RECORD_BYTES), from);
}

static bool goes_through_fs(const struct block *block, unsigned record)
{
    for (unsigned i = 0; i < block->through_fs_count; i++)
        if (block->through_fs[i] == record)
            return true;
    return false;
}

static bool is_patched(const struct block *block, unsigned record)
{
    for (unsigned i = 0; i < block->patch_count; i++)
        if (block->patches[i].record == record)
            return true;
    return false;
}

static void emit_addresses(struct trace_code *code, const struct block *block)
{
    int loaded = -1;
    for (unsigned i = 0; i < block->patch_count; i++)
        emit_patch_address(code, &block->patches[i],
                           goes_through_fs(block, block->patches[i].record), &loaded);
    for (unsigned i = 0; i < block->through_fs_count; i++) {
        unsigned record = block->through_fs[i];
        struct emit_memory sum =
            emit_memory_at(DECODE_R11, (int32_t)block->records[record].address);
        if (is_patched(block, record))
            continue;
        emit_lea(&code->emitter, DECODE_R10, &sum);
        emit_store32(&code->emitter, DECODE_RDI, (int32_t)(record * RECORD_BYTES), DECODE_R10);
    }
}

/* add reg, value */
static void emit_add(struct emitter *emitter, uint8_t rex, uint8_t reg, uint32_t value)
{
    emit8(emitter, rex);
    emit8(emitter, value < 128 ? 0x83 : 0x81);
    emit8(emitter, (uint8_t)(0xc0 | reg));
    if (value < 128)
        emit8(emitter, (uint8_t)value);
    else
        emit32(emitter, value);
}

/* Jumps to the next block, or leaves. */
static void emit_next(struct trace_code *code, const struct block *block)
{
    static const uint8_t at_end[] = {0x48, 0x39, 0xd6, 0x0f, 0x83};  /* cmp rsi, rdx; jae */
    static const uint8_t at_last[] = {0x48, 0x39, 0xcf, 0x0f, 0x87}; /* cmp rdi, rcx; ja */
    struct emitter *emitter = &code->emitter;
    emit_add(emitter, 0x48, 7, block->record_count * RECORD_BYTES);
    emit_add(emitter, 0x48, 6, block->slots * 4u);
    emit_add(emitter, 0x49, 1, block->instructions);
    emit_bytes(emitter, at_end, sizeof at_end);
    emit32(emitter, (uint32_t)(code->end - (emitter->at + 4)));
    emit_bytes(emitter, at_last, sizeof at_last);
    emit32(emitter, (uint32_t)(code->end - (emitter->at + 4)));
    emit_dispatch(code);
}

void trace_code_see(struct trace_code *code, const struct block *block)
{
    struct emitter *emitter = &code->emitter;
    unsigned bytes = block->record_count * RECORD_BYTES;
    unsigned kept = (bytes + STEP - 1) / STEP * STEP;
    if (code->seen[block->number] == OFTEN || ++code->seen[block->number] < OFTEN ||
        block->special_count > 0 || (size_t)(code->data - emitter->at) < BLOCK_BYTES)
        return;
    code->data -= kept;
    memcpy(code->data, block->records, bytes);
    emitter->end = code->data;
    emitter->full = false;
    const uint8_t *begin = emitter->at;
    emit_records(code, bytes);
    emit_addresses(code, block);
    emit_next(code, block);
    if (!emitter->full)
        code->table[block->number] = begin;
}

/* --- running it --------------------------------------------------------------------------------
 */

void trace_code_run(struct trace_code *code, struct trace_position *position)
{
    uint32_t blocks = code_cache_blocks(code->cache);
    for (; code->used < blocks; code->used++)
        code->table[code->used] = code->end;
    uint8_t *patterns = code->memory;
    memcpy(code->memory + USED_AT, &blocks, sizeof blocks);
    void (*run)(struct trace_position *);
    if (patterns[offsetof(struct record, processor)] != position->processor)
        for (size_t i = offsetof(struct record, processor); i < PATTERNS * STEP; i += RECORD_BYTES)
            patterns[i] = position->processor;
    memcpy(&run, &code->begin, sizeof run);
    run(position);
}
