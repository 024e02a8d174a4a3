/*
 * documents.c: the document job of a call whose method takes a PDF: opens, fills, queues and closes
 * it with the functions of pipeline_config.documents. An error states what would make a job
 * possible; the method reports defects of the document itself.
 */
#include "server/pipeline/rpc.h"

#include "store/base/assert.h"

/* Returns the message for a lack of room for a document or for more of it; other errors need no
 * message. */
static enum err say_why(struct fault *fault, enum err err)
{
    if (err == ERR_BUSY) {
        return fault_say(fault, err,
                         "document: the server's limit of concurrent documents, or of their bytes, "
                         "is reached; expected another attempt after the given delay");
    }
    if (err == ERR_QUOTA) {
        return fault_say(fault, err,
                         "document: this organisation's limit of concurrent documents, or of their "
                         "bytes, is reached; expected another attempt after the given delay");
    }
    if (err == ERR_TOO_LARGE) {
        return fault_say(fault, err, "document: too large; expected at most %zu MiB",
                         PDF_DOCUMENT_BYTES_MAX >> 20);
    }
    if (err == ERR_UNAVAILABLE) {
        return fault_say(fault, err,
                         "document: the PDF worker is being restarted; expected another attempt "
                         "after the given delay, or once errata.pdf is healthy");
    }
    return err;
}

enum err rpc_document_admit(struct rpc *rpc)
{
    rpc->service.documents = rpc->pipeline->config.documents;
    if (rpc->service.documents == NULL) {
        return fault_say(&rpc->fault, ERR_UNAVAILABLE,
                         "document: this server has no PDF worker; expected errata-pdf-worker "
                         "beside erratad, or its path in --pdf-worker");
    }
    return OK;
}

enum err rpc_document_open(struct rpc *rpc, size_t size)
{
    const struct document_jobs *documents = rpc->service.documents;
    enum err err = rpc_quota_take(rpc, QUOTA_PDF_JOBS);

    if (err != OK) {
        return err;
    }
    err = documents->open(documents->user, rpc->principal.org, &rpc->service.job);
    if (err == OK && size > 0) {
        err = documents->reserve(rpc->service.job, size);
    }
    return err == OK ? OK : say_why(&rpc->fault, err);
}

enum err service_keep_document(struct service *service, struct slice bytes)
{
    enum err err = OK;

    if (bytes.size == 0) {
        return OK;
    }
    err = service->documents->reserve(service->job, bytes.size);
    if (err == OK) {
        err = service->documents->append(service->job, bytes);
    }
    return err == OK ? OK : say_why(service->ctx->fault, err);
}

enum err rpc_document_submit(struct rpc *rpc, void (*work)(void *job),
                             void (*done)(void *job, enum err result))
{
    enum err err = rpc->service.documents->submit(rpc->service.job, work, done, rpc);

    return err == OK ? OK : say_why(&rpc->fault, err);
}

enum err rpc_document_explain(struct rpc *rpc, enum err err)
{
    bool explained = rpc->fault.message.size != 0 || rpc->fault.count != 0;

    return err == OK || explained ? err : say_why(&rpc->fault, err);
}

void rpc_document_cancel(struct rpc *rpc)
{
    if (rpc->service.job != NULL) {
        rpc->service.documents->cancel(rpc->service.job);
    }
}

void rpc_document_close(struct rpc *rpc)
{
    ASSERT(rpc->state != RPC_ON_POOL);
    rpc_quota_give(rpc, QUOTA_PDF_JOBS);
    if (rpc->service.job != NULL) {
        rpc->service.documents->close(rpc->service.job);
        rpc->service.job = NULL;
    }
}
