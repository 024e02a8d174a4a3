/*
 * measures.c: see measures.h.
 */
#include "tools/errata/layouts/measures.h"

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "store/base/sha256.h"
#include "store/base/text.h"

#include <stdlib.h>

_Static_assert(PDF_PAGES_MAX == 5000, "see the text below");

#define KIB 1024.0
/* Size of a buffer for the longest reason code. */
#define REASON_BYTES_MAX 40

struct slice measures_size(struct cli *cli, double width, double height)
{
    return arena_printf(&cli->arena, "%.10g x %.10g", width, height);
}

struct slice measures_with(struct cli *cli, struct slice text, const char *more)
{
    return arena_printf(&cli->arena, "%.*s%s", SLICE_ARGS(text), more);
}

void measures_runs_begin(struct measures_runs *runs, struct cli *cli)
{
    *runs = (struct measures_runs){.cli = cli};
}

static void print_run(struct measures_runs *runs)
{
    struct arena *arena = &runs->cli->arena;
    struct slice pages = {NULL, 0};

    runs->lines++;
    if (runs->last_page == 0 || runs->lines > MEASURES_RUNS_MAX) {
        return;
    }
    pages =
        runs->first_page == runs->last_page
            ? arena_printf(arena, "%u", (unsigned)runs->first_page)
            : arena_printf(arena, "%u-%u", (unsigned)runs->first_page, (unsigned)runs->last_page);
    reply_print_member(
        runs->cli, runs->lines == 1 ? "page size" : "",
        arena_printf(arena, "%.*s points: page %.*s", SLICE_ARGS(runs->size), SLICE_ARGS(pages)));
}

void measures_runs_add(struct measures_runs *runs, struct slice size)
{
    if (runs->last_page > 0 && !slice_equal(size, runs->size)) {
        print_run(runs);
        runs->first_page = runs->last_page + 1;
    }
    runs->first_page = runs->first_page > 0 ? runs->first_page : 1;
    runs->size = size;
    runs->last_page++;
}

void measures_runs_end(struct measures_runs *runs)
{
    if (runs->last_page > 0) {
        print_run(runs);
    }
    if (runs->lines > MEASURES_RUNS_MAX) {
        reply_print_member(
            runs->cli, "",
            arena_printf(&runs->cli->arena, "and %u more", runs->lines - MEASURES_RUNS_MAX));
    }
}

bool measures_double(struct cli *cli, struct json_value object, const char *name, double *ret_value)
{
    struct slice text = reply_text(cli, object, name);
    struct slice copy = {NULL, 0};

    if (text.size == 0 || !arena_copy(&cli->arena, text, &copy)) {
        return false;
    }
    *ret_value = strtod((const char *)copy.data, NULL);
    return true;
}

struct slice measures_share(struct cli *cli, struct json_value object, const char *name)
{
    double share = 0;

    return measures_double(cli, object, name, &share) && cli->out.terminal
               ? arena_printf(&cli->arena, "%.2f", share)
               : reply_text(cli, object, name);
}

struct slice measures_page_size(struct cli *cli, struct json_value page)
{
    double width = 0;
    double height = 0;

    (void)measures_double(cli, page, "width", &width); /* proto JSON omits 0 */
    (void)measures_double(cli, page, "height", &height);
    return measures_size(cli, width, height);
}

struct slice measures_first_size(struct cli *cli, struct json_value document, const char *name)
{
    struct reply_walk walk = reply_walk(document, name);

    return reply_next(&walk) ? measures_page_size(cli, walk.row) : slice_of(NULL, 0);
}

struct slice measures_number(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);

    return text.size > 0 ? text : SLICE("0");
}

struct slice measures_short_layout(struct cli *cli, struct json_value document)
{
    struct slice layout = reply_text(cli, document, "layoutFingerprint");

    if (layout.size == 0) {
        return SLICE("-");
    }
    return text_is_utf8(layout) ? text_first_characters(layout, MEASURES_SHORT_BYTES) : layout;
}

struct slice measures_warning_codes(struct cli *cli, struct json_value document, const char *name)
{
    struct reply_walk walk = reply_walk(document, name);
    struct buffer codes;

    buffer_init(&codes, &cli->arena, 64);
    while (reply_next(&walk)) {
        buffer_append(&codes, codes.size > 0 ? SLICE(", ") : SLICE(""));
        buffer_append(&codes, reply_word(cli, walk.row, "code", "WARNING_CODE_"));
    }
    return buffer_slice(&codes);
}

struct slice measures_warning(struct cli *cli, struct slice code, struct slice message)
{
    return arena_printf(&cli->arena, "%.*s: %.*s", SLICE_ARGS(code), SLICE_ARGS(message));
}

void measures_print_text(struct cli *cli, const char *indent, struct slice text, size_t lines_max)
{
    size_t lines = 0;

    while (text.size > 0 && lines < lines_max) {
        const uint8_t *feed = memchr(text.data, '\n', text.size);
        size_t size = feed != NULL ? (size_t)(feed - text.data) : text.size;

        print_text(&cli->out, "%s", size > 0 ? indent : "");
        print_line(&cli->out, slice_of(text.data, size));
        text = slice_after(text, feed != NULL ? size + 1 : size);
        lines++;
    }
    if (text.size > 0) {
        print_text(&cli->out, "%s...\n", indent);
    }
}

struct slice measures_bytes(struct cli *cli, uint64_t bytes)
{
    double kib = (double)bytes / KIB;

    if (bytes < 1024) {
        return arena_printf(&cli->arena, "%llu B", (unsigned long long)bytes);
    }
    if (kib < KIB) {
        return arena_printf(&cli->arena, "%.0f KiB", kib);
    }
    if (kib < KIB * KIB) {
        return arena_printf(&cli->arena, "%.1f MiB", kib / KIB);
    }
    return arena_printf(&cli->arena, "%.1f GiB", kib / KIB / KIB);
}

struct slice measures_reason(struct slice message)
{
    size_t size = 0;

    while (
        size < message.size && size <= REASON_BYTES_MAX &&
        ((message.data[size] >= 'a' && message.data[size] <= 'z') || message.data[size] == '_')) {
        size++;
    }
    if (size == 0 || size == message.size || message.data[size] != ':') {
        return slice_of(NULL, 0);
    }
    return slice_of(message.data, size);
}

const char *measures_advice(struct slice reason)
{
    static const struct {
        const char *reason;
        const char *advice;
    } known[] = {
        {"not_a_pdf", "only PDF is measured: convert the file, or leave it out"},
        {"damaged", "open it in a viewer and save it again, or ask its sender for another copy"},
        {"encrypted", "specify its password with --password-file FILE"},
        {"no_pages", "ask its sender for another copy"},
        {"too_many_pages", "split it: at most 5,000 pages are accepted"},
        {"page_unreadable",
         "open it in a viewer and save it again, or ask its sender for another copy"},
        {"text_limit", "print its first pages to a new PDF, and use that"},
        {"wall_limit", "send it again when the server's machine is less busy, or print its first "
                       "pages to a new PDF"},
        {"crashed", "open it in a viewer and save it again; the PDF reader crashed on it"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (slice_equal(reason, slice_text(known[i].reason))) {
            return known[i].advice;
        }
    }
    return NULL;
}
