/*
 * paging.h: lists that come in pages, as one table or as one line of JSON a page.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_PAGING_H
#define ERRATA_TOOLS_ERRATA_ENGINE_PAGING_H

#include "tools/errata/engine/command_call.h"

/* Pages of one list, with --all: a million rows of the default size. */
#define PAGES_MAX 20000
/* Options that every list has: --limit N rows in all, or --all. */
#define PAGING_OPTIONS                                                                             \
    {"limit", "N", "at most N rows (default 50)"},                                                 \
    {                                                                                              \
        "all", NULL, "all rows, page by page"                                                      \
    }

MUST_CHECK enum cli_exit paging_run(struct cli *cli, const struct command_call *call);

#endif
