/* Private to not_taken*.c and define.c. */
#ifndef CAPTURE_EXEC_ARIA_NOT_TAKEN_INTERNAL_H
#define CAPTURE_EXEC_ARIA_NOT_TAKEN_INTERNAL_H

#include "capture/exec/aria/aria_internal.h"
#include "capture/exec/aria/not_taken.h"
#include "capture/exec/dispatch/executor_state.h"
#include "formats/base/named_fields.h"

#define NOT_TAKEN_HASH 16384u
#define NOT_TAKEN_STAGED                                                                           \
    32u /* maximum number of stores of an emulated instruction, except strings */
#define NOT_TAKEN_REFERENCES 512u /* maximum number per instruction, except string instructions */

/* How an instruction is executed. */
enum not_taken_action {
    NOT_TAKEN_NATIVE,  /* natively: it has no memory operand */
    NOT_TAKEN_SCRATCH, /* natively, with its operand in the scratch area */
    NOT_TAKEN_GATHER,  /* the same, with its lanes in adjacent parts of the scratch area */
    NOT_TAKEN_RESTORE, /* xrstor, of the components that a state has */
    NOT_TAKEN_SAVE,    /* xsave, ..., the same; without a store buffer only its references */
    NOT_TAKEN_NOTHING, /* only its references */
    NOT_TAKEN_PUSH,
    NOT_TAKEN_POP,
    NOT_TAKEN_POP_FLAGS,
    NOT_TAKEN_ENTER,
    NOT_TAKEN_LEAVE,
    NOT_TAKEN_LOAD_A, /* mov from an absolute address, xlat */
    NOT_TAKEN_STRING,
    NOT_TAKEN_BIT,
    NOT_TAKEN_FS_BASE,
    NOT_TAKEN_GS_BASE, /* is 0 */
    NOT_TAKEN_ABORT,   /* xbegin */
    NOT_TAKEN_FAR,     /* a far branch */
    NOT_TAKEN_DEFINED, /* aria_define() */
    NOT_TAKEN_BRANCH,
    NOT_TAKEN_SYSTEM_CALL,
    NOT_TAKEN_SIGNAL
};

struct not_taken_instruction {
    struct decode_instruction decoded;
    uint8_t action; /* enum not_taken_action */
    uint8_t signal; /* of NOT_TAKEN_SIGNAL */
    uint8_t run;    /* of NOT_TAKEN_NATIVE: number of adjacent instructions from here, */
    bool vector;    /* and whether they use vector registers */
};

struct not_taken_block {
    struct block block; /* code and its address map, for the executor's fault handler */
    struct not_taken_instruction *instructions;
    unsigned count;
    bool cut; /* truncated by a limit */
    struct not_taken_block *next;
};

struct NAMED_FIELDS not_taken_reference {
    uint64_t address;
    uint16_t size;
    uint16_t offset; /* in the operand, in bytes */
    bool write;
    bool own; /* a read of bytes that the path has stored */
};

struct not_taken {
    struct aria *aria;
    struct exec_thread *thread;
    struct executor *executor; /* for its cache and its fault handler */
    struct executor_operations operations;
    struct not_taken_block *blocks[NOT_TAKEN_HASH];
    struct not_taken_reference references[NOT_TAKEN_REFERENCES];
    unsigned reference_count;
    bool interrupted; /* a signal is pending for the program */
    bool unknown;     /* the last instruction raised #UD */
    uint64_t limit, done;
    uint64_t own_reads; /* number recorded */
    uint64_t staged[NOT_TAKEN_STAGED];
    unsigned staged_count;
};

/* The result of an instruction. */
enum not_taken_result {
    NOT_TAKEN_WENT_ON, /* rip is at the next instruction */
    NOT_TAKEN_STOPPED, /* the step has the reason, rip the address */
    NOT_TAKEN_NO_MEMORY
};

/* Finds or makes the block at an address, of at most `limit` instructions. NULL: there is no code,
 * or no memory. */
struct not_taken_block *not_taken_block(struct not_taken *not_taken, uint64_t address,
                                        uint64_t limit);

/* Makes a block of instructions that use registers only, for not_taken_run(). NULL: *why says what
 * is wrong with them. */
struct not_taken_block *not_taken_compile(struct not_taken *not_taken, const uint8_t *bytes,
                                          size_t size, const char **why);

/* Runs it with the thread's registers: 0, or the signal that it raises. */
int not_taken_run(struct not_taken *not_taken, const struct not_taken_block *block);

/* Fills in the references of an instruction with the current registers. */
void not_taken_find_references(struct not_taken *not_taken,
                               const struct decode_instruction *instruction);

/* The address of a masked operand, if all of it can be read. */
bool not_taken_find_whole(struct not_taken *not_taken, const struct decode_access *access,
                          uint64_t *address);

/* Loads that would fault read 0. With a store buffer loads see the stores of the path. */
void not_taken_load(struct not_taken *not_taken, void *to, uint64_t address, unsigned size);

/* --- for a path with a store buffer (aria->stores) --- */

/* Stores that would fault are dropped. */
void not_taken_store(struct not_taken *not_taken, uint64_t address, const void *from,
                     unsigned size);

/* Whether the path has stored a byte of a read; false without a buffer. */
bool not_taken_is_own(const struct not_taken *not_taken, uint64_t address, unsigned size);

/* Stores the results of an instruction in the scratch area at its references. */
void not_taken_store_scratch(struct not_taken *not_taken);

/* For emulated instructions, except string instructions: not_taken_stage_stores() reads the values
 * to store before the instruction changes registers, not_taken_store_staged() stores them after its
 * loads. */
void not_taken_stage_stores(struct not_taken *not_taken,
                            const struct not_taken_instruction *instruction);
void not_taken_store_staged(struct not_taken *not_taken);

/* Records the fetch and the references of the instruction. False: no memory. */
bool not_taken_record(struct not_taken *not_taken, const struct decode_instruction *instruction);
bool not_taken_record_one(struct not_taken *not_taken, uint64_t address, unsigned size,
                          uint8_t type);

/* Emulates the instruction at rip, whose references have been filled in. */
enum not_taken_result not_taken_emulate(struct not_taken *not_taken,
                                        const struct not_taken_instruction *instruction,
                                        struct aria_step *step);

#endif
