/*
 * labels.c: VerdictService/ExportLabels: streams submissions as lines of JSON. The only state of a reader is its
 * position in the log; a turn examines a bounded number of events, and sends at most one response.
 */
#include "server/domain/rule_files/labels.h"

#include "server/pipeline/service.h"
#include "store/base/wire.h"

#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_service.handlers.h>

enum err verdict_service_export_labels_start(struct verdict_service_export_labels_call *call)
{
    struct labels *labels = arena_calloc(call->ctx->arena, 1, sizeof(*labels));

    if (labels == NULL) {
        return ERR_MEMORY;
    }
    labels->next_seq = call->request->from_seq;
    labels->only_corrected = call->request->only_corrected;
    call->stream->state = labels;
    return OK;
}

enum err verdict_service_export_labels_writable(struct verdict_service_export_labels_call *call)
{
    struct labels *labels = call->stream->state;
    struct buffer piece;
    struct buffer *reply = NULL;
    enum err err = OK;

    if (!stream_wants(call->stream)) {
        return OK;
    }
    buffer_init(&piece, call->ctx->arena, 0);
    err = labels_next(call->txn, call->org, labels, &piece);
    if (err != OK || (piece.size == 0 && !labels->has_ended)) {
        return err;
    }
    reply = stream_reply_begin(call->stream, piece.size + 3 * WIRE_OVERHEAD_BYTES);
    if (piece.size > 0) {
        wire_put_bytes(reply, EXPORT_LABELS_RESPONSE_LINES_FIELD, buffer_slice(&piece));
    }
    wire_put_varint(reply, EXPORT_LABELS_RESPONSE_NEXT_SEQ_FIELD, labels->next_seq);
    err = stream_reply_end(call->stream);
    if (err == OK && labels->has_ended) {
        stream_finish(call->stream);
    }
    return err;
}

void verdict_service_export_labels_stopped(struct verdict_service_export_labels_call *call)
{
    call->stream->state = NULL; /* allocated in the call's arena */
}
