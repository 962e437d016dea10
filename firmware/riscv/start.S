/* Reset: stack and global pointer, initialised data, zeroed data, main. */
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __stack_top
    la      t0, trap
    csrw    mtvec, t0

    la      t0, __data_load
    la      t1, __data_start
    la      t2, __data_end
copy:
    bgeu    t1, t2, zero
    lw      t3, 0(t0)
    sw      t3, 0(t1)
    addi    t0, t0, 4
    addi    t1, t1, 4
    j       copy

zero:
    la      t1, __bss_start
    la      t2, __bss_end
clear:
    bgeu    t1, t2, run
    sw      zero, 0(t1)
    addi    t1, t1, 4
    j       clear

run:
    call    main

/* The code does not trap, so that a trap is a hardware fault: restart, disarmed, which a host
   notices. */
    .balign 4
trap:
    j       _start
