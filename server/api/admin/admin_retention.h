/*
 * admin_retention.h: times of retention in requests.
 */
#ifndef ERRATA_SERVER_API_ADMIN_ADMIN_RETENTION_H
#define ERRATA_SERVER_API_ADMIN_ADMIN_RETENTION_H

#include "server/domain/settings/retention_settings.h"

#include <errata/v1/content_retention.pb-c.h>

/* Reads the times of the message at `path`; each one that is too short gets a fault. */
void admin_retention_read(struct ctx *ctx, const char *path,
                          const Errata__V1__ContentRetention *given,
                          struct content_retention_view *ret_retention);

#endif
