/*
 * corrected_fields.h: which fields of which entities were corrected by the events seen so far. Of events that come
 * newest first, one is superseded if each of its fields was corrected again later.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_CORRECTED_FIELDS_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_CORRECTED_FIELDS_H

#include "store/base/json.h"

/* 2 GiB of memory; beyond that, export by layout or time. */
#define CORRECTED_FIELDS_MAX ((size_t)128 * 1024 * 1024)

struct corrected_fields {
    uint64_t *hashes; /* owned: open addressing; 0 is free */
    size_t capacity;
    size_t count;
};

/* Notes the fields of an event, a FeedbackEvent in proto JSON, and sets whether all of them were noted before. An
 * event without an entity or without fields is never superseded. ERR_MEMORY. */
MUST_CHECK enum err corrected_fields_add(struct corrected_fields *fields, struct arena *arena,
                                         struct json_value event, bool *ret_superseded);
void corrected_fields_deinit(struct corrected_fields *fields);

#endif
