/*
 * fake.h: a public channel over a simulated one: a test sees the calls that are started, sent and
 * cancelled, and gives replies, room and ends. Nothing happens unless the test does it.
 */
#ifndef ERRATA_TESTS_SUPPORT_CLIENT_FAKE_H
#define ERRATA_TESTS_SUPPORT_CLIENT_FAKE_H

#include "client/library/channel.h"

#define FAKE_CALLS_MAX 8
#define FAKE_REQUEST_BYTES_MAX 256
#define FAKE_METADATA_MAX (ERRATA_METADATA_MAX + 1)

/* A call that was started on it. */
struct client_call {
    struct client_handlers handlers;
    const struct method_info *method;
    uint8_t request[FAKE_REQUEST_BYTES_MAX]; /* sent messages, one after the other */
    size_t request_bytes;
    struct client_options options; /* options, without the metadata: */
    char metadata[FAKE_METADATA_MAX][2][64]; /* keys and values, truncated, with NULs */
    unsigned cancels;
    unsigned pauses;
    unsigned resumes;
    unsigned half_closes;
    bool ended;
};

struct fake {
    struct client_channel base; /* first */
    struct client_call calls[FAKE_CALLS_MAX];
    size_t call_count;
    enum err start_result; /* result of the next starts */
    enum err send_result;
    enum err set_token_result;
    char token[128];
    bool is_closing;
    const char *unreachable; /* reason why the server is unreachable; NULL: it is reachable */
    void (*on_closed)(void *user);
    void *on_closed_user;
    struct client_channel_statistics statistics;
};

/* Fills zeroed memory; the channel is closed by errata_channel_close and fake_finish_close. */
struct errata_channel *fake_open(struct fake *fake, bool has_token);
/* The later turn of the loop: calls that are left end with CANCELLED, then the channel is freed. */
void fake_finish_close(struct fake *fake);
/* Both, for a test that is done with the channel. */
void fake_close(struct fake *fake, struct errata_channel *channel);

void fake_reply(struct client_call *call, struct slice message);
void fake_room(struct client_call *call);
void fake_end(struct client_call *call, uint32_t code);
void fake_end_with(struct client_call *call, const struct client_status *status);

#endif
