# Halves of vector registers, registers of x87 that are freed or popped, and seldom encodings.
    .include "start.inc"
    START
    movaps numbers(%rip), %xmm0
    movhps numbers(%rip), %xmm1
    movlps numbers + 8(%rip), %xmm1
    movlps numbers + 8(%rip), %xmm2
    movhps numbers(%rip), %xmm2
    movhlps %xmm1, %xmm3
    movlhps %xmm2, %xmm3
    movhpd %xmm1, cells(%rip)
    movlpd %xmm1, cells + 8(%rip)
    movhlps %xmm2, %xmm2
    movdqa %xmm3, cells + 16(%rip)
    mov cells + 4(%rip), %rax
    # r8 and rax change places: rep with REX.B is no pause
    mov $1, %r8d
    mov $-2, %rax
    .byte 0xf3, 0x41, 0x90
    mov %rax, %rcx
    .byte 0xf3, 0x49, 0x90
    mov %r8, %rdx
    mov %rsp, %rbp
    push %rbp
    mov %rsp, %rbp
    data16 leave
    mov %rsp, %rsi
    fld1
    fldz
    fld %st(1)
    fstp %st(2)
    fstp %st(0)
    ffree %st(0)
    fincstp
    fldpi
    fnsave state(%rip)
    fldpi
    fstpl cells(%rip)
    fnstsw %ax
    EXIT

    .data
    .balign 16
numbers: .float 1, 2, 3, 4
    .bss
    .balign 16
cells: .skip 32
state: .skip 128
