/*
 * pool_tests.c: work off the loop: each job runs once and completes on the loop, there are never more
 * than the limit, and a kept place has a thread.
 */
#include "server/jobs/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include <cmocka.h>

struct job {
    struct pool *pool;
    int worked;
    int done;
    struct job *next; /* next job, which the completion submits; NULL: none */
};

static void work(void *data)
{
    struct job *job = data;

    job->worked++;
}

static void done(void *data, enum err result)
{
    struct job *job = data;

    assert_int_equal(result, OK);
    assert_int_equal(job->worked, 1);
    job->done++;
    if (job->next != NULL) {
        assert_int_equal(pool_submit(job->pool, work, done, job->next), OK);
    }
}

/* Goal: every accepted job is run and completed once; one above the limit is refused without side
 * effects. Method: a full pool and one more, then the loop. */
static void test_job_above_the_limit_is_refused(void **state)
{
    static struct job jobs[POOL_JOBS_MAX + 1];
    struct pool *pool = NULL;
    uv_loop_t loop;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pool_new(&loop, &pool), OK);
    for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
        jobs[i].pool = pool;
        assert_int_equal(pool_submit(pool, work, done, &jobs[i]), OK);
        assert_int_equal(jobs[i].done, 0);
    }
    assert_int_equal(pool_submit(pool, work, done, &jobs[POOL_JOBS_MAX]), ERR_BUSY);
    assert_int_equal(pool_count(pool), POOL_JOBS_MAX);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(pool_count(pool), 0);
    for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
        assert_int_equal(jobs[i].worked, 1);
        assert_int_equal(jobs[i].done, 1);
    }
    assert_int_equal(jobs[POOL_JOBS_MAX].worked, 0);
    pool_free(pool);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* Goal: a completion may submit the next job, though the pool was full. Method: a full pool whose
 * first completion submits one more. */
static void test_completion_may_submit_a_job(void **state)
{
    static struct job jobs[POOL_JOBS_MAX];
    static struct job last;
    struct pool *pool = NULL;
    uv_loop_t loop;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pool_new(&loop, &pool), OK);
    for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
        jobs[i].pool = pool;
        assert_int_equal(pool_submit(pool, work, done, &jobs[i]), OK);
    }
    jobs[0].next = &last;
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(last.done, 1);
    pool_free(pool);
    pool_free(NULL);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* Goal: reserved slots are available while all others are taken, have a limit of their own, and
 * are returned to it. Method: fill the pool and the reserved slots, request one more of each, and
 * repeat. */
static void test_reserved_slots_are_free_while_others_are_taken(void **state)
{
    static struct job jobs[2][POOL_JOBS_MAX + POOL_JOBS_KEPT + 2];
    struct pool *pool = NULL;
    uv_loop_t loop;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pool_new(&loop, &pool), OK);
    for (size_t round = 0; round < 2; round++) {
        struct job *job = jobs[round];

        for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
            assert_int_equal(pool_submit(pool, work, done, job++), OK);
        }
        assert_int_equal(pool_submit(pool, work, done, job++), ERR_BUSY);
        for (size_t i = 0; i < POOL_JOBS_KEPT; i++) {
            assert_int_equal(pool_submit_kept(pool, work, done, job++), OK);
        }
        assert_int_equal(pool_submit_kept(pool, work, done, job++), ERR_BUSY);
        assert_int_equal(pool_count(pool), POOL_JOBS_MAX + POOL_JOBS_KEPT);
        (void)uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(pool_count(pool), 0);
    }
    pool_free(pool);
    assert_int_equal(uv_loop_close(&loop), 0);
}

struct gate {
    uv_sem_t open;
    size_t later; /* completed */
};

static void wait_at_gate(void *data)
{
    struct gate *gate = data;

    uv_sem_wait(&gate->open);
}

static void after_gate(void *data, enum err result)
{
    struct gate *gate = data;

    assert_int_equal(result, OK);
    gate->later++;
}

/* Goal: a job in a reserved slot runs even if all others wait, and only as many of those run as
 * may. Method: a full pool of jobs at a gate, all reserved slots. */
static void test_job_in_a_reserved_slot_runs_in_a_full_pool(void **state)
{
    static struct job jobs[POOL_JOBS_KEPT];
    struct gate gate = {.later = 0};
    struct pool *pool = NULL;
    uv_loop_t loop;

    (void)state;
    assert_int_equal(uv_sem_init(&gate.open, 0), 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pool_new(&loop, &pool), OK);
    for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
        assert_int_equal(pool_submit(pool, wait_at_gate, after_gate, &gate), OK);
    }
    for (size_t i = 0; i < POOL_JOBS_KEPT; i++) {
        assert_int_equal(pool_submit_kept(pool, work, done, &jobs[i]), OK);
    }
    while (pool_count(pool) > POOL_JOBS_MAX) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    assert_int_equal(gate.later, 0);
    for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
        uv_sem_post(&gate.open);
    }
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(gate.later, POOL_JOBS_MAX);
    assert_int_equal(pool_count(pool), 0);
    pool_free(pool);
    assert_int_equal(uv_loop_close(&loop), 0);
    uv_sem_destroy(&gate.open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_above_the_limit_is_refused),
        cmocka_unit_test(test_completion_may_submit_a_job),
        cmocka_unit_test(test_reserved_slots_are_free_while_others_are_taken),
        cmocka_unit_test(test_job_in_a_reserved_slot_runs_in_a_full_pool),
    };
    char threads[16];

    (void)snprintf(threads, sizeof(threads), "%d", POOL_THREADS);
    assert_int_equal(setenv("UV_THREADPOOL_SIZE", threads, 1), 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
