/*
 * timestamp.h: converts points in time to RFC 3339 text in UTC, and back. Seconds count from 1970
 * without leap seconds, in the years 1 to 9999, like google.protobuf.Timestamp. No time zones, no
 * locale, no clock.
 */
#ifndef ERRATA_STORE_BASE_TIMESTAMP_H
#define ERRATA_STORE_BASE_TIMESTAMP_H

#include "store/base/slice.h"

/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define TIMESTAMP_SECONDS_MIN INT64_C(-62135596800)
#define TIMESTAMP_SECONDS_MAX INT64_C(253402300799)
/* 2026-11-21T08:30:00.123456789Z */
#define TIMESTAMP_TEXT_BYTES_MAX 30

/* Writes the text with 0, 3, 6 or 9 digits of a second, as few as are exact; returns its size. The
 * time is within the limits. */
size_t timestamp_format(int64_t seconds, int32_t nanos, char text[TIMESTAMP_TEXT_BYTES_MAX]);
/* Reads RFC 3339 text with any UTC offset and up to 9 digits of a second, with `T` and `Z` in upper
 * case (as proto JSON requires); false for other text, and for a time outside the limits. */
bool timestamp_parse(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos);

#endif
