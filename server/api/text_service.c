/*
 * text_service.c: TextService/Sanitize: the sanitiser, for callers that insert text into prompts of
 * their own. A long text is handled as a long read, so that one organisation does not delay others.
 */
#include "server/domain/text/sanitise.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/text_service.fields.h>
#include <errata/v1/text_service.handlers.h>
#include <errata/v1/text_service.views.h>

/* A hostile text of this size takes about a millisecond. */
#define SANITIZE_ON_LOOP_BYTES_MAX ((size_t)4 * 1024)

static enum err read_profile(int32_t number, enum sanitise_profile *ret_profile)
{
    enum sanitize_profile profile = SANITIZE_PROFILE_UNSPECIFIED;

    if (UNEXPECTED(!sanitize_profile_from_wire(number, &profile) ||
                   profile == SANITIZE_PROFILE_UNSPECIFIED)) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    switch (profile) {
    case SANITIZE_PROFILE_NOTE:
        *ret_profile = SANITISE_NOTE;
        break;
    case SANITIZE_PROFILE_GUIDELINE:
        *ret_profile = SANITISE_GUIDELINE;
        break;
    case SANITIZE_PROFILE_EXAMPLE:
    case SANITIZE_PROFILE_UNSPECIFIED:
        *ret_profile = SANITISE_EXAMPLE;
        break;
    }
    return OK;
}

enum err text_service_sanitize_cost(struct text_service_sanitize_call *call)
{
    bool is_long = slice_text(call->request->text).size > SANITIZE_ON_LOOP_BYTES_MAX;

    call->cost = is_long ? READ_IS_LONG : READ_IS_SHORT;
    return OK;
}

enum err text_service_sanitize_read(struct text_service_sanitize_call *call)
{
    struct sanitize_response_view response = {.changed = false};
    struct slice given = slice_text(call->request->text);
    enum sanitise_profile profile = SANITISE_NOTE;
    struct sanitised sanitised;
    enum err err = read_profile((int32_t)call->request->profile, &profile);

    if (err != OK) {
        return err;
    }
    sanitised = sanitise_text(call->ctx->arena, profile, given);
    response.text = sanitised.text;
    response.changed = !slice_equal(sanitised.text, given);
    response.failed = sanitised.failed;
    sanitize_response_view_write(&response, call->body);
    return OK;
}
