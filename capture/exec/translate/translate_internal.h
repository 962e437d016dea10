/* What the parts of the translator share while they work on one block. */
#ifndef CAPTURE_EXEC_TRANSLATE_TRANSLATE_INTERNAL_H
#define CAPTURE_EXEC_TRANSLATE_TRANSLATE_INTERNAL_H

#include "capture/exec/translate/emit.h"
#include "capture/exec/translate/exec_thread.h"
#include "capture/exec/translate/translate.h"

#define TRANSLATE_RECORDS  1024u
#define TRANSLATE_SPECIALS (2 * DECODE_ACCESSES * CODE_CACHE_INSTRUCTIONS)
#define TRANSLATE_KNOWN    16u

/* An address part that an entry of this block already tells. */
struct known_address {
    uint8_t base, index, scale;
    uint16_t slot;
    int64_t base_moved, index_moved; /* of the registers when it was written */
};

struct translator {
    struct code_cache *cache;
    enum exec_trace trace;
    uint64_t breakpoint;                             /* blocks end in front of it; 0: nowhere */
    translator_breakpoint_function *find_breakpoint; /* NULL: nowhere else */
    void *breakpoint_context;
    int32_t lookup; /* where the table of indirect branches' targets is in the thread */
    bool counts_turns;
    exec_readable_function *readable;
    exec_unseen_function *unseen; /* NULL: there is no such code */
    void *context;
    translator_defined_function *defined;
    void *defined_context;

    struct emitter emitter;
    struct block *block;
    struct decode_instruction instructions[CODE_CACHE_INSTRUCTIONS];
    unsigned count;
    unsigned slots; /* entries so far; entry 0 is the block's number */
    struct known_address known[TRANSLATE_KNOWN];
    unsigned known_count;
    int64_t moved[DECODE_REGISTERS]; /* by constants since the block began */
    struct record records[TRANSLATE_RECORDS];
    struct patch patches[TRANSLATE_RECORDS];
    uint16_t through_fs[TRANSLATE_RECORDS];
    struct special specials[TRANSLATE_SPECIALS];
    struct pc_map_entry pc_map[CODE_CACHE_INSTRUCTIONS];
    unsigned record_count, patch_count, through_fs_count, special_count;
};

/* Begins with a block's trace: its number. */
void translate_trace_begin(struct translator *translator);

/* Writes down an instruction's references: what can be told before it, and what only afterwards. */
void translate_trace_before(struct translator *translator,
                            const struct decode_instruction *instruction);
void translate_trace_after(struct translator *translator,
                           const struct decode_instruction *instruction);

/* The most entries and records that an instruction can need. */
unsigned translate_trace_slots(const struct decode_instruction *instruction);
unsigned translate_trace_records(const struct decode_instruction *instruction);

/* What looks, at a block's beginning, whether its code is as it was; false where the cache is full.
 */
bool translate_verify_code(struct translator *translator);

/* What leaves, at a block's beginning, unless x87's instruction pointer is the program's; false
 * where the cache is full. */
bool translate_ask_x87(struct translator *translator);

/* Gives the block's registers back, and leaves by an exit. */
void translate_leave(struct translator *translator, uint32_t number);

/* Ends a block behind its last instruction; false where the cache is full. `end` is where the
 * program goes on in a straight line. */
bool translate_end(struct translator *translator, const struct decode_instruction *last,
                   struct pc_map_entry *entry, uint64_t end);

/* Offset of what is emitted next from the block's beginning. */
static inline uint16_t translate_offset(const struct translator *translator)
{
    return (uint16_t)(translator->emitter.at - translator->block->code);
}

#endif
