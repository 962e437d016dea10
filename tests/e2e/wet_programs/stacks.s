# push, pop, enter, leave, returns that release more, and return addresses that are changed.
    .include "start.inc"
    START
    sub $64, %rsp
    mov $0x12345678, %ebx
    push %rbx
    push $7
    pushw $3
    popw %ax
    pop %rcx
    push 0(%rsp)
    pop 8(%rsp)
    pushf
    popf
    push %rsp
    pop %rdx
    call framed
    push $4
    push $5
    call releasing
    call *place(%rip)
    mov $skipping, %eax
    call *%rax
    nop
    pop %rsi
    EXIT

    FUNCTION framed
    enter $32, $0
    mov %ebx, -4(%rbp)
    mov -4(%rbp), %eax
    call releasing_none
    leave
    ret
    END framed

    FUNCTION releasing_none
    push %rbp
    mov %rsp, %rbp
    lea 16(%rbp), %rdi
    pop %rbp
    ret
    END releasing_none

    FUNCTION releasing
    mov 8(%rsp), %rdi
    add 16(%rsp), %rdi
    ret $16
    END releasing

    FUNCTION skipping
    incq (%rsp)
    ret
    END skipping

    .data
place: .quad releasing_none
