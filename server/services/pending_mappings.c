/*
 * pending_mappings.c: methods whose turn has not come: they answer UNIMPLEMENTED.
 */
#include <errata/v1/mapping_service.handlers.h>

enum err mapping_service_suggest_mapping_prepare(struct service *service,
                                                 const Errata__V1__SuggestMappingRequest *request,
                                                 void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_suggest_mapping_write(struct service *service, struct store_txn *txn,
                                               const Errata__V1__SuggestMappingRequest *request,
                                               void *prepared, struct work_result *result)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_suggest_mapping_answer(struct service *service, struct store_txn *txn,
                                                const Errata__V1__SuggestMappingRequest *request,
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

enum err mapping_service_confirm_mapping_prepare(struct service *service,
                                                 const Errata__V1__ConfirmMappingRequest *request,
                                                 void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_confirm_mapping_write(struct service *service, struct store_txn *txn,
                                               const Errata__V1__ConfirmMappingRequest *request,
                                               void *prepared, struct work_result *result)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_confirm_mapping_answer(struct service *service, struct store_txn *txn,
                                                const Errata__V1__ConfirmMappingRequest *request,
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

enum err mapping_service_reject_mapping_prepare(struct service *service,
                                                const Errata__V1__RejectMappingRequest *request,
                                                void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_reject_mapping_write(struct service *service, struct store_txn *txn,
                                              const Errata__V1__RejectMappingRequest *request,
                                              void *prepared, struct work_result *result)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_reject_mapping_answer(struct service *service, struct store_txn *txn,
                                               const Errata__V1__RejectMappingRequest *request,
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

enum err mapping_service_match_lines_prepare(struct service *service,
                                             const Errata__V1__MatchLinesRequest *request,
                                             void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_match_lines_read(struct service *service, struct store_txn *txn,
                                          const Errata__V1__MatchLinesRequest *request,
                                          void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_record_matches_write(struct service *service, struct store_txn *txn,
                                              const Errata__V1__RecordMatchesRequest *request,
                                              void *prepared, struct work_result *result)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)result;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_record_matches_answer(struct service *service, struct store_txn *txn,
                                               const Errata__V1__RecordMatchesRequest *request,
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

enum err mapping_service_get_mapping_read(struct service *service, struct store_txn *txn,
                                          const Errata__V1__GetMappingRequest *request,
                                          void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}

enum err mapping_service_list_mappings_read(struct service *service, struct store_txn *txn,
                                            const Errata__V1__ListMappingsRequest *request,
                                            void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}
