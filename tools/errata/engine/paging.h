/*
 * paging.h: lists that are fetched in pages, printed as one table or as one line of JSON per page.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_PAGING_H
#define ERRATA_TOOLS_ERRATA_ENGINE_PAGING_H

#include "tools/errata/engine/command_call.h"

/* Maximum pages of one list, with --all: a million rows at the default size. */
#define PAGES_MAX 20000
/* Options that every list has: --limit N rows in all, or --all. */
#define PAGING_OPTIONS                                                                             \
    {"limit", "N", "at most N rows (default 50)"},                                                 \
    {                                                                                              \
        "all", NULL, "all rows, page by page"                                                      \
    }

/* Maximum bytes of a page token in a request. */
#define PAGE_TOKEN_BYTES_MAX 512

/* The filter of all pages of a list. Spans such as `12h` are converted once, since a page token belongs to its filter. */
struct paging_filter {
    struct arena arena; /* the caller frees it, also after an error */
    struct slice json; /* an object without its closing brace */
    char page_token[PAGE_TOKEN_BYTES_MAX];
    size_t page_token_bytes;
};

/* Builds the filter from the command line. */
MUST_CHECK enum cli_exit paging_filter_make(struct cli *cli, const struct command_call *call,
                                            struct paging_filter *filter);
/* Fetches the next page of at most `rows` rows, as JSON in the arena of `cli`. */
MUST_CHECK enum cli_exit paging_fetch(struct cli *cli, const struct command_call *call,
                                      const struct paging_filter *filter, int64_t rows,
                                      struct slice *ret_reply);
/* Keeps the token of the next page, and empties the arena of `cli`; false on the last page. */
bool paging_advance(struct cli *cli, struct paging_filter *filter, struct json_value reply);

MUST_CHECK enum cli_exit paging_run(struct cli *cli, const struct command_call *call);

#endif
