/*
 * transfer.c: `errata import` and `errata export`: history from other tools, and to them.
 */
#include "tools/errata/commands.h"
#include "tools/errata/transfer/export_history.h"
#include "tools/errata/transfer/import_history.h"

static const struct option_spec import_options[] = {
    {"join", "FILE", "read only the outputs of this file, for corrections in the others"},
    {"dry-run", NULL, "print what would be stored and what is missing; nothing is sent"},
    {"strict", NULL, "store nothing if a record is damaged, instead of leaving it out"},
    {"map", "COLUMN=FIELD", "csv only: the field of a column, or of a path such as `a.b`"},
    {"good-from", "[METRIC=]NUMBER", "lowest good number of this outcome, or of all outcomes"},
    {"good-label", "LABEL", "an outcome with this label is good"},
    {"bad-label", "LABEL", "an outcome with this label is bad"},
    {"layout", "LAYOUT", "the layout and subcategory of all rows; default: SOURCE:NAME"},
    {"trust-status", NULL, "treat responses without a status as submitted (argilla)"},
    {NULL, NULL, NULL}};

static const struct option_spec export_options[] = {
    {"type", "TYPE", "only corrections of this type"},
    {"layout", "LAYOUT", "only corrections of this layout"},
    {"document", "DOCUMENT", "only corrections of this document"},
    {"actor", "USER", "only corrections by this user"},
    {"annotator", "ANNOTATOR", "only corrections by this kind of annotator"},
    {"since", "TIME|SPAN", "only corrections created at this time or later"},
    {"until", "TIME|SPAN", "only corrections created before this time"},
    {"system", "TEXT", "chat only: the system message of each conversation"},
    {NULL, NULL, NULL}};

const struct command transfer_commands[] = {
    {.name = "import",
     .arguments = "SOURCE FILE...",
     .summary = "store the history of another tool",
     .help = "Reads exports of another tool and stores people's corrections, reviews, verdicts "
             "and decisions with their original times; rules and guidelines are only proposed. The "
             "files may be "
             "JSON lines, JSON, or CSV, of any size and in any order. Each record is stored once, "
             "even if it is imported several times; a record that was changed in the tool after an "
             "import is stored again, with its new time. A damaged record is reported with its "
             "line and left out. `tools/IMPORTS.md` describes the imported records of each tool. "
             "Needs an INTEGRATOR or ADMIN token; rules and guidelines need ADMIN.",
     .examples = {{"errata import tensorzero feedback.jsonl --join inferences.jsonl --dry-run",
                   "what would be stored"},
                  {"errata import csv review.csv --map doc=subject --map was=before \\\n"
                   "  --map is=after --map who=actor --map when=at",
                   NULL}},
     .exits = "2: a record is damaged; 1: the server refused a record.",
     .options = import_options,
     .run = import_history_run},
    {.name = "export",
     .arguments = "FORMAT",
     .summary = "write corrections for other tools",
     .help = "Writes corrections to standard output, newest first, one per line: `jsonl` with all "
             "their members, which `errata import errata` reads into another organisation; `chat` "
             "as conversations for fine-tuning: the text that the model read, and the corrected "
             "output; `otlp` as OpenTelemetry log records of the event `gen_ai.evaluation.result`. "
             "Retracted corrections and confirmations of mappings are left out; `chat` also leaves "
             "out values that were corrected again, and corrections that are not by a person.",
     .examples = {{"errata export jsonl > corrections.jsonl", NULL},
                  {"errata export chat --layout a1b2c3 --system 'Return JSON.' > train.jsonl",
                   NULL},
                  {"errata export otlp --since 1d > evaluations.json", NULL}},
     .options = export_options,
     .run = export_history_run},
    {.name = NULL}};
