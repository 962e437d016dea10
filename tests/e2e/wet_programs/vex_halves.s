# needs: avx
# Halves of vector registers in VEX encodings.
    .include "start.inc"
    START
    vmovaps numbers(%rip), %xmm0
    movlps numbers(%rip), %xmm1
    movhps numbers + 8(%rip), %xmm1
    movlps numbers(%rip), %xmm2
    movhps numbers + 8(%rip), %xmm2
    movhps numbers + 8(%rip), %xmm4
    vmovhps %xmm1, cells(%rip)
    vmovlps %xmm1, cells + 8(%rip)
    vmovhps numbers(%rip), %xmm1, %xmm3
    vmovlps numbers(%rip), %xmm1, %xmm5
    vmovhpd numbers(%rip), %xmm2, %xmm6
    vmovlpd numbers(%rip), %xmm2, %xmm7
    vmovhlps %xmm1, %xmm2, %xmm8
    vmovlhps %xmm1, %xmm2, %xmm9
    vmovaps %xmm9, cells(%rip)
    EXIT

    .data
    .balign 16
numbers: .float 1, 2, 3, 4
    .bss
    .balign 16
cells: .skip 32
