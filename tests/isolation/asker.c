/*
 * asker.c: see asker.h.
 */
#include "tests/isolation/asker.h"

#include "store/base/bytes.h"
#include "store/base/uuid.h"
#include "store/base/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DEPTH_MAX 16
#define FINGERPRINT_BYTES 64

void asker_init(struct asker *asker, struct fixture *fixture, struct arena *arena, const char *name)
{
    *asker = (struct asker){.fixture = fixture, .arena = arena};
    assert_true(contract_method_count <= ASKER_METHODS_MAX);
    asker->org_id = fixture_make_org(fixture, name, asker->token);
    fixture_make_user_token(fixture, asker->token, ROLE_ADMIN, "root", asker->token);
    fixture_key_id_of(asker->token, asker->key_id);
    pool_put(&asker->pools.uuids, slice_text(asker->org_id));
    for (int i = 0; i < ASKER_NAMES; i++) {
        pool_put(&asker->pools.names, arena_printf(arena, "%s-%d", name, i));
    }
}

bool asker_passes_over(const struct method_info *method)
{
    return method->open;
}

struct question asker_make_question(struct request_maker *maker, const struct method_info *method)
{
    struct question question = {.method = method};

    if (method->stream == METHOD_CLIENT_STREAM) {
        question.parts[0] = maker_make(maker, method->request, MAKER_FIRST);
        question.parts[1] = maker_make(maker, method->request, MAKER_BYTES);
        question.part_count = 2;
    } else {
        question.parts[0] = maker_make(maker, method->request, MAKER_WHOLE);
        question.part_count = 1;
    }
    if (method->transaction == METHOD_WRITE && maker_draw(maker, 3) == 0) {
        question.idempotency_key = maker->keys[maker_draw(maker, 2)];
    }
    return question;
}

struct question asker_next_page(const struct asker *asker, const struct method_info *method,
                                struct arena *arena, struct slice page_token)
{
    struct question question = {.method = method, .part_count = 1};
    const struct field_info *field = NULL;
    struct buffer request;

    for (uint32_t i = 0; i < method->request->count; i++) {
        if (method->request->fields[i].rules.format == FORMAT_PAGE_TOKEN) {
            field = &method->request->fields[i];
        }
    }
    assert_non_null(field);
    buffer_init(&request, arena, 256);
    buffer_append(&request, asker->pageable[method->index]);
    wire_put_bytes(&request, field->number, page_token); /* the last one counts */
    question.parts[0] = buffer_slice(&request);
    return question;
}

void asker_send(struct asker *asker, const struct question *question, struct exchange *exchange)
{
    const struct exchange_start start = {.path = (const char *)question->method->path.data + 1,
                                         .authorization = asker->token,
                                         .idempotency_key = question->idempotency_key};

    exchange_open(exchange, asker->fixture, &start);
    for (size_t i = 0; i < question->part_count && !exchange->ended; i++) {
        struct slice copy = {NULL, 0};

        assert_true(arena_copy(&exchange->core->arena, question->parts[i], &copy));
        call_deliver(exchange->core, copy);
    }
    if (!exchange->ended) {
        exchange_send_end(exchange);
    }
}

struct slice asker_read(struct asker *asker, struct exchange *exchange)
{
    struct buffer replies;
    bool end = false;
    size_t size = 0;

    buffer_init(&replies, asker->arena, 1024);
    while ((size = call_output_ready(exchange->core, 4096, &end)) > 0) {
        assert_true(buffer_reserve(&replies, size));
        call_output_copy(exchange->core, replies.data + replies.size, size);
        replies.size += size;
        call_output_moved(exchange->core);
        fixture_run(asker->fixture);
    }
    return buffer_slice(&replies);
}

static bool is_hex(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        bool digit = text.data[i] >= '0' && text.data[i] <= '9';

        if (!digit && (text.data[i] < 'a' || text.data[i] > 'f')) {
            return false;
        }
    }
    return true;
}

/* Learns a text of a response: its kind is determined by its form; for references and key ids,
 * which resemble ordinary words, by its field. */
static void learn_text(struct asker *asker, const struct field_info *field, struct slice text)
{
    struct uuid uuid;

    if (text.size == UUID_TEXT_BYTES && uuid_parse(text, &uuid)) {
        pool_put(&asker->pools.uuids, text);
        if (is_mapping_id(field)) {
            pool_put(&asker->pools.mapping_ids, text);
        } else if (is_family_id(field)) {
            pool_put(&asker->pools.family_ids, text);
        } else if (is_rule_id(field)) {
            pool_put(&asker->pools.rule_ids, text);
        } else if (is_dead_letter_id(field)) {
            pool_put(&asker->pools.dead_letter_ids, text);
        }
    } else if (slice_equal(field->name, SLICE("key_id")) &&
               !slice_equal(text, slice_text(asker->key_id))) { /* its own token is never revoked */
        pool_put(&asker->pools.key_ids, text);
    } else if (slice_equal(field->name, SLICE("exposure_ref"))) {
        pool_put(&asker->pools.references, text);
    } else if (text.size == FINGERPRINT_BYTES && is_hex(text)) {
        pool_put(&asker->pools.names, text);
    }
}

static void learn_page_token(struct asker *asker, const struct question *question,
                             struct slice token)
{
    uint16_t method = question->method->index;

    pool_put(&asker->pools.page_tokens, token);
    asker->page_token[method] = token;
    assert_true(arena_copy(asker->arena, question->parts[0], &asker->pageable[method]));
}

/* Collects every text of a message, including nested messages. */
static void learn_message(struct asker *asker, const struct question *question, struct slice bytes)
{
    struct {
        const struct message_info *message;
        struct wire_reader reader;
    } open[DEPTH_MAX] = {{question->method->reply, wire_reader_of(bytes)}};
    size_t depth = 1;
    struct wire_field found;

    while (depth > 0) {
        const struct field_info *field = NULL;

        if (wire_next(&open[depth - 1].reader, &found) != OK) {
            depth--;
            continue;
        }
        field = contract_find_field(open[depth - 1].message, found.number);
        if (field == NULL || found.type != WIRE_BYTES) {
            continue;
        }
        if (field->type == FIELD_MESSAGE) {
            assert_true(depth < DEPTH_MAX);
            open[depth].message = field->message;
            open[depth++].reader = wire_reader_of(found.bytes);
        } else if (field->type == FIELD_STRING && found.bytes.size > 0) {
            if (slice_equal(field->name, SLICE("next_page_token"))) {
                learn_page_token(asker, question, found.bytes);
            } else {
                learn_text(asker, field, found.bytes);
            }
        }
    }
}

static void learn(struct asker *asker, const struct question *question, struct slice replies)
{
    while (replies.size >= EXCHANGE_HEAD_BYTES) {
        size_t size = bytes_get_be32(replies.data);

        assert_true(size <= replies.size - EXCHANGE_HEAD_BYTES);
        learn_message(asker, question, slice_of(replies.data + EXCHANGE_HEAD_BYTES, size));
        replies = slice_after(replies, EXCHANGE_HEAD_BYTES + size);
    }
    assert_int_equal(replies.size, 0);
}

struct answer asker_take(struct asker *asker, const struct question *question,
                         struct exchange *exchange)
{
    struct answer answer = {.method = question->method};

    answer.replies = asker_read(asker, exchange);
    answer.ended = exchange->ended;
    if (exchange->ended) {
        answer.code = exchange->code;
        assert_true(arena_copy(asker->arena, exchange->message, &answer.message));
        assert_true(arena_copy(asker->arena, exchange->details, &answer.details));
    }
    if (answer.code == STATUS_OK) {
        asker->answered[question->method->index]++;
        learn(asker, question, answer.replies);
    }
    exchange_close(exchange);
    fixture_run(asker->fixture);
    return answer;
}

void assert_same_answer(const struct answer *a, const struct answer *b, const char *what)
{
    const char *part = a->code != b->code                     ? "code"
                       : a->ended != b->ended                 ? "end"
                       : !slice_equal(a->message, b->message) ? "message"
                       : !slice_equal(a->details, b->details) ? "details"
                       : !slice_equal(a->replies, b->replies) ? "replies"
                                                              : NULL;

    if (part != NULL) {
        fail_msg("%.*s: another %s %s: %d '%.*s' (%zu bytes) and %d '%.*s' (%zu bytes)",
                 (int)a->method->path.size, (const char *)a->method->path.data, part, what,
                 (int)a->code, (int)a->message.size, (const char *)a->message.data, a->replies.size,
                 (int)b->code, (int)b->message.size, (const char *)b->message.data,
                 b->replies.size);
    }
}
