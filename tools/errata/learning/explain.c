/*
 * explain.c: `errata explain`: explains a reference: its artifacts, the events that they were learned from, and
 * the outcomes that cited it.
 */
#include "store/base/uuid.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/view_cells.h"

/* Maximum size of a template's text, by the contract. */
#define TEMPLATE_BYTES_MAX ((size_t)256 * 1024)

static struct json_value artifact_of(struct json_value object, const char **ret_kind)
{
    static const char *const members[] = {"example",     "mapping", "promptTemplate", "learnedRule",
                                          "fragmentSet", "turn",    "guideline"};
    static const char *const kinds[] = {"example", "mapping",  "template", "rule",
                                        "wording", "strategy", "guideline"};
    struct json_value artifact = {JSON_NULL, {NULL, 0}};

    *ret_kind = reply_member(object, "exampleItemJson").text.size > 2 ? "example item" : "expired";
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        artifact = reply_member(object, members[i]);
        if (artifact.text.size > 2) {
            *ret_kind = kinds[i];
            return artifact;
        }
    }
    return artifact;
}

/* --- cells --- */

struct slice cell_artifact_kind(struct cli *cli, struct json_value object, const char *name)
{
    const char *kind = NULL;

    (void)name;
    (void)artifact_of(object, &kind);
    if (reply_text(cli, object, "shadow").size > 0) {
        return arena_printf(&cli->arena, "%s, in shadow", kind);
    }
    return reply_text(cli, object, "heldOut").size > 0
               ? arena_printf(&cli->arena, "%s, held out", kind)
               : slice_text(kind);
}

/* Returns `version 2: clearer` of a wording, or `ships with the server`. */
static struct slice wording_text(struct cli *cli, struct json_value set)
{
    struct slice version = reply_count(cli, set, "version");
    struct slice comment = reply_one_line(cli, set, "comment");

    if (reply_text(cli, set, "id").size == 0) {
        return SLICE("ships with the server");
    }
    return arena_printf(&cli->arena, "version %.*s%s%.*s", SLICE_ARGS(version),
                        comment.size > 0 ? ": " : "", SLICE_ARGS(comment));
}

/* Returns an example's output, both SKUs of a mapping, the name of a template, the pattern of a rule, a wording, a
 * strategy, an item. */
struct slice cell_artifact_text(struct cli *cli, struct json_value object, const char *name)
{
    const char *kind = NULL;
    struct json_value artifact = artifact_of(object, &kind);

    (void)name;
    if (strcmp(kind, "example") == 0) {
        return reply_one_line(cli, artifact, "output");
    }
    if (strcmp(kind, "mapping") == 0) {
        return arena_printf(&cli->arena, "%.*s as %.*s",
                            SLICE_ARGS(reply_text(cli, artifact, "customerSku")),
                            SLICE_ARGS(reply_text(cli, artifact, "internalSku")));
    }
    if (strcmp(kind, "rule") == 0) {
        return reply_one_line(cli, artifact, "pattern");
    }
    if (strcmp(kind, "strategy") == 0) {
        struct json_value strategy = reply_member(artifact, "strategy");

        return arena_printf(&cli->arena, "%.*s: %.*s",
                            SLICE_ARGS(reply_text(cli, strategy, "tool")),
                            SLICE_ARGS(reply_one_line(cli, strategy, "text")));
    }
    if (strcmp(kind, "guideline") == 0) {
        return reply_one_line(cli, artifact, "ruleContent");
    }
    if (strcmp(kind, "example item") == 0) {
        return reply_one_line(cli, object, "exampleItemJson");
    }
    return strcmp(kind, "wording") == 0 ? wording_text(cli, artifact)
                                        : reply_text(cli, artifact, "name");
}

/* Returns the id for `errata analytics artifact`. */
struct slice cell_artifact_id(struct cli *cli, struct json_value object, const char *name)
{
    const char *kind = NULL;
    struct json_value artifact = artifact_of(object, &kind);

    (void)name;
    return reply_text(cli, artifact, "id");
}

static struct json_value first_of(struct json_value object, const char *name)
{
    struct reply_walk walk = reply_walk(object, name);

    return reply_next(&walk) ? walk.row : reply_member(object, name);
}

/* Returns the subject of an event: a document, a receipt, a run, a turn or a decision. */
static struct slice subject_of(struct cli *cli, struct json_value event)
{
    static const char *const members[] = {"documentId", "receiptId", "runId", "turnId",
                                          "decisionId"};
    struct slice subject = {NULL, 0};

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && subject.size == 0; i++) {
        subject = reply_text(cli, event, members[i]);
    }
    return subject;
}

struct slice cell_evidence(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk walk = reply_walk(object, name);
    struct json_value newest = first_of(object, name);
    struct slice id = reply_text(cli, newest, "eventId");
    struct slice document = subject_of(cli, newest);
    size_t count = 0;

    while (reply_next(&walk)) {
        count++;
    }
    if (count > 1) {
        return arena_printf(&cli->arena, "%.*s and %zu more", SLICE_ARGS(id), count - 1);
    }
    return document.size > 0
               ? arena_printf(&cli->arena, "%.*s of %.*s", SLICE_ARGS(id), SLICE_ARGS(document))
               : id;
}

struct slice cell_evidence_time(struct cli *cli, struct json_value object, const char *name)
{
    return reply_moment(cli, first_of(object, name), "createdAt");
}

struct slice cell_since(struct cli *cli, struct json_value object, const char *name)
{
    struct slice superseding = reply_text(cli, object, "supersededByEventId");
    struct slice status = reply_word(cli, object, "currentStatus", "MAPPING_STATUS_");

    (void)name;
    if (superseding.size > 0) {
        return arena_printf(&cli->arena, "superseded by %.*s", SLICE_ARGS(superseding));
    }
    return status;
}

struct slice cell_outcome(struct cli *cli, struct json_value object, const char *name)
{
    struct slice correction = reply_text(cli, object, "correctedByEventId");
    struct slice kind = reply_word(cli, object, name, "EVENT_KIND_");

    if (correction.size > 0) {
        return arena_printf(&cli->arena, "corrected by %.*s", SLICE_ARGS(correction));
    }
    if (slice_equal(kind, SLICE("REVIEW_SUBMITTED"))) {
        struct slice signals = cell_signals(cli, object, "recurred");

        return signals.size > 0 ? arena_printf(&cli->arena, "again: %.*s", SLICE_ARGS(signals))
                                : SLICE("nothing again");
    }
    if (slice_equal(kind, SLICE("VERDICT_SUBMITTED"))) {
        return reply_word(cli, object, "correctVerdict", "VERDICT_");
    }
    if (slice_equal(kind, SLICE("TURN_RECORDED"))) {
        return reply_word(cli, object, "turnStatus", "TURN_STATUS_");
    }
    if (slice_equal(kind, SLICE("DECISION_RECORDED"))) {
        return reply_word(cli, object, "decision", "DECISION_OUTCOME_");
    }
    return slice_equal(kind, SLICE("EXTRACTION_RECORDED")) ? SLICE("not corrected")
                                                           : SLICE("applied");
}

struct slice cell_outcome_subject(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return subject_of(cli, object);
}

/* --- signals --- */

struct slice cell_signals(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk signals = reply_walk(object, name);
    struct buffer words;

    buffer_init(&words, &cli->arena, 64);
    while (reply_next(&signals)) {
        struct slice word = {NULL, 0};

        if (json_string(&cli->arena, signals.row.text, &word) == OK) {
            buffer_printf(&words, "%s%.*s", words.size > 0 ? ", " : "",
                          SLICE_ARGS(slice_after(word, strlen("REVIEW_SIGNAL_"))));
        }
    }
    return buffer_slice(&words);
}

struct slice cell_signal_runs(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk reviews = reply_walk(object, name);
    struct buffer runs;

    buffer_init(&runs, &cli->arena, 64);
    while (reply_next(&reviews)) {
        buffer_printf(&runs, "%s%.*s", runs.size > 0 ? ", " : "",
                      SLICE_ARGS(reply_one_line(cli, reviews.row, "runId")));
    }
    return runs.size > 0 ? buffer_slice(&runs) : SLICE("the current review");
}

struct slice cell_signal_texts(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk fragments = reply_walk(object, name);
    struct buffer texts;

    buffer_init(&texts, &cli->arena, 64);
    while (reply_next(&fragments)) {
        buffer_printf(
            &texts, "%s%.*s: %.*s", texts.size > 0 ? "; " : "",
            SLICE_ARGS(reply_word(cli, fragments.row, "placeholder", "REVIEW_PLACEHOLDER_")),
            SLICE_ARGS(reply_one_line(cli, fragments.row, "text")));
    }
    return buffer_slice(&texts);
}

/* --- the request --- */

/* Adds the other values of the prompt, if any of its options is given. */
static enum cli_exit fill_inputs(struct request *request, struct cli *cli)
{
    static const char *const names[] = {"template", "file", "value", "trusted"};
    const char *template = options_get(&cli->options, "template");
    const char *file = options_get(&cli->options, "file");
    struct slice text = {NULL, 0};
    enum cli_exit result = CLI_OK;
    bool given = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        given = given || options_has(&cli->options, names[i]);
    }
    if (!given) {
        return CLI_OK;
    }
    if (template != NULL && file != NULL) {
        return cli_usage(cli, "--template: given together with --file; expected only one of them");
    }
    request_open(request, "prompt_inputs");
    if (template != NULL) {
        request_text(request, "template_name", slice_text(template));
    }
    if (file != NULL) {
        result = input_file(cli, file, TEMPLATE_BYTES_MAX, &text);
        request_text(request, "template", text);
    }
    if (result == CLI_OK) {
        result = request_add_map(request, cli, "value", "context");
    }
    if (result == CLI_OK) {
        result = request_add_map(request, cli, "trusted", "trusted_context");
    }
    request_close(request);
    return result;
}

/* Adds the other values of an agent's prompt, if they are given. */
static enum cli_exit fill_base(struct request *request, struct cli *cli)
{
    const char *base = options_get(&cli->options, "base");
    struct slice text = {NULL, 0};
    enum cli_exit result = base != NULL ? input_argument(cli, base, &text) : CLI_OK;

    if (base == NULL || result != CLI_OK) {
        return result;
    }
    request_open(request, "agent_prompt_inputs");
    request_text(request, "base_prompt", text);
    request_close(request);
    return CLI_OK;
}

/* Adds a reference, or the id of the event that recorded an exposure. */
static enum cli_exit fill_explain(struct request *request, struct cli *cli)
{
    struct slice given = {NULL, 0};
    struct uuid id;
    enum cli_exit result = input_printed(cli, cli->options.words[0], &given);

    if (result != CLI_OK) {
        return result;
    }
    request_text(request, uuid_parse(given, &id) ? "exposure_id" : "exposure_ref", given);
    result = fill_inputs(request, cli);
    return result == CLI_OK ? fill_base(request, cli) : result;
}

/* --- the reply --- */

static const char *method_of(struct slice kind)
{
    static const char *const kinds[] = {"EXAMPLES",     "PROMPT",     "MATCHES",     "SCORE",
                                        "PLACEHOLDERS", "STRATEGIES", "AGENT_PROMPT"};
    static const char *const methods[] = {
        "GetExamples",         "PreparePrompt",    "MatchLines",      "ScoreDocument",
        "ResolvePlaceholders", "SearchStrategies", "BuildAgentPrompt"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (slice_equal(kind, slice_text(kinds[i]))) {
            return methods[i];
        }
    }
    return "";
}

static struct slice text_state(struct cli *cli, struct json_value reply)
{
    struct slice matches = reply_text(cli, reply, "textMatches");

    if (reply_text(cli, reply, "expired").size > 0) {
        return SLICE("retention removed a part of it");
    }
    if (matches.size == 0) {
        return SLICE("not compared, since its other parts were not given");
    }
    return slice_equal(matches, SLICE("true"))
               ? SLICE("rebuilt with the recorded hash")
               : SLICE("rebuilt, but its hash differs from the recorded one");
}

static void print_head(struct cli *cli, struct json_value reply)
{
    struct slice kind = reply_word(cli, reply, "exposureKind", "EXPOSURE_KIND_");

    reply_print_member(cli, "method", slice_text(method_of(kind)));
    reply_print_member(cli, "served", reply_full_time(cli, reply, "servedAt"));
    reply_print_member(
        cli, "after",
        arena_printf(&cli->arena, "event %.*s", SLICE_ARGS(reply_text(cli, reply, "asOfSeq"))));
    reply_print_member(cli, "arm", reply_word(cli, reply, "arm", "EXPERIMENT_ARM_"));
    reply_print_member(cli, "recorded as", reply_text(cli, reply, "exposureId"));
    reply_print_member(cli, "subcategory", reply_text(cli, reply, "subcategory"));
    reply_print_member(cli, "artifacts", reply_count(cli, reply, "artifactCount"));
    reply_print_member(cli, "text", text_state(cli, reply));
}

static enum cli_exit print_explained(struct cli *cli, struct json_value reply)
{
    struct slice hints = reply_text(cli, reply, "hintExamplesJson");
    enum cli_exit result = CLI_OK;

    if (options_has(&cli->options, "hints")) {
        if (hints.size > 0) {
            print_json(&cli->out, hints);
        }
        return CLI_OK;
    }
    print_head(cli, reply);
    result = view_print_table(cli, "ExplainedArtifact", reply, "artifacts", NULL);
    if (result == CLI_OK) {
        result = view_print_table(cli, "ExplainedSignal", reply, "signals", NULL);
    }
    if (result == CLI_OK) {
        result = view_print_table(cli, "ExposureOutcome", reply, "outcomes", NULL);
    }
    if (reply_text(cli, reply, "incomplete").size > 0) {
        cli_note(cli, "there are more outcomes, or a mapping was changed too often to follow");
    }
    return result;
}

static const struct option_spec options[] = {
    {"hints", NULL, "print only `hint_examples_json`, as it was served"},
    {"value", "KEY=VALUE|KEY=@FILE", "for a prompt: a value that was given, to compare the text"},
    {"trusted", "KEY=VALUE|KEY=@FILE", "for a prompt: a trusted value that was given"},
    {"template", "TEMPLATE", "for a prompt from a shipped template: its name"},
    {"file", "FILE|-", "for a prompt whose template was sent: the template"},
    {"base", "TEXT|@FILE|-",
     "for an agent's prompt: the prompt into which its rules were inserted"},
    {NULL, NULL, NULL}};

const struct command explain_commands[] = {
    {.name = "explain",
     .arguments = "REFERENCE|@FILE|-",
     .summary = "explain what was served, its origin, and the outcomes",
     .help =
         "Prints what the reference of a response of GetExamples, PreparePrompt, MatchLines, "
         "ScoreDocument, ResolvePlaceholders, SearchStrategies or BuildAgentPrompt served: each "
         "example, mapping, template, rule, wording, item, turn and guideline as it was then, the "
         "events from which it was learned, its approvers, and its later changes; for prompts that "
         "reviews filled, the reviews that gave each signal its guidance; then the outcomes that "
         "cited the reference, marking those that were corrected or found a signal again. "
         "REFERENCE may also be the id of an EXPOSURE_RECORDED event (`errata events list --kind "
         "EXPOSURE_RECORDED`).\n\nNothing is stored. If the values that filled a prompt are given, "
         "it reports whether the whole text has the recorded hash.",
     .examples = {{"errata examples a1b2c3 --json | jq -r .exposureRef |\n"
                   "  errata explain -",
                   NULL},
                  {"errata examples a1b2c3 --json | jq -r .exposureRef |\n"
                   "  errata explain - --hints > hint_examples.json",
                   "the examples as they were served, byte for byte"}},
     .options = options,
     COMMAND_CALL("LearningService/ExplainExposure", .fill = fill_explain,
                  .print = print_explained)},
    {.name = NULL}};
