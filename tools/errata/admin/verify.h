/*
 * verify.h: `errata admin verify`: verifies the server's whole store, with progress.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_VERIFY_H
#define ERRATA_TOOLS_ERRATA_ADMIN_VERIFY_H

#include "tools/errata/cli.h"

enum cli_exit verify_run(struct cli *cli);

#endif
