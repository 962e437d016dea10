# Returns twice: what setjmp and longjmp do. The second time frames end without a return.
    .include "start.inc"
    START
    mov $3, %ebp
1:  call save
    test %eax, %eax
    jnz 2f
    mov $1, %edi
    call deep
2:  dec %ebp
    jnz 1b
    EXIT

    FUNCTION save
    lea 8(%rsp), %rdx
    mov %rdx, place(%rip)
    mov (%rsp), %rdx
    mov %rdx, place + 8(%rip)
    xor %eax, %eax
    ret
    END save

    FUNCTION deep
    push %rbx
    inc %edi
    cmp $5, %edi
    jae 1f
    call deep
    pop %rbx
    ret
1:  call restore
    hlt
    END deep

    FUNCTION restore
    mov %edi, %eax
    mov place(%rip), %rsp
    jmp *place + 8(%rip)
    END restore

    .bss
place: .skip 16
