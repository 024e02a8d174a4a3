/*
 * clock_check.c: checks whether the event log is ahead of the machine's clock. This happens if the
 * clock was ahead once and was corrected, or if it is late now. Nothing is refused or delayed; but
 * the clock should be checked, so the server's log, the health of "errata.clock" and GetServerInfo
 * report it until the clock has caught up.
 */
#include "server/pipeline/rpc.h"

#include "store/base/logger.h"

/* Interval at which the warning is repeated in the log while the condition lasts. */
#define LINE_REPEAT_US (INT64_C(3600) * 1000000)
/* Limits the lines to one a minute if the difference oscillates around the limit. */
#define LINE_INTERVAL_US (INT64_C(60) * 1000000)

static void log_change(struct pipeline *pipeline, int64_t ahead_us)
{
    const struct logger_field fields[] = {LOGGER_NUMBER_FIELD("log_ahead_ms", ahead_us / 1000)};
    struct clock_line *line = &pipeline->clock_line;
    bool is_ahead = ahead_us > ENV_LOG_AHEAD_US_MAX;
    int64_t now_us = clock_monotonic_us(pipeline->config.clock);
    int64_t pause_us = is_ahead == line->is_ahead ? LINE_REPEAT_US : LINE_INTERVAL_US;

    if ((!is_ahead && !line->is_ahead) ||
        (line->was_written && now_us - line->written_us < pause_us)) {
        return;
    }
    *line = (struct clock_line){.is_ahead = is_ahead, .was_written = true, .written_us = now_us};
    if (is_ahead) {
        logger_write(LOGGER_WARNING,
                     "the newest event is later than the current time: the clock was ahead, or is "
                     "late; new events get the clock's current time",
                     fields, sizeof(fields) / sizeof(fields[0]));
    } else {
        logger_write(LOGGER_INFO, "the machine's clock agrees with the event log again", NULL, 0);
    }
}

void pipeline_check_clock(struct pipeline *pipeline)
{
    int64_t ahead_us = env_log_ahead_us(pipeline->config.env, pipeline->config.clock);

    if (pipeline->draining) {
        return;
    }
    pipeline_set_health(pipeline, HEALTH_PART_CLOCK,
                        ahead_us > ENV_LOG_AHEAD_US_MAX ? HEALTH_NOT_SERVING : HEALTH_SERVING);
    log_change(pipeline, ahead_us);
}
