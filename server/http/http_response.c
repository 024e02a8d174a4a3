/*
 * http_response.c: builds the responses of exchanges: the head, then the replies of the call, then
 * the bytes that its protocol sends after them.
 */
#include "server/http/http_cors.h"
#include "server/http/http_protocol.h"
#include "store/base/assert.h"
#include "store/base/base64.h"

void http_on_output(struct call_core *core)
{
    if (core->stream != NULL) {
        http_exchange_of(core)->version->output(core->stream);
    }
}

void http_on_expired(struct call_core *core)
{
    /* A reply that is partly sent is completed: the end that follows it has the status. */
    (void)call_output_drop(core);
    http_on_output(core);
}

/* Returns whether a value may be sent: a line end in it would begin another field. */
static bool http_is_value(struct slice value)
{
    for (size_t i = 0; i < value.size; i++) {
        if ((value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

void http_add(struct http_head *head, struct slice name, struct slice value)
{
    ASSERT(head->field_count < HTTP_FIELDS_MAX);
    if (http_is_value(value)) {
        head->fields[head->field_count++] = (struct call_field){name, value};
    }
}

void http_add_metadata(struct http_head *head, struct call_core *core,
                       const struct call_field *fields, uint32_t count, const char *prefix)
{
    for (uint32_t i = 0; i < count; i++) {
        struct slice name = arena_printf(&core->arena, "%s%.*s", prefix, (int)fields[i].name.size,
                                         (const char *)fields[i].name.data);
        struct slice value = fields[i].value;
        uint8_t *text = NULL;

        if (name.size >= 4 && memcmp(name.data + name.size - 4, "-bin", 4) == 0) {
            text = arena_alloc(&core->arena, BASE64_DIGITS(value.size) + 1);
            if (text == NULL) {
                continue;
            }
            value = slice_of(text, base64_write(value, BASE64_STANDARD, text));
        }
        if (name.size > 0) {
            http_add(head, name, value);
        }
    }
}

void http_answer_field(struct call_core *core, struct slice name, struct slice value)
{
    struct http_exchange *exchange = http_exchange_of(core);

    ASSERT(exchange->answer_field_count < HTTP_OWN_FIELDS_MAX);
    exchange->answer_fields[exchange->answer_field_count++] = (struct call_field){name, value};
}

void http_answer(struct call_core *core, unsigned status, struct slice type, struct slice body)
{
    struct http_exchange *exchange = http_exchange_of(core);

    ASSERT(!core->started && !core->ended);
    if (type.size > 0) {
        http_answer_field(core, SLICE("content-type"), type);
    }
    core->ended = true;
    exchange->answer_status = status;
    exchange->tail_made = true;
    exchange->tail = body;
    http_on_output(core);
}

void http_answer_text(struct call_core *core, unsigned status, const char *text)
{
    core->server->stats.calls_refused++;
    http_answer(core, status, SLICE("text/plain; charset=utf-8"), slice_text(text));
}

bool http_head_is_due(const struct call_core *core)
{
    return !http_exchange_of(core)->head_taken &&
           (core->ended || (core->pieces != NULL && !method_has_one_reply(core->call.method)));
}

/* Makes the tail of a call that has ended. */
static enum err http_make_tail(struct call_core *core)
{
    struct http_exchange *exchange = http_exchange_of(core);

    if (exchange->tail_made) {
        return OK;
    }
    exchange->tail_made = true;
    return exchange->protocol->tail != NULL ? exchange->protocol->tail(core, &exchange->tail) : OK;
}

static void http_take_answer(const struct http_exchange *exchange, struct http_head *head)
{
    head->status = exchange->answer_status;
    for (uint32_t i = 0; i < exchange->answer_field_count; i++) {
        http_add(head, exchange->answer_fields[i].name, exchange->answer_fields[i].value);
    }
}

enum err http_take_head(struct call_core *core, struct http_head *ret_head)
{
    struct http_exchange *exchange = http_exchange_of(core);
    enum err err = OK;

    ASSERT(http_head_is_due(core));
    exchange->head_taken = true;
    ret_head->field_count = 0;
    ret_head->has_length = core->ended;
    ret_head->length = 0;
    ret_head->no_body = exchange->verb == HTTP_HEAD;
    if (exchange->answer_status != 0) {
        http_take_answer(exchange, ret_head);
    } else {
        err = exchange->protocol->head(core, ret_head);
    }
    http_cors_add(core, ret_head);
    if (err == OK && core->ended) {
        err = http_make_tail(core);
        ret_head->length = core->output_bytes + exchange->tail.size;
    }
    return err;
}

size_t http_body_ready(struct call_core *core, size_t max, bool *ret_end)
{
    struct http_exchange *exchange = http_exchange_of(core);
    size_t ready = 0;

    /* If there is no memory, the body ends without a tail, which peers recognise as an incomplete one. */
    if (core->ended) {
        (void)http_make_tail(core);
    }
    ready = core->output_bytes + exchange->tail.size;
    *ret_end = core->ended && ready <= max;
    return ready < max ? ready : max;
}

void http_body_copy(struct call_core *core, uint8_t *to, size_t size)
{
    struct http_exchange *exchange = http_exchange_of(core);
    size_t replies = core->output_bytes < size ? core->output_bytes : size;

    if (replies > 0) {
        call_output_copy(core, to, replies);
    }
    if (size > replies) {
        memcpy(to + replies, exchange->tail.data, size - replies);
        exchange->tail = slice_after(exchange->tail, size - replies);
    }
}

void http_body_moved(struct call_core *core)
{
    call_output_moved(core);
    http_go_on(core);
}
