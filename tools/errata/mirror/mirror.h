/*
 * mirror.h: `errata decisions mirror`: keeps decisions and rules as files of a git repository.
 */
#ifndef ERRATA_TOOLS_ERRATA_MIRROR_MIRROR_H
#define ERRATA_TOOLS_ERRATA_MIRROR_MIRROR_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit mirror_run(struct cli *cli);

#endif
