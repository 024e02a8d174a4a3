/*
 * kinds_messages.c: requests that are whole and within the rules of HTTP/2, and hard on who reads
 * them: header lists, compressed messages, deep and wide ones, wrong tokens; and plain calls, as many
 * as there can be.
 */
#include "store/base/bytes.h"
#include "tests/attack/attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_FIELDS slice_of(NULL, 0)
#define END_BOTH (FLAG_END_HEADERS | FLAG_END_STREAM)
/* A field of so many bytes fits into HPACK's table of 4,096. */
#define BOMB_FIELD_BYTES 3500
#define BOMB_REFERENCES 100000
/* Calls of a connection that is closed as soon as they are sent: what its first window takes. */
#define HANG_UP_CALLS 4

/* Sends one large field, which is stored in the table, then references of one byte to it. */
static void more_header_bomb(struct peer *peer)
{
    char large[BOMB_FIELD_BYTES];
    struct bytes block = {0};

    memset(large, 'a', sizeof(large));
    hpack_add(&block, true, "x", slice_of(large, sizeof(large)));
    for (int i = 0; i < BOMB_REFERENCES; i++) {
        bytes_add_byte(&block, 0x80 | 62);
    }
    peer->primed = false; /* the table is the bomb's now */
    (void)peer_request(peer, TARGET_EXAMPLES, END_BOTH, slice_of(block.data, block.size));
    free(block.data);
}

static void more_many_fields(struct peer *peer)
{
    struct bytes block = {0};

    for (int i = 0; i < 4000; i++) {
        bytes_add(&block, SLICE("\0\1x\0"));
    }
    (void)peer_request(peer, TARGET_EXAMPLES, END_BOTH, slice_of(block.data, block.size));
    free(block.data);
}

static void more_huge_field(struct peer *peer)
{
    char huge[100000];
    struct bytes block = {0};

    memset(huge, 'a', sizeof(huge));
    hpack_add(&block, false, "x", slice_of(huge, sizeof(huge)));
    (void)peer_request(peer, TARGET_EXAMPLES, END_BOTH, slice_of(block.data, block.size));
    free(block.data);
}

/* A block that begins with changes of the table's size: RFC 7541, 6.3, allows two. */
static void more_table_updates(struct peer *peer)
{
    static const uint8_t updates[] = "\x20\x3f\xe1\x1f\x20\x3f\xe1\x1f\x20\x3f\xe1\x1f\x83\x86";

    peer_frame(peer, FRAME_HEADERS, END_BOTH, peer->next_stream,
               slice_of(updates, sizeof(updates) - 1));
    peer->next_stream += 2;
}

static const uint8_t gzip_field[] = "\0\xd"
                                    "grpc-encoding\4"
                                    "gzip";

static void call_compressed(struct peer *peer, enum target target, uint8_t end)
{
    struct bytes *payload = &peer->attack->payload;
    uint32_t stream =
        peer_request(peer, target, FLAG_END_HEADERS, slice_of(gzip_field, sizeof(gzip_field) - 1));

    peer_message(peer, stream, true, slice_of(payload->data, payload->size), end);
}

/* `plain_bytes` of zeros, which shrink to a thousandth. */
static void make_bomb(struct peer *peer, size_t plain_bytes)
{
    uint8_t *zeros = NULL;

    if (peer->attack->payload.size > 0) {
        return;
    }
    zeros = (uint8_t *)calloc(1, plain_bytes);
    if (zeros != NULL) {
        peer->attack->payload = payload_gzip(slice_of(zeros, plain_bytes));
        free(zeros);
    }
}

/* Inflates to just what a message may have. */
static void more_gzip_bomb(struct peer *peer)
{
    make_bomb(peer, (size_t)16 << 20);
    call_compressed(peer, TARGET_CAPTURE, FLAG_END_STREAM);
}

static void more_gzip_bomb_above(struct peer *peer)
{
    make_bomb(peer, (size_t)256 << 20);
    call_compressed(peer, TARGET_CAPTURE, FLAG_END_STREAM);
}

static void more_gzip_upload(struct peer *peer)
{
    make_bomb(peer, (size_t)16 << 20);
    call_compressed(peer, TARGET_UPLOAD, 0);
}

static void more_gzip_inflate(struct peer *peer)
{
    if (peer->attack->payload.size == 0) {
        peer->attack->payload = payload_inflating();
    }
    call_compressed(peer, TARGET_CAPTURE, FLAG_END_STREAM);
}

/* Does the same, on connections that are closed as soon as their calls are sent. */
static void begin_gzip_hang_up(struct peer *peer)
{
    peer_greet(peer);
    for (int i = 0; i < HANG_UP_CALLS; i++) {
        more_gzip_inflate(peer);
    }
    peer->leaves = true;
}

static void call_with(struct peer *peer, struct bytes (*make)(void))
{
    struct bytes *payload = &peer->attack->payload;

    if (payload->size == 0) {
        *payload = make();
    }
    peer_call(peer, TARGET_CAPTURE, slice_of(payload->data, payload->size));
}

static void more_deep(struct peer *peer)
{
    call_with(peer, payload_deep);
}

static void more_wide(struct peer *peer)
{
    call_with(peer, payload_wide);
}

static void more_unknown_fields(struct peer *peer)
{
    call_with(peer, payload_unknown);
}

static void more_json_deep(struct peer *peer)
{
    call_with(peer, payload_json_deep);
}

static void more_json_wide(struct peer *peer)
{
    call_with(peer, payload_json_wide);
}

static void more_wrong_token(struct peer *peer)
{
    struct bytes field = {0};
    char token[96];
    unsigned long long other = 0;

    peer->step = peer->step * 6364136223846793005u + 1442695040888963407u;
    other = ~peer->step;
    (void)snprintf(token, sizeof(token), "Bearer errata_%08x_%016llx%016llx%011llx",
                   (unsigned)(peer->step >> 32), (unsigned long long)peer->step, other,
                   (unsigned long long)(peer->step >> 20));
    hpack_add(&field, false, "authorization", slice_text(token));
    (void)peer_request(peer, TARGET_EXAMPLES, END_BOTH, slice_of(field.data, field.size));
    free(field.data);
}

/* Valid calls of open methods, without a token. */
static void more_call(struct peer *peer)
{
    peer_call(peer, TARGET_HEALTH, NO_FIELDS);
}

static void more_list(struct peer *peer)
{
    peer_call(peer, TARGET_LIST, SLICE("\x08\xe8\x07"));
}

const struct attack_kind kinds_of_messages[] = {
    {"header-bomb", "100,000 references to one large field", peer_greet, more_header_bomb, 0, 4, 0},
    {"many-fields", "4,000 small fields", peer_greet, more_many_fields, 0, 4, 0},
    {"huge-field", "a field of 100,000 bytes", peer_greet, more_huge_field, 0, 4, 0},
    {"table-updates", "HPACK tables that shrink and grow in each block", peer_greet,
     more_table_updates, 0, 4, 0},
    {"gzip-bomb", "16 KiB that inflate to 16 MiB", peer_greet, more_gzip_bomb, 0, 4, 0},
    {"gzip-bomb-above", "250 KiB that inflate to 256 MiB", peer_greet, more_gzip_bomb_above, 0, 4,
     0},
    {"gzip-upload", "pieces of uploads that inflate to 16 MiB", peer_greet, more_gzip_upload, 0, 4,
     0},
    {"gzip-inflate", "200 KiB that inflate to 16 MiB, on 16 connections that stay", peer_greet,
     more_gzip_inflate, 0, 16, 0},
    {"gzip-hang-up", "the same, on connections that are closed as soon as their calls are sent",
     begin_gzip_hang_up, NULL, 0, 16, 0},
    {"deep-message", "messages in messages, 10,000 deep", peer_greet, more_deep, 0, 4, 0},
    {"wide-message", "4 MiB of empty messages", peer_greet, more_wide, 0, 4, 0},
    {"unknown-fields", "4 MiB of unknown numbers", peer_greet, more_unknown_fields, 0, 4, 0},
    {"json-deep", "a JSON text of 100,000 brackets", peer_greet, more_json_deep, 0, 4, 0},
    {"json-wide", "a JSON text of 100,000 members", peer_greet, more_json_wide, 0, 4, 0},
    {"wrong-tokens", "tokens by guess", peer_greet, more_wrong_token, 0, 4, 0},
    {"calls", "health checks, as many as go out", peer_greet, more_call, 0, 4, 0},
    {"lists", "pages of 1,000 events, read at full speed", peer_greet, more_list, 0, 4, 0},
    {NULL, NULL, NULL, NULL, 0, 0, 0},
};
