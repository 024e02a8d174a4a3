/*
 * events_tests.c: who may be named as the actor of an event, who may state when it happened, and drafts.
 */
#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A check of an actor. */
struct actor_case {
    enum role role;
    const char *user;
    bool backfill_only;
    const char *named;
    bool has_created_at;
    enum err err;
    const char *actor;
};

/* Goal: each role may name only its actors, and may date events in the past only if allowed.
 * Method: a table. */
static void test_role_limits_actor_and_date(void **state)
{
    static const struct actor_case cases[] = {
        {ROLE_OPERATOR, "ann", false, "", false, OK, "ann"},
        {ROLE_OPERATOR, "ann", false, "ann", false, OK, "ann"},
        {ROLE_OPERATOR, "ann", false, "bob", false, ERR_DENIED, ""},
        {ROLE_REVIEWER, "ann", false, "bob", false, ERR_DENIED, ""},
        {ROLE_OPERATOR, "ann", false, "", true, ERR_DENIED, ""},
        {ROLE_SERVICE, "", false, "bob", false, OK, "bob"},
        {ROLE_SERVICE, "", false, "", false, OK, "token:0000abcd"},
        {ROLE_SERVICE, "svc", false, "", false, OK, "svc"},
        {ROLE_SERVICE, "", false, "", true, ERR_DENIED, ""},
        {ROLE_INTEGRATOR, "", true, "", false, ERR_DENIED, ""},
        {ROLE_INTEGRATOR, "", true, "bob", true, OK, "bob"},
        {ROLE_INTEGRATOR, "", true, "", true, OK, ""},
        {ROLE_INTEGRATOR, "", false, "", false, OK, "token:0000abcd"},
        {ROLE_ADMIN, "root", false, "", true, OK, ""},
        {ROLE_ADMIN, "root", false, "bob", false, OK, "bob"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct actor_case *one = &cases[i];
        const struct event_caller caller = {one->role, slice_text(one->user), 0xabcd,
                                            one->backfill_only};
        struct slice actor = {NULL, 0};
        struct store_fixture fixture;

        store_fixture_init(&fixture);
        assert_int_equal(actor_resolve(&fixture.ctx, &caller, SLICE("event"),
                                       slice_text(one->named), one->has_created_at, &actor),
                         one->err);
        assert_true(slice_equal(actor, slice_text(one->actor)));
        assert_int_equal(fixture.fault.message.size > 0, one->err != OK);
        store_fixture_deinit(&fixture);
    }
}

/* Goal: a given time is between 1970 and now, both included; an omitted one is always valid.
 * Method: a table of times, each at the request itself and in a part of it. */
static void test_given_time_is_between_1970_and_now(void **state)
{
    static const struct {
        struct event_time time;
        bool is_wrong;
    } cases[] = {
        {{false, 0}, false},   {{true, 0}, false},   {{true, -1}, true},
        {{true, 1000}, false}, {{true, 1001}, true},
    };
    static const char *const paths[] = {"", "events[3]"};
    static const char *const fields[] = {"created_at", "events[3].created_at"};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_fixture fixture;

        store_fixture_init(&fixture);
        event_time_check(&fixture.ctx, &cases[i / 2].time, slice_text(paths[i % 2]), 1000);
        assert_int_equal(fault_result(&fixture.fault), cases[i / 2].is_wrong ? ERR_INVALID : OK);
        if (cases[i / 2].is_wrong) {
            assert_int_equal(fixture.fault.count, 1);
            assert_true(slice_equal(fixture.fault.entries[0].field, slice_text(fields[i % 2])));
        }
        store_fixture_deinit(&fixture);
    }
}

static uint64_t applied_seq;

static enum err note_applied(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    (void)ctx;
    (void)txn;
    applied_seq = event->seq;
    return event->subject_count == 3 ? OK : ERR_CORRUPT;
}

/* Goal: a draft is dated as given, else by the clock; it lists no subject without an id; an
 * appended event is applied, and an error of that becomes the draft's. Method: two events with and
 * without a time, the second with subjects that apply refuses. */
static void test_draft_has_its_time_and_subjects(void **state)
{
    const struct event_time given = {true, 5};
    const struct event_time now = {false, 0};
    struct event_draft drafts[2] = {{.kind = EVENT_FEEDBACK, .annotator = ANNOTATOR_HUMAN},
                                    {.kind = EVENT_FEEDBACK, .annotator = ANNOTATOR_HUMAN}};
    struct store_fixture fixture;
    struct store_txn *txn = NULL;
    struct log_stamp known;
    struct event event;
    uint64_t seq = 0;

    (void)state;
    store_fixture_init(&fixture);
    txn = store_fixture_begin(&fixture);
    log_begin_write(txn, NULL);
    drafts[0].org = store_fixture_org(1);
    drafts[1].org = store_fixture_org(1);
    assert_int_equal(event_draft_stamp(&fixture.ctx, txn, &given, &drafts[0]), OK);
    assert_int_equal(drafts[0].source, SOURCE_BACKFILL);
    event_draft_add_subject(&drafts[0], SUBJECT_LAYOUT, SLICE("layout"));
    event_draft_add_subject(&drafts[0], SUBJECT_DOCUMENT, SLICE(""));
    event_draft_add_subject(&drafts[0], SUBJECT_DRAFT_ORDER, SLICE("draft"));
    assert_int_equal(
        event_draft_add_id(&fixture.arena, &drafts[0], SUBJECT_ORGANIZATION, drafts[0].org.uuid),
        OK);
    assert_int_equal(event_draft_append(&fixture.ctx, txn, &drafts[0], note_applied, &seq), OK);
    assert_int_equal(seq, 1);
    assert_int_equal(applied_seq, 1);
    assert_int_equal(log_read(txn, drafts[0].org, 1, &event), OK);
    assert_int_equal(event.created_at_us, 5);
    assert_int_equal(event.subjects[1].kind, SUBJECT_DRAFT_ORDER);
    assert_int_equal(event.subjects[2].id.size, UUID_TEXT_BYTES);

    assert_int_equal(log_next_stamp(&fixture.ctx, txn, drafts[1].org, &known), OK);
    drafts[1].stamp = known;
    assert_int_equal(event_draft_stamp(&fixture.ctx, txn, &now, &drafts[1]), OK);
    assert_memory_equal(&drafts[1].stamp.id, &known.id, sizeof(known.id));
    assert_int_equal(drafts[1].source, SOURCE_LIVE);
    assert_int_equal(drafts[1].created_at_us, STORE_FIXTURE_START_US);
    event_draft_add_subject(&drafts[1], SUBJECT_LAYOUT, SLICE("layout"));
    assert_int_equal(event_draft_append(&fixture.ctx, txn, &drafts[1], note_applied, &seq),
                     ERR_CORRUPT);
    assert_int_equal(seq, 1);
    store_abort(txn);
    store_fixture_deinit(&fixture);
}

/* Goal: the kind of annotator is the given one, else that of the actor, and a person's token allows only
 * HUMAN. Method: a table of tokens, named users and given kinds. */
static void test_annotator_is_who_acts_unless_a_program_gives_it(void **state)
{
    static const struct {
        enum role role;
        const char *user;
        const char *named;
        enum annotator_kind given;
        enum err err;
        enum annotator_kind kind;
    } cases[] = {
        {ROLE_OPERATOR, "ann", "", ANNOTATOR_KIND_UNSPECIFIED, OK, ANNOTATOR_KIND_HUMAN},
        {ROLE_OPERATOR, "ann", "", ANNOTATOR_KIND_HUMAN, OK, ANNOTATOR_KIND_HUMAN},
        {ROLE_OPERATOR, "ann", "", ANNOTATOR_KIND_LLM, ERR_DENIED, ANNOTATOR_KIND_LLM},
        {ROLE_REVIEWER, "ann", "", ANNOTATOR_KIND_CODE, ERR_DENIED, ANNOTATOR_KIND_CODE},
        {ROLE_SERVICE, "", "", ANNOTATOR_KIND_UNSPECIFIED, OK, ANNOTATOR_KIND_CODE},
        {ROLE_SERVICE, "", "bob", ANNOTATOR_KIND_UNSPECIFIED, OK, ANNOTATOR_KIND_HUMAN},
        {ROLE_SERVICE, "svc", "", ANNOTATOR_KIND_UNSPECIFIED, OK, ANNOTATOR_KIND_HUMAN},
        {ROLE_SERVICE, "", "bob", ANNOTATOR_KIND_LLM, OK, ANNOTATOR_KIND_LLM},
        {ROLE_INTEGRATOR, "", "", ANNOTATOR_KIND_HUMAN, OK, ANNOTATOR_KIND_HUMAN},
        {ROLE_ADMIN, "", "", ANNOTATOR_KIND_UNSPECIFIED, OK, ANNOTATOR_KIND_CODE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct event_caller caller = {cases[i].role, slice_text(cases[i].user), 0xabcd,
                                            false};
        enum annotator_kind kind = cases[i].given;
        struct store_fixture fixture;

        store_fixture_init(&fixture);
        assert_int_equal(annotator_resolve(&fixture.ctx, &caller, SLICE("event"),
                                           slice_text(cases[i].named), &kind),
                         cases[i].err);
        assert_int_equal(kind, cases[i].kind);
        assert_int_equal(fixture.fault.message.size > 0, cases[i].err != OK);
        store_fixture_deinit(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_time_is_between_1970_and_now),
        cmocka_unit_test(test_draft_has_its_time_and_subjects),
        cmocka_unit_test(test_role_limits_actor_and_date),
        cmocka_unit_test(test_annotator_is_who_acts_unless_a_program_gives_it),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
