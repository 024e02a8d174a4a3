/*
 * admin_quotas.h: who changes quotas.
 */
#ifndef ERRATA_SERVER_API_ADMIN_QUOTAS_H
#define ERRATA_SERVER_API_ADMIN_QUOTAS_H

#include "server/domain/quotas/quotas.h"
#include "server/pipeline/service.h"

/* Returns the caller; the user is empty if memory is exhausted. */
struct quota_actor admin_quota_actor(const struct service *service);

#endif
