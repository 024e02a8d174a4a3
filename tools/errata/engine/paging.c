/*
 * paging.c: see paging.h.
 */
#include "tools/errata/engine/paging.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/input.h"

/* Default and maximum rows of a page, as in the contract. */
#define PAGE_ROWS_DEFAULT 50
#define PAGE_ROWS_MAX 1000
/* The progress of a list. */
struct pages {
    int64_t wanted; /* rows */
    int64_t seen;
    bool begun; /* the first page was received */
    bool last; /* the last page was shown */
    bool closed; /* the reader of the output has closed it */
    struct table_layout layout; /* layout shared by all pages, so that there is one heading */
    struct view view;
    const char *rows; /* the reply's array */
};

enum cli_exit paging_filter_make(struct cli *cli, const struct command_call *call,
                                 struct paging_filter *filter)
{
    struct request request;
    enum cli_exit result = CLI_OK;

    arena_init(&filter->arena, CLI_ARENA_BYTES_MAX);
    filter->page_token_bytes = 0;
    request_begin(&request, cli);
    if (call->fill != NULL) {
        result = call->fill(&request, cli);
    }
    if (result == CLI_OK) {
        result = fill_request(&request, cli, cli_method(call->method));
    }
    if (result == CLI_OK &&
        !arena_copy(&filter->arena, buffer_slice(&request.json), &filter->json)) {
        result = cli_local(cli, "out of memory");
    }
    return result;
}

enum cli_exit paging_fetch(struct cli *cli, const struct command_call *call,
                           const struct paging_filter *filter, int64_t rows,
                           struct slice *ret_reply)
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
    return cli_call(cli, call->method, request_end(&request), ret_reply);
}

bool paging_advance(struct cli *cli, struct paging_filter *filter, struct json_value reply)
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

/* Prints a page's rows, the first page's under a heading. Ids are shortened if all rows are on one
 * page, or if so few rows were requested that they usually fit on one. */
static enum cli_exit show_page(struct cli *cli, const struct command_call *call,
                               struct json_value reply, struct pages *pages, int64_t *ret_rows)
{
    struct table table;
    bool single = pages->seen == 0 && reply_text(cli, reply, "nextPageToken").size == 0;
    enum cli_exit result = CLI_OK;

    memset(pages->view.id_bytes, 0, sizeof(pages->view.id_bytes));
    if (single || pages->wanted <= PAGE_ROWS_MAX) {
        view_shorten_ids(cli, &pages->view, reply, pages->rows);
    }
    result = view_table(cli, &pages->view, reply, pages->rows, call->colour, &table);
    if (result != CLI_OK) {
        return result;
    }
    table_print_page(&table, &cli->out, &pages->layout);
    *ret_rows = (int64_t)table.row_count;
    return CLI_OK;
}

static int64_t count_rows(struct json_value reply, const char *name)
{
    struct reply_walk walk = reply_walk(reply, name);
    int64_t count = 0;

    while (reply_next(&walk)) {
        count++;
    }
    return count;
}

/* Prints a page. In JSON, an empty page is omitted if another follows: the server returns empty
 * pages if few rows match the filter. */
static enum cli_exit show(struct cli *cli, const struct command_call *call, struct slice json,
                          struct json_value reply, struct pages *pages, int64_t *ret_rows)
{
    if (!cli->json && !view_csv_wanted(cli)) {
        return show_page(cli, call, reply, pages, ret_rows);
    }
    *ret_rows = count_rows(reply, pages->rows);
    if (cli->json) {
        if (*ret_rows > 0 || reply_text(cli, reply, "nextPageToken").size == 0) {
            print_json(&cli->out, json);
        }
        return CLI_OK;
    }
    return view_csv_rows(cli, pages->view.message, reply, pages->rows);
}

/* Prints the text before the first page's rows. */
static enum cli_exit show_head(struct cli *cli, const struct command_call *call,
                               struct json_value reply, const struct pages *pages)
{
    enum cli_exit result = CLI_OK;

    if (view_csv_wanted(cli)) {
        result = view_csv_heading(cli, pages->view.message);
    }
    if (result == CLI_OK && call->head != NULL && !cli->json) {
        result = call->head(cli, reply);
    }
    return result;
}

static enum cli_exit wanted_rows(struct cli *cli, int64_t *ret_rows)
{
    const char *limit = options_get(&cli->options, "limit");

    *ret_rows = options_has(&cli->options, "all") ? INT64_MAX : PAGE_ROWS_DEFAULT;
    if (limit != NULL && (!input_number(limit, ret_rows) || *ret_rows == 0)) {
        return cli_usage(cli, "--limit \"%s\": invalid number; expected 1 or more", limit);
    }
    return CLI_OK;
}

/* Hides the progress line if rows are printed on the same terminal. */
static void show_progress(struct cli *cli, const struct pages *pages)
{
    const struct progress_state state = {.unit = "rows", .done = (uint64_t)pages->seen};

    if (!cli->out.terminal) {
        progress_show(&cli->progress, &state);
    }
}

static enum cli_exit run_page(struct cli *cli, const struct command_call *call,
                              struct paging_filter *filter, struct pages *pages)
{
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    int64_t rows = 0;
    enum cli_exit result = paging_fetch(cli, call, filter, pages->wanted - pages->seen, &json);

    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result == CLI_OK && !pages->begun) {
        pages->begun = true;
        result = show_head(cli, call, reply, pages);
    }
    if (result == CLI_OK) {
        result = show(cli, call, json, reply, pages, &rows);
    }
    if (result != CLI_OK) {
        return result;
    }
    pages->seen += rows;
    pages->last = !paging_advance(cli, filter, reply);
    pages->closed = fflush(cli->out.stream) != 0;
    show_progress(cli, pages);
    return CLI_OK;
}

/* Reports that there are no rows, or more. */
static void conclude(struct cli *cli, const struct command_call *call, const struct pages *pages)
{
    if (pages->seen == 0 && pages->last) {
        cli_note(cli, "%s", call->nothing);
    } else if (!pages->last) {
        cli_note(cli, "%lld rows; there may be more: use --all, or --limit N",
                 (long long)pages->seen);
    }
}

static void open_view(const struct command_call *call, struct pages *pages)
{
    const struct field_info *rows = command_call_rows(cli_method(call->method));

    pages->rows = (const char *)rows->json_name.data;
    view_init(&pages->view, rows->message);
}

enum cli_exit paging_run(struct cli *cli, const struct command_call *call)
{
    struct pages pages = {.seen = 0};
    struct paging_filter filter;
    enum cli_exit result = view_csv_check(cli);

    if (result != CLI_OK) {
        return result;
    }
    result = paging_filter_make(cli, call, &filter);
    if (result == CLI_OK) {
        result = wanted_rows(cli, &pages.wanted);
    }
    open_view(call, &pages);
    cli_progress(cli);
    for (unsigned page = 0; result == CLI_OK && page < PAGES_MAX && !pages.last && !pages.closed &&
                            pages.seen < pages.wanted;
         page++) {
        result = run_page(cli, call, &filter, &pages);
    }
    progress_hide(&cli->progress);
    arena_deinit(&filter.arena);
    if (result == CLI_OK && !cli->json && !pages.closed) {
        conclude(cli, call, &pages);
    }
    return result;
}
