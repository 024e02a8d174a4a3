/*
 * app_tests.c: what the app takes from another process.
 */
#include "server/app/verify_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Goal: nothing is taken for a bool, a number to choose by or a text that is none, whatever bytes come.
 * Method: a whole message; then one field after the other with a value just beyond. */
static void test_message_holds(void **state)
{
    static struct verify_message whole = {
        .stage = VERIFY_AT_COMPARE, .ended = true, .damaged = true};
    static struct verify_message torn;
    static const size_t bools[] = {offsetof(struct verify_message, ended),
                                   offsetof(struct verify_message, damaged)};

    (void)state;
    assert_true(verify_message_holds(&whole));
    for (size_t i = 0; i < sizeof(bools) / sizeof(bools[0]); i++) {
        for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
            torn = whole;
            ((uint8_t *)&torn)[bools[i]] = (uint8_t)byte;
            assert_int_equal(verify_message_holds(&torn), byte <= 1);
        }
    }
    torn = whole;
    memset(torn.why, 'x', sizeof(torn.why));
    assert_false(verify_message_holds(&torn));
    torn = whole;
    torn.err = ERR_COUNT;
    assert_false(verify_message_holds(&torn));
    torn = whole;
    torn.report.difference_count = REPLAY_DIFFERENCES_MAX + 1;
    assert_true(verify_message_holds(&torn));
    torn.report.differences[REPLAY_DIFFERENCES_MAX - 1].key_bytes = STORE_KEY_BYTES_MAX + 1;
    assert_false(verify_message_holds(&torn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
