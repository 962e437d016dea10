# The x87 stack: pushes, pops, exchanges, comparisons, conditional moves, status.
    .include "start.inc"
    START
    fninit
    fld1
    fldpi
    fldl numbers(%rip)
    flds numbers + 8(%rip)
    fildl numbers + 12(%rip)
    fadd %st(1), %st
    fmul %st, %st(2)
    fsubp %st, %st(1)
    fxch %st(2)
    fld %st(1)
    fcom %st(1)
    fnstsw %ax
    sahf
    jbe 1f
    fchs
1:  fcomi %st(2), %st
    fcmovbe %st(2), %st
    fcmovnbe %st(1), %st
    fcomp %st(3)
    fnstsw status(%rip)
    ftst
    fnstsw %ax
    fstl cells(%rip)
    fsts cells + 4(%rip)
    fstpt cells + 16(%rip)
    fldt cells + 16(%rip)
    fistpl cells(%rip)
    fsqrt
    fabs
    fyl2x
    fld1
    fpatan
    fsincos
    fincstp
    fdecstp
    fstp %st(1)
    fprem
    fnstsw %ax
    fld1
    fucompp
    fld1
    fstp %st(0)
    fnstcw cells(%rip)
    fldcw cells(%rip)
    mov cells(%rip), %rbx
    fninit
    fnstsw %ax
    EXIT

    .data
    .balign 16
numbers: .double 2.5
         .float 0.75
         .long 3
    .bss
    .balign 16
status: .skip 16
cells:  .skip 32
