/*
 * admin_export.c: AdminService/ExportOrganization: finds the organisation on the pool, has the export recorded, and sends the
 * header; then reads events on the pool, part by part, each in a transaction of its own, and sends them. At the end it looks
 * for removals of content that were recorded since the last event to send, and goes on to those.
 */
#include "server/api/admin/admin_wire.h"
#include "server/api/events/event_wire.h"
#include "server/domain/transfer/organization_import.h"
#include "server/pipeline/caller.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/log_deletion.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/organization_transfer.fields.h>
#include <errata/v1/organization_transfer.views.h>

/* A message is sent when it has so many bytes of lines: a line more may follow, of an event with 3 MiB twice. */
#define MESSAGE_BYTES_MIN ((size_t)256 << 10)
#define MESSAGE_EVENTS_MAX 1000
/* Memory of the lines of a message. */
#define LINES_BYTES_MAX (32u << 20)
/* Later events that one part examines for removals. */
#define EXAMINED_EVENTS_MAX 2000
#define HEADER_BYTES 512
/* Bytes of a line besides its payload. */
#define EVENT_BYTES 1024

struct exporting {
    struct org_id org; /* zeros: not found yet */
    bool has_slot; /* of the recorder */
    size_t slot;
    uint64_t until_seq; /* last event to send; 0: the export is not recorded yet */
    uint64_t sent_seq; /* last event that was read */
    uint64_t examined_seq; /* later events up to here were examined for removals */
    struct arena arena; /* of the lines; emptied before each part */
    struct buffer lines; /* bytes of the next message */
    bool has_ended;
};

enum err
admin_service_export_organization_start(struct admin_service_export_organization_call *call)
{
    struct exporting *exporting = NULL;

    if (call->service->exports == NULL) {
        return fault_say(call->ctx->fault, ERR_UNIMPLEMENTED,
                         "store: this server exports nothing; expected a server with a store on "
                         "disk");
    }
    exporting = (struct exporting *)arena_calloc(call->ctx->arena, 1, sizeof(*exporting));
    if (exporting == NULL) {
        return ERR_MEMORY;
    }
    arena_init(&exporting->arena, LINES_BYTES_MAX);
    call->stream->state = exporting;
    return OK;
}

/* --- the pool --- */

/* Fills what an export has of an event. */
static enum err fill_exported(struct arena *arena, const struct event *event,
                              struct exported_event_view *view)
{
    enum err err = OK;

    *view = (struct exported_event_view){
        .id = event->id,
        .seq = event->seq,
        .kind = (enum event_kind)event->kind,
        .actor_user_id = event->actor_user_id,
        .has_actor_user_id = event->actor_user_id.size > 0,
        .annotator_kind = (enum annotator_kind)event->annotator,
        .source = (enum event_source)event->source,
        .recorded_at_us = event->recorded_at_us,
        .has_recorded_at = true,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .facts = event->facts,
        .content = event->content,
        .salt = event->salt,
        .content_removed = event->content_removed,
        .write_index = event->write_index,
    };
    if (event->content_removed) {
        view->content_sha256 = slice_of(event->content_sha256.bytes, SHA256_BYTES);
    }
    if (event->kind == EVENT_TOKEN_CREATED) {
        err = organization_export_token(arena, event->facts, &view->facts);
    }
    return err != OK ? err : event_wire_read_subjects(arena, event, &view->subjects.run);
}

/* Appends a line with an event to the message. */
static enum err put_line(struct arena *arena, const struct event *event, struct buffer *lines)
{
    struct exported_event_view view;
    struct buffer line;
    enum err err = fill_exported(arena, event, &view);

    if (err != OK) {
        return err;
    }
    buffer_init(&line, arena, 2 * (event->facts.size + event->content.size) + EVENT_BYTES);
    exported_event_view_put(&view, EXPORT_LINE_EVENT_FIELD, &line);
    err = event_wire_put_payload(arena, &line, EXPORT_LINE_PAYLOAD_FIELD, event);
    if (err != OK) {
        return err;
    }
    wire_put_bytes(lines, EXPORT_ORGANIZATION_RESPONSE_LINES_FIELD, buffer_slice(&line));
    return buffer_ok(&line) && buffer_ok(lines) ? OK : ERR_MEMORY;
}

/* The organisation may have been deleted since the last part: it is being deleted, or has no event any more. */
static enum err check_not_deleted(struct admin_service_export_organization_call *call,
                                  const struct exporting *exporting)
{
    struct log_head head;
    bool is_deleted = false;
    enum err err = log_deletion_is_marked(call->txn, exporting->org, &is_deleted);

    if (err == OK) {
        err = log_read_head(call->txn, exporting->org, &head);
    }
    if (err == OK && (is_deleted || head.last_seq == 0)) {
        return fault_say(call->ctx->fault, ERR_PRECONDITION,
                         "org_id: the organisation is being deleted; expected another one");
    }
    return err;
}

/* Reads the next events to send. */
static enum err read_events(struct admin_service_export_organization_call *call,
                            struct exporting *exporting)
{
    struct log_walk walk;
    enum err err =
        log_walk_init(&walk, call->txn, exporting->org, exporting->sent_seq + 1, STORE_ASCENDING);

    for (size_t i = 0; i < MESSAGE_EVENTS_MAX && err == OK; i++) {
        struct event event;

        if (exporting->sent_seq >= exporting->until_seq ||
            exporting->lines.size >= MESSAGE_BYTES_MIN) {
            break;
        }
        err = log_walk_next(&walk, &event);
        if (err == OK && event.seq != exporting->sent_seq + 1) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            err = put_line(call->ctx->arena, &event, &exporting->lines);
            exporting->sent_seq = event.seq;
        }
    }
    log_walk_deinit(&walk);
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Appends the last line to the message. */
static enum err put_end(struct admin_service_export_organization_call *call,
                        struct exporting *exporting)
{
    const struct export_end_view end = {.event_count = exporting->until_seq};
    struct buffer line;

    buffer_init(&line, call->ctx->arena, HEADER_BYTES);
    export_end_view_put(&end, EXPORT_LINE_END_FIELD, &line);
    wire_put_bytes(&exporting->lines, EXPORT_ORGANIZATION_RESPONSE_LINES_FIELD,
                   buffer_slice(&line));
    exporting->has_ended = true;
    return buffer_ok(&line) && buffer_ok(&exporting->lines) ? OK : ERR_MEMORY;
}

static bool is_removal(const struct event *event)
{
    return event->kind == EVENT_CONTENT_SWEPT || event->kind == EVENT_CONTENT_ERASED;
}

/* Examines later events: with a removal, the events up to it are sent too. Ends if there is none. */
static enum err examine(struct admin_service_export_organization_call *call,
                        struct exporting *exporting)
{
    struct log_walk walk;
    struct arena memory;
    enum err err = log_walk_init(&walk, call->txn, exporting->org, exporting->examined_seq + 1,
                                 STORE_ASCENDING);

    arena_init(&memory, LINES_BYTES_MAX);
    walk.memory = &memory;
    for (size_t i = 0; i < EXAMINED_EVENTS_MAX && err == OK; i++) {
        struct event event;

        err = log_walk_next(&walk, &event);
        if (err == OK) {
            exporting->examined_seq = event.seq;
        }
        if (err == OK && is_removal(&event)) {
            exporting->until_seq = event.seq;
        }
    }
    log_walk_deinit(&walk);
    arena_deinit(&memory);
    if (err == ERR_NOT_FOUND) {
        return exporting->sent_seq == exporting->until_seq ? put_end(call, exporting) : OK;
    }
    return err;
}

static enum err find_org(struct admin_service_export_organization_call *call,
                         struct exporting *exporting)
{
    return caller_resolve_org(call->service, call->txn, call->request->org_id, &exporting->org);
}

enum err admin_service_export_organization_work(struct admin_service_export_organization_call *call)
{
    static const struct uuid none;
    struct exporting *exporting = (struct exporting *)call->stream->state;
    enum err err = OK;

    if (uuid_equal(exporting->org.uuid, none)) {
        return find_org(call, exporting);
    }
    ASSERT(exporting->until_seq != 0);
    arena_reset(&exporting->arena);
    buffer_init(&exporting->lines, &exporting->arena, MESSAGE_BYTES_MIN);
    err = check_not_deleted(call, exporting);
    if (err == OK) {
        err = read_events(call, exporting);
    }
    if (err == OK && exporting->sent_seq == exporting->until_seq) {
        err = examine(call, exporting);
    }
    return err;
}

/* --- the loop --- */

static void release(const struct service *service, struct exporting *exporting)
{
    if (exporting->has_slot) {
        export_recorder_release(service->exports, exporting->slot);
    }
    exporting->has_slot = false;
}

static enum err record(struct admin_service_export_organization_call *call,
                       struct exporting *exporting)
{
    const struct export_recorder_request request = {
        .caller_org = call->service->principal->org,
        .org = exporting->org,
        .actor = admin_wire_actor(call->service),
        .reason = slice_text(call->request->reason),
    };
    enum err err = export_recorder_start(call->service->exports, &request, &exporting->slot);

    exporting->has_slot = err == OK;
    stream_wait_for_events(call->stream);
    return err;
}

/* Sends the header, which is made of the event that records the export. */
static enum err send_header(struct admin_service_export_organization_call *call,
                            struct exporting *exporting)
{
    struct export_header_view header = {
        .version = EXPORT_VERSION,
        .store_format = EXPORT_STORE_FORMAT,
        .org_id = exporting->org.uuid,
        .has_exported_at = true,
    };
    struct organization_record organization;
    struct event event;
    struct buffer *reply = NULL;
    struct buffer line;
    enum err err = check_not_deleted(call, exporting);

    if (err == OK) {
        err = log_read(call->txn, exporting->org, exporting->until_seq, &event);
    }
    if (err == OK) {
        err = admin_read_organization(call->txn, exporting->org.uuid, &organization);
    }
    if (err != OK) {
        return err;
    }
    header.export_id = event.id;
    header.exported_at_us = event.created_at_us;
    header.name = organization.name;
    buffer_init(&line, call->ctx->arena, HEADER_BYTES);
    export_header_view_put(&header, EXPORT_LINE_HEADER_FIELD, &line);
    reply = stream_reply_begin(call->stream, HEADER_BYTES);
    wire_put_bytes(reply, EXPORT_ORGANIZATION_RESPONSE_LINES_FIELD, buffer_slice(&line));
    return buffer_ok(&line) && buffer_ok(reply) ? stream_reply_end(call->stream) : ERR_MEMORY;
}

/* Waits until the export is recorded; then sends the header. */
static enum err begin(struct admin_service_export_organization_call *call,
                      struct exporting *exporting)
{
    enum err result = OK;
    uint64_t seq = 0;

    if (!exporting->has_slot) {
        return record(call, exporting);
    }
    if (!export_recorder_has_ended(call->service->exports, exporting->slot, &result, &seq)) {
        stream_wait_for_events(call->stream);
        return OK;
    }
    release(call->service, exporting);
    if (result != OK) {
        return result;
    }
    exporting->until_seq = seq;
    exporting->examined_seq = seq;
    return send_header(call, exporting);
}

enum err
admin_service_export_organization_writable(struct admin_service_export_organization_call *call)
{
    struct exporting *exporting = (struct exporting *)call->stream->state;
    struct slice lines = {NULL, 0};
    struct buffer *reply = NULL;

    if (!stream_wants(call->stream)) {
        return OK;
    }
    if (exporting->until_seq == 0) {
        return begin(call, exporting);
    }
    lines = buffer_slice(&exporting->lines);
    reply = stream_reply_begin(call->stream, lines.size);
    buffer_append(reply, lines);
    if (exporting->has_ended) {
        stream_finish(call->stream);
    }
    return buffer_ok(reply) ? stream_reply_end(call->stream) : ERR_MEMORY;
}

void admin_service_export_organization_stopped(struct admin_service_export_organization_call *call)
{
    struct exporting *exporting = (struct exporting *)call->stream->state;

    release(call->service, exporting);
    arena_deinit(&exporting->arena);
    call->stream->state = NULL; /* allocated in the call's arena */
}
