/*
 * waiting.h: a line on the terminal during a long call, with the server and the elapsed time. The
 * call blocks its thread, so another thread draws; the call's own thread must not print meanwhile.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_WAITING_H
#define ERRATA_TOOLS_ERRATA_ENGINE_WAITING_H

#include "tools/errata/cli.h"

#include <pthread.h>

/* Time before the line is shown, and interval of its updates. */
#define WAITING_FIRST_MS 1500
#define WAITING_STEP_MS 500

struct waiting_line {
    struct cli *cli;
    bool running; /* the thread was started */
    pthread_t thread;
    pthread_mutex_t mutex; /* protects `ended` */
    pthread_cond_t changed;
    bool ended;
};

/* Does nothing if there is no terminal to draw on. */
void waiting_begin(struct waiting_line *waiting, struct cli *cli);
/* Removes the line; the caller may print again. */
void waiting_end(struct waiting_line *waiting);

#endif
