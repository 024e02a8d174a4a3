/*
 * corrected_fields.h: the fields of entities that the events seen so far corrected. Of events in the order
 * newest first, one is superseded if each of its fields was corrected again later.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_CORRECTED_FIELDS_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_CORRECTED_FIELDS_H

#include "store/base/json.h"

/* Maximum number of fields, in 2 GiB of memory; larger exports must be split by layout or time. */
#define CORRECTED_FIELDS_MAX ((size_t)128 * 1024 * 1024)

struct corrected_fields {
    uint64_t *hashes; /* owned: open addressing; 0 is free */
    size_t capacity;
    size_t count;
};

/* Records the fields of an event, a FeedbackEvent in proto JSON, and sets whether all of them were recorded
 * before. An event without an entity or without fields is never superseded. ERR_MEMORY. */
MUST_CHECK enum err corrected_fields_add(struct corrected_fields *fields, struct arena *arena,
                                         struct json_value event, bool *ret_superseded);
void corrected_fields_deinit(struct corrected_fields *fields);

#endif
