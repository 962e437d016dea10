/* State of the translator, shared by its files. */
#ifndef CAPTURE_EXEC_TRANSLATE_TRANSLATE_INTERNAL_H
#define CAPTURE_EXEC_TRANSLATE_TRANSLATE_INTERNAL_H

#include "capture/exec/translate/data_flow.h"
#include "capture/exec/translate/decode_forms.h"
#include "capture/exec/translate/emit.h"
#include "capture/exec/translate/exec_thread.h"
#include "capture/exec/translate/translate.h"

#define TRANSLATE_RECORDS  1024u
#define TRANSLATE_SPECIALS (2 * DECODE_ACCESSES * CODE_CACHE_INSTRUCTIONS)
#define TRANSLATE_KNOWN    16u
#define TRANSLATE_ENTRY    4u /* bytes */

/* The operand of an access, without fs. */
static inline struct emit_memory translate_operand(const struct decode_access *access)
{
    return (struct emit_memory){.base = access->base,
                                .index = access->index,
                                .scale = access->scale,
                                .narrow = access->narrow,
                                .displacement = (int32_t)access->displacement};
}

/* The operand of an indirect branch, from which the target is loaded. */
static inline struct emit_memory translate_target_operand(const struct decode_access *access)
{
    struct emit_memory memory = translate_operand(access);
    memory.fs = access->fs;
    if (access->base == DECODE_NONE && access->displacement > INT32_MAX)
        memory.narrow = true;
    return memory;
}

/* A part of an address that an entry of this block already contains. */
struct known_address {
    uint8_t base, index, scale;
    uint16_t slot;
    int64_t base_moved, index_moved; /* of the registers, when the entry was written */
};

/* What to change in a block's code at another place, or in another run: 4 bytes at an offset. */
enum translate_relocation_kind {
    TRANSLATE_FIND_TARGET, /* rel32 to code_cache_find_target() */
    TRANSLATE_LOOK_AGAIN,  /* rel32 to code_cache_look_again() */
    TRANSLATE_EXIT_NUMBER, /* number of the block's first exit */
    TRANSLATE_BLOCK_NUMBER,
    TRANSLATE_RELOCATION_KINDS
};

struct translate_relocation {
    uint16_t at; /* from the block's first byte */
    uint8_t kind;
    uint8_t unused;
};

#define TRANSLATE_RELOCATIONS 4u /* maximum of a block that is stored */

struct translator {
    struct code_cache *cache;
    struct decode_forms *forms;
    enum exec_trace trace;
    uint64_t breakpoint;                             /* blocks end before this address; 0: none */
    translator_breakpoint_function *find_breakpoint; /* NULL: no further breakpoints */
    void *breakpoint_context;
    int32_t lookup;  /* offset in the thread of the table of indirect branch targets */
    int32_t targets; /* the same of the one without a trace */
    uint8_t *pushed; /* rel32 of translate_push(); NULL: the constant is in the instruction */
    bool counts_turns;
    bool traps_clock; /* rdtsc and rdtscp raise a signal */
    exec_readable_function *readable;
    exec_unseen_function *unseen; /* NULL: all changes are reported */
    void *context;
    translator_defined_function *defined;
    void *defined_context;

    struct block_store *store; /* NULL: none */
    exec_stored_function *stored;
    uint8_t *begin;       /* first byte of the current block */
    const uint8_t *stubs; /* where its stubs begin, or would; NULL: there are none */
    struct translate_relocation relocations[TRANSLATE_RELOCATIONS];
    unsigned relocation_count; /* may exceed the maximum */

    struct emitter emitter;
    struct block *block;
    struct decode_instruction instructions[CODE_CACHE_INSTRUCTIONS];
    unsigned count;
    unsigned slots; /* number of entries so far; entry 0 is the block's number */
    struct known_address known[TRANSLATE_KNOWN];
    unsigned known_count;
    int64_t moved[DECODE_REGISTERS]; /* sum of constants added since the block's begin */
    struct record records[TRANSLATE_RECORDS];
    struct patch patches[TRANSLATE_RECORDS];
    uint16_t through_fs[TRANSLATE_RECORDS];
    struct special specials[TRANSLATE_SPECIALS];
    struct pc_map_entry pc_map[CODE_CACHE_INSTRUCTIONS];
    struct outcome_slot outcomes[CODE_CACHE_INSTRUCTIONS];
    struct value_slot values[CODE_CACHE_INSTRUCTIONS];
    unsigned record_count, patch_count, through_fs_count, special_count, outcome_count, value_count;
    struct data_flow flow;  /* of the current instruction; in traces with values */
    unsigned value_address; /* slot of the address where its value will be; 0: none */
};

/* Emits the first entry of a block: its number. */
void translate_trace_begin(struct translator *translator);

/* Emit an instruction's entries: those known before it, and those known only after it. */
void translate_trace_before(struct translator *translator,
                            const struct decode_instruction *instruction);
void translate_trace_after(struct translator *translator,
                           const struct decode_instruction *instruction);

/* The same for its value (translate_value.c). */
void translate_value_before(struct translator *translator,
                            const struct decode_instruction *instruction);
void translate_value_after(struct translator *translator,
                           const struct decode_instruction *instruction);

#define TRANSLATE_VALUE_SLOTS 18u /* maximum of entries: 64 bytes, and an address */

/* Maximum number of entries, without the value's, and of records of an instruction. */
unsigned translate_trace_slots(const struct decode_instruction *instruction);
unsigned translate_trace_records(const struct decode_instruction *instruction);

/* Emits the comparison of the program's code with the bytes that the block was translated from.
 * False: the cache is full. */
bool translate_verify_code(struct translator *translator);

/* Emits an exit at the block's begin that is taken unless x87's instruction pointer is the
 * program's. False: the cache is full. */
bool translate_check_x87(struct translator *translator);

/* Reloads the block's spilled registers and leaves by an exit. */
void translate_leave(struct translator *translator, uint32_t number);

/* Whether the block spills registers. */
static inline bool translate_spills(const struct block *block)
{
    return block->pointer != DECODE_NONE;
}

/* Reloads the spilled registers, and stores the trace's pointer with `pointer`. */
void translate_reload(struct translator *translator, bool pointer);

/* Without a trace (translate_indirect.c): emits the code for a target, which falls through to the
 * block's usual entry, and an indirect branch at the end of a block. */
void translate_arrive(struct translator *translator, uint64_t target);
void translate_go(struct translator *translator, const struct decode_instruction *instruction,
                  struct pc_map_entry *entry, uint64_t end);

/* Pushes a constant without a register. If it is in memory, translate_place() emits it, after the
 * block's last jump. */
void translate_push(struct translator *translator, uint64_t value);
void translate_place(struct translator *translator, uint64_t value);

/* Notes that the last 4 bytes emitted depend on the block's place or numbers. */
void translate_relocate(struct translator *translator, enum translate_relocation_kind kind);

/* Adds the current block to the store, and makes the current block, of which only the address is
 * set, from the store or one of its records: 1; 0: it must be translated; -1: the cache is full. */
void translate_store(struct translator *translator);
int translate_from_store(struct translator *translator);
int translate_restore(struct translator *translator, const uint8_t *record, size_t size);

/* Emits the stubs of a block's exits; `number` is the first exit's. */
bool translate_stubs(struct translator *translator, uint32_t number);

/* Emits a block's exits after its last instruction. `end` is the address after that instruction.
 * False: the cache is full. */
bool translate_end(struct translator *translator, const struct decode_instruction *last,
                   struct pc_map_entry *entry, uint64_t end);

/* Offset of an entry from the trace pointer. */
static inline int32_t translate_displacement(unsigned slot)
{
    return (int32_t)(slot * TRANSLATE_ENTRY);
}

/* Offset in the block's code of what is emitted next. */
static inline uint16_t translate_offset(const struct translator *translator)
{
    return (uint16_t)(translator->emitter.at - translator->block->code);
}

#endif
