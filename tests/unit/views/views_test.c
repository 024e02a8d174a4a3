/*
 * views_test.c: messages as views. protobuf-c is the reference: a view writes the same bytes, and
 * refuses damaged ones.
 */
#include "store/base/arena.h"
#include "store/base/view.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <viewed.pb-c.h>
#include <viewed.views.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ROUNDS 4000

static int set_up(void **state)
{
    static struct arena arena;

    arena_init(&arena, SIZE_MAX);
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    arena_deinit(*state);
    return 0;
}

/* --- random views --- */

static uint64_t draw(struct random *random)
{
    uint64_t value = 0;

    random_fill(random, &value, sizeof(value));
    return value;
}

/* A number of any size, often 0. */
static uint64_t draw_number(struct random *random)
{
    uint64_t value = draw(random);

    return draw(random) % 4 == 0 ? 0 : value >> (draw(random) % 64);
}

static struct slice draw_text(struct random *random, struct arena *arena)
{
    size_t size = (size_t)(draw(random) % 4 == 0 ? draw(random) % 300 : draw(random) % 4);
    uint8_t *bytes = arena_alloc(arena, size + 1);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)('a' + draw(random) % 26);
    }
    return slice_of(bytes, size);
}

static enum shade draw_shade(struct random *random)
{
    static const enum shade shades[] = {SHADE_UNSPECIFIED, SHADE_DARK, SHADE_LIGHT, SHADE_INVERTED};

    return shades[draw(random) % COUNT(shades)];
}

static struct slice draw_inner(struct random *random, struct arena *arena)
{
    struct inner_view inner = {.seq = draw_number(random), .word = draw_text(random, arena)};
    struct buffer buffer;

    buffer_init(&buffer, arena, 0);
    inner_view_write(&inner, &buffer);
    assert_int_equal(buffer.size, inner_view_bytes(&inner));
    return buffer_slice(&buffer);
}

static struct uuid draw_uuid(struct random *random)
{
    return uuid_v7((int64_t)(draw(random) >> 16), random);
}

static void draw_plain(struct viewed_view *view, struct random *random, struct arena *arena)
{
    view->id = draw_uuid(random);
    view->has_note = draw(random) % 2 != 0;
    view->note = view->has_note ? draw_text(random, arena) : slice_of(NULL, 0);
    view->name = draw_text(random, arena);
    view->raw = draw_text(random, arena);
    view->small = (uint32_t)draw_number(random);
    view->has_small_or_none = draw(random) % 2 != 0;
    view->small_or_none = view->has_small_or_none ? (uint32_t)draw_number(random) : 0;
    view->signed_small = (int32_t)(uint32_t)draw_number(random);
    view->large = draw_number(random);
    view->signed_large = (int64_t)draw_number(random);
    view->flag = draw(random) % 2 != 0;
    view->has_flag_or_none = draw(random) % 2 != 0;
    view->flag_or_none = view->has_flag_or_none && draw(random) % 2 != 0;
    view->ratio = (double)(int64_t)draw_number(random) / 7;
    view->has_ratio_or_none = draw(random) % 2 != 0;
    view->ratio_or_none = view->has_ratio_or_none ? (double)draw_number(random) : 0;
    view->shade = draw_shade(random);
    view->has_created_at = draw(random) % 2 != 0;
    view->created_at_us = view->has_created_at ? (int64_t)(draw_number(random) >> 10) : 0;
}

static void draw_nested(struct viewed_view *view, struct random *random, struct arena *arena)
{
    view->has_inner = draw(random) % 2 != 0;
    view->inner = view->has_inner ? draw_inner(random, arena) : slice_of(NULL, 0);
    switch (draw(random) % 4) {
    case 0:
        view->has_file = true;
        view->file = draw_text(random, arena);
        break;
    case 1:
        view->has_seq = true;
        view->seq = draw_number(random);
        break;
    case 2:
        view->has_chosen = true;
        view->chosen = draw_inner(random, arena);
        break;
    default:
        break;
    }
    view->has_owner_id = draw(random) % 2 != 0;
    if (view->has_owner_id) {
        view->owner_id = draw_uuid(random);
    }
    if (draw(random) % 2 != 0) {
        random_fill(random, view->digest, sizeof(view->digest));
    }
    view->change = (int64_t)draw_number(random);
    view->place = draw_number(random);
    view->offset = (int64_t)draw_number(random);
    view->last = draw_text(random, arena);
}

static void draw_lists(struct viewed_view *view, struct random *random, struct arena *arena)
{
    struct buffer runs[6];

    for (size_t i = 0; i < COUNT(runs); i++) {
        buffer_init(&runs[i], arena, 0);
    }
    view->words.count = (uint32_t)(draw(random) % 4);
    for (uint32_t i = 0; i < view->words.count; i++) {
        viewed_view_add_words(&runs[0], draw_text(random, arena));
    }
    view->inners.count = (uint32_t)(draw(random) % 4);
    for (uint32_t i = 0; i < view->inners.count; i++) {
        wire_put_bytes(&runs[1], VIEWED_INNERS_FIELD, draw_inner(random, arena));
    }
    view->seqs.count = (uint32_t)(draw(random) % 4);
    for (uint32_t i = 0; i < view->seqs.count; i++) {
        viewed_view_add_seqs(&runs[2], draw_number(random));
    }
    view->shades.count = (uint32_t)(draw(random) % 4);
    for (uint32_t i = 0; i < view->shades.count; i++) {
        viewed_view_add_shades(&runs[3], draw_shade(random));
    }
    view->weights.count = (uint32_t)(draw(random) % 4);
    for (uint32_t i = 0; i < view->weights.count; i++) {
        viewed_view_add_weights(&runs[4], (double)draw_number(random) / 7);
    }
    view->places.count = (uint32_t)(draw(random) % 4);
    for (uint32_t i = 0; i < view->places.count; i++) {
        viewed_view_add_places(&runs[5], draw_number(random));
    }
    view->words.run = buffer_slice(&runs[0]);
    view->inners.run = buffer_slice(&runs[1]);
    view->seqs.run = buffer_slice(&runs[2]);
    view->shades.run = buffer_slice(&runs[3]);
    view->weights.run = buffer_slice(&runs[4]);
    view->places.run = buffer_slice(&runs[5]);
}

static struct slice write_view(const struct viewed_view *view, struct arena *arena)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, 0);
    viewed_view_write(view, &buffer);
    assert_true(buffer_ok(&buffer));
    assert_int_equal(buffer.size, viewed_view_bytes(view));
    return buffer_slice(&buffer);
}

/* Checks that protobuf-c reads the bytes and writes the same. */
static void check_peer(struct slice bytes)
{
    Viewed__V1__Viewed *message = viewed__v1__viewed__unpack(NULL, bytes.size, bytes.data);
    uint8_t *again = NULL;

    assert_non_null(message);
    assert_int_equal(viewed__v1__viewed__get_packed_size(message), bytes.size);
    again = malloc(bytes.size + 1);
    assert_non_null(again);
    assert_int_equal(viewed__v1__viewed__pack(message, again), bytes.size);
    assert_memory_equal(again, bytes.data, bytes.size);
    free(again);
    viewed__v1__viewed__free_unpacked(message, NULL);
}

static void check_list(const struct view_list *read, const struct view_list *written)
{
    assert_int_equal(read->count, written->count);
    assert_true(slice_equal(read->run, written->run));
}

/* Asserts that each member that was read equals the one that was written. */
static void check_same(const struct viewed_view *read, const struct viewed_view *written)
{
    assert_true(uuid_equal(read->id, written->id));
    assert_true(slice_equal(read->note, written->note) && read->has_note == written->has_note);
    assert_true(slice_equal(read->name, written->name) && slice_equal(read->raw, written->raw));
    assert_true(read->small == written->small && read->small_or_none == written->small_or_none &&
                read->has_small_or_none == written->has_small_or_none);
    assert_true(read->signed_small == written->signed_small && read->large == written->large);
    assert_true(read->signed_large == written->signed_large && read->flag == written->flag);
    assert_true(read->has_flag_or_none == written->has_flag_or_none &&
                read->flag_or_none == written->flag_or_none);
    assert_true(read->ratio == written->ratio && read->ratio_or_none == written->ratio_or_none &&
                read->has_ratio_or_none == written->has_ratio_or_none);
    assert_true(read->shade == written->shade && read->created_at_us == written->created_at_us &&
                read->has_created_at == written->has_created_at);
    assert_true(read->has_inner == written->has_inner && slice_equal(read->inner, written->inner));
    assert_true(read->has_file == written->has_file && slice_equal(read->file, written->file));
    assert_true(read->has_seq == written->has_seq && read->seq == written->seq);
    assert_true(read->has_chosen == written->has_chosen &&
                slice_equal(read->chosen, written->chosen));
    assert_true(read->has_owner_id == written->has_owner_id &&
                uuid_equal(read->owner_id, written->owner_id));
    assert_true(slice_equal(read->last, written->last));
    check_list(&read->words, &written->words);
    check_list(&read->inners, &written->inners);
    check_list(&read->seqs, &written->seqs);
    check_list(&read->shades, &written->shades);
    check_list(&read->weights, &written->weights);
    check_list(&read->places, &written->places);
    assert_memory_equal(read->digest, written->digest, sizeof(written->digest));
    assert_true(read->change == written->change && read->place == written->place &&
                read->offset == written->offset);
}

/* Goal: views write the bytes of protobuf-c, and read them back. Method: random views of every
 * member. */
static void test_round_trip_equals_protobuf_c(void **state)
{
    struct random_seeded seeded;

    random_seeded_init(&seeded, 20261122);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct viewed_view written = {0};
        struct viewed_view read;
        struct slice bytes;

        draw_plain(&written, &seeded.random, *state);
        draw_nested(&written, &seeded.random, *state);
        draw_lists(&written, &seeded.random, *state);
        bytes = write_view(&written, *state);
        check_peer(bytes);
        assert_int_equal(viewed_view_read(bytes, &read), OK);
        check_same(&read, &written);
        arena_reset(*state);
    }
}

/* A view with an id, which every valid one has, and elements in each list. */
static struct viewed_view sample(struct arena *arena)
{
    struct viewed_view view = {.small = 300, .has_created_at = true, .created_at_us = 1};
    struct random_seeded seeded;

    random_seeded_init(&seeded, 7);
    draw_lists(&view, &seeded.random, arena);
    view.id = draw_uuid(&seeded.random);
    return view;
}

/* Goal: facts and content make one message, for any split. Method: both ranges of a view, read
 * separately and together. */
static void test_parts_are_one_message(void **state)
{
    struct viewed_view view = sample(*state);
    struct viewed_view read;
    struct buffer facts;
    struct buffer content;
    struct slice whole = write_view(&view, *state);

    buffer_init(&facts, *state, 0);
    buffer_init(&content, *state, 0);
    view_write_range(&viewed_view_type, &view, 0, VIEW_CONTENT_FIELD_MIN, &facts);
    view_write_range(&viewed_view_type, &view, VIEW_CONTENT_FIELD_MIN, UINT32_MAX, &content);
    assert_int_equal(facts.size + content.size, whole.size);
    assert_memory_equal(facts.data, whole.data, facts.size);
    assert_memory_equal(content.data, whole.data + facts.size, content.size);
    assert_int_equal(
        view_read_parts(&viewed_view_type, buffer_slice(&facts), buffer_slice(&content), &read),
        OK);
    check_same(&read, &view);
    assert_int_equal(
        view_read_parts(&viewed_view_type, buffer_slice(&content), buffer_slice(&facts), &read),
        ERR_CORRUPT);
}

/* Goal: only a range of numbers is read and checked; fields that are always set are required only
 * within the range. Method: the facts of a message, all of them and those below a field; its
 * content, which has no id; a number below the range; a truncated field in the range and after
 * it. */
static void test_range_of_fields_is_read_without_the_rest(void **state)
{
    struct viewed_view view = sample(*state);
    struct viewed_view read;
    struct slice whole = write_view(&view, *state);
    struct slice rest = {NULL, 0};
    struct slice content = {NULL, 0};
    struct buffer facts;

    buffer_init(&facts, *state, 0);
    view_write_range(&viewed_view_type, &view, 0, VIEW_CONTENT_FIELD_MIN, &facts);
    assert_int_equal(
        view_read_range(&viewed_view_type, whole, 1, VIEW_CONTENT_FIELD_MIN, &read, &content), OK);
    assert_int_equal(content.size, whole.size - facts.size);
    assert_true(uuid_equal(read.id, view.id));
    assert_int_equal(read.large, view.large);
    assert_int_equal(read.words.count, 0);
    assert_int_equal(view_read_range(&viewed_view_type, whole, 1, VIEWED_SMALL_FIELD, &read, &rest),
                     OK);
    assert_true(slice_equal(read.name, view.name));
    assert_int_equal(read.large, 0);
    assert_int_equal(view_read_range(&viewed_view_type, content, VIEW_CONTENT_FIELD_MIN, UINT32_MAX,
                                     &read, &rest),
                     OK);
    assert_int_equal(rest.size, 0);
    assert_true(slice_equal(read.words.run, view.words.run));
    assert_int_equal(
        view_read_range(&viewed_view_type, whole, VIEWED_NAME_FIELD, UINT32_MAX, &read, &rest),
        ERR_CORRUPT);
    assert_int_equal(view_read_range(&viewed_view_type, content, 1, UINT32_MAX, &read, &rest),
                     ERR_CORRUPT);
    whole.size = facts.size - 1;
    assert_int_equal(
        view_read_range(&viewed_view_type, whole, 1, VIEW_CONTENT_FIELD_MIN, &read, &rest),
        ERR_CORRUPT);
}

/* Goal: lists are walked element by element. Method: three words and three numbers. */
static void test_lists_are_walked(void **state)
{
    struct viewed_view view = sample(*state);
    struct viewed_view read;
    struct buffer words;
    struct buffer seqs;
    struct slice word;
    uint64_t seq = 0;
    struct slice run;

    buffer_init(&words, *state, 0);
    buffer_init(&seqs, *state, 0);
    viewed_view_add_words(&words, SLICE("one"));
    viewed_view_add_words(&words, SLICE(""));
    viewed_view_add_words(&words, SLICE("three"));
    viewed_view_add_seqs(&seqs, 5);
    viewed_view_add_seqs(&seqs, UINT64_MAX);
    view.words.run = buffer_slice(&words);
    view.seqs.run = buffer_slice(&seqs);
    assert_int_equal(viewed_view_read(write_view(&view, *state), &read), OK);
    assert_int_equal(read.words.count, 3);
    assert_int_equal(read.seqs.count, 2);
    run = read.words.run;
    assert_true(view_next(&run, &word) && slice_equal(word, SLICE("one")));
    assert_true(view_next(&run, &word) && word.size == 0);
    assert_true(view_next(&run, &word) && slice_equal(word, SLICE("three")));
    assert_false(view_next(&run, &word));
    run = read.seqs.run;
    assert_true(view_next_number(&run, &seq) && seq == 5);
    assert_true(view_next_number(&run, &seq) && seq == UINT64_MAX);
    assert_false(view_next_number(&run, &seq));
}

/* The id, then some fields. */
static enum err read_after_id(struct arena *arena, struct slice fields)
{
    struct viewed_view read;
    struct buffer buffer;

    buffer_init(&buffer, arena, 0);
    wire_put_bytes(&buffer, VIEWED_ID_FIELD, SLICE("018f2f5e-1234-7abc-8def-0123456789ab"));
    buffer_append(&buffer, fields);
    return viewed_view_read(buffer_slice(&buffer), &read);
}

/* Goal: every invalid form of a message is refused. Method: a table of fields after an id. */
static void test_damage_is_refused(void **state)
{
    static const struct {
        const char *what;
        struct slice fields;
        enum err expected;
    } cases[] = {
        {"nothing more", {(const uint8_t *)"", 0}, OK},
        {"a number", {(const uint8_t *)"\x28\x05", 2}, OK},
        {"a field out of order", {(const uint8_t *)"\x30\x01\x28\x01", 4}, ERR_CORRUPT},
        {"a field twice", {(const uint8_t *)"\x28\x01\x28\x01", 4}, ERR_CORRUPT},
        {"a number as a text", {(const uint8_t *)"\x2a\x01x", 3}, ERR_CORRUPT},
        {"a text as a number", {(const uint8_t *)"\x18\x01", 2}, ERR_CORRUPT},
        {"33 bits in 32", {(const uint8_t *)"\x28\x80\x80\x80\x80\x10", 6}, ERR_CORRUPT},
        {"a bool of 2", {(const uint8_t *)"\x50\x02", 2}, ERR_CORRUPT},
        {"a known enum value", {(const uint8_t *)"\x70\x07", 2}, OK},
        {"an unknown enum value", {(const uint8_t *)"\x70\x06", 2}, ERR_CORRUPT},
        {"a time that is not a message", {(const uint8_t *)"\x7a\x01\xff", 3}, ERR_CORRUPT},
        {"one of a oneof", {(const uint8_t *)"\x8a\x01\x00", 3}, OK},
        {"two of a oneof", {(const uint8_t *)"\x8a\x01\x00\x90\x01\x00", 6}, ERR_CORRUPT},
        {"packed numbers", {(const uint8_t *)"\xb2\x01\x02\x01\x02", 5}, OK},
        {"packed numbers twice",
         {(const uint8_t *)"\xb2\x01\x01\x01\xb2\x01\x01\x01", 8},
         ERR_CORRUPT},
        {"packed numbers, cut", {(const uint8_t *)"\xb2\x01\x02\x01\x82", 5}, ERR_CORRUPT},
        {"packed numbers, unpacked", {(const uint8_t *)"\xb0\x01\x01", 3}, ERR_CORRUPT},
        {"an unknown enum value, packed", {(const uint8_t *)"\xba\x01\x01\x06", 4}, ERR_CORRUPT},
        {"a packed double, cut", {(const uint8_t *)"\xc2\x01\x04zzzz", 7}, ERR_CORRUPT},
        {"a uuid that is a word", {(const uint8_t *)"\xd2\x01\x01x", 4}, ERR_CORRUPT},
        {"a digest of one byte", {(const uint8_t *)"\xda\x01\x01x", 4}, ERR_CORRUPT},
        {"packed fixed64, cut", {(const uint8_t *)"\xfa\x01\x04zzzz", 7}, ERR_CORRUPT},
        {"an unknown field", {(const uint8_t *)"\x82\x02\x01x", 4}, OK},
        {"an unknown field out of order",
         {(const uint8_t *)"\x82\x02\x01x\x28\x05", 6},
         ERR_CORRUPT},
        {"a group", {(const uint8_t *)"\x2b\x2c", 2}, ERR_CORRUPT},
        {"a length past the end", {(const uint8_t *)"\x1a\x05x", 3}, ERR_CORRUPT},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        enum err err = read_after_id(*state, cases[i].fields);

        if (err != cases[i].expected) {
            fail_msg("%s: %d instead of %d", cases[i].what, (int)err, (int)cases[i].expected);
        }
    }
}

/* Goal: a message without a field that is always set is refused. Method: an empty one, and one with
 * a nil id, which is absent. */
static void test_missing_field_is_refused(void **state)
{
    struct viewed_view read;
    struct viewed_view without_id = {.small = 1};

    assert_int_equal(viewed_view_read(slice_of(NULL, 0), &read), ERR_CORRUPT);
    assert_int_equal(viewed_view_read(write_view(&without_id, *state), &read), ERR_CORRUPT);
}

/* Goal: reading never leaves the message. Method: each prefix, and each byte changed, in a separate
 * block, under the sanitizer. */
static void test_any_bytes_are_read_safely(void **state)
{
    struct viewed_view view = sample(*state);
    struct slice bytes = write_view(&view, *state);
    struct viewed_view read;
    size_t refused = 0;

    for (size_t size = 0; size < bytes.size; size++) {
        uint8_t *copy = malloc(size + 1);

        assert_non_null(copy);
        memcpy(copy, bytes.data, size);
        refused += viewed_view_read(slice_of(copy, size), &read) != OK;
        free(copy);
    }
    for (size_t at = 0; at < bytes.size; at++) {
        uint8_t *copy = malloc(bytes.size);

        assert_non_null(copy);
        memcpy(copy, bytes.data, bytes.size);
        copy[at] ^= 0x81;
        refused += viewed_view_read(slice_of(copy, bytes.size), &read) != OK;
        free(copy);
    }
    assert_true(refused > bytes.size / 2);
}

/* Goal: a message is written as a field of another, with its length. Method: an Inner into a
 * Viewed. */
static void test_view_is_put_as_a_field(void **state)
{
    struct inner_view inner = {.seq = 9, .word = SLICE("word")};
    struct viewed_view view = sample(*state);
    struct inner_view read_inner;
    struct viewed_view read;
    struct buffer list;
    struct slice run;
    struct slice element;

    buffer_init(&list, *state, 0);
    inner_view_put(&inner, VIEWED_INNERS_FIELD, &list);
    view.inners.run = buffer_slice(&list);
    assert_int_equal(viewed_view_read(write_view(&view, *state), &read), OK);
    run = read.inners.run;
    assert_true(view_next(&run, &element));
    assert_int_equal(inner_view_read(element, &read_inner), OK);
    assert_int_equal(read_inner.seq, 9);
    assert_true(slice_equal(read_inner.word, SLICE("word")));
    assert_false(view_next(&run, &element));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip_equals_protobuf_c, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts_are_one_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_range_of_fields_is_read_without_the_rest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_lists_are_walked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_field_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_bytes_are_read_safely, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_view_is_put_as_a_field, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
