/*
 * reviews.h: functions shared by the commands of `errata reviews`.
 */
#ifndef ERRATA_TOOLS_ERRATA_REVIEWS_REVIEWS_H
#define ERRATA_TOOLS_ERRATA_REVIEWS_REVIEWS_H

#include "tools/errata/cli.h"

/* Runs `errata reviews fill`. */
MUST_CHECK enum cli_exit review_fill_run(struct cli *cli);
/* Runs `errata reviews fragments`: prints the wording in use. */
MUST_CHECK enum cli_exit review_fragments_run(struct cli *cli);

#endif
