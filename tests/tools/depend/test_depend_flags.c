/* Flags for compilers and linkers: files beside the executable, installed files, none. */
#include "tests/suites.h"
#include "tools/depend/depend_flags.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
    char root[64], bin[80], lib[96], file[128];
    char text[512];
};

static void tree_init(struct tree *tree)
{
    strcpy(tree->root, "/tmp/bustap-flags-XXXXXX");
    if (!mkdtemp(tree->root))
        CU_FAIL_FATAL("no folder");
    snprintf(tree->bin, sizeof tree->bin, "%s/bin", tree->root);
    CU_ASSERT_EQUAL_FATAL(mkdir(tree->bin, 0777), 0);
    tree->file[0] = tree->lib[0] = '\0';
}

static void tree_clear(struct tree *tree)
{
    if (*tree->file)
        unlink(tree->file);
    if (*tree->lib) {
        rmdir(tree->lib);
        *strrchr(tree->lib, '/') = '\0';
        rmdir(tree->lib);
    }
    rmdir(tree->bin);
    rmdir(tree->root);
}

static void make_file(struct tree *tree, const char *folder, const char *name)
{
    snprintf(tree->file, sizeof tree->file, "%.90s/%.30s", folder, name);
    FILE *file = fopen(tree->file, "w");
    if (!file || fclose(file) != 0)
        CU_FAIL_FATAL("no file");
}

static int ask(struct tree *tree, bool linker, struct bt_error *error)
{
    memset(tree->text, 0, sizeof tree->text);
    FILE *out = fmemopen(tree->text, sizeof tree->text, "w");
    if (!out)
        CU_FAIL_FATAL("no stream");
    const int result = linker ? depend_flags_linker(tree->bin, out, error)
                              : depend_flags_compiler(tree->bin, out, error);
    fclose(out);
    return result;
}

static void test_missing(void)
{
    struct tree tree;
    struct bt_error error = {0};
    tree_init(&tree);
    CU_ASSERT_EQUAL(ask(&tree, false, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "gcc-12-plugin-dev"));
    CU_ASSERT_EQUAL(ask(&tree, true, &error), BT_IO);
    CU_ASSERT_STRING_EQUAL(tree.text, "");
    tree_clear(&tree);
}

static void test_build_tree(void)
{
    struct tree tree;
    struct bt_error error = {0};
    char expected[256];
    tree_init(&tree);
    make_file(&tree, tree.bin, "depend_plugin.so");
    CU_ASSERT_EQUAL(ask(&tree, false, &error), 0);
    snprintf(expected, sizeof expected, "-fplugin=%s/depend_plugin.so\n", tree.bin);
    CU_ASSERT_STRING_EQUAL(tree.text, expected);
    tree_clear(&tree);
}

static void test_installed(void)
{
    struct tree tree;
    struct bt_error error = {0};
    char expected[256];
    tree_init(&tree);
    snprintf(tree.lib, sizeof tree.lib, "%.60s/lib", tree.root);
    CU_ASSERT_EQUAL_FATAL(mkdir(tree.lib, 0777), 0);
    strcat(tree.lib, "/bustap");
    CU_ASSERT_EQUAL_FATAL(mkdir(tree.lib, 0777), 0);
    make_file(&tree, tree.lib, "libbustap-depend.a");
    CU_ASSERT_EQUAL(ask(&tree, true, &error), 0);
    snprintf(expected, sizeof expected, "%s/../lib/bustap/libbustap-depend.a -ldw -lelf -pthread\n",
             tree.bin);
    CU_ASSERT_STRING_EQUAL(tree.text, expected);
    tree_clear(&tree);
}

static void test_folder(void)
{
    struct bt_error error = {0};
    char folder[4096], small[4];
    CU_ASSERT_EQUAL(depend_flags_folder(folder, sizeof folder, &error), 0);
    CU_ASSERT_EQUAL(folder[0], '/');
    CU_ASSERT_EQUAL(depend_flags_folder(small, sizeof small, &error), BT_IO);
}

static const struct test_case cases[] = {{"missing", test_missing},
                                         {"build tree", test_build_tree},
                                         {"installed", test_installed},
                                         {"folder", test_folder},
                                         {NULL, NULL}};

TEST_SUITE(depend_flags, cases)
