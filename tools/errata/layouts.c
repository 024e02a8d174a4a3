/*
 * layouts.c: `errata layouts`: fingerprints of layouts.
 */
#include "tools/errata/commands.h"
#include "tools/errata/connect.h"
#include "tools/errata/input.h"
#include "tools/errata/reply.h"
#include "tools/errata/request.h"

static enum cli_exit run_fingerprint(struct cli *cli)
{
    struct request request;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct slice metadata = {NULL, 0};
    struct slice json = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &metadata);

    if (result != CLI_OK) {
        return result;
    }
    request_begin(&request, cli);
    request_text(&request, "metadata_json", metadata);
    result =
        cli_call(cli, "/errata.v1.LayoutService/ComputeFingerprint", request_end(&request), &json);
    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, json);
        return CLI_OK;
    }
    if (options_has(&cli->options, "canonical")) {
        print_coloured(&cli->out, COLOUR_NONE, reply_text(cli, reply, "canonicalJson"));
        print_text(&cli->out, "\n");
    }
    print_coloured(&cli->out, COLOUR_NONE, reply_text(cli, reply, "layoutFingerprint"));
    print_text(&cli->out, "\n");
    return CLI_OK;
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
