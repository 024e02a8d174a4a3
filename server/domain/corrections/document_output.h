/*
 * document_output.h: the output of an example that shows all corrections of a document: the newest corrected output if
 * there is one; else the members of the corrected header fields, and the corrected lines as `lines`, one per entity.
 * Works on values only.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_OUTPUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_OUTPUT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Corrections of one document in one example: the newest. */
#define DOCUMENT_PARTS_MAX 50

/* One correction of a document. Texts are checked JSON objects, or empty. */
struct document_part {
    bool is_line; /* EXTRACTION_LINE_CORRECTED; else EXTRACTION_FIELD_CORRECTED */
    bool is_whole; /* `output` is a corrected_output_json */
    bool reduced;
    struct slice entity_type;
    struct slice entity_id; /* one of the two empty: the correction names no entity */
    struct slice before;
    struct slice output;
};

/* What the parts give together. */
struct document_output {
    struct slice json; /* an object; borrowed from a part, or in the arena */
    bool partial; /* it is not a whole result */
    bool reduced; /* a part of it was reduced */
};

/* Merges 1 to DOCUMENT_PARTS_MAX parts, newest first. A member that several parts have is that of the newest one. Line
 * corrections of one entity become one item; one that names no entity is an item of its own. An item also has the context
 * members (reduce.h) of what was corrected. Items are in the order of their `line_no`, if that is an integer; items
 * without one follow, in the order of their first correction. A header's own member `lines` is omitted if there are
 * items. Fails only with ERR_MEMORY. */
MUST_CHECK enum err document_output_merge(struct arena *arena, const struct document_part *parts,
                                          size_t count, struct document_output *ret_output);

#endif
