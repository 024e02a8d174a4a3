/*
 * import_check.c: see import_check.h.
 */
#include "server/domain/transfer/import_check.h"

#include "store/base/bytes.h"
#include "store/base/view.h"
#include "store/base/wire.h"

#include <errata/v1/event.fields.h>
#include <inttypes.h>
#include <stdio.h>

#define PATH_BYTES_MAX 64

/* Adds a fault for a field of an event of the request. */
static void fail(struct ctx *ctx, size_t index, const char *field, const char *what)
{
    char path[PATH_BYTES_MAX];
    int size = snprintf(path, sizeof(path), "events[%zu].%s", index, field);

    fault_add(ctx->fault, slice_of(path, size > 0 ? (size_t)size : 0), "%s", what);
}

void import_check_header(struct ctx *ctx, const struct export_source *source)
{
    if (source->version != EXPORT_VERSION) {
        fault_add(ctx->fault, SLICE("header.version"),
                  "%" PRIu32 "; expected %d: a newer export needs a newer server", source->version,
                  EXPORT_VERSION);
    }
    if (source->store_format < EXPORT_STORE_FORMAT_OLDEST ||
        source->store_format > EXPORT_STORE_FORMAT) {
        fault_add(ctx->fault, SLICE("header.store_format"),
                  "%" PRIu32 "; expected %d to %d, which this server reads", source->store_format,
                  EXPORT_STORE_FORMAT_OLDEST, EXPORT_STORE_FORMAT);
    }
}

static void check_place(struct ctx *ctx, const struct event *event, size_t index,
                        const struct import_place *place)
{
    char what[PATH_BYTES_MAX * 2];

    if (event->seq != place->seq + 1) {
        (void)snprintf(what, sizeof(what), "%" PRIu64 "; expected %" PRIu64 ", the next event",
                       event->seq, place->seq + 1);
        fail(ctx, index, "seq", what);
    }
    if (memcmp(event->id.bytes, place->id.bytes, UUID_BYTES) <= 0) {
        fail(ctx, index, "id", "not after that of the event before it; expected a later id");
    }
    if ((event->seq == 1) != (event->kind == EVENT_ORGANIZATION_CREATED)) {
        fail(ctx, index, "kind",
             "wrong place; expected ORGANIZATION_CREATED as the first event, and nowhere else");
    }
    if (event->write_index != 0 && event->write_index != place->write_index + 1) {
        fail(ctx, index, "write_index", "leaves a gap; expected 0, or one more than before");
    }
}

/* Returns whether an id is one of uuid_v7 with a time that is not after `latest_us`: later ids are to sort after it. */
static bool is_event_id(struct uuid id, int64_t latest_us)
{
    uint64_t milliseconds = bytes_get_be64(id.bytes) >> 16;

    return id.bytes[6] >> 4 == 7 && id.bytes[8] >> 6 == 2 &&
           milliseconds <= (uint64_t)latest_us / 1000;
}

static void check_times(struct ctx *ctx, const struct event *event, size_t index,
                        const struct import_place *place)
{
    int64_t latest_us = clock_wall_us(ctx->clock) + IMPORT_CLOCK_AHEAD_US;

    if (event->recorded_at_us > latest_us || event->created_at_us > latest_us) {
        fail(ctx, index, "recorded_at",
             "later than this server's clock; expected a time that has passed");
    }
    if (!is_event_id(event->id, latest_us)) {
        fail(ctx, index, "id",
             "not an id of an event; expected a UUIDv7 of a time that has passed");
    }
    if (event->recorded_at_us < place->recorded_at_us || event->recorded_at_us <= 0) {
        fail(ctx, index, "recorded_at",
             "before that of the event before it; expected an equal or later time");
    }
    if (event->source != SOURCE_BACKFILL && event->created_at_us > event->recorded_at_us) {
        fail(ctx, index, "created_at", "after recorded_at; expected an equal or earlier time");
    }
}

/* Returns whether the numbers of all fields of a message are from `first` to below `end`. */
static bool has_fields(struct slice message, uint32_t first, uint32_t end)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = wire_next(&reader, &field);

    while (err == OK && field.number >= first && field.number < end) {
        err = wire_next(&reader, &field);
    }
    return err == ERR_NOT_FOUND;
}

/* Returns whether the document of DOCUMENT_INGESTED, too, has only facts. */
static bool has_document_facts(struct slice facts)
{
    struct wire_reader reader = wire_reader_of(facts);
    struct wire_field field;
    bool has_facts = true;

    while (has_facts && wire_next(&reader, &field) == OK) {
        has_facts = field.number != DOCUMENT_INGESTED_DOCUMENT_FIELD || field.type != WIRE_BYTES ||
                    has_fields(field.bytes, 1, VIEW_CONTENT_FIELD_MIN);
    }
    return has_facts;
}

/* A removal of content removes all of it, and no fact. */
static void check_split(struct ctx *ctx, const struct event *event, size_t index)
{
    if (!has_fields(event->facts, 1, VIEW_CONTENT_FIELD_MIN) ||
        (event->kind == EVENT_DOCUMENT_INGESTED && !has_document_facts(event->facts))) {
        fail(ctx, index, "facts", "a field of the content; expected fields below 20");
    }
    if (!has_fields(event->content, VIEW_CONTENT_FIELD_MIN, UINT32_MAX) ||
        (event->kind == EVENT_TOKEN_CREATED && event->content.size > 0)) {
        fail(ctx, index, "content", "a field of the facts; expected fields from 20 on");
    }
}

static void check_parts(struct ctx *ctx, const struct event *event, size_t index)
{
    bool has_content = event->content.size > 0;

    check_split(ctx, event, index);
    if (event->content_removed && bytes_are_zero(event->content_sha256.bytes, SHA256_BYTES)) {
        fail(ctx, index, "content_sha256", "zeros; expected the hash of the removed content");
    }
    if (event->content_removed && has_content) {
        fail(ctx, index, "content", "present, but removed; expected none");
    }
    if (event->salt.size != (has_content ? (size_t)EVENT_SALT_BYTES : 0)) {
        fail(ctx, index, "salt", "wrong size; expected 16 bytes with content, else none");
    }
}

void import_check_event(struct ctx *ctx, const struct event *event, size_t index,
                        struct import_place *place)
{
    check_place(ctx, event, index, place);
    check_times(ctx, event, index, place);
    check_parts(ctx, event, index);
    *place =
        (struct import_place){event->seq, event->id, event->recorded_at_us, event->write_index};
}
