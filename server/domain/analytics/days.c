/*
 * days.c: see days.h. A day is formatted as the date part of the timestamp of its midnight.
 */
#include "server/domain/analytics/days.h"

#include "store/base/timestamp.h"

#define DAY_SECONDS 86400
#define DAY_US (INT64_C(1000000) * DAY_SECONDS)
#define MIDNIGHT "T00:00:00Z"

bool day_parse(struct slice text, int64_t *ret_day)
{
    char whole[DAY_TEXT_BYTES + sizeof(MIDNIGHT) - 1];
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (text.size != DAY_TEXT_BYTES) {
        return false;
    }
    memcpy(whole, text.data, DAY_TEXT_BYTES);
    memcpy(whole + DAY_TEXT_BYTES, MIDNIGHT, sizeof(MIDNIGHT) - 1);
    if (!timestamp_parse(slice_of(whole, sizeof(whole)), &seconds, &nanos)) {
        return false;
    }
    *ret_day = seconds / DAY_SECONDS;
    return true;
}

void day_format(int64_t day, char text[DAY_TEXT_BYTES])
{
    char whole[TIMESTAMP_TEXT_BYTES_MAX];

    (void)timestamp_format(day * DAY_SECONDS, 0, whole);
    memcpy(text, whole, DAY_TEXT_BYTES);
}

int64_t day_of(int64_t time_us)
{
    return time_us / DAY_US - (time_us % DAY_US < 0 ? 1 : 0);
}
