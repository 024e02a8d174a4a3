/*
 * redaction_rate_tests.c: the share of inserted e-mail addresses, phone numbers, IBANs and secrets that redaction
 * removes completely, and of other numbers that it keeps, by notation. A fixed generator makes the 2,000 items; the
 * rates are printed.
 */
#include "server/domain/reviews/redaction.h"
#include "server/domain/settings/redacted_members.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "tests/unit/reviews/groups.h"
#include "tests/unit/reviews/review_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define ITEMS 2000
#define PLANTED_BYTES 80
#define ITEM_CHARACTERS_MAX 2000
#define LONG_BYTES ((size_t)256 << 10)
#define SECONDS_MAX 30 /* CPU time limit of a long text; quadratic time would be minutes */
#define PERCENT_MIN 99 /* minimum share, by kind, of removed private values and of kept numbers */

/* A notation of a value: `9` is a random digit, `x` a random lower-case letter or digit, `Q` a random capital or digit;
 * a character after `\` is itself. */
struct form {
    const char *kind;
    bool is_private;
    const char *before; /* a text before the value, which stays */
    const char *pattern;
};

static const struct form forms[] = {
    {"e-mail", true, "", "xxxxx@xxxxxx.de"},
    {"e-mail", true, "", "xxx.xxxxx@xxx.xxxx.com"},
    {"e-mail", true, "", "xxxx+xx_x@xxx-xxx.org"},
    {"e-mail", true, "", "o'xxxxx@xxxx.ie"},
    {"e-mail", true, "", "m\xc3\xbcxxx@b\xc3\xa4xxx.de"},
    {"e-mail", true, "", "xxxx\xef\xbc\xa0xxxxx.com"}, /* a full-width @ */
    {"e-mail", true, "", "m\xd0\xb0xx@xxx.com"}, /* a Cyrillic a */
    {"e-mail", true, "", "xxxx(at)xxxxx.de"},
    {"e-mail", true, "", "xxxx [at] xxxxx [dot] de"},
    {"e-mail", true, "", "xxxx.xxxx @ xxxxx.de"},
    {"phone", true, "", "+49 30 9999999"},
    {"phone", true, "", "+49 (0)30 9999999"},
    {"phone", true, "", "+49 (0) 30 / 9999-99"},
    {"phone", true, "", "0049 30 9999999"},
    {"phone", true, "", "+33 1 99 99 99 99"},
    {"phone", true, "", "01 99 99 99 99"},
    {"phone", true, "", "+44 20 9999 9999"},
    {"phone", true, "", "+7 (495) 999-99-99"},
    {"phone", true, "", "1-800-599-9999"},
    {"phone", true, "", "01719999999"},
    {"phone", true, "",
     "+49\xc2\xa0"
     "30\xc2\xa0"
     "9999999"}, /* no-break spaces */
    {"phone", true, "",
     "+49\xe2\x80\x93"
     "30\xe2\x80\x93"
     "9999999"}, /* dashes */
    {"phone", true, "", "\xef\xbc\x8b\xef\xbc\x94\xef\xbc\x99 99 9999999"}, /* full-width */
    {"phone", true, "Phone: ", "9999999999"},
    {"phone", true, "Tel.-Nr. ", "49309999999"},
    {"phone", true, "Telefonnummer: ", "999 999 999"},
    {"phone", true, "", "0999/9999999"},
    {"phone", true, "", "0171 9999999"},
    {"phone", true, "", "(030) 9999-999"},
    {"phone", true, "", "+1 (415) 999-9999"},
    {"phone", true, "", "415-999-9999"},
    {"phone", true, "", "+43.1.9999999"},
    {"iban", true, "", "DE99 9999 9999 9999 9999 99"},
    {"iban", true, "", "DE99999999999999999999"},
    {"iban", true, "", "AT99 9999 9999 9999 9999"},
    {"iban", true, "", "GB99 NWBK 9999 9999 9999 99"},
    {"iban", true, "", "CH99 9999 9999 9999 9999 9"},
    {"iban", true, "", "de99999999999999999999"},
    {"iban", true, "", "FR99 9999 9999 9999 9999 9Q99 999"},
    {"iban", true, "", "IT99 Q999 9999 9999 9999 9999 999"},
    {"iban", true, "", "NO99 9999 9999 999"},
    {"iban", true, "", "MT99 QQQQ 9999 9999 9999 QQQQ 9QQ9 99Q"},
    {"iban", true, "",
     "DE99\xc2\xa0"
     "9999\xc2\xa0"
     "9999\xc2\xa0"
     "9999\xc2\xa0"
     "9999\xc2\xa0"
     "99"},
    {"iban", true, "IBAN: ", "DE99 9999 9999 9999 9999 99"},
    {"iban", true, "",
     "D\xd0\x95"
     "99 9999 9999 9999 9999 99"}, /* a Cyrillic E */
    {"secret", true, "", "errata_9a9b9c9d_xQ9xQ-9xQx9QxQ_9xQx9QxQ9xQx9-QxQ9xQx9QxQ"},
    {"secret", true, "", "QQ9xQx9QxQ9x-Qx9QxQ9xQx-9QxQ9xQx9QxQ_9xQx9"},
    {"secret", true, "", "Qx9QxQ9xQxQQ/Q9xQxQ9QxQQ/xQxQxQxQQ9xQxQx"},
    {"secret", true, "", "-----BEGIN PRIVATE KEY----- QxQxQ9xQx9 -----END PRIVATE KEY-----"},
    {"secret", true, "", "sk_live_99QQQQxxxx99QQQQxxxx99"},
    {"secret", true, "", "ghp\\_99xxQQ99xxQQ99xxQQ99xxQQ99xxQQ99xxQQ"},
    {"secret", true, "", "99a9b9c99d9e9f99a9b9c99d9e9f99a9b9c99d9e9f"},
    {"secret", true, "", "QQ9xQx9QxQ9xQx9QxQ9xQx9QxQ9xQx9QxQ9xQx9QxQ="},
    {"short secret", true, "", "password: xQ9!xx"},
    {"short secret", true, "", "Passwort=xxxx99"},
    {"short secret", true, "", "API key: xx99xx99xx"},
    {"short secret", true, "", "sk-xx99xx99xxxx99"},
    {"short secret", true, "", "AKIAQQ99QQ99QQ99QQ99"},
    {"short secret", true, "", "9a9b99c9d99e9f9a"},
    {"short secret", true, "", "xQ9xQ9xQ9xQ9xQ9xQ9"},
    {"short secret", true, "", "pw: xx99xx"},
    {"short secret", true, "", "Passwort lautet: xxxx99"},
    {"short secret", true, "", "password is xxxxxx9"},
    {"short secret", true, "", "client_secret=xx99xx99"},
    {"short secret", true, "", "secret key: xx99xx99"},
    {"short secret", true, "", "Authorization: Basic xQxQ9xQxQQ=="},
    {"short secret", true, "\"", "password\": \"xxxxxx9"},
    {"short secret", true, "", "p\xd0\xb0ssword: xxxxx99"}, /* a Cyrillic a */
    {"short secret", true, "", "hf_xxxxQQQQxxxxQQ"},
    {"dimensions", false, "", "399 x 299 x 29.9 mm"},
    {"dimensions", false, "", "1999\\x2999\\x3999mm"},
    {"dimensions", false, "", "99,9 - 199,9 cm"},
    {"dimensions", false, "", "1999 \xc3\x97 699 \xc3\x97 799 mm"},
    {"dimensions", false, "", "+1999 - 1999 mm"},
    {"dimensions", false, "", "100 / 200 / 3000 h"},
    {"dimensions", false, "", "0 - 199 - 299"},
    {"article number", false, "Order ", "1 599999 999999"},
    {"article number", false, "Order No. ", "012-399-999"},
    {"article number", false, "Art.-Nr. ", "0899-9999"},
    {"article number", false, "Seriennummer: ", "0199 9999 9999"},
    {"article number", false, "ISBN ", "0-399-99999-9"},
    {"article number", false, "ISSN ", "0399-9999"},
    {"article number", false, "EAN: ", "4 006381 333931"},
    {"article number", false, "", "4 006381 333\\931"}, /* the digits below a bar code */
    {"article number", false, "", "0 39999 99999 9"},
    {"article number", false, "", "QQ-9999-00999"},
    {"article number", false, "", "5399-00-199-0999"},
    {"article number", false, "", "DDR5-5699-SODIMM-39GB-Kit-2\\x19"},
    {"article number", false, "", "4099999999999"},
    {"article number", false, "", "QQ-9999-999-Q"},
    {"article number", false, "", "4599999999"},
    {"article number", false, "", "QQ99Q9QQQQ99Q9Q9"},
    {"article number", false, "", "iPhone15ProMa\\x999GB"},
    {"date", false, "", "29.09.2029"},
    {"date", false, "", "09.09.2029"},
    {"date", false, "", "2029-09-29"},
    {"date", false, "", "09/09/29"},
    {"date", false, "", "01.01.2029 - 31.12.2029"},
    {"date", false, "", "01.01.2029-31.12.2029"},
    {"date", false, "", "01/2029 - 12/2029"},
    {"date", false, "", "05.06.29 07.08.29"},
    {"date", false, "", "2029-09-29T10:39:59Z"},
    {"price", false, "", "+1.999.999 EUR"},
    {"price", false, "", "1.999,99 EUR"},
    {"price", false, "", "0,99 EUR"},
    {"range", false, "", "220-240 V"},
    {"range", false, "", "0-99 C, 99 W"},
    {"range", false, "", "0.9 - 9.9 kg"},
    {"resolution", false, "", "3899 x 2199 at 99 Hz"},
    {"version", false, "", "9.99.9-99"},
    {"version", false, "", "10.0.19999.3999"},
    {"version", false, "", "0.19.399.6999"},
    {"version", false, "Firmware ", "01.02.0999"},
    {"address", false, "", "192.168.99.99"},
    {"address", false, "", "https://example.com/p/laptop-x1-gen12-99xx9999xx"},
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

static struct slice item_with(struct store_fixture *fixture, const char *before, const char *value)
{
    struct slice text = arena_printf(&fixture->arena, "see %s%s, ok", before, value);
    struct buffer item;

    buffer_init(&item, &fixture->arena, 0);
    buffer_append(&item, SLICE("{\"name\":\"X1\",\"text\":"));
    json_write_string(&item, text, false);
    buffer_append(&item, SLICE("}"));
    assert_true(buffer_ok(&item));
    return buffer_slice(&item);
}

/* Returns whether the item with the value is redacted exactly: only a private value, and all of it. */
static bool is_right(struct store_fixture *fixture, const struct form *form, const char *planted)
{
    const char *shown = form->is_private ? REDACTED : planted;
    struct slice item = item_with(fixture, form->before, planted);
    struct slice found = {NULL, 0};

    assert_int_equal(
        redact_item(&fixture->arena, redacted_members_default(), item, ITEM_CHARACTERS_MAX, &found),
        OK);
    return slice_equal(found, item_with(fixture, form->before, shown));
}

/* Goal: redaction removes private values and keeps others. Method: 2,000 generated items, the rate of each form. */
static void test_each_form_is_redacted_at_its_rate(void **state)
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

        printf("%-15s %s%-45s %-8s %3u of %3u (%u%%)\n", forms[i].kind, forms[i].before,
               forms[i].pattern, forms[i].is_private ? "removed" : "left", right[i], all[i],
               percent);
        is_good = is_good && percent >= PERCENT_MIN;
    }
    assert_true(is_good);
}

/* Goal: a private value is removed even if another one follows it. Method: adjacent values; the digits after a phone number
 * were once read as a part of it, and neither was removed. */
static void test_adjacent_values_are_each_removed(void **state)
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
        {"call 0171 2345678. 30 pieces", "call " REDACTED ". 30 pieces"},
        {"0171 2345678/0171 3456789", REDACTED "/" REDACTED},
        {"03.04.2024 0171 2345678", "03.04.2024 " REDACTED},
        {"Order 012-345-678, Tel. 030 1234567", "Order 012-345-678, Tel. " REDACTED},
        {"Order hotline: 0800 1234567", "Order hotline: " REDACTED},
        {"Order +49 30 1234567", "Order " REDACTED},
        {"SN 12ab34cd56789012", "SN " REDACTED},
        {"DE89 3704 0044 0532 0130 00 and 0171 2345678", REDACTED " and " REDACTED},
        {"DE89-3704-0044-0532-0130-00", REDACTED},
        {"DE 89 3704 0044 0532 0130 00", REDACTED},
        {"DE88-3704-4044-0532-1301-00", "DE88-3704-4044-0532-1301-00"}, /* wrong check digits */
        {"4 006381 333932", "4 " REDACTED}, /* a wrong check digit */
        {"017812345670 or 017812345678", "017812345670 or " REDACTED},
        {"https://anna:pw1@example.com/x", "https://" REDACTED "@example.com/x"},
        {"T: 4930123456, 5 m 4006381333931", "T: " REDACTED ", 5 m 4006381333931"},
        {"password is required", "password is required"},
        {"Tokenisierung: Standard, Kompass: 12345", "Tokenisierung: Standard, Kompass: 12345"},
        {"-----BEGIN RSA PRIVATE KEY----- ab12", REDACTED},
        {"0171 2345678 mm@x.de", REDACTED " " REDACTED},
    };
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice found = {NULL, 0};

        assert_int_equal(redact_text(&fixture->arena, slice_text(cases[i].text), SIZE_MAX, &found),
                         OK);
        if (!slice_equal(found, slice_text(cases[i].wanted))) {
            fail_msg("%s became %.*s", cases[i].text, (int)found.size, (const char *)found.data);
        }
    }
}

/* Goal: each limit of a pattern acts at its value. Method: texts at the limit, and one step beyond it. */
static void test_limits_of_patterns_are_exact(void **state)
{
    static const struct {
        const char *at;
        const char *beyond;
        const char *left; /* remaining part of `beyond`; NULL: all of it */
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
        {"PWD: abcd", "PWD: abc", NULL}, /* a secret after a keyword */
        {"api key = ab-c;", "api keys = ab-c;", NULL},
    };
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice found = {NULL, 0};

        assert_int_equal(redact_text(&fixture->arena, slice_text(cases[i].at), SIZE_MAX, &found),
                         OK);
        if (!slice_starts_with(found, SLICE(REDACTED))) {
            fail_msg("%s is left", cases[i].at);
        }
        assert_int_equal(
            redact_text(&fixture->arena, slice_text(cases[i].beyond), SIZE_MAX, &found), OK);
        if (!slice_equal(found,
                         slice_text(cases[i].left != NULL ? cases[i].left : cases[i].beyond))) {
            fail_msg("%s became %.*s", cases[i].beyond, (int)found.size, (const char *)found.data);
        }
    }
}

/* Goal: a name of a member may be private data, too. */
static void test_names_are_redacted(void **state)
{
    struct store_fixture *fixture = *state;
    struct slice found = {NULL, 0};

    assert_int_equal(redact_item(&fixture->arena, redacted_members_default(),
                                 SLICE("{\"a@b.de\":1,\"x\":{\"+49 30 1234567\":\"y\"}}"),
                                 ITEM_CHARACTERS_MAX, &found),
                     OK);
    assert_true(slice_equal(found, SLICE("{\"" REDACTED "\":1,\"x\":{\"" REDACTED "\":\"y\"}}")));
}

/* Goal: redaction takes time proportional to the text. Method: long texts in which a pattern could start anywhere; one of
 * 64 KiB once took 10 s. */
static void test_time_is_proportional_to_the_text(void **state)
{
    static const char *const pieces[] = {"a-",  "a.",   "a+",     "9 ", "(",
                                         "A1 ", "sk-.", "token:", "a@"};
    struct store_fixture *fixture = *state;
    char *text = test_malloc(LONG_BYTES);
    clock_t start = clock();

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct slice found = {NULL, 0};

        for (size_t at = 0; at < LONG_BYTES; at++) {
            text[at] = pieces[i][at % strlen(pieces[i])];
        }
        assert_int_equal(
            redact_text(&fixture->arena, slice_of(text, LONG_BYTES), LONG_BYTES, &found), OK);
        assert_true(found.size > 0);
    }
    assert_in_range((clock() - start) / CLOCKS_PER_SEC, 0, SECONDS_MAX);
    test_free(text);
}

/* Goal: a long item is redacted at least up to the size that is shown. Method: an item, whole and up to a
 * size. */
static void test_long_items_end_early(void **state)
{
    struct store_fixture *fixture = *state;
    struct buffer item;
    struct slice whole = {NULL, 0};
    struct slice found = {NULL, 0};

    buffer_init(&item, &fixture->arena, 0);
    buffer_append(&item, SLICE("{\"list\":["));
    for (int i = 0; i < 5000; i++) {
        buffer_append(&item, SLICE("\"ask a@b.de, or \xc3\xa4\","));
    }
    buffer_append(&item, SLICE("1]}"));
    assert_true(buffer_ok(&item));
    assert_int_equal(redact_item(&fixture->arena, redacted_members_default(), buffer_slice(&item),
                                 LONG_BYTES, &whole),
                     OK);
    assert_int_equal(redact_item(&fixture->arena, redacted_members_default(), buffer_slice(&item),
                                 ITEM_CHARACTERS_MAX, &found),
                     OK);
    assert_true(found.size < whole.size / 2);
    assert_true(text_first_characters(found, ITEM_CHARACTERS_MAX).size < found.size);
    assert_true(slice_equal(text_first_characters(found, ITEM_CHARACTERS_MAX),
                            text_first_characters(whole, ITEM_CHARACTERS_MAX)));
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_redaction_rate_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_form_is_redacted_at_its_rate), TEST(test_adjacent_values_are_each_removed),
        TEST(test_limits_of_patterns_are_exact),      TEST(test_names_are_redacted),
        TEST(test_time_is_proportional_to_the_text),  TEST(test_long_items_end_early),
    };

    return cmocka_run_group_tests_name("redaction rates", tests, NULL, NULL);
}
