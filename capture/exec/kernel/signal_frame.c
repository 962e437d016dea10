#include "capture/exec/kernel/signal_frame.h"

#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"
#include "capture/exec/translate/xsave_area.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* arch/x86/include/uapi/asm/ucontext.h */
#define HAS_XSTATE     1u
#define HAS_SS         2u
#define STRICT_SS      4u
#define CODE_SEGMENT   0x33u
#define STACK_SEGMENT  0x2bu
#define FLAGS_CLEARED  0x10500u /* resume, direction, trap */
#define FLAGS_RESTORED 0x40dd5u /* alignment check, direction, trap, and those of arithmetic */

struct frame {
    uint64_t restorer;
    uint64_t context_flags;
    uint64_t link;
    struct signal_stack stack;
    uint64_t registers[16]; /* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp */
    uint64_t rip;
    uint64_t flags;
    uint16_t segments[4]; /* cs, gs, fs, ss */
    uint64_t error, trap, old_mask, fault_address;
    uint64_t vector;
    uint64_t reserved[8];
    uint64_t mask;
    uint8_t information[SIGNAL_INFORMATION_BYTES];
};
_Static_assert(sizeof(struct frame) == 440, "the size of the kernel's frame");

static const uint8_t order[16] = {
    DECODE_R8,  DECODE_R9,  DECODE_R10, DECODE_R11, DECODE_R12, DECODE_R13, DECODE_R14, DECODE_R15,
    DECODE_RDI, DECODE_RSI, DECODE_RBP, DECODE_RBX, DECODE_RDX, DECODE_RAX, DECODE_RCX, DECODE_RSP};

/* --- vector state ------------------------------------------------------------------------------
 */

/* Components that the header does not name get their initial value, 0 from component 2 on. */
static void copy_vector(uint8_t *to, const struct exec_thread *thread)
{
    uint64_t present;
    memcpy(&present, thread->vector + XSAVE_HEADER, sizeof present);
    memset(to, 0, thread->vector_bytes);
    to[0] = 0x7f; /* x87 control word */
    to[1] = 0x03;
    memcpy(to + XSAVE_MXCSR, thread->vector + XSAVE_MXCSR, XSAVE_X87 - XSAVE_MXCSR);
    if (present & XSAVE_HAS_X87) {
        memcpy(to, thread->vector, XSAVE_MXCSR);
        memcpy(to + XSAVE_X87, thread->vector + XSAVE_X87, XSAVE_X87_BYTES);
    }
    if (present & XSAVE_HAS_SSE)
        memcpy(to + XSAVE_XMM, thread->vector + XSAVE_XMM, XSAVE_XMM_BYTES);
    /* components that are absent in the header keep their bytes */
    if (present & ~(uint64_t)(XSAVE_HAS_X87 | XSAVE_HAS_SSE))
        memcpy(to + XSAVE_OTHERS, thread->vector + XSAVE_OTHERS,
               thread->vector_bytes - XSAVE_OTHERS);
    memcpy(to + XSAVE_HEADER, &present, sizeof present);
}

static void set_initial_vector(struct exec_thread *thread)
{
    const uint32_t mxcsr = XSAVE_MXCSR_INITIAL;
    memset(thread->vector, 0, XSAVE_OTHERS);
    memcpy(thread->vector + XSAVE_MXCSR, &mxcsr, sizeof mxcsr);
}

static int push_vector(struct space *space, const struct exec_thread *thread, uint64_t address)
{
    uint32_t size = (uint32_t)thread->vector_bytes;
    uint32_t magic1 = XSAVE_NOTE_MAGIC, magic2 = XSAVE_END_MAGIC, extended = size + 4;
    uint8_t *area = malloc(size + 4);
    if (!area)
        return -EFAULT;
    copy_vector(area, thread);
    memcpy(area + XSAVE_NOTE, &magic1, 4);
    memcpy(area + XSAVE_NOTE_EXTENDED, &extended, 4);
    memcpy(area + XSAVE_NOTE_MASK, &thread->vector_mask, 8);
    memcpy(area + XSAVE_NOTE_SIZE, &size, 4);
    memcpy(area + size, &magic2, 4);
    int result = program_write(space, address, area, size + 4);
    free(area);
    return result;
}

/* Restores the area as the handler left it; without extended state, its legacy part. */
static int pop_vector(struct space *space, struct exec_thread *thread, uint64_t address)
{
    uint32_t magic1, magic2 = 0, size = (uint32_t)thread->vector_bytes;
    uint8_t *area = calloc(1, size);
    uint64_t present = 3;
    if (!area)
        return -EFAULT;
    int result = program_read(space, area, address, XSAVE_HEADER);
    memcpy(&magic1, area + XSAVE_NOTE, 4);
    if (result == 0 && magic1 == XSAVE_NOTE_MAGIC &&
        program_read(space, &magic2, address + size, sizeof magic2) == 0 &&
        magic2 == XSAVE_END_MAGIC) {
        result = program_read(space, area, address, size);
        memcpy(&present, area + XSAVE_HEADER, sizeof present);
    }
    if (result == 0) {
        memcpy(thread->vector, area, size);
        memset(thread->vector + XSAVE_HEADER, 0, XSAVE_HEADER_BYTES);
        memset(thread->vector + XSAVE_MXCSR + 2, 0, 2); /* MXCSR's reserved bits would fault */
        present &= thread->vector_mask;
        memcpy(thread->vector + XSAVE_HEADER, &present, sizeof present);
    }
    free(area);
    return result;
}

/* --- the frame ---------------------------------------------------------------------------------
 */

/* Grows the stack first, if necessary. */
static bool reach(struct space *space, uint64_t address)
{
    return space_allows(space, address, 1, PROT_WRITE) ||
           space_fault(space, address, PROT_WRITE) != SPACE_FAULT_PROGRAM;
}

int signal_frame_push(struct space *space, struct exec_thread *thread,
                      const struct signal_delivery *delivery)
{
    uint64_t vector = (delivery->top - thread->vector_bytes - 4) & ~(uint64_t)63;
    uint64_t at = ((vector - sizeof(struct frame)) & ~(uint64_t)15) - 8;
    struct frame frame = {.restorer = delivery->restorer,
                          .context_flags = HAS_XSTATE | HAS_SS | STRICT_SS,
                          .stack = delivery->stack,
                          .rip = thread->rip,
                          .flags = thread->flags,
                          .segments = {CODE_SEGMENT, 0, 0, STACK_SEGMENT},
                          .error = delivery->error,
                          .trap = delivery->trap,
                          .old_mask = delivery->mask,
                          .fault_address = delivery->fault_address,
                          .vector = vector,
                          .mask = delivery->mask};
    for (unsigned i = 0; i < 16; i++)
        frame.registers[i] = thread->registers[order[i]];
    memcpy(frame.information, delivery->information, sizeof frame.information);
    if (!reach(space, at) || push_vector(space, thread, vector) != 0 ||
        program_write(space, at, &frame, sizeof frame) != 0)
        return -EFAULT;
    thread->registers[DECODE_RDI] = (uint64_t)delivery->number;
    thread->registers[DECODE_RSI] = at + offsetof(struct frame, information);
    thread->registers[DECODE_RDX] = at + offsetof(struct frame, context_flags);
    thread->registers[DECODE_RAX] = 0;
    thread->registers[DECODE_RSP] = at;
    thread->rip = delivery->handler;
    thread->flags &= ~(uint64_t)FLAGS_CLEARED;
    set_initial_vector(thread);
    return 0;
}

int signal_frame_pop(struct space *space, struct exec_thread *thread, uint64_t *mask,
                     struct signal_stack *stack)
{
    struct frame frame;
    int result = program_read(space, &frame, thread->registers[DECODE_RSP] - 8, sizeof frame);
    if (result < 0)
        return result;
    if (frame.vector == 0)
        set_initial_vector(thread);
    else if ((result = pop_vector(space, thread, frame.vector)) < 0)
        return result;
    for (unsigned i = 0; i < 16; i++)
        thread->registers[order[i]] = frame.registers[i];
    thread->rip = frame.rip;
    thread->flags = (thread->flags & ~(uint64_t)FLAGS_RESTORED) | (frame.flags & FLAGS_RESTORED);
    *mask = frame.mask;
    *stack = frame.stack;
    return 0;
}
