/*
 * days.h: UTC days as callers write them, YYYY-MM-DD. Days count from 1970 and may lie before it.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_DAYS_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_DAYS_H

#include "store/base/slice.h"

#define DAY_TEXT_BYTES 10
/* 0001-01-01, the first that has a text. */
#define DAY_FIRST INT64_C(-719162)

/* False for another form, and for a day that no calendar has. */
bool day_parse(struct slice text, int64_t *ret_day);
/* Formats a day of the years 1 to 9999, that is, from DAY_FIRST on. */
void day_format(int64_t day, char text[DAY_TEXT_BYTES]);
int64_t day_of(int64_t time_us);

#endif
