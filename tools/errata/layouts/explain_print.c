/*
 * explain_print.c: see explain.h. It shows each number that a fingerprint depends on, and its origin.
 */
#include "tools/errata/layouts/explain.h"

#include "tools/errata/layouts/measures.h"

/* Limits of the printed canonical JSON and of the printed text. */
#define CANONICAL_SHOWN_BYTES 400
#define TEXT_LINES_SHOWN 12

static const char *sandbox_text(enum pdf_sandbox sandbox)
{
    switch (sandbox) {
    case PDF_SANDBOX_NONE:
        return "none: this worker was built with a sanitizer";
    case PDF_SANDBOX_LANDLOCK:
        return "limits, Landlock and seccomp: fonts and CMaps could be read, nothing else";
    case PDF_SANDBOX_CLOSED:
        return "limits and seccomp: no file could be opened, not even CMaps (no Landlock here)";
    }
    return "";
}

static const char *reason_text(enum pdf_reason reason)
{
    switch (reason) {
    case PDF_READ:
        return "it was read";
    case PDF_NOT_A_PDF:
        return "it is not a PDF";
    case PDF_DAMAGED:
        return "it is damaged beyond repair";
    case PDF_ENCRYPTED:
        return "it is encrypted, and the password is missing or wrong";
    case PDF_NO_PAGES:
        return "it has no pages";
    case PDF_TOO_MANY_PAGES:
        return "it has more than 5,000 pages";
    case PDF_PAGE_UNREADABLE:
        return "one of its pages can't be opened";
    case PDF_TEXT_LIMIT:
        return "its text can't be read within 5 s of CPU, 8 s and 512 MiB";
    case PDF_CRASHED:
        return "the worker crashed before its text was read";
    case PDF_WALL_LIMIT:
        return "its text was not read within 8 s, because the machine was busy";
    }
    return "";
}

static const char *cut_text(enum pdf_cut cut)
{
    switch (cut) {
    case PDF_CUT_NONE:
        return "";
    case PDF_CUT_PATHS:
        return "not counted: page 1 has over 200,000 path operations";
    case PDF_CUT_RULINGS:
        return "not counted: page 1 has over 20,000 lines in one direction, or over 200,000 pieces "
               "of lines";
    case PDF_CUT_WORDS:
        return "not counted: page 1 has over 100,000 words, or fewer in too many possible tables";
    case PDF_CUT_LIMIT:
        return "not counted: stopped by the limits of time or memory, or by a crash";
    }
    return "";
}

static const char *cut_code(enum pdf_cut cut)
{
    switch (cut) {
    case PDF_CUT_NONE:
        return "";
    case PDF_CUT_PATHS:
        return "paths";
    case PDF_CUT_RULINGS:
        return "rulings";
    case PDF_CUT_WORDS:
        return "words";
    case PDF_CUT_LIMIT:
        return "limit";
    }
    return "";
}

/* --- tables --- */

static bool has_ruled_table(const struct pdf_explanation *explanation)
{
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        if (explanation->tables[i].counted && explanation->tables[i].kind != PDF_TABLE_TEXT) {
            return true;
        }
    }
    return false;
}

static const char *verdict(const struct pdf_explanation *explanation, const struct pdf_table *table)
{
    if (table->counted) {
        return "yes";
    }
    if (table->kind == PDF_TABLE_TEXT && has_ruled_table(explanation)) {
        return "no: beside a table with lines";
    }
    if (table->kind == PDF_TABLE_TEXT && table->rows < 5) {
        return "no: it has under 5 rows and no lines";
    }
    return "no: it overlaps a stronger one";
}

static void print_tables(struct cli *cli, const struct pdf_explanation *explanation)
{
    static const struct table_column columns[] = {
        {.title = "KIND", .cut = TABLE_NEVER_CUT},
        {.title = "LEFT", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "TOP", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "RIGHT", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "BOTTOM", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "ROWS", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "CELLS", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "COUNTS"}};
    struct table table;
    bool added = true;

    table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < explanation->table_count && added; i++) {
        const struct pdf_table *found = &explanation->tables[i];
        const struct slice cells[] = {slice_text(pdf_table_kind_name(found->kind)),
                                      arena_printf(&cli->arena, "%.0f", (double)found->box.x1),
                                      arena_printf(&cli->arena, "%.0f", (double)found->box.y1),
                                      arena_printf(&cli->arena, "%.0f", (double)found->box.x2),
                                      arena_printf(&cli->arena, "%.0f", (double)found->box.y2),
                                      arena_printf(&cli->arena, "%u", (unsigned)found->rows),
                                      arena_printf(&cli->arena, "%u", (unsigned)found->cells),
                                      slice_text(verdict(explanation, found))};

        added = table_add(&table, cells);
    }
    if (table.row_count > 0) {
        print_text(&cli->out, "\n");
        table_print(&table, &cli->out);
        print_text(&cli->out, "\n");
    }
}

/* --- for people --- */

static void print_lines(struct cli *cli, const struct pdf_explanation *explanation)
{
    uint32_t across = 0;

    for (uint32_t i = 0; i < explanation->ruling_count; i++) {
        across += explanation->rulings[i].y1 == explanation->rulings[i].y2 ? 1 : 0;
    }
    reply_print_member(
        cli, "lines",
        arena_printf(&cli->arena,
                     "%u horizontal and %u vertical, after pieces of one line were joined",
                     (unsigned)across, (unsigned)(explanation->ruling_count - across)));
    reply_print_member(
        cli, "",
        arena_printf(
            &cli->arena,
            "from %u path operations; %u more are ignored: white, clear or around the page",
            (unsigned)explanation->path_operations, (unsigned)explanation->rulings_ignored));
}

static void print_pages(struct cli *cli, const struct document_measures *measures)
{
    struct measures_runs runs;

    reply_print_member(cli, "pages",
                       arena_printf(&cli->arena, "%u", (unsigned)measures->page_count));
    measures_runs_begin(&runs, cli);
    for (uint32_t i = 0; i < measures->page_count; i++) {
        measures_runs_add(&runs, measures_size(cli, fingerprint_round(measures->pages[i].width),
                                               fingerprint_round(measures->pages[i].height)));
    }
    measures_runs_end(&runs);
}

static void print_text_measures(struct cli *cli, const struct explained *explained)
{
    const struct document_measures *measures = &explained->measures;
    const struct pdf_explanation *explanation = &explained->answer.explanation;

    reply_print_member(
        cli, "text",
        explained->answer.explained
            ? arena_printf(&cli->arena, "%u characters on page 1: %u glyphs in %u words",
                           (unsigned)measures->page_one_chars, (unsigned)explanation->glyphs,
                           (unsigned)explanation->words)
            : arena_printf(&cli->arena, "%u characters on page 1",
                           (unsigned)measures->page_one_chars));
    if (measures->pages_read > 1) {
        reply_print_member(
            cli, "",
            arena_printf(&cli->arena, "%u characters on the first %u pages, read for the text",
                         (unsigned)measures->text_chars, (unsigned)measures->pages_read));
    }
    if (measures->page_cells == 0) {
        reply_print_member(cli, "coverage",
                           SLICE("0, since page 1 has a side of more than 4,000 points"));
        return;
    }
    reply_print_member(
        cli, "coverage",
        arena_printf(&cli->arena,
                     "%g of page 1: its glyphs cover %llu of its %llu cells of one point",
                     fingerprint_coverage(measures), (unsigned long long)measures->covered_cells,
                     (unsigned long long)measures->page_cells));
}

/* Prints the features of the sketch of page 1. */
static void print_sketch(struct cli *cli, const struct family_sketch *sketch)
{
    uint32_t counts[FAMILY_FEATURE_KINDS];

    if (sketch->count == 0) {
        reply_print_member(cli, "family",
                           arena_printf(&cli->arena,
                                        "none: page 1 has fewer than %d features to compare",
                                        FAMILY_SKETCH_FEATURES_MIN));
        return;
    }
    family_sketch_count(sketch, counts);
    reply_print_member(
        cli, "family",
        arena_printf(&cli->arena, "compared by %u features of page 1%s: %u words at their places,",
                     (unsigned)sketch->count,
                     sketch->count == FAMILY_SKETCH_FEATURES_MAX ? ", the maximum" : "",
                     (unsigned)counts[FAMILY_FEATURE_WORD]));
    reply_print_member(
        cli, "",
        arena_printf(
            &cli->arena, "%u vertical lines, %u horizontal lines, %u fonts and sizes, %u page size",
            (unsigned)counts[FAMILY_FEATURE_VERTICAL], (unsigned)counts[FAMILY_FEATURE_HORIZONTAL],
            (unsigned)counts[FAMILY_FEATURE_FONT], (unsigned)counts[FAMILY_FEATURE_PAGE]));
}

static void print_fingerprint(struct cli *cli, const struct explained *explained)
{
    const struct document_measures *measures = &explained->measures;
    struct slice canonical = explained->fingerprint.canonical_json;

    if (!measures->has_table_count) {
        reply_print_member(cli, "layout", SLICE("none: an incomplete measurement is never hashed"));
        return;
    }
    reply_print_member(cli, "hashed",
                       canonical.size <= CANONICAL_SHOWN_BYTES
                           ? canonical
                           : arena_printf(&cli->arena, "%.*s... (%zu bytes; --json has them all)",
                                          CANONICAL_SHOWN_BYTES, (const char *)canonical.data,
                                          canonical.size));
    reply_print_member(cli, "layout",
                       slice_of(explained->fingerprint.text, sizeof(explained->fingerprint.text)));
}

static void print_warnings(struct cli *cli, const struct document_measures *measures)
{
    struct document_warning warnings[DOCUMENT_WARNINGS_MAX];
    size_t count = document_warnings(measures, warnings);

    for (size_t i = 0; i < count; i++) {
        reply_print_member(cli, "warning",
                           measures_warning(cli, warnings[i].name, warnings[i].message));
    }
}

static void print_cost(struct cli *cli, const struct explained *explained)
{
    const struct pdf_answer *answer = &explained->answer;

    reply_print_member(cli, "cost",
                       arena_printf(&cli->arena,
                                    "%.1f ms of CPU and %.*s of memory, %.1f ms in all",
                                    (double)answer->cpu_us / 1000,
                                    (int)measures_bytes(cli, answer->memory_bytes).size,
                                    (const char *)measures_bytes(cli, answer->memory_bytes).data,
                                    (double)explained->took_us / 1000));
    reply_print_member(cli, "sandbox", slice_text(sandbox_text(explained->sandbox)));
    reply_print_member(cli, "measured by",
                       arena_printf(&cli->arena, "rules %d, Poppler %s", PDF_RULES_VERSION,
                                    explained->poppler_version));
}

static void print_refusal(struct cli *cli, const struct explained *explained)
{
    enum pdf_reason reason = explained->answer.reason;
    const char *advice = measures_advice(slice_text(pdf_reason_code(reason)));

    print_coloured(&cli->out, COLOUR_RED, SLICE("refused      "));
    print_text(&cli->out, " %s: %s\n", pdf_reason_code(reason), reason_text(reason));
    if (advice != NULL) {
        reply_print_member(cli, "what to do", slice_text(advice));
    }
}

void explain_print(struct cli *cli, const struct explained *explained)
{
    const struct pdf_answer *answer = &explained->answer;
    char sha256[2 * SHA256_BYTES];

    sha256_format(&explained->sha256, sha256);
    reply_print_member(cli, "file", slice_text(explained->path));
    reply_print_member(
        cli, "bytes", arena_printf(&cli->arena, "%llu", (unsigned long long)explained->size_bytes));
    reply_print_member(cli, "sha256", slice_of(sha256, sizeof(sha256)));
    if (answer->reason != PDF_READ) {
        print_refusal(cli, explained);
        print_cost(cli, explained);
        return;
    }
    print_pages(cli, &explained->measures);
    print_text_measures(cli, explained);
    if (answer->explained) {
        print_lines(cli, &answer->explanation);
    }
    reply_print_member(
        cli, "tables",
        answer->cut != PDF_CUT_NONE
            ? slice_text(cut_text(answer->cut))
            : arena_printf(&cli->arena, "%u on page 1", (unsigned)answer->tables.table_count));
    if (answer->explained) {
        print_tables(cli, &answer->explanation);
    }
    print_fingerprint(cli, explained);
    if (explained->measures.has_table_count) {
        print_sketch(cli, &explained->measures.sketch);
    }
    print_warnings(cli, &explained->measures);
    print_cost(cli, explained);
    if (explained->measures.input_snippet.size > 0) {
        print_text(&cli->out, "\nIts text begins:\n");
        measures_print_text(cli, "  ", explained->measures.input_snippet, TEXT_LINES_SHOWN);
    }
}

/* --- for programs --- */

static void add_table_json(struct buffer *json, const struct pdf_explanation *explanation,
                           const struct pdf_table *table)
{
    buffer_printf(json,
                  "{\"kind\":\"%s\",\"box\":[%.2f,%.2f,%.2f,%.2f],\"rows\":%u,\"cells\":%u,"
                  "\"counted\":%s,\"verdict\":",
                  pdf_table_kind_name(table->kind), (double)table->box.x1, (double)table->box.y1,
                  (double)table->box.x2, (double)table->box.y2, (unsigned)table->rows,
                  (unsigned)table->cells, table->counted ? "true" : "false");
    json_write_string(json, slice_text(verdict(explanation, table)), false);
    buffer_append_byte(json, '}');
}

static void add_explanation_json(struct buffer *json, const struct pdf_explanation *explanation)
{
    buffer_printf(
        json,
        ",\"glyphs\":%u,\"words\":%u,\"pathOperations\":%u,\"rulingsIgnored\":%u,\"rulings\":[",
        (unsigned)explanation->glyphs, (unsigned)explanation->words,
        (unsigned)explanation->path_operations, (unsigned)explanation->rulings_ignored);
    for (uint32_t i = 0; i < explanation->ruling_count; i++) {
        const struct pdf_box *box = &explanation->rulings[i];

        buffer_printf(json, "%s[%.2f,%.2f,%.2f,%.2f]", i > 0 ? "," : "", (double)box->x1,
                      (double)box->y1, (double)box->x2, (double)box->y2);
    }
    buffer_append(json, SLICE("],\"tables\":["));
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        buffer_append(json, i > 0 ? SLICE(",") : SLICE(""));
        add_table_json(json, explanation, &explanation->tables[i]);
    }
    buffer_append_byte(json, ']');
}

static void add_sketch_json(struct buffer *json, const struct family_sketch *sketch)
{
    uint32_t counts[FAMILY_FEATURE_KINDS];

    family_sketch_count(sketch, counts);
    buffer_printf(json,
                  ",\"sketch\":{\"words\":%u,\"verticalRulings\":%u,\"horizontalRulings\":%u,"
                  "\"fonts\":%u,\"pageSizes\":%u,\"features\":[",
                  (unsigned)counts[FAMILY_FEATURE_WORD], (unsigned)counts[FAMILY_FEATURE_VERTICAL],
                  (unsigned)counts[FAMILY_FEATURE_HORIZONTAL],
                  (unsigned)counts[FAMILY_FEATURE_FONT], (unsigned)counts[FAMILY_FEATURE_PAGE]);
    for (uint32_t i = 0; i < sketch->count; i++) {
        buffer_printf(json, "%s%lu", i > 0 ? "," : "", (unsigned long)sketch->features[i]);
    }
    buffer_append(json, SLICE("]}"));
}

static void add_measures_json(struct buffer *json, const struct explained *explained)
{
    const struct document_measures *measures = &explained->measures;
    struct document_warning warnings[DOCUMENT_WARNINGS_MAX];
    size_t count = document_warnings(measures, warnings);

    buffer_printf(json,
                  ",\"pagesRead\":%u,\"textChars\":%u,\"pageOneChars\":%u,\"coveredCells\":%llu,"
                  "\"pageCells\":%llu,\"warnings\":[",
                  (unsigned)measures->pages_read, (unsigned)measures->text_chars,
                  (unsigned)measures->page_one_chars, (unsigned long long)measures->covered_cells,
                  (unsigned long long)measures->page_cells);
    for (size_t i = 0; i < count; i++) {
        buffer_append(json, i > 0 ? SLICE(",") : SLICE(""));
        buffer_printf(json,
                      "{\"code\":\"WARNING_CODE_%.*s\",\"message\":", SLICE_ARGS(warnings[i].name));
        json_write_string(json, warnings[i].message, false);
        buffer_append_byte(json, '}');
    }
    buffer_append(json, SLICE("],\"inputSnippet\":"));
    json_write_string(json, measures->input_snippet, false);
    if (measures->has_table_count) {
        buffer_append(json, SLICE(",\"metadata\":"));
        buffer_append(json, explained->fingerprint.canonical_json);
        buffer_append(json, SLICE(",\"canonicalJson\":"));
        json_write_string(json, explained->fingerprint.canonical_json, false);
        buffer_printf(json, ",\"layoutFingerprint\":\"%.*s\"",
                      (int)sizeof(explained->fingerprint.text), explained->fingerprint.text);
        add_sketch_json(json, &measures->sketch);
    } else {
        buffer_printf(json, ",\"cut\":\"%s\"", cut_code(explained->answer.cut));
    }
}

void explain_print_json(struct cli *cli, const struct explained *explained)
{
    const struct pdf_answer *answer = &explained->answer;
    char sha256[2 * SHA256_BYTES];
    struct buffer json;

    sha256_format(&explained->sha256, sha256);
    buffer_init(&json, &cli->arena, 65536);
    buffer_append(&json, SLICE("{\"file\":"));
    json_write_string(&json, slice_text(explained->path), false);
    buffer_printf(&json, ",\"sizeBytes\":%llu,\"sha256\":\"%.*s\"",
                  (unsigned long long)explained->size_bytes, (int)sizeof(sha256), sha256);
    if (answer->reason != PDF_READ) {
        buffer_printf(&json, ",\"reason\":\"%s\"", pdf_reason_code(answer->reason));
    } else {
        add_measures_json(&json, explained);
        if (answer->explained) {
            add_explanation_json(&json, &answer->explanation);
        }
    }
    buffer_printf(&json, ",\"cpuUs\":%llu,\"memoryBytes\":%llu,\"tookUs\":%lld,\"sandbox\":",
                  (unsigned long long)answer->cpu_us, (unsigned long long)answer->memory_bytes,
                  (long long)explained->took_us);
    json_write_string(&json, slice_text(sandbox_text(explained->sandbox)), false);
    buffer_printf(&json, ",\"popplerVersion\":");
    json_write_string(&json, slice_text(explained->poppler_version), false);
    buffer_append_byte(&json, '}');
    print_json(&cli->out, buffer_slice(&json));
}
