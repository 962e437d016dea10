/* What the parts of capture/exec/not_taken share; for nobody else. */
#ifndef CAPTURE_EXEC_ARIA_NOT_TAKEN_INTERNAL_H
#define CAPTURE_EXEC_ARIA_NOT_TAKEN_INTERNAL_H

#include "capture/exec/aria/aria_internal.h"
#include "capture/exec/aria/not_taken.h"
#include "capture/exec/dispatch/executor_state.h"
#include "formats/base/named_fields.h"

#define NOT_TAKEN_HASH       16384u
#define NOT_TAKEN_STAGED     32u  /* stores of an instruction that is done in C: enter has most */
#define NOT_TAKEN_REFERENCES 512u /* of an instruction at most; string instructions have more */

/* How an instruction is done. */
enum not_taken_action {
    NOT_TAKEN_NATIVE,  /* as it is: it has nothing to do with memory */
    NOT_TAKEN_SCRATCH, /* natively, its operand in the scratch area */
    NOT_TAKEN_GATHER,  /* the same, with one lane of the scratch area after the other */
    NOT_TAKEN_RESTORE, /* xrstor: of what belongs to a state */
    NOT_TAKEN_SAVE, /* xsave and its like, the same; with no store buffer nothing but references */
    NOT_TAKEN_NOTHING, /* its references are all that there is of it */
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
    uint8_t run;    /* of NOT_TAKEN_NATIVE: so many run side by side from here on, */
    bool vector;    /* and use vector registers */
};

struct not_taken_block {
    struct block block; /* what the executor's handler looks for: code, and places in it */
    struct not_taken_instruction *instructions;
    unsigned count;
    bool cut; /* shorter than it might be: a limit */
    struct not_taken_block *next;
};

struct NAMED_FIELDS not_taken_reference {
    uint64_t address;
    uint16_t size;
    uint16_t offset; /* in the operand */
    bool write;
    bool own; /* a read that finds what the path has stored */
};

struct not_taken {
    struct aria *aria;
    struct exec_thread *thread;
    struct executor *executor; /* for its cache, and its handler of faults */
    struct not_taken_block *blocks[NOT_TAKEN_HASH];
    struct not_taken_reference references[NOT_TAKEN_REFERENCES];
    unsigned reference_count;
    bool interrupted; /* a signal waits for the program */
    bool unknown;     /* the processor did not know the instruction that ran last */
    uint64_t limit, done;
    uint64_t own_reads; /* that were recorded */
    uint64_t staged[NOT_TAKEN_STAGED];
    unsigned staged_count;
};

/* What came of an instruction. */
enum not_taken_result {
    NOT_TAKEN_WENT_ON, /* rip is at the next; */
    NOT_TAKEN_STOPPED, /* the step says why, and rip where; */
    NOT_TAKEN_NO_MEMORY
};

/* The block at an address, of `limit` instructions at most, made if it is new. NULL: there is no
 * code, or no memory. */
struct not_taken_block *not_taken_block(struct not_taken *not_taken, uint64_t address,
                                        uint64_t limit);

/* Instructions that need neither memory nor anything but registers as a block, to be run as often
 * as wanted. NULL: *why they cannot be. */
struct not_taken_block *not_taken_compile(struct not_taken *not_taken, const uint8_t *bytes,
                                          size_t size, const char **why);

/* Runs one with the thread's registers: 0, or the signal that it raises. */
int not_taken_run(struct not_taken *not_taken, const struct not_taken_block *block);

/* Fills in the references that an instruction makes with the registers as they are. */
void not_taken_find_references(struct not_taken *not_taken,
                               const struct decode_instruction *instruction);

/* An operand under a mask: where it lies, if all of it can be read. */
bool not_taken_find_whole(struct not_taken *not_taken, const struct decode_access *access,
                          uint64_t *address);

/* Loads that would fault are 0. The path's own stores are seen, where it has a buffer for them. */
void not_taken_load(struct not_taken *not_taken, void *to, uint64_t address, unsigned size);

/* --- for a path with a store buffer (aria->stores) --- */

/* Stores that would fault are not done. */
void not_taken_store(struct not_taken *not_taken, uint64_t address, const void *from,
                     unsigned size);

/* Whether a read finds what the path has stored; false without a buffer. */
bool not_taken_is_own(const struct not_taken *not_taken, uint64_t address, unsigned size);

/* What an instruction has left in the scratch area, at its references. */
void not_taken_store_scratch(struct not_taken *not_taken);

/* What an instruction that is done in C, but no string instruction, stores at its references: found
 * before it changes registers, and stored after its loads. */
void not_taken_stage_stores(struct not_taken *not_taken,
                            const struct not_taken_instruction *instruction);
void not_taken_store_staged(struct not_taken *not_taken);

/* The instruction's fetch, and its references as they were found. False: no memory. */
bool not_taken_record(struct not_taken *not_taken, const struct decode_instruction *instruction);
bool not_taken_record_one(struct not_taken *not_taken, uint64_t address, unsigned size,
                          uint8_t type);

/* The instruction at rip, of those that are done in C; its references have been found. */
enum not_taken_result not_taken_emulate(struct not_taken *not_taken,
                                        const struct not_taken_instruction *instruction,
                                        struct aria_step *step);

#endif
