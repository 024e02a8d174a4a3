/*
 * org.c: `errata org`: organisations of a server.
 */
#include "tools/errata/admin/org_delete.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"

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

/* The organisation's own cues as CLASS=PHRASE. */
static struct slice cues_of(struct cli *cli, struct json_value settings)
{
    struct reply_walk walk = reply_walk(reply_member(settings, "extraCues"), "cues");
    struct buffer list;

    buffer_init(&list, &cli->arena, 64);
    while (reply_next(&walk)) {
        buffer_printf(&list, "%s%.*s=%.*s", list.size > 0 ? ", " : "",
                      SLICE_ARGS(reply_text(cli, walk.row, "cueClass")),
                      SLICE_ARGS(reply_text(cli, walk.row, "phrase")));
    }
    return list.size > 0 ? buffer_slice(&list) : SLICE("none");
}

/* Prints for how long content of a class is kept. */
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
    reply_print_member(cli, "cues", cues_of(cli, settings));
    reply_print_member(cli, "topic change",
                       reply_word(cli, settings, "topicChange", "TOPIC_CHANGE_"));
    print_retention(cli, reply_member(settings, "contentRetention"));
    return CLI_OK;
}

/* Adds the cues CLASS=PHRASE; `none` leaves the organisation without any. */
static enum cli_exit add_cues(struct request *request, struct cli *cli)
{
    const char *given = NULL;
    struct buffer list;
    bool is_first = true;

    buffer_init(&list, &cli->arena, 256);
    buffer_append(&list, SLICE("["));
    for (size_t at = 0; (given = options_next(&cli->options, "cue", &at)) != NULL;) {
        const char *equals = strchr(given, '=');

        if (strcmp(given, "none") == 0) {
            continue;
        }
        if (equals == NULL) {
            return cli_usage(cli, "--cue %s: not a cue; expected CLASS=PHRASE, or none", given);
        }
        buffer_append(&list, is_first ? SLICE("{\"cueClass\":") : SLICE(",{\"cueClass\":"));
        json_write_string(&list, slice_of(given, (size_t)(equals - given)), false);
        buffer_append(&list, SLICE(",\"phrase\":"));
        json_write_string(&list, slice_text(equals + 1), false);
        buffer_append(&list, SLICE("}"));
        is_first = false;
    }
    buffer_append(&list, SLICE("]"));
    request_open(request, "extra_cues");
    request_raw(request, "cues", buffer_slice(&list));
    request_close(request);
    return CLI_OK;
}

/* Returns whether an option specifies how long content is kept. */
static bool has_retention(struct cli *cli)
{
    return options_has(&cli->options, "corrections-days") ||
           options_has(&cli->options, "verdicts-days") ||
           options_has(&cli->options, "reviews-days");
}

/* The times that are given, of settings or of a preview. */
static enum cli_exit fill_retention(struct request *request, struct cli *cli)
{
    enum cli_exit result = CLI_OK;

    request_open(request, "content_retention");
    result = fill_message(request, cli, &contract_errata_v1_content_retention);
    request_close(request);
    return result;
}

/* The settings that are given; `--redact none` redacts no members. */
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
    if (options_has(&cli->options, "cue") && result == CLI_OK) {
        result = add_cues(request, cli);
    }
    if (has_retention(cli) && result == CLI_OK) {
        result = fill_retention(request, cli);
    }
    request_close(request);
    return result;
}

static enum cli_exit print_preview(struct cli *cli, struct json_value reply)
{
    struct reply_walk walk = reply_walk(reply, "previews");
    const char *least =
        slice_equal(reply_text(cli, reply, "partial"), SLICE("true")) ? "at least " : "";

    while (reply_next(&walk)) {
        struct slice class = reply_word(cli, walk.row, "contentClass", "CONTENT_CLASS_");
        struct slice count = reply_count(cli, walk.row, "eventCount");
        struct slice bytes = reply_count(cli, walk.row, "contentBytes");
        struct slice until = reply_full_time(cli, walk.row, "recordedUntil");

        print_text(&cli->out, "%-12.*s", SLICE_ARGS(class));
        if (until.size == 0) {
            print_text(&cli->out, "kept forever\n");
        } else {
            print_text(&cli->out, "%s%.*s events, %.*s bytes, recorded until %.*s\n", least,
                       SLICE_ARGS(count), SLICE_ARGS(bytes), SLICE_ARGS(until));
        }
    }
    return CLI_OK;
}

/* Shows the settings, or changes those that are given. */
static enum cli_exit run_settings(struct cli *cli)
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
    bool other =
        options_has(&cli->options, "holdout") || options_has(&cli->options, "match-mode") ||
        options_has(&cli->options, "annotator") || options_has(&cli->options, "grouping") ||
        options_has(&cli->options, "stacking") || options_has(&cli->options, "suspicious-at") ||
        options_has(&cli->options, "fake-at") || options_has(&cli->options, "reviews-needed") ||
        options_has(&cli->options, "redact") || options_has(&cli->options, "votes-needed") ||
        options_has(&cli->options, "cue") || options_has(&cli->options, "topic-change");

    if (options_has(&cli->options, "dry-run") && other) {
        return cli_usage(cli, "--dry-run: shows only what retention would remove; expected only "
                              "--corrections-days, --verdicts-days and --reviews-days beside it");
    }
    if (options_has(&cli->options, "dry-run")) {
        return command_call_once(cli, &preview);
    }
    return command_call_once(cli, other || has_retention(cli) ? &change : &show);
}

static const struct option_spec settings_options[] = {
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
    {"votes-needed", "N", "users who must approve a proposal until it is a guideline, 1 to 100"},
    {"idempotency-key", "KEY", "key that makes the write safe to repeat for 24 hours"},
    {NULL, NULL, NULL}};
static const struct option_spec create_options[] = {
    {"idempotency-key", "KEY", "key that makes the write safe to repeat for 24 hours"},
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {PAGING_OPTIONS, {NULL, NULL, NULL}};

/* Lines of examples that find an organisation by its name. */
#define FIND_ACME                                                                                  \
    "errata org list --all --json |\n"                                                             \
    "  jq -r '.organizations[] | select(.name == \"Acme Ltd\") | .id' |\n"

static const struct option_spec state_options[] = {
    {"reason", "TEXT", "why; shown by `errata admin audit`"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

static const struct option_spec delete_options[] = {
    {"confirm-name", "NAME", "name of the organisation, as a confirmation"},
    {"reason", "TEXT", "why; shown by `errata admin audit`"},
    {"no-wait", NULL, "only begin the deletion"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

/* Dims organisations whose tokens are refused. */
static void colour_organization(struct cli *cli, struct json_value row, struct table *table)
{
    if (!slice_equal(reply_word(cli, row, "state", "ORGANIZATION_STATE_"), SLICE("ACTIVE"))) {
        table_colour(table, TABLE_COLUMNS_MAX, COLOUR_DIM);
    }
}

static enum cli_exit print_state(struct cli *cli, struct json_value reply)
{
    struct json_value organization = reply_member(reply, "organization");

    print_text(&cli->out, "organisation %.*s is %.*s\n",
               SLICE_ARGS(reply_text(cli, organization, "id")),
               SLICE_ARGS(reply_word(cli, organization, "state", "ORGANIZATION_STATE_")));
    return CLI_OK;
}

const struct command org_commands[] = {
    {.group = "org",
     .name = "create",
     .arguments = "NAME",
     .summary = "create an organisation and print its id",
     .help = "Creates an organisation and prints its id, which is needed to create its first "
             "token. Needs an ADMIN token with the server flag, such as the first one of a server.",
     .examples = {{"org=$(errata org create \"Acme Ltd\")\n"
                   "errata token create --org \"$org\" --role ADMIN --file acme-admin.token",
                   "an organisation, and its administrator"}},
     .options = create_options,
     COMMAND_CALL("AdminService/CreateOrganization")},
    {.group = "org",
     .name = "list",
     .summary = "list organisations",
     .help = "Lists organisations, oldest first. With a token without the server flag, lists only "
             "the token's own organisation.",
     .examples = {{"errata org list", NULL},
                  {"errata org list --all --json | jq -r .organizations[].id", "only the ids"}},
     .options = list_options,
     COMMAND_CALL("AdminService/ListOrganizations", .colour = colour_organization,
                  .nothing = "no organisations")},
    {.group = "org",
     .name = "suspend",
     .arguments = "ORG --reason TEXT",
     .summary = "refuse all tokens of an organisation, and keep its data",
     .help = "Suspends an organisation: calls with its tokens get PERMISSION_DENIED until `errata "
             "org resume`, and its streams end. Its data stay. The organisation of your own token, "
             "and `default`, cannot be suspended. Needs an ADMIN token with the server flag.",
     .examples = {{FIND_ACME "  xargs -I ORG errata org suspend ORG --reason \"contract ended\"",
                   "an organisation by its name"}},
     .options = state_options,
     COMMAND_CALL("AdminService/SuspendOrganization", .print = print_state)},
    {.group = "org",
     .name = "resume",
     .arguments = "ORG --reason TEXT",
     .summary = "accept the tokens of a suspended organisation again",
     .help = "Resumes a suspended organisation: its tokens work as before. Needs an ADMIN token "
             "with the server flag.",
     .examples = {{FIND_ACME "  xargs -I ORG errata org resume ORG --reason \"contract renewed\"",
                   NULL}},
     .options = state_options,
     COMMAND_CALL("AdminService/ResumeOrganization", .print = print_state)},
    {.group = "org",
     .name = "delete",
     .arguments = "ORG --confirm-name NAME --reason TEXT",
     .summary = "delete a suspended organisation with all of its data",
     .help =
         "Deletes an organisation that is suspended: its tokens, its events and everything that "
         "was made of them. It cannot be undone; backups keep their copy. Waits until nothing "
         "is left; the server goes on if the command is interrupted, and after a restart. "
         "`errata admin audit` of `default` shows who began it and how much it removed. Needs "
         "an ADMIN token with the server flag.",
     .examples = {{"errata org delete 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --confirm-name \"Acme Ltd\" --reason \"request 17\"",
                   NULL}},
     .options = delete_options,
     .run = org_delete_run},
    {.group = "org",
     .name = "settings",
     .arguments = "[ORG]",
     .summary = "show or change the settings of an organisation",
     .help = "Shows the settings of the token's own organisation, or of ORG. Options change the "
             "given settings; then all settings are shown. Held-out documents get no examples, so "
             "that `errata analytics experiment` can measure the effect of examples. The choice "
             "for a document is stable, and a larger percentage only adds held-out documents. "
             "Needs an ADMIN token.",
     .examples = {{"errata org settings", NULL},
                  {"errata org settings --holdout 10 --match-mode exact", NULL},
                  {"errata org settings --redact email --redact serial_number",
                   "which members of example items prompts never show"},
                  {"errata org settings --corrections-days 30",
                   "remove the content of corrections after 30 days; counts and mappings stay"},
                  {"errata org settings --corrections-days 30 --dry-run",
                   "how much that would remove now"}},
     .options = settings_options,
     .run = run_settings},
    {.name = NULL}};
