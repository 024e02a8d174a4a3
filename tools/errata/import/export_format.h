/*
 * export_format.h: the formats of exported corrections: JSON lines that `errata import errata` reads, chat messages
 * for fine-tuning, and OpenTelemetry log records of the event `gen_ai.evaluation.result`.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_EXPORT_FORMAT_H
#define ERRATA_TOOLS_ERRATA_IMPORT_EXPORT_FORMAT_H

#include "tools/errata/import/fields.h"

struct export_choices {
    struct slice system; /* the system message of each conversation; or empty */
};

struct export_format {
    const char *name; /* NULL ends the list */
    bool is_for_training; /* leaves out values that were corrected again */
    /* Appends a line without its line feed for an event, a FeedbackEvent in proto JSON. Returns NULL, or the reason
     * why the event is left out, a literal. */
    const char *(*write)(struct arena *arena, struct json_value event,
                         const struct export_choices *choices, struct buffer *line);
};

extern const struct export_format export_formats[];

/* Finds a format by its name; NULL for another name. */
const struct export_format *export_format_find(const char *name);

#endif
