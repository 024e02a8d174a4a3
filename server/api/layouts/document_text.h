/*
 * document_text.h: the text of a document's pages as the message DocumentText, for the reply of the
 * call that measured it. Nothing of it is stored.
 */
#ifndef ERRATA_SERVER_API_LAYOUTS_DOCUMENT_TEXT_H
#define ERRATA_SERVER_API_LAYOUTS_DOCUMENT_TEXT_H

#include "server/pipeline/document_jobs.h"

/* Encodes it into the arena. ERR_MEMORY. */
MUST_CHECK enum err document_text_encode(struct arena *arena, const struct pdf_answer *answer,
                                         struct slice *ret_message);

#endif
