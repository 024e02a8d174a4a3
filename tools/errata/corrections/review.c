/*
 * review.c: `errata corrections review`: shows the newest corrections one by one, each with its
 * effect, and a key to retract it. Ids of fetched corrections stay in memory, so that the user can
 * go back; the shown details are fetched each time.
 */
#include "client/header.h"
#include "store/base/uuid.h"
#include "tools/errata/analytics/analytics.h"
#include "tools/errata/corrections/corrections.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/terminal/keys.h"

#include <unistd.h>

#define LIST "/errata.v1.FeedbackService/ListFeedbackEvents"
#define GET "/errata.v1.FeedbackService/GetFeedbackEvent"
#define REPORT "/errata.v1.LearningService/GetArtifactReport"
#define RETRACT "/errata.v1.EventService/RetractEvent"

/* Maximum corrections of one review, more than a person examines. */
#define REVIEW_EVENTS_MAX 10000
#define REVIEW_PAGE_ROWS 50
/* Maximum pages to read for the next correction: if few events match the filter, pages may be
 * empty, although the server examines thousands of events for each. */
#define REVIEW_PAGES_MAX 1000
#define REASON_BYTES_MAX 1001

struct review {
    struct cli *cli;
    struct paging_filter filter;
    char (*ids)[UUID_TEXT_BYTES]; /* allocated in cli->kept */
    size_t count;
    size_t place; /* index of the displayed one */
    bool is_last; /* there are no more pages */
    unsigned retracted;
};

static const struct command_call list_call = {.method = LIST, .fill = corrections_fill_list};

/* --- the list --- */

/* Fetches pages until there is another correction, or none are left. */
static enum cli_exit fetch_more(struct review *review)
{
    struct cli *cli = review->cli;
    size_t before = review->count;

    for (unsigned page = 0; page < REVIEW_PAGES_MAX && !review->is_last && review->count == before;
         page++) {
        struct json_value reply = {JSON_NULL, {NULL, 0}};
        struct slice json = {NULL, 0};
        struct reply_walk walk;
        enum cli_exit result =
            paging_fetch(cli, &list_call, &review->filter, REVIEW_PAGE_ROWS, &json);

        if (result == CLI_OK) {
            result = reply_parse(cli, json, &reply);
        }
        if (result != CLI_OK) {
            return result;
        }
        walk = reply_walk(reply, "events");
        while (review->count < REVIEW_EVENTS_MAX && reply_next(&walk)) {
            struct slice id = reply_text(cli, walk.row, "id");

            if (id.size == UUID_TEXT_BYTES) {
                memcpy(review->ids[review->count], id.data, UUID_TEXT_BYTES);
                review->count++;
            }
        }
        review->is_last =
            !paging_advance(cli, &review->filter, reply) || review->count == REVIEW_EVENTS_MAX;
    }
    return CLI_OK;
}

static struct slice id_at(const struct review *review, size_t place)
{
    return slice_of(review->ids[place], UUID_TEXT_BYTES);
}

/* Builds a request with one text member. */
static struct slice request_of(struct cli *cli, const char *member, struct slice value)
{
    struct request request;

    request_begin(&request, cli);
    request_text(&request, member, value);
    return request_end(&request);
}

/* --- the displayed correction --- */

/* Fetches the report of an example; an empty object for another event. */
static enum cli_exit fetch_report(struct cli *cli, struct slice id, struct json_value *ret_report)
{
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = cli_method(REPORT), .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result =
        cli_encode(cli, request.method, request_of(cli, "artifact_id", id), &request.message);

    *ret_report = (struct json_value){JSON_OBJECT, SLICE("{}")};
    if (result == CLI_OK) {
        result = cli_call_options(cli, request.method, &options);
    }
    if (result == CLI_OK) {
        result = cli_call_status(cli, &request, &cli->arena, &answer);
    }
    if (result != CLI_OK || answer.status.code != CLIENT_CODE_OK) {
        return result;
    }
    result = cli_decode(cli, request.method, answer.reply, &cli->arena, &json);
    return result != CLI_OK ? result : reply_parse(cli, json, ret_report);
}

static void print_heading(const struct review *review)
{
    struct cli *cli = review->cli;

    print_text(&cli->out, "\n");
    print_coloured(&cli->out, COLOUR_BOLD,
                   arena_printf(&cli->arena, "--- %zu of %zu%s ---", review->place + 1,
                                review->count, review->is_last ? "" : "+"));
    print_text(&cli->out, "\n");
}

static struct slice actor_of(struct cli *cli, struct json_value event)
{
    struct slice actor = reply_text(cli, event, "actorUserId");
    struct slice kind = reply_word(cli, event, "annotatorKind", "ANNOTATOR_KIND_");

    return actor.size == 0
               ? kind
               : arena_printf(&cli->arena, "%.*s (%.*s)", SLICE_ARGS(actor), SLICE_ARGS(kind));
}

static void print_event(struct cli *cli, struct json_value event)
{
    reply_print_member(cli, "correction", reply_text(cli, event, "id"));
    reply_print_member(cli, "type", reply_word(cli, event, "eventType", "FEEDBACK_EVENT_TYPE_"));
    reply_print_member(cli, "created", reply_full_time(cli, event, "createdAt"));
    reply_print_member(cli, "by", actor_of(cli, event));
    reply_print_member(cli, "document", reply_text(cli, event, "documentId"));
    reply_print_member(cli, "draft", reply_text(cli, event, "draftOrderId"));
    reply_print_member(cli, "layout", reply_text(cli, event, "layoutFingerprint"));
    reply_print_member(cli, "entity", cell_entity(cli, event, ""));
    corrections_print_diff(cli, event);
}

static enum cli_exit print_served(struct cli *cli, struct json_value report)
{
    struct json_value served = reply_member(report, "served");

    if (reply_text(cli, report, "artifactId").size == 0) {
        reply_print_member(cli, "served", SLICE("never, since it is not an example"));
        return CLI_OK;
    }
    if (reply_text(cli, served, "exposureCount").size == 0) {
        reply_print_member(cli, "served", SLICE("not in any response that an outcome cited"));
        return CLI_OK;
    }
    reply_print_member(cli, "served", artifact_outcomes(cli, report, "served"));
    return view_print_table(cli, "ExposureOutcome", report, "newestOutcomes", NULL);
}

static void print_retraction(struct cli *cli, struct json_value event)
{
    struct slice by = reply_text(cli, event, "retractedBy");

    if (reply_text(cli, event, "retractedAt").size > 0) {
        print_coloured(&cli->out, COLOUR_YELLOW,
                       arena_printf(&cli->arena, "retracted %.*s%s%.*s: %.*s",
                                    SLICE_ARGS(reply_ago(cli, event, "retractedAt")),
                                    by.size > 0 ? " by " : "", SLICE_ARGS(by),
                                    SLICE_ARGS(reply_text(cli, event, "retractionReason"))));
        print_text(&cli->out, "\n");
    }
}

/* Shows the correction at the review's position. */
static enum cli_exit show(struct review *review)
{
    struct cli *cli = review->cli;
    struct slice id = id_at(review, review->place);
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value report = {JSON_NULL, {NULL, 0}};
    enum cli_exit result = CLI_OK;

    arena_reset(&cli->arena);
    result = cli_call_reply(cli, GET, request_of(cli, "id", id), &reply);
    if (result == CLI_OK) {
        result = fetch_report(cli, id, &report);
    }
    if (result != CLI_OK) {
        return result;
    }
    print_heading(review);
    print_event(cli, reply_member(reply, "event"));
    result = print_served(cli, report);
    print_retraction(cli, reply_member(reply, "event"));
    return result;
}

/* --- keys --- */

/* Prompts for the reason of a retraction; empty if none is given. */
static struct slice ask_reason(struct cli *cli)
{
    const char *given = options_get(&cli->options, "reason");
    char *line = arena_alloc(&cli->arena, REASON_BYTES_MAX + 1);

    if (given != NULL || line == NULL) {
        return slice_text(given);
    }
    print_text(&cli->out, "\nReason (empty: do not retract): ");
    (void)fflush(cli->out.stream);
    if (fgets(line, REASON_BYTES_MAX + 1, stdin) == NULL) {
        return slice_of(NULL, 0);
    }
    line[strcspn(line, "\r\n")] = '\0';
    return slice_text(line);
}

/* Retracts the displayed correction. A refusal is reported, and the review continues. */
static enum cli_exit retract(struct review *review)
{
    struct cli *cli = review->cli;
    struct slice reason = ask_reason(cli);
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct request request;

    if (reason.size == 0) {
        print_text(&cli->out, "\nnot retracted\n");
        return CLI_OK;
    }
    request_begin(&request, cli);
    request_text(&request, "event_id", id_at(review, review->place));
    request_text(&request, "reason", reason);
    print_text(&cli->out, "\n");
    if (cli_call_reply(cli, RETRACT, request_end(&request), &reply) != CLI_OK) {
        return CLI_OK;
    }
    review->retracted++;
    return show(review);
}

static enum cli_exit go_on(struct review *review)
{
    enum cli_exit result = CLI_OK;

    if (review->place + 1 == review->count && !review->is_last) {
        result = fetch_more(review);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (review->place + 1 == review->count) {
        print_text(&review->cli->out, "\nthis is the last one\n");
        return CLI_OK;
    }
    review->place++;
    return show(review);
}

static enum cli_exit go_back(struct review *review)
{
    if (review->place == 0) {
        print_text(&review->cli->out, "\nthis is the newest one\n");
        return CLI_OK;
    }
    review->place--;
    return show(review);
}

/* Acts on a key; `ret_ends` after the one that ends the review. */
static enum cli_exit act(struct review *review, int key, bool *ret_ends)
{
    switch (key) {
    case 'n':
    case 'j':
    case ' ':
    case '\n':
    case '\r':
    case KEYS_NEXT:
        return go_on(review);
    case 'p':
    case 'k':
    case KEYS_PREVIOUS:
        return go_back(review);
    case 'r':
        return retract(review);
    case 'q':
    case KEYS_END:
        *ret_ends = true;
        return CLI_OK;
    default:
        print_text(&review->cli->out,
                   "\nn, space, down: next; p, up: previous; r: retract; q: quit\n");
        return CLI_OK;
    }
}

static enum cli_exit run_keys(struct review *review)
{
    bool ends = false;
    enum cli_exit result = show(review);

    while (result == CLI_OK && !ends) {
        int key = keys_read(&review->cli->out, "[n]ext  [p]revious  [r]etract  [q]uit  ");

        result = act(review, key, &ends);
    }
    print_text(&review->cli->out, "\n");
    return result;
}

enum cli_exit review_run(struct cli *cli)
{
    struct review review = {.cli = cli};
    enum cli_exit result = CLI_OK;

    if (cli->json || !cli->out.terminal || isatty(STDIN_FILENO) != 1) {
        return cli_usage(
            cli, "corrections review: not on a terminal; expected a terminal for input and output "
                 "(scripts use `errata corrections list` and `errata corrections retract`)");
    }
    review.ids = arena_alloc(&cli->kept, REVIEW_EVENTS_MAX * sizeof(*review.ids));
    if (review.ids == NULL) {
        return cli_local(cli, "out of memory");
    }
    result = paging_filter_make(cli, &list_call, &review.filter);
    if (result == CLI_OK) {
        result = fetch_more(&review);
    }
    if (result == CLI_OK && review.count == 0) {
        cli_note(cli, "no corrections match");
    } else if (result == CLI_OK) {
        result = run_keys(&review);
    }
    if (result == CLI_OK && review.retracted > 0) {
        cli_note(cli, "%u retracted", review.retracted);
    }
    arena_deinit(&review.filter.arena);
    return result;
}
