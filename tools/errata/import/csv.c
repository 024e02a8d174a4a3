/*
 * csv.c: any CSV file or JSON lines whose columns the command line names (`--map COLUMN=FIELD`). The fields
 * determine the kind of a row.
 */
#include "tools/errata/import/mapping.h"

#include "store/base/sha256.h"

/* A row without a column for its id has the digest of its bytes, so that the same row is the same record. */
static void set_id(struct import_call *call, struct json_value record, struct import_row *row)
{
    struct sha256_digest digest = sha256(record.text);
    char hex[2 * SHA256_BYTES];

    if (row->text[IMPORT_ID].size == 0) {
        sha256_format(&digest, hex);
        row->text[IMPORT_ID] = arena_printf(call->arena, "%.*s", (int)sizeof(hex) / 2, hex);
    }
}

static void read_mapped(struct import_call *call, struct json_value record, struct import_row *row)
{
    import_fill(call, record, call->choices->map, row);
    set_id(call, record, row);
    row->type = "row";
    if (row->text[IMPORT_CORRECT_VERDICT].size > 0) {
        row->kind = IMPORT_VERDICT;
    } else if (row->text[IMPORT_PATTERN].size > 0) {
        row->kind = IMPORT_RULE;
    } else if (row->text[IMPORT_RULE_CONTENT].size > 0) {
        row->kind = IMPORT_GUIDELINE;
    } else if (row->text[IMPORT_GATE].size > 0) {
        row->kind = IMPORT_AGENT_DECISION;
    } else if (row->text[IMPORT_AFTER].size > 0) {
        row->kind = IMPORT_CORRECTION;
    } else if (row->text[IMPORT_BEFORE].size > 0 && row->text[IMPORT_VALUE].size == 0 &&
               row->text[IMPORT_DECISION].size == 0 && row->text[IMPORT_NOTES].size == 0) {
        row->kind = IMPORT_OUTPUT;
        row->text[IMPORT_ID] =
            row->text[row->text[IMPORT_SUBJECT].size > 0 ? IMPORT_SUBJECT : IMPORT_ID];
    } else {
        row->kind = IMPORT_REVIEW;
    }
    import_put(call, row);
}

static const struct import_shape shapes[] = {
    {.name = "row", .needs = {NULL}, .type = "row", .read = read_mapped}, {.name = NULL}};

const struct import_source import_csv = {
    .name = "csv", .title = "CSV or JSON lines with --map", .shapes = shapes};
