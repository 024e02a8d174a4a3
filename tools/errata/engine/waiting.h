/*
 * waiting.h: a line on the terminal while one call takes long: whom it waits for, and since when. The
 * call blocks its thread, so another one draws; the call's own thread prints nothing meanwhile.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_WAITING_H
#define ERRATA_TOOLS_ERRATA_ENGINE_WAITING_H

#include "tools/errata/cli.h"

#include <pthread.h>

/* A call that is answered before this shows no line; between two lines. */
#define WAITING_FIRST_MS 1500
#define WAITING_STEP_MS 500

struct waiting_line {
    struct cli *cli;
    bool running; /* the thread is there */
    pthread_t thread;
    pthread_mutex_t mutex; /* protects `ended` */
    pthread_cond_t changed;
    bool ended;
};

/* Does nothing where there is no terminal to draw on. */
void waiting_begin(struct waiting_line *waiting, struct cli *cli);
/* Takes the line away; what comes next may print. */
void waiting_end(struct waiting_line *waiting);

#endif
