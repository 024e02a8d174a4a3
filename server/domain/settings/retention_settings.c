/*
 * retention_settings.c: see retention_settings.h.
 */
#include "server/domain/settings/retention_settings.h"

void content_retention_change(struct content_retention_view *retention,
                              const struct content_retention_view *change)
{
    if (change->has_corrections_days) {
        retention->corrections_days = change->corrections_days;
    }
    if (change->has_verdicts_days) {
        retention->verdicts_days = change->verdicts_days;
    }
    if (change->has_reviews_days) {
        retention->reviews_days = change->reviews_days;
    }
}

struct slice content_retention_of(const struct organization_settings_view *view)
{
    /* The encoded default. */
    static const uint8_t message[] = {0x08, 0xed, 0x02, 0x10, 0x00, 0x18, 0x00};

    return view->has_content_retention ? view->content_retention
                                       : slice_of(message, sizeof(message));
}

enum err content_retention_read(struct slice message, struct content_retention_view *ret_retention)
{
    struct content_retention_view stored;
    struct content_retention_view retention = {
        .corrections_days = RETENTION_CORRECTIONS_DAYS_DEFAULT,
        .has_corrections_days = true,
        .has_verdicts_days = true,
        .has_reviews_days = true,
    };
    enum err err = content_retention_view_read(message, &stored);

    if (err == OK) {
        content_retention_change(&retention, &stored);
        *ret_retention = retention;
    }
    return err;
}

enum err retention_settings_read(struct store_txn *txn, struct org_id org,
                                 struct content_retention_view *ret_retention)
{
    struct organization_settings_view view;
    enum err err = settings_message_read(txn, org, UINT64_MAX, &view);

    return err != OK ? err : content_retention_read(content_retention_of(&view), ret_retention);
}

uint32_t content_retention_days(const struct content_retention_view *retention,
                                enum content_class class)
{
    switch (class) {
    case CONTENT_CLASS_CORRECTIONS:
        return retention->corrections_days;
    case CONTENT_CLASS_VERDICTS:
        return retention->verdicts_days;
    case CONTENT_CLASS_REVIEWS:
        return retention->reviews_days;
    case CONTENT_CLASS_UNSPECIFIED:
        break;
    }
    return 0;
}
