/*
 * mappings.c: `errata mappings`: the internal SKUs of customers' SKUs: list, show, suggest, confirm, reject.
 * Matching the lines of a draft is in match.c, judging them in one call in judge.c, importing in mapping_import.c.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/mappings/judge.h"
#include "tools/errata/mappings/mapping_import.h"
#include "tools/errata/mappings/match.h"

#define STATUS_PREFIX "MAPPING_STATUS_"

/* --- list --- */

/* Highlights applied mappings, and dims those that are never applied. */
static void colour_mapping(struct cli *cli, struct json_value row, struct table *table)
{
    struct slice status = reply_word(cli, row, "status", STATUS_PREFIX);

    if (slice_equal(status, SLICE("CONFIRMED"))) {
        table_colour(table, 3, COLOUR_GREEN);
    } else if (slice_equal(status, SLICE("SUGGESTED"))) {
        table_colour(table, 3, COLOUR_YELLOW);
    } else {
        table_colour(table, TABLE_COLUMNS_MAX, COLOUR_DIM);
    }
}

struct slice cell_last_used(struct cli *cli, struct json_value object, const char *name)
{
    struct slice used = reply_full_time(cli, object, name);

    return used.size > 0 ? used : SLICE("never");
}

/* --- suggest, confirm, reject --- */

/* The id is printed to standard output, the rest of the sentence as a note. */
static enum cli_exit print_judged(struct cli *cli, struct json_value reply)
{
    struct json_value mapping = reply_member(reply, "mapping");
    struct slice status = reply_word(cli, mapping, "status", STATUS_PREFIX);
    struct slice customer = reply_text(cli, mapping, "customerId");
    struct slice theirs = reply_text(cli, mapping, "customerSku");
    struct slice ours = reply_text(cli, mapping, "internalSku");

    print_line(&cli->out, reply_text(cli, mapping, "id"));
    cli_note(cli, "%.*s of %.*s as %.*s: %.*s", SLICE_ARGS(theirs), SLICE_ARGS(customer),
             SLICE_ARGS(ours), SLICE_ARGS(status));
    return CLI_OK;
}

/* Adds the three members that name a mapping, or reports why they do not. */
static enum cli_exit check_triple(struct cli *cli)
{
    static const char *const names[] = {"customer", "sku", "internal"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!options_has(&cli->options, names[i])) {
            return cli_usage(cli, "--%s: missing; expected --customer, --sku and --internal%s",
                             names[i],
                             cli->command->arguments[0] == '[' ? ", or the id MAPPING" : "");
        }
    }
    return CLI_OK;
}

/* Adds the mapping's id, or its customer and both SKUs. */
static enum cli_exit check_rejected(struct request *request, struct cli *cli)
{
    bool triple = options_has(&cli->options, "customer") || options_has(&cli->options, "sku") ||
                  options_has(&cli->options, "internal");

    (void)request;
    if (cli->options.word_count == 0) {
        return check_triple(cli);
    }
    if (triple) {
        return cli_usage(
            cli,
            "MAPPING: given together with --customer, --sku or --internal; expected only MAPPING");
    }
    return CLI_OK;
}

/* Adds the mapping's id, optionally with another SKU of its customer; or customer and both SKUs. */
static enum cli_exit check_confirmed(struct request *request, struct cli *cli)
{
    (void)request;
    if (cli->options.word_count == 0) {
        return check_triple(cli);
    }
    if (options_has(&cli->options, "customer") || options_has(&cli->options, "internal")) {
        return cli_usage(
            cli, "MAPPING: given together with --customer or --internal; expected only MAPPING");
    }
    return CLI_OK;
}

static enum cli_exit check_suggestion(struct request *request, struct cli *cli)
{
    (void)request;
    if (!options_has(&cli->options, "confidence")) {
        return cli_usage(cli,
                         "--confidence: missing; expected the matcher's confidence, from 0 to 1");
    }
    return check_triple(cli);
}

/* Options that name one mapping; rows have columns for them. */
static enum cli_exit check_rows(struct cli *cli)
{
    static const char *const names[] = {"customer", "sku", "internal", "suggestions", "created-at"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (options_has(&cli->options, names[i])) {
            return cli_usage(cli, "--file: given together with --%s; expected only one of them",
                             names[i]);
        }
    }
    return cli->options.word_count == 0
               ? CLI_OK
               : cli_usage(cli, "--file: given together with MAPPING; expected only one of them");
}

static enum cli_exit confirm_run(struct cli *cli)
{
    static const struct command_call one = {.method = "/errata.v1.MappingService/ConfirmMapping",
                                            .fill = check_confirmed,
                                            .print = print_judged};
    static const struct command_call rows = {.method =
                                                 "/errata.v1.MappingService/BatchJudgeMappings",
                                             .fill = judge_fill,
                                             .print = judge_print};
    enum cli_exit result = CLI_OK;

    if (!options_has(&cli->options, "file")) {
        return command_call_once(cli, &one);
    }
    result = check_rows(cli);
    return result == CLI_OK ? command_call_once(cli, &rows) : result;
}

/* --- the commands --- */

#define MAPPING_NAME_OPTIONS                                                                       \
    {"customer", "CUSTOMER", "the customer"}, {"sku", "SKU", "the customer's SKU"},                \
    {                                                                                              \
        "internal", "SKU", "your own SKU of the item"                                              \
    }
#define JUDGED_OPTIONS                                                                             \
    {"draft", "ID", "the draft order in which the mapping was judged"},                            \
        {"document", "DOCUMENT", "the document in which the mapping was judged"},                  \
        {"actor", "USER", "the user who judged, if the token is not bound to one"},                \
        {"created-at", "TIME|SPAN",                                                                \
         "time of the judgement, to import past ones; needs INTEGRATOR or ADMIN"},                 \
        IDEMPOTENCY_OPTION

static const struct option_spec list_options[] = {
    {"customer", "CUSTOMER", "only mappings of this customer"},
    {"internal", "SKU", "only mappings to this internal SKU"},
    {"status", "STATUS", "only mappings with this status"},
    {"prefix", "TEXT", "only customer SKUs with this prefix, ignoring case"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec suggest_options[] = {
    MAPPING_NAME_OPTIONS,
    {"confidence", "SHARE", "the matcher's confidence, from 0 to 1"},
    {"created-at", "TIME|SPAN",
     "time of the suggestion, to import past ones; needs INTEGRATOR or ADMIN"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec confirm_options[] = {
    MAPPING_NAME_OPTIONS,
    {"suggestions", "JSON|@FILE|-",
     "the suggestions that were shown to the user: an object with the member `suggestions`"},
    {"file", "FILE|-", "store the judgements of a CSV file, all or none"},
    JUDGED_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec reject_options[] = {
    MAPPING_NAME_OPTIONS, JUDGED_OPTIONS, {NULL, NULL, NULL}};

const struct command mapping_commands[] = {
    {.group = "mappings",
     .name = "list",
     .summary = "list mappings of customer SKUs to internal SKUs",
     .help = "Lists mappings ordered by customer SKU, then by time of creation. SKUs are compared "
             "without regard to case and surrounding spaces, and shown as written.",
     .examples = {{"errata mappings list --customer acme --status confirmed", NULL},
                  {"errata mappings list --internal 4711",
                   "the SKUs of all customers for one item"},
                  {"errata mappings list --prefix hx- --limit 20", NULL},
                  {"errata mappings list --all --csv > mappings.csv",
                   "all of them, in the form of `errata mappings import`"}},
     .options = list_options,
     COMMAND_CALL("MappingService/ListMappings", .colour = colour_mapping,
                  .nothing = "no mappings match")},
    {.group = "mappings",
     .name = "show",
     .arguments = "MAPPING",
     .summary = "show one mapping with its status and uses",
     .help = "Shows one mapping by its id. A line to which the mapping was applied counts as a use "
             "after an outcome cites the reference of the match (`errata mappings record`, `errata "
             "extractions record`).",
     .examples = {{"errata mappings show 0192f0c0-1111-7222-8333-444455556666", NULL}},
     COMMAND_CALL("MappingService/GetMapping")},
    {.group = "mappings",
     .name = "suggest",
     .arguments = "--customer CUSTOMER --sku SKU --internal SKU --confidence SHARE",
     .summary = "record a matcher's suggestion and print its id",
     .help = "Records a matcher's suggestion of an internal SKU for a customer's SKU, with its "
             "confidence. A mapping that a person has confirmed or rejected is not changed; it is "
             "returned as it is.",
     .examples = {{"errata mappings suggest --customer acme --sku HX-1 --internal 4711 \\\n"
                   "  --confidence 0.72",
                   NULL}},
     .options = suggest_options,
     COMMAND_CALL("MappingService/SuggestMapping", .fill = check_suggestion,
                  .print = print_judged)},
    {.group = "mappings",
     .name = "confirm",
     .arguments = "[MAPPING]",
     .summary = "confirm one mapping, or the mappings of a file",
     .help = "Confirms that a customer's SKU means an internal SKU. The mapping is then applied to "
             "that customer's lines and supersedes the mapping that was confirmed before for the "
             "same SKU. A missing mapping is created, and a rejected one becomes confirmed. "
             "MAPPING with --sku confirms another SKU of the same customer for the internal SKU of "
             "MAPPING, such as a candidate of the kind SIMILAR_SKU.\n\nWith `--file`, up to 1,000 "
             "rows of a CSV file are stored in one call, all or none, and the mappings' ids are "
             "printed. The columns are customer_id, customer_sku and internal_sku, and optionally "
             "status (CONFIRMED by default, REJECTED or SUGGESTED) and confidence (only for "
             "SUGGESTED). Other columns are ignored, so the output of `errata mappings match "
             "--csv` is valid input. In errors, judgements[0] is the first row.",
     .examples = {{"errata mappings confirm --customer acme --sku HX-1 --internal 4711 \\\n"
                   "  --draft draft-17",
                   NULL},
                  {"errata mappings confirm 0192f0c0-1111-7222-8333-444455556666", NULL},
                  {"errata mappings confirm 0192f0c0-1111-7222-8333-444455556666 --sku HX-1B",
                   "another SKU of the same customer"},
                  {"errata mappings confirm --file matches.csv --draft draft-17",
                   "the checked output of `errata mappings match --csv`"}},
     .options = confirm_options,
     .run = confirm_run},
    {.group = "mappings",
     .name = "reject",
     .arguments = "[MAPPING]",
     .summary = "reject a mapping, given by its id or by customer and SKUs",
     .help = "Records that a customer's SKU does not mean an internal SKU. The mapping is never "
             "suggested again. A confirmed mapping can be rejected too.",
     .examples = {{"errata mappings reject --customer acme --sku HX-1 --internal 4712", NULL}},
     .options = reject_options,
     COMMAND_CALL("MappingService/RejectMapping", .fill = check_rejected, .print = print_judged)},
    {.group = "mappings",
     .name = "match",
     .arguments = "[SKU...]",
     .summary = "match draft lines to internal SKUs",
     .help =
         "Matches the lines of a draft order. If the customer has a confirmed mapping for a line's "
         "SKU, the mapping is applied. Other lines get candidates, best first: suggestions, the "
         "mapping that was confirmed before a rejection, and confirmed SKUs of the customer with a "
         "similar spelling.\n\nThe lines are SKUs of one `--customer`, or are read from the file "
         "of `--lines`: CSV with the columns customer_id, customer_sku and optionally description, "
         "or JSON objects with these members, one per line.\n\nNothing is stored. The reference on "
         "standard error identifies this match: cite it with `errata mappings record` or `errata "
         "extractions record --exposure` to count the applied mappings as used.",
     .examples = {{"errata mappings match --customer acme HX-1 HX-2", NULL},
                  {"errata mappings match --lines lines.csv --candidates 3", NULL},
                  {"errata mappings match --lines - --csv < lines.csv > matches.csv", NULL}},
     .options = match_options,
     .run = match_run},
    {.group = "mappings",
     .name = "record",
     .arguments = "REFERENCE|@FILE|-",
     .summary = "count the mappings applied to a draft as used",
     .help = "Counts the mappings that `errata mappings match` applied as used, for a draft "
             "without another recorded outcome. REFERENCE is the reference that `errata mappings "
             "match` printed. It counts only once for the same draft.",
     .examples = {{"errata mappings match --customer acme HX-1 --json | jq -r .exposureRef |\n"
                   "  errata mappings record - --draft draft-17",
                   NULL}},
     .options = record_options,
     .run = match_record_run},
    {.group = "mappings",
     .name = "import",
     .arguments = "FILE|-",
     .summary = "store many mappings from a CSV file",
     .help =
         "Stores the mappings of a CSV file. The columns are customer_id, customer_sku and "
         "internal_sku, and optionally status (CONFIRMED by default, SUGGESTED or REJECTED), "
         "confidence (only for SUGGESTED), created_at and actor_user_id. Other columns are "
         "ignored, so the output of `errata mappings list --csv` is valid input. Rows with the "
         "status SUPERSEDED are skipped, since the rows that superseded them imply them. A row "
         "with a created_at is a past judgement and does not override later confirmations and "
         "rejections. Rows without an actor get the token's user, or the user of `--actor`.\n\nThe "
         "file is checked first: if a row is invalid, all problems are reported and nothing is "
         "stored, unless `--skip-invalid` is given. Running the same import again within 24 hours "
         "stores no row twice, so an interrupted import can be repeated.",
     .examples = {{"errata mappings import mappings.csv", NULL},
                  {"errata mappings import mappings.csv --dry-run", "only check the file"}},
     .exits = "1 if the server refused a row, 2 if a row is invalid.",
     .options = mapping_import_options,
     .run = mapping_import_run},
    {.name = NULL}};
