/*
 * files_test.c: the PDFs that the arguments of a command line name.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A folder of its own for each test; `path` gives a place in it. */
static char root[] = "/tmp/errata-files-XXXXXX";
static char place[256];

static const char *path(const char *name)
{
    (void)snprintf(place, sizeof(place), "%s/%s", root, name);
    return place;
}

static void write_file(const char *name)
{
    FILE *file = fopen(path(name), "w");

    assert_non_null(file);
    assert_int_equal(fwrite("12345", 1, 5, file), 5);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
    return mkdtemp(root) != NULL ? 0 : 1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf -- %s", root);
    return system(command);
}

/* Returns one line per file: the path below root, and the problem or the size. */
static void assert_found(bool recursive, const char *word, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct files_found found = {NULL, 0, NULL};
    struct files *files = NULL;
    const char *const words[] = {word};

    assert_int_equal(files_open(words, 1, recursive, &files), OK);
    while (files_next(files, &found)) {
        bool below =
            strncmp(found.path, root, strlen(root)) == 0 && found.path[strlen(root)] == '/';

        (void)fprintf(stream, "%s", below ? found.path + strlen(root) + 1 : ".");
        if (found.problem != NULL) {
            (void)fprintf(stream, ": %s\n", found.problem);
        } else {
            (void)fprintf(stream, " %d\n", (int)found.size_bytes);
        }
    }
    files_close(files);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

/* Goal: a folder names its PDFs, with numbers in numeric order, and those of its folders only on
 * request. Method: names with numbers, other endings, upper case, a folder in the folder. */
static void test_folder_gives_its_pdfs_in_natural_order(void **state)
{
    (void)state;
    write_file("a10.pdf");
    write_file("a2.pdf");
    write_file("B.PDF");
    write_file("notes.txt");
    write_file(".pdf");
    assert_int_equal(mkdir(path("more"), 0700), 0);
    write_file("more/c.pdf");
    assert_int_equal(mkdir(path("more/d.pdf"), 0700), 0);
    assert_found(false, root, "B.PDF 5\na2.pdf 5\na10.pdf 5\n");
    assert_found(true, root, "B.PDF 5\na2.pdf 5\na10.pdf 5\nmore/c.pdf 5\n");
}

/* Goal: unreadable files are reported with the reason, and do not end the walk. Method: a missing
 * path, not a file, a dangling link, a cycle of links, an empty folder. */
static void test_unreadable_files_are_reported_and_skipped(void **state)
{
    char word[256];

    (void)state;
    (void)snprintf(word, sizeof(word), "%s", path("gone.pdf"));
    assert_found(false, word, "gone.pdf: No such file or directory\n");
    assert_found(false, "/dev/null", ".: it is not a regular file\n");
    assert_found(false, root, ".: it contains no *.pdf; --recursive looks into its folders too\n");
    assert_found(true, root, ".: it contains no *.pdf\n");
    assert_int_equal(symlink("nowhere", path("link.pdf")), 0);
    assert_int_equal(mkfifo(path("pipe.pdf"), 0600), 0);
    assert_int_equal(mkdir(path("x"), 0700), 0);
    assert_int_equal(symlink("..", path("x/circle")), 0);
    assert_found(true, root, "link.pdf: it is a broken link\npipe.pdf: it is not a regular file\n");
}

/* Goal: named files are taken with any name, folders and files in turn. Method: three words. */
static void test_named_files_of_any_name_are_taken(void **state)
{
    struct files_found found = {NULL, 0, NULL};
    struct files *files = NULL;
    char plain[256];
    char folder[256];
    const char *const words[] = {plain, folder, plain};

    (void)state;
    write_file("scan");
    (void)snprintf(plain, sizeof(plain), "%s", path("scan"));
    assert_int_equal(mkdir(path("in"), 0700), 0);
    write_file("in/one.pdf");
    (void)snprintf(folder, sizeof(folder), "%s", path("in"));
    assert_int_equal(files_open(words, 3, false, &files), OK);
    assert_true(files_next(files, &found));
    assert_string_equal(found.path, plain);
    assert_true(files_next(files, &found));
    assert_string_equal(found.path, path("in/one.pdf"));
    assert_null(found.problem);
    assert_true(files_next(files, &found));
    assert_string_equal(found.path, plain);
    assert_false(files_next(files, &found));
    assert_false(files_next(files, &found));
    files_close(files);
    files_close(NULL);
}

int run_files_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folder_gives_its_pdfs_in_natural_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_unreadable_files_are_reported_and_skipped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_named_files_of_any_name_are_taken, set_up, tear_down)};

    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
