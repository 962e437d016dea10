/*
 * What the hooks of a program do that defines the specification's four itself. This object comes
 * before the runtime in the library: the linker takes the runtime only if the four are missing, and
 * then its functions replace these weak ones.
 */
#include "capture/instrument/depend_hooks.h"

#define WEAK __attribute__((weak))

WEAK void _bop_prof_rec_write_n(unsigned long addr, unsigned long size, int sketch_p,
                                char *file_name, int line)
{
    (void)size;
    _bop_prof_rec_write(addr, sketch_p, file_name, line);
}

WEAK void _bop_prof_rec_read_n(unsigned long addr, unsigned long size, int sketch_p,
                               char *file_name, int line)
{
    (void)size;
    _bop_prof_rec_read(addr, sketch_p, file_name, line);
}

WEAK void _bop_prof_rec_copy_n(unsigned long to, unsigned long from, unsigned long size,
                               int sketch_p, char *file_name, int line)
{
    _bop_prof_rec_read_n(from, size, sketch_p, file_name, line);
    _bop_prof_rec_write_n(to, size, sketch_p, file_name, line);
}

WEAK void bop_instm_loop_begin(char *file_name, int line, char *func_name, int number, int depth)
{
    (void)file_name;
    (void)line;
    (void)func_name;
    (void)number;
    (void)depth;
}

WEAK void bop_instm_loop_iterate(int number, int depth)
{
    (void)number;
    (void)depth;
}

WEAK void bop_instm_loop_end(int number, int depth)
{
    (void)number;
    (void)depth;
}

WEAK void bop_instm_frame_entry(void *frame)
{
    (void)frame;
}

WEAK void bop_instm_frame_exit(void *frame)
{
    (void)frame;
}
