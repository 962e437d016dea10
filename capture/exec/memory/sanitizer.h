/* Recognizes programs that a compiler's sanitizer has instrumented: their shadow memory is above
 * 4 GiB. */
#ifndef CAPTURE_EXEC_MEMORY_SANITIZER_H
#define CAPTURE_EXEC_MEMORY_SANITIZER_H

/*
 * The sanitizer whose runtime the ELF file open as `file` starts, as -fsanitize= names it: address,
 * thread, memory, leak, hwaddress or dataflow. NULL: none, or the file is stripped of the symbols
 * that show it. The string is constant.
 */
const char *sanitizer_find(int file);

#endif
