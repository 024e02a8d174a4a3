/*
 * actor.h: determines the actor of a correction, and who may set its time. A person's token acts
 * only for that person; a program may name the person that it acts for; only importers and
 * administrators may set times in the past, and only backfilled events may lack an actor.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_ACTOR_H
#define ERRATA_SERVER_DOMAIN_EVENTS_ACTOR_H

#include "store/base/ctx.h"

#include <errata/v1/annotator_kind.fields.h>
#include <errata/v1/role.fields.h>

/* The caller, as identified by the token. */
struct event_caller {
    enum role role;
    struct slice user_id; /* the user that the token is bound to, or empty */
    uint32_t key_id; /* key id of the token */
    bool backfill_only; /* this role may call this method only with created_at set */
};

/* Returns the actor to store: empty for a backfilled event whose actor is unknown, else borrowed or
 * in the arena. ERR_DENIED with a message for an actor that this caller may not name, for a time
 * that it may not set, and for a missing time that it must set; `path` is the path of the event in
 * the request, empty for the request itself. */
MUST_CHECK enum err actor_resolve(struct ctx *ctx, const struct event_caller *caller,
                                  struct slice path, struct slice named, bool has_created_at,
                                  struct slice *ret_actor);

/* Returns the kind of annotator to store: the given one; for UNSPECIFIED, HUMAN if the token is
 * bound to a user or the request names one, else CODE. ERR_DENIED with a message for a kind other
 * than HUMAN of a person's token. */
MUST_CHECK enum err annotator_resolve(struct ctx *ctx, const struct event_caller *caller,
                                      struct slice path, struct slice named,
                                      enum annotator_kind *kind);

#endif
