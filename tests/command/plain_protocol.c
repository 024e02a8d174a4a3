/*
 * plain_protocol.c: see plain_protocol.h.
 */
#include "tests/command/plain_protocol.h"

#include "server/call/protocol.h"
#include "store/base/assert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void write_head(uint8_t *head, uint32_t bytes, bool compressed)
{
    char text[PLAIN_HEAD_BYTES + 1];

    assert_false(compressed);
    (void)snprintf(text, sizeof(text), "%08u\n", bytes % 100000000);
    memcpy(head, text, PLAIN_HEAD_BYTES);
}

/* plain_drain sends the queued replies. */
static void on_replies(struct call_core *core)
{
    assert_non_null(core->stream);
}

static void on_finished(struct call_core *core)
{
    struct plain_call *plain = core->stream;

    assert_non_null(plain);
    assert_false(plain->ended);
    plain->ended = true;
    plain->code = core->status.code;
    assert_true(arena_copy(plain->arena, core->status.message, &plain->message));
}

static void take(struct plain_call *plain, struct slice bytes);

static void on_go_on(struct call_core *core)
{
    struct plain_call *plain = core->stream;
    struct slice held = {NULL, 0};

    if (!arena_copy(plain->arena, buffer_slice(&core->held), &held)) {
        fail_msg("no memory");
    }
    if (held.size > 0) {
        call_drop_held(core, held.size);
        take(plain, held);
    }
    if (call_end_is_due(core)) {
        call_take_end(core);
    }
}

static const struct call_protocol plain_protocol = {.reply_head_bytes = PLAIN_HEAD_BYTES,
                                                    .write_head = write_head,
                                                    .replies = on_replies,
                                                    .finished = on_finished,
                                                    .expired = on_finished,
                                                    .go_on = on_go_on};

void plain_open(struct plain_call *plain, struct call_server *server, struct arena *arena)
{
    *plain = (struct plain_call){.arena = arena};
    buffer_init(&plain->answer, arena, 0);
    plain->core = call_open(server, &plain_protocol);
    assert_non_null(plain->core);
    plain->core->stream = plain;
    plain->core->call.peer = SLICE("plain");
}

static void take_field(struct plain_call *plain, struct slice line)
{
    const uint8_t *colon = memchr(line.data, ':', line.size);
    struct slice name = line;

    if (colon == NULL) {
        call_refuse_err(plain->core, ERR_MALFORMED, "a field without a colon");
        return;
    }
    name.size = (size_t)(colon - line.data);
    assert_int_equal(call_take_metadata(plain->core, name, slice_after(line, name.size + 2)), OK);
}

static void start(struct plain_call *plain)
{
    struct call_core *core = plain->core;

    if (core->call.method == NULL) {
        call_refuse_err(core, ERR_UNIMPLEMENTED, NULL);
    } else {
        call_start_within(core, INT64_MAX);
    }
}

static void take_line(struct plain_call *plain, struct slice line)
{
    struct call_core *core = plain->core;

    if (core->started) {
        plain->in_message = true;
        call_begin_message(core, (uint32_t)strtoul((const char *)line.data, NULL, 10), false);
    } else if (!plain->has_path) {
        plain->has_path = true;
        core->call.method = call_find_method(core->server, line);
    } else if (line.size > 0) {
        take_field(plain, line);
    } else {
        start(plain);
    }
}

static void take_byte_of_line(struct plain_call *plain, uint8_t byte)
{
    size_t size = plain->line_bytes;

    if (plain->core->started) {
        call_expect_message(plain->core);
    }
    if (byte != '\n') {
        assert_true(size + 1 < sizeof(plain->line));
        plain->line[plain->line_bytes++] = (char)byte;
        return;
    }
    plain->line[size] = '\0';
    plain->line_bytes = 0;
    take_line(plain, slice_of(plain->line, size));
}

/* Takes the bytes as far as the call does; the rest waits. */
static void take(struct plain_call *plain, struct slice bytes)
{
    struct call_core *core = plain->core;

    while (bytes.size > 0 && !call_input_stopped(core)) {
        size_t taken = 1;

        if (plain->in_message) {
            taken = call_take_message_bytes(core, bytes);
        } else {
            take_byte_of_line(plain, bytes.data[0]);
        }
        bytes = slice_after(bytes, taken);
        if (plain->in_message && call_message_is_whole(core)) {
            plain->in_message = false;
            call_take_whole_message(core);
        }
        call_note_progress(core, taken);
    }
    if (bytes.size > 0 && !core->ended) {
        plain->waits++;
        call_hold_bytes(core, bytes);
    }
}

void plain_feed(struct plain_call *plain, struct slice bytes)
{
    if (plain->core->held.size > 0) {
        call_hold_bytes(plain->core, bytes);
    } else {
        take(plain, bytes);
    }
}

void plain_end(struct plain_call *plain)
{
    plain->core->request_end = true;
    if (call_end_is_due(plain->core)) {
        call_take_end(plain->core);
    }
}

void plain_drain(struct plain_call *plain)
{
    bool end = false;
    size_t size = 0;

    while ((size = call_output_ready(plain->core, 7, &end)) > 0) {
        assert_true(buffer_reserve(&plain->answer, size));
        call_output_copy(plain->core, plain->answer.data + plain->answer.size, size);
        plain->answer.size += size;
    }
    call_output_moved(plain->core);
}

bool plain_read(struct plain_call *plain, struct slice *ret_message)
{
    struct slice answer = buffer_slice(&plain->answer);
    size_t size = 0;

    if (answer.size < PLAIN_HEAD_BYTES) {
        return false;
    }
    size = strtoul((const char *)answer.data, NULL, 10);
    assert_true(size <= answer.size - PLAIN_HEAD_BYTES);
    assert_true(
        arena_copy(plain->arena, slice_of(answer.data + PLAIN_HEAD_BYTES, size), ret_message));
    answer = slice_after(answer, PLAIN_HEAD_BYTES + size);
    memmove(plain->answer.data, answer.data, answer.size);
    plain->answer.size = answer.size;
    return true;
}

void plain_close(struct plain_call *plain)
{
    struct call_core *core = plain->core;

    plain->core = NULL;
    if (core != NULL) {
        call_let_go(core);
    }
}
