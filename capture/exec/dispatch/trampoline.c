#include "capture/exec/dispatch/trampoline.h"

#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/translate/xsave_area.h"

/*
 * In assembler, because all registers have the program's values. The program's stack is never used;
 * flags are moved through the host's.
 */

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define SYMBOL(name, value) __asm__(".set " #name ", " TEXT(value))

SYMBOL(thread_flags, EXEC_THREAD_FLAGS);
SYMBOL(thread_fs_base, EXEC_THREAD_FS_BASE);
SYMBOL(thread_host_stack, EXEC_THREAD_HOST_STACK);
SYMBOL(thread_host_fs, EXEC_THREAD_HOST_FS);
SYMBOL(thread_jump, EXEC_THREAD_JUMP);
SYMBOL(thread_exit, EXEC_THREAD_EXIT);
SYMBOL(thread_vector_live, EXEC_THREAD_VECTOR_LIVE);
SYMBOL(thread_fs_by_system, EXEC_THREAD_FS_BY_SYSTEM);
SYMBOL(thread_has_avx, EXEC_THREAD_HAS_AVX);
SYMBOL(thread_has_xsaveopt, EXEC_THREAD_HAS_XSAVEOPT);
SYMBOL(thread_vector, EXEC_THREAD_VECTOR);
SYMBOL(thread_vector_mask, EXEC_THREAD_VECTOR_MASK);
SYMBOL(thread_interrupt, EXEC_THREAD_INTERRUPT);
SYMBOL(thread_state, EXEC_THREAD_STATE);
SYMBOL(thread_leave, EXEC_THREAD_LEAVE);
SYMBOL(thread_again, EXEC_THREAD_AGAIN);
SYMBOL(thread_side, EXEC_THREAD_SIDE);
SYMBOL(thread_lookup, EXEC_THREAD_LOOKUP);
SYMBOL(thread_targets, EXEC_THREAD_TARGETS);
SYMBOL(step_sse, 2); /* EXEC_STEP_SSE */
SYMBOL(xsave_mxcsr, XSAVE_MXCSR);
SYMBOL(xsave_xmm, XSAVE_XMM);
SYMBOL(xsave_header, XSAVE_HEADER);
SYMBOL(system_call_again, EXEC_SYSTEM_CALL_AGAIN);

_Static_assert(EXEC_STEP_SSE == 2, "step_sse");

/* Sets fs from the thread's field at an offset. Clobbers rax, rcx, rdx, rsi, rdi, r11. */
__asm__(".macro set_fs offset\n"
        "    cmpb $0, %gs:thread_fs_by_system\n"
        "    jne 1f\n"
        "    mov %gs:\\offset, %rax\n"
        "    wrfsbase %rax\n"
        "    jmp 2f\n"
        "1:  mov $158, %eax\n" /* arch_prctl(ARCH_SET_FS) */
        "    mov $0x1002, %edi\n"
        "    mov %gs:\\offset, %rsi\n"
        "    syscall\n"
        "2:\n"
        ".endm\n");

/* The callee-saved registers, and 8 bytes for control words: the host's frame, at the thread's
 * host_stack. */
__asm__(".macro push_saved\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        ".endm\n"
        ".macro return_to_host\n"
        "    add $8, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".endm\n");

/* Applies the macro `move` to the program's registers except rax, rcx and rdx. The operand is
 * `before`, the register's offset in struct exec_thread, `after`. */
__asm__(".macro load register, memory\n"
        "    mov \\memory, %\\register\n"
        ".endm\n"
        ".macro store register, memory\n"
        "    mov %\\register, \\memory\n"
        ".endm\n"
        ".macro others move, before, after\n"
        "    \\move rbx, \\before\\()24\\after\n"
        "    \\move rsp, \\before\\()32\\after\n"
        "    \\move rbp, \\before\\()40\\after\n"
        "    \\move rsi, \\before\\()48\\after\n"
        "    \\move rdi, \\before\\()56\\after\n"
        "    \\move r8, \\before\\()64\\after\n"
        "    \\move r9, \\before\\()72\\after\n"
        "    \\move r10, \\before\\()80\\after\n"
        "    \\move r11, \\before\\()88\\after\n"
        "    \\move r12, \\before\\()96\\after\n"
        "    \\move r13, \\before\\()104\\after\n"
        "    \\move r14, \\before\\()112\\after\n"
        "    \\move r15, \\before\\()120\\after\n"
        ".endm\n");

/* Sets the status flags from eax: OF by an addition, the others from ah. Clobbers rax, rcx. */
__asm__(".macro set_results\n"
        "    mov %eax, %ecx\n"
        "    shr $11, %ecx\n"
        "    and $1, %ecx\n"
        "    mov %al, %ah\n"
        "    add $127, %cl\n"
        "    sahf\n"
        ".endm\n");

/*
 * Saves the vector state to the thread's area; rcx then points to it. Clobbers rax, rdx, rsi.
 *
 * XSAVEOPT leaves out components in their initial state and those not modified since the XRSTOR.
 * A component that XRSTOR has initialized may count as in use, and as unmodified (Intel SDM,
 * volume 1, 13.8.3): XSAVEOPT then sets its bit in XSTATE_BV, and leaves older bytes in the area.
 * So if a bit appears that was clear at XRSTOR, XSAVE writes all components.
 */
__asm__(".macro save_vector\n"
        "    mov %gs:thread_vector, %rcx\n"
        "    mov %gs:thread_vector_mask, %rax\n"
        "    xor %edx, %edx\n"
        "    cmpb $0, %gs:thread_has_xsaveopt\n"
        "    je .Lwhole_\\@\n"
        "    mov xsave_header(%rcx), %esi\n" /* XSTATE_BV, before and after */
        "    not %esi\n"
        "    xsaveopt64 (%rcx)\n"
        "    test %esi, xsave_header(%rcx)\n"
        "    jz .Lsaved_\\@\n"
        ".Lwhole_\\@:\n"
        "    xsave64 (%rcx)\n"
        ".Lsaved_\\@:\n"
        ".endm\n");

/* Applies `move`, load or store, to xmm0 to xmm15 in the area that `base` points to. */
__asm__(".macro load_xmm number, base\n"
        "    movaps xsave_xmm + 16 * \\number(%\\base), %xmm\\number\n"
        ".endm\n"
        ".macro store_xmm number, base\n"
        "    movaps %xmm\\number, xsave_xmm + 16 * \\number(%\\base)\n"
        ".endm\n"
        ".macro all_xmm move, base\n"
        "    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    \\move \\number, \\base\n"
        "    .endr\n"
        ".endm\n");

/* From exec_enter_checked on, the signal handler stops an interrupted thread. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl exec_enter\n"
        ".type exec_enter, @function\n"
        "exec_enter:\n"
        "    endbr64\n"
        "    push_saved\n"
        "    sub $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    mov %rsp, %gs:thread_host_stack\n"
        "    mov %rsi, %gs:thread_jump\n"
        "    lea exec_leave(%rip), %rax\n"
        "    mov %rax, %gs:thread_leave\n"
        "    lea exec_look_again(%rip), %rax\n"
        "    mov %rax, %gs:thread_again\n"
        ".globl exec_enter_checked\n"
        "exec_enter_checked:\n"
        "    cmpb $0, %gs:thread_interrupt\n"
        "    jne 4f\n"
        "    mov %dl, %gs:thread_vector_live\n"
        "    test %dl, %dl\n"
        "    jz 3f\n"
        "    mov %gs:thread_vector, %rcx\n"
        "    mov %gs:thread_vector_mask, %rax\n"
        "    xor %edx, %edx\n"
        "    xrstor64 (%rcx)\n"
        "3:\n"
        "    set_fs thread_fs_base\n"
        "    mov %gs:thread_flags, %rax\n"
        "    mov %eax, %ecx\n"
        "    and $~0x8d5, %ecx\n"
        "    cmp $0x202, %ecx\n"
        "    jne 8f\n"
        "    set_results\n"
        "9:  mov %gs:0, %rax\n"
        "    mov %gs:8, %rcx\n"
        "    mov %gs:16, %rdx\n"
        "    others load, \"%gs:\", \"\"\n"
        "    jmp *%gs:thread_jump\n"
        "8:  pushq %gs:thread_flags\n"
        "    popfq\n"
        "    jmp 9b\n"
        ".globl exec_enter_end\n"
        "exec_enter_end:\n"
        "4:  movl $-1, %gs:thread_exit\n"
        "    return_to_host\n"
        ".size exec_enter, . - exec_enter\n"

        ".p2align 4\n"
        ".globl exec_leave\n"
        ".type exec_leave, @function\n"
        "exec_leave:\n"
        "    mov %rax, %gs:0\n"
        "    mov %rcx, %gs:8\n"
        "    mov %rdx, %gs:16\n"
        "    others store, \"%gs:\", \"\"\n"
        "    mov %gs:thread_host_stack, %rsp\n"
        "    pushfq\n"
        "    popq %gs:thread_flags\n"
        "    cmpb $0, %gs:thread_vector_live\n"
        "    je exec_return\n"
        "    save_vector\n"

        ".globl exec_return\n"
        ".type exec_return, @function\n"
        "exec_return:\n"
        "    testl $0x244400, %gs:thread_flags\n"
        "    jz 10f\n"
        "    pushq $0x202\n" /* clears direction, alignment check and other flags that sahf does not
                                set */
        "    popfq\n"
        "10:\n"
        "    set_fs thread_host_fs\n"
        "    cmpb $0, %gs:thread_vector_live\n"
        "    je 5f\n"
        "    movb $0, %gs:thread_vector_live\n"
        "    fninit\n"
        "    cmpb $0, %gs:thread_has_avx\n"
        "    je 6f\n"
        "    vzeroupper\n"
        "6:  ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "5:  return_to_host\n"
        ".size exec_leave, . - exec_leave\n");

/* The frame is that of exec_enter(), for exec_return(); the byte after its control words says
 * whether fs was set. */
__asm__(".p2align 4\n"
        ".globl exec_step\n"
        ".type exec_step, @function\n"
        "exec_step:\n"
        "    endbr64\n"
        "    push_saved\n"
        "    movzbl %cl, %ecx\n"
        "    shl $56, %rcx\n"
        "    push %rcx\n"
        "    lea exec_step_leave(%rip), %rax\n"
        "    mov %rsp, %gs:thread_host_stack\n"
        "    mov %rsi, %gs:thread_jump\n"
        "    mov %rdx, %gs:thread_state\n"
        "    mov %rax, %gs:thread_leave\n"
        "    lea exec_step_find(%rip), %rax\n"
        "    mov %rax, %gs:thread_again\n"
        ".globl exec_step_checked\n"
        "exec_step_checked:\n"
        "    cmpb $0, %gs:thread_interrupt\n"
        "    jne 4f\n"
        "    test %r8b, %r8b\n"
        "    jnz 9f\n"
        "1:  test %rcx, %rcx\n"
        "    jnz 3f\n"
        "2:  mov thread_flags(%rdx), %eax\n"
        "    set_results\n"
        "    mov (%rdx), %rax\n"
        "    mov 8(%rdx), %rcx\n"
        "    others load, \"\", \"(%rdx)\"\n"
        "    mov 16(%rdx), %rdx\n"
        "    jmp *%gs:thread_jump\n"
        "3:  mov thread_fs_base(%rdx), %rax\n"
        "    wrfsbase %rax\n"
        "    jmp 2b\n"
        "9:  stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    mov %r8b, %gs:thread_vector_live\n"
        "    cmp $step_sse, %r8b\n"
        "    je 7f\n"
        "    mov %rdx, %rdi\n"
        "    mov %gs:thread_vector, %rsi\n"
        "    mov %gs:thread_vector_mask, %rax\n"
        "    xor %edx, %edx\n"
        "    xrstor64 (%rsi)\n"
        "    mov %rdi, %rdx\n"
        "    jmp 1b\n"
        "7:  mov %gs:thread_vector, %rax\n"
        "    ldmxcsr xsave_mxcsr(%rax)\n"
        "    all_xmm load_xmm, rax\n"
        "    jmp 1b\n"
        ".globl exec_step_end\n"
        "exec_step_end:\n"
        "4:  return_to_host\n"
        ".size exec_step, . - exec_step\n"

        ".p2align 4\n"
        "exec_step_find:\n" /* the thread's `again`: rcx is in its slot */
        "    mov %gs:8, %rcx\n"
        ".globl exec_step_leave\n"
        ".type exec_step_leave, @function\n"
        "exec_step_leave:\n"
        "    mov %rax, %gs:0\n"
        "    mov %gs:thread_state, %rax\n"
        "    mov %rcx, 8(%rax)\n"
        "    mov %rdx, 16(%rax)\n"
        "    others store, \"\", \"(%rax)\"\n"
        "    mov %gs:thread_host_stack, %rsp\n"
        "    mov %gs:0, %rdx\n"
        "    pushfq\n"
        "    pop %rcx\n"
        "    mov %rdx, (%rax)\n"
        "    mov %rcx, thread_flags(%rax)\n"
        "    test $0x244400, %ecx\n"
        "    jnz 7f\n"
        "6:  cmpb $0, 7(%rsp)\n"
        "    jne 8f\n"
        "1:  cmpb $0, %gs:thread_vector_live\n"
        "    jne 9f\n"
        "5:  return_to_host\n"
        "7:  pushq $0x202\n"
        "    popfq\n"
        "    jmp 6b\n"
        "8:  mov %gs:thread_host_fs, %rax\n"
        "    wrfsbase %rax\n"
        "    jmp 1b\n"
        "9:  cmpb $step_sse, %gs:thread_vector_live\n"
        "    je 3f\n"
        "    save_vector\n"
        "    movb $0, %gs:thread_vector_live\n"
        "    testb $1, xsave_header(%rcx)\n" /* of XSTATE_BV: x87 in its initial state needs no
                                                fninit */
        "    jz 4f\n"
        "    fninit\n"
        "4:  cmpb $0, %gs:thread_has_avx\n"
        "    je 2f\n"
        "    vzeroupper\n"
        "2:  ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    jmp 5b\n"
        "3:  movb $0, %gs:thread_vector_live\n"
        "    mov %gs:thread_vector, %rcx\n"
        "    stmxcsr xsave_mxcsr(%rcx)\n"
        "    all_xmm store_xmm, rcx\n"
        "    ldmxcsr (%rsp)\n"
        "    jmp 5b\n"
        ".size exec_step_leave, . - exec_step_leave\n");

/* Looks up the second entry of the target in `jump`, without changing flags: rcx is 0 if it
 * matches, r15 half the entry's offset. r14 and r15 are in their slots. */
__asm__(".macro find_second\n"
        "    mov %r15, %gs:120\n"
        "    mov %r14, %gs:112\n"
        "    mov %gs:thread_jump, %r14\n"
        "    movzwl %gs:thread_jump + 2, %r15d\n"
        "    lea (%r15, %r15, 8), %r15d\n"
        "    lea (%r14, %r15, 8), %r15d\n" /* EXEC_LOOKUP_SECOND() */
        "    movzwl %r15w, %r15d\n"
        "    mov %gs:thread_side, %rcx\n"
        "    lea (%rcx, %r15, 8), %r15\n"
        "    mov %gs:thread_lookup(, %r15, 2), %rcx\n"
        "    lea (%rcx, %r14), %rcx\n"
        ".endm\n"
        ".macro restore_pair\n"
        "    mov %gs:112, %r14\n"
        "    mov %gs:120, %r15\n"
        ".endm\n");

/* A target that is found takes the first place, which it had before another one did: the place is
 * among those that exec_thread_forget() clears. */
__asm__(".p2align 4\n"
        ".globl exec_find_target\n"
        ".type exec_find_target, @function\n"
        "exec_find_target:\n"
        "    find_second\n"
        "    jrcxz 1f\n"
        "2:  restore_pair\n"
        "    mov %gs:8, %rcx\n"
        "    jmp exec_leave\n"
        "1:  mov %gs:thread_lookup + 8(, %r15, 2), %r14\n"
        "    movzwl %gs:thread_jump, %r15d\n" /* EXEC_LOOKUP_FIRST() */
        "    mov %gs:thread_side, %rcx\n"
        "    lea (%rcx, %r15, 8), %rcx\n"
        "    mov %r14, %gs:thread_targets(%rcx)\n"
        "    restore_pair\n"
        "    jmp *%gs:thread_targets(%rcx)\n"
        ".globl exec_look_again\n"
        ".type exec_look_again, @function\n"
        "exec_look_again:\n"
        "    find_second\n"
        "    jrcxz 1f\n"
        "    jmp 2b\n"
        "1:  movzwl %gs:thread_jump, %r14d\n"
        "    mov %gs:thread_side, %rcx\n"
        "    lea (%rcx, %r14, 8), %r14\n"
        "    mov %gs:thread_lookup(, %r15, 2), %rcx\n"
        "    mov %rcx, %gs:thread_lookup(, %r14, 2)\n"
        "    mov %gs:thread_lookup + 8(, %r15, 2), %rcx\n"
        "    mov %rcx, %gs:thread_lookup + 8(, %r14, 2)\n"
        "    mov %rcx, %gs:thread_jump\n"
        "    restore_pair\n"
        "    mov %gs:8, %rcx\n"
        "    jmp *%gs:thread_jump\n"
        ".globl exec_find_target_end\n"
        "exec_find_target_end:\n"
        ".size exec_find_target, . - exec_find_target\n");

/* When a signal arrives, fs may be the program's or the host's: it is saved on the stack. */
__asm__(".p2align 4\n"
        ".globl exec_signal_entry\n"
        ".type exec_signal_entry, @function\n"
        "exec_signal_entry:\n"
        "    endbr64\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    sub $16, %rsp\n"
        "    mov %edi, %ebx\n"
        "    mov %rsi, %r12\n"
        "    mov %rdx, %r13\n"
        "    cmpb $0, %gs:thread_fs_by_system\n"
        "    jne 3f\n"
        "    rdfsbase %rax\n"
        "    mov %rax, (%rsp)\n"
        "    jmp 4f\n"
        "3:  mov $158, %eax\n" /* arch_prctl(ARCH_GET_FS) */
        "    mov $0x1003, %edi\n"
        "    mov %rsp, %rsi\n"
        "    syscall\n"
        "4:\n"
        "    set_fs thread_host_fs\n"
        "    mov %ebx, %edi\n"
        "    mov %r12, %rsi\n"
        "    mov %r13, %rdx\n"
        "    call exec_signal\n"
        "    test %al, %al\n"
        "    jz 6f\n"
        "    mov (%rsp), %rsi\n"
        "    cmpb $0, %gs:thread_fs_by_system\n"
        "    jne 5f\n"
        "    wrfsbase %rsi\n"
        "    jmp 6f\n"
        "5:  mov $158, %eax\n" /* arch_prctl(ARCH_SET_FS) */
        "    mov $0x1002, %edi\n"
        "    syscall\n"
        "6:  add $16, %rsp\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size exec_signal_entry, . - exec_signal_entry\n"

        ".p2align 4\n"
        ".globl exec_signal_return\n"
        ".type exec_signal_return, @function\n"
        "exec_signal_return:\n"
        "    mov $15, %eax\n" /* rt_sigreturn */
        "    syscall\n"
        ".size exec_signal_return, . - exec_signal_return\n");

/* The handler resumes a thread that faults before `end` at `failed`. */
__asm__(".p2align 4\n"
        ".globl exec_copy\n"
        ".type exec_copy, @function\n"
        "exec_copy:\n"
        "    endbr64\n"
        "    mov %rdx, %rcx\n"
        "    rep movsb\n"
        ".globl exec_copy_end\n"
        "exec_copy_end:\n"
        "    xor %eax, %eax\n"
        "    ret\n"
        ".globl exec_copy_failed\n"
        "exec_copy_failed:\n"
        "    mov $-1, %eax\n"
        "    ret\n"
        ".size exec_copy, . - exec_copy\n");

/* The handler resumes a thread whose probed code faults at `failed`, with the signal in rax. */
__asm__(".p2align 4\n"
        ".globl exec_probe\n"
        ".type exec_probe, @function\n"
        "exec_probe:\n"
        "    endbr64\n"
        "    push %rbx\n"
        "    call *%rdi\n"
        "    xor %eax, %eax\n"
        "    pop %rbx\n"
        "    ret\n"
        ".globl exec_probe_failed\n"
        "exec_probe_failed:\n"
        "    lea 8(%rsp), %rsp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size exec_probe, . - exec_probe\n");

/* The handler resumes a thread between `checked` and `done` at `interrupted`. */
__asm__(".p2align 4\n"
        ".globl exec_system_call\n"
        ".type exec_system_call, @function\n"
        "exec_system_call:\n"
        "    endbr64\n"
        "    mov %rdi, %rcx\n"
        "    mov %rsi, %rax\n"
        "    mov %rdx, %r11\n"
        "    mov (%r11), %rdi\n"
        "    mov 8(%r11), %rsi\n"
        "    mov 16(%r11), %rdx\n"
        "    mov 24(%r11), %r10\n"
        "    mov 32(%r11), %r8\n"
        "    mov 40(%r11), %r9\n"
        ".globl exec_system_call_checked\n"
        "exec_system_call_checked:\n"
        "    cmpb $0, (%rcx)\n"
        "    jne exec_system_call_interrupted\n"
        "    syscall\n"
        ".globl exec_system_call_done\n"
        "exec_system_call_done:\n"
        "    ret\n"
        ".globl exec_system_call_interrupted\n"
        "exec_system_call_interrupted:\n"
        "    mov $system_call_again, %rax\n"
        "    ret\n"
        ".size exec_system_call, . - exec_system_call\n");
