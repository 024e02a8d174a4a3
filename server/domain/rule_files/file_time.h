/*
 * file_time.h: formats times in files of rules and labels: RFC 3339 text in UTC.
 */
#ifndef ERRATA_SERVER_DOMAIN_RULE_FILES_FILE_TIME_H
#define ERRATA_SERVER_DOMAIN_RULE_FILES_FILE_TIME_H

#include "store/base/buffer.h"

/* Appends a time in microseconds since 1970 as a JSON string. */
void file_time_put(int64_t time_us, struct buffer *text);

#endif
