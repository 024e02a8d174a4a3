/*
 * call_share.c: replies of a connection that wait for its peer. If a peer requests much and reads
 * little, no more replies are built for it: its requests wait in a queue until it has read. A
 * queued request needs little memory, a reply its full size.
 */
#include "server/call/call_internal.h"
#include "store/base/assert.h"

void call_share_add(struct call_core *core, size_t bytes)
{
    core->output_bytes += bytes;
    if (core->share != NULL) {
        core->share->output_bytes += bytes;
        core->server->output_bytes += bytes;
    }
}

void call_share_take(struct call_core *core, size_t bytes)
{
    ASSERT(core->output_bytes >= bytes);
    core->output_bytes -= bytes;
    if (core->share != NULL) {
        ASSERT(core->share->output_bytes >= bytes);
        core->share->output_bytes -= bytes;
        core->server->output_bytes -= bytes;
    }
}

bool call_share_is_full(const struct call_server *server, const struct call_share *share)
{
    bool pressed = server->output_bytes > CALL_OUTPUT_BYTES_MAX / 2;
    size_t high = pressed ? CALL_OUTPUT_BYTES_HIGH : CALL_SHARE_OUTPUT_BYTES_HIGH;

    return share->output_bytes > high;
}

void call_share_wait(struct call_core *core)
{
    struct call_share *share = core->share;

    ASSERT(!core->share_waits);
    core->share_waits = true;
    core->share_next = NULL;
    core->share_previous = share->waiting_last;
    if (share->waiting_last != NULL) {
        share->waiting_last->share_next = core;
    } else {
        share->waiting = core;
    }
    share->waiting_last = core;
}

void call_share_leave(struct call_core *core)
{
    struct call_share *share = core->share;

    if (!core->share_waits) {
        return;
    }
    core->share_waits = false;
    if (core->share_previous != NULL) {
        core->share_previous->share_next = core->share_next;
    } else {
        share->waiting = core->share_next;
    }
    if (core->share_next != NULL) {
        core->share_next->share_previous = core->share_previous;
    } else {
        share->waiting_last = core->share_previous;
    }
}
