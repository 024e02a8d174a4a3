/*
 * address_file_test.c: the file with the address, on a disk that is full or fails.
 */
#include "tests/unit/app/app_tests.h"

#include "server/app/address_file.h"
#include "server/app/app.h"
#include "store/base/fault_point.h"
#include "tests/support/store/temp_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES_MAX 64

struct fixture {
    struct temp_folder folder;
    struct arena arena;
    struct fault fault;
    struct address_file file;
};

static int setup(void **state)
{
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));

    temp_folder_init(&fixture->folder);
    arena_init(&fixture->arena, SIZE_MAX);
    fault_init(&fixture->fault, &fixture->arena);
    fixture->file =
        (struct address_file){.data = fixture->folder.path, .address = "127.0.0.1:7443"};
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    temp_folder_deinit(&fixture->folder);
    test_free(fixture);
    return 0;
}

/* Expects the content of the file; NULL: there is no file. */
static void expect_content(const struct fixture *fixture, const char *wanted)
{
    char path[TEMP_FOLDER_PATH_BYTES + 16];
    char line[LINE_BYTES_MAX] = "";
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/" APP_ADDRESS_FILE, fixture->folder.path);
    file = fopen(path, "re");
    if (wanted == NULL) {
        assert_null(file);
        return;
    }
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(line, wanted);
}

static void test_address_is_a_line(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(address_file_write(&fixture->file, &fixture->fault), OK);
    assert_false(fixture->file.missing);
    expect_content(fixture, "127.0.0.1:7443\n");
}

#ifdef ERRATA_FAULTS
struct failing_disk {
    struct fault_driver driver; /* must be the first member */
    int code; /* errno of the failure */
};

static bool fails_to_write(struct fault_driver *driver, const char *name)
{
    if (strcmp(name, "files.write") != 0) {
        return false;
    }
    errno = ((const struct failing_disk *)driver)->code;
    return true;
}

/* Goal: a full disk does not prevent the start, and the file is written once there is room, also after another failure.
 * Method: a retry on a full disk, two on a disk that fails, and one with room. */
static void test_missing_file_is_written_once_there_is_room(void **state)
{
    struct fixture *fixture = *state;
    static struct failing_disk disk = {.driver = {fails_to_write}, .code = ENOSPC};

    fault_point_set_driver(&disk.driver);
    assert_int_equal(address_file_write(&fixture->file, &fixture->fault), OK);
    assert_true(fixture->file.missing);
    assert_int_equal(fixture->fault.message.size, 0);
    address_file_retry(&fixture->file);
    assert_true(fixture->file.missing);
    assert_false(fixture->file.failed);
    disk.code = EIO;
    for (int i = 0; i < 2; i++) {
        address_file_retry(&fixture->file);
        assert_true(fixture->file.missing);
        assert_true(fixture->file.failed);
    }
    expect_content(fixture, NULL);
    fault_point_set_driver(NULL);
    address_file_retry(&fixture->file);
    assert_false(fixture->file.missing);
    expect_content(fixture, "127.0.0.1:7443\n");
}

/* Goal: any other failure prevents the start, with its reason. */
static void test_other_failure_is_returned(void **state)
{
    struct fixture *fixture = *state;
    static struct failing_disk disk = {.driver = {fails_to_write}, .code = EIO};

    fault_point_set_driver(&disk.driver);
    assert_int_equal(address_file_write(&fixture->file, &fixture->fault), ERR_IO);
    fault_point_set_driver(NULL);
    assert_false(fixture->file.missing);
    assert_true(fixture->fault.message.size > 0);
    address_file_retry(&fixture->file);
    expect_content(fixture, NULL);
}
#endif

int run_address_file_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_address_is_a_line, setup, teardown),
#ifdef ERRATA_FAULTS
        cmocka_unit_test_setup_teardown(test_missing_file_is_written_once_there_is_room, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_other_failure_is_returned, setup, teardown),
#endif
    };

    return cmocka_run_group_tests_name("address_file", tests, NULL, NULL);
}
