/*
 * quota.h: `errata admin quota`: limits of organisations and tokens.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_QUOTA_H
#define ERRATA_TOOLS_ERRATA_ADMIN_QUOTA_H

#include "tools/errata/cli.h"

extern const struct option_spec quota_options[];

/* Lists quotas, or changes the given limits. */
MUST_CHECK enum cli_exit quota_run(struct cli *cli);

#endif
