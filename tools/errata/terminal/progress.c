/*
 * progress.c: see progress.h.
 */
#include "tools/errata/terminal/progress.h"

#include "store/base/buffer.h"

#include <inttypes.h>

/* Cells of the bar. */
#define BAR_CELLS_MIN 10
#define BAR_CELLS_MAX 30
/* Minimum columns of a name; a shorter one is not shown. */
#define DETAIL_COLUMNS_MIN 12
/* Minimum time for a rate. */
#define RATE_AFTER_US 1000000

/* --- pieces --- */

struct slice progress_span(struct arena *arena, int64_t span_us)
{
    long long seconds = (span_us + 500000) / 1000000;

    if (span_us < 9950000) {
        return arena_printf(arena, "%.1f s", (double)span_us / 1e6);
    }
    if (seconds < 60) {
        return arena_printf(arena, "%lld s", seconds);
    }
    if (seconds < 3600) {
        return arena_printf(arena, "%lld min %lld s", seconds / 60, seconds % 60);
    }
    return arena_printf(arena, "%lld h %lld min", seconds / 3600, seconds / 60 % 60);
}

/* Returns the completed fraction, 0 to 1; negative if the total is unknown. */
static double fraction(const struct progress_state *state)
{
    double done = (double)(state->total_steps > 0 ? state->done_steps : state->done);
    double whole = (double)(state->total_steps > 0 ? state->total_steps : state->total);

    if (whole <= 0) {
        return -1;
    }
    return done < whole ? done / whole : 1;
}

static void add_number(struct buffer *line, uint64_t number)
{
    struct slice digits = arena_printf(line->arena, "%" PRIu64, number);

    buffer_append(line, print_grouped(line->arena, digits));
}

static void add_count(struct buffer *line, const struct progress_state *state)
{
    add_number(line, state->done);
    if (state->total > 0) {
        buffer_append(line, SLICE(" of "));
        add_number(line, state->total);
    }
    buffer_printf(line, " %s", state->unit);
}

static void add_rate(struct buffer *line, const struct progress_state *state, int64_t elapsed_us)
{
    double rate = (double)state->done * 1e6 / (double)elapsed_us;

    if (rate >= 9.95) {
        buffer_append(line, SLICE(", "));
        add_number(line, (uint64_t)(rate + 0.5));
        buffer_append(line, SLICE("/s"));
    } else if (rate >= 0.95) {
        buffer_printf(line, ", %.1f/s", rate);
    } else if (state->done > 0) {
        buffer_printf(line, ", %.0f/min", rate * 60);
    }
}

/* Formats the remaining time, such as `, 0:12 left`, estimated from the progress so far. */
static void add_left(struct buffer *line, double done, int64_t elapsed_us)
{
    long long left = 0;

    if (done <= 0 || done >= 1) {
        return;
    }
    left = (long long)((double)elapsed_us * (1 - done) / done / 1e6 + 0.5);
    if (left == 0) {
        return;
    }
    if (left >= 3600) {
        buffer_printf(line, ", %lld:%02lld:%02lld left", left / 3600, left / 60 % 60, left % 60);
    } else {
        buffer_printf(line, ", %lld:%02lld left", left / 60, left % 60);
    }
}

/* Formats the bar, followed by a blank. */
static void add_bar(struct buffer *line, bool ascii, double done, unsigned cells)
{
    unsigned full = (unsigned)(done * cells); /* complete when all is done */

    for (unsigned i = 0; i < cells; i++) {
        if (ascii) {
            buffer_append_byte(line, i < full ? '#' : '.');
        } else {
            /* A full block, and a light shade. */
            buffer_append(line, i < full ? SLICE("\xe2\x96\x88") : SLICE("\xe2\x96\x91"));
        }
    }
    buffer_append_byte(line, ' ');
}

/* --- the line --- */

static struct slice text_of(struct arena *arena, const struct progress_state *state,
                            int64_t elapsed_us)
{
    struct buffer text;

    buffer_init(&text, arena, 128);
    add_count(&text, state);
    if (state->paused) {
        buffer_printf(&text, ", waiting for the server");
    } else if (elapsed_us >= RATE_AFTER_US) {
        add_rate(&text, state, elapsed_us);
        add_left(&text, fraction(state), elapsed_us);
    }
    return buffer_slice(&text);
}

struct slice progress_line(const struct printer *printer, struct arena *arena,
                           const struct progress_state *state, int64_t elapsed_us)
{
    struct slice text = text_of(arena, state, elapsed_us);
    unsigned width = printer->width - 1; /* the last column may wrap */
    unsigned used = print_width(text);
    double done = fraction(state);
    struct buffer line;

    buffer_init(&line, arena, 256);
    if (done >= 0 && used + BAR_CELLS_MIN + 1 <= width) {
        unsigned cells = (width - used - 1) / 3;

        cells = cells < BAR_CELLS_MIN ? BAR_CELLS_MIN : cells;
        cells = cells > BAR_CELLS_MAX ? BAR_CELLS_MAX : cells;
        add_bar(&line, printer->ascii, done, cells);
        used += cells + 1;
    }
    buffer_append(&line, print_cut(printer, arena, text, width));
    if (state->detail.size > 0 && used + 2 + DETAIL_COLUMNS_MIN <= width) {
        struct slice detail = print_letters(printer, arena, print_clean(arena, state->detail));

        buffer_append(&line, SLICE("  "));
        buffer_append(&line, print_cut_front(printer, arena, detail, width - used - 2));
    }
    return buffer_slice(&line);
}

void progress_start(struct progress *progress, struct printer *printer, const struct clock *clock)
{
    *progress = (struct progress){
        .printer = printer, .clock = clock, .start_us = clock_monotonic_us(clock)};
}

static bool is_due(const struct progress *progress, const struct progress_state *state,
                   int64_t now_us)
{
    if (!progress->printer->cursor) {
        return false;
    }
    if (state->paused) {
        return true;
    }
    return now_us - progress->start_us >= PROGRESS_FIRST_US &&
           now_us - progress->shown_us >= PROGRESS_STEP_US;
}

void progress_show(struct progress *progress, const struct progress_state *state)
{
    int64_t now_us = clock_monotonic_us(progress->clock);
    struct slice line = {NULL, 0};
    struct arena arena;

    if (!is_due(progress, state, now_us)) {
        return;
    }
    arena_init(&arena, (size_t)64 * 1024 + state->detail.size * 8);
    line = progress_line(progress->printer, &arena, state, now_us - progress->start_us);
    (void)fprintf(progress->printer->stream, "\r%.*s\x1b[K", SLICE_ARGS(line));
    (void)fflush(progress->printer->stream);
    arena_deinit(&arena);
    progress->shown_us = now_us;
    progress->visible = true;
}

void progress_hide(struct progress *progress)
{
    if (!progress->visible) {
        return;
    }
    (void)fprintf(progress->printer->stream, "\r\x1b[K");
    (void)fflush(progress->printer->stream);
    progress->visible = false;
}
