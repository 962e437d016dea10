/* Files that get their names when they are complete; existing files stay. */
#define _GNU_SOURCE /* O_TMPFILE, prctl, syscall numbers */
#include "formats/base/new_file.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_BYTES (FOLDER_PATH_BYTES + 32)

struct new_file_fixture {
    char folder[FOLDER_PATH_BYTES];
    char path[NAME_BYTES];
};

static void set_up(struct new_file_fixture *fixture)
{
    folder_make(fixture->folder);
    snprintf(fixture->path, sizeof fixture->path, "%s/x", fixture->folder);
}

static size_t count(const struct new_file_fixture *fixture)
{
    struct folder_list list = folder_list(fixture->folder, "");
    size_t files = list.count;
    folder_list_free(&list);
    return files;
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static bool has_text(const char *path, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    return strcmp(got, text) == 0;
}

static struct new_file *begin(const struct new_file_fixture *fixture, enum new_file_name name)
{
    struct new_file *file = new_file_begin(fixture->path, name, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(write(new_file_descriptor(file), "new", 3), 3);
    CU_ASSERT_EQUAL(new_file_synchronise(file, NULL), 0);
    return file;
}

static void commit(struct new_file *file)
{
    CU_ASSERT_EQUAL(new_file_commit(file, NULL), 0);
    new_file_free(file);
}

/* A free name and a taken one; the existing file stays until the end. */
static void test_names(void)
{
    struct new_file_fixture fixture;
    struct bt_error error;
    set_up(&fixture);
    struct new_file *file = begin(&fixture, NEW_FILE_ONLY);
    CU_ASSERT_NOT_EQUAL(access(fixture.path, F_OK), 0);
    commit(file);
    CU_ASSERT(has_text(fixture.path, "new"));
    put_text(fixture.path, "old");
    file = begin(&fixture, NEW_FILE_REPLACES);
    CU_ASSERT(has_text(fixture.path, "old"));
    commit(file);
    CU_ASSERT(has_text(fixture.path, "new"));
    unlink(fixture.path);
    file = begin(&fixture, NEW_FILE_ONLY);
    put_text(fixture.path, "other");
    CU_ASSERT_EQUAL(new_file_commit(file, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "x exists already"));
    new_file_free(file);
    CU_ASSERT(has_text(fixture.path, "other"));
    new_file_free(begin(&fixture, NEW_FILE_REPLACES)); /* discarded */
    CU_ASSERT(has_text(fixture.path, "other"));
    CU_ASSERT_EQUAL(count(&fixture), 1);
    folder_remove(fixture.folder);
}

/* Other files have the names that a part file may use. */
static void test_part_names(void)
{
    char part[4][NAME_BYTES + 16], target[NAME_BYTES];
    struct new_file_fixture fixture;
    struct stat status;
    set_up(&fixture);
    for (int i = 0; i < 4; i++)
        snprintf(part[i], sizeof part[i], "%s.part-%d", fixture.path, i + 1);
    snprintf(target, sizeof target, "%s/target", fixture.folder);
    put_text(fixture.path, "old");
    put_text(target, "target");
    put_text(part[0], "somebody's");
    CU_ASSERT_EQUAL(symlink("target", part[1]), 0);
    CU_ASSERT_EQUAL(mkfifo(part[2], 0600), 0);
    CU_ASSERT_EQUAL(mkdir(part[3], 0700), 0);
    commit(begin(&fixture, NEW_FILE_REPLACES));
    CU_ASSERT(has_text(fixture.path, "new"));
    CU_ASSERT(has_text(target, "target"));
    CU_ASSERT(has_text(part[0], "somebody's"));
    CU_ASSERT(lstat(part[1], &status) == 0 && S_ISLNK(status.st_mode));
    CU_ASSERT(lstat(part[2], &status) == 0 && S_ISFIFO(status.st_mode));
    CU_ASSERT(lstat(part[3], &status) == 0 && S_ISDIR(status.st_mode));
    CU_ASSERT_EQUAL(count(&fixture), 6);
    folder_remove(fixture.folder);
}

/* Makes the kernel answer EOPNOTSUPP, as file systems without unnamed files do. */
static bool forbid_unnamed_files(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {.len = sizeof program / sizeof program[0], .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void test_no_unnamed_files(void)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!forbid_unnamed_files())
            _exit(0);
        test_names();
        test_part_names();
        _exit(CU_get_number_of_failures() > 0);
    }
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_no_folder(void)
{
    struct bt_error error;
    CU_ASSERT_PTR_NULL(new_file_begin("/proc/nowhere/x", NEW_FILE_ONLY, &error));
    CU_ASSERT_EQUAL(error.code, BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cannot create /proc/nowhere/x"));
}

static const struct test_case cases[] = {
    {"names", test_names},
    {"names that are taken", test_part_names},
    {"a file system without unnamed files", test_no_unnamed_files},
    {"a missing folder", test_no_folder},
    {NULL, NULL}};
TEST_SUITE(new_file, cases)
