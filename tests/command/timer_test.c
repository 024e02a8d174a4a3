/*
 * timer_test.c: a command of the domain without a call: a timer submits it to the writer.
 */
#include "server/domain/corrections/capture.h"
#include "server/domain/events/feedback.h"
#include "tests/command/fixture.h"

#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/role.fields.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CAPTURE_PATH "/errata.v1.FeedbackService/CaptureFeedbackEvent"
/* Memory limit for one run of the command. */
#define RUN_BYTES (4u << 20)

static const char before[] = "{\"qty\":10}";
static const char after[] = "{\"qty\":12}";

/* A capture that a timer submits: what a consumer of a stream or an import would have of its own. */
struct timed_capture {
    struct work_request work; /* first */
    struct fixture *fixture;
    uv_timer_t timer;
    struct arena arena; /* memory of a run */
    struct fault fault;
    struct ctx ctx;
    const struct capture_event *event;
    bool done;
    enum err result;
};

static enum err run_capture(struct work_request *work, struct store_txn *txn)
{
    const struct timed_capture *timed = (struct timed_capture *)work;
    enum err err =
        capture_store(work->ctx, txn, work->org, timed->event, 1, &work->written.first_seq);

    if (err == OK) {
        work->written.count = 1;
    }
    return err;
}

static void capture_done(struct work_request *work, enum err result)
{
    struct timed_capture *timed = (struct timed_capture *)work;

    timed->result = result;
    timed->done = true;
}

static void on_timer(uv_timer_t *timer)
{
    struct timed_capture *timed = timer->data;

    assert_int_equal(writer_submit(timed->fixture->writer, &timed->work), OK);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct timed_capture *timed = handle->data;

    arena_deinit(&timed->arena);
}

/* Submits a capture from a timer, and waits until it is durable or refused. */
static void capture_by_timer(struct fixture *fixture, const struct capture_event *event,
                             const struct event_idempotency *key, struct timed_capture *timed)
{
    *timed = (struct timed_capture){.fixture = fixture, .event = event};
    arena_init(&timed->arena, RUN_BYTES);
    timed->ctx =
        (struct ctx){&timed->arena, fixture->ctx.clock, fixture->ctx.random, &timed->fault};
    timed->work.org = fixture->org;
    timed->work.bytes = 1000;
    timed->work.deadline_us = INT64_MAX;
    timed->work.ctx = &timed->ctx;
    timed->work.run = run_capture;
    timed->work.done = capture_done;
    if (key != NULL) {
        timed->work.key = *key;
    }
    assert_int_equal(uv_timer_init(&fixture->loop, &timed->timer), 0);
    timed->timer.data = timed;
    assert_int_equal(uv_timer_start(&timed->timer, on_timer, 1, 0), 0);
    fixture_run_until(fixture, &timed->done);
}

static void end_timer(struct timed_capture *timed)
{
    uv_close((uv_handle_t *)&timed->timer, on_timer_closed);
    (void)uv_run(&timed->fixture->loop, UV_RUN_NOWAIT);
}

/* Prepares a capture by the administrator's token for a person. */
static void prepare(struct fixture *fixture, const char *layout, struct capture_event *ret_event)
{
    const struct event_caller caller = {.role = ROLE_ADMIN, .key_id = fixture->key_id};
    const struct capture_input input = {
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .actor_user_id = SLICE("anna"),
        .layout_fingerprint = slice_text(layout),
        .before_json = slice_text(before),
        .after_json = slice_text(after),
    };

    assert_int_equal(capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), ret_event),
                     OK);
}

static struct plain_call capture_by_call(struct fixture *fixture, const char *layout,
                                         const char *key)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    struct plain_call plain;
    struct slice head = arena_printf(&fixture->arena, CAPTURE_PATH "\nauthorization: %s\n%s%s%s",
                                     fixture->admin, key != NULL ? "idempotency-key: " : "",
                                     key != NULL ? key : "", key != NULL ? "\n" : "");

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._actor_user_id_case = ERRATA__V1__FEEDBACK_EVENT___ACTOR_USER_ID_ACTOR_USER_ID;
    event.actor_user_id = (char *)(uintptr_t) "anna";
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = (char *)(uintptr_t)layout;
    event.before_json = (char *)(uintptr_t)before;
    event.after_json = (char *)(uintptr_t)after;
    request.event = &event;
    fixture_call_whole(fixture, &plain, (const char *)head.data, &request.base, 100);
    return plain;
}

/* Compares two events except ids, times and values derived from them: the salt, and the hashes of
 * content and chain. */
static void assert_same_event(struct fixture *fixture, uint64_t seq, uint64_t other_seq)
{
    struct store_txn *txn = NULL;
    struct event events[2];
    struct feedback_event_view views[2];

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read(txn, fixture->org, seq, &events[0]), OK);
    assert_int_equal(log_read(txn, fixture->org, other_seq, &events[1]), OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(feedback_view_read(&events[i], &views[i]), OK);
        assert_int_equal(events[i].write_index, 0);
        assert_int_equal(events[i].subject_count, events[0].subject_count);
    }
    assert_int_equal(events[0].kind, events[1].kind);
    assert_int_equal(events[0].annotator, events[1].annotator);
    assert_int_equal(events[0].source, events[1].source);
    assert_true(slice_equal(events[0].actor_user_id, events[1].actor_user_id));
    assert_true(slice_equal(events[0].actor_user_id, SLICE("anna")));
    for (size_t i = 0; i < events[0].subject_count; i++) {
        assert_int_equal(events[0].subjects[i].kind, events[1].subjects[i].kind);
        assert_true(slice_equal(events[0].subjects[i].id, events[1].subjects[i].id));
    }
    assert_true(slice_equal(events[0].content, events[1].content));
    assert_int_equal(events[0].facts.size, events[1].facts.size);
    assert_int_equal(views[0].event_type, views[1].event_type);
    assert_true(slice_equal(views[0].actor_user_id, views[1].actor_user_id));
    assert_true(slice_equal(views[0].layout_fingerprint, views[1].layout_fingerprint));
    assert_int_equal(views[0].reduced, views[1].reduced);
    store_abort(txn);
}

/* Goal: a timer's command stores the event that a call of the same method stores. Method: one of
 * each, without a key; two timers store two events. */
static void test_command_without_key_stores_an_event(void **state)
{
    struct fixture fixture;
    struct capture_event event;
    struct timed_capture timed;
    uint64_t by_call = 0;

    (void)state;
    fixture_init(&fixture);
    assert_int_equal(capture_by_call(&fixture, "layout-1", NULL).code, STATUS_OK);
    by_call = fixture_last_seq(&fixture);
    prepare(&fixture, "layout-1", &event);
    for (uint64_t i = 1; i <= 2; i++) {
        capture_by_timer(&fixture, &event, NULL, &timed);
        assert_int_equal(timed.result, OK);
        assert_false(timed.work.written.repeated);
        assert_int_equal(timed.work.written.first_seq, by_call + i);
        assert_int_equal(timed.work.written.count, 1);
        end_timer(&timed);
        assert_int_equal(fixture_last_seq(&fixture), by_call + i);
        assert_same_event(&fixture, by_call, by_call + i);
    }
    fixture_deinit(&fixture);
}

/* Goal: idempotency belongs to the unit of work. Method: a timer's command under a key, again,
 * again with another request, and under another name: stored, found, refused with the reason,
 * stored. */
static void test_repeat_under_key_is_found_and_other_request_refused(void **state)
{
    const struct slice name = SLICE("nightly import");
    struct sha256_digest request = sha256(SLICE("entry 1"));
    struct sha256_digest other_request = sha256(SLICE("entry 2"));
    struct event_idempotency key;
    struct fixture fixture;
    struct capture_event event;
    struct timed_capture timed;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    prepare(&fixture, "layout-1", &event);
    key = idempotency_key_of(fixture.org, 0, name, SLICE("1-0"), &request);
    capture_by_timer(&fixture, &event, &key, &timed);
    assert_int_equal(timed.result, OK);
    assert_false(timed.work.written.repeated);
    seq = timed.work.written.first_seq;
    end_timer(&timed);
    assert_int_equal(fixture_last_seq(&fixture), seq);

    capture_by_timer(&fixture, &event, &key, &timed);
    assert_int_equal(timed.result, OK);
    assert_true(timed.work.written.repeated);
    assert_int_equal(timed.work.written.first_seq, seq);
    assert_int_equal(timed.work.written.count, 1);
    assert_true(uuid_equal(timed.work.written.org.uuid, fixture.org.uuid));
    end_timer(&timed);
    assert_int_equal(fixture_last_seq(&fixture), seq);

    key = idempotency_key_of(fixture.org, 0, name, SLICE("1-0"), &other_request);
    capture_by_timer(&fixture, &event, &key, &timed);
    assert_int_equal(timed.result, ERR_EXISTS);
    assert_non_null(
        memmem(timed.fault.message.data, timed.fault.message.size, "different request", 17));
    end_timer(&timed);
    assert_int_equal(fixture_last_seq(&fixture), seq);

    key = idempotency_key_of(fixture.org, 0, SLICE("other import"), SLICE("1-0"), &request);
    capture_by_timer(&fixture, &event, &key, &timed);
    assert_int_equal(timed.result, OK);
    assert_false(timed.work.written.repeated);
    end_timer(&timed);
    assert_int_equal(fixture_last_seq(&fixture), seq + 1);
    fixture_deinit(&fixture);
}

/* Goal: a call and a timer that use the same key text do not collide; a repeat of the call is still
 * detected. Method: both under one text, the call twice. */
static void test_call_and_timer_keys_do_not_collide(void **state)
{
    struct sha256_digest request = sha256(SLICE("entry 1"));
    struct event_idempotency key;
    struct fixture fixture;
    struct capture_event event;
    struct timed_capture timed;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    prepare(&fixture, "layout-1", &event);
    key = idempotency_key_of(fixture.org, 0, SLICE("timer"), SLICE("k"), &request);
    capture_by_timer(&fixture, &event, &key, &timed);
    assert_int_equal(timed.result, OK);
    seq = timed.work.written.first_seq;
    end_timer(&timed);
    assert_int_equal(capture_by_call(&fixture, "layout-1", "k").code, STATUS_OK);
    assert_int_equal(fixture_last_seq(&fixture), seq + 1);
    assert_same_event(&fixture, seq, seq + 1);
    assert_int_equal(capture_by_call(&fixture, "layout-1", "k").code, STATUS_OK);
    assert_int_equal(fixture_last_seq(&fixture), seq + 1);
    assert_int_equal(capture_by_call(&fixture, "layout-2", "k").code, STATUS_ALREADY_EXISTS);
    assert_int_equal(fixture_last_seq(&fixture), seq + 1);
    fixture_deinit(&fixture);
}

int run_timer_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command_without_key_stores_an_event),
        cmocka_unit_test(test_repeat_under_key_is_found_and_other_request_refused),
        cmocka_unit_test(test_call_and_timer_keys_do_not_collide),
    };

    return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
