/*
 * actor.c: see actor.h.
 */
#include "server/domain/events/actor.h"

static bool is_person(enum role role)
{
    return role == ROLE_OPERATOR || role == ROLE_REVIEWER;
}

static bool may_backfill(enum role role)
{
    return role == ROLE_INTEGRATOR || role == ROLE_ADMIN;
}

/* Returns the separator between the path of a message and the name of its field: empty for the
 * request itself. */
static const char *dot_after(struct slice path)
{
    return path.size > 0 ? "." : "";
}

static enum err check_time(struct ctx *ctx, const struct event_caller *caller, struct slice path,
                           bool has_created_at)
{
    if (has_created_at && !may_backfill(caller->role)) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "%.*s%screated_at: not allowed for this token; expected no value, or a "
                         "token of the role INTEGRATOR or ADMIN",
                         (int)path.size, (const char *)path.data, dot_after(path));
    }
    if (!has_created_at && caller->backfill_only) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "%.*s%screated_at: missing; expected a time, since tokens of this role "
                         "may store only past events",
                         (int)path.size, (const char *)path.data, dot_after(path));
    }
    return OK;
}

enum err actor_resolve(struct ctx *ctx, const struct event_caller *caller, struct slice path,
                       struct slice named, bool has_created_at, struct slice *ret_actor)
{
    enum err err = check_time(ctx, caller, path, has_created_at);
    struct slice shown = {NULL, 0};

    if (err != OK) {
        return err;
    }
    if (named.size > 0 && is_person(caller->role) && !slice_equal(named, caller->user_id)) {
        shown = fault_shorten(ctx->fault, named);
        return fault_say(ctx->fault, ERR_DENIED,
                         "%.*s%sactor_user_id: '%.*s' is not the token's user; expected the "
                         "token's user, or no value",
                         (int)path.size, (const char *)path.data, dot_after(path), (int)shown.size,
                         (const char *)shown.data);
    }
    if (named.size > 0 || has_created_at) {
        *ret_actor = named;
        return OK;
    }
    *ret_actor = caller->user_id;
    if (caller->user_id.size == 0) {
        *ret_actor = arena_printf(ctx->arena, "token:%08x", caller->key_id);
    }
    return ret_actor->size > 0 ? OK : ERR_MEMORY;
}

enum err annotator_resolve(struct ctx *ctx, const struct event_caller *caller, struct slice path,
                           struct slice named, enum annotator_kind *kind)
{
    bool is_user = caller->user_id.size > 0 || named.size > 0;

    if (*kind == ANNOTATOR_KIND_UNSPECIFIED) {
        *kind = is_user ? ANNOTATOR_KIND_HUMAN : ANNOTATOR_KIND_CODE;
    } else if (*kind != ANNOTATOR_KIND_HUMAN && is_person(caller->role)) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "%.*s%sannotator_kind: not allowed for this token; expected HUMAN or no "
                         "value, or a token of the role SERVICE, INTEGRATOR or ADMIN",
                         (int)path.size, (const char *)path.data, dot_after(path));
    }
    return OK;
}
