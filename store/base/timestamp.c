/*
 * timestamp.c: calendar arithmetic by Howard Hinnant's days_from_civil and civil_from_days, which
 * are correct for every year.
 */
#include "store/base/timestamp.h"

#include "store/base/assert.h"

#define DAY_SECONDS 86400
#define ERA_DAYS 146097
#define EPOCH_SHIFT_DAYS 719468 /* days from 0000-03-01 to 1970-01-01 */

/* Years begin in March, so that the leap day is the last of its year. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t from_march = month > 2 ? month - 3 : month + 9;
    int64_t shifted = month > 2 ? year : year - 1;
    int64_t era = shifted / 400; /* years are 0 or later, so this is never negative */
    int64_t year_of_era = shifted - era * 400;
    int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * ERA_DAYS + day_of_era - EPOCH_SHIFT_DAYS;
}

static void put_digits(char *at, int64_t value, unsigned count)
{
    while (count > 0) {
        at[--count] = (char)('0' + value % 10);
        value /= 10;
    }
}

static void put_date(char *text, int64_t days)
{
    int64_t shifted = days + EPOCH_SHIFT_DAYS; /* years are 1 or later, so this is positive */
    int64_t era = shifted / ERA_DAYS;
    int64_t day_of_era = shifted - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;

    put_digits(text, year_of_era + era * 400 + (month <= 2), 4);
    text[4] = '-';
    put_digits(text + 5, month, 2);
    text[7] = '-';
    put_digits(text + 8, day_of_year - (153 * from_march + 2) / 5 + 1, 2);
}

size_t timestamp_format(int64_t seconds, int32_t nanos, char text[TIMESTAMP_TEXT_BYTES_MAX])
{
    int64_t days = 0;
    int64_t of_day = 0;
    size_t size = 19;

    ASSERT(seconds >= TIMESTAMP_SECONDS_MIN && seconds <= TIMESTAMP_SECONDS_MAX);
    ASSERT(nanos >= 0 && nanos <= 999999999);
    days = (seconds - TIMESTAMP_SECONDS_MIN) / DAY_SECONDS + TIMESTAMP_SECONDS_MIN / DAY_SECONDS;
    of_day = seconds - days * DAY_SECONDS;
    put_date(text, days);
    text[10] = 'T';
    put_digits(text + 11, of_day / 3600, 2);
    text[13] = ':';
    put_digits(text + 14, of_day / 60 % 60, 2);
    text[16] = ':';
    put_digits(text + 17, of_day % 60, 2);
    if (nanos != 0) {
        text[size] = '.';
        put_digits(text + size + 1, nanos, 9);
        if (nanos % 1000000 == 0) {
            size += 4;
        } else {
            size += nanos % 1000 == 0 ? 7 : 10;
        }
    }
    text[size] = 'Z';
    return size + 1;
}

/* Reads exactly `count` digits at the start of `rest`, and moves past them. */
static bool take_digits(struct slice *rest, size_t count, int64_t *ret_value)
{
    int64_t value = 0;

    if (rest->size < count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (rest->data[i] < '0' || rest->data[i] > '9') {
            return false;
        }
        value = value * 10 + (rest->data[i] - '0');
    }
    *rest = slice_after(*rest, count);
    *ret_value = value;
    return true;
}

static bool take_byte(struct slice *rest, uint8_t byte)
{
    if (rest->size == 0 || rest->data[0] != byte) {
        return false;
    }
    *rest = slice_after(*rest, 1);
    return true;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && is_leap ? 29 : days[month - 1];
}

static bool take_date(struct slice *rest, int64_t *ret_days)
{
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;

    if (!take_digits(rest, 4, &year) || !take_byte(rest, '-') || !take_digits(rest, 2, &month) ||
        !take_byte(rest, '-') || !take_digits(rest, 2, &day)) {
        return false;
    }
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) {
        return false;
    }
    *ret_days = days_of(year, month, day);
    return true;
}

static bool take_time_of_day(struct slice *rest, int64_t *ret_seconds)
{
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;

    if (!take_digits(rest, 2, &hour) || !take_byte(rest, ':') || !take_digits(rest, 2, &minute) ||
        !take_byte(rest, ':') || !take_digits(rest, 2, &second)) {
        return false;
    }
    *ret_seconds = hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second < 60;
}

/* Reads a point and 1 to 9 digits, or nothing. */
static bool take_fraction(struct slice *rest, int32_t *ret_nanos)
{
    int64_t nanos = 0;
    unsigned count = 0;

    *ret_nanos = 0;
    if (!take_byte(rest, '.')) {
        return true;
    }
    for (; rest->size > 0 && rest->data[0] >= '0' && rest->data[0] <= '9'; count++) {
        if (count == 9) {
            return false;
        }
        nanos = nanos * 10 + (rest->data[0] - '0');
        *rest = slice_after(*rest, 1);
    }
    for (unsigned i = count; i < 9; i++) {
        nanos *= 10;
    }
    *ret_nanos = (int32_t)nanos;
    return count > 0;
}

static bool take_offset(struct slice *rest, int64_t *ret_seconds)
{
    int64_t hours = 0;
    int64_t minutes = 0;
    bool is_negative = false;

    if (take_byte(rest, 'Z')) {
        *ret_seconds = 0;
        return true;
    }
    is_negative = take_byte(rest, '-');
    if (!is_negative && !take_byte(rest, '+')) {
        return false;
    }
    if (!take_digits(rest, 2, &hours) || !take_byte(rest, ':') || !take_digits(rest, 2, &minutes) ||
        hours > 23 || minutes > 59) {
        return false;
    }
    *ret_seconds = (hours * 60 + minutes) * (is_negative ? -60 : 60);
    return true;
}

bool timestamp_parse(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos)
{
    struct slice rest = text;
    int64_t days = 0;
    int64_t of_day = 0;
    int64_t offset = 0;
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (!take_date(&rest, &days) || !take_byte(&rest, 'T') || !take_time_of_day(&rest, &of_day) ||
        !take_fraction(&rest, &nanos) || !take_offset(&rest, &offset) || rest.size != 0) {
        return false;
    }
    seconds = days * DAY_SECONDS + of_day - offset;
    if (seconds < TIMESTAMP_SECONDS_MIN || seconds > TIMESTAMP_SECONDS_MAX) {
        return false;
    }
    *ret_seconds = seconds;
    *ret_nanos = nanos;
    return true;
}
