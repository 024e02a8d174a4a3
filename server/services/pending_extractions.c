/*
 * pending_extractions.c: methods whose turn has not come: they answer UNIMPLEMENTED.
 */
#include <errata/v1/correction_service.handlers.h>

enum err
correction_service_record_extraction_write(struct service *service, struct store_txn *txn,
                                           const Errata__V1__RecordExtractionRequest *request,
                                           void *prepared, struct work_result *result)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    return ERR_UNIMPLEMENTED;
}

enum err
correction_service_record_extraction_answer(struct service *service, struct store_txn *txn,
                                            const Errata__V1__RecordExtractionRequest *request,
                                            void *prepared, const struct work_result *result,
                                            struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}
