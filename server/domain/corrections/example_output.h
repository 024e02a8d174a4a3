/*
 * example_output.h: the output that an example shows, and why an event has none. Works on values only: it
 * decides nothing about layouts, nor about which examples a request is served.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_OUTPUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_OUTPUT_H

#include "store/base/arena.h"
#include "store/base/err.h"

#include <errata/v1/warning.fields.h>

/* Selects the output of an event: the corrected output, or without one the after. */
static inline struct slice example_output_of(struct slice after_json,
                                             struct slice corrected_output_json)
{
    return corrected_output_json.size > 0 ? corrected_output_json : after_json;
}

/* Returns the output without the members that reduce_object replaced or counted: any top-level member
 * `truncated_bytes`, or whose value is an object with only that member. `ret_output` is borrowed if there
 * are none, else in the arena; `ret_cut` is then true. Fails only with ERR_MEMORY. */
MUST_CHECK enum err example_output_cut(struct arena *arena, struct slice output,
                                       struct slice *ret_output, bool *ret_cut);
/* Finds why an output is not an example: WARNING_CODE_NO_OUTPUT, _OUTPUT_UNCHANGED, or, if no member
 * that differs from the before is left in `output`, which example_output_cut returned for `given`,
 * _OUTPUT_LOST. WARNING_CODE_UNSPECIFIED if it is one. `before` and `given` are the texts before they were
 * reduced, if they are known. Fails only with ERR_MEMORY. */
MUST_CHECK enum err example_output_check(struct arena *arena, struct slice before,
                                         struct slice given, struct slice output,
                                         enum warning_code *ret_reason);

#endif
