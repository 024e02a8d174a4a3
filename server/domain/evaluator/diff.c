/*
 * diff.c: see diff.h. A hunk header gives the number of lines that follow, so that a removed line which begins with
 * `--` is not taken for the head of a file; in a diff without hunk headers a hunk ends at a line that is not changed.
 */
#include "server/domain/evaluator/diff.h"

#define LINES_MAX UINT32_MAX

struct counting {
    uint32_t removed; /* removed lines of the hunk */
    uint32_t added;
    uint32_t total; /* total of the previous hunks */
    uint64_t old_left; /* remaining lines that the hunk header announced */
    uint64_t new_left;
};

static void end_hunk(struct counting *counting)
{
    uint32_t larger = counting->removed > counting->added ? counting->removed : counting->added;

    counting->total = larger > LINES_MAX - counting->total ? LINES_MAX : counting->total + larger;
    counting->removed = 0;
    counting->added = 0;
}

/* Reads `,count` after the first number of a range; a range without one has one line. */
static uint64_t read_range(struct slice line, uint8_t sign)
{
    size_t at = 0;
    uint64_t numbers[2] = {0, 1};

    while (at < line.size && line.data[at] != sign) {
        at++;
    }
    at++;
    for (size_t i = 0; i < 2 && at < line.size; i++) {
        numbers[i] = 0;
        while (at < line.size && line.data[at] >= '0' && line.data[at] <= '9') {
            numbers[i] = numbers[i] > LINES_MAX ? LINES_MAX
                                                : numbers[i] * 10 + (uint64_t)(line.data[at] - '0');
            at++;
        }
        if (at >= line.size || line.data[at] != ',') {
            break;
        }
        at++;
    }
    return numbers[1];
}

static bool is_file_head(struct slice line)
{
    return slice_starts_with(line, SLICE("--- ")) || slice_starts_with(line, SLICE("+++ "));
}

static void count_line(struct counting *counting, struct slice line)
{
    bool in_hunk = counting->old_left > 0 || counting->new_left > 0;
    uint8_t first = line.size > 0 ? line.data[0] : ' ';

    if (!in_hunk && slice_starts_with(line, SLICE("@@ "))) {
        end_hunk(counting);
        counting->old_left = read_range(line, '-');
        counting->new_left = read_range(line, '+');
    } else if (!in_hunk && (is_file_head(line) || (first != '+' && first != '-'))) {
        end_hunk(counting);
    } else if (first == '-') {
        counting->removed++;
        counting->old_left -= counting->old_left > 0 ? 1 : 0;
    } else if (first == '+') {
        counting->added++;
        counting->new_left -= counting->new_left > 0 ? 1 : 0;
    } else if (first != '\\') {
        counting->old_left -= counting->old_left > 0 ? 1 : 0;
        counting->new_left -= counting->new_left > 0 ? 1 : 0;
    }
}

uint32_t diff_count_lines(struct slice diff)
{
    struct counting counting = {.total = 0};
    struct slice rest = diff;

    while (rest.size > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t size = end != NULL ? (size_t)(end - rest.data) : rest.size;

        count_line(&counting, slice_of(rest.data, size));
        rest = slice_after(rest, end != NULL ? size + 1 : size);
    }
    end_hunk(&counting);
    return counting.total;
}
