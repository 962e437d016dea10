# What is defined only under a condition: cmov, shifts by cl, bsf, bsr, cmpxchg.
    .include "start.inc"
    START
    mov $2, %esi
1:  mov $-1, %rbx
    mov $5, %eax
    cmp $2, %esi
    cmove %eax, %ebx
    mov %rbx, %rdx
    cmovne %rax, %rdx
    setg %dl
    adc $1, %rdx
    seto %dh
    # counts of 0, and 3
    mov %esi, %ecx
    sub $2, %ecx
    and $3, %ecx
    cmp %eax, %ebx
    shl %cl, %eax
    setb %r8b
    cmp %eax, %ebx
    ror %cl, %rax
    setb %r8b
    rcl %cl, %eax
    sar %cl, %bl
    lahf
    shld %cl, %ebx, %edx
    setz %r9b
    shl $0, %ebx
    setz %r9b
    rol $3, %ebx
    jz 2f
    # sources of 0, and others
2:  mov %ecx, %edi
    bsf %rdi, %r10
    bsr %edi, %r11d
    setz %r12b
    # misses, and hits
    mov $3, %eax
    mov $8, %ebp
    cmpxchg %ebp, cell(%rip)
    sete %r13b
    mov %eax, %r14d
    cmpxchg %bp, cell + 4(%rip)
    mov $-1, %r15
    cmpxchg %ebp, %r15d
    mov %r15, %r14
    cmpxchg8b cell(%rip)
    cmpxchg16b cell(%rip)
    mov cell(%rip), %rax
    dec %esi
    jnz 1b
    EXIT

    .data
    .balign 16
cell: .long 3, 0, 0, 0
