/*
 * wire_client.c: the client's frames, there and back.
 */
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAD_BYTES 9
#define FRAME_BYTES_MAX 16384

void wire_bytes_append(struct wire_bytes *bytes, struct slice more)
{
    if (bytes->size + more.size > bytes->capacity) {
        bytes->capacity = (bytes->size + more.size) * 2;
        bytes->data = realloc(bytes->data, bytes->capacity);
        assert_non_null(bytes->data);
    }
    if (more.size > 0) {
        memcpy(bytes->data + bytes->size, more.data, more.size);
        bytes->size += more.size;
    }
}

uint8_t wire_pattern(size_t index)
{
    return (uint8_t)(index * 7 + (index >> 8));
}

void wire_preface(struct wire_fixture *fixture)
{
    wire_bytes_append(&fixture->client.out, SLICE(H2_PREFACE));
    wire_frame(fixture, NGHTTP2_SETTINGS, 0, 0, slice_of(NULL, 0));
}

void wire_frame(struct wire_fixture *fixture, uint8_t type, uint8_t flags, uint32_t stream,
                struct slice payload)
{
    uint8_t head[HEAD_BYTES] = {(uint8_t)(payload.size >> 16), (uint8_t)(payload.size >> 8),
                                (uint8_t)payload.size, type, flags};

    bytes_put_be32(head + 5, stream);
    wire_bytes_append(&fixture->client.out, slice_of(head, sizeof(head)));
    wire_bytes_append(&fixture->client.out, payload);
}

void wire_settings(struct wire_fixture *fixture, uint16_t id, uint32_t value)
{
    uint8_t entry[6] = {(uint8_t)(id >> 8), (uint8_t)id};

    bytes_put_be32(entry + 2, value);
    wire_frame(fixture, NGHTTP2_SETTINGS, 0, 0, slice_of(entry, sizeof(entry)));
}

void wire_settings_ack(struct wire_fixture *fixture)
{
    wire_frame(fixture, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, slice_of(NULL, 0));
}

struct wire_bytes wire_encode(struct wire_fixture *fixture, const struct wire_field *fields,
                              size_t count)
{
    nghttp2_nv *pairs = calloc(count, sizeof(*pairs));
    struct wire_bytes block = {NULL, 0, 0};
    ssize_t size = 0;

    assert_non_null(pairs);
    for (size_t i = 0; i < count; i++) {
        pairs[i].name = (uint8_t *)(uintptr_t)fields[i].name;
        pairs[i].namelen = strlen(fields[i].name);
        pairs[i].value = (uint8_t *)(uintptr_t)fields[i].value;
        pairs[i].valuelen = strlen(fields[i].value);
    }
    block.capacity = nghttp2_hd_deflate_bound(fixture->client.deflater, pairs, count);
    block.data = malloc(block.capacity);
    assert_non_null(block.data);
    size =
        nghttp2_hd_deflate_hd(fixture->client.deflater, block.data, block.capacity, pairs, count);
    assert_true(size > 0);
    block.size = (size_t)size;
    free(pairs);
    return block;
}

void wire_headers_raw(struct wire_fixture *fixture, uint32_t stream, uint8_t flags,
                      const struct wire_field *fields, size_t count)
{
    struct wire_bytes block = wire_encode(fixture, fields, count);

    wire_frame(fixture, NGHTTP2_HEADERS, flags, stream, slice_of(block.data, block.size));
    free(block.data);
}

void wire_headers(struct wire_fixture *fixture, uint32_t stream, enum wire_method method, bool end,
                  const struct wire_field *extra, size_t extra_count)
{
    struct wire_field fields[WIRE_FIELDS_MAX] = {
        {":method", "POST"},      {":scheme", "http"}, {":path", wire_path(method)},
        {":authority", "errata"}, {"te", "trailers"},  {"content-type", "application/grpc"},
    };
    size_t count = 6;

    assert_true(count + extra_count <= WIRE_FIELDS_MAX);
    for (size_t i = 0; i < extra_count; i++) {
        fields[count++] = extra[i];
    }
    wire_headers_raw(fixture, stream,
                     (uint8_t)(NGHTTP2_FLAG_END_HEADERS | (end ? NGHTTP2_FLAG_END_STREAM : 0)),
                     fields, count);
}

void wire_data(struct wire_fixture *fixture, uint32_t stream, struct slice bytes, bool end)
{
    do {
        size_t step = bytes.size < FRAME_BYTES_MAX ? bytes.size : FRAME_BYTES_MAX;
        bool last = end && step == bytes.size;

        wire_frame(fixture, NGHTTP2_DATA, last ? NGHTTP2_FLAG_END_STREAM : 0, stream,
                   slice_of(bytes.data, step));
        bytes = slice_after(bytes, step);
    } while (bytes.size > 0);
}

void wire_message(struct wire_fixture *fixture, uint32_t stream, uint8_t flags,
                  struct slice message, bool end)
{
    uint8_t *framed = malloc(message.size + 5);

    assert_non_null(framed);
    framed[0] = flags;
    bytes_put_be32(framed + 1, (uint32_t)message.size);
    if (message.size > 0) {
        memcpy(framed + 5, message.data, message.size);
    }
    wire_data(fixture, stream, slice_of(framed, message.size + 5), end);
    free(framed);
}

void wire_call(struct wire_fixture *fixture, uint32_t stream, enum wire_method method,
               struct slice message)
{
    wire_headers(fixture, stream, method, false, NULL, 0);
    wire_message(fixture, stream, 0, message, true);
}

void wire_window(struct wire_fixture *fixture, uint32_t stream, uint32_t by)
{
    uint8_t payload[4];

    bytes_put_be32(payload, by);
    wire_frame(fixture, NGHTTP2_WINDOW_UPDATE, 0, stream, slice_of(payload, sizeof(payload)));
}

void wire_reset(struct wire_fixture *fixture, uint32_t stream, uint32_t code)
{
    uint8_t payload[4];

    bytes_put_be32(payload, code);
    wire_frame(fixture, NGHTTP2_RST_STREAM, 0, stream, slice_of(payload, sizeof(payload)));
}

void wire_ping(struct wire_fixture *fixture)
{
    wire_frame(fixture, NGHTTP2_PING, 0, 0, SLICE("12345678"));
}

struct wire_answer *wire_answer(struct wire_fixture *fixture, uint32_t stream)
{
    struct wire_answer **answer = NULL;

    assert_true(stream % 2 == 1 && stream / 2 < WIRE_STREAMS_MAX);
    answer = &fixture->client.answers[stream / 2];
    if (*answer == NULL) {
        *answer = calloc(1, sizeof(**answer));
        assert_non_null(*answer);
        (*answer)->grpc_status = -1;
        (*answer)->reset = -1;
    }
    return *answer;
}

struct slice wire_reply(struct wire_fixture *fixture, uint32_t stream)
{
    struct wire_answer *answer = wire_answer(fixture, stream);

    assert_true(answer->body_size >= 5);
    assert_int_equal(answer->body[0], 0);
    assert_int_equal(bytes_get_be32(answer->body + 1), answer->body_size - 5);
    return slice_of(answer->body + 5, answer->body_size - 5);
}

bool wire_has_field(const struct wire_answer *answer, const char *line)
{
    return strstr(answer->fields, line) != NULL;
}

void wire_assert_status(struct wire_fixture *fixture, uint32_t stream, int grpc_status)
{
    struct wire_answer *answer = wire_answer(fixture, stream);

    assert_int_equal(answer->http_status, 200);
    assert_int_equal(answer->grpc_status, grpc_status);
    assert_true(answer->ended);
}

void wire_assert_rate_limited(struct wire_fixture *fixture, const char *why)
{
    assert_int_equal(fixture->client.goaways, 1);
    assert_int_equal(fixture->client.goaway_code, H2_ENHANCE_YOUR_CALM);
    assert_string_equal(fixture->client.goaway_text, why);
    assert_true(wire_finished(fixture));
    assert_int_equal(grpc_server_h2_stats(fixture->grpc)->connections_rate_limited, 1);
}

static void client_note_field(struct wire_answer *answer, const nghttp2_nv *pair)
{
    size_t used = strlen(answer->fields);

    (void)snprintf(answer->fields + used, sizeof(answer->fields) - used, "%.*s: %.*s\n",
                   (int)pair->namelen, pair->name, (int)pair->valuelen, pair->value);
    if (pair->namelen == 7 && memcmp(pair->name, ":status", 7) == 0) {
        answer->http_status = (int)strtol((const char *)pair->value, NULL, 10);
    }
    if (pair->namelen == 11 && memcmp(pair->name, "grpc-status", 11) == 0) {
        assert_int_equal(answer->grpc_status, -1);
        answer->grpc_status = (int)strtol((const char *)pair->value, NULL, 10);
    }
}

static void client_take_block(struct wire_fixture *fixture, struct wire_answer *answer,
                              struct slice block)
{
    answer->blocks++;
    for (;;) {
        nghttp2_nv pair;
        int flags = 0;
        ssize_t taken = nghttp2_hd_inflate_hd2(fixture->client.inflater, &pair, &flags, block.data,
                                               block.size, 1);

        assert_true(taken >= 0);
        block = slice_after(block, (size_t)taken);
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
            client_note_field(answer, &pair);
        }
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
            break;
        }
    }
    assert_int_equal(nghttp2_hd_inflate_end_headers(fixture->client.inflater), 0);
}

static void client_take_data(struct wire_answer *answer, struct slice payload)
{
    struct wire_bytes body = {answer->body, answer->body_size, answer->body_capacity};

    wire_bytes_append(&body, payload);
    answer->body = body.data;
    answer->body_size = body.size;
    answer->body_capacity = body.capacity;
    answer->data_frames++;
}

static void client_take_settings(struct wire_client *client, struct slice payload)
{
    client->settings_seen++;
    for (size_t at = 0; at + 6 <= payload.size; at += 6) {
        if (payload.data[at + 1] == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) {
            client->streams_announced = bytes_get_be32(payload.data + at + 2);
        }
    }
}

static void client_take_goaway(struct wire_client *client, struct slice payload)
{
    size_t text = payload.size - 8;

    client->goaways++;
    client->goaway_last = bytes_get_be32(payload.data);
    client->goaway_code = bytes_get_be32(payload.data + 4);
    assert_true(text < sizeof(client->goaway_text));
    memcpy(client->goaway_text, payload.data + 8, text);
    client->goaway_text[text] = '\0';
}

static void client_take_control(struct wire_fixture *fixture, const uint8_t *head,
                                struct slice payload)
{
    struct wire_client *client = &fixture->client;
    uint8_t type = head[3];
    bool ack = (head[4] & NGHTTP2_FLAG_ACK) != 0;

    if (type == NGHTTP2_SETTINGS && !ack) {
        client_take_settings(client, payload);
    } else if (type == NGHTTP2_GOAWAY) {
        client_take_goaway(client, payload);
    } else if (type == NGHTTP2_WINDOW_UPDATE) {
        client->window_opened += bytes_get_be32(payload.data);
    } else if (type == NGHTTP2_PING && ack) {
        client->pings_answered++;
    } else if (type == NGHTTP2_PING) {
        client->pings_received++;
        if (client->answers_pings) {
            wire_frame(fixture, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, payload);
        }
    }
}

static void client_take_frame(struct wire_fixture *fixture, const uint8_t *head,
                              struct slice payload)
{
    uint32_t id = bytes_get_be32(head + 5);
    struct wire_answer *answer = NULL;

    if (id == 0) {
        client_take_control(fixture, head, payload);
        return;
    }
    answer = wire_answer(fixture, id);
    assert_true(!answer->ended || head[3] == NGHTTP2_RST_STREAM ||
                head[3] == NGHTTP2_WINDOW_UPDATE);
    switch (head[3]) {
    case NGHTTP2_HEADERS:
        assert_true((head[4] & NGHTTP2_FLAG_END_HEADERS) != 0);
        client_take_block(fixture, answer, payload);
        break;
    case NGHTTP2_DATA:
        client_take_data(answer, payload);
        break;
    case NGHTTP2_RST_STREAM:
        answer->reset = bytes_get_be32(payload.data);
        return;
    case NGHTTP2_WINDOW_UPDATE:
        fixture->client.stream_window_opened += bytes_get_be32(payload.data);
        return;
    default:
        fail_msg("the server sent a frame of type %u", head[3]);
    }
    answer->ended = answer->ended || (head[4] & NGHTTP2_FLAG_END_STREAM) != 0;
}

void wire_client_parse(struct wire_fixture *fixture)
{
    struct wire_bytes *in = &fixture->client.in;
    size_t at = 0;

    while (in->size - at >= HEAD_BYTES) {
        const uint8_t *head = in->data + at;
        size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];

        assert_true(size <= FRAME_BYTES_MAX);
        if (in->size - at - HEAD_BYTES < size) {
            break;
        }
        client_take_frame(fixture, head, slice_of(head + HEAD_BYTES, size));
        at += HEAD_BYTES + size;
    }
    memmove(in->data, in->data + at, in->size - at);
    in->size -= at;
}
