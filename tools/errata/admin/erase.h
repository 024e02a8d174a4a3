/*
 * erase.h: `errata admin erase`: removes content for a person's request, with a report that can be handed to them.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_ERASE_H
#define ERRATA_TOOLS_ERRATA_ADMIN_ERASE_H

#include "tools/errata/cli.h"

enum cli_exit erase_run(struct cli *cli);

#endif
