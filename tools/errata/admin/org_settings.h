/*
 * org_settings.h: `errata org settings`: shows the settings of an organisation, changes the given ones, and previews
 * the removals by other times of retention.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_ORG_SETTINGS_H
#define ERRATA_TOOLS_ERRATA_ADMIN_ORG_SETTINGS_H

#include "tools/errata/cli.h"

extern const struct option_spec org_settings_options[];
MUST_CHECK enum cli_exit org_settings_run(struct cli *cli);

#endif
