/*
 * pending_prompts.c: methods whose turn has not come: they answer UNIMPLEMENTED.
 */
#include <errata/v1/correction_service.handlers.h>

enum err correction_service_prepare_prompt_read(struct service *service, struct store_txn *txn,
                                                const Errata__V1__PreparePromptRequest *request,
                                                void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}

enum err
correction_service_put_prompt_template_prepare(struct service *service,
                                               const Errata__V1__PutPromptTemplateRequest *request,
                                               void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err
correction_service_put_prompt_template_write(struct service *service, struct store_txn *txn,
                                             const Errata__V1__PutPromptTemplateRequest *request,
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
correction_service_put_prompt_template_answer(struct service *service, struct store_txn *txn,
                                              const Errata__V1__PutPromptTemplateRequest *request,
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

enum err
correction_service_get_prompt_template_read(struct service *service, struct store_txn *txn,
                                            const Errata__V1__GetPromptTemplateRequest *request,
                                            void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}

enum err
correction_service_list_prompt_templates_read(struct service *service, struct store_txn *txn,
                                              const Errata__V1__ListPromptTemplatesRequest *request,
                                              void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}
