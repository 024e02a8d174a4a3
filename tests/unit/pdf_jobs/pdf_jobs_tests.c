/*
 * pdf_jobs_tests.c: runs the groups of tests, and has their shared functions.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

void programs_init(struct programs *programs)
{
    int size = snprintf(programs->folder, sizeof(programs->folder), "%s", FAKE_WORKER);

    assert_true(size > 0 && (size_t)size + 8 < sizeof(programs->folder));
    memcpy(programs->folder + size, "-XXXXXX", 8);
    assert_non_null(mkdtemp(programs->folder));
}

const char *programs_make(struct programs *programs, const char *name)
{
    int size = snprintf(programs->path, sizeof(programs->path), "%s/%s", programs->folder, name);

    assert_true(size > 0 && (size_t)size < sizeof(programs->path));
    assert_true(link(FAKE_WORKER, programs->path) == 0);
    return programs->path;
}

void programs_deinit(struct programs *programs)
{
    DIR *folder = opendir(programs->folder);

    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    (void)closedir(folder);
    assert_int_equal(rmdir(programs->folder), 0);
}

size_t open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

void make_bytes(struct pdf_bytes *ret_bytes, const char *text)
{
    assert_int_equal(pdf_bytes_open(ret_bytes), OK);
    assert_int_equal(pdf_bytes_append(ret_bytes, slice_text(text)), OK);
    assert_int_equal(pdf_bytes_seal(ret_bytes), OK);
}

int main(void)
{
    int failed = 0;
    uv_loop_t loop;

    /* The first loop of a process opens descriptors that stay. */
    if (uv_loop_init(&loop) != 0 || uv_loop_close(&loop) != 0) {
        return 1;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    failed += run_queue_tests();
    failed += run_starved_tests();
    failed += run_worker_tests();
    failed += run_supervisor_tests();
    failed += run_jobs_tests();
    return failed;
}
