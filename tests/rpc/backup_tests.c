/*
 * backup_tests.c: AdminService/Backup through calls, over bytes that a test makes.
 */
#include "tests/rpc/fixture.h"

#include "server/pipeline/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PATH "errata.v1.AdminService/Backup"

/* Replacement of the app's backup. */
struct fake {
    struct backup_jobs jobs;
    struct backup_state state;
    struct org_id org; /* organisation of the stream that started it */
    uint8_t bytes[4 * BACKUP_MESSAGE_BYTES_MAX];
    size_t ready_bytes; /* number of those bytes that may be taken */
    size_t taken_bytes;
    unsigned starts;
    unsigned cancels;
    enum err start_result;
    uint8_t since[64]; /* position of the last start */
    size_t since_bytes;
};

static enum err start(void *user, struct org_id org, struct slice since, struct fault *fault)
{
    struct fake *fake = user;

    fake->since_bytes = since.size;
    if (since.size > 0 && since.size <= sizeof(fake->since)) {
        memcpy(fake->since, since.data, since.size);
    }

    if (fake->start_result != OK) {
        return fault_say(fault, fake->start_result, "not now");
    }
    fake->starts++;
    fake->org = org;
    fake->state = (struct backup_state){.total_bytes = 100000, .format_version = 3};
    fake->ready_bytes = 0;
    fake->taken_bytes = 0;
    return OK;
}

static const struct backup_state *state_of(void *user)
{
    return &((struct fake *)user)->state;
}

static struct slice take(void *user)
{
    struct fake *fake = user;
    size_t size = fake->ready_bytes - fake->taken_bytes;
    struct slice bytes;

    size = size < BACKUP_MESSAGE_BYTES_MAX ? size : BACKUP_MESSAGE_BYTES_MAX;
    bytes = slice_of(fake->bytes + fake->taken_bytes, size);
    fake->taken_bytes += size;
    return bytes;
}

static void cancel(void *user)
{
    ((struct fake *)user)->cancels++;
}

static struct fake *init(struct fixture *fixture)
{
    static struct fake fake;

    fixture_init(fixture);
    memset(&fake, 0, sizeof(fake));
    fake.jobs = (struct backup_jobs){&fake, start, state_of, take, cancel};
    for (size_t i = 0; i < sizeof(fake.bytes); i++) {
        fake.bytes[i] = (uint8_t)(i * 7 + i / 256);
    }
    fixture->pipeline->config.backup = &fake.jobs;
    return &fake;
}

static void come(struct fixture *fixture, struct fake *fake, size_t size)
{
    fake->ready_bytes += size;
    pipeline_wake_backup(fixture->pipeline, fake->org);
    fixture_run(fixture);
}

static void end(struct fixture *fixture, struct fake *fake, enum err err)
{
    fake->state.ended = true;
    fake->state.err = err;
    come(fixture, fake, 0);
}

static void begin_since(struct exchange *exchange, struct fixture *fixture, const char *token,
                        struct slice since)
{
    const struct exchange_start call = {.path = PATH, .authorization = token};
    Errata__V1__BackupRequest request = ERRATA__V1__BACKUP_REQUEST__INIT;

    request.since.data = (uint8_t *)(uintptr_t)since.data;
    request.since.len = since.size;
    exchange_open(exchange, fixture, &call);
    exchange_send(exchange, &request.base);
    fixture_run(fixture);
}

static void begin(struct exchange *exchange, struct fixture *fixture, const char *token)
{
    begin_since(exchange, fixture, token, slice_of(NULL, 0));
}

static Errata__V1__BackupResponse *next(struct exchange *exchange)
{
    return exchange_read(exchange, &errata__v1__backup_response__descriptor);
}

/* Goal: the bytes are sent in order, each once, with the progress; then the report, and the end.
 * Method: pieces smaller and larger than a message, with a commit of the organisation in
 * between. */
static void test_backup_sends_each_byte_once_then_a_report(void **state)
{
    struct fixture fixture;
    struct fake *fake = init(&fixture);
    struct exchange exchange;
    Errata__V1__BackupResponse *response = NULL;
    size_t at = 0;

    (void)state;
    begin(&exchange, &fixture, fixture.admin);
    assert_null(next(&exchange));
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    assert_null(next(&exchange));
    come(&fixture, fake, 10);
    response = next(&exchange);
    assert_int_equal(response->data.len, 10);
    assert_int_equal(response->progress->sent_bytes, 10);
    assert_int_equal(response->progress->total_bytes, 100000);
    assert_null(response->report);
    at = 10;
    come(&fixture, fake, 2 * BACKUP_MESSAGE_BYTES_MAX);
    while (at < 10 + 2 * BACKUP_MESSAGE_BYTES_MAX) {
        response = next(&exchange);
        assert_non_null(response);
        assert_in_range(response->data.len, 1, BACKUP_MESSAGE_BYTES_MAX);
        assert_memory_equal(response->data.data, fake->bytes + at, response->data.len);
        at += response->data.len;
        assert_int_equal(response->progress->sent_bytes, at);
        assert_true(response->progress->total_bytes >= at);
        fixture_run(&fixture);
    }
    fake->state.file_bytes = at;
    fake->state.created_at_us = FIXTURE_START_US;
    fake->state.file_sha256 = sha256(slice_of(fake->bytes, at));
    fake->state.position = SLICE("position");
    end(&fixture, fake, OK);
    response = next(&exchange);
    assert_int_equal(response->report->position.len, sizeof("position") - 1);
    assert_null(response->progress);
    assert_int_equal(response->data.len, 0);
    assert_int_equal(response->report->size_bytes, at);
    assert_int_equal(strlen(response->report->sha256), 2 * SHA256_BYTES);
    assert_int_equal(response->report->created_at->seconds, FIXTURE_START_US / 1000000);
    assert_int_equal(response->report->format_version, 3);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    assert_int_equal(fake->cancels, 1);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: no more is read from the copy than the peer reads, and a failure ends a stream whose peer
 * does not read. Method: a peer that reads nothing; another that reads all. */
static void test_backup_reads_no_more_than_the_peer(void **state)
{
    struct fixture fixture;
    struct fake *fake = init(&fixture);
    struct exchange exchange;
    size_t before = 0;
    size_t read = 0;

    (void)state;
    begin(&exchange, &fixture, fixture.admin);
    come(&fixture, fake, sizeof(fake->bytes));
    before = fake->taken_bytes;
    assert_in_range(before, 1, CALL_OUTPUT_BYTES_HIGH + BACKUP_MESSAGE_BYTES_MAX);
    come(&fixture, fake, 0); /* a wake-up does not make it read */
    assert_int_equal(fake->taken_bytes, before);
    fake->state.ended = true;
    fake->state.err = ERR_DEADLINE;
    pipeline_end_backup(fixture.pipeline);
    fixture_run(&fixture);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_DEADLINE_EXCEEDED);
    exchange_close(&exchange);
    begin(&exchange, &fixture, fixture.admin);
    come(&fixture, fake, sizeof(fake->bytes));
    for (unsigned turns = 0; read < sizeof(fake->bytes) && turns < 100; turns++) {
        Errata__V1__BackupResponse *response = next(&exchange);

        read += response != NULL ? response->data.len : 0;
        fixture_run(&fixture);
    }
    assert_int_equal(read, sizeof(fake->bytes));
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: it needs the server flag, and a failure states why. Method: an administrator without the
 * flag, one that runs already, one that fails in the middle, and a server without backups. */
static void test_backup_without_the_server_flag_is_refused(void **state)
{
    struct fixture fixture;
    struct fake *fake = init(&fixture);
    struct exchange exchange;
    char admin[FIXTURE_TOKEN_BYTES];

    (void)state;
    (void)fixture_make_org(&fixture, "second", admin);
    begin(&exchange, &fixture, admin);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    exchange_close(&exchange);
    fake->start_result = ERR_PRECONDITION;
    begin(&exchange, &fixture, fixture.admin);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "not now"));
    exchange_close(&exchange);
    assert_int_equal(fake->starts + fake->cancels, 0);
    fake->start_result = OK;
    begin(&exchange, &fixture, fixture.admin);
    memcpy(fake->state.why, "too slow", sizeof("too slow"));
    end(&fixture, fake, ERR_DEADLINE);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_DEADLINE_EXCEEDED);
    assert_true(slice_has(exchange.message, "too slow"));
    assert_int_equal(fake->cancels, 1);
    exchange_close(&exchange);
    fixture.pipeline->config.backup = NULL;
    begin(&exchange, &fixture, fixture.admin);
    assert_int_equal(exchange.code, STATUS_UNIMPLEMENTED);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: the position of an increment reaches the copy; bytes that are not one are refused. Method: organisations in order,
 * in the wrong order, and one that is cut off. */
static void test_backup_takes_only_a_position_in_since(void **state)
{
    struct fixture fixture;
    struct fake *fake = init(&fixture);
    struct exchange exchange;
    uint8_t position[48] = {[15] = 1, [23] = 7, [39] = 2, [47] = 9};

    (void)state;
    begin_since(&exchange, &fixture, fixture.admin, slice_of(position, sizeof(position)));
    assert_int_equal(fake->starts, 1);
    assert_int_equal(fake->since_bytes, sizeof(position));
    assert_memory_equal(fake->since, position, sizeof(position));
    exchange_close(&exchange);
    fixture_run(&fixture);
    for (unsigned i = 0; i < 2; i++) {
        position[15] = 3;
        begin_since(&exchange, &fixture, fixture.admin,
                    slice_of(position, sizeof(position) - (i == 0 ? 0 : 1)));
        assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
        exchange_close(&exchange);
    }
    assert_int_equal(fake->starts, 1);
    fixture_deinit(&fixture);
}

/* Goal: a disconnecting caller and a stopping server cancel it. Method: both. */
static void test_disconnect_and_drain_cancel_a_backup(void **state)
{
    struct fixture fixture;
    struct fake *fake = init(&fixture);
    struct exchange exchange;

    (void)state;
    begin(&exchange, &fixture, fixture.admin);
    come(&fixture, fake, sizeof(fake->bytes));
    exchange_close(&exchange);
    fixture_run(&fixture);
    assert_int_equal(fake->cancels, 1);
    begin(&exchange, &fixture, fixture.admin);
    pipeline_drain(fixture.pipeline);
    fixture_run(&fixture);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_UNAVAILABLE);
    assert_int_equal(fake->cancels, 2);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

int run_backup_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backup_sends_each_byte_once_then_a_report),
        cmocka_unit_test(test_backup_reads_no_more_than_the_peer),
        cmocka_unit_test(test_backup_without_the_server_flag_is_refused),
        cmocka_unit_test(test_backup_takes_only_a_position_in_since),
        cmocka_unit_test(test_disconnect_and_drain_cancel_a_backup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
