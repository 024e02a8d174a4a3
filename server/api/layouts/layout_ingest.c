/*
 * layout_ingest.c: LayoutService/IngestDocument and IngestDocumentStream. Passes the bytes of a PDF
 * to a document job, converts the measured values to values for the domain, and the stored event to
 * the response. Only the job receives a password. The text of all pages, if it was requested, is
 * only in the response. The reads are in layout_service.c.
 */
#include "server/api/layouts/document_text.h"
#include "server/domain/events/actor.h"
#include "server/domain/layouts/documents.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"

#include "store/base/bytes.h"
#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>
#include <errata/v1/layout_service.handlers.h>

/* Both responses have the same fields, so one function writes them. */
_Static_assert((int)INGEST_DOCUMENT_RESPONSE_DOCUMENT_FIELD ==
                   (int)INGEST_DOCUMENT_STREAM_RESPONSE_DOCUMENT_FIELD,
               "both responses have the same fields");
_Static_assert((int)INGEST_DOCUMENT_RESPONSE_PROFILE_FIELD ==
                   (int)INGEST_DOCUMENT_STREAM_RESPONSE_PROFILE_FIELD,
               "both responses have the same fields");

_Static_assert(PDF_PAGES_MAX == 5000, "a text below says so");

_Static_assert((int)INGEST_DOCUMENT_RESPONSE_TEXT_FIELD ==
                   (int)INGEST_DOCUMENT_STREAM_RESPONSE_TEXT_FIELD,
               "both responses have the same fields");

/* The values of a document that the caller sent. */
struct named_document {
    struct slice document_id;
    struct slice password;
    struct event_time time;
    bool include_text;
};

/* Room for the members of a response besides lists and text: numbers, ids and a snippet. */
#define ANSWER_OTHER_BYTES 8192

/* The received part of a stream. It exists as long as the call. */
struct upload {
    struct named_document named;
    uint64_t bytes; /* size of content */
};

/* The prepared document. */
struct ingest {
    struct document_event *event;
    struct slice text; /* a DocumentText; empty: not requested */
};

/* The defect of the document, and the expected form. */
static enum err refuse(struct ctx *ctx, enum pdf_reason reason, bool has_password)
{
    const char *why = "";
    const char *field = reason == PDF_ENCRYPTED ? "password" : "content";

    switch (reason) {
    case PDF_READ:
        return OK;
    case PDF_NOT_A_PDF:
        why = "not a PDF; expected a file that begins with %PDF-";
        break;
    case PDF_DAMAGED:
        why = "damaged beyond repair, or incomplete; expected a complete PDF, saved again if it is "
              "damaged";
        break;
    case PDF_ENCRYPTED:
        why = has_password
                  ? "wrong password; expected the password that opens the document"
                  : "missing, and the document is encrypted; expected the password that opens it";
        break;
    case PDF_NO_PAGES:
        why = "no pages found; expected a PDF with at least one page";
        break;
    case PDF_TOO_MANY_PAGES:
        why = "more than 5,000 pages; expected at most 5,000, such as a part of the document";
        break;
    case PDF_PAGE_UNREADABLE:
        why = "a page cannot be opened; expected a PDF saved again, or without that page";
        break;
    case PDF_TEXT_LIMIT:
        why = "its text took more than 5 s of processor time, 8 s or 512 MiB; expected a PDF with "
              "simpler pages";
        break;
    case PDF_CRASHED:
        why = "reading it crashed the worker; expected a PDF saved by another program";
        break;
    case PDF_WALL_LIMIT:
        why = "its text took more than 8 s twice within 15 minutes on a busy machine; expected a "
              "PDF with simpler pages, or another attempt when the machine is less busy";
        break;
    }
    fault_add(ctx->fault, slice_text(field), "%s", why);
    return fault_say_reason(ctx->fault, ERR_INVALID, pdf_reason_code(reason), "%s", why);
}

static enum err copy_pages(struct arena *arena, const struct pdf_text *text,
                           struct document_measures *measures)
{
    struct document_page *pages = arena_calloc(arena, text->page_count, sizeof(*pages));

    if (pages == NULL) {
        return ERR_MEMORY;
    }
    for (uint32_t i = 0; i < text->page_count; i++) {
        pages[i] = (struct document_page){text->pages[i].width, text->pages[i].height};
    }
    measures->pages = pages;
    measures->page_count = text->page_count;
    return OK;
}

/* Converts the measured values to the domain's, in the arena. */
static enum err translate(struct arena *arena, const struct document_measured *measured,
                          struct slice document_id, struct document_measures *measures)
{
    const struct pdf_text *text = &measured->answer.text;

    measures->document_id = document_id;
    measures->sha256 = measured->sha256;
    measures->size_bytes = measured->size_bytes;
    measures->pages_read = text->pages_read;
    measures->text_chars = text->text_chars;
    measures->page_one_chars = text->page_one_chars;
    measures->covered_cells = text->covered_cells;
    measures->page_cells = text->page_cells;
    measures->input_snippet = text->snippet;
    measures->has_table_count = measured->answer.cut == PDF_CUT_NONE;
    measures->table_count = measures->has_table_count ? measured->answer.tables.table_count : 0;
    measures->sketch = measured->answer.tables.sketch;
    measures->damaged = text->damaged;
    measures->page_too_large = text->page_too_large;
    measures->cmaps_unavailable = text->cmaps_unavailable;
    measures->fp_version =
        arena_printf(arena, "%d/%.*s", PDF_RULES_VERSION, (int)text->poppler_version.size,
                     (const char *)text->poppler_version.data);
    return measures->fp_version.size > 0 ? copy_pages(arena, text, measures) : ERR_MEMORY;
}

/* Hashes the parts of a request that an idempotency key identifies: the document's id, time and
 * bytes, and whether its text is returned. The password is excluded, since a stored hash that
 * depends on it would make it possible to guess it; and the same bytes are the same document with
 * any password. */
static struct sha256_digest hash_document(const struct named_document *named,
                                          const struct sha256_digest *content)
{
    const uint8_t flags = named->include_text ? 1 : 0;
    uint8_t time[sizeof(uint64_t)];
    /* The id is followed by one of two fixed numbers of bytes, so different requests have different
     * texts. */
    const struct slice pieces[] = {
        named->document_id, slice_of(time, named->time.is_given ? sizeof(time) : 0),
        slice_of(&flags, sizeof(flags)), slice_of(content->bytes, SHA256_BYTES)};

    bytes_put_be64(time, (uint64_t)named->time.created_at_us);
    return sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));
}

/* Checks whether the caller may set this time; if so, returns the event's actor. */
static enum err check_caller(struct service *service, const struct event_time *time,
                             struct slice *ret_actor)
{
    const struct event_caller caller = caller_of(service);
    const struct slice none = {NULL, 0};
    struct slice actor = {NULL, 0};
    enum err err = actor_resolve(service->ctx, &caller, none, none, time->is_given, &actor);

    if (err == OK) {
        *ret_actor = service_actor(service);
        err = ret_actor->size > 0 ? OK : ERR_MEMORY;
    }
    return err;
}

/* Measures the job's bytes. */
static enum err measure(struct service *service, const struct named_document *named,
                        struct document_measured *ret_measured)
{
    const struct document_request request = {.password = named->password,
                                             .with_text = named->include_text};
    enum err err =
        service->documents->measure(service->job, &request, service->ctx->arena, ret_measured);

    if (err == ERR_UNAVAILABLE) {
        return fault_say(service->ctx->fault, err,
                         "document: not measured, because the machine lacked CPU time or memory, "
                         "or the worker was replaced; expected another attempt after the given "
                         "delay (a second failure for lack of CPU time is final)");
    }
    return err != OK ? err
                     : refuse(service->ctx, ret_measured->answer.reason, named->password.size > 0);
}

/* Measures the job's bytes and prepares the document's event, and its text if it was requested. */
static enum err prepare(struct service *service, const struct named_document *named,
                        void **ret_prepared)
{
    struct arena *arena = service->ctx->arena;
    struct document_measures *measures = arena_calloc(arena, 1, sizeof(*measures));
    struct ingest *ingest = arena_calloc(arena, 1, sizeof(*ingest));
    struct document_measured measured;
    struct slice actor = {NULL, 0};
    enum err err = measures == NULL || ingest == NULL ? ERR_MEMORY
                                                      : check_caller(service, &named->time, &actor);

    if (err == OK) {
        err = measure(service, named, &measured);
    }
    if (err == OK) {
        err = translate(arena, &measured, named->document_id, measures);
    }
    if (err == OK) {
        err = document_prepare(service->ctx, measures, actor, &ingest->event);
    }
    if (err == OK && named->include_text) {
        err = document_text_encode(arena, &measured.answer, &ingest->text);
    }
    if (err != OK) {
        return err;
    }
    document_date(ingest->event, &named->time);
    service->request_sha256 = hash_document(named, &measured.sha256);
    service->prepared_bytes = ingest->text.size;
    *ret_prepared = ingest;
    return OK;
}

static enum err store(struct service *service, struct store_txn *txn, void *prepared,
                      struct work_result *result)
{
    const struct ingest *ingest = prepared;
    enum err err = document_store(service->ctx, txn, service->principal->org, ingest->event,
                                  &result->first_seq);

    if (err == OK) {
        result->count = 1; /* the event of the response, which may be an earlier one */
    }
    return err;
}

/* Responds with the stored event, and the text that this call extracted. */
static enum err answer(struct store_txn *txn, const struct work_result *result,
                       const void *prepared, struct buffer *body)
{
    const struct ingest *ingest = prepared;
    const struct document_detail detail = {.first_page_alone = false};
    struct document_view document;
    struct slice profile = {NULL, 0};
    struct event event;
    enum err err = log_read(txn, result->org, result->first_seq, &event);

    if (err == OK) {
        err = document_of_event(&event, detail, &document);
    }
    if (err == OK) {
        err = document_profile_of_event(&event, &profile);
    }
    if (err != OK) {
        return err;
    }
    (void)buffer_reserve(body, document.page_dimensions.run.size + profile.size +
                                   ingest->text.size + ANSWER_OTHER_BYTES);
    document_view_put(&document, INGEST_DOCUMENT_RESPONSE_DOCUMENT_FIELD, body);
    wire_put_bytes_given(body, INGEST_DOCUMENT_RESPONSE_PROFILE_FIELD, profile);
    wire_put_bytes_given(body, INGEST_DOCUMENT_RESPONSE_TEXT_FIELD, ingest->text);
    return OK;
}

enum err layout_service_ingest_document_prepare(struct layout_service_ingest_document_call *call)
{
    const struct named_document named = {
        slice_text(call->request->document_id), slice_text(call->request->password),
        time_given(call->request->created_at), call->request->include_text};
    enum err err = call->service->documents->append(
        call->service->job, slice_of(call->request->content.data, call->request->content.len));

    return err != OK ? err : prepare(call->service, &named, &call->prepared);
}

enum err layout_service_ingest_document_write(struct layout_service_ingest_document_call *call)
{
    return store(call->service, call->txn, call->prepared, call->result);
}

enum err layout_service_ingest_document_answer(struct layout_service_ingest_document_call *call)
{
    return answer(call->txn, call->result, call->prepared, call->body);
}

/* The first message names the document. */
static enum err begin_upload(struct service *service,
                             const Errata__V1__IngestDocumentStreamRequest *request,
                             struct upload **ret_upload)
{
    struct upload *upload = NULL;

    if (request->document_id == NULL || request->document_id[0] == '\0') {
        fault_add(service->ctx->fault, SLICE("document_id"),
                  "missing; expected the document's id in the first message");
        return ERR_INVALID;
    }
    upload = arena_calloc(service->kept, 1, sizeof(*upload));
    if (upload == NULL ||
        !arena_copy(service->kept, slice_text(request->document_id), &upload->named.document_id) ||
        !arena_copy(service->kept, slice_text(request->password), &upload->named.password)) {
        return ERR_MEMORY;
    }
    upload->named.time = time_given(request->created_at);
    upload->named.include_text = request->include_text;
    *ret_upload = upload;
    return OK;
}

static enum err check_later_message(struct service *service, const struct upload *upload,
                                    const Errata__V1__IngestDocumentStreamRequest *request)
{
    if (request->document_id != NULL &&
        !slice_equal(slice_text(request->document_id), upload->named.document_id)) {
        fault_add(service->ctx->fault, SLICE("document_id"),
                  "differs from the id in the first message; expected one document per call");
    }
    if (request->password != NULL) {
        fault_add(service->ctx->fault, SLICE("password"),
                  "not in the first message; expected the password in the first message");
    }
    if (request->created_at != NULL) {
        fault_add(service->ctx->fault, SLICE("created_at"),
                  "not in the first message; expected the time in the first message");
    }
    if (request->include_text && !upload->named.include_text) {
        fault_add(service->ctx->fault, SLICE("include_text"),
                  "not in the first message; expected it in the first message");
    }
    return fault_result(service->ctx->fault);
}

enum err layout_service_ingest_document_stream_receive(
    struct layout_service_ingest_document_stream_call *call)
{
    struct upload *upload = call->prepared;
    enum err err = OK;

    if (upload == NULL) {
        err = begin_upload(call->service, call->request, &upload);
    } else {
        err = check_later_message(call->service, upload, call->request);
    }
    if (err != OK) {
        return err;
    }
    call->prepared = upload;
    upload->bytes += call->request->content.len;
    return service_keep_document(call->service,
                                 slice_of(call->request->content.data, call->request->content.len));
}

enum err layout_service_ingest_document_stream_prepare(
    struct layout_service_ingest_document_stream_call *call)
{
    const struct upload *upload = call->prepared;

    if (upload == NULL) {
        fault_add(
            call->ctx->fault, SLICE("document_id"),
            "missing, since the stream is empty; expected the document's id in the first message");
        return ERR_INVALID;
    }
    if (upload->bytes == 0) {
        fault_add(call->ctx->fault, SLICE("content"),
                  "empty; expected the bytes of the PDF in one or more messages");
        return ERR_INVALID;
    }
    return prepare(call->service, &upload->named, &call->prepared);
}

enum err
layout_service_ingest_document_stream_write(struct layout_service_ingest_document_stream_call *call)
{
    return store(call->service, call->txn, call->prepared, call->result);
}

enum err layout_service_ingest_document_stream_answer(
    struct layout_service_ingest_document_stream_call *call)
{
    return answer(call->txn, call->result, call->prepared, call->body);
}
