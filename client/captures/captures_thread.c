/*
 * captures_thread.c: a queue of captures with a thread, a loop and a channel of its own. The thread
 * handles no signals, and lives from errata_captures_start to errata_captures_stop.
 */
#include "client/captures/captures_internal.h"

#include "client/token.h"
#include "store/base/assert.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct captures_thread {
    pthread_t thread;
    uv_loop_t loop;
    struct errata_channel *channel; /* owned */
    struct errata_captures_statistics statistics; /* the last counters, valid once the queue is
                                                   * closed */
};

/* Ends the loop: when the channel is closed too, no handle is left. */
static void on_queue_closed(void *user, const struct errata_captures_statistics *statistics)
{
    struct captures_thread *thread = user;

    thread->statistics = *statistics;
    errata_channel_close(thread->channel, NULL, NULL);
}

static void *run(void *user)
{
    struct captures_thread *thread = user;

    (void)pthread_setname_np(pthread_self(), "errata-captures");
    (void)uv_run(&thread->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* Runs the loop until nothing is left on it, and frees everything. */
static void thread_free(struct captures_thread *thread)
{
    int failed = 0;

    (void)uv_run(&thread->loop, UV_RUN_DEFAULT);
    failed = uv_loop_close(&thread->loop);
    ASSERT(failed == 0);
    free(thread);
}

/* Signals are handled by the program's own threads. */
static bool thread_start(struct captures_thread *thread)
{
    sigset_t all;
    sigset_t before;
    bool made = false;
    int failed = 0;

    (void)sigfillset(&all);
    failed = pthread_sigmask(SIG_SETMASK, &all, &before);
    ASSERT(failed == 0);
    failed = pthread_create(&thread->thread, NULL, run, thread);
    made = failed == 0;
    failed = pthread_sigmask(SIG_SETMASK, &before, NULL);
    ASSERT(failed == 0);
    return made;
}

/* Allocates a thread's state with a loop and no channel. Returns NULL if memory is exhausted. */
static struct captures_thread *thread_new(void)
{
    struct captures_thread *thread = calloc(1, sizeof(*thread));

    if (thread == NULL || uv_loop_init(&thread->loop) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

/* Opens the queue before the thread runs; frees `thread` on failure. */
static enum errata_result open_queue(struct captures_thread *thread,
                                     const struct errata_captures_config *config,
                                     struct errata_captures **ret_captures)
{
    enum errata_result result =
        errata_captures_open(&thread->loop, thread->channel, config, ret_captures);

    if (result != ERRATA_OK) {
        errata_channel_close(thread->channel, NULL, NULL);
        thread_free(thread);
        return result;
    }
    (*ret_captures)->thread = thread;
    (*ret_captures)->on_closed = on_queue_closed;
    (*ret_captures)->on_closed_user = thread;
    return ERRATA_OK;
}

enum errata_result errata_captures_start(const struct errata_channel_config *channel,
                                         const struct errata_captures_config *config, char *problem,
                                         size_t problem_bytes,
                                         struct errata_captures **ret_captures)
{
    const struct problem to = {problem, problem_bytes};
    struct errata_captures_config checked;
    const char *wrong = captures_config_read(config, &checked);
    struct errata_captures *captures = NULL;
    struct captures_thread *thread = NULL;
    enum errata_result result = ERRATA_OK;

    if (wrong != NULL) {
        problem_say(&to, "%s", wrong);
        return ERRATA_INVALID;
    }
    thread = thread_new();
    if (thread == NULL) {
        problem_say(&to, "process: no memory or no file descriptor left; expected more of them");
        return ERRATA_MEMORY;
    }
    result = errata_channel_open(&thread->loop, channel, problem, problem_bytes, &thread->channel);
    if (result != ERRATA_OK) {
        thread_free(thread);
        return result;
    }
    result = open_queue(thread, &checked, &captures);
    if (result == ERRATA_OK && !thread_start(thread)) {
        captures_intake_ask_stop(&captures->intake, 0);
        thread_free(thread);
        result = ERRATA_MEMORY;
    }
    if (result != ERRATA_OK) {
        problem_say(&to, "%s", errata_result_text(result));
        return result;
    }
    *ret_captures = captures;
    return ERRATA_OK;
}

enum errata_result errata_captures_set_token(struct errata_captures *captures, const char *token)
{
    if (captures->thread == NULL || (token != NULL && !token_valid(slice_text(token)))) {
        return ERRATA_INVALID;
    }
    return captures_intake_ask_token(&captures->intake, token != NULL ? token : "");
}

void errata_captures_stop(struct errata_captures *take_captures, int64_t drain_ms,
                          struct errata_captures_statistics *ret_statistics)
{
    struct captures_thread *thread = NULL;
    int failed = 0;

    if (take_captures == NULL) {
        return;
    }
    thread = take_captures->thread;
    captures_intake_ask_stop(&take_captures->intake,
                             drain_ms); /* stops the thread, which frees the struct */
    failed = pthread_join(thread->thread, NULL);
    ASSERT(failed == 0);
    if (ret_statistics != NULL) {
        *ret_statistics = thread->statistics;
    }
    thread_free(thread);
}
