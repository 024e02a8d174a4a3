/*
 * result_test.c: results, codes, and their texts.
 */
#include "client/library/result.h"
#include "tests/unit/client_library/library_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Goal: results of the client's functions become those that the public header documents. Method:
 * each that client/stub.h and the channel name. */
static void test_client_results_become_public_results(void **state)
{
    (void)state;
    assert_int_equal(library_result(OK), ERRATA_OK);
    assert_int_equal(library_result(ERR_INVALID), ERRATA_INVALID);
    assert_int_equal(library_result(ERR_MALFORMED), ERRATA_INVALID);
    assert_int_equal(library_result(ERR_TOO_LARGE), ERRATA_TOO_LARGE);
    assert_int_equal(library_result(ERR_BUSY), ERRATA_BUSY);
    assert_int_equal(library_result(ERR_MEMORY), ERRATA_MEMORY);
    assert_int_equal(library_result(ERR_CANCELLED), ERRATA_ENDED);
    assert_int_equal(library_result(ERR_UNAVAILABLE), ERRATA_ENDED);
}

/* Goal: no error becomes ERRATA_OK. Method: all of them. */
static void test_no_error_is_ok(void **state)
{
    (void)state;
    for (unsigned err = 1; err <= ERR_COUNT; err++) {
        assert_int_not_equal(library_result((enum err)err), ERRATA_OK);
    }
}

/* Goal: each result and code has its own text, and so does an unknown one. Method: all, and numbers
 * beyond. */
static void test_each_result_has_a_distinct_text(void **state)
{
    (void)state;
    for (unsigned one = ERRATA_OK; one <= ERRATA_ENDED; one++) {
        for (unsigned other = ERRATA_OK; other < one; other++) {
            assert_string_not_equal(errata_result_text((enum errata_result)one),
                                    errata_result_text((enum errata_result)other));
        }
    }
    assert_string_equal(errata_result_text((enum errata_result)99), "not a result of this library");
    assert_string_equal(errata_result_text((enum errata_result) - 1),
                        "not a result of this library");
    assert_string_equal(errata_code_name(ERRATA_CODE_OK), "OK");
    assert_string_equal(errata_code_name(ERRATA_CODE_NOT_FOUND), "NOT_FOUND");
    assert_string_equal(errata_code_name(ERRATA_CODE_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_string_equal(errata_code_name((enum errata_code)17), "UNKNOWN");
    assert_true(strlen(errata_version()) >= strlen("0.0.0"));
}

/* Goal: the header's codes equal those on the wire, and numbers that gRPC does not define are
 * UNKNOWN. */
static void test_codes_equal_those_of_the_wire(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 16; code++) {
        assert_int_equal(library_code(code), code);
    }
    assert_int_equal(library_code(17), ERRATA_CODE_UNKNOWN);
    assert_int_equal(library_code(UINT32_MAX), ERRATA_CODE_UNKNOWN);
}

int run_result_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_client_results_become_public_results),
                                       cmocka_unit_test(test_no_error_is_ok),
                                       cmocka_unit_test(test_each_result_has_a_distinct_text),
                                       cmocka_unit_test(test_codes_equal_those_of_the_wire)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
