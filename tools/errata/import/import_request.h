/*
 * import_request.h: converts a row of the normal form to the request that stores it, the lookup of the stored
 * row, and its source_ref, all in proto JSON. Makes no calls.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_IMPORT_REQUEST_H
#define ERRATA_TOOLS_ERRATA_IMPORT_IMPORT_REQUEST_H

#include "tools/errata/import/source.h"

/* Maximum bytes of an id in the contract; a longer id is replaced by its digest. */
#define IMPORT_OPAQUE_BYTES_MAX 128
/* Maximum characters of the model's input that a correction keeps. */
#define IMPORT_SNIPPET_CHARACTERS_MAX 1500

struct import_request {
    const char *method; /* path of the method that stores it */
    struct slice json;
    const char *lookup_method; /* NULL: the server itself refuses a repeated one */
    struct slice lookup;
    struct slice ref; /* `source_ref`: tool, type and the record's own id */
};

/* Makes the requests of a row, in the arena; false if memory is missing. The row comes from import_put,
 * completed by the output that it is about. */
MUST_CHECK bool import_request_make(struct arena *arena, const struct import_source *source,
                                    const struct import_choices *choices,
                                    const struct import_row *row,
                                    struct import_request *ret_request);
/* Returns whether the reply to the lookup, in proto JSON, has the row. */
bool import_request_is_stored(struct arena *arena, const struct import_row *row,
                              const struct import_request *request, struct json_value reply);
/* Returns a value as the object of a `_json` field: itself, `{"text": ...}` or `{"value": ...}`; JSON_NULL for
 * an unknown value. */
struct json_value import_request_object(struct arena *arena, struct json_value value);

#endif
