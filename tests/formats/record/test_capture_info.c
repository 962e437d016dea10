#include "formats/record/capture_info.h"
#include "tests/suites.h"

static void test_identity(void)
{
    struct capture_info info = {.file_number = 1};
    CU_ASSERT_FALSE(capture_info_has_id(&info));
    for (unsigned i = 0; i < CAPTURE_ID_BYTES; i++) {
        info = (struct capture_info){.file_number = 1};
        info.id[i] = 0x80;
        CU_ASSERT(capture_info_has_id(&info));
    }
}

static void test_same_capture(void)
{
    struct capture_info a = {.file_number = 1}, b = {.file_number = 1};
    CU_ASSERT_FALSE(capture_info_same_capture(&a, &b));
    a.id[3] = 7;
    CU_ASSERT_FALSE(capture_info_same_capture(&a, &b));
    CU_ASSERT_FALSE(capture_info_same_capture(&b, &a));
    b.id[3] = 7;
    b.file_number = 2;
    CU_ASSERT(capture_info_same_capture(&a, &b));
    b.id[CAPTURE_ID_BYTES - 1] = 1;
    CU_ASSERT_FALSE(capture_info_same_capture(&a, &b));
}

static void test_end_names(void)
{
    CU_ASSERT_STRING_EQUAL(capture_end_name(CAPTURE_END_NONE), "none");
    CU_ASSERT_STRING_EQUAL(capture_end_name(CAPTURE_END_RECOVERED), "recovered");
    CU_ASSERT_STRING_EQUAL(capture_end_name(CAPTURE_ENDS), "unknown");
    CU_ASSERT_STRING_EQUAL(capture_end_name((enum capture_end) - 1), "unknown");
}

static const struct test_case cases[] = {{"has an id", test_identity},
                                         {"same capture", test_same_capture},
                                         {"names of ends", test_end_names},
                                         {NULL, NULL}};
TEST_SUITE(capture_info, cases)
