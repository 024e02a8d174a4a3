/*
 * intake.c: see intake.h.
 */
#include "client/captures/intake.h"

#include "store/base/assert.h"

#include <stdlib.h>
#include <string.h>

static void lock(struct captures_intake *intake)
{
    int failed = pthread_mutex_lock(&intake->lock);

    ASSERT(failed == 0);
}

static void unlock(struct captures_intake *intake)
{
    int failed = pthread_mutex_unlock(&intake->lock);

    ASSERT(failed == 0);
}

enum errata_result captures_intake_init(struct captures_intake *intake,
                                        const struct captures_intake_config *config)
{
    *intake = (struct captures_intake){
        .config = *config, .added = {.link = CAPTURE_BY_TURN}, .drain_ms = -1};
    return pthread_mutex_init(&intake->lock, NULL) == 0 ? ERRATA_OK : ERRATA_MEMORY;
}

void captures_intake_free_token(char *token)
{
    if (token != NULL) {
        explicit_bzero(token, strlen(token));
        free(token);
    }
}

void captures_intake_deinit(struct captures_intake *intake)
{
    int failed = 0;

    ASSERT(intake->added.first == NULL);
    ASSERT(intake->statistics.queued == 0);
    ASSERT(intake->statistics.queued_bytes == 0);
    captures_intake_free_token(intake->token);
    failed = pthread_mutex_destroy(&intake->lock);
    ASSERT(failed == 0);
}

static bool has_room(const struct captures_intake *intake, size_t size)
{
    return intake->statistics.queued < intake->config.events_max &&
           size <= intake->config.bytes_max - intake->statistics.queued_bytes;
}

enum errata_result captures_intake_add(struct captures_intake *intake, struct capture *take_capture)
{
    struct errata_captures_statistics *statistics = &intake->statistics;
    enum errata_result result = ERRATA_OK;

    lock(intake);
    if (intake->closed) {
        result = ERRATA_ENDED;
    } else if (!has_room(intake, take_capture->size)) {
        statistics->dropped[ERRATA_DROP_FULL]++;
        result = ERRATA_BUSY;
    } else {
        bool was_empty = intake->added.first == NULL;

        take_capture->number = ++intake->numbers;
        capture_list_append(&intake->added, take_capture);
        statistics->added++;
        statistics->queued++;
        statistics->queued_bytes += take_capture->size;
        if (was_empty) {
            intake->config.wake(intake->config.user);
        }
    }
    unlock(intake);
    return result;
}

void captures_intake_read_statistics(struct captures_intake *intake,
                                     struct errata_captures_statistics *ret_statistics)
{
    lock(intake);
    *ret_statistics = intake->statistics;
    unlock(intake);
}

enum errata_result captures_intake_ask_token(struct captures_intake *intake, const char *token)
{
    char *copy = strdup(token);
    char *old = copy;
    enum errata_result result = ERRATA_ENDED;

    if (copy == NULL) {
        return ERRATA_MEMORY;
    }
    lock(intake);
    if (!intake->closed) {
        old = intake->token;
        intake->token = copy;
        intake->config.wake(intake->config.user);
        result = ERRATA_OK;
    }
    unlock(intake);
    captures_intake_free_token(old);
    return result;
}

void captures_intake_ask_stop(struct captures_intake *intake, int64_t drain_ms)
{
    lock(intake);
    if (intake->drain_ms < 0) {
        intake->closed = true;
        intake->drain_ms = drain_ms > 0 ? drain_ms : 0;
        intake->config.wake(intake->config.user);
    }
    unlock(intake);
}

struct capture_list captures_intake_take(struct captures_intake *intake)
{
    struct capture_list taken;

    lock(intake);
    taken = intake->added;
    intake->added.first = NULL;
    intake->added.last = NULL;
    unlock(intake);
    return taken;
}

char *captures_intake_take_token(struct captures_intake *intake)
{
    char *token = NULL;

    lock(intake);
    token = intake->token;
    intake->token = NULL;
    unlock(intake);
    return token;
}

int64_t captures_intake_read_stop(struct captures_intake *intake)
{
    int64_t drain_ms = -1;

    lock(intake);
    drain_ms = intake->drain_ms;
    unlock(intake);
    return drain_ms;
}

void captures_intake_close(struct captures_intake *intake)
{
    lock(intake);
    intake->closed = true;
    unlock(intake);
}

void captures_intake_count_call(struct captures_intake *intake, uint32_t repeats,
                                enum errata_code code)
{
    lock(intake);
    intake->statistics.repeats += repeats;
    intake->statistics.last_code = code;
    unlock(intake);
}

void captures_intake_count_out(struct captures_intake *intake, size_t size, int how)
{
    struct errata_captures_statistics *statistics = &intake->statistics;

    lock(intake);
    ASSERT(statistics->queued > 0);
    ASSERT(statistics->queued_bytes >= size);
    statistics->queued--;
    statistics->queued_bytes -= size;
    if (how == CAPTURES_STORED) {
        statistics->stored++;
    } else {
        statistics->dropped[how]++;
    }
    unlock(intake);
}
