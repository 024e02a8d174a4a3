/*
 * app.h: the whole server: the loop, the store, the writer, the services and the sockets,
 * assembled, started and ended in order. The only code that uses all of them.
 *   STARTING  the address is bound, the store is open, its tables are read into memory for a second
 *             at most (the rest of a large store is read while it serves); nothing listens yet
 *   SERVING   listening
 *   DRAINING  after a signal: no new calls, running ones continue until --drain-timeout
 *   CLOSING   the sockets are closed; the writer finishes its queue
 *   ENDED
 */
#ifndef ERRATA_SERVER_APP_APP_H
#define ERRATA_SERVER_APP_APP_H

#include "server/app/config.h"

/* Exit statuses. */
#define APP_EXIT_OK 0
#define APP_EXIT_FAILED 1 /* could not start; standard error contains the reason */
#define APP_EXIT_USAGE 2 /* flags or configuration file are invalid */
#define APP_EXIT_DAMAGED 65 /* the store's file is damaged: restore a backup (EX_DATAERR) */
#define APP_EXIT_STORE 75 /* the store refuses everything: restart (EX_TEMPFAIL) */

/* File in the data folder with the chosen address. */
#define APP_ADDRESS_FILE "address"
/* File in the data folder with the administrator's token of the first start. */
#define APP_TOKEN_FILE "admin.token"
/* Interval of checks for readers that died and for memory left by a burst, and of attempts to write a missing address. */
#define APP_UPKEEP_MS 30000
/* Time for reading the tables ahead; the rest is read while the server serves. */
#define APP_WARM_MS 1000
/* Interval after which health follows the store's state. */
#define APP_HEALTH_CHECK_MS 250
/* Memory that services and counters use until the server ends. */
#define APP_ARENA_BYTES_MAX (16u << 20)

/* Serves until a signal; returns the exit status. SIGHUP changes the configuration (app_reload.c). */
int app_run(struct config *config);

#endif
