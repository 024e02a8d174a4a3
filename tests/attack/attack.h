/*
 * attack.h: a hostile client: HTTP/2 frames written by hand, so that every rule can be broken, over
 * plain sockets and epoll. A kind decides what is sent (kinds.c has the table); the engine
 * connects, sends, reads the server's frames, and counts. It uses no code of the server: only RFC
 * 9113, RFC 7541 and the contract.
 */
#ifndef ERRATA_TESTS_ATTACK_ATTACK_H
#define ERRATA_TESTS_ATTACK_ATTACK_H

#include "store/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

#define ATTACK_CONNECTIONS_MAX 20000
#define ATTACK_TOKEN_BYTES_MAX 256
/* A kind is asked for more while less than this waits to be sent. */
#define ATTACK_OUT_BYTES ((size_t)64 * 1024)
/* Only GOAWAY with its text and RST_STREAM are read from the frames of the server. */
#define ATTACK_SEEN_BYTES 128
/* Different farewells that are distinguished. */
#define ATTACK_FAREWELLS_MAX 8
#define ATTACK_CODES_MAX 16

enum frame_type {
    FRAME_DATA = 0,
    FRAME_HEADERS = 1,
    FRAME_PRIORITY = 2,
    FRAME_RST_STREAM = 3,
    FRAME_SETTINGS = 4,
    FRAME_PING = 6,
    FRAME_GOAWAY = 7,
    FRAME_WINDOW_UPDATE = 8,
    FRAME_CONTINUATION = 9,
    FRAME_UNKNOWN = 0x77
};

#define FLAG_ACK 1
#define FLAG_END_STREAM 1
#define FLAG_END_HEADERS 4
#define FLAG_PADDED 8
#define FRAME_HEAD_BYTES 9
#define FRAME_BYTES_MAX 16384

enum setting {
    SETTING_HEADER_TABLE_SIZE = 1,
    SETTING_INITIAL_WINDOW_SIZE = 4,
    SETTING_MAX_FRAME_SIZE = 5
};

/* The methods that are called. */
enum target {
    TARGET_EXAMPLES,
    TARGET_CAPTURE,
    TARGET_LIST,
    TARGET_WATCH,
    TARGET_UPLOAD,
    TARGET_HEALTH,
    TARGET_REFLECTION,
    TARGET_NOWHERE
};

/* Grows; freed with its owner. */
struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct attack;
struct peer;

#define KIND_DEAF 1u /* does not read */
#define KIND_STAYS 2u /* does not reconnect after the server has closed the connection */
#define KIND_DRIPS 4u /* sends the bytes from `drip_from` on one at a time, with pauses */

/* A kind of attack. */
struct attack_kind {
    const char *name;
    const char *what; /* a line for --list */
    /* Writes the first bytes of a connection; NULL: none. */
    void (*begin)(struct peer *peer);
    /* Writes the next piece; NULL: there is none, the connection stays as it is. */
    void (*more)(struct peer *peer);
    uint32_t pause_ms; /* pause between pieces, or between single bytes; 0: none */
    uint32_t connections; /* default number of connections */
    unsigned flags;
};

enum peer_state {
    PEER_NONE,
    PEER_CONNECTING,
    PEER_OPEN
};

/* A connection to the server, which is opened again if the kind reconnects. */
struct peer {
    struct attack *attack;
    int fd; /* -1: none */
    enum peer_state state;
    int64_t opened_us;
    int64_t due_us; /* the next piece, where there are pauses */
    struct bytes out;
    size_t sent; /* number of sent bytes of `out` */
    size_t drip_from; /* the bytes before it are sent at once */
    uint8_t head[FRAME_HEAD_BYTES]; /* header of the current frame */
    uint8_t seen[ATTACK_SEEN_BYTES]; /* start of its payload */
    size_t head_bytes;
    size_t payload_bytes; /* received bytes of the payload */
    uint32_t next_stream;
    uint64_t frames; /* number of frames written on this connection */
    uint64_t step; /* the kind's own */
    bool primed; /* the usual fields are in the server's HPACK table */
    bool finished; /* the kind has no more to send */
    bool leaves; /* closes after sending all bytes */
    bool reported; /* GOAWAY has been received */
    bool ended; /* the connection is closed permanently */
};

/* The server's reason for the end of connections, and the time until then. */
struct farewell {
    uint32_t code;
    char text[64];
    uint64_t count;
    int64_t after_us_min; /* time since the connection was opened */
    int64_t after_us_max;
    uint64_t frames_max; /* number of frames written until then */
};

struct attack_counts {
    uint64_t connects;
    uint64_t connects_failed;
    uint64_t closed; /* number of connections closed by the server */
    uint64_t closed_unanswered; /* number of those that received no bytes */
    int64_t closed_after_us_max;
    uint64_t frames;
    uint64_t requests;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    uint64_t answers; /* number of received header blocks */
    uint64_t data_bytes;
    uint64_t resets[ATTACK_CODES_MAX]; /* number of received resets by code */
    uint64_t live_max;
    uint64_t live_at_end;
    struct farewell farewells[ATTACK_FAREWELLS_MAX];
    uint32_t farewell_count;
};

struct attack {
    const struct attack_kind *kind;
    const char *host;
    const char *from; /* the address to come from; NULL: any */
    uint32_t addresses; /* number of consecutive addresses, used round-robin */
    uint16_t port;
    char authorization[ATTACK_TOKEN_BYTES_MAX + 16]; /* empty: no token */
    uint32_t connections;
    uint64_t rate; /* pieces per second in total; 0: unlimited */
    int64_t seconds;
    bool until_reported; /* ends after each connection was closed by the server once */
    int epoll_fd;
    int64_t now_us;
    int64_t started_us;
    uint64_t pieces; /* written */
    uint32_t live; /* number of open connections */
    uint32_t connecting;
    uint32_t ended;
    struct peer *peers;
    struct bytes payload; /* payload of the kind, created once */
    struct attack_counts counts;
};

/* kinds.c. NULL if there is none. */
const struct attack_kind *attack_find_kind(const char *name);
/* The kinds in turn; NULL after the last. */
const struct attack_kind *attack_kind_at(size_t index);

/* engine.c: runs until its time is over. False if the server cannot be reached at all. */
bool attack_run(struct attack *attack);

/* peer.c: what kinds write with. */
void bytes_add(struct bytes *bytes, struct slice more);
void bytes_add_byte(struct bytes *bytes, uint8_t byte);
/* The preface, and SETTINGS with windows that never hold the server back. */
void peer_greet(struct peer *peer);
void peer_write(struct peer *peer, struct slice bytes);
void peer_frame(struct peer *peer, enum frame_type type, uint8_t flags, uint32_t stream,
                struct slice payload);
void peer_setting(struct peer *peer, enum setting setting, uint32_t value);
void peer_window(struct peer *peer, uint32_t stream, uint32_t by);
void peer_reset(struct peer *peer, uint32_t stream);
/* HEADERS of a call, its last ones `extra` (HPACK, may be empty); returns its stream. */
uint32_t peer_request(struct peer *peer, enum target target, uint8_t flags, struct slice extra);
/* A gRPC message, in DATA frames. */
void peer_message(struct peer *peer, uint32_t stream, bool compressed, struct slice message,
                  uint8_t flags);
/* HEADERS, a message and the end of the stream. */
void peer_call(struct peer *peer, enum target target, struct slice message);
/* HPACK: a literal field that is not kept (RFC 7541, 6.2.2), or kept (6.2.1). */
void hpack_add(struct bytes *block, bool keep, const char *name, struct slice value);
/* Reads what came; returns false if the connection is to be closed. */
void peer_read_frames(struct peer *peer, struct slice bytes);

/* payloads.c: messages of the contract that are hard on who reads them; each freed by the caller. */
struct bytes payload_capture(struct slice before_json);
struct bytes payload_deep(void);
struct bytes payload_wide(void);
struct bytes payload_unknown(void);
struct bytes payload_json_deep(void);
struct bytes payload_json_wide(void);
struct bytes payload_gzip(struct slice plain);
/* 200 KiB of gzip that inflate to 16 MiB: a request of the contract beside fields that it does not know. */
struct bytes payload_inflating(void);
struct bytes payload_upload(size_t content_bytes);

/* kinds_frames.c, kinds_slow.c, kinds_messages.c */
extern const struct attack_kind kinds_of_frames[];
extern const struct attack_kind kinds_of_slowness[];
extern const struct attack_kind kinds_of_messages[];

#endif
