/*
 * document_output.h: the output of an example that shows all corrections of a document: the newest corrected output if
 * there is one; else the members of the corrected header fields, and the corrected lines as `lines`, one per entity.
 * Works on values only.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_OUTPUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_OUTPUT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Maximum corrections of a document in one example; the newest are used. */
#define DOCUMENT_PARTS_MAX 50

/* One correction of a document. Texts are checked JSON objects, or empty. */
struct document_part {
    bool is_line; /* EXTRACTION_LINE_CORRECTED; else EXTRACTION_FIELD_CORRECTED */
    bool is_whole; /* `output` is a corrected_output_json */
    bool reduced;
    struct slice entity_type;
    struct slice entity_id; /* one of the two is empty: the correction names no entity */
    struct slice before;
    struct slice output;
};

/* The merged output. */
struct document_output {
    struct slice json; /* an object; borrowed from a part, or in the arena */
    bool partial; /* the output does not have all members of the result */
    bool reduced; /* at least one part was reduced */
};

/* Merges 1 to DOCUMENT_PARTS_MAX parts, newest first. If several parts have a member, the value of the newest
 * one is used. Line corrections of the same entity become one item; a line correction without entity becomes
 * its own item. An item also has the context members (reduce.h) of the corrected value. Items are sorted by
 * `line_no` if it is an integer; items without one follow, in the order of their first correction. A header's
 * own member `lines` is omitted if there are items. Fails only with ERR_MEMORY. */
MUST_CHECK enum err document_output_merge(struct arena *arena, const struct document_part *parts,
                                          size_t count, struct document_output *ret_output);

#endif
