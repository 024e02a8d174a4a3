/*
 * intake_test.c: entries of a stream become decisions or dead letters by a writer with a thread of its own, without Redis.
 */
#include "server/api/decisions/intake_batch.h"
#include "server/api/decisions/stream_entry.h"
#include "server/domain/decisions/decisions.h"
#include "store/log_deletion.h"
#include "tests/command/fixture.h"

#include <errata/v1/admin_service.pb-c.h>
#include <errata/v1/decision_service.pb-c.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SERVICE "/errata.v1.DecisionService/"
#define FLAT_FIELDS 7
/* The limit of a diff in the contract. */
#define DIFF_BYTES_MAX ((size_t)1 << 20)

/* A batch, and what it needs. */
struct bench {
    struct fixture fixture; /* first */
    struct intake *intake;
    bool done;
    bool is_refused; /* the organisation may not have entries */
    unsigned stored_calls;
};

static void on_done(void *user)
{
    struct bench *bench = user;

    bench->done = true;
}

static void on_stored(void *user, struct org_id org)
{
    struct bench *bench = user;

    (void)org;
    bench->stored_calls++;
}

static bool may_store(void *user, struct org_id org)
{
    struct bench *bench = user;

    return !bench->is_refused && uuid_equal(org.uuid, bench->fixture.org.uuid);
}

static void bench_init(struct bench *bench)
{
    struct intake_config config = {.run_on_pool = fixture_run_on_pool,
                                   .may_store = may_store,
                                   .on_done = on_done,
                                   .on_stored = on_stored,
                                   .user = bench};

    memset(bench, 0, sizeof(*bench));
    fixture_init(&bench->fixture);
    config.env = &bench->fixture.env;
    config.clock = bench->fixture.ctx.clock;
    config.random = bench->fixture.ctx.random;
    bench->fixture.env.writer = bench->fixture.writer;
    assert_int_equal(intake_new(&bench->fixture.arena, &config, &bench->intake), OK);
}

static void store(struct bench *bench, const struct stream_entry *entries, size_t count)
{
    bench->done = false;
    intake_start(bench->intake, bench->fixture.org, entries, count);
    assert_false(bench->done);
    fixture_run_until(&bench->fixture, &bench->done);
    assert_true(intake_is_idle(bench->intake));
}

/* Fills the fields of a flat entry. */
static struct stream_entry flat(struct entry_field fields[FLAT_FIELDS], const char *id,
                                const char *decision_id, const char *comment)
{
    const struct entry_field filled[FLAT_FIELDS] = {
        {SLICE("decision_id"), slice_text(decision_id)},
        {SLICE("gate_id"), SLICE("HITL-1")},
        {SLICE("epic_id"), SLICE("epic-1")},
        {SLICE("decision"), SLICE("REJECTED")},
        {SLICE("agent_name"), SLICE("coder")},
        {SLICE("reviewer_id"), SLICE("anna")},
        {SLICE("reviewer_comment"), slice_text(comment)},
    };

    memcpy(fields, filled, sizeof(filled));
    return (struct stream_entry){.stream = SLICE("decisions"),
                                 .id = slice_text(id),
                                 .fields = fields,
                                 .field_count = FLAT_FIELDS};
}

static struct stream_entry with_data(struct entry_field *field, const char *id, const char *data)
{
    *field = (struct entry_field){SLICE("data"), slice_text(data)};
    return (struct stream_entry){
        .stream = SLICE("decisions"), .id = slice_text(id), .fields = field, .field_count = 1};
}

static struct plain_call call(struct bench *bench, const char *method,
                              const ProtobufCMessage *request)
{
    struct fixture *fixture = &bench->fixture;
    struct slice head =
        arena_printf(&fixture->arena, SERVICE "%s\nauthorization: %s\n", method, fixture->admin);
    struct plain_call plain;

    fixture_call_whole(fixture, &plain, (const char *)head.data, request, 100);
    return plain;
}

/* Lists the dead letters. */
static Errata__V1__ListDeadLettersResponse *list(struct bench *bench)
{
    Errata__V1__ListDeadLettersRequest request = ERRATA__V1__LIST_DEAD_LETTERS_REQUEST__INIT;
    struct plain_call plain = call(bench, "ListDeadLetters", &request.base);
    Errata__V1__ListDeadLettersResponse *response = NULL;
    struct slice reply = {NULL, 0};

    assert_int_equal(plain.code, STATUS_OK);
    assert_true(plain_read(&plain, &reply));
    response = errata__v1__list_dead_letters_response__unpack(NULL, reply.size, reply.data);
    assert_non_null(response);
    return response;
}

static struct plain_call retry(struct bench *bench, char *id)
{
    Errata__V1__RetryDeadLetterRequest request = ERRATA__V1__RETRY_DEAD_LETTER_REQUEST__INIT;

    request.dead_letter_id = id;
    return call(bench, "RetryDeadLetter", &request.base);
}

/* Returns the stored decision with the caller's id. */
static struct decision_view decision_of(struct bench *bench, const char *decision_id)
{
    struct fixture *fixture = &bench->fixture;
    struct store_txn *txn = NULL;
    struct decision_view view;
    struct event event;
    uint64_t seq = 0;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(decision_find(txn, fixture->org, slice_text(decision_id), &seq), OK);
    assert_int_equal(log_read_copy(&fixture->arena, txn, fixture->org, seq, &event), OK);
    assert_int_equal(view_read_parts(&decision_view_type, event.facts, event.content, &view), OK);
    store_abort(txn);
    return view;
}

/* Goal: a flat entry and one with `data` store what a call stores. Method: the same decision in three ways, compared. */
static void test_entries_store_what_a_call_stores(void **state)
{
    static const char data[] =
        "{\"decision_id\":\"d-2\",\"gate_id\":\"HITL-1\",\"epic_id\":\"epic-1\",\"decision\":"
        "\"REJECTED\",\"agent_name\":\"coder\",\"reviewer_id\":\"anna\",\"reviewer_comment\":"
        "\"Nice work!\",\"task_id\":null,\"event_type\":\"hitl\"}";
    static const char *const ids[] = {"d-1", "d-2", "d-3"};
    Errata__V1__RecordDecisionRequest request = ERRATA__V1__RECORD_DECISION_REQUEST__INIT;
    Errata__V1__Decision given = ERRATA__V1__DECISION__INIT;
    struct entry_field fields[FLAT_FIELDS + 1];
    struct stream_entry entries[2];
    struct bench bench;

    (void)state;
    bench_init(&bench);
    entries[0] = flat(fields, "1-0", "d-1", "Nice work!");
    entries[1] = with_data(&fields[FLAT_FIELDS], "2-0", data);
    store(&bench, entries, 2);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_STORED);
    assert_int_equal(intake_outcome_of(bench.intake, 1), INTAKE_STORED);
    assert_int_equal(bench.stored_calls, 2);
    given.decision_id = (char *)(uintptr_t) "d-3";
    given.gate_id = (char *)(uintptr_t) "HITL-1";
    given.epic_id = (char *)(uintptr_t) "epic-1";
    given.agent_name = (char *)(uintptr_t) "coder";
    given.decision = ERRATA__V1__DECISION_OUTCOME__DECISION_OUTCOME_REJECTED;
    given._reviewer_id_case = ERRATA__V1__DECISION___REVIEWER_ID_REVIEWER_ID;
    given.reviewer_id = (char *)(uintptr_t) "anna";
    given.reviewer_comment = (char *)(uintptr_t) "Nice work!";
    request.decision = &given;
    assert_int_equal(call(&bench, "RecordDecision", &request.base).code, STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        struct decision_view view = decision_of(&bench, ids[i]);

        assert_true(slice_equal(view.reviewer_comment, SLICE("Nice work!")));
        assert_true(slice_equal(view.reviewer_id, SLICE("anna")));
        assert_int_equal(view.decision, DECISION_OUTCOME_REJECTED);
        assert_int_equal(view.classification, DECISION_CLASS_POSITIVE);
        assert_false(view.has_task_id);
    }
    fixture_deinit(&bench.fixture);
}

/* Goal: an entry is stored once, regardless of how often it is delivered. Method: the same entry twice in a batch and again; another
 * entry with the decision's id and other words, also twice. */
static void test_entry_is_stored_once(void **state)
{
    struct entry_field fields[FLAT_FIELDS];
    struct entry_field others[FLAT_FIELDS];
    struct stream_entry entries[3];
    Errata__V1__ListDeadLettersResponse *letters = NULL;
    struct bench bench;
    uint64_t last = 0;

    (void)state;
    bench_init(&bench);
    entries[0] = entries[1] = flat(fields, "1-0", "d-1", "Nice work!");
    entries[2] = flat(others, "2-0", "d-1", "Other words.");
    store(&bench, entries, 3);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_STORED);
    assert_int_equal(intake_outcome_of(bench.intake, 1), INTAKE_REPEATED);
    assert_int_equal(intake_outcome_of(bench.intake, 2), INTAKE_DEAD);
    last = fixture_last_seq(&bench.fixture);
    store(&bench, entries, 3);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_REPEATED);
    assert_int_equal(intake_outcome_of(bench.intake, 2), INTAKE_DEAD);
    assert_int_equal(fixture_last_seq(&bench.fixture), last);
    letters = list(&bench);
    assert_int_equal(letters->n_dead_letters, 1);
    assert_string_equal(letters->dead_letters[0]->entry_id, "2-0");
    assert_non_null(strstr(letters->dead_letters[0]->reason, "with this id and other content"));
    assert_int_equal(retry(&bench, letters->dead_letters[0]->id).code, STATUS_ALREADY_EXISTS);
    assert_int_equal(fixture_last_seq(&bench.fixture), last);
    errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
    fixture_deinit(&bench.fixture);
}

static void set_gate_agent(struct bench *bench)
{
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__GateAgents agents = ERRATA__V1__GATE_AGENTS__INIT;
    Errata__V1__GateAgent agent = ERRATA__V1__GATE_AGENT__INIT;
    Errata__V1__GateAgent *all[] = {&agent};
    struct fixture *fixture = &bench->fixture;
    struct slice head =
        arena_printf(&fixture->arena, "/errata.v1.AdminService/UpdateSettings\nauthorization: %s\n",
                     fixture->admin);
    struct plain_call plain;

    agent.gate_id = (char *)(uintptr_t) "HITL-9";
    agent.agent_name = (char *)(uintptr_t) "tester";
    agents.gates = all;
    agents.n_gates = 1;
    settings.gate_agents = &agents;
    request.settings = &settings;
    fixture_call_whole(fixture, &plain, (const char *)head.data, &request.base, 100);
    assert_int_equal(plain.code, STATUS_OK);
}

/* Returns whether the content of a dead letter is removed. */
static bool is_erased(struct bench *bench, const char *id)
{
    struct fixture *fixture = &bench->fixture;
    struct store_txn *txn = NULL;
    struct event event;
    struct uuid uuid;
    uint64_t seq = 0;

    assert_true(uuid_parse(slice_text(id), &uuid));
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_find(txn, fixture->org, uuid, &seq), OK);
    assert_int_equal(log_read(txn, fixture->org, seq, &event), OK);
    store_abort(txn);
    return event.content_removed;
}

/* Goal: a dead letter is retried once its cause is gone, and once only; then it keeps no copy of the entry. Method: a gate without an
 * agent; a retry in vain; the setting; a retry, and its repeat; the entry delivered once more. */
static void test_dead_letter_is_retried(void **state)
{
    struct entry_field field;
    struct stream_entry entry =
        with_data(&field, "7-1",
                  "{\"decision_id\":\"d-1\",\"gate_id\":\"HITL-9\",\"epic_id\":\"e\","
                  "\"decision\":\"APPROVED\",\"timestamp\":1700000000.5,\"tags\":[\"a\"]}");
    Errata__V1__ListDeadLettersResponse *letters = NULL;
    struct decision_view view;
    struct plain_call plain;
    struct slice reply = {NULL, 0};
    struct slice again = {NULL, 0};
    struct bench bench;
    uint64_t last = 0;

    (void)state;
    bench_init(&bench);
    store(&bench, &entry, 1);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_DEAD);
    letters = list(&bench);
    assert_int_equal(letters->n_dead_letters, 1);
    assert_non_null(strstr(letters->dead_letters[0]->reason, "decision.agent_name: missing"));
    assert_int_equal(letters->dead_letters[0]->n_fields, 1);
    last = fixture_last_seq(&bench.fixture);
    assert_int_equal(retry(&bench, letters->dead_letters[0]->id).code, STATUS_INVALID_ARGUMENT);
    assert_int_equal(fixture_last_seq(&bench.fixture), last);
    assert_false(is_erased(&bench, letters->dead_letters[0]->id));
    set_gate_agent(&bench);
    plain = retry(&bench, letters->dead_letters[0]->id);
    assert_int_equal(plain.code, STATUS_OK);
    assert_true(is_erased(&bench, letters->dead_letters[0]->id));
    assert_true(plain_read(&plain, &reply));
    last = fixture_last_seq(&bench.fixture);
    plain = retry(&bench, letters->dead_letters[0]->id);
    assert_int_equal(plain.code, STATUS_OK);
    assert_true(plain_read(&plain, &again));
    assert_true(slice_equal(reply, again));
    store(&bench, &entry, 1);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_DEAD);
    assert_int_equal(fixture_last_seq(&bench.fixture), last);
    view = decision_of(&bench, "d-1");
    assert_int_equal(view.created_at_us, INT64_C(1700000000500000));
    assert_true(slice_equal(view.agent_name, SLICE("tester")));
    assert_true(slice_equal(view.reviewer_id, SLICE("redis")));
    errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
    letters = list(&bench);
    assert_int_equal(letters->n_dead_letters, 0);
    errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
    fixture_deinit(&bench.fixture);
}

/* Goal: the reason names every invalid field; an incomplete entry can't be retried. Method: entries that are invalid in one
 * way each, and the words of their reasons. */
static void test_reasons_name_what_is_invalid(void **state)
{
    static const struct {
        const char *name;
        struct slice value;
        const char *reason;
        bool incomplete;
    } cases[] = {
        {"data", SLICE("{"), "data: ", false},
        {"data", SLICE("[1]"), "data: not an object", false},
        {"data", SLICE("{\"timestamp\":\"yesterday\"}"), "decision.timestamp: invalid value",
         false},
        {"data", SLICE("{\"decision\":\"MAYBE\"}"), "decision.decision: unknown value", false},
        {"data", SLICE("{\"epic_id\":\"e\"}"), "decision.gate_id: ", false},
        {"data", SLICE("{\"epic_id\":\"e\"}"), "decision.decision_id: ", false},
        {"tags", SLICE("a,b"), "decision.tags: not a JSON list", false},
        {"timestamp", SLICE("12 o'clock"), "decision.timestamp: invalid value", false},
        {"task_id", SLICE("\xff\xfe"), "task_id: not UTF-8", true},
        {"decision_id", SLICE("a\nb"), "decision.decision_id: ", false},
    };
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct entry_field field = {slice_text(cases[i].name), cases[i].value};
        struct slice id = arena_printf(&bench.fixture.arena, "1-%zu", i);
        const struct stream_entry entry = {
            .stream = SLICE("decisions"), .id = id, .fields = &field, .field_count = 1};
        Errata__V1__ListDeadLettersResponse *letters = NULL;

        store(&bench, &entry, 1);
        assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_DEAD);
        letters = list(&bench);
        assert_int_equal(letters->n_dead_letters, i + 1);
        if (strstr(letters->dead_letters[0]->reason, cases[i].reason) == NULL) {
            fail_msg("%s is not in %s", cases[i].reason, letters->dead_letters[0]->reason);
        }
        assert_int_equal(letters->dead_letters[0]->incomplete, cases[i].incomplete);
        assert_int_equal(retry(&bench, letters->dead_letters[0]->id).code,
                         cases[i].incomplete ? STATUS_FAILED_PRECONDITION
                                             : STATUS_INVALID_ARGUMENT);
        errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
    }
    assert_int_equal(retry(&bench, (char *)(uintptr_t) "01890000-0000-7000-8000-000000000000").code,
                     STATUS_NOT_FOUND);
    fixture_deinit(&bench.fixture);
}

/* Goal: an entry waits while the writer takes nothing, and is then stored; at the end of the server it is left. Method: a
 * writer that drains; time passes. */
static void test_entry_waits_for_the_writer(void **state)
{
    struct entry_field fields[FLAT_FIELDS];
    struct stream_entry entry = flat(fields, "1-0", "d-1", "Nice work!");
    struct bench bench;
    enum err why = OK;
    uint64_t last = 0;

    (void)state;
    bench_init(&bench);
    last = fixture_last_seq(&bench.fixture);
    writer_drain(bench.fixture.writer);
    intake_start(bench.intake, bench.fixture.org, &entry, 1);
    while (!intake_is_waiting(bench.intake, &why)) {
        (void)uv_run(&bench.fixture.loop, UV_RUN_ONCE);
    }
    assert_int_equal(why, ERR_DRAINING);
    clock_manual_advance(&bench.fixture.clock, INTAKE_RETRY_US);
    intake_tick(bench.intake);
    assert_true(intake_is_waiting(bench.intake, &why));
    assert_int_equal(intake_read_counts(bench.intake).waits, 2);
    assert_false(bench.done);
    intake_stop(bench.intake);
    intake_tick(bench.intake);
    assert_true(bench.done);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_LEFT);
    assert_int_equal(fixture_last_seq(&bench.fixture), last);
    fixture_deinit(&bench.fixture);
}

/* Makes the JSON of a decision that is valid but for an agent, with a diff of `size` bytes; the caller frees it. */
static char *make_large(struct bench *bench, size_t number, size_t size)
{
    static const char form[] =
        "{\"decision_id\":\"d-%zu\",\"gate_id\":\"HITL-9\",\"epic_id\":\"e\","
        "\"decision\":\"REJECTED\",\"correction_diff\":\"";
    struct slice head = arena_printf(&bench->fixture.arena, form, number);
    char *data = test_malloc(head.size + size + 3);

    memcpy(data, head.data, head.size);
    memset(data + head.size, 'x', size);
    memcpy(data + head.size + size, "\"}", 3);
    return data;
}

/* Stores an entry that has the decision as its only field. */
static void store_large(struct bench *bench, size_t number, size_t size)
{
    char *data = make_large(bench, number, size);
    struct entry_field field;
    struct stream_entry entry = with_data(&field, "1-0", data);

    entry.id = arena_printf(&bench->fixture.arena, "%zu-0", number);
    store(bench, &entry, 1);
    test_free(data);
}

/* Stores an entry that becomes a dead letter with this reason. */
static void expect_large_dead(struct bench *bench, size_t number, size_t size, bool incomplete,
                              const char *reason)
{
    Errata__V1__ListDeadLettersResponse *letters = NULL;

    store_large(bench, number, size);
    assert_int_equal(intake_outcome_of(bench->intake, 0), INTAKE_DEAD);
    letters = list(bench);
    assert_int_equal(letters->dead_letters[0]->incomplete, incomplete);
    assert_non_null(strstr(letters->dead_letters[0]->reason, reason));
    errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
}

/* Goal: entries of any size end, and those within the limit are stored whole. Method: entries around the limits of a diff, of a
 * dead letter and of an entry; then a decision with the largest diff, and the retry of an entry with such a one. */
static void test_large_entries_end(void **state)
{
    static const char long_diff[] = "decision.correction_diff: ";
    Errata__V1__ListDeadLettersResponse *letters = NULL;
    struct bench bench;
    char *small = NULL;
    size_t rest = 0; /* bytes of an entry beside the diff */

    (void)state;
    bench_init(&bench);
    small = make_large(&bench, 0, 0);
    rest = strlen("data") + strlen(small);
    test_free(small);
    expect_large_dead(&bench, 0, DIFF_BYTES_MAX, false, "decision.agent_name: missing");
    letters = list(&bench);
    expect_large_dead(&bench, 1, DIFF_BYTES_MAX + 1, false, long_diff);
    expect_large_dead(&bench, 2, DEAD_LETTER_BYTES_MAX - rest, false, long_diff);
    expect_large_dead(&bench, 3, DEAD_LETTER_BYTES_MAX - rest + 1, true, long_diff);
    expect_large_dead(&bench, 4, STREAM_ENTRY_BYTES_MAX - rest, true, long_diff);
    expect_large_dead(&bench, 5, STREAM_ENTRY_BYTES_MAX - rest + 1, true, "entry: too large");
    set_gate_agent(&bench);
    store_large(&bench, 6, DIFF_BYTES_MAX);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_STORED);
    assert_int_equal(retry(&bench, letters->dead_letters[0]->id).code, STATUS_OK);
    assert_int_equal(decision_of(&bench, "d-0").correction_diff.size, DIFF_BYTES_MAX);
    assert_int_equal(decision_of(&bench, "d-6").correction_diff.size, DIFF_BYTES_MAX);
    errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
    fixture_deinit(&bench.fixture);
}

/* Goal: an entry that is not stored byte for byte can't be retried, even if only its last byte differs. Method: a field that fills a
 * dead letter, with an invalid byte, or a NUL, at its end. */
static void test_last_byte_makes_a_letter_incomplete(void **state)
{
    static const char name[] = "task_id";
    static const char lasts[] = {'\xff', '\0'};
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < sizeof(lasts); i++) {
        size_t size = DEAD_LETTER_BYTES_MAX - strlen(name);
        char *value = arena_alloc(&bench.fixture.arena, size);
        const struct entry_field field = {slice_text(name), slice_of(value, size)};
        const struct stream_entry entry = {.stream = SLICE("decisions"),
                                           .id = arena_printf(&bench.fixture.arena, "%zu-0", i),
                                           .fields = &field,
                                           .field_count = 1};
        Errata__V1__ListDeadLettersResponse *letters = NULL;

        assert_non_null(value);
        memset(value, 'x', size);
        value[size - 1] = lasts[i];
        store(&bench, &entry, 1);
        assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_DEAD);
        letters = list(&bench);
        assert_true(letters->dead_letters[0]->incomplete);
        assert_int_equal(retry(&bench, letters->dead_letters[0]->id).code,
                         STATUS_FAILED_PRECONDITION);
        errata__v1__list_dead_letters_response__free_unpacked(letters, NULL);
    }
    fixture_deinit(&bench.fixture);
}

/* Goal: an entry of a producer whose clock is somewhat ahead waits for its time, and delays no other one; one that is far ahead is
 * refused. Method: three entries, by a clock that a test moves. */
static void test_entry_of_the_near_future_waits(void **state)
{
    static const int64_t ahead_us[] = {0, STREAM_ENTRY_AHEAD_US_MAX, STREAM_ENTRY_AHEAD_US_MAX + 1};
    struct entry_field fields[3][FLAT_FIELDS];
    struct stream_entry entries[3];
    enum err why = OK;
    struct bench bench;

    (void)state;
    bench_init(&bench);
    for (size_t i = 0; i < 3; i++) {
        int64_t at_us = FIXTURE_START_US + ahead_us[i];
        struct arena *arena = &bench.fixture.arena;
        struct slice id = arena_printf(arena, "%zu-0", i);

        entries[i] = flat(fields[i], (const char *)id.data, (const char *)id.data, "");
        fields[i][FLAT_FIELDS - 1] = (struct entry_field){
            SLICE("timestamp"), arena_printf(arena, "%lld.%06lld", (long long)at_us / 1000000,
                                             (long long)at_us % 1000000)};
    }
    bench.done = false;
    intake_start(bench.intake, bench.fixture.org, entries, 3);
    while (intake_outcome_of(bench.intake, 0) != INTAKE_STORED ||
           intake_outcome_of(bench.intake, 2) != INTAKE_DEAD) {
        (void)uv_run(&bench.fixture.loop, UV_RUN_ONCE);
    }
    assert_int_equal(intake_outcome_of(bench.intake, 1), INTAKE_OPEN);
    assert_false(intake_is_waiting(bench.intake, &why));
    intake_tick(bench.intake);
    assert_false(bench.done);
    clock_manual_advance(&bench.fixture.clock, STREAM_ENTRY_AHEAD_US_MAX);
    intake_tick(bench.intake);
    fixture_run_until(&bench.fixture, &bench.done);
    assert_int_equal(intake_outcome_of(bench.intake, 1), INTAKE_STORED);
    assert_int_equal(decision_of(&bench, "1-0").created_at_us,
                     FIXTURE_START_US + STREAM_ENTRY_AHEAD_US_MAX);
    fixture_deinit(&bench.fixture);
}

/* Marks the organisation as one that is being deleted, or ends that. */
static void set_marked(struct bench *bench, bool is_marked)
{
    struct fixture *fixture = &bench->fixture;
    const struct log_deletion mark = {
        .org = fixture->org, .audit_org = {.uuid.bytes = {1}}, .audit_seq = 1};
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(is_marked ? log_deletion_put(&fixture->ctx, txn, &mark)
                               : log_deletion_end(txn, fixture->org),
                     OK);
    assert_int_equal(store_commit(txn), OK);
}

/* Starts a batch of one entry, and runs until it waits; then the time of the wait is over. */
static void start_and_wait(struct bench *bench, const struct stream_entry *entry)
{
    enum err why = OK;

    bench->done = false;
    intake_start(bench->intake, bench->fixture.org, entry, 1);
    while (!intake_is_waiting(bench->intake, &why) && !bench->done) {
        (void)uv_run(&bench->fixture.loop, UV_RUN_ONCE);
    }
    clock_manual_advance(&bench->fixture.clock, INTAKE_RETRY_US);
}

/* Goal: a refusal of the organisation is not one of the entry. Method: an organisation that is being deleted; the entry waits,
 * and is stored as a decision once that has ended. */
static void test_refusal_of_the_organisation_waits(void **state)
{
    struct entry_field fields[FLAT_FIELDS];
    struct stream_entry entry = flat(fields, "1-0", "d-1", "Nice work!");
    struct bench bench;

    (void)state;
    bench_init(&bench);
    set_marked(&bench, true);
    start_and_wait(&bench, &entry);
    assert_false(bench.done);
    set_marked(&bench, false);
    intake_tick(bench.intake);
    fixture_run_until(&bench.fixture, &bench.done);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_STORED);
    fixture_deinit(&bench.fixture);
}

/* Goal: an entry whose organisation may not have it any more is left, and leaves nothing. Method: it is refused from the start;
 * only after a wait, during which the writer takes nothing. */
static void test_entry_of_a_refused_organisation_is_left(void **state)
{
    struct entry_field fields[FLAT_FIELDS];
    struct stream_entry entry = flat(fields, "1-0", "d-1", "Nice work!");
    struct bench bench;
    uint64_t last = 0;

    (void)state;
    bench_init(&bench);
    last = fixture_last_seq(&bench.fixture);
    bench.is_refused = true;
    store(&bench, &entry, 1);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_LEFT);
    bench.is_refused = false;
    writer_drain(bench.fixture.writer);
    start_and_wait(&bench, &entry);
    assert_false(bench.done);
    bench.is_refused = true;
    intake_tick(bench.intake);
    assert_true(bench.done);
    assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_LEFT);
    assert_int_equal(fixture_last_seq(&bench.fixture), last);
    fixture_deinit(&bench.fixture);
}

/* Goal: an entry of an organisation whose deletion has ended is left, neither as a decision nor as a dead letter. Method: an
 * organisation without a log, an entry that would be a decision, and one that would be a dead letter. */
static void test_entry_of_a_deleted_organisation_is_left(void **state)
{
    struct entry_field fields[FLAT_FIELDS];
    struct entry_field field;
    const struct org_id deleted = {{{1}}};
    struct stream_entry entries[2];
    struct store_txn *txn = NULL;
    struct log_head head;
    struct bench bench;
    enum err why = OK;

    (void)state;
    bench_init(&bench);
    entries[0] = flat(fields, "1-0", "d-1", "Nice work!");
    entries[1] = with_data(&field, "2-0", "{");
    bench.fixture.org = deleted;
    for (size_t i = 0; i < 2; i++) {
        start_and_wait(&bench, &entries[i]);
        assert_true(intake_is_waiting(bench.intake, &why));
        assert_int_equal(why, ERR_ORGANIZATION_DELETED);
        bench.is_refused = true;
        clock_manual_advance(&bench.fixture.clock, INTAKE_RETRY_US_MAX);
        intake_tick(bench.intake);
        assert_true(bench.done);
        assert_int_equal(intake_outcome_of(bench.intake, 0), INTAKE_LEFT);
        bench.is_refused = false;
    }
    assert_int_equal(bench.stored_calls, 0);
    assert_int_equal(store_begin(bench.fixture.backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read_head(txn, deleted, &head), OK);
    assert_int_equal(head.last_seq, 0);
    store_abort(txn);
    fixture_deinit(&bench.fixture);
}

int run_intake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_store_what_a_call_stores),
        cmocka_unit_test(test_entry_is_stored_once),
        cmocka_unit_test(test_dead_letter_is_retried),
        cmocka_unit_test(test_reasons_name_what_is_invalid),
        cmocka_unit_test(test_entry_waits_for_the_writer),
        cmocka_unit_test(test_large_entries_end),
        cmocka_unit_test(test_last_byte_makes_a_letter_incomplete),
        cmocka_unit_test(test_entry_of_the_near_future_waits),
        cmocka_unit_test(test_refusal_of_the_organisation_waits),
        cmocka_unit_test(test_entry_of_a_refused_organisation_is_left),
        cmocka_unit_test(test_entry_of_a_deleted_organisation_is_left),
    };

    return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
