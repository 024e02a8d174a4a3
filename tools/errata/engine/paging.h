/*
 * paging.h: lists that come in pages, as one table or as one line of JSON a page.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_PAGING_H
#define ERRATA_TOOLS_ERRATA_ENGINE_PAGING_H

#include "tools/errata/engine/reply_csv.h"
#include "tools/errata/engine/request.h"

/* Pages of one list, with --all: a million rows of the default size. */
#define PAGES_MAX 20000
/* How one list is asked for and shown. */
struct paging {
    const char *path; /* of the method */
    struct reply_rows rows; /* of each reply */
    const struct reply_csv *csv; /* of --csv; NULL: the list has no such option */
    const struct request_member *members; /* of the request, beside paging */
    /* Adds members that are more than an option's value; NULL: there are none. */
    enum cli_exit (*add_filter)(struct request *request, struct cli *cli);
    /* Prints what the first reply says beside its rows, as CSV where that is wanted; NULL: nothing. */
    enum cli_exit (*head)(struct cli *cli, struct json_value reply);
    const char *nothing; /* said where there are no rows */
};

/* Options that every list has: --limit N rows in all, or --all. */
#define PAGING_OPTIONS                                                                             \
    {"limit", "N", "at most N rows (default 50)"},                                                 \
    {                                                                                              \
        "all", NULL, "all rows, page by page"                                                      \
    }

MUST_CHECK enum cli_exit paging_run(struct cli *cli, const struct paging *paging);

#endif
