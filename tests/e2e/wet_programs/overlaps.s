# Accesses that are unaligned, overlap, and have several writers.
    .include "start.inc"
    START
    mov $0x0102030405060708, %rax
    mov $cells, %ebx
    mov %rax, 3(%rbx)
    mov %eax, 1(%rbx)
    mov %ax, 9(%rbx)
    mov %al, 6(%rbx)
    mov (%rbx), %rcx
    mov 5(%rbx), %rdx
    mov 60(%rbx), %rsi
    mov %rax, 60(%rbx)
    mov 61(%rbx), %rsi
    mov 64(%rbx), %edi
    movups (%rbx), %xmm0
    movups %xmm0, 7(%rbx)
    mov 6(%rbx), %rcx
    mov $4, %ecx
1:  mov %cl, 32(%rbx,%rcx)
    loop 1b
    mov 33(%rbx), %eax
    mov $8, %ecx
2:  addl $1, (%rbx,%rcx,2)
    adc %ecx, 1(%rbx,%rcx,2)
    dec %ecx
    jns 2b
    mov 4090(%rbx), %rax
    mov %rax, 4093(%rbx)
    addq $3, 4091(%rbx)
    xchg %rax, 4089(%rbx)
    # stores that are read by the same instruction
    mov $cells, %esi
    lea 3(%rsi), %edi
    mov $20, %ecx
    rep movsb
    lea 40(%rbx), %esi
    lea 42(%rbx), %edi
    mov $9, %ecx
    std
    rep movsl
    lea 4(%rbx), %edi
    lea 8(%rbx), %esi
    mov $5, %ecx
    cld
    rep movsq
    mov 2(%rbx), %rax
    EXIT

    .bss
    .balign 4096
cells: .skip 8192
