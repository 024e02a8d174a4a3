/*
 * uploads.c: see uploads.h. Each place for a file is a small state machine on one loop:
 *
 *     EMPTY -> SENDING -> SENT -> EMPTY, and from SENDING and SENT over RESTING back to SENDING
 *
 * A call of the channel is under way only in SENDING and SENT; the timer runs only in RESTING.
 */
#include "tools/errata/layouts/uploads.h"

#include "client/details.h"
#include "client/header.h"
#include "client/retry.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "tools/errata/engine/connect.h"

#include <errata/v1/layout_service.fields.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

/* A reply: 5,000 page sizes, a snippet, and a text of 1 MiB. */
#define REPLY_ARENA_BYTES_MAX ((size_t)4 * 1024 * 1024)
/* Maximum size of a piece with its prefix. */
#define PIECE_ARENA_BYTES_MAX ((size_t)1024 * 1024)

struct uploads;

enum upload_state {
    UPLOAD_EMPTY,
    UPLOAD_SENDING,
    UPLOAD_SENT,
    UPLOAD_RESTING
};

struct upload {
    struct uploads *uploads;
    enum upload_state state;
    struct upload_file file;
    char *path; /* owned: of `file` */
    char *document_id; /* owned: of `file` */
    int fd; /* -1 if EMPTY */
    uint64_t read_bytes;
    uint64_t moved_bytes; /* bytes reported to the caller */
    bool named; /* the message that names the document was accepted */
    uint8_t *block; /* owned: UPLOAD_PIECE_BYTES to read into */
    struct arena piece_arena;
    struct slice piece; /* the next message; empty: to be read */
    struct arena reply_arena;
    struct slice reply;
    struct client_call *call;
    uv_timer_t timer;
    const char *problem; /* reason why the file cannot be read further; NULL: none */
    unsigned pauses;
    int64_t busy_ms; /* total pauses for a busy server */
    int64_t lost_ms; /* total pauses for a lost server */
};

struct uploads {
    const struct uploads_config *config;
    uv_loop_t loop;
    uv_signal_t interrupt;
    uv_timer_t tick;
    struct client_channel *channel; /* owned; NULL: none */
    size_t calls; /* number of running calls of the channel */
    size_t live; /* number of uploads that are not EMPTY */
    bool answered; /* the server has answered a call, so it is reachable */
    struct arena *arena; /* memory of the result */
    struct uploads_result result;
    struct upload places[UPLOADS_MAX];
};

static bool is_stopped(const struct uploads *uploads)
{
    return uploads->result.stop != UPLOADS_RAN;
}

static void drop_file(struct upload *upload)
{
    (void)close(upload->fd);
    upload->fd = -1;
    free(upload->path);
    free(upload->document_id);
    upload->path = NULL;
    upload->document_id = NULL;
}

/* Ends a file and frees its place. */
static void finish(struct upload *upload, const struct upload_end *end)
{
    struct uploads *uploads = upload->uploads;

    ASSERT(upload->state != UPLOAD_EMPTY && upload->call == NULL);
    uploads->config->handlers.done(uploads->config->handlers.user, &upload->file, end);
    drop_file(upload);
    arena_reset(&upload->piece_arena);
    arena_reset(&upload->reply_arena);
    upload->piece = slice_of(NULL, 0);
    upload->state = UPLOAD_EMPTY;
    ASSERT(uploads->live > 0);
    uploads->live--;
}

/* Stops all uploads: cancels running calls, and ends the files that are waiting. */
static void stop(struct uploads *uploads, enum uploads_stop why)
{
    static const struct upload_end unsent = {.kind = UPLOAD_UNSENT};

    if (is_stopped(uploads)) {
        return;
    }
    uploads->result.stop = why;
    for (size_t i = 0; i < uploads->config->at_once; i++) {
        struct upload *upload = &uploads->places[i];

        if (upload->call != NULL) {
            uploads->channel->ops->cancel(uploads->channel, upload->call);
        } else if (upload->state == UPLOAD_RESTING) {
            (void)uv_timer_stop(&upload->timer);
            finish(upload, &unsent);
        }
    }
}

static void stop_local(struct uploads *uploads, enum cli_exit exit)
{
    if (!is_stopped(uploads)) {
        uploads->result.exit = exit;
    }
    stop(uploads, UPLOADS_LOCAL);
}

static void on_interrupt(uv_signal_t *handle, int number)
{
    (void)number;
    stop(handle->data, UPLOADS_INTERRUPTED);
}

static void on_tick(uv_timer_t *timer)
{
    const struct uploads *uploads = timer->data;

    uploads->config->handlers.ticked(uploads->config->handlers.user);
}

/* --- one call --- */

/* Makes the next message of the file; returns false if there is none, because the file has ended or
 * cannot be read. */
static bool read_piece(struct upload *upload)
{
    struct slice password = upload->uploads->config->password;
    ssize_t size = pread(upload->fd, upload->block, UPLOAD_PIECE_BYTES, (off_t)upload->read_bytes);
    struct buffer message;

    if (size < 0) {
        upload->problem = strerror(errno);
        return false;
    }
    upload->read_bytes += (uint64_t)size;
    if (upload->read_bytes > PDF_DOCUMENT_BYTES_MAX) {
        upload->problem = UPLOAD_TOO_LARGE;
        return false;
    }
    if (size == 0 && upload->named) {
        return false;
    }
    arena_reset(&upload->piece_arena);
    buffer_init(&message, &upload->piece_arena, UPLOAD_PIECE_BYTES + 1024);
    if (!upload->named) {
        wire_put_bytes(&message, INGEST_DOCUMENT_STREAM_REQUEST_DOCUMENT_ID_FIELD,
                       slice_text(upload->document_id));
        if (password.size > 0) {
            wire_put_bytes(&message, INGEST_DOCUMENT_STREAM_REQUEST_PASSWORD_FIELD, password);
        }
        wire_put_varint_given(&message, INGEST_DOCUMENT_STREAM_REQUEST_INCLUDE_TEXT_FIELD,
                              upload->uploads->config->include_text ? 1 : 0);
    }
    wire_put_bytes(&message, INGEST_DOCUMENT_STREAM_REQUEST_CONTENT_FIELD,
                   slice_of(upload->block, (size_t)size));
    upload->piece = buffer_slice(&message);
    if (!buffer_ok(&message)) {
        upload->problem = "out of memory";
        return false;
    }
    return true;
}

/* The file has no more readable bytes. */
static void end_pieces(struct upload *upload)
{
    struct client_channel *channel = upload->uploads->channel;

    upload->state = UPLOAD_SENT;
    if (upload->problem != NULL || channel->ops->half_close(channel, upload->call) != OK) {
        channel->ops->cancel(channel, upload->call); /* no effect if the call has ended */
    }
}

/* Reports the change in the number of sent bytes. */
static void move(struct upload *upload, int64_t bytes)
{
    const struct uploads_handlers *handlers = &upload->uploads->config->handlers;

    upload->moved_bytes = (uint64_t)((int64_t)upload->moved_bytes + bytes);
    handlers->moved(handlers->user, &upload->file, bytes);
}

static void on_writable(void *user)
{
    struct upload *upload = user;
    struct uploads *uploads = upload->uploads;

    while (upload->state == UPLOAD_SENDING) {
        enum err err = OK;

        if (upload->piece.size == 0 && !read_piece(upload)) {
            end_pieces(upload);
            return;
        }
        err = uploads->channel->ops->send(uploads->channel, upload->call, upload->piece);
        if (err == ERR_BUSY || err == ERR_CANCELLED) {
            return; /* on_end reports the end, or this function is called again */
        }
        if (err != OK) {
            upload->problem = err_text(err);
            end_pieces(upload);
            return;
        }
        upload->named = true;
        upload->piece = slice_of(NULL, 0);
        move(upload, (int64_t)(upload->read_bytes - upload->moved_bytes));
    }
}

static void on_reply(void *user, struct slice message)
{
    struct upload *upload = user;

    if (!arena_copy(&upload->reply_arena, message, &upload->reply)) {
        upload->problem = "the response is larger than this program accepts";
    }
}

/* --- ends --- */

/* Copies the status that stopped all uploads, for the caller to print. */
static void keep_status(struct uploads *uploads, const struct client_status *status)
{
    struct client_status *kept = &uploads->result.status;

    *kept = (struct client_status){.code = status->code, .from_server = status->from_server};
    if (!arena_copy(uploads->arena, status->message, &kept->message) ||
        !arena_copy(uploads->arena, status->details, &kept->details)) {
        kept->details = slice_of(NULL, 0);
    }
}

static int64_t next_pause_ms(const struct upload *upload)
{
    int64_t pause_ms = UPLOAD_PAUSE_FIRST_MS;

    for (unsigned i = 0; i < upload->pauses && pause_ms < UPLOAD_PAUSE_LAST_MS; i++) {
        pause_ms *= 2;
    }
    return pause_ms < UPLOAD_PAUSE_LAST_MS ? pause_ms : UPLOAD_PAUSE_LAST_MS;
}

/* Returns the pause before the file is sent again; -1: the file has ended. */
static int64_t pause_after(struct upload *upload, const struct client_status *status)
{
    struct client_details details = {.retry_ms = -1};
    bool busy = status->from_server && (status->code == CLIENT_CODE_UNAVAILABLE ||
                                        status->code == CLIENT_CODE_RESOURCE_EXHAUSTED);
    bool lost = !status->from_server && status->code == CLIENT_CODE_UNAVAILABLE;
    int64_t pause_ms = next_pause_ms(upload);
    int64_t wait_ms = 0;

    if (busy && client_repeat_allowed(status, &wait_ms) == CLIENT_REPEAT_NEVER) {
        return -1;
    }
    if (busy && client_details_read(status->details, &details) == OK && details.retry_ms >= 0) {
        pause_ms = wait_ms > pause_ms ? wait_ms : pause_ms;
        upload->busy_ms += pause_ms;
        return upload->busy_ms <= UPLOAD_BUSY_MS_MAX ? pause_ms : -1;
    }
    if (lost && upload->uploads->answered) {
        upload->lost_ms += pause_ms;
        return upload->lost_ms <= UPLOAD_LOST_MS_MAX ? pause_ms : -1;
    }
    return -1;
}

/* Returns whether every other file would get the same refusal. */
static bool is_everyones(const struct client_status *status)
{
    switch (status->code) {
    case CLIENT_CODE_UNAUTHENTICATED:
    case CLIENT_CODE_PERMISSION_DENIED:
    case CLIENT_CODE_UNIMPLEMENTED:
        return true;
    case CLIENT_CODE_UNAVAILABLE:
        return !status->from_server;
    default: /* other gRPC codes concern only this file */
        return false;
    }
}

static void begin(struct upload *upload);

static void on_rested(uv_timer_t *timer)
{
    begin(timer->data);
}

static void rest(struct upload *upload, int64_t pause_ms)
{
    upload->state = UPLOAD_RESTING;
    upload->pauses++;
    move(upload, -(int64_t)upload->moved_bytes);
    ASSERT(uv_timer_start(&upload->timer, on_rested, (uint64_t)pause_ms, 0) == 0);
}

static void end_call(struct upload *upload, const struct client_status *status)
{
    struct uploads *uploads = upload->uploads;
    struct upload_end end = {.kind = UPLOAD_REFUSED,
                             .reply = upload->reply,
                             .status = status,
                             .problem = upload->problem,
                             .moved_bytes = upload->moved_bytes};
    int64_t pause_ms = -1;

    if (status->from_server || status->code == CLIENT_CODE_OK) {
        uploads->answered = true;
        upload->lost_ms = 0;
    }
    if (upload->problem != NULL) {
        end.kind = UPLOAD_UNREADABLE;
    } else if (status->code == CLIENT_CODE_OK) {
        end.kind = UPLOAD_STORED;
    } else if (is_stopped(uploads)) {
        end.kind = UPLOAD_UNSENT;
    } else {
        pause_ms = pause_after(upload, status);
    }
    if (pause_ms >= 0) {
        rest(upload, pause_ms);
        return;
    }
    if (end.kind == UPLOAD_REFUSED && is_everyones(status)) {
        keep_status(uploads, status);
        stop(uploads, UPLOADS_FAILED);
        end.kind = UPLOAD_UNSENT;
    }
    finish(upload, &end);
}

/* --- starting --- */

static bool open_file(struct upload *upload, const struct upload_file *file)
{
    upload->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (upload->fd < 0) {
        upload->problem = strerror(errno);
        return false;
    }
    upload->path = strdup(file->path);
    upload->document_id = strdup(file->document_id);
    if (upload->path == NULL || upload->document_id == NULL) {
        drop_file(upload);
        upload->problem = "out of memory";
        return false;
    }
    upload->file = *file;
    upload->file.path = upload->path;
    upload->file.document_id = upload->document_id;
    return true;
}

/* Takes the next file that can be opened, and sends it. */
static void start_next(struct upload *upload)
{
    const struct uploads_handlers *handlers = &upload->uploads->config->handlers;
    struct upload_file file = {0};

    ASSERT(upload->state == UPLOAD_EMPTY);
    while (!is_stopped(upload->uploads) && handlers->next(handlers->user, &file)) {
        struct upload_end unreadable = {.kind = UPLOAD_UNREADABLE};

        upload->problem = NULL;
        if (open_file(upload, &file)) {
            upload->state = UPLOAD_RESTING;
            upload->pauses = 0;
            upload->moved_bytes = 0;
            upload->busy_ms = 0;
            upload->lost_ms = 0;
            upload->uploads->live++;
            begin(upload);
            return;
        }
        unreadable.problem = upload->problem;
        handlers->done(handlers->user, &file, &unreadable);
    }
}

static void on_end(void *user, const struct client_status *status)
{
    struct upload *upload = user;

    ASSERT(upload->uploads->calls > 0);
    upload->uploads->calls--;
    upload->call = NULL;
    end_call(upload, status);
    if (upload->state == UPLOAD_EMPTY) {
        start_next(upload);
    }
}

/* Returns a connection for new calls: the current one, unless it is unusable and has no more
 * calls. */
static bool have_channel(struct uploads *uploads)
{
    struct client_connection_config config = {.host = NULL};
    enum cli_exit result = CLI_OK;

    if (uploads->channel != NULL && uploads->calls == 0 &&
        client_connection_is_closing(uploads->channel)) {
        client_connection_close(uploads->channel, NULL, NULL);
        uploads->channel = NULL;
    }
    if (uploads->channel != NULL) {
        return true;
    }
    result = cli_channel_config(uploads->config->cli, &config);
    if (result == CLI_OK &&
        client_connection_open(&uploads->loop, &config, &uploads->channel) != OK) {
        result =
            cli_local(uploads->config->cli, "cannot connect: out of memory or file descriptors");
    }
    if (result != CLI_OK) {
        uploads->channel = NULL;
        stop_local(uploads, result);
    }
    return result == CLI_OK;
}

/* Sends the file from its start. */
static void begin(struct upload *upload)
{
    static const struct upload_end unsent = {.kind = UPLOAD_UNSENT};
    struct uploads *uploads = upload->uploads;
    const struct cli *cli = uploads->config->cli;
    const struct client_options options = {.timeout_ms = cli->timeout_ms > 0 ? cli->timeout_ms
                                                                             : UPLOAD_TIMEOUT_MS};
    const struct client_handlers handlers = {upload, on_reply, on_end, on_writable};
    enum err err = OK;

    ASSERT(upload->state == UPLOAD_RESTING);
    upload->read_bytes = 0;
    upload->named = false;
    upload->piece = slice_of(NULL, 0);
    upload->reply = slice_of(NULL, 0);
    arena_reset(&upload->reply_arena);
    /* The state is not RESTING, since the end is reported here if all uploads stop. */
    upload->state = UPLOAD_SENDING;
    if (have_channel(uploads)) {
        err = uploads->channel->ops->start(
            uploads->channel, cli_method("/errata.v1.LayoutService/IngestDocumentStream"),
            slice_of(NULL, 0), &options, &handlers, &upload->call);
        if (err == OK) {
            uploads->calls++;
            return;
        }
        stop_local(uploads, cli_local(uploads->config->cli, "an upload could not be started: %s",
                                      err_text(err)));
    }
    upload->call = NULL;
    finish(upload, &unsent);
}

/* --- all uploads --- */

static bool init_place(struct uploads *uploads, struct upload *upload)
{
    upload->uploads = uploads;
    upload->fd = -1;
    arena_init(&upload->piece_arena, PIECE_ARENA_BYTES_MAX);
    arena_init(&upload->reply_arena, REPLY_ARENA_BYTES_MAX);
    ASSERT(uv_timer_init(&uploads->loop, &upload->timer) == 0);
    upload->timer.data = upload;
    upload->block = malloc(UPLOAD_PIECE_BYTES);
    return upload->block != NULL;
}

static void deinit_place(struct upload *upload)
{
    ASSERT(upload->state == UPLOAD_EMPTY);
    free(upload->block);
    arena_deinit(&upload->piece_arena);
    arena_deinit(&upload->reply_arena);
    uv_close((uv_handle_t *)&upload->timer, NULL);
}

void uploads_run(const struct uploads_config *config, struct arena *arena,
                 struct uploads_result *ret_result)
{
    struct uploads *uploads = calloc(1, sizeof(*uploads));
    bool ready = true;

    ASSERT(config->at_once >= 1 && config->at_once <= UPLOADS_MAX);
    if (uploads == NULL || uv_loop_init(&uploads->loop) != 0) {
        free(uploads);
        *ret_result = (struct uploads_result){.stop = UPLOADS_LOCAL,
                                              .exit = cli_local(config->cli, "out of memory")};
        return;
    }
    uploads->config = config;
    uploads->arena = arena;
    ASSERT(uv_signal_init(&uploads->loop, &uploads->interrupt) == 0);
    uploads->interrupt.data = uploads;
    ASSERT(uv_timer_init(&uploads->loop, &uploads->tick) == 0);
    uploads->tick.data = uploads;
    ASSERT(uv_timer_start(&uploads->tick, on_tick, UPLOADS_TICK_MS, UPLOADS_TICK_MS) == 0);
    (void)uv_signal_start(&uploads->interrupt, on_interrupt, SIGINT);
    for (size_t i = 0; i < config->at_once; i++) {
        ready = init_place(uploads, &uploads->places[i]) && ready;
    }
    if (!ready) {
        stop_local(uploads, cli_local(config->cli, "out of memory"));
    }
    for (size_t i = 0; i < config->at_once; i++) {
        start_next(&uploads->places[i]);
    }
    /* Each file's call has a deadline, and its pauses have a limit. */
    while (uploads->live > 0) {
        (void)uv_run(&uploads->loop, UV_RUN_ONCE);
    }
    for (size_t i = 0; i < config->at_once; i++) {
        deinit_place(&uploads->places[i]);
    }
    uv_close((uv_handle_t *)&uploads->interrupt, NULL);
    uv_close((uv_handle_t *)&uploads->tick, NULL);
    if (uploads->channel != NULL) {
        client_connection_close(uploads->channel, NULL, NULL);
    }
    (void)uv_run(&uploads->loop, UV_RUN_DEFAULT);
    ASSERT(uv_loop_close(&uploads->loop) == 0);
    *ret_result = uploads->result;
    free(uploads);
}
