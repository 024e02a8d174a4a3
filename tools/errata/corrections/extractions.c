/*
 * extractions.c: `errata extractions`: records and shows extractions of a model.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"

static enum cli_exit check_options(struct request *request, struct cli *cli)
{
    (void)request;
    if (!options_has(&cli->options, "confidence")) {
        return cli_usage(cli,
                         "--confidence: missing; expected the model's confidence, from 0 to 1");
    }
    return options_has(&cli->options, "layout") || options_has(&cli->options, "document")
               ? CLI_OK
               : cli_usage(cli, "--layout: missing; expected a layout, or --document with an "
                                "ingested document");
}

static enum cli_exit print_recorded(struct cli *cli, struct json_value reply)
{
    struct json_value extraction = reply_member(reply, "extraction");
    struct slice arm = reply_word(cli, extraction, "arm", "EXPERIMENT_ARM_");
    struct slice examples = reply_list(cli, extraction, "exampleIds");

    print_line(&cli->out, reply_text(cli, extraction, "id"));
    if (arm.size > 0 && !slice_equal(arm, SLICE("NONE"))) {
        struct slice reason =
            reply_word(cli, extraction, "experimentExclusion", "EXPERIMENT_EXCLUSION_");
        const char *text = slice_equal(arm, SLICE("CONTROL"))
                               ? "the document is held out (arm CONTROL)"
                               : "the document gets examples (arm TREATMENT)";

        cli_note(cli,
                 reason.size > 0 ? "%s; it does not count in the experiment: %.*s"
                                 : "%s; it counts in the experiment%.*s",
                 text, (int)reason.size, (const char *)reason.data);
    }
    if (examples.size > 0) {
        cli_note(cli, "its prompt carried the examples %.*s", SLICE_ARGS(examples));
    }
    reply_note_warnings(cli, reply);
    return CLI_OK;
}

static const struct option_spec record_options[] = {
    {"layout", "LAYOUT", "the layout's fingerprint; default: the layout of the ingested document"},
    {"extraction-id", "ID",
     "the caller's id of the extraction; default: the id of the document or of the draft order"},
    {"document", "DOCUMENT", "the document that was extracted"},
    {"draft", "ID", "the draft order that was created from the document"},
    {"confidence", "SHARE", "the model's confidence, from 0 to 1"},
    {"model", "TEXT", "the model's name"},
    {"fields", "N", "number of extracted fields"},
    {"exposure", "REFERENCE|@FILE|-",
     "reference printed by `examples`, `prompts prepare` or `mappings match` for this document; "
     "may be repeated"},
    {"example", "CORRECTION", "an example that the prompt contained, if there is no reference"},
    {"actor", "USER", "the acting user, if the token is not bound to one"},
    {"created-at", "TIME|SPAN",
     "time of the extraction, to import past ones; needs INTEGRATOR or ADMIN"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

const struct command extraction_commands[] = {
    {.group = "extractions",
     .name = "record",
     .arguments = "--confidence SHARE",
     .summary = "record an extraction by a model and print its id",
     .help = "Records that a model extracted a document. Correction rates, confidence trends and "
             "the effect of examples are computed from these records. `--exposure` cites the "
             "references of the examples and mappings that were served for the document; mappings "
             "that were applied count as used. An extraction with the same id replaces the earlier "
             "one; use `--extraction-id` to record a second extraction of a document. `errata "
             "events list --kind extraction-recorded` lists the recorded extractions.",
     .examples = {{"errata extractions record --document invoice-17 --confidence 0.93 \\\n"
                   "  --model reader-2 --fields 24",
                   NULL},
                  {"errata examples a1b2c3 --document invoice-18 --json | jq -r .exposureRef |\n"
                   "  errata extractions record --layout a1b2c3 --document invoice-18 \\\n"
                   "  --confidence 0.97 --exposure -",
                   "cites the examples that were served for it"}},
     .options = record_options,
     COMMAND_CALL("ExtractionService/RecordExtraction", .fill = check_options,
                  .print = print_recorded)},
    {.name = NULL}};
