/*
 * labels.c: `errata labels`: submissions as training data.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/stream_call.h"

#include "store/base/wire.h"

#include <errata/v1/verdict_service.fields.h>
#include <inttypes.h>

/* Prints the lines unchanged. */
static enum cli_exit print_lines(struct cli *cli, struct slice message, void *user)
{
    uint64_t *next_seq = user;
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = OK;

    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == EXPORT_LABELS_RESPONSE_LINES_FIELD && !cli->json) {
            print_bytes(&cli->out, field.bytes);
        } else if (field.number == EXPORT_LABELS_RESPONSE_NEXT_SEQ_FIELD) {
            *next_seq = field.value;
        }
    }
    return err == ERR_NOT_FOUND ? CLI_OK
                                : cli_local(cli, "the server sent a reply that does not decode");
}

static enum cli_exit run_export(struct cli *cli)
{
    uint64_t next_seq = 0;
    const struct stream_call call = {
        .path = "/errata.v1.VerdictService/ExportLabels", .take = print_lines, .user = &next_seq};
    enum cli_exit result = stream_call_run(cli, &call);

    if (next_seq > 0 && !cli->json) {
        cli_note(cli, "%s: --from-seq %" PRIu64,
                 result == CLI_OK ? "later submissions" : "the rest", next_seq);
    }
    return result;
}

static const struct option_spec export_options[] = {
    {"only-corrected", NULL, "only submissions with corrections"},
    {"from-seq", "SEQ", "start at this event, as reported by an earlier export"},
    {NULL, NULL, NULL}};

const struct command label_commands[] = {
    {.group = "labels",
     .name = "export",
     .summary = "print submissions as JSON lines for training",
     .help = "Prints a line of JSON for each submission that was not retracted, oldest first: "
             "receipt_id, correct_verdict, features, corrections and timestamp. Reports on "
             "standard error the event at which to start for later submissions, or for the rest "
             "after a failure. With --json, prints the replies of the server instead. Needs an "
             "INTEGRATOR or ADMIN token.",
     .examples = {{"errata labels export > labels.jsonl", NULL},
                  {"errata labels export --only-corrected --from-seq 1200 >> labels.jsonl", NULL}},
     .options = export_options,
     .run = run_export},
    {.name = NULL}};
