/*
 * turn_settings.h: the settings of turns: an organisation's own cues, and the meaning of a change
 * of topic. They are read from the event that changed the settings last.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_TURN_SETTINGS_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_TURN_SETTINGS_H

#include "server/domain/settings/settings.h"

/* Borrowed from the transaction. */
struct turn_settings {
    struct slice extra_cues; /* an ExtraCues */
    enum topic_change topic_change; /* never UNSPECIFIED */
};

/* Returns the setting of a message; the default if it has none. */
enum topic_change topic_change_of(const struct organization_settings_view *view);
MUST_CHECK enum err turn_settings_read(struct store_txn *txn, struct org_id org,
                                       struct turn_settings *ret_settings);

#endif
