/*
 * file_time.c: see file_time.h.
 */
#include "server/domain/rule_files/file_time.h"

#include "store/base/json.h"
#include "store/base/timestamp.h"

#define SECOND_US 1000000

void file_time_put(int64_t time_us, struct buffer *text)
{
    int64_t seconds = time_us / SECOND_US - (time_us % SECOND_US < 0);
    char formatted[TIMESTAMP_TEXT_BYTES_MAX];
    size_t size =
        timestamp_format(seconds, (int32_t)((time_us - seconds * SECOND_US) * 1000), formatted);

    json_write_string(text, slice_of(formatted, size), false);
}
