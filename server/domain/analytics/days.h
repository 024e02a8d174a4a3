/*
 * days.h: reads and formats UTC days, YYYY-MM-DD. A day is the number of days since 1970-01-01, and
 * may be negative.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_DAYS_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_DAYS_H

#include "store/base/slice.h"

#define DAY_TEXT_BYTES 10
/* 0001-01-01, the first day that can be formatted. */
#define DAY_FIRST INT64_C(-719162)

/* Returns false for another form and for a date that does not exist. */
bool day_parse(struct slice text, int64_t *ret_day);
/* Formats a day of the years 1 to 9999, that is, from DAY_FIRST on. */
void day_format(int64_t day, char text[DAY_TEXT_BYTES]);
int64_t day_of(int64_t time_us);

#endif
