/*
 * layouts.c: `errata layouts`: fingerprints of layouts.
 */
#include "tools/errata/ask.h"
#include "tools/errata/commands.h"
#include "tools/errata/input.h"

static enum cli_exit fill_fingerprint(struct request *request, struct cli *cli)
{
    struct slice metadata = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &metadata);

    request_text(request, "metadata_json", metadata);
    return result;
}

static enum cli_exit print_fingerprint(struct cli *cli, struct json_value reply)
{
    if (options_has(&cli->options, "canonical")) {
        print_line(&cli->out, reply_text(cli, reply, "canonicalJson"));
    }
    print_line(&cli->out, reply_text(cli, reply, "layoutFingerprint"));
    return CLI_OK;
}

static enum cli_exit run_fingerprint(struct cli *cli)
{
    static const struct ask ask = {"/errata.v1.LayoutService/ComputeFingerprint", fill_fingerprint,
                                   print_fingerprint};

    return ask_run(cli, &ask);
}

static const struct option_spec fingerprint_options[] = {
    {"canonical", NULL, "print the canonical JSON that was hashed, too"}, {NULL, NULL, NULL}};

const struct command layout_commands[] = {
    {.group = "layouts",
     .name = "fingerprint",
     .arguments = "JSON | @FILE | -",
     .summary = "compute the fingerprint of a layout from its metadata",
     .help =
         "Prints the SHA-256 of the canonical JSON of `page_count`, `page_dimensions`,\n"
         "`table_count` and `text_coverage_ratio`. Nothing is stored. Numbers count as they are\n"
         "written: 612 and 612.0 give different fingerprints.\n"
         "\nExample:\n"
         "  errata layouts fingerprint '{\"page_count\": 1, \"page_dimensions\": [[595.0, "
         "842.0]],\n"
         "    \"table_count\": 1, \"text_coverage_ratio\": 0.31}'",
     .options = fingerprint_options,
     .words_min = 1,
     .words_max = 1,
     .run = run_fingerprint},
    {.name = NULL}};
