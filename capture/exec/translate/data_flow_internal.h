/* Shared by the files that describe an instruction's data flow. */
#ifndef CAPTURE_EXEC_TRANSLATE_DATA_FLOW_INTERNAL_H
#define CAPTURE_EXEC_TRANSLATE_DATA_FLOW_INTERNAL_H

#include "capture/exec/translate/data_flow.h"
#include "capture/exec/translate/outcome.h"

#include <Zydis/Zydis.h>

#define DATA_FLOW_BYTES(count)                                                                     \
    ((count) >= 64 ? UINT64_MAX : ((uint64_t)1 << (count)) - 1) /* the lowest ones */
#define DATA_FLOW_X87_BYTES DATA_FLOW_BYTES(10)
#define DATA_FLOW_VECTORS   32u

/* An instruction, and the description that is being made of it. */
struct data_flow_making {
    struct data_flow *flow;
    const struct decode_instruction *decoded;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct outcome outcome;
};

/* Add to ports or definitions; a part that is there already gets the bytes, too. */
void data_flow_read(struct data_flow_making *making, enum data_flow_kind kind, unsigned number,
                    uint64_t bytes);
void data_flow_define(struct data_flow_making *making, enum data_flow_kind kind, unsigned number,
                      uint64_t bytes, enum data_flow_condition condition);

/* --- x87 and MMX (data_flow_x87.c) -------------------------------------------------------------
 */

/* How much deeper the x87 stack is after the instruction. */
int data_flow_x87_pushes(ZydisMnemonic mnemonic);

/* The register after the instruction that is st(number) before it, as an operand that it writes;
 * one that is popped is st(7). */
unsigned data_flow_x87_after(const struct data_flow_making *making, unsigned number);

/* The condition codes, and what Zydis does not name. */
void data_flow_x87_rest(struct data_flow_making *making);

/* --- exceptions (data_flow_rules.c) ------------------------------------------------------------
 */

/* Whether the instruction reads none of its registers: its result does not depend on them, or it
 * has none. */
bool data_flow_is_idiom(const struct data_flow_making *making);

/* Whether it is a string instruction, which moves the base of each access: Zydis does not name all
 * of them. */
bool data_flow_is_string(const struct data_flow_making *making);

/* The bytes that a vector operand reads, or defines, where Zydis does not tell. */
uint64_t data_flow_vector_bytes(const struct data_flow_making *making,
                                const ZydisDecodedOperand *operand, bool writes);

/* Whether Zydis says that the instruction reads an operand that it only writes. */
bool data_flow_only_writes(const struct data_flow_making *making,
                           const ZydisDecodedOperand *operand);

/* Adds operands that Zydis does not name, or of which it names a part. */
void data_flow_other_operands(struct data_flow_making *making);

/* The flags that the instruction defines, in bits of rflags. */
uint64_t data_flow_flags(const struct data_flow_making *making);

/* Instructions of which Zydis does not name the registers: states, vzeroupper. */
void data_flow_states(struct data_flow_making *making);

#endif
