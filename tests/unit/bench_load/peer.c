/*
 * peer.c: see peer.h.
 */
#include "tests/unit/bench_load/peer.h"

#include "tests/unit/bench_load/bench_load_tests.h"

#include "store/base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct peer *peer = user;

    (void)session;
    (void)frame;
    peer->fields_size = 0;
    peer->body_size = 0;
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *user)
{
    struct peer *peer = user;
    int size = snprintf(peer->fields + peer->fields_size, PEER_FIELDS_BYTES - peer->fields_size,
                        "%.*s: %.*s\n", (int)name_size, name, (int)value_size, value);

    (void)session;
    (void)frame;
    (void)flags;
    assert_in_range(peer->fields_size + (size_t)size, 1, PEER_FIELDS_BYTES - 1);
    peer->fields_size += (size_t)size;
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
                   size_t size, void *user)
{
    struct peer *peer = user;

    (void)flags;
    for (size_t i = 0; i < size && peer->body_size + i < sizeof(peer->body); i++) {
        peer->body[peer->body_size + i] = data[i];
    }
    peer->body_size += size;
    if (!peer->script.holds_windows) {
        assert_int_equal(nghttp2_session_consume(session, stream, size), 0);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct peer *peer = user;
    bool request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

    (void)session;
    peer->reset_count += frame->hd.type == NGHTTP2_RST_STREAM ? 1 : 0;
    peer->window_update_count += frame->hd.type == NGHTTP2_WINDOW_UPDATE ? 1 : 0;
    if (request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        assert_true(peer->pending < PEER_PENDING_MAX);
        peer->requests[(peer->first + peer->pending++) % PEER_PENDING_MAX] =
            (struct peer_request){.stream = frame->hd.stream_id};
        peer->request_count++;
    }
    return 0;
}

/* Frames that break the protocol end the test. */
static int on_invalid(nghttp2_session *session, const nghttp2_frame *frame, int error, void *user)
{
    (void)session;
    (void)user;
    print_error("invalid frame of type %d: %s\n", frame->hd.type, nghttp2_strerror(error));
    fail();
    return 0;
}

static ssize_t pad(nghttp2_session *session, const nghttp2_frame *frame, size_t most, void *user)
{
    struct peer *peer = user;
    size_t wanted = frame->hd.length + peer->script.padding;

    (void)session;
    return (ssize_t)(wanted < most ? wanted : most);
}

void peer_open(struct peer *peer, const struct peer_script *script)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    nghttp2_settings_entry settings[3];
    size_t count = 0;

    memset(peer, 0, sizeof(*peer));
    peer->script = *script;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    assert_int_equal(nghttp2_option_new(&option), 0);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid);
    nghttp2_session_callbacks_set_select_padding_callback(callbacks, pad);
    assert_int_equal(nghttp2_session_server_new2(&peer->session, callbacks, peer, option), 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    if (script->streams_max > 0) {
        settings[count++] =
            (nghttp2_settings_entry){NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, script->streams_max};
    }
    if (script->table_bytes >= 0) {
        settings[count++] = (nghttp2_settings_entry){NGHTTP2_SETTINGS_HEADER_TABLE_SIZE,
                                                     (uint32_t)script->table_bytes};
    }
    if (script->stream_window > 0) {
        settings[count++] =
            (nghttp2_settings_entry){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, script->stream_window};
    }
    assert_int_equal(nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, settings, count), 0);
}

void peer_close(struct peer *peer)
{
    nghttp2_session_del(peer->session);
}

void peer_feed(struct peer *peer, struct slice bytes)
{
    ssize_t used = nghttp2_session_mem_recv(peer->session, bytes.data, bytes.size);

    if (used != (ssize_t)bytes.size) {
        print_error("the peer: %s\n", used < 0 ? nghttp2_strerror((int)used) : "not all was read");
        fail();
    }
}

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NONE};
}

/* grpc-status and grpc-message, as the script has them. */
static size_t add_status(const struct peer *peer, nghttp2_nv *fields, size_t count)
{
    const char *status = peer->script.status != NULL ? peer->script.status : "0";

    if (status[0] != '\0') {
        fields[count++] = field("grpc-status", status);
    }
    if (peer->script.message != NULL) {
        fields[count++] = field("grpc-message", peer->script.message);
    }
    return count;
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *bytes, size_t size,
                         uint32_t *flags, nghttp2_data_source *data, void *user)
{
    struct peer *peer = user;
    struct peer_request *request = data->ptr;
    size_t whole = 5 + peer->script.body_bytes - peer->script.body_lacks;
    size_t now = whole - request->sent < size ? whole - request->sent : size;

    for (size_t i = 0; i < now; i++) {
        uint8_t prefix[5] = {peer->script.body_flag};
        size_t at = request->sent + i;

        bytes_put_be32(prefix + 1, (uint32_t)peer->script.body_bytes);
        bytes[i] = at < 5 ? prefix[at] : (uint8_t)at;
    }
    request->sent += now;
    if (request->sent == whole) {
        nghttp2_nv trailers[2];
        size_t count = add_status(peer, trailers, 0);

        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (count > 0) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            assert_int_equal(nghttp2_submit_trailer(session, stream, trailers, count), 0);
        }
    }
    return (ssize_t)now;
}

static void answer(struct peer *peer, struct peer_request *request)
{
    const struct peer_script *script = &peer->script;
    char *filler = NULL;
    nghttp2_nv fields[5];
    size_t count = 0;
    nghttp2_data_provider provider = {.source = {.ptr = request}, .read_callback = read_body};

    if (script->reset != 0) {
        assert_int_equal(nghttp2_submit_rst_stream(peer->session, NGHTTP2_FLAG_NONE,
                                                   request->stream, script->reset),
                         0);
        return;
    }
    fields[count++] = field(":status", script->http_status != NULL ? script->http_status : "200");
    fields[count++] = field("content-type", "application/grpc");
    if (script->long_field_bytes > 0) {
        filler = malloc(script->long_field_bytes + 1);
        assert_non_null(filler);
        memset(filler, '~', script->long_field_bytes);
        filler[script->long_field_bytes] = '\0';
        fields[count++] = field("x-long", filler);
    }
    if (script->trailers_only) {
        count = add_status(peer, fields, count);
    }
    assert_int_equal(nghttp2_submit_response(peer->session, request->stream, fields, count,
                                             script->trailers_only ? NULL : &provider),
                     0);
    free(filler);
}

/* Collects all frames that the session has to send now. */
static void gather(struct peer *peer)
{
    for (;;) {
        const uint8_t *bytes = NULL;
        ssize_t size = nghttp2_session_mem_send(peer->session, &bytes);

        assert_true(size >= 0 && peer->out_size + (size_t)size <= PEER_OUT_BYTES);
        if (size == 0) {
            return;
        }
        memcpy(peer->out + peer->out_size, bytes, (size_t)size);
        peer->out_size += (size_t)size;
    }
}

void peer_answer(struct peer *peer, size_t count)
{
    while (count > 0 && peer->pending > 0) {
        struct peer_request *request = &peer->requests[peer->first % PEER_PENDING_MAX];

        peer->first++;
        peer->pending--;
        count--;
        answer(peer, request);
        gather(peer); /* the request's place is used again later */
    }
}

void peer_answer_early(struct peer *peer, int32_t stream)
{
    struct peer_request request = {.stream = stream};

    answer(peer, &request);
    gather(peer);
}

struct slice peer_take(struct peer *peer)
{
    struct slice taken = {peer->out, 0};

    gather(peer);
    taken.size = peer->out_size;
    peer->out_size = 0;
    return taken;
}

void peer_open_windows(struct peer *peer)
{
    assert_int_equal(nghttp2_submit_window_update(peer->session, NGHTTP2_FLAG_NONE, 0, 1 << 20), 0);
}

void peer_go_away(struct peer *peer, uint32_t error)
{
    assert_int_equal(nghttp2_submit_goaway(peer->session, NGHTTP2_FLAG_NONE,
                                           nghttp2_session_get_last_proc_stream_id(peer->session),
                                           error, (const uint8_t *)"bye", 3),
                     0);
}
