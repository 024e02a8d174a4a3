/*
 * commands.h: commands that `erratad` runs instead of serving, for interactive use. No server may
 * run on the data folder. Each command prints progress to standard error and its result as the last
 * line, and returns the exit status (app.h).
 */
#ifndef ERRATA_SERVER_APP_COMMANDS_H
#define ERRATA_SERVER_APP_COMMANDS_H

#include "server/app/config.h"

/* Interval of progress output. */
#define COMMAND_PROGRESS_US 1000000

/* A line of progress on standard error. */
struct progress_line {
    int64_t shown_at_us;
    bool is_open; /* the terminal's last line is a progress line, to be overwritten */
};

/* Prints a progress line, unless the last one is more recent than COMMAND_PROGRESS_US. The text has no line break. */
void progress_line_print(struct progress_line *line, const char *format, ...) PRINTF_LIKE(2, 3);
/* Ends an open progress line. */
void progress_line_end(const struct progress_line *line);

/* `--check-config`: reads the files that a valid configuration names, and prints whether they are valid. */
int check_command_run(const struct config *config);
/* `--new-admin-token`: creates another ADMIN token with the server flag, if none is usable any more.
 *   1. the token's text is durable as DIR/admin.token.new
 *   2. its event is committed to the log of the organisation `default`
 *   3. the file is renamed to DIR/admin.token
 * Interrupted before 2, nothing has changed; between 2 and 3 the token is valid, and its text is in
 * DIR/admin.token.new until the command runs again. Old tokens stay valid. */
int new_token_command_run(const struct config *config);
/* `--rebuild`: rebuilds the tables from the log (rebuild.h). */
int rebuild_command_run(const struct config *config);
/* `--restore FILE`: creates a data folder from a whole backup (store/lmdb/lmdb_restore.h), or applies an increment to the
 * store in it (restore_increment.h). */
int restore_command_run(const struct config *config);

#endif
