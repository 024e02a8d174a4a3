/*
 * rule_files.c: see rule_files.h.
 */
#include "tools/errata/verdicts/rule_files.h"

#include "tools/errata/engine/stream_call.h"

#include "store/base/wire.h"

#include <errata/v1/verdict_service.fields.h>

/* Prints a piece of the document unchanged. */
static enum cli_exit print_piece(struct cli *cli, struct slice message, void *user)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = OK;

    (void)user;
    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == EXPORT_LEARNED_RULES_RESPONSE_PIECE_FIELD && !cli->json) {
            print_bytes(&cli->out, field.bytes);
        }
    }
    return err == ERR_NOT_FOUND ? CLI_OK
                                : cli_local(cli, "the server sent a reply that does not decode");
}

enum cli_exit rule_export_run(struct cli *cli)
{
    return stream_call_run(cli, "/errata.v1.VerdictService/ExportLearnedRules", print_piece, NULL);
}
