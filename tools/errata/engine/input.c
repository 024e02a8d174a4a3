/*
 * input.c: see input.h.
 */
#include "tools/errata/engine/input.h"

#include "server/jobs/pdf/pdf_control.h"
#include "store/base/buffer.h"
#include "store/base/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* A thousand years; with larger spans, sums with the clock could overflow. */
#define DURATION_MS_MAX INT64_C(31557600000000)
/* The bytes of a time's text that are its day. */
#define DAY_BYTES 10
#define DAY_MS 86400000
/* Initial size of the buffer for a file. */
#define READ_BYTES 65536

bool input_number(const char *text, int64_t *ret_number)
{
    int64_t number = 0;

    if (text[0] == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        int64_t digit = *text - '0';

        if (digit < 0 || digit > 9 || number > (INT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret_number = number;
    return true;
}

bool input_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1},      {"s", 1000},     {"", 1000},      {"m", 60000},
                 {"h", 3600000}, {"d", 86400000}, {"w", 604800000}};
    size_t digits = strspn(text, "0123456789");
    char number[20];
    int64_t count = 0;

    if (digits == 0 || digits >= sizeof(number)) {
        return false;
    }
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!input_number(number, &count) || count == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text + digits, units[i].name) == 0 && count <= DURATION_MS_MAX / units[i].ms) {
            *ret_ms = count * units[i].ms;
            return true;
        }
    }
    return false;
}

enum cli_exit input_size(struct cli *cli, const char *option, const char *text,
                         struct slice *ret_bytes)
{
    static const struct {
        const char *name;
        int shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    size_t digits = strspn(text, "0123456789");
    char number[20];
    int64_t count = 0;

    if (digits > 0 && digits < sizeof(number)) {
        memcpy(number, text, digits);
        number[digits] = '\0';
        for (size_t i = 0; input_number(number, &count) && i < sizeof(units) / sizeof(units[0]);
             i++) {
            if (strcmp(text + digits, units[i].name) == 0 && count <= INT64_MAX >> units[i].shift) {
                *ret_bytes = arena_printf(&cli->arena, "%" PRId64, count << units[i].shift);
                return CLI_OK;
            }
        }
    }
    return cli_usage(cli, "--%s \"%s\": invalid size; expected one such as 512MiB or 10GiB, or 0",
                     option, text);
}

enum cli_exit input_file(struct cli *cli, const char *path, size_t bytes_max,
                         struct slice *ret_text)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rbe");
    struct buffer text;
    bool failed = false;

    if (standard && cli->read_input) {
        return cli_usage(cli, "-: given more than once; expected standard input only once");
    }
    cli->read_input = cli->read_input || standard;
    if (file == NULL) {
        return cli_local(cli, "%s can't be read: %s", path, strerror(errno));
    }
    buffer_init(&text, &cli->arena, READ_BYTES);
    while (text.size <= bytes_max && buffer_reserve(&text, READ_BYTES)) {
        size_t size = fread(text.data + text.size, 1, READ_BYTES, file);

        text.size += size;
        if (size == 0) {
            break;
        }
    }
    failed = ferror(file) != 0 || !buffer_ok(&text);
    if (!standard) {
        (void)fclose(file);
    }
    if (failed) {
        return cli_local(cli, "%s can't be read: %s", path, strerror(errno));
    }
    if (text.size > bytes_max) {
        return cli_local(cli, "%s: too large; expected at most %zu bytes", path, bytes_max);
    }
    *ret_text = buffer_slice(&text);
    return CLI_OK;
}

enum cli_exit input_password(struct cli *cli, const char *path, struct arena *arena,
                             struct slice *ret_password)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_file(cli, path, PDF_PASSWORD_BYTES_MAX + 2, &text);

    if (result != CLI_OK) {
        return result;
    }
    /* One line feed is stripped, since editors add it; spaces may belong to the password. */
    text.size -= text.size > 0 && text.data[text.size - 1] == '\n' ? 1 : 0;
    text.size -= text.size > 0 && text.data[text.size - 1] == '\r' ? 1 : 0;
    if (text.size > PDF_PASSWORD_BYTES_MAX) {
        return cli_local(cli, "%s holds no password of a PDF: that has at most %d bytes", path,
                         PDF_PASSWORD_BYTES_MAX);
    }
    return arena_copy(arena, text, ret_password) ? CLI_OK : cli_local(cli, "out of memory");
}

enum cli_exit input_argument(struct cli *cli, const char *argument, struct slice *ret_text)
{
    if (strcmp(argument, "-") == 0) {
        return input_file(cli, "-", INPUT_BYTES_MAX, ret_text);
    }
    if (argument[0] == '@') {
        return input_file(cli, argument + 1, INPUT_BYTES_MAX, ret_text);
    }
    *ret_text = slice_text(argument);
    return CLI_OK;
}

enum cli_exit input_printed(struct cli *cli, const char *argument, struct slice *ret_text)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_argument(cli, argument, &text);

    while (text.size > 0 && text.data[text.size - 1] == '\n') {
        text.size--;
    }
    *ret_text = text;
    return result;
}

enum cli_exit input_time(struct cli *cli, const char *option, const char *text, int sign,
                         struct slice *ret_time)
{
    char written[TIMESTAMP_TEXT_BYTES_MAX];
    int64_t seconds = 0;
    int64_t distance_ms = 0;
    int32_t nanos = 0;
    size_t size = 0;

    if (timestamp_parse(slice_text(text), &seconds, &nanos)) {
        *ret_time = slice_text(text);
        return CLI_OK;
    }
    if (!input_duration(text, &distance_ms)) {
        return cli_usage(cli,
                         "--%s \"%s\": invalid time; expected a duration such as 12h or 90d, or a "
                         "time such as 2026-11-21T08:30:00Z",
                         option, text);
    }
    seconds = clock_wall_us(cli->ctx.clock) / 1000000 + sign * (distance_ms / 1000);
    if (seconds < TIMESTAMP_SECONDS_MIN || seconds > TIMESTAMP_SECONDS_MAX) {
        return cli_usage(cli, "--%s \"%s\": after the year 9999; expected an earlier time", option,
                         text);
    }
    size = timestamp_format(seconds, 0, written);
    if (!arena_copy(&cli->arena, slice_of(written, size), ret_time)) {
        return cli_local(cli, "out of memory");
    }
    return CLI_OK;
}

/* The distance from today of a day that is given as a word or a span. */
static bool read_days_back(const char *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (strcmp(text, "today") == 0) {
        return true;
    }
    if (strcmp(text, "yesterday") == 0) {
        *ret_ms = DAY_MS;
        return true;
    }
    return input_duration(text[0] == '-' ? text + 1 : text, ret_ms) && *ret_ms >= DAY_MS;
}

enum cli_exit input_day(struct cli *cli, const char *option, const char *text,
                        struct slice *ret_day)
{
    char written[TIMESTAMP_TEXT_BYTES_MAX];
    struct slice midnight = arena_printf(&cli->arena, "%sT00:00:00Z", text);
    int64_t seconds = 0;
    int64_t back_ms = 0;
    int32_t nanos = 0;

    if (strlen(text) == DAY_BYTES && timestamp_parse(midnight, &seconds, &nanos)) {
        *ret_day = slice_text(text);
        return CLI_OK;
    }
    if (!read_days_back(text, &back_ms)) {
        return cli_usage(cli,
                         "--%s \"%s\": invalid date; expected 2026-11-22, today, yesterday, or a "
                         "number of days ago such as 90d",
                         option, text);
    }
    seconds = clock_wall_us(cli->ctx.clock) / 1000000 - back_ms / 1000;
    if (seconds < TIMESTAMP_SECONDS_MIN) {
        return cli_usage(cli, "--%s \"%s\": before the year 1; expected a later time", option,
                         text);
    }
    (void)timestamp_format(seconds, 0, written);
    return arena_copy(&cli->arena, slice_of(written, DAY_BYTES), ret_day)
               ? CLI_OK
               : cli_local(cli, "out of memory");
}
