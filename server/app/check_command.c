/*
 * check_command.c: `--check-config`: after flags and file were validated, also reads the files that they name.
 */
#include "server/app/commands.h"

#include "server/app/app.h"
#include "server/app/app_internal.h"

#include <stdio.h>

#define ARENA_BYTES (64 * 1024)

int check_command_run(const struct config *config)
{
    struct tls_context *context = NULL;
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    err = app_tls_read(config, &fault, &context);
    if (err == OK) {
        (void)puts("the configuration is valid");
    } else {
        (void)fprintf(stderr, "erratad: tls: %.*s\n", (int)fault.message.size,
                      (const char *)fault.message.data);
    }
    tls_context_unref(context);
    arena_deinit(&arena);
    return err == OK ? APP_EXIT_OK : APP_EXIT_USAGE;
}
