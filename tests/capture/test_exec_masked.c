/* Memory operands of instructions with an opmask. */
#include "tests/suites.h"
#include "tests/support/masked_forms.h"

#include "capture/exec/decode.h"

#include <stdio.h>

#define FORMS_MIN 4000u /* that any Zydis knows */

static void print_form(const struct random_instruction *form, const char *what)
{
    for (unsigned i = 0; i < form->instruction.length; i++)
        printf("%02x", form->bytes[i]);
    printf(" %s: %s\n", ZydisMnemonicGetString(form->instruction.mnemonic), what);
}

static bool is_prefetch(const struct random_instruction *form)
{
    return form->instruction.meta.exception_class == ZYDIS_EXCEPTION_CLASS_E12NP;
}

/* Forms without fault suppression are plain accesses; all others depend on the mask. */
static void check_suppression(void *context, const struct random_instruction *form)
{
    unsigned *failed = context;
    struct decode_instruction instruction;
    decode(&instruction, form->bytes, sizeof form->bytes, 0);
    const char *what = NULL;
    if (instruction.access_count != (is_prefetch(form) ? 0 : 1))
        what = "wrong number of accesses";
    else if (instruction.access_count == 1 && (instruction.accesses[0].form == DECODE_PLAIN) !=
                                                  masked_form_reads_all(&form->instruction))
        what = "fault suppression is not as in the manual";
    else if (instruction.access_count == 1 && instruction.accesses[0].form != DECODE_PLAIN &&
             (instruction.accesses[0].mask != MASKED_FORMS_MASK ||
              instruction.accesses[0].lanes == 0))
        what = "wrong mask";
    if (!what)
        return;
    if (++*failed <= 20)
        print_form(form, what);
}

static void test_suppression(void)
{
    unsigned failed = 0;
    CU_ASSERT(masked_forms_each(check_suppression, &failed) > FORMS_MIN);
    CU_ASSERT_EQUAL(failed, 0);
}

static const struct test_case cases[] = {{"forms without fault suppression", test_suppression},
                                         {NULL, NULL}};
TEST_SUITE(exec_masked, cases)
