/*
 * Translated blocks: their code, their exits, and the meaning of their trace entries.
 *
 * A block spills two registers of the program that its own instructions do not use, `pointer` and
 * `scratch`, to the thread's slots. Linked blocks that spill the same two do not reload them in
 * between. Blocks without a trace need neither: they spill nothing, except those that verify their
 * code or count turns.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_CODE_CACHE_H
#define CAPTURE_EXEC_TRANSLATE_CODE_CACHE_H

#include "capture/exec/translate/decode.h"
#include "formats/base/error.h"
#include "formats/record/record.h"

#define CODE_CACHE_INSTRUCTIONS 64u   /* maximum in a block */
#define CODE_CACHE_SLOTS        4096u /* maximum of trace entries of a block, 4 bytes each */

/* The registers that blocks spill by preference. Indirect branches enter blocks with these two
 * spilled. */
#define CODE_CACHE_POINTER DECODE_R15
#define CODE_CACHE_SCRATCH DECODE_R14

enum exit_kind {
    EXIT_DIRECT,      /* continues at `target` */
    EXIT_INDIRECT,    /* continues at the thread's `jump` */
    EXIT_SYSTEM_CALL, /* continues at `target` after the system call */
    EXIT_EMULATED,    /* the executor emulates the instruction at `target` */
    EXIT_X87,         /* the block at `target` stores x87's pointer, and has executed nothing yet */
    EXIT_CHANGED,     /* the code at `target` has changed; the block has executed nothing */
    EXIT_TRAP,        /* the instruction at `target` raises a signal */
    EXIT_DEFINED,     /* the instruction at `target` is defined by a control program */
    EXIT_REFUSED      /* the instruction at `target` is not supported */
};

struct block;

/* An exit of a block. */
struct exit {
    uint8_t kind; /* enum exit_kind */
    bool branch;  /* a branch of the program; false: the block only reached its maximum length */
    uint8_t branch_kind; /* enum decode_kind of the branch */
    uint8_t branch_size; /* of the branch, in bytes */
    uint64_t branch_address;
    uint64_t branch_target; /* of a direct branch, if it is taken */
    uint64_t target;
    struct block *from;
    struct block *to;   /* linked block; NULL: the exit leaves translated code */
    uint8_t *jump;      /* rel32 of a direct exit, to `stub` until the exit is linked; else NULL */
    uint8_t *stub;      /* reloads the spilled registers */
    uint8_t *stub_jump; /* rel32 at the end of the stub: to `leave`, or to a block that spills
                           others. NULL if `from` spills nothing */
    uint8_t *leave;
    struct exit *next_incoming; /* next exit linked to the same block */
};

/* An address in a block's records, computed as entries[slot] + addend. */
struct patch {
    uint16_t record;
    uint16_t slot;
    uint32_t addend;
};

/* References whose number or addresses depend on the entries; they precede `record`. */
struct special {
    uint16_t record;
    uint16_t slot;
    bool write;       /* of an access that reads and writes: this is the write */
    uint8_t accesses; /* 2: movs and cmps with rep */
    struct decode_access access[2];
};

/* The entry with what a conditional instruction has done; in traces with outcomes. */
struct outcome_slot {
    uint16_t instruction; /* number of the block's instructions before it */
    uint16_t slot;
    uint8_t mask; /* entry & mask: 0 if the condition was false, or the count 0 */
};

/*
 * The entries with the value that an instruction has defined (doc/wet.md, "Values"); in traces with
 * values. The lowest byte comes first; bytes before `offset`, and after the value in its last
 * entry, may have any value, and so may all of them if a conditional definition did not take place.
 * call and syscall have none, nor have instructions that the executor emulates.
 */
struct value_slot {
    uint16_t instruction; /* number of the block's instructions before it */
    uint16_t slot;        /* of the value's first bytes */
    uint8_t size;         /* bytes; they occupy whole entries */
    uint8_t offset;       /* of the value's first byte in the entry: 1 for ah, ch, dh and bh */
};

/* Maps an offset in translated code to an instruction of the program, for faults and signals. */
struct pc_map_entry {
    uint16_t traced;   /* offset in the code of what writes its entries */
    uint16_t code;     /* offset of the copied instruction */
    uint16_t end;      /* offset of its end */
    uint16_t records;  /* number of records of the instructions before it */
    uint16_t specials; /* number of specials of the instructions before it */
    bool repeated;     /* a string instruction with a repeat prefix */
    uint32_t offset;   /* from the block's address */
};

/* The fields that executor_step() reads come first, within a cache line. */
struct block {
    uint64_t address;
    struct block *next_at_hash;
    uint8_t *code; /* entry that spills the registers */
    struct exit *exits;
    struct patch *patches;
    struct record *step_records; /* executor_step()'s copy of `records`; NULL: not made */
    uint32_t first_exit;         /* number of exits[0] */
    uint16_t record_count, patch_count, through_fs_count;
    uint16_t instructions;  /* number of executed instructions, including a system call */
    bool vector : 1;        /* uses vector state */
    bool beyond_sse : 1;    /* not only xmm registers and MXCSR: legacy_sse() */
    bool fs;                /* may use the base of fs */
    uint8_t step_processor; /* processor in step_records */
    bool breakpoint;        /* runs stop before the block: no exit is linked to it */

    bool verify_code; /* compares its code with the bytes it was made from on each entry */
    bool saves_x87;   /* the first instruction stores x87's pointer: translate_check_x87() */
    uint8_t pointer, scratch; /* spilled registers; DECODE_NONE: none */
    uint8_t ending;           /* enum decode_kind of the last instruction, executed or not */
    uint8_t exit_count;
    uint16_t slots; /* number of entries of one execution */

    uint32_t size;     /* bytes of the program's code */
    uint32_t number;   /* identifies the block in the trace */
    uint8_t *indirect; /* entry with CODE_CACHE_POINTER and _SCRATCH spilled; without a trace, the
                          block's arrival, or NULL: translate_arrival() */
    uint8_t *inner; /* entry with the block's own registers spilled and the trace pointer loaded */
    uint8_t *code_end;
    uint16_t advance; /* offset in the code after the pointer was advanced */
    uint16_t bytes;   /* by which the pointer is advanced */
    uint16_t special_count, pc_map_count, outcome_count, value_count;
    struct exit *incoming;
    struct block *cuts; /* shorter blocks of the same code; linked by next_at_hash */
    struct block
        *next_in_page[2];   /* for the page of its first byte, and of its last if that differs */
    struct record *records; /* of one execution, before data addresses are patched */
    uint16_t *through_fs;   /* numbers of records to whose address the base of fs is added */
    struct special *specials;
    struct outcome_slot *outcomes; /* in order */
    struct value_slot *values;     /* in order */
    struct pc_map_entry *pc_map;
};

struct code_cache;

/* A cache of `bytes` bytes of code. Metadata takes at most three times `bytes`, the tables three
 * eighths of `bytes` and 2 MiB. Pages are allocated on first use. */
struct code_cache *code_cache_new(size_t bytes, struct bt_error *error);
void code_cache_free(struct code_cache *cache);

/* The hash table of blocks by address; its address stays the same. Neighbouring addresses have
 * neighbouring entries, because they are looked up together. The lowest bit is ignored, because
 * blocks rarely begin at adjacent bytes. */
#define CODE_CACHE_HASH_ENTRIES 262144u
struct block *const *code_cache_hash(const struct code_cache *cache);

static inline unsigned code_cache_hash_of(uint64_t address)
{
    return (unsigned)(address >> 1 ^ address >> 19) % CODE_CACHE_HASH_ENTRIES;
}

/* The block that begins at an address; NULL: none. */
static inline struct block *code_cache_find_in(struct block *const *hash, uint64_t address)
{
    struct block *block = hash[code_cache_hash_of(address)];
    while (block && block->address != address)
        block = block->next_at_hash;
    return block;
}

struct block *code_cache_find(const struct code_cache *cache, uint64_t address);

/* The block with a number; NULL: none. */
struct block *code_cache_block(const struct code_cache *cache, uint32_t number);

/* The number of blocks, and its maximum. Block numbers are below both. */
uint32_t code_cache_blocks(const struct code_cache *cache);
uint32_t code_cache_block_limit(const struct code_cache *cache);

/* The block whose code contains an address in the cache; NULL: none. */
struct block *code_cache_at(const struct code_cache *cache, const void *code);

/* Whether an address is in the cache's code, in a block or not. */
bool code_cache_holds(const struct code_cache *cache, const void *code);

/* Free space for code, up to *end. code_cache_keep() then keeps what was written before `end`. */
uint8_t *code_cache_room(struct code_cache *cache, uint8_t **end);
void code_cache_keep(struct code_cache *cache, uint8_t *end);

/* The same for code that is rarely executed, apart from the other: at least `bytes` bytes, which
 * may be taken off the end of that space. NULL: the cache is full. Blocks do not contain it. */
uint8_t *code_cache_aside(struct code_cache *cache, size_t bytes, uint8_t **end);
void code_cache_keep_aside(struct code_cache *cache, uint8_t *end);

/* Whether there is room for several blocks of any kind. */
bool code_cache_has_room(const struct code_cache *cache);

/* Zeroed memory for metadata of blocks, valid until the next flush; NULL: the cache is full. */
void *code_cache_allocate(struct code_cache *cache, size_t bytes);

/* Numbers a new block, and new exits: 0 and the first exit's number, or -1 if the cache is full. */
int code_cache_add_block(struct code_cache *cache, struct block *block);
int64_t code_cache_add_exits(struct code_cache *cache, struct exit *exits, unsigned count);
struct exit *code_cache_exit(const struct code_cache *cache, uint32_t number);

/* Enters a block into the hash table. */
void code_cache_enter(struct code_cache *cache, struct block *block);

/* Links an exit to a block: translated code is not left in between. */
void code_cache_link(struct exit *exit, struct block *to);

/* Unlinks all exits. */
void code_cache_unlink_all(struct code_cache *cache);

/* Unlinks and forgets the blocks with a byte in [begin, end). Returns their number. */
unsigned code_cache_invalidate(struct code_cache *cache, uint64_t begin, uint64_t end);

/* Forgets all blocks. */
void code_cache_flush(struct code_cache *cache);

/* Jumps to the thread's `leave`, `again` and `find`, in reach of a rel32. */
const uint8_t *code_cache_leave(const struct code_cache *cache);
const uint8_t *code_cache_look_again(const struct code_cache *cache);
const uint8_t *code_cache_find_target(const struct code_cache *cache);

/* Number of flushes since code_cache_new(). */
unsigned code_cache_flushes(const struct code_cache *cache);

#endif
