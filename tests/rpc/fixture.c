/*
 * fixture.c: a whole server without sockets, threads or time.
 */
#include "tests/rpc/fixture.h"

#include "server/auth/first_token.h"
#include "server/domain/replay/replay.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ARENA_BYTES (256u << 20)
#define FRAMES_BYTES (4u << 20)

static void wake(void *user)
{
    (void)user; /* fixture_run completes writes */
}

static enum err run_on_pool(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job)
{
    struct fixture *fixture = user;

    if (fixture->pool_is_full || fixture->job_count == FIXTURE_JOBS_MAX) {
        return ERR_BUSY;
    }
    fixture->jobs[fixture->job_count++] = (struct fixture_job){work, done, job};
    return OK;
}

static void want_turn(void *user)
{
    struct fixture *fixture = user;

    fixture->wants_turn = true;
}

static void on_erased(void *user, struct org_id org)
{
    struct fixture *fixture = user;

    pipeline_wake(fixture->pipeline, org);
}

static void ignore_idle(void *user)
{
    (void)user;
}

static enum err keep_token(void *user, struct slice text)
{
    struct fixture *fixture = user;

    (void)snprintf(fixture->admin, sizeof(fixture->admin), "Bearer %.*s", (int)text.size,
                   (const char *)text.data);
    return OK;
}

static void make_services(struct fixture *fixture, bool documents)
{
    const struct writer_config writer = {.backend = fixture->backend,
                                         .clock = fixture->ctx.clock,
                                         .wake = wake,
                                         .user = fixture,
                                         .manual = true};
    struct pipeline_config pipeline = {.backend = fixture->backend,
                                       .env = &fixture->env,
                                       .clock = fixture->ctx.clock,
                                       .random = fixture->ctx.random,
                                       .run_on_pool = run_on_pool,
                                       .run_read = run_on_pool,
                                       .want_turn = want_turn,
                                       .documents = documents ? &fixture->documents.jobs : NULL,
                                       .user = fixture};
    struct eraser_config eraser = {.backend = fixture->backend,
                                   .clock = fixture->ctx.clock,
                                   .random = fixture->ctx.random,
                                   .run_on_pool = run_on_pool,
                                   .on_news = on_erased,
                                   .on_idle = ignore_idle,
                                   .user = fixture};

    struct export_recorder_config exports = {.clock = fixture->ctx.clock,
                                             .random = fixture->ctx.random,
                                             .on_news = on_erased,
                                             .on_idle = ignore_idle,
                                             .user = fixture};

    assert_int_equal(writer_new(&writer, &fixture->writer), OK);
    assert_int_equal(auth_new(&fixture->auth), OK);
    eraser.writer = fixture->writer;
    assert_int_equal(eraser_new(&fixture->arena, &eraser, &pipeline.eraser), OK);
    exports.writer = fixture->writer;
    assert_int_equal(export_recorder_new(&fixture->arena, &exports, &pipeline.exports), OK);
    pipeline.writer = fixture->writer;
    pipeline.auth = fixture->auth;
    fixture->env.writer = fixture->writer;
    fixture->env.log_engine = LOG_ENGINE_KIND_LMDB;
    assert_int_equal(pipeline_new(&fixture->arena, &pipeline, &fixture->pipeline), OK);
}

/* Opens the services over the stored tables. */
static void open_services(struct fixture *fixture)
{
    struct call_config calls;
    bool documents = fixture->has_documents;

    assert_int_equal(env_init(&fixture->env, &fixture->arena, &fixture->ctx, fixture->backend), OK);
    make_services(fixture, documents);
    calls = call_config_default(pipeline_handlers(fixture->pipeline));
    assert_int_equal(call_server_new(&calls, 0, &fixture->calls), OK);
    pipeline_set_health(fixture->pipeline, HEALTH_PART_SERVER, HEALTH_SERVING);
    pipeline_set_health(fixture->pipeline, HEALTH_PART_WRITE, HEALTH_SERVING);
    pipeline_check_clock(fixture->pipeline);
    pipeline_set_health(fixture->pipeline, HEALTH_PART_PDF,
                        documents ? HEALTH_SERVING : HEALTH_NOT_SERVING);
}

/* Stops the services. Every call must have ended. */
static void close_services(struct fixture *fixture)
{
    assert_int_equal(pipeline_live_count(fixture->pipeline), 0);
    assert_int_equal(fixture->job_count, 0);
    call_server_free(fixture->calls);
    pipeline_free(fixture->pipeline);
    writer_drain(fixture->writer);
    writer_free(fixture->writer);
    auth_free(fixture->auth);
    env_deinit(&fixture->env);
}

static void init(struct fixture *fixture, bool documents)
{
    bool made = false;

    *fixture = (struct fixture){.has_documents = documents};
    fake_documents_init(&fixture->documents);
    arena_init(&fixture->arena, ARENA_BYTES);
    fault_init(&fixture->fault, &fixture->arena);
    clock_manual_init(&fixture->clock, FIXTURE_START_US);
    random_seeded_init(&fixture->random, 7);
    fixture->ctx = (struct ctx){&fixture->arena, &fixture->clock.clock, &fixture->random.random,
                                &fixture->fault};
    assert_int_equal(store_memory_open(&fixture->backend), OK);
    assert_int_equal(first_token_make(&fixture->ctx, fixture->backend, keep_token, fixture, &made),
                     OK);
    assert_true(made);
    open_services(fixture);
}

void fixture_init(struct fixture *fixture)
{
    init(fixture, true);
}

void fixture_init_without_documents(struct fixture *fixture)
{
    init(fixture, false);
}

static int64_t no_time(const struct clock *clock)
{
    (void)clock;
    fail_msg("apply asked what time it is");
    return 0;
}

static void no_bytes(struct random *random, void *bytes, size_t size)
{
    (void)random;
    memset(bytes, 0, size);
    fail_msg("apply asked for randomness");
}

/* Runs one of the two over a new store, which the caller owns afterwards. */
static struct store_backend *replay(struct fixture *fixture,
                                    enum err (*run)(const struct replay_config *config,
                                                    struct replay_report *ret_report),
                                    struct replay_report *ret_report)
{
    const struct clock clock = {no_time, no_time, no_time};
    struct random random = {no_bytes};
    struct replay_config config = {.source = fixture->backend,
                                   .clock = &clock,
                                   .random = &random,
                                   .now_us = fixture->clock.wall_us};

    assert_int_equal(store_memory_open(&config.target), OK);
    assert_int_equal(run(&config, ret_report), OK);
    assert_int_equal(ret_report->broken_count, 0);
    assert_true(ret_report->organizations > 0 && ret_report->events > 0);
    return config.target;
}

/* Checks that every idempotency row of a replay is in the store with the same bytes. */
static void check_keys(struct fixture *fixture, struct store_backend *replayed)
{
    struct store_txn *stored = NULL;
    struct store_txn *made = NULL;
    struct uuid org;
    enum err err = OK;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &stored), OK);
    assert_int_equal(store_begin(replayed, STORE_READ, &made), OK);
    err = store_next_org(made, TABLE_IDEMPOTENCY, NULL, &org);
    while (err == OK) {
        struct store_cursor cursor;
        struct key prefix = key_org((struct org_id){org});
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        struct slice wanted = {NULL, 0};

        assert_int_equal(store_cursor_init(&cursor, made, TABLE_IDEMPOTENCY, key_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        while (store_cursor_next(&cursor, &key, &value) == OK) {
            assert_int_equal(store_get(stored, TABLE_IDEMPOTENCY, key, &wanted), OK);
            assert_true(slice_equal(value, wanted));
        }
        store_cursor_deinit(&cursor);
        err = store_next_org(made, TABLE_IDEMPOTENCY, &org, &org);
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    store_abort(stored);
    store_abort(made);
}

void fixture_check_replay(struct fixture *fixture)
{
    struct replay_report *report = arena_calloc(&fixture->arena, 1, sizeof(*report));
    struct store_backend *replayed = NULL;

    assert_non_null(report);
    replayed = replay(fixture, replay_verify, report);
    for (size_t i = 0; i < report->difference_count && i < REPLAY_DIFFERENCES_MAX; i++) {
        print_message("a row of %s differs\n", store_table_name(report->differences[i].table));
    }
    assert_int_equal(report->difference_count, fixture->damaged_rows);
    assert_true(report->rows > 0);
    store_memory_close(replayed);
    replayed = replay(fixture, replay_log, report);
    if (!fixture->keys_ended) {
        check_keys(fixture, replayed);
    }
    store_memory_close(replayed);
}

/* Copies the rows that are in no log: the server's keys. */
static void carry_local_rows(struct store_backend *from, struct store_backend *to)
{
    struct key prefix = key_global_prefix();
    struct store_txn *read = NULL;
    struct store_txn *write = NULL;
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    assert_int_equal(store_begin(from, STORE_READ, &read), OK);
    assert_int_equal(store_begin(to, STORE_WRITE, &write), OK);
    assert_int_equal(store_cursor_init(&cursor, read, TABLE_META, key_slice(&prefix),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        assert_int_equal(store_put(write, TABLE_META, key, value), OK);
    }
    store_cursor_deinit(&cursor);
    store_abort(read);
    assert_int_equal(store_commit(write), OK);
}

void fixture_rebuild(struct fixture *fixture)
{
    struct replay_report *report = arena_calloc(&fixture->arena, 1, sizeof(*report));
    struct store_backend *rebuilt = NULL;

    assert_non_null(report);
    close_services(fixture);
    rebuilt = replay(fixture, replay_log, report);
    carry_local_rows(fixture->backend, rebuilt);
    store_memory_close(fixture->backend);
    fixture->backend = rebuilt;
    open_services(fixture);
}

void fixture_deinit(struct fixture *fixture)
{
    if (!fixture->is_damaged) {
        fixture_check_replay(fixture);
    }
    fake_documents_check_end(&fixture->documents);
    assert_true(assert_unexpected_count() == 0);
    close_services(fixture);
    store_memory_close(fixture->backend);
    arena_deinit(&fixture->arena);
}

static bool run_jobs(struct fixture *fixture)
{
    size_t count = fixture->job_count;

    for (size_t i = 0; i < count; i++) {
        struct fixture_job job = fixture->jobs[i];

        job.work(job.job);
        job.done(job.job, OK);
    }
    memmove(fixture->jobs, fixture->jobs + count,
            (fixture->job_count - count) * sizeof(fixture->jobs[0]));
    fixture->job_count -= count;
    return count > 0;
}

void fixture_run(struct fixture *fixture)
{
    bool busy = true;

    while (busy) {
        busy = run_jobs(fixture);
        busy = fake_documents_run(&fixture->documents) || busy;
        busy = writer_step(fixture->writer) > 0 || busy;
        writer_complete(fixture->writer);
        if (fixture->wants_turn) {
            fixture->turns++;
            fixture->wants_turn = pipeline_turn(fixture->pipeline);
            busy = true;
        }
        pipeline_end_turn(fixture->pipeline);
    }
}

/* The protocol, whose input the tests read from the call. */

static void on_replies(struct call_core *core)
{
    assert_non_null(core->stream);
}

static void take_status(struct call_core *core)
{
    struct exchange *exchange = core->stream;

    if (exchange == NULL) {
        return;
    }
    assert_false(exchange->ended);
    exchange->ended = true;
    exchange->code = core->status.code;
    assert_true(arena_copy(&exchange->fixture->arena, core->status.message, &exchange->message));
    assert_true(arena_copy(&exchange->fixture->arena, core->status.details, &exchange->details));
}

/* The test sends the next messages. */
static void on_go_on(struct call_core *core)
{
    (void)core;
}

static void write_size(uint8_t *head, uint32_t bytes, bool compressed)
{
    assert_false(compressed);
    bytes_put_be32(head, bytes);
}

static const struct call_protocol protocol = {.reply_head_bytes = EXCHANGE_HEAD_BYTES,
                                              .write_head = write_size,
                                              .replies = on_replies,
                                              .finished = take_status,
                                              .expired = take_status,
                                              .go_on = on_go_on};

const struct call_protocol *exchange_protocol(void)
{
    return &protocol;
}

void exchange_open(struct exchange *exchange, struct fixture *fixture,
                   const struct exchange_start *start)
{
    struct call_core *core = call_open(fixture->calls, &protocol);
    struct slice path = arena_printf(&fixture->arena, "/%s", start->path);

    assert_non_null(core);
    *exchange = (struct exchange){.fixture = fixture, .core = core};
    core->stream = exchange;
    core->call.method = contract_find_method(path);
    assert_non_null(core->call.method);
    if (start->authorization != NULL) {
        assert_true(
            arena_copy(&core->arena, slice_text(start->authorization), &core->call.authorization));
    }
    core->call.authorization_repeated = start->authorization_repeated;
    if (start->idempotency_key != NULL) {
        assert_int_equal(
            call_take_metadata(core, SLICE("idempotency-key"), slice_text(start->idempotency_key)),
            OK);
    }
    if (start->timeout_us != 0) {
        core->call.deadline_us = clock_monotonic_us(fixture->ctx.clock) + start->timeout_us;
    }
    call_start(core);
}

/* Runs the pool's job that an earlier piece of a streamed request waits for. */
static void wait_for_piece(struct exchange *exchange)
{
    while (exchange->core->message_held && run_jobs(exchange->fixture)) {
    }
}

void exchange_send_bytes(struct exchange *exchange, struct slice request)
{
    struct call_core *core = exchange->core;
    bool kept = core->call.method->stream != METHOD_CLIENT_STREAM;
    uint8_t *bytes = NULL;

    wait_for_piece(exchange);
    arena_reset(&core->input_arena);
    bytes = arena_alloc(kept ? &core->arena : &core->input_arena, request.size + 1);
    assert_non_null(bytes);
    if (request.size > 0) {
        memcpy(bytes, request.data, request.size);
    }
    call_deliver(core, slice_of(bytes, request.size));
    if (!core->message_held) {
        arena_reset(
            &core->input_arena); /* a piece of a streamed request is freed once it was accepted */
    }
}

void exchange_send_part(struct exchange *exchange, const ProtobufCMessage *request)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    uint8_t *bytes = malloc(size + 1);

    assert_non_null(bytes);
    exchange_send_bytes(exchange, slice_of(bytes, protobuf_c_message_pack(request, bytes)));
    free(bytes);
}

void exchange_send_end(struct exchange *exchange)
{
    wait_for_piece(exchange);
    call_deliver_end(exchange->core);
}

void exchange_send(struct exchange *exchange, const ProtobufCMessage *request)
{
    exchange_send_part(exchange, request);
    exchange_send_end(exchange);
}

static void *allocate(void *data, size_t size)
{
    return arena_alloc(data, size);
}

static void release(void *data, void *pointer)
{
    (void)data; /* the fixture's arena frees it all at once */
    (void)pointer;
}

bool exchange_read_bytes(struct exchange *exchange, struct slice *ret_reply)
{
    uint8_t head[EXCHANGE_HEAD_BYTES];
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool end = false;

    if (call_output_ready(exchange->core, sizeof(head), &end) < sizeof(head)) {
        return false;
    }
    call_output_copy(exchange->core, head, sizeof(head));
    size = bytes_get_be32(head);
    bytes = arena_alloc(&exchange->fixture->arena, size + 1);
    assert_non_null(bytes);
    assert_int_equal(call_output_ready(exchange->core, size, &end), size);
    call_output_copy(exchange->core, bytes, size);
    exchange->read_bytes += size;
    call_output_moved(exchange->core);
    *ret_reply = slice_of(bytes, size);
    return true;
}

void *exchange_read(struct exchange *exchange, const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCAllocator allocator = {allocate, release, &exchange->fixture->arena};
    struct slice reply = {NULL, 0};
    void *message = NULL;

    if (!exchange_read_bytes(exchange, &reply)) {
        return NULL;
    }
    message = protobuf_c_message_unpack(descriptor, &allocator, reply.size, reply.data);
    assert_non_null(message);
    return message;
}

void exchange_close(struct exchange *exchange)
{
    struct call_core *core = exchange->core;

    exchange->core = NULL;
    if (core != NULL) {
        call_let_go(core);
    }
}

struct exchange fixture_call_whole(struct fixture *fixture, const struct exchange_start *start,
                                   const ProtobufCMessage *request)
{
    struct exchange exchange;

    exchange_open(&exchange, fixture, start);
    exchange_send(&exchange, request);
    fixture_run(fixture);
    assert_true(exchange.ended);
    exchange_close(&exchange);
    return exchange;
}

const ProtobufCMessageDescriptor *fixture_reply_of(const struct method_info *method)
{
    static const ProtobufCMessageDescriptor *const known[] = {
        &errata__v1__create_organization_response__descriptor,
        &errata__v1__list_organizations_response__descriptor,
        &errata__v1__create_token_response__descriptor,
        &errata__v1__list_tokens_response__descriptor,
        &errata__v1__revoke_token_response__descriptor,
        &errata__v1__get_settings_response__descriptor,
        &errata__v1__list_quotas_response__descriptor,
        &errata__v1__set_quota_response__descriptor,
        &errata__v1__update_settings_response__descriptor,
        &errata__v1__get_server_info_response__descriptor,
        &errata__v1__capture_feedback_event_response__descriptor,
        &errata__v1__batch_capture_feedback_events_response__descriptor,
        &errata__v1__get_feedback_event_response__descriptor,
        &errata__v1__list_feedback_events_response__descriptor,
        &errata__v1__get_examples_response__descriptor,
        &errata__v1__prepare_prompt_response__descriptor,
        &errata__v1__put_prompt_template_response__descriptor,
        &errata__v1__get_prompt_template_response__descriptor,
        &errata__v1__list_prompt_templates_response__descriptor,
        &errata__v1__record_extraction_response__descriptor,
        &errata__v1__get_event_response__descriptor,
        &errata__v1__list_events_response__descriptor,
        &errata__v1__retract_event_response__descriptor,
        &errata__v1__ingest_document_response__descriptor,
        &errata__v1__ingest_document_stream_response__descriptor,
        &errata__v1__get_document_response__descriptor,
        &errata__v1__list_documents_response__descriptor,
        &errata__v1__get_profile_response__descriptor,
        &errata__v1__list_profiles_response__descriptor,
        &errata__v1__list_families_response__descriptor,
        &errata__v1__get_family_response__descriptor,
        &errata__v1__merge_families_response__descriptor,
        &errata__v1__split_family_response__descriptor,
        &errata__v1__get_nearest_families_response__descriptor,
        &errata__v1__suggest_mapping_response__descriptor,
        &errata__v1__confirm_mapping_response__descriptor,
        &errata__v1__reject_mapping_response__descriptor,
        &errata__v1__match_lines_response__descriptor,
        &errata__v1__record_matches_response__descriptor,
        &errata__v1__list_audit_response__descriptor,
        &errata__v1__suspend_organization_response__descriptor,
        &errata__v1__resume_organization_response__descriptor,
        &errata__v1__delete_organization_response__descriptor,
        &errata__v1__rotate_token_response__descriptor,
        &errata__v1__get_mapping_response__descriptor,
        &errata__v1__list_mappings_response__descriptor,
        &errata__v1__get_learning_analytics_response__descriptor,
        &errata__v1__list_layout_coverage_response__descriptor,
        &errata__v1__get_experiment_report_response__descriptor,
        &errata__v1__explain_exposure_response__descriptor,
        &errata__v1__get_artifact_report_response__descriptor,
        &errata__v1__get_rule_set_report_response__descriptor,
        &errata__v1__propose_artifact_response__descriptor,
        &errata__v1__set_artifact_state_response__descriptor,
        &errata__v1__sanitize_response__descriptor,
        &errata__v1__embed_response__descriptor,
        &errata__v1__compare_texts_response__descriptor,
        &errata__v1__submit_verdict_response__descriptor,
        &errata__v1__score_document_response__descriptor,
        &errata__v1__get_verdict_stats_response__descriptor,
        &errata__v1__get_learned_rule_response__descriptor,
        &errata__v1__list_learned_rules_response__descriptor,
        &errata__v1__set_learned_rule_enabled_response__descriptor,
        &errata__v1__list_suggested_weights_response__descriptor,
        &errata__v1__apply_suggested_weights_response__descriptor,
        &errata__v1__propose_rules_response__descriptor,
        &errata__v1__import_learned_rules_response__descriptor,
        &errata__v1__submit_review_response__descriptor,
        &errata__v1__get_review_response__descriptor,
        &errata__v1__list_reviews_response__descriptor,
        &errata__v1__get_run_response__descriptor,
        &errata__v1__get_triggers_response__descriptor,
        &errata__v1__put_item_response__descriptor,
        &errata__v1__resolve_placeholders_response__descriptor,
        &errata__v1__set_trigger_thresholds_response__descriptor,
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (slice_equal(slice_text(known[i]->name), method->reply->full_name)) {
            return known[i];
        }
    }
    fail_msg("the reply of this method is not known to the fixture");
    return NULL;
}

enum status_code fixture_call(struct fixture *fixture, const struct exchange_start *start,
                              const ProtobufCMessage *request, void *ret_reply)
{
    struct exchange exchange;

    exchange_open(&exchange, fixture, start);
    exchange_send(&exchange, request);
    fixture_run(fixture);
    assert_true(exchange.ended);
    if (exchange.code == STATUS_OK && ret_reply != NULL) {
        *(void **)ret_reply =
            exchange_read(&exchange, fixture_reply_of(exchange.core->call.method));
        assert_non_null(*(void **)ret_reply);
    }
    exchange_close(&exchange);
    return exchange.code;
}

static void keep_secret(const Errata__V1__CreateTokenResponse *response,
                        char token[FIXTURE_TOKEN_BYTES])
{
    (void)snprintf(token, FIXTURE_TOKEN_BYTES, "Bearer %s", response->secret);
}

const char *fixture_make_org(struct fixture *fixture, const char *name,
                             char admin[FIXTURE_TOKEN_BYTES])
{
    Errata__V1__Organization organization = ERRATA__V1__ORGANIZATION__INIT;
    Errata__V1__CreateOrganizationRequest request = ERRATA__V1__CREATE_ORGANIZATION_REQUEST__INIT;
    Errata__V1__CreateOrganizationResponse *response = NULL;
    Errata__V1__Token token = ERRATA__V1__TOKEN__INIT;
    Errata__V1__CreateTokenRequest token_request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *token_response = NULL;
    struct exchange_start start = {.path = "errata.v1.AdminService/CreateOrganization",
                                   .authorization = fixture->admin};
    struct slice id;

    /* Ids are ordered by time. */
    clock_manual_advance(&fixture->clock, 1000);
    organization.name = (char *)(uintptr_t)name;
    request.organization = &organization;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    assert_true(arena_copy(&fixture->arena, slice_text(response->organization->id), &id));
    token.role = (Errata__V1__Role)ROLE_ADMIN;
    token_request.org_id = (char *)(uintptr_t)id.data;
    token_request.token = &token;
    start.path = "errata.v1.AdminService/CreateToken";
    assert_int_equal(fixture_call(fixture, &start, &token_request.base, &token_response),
                     STATUS_OK);
    ASSERT(token_response != NULL);
    keep_secret(token_response, admin);
    return (const char *)id.data;
}

void fixture_make_ending_token(struct fixture *fixture, const char *by, int64_t expire_at_us,
                               char token[FIXTURE_TOKEN_BYTES])
{
    Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.AdminService/CreateToken",
                                         .authorization = by};

    end.seconds = expire_at_us / 1000000;
    wanted.role = (Errata__V1__Role)ROLE_VIEWER;
    wanted.expires_at = &end;
    request.token = &wanted;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    keep_secret(response, token);
}

void fixture_make_token(struct fixture *fixture, const char *by, enum role role,
                        char token[FIXTURE_TOKEN_BYTES])
{
    bool is_person = role == ROLE_OPERATOR || role == ROLE_REVIEWER;

    fixture_make_user_token(fixture, by, role, is_person ? "anna" : NULL, token);
}

void fixture_make_user_token(struct fixture *fixture, const char *by, enum role role,
                             const char *user, char token[FIXTURE_TOKEN_BYTES])
{
    Errata__V1__Token wanted = ERRATA__V1__TOKEN__INIT;
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__CreateTokenResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.AdminService/CreateToken",
                                         .authorization = by};

    wanted.role = (Errata__V1__Role)role;
    if (user != NULL) {
        wanted._user_id_case = ERRATA__V1__TOKEN___USER_ID_USER_ID;
        wanted.user_id = (char *)(uintptr_t)user; /* it is only read */
    }
    request.token = &wanted;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    keep_secret(response, token);
}

Errata__V1__FeedbackEvent *fixture_capture(struct fixture *fixture, const char *token,
                                           const char *idempotency_key, const char *layout)
{
    char before[] = "{\"qty\":10}";
    char after[] = "{\"qty\":12}";
    char meta[48] = ""; /* the same with a key, so that the write can be repeated */
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = token,
                                         .idempotency_key = idempotency_key};

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = (char *)(uintptr_t)layout;
    if (idempotency_key == NULL) {
        fixture->captures++;
        (void)snprintf(meta, sizeof(meta), "{\"input_snippet\":\"line %u\"}", fixture->captures);
    }
    event.before_json = before;
    event.after_json = after;
    event.meta_json = meta;
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
    request.event = &event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    return response->event;
}

void fixture_key_id_of(const char *token, char key_id[9])
{
    memcpy(key_id, token + sizeof("Bearer errata_") - 1, 8);
    key_id[8] = '\0';
}

bool slice_has(struct slice whole, const char *text)
{
    return memmem(whole.data, whole.size, text, strlen(text)) != NULL;
}
