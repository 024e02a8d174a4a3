/*
 * guidelines.c: `errata guidelines`: approved rules for agents.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"

static const struct option_spec list_options[] = {
    {"agent", "AGENT", "only guidelines for this agent, in the order of its prompt"},
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec retire_options[] = {
    {"reason", "TEXT", "why"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};

const struct command guideline_commands[] = {
    {.group = "guidelines",
     .name = "list",
     .summary = "list guidelines in effect",
     .help = "Lists guidelines in effect, with the people who approved them.",
     .examples = {{"errata guidelines list", NULL}, {"errata guidelines list --agent coder", NULL}},
     .options = list_options,
     COMMAND_CALL("GuidelineService/ListActiveGuidelines", .nothing = "no guidelines")},
    {.group = "guidelines",
     .name = "retire",
     .arguments = "GUIDELINE",
     .summary = "end the effect of a guideline",
     .help = "Ends the effect of a guideline, with a reason.",
     .examples = {{"errata guidelines retire 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --reason 'replaced by a linter'",
                   NULL}},
     .options = retire_options,
     COMMAND_CALL("GuidelineService/RetireGuideline")},
    {.name = NULL}};
