/*
 * answer.h: additions of typed stubs to the answer of a blocking call.
 */
#ifndef ERRATA_CLIENT_LIBRARY_ANSWER_H
#define ERRATA_CLIENT_LIBRARY_ANSWER_H

#include <errata/blocking.h>

/* Reports a failure that the stub detected: the answer's status becomes `code` and `message` (a
 * literal), reported by the library, without details, and its reply is empty. */
void answer_fail(struct errata_answer *answer, enum errata_code code, const char *message);
/* The answer keeps `take_thing`, once, and frees it with itself. */
void answer_keep(struct errata_answer *answer, void *take_thing, void (*free_thing)(void *thing));

#endif
