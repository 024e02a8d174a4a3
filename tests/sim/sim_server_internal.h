/*
 * sim_server_internal.h: shared by the two files of the simulated server.
 */
#ifndef ERRATA_TESTS_SIM_SIM_SERVER_INTERNAL_H
#define ERRATA_TESTS_SIM_SIM_SERVER_INTERNAL_H

#include "tests/sim/sim_server.h"

/* Timers of the loop, from the start on. */
void sim_server_start_timers(struct sim_server *server);
/* The writer has completions for the loop. */
void sim_server_ask_completion(struct sim_server *server);
/* pipeline_config's two. */
enum err sim_server_run_on_pool(void *user, void (*work)(void *job),
                                void (*done)(void *job, enum err result), void *job);
void sim_server_want_turn(void *user);
/* A job's work, unless it ran, and its completion. */
void sim_server_end_job(struct sim_server *server, struct sim_job *job);
/* The session of a link goes; takes a link without one. */
void sim_server_close_link(struct sim_link *link);
void sim_server_close_links(struct sim_server *server);
/* Marks that there may be output. */
void sim_server_mark(struct sim_link *link);

#endif
