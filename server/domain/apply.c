/*
 * apply.c: which capability an event belongs to.
 */
#include "server/domain/apply.h"

#include "server/domain/admin/admin.h"
#include "server/domain/corrections/apply.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/extractions/extractions.h"
#include "server/domain/layouts/apply.h"
#include "server/domain/mappings/apply.h"
#include "server/domain/prompts/prompt_templates.h"
#include "server/domain/settings/settings.h"

/* A confirmation or rejection of a mapping is a correction like any, and changes the mapping too. */
static enum err apply_feedback(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    enum err err = corrections_apply(ctx, txn, event);

    return err != OK ? err : mappings_apply(ctx, txn, event);
}

enum err domain_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    switch (event->kind) {
    case EVENT_FEEDBACK:
        return apply_feedback(ctx, txn, event);
    case EVENT_ORGANIZATION_CREATED:
    case EVENT_TOKEN_CREATED:
    case EVENT_TOKEN_REVOKED:
        return admin_apply(ctx, txn, event);
    case EVENT_DOCUMENT_INGESTED:
        return layouts_apply(ctx, txn, event);
    case EVENT_MAPPING_SUGGESTED:
    case EVENT_MAPPING_APPLIED:
        return mappings_apply(ctx, txn, event);
    case EVENT_EXTRACTION_RECORDED:
        return extraction_apply(ctx, txn, event);
    case EVENT_PROMPT_TEMPLATE_PUT:
        return prompt_template_apply(ctx, txn, event);
    case EVENT_EXPOSURE_RECORDED:
        return exposure_apply(ctx, txn, event);
    case EVENT_SETTINGS_UPDATED:
        return settings_apply(ctx, txn, event);
    }
    return ERR_CORRUPT;
}
