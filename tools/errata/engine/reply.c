/*
 * reply.c: see reply.h.
 */
#include "tools/errata/engine/reply.h"

#include "store/base/timestamp.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/terminal/times.h"
#include "tools/errata/terminal/wrap.h"

#include <math.h>
#include <stdlib.h>

/* Minimum column of the values in key-value lists, less one space. */
#define MEMBER_COLUMNS 13

/* 2026-11-21T08:30:00 */
#define TIME_TO_SECONDS_BYTES 19

enum cli_exit reply_parse(struct cli *cli, struct slice json, struct json_value *ret_value)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_problem problem = {NULL, 0};
    enum err err = json_check(&cli->arena, json, &rules, ret_value, &problem);

    if (err != OK) {
        return cli_local(cli, "the reply's JSON can't be read: %s",
                         problem.what != NULL ? problem.what : err_text(err));
    }
    return CLI_OK;
}

struct json_value reply_member(struct json_value object, const char *name)
{
    struct json_value value = {JSON_OBJECT, SLICE("{}")};

    if (object.kind == JSON_OBJECT && json_member(object, slice_text(name), &value)) {
        return value;
    }
    return (struct json_value){JSON_OBJECT, SLICE("{}")};
}

static struct slice value_text(struct cli *cli, struct json_value value)
{
    struct slice text = value.text;

    if (value.kind == JSON_STRING && json_string(&cli->arena, value.text, &text) != OK) {
        return slice_of(NULL, 0);
    }
    return text;
}

struct slice reply_text(struct cli *cli, struct json_value object, const char *name)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    if (object.kind != JSON_OBJECT || !json_member(object, slice_text(name), &value) ||
        value.kind == JSON_NULL) {
        return slice_of(NULL, 0);
    }
    return value_text(cli, value);
}

struct slice reply_one_line(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);
    struct buffer line;
    bool blank = true;

    if (!cli->out.terminal) {
        return text;
    }
    buffer_init(&line, &cli->arena, text.size);
    for (size_t i = 0; i < text.size; i++) {
        bool is_blank = memchr(" \t\r\n", text.data[i], 4) != NULL;

        if (!is_blank || !blank) {
            buffer_append_byte(&line, is_blank ? ' ' : text.data[i]);
        }
        blank = is_blank;
    }
    return buffer_slice(&line);
}

struct slice reply_word(struct cli *cli, struct json_value object, const char *name,
                        const char *prefix)
{
    struct slice word = reply_text(cli, object, name);

    if (slice_starts_with(word, slice_text(prefix))) {
        word = slice_after(word, strlen(prefix));
    }
    return word;
}

struct slice reply_grouped(struct cli *cli, struct slice digits)
{
    return cli->out.terminal ? print_grouped(&cli->arena, digits) : digits;
}

struct slice reply_count(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);

    return text.size == 0 ? SLICE("0") : reply_grouped(cli, text);
}

uint64_t reply_integer(struct cli *cli, struct json_value object, const char *name)
{
    struct slice copy = {NULL, 0};
    int64_t number = 0;

    if (!arena_copy(&cli->arena, reply_text(cli, object, name), &copy) || copy.size == 0 ||
        !input_number((const char *)copy.data, &number)) {
        return 0;
    }
    return (uint64_t)number;
}

struct slice reply_number(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);
    struct slice copy = {NULL, 0};
    double number = 0;

    if (text.size == 0) {
        return SLICE("0");
    }
    if (!cli->out.terminal || !arena_copy(&cli->arena, text, &copy)) {
        return text;
    }
    number = strtod((const char *)copy.data, NULL);
    return isfinite(number)
               ? arena_printf(&cli->arena, fabs(number) < 1000 ? "%.4g" : "%.0f", number)
               : text;
}

struct slice reply_time(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);

    if (text.size < TIME_TO_SECONDS_BYTES) {
        return text;
    }
    return arena_printf(&cli->arena, "%.10s %.8s", (const char *)text.data,
                        (const char *)text.data + 11);
}

struct slice reply_ago(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (!timestamp_parse(text, &seconds, &nanos)) {
        return text;
    }
    return times_ago(&cli->arena, clock_wall_us(cli->ctx.clock) / 1000000, seconds);
}

struct slice reply_moment(struct cli *cli, struct json_value object, const char *name)
{
    return cli->out.terminal ? reply_ago(cli, object, name) : reply_time(cli, object, name);
}

struct slice reply_full_time(struct cli *cli, struct json_value object, const char *name)
{
    struct slice time = reply_time(cli, object, name);
    struct slice ago = reply_ago(cli, object, name);

    if (time.size == 0 || !cli->out.terminal) {
        return time;
    }
    if (slice_starts_with(time, ago)) { /* long ago: the date again */
        return arena_printf(&cli->arena, "%.*s UTC", SLICE_ARGS(time));
    }
    return arena_printf(&cli->arena, "%.*s UTC, %.*s", SLICE_ARGS(time), SLICE_ARGS(ago));
}

void reply_align_members(struct cli *cli, const char *longest)
{
    int columns = (int)strlen(longest) + 1;

    cli->title_columns = columns > MEMBER_COLUMNS ? columns : MEMBER_COLUMNS;
}

void reply_print_member(struct cli *cli, const char *title, struct slice value)
{
    int columns = cli->title_columns > 0 ? cli->title_columns : MEMBER_COLUMNS;

    if (value.size > 0) {
        print_text(&cli->out, "%s%-*s%s", print_colour_start(&cli->out, COLOUR_DIM), columns, title,
                   print_colour_end(&cli->out, COLOUR_DIM));
        wrap_message(&cli->out, (unsigned)columns, (unsigned)columns + 1, value);
    }
}

void reply_note_warnings(struct cli *cli, struct json_value object)
{
    struct reply_walk walk = reply_walk(object, "warnings");

    while (reply_next(&walk)) {
        struct slice message = reply_text(cli, walk.row, "message");

        cli_note(cli, "warning: %.*s", (int)message.size, (const char *)message.data);
    }
}

void reply_note_clock(struct cli *cli, struct json_value object, const char *name)
{
    int64_t now = clock_wall_us(cli->ctx.clock) / 1000000;
    int64_t stamped = 0;
    int32_t nanos = 0;
    int64_t ahead = 0;

    if (!timestamp_parse(reply_text(cli, object, name), &stamped, &nanos)) {
        return;
    }
    ahead = stamped - now;
    if (ahead > TIMES_SKEW_SECONDS || ahead < -TIMES_SKEW_SECONDS) {
        struct slice span =
            progress_span(&cli->arena, (ahead > 0 ? ahead : -ahead) * INT64_C(1000000));

        cli_note(cli,
                 "the server's clock is %.*s %s this machine's, by which spans such as 90d count",
                 SLICE_ARGS(span), ahead > 0 ? "ahead of" : "earlier than");
    }
}

struct reply_walk reply_walk(struct json_value object, const char *name)
{
    struct json_value value = {JSON_ARRAY, SLICE("[]")};

    if (object.kind != JSON_OBJECT || !json_member(object, slice_text(name), &value) ||
        value.kind != JSON_ARRAY) {
        value = (struct json_value){JSON_ARRAY, SLICE("[]")};
    }
    return (struct reply_walk){.rest = json_walk_start(value)};
}

struct slice reply_list(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk walk = reply_walk(object, name);
    struct buffer list;

    buffer_init(&list, &cli->arena, 64);
    while (reply_next(&walk)) {
        if (list.size > 0) {
            buffer_append(&list, SLICE(", "));
        }
        buffer_append(&list, value_text(cli, walk.row));
    }
    return buffer_slice(&list);
}
