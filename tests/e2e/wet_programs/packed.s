# Vector registers in legacy encodings: whole ones, halves, scalars, elements.
    .include "start.inc"
    START
    movaps numbers(%rip), %xmm0
    movups numbers + 4(%rip), %xmm1
    movaps %xmm0, %xmm2
    addps %xmm1, %xmm2
    mulpd %xmm2, %xmm1
    movss numbers(%rip), %xmm3
    movsd numbers + 8(%rip), %xmm4
    movss %xmm3, %xmm4
    movsd %xmm4, %xmm0
    addss %xmm4, %xmm0
    subsd %xmm0, %xmm2
    sqrtsd %xmm2, %xmm5
    cvtsi2sd %esp, %xmm5
    cvtsd2ss %xmm5, %xmm6
    cvttss2si %xmm6, %eax
    movlps numbers(%rip), %xmm7
    movhps numbers + 16(%rip), %xmm7
    movlhps %xmm7, %xmm8
    movhlps %xmm7, %xmm9
    movlpd %xmm7, cells(%rip)
    movhpd %xmm7, cells + 8(%rip)
    movaps cells(%rip), %xmm10
    movd %eax, %xmm11
    movq %xmm11, %rcx
    movq %xmm10, %xmm12
    pinsrw $3, %ecx, %xmm12
    pextrw $3, %xmm12, %edx
    shufps $0x1b, %xmm12, %xmm11
    unpcklps %xmm0, %xmm11
    punpckhbw %xmm1, %xmm11
    pshufd $1, %xmm11, %xmm13
    paddb %xmm13, %xmm12
    pcmpeqd %xmm13, %xmm13
    pxor %xmm14, %xmm14
    xorps %xmm0, %xmm14
    pcmpgtw %xmm0, %xmm14
    psubq %xmm14, %xmm14
    ucomisd %xmm0, %xmm1
    ja 1f
    comiss %xmm3, %xmm4
1:  movmskps %xmm14, %esi
    pmovmskb %xmm13, %edi
    cmpltsd %xmm0, %xmm1
    cvtps2pd %xmm1, %xmm15
    movntps %xmm15, cells(%rip)
    movapd cells(%rip), %xmm15
    psrldq $3, %xmm15
    movdqu %xmm15, cells + 3(%rip)
    movq cells + 6(%rip), %xmm1
    EXIT

    .data
    .balign 16
numbers: .float 1.5, 2.5, -3.25, 4, 5, 6, 7, 8
    .bss
    .balign 16
cells: .skip 32
