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
 * What is executed between them is captured, of all threads, as often as the program comes there.
 * BUSTAP_BEGIN in a part that has begun does nothing, nor does BUSTAP_END outside. By itself each
 * is one instruction of eight bytes that does nothing; the compiler moves no access to memory
 * across it. This file needs nothing else of bustap, and no library.
 */
#ifndef BUSTAP_MARK_H
#define BUSTAP_MARK_H

/* nopl with a displacement that nobody pads code with: "btB1" and "btE1". */
#define BUSTAP_BEGIN                                                                               \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x62, 0x74, 0x42, 0x31" : : : "memory")
#define BUSTAP_END                                                                                 \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x62, 0x74, 0x45, 0x31" : : : "memory")

#endif
