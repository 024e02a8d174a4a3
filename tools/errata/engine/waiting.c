/*
 * waiting.c: see waiting.h.
 */
#include "tools/errata/engine/waiting.h"

#include "store/base/assert.h"

#include <errno.h>
#include <time.h>

static struct timespec after_ms(struct timespec from, long span_ms)
{
    from.tv_nsec += span_ms % 1000 * 1000000;
    from.tv_sec += span_ms / 1000 + from.tv_nsec / 1000000000;
    from.tv_nsec %= 1000000000;
    return from;
}

/* Returns the seconds between two times. */
static long whole_seconds(struct timespec from, struct timespec to)
{
    return to.tv_sec - from.tv_sec - (to.tv_nsec < from.tv_nsec ? 1 : 0);
}

static void draw(struct waiting_line *waiting, long seconds)
{
    struct printer *err = &waiting->cli->err;
    struct slice server = waiting->cli->settings.server;

    /* The name is truncated: a line that wraps cannot be erased. */
    (void)fprintf(err->stream, "\rwaiting for %.*s, %ld s\x1b[K",
                  server.size + 30 < err->width ? (int)server.size : 0, (const char *)server.data,
                  seconds);
    (void)fflush(err->stream);
}

static void *run(void *user)
{
    struct waiting_line *waiting = user;
    struct timespec start;
    struct timespec due;
    bool drawn = false;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    due = after_ms(start, WAITING_FIRST_MS);
    (void)pthread_mutex_lock(&waiting->mutex);
    /* Ends with the call, which has a deadline. */
    while (!waiting->ended) {
        if (pthread_cond_timedwait(&waiting->changed, &waiting->mutex, &due) == ETIMEDOUT) {
            draw(waiting, whole_seconds(start, due));
            drawn = true;
            due = after_ms(due, WAITING_STEP_MS);
        }
    }
    (void)pthread_mutex_unlock(&waiting->mutex);
    if (drawn) {
        (void)fprintf(waiting->cli->err.stream, "\r\x1b[K");
        (void)fflush(waiting->cli->err.stream);
    }
    return NULL;
}

void waiting_begin(struct waiting_line *waiting, struct cli *cli)
{
    pthread_condattr_t attributes;

    *waiting = (struct waiting_line){.cli = cli};
    if (!cli->err.cursor || cli->json) {
        return;
    }
    ASSERT(pthread_mutex_init(&waiting->mutex, NULL) == 0);
    ASSERT(pthread_condattr_init(&attributes) == 0);
    ASSERT(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    ASSERT(pthread_cond_init(&waiting->changed, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
    waiting->running = pthread_create(&waiting->thread, NULL, run, waiting) == 0;
}

void waiting_end(struct waiting_line *waiting)
{
    if (!waiting->running) {
        return;
    }
    (void)pthread_mutex_lock(&waiting->mutex);
    waiting->ended = true;
    (void)pthread_cond_signal(&waiting->changed);
    (void)pthread_mutex_unlock(&waiting->mutex);
    (void)pthread_join(waiting->thread, NULL);
    (void)pthread_cond_destroy(&waiting->changed);
    (void)pthread_mutex_destroy(&waiting->mutex);
    waiting->running = false;
}
