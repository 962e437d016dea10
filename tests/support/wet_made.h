/* Small WET files of real machine code, made by hand. */
#ifndef TESTS_SUPPORT_WET_MADE_H
#define TESTS_SUPPORT_WET_MADE_H

#include "formats/wet/wet_bytes.h"

#define WET_MADE_START 0x1000u
#define WET_MADE_IDS   7u

/*
 * A file with the execution of
 *
 *     id 1  1000    xor %eax,%eax      main, /src/made one.c, line 3
 *        2  1002    mov $3,%ecx                               line 4
 *        3  1007 0: add (%rdi),%eax                           line 5
 *        4  1009    mov %eax,(%rdi)                           line 6
 *        5  100b    dec %ecx                                  line 7
 *        6  100d    jne 0b                                    line 7
 *        7  100f    syscall            no name, file or line
 *
 * The loop is executed `iterations` times, the first `first` of them in a chunk of their own (0:
 * there is one chunk). The loads depend on the stores of the iteration before. Replaces *file; the
 * caller frees file->bytes.
 */
void wet_made_loop(struct wet_bytes *file, unsigned iterations, unsigned first);

#endif
