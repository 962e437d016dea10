/*
 * Decodes an x86-64 instruction for the translator: its size, its successor, the registers it reads
 * and writes, and its memory accesses, from which the addresses and sizes of its data references
 * follow with the registers before it.
 *
 * Zydis decodes; this module turns its operands into references and adds what Zydis leaves out: the
 * offset of a push, xlat's index, the range of a bit test.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_DECODE_H
#define CAPTURE_EXEC_TRANSLATE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_BYTES_MAX 15u  /* of one instruction */
#define DECODE_ACCESSES  3u   /* maximum of an instruction */
#define DECODE_NONE      255u /* no register */

/* General registers by their number in encodings. */
enum decode_register {
    DECODE_RAX,
    DECODE_RCX,
    DECODE_RDX,
    DECODE_RBX,
    DECODE_RSP,
    DECODE_RBP,
    DECODE_RSI,
    DECODE_RDI,
    DECODE_R8,
    DECODE_R9,
    DECODE_R10,
    DECODE_R11,
    DECODE_R12,
    DECODE_R13,
    DECODE_R14,
    DECODE_R15,
    DECODE_REGISTERS
};

enum decode_kind {
    DECODE_STRAIGHT,      /* continues with the next instruction */
    DECODE_JUMP,          /* to `target` */
    DECODE_CONDITIONAL,   /* to `target` or the next instruction: jcc, loop, jrcxz */
    DECODE_CALL,          /* to `target` */
    DECODE_RETURN,        /* near */
    DECODE_JUMP_INDIRECT, /* through `accesses[0]` or `branch_register` */
    DECODE_CALL_INDIRECT,
    DECODE_SYSTEM_CALL, /* syscall */
    DECODE_EMULATED,    /* the executor does it: fs and gs, xbegin, far branches */
    DECODE_TRAP,        /* raises a signal when executed: int3, ud2, hlt, undecodable bytes */
    DECODE_REFUSED,     /* not supported: int n, other segment loads */
    DECODE_DEFINED      /* defined by a control program: translator_define(); never from decode() */
};

/* How an access determines its bytes. "Lanes" are the significant bits of the mask. An element that
 * several lanes use (a broadcast) is accessed if any of their bits is set. */
enum decode_form {
    DECODE_PLAIN,         /* `size` bytes at base + index * scale + displacement */
    DECODE_TABLE,         /* xlat: base + al */
    DECODE_BITS,          /* bit tests: the element that holds the bit whose number is in `mask` */
    DECODE_REPEATED,      /* a string instruction with rep: rcx times `size` bytes */
    DECODE_OPMASK,        /* elements with a bit set in opmask register `mask` */
    DECODE_OPMASK_PACKED, /* as many elements from the first as bits are set (compress, expand) */
    DECODE_VECTOR_MASK,   /* elements whose highest bit in vector register `mask` is set */
    DECODE_GATHER,        /* lanes of opmask `mask`: base + lane of vector `index` * scale */
    DECODE_GATHER_VECTOR, /* the same with a vector register as mask */
    DECODE_FRAMES,        /* `lanes` of `size` bytes, downwards from base + displacement */
    DECODE_XSAVE          /* the state components in edx:eax; `size` is the legacy area's */
};

/* Which of the components in edx:eax DECODE_XSAVE accesses, and where; in `element`. After the
 * instruction the area's header contains the components in use, and the form of the area. */
enum decode_xsave {
    DECODE_XSAVE_ALL,     /* xsave */
    DECODE_XSAVE_IN_USE,  /* xsaveopt */
    DECODE_XSAVE_COMPACT, /* xsavec: in use, without space for components not requested */
    DECODE_XSAVE_RESTORE  /* xrstor: those present, in either form */
};

/* Whether an instruction stores the address of the last x87 instruction. */
enum decode_x87 {
    DECODE_X87_NO,
    DECODE_X87_STATE,      /* with x87's state: fxsave, xsave and its relatives */
    DECODE_X87_ENVIRONMENT /* fnstenv, fnsave */
};

struct decode_access {
    uint8_t form;         /* enum decode_form */
    uint8_t base;         /* enum decode_register, or DECODE_NONE */
    uint8_t index;        /* the same; a vector register's number for gathers */
    uint8_t scale;        /* 1, 2, 4 or 8 */
    bool read, write;     /* both: a read, and after all reads of the instruction a write */
    bool fs;              /* the base of fs is added */
    bool narrow;          /* the address is cut to 32 bits */
    uint8_t mask;         /* opmask or vector register; general one of a bit's number */
    uint8_t lanes;        /* bits of the mask that count */
    uint8_t element;      /* bytes of an element, where there is a mask */
    uint8_t index_size;   /* bytes: of a bit offset, of a lane of a gather's index */
    uint16_t size;        /* bytes in all; of a gather: of an element */
    uint16_t vector;      /* bytes of the vector registers: mask, gather's index (the larger) */
    int64_t displacement; /* of rip-relative operands: the address */
};

struct decode_instruction {
    uint64_t address;
    uint64_t target; /* of direct branches */
    uint8_t bytes[DECODE_BYTES_MAX];
    uint8_t size;
    uint8_t kind;            /* enum decode_kind */
    uint8_t branch_register; /* of indirect branches through a register; else DECODE_NONE */
    uint8_t access_count;
    struct decode_access accesses[DECODE_ACCESSES]; /* reads in their order, then writes */
    uint16_t registers_read;    /* bit n: enum decode_register n, or a part of it */
    uint16_t registers_written; /* the same; registers possibly written are in both */
    uint32_t flags_read;        /* in rflags' bits; flags possibly written are in both */
    uint32_t flags_written;
    bool gs;           /* an operand uses gs, whose base is 0; the address is the same without it */
    bool vector;       /* uses x87, MMX, vector, mask registers or MXCSR */
    bool repeated;     /* rep string instruction */
    uint8_t saves_x87; /* enum decode_x87 */
    uint8_t adjusted;  /* a register written by adding a constant to it, or DECODE_NONE; */
    int64_t adjustment;       /* the constant. The register is not in registers_written */
    uint16_t stack_release;   /* bytes that a return releases besides the address */
    uint8_t rip_displacement; /* offset of a rip-relative displacement in bytes[], or 0 */
    uint16_t mnemonic;        /* ZydisMnemonic; 0 for undecodable bytes */
};

/*
 * Decodes the instruction at bytes, of which `size` may be read, as if it were at `address`. Bytes
 * that are no instruction (or where size, which may be 0, cuts it off) make a DECODE_TRAP of
 * mnemonic 0 and of one byte.
 */
void decode(struct decode_instruction *instruction, const uint8_t *bytes, size_t size,
            uint64_t address);

/* Whether the instruction ends a block: everything but DECODE_STRAIGHT. */
static inline bool decode_ends_block(const struct decode_instruction *instruction)
{
    return instruction->kind != DECODE_STRAIGHT;
}

/* Whether a byte before the opcode is a prefix: also a REX before other prefixes, which the
 * processor ignores. */
bool decode_is_prefix(uint8_t byte);

/* Of DECODE_OPMASK: a bit for each element of the operand, set where a lane of the mask uses it. */
static inline uint64_t decode_elements(const struct decode_access *access, uint64_t mask)
{
    unsigned elements = access->size / access->element;
    uint64_t used = 0;
    for (unsigned lane = 0; lane < access->lanes; lane += elements)
        used |= mask >> lane;
    return elements < 64 ? used & (((uint64_t)1 << elements) - 1) : used;
}

/* Whether it reads the time-stamp counter. */
bool decode_reads_clock(const struct decode_instruction *instruction);

/* Whether bits 63 to 47 of an address are equal; branches to other addresses fault. */
static inline bool decode_is_canonical(uint64_t address)
{
    return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

/* Of DECODE_BITS: how many bytes after the operand the element with this bit lies. Bits count on
 * from the operand in both directions, by as many bits of the number as the operand has. */
static inline int64_t decode_bit_offset(const struct decode_access *access, uint64_t number)
{
    int64_t bit = (int64_t)number;
    if (access->index_size == 4)
        bit = (int32_t)bit;
    else if (access->index_size == 2)
        bit = (int16_t)bit;
    int64_t bits = access->index_size * 8;
    int64_t element = bit >= 0 ? bit / bits : -((-(bit + 1)) / bits) - 1;
    return element * access->index_size;
}

#endif
