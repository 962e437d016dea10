/*
 * Translated blocks: their code, where it leaves them, and what their entries in the trace mean.
 *
 * A block may borrow two registers of the program that its own instructions do not use, `pointer`
 * and `scratch`; their values are in the thread's slots meanwhile. Blocks that borrow the same two
 * go from one to the other without giving them back.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_CODE_CACHE_H
#define CAPTURE_EXEC_TRANSLATE_CODE_CACHE_H

#include "capture/exec/translate/decode.h"
#include "formats/base/error.h"
#include "formats/record/record.h"

#define CODE_CACHE_INSTRUCTIONS 64u   /* of a block at most */
#define CODE_CACHE_SLOTS        4096u /* entries of 4 bytes in the trace, of a block at most */

/* The two that blocks borrow where they can; indirect branches hand over with these. */
#define CODE_CACHE_POINTER DECODE_R15
#define CODE_CACHE_SCRATCH DECODE_R14

enum exit_kind {
    EXIT_DIRECT,      /* goes on at `target` */
    EXIT_INDIRECT,    /* at the thread's `jump` */
    EXIT_SYSTEM_CALL, /* behind it at `target`, once it is done */
    EXIT_EMULATED,    /* the instruction at `target` is to be done by somebody */
    EXIT_X87,         /* the block at `target` did nothing: it stores x87's pointer */
    EXIT_CHANGED,     /* the block at `target` is not of the code that is there; it did nothing */
    EXIT_TRAP,        /* the instruction at `target` raises a signal */
    EXIT_DEFINED,     /* the instruction at `target` is not the processor's: somebody knows it */
    EXIT_REFUSED      /* the instruction at `target` cannot be done */
};

struct block;

/* A place where a block is left. */
struct exit {
    uint8_t kind;        /* enum exit_kind */
    bool branch;         /* a branch of the program, not only a block that had to end: */
    uint8_t branch_kind; /* enum decode_kind, */
    uint8_t branch_size; /* and its bytes */
    uint64_t branch_address;
    uint64_t branch_target; /* of direct ones, taken */
    uint64_t target;
    struct block *from;
    struct block *to;   /* where it is linked to; NULL: it leaves translated code */
    uint8_t *jump;      /* rel32 of a direct exit, to `stub` until it is linked; else NULL */
    uint8_t *stub;      /* gives the borrowed registers back, then */
    uint8_t *stub_jump; /* goes by this rel32: to `leave`, or to a block that borrows others */
    uint8_t *leave;
    struct exit *next_incoming; /* of those that are linked to the same block */
};

/* An address in a block's records: entries[slot] + addend. */
struct patch {
    uint16_t record;
    uint16_t slot;
    uint32_t addend;
};

/* References whose number or place the entries alone can tell, in front of `record`. */
struct special {
    uint16_t record;
    uint16_t slot;
    bool write;       /* of accesses that read and write: which this is */
    uint8_t accesses; /* 2: movs and cmps with rep */
    struct decode_access access[2];
};

/* An instruction of a block, for those who come in between: faults. */
struct pc_map_entry {
    uint16_t traced;  /* offset in the code where its entries are written */
    uint16_t code;    /* where it itself begins; */
    uint16_t end;     /* and ends */
    uint16_t records; /* of the instructions before it, */
    uint16_t specials;
    bool repeated;   /* a string instruction with a repeat prefix */
    uint32_t offset; /* from the block's address */
};

/* What a step needs comes first, in the size of a line of the processor's cache. */
struct block {
    uint64_t address;
    struct block *next_at_hash;
    uint8_t *code; /* begins here: takes the registers, then */
    struct exit *exits;
    struct patch *patches;
    struct record *step_records; /* executor_step()'s; NULL: not yet, or none */
    uint32_t first_exit;         /* number of exits[0] */
    uint16_t record_count, patch_count, through_fs_count;
    uint16_t instructions;  /* that are executed, a system call among them */
    bool vector;            /* touches vector state */
    bool fs;                /* may use the base of fs */
    uint8_t step_processor; /* of step_records */
    bool breakpoint;        /* runs stop in front of it: nothing leads here without leaving */

    bool verify_code;         /* compares its code with the bytes it was made from on each entry */
    bool saves_x87;           /* its first instruction does: asks whether it may, there, too */
    uint8_t pointer, scratch; /* registers that it borrows */
    uint8_t ending;           /* enum decode_kind of the last instruction, executed or not */
    uint8_t exit_count;
    uint16_t slots; /* entries of one execution */

    uint32_t size;     /* bytes of the program */
    uint32_t number;   /* what stands in the trace for it */
    uint8_t *indirect; /* with CODE_CACHE_POINTER and _SCRATCH taken */
    uint8_t *inner;    /* with its own taken, and the trace's pointer loaded */
    uint8_t *code_end;
    uint16_t advance; /* offset in the code behind which the pointer has gone over the entries, */
    uint16_t bytes;   /* which are so many */
    uint16_t special_count, pc_map_count;
    struct exit *incoming;
    struct block *cuts; /* the same code, up to an earlier instruction; by next_at_hash */
    struct block *next_in_page[2]; /* where its first byte is, and its last, if that is another */
    struct record *records;        /* of one execution; data addresses are patched */
    uint16_t *through_fs;          /* records to whose address the base of fs is added */
    struct special *specials;
    struct pc_map_entry *pc_map;
};

struct code_cache;

/* A cache of so many bytes of code; what is known of it takes three times as many at most, its
 * tables three eighths, and 2 MiB. Memory is taken as it is used. */
struct code_cache *code_cache_new(size_t bytes, struct bt_error *error);
void code_cache_free(struct code_cache *cache);

/* Where blocks are found by their address: does not move. Neighbours stay neighbours, because what
 * is near each other is looked for at the same time; the lowest bit does not count, because few
 * blocks begin side by side. */
#define CODE_CACHE_HASH_ENTRIES 262144u
struct block *const *code_cache_hash(const struct code_cache *cache);

static inline unsigned code_cache_hash_of(uint64_t address)
{
    return (unsigned)(address >> 1 ^ address >> 19) % CODE_CACHE_HASH_ENTRIES;
}

/* The block that begins at an address; NULL. */
static inline struct block *code_cache_find_in(struct block *const *hash, uint64_t address)
{
    struct block *block = hash[code_cache_hash_of(address)];
    while (block && block->address != address)
        block = block->next_at_hash;
    return block;
}

struct block *code_cache_find(const struct code_cache *cache, uint64_t address);

/* The block with a number; NULL. */
struct block *code_cache_block(const struct code_cache *cache, uint32_t number);

/* Numbers that blocks have are below the first, and always will be below the second. */
uint32_t code_cache_blocks(const struct code_cache *cache);
uint32_t code_cache_block_limit(const struct code_cache *cache);

/* The block whose code lies around a place in the cache; NULL. */
struct block *code_cache_at(const struct code_cache *cache, const void *code);

/* Whether this is code of the cache at all, block or not. */
bool code_cache_holds(const struct code_cache *cache, const void *code);

/* Room for code: *end is where it ends. What was written up to a place is then kept. */
uint8_t *code_cache_room(struct code_cache *cache, uint8_t **end);
void code_cache_keep(struct code_cache *cache, uint8_t *end);

/* Memory for what is known of blocks, zeroed, gone at the next flush; NULL when full. */
void *code_cache_allocate(struct code_cache *cache, size_t bytes);

/* A new block's number, and an exit's; full: -1. */
int code_cache_add_block(struct code_cache *cache, struct block *block);
int64_t code_cache_add_exits(struct code_cache *cache, struct exit *exits, unsigned count);
struct exit *code_cache_exit(const struct code_cache *cache, uint32_t number);

/* Makes find() see a block. */
void code_cache_enter(struct code_cache *cache, struct block *block);

/* Sends an exit to a block, without leaving. */
void code_cache_link(struct exit *exit, struct block *to);

/* Sends all that goes to blocks back to leaving. */
void code_cache_unlink_all(struct code_cache *cache);

/* Forgets blocks that hold a byte of [begin, end): nothing leads to them any more. How many. */
unsigned code_cache_invalidate(struct code_cache *cache, uint64_t begin, uint64_t end);

/* Forgets everything. */
void code_cache_flush(struct code_cache *cache);

/* Where code goes that leaves for exec_leave(), or exec_look_again(), in reach of a jump. */
const uint8_t *code_cache_leave(const struct code_cache *cache);
const uint8_t *code_cache_look_again(const struct code_cache *cache);

/* How often all was forgotten since it was made. */
unsigned code_cache_flushes(const struct code_cache *cache);

#endif
