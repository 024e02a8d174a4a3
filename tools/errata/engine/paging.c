/*
 * paging.c: see paging.h.
 */
#include "tools/errata/engine/paging.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/input.h"

/* Rows of a page by default, and at most (the contract's own limits). */
#define PAGE_ROWS_DEFAULT 50
#define PAGE_ROWS_MAX 1000
/* The longest page token that a request may bring. */
#define PAGE_TOKEN_BYTES_MAX 512

/* How far a list has come. */
struct pages {
    int64_t wanted; /* rows */
    int64_t seen;
    bool begun; /* the first page came */
    bool last; /* the last page was shown */
    bool closed; /* nobody reads the output any more */
    struct table_layout layout; /* of all pages: one heading */
};

/* What is the same for all pages; spans such as "12h ago" are worked out once, since a page token
 * belongs to its filter. */
struct filter {
    struct arena arena;
    struct slice json; /* an object without its closing brace */
    char page_token[PAGE_TOKEN_BYTES_MAX];
    size_t page_token_bytes;
};

static enum cli_exit make_filter(struct cli *cli, const struct paging *paging,
                                 struct filter *filter)
{
    struct request request;
    enum cli_exit result = CLI_OK;

    arena_init(&filter->arena, CLI_ARENA_BYTES_MAX);
    filter->page_token_bytes = 0;
    request_begin(&request, cli);
    if (paging->add_filter != NULL) {
        result = paging->add_filter(&request, cli);
    }
    if (result == CLI_OK) {
        result = request_add_options(&request, cli, paging->members);
    }
    if (result == CLI_OK &&
        !arena_copy(&filter->arena, buffer_slice(&request.json), &filter->json)) {
        result = cli_local(cli, "out of memory");
    }
    return result;
}

static enum cli_exit fetch_page(struct cli *cli, const struct paging *paging,
                                const struct filter *filter, int64_t rows, struct slice *ret_reply)
{
    struct request request;

    request_begin(&request, cli);
    buffer_append(&request.json, slice_after(filter->json, 1));
    request.has_member = filter->json.size > 1;
    request_raw(&request, "page_size",
                arena_printf(&cli->arena, "%lld",
                             (long long)(rows < PAGE_ROWS_MAX ? rows : PAGE_ROWS_MAX)));
    if (filter->page_token_bytes > 0) {
        request_text(&request, "page_token",
                     slice_of(filter->page_token, filter->page_token_bytes));
    }
    return cli_call(cli, paging->path, request_end(&request), ret_reply);
}

/* Keeps the token of the next page, and gives the page's memory back; false on the last page. */
static bool next_page(struct cli *cli, struct filter *filter, struct json_value reply)
{
    struct slice token = reply_text(cli, reply, "nextPageToken");
    bool more = token.size > 0 && token.size <= sizeof(filter->page_token);

    if (more) {
        memcpy(filter->page_token, token.data, token.size);
        filter->page_token_bytes = token.size;
    }
    arena_reset(&cli->arena);
    return more;
}

/* Prints a page's rows, the first page's under a heading; gives how many there were. */
static enum cli_exit show_page(struct cli *cli, const struct paging *paging,
                               struct json_value reply, struct table_layout *layout,
                               int64_t *ret_rows)
{
    struct table table;
    enum cli_exit result = reply_table(cli, reply, &paging->rows, &table);

    if (result != CLI_OK) {
        return result;
    }
    table_print_page(&table, &cli->out, layout);
    *ret_rows = (int64_t)table.row_count;
    return CLI_OK;
}

static int64_t count_rows(struct json_value reply, const char *name)
{
    struct json_walk walk = reply_walk(reply, name);
    struct json_value row = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    int64_t count = 0;

    while (json_walk_next(&walk, &key, &row)) {
        count++;
    }
    return count;
}

static enum cli_exit show(struct cli *cli, const struct paging *paging, struct slice json,
                          struct json_value reply, struct table_layout *layout, int64_t *ret_rows)
{
    if (cli->json) {
        print_json(&cli->out, json);
        *ret_rows = count_rows(reply, paging->rows.name);
        return CLI_OK;
    }
    if (!reply_csv_wanted(cli)) {
        return show_page(cli, paging, reply, layout, ret_rows);
    }
    *ret_rows = count_rows(reply, paging->rows.name);
    return reply_csv_rows(cli, reply, paging->rows.name, paging->csv);
}

/* What stands before the first page's rows. */
static enum cli_exit show_head(struct cli *cli, const struct paging *paging,
                               struct json_value reply)
{
    enum cli_exit result = CLI_OK;

    if (reply_csv_wanted(cli)) {
        result = reply_csv_heading(cli, paging->csv);
    }
    if (result == CLI_OK && paging->head != NULL && !cli->json) {
        result = paging->head(cli, reply);
    }
    return result;
}

static enum cli_exit wanted_rows(struct cli *cli, int64_t *ret_rows)
{
    const char *limit = options_get(&cli->options, "limit");

    *ret_rows = options_has(&cli->options, "all") ? INT64_MAX : PAGE_ROWS_DEFAULT;
    if (limit != NULL && (!input_number(limit, ret_rows) || *ret_rows == 0)) {
        return cli_usage(cli, "--limit \"%s\": give a number from 1", limit);
    }
    return CLI_OK;
}

/* Where the rows themselves pass by on the terminal, they are the progress. */
static void show_progress(struct cli *cli, const struct pages *pages)
{
    const struct progress_state state = {.unit = "rows", .done = (uint64_t)pages->seen};

    if (!cli->out.terminal) {
        progress_show(&cli->progress, &state);
    }
}

static enum cli_exit run_page(struct cli *cli, const struct paging *paging, struct filter *filter,
                              struct pages *pages)
{
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    int64_t rows = 0;
    enum cli_exit result = fetch_page(cli, paging, filter, pages->wanted - pages->seen, &json);

    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result == CLI_OK && !pages->begun) {
        pages->begun = true;
        result = show_head(cli, paging, reply);
    }
    if (result == CLI_OK) {
        result = show(cli, paging, json, reply, &pages->layout, &rows);
    }
    if (result != CLI_OK) {
        return result;
    }
    pages->seen += rows;
    pages->last = !next_page(cli, filter, reply);
    pages->closed = fflush(cli->out.stream) != 0;
    show_progress(cli, pages);
    return CLI_OK;
}

/* What the rows do not say: that there are none, or more. */
static void conclude(struct cli *cli, const struct paging *paging, const struct pages *pages)
{
    if (pages->seen == 0 && pages->last) {
        cli_note(cli, "%s", paging->nothing);
    } else if (!pages->last) {
        cli_note(cli, "%lld rows; there may be more: --all shows them, --limit N so many",
                 (long long)pages->seen);
    }
}

enum cli_exit paging_run(struct cli *cli, const struct paging *paging)
{
    struct pages pages = {.seen = 0};
    struct filter filter;
    enum cli_exit result = reply_csv_check(cli);

    if (result != CLI_OK) {
        return result;
    }
    result = make_filter(cli, paging, &filter);
    if (result == CLI_OK) {
        result = wanted_rows(cli, &pages.wanted);
    }
    cli_progress(cli);
    for (unsigned page = 0; result == CLI_OK && page < PAGES_MAX && !pages.last && !pages.closed &&
                            pages.seen < pages.wanted;
         page++) {
        result = run_page(cli, paging, &filter, &pages);
    }
    progress_hide(&cli->progress);
    arena_deinit(&filter.arena);
    if (result == CLI_OK && !cli->json && !pages.closed) {
        conclude(cli, paging, &pages);
    }
    return result;
}
