/*
 * rule_files.c: VerdictService's documents of learned rules: ExportLearnedRules and ImportLearnedRules. One piece of
 * the document is written in each turn of the stream; a document that is imported is read and checked before its write.
 */
#include "server/domain/rule_files/rule_export.h"
#include "server/domain/rule_files/rule_import.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/wire.h"

#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_service.handlers.h>

enum err
verdict_service_export_learned_rules_start(struct verdict_service_export_learned_rules_call *call)
{
    call->stream->state = arena_calloc(call->ctx->arena, 1, sizeof(struct rule_export));
    return call->stream->state != NULL ? OK : ERR_MEMORY;
}

enum err verdict_service_export_learned_rules_writable(
    struct verdict_service_export_learned_rules_call *call)
{
    struct rule_export *rule_export = call->stream->state;
    struct buffer piece;
    struct buffer *reply = NULL;
    enum err err = OK;

    if (!stream_wants(call->stream)) {
        return OK;
    }
    buffer_init(&piece, call->ctx->arena, 2 * RULE_EXPORT_PIECE_BYTES);
    err = rule_export_next(call->txn, call->org, rule_export, &piece);
    if (err != OK) {
        return err;
    }
    reply = stream_reply_begin(call->stream, piece.size + WIRE_OVERHEAD_BYTES);
    wire_put_bytes(reply, EXPORT_LEARNED_RULES_RESPONSE_PIECE_FIELD, buffer_slice(&piece));
    err = stream_reply_end(call->stream);
    if (err == OK && rule_export->has_ended) {
        stream_finish(call->stream);
    }
    return err;
}

void verdict_service_export_learned_rules_stopped(
    struct verdict_service_export_learned_rules_call *call)
{
    call->stream->state = NULL; /* allocated in the call's arena */
}

enum err
verdict_service_import_learned_rules_prepare(struct verdict_service_import_learned_rules_call *call)
{
    struct rule_import *import = arena_calloc(call->ctx->arena, 1, sizeof(*import));
    enum err err = OK;

    if (import == NULL) {
        return ERR_MEMORY;
    }
    err = rule_import_read(call->ctx, slice_text(call->request->document_json), import);
    if (err == OK) {
        call->prepared = import;
        call->service->prepared_bytes = import->count * sizeof(*import->items);
    }
    return err;
}

static struct rule_import_request
request_of(const struct verdict_service_import_learned_rules_call *call)
{
    return (struct rule_import_request){
        .org = call->org,
        .caller = caller_of(call->service),
        .import = call->prepared,
        .replace = call->request->replace,
    };
}

/* A dry run writes nothing: its response is decided in the same transaction. */
enum err
verdict_service_import_learned_rules_write(struct verdict_service_import_learned_rules_call *call)
{
    const struct rule_import_request request = request_of(call);

    return call->request->dry_run ? OK
                                  : rule_import_write(call->ctx, call->txn, &request, call->result);
}

enum err
verdict_service_import_learned_rules_answer(struct verdict_service_import_learned_rules_call *call)
{
    const struct rule_import_request request = request_of(call);

    return call->request->dry_run
               ? rule_import_answer_dry(call->ctx, call->txn, &request, call->body)
               : rule_import_answer(call->ctx, call->txn, request.import, call->result, call->body);
}
