/*
 * decisions_internal.h: declarations shared by the files of this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_DECISIONS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_DECISIONS_INTERNAL_H

#include "server/domain/decisions/decisions.h"

/* Sets the members of an evaluation that a result has. */
void decision_put_result(const struct evaluator_result *result, struct evaluation_view *view);

#endif
