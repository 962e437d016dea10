# MMX registers, which are those of x87.
    .include "start.inc"
    START
    fld1
    fldpi
    movq numbers(%rip), %mm1
    movd numbers + 4(%rip), %mm2
    mov $77, %eax
    movd %eax, %mm3
    movq %mm1, %mm4
    paddb %mm2, %mm4
    paddw numbers(%rip), %mm4
    pxor %mm5, %mm5
    pcmpeqd %mm6, %mm6
    psubb %mm5, %mm6
    punpcklbw %mm3, %mm1
    pshufw $2, %mm1, %mm7
    pmovmskb %mm7, %ecx
    movq2dq %mm7, %xmm0
    movdq2q %xmm0, %mm0
    cvtpi2ps %mm0, %xmm1
    cvttps2pi %xmm1, %mm0
    movq %mm0, cells(%rip)
    movd %mm6, %edx
    emms
    fld1
    fstpl cells + 8(%rip)
    mov cells + 4(%rip), %rax
    EXIT

    .data
numbers: .quad 0x0123456789abcdef
    .bss
cells: .skip 16
