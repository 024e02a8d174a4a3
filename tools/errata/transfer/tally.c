/*
 * tally.c: see tally.h.
 */
#include "tools/errata/transfer/tally.h"

#include "store/base/buffer.h"
#include "store/base/json.h"
#include "tools/errata/terminal/table.h"

#include <stdio.h>

static const char *const kind_names[IMPORT_KIND_COUNT] = {
    "outputs to join", "corrections",         "reviews",  "verdicts",
    "proposed rules",  "proposed guidelines", "decisions"};

void tally_init(struct tally *tally)
{
    *tally = (struct tally){.created = 0};
    for (size_t i = 0; i < IMPORT_KIND_COUNT; i++) {
        tally->mapped[i].reason = kind_names[i];
    }
    tally->missing.reason = "corrections without a before";
    tally->damaged.reason = "damaged";
}

void tally_count(struct tally_line *line, const struct tally_place *place, struct slice id)
{
    if (line->count < TALLY_EXAMPLES_MAX) {
        (void)snprintf(line->examples[line->count], TALLY_EXAMPLE_BYTES_MAX, "%s:%llu%s%.*s",
                       place->path, (unsigned long long)place->line, id.size > 0 ? " " : "",
                       (int)(id.size < 40 ? id.size : 40), (const char *)id.data);
    }
    line->count++;
}

void tally_skip(struct tally *tally, const char *reason, const struct tally_place *place,
                struct slice id)
{
    size_t i = 0;

    while (i < tally->skipped_count && strcmp(tally->skipped[i].reason, reason) != 0) {
        i++;
    }
    if (i == TALLY_REASONS_MAX) {
        i--; /* counted with the last one; the sources have fewer reasons */
    } else if (i == tally->skipped_count) {
        tally->skipped[i].reason = reason;
        tally->skipped_count++;
    }
    tally_count(&tally->skipped[i], place, id);
}

/* --- as a table --- */

static bool add_row(struct table *table, struct arena *arena, const char *what, const char *reason,
                    const struct tally_line *line)
{
    struct slice cells[3];
    struct buffer examples;

    buffer_init(&examples, arena, 128);
    for (size_t i = 0; i < TALLY_EXAMPLES_MAX && i < line->count; i++) {
        buffer_printf(&examples, "%s%s", i > 0 ? ", " : "", line->examples[i]);
    }
    cells[0] = arena_printf(arena, "%s%s", what, reason);
    cells[1] = arena_printf(arena, "%llu", (unsigned long long)line->count);
    cells[2] = buffer_slice(&examples);
    return table_add(table, cells);
}

static bool add_sum(struct table *table, struct arena *arena, const char *what, uint64_t count)
{
    struct slice cells[3] = {slice_text(what),
                             arena_printf(arena, "%llu", (unsigned long long)count),
                             slice_of(NULL, 0)};

    return table_add(table, cells);
}

static void print_table(const struct tally *tally, struct cli *cli, bool stored)
{
    static const struct table_column columns[] = {
        {.title = "what", .min = 24},
        {.title = "count", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "first ones", .extra = 1}};
    struct table table;
    bool complete = true;

    table_init(&table, &cli->arena, columns, 3);
    for (size_t i = 0; i < IMPORT_KIND_COUNT; i++) {
        if (tally->mapped[i].count > 0) {
            complete &= add_row(&table, &cli->arena, "mapped: ", tally->mapped[i].reason,
                                &tally->mapped[i]);
        }
    }
    for (size_t i = 0; i < tally->skipped_count; i++) {
        complete &=
            add_row(&table, &cli->arena, "skipped: ", tally->skipped[i].reason, &tally->skipped[i]);
    }
    complete &= add_row(&table, &cli->arena, "before missing", "", &tally->missing);
    complete &= add_row(&table, &cli->arena, "damaged", "", &tally->damaged);
    if (stored) {
        complete &= add_sum(&table, &cli->arena, "stored: new", tally->created);
        complete &= add_sum(&table, &cli->arena, "stored: already there", tally->repeated);
        complete &= add_sum(&table, &cli->arena, "refused by the server", tally->refused);
    }
    if (!complete) {
        cli_note(cli, "the table is not complete: out of memory");
    }
    table_print(&table, &cli->out);
}

static void print_losses(const struct tally *tally, struct cli *cli,
                         const struct import_source *source)
{
    for (size_t i = 0; source->losses != NULL && source->losses[i].what != NULL; i++) {
        if (tally->lost[i]) {
            print_text(&cli->out, "\nmissing: %s; to fetch it:\n  %s\n", source->losses[i].what,
                       source->losses[i].command);
        }
    }
}

/* --- as JSON --- */

static void add_text(struct buffer *json, const char *name, const char *text)
{
    buffer_printf(json, "\"%s\":", name);
    json_write_string(json, slice_text(text), false);
}

static void add_examples(struct buffer *json, const struct tally_line *line)
{
    buffer_printf(json, "\"count\":%llu,\"examples\":[", (unsigned long long)line->count);
    for (size_t i = 0; i < TALLY_EXAMPLES_MAX && i < line->count; i++) {
        buffer_append(json, i > 0 ? SLICE(",") : SLICE(""));
        json_write_string(json, slice_text(line->examples[i]), false);
    }
    buffer_append_byte(json, ']');
}

static void add_losses(struct buffer *json, const struct tally *tally,
                       const struct import_source *source)
{
    bool has_one = false;

    for (size_t i = 0; source->losses != NULL && source->losses[i].what != NULL; i++) {
        if (tally->lost[i]) {
            buffer_append(json, has_one ? SLICE(",{") : SLICE("{"));
            add_text(json, "what", source->losses[i].what);
            buffer_append_byte(json, ',');
            add_text(json, "command", source->losses[i].command);
            buffer_append_byte(json, '}');
            has_one = true;
        }
    }
}

static void add_lines(struct buffer *json, const struct tally_line *lines, size_t count,
                      const char *name)
{
    bool has_one = false;

    for (size_t i = 0; i < count; i++) {
        if (lines[i].count > 0) {
            buffer_append(json, has_one ? SLICE(",{") : SLICE("{"));
            add_text(json, name, lines[i].reason);
            buffer_append_byte(json, ',');
            add_examples(json, &lines[i]);
            buffer_append_byte(json, '}');
            has_one = true;
        }
    }
}

static void print_object(const struct tally *tally, struct cli *cli,
                         const struct import_source *source, bool stored)
{
    struct buffer json;

    buffer_init(&json, &cli->arena, 1024);
    buffer_append(&json, SLICE("{\"mapped\":["));
    add_lines(&json, tally->mapped, IMPORT_KIND_COUNT, "kind");
    buffer_append(&json, SLICE("],\"skipped\":["));
    add_lines(&json, tally->skipped, tally->skipped_count, "reason");
    buffer_append(&json, SLICE("],\"before_missing\":{"));
    add_examples(&json, &tally->missing);
    buffer_append(&json, SLICE("},\"damaged\":{"));
    add_examples(&json, &tally->damaged);
    buffer_append(&json, SLICE("},\"losses\":["));
    add_losses(&json, tally, source);
    buffer_append_byte(&json, ']');
    if (stored) {
        buffer_printf(&json, ",\"created\":%llu,\"repeated\":%llu,\"refused\":%llu",
                      (unsigned long long)tally->created, (unsigned long long)tally->repeated,
                      (unsigned long long)tally->refused);
    }
    buffer_append_byte(&json, '}');
    if (buffer_ok(&json)) {
        print_json(&cli->out, buffer_slice(&json));
    }
}

void tally_print(const struct tally *tally, struct cli *cli, const struct import_source *source,
                 bool stored)
{
    arena_reset(&cli->arena);
    if (cli->json) {
        print_object(tally, cli, source, stored);
        return;
    }
    print_table(tally, cli, stored);
    print_losses(tally, cli, source);
}
