/*
 * grpc_web_text.c: see grpc_web_text.h.
 */
#include "server/grpc_web/grpc_web_text.h"

#include "store/base/base64.h"

#define GROUP_DIGITS 4
#define GROUP_BYTES 3
_Static_assert(GRPC_WEB_TEXT_BYTES % GROUP_BYTES == 0, "a step is of whole groups");

/* Completes the group that an earlier step began. */
static bool text_complete_group(struct grpc_web_text *state, struct slice text, size_t *ret_taken)
{
    size_t step = GROUP_DIGITS - (size_t)state->group_count;

    step = text.size < step ? text.size : step;
    memcpy(state->group + state->group_count, text.data, step);
    state->group_count = (uint8_t)(state->group_count + step);
    *ret_taken = step;
    if (state->group_count < GROUP_DIGITS) {
        return true;
    }
    state->group_count = 0;
    return base64_read(slice_of(state->group, GROUP_DIGITS), BASE64_STANDARD | BASE64_PADDED,
                       state->bytes, &state->size);
}

bool grpc_web_text_decode(struct grpc_web_text *state, struct slice text, size_t *ret_taken)
{
    size_t max = GRPC_WEB_TEXT_BYTES / GROUP_BYTES * GROUP_DIGITS;
    struct slice run = slice_of(text.data, text.size < max ? text.size : max);
    const uint8_t *pad = run.size > 0 ? memchr(run.data, '=', run.size) : NULL;

    state->size = 0;
    if (pad != NULL) {
        /* Returns the length up to the end of the padded group; if that has not arrived, up to its start. */
        size_t groups = (size_t)(pad - run.data) / GROUP_DIGITS + 1;

        run.size = groups * GROUP_DIGITS <= run.size ? groups * GROUP_DIGITS : run.size;
    }
    run.size -= run.size % GROUP_DIGITS;
    if (state->group_count > 0 || run.size == 0) {
        return text_complete_group(state, text, ret_taken);
    }
    *ret_taken = run.size;
    return base64_read(run, BASE64_STANDARD | BASE64_PADDED, state->bytes, &state->size);
}

bool grpc_web_text_is_whole(const struct grpc_web_text *state)
{
    return state->group_count == 0;
}
