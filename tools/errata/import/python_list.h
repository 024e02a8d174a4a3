/*
 * python_list.h: lists as Python prints them in cells of CSV files: `['a', 'b']`, or without commas as arrays of
 * numpy are printed. Turned into JSON.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_PYTHON_LIST_H
#define ERRATA_TOOLS_ERRATA_IMPORT_PYTHON_LIST_H

#include "store/base/json.h"

/* Returns the JSON array of a printed list of texts, numbers and None; JSON_NULL for any other text. */
struct json_value python_list_read(struct arena *arena, struct slice text);

#endif
