/*
 * events.c: `errata events`: lists, shows and watches events of the log.
 */
#include "client/header.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/reader.h"
#include "tools/errata/engine/resolve.h"
#include "tools/errata/engine/values.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

#include <ctype.h>
#include <stdio.h>
#include <time.h>

/* Pause between two attempts to reconnect: doubled from the first value to the last. */
#define RETRY_FIRST_MS 250
#define RETRY_LAST_MS 8000
/* Consecutive attempts without an event before the watch gives up, after about thirteen minutes. */
#define RETRY_COUNT_MAX 100
/* Memory limit for the status of a stream: texts and metadata. */
#define STATUS_ARENA_BYTES_MAX ((size_t)1024 * 1024)

/* Ranks subjects by usefulness: people know documents by their ids. */
static unsigned kind_rank(struct slice kind)
{
    static const char *const known[] = {"DOCUMENT", "DRAFT_ORDER", "ENTITY"};
    unsigned count = sizeof(known) / sizeof(known[0]);

    for (unsigned i = 0; i < count; i++) {
        if (slice_equal(kind, slice_text(known[i]))) {
            return count - i;
        }
    }
    return 0;
}

/* Converts a word of the contract to the form of the command line, draft_order for DRAFT_ORDER, and
 * back. */
static struct slice in_case(struct cli *cli, struct slice word, int (*convert)(int))
{
    uint8_t *copy = arena_alloc(&cli->arena, word.size + 1);

    for (size_t i = 0; copy != NULL && i < word.size; i++) {
        copy[i] = (uint8_t)convert(word.data[i]);
    }
    return slice_of(copy, copy != NULL ? word.size : 0);
}

/* Returns `kind:id` of the most useful subject; of equal ones the first. */
struct slice cell_subject(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk walk = reply_walk(object, name);
    struct slice kind = {NULL, 0};
    struct slice id = {NULL, 0};

    while (reply_next(&walk)) {
        struct slice next = reply_word(cli, walk.row, "kind", "EVENT_SUBJECT_KIND_");

        if (kind.size == 0 || kind_rank(next) > kind_rank(kind)) {
            kind = next;
            id = reply_text(cli, walk.row, "id");
        }
    }
    kind = in_case(cli, kind, tolower);
    return kind.size == 0
               ? kind
               : arena_printf(&cli->arena, "%.*s:%.*s", SLICE_ARGS(kind), SLICE_ARGS(id));
}

static struct slice two_skus(struct cli *cli, struct json_value mapping)
{
    struct slice theirs = reply_text(cli, mapping, "customerSku");
    struct slice ours = reply_text(cli, mapping, "internalSku");

    return arena_printf(&cli->arena, "%.*s as %.*s", SLICE_ARGS(theirs), SLICE_ARGS(ours));
}

/* Formats a change as `FAKE to REAL`. */
static struct slice cell_verdicts(struct cli *cli, struct json_value submission)
{
    struct slice original = reply_word(cli, submission, "originalVerdict", "VERDICT_");
    struct slice correct = reply_word(cli, submission, "correctVerdict", "VERDICT_");

    return arena_printf(&cli->arena, "%.*s to %.*s", SLICE_ARGS(original), SLICE_ARGS(correct));
}

/* Returns a short description of the event; empty if the kind is sufficient. */
struct slice cell_event_summary(struct cli *cli, struct json_value object, const char *name)
{
    struct slice what =
        reply_word(cli, reply_member(object, "feedbackEvent"), "eventType", "FEEDBACK_EVENT_TYPE_");
    struct json_value extraction =
        reply_member(reply_member(object, "extractionRecorded"), "extraction");
    struct json_value mapping =
        reply_member(reply_member(reply_member(object, "mappingSuggested"), "change"), "mapping");
    struct slice version = reply_text(cli, reply_member(object, "promptTemplate"), "version");

    struct json_value verdict = reply_member(object, "verdictSubmission");

    (void)name;
    if (what.size == 0 && verdict.text.size > 2) {
        what = cell_verdicts(cli, verdict);
    } else if (what.size == 0 && extraction.text.size > 2) {
        what = arena_printf(&cli->arena, "confidence %.*s",
                            (int)measures_number(cli, extraction, "confidence").size,
                            (const char *)measures_number(cli, extraction, "confidence").data);
    } else if (what.size == 0 && mapping.text.size > 2) {
        what = two_skus(cli, mapping);
    } else if (what.size == 0 && version.size > 0) {
        what = arena_printf(&cli->arena, "version %.*s", SLICE_ARGS(version));
    }
    return what;
}

struct slice cell_digits(struct cli *cli, struct json_value object, const char *name)
{
    return reply_text(cli, object, name);
}

/* Adds the member of --subject KIND:ID. */
static enum cli_exit add_subject(struct request *request, struct cli *cli)
{
    const char *subject = options_get(&cli->options, "subject");
    const char *colon = subject != NULL ? strchr(subject, ':') : NULL;

    if (subject == NULL) {
        return CLI_OK;
    }
    if (colon == NULL || colon == subject || colon[1] == '\0') {
        return cli_usage(
            cli, "--subject \"%s\": malformed; expected KIND:ID, such as document:invoice-17",
            subject);
    }
    request_open(request, "subject");
    request_text(request, "kind",
                 in_case(cli, slice_of(subject, (size_t)(colon - subject)), toupper));
    request_text(request, "id", slice_text(colon + 1));
    request_close(request);
    return CLI_OK;
}

static enum cli_exit run_show(struct cli *cli)
{
    const char *word = cli->options.words[0];
    struct request request;
    struct slice json = {NULL, 0};
    struct slice id = {NULL, 0};
    int64_t seq = 0;
    enum cli_exit result = CLI_OK;

    cli->indent = cli->out.terminal && !cli->json ? 2 : 0;
    request_begin(&request, cli);
    if (input_number(word, &seq)) {
        request_text(&request, "seq", slice_text(word));
    } else {
        result = resolve_prefix(cli, SLICE("EVENT"), slice_text(word), &id);
        request_text(&request, "id", id);
    }
    if (result != CLI_OK) {
        return result;
    }
    result = cli_call(cli, "/errata.v1.EventService/GetEvent", request_end(&request), &json);
    if (result == CLI_OK) {
        print_json(&cli->out, json);
    }
    return result;
}

/* --- watch --- */

struct watching {
    struct cli *cli;
    const struct method_info *method;
    int64_t next_seq; /* number of the first event to print */
    int64_t until_seq; /* number of the last event to print; 0: no limit */
    int64_t left; /* number of events left to print; -1: unlimited */
    unsigned failures; /* consecutive attempts without an event */
    enum cli_exit result;
    bool finished; /* all requested events are printed, or the output has no reader */
    struct table_layout layout; /* layout of the printed rows */
    struct view view;
};

/* Prints each event as a separate page, in the columns of the previous ones. */
static enum cli_exit print_row(struct watching *watching, struct json_value event)
{
    struct cli *cli = watching->cli;
    struct slice cells[TABLE_COLUMNS_MAX] = {{NULL, 0}};
    struct table table;

    view_cells(cli, &watching->view, event, cells);
    table_init(&table, &cli->arena, watching->view.columns, watching->view.count);
    if (!table_add(&table, cells)) {
        return cli_local(cli, "out of memory");
    }
    table_print_page(&table, &cli->out, &watching->layout);
    return CLI_OK;
}

static bool read_seq(struct cli *cli, struct json_value event, int64_t *ret_seq)
{
    struct slice seq = reply_text(cli, event, "seq");
    struct slice text = {NULL, 0};

    return arena_copy(&cli->arena, seq, &text) && input_number((const char *)text.data, ret_seq);
}

static bool print_event(void *user, struct slice message)
{
    struct watching *watching = user;
    struct cli *cli = watching->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value event = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    int64_t number = 0;

    arena_reset(&cli->arena);
    watching->result = cli_decode(cli, watching->method, message, &cli->arena, &json);
    if (watching->result == CLI_OK) {
        watching->result = reply_parse(cli, json, &reply);
    }
    if (watching->result != CLI_OK) {
        return false;
    }
    event = reply_member(reply, "event");
    if (read_seq(cli, event, &number)) {
        watching->next_seq = number + 1;
    }
    if (cli->json) {
        print_json(&cli->out, json);
    } else {
        watching->result = print_row(watching, event);
    }
    watching->failures = 0;
    watching->left -= watching->left > 0 ? 1 : 0;
    watching->finished = fflush(cli->out.stream) != 0 || watching->left == 0;
    return !watching->finished;
}

static enum cli_exit watch_request(struct watching *watching, struct slice *ret_wire)
{
    struct cli *cli = watching->cli;
    const char *kind = NULL;
    struct request request;
    struct buffer kinds;

    request_begin(&request, cli);
    request_raw(&request, "from_seq",
                arena_printf(&cli->arena, "%lld", (long long)watching->next_seq));
    if (watching->until_seq > 0) {
        request_raw(&request, "until_seq",
                    arena_printf(&cli->arena, "%lld", (long long)watching->until_seq));
    }
    buffer_init(&kinds, &cli->arena, 64);
    for (size_t at = 0; (kind = options_next(&cli->options, "kind", &at)) != NULL;) {
        struct slice word = {NULL, 0};
        enum cli_exit result = values_read(cli, "kind", kind, &word);

        if (result != CLI_OK) {
            return result;
        }
        buffer_append_byte(&kinds, kinds.size == 0 ? '[' : ',');
        json_write_string(&kinds, word, false);
    }
    if (kinds.size > 0) {
        buffer_append_byte(&kinds, ']');
        request_raw(&request, "kinds", buffer_slice(&kinds));
    }
    return cli_encode(cli, watching->method, request_end(&request), ret_wire);
}

/* Finds the first event to print without --from-seq: the next event that is recorded. Asking for
 * its number ensures that no event is lost if the connection fails before the first one. */
static enum cli_exit find_start(struct watching *watching)
{
    const char *given = options_get(&watching->cli->options, "from-seq");
    struct cli *cli = watching->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct reply_walk walk;
    int64_t newest = 0;
    enum cli_exit result = CLI_OK;

    if (given != NULL) {
        return input_number(given, &watching->next_seq) && watching->next_seq > 0
                   ? CLI_OK
                   : cli_usage(cli, "--from-seq \"%s\": invalid number; expected 1 or more", given);
    }
    result = cli_call_reply(cli, "/errata.v1.EventService/ListEvents", SLICE("{\"page_size\":1}"),
                            &reply);
    if (result != CLI_OK) {
        return result;
    }
    walk = reply_walk(reply, "events");
    if (reply_next(&walk) && !read_seq(cli, walk.row, &newest)) {
        return cli_local(cli, "the newest event has no number");
    }
    watching->next_seq = newest + 1;
    return CLI_OK;
}

/* Watches over one connection, until it ends. */
static enum cli_exit watch_once(struct watching *watching, struct arena *arena,
                                struct client_status *ret_status)
{
    struct cli *cli = watching->cli;
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = watching->method, .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    enum cli_exit result = watch_request(watching, &request.message);
    enum err err = OK;

    if (result == CLI_OK) {
        result = cli_call_options(cli, request.method, &options);
    }
    if (result == CLI_OK) {
        result = cli_connect(cli);
    }
    if (result != CLI_OK) {
        return result;
    }
    err = client_stream_blocking(cli->client, &request, print_event, watching, arena, &answer);
    if (err != OK) {
        return failure_print_start(cli, err);
    }
    *ret_status = answer.status;
    return watching->result;
}

static void wait_to_retry(const struct watching *watching)
{
    unsigned doublings = watching->failures < 6 ? watching->failures : 6;
    long wait_ms = (long)RETRY_FIRST_MS << doublings;
    struct timespec span = {0, 0};

    wait_ms = wait_ms < RETRY_LAST_MS ? wait_ms : RETRY_LAST_MS;
    span.tv_sec = wait_ms / 1000;
    span.tv_nsec = wait_ms % 1000 * 1000000;
    (void)nanosleep(&span, NULL); /* a signal may end the sleep early */
}

/* Watches over one connection. Returns the outcome of its end: done, failed, or retry after a
 * pause. */
static enum cli_exit watch_step(struct watching *watching, struct arena *arena)
{
    struct cli *cli = watching->cli;
    struct client_status status = {.code = 0};
    enum cli_exit result = watch_once(watching, arena, &status);

    if (result != CLI_OK || watching->finished) {
        return result;
    }
    if (status.code == CLIENT_CODE_OK) {
        watching->finished = true;
        return CLI_OK;
    }
    if (status.code != CLIENT_CODE_UNAVAILABLE || watching->failures == RETRY_COUNT_MAX) {
        return failure_print_status(cli, &status);
    }
    if (watching->failures == 0) {
        cli_note(cli, "connection lost; trying again from event %lld",
                 (long long)watching->next_seq);
    }
    cli_disconnect(cli);
    wait_to_retry(watching);
    watching->failures++;
    return CLI_OK;
}

static enum cli_exit run_watch(struct cli *cli)
{
    const char *count = options_get(&cli->options, "count");
    const char *until = options_get(&cli->options, "until-seq");
    struct watching watching = {.cli = cli,
                                .method = cli_method("/errata.v1.EventService/WatchEvents"),
                                .left = -1,
                                .layout = {.stretched = true}};
    enum cli_exit result = CLI_OK;

    if (count != NULL && (!input_number(count, &watching.left) || watching.left == 0)) {
        return cli_usage(cli, "--count \"%s\": invalid number; expected 1 or more", count);
    }
    if (until != NULL && (!input_number(until, &watching.until_seq) || watching.until_seq == 0)) {
        return cli_usage(cli, "--until-seq \"%s\": invalid number; expected 1 or more", until);
    }
    view_init(&watching.view, view_message("Event"));
    result = find_start(&watching);
    reader_end_without();
    /* Ends if the server ends the stream, on an error, after --count events, or after
     * RETRY_COUNT_MAX attempts without an event. */
    while (result == CLI_OK && !watching.finished) {
        struct arena arena;

        arena_init(&arena, STATUS_ARENA_BYTES_MAX);
        result = watch_step(&watching, &arena);
        arena_deinit(&arena);
    }
    return result;
}

static const struct option_spec list_options[] = {
    {"subject", "KIND:ID",
     "only events of this subject: document:invoice-17, layout:..., draft_order:..., entity:..., "
     "organization:..., token:..., exposure:..., prompt_template:..., receipt:..., "
     "learned_rule:..., subcategory:..., run:... or item:..."},
    {"kind", "KIND", "only events of this kind"},
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec watch_options[] = {
    {"from-seq", "SEQ", "start with this event; default: the next event that is recorded"},
    {"until-seq", "SEQ", "exit after this event"},
    {"kind", "KIND", "only events of this kind; may be repeated"},
    {"count", "N", "exit after N events"},
    {NULL, NULL, NULL}};

const struct command event_commands[] = {
    {.group = "events",
     .name = "list",
     .summary = "list the event log, newest first",
     .help =
         "Lists events of the log, newest first: corrections, documents, tokens, organisations.",
     .examples = {{"errata events list --subject document:invoice-17",
                   "all events of one document"},
                  {"errata events list --kind token_created --all", "who got access"}},
     .options = list_options,
     COMMAND_CALL("EventService/ListEvents", .fill = add_subject, .nothing = "no events match")},
    {.group = "events",
     .name = "show",
     .arguments = "SEQ|EVENT",
     .summary = "show one event as JSON",
     .help = "Shows one event, given by its sequence number or its id.",
     .examples = {{"errata events show 1", "the first event of an organisation"}},
     .run = run_show},
    {.group = "events",
     .name = "watch",
     .summary = "print new events until interrupted",
     .help = "Prints each event once, in the order of the log, as soon as it is written. If the "
             "connection is lost, the command reconnects and continues with the next event.",
     .examples = {{"errata events watch", NULL},
                  {"errata events watch --from-seq 1 --count 3", "the first three"},
                  {"errata events watch --kind feedback --json | jq -c .event.subjects", NULL}},
     .options = watch_options,
     .run = run_watch},
    {.name = NULL}};
