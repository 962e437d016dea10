/*
 * The functions that a program calls that was instrumented for dependence tracing when it was
 * compiled. The first four are those of the Dependence Tracing specification (T. Bai, 2008), with
 * its names and signatures. A program may call them itself, or define its own.
 *
 * libbustap-depend.a defines all of them: it counts dependences and writes them when the program
 * ends (doc/dependences.md). If a program defines the first four, the library's other functions
 * call those: a sized hook calls the hook without a size once, and all others do nothing.
 *
 * The report goes to $BUSTAP_DEPEND_OUTPUT, or depend.PID in the current folder: as CSV, JSON or a
 * graph if the name ends in .csv, .json or .dot, else as text. $BUSTAP_DEPEND_OPTIONS may contain
 * --by, --kinds, --level and --trace FILE of `bustap depend`. It is written when the program
 * returns from main(), calls exit(), _exit() or abort(), or dies of a signal that it does not
 * handle, but not for SIGKILL and when it executes another program. A child of fork() is not
 * traced. Loops have no verdict, because the values that they carry in registers are not seen.
 * Programs must be linked dynamically: free(), realloc() and munmap() take the place of the C
 * library's.
 *
 * Strings are valid until the program ends. Hooks may be called by several threads at once.
 */
#ifndef CAPTURE_INSTRUMENT_DEPEND_HOOKS_H
#define CAPTURE_INSTRUMENT_DEPEND_HOOKS_H

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* The byte at an address is written, or read, at a place of the source. sketch_p: the place is not
 * in a DETAIL function. */
void _bop_prof_rec_write(unsigned long addr, int sketch_p, char *file_name, int line);
void _bop_prof_rec_read(unsigned long addr, int sketch_p, char *file_name, int line);

/* A DETAIL function begins and ends, also by an exception. */
void bop_instm_func_entry(char *file_name, char *func_name);
void bop_instm_func_exit(char *func_name);

/* The same for `size` bytes, any number. */
void _bop_prof_rec_write_n(unsigned long addr, unsigned long size, int sketch_p, char *file_name,
                           int line);
void _bop_prof_rec_read_n(unsigned long addr, unsigned long size, int sketch_p, char *file_name,
                          int line);

/* Bytes are copied: read at `from`, written at `to`. */
void _bop_prof_rec_copy_n(unsigned long to, unsigned long from, unsigned long size, int sketch_p,
                          char *file_name, int line);

/*
 * A natural loop begins with its first iteration, begins another iteration, and ends. `number`
 * tells loops of a function apart; `depth` is the number of loops of the function around it. Loops
 * that are deeper than the one of a call have ended, so that a longjmp() out of loops needs no
 * call.
 */
void bop_instm_loop_begin(char *file_name, int line, char *func_name, int number, int depth);
void bop_instm_loop_iterate(int number, int depth);
void bop_instm_loop_end(int number, int depth);

/* Any function begins, and returns. frame: its __builtin_frame_address(0). What is below the frame
 * then is no longer in use. */
void bop_instm_frame_entry(void *frame);
void bop_instm_frame_exit(void *frame);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
