/*
 * files_test.c: Goal: files of prepared bodies are read as documented, and damaged ones are refused.
 * Method: small temporary files.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/file.h"
#include "tools/bench/load/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *write_file(const void *bytes, size_t size)
{
    static char path[] = "/tmp/errata-bench-test-XXXXXX";
    int fd = 0;

    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    return path;
}

static void test_request_groups_are_read(void **state)
{
    static const uint8_t bytes[] = "\0\0\0\1\0\0\0\3abc\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1z";
    struct fixture *fixture = *state;
    struct requests *requests = NULL;
    const char *path = write_file(bytes, sizeof(bytes) - 1);

    assert_int_equal(requests_read(path, &fixture->fault, &requests), OK);
    unlink(path);
    assert_int_equal(requests->group_count, 2);
    assert_int_equal(requests->groups[0].count, 1);
    assert_int_equal(requests->groups[0].bodies[0].size, 0);
    assert_int_equal(requests->groups[1].count, 2);
    assert_true(slice_equal(requests->groups[1].bodies[0], SLICE("abc")));
    assert_true(slice_equal(requests->groups[1].bodies[1], SLICE("z")));
    requests_free(requests);
}

static void refuse(struct fixture *fixture, const char *bytes, size_t size, const char *what)
{
    struct requests *requests = NULL;
    const char *path = write_file(bytes, size);

    assert_int_equal(requests_read(path, &fixture->fault, &requests), ERR_INVALID);
    unlink(path);
    assert_non_null(
        memmem(fixture->fault.message.data, fixture->fault.message.size, what, strlen(what)));
    fault_init(&fixture->fault, &fixture->arena);
}

static void test_damaged_request_file_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct requests *requests = NULL;

    refuse(fixture, "", 0, "no request; expected");
    refuse(fixture, "\0\0\0", 3, "truncated request");
    refuse(fixture, "\0\0\0\0\0\0\0\2a", 9, "truncated request");
    refuse(fixture, "\0\0\3\xe8\0\0\0\0", 8, "above 999");
    refuse(fixture, "\0\0\0\1\0\0\0\0", 8, "group 0 is empty");
    assert_int_equal(requests_read("/nowhere/to/be/found", &fixture->fault, &requests),
                     ERR_INVALID);
    fixture_expect_fault(fixture, "cannot read /nowhere/to/be/found: No such file");
    assert_int_equal(requests_read("/", &fixture->fault, &requests), ERR_INVALID);
    fixture_expect_fault(fixture, "cannot read /: Is a directory");
}

/* Larger than one read of a file. */
static void test_file_larger_than_a_piece_is_read_whole(void **state)
{
    struct fixture *fixture = *state;
    size_t size = 1000003;
    uint8_t *bytes = malloc(size);
    uint8_t *again = NULL;
    size_t again_size = 0;
    const char *path = NULL;

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(i * 7);
    }
    path = write_file(bytes, size);
    assert_int_equal(file_read(path, &fixture->fault, &again, &again_size), OK);
    unlink(path);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    assert_int_equal(again[size], 0);
    free(again);
    free(bytes);
}

int run_files_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_request_groups_are_read, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_request_file_is_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_file_larger_than_a_piece_is_read_whole, fixture_set_up,
                                        fixture_tear_down)};

    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
