/*
 * mapping.h: the shared functions of the readers of sources: they fill rows by tables of members, judge
 * outcomes, and pass rows to the sink.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_MAPPING_H
#define ERRATA_TOOLS_ERRATA_IMPORT_MAPPING_H

#include "tools/errata/import/source.h"

/* Sets the fields of a row from a record. */
void import_fill(struct import_call *call, struct json_value record,
                 const struct import_member *members, struct import_row *row);
/* Passes a row to the sink, after a check for the fields that its kind needs. An outcome's decision follows from
 * its value, unless it has one. */
void import_put(struct import_call *call, const struct import_row *given);
void import_skip(struct import_call *call, const char *reason, struct slice id);
void import_damaged(struct import_call *call, const char *format, ...) PRINTF_LIKE(2, 3);
void import_lose(struct import_call *call, size_t loss);
/* Returns the text of a literal, for a field. */
#define IMPORT_TEXT(row, field, literal) ((row)->text[field] = slice_text(literal))
/* Returns HUMAN, CODE or LLM for a tool's word, such as `model`, `AI_JUDGE` or `app`; empty for an unknown
 * one. */
struct slice import_annotator(struct slice word);
/* Returns whether the meaning of a label is known from its words or from the command line. */
bool import_knows_label(const struct import_call *call, struct slice label);
/* Returns an id composed of several, in the arena. */
struct slice import_join_ids(struct import_call *call, struct slice a, struct slice b);

#endif
