/*
 * org_delete.h: `errata org delete`: begins the deletion of an organisation, and waits until nothing of it is left.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_ORG_DELETE_H
#define ERRATA_TOOLS_ERRATA_ADMIN_ORG_DELETE_H

#include "tools/errata/cli.h"

enum cli_exit org_delete_run(struct cli *cli);

#endif
