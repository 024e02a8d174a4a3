/*
 * pending_settings.c: methods whose turn has not come: they answer UNIMPLEMENTED.
 */
#include <errata/v1/admin_service.handlers.h>

enum err admin_service_get_settings_read(struct service *service, struct store_txn *txn,
                                         const Errata__V1__GetSettingsRequest *request,
                                         void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}

enum err admin_service_update_settings_write(struct service *service, struct store_txn *txn,
                                             const Errata__V1__UpdateSettingsRequest *request,
                                             void *prepared, struct work_result *result)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    return ERR_UNIMPLEMENTED;
}

enum err admin_service_update_settings_answer(struct service *service, struct store_txn *txn,
                                              const Errata__V1__UpdateSettingsRequest *request,
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
