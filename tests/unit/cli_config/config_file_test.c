/*
 * config_file_test.c: the file of contexts on a real file system, in a folder of its own.
 */
#include "tests/unit/cli_config/cli_config_tests.h"
#include "tools/errata/config/config_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct arena arena;
    struct fault fault;
    struct contexts contexts;
    char folder[64];
    const char *path;
};

static int fixture_open(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    arena_init(&fixture->arena, 1 << 22);
    fault_init(&fixture->fault, &fixture->arena);
    (void)snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/errata-config-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(config_file_path(&fixture->arena, fixture->folder, "/nowhere", &fixture->path),
                     OK);
    *state = fixture;
    return 0;
}

static int fixture_close(void **state)
{
    struct fixture *fixture = *state;
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -r '%s'", fixture->folder);
    assert_int_equal(system(command), 0);
    arena_deinit(&fixture->arena);
    free(fixture);
    return 0;
}

static void assert_says(const struct fixture *fixture, const char *words)
{
    struct slice message = fixture->fault.message;

    assert_non_null(memmem(message.data, message.size, words, strlen(words)));
}

static enum err add(void *user, struct contexts *contexts, struct fault *fault)
{
    struct context *context = NULL;

    (void)fault;
    return contexts_put(contexts, slice_text(user), &context);
}

static enum err change(struct fixture *fixture, const char *name)
{
    return config_file_change(fixture->path, &fixture->arena, &fixture->fault, add,
                              (void *)(uintptr_t)name);
}

static enum err read_file(struct fixture *fixture)
{
    return config_file_read(fixture->path, &fixture->arena, &fixture->fault, &fixture->contexts);
}

static unsigned mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return (unsigned)(status.st_mode & 07777);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* Goal: the file is where the XDG specification has it. Method: all kinds of values of the two variables. */
static void test_file_is_where_xdg_puts_it(void **state)
{
    const char *path = NULL;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_int_equal(config_file_path(&arena, "/x", "/h", &path), OK);
    assert_string_equal(path, "/x/errata/config.json");
    assert_int_equal(config_file_path(&arena, "relative", "/h", &path), OK);
    assert_string_equal(path, "/h/.config/errata/config.json");
    assert_int_equal(config_file_path(&arena, NULL, "", &path), ERR_NOT_FOUND);
    arena_deinit(&arena);
}

/* Goal: stored settings are read back; only the owner can read file and folder; no other file
 * remains. Method: two changes in an empty folder. */
static void test_stored_settings_are_private_and_read_back(void **state)
{
    struct fixture *fixture = *state;
    struct slice folder = arena_printf(&fixture->arena, "%s/errata", fixture->folder);
    char command[160];

    assert_int_equal(read_file(fixture), OK);
    assert_int_equal(fixture->contexts.count, 0);
    assert_int_equal(change(fixture, "one"), OK);
    assert_int_equal(change(fixture, "two"), OK);
    assert_int_equal(read_file(fixture), OK);
    assert_int_equal(fixture->contexts.count, 2);
    assert_int_equal(mode_of(fixture->path), 0600);
    assert_int_equal(mode_of((const char *)folder.data), 0700);
    (void)snprintf(command, sizeof(command), "test $(ls -A '%s' | wc -l) = 1",
                   (const char *)folder.data);
    assert_int_equal(system(command), 0);
}

/* Goal: a file that others may read, that has another owner, or that is not a file, is not used,
 * and not changed. Method: each of them, and the message. */
static void test_unsafe_file_is_refused_unchanged(void **state)
{
    struct fixture *fixture = *state;
    struct slice folder = arena_printf(&fixture->arena, "%s/errata", fixture->folder);

    assert_int_equal(change(fixture, "one"), OK);
    assert_int_equal(chmod(fixture->path, 0640), 0);
    assert_int_equal(read_file(fixture), ERR_DENIED);
    assert_says(fixture, "other users have access (mode 0640)");
    assert_says(fixture, "chmod 600");
    assert_int_equal(change(fixture, "two"), ERR_DENIED);
    assert_int_equal(chmod(fixture->path, 0600), 0);
    assert_int_equal(chmod((const char *)folder.data, 0777), 0);
    assert_int_equal(change(fixture, "two"), ERR_DENIED);
    assert_says(fixture, "other users may write to this folder");
    assert_int_equal(chmod((const char *)folder.data, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(fixture->path, 65534, 65534), 0);
        assert_int_equal(read_file(fixture), ERR_DENIED);
        assert_says(fixture, "owned by another user");
        assert_int_equal(chown(fixture->path, 0, 0), 0);
    }
    write_file(fixture->path, "{\"contexts\": 1}", 0600);
    assert_int_equal(read_file(fixture), ERR_INVALID);
    assert_says(fixture, "config.json can't be used: contexts: not a JSON object");
    assert_int_equal(change(fixture, "two"), ERR_INVALID);
    assert_int_equal(unlink(fixture->path), 0);
    assert_int_equal(mkdir(fixture->path, 0700), 0);
    assert_int_equal(read_file(fixture), ERR_DENIED);
    assert_says(fixture, ": not a regular file");
}

/* Goal: a link to a file elsewhere stays a link.
 * Method: a change through one. */
static void test_link_to_the_file_stays_a_link(void **state)
{
    struct fixture *fixture = *state;
    struct slice folder = arena_printf(&fixture->arena, "%s/errata", fixture->folder);
    struct slice target = arena_printf(&fixture->arena, "%s/dotfiles.json", fixture->folder);
    struct stat status;

    assert_int_equal(mkdir((const char *)folder.data, 0700), 0);
    write_file((const char *)target.data, "{\"kept\": true}", 0600);
    assert_int_equal(symlink((const char *)target.data, fixture->path), 0);
    assert_int_equal(change(fixture, "one"), OK);
    assert_int_equal(lstat(fixture->path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(read_file(fixture), OK);
    assert_int_equal(fixture->contexts.count, 1);
}

/* Goal: changes at the same time lose nothing.
 * Method: eight processes add ten contexts each. */
static void test_concurrent_changes_lose_nothing(void **state)
{
    enum {
        PROCESSES = 8,
        EACH = 10
    };
    struct fixture *fixture = *state;

    for (int process = 0; process < PROCESSES; process++) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        for (int i = 0; pid == 0 && i < EACH; i++) {
            char name[32];

            (void)snprintf(name, sizeof(name), "c%d-%d", process, i);
            if (change(fixture, name) != OK) {
                _exit(1);
            }
        }
        if (pid == 0) {
            _exit(0);
        }
    }
    for (int process = 0; process < PROCESSES; process++) {
        int status = 1;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read_file(fixture), OK);
    assert_int_equal(fixture->contexts.count, PROCESSES * EACH);
}

int run_config_file_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_is_where_xdg_puts_it),
        cmocka_unit_test_setup_teardown(test_stored_settings_are_private_and_read_back,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(test_unsafe_file_is_refused_unchanged, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(test_link_to_the_file_stays_a_link, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(test_concurrent_changes_lose_nothing, fixture_open,
                                        fixture_close)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
