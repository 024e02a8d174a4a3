/*
 * fill_review.c: `errata reviews fill`: shows the item of a run and asks the questions of the form, one key each. Nothing
 * is stored before the last key; a refusal keeps the answers, so that the reviewer can go back.
 */
#include "client/header.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/reviews/reviews.h"
#include "tools/errata/terminal/keys.h"

#include <unistd.h>

#define GET_RUN "/errata.v1.ReviewService/GetRun"
#define LIST_EVENTS "/errata.v1.EventService/ListEvents"
#define SUBMIT "/errata.v1.ReviewService/SubmitReview"

/* Maximum bytes of a typed line: more than a note or a list of fields may have. */
#define LINE_BYTES 4096
#define LINES_MAX 200

enum step {
    STEP_INFORMATION,
    STEP_MISSING,
    STEP_FORMAT,
    STEP_FACTS,
    STEP_DIMENSIONS,
    STEP_NOTES,
    STEP_DECISION,
    STEP_SUBMIT,
    STEP_COUNT
};

/* A question with the answer yes, no or none. */
static const struct {
    const char *question;
    const char *member;
} flags[STEP_COUNT] = {
    [STEP_INFORMATION] = {"Is enough information present?", "information_present"},
    [STEP_FORMAT] = {"Is the format wrong?", "bad_format"},
    [STEP_FACTS] = {"Are facts wrong?", "wrong_information"},
    [STEP_DIMENSIONS] = {"Are dimensions or units wrong?", "wrong_physical_dimensions"},
};

struct form {
    struct cli *cli;
    struct slice run_id;
    struct slice subcategory; /* in cli->kept, like the two texts */
    char answers[STEP_COUNT]; /* 'y', 'n', or 0; of STEP_DECISION the key of the decision */
    char *missing;
    char *notes;
    bool is_stored;
};

static const char *decision_of(char key)
{
    if (key == 'r') {
        return "REVIEWED";
    }
    return key == 'x' ? "REJECTED" : "CHANGES_REQUESTED";
}

/* --- the item --- */

/* Makes a call that fails for a run without reviews; returns an empty object then. */
static enum cli_exit call_quietly(struct cli *cli, const char *path, struct slice json,
                                  struct json_value *ret_reply)
{
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = cli_method(path), .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    struct slice reply = {NULL, 0};
    enum cli_exit result = cli_encode(cli, request.method, json, &request.message);

    *ret_reply = (struct json_value){JSON_OBJECT, SLICE("{}")};
    if (result == CLI_OK) {
        result = cli_call_options(cli, request.method, &options);
    }
    if (result == CLI_OK) {
        result = cli_call_status(cli, &request, &cli->arena, &answer);
    }
    if (result != CLI_OK || answer.status.code != CLIENT_CODE_OK) {
        return result;
    }
    result = cli_decode(cli, request.method, answer.reply, &cli->arena, &reply);
    return result != CLI_OK ? result : reply_parse(cli, reply, ret_reply);
}

static struct slice items_request(const struct form *form)
{
    struct request request;

    request_begin(&request, form->cli);
    request_open(&request, "subject");
    request_text(&request, "kind", SLICE("RUN"));
    request_text(&request, "id", form->run_id);
    request_close(&request);
    request_text(&request, "kind", SLICE("RUN_ITEM_PUT"));
    request_raw(&request, "page_size", SLICE("1"));
    return request_end(&request);
}

/* Prints the members of the item, each on lines of its own. */
static void print_item(struct cli *cli, struct slice item)
{
    struct json_value whole = {JSON_NULL, {NULL, 0}};
    struct json_value value;
    struct json_walk walk;
    struct slice name = {NULL, 0};

    if (item.size == 0 || reply_parse(cli, item, &whole) != CLI_OK) {
        print_text(&cli->out, "\n(no item is stored for this run)\n");
        return;
    }
    print_text(&cli->out, "\n");
    walk = json_walk_start(whole);
    while (json_walk_next(&walk, &name, &value)) {
        struct slice text = value.text;

        if (value.kind == JSON_STRING && json_string(&cli->arena, value.text, &text) != OK) {
            text = value.text;
        }
        if (json_string(&cli->arena, name, &name) != OK) {
            return;
        }
        measures_print_text(
            cli, "  ", arena_printf(&cli->arena, "%.*s: %.*s", SLICE_ARGS(name), SLICE_ARGS(text)),
            LINES_MAX);
    }
}

static struct slice first_item(struct cli *cli, struct json_value events)
{
    struct reply_walk walk = reply_walk(events, "events");

    return reply_next(&walk) ? reply_text(cli, reply_member(walk.row, "runItem"), "itemJson")
                             : slice_of(NULL, 0);
}

/* Prints the latest item of the run, or else that of its newest review. Takes the subcategory from that review unless
 * it is given. */
static enum cli_exit show(struct form *form)
{
    struct cli *cli = form->cli;
    struct json_value events = {JSON_NULL, {NULL, 0}};
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value newest;
    struct request request;
    struct slice item = {NULL, 0};
    enum cli_exit result = call_quietly(cli, LIST_EVENTS, items_request(form), &events);

    request_begin(&request, cli);
    request_text(&request, "run_id", form->run_id);
    if (result == CLI_OK) {
        result = call_quietly(cli, GET_RUN, request_end(&request), &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    newest = reply_member(reply_member(reply, "run"), "newestReview");
    if (form->subcategory.size == 0) {
        struct slice known = reply_text(cli, newest, "subcategory");

        form->subcategory = arena_printf(&cli->kept, "%.*s", SLICE_ARGS(known));
    }
    item = first_item(cli, events);
    reply_print_member(cli, "run", form->run_id);
    reply_print_member(cli, "subcategory", form->subcategory);
    print_item(cli, item.size > 0 ? item : reply_text(cli, newest, "itemSnapshotJson"));
    return CLI_OK;
}

/* --- the questions --- */

/* Reads a line into `line`; returns false at the end of the input. */
static bool ask_line(struct form *form, const char *question, char *line)
{
    print_text(&form->cli->out, "\n");
    print_text(&form->cli->out, "%s", question);
    (void)fflush(form->cli->out.stream);
    if (fgets(line, LINE_BYTES, stdin) == NULL) {
        return false;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

/* Handles a key that moves between questions; returns false for a key without a meaning. */
static bool move(int key, enum step at, int *ret_next)
{
    switch (key) {
    case 'q':
    case KEYS_END:
        *ret_next = STEP_COUNT;
        return true;
    case 'b':
    case KEYS_PREVIOUS:
        *ret_next = at > 0 ? (int)at - 1 : 0;
        return true;
    default:
        return false;
    }
}

static int ask_flag(struct form *form, enum step at)
{
    struct cli *cli = form->cli;
    int next = (int)at;
    int key = 0;

    print_text(&cli->out, "\n");
    print_text(&cli->out, "%s", flags[at].question);
    key = keys_read(&cli->out, "  [y]es  [n]o  [space] no answer  [b]ack  [q]uit  ");
    if (move(key, at, &next)) {
        return next;
    }
    if (key == 'y' || key == 'n') {
        form->answers[at] = (char)key;
        print_text(&cli->out, "%s", key == 'y' ? "yes" : "no");
        return next + 1;
    }
    if (key == ' ' || key == '\n' || key == '\r' || key == KEYS_NEXT) {
        form->answers[at] = 0;
        return next + 1;
    }
    return next;
}

static int ask_text(struct form *form, enum step at)
{
    bool is_missing = at == STEP_MISSING;
    char *line = is_missing ? form->missing : form->notes;
    const char *question =
        is_missing ? "Missing fields, separated by commas (empty: none): " : "Note (empty: none): ";

    return ask_line(form, question, line) ? (int)at + 1 : (int)STEP_COUNT;
}

static int ask_decision(struct form *form)
{
    int next = STEP_DECISION;
    int key = 0;

    print_text(&form->cli->out, "\n");
    key = keys_read(&form->cli->out,
                    "Decision  [r]eviewed  [x] rejected  [c]hanges requested  [b]ack  [q]uit  ");
    if (key == 'r' || key == 'x' || key == 'c') {
        form->answers[STEP_DECISION] = (char)key;
        print_text(&form->cli->out, "%s", decision_of((char)key));
        return STEP_SUBMIT;
    }
    (void)move(key, STEP_DECISION, &next);
    return next;
}

/* --- storing --- */

/* Adds the names between commas. */
static void add_missing(struct request *request, struct cli *cli, const char *line)
{
    struct buffer list;
    struct slice rest = slice_text(line);

    buffer_init(&list, &cli->arena, 64);
    while (rest.size > 0) {
        const uint8_t *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma != NULL ? (size_t)(comma - rest.data) : rest.size;
        struct slice name = slice_of(rest.data, size);

        while (name.size > 0 && name.data[0] == ' ') {
            name = slice_after(name, 1);
        }
        if (name.size > 0) {
            buffer_append_byte(&list, list.size > 0 ? ',' : '[');
            json_write_string(&list, name, false);
        }
        rest = slice_after(rest, comma != NULL ? size + 1 : size);
    }
    if (list.size > 0) {
        buffer_append_byte(&list, ']');
        request_raw(request, "missing_spec", buffer_slice(&list));
    }
}

static struct slice submit_request(struct form *form)
{
    const char *reviewer = options_get(&form->cli->options, "reviewer");
    struct request request;

    request_begin(&request, form->cli);
    request_open(&request, "review");
    request_text(&request, "run_id", form->run_id);
    request_text(&request, "subcategory", form->subcategory);
    request_text(&request, "decision", slice_text(decision_of(form->answers[STEP_DECISION])));
    for (size_t i = 0; i < STEP_COUNT; i++) {
        if (flags[i].member != NULL && form->answers[i] != 0) {
            request_raw(&request, flags[i].member,
                        form->answers[i] == 'y' ? SLICE("true") : SLICE("false"));
        }
    }
    add_missing(&request, form->cli, form->missing);
    if (form->notes[0] != '\0') {
        request_text(&request, "notes", slice_text(form->notes));
    }
    if (reviewer != NULL) {
        request_text(&request, "reviewed_by", slice_text(reviewer));
    }
    request_close(&request);
    return request_end(&request);
}

static int ask_submit(struct form *form)
{
    struct cli *cli = form->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    int next = STEP_SUBMIT;
    int key = 0;

    print_text(&cli->out, "\n");
    key = keys_read(&cli->out, "[s]ubmit  [b]ack  [q]uit without storing  ");
    if (key != 's') {
        (void)move(key, STEP_SUBMIT, &next);
        return next;
    }
    print_text(&cli->out, "\n");
    if (cli_call_reply(cli, SUBMIT, submit_request(form), &reply) != CLI_OK) {
        return STEP_SUBMIT; /* the failure is reported, and the answers stay */
    }
    form->is_stored = true;
    print_line(&cli->out, reply_text(cli, reply_member(reply, "review"), "id"));
    return STEP_COUNT;
}

static int ask(struct form *form, enum step at)
{
    switch (at) {
    case STEP_INFORMATION:
    case STEP_FORMAT:
    case STEP_FACTS:
    case STEP_DIMENSIONS:
        return ask_flag(form, at);
    case STEP_MISSING:
    case STEP_NOTES:
        return ask_text(form, at);
    case STEP_DECISION:
        return ask_decision(form);
    case STEP_SUBMIT:
        return ask_submit(form);
    case STEP_COUNT:
        break;
    }
    return STEP_COUNT;
}

static enum cli_exit run_form(struct form *form)
{
    enum cli_exit result = show(form);
    int at = STEP_INFORMATION;

    if (result == CLI_OK && form->subcategory.size == 0) {
        return cli_usage(form->cli,
                         "--subcategory: missing, and the run has no review yet; expected "
                         "the subcategory of the item");
    }
    while (result == CLI_OK && at < STEP_COUNT) {
        at = ask(form, (enum step)at);
    }
    if (result == CLI_OK && !form->is_stored) {
        print_text(&form->cli->out, "\n");
        cli_note(form->cli, "nothing was stored");
    }
    return result;
}

enum cli_exit review_fill_run(struct cli *cli)
{
    struct form form = {
        .cli = cli,
        .run_id = slice_text(cli->options.words[0]),
        .subcategory = slice_text(options_get(&cli->options, "subcategory")),
        .missing = arena_calloc(&cli->kept, 1, LINE_BYTES),
        .notes = arena_calloc(&cli->kept, 1, LINE_BYTES),
    };

    if (cli->json || !cli->out.terminal || isatty(STDIN_FILENO) != 1) {
        return cli_usage(cli, "reviews fill: not on a terminal; expected a terminal for input and "
                              "output (scripts use `errata reviews submit`)");
    }
    if (form.missing == NULL || form.notes == NULL) {
        return cli_local(cli, "out of memory");
    }
    return run_form(&form);
}
