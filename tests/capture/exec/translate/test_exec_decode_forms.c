/* decode_form() against decode(): every field of struct decode_instruction. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "capture/exec/translate/decode_forms.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS 0x401000u
#define RANDOM  600000u
#define BYTES   ((size_t)600000) /* of a module */

struct comparison {
    struct decode_forms *forms;
    unsigned compared, common, different;
    unsigned long instructions;
};

/* Fields only: padding has any value. */
static bool is_same_access(const struct decode_access *a, const struct decode_access *b)
{
    return a->form == b->form && a->base == b->base && a->index == b->index &&
           a->scale == b->scale && a->read == b->read && a->write == b->write && a->fs == b->fs &&
           a->narrow == b->narrow && a->mask == b->mask && a->lanes == b->lanes &&
           a->element == b->element && a->index_size == b->index_size && a->size == b->size &&
           a->vector == b->vector && a->displacement == b->displacement;
}

static bool is_same(const struct decode_instruction *a, const struct decode_instruction *b)
{
    for (unsigned i = 0; i < DECODE_ACCESSES; i++)
        if (!is_same_access(&a->accesses[i], &b->accesses[i]))
            return false;
    return a->address == b->address && a->target == b->target &&
           memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 && a->size == b->size &&
           a->kind == b->kind && a->branch_register == b->branch_register &&
           a->access_count == b->access_count && a->registers_read == b->registers_read &&
           a->registers_written == b->registers_written && a->flags_read == b->flags_read &&
           a->flags_written == b->flags_written && a->gs == b->gs && a->vector == b->vector &&
           a->repeated == b->repeated && a->saves_x87 == b->saves_x87 &&
           a->adjusted == b->adjusted && a->adjustment == b->adjustment &&
           a->stack_release == b->stack_release && a->rip_displacement == b->rip_displacement &&
           a->mnemonic == b->mnemonic;
}

/* Returns the size of the instruction. */
static size_t compare(struct comparison *comparison, const uint8_t *bytes, size_t size)
{
    struct decode_instruction expected, found;
    uint8_t exact[DECODE_BYTES_MAX + 1];
    decode(&expected, bytes, size, ADDRESS);
    memset(&found, 0xa5, sizeof found);
    decode_form(comparison->forms, &found, bytes, size, ADDRESS);
    comparison->compared++;
    comparison->common += decode_form_is_common(comparison->forms, bytes, size);
    memcpy(exact, bytes, size < sizeof exact ? size : sizeof exact);
    if (!is_same(&expected, &found) && comparison->different++ < 10) {
        for (size_t i = 0; i < size && i < DECODE_BYTES_MAX; i++)
            printf("%02x ", bytes[i]);
        printf(": read %x not %x, written %x not %x, size %u not %u, mnemonic %u not %u\n",
               found.registers_read, expected.registers_read, found.registers_written,
               expected.registers_written, found.size, expected.size, found.mnemonic,
               expected.mnemonic);
    }
    return expected.size;
}

static void begin(struct comparison *comparison)
{
    *comparison = (struct comparison){.forms = decode_forms_new()};
    CU_ASSERT_PTR_NOT_NULL_FATAL(comparison->forms);
}

/* Frees the forms. At least the given share of instructions, in percent, is common. */
static void check(struct comparison *comparison, unsigned share)
{
    CU_ASSERT_EQUAL(comparison->different, 0);
    CU_ASSERT(comparison->common >= comparison->compared / 100 * share);
    decode_forms_free(comparison->forms);
}

/* All opcodes with all prefixes and ModRM bytes. */
static void test_all(void)
{
    static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3, 0x67, 0x64, 0xf0};
    struct comparison comparison;
    uint64_t seed = 5;
    begin(&comparison);
    for (unsigned map = 0; map < 2; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned modrm = 0; modrm < 256; modrm++)
                for (unsigned i = 0; i < 14; i++) {
                    uint8_t bytes[DECODE_BYTES_MAX];
                    unsigned at = 0;
                    for (unsigned j = 0; j < sizeof bytes; j++)
                        bytes[j] = (uint8_t)random_next(&seed);
                    if (prefixes[i / 2])
                        bytes[at++] = prefixes[i / 2];
                    if (i % 2)
                        bytes[at++] = (uint8_t)(0x40 | (random_next(&seed) & 15));
                    if (map)
                        bytes[at++] = 0x0f;
                    bytes[at++] = (uint8_t)opcode;
                    bytes[at] = (uint8_t)modrm;
                    compare(&comparison, bytes, sizeof bytes);
                }
    check(&comparison, 10);
}

/* Random bytes, and instructions that are cut off. */
static void test_random(void)
{
    struct comparison comparison;
    uint64_t seed = 9;
    begin(&comparison);
    for (unsigned i = 0; i < RANDOM; i++) {
        uint8_t bytes[20];
        for (unsigned j = 0; j < sizeof bytes; j++)
            bytes[j] = (uint8_t)random_next(&seed);
        compare(&comparison, bytes, i % 4 ? sizeof bytes : random_next(&seed) % sizeof bytes);
    }
    check(&comparison, 5);
}

static int compare_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct comparison *comparison = context;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uint8_t *at = (const uint8_t *)(uintptr_t)(info->dlpi_addr + part->p_vaddr), *end;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || !(part->p_flags & PF_R))
            continue;
        end = at + (part->p_filesz < BYTES ? part->p_filesz : BYTES);
        while (at < end)
            at += compare(comparison, at, (size_t)(end - at));
    }
    return 0;
}

/* The code of this program and its libraries. */
static void test_real(void)
{
    struct comparison comparison;
    begin(&comparison);
    dl_iterate_phdr(compare_module, &comparison);
    CU_ASSERT(comparison.compared > 10000);
    check(&comparison, 70);
}

static const struct test_case cases[] = {{"all opcodes", test_all},
                                         {"random bytes", test_random},
                                         {"code of libraries", test_real},
                                         {NULL, NULL}};
TEST_SUITE(exec_decode_forms, cases)
