/*
 * promises.h: checks the guarantees of the sanitiser for any text, independently of its tables and
 * functions. Unit tests and the fuzzer use it.
 */
#ifndef ERRATA_TESTS_UNIT_TEXT_PROMISES_H
#define ERRATA_TESTS_UNIT_TEXT_PROMISES_H

#include "server/domain/text/sanitise.h"

/* Returns the violated guarantee of a sanitised text's profile; NULL if there is none. */
const char *promises_broken_by(enum sanitise_profile profile, struct slice text);
/* Returns the violated guarantee of a quotation made of `notes` notes; NULL if there is none. */
const char *promises_broken_by_quote(struct slice quotation, size_t notes);

#endif
