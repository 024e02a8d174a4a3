/*
 * fuzz_method.c: sequences of calls to a whole server without sockets (tests/rpc/fixture.h): any
 * method of the contract, its request filled by the generated tables, by anybody of two
 * organisations or of the server itself, with keys and deadlines, several at once, read or not,
 * cancelled, while time moves and batches are written when the input says so. After each sequence:
 * every call has ended once, with no code that blames the server; no one has seen another's canary;
 * the log's chain holds, and the tables are those that a replay of the log makes; nothing of any
 * call is left.
 */
#include "server/codec/proto_json.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_method_pick.h"
#include "tests/fuzz/method/request.h"
#include "tests/rpc/fixture.h"

#include <stdio.h>

#define STEPS_MAX 64
#define CALLS_MAX 8
#define ROLES 6
#define PARTIES 3
/* The administrator of the first start, whose token may name other organisations. */
#define PARTY_SERVER 2
#define FINGERPRINT_DIGITS 64
#define DAY_US (INT64_C(24) * 3600 * 1000000)
#define WORK_BYTES ((size_t)256 << 20)
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

struct party {
    const char *canary;
    char tokens[ROLES][FIXTURE_TOKEN_BYTES];
};

/* A call, and by whom. */
struct caller {
    struct exchange exchange;
    const struct party *party;
    bool used;
    bool sent_end;
};

struct sequence {
    struct fixture fixture;
    struct party parties[PARTIES];
    struct pool pool;
    struct caller callers[CALLS_MAX];
    unsigned calls; /* number of calls opened */
};

static void party_init(struct sequence *sequence, size_t which, const char *canary,
                       const char *admin)
{
    static const enum role roles[ROLES] = {ROLE_ADMIN,   ROLE_VIEWER,   ROLE_OPERATOR,
                                           ROLE_SERVICE, ROLE_REVIEWER, ROLE_INTEGRATOR};
    struct party *party = &sequence->parties[which];
    char key_id[9];

    party->canary = canary;
    (void)snprintf(party->tokens[0], FIXTURE_TOKEN_BYTES, "%s", admin);
    for (size_t i = 1; i < ROLES; i++) {
        if (which == PARTY_SERVER) {
            (void)snprintf(party->tokens[i], FIXTURE_TOKEN_BYTES, "%s", admin);
        } else {
            fixture_make_token(&sequence->fixture, admin, roles[i], party->tokens[i]);
        }
    }
    fixture_key_id_of(party->tokens[1], key_id);
    pool_add(&sequence->pool.key_ids, slice_text(key_id));
}

static void sequence_init(struct sequence *sequence)
{
    static const char *const canaries[PARTIES] = {"canary-of-A-51c9", "canary-of-B-8e27",
                                                  "canary-of-S-03fd"};
    char admin[FIXTURE_TOKEN_BYTES];

    memset(sequence, 0, sizeof(*sequence));
    fixture_init(&sequence->fixture);
    for (size_t i = 0; i < PARTY_SERVER; i++) {
        pool_add(&sequence->pool.uuids,
                 slice_text(fixture_make_org(&sequence->fixture, canaries[i], admin)));
        party_init(sequence, i, canaries[i], admin);
    }
    party_init(sequence, PARTY_SERVER, canaries[PARTY_SERVER], sequence->fixture.admin);
}

/* Compares byte by byte, since a fuzzer learns from the arguments of memmem. */
static bool contains(struct slice whole, const char *text)
{
    size_t size = strlen(text);

    for (size_t at = 0; at + size <= whole.size; at++) {
        size_t same = 0;

        while (same < size && whole.data[at + same] == (uint8_t)text[same]) {
            same++;
        }
        if (same == size) {
            return true;
        }
    }
    return false;
}

/* Checks that a caller has seen no data of others. The server's own administrator may list them. */
static void check_seen(const struct sequence *sequence, const struct caller *caller,
                       struct slice bytes)
{
    const struct method_info *method = caller->exchange.core->call.method;
    bool may_list = caller->party == &sequence->parties[PARTY_SERVER] &&
                    slice_equal(method->service, SLICE("errata.v1.AdminService"));

    for (size_t i = 0; i < PARTIES; i++) {
        const struct party *other = &sequence->parties[i];

        /* Names of organisations are given by the server's administrator to all. */
        ASSERT(other == caller->party || i == PARTY_SERVER || may_list ||
               !contains(bytes, other->canary));
    }
}

static bool is_uuid_at(struct slice bytes, size_t at)
{
    struct uuid uuid;

    return bytes.size - at >= UUID_TEXT_BYTES && bytes.data[at + 8] == '-' &&
           uuid_parse(slice_of(bytes.data + at, UUID_TEXT_BYTES), &uuid);
}

/* Returns the number of lower-case hex digits at this place, at most those of a fingerprint. */
static size_t count_hex(struct slice bytes, size_t at)
{
    size_t count = 0;

    while (at + count < bytes.size && count < FINGERPRINT_DIGITS) {
        uint8_t byte = bytes.data[at + count];

        if ((byte < '0' || byte > '9') && (byte < 'a' || byte > 'f')) {
            break;
        }
        count++;
    }
    return count;
}

static void harvest_texts(struct sequence *sequence, struct slice reply)
{
    for (size_t at = 0; at < reply.size; at++) {
        if (is_uuid_at(reply, at)) {
            pool_add(&sequence->pool.uuids, slice_of(reply.data + at, UUID_TEXT_BYTES));
            at += UUID_TEXT_BYTES - 1;
        } else if (count_hex(reply, at) == FINGERPRINT_DIGITS) {
            pool_add(&sequence->pool.fingerprints, slice_of(reply.data + at, FINGERPRINT_DIGITS));
            at += FINGERPRINT_DIGITS - 1;
        }
    }
}

/* Ids, fingerprints, references and page tokens, for later requests of any organisation. */
static void harvest(struct sequence *sequence, const struct message_info *message,
                    struct slice reply)
{
    struct wire_reader reader = wire_reader_of(reply);
    struct wire_field field;

    harvest_texts(sequence, reply);
    while (wire_next(&reader, &field) == OK) {
        const struct field_info *info = contract_find_field(message, field.number);

        if (info != NULL && slice_equal(info->name, SLICE("next_page_token"))) {
            pool_add(&sequence->pool.page_tokens, field.bytes);
        } else if (info != NULL && slice_equal(info->name, SLICE("exposure_ref"))) {
            pool_add(&sequence->pool.references, field.bytes);
        }
    }
}

/* A reply is a message of the contract, whole enough to be shown. */
static void check_reply(const struct method_info *method, struct slice reply)
{
    const struct proto_json_style style = {0};
    struct arena arena;
    struct fault fault;
    struct ctx ctx = {.arena = &arena, .clock = clock_system(), .fault = &fault};
    struct buffer json;

    arena_init(&arena, WORK_BYTES);
    fault_init(&fault, &arena);
    buffer_init(&json, &arena, 0);
    ASSERT(proto_json_write(&ctx, method->reply, reply, &style, &json) == OK);
    arena_deinit(&arena);
}

/* Reads what waits. */
static void read_replies(struct sequence *sequence, struct caller *caller)
{
    const struct method_info *method = caller->exchange.core->call.method;
    struct slice reply = {NULL, 0};
    unsigned count = 0;

    while (exchange_read_bytes(&caller->exchange, &reply)) {
        count++;
        check_seen(sequence, caller, reply);
        check_reply(method, reply);
        harvest(sequence, method->reply, reply);
    }
    if (method_has_one_reply(method) && caller->exchange.ended) {
        ASSERT(count <= 1);
        ASSERT(caller->exchange.code == STATUS_OK || count == 0);
    }
}

/* Checks that the status is not an internal error, since requests are well-formed and the store is
 * intact. */
static void check_status(struct sequence *sequence, struct caller *caller)
{
    struct exchange *exchange = &caller->exchange;

    if (exchange->ended) {
        ASSERT(exchange->code != STATUS_UNKNOWN && exchange->code != STATUS_INTERNAL &&
               exchange->code != STATUS_DATA_LOSS);
        check_seen(sequence, caller, exchange->message);
        check_seen(sequence, caller, exchange->details);
    }
}

static void close_call(struct sequence *sequence, struct caller *caller)
{
    if (caller->used) {
        read_replies(sequence, caller);
        check_status(sequence, caller);
        exchange_close(&caller->exchange);
        caller->used = false;
    }
}

static void send_part(struct sequence *sequence, struct fuzz_input *input, struct caller *caller)
{
    struct exchange *exchange = &caller->exchange;
    struct slice request =
        request_make(&sequence->fixture.arena, input, exchange->core->call.method->request,
                     &sequence->pool, caller->party->canary);

    if (!caller->sent_end && !exchange->ended && !exchange->core->full) {
        exchange_send_bytes(exchange, request);
    }
}

static void send_end(struct caller *caller)
{
    if (!caller->sent_end && !caller->exchange.ended && !caller->exchange.core->full) {
        exchange_send_end(&caller->exchange);
        caller->sent_end = true;
    }
}

/* Draws one of four keys, or none; sometimes an invalid one. */
static const char *draw_key(struct fuzz_input *input)
{
    static const char *const keys[] = {NULL, NULL, NULL, "k1", "k2", "k3", "", "key\x01"};

    return keys[fuzz_take_choice(input, COUNT_OF(keys))];
}

static const char *draw_token(struct fuzz_input *input, const struct party *party)
{
    uint8_t byte = fuzz_take_byte(input);

    if (byte >= 250) {
        return byte >= 253 ? NULL : "Bearer errata_01234567_unknown";
    }
    return byte < 128 ? party->tokens[0] : party->tokens[byte % ROLES];
}

static void start_call(struct sequence *sequence, struct fuzz_input *input)
{
    static const int64_t timeouts_us[] = {0, 0, 0, 1, 1000000, INT64_C(3600000000)};
    struct caller *caller = &sequence->callers[sequence->calls++ % CALLS_MAX];
    const struct method_info *method = fuzz_pick_method(input);
    struct exchange_start start = {.path = (const char *)method->path.data + 1};
    uint8_t how = 0;

    close_call(sequence, caller);
    caller->party = &sequence->parties[fuzz_take_choice(input, PARTIES)];
    caller->used = true;
    caller->sent_end = false;
    start.authorization = draw_token(input, caller->party);
    start.idempotency_key = draw_key(input);
    start.timeout_us = timeouts_us[fuzz_take_choice(input, COUNT_OF(timeouts_us))];
    exchange_open(&caller->exchange, &sequence->fixture, &start);
    how = fuzz_take_byte(input);
    if (how >= 240) {
        return; /* nothing has been sent */
    }
    send_part(sequence, input, caller);
    if (method_has_one_request(method) || how < 128) {
        send_end(caller);
    }
    if (how % 4 != 3) {
        fixture_run(&sequence->fixture);
    }
}

/* Continues a started call: sends a further message, or the unsent request. */
static void continue_call(struct sequence *sequence, struct fuzz_input *input)
{
    struct caller *caller = &sequence->callers[fuzz_take_choice(input, CALLS_MAX)];

    if (!caller->used) {
        return;
    }
    switch (fuzz_take_choice(input, 4)) {
    case 0:
        read_replies(sequence, caller);
        return;
    case 1:
        close_call(sequence, caller);
        return;
    case 2:
        if (!method_has_one_request(caller->exchange.core->call.method)) {
            send_end(caller);
        }
        return;
    default: /* the last of the four */
        if (!caller->sent_end) {
            send_part(sequence, input, caller);
            if (method_has_one_request(caller->exchange.core->call.method)) {
                send_end(caller);
            }
        }
        return;
    }
}

/* Time moves; the wall clock may go back by itself. */
static void pass(struct sequence *sequence, struct fuzz_input *input)
{
    static const int64_t steps_us[] = {1,
                                       1000,
                                       1000000,
                                       INT64_C(61) * 1000000,
                                       INT64_C(3600) * 1000000,
                                       INT64_C(26) * 3600 * 1000000,
                                       -INT64_C(3600) * 1000000,
                                       -1000};
    struct fixture *fixture = &sequence->fixture;
    int64_t step_us = steps_us[fuzz_take_choice(input, COUNT_OF(steps_us))];

    if (step_us > 0) {
        clock_manual_advance(&fixture->clock, step_us);
    } else {
        fixture->clock.wall_us += step_us;
    }
    sequence->pool.now_us = clock_wall_us(fixture->ctx.clock);
    /* After a clock was set back, keys may expire earlier than a day later. */
    fixture->keys_ended = fixture->keys_ended || sequence->pool.now_us < FIXTURE_START_US ||
                          sequence->pool.now_us - FIXTURE_START_US > DAY_US;
    call_server_tick(fixture->calls, clock_monotonic_us(fixture->ctx.clock));
    pipeline_end_expired(fixture->pipeline);
}

/* Makes the environment of the services busy, or normal again. */
static void trouble(struct sequence *sequence, struct fuzz_input *input)
{
    static const enum err results[] = {OK, ERR_BUSY, ERR_UNAVAILABLE};
    struct fixture *fixture = &sequence->fixture;
    enum err result = OK;

    fixture->pool_is_full = fuzz_take_choice(input, 4) == 1;
    result = results[fuzz_take_choice(input, COUNT_OF(results))];
    switch (fuzz_take_choice(input, 4)) {
    case 0:
        fixture->documents.open_result = result;
        return;
    case 1:
        fixture->documents.submit_result = result;
        return;
    case 2:
        fixture->documents.measure_result = result;
        return;
    default: /* the last of the four */
        fixture->documents.answer.cut = result == OK ? PDF_CUT_NONE : PDF_CUT_PATHS;
        return;
    }
}

/* Steps of the writer by themselves, so that calls meet its batches in the middle. */
static void write_step(struct sequence *sequence, struct fuzz_input *input)
{
    switch (fuzz_take_choice(input, 3)) {
    case 0:
        fixture_run(&sequence->fixture);
        return;
    case 1:
        (void)writer_step(sequence->fixture.writer);
        return;
    default: /* the last of the three */
        writer_complete(sequence->fixture.writer);
        return;
    }
}

static void step(struct sequence *sequence, struct fuzz_input *input)
{
    switch (fuzz_take_choice(input, 10)) {
    case 6:
        continue_call(sequence, input);
        return;
    case 7:
        pass(sequence, input);
        return;
    case 8:
        trouble(sequence, input);
        return;
    case 9:
        write_step(sequence, input);
        return;
    default: /* more than half of the cases */
        start_call(sequence, input);
        return;
    }
}

static void check_counts(struct fixture *fixture)
{
    struct call_stats stats = call_server_stats(fixture->calls);
    uint64_t ended = 0;

    for (size_t i = 0; i < COUNT_OF(stats.calls_ended); i++) {
        ended += stats.calls_ended[i];
    }
    ASSERT(ended == stats.calls_started + stats.calls_refused);
    ASSERT(stats.calls_live == 0);
    ASSERT(stats.body_bytes_live == 0);
    ASSERT(assert_unexpected_count() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sequence sequence;
    struct fuzz_input input = fuzz_input_of(data, size);

    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    sequence_init(&sequence);
    sequence.pool.now_us = clock_wall_us(sequence.fixture.ctx.clock);
    if (contains(input.rest, "canary")) {
        input.rest.size = 0; /* as if the input had ended */
    }
    for (unsigned i = 0; i < STEPS_MAX && !fuzz_is_over(&input); i++) {
        step(&sequence, &input);
    }
    fixture_run(&sequence.fixture);
    for (size_t i = 0; i < CALLS_MAX; i++) {
        close_call(&sequence, &sequence.callers[i]);
    }
    fixture_run(&sequence.fixture);
    check_counts(&sequence.fixture);
    fixture_deinit(&sequence.fixture); /* also verifies the store */
    return 0;
}
