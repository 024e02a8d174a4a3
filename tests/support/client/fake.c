/*
 * fake.c: see fake.h.
 */
#include "tests/support/client/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct fake *fake_of(struct client_channel *channel)
{
    return (struct fake *)(void *)channel;
}

static void append(struct client_call *call, struct slice message)
{
    assert_true(message.size <= sizeof(call->request) - call->request_bytes);
    if (message.size > 0) {
        memcpy(call->request + call->request_bytes, message.data, message.size);
    }
    call->request_bytes += message.size;
}

static void note_metadata(struct client_call *call, const struct client_options *options)
{
    assert_true(options->metadata_count <= FAKE_METADATA_MAX);
    for (size_t i = 0; i < options->metadata_count; i++) {
        const struct client_metadata *field = &options->metadata[i];

        (void)snprintf(call->metadata[i][0], sizeof(call->metadata[i][0]), "%.*s",
                       (int)field->key.size, (const char *)field->key.data);
        (void)snprintf(call->metadata[i][1], sizeof(call->metadata[i][1]), "%.*s",
                       (int)field->value.size, (const char *)field->value.data);
    }
    call->options = *options;
    call->options.metadata = NULL;
}

static enum err fake_start(struct client_channel *channel, const struct method_info *method,
                           struct slice request, const struct client_options *options,
                           const struct client_handlers *handlers, struct client_call **ret_call)
{
    struct fake *fake = fake_of(channel);
    struct client_call *call = &fake->calls[fake->call_count];

    if (fake->start_result != OK) {
        return fake->start_result;
    }
    assert_true(fake->call_count < FAKE_CALLS_MAX);
    fake->call_count++;
    *call = (struct client_call){.handlers = *handlers, .method = method};
    append(call, request);
    note_metadata(call, options);
    *ret_call = call;
    return OK;
}

static void fake_cancel(struct client_channel *channel, struct client_call *call)
{
    (void)channel;
    assert_false(call->ended);
    call->cancels++;
}

static void fake_pause(struct client_channel *channel, struct client_call *call)
{
    (void)channel;
    assert_false(call->ended);
    call->pauses++;
}

static void fake_resume(struct client_channel *channel, struct client_call *call)
{
    (void)channel;
    assert_false(call->ended);
    call->resumes++;
}

static enum err fake_send(struct client_channel *channel, struct client_call *call,
                          struct slice message)
{
    struct fake *fake = fake_of(channel);

    assert_false(call->ended);
    if (fake->send_result == OK) {
        append(call, message);
    }
    return fake->send_result;
}

static enum err fake_half_close(struct client_channel *channel, struct client_call *call)
{
    assert_false(call->ended);
    call->half_closes++;
    return fake_of(channel)->send_result;
}

static const struct client_channel_ops call_ops = {.start = fake_start,
                                                   .cancel = fake_cancel,
                                                   .pause = fake_pause,
                                                   .resume = fake_resume,
                                                   .send = fake_send,
                                                   .half_close = fake_half_close};

static void begin_close(struct client_channel *take_channel, void (*on_closed)(void *user),
                        void *user)
{
    struct fake *fake = fake_of(take_channel);

    assert_false(fake->is_closing);
    fake->is_closing = true;
    fake->on_closed = on_closed;
    fake->on_closed_user = user;
}

static enum err set_token(struct client_channel *channel, struct slice token)
{
    struct fake *fake = fake_of(channel);

    if (fake->set_token_result == OK) {
        (void)snprintf(fake->token, sizeof(fake->token), "%.*s", (int)token.size,
                       (const char *)token.data);
    }
    return fake->set_token_result;
}

static void read_statistics(const struct client_channel *channel,
                            struct client_channel_statistics *ret_statistics)
{
    *ret_statistics = ((const struct fake *)(const void *)channel)->statistics;
}

static const char *fake_unreachable(const struct client_channel *channel)
{
    return ((const struct fake *)channel)->unreachable;
}

static const struct library_lower_ops lower_ops = {.unreachable = fake_unreachable,
                                                   .close = begin_close,
                                                   .set_token = set_token,
                                                   .read_statistics = read_statistics};

struct errata_channel *fake_open(struct fake *fake, bool has_token)
{
    struct errata_channel *channel = NULL;

    fake->base.ops = &call_ops;
    assert_int_equal(library_channel_new(&fake->base, &lower_ops, has_token, &channel), OK);
    return channel;
}

void fake_finish_close(struct fake *fake)
{
    assert_true(fake->is_closing);
    for (size_t i = 0; i < fake->call_count; i++) {
        if (!fake->calls[i].ended) {
            fake_end(&fake->calls[i], ERRATA_CODE_CANCELLED);
        }
    }
    fake->on_closed(fake->on_closed_user);
}

void fake_close(struct fake *fake, struct errata_channel *channel)
{
    errata_channel_close(channel, NULL, NULL);
    fake_finish_close(fake);
}

void fake_reply(struct client_call *call, struct slice message)
{
    assert_false(call->ended);
    call->handlers.on_reply(call->handlers.user, message);
}

void fake_room(struct client_call *call)
{
    assert_false(call->ended);
    call->handlers.on_writable(call->handlers.user);
}

void fake_end_with(struct client_call *call, const struct client_status *status)
{
    assert_false(call->ended);
    call->ended = true;
    call->handlers.on_end(call->handlers.user, status);
}

void fake_end(struct client_call *call, uint32_t code)
{
    const struct client_status status = {.code = code, .from_server = true, .attempts = 1};

    fake_end_with(call, &status);
}
