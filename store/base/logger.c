/*
 * logger.c: builds a line on the stack and writes it with one write(2), so that lines of several
 * threads do not mix. A text that does not fit into 4 KiB is truncated; the line stays complete.
 * The level, the format and the file are the only state. They may change while other threads write lines: each
 * line has one format, and goes to one file.
 */
#include "store/base/logger.h"

#include "store/base/clock.h"
#include "store/base/text.h"
#include "store/base/timestamp.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_BYTES_MAX 4096
/* Reserved for the end of a line: a truncated text's dots, its quote, brace and line feed. */
#define LINE_BYTES_KEPT 8
#define MESSAGE_BYTES_MAX 2048

/* NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): set by app only */
static atomic_int level_wanted = LOGGER_INFO;
static atomic_int format_wanted = LOGGER_TEXT;
static atomic_int file_wanted = STDERR_FILENO;
/* NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables) */

struct line {
    enum logger_format format;
    char bytes[LINE_BYTES_MAX];
    size_t size;
    bool is_full;
};

void logger_configure(enum logger_level level, enum logger_format format)
{
    atomic_store(&level_wanted, (int)level);
    atomic_store(&format_wanted, (int)format);
}

bool logger_open(const char *path)
{
    int file = path[0] != '\0' ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640)
                               : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    int former = atomic_load(&file_wanted);

    if (file < 0) {
        return false;
    }
    if (former == STDERR_FILENO) {
        atomic_store(&file_wanted, file);
        return true;
    }
    /* Other threads may be about to write to the former number, so it becomes the new file. */
    if (dup3(file, former, O_CLOEXEC) < 0) {
        (void)close(file);
        return false;
    }
    return close(file) == 0;
}

bool logger_wants(enum logger_level level)
{
    return (int)level <= atomic_load_explicit(&level_wanted, memory_order_relaxed);
}

static const char *level_name(enum logger_level level)
{
    switch (level) {
    case LOGGER_ERROR:
        return "error";
    case LOGGER_WARNING:
        return "warning";
    case LOGGER_INFO:
        return "info";
    case LOGGER_DEBUG:
        return "debug";
    }
    return "?";
}

/* Appends `text` completely or not at all. */
static bool put_text(struct line *line, struct slice text)
{
    if (line->is_full || text.size > LINE_BYTES_MAX - LINE_BYTES_KEPT - line->size) {
        line->is_full = true;
        return false;
    }
    if (text.size > 0) {
        memcpy(line->bytes + line->size, text.data, text.size);
    }
    line->size += text.size;
    return true;
}

/* Writes one code point, escaped for JSON; invalid bytes become `?`. */
static bool put_escaped(struct line *line, struct slice rest, size_t *ret_used)
{
    char code[8];
    size_t bytes = text_sequence_bytes(rest);
    uint8_t first = rest.data[0];

    *ret_used = bytes == 0 ? 1 : bytes;
    if (bytes == 0) {
        return put_text(line, SLICE("?"));
    }
    if (first == '"' || first == '\\') {
        code[0] = '\\';
        code[1] = (char)first;
        return put_text(line, slice_of(code, 2));
    }
    if (first < 0x20 || first == 0x7f) {
        int size = snprintf(code, sizeof(code), "\\u%04x", first);

        return put_text(line, slice_of(code, size > 0 ? (size_t)size : 0));
    }
    return put_text(line, slice_of(rest.data, bytes));
}

static void put_quoted(struct line *line, struct slice text)
{
    size_t at = 0;

    if (!put_text(line, SLICE("\""))) {
        return;
    }
    while (at < text.size) {
        size_t used = 0;

        if (!put_escaped(line, slice_after(text, at), &used)) {
            memcpy(line->bytes + line->size, "...", 3); /* within the reserved bytes */
            line->size += 3;
            break;
        }
        at += used;
    }
    line->bytes[line->size++] = '"';
    if (line->size > LINE_BYTES_MAX - LINE_BYTES_KEPT) {
        line->is_full = true;
    }
}

static void put_time(struct line *line)
{
    char text[TIMESTAMP_TEXT_BYTES_MAX];
    int64_t now_us = clock_wall_us(clock_system());
    int64_t seconds = now_us > 0 ? now_us / 1000000 : 0;
    int32_t nanos = now_us > 0 ? (int32_t)(now_us % 1000000) * 1000 : 0;

    put_text(line, slice_of(text, timestamp_format(seconds, nanos, text)));
}

static void put_value(struct line *line, const struct logger_field *field)
{
    char number[24];
    int size = 0;

    if (!field->is_number) {
        put_quoted(line, field->text);
        return;
    }
    size = snprintf(number, sizeof(number), "%lld", (long long)field->number);
    put_text(line, slice_of(number, size > 0 ? (size_t)size : 0));
}

/* Writes a name only if the start of its value fits, too, so that no line ends with a name. */
static bool put_name(struct line *line, const char *name)
{
    struct slice text = slice_text(name);

    if (line->is_full || line->size + text.size + 32 > LINE_BYTES_MAX - LINE_BYTES_KEPT) {
        line->is_full = true;
        return false;
    }
    if (line->format == LOGGER_JSON) {
        put_text(line, SLICE(",\""));
        put_text(line, text);
        put_text(line, SLICE("\":"));
    } else {
        put_text(line, SLICE(" "));
        put_text(line, text);
        put_text(line, SLICE("="));
    }
    return true;
}

static void write_line(struct line *line)
{
    ssize_t written = 0;

    if (line->format == LOGGER_JSON) {
        line->bytes[line->size++] = '}';
    }
    line->bytes[line->size++] = '\n';
    written =
        write(atomic_load_explicit(&file_wanted, memory_order_relaxed), line->bytes, line->size);
    (void)written; /* a failure of the log cannot be reported anywhere */
}

void logger_write(enum logger_level level, const char *message, const struct logger_field *fields,
                  size_t count)
{
    struct line line;

    if (!logger_wants(level)) {
        return;
    }
    line.format = (enum logger_format)atomic_load_explicit(&format_wanted, memory_order_relaxed);
    line.size = 0;
    line.is_full = false;
    if (line.format == LOGGER_JSON) {
        put_text(&line, SLICE("{\"time\":\""));
        put_time(&line);
        put_text(&line, SLICE("\",\"level\":\""));
        put_text(&line, slice_text(level_name(level)));
        put_text(&line, SLICE("\",\"message\":"));
        put_quoted(&line, slice_text(message));
    } else {
        put_time(&line);
        put_text(&line, SLICE(" "));
        put_text(&line, slice_text(level_name(level)));
        put_text(&line, SLICE(" "));
        put_quoted(&line, slice_text(message));
    }
    for (size_t i = 0; i < count && put_name(&line, fields[i].name); i++) {
        put_value(&line, &fields[i]);
    }
    write_line(&line);
}

void logger_printf(enum logger_level level, const char *format, ...)
{
    char message[MESSAGE_BYTES_MAX];
    va_list values;
    int size = 0;

    if (!logger_wants(level)) {
        return;
    }
    va_start(values, format);
    size = vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    logger_write(level, size >= 0 ? message : format, NULL, 0);
}
