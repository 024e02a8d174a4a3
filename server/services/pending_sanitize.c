/*
 * pending_sanitize.c: methods whose turn has not come: they answer UNIMPLEMENTED.
 */
#include <errata/v1/review_service.handlers.h>

enum err review_service_sanitize_prepare(struct service *service,
                                         const Errata__V1__SanitizeRequest *request,
                                         void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err review_service_sanitize_read(struct service *service, struct store_txn *txn,
                                      const Errata__V1__SanitizeRequest *request, void *prepared,
                                      struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}
