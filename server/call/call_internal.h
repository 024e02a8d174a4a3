/*
 * call_internal.h: functions shared by the files of server/call.
 */
#ifndef ERRATA_SERVER_CALL_CALL_INTERNAL_H
#define ERRATA_SERVER_CALL_CALL_INTERNAL_H

#include "server/call/protocol.h"

/* call.c */
/* Returns a call to the pool once it is no longer needed. */
void call_release_when_done(struct call_core *core);
/* Calls on_cancel, once, unless the services have finished. */
void call_cancel(struct call_core *core, enum err why);
/* Makes the call's status final: counts it, and stops the timer. call_fail builds the status of an
 * error, with details; `message` must live as long as the call. */
void call_fail(struct call_core *core, enum err err, struct slice message);
void call_end(struct call_core *core, enum status_code code);
void call_free_memory(struct call_core *core);

/* call_timer.c: deadlines. A call without a deadline is in no slot. */
void call_timer_start(struct call_core *core);
void call_timer_stop(struct call_core *core);
void call_server_turn_wheel(struct call_server *server, int64_t now_us);
/* Ends calls whose request has not arrived in time. */
void call_server_check_bodies(struct call_server *server, int64_t now_us);

/* call_share.c: queued replies, counted for the connection and the server. */
void call_share_add(struct call_core *core, size_t bytes);
void call_share_take(struct call_core *core, size_t bytes);
/* Returns whether so much output waits for the peer that its complete requests must wait, too. */
bool call_share_is_full(const struct call_server *server, const struct call_share *share);
void call_share_wait(struct call_core *core);
/* Removes the call from the waiting requests, if it is one. */
void call_share_leave(struct call_core *core);

/* call_input.c */
/* Takes a complete message, decompressed, in the form in which it was sent. */
void call_take_message(struct call_core *core, struct slice message);
/* Takes a complete message in protobuf: delivers it now, or at the request's end. */
void call_take_converted(struct call_core *core, struct slice message);
/* Resumes a request that waited. */
void call_go_on(struct call_core *core);
/* Charges the memory for request messages; false if there is too little, and the call is
 * refused. */
MUST_CHECK bool call_take_budget(struct call_core *core, size_t bytes);
void call_give_budget(struct call_core *core, uint64_t bytes);

/* call_inflate.c */
/* Inflates a complete compressed message, now or on the pool, or refuses it. */
void call_inflate(struct call_core *core, struct slice packed);
/* Converts a large message on the pool, or refuses it. */
void call_convert_later(struct call_core *core, struct slice message);
/* Stops an inflation whose result is no longer needed. */
void call_inflation_stop(struct call_core *core);
/* Does the same, and removes the call from its connection. */
void call_inflation_let_go(struct call_core *core);
/* Frees the inflated message, if there is one and the pool does not use it. */
void call_drop_inflated(struct call_core *core);

#endif
