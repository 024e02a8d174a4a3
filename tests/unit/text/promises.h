/*
 * promises.h: what the sanitiser promises of any text, looked for by code of its own: no table and no
 * measure of the sanitiser's is used here. Unit tests and the fuzzer ask it the same.
 */
#ifndef ERRATA_TESTS_UNIT_TEXT_PROMISES_H
#define ERRATA_TESTS_UNIT_TEXT_PROMISES_H

#include "server/domain/text/sanitise.h"

/* Returns the violated guarantee of a sanitised text's profile; NULL if there is none. */
const char *promises_broken_by(enum sanitise_profile profile, struct slice text);
/* The same of a quotation made of `notes` notes. */
const char *promises_broken_by_quote(struct slice quotation, size_t notes);

#endif
