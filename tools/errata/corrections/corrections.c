/*
 * corrections.c: `errata corrections`: captures, lists and shows corrections. Importing is in
 * import.c.
 */
#include "tools/errata/corrections/corrections.h"
#include "tools/errata/commands.h"
#include "tools/errata/corrections/import.h"
#include "tools/errata/corrections/retract.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/import_report.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

/* --- capture --- */

/* --snippet is short for --meta with the member input_snippet. */
static enum cli_exit add_snippet(struct request *request, struct cli *cli)
{
    const char *given = options_get(&cli->options, "snippet");
    struct slice snippet = {NULL, 0};
    struct buffer meta;
    enum cli_exit result = CLI_OK;

    if (given == NULL) {
        return CLI_OK;
    }
    if (options_has(&cli->options, "meta")) {
        return cli_usage(cli, "--snippet: given together with --meta; expected the snippet as the "
                              "member \"input_snippet\" of --meta");
    }
    result = input_argument(cli, given, &snippet);
    if (result != CLI_OK) {
        return result;
    }
    buffer_init(&meta, &cli->arena, snippet.size + 32 + JSON_STRING_ROOM_BYTES);
    buffer_append(&meta, SLICE("{\"input_snippet\":"));
    json_write_string(&meta, snippet, false);
    buffer_append_byte(&meta, '}');
    request_text(request, "meta_json", buffer_slice(&meta));
    return CLI_OK;
}

/* Reports a word that cannot be an event, most likely an option without its name. */
static bool looks_like_event(const char *word)
{
    return word[strspn(word, " \t\r\n")] == '{' || word[0] == '@' || strcmp(word, "-") == 0;
}

static enum cli_exit fill_capture(struct request *request, struct cli *cli)
{
    struct slice event = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if (cli->options.word_count > 0) {
        if (options_has(&cli->options, "type")) {
            return cli_usage(
                cli, "EVENT: given together with options; expected either the JSON or the options");
        }
        if (!looks_like_event(cli->options.words[0])) {
            return cli_usage(cli,
                             "EVENT \"%s\": malformed; expected a JSON object {...}, @FILE or -, "
                             "or the option --type",
                             cli->options.words[0]);
        }
        result = input_argument(cli, cli->options.words[0], &event);
        if (result == CLI_OK) {
            result = request_object(request, cli, "event", "the event", event);
        }
    } else if (!options_has(&cli->options, "type")) {
        return cli_usage(
            cli,
            "--type: missing; expected a kind of correction, such as EXTRACTION_LINE_CORRECTED");
    } else {
        request_open(request, "event");
        result = fill_message(request, cli, view_message("FeedbackEvent"));
        if (result == CLI_OK) {
            result = add_snippet(request, cli);
        }
        request_close(request);
    }
    return result;
}

static enum cli_exit print_captured(struct cli *cli, struct json_value reply)
{
    struct json_value event = reply_member(reply, "event");

    print_line(&cli->out, reply_text(cli, event, "id"));
    if (!options_has(&cli->options, "created-at") &&
        !options_has(&cli->options, "idempotency-key")) {
        reply_note_clock(cli, event, "createdAt");
    }
    if (reply_text(cli, event, "reduced").size > 0) {
        cli_note(cli, "it was larger than 10,240 bytes and was reduced");
    }
    reply_note_warnings(cli, event);
    return CLI_OK;
}

/* --- list --- */

enum cli_exit corrections_fill_list(struct request *request, struct cli *cli)
{
    if (!options_has(&cli->options, "mappings") && !options_has(&cli->options, "type")) {
        request_raw(request, "exclude_mapping_events", SLICE("true"));
    }
    return CLI_OK;
}

/* Formats an event type. On a terminal it omits the common prefix of most types; --type accepts the
 * short form too. */
struct slice cell_event_type(struct cli *cli, struct json_value object, const char *name)
{
    const struct slice prefix = SLICE("EXTRACTION_");
    struct slice type = reply_word(cli, object, name, "FEEDBACK_EVENT_TYPE_");

    return cli->out.terminal && slice_starts_with(type, prefix) ? slice_after(type, prefix.size)
                                                                : type;
}

static struct slice unquoted(struct slice json)
{
    bool quoted = json.size >= 2 && json.data[0] == '"';

    return quoted ? slice_of(json.data + 1, json.size - 2) : json;
}

/* Formats one member of a diff, such as `qty 10 -> 12`. */
static void append_change(struct cli *cli, struct buffer *text, struct json_value row)
{
    struct slice name = reply_text(cli, row, "name");
    struct slice before = unquoted(reply_text(cli, row, "before"));
    struct slice after = unquoted(reply_text(cli, row, "after"));

    buffer_append(text, text->size > 0 ? SLICE(", ") : SLICE(""));
    buffer_append(text, name);
    if (before.size == 0) {
        buffer_printf(text, " added %.*s", SLICE_ARGS(after));
    } else if (after.size == 0) {
        buffer_printf(text, " %.*s removed", SLICE_ARGS(before));
    } else {
        buffer_printf(text, " %.*s -> %.*s", SLICE_ARGS(before), SLICE_ARGS(after));
    }
}

/* Formats the changes of an event; for a VIEWER, who may not read values, only the names of the
 * fields. */
struct slice cell_changes(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk walk = reply_walk(object, name);
    struct buffer text;

    buffer_init(&text, &cli->arena, 64);
    while (reply_next(&walk)) {
        append_change(cli, &text, walk.row);
    }
    return text.size > 0 ? buffer_slice(&text) : reply_list(cli, object, "fieldsChanged");
}

struct slice cell_entity(struct cli *cli, struct json_value object, const char *name)
{
    struct slice type = reply_text(cli, object, "entityType");
    struct slice id = reply_text(cli, object, "entityId");

    (void)name;
    return type.size + id.size == 0
               ? type
               : arena_printf(&cli->arena, "%.*s/%.*s", SLICE_ARGS(type), SLICE_ARGS(id));
}

/* --- show --- */

static void print_side(struct cli *cli, struct json_value row, const char *side)
{
    bool before = strcmp(side, "before") == 0;
    enum print_colour colour = before ? COLOUR_RED : COLOUR_GREEN;
    struct slice text = reply_text(cli, row, side);

    if (text.size == 0) {
        return; /* the member was absent */
    }
    print_text(&cli->out, "  ");
    print_coloured(&cli->out, colour, before ? SLICE("- ") : SLICE("+ "));
    print_coloured(&cli->out, colour, text);
    print_text(&cli->out, "\n");
}

void corrections_print_diff(struct cli *cli, struct json_value event)
{
    struct reply_walk walk = reply_walk(event, "diff");

    while (reply_next(&walk)) {
        print_coloured(&cli->out, COLOUR_BOLD, reply_text(cli, walk.row, "name"));
        print_text(&cli->out, "\n");
        print_side(cli, walk.row, "before");
        print_side(cli, walk.row, "after");
    }
}

static enum cli_exit print_event(struct cli *cli, struct json_value reply)
{
    struct json_value event = reply_member(reply, "event");

    view_print_fields(cli, view_message("FeedbackEvent"), event);
    print_text(&cli->out, "\n");
    corrections_print_diff(cli, event);
    return CLI_OK;
}

/* --- retract --- */

static enum cli_exit fill_retract(struct request *request, struct cli *cli)
{
    return retract_fill(request, cli, SLICE("CORRECTION"));
}

static const struct option_spec retract_options[] = {
    {"reason", "TEXT", "reason of the retraction"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec capture_options[] = {
    {"type", "TYPE", "kind of correction"},
    {"layout", "LAYOUT", "the layout's fingerprint; default: the layout of the ingested document"},
    {"document", "DOCUMENT", "the document that was extracted"},
    {"draft", "ID", "the draft order that was corrected"},
    {"entity", "TYPE/ID", "the corrected entity, such as draft_order_line/17"},
    {"actor", "USER", "the user who corrected, if the token is not bound to one"},
    {"annotator", "ANNOTATOR",
     "kind of annotator: HUMAN, CODE or LLM; default HUMAN if there is an acting user"},
    {"before", "JSON|@FILE|-", "the values before the correction"},
    {"after", "JSON|@FILE|-", "the values after the correction"},
    {"output", "JSON|@FILE|-", "the complete corrected result, if --after contains only a part"},
    {"meta", "JSON|@FILE|-", "further members, as a JSON object"},
    {"snippet", "TEXT|@FILE|-",
     "the text that the model read, stored as `input_snippet` of the meta JSON"},
    {"created-at", "TIME|SPAN",
     "time of the correction, to import past ones; needs INTEGRATOR or ADMIN"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec import_options[] = {
    {"batch", "N", "events per call, 1 to 1000 (default 1000)"},
    IMPORT_OPTIONS,
    {NULL, NULL, NULL}};
/* The filters of lists. */
#define FILTER_OPTIONS                                                                             \
    {"type", "TYPE", "only corrections of this type"},                                             \
        {"layout", "LAYOUT", "only corrections of this layout"},                                   \
        {"document", "DOCUMENT", "only corrections of this document"},                             \
        {"draft", "ID", "only corrections of this draft order"},                                   \
        {"entity", "TYPE/ID", "only corrections of this entity"},                                  \
        {"actor", "USER", "only corrections by this user"},                                        \
        {"annotator", "ANNOTATOR", "only corrections by this kind of annotator"},                  \
        {"field", "NAME", "only corrections that changed this field"},                             \
        {"mappings", NULL, "include confirmations and rejections of mappings"},                    \
        {"since", "TIME|SPAN",                                                                     \
         "only corrections created at this time or later; 12h means twelve hours ago"},            \
    {                                                                                              \
        "until", "TIME|SPAN", "only corrections created before this time"                          \
    }
static const struct option_spec list_options[] = {
    FILTER_OPTIONS, CSV_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec review_options[] = {
    FILTER_OPTIONS,
    {"reason", "TEXT", "reason of all retractions; without it, each reason is prompted for"},
    {NULL, NULL, NULL}};

const struct command correction_commands[] = {
    {.group = "corrections",
     .name = "capture",
     .arguments = "[JSON|@FILE|-]",
     .summary = "store a correction and print its id",
     .help = "Stores one correction durably and prints its id. The correction is described by "
             "options, of which `--type` is required, or by the JSON of an event, whose fields "
             "`errata methods CaptureFeedbackEvent` shows.",
     .examples = {{"errata corrections capture --type EXTRACTION_LINE_CORRECTED \\\n"
                   "  --layout a1b2c3 --document invoice-17 --entity draft_order_line/3 \\\n"
                   "  --before '{\"qty\": 10}' --after '{\"qty\": 12}' --snippet '12 pcs of HX'",
                   "the quantity of a line was read wrongly"},
                  {"errata corrections capture @event.json", NULL}},
     .options = capture_options,
     COMMAND_CALL("FeedbackService/CaptureFeedbackEvent", .fill = fill_capture,
                  .print = print_captured)},
    {.group = "corrections",
     .name = "import",
     .arguments = "FILE|-",
     .summary = "store many corrections from a file of JSON lines",
     .help =
         "Stores the events of a file with one JSON object per line, in batches; each batch is "
         "stored completely or not at all. Members such as `before_json` accept an object or its "
         "JSON text, and each event may have a `created_at`. The file is checked first: if a line "
         "is invalid, all problems are reported and nothing is stored, unless `--skip-invalid` is "
         "given. Running the same import again within 24 hours stores no event twice, so an "
         "interrupted import can be repeated. Needs an INTEGRATOR or ADMIN token.",
     .examples = {{"errata corrections import history.jsonl", NULL},
                  {"gzip -dc history.jsonl.gz | errata corrections import -", NULL}},
     .options = import_options,
     .run = import_run},
    {.group = "corrections",
     .name = "list",
     .summary = "list corrections, newest first",
     .help = "Lists corrections, newest first, with the changed fields, the user, the document and "
             "its layout. Corrections must match all filters. On a terminal, ids are shortened; "
             "`errata corrections show` takes any unique prefix of an id.",
     .examples = {{"errata corrections list --layout a1b2c3 --since 7d", NULL},
                  {"errata corrections list --field qty --all --json | jq -c .events[]",
                   "all changes of a quantity, one per line"},
                  {"errata corrections list --since 30d --all --csv > corrections.csv", NULL}},
     .options = list_options,
     COMMAND_CALL("FeedbackService/ListFeedbackEvents", .fill = corrections_fill_list,
                  .nothing = "no corrections match")},
    {.group = "corrections",
     .name = "show",
     .arguments = "CORRECTION",
     .summary = "show one correction with its diff",
     .help = "Shows one correction by its id, with the differences between before and after.",
     .examples = {{"errata corrections show 0192f0c0-1111-7222-8333-444455556666", NULL}},
     COMMAND_CALL("FeedbackService/GetFeedbackEvent", .print = print_event)},
    {.group = "corrections",
     .name = "review",
     .summary = "page through the newest corrections, and retract wrong ones",
     .help =
         "Shows the newest corrections one by one: what was corrected, by whom, in which document "
         "and layout, and where it was served as an example since, with the outcomes. The key `r` "
         "retracts the displayed correction, with the reason of `--reason` or one that is prompted "
         "for; `n` and `p`, the arrows and the space bar move to the next and the previous one, "
         "`q` quits. Corrections must match all filters. Needs a terminal; scripts use `errata "
         "corrections list` and `errata corrections retract`.\n\nRetracting needs a REVIEWER or "
         "ADMIN token, or an OPERATOR token for a correction by the token's user.",
     .examples = {{"errata corrections review", NULL},
                  {"errata corrections review --actor ada --since 7d",
                   "what corrected by one person"}},
     .options = review_options,
     .run = review_run},
    {.group = "corrections",
     .name = "retract",
     .arguments = "CORRECTION --reason TEXT",
     .summary = "retract a wrong correction",
     .help = "Retracts a correction or a customer selection, and prints the id of the retraction. "
             "A retracted correction is no longer served as an example and is subtracted from all "
             "counts; an older correction that it superseded is served again. Lists still show it, "
             "with the user, the time and the reason of the retraction. A retraction cannot be "
             "undone; repeating it has no effect.\n\nNeeds a REVIEWER or ADMIN token, or an "
             "OPERATOR token for a correction by the token's user. To revoke a confirmed mapping, "
             "use `errata mappings reject`.",
     .examples = {{"errata corrections retract 0192f0c0-1111-7222-8333-444455556666 \\\n"
                   "  --reason 'wrong invoice'",
                   NULL}},
     .options = retract_options,
     COMMAND_CALL("EventService/RetractEvent", .fill = fill_retract, .print = retract_print)},
    {.name = NULL}};
