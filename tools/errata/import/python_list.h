/*
 * python_list.h: converts lists that Python printed in cells of CSV files to JSON: `['a', 'b']`, or arrays of
 * numpy, which have no commas.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_PYTHON_LIST_H
#define ERRATA_TOOLS_ERRATA_IMPORT_PYTHON_LIST_H

#include "store/base/json.h"

/* Returns the JSON array of a printed list of texts, numbers and None; JSON_NULL for any other text. */
struct json_value python_list_read(struct arena *arena, struct slice text);

#endif
