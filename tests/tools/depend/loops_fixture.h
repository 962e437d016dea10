/* Machine code of loops, assembled with the test, and what an analysis finds in it. */
#ifndef TESTS_TOOLS_DEPEND_LOOPS_FIXTURE_H
#define TESTS_TOOLS_DEPEND_LOOPS_FIXTURE_H

#include "tools/depend/loop_values.h"

/* Defines NAME_code and NAME_end, which enclose the code of a text in Intel syntax. */
#define LOOP_CODE(name, text)                                                                      \
    __asm__(".pushsection .rodata\n.intel_syntax noprefix\n" #name "_code:\n" text "\n" #name      \
            "_end:\n.att_syntax prefix\n.popsection\n");                                           \
    extern const uint8_t name##_code[] __attribute__((visibility("hidden")));                      \
    extern const uint8_t name##_end[] __attribute__((visibility("hidden")))

#define LOOP_CODE_BASE UINT64_C(0x401000)

struct loop_code {
    const uint8_t *bytes;
    size_t size;
};

/* loop_flow_read of a struct loop_code, which lies at LOOP_CODE_BASE. */
size_t loop_code_read(void *context, uint64_t address, const uint8_t **code);

/* Analyses the outermost loop of code, after which live variables are used. False: it has no loop.
 */
bool loop_code_analyse(struct loop_code code, value_set live, struct loop_values *values);

#endif
