/*
 * retention_settings.h: for how long the content of events is kept. It is read from the event that changed the settings last.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_RETENTION_SETTINGS_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_RETENTION_SETTINGS_H

#include "server/domain/settings/settings.h"

#include <errata/v1/content_retention.fields.h>
#include <errata/v1/content_retention.views.h>

/* In days; 0: for ever. A repeated write finds its response for a day, so content is kept for at least two. */
#define RETENTION_DAYS_MIN 2
#define RETENTION_CORRECTIONS_DAYS_DEFAULT 365

/* Returns the ContentRetention of a message; the default if it has none. */
struct slice content_retention_of(const struct organization_settings_view *view);
/* Reads one with all members set; the defaults of those that it lacks. ERR_CORRUPT. */
MUST_CHECK enum err content_retention_read(struct slice message,
                                           struct content_retention_view *ret_retention);
MUST_CHECK enum err retention_settings_read(struct store_txn *txn, struct org_id org,
                                            struct content_retention_view *ret_retention);
/* Changes the members that `change` sets. */
void content_retention_change(struct content_retention_view *retention,
                              const struct content_retention_view *change);
/* Returns the days for which content of a class is kept; 0 for UNSPECIFIED. */
uint32_t content_retention_days(const struct content_retention_view *retention,
                                enum content_class class);

#endif
