/*
 * guidelines.c: `errata guidelines`: approved rules for agents.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/learning/artifact_state.h"

static const struct option_spec list_options[] = {
    {"agent", "AGENT", "only guidelines for this agent, in the order of its prompt"},
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec retire_options[] = {
    {"reason", "TEXT", "why"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};

static const struct option_spec effectiveness_options[] = {
    {"agent", "AGENT", "only guidelines for this agent, in the order of its prompt"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};

static enum cli_exit fill_keep(struct request *request, struct cli *cli)
{
    return artifact_state_fill(request, cli, SLICE("GUIDELINE"), "ARTIFACT_STATE_ACTIVE");
}

const struct command guideline_commands[] = {
    {.group = "guidelines",
     .name = "list",
     .summary = "list guidelines in effect",
     .help = "Lists guidelines in effect, with the people who approved them.",
     .examples = {{"errata guidelines list", NULL}, {"errata guidelines list --agent coder", NULL}},
     .options = list_options,
     COMMAND_CALL("GuidelineService/ListActiveGuidelines", .nothing = "no guidelines")},
    {.group = "guidelines",
     .name = "effectiveness",
     .summary = "show what guidelines changed",
     .help =
         "Shows for each guideline in effect the share of bad outcomes of prompts that had it, "
         "of held-out subjects, and of prompts from when it was in SHADOW; and how many of 100 "
         "decisions ask for the same, before and after "
         "it was approved, with the difference and its 95% interval: below 0, it helps. A "
         "guideline without a benefit after 50 decisions is proposed for retirement; it stays in "
         "effect until `errata guidelines retire`, and `errata guidelines keep` keeps it.",
     .examples = {{"errata guidelines effectiveness", NULL},
                  {"errata guidelines effectiveness --agent coder", NULL}},
     .options = effectiveness_options,
     COMMAND_CALL("GuidelineService/GetGuidelineEffectiveness", .nothing = "no guidelines")},
    {.group = "guidelines",
     .name = "keep",
     .arguments = "GUIDELINE --reason TEXT",
     .summary = "keep a guideline that is proposed for retirement",
     .help = "Keeps a guideline in effect that the server proposed to retire. It is proposed again "
             "only if 50 decisions after that show no benefit either.",
     .examples = {{"errata guidelines keep 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --reason 'the law requires it'",
                   NULL}},
     .options = retire_options,
     COMMAND_CALL("LearningService/SetArtifactState", .fill = fill_keep,
                  .print = artifact_state_print)},
    {.group = "guidelines",
     .name = "retire",
     .arguments = "GUIDELINE --reason TEXT",
     .summary = "end the effect of a guideline",
     .help = "Ends the effect of a guideline, with a reason.",
     .examples = {{"errata guidelines retire 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --reason 'replaced by a linter'",
                   NULL}},
     .options = retire_options,
     COMMAND_CALL("GuidelineService/RetireGuideline")},
    {.name = NULL}};
