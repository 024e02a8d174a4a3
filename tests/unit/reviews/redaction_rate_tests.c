/*
 * redaction_rate_tests.c: how many planted e-mail addresses, phone numbers, IBANs and secrets redaction removes whole, and
 * how many honest numbers it leaves, by the way they are written. The 2,000 items are made by a fixed generator; the
 * rates are printed.
 */
#include "server/domain/reviews/redaction.h"
#include "server/domain/settings/redacted_members.h"
#include "store/base/json.h"
#include "tests/unit/reviews/groups.h"
#include "tests/unit/reviews/review_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define ITEMS 2000
#define PLANTED_BYTES 80
#define PERCENT_MIN 99 /* of planted values removed, and of honest numbers left, of each kind */

/* A way to write a value: `9` is a random digit, `x` a random lower-case letter or digit, `Q` a random capital or digit;
 * a character after `\` is itself. */
struct form {
    const char *kind;
    bool is_private;
    const char *pattern;
};

static const struct form forms[] = {
    {"e-mail", true, "xxxxx@xxxxxx.de"},
    {"e-mail", true, "xxx.xxxxx@xxx.xxxx.com"},
    {"e-mail", true, "xxxx+xx_x@xxx-xxx.org"},
    {"phone", true, "+49 30 9999999"},
    {"phone", true, "0999/9999999"},
    {"phone", true, "0171 9999999"},
    {"phone", true, "(030) 9999-999"},
    {"phone", true, "+1 (415) 999-9999"},
    {"phone", true, "415-999-9999"},
    {"phone", true, "+43.1.9999999"},
    {"iban", true, "DE99 9999 9999 9999 9999 99"},
    {"iban", true, "DE99999999999999999999"},
    {"iban", true, "AT99 9999 9999 9999 9999"},
    {"iban", true, "GB99 NWBK 9999 9999 9999 99"},
    {"iban", true, "CH99 9999 9999 9999 9999 9"},
    {"secret", true, "sk_live_99QQQQxxxx99QQQQxxxx99"},
    {"secret", true, "ghp\\_99xxQQ99xxQQ99xxQQ99xxQQ99xxQQ99xxQQ"},
    {"secret", true, "99a9b9c99d9e9f99a9b9c99d9e9f99a9b9c99d9e9f"},
    {"secret", true, "QQ9xQx9QxQ9xQx9QxQ9xQx9QxQ9xQx9QxQ9xQx9QxQ="},
    {"short secret", true, "password: xQ9!xx"},
    {"short secret", true, "Passwort=xxxx99"},
    {"short secret", true, "API key: xx99xx99xx"},
    {"short secret", true, "sk-xx99xx99xxxx99"},
    {"short secret", true, "AKIAQQ99QQ99QQ99QQ99"},
    {"short secret", true, "9a9b99c9d99e9f9a"},
    {"short secret", true, "xQ9xQ9xQ9xQ9xQ9xQ9"},
    {"dimensions", false, "399 x 299 x 29.9 mm"},
    {"dimensions", false, "1999\\x2999\\x3999mm"},
    {"dimensions", false, "99,9 - 199,9 cm"},
    {"article number", false, "4099999999999"},
    {"article number", false, "QQ-9999-999-Q"},
    {"article number", false, "4599999999"},
    {"article number", false, "QQ99Q9QQQQ99Q9Q9"},
    {"article number", false, "iPhone15ProMa\\x999GB"},
    {"date", false, "29.09.2029"},
    {"date", false, "09.09.2029"},
    {"date", false, "2029-09-29"},
    {"date", false, "09/09/29"},
    {"price", false, "1.999,99 EUR"},
    {"price", false, "0,99 EUR"},
    {"range", false, "220-240 V"},
    {"range", false, "0-99 C, 99 W"},
    {"range", false, "0.9 - 9.9 kg"},
    {"resolution", false, "3899 x 2199 at 99 Hz"},
    {"version", false, "9.99.9-99"},
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* The generator of Numerical Recipes: the items are the same in every run. */
static unsigned draw(uint32_t *state, unsigned count)
{
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 8) % count;
}

static void plant(uint32_t *state, const char *pattern, char planted[PLANTED_BYTES])
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t size = 0;

    for (; *pattern != '\0'; pattern++) {
        char c = *pattern;

        if (c == '\\') {
            c = *++pattern;
        } else if (c == '9') {
            c = (char)('0' + draw(state, 10));
        } else if (c == 'Q') {
            c = upper[draw(state, 26)];
        } else if (c == 'x' && pattern[1] != ' ') { /* a lone x separates dimensions */
            c = lower[draw(state, 26)];
        }
        planted[size++] = c;
        assert_true(size < PLANTED_BYTES);
    }
    planted[size] = '\0';
}

/* Returns whether the item with the value is redacted exactly: only a private value, and all of it. */
static bool is_right(struct store_fixture *fixture, const struct form *form, const char *planted)
{
    const char *shown = form->is_private ? REDACTED : planted;
    struct slice item =
        arena_printf(&fixture->arena, "{\"name\":\"X1\",\"text\":\"see %s, ok\"}", planted);
    struct slice wanted =
        arena_printf(&fixture->arena, "{\"name\":\"X1\",\"text\":\"see %s, ok\"}", shown);
    struct slice found = {NULL, 0};

    assert_int_equal(redact_item(&fixture->arena, redacted_members_default(), item, &found), OK);
    return slice_equal(found, wanted);
}

/* Goal: redaction removes what is private and leaves what is not. Method: 2,000 generated items, the rate of each form. */
static void test_rates_by_kind(void **state)
{
    struct store_fixture *fixture = *state;
    unsigned right[FORMS] = {0};
    unsigned all[FORMS] = {0};
    uint32_t seed = 1;
    bool is_good = true;

    for (unsigned i = 0; i < ITEMS; i++) {
        size_t form = i % FORMS;
        char planted[PLANTED_BYTES];

        plant(&seed, forms[form].pattern, planted);
        all[form]++;
        right[form] += is_right(fixture, &forms[form], planted);
    }
    for (size_t i = 0; i < FORMS; i++) {
        unsigned percent = 100 * right[i] / all[i];

        printf("%-15s %-45s %-8s %3u of %3u (%u%%)\n", forms[i].kind, forms[i].pattern,
               forms[i].is_private ? "removed" : "left", right[i], all[i], percent);
        is_good = is_good && percent >= PERCENT_MIN;
    }
    assert_true(is_good);
}

/* Goal: a private value is removed also if others follow it. Method: values side by side; the digits after a phone number
 * were once taken for a part of it, and neither was removed. */
static void test_values_side_by_side(void **state)
{
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"+49 30 1234567 0171 2345678", REDACTED " " REDACTED},
        {"0171 2345678 3 pieces", REDACTED " pieces"},
        {"0171 2345678 3kg", REDACTED " 3kg"},
        {"ask a@b.de+49 30 1234567", "ask " REDACTED REDACTED},
        {"AB-0999-999-X", "AB-0999-999-X"},
    };
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice found = {NULL, 0};

        assert_int_equal(redact_text(&fixture->arena, slice_text(cases[i].text), &found), OK);
        assert_true(slice_equal(found, slice_text(cases[i].wanted)));
    }
}

/* Goal: each limit of a pattern acts at its value. Method: texts at the limit, and one step beyond it. */
static void test_patterns_at_their_limits(void **state)
{
    static const struct {
        const char *at;
        const char *beyond;
        const char *left; /* of `beyond`; NULL: all of it */
    } cases[] = {
        {"+1234567", "+123456", NULL}, /* digits of a phone number */
        {"+123456789012345", "+1234567890123456", NULL},
        {"NO9386011117947", "NO938601111794", NULL}, /* characters of an IBAN */
        {"GB82345678901234567890123456789012", "GB823456789012345678901234567890123", REDACTED "3"},
        {"AB12ABCDE345678", "AB12ABCDEF34567", NULL}, /* its digits */
        {"ABCD1234EFGH5678IJKL9012", "ABCD1234EFGH5678IJKL901", NULL}, /* a long secret */
        {"ABCDEFGHIJ1234KLMNOPQRST", "ABCDEFGHIJK123LMNOPQRSTU", NULL}, /* its digits and letters */
        {"12345678901234567890ABCD", "123456789012345678901ABC", NULL},
        {"ABCD-1234-EFGH5678IJKL9012", "ABCD-1234-EFGH-5678IJKL9012", NULL}, /* its separators */
        {"ab1cd2ef3gh4ij5k", "ab1cd2ef3gh4ij5", NULL}, /* a shorter one */
        {"ab1cd23efgh4ijkl", "ab123cdefgh4ijkl", NULL}, /* its groups of digits */
        {"ab1cd23efgh4ijkl", "ab1cd2efgh3ijklm", NULL}, /* its digits and letters */
        {"12ab34cd56789012", "12ab34c567890123", NULL},
        {"12ab34cd56789012", "12ab34cx56789012", NULL},
        {"AB1CD2EF3GH4Ij5k", "AB1CD2EF3GH4IJ5k", NULL}, /* its small letters */
        {"ghp_abcdefghijkl", "ghp_abcdefghijk", NULL}, /* a key with a known prefix */
        {"PWD: abcd", "PWD: abc", NULL}, /* a secret that a word announces */
        {"api key = ab-c;", "api keys = ab-c;", NULL},
    };
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice found = {NULL, 0};

        assert_int_equal(redact_text(&fixture->arena, slice_text(cases[i].at), &found), OK);
        if (!slice_starts_with(found, SLICE(REDACTED))) {
            fail_msg("%s is left", cases[i].at);
        }
        assert_int_equal(redact_text(&fixture->arena, slice_text(cases[i].beyond), &found), OK);
        if (!slice_equal(found,
                         slice_text(cases[i].left != NULL ? cases[i].left : cases[i].beyond))) {
            fail_msg("%s became %.*s", cases[i].beyond, (int)found.size, (const char *)found.data);
        }
    }
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_redaction_rate_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rates_by_kind),
        TEST(test_values_side_by_side),
        TEST(test_patterns_at_their_limits),
    };

    return cmocka_run_group_tests_name("redaction rates", tests, NULL, NULL);
}
