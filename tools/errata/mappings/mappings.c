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

/* The id goes to the output; the rest of the sentence is for people. */
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

/* The three that name a mapping, or why they don't. */
static enum cli_exit check_triple(struct cli *cli)
{
    static const char *const names[] = {"customer", "sku", "internal"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!options_has(&cli->options, names[i])) {
            return cli_usage(
                cli, "--%s is missing: a mapping is named by --customer, --sku and --internal%s",
                names[i], cli->command->arguments[0] == '[' ? ", or by its id, MAPPING" : "");
        }
    }
    return CLI_OK;
}

/* The mapping's id, or its customer and both SKUs. */
static enum cli_exit check_rejected(struct request *request, struct cli *cli)
{
    bool triple = options_has(&cli->options, "customer") || options_has(&cli->options, "sku") ||
                  options_has(&cli->options, "internal");

    (void)request;
    if (cli->options.word_count == 0) {
        return check_triple(cli);
    }
    if (triple) {
        return cli_usage(cli, "MAPPING names it whole: leave --customer, --sku and --internal out");
    }
    return CLI_OK;
}

/* The mapping's id, perhaps with another SKU of its customer; or customer and both SKUs. */
static enum cli_exit check_confirmed(struct request *request, struct cli *cli)
{
    (void)request;
    if (cli->options.word_count == 0) {
        return check_triple(cli);
    }
    if (options_has(&cli->options, "customer") || options_has(&cli->options, "internal")) {
        return cli_usage(
            cli, "MAPPING names customer and internal SKU: leave --customer and --internal out");
    }
    return CLI_OK;
}

static enum cli_exit check_suggestion(struct request *request, struct cli *cli)
{
    (void)request;
    if (!options_has(&cli->options, "confidence")) {
        return cli_usage(cli, "--confidence is missing: how sure the matcher is, from 0 to 1");
    }
    return check_triple(cli);
}

/* Options that name one mapping, and that rows have columns for. */
static enum cli_exit check_rows(struct cli *cli)
{
    static const char *const names[] = {"customer", "sku", "internal", "suggestions", "created-at"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (options_has(&cli->options, names[i])) {
            return cli_usage(cli, "--file names the mappings: leave --%s out", names[i]);
        }
    }
    return cli->options.word_count == 0
               ? CLI_OK
               : cli_usage(cli, "--file names the mappings: leave MAPPING out");
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
        "internal", "SKU", "what it is called here"                                                \
    }
#define JUDGED_OPTIONS                                                                             \
    {"draft", "ID", "the draft order in which that was"},                                          \
        {"document", "DOCUMENT", "the document in which that was"},                                \
        {"actor", "USER", "who judged, if the token is bound to no user"},                         \
        {"created-at", "TIME|SPAN", "when, for history; needs INTEGRATOR or ADMIN"},               \
    {                                                                                              \
        "idempotency-key", "KEY", "makes the write safe to repeat for 24 hours"                    \
    }

static const struct option_spec list_options[] = {
    {"customer", "CUSTOMER", "only this customer's"},
    {"internal", "SKU", "only mappings to this internal SKU"},
    {"status", "STATUS", "only mappings with this status"},
    {"prefix", "TEXT", "only where the customer's SKU begins so, ignoring case"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec suggest_options[] = {
    MAPPING_NAME_OPTIONS,
    {"confidence", "SHARE", "how sure the matcher is, from 0 to 1"},
    {"created-at", "TIME|SPAN", "when, for history; needs INTEGRATOR or ADMIN"},
    {"idempotency-key", "KEY", "makes the write safe to repeat for 24 hours"},
    {NULL, NULL, NULL}};
static const struct option_spec confirm_options[] = {
    MAPPING_NAME_OPTIONS,
    {"suggestions", "JSON|@FILE|-",
     "what was shown to choose from: an object with the member `suggestions`"},
    {"file", "FILE|-", "confirm, reject or suggest the rows of a CSV file, all or none"},
    JUDGED_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec reject_options[] = {
    MAPPING_NAME_OPTIONS, JUDGED_OPTIONS, {NULL, NULL, NULL}};

const struct command mapping_commands[] = {
    {.group = "mappings",
     .name = "list",
     .summary = "list mappings of customers' SKUs",
     .help = "Lists mappings in the order of the customers' SKUs, then of creation. SKUs are "
             "compared without regard to case and to surrounding blanks, and shown as written.",
     .examples = {{"errata mappings list --customer acme --status confirmed", NULL},
                  {"errata mappings list --internal 4711", "all customers' SKUs for one item"},
                  {"errata mappings list --prefix hx- --limit 20", NULL},
                  {"errata mappings list --all --csv > mappings.csv",
                   "all of them, as `errata mappings import` reads them"}},
     .options = list_options,
     COMMAND_CALL("MappingService/ListMappings", .colour = colour_mapping,
                  .nothing = "no mappings match")},
    {.group = "mappings",
     .name = "show",
     .arguments = "MAPPING",
     .summary = "show one mapping with its status and uses",
     .help =
         "Shows one mapping by its id. Lines that it was applied to count as uses once an outcome "
         "cites what was served (`errata mappings record`, `errata extractions record`).",
     .examples = {{"errata mappings show 0192f0c0-1111-7222-8333-444455556666", NULL}},
     COMMAND_CALL("MappingService/GetMapping")},
    {.group = "mappings",
     .name = "suggest",
     .arguments = "--customer CUSTOMER --sku SKU --internal SKU --confidence SHARE",
     .summary = "record a matcher's suggestion and print its id",
     .help = "Records what a matcher takes a customer's SKU for, and how sure it is. What a person "
             "has confirmed or rejected stays as it is, and is answered so.",
     .examples = {{"errata mappings suggest --customer acme --sku HX-1 --internal 4711 \\\n"
                   "  --confidence 0.72",
                   NULL}},
     .options = suggest_options,
     COMMAND_CALL("MappingService/SuggestMapping", .fill = check_suggestion,
                  .print = print_judged)},
    {.group = "mappings",
     .name = "confirm",
     .arguments = "[MAPPING]",
     .summary = "confirm a mapping, or those of a draft in one call",
     .help =
         "Confirms that a customer's SKU means an internal SKU. From then on it is applied "
         "to that customer's lines; what was confirmed for the same SKU before is superseded. "
         "A missing mapping is created; a rejected one is revived. MAPPING with --sku confirms "
         "that SKU of the same customer for the internal SKU of MAPPING, as for a candidate "
         "SIMILAR_SKU.\n\nWith `--file`, up to 1,000 rows of a CSV file are stored in one call, "
         "all or none, and the mappings' ids are printed. Columns: customer_id, customer_sku, "
         "internal_sku and, optionally, status (CONFIRMED by default, REJECTED, SUGGESTED) and "
         "confidence (of SUGGESTED). Other columns are ignored, so the rows can be those of "
         "`errata mappings match --csv`. In errors, judgements[0] is the first row.",
     .examples = {{"errata mappings confirm --customer acme --sku HX-1 --internal 4711 \\\n"
                   "  --draft draft-17",
                   NULL},
                  {"errata mappings confirm 0192f0c0-1111-7222-8333-444455556666", NULL},
                  {"errata mappings confirm 0192f0c0-1111-7222-8333-444455556666 --sku HX-1B",
                   "another SKU of the same customer"},
                  {"errata mappings confirm --file matches.csv --draft draft-17",
                   "what `errata mappings match --csv` printed, once it was checked"}},
     .options = confirm_options,
     .run = confirm_run},
    {.group = "mappings",
     .name = "reject",
     .arguments = "[MAPPING]",
     .summary = "reject a mapping, by its id or by customer and SKUs",
     .help = "Records that a customer's SKU does not mean that internal SKU. It is never proposed "
             "again. A confirmed mapping can be rejected too.",
     .examples = {{"errata mappings reject --customer acme --sku HX-1 --internal 4712", NULL}},
     .options = reject_options,
     COMMAND_CALL("MappingService/RejectMapping", .fill = check_rejected, .print = print_judged)},
    {.group = "mappings",
     .name = "match",
     .arguments = "[SKU...]",
     .summary = "match draft lines to internal SKUs",
     .help = "Matches lines of a draft: a line whose customer has a confirmed mapping for its SKU "
             "gets it; other lines get candidates, best first: suggestions, after a rejection the "
             "mapping that was confirmed before, then confirmed SKUs of that customer with a "
             "similar spelling.\n\nLines are SKUs of one `--customer`, or come from a file of "
             "`--lines`: CSV with the columns customer_id, customer_sku and (if wanted) "
             "description, or JSON objects with these members, one a line.\n\nNothing is stored. "
             "The reference that is printed to standard error counts what was applied once it is "
             "cited: `errata mappings record`, `errata extractions record --exposure`.",
     .examples = {{"errata mappings match --customer acme HX-1 HX-2", NULL},
                  {"errata mappings match --lines lines.csv --candidates 3", NULL},
                  {"errata mappings match --lines - --csv < lines.csv > matches.csv", NULL}},
     .options = match_options,
     .run = match_run},
    {.group = "mappings",
     .name = "record",
     .arguments = "REFERENCE|@FILE|-",
     .summary = "count the mappings that were applied to a draft as used",
     .help = "Closes a draft that has no other outcome: the mappings that `errata mappings match` "
             "applied, according to its reference, are counted as used. The same reference counts "
             "once for the same draft.",
     .examples = {{"errata mappings match --customer acme HX-1 --json | jq -r .exposureRef |\n"
                   "  errata mappings record - --draft draft-17",
                   NULL}},
     .options = record_options,
     .run = match_record_run},
    {.group = "mappings",
     .name = "import",
     .arguments = "FILE|-",
     .summary = "confirm, suggest or reject many mappings, from CSV",
     .help = "Stores the mappings of a CSV file with the columns customer_id, customer_sku, "
             "internal_sku and, if wanted, status (CONFIRMED where it is left out, SUGGESTED, "
             "REJECTED), confidence (of SUGGESTED), created_at and actor_user_id; others are "
             "passed over, so that what `errata mappings list --csv` wrote can be read back. Rows "
             "that are SUPERSEDED are passed over too: they follow from those that superseded "
             "them. A row with a created_at is history: later confirmations and rejections are "
             "kept. The actor is the token's user, or the person of `--actor`.\n\nThe file is "
             "checked first: if a row is invalid, all problems are reported and nothing is stored, "
             "unless `--skip-invalid` is given. Running the same import again within 24 hours "
             "stores nothing twice, so an interrupted one is repeated.",
     .examples = {{"errata mappings import mappings.csv", NULL},
                  {"errata mappings import mappings.csv --dry-run", "only check the file"}},
     .exits = "1 if the server refused a row, 2 if a row is invalid.",
     .options = mapping_import_options,
     .run = mapping_import_run},
    {.name = NULL}};
