/*
 * kinds_slow.c: peers that hold things: connections, streams, windows, unread answers; and those who
 * only come and go.
 */
#include "store/base/bytes.h"
#include "tests/attack/attack.h"

#include <stdlib.h>

#define NO_FIELDS slice_of(NULL, 0)
#define STREAMS_A_CONNECTION 128
/* ListFeedbackEventsRequest{page_size: 1000}; WatchEventsRequest{from_seq: 1}. */
#define LIST_REQUEST SLICE("\x08\xe8\x07")
#define WATCH_REQUEST SLICE("\x08\x01")

static void begin_silent_session(struct peer *peer)
{
    peer_greet(peer);
}

/* Connects, authenticates, makes a call and disconnects. */
static void begin_and_leave(struct peer *peer)
{
    peer_greet(peer);
    (void)peer_request(peer, TARGET_HEALTH, FLAG_END_HEADERS | FLAG_END_STREAM, NO_FIELDS);
    peer->leaves = true;
}

static void more_leave(struct peer *peer)
{
    peer->leaves = true;
    peer->finished = true;
}

static void begin_slow_preface(struct peer *peer)
{
    peer_greet(peer);
    peer->drip_from = 1;
}

/* A header block in one frame, of which a byte comes each second. */
static void begin_slow_headers(struct peer *peer)
{
    peer_greet(peer);
    peer->drip_from = peer->out.size + FRAME_HEAD_BYTES;
    (void)peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS | FLAG_END_STREAM, NO_FIELDS);
}

/* The same in frames, of which no last one comes. */
static void begin_slow_block(struct peer *peer)
{
    peer_greet(peer);
    peer_frame(peer, FRAME_HEADERS, 0, 1, SLICE("\x83\x86"));
    peer->drip_from = peer->out.size;
}

static void begin_slow_body(struct peer *peer)
{
    static const uint8_t zeros[1000];
    uint32_t stream = 0;

    peer_greet(peer);
    stream = peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, NO_FIELDS);
    peer->drip_from = peer->out.size + FRAME_HEAD_BYTES;
    peer_message(peer, stream, false, slice_of(zeros, sizeof(zeros)), FLAG_END_STREAM);
}

/* A frame of an unknown kind, of which a byte comes each second. */
static void begin_slow_frame(struct peer *peer)
{
    static const uint8_t zeros[1000];

    peer_greet(peer);
    peer->drip_from = peer->out.size + FRAME_HEAD_BYTES;
    peer_frame(peer, FRAME_UNKNOWN, 0, 0, slice_of(zeros, sizeof(zeros)));
}

/* Requests that do not end, as many as there may be. */
static void begin_held_streams(struct peer *peer)
{
    peer_greet(peer);
    for (int i = 0; i < STREAMS_A_CONNECTION; i++) {
        (void)peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, NO_FIELDS);
    }
}

/* Opens streams without requests, which a bidi stream allows. */
static void begin_held_reflections(struct peer *peer)
{
    peer_greet(peer);
    for (int i = 0; i < STREAMS_A_CONNECTION; i++) {
        (void)peer_request(peer, TARGET_REFLECTION, FLAG_END_HEADERS, NO_FIELDS);
    }
}

/* Messages of 16 MiB are announced, and do not come. */
static void begin_stalled_bodies(struct peer *peer)
{
    peer_greet(peer);
    for (int i = 0; i < STREAMS_A_CONNECTION; i++) {
        uint32_t stream = peer_request(peer, TARGET_CAPTURE, FLAG_END_HEADERS, NO_FIELDS);

        peer_frame(peer, FRAME_DATA, 0, stream,
                   SLICE("\0\1\0\0\0"
                         "beginning"));
    }
}

static void begin_stalled_uploads(struct peer *peer)
{
    struct bytes first = payload_upload(16000);

    peer_greet(peer);
    for (int i = 0; i < STREAMS_A_CONNECTION; i++) {
        uint32_t stream = peer_request(peer, TARGET_UPLOAD, FLAG_END_HEADERS, NO_FIELDS);

        peer_message(peer, stream, false, slice_of(first.data, first.size), 0);
    }
    free(first.data);
}

static void call_for_much(struct peer *peer)
{
    for (int i = 0; i < STREAMS_A_CONNECTION; i++) {
        peer_call(peer, TARGET_LIST, LIST_REQUEST);
    }
}

/* Great answers that the socket does not take. */
static void begin_never_reading(struct peer *peer)
{
    peer_greet(peer);
    call_for_much(peer);
}

/* Great answers that no window takes (CVE-2019-9517). */
static void begin_window_zero(struct peer *peer)
{
    peer_write(peer, SLICE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    peer_setting(peer, SETTING_INITIAL_WINDOW_SIZE, 0);
    call_for_much(peer);
}

/* The same, and a byte of window now and then (CVE-2019-9511). */
static void more_dribble(struct peer *peer)
{
    peer->step = peer->step % STREAMS_A_CONNECTION + 1;
    peer_window(peer, (uint32_t)(peer->step * 2 - 1), 1);
}

static void watch_all(struct peer *peer)
{
    for (int i = 0; i < STREAMS_A_CONNECTION; i++) {
        peer_call(peer, TARGET_WATCH, WATCH_REQUEST);
    }
}

static void begin_watches(struct peer *peer)
{
    peer_greet(peer);
    watch_all(peer);
}

const struct attack_kind kinds_of_slowness[] = {
    {"idle", "connections that do nothing", begin_silent_session, NULL, 0, 10000, 0},
    {"silent", "connections that say nothing", NULL, NULL, 0, 1000, 0},
    {"churn", "come and go", NULL, more_leave, 0, 50, 0},
    {"churn-calls", "come, call and go", begin_and_leave, NULL, 0, 50, 0},
    {"slow-preface", "a preface of a byte a second", begin_slow_preface, NULL, 1000, 200,
     KIND_DRIPS},
    {"slow-headers", "a HEADERS frame of a byte a second", begin_slow_headers, NULL, 1000, 200,
     KIND_DRIPS},
    {"slow-block", "a header block that waits for its end", begin_slow_block, NULL, 1000, 200,
     KIND_DRIPS},
    {"slow-frames", "a frame of a byte a second", begin_slow_frame, NULL, 1000, 200, KIND_DRIPS},
    {"slow-bodies", "messages of a byte a second", begin_slow_body, NULL, 1000, 200, KIND_DRIPS},
    {"held-streams", "requests that do not end, 128 a connection", begin_held_streams, NULL, 0, 100,
     0},
    {"held-reflections", "bidi streams that ask for nothing", begin_held_reflections, NULL, 0, 150,
     0},
    {"stalled-bodies", "messages of 16 MiB that were only announced", begin_stalled_bodies, NULL, 0,
     20, 0},
    {"stalled-uploads", "uploads that stop in the middle", begin_stalled_uploads, NULL, 0, 20, 0},
    {"never-reading", "great answers that are not read", begin_never_reading, NULL, 0, 20,
     KIND_DEAF},
    {"window-zero", "great answers and no window for them (CVE-2019-9517)", begin_window_zero, NULL,
     0, 20, 0},
    {"window-dribble", "the same, and a byte of window now and then (CVE-2019-9511)",
     begin_window_zero, more_dribble, 0, 20, 0},
    {"watch-storm", "watchers of everything, 128 a connection", begin_watches, NULL, 0, 20, 0},
    {"watch-deaf", "the same, and none reads", begin_watches, NULL, 0, 20, KIND_DEAF},
    {NULL, NULL, NULL, NULL, 0, 0, 0},
};
