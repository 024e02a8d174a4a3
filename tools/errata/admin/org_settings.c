/*
 * org_settings.c: see org_settings.h.
 */
#include "tools/errata/admin/org_settings.h"

#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/fill.h"

#include <errata/contract_messages.h>
#include <string.h>

#define KIND_PREFIX "ANNOTATOR_KIND_"

/* Returns the kinds of annotators whose corrections are examples, such as `HUMAN, CODE`. */
static struct slice annotators_of(struct cli *cli, struct json_value settings)
{
    struct json_walk walk = json_walk_start(reply_member(settings, "annotatorKinds"));
    struct json_value kind = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer list;

    buffer_init(&list, &cli->arena, 32);
    while (json_walk_next(&walk, &key, &kind)) {
        struct slice word = {NULL, 0};

        if (json_string(&cli->arena, kind.text, &word) == OK &&
            slice_starts_with(word, SLICE(KIND_PREFIX))) {
            buffer_append(&list, list.size > 0 ? SLICE(", ") : slice_of(NULL, 0));
            buffer_append(&list, slice_after(word, strlen(KIND_PREFIX)));
        }
    }
    return buffer_slice(&list);
}

/* Returns the names of the members that prompts never show. */
static struct slice redacted_of(struct cli *cli, struct json_value settings)
{
    struct reply_walk walk = reply_walk(reply_member(settings, "redactedMembers"), "names");
    struct buffer list;

    buffer_init(&list, &cli->arena, 64);
    while (reply_next(&walk)) {
        struct slice name = {NULL, 0};

        if (json_string(&cli->arena, walk.row.text, &name) == OK) {
            buffer_printf(&list, "%s%.*s", list.size > 0 ? ", " : "", SLICE_ARGS(name));
        }
    }
    return list.size > 0 ? buffer_slice(&list) : SLICE("none");
}

/* Returns pairs of a setting, such as `RETRY=once more, HI=good day`. */
static struct slice pairs_of(struct cli *cli, struct json_value list, const char *name,
                             const char *first, const char *second)
{
    struct reply_walk walk = reply_walk(list, name);
    struct buffer text;

    buffer_init(&text, &cli->arena, 64);
    while (reply_next(&walk)) {
        buffer_printf(&text, "%s%.*s=%.*s", text.size > 0 ? ", " : "",
                      SLICE_ARGS(reply_text(cli, walk.row, first)),
                      SLICE_ARGS(reply_text(cli, walk.row, second)));
    }
    return text.size > 0 ? buffer_slice(&text) : SLICE("none");
}

/* Prints the time for which content of a class is kept. */
static void print_days(struct cli *cli, const char *name, struct slice days)
{
    bool is_forever = days.size == 0 || slice_equal(days, SLICE("0"));

    reply_print_member(cli, name,
                       is_forever ? SLICE("forever")
                                  : arena_printf(&cli->arena, "%.*s days", SLICE_ARGS(days)));
}

static void print_retention(struct cli *cli, struct json_value retention)
{
    print_days(cli, "corrections kept", reply_text(cli, retention, "correctionsDays"));
    print_days(cli, "verdicts kept", reply_text(cli, retention, "verdictsDays"));
    print_days(cli, "reviews kept", reply_text(cli, retention, "reviewsDays"));
}

static enum cli_exit print_settings(struct cli *cli, struct json_value reply)
{
    struct json_value settings = reply_member(reply, "settings");
    struct slice holdout = reply_text(cli, settings, "holdoutPercent");
    struct slice evaluator = reply_text(cli, settings, "evaluatorId");

    reply_align_members(cli, "redacted members");
    reply_print_member(cli, "holdout",
                       arena_printf(&cli->arena,
                                    "%.*s%% of documents get no examples, for comparison",
                                    holdout.size > 0 ? (int)holdout.size : 1,
                                    holdout.size > 0 ? (const char *)holdout.data : "0"));
    reply_print_member(cli, "match mode", reply_word(cli, settings, "matchMode", "MATCH_MODE_"));
    reply_print_member(cli, "annotators", annotators_of(cli, settings));
    reply_print_member(cli, "grouping", reply_word(cli, settings, "grouping", "EXAMPLE_GROUPING_"));
    reply_print_member(cli, "stacking", reply_word(cli, settings, "stacking", "SCORE_STACKING_"));
    reply_print_member(cli, "suspicious at", reply_text(cli, settings, "suspiciousAt"));
    reply_print_member(cli, "fake at", reply_text(cli, settings, "fakeAt"));
    reply_print_member(cli, "reviews needed", reply_text(cli, settings, "reviewsNeeded"));
    reply_print_member(cli, "redacted members", redacted_of(cli, settings));
    reply_print_member(cli, "votes needed", reply_text(cli, settings, "votesNeeded"));
    reply_print_member(
        cli, "gate agents",
        pairs_of(cli, reply_member(settings, "gateAgents"), "gates", "gateId", "agentName"));
    reply_print_member(cli, "evaluator",
                       evaluator.size > 0 ? evaluator : SLICE("the server's own"));
    reply_print_member(
        cli, "cues",
        pairs_of(cli, reply_member(settings, "extraCues"), "cues", "cueClass", "phrase"));
    reply_print_member(cli, "topic change",
                       reply_word(cli, settings, "topicChange", "TOPIC_CHANGE_"));
    print_retention(cli, reply_member(settings, "contentRetention"));
    return CLI_OK;
}

/* An option whose values are pairs, and the member of the settings that lists them. */
struct pairs {
    const char *option;
    const char *form; /* form of a value */
    const char *outer;
    const char *list;
    const char *first; /* member for the text before `=` */
    const char *second;
};

static const struct pairs cues = {"cue",  "CLASS=PHRASE", "extra_cues",
                                  "cues", "cueClass",     "phrase"};
static const struct pairs gates = {"gate-agent", "GATE=AGENT", "gate_agents",
                                   "gates",      "gateId",     "agentName"};

/* Adds the given pairs; `none` removes all. */
static enum cli_exit add_pairs(struct request *request, struct cli *cli, const struct pairs *pairs)
{
    const char *given = NULL;
    struct buffer list;
    bool is_first = true;

    buffer_init(&list, &cli->arena, 256);
    buffer_append_byte(&list, '[');
    for (size_t at = 0; (given = options_next(&cli->options, pairs->option, &at)) != NULL;) {
        const char *equals = strchr(given, '=');

        if (strcmp(given, "none") == 0) {
            continue;
        }
        if (equals == NULL) {
            return cli_usage(cli, "--%s \"%s\": no `=`; expected %s, or none", pairs->option, given,
                             pairs->form);
        }
        buffer_printf(&list, "%s{\"%s\":", is_first ? "" : ",", pairs->first);
        json_write_string(&list, slice_of(given, (size_t)(equals - given)), false);
        buffer_printf(&list, ",\"%s\":", pairs->second);
        json_write_string(&list, slice_text(equals + 1), false);
        buffer_append_byte(&list, '}');
        is_first = false;
    }
    buffer_append_byte(&list, ']');
    request_open(request, pairs->outer);
    request_raw(request, pairs->list, buffer_slice(&list));
    request_close(request);
    return CLI_OK;
}

/* The options that specify times of retention. */
static const char *const times[] = {"corrections-days", "verdicts-days", "reviews-days"};
/* The options that set nothing. */
static const char *const modes[] = {"dry-run", "idempotency-key"};

static bool is_in(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_time(const char *name)
{
    return is_in(name, times, sizeof(times) / sizeof(times[0]));
}

static bool has_retention(struct cli *cli)
{
    bool has_one = false;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        has_one = has_one || options_has(&cli->options, times[i]);
    }
    return has_one;
}

/* Returns whether an option sets something else. */
static bool has_other(struct cli *cli)
{
    bool has_one = false;

    for (const struct option_spec *spec = org_settings_options; spec->name != NULL; spec++) {
        bool sets =
            !is_time(spec->name) && !is_in(spec->name, modes, sizeof(modes) / sizeof(modes[0]));

        has_one = has_one || (sets && options_has(&cli->options, spec->name));
    }
    return has_one;
}

/* Adds the given times, of settings or of a preview. */
static enum cli_exit fill_retention(struct request *request, struct cli *cli)
{
    enum cli_exit result = CLI_OK;

    request_open(request, "content_retention");
    result = fill_message(request, cli, &contract_errata_v1_content_retention);
    request_close(request);
    return result;
}

/* Adds the given settings; `--redact none` redacts no members. */
static enum cli_exit fill_settings(struct request *request, struct cli *cli)
{
    const char *redact = options_get(&cli->options, "redact");
    enum cli_exit result = CLI_OK;

    request_open(request, "settings");
    result = fill_message(request, cli, &contract_errata_v1_organization_settings);
    if (redact != NULL && result == CLI_OK) {
        request_open(request, "redacted_members");
        if (strcmp(redact, "none") != 0) {
            result = request_add_list(request, cli, "redact", "names", false);
        }
        request_close(request);
    }
    if (options_has(&cli->options, cues.option) && result == CLI_OK) {
        result = add_pairs(request, cli, &cues);
    }
    if (options_has(&cli->options, gates.option) && result == CLI_OK) {
        result = add_pairs(request, cli, &gates);
    }
    if (has_retention(cli) && result == CLI_OK) {
        result = fill_retention(request, cli);
    }
    request_close(request);
    return result;
}

/* Prints the number of events of each class whose content would be removed. */
static enum cli_exit print_preview(struct cli *cli, struct json_value reply)
{
    static const struct {
        const char *class;
        const char *title;
    } classes[] = {
        {"CORRECTIONS", "corrections"}, {"VERDICTS", "verdicts"}, {"REVIEWS", "reviews"}};
    struct reply_walk walk = reply_walk(reply, "previews");
    const char *least =
        slice_equal(reply_text(cli, reply, "partial"), SLICE("true")) ? "at least " : "";

    reply_align_members(cli, "corrections");
    while (reply_next(&walk)) {
        struct slice class = reply_word(cli, walk.row, "contentClass", "CONTENT_CLASS_");
        uint64_t count = reply_integer(cli, walk.row, "eventCount");
        struct slice until = reply_full_time(cli, walk.row, "recordedUntil");
        struct slice removed = arena_printf(
            &cli->arena, "%s%.*s event%s, %.*s bytes, recorded until %.*s", least,
            SLICE_ARGS(reply_count(cli, walk.row, "eventCount")), count == 1 ? "" : "s",
            SLICE_ARGS(reply_count(cli, walk.row, "contentBytes")), SLICE_ARGS(until));

        for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
            if (slice_equal(class, slice_text(classes[i].class))) {
                reply_print_member(cli, classes[i].title,
                                   until.size == 0 ? SLICE("kept forever") : removed);
            }
        }
    }
    return CLI_OK;
}

enum cli_exit org_settings_run(struct cli *cli)
{
    static const struct command_call show = {.method = "/errata.v1.AdminService/GetSettings",
                                             .print = print_settings};
    static const struct command_call change = {.method = "/errata.v1.AdminService/UpdateSettings",
                                               .fill = fill_settings,
                                               .print = print_settings};
    static const struct command_call preview = {.method =
                                                    "/errata.v1.AdminService/PreviewRetention",
                                                .fill = fill_retention,
                                                .print = print_preview};
    bool other = has_other(cli);

    if (options_has(&cli->options, "dry-run") && other) {
        return cli_usage(cli, "--dry-run: shows only what retention would remove; expected only "
                              "--corrections-days, --verdicts-days and --reviews-days beside it");
    }
    if (options_has(&cli->options, "dry-run")) {
        return command_call_once(cli, &preview);
    }
    return command_call_once(cli, other || has_retention(cli) ? &change : &show);
}

const struct option_spec org_settings_options[] = {
    {"holdout", "PERCENT", "percentage of documents that get no examples, 0 to 100"},
    {"match-mode", "MODE", "default of --match of `errata examples`"},
    {"annotator", "ANNOTATOR",
     "default kind of annotator whose corrections are examples; may be repeated"},
    {"grouping", "GROUPING", "default grouping of examples"},
    {"stacking", "STACKING", "how rules with the same pattern count in a score"},
    {"suspicious-at", "SCORE", "lowest score whose verdict is SUSPICIOUS, 0 to 1"},
    {"fake-at", "SCORE", "lowest score whose verdict is FAKE, 0 to 1"},
    {"reviews-needed", "N",
     "reviewers that must answer REVIEWED until a run is reviewed, 1 to 100"},
    {"votes-needed", "N", "users who must approve a proposal until it is a guideline, 1 to 100"},
    {"gate-agent", "GATE=AGENT|none",
     "the agent of decisions at a gate that name none; may be repeated; replaces the previous "
     "list"},
    {"evaluator-id", "EVALUATOR",
     "the evaluator whose classes of decisions take effect; '': the server's own"},
    {"redact", "MEMBER|none",
     "a member of items that prompts never show; may be repeated; replaces the previous list"},
    {"cue", "CLASS=PHRASE|none",
     "a phrase that assigns messages to a class, such as RETRY='once more'; may be repeated; "
     "replaces the previous list"},
    {"topic-change", "TOPIC", "outcome of a turn when the next message is about another topic"},
    {"corrections-days", "DAYS",
     "days after which the content of corrections is removed, 2 to 36500; 0: it is kept forever"},
    {"verdicts-days", "DAYS", "the same for verdicts"},
    {"reviews-days", "DAYS", "the same for reviews and items"},
    {"dry-run", NULL, "show how much retention would remove now, and change nothing"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
