/*
 * errata.c: corrections that `errata export jsonl` wrote, version 1 of that format: stored with all their members
 * unchanged, except the ids that the server makes.
 */
#include "tools/errata/import/mapping.h"

static void read_event(struct import_call *call, struct json_value record, struct import_row *row)
{
    row->raw = record;
    row->after = record;
    import_put(call, row);
}

static const struct import_member members[] = {
    {IMPORT_ID, "id"}, {IMPORT_AT, "created_at"}, {IMPORT_NO_FIELD, NULL}};

static const struct import_shape shapes[] = {{.name = "correction",
                                              .needs = {"event_type", "created_at", "id"},
                                              .kind = IMPORT_CORRECTION,
                                              .type = "correction",
                                              .members = members,
                                              .read = read_event},
                                             {.name = NULL}};

const struct import_source import_errata = {.name = "errata", .title = "Errata", .shapes = shapes};
