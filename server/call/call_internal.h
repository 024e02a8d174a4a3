/*
 * call_internal.h: what the files of this folder call of each other.
 */
#ifndef ERRATA_SERVER_CALL_CALL_INTERNAL_H
#define ERRATA_SERVER_CALL_CALL_INTERNAL_H

#include "server/call/protocol.h"

/* call.c */
/* Gives a call back to the pool once it is not needed any more. */
void call_release_when_done(struct call_core *core);
/* Tells the services, once, unless they have finished. */
void call_cancel(struct call_core *core, enum err why);
/* The call's status is final: counted, and off the wheel. call_fail makes one of an error, details
 * and all; `message` lives as long as the call. */
void call_fail(struct call_core *core, enum err err, struct slice message);
void call_end(struct call_core *core, enum status_code code);
void call_free_memory(struct call_core *core);

/* call_timer.c: deadlines. A call without one is in no slot. */
void call_timer_start(struct call_core *core);
void call_timer_stop(struct call_core *core);
void call_server_turn_wheel(struct call_server *server, int64_t now_us);
/* Ends calls whose request has stopped to arrive. */
void call_server_check_bodies(struct call_server *server, int64_t now_us);

/* call_share.c: replies that wait, counted for the connection and the server. */
void call_share_add(struct call_core *core, size_t bytes);
void call_share_take(struct call_core *core, size_t bytes);
/* Too much waits for the peer: whole requests are to wait too. */
bool call_share_is_full(const struct call_server *server, const struct call_share *share);
void call_share_wait(struct call_core *core);
/* Waits no more, if it did. */
void call_share_leave(struct call_core *core);

/* call_input.c */
/* A whole message, as it was sent: for the services now, or at the request's end. */
void call_take_message(struct call_core *core, struct slice message);
/* The request goes on after it waited. */
void call_go_on(struct call_core *core);
/* Where a request message lives: one as long as its call; of many, each makes room for the next. */
static inline struct arena *call_input_arena(struct call_core *core)
{
    return method_has_one_request(core->call.method) ? &core->arena : &core->input_arena;
}
/* Takes from the memory for request messages; false if no memory is left: the call is refused. */
MUST_CHECK bool call_take_budget(struct call_core *core, size_t bytes);
void call_give_budget(struct call_core *core, uint64_t bytes);

/* call_inflate.c */
/* A compressed message is whole: it is taken, now or by the pool, or refused. */
void call_inflate(struct call_core *core, struct slice packed);
/* No caller wants it any more. */
void call_inflation_stop(struct call_core *core);
/* The same, and the call leaves its connection. */
void call_inflation_let_go(struct call_core *core);
/* Frees what was inflated, if anything was and the pool does not have it. */
void call_drop_inflated(struct call_core *core);

#endif
