/*
 * say.c: messages other than a command's output, see cli.h: on standard error, as text or with
 * --json as one JSON object per line.
 */
#include "store/base/json.h"
#include "tools/errata/cli.h"
#include "tools/errata/terminal/wrap.h"

#include <stdarg.h>
#include <stdio.h>

/* Maximum bytes of a message with its values: the longest value is a reference of 4,096 bytes,
 * which must be complete. */
#define SENTENCE_BYTES_MAX 8192

void cli_progress(struct cli *cli)
{
    progress_start(&cli->progress, &cli->err, cli->ctx.clock);
    cli->err.progress = &cli->progress;
    /* Shows progress only on a terminal. */
    cli->out.progress = cli->out.terminal ? &cli->progress : NULL;
}

/* Prints an object with at most two texts. */
static void print_object(struct cli *cli, const char *code, const char *member, const char *text)
{
    struct arena arena;
    struct buffer json;

    arena_init(&arena, (size_t)64 * 1024);
    buffer_init(&json, &arena, 512);
    buffer_append_byte(&json, '{');
    if (code != NULL) {
        buffer_printf(&json, "\"code\":\"%s\",", code);
    }
    buffer_printf(&json, "\"%s\":", member);
    json_write_string(&json, slice_text(text), true);
    buffer_append_byte(&json, '}');
    print_json(&cli->err, buffer_slice(&json));
    arena_deinit(&arena);
}

static void print_problem(struct cli *cli, const char *code, const char *format, va_list values)
{
    char text[SENTENCE_BYTES_MAX];

    (void)vsnprintf(text, sizeof(text), format, values);
    if (cli->json) {
        print_object(cli, code, "message", text);
        return;
    }
    print_coloured(&cli->err, COLOUR_RED, SLICE("errata"));
    print_text(&cli->err, ":");
    wrap_message(&cli->err, (unsigned)strlen("errata:"), 0, slice_text(text));
}

enum cli_exit cli_usage(struct cli *cli, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_problem(cli, "USAGE", format, values);
    va_end(values);
    if (!cli->json) {
        cli_note(cli, "See `errata help%s%s%s%s`.", cli->group != NULL ? " " : "",
                 cli->group != NULL ? cli->group->name : "", cli->command != NULL ? " " : "",
                 cli->command != NULL ? cli->command->name : "");
    }
    return CLI_USAGE;
}

enum cli_exit cli_failed(struct cli *cli, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_problem(cli, "NOT_FOUND", format, values);
    va_end(values);
    return CLI_CALL_FAILED;
}

enum cli_exit cli_local(struct cli *cli, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_problem(cli, "LOCAL", format, values);
    va_end(values);
    return CLI_LOCAL;
}

void cli_note(struct cli *cli, const char *format, ...)
{
    char text[SENTENCE_BYTES_MAX];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    if (cli->json) {
        print_object(cli, NULL, "note", text);
    } else {
        wrap_message(&cli->err, 0, 0, slice_text(text));
    }
}
