/* Which dependences are about calls only. */
#include "tests/suites.h"
#include "tools/depend/place_roles.h"

static enum place_role role(const char *bytes, size_t size)
{
    return place_role_of((const uint8_t *)bytes, size);
}

#define ROLE(bytes) role(bytes, sizeof(bytes) - 1)

static void test_roles(void)
{
    CU_ASSERT_EQUAL(ROLE("\xe8\0\0\0\0"), PLACE_CALL);
    CU_ASSERT_EQUAL(ROLE("\xff\x15\0\0\0\0"), PLACE_CALL); /* call *0(%rip) */
    CU_ASSERT_EQUAL(ROLE("\xff\x25\0\0\0\0"), PLACE_JUMP); /* jmp *0(%rip) */
    CU_ASSERT_EQUAL(ROLE("\xff\xe0"), PLACE_PLAIN);        /* jmp *%rax */
    CU_ASSERT_EQUAL(ROLE("\xc3"), PLACE_RETURN);
    CU_ASSERT_EQUAL(ROLE("\x53"), PLACE_SAVE);      /* push %rbx */
    CU_ASSERT_EQUAL(ROLE("\x50"), PLACE_PLAIN);     /* push %rax */
    CU_ASSERT_EQUAL(ROLE("\x5b"), PLACE_RESTORE);   /* pop %rbx */
    CU_ASSERT_EQUAL(ROLE("\xc9"), PLACE_RESTORE);   /* leave */
    CU_ASSERT_EQUAL(ROLE("\x89\x07"), PLACE_PLAIN); /* mov %eax,(%rdi) */
}

static void test_hidden(void)
{
    const struct module linker = {.path = "/lib64/ld-linux-x86-64.so.2"}, own = {.path = "/a"};
    const struct code_place call = {.role = PLACE_CALL, .module = &own};
    const struct code_place back = {.role = PLACE_RETURN, .module = &own};
    const struct code_place jump = {.role = PLACE_JUMP, .module = &own};
    const struct code_place save = {.role = PLACE_SAVE}, restore = {.role = PLACE_RESTORE};
    const struct code_place plain = {.role = PLACE_PLAIN, .module = &own};
    const struct code_place enters = {.role = PLACE_PLAIN, .module = &linker};
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_RAW, &back, &call));
    CU_ASSERT_FALSE(place_roles_hide(DEPEND_RAW, &back, &plain));
    CU_ASSERT_FALSE(place_roles_hide(DEPEND_RAW, &plain, &call));
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_RAW, &restore, &save));
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_WAW, &plain, &save));
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_WAR, &call, &plain));
    CU_ASSERT_FALSE(place_roles_hide(DEPEND_WAR, &plain, &plain));
    /* a table of addresses: what the program writes there is its own */
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_RAW, &jump, &enters));
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_RAW, &call, &enters));
    CU_ASSERT_FALSE(place_roles_hide(DEPEND_RAW, &jump, &plain));
    CU_ASSERT_TRUE(place_roles_hide(DEPEND_WAR, &enters, &jump));
    CU_ASSERT_FALSE(place_roles_hide(DEPEND_WAR, &plain, &jump));
    CU_ASSERT_FALSE(place_roles_hide(DEPEND_RAW, &plain, &enters));
}

static const struct test_case cases[] = {
    {"roles", test_roles}, {"hidden", test_hidden}, {NULL, NULL}};

TEST_SUITE(place_roles, cases)
