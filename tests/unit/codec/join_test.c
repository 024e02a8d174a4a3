/*
 * join_test.c: messages that arrive in several pieces. That a joined message means what its pieces mean
 * is compared with Python's parser in peer/compare_with_python.py.
 */
#include "server/codec/join.h"

#include "server/codec/check.h"
#include "store/base/wire.h"
#include "tests/unit/codec/codec_tests.h"

#include "errata/contract_messages.h"

#define WHOLE(literal) literal, sizeof(literal) - 1

struct join_case {
    const char *pieces;
    size_t pieces_size;
    const char *joined;
    size_t joined_size;
};

/* Goal: pieces of a singular message become one message at the place of the last one; other fields
 * keep their place. Method: a table; fields 11 and 31 of codec.All and 2 of codec.Tree are
 * messages, 30 and 31 are a oneof, 28 is a list. */
static void test_pieces_of_a_message_are_joined(void **state)
{
    static const struct join_case cases[] = {
        {WHOLE(""), WHOLE("")},
        {WHOLE("\x5a\x00"), WHOLE("\x5a\x00")},
        /* two pieces, with a field between them and an unknown field in one */
        {WHOLE("\x5a\x03\x0a\x01n\x40\x01\x5a\x04\x12\x00\x78\x01"),
         WHOLE("\x40\x01\x5a\x07\x0a\x01n\x12\x00\x78\x01")},
        /* three pieces, one of them empty */
        {WHOLE("\x5a\x03\x0a\x01n\x5a\x00\x5a\x03\x0a\x01m"), WHOLE("\x5a\x06\x0a\x01n\x0a\x01m")},
        /* inner pieces that are in different outer pieces */
        {WHOLE("\x5a\x05\x12\x03\x0a\x01n\x5a\x04\x12\x02\x12\x00"),
         WHOLE("\x5a\x07\x12\x05\x0a\x01n\x12\x00")},
        /* elements of a list stay apart, but what is in them is joined */
        {WHOLE("\xe2\x01\x04\x12\x00\x12\x00\xe2\x01\x00"),
         WHOLE("\xe2\x01\x02\x12\x00\xe2\x01\x00")},
        /* a oneof: pieces in a row are joined, another member replaces what came before */
        {WHOLE("\xfa\x01\x03\x0a\x01n\xfa\x01\x02\x12\x00"),
         WHOLE("\xfa\x01\x05\x0a\x01n\x12\x00")},
        {WHOLE("\xfa\x01\x03\x0a\x01n\xf2\x01\x01t\xfa\x01\x02\x12\x00"),
         WHOLE("\xf2\x01\x01t\xfa\x01\x02\x12\x00")},
        {WHOLE("\xfa\x01\x03\x0a\x01n\xf2\x01\x01t"), WHOLE("\xf2\x01\x01t")},
        /* a message field by another wire type is copied: check_request refuses it */
        {WHOLE("\x58\x01\x5a\x00"), WHOLE("\x58\x01\x5a\x00")},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slice pieces = slice_of(cases[i].pieces, cases[i].pieces_size);
        struct slice expected = slice_of(cases[i].joined, cases[i].joined_size);
        struct slice joined = {NULL, 0};

        assert_int_equal(join_pieces(&fixture->ctx, &codec_all, pieces, &joined), OK);
        if (!slice_equal(joined, expected)) {
            fail_msg("case %zu is not joined", i);
        }
    }
}

/* Goal: a piece that does not decode is refused, even if the next piece would complete it. Method:
 * a truncated piece, single and before another one. */
static void test_malformed_piece_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct slice joined = {NULL, 0};

    assert_int_equal(join_pieces(&fixture->ctx, &codec_all, SLICE("\x5a\x05\x0a"), &joined),
                     ERR_MALFORMED);
    assert_int_equal(
        join_pieces(&fixture->ctx, &codec_all, SLICE("\x5a\x02\x0a\x01\x5a\x03\x0a\x01n"), &joined),
        ERR_MALFORMED);
    assert_int_equal(fixture_check(fixture, &codec_all, SLICE("\x5a\x02\x0a\x01\x5a\x03\x0a\x01n")),
                     ERR_MALFORMED);
}

/* Goal: the limits of the check apply to pieces, too. Method: one field more than the budget in the
 * sum of two pieces; nesting above the bound. */
static void test_limits_apply_to_joined_pieces(void **state)
{
    struct fixture *fixture = *state;
    struct slice nested = SLICE("\x12\x00\x12\x00");
    struct slice joined = {NULL, 0};
    struct buffer half;

    buffer_init(&half, &fixture->arena, 0);
    for (size_t i = 0; i < CHECK_ELEMENTS_MAX / 2; i++) {
        buffer_append(&half, SLICE("\x78\x01"));
    }
    wire_put_bytes(&fixture->wire, 11, buffer_slice(&half));
    wire_put_bytes(&fixture->wire, 11, buffer_slice(&half));
    assert_int_equal(fixture_check(fixture, &codec_all, buffer_slice(&fixture->wire)),
                     ERR_TOO_LARGE);

    for (size_t i = 0; i < 2 * CHECK_DEPTH_MAX; i++) {
        struct buffer outer;

        buffer_init(&outer, &fixture->arena, nested.size + WIRE_OVERHEAD_BYTES);
        wire_put_bytes(&outer, 2, nested);
        nested = buffer_slice(&outer);
    }
    assert_int_equal(join_pieces(&fixture->ctx, &codec_tree, nested, &joined), OK);
    assert_true(slice_equal(joined, nested));
}

/* Goal: the rules apply to the joined message, not to each piece. Method: an event whose type is in
 * another piece than its layout; then one that has none, and a bad layout. */
static void test_rules_apply_to_the_joined_message(void **state)
{
    struct fixture *fixture = *state;
    struct slice checked = {NULL, 0};

    assert_int_equal(check_request(&fixture->ctx,
                                   &contract_errata_v1_capture_feedback_event_request,
                                   SLICE("\x0a\x04\x4a\x02pq\x0a\x02\x20\x04"), &checked),
                     OK);
    assert_true(slice_equal(checked, SLICE("\x0a\x06\x4a\x02pq\x20\x04")));
    assert_int_equal(check_request(&fixture->ctx,
                                   &contract_errata_v1_capture_feedback_event_request,
                                   SLICE("\x0a\x04\x4a\x02p\x01\x0a\x02\x68\x00"), &checked),
                     ERR_INVALID);
    fixture_expect_faults(fixture, "event.layout_fingerprint: \nevent.event_type: ");
}

int run_join_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces_of_a_message_are_joined, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_piece_is_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_limits_apply_to_joined_pieces, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_rules_apply_to_the_joined_message, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
