/*
 * fill_in.h: adds values that a caller omits and the server knows: the layout fingerprint, the layout family
 * and the text that the model saw. They are taken from the document that an event names, else from the document
 * that an extraction linked to the event's draft order. Decided within the transaction, so that a document
 * ingested just before counts. Given values are never replaced; callers cannot set the family.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_FILL_IN_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_FILL_IN_H

#include "server/domain/corrections/capture.h"

/* Completes a prepared event from its document: layout and text of an ingested document, else the layout that
 * its newest extraction names. Sets `document_unknown` if the layout of the named document is unknown. Added
 * values are in ctx->arena. */
MUST_CHECK enum err fill_in_event(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  struct capture_event *event);

#endif
