/*
 * app.h: the server as a whole: the loop, the store, the writer, the services and the sockets, put
 * together, started and ended in order. The only place that knows them all.
 *
 *   STARTING  the address is bound, the store is open, the tables are being read into memory, for a
 *             second at most (the rest of a large store is read while it serves); nothing listens yet
 *   SERVING   listening
 *   DRAINING  a signal came: no new calls, what runs goes on until --drain-timeout
 *   CLOSING   the sockets are gone; the writer finishes what it was given
 *   ENDED
 */
#ifndef ERRATA_SERVER_APP_APP_H
#define ERRATA_SERVER_APP_APP_H

#include "server/app/config.h"

/* Exit statuses. */
#define APP_EXIT_OK 0
#define APP_EXIT_FAILED 1 /* it could not start; standard error says why */
#define APP_EXIT_USAGE 2 /* flags or file are wrong */
#define APP_EXIT_DAMAGED 65 /* the store's file is damaged: restore a backup (EX_DATAERR) */
#define APP_EXIT_STORE 75 /* the store refuses everything: start again (EX_TEMPFAIL) */

/* Where the chosen address is, in the data folder. */
#define APP_ADDRESS_FILE "address"
/* Where the first start keeps the administrator's token. */
#define APP_TOKEN_FILE "admin.token"
/* Readers that died are looked for, and memory that a burst left, this often. */
#define APP_UPKEEP_MS 30000
/* What was not read into memory within this time is read while the server serves. */
#define APP_WARM_MS 1000
/* Health follows the store within this time. */
#define APP_HEALTH_CHECK_MS 250
/* What services and counters take for as long as the server lives. */
#define APP_ARENA_BYTES_MAX (16u << 20)

/* Serves until a signal; gives the exit status. */
int app_run(const struct config *config);

#endif
