/*
 * fuzz_rows.c: a whole server without sockets (tests/rpc/fixture.h) whose store has damaged rows:
 * bytes of the input in the place of a value, or of a part of one, rows that are gone, values of
 * other keys. Every call is answered all the same, by a reply or a status, and a verification says
 * what it found; nothing is taken for granted of what the disk gave (no UNEXPECTED, no assertion,
 * no undefined behaviour).
 */
#include "server/codec/proto_json.h"
#include "server/domain/replay/replay.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/rpc/fixture.h"

#include <stdio.h>

#define DAMAGES_MAX 4
#define ROWS_MAX 256
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

struct request {
    const char *path;
    const char *json; /* a JSON object; `ID` means the id of the first correction */
    const char *key; /* idempotency key, or NULL */
};

#define CAPTURE "errata.v1.FeedbackService/CaptureFeedbackEvent"
#define INGEST "errata.v1.LayoutService/IngestDocument"

/* Requests that fill the store. */
static const struct request history[] = {
    {INGEST, "{\"document_id\":\"d1\",\"content\":\"JVBERi0x\"}", NULL},
    {INGEST, "{\"document_id\":\"d2\",\"content\":\"JVBERi0y\"}", "k2"},
    {CAPTURE,
     "{\"event\":{\"event_type\":\"EXTRACTION_LINE_CORRECTED\",\"layout_fingerprint\":\"layout\","
     "\"entity_type\":\"line\",\"entity_id\":\"1\",\"document_id\":\"d1\",\"draft_order_id\":\"o\","
     "\"before_json\":\"{\\\"qty\\\":1,\\\"sku\\\":2}\",\"after_json\":\"{\\\"qty\\\":2}\"}}",
     "k1"},
    {CAPTURE,
     "{\"event\":{\"event_type\":\"EXTRACTION_LINE_CORRECTED\",\"layout_fingerprint\":\"layout\","
     "\"entity_type\":\"line\",\"entity_id\":\"1\",\"before_json\":\"{\\\"qty\\\":2}\","
     "\"after_json\":\"{\\\"qty\\\":3}\"}}",
     NULL},
    {CAPTURE,
     "{\"event\":{\"event_type\":\"EXTRACTION_FIELD_CORRECTED\",\"layout_fingerprint\":\"layout\","
     "\"created_at\":\"2025-12-31T00:00:00Z\",\"before_json\":\"{\\\"total\\\":2}\","
     "\"after_json\":\"{\\\"total\\\":3}\",\"meta_json\":\"{\\\"a\\\":1}\"}}",
     NULL},
};

/* Requests to test: reads first, then writes. */
static const struct request questions[] = {
    {"errata.v1.PromptService/GetExamples", "{\"layout_fingerprint\":\"layout\"}", NULL},
    {"errata.v1.PromptService/GetExamples",
     "{\"layout_fingerprint\":\"layout\",\"document_id\":\"d1\",\"view\":\"BOTH\","
     "\"include_superseded\":true}",
     NULL},
    {"errata.v1.FeedbackService/ListFeedbackEvents", "{\"page_size\":2}", NULL},
    {"errata.v1.FeedbackService/ListFeedbackEvents", "{\"layout_fingerprint\":\"layout\"}", NULL},
    {"errata.v1.FeedbackService/ListFeedbackEvents",
     "{\"entity_type\":\"line\",\"entity_id\":\"1\",\"field\":\"qty\"}", NULL},
    {"errata.v1.FeedbackService/GetFeedbackEvent", "{\"id\":\"ID\"}", NULL},
    {"errata.v1.EventService/GetEvent", "{\"id\":\"ID\"}", NULL},
    {"errata.v1.EventService/GetEvent", "{\"seq\":\"1\"}", NULL},
    {"errata.v1.EventService/ListEvents", "{}", NULL},
    {"errata.v1.EventService/WatchEvents", "{\"from_seq\":\"1\"}", NULL},
    {"errata.v1.LayoutService/GetDocument", "{\"document_id\":\"d1\"}", NULL},
    {"errata.v1.LayoutService/ListDocuments", "{}", NULL},
    {"errata.v1.LayoutService/ListProfiles", "{\"order\":\"LAST_SEEN\"}", NULL},
    {"errata.v1.LayoutService/ListProfiles", "{\"order\":\"MOST_SEEN\"}", NULL},
    {"errata.v1.AdminService/ListTokens", "{}", NULL},
    {"errata.v1.AdminService/ListOrganizations", "{}", NULL},
    {CAPTURE,
     "{\"event\":{\"event_type\":\"EXTRACTION_LINE_CORRECTED\",\"layout_fingerprint\":\"layout\","
     "\"entity_type\":\"line\",\"entity_id\":\"1\",\"document_id\":\"d1\","
     "\"before_json\":\"{\\\"qty\\\":3}\",\"after_json\":\"{\\\"qty\\\":4}\"}}",
     "k1"},
    {CAPTURE,
     "{\"event\":{\"event_type\":\"EXTRACTION_LINE_CORRECTED\",\"layout_fingerprint\":\"layout\","
     "\"entity_type\":\"line\",\"entity_id\":\"1\",\"document_id\":\"d2\","
     "\"before_json\":\"{\\\"qty\\\":3}\",\"after_json\":\"{\\\"qty\\\":4}\"}}",
     NULL},
    {INGEST, "{\"document_id\":\"d1\",\"content\":\"JVBERi0x\"}", NULL},
    {INGEST, "{\"document_id\":\"d3\",\"content\":\"JVBERi0z\"}", "k2"},
    {"errata.v1.AdminService/CreateToken", "{\"token\":{\"role\":\"VIEWER\"}}", NULL},
    {"errata.v1.AdminService/CreateOrganization", "{\"organization\":{\"name\":\"new\"}}", NULL},
    {"errata.v1.EventService/ListEvents", "{\"page_size\":3}", NULL},
};

/* The table of a row, and where its key and value are in the fixture's arena. */
struct row {
    enum store_table table;
    struct slice key;
    struct slice value;
};

struct rows {
    struct row rows[ROWS_MAX];
    size_t count;
};

static struct slice request_bytes(struct fixture *fixture, const struct request *request,
                                  const char *id)
{
    char path[128];
    struct buffer json;
    struct buffer wire;
    const char *place = strstr(request->json, "\"ID\"");
    const struct method_info *method = NULL;

    (void)snprintf(path, sizeof(path), "/%s", request->path);
    method = contract_find_method(slice_text(path));
    ASSERT(method != NULL);
    buffer_init(&json, &fixture->arena, 0);
    buffer_init(&wire, &fixture->arena, 0);
    if (place == NULL) {
        buffer_append(&json, slice_text(request->json));
    } else {
        buffer_append(&json, slice_of(request->json, (size_t)(place - request->json)));
        buffer_printf(&json, "\"%s\"%s", id, place + sizeof("\"ID\"") - 1);
    }
    ASSERT(proto_json_read(&fixture->ctx, method->request, buffer_slice(&json), true, &wire) == OK);
    return buffer_slice(&wire);
}

/* A whole call; it ends, but for a watch. */
static enum status_code call(struct fixture *fixture, const struct request *request, const char *id,
                             struct slice *ret_reply)
{
    const struct exchange_start start = {
        .path = request->path, .authorization = fixture->admin, .idempotency_key = request->key};
    struct exchange exchange;
    struct slice reply = {NULL, 0};

    exchange_open(&exchange, fixture, &start);
    if (!exchange.ended) {
        exchange_send_bytes(&exchange, request_bytes(fixture, request, id));
    }
    if (!exchange.ended) {
        exchange_send_end(&exchange);
    }
    fixture_run(fixture);
    ASSERT(exchange.ended || exchange.core->call.method->stream == METHOD_SERVER_STREAM);
    while (exchange_read_bytes(&exchange, &reply)) {
        *ret_reply = reply;
    }
    exchange_close(&exchange);
    return exchange.ended ? exchange.code : STATUS_OK;
}

/* Makes the history; gives the id of its first correction. */
static void make_history(struct fixture *fixture, char id[UUID_TEXT_BYTES + 1])
{
    struct slice reply = {NULL, 0};

    id[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(history); i++) {
        ASSERT(call(fixture, &history[i], id, &reply) == STATUS_OK);
        if (id[0] == '\0' && strcmp(history[i].path, CAPTURE) == 0) {
            Errata__V1__CaptureFeedbackEventResponse *response =
                errata__v1__capture_feedback_event_response__unpack(NULL, reply.size, reply.data);

            ASSERT(response != NULL);
            (void)snprintf(id, UUID_TEXT_BYTES + 1, "%s", response->event->id);
            errata__v1__capture_feedback_event_response__free_unpacked(response, NULL);
        }
    }
}

static void list_prefix(struct fixture *fixture, struct store_txn *txn, enum store_table table,
                        struct slice prefix, struct rows *rows)
{
    struct store_cursor cursor;
    struct slice key;
    struct slice value;

    ASSERT(store_cursor_init(&cursor, txn, table, prefix, slice_of(NULL, 0), STORE_ASCENDING) ==
           OK);
    while (rows->count < ROWS_MAX && store_cursor_next(&cursor, &key, &value) == OK) {
        struct row *row = &rows->rows[rows->count++];

        row->table = table;
        ASSERT(arena_copy(&fixture->arena, key, &row->key));
        ASSERT(arena_copy(&fixture->arena, value, &row->value));
    }
    store_cursor_deinit(&cursor);
}

/* Every row of the store: those of the one organisation, and those of none. */
static void list_rows(struct fixture *fixture, struct rows *rows)
{
    struct key zero = key_global_prefix();
    struct store_txn *txn = NULL;
    struct slice org = {NULL, 0};

    rows->count = 0;
    ASSERT(store_begin(fixture->backend, STORE_READ, &txn) == OK);
    list_prefix(fixture, txn, TABLE_ORGANIZATION, key_slice(&zero), rows);
    ASSERT(rows->count == 1);
    org = slice_after(rows->rows[0].key, UUID_BYTES);
    rows->count = 0;
    for (unsigned table = 0; table < TABLE_COUNT; table++) {
        list_prefix(fixture, txn, (enum store_table)table, key_slice(&zero), rows);
        list_prefix(fixture, txn, (enum store_table)table, org, rows);
    }
    store_abort(txn);
    ASSERT(rows->count < ROWS_MAX);
}

/* A message with another number in its field at `place`, or with another text there. */
static struct slice change_field(struct fixture *fixture, struct slice message, uint32_t place,
                                 uint64_t number, struct slice text)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    struct buffer changed;

    buffer_init(&changed, &fixture->arena, message.size + 16);
    for (uint32_t i = 0; wire_next(&reader, &field) == OK; i++) {
        if (field.type == WIRE_BYTES) {
            wire_put_bytes(&changed, field.number, i == place ? text : field.bytes);
        } else {
            wire_put_raw(&changed, field.number, field.type, i == place ? number : field.value);
        }
    }
    ASSERT(buffer_ok(&changed));
    return buffer_slice(&changed);
}

/* The field of a record, or of the message in its first field, set to the edge of what fits. */
static struct slice draw_edge(struct fixture *fixture, struct fuzz_input *input, struct slice value)
{
    static const uint64_t edges[] = {0,         1,          INT64_MAX, (uint64_t)INT64_MIN,
                                     INT32_MAX, UINT32_MAX, UINT64_MAX};
    uint8_t place = fuzz_take_byte(input);
    uint64_t number = edges[fuzz_take_choice(input, COUNT_OF(edges))];
    struct slice text = fuzz_take_text(input);
    struct wire_reader reader = wire_reader_of(value);
    struct wire_field first;

    if ((place & 0x80) == 0 || wire_next(&reader, &first) != OK || first.type != WIRE_BYTES) {
        return change_field(fixture, value, place & 0x7f, number, text);
    }
    return change_field(fixture, value, 0, 0,
                        change_field(fixture, first.bytes, place & 0x7f, number, text));
}

/* Replaces some bytes of the value by those of the input. */
static struct slice draw_splice(struct fixture *fixture, struct fuzz_input *input,
                                struct slice value)
{
    size_t at = fuzz_take_number(input, 2) % (value.size + 1);
    size_t gone = fuzz_take_byte(input) % (value.size - at + 1);
    struct buffer changed;

    buffer_init(&changed, &fixture->arena, 0);
    buffer_append(&changed, slice_of(value.data, at));
    buffer_append(&changed, fuzz_take_text(input));
    buffer_append(&changed, slice_after(value, at + gone));
    ASSERT(buffer_ok(&changed));
    return buffer_slice(&changed);
}

/* Draws the replacement of a value. */
static struct slice draw_value(struct fixture *fixture, struct fuzz_input *input,
                               const struct rows *rows, struct slice value)
{
    switch (fuzz_take_choice(input, 4)) {
    case 0:
        return fuzz_take_text(input);
    case 1:
        return rows->rows[fuzz_take_byte(input) % rows->count].value;
    case 2:
        return draw_splice(fixture, input, value);
    default: /* the last of the four */
        return draw_edge(fixture, input, value);
    }
}

static void damage(struct fixture *fixture, struct fuzz_input *input)
{
    static struct rows rows;
    struct store_txn *txn = NULL;
    unsigned damages = 1 + fuzz_take_choice(input, DAMAGES_MAX);

    list_rows(fixture, &rows);
    ASSERT(store_begin(fixture->backend, STORE_WRITE, &txn) == OK);
    for (unsigned i = 0; i < damages; i++) {
        const struct row *row = &rows.rows[fuzz_take_byte(input) % rows.count];

        if (fuzz_take_choice(input, 8) == 7) {
            enum err err = store_del(txn, row->table, row->key);

            ASSERT(err == OK || err == ERR_NOT_FOUND);
        } else {
            ASSERT(store_put(txn, row->table, row->key,
                             draw_value(fixture, input, &rows, row->value)) == OK);
        }
    }
    ASSERT(store_commit(txn) == OK);
}

static void verify(struct fixture *fixture)
{
    struct replay_report *report = arena_calloc(&fixture->arena, 1, sizeof(*report));
    struct store_backend *target = NULL;
    struct replay_config config = {
        .source = fixture->backend, .clock = fixture->ctx.clock, .random = fixture->ctx.random};
    enum err err = OK;

    ASSERT(report != NULL);
    ASSERT(store_memory_open(&target) == OK);
    config.target = target;
    err = replay_verify(&config, report);
    ASSERT(err == OK || err == ERR_CORRUPT);
    store_memory_close(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fixture fixture;
    struct fuzz_input input = fuzz_input_of(data, size);
    char id[UUID_TEXT_BYTES + 1];
    struct slice reply = {NULL, 0};

    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    fixture_init(&fixture);
    make_history(&fixture, id);
    damage(&fixture, &input);
    fixture.is_damaged = true;
    verify(&fixture);
    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        (void)call(&fixture, &questions[i], id, &reply);
    }
    fixture_deinit(&fixture);
    ASSERT(assert_unexpected_count() == 0);
    return 0;
}
