/* The first function of a program without libraries: a stack at a fixed address below 4 GiB, then
 * program(), whose result is the exit status. */
#ifndef TESTS_E2E_WET_PROGRAMS_START_H
#define TESTS_E2E_WET_PROGRAMS_START_H

__asm__(".bss\n"
        ".balign 64\n"
        "stack: .skip 65536\n"
        ".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    mov $stack + 65536, %esp\n"
        "    call program\n"
        "    mov %eax, %edi\n"
        "    mov $60, %eax\n"
        "    syscall\n"
        "    hlt\n"
        ".size _start, . - _start\n");

int program(void);

#endif
