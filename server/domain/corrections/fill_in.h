/*
 * fill_in.h: values that a caller leaves out and the server knows. From the document that an event names,
 * or else from the one that an extraction tied to its draft order, it adds the layout's fingerprint, the
 * layout family and the text that the model saw. Decided within the transaction, so that a document
 * ingested just before counts; a given value is never replaced, and the family is never given.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_FILL_IN_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_FILL_IN_H

#include "server/domain/corrections/capture.h"

/* Adds to a prepared event what is known of its document: of one that was ingested its layout and text, else
 * the layout that its newest extraction names. Sets `document_unknown` if the event names a document of
 * which no layout is known. Added values are in ctx->arena. */
MUST_CHECK enum err fill_in_event(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  struct capture_event *event);

#endif
