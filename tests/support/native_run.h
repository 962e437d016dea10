/*
 * Runs a few instructions on the processor itself, with any register values, and returns the
 * result: the kernel's signal frames load and save all registers, which needs nothing of the code
 * under test.
 */
#ifndef TESTS_SUPPORT_NATIVE_RUN_H
#define TESTS_SUPPORT_NATIVE_RUN_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_VECTOR_BYTES 4096u

/* All registers. */
struct machine {
    uint64_t registers[16]; /* in the order of encodings */
    uint64_t rip;
    uint64_t flags;
    uint8_t vector[MACHINE_VECTOR_BYTES] __attribute__((aligned(64))); /* XSAVE's standard form */
};

struct NAMED_FIELDS native_end {
    int signal; /* SIGTRAP: it reached the int3 */
    int code;
    uint64_t fault_address;
};

/*
 * Runs from machine->rip to an int3 or a fault; sets *machine to the state there (rip at the int3,
 * or at the faulting instruction). With step, calls step(context, machine) before every
 * instruction, also the first. fs is not changed.
 */
struct native_end native_run(struct machine *machine,
                             void (*step)(void *context, const struct machine *machine),
                             void *context);

/* Whether the processor is QEMU's emulation (TCG), according to CPUID: it is inexact where most
 * programs do not notice. */
bool native_is_emulated(void);

/* XSAVE's state components that are loaded and compared: those of x87, SSE, AVX and AVX-512 that
 * the processor has and the system saves. */
uint64_t machine_components(void);

/* A component's offset in the vector area, and its size in *size. A missing component has the size
 * 0 and an offset that is never loaded. */
size_t machine_component(unsigned component, size_t *size);

/* The bytes of the vector area that these components take; those after them are never loaded. */
size_t machine_vector_bytes(void);

/* Describes the first difference of two machines; NULL if there is none. Instruction addresses in
 * the x87 state are not compared. */
const char *machine_difference(const struct machine *a, const struct machine *b);

#endif
