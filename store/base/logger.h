/*
 * logger.h: messages of the program on standard error, or in a file: JSON lines or text, by level. Never
 * payloads, never secrets. Only services, app, jobs and tools log; lower layers return errors.
 * ("log" without further words means the event log.)
 */
#ifndef ERRATA_STORE_BASE_LOGGER_H
#define ERRATA_STORE_BASE_LOGGER_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

enum logger_level {
    LOGGER_ERROR,
    LOGGER_WARNING,
    LOGGER_INFO,
    LOGGER_DEBUG
};

enum logger_format {
    LOGGER_TEXT,
    LOGGER_JSON
};

/* Sets level and format; defaults: INFO, TEXT. */
void logger_configure(enum logger_level level, enum logger_format format);
/* Writes lines to the end of this file from now on, which is created if it is missing; empty: to
 * standard error, as without a call. Called again with the same path it opens the file again: what
 * a rotation needs. False, with errno, if it cannot be opened; lines then go where they went.
 * Called by one thread; others may write lines meanwhile. */
MUST_CHECK bool logger_open(const char *path);
bool logger_wants(enum logger_level level);

/* A member of a line. */
struct logger_field {
    const char *name;
    struct slice text; /* used if `is_number` is false */
    int64_t number;
    bool is_number;
};

#define LOGGER_TEXT_FIELD(name, value) ((struct logger_field){(name), (value), 0, false})
#define LOGGER_NUMBER_FIELD(name, value)                                                           \
    ((struct logger_field){(name), {NULL, 0}, (int64_t)(value), true})

/* Writes one line: time, level, message, fields; one write(2), at most 4 KiB. */
void logger_write(enum logger_level level, const char *message, const struct logger_field *fields,
                  size_t count);
/* Does the same without fields, formatted. */
void logger_printf(enum logger_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
