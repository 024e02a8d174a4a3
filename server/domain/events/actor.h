/*
 * actor.h: who is said to have made a correction, and who may say when. A person's token speaks for
 * only that person; a program may name whom it speaks for; only importers and administrators may
 * date events in the past, and only history may lack an actor.
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

/* The actor to store: empty for history whose actor is unknown, else borrowed or in the arena.
 * ERR_DENIED with a message for one that this caller may not name, or for a time that it may not
 * give or must give; `path` is the event's in the request, empty for the request itself. */
MUST_CHECK enum err actor_resolve(struct ctx *ctx, const struct event_caller *caller,
                                  struct slice path, struct slice named, bool has_created_at,
                                  struct slice *ret_actor);

/* Returns the kind of annotator to store: the given one, or for UNSPECIFIED HUMAN if the token is bound to a user
 * or one is named, else CODE. ERR_DENIED with a message for a kind other than HUMAN of a person's token. */
MUST_CHECK enum err annotator_resolve(struct ctx *ctx, const struct event_caller *caller,
                                      struct slice path, struct slice named,
                                      enum annotator_kind *kind);

#endif
