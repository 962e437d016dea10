/*
 * Marks the parts of a program that `bustap exec --markers` captures. For programs in C and C++
 * that are compiled for x86-64 by gcc or clang:
 *
 *     #include <bustap/mark.h>
 *
 *     BUSTAP_BEGIN;
 *     work();
 *     BUSTAP_END;
 *
 * Everything that any thread executes between them is captured, each time the program executes
 * them. BUSTAP_BEGIN inside a marked part does nothing, nor does BUSTAP_END outside one. Each is a
 * no-op of eight bytes; the compiler moves no memory access across it. This header needs no other
 * file and no library.
 */
#ifndef BUSTAP_MARK_H
#define BUSTAP_MARK_H

/* nopl with a displacement that compilers do not use for padding: "btB1" and "btE1". */
#define BUSTAP_BEGIN                                                                               \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x62, 0x74, 0x42, 0x31" : : : "memory")
#define BUSTAP_END                                                                                 \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x62, 0x74, 0x45, 0x31" : : : "memory")

#endif
