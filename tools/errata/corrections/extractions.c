/*
 * extractions.c: `errata extractions`: what a model extracted, as far as learning needs to know it.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"

static enum cli_exit check_options(struct request *request, struct cli *cli)
{
    (void)request;
    if (!options_has(&cli->options, "confidence")) {
        return cli_usage(cli, "--confidence is missing: how sure the model was, from 0 to 1");
    }
    return options_has(&cli->options, "layout") || options_has(&cli->options, "document")
               ? CLI_OK
               : cli_usage(cli, "--layout is missing: only the layout of an ingested --document is "
                                "known to the server");
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
    {"layout", "LAYOUT",
     "the layout's fingerprint; known by itself where the document was ingested"},
    {"extraction-id", "ID",
     "your id of the extraction; default: that of the document, else of the draft order"},
    {"document", "DOCUMENT", "the document"},
    {"draft", "ID", "the draft order that was made of it"},
    {"confidence", "SHARE", "how sure the model was, from 0 to 1"},
    {"model", "TEXT", "the model's name"},
    {"fields", "N", "how many fields were extracted"},
    {"exposure", "REFERENCE|@FILE|-",
     "what `examples`, `prompts prepare` or `mappings match` gave for it; may be given several "
     "times"},
    {"example", "CORRECTION", "an example that the prompt carried, where there is no reference"},
    {"actor", "USER", "who recorded it, if the token is bound to no user"},
    {"created-at", "TIME|SPAN", "when it was made, for history; needs INTEGRATOR or ADMIN"},
    {"idempotency-key", "KEY", "makes the write safe to repeat for 24 hours"},
    {NULL, NULL, NULL}};

const struct command extraction_commands[] = {
    {.group = "extractions",
     .name = "record",
     .arguments = "--confidence SHARE",
     .summary = "record what a model extracted, and print its id",
     .help = "Records that a model extracted a document: rates of correction, trends of confidence "
             "and the effect of examples are computed from that. References of what was served for "
             "it are cited with `--exposure`, and confirmed mappings that were applied count as "
             "used. An extraction with the same id replaces the earlier one: name one with "
             "`--extraction-id` "
             "for a second extraction of a document.\n\n`errata events list --kind "
             "extraction-recorded` lists what "
             "was recorded.",
     .examples = {{"errata extractions record --document invoice-17 --confidence 0.93 \\\n"
                   "  --model reader-2 --fields 24",
                   NULL},
                  {"errata examples a1b2c3 --document invoice-18 --json | jq -r .exposureRef |\n"
                   "  errata extractions record --layout a1b2c3 --document invoice-18 \\\n"
                   "  --confidence 0.97 --exposure -",
                   "with what was served for it"}},
     .options = record_options,
     COMMAND_CALL("ExtractionService/RecordExtraction", .fill = check_options,
                  .print = print_recorded)},
    {.name = NULL}};
