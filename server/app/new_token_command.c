/*
 * new_token_command.c: writes the token aside, commits its event, and renames the file.
 */
#include "server/app/commands.h"

#include "server/app/app.h"
#include "server/app/app_damage.h"
#include "server/app/app_internal.h"
#include "server/app/files.h"
#include "server/auth/first_token.h"
#include "server/auth/token.h"
#include "store/lmdb/lmdb.h"

#include <inttypes.h>
#include <stdio.h>

#define ARENA_BYTES (1u << 20)

struct new_token_command {
    const struct config *config;
    struct arena arena;
    struct fault fault;
    struct store_backend *backend;
    uint32_t key_id;
    bool is_committed; /* the token is valid */
};

/* Writes the token's text as one line in a file beside the old one. */
static enum err keep_aside(void *user, struct slice text)
{
    struct new_token_command *command = (struct new_token_command *)user;
    char line[TOKEN_TEXT_BYTES + 1];
    enum err err = OK;

    memcpy(line, text.data, TOKEN_TEXT_BYTES);
    line[TOKEN_TEXT_BYTES] = '\n';
    err = files_write_aside(command->config->data, APP_TOKEN_FILE, slice_of(line, sizeof(line)),
                            &command->fault);
    token_cleanse(line, sizeof(line));
    return err;
}

static enum err open_store(struct new_token_command *command)
{
    const struct config *config = command->config;
    const struct store_lmdb_config store = {
        .path = config->data, .map_bytes = config->map_bytes, .on_damage = app_damage_end};
    enum err err = app_damage_require_store(config->data, &command->fault);

    if (err == OK) {
        err = store_lmdb_open(&store, &command->fault, &command->backend);
    }
    if (err == OK) {
        app_damage_watch(config->data, store_lmdb_map(command->backend));
        err = app_store_recover(config, command->backend, &command->fault);
    }
    if (err == OK) {
        err = app_store_check_restored(config, command->backend, &command->fault);
    }
    return err;
}

static enum err make_token(struct new_token_command *command)
{
    struct ctx ctx = {&command->arena, clock_system(), random_system(), &command->fault};
    enum err err = open_store(command);

    if (err == OK) {
        err = first_token_add(&ctx, command->backend, keep_aside, command, &command->key_id);
    }
    if (err != OK) {
        return err;
    }
    command->is_committed = true;
    return files_put_in_place(command->config->data, APP_TOKEN_FILE, &command->fault);
}

static int print_result(const struct new_token_command *command, enum err err)
{
    const char *data = command->config->data;
    struct slice why = command->fault.message;

    if (err == OK) {
        (void)printf("created an ADMIN token with the server flag, %08" PRIx32
                     ", is in %s/%s; earlier "
                     "tokens stay valid until they are revoked\n",
                     command->key_id, data, APP_TOKEN_FILE);
        return APP_EXIT_OK;
    }
    why = why.size > 0 ? why : slice_text(err_text(err));
    if (command->is_committed) {
        (void)fprintf(stderr,
                      "erratad: the new token %08" PRIx32 " is valid, and is in %s/%s%s: "
                      "%.*s\n",
                      command->key_id, data, APP_TOKEN_FILE, FILES_ASIDE, (int)why.size,
                      (const char *)why.data);
    } else {
        (void)fprintf(stderr, "erratad: cannot create a token: %.*s\n", (int)why.size,
                      (const char *)why.data);
    }
    return err == ERR_CORRUPT ? APP_EXIT_DAMAGED : APP_EXIT_FAILED;
}

int new_token_command_run(const struct config *config)
{
    static struct new_token_command command;
    int status = 0;

    command.config = config;
    arena_init(&command.arena, ARENA_BYTES);
    fault_init(&command.fault, &command.arena);
    status = print_result(&command, make_token(&command));
    store_lmdb_close(command.backend);
    arena_deinit(&command.arena);
    return status;
}
