/*
 * apply.c: which capability an event belongs to.
 */
#include "server/domain/apply.h"

#include "server/domain/admin/admin.h"
#include "server/domain/corrections/apply.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/layouts/apply.h"
#include "server/domain/settings/settings.h"

enum err domain_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    switch (event->kind) {
    case EVENT_FEEDBACK:
        return corrections_apply(ctx, txn, event);
    case EVENT_ORGANIZATION_CREATED:
    case EVENT_TOKEN_CREATED:
    case EVENT_TOKEN_REVOKED:
        return admin_apply(ctx, txn, event);
    case EVENT_DOCUMENT_INGESTED:
        return layouts_apply(ctx, txn, event);
    case EVENT_MAPPING_SUGGESTED:
    case EVENT_MAPPING_APPLIED:
    case EVENT_EXTRACTION_RECORDED:
    case EVENT_PROMPT_TEMPLATE_PUT:
        return ERR_CORRUPT;
    case EVENT_EXPOSURE_RECORDED:
        return exposure_apply(ctx, txn, event);
    case EVENT_SETTINGS_UPDATED:
        return settings_apply(ctx, txn, event);
    }
    return ERR_CORRUPT;
}
