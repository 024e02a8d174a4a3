/*
 * shipped.h: the template that the server ships, version 0 of its name in every organisation. Its
 * text is a part of the program: a changed text gets a new name, so that a name and a version
 * identify a text permanently.
 */
#ifndef ERRATA_SERVER_DOMAIN_PROMPTS_SHIPPED_H
#define ERRATA_SERVER_DOMAIN_PROMPTS_SHIPPED_H

#include "store/base/slice.h"

/* Extracts an order from the text of a PDF; uses hint_examples, output_schema and document_text. */
struct slice shipped_name(void);
struct slice shipped_text(void);
struct slice shipped_comment(void);

#endif
