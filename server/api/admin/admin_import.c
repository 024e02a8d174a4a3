/*
 * admin_import.c: AdminService/ImportOrganization: converts the lines of an export to events, and has them stored.
 */
#include "server/api/admin/admin_wire.h"
#include "server/api/events/event_wire.h"
#include "server/domain/transfer/organization_import.h"
#include "server/pipeline/caller.h"
#include "store/base/assert.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/event.fields.h>
#include <errata/v1/organization_transfer.views.h>

static struct slice bytes_of(ProtobufCBinaryData data)
{
    return slice_of(data.data, data.len);
}

/* Adds a fault for a field of an event of the request. */
static void fail(struct ctx *ctx, size_t index, const char *field, const char *what)
{
    fault_add(ctx->fault, arena_printf(ctx->arena, "events[%zu].%s", index, field), "%s", what);
}

/* All values have passed check_request. */
static enum err read_kinds(const Errata__V1__ExportedEvent *given, struct event *event)
{
    enum event_kind kind = EVENT_KIND_UNSPECIFIED;
    enum event_source source = EVENT_SOURCE_UNSPECIFIED;
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    bool is_known = event_kind_from_wire((int32_t)given->kind, &kind) &&
                    event_source_from_wire((int32_t)given->source, &source) &&
                    annotator_kind_from_wire((int32_t)given->annotator_kind, &annotator);

    event->kind = (enum event_kind_number)kind;
    event->source = (enum log_source)source;
    event->annotator = (enum annotator)annotator;
    for (size_t i = 0; i < given->n_subjects && is_known; i++) {
        enum event_subject_kind subject = EVENT_SUBJECT_KIND_UNSPECIFIED;

        is_known = event_subject_kind_from_wire((int32_t)given->subjects[i]->kind, &subject);
        event->subjects[i].kind = (uint8_t)subject;
        event->subjects[i].id = slice_text(given->subjects[i]->id);
    }
    event->subject_count = given->n_subjects;
    return UNEXPECTED(!is_known) ? ERR_INTERNAL : OK;
}

/* The payload must be a message of its kind, with valid texts: apply relies on it. */
static enum err check_payload(struct ctx *ctx, size_t index, const struct event *event)
{
    enum err err = fault_result(ctx->fault) == OK ? event_wire_check(ctx, event) : OK;

    if (err == ERR_INVALID) {
        fail(ctx, index, "facts",
             "not a payload of the event's kind, with its content; expected those of an export");
        return OK;
    }
    return err;
}

/* What is a rule of the log is checked by the domain. */
static enum err read_event(struct ctx *ctx, const Errata__V1__ExportedEvent *given, size_t index,
                           struct event *event)
{
    struct slice removed_sha256 = bytes_of(given->content_sha256);
    enum err err = OK;

    *event = (struct event){
        .seq = given->seq,
        .recorded_at_us = timestamp_us(given->recorded_at),
        .created_at_us = timestamp_us(given->created_at),
        .actor_user_id = slice_text(given->actor_user_id),
        .facts = bytes_of(given->facts),
        .content = bytes_of(given->content),
        .salt = bytes_of(given->salt),
        .content_removed = given->content_removed != 0,
        .write_index = given->write_index,
    };
    if (UNEXPECTED(!uuid_parse(slice_text(given->id), &event->id))) {
        return ERR_INTERNAL;
    }
    if (removed_sha256.size != (event->content_removed ? (size_t)SHA256_BYTES : 0)) {
        fail(ctx, index, "content_sha256",
             "wrong size; expected 32 bytes if the content was removed, else none");
    } else if (event->content_removed) {
        memcpy(event->content_sha256.bytes, removed_sha256.data, SHA256_BYTES);
    }
    err = read_kinds(given, event);
    return err != OK ? err : check_payload(ctx, index, event);
}

/* The header has passed check_request. */
static enum err read_source(const Errata__V1__ExportHeader *header, struct export_source *source)
{
    *source = (struct export_source){
        .version = header->version,
        .store_format = header->store_format,
        .name = slice_text(header->name),
        .exported_at_us = timestamp_us(header->exported_at),
    };
    return UNEXPECTED(!uuid_parse(slice_text(header->export_id), &source->export_id) ||
                      !uuid_parse(slice_text(header->org_id), &source->org_id))
               ? ERR_INTERNAL
               : OK;
}

enum err
admin_service_import_organization_write(struct admin_service_import_organization_call *call)
{
    const Errata__V1__ImportOrganizationRequest *request = call->request;
    const struct admin_actor actor = admin_wire_actor(call->service);
    struct event *events =
        arena_calloc(call->ctx->arena, request->n_events + 1, sizeof(struct event));
    struct organization_import import = {
        .caller_org = call->service->principal->org,
        .name = slice_text(request->name),
        .events = events,
        .event_count = request->n_events,
        .has_end = request->end != NULL,
    };
    enum err err = events != NULL ? read_source(request->header, &import.source) : ERR_MEMORY;

    if (err != OK) {
        return err;
    }
    import.source.event_count = request->end != NULL ? request->end->event_count : 0;
    for (size_t i = 0; i < request->n_events && err == OK && fault_result(call->ctx->fault) == OK;
         i++) {
        err = read_event(call->ctx, request->events[i], i, &events[i]);
    }
    err = err == OK ? fault_result(call->ctx->fault) : err;
    return err != OK
               ? err
               : organization_import_write(call->ctx, call->txn, &actor, &import, call->result);
}

enum err
admin_service_import_organization_answer(struct admin_service_import_organization_call *call)
{
    struct import_organization_response_view response = {.org_id = call->result->org.uuid};
    struct organization_import_state state;
    enum err err = organization_import_after(call->txn, call->result, &state);

    if (err != OK) {
        return err;
    }
    if (state.imported_seq == 0) {
        return OK; /* there is no organisation yet */
    }
    response.imported_seq = state.imported_seq;
    response.completed = state.completed;
    import_organization_response_view_write(&response, call->body);
    return OK;
}
