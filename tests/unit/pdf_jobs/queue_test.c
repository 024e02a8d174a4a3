/*
 * queue_test.c: which jobs are admitted, and which is next.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include "server/jobs/pdf/pdf_queue.h"

static struct uuid org(uint8_t number)
{
    return (struct uuid){{number}};
}

/* Goal: the organisations' queues are served in turn, each in its order. Method: three
 * organisations with 3, 1 and 2. */
static void test_queues_are_served_by_turns(void **state)
{
    static struct pdf_queue queue;
    static const uint8_t orgs[6] = {1, 1, 1, 2, 3, 3};
    static const size_t expected[6] = {0, 3, 4, 1, 5, 2};
    struct pdf_queue_entry entries[6];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(pdf_queue_enter(&queue, org(orgs[i]), &entries[i]), OK);
        pdf_queue_push(&queue, &entries[i]);
    }
    assert_int_equal(queue.waiting_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_ptr_equal(pdf_queue_pop(&queue), &entries[expected[i]]);
    }
    assert_null(pdf_queue_pop(&queue));
    for (size_t i = 0; i < 6; i++) {
        pdf_queue_leave(&queue, &entries[i]);
    }
    assert_int_equal(queue.job_count, 0);
}

/* Goal: an organisation that adds one document late waits for one document of each queue,
 * regardless of their lengths. Method: 100 of one organisation, some of which were served; then one
 * of another. */
static void test_newcomer_waits_for_one_document_per_queue(void **state)
{
    static struct pdf_queue queue;
    static struct pdf_queue_entry many[100];
    struct pdf_queue_entry one;

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(pdf_queue_enter(&queue, org(1), &many[i]), OK);
        pdf_queue_push(&queue, &many[i]);
    }
    assert_ptr_equal(pdf_queue_pop(&queue), &many[0]);
    assert_ptr_equal(pdf_queue_pop(&queue), &many[1]);
    assert_int_equal(pdf_queue_enter(&queue, org(2), &one), OK);
    pdf_queue_push(&queue, &one);
    assert_ptr_equal(pdf_queue_pop(&queue), &many[2]);
    assert_ptr_equal(pdf_queue_pop(&queue), &one);
    assert_ptr_equal(pdf_queue_pop(&queue), &many[3]);
}

/* Goal: a job that leaves a queue keeps the order of the others. Method: the first, one in the
 * middle, the last and the only one, removed. */
static void test_removal_keeps_the_order(void **state)
{
    static struct pdf_queue queue;
    struct pdf_queue_entry entries[5];
    struct pdf_queue_entry other;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pdf_queue_enter(&queue, org(1), &entries[i]), OK);
        pdf_queue_push(&queue, &entries[i]);
    }
    assert_int_equal(pdf_queue_enter(&queue, org(2), &other), OK);
    pdf_queue_push(&queue, &other);
    pdf_queue_remove(&queue, &entries[0]);
    pdf_queue_remove(&queue, &entries[2]);
    pdf_queue_remove(&queue, &entries[4]);
    pdf_queue_remove(&queue, &other);
    assert_int_equal(queue.waiting_count, 2);
    assert_ptr_equal(pdf_queue_pop(&queue), &entries[1]);
    assert_ptr_equal(pdf_queue_pop(&queue), &entries[3]);
    assert_null(pdf_queue_pop(&queue));
    /* An empty queue accepts jobs again. */
    pdf_queue_push(&queue, &other);
    assert_ptr_equal(pdf_queue_pop(&queue), &other);
}

/* Goal: the number of jobs is bounded, for one organisation and in total, and newcomers are
 * admitted while others have exhausted their share. Method: two organisations up to their limit,
 * then newcomers. */
static void test_jobs_are_bounded_with_room_for_newcomers(void **state)
{
    static struct pdf_queue queue;
    static struct pdf_queue_entry entries[PDF_JOBS_MAX + 1];
    size_t count = 0;

    (void)state;
    while (pdf_queue_enter(&queue, org(1), &entries[count]) == OK) {
        count++;
    }
    assert_int_equal(count, PDF_JOBS_MAX / 2);
    assert_int_equal(pdf_queue_enter(&queue, org(1), &entries[count]), ERR_QUOTA);
    while (pdf_queue_enter(&queue, org(2), &entries[count]) == OK) {
        count++;
    }
    assert_int_equal(count, PDF_JOBS_MAX - PDF_JOBS_MAX / 4);
    for (uint8_t newcomer = 3; count < PDF_JOBS_MAX; newcomer++) {
        assert_int_equal(pdf_queue_enter(&queue, org(newcomer), &entries[count]), OK);
        count++;
        assert_int_equal(pdf_queue_enter(&queue, org(newcomer), &entries[count]), ERR_BUSY);
    }
    assert_int_equal(pdf_queue_enter(&queue, org(250), &entries[count]), ERR_BUSY);
    while (count > 0) {
        count--;
        pdf_queue_leave(&queue, &entries[count]);
    }
    assert_int_equal(queue.job_count, 0);
    assert_int_equal(pdf_queue_enter(&queue, org(1), &entries[0]), OK);
}

/* Goal: bytes are bounded likewise, and the size of a document by itself. Method: the largest
 * documents, and what fits between them. */
static void test_bytes_are_bounded_with_room_for_newcomers(void **state)
{
    static struct pdf_queue queue;
    struct pdf_queue_entry a[3];
    struct pdf_queue_entry b[2];
    struct pdf_queue_entry c[2];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pdf_queue_enter(&queue, org(1), &a[i]), OK);
    }
    assert_int_equal(pdf_queue_enter(&queue, org(2), &b[0]), OK);
    assert_int_equal(pdf_queue_enter(&queue, org(2), &b[1]), OK);
    assert_int_equal(pdf_queue_hold(&queue, &a[0], PDF_DOCUMENT_BYTES_MAX - 1), OK);
    assert_int_equal(pdf_queue_hold(&queue, &a[0], 2), ERR_TOO_LARGE);
    assert_int_equal(pdf_queue_hold(&queue, &a[0], SIZE_MAX), ERR_TOO_LARGE);
    assert_int_equal(pdf_queue_hold(&queue, &a[0], 1), OK);
    assert_int_equal(pdf_queue_hold(&queue, &a[1], PDF_DOCUMENT_BYTES_MAX), OK);
    assert_int_equal(pdf_queue_hold(&queue, &a[2], 1), ERR_QUOTA); /* half of all */
    assert_int_equal(pdf_queue_hold(&queue, &b[0], PDF_DOCUMENT_BYTES_MAX), OK);
    assert_int_equal(pdf_queue_hold(&queue, &b[1], 1), ERR_BUSY); /* the last quarter is kept */
    assert_int_equal(pdf_queue_enter(&queue, org(3), &c[0]), OK);
    assert_int_equal(pdf_queue_hold(&queue, &c[0], PDF_DOCUMENT_BYTES_MAX), OK);
    assert_int_equal(queue.held_bytes, PDF_HELD_BYTES_MAX);
    assert_int_equal(pdf_queue_enter(&queue, org(4), &c[1]), OK);
    assert_int_equal(pdf_queue_hold(&queue, &c[1], 1), ERR_BUSY);
    pdf_queue_leave(&queue, &a[0]);
    assert_int_equal(queue.held_bytes, PDF_HELD_BYTES_MAX - PDF_DOCUMENT_BYTES_MAX);
    assert_int_equal(pdf_queue_hold(&queue, &c[1], 1), OK);
}

int run_queue_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queues_are_served_by_turns),
        cmocka_unit_test(test_newcomer_waits_for_one_document_per_queue),
        cmocka_unit_test(test_removal_keeps_the_order),
        cmocka_unit_test(test_jobs_are_bounded_with_room_for_newcomers),
        cmocka_unit_test(test_bytes_are_bounded_with_room_for_newcomers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
