/* Which list of modules a file made of captures gets. */
#include "tools/symbols/module_list_copy.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES (FOLDER_PATH_BYTES + 32)

struct scene {
    char folder[FOLDER_PATH_BYTES];
    char captures[2][PATH_BYTES];
    char out[PATH_BYTES];
};

/* Writes the list of a capture; NULL: removes it. */
static void put_list(const char *capture, const char *text)
{
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s.modules", capture);
    unlink(path);
    FILE *file = text ? fopen(path, "we") : NULL;
    CU_ASSERT_FATAL(file || !text);
    if (!file)
        return;
    fputs(text, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

/* Whether the output has that list; NULL: none. */
static bool has(const struct scene *scene, const char *text)
{
    char path[PATH_BYTES + 16], got[100] = "";
    snprintf(path, sizeof path, "%s.modules", scene->out);
    FILE *file = fopen(path, "re");
    if (!file)
        return !text;
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    return text && strcmp(got, text) == 0;
}

static int copy(struct scene *scene, const char *first, const char *second, bool moved,
                bool replace)
{
    char *paths[] = {scene->captures[0], scene->captures[1]};
    struct bt_error error;
    put_list(paths[0], first);
    put_list(paths[1], second);
    return module_list_copy(2, paths, scene->out, moved, replace, &error);
}

static void test_lists(void)
{
    static const char a[] = "/a@0x1000\n", b[] = "/a@0x2000\n", times[] = "/a@b@0x10@5-\n";
    struct scene scene;
    folder_make(scene.folder);
    for (int i = 0; i < 2; i++)
        snprintf(scene.captures[i], sizeof scene.captures[i], "%s/%d", scene.folder, i);
    snprintf(scene.out, sizeof scene.out, "%s/out", scene.folder);
    CU_ASSERT(copy(&scene, NULL, NULL, false, false) == 0 && has(&scene, NULL));
    CU_ASSERT(copy(&scene, a, a, true, false) == 0 && has(&scene, a));
    /* the file is not replaced, so that its list stays; then it is */
    CU_ASSERT(copy(&scene, a, b, false, false) == BT_NOTE && has(&scene, a));
    CU_ASSERT(copy(&scene, a, b, false, true) == BT_NOTE && has(&scene, NULL));
    CU_ASSERT(copy(&scene, NULL, b, false, true) == 0 && has(&scene, b));
    CU_ASSERT(copy(&scene, a, NULL, false, true) == 0 && has(&scene, a));
    CU_ASSERT(copy(&scene, NULL, NULL, false, true) == 0 && has(&scene, NULL));
    CU_ASSERT(copy(&scene, times, times, false, true) == 0 && has(&scene, times));
    CU_ASSERT(copy(&scene, times, times, true, true) == BT_NOTE && has(&scene, NULL));
    CU_ASSERT(copy(&scene, "/a@0x10", "/a@0x10\n", false, true) == BT_NOTE && has(&scene, NULL));
    /* a file that is no list stays */
    put_list(scene.out, "text\n");
    CU_ASSERT(copy(&scene, a, a, false, true) == 0 && has(&scene, "text\n"));
    folder_remove(scene.folder);
}

/* The list of the output may be that of a capture. */
static void test_own_list(void)
{
    struct scene scene;
    folder_make(scene.folder);
    snprintf(scene.captures[0], sizeof scene.captures[0], "%s/out_1", scene.folder);
    snprintf(scene.captures[1], sizeof scene.captures[1], "%s/b", scene.folder);
    snprintf(scene.out, sizeof scene.out, "%s/out", scene.folder);
    put_list(scene.out, "/a@0x1000\n");
    CU_ASSERT(copy(&scene, NULL, NULL, false, true) == 0 && has(&scene, "/a@0x1000\n"));
    CU_ASSERT(copy(&scene, NULL, "/b@0x1\n", false, true) == BT_NOTE);
    CU_ASSERT(has(&scene, "/a@0x1000\n"));
    folder_remove(scene.folder);
}

static const struct test_case cases[] = {
    {"one list, none, several", test_lists}, {"the list of an input", test_own_list}, {NULL, NULL}};
TEST_SUITE(module_list_copy, cases)
