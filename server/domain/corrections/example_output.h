/*
 * example_output.h: the output that an example shows, and the reason why an event is not an example. Works on
 * values only; knows nothing of layouts and requests.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_OUTPUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_OUTPUT_H

#include "store/base/arena.h"
#include "store/base/err.h"

#include <errata/v1/warning.fields.h>

/* Selects the output of an event: the corrected output, or `after` if there is none. */
static inline struct slice example_output_of(struct slice after_json,
                                             struct slice corrected_output_json)
{
    return corrected_output_json.size > 0 ? corrected_output_json : after_json;
}

/* Returns the output without the members that reduce_object inserted: a top-level member `truncated_bytes`, and
 * members whose value is an object with only that member. `ret_output` is borrowed if there are none; otherwise
 * it is in the arena and `ret_cut` is true. Fails only with ERR_MEMORY. */
MUST_CHECK enum err example_output_cut(struct arena *arena, struct slice output,
                                       struct slice *ret_output, bool *ret_cut);
/* Finds why an output is not an example: WARNING_CODE_NO_OUTPUT, _OUTPUT_UNCHANGED, or _OUTPUT_LOST if
 * `output`, which example_output_cut returned for `given`, has no member left that differs from `before`.
 * WARNING_CODE_UNSPECIFIED if it is an example. `before` and `given` are the texts before reduction, if they
 * are known. Fails only with ERR_MEMORY. */
MUST_CHECK enum err example_output_check(struct arena *arena, struct slice before,
                                         struct slice given, struct slice output,
                                         enum warning_code *ret_reason);

#endif
