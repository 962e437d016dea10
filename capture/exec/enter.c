#include "capture/exec/enter.h"

/*
 * In assembler, because every register has its meaning here. The program's stack is never used:
 * flags go through ours.
 */

/* clang-format off: it takes the strings to pieces */

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define GS(name) "%gs:" TEXT(EXEC_THREAD_##name)

/* fs becomes what the field says. Clobbers rax, rcx, rdx, rsi, rdi, r11. */
#define SET_FS(field)                                                                              \
    "    cmpb $0, " GS(                                                                            \
        FS_BY_SYSTEM) "\n"                                                                         \
                      "    jne 1f\n"                                                               \
                      "    mov " GS(field) ", %rax\n"                                              \
                                           "    wrfsbase %rax\n"                                   \
                                           "    jmp 2f\n"                                          \
                                           "1:  mov $158, %eax\n" /* arch_prctl(ARCH_SET_FS) */    \
                                           "    mov $0x1002, %edi\n"                               \
                                           "    mov " GS(field) ", %rsi\n"                         \
                                                                "    syscall\n"                    \
                                                                "2:\n"

#define FUNCTION(name)                                                                             \
    ".p2align 4\n"                                                                                 \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", @function\n" #name ":\n"

#define END(name) ".size " #name ", . - " #name "\n"

__asm__(
    ".text\n" FUNCTION(
        exec_enter) "    endbr64\n"
                    "    push %rbp\n"
                    "    push %rbx\n"
                    "    push %r12\n"
                    "    push %r13\n"
                    "    push %r14\n"
                    "    push %r15\n"
                    "    sub $8, %rsp\n"
                    "    stmxcsr (%rsp)\n"
                    "    fnstcw 4(%rsp)\n"
                    "    mov %rsp, " GS(
                        HOST_STACK) "\n"
                                    "    mov %rsi, " GS(
                                        JUMP) "\n"
                                              "    mov %dl, " GS(
                                                  VECTOR_LIVE) "\n"
                                                               "    test %dl, %dl\n"
                                                               "    jz 3f\n"
                                                               "    mov " GS(
                                                                   VECTOR) ", %rcx\n"
                                                                           "    mov " GS(
                                                                               VECTOR_MASK) ", "
                                                                                            "%rax\n"
                                                                                            "    "
                                                                                            "xor "
                                                                                            "%edx, "
                                                                                            "%edx\n"
                                                                                            "    "
                                                                                            "xrstor"
                                                                                            "64 "
                                                                                            "(%rcx)"
                                                                                            "\n"
                                                                                            "3:"
                                                                                            "\n" SET_FS(FS_BASE) "    pushq " GS(
                                                                                                FLAGS) "\n"
                                                                                                       "    popfq\n"
                                                                                                       "    mov %gs:0, %rax\n"
                                                                                                       "    mov %gs:8, %rcx\n"
                                                                                                       "    mov %gs:16, %rdx\n"
                                                                                                       "    mov %gs:24, %rbx\n"
                                                                                                       "    mov %gs:32, %rsp\n"
                                                                                                       "    mov %gs:40, %rbp\n"
                                                                                                       "    mov %gs:48, %rsi\n"
                                                                                                       "    mov %gs:56, %rdi\n"
                                                                                                       "    mov %gs:64, %r8\n"
                                                                                                       "    mov %gs:72, %r9\n"
                                                                                                       "    mov %gs:80, %r10\n"
                                                                                                       "    mov %gs:88, %r11\n"
                                                                                                       "    mov %gs:96, %r12\n"
                                                                                                       "    mov %gs:104, %r13\n"
                                                                                                       "    mov %gs:112, %r14\n"
                                                                                                       "    mov %gs:120, %r15\n"
                                                                                                       "    jmp *" GS(
                                                                                                           JUMP) "\n" END(exec_enter)

                                                                                                           FUNCTION(
                                                                                                               exec_leave) "    mov %rax, %gs:0\n"
                                                                                                                           "    mov %rcx, %gs:8\n"
                                                                                                                           "    mov %rdx, %gs:16\n"
                                                                                                                           "    mov %rbx, %gs:24\n"
                                                                                                                           "    mov %rsp, %gs:32\n"
                                                                                                                           "    mov %rbp, %gs:40\n"
                                                                                                                           "    mov %rsi, %gs:48\n"
                                                                                                                           "    mov %rdi, %gs:56\n"
                                                                                                                           "    mov %r8, %gs:64\n"
                                                                                                                           "    mov %r9, %gs:72\n"
                                                                                                                           "    mov %r10, %gs:80\n"
                                                                                                                           "    mov %r11, %gs:88\n"
                                                                                                                           "    mov %r12, %gs:96\n"
                                                                                                                           "    mov %r13, %gs:104\n"
                                                                                                                           "    mov %r14, %gs:112\n"
                                                                                                                           "    mov %r15, %gs:120\n"
                                                                                                                           "    mov " GS(
                                                                                                                               HOST_STACK) ", %rsp\n"
                                                                                                                                           "    pushfq\n"
                                                                                                                                           "    popq " GS(FLAGS) "\n"
                                                                                                                                                                 "    cmpb $0, " GS(VECTOR_LIVE) "\n"
                                                                                                                                                                                                 "    je exec_return\n"
                                                                                                                                                                                                 "    mov " GS(VECTOR) ", %rcx\n"
                                                                                                                                                                                                                       "    mov " GS(
                                                                                                                                                                                                                           VECTOR_MASK) ", %rax\n"
                                                                                                                                                                                                                                        "    xor %edx, %edx\n"
                                                                                                                                                                                                                                        "    cmpb $0, " GS(HAS_XSAVEOPT) "\n"
                                                                                                                                                                                                                                                                         "    je 4f\n"
                                                                                                                                                                                                                                                                         "    xsaveopt64 (%rcx)\n" /* leaves out what is in its initial state, or unchanged */
                                                                                                                                                                                                                                                                         "    jmp exec_return\n"
                                                                                                                                                                                                                                                                         "4:  xsave64 (%rcx)\n"
                                                                                                                                                                                                                                                                         "    jmp exec_return\n" END(
                                                                                                                                                                                                                                                                             exec_leave)

                                                                                                                                                                                                                                                                             FUNCTION(
                                                                                                                                                                                                                                                                                 exec_return) "    cld\n"
                                                                                                                                                                                                                                                                                              "    testl $0x40000, " GS(FLAGS) "\n" /* alignment checks; popfq is slow */
                                                                                                                                                                                                                                                                                                                               "    jz 3f\n"
                                                                                                                                                                                                                                                                                                                               "    pushq $0x202\n"
                                                                                                                                                                                                                                                                                                                               "    popfq\n"
                                                                                                                                                                                                                                                                                                                               "3:\n" SET_FS(
                                                                                                                                                                                                                                                                                                                                   HOST_FS) "    cmpb $0, " GS(VECTOR_LIVE) "\n"
                                                                                                                                                                                                                                                                                                                                                                            "    je 6f\n"
                                                                                                                                                                                                                                                                                                                                                                            "    movb $0, " GS(
                                                                                                                                                                                                                                                                                                                                                                                VECTOR_LIVE) "\n"
                                                                                                                                                                                                                                                                                                                                                                                             "    mov " GS(
                                                                                                                                                                                                                                                                                                                                                                                                 VECTOR) ", %rcx\n"
                                                                                                                                                                                                                                                                                                                                                                                                         "    testb $1, 512(%rcx)\n" /* x87 in its initial state needs no fninit, which is slow */
                                                                                                                                                                                                                                                                                                                                                                                                         "    jz 4f\n"
                                                                                                                                                                                                                                                                                                                                                                                                         "    fninit\n"
                                                                                                                                                                                                                                                                                                                                                                                                         "4:  cmpb $0, " GS(HAS_AVX) "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    je 5f\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    vzeroupper\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "5:  ldmxcsr (%rsp)\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    fldcw 4(%rsp)\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "6:  add $8, %rsp\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    pop %r15\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    pop %r14\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    pop %r13\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    pop %r12\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    pop %rbx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    pop %rbp\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                     "    ret\n" END(
                                                                                                                                                                                                                                                                                                                                                                                                                                         exec_return)

                                                                                                                                                                                                                                                                                                                                                                                                                                         FUNCTION(
                                                                                                                                                                                                                                                                                                                                                                                                                                             exec_signal_entry) "    endbr64\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    pushq $0x202\n" /* the system leaves alignment checks on */
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    popfq\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    push %rbx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    push %r12\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    push %r13\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    mov %edi, %ebx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    mov %rsi, %r12\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                "    mov %rdx, %r13\n" SET_FS(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                    HOST_FS) "    mov %ebx, %edi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "    mov %r12, %rsi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "    mov %r13, %rdx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "    call exec_signal\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "    test %al, %al\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "    jz 3f\n" SET_FS(FS_BASE) "3:  pop %r13\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "    pop %r12\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "    pop %rbx\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "    ret\n" END(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               exec_signal_entry));

/* clang-format on */
