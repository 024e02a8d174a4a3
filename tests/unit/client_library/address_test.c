/*
 * address_test.c: the server's address as users write it, and the messages about invalid ones.
 */
#include "client/library/address.h"
#include "tests/unit/client_library/library_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Goal: every form of an address is read. Method: a table. */
static void test_each_form_of_address_is_read(void **state)
{
    static const struct {
        const char *text;
        const char *host;
        uint16_t port;
    } table[] = {
        {NULL, "127.0.0.1", 7443},
        {"localhost", "localhost", 7443},
        {"localhost:1", "localhost", 1},
        {"errata.example.org:65535", "errata.example.org", 65535},
        {"errata_1.internal.:7443", "errata_1.internal.", 7443},
        {"10.0.0.7", "10.0.0.7", 7443},
        {"10.0.0.7:00080", "10.0.0.7", 80},
        {"[::1]", "::1", 7443},
        {"[::1]:9", "::1", 9},
        {"[fe80::1%eth0]:7443", "fe80::1%eth0", 7443},
        {"[::ffff:10.0.0.7]:7443", "::ffff:10.0.0.7", 7443},
        {"xn--bcher-kva.example", "xn--bcher-kva.example", 7443},
        {"az.AZ.09", "az.AZ.09", 7443},
        {"[::abcdef:ABCDEF:0:9]", "::abcdef:ABCDEF:0:9", 7443},
    };
    const struct problem no_one = {NULL, 0};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct address address;

        assert_true(address_read(table[i].text, &no_one, &address));
        assert_string_equal(address.host, table[i].host);
        assert_int_equal(address.port, table[i].port);
    }
}

/* Goal: an invalid address is refused with the expected form. Method: a table of texts, and of
 * words in the message. */
static void test_invalid_address_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *reported;
    } table[] = {
        {"", "server: empty"},
        {":7443", "invalid host name"},
        {"host:", "invalid port"},
        {"host:0", "from 1 to 65535"},
        {"host:65536", "from 1 to 65535"},
        {"host:123456", "invalid port"},
        {"host:7443x", "invalid port"},
        {"host:+1", "invalid port"},
        {"host: 1", "invalid port"},
        {" host:1", "invalid host name"},
        {"my host:1", "invalid host name"},
        {"user@host:1", "invalid host name"},
        {"-host:1", "invalid host name"},
        {"b\303\274cher.example:1", "invalid host name in \"b\303\274cher.example:1\""},
        {"bad\377:1", "invalid host name in \"(no text)\""},
        {"line\nfeed:1", "invalid host name in \"(no text)\""},
        {"::1", "misplaced colon or bracket in \"::1\"; expected HOST:PORT, or [::1]:7443"},
        {"::1:7443", "misplaced colon or bracket"},
        {"[::1", "misplaced colon or bracket"},
        {"[::1]7443", "misplaced colon or bracket"},
        {"[::1]:", "invalid port"},
        {"[]:7443", "invalid IPv6 address"},
        {"[localhost]:7443", "invalid IPv6 address"},
        {"[::1%]:7443", "invalid IPv6 address"},
        {"[::g]:7443", "invalid IPv6 address"},
        {"https://errata.example.org",
         "is a URL that asks for TLS; expected HOST:PORT, with `tls` set"},
        {"grpcs://errata.example.org:443", "TLS"},
        {"http://127.0.0.1:7443", "is a URL or a path; expected HOST:PORT"},
        {"dns:///errata.example.org:7443", "is a URL or a path; expected HOST:PORT"},
        {"unix:/run/errata", "is a URL or a path; expected HOST:PORT"},
        {"host:7443/path", "is a URL or a path; expected HOST:PORT"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char reported[PROBLEM_BYTES_MAX] = "";
        struct address address = {.port = 42};

        assert_false(
            address_read(table[i].text, &(struct problem){reported, sizeof(reported)}, &address));
        if (strstr(reported, table[i].reported) == NULL) {
            print_error("%s: %s\n", table[i].text, reported);
            fail();
        }
        assert_int_equal(address.port, 42);
    }
}

/* Goal: long names are accepted up to the limit of names, and shown only in part. Method: 255 and
 * 256 letters. */
static void test_long_host_name_is_limited(void **state)
{
    char text[CLIENT_HOST_BYTES_MAX + 8];
    char reported[PROBLEM_BYTES_MAX];
    const struct problem problem = {reported, sizeof(reported)};
    struct address address;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[CLIENT_HOST_BYTES_MAX] = '\0';
    assert_true(address_read(text, &problem, &address));
    text[CLIENT_HOST_BYTES_MAX] = 'a';
    text[CLIENT_HOST_BYTES_MAX + 1] = '\0';
    assert_false(address_read(text, &problem, &address));
    assert_non_null(strstr(reported, "256 bytes"));
    (void)snprintf(text + 200, sizeof(text) - 200, ":x");
    assert_false(address_read(text, &problem, &address));
    assert_non_null(strstr(reported, "aaa...\""));
    assert_true(strlen(reported) < 200);
}

/* Goal: a problem fits the buffer that is given, is cut between characters, and needs none. Method:
 * every size of buffer, for a message with letters of two bytes. */
static void test_problem_text_fits_any_buffer(void **state)
{
    static const char whole[] = "server: invalid host name in \"\303\274\303\274:1\"";
    struct address address;

    (void)state;
    for (size_t room = 0; room < sizeof(whole); room++) {
        char reported[sizeof(whole) + 1];

        memset(reported, '#', sizeof(reported));
        assert_false(
            address_read("\303\274\303\274:1", &(struct problem){reported, room}, &address));
        assert_int_equal(reported[room], '#');
        if (room > 0) {
            size_t kept = strlen(reported);

            assert_true(kept + 1 == room || kept + 2 == room);
            assert_memory_equal(reported, whole, kept);
            assert_int_not_equal((unsigned char)whole[kept] & 0xc0, 0x80);
        }
    }
}

int run_address_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_form_of_address_is_read),
                                       cmocka_unit_test(test_invalid_address_is_refused),
                                       cmocka_unit_test(test_long_host_name_is_limited),
                                       cmocka_unit_test(test_problem_text_fits_any_buffer)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
