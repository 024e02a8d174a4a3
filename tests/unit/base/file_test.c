/*
 * file_test.c: bytes are written to a file completely, or the write fails.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Much more than a pipe holds. */
#define BYTES ((size_t)1 << 20)
#define PIECE_BYTES ((size_t)1 << 16)
#define SIGNALS 16

struct reading {
    int file;
    pthread_t writer;
    uint8_t *bytes;
    size_t count;
};

static void ignore(int number)
{
    (void)number;
}

/* Interrupts the writer, which waits for room in the pipe, and then reads a piece. */
static void *read_slowly(void *user)
{
    struct reading *reading = user;
    const struct timespec pause = {0, 2000000};
    ssize_t count = 1;

    for (size_t i = 0; count > 0; i++) {
        if (i < SIGNALS) {
            (void)nanosleep(&pause, NULL);
            (void)pthread_kill(reading->writer, SIGUSR1);
        }
        count = read(reading->file, reading->bytes + reading->count, PIECE_BYTES);
        reading->count += count > 0 ? (size_t)count : 0;
    }
    return NULL;
}

/* Goal: short and interrupted writes are continued. Method: a pipe that is read slowly, and signals
 * to the writer. */
static void test_all_bytes_are_written(void **state)
{
    const struct sigaction action = {.sa_handler = ignore};
    struct reading reading = {.writer = pthread_self()};
    struct sigaction old;
    uint8_t *bytes = malloc(BYTES);
    pthread_t reader;
    int ends[2];

    (void)state;
    reading.bytes = malloc(BYTES + PIECE_BYTES);
    assert_non_null(bytes);
    assert_non_null(reading.bytes);
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(i * 31 >> 7);
    }
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
    reading.file = ends[0];
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, &reading), 0);
    assert_true(file_write_all(ends[1], slice_of(bytes, BYTES)));
    (void)close(ends[1]);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
    assert_int_equal(reading.count, BYTES);
    assert_memory_equal(reading.bytes, bytes, BYTES);
    (void)close(ends[0]);
    free(reading.bytes);
    free(bytes);
}

/* Goal: a failure is returned with its reason. Method: a device that is always full. */
static void test_full_device_fails(void **state)
{
    int file = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_true(file >= 0);
    assert_false(file_write_all(file, SLICE("x")));
    assert_int_equal(errno, ENOSPC);
    assert_true(file_write_all(file, slice_of(NULL, 0)));
    (void)close(file);
}

int run_file_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_bytes_are_written),
        cmocka_unit_test(test_full_device_fails),
    };

    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
