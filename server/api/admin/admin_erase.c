/*
 * admin_erase.c: AdminService/EraseContent: a stream that reports the progress of the erasure whenever it has changed, and ends
 * with the report. A slow reader may miss progress messages, but never the report.
 */
#include "server/pipeline/caller.h"
#include "server/pipeline/eraser.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.views.h>

struct erasing {
    uint64_t sent_version; /* version of the last sent state; 0: none */
};

/* Sets the one subject of the request; adds a fault if there is none, or another one too. */
static void read_subject(struct ctx *ctx, const Errata__V1__EraseContentRequest *given,
                         struct eraser_request *request)
{
    const struct {
        const char *name;
        struct slice id;
        enum erasure_subject subject;
    } subjects[] = {
        {"document_id", slice_text(given->document_id), ERASURE_OF_DOCUMENT},
        {"customer_id", slice_text(given->customer_id), ERASURE_OF_CUSTOMER},
        {"session_id", slice_text(given->session_id), ERASURE_OF_SESSION},
        {"user_id", slice_text(given->user_id), ERASURE_OF_USER},
    };
    bool is_given = given->n_event_ids > 0;

    request->subject = ERASURE_OF_EVENTS;
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        if (subjects[i].id.size > 0 && is_given) {
            fault_add(ctx->fault, slice_text(subjects[i].name),
                      "given beside another subject; expected only one of event_ids, document_id, "
                      "customer_id, session_id and user_id");
        } else if (subjects[i].id.size > 0) {
            request->subject = subjects[i].subject;
            request->id = subjects[i].id;
            is_given = true;
        }
    }
    if (!is_given) {
        fault_add(ctx->fault, SLICE("event_ids"),
                  "empty; expected one of event_ids, document_id, customer_id, session_id and "
                  "user_id");
    }
}

/* The ids have passed check_request. */
static enum err read_ids(struct ctx *ctx, const Errata__V1__EraseContentRequest *given,
                         struct eraser_request *request)
{
    struct uuid *ids = arena_calloc(ctx->arena, given->n_event_ids + 1, sizeof(*ids));

    if (ids == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < given->n_event_ids; i++) {
        if (UNEXPECTED(!uuid_parse(slice_text(given->event_ids[i]), &ids[i]))) {
            return ERR_INTERNAL;
        }
    }
    request->event_ids = ids;
    request->event_id_count = given->n_event_ids;
    return OK;
}

enum err admin_service_erase_content_start(struct admin_service_erase_content_call *call)
{
    const struct principal *principal = call->service->principal;
    struct eraser_request request = {
        .caller_org = principal->org,
        .is_server = principal->server,
        .org_id = slice_text(call->request->org_id),
        .actor_user_id = service_actor(call->service),
        .reason = slice_text(call->request->reason),
        .dry_run = call->request->dry_run != 0,
    };
    struct erasing *erasing = NULL;
    enum err err = OK;

    if (call->service->eraser == NULL) {
        return fault_say(
            call->ctx->fault, ERR_UNIMPLEMENTED,
            "store: this server cannot erase content; expected a server with a store on disk");
    }
    read_subject(call->ctx, call->request, &request);
    err = fault_result(call->ctx->fault);
    if (err == OK) {
        err = read_ids(call->ctx, call->request, &request);
    }
    if (err != OK) {
        return err;
    }
    erasing = (struct erasing *)arena_calloc(call->ctx->arena, 1, sizeof(*erasing));
    if (erasing == NULL) {
        return ERR_MEMORY;
    }
    err = eraser_start(call->service->eraser, &request, call->ctx->fault);
    if (err == OK) {
        call->stream->state = erasing;
    }
    return err;
}

static enum err send_progress(struct stream *stream, const struct eraser_state *state)
{
    const struct erase_progress_view progress = {
        .step = state->in_journal ? ERASE_STEP_JOURNAL : ERASE_STEP_EVENTS,
        .examined_count = state->examined_seq,
        .examined_total = state->until_seq,
        .erased_count = state->erased_count,
    };
    struct buffer *reply =
        stream_reply_begin(stream, erase_progress_view_bytes(&progress) + WIRE_OVERHEAD_BYTES);

    erase_progress_view_put(&progress, ERASE_CONTENT_RESPONSE_PROGRESS_FIELD, reply);
    return stream_reply_end(stream);
}

/* Adds the events of a kind to the run and to the sums. */
static void add_kind(uint32_t kind, const struct erasure_count *count,
                     struct erase_report_view *report, struct buffer *run)
{
    const struct erased_kind_view view = {
        .kind = (enum event_kind)kind,
        .erased_count = count->erased,
        .erased_bytes = count->erased_bytes,
        .removed_before_count = count->removed_before,
        .facts_count = count->facts,
        .kept_artifact_count = count->kept_artifact,
        .kept_format_count = count->kept_format,
    };
    uint64_t kept = count->kept_artifact + count->kept_format;
    uint64_t all = count->erased + count->removed_before + count->facts + kept;

    if (all == 0) {
        return;
    }
    erased_kind_view_put(&view, ERASE_REPORT_KINDS_FIELD, run);
    report->erased_count += count->erased;
    report->erased_bytes += count->erased_bytes;
    report->facts_remain_count += all;
    report->kept_count += kept;
}

static enum err send_report(struct service *service, struct stream *stream,
                            const struct eraser_state *state)
{
    struct erase_report_view report = {
        .examined_until_seq = state->until_seq,
        .completed_at_us = clock_wall_us(service->ctx->clock),
        .has_completed_at = true,
        .dry_run = state->dry_run,
    };
    struct buffer *reply = NULL;
    struct buffer run;

    buffer_init(&run, service->ctx->arena, 256);
    for (uint32_t kind = 0; kind < ERASURE_KINDS; kind++) {
        add_kind(kind, &state->search->kinds[kind], &report, &run);
    }
    report.kinds.run = buffer_slice(&run);
    if (!buffer_ok(&run)) {
        return ERR_MEMORY;
    }
    reply = stream_reply_begin(stream, erase_report_view_bytes(&report) + WIRE_OVERHEAD_BYTES);
    erase_report_view_put(&report, ERASE_CONTENT_RESPONSE_REPORT_FIELD, reply);
    return stream_reply_end(stream);
}

enum err admin_service_erase_content_writable(struct admin_service_erase_content_call *call)
{
    const struct eraser_state *state = eraser_state(call->service->eraser);
    struct erasing *erasing = (struct erasing *)call->stream->state;

    if (!stream_wants(call->stream)) {
        return OK;
    }
    if (state->ended && state->err != OK) {
        return fault_say(call->ctx->fault, state->err, "%s", state->why);
    }
    if (state->ended) {
        stream_finish(call->stream);
        return send_report(call->service, call->stream, state);
    }
    stream_wait_for_events(call->stream);
    if (state->version == erasing->sent_version) {
        return OK;
    }
    erasing->sent_version = state->version;
    return send_progress(call->stream, state);
}

void admin_service_erase_content_stopped(struct admin_service_erase_content_call *call)
{
    eraser_cancel(call->service->eraser);
}
