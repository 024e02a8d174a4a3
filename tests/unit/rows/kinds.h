/*
 * kinds.h: the same interface for every kind of record: it encodes a sample, and decodes bytes and
 * encodes them again.
 */
#ifndef ERRATA_TESTS_UNIT_ROWS_KINDS_H
#define ERRATA_TESTS_UNIT_ROWS_KINDS_H

#include "store/base/arena.h"
#include "store/base/err.h"

struct record_kind {
    const char *name; /* name in the headings of FORMAT.md */
    enum err (*sample)(struct arena *arena, struct slice *ret_bytes);
    /* Decodes, and encodes the result. */
    enum err (*again)(struct arena *arena, struct slice bytes, struct slice *ret_bytes);
};

#define RECORD_KIND_COUNT 39

extern const struct record_kind record_kinds[RECORD_KIND_COUNT];

#endif
