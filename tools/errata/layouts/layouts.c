/*
 * layouts.c: `errata layouts`: reads documents and the profiles of their layouts, and computes
 * fingerprints of metadata. Ingesting is in ingest.c, explaining in explain.c.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/explain.h"
#include "tools/errata/layouts/ingest.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/terminal/wrap.h"

#include "server/jobs/pdf/pdf_worker.h"

/* --- fingerprint --- */

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

static enum cli_exit add_order(struct request *request, struct cli *cli)
{
    if (options_has(&cli->options, "most-seen")) {
        request_text(request, "order", SLICE("MOST_SEEN"));
    }
    return CLI_OK;
}

struct slice cell_mean(struct cli *cli, struct json_value object, const char *name)
{
    double value = 0;

    return measures_double(cli, object, name, &value) ? arena_printf(&cli->arena, "%.4g", value)
                                                      : slice_of(NULL, 0);
}

struct slice cell_rules(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);
    const uint8_t *slash = text.size > 0 ? memchr(text.data, '/', text.size) : NULL;
    size_t size = slash != NULL ? (size_t)(slash - text.data) : 0;
    struct slice poppler = slice_after(text, slash != NULL ? size + 1 : text.size);

    return slash == NULL ? text
                         : arena_printf(&cli->arena, "rules %.*s, Poppler %.*s", (int)size,
                                        (const char *)text.data, SLICE_ARGS(poppler));
}

/* --- show --- */

static void print_sizes(struct cli *cli, struct json_value document)
{
    struct reply_walk walk = reply_walk(document, "pageDimensions");
    struct measures_runs runs;

    measures_runs_begin(&runs, cli);
    while (reply_next(&walk)) {
        measures_runs_add(&runs, measures_page_size(cli, walk.row));
    }
    measures_runs_end(&runs);
}

static bool is_one(struct slice number)
{
    return slice_equal(number, SLICE("1"));
}

static struct slice text_measures(struct cli *cli, struct json_value document)
{
    struct slice chars = measures_number(cli, document, "textChars");
    struct slice pages = measures_number(cli, document, "pagesRead");
    bool one = is_one(pages);

    return arena_printf(&cli->arena, "%.*s characters on the first %.*s%s", SLICE_ARGS(chars),
                        one ? 0 : (int)pages.size + 1,
                        (const char *)arena_printf(&cli->arena, "%.*s ", SLICE_ARGS(pages)).data,
                        one ? "page" : "pages");
}

static void print_document(struct cli *cli, struct json_value document)
{
    struct reply_walk walk = reply_walk(document, "warnings");
    struct slice tables = reply_text(cli, document, "tableCount");
    struct slice layout = reply_text(cli, document, "layoutFingerprint");
    struct slice family = reply_text(cli, document, "layoutFamilyId");

    reply_print_member(cli, "document", reply_text(cli, document, "documentId"));
    reply_print_member(cli, "id", reply_text(cli, document, "id"));
    reply_print_member(cli, "created", reply_full_time(cli, document, "createdAt"));
    reply_print_member(cli, "bytes", measures_number(cli, document, "sizeBytes"));
    reply_print_member(cli, "sha256", reply_text(cli, document, "sha256"));
    reply_print_member(cli, "pages", measures_number(cli, document, "pageCount"));
    print_sizes(cli, document);
    reply_print_member(cli, "tables",
                       tables.size > 0 ? tables : SLICE("not counted: see the warning"));
    reply_print_member(cli, "coverage", measures_number(cli, document, "textCoverageRatio"));
    reply_print_member(cli, "text", text_measures(cli, document));
    reply_print_member(cli, "measured by", cell_rules(cli, document, "fpVersion"));
    reply_print_member(cli, "layout", layout.size > 0 ? layout : SLICE("none"));
    reply_print_member(cli, "family", family.size > 0 ? family : SLICE("none"));
    while (reply_next(&walk)) {
        reply_print_member(cli, "warning",
                           measures_warning(cli, reply_word(cli, walk.row, "code", "WARNING_CODE_"),
                                            reply_text(cli, walk.row, "message")));
    }
}

/* Prints the number of examples of the document's layout. */
static enum cli_exit show_profile(struct cli *cli, struct slice layout)
{
    struct request request;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value profile = {JSON_NULL, {NULL, 0}};
    struct slice seen = {NULL, 0};
    struct slice examples = {NULL, 0};
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_text(&request, "layout_fingerprint", layout);
    result =
        cli_call_reply(cli, "/errata.v1.LayoutService/GetProfile", request_end(&request), &reply);
    if (result != CLI_OK) {
        return result;
    }
    profile = reply_member(reply, "profile");
    seen = measures_number(cli, profile, "seenCount");
    examples = measures_number(cli, profile, "exampleCount");
    reply_print_member(cli, "documents",
                       measures_with(cli, seen,
                                     is_one(seen) ? " of this layout was ingested"
                                                  : " of this layout were ingested"));
    reply_print_member(cli, "examples",
                       measures_with(cli, examples,
                                     is_one(examples)
                                         ? " correction of this layout is an example"
                                         : " corrections of this layout are examples"));
    return CLI_OK;
}

static enum cli_exit print_shown(struct cli *cli, struct json_value reply)
{
    struct json_value document = reply_member(reply, "document");
    struct slice layout = reply_text(cli, document, "layoutFingerprint");
    struct slice snippet = reply_text(cli, document, "inputSnippet");
    enum cli_exit result = CLI_OK;

    print_document(cli, document);
    if (layout.size > 0) {
        result = show_profile(cli, layout);
    }
    if (snippet.size > 0) {
        print_text(&cli->out, "\nIts text, the first 1,500 characters:\n");
    } else if (reply_text(cli, document, "textChars").size > 0) {
        print_text(&cli->out, "\nIts text was removed, or is not shown to a VIEWER.\n");
    } else {
        print_text(&cli->out, "\nIt has no text.\n");
    }
    measures_print_text(cli, "  ", snippet, SIZE_MAX);
    return result;
}

static enum cli_exit fill_document(struct request *request, struct cli *cli)
{
    if (options_has(&cli->options, "by-id")) {
        request_text(request, "id", slice_text(cli->options.words[0]));
    }
    return CLI_OK;
}

static const struct command_call show_call = {
    .method = "/errata.v1.LayoutService/GetDocument", .fill = fill_document, .print = print_shown};

static enum cli_exit run_show(struct cli *cli)
{
    return command_call_once(cli, &show_call);
}

/* A server does not keep PDFs, so the stored measurements are printed. */
static enum cli_exit run_explain(struct cli *cli)
{
    if (!options_has(&cli->options, "document")) {
        return explain_run(cli);
    }
    if (cli->options.word_count > 0) {
        return cli_usage(cli, "FILE: given together with --document; expected only one of them");
    }
    if (options_has(&cli->options, "png") || options_has(&cli->options, "password-file")) {
        return cli_usage(cli, "--document: given together with --png or --password-file; expected "
                              "FILE, since the server does not store PDFs");
    }
    return run_show(cli);
}

/* --- families --- */

/* Prints a family near the document, in two lines. */
static void print_near(struct cli *cli, struct json_value near)
{
    struct slice id = reply_text(cli, reply_member(near, "family"), "id");
    bool matches = reply_text(cli, near, "matches").size > 0;
    bool own = reply_text(cli, near, "own").size > 0;
    double similarity = 0;

    (void)measures_double(cli, near, "similarity", &similarity);
    print_text(&cli->out, "%.2f  ", similarity);
    print_line(&cli->out,
               arena_printf(&cli->arena, "%.*s  %s%s", (int)id.size, (const char *)id.data,
                            matches ? "similar enough" : "too different",
                            own ? ", its own family" : ""));
    print_text(&cli->out, "     ");
    wrap_message(&cli->out, 5, 6, reply_text(cli, near, "summary"));
}

static enum cli_exit print_nearest(struct cli *cli, struct json_value reply)
{
    struct reply_walk walk = reply_walk(reply, "families");
    bool any = false;

    while (reply_next(&walk)) {
        print_near(cli, walk.row);
        any = true;
    }
    if (!any) {
        print_text(&cli->out, reply_text(cli, reply, "featureCount").size == 0
                                  ? "page 1 has too few features to compare\n"
                                  : "no other page to compare with\n");
    }
    return CLI_OK;
}

/* --- the commands --- */

static const struct option_spec ingest_options[] = {
    {"document", "ID",
     "id of the document, for a single file; default: the file's name without .pdf"},
    {"id-prefix", "TEXT", "prefix of each id, such as 2026-11/"},
    {"recursive", NULL, "include subfolders"},
    {"password-file", "FILE", "file with the password of encrypted PDFs, on one line"},
    {"text", "FOLDER",
     "write the text of each PDF to FOLDER/NAME.txt; - prints the text of one PDF"},
    {"jobs", "N",
     "number of files to send concurrently, 1 to 16 (default 2); the server measures one per core"},
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {
    {"layout", "LAYOUT", "only documents of this layout"},
    {"family", "FAMILY", "only documents of this layout family"},
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec families_options[] = {PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec split_options[] = {
    {"document", "ID", "document to move, at most 1,000; may be repeated"}, {NULL, NULL, NULL}};
static const struct option_spec nearest_options[] = {
    {"max", "N", "families to compare with, 1 to 20 (default 5)"}, {NULL, NULL, NULL}};
static const struct option_spec show_options[] = {
    {"by-id", NULL, "DOCUMENT is the server's id of the document, not the caller's"},
    {NULL, NULL, NULL}};
static const struct option_spec profiles_options[] = {
    {"most-seen", NULL, "list layouts with the most documents first, instead of the most recent"},
    {"family", "FAMILY", "only layouts with documents in this layout family"},
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec explain_options[] = {
    {"png", "FILE", "write an image of page 1 with its lines, tables and covered text"},
    {"password-file", "FILE", "file with the password of the PDF, on one line"},
    {"worker", "FILE", "the worker program; else " PDF_WORKER_PROGRAM " beside errata"},
    {"document", "DOCUMENT",
     "show the stored measurements of this document instead of reading a file"},
    {NULL, NULL, NULL}};
static const struct option_spec fingerprint_options[] = {
    {"canonical", NULL, "also print the canonical JSON that is hashed"}, {NULL, NULL, NULL}};

const struct command layout_commands[] = {
    {.group = "layouts",
     .name = "ingest",
     .arguments = "FILE|FOLDER...",
     .summary = "measure PDFs on the server and store the results",
     .help =
         "Sends PDFs of up to 64 MiB to the server, which measures each PDF and counts its layout. "
         "For a folder, all its *.pdf files are sent. The server stores the measurements, not the "
         "PDF. Sending the same file with the same id again changes nothing, so an interrupted run "
         "can be repeated. If the server is busy, the command waits and retries.\n\nThe table "
         "shows the number of pages, the size of page 1 in points, the number of tables on page 1, "
         "the share of page 1 that text covers, the beginning of the layout's fingerprint, and the "
         "number of documents of that layout. With `--json`, the output has one line per file: "
         "{\"file\", \"document\", \"profile\"} or {\"file\", \"error\": {\"code\", \"reason\", "
         "\"message\"}}.\n\n`--text` writes the text that the server extracts, up to 1 MiB per "
         "document, for use in a prompt. The snippets of examples are the beginning of this text. "
         "Existing text files are replaced. `--text -` prints the text of one PDF instead of the "
         "table; with `--json` the line of each file contains it as {\"text\": {\"text\", "
         "\"pagesRead\", \"warnings\"}}.",
     .examples = {{"errata layouts ingest invoice-17.pdf", NULL},
                  {"errata layouts ingest --recursive --id-prefix acme/ inbox/", NULL},
                  {"errata layouts ingest scan.pdf --document order-4711 --password-file pw.txt",
                   "an encrypted one"},
                  {"errata layouts ingest --text - invoice-17.pdf", "its text, for a prompt"},
                  {"errata layouts ingest --json inbox/ | jq -r 'select(.error) | .file'",
                   "files that were not stored"}},
     .exits = "0 if all files are stored, 1 if the server refused some, 4 if some could not be "
              "read, 130 if interrupted.",
     .options = ingest_options,
     .run = ingest_run},
    {.group = "layouts",
     .name = "list",
     .summary = "list documents, newest first",
     .help = "Lists ingested documents, newest first.",
     .examples = {{"errata layouts list", NULL},
                  {"errata layouts list --all --json | jq -r .documents[].documentId",
                   "only the ids"}},
     .options = list_options,
     COMMAND_CALL("LayoutService/ListDocuments", .nothing = "no documents match")},
    {.group = "layouts",
     .name = "show",
     .arguments = "DOCUMENT",
     .summary = "show one document: its measurements, layout and text",
     .help = "Shows all stored data of one document, the number of documents of its layout, and "
             "the number of examples of that layout.",
     .examples = {{"errata layouts show invoice-17", NULL}},
     .options = show_options,
     .run = run_show},
    {.group = "layouts",
     .name = "profiles",
     .summary = "list layouts with their numbers of documents",
     .help = "Lists the layouts of all documents, most recently seen first, with the number of "
             "ingested documents and the number of corrections that are available as examples.",
     .examples = {{"errata layouts profiles --most-seen --limit 10", NULL}},
     .options = profiles_options,
     COMMAND_CALL("LayoutService/ListProfiles", .fill = add_order,
                  .nothing = "no layouts: no document has been ingested")},
    {.group = "layouts",
     .name = "profile",
     .arguments = "LAYOUT",
     .summary = "show one layout: its counts, and averages over its documents",
     .help = "Shows the profile of a layout, given by its fingerprint.",
     .examples = {{"errata layouts profile \"$(errata layouts show invoice-17 --json |\n"
                   "  jq -r .document.layoutFingerprint)\"",
                   "the layout of a document"}},
     COMMAND_CALL("LayoutService/GetProfile")},
    {.group = "layouts",
     .name = "families",
     .summary = "list layout families, newest first",
     .help = "Lists layout families: documents whose first pages are similar, though their exact "
             "fingerprints may differ.",
     .examples = {{"errata layouts families", NULL}},
     .options = families_options,
     COMMAND_CALL("LayoutService/ListFamilies",
                  .nothing = "no layout families: no document with text has been ingested")},
    {.group = "layouts",
     .name = "family",
     .arguments = "FAMILY",
     .summary = "show one layout family with its fingerprints",
     .help = "Shows a layout family: its counts, and the exact fingerprints of its documents.",
     .examples = {{"errata layouts family \"$(errata layouts show invoice-17 --json |\n"
                   "  jq -r .document.layoutFamilyId)\"",
                   "the family of a document"}},
     COMMAND_CALL("LayoutService/GetFamily")},
    {.group = "layouts",
     .name = "merge",
     .arguments = "FROM INTO",
     .summary = "merge a layout family into another one",
     .help = "Makes the family FROM an alias of the family INTO: its documents, and later similar "
             "ones, belong to the family INTO. `errata layouts nearest` shows similar families.",
     .examples = {{"errata layouts merge 0196f3a1-7c2e-7d0b-a1c4-5b8f2e9d6a10 \\\n"
                   "  0196f3a2-11d4-7e6c-8f3a-9c0b7d5e4f21",
                   NULL}},
     COMMAND_CALL("LayoutService/MergeFamilies")},
    {.group = "layouts",
     .name = "split",
     .arguments = "FAMILY",
     .summary = "move documents into a new layout family, or undo a merge",
     .help = "With `--document`, moves these documents of FAMILY into a new family, together with "
             "their corrections and the pages that later documents are compared with. `errata "
             "layouts merge` takes this back.\n"
             "\n"
             "Without documents, makes FAMILY, which is an alias of another family, a separate "
             "family again, with the documents that are similar to its pages. `errata layouts "
             "family` lists the aliases of a family as merged.",
     .examples = {{"errata layouts split 0196f3a1-7c2e-7d0b-a1c4-5b8f2e9d6a10", NULL},
                  {"errata layouts split 0196f3a1-7c2e-7d0b-a1c4-5b8f2e9d6a10 \\\n"
                   "  --document invoice-17 --document invoice-19",
                   "two documents that are not of this family"}},
     .options = split_options,
     COMMAND_CALL("LayoutService/SplitFamily")},
    {.group = "layouts",
     .name = "nearest",
     .arguments = "DOCUMENT",
     .summary = "compare a document with the most similar layout families",
     .help =
         "Prints the layout families whose pages are most similar to page 1 of a document. For "
         "each family it prints the share of common features, whether the share suffices for the "
         "same family, and the words, rulings, fonts and page sizes that are shared or differ.",
     .examples = {{"errata layouts nearest invoice-17", NULL}},
     .options = nearest_options,
     COMMAND_CALL("LayoutService/GetNearestFamilies", .print = print_nearest)},
    {.group = "layouts",
     .name = "explain",
     .arguments = "[FILE]",
     .summary = "measure a PDF locally and explain the result",
     .help = "Runs the worker program on a PDF, in the same sandbox as the server does, and prints "
             "the measurements and their reasons: pages, text, coverage, lines, each table with "
             "the reason why it is counted or not, the canonical JSON that is hashed, the "
             "fingerprint, the features of page 1 that identify its layout family, and the "
             "resources used. Nothing is stored, and no server is called. With `--document` it "
             "prints the measurements that the server stored; the server does not store the PDFs.",
     .examples = {{"errata layouts explain invoice-17.pdf --png page1.png", NULL},
                  {"errata layouts explain --document invoice-17", NULL}},
     .options = explain_options,
     .run = run_explain},
    {.group = "layouts",
     .name = "fingerprint",
     .arguments = "JSON|@FILE|-",
     .summary = "compute the fingerprint of a layout from its metadata",
     .help = "Prints the SHA-256 of the canonical JSON of `page_count`, `page_dimensions`, "
             "`table_count` and `text_coverage_ratio`. Nothing is stored. Numbers are hashed as "
             "they are written: 612 and 612.0 give different fingerprints.",
     .examples = {{"errata layouts fingerprint '{\"page_count\": 1, \"page_dimensions\":\n"
                   "  [[595.0, 842.0]], \"table_count\": 1, \"text_coverage_ratio\": 0.31}'",
                   NULL}},
     .options = fingerprint_options,
     COMMAND_CALL("LayoutService/ComputeFingerprint", .fill = fill_fingerprint,
                  .print = print_fingerprint)},
    {.name = NULL}};
