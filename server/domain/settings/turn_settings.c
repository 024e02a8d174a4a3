/*
 * turn_settings.c: see turn_settings.h.
 */
#include "server/domain/settings/turn_settings.h"

enum topic_change topic_change_of(const struct organization_settings_view *view)
{
    return view->topic_change == TOPIC_CHANGE_UNSPECIFIED ? TOPIC_CHANGE_ACCEPTED
                                                          : view->topic_change;
}

enum err turn_settings_read(struct store_txn *txn, struct org_id org,
                            struct turn_settings *ret_settings)
{
    struct organization_settings_view view;
    enum err err = settings_message_read(txn, org, UINT64_MAX, &view);

    if (err == OK) {
        *ret_settings = (struct turn_settings){.extra_cues = view.extra_cues,
                                               .topic_change = topic_change_of(&view)};
    }
    return err;
}
