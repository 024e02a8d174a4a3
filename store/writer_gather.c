/*
 * writer_gather.c: decides how long a batch waits, by the results of earlier waits.
 */
#include "store/writer_gather.h"

void writer_gather_begin(struct writer_gather *gather, uint32_t answered, uint32_t queued,
                         uint32_t batch_max, int64_t sync_us, int64_t now_us)
{
    uint32_t wanted = answered + queued < batch_max ? answered + queued : batch_max;
    int64_t wait_us = sync_us / GATHER_SYNC_PART;

    gather->until_us = 0;
    if (sync_us < GATHER_SYNC_LEAST_US || queued >= batch_max) {
        return;
    }
    if (gather->skip > 0) {
        gather->skip--;
        return;
    }
    gather->until_us = now_us + (wait_us < GATHER_US_MAX ? wait_us : GATHER_US_MAX);
    gather->wanted = wanted - wanted / 16; /* a few that do not return must not delay the others */
    gather->answered = answered;
    gather->queued = queued;
}

int64_t writer_gather_wait_us(const struct writer_gather *gather, uint32_t queued, int64_t now_us)
{
    if (queued >= gather->wanted || now_us >= gather->until_us) {
        return 0;
    }
    return gather->until_us - now_us;
}

void writer_gather_end(struct writer_gather *gather, uint32_t queued)
{
    uint32_t back = queued > gather->queued ? queued - gather->queued : 0;

    if (gather->until_us == 0) {
        return;
    }
    gather->until_us = 0;
    gather->wanted = 0;
    if (2 * back >= gather->answered) {
        gather->skip_next = 1;
        return;
    }
    gather->skip = gather->skip_next > 1 ? gather->skip_next : 1;
    gather->skip_next = 2 * gather->skip < GATHER_SKIP_MAX ? 2 * gather->skip : GATHER_SKIP_MAX;
}
