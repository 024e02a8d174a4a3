/*
 * document_text.h: encodes the text of a document's pages as DocumentText, for the response of the
 * call that measured it. The text is not stored.
 */
#ifndef ERRATA_SERVER_API_LAYOUTS_DOCUMENT_TEXT_H
#define ERRATA_SERVER_API_LAYOUTS_DOCUMENT_TEXT_H

#include "server/pipeline/document_jobs.h"

/* Encodes the text into the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err document_text_encode(struct arena *arena, const struct pdf_answer *answer,
                                         struct slice *ret_message);

#endif
