/*
 * sender.c: see sender.h.
 */
#include "tools/errata/transfer/sender.h"

#include "client/header.h"
#include "tools/errata/engine/calls.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/import_report.h"

#include <stdlib.h>

/* A reply to a lookup: a page of at most 1 MiB, as JSON and as values. */
#define REPLY_BYTES_MAX ((size_t)16 * 1024 * 1024)

bool sender_init(struct sender *sender, struct cli *cli, struct tally *tally)
{
    *sender = (struct sender){.cli = cli, .tally = tally};
    arena_init(&sender->arena, CLI_ARENA_BYTES_MAX);
    sender->rows = calloc(SENDER_ROWS_MAX, sizeof(*sender->rows));
    return sender->rows != NULL;
}

void sender_deinit(struct sender *sender)
{
    arena_deinit(&sender->arena);
    free(sender->rows);
    sender->rows = NULL;
}

/* --- adding --- */

/* Encodes a request into the sender's arena. */
static bool encode(struct sender *sender, const char *method, struct slice json,
                   struct slice *ret_wire)
{
    struct cli *cli = sender->cli;
    struct buffer wire;

    return cli_try_encode(cli, cli_method(method), json, &wire) == OK &&
           arena_copy(&sender->arena, buffer_slice(&wire), ret_wire);
}

static void make_key(struct sender_row *row)
{
    const struct slice pieces[] = {row->request.ref, SLICE("@"), row->row.text[IMPORT_AT]};
    struct sha256_digest digest = sha256_pieces(pieces, 3);

    memcpy(row->key, "import-", 7);
    sha256_format(&digest, row->key + 7);
}

/* Makes and checks the requests of a row. */
static bool make(struct sender *sender, const struct import_source *source,
                 const struct import_choices *choices, const struct import_row *row,
                 struct sender_row *ret_row)
{
    struct cli *cli = sender->cli;
    struct sender_row made = {.row = *row};

    arena_reset(&cli->arena);
    fault_init(&cli->fault, &cli->arena);
    if (!import_request_make(&sender->arena, source, choices, row, &made.request)) {
        (void)fault_say(&cli->fault, ERR_MEMORY, "out of memory");
        return false;
    }
    if (!encode(sender, made.request.method, made.request.json, &made.store_wire) ||
        (made.request.lookup_method != NULL &&
         !encode(sender, made.request.lookup_method, made.request.lookup, &made.lookup_wire))) {
        return false;
    }
    make_key(&made);
    *ret_row = made;
    return true;
}

bool sender_check(struct sender *sender, const struct import_source *source,
                  const struct import_choices *choices, const struct import_row *row)
{
    struct sender_row made;

    return make(sender, source, choices, row, &made);
}

bool sender_add(struct sender *sender, const struct import_source *source,
                const struct import_choices *choices, const struct import_row *row,
                const struct tally_place *place)
{
    struct sender_row *added = &sender->rows[sender->count];

    if (!make(sender, source, choices, row, added)) {
        return false;
    }
    added->place = *place;
    for (size_t i = 0; i < sender->count; i++) {
        if (memcmp(sender->rows[i].key, added->key, SENDER_KEY_BYTES) == 0) {
            sender->tally->repeated++; /* the same record twice */
            return true;
        }
    }
    sender->count++;
    return true;
}

/* --- calls --- */

/* Rows that cannot be looked up are unique by their content: the server refuses a repeated one;
 * with a key it would return the first response. */
static struct slice key_of(const struct sender *sender, const struct sender_row *row)
{
    return sender->looks_up || row->request.lookup_method == NULL
               ? slice_of(NULL, 0)
               : slice_of(row->key, SENDER_KEY_BYTES);
}

static enum calls_step next(void *user, struct calls_item *ret_item)
{
    struct sender *sender = user;

    while (sender->next < sender->count) {
        struct sender_row *row = &sender->rows[sender->next];
        bool wanted =
            sender->looks_up ? row->lookup_wire.size > 0 : !row->is_stored && !row->has_failed;

        sender->next++;
        if (wanted) {
            *ret_item = (struct calls_item){
                .tag = sender->next - 1,
                .method =
                    cli_method(sender->looks_up ? row->request.lookup_method : row->request.method),
                .message = sender->looks_up ? row->lookup_wire : row->store_wire,
                .key = key_of(sender, row)};
            return CALLS_ITEM;
        }
    }
    return CALLS_END;
}

static void take_lookup(struct sender *sender, struct sender_row *row, struct slice reply)
{
    struct cli *cli = sender->cli;
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct slice json = {NULL, 0};
    struct arena arena;

    arena_init(&arena, REPLY_BYTES_MAX);
    if (cli_decode(cli, cli_method(row->request.lookup_method), reply, &arena, &json) == CLI_OK &&
        json_check(&arena, json, &rules, &value, &problem) == OK) {
        row->is_stored = import_request_is_stored(&arena, &row->row, &row->request, value);
    }
    arena_deinit(&arena);
    sender->tally->repeated += row->is_stored ? 1 : 0;
}

static void refuse(struct sender *sender, struct sender_row *row,
                   const struct client_status *status)
{
    row->has_failed = true;
    sender->tally->refused++;
    if (sender->tally->refused <= IMPORT_PROBLEMS_MAX) {
        cli_note(sender->cli, "%s line %llu: %s: %.*s", row->place.path,
                 (unsigned long long)row->place.line, client_code_name(status->code),
                 SLICE_ARGS(status->message));
    }
}

static bool done(void *user, uint64_t tag, const struct client_status *status, struct slice reply)
{
    struct sender *sender = user;
    struct sender_row *row = &sender->rows[tag];

    if (status->code == CLIENT_CODE_OK && sender->looks_up) {
        take_lookup(sender, row, reply);
    } else if (status->code == CLIENT_CODE_OK) {
        sender->tally->created++;
    } else if (status->code == CLIENT_CODE_ALREADY_EXISTS && !sender->looks_up) {
        sender->tally->repeated++;
    } else if (status->code == CLIENT_CODE_NOT_FOUND && sender->looks_up) {
        row->is_stored = false; /* found by its id */
    } else if (calls_is_everyones(status)) {
        if (sender->exit == CLI_OK) {
            sender->exit = failure_print_status(sender->cli, status);
        }
        return false;
    } else if (status->from_server || status->code != CLIENT_CODE_CANCELLED) {
        refuse(sender, row, status);
    }
    return true;
}

static enum cli_exit run_calls(struct sender *sender, bool looks_up)
{
    const struct calls_handlers handlers = {sender, next, done};
    enum cli_exit result = CLI_OK;

    sender->looks_up = looks_up;
    sender->next = 0;
    result = calls_run(sender->cli, CALLS_MAX, &handlers);
    return result != CLI_OK ? result : sender->exit;
}

enum cli_exit sender_step(struct sender *sender, bool all)
{
    enum cli_exit result = CLI_OK;

    if (sender->count > 0 && !all && sender->count < SENDER_ROWS_MAX &&
        sender->arena.used_bytes < SENDER_BYTES_MAX) {
        return CLI_OK;
    }
    if (sender->count > 0) {
        result = run_calls(sender, true);
    }
    if (sender->count > 0 && result == CLI_OK) {
        result = run_calls(sender, false);
    }
    sender->count = 0;
    arena_reset(&sender->arena);
    return result;
}
