/*
 * connection.c: see connection.h. Starts calls, and owns them until they end.
 */
#include "tools/bench/load/connection_internal.h"

#include "store/base/assert.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define OUT_BYTES_FIRST ((size_t)16 * 1024)
#define BUCKETS_FIRST 64
#define WAITING_FIRST 16
#define SETTING_BYTES 6
#define USER_AGENT "errata-bench/" ERRATA_VERSION

/* --- making one --- */

enum err connection_fail(struct connection *connection, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)vsnprintf(connection->problem, PROBLEM_BYTES, format, values);
    va_end(values);
    return ERR_PRECONDITION;
}

static void add_field(struct connection *connection, size_t kind, struct slice name,
                      struct slice value)
{
    connection->fields[kind][connection->field_count++] =
        (struct hpack_field){.name = name, .value = value};
}

/* Creates the header fields in the order of common clients: pseudo fields first, then constant
 * fields. */
static enum err make_fields(struct connection *connection, struct slice authorization,
                            struct fault *fault)
{
    const struct connection_shared *shared = connection->shared;

    for (size_t kind = 0; kind < shared->kind_count; kind++) {
        connection->field_count = 0;
        add_field(connection, kind, SLICE(":method"), shared->get ? SLICE("GET") : SLICE("POST"));
        add_field(connection, kind, SLICE(":scheme"),
                  shared->secure ? SLICE("https") : SLICE("http"));
        add_field(connection, kind, SLICE(":path"), shared->kinds[kind].path);
        add_field(connection, kind, SLICE(":authority"), shared->authority);
        if (!shared->plain) {
            add_field(connection, kind, SLICE("content-type"), SLICE("application/grpc"));
            add_field(connection, kind, SLICE("te"), SLICE("trailers"));
        }
        add_field(connection, kind, SLICE("user-agent"), SLICE(USER_AGENT));
        if (authorization.size > 0) {
            add_field(connection, kind, SLICE("authorization"), authorization);
        }
        for (size_t i = 0; i < shared->extra_count; i++) {
            add_field(connection, kind, shared->extra[i].name, shared->extra[i].value);
        }
        if (!hpack_fit(connection->fields[kind], connection->field_count + 1)) {
            return fault_say(fault, ERR_INVALID,
                             "the header fields of a call exceed %d bytes in total",
                             HPACK_BLOCK_BYTES_MAX - HPACK_OVERHEAD_BYTES);
        }
    }
    return OK;
}

static void put_setting(uint8_t *at, uint16_t id, uint32_t value)
{
    at[0] = (uint8_t)(id >> 8);
    at[1] = (uint8_t)id;
    bytes_put_be32(at + 2, value);
}

/* Makes room for `more` bytes after the pending output. Returns false if memory is exhausted. */
static bool reserve(struct connection *connection, size_t more)
{
    size_t used = connection->out_end - connection->out_start;
    size_t room = connection->out_room == 0 ? OUT_BYTES_FIRST : connection->out_room;
    uint8_t *out = NULL;

    if (connection->out_room - connection->out_end >= more && connection->out_room > 0) {
        return true;
    }
    while (room < used + more) {
        room *= 2;
    }
    if (room == connection->out_room) {
        memmove(connection->out, connection->out + connection->out_start, used);
    } else {
        out = malloc(room);
        if (out == NULL) {
            return false;
        }
        if (used > 0) {
            memcpy(out, connection->out + connection->out_start, used);
        }
        free(connection->out);
        connection->out = out;
        connection->out_room = room;
    }
    connection->out_start = 0;
    connection->out_end = used;
    return true;
}

uint8_t *connection_put_frame(struct connection *connection, struct http2_head head)
{
    uint8_t *at = NULL;

    if (!reserve(connection, HTTP2_FRAME_HEAD_BYTES + head.size)) {
        return NULL;
    }
    at = connection->out + connection->out_end;
    http2_put_head(at, head);
    connection->out_end += HTTP2_FRAME_HEAD_BYTES + head.size;
    return at + HTTP2_FRAME_HEAD_BYTES;
}

/* Writes the preface, with no push, and windows that never block the server (RFC 9113, section
 * 3.4). */
static bool put_preface(struct connection *connection)
{
    size_t size = sizeof(HTTP2_PREFACE) - 1;
    uint8_t *payload = NULL;

    if (!reserve(connection, size)) {
        return false;
    }
    memcpy(connection->out + connection->out_end, HTTP2_PREFACE, size);
    connection->out_end += size;
    payload = connection_put_frame(connection,
                                   (struct http2_head){2 * SETTING_BYTES, HTTP2_SETTINGS, 0, 0});
    if (payload == NULL) {
        return false;
    }
    put_setting(payload, HTTP2_ENABLE_PUSH, 0);
    put_setting(payload + SETTING_BYTES, HTTP2_INITIAL_WINDOW_SIZE, HTTP2_WINDOW_MAX);
    payload = connection_put_frame(connection, (struct http2_head){4, HTTP2_WINDOW_UPDATE, 0, 0});
    if (payload == NULL) {
        return false;
    }
    bytes_put_be32(payload, CONNECTION_WINDOW - HTTP2_WINDOW_START);
    return true;
}

enum err connection_new(const struct connection_shared *shared, size_t index,
                        struct slice authorization, struct fault *fault,
                        struct connection **ret_connection)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    enum err err = OK;

    if (connection == NULL) {
        return ERR_MEMORY;
    }
    connection->shared = shared;
    connection->index = index;
    connection->window = HTTP2_WINDOW_START;
    connection->stream_window = HTTP2_WINDOW_START;
    connection->frame_bytes_max = HTTP2_FRAME_BYTES_MAX;
    connection->streams_max = CONNECTION_STREAMS_MAX;
    connection->next_stream = 1;
    connection->bucket_count = BUCKETS_FIRST;
    connection->buckets = calloc(BUCKETS_FIRST, sizeof(struct call *));
    err = hpack_init(&connection->hpack, shared->way);
    if (err == OK && (connection->buckets == NULL || !put_preface(connection) ||
                      nghttp2_hd_inflate_new(&connection->inflater) != 0)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = make_fields(connection, authorization, fault);
    }
    if (err != OK) {
        connection_free(connection);
        return err;
    }
    *ret_connection = connection;
    return OK;
}

static void free_calls(struct call *take_calls)
{
    while (take_calls != NULL) {
        struct call *call = take_calls;

        take_calls = call->next;
        free(call->owned);
        free(call);
    }
}

void connection_free(struct connection *take_connection)
{
    if (take_connection == NULL) {
        return;
    }
    for (size_t i = 0; take_connection->buckets != NULL && i < take_connection->bucket_count; i++) {
        free_calls(take_connection->buckets[i]);
    }
    free_calls(take_connection->free_calls);
    for (size_t i = 0; i < LOAD_KINDS_MAX; i++) {
        free(take_connection->blocks[i].bytes);
    }
    if (take_connection->inflater != NULL) {
        nghttp2_hd_inflate_del(take_connection->inflater);
    }
    hpack_deinit(&take_connection->hpack);
    free(take_connection->buckets);
    free(take_connection->waiting.ring);
    free(take_connection->out);
    free(take_connection);
}

/* --- bytes --- */

bool connection_is_ready(const struct connection *connection)
{
    return connection->ready;
}

const char *connection_problem(const struct connection *connection)
{
    return connection->problem;
}

struct slice connection_output(const struct connection *connection)
{
    return slice_of(connection->out + connection->out_start,
                    connection->out_end - connection->out_start);
}

void connection_sent(struct connection *connection, size_t size)
{
    ASSERT(size <= connection->out_end - connection->out_start);
    connection->out_start += size;
    if (connection->out_start == connection->out_end) {
        connection->out_start = 0;
        connection->out_end = 0;
    }
}

/* Completes an incomplete frame; returns the rest of `bytes`. */
static enum err complete_rest(struct connection *connection, struct slice *bytes)
{
    size_t wanted = HTTP2_FRAME_HEAD_BYTES;
    size_t size = 0;

    if (connection->rest_size >= HTTP2_FRAME_HEAD_BYTES) {
        wanted += http2_get_head(connection->rest).size;
    }
    if (wanted > sizeof(connection->rest)) {
        return connection_fail(connection,
                               "the server sent a frame of %zu bytes, which exceeds the limit",
                               wanted - HTTP2_FRAME_HEAD_BYTES);
    }
    size = wanted - connection->rest_size;
    size = size < bytes->size ? size : bytes->size;
    memcpy(connection->rest + connection->rest_size, bytes->data, size);
    connection->rest_size += size;
    *bytes = slice_after(*bytes, size);
    if (connection->rest_size < HTTP2_FRAME_HEAD_BYTES ||
        connection->rest_size < HTTP2_FRAME_HEAD_BYTES + http2_get_head(connection->rest).size) {
        return OK;
    }
    connection->rest_size = 0;
    return connection_read_frame(connection, connection->rest);
}

enum err connection_feed(struct connection *connection, struct slice bytes)
{
    enum err err = OK;

    while (bytes.size > 0 && err == OK) {
        size_t whole = bytes.size >= HTTP2_FRAME_HEAD_BYTES
                           ? HTTP2_FRAME_HEAD_BYTES + http2_get_head(bytes.data).size
                           : SIZE_MAX;

        if (connection->rest_size > 0 || bytes.size < whole) {
            err = complete_rest(connection, &bytes);
        } else if (whole > sizeof(connection->rest)) {
            err = connection_fail(connection,
                                  "the server sent a frame of %zu bytes, which exceeds the limit",
                                  whole - HTTP2_FRAME_HEAD_BYTES);
        } else {
            err = connection_read_frame(connection, bytes.data);
            bytes = slice_after(bytes, whole);
        }
    }
    return err;
}

/* --- calls in flight --- */

static struct call **bucket_of(struct connection *connection, uint32_t stream)
{
    return &connection->buckets[(stream >> 1) & (connection->bucket_count - 1)];
}

struct call *connection_find(struct connection *connection, uint32_t stream)
{
    struct call *call = *bucket_of(connection, stream);

    while (call != NULL && call->stream != stream) {
        call = call->next;
    }
    return call;
}

/* Doubles the buckets if there are as many calls; without memory the lists only get longer. */
static void add_buckets(struct connection *connection)
{
    size_t old_count = connection->bucket_count;
    struct call **old = connection->buckets;
    struct call **buckets = calloc(2 * old_count, sizeof(struct call *));

    if (buckets == NULL) {
        return;
    }
    connection->buckets = buckets;
    connection->bucket_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i] != NULL) {
            struct call *call = old[i];
            struct call **bucket = bucket_of(connection, call->stream);

            old[i] = call->next;
            call->next = *bucket;
            *bucket = call;
        }
    }
    free(old);
}

static struct call *take_call(struct connection *connection, uint32_t kind, uint64_t due_ns)
{
    struct call *call = connection->free_calls;
    struct call **bucket = NULL;

    if (call != NULL) {
        connection->free_calls = call->next;
    } else {
        call = malloc(sizeof(*call));
        if (call == NULL) {
            return NULL;
        }
    }
    if (connection->in_flight == connection->bucket_count) {
        add_buckets(connection);
    }
    *call = (struct call){.stream = connection->next_stream,
                          .kind = kind,
                          .due_ns = due_ns,
                          .window = connection->stream_window,
                          .http_status = -1,
                          .grpc_status = -1};
    connection->next_stream += 2;
    if (connection->next_stream >= HTTP2_STREAM_MAX) {
        connection->going_away = true;
        (void)connection_fail(connection, "the connection has no stream ids left");
    }
    connection->in_flight++;
    bucket = bucket_of(connection, call->stream);
    call->next = *bucket;
    *bucket = call;
    return call;
}

/* Takes a body out of the queue of those that wait for a window. */
static void forget_unsent(struct connection *connection, struct call *call)
{
    struct call *before = NULL;

    for (struct call *at = connection->unsent_first; at != call; at = at->next_unsent) {
        before = at;
    }
    if (before == NULL) {
        connection->unsent_first = call->next_unsent;
    } else {
        before->next_unsent = call->next_unsent;
    }
    if (connection->unsent_last == call) {
        connection->unsent_last = before;
    }
}

void connection_end(struct connection *connection, struct call *take_call, enum answer_wrong wrong,
                    uint64_t code)
{
    struct call **at = bucket_of(connection, take_call->stream);
    const struct answer answer = {.kind = take_call->kind,
                                  .due_ns = take_call->due_ns,
                                  .body_bytes = take_call->received,
                                  .wrong = wrong,
                                  .code = code,
                                  .message =
                                      slice_of(connection->message, connection->message_size)};

    while (*at != take_call) {
        at = &(*at)->next;
    }
    *at = take_call->next;
    if (take_call->body != NULL) {
        forget_unsent(connection, take_call);
    }
    free(take_call->owned);
    take_call->owned = NULL;
    take_call->next = connection->free_calls;
    connection->free_calls = take_call;
    connection->in_flight--;
    connection->shared->on_answer(connection->shared->owner, connection->index, &answer);
}

void connection_abandon(struct connection *connection)
{
    connection->message_size = 0;
    for (size_t i = 0; i < connection->bucket_count; i++) {
        while (connection->buckets[i] != NULL) {
            connection_end(connection, connection->buckets[i], ANSWER_LOST, 0);
        }
    }
}

size_t connection_in_flight(const struct connection *connection)
{
    return connection->in_flight;
}

uint32_t connection_streams_allowed(const struct connection *connection)
{
    return connection->streams_max;
}

/* --- sending --- */

/* Writes a field without indexing at the end of a block. */
static size_t put_key(struct connection *connection, uint8_t *out)
{
    static const char name[] = "idempotency-key";
    char key[CONNECTION_KEY_BYTES + 1];
    int size =
        snprintf(key, sizeof(key), "%016" PRIx64 "-%04zx-%016" PRIx64, connection->shared->run_id,
                 connection->index & 0xffff, connection->key_count++);

    out[0] = 0;
    out[1] = sizeof(name) - 1;
    memcpy(out + 2, name, sizeof(name) - 1);
    out[sizeof(name) + 1] = (uint8_t)size;
    memcpy(out + sizeof(name) + 2, key, (size_t)size);
    return sizeof(name) + 2 + (size_t)size;
}

/* Writes the header block of a kind; the previous bytes are reused if the table is unchanged. */
static enum err put_block(struct connection *connection, uint32_t kind, uint8_t *out,
                          size_t *ret_size)
{
    struct cached_block *cached = &connection->blocks[kind];
    struct hpack *hpack = &connection->hpack;
    uint32_t generation = hpack->generation;
    bool repeatable = hpack_is_repeatable(hpack);
    enum err err = OK;

    if (cached->bytes != NULL && cached->generation == generation && repeatable) {
        memcpy(out, cached->bytes, cached->size);
        *ret_size = cached->size;
        return OK;
    }
    err = hpack_encode(hpack, connection->fields[kind], connection->field_count, out, ret_size);
    if (err != OK || !repeatable || generation != hpack->generation) {
        return err;
    }
    free(cached->bytes);
    *cached = (struct cached_block){malloc(*ret_size), *ret_size, generation};
    if (cached->bytes == NULL) {
        return ERR_MEMORY;
    }
    memcpy(cached->bytes, out, *ret_size);
    return OK;
}

static bool put_headers(struct connection *connection, const struct call *call, bool ends)
{
    uint8_t *head = NULL;
    size_t size = 0;

    if (!reserve(connection,
                 HTTP2_FRAME_HEAD_BYTES + HPACK_BLOCK_BYTES_MAX + 2 * CONNECTION_KEY_BYTES)) {
        return false;
    }
    head = connection->out + connection->out_end;
    if (put_block(connection, call->kind, head + HTTP2_FRAME_HEAD_BYTES, &size) != OK) {
        return false;
    }
    if (connection->shared->idempotency_keys) {
        size += put_key(connection, head + HTTP2_FRAME_HEAD_BYTES + size);
    }
    http2_put_head(head, (struct http2_head){(uint32_t)size, HTTP2_HEADERS,
                                             HTTP2_END_HEADERS | (ends ? HTTP2_END_STREAM : 0),
                                             call->stream});
    connection->out_end += HTTP2_FRAME_HEAD_BYTES + size;
    return true;
}

static struct slice draw_body(const struct connection *connection, const struct requests *requests)
{
    const struct requests_group *group =
        &requests->groups[connection->index % requests->group_count];

    return group->bodies[draw_below(&connection->shared->source->draw, group->count)];
}

static void note_window(struct connection *connection, struct call *call, size_t size)
{
    connection->window -= (int64_t)size;
    call->window -= (int64_t)size;
}

/* Writes a whole body after its headers into the output buffer. */
static bool put_body_at_once(struct connection *connection, struct call *call, struct slice body)
{
    const struct load_kind *kind = &connection->shared->kinds[call->kind];
    uint8_t *payload =
        connection_put_frame(connection, (struct http2_head){(uint32_t)body.size, HTTP2_DATA,
                                                             HTTP2_END_STREAM, call->stream});

    if (payload == NULL) {
        return false;
    }
    if (kind->template != NULL) {
        template_render(kind->template, connection->shared->source, payload);
    } else if (body.size > 0) {
        memcpy(payload, body.data, body.size);
    }
    note_window(connection, call, body.size);
    return true;
}

/* Queues a body that is sent as the windows allow. */
static bool queue_body(struct connection *connection, struct call *call, struct slice body)
{
    const struct load_kind *kind = &connection->shared->kinds[call->kind];

    if (kind->template != NULL) {
        call->owned = malloc(body.size);
        if (call->owned == NULL) {
            return false;
        }
        template_render(kind->template, connection->shared->source, call->owned);
        body.data = call->owned;
    }
    call->body = body.data;
    call->body_size = body.size;
    if (connection->unsent_last != NULL) {
        connection->unsent_last->next_unsent = call;
    } else {
        connection->unsent_first = call;
    }
    connection->unsent_last = call;
    return true;
}

static bool submit(struct connection *connection, uint32_t kind_index, uint64_t due_ns)
{
    const struct load_kind *kind = &connection->shared->kinds[kind_index];
    struct call *call = take_call(connection, kind_index, due_ns);
    bool has_body = !connection->shared->get;
    struct slice body = {NULL, 0};

    if (call == NULL || !put_headers(connection, call, !has_body)) {
        return false;
    }
    if (!has_body) {
        return true;
    }
    body = kind->template != NULL ? kind->template->body : draw_body(connection, kind->requests);
    if ((int64_t)body.size <= connection->window && (int64_t)body.size <= call->window &&
        body.size <= connection->frame_bytes_max && connection->unsent_first == NULL) {
        return put_body_at_once(connection, call, body);
    }
    return queue_body(connection, call, body);
}

/* Sends the next piece of a body; returns false if a window, or the buffer, has no room. */
static bool put_piece(struct connection *connection, struct call *call)
{
    int64_t room = connection->window < call->window ? connection->window : call->window;
    size_t size = call->body_size;
    uint8_t *payload = NULL;

    size = size < connection->frame_bytes_max ? size : connection->frame_bytes_max;
    size = (int64_t)size <= room ? size : (size_t)(room > 0 ? room : 0);
    if ((size == 0 && call->body_size > 0) ||
        connection->out_end - connection->out_start > CONNECTION_OUT_BYTES_MAX) {
        return false;
    }
    payload = connection_put_frame(
        connection,
        (struct http2_head){(uint32_t)size, HTTP2_DATA,
                            size == call->body_size ? HTTP2_END_STREAM : 0, call->stream});
    if (payload == NULL) {
        return false;
    }
    memcpy(payload, call->body, size);
    note_window(connection, call, size);
    call->body += size;
    call->body_size -= size;
    if (call->body_size == 0) {
        forget_unsent(connection, call);
        call->body = NULL;
        call->next_unsent = NULL;
    }
    return true;
}

static void put_unsent(struct connection *connection)
{
    struct call *next = NULL;

    for (struct call *call = connection->unsent_first; call != NULL; call = next) {
        next = call->next_unsent;
        while (call->body != NULL && put_piece(connection, call)) {
        }
    }
}

/* --- waiting --- */

static bool may_start(const struct connection *connection)
{
    return connection->ready && !connection->going_away &&
           connection->in_flight < connection->streams_max &&
           connection->out_end - connection->out_start <= CONNECTION_OUT_BYTES_MAX;
}

static bool add_waiting(struct waiting *waiting, uint32_t kind, uint64_t due_ns)
{
    if (waiting->count == waiting->room) {
        size_t room = waiting->room == 0 ? WAITING_FIRST : 2 * waiting->room;
        struct waiting_call *ring =
            room <= CONNECTION_WAITING_MAX ? malloc(room * sizeof(*ring)) : NULL;

        if (ring == NULL) {
            return false;
        }
        for (size_t i = 0; i < waiting->count; i++) {
            ring[i] = waiting->ring[(waiting->first + i) & (waiting->room - 1)];
        }
        free(waiting->ring);
        *waiting = (struct waiting){ring, room, 0, waiting->count};
    }
    waiting->ring[(waiting->first + waiting->count++) & (waiting->room - 1)] =
        (struct waiting_call){due_ns, kind};
    return true;
}

bool connection_take_waiting(struct connection *connection, uint64_t *ret_due_ns,
                             uint32_t *ret_kind)
{
    struct waiting *waiting = &connection->waiting;

    if (waiting->count == 0) {
        return false;
    }
    *ret_due_ns = waiting->ring[waiting->first].due_ns;
    *ret_kind = waiting->ring[waiting->first].kind;
    waiting->first = (waiting->first + 1) & (waiting->room - 1);
    waiting->count--;
    return true;
}

size_t connection_waiting(const struct connection *connection)
{
    return connection->waiting.count;
}

bool connection_has_unsent(const struct connection *connection)
{
    return connection->unsent_first != NULL;
}

bool connection_start(struct connection *connection, uint32_t kind, uint64_t due_ns)
{
    if (connection->waiting.count > 0 || !may_start(connection)) {
        return add_waiting(&connection->waiting, kind, due_ns);
    }
    return submit(connection, kind, due_ns);
}

enum err connection_advance(struct connection *connection)
{
    uint64_t due_ns = 0;
    uint32_t kind = 0;

    if (connection->unsent_first != NULL) {
        put_unsent(connection);
    }
    while (connection->waiting.count > 0 && may_start(connection) &&
           connection_take_waiting(connection, &due_ns, &kind)) {
        if (!submit(connection, kind, due_ns)) {
            return connection_fail(connection, "out of memory");
        }
    }
    return OK;
}

bool connection_is_over(const struct connection *connection)
{
    return connection->going_away && connection->in_flight == 0;
}
