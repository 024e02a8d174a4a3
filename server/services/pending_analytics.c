/*
 * pending_analytics.c: methods whose turn has not come: they answer UNIMPLEMENTED.
 */
#include <errata/v1/analytics_service.handlers.h>

enum err analytics_service_get_learning_analytics_prepare(
    struct service *service, const Errata__V1__GetLearningAnalyticsRequest *request,
    void **ret_prepared)
{
    (void)service;
    (void)request;
    (void)ret_prepared;
    return ERR_UNIMPLEMENTED;
}

enum err analytics_service_get_learning_analytics_read(
    struct service *service, struct store_txn *txn,
    const Errata__V1__GetLearningAnalyticsRequest *request, void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}

enum err
analytics_service_list_layout_coverage_read(struct service *service, struct store_txn *txn,
                                            const Errata__V1__ListLayoutCoverageRequest *request,
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
analytics_service_get_experiment_report_read(struct service *service, struct store_txn *txn,
                                             const Errata__V1__GetExperimentReportRequest *request,
                                             void *prepared, struct reply *reply)
{
    (void)service;
    (void)txn;
    (void)request;
    (void)prepared;
    (void)reply;
    return ERR_UNIMPLEMENTED;
}
